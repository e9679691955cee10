/* Every strategy of data parallelism in every kind of pipeline: backwards that are split, orders
 * that do not end with the last microbatch, two copies of the model. */
#include "tests/support/lowering.h"

/* Two places of two layers (forward 10 ms, backward 20 ms, half of it gradients of weights); a
 * collective takes 1 ms, and so does a transfer. */
#define HEAD_OF(mesh)                                                                              \
    "mesh: {axes: " mesh "}\n"                                                                     \
    "hardware: {collectives: [{op: all_gather, alpha: 1 ms}, {op: reduce_scatter, alpha: 1 ms}, "  \
    "{op: all_reduce, alpha: 1 ms}, {op: send_recv, alpha: 1 ms}]}\n"                              \
    "workload:\n"                                                                                  \
    "  layers: [{name: block, repeat: 4, params: 10 MiB, forward: 10 ms, backward: 20 ms, "        \
    "backward_weight: 10 ms, transfer: 1 MiB}]\n"                                                  \
    "overlap:\n"
#define MIB     (UINT64_C(1) << 20)
#define SPLIT   HEAD_OF("{pp: 2, dp: 2}") "  pipeline: {schedule: zb_h1, microbatches: 2}\n"
#define BUCKETS "  ddp: {bucket_cap: 10 MiB, first_bucket_cap: 10 MiB}\n"
#define KEPT                                                                                       \
    "  fsdp: {reshard_after_forward: false, accumulate: {gradient_sync: last, last_backward: "     \
    "last, reshard_after_backward: false}}\n"

static ovl_time step_of(bench *t, const char *text, const char *set)
{
    bool ok = lower(t, text, set) && analyse_both(t);
    CHECK_TEXT(mistake(t), "none");
    CHECK_INT(ok ? t->result.n_hazards : 1, 0);
    CHECK_INT(ok ? t->whole.step : 0, ok ? t->result.step : -1);
    return ok ? t->result.step : -1;
}

/* ZB-H1, a stage's pass 20 ms. Place 1: F0 21..41, I0 ..61, F1 ..81, I1 ..101, W0, W1 ..141. Place
 * 0: F0 F1 ..40, I0 62..82, W0 ..102, I1 ..122, W1 122..142; the gradients of its second layer are
 * complete at 132, those of the first at 142, reduced at 143. */
static void buckets_wait_for_the_last_weights(void)
{
    bench t = {0};
    CHECK_INT(step_of(&t, SPLIT BUCKETS, NULL), 143 * OVL_MS);
    CHECK_TEXT(t.result.gradient_scale, "1/4");
    CHECK_TEXT(waits(&t, 0, "bucket with block[1]"), "backward_weight block[1] mb 1");
    CHECK_TEXT(waits(&t, 0, "bucket with block[0]"), "backward_weight block[0] mb 1");
    finish(&t);
}

/* Gathers in F and I, gradients in W. Place 0: gather ..1, F0 ..21, gather ..22, F1 ..42; place 1:
 * F0 22..42, I0 ..62, gather ..63, F1 ..83, I1 ..103. Place 0: I0 63..83, W0 ..103, the last
 * reduction
 * ..104, which compute waits for, gather ..105, I1 ..125, W1 ..145, reduction ..146. */
static void inputs_gather_and_weights_reduce(void)
{
    bench t = {0};
    CHECK_INT(step_of(&t, SPLIT "  fsdp: {}\n", NULL), 146 * OVL_MS);
    CHECK_TEXT(t.result.gradient_scale, "1/4");
    CHECK(find_op(&t, 0, "regather block[1] mb 1") <
          find_op(&t, 0, "backward_input block[1] mb 1"));
    CHECK_TEXT(waits(&t, 0, "reduce block[1] mb 1"), "reduce copy_in block[1] mb 1");
    /* kept until the last weights: one gather of 1 ms, as the buckets do from there */
    CHECK_INT(step_of(&t, SPLIT KEPT, NULL), 144 * OVL_MS);
    CHECK_INT(find_op(&t, 0, "regather block[1] mb 1"), OVL_NONE);
    CHECK_INT(find_op(&t, 0, "reduce block[1] mb 0"), OVL_NONE);
    finish(&t);
}

/* Behind the last W, at 142: one bucket of both layers ..143, and the gather of what the optimizer
 * updated ..144. With buckets of a layer (10 MiB are 5 Mi of bf16) there are two. */
static void zero_reduces_behind_the_last_action(void)
{
    bench t = {0};
    const char *text = SPLIT "  zero: {stage: 1}\n";
    CHECK_INT(step_of(&t, text, NULL), 144 * OVL_MS);
    CHECK_TEXT(t.result.gradient_scale, "1/4");
    CHECK_INT(op_named(&t, 0, "reduce bucket 0")->bytes, 20 << 20);
    CHECK_INT(step_of(&t, text, "overlap.zero.reduce_bucket_size=3000000"), 145 * OVL_MS);
    CHECK(!lower(&t, text, "overlap.zero.stage=2"));
    CHECK_HAS(mistake(&t), "overlap.zero in a pipeline has stage 1");
    finish(&t);
}

/* Backwards come in reversed order: that of microbatch 0 is the last. */
static void the_last_backward_need_not_be_of_the_last_microbatch(void)
{
    bench t = {0};
    CHECK(step_of(&t, SPLIT BUCKETS, "overlap.pipeline.schedule=looped_bfs") > 0);
    CHECK_TEXT(waits(&t, 0, "bucket with block[0]"), "backward block[0] mb 0");
    finish(&t);
}

/* --- Two copies --- */

/* Places 0 and 1 hold all four layers. Place 0: F0 ..20, F2 of the other copy 21..41, F1 ..61, B2
 * ..101, B0 102..142, F3 ..162, B3 ..202 (its layers reduced at 183 and 203), I1 203..223, W1
 * ..243: the first layer is reduced at 244. A gradient is a mean over 2 (dp) x 2 (copies) ranks
 * with 2 of 4 microbatches each. */
static void two_copies_reduce_together(void)
{
    bench t = {0};
    const char *text =
        HEAD_OF("{pp: 2, dp: 2}") "  pipeline: {schedule: dualpipe, microbatches: 4}\n" BUCKETS;
    CHECK_INT(step_of(&t, text, NULL), 244 * OVL_MS);
    CHECK_TEXT(t.result.gradient_scale, "1/8");
    CHECK_TEXT(waits(&t, 0, "bucket with block[3]"), "backward block[3] mb 3");
    finish(&t);
}

static const ovl_comm *comm_of(const bench *t, uint32_t rank, const char *op)
{
    return &t->p->comms[t->p->rank_comms[t->p->ranks[rank].first_comm +
                                         op_named(t, rank, op)->comm]];
}

/* Of four places 0 and 3 hold the same stages, and so do 1 and 2; dp ranks lie four apart. */
static void partners_of_a_place_are_in_its_communicator(void)
{
    static const uint32_t members[] = {0, 3, 4, 7};
    bench t = {0};
    const char *text = HEAD_OF("{pp: 4, dp: 2}") "  pipeline: {schedule: dualpipe, microbatches: "
                                                 "8, data_parallel: {group: dp}}\n";
    CHECK(step_of(&t, text, NULL) > 0);
    CHECK_TEXT(t.result.gradient_scale, "1/16");
    const ovl_comm *comm = comm_of(&t, 7, "reduce 3");
    CHECK_INT(comm->n_members, 4);
    for (uint32_t i = 0; i < OVL_MIN(comm->n_members, 4); i++) {
        CHECK_INT(t.p->members[comm->first_member + i], members[i]);
    }
    CHECK(step_of(&t, text, "overlap.pipeline.data_parallel.sharded=true") > 0);
    /* of 10 MiB each of four keeps a quarter */
    CHECK_INT(bytes_in(&t, 0, OVL_PARAMETER), 2 * (10 << 20) / 4);
    finish(&t);
}

/* With replicas it is these that the copies join: shards stay within dp. */
static void copies_join_the_replicas(void)
{
    bench t = {0};
    const char *text = HEAD_OF("{pp: 2, dp: 2, rep: 2}") "  pipeline: {schedule: dualpipe, "
                                                         "microbatches: 4}\n"
                                                         "  fsdp: {replicate: rep}\n";
    CHECK(step_of(&t, text, NULL) > 0);
    CHECK_TEXT(t.result.gradient_scale, "1/16");
    CHECK_INT(comm_of(&t, 0, "reduce block[0] mb 1")->n_members, 2);
    CHECK_INT(comm_of(&t, 0, "all_reduce block[0] mb 1")->n_members, 4);
    finish(&t);
}

/* A stage of the embedding alone has nothing to do in I. Its W starts from the gradient received
 * for that, which stays until then. */
static void weights_of_an_embedding_wait_for_the_gradient(void)
{
    bench t = {0};
    const char *text =
        "mesh: {axes: {tp: 2, pp: 2}}\n"
        "hardware: {gpu: {hbm: 1 TB/s, peak: {bf16: 100 TFLOP/s}}, collectives: [{op: all_gather, "
        "alpha: 1 us}, {op: reduce_scatter, alpha: 1 us}, {op: send_recv, alpha: 1 us}]}\n"
        "workload: {model: {layers: 2, hidden: 256, ffn_hidden: 512, heads: 4, sequence: 128, "
        "vocabulary: 512}}\n"
        "overlap: {pipeline: {schedule: zb_h1, microbatches: 4, layers_per_stage: [1, 3]}}\n";
    CHECK(step_of(&t, text, NULL) > 0);
    CHECK_TEXT(waits(&t, 0, "backward_weight embedding.gather mb 3"),
               "backward_weight embedding.lookup mb 2, 0RECV_B3");
    finish(&t);
}

/* dp across places would add up different stages. */
static void different_stages_are_told(void)
{
    bench t = {0};
    CHECK(!lower(&t, SPLIT "  fsdp: {shard: pp}\n", NULL));
    CHECK_HAS(mistake(&t), "have different stages of the pipeline");
    finish(&t);
}

/* Two stages of two layers each (of one, interleaved), 1 and 2 ms; a gather or reduction of a layer
 * takes 1.5, the optimizer 0.5. */
static const char *sharded(const char *schedule, const char *accumulate, ovl_arena *arena)
{
    return ovl_arena_printf(
        arena,
        "hardware: {gpu: {name: x}, collectives: [{op: all_gather, alpha: 0.5 ms, beta: 100 "
        "MiB/ms}, {op: reduce_scatter, alpha: 0.5 ms, beta: 100 MiB/ms}]}\n"
        "mesh: {axes: {dp: 2, pp: 2}}\n"
        "workload:\n"
        "  layers: [{name: l, repeat: 4, forward: 1 ms, backward: 2 ms, params: 100 MiB, "
        "activations: 10 MiB}]\n"
        "  optimizer: {duration: 0.5 ms}\n"
        "overlap:\n"
        "  pipeline: {%s}\n"
        "  fsdp: {%s}\n",
        schedule, accumulate);
}

#define ONCE(sync)                                                                                 \
    "reshard_after_forward: false, accumulate: {gradient_sync: " sync                              \
    ", last_backward: last, reshard_after_backward: false}"

/* A rank's only kind of idle time that somebody is to blame for. */
static const char *blamed(const bench *t, uint32_t rank)
{
    const ovl_result_rank *r = &t->result.ranks[rank];
    CHECK_INT(r->n_blames, 1);
    return r->n_blames ? r->blames[0].text : "";
}

/* 1F1B, 3 microbatches. Stage 0 gathers l0 ..1.5, l1 ..3 and runs l1 of the first ..4; stage 1 has
 * gathered long since and runs 6 + 4 + 6 + 6 = 18 from 4 on without a wait, ..22; stage 0 the last
 * backward ..26. The reduction of l1 runs beside the backward of l0, that of l0 ..27.5. Behind the
 * whole backward l0 is reduced ..27.5, l1 ..29. The rank idles 28 - 18.5, of which 6 is the ramp of
 * 2 * (1 + 2); 1.5 and 0.5 are gathers, 1.5 the reduction. There are 2 microbatches of 2 layers, 40
 * MiB, beside 4 times 100 (gathered, gradients) and 4 times 50 (shards). */
static void a_stage_gathers_and_reduces_its_layers(void)
{
    bench t = {0};
    ovl_arena arena = {0};
    const char *one = "schedule: 1f1b, microbatches: 3";
    CHECK_INT(step_of(&t, sharded(one, ONCE("last"), &arena), NULL), 28 * OVL_MS);
    CHECK_INT(t.result.ranks[0].idle_time, 9500 * OVL_US);
    CHECK_INT(t.result.ranks[0].idle[OVL_IDLE_DRAIN], 6 * OVL_MS);
    CHECK_INT(t.result.ranks[0].idle[OVL_IDLE_DEPENDENCY], 3500 * OVL_US);
    CHECK_HAS(blamed(&t, 0), "all_gather gather l[0] mb 0");
    CHECK_INT(t.result.ranks[0].allocated_peak, (4 * 100 + 4 * 50 + 40) * MIB);
    CHECK_INT(step_of(&t, sharded(one, ONCE("behind"), &arena), NULL), 29500 * OVL_US);
    CHECK_TEXT(waits(&t, 0, "reduce l[0] mb 2"), "reduce copy_in l[0] mb 2");
    CHECK(find_op(&t, 0, "reduce l[1] mb 2") > find_op(&t, 0, "reduce l[0] mb 2"));
    CHECK_INT(t.result.ranks[0].idle[OVL_IDLE_DRAIN], 6 * OVL_MS);
    CHECK_INT(t.result.ranks[0].idle[OVL_IDLE_DEPENDENCY], 5 * OVL_MS);
    CHECK_HAS(blamed(&t, 0), "reduce_scatter reduce l[0] mb 2");
    CHECK_INT(t.result.ranks[0].allocated_peak, (4 * 100 + 4 * 50 + 40) * MIB);
    CHECK_TEXT(t.result.gradient_scale, "1/6");
    finish(&t);
    ovl_arena_free(&arena);
}

/* Interleaved, 4 microbatches. The other place runs l1 of the first from 2.5, gathers l3 ..6, and
 * from there on waits for nobody: F3 B3 F3 B3 F1 B1 F1 B1 F3 B3 F3 B3 of 18 ms, ..24. Place 0 ends
 * the backwards of l2 at 26, waits for their reduction ..27.5, then two backwards of l0 ..31.5 and
 * theirs ..33. One layer is all that a stage has: behind is where it is anyway. 5 chunks are held:
 * 2 (p - 1) + (v - 1) p + 1. */
static void so_do_stages_that_are_interleaved(void)
{
    bench t = {0};
    ovl_arena arena = {0};
    const char *four = "schedule: interleaved, virtual_stages: 2, microbatches: 4";
    CHECK_INT(step_of(&t, sharded(four, ONCE("last"), &arena), NULL), 33500 * OVL_US);
    CHECK_INT(step_of(&t, sharded(four, ONCE("behind"), &arena), NULL), 33500 * OVL_US);
    CHECK_INT(t.result.ranks[0].allocated_peak, (4 * 100 + 4 * 50 + 50) * MIB);
    CHECK_INT(t.result.ranks[0].idle[OVL_IDLE_DEPENDENCY], 6 * OVL_MS);
    CHECK_HAS(blamed(&t, 0), "reduce");
    CHECK_TEXT(t.result.gradient_scale, "1/8");
    finish(&t);
    ovl_arena_free(&arena);
}

static CU_TestInfo tests[] = {
    {"buckets wait for the last weights", buckets_wait_for_the_last_weights},
    {"inputs gather and weights reduce", inputs_gather_and_weights_reduce},
    {"zero reduces behind the last action", zero_reduces_behind_the_last_action},
    {"the last backward need not be of the last microbatch",
     the_last_backward_need_not_be_of_the_last_microbatch},
    {"two copies reduce together", two_copies_reduce_together},
    {"partners of a place are in its communicator", partners_of_a_place_are_in_its_communicator},
    {"copies join the replicas", copies_join_the_replicas},
    {"weights of an embedding wait for the gradient",
     weights_of_an_embedding_wait_for_the_gradient},
    {"different stages are told", different_stages_are_told},
    {"a stage gathers and reduces its layers", a_stage_gathers_and_reduces_its_layers},
    {"so do stages that are interleaved", so_do_stages_that_are_interleaved},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("data parallelism in pipelines", tests);
}
