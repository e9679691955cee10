/*
 * block_build.h - what the files that make the lists of a block share: a list that grows in host
 * program order, and matrix products.
 *
 * Example: a product of 4 x 8 by 8 x 24 has 2 * 4 * 192 FLOPs and moves e (32 + 192 + 96) bytes.
 */
#ifndef OVL_MODELS_BLOCK_BUILD_H
#define OVL_MODELS_BLOCK_BUILD_H

#include "models/block.h"

typedef struct ovl_block_building {
    const ovl_block_shape *s;
    ovl_arena *arena;
    OVL_VEC(ovl_inner_op) ops;
} ovl_block_building;

/* A product of m x k by k x n in a forward, or its two in a backward. */
typedef struct ovl_product {
    const char *name;
    uint64_t m, k, n;
    uint64_t weights; /* of several matrices one behind the other, or of several experts; 0: k n */
    bool routed;      /* each row meets k n of the weights, those of its expert */
} ovl_product;

/* `flops` and `weight`: how many times that of the forward, of the part others wait for and of the
 * gradients of weights. */
ovl_inner_op ovl_block_product(const ovl_block_building *b, const ovl_product *p, double flops,
                               double weight);

/* Appends an operation; gives its place. */
int16_t ovl_block_add(ovl_block_building *b, ovl_inner_op op);

/* A collective of tensor parallelism over so many bytes. */
int16_t ovl_block_tensor(ovl_block_building *b, const char *name, ovl_coll coll, uint64_t bytes,
                         ovl_dtype dtype, int16_t need);

/* With sequence parallelism: a kernel whose input is gathered first, one whose output is reduced
 * behind it, and the two products of a backward of the first; each gives what it ends with. */
int16_t ovl_block_gather_into(ovl_block_building *b, const char *name, const ovl_inner_op *kernel,
                              int16_t need);
int16_t ovl_block_reduce_out_of(ovl_block_building *b, const char *name, const ovl_inner_op *kernel,
                                int16_t need);
int16_t ovl_block_input_gradient(ovl_block_building *b, const char *what, const ovl_product *p,
                                 int16_t need);

/* Router, dispatch, experts and combine, forward and backward; give what makes the output. */
int16_t ovl_moe_forward(ovl_block_building *b, int16_t need);
int16_t ovl_moe_backward(ovl_block_building *b, int16_t need);

/* FLOPs of a forward of a block beyond its attention, of mean load. */
double ovl_moe_flops(const ovl_block_shape *s);

#endif
