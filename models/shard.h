/*
 * shard.h - what strategies that shard parameters over a group of ranks have in common.
 *
 *     plan_fsdp.c         who shards with whom, which layers form a parameter group, its sizes
 *     plan_fsdp2*.c       PyTorch's fully_shard
 *
 * A *parameter group* is gathered, used and reduced as a whole: one layer, or the layers whose
 * parameters the root module holds. Each tensor of it is padded to a multiple of the ranks along
 * its first dimension; the padding of a dimension is not known here, so elements are padded.
 *
 * Example: 10 elements of bf16 over 4 ranks, reduced in f32: a shard has 3 elements, the gather's
 * output 12 (24 bytes), the parameters and gradients 10 (20 bytes), the reduce-scatter's input 12
 * (48 bytes) and its output 3 (12 bytes).
 */
#ifndef OVL_MODELS_SHARD_H
#define OVL_MODELS_SHARD_H

#include "models/step.h"

typedef struct ovl_param_group {
    const char *name;
    ovl_mark mark;
    uint64_t elements, shard; /* whole; of one rank, padding included */
    ovl_dtype dtype;          /* of shards, sharded gradients */
    ovl_dtype param_dtype, grad_dtype, reduce_dtype;
    bool keep; /* stays gathered after the forward */
    bool skip; /* its backward needs no parameters */
} ovl_param_group;

typedef struct ovl_fsdp_plan {
    ovl_lowering *l;
    const ovl_fsdp *fsdp;
    ovl_step step;
    const ovl_group *shard, *reduce, *replica, *near; /* replica, near: or NULL */
    uint32_t n, replicas, near_n;
    ovl_param_group *groups; /* in order of the forward, the root's (if any) last */
    uint32_t n_groups;
    uint32_t root;                                                 /* or OVL_NONE */
    uint32_t *group_of;                                            /* [n_units] or OVL_NONE */
    const ovl_spread *shard_spread, *replica_spread, *near_spread; /* of the code being written */
    void *code; /* the strategy's, of the code being written */
} ovl_fsdp_plan;

/* Bytes of whole parameters, a gather's output, a shard, in a type. */
uint64_t ovl_fsdp_whole(const ovl_param_group *g, ovl_dtype dtype);
uint64_t ovl_fsdp_padded(const ovl_fsdp_plan *p, const ovl_param_group *g, ovl_dtype dtype);
uint64_t ovl_fsdp_shard(const ovl_param_group *g, ovl_dtype dtype);

/* The cost of a collective of the plan's groups. */
ovl_plan_cost ovl_fsdp_cost(ovl_fsdp_plan *p, const ovl_param_group *g, ovl_coll op,
                            const ovl_group *group, uint32_t n, const ovl_spread *spread,
                            uint64_t bytes);

/* The strategies. */
extern const ovl_strategy ovl_fsdp2_strategy;

#endif
