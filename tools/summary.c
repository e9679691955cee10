/* A base against each of its variants: one line a variant, then the best in full. */
#include "tools/equation.h"
#include "tools/grid.h"
#include "tools/metrics.h"
#include "tools/report.h"
#include "tools/wrap.h"

#include <math.h>
#include <string.h>

#define MOST_REASONS 10 /* of variants that gain nothing */

static bool has_model_of_base(const ovl_summary *s, uint32_t i)
{
    return strcmp(s->items[i].b->interference, s->base->interference) == 0;
}

/* Of equals the one with fewer retries of the allocator, whose time is not modelled. */
static bool is_shorter(const ovl_result *x, const ovl_result *y)
{
    return x->step != y->step ? x->step < y->step : x->allocation_retries < y->allocation_retries;
}

static bool may_be_chosen(const ovl_summary *s, uint32_t i)
{
    return has_model_of_base(s, i) && s->items[i].b->n_hazards == 0 &&
           ovl_result_over_memory(s->items[i].b) == 0 && !ovl_other_work(s->base, s->items[i].b);
}

void ovl_summary_choose(ovl_summary *summary)
{
    uint32_t shortest = OVL_NONE;
    for (uint32_t i = 0; i < summary->n; i++) {
        if (may_be_chosen(summary, i) &&
            (shortest == OVL_NONE || is_shorter(summary->items[i].b, summary->items[shortest].b))) {
            shortest = i;
        }
    }
    bool base_fits = ovl_result_over_memory(summary->base) == 0;
    bool better =
        shortest != OVL_NONE && (!base_fits || summary->items[shortest].verdict == OVL_BETTER);
    summary->best = better ? shortest : OVL_NONE;
    summary->closest = better ? OVL_NONE : shortest;
}

/* --- What all rows share --- */

/* Peaks of memory, each the largest of any rank. */
static const struct {
    uint32_t metric;
    const char *name;
} memory[] = {{OVL_M_LIVE, "live"}, {OVL_M_ALLOCATED, "allocated"}, {OVL_M_PEAK, "reserved"}};

#define MEMORIES 3

typedef struct shown {
    const ovl_summary *s;
    ovl_form form;
    ovl_scale scale;        /* in the unit of the base, whatever the longest row is */
    bool models;            /* the interference models are not the same for all */
    bool has_memory;        /* all have buffers */
    bool retries;           /* the allocator of one has to retry */
    bool differs[MEMORIES]; /* this peak is not the same for all; if none is, live counts as so */
    ovl_bytes_scale bytes;  /* of the largest */
} shown;

static uint64_t peak_of(const ovl_result *r, uint32_t kind, bool *has)
{
    ovl_figures figures;
    ovl_figures_of(r, &figures);
    *has &= ovl_has_figure(&figures, memory[kind].metric);
    return (uint64_t)figures.value[memory[kind].metric];
}

static void find_memory(shown *v)
{
    uint64_t most = 0;
    bool any = false;
    v->has_memory = true;
    for (uint32_t k = 0; k < MEMORIES; k++) {
        uint64_t base = peak_of(v->s->base, k, &v->has_memory);
        most = OVL_MAX(most, base);
        for (uint32_t i = 0; i < v->s->n; i++) {
            uint64_t peak = peak_of(v->s->items[i].b, k, &v->has_memory);
            most = OVL_MAX(most, peak);
            v->differs[k] |= peak != base;
        }
        any |= v->differs[k];
    }
    v->differs[0] |= !any;
    v->bytes = ovl_bytes_scale_for(most);
}

static ovl_scale scale_of_base(const ovl_summary *s)
{
    ovl_time largest = s->base->step;
    for (uint32_t i = 0; i < s->n && s->base->step == 0; i++) {
        largest = OVL_MAX(largest, s->items[i].b->step);
    }
    return ovl_scale_for(largest);
}

static shown shown_of(const ovl_summary *s, ovl_arena *arena)
{
    shown v = {.s = s, .scale = scale_of_base(s)};
    const ovl_result **all = OVL_NEW_ARRAY(arena, const ovl_result *, (size_t)s->n + 1);
    all[0] = s->base;
    for (uint32_t i = 0; i < s->n; i++) {
        all[i + 1] = s->items[i].b;
        v.models |= !has_model_of_base(s, i);
    }
    v.form = ovl_form_of(all, s->n + 1);
    for (uint32_t i = 0; i <= s->n; i++) {
        v.retries |= all[i]->allocation_retries > 0;
        const ovl_sum sum = ovl_step_sum(all[i], &v.form, arena);
        ovl_sum_fit(&v.scale, s->base->step ? s->base->step : all[i]->step, &sum);
    }
    find_memory(&v);
    return v;
}

/* NULL if it has no column. */
static const char *peak_text(const shown *v, const ovl_result *r, uint32_t kind, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    bool has = v->has_memory && v->differs[kind];
    uint64_t peak = peak_of(r, kind, &has);
    return has ? ovl_arena_strdup(arena, ovl_print_bytes_in(buf, peak, v->bytes)) : NULL;
}

/* --- Rows --- */

/* A change that is there is never shown as "+0.00". */
static const char *percent_text(const ovl_comparison *c, ovl_arena *arena)
{
    if (c->delta == 0 || c->a->step == 0) {
        return c->delta ? "" : "0";
    }
    double percent = 100.0 * (double)c->delta / (double)c->a->step;
    return fabs(percent) < 0.01 ? ovl_arena_printf(arena, "%+.1g", percent)
                                : ovl_arena_printf(arena, "%+.2f", percent);
}

static const char *change_text(const shown *v, const ovl_comparison *c, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    ovl_time moved =
        ovl_scale_round(&v->scale, c->b->step) - ovl_scale_round(&v->scale, c->a->step);
    return ovl_arena_printf(arena, "%s%s", moved > 0 ? "+" : "",
                            ovl_scale_show(buf, &v->scale, moved));
}

static const char *verdict_text(const ovl_result *r, const ovl_comparison *c, bool ranked,
                                ovl_arena *arena)
{
    if (ovl_result_over_memory(r)) {
        return "does not fit";
    }
    if (!c) {
        return "";
    }
    if (ranked && ovl_other_work(c->a, c->b) && c->verdict != OVL_NO_GAIN) {
        static const char *const units[] = {"", "microbatch", "token", "FLOP"};
        return ovl_arena_printf(arena, "%s per %s", ovl_verdict_name(c->verdict),
                                units[ovl_unit_of(c->a, c->b)]);
    }
    return ranked ? ovl_verdict_name(c->verdict) : "other model";
}

/* Row `i`, or the base if it is OVL_NONE. */
static void row(ovl_grid *grid, const shown *v, uint32_t i, ovl_arena *arena)
{
    const ovl_comparison *c = i == OVL_NONE ? NULL : &v->s->items[i];
    const ovl_result *r = c ? c->b : v->s->base;
    const ovl_sum sum = ovl_step_sum(r, &v->form, arena);
    bool ranked = c && has_model_of_base(v->s, i);
    const char *cells[] = {
        r->variant,
        ovl_sum_text(arena, &v->scale, &sum, OVL_SUM_PLAIN),
        c ? change_text(v, c, arena) : "",
        c ? percent_text(c, arena) : "",
        ovl_arena_printf(arena, "%" PRIu32, r->startups),
        peak_text(v, r, 0, arena),
        peak_text(v, r, 1, arena),
        peak_text(v, r, 2, arena),
        v->retries ? ovl_arena_printf(arena, "%" PRIu32, r->allocation_retries) : NULL,
        v->models ? r->interference : NULL,
        r->hazards_checked ? ovl_arena_printf(arena, "%" PRIu32, r->n_hazards) : NULL,
        verdict_text(r, c, ranked, arena),
    };
    ovl_grid_row(grid, cells);
}

static void head(ovl_out *out, const shown *v, ovl_arena *arena)
{
    const ovl_result *base = v->s->base;
    if (base->scenario) {
        ovl_report_name(out, base->scenario);
    }
    ovl_report_description(out, base->description);
    const char *text = ovl_form_text(&v->form, arena);
    if (!v->models) {
        text = ovl_arena_printf(arena, "%s; interference %s", text, base->interference);
    }
    if (v->has_memory) {
        text =
            ovl_arena_printf(arena, "%s; peak memory in %s", text, ovl_bytes_scale_unit(v->bytes));
    }
    ovl_wrap(out, "", 0, text, OVL_TERMINAL);
    ovl_out_text(out, "\n");
}

static void table(ovl_out *out, const shown *v, ovl_arena *arena)
{
    const char *unit = ovl_scale_unit(&v->scale);
    const ovl_column columns[] = {
        {"variant", true, true, 0},
        {ovl_arena_printf(arena, "step (%s)", unit), true, false, 0},
        {ovl_arena_printf(arena, "change (%s)", unit), false, false, 0},
        {"%", false, false, OVL_GRID_DROP_FIRST}, /* rather than parts of names */
        {"startups", false, false, 2},
        {memory[0].name, false, false, 2},
        {memory[1].name, false, false, 2},
        {memory[2].name, false, false, 1},
        {"retries", false, false, 0},
        {"interference", true, false, 0},
        {"hazards", false, false, 0},
        {"verdict", true, false, 0},
    };
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    row(&grid, v, OVL_NONE, arena);
    for (uint32_t i = 0; i < v->s->n; i++) {
        row(&grid, v, i, arena);
    }
    ovl_grid_end(&grid, out, 2);
}

/* --- Sentences --- */

/* "; it reserves 7.75 GiB less"; nothing where it is as much. */
static const char *reserved_text(const ovl_result *a, const ovl_result *b, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    bool has = true;
    uint64_t x = peak_of(a, 2, &has), y = peak_of(b, 2, &has);
    return !has || x == y ? ""
                          : ovl_arena_printf(arena, "; it reserves %s %s",
                                             ovl_print_bytes(buf, x > y ? x - y : y - x),
                                             x > y ? "less" : "more");
}

/* Why some variants gain nothing: a sentence each. */
static void reasons(ovl_out *out, const ovl_summary *s, ovl_arena *arena)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->items[i].verdict != OVL_NO_GAIN || !has_model_of_base(s, i) || n++ >= MOST_REASONS) {
            continue;
        }
        const ovl_comparison *c = &s->items[i];
        ovl_out_text(out, n == 1 ? "\n" : "");
        const char *text = ovl_arena_printf(arena, "%s: %s%s", c->b->variant, c->sentence,
                                            reserved_text(c->a, c->b, arena));
        ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
    }
    if (n > MOST_REASONS) {
        ovl_out_printf(out, "  and %" PRIu32 " more without gain: --json\n", n - MOST_REASONS);
    }
}

/* "4.6 ms shorter than", "as long as". */
static const char *difference_text(const ovl_scale *scale, ovl_time gain, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    if (gain == 0) {
        return "as long as";
    }
    return ovl_arena_printf(arena, "%s %s %s than",
                            ovl_scale_short(buf, scale, gain < 0 ? -gain : gain),
                            ovl_scale_unit(scale), gain < 0 ? "longer" : "shorter");
}

/* "; live 4.922 GiB (base 4.172 GiB)" for each peak that is another. */
static const char *peaks_text(const shown *v, const ovl_result *b, ovl_arena *arena)
{
    char own[OVL_UNITS_TEXT], base[OVL_UNITS_TEXT];
    const char *text = "";
    for (uint32_t k = 0; k < MEMORIES; k++) {
        bool has = v->has_memory;
        uint64_t x = peak_of(v->s->base, k, &has), y = peak_of(b, k, &has);
        if (has && x != y) {
            text = ovl_arena_printf(arena, "%s%s%s %s (base %s)", text, *text ? ", " : "; ",
                                    memory[k].name, ovl_print_bytes_beside(own, y, x),
                                    ovl_print_bytes(base, x));
        }
    }
    return text;
}

/* A variant that is as long as the base with less memory, the least of them; or OVL_NONE. */
static uint32_t smallest_as_long(const ovl_summary *s)
{
    bool has = true;
    uint64_t least = peak_of(s->base, 2, &has);
    uint32_t smallest = OVL_NONE;
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t peak = peak_of(s->items[i].b, 2, &has);
        if (has && may_be_chosen(s, i) && s->items[i].b->step == s->base->step && peak < least) {
            least = peak;
            smallest = i;
        }
    }
    return smallest;
}

static void best_line(ovl_out *out, const shown *v, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const ovl_summary *s = v->s;
    const char *text = ovl_result_over_memory(s->base)
                           ? "none; neither the base nor a variant fits the memory of its GPU"
                           : "the base; no variant is better";
    bool other = false;
    for (uint32_t i = 0; i < s->n; i++) {
        other |= ovl_other_work(s->base, s->items[i].b);
    }
    if (other && !ovl_result_over_memory(s->base)) {
        text = "the base; no variant of as much work is better";
    }
    if (s->best != OVL_NONE) {
        const ovl_result *b = s->items[s->best].b;
        ovl_time step = ovl_scale_round(&v->scale, b->step);
        ovl_time gain = ovl_scale_round(&v->scale, s->base->step) - step;
        text = ovl_arena_printf(arena, "%s, %s %s", b->variant,
                                ovl_scale_short(buf, &v->scale, step), ovl_scale_unit(&v->scale));
        text = ovl_arena_printf(
            arena, "%s: %s the base%s; startups %" PRIu32 " (base %" PRIu32 ")", text,
            difference_text(&v->scale, gain, arena),
            ovl_result_over_memory(s->base) ? ", which does not fit the memory of its GPU" : "",
            b->startups, s->base->startups);
        text = ovl_arena_printf(arena, "%s%s%s", text, peaks_text(v, b, arena),
                                b->allocation_retries ? "; the time of its retries is not modelled"
                                                      : "");
    } else if (smallest_as_long(s) != OVL_NONE) {
        const ovl_result *b = s->items[smallest_as_long(s)].b;
        text = ovl_arena_printf(arena, "%s in time; %s is as long%s", text, b->variant,
                                peaks_text(v, b, arena));
    } else if (s->closest != OVL_NONE) {
        text = ovl_arena_printf(arena, "%s, and %s comes closest", text,
                                s->items[s->closest].b->variant);
    }
    if (v->models) {
        text = ovl_arena_printf(
            arena, "%s; chosen among the runs with interference %s, the model of the base", text,
            s->base->interference);
    }
    ovl_out_text(out, "\n");
    ovl_wrap(out, "Best: ", 6, text, OVL_TERMINAL);
}

void ovl_summary_text(ovl_out *out, const ovl_summary *s)
{
    ovl_arena arena = {0};
    shown v = shown_of(s, &arena);
    uint32_t full = s->best != OVL_NONE ? s->best : s->closest;
    head(out, &v, &arena);
    table(out, &v, &arena);
    reasons(out, s, &arena);
    best_line(out, &v, &arena);
    if (full != OVL_NONE) {
        ovl_out_text(out, "\n");
        ovl_compare_text(out, &s->items[full]);
    }
    ovl_arena_free(&arena);
}
