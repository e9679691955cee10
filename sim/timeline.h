/*
 * timeline.h - what happened in one run: when each operation was issued, arrived, started and
 * ended.
 *
 * For every operation, issue <= arrive <= start <= end:
 *
 *     issue    the host handed it to its stream
 *     arrive   everything it waits for on its own rank is over; from here it holds its SMs
 *     start    collectives, sends, receives: the last member has arrived; copies: an engine is
 * free; else = arrive end      done; for a collective the same instant on all members
 *
 * Example (engine.h has the rules): an all-reduce whose input is ready at 5 ms on rank 0 and 7 ms
 * on rank 1, 20 ms long, has arrive 5/7, start 7/7, end 27/27; rank 0 waits 2 ms for a late rank.
 *
 * With one step the step is the whole run, from 0 to the last end. With several (steps.h) it is the
 * interval between the last two step ends on the deciding rank, which begins at `begin`.
 *
 * Per rank the wall time of the step is cut into the terms of the decomposition, each instant given
 * to the first that applies (design, decomposition); their sum is the step exactly. With several
 * steps ovl_run counts the whole run instead, unless options say which interval to count.
 *
 * An eager send is over for its stream when it arrives; `landed` says when its bytes are there.
 *
 * `trail` is the order in which things happened, a linear extension of cause and effect that
 * analyses walk forward or back.
 */
#ifndef OVL_SIM_TIMELINE_H
#define OVL_SIM_TIMELINE_H

#include "sim/program.h"

typedef enum ovl_term {
    OVL_COMPUTE,         /* a kernel runs: its progress at isolated speed */
    OVL_COMPUTE_STRETCH, /* ... and the rest of that time */
    OVL_COMM_LATENCY,    /* no kernel; communication in its latency */
    OVL_COMM_TRANSFER,   /* ... in transfer: progress */
    OVL_COMM_STRETCH,    /* ... and the rest */
    OVL_COPYING,         /* none of these; a copy runs */
    OVL_WAIT_LATE_RANK,  /* none of these; a collective waits for a member */
    OVL_IDLE,            /* nothing, or waiting inside a send or receive */
    OVL_TERM_COUNT,
} ovl_term;

/* "compute", "compute_stretch", ...: the keys of the JSON. */
const char *ovl_term_name(ovl_term term);

/* What most of a rank's time goes to lies on one line of the cache. */
typedef struct ovl_rank_times {
    _Alignas(OVL_CACHE_LINE) ovl_time end; /* when its last operation ended */
    ovl_time hidden; /* communication in latency or transfer while a kernel runs: wall time */
    ovl_time hidden_stretch; /* the part of `hidden` in which that communication made no progress:
                                none while any is in latency, else of the transfer with the lowest
                                op */
    ovl_time term[OVL_TERM_COUNT]; /* sums to the step */
} ovl_rank_times;

/* What happened, in causal order. */
typedef enum ovl_step_kind {
    OVL_ISSUED,
    OVL_ARRIVED,
    OVL_ENDED,
    OVL_LANDED, /* an eager send: its bytes are there */
} ovl_step_kind;
#define OVL_TRAIL(op, kind)  (((uint32_t)(op) << 2) | (uint32_t)(kind))
#define OVL_TRAIL_OP(item)   ((uint32_t)(item) >> 2)
#define OVL_TRAIL_KIND(item) ((ovl_step_kind)((item)&3))

/* How long an operation ran below isolated speed, and because of what. One entry per (op, bound). A
 * collective and a send have theirs on one member: the first place, or the sender. Where two
 * resources hold it back at one level, to the bit, one of them is told, and a folded run may tell
 * the other; times do not depend on it. */
#define OVL_LIMIT_SMS      UINT32_MAX       /* SMs held by others */
#define OVL_LIMIT_MEASURED (UINT32_MAX - 1) /* a measured interference factor */
typedef struct ovl_limit {
    uint32_t op;
    uint32_t bound; /* a resource, or OVL_LIMIT_... */
    ovl_time time;
    ovl_time lost; /* time - progress made during it */
} ovl_limit;

/* Rates over time, kept on request: activity `op` ran at `rate` from `from` to `to`. */
typedef struct ovl_segment {
    uint32_t op;
    ovl_time from, to;
    double rate;
} ovl_segment;

/* A phase of a collective whose cost has several (program.h) was over, and the next one began. Kept
 * for all but the last, which ends with the operation, on the member that has its limits: the i-th
 * of an operation is the end of its phase number i. */
typedef struct ovl_phase_end {
    uint32_t op;
    ovl_time time;
} ovl_phase_end;

/* A kernel class and a collective class that met without a measured factor (model `measured`). */
typedef struct ovl_unmeasured {
    ovl_id kernel, collective; /* class indices of the program */
} ovl_unmeasured;

/* What a run cost. */
typedef struct ovl_counters {
    uint64_t events;
    uint64_t solves;     /* how often rates were shared out on one or more coupled resources */
    uint64_t solved;     /* classes of like activities in them (share.h) */
    uint64_t heap_puts;  /* times that an event was put into the queue, or got another time */
    uint64_t heap_moves; /* nodes of it written */
    uint64_t delays;     /* events that needed no queue, for they came a fixed time later */
    uint64_t activities; /* how many there were; and at one time at most */
    uint64_t activities_at_once;
    uint64_t skipped; /* operations whose times are those of another period (recur.h) */
    uint64_t bytes;   /* memory at its end: its own state and the timeline */
} ovl_counters;

typedef struct ovl_timeline {
    const ovl_time *issue, *arrive, *start, *end; /* [n_ops]; NULL if only the step was kept */
    const ovl_time *landed; /* [n_ops] of eager sends; NULL: there are none, or as above */
    const uint32_t *trail;  /* [n_trail] */
    uint32_t n_trail;
    const ovl_rank_times *ranks; /* [n_ranks] */
    ovl_time begin, step;        /* when the step began, and its length */
    ovl_time finish;             /* last end over all ranks; of one step begin + step */
    uint32_t deciding_rank;  /* whose last operation, or last step, ends last; lowest of those */
    const ovl_limit *limits; /* ordered by op, then bound */
    uint32_t n_limits;
    const ovl_segment *segments; /* by op, then time; NULL unless asked for */
    uint32_t n_segments;
    const ovl_phase_end *phase_ends; /* by op, then time */
    uint32_t n_phase_ends;
    const ovl_unmeasured *unmeasured;
    uint32_t n_unmeasured;
    ovl_counters counters;
} ovl_timeline;

/* By operation, then time, for qsort. */
int ovl_phase_end_order(const void *x, const void *y);

/* Phases of an operation that carries its limits, the first one first. */
typedef struct ovl_phase_walk {
    const ovl_cost *phase; /* NULL: there are no more */
    ovl_time from, to;     /* its latency, then its transfer */
    uint32_t next;         /* phase end */
} ovl_phase_walk;

/* Goes through the phases of an operation from `start` to `end`, with this cost:
 *
 *     for (ovl_phase_walk w = ovl_phases_begin(t, op, cost, start, end); w.phase;
 *          ovl_phases_next(p, t, end, &w)) { ... }
 *
 * One without phases is one from `start` to `end`. */
ovl_phase_walk ovl_phases_begin(const ovl_timeline *t, uint32_t op, const ovl_cost *cost,
                                ovl_time start, ovl_time end);
void ovl_phases_next(const ovl_program *p, const ovl_timeline *t, ovl_time end, ovl_phase_walk *w);

/* Goes on to the phase that lasts at a moment, or begins then; the last one at most. */
void ovl_phases_reach(const ovl_program *p, const ovl_timeline *t, ovl_time end, ovl_time at,
                      ovl_phase_walk *w);

/* The first segment of an operation, or where it would be: n_segments at most. */
static inline uint32_t ovl_first_segment(const ovl_timeline *t, uint32_t op)
{
    uint32_t low = 0, high = t->n_segments;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->segments[middle].op < op) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

#endif
