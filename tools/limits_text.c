#include "tools/grid.h"
#include "tools/limits.h"
#include "tools/scale.h"
#include "tools/wrap.h"

#define MOST_ROWS  30
#define MOST_SLACK 12

typedef struct writer {
    ovl_out *out;
    const ovl_limits *x;
    ovl_arena *arena;
} writer;

static const char *shown(const writer *w, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(w->arena, ovl_scale_show(buf, scale, t));
}

/* step - then, of the shown steps, so that it adds up on paper. */
static const char *gained(const writer *w, const ovl_scale *scale, ovl_time then)
{
    ovl_time now = ovl_scale_round(scale, w->x->result->step);
    return then == OVL_NEVER ? "-" : shown(w, scale, now - ovl_scale_round(scale, then));
}

static void head(const writer *w)
{
    const ovl_result *r = w->x->result;
    char step[OVL_UNITS_TEXT];
    ovl_out_title(w->out, "%s", r->scenario ? r->scenario : "");
    ovl_out_printf(w->out, "variant %s, interference %s, step %s\n", r->variant, r->interference,
                   ovl_print_time(step, r->step));
}

/* --- Where the step goes --- */

static void lost(const writer *w)
{
    static const ovl_column columns[] = {
        {"", false, false, 0}, {"", true, false, 0}, {"", true, OVL_GRID_WRAP, 0}};
    const ovl_limits *x = w->x;
    ovl_time terms[OVL_TERM_COUNT] = {x->result->term[OVL_COMPUTE]};
    for (uint32_t i = 0; i < x->n_lost; i++) {
        terms[i + 1] = x->lost[i].time;
    }
    ovl_scale scale = ovl_scale_of(terms, x->n_lost + 1);
    ovl_scale_fit(&scale, x->result->step, x->result->step);
    ovl_time step = ovl_scale_terms(&scale, x->result->step, terms, x->n_lost + 1);
    ovl_out_title(w->out, "\nWhere the step goes on rank %" PRIu32 ", and why (%s)",
                  x->result->deciding_rank, ovl_scale_unit(&scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    if (terms[0] || x->n_lost == 0) {
        ovl_grid_row(&grid, (const char *const[]){shown(w, &scale, terms[0]), NULL,
                                                  "kernels at isolated speed"});
    }
    for (uint32_t i = 0; i < x->n_lost; i++) {
        ovl_grid_row(
            &grid, (const char *const[]){shown(w, &scale, terms[i + 1]), "+", x->lost[i].sentence});
    }
    ovl_grid_row(&grid, (const char *const[]){shown(w, &scale, step), "=", "step"});
    ovl_grid_end(&grid, w->out, 2);
}

/* --- Virtual speed-up --- */

static void speedup_notes(const writer *w, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const ovl_speedup *s = &w->x->speedups[i];
        if (s->note) {
            ovl_wrap(w->out, "  ", 4, ovl_arena_printf(w->arena, "%s: %s", s->what, s->note),
                     OVL_TERMINAL);
        }
    }
}

static void speedups(const writer *w)
{
    static const ovl_column columns[] = {
        {"what", true, true, 0},    {"10 % faster: step", false, false, 0},
        {"gains", false, false, 0}, {"free: step", false, false, 0},
        {"gains", false, false, 0},
    };
    const ovl_limits *x = w->x;
    uint32_t n = OVL_MIN(x->n_speedups, MOST_ROWS);
    ovl_scale scale = ovl_scale_for(x->result->step);
    ovl_scale_fit(&scale, x->result->step, x->result->step);
    for (uint32_t i = 0; i < n; i++) {
        ovl_scale_fit(&scale, x->result->step, x->speedups[i].faster);
        ovl_scale_fit(&scale, x->result->step, x->speedups[i].free);
    }
    ovl_out_title(w->out, "\nWhat limits the step, most first (times in %s)",
                  ovl_scale_unit(&scale));
    if (n == 0) {
        ovl_out_text(w->out, "  nothing takes any time\n");
        return;
    }
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < n; i++) {
        const ovl_speedup *s = &x->speedups[i];
        ovl_grid_row(&grid, (const char *const[]){
                                s->what, shown(w, &scale, s->faster), gained(w, &scale, s->faster),
                                shown(w, &scale, s->free), gained(w, &scale, s->free)});
    }
    ovl_grid_end(&grid, w->out, 2);
    ovl_wrap(w->out, "  ", 2,
             "10 % faster: the same bytes in 10/11 of the time, or 11/10 of a bandwidth; free: no "
             "time at all, or bandwidth without end. Each step is simulated; order stays",
             OVL_TERMINAL);
    speedup_notes(w, n);
    if (n < x->n_speedups) {
        ovl_out_printf(w->out, "  %" PRIu32 " of %" PRIu32 "; all of them: --json\n", n,
                       x->n_speedups);
    }
}

/* --- Ceilings --- */

static void ceilings(const writer *w)
{
    static const ovl_column columns[] = {
        {"step", false, false, 0}, {"gains", false, false, 0}, {"if", true, OVL_GRID_WRAP, 0}};
    const ovl_limits *x = w->x;
    if (x->n_ceilings == 0) {
        return;
    }
    ovl_scale scale = ovl_scale_for(x->result->step);
    ovl_scale_fit(&scale, x->result->step, x->result->step);
    for (uint32_t i = 0; i < x->n_ceilings; i++) {
        ovl_scale_fit(&scale, x->result->step, x->ceilings[i].step);
    }
    ovl_out_title(w->out, "\nHow far it could go (times in %s)", ovl_scale_unit(&scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < x->n_ceilings; i++) {
        const ovl_ceiling *c = &x->ceilings[i];
        ovl_grid_row(&grid, (const char *const[]){shown(w, &scale, c->step),
                                                  gained(w, &scale, c->step), c->what});
    }
    ovl_grid_end(&grid, w->out, 2);
}

/* --- Slack --- */

static void slack(const writer *w)
{
    static const ovl_column columns[] = {
        {"communication", true, true, 0}, {"in", true, false, 1},       {"times", false, false, 2},
        {"slack", false, false, 0},       {"exposed", false, false, 0}, {"", true, false, 0},
    };
    const ovl_limits *x = w->x;
    uint32_t n = OVL_MIN(x->n_slack, MOST_SLACK);
    if (n == 0) {
        return;
    }
    ovl_time largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        largest = OVL_MAX(largest, OVL_MAX(x->slack[i].slack, x->slack[i].exposed));
    }
    ovl_scale scale = ovl_scale_for(largest);
    for (uint32_t i = 0; i < n; i++) {
        ovl_scale_fit(&scale, largest, x->slack[i].slack);
        ovl_scale_fit(&scale, largest, x->slack[i].exposed);
    }
    ovl_out_title(w->out, "\nSlack of communication, least first (times in %s)",
                  ovl_scale_unit(&scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < n; i++) {
        const ovl_slack_line *l = &x->slack[i];
        const char *times = l->n > 1 ? ovl_arena_printf(w->arena, "%" PRIu32, l->n) : NULL;
        ovl_grid_row(&grid,
                     (const char *const[]){l->name, l->group, times, shown(w, &scale, l->slack),
                                           shown(w, &scale, l->exposed), l->on_path ? "*" : NULL});
    }
    ovl_grid_end(&grid, w->out, 2);
    ovl_wrap(w->out, "  ", 2,
             "slack: how much later it could end with the step unchanged, other durations as they "
             "are; exposed: what its consumer waits for it; of several the least slack and the "
             "longest exposure; *: on the critical path",
             OVL_TERMINAL);
    if (n < x->n_slack) {
        ovl_out_printf(w->out, "  %" PRIu32 " of %" PRIu32 "; all of them: --json\n", n,
                       x->n_slack);
    }
}

void ovl_limits_text(ovl_out *out, const ovl_limits *x)
{
    ovl_arena arena = {0};
    writer w = {out, x, &arena};
    head(&w);
    if (!x->name) {
        lost(&w);
    }
    speedups(&w);
    ceilings(&w);
    if (!x->name) {
        slack(&w);
    }
    ovl_out_printf(out, "\n%s", ovl_counted(&arena, x->simulations, "simulation"));
    if (x->partly) {
        ovl_out_printf(out,
                       ", %" PRIu32 " of them only of what follows from the change: nothing can be "
                       "slowed",
                       x->partly);
    }
    ovl_out_text(out, "\n");
    ovl_arena_free(&arena);
}
