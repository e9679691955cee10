#include "tools/trials_parts.h"

#include "tools/report.h"
#include "tools/wrap.h"

#define MOST_ROWS 10

static const char *shown(ovl_arena *arena, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_printf(arena, "%s%s", t < 0 ? "-" : "",
                            ovl_scale_show(buf, scale, t < 0 ? -t : t));
}

static const char *in_units(ovl_arena *arena, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_printf(arena, "%s%s", t < 0 ? "-" : "", ovl_print_time(buf, t < 0 ? -t : t));
}

/* --- Statistics --- */

const ovl_column ovl_statistics_columns[] = {
    {"", true, true, 0},       {"p5", false, false, 0},  {"p50", false, false, 0},
    {"p75", false, false, 0},  {"p95", false, false, 0}, {"mean", false, false, 0},
    {"from", false, false, 0}, {"to", false, false, 0},  {"stated", false, false, 0}};

ovl_scale ovl_statistics_scale(const ovl_statistics *items, uint32_t n)
{
    ovl_time most = 0;
    for (uint32_t i = 0; i < n; i++) {
        most = OVL_MAX(most, OVL_MAX(items[i].max, -items[i].min));
    }
    ovl_scale scale = ovl_scale_for(most);
    for (uint32_t i = 0; i < n; i++) {
        const ovl_time times[] = {items[i].p5,   items[i].p50, items[i].p75, items[i].p95,
                                  items[i].mean, items[i].low, items[i].high};
        for (uint32_t k = 0; k < OVL_COUNT(times); k++) {
            ovl_scale_fit(&scale, most, times[k] < 0 ? -times[k] : times[k]);
        }
    }
    return scale;
}

void ovl_statistics_row(ovl_grid *grid, ovl_arena *arena, const ovl_scale *scale, const char *name,
                        const ovl_statistics *s, ovl_time stated)
{
    const char *cells[] = {name,
                           shown(arena, scale, s->p5),
                           shown(arena, scale, s->p50),
                           shown(arena, scale, s->p75),
                           shown(arena, scale, s->p95),
                           shown(arena, scale, s->mean),
                           shown(arena, scale, s->low),
                           shown(arena, scale, s->high),
                           stated == OVL_NEVER ? NULL : shown(arena, scale, stated)};
    ovl_grid_row(grid, cells);
}

static void write_statistics(ovl_out *out, const ovl_trials *t, ovl_arena *arena)
{
    ovl_statistics s[] = {ovl_statistics_of(t->step, t->n), ovl_statistics_of(t->uncovered, t->n)};
    ovl_scale scale = ovl_statistics_scale(s, 2);
    ovl_grid grid;
    ovl_out_title(out, "\nOver %s (%s)", ovl_counted(arena, t->n, "trial"), ovl_scale_unit(&scale));
    ovl_grid_begin(&grid, ovl_statistics_columns, OVL_STATISTICS_COLUMNS);
    ovl_statistics_row(&grid, arena, &scale, "step", &s[0], t->nominal);
    ovl_statistics_row(&grid, arena, &scale, "uncovered communication", &s[1],
                       t->nominal_uncovered);
    ovl_grid_end(&grid, out, 2);
    ovl_statistics_legend(out);
    ovl_out_printf(out, "  mean step - stated: %s\n", in_units(arena, s[0].mean - t->nominal));
}

void ovl_statistics_legend(ovl_out *out)
{
    ovl_out_text(out, "  from, to: 95 % interval of the mean; stated: the step at the durations "
                      "the scenario gives\n");
}

/* --- Ranks --- */

static void write_own(ovl_out *out, const ovl_trials *t, ovl_arena *arena)
{
    ovl_time mean = ovl_statistics_of(t->own_mean, t->n).mean;
    ovl_time most = ovl_statistics_of(t->own_most, t->n).mean;
    ovl_time step = ovl_statistics_of(t->step, t->n).mean;
    const ovl_time times[] = {mean, most - mean, step - most, step};
    ovl_time parts[] = {mean, most - mean, step - most};
    ovl_scale scale = ovl_scale_of(times, OVL_COUNT(times));
    ovl_time total = ovl_scale_terms(&scale, step, parts, 3);
    ovl_out_title(out, "\nWaiting for late ranks (%s, means)", ovl_scale_unit(&scale));
    ovl_out_printf(out,
                   "    %9s  a rank's step without its waits for late ranks, mean over ranks\n"
                   "  + %9s  more on the slowest rank: expected maximum over ranks\n"
                   "  + %9s  more because different ranks are late at different collectives\n"
                   "  = %9s  step\n",
                   shown(arena, &scale, parts[0]), shown(arena, &scale, parts[1]),
                   shown(arena, &scale, parts[2]), shown(arena, &scale, total));
}

const char *ovl_share_text(ovl_arena *arena, uint64_t part, uint64_t of)
{
    return of ? ovl_arena_printf(arena, "%.1f %%", 100.0 * (double)part / (double)of) : NULL;
}

static void write_ranks(ovl_out *out, const ovl_trials *t, ovl_arena *arena)
{
    static const ovl_column columns[] = {{"rank", false, false, 0},
                                         {"times last", false, false, 0},
                                         {"of collectives", false, false, 0},
                                         {"mean wait for it", false, false, 0}};
    if (t->n_ranks == 0) {
        ovl_out_text(out, "\nNo rank was late for a collective in any trial.\n");
        return;
    }
    ovl_out_title(out,
                  "\nLate ranks: who arrives last where somebody waits, of several the lowest");
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(t->n_ranks, MOST_ROWS); i++) {
        const ovl_late *late = &t->ranks[i];
        const char *cells[] = {ovl_arena_printf(arena, "%" PRIu32, late->rank),
                               ovl_arena_printf(arena, "%" PRIu64, late->times),
                               ovl_share_text(arena, late->times, late->of),
                               in_units(arena, late->wait)};
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
    if (t->n_ranks > MOST_ROWS) {
        ovl_out_printf(out, "  %d of %" PRIu32 " ranks; all of them: --json\n", MOST_ROWS,
                       t->n_ranks);
    }
}

/* --- Collectives --- */

/* One rank most of the time: it is slower. Any rank: chance. */
static const char *reading(const ovl_late *late)
{
    bool most = 2 * late->times >= late->all, beyond = late->times * late->members > 2 * late->all;
    if (late->all < 10) {
        return "too few to tell";
    }
    return most && (beyond || late->ranks == 1) ? "imbalance: this rank" : "jitter: any rank";
}

static void write_names(ovl_out *out, const ovl_trials *t, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"collective", true, true, 0},   {"waited for", false, false, 0},
        {"mean wait", false, false, 0},  {"late ranks", false, false, 0},
        {"most often", false, false, 0}, {"share", false, false, 0},
        {"reads as", true, false, 0}};
    if (t->n_names == 0) {
        return;
    }
    ovl_out_title(out, "\nCollectives that waited for a late rank");
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(t->n_names, MOST_ROWS); i++) {
        const ovl_late *late = &t->names[i];
        const char *cells[] = {
            late->name,
            ovl_arena_printf(arena, "%" PRIu64 " of %" PRIu64, late->all, late->of),
            in_units(arena, late->wait),
            ovl_arena_printf(arena, "%" PRIu32 " of %" PRIu32, late->ranks, t->world),
            ovl_arena_printf(arena, "rank %" PRIu32, late->rank),
            ovl_share_text(arena, late->times, late->all),
            reading(late)};
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
    if (t->n_names > MOST_ROWS) {
        ovl_out_printf(out, "  %d of %" PRIu32 ", those with the longest waits; all: --json\n",
                       MOST_ROWS, t->n_names);
    }
}

void ovl_trials_text(ovl_out *out, const ovl_trials *t)
{
    ovl_arena arena = {0};
    ovl_report_name(out, t->scenario);
    ovl_out_printf(out, "variant %s, interference %s, %s, %s, seed %" PRIu64 "\n", t->variant,
                   t->interference, ovl_counted(&arena, t->world, "rank"),
                   ovl_counted(&arena, t->n, "trial"), t->seed);
    write_statistics(out, t, &arena);
    write_own(out, t, &arena);
    write_ranks(out, t, &arena);
    write_names(out, t, &arena);
    ovl_arena_free(&arena);
}

/* --- Two runs --- */

/* Common random numbers, or not. */
static void how_drawn(ovl_out *out, const ovl_paired *pair, ovl_arena *arena)
{
    const ovl_trials *a = pair->a, *b = pair->b;
    if (pair->apart) {
        ovl_out_printf(out,
                       "a: %s, seed %" PRIu64 "; b: %s, seed %" PRIu64
                       "; drawn apart: two samples, not paired\n",
                       ovl_counted(arena, a->n, "trial"), a->seed,
                       ovl_counted(arena, b->n, "trial"), b->seed);
    } else {
        ovl_out_printf(out, "%s, seed %" PRIu64 "; trial by trial both draw the same\n",
                       ovl_counted(arena, a->n, "trial"), a->seed);
    }
}

static void how_often(ovl_out *out, const ovl_paired *pair, ovl_arena *arena)
{
    if (pair->apart) {
        ovl_out_printf(out, "\nOf all pairs of a trial of each b is shorter in %.3g %%\n",
                       100 * pair->share);
        return;
    }
    ovl_out_title(out, "\nIn how many trials b is");
    ovl_out_printf(
        out, "  shorter  %" PRIu32 " (%s)\n  equal    %" PRIu32 "\n  longer   %" PRIu32 "\n",
        pair->better, ovl_share_text(arena, pair->better, pair->a->n), pair->equal, pair->worse);
}

void ovl_paired_text(ovl_out *out, const ovl_paired *pair)
{
    ovl_arena arena = {0};
    const ovl_trials *a = pair->a, *b = pair->b;
    ovl_statistics s[] = {ovl_statistics_of(a->step, a->n), ovl_statistics_of(b->step, b->n)};
    ovl_scale scale = ovl_statistics_scale(s, 2);
    ovl_grid grid;
    ovl_report_name(out, a->scenario);
    how_drawn(out, pair, &arena);
    ovl_out_title(out, "\nStep (%s)", ovl_scale_unit(&scale));
    ovl_grid_begin(&grid, ovl_statistics_columns, OVL_STATISTICS_COLUMNS);
    ovl_statistics_row(&grid, &arena, &scale, ovl_arena_printf(&arena, "a: %s", a->variant), &s[0],
                       a->nominal);
    ovl_statistics_row(&grid, &arena, &scale, ovl_arena_printf(&arena, "b: %s", b->variant), &s[1],
                       b->nominal);
    ovl_statistics gap = {.p5 = s[1].p5 - s[0].p5,
                          .p50 = s[1].p50 - s[0].p50,
                          .p75 = s[1].p75 - s[0].p75,
                          .p95 = s[1].p95 - s[0].p95,
                          .mean = pair->change.mean,
                          .low = pair->change.low,
                          .high = pair->change.high};
    ovl_statistics_row(&grid, &arena, &scale, "b - a", &gap, b->nominal - a->nominal);
    if (!pair->apart) {
        ovl_statistics_row(&grid, &arena, &scale, "b - a, trial by trial", &pair->change,
                           OVL_NEVER);
    }
    ovl_grid_end(&grid, out, 2);
    ovl_statistics_legend(out);
    how_often(out, pair, &arena);
    ovl_out_text(out, "\n");
    ovl_wrap(out, "Verdict: ", 9, pair->sentence, OVL_TERMINAL);
    ovl_wrap(out, "Without variation: ", 9, pair->nominal, OVL_TERMINAL);
    ovl_arena_free(&arena);
}
