/*
 * waits.h - what a rank waited for while it ran no kernel, found by going back over what held up
 * what, across ranks.
 *
 * Going back from an operation to what its data came from cuts time, without gaps, into pieces of
 * five kinds:
 *
 *     compute      a kernel ran
 *     dependency   bytes moved; or a transfer whose input was there waited behind other
 *                  communication: a blocking receive, its communicator
 *     schedule     a transfer whose input was there was not issued yet: the code put it behind a
 *                  kernel, or behind a host call that waits
 *     host         all else was there, but the host had not issued it: it launched something, or
 *                  was in a call
 *     pause        a stream paused: what a measured step has between two operations, with a cause
 * or without one
 *
 * A transfer that was issued late is to blame for the same time of its transfer, too, if that is
 * where the waiting begins: it would have been over so much earlier.
 *
 * Example: a kernel on rank 1 starts at 20. Its receive ended then, 2 after the send on rank 0
 * arrived at 18; the kernel whose result was sent ran there from 5 to 15, but the send stood behind
 * a receive that ended at 18. If rank 1 ran nothing since 10, its 10 are 2 + 3 of dependency and 5
 * of compute.
 *
 * Each operation has one that it came from, so these ways back form a tree, with sums from its root
 * and links that skip: a question takes time logarithmic in the length of the way, after each
 * operation was looked at once; and as much for each part that is listed.
 */
#ifndef OVL_SIM_WAITS_H
#define OVL_SIM_WAITS_H

#include "sim/replay.h"

typedef enum ovl_wait {
    OVL_WAIT_COMPUTE,
    OVL_WAIT_DEPENDENCY,
    OVL_WAIT_SCHEDULE,
    OVL_WAIT_HOST,
    OVL_WAIT_PAUSE,
    OVL_WAIT_COUNT,
} ovl_wait;

/* What an interval was spent on; `by` names, for each kind but compute, the operation nearest to
 * its end: a send, collective or receive; what was issued late; what the host was busy with; a
 * pause. It may be before the interval. OVL_NONE: there is none. */
typedef struct ovl_waited {
    ovl_time time[OVL_WAIT_COUNT]; /* sums to the interval */
    uint32_t by[OVL_WAIT_COUNT];
} ovl_waited;

/* What was spent on one operation, which is no kernel, on the way back. */
typedef struct ovl_wait_part {
    ovl_wait kind;
    uint32_t op;
    ovl_time time;
} ovl_wait_part;

struct ovl_wait_slot;

typedef struct ovl_waits {
    ovl_causes *causes;
    const ovl_inputs *inputs;
    const uint32_t *const *calls; /* [n_codes][n_ops of it] the host call before it, or OVL_NONE */
    uint32_t *slot_of;            /* [n_ops] */
    OVL_VEC(struct ovl_wait_slot) slots;
    OVL_VEC(ovl_wait_part) parts; /* of the questions since it was emptied, latest first in each */
    OVL_VEC(uint32_t) way;        /* scratch */
} ovl_waits;

/* Tables in `arena`. */
void ovl_waits_init(ovl_waits *w, ovl_causes *causes, const ovl_inputs *inputs, ovl_arena *arena);
void ovl_waits_free(ovl_waits *w);

/* What the time from `from` until an operation started was spent on. */
void ovl_waits_before(ovl_waits *w, uint32_t op, ovl_time from, ovl_waited *waited);

/* What the time from `from` until an operation ended was spent on. */
void ovl_waits_until(ovl_waits *w, uint32_t op, ovl_time from, ovl_waited *waited);

#endif
