#include "tests/support/lowering.h"

/* Six layers of 8 million and 8 thousand parameters in 2 bytes over 8 ranks; Adam with master
 * weights: 12 bytes of optimizer state a parameter. */
#define ZERO(zero)                                                                                 \
    "hardware:\n"                                                                                  \
    "  collectives:\n"                                                                             \
    "    - {op: all_gather, alpha: 1 ms}\n"                                                        \
    "    - {op: reduce_scatter, alpha: 2 ms}\n"                                                    \
    "mesh: {axes: {dp: 8}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  dtype: bf16\n"                                                                              \
    "  layers:\n"                                                                                  \
    "    - {name: block, repeat: 6, elements: [8000000, 8000], forward: 3 ms, backward: 6 ms}\n"   \
    "  optimizer: {moments: 2, master_weights: true}\n"                                            \
    "overlap: {zero: {" zero "}}\n"
/* 2 replicas of 4 shards. */
#define HSDP                                                                                       \
    "hardware:\n"                                                                                  \
    "  collectives: [{op: all_gather, alpha: 1 ms}, {op: reduce_scatter, alpha: 2 ms},\n"          \
    "    {op: all_reduce, alpha: 1 ms}]\n"                                                         \
    "mesh: {axes: {shard: 4, replica: 2}}\n"                                                       \
    "workload:\n"                                                                                  \
    "  dtype: bf16\n"                                                                              \
    "  layers:\n"                                                                                  \
    "    - {name: block, repeat: 6, elements: [8000000, 8000], forward: 3 ms, backward: 6 ms}\n"   \
    "  optimizer: {moments: 2, master_weights: true}\n"                                            \
    "overlap: {fsdp: {shard: shard, replicate: replica}}\n"
#define LAYER UINT64_C(8008000)
#define MODEL (6 * LAYER)

static uint64_t held_in(const bench *t, ovl_category category)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < code_of(t, 0)->n_buffers; i++) {
        const ovl_buffer *b = &code_of(t, 0)->buffers[i];
        sum += b->held && b->category == (uint8_t)category ? b->bytes : 0;
    }
    return sum;
}

static void check_safe(bench *t)
{
    CHECK(analyse(t));
    CHECK_INT(t->result.n_hazards, 0);
    CHECK_TEXT(t->result.gradient_scale, "1/8");
}

static uint32_t count_ops(const bench *t, const char *start)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < code_of(t, 0)->n_ops; i++) {
        n += strncmp(name_at(t, 0, i), start, strlen(start)) == 0;
    }
    return n;
}

/* Rajbhandari et al. 2020, figure 1: 2P + 2P + 12P/N, 2P + (2 + 12)P/N, (2 + 2 + 12)P/N. */
static void bytes_of_each_stage(void)
{
    static const struct {
        const char *text;
        uint64_t parameters, gradients;
    } want[] = {{ZERO("stage: 1"), 2 * MODEL, 2 * MODEL},
                {ZERO("stage: 2"), 2 * MODEL, 2 * MODEL / 8},
                {ZERO("stage: 3, param_persistence_threshold: 0"), 2 * MODEL / 8, 2 * MODEL / 8}};
    for (int i = 0; i < 3; i++) {
        bench t = {0};
        CHECK(lower(&t, want[i].text, NULL));
        CHECK_INT(held_in(&t, OVL_PARAMETER), want[i].parameters);
        CHECK_INT(held_in(&t, OVL_GRADIENT), want[i].gradients);
        CHECK_INT(held_in(&t, OVL_OPTIMIZER), 12 * MODEL / 8);
        check_safe(&t);
        finish(&t);
    }
}

/* FSDP2 in the same types: parameters and gradients are shards, and so they are with replicas. */
static void bytes_of_sharding(void)
{
    bench t = {0};
    const char *fsdp = "overlap={fsdp: {}}";
    CHECK(lower(&t, ZERO("stage: 3"), fsdp));
    CHECK_INT(held_in(&t, OVL_PARAMETER), 2 * MODEL / 8);
    CHECK_INT(held_in(&t, OVL_GRADIENT), 2 * MODEL / 8);
    CHECK_INT(held_in(&t, OVL_OPTIMIZER), 12 * MODEL / 8);
    CHECK(lower(&t, HSDP, NULL));
    CHECK_INT(held_in(&t, OVL_PARAMETER), 2 * MODEL / 4);
    CHECK_INT(held_in(&t, OVL_GRADIENT), 2 * MODEL / 4);
    CHECK_INT(held_in(&t, OVL_OPTIMIZER), 12 * MODEL / 4);
    check_safe(&t);
    finish(&t);
}

/* DDP keeps everything whole; Megatron's distributed optimizer shards its states. */
static void optimizer_states_of_ddp(void)
{
    bench t = {0};
    CHECK(lower(&t, HSDP, "overlap={ddp: {group: shard}}"));
    CHECK_INT(held_in(&t, OVL_OPTIMIZER), 12 * MODEL);
    CHECK(lower(&t, HSDP,
                "overlap={ddp: {policy: megatron, group: shard, distributed_optimizer: true}}"));
    CHECK_INT(held_in(&t, OVL_OPTIMIZER), 12 * MODEL / 4);
    finish(&t);
}

/* What a step leaves to the next is safe, whatever is sharded. */
static void steps_follow_each_other(void)
{
    static const char *const all[] = {ZERO("stage: 1"), ZERO("stage: 2"),
                                      ZERO("stage: 3, max_reuse_distance: 0")};
    bench t = {0};
    for (size_t i = 0; i < OVL_COUNT(all); i++) {
        CHECK(lower(&t, all[i], "workload.steps=3") && analyse(&t));
        CHECK_INT(t.result.n_steps, 3);
        CHECK_INT(t.result.n_hazards, 0);
        CHECK_INT(t.result.gradients_proved, 3 * 6 * 8);
    }
    CHECK(lower(&t, ZERO("stage: 3"), "overlap={fsdp: {policy: fsdp1}}"));
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    finish(&t);
}

/* Two layers of 8 million fit a bucket of 20 million. Stage 1 reduces in the last microbatch only.
 */
static void gradients_go_through_buckets(void)
{
    bench t = {0};
    CHECK(lower(&t, ZERO("stage: 2, reduce_bucket_size: 2e7"), NULL));
    CHECK_HAS(sequence(&t, 0), "backward block[4] | copy_in block[4] | backward block[3] | "
                               "reduce bucket 0 | keep bucket 0 | copy_in block[3]");
    CHECK_INT(count_ops(&t, "reduce bucket"), 3);
    CHECK_INT(op_named(&t, 0, "reduce bucket 0")->bytes, 2 * 2 * LAYER);
    CHECK_INT(bytes_in(&t, 0, OVL_REDUCE_BUFFER), 40000000);
    CHECK_TEXT(waits(&t, 0, "copy_in block[3]"), "backward block[3]");
    check_safe(&t);
    CHECK(lower(&t, ZERO("stage: 2, reduce_bucket_size: 2e7"), "workload.microbatches=2"));
    CHECK_INT(count_ops(&t, "reduce bucket"), 6);
    CHECK(analyse(&t));
    CHECK_TEXT(t.result.gradient_scale, "1/16");
    CHECK(lower(&t, ZERO("stage: 1, reduce_bucket_size: 2e7"), "workload.microbatches=2"));
    CHECK_INT(count_ops(&t, "reduce bucket"), 3);
    CHECK(analyse(&t));
    CHECK_TEXT(t.result.gradient_scale, "1/16");
    CHECK_INT(t.result.n_hazards, 0);
    finish(&t);
}

/* Updated parameters come back in gathers of at least 2e7 elements: three layers each. */
static void parameters_come_back_after_the_optimizer(void)
{
    bench t = {0};
    CHECK(lower(&t, ZERO("stage: 2, allgather_bucket_size: 2e7"), NULL));
    CHECK_HAS(sequence(&t, 0), "optimizer | gather parameters 0 | gather parameters 1 | "
                               "parameters updated");
    CHECK_INT(op_named(&t, 0, "gather parameters 1")->bytes, 3 * 2 * LAYER);
    finish(&t);
}

#define THREE "stage: 3, param_persistence_threshold: 0, max_reuse_distance: 0"

/* A bucket of one element asks for one layer ahead, one of 1e7 for two (8 million are less); not
 * beyond three layers alive; nothing in the first iteration. */
static void prefetch_follows_the_trace(void)
{
    bench t = {0};
    CHECK(lower(&t, ZERO(THREE ", prefetch_bucket_size: 1"), NULL));
    CHECK_HAS(sequence(&t, 0), "gather block[0] | wait for gather block[0] | gather block[1] | "
                               "forward block[0] | wait for gather block[1] | gather block[2] | "
                               "forward block[1]");
    check_safe(&t);
    CHECK(lower(&t, ZERO(THREE ", prefetch_bucket_size: 1e7"), NULL));
    CHECK_HAS(sequence(&t, 0), "gather block[0] | wait for gather block[0] | gather block[1] | "
                               "gather block[2] | forward block[0]");
    check_safe(&t);
    CHECK(lower(&t, ZERO(THREE ", max_live_parameters: 16016000"), NULL));
    CHECK_HAS(sequence(&t, 0), "wait for gather block[0] | gather block[1] | forward block[0] | "
                               "wait for gather block[1] | gather block[2] | forward block[1]");
    check_safe(&t);
    CHECK(lower(&t, ZERO(THREE ", iteration: first"), NULL));
    CHECK_HAS(sequence(&t, 0), "gather block[0] | wait for gather block[0] | forward block[0] | "
                               "gather block[1] | wait for gather block[1]");
    check_safe(&t);
    finish(&t);
}

/* Between the two uses of block[4] lie two of block[5], 16 million; of block[5] nothing. A bucket
 * of one element passes over no more than that. */
static void parameters_used_again_soon_stay(void)
{
    bench t = {0};
    CHECK(lower(&t, ZERO("stage: 3, max_reuse_distance: 2e7, prefetch_bucket_size: 1"), NULL));
    CHECK_INT(count_ops(&t, "regather block[5]"), 0);
    CHECK_INT(count_ops(&t, "regather block[4]"), 0);
    CHECK_INT(count_ops(&t, "regather block[3]"), 1);
    CHECK_INT(count_ops(&t, "wait for gather block[3]"), 1);
    CHECK_INT(count_ops(&t, "wait for regather block[3]"), 1);
    check_safe(&t);
    finish(&t);
}

/* The trace is 0 1 2 3 4 5 5 4 3 2 1 0, a bucket is full with two layers. At 0 it asks for 1 and 2,
 * at 1 for 3 and 4, at 2 for 5; then it passes over 5, 4, 3 and 2, which are there and have to stay
 * for their backward, and asks for 1, which was released. */
static void what_a_prefetch_passed_over_stays(void)
{
    bench t = {0};
    CHECK(lower(&t, ZERO(THREE ", prefetch_bucket_size: 1e7"), NULL));
    CHECK_HAS(sequence(&t, 0), "gather block[5] | regather block[1] | forward block[2]");
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_INT(count_ops(&t, ovl_arena_printf(&t.arena, "regather block[%" PRIu32 "]", i)),
                  i < 2);
    }
    check_safe(&t);
    finish(&t);
}

/* Without a stream of their own gathers wait for the compute before them: a layer is held at a
 * time, and its gradients in the backward. With one the host runs ahead of compute, and so do they.
 */
static void without_overlap_gathers_wait_for_compute(void)
{
    bench t = {0};
    CHECK(lower(&t, ZERO(THREE ", prefetch_bucket_size: 0, overlap_comm: false"), NULL));
    CHECK_INT(op_named(&t, 0, "gather block[1]")->stream,
              op_named(&t, 0, "forward block[0]")->stream);
    check_safe(&t);
    CHECK(lower(&t, ZERO(THREE ", prefetch_bucket_size: 0"), NULL));
    CHECK(op_named(&t, 0, "gather block[1]")->stream !=
          op_named(&t, 0, "forward block[0]")->stream);
    finish(&t);
}

/* 8 thousand parameters a layer are below 1e5: whole everywhere, gathered after the optimizer. */
static void small_tensors_persist(void)
{
    bench t = {0};
    CHECK(lower(&t, ZERO("stage: 3"), NULL));
    CHECK_INT(op_named(&t, 0, "gather block[0]")->bytes, 16000000);
    CHECK_INT(op_named(&t, 0, "gather persistent parameters")->bytes, 6 * 8000 * 2);
    CHECK_INT(held_in(&t, OVL_PARAMETER), 2 * MODEL / 8 + 6 * 8000 * 2);
    check_safe(&t);
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"bytes of each stage", bytes_of_each_stage},
    {"bytes of sharding", bytes_of_sharding},
    {"optimizer states of ddp", optimizer_states_of_ddp},
    {"steps follow each other", steps_follow_each_other},
    {"gradients go through buckets", gradients_go_through_buckets},
    {"parameters come back after the optimizer", parameters_come_back_after_the_optimizer},
    {"prefetch follows the trace", prefetch_follows_the_trace},
    {"parameters used again soon stay", parameters_used_again_soon_stay},
    {"what a prefetch passed over stays", what_a_prefetch_passed_over_stays},
    {"without overlap gathers wait for compute", without_overlap_gathers_wait_for_compute},
    {"small tensors persist", small_tensors_persist},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("zero plan", tests);
}
