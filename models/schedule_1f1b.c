/* 1F1B: as many forwards as there are ranks from here to the end, then one backward and one forward
 * in turn, then the backwards that are left. At most P - r activations live on rank r.
 * PyTorch counts the first forward of the steady state to the warm-up (min(m, P-r) F, then B, F),
 * Megatron does not (min(m, P-r-1) F, then F, B): the lists are the same. PyTorch refuses m < P.
 * (arXiv 2104.04473; PyTorch Schedule1F1B; Megatron-LM core/pipeline_parallel/schedules.py) */
#include "models/schedule.h"

static void order_pytorch(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list)
{
    uint32_t m = spec->microbatches, warmup = OVL_MIN(m, spec->ranks - rank), b = 0;
    for (uint32_t k = 0; k < warmup; k++) {
        ovl_put(list, OVL_ACT_F, rank, k);
    }
    for (uint32_t k = warmup; k < m; k++) {
        ovl_put(list, OVL_ACT_B, rank, b++);
        ovl_put(list, OVL_ACT_F, rank, k);
    }
    while (b < m) {
        ovl_put(list, OVL_ACT_B, rank, b++);
    }
}

static void order_megatron(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list)
{
    uint32_t m = spec->microbatches, warmup = OVL_MIN(m, spec->ranks - rank - 1), b = 0;
    for (uint32_t k = 0; k < warmup; k++) {
        ovl_put(list, OVL_ACT_F, rank, k);
    }
    for (uint32_t k = warmup; k < m; k++) {
        ovl_put(list, OVL_ACT_F, rank, k);
        ovl_put(list, OVL_ACT_B, rank, b++);
    }
    while (b < m) {
        ovl_put(list, OVL_ACT_B, rank, b++);
    }
}

static void check_pytorch(const ovl_schedule_spec *spec, ovl_errs *errs)
{
    if (spec->microbatches < spec->ranks) {
        ovl_warning(errs, spec->microbatches_mark,
                    "PyTorch's Schedule1F1B refuses fewer microbatches than ranks (%" PRIu32
                    " < %" PRIu32 "); Megatron's runs",
                    spec->microbatches, spec->ranks);
    }
}

const ovl_schedule_kind ovl_schedule_1f1b = {.name = "1f1b",
                                             .pytorch = "Schedule1F1B",
                                             .least_stages = 1,
                                             .most_stages = 1,
                                             .check = check_pytorch,
                                             .order = order_pytorch};

const ovl_schedule_kind ovl_schedule_1f1b_megatron = {
    .name = "1f1b_megatron", .least_stages = 1, .most_stages = 1, .order = order_megatron};
