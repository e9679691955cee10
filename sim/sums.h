/*
 * sums.h - sums of times that may be too long to be counted, as those over a million ranks are:
 * OVL_NEVER then, whatever is added to it. Reports leave such a figure out (result.h).
 *
 * Example: 10 s on each of a million ranks are 10^19 ps, beyond 2^63.
 */
#ifndef OVL_SIM_SUMS_H
#define OVL_SIM_SUMS_H

#include "sim/base.h"

static inline ovl_time ovl_sum_add(ovl_time a, ovl_time b)
{
    ovl_time sum;
    bool counted = a != OVL_NEVER && b != OVL_NEVER && !__builtin_add_overflow(a, b, &sum);
    return counted ? sum : OVL_NEVER;
}

/* The same time `n` times. */
static inline ovl_time ovl_sum_of(ovl_time each, uint64_t n)
{
    ovl_time sum;
    bool counted = each != OVL_NEVER && !__builtin_mul_overflow(each, n, &sum);
    return counted ? sum : OVL_NEVER;
}

#endif
