/*
 * actions.h - the kernels of a pipeline in time order, for pictures of its schedule.
 *
 * Only small pipelines are listed: a picture of more than OVL_ACTIONS_MOST kernels tells nobody
 * anything. Ranks that did the same are there once.
 *
 * Example: 1F1B on two ranks with two microbatches: rank 0: F0 F1 B0 B1, rank 1: F0 B0 F1 B1, with
 * their times.
 */
#ifndef OVL_SIM_ACTIONS_H
#define OVL_SIM_ACTIONS_H

#include "sim/classes.h"
#include "sim/result.h"

#define OVL_ACTIONS_MOST 4096

/* Fills out->actions, by rank, then start; none if the program is no pipeline, or too large. */
void ovl_actions_find(const ovl_program *program, const ovl_timeline *timeline,
                      const ovl_classes *classes, ovl_arena *arena, ovl_result *out);

#endif
