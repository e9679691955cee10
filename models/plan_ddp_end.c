#include "models/plan_ddp_emit.h"

#include "models/layer.h"

/* --- After the backward --- */

static bool copies_out(const ovl_ddp_code *e)
{
    return e->p->separate && e->p->copies && e->p->ddp->copy_in_rate > 0;
}

/* The end of a PyTorch backward: each bucket is waited for in order and copied back. */
static void add_copies_out(ovl_ddp_code *e)
{
    for (uint32_t k = 0; k < e->p->buckets.count; k++) {
        const ovl_bucket *bucket = &e->p->buckets.item[k];
        ovl_mark mark = e->p->bucket_marks[k];
        ovl_time length = ovl_bytes_time(bucket->bytes, e->p->ddp->copy_in_rate);
        ovl_ddp_compute(
            e, OVL_KERNEL,
            ovl_ddp_name_in(e, "copy_out bucket", ovl_ddp_number(e, k), ovl_ddp_reduces_often(e)),
            ovl_ddp_mover(e, "copy_out", mark, length, bucket->bytes), mark);
        ovl_add_after(e->b, e->code, e->reduction[k]);
        ovl_ddp_reads(e, e->bucket[k]);
        for (uint32_t i = 0; i < bucket->n_members; i++) {
            ovl_ddp_writes(e, e->gradient[e->p->buckets.members[bucket->first_member + i]]);
        }
    }
}

/* The operation last added waits for all reductions of this microbatch. */
static void wait_for_buckets(ovl_ddp_code *e)
{
    for (uint32_t k = 0; k < e->p->buckets.count; k++) {
        ovl_add_after(e->b, e->code, e->reduction[k]);
    }
}

void ovl_ddp_end_backward(ovl_ddp_code *e)
{
    for (uint32_t k = 0; !e->p->ddp->overlap && k < e->p->buckets.count; k++) {
        ovl_ddp_launch(e, k);
    }
    if (copies_out(e)) {
        add_copies_out(e);
    } else if (e->microbatch + 1 < e->p->microbatches) {
        ovl_ddp_compute(e, OVL_MARKER, ovl_ddp_name_in(e, "wait for", "buckets", true),
                        ovl_plan_length(e->l, "wait", e->p->ddp->mark, (ovl_times){0}),
                        e->p->ddp->mark);
        wait_for_buckets(e);
    }
}

/* --- Optimizer --- */

/* It needs every gradient, reduced. What was summed is followed in the buckets; a copy back into
 * separate gradients moves the same sums. */
static void consume(ovl_ddp_code *e)
{
    bool from_gradients = e->p->separate;
    for (uint32_t k = 0; !copies_out(e) && k < e->p->buckets.count; k++) {
        ovl_ddp_reads(e, e->bucket[k]);
    }
    for (uint32_t i = 0; i < e->p->n_tensors; i++) {
        if (from_gradients) {
            ovl_ddp_reads(e, e->gradient[i]);
        }
        ovl_ddp_writes(e, e->parameter[i]);
        ovl_add_effect(e->b, e->code,
                       &(ovl_effect){.kind = OVL_CONSUME,
                                     .buffer = e->bucket[e->p->bucket_of[i]],
                                     .source = OVL_NONE,
                                     .gradient = e->gradient_name[i],
                                     .apart = ovl_ddp_apart(e, i)});
    }
    if (e->states != OVL_NONE) {
        ovl_ddp_reads(e, e->states);
        ovl_ddp_writes(e, e->states);
    }
}

/* The optimizer ends the step. */
void ovl_ddp_optimizer(ovl_ddp_code *e)
{
    const ovl_optimizer *optimizer = &e->p->workload->optimizer;
    ovl_mark mark = optimizer->given ? optimizer->mark : e->p->workload->mark;
    ovl_op_kind kind;
    ovl_plan_cost cost = ovl_optimizer_cost(e->l, ovl_ddp_updates(e->p), mark, &kind);
    ovl_op op = ovl_ddp_operation(e, kind, ovl_name(e->b, "optimizer"), cost, mark);
    op.step_end = true;
    e->last = ovl_add_op(e->b, e->code, &op);
    if (!copies_out(e)) {
        wait_for_buckets(e);
    }
    consume(e);
}

/* --- All-gathers --- */

/* It waits for what the compute stream was given so far: the optimizer, or the forward before. */
static void gather_bucket(ovl_ddp_code *e, uint32_t k)
{
    const ovl_bucket *bucket = &e->p->buckets.item[k];
    ovl_op op = ovl_ddp_operation(e, OVL_COLLECTIVE,
                                  ovl_ddp_name_in(e, "gather bucket", ovl_ddp_number(e, k), false),
                                  ovl_ddp_comm_cost(e, k, OVL_ALL_GATHER), e->p->bucket_marks[k]);
    op.coll = OVL_ALL_GATHER;
    op.dtype = (uint8_t)bucket->dtype;
    op.stream = e->comm;
    op.comm = e->slot[bucket->experts];
    op.bytes = bucket->bytes;
    e->asked[k] = true;
    e->gathered[k] = ovl_add_op(e->b, e->code, &op);
    e->n_gathered++;
    if (e->last != OVL_NONE) {
        ovl_add_after(e->b, e->code, e->last);
    }
    for (uint32_t i = 0; i < bucket->n_members; i++) {
        ovl_ddp_writes(e, e->parameter[e->p->buckets.members[bucket->first_member + i]]);
    }
}

/* The distributed optimizer updates a shard of each parameter; the rest comes from the others. */
bool ovl_ddp_gathers(ovl_ddp_code *e)
{
    if (!e->p->megatron || !e->p->ddp->distributed_optimizer) {
        return false;
    }
    const ovl_ddp_ranks *r = &e->p->ranks[0];
    if (r->n > 1 && !ovl_find_collective(e->l->hw, OVL_ALL_GATHER, r->group->name, NULL)) {
        ovl_plan_say(e->l, "The all-gather of the updated parameters is not modelled: the "
                           "hardware gives no cost for all_gather.");
        return false;
    }
    return true;
}

void ovl_ddp_gather(ovl_ddp_code *e)
{
    for (uint32_t k = 0; k < e->p->buckets.count; k++) {
        gather_bucket(e, k);
    }
}

static uint32_t bucket_of_ready(const ovl_ddp_code *e, const ovl_unit *unit, uint32_t i)
{
    return e->p->bucket_of[e->p->ready[unit->first_ready + i]];
}

/* Buckets are in the order of the backward, so the next of the forward is the one before. */
static void gather_next(ovl_ddp_code *e)
{
    for (uint32_t k = e->p->buckets.count; k-- > 0;) {
        if (!e->asked[k]) {
            gather_bucket(e, k);
            return;
        }
    }
}

/* Megatron's forward hook: a bucket that nobody asked for yet is gathered now; whoever waits for
 * one that was, starts the next. */
void ovl_ddp_gather_for(ovl_ddp_code *e, const ovl_unit *unit)
{
    if (!e->gathers || !e->p->ddp->overlap_param_gather || e->microbatch > 0) {
        return;
    }
    for (uint32_t i = 0; i < unit->n_ready; i++) {
        uint32_t k = bucket_of_ready(e, unit, i);
        bool waits = !e->asked[k] || e->gathered[k] != OVL_NONE;
        if (!e->asked[k]) {
            gather_bucket(e, k);
        }
        if (waits && e->waited != k) {
            e->waited = k;
            gather_next(e);
        }
    }
}

static void wait_for_gather(ovl_ddp_code *e, uint32_t k)
{
    if (e->gathered[k] != OVL_NONE) {
        ovl_add_after(e->b, e->code, e->gathered[k]);
        e->gathered[k] = OVL_NONE;
        e->n_gathered--;
    }
}

/* Each gather is waited for once: what follows on the compute stream follows it. */
void ovl_ddp_wait_for_gathers(ovl_ddp_code *e, const ovl_unit *unit)
{
    bool all = !e->p->ddp->overlap_param_gather;
    for (uint32_t k = 0; all && e->n_gathered && k < e->p->buckets.count; k++) {
        wait_for_gather(e, k);
    }
    for (uint32_t i = 0; i < unit->n_ready; i++) {
        wait_for_gather(e, bucket_of_ready(e, unit, i));
    }
}

/* The next step begins anew; gradients that are buffers of their own are given back. */
void ovl_ddp_zero(ovl_ddp_code *e)
{
    e->waited = OVL_NONE;
    for (uint32_t k = 0; k < e->p->buckets.count; k++) {
        e->asked[k] = false;
    }
    for (uint32_t i = 0; e->p->separate && i < e->p->n_tensors; i++) {
        ovl_free_buffer(e->b, e->code, e->gradient[i]);
    }
}
