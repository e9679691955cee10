#include "models/fit.h"

#include "models/fit_parts.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

bool ovl_fit_has_interval(ovl_fit_value value)
{
    return value.low <= value.high;
}

const char *ovl_fit_model_name(ovl_fit_kind kind, uint32_t n_lines, ovl_arena *arena)
{
    switch (kind) {
    case OVL_FIT_PAIR:
        return "pair";
    case OVL_FIT_PIECES:
        return ovl_arena_printf(arena, "%" PRIu32 " pieces", n_lines);
    case OVL_FIT_TABLE_BYTES:
        return "table, lines in bytes";
    case OVL_FIT_TABLE_LOGS:
        break;
    }
    return "table, lines in logarithms";
}

/* --- Each size once --- */

static int by_size_and_time(const void *a, const void *b)
{
    const ovl_fit_point *x = a, *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes < y->bytes ? -1 : 1;
    }
    return (x->time > y->time) - (x->time < y->time);
}

static double middle(const ovl_fit_point *points, uint32_t n)
{
    return n % 2 ? points[n / 2].time : (points[n / 2 - 1].time + points[n / 2].time) / 2;
}

static uint32_t merge(ovl_fit_point *points, uint32_t n, ovl_fit_point *sizes)
{
    uint32_t n_sizes = 0;
    qsort(points, n, sizeof *points, by_size_and_time);
    for (uint32_t first = 0, next; first < n; first = next) {
        for (next = first + 1; next < n && points[next].bytes == points[first].bytes; next++) {
        }
        sizes[n_sizes++] =
            (ovl_fit_point){points[first].bytes, middle(&points[first], next - first)};
    }
    return n_sizes;
}

/* --- Held-out errors --- */

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double ovl_fit_quantile(double *values, uint32_t n, double q)
{
    qsort(values, n, sizeof *values, by_value);
    double at = q * (n - 1);
    uint32_t low = (uint32_t)at;
    uint32_t high = OVL_MIN(low + 1, n - 1);
    return values[low] + (values[high] - values[low]) * (at - low);
}

static ovl_fit_errors summed(double *errors, const ovl_fit_point *points, uint32_t n)
{
    ovl_fit_errors e = {.n = n};
    for (uint32_t i = 0; i < n; i++) {
        if (errors[i] >= e.worst) {
            e.worst = errors[i];
            e.worst_bytes = points[i].bytes;
        }
    }
    if (n) {
        e.median = ovl_fit_quantile(errors, n, 0.5);
        e.p90 = ovl_fit_quantile(errors, n, 0.9);
    }
    return e;
}

static ovl_fit_model model_of(const ovl_fit_point *sizes, uint32_t n, bool pair, ovl_arena *arena)
{
    return pair ? ovl_fit_pair_model(sizes, n, arena) : ovl_fit_choose(sizes, n, arena, NULL, NULL);
}

static double error_at(const ovl_fit_model *model, const ovl_fit_point *point)
{
    return fabs(ovl_fit_predict(model, point->bytes) / point->time - 1);
}

/* The odd sizes, from a model that saw the even ones alone. */
static ovl_fit_errors held_halves(const ovl_fit_point *sizes, uint32_t n, bool pair,
                                  ovl_arena *arena)
{
    ovl_fit_point *even = OVL_NEW_ARRAY(arena, ovl_fit_point, n);
    ovl_fit_point *odd = OVL_NEW_ARRAY(arena, ovl_fit_point, n);
    double *errors = OVL_NEW_ARRAY(arena, double, n);
    uint32_t n_even = 0, n_odd = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i % 2) {
            odd[n_odd++] = sizes[i];
        } else {
            even[n_even++] = sizes[i];
        }
    }
    ovl_fit_model model = model_of(even, n_even, pair, arena);
    for (uint32_t i = 0; i < n_odd; i++) {
        errors[i] = error_at(&model, &odd[i]);
    }
    return summed(errors, odd, n_odd);
}

/* Each size in turn, from a model that saw the others. */
static ovl_fit_errors held_singly(const ovl_fit_point *sizes, uint32_t n, bool pair,
                                  ovl_arena *arena)
{
    double *errors = OVL_NEW_ARRAY(arena, double, n);
    ovl_fit_point *rest = OVL_NEW_ARRAY(arena, ovl_fit_point, n);
    for (uint32_t out = 0; out < n && n > 2; out++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (i != out) {
                rest[kept++] = sizes[i];
            }
        }
        ovl_fit_model model = model_of(rest, kept, pair, arena);
        errors[out] = error_at(&model, &sizes[out]);
    }
    return summed(errors, sizes, n > 2 ? n : 0);
}

#define HALVES 10 /* sizes from which on every other one can be spared */

static ovl_fit_errors held_out(const ovl_fit *fit, bool pair)
{
    ovl_arena scratch = {0};
    ovl_fit_errors e = fit->halves ? held_halves(fit->sizes, fit->n_sizes, pair, &scratch)
                                   : held_singly(fit->sizes, fit->n_sizes, pair, &scratch);
    ovl_arena_free(&scratch);
    return e;
}

/* --- The whole --- */

#define CHANCE   0.001 /* that noise alone looks like a switch */
#define NOT_ZERO 1e-12 /* below are errors of arithmetic */

/* The F test of one line in place of two, for each two pieces beside each other; the noise is that
 * around all pieces. Two lines have two parameters more than one. */
static void mark_switches(const ovl_fit *fit, ovl_fit_model *pieces)
{
    const ovl_fit_point *at = fit->sizes;
    ovl_fit_line line;
    double cost[OVL_FIT_MOST_LINES], noise = 0;
    double free = (double)fit->n_sizes - 2.0 * pieces->n_lines;
    for (uint32_t i = 0; i < pieces->n_lines; at += pieces->lines[i++].n) {
        cost[i] = ovl_fit_quick_line(at, pieces->lines[i].n, &line);
        noise += cost[i];
    }
    at = fit->sizes;
    for (uint32_t i = 1; i < pieces->n_lines && free > 0; at += pieces->lines[i++ - 1].n) {
        uint32_t n = pieces->lines[i - 1].n + pieces->lines[i].n;
        double more = ovl_fit_quick_line(at, n, &line) - cost[i - 1] - cost[i];
        double limit = 2 * gsl_cdf_fdist_Qinv(CHANCE, 2, free) * noise / free;
        pieces->lines[i].switches = more > limit + NOT_ZERO;
    }
}

/* Where the protocol changes is told by lines, whichever kind was chosen. */
static ovl_fit_model best_pieces(const ovl_fit *fit, ovl_arena *arena)
{
    uint32_t best = 0;
    if (fit->chosen.kind == OVL_FIT_PIECES) {
        return fit->chosen;
    }
    for (uint32_t i = 1; i < fit->n_scores; i++) {
        const ovl_fit_score *s = &fit->scores[i];
        if (s->beats_pair && s->kind == OVL_FIT_PIECES && s->mean < fit->scores[best].mean) {
            best = i;
        }
    }
    return best && fit->chosen.kind != OVL_FIT_PAIR
               ? ovl_fit_pieces_model(best + 1, fit->sizes, fit->n_sizes, arena)
               : (ovl_fit_model){0};
}

ovl_fit ovl_fit_points(const ovl_fit_point *points, uint32_t n, ovl_arena *arena)
{
    ovl_fit fit = {.n_points = n};
    ovl_fit_point *sorted = OVL_NEW_ARRAY(arena, ovl_fit_point, n);
    fit.sizes = OVL_NEW_ARRAY(arena, ovl_fit_point, n);
    if (n == 0) {
        return fit;
    }
    memcpy(sorted, points, n * sizeof *sorted);
    fit.n_sizes = merge(sorted, n, fit.sizes);
    fit.identified = fit.n_sizes >= 2;
    if (!fit.identified) {
        return fit;
    }
    /* Few sizes with repeats: the spread of the repeats is all there is to tell intervals from. */
    fit.pair = fit.n_sizes >= 4 ? ovl_fit_robust_line(fit.sizes, fit.n_sizes)
                                : ovl_fit_robust_line(sorted, n);
    fit.chosen = ovl_fit_choose(fit.sizes, fit.n_sizes, arena, fit.scores, &fit.n_scores);
    if (fit.chosen.kind == OVL_FIT_PAIR) {
        fit.chosen.lines[0] = fit.pair;
        ovl_fit_line_knots(&fit.chosen);
    }
    fit.pieces = best_pieces(&fit, arena);
    mark_switches(&fit, &fit.pieces);
    fit.halves = fit.n_sizes >= HALVES;
    fit.held = held_out(&fit, false);
    fit.pair_held = held_out(&fit, true);
    return fit;
}
