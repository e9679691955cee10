/* Replays, and what is found by going back from where a rank waits. */
#include "sim/waits.h"
#include "tests/support/check.h"
#include "tests/support/random_program.h"
#include "tests/support/tiny.h"

#define MS OVL_MS

typedef struct look {
    ovl_causes causes;
    const ovl_inputs *inputs;
    ovl_means means;
    ovl_waits waits;
    ovl_waited w;
} look;

static void look_at(look *l, const ovl_program *p, const ovl_timeline *t, ovl_arena *arena)
{
    ovl_causes_init(&l->causes, p, t, arena);
    l->inputs = ovl_inputs_find(p, arena);
    ovl_means_find(p, arena, &l->means);
    ovl_waits_init(&l->waits, &l->causes, l->inputs, arena);
}

static void run(tiny *t, look *l)
{
    CHECK(tiny_run(t, OVL_INTERFERENCE_NONE));
    look_at(l, &t->program, &t->timeline, &t->arena);
}

static void leave(look *l)
{
    ovl_waits_free(&l->waits);
    ovl_causes_free(&l->causes);
}

static void end(tiny *t, look *l)
{
    leave(l);
    tiny_free(t);
}

static uint32_t on_rank(const tiny *t, uint32_t rank, uint32_t local)
{
    return t->program.ranks[rank].first_op + local;
}

static void check_times(const look *l, int compute, int dependency, int schedule, int host)
{
    CHECK_INT(l->w.time[OVL_WAIT_COMPUTE], compute * MS);
    CHECK_INT(l->w.time[OVL_WAIT_DEPENDENCY], dependency * MS);
    CHECK_INT(l->w.time[OVL_WAIT_SCHEDULE], schedule * MS);
    CHECK_INT(l->w.time[OVL_WAIT_HOST], host * MS);
}

/* --- Going back --- */

/* Rank 0: kernel [0, 15], then its send; rank 1 receives 2 later and starts at 17. It ran nothing
 * since 10: 5 of the kernel and 2 of the transfer. Since 16: 1 of the transfer. */
static void a_transfer_and_the_kernel_before_it(void)
{
    tiny t;
    look l;
    tiny_init(&t, 2);
    uint32_t made = tiny_kernel(&t, "compute", "made", 15 * MS);
    uint32_t sent = tiny_send(&t, "comm", "sent", 1, 2 * MS, true);
    tiny_after(&t, made);
    ovl_id other = tiny_code(&t);
    uint32_t got = tiny_recv(&t, "comm", "got", 0, 2 * MS, true);
    uint32_t used = tiny_kernel(&t, "compute", "used", 3 * MS);
    tiny_after(&t, got);
    tiny_use(&t, 1, other);
    run(&t, &l);
    ovl_waits_before(&l.waits, on_rank(&t, 1, used), 10 * MS, &l.w);
    check_times(&l, 5, 2, 0, 0);
    CHECK_INT(l.w.by[OVL_WAIT_DEPENDENCY], sent);
    CHECK_INT(l.w.by[OVL_WAIT_COMPUTE], OVL_NONE); /* no kernel is named */
    ovl_waits_before(&l.waits, on_rank(&t, 1, used), 16 * MS, &l.w);
    check_times(&l, 0, 1, 0, 0);
    ovl_waits_until(&l.waits, on_rank(&t, 1, used), 0, &l.w);
    check_times(&l, 18, 2, 0, 0);
    end(&t, &l);
}

/* The send of the second kernel, made at 2, stands behind a receive of the same communicator that
 * ends at 8: rank 1 waited from 3 to 8 for that receive. */
static void a_receive_that_blocks_a_send(void)
{
    tiny t;
    look l;
    tiny_init(&t, 3);
    uint32_t first = tiny_kernel(&t, "compute", "first", 2 * MS);
    uint32_t blocks = tiny_recv(&t, "comm", "blocks", 2, 0, true);
    uint32_t sent = tiny_send(&t, "comm", "sent", 1, 0, true);
    tiny_after(&t, first);
    ovl_id one = tiny_code(&t);
    tiny_kernel(&t, "compute", "own", 3 * MS);
    uint32_t got = tiny_recv(&t, "comm", "got", 0, 0, true);
    uint32_t used = tiny_kernel(&t, "compute", "used", 3 * MS);
    tiny_after(&t, got);
    ovl_id two = tiny_code(&t);
    uint32_t slow = tiny_kernel(&t, "compute", "slow", 8 * MS);
    tiny_send(&t, "comm", "late", 0, 0, true);
    tiny_after(&t, slow);
    tiny_use(&t, 1, one);
    tiny_use(&t, 2, two);
    run(&t, &l);
    CHECK_INT(tiny_end(&t, 0, sent), 8 * MS);
    ovl_waits_before(&l.waits, on_rank(&t, 1, used), 3 * MS, &l.w);
    check_times(&l, 0, 5, 0, 0);
    CHECK_INT(l.w.by[OVL_WAIT_DEPENDENCY], blocks);
    /* Without communication and the order it keeps "used" starts when "own" has ended. */
    ovl_replay replay = {OVL_NEW_ARRAY(&t.arena, ovl_time, t.program.n_ops),
                         OVL_NEW_ARRAY(&t.arena, ovl_time, t.program.n_ops)};
    ovl_replay_options free = {
        .kernels = OVL_REPLAY_ALONE, .free_comm = true, .free_host = true, .free_pauses = true};
    ovl_replay_run(&l.causes, l.inputs, &l.means, &free, &replay);
    CHECK_INT(replay.start[on_rank(&t, 1, used)], 3 * MS);
    end(&t, &l);
}

/* A gather of a buffer that is there from the start waits for a kernel [0, 10] it does not need;
 * 4 long, it holds up the next kernel until 14. It could have been over at 4, so all of that is
 * schedule. If the kernel took 3, it could have been 3 earlier: 3 of schedule, 1 of dependency. */
static void a_gather_issued_late(void)
{
    for (int length = 10; length >= 3; length -= 7) {
        tiny t;
        look l;
        tiny_init(&t, 2);
        ovl_id shard = tiny_buffer(&t, "shard", 8), whole = tiny_buffer(&t, "whole", 16);
        uint32_t before = tiny_kernel(&t, "compute", "before", length * MS);
        uint32_t gather = tiny_collective(&t, "comm", "gather", 0, 4 * MS);
        tiny_after(&t, before);
        tiny_reads(&t, shard);
        tiny_writes(&t, whole);
        uint32_t used = tiny_kernel(&t, "compute", "used", 3 * MS);
        tiny_after(&t, gather);
        tiny_reads(&t, whole);
        run(&t, &l);
        ovl_waits_before(&l.waits, used, length * MS, &l.w);
        check_times(&l, 0, length == 10 ? 0 : 1, length == 10 ? 4 : 3, 0);
        CHECK_INT(l.w.by[OVL_WAIT_SCHEDULE], gather);
        end(&t, &l);
    }
}

/* The same gather behind a host call that waits for the kernel and then takes 1: the host worked
 * from 10 to 11, the gather moved from 11 to 15; had it been issued before the call, neither would
 * have been waited for, but the 1 is the host's. */
static void a_gather_behind_a_host_call(void)
{
    tiny t;
    look l;
    tiny_init(&t, 2);
    ovl_id shard = tiny_buffer(&t, "shard", 8), whole = tiny_buffer(&t, "whole", 16);
    uint32_t before = tiny_kernel(&t, "compute", "before", 10 * MS);
    uint32_t call = tiny_host(&t, "synchronise", MS);
    tiny_after(&t, before);
    uint32_t gather = tiny_collective(&t, "comm", "gather", 0, 4 * MS);
    tiny_reads(&t, shard);
    tiny_writes(&t, whole);
    uint32_t used = tiny_kernel(&t, "compute", "used", 3 * MS);
    tiny_after(&t, gather);
    run(&t, &l);
    ovl_waits_before(&l.waits, used, 10 * MS, &l.w);
    check_times(&l, 0, 0, 4, 1);
    CHECK_INT(l.w.by[OVL_WAIT_SCHEDULE], gather);
    CHECK_INT(l.w.by[OVL_WAIT_HOST], call);
    end(&t, &l);
}

/* A host call of 5 before the second kernel of 1: it starts at 5, the first has ended at 1. */
static void a_host_call_before_a_kernel(void)
{
    tiny t;
    look l;
    tiny_init(&t, 1);
    tiny_kernel(&t, "compute", "one", MS);
    uint32_t call = tiny_host(&t, "load", 5 * MS);
    uint32_t two = tiny_kernel(&t, "compute", "two", MS);
    run(&t, &l);
    ovl_waits_before(&l.waits, two, MS, &l.w);
    check_times(&l, 0, 0, 0, 4);
    CHECK_INT(l.w.by[OVL_WAIT_HOST], call);
    end(&t, &l);
}

/* The member that comes last made the others wait: 3 of its kernel, then 20 of the all-reduce. Its
 * kernel is 8 where the mean is 6.5. */
static void a_collective_leads_to_its_last_member(void)
{
    tiny t;
    look l;
    tiny_init(&t, 2);
    uint32_t k = tiny_kernel(&t, "compute", "k", 5 * MS);
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_after(&t, k);
    uint32_t step = tiny_kernel(&t, "compute", "step", MS);
    tiny_after(&t, reduce);
    ovl_id other = tiny_code(&t);
    k = tiny_kernel(&t, "compute", "k", 8 * MS);
    reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_after(&t, k);
    step = tiny_kernel(&t, "compute", "step", MS);
    tiny_after(&t, reduce);
    tiny_use(&t, 1, other);
    run(&t, &l);
    ovl_waits_before(&l.waits, step, 5 * MS, &l.w);
    check_times(&l, 3, 20, 0, 0);
    CHECK_INT(ovl_mean_of(&l.means, &t.program, 0, k), 13 * MS / 2);
    CHECK(l.means.uneven);
    end(&t, &l);
}

/* --- On random programs --- */

typedef struct chance {
    ovl_arena arena;
    ovl_errs errs;
    ovl_program p;
    ovl_timeline t;
    look l;
} chance;

static void draw(chance *c, uint64_t seed)
{
    random_options options = {
        .seed = seed, .n_ranks = 4, .n_actions = 150, .bare = seed % 2, .prefix = ""};
    ovl_run_options how = {.interference = OVL_INTERFERENCE_SHARED};
    *c = (chance){0};
    c->errs.arena = &c->arena;
    c->p = random_program(&options, &c->arena);
    CHECK(ovl_run(&c->p, &how, &c->arena, &c->t, &c->errs));
    look_at(&c->l, &c->p, &c->t, &c->arena);
}

static void drop(chance *c)
{
    leave(&c->l);
    ovl_arena_free(&c->arena);
}

/* With nothing changed a replay gives the run, whatever is shared or queued in it; and with
 * something left out nothing comes later. */
static void a_replay_without_changes_is_the_run(void)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        chance c;
        draw(&c, seed);
        ovl_replay replay = {OVL_NEW_ARRAY(&c.arena, ovl_time, c.p.n_ops),
                             OVL_NEW_ARRAY(&c.arena, ovl_time, c.p.n_ops)};
        ovl_replay_options same = {.kernels = OVL_REPLAY_AS_RUN};
        ovl_replay_run(&c.l.causes, c.l.inputs, &c.l.means, &same, &replay);
        int wrong = 0;
        for (uint32_t op = 0; op < c.p.n_ops; op++) {
            wrong += replay.start[op] != c.t.arrive[op] || replay.end[op] != c.t.end[op];
        }
        CHECK_INT(wrong, 0);
        ovl_replay_options free = {.kernels = OVL_REPLAY_AS_RUN,
                                   .free_comm = true,
                                   .free_host = true,
                                   .free_pauses = true};
        ovl_replay_run(&c.l.causes, c.l.inputs, &c.l.means, &free, &replay);
        for (uint32_t op = 0; op < c.p.n_ops; op++) {
            wrong += replay.start[op] > c.t.arrive[op] || replay.end[op] > c.t.end[op];
        }
        CHECK_INT(wrong, 0);
        drop(&c);
    }
}

/* The links that skip give what one finds step by step: cutting an interval anywhere changes
 * nothing but what a late issue is blamed for. */
static void intervals_add_up(void)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        chance c;
        int wrong = 0;
        draw(&c, seed);
        for (uint32_t op = 0; op < c.p.n_ops; op += 7) {
            for (ovl_time from = 0; from < c.t.end[op]; from += c.t.end[op] / 5 + 1) {
                ovl_time sum = 0, moved = 0, all = 0;
                ovl_waits_until(&c.l.waits, op, from, &c.l.w);
                for (int k = 0; k < OVL_WAIT_COUNT; k++) {
                    sum += c.l.w.time[k];
                    wrong += c.l.w.time[k] < 0;
                }
                moved = c.l.w.time[OVL_WAIT_COMPUTE] + c.l.w.time[OVL_WAIT_HOST];
                ovl_waits_until(&c.l.waits, op, 0, &c.l.w);
                all = c.l.w.time[OVL_WAIT_COMPUTE] + c.l.w.time[OVL_WAIT_HOST];
                wrong += sum != c.t.end[op] - from || moved > all;
            }
        }
        CHECK_INT(wrong, 0);
        drop(&c);
    }
}

static CU_TestInfo tests[] = {
    {"a transfer and the kernel before it", a_transfer_and_the_kernel_before_it},
    {"a receive that blocks a send", a_receive_that_blocks_a_send},
    {"a gather issued late", a_gather_issued_late},
    {"a gather behind a host call", a_gather_behind_a_host_call},
    {"a host call before a kernel", a_host_call_before_a_kernel},
    {"a collective leads to its last member", a_collective_leads_to_its_last_member},
    {"a replay without changes is the run", a_replay_without_changes_is_the_run},
    {"intervals add up", intervals_add_up},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("what ranks wait for", tests);
}
