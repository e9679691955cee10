/*
 * block_memory.h - kernels of a block that compute next to nothing: they take the bytes they read
 * and write by what they reach of the HBM's bandwidth (`memory_efficiency`).
 *
 * Each operation is a kernel that reads its inputs and writes its output once; a sum and the norm
 * behind it are one. X = e T h / u bytes, c bytes an element of matrix products (c < e: what goes
 * into one is written in that type besides; its gradient in two layouts, and its input again).
 *
 *     forward                                    backward
 *     norm            2 X                        norm and sum of gradients    6 X
 *     rotary          2 e T (turned columns)     the same
 *     sum and norm    5 X                        norm and sum of gradients    6 X
 *     activation      3 e T f / t  (plain: 2)    5 e T f / t  (plain: 3)
 *     sum             3 X                        (gradients pass)
 *     loss            (e + 4) T V / t            (4 + e) T V / t
 *
 * Experts: rows R = T k of a rank of mean load, d bytes an element of what is dispatched. Tokens
 * are put in order before one hop, and rows by expert behind it (d), and back before the combine
 * (e).
 *
 *     permute  (1 + k) d T h / u    sort  2 d R h    unsort  2 e R h    activation  3 e R f
 *     route    8 T E / u            sum   (k + 2 + shared) X, of what came back, the residual and
 *                                         what is written; with two hops their copies for k
 *
 * Example: T = 4096, h = 4096 in bf16: X = 33.6 MB, a norm 67.1 MB: 31 us at 65 % of 3.35 TB/s.
 */
#ifndef OVL_MODELS_BLOCK_MEMORY_H
#define OVL_MODELS_BLOCK_MEMORY_H

#include "models/block_build.h"

/* Bytes of X, and of T columns in the type of activations. */
uint64_t ovl_memory_hidden(const ovl_block_shape *s);
uint64_t ovl_memory_columns(const ovl_block_shape *s, uint64_t columns);

/* Bytes that casts of m x k add: what a product reads, forward; its gradient of m x n and its
 * input, backward. 0 if products compute in the type of activations. */
uint64_t ovl_memory_cast(const ovl_block_shape *s, uint64_t m, uint64_t k);
uint64_t ovl_memory_cast_back(const ovl_block_shape *s, uint64_t m, uint64_t n, uint64_t k);

/* Appends a kernel that moves so many bytes, behind two others or one (OVL_INNER_NOTHING); gives
 * its place. */
int16_t ovl_memory_add(ovl_block_building *b, const char *name, uint64_t bytes, int16_t need,
                       int16_t other);

/* Those of attention and of a dense MLP, by the names above. */
int16_t ovl_memory_norm(ovl_block_building *b, int16_t need);
int16_t ovl_memory_rotary(ovl_block_building *b, bool backward, int16_t need);
int16_t ovl_memory_sum_norm(ovl_block_building *b, int16_t need);
int16_t ovl_memory_norm_back(ovl_block_building *b, const char *name, int16_t need, int16_t other);
uint64_t ovl_memory_activation(const ovl_block_shape *s, uint64_t rows, uint64_t columns,
                               bool backward);

/* What recomputing the norms saves: outputs of norms, and what latent attention widens. */
uint64_t ovl_memory_norm_outputs(const ovl_block_shape *s);

#endif
