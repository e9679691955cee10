/* A calibration as text. */
#include "sim/units.h"
#include "tools/calibrate.h"
#include "tools/grid.h"
#include "tools/wrap.h"

#include <string.h>

#define MOST_ROWS 40

static const char *bytes_text(ovl_arena *arena, uint64_t bytes)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_bytes(buf, bytes));
}

static const char *time_text(ovl_arena *arena, double ns)
{
    char buf[OVL_UNITS_TEXT];
    ovl_time t = ovl_cal_ps(ns);
    /* Four significant digits: more would say more than was measured. */
    ovl_time step = 1;
    while (t / step >= 10000) {
        step *= 10;
    }
    return ovl_arena_strdup(arena, ovl_print_time(buf, (t + step / 2) / step * step));
}

/* beta = 1 / slope in bytes/ns, which is GB/s. */
static const char *rate_text(ovl_arena *arena, double slope)
{
    char buf[OVL_UNITS_TEXT];
    return slope > 0 ? ovl_arena_strdup(arena, ovl_print_rate(buf, 1e9 / slope)) : "unlimited";
}

static const char *alpha_text(ovl_arena *arena, const ovl_fit_value *v)
{
    const char *value = time_text(arena, v->value);
    if (!ovl_fit_has_interval(*v)) {
        return value;
    }
    return ovl_arena_printf(arena, "%s (%s to %s)", value, time_text(arena, OVL_MAX(v->low, 0)),
                            time_text(arena, v->high));
}

static const char *beta_text(ovl_arena *arena, const ovl_fit_value *v)
{
    const char *value = rate_text(arena, v->value);
    if (!ovl_fit_has_interval(*v)) {
        return value;
    }
    return ovl_arena_printf(arena, "%s (%s to %s)", value, rate_text(arena, v->high),
                            rate_text(arena, v->low));
}

static const char *percent(ovl_arena *arena, double value)
{
    return ovl_arena_printf(arena, "%.1f %%", 100 * value);
}

static void heading(ovl_out *out, const ovl_calibration *cal, const ovl_cal_series *s,
                    ovl_arena *arena)
{
    const ovl_fit *f = &s->fit;
    const char *via = ovl_calibrate_via(cal, s);
    const char *ranks =
        s->most_ranks && s->least_ranks == s->most_ranks && s->times < OVL_CAL_MINIMUM
            ? ovl_arena_printf(arena, ", %" PRId64 " ranks", s->most_ranks)
            : "";
    ovl_out_title(out, "%s in %s%s%s%s", s->op, s->group ? s->group : "any group",
                  via ? " via " : "", via ? via : "", ranks);
    const char *text = "";
    for (uint32_t i = 0; i < s->files.len; i++) {
        text = ovl_arena_printf(arena, "%s%s%s", text, i ? ", " : "",
                                cal->files.data[s->files.data[i]].path);
    }
    ovl_wrap(out, "  from ", 7, text, OVL_TERMINAL);
    if (f->n_sizes == 0) {
        return;
    }
    const char *range = bytes_text(arena, f->sizes[0].bytes);
    if (f->n_sizes > 1) {
        range = ovl_arena_printf(arena, "%s to %s", range,
                                 bytes_text(arena, f->sizes[f->n_sizes - 1].bytes));
    }
    const char *calls =
        s->calls == f->n_points
            ? ""
            : ovl_arena_printf(arena, " out of %s", ovl_counted(arena, s->calls, "duration"));
    ovl_wrap(out, "  ", 2,
             ovl_arena_printf(
                 arena, "%s%s of %s, %s: %s", ovl_counted(arena, f->n_points, "measurement"), calls,
                 ovl_counted(arena, f->n_sizes, "size"), range, ovl_cal_times_text(s, arena)),
             OVL_TERMINAL);
}

static const char *errors_text(const ovl_fit_errors *e, ovl_arena *arena)
{
    return ovl_arena_printf(arena,
                            "held out: median %.1f %%, 90 %% within %.1f %%, worst %.1f %% "
                            "at %s",
                            100 * e->median, 100 * e->p90, 100 * e->worst,
                            bytes_text(arena, e->worst_bytes));
}

static void pair(ovl_out *out, const ovl_fit *f, ovl_arena *arena)
{
    const char *residual =
        f->n_points > 2 ? ovl_arena_printf(arena, ", residual %.1f %%", 100 * f->pair.residual)
                        : "";
    ovl_wrap(out, "  one pair  ", 12,
             ovl_arena_printf(arena, "alpha %s, beta %s%s", alpha_text(arena, &f->pair.alpha),
                              beta_text(arena, &f->pair.slope), residual),
             OVL_TERMINAL);
    if (f->pair_held.n) {
        ovl_wrap(out, "            ", 12, errors_text(&f->pair_held, arena), OVL_TERMINAL);
    }
}

static void chosen(ovl_out *out, const ovl_fit *f, ovl_arena *arena)
{
    const ovl_fit_model *m = &f->chosen;
    ovl_out_printf(out, "  chosen    %s\n", ovl_fit_model_name(m->kind, m->n_lines, arena));
    if (!f->held.n) {
        return;
    }
    ovl_wrap(out, "            ", 12, errors_text(&f->held, arena), OVL_TERMINAL);
    ovl_wrap(out, "            ", 12,
             f->halves ? ovl_arena_printf(arena,
                                          "(%" PRIu32 " sizes, every other one, predicted by a "
                                          "choice and fit that saw the rest alone)",
                                          f->held.n)
                       : ovl_arena_printf(arena,
                                          "(each of %" PRIu32 " sizes predicted by a choice and "
                                          "fit that saw the others alone)",
                                          f->held.n),
             OVL_TERMINAL);
}

/* "pair 8.1 %, 2 pieces 3.4 %, ..." */
static void scores(ovl_out *out, const ovl_fit *f, ovl_arena *arena)
{
    const char *text = "";
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_scores; i++) {
        const ovl_fit_score *s = &f->scores[i];
        if (s->tried) {
            const char *name = s->kind == OVL_FIT_TABLE_BYTES ? "table in bytes"
                               : s->kind == OVL_FIT_TABLE_LOGS
                                   ? "table in logarithms"
                                   : ovl_fit_model_name(s->kind, s->n_lines, arena);
            text = ovl_arena_printf(arena, "%s%s%s %.1f %%", text, n++ ? ", " : "", name,
                                    100 * s->mean);
        }
    }
    if (n > 1) {
        ovl_wrap(out, "  ", 4, ovl_arena_printf(arena, "mean error in cross-validation: %s", text),
                 OVL_TERMINAL);
    }
}

static void pieces(ovl_out *out, const ovl_fit *f, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"from", false, false, 0}, {"to", false, false, 0},  {"sizes", false, false, 1},
        {"alpha", true, false, 0}, {"beta", true, false, 0}, {"residual", false, false, 2},
    };
    const ovl_fit_model *m = &f->pieces;
    ovl_grid grid;
    if (m->n_lines == 0) {
        return;
    }
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    const char *switches = "";
    for (uint32_t i = 0; i < m->n_lines; i++) {
        const ovl_fit_line *l = &m->lines[i];
        const char *cells[] = {
            bytes_text(arena, l->from),
            bytes_text(arena, l->to),
            ovl_arena_printf(arena, "%" PRIu32, l->n),
            alpha_text(arena, &l->alpha),
            beta_text(arena, &l->slope),
            percent(arena, l->residual),
        };
        ovl_grid_row(&grid, cells);
        if (l->switches) {
            switches =
                ovl_arena_printf(arena, "%s%s%s and %s", switches, *switches ? ", " : "",
                                 bytes_text(arena, m->lines[i - 1].to), bytes_text(arena, l->from));
        }
    }
    ovl_wrap(out, "  ", 4,
             ovl_arena_printf(arena, "%s%s%s",
                              *switches ? "protocol or algorithm seems to change between "
                                        : "no change of protocol or algorithm is seen: noise "
                                          "explains how the pieces differ",
                              switches,
                              f->chosen.kind == OVL_FIT_PIECES ? "" : " (best of the pieces)"),
             OVL_TERMINAL);
    ovl_grid_end(&grid, out, 4);
}

static void series(ovl_out *out, const ovl_calibration *cal, const ovl_cal_series *s)
{
    ovl_arena arena = {0};
    heading(out, cal, s, &arena);
    if (s->fit.identified) {
        pair(out, &s->fit, &arena);
        chosen(out, &s->fit, &arena);
        scores(out, &s->fit, &arena);
        pieces(out, &s->fit, &arena);
    } else if (s->fit.n_sizes == 1) {
        ovl_out_printf(out, "  median    %s\n", time_text(&arena, s->fit.sizes[0].time));
    }
    for (uint32_t i = 0; i < s->notes.len; i++) {
        ovl_wrap(out, "  - ", 4, s->notes.data[i], OVL_TERMINAL);
    }
    ovl_arena_free(&arena);
}

void ovl_calibrate_text(ovl_out *out, const ovl_calibration *cal)
{
    for (uint32_t i = 0; i < cal->series.len; i++) {
        ovl_out_text(out, i ? "\n" : "");
        if (i == MOST_ROWS) {
            ovl_out_printf(out, "and %" PRIu32 " more series; --json has all\n",
                           cal->series.len - i);
            break;
        }
        series(out, cal, &cal->series.data[i]);
    }
    if (cal->runs) {
        ovl_out_text(out, cal->series.len ? "\n" : "");
        ovl_interfere_text(out, cal->runs);
    }
}
