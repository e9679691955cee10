/*
 * plan_pipeline.h - what the parts of the pipeline plan share.
 *
 *     plan_pipeline.c         the schedule: from a table, or a list of actions
 *     plan_pipeline_stages.c  what each stage costs, from `stages` or from `layers`
 *     plan_pipeline_cost.c    what the kernel of an action costs
 *     plan_pipeline_length.c  how long a kernel is, and would be if all stages were like their mean
 *     plan_pipeline_comm.c    communicators, and where sends and receives stand in the order
 *     plan_pipeline_order.c   whether receives stand in the order of their sends
 *     plan_pipeline_effect.c  which keys have no effect, what nobody reduces
 *     plan_pipeline_layout.c  how pipelines lie on nodes, which costs of hops go by
 *     plan_pipeline_emit.c    one code for each place in the pipeline (plan_pipeline_code.h)
 *     plan_pipeline_pass.c    stages whose layers are more than one kernel: passes of a step
 *     plan_pipeline_data.c    what data parallelism adds to each stage
 *     plan_pipeline_copies.c  who has gradients in common, also where there are two copies of the
 * model plan_pipeline_fsdp.c    the same by overlap.fsdp and overlap.zero: units of a stage are
 * sharded one by one plan_pipeline_ddp.c     the same by overlap.ddp: buckets of the units of a
 * stage
 *
 * A *cell* is a stage and a microbatch: number stage * microbatches + microbatch. With two chains
 * (DualPipe) stage P + s is a copy of stage s.
 *
 * Example: 1f1b on 2 ranks with 2 microbatches gives rank 0 the operations
 *
 *     0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1
 *
 * F and B on stream `compute`, each after its receive; sends and receives on streams of their
 * communicators.
 */
#ifndef OVL_MODELS_PLAN_PIPELINE_H
#define OVL_MODELS_PLAN_PIPELINE_H

#include "models/schedule.h"
#include "models/shard.h"

/* A stage as the workload says it; times are one, or one for each microbatch. */
typedef struct ovl_pipe_stage {
    const char *name;
    ovl_mark mark;
    ovl_times forward, input, weight, backward, pair; /* count 0: not given */
    uint64_t params, activations, kept;               /* bytes */
    uint64_t expert_params;                           /* of params, those of experts */
    uint64_t checkpoint; /* bytes that a forward leaves where it runs again; UINT64_MAX: not said */
    uint64_t transfer;   /* bytes of its output, and of the gradient that comes back for it */
    bool has_transfer;   /* it says how many */
    bool again;          /* a further repeat of the entry before: what is wrong was told there */
    const char *klass;
} ovl_pipe_stage;

/* A sum, kept as the difference to the first value, which stays small where stages are alike. */
typedef struct ovl_pipe_sum {
    ovl_time first, beyond;
    uint32_t n;
} ovl_pipe_sum;

void ovl_pipe_sum_add(ovl_pipe_sum *sum, ovl_time value);
ovl_time ovl_pipe_sum_mean(const ovl_pipe_sum *sum); /* 0: of nothing */

/* From one place to another in one order: the k-th send of it meets the k-th receive. */
typedef struct ovl_pipe_channel {
    const ovl_group *group;
    uint32_t from, to;             /* ranks of the pipeline */
    uint32_t place_from, place_to; /* their places in the group's communicators */
    const char *stream_from, *stream_to;
    uint32_t next; /* channel of the same sender, or OVL_NONE */
} ovl_pipe_channel;

/* What carries the output of a stage to its neighbour. */
typedef struct ovl_pipe_edge {
    uint32_t channel;   /* OVL_NONE: there is no neighbour, or it is on the same rank */
    uint32_t giver;     /* the stage that says what is transferred */
    ovl_plan_cost cost; /* in the layout that is written */
    uint64_t bytes;
} ovl_pipe_edge;

/* Pipelines that lie alike on nodes. */
typedef struct ovl_pipe_layout {
    const uint32_t *ranks; /* [p] of the first of them */
    uint32_t count;
} ovl_pipe_layout;

typedef struct ovl_pipe_plan {
    ovl_lowering *l;
    const ovl_pipeline *pipe;
    const ovl_workload *workload;
    ovl_arena scratch; /* until the plan is done */
    const ovl_group *group;
    const ovl_group *data[2];   /* of data parallelism, of experts; NULL: none */
    uint32_t p;                 /* ranks of one pipeline */
    const uint32_t *place_rank; /* [p] a rank at each place: those of a layout */
    OVL_VEC(ovl_pipe_layout) layouts;
    uint32_t *layout_of;    /* [n_ranks] of the pipeline that begins at a rank */
    ovl_pipe_stage *stages; /* [n_stages] of one chain */
    ovl_pipe_stage **on; /* [machines] the same on the GPU of each sort of nodes; NULL: all alike */
    uint32_t n_stages;
    uint32_t *counts;     /* [n_stages] layers of each; NULL: the workload gives stages */
    uint8_t placement;    /* of a schedule by name: ovl_placement */
    ovl_step step;        /* of the layers of all stages, if each is run by itself */
    uint32_t *first_unit; /* [n_stages + 1] of the step; NULL: an action is one kernel */
    ovl_fsdp_plan shards; /* with overlap.fsdp and overlap.zero: who shards with whom */
    uint32_t microbatches;
    ovl_schedule listed;     /* a list of actions as it was read, for the places of its actions */
    ovl_schedule schedule;   /* with sends and receives, once they are placed */
    ovl_pipe_edge *forward;  /* [schedule.n_stages] out of F of a stage */
    ovl_pipe_edge *backward; /* [schedule.n_stages] out of I or B of a stage */
    OVL_VEC(ovl_pipe_channel) channels;
    uint32_t *first_channel;           /* [p] of each sender, or OVL_NONE */
    ovl_pipe_sum *sum[OVL_PART_COUNT]; /* [microbatches] over stages: plan_pipeline_length.c */
} ovl_pipe_plan;

/* Fills stages and n_stages; `per_rank` stages for each rank when layers are split. Of backward and
 * its two parts what is not given follows from the others. Mistakes are added to l->errs. */
void ovl_pipe_stages(ovl_pipe_plan *p, uint32_t per_rank);

/* Whether both parts of each backward are given, as schedules that split it need; of each stage, or
 * layer, that lacks one, an error names the key. */
bool ovl_pipe_check_split(ovl_pipe_plan *p);

/* Whether all that the schedule's actions need is given; backwards get the forward that
 * recomputation runs again. */
bool ovl_pipe_complete(ovl_pipe_plan *p);

/* Whether a strategy of its own sees the layers of a stage one by one: overlap.fsdp,
 * overlap.zero, overlap.ddp. */
bool ovl_pipe_apart(const ovl_pipe_plan *p);

/* One warning names all keys that are given and have no effect here, each with when it has one: a
 * base that variants take other schedules of may well have them. Once the schedule is known. */
void ovl_pipe_tell_idle_keys(ovl_pipe_plan *p);

/* Says, as not modelled, that pipelines of an axis dp do not reduce their gradients. */
void ovl_pipe_say_unreduced(ovl_pipe_plan *p);

/* The stage behind a stage of the schedule. */
const ovl_pipe_stage *ovl_pipe_stage_of(const ovl_pipe_plan *p, uint32_t stage);

/* On which sorts of nodes a stage of one chain is in any pipeline, a bit each, once it is known how
 * stages are placed. */
uint32_t ovl_pipe_machines(const ovl_pipe_plan *p, uint32_t stage);

/* The same as the GPU of a rank runs it. */
const ovl_pipe_stage *ovl_pipe_stage_on(const ovl_pipe_plan *p, uint32_t stage, uint32_t rank);

/* The time of a microbatch. */
ovl_time ovl_pipe_time(ovl_times times, uint32_t microbatch);

/* What an action takes, or a pair of which `a` is the first: `overlapped` of the stage whose
 * forward it runs, else its forward and the backward of the other stage one after the other. */
ovl_time ovl_pipe_length(const ovl_pipe_plan *p, const ovl_action *a);

/* The same on the GPU of a sort of nodes; p->on is given. */
ovl_time ovl_pipe_length_on(const ovl_pipe_plan *p, const ovl_action *a, uint32_t machine);

/* Of a forward and a backward that run together: what the forward takes alone, and what both do.
 * Whole 0: `a` is no such pair. */
void ovl_pipe_pair_parts(const ovl_pipe_plan *p, const ovl_action *a, ovl_time *part,
                         ovl_time *whole);

/* Part k of n of a whole that need not divide: the parts sum to it. */
uint64_t ovl_pipe_share(uint64_t whole, uint32_t k, uint32_t n);

/* How that varies: as the stage says of its one part; NULL: it does not, or of a pair. */
const void *ovl_pipe_law(const ovl_pipe_plan *p, const ovl_action *a);

/* Sums up what the parts of stages take, in all pipelines; before ovl_pipe_mean. */
void ovl_pipe_means_find(ovl_pipe_plan *p);

/* What an action, or pair, would take if all stages were like their mean: each part is averaged
 * over all stages of its microbatch, whatever the schedule makes of it there. */
ovl_time ovl_pipe_mean(const ovl_pipe_plan *p, const ovl_action *a);

/* What it takes to transfer the output of a stage, or its gradient, between two ranks that lie so;
 * false after an error. */
bool ovl_pipe_transfer(ovl_pipe_plan *p, const ovl_pipe_stage *stage, const ovl_spread *spread,
                       ovl_plan_cost *cost);

/* Places sends and receives, and gives each edge its communicator. False after an error. */
bool ovl_pipe_comms(ovl_pipe_plan *p);

/* The lists of `from` with sends and receives, as `receives: early` or `late` puts them. False and
 * an error if they cannot be placed. */
bool ovl_pipe_place(ovl_pipe_plan *p, const ovl_schedule *from, bool early, ovl_schedule *to,
                    ovl_errs *errs);

/* Whether receives stand in the order of their sends on each channel; false and an error for each
 * channel where they do not, with what would help. `before`: the lists in which they are not placed
 * yet; NULL: the schedule had them. */
bool ovl_pipe_check_order(ovl_pipe_plan *p, const ovl_schedule *before);

/* The costs of all edges in a layout, which becomes place_rank; false after an error. */
bool ovl_pipe_lay_out(ovl_pipe_plan *p, uint32_t layout);

/* The ranks of the pipeline of a rank; until a communicator is added. */
const uint32_t *ovl_pipe_members(const ovl_pipe_plan *p, uint32_t rank);

/* How two places of a pipeline lie on nodes. */
const ovl_spread *ovl_pipe_spread(ovl_pipe_plan *p, const uint32_t *members, uint32_t from,
                                  uint32_t to);

/* Fills layouts and layout_of, once all channels are known. */
void ovl_pipe_layouts(ovl_pipe_plan *p);

/* The edge that brings the input of an action, or takes its output; NULL: none from, or to, another
 * rank. */
const ovl_pipe_edge *ovl_pipe_edge_in(const ovl_pipe_plan *p, const ovl_action *action);
const ovl_pipe_edge *ovl_pipe_edge_out(const ovl_pipe_plan *p, const ovl_action *action);

/* Writes a code for each place, and each way in which its communicators lie on nodes, and gives
 * them to the ranks. */
void ovl_pipe_emit(ovl_pipe_plan *p);

#endif
