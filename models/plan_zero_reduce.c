#include "models/plan_zero.h"

/* Copies and reductions wait for compute, and follow one another on their stream, so the bucket is
 * never filled anew while it is reduced. */

void ovl_zero_allocate_gradient(ovl_zero_code *e, ovl_zero_group *g)
{
    const ovl_param_group *own = g->g;
    if (e->zero->stage == 1) {
        g->gradient = g->grad;
    } else if (g->gradient == OVL_NONE) {
        g->gradient =
            ovl_step_recorded(e->s, ovl_arena_printf(&e->s->scratch, "%s.grad", own->name),
                              ovl_fsdp_whole(own, own->grad_dtype), OVL_GRADIENT, own->grad_dtype,
                              e->s->compute, own->mark);
    }
}

/* Stage 1 adds to the gradients of earlier microbatches. */
void ovl_zero_produce(ovl_zero_code *e, ovl_zero_group *g, uint32_t u)
{
    ovl_step *s = e->s;
    bool adds = e->zero->stage == 1 && g->has_gradient;
    g->has_gradient = true;
    if (adds) {
        ovl_step_reads(s, g->gradient);
    }
    ovl_step_writes(s, g->gradient);
    ovl_step_produces(s, g->gradient, u, !adds);
}

static ovl_zero_bucket *bucket_of(ovl_zero_code *e, const ovl_zero_group *g)
{
    return &e->bucket[g->g->experts];
}

static void copy_in(ovl_zero_code *e, ovl_zero_group *g)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    const ovl_zero_bucket *bucket = bucket_of(e, g);
    uint64_t bytes = ovl_fsdp_whole(own, own->grad_dtype);
    uint32_t computed = s->last;
    ovl_step_mover(s, ovl_step_name(s, "copy_in", own->name), e->reduce_stream, bytes, bytes,
                   e->zero->copy_rate, own->mark);
    ovl_step_after(s, computed);
    ovl_step_reads(s, g->gradient);
    ovl_step_writes(s, bucket->buffer);
    if (bucket->groups.len == 0) {
        ovl_step_effect(s, OVL_RESET, bucket->buffer, OVL_NONE, 0);
    }
    ovl_step_effect(s, OVL_PACK, bucket->buffer, g->gradient, 1);
    if (e->zero->stage > 1) {
        ovl_step_release(s, &g->gradient);
    }
}

/* What the rank keeps of a reduced bucket: its slice of each gradient. */
static void keep_slices(ovl_zero_code *e, const ovl_zero_bucket *bucket, const char *number)
{
    ovl_step *s = e->s;
    const ovl_param_group *first = e->groups[bucket->groups.data[0]].g;
    uint64_t bytes =
        bucket->elements / ovl_shard_ranks_of(e->p, first)->n * ovl_dtype_size(first->grad_dtype);
    e->reduced = ovl_step_mover(s, ovl_step_name(s, "keep bucket", number), e->reduce_stream, bytes,
                                bytes, e->zero->copy_rate, e->zero->mark);
    ovl_step_reads(s, bucket->buffer);
    for (uint32_t i = 0; i < bucket->groups.len; i++) {
        ovl_zero_group *g = &e->groups[bucket->groups.data[i]];
        bool adds = g->has_sum && e->zero->stage > 1;
        if (adds) {
            ovl_step_reads(s, g->grad);
        }
        ovl_step_writes(s, g->grad);
        ovl_step_effect(s, adds ? OVL_ACCUMULATE : OVL_PACK, g->grad, bucket->buffer, 1);
        g->has_sum = true;
    }
}

static void flush(ovl_zero_code *e, ovl_zero_bucket *bucket)
{
    ovl_step *s = e->s;
    if (bucket->groups.len == 0) {
        return;
    }
    const ovl_param_group *first = e->groups[bucket->groups.data[0]].g;
    const char *number = ovl_arena_printf(s->l->arena, "%" PRIu32, e->n_buckets++);
    uint32_t n = ovl_shard_ranks_of(e->p, first)->n;
    ovl_param_group all = *first;
    all.name = ovl_arena_printf(s->l->arena, "bucket %s", number);
    all.shard = (bucket->elements + n - 1) / n;
    uint64_t bytes = all.shard * n * ovl_dtype_size(first->grad_dtype);
    ovl_plan_cost cost = ovl_shard_cost_of(e->p, &all, OVL_REDUCE_SCATTER, bytes);
    ovl_op op = ovl_step_op(s, OVL_COLLECTIVE, ovl_step_name(s, "reduce bucket", number), cost,
                            e->reduce_stream, e->zero->mark);
    op.coll = OVL_REDUCE_SCATTER;
    op.dtype = (uint8_t)first->grad_dtype;
    op.average = true;
    op.comm = e->slots[first->experts].shard;
    op.bytes = bytes;
    ovl_step_add(s, &op);
    ovl_step_reads(s, bucket->buffer);
    ovl_step_writes(s, bucket->buffer);
    ovl_step_effect(s, OVL_SUM, bucket->buffer, bucket->buffer, 0);
    keep_slices(e, bucket, number);
    bucket->groups.len = 0;
    bucket->elements = 0;
}

void ovl_zero_flush(ovl_zero_code *e)
{
    flush(e, &e->bucket[0]);
    flush(e, &e->bucket[1]);
}

void ovl_zero_add_to_bucket(ovl_zero_code *e, ovl_zero_group *g)
{
    ovl_zero_bucket *bucket = bucket_of(e, g);
    bool full = bucket->elements + g->g->elements > (uint64_t)e->zero->reduce_bucket_size;
    if (bucket->groups.len && full) {
        flush(e, bucket);
    }
    copy_in(e, g);
    ovl_vec_push(&bucket->groups, (uint32_t)(g - e->groups));
    bucket->elements += g->g->elements;
}

void ovl_zero_wait(ovl_zero_code *e)
{
    if (e->reduced != OVL_NONE) {
        ovl_step_marker(e->s, ovl_step_name(e->s, "wait for", "reductions"), e->s->compute,
                        e->zero->mark);
        ovl_step_after(e->s, e->reduced);
        e->reduced = OVL_NONE;
    }
}

void ovl_zero_update(ovl_zero_code *e)
{
    ovl_step *s = e->s;
    ovl_step_reads(s, e->states);
    ovl_step_writes(s, e->states);
    for (uint32_t i = 0; i < e->p->n_groups; i++) {
        ovl_zero_group *g = &e->groups[i];
        ovl_step_reads(s, g->grad);
        ovl_step_reads(s, g->states);
        ovl_step_writes(s, g->states);
        ovl_step_writes(s, g->shard != OVL_NONE ? g->shard : g->whole);
        g->has_sum = false;
    }
    for (uint32_t u = 0; u < s->n_units; u++) {
        const ovl_zero_group *g = ovl_zero_group_of(e, u);
        if (g) {
            ovl_step_consumes(s, g->grad, u);
        }
    }
}
