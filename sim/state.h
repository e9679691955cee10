/*
 * state.h - the state of one run. Private to the engine's files:
 *
 *     run.c      set-up and hand-over                 engine.c   the loop
 *     activity.c begin, join, leave, end              clock.c    rates, ends, what bounded whom
 *     comm.c     collectives, sends, receives         caps.c     SMs and measured interference
 *     account.c  who gets each instant of a rank      host.c     issuing
 *     route.c    what loads what                      deadlock.c who waits for whom
 *     follow.c   who runs on which clock       recur.h    what recurs is skipped
 *
 * An *activity* is what takes time: a kernel, a copy, a collective over all its members, a
 * transfer. It has a latency phase (fixed) and then a fluid phase of `total` picoseconds of
 * isolated work, which a *clock* measures. A collective whose cost has several phases goes through
 * both in each: it stays one activity, and what it loads is that of the phase it is in.
 *
 * Activities that run at one rate have one clock: it shows the isolated work that somebody there
 * from the beginning would have done. Who joins when it shows v ends when it shows v + total,
 * whatever the rate does in between; so a change of rate costs the same for one activity as for a
 * thousand. All whom one resource bounds and who have one weight and cap have one clock, whatever
 * their classes (follow.c); so have those of a class that is bounded otherwise. The clock of
 * activities that share nothing and have no cap is time itself: their ends are known at once.
 *
 * A clock counts in units of 2^-63 ps, and a rate is a whole number of them each picosecond
 * (exact.h). So nothing is rounded, and what an activity has done is the sum of rate x time,
 * whichever clocks it was on, and with whom: a folded run, where others share its clock, ends it at
 * the same picosecond.
 *
 * Example: at rate 1/2 from 0 on, b joins at 10 ps (the clock shows 5) with 20 ps of work: it ends
 * when the clock shows 25, at 50 ps, or earlier if the rate rises.
 */
#ifndef OVL_SIM_STATE_H
#define OVL_SIM_STATE_H

#include "sim/course.h"
#include "sim/delays.h"
#include "sim/engine.h"
#include "sim/fold.h"
#include "sim/share.h"

#define OVL_BOUND_FREE  (UINT32_MAX - 2) /* at isolated speed; differs from all OVL_LIMIT_... */
#define OVL_LIMITS_KEPT 3

/* What is said of an operation once it has arrived: OVL_ARRIVED, and the index + 1 of the activity
 * it is in, if any (collectives: of every member; eager transfers: of the sender, and of the
 * receiver once it is in it). A send or receive that waits for its partner says OVL_MEETING and its
 * rank instead; the sender of an eager transfer that is over, OVL_OVER; a batch how many of its
 * parts have not ended. */
#define OVL_ARRIVED_BIT (UINT32_C(1) << 31)
#define OVL_MEETING     (UINT32_C(1) << 30)
#define OVL_OVER        (OVL_MEETING - 1)
#define OVL_SAID(word)  ((word) & (OVL_MEETING - 1))

typedef enum ovl_phase { OVL_PHASE_LATENCY, OVL_PHASE_FLUID } ovl_phase;

/* Isolated work in units of 2^-63 ps. */
typedef ovl_uwide ovl_work;
#define OVL_WORK_SHIFT 63
#define OVL_NO_DUE     (~(ovl_work)0)

typedef struct ovl_member {
    uint32_t rank, op;
} ovl_member;

/* What its clock and its events look at comes first. */
typedef struct ovl_activity {
    _Alignas(OVL_CACHE_LINE) ovl_work begin; /* what its clock showed when nothing was done, less
                       ovl_work_allowance; on no clock: minus both what it has done and that */
    ovl_time total;
    ovl_time bound_since; /* what bounds it now does; by then it had done bound_done */
    uint32_t clock;       /* in its fluid phase; OVL_NONE while rates are solved */
    uint32_t slot;        /* its class, or a slot of its own; OVL_NONE: it needs none */
    union {
        struct {
            uint32_t rank;       /* of `op` */
            uint32_t op;         /* kernel, copy, sender; a collective's member at place 0 */
            uint32_t peer, mate; /* sends: the receiver's rank, and the receive */
        };
        ovl_member both[2]; /* sends: the same */
    };
    uint8_t kind;  /* ovl_op_kind of op */
    uint8_t phase; /* ovl_phase */
    bool shares;   /* is of a class of the sharing solver */
    bool joining;  /* in `joining` */
    bool dirty;    /* in dirty_comms */
    bool eager;
    bool queued;     /* an eager transfer that waits for the one before it on its wire */
    bool background; /* an eager transfer that is queued, or whose receiver has not arrived:
                        nobody is in it */
    ovl_time bound_done;
    const ovl_cost *cost; /* of the phase it is in */
    const ovl_comm *comm; /* collectives */
    double cap;
    uint32_t count;      /* of how many like it, where ranks are folded */
    uint32_t cap_bound;  /* why the cap is below 1: OVL_LIMIT_... */
    uint8_t n_kept;      /* of it, in `bounds` */
    uint8_t passed;      /* phases of its cost that are over */
    bool goes_on;        /* another phase follows the one it is in */
    ovl_id cost_kind;    /* of `cost`, for that is far away by the time the latency is over */
    uint32_t next, prev; /* in its class */
    uint32_t k;          /* collectives: which of the communicator's; eager transfers: the activity
                            that waits for this one, or OVL_NONE */
} ovl_activity;

/* What is rarely needed of an activity: what bounded it before what does now, from the first on. */
typedef struct ovl_bounds {
    ovl_limit kept[OVL_LIMITS_KEPT];
    ovl_time since; /* it joined its clock; where segments are kept */
} ovl_bounds;

/* An activity on a clock, and what the clock shows when it ends. */
typedef struct ovl_due {
    ovl_work due;
    uint32_t activity, op;
} ovl_due;

/* What a change of the rate looks at comes first. */
typedef struct ovl_clock {
    _Alignas(OVL_CACHE_LINE) ovl_work value; /* it showed `value` at `since` */
    uint64_t rate;                           /* and goes on by this each picosecond */
    ovl_time since;
    ovl_work
        first_due; /* what it shows when the first of `dues` ends; OVL_NO_DUE: nobody is on it */
    /* The event queue holds it under this key, perhaps earlier than its end: an end that moves back
     * is looked at again when the old time comes. */
    ovl_time key_time;
    uint32_t key_op;
    bool queued;
    bool late;     /* `end` and `next` are not known, but that they are after key_time */
    bool touched;  /* in touched_clocks */
    bool watched;  /* there are `watchers` */
    ovl_time end;  /* when the next activity ends */
    uint32_t next; /* which of `dues` that is */
    uint32_t first;
    OVL_VEC(ovl_due) dues;      /* from `first` on, in order */
    OVL_VEC(uint32_t) watchers; /* ranks on which its rate decides who gets the time */
    uint32_t bound;             /* of all on it: a resource, OVL_BOUND_CAP, or OVL_BOUND_FREE */
} ovl_clock;

/* The activities of a class, and the clock they run on. */
typedef struct ovl_crew {
    uint32_t first; /* activity, OVL_NONE: none */
    uint32_t clock;
    uint32_t follows; /* the resource of its clock; OVL_NONE: it has its own */
} ovl_crew;

/* The clock of all classes that follow a resource with one weight and one cap. */
typedef struct ovl_pace {
    double weight, cap;
    uint32_t clock, classes;
    uint32_t next; /* of the same resource */
} ovl_pace;

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
    uint32_t main;   /* the activity whose progress goes to the term, the rest of the time to its
                        stretch; OVL_NONE: all goes to the term */
    uint32_t beside; /* the communication that a kernel hides, if it is in transfer; or OVL_NONE */
    uint8_t term;    /* ovl_term; OVL_TERM_COUNT: nobody's, until all that happens has */
    bool hides;      /* a kernel runs beside communication in latency or transfer */
} ovl_choice;

/* Why the time of a rank may be another's: rates changed, or what runs there did. Where nobody asks
 * whose it was all ranks are touched from the beginning, and so none is ever put on the list. */
typedef enum ovl_touched { OVL_UNTOUCHED, OVL_RATES, OVL_RUNNING } ovl_touched;

/* The copy that arrived first comes first. */
typedef struct ovl_waiting_copy {
    ovl_time arrive;
    uint32_t op;
} ovl_waiting_copy;

/* What runs on a rank now; what most events look at comes first, a cache line each. */
typedef struct ovl_rank_state {
    _Alignas(OVL_CACHE_LINE) OVL_VEC(uint32_t) kernels; /* activities; begins in few_kernels */
    OVL_VEC(ovl_running) comms; /* in latency or transfer, in order of op; begins in few_comms */
    uint32_t latent;            /* communication in its latency */
    uint32_t first_op, variant; /* of ovl_rank, */
    ovl_id code;                /* as is this */
    ovl_choice is;              /* who gets the time (account.c) */
    uint8_t touched;            /* ovl_touched: it may be another now */
    bool caps_dirty, copies_dirty;
    ovl_time ended; /* when an operation ended last */
    uint32_t gap;   /* places that are free before `comms` begins (comm.c) */
    uint32_t alike; /* transfers at the front of `comms` that are on one clock (account.c) */
    ovl_running few_comms[14];
    OVL_VEC(ovl_rival) rivals; /* among which the fastest is chosen */
    uint32_t waiting;          /* collectives that wait for a member */
    uint32_t few_kernels[3];
    uint32_t copying[2]; /* copies that run, by direction */
    OVL_VEC(uint32_t)
    holders;                             /* ops of communication that arrived and has not ended,
                                            where their factors matter */
    uint64_t held;                       /* SMs they hold */
    OVL_VEC(ovl_waiting_copy) copies[2]; /* who wait for an engine of a direction */
    ovl_time step_ends[2];               /* the last, and the last but one */
    /* The host thread. */
    uint32_t cursor;  /* local index of the operation it issues next */
    uint32_t put_off; /* local index + 1 of a host call whose moment has not come; 0: none */
    bool issuing;     /* in the launch of `cursor` */
    bool awaits;      /* that moment, with nothing left to issue */
    bool makes_up;    /* for it: it is in that call */
} ovl_rank_state;

/* An operation whose last condition came true. */
typedef struct ovl_todo {
    uint32_t rank, op;
} ovl_todo;

/* Between which ranks, or in which communicator, something of one kind is demanded; and the class
 * of those who do. */
typedef struct ovl_route {
    uint32_t rank, other, count;
    ovl_id kind; /* ovl_cost_kind */
    uint32_t slot, born;
} ovl_route;

typedef struct ovl_engine {
    const ovl_program *p;
    const ovl_run_options *options;
    ovl_arena *arena;
    ovl_errs *errs;
    const ovl_course **courses; /* by code */
    ovl_time now;
    bool failed;
    /* Times, by op; -1 while they have not happened. NULL, as is the trail, if only the step is
     * kept. */
    ovl_time *issue, *arrive, *start, *end, *landed;
    uint32_t *pending; /* by op: how much it still waits for; once it arrived: OVL_ARRIVED_BIT */
    uint32_t *arrived; /* by collective instance: members that have */
    uint32_t n_ended;
    ovl_rank_state *ranks;
    ovl_rank_times *times;   /* their `end` stands in ranks[].ended until they are told */
    bool counting;           /* the interval to count has begun */
    ovl_rank_times *counted; /* what was counted in it; NULL until it ended */
    ovl_cost free_cost;      /* of operations of the freed name */
    OVL_VEC(ovl_activity) activities;
    OVL_VEC(ovl_bounds) bounds; /* by activity */
    OVL_VEC(uint32_t) spare;
    OVL_VEC(ovl_todo) todo; /* ops whose last condition came true, first in first out */
    uint32_t todo_done;
    OVL_VEC(uint32_t) dirty_caps;     /* ranks */
    OVL_VEC(uint32_t) dirty_copies;   /* ranks */
    OVL_VEC(uint32_t) touched;        /* ranks whose time may be another's from now on */
    OVL_VEC(uint32_t) joining;        /* activities to be put on a clock */
    OVL_VEC(uint32_t) touched_clocks; /* clocks whose next end may be another */
    OVL_VEC(uint32_t)
    dirty_comms;           /* activities: collectives whose measured cap or uses may change */
    OVL_VEC(ovl_use) uses; /* scratch */
    uint32_t *trail;       /* room for all steps there can be */
    uint32_t n_trail;
    OVL_VEC(ovl_limit) limits;
    OVL_VEC(ovl_segment) segments;
    OVL_VEC(ovl_phase_end) phase_ends;
    uint32_t *use_at;  /* by resource: where it stands in `uses`, if it is there */
    bool *unmeasured;  /* [kernel class * collective class] */
    ovl_route *routes; /* by hash; the last one of each place */
    uint32_t route_mask;
    ovl_share share;
    OVL_VEC(ovl_clock) clocks; /* by solver slot */
    OVL_VEC(ovl_crew) crews;   /* likewise: of classes */
    OVL_VEC(ovl_pace) paces;
    OVL_VEC(uint32_t) spare_paces;
    uint32_t *first_pace;                      /* by resource; OVL_NONE: nobody follows it */
    ovl_heap heap;                             /* handles: OVL_HANDLE_... */
    ovl_delays delays;                         /* likewise */
    bool caps_matter;                          /* what runs beside an activity may cap it */
    uint32_t next_change;                      /* of the program's capacities */
    uint64_t n_events, n_delays, n_activities; /* counters */
    struct ovl_recur *recur;                   /* recur.h; NULL: nothing is skipped */
    uint32_t anchor;    /* when this op has arrived it is looked whether the state recurs */
    uint32_t n_skipped; /* operations */
} ovl_engine;

/* Event kinds, in the order in which they happen at one instant. */
enum { OVL_EVENT_END, OVL_EVENT_HOST };
#define OVL_TIE(kind, id) (((uint64_t)(kind) << 32) | (id))

/* The first clock is time itself. */
#define OVL_CLOCK_TIME 0

/* Who has events: host threads (rank r is r), activities in their latency or on the clock that is
 * time, clocks. */
#define OVL_HANDLE_ACTIVITY(e, a) ((e)->p->n_ranks + 2 * (a))
#define OVL_HANDLE_CLOCK(e, c)    ((e)->p->n_ranks + 2 * (c) + 1)

/* --- engine.c --- */

static inline const ovl_op *ovl_engine_op(const ovl_engine *e, uint32_t rank, uint32_t op)
{
    const ovl_rank_state *s = &e->ranks[rank];
    return ovl_code_op(&e->p->codes[s->code], op - s->first_op);
}

/* The cost of an operation, free_cost if its name is freed. */
static inline const ovl_cost *ovl_engine_cost(const ovl_engine *e, uint32_t rank, uint32_t op,
                                              const ovl_op *o)
{
    const ovl_rank_state *s = &e->ranks[rank];
    const bool *freed = e->options->free_names;
    return freed && freed[e->p->codes[s->code].name[op - s->first_op]]
               ? &e->free_cost
               : &e->p->costs[o->cost + (o->per_rank ? s->variant : 0)];
}

static inline const ovl_cost_kind *ovl_engine_kind(const ovl_engine *e, uint32_t rank, uint32_t op)
{
    return ovl_kind_of(e->p, ovl_engine_cost(e, rank, op, ovl_engine_op(e, rank, op)));
}

static inline const ovl_cost_kind *ovl_activity_kind(const ovl_engine *e, const ovl_activity *a)
{
    return &e->p->cost_kinds[a->cost_kind];
}

/* The next step of the trail. */
static inline void ovl_engine_step(ovl_engine *e, uint32_t op, ovl_step_kind kind)
{
    if (e->trail) {
        e->trail[e->n_trail++] = OVL_TRAIL(op, kind);
    }
}

/* Something happens to an operation now; which of its times that is. */
static inline void ovl_engine_note(ovl_time *times, uint32_t op, ovl_time now)
{
    if (times) {
        times[op] = now;
    }
}

static inline bool ovl_engine_arrived(const ovl_engine *e, uint32_t op)
{
    return e->pending[op] & OVL_ARRIVED_BIT;
}

/* One of the things an operation waits for came true. */
static inline void ovl_engine_release(ovl_engine *e, uint32_t rank, uint32_t op)
{
    uint32_t left = --e->pending[op];
    assert(!(left & OVL_ARRIVED_BIT)); /* it waited for something, and has not arrived */
    if (left == 0) {
        ovl_vec_push(&e->todo, (ovl_todo){.rank = rank, .op = op});
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

/* An activity of `op` ends at this time; it may be taken out of the queue again. */
void ovl_engine_at(ovl_engine *e, uint32_t handle, ovl_time time, uint32_t op);

/* Runs until nothing more can happen. */
void ovl_engine_loop(ovl_engine *e);

/* --- activity.c --- */

/* A new activity; gives its index. Nothing is accounted or scheduled yet. */
uint32_t ovl_engine_add_activity(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_op *o,
                                 const ovl_cost *cost);

/* Starts it: latency, fluid phase, or nothing at all if it takes no time (then it ends at once). */
void ovl_engine_begin(ovl_engine *e, uint32_t activity);

/* The event of a clock: the activity that ends, if one does, ends. */
void ovl_clock_due(ovl_engine *e, uint32_t clock);

/* The event of an activity: its latency is over, or it ends. */
void ovl_activity_event(ovl_engine *e, uint32_t activity);

/* Joins the solver, or runs at its cap if it loads nothing. */
void ovl_engine_join(ovl_engine *e, uint32_t activity);

/* The same for one that runs already and whose uses changed to those in e->uses. */
void ovl_engine_rejoin(ovl_engine *e, uint32_t activity);

/* The cap changed (caps.c). */
void ovl_engine_set_cap(ovl_engine *e, uint32_t activity, double cap, uint32_t bound);

/* Brings all caps and rates up to date and gives the time that comes to somebody on each rank. */
void ovl_engine_solve(ovl_engine *e);

/* --- clock.c --- */

/* The clock that is time. */
void ovl_clocks_init(ovl_engine *e);

/* There is a clock of this slot. */
void ovl_clock_make(ovl_engine *e, uint32_t slot);
static inline void ovl_clock_reserve(ovl_engine *e, uint32_t slot)
{
    if (e->clocks.len <= slot) {
        ovl_clock_make(e, slot);
    }
}

/* An activity is measured by a clock from now on, by one with a queue or by that which is time;
 * what it did before counts. */
void ovl_clock_add(ovl_engine *e, uint32_t clock, uint32_t activity);
void ovl_clock_add_to_time(ovl_engine *e, uint32_t activity);

/* It no longer is. */
void ovl_clock_remove(ovl_engine *e, uint32_t activity);

/* It has ended, which its clock or the event queue knows; what bounded it goes to the timeline. */
void ovl_clock_end(ovl_engine *e, uint32_t activity);

/* The rate from now on; what bounds it. */
void ovl_clock_set_rate(ovl_engine *e, uint32_t clock, double rate);
void ovl_clock_set_bound(ovl_engine *e, uint32_t clock, uint32_t bound);

/* Keeps what bounded an activity so far apart from what comes. */
void ovl_clock_settle(ovl_engine *e, ovl_activity *a);

/* All that happens at this instant has: the next ends. */
void ovl_clocks_update(ovl_engine *e);

/* The activity whose end is the clock's event now; OVL_NONE if the event came too early (the clock
 * is queued anew). */
uint32_t ovl_clock_event(ovl_engine *e, uint32_t clock);

static inline ovl_work ovl_clock_value(const ovl_clock *c, ovl_time t)
{
    return c->value + (ovl_work)c->rate * (uint64_t)(t - c->since);
}

/* Rates are rounded, 1/3 to a little less than a third: so much of the work need not be done. Far
 * below what anybody could mean. */
static inline ovl_work ovl_work_allowance(ovl_time total)
{
    uint64_t quarter = (uint64_t)1 << 42; /* of which 2^-44 is a quarter of a picosecond */
    return OVL_MIN((uint64_t)total, quarter) << (OVL_WORK_SHIFT - 44);
}

/* Of isolated work, what an activity has done when its clock shows `value`, 0 if it has none; in
 * whole picoseconds, rounded down as the end is rounded up: from any whole picosecond on, an
 * activity that nothing slows takes just what is left of it. */
static inline ovl_time ovl_work_done(const ovl_activity *a, ovl_work value)
{
    ovl_time whole = (ovl_time)((value - a->begin) >> OVL_WORK_SHIFT);
    return OVL_MIN(whole, a->total);
}

static inline ovl_time ovl_clock_progress(const ovl_engine *e, const ovl_activity *a, ovl_time t)
{
    return ovl_work_done(a, ovl_clock_value(&e->clocks.data[a->clock], t));
}

/* --- follow.c --- */

/* An activity is one of its class, a->slot, from now on. */
void ovl_crew_enlist(ovl_engine *e, uint32_t activity);
/* No longer. */
void ovl_crew_delist(ovl_engine *e, uint32_t activity);
/* What was solved comes into force: who runs on which clock, and how fast those are. */
void ovl_crews_follow(ovl_engine *e);

/* --- comm.c
 * ------------------------------------------------------------------------------------------------
 */

void ovl_comms_begin(ovl_rank_state *s);
void ovl_comms_free(ovl_rank_state *s);

void ovl_comm_arrive(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_op *o);
/* The transfer of a communication ended: every member that is in it ends. */
void ovl_comm_end(ovl_engine *e, uint32_t activity);
/* Calls visit(e, rank, op, activity) for each member that is in a communication now. */
void ovl_comm_each(ovl_engine *e, uint32_t activity,
                   void (*visit)(ovl_engine *, uint32_t rank, uint32_t op, uint32_t activity));
/* Its latency is over and its transfer begins, on each member that is in it. */
void ovl_comm_transfer(ovl_engine *e, uint32_t activity);
/* Its transfer is over, but not all of it: the latency of its next phase begins, on each member. */
void ovl_comm_pause(ovl_engine *e, uint32_t activity);

/* --- route.c --- */

void ovl_routes_init(ovl_engine *e, ovl_arena *scratch);
/* Collects what an activity demands into e->uses. */
void ovl_route_uses(ovl_engine *e, uint32_t activity);
/* One that demands something joins its class, or that of e->uses; gives the slot, OVL_NONE if it
 * loads nothing that is shared. */
uint32_t ovl_route_join(ovl_engine *e, uint32_t activity);
uint32_t ovl_route_join_uses(ovl_engine *e, uint32_t activity);

/* --- caps.c
 * ------------------------------------------------------------------------------------------------
 */

/* SMs held, kernels running, or communication in transfer on a rank changed. */
static inline void ovl_caps_touch(ovl_engine *e, uint32_t rank)
{
    if (e->caps_matter && !e->ranks[rank].caps_dirty) {
        e->ranks[rank].caps_dirty = true;
        ovl_vec_push(&e->dirty_caps, rank);
    }
}
/* A communication of this cost has arrived on the rank or ended there. */
void ovl_caps_hold(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_cost_kind *cost);
void ovl_caps_let_go(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_cost_kind *cost);
/* Recomputes the caps of everything touched, before rates are solved. */
void ovl_caps_update(ovl_engine *e);
/* Under `measured`: is a collective's HBM demand replaced by factors on this rank? */
bool ovl_caps_measured(ovl_engine *e, uint32_t rank, const ovl_activity *collective);

/* --- host.c
 * ------------------------------------------------------------------------------------------------
 */

/* The host thread begins. */
void ovl_host_begin(ovl_engine *e, uint32_t rank);
/* It goes on: issues what it can. */
void ovl_host_advance(ovl_engine *e, uint32_t rank);
/* The launch or call it was in is over. */
void ovl_host_event(ovl_engine *e, uint32_t rank);
/* Everything a host call waited for is over. */
void ovl_host_arrive(ovl_engine *e, uint32_t rank, uint32_t op);

/* --- account.c --- */

/* Whose the time of the rank is may change; there is room for all ranks. */
static inline void ovl_account_touch(ovl_engine *e, uint32_t rank, ovl_touched why)
{
    ovl_rank_state *s = &e->ranks[rank];
    if (s->touched == OVL_UNTOUCHED) {
        e->touched.data[e->touched.len++] = rank;
    }
    if (s->touched < why) {
        s->touched = (uint8_t)why;
    }
}

/* What runs on the rank changes at this instant. */
static inline void ovl_account(ovl_engine *e, uint32_t rank)
{
    ovl_account_touch(e, rank, OVL_RUNNING);
}

/* An activity ends on a rank, or a phase of it, and has done all there was of it: that is told
 * before it is forgotten. */
static inline void ovl_account_end(ovl_engine *e, uint32_t rank, uint32_t activity)
{
    ovl_choice *is = &e->ranks[rank].is;
    ovl_account(e, rank);
    if (is->main == activity) {
        ovl_time total = e->activities.data[activity].total, *term = &e->times[rank].term[is->term];
        term[0] += total;
        term[1] += e->now - total;
        is->main = OVL_NONE;
        is->term = OVL_TERM_COUNT;
    } else if (is->beside == activity) {
        e->times[rank].hidden_stretch += e->now - e->activities.data[activity].total;
        is->beside = OVL_NONE;
    }
}

/* All that changed at this instant has: chooses who gets the time from now on. */
void ovl_account_open(ovl_engine *e);

/* The rate of a clock that is watched changes. Who is the fastest and becomes faster stays so, and
 * so does who is not and becomes slower. */
void ovl_account_rate(ovl_engine *e, uint32_t clock, bool faster);

/* An activity changed its clock. */
void ovl_account_activity(ovl_engine *e, uint32_t activity);

/* Gives away all the time until now: the sums are whole, and stay so until it goes on from a now
 * that may be later. */
void ovl_account_settle(ovl_engine *e);
void ovl_account_go_on(ovl_engine *e);
/* The last time of a run. */
void ovl_account_all(ovl_engine *e);

/* Only what happens in options->count_from .. count_to is counted: called before time passes
 * `until`, the next moment at which something happens. */
void ovl_account_interval(ovl_engine *e, ovl_time until);

static inline void ovl_account_until(ovl_engine *e, ovl_time until)
{
    if (e->options->interval) {
        ovl_account_interval(e, until);
    }
}

/* --- recur.c --- */

/* Finds where the longest code repeats itself; tables live in `scratch`. */
void ovl_recur_init(ovl_engine *e, ovl_arena *scratch);
void ovl_recur_free(ovl_engine *e);

/* The anchor has arrived and all that happens at this instant has: skips what can be skipped. */
void ovl_recur_anchor(ovl_engine *e);

/* --- deadlock.c --- */

void ovl_deadlock_report(ovl_engine *e);

#endif
