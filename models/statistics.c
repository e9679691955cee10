#include "models/statistics.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    ovl_time x = *(const ovl_time *)a, y = *(const ovl_time *)b;
    return (x > y) - (x < y);
}

static ovl_time percentile(const ovl_time *sorted, uint32_t n, uint32_t percent)
{
    uint64_t rank = ((uint64_t)percent * n + 99) / 100;
    return sorted[rank ? rank - 1 : 0];
}

/* Times are measured from the smallest, so that squares keep their digits; sums run in sorted
 * order, which is the same whoever ended first. */
ovl_statistics ovl_statistics_of(const ovl_time *times, uint32_t n)
{
    assert(n >= 2);
    ovl_arena arena = {0};
    ovl_time *sorted = OVL_NEW_ARRAY(&arena, ovl_time, n);
    memcpy(sorted, times, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += (double)(sorted[i] - sorted[0]);
    }
    for (uint32_t i = 0; i < n; i++) {
        double off = (double)(sorted[i] - sorted[0]) - sum / n;
        squares += off * off;
    }
    double half = gsl_cdf_tdist_Pinv(0.975, n - 1) * sqrt(squares / (n - 1) / n);
    ovl_statistics s = {.p5 = percentile(sorted, n, 5),
                        .p50 = percentile(sorted, n, 50),
                        .p75 = percentile(sorted, n, 75),
                        .p95 = percentile(sorted, n, 95),
                        .min = sorted[0],
                        .max = sorted[n - 1],
                        .mean = sorted[0] + (ovl_time)floor(sum / n + 0.5)};
    s.low = s.mean - (ovl_time)floor(half + 0.5);
    s.high = s.mean + (ovl_time)floor(half + 0.5);
    ovl_arena_free(&arena);
    return s;
}

/* Differences of any two are below 2^64, and products of them with a part below 2^96. */
__extension__ typedef unsigned __int128 wide;

int64_t ovl_part_way(int64_t low, int64_t high, uint32_t part, uint32_t whole)
{
    assert(low <= high && part <= whole && whole > 0);
    wide beyond = (wide)((uint64_t)high - (uint64_t)low) * part / whole;
    return (int64_t)((uint64_t)low + (uint64_t)beyond);
}

int64_t ovl_quantile(const int64_t *sorted, uint32_t n, uint32_t part, uint32_t whole)
{
    assert(n > 0);
    uint64_t at = (uint64_t)(n - 1) * part;
    uint32_t low = (uint32_t)(at / whole);
    return ovl_part_way(sorted[low], sorted[OVL_MIN(low + 1, n - 1)], (uint32_t)(at % whole),
                        whole);
}

int64_t ovl_median(int64_t *values, uint32_t n)
{
    assert(n > 0);
    qsort(values, n, sizeof *values, compare);
    return ovl_quantile(values, n, 1, 2);
}
