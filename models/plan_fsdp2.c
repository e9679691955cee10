#include "models/plan_fsdp2.h"

static ovl_fsdp2 *state(ovl_step *s)
{
    const ovl_fsdp_plan *p = s->own;
    return p->code;
}

bool ovl_fsdp2_backward(const ovl_fsdp2 *e)
{
    return e->s->pass.kind != OVL_PASS_FORWARD;
}

ovl_fsdp2_group *ovl_fsdp2_group_of(const ovl_fsdp2 *e, uint32_t u)
{
    uint32_t g = e->p->group_of[u];
    return g == OVL_NONE ? NULL : &e->groups[g];
}

ovl_fsdp2_group *ovl_fsdp2_root(const ovl_fsdp2 *e)
{
    return e->p->root == OVL_NONE ? NULL : &e->groups[e->p->root];
}

uint32_t ovl_fsdp2_unit(const ovl_fsdp2 *e, const ovl_fsdp2_group *g, uint32_t u)
{
    uint32_t own = (uint32_t)(g - e->groups);
    while (u <= g->g->last && e->p->group_of[u] != own) {
        u++;
    }
    return u <= g->g->last ? u : OVL_NONE;
}

/* --- Opening a code --- */

static void open_groups(ovl_fsdp2 *e)
{
    e->groups = OVL_NEW_ARRAY(&e->s->scratch, ovl_fsdp2_group, e->p->n_groups);
    for (uint32_t i = 0; i < e->p->n_groups; i++) {
        ovl_fsdp2_group *g = &e->groups[i];
        *g = (ovl_fsdp2_group){.g = &e->p->groups[i]};
        g->cast = g->output = g->whole = g->near = g->gathered_gradient = OVL_NONE;
        g->partial = g->reduced = OVL_NONE;
        g->op = OVL_NONE;
        g->resharded = OVL_NONE;
        g->cost = ovl_shard_costs(e->p, i, i ? &e->groups[i - 1].cost : NULL);
        g->held = ovl_shard_hold(e->p, g->g);
    }
}

static void open(ovl_step *s)
{
    ovl_fsdp_plan *p = s->own;
    ovl_fsdp2 *e = OVL_NEW(&s->scratch, ovl_fsdp2);
    *e = (ovl_fsdp2){
        .p = p, .s = s, .gate = OVL_NONE, .deferred = OVL_NONE, .scatter_gate = OVL_NONE};
    p->code = e;
    e->copy_stream = ovl_add_stream(s->b, s->code, "gather copy_in");
    e->gather_stream = ovl_add_stream(s->b, s->code, "all_gather");
    e->scatter_stream = ovl_add_stream(s->b, s->code, "reduce_scatter");
    if (p->ranks[0].replica) {
        e->reduce_stream = ovl_add_stream(s->b, s->code, "all_reduce");
    }
    ovl_shard_slots_of(p, e->slots);
    s->updates = ovl_shard_updates(p);
    open_groups(e);
    e->gradients = OVL_NEW_ARRAY(&s->scratch, ovl_id, s->n_units);
    for (uint32_t u = 0; u < s->n_units; u++) {
        e->gradients[u] = OVL_NONE;
    }
    e->states = ovl_shard_hold_states(p);
}

/* --- Forward --- */

/* The root's pre-forward lets the gathers' streams wait for compute, and so for the optimizer and
 * for whatever a backward before waited for. */
static void begin_forward(ovl_step *s, const ovl_pass *pass)
{
    ovl_fsdp2 *e = state(s);
    ovl_fsdp2_group *root = ovl_fsdp2_root(e);
    e->gate = pass->first_unit == 0 || s->staged ? s->last : e->gate;
    if (root && pass->first_unit == 0) {
        ovl_fsdp2_unshard(e, root);
        ovl_fsdp2_wait(e, root);
    }
}

static void before_forward(ovl_step *s, uint32_t u)
{
    ovl_fsdp2 *e = state(s);
    ovl_fsdp2_group *g = ovl_fsdp2_group_of(e, u);
    if (!g || g == ovl_fsdp2_root(e)) {
        return;
    }
    ovl_fsdp2_unshard(e, g);
    ovl_fsdp2_wait(e, g);
    ovl_fsdp2_prefetch(e, g, e->p->fsdp->prefetch.forward);
}

static void in_forward(ovl_step *s, uint32_t u)
{
    const ovl_fsdp2_group *g = ovl_fsdp2_group_of(state(s), u);
    if (g) {
        ovl_step_reads(s, g->whole);
    }
}

static void after_forward(ovl_step *s, uint32_t u)
{
    ovl_fsdp2_group *g = ovl_fsdp2_group_of(state(s), u);
    if (g) {
        ovl_fsdp2_reshard_forward(state(s), g);
    }
}

static void end_forward(ovl_step *s, const ovl_pass *pass)
{
    (void)pass;
    ovl_fsdp2_free_deferred(state(s));
}

/* --- Backward --- */

/* The root's hook comes first and gathers for the last unit. */
static void begin_backward(ovl_step *s, const ovl_pass *pass)
{
    (void)pass;
    ovl_fsdp2 *e = state(s);
    ovl_fsdp2_group *root = ovl_fsdp2_root(e);
    if (root) {
        ovl_fsdp2_unshard(e, root);
        ovl_fsdp2_wait(e, root);
        ovl_fsdp2_prefetch(e, root, e->p->fsdp->prefetch.backward);
    }
}

static void before_backward(ovl_step *s, uint32_t u)
{
    ovl_fsdp2 *e = state(s);
    ovl_fsdp2_group *g = ovl_fsdp2_group_of(e, u);
    if (g && g != ovl_fsdp2_root(e) && s->pass.kind != OVL_PASS_WEIGHT) {
        ovl_fsdp2_unshard(e, g);
        ovl_fsdp2_wait(e, g);
        ovl_fsdp2_prefetch(e, g, e->p->fsdp->prefetch.backward);
    }
    if (g && e->gradients[u] == OVL_NONE && s->pass.kind != OVL_PASS_INPUT) {
        const ovl_step_unit *unit = &s->units[u];
        ovl_dtype dtype = g->g->grad_dtype;
        e->gradients[u] = ovl_step_buffer(s, ovl_arena_printf(&s->scratch, "%s.grad", unit->name),
                                          unit->n_elements * ovl_dtype_size(dtype), OVL_GRADIENT,
                                          dtype, s->compute, unit->mark);
    }
}

static void in_input(ovl_step *s, uint32_t u)
{
    const ovl_fsdp2_group *g = ovl_fsdp2_group_of(state(s), u);
    if (g && !g->g->skip) {
        ovl_step_reads(s, g->whole);
    }
}

static void in_backward(ovl_step *s, uint32_t u)
{
    const ovl_fsdp2 *e = state(s);
    const ovl_fsdp2_group *g = ovl_fsdp2_group_of(e, u);
    if (!g) {
        return;
    }
    bool adds = g->has_gradient && g->gathered_gradient == OVL_NONE;
    if (s->pass.kind != OVL_PASS_WEIGHT) {
        in_input(s, u);
    }
    if (adds) {
        ovl_step_reads(s, e->gradients[u]);
    }
    ovl_step_writes(s, e->gradients[u]);
    ovl_step_produces(s, e->gradients[u], u, !adds);
}

static void after_backward(ovl_step *s, uint32_t u)
{
    ovl_fsdp2 *e = state(s);
    ovl_fsdp2_group *g = ovl_fsdp2_group_of(e, u);
    if (g && s->pass.kind == OVL_PASS_INPUT) {
        ovl_fsdp2_reshard_backward(e, g);
    } else if (g && g != ovl_fsdp2_root(e)) {
        ovl_fsdp2_post_backward(e, g);
    }
}

/* The root's gradients are complete last. */
static void end_backward(ovl_step *s, const ovl_pass *pass)
{
    ovl_fsdp2 *e = state(s);
    ovl_fsdp2_group *root = ovl_fsdp2_root(e);
    if (root && pass->first_unit == 0) {
        ovl_fsdp2_post_backward(e, root);
    }
    ovl_fsdp2_reduce_behind(e, pass);
    if (ovl_fsdp2_now(e, e->p->fsdp->accumulate.last_backward)) {
        ovl_fsdp2_finalize(e);
    }
}

/* --- Optimizer --- */

static void in_optimizer(ovl_step *s)
{
    ovl_fsdp2 *e = state(s);
    ovl_step_reads(s, e->states);
    ovl_step_writes(s, e->states);
    for (uint32_t i = 0; i < e->p->n_groups; i++) {
        ovl_shard_update(e->p, &e->groups[i].held);
    }
    for (uint32_t u = 0; u < s->n_units; u++) {
        const ovl_fsdp2_group *g = ovl_fsdp2_group_of(e, u);
        if (g) {
            ovl_step_consumes(s, g->held.grad, u);
        }
    }
}

static void next_step(ovl_step *s)
{
    ovl_fsdp2 *e = state(s);
    for (uint32_t i = 0; i < e->p->n_groups; i++) {
        e->groups[i].has_sum = false;
    }
}

static void close(ovl_step *s)
{
    ovl_fsdp2 *e = state(s);
    ovl_vec_free(&e->reduces);
    ovl_vec_free(&e->ends);
}

const ovl_strategy ovl_fsdp2_strategy = {
    .open = open,
    .begin_forward = begin_forward,
    .before_forward = before_forward,
    .in_forward = in_forward,
    .after_forward = after_forward,
    .end_forward = end_forward,
    .begin_backward = begin_backward,
    .before_backward = before_backward,
    .in_backward = in_backward,
    .in_input = in_input,
    .after_backward = after_backward,
    .end_backward = end_backward,
    .in_optimizer = in_optimizer,
    .next_step = next_step,
    .close = close,
};
