#include "sim/result.h"

#include <stdlib.h>
#include <string.h>

uint64_t ovl_result_over_memory(const ovl_result *result)
{
    bool over =
        result->has_memory && result->memory_limit && result->reserved_peak > result->memory_limit;
    return over ? result->reserved_peak - result->memory_limit : 0;
}

bool ovl_result_rank_fits(const ovl_result *result, const ovl_result_rank *rank)
{
    return !rank->has_memory || !result->memory_limit ||
           rank->reserved_peak <= result->memory_limit;
}

uint32_t ovl_result_ranks_over(const ovl_result *result, uint32_t *of)
{
    uint32_t over = 0;
    *of = 0;
    for (uint32_t i = 0; i < result->n_ranks; i++) {
        const ovl_result_rank *rank = &result->ranks[i];
        *of += rank->has_memory ? rank->count : 0;
        over += ovl_result_rank_fits(result, rank) ? 0 : rank->count;
    }
    return over;
}

uint64_t ovl_result_microbatches(const ovl_result *result)
{
    const char *scale = result->gradient_scale;
    if (scale && strncmp(scale, "1/", 2) == 0) {
        return strtoull(scale + 2, NULL, 10);
    }
    bool one = scale && strcmp(scale, "1") == 0; /* one rank, one microbatch */
    return one && !result->microbatches ? 1 : result->microbatches;
}

ovl_time ovl_result_per_microbatch(const ovl_result *result)
{
    uint64_t n = ovl_result_microbatches(result);
    return n ? result->step / (ovl_time)n : OVL_NEVER;
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
