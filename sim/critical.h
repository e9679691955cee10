/*
 * critical.h - the critical path of a run, and how much later everything else could have ended.
 *
 * The path is a list of intervals without gaps from the step's begin (told as 0) to its end:
 * operations, host work and eager transfers, across ranks. It is found from the last end of the
 * deciding rank by walking back over binding causes (causes.h), so each item says why it started
 * when it did. Intervals of no length (markers, free operations) are walked through but not listed.
 *
 * Slack is the backward pass of the critical path method over all causes, with every duration as it
 * was in this run: the latest end of an operation that leaves the step as it is, minus its end.
 *
 * Example: 25 ms kernel, then a 20 ms all-reduce, beside a 10 ms copy: path = kernel [0, 25]
 * "start", all-reduce [25, 45] "after: kernel"; the copy has 35 ms of slack.
 */
#ifndef OVL_SIM_CRITICAL_H
#define OVL_SIM_CRITICAL_H

#include "sim/causes.h"
#include "sim/classes.h"
#include "sim/result.h"

typedef struct ovl_path {
    const ovl_result_path *items; /* in time order; of a long path what repeats itself is said
                                     once (path_rows.h) */
    uint32_t n;
    const bool *on;      /* [n_ops] the operation is on the path; for a collective, any member is */
    const bool *rank_on; /* [n_ops] the path went through this very operation */
} ovl_path;

/* The critical path; items and their texts live in `arena`, the flags in `scratch`. Of ranks that
 * did exactly the same, items name the lowest, as tables do and as a folded run does; with NULL for
 * `classes` each names its own. */
void ovl_critical_path(ovl_causes *causes, const ovl_classes *classes, ovl_arena *arena,
                       ovl_arena *scratch, ovl_path *path);

/* [n_ops] slack of each operation's end, never negative, in `arena`. Members of a collective and
 * both sides of a rendezvous message share theirs. */
const ovl_time *ovl_slack(ovl_causes *causes, ovl_arena *arena);

#endif
