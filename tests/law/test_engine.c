/*
 * Laws of the engine, on random programs: nothing starts before it may, no resource gives more than
 * it has, work is done exactly once, and what has nothing to do with each other does not matter to
 * each other.
 */
#include "sim/engine.h"
#include "tests/support/check.h"
#include "tests/support/law.h"
#include "tests/support/random_program.h"

#include <math.h>

#define PROGRAMS 300

typedef struct lab {
    ovl_arena arena;
    ovl_errs errs;
    ovl_program p;
    ovl_timeline t;
    bool good;
} lab;

static lab run(const random_options *options, ovl_interference model)
{
    lab l = {0};
    l.p = random_program(options, &l.arena);
    l.errs.arena = &l.arena;
    ovl_run_options how = {.interference = model, .segments = true};
    l.good = ovl_run(&l.p, &how, &l.arena, &l.t, &l.errs);
    if (!l.good) {
        fprintf(stderr, "seed %" PRIu64 ": %s\n", options->seed, l.errs.items[0].text);
    }
    return l;
}

static random_options drawn(uint64_t seed)
{
    return (random_options){
        .seed = seed, .n_ranks = 2 + 2 * (seed % 4), .n_actions = 20 + seed % 200, .prefix = ""};
}

static void over_random_programs(void (*law)(const lab *))
{
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        random_options options = drawn(seed);
        lab l = run(&options, (ovl_interference)(seed % 3));
        if (CHECK(l.good)) {
            law(&l);
        }
        ovl_arena_free(&l.arena);
    }
}

/* --- Nothing starts before it may, and nothing waits without a reason --- */

static ovl_time ready_at(const lab *l, const ovl_rank *r, uint32_t i)
{
    const ovl_code *c = &l->p.codes[r->code];
    const ovl_time *end = l->t.end + r->first_op;
    if (ovl_code_batch(c, i) != OVL_NONE) {
        return l->t.start[r->first_op + ovl_code_batch(c, i)];
    }
    ovl_time ready = l->t.issue[r->first_op + i];
    ready = ovl_code_stream_prev(c, i) != OVL_NONE ? OVL_MAX(ready, end[ovl_code_stream_prev(c, i)])
                                                   : ready;
    ready = ovl_code_comm_prev(c, i) != OVL_NONE ? OVL_MAX(ready, end[ovl_code_comm_prev(c, i)])
                                                 : ready;
    ovl_offsets after = ovl_code_after(c, i);
    for (uint32_t k = 0; k < after.n; k++) {
        ready = OVL_MAX(ready, end[i + after.by[k]]);
    }
    if (c->queued && ovl_code_queue_prev(c, i) != OVL_NONE) {
        ready = OVL_MAX(ready, l->t.arrive[r->first_op + ovl_code_queue_prev(c, i)]);
    }
    return ready;
}

static void arrives_when_ready(const lab *l)
{
    int wrong = 0;
    for (uint32_t rank = 0; rank < l->p.n_ranks; rank++) {
        const ovl_rank *r = &l->p.ranks[rank];
        for (uint32_t i = 0; i < l->p.codes[r->code].n_ops; i++) {
            uint32_t op = r->first_op + i;
            wrong += l->t.arrive[op] != ready_at(l, r, i);
            wrong += l->t.start[op] < l->t.arrive[op] || l->t.end[op] < l->t.start[op];
        }
    }
    CHECK_INT(wrong, 0);
}

static void every_operation_arrives_exactly_when_its_conditions_hold(void)
{
    over_random_programs(arrives_when_ready);
}

/* --- Members agree --- */

static void members_agree(const lab *l)
{
    int wrong = 0;
    for (uint32_t c = 0; c < l->p.n_comms; c++) {
        const ovl_comm *comm = &l->p.comms[c];
        for (uint32_t k = 0; k < comm->n_collectives; k++) {
            ovl_time last = 0;
            uint32_t first = ovl_collective_op(&l->p, comm, 0, k);
            for (uint32_t m = 0; m < comm->n_members; m++) {
                uint32_t op = ovl_collective_op(&l->p, comm, m, k);
                last = OVL_MAX(last, l->t.arrive[op]);
                wrong += l->t.end[op] != l->t.end[first] || l->t.start[op] != l->t.start[first];
            }
            wrong += l->t.start[first] != last;
        }
    }
    CHECK_INT(wrong, 0);
}

static void collectives_start_with_the_last_member_and_end_together(void)
{
    over_random_programs(members_agree);
}

/* --- Work is done exactly once --- */

/* Each segment's progress is rate x time; all of them together are the work, but for the part of a
 * picosecond by which an end is rounded up. */
static void work_done(const lab *l)
{
    int wrong = 0;
    for (uint32_t i = 0; i < l->t.n_segments;) {
        uint32_t op = l->t.segments[i].op;
        double done = 0, rate = 0;
        for (; i < l->t.n_segments && l->t.segments[i].op == op; i++) {
            rate = l->t.segments[i].rate;
            done += rate * (double)(l->t.segments[i].to - l->t.segments[i].from);
        }
        const ovl_cost *cost = ovl_op_cost(&l->p, ovl_op_rank(&l->p, op), ovl_op_of(&l->p, op));
        double work = (double)ovl_cost_work(&l->p, cost), n = ovl_count_phases(&l->p, cost);
        wrong += done < work - 0.26 * n || done > work + (n > 1 ? n : rate) + 0.01;
    }
    CHECK_INT(wrong, 0);
}

static void work_is_conserved(void)
{
    over_random_programs(work_done);
}

/* --- What is lost is lost to what bounded it --- */

/* The member that carries the limits: of a collective the first, of a message the sender. */
static bool carries(const ovl_program *p, uint32_t op)
{
    uint32_t rank = ovl_op_rank(p, op);
    const ovl_op *o = ovl_op_of(p, op);
    return o->kind == OVL_KERNEL || (o->kind == OVL_SEND && !o->eager) ||
           (o->kind == OVL_COLLECTIVE && ovl_rank_place(p, rank, o->comm) == 0);
}

/* 33 us at 0.9 of its speed for 1.111112 us, then alone: 33.111112 us, of which 0.111112 are lost.
 * Every operation took its latency, its work and what it lost, to the picosecond. */
static void loss_adds_up(const lab *l)
{
    ovl_arena scratch = {0};
    ovl_time *lost = OVL_NEW_ARRAY(&scratch, ovl_time, l->p.n_ops);
    for (uint32_t i = 0; i < l->t.n_limits; i++) {
        lost[l->t.limits[i].op] += l->t.limits[i].lost;
    }
    for (uint32_t op = 0; op < l->p.n_ops; op++) {
        if (carries(&l->p, op)) {
            const ovl_cost *cost = ovl_op_cost(&l->p, ovl_op_rank(&l->p, op), ovl_op_of(&l->p, op));
            CHECK_INT(l->t.end[op] - l->t.start[op], ovl_cost_time(&l->p, cost) + lost[op]);
        }
    }
    ovl_arena_free(&scratch);
}

static void what_is_lost_is_lost_to_what_bounded_it(void)
{
    over_random_programs(loss_adds_up);
}

/* --- No resource gives more than it has --- */

typedef struct change {
    ovl_time at;
    uint32_t resource;
    double use;
} change;

static int by_time(const void *a, const void *b)
{
    const change *x = a, *y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return (x->use > y->use) - (x->use < y->use);
}

typedef OVL_VEC(change) changes;

static void add_use(const lab *l, changes *list, const ovl_segment *s, uint32_t rank,
                    uint32_t first, uint32_t n, bool *seen)
{
    for (uint32_t i = first; i < first + n; i++) {
        uint32_t resource = l->p.rank_ports[l->p.ranks[rank].first_port + l->p.demands[i].port];
        if (l->p.demands[i].once && seen[resource]) {
            continue;
        }
        seen[resource] = true;
        double use = s->rate * (double)l->p.demands[i].rate;
        ovl_vec_push(list, (change){s->from, resource, use});
        ovl_vec_push(list, (change){s->to, resource, -use});
    }
}

/* Of the phase that a segment is in. */
static const ovl_cost_kind *kind_of(const lab *l, const ovl_segment *s)
{
    const ovl_timeline *t = &l->t;
    const ovl_cost *cost = ovl_op_cost(&l->p, ovl_op_rank(&l->p, s->op), ovl_op_of(&l->p, s->op));
    ovl_phase_walk w = ovl_phases_begin(t, s->op, cost, t->start[s->op], t->end[s->op]);
    ovl_phases_reach(&l->p, t, t->end[s->op], s->from, &w);
    return ovl_kind_of(&l->p, w.phase);
}

static void add_segment(const lab *l, changes *list, const ovl_segment *s)
{
    uint32_t rank = ovl_op_rank(&l->p, s->op);
    const ovl_op *op = ovl_op_of(&l->p, s->op);
    const ovl_cost_kind *cost = kind_of(l, s);
    bool seen[128] = {false};
    if (op->kind != OVL_COLLECTIVE) {
        add_use(l, list, s, rank, cost->first_demand, cost->n_demands, seen);
        if (op->kind == OVL_SEND) {
            add_use(l, list, s, ovl_op_rank(&l->p, l->p.partner[s->op]), cost->first_peer,
                    cost->n_peer, seen);
        }
        return;
    }
    const ovl_comm *comm = ovl_rank_comm(&l->p, rank, op->comm);
    for (uint32_t m = 0; m < comm->n_members; m++) {
        add_use(l, list, s, l->p.members[comm->first_member + m], cost->first_demand,
                cost->n_demands, seen);
    }
}

static void within_capacity(const lab *l)
{
    changes list = {0};
    double used[128] = {0};
    int wrong = 0;
    for (uint32_t i = 0; i < l->t.n_segments; i++) {
        add_segment(l, &list, &l->t.segments[i]);
    }
    if (list.len) {
        qsort(list.data, list.len, sizeof *list.data, by_time);
    }
    for (uint32_t i = 0; i < list.len; i++) {
        used[list.data[i].resource] += list.data[i].use;
        double limit = (double)l->p.resources[list.data[i].resource].capacity;
        wrong += used[list.data[i].resource] > limit * (1 + 1e-9);
    }
    CHECK_INT(wrong, 0);
    ovl_vec_free(&list);
}

static void no_resource_gives_more_than_it_has(void)
{
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        random_options options = drawn(seed);
        lab l = run(&options, OVL_INTERFERENCE_SHARED);
        within_capacity(&l);
        ovl_arena_free(&l.arena);
    }
}

/* --- Nobody is slower than it must be --- */

/* What an activity takes of each resource. */
typedef struct load {
    double use[128];
} load;

static load load_of(const lab *l, const ovl_segment *s)
{
    changes list = {0};
    load sum = {{0}};
    add_segment(l, &list, s);
    for (uint32_t i = 0; i < list.len; i += 2) {
        sum.use[list.data[i].resource] += list.data[i].use;
    }
    ovl_vec_free(&list);
    return sum;
}

/* Has it a full resource on which no other that runs at `t` has a larger rate / weight? */
static bool has_bottleneck(const lab *l, const load *loads, const ovl_segment *s)
{
    double used[128] = {0};
    bool beaten[128] = {false};
    const load *own = &loads[s - l->t.segments];
    double level = s->rate / kind_of(l, s)->weight;
    for (uint32_t i = 0; i < l->t.n_segments; i++) {
        const ovl_segment *other = &l->t.segments[i];
        if (other->from > s->from || other->to <= s->from) {
            continue;
        }
        bool larger = other->rate / kind_of(l, other)->weight > level * (1 + 1e-9);
        for (uint32_t r = 0; r < l->p.n_resources; r++) {
            used[r] += loads[i].use[r];
            beaten[r] |= larger && loads[i].use[r] > 0;
        }
    }
    for (uint32_t r = 0; r < l->p.n_resources; r++) {
        double capacity = (double)l->p.resources[r].capacity;
        if (own->use[r] > 0 && !beaten[r] && used[r] >= capacity * (1 - 1e-9)) {
            return true;
        }
    }
    return false;
}

/* SMs may hold kernels that ask for them back; those are left out. */
static void efficient(const lab *l)
{
    int wrong = 0;
    load *loads = malloc((l->t.n_segments + 1) * sizeof *loads);
    for (uint32_t i = 0; i < l->t.n_segments; i++) {
        loads[i] = load_of(l, &l->t.segments[i]);
    }
    for (uint32_t i = 0; i < l->t.n_segments; i++) {
        const ovl_segment *s = &l->t.segments[i];
        const ovl_cost_kind *cost = kind_of(l, s);
        bool kernel = ovl_op_of(&l->p, s->op)->kind == OVL_KERNEL;
        if (s->rate < 1 && !(kernel && (cost->sms || cost->blocks))) {
            wrong += !has_bottleneck(l, loads, s);
        }
    }
    free(loads);
    CHECK_INT(wrong, 0);
}

static void nobody_is_slower_than_it_must_be(void)
{
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS / 3; seed++) {
        random_options options = drawn(seed);
        lab l = run(&options, OVL_INTERFERENCE_SHARED);
        efficient(&l);
        ovl_arena_free(&l.arena);
    }
}

/* --- The decomposition --- */

static void terms_sum(const lab *l)
{
    int wrong = 0;
    for (uint32_t r = 0; r < l->p.n_ranks; r++) {
        ovl_time sum = 0;
        for (int k = 0; k < OVL_TERM_COUNT; k++) {
            sum += l->t.ranks[r].term[k];
            wrong += l->t.ranks[r].term[k] < 0;
        }
        wrong += sum != l->t.step;
    }
    CHECK_INT(wrong, 0);
}

static void the_decomposition_of_every_rank_sums_to_the_step(void)
{
    over_random_programs(terms_sum);
}

/* --- Contention --- */

static void removing_contention_never_lengthens_independent_work(void)
{
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        random_options options = drawn(seed);
        options.independent = true;
        lab none = run(&options, OVL_INTERFERENCE_NONE),
            shared = run(&options, OVL_INTERFERENCE_SHARED);
        int wrong = 0;
        for (uint32_t op = 0; op < none.p.n_ops; op++) {
            wrong += none.t.end[op] > shared.t.end[op];
        }
        CHECK_INT(wrong, 0);
        ovl_arena_free(&none.arena);
        ovl_arena_free(&shared.arena);
    }
}

/* --- Names and order of what is unrelated --- */

static int differences(const lab *a, const lab *b, const uint32_t *order)
{
    int n = 0;
    for (uint32_t r = 0; r < a->p.n_ranks; r++) {
        const ovl_rank *x = &a->p.ranks[r], *y = &b->p.ranks[order[r]];
        for (uint32_t i = 0; i < a->p.codes[x->code].n_ops; i++) {
            uint32_t p = x->first_op + i, q = y->first_op + i;
            n += a->t.arrive[p] != b->t.arrive[q] || a->t.start[p] != b->t.start[q] ||
                 a->t.end[p] != b->t.end[q];
        }
    }
    return n;
}

/* Whole pairs change places; a pair is related to no other. */
static void order_and_names_of_unrelated_ranks_do_not_matter(void)
{
    static const uint32_t order[] = {4, 5, 0, 1, 6, 7, 2, 3};
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        random_options options = {
            .seed = seed, .n_ranks = 8, .n_actions = 120, .islands = true, .prefix = ""};
        lab a = run(&options, (ovl_interference)(seed % 3));
        options.order = order;
        options.prefix = "renamed ";
        lab b = run(&options, (ovl_interference)(seed % 3));
        CHECK_INT(differences(&a, &b, order), 0);
        ovl_arena_free(&a.arena);
        ovl_arena_free(&b.arena);
    }
}

/* --- Keeping segments changes nothing --- */

static void looking_does_not_change_what_is_seen(void)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        random_options options = drawn(seed);
        lab l = run(&options, OVL_INTERFERENCE_SHARED);
        ovl_timeline again;
        ovl_run_options how = {.interference = OVL_INTERFERENCE_SHARED};
        CHECK(ovl_run(&l.p, &how, &l.arena, &again, &l.errs));
        CHECK(memcmp(again.end, l.t.end, l.p.n_ops * sizeof *again.end) == 0);
        ovl_arena_free(&l.arena);
    }
}

/* --- Keeping only the step does not change it --- */

static void the_step_is_the_same_without_the_rest(void)
{
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        random_options options = drawn(seed);
        lab l = run(&options, (ovl_interference)(seed % 3));
        ovl_timeline again;
        ovl_run_options how = {.interference = (ovl_interference)(seed % 3), .step_only = true};
        CHECK(ovl_run(&l.p, &how, &l.arena, &again, &l.errs));
        for (uint32_t r = 0; r < l.p.n_ranks; r++) {
            CHECK_INT(again.ranks[r].end, l.t.ranks[r].end);
            CHECK_INT(again.ranks[r].term[OVL_COMPUTE] + again.ranks[r].term[OVL_IDLE], 0);
        }
        CHECK_INT(again.step, l.t.step);
        CHECK_INT(again.begin, l.t.begin);
        CHECK_INT(again.finish, l.t.finish);
        CHECK_INT(again.deciding_rank, l.t.deciding_rank);
        CHECK_INT(again.counters.events, l.t.counters.events);
        CHECK_INT(again.counters.solves, l.t.counters.solves);
        CHECK(!again.end && !again.trail && !again.limits);
        ovl_arena_free(&l.arena);
    }
}

static CU_TestInfo tests[] = {
    {"every operation arrives exactly when its conditions hold",
     every_operation_arrives_exactly_when_its_conditions_hold},
    {"collectives start with the last member and end together",
     collectives_start_with_the_last_member_and_end_together},
    {"work is conserved", work_is_conserved},
    {"what is lost is lost to what bounded it", what_is_lost_is_lost_to_what_bounded_it},
    {"no resource gives more than it has", no_resource_gives_more_than_it_has},
    {"nobody is slower than it must be", nobody_is_slower_than_it_must_be},
    {"the decomposition of every rank sums to the step",
     the_decomposition_of_every_rank_sums_to_the_step},
    {"removing contention never lengthens independent work",
     removing_contention_never_lengthens_independent_work},
    {"order and names of unrelated ranks do not matter",
     order_and_names_of_unrelated_ranks_do_not_matter},
    {"looking does not change what is seen", looking_does_not_change_what_is_seen},
    {"the step is the same without the rest", the_step_is_the_same_without_the_rest},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("laws of the engine", tests);
}
