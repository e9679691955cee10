/*
 * plan_pipeline_code.h - the code of one place in the pipeline while it is written.
 *
 *     plan_pipeline_emit.c    kernels, sends and receives, activations
 *     plan_pipeline_pass.c    actions as passes of a step
 *     plan_pipeline_data.c    what data parallelism adds to each stage: who, buffers, collectives
 *     plan_pipeline_update.c  gradients, the optimizer
 *     plan_pipeline_copies.c  who has gradients in common
 *
 * Example, stage 1 with sharded parameters and 2 microbatches:
 *
 *     unshard 1, 1F0, 1F1, 1B0, 1B1, reduce 1, optimizer
 */
#ifndef OVL_MODELS_PLAN_PIPELINE_CODE_H
#define OVL_MODELS_PLAN_PIPELINE_CODE_H

#include "models/plan_pipeline.h"

/* What a cell has got so far on its rank: operations by local index, buffers. */
typedef struct ovl_pipe_cell {
    uint32_t f, b, w; /* F; I or B; W */
    uint32_t recv_f, recv_b;
    ovl_id activation, kept, checkpoint; /* until I or B; until W or B; until I or B */
    ovl_id in_f, in_b, out_f, out_b;     /* of transfers */
} ovl_pipe_cell;

/* Gradients of a stage that are reduced together; OVL_NONE: not, or not now. */
typedef struct ovl_pipe_portion {
    ovl_id gradients;     /* summed over microbatches */
    ovl_id shard;         /* what the reduction leaves; the same buffer if nothing is sharded */
    uint32_t produced_by; /* the last operation that added to them */
    uint32_t reduce;      /* the operation that reduces them */
} ovl_pipe_portion;

/* Gathered copies of the parameters of a stage that may be there at a time. */
#define OVL_PIPE_COPIES 2

/* Dense parameters of a stage, or experts: these are reduced over other ranks. */
typedef struct ovl_pipe_params {
    ovl_id held;                      /* all, or a shard of them; OVL_NONE: it has none */
    ovl_id gathered[OVL_PIPE_COPIES]; /* what UNSHARD brought, the copy in use first */
    ovl_pipe_portion *part;           /* [parts] */
} ovl_pipe_params;

/* What a stage has got. */
typedef struct ovl_pipe_state {
    ovl_pipe_params params[2];         /* dense ones, experts */
    uint32_t unshard[OVL_PIPE_COPIES]; /* the last operation of an UNSHARD */
    uint32_t copies;
    uint32_t used_by; /* the last kernel that read the parameters, or OVL_NONE */
    uint32_t left;    /* backwards that still add to the gradients */
    uint32_t passes;  /* ... of which so many are not written yet, as passes */
    bool any;         /* it has parameters */
} ovl_pipe_state;

/* The cost of the last kernel of a stage and part. */
typedef struct ovl_pipe_known {
    bool any;
    ovl_time length, part, whole;
    const ovl_time *on; /* [machines] its length on each; NULL: all alike */
    ovl_plan_cost cost;
} ovl_pipe_known;

typedef struct ovl_pipe_code {
    ovl_pipe_plan *p;
    ovl_lowering *l;
    ovl_builder *b;
    uint32_t rank;   /* of the pipeline */
    uint32_t member; /* one of those that run the code */
    ovl_id code;
    uint16_t compute;
    uint16_t *stream_out, *stream_in, *slot; /* [channels] of this code; OVL_NO_STREAM: not yet */
    ovl_time launch;
    ovl_pipe_known *known;              /* [n_stages * OVL_PART_COUNT] */
    ovl_pipe_cell *cells;               /* [n_stages * microbatches] */
    ovl_pipe_state *stages;             /* [n_stages] */
    uint16_t data_stream, data_slot[2]; /* of dense parameters, of experts */
    uint32_t parts;                     /* that the gradients of a stage are reduced in */
    const ovl_actions *row;             /* that is written, */
    uint32_t at;                        /* and where */
    uint32_t listed;                    /* the next action of the list that was read */
    ovl_mark mark;        /* where what is written stands there; else where the schedule does */
    ovl_step *step;       /* of the layers of this place, or of all; NULL: actions are kernels */
    uint32_t *first_unit; /* [n_stages + 1] in it; stages of other places have none of their own */
    const ovl_action *action; /* that runs as a pass */
    uint32_t last;            /* the optimizer, once it is added */
    uint32_t let_go_by; /* the last kernel that used parameters that were let go, or OVL_NONE */
    bool broken;
} ovl_pipe_code;

/* What an action's stage and microbatch have got. */
ovl_pipe_cell *ovl_pipe_cell_of(ovl_pipe_code *e, const ovl_action *a);

/* What an action is to reports; a pair is one kernel. */
ovl_part ovl_pipe_part(const ovl_action *a);

/* What part k of n of an action (or a pair of which `a` is the first) costs as a kernel. Most take
 * as long as those before them: their cost is known. */
ovl_plan_cost ovl_pipe_compute_cost(ovl_pipe_code *e, const ovl_action *a, uint32_t k, uint32_t n);

/* The input made on this rank, or received, must be issued before; else an error. */
void ovl_pipe_check_input(ovl_pipe_code *e, const ovl_action *a);

/* A buffer of a cell, allocated here; OVL_NONE for no bytes. Frees one, if there is any. */
ovl_id ovl_pipe_cell_buffer(ovl_pipe_code *e, const char *what, const ovl_action *a, uint64_t bytes,
                            ovl_category category, uint16_t stream);
void ovl_pipe_let_go(ovl_pipe_code *e, ovl_id *buffer_id);

/* A buffer of a stage. */
ovl_id ovl_pipe_buffer(ovl_pipe_code *e, const char *name, const ovl_pipe_stage *stage,
                       uint64_t bytes, ovl_category category, bool held, uint16_t stream);

/* --- plan_pipeline_pass.c --- */

/* Opens the step in the code just opened, and closes it. Nothing if actions are kernels. */
void ovl_pipe_pass_open(ovl_pipe_code *e);
void ovl_pipe_pass_close(ovl_pipe_code *e);

/* Runs the layers of an action's stage. */
void ovl_pipe_pass(ovl_pipe_code *e, const ovl_action *a);

/* A pair of a forward and a backward whose passes take turns on the compute stream. */
void ovl_pipe_turns(ovl_pipe_code *e, const ovl_action *a);

/* --- plan_pipeline_fsdp.c, plan_pipeline_ddp.c --- */

/* Who shards, or reduces, with whom; false after an error. */
bool ovl_pipe_fsdp_plan(ovl_pipe_plan *p);
bool ovl_pipe_ddp_plan(ovl_pipe_plan *p);

/* Makes the step of a place, whose units are those of its stages. */
void ovl_pipe_fsdp_open(ovl_pipe_code *e);
void ovl_pipe_ddp_open(ovl_pipe_code *e);

/* Fills e->step, whose strategy is set, and e->first_unit. */
void ovl_pipe_own_step(ovl_pipe_code *e);

/* The optimizer, and the end of that step. */
void ovl_pipe_own_close(ovl_pipe_code *e);

/* --- plan_pipeline_copies.c --- */

/* Who has the gradients of a rank, of those who are in its communicator of `group`: with two copies
 * of the model also those who hold the other. NULL and an error if some have different stages. */
const ovl_group *ovl_pipe_data_group(ovl_pipe_plan *p, const ovl_group *group, ovl_mark mark);

/* Whether all ranks of each communicator of a group have the same stages; else an error. */
bool ovl_pipe_data_places(ovl_pipe_plan *p, const ovl_group *group, ovl_mark mark);

/* Microbatches that a gradient of one copy is the mean of. */
uint32_t ovl_pipe_averaged(const ovl_pipe_plan *p);

/* Whether a place holds a stage of the model, or a copy of it. */
bool ovl_pipe_holds(const ovl_pipe_plan *p, uint32_t stage, uint32_t place);

/* Finds who reduces with whom, dense gradients and those of experts (p->data), from a group by
 * name; false after an error. */
bool ovl_pipe_data_groups(ovl_pipe_plan *p, const char *name, ovl_mark mark);

/* --- plan_pipeline_data.c --- */

/* Who reduces with whom; false after an error. Adds UNSHARD, RESHARD and REDUCE_GRAD to the
 * schedule where it has none. */
bool ovl_pipe_data_plan(ovl_pipe_plan *p);

/* Room for what stages have got; once for all codes. */
void ovl_pipe_data_prepare(ovl_pipe_code *e);

/* Streams and held buffers of the stages of this rank; also without data parallelism. */
void ovl_pipe_data_open(ovl_pipe_code *e);

/* UNSHARD, RESHARD or REDUCE_GRAD of a stage. */
void ovl_pipe_data_action(ovl_pipe_code *e, const ovl_action *a);

/* Before a kernel is added: what it needs to be there. */
void ovl_pipe_data_before(ovl_pipe_code *e, const ovl_action *a);

/* Parts that the action at hand makes its gradients in, a kernel for each; 1: all at once. */
uint32_t ovl_pipe_data_parts(const ovl_pipe_code *e, const ovl_action *a);

/* The kernel last added runs an action: what it reads, and the gradients it makes: those of one
 * part, or OVL_NONE, all of them. */
void ovl_pipe_data_kernel(ovl_pipe_code *e, const ovl_action *a, uint32_t local, uint32_t part);

/* Reduces part i of what the action at hand made, behind the kernel of that part. */
void ovl_pipe_data_reduce(ovl_pipe_code *e, const ovl_action *a, uint32_t i);

/* A collective of data parallelism. */
typedef struct ovl_pipe_moved {
    const char *name;
    uint64_t bytes;
    ovl_coll op;
    ovl_dtype dtype;
    bool experts; /* over the ranks that have the same experts */
} ovl_pipe_moved;

/* Gives the operation. */
uint32_t ovl_pipe_data_collective(ovl_pipe_code *e, const ovl_pipe_moved *moved);

/* Gathers parameters that a distributed optimizer updated in parts. */
void ovl_pipe_data_gather(ovl_pipe_code *e);

/* Room for gradients that the action at hand is the first to make. */
void ovl_pipe_data_room(ovl_pipe_code *e, const ovl_action *a);

/* The name of a gradient, and elements that this rank updates. */
ovl_dtype ovl_pipe_grad_dtype(const ovl_pipe_code *e);
ovl_id ovl_pipe_data_gradient(ovl_pipe_code *e, uint32_t stage, bool experts, uint32_t part);
uint64_t ovl_pipe_data_updates(const ovl_pipe_code *e);

/* --- plan_pipeline_update.c --- */

/* The buffer of optimizer states, if there are any. */
void ovl_pipe_data_states(ovl_pipe_code *e);

/* A marker on the compute stream. */
void ovl_pipe_data_marker(ovl_pipe_code *e, const char *name);

/* The optimizer at the end of the step, if there is one. */
void ovl_pipe_data_optimizer(ovl_pipe_code *e);

#endif
