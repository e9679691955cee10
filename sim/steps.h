/*
 * steps.h - a program of several training steps: where each ends, and which of them is looked at.
 *
 * A step ends on a rank with an operation marked `step_end`, such as the optimizer. With S > 1 step
 * ends *the step* is the interval between the last two of them on the deciding rank: by then what
 * was left over from one step (a gather that runs into the next forward, pools of memory, a host
 * that ran ahead) is the same at both ends. The first step is told apart, and so is whether the
 * steps have become alike.
 *
 * An operation belongs to the step in which it was issued: those of the last step lie, in host
 * order, behind the last but one step end, up to the last.
 *
 * Example: forward 2 ms, backward 4 ms, optimizer 1 ms, and a gather of 3 ms that the next forward
 * waits for. Step ends at 7, 17, 27: the first step is 7, the step is 10, alike.
 */
#ifndef OVL_SIM_STEPS_H
#define OVL_SIM_STEPS_H

#include "sim/timeline.h"

/* Local operations first .. end - 1. */
typedef struct ovl_op_range {
    uint32_t first, end;
} ovl_op_range;

/* The operations of a code that belong to the last step; all of them if it ends fewer than two. */
ovl_op_range ovl_last_step(const ovl_code *code);

/* When a rank ended its k-th step (0 ...). */
ovl_time ovl_end_of_step(const ovl_program *program, const ovl_timeline *timeline, uint32_t rank,
                         uint32_t k);

/* The step (0 ...) that a moment of a rank belongs to: a step's end is still of it. */
uint32_t ovl_step_of(const ovl_program *program, const ovl_timeline *timeline, uint32_t rank,
                     ovl_time at);

#endif
