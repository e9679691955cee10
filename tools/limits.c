#include "tools/limits.h"

#include "tools/limits_runs.h"

#include <stdlib.h>
#include <string.h>

static const ovl_faster ten_percent = {10, 11, false}, no_time = {0, 1, false};

/* Bandwidth "as if there were no end of it"; what then takes less than a picosecond takes one. */
#define UNLIMITED 1000000u

/* Rows are made first, each with the numbers of its runs; then all is simulated, and then they get
 * their steps. */
typedef struct finder {
    ovl_work *work;
    const ovl_prepared *prepared;
    OVL_VEC(ovl_limit_run) runs;
    OVL_VEC(ovl_speedup) speedups; /* row i has the runs 2 i and 2 i + 1: 10 % faster, and free */
} finder;

static const ovl_program *program_of(const finder *f)
{
    return &f->prepared->lowered.program;
}

/* --- Operations --- */

static void pull(finder *f, const ovl_lever *lever)
{
    static const char *const kinds[] = {"kernels", "communication", "copies", "host", "operation"};
    ovl_speedup row = {.kind = kinds[lever->kind],
                       .what = ovl_lever_text(program_of(f), lever, &f->work->arena)};
    if (ovl_lever_splits(program_of(f), lever)) {
        row.note = "of a forward and a backward that run as one kernel it is a part, in proportion "
                   "to what each takes alone; the rest of that kernel stays";
    }
    ovl_limit_run run = {.kind = OVL_LIMIT_PULLED, .lever = *lever, .how = ten_percent};
    ovl_vec_push(&f->runs, run);
    run.how = no_time;
    ovl_vec_push(&f->runs, run);
    ovl_vec_push(&f->speedups, row);
}

/* --- Links and HBM --- */

static const char *note_of(const ovl_limit_users *u, ovl_arena *arena)
{
    if (!u->comparable) {
        return "the schedule is laid out by costs and came out otherwise";
    }
    if (u->n_following == 0) {
        return "what uses it takes a time that is stated (a duration, alpha and beta, a table) or "
               "bound by something else, and does not follow it: only sharing changes";
    }
    return u->n_following < u->n
               ? ovl_arena_printf(arena,
                                  "%" PRIu32 " of %" PRIu32
                                  " costs that use it are stated or bound by something else, and "
                                  "do not follow it",
                                  u->n - u->n_following, u->n)
               : NULL;
}

static void widen(finder *f, uint32_t link)
{
    const ovl_hw *hw = &f->prepared->scenario.hw;
    uint64_t now = link == OVL_NONE ? hw->gpu.hbm : hw->links[link].bandwidth;
    if (now == 0 || !ovl_limits_used(program_of(f), hw, link)) {
        return;
    }
    ovl_speedup row = {.kind = link == OVL_NONE ? "hbm" : "link", .what = "HBM bandwidth"};
    if (link != OVL_NONE) {
        row.what = ovl_arena_printf(&f->work->arena, "link %s", hw->links[link].name);
    }
    ovl_limit_run run = {.kind = OVL_LIMIT_WIDENED, .link = link, .num = 11, .den = 10};
    ovl_vec_push(&f->runs, run);
    run.num = UNLIMITED;
    run.den = 1;
    ovl_vec_push(&f->runs, run);
    ovl_vec_push(&f->speedups, row);
}

static void finish_speedups(finder *f)
{
    for (uint32_t i = 0; i < f->speedups.len; i++) {
        ovl_speedup *row = &f->speedups.data[i];
        const ovl_limit_run *faster = &f->runs.data[2 * i], *free = faster + 1;
        row->faster = faster->step;
        row->free = free->step;
        if (faster->kind == OVL_LIMIT_WIDENED) {
            row->n_users = faster->users.n;
            row->n_following = faster->users.n_following;
            row->note = note_of(&faster->users, &f->work->arena);
        }
    }
}

/* --- Ceilings --- */

enum { COMPUTE, COMM, NO_INTERFERENCE, NO_HOST, NO_IMBALANCE, ALL, N_CEILINGS };

static void ask_ceilings(finder *f)
{
    const ovl_limit_run runs[N_CEILINGS] = {
        [COMPUTE] = {.alteration = {.free_comm = true, .free_copies = true}},
        [COMM] = {.alteration.free_kernels = true},
        [NO_INTERFERENCE] = {.no_interference = true},
        [NO_HOST] = {.free_host = true},
        [NO_IMBALANCE] = {.alteration.mean_kernels = true},
        [ALL] = {.alteration = {.free_comm = true, .free_copies = true, .mean_kernels = true},
                 .free_host = true,
                 .no_interference = true}};
    for (int i = 0; i < N_CEILINGS; i++) {
        ovl_limit_run run = runs[i];
        run.kind = OVL_LIMIT_ALTERED;
        ovl_vec_push(&f->runs, run);
    }
}

static const char *free_text(const finder *f)
{
    bool copies = false;
    for (uint32_t i = 0; i < f->speedups.len; i++) {
        copies |= strcmp(f->speedups.data[i].kind, "copies") == 0;
    }
    return copies ? "free communication and copies" : "free communication";
}

static ovl_ceiling perfect_overlap(const finder *f, ovl_time compute, ovl_time comm)
{
    char a[OVL_UNITS_TEXT], b[OVL_UNITS_TEXT];
    ovl_ceiling c = {"perfect_overlap", "perfect overlap", OVL_NEVER};
    if (compute != OVL_NEVER && comm != OVL_NEVER) {
        c.step = OVL_MAX(compute, comm);
        c.what =
            ovl_arena_printf(&f->work->arena,
                             "perfect overlap: the longer of %s with %s and %s with free "
                             "kernels",
                             ovl_print_time(a, compute), free_text(f), ovl_print_time(b, comm));
    }
    return c;
}

static const ovl_ceiling *finish_ceilings(const finder *f, uint32_t *n)
{
    const ovl_limit_run *r = &f->runs.data[2 * f->speedups.len];
    const ovl_ceiling list[] = {
        perfect_overlap(f, r[COMPUTE].step, r[COMM].step),
        {"no_interference", "nothing slows what runs beside it", r[NO_INTERFERENCE].step},
        {"no_host", "the host takes no time", r[NO_HOST].step},
        {"no_imbalance", "kernels take the mean of the stages or ranks", r[NO_IMBALANCE].step},
        {"all",
         ovl_arena_printf(&f->work->arena,
                          "%s, no interference, no host, no imbalance: all of these", free_text(f)),
         r[ALL].step}};
    ovl_ceiling *ceilings = OVL_NEW_ARRAY(&f->work->arena, ovl_ceiling, OVL_COUNT(list));
    memcpy(ceilings, list, sizeof list);
    *n = OVL_COUNT(list);
    return ceilings;
}

/* --- The whole --- */

static int most_gained(const void *a, const void *b)
{
    const ovl_speedup *x = a, *y = b;
    if (x->faster != y->faster) {
        return x->faster < y->faster ? -1 : 1;
    }
    if (x->free != y->free) {
        return x->free < y->free ? -1 : 1;
    }
    return strcmp(x->what, y->what);
}

static bool ask_speedups(finder *f, const char *name)
{
    const ovl_program *p = program_of(f);
    uint32_t n;
    if (name) {
        ovl_lever lever;
        bool found = ovl_lever_of_name(p, name, &lever);
        if (!found) {
            ovl_unknown_among((ovl_mark){0}, "operation", name, p->names, OVL_E_USAGE,
                              &f->work->errs);
            return false;
        }
        pull(f, &lever);
        return true;
    }
    const ovl_lever *levers = ovl_levers_find(p, &f->work->arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        pull(f, &levers[i]);
    }
    widen(f, OVL_NONE);
    for (uint32_t i = 0; i < f->prepared->scenario.hw.n_links; i++) {
        widen(f, i);
    }
    return true;
}

static void count_runs(const finder *f, ovl_limits *limits)
{
    limits->simulations = f->runs.len;
    for (uint32_t i = 0; i < f->runs.len; i++) {
        limits->partly += f->runs.data[i].partly;
    }
}

bool ovl_limits_find(ovl_work *work, const ovl_prepared *prepared, const char *name,
                     uint32_t threads, ovl_limits *limits)
{
    finder f = {.work = work, .prepared = prepared};
    ovl_result *result = OVL_NEW(&work->arena, ovl_result);
    ovl_ask ask = {.worth = OVL_WORTH_NONE};
    *limits = (ovl_limits){.result = result, .name = name};
    bool good = ovl_work_analyse(work, prepared, &ask, result, NULL) && ask_speedups(&f, name);
    if (good && !name) {
        ask_ceilings(&f);
    }
    good = good && ovl_limits_simulate(work, prepared, f.runs.data, f.runs.len, threads);
    if (good) {
        finish_speedups(&f);
        limits->ceilings = name ? NULL : finish_ceilings(&f, &limits->n_ceilings);
        count_runs(&f, limits);
        if (f.speedups.len > 1) {
            qsort(f.speedups.data, f.speedups.len, sizeof *f.speedups.data, most_gained);
        }
        limits->n_speedups = f.speedups.len;
        limits->speedups = ovl_vec_freeze(&f.speedups, &work->arena);
        ovl_limits_slack(result, &work->arena, limits);
        ovl_limits_lost(result, &work->arena, limits);
    }
    ovl_vec_free(&f.speedups);
    ovl_vec_free(&f.runs);
    return good;
}
