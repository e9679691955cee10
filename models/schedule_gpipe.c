/* GPipe: all forwards, then all backwards, both in order of microbatches. Every activation lives
 * until the end of the forwards: peak m. (arXiv 1811.06965; PyTorch ScheduleGPipe) */
#include "models/schedule.h"

static void order(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list)
{
    for (uint32_t k = 0; k < spec->microbatches; k++) {
        ovl_put(list, OVL_ACT_F, rank, k);
    }
    for (uint32_t k = 0; k < spec->microbatches; k++) {
        ovl_put(list, OVL_ACT_B, rank, k);
    }
}

const ovl_schedule_kind ovl_schedule_gpipe = {.name = "gpipe",
                                              .pytorch = "ScheduleGPipe",
                                              .least_stages = 1,
                                              .most_stages = 1,
                                              .order = order};
