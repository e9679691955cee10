/*
 * plan_ddp.h - what the parts of the data-parallel plan share.
 *
 *     plan_ddp.c          the steps in order, and the limits
 *     plan_ddp_layers.c   tensors, kernels and order of readiness, from `layers` or `gradients`
 *     plan_ddp_buckets.c  which tensors share a bucket
 *     plan_ddp_emit.c     buffers and operations, with plan_ddp_pass.c and plan_ddp_end.c
 *
 * A *tensor* is a parameter and its gradient; tensors are numbered in registration order. A *unit*
 * is what one forward and one backward kernel belong to: a layer, or, when gradients are given with
 * ready times, the piece of the backward between two of them. Units are in forward order; a
 * backward pass runs them from the last to the first.
 *
 * Example, last_bucket: tensors late, a, g5, ..., g1 (registered in reverse); units end-most first:
 * "late" (202 to 209 ms), "g5+a", "g4", ..., "g1" (0 to 194 ms); ready = g1, ..., g5, a, late.
 */
#ifndef OVL_MODELS_PLAN_DDP_H
#define OVL_MODELS_PLAN_DDP_H

#include "models/bucket.h"
#include "models/inner.h"

typedef struct ovl_unit {
    const char *name;
    ovl_mark mark;
    const ovl_inner *inner; /* what it is made of; NULL: its two kernels */
    bool recompute;         /* then `again` bytes are there while it computes */
    ovl_sizes again;
    ovl_plan_cost forward, backward;      /* id OVL_NONE: it has no such kernel */
    uint32_t first_ready, n_ready;        /* into ready: what its backward makes ready */
    ovl_time forward_host, backward_host; /* the host's own time in a pass */
    ovl_sizes activation;                 /* bytes from its forward to its backward */
} ovl_unit;

/* Tensors that a name stands for: itself, or those of a layer. */
typedef struct ovl_named {
    uint32_t first, count; /* tensors */
} ovl_named;

/* Ranks that reduce together. */
typedef struct ovl_ddp_ranks {
    const ovl_group *group; /* NULL: there are no such gradients */
    uint32_t n;
} ovl_ddp_ranks;

typedef struct ovl_ddp_plan {
    ovl_lowering *l;
    const ovl_ddp *ddp;
    const ovl_workload *workload;
    ovl_arena scratch;             /* until the plan is done */
    ovl_ddp_ranks ranks[2];        /* who reduces dense gradients together, and those of experts */
    const ovl_group *expert_parts; /* ranks whose experts differ; NULL: none */
    uint32_t microbatches, steps;
    /* Tensors, in registration order. */
    ovl_tensor *tensors;
    uint32_t n_tensors;
    ovl_time *copy_in; /* [n_tensors] length of its copy-in kernel, 0: none */
    uint32_t *ready;   /* [n_tensors] in order of readiness */
    ovl_unit *units;
    uint32_t n_units;
    ovl_names names; /* of tensors and layers, aligned with `named` */
    OVL_VEC(ovl_named) named;
    /* Buckets. */
    ovl_buckets buckets;
    const ovl_mark *bucket_marks; /* [buckets.count] */
    uint32_t *bucket_of;          /* [n_tensors] */
    bool megatron;
    bool separate; /* gradients have buffers of their own beside the buckets */
    bool copies;   /* gradients are copied into buckets by kernels where that takes time */
} ovl_ddp_plan;

/* Fills tensors, copy_in, ready, units, names. Mistakes are added to l->errs. */
void ovl_ddp_layers(ovl_ddp_plan *p);
void ovl_ddp_gradients(ovl_ddp_plan *p);

/* Makes `text` stand for `count` tensors from `first` on; false if it already stands for others. */
bool ovl_ddp_name(ovl_ddp_plan *p, const char *text, uint32_t first, uint32_t count);

/* How long copying the gradient takes: what the user gave, or bytes by copy_in_rate. */
ovl_time ovl_ddp_copy_time(const ovl_ddp_plan *p, uint64_t bytes, ovl_time given);

/* Fills buckets, bucket_marks and bucket_of, and the lines that `check` prints. */
void ovl_ddp_buckets(ovl_ddp_plan *p);

/* Writes the code, one for each way in which those who reduce together lie on nodes, and gives it
 * to the ranks. */
void ovl_ddp_emit(ovl_ddp_plan *p);

#endif
