/*
 * announce.h - how much memory a run and all that is asked about it may need.
 *
 * Told from the program alone, before anything is simulated, so that what would not fit is refused
 * while the machine still has its memory. It is a bound: every operation may be on the critical
 * path under a name of its own, and whatever may wait does. Analyses give back what only they need,
 * so what counts is the one that needs most beside what is kept by then.
 *
 * Example: 1,000,000 kernels of different names keep 60 bytes each of what happened, and their
 * critical path needs 170 more of each until its rows are written, of which 100 stay.
 */
#ifndef OVL_SIM_ANNOUNCE_H
#define OVL_SIM_ANNOUNCE_H

#include "sim/result.h"

/* Bytes that are needed at once at most, beside the program and what else is there already. Of what
 * options ask for beyond a run (rates over time, lines of memory) nothing is counted. */
uint64_t ovl_announce(const ovl_program *program, const ovl_analyse_options *options);

#endif
