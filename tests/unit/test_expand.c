/* Collectives as the transfers they are made of: where that takes as long as the one activity. */
#include "sim/expand.h"
#include "sim/result.h"
#include "tests/support/check.h"
#include "tests/support/ring_job.h"

#define MS OVL_MS
#define US OVL_US

static ovl_time start_of(const ring_run *run, uint32_t rank, ovl_op_kind kind, const char *name)
{
    return run->timeline.start[ring_find(run, rank, kind, name)];
}

static ovl_time end_of(const ring_run *run, uint32_t rank, ovl_op_kind kind, const char *name)
{
    return run->timeline.end[ring_find(run, rank, kind, name)];
}

/* 6 us and 12 ms, 4 members: 6 steps of 1 us and 2 ms; the third ends at 3 x 2.001 = 6.003 ms. */
static void an_all_reduce_is_a_ring_of_2n_minus_2_steps(void)
{
    ovl_arena arena = {0};
    ring_job job = {.n = 4, .times = 1, .latency = 6 * US, .work = 12 * MS};
    ring_run one = ring_job_run(&job, 0, &arena), steps = ring_job_run(&job, 4, &arena);
    CHECK_INT(one.program.n_ops, 4);
    CHECK_INT(steps.program.n_ops, 4 * (6 * 3 + 1));
    CHECK_INT(one.step, 12 * MS + 6 * US);
    CHECK_INT(steps.step, 12 * MS + 6 * US);
    for (uint32_t rank = 0; rank < 4; rank++) {
        CHECK_INT(end_of(&steps, rank, OVL_BATCH, "reduce step 3"), 6 * MS + 3 * US);
        CHECK_INT(end_of(&steps, rank, OVL_COLLECTIVE, "reduce"), 12 * MS + 6 * US);
    }
    CHECK_INT(steps.program.in_steps, 4);
    ovl_arena_free(&arena);
}

/* 3 is fewer than 4 members, so nothing happens. */
static void a_larger_collective_stays_one_activity(void)
{
    ovl_arena arena = {0};
    ring_job job = {.n = 4, .times = 1, .work = 12 * MS};
    CHECK_INT(ring_job_run(&job, 3, &arena).program.n_ops, 4);
    ovl_arena_free(&arena);
}

/* Latency and work that no number of steps divides: 7,000,003 + 11,000,000,005 ps. */
static void in_lock_step_every_ring_takes_just_as_long(void)
{
    static const ovl_coll rings[] = {OVL_ALL_REDUCE, OVL_REDUCE_SCATTER, OVL_ALL_GATHER,
                                     OVL_ALL_TO_ALL};
    ovl_arena arena = {0};
    for (uint32_t n = 2; n <= 16; n++) {
        for (uint32_t i = 0; i < OVL_COUNT(rings); i++) {
            ring_job job = {.n = n,
                            .coll = rings[i],
                            .times = 3,
                            .latency = 7 * US + 3,
                            .work = 11 * MS + 5,
                            .wire = 100,
                            .hbm = 200};
            CHECK_INT(ring_job_run(&job, 0, &arena).step, 3 * (11 * MS + 5 + 7 * US + 3));
            CHECK_INT(ring_job_run(&job, 16, &arena).step, 3 * (11 * MS + 5 + 7 * US + 3));
        }
    }
    ovl_arena_free(&arena);
}

/* 3 members: 8 pieces of 1 ms over 2 ways, so 9 steps: 8 ms of work take 9, latency of 9 us as
 * well. From root 1 the data goes 1, 2, 0; to root 1 it comes 2, 0, 1. */
static void a_chain_takes_longer_by_its_fill(void)
{
    ovl_arena arena = {0};
    for (uint32_t i = 0; i < 2; i++) {
        ring_job job = {.n = 3, .coll = i ? OVL_REDUCE : OVL_BROADCAST, .times = 1, .root = 1};
        job.latency = 9 * US;
        job.work = 8 * MS;
        ring_run one = ring_job_run(&job, 0, &arena), steps = ring_job_run(&job, 16, &arena);
        uint32_t last = i ? 1 : 0;
        CHECK_INT(one.step, 8 * MS + 9 * US);
        CHECK_INT(steps.step, 9 * MS + 9 * US);
        CHECK_INT(start_of(&steps, last, OVL_BATCH, "reduce step 2"), 0);
        CHECK_INT(start_of(&steps, last, OVL_RECV, "reduce"), MS + US);
        CHECK_INT(end_of(&steps, last, OVL_BATCH, "reduce step 9"), 9 * MS + 9 * US);
    }
    ovl_arena_free(&arena);
}

/* 6 steps of 2 ms, member 2 comes at 10. One activity: 10 to 22. In steps 0 sends to 1 at once, 0
 * to 2, and goes on when its neighbours have had theirs with 2, at 12: all end at 10 + 6 x 2. */
static void a_late_member_makes_all_late_but_some_begin(void)
{
    ovl_arena arena = {0};
    ring_job job = {.n = 4, .times = 1, .work = 12 * MS};
    job.late[2] = 10 * MS;
    ring_run one = ring_job_run(&job, 0, &arena), steps = ring_job_run(&job, 16, &arena);
    CHECK_INT(start_of(&one, 0, OVL_COLLECTIVE, "reduce"), 10 * MS);
    CHECK_INT(one.step, 22 * MS);
    CHECK_INT(end_of(&steps, 0, OVL_BATCH, "reduce step 1"), 2 * MS);
    CHECK_INT(end_of(&steps, 1, OVL_BATCH, "reduce step 1"), 12 * MS);
    CHECK_INT(end_of(&steps, 3, OVL_BATCH, "reduce step 1"), 12 * MS);
    CHECK_INT(start_of(&steps, 0, OVL_RECV, "reduce"), 0);
    CHECK_INT(end_of(&steps, 0, OVL_BATCH, "reduce step 2"), 14 * MS);
    CHECK_INT(steps.step, 22 * MS);
    ovl_arena_free(&arena);
}

/* An all-gather of 3 members, 2 steps of 3 ms; the link out of 1 gives half of what it wants. One
 * activity: 12 ms. Step by step the others wait for who sends from 1, or receives from it: 12 ms.
 */
static void one_slow_link_slows_all(void)
{
    ovl_arena arena = {0};
    ring_job job = {.n = 3, .coll = OVL_ALL_GATHER, .times = 1, .work = 6 * MS, .wire = 100};
    job.out[1] = 50;
    CHECK_INT(ring_job_run(&job, 0, &arena).step, 12 * MS);
    ring_run steps = ring_job_run(&job, 16, &arena);
    CHECK_INT(end_of(&steps, 0, OVL_BATCH, "reduce step 1"), 3 * MS);
    CHECK_INT(steps.step, 12 * MS);
    ovl_arena_free(&arena);
}

/* An all-gather of 4 members, 3 steps of 4 ms. The link out of 0 has half until 4, that of 2 from 4
 * to 12. One activity has half all the time until 12, then 6 ms are left: 18.
 *
 *              0->1     1->2     2->3     3->0
 *     step 1   0-6      0-4      0-4      0-4
 *     step 2   6-10     6-10     4-12     6-10      2 and 3 did not wait for 0
 *     step 3   10-14    12-16    12-16    12-16
 */
static void who_is_far_from_a_slow_link_is_ahead(void)
{
    ovl_arena arena = {0};
    ring_job job = {.n = 4, .coll = OVL_ALL_GATHER, .times = 1, .work = 12 * MS, .wire = 100};
    job.out[0] = 50;
    job.out[2] = 100;
    job.changes[0] = (ring_change){0, 4 * MS, 100};
    job.changes[1] = (ring_change){2, 4 * MS, 50};
    job.changes[2] = (ring_change){2, 12 * MS, 100};
    job.n_changes = 3;
    CHECK_INT(ring_job_run(&job, 0, &arena).step, 18 * MS);
    ring_run steps = ring_job_run(&job, 16, &arena);
    CHECK_INT(end_of(&steps, 2, OVL_BATCH, "reduce step 1"), 4 * MS);
    CHECK_INT(end_of(&steps, 2, OVL_BATCH, "reduce step 2"), 12 * MS);
    CHECK_INT(end_of(&steps, 0, OVL_BATCH, "reduce step 2"), 10 * MS);
    CHECK_INT(steps.step, 16 * MS);
    ovl_arena_free(&arena);
}

/* HBM has 1000: a kernel wants 900, the all-reduce of 2 members 300 on each, 150 of it to send and
 * 150 to receive. Equal slowdown, for all weights are 1: 1000/1200. While both run, 5/6 of the
 * speed: the kernel of 10 ms takes 12, and of 20 ms of transfer 10 are done; 10 more: 22. */
static void the_traffic_of_a_step_is_that_of_the_activity(void)
{
    ovl_arena arena = {0};
    ring_job job = {.n = 2, .times = 1, .work = 20 * MS, .hbm = 300, .kernel_hbm = 900};
    job.beside[0] = job.beside[1] = 10 * MS;
    ring_run one = ring_job_run(&job, 0, &arena), steps = ring_job_run(&job, 2, &arena);
    ovl_time kernel = end_of(&one, 0, OVL_KERNEL, "beside"); /* rates are rounded */
    CHECK(kernel >= 12 * MS && kernel <= 12 * MS + 1);
    CHECK_INT(end_of(&steps, 0, OVL_KERNEL, "beside"), kernel);
    CHECK(one.step >= 22 * MS && one.step <= 22 * MS + 1);
    CHECK(steps.step >= 22 * MS && steps.step <= 22 * MS + 2);
    ovl_arena_free(&arena);
}

/* Two members each on two links, which a ring leaves once and an activity loads with 100 once: the
 * transfers 1 -> 2 and 3 -> 0 load it, 0 -> 1 and 2 -> 3 do not. With half of that: twice 6 ms.
 * All-to-all: 0 sends to 1, 2, 3 and so on; two of three leave the link, in step 1 from one member,
 * in step 2 from both, in step 3 from one: 4 transfers share what 3 steps bring. A link of 100
 * carries 75, 150, 75: the steps take 2, 3 and 2 ms where an activity takes 6. */
static void what_members_share_is_loaded_by_what_leaves(void)
{
    ovl_arena arena = {0};
    ring_job job = {.n = 4, .coll = OVL_ALL_GATHER, .times = 1, .work = 6 * MS, .wire = 100};
    job.gpus = 2;
    job.out[0] = job.out[2] = 50;
    CHECK_INT(ring_job_run(&job, 0, &arena).step, 12 * MS);
    CHECK_INT(ring_job_run(&job, 4, &arena).step, 12 * MS);
    job.coll = OVL_ALL_TO_ALL;
    job.out[0] = job.out[2] = 100;
    CHECK_INT(ring_job_run(&job, 0, &arena).step, 6 * MS);
    ring_run steps = ring_job_run(&job, 4, &arena);
    CHECK(steps.step >= 7 * MS && steps.step <= 7 * MS + 1);
    ovl_arena_free(&arena);
}

/* 16 members, 30 steps: 91 operations a rank, 1,456 a collective; 2,881 of them are more than 4
 * Mi. */
static void too_many_operations_are_an_error(void)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ring_job job = {.n = 16, .times = 2881, .work = MS};
    ring_run one = ring_job_run(&job, 0, &arena);
    ovl_program expanded;
    CHECK(!ovl_expand(&one.program, 16, &arena, &expanded, &errs));
    CHECK_INT(errs.errors, 1);
    CHECK_HAS(errs.items[0].text, "more than 4194304 operations over all ranks");
    ovl_arena_free(&arena);
}

static CU_TestInfo tests[] = {
    {"an all-reduce is a ring of 2n - 2 steps", an_all_reduce_is_a_ring_of_2n_minus_2_steps},
    {"a larger collective stays one activity", a_larger_collective_stays_one_activity},
    {"in lock step every ring takes just as long", in_lock_step_every_ring_takes_just_as_long},
    {"a chain takes longer by its fill", a_chain_takes_longer_by_its_fill},
    {"a late member makes all late, but some begin", a_late_member_makes_all_late_but_some_begin},
    {"one slow link slows all", one_slow_link_slows_all},
    {"who is far from a slow link is ahead", who_is_far_from_a_slow_link_is_ahead},
    {"the traffic of a step is that of the activity",
     the_traffic_of_a_step_is_that_of_the_activity},
    {"what members share is loaded by what leaves", what_members_share_is_loaded_by_what_leaves},
    {"too many operations are an error", too_many_operations_are_an_error},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("collectives in steps", tests);
}
