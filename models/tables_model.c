#include "models/tables.h"

/* --- Measured blocks --- */

static const ovl_field block_fields[] = {
    OVL_FIELD(ovl_block_times, forward, "forward", OVL_F_TIME, OVL_FIELD_POSITIVE,
              "All kernels of the forward of one block."),
    OVL_FIELD(ovl_block_times, backward, "backward", OVL_F_TIME, OVL_FIELD_POSITIVE,
              "All kernels of its backward, without recomputation."),
};

const ovl_table ovl_block_table = {
    .title = "workload.model.block",
    .intro = "What one block took on a rank, its kernels added up, for one microbatch and without "
             "communication. The kernels of the block share it by their FLOPs. A pass that is not "
             "given goes by the roofline.\n\n"
             "    model: {..., block: {forward: 7.1 ms, backward: 14.6 ms}}",
    .fields = block_fields,
    .n_fields = OVL_COUNT(block_fields),
    .size = sizeof(ovl_block_times),
    .mark = offsetof(ovl_block_times, mark),
};

/* --- The model --- */

static const char *const recompute_names[] = {"none", "selective", "full", "norms", NULL};
static const char *const attention_names[] = {"flash", "unfused", NULL};
static const char *const context_names[] = {"ring", "all_gather", NULL};

static void model_defaults(void *value)
{
    ovl_model *model = value;
    model->dtype = OVL_BF16;
    model->matmul_dtype = OVL_DTYPE_OF_LAYER;
    model->microbatch = 1;
    model->gated = model->causal = model->sequence_parallel = true;
    model->tp = "tp";
    model->cp = "cp";
    model->async_tp = 1;
}

static void check_efficiency(const ovl_node *node, const char *key, double value, ovl_errs *errs)
{
    if (value > 1) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, key)->mark,
                  "%s is a part of the peak: no more than 100 %%", key);
    }
}

static void check_model(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    ovl_model *m = value;
    check_efficiency(node, "matmul_efficiency", m->matmul_efficiency, errs);
    check_efficiency(node, "attention_efficiency", m->attention_efficiency, errs);
    check_efficiency(node, "memory_efficiency", m->memory_efficiency, errs);
    m->kv_heads = m->kv_heads ? m->kv_heads : m->heads;
    if (m->heads && m->heads % m->kv_heads) {
        ovl_error(errs, OVL_E_INPUT, m->mark,
                  "heads, %" PRId64 ", is no multiple of kv_heads, %" PRId64, m->heads,
                  m->kv_heads);
    }
    if (m->heads && !m->head_dim && m->hidden % m->heads) {
        ovl_error(errs, OVL_E_INPUT, m->mark,
                  "hidden, %" PRId64 ", does not divide by %" PRId64 " heads: give head_dim",
                  m->hidden, m->heads);
    } else if (m->heads && !m->head_dim) {
        m->head_dim = m->hidden / m->heads;
    }
    if (m->async_tp > 1 && !m->sequence_parallel) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "async_tp")->mark,
                  "async_tp needs sequence_parallel: true");
    }
    if (m->recompute == OVL_RECOMPUTE_SELECTIVE && m->attention == OVL_ATTENTION_FLASH) {
        ovl_warning(errs, ovl_node_get(node, "recompute")->mark,
                    "recompute: selective has no effect with attention: flash, which keeps no "
                    "scores");
    }
}

static const ovl_field model_fields[] = {
    OVL_FIELD_MORE(ovl_model, layers, "layers", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "Transformer blocks. Besides them there are `embedding` and `head`.", .min = 1,
                   .max = 100000),
    OVL_FIELD_MORE(ovl_model, hidden, "hidden", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "Columns of the activations between blocks.", .min = 1, .max = 10000000),
    OVL_FIELD_MORE(ovl_model, ffn_hidden, "ffn_hidden", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "Columns inside the MLP.", .min = 1, .max = 10000000),
    OVL_FIELD_MORE(ovl_model, heads, "heads", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "Heads of the attention.", .min = 1, .max = 1000000),
    OVL_FIELD_MORE(ovl_model, kv_heads, "kv_heads", OVL_F_COUNT, 0,
                   "Heads of keys and values (grouped-query attention). Default: `heads`.",
                   .min = 1, .max = 1000000),
    OVL_FIELD_MORE(ovl_model, head_dim, "head_dim", OVL_F_COUNT, 0,
                   "Columns of a head. Default: `hidden` / `heads`.", .min = 1, .max = 1000000),
    OVL_FIELD_MORE(ovl_model, sequence, "sequence", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "Tokens of a sequence.", .min = 1, .max = 100000000),
    OVL_FIELD_MORE(ovl_model, vocabulary, "vocabulary", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "Tokens there are; embedding and head do not share their weights.", .min = 1,
                   .max = 100000000),
    OVL_FIELD_MORE(ovl_model, microbatch, "microbatch", OVL_F_COUNT, 0,
                   "Sequences of a microbatch, on all ranks of tensor and context parallelism "
                   "together. Default 1.",
                   .min = 1, .max = 1000000),
    OVL_FIELD_MORE(ovl_model, dtype, "dtype", OVL_F_ENUM, 0,
                   "Element type of parameters, activations and gradients. Default bf16.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
    OVL_FIELD_MORE(ovl_model, matmul_dtype, "matmul_dtype", OVL_F_ENUM, 0,
                   "Element type that the matrix products of blocks and head compute in, such as "
                   "fp8: they go by its peak. Default: `dtype`.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
    OVL_FIELD(ovl_model, gated, "gated", OVL_F_BOOL, 0,
              "The MLP has a gate (SwiGLU): three matrices instead of two. Default true."),
    OVL_FIELD(ovl_model, causal, "causal", OVL_F_BOOL, 0,
              "Tokens see those before them: half of the attention is computed, and context "
              "parallelism gives every rank as much of it. Default true."),
    OVL_FIELD(ovl_model, dropout, "dropout", OVL_F_BOOL, 0,
              "Masks are kept for the backward. Default false."),
    OVL_FIELD_MORE(ovl_model, attention, "attention", OVL_F_ENUM, 0,
                   "`flash`: scores are never kept; the backward computes them again, 2.5 times a "
                   "forward. `unfused`: scores are kept. Default `flash`.",
                   .names = attention_names),
    OVL_FIELD_MORE(
        ovl_model, recompute, "recompute", OVL_F_ENUM, 0,
        "What is not kept for the backward: `none`; `selective`, the scores of unfused "
        "attention; `full`, all of a block but its input; `norms`, outputs of norms and, of "
        "latent attention, what widens queries, keys and values. Default `none`.",
        .names = recompute_names),
    OVL_FIELD(ovl_model, tp, "tp", OVL_F_TEXT, 0,
              "Axis of tensor parallelism. Default `tp`; one rank, if the mesh has none of that "
              "name."),
    OVL_FIELD(ovl_model, sequence_parallel, "sequence_parallel", OVL_F_BOOL, 0,
              "Between the blocks of tensor parallelism tokens are split, too: all-gathers and "
              "reduce-scatters instead of all-reduces. Default true."),
    OVL_FIELD_MORE(ovl_model, async_tp, "async_tp", OVL_F_COUNT, 0,
                   "Pieces that a gather and the kernel behind it, or a kernel and the "
                   "reduce-scatter behind it, are cut into, so that one runs beside the other. "
                   "Default 1: not cut.",
                   .min = 1, .max = 64),
    OVL_FIELD(ovl_model, cp, "cp", OVL_F_TEXT, 0, "Axis of context parallelism. Default `cp`."),
    OVL_FIELD_MORE(ovl_model, context, "context", OVL_F_ENUM, 0,
                   "How keys and values reach the other ranks of context parallelism: `ring`, step "
                   "by step beside the attention, or `all_gather` before it. Default `ring`.",
                   .names = context_names),
    OVL_FIELD(ovl_model, matmul_efficiency, "matmul_efficiency", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "Part of the peak FLOP/s that matrix products reach. Default: "
              "`hardware.gpu.efficiency`."),
    OVL_FIELD(ovl_model, attention_efficiency, "attention_efficiency", OVL_F_RATIO,
              OVL_FIELD_POSITIVE, "The same of the attention."),
    OVL_FIELD(ovl_model, memory_efficiency, "memory_efficiency", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "Part of the HBM bandwidth that kernels reach which only move bytes: norms, "
              "activation functions, sums, casts, the loss, ordering of tokens. Default: "
              "`hardware.gpu.hbm_efficiency` if that is given, else 65 %, an assumption: on an "
              "H100 kernels written for it reach about 90 %, compiled ones are a "
              "third to a half slower (Guo, Zadouri, Dao 2025)."),
    OVL_FIELD_MORE(ovl_model, latent, "latent", OVL_F_MAP, 0, "Multi-head latent attention.",
                   .table = &ovl_latent_table),
    OVL_FIELD_SET(ovl_model, moe, moe.given, "moe", OVL_F_MAP, 0,
                  "A mixture of experts in place of the MLP.", .table = &ovl_moe_table),
    OVL_FIELD_MORE(ovl_model, block, "block", OVL_F_MAP, 0,
                   "Measured durations of a block, instead of the roofline.",
                   .table = &ovl_block_table),
};

const ovl_table ovl_model_table = {
    .title = "workload.model",
    .intro =
        "A transformer by its shape, as layers `embedding`, `block[0]`, `block[1]`, ... and "
        "`head`. FLOPs, parameters and activations follow from published formulas "
        "(models/block.h); a kernel takes the longer of its FLOPs by the peak of the GPU times an "
        "efficiency and its bytes by HBM. Sizes are those of the whole model; axes of the mesh "
        "split them. `ovl check` shows what was derived.\n\n"
        "    mesh: {axes: {tp: 8, pp: 16, dp: 128}}\n"
        "    workload:\n"
        "      model: {layers: 126, hidden: 16384, ffn_hidden: 53248, heads: 128, kv_heads: 8, "
        "sequence: 8192, vocabulary: 128256}",
    .fields = model_fields,
    .n_fields = OVL_COUNT(model_fields),
    .size = sizeof(ovl_model),
    .mark = offsetof(ovl_model, mark),
    .defaults = model_defaults,
    .check = check_model,
};
