/*
 * engine.h - runs a program: a discrete-event simulation with fluid sharing. What an operation
 * means is defined here.
 *
 * Order on a rank. A host thread issues operations in program order; each takes its `launch`; a
 * host call blocks the thread until its `after` operations ended, then takes its own time. An
 * operation *arrives* when it was issued, the one before it on its stream ended, its `after`
 * operations ended, the one before it in its communicator (on this rank) ended, and the one before
 * it in its hardware queue has arrived.
 *
 * Kernel: runs from arrival. Its cap is what SMs held by arrived communication leave it:
 *     min(1, SMs it gets / SMs it wants * work / compute), or by whole waves if it gives its
 * blocks: ceil(blocks / SMs) / ceil(blocks / SMs it gets); SMs left are split among kernels by what
 * they want. Collective: one activity over all members; starts when the last has arrived, ends for
 * all at once: `latency`, then `work` as a fluid at one rate, the least that its members' caps and
 * resources allow; then the same of each phase that follows (program.h): 6 ms on NVLink, 2 on a NIC
 * that another shares from the start, 6 on NVLink end at 6, 10 and 16 ms. SMs are held over all of
 * them. Send and receive: the k-th send of a rank to a peer within a communicator meets
 * the peer's k-th receive from it. Rendezvous: both wait and end together. Eager: the sender's
 * stream goes on at once; the transfer begins when the sender has arrived and the eager transfer
 * before it from this rank to that peer in that communicator is over, for one communicator does one
 * thing at a time: three of 3 ms sent at 1, 2 and 4 ms are there at 4, 7 and 10. The receive ends
 * when it has arrived and the bytes are there. Batch: its parts arrive with it; it ends when all
 * have. Copy: waits for a free copy engine of its direction (order: arrival, then op), then a fluid
 * on its demands. Host call: above; one whose cost has a latency comes no earlier than so long
 * after the begin of the run, and until then the host goes on with what follows it. Marker: no
 * time, or a pause of its stream as long as its latency, which nothing counts as work.
 *
 * Interference. `none`: everyone at isolated speed. `shared`: SM caps and resource sharing.
 * `measured`: while a kernel and a collective (in transfer) run on one rank and their classes have
 * a measured pair, the kernel's cap is the product of 1/kernel_factor of its partners and the SMs
 * of that collective do not count for it; the collective's is the least product of
 * 1/collective_factor over its members; the collective's HBM demand is dropped on members where
 * every running kernel is measured with it. Pairs that were not measured use `shared` and are
 * listed.
 *
 * Worked example: matmul 25 ms and all-reduce 20 ms from the same start, factors 29/25 and 29/16.
 * Until 29 ms the matmul does 25 and the all-reduce 16; the last 4 run alone: the step is 33 = 25
 * compute + 4 stretch + 4 transfer.
 *
 * Capacities may change at given moments (ovl_change_capacity): before anything else that happens
 * then.
 *
 * Events are ordered by (time, kind, number), everything at one instant is applied before rates are
 * solved once, an end is scheduled at the next whole picosecond, and work done is recomputed only
 * when the own rate changes: the same program gives the same bytes everywhere.
 */
#ifndef OVL_SIM_ENGINE_H
#define OVL_SIM_ENGINE_H

#include "sim/timeline.h"

typedef enum ovl_interference {
    OVL_INTERFERENCE_NONE,
    OVL_INTERFERENCE_SHARED,
    OVL_INTERFERENCE_MEASURED,
} ovl_interference;

const char *ovl_interference_name(ovl_interference model);

/* How far a run is. */
typedef enum ovl_run_stage {
    OVL_BEGINS,
    OVL_GOES_ON,
    OVL_IS_OVER,
    OVL_PART, /* no run: another part of the work around it begins, `what` */
} ovl_run_stage;

typedef struct ovl_run_progress {
    ovl_run_stage stage;
    ovl_time now;
    uint32_t ended, n_ops;
    uint32_t run, n_runs; /* run number `run`, from 0, of n_runs alike; n_runs 0: it stands alone */
    const char *what;     /* static text: "finding the critical path" */
} ovl_run_progress;

/* Somebody who looks on: asked when a run begins, every few thousand events, and when it is over. A
 * run stops when the answer is false (OVL_E_STOPPED, which says how far it got). */
typedef struct ovl_watch {
    bool (*look)(void *context, const ovl_run_progress *progress);
    void *context;
} ovl_watch;

/* Tells whoever looks on which part of the work begins. NULL: nobody. */
void ovl_watch_part(const ovl_watch *watch, const char *what);

typedef struct ovl_run_options {
    ovl_interference interference;
    const bool *free_names; /* [names] operations of these take no latency, work, SMs or bytes;
                               NULL: of none */
    bool segments;          /* keep rate segments (for pictures) */
    bool step_only; /* keep nothing but the step and the counters: no times of operations, no
                       trail, no limits, no terms of ranks, which stay 0. Then a run takes 4
                       bytes by operation. Not with `segments` or `interval` */
    bool no_skip;   /* simulate every period of a run that repeats itself (recur.h) */
    bool no_trail;  /* keep the times of operations, but not the order in which they happened */
    const ovl_watch *watch; /* NULL: nobody */
    uint32_t run, n_runs;   /* told to the watch */
    uint64_t memory;        /* bytes that ovl_run_memory may come to; 0: no limit */
    bool interval;          /* the terms of ranks are counted from count_from to count_to, which
                               may be one moment; else of the whole run */
    ovl_time count_from, count_to;
} ovl_run_options;

/* Bytes that a run of the program takes at most, its timeline without segments included, or where
 * only the step is kept; activities that are bounded by more than two things, one after another,
 * may take more. */
uint64_t ovl_run_memory(const ovl_program *program, bool step_only);

/* Runs the program; the timeline lives in `arena`. False and an error if it cannot finish
 * (OVL_E_STUCK: a deadlock, told as who waits for what), time overflows (OVL_E_INPUT, naming the
 * operation), it would need more memory than it may (OVL_E_INPUT, before anything is taken), or it
 * is stopped. */
bool ovl_run(const ovl_program *program, const ovl_run_options *options, ovl_arena *arena,
             ovl_timeline *timeline, ovl_errs *errs);

#endif
