/*
 * idle_runs.h - what ranks leave idle: in the run, and in replays of it with some reasons to idle
 * taken away.
 *
 * A gap is a stretch of the step in which a rank runs no kernel on any stream. It ends when a
 * kernel starts, or with the step. Gaps of two runs are compared by the kernel that ends them.
 *
 * Where the order of kernels was searched for (ovl_program.orders), a replay that takes a reason
 * away may be that of the order that would be found without it. That program is run first, then
 * replayed like the run itself. Its kernels are not those of our program: what is known of it is
 * how long each rank idles in all, before its first kernel and after its last.
 *
 * Example: rank 1 runs "1F0" from 2 to 3 and "1B0" from 7 to 9, and the step ends at 12: its gaps
 * are 2 before 1F0, 4 before 1B0 and 3 at the end.
 */
#ifndef OVL_SIM_IDLE_RUNS_H
#define OVL_SIM_IDLE_RUNS_H

#include "sim/classes.h"
#include "sim/engine.h"
#include "sim/replay.h"
#include "sim/result.h"

/* Before which operation, and how long; OVL_NONE: to the end. */
typedef struct ovl_gap {
    uint32_t op;
    ovl_time from, to;
} ovl_gap;

typedef struct ovl_idle_run {
    OVL_VEC(ovl_gap) list;
    uint32_t *first; /* [n_classes + 1] into list; those of a rank by operation, the tail last */
    ovl_time *idle;  /* [n_classes] in all */
    ovl_time *head;  /* [n_classes] of it before the first kernel */
    ovl_time begin, end; /* of the step */
} ovl_idle_run;

/* A stretch of time in which kernels run, and the one it begins with. */
typedef struct ovl_stretch {
    ovl_time start, end;
    uint32_t op;
} ovl_stretch;

typedef OVL_VEC(ovl_stretch) ovl_stretches;

/* Adds a kernel: to the stretch added last if it begins within that or right behind it, so that
 * millions of kernels of one stream are a few stretches. */
void ovl_stretch_add(ovl_stretches *list, ovl_time start, ovl_time end, uint32_t op);

/* By start; stretches of different streams may overlap. */
void ovl_stretches_sort(ovl_stretches *list);

/* What all runs are made from. */
typedef struct ovl_idle_lab {
    ovl_causes *causes;
    const ovl_classes *classes;
    const ovl_inputs *inputs;
    const ovl_means *means;
    const ovl_watch *watch; /* looks on while another order runs; NULL: nobody */
    ovl_arena *arena;       /* lists are freed by ovl_idle_run_free, the rest lives here */
} ovl_idle_lab;

/* What is taken away in the runs of the peeled account (idle.h), but the last, which is the run
 * itself. */
const ovl_replay_options *ovl_idle_taken(ovl_peel kind);

/* The run itself; a replay of it. */
void ovl_idle_run_itself(const ovl_idle_lab *lab, ovl_idle_run *run);
void ovl_idle_run_replay(const ovl_idle_lab *lab, const ovl_replay_options *options,
                         ovl_idle_run *run);

/* A replay of the order that a search finds under other circumstances (ovl_program.orders); its
 * gaps name operations of another program. False if the order is the same, or cannot be run. */
bool ovl_idle_run_ordered(const ovl_idle_lab *lab, unsigned order,
                          const ovl_replay_options *options, ovl_idle_run *run);

void ovl_idle_run_free(ovl_idle_run *run);

/* How long a kernel waits in it, or its rank at the end (OVL_NONE); 0: there is no gap. */
ovl_time ovl_idle_waits_in(const ovl_idle_run *run, uint32_t class_id, uint32_t op);

#endif
