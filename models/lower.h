/*
 * lower.h - from a scenario to a program: the one door through which every plan goes.
 *
 * lower.c makes the ranks, ports, resources, groups and interference pairs; a plan (plan_ops.c,
 * plan_ddp.c) writes the codes. Plans never include one another and see only `ovl_lowering`.
 */
#ifndef OVL_MODELS_LOWER_H
#define OVL_MODELS_LOWER_H

#include "models/cost.h"
#include "sim/measured.h"
#include "sim/result.h"

/* A bucket, as `ovl check` prints it. */
typedef struct ovl_bucket_line {
    const char *name;
    uint64_t bytes;
    const char *dtype;
    const char **members;
    uint32_t n_members;
} ovl_bucket_line;

/* What NCCL's model chose for a collective of some size, as `ovl check` prints it. */
#define OVL_NCCL_LINES 200 /* kept at most */

typedef struct ovl_nccl_line {
    const char *group;
    ovl_coll op;
    uint64_t bytes;
    uint32_t members, nodes;
    ovl_comm_time time;
} ovl_nccl_line;

/* What was derived of a layer of workload.model, for one microbatch on one rank, as `ovl check`
 * prints it. Bytes on the wire are payloads of collectives, nccl-tests convention. */
typedef struct ovl_model_line {
    const char *name;
    int64_t repeat;
    uint64_t params; /* elements */
    double forward_flops, backward_flops, again_flops;
    ovl_time forward, backward, again;
    uint64_t kept, activations;      /* bytes from forward to backward; while it computes: on the
                                        rank that has most */
    uint64_t least_kept;             /* ... on that which has least */
    uint64_t tp_bytes, cp_bytes;     /* in forward, recomputation and backward */
    uint64_t ep_bytes, across_bytes; /* likewise, of dispatch and combine */
} ovl_model_line;

#define OVL_MODEL_LINES 8

#define OVL_HOP_LINES 200 /* kept at most */

/* Hops of a pipeline that cost the same, as `ovl check` prints them: the first of them. */
typedef struct ovl_hop_line {
    uint32_t stage;    /* from it to the next */
    uint32_t from, to; /* ranks */
    bool several_nodes;
    uint64_t bytes;
    ovl_time latency, transfer;
    uint32_t count; /* in all pipelines; gradients come back over as many */
} ovl_hop_line;

typedef struct ovl_lowered {
    ovl_program program;
    const char *const *not_modelled; /* sentences for the report */
    uint32_t n_not_modelled;
    const ovl_bucket_line *buckets;
    uint32_t n_buckets;
    const ovl_nccl_line *nccl; /* in order of first use */
    uint32_t n_nccl;
    ovl_model_line model[OVL_MODEL_LINES]; /* of workload.model */
    uint32_t n_model;
    uint64_t model_tokens;               /* of a microbatch */
    double model_params;                 /* elements of all layers on one rank of tp */
    ovl_useful useful;                   /* flops 0: not known */
    uint32_t microbatches;               /* of a pipeline; 0: it is none */
    uint32_t rank_microbatches;          /* of a rank without a pipeline; 0: it is one */
    const struct ovl_schedule *schedule; /* of a pipeline, without the transfers that were placed */
    const ovl_hop_line *hops;            /* of a pipeline */
    uint32_t n_hops;
    const ovl_measured *measured; /* of a replayed trace; else NULL */
    const ovl_law *const *laws;   /* of costs: law k is that of those with ovl_cost.law = k + 1 */
    uint32_t n_laws;
} ovl_lowered;

/* Lowers a checked scenario; the program lives in `arena`. False and errors if something it needs
 * is missing (a group, a cost, a link), each at the place that needs it. Warnings are added too. A
 * pipeline whose schedule was searched for from its times is lowered again for each other order
 * that is found with stages like their mean, free transfers, or both: ovl_program.orders. */
bool ovl_lower(const ovl_scenario *scenario, ovl_arena *arena, ovl_lowered *lowered,
               ovl_errs *errs);

/* The schedule of a scenario's pipeline alone, in `arena`; NULL: it has none. That a list of
 * compute actions cannot be run with the scenario's communicators is no mistake here. */
bool ovl_lower_schedule(const ovl_scenario *scenario, ovl_arena *arena,
                        const struct ovl_schedule **schedule, ovl_errs *errs);

#endif
