/*
 * Kernels that only move bytes, and buffers inside layers, by hand:
 *
 *     h = 8, a = 2 heads of d = 4, f = 32, s = 4 tokens, e = 2 bytes: X = 64 bytes; a GPU of
 *     1 TB/s moves one byte in a picosecond
 */
#include "tests/support/lowering.h"

#define MACHINE                                                                                    \
    "hardware: {gpu: {hbm: 1 TB/s, sms: 100, peak: {bf16: 1 TFLOP/s, fp8: 1 TFLOP/s}}, "           \
    "collectives: [&r {op: all_gather, alpha: 1 ns, beta: 1 GB/s}, {<<: *r, op: reduce_scatter}, " \
    "{<<: *r, op: all_to_all}, {<<: *r, op: all_reduce}, {op: send_recv, alpha: 1 ns}]}\n"
#define MODEL                                                                                      \
    "workload: {model: {layers: 1, hidden: 8, ffn_hidden: 32, heads: 2, sequence: 4, vocabulary: " \
    "16, gated: false, causal: false, memory_efficiency: 100 %"
#define PIPELINE "}}\noverlap: {pipeline: {schedule: gpipe, microbatches: 1}}\n"
#define ONE      "mesh: {axes: {pp: 1}}\n" MACHINE MODEL PIPELINE
#define MOE      ", moe: {experts: 4, top_k: 2, ffn_hidden: 4, shared: 1}"
#define EXPERTS  "mesh: {axes: {ep: 2, pp: 1}}\n" MACHINE MODEL MOE PIPELINE

/* What a kernel takes, in bytes. */
static ovl_time taken(const bench *t, const char *name)
{
    return cost_named(t, 0, name)->work;
}

/* Norm 2 X; queries and keys of 16 columns, read and written; sum and norm 5 X; activation 2 * 2 *
 * 4 * 32; sum 3 X. Backward: 6 X for a norm and a sum; 3 * 2 * 4 * 32. Loss: 6 bytes for each of 4
 * * 16 logits. */
static void norms_and_sums_move_bytes(void)
{
    bench t = {0};
    CHECK(lower(&t, ONE, NULL));
    CHECK_INT(taken(&t, "forward embedding.lookup"), 128);
    CHECK_INT(taken(&t, "forward block.norm"), 128);
    CHECK_INT(taken(&t, "forward block.rotary"), 2 * 2 * 4 * 16);
    CHECK_INT(taken(&t, "forward block.sum_norm"), 320);
    CHECK_INT(taken(&t, "forward block.activation"), 512);
    CHECK_INT(taken(&t, "forward block.sum"), 192);
    CHECK_INT(taken(&t, "forward head.loss"), 6 * 4 * 16);
    CHECK_INT(taken(&t, "backward head.loss_back"), 6 * 4 * 16);
    CHECK_INT(taken(&t, "backward head.norm_back"), 192);
    CHECK_INT(taken(&t, "backward block.activation_back"), 768);
    CHECK_INT(taken(&t, "backward block.sum_norm_back"), 384);
    CHECK_INT(taken(&t, "backward block.rotary_back"), 256);
    CHECK_INT(taken(&t, "backward block.norm_back"), 384);
    CHECK(lower(&t, ONE, "workload.model.gated=true"));
    CHECK_INT(taken(&t, "forward block.activation"), 768);
    CHECK_INT(taken(&t, "backward block.activation_back"), 1280);
    CHECK(lower(&t, ONE, "workload.model.memory_efficiency=50%"));
    CHECK_INT(taken(&t, "forward block.norm"), 256);
    CHECK(!lower(&t, ONE, "workload.model.memory_efficiency=101%"));
    const char *by_hardware =
        "mesh: {axes: {pp: 1}}\nhardware: {gpu: {hbm: 1 TB/s, hbm_efficiency: "
        "80 %, peak: {bf16: 1 TFLOP/s}}, collectives: [{op: send_recv, alpha: "
        "1 ns}]}\nworkload: {model: {layers: 1, hidden: 8, ffn_hidden: 32, "
        "heads: 2, sequence: 4, vocabulary: 16" PIPELINE;
    CHECK(lower(&t, by_hardware, NULL));
    CHECK_INT(taken(&t, "forward block.norm"), 160); /* 128 / 0.8 */
    CHECK(said(&t, "kernels that only move bytes 80 % of the HBM bandwidth"));
    CHECK(lower(&t, by_hardware, "hardware.gpu.hbm_efficiency=100 %"));
    CHECK_INT(taken(&t, "forward block.norm"), 128);
    finish(&t);
}

/* Products in one byte: their inputs are written in it, 4 * 8 and 4 * 32; of the backward the
 * gradient m n and the input m k in two layouts each: for mlp_out 2 (4 * 8 + 4 * 32), mlp_in 2 (4 *
 * 32 + 4 * 8), proj 2 (4 * 8 + 4 * 8), qkv 2 (4 * 24 + 4 * 8). */
static void narrow_products_cast(void)
{
    bench t = {0};
    CHECK(lower(&t, ONE, "workload.model.matmul_dtype=fp8"));
    CHECK_INT(taken(&t, "forward block.norm"), 128 + 32);
    CHECK_INT(taken(&t, "forward block.proj_cast"), 64 + 32);
    CHECK_INT(taken(&t, "forward block.sum_norm"), 320 + 32);
    CHECK_INT(taken(&t, "forward block.activation"), 512 + 128);
    CHECK_INT(taken(&t, "backward block.mlp_cast"), 64 + 320);
    CHECK_INT(taken(&t, "backward block.activation_back"), 768 + 320);
    CHECK_INT(taken(&t, "backward block.proj_cast_back"), 64 + 128);
    CHECK_INT(taken(&t, "backward block.rotary_back"), 256 + 256);
    finish(&t);
}

/* Eight rows of 16 bytes: to be sent, 64 bytes read and twice that written; by expert 2 * 128; the
 * sum of two copies, the shared expert's and the residual, written: 5 X. */
static void rows_are_ordered(void)
{
    bench t = {0};
    CHECK(lower(&t, EXPERTS, NULL));
    CHECK_INT(taken(&t, "forward block.route"), 8 * 4 * 4);
    CHECK_INT(taken(&t, "forward block.permute"), 192);
    CHECK_INT(taken(&t, "forward block.shared_activation"), 64);
    CHECK_INT(taken(&t, "forward block.sort"), 256);
    CHECK_INT(taken(&t, "forward block.experts_activation"), 128);
    CHECK_INT(taken(&t, "forward block.unsort"), 256);
    CHECK_INT(taken(&t, "forward block.sum"), 320);
    CHECK_INT(taken(&t, "backward block.sort_back"), 256);
    CHECK_INT(taken(&t, "backward block.experts_activation_back"), 192);
    CHECK_INT(taken(&t, "backward block.sum_norm_back"), 512);
    CHECK(lower(&t, EXPERTS, "workload.model.moe.dispatch_dtype=fp8"));
    CHECK_INT(taken(&t, "forward block.permute"), 96);
    CHECK_INT(taken(&t, "forward block.sort"), 128);
    finish(&t);
}

/* Two outputs of norms, 128 bytes, are not kept: 576 - 128; both run again. With latent matrices of
 * 4, 2 and 2 columns, inputs and outputs of two norms and the positions of keys are kept, too: 2 *
 * 4
 * * (6 + 6 + 2) bytes. The outputs, and queries, keys and values of 8 + 4 + 16 columns, are made
 * again: 2 * 4 * 34 bytes less, norms that read and write 6 columns, and 4 * 2 * (4 * 12 + 2 * 16)
 * FLOPs. */
static void norms_are_computed_again(void)
{
    bench t = {0};
    CHECK(lower(&t, ONE, NULL));
    uint64_t kept = model_line(&t, "block")->kept;
    CHECK(lower(&t, ONE, "workload.model.recompute=norms"));
    CHECK_INT(model_line(&t, "block")->kept, kept - 128);
    CHECK_INT(taken(&t, "recompute block.norm"), 128);
    CHECK_INT(taken(&t, "recompute block.mlp_norm"), 128);
    const char *latent = "mesh: {axes: {pp: 1}}\n" MACHINE MODEL
                         ", latent: {query: 4, key_value: 2, rope: 2}" PIPELINE;
    CHECK(lower(&t, latent, NULL));
    CHECK_INT(model_line(&t, "block")->kept, kept + 2 * 4 * (4 + 14));
    kept = model_line(&t, "block")->kept;
    CHECK(lower(&t, latent, "workload.model.recompute=norms"));
    CHECK_INT(model_line(&t, "block")->kept, kept - 128 - 272);
    CHECK_INT(taken(&t, "recompute block.latent_norm"), 2 * 2 * 4 * 6);
    CHECK_INT(model_line(&t, "block")->again_flops, 2 * 4 * (4 * 12 + 2 * 16));
    finish(&t);
}

/* The buffers of a name in a code: how many, and their bytes. */
static uint32_t count_buffers(const bench *t, const char *name, uint64_t bytes)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < code_of(t, 0)->n_buffers; i++) {
        const ovl_buffer *b = &code_of(t, 0)->buffers[i];
        if (strcmp(OVL_NAME(t->p->names, b->name), name) == 0) {
            CHECK_INT(b->bytes, bytes);
            n++;
        }
    }
    return n;
}

/* A buffer is allocated before what writes it, and freed behind the kernel that reads it, or that
 * waits for the communication that does. */
static void check_life(const bench *t, const char *name, const char *reader)
{
    for (uint32_t i = 0; i < code_of(t, 0)->n_buffers; i++) {
        const ovl_buffer *b = &code_of(t, 0)->buffers[i];
        if (strcmp(OVL_NAME(t->p->names, b->name), name) == 0) {
            CHECK_INT(b->alloc, find_op(t, 0, name));
            CHECK_INT(b->freed, find_op(t, 0, reader) + 1);
        }
    }
}

/* Two ranks of tensor parallelism gather 4 * 8 columns of two bytes, and hold as much of partial
 * sums. */
static void gathered_tokens_take_memory(void)
{
    bench t = {0};
    CHECK(lower(&t, "mesh: {axes: {tp: 2, pp: 1}}\n" MACHINE MODEL PIPELINE, NULL));
    CHECK_INT(count_buffers(&t, "forward block.attention_gather", 64), 1);
    CHECK_INT(count_buffers(&t, "forward block.proj", 64), 1);
    CHECK_INT(count_buffers(&t, "backward block.mlp_input_gather", 64), 1);
    check_life(&t, "forward block.attention_gather", "forward block.qkv");
    check_life(&t, "forward block.proj", "forward block.sum_norm");
    check_life(&t, "backward block.mlp_input_gather", "backward block.mlp_in_weight");
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    CHECK(lower(&t, "mesh: {axes: {tp: 2, pp: 1}}\n" MACHINE MODEL PIPELINE,
                "workload.model.sequence_parallel=false"));
    CHECK_INT(count_buffers(&t, "forward block.proj", 64), 0);
    finish(&t);
}

/* Keys and values of both halves of the sequence: 2 * 2 * 4 * 8 bytes; a ring has those of one. */
static void gathered_keys_take_memory(void)
{
    const char *text = "mesh: {axes: {cp: 2, pp: 1}}\n" MACHINE MODEL PIPELINE;
    bench t = {0};
    CHECK(lower(&t, text, "workload.model.context=all_gather"));
    CHECK_INT(count_buffers(&t, "forward block.kv_gather", 128), 1);
    CHECK_INT(count_buffers(&t, "backward block.attention", 128), 1);
    CHECK(lower(&t, text, NULL));
    CHECK_INT(count_buffers(&t, "forward block.kv_ring.0", 64), 1);
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    finish(&t);
}

/* What is to be sent and what comes, eight rows of 16 bytes; twice the mean on the hottest rank. */
static void dispatched_rows_take_memory(void)
{
    bench t = {0};
    CHECK(lower(&t, EXPERTS, NULL));
    CHECK_INT(count_buffers(&t, "forward block.permute", 128), 1);
    CHECK_INT(count_buffers(&t, "forward block.dispatch", 128), 1);
    CHECK_INT(count_buffers(&t, "forward block.unsort", 128), 1);
    CHECK_INT(count_buffers(&t, "forward block.combine", 128), 1);
    CHECK_INT(count_buffers(&t, "backward block.sort_back", 128), 1);
    CHECK(lower(&t, EXPERTS, "workload.model.moe.hottest=2"));
    CHECK_INT(count_buffers(&t, "forward block.dispatch", 256), 1);
    CHECK_INT(count_buffers(&t, "forward block.combine", 128), 1);
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    finish(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"norms and sums move bytes", norms_and_sums_move_bytes},
        {"narrow products cast", narrow_products_cast},
        {"rows are ordered", rows_are_ordered},
        {"norms are computed again", norms_are_computed_again},
        {"gathered tokens take memory", gathered_tokens_take_memory},
        {"gathered keys take memory", gathered_keys_take_memory},
        {"dispatched rows take memory", dispatched_rows_take_memory},
        CU_TEST_INFO_NULL,
    };
    return check_main("bytes moved inside layers", tests);
}
