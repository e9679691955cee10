#include "models/fit_rates.h"

#include "models/fit_parts.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#define RESAMPLES 1000
#define TOLERANCE 1e-6 /* singular values below this share of the largest are none */

static const ovl_fit_value nothing = {0, 1, 0};

/* The samples that count, and the partners that any of them was beside. */
typedef struct problem {
    const ovl_rate_sample **samples;
    uint32_t n, n_partners, p;
    uint32_t *column; /* of each partner, or OVL_NONE */
} problem;

static double total(const ovl_rate_sample *s, uint32_t n_partners)
{
    double sum = 0;
    for (uint32_t c = 0; c < n_partners; c++) {
        sum += s->beside[c];
    }
    return sum;
}

static problem problem_of(const ovl_rate_sample *samples, uint32_t n, uint32_t n_partners,
                          ovl_arena *arena)
{
    problem q = {.n_partners = n_partners};
    q.samples = OVL_NEW_ARRAY(arena, const ovl_rate_sample *, n);
    q.column = OVL_NEW_ARRAY(arena, uint32_t, n_partners);
    for (uint32_t c = 0; c < n_partners; c++) {
        q.column[c] = OVL_NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (total(&samples[i], n_partners) <= 0) {
            continue;
        }
        q.samples[q.n++] = &samples[i];
        for (uint32_t c = 0; c < n_partners; c++) {
            if (samples[i].beside[c] > 0 && q.column[c] == OVL_NONE) {
                q.column[c] = q.p++;
            }
        }
    }
    return q;
}

/* The rate of all partners together: sum of work done beside them over the time beside them. */
static double common_rate(const problem *q, const uint32_t *pick)
{
    double work = 0, time = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        const ovl_rate_sample *s = q->samples[pick ? pick[i] : i];
        double beside = total(s, q->n_partners);
        work += s->alone - (s->took - beside);
        time += beside;
    }
    return work / time;
}

typedef struct solver {
    gsl_matrix *x, *cov;
    gsl_vector *y, *w, *c;
    gsl_multifit_linear_workspace *work;
} solver;

static solver solver_of(const problem *q)
{
    solver s = {gsl_matrix_alloc(q->n, q->p), gsl_matrix_alloc(q->p, q->p),
                gsl_vector_alloc(q->n),       gsl_vector_alloc(q->n),
                gsl_vector_alloc(q->p),       gsl_multifit_linear_alloc(q->n, q->p)};
    if (!s.x || !s.cov || !s.y || !s.w || !s.c || !s.work) {
        ovl_out_of_memory((size_t)q->n * q->p * sizeof(double));
    }
    return s;
}

static void free_solver(solver *s)
{
    gsl_matrix_free(s->x);
    gsl_matrix_free(s->cov);
    gsl_vector_free(s->y);
    gsl_vector_free(s->w);
    gsl_vector_free(s->c);
    gsl_multifit_linear_free(s->work);
}

/* Rates into solver->c. False if the partners cannot be told apart. */
static bool solve(const problem *q, solver *s, const uint32_t *pick)
{
    size_t rank = 0;
    double chi;
    for (uint32_t i = 0; i < q->n; i++) {
        const ovl_rate_sample *sample = q->samples[pick ? pick[i] : i];
        double beside = total(sample, q->n_partners);
        for (uint32_t c = 0; c < q->n_partners; c++) {
            if (q->column[c] != OVL_NONE) {
                gsl_matrix_set(s->x, i, q->column[c], sample->beside[c]);
            }
        }
        gsl_vector_set(s->y, i, sample->alone - (sample->took - beside));
        gsl_vector_set(s->w, i, 1 / beside);
    }
    int code =
        gsl_multifit_wlinear_tsvd(s->x, s->w, s->y, TOLERANCE, s->c, s->cov, &chi, &rank, s->work);
    return code == GSL_SUCCESS && rank == q->p;
}

static double factor_of(double rate)
{
    return rate > 0 && isfinite(rate) ? 1 / rate : 0;
}

static ovl_fit_value interval_of(double value, double *resampled, uint32_t n)
{
    if (value <= 0) {
        return nothing;
    }
    if (n < RESAMPLES / 2) {
        return (ovl_fit_value){value, 1, 0};
    }
    double low = ovl_fit_quantile(resampled, n, 0.025);
    double high = ovl_fit_quantile(resampled, n, 0.975);
    return (ovl_fit_value){value, low, high};
}

/* Resampled rates of the partners (rows of RESAMPLES) and of all together. */
typedef struct bootstrap {
    double *rates, *common;
    uint32_t n; /* resamples in which the partners could be told apart */
} bootstrap;

static bootstrap resample(const problem *q, solver *s, uint64_t seed, ovl_arena *arena)
{
    bootstrap b = {OVL_NEW_ARRAY(arena, double, (size_t)q->p *RESAMPLES),
                   OVL_NEW_ARRAY(arena, double, RESAMPLES), 0};
    uint32_t *pick = OVL_NEW_ARRAY(arena, uint32_t, q->n);
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    if (!random) {
        ovl_out_of_memory(RESAMPLES);
    }
    gsl_rng_set(random, (unsigned long)seed);
    for (uint32_t k = 0; k < RESAMPLES; k++) {
        for (uint32_t i = 0; i < q->n; i++) {
            pick[i] = (uint32_t)gsl_rng_uniform_int(random, q->n);
        }
        b.common[k] = factor_of(common_rate(q, pick));
        if (s && solve(q, s, pick)) {
            for (uint32_t c = 0; c < q->p; c++) {
                b.rates[(size_t)c * RESAMPLES + b.n] = factor_of(gsl_vector_get(s->c, c));
            }
            b.n++;
        }
    }
    gsl_rng_free(random);
    return b;
}

static void separate(const problem *q, uint64_t seed, ovl_arena *scratch, ovl_rate_fit *fit)
{
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    solver s = solver_of(q);
    fit->separable = solve(q, &s, NULL);
    double *rates = OVL_NEW_ARRAY(scratch, double, q->p);
    for (uint32_t c = 0; fit->separable && c < q->p; c++) {
        rates[c] = gsl_vector_get(s.c, c);
    }
    bootstrap b = {NULL, NULL, 0};
    if (q->n > 1) {
        b = resample(q, fit->separable ? &s : NULL, seed, scratch);
    }
    free_solver(&s);
    gsl_set_error_handler(before);
    fit->common = interval_of(factor_of(common_rate(q, NULL)), b.common, q->n > 1 ? RESAMPLES : 0);
    for (uint32_t c = 0; fit->separable && c < q->n_partners; c++) {
        uint32_t k = q->column[c];
        if (k != OVL_NONE) {
            fit->factor[c] = interval_of(factor_of(rates[k]),
                                         b.rates ? b.rates + (size_t)k * RESAMPLES : NULL, b.n);
        }
    }
}

ovl_rate_fit ovl_fit_rates(const ovl_rate_sample *samples, uint32_t n, uint32_t n_partners,
                           uint64_t seed, ovl_arena *arena)
{
    ovl_arena scratch = {0};
    problem q = problem_of(samples, n, n_partners, &scratch);
    ovl_rate_fit fit = {.factor = OVL_NEW_ARRAY(arena, ovl_fit_value, n_partners),
                        .beside = OVL_NEW_ARRAY(arena, double, n_partners),
                        .common = nothing,
                        .n = q.n};
    for (uint32_t c = 0; c < n_partners; c++) {
        fit.factor[c] = nothing;
        for (uint32_t i = 0; i < n; i++) {
            fit.beside[c] += samples[i].beside[c];
        }
    }
    if (q.p) {
        separate(&q, seed, &scratch, &fit);
    }
    ovl_arena_free(&scratch);
    return fit;
}
