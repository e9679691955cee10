#include "tools/sweep.h"

#include "models/lower.h"
#include "tools/lookout.h"
#include "tools/pool.h"

#include <string.h>

void ovl_sweep_begin(ovl_sweep *sweep, ovl_arena *arena)
{
    sweep->points = OVL_NEW_ARRAY(arena, ovl_point, sweep->axes.n_points);
    sweep->best = sweep->closest = OVL_NONE;
}

/* --- One point --- */

static bool prepare(const ovl_sweep *s, uint32_t i, ovl_scenario *scenario, ovl_arena *arena,
                    ovl_errs *errs)
{
    const char *variant = s->variant;
    ovl_set *sets = OVL_NEW_ARRAY(arena, ovl_set, (size_t)s->n_sets + s->axes.n_keys);
    if (s->n_sets) {
        memcpy(sets, s->sets, s->n_sets * sizeof *sets);
    }
    uint32_t n = s->n_sets + ovl_axes_point(&s->axes, i, sets + s->n_sets, &variant);
    bool good = ovl_scenario_decode(s->doc, variant, sets, n, scenario, arena, errs);
    scenario->memory = s->memory;
    return good;
}

bool ovl_sweep_decode(const ovl_sweep *sweep, uint32_t i, ovl_arena *arena, ovl_errs *errs)
{
    ovl_scenario scenario;
    return prepare(sweep, i, &scenario, arena, errs);
}

static bool is_word(const ovl_err *e)
{
    return e->mark.file && strncmp(e->mark.file, "--", 2) == 0;
}

void ovl_sweep_say(const ovl_errs *from, ovl_errs *to)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const ovl_err *e = &from->items[i];
        const ovl_mark mark = is_word(e) ? (ovl_mark){e->mark.file, 0, 0} : e->mark;
        if (!e->warning) {
            ovl_error(to, is_word(e) ? OVL_E_USAGE : e->code, mark, "%s", e->text);
        }
    }
}

static bool same_mistakes(const ovl_errs *a, const ovl_errs *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++) {
        same = strcmp(a->items[i].text, b->items[i].text) == 0;
    }
    return same;
}

uint32_t ovl_sweep_reach(const ovl_sweep *sweep)
{
    return sweep->stopped ? sweep->ended : sweep->axes.n_points;
}

void ovl_sweep_ended(ovl_sweep *sweep, uint32_t i)
{
    sweep->ended = OVL_MAX(sweep->ended, i + 1);
}

bool ovl_sweep_check(const ovl_sweep *sweep, ovl_arena *arena, ovl_errs *errs)
{
    ovl_errs first = {.arena = arena};
    bool wrong = sweep->axes.n_points > 0 && !ovl_sweep_decode(sweep, 0, arena, &first);
    for (uint32_t i = 1; wrong && i < sweep->axes.n_points; i++) {
        ovl_arena mine = {0};
        ovl_errs other = {.arena = &mine};
        wrong = !ovl_sweep_decode(sweep, i, &mine, &other) && same_mistakes(&first, &other);
        ovl_arena_free(&mine);
    }
    if (wrong) {
        ovl_sweep_say(&first, errs);
    }
    return !wrong;
}

uint64_t ovl_sweep_memory(uint32_t threads)
{
    return ovl_lookout_memory() / (threads ? threads : ovl_pool_cores());
}

/* `figures`: nothing else of the result is looked at. */
static bool simulate(const ovl_sweep *sweep, const ovl_scenario *scenario, ovl_worth worth,
                     bool figures, ovl_result *result, ovl_arena *arena, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    ovl_lowered lowered;
    bool good = ovl_lower(scenario, &scratch, &lowered, errs);
    if (good) {
        const ovl_analyse_options options = {
            .interference = (ovl_interference)scenario->interference,
            .worth = worth,
            .no_fold = sweep->no_fold,
            .no_skip = sweep->no_skip,
            .memory = sweep->memory,
            .no_usage = figures,
            .scenario = scenario->name,
            .variant = scenario->variant,
            .description = scenario->description,
            .not_modelled = lowered.not_modelled,
            .n_not_modelled = lowered.n_not_modelled,
            .microbatches = lowered.microbatches,
            .rank_microbatches = lowered.rank_microbatches,
            .useful = lowered.useful,
        };
        good = ovl_analyse(&lowered.program, &options, arena, result, NULL, errs);
    }
    ovl_arena_free(&scratch);
    return good;
}

bool ovl_sweep_result(const ovl_sweep *sweep, uint32_t i, ovl_worth worth, ovl_result *result,
                      ovl_arena *arena, ovl_errs *errs)
{
    ovl_scenario scenario;
    return prepare(sweep, i, &scenario, arena, errs) &&
           simulate(sweep, &scenario, worth, false, result, arena, errs);
}

/* The first error, and how many more there are. */
static const char *error_text(const ovl_errs *errs, ovl_arena *arena)
{
    const ovl_err *first = NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < errs->count; i++) {
        const ovl_err *err = &errs->items[i];
        first = first || err->warning ? first : err;
        kept += !err->warning;
    }
    assert(first);
    ovl_err shown = *first;
    if (is_word(&shown)) {
        shown.mark.line = 0; /* words of a command line have no lines */
    }
    const char *text = ovl_err_text(arena, &shown);
    uint32_t more = kept + errs->dropped - 1;
    return more ? ovl_arena_printf(arena, "%s (and %" PRIu32 " more)", text, more) : text;
}

void ovl_sweep_point(const ovl_sweep *sweep, uint32_t i, ovl_point *point, ovl_arena *arena)
{
    ovl_arena mine = {0};
    ovl_errs errs = {.arena = &mine};
    ovl_scenario scenario;
    ovl_result result;
    *point = (ovl_point){.state = OVL_POINT_FAILED};
    if (prepare(sweep, i, &scenario, &mine, &errs) &&
        simulate(sweep, &scenario, OVL_WORTH_NONE, true, &result, &mine, &errs)) {
        point->state = OVL_POINT_DONE;
        point->interference = (ovl_interference)scenario.interference;
        ovl_figures_of(&result, &point->figures);
    } else {
        ovl_errs_sort(&errs);
        point->status = (ovl_status)ovl_errs_status(&errs);
        point->error = error_text(&errs, arena);
    }
    ovl_arena_free(&mine);
}

/* --- All of them --- */

typedef struct crew {
    ovl_sweep *sweep;
    const ovl_sweep_how *how;
    const uint32_t *todo;
    ovl_arena *texts; /* one a thread */
    uint32_t done;
} crew;

static void work(void *context, uint32_t thread, uint32_t piece)
{
    crew *c = context;
    uint32_t i = c->todo[piece];
    ovl_sweep_point(c->sweep, i, &c->sweep->points[i], &c->texts[thread]);
}

static void done(void *context, uint32_t piece)
{
    crew *c = context;
    c->done++;
    ovl_sweep_ended(c->sweep, c->todo[piece]);
    if (c->how->done) {
        c->how->done(c->how->context, c->todo[piece]);
    }
}

static void tick(void *context)
{
    const crew *c = context;
    if (c->how->tick) {
        c->how->tick(c->how->context, c->done);
    }
}

static bool stop(void *context, int signal)
{
    const crew *c = context;
    return c->how->stop ? c->how->stop(c->how->context, signal) : signal != 0;
}

static const uint32_t *open_points(const ovl_sweep *s, uint32_t *n, ovl_arena *arena)
{
    uint32_t *todo = OVL_NEW_ARRAY(arena, uint32_t, s->axes.n_points);
    *n = 0;
    for (uint32_t i = 0; i < s->axes.n_points; i++) {
        if (i >= s->ended || s->points[i].state == OVL_POINT_OPEN) {
            todo[(*n)++] = i;
        }
    }
    return todo;
}

uint32_t ovl_sweep_run(ovl_sweep *sweep, const ovl_sweep_how *how, ovl_arena *arena)
{
    ovl_arena mine = {0};
    uint32_t threads = how->threads ? how->threads : ovl_pool_cores(), n = how->n_todo;
    crew c = {.sweep = sweep, .how = how, .todo = how->todo};
    if (!c.todo) {
        c.todo = open_points(sweep, &n, &mine);
    }
    if (n == 0) {
        ovl_arena_free(&mine);
        return 0;
    }
    threads = OVL_MIN(threads, n);
    c.texts = OVL_NEW_ARRAY(&mine, ovl_arena, threads);
    ovl_pool pool = {threads, n, &c, work, done, tick, stop};
    ovl_pool_end end = ovl_pool_run(&pool);
    sweep->signal = end.signal;
    for (uint32_t k = 0; k < n && c.todo[k] < sweep->ended; k++) {
        ovl_point *p = &sweep->points[c.todo[k]];
        if (p->error) {
            p->error = ovl_arena_strdup(arena, p->error);
        }
    }
    for (uint32_t t = 0; t < threads; t++) {
        ovl_arena_free(&c.texts[t]);
    }
    ovl_arena_free(&mine);
    return end.done;
}
