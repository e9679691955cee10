#include "models/shard.h"

#include "models/layer.h"

/* --- Sizes --- */

uint64_t ovl_fsdp_whole(const ovl_param_group *g, ovl_dtype dtype)
{
    return g->elements * ovl_dtype_size(dtype);
}

uint64_t ovl_fsdp_padded(const ovl_fsdp_plan *p, const ovl_param_group *g, ovl_dtype dtype)
{
    return g->shard * p->n * ovl_dtype_size(dtype);
}

uint64_t ovl_fsdp_shard(const ovl_param_group *g, ovl_dtype dtype)
{
    return g->shard * ovl_dtype_size(dtype);
}

/* --- Costs --- */

static ovl_plan_cost cost_of(ovl_fsdp_plan *p, const ovl_param_group *g, ovl_coll op,
                             const ovl_group *group, uint32_t n, const ovl_spread *spread,
                             uint64_t bytes)
{
    ovl_comm_spec spec = {.name =
                              ovl_arena_printf(p->l->arena, "%s of %s", ovl_coll_name(op), g->name),
                          .mark = g->mark,
                          .op = op,
                          .group = group->name,
                          .n = n,
                          .spread = spread,
                          .has_bytes = true,
                          .bytes = bytes};
    return ovl_plan_comm(p->l, &spec);
}

ovl_plan_cost ovl_shard_cost_of(ovl_fsdp_plan *p, const ovl_param_group *g, ovl_coll op,
                                uint64_t bytes)
{
    return cost_of(p, g, op, p->shard, p->n, p->shard_spread, bytes);
}

static bool alike(const ovl_param_group *a, const ovl_param_group *b)
{
    return a->shard == b->shard && a->param_dtype == b->param_dtype &&
           a->reduce_dtype == b->reduce_dtype && a->keep == b->keep;
}

ovl_shard_cost ovl_shard_costs(ovl_fsdp_plan *p, uint32_t i, const ovl_shard_cost *before)
{
    const ovl_param_group *g = &p->groups[i];
    if (before && alike(g, g - 1)) {
        return *before;
    }
    ovl_shard_cost cost = {0};
    uint64_t gathered = ovl_fsdp_padded(p, g, g->param_dtype);
    cost.gather = cost_of(p, g, OVL_ALL_GATHER, p->shard, p->n, p->shard_spread, gathered);
    cost.scatter = cost_of(p, g, OVL_REDUCE_SCATTER, p->reduce, p->n, p->shard_spread,
                           ovl_fsdp_padded(p, g, g->reduce_dtype));
    if (p->near && !g->keep) {
        cost.near = cost_of(p, g, OVL_ALL_GATHER, p->near, p->near_n, p->near_spread, gathered);
    }
    if (p->replica) {
        cost.all_reduce = cost_of(p, g, OVL_ALL_REDUCE, p->replica, p->replicas, p->replica_spread,
                                  ovl_fsdp_shard(g, g->reduce_dtype));
    }
    return cost;
}

/* --- What is held --- */

ovl_shard_held ovl_shard_hold(ovl_fsdp_plan *p, const ovl_param_group *g)
{
    ovl_step *s = &p->step;
    const ovl_optimizer *optimizer = &s->workload->optimizer;
    uint64_t shard = ovl_fsdp_shard(g, g->dtype);
    uint64_t states = ovl_optimizer_bytes(optimizer, g->shard);
    ovl_shard_held held = {.states = OVL_NONE};
    held.shard = ovl_step_held(s, ovl_arena_printf(&s->scratch, "shard %s", g->name), shard,
                               OVL_PARAMETER, g->dtype, g->mark);
    held.grad = ovl_step_held(s, ovl_arena_printf(&s->scratch, "shard %s.grad", g->name), shard,
                              OVL_GRADIENT, g->dtype, g->mark);
    if (states) {
        held.states =
            ovl_step_held(s, ovl_arena_printf(&s->scratch, "optimizer states %s", g->name), states,
                          OVL_OPTIMIZER, (ovl_dtype)optimizer->dtype, g->mark);
    }
    return held;
}

ovl_id ovl_shard_hold_states(ovl_fsdp_plan *p)
{
    const ovl_optimizer *optimizer = &p->step.workload->optimizer;
    return optimizer->states
               ? ovl_step_held(&p->step, "optimizer states", optimizer->states, OVL_OPTIMIZER,
                               (ovl_dtype)p->step.workload->dtype, optimizer->mark)
               : OVL_NONE;
}

/* --- The optimizer --- */

void ovl_shard_update(ovl_fsdp_plan *p, const ovl_shard_held *held)
{
    ovl_step *s = &p->step;
    ovl_step_reads(s, held->grad);
    ovl_step_reads(s, held->shard);
    ovl_step_writes(s, held->shard);
    ovl_step_reads(s, held->states);
    ovl_step_writes(s, held->states);
}
