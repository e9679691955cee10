#include "models/fit_rates.h"

#include "models/fit_parts.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#define TOLERANCE 1e-6 /* singular values below this share of the largest are none */
#define SINGULAR  1e-9 /* the same for the diagonal of normal equations */
#define ROUNDING  1e-9 /* of sums in another order */

/* Many samples are resampled in blocks, many partners fewer times: the work stays within a second.
 */
#define FEW_PARTNERS      8
#define RESAMPLES         1000
#define BLOCKS            256
#define RESAMPLES_OF_MANY 200
#define BLOCKS_OF_MANY    64

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
static bool solve(const problem *q, solver *s)
{
    size_t rank = 0;
    double chi;
    for (uint32_t i = 0; i < q->n; i++) {
        const ovl_rate_sample *sample = q->samples[i];
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

/* --- Bootstrap --- */

/* Normal equations of a block of samples: sums of w b b^T (p x p), of w b y (p), and of the work
 * done and time spent beside any. Sums of blocks are those of their samples. */
typedef struct block {
    double *a, *b;
    double work, time;
} block;

typedef struct bootstrap {
    uint32_t p, n_blocks, n_resamples;
    block *blocks;
    double *rates;  /* rows of n_resamples factors, one for each partner */
    double *common; /* [n_resamples] factors of all partners together */
    uint32_t n;     /* resamples in which the partners could be told apart */
} bootstrap;

static void add_sample(const problem *q, block *k, const ovl_rate_sample *s)
{
    double beside = total(s, q->n_partners), work = s->alone - (s->took - beside);
    k->work += work;
    k->time += beside;
    for (uint32_t c = 0; c < q->n_partners; c++) {
        uint32_t i = q->column[c];
        if (i == OVL_NONE || s->beside[c] <= 0) {
            continue;
        }
        k->b[i] += s->beside[c] * work / beside;
        for (uint32_t d = 0; d < q->n_partners; d++) {
            uint32_t j = q->column[d];
            if (j != OVL_NONE) {
                k->a[(size_t)i * q->p + j] += s->beside[c] * s->beside[d] / beside;
            }
        }
    }
}

static bootstrap bootstrap_of(const problem *q, ovl_arena *arena)
{
    bool many = q->p > FEW_PARTNERS;
    bootstrap b = {.p = q->p,
                   .n_blocks = OVL_MIN(q->n, many ? BLOCKS_OF_MANY : BLOCKS),
                   .n_resamples = many ? RESAMPLES_OF_MANY : RESAMPLES};
    b.blocks = OVL_NEW_ARRAY(arena, block, b.n_blocks);
    for (uint32_t i = 0; i < b.n_blocks; i++) {
        b.blocks[i].a = OVL_NEW_ARRAY(arena, double, (size_t)q->p * q->p);
        b.blocks[i].b = OVL_NEW_ARRAY(arena, double, q->p);
    }
    for (uint32_t i = 0; i < q->n; i++) {
        add_sample(q, &b.blocks[i % b.n_blocks], q->samples[i]);
    }
    b.rates = OVL_NEW_ARRAY(arena, double, (size_t)q->p *b.n_resamples);
    b.common = OVL_NEW_ARRAY(arena, double, b.n_resamples);
    return b;
}

/* The sum of as many blocks as there are, drawn with replacement. */
static void draw(const bootstrap *b, gsl_rng *random, gsl_matrix *a, gsl_vector *y, block *sum)
{
    gsl_matrix_set_zero(a);
    gsl_vector_set_zero(y);
    sum->work = sum->time = 0;
    for (uint32_t i = 0; i < b->n_blocks; i++) {
        const block *k = &b->blocks[gsl_rng_uniform_int(random, b->n_blocks)];
        sum->work += k->work;
        sum->time += k->time;
        for (uint32_t r = 0; r < b->p; r++) {
            *gsl_vector_ptr(y, r) += k->b[r];
            for (uint32_t c = 0; c < b->p; c++) {
                *gsl_matrix_ptr(a, r, c) += k->a[(size_t)r * b->p + c];
            }
        }
    }
}

/* Solves in place. False if some partner's column is, but for rounding, a sum of the others: what
 * Cholesky leaves of its diagonal then is nothing. */
static bool solve_drawn(gsl_matrix *a, gsl_vector *y)
{
    gsl_vector_view diagonal = gsl_matrix_diagonal(a);
    gsl_vector *before = gsl_vector_alloc(a->size1);
    if (!before) {
        ovl_out_of_memory(a->size1 * sizeof(double));
    }
    gsl_vector_memcpy(before, &diagonal.vector);
    bool good = gsl_linalg_cholesky_decomp1(a) == GSL_SUCCESS;
    for (size_t i = 0; good && i < a->size1; i++) {
        double left = gsl_matrix_get(a, i, i);
        good = left * left > SINGULAR * gsl_vector_get(before, i);
    }
    gsl_vector_free(before);
    return good && gsl_linalg_cholesky_svx(a, y) == GSL_SUCCESS;
}

static void resample(bootstrap *b, uint64_t seed)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_matrix *a = gsl_matrix_alloc(b->p, b->p);
    gsl_vector *y = gsl_vector_alloc(b->p);
    block sum;
    if (!random || !a || !y) {
        ovl_out_of_memory((size_t)b->p * b->p * sizeof(double));
    }
    gsl_rng_set(random, (unsigned long)seed);
    for (uint32_t k = 0; k < b->n_resamples; k++) {
        draw(b, random, a, y, &sum);
        b->common[k] = factor_of(sum.work / sum.time);
        if (solve_drawn(a, y)) {
            for (uint32_t c = 0; c < b->p; c++) {
                b->rates[(size_t)c * b->n_resamples + b->n] = factor_of(gsl_vector_get(y, c));
            }
            b->n++;
        }
    }
    gsl_rng_free(random);
    gsl_matrix_free(a);
    gsl_vector_free(y);
}

/* Of a value and its `n` resampled ones; there is none if too few could be solved. */
static ovl_fit_value interval_of(double value, double *resampled, uint32_t n, uint32_t of)
{
    if (value <= 0) {
        return nothing;
    }
    if (n == 0 || n < of / 2) {
        return (ovl_fit_value){value, 1, 0};
    }
    double low = ovl_fit_quantile(resampled, n, 0.025);
    double high = ovl_fit_quantile(resampled, n, 0.975);
    low = fabs(low - value) < ROUNDING * value ? value : low;
    high = fabs(high - value) < ROUNDING * value ? value : high;
    return (ovl_fit_value){value, low, high};
}

/* --- The whole --- */

/* The rates of the partners into `rates`; false if they cannot be told apart. */
static bool rates_of(const problem *q, double *rates)
{
    solver s = solver_of(q);
    bool separable = solve(q, &s);
    for (uint32_t c = 0; separable && c < q->p; c++) {
        rates[c] = gsl_vector_get(s.c, c);
    }
    free_solver(&s);
    return separable;
}

static void separate(const problem *q, uint64_t seed, ovl_arena *scratch, ovl_rate_fit *fit)
{
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    double *rates = OVL_NEW_ARRAY(scratch, double, q->p);
    block all = {OVL_NEW_ARRAY(scratch, double, (size_t)q->p * q->p),
                 OVL_NEW_ARRAY(scratch, double, q->p), 0, 0};
    bootstrap b = {.n = 0};
    fit->separable = rates_of(q, rates);
    if (q->n > 1) {
        b = bootstrap_of(q, scratch);
        resample(&b, seed);
    }
    for (uint32_t i = 0; i < q->n; i++) {
        add_sample(q, &all, q->samples[i]);
    }
    gsl_set_error_handler(before);
    fit->common =
        interval_of(factor_of(all.work / all.time), b.common, b.n_resamples, b.n_resamples);
    for (uint32_t c = 0; fit->separable && c < q->n_partners; c++) {
        uint32_t k = q->column[c];
        if (k != OVL_NONE) {
            double *row = b.n ? b.rates + (size_t)k * b.n_resamples : NULL;
            fit->factor[c] = interval_of(factor_of(rates[k]), row, b.n, b.n_resamples);
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
