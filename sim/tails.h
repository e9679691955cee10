/*
 * tails.h - where communication became exposed, or stopped being, from one run to another.
 *
 * A step can stay as it is while its parts change: what one collective gains by starting earlier,
 * another loses because they share a NIC. So every name is looked at, on all ranks: the largest
 * time by which communication of that name held up its consumer, in either run. Those that changed
 * are listed, largest change first, then by name.
 *
 * Example: `a` starts earlier and shares its NIC with `b`: b is exposed for 2 ms on rank 1, 0
 * before.
 */
#ifndef OVL_SIM_TAILS_H
#define OVL_SIM_TAILS_H

#include "sim/result.h"

typedef struct ovl_tail_side {
    ovl_time exposed; /* the largest of any rank; OVL_NEVER: this run has no such communication */
    ovl_time took;    /* end - start of that one */
    uint32_t rank;    /* the lowest that has it */
} ovl_tail_side;

typedef struct ovl_tail {
    const char *name;
    ovl_tail_side a, b;
    ovl_time change; /* of exposed; absent counts as 0 */
} ovl_tail;

/* The names whose largest exposed time is another one, or none; *n of them, in `arena`; texts are
 * those of the results. */
const ovl_tail *ovl_tails(const ovl_result *a, const ovl_result *b, ovl_arena *arena, uint32_t *n);

#endif
