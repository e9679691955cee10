/*
 * PyTorch's FullyShardedDataParallel (FSDP1), from
 * torch/distributed/fsdp/_runtime_utils.py@3ade90a6, _exec_order_utils.py@008ec6b1,
 * _limiter_utils.py.
 *
 * There is no copy-out: a gather writes the padded flat parameter that compute uses. Its memory
 * belongs to the unshard stream; compute was recorded with the allocator, so what is freed on the
 * host is usable again only when the GPU is through with it. Nothing else holds gathers back, so a
 * host that runs ahead has every unit allocated. The limiter keeps a queue of the events at which
 * freed parameters are through: before a gather, if it holds two, the host waits for the oldest.
 */
#include "models/shard.h"

typedef struct fsdp1_group {
    const ovl_param_group *g;
    ovl_shard_cost cost;
    ovl_shard_held held;
    ovl_id cast, whole, gradient;
    bool has_gradient; /* whole gradients of earlier microbatches */
    bool has_sum;      /* sharded ones */
} fsdp1_group;

typedef struct fsdp1 {
    ovl_fsdp_plan *p;
    ovl_step *s;
    fsdp1_group *groups;
    uint16_t pre_unshard, unshard, post_backward;
    ovl_shard_slots slots[2]; /* of dense parameters, of experts */
    ovl_id states;
    uint32_t gathered; /* the last gather: what compute waits for is the whole stream */
    uint32_t reduced;  /* the last operation of the post-backward stream */
    uint32_t gate;     /* what gathers wait for since the forward began, or OVL_NONE */
    uint32_t wait;     /* the gather that the next kernel waits for, or OVL_NONE */
    bool backward;
    OVL_VEC(uint32_t) freed; /* the last use of each freed parameter, oldest first */
} fsdp1;

static fsdp1 *state(ovl_step *s)
{
    const ovl_fsdp_plan *p = s->own;
    return p->code;
}

static fsdp1_group *group_of(const fsdp1 *e, uint32_t u)
{
    uint32_t g = e->p->group_of[u];
    return g == OVL_NONE ? NULL : &e->groups[g];
}

static bool is_root(const fsdp1 *e, const fsdp1_group *g)
{
    return (uint32_t)(g - e->groups) == e->p->root;
}

static bool last_microbatch(const fsdp1 *e)
{
    return e->s->pass.last;
}

static bool syncs(const fsdp1 *e)
{
    return e->p->fsdp->accumulate.gradient_sync == OVL_FSDP_EVERY || last_microbatch(e);
}

/* --- Opening a code --- */

static void open(ovl_step *s)
{
    ovl_fsdp_plan *p = s->own;
    fsdp1 *e = OVL_NEW(&s->scratch, fsdp1);
    *e = (fsdp1){.p = p, .s = s, .gathered = OVL_NONE, .reduced = OVL_NONE, .gate = OVL_NONE};
    p->code = e;
    e->pre_unshard = ovl_add_stream(s->b, s->code, "pre_unshard");
    e->unshard = ovl_add_stream(s->b, s->code, "unshard");
    e->post_backward = ovl_add_stream(s->b, s->code, "post_backward");
    ovl_shard_slots_of(p, e->slots);
    s->updates = ovl_shard_updates(p);
    e->groups = OVL_NEW_ARRAY(&s->scratch, fsdp1_group, p->n_groups);
    for (uint32_t i = 0; i < p->n_groups; i++) {
        fsdp1_group *g = &e->groups[i];
        *g = (fsdp1_group){.g = &p->groups[i], .cast = OVL_NONE, .whole = OVL_NONE};
        g->gradient = OVL_NONE;
        g->cost = ovl_shard_costs(p, i, i ? &e->groups[i - 1].cost : NULL);
        g->held = ovl_shard_hold(p, g->g);
    }
    e->states = ovl_shard_hold_states(p);
}

/* --- Gathering --- */

/* What a group gathers in both passes is told apart by the word before its name. */
static const char *pass_name(const fsdp1 *e, const char *forward, const char *backward,
                             const ovl_param_group *g)
{
    return ovl_step_name(e->s, e->backward ? backward : forward, g->name);
}

/* The host waits for the oldest freed parameters, if there are as many as allowed. */
static void limit(fsdp1 *e, const fsdp1_group *g)
{
    ovl_step *s = e->s;
    uint32_t most = (uint32_t)e->p->fsdp->limit_all_gathers;
    if (most == 0 || e->freed.len < most) {
        return;
    }
    const char *name = pass_name(e, "wait before gather", "wait before regather", g->g);
    ovl_plan_cost cost = ovl_plan_length(s->l, name, g->g->mark, (ovl_times){0});
    ovl_op op = ovl_step_op(s, OVL_HOST, name, cost, OVL_NO_STREAM, g->g->mark);
    op.launch = 0;
    ovl_step_add(s, &op);
    ovl_step_after(s, e->freed.data[0]);
    e->freed.len--;
    memmove(e->freed.data, e->freed.data + 1, e->freed.len * sizeof *e->freed.data);
}

/* The shard in the type of compute, where that is another. */
static uint32_t cast(fsdp1 *e, fsdp1_group *g)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    if (own->param_dtype == own->dtype) {
        return OVL_NONE;
    }
    uint64_t bytes = ovl_fsdp_shard(own, own->param_dtype);
    g->cast = ovl_step_recorded(s, pass_name(e, "cast shard", "cast shard again", own), bytes,
                                OVL_TEMPORARY, own->param_dtype, e->pre_unshard, own->mark);
    uint32_t op =
        ovl_step_mover(s, pass_name(e, "cast", "cast again", own), e->pre_unshard,
                       ovl_fsdp_shard(own, own->dtype), bytes, e->p->fsdp->copy_rate, own->mark);
    ovl_step_after(s, e->gate);
    ovl_step_reads(s, g->held.shard);
    ovl_step_writes(s, g->cast);
    return op;
}

static void unshard(fsdp1 *e, fsdp1_group *g)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    bool needed = g->whole == OVL_NONE;
    uint32_t ready = needed ? cast(e, g) : OVL_NONE;
    if (needed || e->p->fsdp->block == OVL_FSDP1_ALWAYS) {
        limit(e, g);
    }
    if (!needed) {
        return;
    }
    uint64_t bytes = ovl_fsdp_padded(e->p, own, own->param_dtype);
    g->whole = ovl_step_recorded(s, pass_name(e, "gathered", "regathered", own), bytes,
                                 OVL_GATHERED, own->param_dtype, e->unshard, own->mark);
    const char *name = pass_name(e, "gather", "regather", own);
    ovl_op op = ovl_step_op(s, OVL_COLLECTIVE, name, g->cost.gather, e->unshard, own->mark);
    op.coll = OVL_ALL_GATHER;
    op.dtype = (uint8_t)own->param_dtype;
    op.comm = e->slots[own->experts].shard;
    op.bytes = bytes;
    e->gathered = ovl_step_add(s, &op);
    ovl_step_after(s, ready);
    ovl_step_after(s, e->gate);
    ovl_step_reads(s, g->cast != OVL_NONE ? g->cast : g->held.shard);
    ovl_step_writes(s, g->whole);
    ovl_step_release(s, &g->cast);
}

/* The layer before or behind that of this group. */
static void prefetch(fsdp1 *e, const fsdp1_group *g)
{
    ovl_shard_walk walk = ovl_shard_walk_from(e->p, g->g, 1, e->backward);
    uint32_t target;
    while ((target = ovl_shard_walk_on(&walk)) != OVL_NONE) {
        unshard(e, &e->groups[target]);
    }
}

/* Parameters are freed on the host; the limiter waits for what used them last. */
static void reshard(fsdp1 *e, fsdp1_group *g)
{
    if (g->whole != OVL_NONE) {
        ovl_step_release(e->s, &g->whole);
        ovl_vec_push(&e->freed, e->s->last);
    }
}

/* --- Forward --- */

static void begin_forward(ovl_step *s, const ovl_pass *pass)
{
    fsdp1 *e = state(s);
    e->backward = false;
    if (pass->first_unit == 0) {
        e->gate = s->last;
        if (e->p->root != OVL_NONE) {
            unshard(e, &e->groups[e->p->root]);
        }
    }
}

static void before_forward(ovl_step *s, uint32_t u)
{
    fsdp1 *e = state(s);
    fsdp1_group *g = group_of(e, u);
    if (g && !is_root(e, g)) {
        unshard(e, g);
    }
    e->wait = e->gathered;
    if (g && e->p->fsdp->forward_prefetch) {
        prefetch(e, g);
    }
}

static void use_parameters(fsdp1 *e, const fsdp1_group *g)
{
    if (g) {
        ovl_step_after(e->s, e->wait);
        ovl_step_reads(e->s, g->whole);
    }
}

static void in_forward(ovl_step *s, uint32_t u)
{
    use_parameters(state(s), group_of(state(s), u));
}

static void after_forward(ovl_step *s, uint32_t u)
{
    fsdp1 *e = state(s);
    fsdp1_group *g = group_of(e, u);
    if (g && !is_root(e, g) && e->p->fsdp->sharding == OVL_FSDP1_FULL) {
        reshard(e, g);
    }
}

/* --- Backward --- */

static void begin_backward(ovl_step *s, const ovl_pass *pass)
{
    (void)pass;
    fsdp1 *e = state(s);
    e->backward = true;
    if (e->p->root != OVL_NONE && e->p->fsdp->backward_prefetch == OVL_FSDP1_PRE) {
        prefetch(e, &e->groups[e->p->root]);
    }
}

static void before_backward(ovl_step *s, uint32_t u)
{
    fsdp1 *e = state(s);
    fsdp1_group *g = group_of(e, u);
    if (!g) {
        return;
    }
    const ovl_param_group *own = g->g;
    if (!is_root(e, g)) {
        unshard(e, g);
    }
    e->wait = e->gathered;
    if (!is_root(e, g) && e->p->fsdp->backward_prefetch == OVL_FSDP1_PRE) {
        prefetch(e, g);
    }
    if (g->gradient == OVL_NONE) {
        g->gradient = ovl_step_recorded(s, ovl_arena_printf(&s->scratch, "%s.grad", own->name),
                                        ovl_fsdp_padded(e->p, own, own->grad_dtype), OVL_GRADIENT,
                                        own->grad_dtype, s->compute, own->mark);
    }
}

static void in_backward(ovl_step *s, uint32_t u)
{
    fsdp1 *e = state(s);
    const fsdp1_group *g = group_of(e, u);
    if (!g) {
        return;
    }
    use_parameters(e, g);
    if (g->has_gradient) {
        ovl_step_reads(s, g->gradient);
    }
    ovl_step_writes(s, g->gradient);
    ovl_step_produces(s, g->gradient, u, !g->has_gradient);
}

/* --- Reducing, on the post-backward stream --- */

static ovl_op reduction(fsdp1 *e, const fsdp1_group *g, ovl_coll coll)
{
    return ovl_shard_reduction(e->p, e->slots, g->g, &g->cost, coll, e->post_backward);
}

/* Gradients in the type of the reduction: themselves, or cast. */
static ovl_id reduce_input(fsdp1 *e, fsdp1_group *g, uint32_t *ready)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    *ready = s->last;
    if (own->reduce_dtype == own->grad_dtype) {
        return g->gradient;
    }
    uint64_t bytes = ovl_fsdp_padded(e->p, own, own->reduce_dtype);
    ovl_id input =
        ovl_step_buffer(s, ovl_step_name(s, "reduce input", own->name), bytes, OVL_REDUCE_BUFFER,
                        own->reduce_dtype, e->post_backward, own->mark);
    uint32_t op = ovl_step_mover(s, ovl_step_name(s, "reduce cast", own->name), e->post_backward,
                                 ovl_fsdp_padded(e->p, own, own->grad_dtype), bytes,
                                 e->p->fsdp->copy_rate, own->mark);
    ovl_step_after(s, *ready);
    ovl_step_reads(s, g->gradient);
    ovl_step_writes(s, input);
    ovl_step_effect(s, OVL_PACK, input, g->gradient, 1);
    *ready = op;
    return input;
}

static void accumulate(fsdp1 *e, fsdp1_group *g, ovl_id output)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    e->reduced = ovl_step_mover(s, ovl_step_name(s, "accumulate", own->name), e->post_backward,
                                ovl_fsdp_shard(own, own->reduce_dtype),
                                ovl_fsdp_shard(own, own->dtype), e->p->fsdp->copy_rate, own->mark);
    ovl_step_reads(s, output);
    ovl_step_writes(s, g->held.grad);
    if (g->has_sum) {
        ovl_step_reads(s, g->held.grad);
    }
    ovl_step_effect(s, g->has_sum ? OVL_ACCUMULATE : OVL_PACK, g->held.grad, output, 1);
    g->has_sum = true;
}

static void reduce(fsdp1 *e, fsdp1_group *g)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    uint32_t ready;
    ovl_id input = reduce_input(e, g, &ready);
    ovl_id output = ovl_step_buffer(s, ovl_step_name(s, "reduce output", own->name),
                                    ovl_fsdp_shard(own, own->reduce_dtype), OVL_REDUCE_BUFFER,
                                    own->reduce_dtype, e->post_backward, own->mark);
    ovl_op op = reduction(e, g, OVL_REDUCE_SCATTER);
    ovl_step_add(s, &op);
    ovl_step_after(s, ready);
    ovl_step_reads(s, input);
    ovl_step_writes(s, output);
    ovl_step_effect(s, OVL_SUM, output, input, 0);
    if (ovl_shard_ranks_of(e->p, own)->replica) {
        op = reduction(e, g, OVL_ALL_REDUCE);
        ovl_step_add(s, &op);
        ovl_step_reads(s, output);
        ovl_step_writes(s, output);
        ovl_step_effect(s, OVL_SUM, output, output, 0);
    }
    accumulate(e, g, output);
    if (input != g->gradient) {
        ovl_step_release(s, &input);
    }
    ovl_step_release(s, &output);
    ovl_step_release(s, &g->gradient);
    g->has_gradient = false;
}

/* SHARD_GRAD_OP keeps parameters while nothing is synchronised. */
static void post_backward(fsdp1 *e, fsdp1_group *g)
{
    if (syncs(e) || e->p->fsdp->sharding == OVL_FSDP1_FULL) {
        reshard(e, g);
    }
    if (!is_root(e, g) && e->p->fsdp->backward_prefetch == OVL_FSDP1_POST) {
        prefetch(e, g);
    }
    if (syncs(e)) {
        reduce(e, g);
    } else {
        g->has_gradient = true;
    }
}

static void after_backward(ovl_step *s, uint32_t u)
{
    fsdp1 *e = state(s);
    fsdp1_group *g = group_of(e, u);
    if (g && !is_root(e, g)) {
        post_backward(e, g);
    }
}

/* The default stream waits for the post-backward stream. */
static void end_backward(ovl_step *s, const ovl_pass *pass)
{
    fsdp1 *e = state(s);
    if (e->p->root != OVL_NONE && pass->first_unit == 0) {
        post_backward(e, &e->groups[e->p->root]);
    }
    if (e->reduced != OVL_NONE && syncs(e)) {
        ovl_step_marker(s, ovl_step_name(s, "wait for", "reductions"), s->compute,
                        e->p->fsdp->mark);
        ovl_step_after(s, e->reduced);
    }
}

/* --- Optimizer --- */

static void in_optimizer(ovl_step *s)
{
    fsdp1 *e = state(s);
    ovl_step_reads(s, e->states);
    ovl_step_writes(s, e->states);
    for (uint32_t i = 0; i < e->p->n_groups; i++) {
        ovl_shard_update(e->p, &e->groups[i].held);
    }
    for (uint32_t u = 0; u < s->n_units; u++) {
        const fsdp1_group *g = group_of(e, u);
        if (g) {
            ovl_step_consumes(s, g->held.grad, u);
        }
    }
}

static void next_step(ovl_step *s)
{
    fsdp1 *e = state(s);
    for (uint32_t i = 0; i < e->p->n_groups; i++) {
        e->groups[i].has_sum = false;
    }
}

static void close(ovl_step *s)
{
    ovl_vec_free(&state(s)->freed);
}

const ovl_strategy ovl_fsdp1_strategy = {
    .open = open,
    .begin_forward = begin_forward,
    .before_forward = before_forward,
    .in_forward = in_forward,
    .after_forward = after_forward,
    .begin_backward = begin_backward,
    .before_backward = before_backward,
    .in_backward = in_backward,
    .after_backward = after_backward,
    .end_backward = end_backward,
    .in_optimizer = in_optimizer,
    .next_step = next_step,
    .close = close,
};
