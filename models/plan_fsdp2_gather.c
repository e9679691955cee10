#include "models/plan_fsdp2.h"

/* What a group gathers in both passes is told apart by the word before its name. */
static const char *pass_name(const ovl_fsdp2 *e, const char *forward, const char *backward,
                             const ovl_param_group *g)
{
    return ovl_step_name(e->s, ovl_fsdp2_backward(e) ? backward : forward, g->name);
}

/* The gathers' streams wait for an operation of the compute stream: only the latest matters. */
static void gate(ovl_fsdp2 *e, uint32_t op)
{
    e->gate = e->gate == OVL_NONE ? op : OVL_MAX(e->gate, op);
}

/* What a gather reads: the shard, or what was resharded over neighbours. */
static ovl_id source_of(const ovl_fsdp2_group *g)
{
    return g->near != OVL_NONE ? g->near : g->held.shard;
}

static bool no_overlap(const ovl_fsdp2 *e)
{
    const ovl_fsdp_prefetch *prefetch = &e->p->fsdp->prefetch;
    return (ovl_fsdp2_backward(e) ? prefetch->backward : prefetch->forward) == 0;
}

/* Shards are copied, and cast where they are kept in another type, into the rank's place in the
 * output. */
static void copy_in(ovl_fsdp2 *e, ovl_fsdp2_group *g)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    uint64_t shard = ovl_fsdp_shard(own, own->param_dtype);
    ovl_id source = source_of(g);
    if (source == g->held.shard && own->param_dtype != own->dtype) {
        g->cast = ovl_step_buffer(s, pass_name(e, "cast shard", "cast shard again", own), shard,
                                  OVL_TEMPORARY, own->param_dtype, e->copy_stream, own->mark);
    }
    g->output = ovl_step_buffer(s, pass_name(e, "gather output", "regather output", own),
                                ovl_fsdp_padded(e->p, own, own->param_dtype), OVL_GATHERED,
                                own->param_dtype, e->copy_stream, own->mark);
    ovl_step_mover(s, pass_name(e, "gather copy_in", "regather copy_in", own), e->copy_stream,
                   source == g->held.shard ? ovl_fsdp_shard(own, own->dtype) : shard, shard,
                   e->p->fsdp->copy_rate, own->mark);
    ovl_step_after(s, e->gate);
    ovl_step_after(s, g->resharded);
    if (no_overlap(e)) {
        ovl_step_after(s, s->last);
    }
    e->gate = OVL_NONE;
    g->resharded = OVL_NONE;
    ovl_step_reads(s, source);
    ovl_step_writes(s, g->cast);
    ovl_step_writes(s, g->output);
}

static void add_gather(ovl_fsdp2 *e, ovl_fsdp2_group *g, uint32_t copied)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    bool near = g->near != OVL_NONE;
    ovl_op op = ovl_step_op(s, OVL_COLLECTIVE, pass_name(e, "gather", "regather", own),
                            near ? g->cost.near : g->cost.gather, e->gather_stream, own->mark);
    op.coll = OVL_ALL_GATHER;
    op.dtype = (uint8_t)own->param_dtype;
    op.comm = near ? e->slots[own->experts].near : e->slots[own->experts].shard;
    op.bytes = ovl_fsdp_padded(e->p, own, own->param_dtype);
    g->op = ovl_step_add(s, &op);
    ovl_step_after(s, copied);
    ovl_step_reads(s, g->output);
    ovl_step_writes(s, g->output);
}

void ovl_fsdp2_unshard(ovl_fsdp2 *e, ovl_fsdp2_group *g)
{
    if (g->op != OVL_NONE || g->whole != OVL_NONE || (ovl_fsdp2_backward(e) && g->g->skip)) {
        return;
    }
    copy_in(e, g);
    add_gather(e, g, e->s->added);
}

void ovl_fsdp2_free_deferred(ovl_fsdp2 *e)
{
    if (e->deferred != OVL_NONE) {
        gate(e, e->copied_out);
        ovl_step_release(e->s, &e->groups[e->deferred].output);
        e->deferred = OVL_NONE;
    }
}

static uint32_t copy_out(ovl_fsdp2 *e, ovl_fsdp2_group *g)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    uint64_t whole = ovl_fsdp_whole(own, own->param_dtype);
    g->whole = ovl_step_buffer(s, pass_name(e, "gathered", "regathered", own), whole, OVL_GATHERED,
                               own->param_dtype, s->compute, own->mark);
    uint32_t op = ovl_step_mover(s, pass_name(e, "copy_out", "copy_out again", own), s->compute,
                                 whole, whole, e->p->fsdp->copy_rate, own->mark);
    ovl_step_after(s, g->op);
    ovl_step_reads(s, g->output);
    ovl_step_writes(s, g->whole);
    return op;
}

/* In the forward the output is freed one unit later, so that its copy-out may overlap the next
 * gather. */
void ovl_fsdp2_wait(ovl_fsdp2 *e, ovl_fsdp2_group *g)
{
    if (g->op == OVL_NONE) {
        return;
    }
    if (!ovl_fsdp2_backward(e)) {
        ovl_fsdp2_free_deferred(e);
    }
    uint32_t copied = copy_out(e, g);
    ovl_step_release(e->s, &g->cast);
    if (ovl_fsdp2_backward(e)) {
        gate(e, copied);
        ovl_step_release(e->s, &g->output);
        ovl_step_release(e->s, &g->near);
    } else {
        e->deferred = (uint32_t)(g - e->groups);
        e->copied_out = copied;
    }
    g->op = OVL_NONE;
}

/* Only the group's own next gather waits for the reshard: the gathers of the forward go on. */
void ovl_fsdp2_reshard_forward(ovl_fsdp2 *e, ovl_fsdp2_group *g)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    const ovl_shard_ranks *r = ovl_shard_ranks_of(e->p, own);
    if (own->keep || g->whole == OVL_NONE) {
        return;
    }
    if (r->near) {
        uint64_t bytes = ovl_fsdp_padded(e->p, own, own->param_dtype) / r->near_n;
        g->near = ovl_step_buffer(s, ovl_step_name(s, "resharded", own->name), bytes, OVL_GATHERED,
                                  own->param_dtype, s->compute, own->mark);
        g->resharded = ovl_step_mover(s, ovl_step_name(s, "reshard", own->name), s->compute, bytes,
                                      bytes, e->p->fsdp->copy_rate, own->mark);
        ovl_step_reads(s, g->whole);
        ovl_step_writes(s, g->near);
    }
    ovl_step_release(s, &g->whole);
}

/* Whether a group is one of the units that the pass runs: a stage of a pipeline gathers for no
 * other. */
static bool in_pass(const ovl_fsdp2 *e, uint32_t target)
{
    const ovl_pass *pass = &e->s->pass;
    for (uint32_t i = 0; e->s->staged && i < pass->n_units; i++) {
        if (e->p->group_of[pass->first_unit + i] == target) {
            return true;
        }
    }
    return !e->s->staged;
}

void ovl_fsdp2_prefetch(ovl_fsdp2 *e, const ovl_fsdp2_group *g, int64_t depth)
{
    ovl_shard_walk walk = ovl_shard_walk_from(e->p, g->g, depth, ovl_fsdp2_backward(e));
    uint32_t target;
    while ((target = ovl_shard_walk_on(&walk)) != OVL_NONE && in_pass(e, target)) {
        ovl_fsdp2_unshard(e, &e->groups[target]);
    }
}
