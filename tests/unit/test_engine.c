#include "tests/support/check.h"
#include "tests/support/tiny.h"

#include <malloc.h>
#include <stdio.h>

#define MS OVL_MS

static void sums_to_step(const tiny *t)
{
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        ovl_time sum = 0;
        for (int k = 0; k < OVL_TERM_COUNT; k++) {
            sum += t->timeline.ranks[r].term[k];
        }
        CHECK_INT(sum, t->timeline.step);
    }
}

/* One measured pair: class 0 of kernels, class 0 of collectives. */
static void measured(tiny *t, double kernel, double collective)
{
    ovl_vec_push(&t->b.kernel_classes, ovl_name(&t->b, "gemm"));
    ovl_vec_push(&t->b.coll_classes, ovl_name(&t->b, "all_reduce"));
    ovl_vec_push(&t->b.pairs, (ovl_pair){kernel, collective});
}

/* Until 29 ms the matmul does 25 (29 * 25/29) and the collective 16 (29 * 16/29); its last 4 run
 * alone: 33 = 25 + 4 + 4. */
static void matmul_beside_all_reduce(void)
{
    tiny t;
    tiny_init(&t, 2);
    measured(&t, 29.0 / 25, 29.0 / 16);
    t.kind.klass = 0;
    uint32_t matmul = tiny_kernel(&t, "compute", "matmul", 25 * MS);
    t.kind.klass = 0;
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_MEASURED));
    CHECK_INT(tiny_end(&t, 0, matmul), 29 * MS);
    CHECK_INT(tiny_end(&t, 1, reduce), 33 * MS);
    CHECK_INT(t.timeline.step, 33 * MS);
    CHECK_INT(tiny_term(&t, 0, OVL_COMPUTE), 25 * MS);
    CHECK_INT(tiny_term(&t, 0, OVL_COMPUTE_STRETCH), 4 * MS);
    CHECK_INT(tiny_term(&t, 0, OVL_COMM_TRANSFER), 4 * MS);
    CHECK_INT(t.timeline.ranks[0].hidden, 29 * MS);
    CHECK_INT(t.timeline.ranks[0].hidden_stretch, 13 * MS);
    sums_to_step(&t);
    tiny_free(&t);
}

/* Collective 20 at 20/26 ends at 26; by then the matmul did 26 * 21/26 = 21 of 25; the last 4
 * alone: 30. */
static void stretched_without_a_tail(void)
{
    tiny t;
    tiny_init(&t, 2);
    measured(&t, 26.0 / 21, 26.0 / 20);
    t.kind.klass = 0;
    uint32_t matmul = tiny_kernel(&t, "compute", "matmul", 25 * MS);
    t.kind.klass = 0;
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_MEASURED));
    CHECK_INT(tiny_end(&t, 0, reduce), 26 * MS);
    CHECK_INT(tiny_end(&t, 0, matmul), 30 * MS);
    CHECK_INT(tiny_term(&t, 0, OVL_COMPUTE_STRETCH), 5 * MS);
    sums_to_step(&t);
    tiny_free(&t);
}

/* HBM 2000 GB/s, a kernel that wants all of it for 14 ms, a collective that wants 600 for 40 ms:
 * fair with principal rates 2000 and 300, the collective stays at 1 and the kernel runs at
 * 1400/2000: 20 ms. */
static void memory_bound_kernel_yields_to_a_collective(void)
{
    tiny t;
    tiny_init(&t, 2);
    t.hbm_rate = 2000000000000u;
    t.demands[0] = (ovl_demand){OVL_PORT_HBM, false, 2000000000000u};
    t.n_demands = 1;
    t.kind.weight = 1 / 2000e9;
    uint32_t kernel = tiny_kernel(&t, "compute", "copy", 14 * MS);
    t.demands[0] = (ovl_demand){OVL_PORT_HBM, false, 600000000000u};
    t.n_demands = 1;
    t.kind.weight = 1 / 300e9;
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 40 * MS);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    CHECK_INT(tiny_end(&t, 0, kernel), 20 * MS);
    CHECK_INT(tiny_end(&t, 0, reduce), 40 * MS);
    CHECK_INT(t.timeline.n_limits, 2);
    CHECK_INT(t.timeline.limits[0].time, 20 * MS);
    CHECK_INT(t.timeline.limits[0].lost, 6 * MS);
    sums_to_step(&t);
    tiny_free(&t);
}

/* HBM of 1000; two kernels want all of it, 10 and 20 ms alone: half speed each until 20 ms, then
 * the longer has 10 left. */
static void who_stays_speeds_up_when_another_leaves(void)
{
    tiny t;
    tiny_init(&t, 1);
    t.hbm_rate = 1000;
    uint32_t ends[2];
    for (uint32_t i = 0; i < 2; i++) {
        t.demands[0] = (ovl_demand){OVL_PORT_HBM, false, 1000};
        t.n_demands = 1;
        ends[i] = tiny_kernel(&t, i ? "a" : "b", "k", (10 + 10 * i) * MS);
    }
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    CHECK_INT(tiny_end(&t, 0, ends[0]), 20 * MS);
    CHECK_INT(tiny_end(&t, 0, ends[1]), 30 * MS);
    tiny_free(&t);
}

/* 108 SMs, 16 held by the collective for its 10 ms: a kernel that wants all runs at 92/108 and
 * does 8.5185 of 20; 10 + 11.4815. By whole waves, 216 blocks are 2 waves of 108 but 3 of 92: rate
 * 2/3, 6.667 done, ends at 23.333. */
static void held_sms_slow_a_kernel(void)
{
    for (uint32_t blocks = 0; blocks <= 216; blocks += 216) {
        tiny t;
        tiny_init(&t, 2);
        t.b.sms = 108;
        t.kind.sms = 108;
        t.kind.blocks = blocks;
        t.cost.compute = 20 * MS;
        uint32_t kernel = tiny_kernel(&t, "compute", "gemm", 20 * MS);
        t.kind.sms = 16;
        tiny_collective(&t, "comm", "reduce", 2 * MS, 8 * MS);
        CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
        ovl_time want = blocks ? 23333333334 : 21481481482;
        CHECK_INT(tiny_end(&t, 0, kernel), want);
        sums_to_step(&t);
        tiny_free(&t);
    }
}

/* Rank 1 is 2 ms late: rank 0 waits from 5 to 7, both end at 7 + 1 + 4. */
static void a_collective_waits_for_its_last_member(void)
{
    tiny t;
    tiny_init(&t, 2);
    uint32_t early = tiny_kernel(&t, "compute", "k", 5 * MS);
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 1 * MS, 4 * MS);
    tiny_after(&t, early);
    ovl_id late = tiny_code(&t);
    tiny_kernel(&t, "compute", "k", 7 * MS);
    tiny_collective(&t, "comm", "reduce", 1 * MS, 4 * MS);
    tiny_after(&t, 0);
    tiny_use(&t, 1, late);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_NONE));
    CHECK_INT(t.timeline.arrive[reduce], 5 * MS);
    CHECK_INT(t.timeline.start[reduce], 7 * MS);
    CHECK_INT(tiny_end(&t, 0, reduce), 12 * MS);
    CHECK_INT(tiny_end(&t, 1, reduce), 12 * MS);
    CHECK_INT(tiny_term(&t, 0, OVL_WAIT_LATE_RANK), 2 * MS);
    CHECK_INT(tiny_term(&t, 0, OVL_COMM_LATENCY), 1 * MS);
    CHECK_INT(tiny_term(&t, 0, OVL_COMM_TRANSFER), 4 * MS);
    sums_to_step(&t);
    tiny_free(&t);
}

/* Two streams, one communicator: the second collective starts when the first has ended. */
static void a_communicator_runs_one_collective_at_a_time(void)
{
    tiny t;
    tiny_init(&t, 2);
    uint32_t a = tiny_collective(&t, "comm a", "a", 0, 4 * MS);
    uint32_t b = tiny_collective(&t, "comm b", "b", 0, 5 * MS);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_NONE));
    CHECK_INT(tiny_end(&t, 0, a), 4 * MS);
    CHECK_INT(tiny_end(&t, 0, b), 9 * MS);
    tiny_free(&t);
}

/* Sender ready at 1, receiver at 3, 4 ms on the wire. Rendezvous: both end at 7. Eager: sender ends
 * at 1, bytes there at 5. */
static void rendezvous_and_eager(void)
{
    for (int eager = 0; eager < 2; eager++) {
        tiny t;
        tiny_init(&t, 2);
        tiny_kernel(&t, "s", "k", 1 * MS);
        uint32_t send = tiny_send(&t, "s", "x", 1, 4 * MS, eager);
        ovl_id receiver = tiny_code(&t);
        tiny_kernel(&t, "s", "k", 3 * MS);
        uint32_t recv = tiny_recv(&t, "s", "x", 0, 4 * MS, eager);
        tiny_use(&t, 1, receiver);
        CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
        CHECK_INT(tiny_end(&t, 0, send), (eager ? 1 : 7) * MS);
        CHECK_INT(tiny_end(&t, 1, recv), (eager ? 5 : 7) * MS);
        CHECK_INT(tiny_term(&t, 1, OVL_COMM_TRANSFER), (eager ? 2 : 4) * MS);
        sums_to_step(&t);
        tiny_free(&t);
    }
}

/* The bytes are there at 5, the receiver comes at 9. */
static void a_late_receiver_finds_eager_bytes(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_send(&t, "s", "x", 1, 5 * MS, true);
    ovl_id receiver = tiny_code(&t);
    tiny_kernel(&t, "s", "k", 9 * MS);
    uint32_t recv = tiny_recv(&t, "s", "x", 0, 5 * MS, true);
    tiny_use(&t, 1, receiver);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    CHECK_INT(tiny_end(&t, 1, recv), 9 * MS);
    CHECK_INT(t.timeline.step, 9 * MS);
    sums_to_step(&t);
    tiny_free(&t);
}

/* Both receive first: neither send is ever reached. */
static void two_receives_first_are_a_deadlock(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_recv(&t, "s", "from 1", 1, MS, false);
    tiny_send(&t, "s", "to 1", 1, MS, false);
    ovl_id other = tiny_code(&t);
    tiny_recv(&t, "s", "from 0", 0, MS, false);
    tiny_send(&t, "s", "to 0", 0, MS, false);
    tiny_use(&t, 1, other);
    CHECK(!tiny_run(&t, OVL_INTERFERENCE_NONE));
    CHECK_INT(ovl_errs_status(&t.errs), OVL_E_STUCK);
    CHECK_HAS(t.errs.items[0].text, "deadlock: 4 of 4 operations never end");
    CHECK_HAS(t.errs.items[0].text,
              "recv \"from 1\" on rank 0 has arrived and waits for send \"to 0\" on rank 1");
    ovl_run_options options = {.step_only = true};
    ovl_errs again = {.arena = &t.arena};
    CHECK(!ovl_run(&t.program, &options, &t.arena, &t.timeline, &again));
    CHECK_INT(again.count, 1);
    CHECK_TEXT(again.items[0].text, t.errs.items[0].text);
    tiny_free(&t);
}

static void a_send_without_receive_is_refused(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_send(&t, "s", "x", 1, MS, false);
    tiny_use(&t, 1, tiny_code(&t));
    CHECK(!tiny_run(&t, OVL_INTERFERENCE_NONE));
    CHECK_INT(ovl_errs_status(&t.errs), OVL_E_STUCK);
    CHECK_TEXT(t.errs.items[0].text, "send \"x\" on rank 0 has no matching receive on rank 1");
    tiny_free(&t);
}

static void mismatched_collectives_are_refused(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_collective(&t, "s", "a", 0, MS);
    ovl_id other = tiny_code(&t);
    tiny_collective(&t, "s", "a", 0, MS);
    tiny_collective(&t, "s", "b", 0, MS);
    tiny_use(&t, 1, other);
    CHECK(!tiny_run(&t, OVL_INTERFERENCE_NONE));
    CHECK_HAS(t.errs.items[0].text, "rank 1 launches all_reduce \"b\"");
    tiny_free(&t);
}

/* 3 us to issue each: the kernel arrives at 3, the second at 6 though the first ended at 4. The
 * sync waits for it (until 7) and takes 2; the last is issued at 12. */
static void the_host_issues_in_order_and_may_be_held_up(void)
{
    tiny t;
    tiny_init(&t, 1);
    for (int i = 0; i < 2; i++) {
        tiny_kernel(&t, "s", "k", OVL_US);
    }
    uint32_t sync = tiny_host(&t, "sync", 2 * OVL_US);
    tiny_after(&t, 1);
    uint32_t last = tiny_kernel(&t, "s", "k", OVL_US);
    for (uint32_t i = 0; i < 4; i++) {
        tiny_change(&t, i)->launch = i == sync ? 0 : 3 * OVL_US;
    }
    CHECK(tiny_run(&t, OVL_INTERFERENCE_NONE));
    CHECK_INT(t.timeline.arrive[0], 3 * OVL_US);
    CHECK_INT(t.timeline.arrive[1], 6 * OVL_US);
    CHECK_INT(tiny_end(&t, 0, sync), 9 * OVL_US);
    CHECK_INT(t.timeline.issue[last], 12 * OVL_US);
    CHECK_INT(t.timeline.step, 13 * OVL_US);
    sums_to_step(&t);
    tiny_free(&t);
}

/* One hardware queue: `b` on its own stream is ready at once but stands behind `a`, which waits for
 * `k`. */
static void one_hardware_queue_blocks_behind_its_head(void)
{
    for (uint32_t queues = 0; queues < 2; queues++) {
        tiny t;
        tiny_init(&t, 1);
        t.b.hw_queues = queues;
        uint32_t k = tiny_kernel(&t, "s1", "k", 5 * MS);
        tiny_kernel(&t, "s2", "a", MS);
        tiny_after(&t, k);
        uint32_t b = tiny_kernel(&t, "s3", "b", MS);
        CHECK(tiny_run(&t, OVL_INTERFERENCE_NONE));
        CHECK_INT(tiny_end(&t, 0, b), (queues ? 6 : 1) * MS);
        tiny_free(&t);
    }
}

/* One engine: two copies that arrive together run one after the other; two engines: side by side.
 */
static void copies_wait_for_an_engine(void)
{
    for (uint32_t engines = 1; engines <= 2; engines++) {
        tiny t;
        tiny_init(&t, 1);
        t.b.copy_engines[0] = engines;
        uint32_t a = tiny_copy(&t, "s1", "a", 3 * MS);
        uint32_t b = tiny_copy(&t, "s2", "b", 4 * MS);
        CHECK(tiny_run(&t, OVL_INTERFERENCE_NONE));
        CHECK_INT(tiny_end(&t, 0, a), 3 * MS);
        CHECK_INT(tiny_end(&t, 0, b), (engines == 1 ? 7 : 4) * MS);
        CHECK_INT(tiny_term(&t, 0, OVL_COPYING), (engines == 1 ? 7 : 4) * MS);
        tiny_free(&t);
    }
}

/* Two kernels end at 1; the one whose end is handled first lets the later copy go. Both copies
 * arrive at 1 all the same, and the lower operation gets the engine. */
static void copies_that_arrive_together_start_by_operation(void)
{
    tiny t;
    tiny_init(&t, 1);
    t.b.copy_engines[0] = 1;
    uint32_t first = tiny_kernel(&t, "k1", "k", 1 * MS),
             second = tiny_kernel(&t, "k2", "k", 1 * MS);
    uint32_t low = tiny_copy(&t, "s1", "low", 1 * MS);
    tiny_after(&t, second);
    uint32_t high = tiny_copy(&t, "s2", "high", 1 * MS);
    tiny_after(&t, first);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_NONE));
    CHECK_INT(tiny_end(&t, 0, low), 2 * MS);
    CHECK_INT(tiny_end(&t, 0, high), 3 * MS);
    tiny_free(&t);
}

/* 200 s at isolated speed end at 200 s to the picosecond. */
static void long_times_stay_exact(void)
{
    tiny t;
    tiny_init(&t, 1);
    tiny_kernel(&t, "s", "k", 200 * OVL_S + 1);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    CHECK_INT(t.timeline.step, 200 * OVL_S + 1);
    tiny_free(&t);
}

static void time_that_cannot_be_counted_is_an_error(void)
{
    tiny t;
    tiny_init(&t, 1);
    tiny_kernel(&t, "s", "k", OVL_TIME_MAX - 10);
    tiny_kernel(&t, "s", "l", 20);
    CHECK(!tiny_run(&t, OVL_INTERFERENCE_NONE));
    CHECK_HAS(t.errs.items[0].text, "\"l\" on rank 0: it would end later than time can count");
    tiny_free(&t);
}

static void nothing_takes_no_time(void)
{
    tiny t;
    tiny_init(&t, 3);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    CHECK_INT(t.timeline.step, 0);
    tiny_free(&t);
}

/* 80 MiB at 202 ms: 1 ms of latency without a factor, 5 of transfer at 1.25 in which 4 ms of
 * backward are done: 209 ms of kernels end at 210. */
static void measured_factors_hold_in_the_transfer_only(void)
{
    tiny t;
    tiny_init(&t, 2);
    measured(&t, 1.25, 1);
    uint32_t first = tiny_kernel(&t, "compute", "k", 202 * MS);
    t.kind.klass = 0;
    uint32_t rest = tiny_kernel(&t, "compute", "rest", 7 * MS);
    t.kind.klass = 0;
    tiny_collective(&t, "comm", "reduce", 1 * MS, 5 * MS);
    tiny_after(&t, first);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_MEASURED));
    CHECK_INT(tiny_end(&t, 0, rest), 210 * MS);
    tiny_free(&t);
}

/* Rank 0 waits from 0 to 2 for the collective, is idle from 3 to 5 while rank 1 computes: the wait
 * is over with its cause. */
static void waiting_ends_when_the_last_member_came(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_collective(&t, "comm", "reduce", 0, 1 * MS);
    ovl_id late = tiny_code(&t);
    tiny_kernel(&t, "comm", "k", 2 * MS);
    tiny_collective(&t, "comm", "reduce", 0, 1 * MS);
    tiny_kernel(&t, "comm", "l", 2 * MS);
    tiny_use(&t, 1, late);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_NONE));
    CHECK_INT(tiny_term(&t, 0, OVL_WAIT_LATE_RANK), 2 * MS);
    CHECK_INT(tiny_term(&t, 0, OVL_COMM_TRANSFER), 1 * MS);
    CHECK_INT(tiny_term(&t, 0, OVL_IDLE), 2 * MS);
    tiny_free(&t);
}

/* Two members on one link of 100, each wanting 100: once, it is used at 100 and nobody is slowed;
 * each on its own, at 200: half speed. */
static void members_may_load_a_resource_once_together(void)
{
    for (int once = 0; once < 2; once++) {
        tiny t;
        tiny_init(&t, 2);
        t.hbm_rate = 100;
        t.hbm_of_all = true;
        t.demands[0] = (ovl_demand){OVL_PORT_HBM, once, 100};
        t.n_demands = 1;
        tiny_collective(&t, "comm", "reduce", 0, 1 * MS);
        CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
        CHECK_INT(t.timeline.step, (once ? 1 : 2) * MS);
        tiny_free(&t);
    }
}

/* One engine. c arrives at 0 and runs to 4; b arrives at 1, a (lower in program order) at 2: b goes
 * first. */
static void copies_start_in_order_of_arrival(void)
{
    tiny t;
    tiny_init(&t, 1);
    t.b.copy_engines[0] = 1;
    tiny_copy(&t, "s1", "c", 4 * MS);
    uint32_t two = tiny_kernel(&t, "k2", "k", 2 * MS);
    uint32_t a = tiny_copy(&t, "s2", "a", 1 * MS);
    tiny_after(&t, two);
    uint32_t one = tiny_kernel(&t, "k1", "k", 1 * MS);
    uint32_t b = tiny_copy(&t, "s3", "b", 1 * MS);
    tiny_after(&t, one);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_NONE));
    CHECK_INT(tiny_end(&t, 0, b), 5 * MS);
    CHECK_INT(tiny_end(&t, 0, a), 6 * MS);
    tiny_free(&t);
}

/* HBM of 1000, a kernel of 10 ms that wants all of it. At 5 ms half of it is lost, at 10 it is
 * back: 5 + 2.5 of work are done by then, the last 2.5 end at 12.5. */
static void a_capacity_changes_at_given_moments(void)
{
    tiny t;
    tiny_init(&t, 1);
    t.hbm_rate = 1000;
    t.demands[0] = (ovl_demand){OVL_PORT_HBM, false, 1000};
    t.n_demands = 1;
    uint32_t kernel = tiny_kernel(&t, "s", "k", 10 * MS);
    CHECK(tiny_freeze(&t));
    ovl_capacity_change changes[] = {{5 * MS, 0, 500}, {10 * MS, 0, 1000}, {20 * MS, 0, 1}};
    t.program.changes = changes;
    t.program.n_changes = 3;
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    CHECK_INT(tiny_end(&t, 0, kernel), 12500 * OVL_US);
    CHECK_INT(t.timeline.n_limits, 1);
    CHECK_INT(t.timeline.limits[0].time, 5 * MS);
    CHECK_INT(t.timeline.limits[0].lost, 2500 * OVL_US);
    CHECK_INT(tiny_term(&t, 0, OVL_COMPUTE_STRETCH), 2500 * OVL_US);
    sums_to_step(&t);
    tiny_free(&t);
}

/* Changes are kept by time, those of one time as they came. */
static void changes_are_kept_in_order(void)
{
    tiny t;
    tiny_init(&t, 1);
    ovl_id link = ovl_add_resource(&t.b, &(ovl_resource){ovl_name(&t.b, "l"), OVL_RES_LINK, 0, 9});
    ovl_change_capacity(&t.b, link, 7, 70);
    ovl_change_capacity(&t.b, link, 3, 30);
    ovl_change_capacity(&t.b, link, 3, 31);
    CHECK(tiny_freeze(&t));
    CHECK_INT(t.program.n_changes, 3);
    CHECK_INT(t.program.changes[0].capacity, 30);
    CHECK_INT(t.program.changes[1].capacity, 31);
    CHECK_INT(t.program.changes[2].capacity, 70);
    tiny_free(&t);
}

/* Two kernels a rank want all of its HBM. */
static ovl_counters counters_of(uint32_t n_ranks, uint64_t hbm)
{
    tiny t;
    tiny_init(&t, n_ranks);
    t.hbm_rate = hbm;
    for (uint32_t i = 0; i < 2; i++) {
        t.demands[0] = (ovl_demand){OVL_PORT_HBM, false, 1000 - i};
        t.n_demands = 1;
        tiny_kernel(&t, i ? "a" : "b", "k", (10 + 10 * i) * MS);
    }
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    ovl_counters counters = t.timeline.counters;
    tiny_free(&t);
    return counters;
}

static void independent_ranks_never_touch_each_other(void)
{
    ovl_counters one = counters_of(1, 1000), many = counters_of(50, 1000);
    CHECK_INT(one.events, 2);
    CHECK_INT(one.solves, 1);
    CHECK_INT(one.solved, 2);
    CHECK_INT(many.events, 100);
    CHECK_INT(many.solves, 50);
    CHECK_INT(many.solved, 100);
}

static void an_unsaturated_program_never_solves(void)
{
    CHECK_INT(counters_of(50, 1999).solves, 0);
}

/* 40 alike on one resource of 10, each of 1 us and a demand of 1, and one that is twice as long:
 * all at a quarter (41 on 10: 10/41) until 4.1 us, then the last alone; each is bounded for 4.1 us
 * and loses 3.1. */
static void many_alike_are_one_class(void)
{
    tiny t;
    tiny_init(&t, 1);
    t.hbm_rate = 10;
    for (uint32_t i = 0; i < 41; i++) {
        char stream[8];
        snprintf(stream, sizeof stream, "s%" PRIu32, i);
        t.demands[0] = (ovl_demand){OVL_PORT_HBM, false, 1};
        t.n_demands = 1;
        tiny_kernel(&t, stream, "k", i == 40 ? 2 * OVL_US : OVL_US);
    }
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    for (uint32_t i = 0; i < 40; i++) {
        CHECK_INT(tiny_end(&t, 0, i), 4100000);
        CHECK_INT(t.timeline.limits[i].time, 4100000);
        CHECK_INT(t.timeline.limits[i].lost, 3100000);
    }
    CHECK_INT(tiny_end(&t, 0, 40), 5100000);
    CHECK_INT(t.timeline.counters.solved, 1);
    sums_to_step(&t);
    tiny_free(&t);
}

/* --- Who looks on, and limits --- */

typedef struct onlooker {
    uint32_t begins, over, ended;
    uint32_t stop_at; /* operations that ended */
} onlooker;

static bool look_on(void *context, const ovl_run_progress *progress)
{
    onlooker *o = context;
    o->begins += progress->stage == OVL_BEGINS;
    o->over += progress->stage == OVL_IS_OVER;
    o->ended = progress->ended;
    return progress->ended < o->stop_at;
}

static bool run_with(tiny *t, ovl_watch *watch, uint64_t memory)
{
    ovl_run_options options = {
        .interference = OVL_INTERFERENCE_SHARED, .watch = watch, .memory = memory, .no_skip = true};
    return ovl_run(&t->program, &options, &t->arena, &t->timeline, &t->errs);
}

/* 10,000 kernels of 1 us one after another: looked at after 4,096 and 8,192 events. */
static void a_run_can_be_stopped_and_says_how_far_it_got(void)
{
    tiny t;
    tiny_init(&t, 1);
    for (uint32_t i = 0; i < 10000; i++) {
        tiny_kernel(&t, "s", "k", OVL_US);
    }
    CHECK(tiny_freeze(&t));
    onlooker patient = {.stop_at = UINT32_MAX}, hasty = {.stop_at = 4100};
    CHECK(run_with(&t, &(ovl_watch){look_on, &patient}, 0));
    CHECK_INT(patient.begins, 1);
    CHECK_INT(patient.over, 1);
    CHECK_INT(patient.ended, 10000);
    CHECK(!run_with(&t, &(ovl_watch){look_on, &hasty}, 0));
    CHECK_INT(hasty.over, 1);
    CHECK_INT(t.errs.count, 1);
    CHECK_INT(t.errs.items[0].code, OVL_E_STOPPED);
    CHECK_TEXT(t.errs.items[0].text, "stopped at 8.191 ms of simulated time, when 8191 of 10000 "
                                     "operations had ended");
    tiny_free(&t);
}

/* What is announced is what may be allowed, and it is kept. */
static void a_run_that_may_need_too_much_memory_does_not_begin(void)
{
    tiny t;
    tiny_init(&t, 1);
    tiny_kernel(&t, "s", "k", OVL_US);
    CHECK(tiny_freeze(&t));
    uint64_t announced = ovl_run_memory(&t.program, false);
    CHECK(!run_with(&t, NULL, announced - 1));
    CHECK_INT(t.errs.items[0].code, OVL_E_INPUT);
    CHECK(strstr(t.errs.items[0].text, "(operations: 1, ranks: 1)") != NULL);
    CHECK(run_with(&t, NULL, announced));
    CHECK(t.timeline.counters.bytes <= announced);
    tiny_free(&t);
}

/* --- Memory in steady state --- */

typedef struct meter {
    uint32_t looks;
    size_t second, last; /* bytes that malloc has given out, in blocks and in mappings */
} meter;

static bool measure_memory(void *context, const ovl_run_progress *progress)
{
    meter *m = context;
    struct mallinfo2 now = mallinfo2();
    if (progress->stage == OVL_GOES_ON) {
        m->last = now.uordblks + now.hblkhd;
        m->second = ++m->looks == 2 ? m->last : m->second;
    }
    return true;
}

/* Two streams a rank of 4,000 kernels that share HBM, and a send from each rank to the next: after
 * 8,192 events nothing more is allocated, tens of thousands of events long. */
static void nothing_is_allocated_in_steady_state(void)
{
    tiny t;
    tiny_init(&t, 4);
    t.hbm_rate = 1000;
    for (uint32_t i = 0; i < 8000; i++) {
        t.demands[0] = (ovl_demand){OVL_PORT_HBM, false, 700 + 50 * (i % 4)};
        t.n_demands = 1;
        tiny_kernel(&t, i % 2 ? "a" : "b", "k", (1 + i % 7) * OVL_US);
    }
    CHECK(tiny_freeze(&t));
    meter m = {0};
    CHECK(run_with(&t, &(ovl_watch){measure_memory, &m}, 0));
    CHECK(m.looks > 4);
    CHECK_INT(m.last, m.second);
    tiny_free(&t);
}

static CU_TestInfo tests[] = {
    {"a capacity changes at given moments", a_capacity_changes_at_given_moments},
    {"changes are kept in order", changes_are_kept_in_order},
    {"independent ranks never touch each other", independent_ranks_never_touch_each_other},
    {"an unsaturated program never solves", an_unsaturated_program_never_solves},
    {"many alike are one class", many_alike_are_one_class},
    {"25 ms beside 20 ms with factors 29/25 and 29/16 end at 29 and 33", matmul_beside_all_reduce},
    {"20 becomes 26 and 25 becomes 30 without a tail", stretched_without_a_tail},
    {"a memory-bound kernel yields 600 of 2000 GB/s", memory_bound_kernel_yields_to_a_collective},
    {"who stays speeds up when another leaves", who_stays_speeds_up_when_another_leaves},
    {"held SMs slow a kernel, by share or by waves", held_sms_slow_a_kernel},
    {"a collective waits for its last member", a_collective_waits_for_its_last_member},
    {"a communicator runs one collective at a time", a_communicator_runs_one_collective_at_a_time},
    {"rendezvous and eager transfers", rendezvous_and_eager},
    {"a late receiver finds eager bytes", a_late_receiver_finds_eager_bytes},
    {"two receives first are a deadlock", two_receives_first_are_a_deadlock},
    {"a send without receive is refused", a_send_without_receive_is_refused},
    {"mismatched collectives are refused", mismatched_collectives_are_refused},
    {"the host issues in order and may be held up", the_host_issues_in_order_and_may_be_held_up},
    {"one hardware queue blocks behind its head", one_hardware_queue_blocks_behind_its_head},
    {"copies wait for an engine", copies_wait_for_an_engine},
    {"measured factors hold in the transfer only", measured_factors_hold_in_the_transfer_only},
    {"waiting ends when the last member came", waiting_ends_when_the_last_member_came},
    {"members may load a resource once together", members_may_load_a_resource_once_together},
    {"copies start in order of arrival", copies_start_in_order_of_arrival},
    {"copies that arrive together start by operation",
     copies_that_arrive_together_start_by_operation},
    {"long times stay exact", long_times_stay_exact},
    {"time that cannot be counted is an error", time_that_cannot_be_counted_is_an_error},
    {"nothing takes no time", nothing_takes_no_time},
    {"a run can be stopped and says how far it got", a_run_can_be_stopped_and_says_how_far_it_got},
    {"a run that may need too much memory does not begin",
     a_run_that_may_need_too_much_memory_does_not_begin},
    {"nothing is allocated in steady state", nothing_is_allocated_in_steady_state},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("engine", tests);
}
