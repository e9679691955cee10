/*
 * One line, time = alpha + slope * bytes, through points whose errors are relative.
 *
 * The robust fit divides each equation by its own prediction, so that residuals are relative, and
 * gives it to GSL's bisquare regression (Holland and Welsch 1977); predictions and fit are repeated
 * until they agree. Weights by predictions and not by measured times, since these are the noise.
 */
#include "models/fit_parts.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <math.h>

#define ROUNDS 5

static const ovl_fit_value no_interval = {0, 1, 0};

static ovl_fit_value point_value(double value)
{
    ovl_fit_value v = no_interval;
    v.value = value;
    return v;
}

/* --- In closed form --- */

static double cost_of(const ovl_fit_point *points, uint32_t n, double alpha, double slope)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        double e = (alpha + slope * (double)points[i].bytes) / points[i].time - 1;
        sum += e * e;
    }
    return sum;
}

/* Normal equations of sum (alpha a + slope b - 1)^2, a = 1/time, b = bytes/time. A part that would
 * be negative is 0 and the other is fitted alone. */
double ovl_fit_quick_line(const ovl_fit_point *points, uint32_t n, ovl_fit_line *line)
{
    double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0;
    for (uint32_t i = 0; i < n; i++) {
        double a = 1 / points[i].time, b = (double)points[i].bytes / points[i].time;
        aa += a * a;
        ab += a * b;
        bb += b * b;
        a1 += a;
        b1 += b;
    }
    double det = aa * bb - ab * ab;
    double alpha = det > 1e-12 * aa * bb ? (a1 * bb - b1 * ab) / det : a1 / aa;
    double slope = det > 1e-12 * aa * bb ? (b1 * aa - a1 * ab) / det : 0;
    if (slope < 0) {
        alpha = a1 / aa;
        slope = 0;
    } else if (alpha < 0) {
        alpha = 0;
        slope = b1 / bb;
    }
    *line = (ovl_fit_line){.from = points[0].bytes,
                           .to = points[n - 1].bytes,
                           .n = n,
                           .alpha = point_value(alpha),
                           .slope = point_value(slope)};
    return cost_of(points, n, alpha, slope);
}

/* --- Robust --- */

typedef struct problem {
    const ovl_fit_point *points;
    uint32_t n, p;
    bool use_alpha, use_slope;
    double unit; /* bytes: the largest size, so that both columns are of one magnitude */
    gsl_matrix *x, *cov;
    gsl_vector *y, *c;
    gsl_multifit_robust_workspace *robust;
} problem;

static problem problem_of(const ovl_fit_point *points, uint32_t n, bool use_alpha, bool use_slope)
{
    problem q = {.points = points, .n = n, .use_alpha = use_alpha, .use_slope = use_slope};
    q.p = (uint32_t)use_alpha + use_slope;
    for (uint32_t i = 0; i < n; i++) {
        q.unit = OVL_MAX(q.unit, (double)points[i].bytes);
    }
    q.x = gsl_matrix_alloc(n, q.p);
    q.cov = gsl_matrix_alloc(q.p, q.p);
    q.y = gsl_vector_alloc(n);
    q.c = gsl_vector_alloc(q.p);
    q.robust = gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, n, q.p);
    if (!q.x || !q.cov || !q.y || !q.c || !q.robust) {
        ovl_out_of_memory(n * sizeof(double));
    }
    return q;
}

static void free_problem(problem *q)
{
    gsl_matrix_free(q->x);
    gsl_matrix_free(q->cov);
    gsl_vector_free(q->y);
    gsl_vector_free(q->c);
    gsl_multifit_robust_free(q->robust);
}

static double predict(double alpha, double slope, const ovl_fit_point *point)
{
    return alpha + slope * (double)point->bytes;
}

static void fill(problem *q, double alpha, double slope)
{
    for (uint32_t i = 0; i < q->n; i++) {
        const ovl_fit_point *p = &q->points[i];
        double m = OVL_MAX(predict(alpha, slope, p), 1e-3 * p->time);
        if (q->use_alpha) {
            gsl_matrix_set(q->x, i, 0, 1 / m);
        }
        if (q->use_slope) {
            gsl_matrix_set(q->x, i, q->p - 1, (double)p->bytes / q->unit / m);
        }
        gsl_vector_set(q->y, i, p->time / m);
    }
}

static ovl_fit_value value_at(const problem *q, uint32_t index, double scale)
{
    double value = gsl_vector_get(q->c, index) * scale;
    double variance = gsl_matrix_get(q->cov, index, index);
    if (!(variance >= 0) || !isfinite(variance)) {
        return point_value(value);
    }
    double half = gsl_cdf_tdist_Pinv(0.975, (double)(q->n - q->p)) * sqrt(variance) * scale;
    return (ovl_fit_value){value, value - half, value + half};
}

/* Refines `line`; false if the regression gave nothing usable. */
static bool regress(problem *q, ovl_fit_line *line)
{
    double alpha = line->alpha.value, slope = line->slope.value;
    for (int round = 0; round < ROUNDS; round++) {
        fill(q, alpha, slope);
        int code = gsl_multifit_robust(q->x, q->y, q->c, q->cov, q->robust);
        if (code != GSL_SUCCESS && code != GSL_EMAXITER) {
            return false;
        }
        alpha = q->use_alpha ? gsl_vector_get(q->c, 0) : 0;
        slope = q->use_slope ? gsl_vector_get(q->c, q->p - 1) / q->unit : 0;
        if (!isfinite(alpha) || !isfinite(slope)) {
            return false;
        }
    }
    line->alpha = q->use_alpha ? value_at(q, 0, 1) : point_value(0);
    line->slope = q->use_slope ? value_at(q, q->p - 1, 1 / q->unit) : point_value(0);
    line->residual = gsl_multifit_robust_statistics(q->robust).sigma;
    return true;
}

/* GSL's own handler would end the program; what it has to say is in the status. */
static bool robust(const ovl_fit_point *points, uint32_t n, bool use_alpha, bool use_slope,
                   ovl_fit_line *line)
{
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    problem q = problem_of(points, n, use_alpha, use_slope);
    bool good = regress(&q, line);
    free_problem(&q);
    gsl_set_error_handler(before);
    return good;
}

ovl_fit_line ovl_fit_robust_line(const ovl_fit_point *points, uint32_t n)
{
    ovl_fit_line line;
    double cost = ovl_fit_quick_line(points, n, &line);
    line.residual = n > 2 ? sqrt(cost / (n - 2)) : 0;
    if (n < 4) {
        return line;
    }
    ovl_fit_line both = line;
    if (!robust(points, n, true, true, &both)) {
        return line;
    }
    if (both.slope.value < 0) {
        robust(points, n, true, false, &both);
    } else if (both.alpha.value < 0) {
        robust(points, n, false, true, &both);
    }
    return both;
}
