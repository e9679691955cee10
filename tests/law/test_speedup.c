/*
 * Virtual speed-up on random programs: for every operation of them it says what a full run says of
 * a program whose costs were changed by hand.
 */
#include "sim/alter.h"
#include "sim/controlled.h"
#include "sim/fold.h"
#include "sim/rerun.h"
#include "tests/support/check.h"
#include "tests/support/law.h"
#include "tests/support/random_program.h"

#define PROGRAMS 90

/* 10/11 of a time, in one multiplication: random times are short. */
static ovl_time shorter(ovl_time t)
{
    return (10 * t + 10) / 11;
}

/* Random programs have capacities of 1000 (HBM, port 0) and 150 (links). */
/* Costs and kinds as they are changed. */
typedef struct changes {
    ovl_cost *costs;
    OVL_VEC(ovl_cost_kind) kinds;
    OVL_VEC(ovl_demand) demands;
    OVL_VEC(ovl_cost) phases;
} changes;

/* A list of demands is shared by costs that are not changed. */
static uint32_t raised(changes *c, uint32_t first, uint32_t n)
{
    uint32_t copy = c->demands.len;
    for (uint32_t i = 0; i < n; i++) {
        ovl_demand demand = c->demands.data[first + i];
        uint64_t most = demand.port == OVL_PORT_HBM ? 1000 : 150;
        demand.rate = OVL_MIN(demand.rate * 11 / 10, most);
        ovl_vec_push(&c->demands, demand);
    }
    return copy;
}

/* What follows a phase, made anew as others may be followed by it, too. */
static ovl_id quicken_phases(changes *c, ovl_id then)
{
    ovl_cost phase[8];
    uint32_t n = 0;
    for (; then; then = phase[n++].then) {
        phase[n] = c->phases.data[then - 1];
    }
    for (; n > 0; n--) {
        ovl_cost *p = &phase[n - 1];
        ovl_cost_kind kind = c->kinds.data[p->kind];
        p->latency = shorter(p->latency);
        p->work = shorter(p->work);
        kind.first_demand = raised(c, kind.first_demand, kind.n_demands);
        p->kind = c->kinds.len;
        p->then = then;
        ovl_vec_push(&c->kinds, kind);
        ovl_vec_push(&c->phases, *p);
        then = c->phases.len;
    }
    return then;
}

static void quicken(changes *c, ovl_cost *cost, bool is_free)
{
    ovl_cost_kind kind = c->kinds.data[cost->kind];
    if (is_free) {
        kind = (ovl_cost_kind){.klass = OVL_NONE, .weight = 1, .engine = kind.engine};
        *cost = (ovl_cost){0};
    } else {
        cost->then = quicken_phases(c, cost->then);
        cost->latency = shorter(cost->latency);
        cost->work = shorter(cost->work);
        cost->compute = shorter(cost->compute);
        kind.first_demand = raised(c, kind.first_demand, kind.n_demands);
        kind.first_peer = raised(c, kind.first_peer, kind.n_peer);
    }
    cost->kind = c->kinds.len;
    ovl_vec_push(&c->kinds, kind);
}

/* The costs of a random program belong to one operation each (a collective's to all members), so
 * they can be changed in place. */
static void change(const ovl_program *p, ovl_id name, bool is_free, changes *changed)
{
    bool done[100000] = {0};
    for (uint32_t c = 0; c < p->n_codes; c++) {
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            const ovl_op *op = ovl_code_op(&p->codes[c], i);
            bool counts = op->kind != OVL_MARKER && op->kind != OVL_BATCH;
            if (p->codes[c].name[i] == name && counts && !done[op->cost]) {
                done[op->cost] = true;
                quicken(changed, &changed->costs[op->cost], is_free);
            }
        }
    }
}

static uint32_t count_demands(const ovl_program *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_cost_kinds; i++) {
        const ovl_cost_kind *kind = &p->cost_kinds[i];
        n = OVL_MAX(n,
                    OVL_MAX(kind->first_demand + kind->n_demands, kind->first_peer + kind->n_peer));
    }
    return n;
}

static changes copy_costs(const ovl_program *p, ovl_arena *arena)
{
    changes c = {.costs = OVL_NEW_ARRAY(arena, ovl_cost, p->n_costs)};
    memcpy(c.costs, p->costs, p->n_costs * sizeof *c.costs);
    for (uint32_t i = 0; i < p->n_cost_kinds; i++) {
        ovl_vec_push(&c.kinds, p->cost_kinds[i]);
    }
    for (uint32_t i = 0, n = count_demands(p); i < n; i++) {
        ovl_vec_push(&c.demands, p->demands[i]);
    }
    for (uint32_t i = 0; i < p->n_phases; i++) {
        ovl_vec_push(&c.phases, p->phases[i]);
    }
    return c;
}

static ovl_program with(const ovl_program *p, changes *c, ovl_arena *arena)
{
    ovl_program changed = *p;
    changed.costs = c->costs;
    changed.n_cost_kinds = c->kinds.len;
    changed.cost_kinds = ovl_vec_freeze(&c->kinds, arena);
    changed.demands = ovl_vec_freeze(&c->demands, arena);
    changed.n_phases = c->phases.len;
    changed.phases = ovl_vec_freeze(&c->phases, arena);
    return changed;
}

static ovl_time full_run(const ovl_program *p, ovl_id name, bool is_free, ovl_interference model)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_timeline timeline = {0};
    changes c = copy_costs(p, &arena);
    change(p, name, is_free, &c);
    ovl_program changed = with(p, &c, &arena);
    ovl_run_options options = {.interference = model};
    CHECK(ovl_run(&changed, &options, &arena, &timeline, &errs));
    ovl_arena_free(&arena);
    return timeline.step;
}

static ovl_time virtual_run(const ovl_program *p, const ovl_lever *lever, bool is_free,
                            ovl_interference model)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_time step = -1;
    ovl_faster how = {is_free ? 0 : 10, 11, false};
    ovl_program faster = ovl_program_faster(p, lever, &how, &arena);
    ovl_run_options options = {.interference = model};
    CHECK(ovl_simulate_step(&faster, &options, &step, &errs));
    ovl_arena_free(&arena);
    return step;
}

/* The same from a run that is there: only what follows from the change is worked out. -1 where that
 * would not be exact. */
static ovl_time partial_run(const ovl_program *p, const ovl_rerun *from, const ovl_lever *lever,
                            bool is_free, ovl_interference model, uint64_t *again)
{
    ovl_arena arena = {0};
    ovl_faster how = {is_free ? 0 : 10, 11, false};
    ovl_program whole = ovl_program_faster(p, lever, &how, &arena);
    ovl_program changed = ovl_program_faster(from->program, lever, &how, &arena);
    ovl_time step = -1;
    uint32_t n = 0;
    if (ovl_rerun_exact(p, model) && ovl_rerun_exact(&whole, model)) {
        step = ovl_rerun_step(from, &changed, &n);
    }
    *again += n;
    ovl_arena_free(&arena);
    return step;
}

static bool is_marker_or_batch(const ovl_op *op)
{
    return op->kind == OVL_MARKER || op->kind == OVL_BATCH;
}

static void every_operation(const ovl_program *p, ovl_interference model, uint32_t *n_changed)
{
    bool seen[10000] = {0};
    ovl_time now = full_run(p, OVL_NONE, false, model);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            const ovl_op *op = ovl_code_op(&p->codes[c], i);
            ovl_id name = p->codes[c].name[i];
            ovl_lever lever;
            if (is_marker_or_batch(op) || seen[name]) {
                continue;
            }
            seen[name] = true;
            CHECK(ovl_lever_of_name(p, OVL_NAME(p->names, name), &lever));
            for (int is_free = 0; is_free < 2; is_free++) {
                ovl_time step = virtual_run(p, &lever, is_free, model);
                CHECK_INT(step, full_run(p, lever.name, is_free, model));
                *n_changed += step != now;
            }
        }
    }
}

static void virtual_speed_up_agrees_with_a_full_run_for_every_operation(void)
{
    uint32_t n_changed = 0;
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        ovl_arena arena = {0};
        random_options options = {.seed = seed,
                                  .n_ranks = 2 + 2 * (seed % 3),
                                  .n_actions = 20 + seed % 60,
                                  .bare = true,
                                  .n_steps = seed % 4,
                                  .prefix = ""};
        ovl_program p = random_program(&options, &arena);
        every_operation(&p, (ovl_interference)(seed % 3), &n_changed);
        ovl_arena_free(&arena);
    }
    CHECK(n_changed > 100); /* the steps do depend on them */
}

/* Levers leave nothing out: when all of them are free, one after another, nothing takes time. */
static void all_levers_together_leave_nothing(void)
{
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        ovl_arena arena = {0};
        ovl_errs errs = {.arena = &arena};
        random_options options = {
            .seed = seed, .n_ranks = 4, .n_actions = 12, .bare = true, .prefix = ""};
        ovl_program p = random_program(&options, &arena);
        ovl_run_options run = {.interference = (ovl_interference)(seed % 3)};
        ovl_faster how = {0, 1, false};
        uint32_t n;
        ovl_time step = -1;
        const ovl_lever *levers = ovl_levers_find(&p, &arena, &n);
        for (uint32_t i = 0; i < n; i++) {
            p = ovl_program_faster(&p, &levers[i], &how, &arena);
        }
        CHECK(ovl_simulate_step(&p, &run, &step, &errs));
        CHECK_INT(step, 0);
        ovl_arena_free(&arena);
    }
}

/* --- Controlled runs --- */

static ovl_time sum(const ovl_controlled_run *run)
{
    ovl_time total = 0;
    for (int k = 0; k < OVL_TERM_COUNT; k++) {
        total += run->term[k];
    }
    return total;
}

static ovl_time altered_run(const ovl_program *p, ovl_alteration how, ovl_interference model)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_timeline timeline = {0};
    ovl_program altered = ovl_program_altered(p, &how, &arena);
    ovl_run_options options = {.interference = model};
    CHECK(ovl_run(&altered, &options, &arena, &timeline, &errs));
    ovl_arena_free(&arena);
    return timeline.step;
}

static void check_controlled(const ovl_program *p, const ovl_controlled *c, ovl_interference model)
{
    CHECK_INT(c->both.step, altered_run(p, (ovl_alteration){0}, model));
    CHECK_INT(c->compute.step,
              altered_run(p, (ovl_alteration){.free_comm = true, .free_copies = true}, model));
    CHECK_INT(c->comm.step, altered_run(p, (ovl_alteration){.free_kernels = true}, model));
    CHECK_INT(sum(&c->both), c->both.step);
    CHECK_INT(sum(&c->compute), c->compute.step);
    CHECK_INT(sum(&c->comm), c->comm.step);
    CHECK_INT(c->comm.term[OVL_COMPUTE] + c->comm.term[OVL_COMPUTE_STRETCH], 0);
    CHECK_INT(c->compute.term[OVL_COMM_LATENCY] + c->compute.term[OVL_COMM_TRANSFER] +
                  c->compute.term[OVL_COMM_STRETCH] + c->compute.term[OVL_COPYING],
              0);
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const ovl_controlled_row *row = &c->rows[i];
        if (model == OVL_INTERFERENCE_NONE && !row->communication) {
            CHECK_INT(row->both, row->isolated);
            CHECK_INT(row->alone, row->isolated);
        }
    }
}

static void controlled_runs_sum_to_their_steps(void)
{
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        ovl_arena arena = {0};
        ovl_errs errs = {.arena = &arena};
        random_options options = {.seed = seed,
                                  .n_ranks = 2 + 2 * (seed % 3),
                                  .n_actions = 20 + seed % 60,
                                  .bare = true,
                                  .n_steps = seed % 4,
                                  .prefix = ""};
        ovl_program p = random_program(&options, &arena);
        ovl_interference model = (ovl_interference)(seed / 4 % 3);
        ovl_run_options run = {.interference = model};
        ovl_controlled c;
        if (CHECK(ovl_controlled_find(&p, &run, &arena, &c, &errs))) {
            check_controlled(&p, &c, model);
        }
        ovl_arena_free(&arena);
    }
}

/* --- Partial runs --- */

typedef struct partly {
    uint32_t exact, not_exact, moved;
    uint64_t again, all; /* nodes worked out, and how many there were */
} partly;

static void every_operation_partly(const ovl_program *p, ovl_interference model, partly *sum)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_run_options options = {.interference = model};
    bool *seen = OVL_NEW_ARRAY(&arena, bool, 10000);
    ovl_fold fold;
    ovl_program chosen;
    ovl_rerun from;
    CHECK(ovl_fold_choose(p, false, &arena, &fold, &chosen, &errs));
    CHECK(ovl_rerun_begin(&from, &chosen, &options, &arena, &errs));
    for (uint32_t c = 0; c < p->n_codes; c++) {
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            const ovl_op *op = ovl_code_op(&p->codes[c], i);
            ovl_id name = p->codes[c].name[i];
            ovl_lever lever;
            if (is_marker_or_batch(op) || seen[name]) {
                continue;
            }
            seen[name] = true;
            CHECK(ovl_lever_of_name(p, OVL_NAME(p->names, name), &lever));
            for (int is_free = 0; is_free < 2; is_free++) {
                ovl_time step = partial_run(p, &from, &lever, is_free, model, &sum->again);
                if (step < 0) {
                    sum->not_exact++;
                    continue;
                }
                sum->exact++;
                sum->all += from.timeline.n_trail;
                sum->moved += step != from.timeline.step;
                CHECK_INT(step, virtual_run(p, &lever, is_free, model));
            }
        }
    }
    ovl_causes_free(&from.causes);
    ovl_arena_free(&arena);
}

/* Copies never queue, messages load nothing, and everything else a part of what it did: of a
 * hundredth most of these programs cannot slow anything, of all of it most can. Costs belong to one
 * operation each. */
static ovl_program tame(const ovl_program *p, uint64_t part, ovl_arena *arena)
{
    changes c = copy_costs(p, arena);
    for (uint32_t i = 0; i < c.kinds.len; i++) {
        ovl_cost_kind *kind = &c.kinds.data[i];
        kind->n_demands = kind->n_peer ? 0 : kind->n_demands;
        kind->n_peer = 0;
    }
    for (uint32_t i = 0; i < c.demands.len; i++) {
        c.demands.data[i].rate = c.demands.data[i].rate / part + 1;
    }
    ovl_program calm = with(p, &c, arena);
    calm.sms = calm.copy_engines[0] = calm.copy_engines[1] = 0;
    return calm;
}

/* Of random programs where nobody slows anybody, and of those that share so little that nobody can
 * be slowed. What is not exact is not asked: their figures are those of full runs. */
static void where_nothing_is_slowed_a_partial_run_agrees(void)
{
    partly none = {0}, shared = {0};
    for (uint64_t seed = law_seed(); seed < law_seed() + 2 * PROGRAMS; seed++) {
        ovl_arena arena = {0};
        random_options options = {.seed = seed,
                                  .n_ranks = 2 + 2 * (seed % 3),
                                  .n_actions = seed % 2 ? 3 + seed % 5 : 20 + seed % 60,
                                  .bare = true,
                                  .n_steps = seed % 4,
                                  .prefix = ""};
        ovl_program p = random_program(&options, &arena);
        ovl_program calm = tame(&p, 100, &arena), livelier = tame(&p, 1, &arena);
        every_operation_partly(&p, OVL_INTERFERENCE_NONE, &none);
        every_operation_partly(&calm, OVL_INTERFERENCE_NONE, &none);
        every_operation_partly(&p, OVL_INTERFERENCE_SHARED, &shared);
        every_operation_partly(&calm, OVL_INTERFERENCE_SHARED, &shared);
        every_operation_partly(&livelier, OVL_INTERFERENCE_SHARED, &shared);
        ovl_arena_free(&arena);
    }
    CHECK(none.exact > 1000 && none.moved > 100);
    CHECK(none.again < none.all / 2); /* that is the point of it */
    CHECK(shared.not_exact > 100);
    CHECK(shared.exact > 1000 && shared.moved > 100);
}

static CU_TestInfo tests[] = {
    {"virtual speed-up agrees with a full run for every operation",
     virtual_speed_up_agrees_with_a_full_run_for_every_operation},
    {"where nothing is slowed a partial run agrees", where_nothing_is_slowed_a_partial_run_agrees},
    {"all levers together leave nothing", all_levers_together_leave_nothing},
    {"controlled runs sum to their steps", controlled_runs_sum_to_their_steps},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("virtual speed-up", tests);
}
