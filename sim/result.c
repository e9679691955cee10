#include "sim/result.h"

uint64_t ovl_result_over_memory(const ovl_result *result)
{
    bool over =
        result->has_memory && result->memory_limit && result->reserved_peak > result->memory_limit;
    return over ? result->reserved_peak - result->memory_limit : 0;
}

int ovl_result_status(const ovl_result *result)
{
    return result->n_hazards > 0 ? 1 : 0;
}

bool ovl_result_converged(const ovl_result *result)
{
    if (result->n_steps < 3) {
        return false;
    }
    ovl_time apart = result->step - result->step_times[result->n_steps - 2];
    return (apart < 0 ? -apart : apart) <= result->step / 1000;
}
