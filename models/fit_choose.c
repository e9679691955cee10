/*
 * Which model: pieces by dynamic programming over where they end, the kind by leaving out each size
 * in turn (Stone 1974): the least mean relative error, and of those within a hundredth of it the
 * simplest. The pair stays unless it is beaten for sure: its mean error is LARGER times as large,
 * which is more than noise gives, or the errors at the same sizes differ in the mean by more than
 * EVIDENCE standard errors of that mean (the rule of Breiman et al. 1984, with paired errors): 4.0
 * % against 2.8 %, with differences that scatter by 1.4 % over 23 sizes, is 1.2 > 2 * 0.29.
 */
#include "models/fit_parts.h"

#include <math.h>

#define LEAST 3 /* sizes of a piece: two would fit any two points */

void ovl_fit_line_knots(ovl_fit_model *model)
{
    model->n_knots = 0;
    for (uint32_t i = 0; i < model->n_lines; i++) {
        const ovl_fit_line *l = &model->lines[i];
        const uint64_t ends[] = {l->from, l->to};
        for (int k = 0; k < 2; k++) {
            double time = l->alpha.value + l->slope.value * (double)ends[k];
            model->knots[model->n_knots++] = (ovl_fit_point){ends[k], time};
        }
    }
}

static ovl_fit_model lines_model(uint32_t n_lines, ovl_arena *arena)
{
    return (ovl_fit_model){.kind = n_lines == 1 ? OVL_FIT_PAIR : OVL_FIT_PIECES,
                           .lines = OVL_NEW_ARRAY(arena, ovl_fit_line, n_lines),
                           .n_lines = n_lines,
                           .knots = OVL_NEW_ARRAY(arena, ovl_fit_point, 2 * n_lines)};
}

ovl_fit_model ovl_fit_pair_model(const ovl_fit_point *sizes, uint32_t n, ovl_arena *arena)
{
    ovl_fit_model model = lines_model(1, arena);
    model.lines[0] = ovl_fit_robust_line(sizes, n);
    ovl_fit_line_knots(&model);
    return model;
}

static ovl_fit_model table_model(ovl_fit_kind kind, const ovl_fit_point *sizes, uint32_t n,
                                 ovl_arena *arena)
{
    ovl_fit_model model = {
        .kind = kind, .knots = OVL_NEW_ARRAY(arena, ovl_fit_point, n), .n_knots = n};
    memcpy(model.knots, sizes, n * sizeof *sizes);
    return model;
}

/* best[k][j]: the least cost of the first j sizes in k + 1 pieces; from[k][j]: where the last of
 * them begins. */
ovl_fit_model ovl_fit_pieces_model(uint32_t k, const ovl_fit_point *sizes, uint32_t n,
                                   ovl_arena *arena)
{
    ovl_arena scratch = {0};
    double *best = OVL_NEW_ARRAY(&scratch, double, (size_t)k *(n + 1));
    uint32_t *from = OVL_NEW_ARRAY(&scratch, uint32_t, (size_t)k * (n + 1));
    ovl_fit_line line;
    for (uint32_t j = 0; j <= n; j++) {
        best[j] = j >= LEAST ? ovl_fit_quick_line(sizes, j, &line) : (double)INFINITY;
    }
    for (uint32_t p = 1; p < k; p++) {
        double *row = best + (size_t)p * (n + 1), *above = row - (n + 1);
        for (uint32_t j = 0; j <= n; j++) {
            row[j] = (double)INFINITY;
            for (uint32_t i = p * LEAST; i + LEAST <= j; i++) {
                double cost = above[i] + ovl_fit_quick_line(&sizes[i], j - i, &line);
                if (cost < row[j]) {
                    row[j] = cost;
                    from[(size_t)p * (n + 1) + j] = i;
                }
            }
        }
    }
    ovl_fit_model model = lines_model(k, arena);
    for (uint32_t p = k, end = n; p-- > 0;) {
        uint32_t begin = p ? from[(size_t)p * (n + 1) + end] : 0;
        model.lines[p] = ovl_fit_robust_line(&sizes[begin], end - begin);
        end = begin;
    }
    ovl_arena_free(&scratch);
    ovl_fit_line_knots(&model);
    return model;
}

/* --- Prediction --- */

static double along(const ovl_fit_point *a, const ovl_fit_point *b, double bytes, bool logs)
{
    double from = (double)a->bytes, to = (double)b->bytes, t = a->time, u = b->time;
    if (!logs) {
        return t + (u - t) * (bytes - from) / (to - from);
    }
    from = log(OVL_MAX(from, 1));
    double share = (log(OVL_MAX(bytes, 1)) - from) / (log(to) - from);
    return t <= 0 || u <= 0 ? 0 : exp(log(t) + (log(u) - log(t)) * share);
}

double ovl_fit_predict(const ovl_fit_model *model, uint64_t bytes)
{
    const ovl_fit_point *knots = model->knots;
    uint32_t n = model->n_knots, upper = 1;
    if (n < 2) {
        return n ? knots[0].time : 0;
    }
    while (upper < n - 1 && knots[upper].bytes < bytes) {
        upper++;
    }
    double t =
        along(&knots[upper - 1], &knots[upper], (double)bytes, model->kind == OVL_FIT_TABLE_LOGS);
    return OVL_MAX(t, 0);
}

/* --- The choice --- */

static ovl_fit_model candidate(uint32_t index, const ovl_fit_point *sizes, uint32_t n,
                               ovl_arena *arena)
{
    if (index == 0) {
        return ovl_fit_pair_model(sizes, n, arena);
    }
    if (index < OVL_FIT_MOST_LINES) {
        return ovl_fit_pieces_model(index + 1, sizes, n, arena);
    }
    return table_model(index == OVL_FIT_MOST_LINES ? OVL_FIT_TABLE_BYTES : OVL_FIT_TABLE_LOGS,
                       sizes, n, arena);
}

/* Whether there are sizes for it even with one left out. */
static bool possible(uint32_t index, uint32_t n)
{
    if (index == 0) {
        return true;
    }
    bool pieces = index < OVL_FIT_MOST_LINES;
    return n >= OVL_FIT_FEW_SIZES && (!pieces || n > LEAST * (index + 1));
}

#define MOST_FOLDS 40 /* with more sizes, several are left out at a time */

/* Relative errors of a candidate on the sizes between the first and the last: beyond them it would
 * be asked to extrapolate. */
static void cross_validate(uint32_t index, const ovl_fit_point *sizes, uint32_t n, double *errors)
{
    uint32_t folds = OVL_MIN(n - 2, MOST_FOLDS);
    ovl_arena scratch = {0};
    for (uint32_t fold = 0; fold < folds; fold++) {
        ovl_fit_point *rest = OVL_NEW_ARRAY(&scratch, ovl_fit_point, n);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (i == 0 || i == n - 1 || (i - 1) % folds != fold) {
                rest[kept++] = sizes[i];
            }
        }
        ovl_fit_model model = candidate(index, rest, kept, &scratch);
        for (uint32_t i = 1 + fold; i < n - 1; i += folds) {
            errors[i - 1] = fabs(ovl_fit_predict(&model, sizes[i].bytes) / sizes[i].time - 1);
        }
        ovl_arena_free(&scratch);
    }
}

static double mean(const double *values, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += values[i];
    }
    return sum / n;
}

/* Means closer than this are no reason to prefer what has more parts. */
#define TIE      1.01
#define NOT_ZERO 1e-6 /* below are errors of arithmetic */
#define EVIDENCE 2.0  /* standard errors */
#define LARGER   1.6  /* times */

/* Whether a model predicts better than the pair, size by size, than noise explains. */
static bool beats_pair(const double *errors, const double *pair, uint32_t n)
{
    double better = mean(pair, n) - mean(errors, n), squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        double d = pair[i] - errors[i] - better;
        squares += d * d;
    }
    double error = n > 1 ? sqrt(squares / (n - 1) / n) : 0;
    return better > NOT_ZERO &&
           (better > EVIDENCE * error || better > (LARGER - 1) * mean(errors, n));
}

static ovl_fit_score score_of(uint32_t index, double *errors, uint32_t n, ovl_arena *scratch)
{
    double *sorted = OVL_NEW_ARRAY(scratch, double, n);
    memcpy(sorted, errors, n * sizeof *errors);
    return (ovl_fit_score){
        .kind = index == 0                    ? OVL_FIT_PAIR
                : index < OVL_FIT_MOST_LINES  ? OVL_FIT_PIECES
                : index == OVL_FIT_MOST_LINES ? OVL_FIT_TABLE_BYTES
                                              : OVL_FIT_TABLE_LOGS,
        .n_lines = index < OVL_FIT_MOST_LINES ? index + 1 : 0,
        .mean = mean(errors, n),
        .median = ovl_fit_quantile(sorted, n, 0.5),
        .tried = true,
    };
}

ovl_fit_model ovl_fit_choose(const ovl_fit_point *sizes, uint32_t n, ovl_arena *arena,
                             ovl_fit_score *scores, uint32_t *n_scores)
{
    ovl_arena scratch = {0};
    double *errors[OVL_FIT_CANDIDATES] = {NULL};
    ovl_fit_score all[OVL_FIT_CANDIDATES] = {{0}};
    uint32_t best = 0, chosen = 0;
    for (uint32_t c = 0; c < OVL_FIT_CANDIDATES && n > 2; c++) {
        if (!possible(c, n)) {
            continue;
        }
        errors[c] = OVL_NEW_ARRAY(&scratch, double, n);
        cross_validate(c, sizes, n, errors[c]);
        all[c] = score_of(c, errors[c], n - 2, &scratch);
        best = all[c].mean < all[best].mean ? c : best;
    }
    for (uint32_t c = 1; c < OVL_FIT_CANDIDATES && n > 2; c++) {
        all[c].beats_pair = errors[c] && beats_pair(errors[c], errors[0], n - 2);
    }
    chosen = all[best].beats_pair;
    while (chosen > 0 && chosen < best &&
           (!errors[chosen] || all[chosen].mean > TIE * all[best].mean + NOT_ZERO)) {
        chosen++;
    }
    if (scores) {
        memcpy(scores, all, sizeof all);
        *n_scores = n > 2 ? OVL_FIT_CANDIDATES : 0;
    }
    ovl_arena_free(&scratch);
    return candidate(chosen, sizes, n, arena);
}
