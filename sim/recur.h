/*
 * recur.h - a run whose live state recurs skips the periods that follow.
 *
 * Layers, microbatches and steps repeat, and once a run has found its rhythm every period is like
 * the one before, so much later. At *anchors*, where a rank begins one more block of those that its
 * code repeats, and where the last one went like one before as far as is seen from afar, the live
 * state is written down relative to now and to the place that each stream has reached: what runs
 * and how much of it is done, who waits for what, where the hosts are, what comes next. If it is
 * what it was at an anchor before, and the operations ahead are those of the period that passed,
 * each so much further in its code, then by induction over events the coming periods pass as that
 * one did: k of them are filled in at once. Times are those of the period and k times its length
 * more, in whole picoseconds; nothing is estimated.
 *
 * The state is compared in full, word by word, and so is what lies ahead: the operations of every
 * rank, whom they meet, what they cost. What breaks the rhythm (a capacity that changes, a call
 * that comes at a moment, durations of their own, the end of the pipeline) ends the skip before it.
 *
 * Example: a kernel of 3 us and an all-reduce of 2 us beside the next kernel, 1,000 times. The
 * state after the third kernel begins is that after the second begins, 3 us earlier, 2 operations
 * further: 995 periods or so are skipped, and the last ones are simulated.
 *
 *     recur.c         when it is tried            recur_state.c   the state, written down
 *     recur_ahead.c   how often it may be done    recur_skip.c    the state, so much later
 *     recur_fill.c    what happens in between     course.c        where a code repeats itself
 */
#ifndef OVL_SIM_RECUR_H
#define OVL_SIM_RECUR_H

#include "sim/state.h"

/* The state at one instant, when all that happens then has. */
typedef struct ovl_moment {
    ovl_time now;
    OVL_VEC(uint64_t) words; /* relative to now, and to `front` */
    uint32_t *front;       /* of each rank, for each lane (below): the first operation that has not
                              arrived, n_ops if all have; of the host the one it issues next */
    ovl_rank_times *times; /* [n_ranks] all time until now given away */
    uint32_t n_trail, n_limits, n_segments, n_phase_ends, n_ended;
    bool taken;
} ovl_moment;

/* What a block looked like from afar, and behind which anchor. */
typedef struct ovl_glimpse {
    uint64_t hash;
    uint32_t anchor; /* counted from 1; 0: none */
} ovl_glimpse;

#define OVL_GLIMPSES       512 /* remembered, by their hash */
#define OVL_GLIMPSE_PLACES 4   /* where one may stand; the oldest there gives way */

/* Runs of one period in the code of the rank that is watched, and the state at one of their
 * anchors. */
typedef struct ovl_rhythm {
    const ovl_repeat *runs;
    uint32_t n_runs, run;
    uint32_t next;    /* local operation: the next anchor; OVL_NONE: no more */
    uint32_t anchors; /* that passed, in all runs */
    uint32_t known;   /* blocks of this era whose pulse was felt */
    uint64_t pulse;   /* of the last one */
    ovl_time last;    /* when the last anchor passed, and how much had ended by then: */
    uint32_t ended;
    uint32_t era;   /* what was seen in another says nothing of this one */
    uint32_t pause; /* after each look in vain twice as long: before the anchor `rests` ... */
    uint32_t rests,
        longest;    /* ... nothing is looked at that would come again in so many blocks, or fewer */
    uint32_t again; /* the anchor at which the state that is kept should come again */
    ovl_moment kept;
    uint32_t kept_at; /* the anchor */
    ovl_glimpse *glimpses;
} ovl_rhythm;

/* What is known of a code where its course says nothing: from `from` on operations are like those
 * `shift` behind them, up to `end`. */
typedef struct ovl_recur_code {
    uint32_t from, end, shift;
} ovl_recur_code;

/* The same of a rank, with whom its operations meet; as long as all ranks move as they did. */
typedef struct ovl_recur_rank {
    uint32_t from, end;
} ovl_recur_rank;

/* Lanes of a rank that went on by as many operations, in one part of its code. Mostly all do; where
 * some are elsewhere, or go on by more, they must not wait for the others. */
typedef struct ovl_stride {
    const ovl_repeat *run; /* that part; NULL: the code does not repeat itself there */
    uint32_t rank, by;
    uint32_t low, high; /* of those lanes all operations below `low` have ended; at least the first
                           ahead of each, and the next of the host, lies below `high` */
    bool alone;         /* all lanes of the rank that moved */
} ovl_stride;

/* How far everything moved from one moment to another, and how often it may move as far again. */
typedef struct ovl_shift {
    const ovl_moment *before, *after;
    ovl_time period;
    uint64_t times;              /* k */
    OVL_VEC(ovl_stride) strides; /* of rank 0, 1, ... */
    uint32_t *first_stride;      /* [n_ranks + 1] into strides */
    uint32_t *stride;            /* by entry of front; OVL_NONE: nothing happened there */
    uint32_t *collectives;       /* [n_comms] */
} ovl_shift;

typedef struct ovl_recur {
    uint32_t rank; /* that is watched */
    OVL_VEC(ovl_rhythm) rhythms;
    ovl_recur_code *codes;
    ovl_recur_rank *ranks;
    uint32_t *first_front; /* [n_ranks + 1] into front */
    ovl_moment now;
    ovl_shift shift;
    uint32_t *last_by;              /* by entry of front: how far it moved when ranks[] was found */
    uint32_t *stamps;               /* [slots of a code at most] scratch */
    uint32_t *met;                  /* [n_comms] scratch: members seen */
    OVL_VEC(ovl_running) live;      /* activities in order of op */
    OVL_VEC(uint32_t) number;       /* by activity: its place there */
    OVL_VEC(uint32_t) clock_number; /* by clock, in order of who runs on them */
    uint32_t n_clocks;
    OVL_VEC(ovl_time) moments; /* scratch: by activity, when its event comes; -1: it has none */
    OVL_VEC(ovl_time) host_moments;
    OVL_VEC(uint32_t) scratch;
    OVL_VEC(uint8_t) flags;
    OVL_VEC(uint32_t) more; /* recur_fill.c */
} ovl_recur;

/* --- recur_state.c --- */

/* Writes down the state. */
void ovl_moment_take(ovl_engine *e, ovl_recur *r);
bool ovl_moment_equal(const ovl_moment *a, const ovl_moment *b);

/* Has an operation that arrived not ended yet? The state was just taken. */
bool ovl_recur_in_flight(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t local);

/* The last operation of a lane (not the host) that arrived, or OVL_NONE; the same if it has not
 * ended. The state was just taken. */
uint32_t ovl_recur_last(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t lane);
uint32_t ovl_recur_flying(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t lane);

/* The activity of an operation, by the list of those that are live; OVL_NONE. */
uint32_t ovl_recur_activity(const ovl_recur *r, uint32_t op);

/* --- recur_ahead.c --- */

/* Equal states: how often what lies between them may be repeated; false if not once. */
bool ovl_recur_ahead(ovl_engine *e, ovl_recur *r, const ovl_moment *before);

/* Did the stream, or the host, of an operation go on? */
static inline bool ovl_recur_moves(const ovl_recur *r, uint32_t rank, uint32_t lane)
{
    uint32_t at = r->first_front[rank] + lane;
    return r->shift.before->front[at] != r->shift.after->front[at];
}

static inline bool ovl_recur_op_moves(const ovl_engine *e, const ovl_recur *r, uint32_t rank,
                                      uint32_t local)
{
    return ovl_recur_moves(r, rank, ovl_lane(&e->p->codes[e->p->ranks[rank].code], local));
}

/* With whom it did; NULL: it did not. */
static inline const ovl_stride *ovl_recur_stride(const ovl_recur *r, uint32_t rank, uint32_t lane)
{
    uint32_t stride = r->shift.stride[r->first_front[rank] + lane];
    return stride == OVL_NONE ? NULL : &r->shift.strides.data[stride];
}

static inline const ovl_stride *ovl_recur_op_stride(const ovl_engine *e, const ovl_recur *r,
                                                    uint32_t rank, uint32_t local)
{
    return ovl_recur_stride(r, rank, ovl_lane(&e->p->codes[e->p->ranks[rank].code], local));
}

/* By how many operations; 0: it did not. */
static inline uint32_t ovl_recur_op_by(const ovl_engine *e, const ovl_recur *r, uint32_t rank,
                                       uint32_t local)
{
    const ovl_stride *s = ovl_recur_op_stride(e, r, rank, local);
    return s ? s->by : 0;
}

/* --- recur_skip.c --- */

/* The state goes k periods on. */
void ovl_recur_skip(ovl_engine *e, ovl_recur *r);

/* --- recur_fill.c --- */

/* What happens in the k periods: times, what waits for it, the trail, limits, sums of ranks. */
void ovl_recur_fill(ovl_engine *e, ovl_recur *r);

#endif
