/*
 * The blocks of a model given by its shape. Small enough for every figure to be worked out by hand:
 *
 *     h = 8, a = 2 heads of d = 4, f = 32, s = 4 tokens, b = 1, V = 16, e = 2 bytes, not causal,
 *     unfused attention with dropout, two matrices in the MLP
 */
#include "tests/support/lowering.h"

#define SHAPE                                                                                      \
    "hidden: 8, ffn_hidden: 32, heads: 2, sequence: 4, vocabulary: 16, gated: false, "             \
    "causal: false, dropout: true, attention: unfused"
#define MODEL "layers: 2, " SHAPE
#define MACHINE                                                                                    \
    "hardware: {gpu: {hbm: 1 TB/s, peak: {bf16: 1 TFLOP/s}}, collectives: ["                       \
    "{op: all_gather, alpha: 1 ms}, {op: reduce_scatter, alpha: 1 ms}, {op: all_reduce, alpha: 1 " \
    "ms}, {op: send_recv, alpha: 1 ms}]}\n"
#define ONE MACHINE "workload: {model: {" MODEL "}}\n"

static bool told(const bench *t, const char *part)
{
    bool found = false;
    for (uint32_t i = 0; i < t->errs.count; i++) {
        found |= strstr(t->errs.items[i].text, part) != NULL;
    }
    return found;
}

/* 24 b s h^2 + 4 b s^2 h = 24 * 4 * 64 + 4 * 16 * 8 = 6144 + 512; a backward twice that. The head 2
 * s h V = 1024. What the model needs: 3 * (2 * 6656 + 1024). */
static void flops_are_those_of_the_formula(void)
{
    bench t = {0};
    CHECK(lower(&t, ONE, NULL));
    CHECK_INT(model_line(&t, "block")->forward_flops, 6656);
    CHECK_INT(model_line(&t, "block")->backward_flops, 2 * 6656);
    CHECK_INT(model_line(&t, "head")->forward_flops, 1024);
    CHECK_INT(model_line(&t, "head")->backward_flops, 2048);
    CHECK_INT(model_line(&t, "block")->again_flops, 0);
    CHECK_INT(t.lowered.useful.flops, 43008);
    CHECK_INT(t.lowered.useful.tokens, 4);
    /* causal: half of 512 */
    CHECK(lower(&t, ONE, "workload.model.causal=true"));
    CHECK_INT(model_line(&t, "block")->forward_flops, 6144 + 256);
    /* flash: its backward takes 2.5 times as much */
    CHECK(lower(&t, ONE, "workload.model.attention=flash"));
    CHECK_INT(model_line(&t, "block")->backward_flops, 2 * 6144 + 5 * 512 / 2);
    /* a gate is one more matrix of 2 s h f = 2048 */
    CHECK(lower(&t, ONE, "workload.model.gated=true"));
    CHECK_INT(model_line(&t, "block")->forward_flops, 6656 + 2048);
    /* one head of keys and values: 8 columns less of 24: 2 * 4 * 8 * 8 */
    CHECK(lower(&t, ONE, "workload.model.kv_heads=1"));
    CHECK_INT(model_line(&t, "block")->forward_flops, 6656 - 512);
    finish(&t);
}

static bool has_name(const bench *t, const char *part)
{
    for (uint32_t i = 0; i < t->p->names->count; i++) {
        if (strstr(OVL_NAME(t->p->names, i), part)) {
            return true;
        }
    }
    return false;
}

/* One head of keys and values on ranks of tensor parallelism, of which each computes the gradient
 * of its own queries: 2 * 2 * 4 * 4 = 64 bytes of both are summed in the backward before qkv makes
 * gradients of it. Of two heads on four ranks each is on two that follow each other. */
static void gradients_of_copies_of_kv_heads_are_summed(void)
{
#define FEW(tp, more)                                                                              \
    "mesh: {axes: {tp: " tp ", dp: 1}}\n"                                                          \
    "hardware: {gpu: {hbm: 1 TB/s, peak: {bf16: 1 TFLOP/s}}, links: {nvlink: {bandwidth: 1 "       \
    "GB/s}}, collectives: [{op: all_reduce, group: tp, via: [nvlink], algorithm: ring}]}\n"        \
    "workload: {model: {layers: 2, hidden: 16, ffn_hidden: 32, heads: 4, sequence: 4, "            \
    "vocabulary: 16, sequence_parallel: false" more "}}\n"
    bench t = {0};
    const char *name = "backward block[0].kv_copies_reduce";
    CHECK(lower(&t, FEW("4", ", kv_heads: 2"), NULL));
    const ovl_op *op = op_named(&t, 0, name);
    CHECK_INT(op->bytes, 64);
    CHECK_INT(cost_named(&t, 0, name)->work, 64 * OVL_NS); /* 2 * 1/2 * 64 bytes at 1 GB/s */
    const ovl_comm *comm = ovl_rank_comm(t.p, 2, op->comm);
    CHECK_INT(comm->n_members, 2);
    CHECK_INT(t.p->members[comm->first_member], 2);
    CHECK_INT(t.p->members[comm->first_member + 1], 3);
    ovl_time few = 0;
    if (analyse(&t)) {
        few = t.result.step;
    }
    CHECK(few > 0);
    uint64_t bytes = model_line(&t, "block")->tp_bytes;
    CHECK(lower(&t, FEW("4", ", kv_heads: 4"), NULL));
    CHECK_INT(bytes, model_line(&t, "block")->tp_bytes + 64);
    CHECK(!has_name(&t, "kv_copies_reduce"));
    CHECK(lower(&t, FEW("2", ", kv_heads: 1"), NULL));
    CHECK_INT(ovl_rank_comm(t.p, 0, op_named(&t, 0, name)->comm)->n_members, 2);
    finish(&t);
}

/* qkv 8 * 24, proj 64, MLP 2 * 8 * 32, two norms of 8; tables of 16 * 8. */
static void parameters_are_counted(void)
{
    bench t = {0};
    CHECK(lower(&t, ONE, NULL));
    CHECK_INT(model_line(&t, "block")->params, 192 + 64 + 512 + 16);
    CHECK_INT(model_line(&t, "block")->repeat, 2);
    CHECK_INT(model_line(&t, "embedding")->params, 128);
    CHECK_INT(model_line(&t, "head")->params, 128 + 8);
    CHECK_INT(t.lowered.model_params, 2 * 784 + 128 + 136);
    finish(&t);
}

/* s b h (34 + 5 a s / h) = 32 * (34 + 5) = 1248. */
static void activations_are_those_of_the_formula(void)
{
    bench t = {0};
    CHECK(lower(&t, ONE, NULL));
    CHECK_INT(model_line(&t, "block")->kept, 1248);
    CHECK(lower(&t, ONE, "workload.model.recompute=selective")); /* 34 s b h */
    CHECK_INT(model_line(&t, "block")->kept, 34 * 32);
    CHECK_INT(model_line(&t, "block")->activations, 1248);
    CHECK_INT(model_line(&t, "block")->again_flops, 512);
    CHECK(lower(&t, ONE, "workload.model.recompute=full")); /* 2 s b h */
    CHECK_INT(model_line(&t, "block")->kept, 64);
    CHECK_INT(model_line(&t, "block")->again_flops, 6656);
    CHECK(lower(&t, ONE, "workload.model.dropout=false")); /* 32 s b h + 2 a s^2 b */
    CHECK_INT(model_line(&t, "block")->kept, 32 * 32 + 2 * 2 * 16);
    finish(&t);
}

#define TWO "mesh: {axes: {tp: 2, dp: 1}}\n" ONE

/* On two ranks half of everything with sequence parallelism; s b h (10 + 24 / 2 + 5 a s / 2 h) = 32
 * * 24.5 without. A collective has e s h = 64 bytes: with it four in a forward and six in a
 * backward, without it two all-reduces in each. */
static void tensor_parallelism_splits_and_communicates(void)
{
    bench t = {0};
    CHECK(lower(&t, TWO, NULL));
    CHECK_INT(model_line(&t, "block")->forward_flops, 3328);
    CHECK_INT(model_line(&t, "block")->kept, 624);
    CHECK_INT(model_line(&t, "block")->params, 384 + 16);
    CHECK_INT(model_line(&t, "block")->tp_bytes, 10 * 64);
    CHECK_INT(t.lowered.useful.flops, 43008 / 2);
    CHECK(lower(&t, TWO, "workload.model.sequence_parallel=false"));
    CHECK_INT(model_line(&t, "block")->kept, 784);
    CHECK_INT(model_line(&t, "block")->tp_bytes, 4 * 64);
    finish(&t);
}

#define TWO_CONTEXT "mesh: {axes: {cp: 2}}\n" ONE

/* A rank has two tokens: keys and values of 2 * e * 2 * 8 = 64 bytes, 128 of both ranks. A ring of
 * two: one step in a forward, one and two of gradients in a backward. */
static void context_parallelism_moves_keys_and_values(void)
{
    bench t = {0};
    CHECK(lower(&t, TWO_CONTEXT "overlap: {ddp: {group: cp}}\n", NULL));
    CHECK_INT(model_line(&t, "block")->forward_flops, 3328);
    CHECK_INT(model_line(&t, "block")->cp_bytes, (1 + 1 + 2) * 64);
    CHECK_INT(t.lowered.useful.flops, 43008 / 2);
    CHECK_INT(t.lowered.useful.tokens, 4);
    CHECK(lower(&t, TWO_CONTEXT "overlap: {ddp: {group: cp}}\n",
                "workload.model.context=all_gather"));
    CHECK_INT(model_line(&t, "block")->cp_bytes, 3 * 128);
    finish(&t);
}

/* With 6.656 ms for the forward and twice that for the backward each FLOP of a kernel takes 1 us; a
 * collective takes 1 ms, and what embedding and head compute less than 0.01 us.
 *
 *     forward   reduce 0..1, gather 1..2, qkv attention proj 2..4.56, reduce ..5.56, gather ..6.56,
 *               mlp_in mlp_out ..10.656, reduce ..11.656, gather ..12.656
 *     backward  the head gathers its input again ..13.656 and reduces the gradient ..14.656;
 *               gather ..15.656, mlp_out ..19.752, gather again beside mlp_in ..21.8,
 *               reduce ..22.8 beside the weights of mlp_in ..23.848, gather ..24.848,
 *               proj ..25.872, attention ..26.896, gather again beside qkv ..28.432,
 *               reduce ..29.432 beside its weights ..29.968, gather ..30.968 */
static void a_block_runs_in_the_order_of_its_data(void)
{
    bench t = {0};
    const char *text =
        "mesh: {axes: {tp: 2, dp: 1}}\n" MACHINE "workload: {model: {layers: 1, " SHAPE
        ", block: {forward: 6.656 ms, backward: 13.312 ms}}}\n";
    CHECK(lower(&t, text, NULL));
    CHECK_INT(model_line(&t, "block")->forward, 6656 * OVL_US);
    CHECK_INT(model_line(&t, "block")->backward, 13312 * OVL_US);
    CHECK(analyse(&t));
    CHECK_NEAR((double)t.result.step, 30968.0 * (double)OVL_US, 0.1 * (double)OVL_US);
    CHECK_INT(t.result.n_hazards, 0);
    finish(&t);
}

/* The same with 64 bytes in 1 ms; in two pieces of 0.5 ms each:
 *
 *     forward   reduce 0..1, gather 1..1.5..2, qkv 1.5..3.036, attention ..3.548, proj ..4.06,
 * reduce 3.804..4.304..4.804, gather ..5.304, mlp_in mlp_out ..9.4, reduce ..9.9, gather ..10.9
 *     backward  the head ..11.9, reduce ..12.9, gather ..13.4, mlp_out ..17.496, gather again
 * ..18.496 beside mlp_in ..19.544, reduce ..20.044 beside the weights ..21.592, gather ..22.092,
 *               proj ..23.116, attention ..24.14, gather again ..25.14 beside qkv ..25.676, reduce
 *               ..26.176 beside the weights ..27.212, gather ..28.212 */
static void pieces_of_a_collective_run_beside_the_kernel(void)
{
    bench t = {0};
    const char *text =
        "hardware: {gpu: {hbm: 1 TB/s, peak: {bf16: 1 TFLOP/s}}, collectives: [{op: all_gather, "
        "beta: 64 kB/s}, {op: reduce_scatter, beta: 64 kB/s}]}\n"
        "mesh: {axes: {tp: 2, dp: 1}}\nworkload: {model: {layers: 1, " SHAPE
        ", block: {forward: 6.656 ms, backward: 13.312 ms}}}\n";
    CHECK(lower(&t, text, NULL));
    CHECK(analyse(&t));
    CHECK_NEAR((double)t.result.step, 30968.0 * (double)OVL_US, 0.1 * (double)OVL_US);
    CHECK(lower(&t, text, "workload.model.async_tp=2"));
    CHECK(analyse(&t));
    CHECK_NEAR((double)t.result.step, 28212.0 * (double)OVL_US, 0.1 * (double)OVL_US);
    CHECK(t.result.n_hazards == 0);
    finish(&t);
}

/* One stage has the embedding and a block, the other a block and the head. */
static void blocks_are_split_among_stages(void)
{
    bench t = {0};
    const char *text = "mesh: {axes: {tp: 2, pp: 2}}\n" MACHINE "workload: {model: {" MODEL
                       ", block: {forward: 6.656 ms, backward: 13.312 ms}}}\n"
                       "overlap: {pipeline: {schedule: 1f1b, microbatches: 4}}\n";
    CHECK(lower(&t, text, NULL));
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_INT(t.p->n_codes, 2);
    CHECK_INT(t.lowered.useful.tokens, 16);
    CHECK_INT(t.lowered.useful.flops, 4 * 43008 / 4); /* four microbatches on four ranks */
    finish(&t);
}

/* Every part of the parameters is a gradient of its own: with tensor parallelism what ranks reduce
 * over is data parallelism alone, with context parallelism both. */
static void gradients_reach_the_optimizer_once(void)
{
    bench t = {0};
    CHECK(lower(&t, "mesh: {axes: {tp: 2, cp: 2, dp: 2}}\n" ONE "overlap: {ddp: {group: cp+dp}}\n",
                NULL));
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_TEXT(t.result.gradient_scale, "1/4");
    CHECK(lower(&t, "mesh: {axes: {tp: 2, cp: 2, dp: 2}}\n" ONE "overlap: {ddp: {group: dp}}\n",
                NULL));
    CHECK(analyse(&t));
    CHECK(t.result.n_hazards > 0); /* the other half of the sequence is missing */
    CHECK(lower(&t, "mesh: {axes: {tp: 2, dp: 2}}\n" ONE "overlap: {ddp: {group: tp+dp}}\n", NULL));
    CHECK(analyse(&t));
    CHECK(t.result.n_hazards > 0); /* parts that are not the same were added up */
    finish(&t);
}

/* Two stages of two layers (10 ms, 20 ms), two microbatches; a collective takes 1 ms, and so does a
 * transfer. Every microbatch gathers and reduces:
 *
 *     rank 0   gather ..1, F0 ..21, gather ..22, F1 ..42                      B0 83..123, B1
 * 145..185 rank 1   F0 22..42, B0 ..82, gather ..83, F1 ..103, gather ..104, B1 ..144        reduce
 * ..186
 *
 * Once for all microbatches: F0 1..21, F1 ..41; rank 1 22..42..82..102..142; B1 143..183, reduce.
 */
#define STAGES                                                                                     \
    "mesh: {axes: {pp: 2, dp: 2}}\n"                                                               \
    "hardware: {collectives: [{op: all_gather, alpha: 1 ms}, {op: reduce_scatter, alpha: 1 ms}, "  \
    "{op: send_recv, alpha: 1 ms}]}\n"                                                             \
    "workload:\n"                                                                                  \
    "  layers: [{name: block, repeat: 4, params: 10 MiB, forward: 10 ms, backward: 20 ms, "        \
    "transfer: 1 MiB}]\n"                                                                          \
    "overlap:\n"                                                                                   \
    "  pipeline: {schedule: 1f1b, microbatches: 2}\n"

static void a_pipeline_shards_the_layers_of_its_stages(void)
{
    bench t = {0};
    CHECK(lower(&t, STAGES "  fsdp: {}\n", NULL));
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, 186 * OVL_MS);
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_TEXT(t.result.gradient_scale, "1/4");
    CHECK(lower(&t,
                STAGES "  fsdp: {reshard_after_forward: false, accumulate: {gradient_sync: last, "
                       "last_backward: last, reshard_after_backward: false}}\n",
                NULL));
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, 184 * OVL_MS);
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_TEXT(t.result.gradient_scale, "1/4");
    finish(&t);
}

/* A bucket for each layer: F0 ..20, F1 ..40; rank 1 21..41..81..101..141; B0 82..122, B1 142..182
 * with the first bucket at 162 and the second behind it, ..183. In one bucket: the same. */
static void a_pipeline_reduces_in_buckets_of_its_stages(void)
{
    bench t = {0};
    const char *text = STAGES "  ddp: {bucket_cap: 10 MiB, first_bucket_cap: 10 MiB}\n";
    CHECK(lower(&t, text, "hardware.collectives[0].op=all_reduce"));
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, 183 * OVL_MS);
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_TEXT(t.result.gradient_scale, "1/4");
    CHECK_TEXT(waits(&t, 0, "bucket with block[1]"), "backward block[1] mb 1");
    CHECK(!lower(&t, text, "overlap.ddp.no_sync=false"));
    CHECK(told(&t, "reduces once a step, with the last backward of a stage"));
    CHECK(!lower(&t, text, "overlap.ddp.buckets=[[block]]"));
    CHECK(told(&t, "makes its buckets by size"));
    finish(&t);
}

static void what_a_pipeline_cannot_shard_is_told(void)
{
    bench t = {0};
    CHECK(!lower(&t, STAGES "  fsdp: {policy: fsdp1}\n", NULL));
    CHECK(told(&t, "overlap.fsdp in a pipeline is policy fsdp2"));
    CHECK(!lower(&t, STAGES "  fsdp: {root: [block]}\n", NULL));
    CHECK(told(&t, "has no root layers"));
    CHECK(!lower(&t, STAGES "  fsdp: {}\n", "overlap.pipeline.data_parallel={group: dp}"));
    CHECK(told(&t, "does not go together with overlap.pipeline.data_parallel"));
    finish(&t);
}

static void what_does_not_divide_is_told(void)
{
    bench t = {0};
    CHECK(!lower(&t, "mesh: {axes: {tp: 3, dp: 1}}\n" ONE, NULL));
    CHECK(told(&t, "heads: 2 cannot be shared out evenly among the 3 ranks of axis \"tp\""));
    CHECK(told(&t, "columns of the MLP (ffn_hidden): 32 cannot"));
    CHECK(!lower(&t, ONE,
                 "workload.model={layers: 2, hidden: 10000000, ffn_hidden: 10000000, heads: "
                 "2, sequence: 100000000, vocabulary: 16, microbatch: 1000}"));
    CHECK(told(&t, "the model is too large"));
    CHECK(!lower(&t, ONE, "workload.model.matmul_efficiency=1.5"));
    CHECK(told(&t, "no more than 100 %"));
    CHECK(
        !lower(&t, "mesh: {axes: {tp: 2, dp: 2}}\n" ONE "overlap: {ddp: {group: tp+pd}}\n", NULL));
    CHECK(told(&t, "there is no group \"tp+pd\""));
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"FLOPs are those of the formula", flops_are_those_of_the_formula},
    {"parameters are counted", parameters_are_counted},
    {"activations are those of the formula", activations_are_those_of_the_formula},
    {"tensor parallelism splits and communicates", tensor_parallelism_splits_and_communicates},
    {"context parallelism moves keys and values", context_parallelism_moves_keys_and_values},
    {"a block runs in the order of its data", a_block_runs_in_the_order_of_its_data},
    {"pieces of a collective run beside the kernel", pieces_of_a_collective_run_beside_the_kernel},
    {"blocks are split among stages", blocks_are_split_among_stages},
    {"gradients reach the optimizer once", gradients_reach_the_optimizer_once},
    {"a pipeline shards the layers of its stages", a_pipeline_shards_the_layers_of_its_stages},
    {"a pipeline reduces in buckets of its stages", a_pipeline_reduces_in_buckets_of_its_stages},
    {"what a pipeline cannot shard is told", what_a_pipeline_cannot_shard_is_told},
    {"what does not divide is told", what_does_not_divide_is_told},
    {"gradients of copies of kv_heads are summed", gradients_of_copies_of_kv_heads_are_summed},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("block", tests);
}
