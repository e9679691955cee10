#include "models/plan_ddp_emit.h"

/* A pass of one unit: its kernel, or all that it is made of. */
typedef struct unit_pass {
    ovl_ddp_code *e;
    const ovl_unit *unit;
    const char *word; /* in names */
    ovl_inner_pass inner;
    ovl_plan_cost cost; /* of a unit that is one kernel */
    ovl_time host;
    void (*touch)(const struct unit_pass *p); /* accesses of the last kernel */
    ovl_id activation, again;                 /* buffers, or OVL_NONE */
} unit_pass;

static const char *name_of_inner(void *context, const char *op)
{
    const unit_pass *p = context;
    const char *of = ovl_arena_printf(&p->e->p->scratch, "%s.%s", p->unit->name, op);
    ovl_id name = ovl_ddp_name_in(p->e, p->word, of, p->e->p->microbatches > 1);
    return ovl_names_copy(p->e->b->names, name, &p->e->p->scratch);
}

static void first_of_inner(void *context)
{
    const unit_pass *p = context;
    ovl_ddp_wait_for_gathers(p->e, p->unit);
}

static void last_of_inner(void *context, uint32_t local)
{
    const unit_pass *p = context;
    p->e->last = local;
    p->touch(p);
}

static void add_unit(unit_pass *p)
{
    ovl_ddp_code *e = p->e;
    if (p->unit->inner) {
        ovl_inner_caller caller = {.context = p,
                                   .name = name_of_inner,
                                   .first = first_of_inner,
                                   .last_kernel = last_of_inner,
                                   .host = p->host,
                                   .mark = p->unit->mark};
        e->inner.last = e->last;
        ovl_inner_run(&e->inner, p->unit->inner, p->inner, &caller);
        return;
    }
    ovl_id name = ovl_ddp_name_in(e, p->word, p->unit->name, e->p->microbatches > 1);
    ovl_op op = ovl_ddp_operation(e, OVL_KERNEL, name, p->cost, p->unit->mark);
    op.launch += p->host;
    e->last = ovl_add_op(e->b, e->code, &op);
    ovl_ddp_wait_for_gathers(e, p->unit);
    p->touch(p);
}

static ovl_id kept_buffer(ovl_ddp_code *e, const ovl_unit *unit, const char *what, ovl_sizes sizes)
{
    ovl_id name = ovl_ddp_name_in(e, what, unit->name, e->p->microbatches > 1);
    ovl_buffer buffer = {.name = name,
                         .category = OVL_ACTIVATION,
                         .dtype = (uint8_t)e->p->workload->dtype,
                         .stream = e->compute,
                         .mark = unit->mark};
    ovl_plan_size(e->l, unit->name, sizes, &buffer);
    return buffer.bytes ? ovl_add_buffer(e->b, e->code, &buffer) : OVL_NONE;
}

/* What is there only while a unit that recomputes is at work. */
static ovl_id again_buffer(ovl_ddp_code *e, const ovl_unit *unit)
{
    return unit->recompute ? kept_buffer(e, unit, "activations", unit->again) : OVL_NONE;
}

static void free_again(ovl_ddp_code *e, ovl_id buffer)
{
    if (buffer != OVL_NONE) {
        ovl_free_buffer(e->b, e->code, buffer);
    }
}

/* --- Forward --- */

static void read_parameters(ovl_ddp_code *e, const ovl_unit *unit)
{
    for (uint32_t i = 0; i < unit->n_ready; i++) {
        ovl_ddp_reads(e, e->parameter[e->p->ready[unit->first_ready + i]]);
    }
}

static void write_if(ovl_ddp_code *e, ovl_id buffer)
{
    if (buffer != OVL_NONE) {
        ovl_ddp_writes(e, buffer);
    }
}

static void read_if(ovl_ddp_code *e, ovl_id buffer)
{
    if (buffer != OVL_NONE) {
        ovl_ddp_reads(e, buffer);
    }
}

static void touch_forward(const unit_pass *p)
{
    read_parameters(p->e, p->unit);
    write_if(p->e, p->activation);
    write_if(p->e, p->again);
}

void ovl_ddp_forward(ovl_ddp_code *e, uint32_t u)
{
    const ovl_unit *unit = &e->p->units[u];
    e->activation[u] = OVL_NONE;
    if (unit->forward.id == OVL_NONE) {
        return;
    }
    e->activation[u] =
        kept_buffer(e, unit, unit->recompute ? "checkpoint" : "activations", unit->activation);
    ovl_id again = again_buffer(e, unit);
    ovl_ddp_gather_for(e, unit);
    add_unit(&(unit_pass){e, unit, "forward", OVL_INNER_FORWARD, unit->forward, unit->forward_host,
                          touch_forward, e->activation[u], again});
    free_again(e, again);
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
    op.comm = e->slot[bucket->experts];
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

/* PyTorch launches a bucket only after those before it, experts being a module with a process group
 * of its own; Megatron any that is complete. */
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
    bool experts = e->p->buckets.item[k].experts;
    uint32_t *next = &e->next[experts];
    for (; *next < e->p->buckets.count; ++*next) {
        bool own = e->p->buckets.item[*next].experts == experts;
        if (own && e->pending[*next] > 0) {
            return;
        }
        if (own) {
            ovl_ddp_launch(e, *next);
        }
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
                                 .apart = ovl_ddp_apart(e, tensor),
                                 .scale = e->scale[e->p->tensors[tensor].experts]});
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
                                 .scale = e->pack_scale[e->p->tensors[tensor].experts]});
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

static void touch_again(const unit_pass *p)
{
    read_if(p->e, p->activation);
    write_if(p->e, p->again);
}

static void touch_backward(const unit_pass *p)
{
    read_parameters(p->e, p->unit);
    read_if(p->e, p->activation);
    read_if(p->e, p->again);
    touch_gradients(p->e, p->unit);
}

/* The forward once more; it starts when the gradient is there and leaves that to the backward. */
static void recompute(ovl_ddp_code *e, const ovl_unit *unit, ovl_id activation, ovl_id again)
{
    uint32_t chain = e->inner.chain;
    bool is_kernel = e->inner.chain_is_kernel;
    add_unit(&(unit_pass){e, unit, "recompute", OVL_INNER_AGAIN, unit->forward, unit->forward_host,
                          touch_again, activation, again});
    ovl_inner_start(&e->inner, chain, is_kernel);
}

void ovl_ddp_backward(ovl_ddp_code *e, uint32_t u)
{
    const ovl_unit *unit = &e->p->units[u];
    ovl_id activation = e->activation[u];
    add_gradient_buffers(e, unit);
    ovl_ddp_gather_for(e, unit);
    ovl_id again = again_buffer(e, unit);
    if (unit->recompute) {
        recompute(e, unit, activation, again);
    }
    add_unit(&(unit_pass){e, unit, "backward", OVL_INNER_BACKWARD, unit->backward,
                          unit->backward_host, touch_backward, activation, again});
    free_again(e, again);
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
