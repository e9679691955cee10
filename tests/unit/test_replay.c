/* From a trace to a program that runs: what is recorded, what is inferred, what stays unexplained.
 */
#include "tests/unit/replaying.h"

#include "tests/support/check.h"

#define ONE  "workload: {trace: r0.json}\n"
#define STEP "workload: {trace: r0.json, replay: {step: 3}}\n"
#define TWO  "workload: {trace: [r0.json, r1.json]}\n"

static ovl_time us(int64_t n)
{
    return n * OVL_US;
}

static const ovl_against_op *op_named(const replaying *t, const char *name)
{
    for (uint32_t i = 0; t->good && i < t->result.replay->n_ops; i++) {
        if (strcmp(t->result.replay->ops[i].name, name) == 0) {
            return &t->result.replay->ops[i];
        }
    }
    static const ovl_against_op none = {.count = 0, .predicted = -1};
    return &none;
}

/* --- Streams and launches --- */

/* Launches at 10, 20, 30 (calls of 5), kernels after 10 us on an idle stream: a at 20 for 100; b
 * was launched long before and follows after the gap of 2 (b at 122, c at 174), c ends at 184. */
#define THREE                                                                                      \
    LAUNCH(10, 1)                                                                                  \
    LAUNCH(20, 2)                                                                                  \
    LAUNCH(30, 3)                                                                                  \
    KERNEL("a", 7, 20, 100, 1) KERNEL("b", 7, 122, 50, 2) KERNEL("c", 7, 174, 10, 3)

static void kernels_follow_their_launches_and_each_other(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL, TRACE(0, THREE), NULL));
    CHECK_HAS(replay_said(&t), "warning: NO COMMUNICATION FOUND: of 3 kernels");
    CHECK_INT(t.result.step, us(174)); /* the trace begins with the first call, at 10 */
    CHECK_INT(t.result.replay->measured, us(174));
    CHECK_INT(t.result.replay->unexplained, 0);
    CHECK(t.result.replay->predictive);
    CHECK_INT(t.result.term[OVL_COMPUTE], us(160)); /* gaps are no compute */
    CHECK_TEXT(t.result.interference, "none");
    CHECK(replay_inferred(&t, "10 us"));
    CHECK(replay_inferred(&t, "2 us"));
    replayed(&t);
}

/* Starts are no part of the replay: with b 30 us later, and c with it, the pause before b (30 us at
 * 132 - 10 more than its gap of 2) is unexplained and kept, or left out. */
#define LATE                                                                                       \
    LAUNCH(10, 1)                                                                                  \
    LAUNCH(20, 2)                                                                                  \
    LAUNCH(30, 3)                                                                                  \
    KERNEL("a", 7, 20, 100, 1) KERNEL("b", 7, 152, 50, 2) KERNEL("c", 7, 204, 10, 3)

static void what_nothing_explains_is_counted_and_kept_or_left_out(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL, TRACE(0, LATE), NULL));
    CHECK_INT(t.result.step, us(204));
    CHECK_INT(t.result.replay->unexplained, us(30));
    CHECK_INT(t.result.replay->out_of, us(204));
    CHECK(!t.result.replay->predictive); /* 30 of 204 is more than 5 % */
    replayed(&t);
    CHECK(replay(&t, ONE, "workload.replay.unexplained=drop", TRACE(0, LATE), NULL));
    CHECK_INT(t.result.step, us(174));
    CHECK_INT(t.result.replay->unexplained, us(30)); /* it still is */
    replayed(&t);
}

/* Without launches in the file: gaps of 2, 3, 2, 30, 2 us between kernels of 10. The median of
 * those up to 5 is 2, their mean 9/4, so the device's gap is 2. Measured 6 * 10 + 39 = 99;
 * predicted the same but for the 1 that the 3 is longer, which is not 5 yet, and is in the pause of
 * the 30 (28 longer): 29 us are unexplained. */
#define ALONE(name, ts) KERNEL(name, 7, ts, 10, 0)
#define NO_LAUNCH                                                                                  \
    ALONE("a", 0) ALONE("b", 12) ALONE("c", 25) ALONE("d", 37) ALONE("e", 77) ALONE("f", 89)

static void without_launches_the_device_has_its_gap(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL, TRACE(0, NO_LAUNCH), NULL));
    CHECK_HAS(replay_said(&t), "warning: NO COMMUNICATION FOUND: of 6 kernels");
    CHECK_INT(t.result.replay->measured, us(99));
    CHECK_INT(t.result.step, us(99));
    CHECK_INT(t.result.replay->unexplained, us(29));
    CHECK(!t.result.replay->predictive);
    CHECK(replay_inferred(&t, "2 us, the median of 4 gaps of at most 5 us"));
    CHECK(replay_inferred(&t, "so taken as launched before the step: 6 operations"));
    replayed(&t);
    CHECK(replay(&t, ONE, "workload.replay.unexplained=drop", TRACE(0, NO_LAUNCH), NULL));
    CHECK_INT(t.result.step, us(60 + 5 * 2));
    replayed(&t);
}

/* Gaps of 0, 4, 4, 0, 4: the median is 4, which would add 20 where 12 were; the mean is 2.4, and
 * adds as much as there was. */
static void a_device_gap_adds_no_more_than_there_was(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL,
                 TRACE(0, ALONE("a", 0) ALONE("b", 10) ALONE("c", 24) ALONE("d", 38) ALONE("e", 48)
                              ALONE("f", 62)),
                 NULL));
    CHECK_INT(t.result.replay->measured, us(72));
    CHECK_INT(t.result.step, us(72));
    CHECK_INT(t.result.replay->unexplained, 0);
    CHECK(replay_inferred(&t, "2.4 us, the mean of 5 gaps"));
    replayed(&t);
}

/* A call that takes long launches at its end: 500 us, the kernel 5 us after it as the others. */
static void a_long_call_launches_at_its_end(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL,
                 TRACE(0, LAUNCH(0, 1) KERNEL("a", 7, 10, 20, 1) LAUNCH(40, 2)
                              KERNEL("a", 7, 50, 20, 2) CALL("cudaLaunchKernel", 1, 100, 500, 3)
                                  KERNEL("b", 7, 605, 20, 3)),
                 NULL));
    CHECK_INT(t.result.replay->unexplained, 0);
    CHECK_INT(t.result.step, us(625));
    replayed(&t);
}

/* Graphs: one launch, two kernels on two streams. */
static void kernels_of_one_launch_are_issued_together(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL,
                 TRACE(0, LAUNCH(0, 1) KERNEL("a", 7, 10, 20, 1) KERNEL("b", 8, 10, 30, 1)), NULL));
    CHECK_INT(t.result.step, us(40));
    CHECK_INT(t.result.replay->unexplained, 0);
    replayed(&t);
}

/* --- Waits --- */

/* Stream 8 is told at 22 to wait for the event recorded at 16 on stream 7, so for kernel a (20 -
 * 120) and not for c, launched at 18: b runs at 120. */
#define WAITING(record)                                                                            \
    LAUNCH(10, 1)                                                                                  \
    CALL("cudaEventRecord", 1, 16, 1, 4)                                                           \
    LAUNCH(18, 2)                                                                                  \
    CALL("cudaStreamWaitEvent", 1, 24, 1, 5)                                                       \
    LAUNCH(30, 3)                                                                                  \
    KERNEL("a", 7, 20, 100, 1)                                                                     \
    KERNEL("c", 7, 120, 500, 2) KERNEL("b", 8, 120, 50, 3) record

static void a_recorded_wait_is_for_what_was_launched_before_the_event(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL, TRACE(0, WAITING(SYNC("Stream Wait Event", 8, 7, 4, 5))), NULL));
    CHECK(replay_inferred(&t, "1 recorded, 0 inferred"));
    CHECK_INT(op_named(&t, "b")->worst_error, 0);
    CHECK_INT(t.result.replay->unexplained, 0);
    replayed(&t);
}

/* Without the record the latest launch of the other stream is c, which ends after b began: times
 * contradict that, and the end of a fits. */
static void what_times_contradict_is_left_out_and_an_end_that_fits_taken(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL, TRACE(0, WAITING("")), NULL));
    CHECK(replay_inferred(&t, "0 recorded, 0 inferred from the order of calls, 1 from an end"));
    CHECK(replay_inferred(&t, "the times contradict it: 1 wait."));
    CHECK_INT(op_named(&t, "b")->worst_error, 0);
    replayed(&t);
}

/* A collective waits for the kernel before it, its consumer for the collective: a 20 - 120, the
 * all-reduce 120 - 220, the optimizer at 220. */
#define REDUCED                                                                                    \
    LAUNCH(10, 1)                                                                                  \
    CALL("cudaEventRecord", 1, 16, 1, 4)                                                           \
    CALL("cudaStreamWaitEvent", 1, 18, 1, 5)                                                       \
    LAUNCH(20, 2)                                                                                  \
    CALL("cudaStreamWaitEvent", 1, 30, 1, 6)                                                       \
    LAUNCH(40, 3)                                                                                  \
    KERNEL("a", 7, 20, 100, 1)                                                                     \
    REDUCE(9, 120, 100, 2, 1000) KERNEL("adam", 7, 220, 50, 3)

static void a_collective_waits_for_compute_and_its_consumer_for_it(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL, TRACE(0, REDUCED), NULL));
    CHECK(replay_inferred(&t, "0 recorded, 2 inferred from the order of calls, 0 from"));
    CHECK(replay_inferred(&t, "Not seen on every rank of the group: 1 collective."));
    CHECK_INT(t.result.step, us(260));
    CHECK_INT(t.result.n_collectives, 1);
    CHECK_TEXT(t.result.collectives[0].consumer, "adam");
    CHECK_INT(t.result.collectives[0].bytes, 4000);
    CHECK(t.result.collectives[0].busbw < 0); /* of one rank of two: nothing that could be said */
    replayed(&t);
}

/* --- The host --- */

/* It waits for a (20 - 120) until 124 and launches b at 130, on an idle stream at 140. */
#define SYNCED                                                                                     \
    LAUNCH(10, 1)                                                                                  \
    CALL("cudaDeviceSynchronize", 1, 20, 104, 2)                                                   \
    LAUNCH(130, 3) KERNEL("a", 7, 20, 100, 1) KERNEL("b", 7, 140, 10, 3)

static void the_host_waits_for_the_device(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL, TRACE(0, SYNCED), NULL));
    CHECK_INT(t.result.step, us(140));
    CHECK_INT(op_named(&t, "b")->worst_error, 0);
    replayed(&t);
}

/* The step ends with the host's return from a sync: a from 20 to 120, the sync until 125, and the
 * launch at 10 begins it: 115, whatever the latency of a launch (10). */
static void a_step_that_ends_with_a_sync_ends_when_the_sync_returned(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL,
                 TRACE(0, LAUNCH(10, 1) KERNEL("a", 7, 20, 100, 1)
                              CALL("cudaDeviceSynchronize", 1, 20, 105, 2)),
                 NULL));
    CHECK_INT(t.result.replay->measured, us(115));
    CHECK_INT(t.result.step, us(115));
    replayed(&t);
    /* Within a range that the host leaves at 200. */
    CHECK(replay(&t, ONE, NULL,
                 TRACE(0, RANGE("ProfilerStep#1", 0, 200) LAUNCH(10, 1) KERNEL("a", 7, 20, 175, 1)
                              CALL("cudaDeviceSynchronize", 1, 20, 178, 2)),
                 NULL));
    CHECK_INT(t.result.replay->measured, us(200));
    CHECK_INT(t.result.step, us(200));
    replayed(&t);
}

/* A sync that found the device idle takes what it took, and no latency: a ends at 30, the host
 * comes at 40 and leaves at 44, and launches b at 50 for 60. */
static void a_sync_of_an_idle_device_takes_what_it_took(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL,
                 TRACE(0, LAUNCH(10, 1) KERNEL("a", 7, 20, 10, 1)
                              CALL("cudaDeviceSynchronize", 1, 40, 4, 2) LAUNCH(50, 3) KERNEL(
                                  "b", 7, 60, 10, 3) CALL("cudaDeviceSynchronize", 1, 100, 4, 4)),
                 NULL));
    CHECK_INT(t.result.replay->measured, us(94));
    CHECK_INT(t.result.step, us(94));
    CHECK_INT(op_named(&t, "b")->worst_error, 0);
    replayed(&t);
}

/* A copy to pageable memory holds the host until it has ended. */
static void a_copy_that_ends_within_its_call_holds_the_host(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL,
                 TRACE(0, LAUNCH(10, 1) KERNEL("a", 7, 20, 100, 1)
                              CALL("cudaMemcpyAsync", 1, 20, 116, 2)
                                  COPY("Memcpy DtoH (Device -> Pageable)", 7, 121, 10, 2)
                                      LAUNCH(140, 3) KERNEL("b", 7, 150, 10, 3)),
                 NULL));
    CHECK(replay_inferred(&t, "1 from an end within the call"));
    CHECK_INT(t.result.step, us(150));
    CHECK_INT(t.result.term[OVL_COPYING], us(10));
    replayed(&t);
}

/* --- Steps --- */

/* Step 3 is 100 - 300; a was launched before and runs until 150, 50 us into it. */
#define STEPS                                                                                      \
    RANGE("ProfilerStep#2", 0, 100)                                                                \
    RANGE("ProfilerStep#3", 100, 200)                                                              \
    RANGE("validation", 300, 100)                                                                  \
    LAUNCH(10, 1)                                                                                  \
    LAUNCH(110, 2)                                                                                 \
    LAUNCH(310, 3) KERNEL("a", 7, 20, 130, 1) KERNEL("b", 7, 150, 70, 2) KERNEL("c", 7, 320, 9, 3)

static void a_step_has_what_was_launched_in_it_and_what_ran_into_it(void)
{
    replaying t;
    CHECK(replay(&t, STEP, NULL, TRACE(0, STEPS), NULL));
    CHECK_TEXT(t.result.replay->what, "ProfilerStep#3");
    CHECK_INT(t.result.step, us(200)); /* the host's end of it */
    CHECK_INT(op_named(&t, "a")->predicted, us(50));
    CHECK_INT(op_named(&t, "b")->predicted, us(70));
    CHECK_INT(op_named(&t, "c")->count, 0);
    CHECK(replay_inferred(&t, "Launched before the step and run into it: 1 operation."));
    replayed(&t);
}

static void steps_are_chosen_by_number_or_name(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL, TRACE(0, STEPS), NULL)); /* the last */
    CHECK_TEXT(t.result.replay->what, "ProfilerStep#3");
    replayed(&t);
    CHECK(replay(&t, ONE, "workload.replay.step=validation", TRACE(0, STEPS), NULL));
    CHECK_INT(t.result.step, us(100));
    CHECK_INT(op_named(&t, "c")->count, 1);
    replayed(&t);
    CHECK(replay(&t, ONE, "workload.replay.step=all", TRACE(0, STEPS), NULL));
    CHECK_INT(op_named(&t, "a")->predicted, us(130));
    replayed(&t);
    CHECK(!replay(&t, ONE, "workload.replay.step=valuation", TRACE(0, STEPS), NULL));
    CHECK_HAS(replay_said(&t),
              "has no step or range \"valuation\" (did you mean \"validation\"?); it has "
              "ProfilerStep#2, ProfilerStep#3");
    replayed(&t);
}

static const char *many_steps(ovl_arena *arena, uint32_t n)
{
    const char *text = "";
    for (uint32_t i = 0; i < n; i++) {
        text = ovl_arena_printf(arena,
                                "%s,{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":"
                                "\"ProfilerStep#%" PRIu32 "\",\"pid\":1,\"tid\":1,\"ts\":%" PRIu32
                                ",\"dur\":9}",
                                text, i + 1, 10 * i);
    }
    return ovl_arena_printf(arena,
                            "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"pid\":0,\"tid\":7,"
                            "\"ts\":1,\"dur\":3,\"args\":{\"device\":0}}%s]",
                            text);
}

/* 23 steps: 20 are listed, 3 more. */
static void a_step_that_is_missing_is_told_with_all_there_are(void)
{
    replaying t;
    ovl_arena arena = {0};
    CHECK(!replay(&t, ONE, "workload.replay.step=99", many_steps(&arena, 23), NULL));
    CHECK_HAS(replay_said(&t), "it has ProfilerStep#1, ProfilerStep#2, ");
    CHECK_HAS(replay_said(&t), "ProfilerStep#20 and 3 more");
    replayed(&t);
    ovl_arena_free(&arena);
}

#define ONE_STEP(name, at) RANGE(name, at, 1000) KERNEL("a", 7, at, 500, 1)

/* The last step of each file, 1 and 2, are not one: which would be replayed? */
static void files_whose_steps_differ_are_refused(void)
{
    replaying t;
    CHECK(!replay(&t, TWO, NULL, TRACE(0, ONE_STEP("ProfilerStep#1", 0)),
                  TRACE(1, ONE_STEP("ProfilerStep#2", 0))));
    CHECK_HAS(replay_said(&t), "not the same one: \"r0.json\" has ProfilerStep#1; \"r1.json\" has "
                               "ProfilerStep#2");
    replayed(&t);
    CHECK(replay(&t, TWO, "workload.replay.step=all", TRACE(0, ONE_STEP("ProfilerStep#1", 0)),
                 TRACE(1, ONE_STEP("ProfilerStep#2", 0))));
    CHECK(replay_inferred(&t, "the files begin with other steps"));
    replayed(&t);
}

/* Nothing relates two clocks that are 5 s apart: both steps of 1 ms begin at 0, so all takes 1 ms.
 */
static void without_a_common_collective_clocks_are_not_compared(void)
{
    replaying t;
    CHECK(replay(&t, TWO, NULL, TRACE(0, ONE_STEP("ProfilerStep#1", 0)),
                 TRACE(1, ONE_STEP("ProfilerStep#1", 5000000))));
    CHECK_INT(t.result.step, us(1000));
    CHECK_INT(t.result.replay->ranks[1].measured, us(1000));
    CHECK(replay_inferred(&t, "Clocks cannot be compared: 2 sets of ranks"));
    CHECK(!replay_inferred(&t, "clocks set by the ends"));
    CHECK_HAS(replay_said(&t), "NO COMMUNICATION FOUND: of 2 kernels");
    replayed(&t);
}

/* --- Ranks --- */

/* Rank 1 computes 50 us longer and its clock is 7 us ahead. The all-reduce is 150 on rank 0 (it
 * waits) and 100 on rank 1: 100 is the transfer, 50 come out of the run. */
#define RANK(ahead, compute, reduce, wait, end)                                                    \
    RANGE("ProfilerStep#1", ahead, 400)                                                            \
    CALL("cudaLaunchKernel", 1, 1##ahead, 5, 1)                                                    \
    CALL("cudaEventRecord", 1, 2##ahead, 1, 4)                                                     \
    CALL("cudaStreamWaitEvent", 1, 2##ahead, 1, 5)                                                 \
    CALL("cudaLaunchKernel", 1, 3##ahead, 5, 2)                                                    \
    KERNEL("a", 7, 2##ahead, compute, 1) REDUCE(9, wait, reduce, 2, 1000)

static void waiting_for_other_ranks_comes_out_of_the_run(void)
{
    replaying t;
    CHECK(replay(&t, TWO, NULL, TRACE(0, RANK(0, 100, 150, 120, 0)),
                 TRACE(1, RANK(7, 150, 100, 177, 0))));
    CHECK_TEXT(replay_said(&t), "");
    CHECK(replay_inferred(&t, "Matched over the ranks of the group: 1 collective."));
    CHECK_INT(t.result.n_ranks, 2);
    CHECK_INT(t.result.collectives[0].wait, us(50));
    CHECK_INT(t.result.collectives[0].isolated, us(100));
    CHECK_INT(t.result.collectives[0].end, us(270));
    CHECK_INT(t.result.collectives[1].wait, 0);
    CHECK_INT(op_named(&t, "all_reduce 0")->worst_error, 0);
    CHECK_INT(t.result.replay->ranks[1].measured, us(400)); /* began together */
    replayed(&t);
}

static void ranks_that_disagree_are_not_matched(void)
{
    replaying t;
    CHECK(replay(&t, TWO, NULL, TRACE(0, RANK(0, 100, 150, 120, 0)),
                 TRACE(1, RANK(7, 150, 100, 177, 0) REDUCE(9, 300, 10, 2, 1))));
    CHECK(replay_inferred(&t,
                          "other ranks have other collectives (cut or sampled traces): 1 group."));
    CHECK_INT(t.result.collectives[0].wait, 0);
    CHECK_INT(t.result.collectives[0].isolated, us(150));
    replayed(&t);
}

/* --- What cannot be replayed --- */

static void a_trace_without_a_device_is_refused(void)
{
    replaying t;
    CHECK(!replay(&t, ONE, NULL, TRACE(0, LAUNCH(10, 1)), NULL));
    CHECK_HAS(replay_said(&t), "s.yaml:1:19: error: there is nothing to replay");
    replayed(&t);
    CHECK(!replay(&t, ONE, NULL, "nothing", NULL));
    CHECK_HAS(replay_said(&t), "is no trace");
    CHECK_INT(t.errs.errors, 1); /* not once more that nothing is in it */
    replayed(&t);
}

static ovl_time length_of(const replaying *t, uint32_t rank, const char *name)
{
    const ovl_recorded *rec = t->read.recorded;
    for (uint32_t i = 0; t->good && i < rec->ranks[rank].n_ops; i++) {
        const ovl_rec_op *op = &rec->ranks[rank].ops[i];
        if (strcmp(ovl_names_text(&rec->names, op->name), name) == 0) {
            return op->length;
        }
    }
    return -1;
}

#define FACTORS                                                                                    \
    "hardware:\n"                                                                                  \
    "  interference:\n"                                                                            \
    "    - {kernel: big, collective: all_reduce, kernel_factor: 1.25, collective_factor: 1.25}\n"  \
    "    - {kernel: tail, collective: all_reduce, collective_factor: 2}\n"                         \
    "interference: measured\n"                                                                     \
    "workload: {trace: [r0.json, r1.json], replay: {classes: [{name: gemm, class: big}]}}\n"
#define BESIDE0                                                                                    \
    TRACE(0, LAUNCH(90, 1) KERNEL("void cutlass_gemm<4>(int)", 7, 100, 60, 1) LAUNCH(100, 2)       \
                 REDUCE(20, 110, 40, 2, 1024))
#define BESIDE1                                                                                    \
    TRACE(1, LAUNCH(100, 1) REDUCE(20, 110, 40, 1, 1024) LAUNCH(120, 2) KERNEL(                    \
                 "tail(float*)", 7, 130, 20, 2) LAUNCH(130, 3) KERNEL("other", 8, 140, 10, 3))

/*
 *     rank 0  gemm   [100, 160)    beside the all-reduce for 40: 60 - 40 (1 - 1/1.25) = 52
 *             reduce [110, 150)    until 130 the gemm slows it: 20 (1 - 1/1.25) = 4; then the tail
 *     rank 1  reduce [110, 150)    of the other rank does more: 20 (1 - 1/2) = 10; 40 - 14 = 26
 *             tail   [130, 150)    no kernel factor: as it was
 *             other  [140, 150)    no factor at all
 */
static void measured_factors_are_divided_out_and_put_on_again(void)
{
    replaying t;
    CHECK(replay(&t, FACTORS, NULL, BESIDE0, BESIDE1));
    CHECK_INT(length_of(&t, 0, "cutlass_gemm"), 52 * OVL_US);
    CHECK_INT(length_of(&t, 0, "all_reduce 0"), 26 * OVL_US);
    CHECK_INT(length_of(&t, 1, "all_reduce 0"), 26 * OVL_US);
    CHECK_INT(length_of(&t, 1, "tail"), 20 * OVL_US);
    CHECK_INT(length_of(&t, 1, "other"), 10 * OVL_US);
    CHECK(replay_inferred(&t, "divided out of what was recorded: 8 us of 1 kernel and 14 us of 1 "
                              "collective."));
    CHECK(replay_inferred(&t, "1 kernel ran beside a collective with which the profile has no"));
    CHECK_TEXT(t.result.interference, "measured");
    CHECK_INT(t.result.replay->predicted, t.result.replay->measured);
    CHECK_INT(t.result.replay->measured, 160 * OVL_US - 90 * OVL_US);
    replayed(&t);
    /* Without it nothing is changed; an all-reduce of twice the bandwidth takes 13 of 26. */
    CHECK(replay(&t, FACTORS, "interference=none", BESIDE0, BESIDE1));
    CHECK_INT(length_of(&t, 0, "cutlass_gemm"), 60 * OVL_US);
    replayed(&t);
    CHECK(replay(&t, FACTORS, "workload.what_if={links: [{bandwidth: 2}]}", BESIDE0, BESIDE1));
    CHECK_INT(length_of(&t, 0, "all_reduce 0"), 13 * OVL_US);
    replayed(&t);
}

static void measured_interference_needs_factors(void)
{
    replaying t;
    CHECK(!replay(&t, ONE, "interference=measured", TRACE(0, THREE), NULL));
    CHECK_HAS(replay_said(&t), "only if the hardware has factors");
    replayed(&t);
    CHECK(!replay(&t, FACTORS, "workload.replay.classes[0].name=(", BESIDE0, BESIDE1));
    CHECK_HAS(replay_said(&t), "name is \"(\": no pattern: ");
    replayed(&t);
}

/* THREE takes 184 us, with whatever it cost that a, b and c ran beside others. A model of sharing
 * would count it twice. */
static void the_shared_model_is_refused(void)
{
    replaying t;
    CHECK(!replay(&t, "interference: shared\n" ONE, NULL, TRACE(0, THREE), NULL));
    CHECK_HAS(replay_said(&t), "s.yaml:1:15: error: a trace is replayed with interference none");
    CHECK_HAS(replay_said(&t), "which shared would add once more");
    replayed(&t);
    CHECK(!replay(&t, ONE, "interference=shared", TRACE(0, THREE), NULL));
    CHECK_HAS(replay_said(&t), "which shared would add once more");
    replayed(&t);
    CHECK(replay(&t, ONE, "interference=none", TRACE(0, THREE), NULL));
    replayed(&t);
}

#define OWN_OP(rank, id)                                                                           \
    "{\"ph\":\"X\",\"pid\":" #rank ",\"tid\":1,\"ts\":0,\"dur\":1,\"cat\":"                        \
    "\"communication\",\"name\":\"r\",\"args\":{\"start_ps\":0,\"end_ps\":1000000,\"op\":"         \
    "\"all_reduce\",\"group\":\"g\",\"members\":2,\"bytes\":8,\"id\":" #id                         \
    ",\"stream\":\"n\",\"kind\":\"collective\",\"comm\":0,\"place\":" #rank "}}"
#define OWN                                                                                        \
    "{\"otherData\":{\"program\":\"overlapsim\",\"ranks\":2},\"traceEvents\":[" OWN_OP(            \
        0, 0) "," OWN_OP(1, 0)

/* A run that was exported is replayed whole or not at all. */
static void a_trace_of_our_own_is_replayed_whole(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL, OWN "]}", NULL));
    CHECK_INT(t.result.step, us(1));
    replayed(&t);
    CHECK(!replay(&t, ONE, NULL, OWN "," OWN_OP(0, 1), NULL)); /* cut: rank 1 has one less */
    CHECK_HAS(replay_said(&t),
              "s.yaml:1:19: error: \"r0.json\" cannot be replayed: it is truncated");
    CHECK_INT(ovl_errs_status(&t.errs), OVL_E_INPUT);
    replayed(&t);
    CHECK(!replay(&t, ONE, NULL, OWN "," OWN_OP(0, 1) "]}", NULL)); /* a line was taken out */
    CHECK_HAS(replay_said(&t), "\"r0.json\" cannot be replayed: the ranks of a group have");
    replayed(&t);
}

static void keys_that_do_not_belong_to_a_trace_are_refused(void)
{
    replaying t;
    CHECK(!replay(&t, "workload: {trace: r0.json, ranks: 2, microbatches: 3}\n", NULL,
                  TRACE(0, THREE), NULL));
    CHECK_HAS(replay_said(&t), "\"ranks\" belongs to a workload of");
    CHECK_HAS(replay_said(&t), "\"microbatches\" belongs to a workload of");
    replayed(&t);
    CHECK(!replay(&t, ONE, "workload.trace=r1.json", TRACE(0, THREE), NULL));
    CHECK_HAS(replay_said(&t), "can be named in the scenario and its variants only");
    replayed(&t);
}

/* Launches take 1 and 5 us, so their (lower) median is 1: b is predicted at 21, measured at 25,
 * which is not late enough to be unexplained. The step: 22 of 26 us, which is more than 5 % away.
 * With b twice as fast it is 21.5 us, no more predictive. With b at 21 it is. */
static void a_step_far_from_the_measured_one_is_not_predictive(void)
{
    static const char *const changes[] = {NULL, "workload.what_if.kernels=[{name: b, speedup: 2}]"};
    for (size_t i = 0; i < 2; i++) {
        replaying t;
        CHECK(replay(&t, ONE, changes[i],
                     TRACE(0, CALL("cudaLaunchKernel", 1, 0, 1, 1)
                                  CALL("cudaLaunchKernel", 1, 20, 1, 2) KERNEL("a", 7, 1, 1, 1)
                                      KERNEL("b", 7, 25, 1, 2)),
                     NULL));
        CHECK_INT(t.result.replay->unexplained, 0);
        CHECK_INT(t.result.replay->measured, us(26));
        CHECK_INT(t.result.replay->unchanged, us(22));
        CHECK_INT(t.result.step, i ? us(22) - us(1) / 2 : us(22));
        CHECK(!t.result.replay->predictive);
        replayed(&t);
        CHECK(replay(&t, ONE, changes[i],
                     TRACE(0, CALL("cudaLaunchKernel", 1, 0, 1, 1)
                                  CALL("cudaLaunchKernel", 1, 20, 1, 2) KERNEL("a", 7, 1, 1, 1)
                                      KERNEL("b", 7, 21, 1, 2)),
                     NULL));
        CHECK(t.result.replay->predictive);
        replayed(&t);
    }
}

static void a_first_bucket_alone_is_refused(void)
{
    replaying t;
    CHECK(!replay(&t, ONE, "workload.what_if.first_bucket_cap=1MiB", TRACE(0, THREE), NULL));
    CHECK_HAS(replay_said(&t), "first_bucket_cap needs bucket_cap");
    replayed(&t);
}

/* Names go to terminals: what could be taken for a command becomes a question mark. */
static void control_characters_of_names_are_replaced(void)
{
    replaying t;
    CHECK(
        replay(&t, ONE, NULL, TRACE(0, LAUNCH(10, 1) KERNEL("a\033[31mred", 7, 20, 100, 1)), NULL));
    CHECK_INT(op_named(&t, "a?[31mred")->count, 1);
    replayed(&t);
}

/* A stated alpha cannot be longer than an operation: the all-reduce takes less than 1 s. */
static void a_stated_alpha_longer_than_an_operation_is_refused(void)
{
    replaying t;
    CHECK(!replay(&t, ONE, "workload.what_if.links=[{alpha: 1 s, latency: 0}]", BESIDE0, NULL));
    CHECK_HAS(replay_said(&t), "alpha is 1 s, but");
    CHECK_HAS(replay_said(&t), "took only");
    replayed(&t);
}

/* Two files of rank 0 are no ranks of one job: nothing is matched. */
static void files_of_the_same_rank_are_not_matched(void)
{
    replaying t;
    CHECK(replay(&t, TWO, NULL, BESIDE0, BESIDE0));
    CHECK(replay_inferred(&t, "several files say the same rank"));
    replayed(&t);
}

/* Times far away, operations over one another, no time at all: it runs, whatever it says. */
static void odd_times_are_survived(void)
{
    replaying t;
    CHECK(replay(&t, ONE, NULL,
                 TRACE(0, KERNEL("a", 7, 0, 0, 1) KERNEL("a", 7, 0, 0, 1) KERNEL("b", 7, -5, 100, 2)
                              KERNEL("c", 7, 10, 5, 3) KERNEL("far", 7, 4000000000000000, 1, 4)),
                 NULL));
    CHECK(replay_inferred(&t, "Begun before the one in front on the stream ended"));
    replayed(&t);
    /* A step of 53 days and more, 2^62 ns, is as long as time can be counted. */
    replay(&t, ONE, NULL,
           TRACE(0, RANGE("ProfilerStep#1", 0, 4611686018427387) LAUNCH(1, 1)
                        KERNEL("a", 7, 20, 5, 1) SYNC("Stream Sync", 7, -1, 4000000000000000, 1)),
           NULL);
    CHECK(t.good || t.errs.errors > 0);
    replayed(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"kernels follow their launches and each other",
         kernels_follow_their_launches_and_each_other},
        {"what nothing explains is counted, and kept or left out",
         what_nothing_explains_is_counted_and_kept_or_left_out},
        {"without launches the device has its gap", without_launches_the_device_has_its_gap},
        {"a device gap adds no more than there was", a_device_gap_adds_no_more_than_there_was},
        {"a long call launches at its end", a_long_call_launches_at_its_end},
        {"kernels of one launch are issued together", kernels_of_one_launch_are_issued_together},
        {"a recorded wait is for what was launched before the event",
         a_recorded_wait_is_for_what_was_launched_before_the_event},
        {"what times contradict is left out, and an end that fits taken",
         what_times_contradict_is_left_out_and_an_end_that_fits_taken},
        {"a collective waits for compute, and its consumer for it",
         a_collective_waits_for_compute_and_its_consumer_for_it},
        {"the host waits for the device", the_host_waits_for_the_device},
        {"a step that ends with a sync ends when the sync returned",
         a_step_that_ends_with_a_sync_ends_when_the_sync_returned},
        {"a sync of an idle device takes what it took",
         a_sync_of_an_idle_device_takes_what_it_took},
        {"a copy that ends within its call holds the host",
         a_copy_that_ends_within_its_call_holds_the_host},
        {"a step has what was launched in it, and what ran into it",
         a_step_has_what_was_launched_in_it_and_what_ran_into_it},
        {"steps are chosen by number or name", steps_are_chosen_by_number_or_name},
        {"a step that is missing is told with all there are",
         a_step_that_is_missing_is_told_with_all_there_are},
        {"files whose steps differ are refused", files_whose_steps_differ_are_refused},
        {"without a common collective clocks are not compared",
         without_a_common_collective_clocks_are_not_compared},
        {"waiting for other ranks comes out of the run",
         waiting_for_other_ranks_comes_out_of_the_run},
        {"ranks that disagree are not matched", ranks_that_disagree_are_not_matched},
        {"a trace without a device is refused", a_trace_without_a_device_is_refused},
        {"the shared model is refused", the_shared_model_is_refused},
        {"measured factors are divided out, and put on again",
         measured_factors_are_divided_out_and_put_on_again},
        {"measured interference needs factors", measured_interference_needs_factors},
        {"a trace of our own is replayed whole", a_trace_of_our_own_is_replayed_whole},
        {"keys that do not belong to a trace are refused",
         keys_that_do_not_belong_to_a_trace_are_refused},
        {"a step far from the measured one is not predictive",
         a_step_far_from_the_measured_one_is_not_predictive},
        {"a first bucket alone is refused", a_first_bucket_alone_is_refused},
        {"control characters of names are replaced", control_characters_of_names_are_replaced},
        {"a stated alpha longer than an operation is refused",
         a_stated_alpha_longer_than_an_operation_is_refused},
        {"files of the same rank are not matched", files_of_the_same_rank_are_not_matched},
        {"odd times are survived", odd_times_are_survived},
        CU_TEST_INFO_NULL,
    };
    return check_main("replay", tests);
}
