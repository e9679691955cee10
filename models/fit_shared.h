/*
 * fit_shared.h - what a collective takes of a GPU, from how much it slows kernels whose wants are
 * known: HBM bytes per byte on the wire (hbm_factor) and SMs held.
 *
 * The rules are those of a run: two that want more of HBM than there is share it fairly (who wants
 * less than half gets it); SMs held by the collective are gone. With H and S of the GPU, a
 * collective of w bytes/s on the wire and a kernel that wants h bytes/s and s SMs, u = hbm_factor
 * w:
 *
 *     kernel     max(h / its share of H, s / (S - c))        collective   u / its share of H
 *
 * A100, 2000 GB/s, all-gather at 300 GB/s: attention that wants all of HBM takes 0.33 instead of
 * 0.18 ms, so u = 2000 - 2000 / 1.83 = 909 GB/s and hbm_factor 3.
 *
 * Nonlinear least squares on logarithms of the factors (GSL, Levenberg-Marquardt). A part is
 * identified only if some slowed kernel's want of it is known, and if no other explanation fits as
 * well.
 */
#ifndef OVL_MODELS_FIT_SHARED_H
#define OVL_MODELS_FIT_SHARED_H

#include "models/fit.h"

typedef struct ovl_shared_pair {
    double kernel_factor;     /* measured; 0: not known */
    double collective_factor; /* likewise */
    double hbm, sms;          /* what the kernel wants alone; 0: not known */
    double wire;              /* bytes/s of the collective alone; 0: not known */
} ovl_shared_pair;

typedef struct ovl_shared_fit {
    ovl_fit_value hbm_factor, sms; /* value 0: not identified */
    const char *hbm_why, *sms_why; /* why not; NULL if it is */
    double residual;               /* root mean square of the logarithms */
    uint32_t n;                    /* factors used */
} ovl_shared_fit;

/* `hbm` (bytes/s) and `sms` of the GPU; 0: not known. Texts are static. */
ovl_shared_fit ovl_fit_shared(const ovl_shared_pair *pairs, uint32_t n, double hbm, double sms);

#endif
