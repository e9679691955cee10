/* Why ranks idle at each point of a sweep over pipelines: a table of its own. */
#include "tools/sweep.h"

#include "tools/grid.h"
#include "tools/scale.h"

#define MOST_ROWS 60 /* beyond which only the front is shown, unless all are asked for */

static const char *const kinds[] = {"fill",     "drain", "imbalance", "dependency",
                                    "schedule", "host",  "pause"};
#define N_KINDS OVL_COUNT(kinds)
#define BUBBLES 3 /* the first of them: what a pipeline alone has */

typedef struct idle_table {
    const ovl_sweep *s;
    ovl_arena arena;
    uint32_t metric[N_KINDS];
    bool used[N_KINDS];
    ovl_scale scale;
} idle_table;

static bool is_shown(const ovl_sweep *s, uint32_t i)
{
    bool few = !s->all_rows && s->axes.n_points > MOST_ROWS;
    return s->points[i].state == OVL_POINT_DONE && (!few || s->points[i].front || s->best == i);
}

static int64_t idle_of(const idle_table *t, uint32_t point, uint32_t kind)
{
    const ovl_figures *f = &t->s->points[point].figures;
    return ovl_has_figure(f, t->metric[kind]) ? f->value[t->metric[kind]] : 0;
}

static uint32_t metric_named(const char *name)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    uint32_t metric = ovl_metric_find(name, "idle", &errs);
    ovl_arena_free(&arena);
    assert(metric != OVL_NONE);
    return metric;
}

/* Which kinds there are, and how times are shown; false if no pipeline fills or drains. */
static bool prepare(idle_table *t)
{
    ovl_time largest = 0;
    bool bubbles = false;
    for (uint32_t k = 0; k < N_KINDS; k++) {
        t->metric[k] = metric_named(kinds[k]);
        for (uint32_t i = 0; i < ovl_sweep_reach(t->s); i++) {
            int64_t time = is_shown(t->s, i) ? idle_of(t, i, k) : 0;
            largest = OVL_MAX(largest, time);
            t->used[k] |= time > 0;
        }
        bubbles |= k < BUBBLES && t->used[k];
    }
    t->scale = ovl_scale_for(largest);
    for (uint32_t i = 0; i < ovl_sweep_reach(t->s); i++) {
        for (uint32_t k = 0; k < N_KINDS && is_shown(t->s, i); k++) {
            ovl_scale_fit(&t->scale, largest, idle_of(t, i, k));
        }
    }
    return bubbles;
}

static void row(idle_table *t, ovl_grid *grid, uint32_t point)
{
    const char *cells[1 + N_KINDS];
    char buf[OVL_UNITS_TEXT];
    uint32_t n = 0;
    cells[n++] = ovl_sweep_point_text(t->s, point, &t->arena);
    for (uint32_t k = 0; k < N_KINDS; k++) {
        if (t->used[k]) {
            ovl_time shown = ovl_scale_round(&t->scale, idle_of(t, point, k));
            cells[n++] = ovl_arena_strdup(&t->arena, ovl_scale_show(buf, &t->scale, shown));
        }
    }
    ovl_grid_row(grid, cells);
}

void ovl_sweep_idle_text(ovl_out *out, const ovl_sweep *s)
{
    idle_table t = {.s = s};
    ovl_column columns[1 + N_KINDS] = {{"", true, true, 0}};
    ovl_grid grid;
    uint32_t n = 1;
    if (!prepare(&t)) {
        return;
    }
    for (uint32_t k = 0; k < N_KINDS; k++) {
        if (t.used[k]) {
            columns[n++] = (ovl_column){kinds[k], false, false, 0};
        }
    }
    ovl_out_title(out, "\nIdle time of all ranks by reason (%s)", ovl_scale_unit(&t.scale));
    ovl_grid_begin(&grid, columns, n);
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
        if (is_shown(s, i)) {
            row(&t, &grid, i);
        }
    }
    ovl_grid_end(&grid, out, 2);
    ovl_arena_free(&t.arena);
}
