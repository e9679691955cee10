/*
 * statistics.h - a sample of times in a few numbers.
 *
 * Percentiles are values of the sample (nearest rank: the smallest that at least that share does
 * not exceed). The interval is that of the mean, 95 %, by Student's t.
 *
 *     {1, 2, 3, 4, 10} ms: p50 3, p95 10, mean 4, interval 4 +- 2.776 * 3.536 / sqrt(5) = -0.39
 * .. 8.39
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

#endif
