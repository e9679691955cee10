/* Data parallelism of the stages of a pipeline: when parameters are gathered and let go, and in how
 * many parts gradients are reduced. */
#include "models/schedule_csv.h"
#include "tests/support/lowering.h"

#define DATA_OF(stages, more)                                                                      \
    "hardware:\n"                                                                                  \
    "  collectives:\n"                                                                             \
    "    - {op: all_reduce, alpha: 0.1 ms, beta: 100 MiB/ms}\n"                                    \
    "    - {op: all_gather, alpha: 0.1 ms, beta: 100 MiB/ms}\n"                                    \
    "    - {op: reduce_scatter, alpha: 0.1 ms, beta: 100 MiB/ms}\n"                                \
    "mesh: {axes: {dp: 2, pp: 2}}\n"                                                               \
    "workload:\n"                                                                                  \
    "  stages: [{name: s, repeat: " stages ", forward: 1 ms, backward_input: 1 ms, "               \
    "backward_weight: 1 ms, params: 100 MiB" more "}]\n"                                           \
    "overlap: {pipeline: {schedule: 1f1b, microbatches: 2, data_parallel: {group: dp}}}\n"
#define DATA DATA_OF("2", "")
#define FOUR DATA_OF("4", ", transfer: 40 MiB")

/* The list of one rank after the pass. */
static const char *resharded(bench *t, const char *rows, bool always, bool ahead)
{
    ovl_schedule s;
    ovl_arena_free(&t->arena);
    t->errs = (ovl_errs){.arena = &t->arena};
    CHECK(ovl_schedule_read_csv("s.csv", rows, &s, NULL, &t->arena, &t->errs));
    ovl_schedule_reshard(&s, always, ahead, &s, &t->arena);
    return ovl_schedule_print_csv(&s, OVL_CSV_NEW, &t->arena);
}

/* A backward keeps what it gathered until the next forward has run; the last one lets go. */
static void after_each_forward(void)
{
    bench t = {0};
    CHECK_TEXT(resharded(&t, "0F0,0F1,0B0,0F2,0B1,0B2\n", false, false),
               "0UNSHARD,0F0,0RESHARD,0UNSHARD,0F1,0RESHARD,0UNSHARD,0B0,0F2,0RESHARD,0UNSHARD,"
               "0B1,0B2,0RESHARD\n");
    CHECK_TEXT(resharded(&t, "0F0,0F1,0I0,0W0,0I1,0W1\n", false, false),
               "0UNSHARD,0F0,0RESHARD,0UNSHARD,0F1,0RESHARD,0UNSHARD,0I0,0W0,0I1,0W1,0RESHARD\n");
    finish(&t);
}

static void after_each_action(void)
{
    bench t = {0};
    CHECK_TEXT(resharded(&t, "0F0,,0B0\n", true, false),
               "0UNSHARD,0F0,0RESHARD,0UNSHARD,0B0,0RESHARD\n");
    CHECK_TEXT(resharded(&t, "0F0,1F0,1B0,0B0\n", true, true),
               "0UNSHARD,1UNSHARD,0F0,0RESHARD,1UNSHARD,1F0,1RESHARD,0UNSHARD,1B0,1RESHARD,0B0,"
               "0RESHARD\n");
    finish(&t);
}

/* Both halves of a pair are gathered in front of it; of one stage once. */
static void a_pair_gathers_both(void)
{
    bench t = {0};
    CHECK_TEXT(resharded(&t,
                         "0F0,1F0,0F1,(1F1;1B0)OVERLAP_F_B,(0F2;1B1)OVERLAP_F_B,1F2,1B2,0B0,"
                         "0B1,0B2\n",
                         true, false),
               "0UNSHARD,0F0,0RESHARD,1UNSHARD,1F0,1RESHARD,0UNSHARD,0F1,0RESHARD,1UNSHARD,"
               "(1F1;1B0)OVERLAP_F_B,1RESHARD,0UNSHARD,1UNSHARD,(0F2;1B1)OVERLAP_F_B,0RESHARD,"
               "1RESHARD,1UNSHARD,1F2,1RESHARD,1UNSHARD,1B2,1RESHARD,0UNSHARD,0B0,0RESHARD,"
               "0UNSHARD,0B1,0RESHARD,0UNSHARD,0B2,0RESHARD\n");
    finish(&t);
}

static ovl_time step_of(bench *t, const char *set)
{
    bool ok = lower(t, DATA, set) && analyse(t);
    CHECK_TEXT(mistake(t), "none");
    CHECK_INT(ok ? t->result.n_hazards : 1, 0);
    return ok ? t->result.step : -1;
}

/* Rank 2 (stage 1 of the first pipeline), gathers of 1.1 ms, each behind the action before:
 * 0F0 1.1-2.1, 1F0 2.1-3.1, 1B0 4.2-6.2, 1F1 7.3-8.3, 1B1 9.4-11.4, 0B1 11.4-13.4, reduced 14.5.
 * Shards of 50 MiB each, one copy gathered and the gradients: 300 MiB. */
static void a_gather_waits_for_what_it_replaces(void)
{
    bench t = {0};
    CHECK_INT(step_of(&t, "overlap.pipeline.data_parallel={sharded: true, reshard: always, "
                          "prefetch: false}"),
              14500 * OVL_US);
    CHECK_TEXT(
        sequence(&t, 2),
        "unshard 1 | 1RECV_F0 | 1F0 | unshard 1 | 1B0 | 1SEND_B0 | unshard 1 | 1RECV_F1 | 1F1 "
        "| unshard 1 | 1B1 | 1SEND_B1 | reduce 1 | optimizer");
    CHECK_INT(t.result.ranks[1].allocated_peak, (uint64_t)300 << 20);
    finish(&t);
}

/* In front of the action before: 1B0 3.1-5.1 with its gather from 1.1 to 2.2. That of 1F1, from 3.1
 * to 4.2, is there at 5.1, that of 1B1, from 5.1, at 6.2 a tenth after 1F1: 6.2-8.2, 0B1 to 10.2,
 * reduced at 11.3. One copy more is there: 400 MiB. */
static void a_gather_runs_beside_the_action_before(void)
{
    bench t = {0};
    CHECK_INT(step_of(&t, "overlap.pipeline.data_parallel={sharded: true, reshard: always}"),
              11300 * OVL_US);
    CHECK_INT(t.result.ranks[1].allocated_peak, (uint64_t)400 << 20);
    finish(&t);
}

/* 9 ms and the reduction of the last of 4 parts: 0.1 ms + 25 MiB. Its kernel is cut in 4 of 0.5 ms.
 */
static void gradients_are_reduced_as_they_are_made(void)
{
    bench t = {0};
    CHECK_INT(step_of(&t, "overlap.pipeline.data_parallel.buckets=4"), 9350 * OVL_US);
    CHECK_TEXT(sequence(&t, 0),
               "0F0 | 0SEND_F0 | 0F1 | 0SEND_F1 | 0RECV_B0 | 0B0 | 0RECV_B1 | 0B1.0 | reduce 0.0 | "
               "0B1.1 | reduce 0.1 | 0B1.2 | reduce 0.2 | 0B1.3 | reduce 0.3 | optimizer");
    CHECK_INT(cost_named(&t, 0, "0B1.3")->work, 500 * OVL_US);
    CHECK_INT(op_named(&t, 0, "reduce 0.3")->bytes, 25 << 20);
    CHECK_TEXT(waits(&t, 0, "reduce 0.1"), "0B1.1");
    CHECK_INT(t.result.gradients_proved, 16);
    CHECK_TEXT(t.result.gradient_scale, "1/4");
    /* W makes them where the backward is split */
    CHECK(
        lower(&t, DATA,
              "overlap.pipeline={schedule: zb_h1, microbatches: 2, data_parallel: {buckets: 3}}"));
    CHECK(find_op(&t, 0, "0W1.2") != OVL_NONE);
    CHECK_INT(cost_named(&t, 0, "0W1.0")->work, 333333334);
    CHECK_INT(cost_named(&t, 0, "0W1.1")->work, 333333333);
    finish(&t);
}

/* Several stages on a rank: the memory of gradients that are being reduced is not used again by
 * what the next backward makes. */
static void memory_of_gradients_waits_for_their_reduction(void)
{
    static const char *const more[] = {
        "overlap.pipeline={schedule: interleaved, virtual_stages: 2, microbatches: 4, "
        "data_parallel: {sharded: true}}",
        "overlap.pipeline={schedule: zb_v, microbatches: 4, data_parallel: {sharded: true, "
        "reshard: forward, buckets: 3}}",
        "overlap.pipeline={schedule: dualpipev, microbatches: 4, data_parallel: {sharded: true, "
        "reshard: always}}",
    };
    bench t = {0};
    for (size_t i = 0; i < OVL_COUNT(more); i++) {
        CHECK(lower(&t, FOUR, more[i]) && analyse(&t));
        CHECK_TEXT(mistake(&t), "none");
        CHECK_INT(t.result.n_hazards, 0);
        CHECK(t.result.hazards_checked);
    }
    finish(&t);
}

/* A list says itself where it reduces: not cut unless that is right behind. */
static void a_list_that_reduces_elsewhere_is_not_cut(void)
{
    bench t = {0};
    CHECK(lower(&t, DATA,
                "overlap.pipeline={actions: [\"0F0,0F1,0B0,0B1,0REDUCE_GRAD\", "
                "\"1F0,1B0,1F1,1B1,1RESHARD,1REDUCE_GRAD\"], data_parallel: {buckets: 2}}"));
    CHECK(find_op(&t, 0, "0B1.1") != OVL_NONE);
    CHECK(find_op(&t, 2, "1B1") != OVL_NONE);
    CHECK(find_op(&t, 2, "reduce 1.1") != OVL_NONE);
    finish(&t);
}

static void what_does_not_fit_is_told(void)
{
    bench t = {0};
    CHECK(!lower(&t, DATA, "overlap.pipeline.data_parallel={reshard: always}"));
    CHECK_HAS(mistake(&t), "reshard needs sharded: true");
    CHECK(!lower(&t, DATA,
                 "overlap.pipeline.data_parallel={sharded: true, reshard: forward, "
                 "active_stages: 2}"));
    CHECK_HAS(mistake(&t), "active_stages needs sharded: true and reshard: window");
    CHECK(!lower(&t, DATA, "overlap.pipeline.data_parallel={sharded: true, prefetch: false}"));
    CHECK_HAS(mistake(&t), "prefetch needs sharded: true and reshard: forward or always");
    CHECK(!lower(&t, DATA,
                 "overlap.pipeline={actions: [\"0UNSHARD,0F0,0B0,0REDUCE_GRAD\", "
                 "\"1F0,1B0,1REDUCE_GRAD\"], data_parallel: {sharded: true}}"));
    CHECK_HAS(mistake(&t), "1F0 needs the parameters of its stage, which are sharded: no 1UNSHARD "
                           "stands before it");
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"let go after each forward", after_each_forward},
    {"let go after each action", after_each_action},
    {"a pair gathers both", a_pair_gathers_both},
    {"a gather waits for what it replaces", a_gather_waits_for_what_it_replaces},
    {"a gather runs beside the action before", a_gather_runs_beside_the_action_before},
    {"gradients are reduced as they are made", gradients_are_reduced_as_they_are_made},
    {"memory of gradients waits for their reduction",
     memory_of_gradients_waits_for_their_reduction},
    {"a list that reduces elsewhere is not cut", a_list_that_reduces_elsewhere_is_not_cut},
    {"what does not fit is told", what_does_not_fit_is_told},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("data parallelism of a pipeline", tests);
}
