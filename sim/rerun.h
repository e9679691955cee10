/*
 * rerun.h - the same program at other costs, where only what follows from the change happens anew.
 *
 * Where nothing can be slowed, each node of a run (causes.h) happens at the latest of its causes
 * plus a length that its own cost gives, whatever else runs: no rates have to be solved. Then a
 * changed program needs no run. From the first operation whose cost changed on, a node is worked
 * out again if its own length changed or one of its causes moved; all others keep their time. The
 * times are those of a full run, to the picosecond.
 *
 * Nothing can be slowed, and no order depends on times, if
 *   - operations do not slow each other (`none`), or no resource is ever asked for more than it
 *     has even if everything that may run at one time does: of each communicator its largest
 *     collective, of each stream its largest kernel; no SMs bound a kernel, no pair is measured, no
 *     capacity changes, and messages ask for nothing;
 *   - copies do not queue for engines.
 *
 * Example: kernels a 5 ms, b 3 ms and an all-reduce of 9 ms behind a: the step is 14. With b free
 * only b's end is worked out again; with a at 10/11 also the all-reduce: 4.545 + 9.
 */
#ifndef OVL_SIM_RERUN_H
#define OVL_SIM_RERUN_H

#include "sim/causes.h"
#include "sim/engine.h"

/* A run to begin from. */
typedef struct ovl_rerun {
    const ovl_program *program;
    ovl_timeline timeline;
    ovl_causes causes;
} ovl_rerun;

/* Whether the above holds for a program: one that is whole, not folded. */
bool ovl_rerun_exact(const ovl_program *program, ovl_interference model);

/* Runs a program that can be run as it is (perhaps folded) and keeps the run in `arena`. False and
 * errors as ovl_run. */
bool ovl_rerun_begin(ovl_rerun *rerun, const ovl_program *program, const ovl_run_options *options,
                     ovl_arena *arena, ovl_errs *errs);

/* The step of `changed`, which differs from the program only in costs and launches, and for which
 * ovl_rerun_exact holds as it did for the program. Several may be asked for at once, by several
 * threads. `again` (or NULL): how many nodes of the run were worked out. */
ovl_time ovl_rerun_step(const ovl_rerun *rerun, const ovl_program *changed, uint32_t *again);

#endif
