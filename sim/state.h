/*
 * state.h - the state of one run. Private to the engine's files:
 *
 *     run.c      set-up and hand-over                 engine.c   the loop
 *     activity.c begin, join, leave, end              clock.c    rates, ends, what bounded whom
 *     comm.c     collectives, sends, receives         caps.c     SMs and measured interference
 *     account.c  who gets each instant of a rank      host.c     issuing
 *     deadlock.c who waits for whom
 *
 * An *activity* is what takes time: a kernel, a copy, a collective over all its members, a
 * transfer. It has a latency phase (fixed) and then a fluid phase of `total` picoseconds of
 * isolated work, which a *clock* measures.
 *
 * Activities of one class of the sharing solver run at one rate and have one clock: it shows the
 * isolated work that somebody there from the beginning would have done. Who joins when it shows v
 * ends when it shows v + total, whatever the rate does in between; so a change of rate costs the
 * same for one activity as for a thousand. An activity that shares nothing has a clock of its own.
 * Example: at rate 1/2 from 0 on, b joins at 10 ps (the clock shows 5) with 20 ps of work: it ends
 * when the clock shows 25, at 50 ps, or earlier if the rate rises.
 */
#ifndef OVL_SIM_STATE_H
#define OVL_SIM_STATE_H

#include "sim/engine.h"
#include "sim/fold.h"
#include "sim/heap.h"
#include "sim/share.h"

#define OVL_BOUND_FREE  (UINT32_MAX - 2) /* at isolated speed; differs from all OVL_LIMIT_... */
#define OVL_LIMITS_KEPT 4
#define OVL_ACTIVITY_OVER                                                                          \
    UINT32_MAX /* in `running`: an eager transfer came before its receiver                         \
                */

typedef enum ovl_phase { OVL_PHASE_LATENCY, OVL_PHASE_FLUID } ovl_phase;

/* Time spent under one bound, and what was lost in it. */
typedef struct ovl_loss {
    ovl_time time, lost;
} ovl_loss;

typedef struct ovl_activity {
    const ovl_cost *cost;
    const ovl_comm *comm; /* collectives */
    ovl_time total;
    double begin;   /* what its clock showed when it joined */
    uint32_t clock; /* in its fluid phase: the slot of its class, or one of its own */
    uint32_t op;    /* kernel, copy, sender; a collective's member at place 0 */
    uint32_t rank;  /* of `op` */
    uint32_t peer;  /* sends: the receiver's rank */
    uint32_t k;     /* collectives: which of the communicator's */
    uint32_t count; /* of how many like it, where ranks are folded */
    uint8_t kind;   /* ovl_op_kind of op */
    uint8_t phase;  /* ovl_phase */
    bool shares;    /* is of a class of the sharing solver */
    bool dirty;     /* in dirty_comms */
    bool eager;
    bool background; /* an eager transfer whose receiver has not arrived: nobody waits in it */
    double cap;
    uint32_t cap_bound;               /* why the cap is below 1: OVL_LIMIT_... */
    ovl_time since;                   /* it joined its clock */
    ovl_loss before[OVL_LIMITS_KEPT]; /* what its clock had summed up by then */
} ovl_activity;

/* An activity on a clock, and what the clock shows when it ends. */
typedef struct ovl_due {
    double due;
    uint32_t activity, op;
} ovl_due;

typedef struct ovl_clock {
    double value, rate; /* it showed `value` at `since` and runs at `rate` */
    ovl_time since;
    ovl_time end;  /* when the next activity ends */
    uint32_t next; /* which of `dues` that is */
    bool late;     /* neither is known, but that it is after key_time */
    uint32_t first;
    OVL_VEC(ovl_due) dues; /* from `first` on, in order */
    /* The event queue holds it under this key, perhaps earlier than its end: an end that moves back
     * is looked at again when the old time comes. */
    ovl_time key_time;
    uint32_t key_op;
    bool queued;
    OVL_VEC(uint32_t) watchers; /* ranks on which its rate decides who gets the time */
    uint32_t bound; /* what bounds the rate: a resource, OVL_BOUND_CAP, or OVL_BOUND_FREE */
    ovl_time bound_since;
    uint32_t n_sums, sum_at; /* sum_at: that of `bound`, OVL_NONE if it has to be looked up */
    uint32_t sum_bound[OVL_LIMITS_KEPT];
    ovl_loss sum[OVL_LIMITS_KEPT]; /* until bound_since, by bound */
} ovl_clock;

typedef struct ovl_running {
    uint32_t op, activity;
} ovl_running;

/* Of those on one clock, which are equally fast, the lowest op. */
typedef struct ovl_rival {
    ovl_running is;
    uint32_t clock;
} ovl_rival;

/* Whose the time of a rank is. */
typedef struct ovl_choice {
    uint32_t kernel, comm; /* activities whose progress counts, or OVL_NONE */
    uint8_t term;          /* ovl_term */
    bool hides;            /* communication is in latency or transfer */
} ovl_choice;

/* What runs on a rank now. */
typedef struct ovl_rank_state {
    OVL_VEC(uint32_t) kernels;  /* activities */
    OVL_VEC(ovl_running) comms; /* in latency or transfer */
    OVL_VEC(uint32_t)
    holders;                     /* ops of communication that arrived and has not ended, where their
                                    factors matter */
    uint64_t held;               /* SMs they hold */
    OVL_VEC(uint32_t) copies[2]; /* ops that wait for an engine of a direction, by (arrive, op) */
    uint32_t copying[2];
    uint32_t waiting; /* collectives that wait for a member */
    uint32_t latent;  /* communication in its latency */
    bool caps_dirty, copies_dirty;
    /* Who gets the time from `accounted` on (account.c). */
    ovl_choice is;
    bool touched,
        changed; /* it may be another now; because something else runs, not just by rates */
    OVL_VEC(ovl_rival) rivals;       /* among which the fastest is chosen */
    ovl_time accounted;              /* the decomposition is complete up to here */
    ovl_time kernel_done, comm_done; /* by those chosen, when they were */
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
    bool counting;           /* the interval to count has begun */
    ovl_rank_times *counted; /* what was counted in it; NULL until it ended */
    ovl_cost free_cost;      /* of operations of the freed name */
    OVL_VEC(ovl_activity) activities;
    OVL_VEC(uint32_t) spare;
    OVL_VEC(ovl_todo) todo; /* ops whose last condition came true, first in first out */
    uint32_t todo_done;
    OVL_VEC(uint32_t) dirty_caps;   /* ranks */
    OVL_VEC(uint32_t) dirty_copies; /* ranks */
    OVL_VEC(uint32_t) touched;      /* ranks whose time may be another's from now on */
    OVL_VEC(uint32_t)
    dirty_comms;           /* activities: collectives whose measured cap or uses may change */
    OVL_VEC(ovl_use) uses; /* scratch */
    OVL_VEC(uint64_t) trail;
    OVL_VEC(ovl_limit) limits;
    OVL_VEC(ovl_segment) segments;
    uint32_t *use_at; /* by resource: where it stands in `uses`, if it is there */
    bool *unmeasured; /* [kernel class * collective class] */
    ovl_share share;
    OVL_VEC(ovl_clock) clocks; /* by solver slot */
    ovl_heap heap;             /* handles: OVL_HANDLE_... */
    uint32_t next_change;      /* of the program's capacities */
    uint64_t n_events;
} ovl_engine;

/* Event kinds, in the order in which they happen at one instant. */
enum { OVL_EVENT_END, OVL_EVENT_HOST };
#define OVL_TIE(kind, id) (((uint64_t)(kind) << 32) | (id))

/* Who has events: host threads (rank r is r), activities in their latency, clocks. */
#define OVL_HANDLE_ACTIVITY(e, a) ((e)->p->n_ranks + 2 * (a))
#define OVL_HANDLE_CLOCK(e, c)    ((e)->p->n_ranks + 2 * (c) + 1)

/* --- engine.c --- */

static inline const ovl_op *ovl_engine_op(const ovl_engine *e, uint32_t rank, uint32_t op)
{
    const ovl_rank *r = &e->p->ranks[rank];
    return &e->p->codes[r->code].ops[op - r->first_op];
}

/* The cost of an operation, free_cost if its name is freed. */
static inline const ovl_cost *ovl_engine_cost(const ovl_engine *e, uint32_t rank, const ovl_op *op)
{
    bool freed = op->name == e->options->free_name && e->options->free_name != OVL_NONE;
    return freed ? &e->free_cost
                 : &e->p->costs[op->cost + (op->per_rank ? e->p->ranks[rank].variant : 0)];
}

/* What a demand asks of the resource of its port. Where ranks are folded: the demands of all
 * activities that load it, divided among the `count` that the solver knows of. `member`: of which
 * member of a collective, as an index into the program's; else OVL_NONE. */
ovl_use ovl_engine_use(const ovl_engine *e, uint32_t rank, uint32_t member, uint32_t count,
                       const ovl_demand *demand);

/* One of the things an operation waits for came true. */
static inline void ovl_engine_release(ovl_engine *e, uint32_t rank, uint32_t op)
{
    assert(e->pending[op] > 0);
    if (--e->pending[op] == 0) {
        ovl_vec_push(&e->todo, (ovl_todo){rank, op});
    }
}

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

/* Its latency is over. */
void ovl_latency_event(ovl_engine *e, uint32_t activity);

/* The event of a clock: the activity that ends, if one does, ends. */
void ovl_clock_due(ovl_engine *e, uint32_t clock);

/* Joins the solver with the uses in e->uses, or runs at its cap if it has none. */
void ovl_engine_join(ovl_engine *e, uint32_t activity);

/* The same for one that runs already and whose uses changed. */
void ovl_engine_rejoin(ovl_engine *e, uint32_t activity);

/* The cap changed (caps.c). */
void ovl_engine_set_cap(ovl_engine *e, uint32_t activity, double cap, uint32_t bound);

/* Brings all caps and rates up to date and gives the time that comes to somebody on each rank. */
void ovl_engine_solve(ovl_engine *e);

/* --- clock.c --- */

/* An activity is measured by a clock from now on, `done` picoseconds of its work being done. */
void ovl_clock_add(ovl_engine *e, uint32_t clock, uint32_t activity, double done);

/* It no longer is: what bounded it is kept. Gives the work it has done. */
double ovl_clock_remove(ovl_engine *e, uint32_t activity);

/* The rate from now on and what bounds it. */
void ovl_clock_set_rate(ovl_engine *e, uint32_t clock, double rate, uint32_t bound);

/* Keeps what bounded an activity so far apart from what comes. */
void ovl_clock_keep_limits(ovl_engine *e, uint32_t activity);

/* The activity whose end is the clock's event now; OVL_NONE if the event came too early (the clock
 * is queued anew). */
uint32_t ovl_clock_event(ovl_engine *e, uint32_t clock);

/* Whole picoseconds of isolated work an activity has done at `t`, at most all of it. */
ovl_time ovl_clock_progress(const ovl_engine *e, const ovl_activity *a, ovl_time t);

/* --- comm.c
 * ------------------------------------------------------------------------------------------------
 */

void ovl_comm_arrive(ovl_engine *e, uint32_t rank, uint32_t op);
/* The transfer of a communication ended: every member that is in it ends. */
void ovl_comm_end(ovl_engine *e, uint32_t activity);
/* Calls visit(e, rank, op, activity) for each member that is in a communication now. */
void ovl_comm_each(ovl_engine *e, uint32_t activity,
                   void (*visit)(ovl_engine *, uint32_t rank, uint32_t op, uint32_t activity));
/* Its latency is over and its transfer begins, on each member that is in it. */
void ovl_comm_transfer(ovl_engine *e, uint32_t activity);
/* Collects what a communication demands into e->uses. */
void ovl_comm_uses(ovl_engine *e, uint32_t activity);

/* --- caps.c
 * ------------------------------------------------------------------------------------------------
 */

/* SMs held, kernels running, or communication in transfer on a rank changed. */
void ovl_caps_touch(ovl_engine *e, uint32_t rank);
/* A communication of this cost has arrived on the rank or ended there. */
void ovl_caps_hold(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_cost *cost);
void ovl_caps_let_go(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_cost *cost);
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

/* What runs on the rank changes at this instant. */
void ovl_account(ovl_engine *e, uint32_t rank);

/* An activity ends on a rank: what it did is told before it is forgotten. */
void ovl_account_end(ovl_engine *e, uint32_t rank, uint32_t activity);

/* All that changed at this instant has: chooses who gets the time from now on. */
void ovl_account_open(ovl_engine *e);

/* The rate of a clock that is watched changes. */
void ovl_account_rate(ovl_engine *e, const ovl_clock *clock);

/* An activity changed its clock. */
void ovl_account_activity(ovl_engine *e, uint32_t activity);

/* Gives away all the time until now. */
void ovl_account_all(ovl_engine *e);

/* Only what happens in options->count_from .. count_to is counted: called before time passes
 * `until`, the next moment at which something happens. */
void ovl_account_until(ovl_engine *e, ovl_time until);

/* --- deadlock.c --- */

void ovl_deadlock_report(ovl_engine *e);

#endif
