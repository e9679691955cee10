/*
 * behind.h - is one operation ordered behind another by something the program enforces, on every
 * rank as it is? For hazard.c, where ranks are folded.
 *
 * Among representatives a way from one operation back to another may lead from rank to rank of one
 * class and end on another rank than it began: around a ring, say. So what seems ordered among them
 * is looked for once more in the whole program, rank by rank, without numbers for all operations.
 */
#ifndef OVL_SIM_BEHIND_H
#define OVL_SIM_BEHIND_H

#include "sim/causes.h"
#include "sim/fold.h"

/* Is local operation `later` behind `before` on each rank of the whole program that runs the code;
 * or, if either will do, on some of them `before` behind `later`? `causes` are those of the folded
 * run. */
bool ovl_behind_everywhere(const ovl_causes *causes, uint32_t code, uint32_t before, uint32_t later,
                           bool either);

#endif
