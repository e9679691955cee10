#include "models/shard.h"

#include "models/layer.h"

/* --- Who --- */

const ovl_shard_ranks *ovl_shard_ranks_of(const ovl_fsdp_plan *p, const ovl_param_group *g)
{
    return &p->ranks[g->experts];
}

bool ovl_shard_has_experts(const ovl_fsdp_plan *p)
{
    for (uint32_t i = 0; i < p->n_groups; i++) {
        if (p->groups[i].experts) {
            return true;
        }
    }
    return false;
}

uint64_t ovl_shard_updates(const ovl_fsdp_plan *p)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n_groups; i++) {
        sum += p->groups[i].shard;
    }
    return sum;
}

void ovl_shard_slots_of(ovl_fsdp_plan *p, ovl_shard_slots slots[2])
{
    uint32_t n = ovl_shard_has_experts(p) ? 2 : 1;
    ovl_id code = p->step.code;
    for (uint32_t k = 0; k < n; k++) {
        const ovl_shard_ranks *r = &p->ranks[k];
        slots[k].shard = ovl_plan_slot(p->l, code, r->shard);
        slots[k].reduce = ovl_plan_slot(p->l, code, r->reduce);
        slots[k].replica = r->replica ? ovl_plan_slot(p->l, code, r->replica) : 0;
        slots[k].near = r->near ? ovl_plan_slot(p->l, code, r->near) : 0;
    }
}

/* --- What comes next --- */

ovl_shard_walk ovl_shard_walk_from(const ovl_fsdp_plan *p, const ovl_param_group *g, int64_t layers,
                                   bool backward)
{
    return (ovl_shard_walk){p, g - p->groups, g->experts ? -1 : layers, g->module, backward};
}

uint32_t ovl_shard_walk_on(ovl_shard_walk *walk)
{
    int64_t n = walk->p->n_groups - (walk->p->root != OVL_NONE);
    walk->at += walk->backward ? -1 : 1;
    if (walk->left < 0 || walk->at < 0 || walk->at >= n) {
        return OVL_NONE;
    }
    uint32_t module = walk->p->groups[walk->at].module;
    walk->left -= module != walk->module;
    walk->module = module;
    return walk->left < 0 ? OVL_NONE : (uint32_t)walk->at;
}

/* --- Sizes --- */

uint64_t ovl_fsdp_whole(const ovl_param_group *g, ovl_dtype dtype)
{
    return g->elements * ovl_dtype_size(dtype);
}

uint64_t ovl_fsdp_padded(const ovl_fsdp_plan *p, const ovl_param_group *g, ovl_dtype dtype)
{
    return g->shard * ovl_shard_ranks_of(p, g)->n * ovl_dtype_size(dtype);
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
    const ovl_shard_ranks *r = ovl_shard_ranks_of(p, g);
    return cost_of(p, g, op, r->shard, r->n, r->shard_spread, bytes);
}

static bool alike(const ovl_param_group *a, const ovl_param_group *b)
{
    return a->shard == b->shard && a->experts == b->experts && a->param_dtype == b->param_dtype &&
           a->reduce_dtype == b->reduce_dtype && a->keep == b->keep;
}

ovl_shard_cost ovl_shard_costs(ovl_fsdp_plan *p, uint32_t i, const ovl_shard_cost *before)
{
    const ovl_param_group *g = &p->groups[i];
    if (before && alike(g, g - 1)) {
        return *before;
    }
    ovl_shard_cost cost = {0};
    const ovl_shard_ranks *r = ovl_shard_ranks_of(p, g);
    uint64_t gathered = ovl_fsdp_padded(p, g, g->param_dtype);
    cost.gather = cost_of(p, g, OVL_ALL_GATHER, r->shard, r->n, r->shard_spread, gathered);
    cost.scatter = cost_of(p, g, OVL_REDUCE_SCATTER, r->reduce, r->n, r->shard_spread,
                           ovl_fsdp_padded(p, g, g->reduce_dtype));
    if (r->near && !g->keep) {
        cost.near = cost_of(p, g, OVL_ALL_GATHER, r->near, r->near_n, r->near_spread, gathered);
    }
    if (r->replica) {
        cost.all_reduce = cost_of(p, g, OVL_ALL_REDUCE, r->replica, r->replicas, r->replica_spread,
                                  ovl_fsdp_shard(g, g->reduce_dtype));
    }
    return cost;
}

/* --- What is held --- */

ovl_op ovl_shard_reduction(ovl_fsdp_plan *p, const ovl_shard_slots *slots, const ovl_param_group *g,
                           const ovl_shard_cost *cost, ovl_coll coll, uint16_t stream)
{
    bool scatter = coll == OVL_REDUCE_SCATTER;
    const char *name = ovl_step_name(&p->step, scatter ? "reduce" : "all_reduce", g->name);
    ovl_op op = ovl_step_op(&p->step, OVL_COLLECTIVE, name,
                            scatter ? cost->scatter : cost->all_reduce, stream, g->mark);
    op.coll = (uint8_t)coll;
    op.dtype = (uint8_t)g->reduce_dtype;
    op.average = true;
    op.comm = scatter ? slots[g->experts].reduce : slots[g->experts].replica;
    op.bytes =
        scatter ? ovl_fsdp_padded(p, g, g->reduce_dtype) : ovl_fsdp_shard(g, g->reduce_dtype);
    return op;
}

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
