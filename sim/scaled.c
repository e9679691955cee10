#include "sim/scaled.h"

ovl_time ovl_scaled_time(ovl_time t, uint32_t by)
{
    ovl_time whole = t / OVL_SCALE_ONE, rest = t % OVL_SCALE_ONE;
    if (whole > OVL_TIME_MAX / OVL_SCALE_MOST - 1) {
        return OVL_TIME_MAX;
    }
    return whole * by + (rest * by + OVL_SCALE_ONE / 2) / OVL_SCALE_ONE;
}

/* Costs may be shared by operations of several kinds, so there are three of each: as it was, of
 * kernels, of host calls. */
static void scale_costs(ovl_program *p, uint32_t kernels, uint32_t host, ovl_arena *arena)
{
    uint32_t n = p->n_costs;
    ovl_cost *costs = OVL_NEW_ARRAY(arena, ovl_cost, (size_t)3 * n);
    for (uint32_t i = 0; i < n; i++) {
        costs[i] = costs[n + i] = costs[2 * n + i] = p->costs[i];
        costs[n + i].work = ovl_scaled_time(costs[i].work, kernels);
        costs[n + i].compute = ovl_scaled_time(costs[i].compute, kernels);
        costs[2 * n + i].work = ovl_scaled_time(costs[i].work, host);
    }
    p->costs = costs;
    p->n_costs = 3 * n;
}

static const ovl_op *scaled_ops(const ovl_program *p, uint32_t kernels, uint32_t host,
                                ovl_arena *arena)
{
    ovl_op *ops = OVL_NEW_ARRAY(arena, ovl_op, p->n_distinct);
    for (uint32_t i = 0; i < p->n_distinct; i++) {
        ops[i] = p->distinct[i];
        ops[i].launch = ovl_scaled_time(ops[i].launch, host);
        ops[i].mean = ovl_scaled_time(ops[i].mean, kernels);
        if (ops[i].kind == OVL_KERNEL) {
            ops[i].cost += p->n_costs;
        } else if (ops[i].kind == OVL_HOST) {
            ops[i].cost += 2 * p->n_costs;
        }
    }
    return ops;
}

ovl_program ovl_program_scaled(const ovl_program *program, uint32_t kernels, uint32_t host,
                               ovl_arena *arena)
{
    assert(kernels <= OVL_SCALE_MOST && host <= OVL_SCALE_MOST);
    ovl_program p = *program;
    ovl_code *codes = OVL_NEW_ARRAY(arena, ovl_code, p.n_codes);
    p.distinct = scaled_ops(program, kernels, host, arena);
    for (uint32_t c = 0; c < p.n_codes; c++) {
        codes[c] = program->codes[c];
        codes[c].distinct = p.distinct;
    }
    p.codes = codes;
    scale_costs(&p, kernels, host, arena);
    return p;
}
