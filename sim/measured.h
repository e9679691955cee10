/*
 * measured.h - a run of a replayed trace beside what was measured: the step, each rank, each name
 * of operations, and how much of the time nothing explains.
 *
 *     step 10.02 ms predicted, 10.00 ms measured: +0.2 %; 0.12 ms (1.2 %) unexplained
 *
 * A replay of which more than 1/20 is unexplained on some rank is not predictive, nor is one whose
 * step is more than 1/20 off. A what-if was not measured: it is as predictive as the replay without
 * it, which is run for that. Operations that were not measured (what the replay itself added) have
 * OVL_NEVER.
 */
#ifndef OVL_SIM_MEASURED_H
#define OVL_SIM_MEASURED_H

#include "sim/timeline.h"

#define OVL_UNEXPLAINED_PART 20 /* more than 1 in so many: not predictive */

typedef struct ovl_measured_rank {
    ovl_time begin, end;  /* of its step */
    ovl_time unexplained; /* of that */
    int64_t job_rank;     /* in the job that was measured; -1: the trace does not say */
} ovl_measured_rank;

typedef struct ovl_measured {
    const char *what; /* "ProfilerStep#3" */
    ovl_time step;
    bool changed; /* by a what-if: predicted and measured are not of the same thing */
    const ovl_program *unchanged;   /* without the what-if; NULL: there is none */
    const ovl_time *start, *end;    /* [n_ops] */
    const ovl_measured_rank *ranks; /* [n_ranks] */
    const char *const *inferred;    /* sentences */
    uint32_t n_inferred;
} ovl_measured;

/* One rank. Errors are predicted minus measured starts. */
typedef struct ovl_against_rank {
    uint32_t rank;                /* of the program: from 0 on, in the order of the job's */
    int64_t job_rank;             /* -1: the trace does not say */
    ovl_time measured, predicted; /* when its last work ended */
    ovl_time unexplained;
    uint32_t n_ops;
    ovl_time mean_error; /* of starts, regardless of sign */
    ovl_time worst_error;
    const char *worst; /* the operation of the worst; NULL without any */
} ovl_against_rank;

/* All operations of one name on all ranks: how long they took together. Communication from its
 * arrival, since a kernel that waits for others is there. */
typedef struct ovl_against_op {
    const char *name;
    uint32_t count;
    ovl_time measured, predicted;
    ovl_time mean_error, worst_error; /* of starts */
} ovl_against_op;

typedef struct ovl_against {
    const char *what;
    bool changed, predictive;
    bool far; /* without what-ifs the step is more than 1/20 off: not predictive */
    ovl_time measured, predicted;
    ovl_time unchanged;   /* predicted without what-ifs */
    ovl_time unexplained; /* of the rank that has the largest part ... */
    ovl_time out_of;      /* ... of so much */
    uint32_t unexplained_rank;
    const ovl_against_rank *ranks;
    uint32_t n_ranks;
    const ovl_against_op *ops; /* by measured time, most first, then name */
    uint32_t n_ops;
    const char *const *inferred;
    uint32_t n_inferred;
} ovl_against;

/* Compares; everything lives in `arena`, texts are copied. `unchanged` is the step that is
 * predicted without what-ifs, that of the timeline if there are none. */
const ovl_against *ovl_measured_compare(const ovl_program *p, const ovl_timeline *t,
                                        const ovl_measured *measured, ovl_time unchanged,
                                        ovl_arena *arena);

#endif
