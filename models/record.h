/*
 * record.h - a measured step as a program that can run: what was recorded, and what had to be
 * inferred.
 *
 * From what files say (seen.h) each rank gets a list of operations in host program order:
 *
 *   streams    as recorded; the operations of one follow one another
 *   launches   the host issues an operation when it called for it, plus the latency of a launch
 *              (the median over operations that found their stream idle, of an even count the
 *              lower); what the host did between two calls is host work of that length
 *   gaps       two operations that were both launched long before follow each other after the
 *              stream's gap (the mean), a pause of the stream. Without launches in the file: after
 *              the device's gap, the median of those up to 5 us (or the mean, where that is less)
 *   waits      of streams for events, and of the host for streams, where the file records them;
 *              else inferred from the order of calls, or from times that fit to 5 us
 *   matching   the k-th collective of a group on every rank is one; its transfer is the shortest
 *              duration, and waiting comes out of the run. If only some of its ranks are there it
 *              keeps the duration it had, waiting included
 *
 * Recorded starts place nothing. An operation that began later than all of this says, by more than
 * 5 us, gets a pause before it, and its length counts as unexplained; where no launch is seen, what
 * the gaps of a stream are longer than the device's adds up until it is more than 5 us.
 *
 *     launch [10, 14), latency 9 us; kernel [21, 95)     ready at 19: explained to 2 us
 *     the same kernel at [71, 145)                       52 us are unexplained
 */
#ifndef OVL_MODELS_RECORD_H
#define OVL_MODELS_RECORD_H

#include "models/seen.h"
#include "sim/program.h"

#define OVL_RECORD_SLACK (5 * OVL_US)
#define OVL_RECORD_COMM  "nccl|rccl"

typedef struct ovl_rec_op {
    uint8_t kind;     /* ovl_op_kind */
    uint8_t coll;     /* collectives: ovl_coll */
    uint8_t dtype;    /* ovl_dtype */
    uint8_t engine;   /* copies: 1 to the device */
    bool unexplained; /* markers: a pause that nothing explains; else the gap of a stream */
    bool alone;       /* collectives: not all members are there; the duration holds its wait */
    bool taken;       /* a what-if on its length has changed it; no other one does */
    ovl_id name;      /* to be shown */
    ovl_id full;      /* as recorded */
    ovl_id klass;     /* kernels: interference class, as the trace says; OVL_NONE: it does not */
    ovl_id stream;    /* name; OVL_NONE for host calls */
    uint32_t group;   /* collectives: index of its group; OVL_NONE */
    ovl_time launch;  /* host time to issue it */
    ovl_time length;
    ovl_time start,
        end;          /* measured, since the begin of the step; OVL_NEVER for what was made here */
    ovl_time latency; /* collectives: the part of the length that no bandwidth changes */
    int32_t peer;     /* sends and receives: place of the other side; collectives: root */
    uint32_t batch;   /* parts of a batch: its place in the list; else OVL_NONE */
    bool eager;
    uint64_t bytes;                /* 0: not known */
    uint32_t first_after, n_after; /* into the rank's `after`: operations before it in the list */
} ovl_rec_op;

typedef struct ovl_rec_rank {
    const char *file;
    int64_t rank;         /* in its job; -1: not known */
    int64_t device;       /* in its file */
    ovl_time begin;       /* of its step, after that of the first rank to begin */
    ovl_time end;         /* of its step, measured from the same moment */
    ovl_time unexplained; /* of its time, how much nothing explains */
    ovl_time latency;     /* of launches */
    ovl_time gap;         /* between operations of a stream */
    ovl_rec_op *ops;
    const uint32_t *after;
    uint32_t n_ops;
} ovl_rec_rank;

/* Ranks whose collectives are matched; one alone where the others are missing. */
typedef struct ovl_rec_group {
    ovl_id name;
    const uint32_t *ranks;
    uint32_t n_ranks;
    int64_t size; /* members as the trace tells; -1: not told */
} ovl_rec_group;

typedef struct ovl_recorded {
    ovl_names names;
    ovl_rec_rank *ranks;
    const ovl_rec_group *groups;
    uint32_t n_ranks, n_groups;
    uint32_t copy_engines[2], hw_queues; /* of a trace of our own; else 0: as it was measured */
    uint32_t matched, alone;             /* collectives */
    uint32_t different;                  /* groups whose ranks disagree */
    uint32_t apart;                      /* matched collectives that end more than 0.1 ms apart */
    uint32_t clock_sets; /* of ranks whose clocks can be compared; more than 1: each begins at 0 */
    int64_t world;       /* ranks of the job, where some that communicate are missing; else 0 */
    bool same_rank;      /* several files say the same rank: nothing is matched */
    bool other_steps;    /* of whole traces that begin with other steps: likewise */
    ovl_time step;       /* measured: from the first begin to the last end */
    const char *what;    /* "ProfilerStep#3", "the whole trace" */
    const char *const *inferred; /* sentences */
    uint32_t n_inferred;
    bool changed; /* by what-ifs (record_change.h) */
} ovl_recorded;

typedef struct ovl_record_options {
    const char *step; /* number of a step, name of a range, "all", or NULL: the last step, or all */
    const char
        *comm; /* a good pattern (models/pattern.h), in any case: which kernels communicate */
    bool drop; /* leave pauses out that nothing explains */
} ovl_record_options;

/* Makes the program of one step of some files, the ranks of one job. False and errors (OVL_E_INPUT
 * at `mark`) if there is nothing to replay. Everything lives in `arena`. */
bool ovl_record(const ovl_seen *files, uint32_t n_files, const ovl_record_options *options,
                ovl_mark mark, ovl_arena *arena, ovl_recorded *recorded, ovl_errs *errs);

#endif
