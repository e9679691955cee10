/*
 * degraded.h - what of an activity's loss to a resource is due to what the resource itself lost: a
 * link that degrades has less for a time, and who is alone on it runs at what is left, too.
 *
 * While a resource has c instead of what it has in good health, an activity that wants d of it runs
 * at most at min(1, c / d), alone or not. What is missing to isolated speed above that is due to
 * the fault; what is missing below it to those beside. So each instant is counted once, and both
 * are the loss.
 *
 * Example: two messages of 50 GB/s on a NIC of 50 GB/s that has 25 for 14 ms: each runs at 1/4.
 * Alone it would run at 1/2: of the 10.5 ms lost meanwhile 7 are due to the fault, 3.5 to sharing.
 */
#ifndef OVL_SIM_DEGRADED_H
#define OVL_SIM_DEGRADED_H

#include "sim/explain.h"
#include "sim/held.h"

/* When a use met a resource that had less, in order of time, touching pieces of one capacity made
 * one; *n of them, in `arena`. */
const ovl_degraded *ovl_degraded_find(const ovl_causes *causes, const ovl_resource_use *use,
                                      ovl_arena *arena, uint32_t *n);

/* What of the loss to a bound is due to that, by when the bound held. Where another one bound alike
 * meanwhile, the run tells the loss of one of them: each part of it is told in proportion. */
ovl_time ovl_degraded_part(const ovl_bound_on *bound, const ovl_held_list *held);

#endif
