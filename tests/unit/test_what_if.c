/* What-ifs on a replayed step: what they change, once, and what they refuse or say. */
#include "tests/unit/replaying.h"

#include "tests/support/check.h"

#define ONE "workload: {trace: r0.json}\n"
#define TWO "workload: {trace: [r0.json, r1.json]}\n"

static ovl_time us(int64_t n)
{
    return n * OVL_US;
}

/* --- Buckets --- */

/* A copy on the device, of so many bytes, right behind what ran before on its stream. */
#define MOVE(ts, bytes)                                                                            \
    "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy DtoD (Device -> Device)\", "      \
    "\"pid\": 0, \"tid\": 7, \"ts\": " #ts ", \"dur\": 10, \"args\": {\"device\": 0, \"stream\": " \
    "7, \"bytes\": " #bytes "}},\n"

/* Two buckets of 8000 and 6000 bytes: all-reduces of 2000 and 1500 floats, each after its kernel.
 * They end at 300, and four copies take 340. */
#define BUCKETS(a, b, c, d)                                                                        \
    KERNEL("a", 7, 0, 100, 0)                                                                      \
    KERNEL("b", 7, 100, 100, 0)                                                                    \
    REDUCE(9, 100, 80, 0, 2000)                                                                    \
    REDUCE(9, 200, 100, 0, 1500)                                                                   \
    MOVE(300, a) MOVE(310, b) MOVE(320, c) MOVE(330, d)

static bool rebucket(replaying *t, const char *caps, const char *trace)
{
    return replay(t, ONE, caps, trace, NULL);
}

/* 3000 + 5000 is the first bucket, 2000 + 4000 the second. Closed at 8000 they are what they were,
 * with the step as it was; closed at 3000 each of the first two is a bucket, and the others are
 * one more: 2000 is too little. */
static void copies_tell_the_gradients(void)
{
    replaying t;
    const char *trace = TRACE(0, BUCKETS(3000, 5000, 2000, 4000));
    CHECK(rebucket(&t, "workload.what_if={bucket_cap: 8000 B, first_bucket_cap: 8000 B}", trace));
    CHECK_TEXT(replay_said(&t), "");
    CHECK(replay_inferred(&t, "What if 2 buckets became 2"));
    CHECK(replay_inferred(&t, "the 4 gradients are those of copies that add up"));
    CHECK_INT(t.result.step, us(340));
    replayed(&t);
    CHECK(rebucket(&t, "workload.what_if={bucket_cap: 3000 B, first_bucket_cap: 3000 B}", trace));
    CHECK(replay_inferred(&t, "What if 2 buckets became 3"));
    replayed(&t);
}

/* 3000 + 4000 is not 8000, and the run 4000 + 4000 has no 6000 behind it. */
static void copies_that_do_not_add_up_tell_nothing(void)
{
    replaying t;
    CHECK(rebucket(&t, "workload.what_if={bucket_cap: 8000 B}",
                   TRACE(0, BUCKETS(3000, 4000, 4000, 3000))));
    CHECK(replay_inferred(&t, "no copies of the step add up to the buckets"));
    replayed(&t);
}

/* Stated ones count: 3000, 5000 and 6000 closed at 6000 are 8000 and 6000. What does not add up is
 * refused. */
static void stated_gradients_must_add_up(void)
{
    static const struct {
        const char *set, *said;
    } wrong[] = {
        {"workload.what_if={bucket_cap: 1 KB, gradients: [{bytes: 3000 B, count: 3}]}",
         "their sizes do not add up to bucket 0 of the step (7.813 KiB, 8000 bytes)"},
        {"workload.what_if={bucket_cap: 1 KB, gradients: [{bytes: 8000 B}, {bytes: 6001 B}]}",
         "their sizes do not add up to bucket 1"},
        {"workload.what_if={bucket_cap: 1 KB, gradients: [{bytes: 2000 B, count: 8}]}",
         "there are more than the 2 buckets of the step hold"},
        {"workload.what_if={gradients: [{bytes: 8000 B}]}", "gradients needs bucket_cap"},
    };
    replaying t;
    const char *trace = TRACE(0, BUCKETS(1, 1, 1, 1));
    CHECK(rebucket(&t,
                   "workload.what_if={bucket_cap: 6000 B, first_bucket_cap: 6000 B, gradients: "
                   "[{bytes: 3000 B}, {bytes: 5000 B}, {bytes: 6000 B}]}",
                   trace));
    CHECK(replay_inferred(&t, "What if 2 buckets became 2"));
    CHECK(replay_inferred(&t, "the 3 gradients are as stated"));
    replayed(&t);
    for (size_t i = 0; i < OVL_COUNT(wrong); i++) {
        CHECK(!rebucket(&t, wrong[i].set, trace));
        CHECK_HAS(replay_said(&t), wrong[i].said);
        replayed(&t);
    }
}

/* --- Each operation once --- */

/* a takes 100 and b 50, one after the other. Twice as fast, a by the first entry and b by the
 * second, they take 75; the second leaves a alone. */
static void an_operation_is_changed_by_the_first_entry_that_fits(void)
{
    replaying t;
    const char *trace = TRACE(0, KERNEL("a", 7, 0, 100, 0) KERNEL("b", 7, 100, 50, 0));
    CHECK(replay(&t, ONE,
                 "workload.what_if.kernels=[{name: a, speedup: 2}, {name: '[ab]', speedup: 2}]",
                 trace, NULL));
    CHECK_INT(t.result.step, us(75));
    replayed(&t);
    CHECK(!replay(&t, ONE,
                  "workload.what_if.kernels=[{name: a, speedup: 2}, {name: a, speedup: 2}]", trace,
                  NULL));
    CHECK_HAS(replay_said(&t), "matches \"a\" that no earlier entry has changed");
    replayed(&t);
    CHECK(!replay(&t, ONE, "workload.what_if.links=[{bandwidth: 2}, {bandwidth: 2}]",
                  TRACE(0, REDUCE(9, 0, 100, 0, 1000)), NULL));
    CHECK_HAS(replay_said(&t), "the step has no communication that no earlier entry has changed");
    replayed(&t);
}

/* --- Alpha --- */

/* Sizes 1, 2, 3 and times 10, 2, 12 us: the line is 6 + 1 a size, above the 2 us. Alpha is cut to
 * 2, and at twice the bandwidth they take 6 + 2 + 7 = 15 us of 24: a guess, and said to be one.
 * Other latency would make the 2 us nothing: it is refused, unless alpha is stated: 1 us less each.
 */
static void a_line_above_the_shortest_tells_no_latency(void)
{
    replaying t;
    const char *trace =
        TRACE(0, REDUCE(9, 0, 10, 0, 1000) REDUCE(9, 10, 2, 0, 2000) REDUCE(9, 12, 12, 0, 3000));
    CHECK(replay(&t, ONE, "workload.what_if.links=[{bandwidth: 2}]", trace, NULL));
    CHECK_INT(t.result.step, us(15));
    CHECK(replay_inferred(&t, "alpha is 2 us, the shortest of them"));
    CHECK(replay_inferred(&t, "so the split is a guess"));
    replayed(&t);
    CHECK(!replay(&t, ONE, "workload.what_if.links=[{latency: 0}]", trace, NULL));
    CHECK_HAS(replay_said(&t),
              "`latency` needs `alpha`: the line through bytes and times says that "
              "6 us do not depend on bytes");
    replayed(&t);
    CHECK(replay(&t, ONE, "workload.what_if.links=[{latency: 0, alpha: 1 us}]", trace, NULL));
    CHECK_INT(t.result.step, us(21));
    replayed(&t);
}

/* One size, 100 us: where latency ends is not in the trace, and an alpha of 0 would leave another
 * latency without effect. With 20 us stated, twice the latency makes it 120. */
static void one_size_tells_no_latency(void)
{
    replaying t;
    const char *trace = TRACE(0, REDUCE(9, 0, 100, 0, 1000));
    CHECK(!replay(&t, ONE, "workload.what_if.links=[{latency: 2}]", trace, NULL));
    CHECK_HAS(replay_said(&t), "`latency` needs `alpha`: all that are seen have one size");
    replayed(&t);
    CHECK(replay(&t, ONE, "workload.what_if.links=[{latency: 2, alpha: 20 us}]", trace, NULL));
    CHECK_INT(t.result.step, us(120));
    replayed(&t);
}

/* --- Unknown bytes --- */

/* Without arguments nobody knows the bytes: alpha cannot be told and is 0, so that at twice the
 * bandwidth the 100 us are 50; and there are no buckets to be changed. */
static void unknown_bytes_are_said(void)
{
    replaying t;
    const char *trace = TRACE(0, KERNEL("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 9, 0, 100, 0));
    CHECK(replay(&t, ONE, "workload.what_if.links=[{bandwidth: 2}]", trace, NULL));
    CHECK_INT(t.result.step, us(50));
    CHECK(replay_inferred(&t, "alpha is 0 s, since no size is known"));
    if (CHECK_INT(t.result.n_collectives, 1)) {
        CHECK_INT(t.result.collectives[0].bytes, 0);
    }
    replayed(&t);
    CHECK(!replay(&t, ONE, "workload.what_if.bucket_cap=1MiB", trace, NULL));
    CHECK_HAS(replay_said(&t), "no all-reduce or reduce-scatter of known bytes");
    replayed(&t);
}

/* An import asks only how a replay compares with what was measured: the same answer. The ends of
 * the all-reduce set the clocks, so rank 0 begins 40 us behind rank 1, which then waits for it. */
static void a_comparison_alone_is_the_same(void)
{
    replaying t;
    ovl_result alone;
    CHECK(replay(&t, TWO, NULL, TRACE(0, REDUCE(9, 0, 100, 0, 1000)),
                 TRACE(1, REDUCE(9, 0, 140, 0, 1000))));
    ovl_analyse_options options = {.measured = t.lowered.measured, .only_measured = true};
    CHECK(ovl_analyse(&t.lowered.program, &options, &t.arena, &alone, NULL, &t.errs));
    CHECK_INT(alone.replay->predicted, t.result.replay->predicted);
    CHECK_INT(alone.replay->predicted, us(140));
    CHECK_INT(alone.replay->measured, t.result.replay->measured);
    CHECK(alone.n_ranks == 0 && t.result.n_ranks > 0);
    replayed(&t);
}

/* --- Keys that are wrong --- */

/* With what else is wrong, each where its value stands: nothing is replayed then. */
static void patterns_that_are_none_are_told_where_they_stand(void)
{
    replaying t;
    const char *trace = TRACE(0, REDUCE(9, 0, 100, 0, 1000));
    CHECK(!replay(&t,
                  "workload: {trace: r0.json, replay: {comm: '('},\n"
                  "           what_if: {kernels: [{speedup: 2}, {name: '*'}]}}\n",
                  NULL, trace, NULL));
    CHECK_TEXT(replay_said(&t),
               "s.yaml:1:43: error: comm is \"(\": no pattern: Unmatched ( or \\(\n"
               "s.yaml:2:32: error: kernels: \"name\" is missing\n"
               "s.yaml:2:53: error: name is \"*\": no pattern: Invalid preceding "
               "regular expression\n");
    replayed(&t);
}

/* --- What is said of ranks --- */

static void missing_ranks_are_said(void)
{
    replaying t;
    CHECK(replay(&t, ONE, "workload.what_if.links=[{bandwidth: 2}]",
                 TRACE(0, REDUCE(9, 0, 100, 0, 1000)), NULL));
    CHECK(replay_inferred(&t, "1 of 2 ranks: waiting for the missing ranks counts as transfer"));
    CHECK(replay_inferred(&t, "Not seen on every rank of the group: 1 collective."));
    CHECK(replay_inferred(&t, "scaled as well: an upper bound"));
    replayed(&t);
    CHECK(replay(&t, TWO, NULL, TRACE(0, REDUCE(9, 0, 100, 0, 1000)),
                 TRACE(1, REDUCE(9, 0, 100, 0, 1000))));
    CHECK(!replay_inferred(&t, "of 2 ranks"));
    CHECK(replay_inferred(&t, "Matched over the ranks of the group: 1 collective."));
    replayed(&t);
}

/* The third of three ends 150 us later on rank 1, whose clock the other two set: more than 0.1 ms
 * and than a tenth of its 200 us. With 90 us it is no warning. */
static void collectives_that_end_apart_are_said(void)
{
    replaying t;
    const char *rank0 = TRACE(0, REDUCE(9, 0, 200, 0, 1000) REDUCE(9, 300, 200, 0, 1000)
                                     REDUCE(9, 600, 200, 0, 1000));
    CHECK(replay(&t, TWO, NULL, rank0,
                 TRACE(1, REDUCE(9, 0, 200, 0, 1000) REDUCE(9, 300, 200, 0, 1000)
                              REDUCE(9, 750, 200, 0, 1000))));
    CHECK(replay_inferred(&t, "WARNING: 1 of 3 matched collectives end more than 0.1 ms apart"));
    replayed(&t);
    CHECK(replay(&t, TWO, NULL, rank0,
                 TRACE(1, REDUCE(9, 0, 200, 0, 1000) REDUCE(9, 300, 200, 0, 1000)
                              REDUCE(9, 690, 200, 0, 1000))));
    CHECK(!replay_inferred(&t, "apart: they may not"));
    replayed(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"copies tell the gradients", copies_tell_the_gradients},
        {"copies that do not add up tell nothing", copies_that_do_not_add_up_tell_nothing},
        {"stated gradients must add up", stated_gradients_must_add_up},
        {"an operation is changed by the first entry that fits",
         an_operation_is_changed_by_the_first_entry_that_fits},
        {"a line above the shortest tells no latency", a_line_above_the_shortest_tells_no_latency},
        {"one size tells no latency", one_size_tells_no_latency},
        {"unknown bytes are said", unknown_bytes_are_said},
        {"a comparison alone is the same", a_comparison_alone_is_the_same},
        {"patterns that are none are told where they stand",
         patterns_that_are_none_are_told_where_they_stand},
        {"missing ranks are said", missing_ranks_are_said},
        {"collectives that end apart are said", collectives_that_end_apart_are_said},
        CU_TEST_INFO_NULL,
    };
    return check_main("what_if", tests);
}
