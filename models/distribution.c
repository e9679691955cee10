#include "models/distribution.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

ovl_distribution ovl_distribution_of_mean(ovl_draw_kind kind, double mean, double cv)
{
    double sigma = sqrt(log1p(cv * cv));
    if (cv <= 0 || kind == OVL_DRAW_CONSTANT) {
        return (ovl_distribution){OVL_DRAW_CONSTANT, mean, 0};
    }
    switch (kind) {
    case OVL_DRAW_LOGNORMAL:
        return (ovl_distribution){kind, log(mean) - sigma * sigma / 2, sigma};
    case OVL_DRAW_NORMAL:
        return (ovl_distribution){kind, mean, mean * cv};
    case OVL_DRAW_GAMMA:
        return (ovl_distribution){kind, 1 / (cv * cv), mean * cv * cv};
    case OVL_DRAW_UNIFORM:
    case OVL_DRAW_CONSTANT:
    default:
        return (ovl_distribution){kind, mean * (1 - cv * sqrt(3)), mean * (1 + cv * sqrt(3))};
    }
}

/* The shape at which the 95th percentile is `ratio` times the median: the ratio falls with the
 * shape, so halving the interval finds it. */
static double gamma_shape(double ratio)
{
    double low = 0.02, high = 1e8;
    for (int i = 0; i < 200; i++) {
        double shape = sqrt(low * high);
        bool wide = gsl_cdf_gamma_Pinv(0.95, shape, 1) > ratio * gsl_cdf_gamma_Pinv(0.5, shape, 1);
        *(wide ? &low : &high) = shape;
    }
    return high;
}

ovl_distribution ovl_distribution_of_percentiles(ovl_draw_kind kind, double p50, double p95)
{
    double z = gsl_cdf_ugaussian_Pinv(0.95);
    if (p95 <= p50 || kind == OVL_DRAW_CONSTANT) {
        return (ovl_distribution){OVL_DRAW_CONSTANT, p50, 0};
    }
    switch (kind) {
    case OVL_DRAW_LOGNORMAL:
        return (ovl_distribution){kind, log(p50), log(p95 / p50) / z};
    case OVL_DRAW_NORMAL:
        return (ovl_distribution){kind, p50, (p95 - p50) / z};
    case OVL_DRAW_GAMMA: {
        double shape = gamma_shape(p95 / p50);
        return (ovl_distribution){kind, shape, p50 / gsl_cdf_gamma_Pinv(0.5, shape, 1)};
    }
    case OVL_DRAW_UNIFORM:
    case OVL_DRAW_CONSTANT:
    default:
        return (ovl_distribution){kind, p50 - (p95 - p50) / 0.9, p50 + (p95 - p50) / 0.9};
    }
}

double ovl_draw(const ovl_distribution *d, double u)
{
    assert(u > 0 && u < 1);
    switch (d->kind) {
    case OVL_DRAW_LOGNORMAL:
        return exp(d->a + d->b * gsl_cdf_ugaussian_Pinv(u));
    case OVL_DRAW_NORMAL:
        return fmax(0, d->a + d->b * gsl_cdf_ugaussian_Pinv(u));
    case OVL_DRAW_GAMMA:
        return gsl_cdf_gamma_Pinv(u, d->a, d->b);
    case OVL_DRAW_UNIFORM:
        return fmax(0, d->a + (d->b - d->a) * u);
    case OVL_DRAW_CONSTANT:
    default:
        return d->a;
    }
}

uint64_t ovl_hash_pair(uint64_t a, uint64_t b)
{
    uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

double ovl_hash_share(uint64_t hash)
{
    return ((double)(hash >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
}
