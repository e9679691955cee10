/* What each step of a key that grows costs and buys: a table for each ordered axis of a sweep. */
#include "tools/sweep.h"

#include "tools/grid.h"
#include "tools/wrap.h"

#include <string.h>

#define MOST_STEPS 20

typedef struct view {
    const ovl_sweep *s;
    ovl_arena arena;
    const ovl_scale *scale;
    uint32_t axis;
} view;

/* The keys of the axis, or what they are at a point: "2", "2, 4". */
static const char *axis_text(view *v, const char *const *texts)
{
    const ovl_sweep_axis *axis = &v->s->axes.axes[v->axis];
    const char *text = "";
    bool same = true;
    for (uint32_t k = 0; k < axis->n_keys; k++) {
        uint32_t key = axis->first_key + k;
        const char *part = texts ? texts[key] : ovl_sweep_key_text(v->s, key, &v->arena);
        same &= texts && strcmp(part, texts[axis->first_key]) == 0;
        text = ovl_arena_printf(&v->arena, "%s%s%s", text, k ? ", " : "", part);
    }
    return same ? texts[axis->first_key] : text;
}

static const char *step_text(view *v, const ovl_sweep_step *step)
{
    const char *from[OVL_KEYS_MAX], *to[OVL_KEYS_MAX];
    ovl_axes_texts(&v->s->axes, step->from, from);
    ovl_axes_texts(&v->s->axes, step->to, to);
    return ovl_arena_printf(&v->arena, "%s -> %s", axis_text(v, from), axis_text(v, to));
}

/* The keys of the other axes. */
static const char *rest_text(view *v, uint32_t i)
{
    const ovl_sweep_axis *axis = &v->s->axes.axes[v->axis];
    const char *texts[OVL_KEYS_MAX], *text = "";
    ovl_axes_texts(&v->s->axes, i, texts);
    for (uint32_t k = 0; k < v->s->axes.n_keys; k++) {
        if ((k < axis->first_key || k >= axis->first_key + axis->n_keys) && texts[k]) {
            text = ovl_arena_printf(&v->arena, "%s%s%s %s", text, *text ? ", " : "",
                                    ovl_sweep_key_text(v->s, k, &v->arena), texts[k]);
        }
    }
    return *text ? text : NULL;
}

static const char *price_text(view *v, const ovl_sweep_step *step, int64_t bytes)
{
    if (!step->has_price) {
        return NULL;
    }
    return ovl_arena_printf(&v->arena, "%s%s", bytes > 0 ? "+" : "",
                            ovl_metric_text(OVL_M_PEAK, bytes, &v->arena));
}

/* What counts is what the GPU must have; where that is the same, what was asked for, or held. */
static int64_t price_of(const ovl_sweep_step *step, const char **of)
{
    *of = step->peak ? "" : step->allocated ? " allocated" : " live";
    return step->peak ? step->peak : step->allocated ? step->allocated : step->live;
}

/* What a millisecond costs, or what else the step is good for. */
static const char *verdict_text(view *v, const ovl_sweep_step *step)
{
    char buf[OVL_UNITS_TEXT];
    const char *of;
    int64_t price = price_of(step, &of), gain = ovl_sweep_units(v->s, step->gain);
    if (gain == 0) {
        return price > 0 ? "buys nothing" : price < 0 ? "saves memory" : "no change";
    }
    if (gain < 0) {
        return price < 0 ? "saves memory for time" : "costs time";
    }
    if (!step->has_price) {
        return NULL;
    }
    if (price <= 0) {
        return price < 0 ? "saves both" : "free";
    }
    double bytes = (double)price / ((double)step->gain / (double)OVL_MS);
    return ovl_arena_printf(&v->arena, "%s%s for each ms",
                            ovl_print_bytes(buf, (uint64_t)OVL_MIN(bytes, 1e18)), of);
}

/* Whether a step leaves the other axes as they are at the best point. */
static bool beside_best(const ovl_sweep *s, const ovl_sweep_step *step)
{
    uint32_t own[OVL_KEYS_MAX], best[OVL_KEYS_MAX];
    ovl_axes_rows(&s->axes, step->from, own);
    ovl_axes_rows(&s->axes, s->best, best);
    own[step->axis] = best[step->axis];
    return memcmp(own, best, s->axes.n_axes * sizeof *own) == 0;
}

static void row(view *v, ovl_grid *grid, const ovl_sweep_step *step)
{
    char buf[OVL_UNITS_TEXT];
    const ovl_sweep *s = v->s;
    const uint32_t of = ovl_sweep_gain_of(s);
    ovl_time a = ovl_scale_round(v->scale, s->points[step->from].figures.value[of]);
    ovl_time b = ovl_scale_round(v->scale, s->points[step->to].figures.value[of]);
    const char *cells[] = {
        step_text(v, step),
        rest_text(v, step->from),
        ovl_arena_strdup(&v->arena, ovl_scale_show(buf, v->scale, a - b)),
        price_text(v, step, step->live),
        price_text(v, step, step->allocated),
        price_text(v, step, step->peak),
        verdict_text(v, step),
    };
    ovl_grid_row(grid, cells);
}

static uint32_t steps_of(const view *v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->s->n_steps; i++) {
        n += v->s->steps[i].axis == v->axis;
    }
    return n;
}

/* Where there are many, those that the best point is one of. */
static void steps(ovl_out *out, view *v, bool few)
{
    const ovl_sweep *s = v->s;
    uint32_t total = steps_of(v), n = 0;
    bool all = (!few && total <= MOST_STEPS) || s->best == OVL_NONE;
    if (total == 0 || (few && s->best == OVL_NONE)) {
        return;
    }
    const ovl_column columns[] = {
        {axis_text(v, NULL), true, true, 0},
        {"with", true, OVL_GRID_WRAP, 0},
        {ovl_arena_printf(&v->arena, "gain (%s)", ovl_scale_unit(v->scale)), false, false, 0},
        {"live", false, false, 9},
        {"allocated", false, false, 8},
        {"peak", false, false, 0},
        {"so it", true, false, 0},
    };
    static const char *const units[] = {
        ", in time of a microbatch", ", in time of a million tokens", ", in time of a PFLOP", ""};
    ovl_grid grid;
    ovl_out_text(out, "\n");
    ovl_out_title(out, "What each step of %s buys%s", axis_text(v, NULL),
                  units[ovl_per_of(ovl_sweep_gain_of(s))]);
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < s->n_steps && n < MOST_STEPS; i++) {
        const ovl_sweep_step *step = &s->steps[i];
        if (step->axis == v->axis && (all || beside_best(s, step))) {
            row(v, &grid, step);
            n++;
        }
    }
    ovl_grid_end(&grid, out, 2);
    if (n < total) {
        ovl_out_printf(out, "  and %" PRIu32 " more%s: --json\n", total - n,
                       all || s->axes.n_axes == 1 ? ""
                                                  : " here or with other values of other keys");
    }
}

void ovl_sweep_steps_text(ovl_out *out, const ovl_sweep *s, const ovl_scale *scale, bool few)
{
    view v = {.s = s, .scale = scale};
    for (v.axis = 0; v.axis < s->axes.n_axes; v.axis++) {
        steps(out, &v, few);
    }
    ovl_arena_free(&v.arena);
}
