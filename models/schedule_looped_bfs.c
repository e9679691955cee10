/* Looped breadth-first: each stage of the rank in ascending order runs all its forwards, then each
 * in descending order all its backwards, microbatches reversed. Peak m V.
 * (arXiv 2211.05953; PyTorch ScheduleLoopedBFS) */
#include "models/schedule.h"

static void order(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list)
{
    uint32_t m = spec->microbatches, v = spec->stages_per_rank;
    for (uint32_t c = 0; c < v; c++) {
        for (uint32_t k = 0; k < m; k++) {
            ovl_put(list, OVL_ACT_F, c * spec->ranks + rank, k);
        }
    }
    for (uint32_t c = v; c-- > 0;) {
        for (uint32_t k = m; k-- > 0;) {
            ovl_put(list, OVL_ACT_B, c * spec->ranks + rank, k);
        }
    }
}

const ovl_schedule_kind ovl_schedule_looped_bfs = {.name = "looped_bfs",
                                                   .pytorch = "ScheduleLoopedBFS",
                                                   .least_stages = 1,
                                                   .most_stages = UINT32_MAX,
                                                   .order = order};
