#include "models/shard.h"

#include "models/expert.h"

/* --- Who shards with whom --- */

/* A rank must not reduce a gradient with itself: no two ranks may be in one communicator of both
 * groups. */
static bool check_replicas(ovl_fsdp_plan *p)
{
    ovl_lowering *l = p->l;
    const ovl_group *shard = p->ranks[0].shard, *replica = p->ranks[0].replica;
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        const ovl_comm *comm = &l->b->comms.data[replica->comm_of[rank]];
        for (uint32_t i = 0; i < comm->n_members; i++) {
            uint32_t other = l->b->members.data[comm->first_member + i];
            if (other != rank && shard->comm_of[other] == shard->comm_of[rank]) {
                ovl_error(l->errs, OVL_E_INPUT, p->fsdp->mark,
                          "ranks %" PRIu32 " and %" PRIu32 " are together in group \"%s\", which "
                          "shards, and in group \"%s\", which replicates",
                          rank, other, shard->name, replica->name);
                return false;
            }
        }
    }
    return true;
}

/* Experts that few ranks share are resharded over fewer. */
static bool find_near(ovl_fsdp_plan *p, ovl_shard_ranks *r)
{
    int64_t size = p->fsdp->reshard_to;
    bool experts = r == &p->ranks[1];
    if (size == 0 || size == r->n || (experts && size > r->n)) {
        return true;
    }
    if (size > r->n || r->n % size) {
        ovl_error(p->l->errs, OVL_E_INPUT, p->fsdp->reshard_mark,
                  "reshard_after_forward is %" PRId64 ", which does not divide the %" PRIu32
                  " ranks of group \"%s\"",
                  size, r->n, r->shard->name);
        return false;
    }
    r->near_n = (uint32_t)size;
    const char *name = ovl_arena_printf(p->l->arena, "%s/%" PRIu32, r->shard->name, r->near_n);
    r->near = ovl_plan_subgroup(p->l, r->shard, r->near_n, name);
    return true;
}

static bool finish_ranks(ovl_fsdp_plan *p, ovl_shard_ranks *r)
{
    r->reduce = p->fsdp->communicators == 2
                    ? ovl_plan_subgroup(p->l, r->shard, r->n, r->shard->name)
                    : r->shard;
    return find_near(p, r);
}

/* Where the experts of workload.model are the same. */
static bool find_expert_ranks(ovl_fsdp_plan *p)
{
    const ovl_shard_ranks *dense = &p->ranks[0];
    ovl_shard_ranks *r = &p->ranks[1];
    *r = (ovl_shard_ranks){.replicas = 1};
    r->shard = ovl_expert_group(p->l, dense->shard, p->fsdp->shard_mark);
    if (dense->replica) {
        r->replica = ovl_expert_group(p->l, dense->replica, p->fsdp->replicate_mark);
    }
    if (!r->shard || (dense->replica && !r->replica)) {
        return false;
    }
    r->n = ovl_plan_members(p->l, r->shard, 0);
    r->replicas = r->replica ? ovl_plan_members(p->l, r->replica, 0) : 1;
    return finish_ranks(p, r);
}

static bool find_groups(ovl_fsdp_plan *p)
{
    const ovl_fsdp *fsdp = p->fsdp;
    ovl_shard_ranks *r = &p->ranks[0];
    r->shard = ovl_plan_group(p->l, fsdp->shard, fsdp->shard_mark);
    r->n = r->shard ? ovl_plan_even(p->l, r->shard, "shards the parameters") : 0;
    r->replicas = 1;
    if (fsdp->replicate) {
        r->replica = ovl_plan_group(p->l, fsdp->replicate, fsdp->replicate_mark);
        r->replicas = r->replica ? ovl_plan_even(p->l, r->replica, "replicates the shards") : 0;
    }
    if (r->n == 0 || r->replicas == 0 || (r->replica && !check_replicas(p)) ||
        !finish_ranks(p, r)) {
        return false;
    }
    return !p->l->scenario->workload.model.moe.given || find_expert_ranks(p);
}

/* --- Parameter groups --- */

/* Sets a flag for each unit of the named layers. */
static bool *units_of(ovl_fsdp_plan *p, const ovl_texts *names, const char *key)
{
    const ovl_step *s = &p->step;
    bool *is = OVL_NEW_ARRAY(&p->step.scratch, bool, s->n_units);
    const char **known = OVL_NEW_ARRAY(&p->step.scratch, const char *, s->n_units);
    for (uint32_t u = 0; u < s->n_units; u++) {
        known[u] = s->units[u].layer->name;
    }
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t first, count;
        if (!ovl_step_find(s, names->item[i], &first, &count)) {
            ovl_unknown_name(names->mark[i], ovl_arena_printf(p->l->arena, "layer in %s:", key),
                             names->item[i], known, s->n_units, OVL_E_INPUT, p->l->errs);
        }
        for (uint32_t u = first; u < first + count; u++) {
            is[u] = true;
        }
    }
    return is;
}

static void add_tensors(ovl_fsdp_plan *p, ovl_param_group *g, const ovl_step_unit *unit)
{
    uint32_t n = ovl_shard_ranks_of(p, g)->n;
    for (uint32_t i = 0; i < unit->n_tensors; i++) {
        uint64_t elements = unit->elements[i];
        g->elements += elements;
        g->shard += elements / n + (elements % n > 0);
    }
}

static ovl_param_group new_group(const ovl_fsdp_plan *p, const ovl_step_unit *unit,
                                 const char *name)
{
    const ovl_fsdp *fsdp = p->fsdp;
    ovl_param_group g = {
        .name = name, .mark = unit->mark, .dtype = unit->dtype, .experts = unit->experts};
    bool own = fsdp->param_dtype == OVL_DTYPE_OF_LAYER;
    g.param_dtype = own ? g.dtype : (ovl_dtype)fsdp->param_dtype;
    own = fsdp->grad_dtype == OVL_DTYPE_OF_LAYER;
    g.grad_dtype = own ? g.param_dtype : (ovl_dtype)fsdp->grad_dtype;
    own = fsdp->reduce_dtype == OVL_DTYPE_OF_LAYER;
    g.reduce_dtype = own ? g.grad_dtype : (ovl_dtype)fsdp->reduce_dtype;
    return g;
}

static void add_root(ovl_fsdp_plan *p, const bool *is_root)
{
    ovl_param_group *g = NULL;
    for (uint32_t u = 0; u < p->step.n_units; u++) {
        const ovl_step_unit *unit = &p->step.units[u];
        if (!is_root[u] || unit->n_tensors == 0) {
            continue;
        }
        if (!g) {
            p->root = p->n_groups++;
            g = &p->groups[p->root];
            *g = new_group(p, unit, "root");
            g->first = u;
            g->keep = true;
        } else if (g->dtype != unit->dtype) {
            ovl_error(p->l->errs, OVL_E_INPUT, unit->mark,
                      "the layers of the root have parameters of different types");
        }
        add_tensors(p, g, unit);
        g->last = u;
        p->group_of[u] = p->root;
    }
}

void ovl_shard_groups(ovl_fsdp_plan *p)
{
    const ovl_fsdp *fsdp = p->fsdp;
    uint32_t n = p->step.n_units;
    bool *is_root = units_of(p, &fsdp->root, "root");
    bool *keep = units_of(p, &fsdp->keep, "keep_after_forward");
    bool *skip =
        units_of(p, &fsdp->accumulate.skip_unshard_in_backward, "skip_unshard_in_backward");
    p->groups = OVL_NEW_ARRAY(&p->step.scratch, ovl_param_group, n + 1);
    p->group_of = OVL_NEW_ARRAY(&p->step.scratch, uint32_t, n);
    p->root = OVL_NONE;
    uint32_t module = 0;
    for (uint32_t u = 0; u < n; u++) {
        const ovl_step_unit *unit = &p->step.units[u];
        p->group_of[u] = OVL_NONE;
        is_root[u] = is_root[u] && !unit->experts;
        module += !unit->experts;
        if (is_root[u] || unit->n_tensors == 0) {
            continue;
        }
        ovl_param_group *g = &p->groups[p->group_of[u] = p->n_groups++];
        *g = new_group(p, unit, unit->name);
        g->first = g->last = u;
        g->module = module;
        g->keep = keep[u] || !fsdp->reshard;
        g->skip = skip[u];
        add_tensors(p, g, unit);
    }
    add_root(p, is_root);
}

/* --- The codes --- */

void ovl_shard_at(ovl_fsdp_plan *p, uint32_t rank)
{
    for (uint32_t k = 0; k < 2 && p->ranks[k].shard; k++) {
        ovl_shard_ranks *r = &p->ranks[k];
        r->shard_spread = ovl_plan_spread(p->l, r->shard, rank);
        r->replica_spread = r->replica ? ovl_plan_spread(p->l, r->replica, rank) : NULL;
        r->near_spread = r->near ? ovl_plan_spread(p->l, r->near, rank) : NULL;
    }
}

static bool lie_alike(ovl_lowering *l, const ovl_group *group, uint32_t a, uint32_t b)
{
    return !group || ovl_plan_spread(l, group, a) == ovl_plan_spread(l, group, b);
}

bool ovl_shard_alike(ovl_fsdp_plan *p, uint32_t a, uint32_t b)
{
    bool alike = ovl_inner_alike(p->l, a, b);
    for (uint32_t k = 0; k < 2 && alike; k++) {
        const ovl_shard_ranks *r = &p->ranks[k];
        alike = lie_alike(p->l, r->shard, a, b) && lie_alike(p->l, r->replica, a, b) &&
                lie_alike(p->l, r->near, a, b);
    }
    return alike;
}

static ovl_id write_code(void *plan, uint32_t first)
{
    ovl_fsdp_plan *p = plan;
    ovl_shard_at(p, first);
    return ovl_step_write(&p->step, first);
}

/* Ranks whose groups lie alike on nodes share a code. */
static bool alike(void *plan, uint32_t a, uint32_t b)
{
    return ovl_shard_alike(plan, a, b);
}

/* Operations of a unit and microbatch at most: two kernels, a gather with its copies twice, a
 * reshard, a reduction in three steps with a copy. */
#define UNIT_OPS 16

bool ovl_shard_find(ovl_fsdp_plan *p, ovl_lowering *l, const ovl_fsdp *fsdp)
{
    p->l = l;
    p->fsdp = fsdp;
    return find_groups(p);
}

void ovl_shard_plan(ovl_lowering *l, const ovl_fsdp *fsdp, const ovl_strategy *strategy,
                    const void *options)
{
    ovl_fsdp_plan p = {.options = options};
    uint32_t errors = l->errs->errors;
    p.step =
        (ovl_step){.l = l, .workload = &l->scenario->workload, .strategy = strategy, .own = &p};
    p.step.regathers = fsdp->policy == OVL_FSDP_1 && fsdp->regather;
    if (ovl_shard_find(&p, l, fsdp) && ovl_step_units(&p.step)) {
        ovl_shard_groups(&p);
        if (l->errs->errors == errors && ovl_step_fits(&p.step, UNIT_OPS)) {
            ovl_plan_codes(l, write_code, alike, &p);
        }
    }
    ovl_step_free(&p.step);
}
