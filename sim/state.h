/*
 * state.h - the state of one run. Private to the engine's files:
 *
 *     run.c      set-up and hand-over                 engine.c   the loop
 *     activity.c rates and ends                       host.c     issuing
 *     comm.c     collectives, sends, receives           caps.c     SMs and measured interference
 *     account.c  who gets each instant of a rank        deadlock.c who waits for whom
 *
 * An *activity* is what takes time: a kernel, a copy, a collective over all its members, a
 * transfer. It has a latency phase (fixed) and then a fluid phase of `total` picoseconds of
 * isolated work, of which `done` were done at `since` and `rate` are done per picosecond after
 * that.
 */
#ifndef OVL_SIM_STATE_H
#define OVL_SIM_STATE_H

#include "sim/engine.h"
#include "sim/heap.h"
#include "sim/share.h"

#define OVL_BOUND_FREE  (UINT32_MAX - 2) /* at isolated speed; differs from all OVL_LIMIT_... */
#define OVL_LIMITS_KEPT 3
#define OVL_ACTIVITY_OVER                                                                          \
    UINT32_MAX /* in `running`: an eager transfer came before its receiver                         \
                */

typedef enum ovl_phase { OVL_PHASE_LATENCY, OVL_PHASE_FLUID } ovl_phase;

typedef struct ovl_activity {
    uint32_t op;     /* kernel, copy, sender; a collective's member at place 0 */
    uint32_t rank;   /* of `op` */
    uint32_t peer;   /* sends: the receiver's rank */
    uint8_t kind;    /* ovl_op_kind of op */
    uint8_t phase;   /* ovl_phase */
    bool shares;     /* is a member of the sharing solver */
    bool dirty;      /* in dirty_comms */
    bool background; /* an eager transfer whose receiver has not arrived: nobody waits in it */
    const ovl_cost *cost;
    const ovl_comm *comm; /* collectives */
    uint32_t k;           /* collectives: which of the communicator's */
    uint32_t instance;    /* collectives: number over the program */
    ovl_time total;
    ovl_time since;
    double done, rate;
    double cap;
    uint32_t cap_bound; /* why the cap is below 1: OVL_LIMIT_... */
    uint32_t slot;      /* in the solver */
    uint32_t bound;     /* what bounds the rate: a resource, OVL_LIMIT_..., or OVL_BOUND_FREE */
    ovl_time bound_since;
    ovl_limit limits[OVL_LIMITS_KEPT]; /* so far, by bound; more go to e->limits at once */
    uint32_t n_limits;
} ovl_activity;

/* What runs on a rank now. */
typedef struct ovl_rank_state {
    OVL_VEC(uint32_t) kernels; /* activities, by op */
    OVL_VEC(uint32_t) comms;   /* activities in latency or transfer */
    OVL_VEC(uint32_t)
    holders; /* ops of communication that arrived and has not ended: they hold SMs */
    OVL_VEC(uint32_t) copies[2]; /* ops that wait for an engine of a direction, by (arrive, op) */
    uint32_t copying[2];
    uint32_t waiting;   /* collectives that wait for a member */
    ovl_time accounted; /* the decomposition is complete up to here */
    bool caps_dirty, copies_dirty;
    /* The host thread. */
    uint32_t cursor; /* local index of the operation it issues next */
    bool issuing;    /* in the launch of `cursor` */
} ovl_rank_state;

/* An operation whose last condition came true. */
typedef struct ovl_todo {
    uint32_t rank, op;
} ovl_todo;

typedef struct ovl_engine {
    const ovl_program *p;
    const ovl_run_options *options;
    ovl_arena *arena;
    ovl_errs *errs;
    ovl_time now;
    bool failed;
    /* Times, by op; -1 while they have not happened. */
    ovl_time *issue, *arrive, *start, *end;
    uint32_t *pending; /* by op: what it still waits for; once a batch arrived: parts not ended */
    uint32_t *running; /* by op: its activity + 1, 0 if none (collectives: on every member) */
    uint32_t *arrived; /* by collective instance: members that have */
    uint32_t n_ended;
    ovl_rank_state *ranks;
    ovl_rank_times *times;
    ovl_cost free_cost; /* of operations of the freed name */
    OVL_VEC(ovl_activity) activities;
    OVL_VEC(uint32_t) spare;
    OVL_VEC(ovl_todo) todo; /* ops whose last condition came true, first in first out */
    uint32_t todo_done;
    OVL_VEC(uint32_t) dirty_caps;   /* ranks */
    OVL_VEC(uint32_t) dirty_copies; /* ranks */
    OVL_VEC(uint32_t)
    dirty_comms;           /* activities: collectives whose measured cap or uses may change */
    OVL_VEC(ovl_use) uses; /* scratch */
    OVL_VEC(uint64_t) trail;
    OVL_VEC(ovl_limit) limits;
    OVL_VEC(ovl_segment) segments;
    uint32_t *use_at; /* by resource: where it stands in `uses`, if it is there */
    bool *unmeasured; /* [kernel class * collective class] */
    ovl_share share;
    OVL_VEC(uint32_t) slot_activity; /* by solver slot */
    ovl_heap heap;                   /* handles: rank r is r; activity a is n_ranks + a */
    uint64_t n_events;
} ovl_engine;

/* Event kinds, in the order in which they happen at one instant. */
enum { OVL_EVENT_END, OVL_EVENT_HOST };
#define OVL_TIE(kind, id) (((uint64_t)(kind) << 32) | (id))

/* --- engine.c --- */

const ovl_op *ovl_engine_op(const ovl_engine *e, uint32_t rank, uint32_t op);

/* The cost of an operation, free_cost if its name is freed. */
const ovl_cost *ovl_engine_cost(const ovl_engine *e, uint32_t rank, const ovl_op *op);

/* One of the things an operation waits for came true. */
void ovl_engine_release(ovl_engine *e, uint32_t rank, uint32_t op);

/* An operation ended now: those that wait for it are released. */
void ovl_engine_complete(ovl_engine *e, uint32_t rank, uint32_t op);

/* A copy engine of the rank may be free, or somebody waits for one. */
void ovl_copies_touch(ovl_engine *e, uint32_t rank);

/* Says what is wrong with an operation and stops the run. */
void ovl_engine_fail(ovl_engine *e, ovl_status code, uint32_t op, const char *sentence);

/* Makes an event of `op` happen `in` from now; a time that cannot be counted stops the run. Events
 * of one kind at one instant happen in order of their op. */
void ovl_engine_schedule(ovl_engine *e, uint32_t handle, ovl_time in, int kind, uint32_t op);

/* Runs until nothing more can happen. */
void ovl_engine_loop(ovl_engine *e);

/* --- activity.c --- */

/* A new activity; gives its index. Nothing is accounted or scheduled yet. */
uint32_t ovl_engine_add_activity(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_cost *cost);

/* Starts it: latency, fluid phase, or nothing at all if it takes no time (then it ends at once). */
void ovl_engine_begin(ovl_engine *e, uint32_t activity);

/* Its latency or its work is over. */
void ovl_activity_event(ovl_engine *e, uint32_t activity);

/* Joins the solver with the uses in e->uses, or runs at its cap if it has none. */
void ovl_engine_join(ovl_engine *e, uint32_t activity);
void ovl_engine_leave(ovl_engine *e, uint32_t activity);

/* Its rate and what bounds it from now on. */
void ovl_engine_set_rate(ovl_engine *e, uint32_t activity, double rate, uint32_t bound);

/* The cap changed (caps.c). */
void ovl_engine_set_cap(ovl_engine *e, uint32_t activity, double cap, uint32_t bound);

/* Brings all caps and rates up to date. */
void ovl_engine_solve(ovl_engine *e);

/* --- comm.c
 * ------------------------------------------------------------------------------------------------
 */

void ovl_comm_arrive(ovl_engine *e, uint32_t rank, uint32_t op);
/* The transfer of a communication ended: every member that is in it ends. */
void ovl_comm_end(ovl_engine *e, uint32_t activity);
/* Calls visit(e, rank, op, activity) for each member that is in a communication now. */
void ovl_comm_each(ovl_engine *e, uint32_t activity,
                   void (*visit)(ovl_engine *, uint32_t rank, uint32_t op, uint32_t activity));
/* Collects what a communication demands into e->uses. */
void ovl_comm_uses(ovl_engine *e, uint32_t activity);

/* --- caps.c
 * ------------------------------------------------------------------------------------------------
 */

/* SMs held or kernels running on a rank changed. */
void ovl_caps_touch(ovl_engine *e, uint32_t rank);
/* Recomputes the caps of everything touched, before rates are solved. */
void ovl_caps_update(ovl_engine *e);
/* Under `measured`: is a collective's HBM demand replaced by factors on this rank? */
bool ovl_caps_measured(ovl_engine *e, uint32_t rank, const ovl_activity *collective);

/* --- host.c
 * ------------------------------------------------------------------------------------------------
 */

/* The host thread goes on: issues what it can. */
void ovl_host_advance(ovl_engine *e, uint32_t rank);
/* The launch or call it was in is over. */
void ovl_host_event(ovl_engine *e, uint32_t rank);
/* Everything a host call waited for is over. */
void ovl_host_arrive(ovl_engine *e, uint32_t rank, uint32_t op);

/* --- account.c --- */

/* Gives the time since the last call to the terms of the rank's decomposition. Called before
 * anything that runs on the rank changes. */
void ovl_account(ovl_engine *e, uint32_t rank);

/* --- deadlock.c --- */

void ovl_deadlock_report(ovl_engine *e);

#endif
