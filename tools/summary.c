/* A base against each of its variants: one line a variant, then the best in full. */
#include "tools/equation.h"
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/wrap.h"

#include <string.h>

void ovl_summary_choose(ovl_summary *summary)
{
    summary->best = OVL_NONE;
    for (uint32_t i = 0; i < summary->n; i++) {
        const ovl_comparison *c = &summary->items[i];
        if (c->verdict == OVL_BETTER && c->b->n_hazards == 0 &&
            (summary->best == OVL_NONE || c->b->step < summary->items[summary->best].b->step)) {
            summary->best = i;
        }
    }
}

static ovl_time largest_step(const ovl_summary *s)
{
    ovl_time largest = s->base->step;
    for (uint32_t i = 0; i < s->n; i++) {
        largest = OVL_MAX(largest, s->items[i].b->step);
    }
    return largest;
}

static ovl_scale summary_scale(const ovl_summary *s, ovl_arena *arena)
{
    ovl_time largest = largest_step(s);
    ovl_scale scale = ovl_scale_for(largest);
    ovl_sum sum = ovl_step_sum(s->base, arena);
    ovl_sum_fit(&scale, largest, &sum);
    for (uint32_t i = 0; i < s->n; i++) {
        sum = ovl_step_sum(s->items[i].b, arena);
        ovl_sum_fit(&scale, largest, &sum);
    }
    return scale;
}

static const char *live_peak(const ovl_result *r, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    uint64_t peak = 0;
    bool any = false;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        any |= r->ranks[i].has_memory;
        peak = r->ranks[i].has_memory ? OVL_MAX(peak, r->ranks[i].live_peak) : peak;
    }
    return any ? ovl_arena_strdup(arena, ovl_print_bytes(buf, peak)) : NULL;
}

/* The model is a column only where it is not the same for all. */
static bool one_model(const ovl_summary *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (strcmp(s->items[i].b->interference, s->base->interference) != 0) {
            return false;
        }
    }
    return true;
}

static void row(ovl_grid *grid, const ovl_result *r, const ovl_comparison *c, bool model,
                const ovl_scale *scale, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const ovl_sum sum = ovl_step_sum(r, arena);
    const char *delta = "", *percent = "", *verdict = "";
    if (c) {
        ovl_time base = ovl_scale_round(scale, c->a->step);
        ovl_time moved = ovl_scale_round(scale, r->step) - base;
        delta = ovl_arena_printf(arena, "%s%s", moved > 0 ? "+" : "",
                                 ovl_scale_show(buf, scale, moved));
        percent = c->a->step ? ovl_arena_printf(arena, "%+.2f",
                                                100.0 * (double)c->delta / (double)c->a->step)
                             : "";
        verdict = ovl_verdict_name(c->verdict);
    }
    const char *cells[] = {
        r->variant,
        ovl_sum_text(arena, scale, &sum, OVL_SUM_PLAIN),
        delta,
        percent,
        ovl_arena_printf(arena, "%" PRIu32, r->startups),
        live_peak(r, arena),
        model ? r->interference : NULL,
        r->hazards_checked ? ovl_arena_printf(arena, "%" PRIu32, r->n_hazards) : NULL,
        verdict,
    };
    ovl_grid_row(grid, cells);
}

static void best_line(ovl_out *out, const ovl_summary *s, const ovl_scale *scale, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    if (s->best == OVL_NONE) {
        ovl_out_text(out, "\nBest: the base; no variant is better\n");
        return;
    }
    const ovl_result *b = s->items[s->best].b;
    const char *peak = live_peak(b, arena), *base_peak = live_peak(s->base, arena);
    const char *unit = ovl_scale_unit(scale);
    const char *text = ovl_arena_printf(arena, "%s, %s %s", b->variant,
                                        ovl_scale_short(buf, scale, b->step), unit);
    ovl_time gain = ovl_scale_round(scale, s->base->step) - ovl_scale_round(scale, b->step);
    text = ovl_arena_printf(
        arena, "%s: %s %s shorter than the base; startups %" PRIu32 " (base %" PRIu32 ")", text,
        ovl_scale_short(buf, scale, gain), unit, b->startups, s->base->startups);
    if (peak && base_peak) {
        text = ovl_arena_printf(arena, "%s; live memory peak %s (base %s)", text, peak, base_peak);
    }
    ovl_out_text(out, "\n");
    ovl_wrap(out, "Best: ", 6, text, OVL_TERMINAL);
}

void ovl_summary_text(ovl_out *out, const ovl_summary *s)
{
    ovl_arena arena = {0};
    ovl_scale scale = summary_scale(s, &arena);
    const char *step = ovl_arena_printf(&arena, "step (%s)", ovl_scale_unit(&scale));
    const char *change = ovl_arena_printf(&arena, "change (%s)", ovl_scale_unit(&scale));
    const ovl_column columns[] = {
        {"variant", true, true, 0},       {step, true, false, 0},
        {change, false, false, 0},        {"%", false, false, 3},
        {"startups", false, false, 2},    {"live peak", false, false, 1},
        {"interference", true, false, 4}, {"hazards", false, false, 0},
        {"verdict", true, false, 0},
    };
    if (s->base->scenario) {
        ovl_report_name(out, s->base->scenario);
    }
    bool model = !one_model(s);
    ovl_out_printf(out,
                   "step = when the last waiting work could start + exposed communication%s%s\n\n",
                   model ? "" : "; interference ", model ? "" : s->base->interference);
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    row(&grid, s->base, NULL, model, &scale, &arena);
    for (uint32_t i = 0; i < s->n; i++) {
        row(&grid, s->items[i].b, &s->items[i], model, &scale, &arena);
    }
    ovl_grid_end(&grid, out, 2);
    best_line(out, s, &scale, &arena);
    if (s->best != OVL_NONE) {
        ovl_out_text(out, "\n");
        ovl_compare_text(out, &s->items[s->best]);
    }
    ovl_arena_free(&arena);
}
