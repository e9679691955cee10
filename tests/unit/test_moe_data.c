/*
 * Data parallelism of blocks with experts, by hand. On 2 ranks of ep:
 *
 *     h = 8, a = 2 heads of d = 4, s = 4 tokens, e = 2 bytes, two matrices in an expert of f = 4,
 *     4 experts of which a token sees 2, and a shared one
 *     dense parameters of a block: 192 + 64 + 16 of attention and norms, router 32, shared 64: 368
 *     experts of a rank: 2 of 64: 128; embedding 16 * 8 = 128, head 128 + 8 = 136
 *     in all 128 + 2 * 368 + 136 = 1000 dense ones and 256 of experts
 */
#include "tests/support/lowering.h"

#include <stdio.h>

#define MACHINE                                                                                    \
    "hardware: {gpu: {hbm: 1 TB/s, sms: 100, peak: {bf16: 1 TFLOP/s}}, node: {gpus: 2}, links: "   \
    "{nvlink: {bandwidth: 1 GB/s}, nic: {bandwidth: 1 GB/s, gpus: 1, out_of: node}}, "             \
    "collectives: [{op: all_to_all, via: [nvlink, nic], algorithm: direct}, {op: send_recv, "      \
    "alpha: 1 ns}, &r {op: all_gather, via: [nvlink, nic], algorithm: ring}, {<<: *r, op: "        \
    "reduce_scatter}, {<<: *r, op: all_reduce}]}\n"
#define MODEL                                                                                      \
    "workload: {optimizer: {moments: 2, dtype: f32}, model: {layers: 2, hidden: 8, ffn_hidden: "   \
    "32, heads: 2, sequence: 4, vocabulary: 16, gated: false, causal: false, "                     \
    "moe: {experts: 4, top_k: 2, ffn_hidden: 4, shared: 1}}}\n"
#define FOUR "mesh: {axes: {ep: 2, dp: 2, pp: 1}}\n" MACHINE MODEL
#define PIPED                                                                                      \
    FOUR "overlap: {pipeline: {schedule: gpipe, microbatches: 2, data_parallel: {group: ep+dp, "   \
         "distributed_optimizer: true, gradient_dtype: f32}}}\n"

/* Bytes of a collective, and who takes part: so many ranks, the last of them. */
static void check_collective(const bench *t, const char *name, uint64_t bytes, uint32_t members,
                             uint32_t last)
{
    const ovl_op *op = op_named(t, 0, name);
    const ovl_comm *comm = &t->p->comms[t->p->rank_comms[t->p->ranks[0].first_comm + op->comm]];
    CHECK_INT(op->bytes, bytes);
    CHECK_INT(comm->n_members, members);
    CHECK_INT(t->p->members[comm->first_member + comm->n_members - 1], last);
}

static void check_proved(bench *t)
{
    CHECK(analyse(t));
    CHECK_INT(t->result.n_hazards, 0);
    CHECK(t->result.gradients_proved > 0);
}

/* Dense parameters over the four ranks, experts over ranks 0 and 2 (or 1 and 3), which have the
 * same: shards of 32 + 2 * 92 + 34 and 2 * 64 elements. */
static void experts_are_sharded_over_those_who_have_the_same(void)
{
    bench t = {0};
    CHECK(lower(&t, FOUR "overlap: {fsdp: {shard: ep+dp}}\n", NULL));
    check_collective(&t, "gather block[0]", 368 * 2, 4, 3);
    check_collective(&t, "gather block[0].experts", 128 * 2, 2, 2);
    check_collective(&t, "reduce block[1].experts", 128 * 2, 2, 2);
    CHECK_INT(bytes_in(&t, 0, OVL_PARAMETER), 2 * (250 + 128));
    CHECK_INT(bytes_in(&t, 0, OVL_OPTIMIZER), 8 * (250 + 128));
    check_proved(&t);
    finish(&t);
}

/* With replicas over dp experts have nobody to shard with; they are averaged over dp. */
static void experts_are_averaged_over_replicas(void)
{
    bench t = {0};
    CHECK(lower(&t, FOUR "overlap: {fsdp: {shard: ep, replicate: dp}}\n", NULL));
    check_collective(&t, "reduce block[0].experts", 128 * 2, 1, 0);
    check_collective(&t, "all_reduce block[0].experts", 128 * 2, 2, 2);
    check_collective(&t, "all_reduce block[0]", 184 * 2, 2, 2);
    check_proved(&t);
    finish(&t);
}

/* A backward asks for the layer before as a whole: its experts and the rest. */
static void a_prefetch_takes_the_experts_along(void)
{
    bench t = {0};
    CHECK(lower(&t, FOUR "overlap: {fsdp: {shard: ep+dp}}\n", NULL));
    const char *text = sequence(&t, 0);
    const char *at = strstr(text, "regather block[1] |");
    CHECK(at != NULL);
    CHECK_HAS(at, "copy_out again block[1] | regather copy_in block[0].experts | regather "
                  "block[0].experts | regather copy_in block[0] | regather block[0] | ");
    finish(&t);
}

/* Stage 1 and 2 keep all parameters, stage 3 shards; states are those of what a rank updates. */
static void stages_of_zero_count_experts(void)
{
    static const uint64_t params[] = {2 * 1256, 2 * 1256, 2 * 378};
    static const uint64_t grads[] = {2 * 1256, 2 * 378, 2 * 378};
    bench t = {0};
    for (int stage = 1; stage <= 3; stage++) {
        char set[64];
        snprintf(set, sizeof set, "overlap.zero.stage=%d", stage);
        CHECK(lower(&t,
                    FOUR "overlap: {zero: {stage: 1, group: ep+dp, "
                         "param_persistence_threshold: 0}}\n",
                    set));
        CHECK_INT(bytes_in(&t, 0, OVL_PARAMETER), params[stage - 1]);
        CHECK_INT(bytes_in(&t, 0, OVL_OPTIMIZER), 8 * 378);
        uint64_t held = 0;
        for (uint32_t i = 0; i < code_of(&t, 0)->n_buffers; i++) {
            const ovl_buffer *b = &code_of(&t, 0)->buffers[i];
            held += b->held && b->category == OVL_GRADIENT ? b->bytes : 0;
        }
        CHECK_INT(held, grads[stage - 1]);
        check_proved(&t);
    }
    finish(&t);
}

/* Megatron: buffers of experts apart, padded for two ranks: 256 elements are two multiples of
 * lcm(2, 128); of the dense ones each tensor starts at a multiple of 64: 192 + 384 + 384 + 128 =
 * 1088, padded to 1152 = 9 * 128. */
static void buckets_of_experts_are_apart(void)
{
    bench t = {0};
    CHECK(lower(&t,
                FOUR "overlap: {ddp: {policy: megatron, group: ep+dp, distributed_optimizer: "
                     "true}}\n",
                NULL));
    check_collective(&t, "bucket 0", 2 * 1152, 4, 3);
    check_collective(&t, "bucket 1", 2 * 256, 2, 2);
    check_collective(&t, "gather bucket 1", 2 * 256, 2, 2);
    check_proved(&t);
    CHECK(lower(&t,
                FOUR "overlap: {ddp: {group: ep+dp, first_bucket_cap: 100 B, bucket_cap: 100 B}}\n",
                NULL));
    check_collective(&t, "bucket 1", 2 * 128, 2, 2); /* behind that of the head */
    check_proved(&t);
    finish(&t);
}

/* Whole parameters and gradients, of these four bytes an element. */
static void stages_of_a_pipeline_reduce_experts_apart(void)
{
    bench t = {0};
    CHECK(lower(&t, PIPED, NULL));
    check_collective(&t, "reduce 0", 4 * 1000, 4, 3);
    check_collective(&t, "expert reduce 0", 4 * 256, 2, 2);
    check_collective(&t, "gather 0", 2 * 1000, 4, 3);
    check_collective(&t, "expert gather 0", 2 * 256, 2, 2);
    CHECK_INT(op_named(&t, 0, "reduce 0")->coll, OVL_REDUCE_SCATTER);
    CHECK_INT(bytes_in(&t, 0, OVL_PARAMETER), 2 * 1256);
    CHECK_INT(bytes_in(&t, 0, OVL_GRADIENT), 4 * 1256);
    CHECK_INT(bytes_in(&t, 0, OVL_OPTIMIZER), 8 * 378);
    check_proved(&t);
    finish(&t);
}

/* Two copies of the model: stage 0 is on both ranks of a pipeline, so its dense gradients are those
 * of 2 * 2 * 2 ranks. Each rank has half of the microbatches: one over 8 ranks times 4. */
static void copies_of_a_stage_are_reduced_together(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "mesh: {axes: {ep: 2, pp: 2, dp: 2}}\n" MACHINE MODEL
                "overlap: {pipeline: {schedule: dualpipe, microbatches: 8, data_parallel: {group: "
                "ep+dp}}}\n",
                NULL));
    check_collective(&t, "reduce 0", 2 * (128 + 368), 8, 7);
    check_collective(&t, "expert reduce 0", 2 * 128, 4, 6);
    check_proved(&t);
    CHECK_TEXT(t.result.gradient_scale, "1/16 and 1/32");
    finish(&t);
}

/* Ranks of tensor parallelism have T / 2 tokens for the router and the dispatch: two times two rows
 * of 16 bytes. Experts are cut in two columns of four: rows of both ranks are gathered, 8 of 16
 * bytes. FLOPs are half of 4352, parameters: 128 + 16 + 32 + 32 and 64 of experts. With the axis
 * among those of experts each is whole, one on each of four ranks. */
static void experts_are_cut_or_spread(void)
{
    bench t = {0};
    const char *text =
        "mesh: {axes: {tp: 2, ep: 2, dp: 2}}\n" MACHINE MODEL "overlap: {ddp: {group: ep+dp}}\n";
    CHECK(lower(&t, text, NULL));
    CHECK_INT(model_line(&t, "block")->forward_flops, 2176);
    CHECK_INT(model_line(&t, "block")->params, 128 + 16 + 32 + 32 + 64);
    check_collective(&t, "forward block[0].dispatch", 64, 2, 2);
    check_collective(&t, "forward block[0].experts_gather", 128, 2, 1);
    check_collective(&t, "forward block[0].experts_reduce", 128, 2, 1);
    check_collective(&t, "bucket 1", 2 * 128, 2, 4);
    check_proved(&t);
    CHECK(said(&t, "Gradients of norms and routers"));
    CHECK(lower(&t, text, "workload.model.moe.hottest=1.5"));
    CHECK(said(&t, "ranks of mean load"));
    CHECK(lower(&t, text, "workload.model.moe.ep=tp+ep"));
    CHECK_INT(model_line(&t, "block")->forward_flops, 2176);
    CHECK_INT(model_line(&t, "block")->params, 128 + 16 + 32 + 32 + 64);
    check_collective(&t, "forward block[0].dispatch", 64, 4, 3);
    check_collective(&t, "bucket 1", 2 * 128, 2, 4);
    CHECK(strstr(sequence(&t, 0), "experts_gather") == NULL);
    check_proved(&t);
    finish(&t);
}

/* Each of 378 elements: a gradient of 2 bytes, two moments of 4 read and written, a parameter of 2
 * read and written: 22 bytes, by 65 % of 1 TB/s. In the pipeline gradients have 4. A duration, or
 * an optimizer that keeps nothing, stands as it is. */
static void optimizers_take_what_they_move(void)
{
    static const char *const overlap[] = {
        "{fsdp: {shard: ep+dp}}",
        "{fsdp: {policy: fsdp1, shard: ep+dp}}",
        "{zero: {stage: 1, group: ep+dp}}",
        "{zero: {stage: 3, group: ep+dp, param_persistence_threshold: 0}}",
        "{ddp: {policy: megatron, group: ep+dp, distributed_optimizer: true}}",
    };
    bench t = {0};
    for (size_t i = 0; i < OVL_COUNT(overlap); i++) {
        char text[2048];
        snprintf(text, sizeof text, FOUR "overlap: %s\n", overlap[i]);
        CHECK(lower(&t, text, NULL));
        const ovl_cost *cost = cost_named(&t, 0, "optimizer");
        CHECK_INT(cost->work, 12794); /* 378 * 22 / 0.65 */
        CHECK_NEAR((double)demand_on(&t, 0, cost, false, "hbm"), 0.65e12, 1e8);
        CHECK(lower(&t, text, "workload.optimizer={duration: 1 ms}"));
        CHECK_INT(cost_named(&t, 0, "optimizer")->work, OVL_MS);
        CHECK(lower(&t, text, "workload.optimizer={states: 1 MB}"));
        CHECK(said(&t, "The optimizer takes no time"));
    }
    CHECK(lower(&t, PIPED, NULL));
    CHECK_INT(cost_named(&t, 0, "optimizer")->work, 13957); /* 378 * 24 / 0.65 */
    CHECK(lower(&t, FOUR "overlap: {ddp: {group: ep+dp}}\n", NULL));
    CHECK_INT(cost_named(&t, 0, "optimizer")->work, 42511); /* 1256 * 22 / 0.65 */
    finish(&t);
}

/* The proof sees groups that are too small, for dense gradients, and too large, for experts. */
static void wrong_groups_are_told(void)
{
    bench t = {0};
    CHECK(lower(&t, FOUR "overlap: {ddp: {group: dp}}\n", NULL));
    CHECK(analyse(&t));
    CHECK(t.result.n_hazards > 0);
    CHECK(!lower(&t,
                 "mesh: {axes: {ep: 2, dp: 2}}\n" MACHINE
                 "workload: {groups: {mine: [0, 1, 2, 3]}, model: {layers: 2, hidden: "
                 "8, ffn_hidden: 32, heads: 2, sequence: 4, vocabulary: 16, moe: {experts: 4, "
                 "top_k: 2, ffn_hidden: 4}}}\noverlap: {ddp: {group: mine}}\n",
                 NULL));
    CHECK_HAS(mistake(&t), "is a list of ranks");
    finish(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"experts are sharded over those who have the same",
         experts_are_sharded_over_those_who_have_the_same},
        {"experts are averaged over replicas", experts_are_averaged_over_replicas},
        {"a prefetch takes the experts along", a_prefetch_takes_the_experts_along},
        {"stages of ZeRO count experts", stages_of_zero_count_experts},
        {"buckets of experts are apart", buckets_of_experts_are_apart},
        {"stages of a pipeline reduce experts apart", stages_of_a_pipeline_reduce_experts_apart},
        {"copies of a stage are reduced together", copies_of_a_stage_are_reduced_together},
        {"experts are cut or spread", experts_are_cut_or_spread},
        {"optimizers take what they move", optimizers_take_what_they_move},
        {"wrong groups are told", wrong_groups_are_told},
        CU_TEST_INFO_NULL,
    };
    return check_main("data parallelism of experts", tests);
}
