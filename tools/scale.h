/*
 * scale.h - times shown together: one unit, one number of decimals, and sums that add up on paper.
 *
 * Times of one table or equation share a scale. Decimals are as many as the times need to be exact,
 * at most as many as give the largest six significant digits. Where that rounds, the terms of a sum
 * are rounded by the largest remainder, so that they still add up to the rounded whole:
 *
 *     10.0004 + 10.0004 = 20.0008  at 3 decimals   10.000 + 10.001 = 20.001
 */
#ifndef OVL_TOOLS_SCALE_H
#define OVL_TOOLS_SCALE_H

#include "sim/units.h"

typedef struct ovl_scale {
    ovl_time_unit unit;
    int decimals;
} ovl_scale;

/* The scale for times as large as `largest` without decimals yet. */
ovl_scale ovl_scale_for(ovl_time largest);

/* Lets the scale have the decimals that `t` needs, up to the six significant digits of `largest`.
 * OVL_NEVER needs none. */
void ovl_scale_fit(ovl_scale *scale, ovl_time largest, ovl_time t);

/* Both for a list of times; the unit is that of the largest. */
ovl_scale ovl_scale_of(const ovl_time *times, uint32_t n);

const char *ovl_scale_unit(const ovl_scale *scale); /* "ms" */

/* Rounded to the last decimal, half away from zero, so that differences of shown times can be
 * shown. OVL_NEVER stays. */
ovl_time ovl_scale_round(const ovl_scale *scale, ovl_time t);

/* The number alone with exactly scale->decimals decimals, rounded half away from zero; a zero is
 * "0", OVL_NEVER is "-". Gives buf. */
const char *ovl_scale_show(char buf[OVL_UNITS_TEXT], const ovl_scale *scale, ovl_time t);

/* The same with trailing zeros dropped: for running text. */
const char *ovl_scale_short(char buf[OVL_UNITS_TEXT], const ovl_scale *scale, ovl_time t);

/* Rounds the terms of a sum to what the scale can show: afterwards each is a whole number of the
 * last decimal and they sum to `total` rounded half away from zero. Terms that are 0 stay 0. Gives
 * the rounded total. Needs that the terms sum to `total`. */
ovl_time ovl_scale_terms(const ovl_scale *scale, ovl_time total, ovl_time *terms, uint32_t n);

#endif
