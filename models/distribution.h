/*
 * distribution.h - how a duration varies: a law of one mean and coefficient of variation, or of two
 * percentiles, drawn by its inverse CDF.
 *
 *     ovl_distribution d = ovl_distribution_of_mean(OVL_DRAW_LOGNORMAL, 1, 0.5);
 *     ovl_draw(&d, 0.5)                           0.894427...: the median, 1 / sqrt(1 + cv^2)
 *
 * Laws: lognormal (long right tail), gamma (the sum of many exponential waits), normal (cut off at
 * 0), uniform. A cv of 0 is a constant.
 */
#ifndef OVL_MODELS_DISTRIBUTION_H
#define OVL_MODELS_DISTRIBUTION_H

#include "sim/base.h"

typedef enum ovl_draw_kind {
    OVL_DRAW_LOGNORMAL,
    OVL_DRAW_NORMAL,
    OVL_DRAW_GAMMA,
    OVL_DRAW_UNIFORM,
    OVL_DRAW_CONSTANT,
} ovl_draw_kind;

/* lognormal: exp(a + b z); normal: a + b z; gamma: shape a, scale b; uniform: a .. b; constant: a.
 */
typedef struct ovl_distribution {
    ovl_draw_kind kind;
    double a, b;
} ovl_distribution;

/* The law of this mean (> 0) and coefficient of variation (standard deviation / mean, >= 0). A
 * uniform law has a cv of at most 1/sqrt(3), else it would be negative. */
ovl_distribution ovl_distribution_of_mean(ovl_draw_kind kind, double mean, double cv);

/* The law with this median and 95th percentile, 0 < p50 <= p95. A uniform law needs p95 <= 1.9 p50,
 * a gamma law p95 <= 1000 p50. */
ovl_distribution ovl_distribution_of_percentiles(ovl_draw_kind kind, double p50, double p95);

/* The value below which a share `u` (0 < u < 1) of all draws lies; never negative. */
double ovl_draw(const ovl_distribution *d, double u);

/* Spreads bits: a different number for each pair (splitmix64's finalizer, Steele et al. 2014). */
uint64_t ovl_hash_pair(uint64_t a, uint64_t b);

/* A hash as a number between 0 and 1, neither included. */
double ovl_hash_share(uint64_t hash);

#endif
