#include "sim/steps.h"

ovl_op_range ovl_last_step(const ovl_code *code)
{
    if (code->n_steps < 2) {
        return (ovl_op_range){0, code->n_ops};
    }
    return (ovl_op_range){code->step_ends[code->n_steps - 2] + 1,
                          code->step_ends[code->n_steps - 1] + 1};
}

ovl_time ovl_end_of_step(const ovl_program *program, const ovl_timeline *timeline, uint32_t rank,
                         uint32_t k)
{
    const ovl_rank *r = &program->ranks[rank];
    return timeline->end[r->first_op + program->codes[r->code].step_ends[k]];
}

uint32_t ovl_step_of(const ovl_program *program, const ovl_timeline *timeline, uint32_t rank,
                     ovl_time at)
{
    uint32_t n = program->codes[program->ranks[rank].code].n_steps, k = 0;
    while (k + 1 < n && ovl_end_of_step(program, timeline, rank, k) < at) {
        k++;
    }
    return k;
}
