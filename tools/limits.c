#include "tools/limits.h"

#include "sim/alter.h"
#include "sim/speedup.h"

#include <stdlib.h>
#include <string.h>

static const ovl_faster ten_percent = {10, 11, false}, no_time = {0, 1, false};

/* Bandwidth "as if there were no end of it"; what then takes less than a picosecond takes one. */
#define UNLIMITED 1000000u

typedef struct finder {
    ovl_work *work;
    const ovl_prepared *prepared;
    OVL_VEC(ovl_speedup) speedups;
    OVL_VEC(ovl_ceiling) ceilings;
    uint32_t simulations;
} finder;

/* --- Simulating --- */

static ovl_interference model_of(const finder *f)
{
    return (ovl_interference)f->prepared->scenario.interference;
}

/* OVL_NEVER if it cannot be simulated, or Ctrl-C stopped it. */
static ovl_time step_of(finder *f, const ovl_program *program, ovl_interference model)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_run_options options = {.interference = model,
                               .free_name = OVL_NONE,
                               .watch = &f->work->lookout.watch,
                               .memory = ovl_lookout_memory()};
    ovl_time step = OVL_NEVER;
    f->simulations++;
    if (f->work->lookout.stopped || !ovl_simulate_step(program, &options, &step, &errs)) {
        step = OVL_NEVER;
    }
    ovl_arena_free(&arena);
    return step;
}

/* --- Operations --- */

static ovl_time pulled(finder *f, const ovl_lever *lever, ovl_faster how)
{
    ovl_arena arena = {0};
    how.fair = f->prepared->scenario.sharing == OVL_SHARING_FAIR;
    ovl_program p = ovl_program_faster(&f->prepared->lowered.program, lever, &how, &arena);
    ovl_time step = step_of(f, &p, model_of(f));
    ovl_arena_free(&arena);
    return step;
}

static void pull(finder *f, const ovl_lever *lever)
{
    static const char *const kinds[] = {"kernels", "communication", "copies", "host", "operation"};
    const ovl_program *p = &f->prepared->lowered.program;
    ovl_speedup row = {.kind = kinds[lever->kind],
                       .what = ovl_lever_text(p, lever, &f->work->arena),
                       .faster = pulled(f, lever, ten_percent),
                       .free = pulled(f, lever, no_time)};
    ovl_vec_push(&f->speedups, row);
}

/* --- Links and HBM --- */

/* The costs that want something of a resource, and how many of them take another time in the
 * changed program. */
typedef struct users {
    uint32_t n, n_following;
    bool comparable;
} users;

static bool wants(const ovl_program *p, uint32_t first, uint32_t n, uint16_t port, uint16_t ports)
{
    for (uint32_t i = first; i < first + n; i++) {
        if (p->demands[i].port >= port && p->demands[i].port < port + ports) {
            return true;
        }
    }
    return false;
}

static bool uses(const ovl_program *p, const ovl_cost *c, uint16_t port, uint16_t ports)
{
    return wants(p, c->first_demand, c->n_demands, port, ports) ||
           wants(p, c->first_peer, c->n_peer, port, ports);
}

static void compare_codes(const ovl_program *a, const ovl_program *b, uint32_t code, uint16_t port,
                          uint16_t ports, bool *seen, users *u)
{
    for (uint32_t i = 0; i < a->codes[code].n_ops; i++) {
        uint32_t x = a->codes[code].ops[i].cost;
        if (seen[x] || !uses(a, &a->costs[x], port, ports)) {
            continue;
        }
        seen[x] = true;
        const ovl_cost *y = &b->costs[b->codes[code].ops[i].cost];
        u->n++;
        u->n_following += a->costs[x].work != y->work || a->costs[x].latency != y->latency;
    }
}

/* Program `b` is `a` lowered again; a schedule that goes by costs may have come out otherwise. */
static users compare_costs(const ovl_program *a, const ovl_program *b, uint16_t port,
                           uint16_t ports)
{
    ovl_arena arena = {0};
    users u = {.comparable = a->n_codes == b->n_codes};
    bool *seen = OVL_NEW_ARRAY(&arena, bool, a->n_costs);
    for (uint32_t c = 0; c < a->n_codes && u.comparable; c++) {
        u.comparable = a->codes[c].n_ops == b->codes[c].n_ops;
        if (u.comparable) {
            compare_codes(a, b, c, port, ports, seen, &u);
        }
    }
    ovl_arena_free(&arena);
    return u;
}

static bool is_used(const ovl_program *p, uint16_t port, uint16_t ports)
{
    for (uint32_t i = 0; i < p->n_costs; i++) {
        if (uses(p, &p->costs[i], port, ports)) {
            return true;
        }
    }
    return false;
}

/* Link number `link`, or HBM (OVL_NONE), with num / den of its bandwidth. */
static void set_bandwidth(ovl_scenario *s, uint32_t link, uint64_t num, uint64_t den,
                          ovl_arena *arena)
{
    ovl_hw_link *links = OVL_NEW_ARRAY(arena, ovl_hw_link, s->hw.n_links);
    if (s->hw.n_links) {
        memcpy(links, s->hw.links, s->hw.n_links * sizeof *links);
    }
    s->hw.links = links;
    uint64_t *rate = link == OVL_NONE ? &s->hw.gpu.hbm : &links[link].bandwidth;
    uint64_t whole = *rate / den;
    bool fits = whole < UINT64_MAX / 16 / num;
    *rate = fits ? whole * num + *rate % den * num / den : OVL_MAX(*rate, UINT64_MAX / 16);
}

static ovl_time at_bandwidth(finder *f, uint32_t link, uint64_t num, uint64_t den, users *u)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_scenario scenario = f->prepared->scenario;
    ovl_lowered lowered;
    ovl_time step = OVL_NEVER;
    set_bandwidth(&scenario, link, num, den, &arena);
    if (ovl_lower(&scenario, &arena, &lowered, &errs)) {
        uint16_t port = link == OVL_NONE ? OVL_PORT_HBM : (uint16_t)(1 + 2 * link);
        *u = compare_costs(&f->prepared->lowered.program, &lowered.program, port,
                           link == OVL_NONE ? 1 : 2);
        step = step_of(f, &lowered.program, model_of(f));
    }
    ovl_arena_free(&arena);
    return step;
}

static const char *note_of(const users *u, ovl_arena *arena)
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
    uint16_t port = link == OVL_NONE ? OVL_PORT_HBM : (uint16_t)(1 + 2 * link);
    uint64_t now = link == OVL_NONE ? hw->gpu.hbm : hw->links[link].bandwidth;
    if (now == 0 || !is_used(&f->prepared->lowered.program, port, link == OVL_NONE ? 1 : 2)) {
        return;
    }
    users u = {.comparable = true};
    ovl_speedup row = {.kind = link == OVL_NONE ? "hbm" : "link", .what = "HBM bandwidth"};
    if (link != OVL_NONE) {
        row.what = ovl_arena_printf(&f->work->arena, "link %s", hw->links[link].name);
    }
    row.free = at_bandwidth(f, link, UNLIMITED, 1, &u);
    row.faster = at_bandwidth(f, link, 11, 10, &u);
    row.n_users = u.n;
    row.n_following = u.n_following;
    row.note = note_of(&u, &f->work->arena);
    ovl_vec_push(&f->speedups, row);
}

/* --- Ceilings --- */

static void ceiling(finder *f, const char *key, const char *what, ovl_time step)
{
    ovl_vec_push(&f->ceilings, ((ovl_ceiling){key, what, step}));
}

/* A host that takes no time, if `host` is a lever of it, at other costs. */
static ovl_time altered(finder *f, ovl_alteration how, bool host, ovl_interference model)
{
    static const ovl_lever lever = {OVL_LEVER_HOST, OVL_NONE, OVL_NONE, OVL_NONE, 0, 0};
    ovl_arena arena = {0};
    ovl_program p = ovl_program_altered(&f->prepared->lowered.program, &how, &arena);
    if (host) {
        p = ovl_program_faster(&p, &lever, &no_time, &arena);
    }
    ovl_time step = step_of(f, &p, model);
    ovl_arena_free(&arena);
    return step;
}

static void find_ceilings(finder *f)
{
    ovl_interference model = model_of(f);
    ovl_time compute = altered(f, (ovl_alteration){.free_comm = true}, false, model);
    ovl_time comm = altered(f, (ovl_alteration){.free_kernels = true}, false, model);
    bool both = compute != OVL_NEVER && comm != OVL_NEVER;
    char a[OVL_UNITS_TEXT], b[OVL_UNITS_TEXT];
    const char *what =
        both ? ovl_arena_printf(&f->work->arena,
                                "perfect overlap: the longer of %s with free communication and %s "
                                "with free kernels",
                                ovl_print_time(a, compute), ovl_print_time(b, comm))
             : "perfect overlap";
    ceiling(f, "perfect_overlap", what, both ? OVL_MAX(compute, comm) : OVL_NEVER);
    ceiling(f, "no_interference", "nothing slows what runs beside it",
            step_of(f, &f->prepared->lowered.program, OVL_INTERFERENCE_NONE));
    ceiling(f, "no_host", "the host takes no time", altered(f, (ovl_alteration){0}, true, model));
    ceiling(f, "no_imbalance", "kernels take the mean of the stages or ranks",
            altered(f, (ovl_alteration){.mean_kernels = true}, false, model));
    ceiling(f, "all", "free communication, no interference, no host, no imbalance: all of these",
            altered(f, (ovl_alteration){.free_comm = true, .mean_kernels = true}, true,
                    OVL_INTERFERENCE_NONE));
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

static bool pull_all(finder *f, const char *name)
{
    const ovl_program *p = &f->prepared->lowered.program;
    uint32_t n;
    if (name) {
        ovl_lever lever;
        bool found = ovl_lever_of_name(p, name, &lever);
        if (!found) {
            ovl_unknown_name((ovl_mark){0}, "operation", name, p->names->text, p->names->count,
                             OVL_E_USAGE, &f->work->errs);
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

bool ovl_limits_find(ovl_work *work, const ovl_prepared *prepared, const char *name,
                     ovl_limits *limits)
{
    finder f = {.work = work, .prepared = prepared};
    ovl_result *result = OVL_NEW(&work->arena, ovl_result);
    ovl_ask ask = {.worth = OVL_WORTH_NONE};
    *limits = (ovl_limits){.result = result, .name = name};
    if (!ovl_work_analyse(work, prepared, &ask, result, NULL) || !pull_all(&f, name)) {
        return false;
    }
    if (!name) {
        find_ceilings(&f);
    }
    if (work->lookout.stopped) {
        ovl_error(&work->errs, OVL_E_STOPPED, (ovl_mark){0},
                  "stopped after %" PRIu32 " simulations", f.simulations);
    }
    if (f.speedups.len > 1) {
        qsort(f.speedups.data, f.speedups.len, sizeof *f.speedups.data, most_gained);
    }
    limits->simulations = f.simulations;
    limits->n_speedups = f.speedups.len;
    limits->speedups = ovl_vec_freeze(&f.speedups, &work->arena);
    limits->n_ceilings = f.ceilings.len;
    limits->ceilings = ovl_vec_freeze(&f.ceilings, &work->arena);
    ovl_limits_slack(result, &work->arena, limits);
    ovl_limits_lost(result, &work->arena, limits);
    return !work->lookout.stopped;
}
