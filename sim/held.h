/*
 * held.h - when a resource held an activity back: while it was full, the activity ran below its
 * isolated speed, and nobody on it got more for his weight (share.h).
 *
 * A run keeps how long each bound held, not when (timeline.h); with the rates of all over time,
 * which it keeps on request, that is found again.
 *
 * Example: a message over `out` and `in` runs at 1/4 for 8 ms. Another was on `out` for the first 4
 * of them, and a third on `in` for the last 4: `out` held it from 0 to 4 ms, `in` from 4 to 8.
 */
#ifndef OVL_SIM_HELD_H
#define OVL_SIM_HELD_H

#include "sim/uses.h"

typedef struct ovl_held {
    ovl_time from, to;
    double rate; /* part of isolated speed */
} ovl_held;

typedef OVL_VEC(ovl_held) ovl_held_list;

/* Adds when a resource held back an operation that carries limits, in order of time; `uses` as
 * ovl_uses_sort leaves them, of the resource all that there are. Of SMs, and where it was never
 * seen full (of several steps `uses` has only the last): all the time below isolated speed. */
void ovl_held_find(const ovl_causes *causes, const ovl_resource_uses *uses, ovl_id resource,
                   uint32_t op, ovl_held_list *list);

/* Whether the operation used the resource at that moment, and no more of it was left. */
bool ovl_held_full(const ovl_causes *causes, const ovl_resource_uses *uses, ovl_id resource,
                   uint32_t op, ovl_time at);

#endif
