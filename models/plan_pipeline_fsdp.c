#include "models/plan_pipeline_code.h"

/* --- What goes together --- */

static bool splits(const ovl_schedule *s)
{
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        for (uint32_t i = 0; i < s->ranks[r].count; i++) {
            if (s->ranks[r].item[i].type == OVL_ACT_I) {
                return true;
            }
        }
    }
    return false;
}

/* Sharded gradients are complete with the last microbatch, which must come last. */
static bool is_in_order(const ovl_pipe_plan *p)
{
    const ovl_schedule *s = &p->schedule;
    uint32_t *last = OVL_NEW_ARRAY(p->l->arena, uint32_t, s->n_stages);
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        for (uint32_t i = 0; i < s->ranks[r].count; i++) {
            const ovl_action *a = &s->ranks[r].item[i];
            if (a->type == OVL_ACT_B) {
                last[a->stage] = a->microbatch;
            }
        }
    }
    for (uint32_t k = 0; k < s->n_stages; k++) {
        if (last[k] + 1 != s->n_microbatches) {
            return false;
        }
    }
    return true;
}

const char *ovl_pipe_apart_why_not(const ovl_pipe_plan *p)
{
    if (splits(&p->schedule)) {
        return "is modelled for schedules that run the backward in one piece";
    }
    if (p->schedule.n_chains > 1) {
        return "is not modelled for schedules with two copies of the model";
    }
    return is_in_order(p) ? NULL
                          : "needs a schedule whose last backward is that of the last "
                            "microbatch";
}

static const char *why_not(const ovl_pipe_plan *p)
{
    const ovl_fsdp *fsdp = &p->l->scenario->fsdp;
    if (fsdp->policy != OVL_FSDP_2) {
        return "is modelled for policy fsdp2";
    }
    if (fsdp->root.count) {
        return "has no root layers: each stage is a module of its own";
    }
    return ovl_pipe_apart_why_not(p);
}

bool ovl_pipe_fsdp_plan(ovl_pipe_plan *p)
{
    const ovl_fsdp *fsdp = &p->l->scenario->fsdp;
    const char *why = fsdp->given ? why_not(p) : NULL;
    if (why) {
        ovl_error(p->l->errs, OVL_E_INPUT, fsdp->mark, "overlap.fsdp in a pipeline %s", why);
        return false;
    }
    return !fsdp->given || ovl_shard_find(&p->shards, p->l, fsdp);
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
    s->units = OVL_NEW_ARRAY(&s->scratch, ovl_step_unit, p->step.n_units);
    e->first_unit = OVL_NEW_ARRAY(&s->scratch, uint32_t, (size_t)p->n_stages + 1);
    for (uint32_t k = 0; k < p->n_stages; k++) {
        e->first_unit[k] = s->n_units;
        for (uint32_t u = p->first_unit[k];
             p->schedule.rank_of[k] == e->rank && u < p->first_unit[k + 1]; u++) {
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
    own->step = (ovl_step){.strategy = &ovl_fsdp2_strategy, .own = own};
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
