/*
 * fit_rates.h - how much two operations slow each other, from how long each takes alone and beside
 * others.
 *
 * A factor is the inverse of the rate while both run. An operation that takes `alone` by itself and
 * `took` in the overlapped run, of which it was beside partner c for b_c, did its work at full
 * speed elsewhere and at rate x_c there:
 *
 *     alone = (took - sum b_c) + sum b_c x_c          factor_c = 1 / x_c
 *
 * so partial overlap is no special case. A matmul of 25 ms that took 29 ms, all of it beside an
 * all-reduce: 25 = 29 x, factor 29/25. The all-reduce of 20 ms took 33, 29 of them beside the
 * matmul: 20 = 4 + 29 x, factor 29/16.
 *
 * The rates of a class of operations are least squares over its samples, weighted by the inverse of
 * the time beside others; intervals are percentiles of a bootstrap over the samples.
 */
#ifndef OVL_MODELS_FIT_RATES_H
#define OVL_MODELS_FIT_RATES_H

#include "models/fit.h"

typedef struct ovl_rate_sample {
    double alone, took;   /* ns */
    const double *beside; /* [n_partners] ns; together at most `took` */
} ovl_rate_sample;

typedef struct ovl_rate_fit {
    ovl_fit_value *factor; /* [n_partners]; value 0: not identified */
    double *beside;        /* [n_partners] ns in all */
    ovl_fit_value common;  /* one factor for all partners; value 0: never beside any */
    bool separable;        /* the partners' rates can be told apart */
    uint32_t n;            /* samples that were beside any */
} ovl_rate_fit;

/* `seed` fixes the bootstrap. Arrays live in `arena`. */
ovl_rate_fit ovl_fit_rates(const ovl_rate_sample *samples, uint32_t n, uint32_t n_partners,
                           uint64_t seed, ovl_arena *arena);

#endif
