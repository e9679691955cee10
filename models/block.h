/*
 * block.h - the layers of a transformer given by its shape: FLOPs, bytes, and what they
 * communicate.
 *
 * Of one microbatch of b sequences of s tokens; h hidden, a heads of d, g key-value heads, f the
 * hidden size of the MLP, V the vocabulary; t ranks of tensor, c of context parallelism; T = b s /
 * c tokens, e bytes an element. Every rank has a/t heads, max(1, g/t) key-value heads, f/t of the
 * MLP. u is t with sequence parallelism, else 1.
 *
 * FLOPs of a forward (Narayanan et al., SC 2021, appendix: a matrix product of m x k by k x n has
 * 2 m k n; a backward twice those of the forward):
 *
 *     qkv        2 T h (a + 2 g) d        attention  4 T s a d, half of it if causal
 *     proj       2 T a d h                mlp        2 T h f for each matrix: 2, or 3 if gated
 *     head       2 T h V
 *
 * With f = 4 h and g = a a layer has 24 b s h^2 + 4 b s^2 h. FlashAttention's backward computes the
 * scores again: 2.5 times the forward (Dao et al., NeurIPS 2022).
 *
 * Activations kept for the backward, of one layer (Korthikanti et al., MLSys 2023, section 4):
 *
 *     inputs of qkv and mlp, of two norms    4 e T h / u
 *     q, k, v, and the input of proj         e T (2 a + 2 g) d / t
 *     scores, unless flash                   e T s a / t; with dropout (2 e + 1) T s a / t
 *     inputs of the MLP's function and of its last product    2 e T f / t; gated 3 e T f / t
 *     masks of two dropouts                  2 T h / u
 *
 * which for e = 2, f = 4 h, g = a and dropout is s b h (34 + 5 a s / h) on one rank and
 * s b h (10 + 24 / t + 5 a s / (h t)) on t without sequence parallelism. Selective recomputation
 * does not keep the scores, full recomputation only the input of the layer, e T h / u.
 *
 * With experts (E of f_e columns, of which a token sees k and S shared ones; P ranks) a block has a
 * router, 2 T h E, and for each matrix of an expert 2 T h f_e (k + S) in place of the MLP; a rank
 * keeps E/P experts. Dispatch and combine give k copies of T tokens of h to the P ranks. Beside
 * tensor parallelism each rank routes its T/t tokens. Experts are cut over it, too (what is
 * dispatched is gathered over t, and what comes out reduced), or, where the axis of tensor
 * parallelism is one of those that experts are spread over, each is whole on its rank.
 * Activations: those of the rows a rank gets, k T in the mean, as they came and inside the experts.
 * By way of latent matrices (query q, keys and values c, positions r) queries, keys and values have
 * h (q + c + r) + q a (d + r) + 2 c a d weights, q + c of two inner norms (DeepSeek-V2, 2405.04434,
 * section 2.1 and appendix), and scores d + r columns. Inputs and outputs of these norms and the
 * keys' positions are kept: e T (2 q + 2 c + r).
 *
 * Example: h = 8, a = 2, d = 4, f = 32, s = 4, b = 1, one rank, not causal: 24 * 4 * 64 + 4 * 16 *
 * 8 = 6656 FLOPs in a forward.
 */
#ifndef OVL_MODELS_BLOCK_H
#define OVL_MODELS_BLOCK_H

#include "models/moe_load.h"

/* What a rank has of a block. */
typedef struct ovl_block_shape {
    const ovl_model *model;
    uint64_t tp, cp;            /* ranks; 1 without the axis */
    uint64_t tokens;            /* T */
    uint64_t q, kv, ffn, vocab; /* columns of a rank: a d / t, max(1, g / t) d, f / t, V / t */
    uint64_t element;           /* e */
    uint64_t split;             /* u */
    ovl_dtype dtype;            /* of parameters and activations ... */
    ovl_dtype matmul_dtype;     /* ... that matrix products compute in */
    uint64_t kv_copies;         /* ranks of tensor parallelism that have one KV head in common */
    uint64_t qkv;               /* weights that queries, keys and values are made by */
    uint64_t rope;              /* columns of queries of a rank besides q */
    uint64_t normed;            /* columns of inner norms: q + c of latent matrices */
    /* Of a mixture of experts: */
    uint64_t ep, across; /* ranks of the two axes */
    uint64_t experts;    /* of a rank, those tokens are routed to */
    uint64_t etp;        /* ranks of tensor parallelism that an expert is cut over: t, or 1 */
    uint64_t expert_ffn, shared_ffn; /* columns of a rank: f_e / etp, S f_e / t */
    uint64_t rows;                   /* that the experts of a rank of mean load get */
    bool routed;                     /* these blocks have them */
    ovl_moe_load load;
} ovl_block_shape;

/* The shape on one rank; false and errors if the model does not divide. */
bool ovl_block_shape_of(const ovl_scenario *scenario, ovl_block_shape *shape, ovl_errs *errs);

/* The group of the ranks that have a KV head in common, runs of t/K of tensor parallelism; in
 * `arena`. */
const char *ovl_block_kv_group(const ovl_block_shape *shape, ovl_arena *arena);

/* The same shape for blocks with experts, or with the plain MLP. */
ovl_block_shape ovl_block_with_experts(const ovl_block_shape *shape, bool routed);

/* Parameters of a rank: of a block, those of its experts among them, of the embedding, of the head.
 */
uint64_t ovl_block_params(const ovl_block_shape *shape);
uint64_t ovl_block_expert_params(const ovl_block_shape *shape);
uint64_t ovl_embedding_params(const ovl_block_shape *shape);
uint64_t ovl_head_params(const ovl_block_shape *shape);

/* Bytes of activations of a block: all but the scores of the attention, on a rank whose experts get
 * `load` of the mean rows; the scores; its input. */
uint64_t ovl_block_activations(const ovl_block_shape *shape, double load);
uint64_t ovl_block_scores(const ovl_block_shape *shape);
uint64_t ovl_block_input(const ovl_block_shape *shape);

/* Bytes of activations of the head: its norm, its input and the logits in 32 bits. */
uint64_t ovl_head_activations(const ovl_block_shape *shape);

/* FLOPs that the model needs for one microbatch on one rank, forward and backward, without those of
 * recomputation: what model FLOP/s utilisation counts. */
double ovl_model_flops(const ovl_block_shape *shape);

/* Of these, those of the attention: as many times more as a sequence is longer. */
double ovl_model_attention(const ovl_block_shape *shape);

/* What the three kinds of layers are made of; all in `arena`. */
const ovl_inner *ovl_block_inner(const ovl_block_shape *shape, ovl_arena *arena);
const ovl_inner *ovl_embedding_inner(const ovl_block_shape *shape, ovl_arena *arena);
const ovl_inner *ovl_head_inner(const ovl_block_shape *shape, ovl_arena *arena);

/* Makes the layers of workload.model: embedding, block x layers, head. After the mesh is known. */
void ovl_model_layers(ovl_scenario *scenario, ovl_arena *arena, ovl_errs *errs);

/* What was derived, for reports, and what is left out of the blocks; nothing without a model. After
 * the plan. */
void ovl_model_facts(ovl_lowering *l, ovl_lowered *lowered);

#endif
