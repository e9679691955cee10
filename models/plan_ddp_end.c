#include "models/plan_ddp_emit.h"

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
                                     .gradient = e->gradient_name[i]});
    }
    if (e->states != OVL_NONE) {
        ovl_ddp_reads(e, e->states);
        ovl_ddp_writes(e, e->states);
    }
}

void ovl_ddp_optimizer(ovl_ddp_code *e)
{
    const ovl_optimizer *optimizer = &e->p->workload->optimizer;
    ovl_mark mark = optimizer->given ? optimizer->mark : e->p->workload->mark;
    ovl_time length = optimizer->duration;
    ovl_id name = ovl_name(e->b, "optimizer");
    if (length > 0) {
        ovl_kernel_spec spec = {
            .name = "optimizer", .mark = mark, .duration = {&length, 1}, .klass = "optimizer"};
        ovl_ddp_compute(e, OVL_KERNEL, name, ovl_plan_kernel(e->l, &spec), mark);
    } else {
        ovl_plan_say(e->l, "The optimizer takes no time: workload.optimizer gives no duration.");
        ovl_ddp_compute(e, OVL_MARKER, name,
                        ovl_plan_length(e->l, "optimizer", mark, (ovl_times){0}), mark);
    }
    if (!copies_out(e)) {
        wait_for_buckets(e);
    }
    consume(e);
}

/* --- All-gathers --- */

static void gather_bucket(ovl_ddp_code *e, uint32_t k)
{
    const ovl_bucket *bucket = &e->p->buckets.item[k];
    ovl_op op = ovl_ddp_operation(e, OVL_COLLECTIVE,
                                  ovl_ddp_name_in(e, "gather bucket", ovl_ddp_number(e, k), false),
                                  ovl_ddp_comm_cost(e, k, OVL_ALL_GATHER), e->p->bucket_marks[k]);
    op.coll = OVL_ALL_GATHER;
    op.dtype = (uint8_t)bucket->dtype;
    op.stream = e->comm;
    op.comm = e->slot;
    op.bytes = bucket->bytes;
    ovl_add_op(e->b, e->code, &op);
    ovl_add_after(e->b, e->code, e->last);
    for (uint32_t i = 0; i < bucket->n_members; i++) {
        ovl_ddp_writes(e, e->parameter[e->p->buckets.members[bucket->first_member + i]]);
    }
}

/* The distributed optimizer updates a shard of each parameter; the rest comes from the others. */
void ovl_ddp_gather(ovl_ddp_code *e)
{
    if (!e->p->megatron || !e->p->ddp->distributed_optimizer) {
        return;
    }
    if (e->p->n > 1 && !ovl_find_collective(e->l->hw, OVL_ALL_GATHER, e->p->group->name)) {
        ovl_plan_say(e->l, "The all-gather of the updated parameters is not modelled: the "
                           "hardware gives no cost for all_gather.");
        return;
    }
    ovl_plan_say(e->l, "Parameters are gathered after the optimizer, before the step ends; "
                       "overlap with the next forward is not modelled.");
    for (uint32_t k = 0; k < e->p->buckets.count; k++) {
        gather_bucket(e, k);
    }
}
