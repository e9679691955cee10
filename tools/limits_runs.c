#include "tools/limits_runs.h"

#include "sim/fold.h"
#include "sim/rerun.h"
#include "tools/pool.h"
#include "tools/progress.h"

#include <string.h>

typedef struct crew {
    const ovl_prepared *prepared;
    ovl_limit_run *runs;
    uint64_t memory; /* bytes a run may take */
    bool partial;    /* `base` is there: changes of operations can be worked out from it */
    ovl_rerun base;
    ovl_program chosen; /* what `base` ran: folded, or the program itself */
    ovl_progress progress;
    uint32_t done;
} crew;

static ovl_interference model_of(const crew *c)
{
    return (ovl_interference)c->prepared->scenario.interference;
}

static const ovl_program *program_of(const crew *c)
{
    return &c->prepared->lowered.program;
}

/* OVL_NEVER if it cannot be simulated. */
static ovl_time step_of(const crew *c, const ovl_program *program, ovl_interference model)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_run_options options = {.interference = model, .memory = c->memory};
    ovl_time step = OVL_NEVER;
    if (!ovl_simulate_step(program, &options, &step, &errs)) {
        step = OVL_NEVER;
    }
    ovl_arena_free(&arena);
    return step;
}

/* --- Operations --- */

static void pull(const crew *c, ovl_limit_run *run)
{
    ovl_arena arena = {0};
    ovl_faster how = run->how;
    how.fair = c->prepared->scenario.sharing == OVL_SHARING_FAIR;
    ovl_program p = ovl_program_faster(program_of(c), &run->lever, &how, &arena);
    run->partly = c->partial && ovl_rerun_exact(&p, model_of(c));
    if (run->partly) {
        ovl_program changed = ovl_program_faster(&c->chosen, &run->lever, &how, &arena);
        run->step = ovl_rerun_step(&c->base, &changed, NULL);
    } else {
        run->step = step_of(c, &p, model_of(c));
    }
    ovl_arena_free(&arena);
}

/* --- Links and HBM --- */

/* Ports first .. first + n - 1 of the program. */
typedef struct ports {
    uint16_t first, n;
} ports;

/* Those of a mesh are the ports of its wires, which lie behind all links (wires.h). */
static ports ports_of(const ovl_hw *hw, uint32_t link)
{
    if (link == OVL_NONE) {
        return (ports){OVL_PORT_HBM, 1};
    }
    if (hw->links[link].topology != OVL_TOPOLOGY_MESH) {
        return (ports){(uint16_t)(1 + 2 * link), 2};
    }
    int64_t first = hw->n_links;
    for (uint32_t i = 0; i < link; i++) {
        bool mesh = hw->links[i].topology == OVL_TOPOLOGY_MESH;
        first += mesh ? hw->links[i].mesh - 1 : 0;
    }
    return (ports){(uint16_t)(1 + 2 * first), (uint16_t)(2 * (hw->links[link].mesh - 1))};
}

static bool wants(const ovl_program *p, uint32_t first, uint32_t n, ports of)
{
    for (uint32_t i = first; i < first + n; i++) {
        if (p->demands[i].port >= of.first && p->demands[i].port < of.first + of.n) {
            return true;
        }
    }
    return false;
}

static bool uses(const ovl_program *p, const ovl_cost_kind *c, ports of)
{
    return wants(p, c->first_demand, c->n_demands, of) || wants(p, c->first_peer, c->n_peer, of);
}

/* In any of its phases. */
static bool cost_uses(const ovl_program *p, const ovl_cost *cost, ports of)
{
    while (cost && !uses(p, ovl_kind_of(p, cost), of)) {
        cost = ovl_next_phase(p, cost);
    }
    return cost != NULL;
}

bool ovl_limits_used(const ovl_program *p, const ovl_hw *hw, uint32_t link)
{
    for (uint32_t i = 0; i < p->n_cost_kinds; i++) {
        if (uses(p, &p->cost_kinds[i], ports_of(hw, link))) {
            return true;
        }
    }
    return false;
}

static void compare_codes(const ovl_program *a, const ovl_program *b, uint32_t code, ports of,
                          bool *seen, ovl_limit_users *u)
{
    for (uint32_t i = 0; i < a->codes[code].n_ops; i++) {
        uint32_t x = ovl_code_op(&a->codes[code], i)->cost;
        if (seen[x] || !cost_uses(a, &a->costs[x], of)) {
            continue;
        }
        seen[x] = true;
        const ovl_cost *y = &b->costs[ovl_code_op(&b->codes[code], i)->cost];
        u->n++;
        u->n_following += ovl_cost_work(a, &a->costs[x]) != ovl_cost_work(b, y) ||
                          ovl_cost_latency(a, &a->costs[x]) != ovl_cost_latency(b, y);
    }
}

/* Program `b` is `a` lowered again; a schedule that goes by costs may have come out otherwise. */
static ovl_limit_users compare_costs(const ovl_program *a, const ovl_program *b, ports of)
{
    ovl_arena arena = {0};
    ovl_limit_users u = {.comparable = a->n_codes == b->n_codes};
    bool *seen = OVL_NEW_ARRAY(&arena, bool, a->n_costs);
    for (uint32_t c = 0; c < a->n_codes && u.comparable; c++) {
        u.comparable = a->codes[c].n_ops == b->codes[c].n_ops;
        if (u.comparable) {
            compare_codes(a, b, c, of, seen, &u);
        }
    }
    ovl_arena_free(&arena);
    return u;
}

static void widen_rate(uint64_t *rate, const ovl_limit_run *run)
{
    uint64_t whole = *rate / run->den;
    bool fits = whole < UINT64_MAX / 16 / run->num;
    *rate = fits ? whole * run->num + *rate % run->den * run->num / run->den
                 : OVL_MAX(*rate, UINT64_MAX / 16);
}

static ovl_hw_link *own_links(const ovl_hw_link *links, uint32_t n, ovl_arena *arena)
{
    ovl_hw_link *own = OVL_NEW_ARRAY(arena, ovl_hw_link, n);
    if (n) {
        memcpy(own, links, n * sizeof *own);
    }
    return own;
}

/* Link number `link`, or HBM (OVL_NONE), with num / den of its bandwidth, on all nodes. */
static void set_bandwidth(ovl_scenario *s, const ovl_limit_run *run, ovl_arena *arena)
{
    ovl_hw *hw = &s->hw;
    ovl_hw_nodes *others = OVL_NEW_ARRAY(arena, ovl_hw_nodes, hw->n_others);
    hw->links = own_links(hw->links, hw->n_links, arena);
    widen_rate(run->link == OVL_NONE ? &hw->gpu.hbm : &hw->links[run->link].bandwidth, run);
    for (uint32_t i = 0; i < hw->n_others; i++) {
        ovl_hw_nodes *n = &others[i];
        *n = hw->others[i];
        n->links = own_links(n->links, hw->n_links, arena);
        widen_rate(run->link == OVL_NONE ? &n->gpu.hbm : &n->links[run->link].bandwidth, run);
    }
    hw->others = others;
}

static void widen(const crew *c, ovl_limit_run *run)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_scenario scenario = c->prepared->scenario;
    ovl_lowered lowered;
    run->users.comparable = true;
    set_bandwidth(&scenario, run, &arena);
    if (ovl_lower(&scenario, &arena, &lowered, &errs)) {
        run->users = compare_costs(program_of(c), &lowered.program,
                                   ports_of(&c->prepared->scenario.hw, run->link));
        run->step = step_of(c, &lowered.program, model_of(c));
    }
    ovl_arena_free(&arena);
}

/* --- Other costs --- */

static ovl_time altered_step(const crew *c, const ovl_limit_run *run, ovl_alteration how)
{
    static const ovl_lever host = {OVL_LEVER_HOST, OVL_NONE, OVL_NONE, OVL_NONE, 0, 0};
    static const ovl_faster no_time = {0, 1, false};
    ovl_arena arena = {0};
    ovl_program p = ovl_program_altered(program_of(c), &how, &arena);
    if (run->free_host) {
        p = ovl_program_faster(&p, &host, &no_time, &arena);
    }
    ovl_time step = step_of(c, &p, run->no_interference ? OVL_INTERFERENCE_NONE : model_of(c));
    ovl_arena_free(&arena);
    return step;
}

/* A step that cannot be run is longer than any. */
static void alter(const crew *c, ovl_limit_run *run)
{
    ovl_alteration how = run->alteration;
    run->step = altered_step(c, run, how);
    if (ovl_alteration_orders(program_of(c), &how)) {
        how.own_order = true;
        run->step = OVL_MIN(run->step, altered_step(c, run, how));
    }
}

/* --- All of them --- */

static void simulate(void *context, uint32_t thread, uint32_t piece)
{
    static void (*const kinds[])(const crew *, ovl_limit_run *) = {
        [OVL_LIMIT_PULLED] = pull, [OVL_LIMIT_WIDENED] = widen, [OVL_LIMIT_ALTERED] = alter};
    crew *c = context;
    (void)thread;
    kinds[c->runs[piece].kind](c, &c->runs[piece]);
}

static void done(void *context, uint32_t piece)
{
    (void)piece;
    ((crew *)context)->done++;
}

static void tick(void *context)
{
    crew *c = context;
    ovl_progress_at(&c->progress, c->done);
}

/* The run that partial ones begin from, if there can be any. */
static void begin_base(crew *c, ovl_arena *arena)
{
    ovl_arena texts = {0};
    ovl_errs errs = {.arena = &texts};
    ovl_fold *fold = OVL_NEW(arena, ovl_fold);
    ovl_run_options options = {.interference = model_of(c), .memory = c->memory};
    c->partial = ovl_rerun_exact(program_of(c), model_of(c)) &&
                 ovl_fold_choose(program_of(c), false, arena, fold, &c->chosen, &errs) &&
                 ovl_rerun_begin(&c->base, &c->chosen, &options, arena, &errs);
    ovl_arena_free(&texts);
}

bool ovl_limits_simulate(ovl_work *work, const ovl_prepared *prepared, ovl_limit_run *runs,
                         uint32_t n, uint32_t threads)
{
    ovl_arena arena = {0};
    threads = threads ? threads : ovl_pool_cores();
    crew c = {.prepared = prepared, .runs = runs, .memory = ovl_lookout_memory() / threads};
    begin_base(&c, &arena);
    for (uint32_t i = 0; i < n; i++) {
        runs[i].step = OVL_NEVER;
    }
    ovl_pool pool = {
        .threads = threads, .n = n, .context = &c, .work = simulate, .done = done, .tick = tick};
    ovl_progress_begin(&c.progress, work->shell->err, "simulations", n);
    ovl_pool_end end = n ? ovl_pool_run(&pool) : (ovl_pool_end){0};
    ovl_progress_end(&c.progress);
    if (end.signal) {
        ovl_error(&work->errs, OVL_E_STOPPED, (ovl_mark){0},
                  "stopped after %" PRIu32 " of %" PRIu32 " simulations", end.done, n);
    }
    if (c.partial) {
        ovl_causes_free(&c.base.causes);
    }
    ovl_arena_free(&arena);
    return !end.signal;
}
