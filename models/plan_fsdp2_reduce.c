#include "models/plan_fsdp2.h"

bool ovl_fsdp2_now(const ovl_fsdp2 *e, int when)
{
    return when == OVL_FSDP_EVERY || e->s->pass.last;
}

static const ovl_fsdp_accumulate *controls(const ovl_fsdp2 *e)
{
    return &e->p->fsdp->accumulate;
}

/* --- Whole gradients of several microbatches --- */

static bool widens(const ovl_fsdp2_group *g)
{
    return g->g->reduce_dtype != g->g->grad_dtype;
}

/* The operation last added reads the whole gradients of a group, puts them into a buffer, and they
 * are freed. */
static void take_gradients(ovl_fsdp2 *e, const ovl_fsdp2_group *g, ovl_effect_kind kind,
                           ovl_id into)
{
    for (uint32_t u = g->g->first; (u = ovl_fsdp2_unit(e, g, u)) != OVL_NONE; u++) {
        ovl_step_reads(e->s, e->gradients[u]);
        ovl_step_effect(e->s, kind, into, e->gradients[u], 1);
    }
    for (uint32_t u = g->g->first; (u = ovl_fsdp2_unit(e, g, u)) != OVL_NONE; u++) {
        ovl_step_release(e->s, &e->gradients[u]);
    }
}

/* Gradients that are not reduced now stay whole, in the type they will be reduced in: in place, or
 * added to a buffer of their own. */
static void accumulate_whole(ovl_fsdp2 *e, ovl_fsdp2_group *g)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    uint64_t bytes = ovl_fsdp_whole(own, own->reduce_dtype);
    bool first = !g->has_gradient;
    g->has_gradient = true;
    if (!widens(g)) {
        return; /* the backward adds to what is there */
    }
    if (first) {
        g->gathered_gradient =
            ovl_step_buffer(s, ovl_arena_printf(&s->scratch, "accumulated %s.grad", own->name),
                            bytes, OVL_GRADIENT, own->reduce_dtype, s->compute, own->mark);
    }
    ovl_step_mover(s, ovl_step_name(s, "accumulate", own->name), s->compute,
                   ovl_fsdp_whole(own, own->grad_dtype), bytes, e->p->fsdp->copy_rate, own->mark);
    ovl_step_writes(s, g->gathered_gradient);
    take_gradients(e, g, first ? OVL_PACK : OVL_ACCUMULATE, g->gathered_gradient);
}

/* --- Reduce-scatter --- */

/* Compute waits for the oldest reductions beyond the number allowed, which frees their inputs. The
 * operation that waits is the one added next. */
static uint32_t take_oldest(ovl_fsdp2 *e)
{
    uint32_t waits = OVL_NONE, most = (uint32_t)e->p->fsdp->outstanding_reduces, taken = 0;
    for (; e->reduces.len - taken >= most; taken++) {
        ovl_fsdp2_reduce *r = &e->reduces.data[taken];
        waits = r->op; /* on one stream: the latest covers the others */
        ovl_step_release(e->s, &r->input);
    }
    if (taken) {
        e->reduces.len -= taken;
        memmove(e->reduces.data, e->reduces.data + taken, e->reduces.len * sizeof *e->reduces.data);
    }
    return waits;
}

/* The reduce-scatter's input, filled from the whole gradients. */
static ovl_id copy_in(ovl_fsdp2 *e, ovl_fsdp2_group *g)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    uint32_t waits = take_oldest(e);
    uint64_t bytes = ovl_fsdp_padded(e->p, own, own->reduce_dtype);
    bool gathered = g->gathered_gradient != OVL_NONE;
    ovl_dtype dtype = gathered ? own->reduce_dtype : own->grad_dtype;
    ovl_id input = ovl_step_buffer(s, ovl_step_name(s, "reduce input", own->name), bytes,
                                   OVL_REDUCE_BUFFER, own->reduce_dtype, s->compute, own->mark);
    ovl_step_mover(s, ovl_step_name(s, "reduce copy_in", own->name), s->compute,
                   ovl_fsdp_whole(own, dtype), bytes, e->p->fsdp->copy_rate, own->mark);
    ovl_step_after(s, waits);
    if (gathered) {
        ovl_step_reads(s, g->gathered_gradient);
        ovl_step_effect(s, OVL_PACK, input, g->gathered_gradient, 1);
        ovl_step_release(s, &g->gathered_gradient);
    } else {
        take_gradients(e, g, OVL_PACK, input);
    }
    ovl_step_writes(s, input);
    g->has_gradient = false;
    return input;
}

static ovl_op reduction(ovl_fsdp2 *e, const ovl_fsdp2_group *g, ovl_coll coll)
{
    uint16_t stream = coll == OVL_REDUCE_SCATTER ? e->scatter_stream : e->reduce_stream;
    return ovl_shard_reduction(e->p, e->slots, g->g, &g->cost, coll, stream);
}

static uint32_t reduce_scatter(ovl_fsdp2 *e, ovl_fsdp2_group *g, ovl_id input, ovl_id *output)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    *output = ovl_step_buffer(s, ovl_step_name(s, "reduce output", own->name),
                              ovl_fsdp_shard(own, own->reduce_dtype), OVL_REDUCE_BUFFER,
                              own->reduce_dtype, e->scatter_stream, own->mark);
    ovl_op op = reduction(e, g, OVL_REDUCE_SCATTER);
    uint32_t local = ovl_step_add(s, &op);
    ovl_step_after(s, s->last);
    ovl_step_after(s, e->scatter_gate);
    e->scatter_gate = OVL_NONE;
    ovl_step_reads(s, input);
    ovl_step_writes(s, *output);
    ovl_step_effect(s, OVL_SUM, *output, input, 0);
    return local;
}

/* --- Behind the reduce-scatter --- */

/* `output` goes into, or is added to, sharded sums; gives the operation. */
static uint32_t accumulate(ovl_fsdp2 *e, ovl_fsdp2_group *g, const char *word, uint16_t stream,
                           ovl_id into, ovl_dtype dtype, ovl_id output, bool first)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    uint32_t op = ovl_step_mover(s, ovl_step_name(s, word, own->name), stream,
                                 ovl_fsdp_shard(own, own->reduce_dtype), ovl_fsdp_shard(own, dtype),
                                 e->p->fsdp->copy_rate, own->mark);
    ovl_step_reads(s, output);
    ovl_step_writes(s, into);
    if (!first) {
        ovl_step_reads(s, into);
    }
    ovl_step_effect(s, first ? OVL_PACK : OVL_ACCUMULATE, into, output, 1);
    return op;
}

/* Sums that wait for the all-reduce of a later microbatch: in the sharded gradient where it has the
 * type of the reduction, else in a buffer of their own. */
static uint32_t keep_partial(ovl_fsdp2 *e, ovl_fsdp2_group *g, ovl_id *output)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    bool in_place = own->dtype == own->reduce_dtype;
    bool first = !g->has_partial;
    if (!in_place && g->partial == OVL_NONE) {
        g->partial = ovl_step_buffer(s, ovl_arena_printf(&s->scratch, "partial sums %s", own->name),
                                     ovl_fsdp_shard(own, own->reduce_dtype), OVL_REDUCE_BUFFER,
                                     own->reduce_dtype, e->scatter_stream, own->mark);
    }
    uint32_t op = accumulate(e, g, "keep", e->scatter_stream, in_place ? g->held.grad : g->partial,
                             own->reduce_dtype, *output, first);
    g->has_partial = true;
    ovl_step_release(s, output);
    return op;
}

/* Earlier sums join on the reduce-scatter's stream; the all-reduce waits for that stream. */
static uint32_t all_reduce(ovl_fsdp2 *e, ovl_fsdp2_group *g, uint32_t before, ovl_id output)
{
    ovl_step *s = e->s;
    if (g->has_partial) {
        ovl_id sums = g->partial != OVL_NONE ? g->partial : g->held.grad;
        before = ovl_step_mover(s, ovl_step_name(s, "join", g->g->name), e->scatter_stream,
                                ovl_fsdp_shard(g->g, g->g->reduce_dtype),
                                ovl_fsdp_shard(g->g, g->g->reduce_dtype), e->p->fsdp->copy_rate,
                                g->g->mark);
        ovl_step_reads(s, sums);
        ovl_step_reads(s, output);
        ovl_step_writes(s, output);
        ovl_step_effect(s, OVL_ACCUMULATE, output, sums, 1);
        ovl_step_release(s, &g->partial);
        g->has_partial = false;
    }
    ovl_op op = reduction(e, g, OVL_ALL_REDUCE);
    uint32_t local = ovl_step_add(s, &op);
    ovl_step_after(s, before);
    ovl_step_reads(s, output);
    ovl_step_writes(s, output);
    ovl_step_effect(s, OVL_SUM, output, output, 0);
    return local;
}

static uint32_t finish_reduction(ovl_fsdp2 *e, ovl_fsdp2_group *g, uint32_t scatter, ovl_id output)
{
    ovl_step *s = e->s;
    if (!ovl_shard_ranks_of(e->p, g->g)->replica) {
        uint32_t op = accumulate(e, g, "accumulate", e->scatter_stream, g->held.grad, g->g->dtype,
                                 output, !g->has_sum);
        ovl_step_release(s, &output);
        g->has_sum = true;
        return op;
    }
    if (!ovl_fsdp2_now(e, controls(e)->all_reduce)) {
        return keep_partial(e, g, &output);
    }
    bool first = !g->has_sum;
    all_reduce(e, g, scatter, output);
    uint32_t op =
        accumulate(e, g, "accumulate", e->reduce_stream, g->held.grad, g->g->dtype, output, first);
    if (g->reduced != OVL_NONE) { /* of a microbatch whose end did not wait */
        e->scatter_gate = g->reduced_end;
        ovl_step_release(s, &g->reduced);
    }
    g->reduced = output;
    g->reduced_end = op;
    g->has_sum = true;
    return op;
}

/* --- The whole --- */

void ovl_fsdp2_reshard_backward(ovl_fsdp2 *e, ovl_fsdp2_group *g)
{
    if (controls(e)->reshard_after_backward || ovl_fsdp2_now(e, OVL_FSDP_LAST)) {
        ovl_step_release(e->s, &g->whole);
    }
}

static void reduce(ovl_fsdp2 *e, ovl_fsdp2_group *g)
{
    ovl_id input = copy_in(e, g), output;
    uint32_t scatter = reduce_scatter(e, g, input, &output);
    ovl_vec_push(&e->reduces, (ovl_fsdp2_reduce){input, scatter});
    uint32_t end = finish_reduction(e, g, scatter, output);
    ovl_vec_push(&e->ends, end);
}

static bool reduces_behind(const ovl_fsdp2 *e)
{
    return controls(e)->gradient_sync == OVL_FSDP_BEHIND;
}

void ovl_fsdp2_post_backward(ovl_fsdp2 *e, ovl_fsdp2_group *g)
{
    bool behind = reduces_behind(e);
    if (behind || !ovl_fsdp2_now(e, controls(e)->gradient_sync)) {
        if (!behind || controls(e)->reshard_after_backward) {
            ovl_fsdp2_reshard_backward(e, g);
        }
        accumulate_whole(e, g);
        return;
    }
    if (g->gathered_gradient != OVL_NONE) {
        accumulate_whole(e, g);
    }
    ovl_fsdp2_reshard_backward(e, g);
    reduce(e, g);
}

void ovl_fsdp2_reduce_behind(ovl_fsdp2 *e, const ovl_pass *pass)
{
    if (!reduces_behind(e) || !pass->last) {
        return;
    }
    for (uint32_t u = pass->first_unit; u < pass->first_unit + pass->n_units; u++) {
        ovl_fsdp2_group *g = ovl_fsdp2_group_of(e, u);
        if (g && g->has_gradient) {
            ovl_fsdp2_reshard_backward(e, g);
            reduce(e, g);
        }
    }
}

void ovl_fsdp2_finalize(ovl_fsdp2 *e)
{
    if (e->ends.len == 0) {
        return;
    }
    ovl_step_marker(e->s, ovl_step_name(e->s, "wait for", "reductions"), e->s->compute,
                    e->p->fsdp->mark);
    for (uint32_t i = 0; i < e->ends.len; i++) {
        ovl_step_after(e->s, e->ends.data[i]);
    }
    for (uint32_t i = 0; i < e->reduces.len; i++) {
        ovl_step_after(e->s, e->reduces.data[i].op);
        ovl_step_release(e->s, &e->reduces.data[i].input);
    }
    for (uint32_t i = 0; i < e->p->n_groups; i++) {
        ovl_step_release(e->s, &e->groups[i].reduced);
    }
    e->ends.len = e->reduces.len = 0;
}
