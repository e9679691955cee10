/*
 * schedule_time.h - what a schedule takes when communication is a pure delay and nothing is shared:
 * the yardstick of closed forms and published tables. A program is run by the engine, not by this.
 *
 * An action starts when the one before it on its rank has ended and its input is there: F needs the
 * F of the stage before it, I and B the I or B of the stage after it, both a hop later if that is
 * on another rank. An overlapped pair starts when both inputs are there and ends both at once.
 * Actions that move data (SEND_F, ...) take no time.
 *
 * Example: 1f1b, 2 ranks, 4 microbatches, F 1, B 2, hop 0: makespan 15 = (4 + 2 - 1) * 3, each rank
 * busy for 12 and idle for 3.
 */
#ifndef OVL_MODELS_SCHEDULE_TIME_H
#define OVL_MODELS_SCHEDULE_TIME_H

#include "models/schedule.h"

typedef struct ovl_schedule_costs {
    const ovl_time *forward, *input, *weight, *backward; /* [n_stages] */
    const ovl_time *pair; /* [n_stages] of the stage whose F is in it; NULL: the sum of its parts */
    ovl_time hop;
} ovl_schedule_costs;

typedef struct ovl_schedule_rank_times {
    ovl_time first, last, busy; /* start of the first action, end of the last, sum of lengths */
    uint32_t peak_weight, peak_input; /* most activations held, until B or W; until B or I */
} ovl_schedule_rank_times;

typedef struct ovl_schedule_times {
    ovl_time makespan, span; /* last end; largest last - first of a rank */
    ovl_schedule_rank_times *ranks;
} ovl_schedule_times;

/* Times in `arena`. False and an error naming the first action that waits for ever if it cannot
 * finish. */
bool ovl_schedule_time(const ovl_schedule *schedule, const ovl_schedule_costs *costs,
                       ovl_schedule_times *times, ovl_arena *arena, ovl_errs *errs);

#endif
