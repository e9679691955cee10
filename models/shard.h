/*
 * shard.h - what strategies that shard parameters over a group of ranks have in common.
 *
 *     shard.c             what every group of parameters costs and holds
 *     shard_plan.c        who shards with whom, which layers form a parameter group
 *     plan_fsdp2*.c       PyTorch's fully_shard
 *     plan_fsdp1.c        PyTorch's FullyShardedDataParallel
 *     plan_zero*.c        DeepSpeed's ZeRO
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
    bool keep;            /* stays gathered after the forward */
    bool skip;            /* its backward needs no parameters */
    bool experts;         /* those of a layer: sharded over the ranks that have the same */
    uint32_t module;      /* number of its layer, experts being part of one; for prefetches */
    uint32_t first, last; /* its first and last unit; all but the root have one */
} ovl_param_group;

/* Who shards with whom. */
typedef struct ovl_shard_ranks {
    const ovl_group *shard, *reduce, *replica, *near; /* replica, near: or NULL */
    uint32_t n, replicas, near_n;
    const ovl_spread *shard_spread, *replica_spread, *near_spread; /* of the code being written */
} ovl_shard_ranks;

/* Their slots in a code. */
typedef struct ovl_shard_slots {
    uint16_t shard, reduce, replica, near;
} ovl_shard_slots;

typedef struct ovl_fsdp_plan {
    ovl_lowering *l;
    const ovl_fsdp *fsdp;
    ovl_step step;
    ovl_shard_ranks ranks[2]; /* of dense parameters, of experts */
    ovl_param_group *groups;  /* in order of the forward, the root's (if any) last */
    uint32_t n_groups;
    uint32_t root;       /* or OVL_NONE */
    uint32_t *group_of;  /* [n_units] or OVL_NONE */
    void *code;          /* the strategy's, of the code being written */
    const void *options; /* the strategy's, beside `fsdp` */
} ovl_fsdp_plan;

/* Who shards a group of parameters, and whether any of them are experts. */
const ovl_shard_ranks *ovl_shard_ranks_of(const ovl_fsdp_plan *p, const ovl_param_group *g);
bool ovl_shard_has_experts(const ovl_fsdp_plan *p);

/* The groups of the next layers in the order of a pass, those of experts with their layer: what is
 * prefetched. Never the root's, which is gathered before everything. From a group of experts there
 * are none: their layer asks for all. */
typedef struct ovl_shard_walk {
    const ovl_fsdp_plan *p;
    int64_t at, left; /* the group looked at last; layers that may still come */
    uint32_t module;
    bool backward;
} ovl_shard_walk;

ovl_shard_walk ovl_shard_walk_from(const ovl_fsdp_plan *p, const ovl_param_group *g, int64_t layers,
                                   bool backward);

/* The next group, or OVL_NONE. */
uint32_t ovl_shard_walk_on(ovl_shard_walk *walk);

/* Elements that a rank updates. */
uint64_t ovl_shard_updates(const ovl_fsdp_plan *p);

/* The slots of dense parameters and of experts, made where there are such groups. */
void ovl_shard_slots_of(ovl_fsdp_plan *p, ovl_shard_slots slots[2]);

/* Bytes of whole parameters, a gather's output, a shard, in a type. */
uint64_t ovl_fsdp_whole(const ovl_param_group *g, ovl_dtype dtype);
uint64_t ovl_fsdp_padded(const ovl_fsdp_plan *p, const ovl_param_group *g, ovl_dtype dtype);
uint64_t ovl_fsdp_shard(const ovl_param_group *g, ovl_dtype dtype);

/* Isolated costs of the collectives of a group; all_reduce and near only where there are such. */
typedef struct ovl_shard_cost {
    ovl_plan_cost gather, near, scatter, all_reduce;
} ovl_shard_cost;

/* Costs of group i of the plan for the code being written. `before` are those of group i - 1, or
 * NULL: groups alike share them, and what is remarkable about a cost is told once. */
ovl_shard_cost ovl_shard_costs(ovl_fsdp_plan *p, uint32_t i, const ovl_shard_cost *before);

/* The cost of a collective over the ranks that shard, of so many bytes. */
ovl_plan_cost ovl_shard_cost_of(ovl_fsdp_plan *p, const ovl_param_group *g, ovl_coll op,
                                uint64_t bytes);

/* The reduction of a group, without its accesses: a reduce-scatter of its gradients over the ranks
 * that shard, or an all-reduce of what came out of one over the replicas. */
ovl_op ovl_shard_reduction(ovl_fsdp_plan *p, const ovl_shard_slots *slots, const ovl_param_group *g,
                           const ovl_shard_cost *cost, ovl_coll coll, uint16_t stream);

/* Buffers that live through the whole training: shards of parameters and gradients, and optimizer
 * states (OVL_NONE without any). */
typedef struct ovl_shard_held {
    ovl_id shard, grad, states;
} ovl_shard_held;

ovl_shard_held ovl_shard_hold(ovl_fsdp_plan *p, const ovl_param_group *g);

/* The buffer of optimizer states that are given as bytes of a rank, or OVL_NONE. */
ovl_id ovl_shard_hold_states(ovl_fsdp_plan *p);

/* The optimizer just added updates the shards of a group from sharded gradients. */
void ovl_shard_update(ovl_fsdp_plan *p, const ovl_shard_held *held);

/* The strategies. */
extern const ovl_strategy ovl_fsdp2_strategy, ovl_fsdp1_strategy;
extern const ovl_strategy ovl_zero_strategy, ovl_zero3_strategy;

/* The same in parts, for who arranges the passes of a step (a pipeline). Finds who shards with
 * whom, once for all plans of a scenario; false and errors. */
bool ovl_shard_find(ovl_fsdp_plan *p, ovl_lowering *l, const ovl_fsdp *fsdp);

/* Forms the parameter groups of the step's units; mistakes are added to l->errs. */
void ovl_shard_groups(ovl_fsdp_plan *p);

/* The code written next is that of this rank; whether two ranks may share one. */
void ovl_shard_at(ovl_fsdp_plan *p, uint32_t rank);
bool ovl_shard_alike(ovl_fsdp_plan *p, uint32_t a, uint32_t b);

/* What overlap.fsdp would say of ZeRO: one group that shards, everything in the layers' type. */
ovl_fsdp ovl_zero_as_fsdp(const ovl_zero *zero);

/* A step of workload.layers with a strategy that shards as `fsdp` says. */
void ovl_shard_plan(ovl_lowering *l, const ovl_fsdp *fsdp, const ovl_strategy *strategy,
                    const void *options);

#endif
