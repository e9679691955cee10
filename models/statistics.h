/*
 * statistics.h - a sample of times in a few numbers.
 *
 * Percentiles of trials are values of the sample (nearest rank: the smallest that at least that
 * share does not exceed). The interval is that of the mean, 95 %, by Student's t. Quantiles of what
 * was measured lie between two values where they fall between them, as numpy's do: of an even count
 * the median is the mean of the two in the middle.
 *
 *     {1, 2, 3, 4, 10} ms: p50 3, p95 10, mean 4, interval 4 +- 2.776 * 3.536 / sqrt(5) = -0.39
 * .. 8.39
 *     {1, 2, 4, 9} ns measured: median 3, ninth tenth 7.5, so 7
 */
#ifndef OVL_MODELS_STATISTICS_H
#define OVL_MODELS_STATISTICS_H

#include "sim/arena.h"
#include "sim/units.h"

typedef struct ovl_statistics {
    ovl_time p5, p50, p75, p95, min, max;
    ovl_time mean;      /* rounded to a picosecond */
    ovl_time low, high; /* of the mean; equal to it if all are equal */
} ovl_statistics;

/* Of n >= 2 times, which may be negative; they are not changed. */
ovl_statistics ovl_statistics_of(const ovl_time *times, uint32_t n);

/* low + (high - low) * part / whole, rounded down; low <= high, part <= whole. */
int64_t ovl_part_way(int64_t low, int64_t high, uint32_t part, uint32_t whole);

/* The quantile part / whole of n >= 1 integers that stand in order, rounded down: linear between
 * the two values it falls between. */
int64_t ovl_quantile(const int64_t *sorted, uint32_t n, uint32_t part, uint32_t whole);

/* The median of n >= 1 integers, which are put in order, rounded down. */
int64_t ovl_median(int64_t *values, uint32_t n);

#endif
