/*
 * plan_ddp_emit.h - the code of a data-parallel step while it is written.
 *
 *     plan_ddp_emit.c   names, plain operations, buffers, and the order of the whole
 *     plan_ddp_pass.c   forward and backward of a microbatch, reductions on the way
 *     plan_ddp_end.c    what follows the backward: copies back, the optimizer, gathers
 *
 * Operations are added in host program order. `last` is the last one on the compute stream: a
 * reduction waits for it, as PyTorch's communication stream waits for all that the compute stream
 * was given when a bucket is launched.
 */
#ifndef OVL_MODELS_PLAN_DDP_EMIT_H
#define OVL_MODELS_PLAN_DDP_EMIT_H

#include "models/plan_ddp.h"

/* Buffers are aligned with tensors, units and buckets. */
typedef struct ovl_ddp_code {
    ovl_ddp_plan *p;
    ovl_lowering *l;
    ovl_builder *b;
    ovl_id code;
    const ovl_spread *spread[2]; /* of its reductions: dense gradients, those of experts */
    uint16_t compute, comm, slot[2];
    ovl_time launch;
    ovl_id *parameter,
        *gradient;              /* [n_tensors] buffers; gradient: the bucket's where not separate */
    ovl_id *gradient_name;      /* [n_tensors] names */
    ovl_id *bucket;             /* [n_buckets] buffers */
    ovl_id states;              /* buffer, OVL_NONE without states */
    ovl_id *activation;         /* [n_units] buffers of the microbatch */
    ovl_plan_cost *bucket_cost; /* [n_buckets] */
    ovl_coll coll;
    bool average;              /* the reduction divides, not the copy-in */
    double scale[2];           /* applied to each gradient where it is produced */
    double pack_scale[2];      /* ... where it is copied into its bucket */
    uint32_t step, microbatch; /* now */
    bool reduces;              /* now */
    uint32_t *pending;         /* [n_buckets] gradients not yet ready */
    uint32_t next[2];          /* PyTorch: the next bucket that may be launched */
    uint32_t *reduction;       /* [n_buckets] the collective of this microbatch */
    ovl_inner_place inner;     /* the kernels of units, and what they communicate */
    uint32_t last;             /* the last operation on the compute stream, or OVL_NONE */
    bool gathers;              /* the optimizer is distributed: parameters are gathered */
    uint32_t waited;           /* the bucket whose gather was waited for last, or OVL_NONE */
    bool *asked;               /* [n_buckets] its gather was issued in this step */
    uint32_t *gathered;  /* [n_buckets] the all-gather that is still to be waited for, or OVL_NONE
                          */
    uint32_t n_gathered; /* of those */
} ovl_ddp_code;

/* "backward block[3]", or "backward block[3] mb 1" where there are several microbatches. */
ovl_id ovl_ddp_name_in(ovl_ddp_code *e, const char *what, const char *of, bool several);

/* Which ranks have parts of their own of the gradient of a tensor (ovl_effect.apart). */
uint16_t ovl_ddp_apart(ovl_ddp_code *e, uint32_t tensor);

/* Elements that a rank updates. */
uint64_t ovl_ddp_updates(const ovl_ddp_plan *p);

/* "3" */
const char *ovl_ddp_number(ovl_ddp_code *e, uint32_t k);

/* An operation on the compute stream, to be completed and added by the caller. */
ovl_op ovl_ddp_operation(const ovl_ddp_code *e, ovl_op_kind kind, ovl_id name, ovl_plan_cost cost,
                         ovl_mark mark);

/* The same added at once; gives its local index. */
uint32_t ovl_ddp_compute(ovl_ddp_code *e, ovl_op_kind kind, ovl_id name, ovl_plan_cost cost,
                         ovl_mark mark);

/* Accesses of the operation last added. */
void ovl_ddp_reads(ovl_ddp_code *e, ovl_id buffer);
void ovl_ddp_writes(ovl_ddp_code *e, ovl_id buffer);

/* The cost of a kernel of fixed length that only moves bytes (reads and writes each once). */
ovl_plan_cost ovl_ddp_mover(ovl_ddp_code *e, const char *name, ovl_mark mark, ovl_time length,
                            uint64_t bytes);

/* A buffer allocated here in host order. */
ovl_id ovl_ddp_buffer(ovl_ddp_code *e, const char *name, uint64_t bytes, ovl_category category,
                      ovl_dtype dtype, bool held, ovl_mark mark);

/* Whether more than one microbatch reduces, so that buckets need numbers of microbatches. */
bool ovl_ddp_reduces_often(const ovl_ddp_code *e);

/* The cost of a collective over the bytes of a bucket. */
ovl_plan_cost ovl_ddp_comm_cost(ovl_ddp_code *e, uint32_t k, ovl_coll coll);

/* The kernels of one unit in this microbatch. */
void ovl_ddp_forward(ovl_ddp_code *e, uint32_t u);
void ovl_ddp_backward(ovl_ddp_code *e, uint32_t u);

/* The reduction of a bucket, behind everything on the compute stream so far. */
void ovl_ddp_launch(ovl_ddp_code *e, uint32_t k);

/* The end of a backward that reduced; the optimizer; the all-gathers of a distributed one. */
void ovl_ddp_end_backward(ovl_ddp_code *e);
void ovl_ddp_optimizer(ovl_ddp_code *e);
bool ovl_ddp_gathers(ovl_ddp_code *e);
void ovl_ddp_gather(ovl_ddp_code *e);

/* Gathers in the forward: issues those of the unit's parameters, and the next bucket's. */
void ovl_ddp_gather_for(ovl_ddp_code *e, const ovl_unit *unit);

/* The operation last added waits for the gathers of the parameters that its unit reads. */
void ovl_ddp_wait_for_gathers(ovl_ddp_code *e, const ovl_unit *unit);

/* Another step follows. */
void ovl_ddp_zero(ovl_ddp_code *e);

#endif
