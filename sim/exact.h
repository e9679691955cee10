/*
 * exact.h - sums without rounding, for the sharing solver. Private to its files.
 *
 * Two kinds of sums decide who gets what: what is left of a capacity, C - sum(rate x demand), and
 * how fast the use grows with the level, sum(weight x demand). Rates and weights are doubles,
 * demands integers. Both sums are kept as integers in a fixed unit, so that they do not depend on
 * the order of the terms, on how equal terms are grouped, or on what was added and taken away
 * before: a sum that is kept up to date equals a sum made anew, bit for bit.
 *
 *     left   units of 2^-63: a rate is cut to a multiple of that (ovl_exact_rate), which changes
 *            only rates below 1/1024
 *     pull   units of 2^-127: weights from 2^-75 to 1 are multiples of that as they are
 *
 * Example: 0.1 + 0.2 - 0.1 is 0.2 here.
 */
#ifndef OVL_SIM_EXACT_H
#define OVL_SIM_EXACT_H

#include "sim/base.h"

#include <math.h>

__extension__ typedef __int128 ovl_wide;
__extension__ typedef unsigned __int128 ovl_uwide;

/* (high * 2^64 + middle) * 2^64 + low, in units of 2^-127. */
typedef struct ovl_pull {
    uint64_t low, middle, high;
} ovl_pull;

/* A weight as mantissa * 2^(shift - 127). */
typedef struct ovl_exact_weight {
    uint64_t mantissa;
    uint32_t shift;
} ovl_exact_weight;

static inline ovl_exact_weight ovl_exact_of_weight(double weight)
{
    int exponent;
    double part = frexp(weight, &exponent); /* weight = part * 2^exponent, part in [1/2, 1) */
    assert(exponent >= -74 && exponent <= 1);
    return (ovl_exact_weight){(uint64_t)(part * 0x1p53), (uint32_t)(exponent - 53 + 127)};
}

static inline ovl_pull ovl_pull_of(ovl_exact_weight w, uint64_t demand)
{
    ovl_uwide product = (ovl_uwide)w.mantissa * demand;
    uint64_t low = (uint64_t)product, high = (uint64_t)(product >> 64);
    if (w.shift >= 64) {
        product <<= w.shift - 64;
        return (ovl_pull){0, (uint64_t)product, (uint64_t)(product >> 64)};
    }
    uint64_t out_of_low = (low >> 1) >> (63 - w.shift); /* no shift by 64 */
    uint64_t out_of_high = (high >> 1) >> (63 - w.shift);
    return (ovl_pull){low << w.shift, high << w.shift | out_of_low, out_of_high};
}

/* That of so many. */
static inline ovl_pull ovl_pull_times(ovl_pull one, uint32_t count)
{
    if (count == 1) {
        return one;
    }
    ovl_uwide low = (ovl_uwide)one.low * count;
    ovl_uwide middle = (ovl_uwide)one.middle * count + (uint64_t)(low >> 64);
    return (ovl_pull){(uint64_t)low, (uint64_t)middle, one.high * count + (uint64_t)(middle >> 64)};
}

static inline ovl_uwide ovl_pull_above(ovl_pull p)
{
    return (ovl_uwide)p.high << 64 | p.middle;
}

static inline void ovl_pull_add(ovl_pull *sum, ovl_pull p)
{
    uint64_t low = sum->low + p.low;
    ovl_uwide above = ovl_pull_above(*sum) + ovl_pull_above(p) + (low < p.low);
    *sum = (ovl_pull){low, (uint64_t)above, (uint64_t)(above >> 64)};
}

static inline void ovl_pull_take(ovl_pull *sum, ovl_pull p)
{
    ovl_uwide above = ovl_pull_above(*sum) - ovl_pull_above(p) - (sum->low < p.low);
    *sum = (ovl_pull){sum->low - p.low, (uint64_t)above, (uint64_t)(above >> 64)};
}

/* To the nearest double but for a last place or two; much faster than the general conversion. Not
 * negative. */
static inline double ovl_wide_value(ovl_wide wide)
{
    return (double)(int64_t)(wide >> 64) * 0x1p64 + (double)(int64_t)((uint64_t)wide >> 1) * 2;
}

static inline double ovl_pull_value(ovl_pull sum)
{
    return ovl_wide_value((ovl_wide)ovl_pull_above(sum)) * 0x1p-63 +
           (double)(int64_t)(sum.low >> 1) * 0x1p-126;
}

/* A rate that can be summed exactly: above 0, and cut to a multiple of 2^-63. */
static inline double ovl_exact_rate(double rate)
{
    if (rate >= 0x1p-10) {
        return rate;
    }
    uint64_t units = (uint64_t)(rate * 0x1p63);
    return (double)OVL_MAX(units, 1) * 0x1p-63;
}

/* Such a rate, at most 1, in units of 2^-63. Below 1 it is a signed number, which is converted
 * much faster. */
static inline uint64_t ovl_rate_units(double rate)
{
    return rate < 1 ? (uint64_t)(int64_t)(rate * 0x1p63) : UINT64_C(1) << 63;
}

static inline ovl_wide ovl_left_of(uint64_t capacity)
{
    return (ovl_wide)capacity << 63;
}

/* Rates are given in units. */
static inline void ovl_left_take(ovl_wide *left, uint64_t rate, uint64_t demand)
{
    *left -= (ovl_wide)((ovl_uwide)rate * demand);
}

static inline void ovl_left_put(ovl_wide *left, uint64_t rate, uint64_t demand)
{
    *left += (ovl_wide)((ovl_uwide)rate * demand);
}

/* Who took at the one rate takes at the other. */
static inline void ovl_left_change(ovl_wide *left, uint64_t from, uint64_t to, uint64_t demand)
{
    *left += (int64_t)(from - to) * (ovl_wide)demand;
}

/* What is left; rounding may have used a little more than there was. */
static inline double ovl_left_value(ovl_wide left)
{
    return left > 0 ? ovl_wide_value(left) * 0x1p-63 : 0;
}

/* The level at which what is left is used up. */
static inline double ovl_exact_level(ovl_wide left, ovl_pull pull)
{
    return left > 0 ? ovl_left_value(left) / ovl_pull_value(pull) : 0;
}

/* The same where all of a capacity is left: to the bit, for so ovl_wide_value takes it apart. */
static inline double ovl_whole_level(uint64_t capacity, ovl_pull pull)
{
    double value = (double)(int64_t)(capacity >> 1) * 2 + (double)(int64_t)(capacity & 1);
    return value / ovl_pull_value(pull);
}

#endif
