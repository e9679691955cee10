#include "models/plan_ddp.h"

#include "models/expert.h"
#include "models/tables.h"

/* --- Who reduces together --- */

static bool find_experts(ovl_ddp_plan *p, ovl_mark mark)
{
    const char *axes = ovl_expert_axes(p->l);
    ovl_ddp_ranks *experts = &p->ranks[1];
    experts->group = ovl_expert_group(p->l, p->ranks[0].group, mark);
    experts->n = experts->group ? ovl_plan_members(p->l, experts->group, 0) : 0;
    p->expert_parts = axes ? ovl_plan_group(p->l, axes, mark) : NULL;
    return experts->n > 0 && (!axes || p->expert_parts);
}

/* Every rank runs the same code, so every rank needs a communicator, all of one size. */
static bool find_group(ovl_ddp_plan *p)
{
    ovl_mark mark = p->ddp->given ? p->ddp->mark : p->workload->mark;
    ovl_ddp_ranks *dense = &p->ranks[0];
    dense->group = ovl_plan_group(p->l, p->ddp->group, mark);
    dense->n = dense->group ? ovl_plan_even(p->l, dense->group, "reduces the gradients") : 0;
    return dense->n > 0 && (!p->workload->model.moe.given || find_experts(p, mark));
}

/* --- Limits --- */

static bool check_bytes(ovl_ddp_plan *p)
{
    const uint64_t most = (uint64_t)1 << 60;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n_tensors; i++) {
        if (p->tensors[i].bytes > most - sum) {
            ovl_error(p->l->errs, OVL_E_INPUT, p->tensors[i].mark,
                      "with \"%s\" the gradients pass 1 EiB", p->tensors[i].name);
            return false;
        }
        sum += p->tensors[i].bytes;
    }
    return true;
}

/* Operations of one rank: two kernels a unit, copies, and for each bucket a launch, a reduction, a
 * copy back and at most one gather. */
static bool check_operations(ovl_ddp_plan *p)
{
    uint64_t each = 2 * (uint64_t)p->n_units + 4 * (uint64_t)p->buckets.count + 2;
    for (uint32_t i = 0; i < p->n_tensors; i++) {
        each += p->copy_in[i] > 0;
    }
    for (uint32_t u = 0; u < p->n_units; u++) {
        each += p->units[u].inner ? ovl_inner_count(p->units[u].inner) : 0;
    }
    uint64_t m = (uint64_t)p->workload->microbatches * (uint64_t)p->steps;
    if (m > OVL_PLAN_CODE_OPS || m * each > OVL_PLAN_CODE_OPS ||
        m * each * p->l->n_ranks > OVL_PLAN_RANK_OPS) {
        ovl_error(p->l->errs, OVL_E_INPUT, p->workload->mark,
                  "%" PRIu64 " microbatches (over all steps) of up to %" PRIu64
                  " operations on %" PRIu32 " ranks are too many: at most %u a rank and %u in all",
                  m, each, p->l->n_ranks, OVL_PLAN_CODE_OPS, OVL_PLAN_RANK_OPS);
        return false;
    }
    return true;
}

/* --- The steps --- */

static void set_policy(ovl_ddp_plan *p)
{
    p->megatron = p->ddp->policy == OVL_DDP_MEGATRON;
    p->separate = !p->megatron && !p->ddp->gradient_as_bucket_view;
    p->copies = !p->ddp->gradient_as_bucket_view;
    p->microbatches = (uint32_t)OVL_MAX(p->workload->microbatches, 1);
    p->steps = (uint32_t)OVL_MAX(p->workload->steps, 1);
}

static void run_steps(ovl_ddp_plan *p)
{
    uint32_t errors = p->l->errs->errors;
    if (!find_group(p)) {
        return;
    }
    if (p->workload->layers.count) {
        ovl_ddp_layers(p);
    } else {
        ovl_ddp_gradients(p);
    }
    if (p->l->errs->errors != errors || !check_bytes(p)) {
        return;
    }
    ovl_ddp_buckets(p);
    if (p->l->errs->errors == errors && check_operations(p)) {
        ovl_ddp_emit(p);
    }
}

void ovl_plan_ddp(ovl_lowering *l)
{
    ovl_ddp_plan p = {.l = l, .ddp = &l->scenario->ddp, .workload = &l->scenario->workload};
    ovl_ddp defaults = {0};
    if (!p.ddp->given) {
        ovl_ddp_table.defaults(&defaults);
        p.ddp = &defaults;
    }
    p.names.arena = &p.scratch;
    set_policy(&p);
    run_steps(&p);
    ovl_vec_free(&p.named);
    ovl_arena_free(&p.scratch);
}
