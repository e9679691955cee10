/*
 * path_change.h - how the critical path of one run differs from that of another, in a sentence.
 *
 * Operations are matched by their names. A name that is a number, "bucket 3", names the same thing
 * in both only if both have the same communication under all names of its kind, bytes and all: with
 * fewer buckets, the last numbers are not gone and the first ones are not what they were. Such
 * names are told for each run apart.
 *
 *     left the critical path: reduce (7 ms); took over: update (2 ms)
 *     numbered by each run for itself: bucket 0 (7 ms) on the critical path of a, bucket 1 (2 ms)
 * on that of b; the rest of the path is the same
 */
#ifndef OVL_SIM_PATH_CHANGE_H
#define OVL_SIM_PATH_CHANGE_H

#include "sim/result.h"

/* From the path of `a` to that of `b`. The text lives in `arena` or is a constant. */
const char *ovl_path_change(const ovl_result *a, const ovl_result *b, ovl_arena *arena);

#endif
