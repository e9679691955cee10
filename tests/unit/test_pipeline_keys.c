/* Keys of a pipeline that have no effect, that contradict each other, and what nobody reduces. */
#include "tests/support/lowering.h"

#define STAGES                                                                                     \
    "mesh: {axes: {pp: 2}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  stages: [{name: s, repeat: 2, forward: 1 ms, backward: 2 ms}]\n"                            \
    "overlap:\n"                                                                                   \
    "  pipeline: {schedule: 1f1b, microbatches: 4}\n"

#define LIST                                                                                       \
    "mesh: {axes: {pp: 2}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  stages: [{name: s, repeat: 2, forward: 1 ms, backward: 2 ms}]\n"                            \
    "overlap:\n"                                                                                   \
    "  pipeline: {actions: [\"0F0,0F1,0B0,0B1\", \"1F0,1B0,1F1,1B1\"]}\n"

/* One warning, which names the key and when it acts; nothing of what has an effect. */
static void keys_without_effect_are_named(void)
{
    static const struct {
        const char *set, *said;
    } rows[] = {
        {"overlap.pipeline.microbatch_group=2", "microbatch_group (acts with interleaved_megatron"},
        {"overlap.pipeline.extra_warmup=true", "extra_warmup (acts with interleaved_megatron"},
        {"overlap.pipeline.layers_per_stage=[1, 1]", "layers_per_stage (acts on workload.layers"},
        {"overlap.pipeline.split=time", "split (acts on workload.layers without"},
        {"overlap.pipeline.pairs=serial", "pairs (acts on a model by its shape"},
        {"workload.stages.s.checkpoint=1 KiB", "stages[].checkpoint (acts with recompute: true"},
        {"workload.stages.s.overlapped=2 ms", "stages[].overlapped (acts with a schedule that"},
    };
    bench t = {0};
    CHECK(lower(&t, STAGES, NULL));
    CHECK_INT(t.errs.count, 0);
    for (uint32_t i = 0; i < OVL_COUNT(rows); i++) {
        CHECK(lower(&t, STAGES, rows[i].set));
        CHECK_INT(t.errs.count, 1);
        CHECK(t.errs.items[0].warning);
        CHECK_HAS(t.errs.items[0].text, "no effect here");
        CHECK_HAS(t.errs.items[0].text, rows[i].said);
    }
    CHECK(lower(&t,
                "mesh: {axes: {pp: 2}}\n"
                "workload: {stages: [{name: s, repeat: 4, forward: 1 ms, backward: 2 ms}]}\n"
                "overlap: {pipeline: {schedule: interleaved_megatron, microbatch_group: 2, "
                "extra_warmup: true, microbatches: 4}}\n",
                NULL));
    CHECK_INT(t.errs.count, 0);
    finish(&t);
}

/* Two counts of one thing: the same twice is let be. */
static void different_counts_are_mistakes(void)
{
    bench t = {0};
    CHECK(lower(&t, STAGES, "workload.microbatches=4"));
    CHECK(!lower(&t, STAGES, "workload.microbatches=3"));
    CHECK_HAS(mistake(&t), "4 microbatches here, but 3 by workload.microbatches");
    CHECK(lower(&t, LIST, "workload.microbatches=2"));
    CHECK(!lower(&t, LIST, "workload.microbatches=3"));
    CHECK_HAS(mistake(&t), "the list of actions is for 2 microbatches, not 3");
    CHECK(lower(&t, LIST, "overlap.pipeline.virtual_stages=1"));
    CHECK(!lower(&t, LIST, "overlap.pipeline.virtual_stages=2"));
    CHECK_HAS(mistake(&t), "the list of actions has 2 stages on 2 ranks, not 2 on each");
    finish(&t);
}

static void gradients_that_nobody_reduces_are_said(void)
{
    const char *text = "mesh: {axes: {pp: 2, dp: 2}}\n"
                       "workload: {stages: [{name: s, repeat: 2, forward: 1 ms, backward: 2 ms, "
                       "params: 1 MiB}]}\n"
                       "hardware: {collectives: [{op: all_reduce, alpha: 1 us, beta: 1 GB/s}]}\n"
                       "overlap: {pipeline: {schedule: 1f1b, microbatches: 4}}\n";
    bench t = {0};
    CHECK(lower(&t, text, NULL));
    CHECK(said(&t, "Gradients are not reduced over axis dp"));
    CHECK(lower(&t, text, "workload.stages.s.params=null"));
    CHECK(!said(&t, "Gradients are not reduced over axis dp"));
    CHECK(lower(&t, text, "overlap.pipeline.data_parallel={group: dp}"));
    CHECK(!said(&t, "Gradients are not reduced over axis dp"));
    CHECK(lower(&t,
                "mesh: {axes: {pp: 2, dp: 2}}\n"
                "workload: {stages: [{name: s, repeat: 2, forward: 1 ms, backward_input: 1 ms, "
                "backward_weight: 1 ms, params: 1 MiB}]}\n"
                "overlap: {pipeline: {schedule: dualpipe, microbatches: 8}}\n",
                NULL));
    CHECK(said(&t, "Gradients are not reduced over axis dp and between the two copies of a stage"));
    finish(&t);
}

/* Ranks of ep have experts of their own: nobody has to reduce these there, and all the rest. */
static void experts_that_differ_need_no_reduction(void)
{
    const char *text =
        "mesh: {axes: {ep: 2, pp: 2, dp: 2}}\n"
        "hardware: {gpu: {hbm: 2 TB/s, peak: {bf16: 100 TFLOP/s}}, collectives: [{op: all_to_all, "
        "alpha: 1 us, beta: 1 GB/s}]}\n"
        "workload: {model: {layers: 2, hidden: 64, ffn_hidden: 64, heads: 4, sequence: 64, "
        "vocabulary: 64, moe: {experts: 4, top_k: 2, ffn_hidden: 64}}}\n"
        "overlap: {pipeline: {schedule: 1f1b, microbatches: 4}}\n";
    bench t = {0};
    CHECK(lower(&t, text, NULL));
    CHECK(said(&t, "Gradients are not reduced over axis dp: "));
    CHECK(said(&t, "Gradients of all but experts are not reduced over axis ep: "));
    CHECK(lower(&t, text, "workload.model.moe=null"));
    CHECK(said(&t, "Gradients are not reduced over axis ep and axis dp: "));
    CHECK(!said(&t, "Gradients of all but experts"));
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"experts that differ need no reduction", experts_that_differ_need_no_reduction},
    {"keys without effect are named", keys_without_effect_are_named},
    {"different counts are mistakes", different_counts_are_mistakes},
    {"gradients that nobody reduces are said", gradients_that_nobody_reduces_are_said},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("pipeline keys", tests);
}
