#include "models/plan_ddp_emit.h"

static void add_kernel(ovl_ddp_code *e, const char *pass, const ovl_unit *unit, ovl_plan_cost cost,
                       ovl_time host)
{
    ovl_id name = ovl_ddp_name_in(e, pass, unit->name, e->p->microbatches > 1);
    ovl_op op = ovl_ddp_operation(e, OVL_KERNEL, name, cost, unit->mark);
    op.launch += host;
    e->last = ovl_add_op(e->b, e->code, &op);
}

/* --- Forward --- */

static void read_parameters(ovl_ddp_code *e, const ovl_unit *unit)
{
    for (uint32_t i = 0; i < unit->n_ready; i++) {
        ovl_ddp_reads(e, e->parameter[e->p->ready[unit->first_ready + i]]);
    }
}

void ovl_ddp_forward(ovl_ddp_code *e, uint32_t u)
{
    const ovl_unit *unit = &e->p->units[u];
    bool several = e->p->microbatches > 1;
    e->activation[u] = OVL_NONE;
    if (unit->forward.id == OVL_NONE) {
        return;
    }
    if (unit->activation) {
        ovl_id name = ovl_ddp_name_in(e, "activations", unit->name, several);
        e->activation[u] =
            ovl_ddp_buffer(e, ovl_names_text(e->b->names, name), unit->activation, OVL_ACTIVATION,
                           (ovl_dtype)e->p->workload->dtype, false, unit->mark);
    }
    ovl_ddp_gather_for(e, unit);
    add_kernel(e, "forward", unit, unit->forward, unit->forward_host);
    ovl_ddp_wait_for_gathers(e, unit);
    read_parameters(e, unit);
    if (e->activation[u] != OVL_NONE) {
        ovl_ddp_writes(e, e->activation[u]);
    }
}

/* --- Reductions --- */

/* The communication stream waits for all that the compute stream was given so far. */
void ovl_ddp_launch(ovl_ddp_code *e, uint32_t k)
{
    const ovl_ddp *ddp = e->p->ddp;
    const ovl_bucket *bucket = &e->p->buckets.item[k];
    ovl_mark mark = e->p->bucket_marks[k];
    if (ddp->bucket_overhead > 0) {
        ovl_ddp_compute(
            e, OVL_KERNEL,
            ovl_ddp_name_in(e, "launch bucket", ovl_ddp_number(e, k), ovl_ddp_reduces_often(e)),
            ovl_ddp_mover(e, "launch bucket", mark, ddp->bucket_overhead, 0), mark);
    }
    ovl_op op = ovl_ddp_operation(
        e, OVL_COLLECTIVE,
        ovl_ddp_name_in(e, "bucket", ovl_ddp_number(e, k), ovl_ddp_reduces_often(e)),
        e->bucket_cost[k], mark);
    op.coll = (uint8_t)e->coll;
    op.dtype = (uint8_t)bucket->dtype;
    op.average = e->average;
    op.stream = e->comm;
    op.comm = e->slot;
    op.bytes = bucket->bytes;
    e->reduction[k] = ovl_add_op(e->b, e->code, &op);
    if (e->last != OVL_NONE) {
        ovl_add_after(e->b, e->code, e->last);
    }
    ovl_ddp_reads(e, e->bucket[k]);
    ovl_ddp_writes(e, e->bucket[k]);
    ovl_add_effect(
        e->b, e->code,
        &(ovl_effect){
            .kind = OVL_SUM, .buffer = e->bucket[k], .source = e->bucket[k], .gradient = OVL_NONE});
}

/* PyTorch launches a bucket only after those before it; Megatron any that is complete. */
static void gradient_ready(ovl_ddp_code *e, uint32_t tensor)
{
    uint32_t k = e->p->bucket_of[tensor];
    if (--e->pending[k] > 0 || !e->p->ddp->overlap) {
        return;
    }
    if (e->p->megatron) {
        ovl_ddp_launch(e, k);
        return;
    }
    while (e->next < e->p->buckets.count && e->pending[e->next] == 0) {
        ovl_ddp_launch(e, e->next++);
    }
}

/* --- Backward --- */

static void produce_one(ovl_ddp_code *e, uint32_t tensor, uint32_t microbatch, bool first)
{
    ovl_add_effect(e->b, e->code,
                   &(ovl_effect){.kind = (uint8_t)(first ? OVL_PRODUCE : OVL_ADD),
                                 .buffer = e->gradient[tensor],
                                 .source = OVL_NONE,
                                 .gradient = e->gradient_name[tensor],
                                 .microbatch = microbatch,
                                 .scale = e->scale});
}

/* The operation last added produces a gradient of this microbatch, or adds to those before.
 *
 * Where a bucket view is reduced in every microbatch, an average goes over what earlier ones
 * already averaged; since the average of equal values is that value, the earlier part is followed
 * as the local gradients it stands for. */
static void produce(ovl_ddp_code *e, uint32_t tensor)
{
    if (e->microbatch > 0) {
        ovl_ddp_reads(e, e->gradient[tensor]);
    }
    ovl_ddp_writes(e, e->gradient[tensor]);
    bool restate = !e->p->separate && ovl_ddp_reduces_often(e);
    if (!restate) {
        produce_one(e, tensor, e->microbatch, e->microbatch == 0);
        return;
    }
    for (uint32_t m = 0; m <= e->microbatch; m++) {
        produce_one(e, tensor, m, m == 0);
    }
}

/* The operation last added copies a gradient into its bucket. */
static void pack(ovl_ddp_code *e, uint32_t tensor)
{
    ovl_id bucket = e->bucket[e->p->bucket_of[tensor]];
    ovl_ddp_reads(e, e->gradient[tensor]);
    ovl_ddp_writes(e, bucket);
    ovl_add_effect(e->b, e->code,
                   &(ovl_effect){.kind = OVL_PACK,
                                 .buffer = bucket,
                                 .source = e->gradient[tensor],
                                 .gradient = OVL_NONE,
                                 .scale = e->pack_scale});
}

/* Whether a copy-in kernel of its own moves the gradient now. Megatron's adds it to the bucket in
 * every microbatch, PyTorch's runs only before a reduction. */
static bool copied_now(const ovl_ddp_code *e, uint32_t tensor)
{
    return e->p->copy_in[tensor] > 0 && (e->reduces || !e->p->separate);
}

static void add_copy_in(ovl_ddp_code *e, uint32_t tensor)
{
    const ovl_tensor *t = &e->p->tensors[tensor];
    ovl_plan_cost cost = ovl_ddp_mover(e, "copy_in", t->mark, e->p->copy_in[tensor],
                                       OVL_MIN(t->bytes, UINT64_MAX / 2));
    ovl_ddp_compute(e, OVL_KERNEL, ovl_ddp_name_in(e, "copy_in", t->name, e->p->microbatches > 1),
                    cost, t->mark);
    if (e->p->separate) {
        pack(e, tensor);
    } else {
        produce(e, tensor);
    }
}

/* What the backward kernel itself does with the gradients it makes ready. */
static void touch_gradients(ovl_ddp_code *e, const ovl_unit *unit)
{
    for (uint32_t i = 0; i < unit->n_ready; i++) {
        uint32_t tensor = e->p->ready[unit->first_ready + i];
        bool copied = copied_now(e, tensor);
        if (e->p->separate || !copied) {
            produce(e, tensor);
        }
        if (e->p->separate && e->reduces && !copied) {
            pack(e, tensor);
        }
    }
}

/* A gradient is allocated where the first backward produces it, and lives until the optimizer. */
static void add_gradient_buffers(ovl_ddp_code *e, const ovl_unit *unit)
{
    for (uint32_t i = 0; e->p->separate && e->microbatch == 0 && i < unit->n_ready; i++) {
        uint32_t tensor = e->p->ready[unit->first_ready + i];
        const ovl_tensor *t = &e->p->tensors[tensor];
        const char *name = ovl_arena_printf(&e->p->scratch, "%s.grad", t->name);
        e->gradient[tensor] =
            ovl_ddp_buffer(e, name, t->bytes, OVL_GRADIENT, t->dtype, false, t->mark);
    }
}

void ovl_ddp_backward(ovl_ddp_code *e, uint32_t u)
{
    const ovl_unit *unit = &e->p->units[u];
    ovl_id activation = e->activation[u];
    add_gradient_buffers(e, unit);
    ovl_ddp_gather_for(e, unit);
    add_kernel(e, "backward", unit, unit->backward, unit->backward_host);
    ovl_ddp_wait_for_gathers(e, unit);
    read_parameters(e, unit);
    if (activation != OVL_NONE) {
        ovl_ddp_reads(e, activation);
    }
    touch_gradients(e, unit);
    if (activation != OVL_NONE) {
        ovl_free_buffer(e->b, e->code, activation);
    }
    for (uint32_t i = 0; i < unit->n_ready; i++) {
        uint32_t tensor = e->p->ready[unit->first_ready + i];
        if (copied_now(e, tensor)) {
            add_copy_in(e, tensor);
        }
        if (e->reduces) {
            gradient_ready(e, tensor);
        }
    }
}
