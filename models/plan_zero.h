/*
 * plan_zero.h - DeepSpeed's ZeRO: the code of a step while it is written.
 *
 *     plan_zero.c         stages 1 and 2: whole parameters, sharded optimizer (and gradients)
 *     plan_zero_stage3.c  stage 3: sharded parameters, gathered by a recorded trace
 *     plan_zero_reduce.c  gradients: buckets of a number of elements, on a stream of their own
 *
 * From deepspeed/runtime/zero: config.py, stage_1_and_2.py, stage3.py,
 * partitioned_param_coordinator.py. Sizes are in elements. Per rank, with P parameters in 2 bytes,
 * optimizer states of K bytes a parameter, N ranks, between steps and without buckets:
 *
 *     stage 1   2P + 2P + K P/N      stage 2   2P + 2P/N + K P/N      stage 3   2P/N + 2P/N + K P/N
 */
#ifndef OVL_MODELS_PLAN_ZERO_H
#define OVL_MODELS_PLAN_ZERO_H

#include "models/shard.h"

typedef struct ovl_zero_group {
    const ovl_param_group *g;
    ovl_id shard, states; /* what the rank updates, held */
    ovl_id grad;          /* held: whole (stage 1) or sharded */
    ovl_id whole;         /* gathered, or held (stages 1 and 2) */
    ovl_id gradient;      /* as the backward writes it */
    uint32_t op;          /* its gather, OVL_NONE: none under way or done */
    uint32_t needed;      /* stage 3: the last place in the trace that counts on what is gathered */
    bool again;           /* stage 3: gathered for its backward */
    bool has_gradient;    /* stage 1: of an earlier microbatch */
    bool has_sum;
} ovl_zero_group;

/* Gradients that are reduced together. */
typedef struct ovl_zero_bucket {
    ovl_id buffer;            /* that they are copied into; OVL_NONE: there are none */
    OVL_VEC(uint32_t) groups; /* in it, in order */
    uint64_t elements;
} ovl_zero_bucket;

typedef struct ovl_zero_code {
    ovl_fsdp_plan *p;
    const ovl_zero *zero;
    ovl_step *s;
    ovl_zero_group *groups;
    uint16_t gather_stream, reduce_stream;
    ovl_shard_slots slots[2]; /* of dense parameters, of experts */
    ovl_id states;            /* of all groups, where they are given so */
    ovl_zero_bucket bucket[2];
    uint32_t n_buckets; /* reduced so far in this microbatch */
    uint32_t reduced;   /* the last operation of the reduce stream, or OVL_NONE */
    uint32_t gate;      /* what gathers wait for since the step began */
    /* Stage 3: the trace is the groups in order of use, forward then backward. */
    uint32_t place;  /* next use */
    uint32_t queued; /* next entry of the trace to be looked at for prefetch */
    uint64_t live;   /* elements gathered */
    uint32_t waited; /* the last gather that the host waited for, or OVL_NONE */
    void *more;      /* stage 3: its own */
} ovl_zero_code;

ovl_zero_code *ovl_zero_state(ovl_step *s);
ovl_zero_group *ovl_zero_group_of(const ovl_zero_code *e, uint32_t u);

/* Streams, slots, the bucket and what is held; `whole` parameters or shards. */
void ovl_zero_open(ovl_step *s);

/* The gradient a backward writes: allocated before, produced by the kernel just added. */
void ovl_zero_allocate_gradient(ovl_zero_code *e, ovl_zero_group *g);
void ovl_zero_produce(ovl_zero_code *e, ovl_zero_group *g, uint32_t u);

/* The gradients of a group go into its bucket, which is reduced first if they do not fit: dense
 * ones into one, those of experts into another. Flushing reduces what is in both. */
void ovl_zero_add_to_bucket(ovl_zero_code *e, ovl_zero_group *g);
void ovl_zero_flush(ovl_zero_code *e);

/* Compute waits for what was reduced. */
void ovl_zero_wait(ovl_zero_code *e);

/* The last backward is over: what is left in the bucket is reduced, and waited for. */
void ovl_zero_end_backward(ovl_step *s, const ovl_pass *pass);

/* The optimizer just added updates shards and needs complete gradients. */
void ovl_zero_update(ovl_zero_code *e);

#endif
