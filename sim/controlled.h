/*
 * controlled.h - three controlled runs of one step: compute only, communication only, and both.
 *
 *     compute only        communication and copies take no time, move and hold nothing
 *     communication only  kernels take no time, move and hold nothing
 *     both                the step as it is
 *
 * Order, rendezvous and the host stay in all three. Each run is told by the decomposition of one
 * rank (timeline.h), the one that decides when the step with both ends; it sums to the step of the
 * run exactly, so what overlap saves is, term by term,
 *
 *     saved = compute only + communication only - both
 *
 * Example: a 25 ms matmul beside a 20 ms all-reduce that slow each other: 25 and 20 alone, both 33
 * = 25 compute + 4 stretch + 4 transfer. Saved are 12 = 16 of transfer that no longer shows - 4 of
 * stretch.
 */
#ifndef OVL_SIM_CONTROLLED_H
#define OVL_SIM_CONTROLLED_H

#include "sim/speedup.h"

typedef struct ovl_controlled_run {
    ovl_time step;
    ovl_time term[OVL_TERM_COUNT]; /* sums to the step */
    ovl_time hidden, hidden_stretch;
} ovl_controlled_run;

/* Kernels of a class, or an operation in a group, on that rank in its last step. Of sends and
 * receives the sends count. */
typedef struct ovl_controlled_row {
    const char *what;
    bool communication; /* or copies */
    uint32_t n;
    /* Sums of durations, from start (the arrival of the last member) to end. */
    ovl_time isolated; /* as their costs say */
    ovl_time alone;    /* in the run without the other kind */
    ovl_time both;
} ovl_controlled_row;

typedef struct ovl_controlled {
    uint32_t rank;
    ovl_controlled_run compute, comm, both;
    const ovl_controlled_row *rows;
    uint32_t n_rows;
} ovl_controlled;

/* Runs all three; rows and texts live in `arena`. False and errors as ovl_run. */
bool ovl_controlled_find(const ovl_program *program, const ovl_run_options *options,
                         ovl_arena *arena, ovl_controlled *controlled, ovl_errs *errs);

#endif
