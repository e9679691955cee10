/*
 * ring_job.h - one collective (or several in a row) on a few ranks, each with an HBM, a link out
 * and a link in of its own, and kernels before and beside it: to run it as one activity and as the
 * transfers it is made of.
 *
 *     ring_job job = {.n = 4, .coll = OVL_ALL_REDUCE, .times = 1, .work = 12 * OVL_MS};
 *     job.late[2] = 10 * OVL_MS;
 *     ring_run one = ring_job_run(&job, 0, &arena), steps = ring_job_run(&job, 16, &arena);
 *     one.step, steps.step                                             22 ms, both
 */
#ifndef OVL_TESTS_RING_JOB_H
#define OVL_TESTS_RING_JOB_H

#include "sim/engine.h"

#define RING_RANKS 16

typedef struct ring_change {
    uint32_t rank;
    ovl_time time;
    uint64_t out; /* bytes/s of its link out from then on */
} ring_change;

typedef struct ring_job {
    uint32_t n, root, times;
    ovl_coll coll;
    ovl_time latency, work;
    uint64_t wire;                /* bytes/s that it wants of each link */
    uint64_t hbm;                 /* ... and of HBM */
    uint64_t out[RING_RANKS];     /* bytes/s that a link out has; 0: more than enough */
    ovl_time late[RING_RANKS];    /* a kernel of so long comes before */
    ovl_time beside[RING_RANKS];  /* a kernel of so long runs beside, from the begin */
    ovl_time between[RING_RANKS]; /* a kernel of so long after each collective but the last */
    uint64_t kernel_hbm;          /* bytes/s of HBM that a kernel beside wants; HBM has 1000 */
    ring_change changes[4];
    uint32_t n_changes;
    uint32_t gpus; /* that share one link out and in, loaded once together; 0: own ones */
} ring_job;

typedef struct ring_run {
    ovl_program program;
    ovl_timeline timeline;
    ovl_time step;
} ring_run;

/* Runs it, collectives of up to `members` members in steps; sharing is modelled. Asserts that it
 * can. */
ring_run ring_job_run(const ring_job *job, uint32_t members, ovl_arena *arena);

/* The operation of this kind and name on a rank, the first; asserts that there is one. */
uint32_t ring_find(const ring_run *run, uint32_t rank, ovl_op_kind kind, const char *name);

#endif
