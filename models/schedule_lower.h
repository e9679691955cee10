/*
 * schedule_lower.h - PyTorch's passes from a list of compute actions to one with communication.
 *
 *     0F0 0F1 .. 0B0 .. 0B1                0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1
 *     .. 1F0 1B0 1F1 1B1       becomes     1RECV_F0 1RECV_F1 1F0 1B0 1SEND_B0 1F1 1B1 1SEND_B1
 *
 * and takes 11 steps when each action takes one. Each pass gives a new schedule in `arena` and
 * takes time linear in the actions (times the stages of a rank for unshard). The runtime posts a
 * RECV when it comes to it and waits for it before its compute.
 *
 * (pytorch torch/distributed/pipelining/schedules.py: _add_unshard_reshard, _add_reduce_grad,
 * _merge_bw, _add_send_recv, _simulate_comms_compute)
 */
#ifndef OVL_MODELS_SCHEDULE_LOWER_H
#define OVL_MODELS_SCHEDULE_LOWER_H

#include "models/schedule.h"

/* When the parameters of a stage are let go. */
typedef enum ovl_reshard {
    OVL_RESHARD_WINDOW,  /* when it is none of the next few stages */
    OVL_RESHARD_FORWARD, /* after each forward */
    OVL_RESHARD_ALWAYS,  /* after each action */
} ovl_reshard;

/* Keeps the parameters of the next `active` distinct stages (3 in PyTorch): before an action,
 * RESHARD those that leave, in ascending order, then UNSHARD those that enter, in order of use; at
 * the end RESHARD the rest. Blanks are dropped. */
void ovl_schedule_unshard(const ovl_schedule *in, uint32_t active, ovl_schedule *out,
                          ovl_arena *arena);

/* REDUCE_GRAD after the last B or W of each stage. Blanks are dropped. */
void ovl_schedule_reduce_grad(const ovl_schedule *in, ovl_schedule *out, ovl_arena *arena);

/* I directly followed by its W becomes B. Blanks are dropped. */
void ovl_schedule_merge(const ovl_schedule *in, ovl_schedule *out, ovl_arena *arena);

/* Whether some action has a type from `first` to `last`. */
bool ovl_schedule_has(const ovl_schedule *schedule, ovl_action_type first, ovl_action_type last);

/* Gathers the parameters of a stage for what needs them and lets them go soon: after each forward
 * (OVL_RESHARD_FORWARD: a backward keeps them until the next forward has run), or after each action
 * (OVL_RESHARD_ALWAYS). With `ahead` a gather stands before the action in front of its own, so that
 * up to two copies are there. Blanks are dropped.
 *
 *     forward          0UNSHARD 0F0 0RESHARD 0UNSHARD 0F1 0RESHARD 0UNSHARD 0B0 0B1 0RESHARD
 *     forward, ahead   0UNSHARD 0UNSHARD 0F0 0RESHARD 0UNSHARD 0F1 0RESHARD 0B0 0B1 0RESHARD */
void ovl_schedule_reshard(const ovl_schedule *in, bool always, bool ahead, ovl_schedule *out,
                          ovl_arena *arena);

/* How parameters are sharded: what UNSHARD and RESHARD are placed by. */
typedef struct ovl_schedule_shards {
    bool sharded;
    int reshard;    /* ovl_reshard */
    int64_t active; /* OVL_RESHARD_WINDOW: stages that are kept */
    bool ahead;     /* the others */
} ovl_schedule_shards;

/* What data parallelism adds, where it is not in the list yet: REDUCE_GRAD, and of sharded
 * parameters UNSHARD and RESHARD. */
void ovl_schedule_add_data(ovl_schedule *schedule, const ovl_schedule_shards *how,
                           ovl_arena *arena);

/* SEND after each compute action whose result another rank needs, and its RECV appended to that
 * rank's list at the same moment. In rounds over ranks 0 .. P-1; in a round each rank whose next
 * cell is ready takes it: a blank always is; F, I and B are once the RECV, or the action of a
 * neighbour stage on the same rank, is in the list. False and an error (OVL_E_STUCK) if no rank can
 * go on. */
bool ovl_schedule_send_recv(const ovl_schedule *in, ovl_schedule *out, ovl_mark mark,
                            ovl_arena *arena, ovl_errs *errs);

/* Whether each stage takes its microbatches in the order in which its neighbours on other ranks
 * give them, so that receives may be posted right before what needs them; linear in the actions.
 *
 *     0F0,0F1,.. / 1F0,1F1,..   yes
 *     0F0,0F1,.. / 1F1,1F0,..   no: the first thing sent to stage 1 is for 1F0 */
bool ovl_schedule_in_order(const ovl_schedule *schedule);

/* Steps of a schedule with communication if every action takes one: each rank runs at most one a
 * step; compute needs its inputs from the steps before, a SEND and its RECV may share one. 0 and an
 * error if it cannot finish. */
uint32_t ovl_schedule_steps(const ovl_schedule *schedule, ovl_mark mark, ovl_errs *errs);

#endif
