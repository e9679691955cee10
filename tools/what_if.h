/*
 * what_if.h - what would help against each kind of idle time of a run, and by how much: each figure
 * is a simulation of the changed step.
 *
 *     fill and drain    a pipeline with twice the microbatches
 *     imbalance         layers shared among stages by time; all stages, or ranks, like their mean
 *     dependency        a communicator for each step from stage to stage; receives posted late;
 *                       gradients reduced in parts;
 *                       transfers as soon as their input is there; free communication
 *     schedule          transfers as soon as their input is there: the deepest prefetch
 *     host              a host twice as fast
 *
 * Changes to the scenario are made as --set makes them, after the variant and the sets of the
 * command line; a change that the scenario does not allow is named in the
 * note with the reason, and so are more microbatches of a list of actions.
 */
#ifndef OVL_TOOLS_WHAT_IF_H
#define OVL_TOOLS_WHAT_IF_H

#include "tools/work.h"

/* Programs of so many operations or less are tried without being asked to. */
#define OVL_WHAT_IF_OPS 200000u

/* What a change is compared by: the step, or of other work what a microbatch takes. */
ovl_time ovl_what_if_now(const ovl_result *result, const ovl_result_what_if *what_if);
ovl_time ovl_what_if_then(const ovl_result_what_if *what_if);

/* Adds what was tried, that which helps most first, to the result of a prepared run; lists and
 * texts live in the work's arena.
 */
void ovl_what_if(ovl_work *work, const ovl_document *doc, const char *variant,
                 const ovl_prepared *prepared, ovl_result *result);

#endif
