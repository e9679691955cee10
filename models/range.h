/*
 * range.h - a range of values as one text: what stands between two values, with their unit.
 *
 *     0..3              0, 1, 2, 3
 *     0..16+4           0, 4, 8, 12, 16
 *     1 MiB..64 MiB*4   1 MiB, 4 MiB, 16 MiB, 64 MiB
 *     1..2 ms+0.25      1 ms, 1.25 ms, 1.5 ms, 1.75 ms, 2 ms
 *     1 us..1 ms*10     1 us, 10 us, 100 us, 1000 us
 *
 * The last value is there if the steps meet it. Values have the unit of the beginning, or that of
 * the end if the beginning has none. Numbers are printed with up to 12 significant digits, which is
 * what they were written with, so 0.1 + 2 * 0.1 is 0.3.
 */
#ifndef OVL_MODELS_RANGE_H
#define OVL_MODELS_RANGE_H

#include "sim/arena.h"

#define OVL_RANGE_MAX 1000000 /* values of one range */

typedef struct ovl_range {
    double from, to;
    double step; /* added, or the factor if `times` */
    bool times;
    const char *unit; /* "" without one; with the blank before it, as it was written */
    uint32_t count;
} ovl_range;

/* Whether `text` is meant as a range: it holds "..". */
bool ovl_range_meant(const char *text);

/* NULL and *range (texts in `arena`), or a sentence that says what is wrong with it. */
const char *ovl_range_read(const char *text, ovl_range *range, ovl_arena *arena);

/* The i-th value: "1.25 ms". */
const char *ovl_range_value(const ovl_range *range, uint32_t i, ovl_arena *arena);

/* The value at `part` (0..1) of the way from the beginning to the end: evenly by difference, or by
 * ratio if the range multiplies. A range of whole numbers without a unit gives whole numbers. */
const char *ovl_range_between(const ovl_range *range, double part, ovl_arena *arena);

#endif
