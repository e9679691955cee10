#include "models/fit_shared.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>

#define SLOWED      1.03 /* a factor from which on a kernel tells of what it shares */
#define FITS        0.05 /* root mean square of logarithms that counts as an explanation */
#define MOST_ROUNDS 200

enum { HBM, SMS, PARTS };

/* Which parts are free; the others take nothing. */
typedef struct problem {
    const ovl_shared_pair *pairs;
    uint32_t n;
    double hbm, sms; /* of the GPU */
    bool use[PARTS];
} problem;

static double share_of_hbm(const problem *q, double mine, double other)
{
    double half = q->hbm / 2;
    if (mine + other <= q->hbm || mine <= half) {
        return mine;
    }
    return other <= half ? q->hbm - other : half;
}

/* Slowdown of the kernel and of the collective of a pair, by what the collective takes. */
static void predicted(const problem *q, const ovl_shared_pair *p, const double take[PARTS],
                      double *kernel, double *collective)
{
    double u = take[HBM] * p->wire, held = fmin(fmax(take[SMS], 0), q->sms * 0.999);
    *kernel = *collective = 1;
    if (q->hbm > 0 && p->hbm > 0 && u > 0) {
        *kernel = p->hbm / share_of_hbm(q, p->hbm, u);
        *collective = u / share_of_hbm(q, u, p->hbm);
    }
    if (q->sms > 0 && p->sms > 0 && p->sms + held > q->sms) {
        *kernel = fmax(*kernel, p->sms / (q->sms - held));
    }
}

static void spread(const problem *q, const gsl_vector *x, double take[PARTS])
{
    size_t k = 0;
    for (int part = 0; part < PARTS; part++) {
        take[part] = q->use[part] ? fmax(gsl_vector_get(x, k++), 0) : 0;
    }
}

static double residual_of(double measured, double model)
{
    return measured > 0 ? log(model) - log(measured) : 0;
}

static int residuals(const gsl_vector *x, void *context, gsl_vector *f)
{
    const problem *q = context;
    double take[PARTS];
    spread(q, x, take);
    for (uint32_t i = 0; i < q->n; i++) {
        const ovl_shared_pair *p = &q->pairs[i];
        double kernel, collective;
        predicted(q, p, take, &kernel, &collective);
        gsl_vector_set(f, 2 * i, residual_of(p->kernel_factor, kernel));
        gsl_vector_set(f, 2 * i + 1, residual_of(p->collective_factor, collective));
    }
    return GSL_SUCCESS;
}

/* From the kernel that was slowed most, as if this part alone had slowed it. */
static double start_of(const problem *q, int part)
{
    double most = 1, start = 1;
    for (uint32_t i = 0; i < q->n; i++) {
        const ovl_shared_pair *p = &q->pairs[i];
        double want = part == HBM ? p->hbm : p->sms;
        if (want > 0 && p->kernel_factor > most && (part == SMS || p->wire > 0)) {
            most = p->kernel_factor;
            start = part == HBM ? fmax(q->hbm - want / most, 0) / p->wire
                                : fmax(q->sms - want / most, 0);
        }
    }
    return fmax(start, 1e-3);
}

typedef struct answer {
    bool good;
    double value[PARTS], half[PARTS]; /* half of the interval; < 0: none */
    double rms;
} answer;

/* Factors that were measured: each is an equation. */
static uint32_t equations(const problem *q)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        n += (q->pairs[i].kernel_factor > 0) + (q->pairs[i].collective_factor > 0);
    }
    return n;
}

static void read_answer(const problem *q, gsl_multifit_nlinear_workspace *w, uint32_t p, answer *a)
{
    uint32_t n = equations(q);
    double chi = 0;
    gsl_matrix *cov = gsl_matrix_alloc(p, p);
    if (!cov) {
        ovl_out_of_memory(p * p * sizeof(double));
    }
    gsl_blas_ddot(gsl_multifit_nlinear_residual(w), gsl_multifit_nlinear_residual(w), &chi);
    a->rms = sqrt(chi / n);
    a->good = gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 1e-8, cov) == GSL_SUCCESS;
    spread(q, gsl_multifit_nlinear_position(w), a->value);
    uint32_t k = 0;
    for (int part = 0; part < PARTS; part++) {
        a->half[part] = -1;
        if (!q->use[part]) {
            continue;
        }
        double variance = gsl_matrix_get(cov, k, k);
        k++;
        a->good &= variance > 0 && isfinite(variance); /* 0: nothing depends on it */
        if (n > p && a->good) {
            a->half[part] = gsl_cdf_tdist_Pinv(0.975, n - p) * sqrt(variance * chi / (n - p));
        }
    }
    gsl_matrix_free(cov);
}

static answer solve(const problem *q)
{
    answer a = {.good = false};
    uint32_t p = (uint32_t)q->use[HBM] + q->use[SMS], k = 0;
    if (p == 0 || equations(q) < p || 2 * q->n < p) {
        return a;
    }
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *w =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, 2 * (size_t)q->n, p);
    gsl_vector *x = gsl_vector_alloc(p);
    if (!w || !x) {
        ovl_out_of_memory((size_t)q->n * p * sizeof(double));
    }
    for (int part = 0; part < PARTS; part++) {
        if (q->use[part]) {
            gsl_vector_set(x, k++, start_of(q, part));
        }
    }
    problem own = *q;
    gsl_multifit_nlinear_fdf f = {.f = residuals, .n = 2 * (size_t)q->n, .p = p, .params = &own};
    int info;
    if (gsl_multifit_nlinear_init(x, &f, w) == GSL_SUCCESS) {
        gsl_multifit_nlinear_driver(MOST_ROUNDS, 1e-10, 1e-10, 0, NULL, NULL, &info, w);
        read_answer(q, w, p, &a);
    }
    gsl_vector_free(x);
    gsl_multifit_nlinear_free(w);
    return a;
}

static ovl_fit_value value_of(const answer *a, int part)
{
    if (a->half[part] < 0) {
        return (ovl_fit_value){a->value[part], 1, 0};
    }
    return (ovl_fit_value){a->value[part], fmax(a->value[part] - a->half[part], 0),
                           a->value[part] + a->half[part]};
}

/* Why a part cannot be told whatever the factors are; NULL: it may be. */
static const char *lacks_hbm(const problem *q)
{
    bool wants = false, wire = false, slowed = false;
    for (uint32_t i = 0; i < q->n; i++) {
        const ovl_shared_pair *p = &q->pairs[i];
        wants |= p->hbm > 0;
        wire |= p->hbm > 0 && p->wire > 0;
        slowed |= p->hbm > 0 && p->wire > 0 && p->kernel_factor > SLOWED;
    }
    return q->hbm <= 0 ? "the bandwidth of HBM is not known (--hbm)"
           : !wants    ? "no class of kernels says what it wants of HBM"
           : !wire     ? "the bytes the collective moves are not known"
           : !slowed   ? "no class of kernels whose want of HBM is known was slowed"
                       : NULL;
}

static const char *lacks_sms(const problem *q)
{
    bool wants = false, slowed = false;
    for (uint32_t i = 0; i < q->n; i++) {
        const ovl_shared_pair *p = &q->pairs[i];
        wants |= p->sms > 0;
        slowed |= p->sms > 0 && p->kernel_factor > SLOWED;
    }
    return q->sms <= 0 ? "the number of SMs is not known (--sms)"
           : !wants    ? "no class of kernels says how many SMs it wants"
           : !slowed   ? "no class of kernels whose want of SMs is known was slowed"
                       : NULL;
}

static answer solve_with(const problem *q, bool hbm, bool sms)
{
    problem own = *q;
    own.use[HBM] = hbm;
    own.use[SMS] = sms;
    return solve(&own);
}

static bool explains(const answer *a)
{
    return a->good && a->rms <= FITS;
}

/* The simplest explanation that fits, if it is the only one. */
static void choose(const problem *q, ovl_shared_fit *fit)
{
    static const char *const either =
        "HBM alone and SMs alone explain the slowdowns as well; measure "
        "a kernel bound by one of them";
    static const char *const neither = "sharing of HBM and SMs does not explain the slowdowns";
    static const char *const other = "the other part alone explains the slowdowns";
    bool may[PARTS] = {!fit->hbm_why, !fit->sms_why};
    answer hbm = solve_with(q, may[HBM], false), sms = solve_with(q, false, may[SMS]);
    bool one = may[HBM] && explains(&hbm), two = may[SMS] && explains(&sms);
    if (one && two) {
        fit->hbm_why = fit->sms_why = either;
        return;
    }
    answer a = one ? hbm : two ? sms : solve_with(q, may[HBM], may[SMS]);
    if (!explains(&a) || (!one && !two && !(may[HBM] && may[SMS]))) {
        fit->residual = a.rms;
        fit->hbm_why = fit->hbm_why ? fit->hbm_why : neither;
        fit->sms_why = fit->sms_why ? fit->sms_why : neither;
        return;
    }
    fit->residual = a.rms;
    bool found[PARTS] = {may[HBM] && !two, may[SMS] && !one};
    fit->hbm_why = found[HBM] ? NULL : fit->hbm_why ? fit->hbm_why : other;
    fit->sms_why = found[SMS] ? NULL : fit->sms_why ? fit->sms_why : other;
    fit->hbm_factor = found[HBM] ? value_of(&a, HBM) : fit->hbm_factor;
    fit->sms = found[SMS] ? value_of(&a, SMS) : fit->sms;
}

ovl_shared_fit ovl_fit_shared(const ovl_shared_pair *pairs, uint32_t n, double hbm, double sms)
{
    const problem q = {.pairs = pairs, .n = n, .hbm = hbm, .sms = sms};
    ovl_shared_fit fit = {.hbm_factor = {0, 1, 0}, .sms = {0, 1, 0}, .n = equations(&q)};
    fit.hbm_why = lacks_hbm(&q);
    fit.sms_why = lacks_sms(&q);
    if (!fit.hbm_why || !fit.sms_why) {
        gsl_error_handler_t *before = gsl_set_error_handler_off();
        choose(&q, &fit);
        gsl_set_error_handler(before);
    }
    return fit;
}
