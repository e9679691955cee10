#include "models/plan_pipeline_code.h"

/* --- What goes together --- */

static const char *why_not(const ovl_fsdp *fsdp)
{
    if (fsdp->policy != OVL_FSDP_2) {
        return "is policy fsdp2: PyTorch's pipelines know fully_shard, not "
               "FullyShardedDataParallel";
    }
    return fsdp->root.count ? "has no root layers: each stage is a module of its own" : NULL;
}

/* What overlap says, in terms of overlap.fsdp; NULL: nothing, or an error. */
static const ovl_fsdp *find_sharding(ovl_pipe_plan *p)
{
    const ovl_scenario *s = p->l->scenario;
    const char *why = s->fsdp.given ? why_not(&s->fsdp) : NULL;
    if (why) {
        ovl_error(p->l->errs, OVL_E_INPUT, s->fsdp.mark, "overlap.fsdp in a pipeline %s", why);
        return NULL;
    }
    if (!s->zero.given) {
        return s->fsdp.given ? &s->fsdp : NULL;
    }
    if (s->zero.stage > 1) {
        ovl_error(p->l->errs, OVL_E_INPUT, s->zero.mark,
                  "overlap.zero in a pipeline has stage 1: DeepSpeed's pipelines add up whole "
                  "gradients of all microbatches, and refuse stages 2 and 3");
        return NULL;
    }
    ovl_fsdp *as_fsdp = OVL_NEW(&p->scratch, ovl_fsdp);
    *as_fsdp = ovl_zero_as_fsdp(&s->zero);
    p->shards.options = &s->zero;
    return as_fsdp;
}

/* What is reduced last is reduced over both copies of a stage. */
static bool join_copies(ovl_pipe_plan *p, ovl_shard_ranks *r)
{
    ovl_mark mark = p->shards.fsdp->mark;
    const ovl_group **last = r->replica ? &r->replica : &r->shard;
    bool own = r->reduce != r->shard;
    const ovl_group *joined = ovl_pipe_data_group(p, *last, mark);
    if (joined && joined != *last) {
        *(r->replica ? &r->replicas : &r->n) *= p->schedule.n_chains;
        *last = joined;
        if (!r->replica) {
            r->reduce = own ? ovl_plan_subgroup(p->l, joined, r->n, joined->name) : joined;
        }
    }
    return joined && (!r->replica || ovl_pipe_data_places(p, r->shard, mark));
}

static bool find_ranks(ovl_pipe_plan *p, const ovl_fsdp *sharding)
{
    ovl_shard_ranks *r = p->shards.ranks;
    return ovl_shard_find(&p->shards, p->l, sharding) && join_copies(p, &r[0]) &&
           (!r[1].shard || join_copies(p, &r[1]));
}

bool ovl_pipe_fsdp_plan(ovl_pipe_plan *p)
{
    uint32_t errors = p->l->errs->errors;
    const ovl_fsdp *sharding = find_sharding(p);
    return sharding ? find_ranks(p, sharding) : p->l->errs->errors == errors;
}

/* --- The step of a place --- */

/* Units of the stages of this place, in order of the stages. */
void ovl_pipe_own_step(ovl_pipe_code *e)
{
    const ovl_pipe_plan *p = e->p;
    ovl_step *s = e->step;
    s->l = p->l;
    s->workload = p->workload;
    s->staged = true;
    s->microbatches = p->microbatches;
    s->expert_parts = p->step.expert_parts;
    s->averaged = ovl_pipe_averaged(p);
    s->units = OVL_NEW_ARRAY(&s->scratch, ovl_step_unit, p->step.n_units);
    e->first_unit = OVL_NEW_ARRAY(&s->scratch, uint32_t, (size_t)p->n_stages + 1);
    for (uint32_t k = 0; k < p->n_stages; k++) {
        e->first_unit[k] = s->n_units;
        for (uint32_t u = p->first_unit[k];
             ovl_pipe_holds(p, k, e->rank) && u < p->first_unit[k + 1]; u++) {
            s->units[s->n_units++] = p->step.units[u];
        }
    }
    e->first_unit[p->n_stages] = s->n_units;
}

void ovl_pipe_fsdp_open(ovl_pipe_code *e)
{
    ovl_pipe_plan *p = e->p;
    ovl_fsdp_plan *own = OVL_NEW(&p->scratch, ovl_fsdp_plan);
    *own = p->shards;
    const ovl_strategy *strategy = own->options ? &ovl_zero_strategy : &ovl_fsdp2_strategy;
    own->step = (ovl_step){.strategy = strategy, .own = own};
    e->step = &own->step;
    ovl_pipe_own_step(e);
    ovl_shard_groups(own);
    ovl_shard_at(own, e->member);
    ovl_step_open_in(e->step, e->member, e->code, e->compute);
}

void ovl_pipe_own_close(ovl_pipe_code *e)
{
    ovl_inner_place *at = &e->step->inner;
    at->part = OVL_PART_NONE;
    ovl_step_end(e->step);
    ovl_step_close(e->step);
    e->broken = e->broken || at->broken;
    ovl_step_free(e->step);
    e->step = NULL;
}
