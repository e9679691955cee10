/*
 * moe_load.h - how many tokens each rank of expert parallelism gets, relative to the mean.
 *
 * P ranks hold the experts, `ep` of them in each of `across` places. Loads w sum to P: all 1; or
 * the hottest rank has w and the others (P - w)/(P - 1); or given; or drawn. With W the mean of a
 * place, a hop across gives it W of what it would have, and inside it each rank sends W and gets w.
 *
 * A matrix says of each rank's tokens which part goes to which: its rows are scaled to 1, and loads
 * are the sums of its columns.
 *
 * Example: P = 4 in two places, hottest 2.5: loads 2.5, 0.5, 0.5, 0.5; W = 1.5 and 0.5.
 */
#ifndef OVL_MODELS_MOE_LOAD_H
#define OVL_MODELS_MOE_LOAD_H

#include "models/inner.h"

/* By rank of the mesh; all NULL: even. */
typedef struct ovl_moe_load {
    const double *rank;  /* w of this rank */
    const double *place; /* W of its place in `across` */
    double most;         /* the largest w; 1: even */
    const double *pairs; /* [P * P] of its tokens the part that each rank gives each; NULL: all
                            alike, by the loads. `back` is how they come back */
    const double *back;
    uint32_t n_ranks;
} ovl_moe_load;

/* Errors: shares that do not fit the axes. */
ovl_moe_load ovl_moe_load_of(const ovl_scenario *scenario, ovl_arena *arena, ovl_errs *errs);

/* Bytes of a buffer of so many at mean load, by factors of ranks (`rank` or `place`); rounded down.
 */
ovl_sizes ovl_moe_bytes(const ovl_moe_load *load, const double *factor, uint64_t bytes,
                        ovl_arena *arena);

#endif
