/*
 * idle.h - why the compute streams of a rank run nothing.
 *
 * A gap is a stretch of the step in which a rank runs no kernel on any stream. It ends when a
 * kernel starts, or with the step. Going back from there to where it begins says what the time was
 * spent on (waits.h): transfers, late issues, the host and pauses are told apart at once. The rest
 * is compute of other ranks that was waited for, and goes, in this order, to
 *
 *     fill or drain   as much as the same kernel waits if all stages are like the mean, and
 *                     communication and host are free: fill if it is a forward (or the first kernel
 *                     of its rank), else drain
 *     imbalance       as much more as it waits with the stages as they are
 *     dependency      as much more with communication as it is: what was waited for was late itself
 *     pause           as much more with the pauses of streams
 *     host            as much more in the run
 *     fill or drain   what is left
 *
 * These runs are replays (replay.h). Their idle times make the second account, which peels off one
 * reason after another and may be negative for a rank:
 *
 *     structural    mean stages, communication and copies free and in no order, free host, no
 *                   pauses
 *     imbalance     + stages as they are
 *     dependency    + communication (and the order it keeps)
 *     pause         + pauses of streams, which a measured step has
 *     host          + host: what it does, and what it issues late
 *
 * Where the order of kernels was searched for from what they take, and transfers, the first two are
 * in the order that would be found at the mean, or with free transfers (ovl_program.orders): what a
 * search loses or gains by uneven stages belongs to imbalance, not to the schedule. Kernels of
 * another order say nothing of a gap: there the totals of the rank are shared (idle_cut.h).
 *
 * Both accounts sum to the idle time of each rank, to the picosecond.
 *
 * Example: 2 stages, 4 microbatches, forward 1 and backward 2 on the first stage, twice that on the
 * second, 1F1B: the step is 1 + 4 * 6 + 2 = 27, idle are 15 and 3. If both were 1.5 and 3 it would
 * be 5 * 4.5 = 22.5 with 4.5 idle on each. So structural 4.5 + 4.5, imbalance 10.5 - 1.5.
 */
#ifndef OVL_SIM_IDLE_H
#define OVL_SIM_IDLE_H

#include "sim/classes.h"
#include "sim/engine.h"
#include "sim/result.h"
#include "sim/waits.h"

typedef struct ovl_idle_ask {
    bool gaps;              /* list them */
    const ovl_watch *watch; /* looks on while another order runs; NULL: nobody */
} ovl_idle_ask;

/* Fills what concerns idle time in the rows of ranks, one for each class, and in the total. Texts
 * and lists live in `arena`. */
void ovl_idle_find(ovl_causes *causes, const ovl_classes *classes, const ovl_idle_ask *ask,
                   ovl_arena *arena, ovl_result_rank *rows, ovl_result_idle *total);

#endif
