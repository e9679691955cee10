#include "models/plan_ddp_emit.h"

#include "models/layer.h"

/* --- Names and plain operations --- */

ovl_id ovl_ddp_name_in(ovl_ddp_code *e, const char *what, const char *of, bool several)
{
    char *text =
        several ? ovl_arena_printf(&e->p->scratch, "%s %s mb %" PRIu32, what, of, e->microbatch)
                : ovl_arena_printf(&e->p->scratch, "%s %s", what, of);
    return ovl_name(e->b, text);
}

const char *ovl_ddp_number(ovl_ddp_code *e, uint32_t k)
{
    return ovl_arena_printf(&e->p->scratch, "%" PRIu32, k);
}

uint16_t ovl_ddp_apart(ovl_ddp_code *e, uint32_t tensor)
{
    const ovl_group *parts = e->p->expert_parts;
    return e->p->tensors[tensor].experts && parts
               ? (uint16_t)(ovl_plan_slot(e->l, e->code, parts) + 1)
               : ovl_inner_apart(&e->inner);
}

ovl_op ovl_ddp_operation(const ovl_ddp_code *e, ovl_op_kind kind, ovl_id name, ovl_plan_cost cost,
                         ovl_mark mark)
{
    return (ovl_op){.kind = (uint8_t)kind,
                    .dtype = (uint8_t)e->p->workload->dtype,
                    .per_rank = cost.per_rank,
                    .stream = e->compute,
                    .comm = OVL_NO_COMM,
                    .name = name,
                    .cost = cost.id,
                    .batch = OVL_NONE,
                    .launch = kind == OVL_MARKER ? 0 : e->launch,
                    .mark = mark};
}

uint32_t ovl_ddp_compute(ovl_ddp_code *e, ovl_op_kind kind, ovl_id name, ovl_plan_cost cost,
                         ovl_mark mark)
{
    ovl_op op = ovl_ddp_operation(e, kind, name, cost, mark);
    e->last = ovl_add_op(e->b, e->code, &op);
    return e->last;
}

void ovl_ddp_reads(ovl_ddp_code *e, ovl_id buffer)
{
    ovl_add_access(e->b, e->code, buffer, false);
}

void ovl_ddp_writes(ovl_ddp_code *e, ovl_id buffer)
{
    ovl_add_access(e->b, e->code, buffer, true);
}

ovl_plan_cost ovl_ddp_mover(ovl_ddp_code *e, const char *name, ovl_mark mark, ovl_time length,
                            uint64_t bytes)
{
    ovl_kernel_spec spec = {.name = name,
                            .mark = mark,
                            .duration = {.item = &length, .count = 1},
                            .hbm = 2 * bytes,
                            .no_compute = true,
                            .klass = "copy_in"};
    return ovl_plan_kernel(e->l, &spec);
}

bool ovl_ddp_reduces_often(const ovl_ddp_code *e)
{
    return e->p->microbatches > 1 && !e->p->ddp->no_sync;
}

ovl_plan_cost ovl_ddp_comm_cost(ovl_ddp_code *e, uint32_t k, ovl_coll coll)
{
    bool experts = e->p->buckets.item[k].experts;
    ovl_comm_spec spec = {.name = ovl_arena_printf(e->l->arena, "bucket %" PRIu32, k),
                          .mark = e->p->bucket_marks[k],
                          .op = coll,
                          .group = e->p->ranks[experts].group->name,
                          .n = e->p->ranks[experts].n,
                          .spread = e->spread[experts],
                          .has_bytes = true,
                          .bytes = e->p->buckets.item[k].bytes};
    return ovl_plan_comm(e->l, &spec);
}

/* --- Buffers --- */

ovl_id ovl_ddp_buffer(ovl_ddp_code *e, const char *name, uint64_t bytes, ovl_category category,
                      ovl_dtype dtype, bool held, ovl_mark mark)
{
    return ovl_add_buffer(e->b, e->code,
                          &(ovl_buffer){.name = ovl_name(e->b, name),
                                        .bytes = bytes,
                                        .category = (uint8_t)category,
                                        .dtype = (uint8_t)dtype,
                                        .stream = e->compute,
                                        .held = held,
                                        .mark = mark});
}

uint64_t ovl_ddp_updates(const ovl_ddp_plan *p)
{
    bool distributed = p->megatron && p->ddp->distributed_optimizer;
    uint64_t elements[2] = {0}, own = 0;
    for (uint32_t i = 0; i < p->n_tensors; i++) {
        const ovl_tensor *t = &p->tensors[i];
        elements[t->experts] += t->bytes / ovl_dtype_size(t->dtype);
    }
    for (int k = 0; k < 2; k++) {
        uint64_t ranks = distributed ? OVL_MAX(p->ranks[k].n, 1) : 1;
        own += (elements[k] + ranks - 1) / ranks;
    }
    return own;
}

/* As given, or moments and master weights of what the rank updates. */
static uint64_t state_bytes(const ovl_ddp_plan *p)
{
    const ovl_optimizer *optimizer = &p->workload->optimizer;
    return optimizer->states ? optimizer->states
                             : ovl_optimizer_bytes(optimizer, ovl_ddp_updates(p));
}

/* What lives through the whole training: parameters, buckets, optimizer states. */
static void add_held_buffers(ovl_ddp_code *e)
{
    ovl_ddp_plan *p = e->p;
    for (uint32_t i = 0; i < p->n_tensors; i++) {
        const ovl_tensor *t = &p->tensors[i];
        e->parameter[i] =
            ovl_ddp_buffer(e, t->name, t->bytes, OVL_PARAMETER, t->dtype, true, t->mark);
        e->gradient_name[i] = ovl_name(e->b, t->name);
    }
    for (uint32_t k = 0; k < p->buckets.count; k++) {
        const ovl_bucket *bucket = &p->buckets.item[k];
        const char *name = ovl_arena_printf(&p->scratch, "bucket %" PRIu32, k);
        e->bucket[k] = ovl_ddp_buffer(e, name, bucket->bytes, OVL_REDUCE_BUFFER, bucket->dtype,
                                      true, p->bucket_marks[k]);
    }
    for (uint32_t i = 0; !p->separate && i < p->n_tensors; i++) {
        e->gradient[i] = e->bucket[p->bucket_of[i]];
    }
    const ovl_optimizer *optimizer = &p->workload->optimizer;
    uint64_t states = state_bytes(p);
    if (states) {
        e->states = ovl_ddp_buffer(e, "optimizer states", states, OVL_OPTIMIZER,
                                   (ovl_dtype)p->workload->dtype, true, optimizer->mark);
    }
}

/* --- The whole --- */

static void add_microbatch(ovl_ddp_code *e, uint32_t m)
{
    e->microbatch = m;
    e->reduces = m + 1 == e->p->microbatches || !e->p->ddp->no_sync;
    e->next[0] = e->next[1] = 0;
    for (uint32_t k = 0; k < e->p->buckets.count; k++) {
        e->pending[k] = e->p->buckets.item[k].n_members;
    }
    ovl_inner_start(&e->inner, OVL_NONE, true);
    for (uint32_t u = 0; u < e->p->n_units; u++) {
        ovl_ddp_forward(e, u);
    }
    for (uint32_t u = e->p->n_units; u-- > 0;) {
        ovl_ddp_backward(e, u);
    }
    if (e->reduces) {
        ovl_ddp_end_backward(e);
    }
}

static void prepare(ovl_ddp_code *e)
{
    ovl_ddp_plan *p = e->p;
    ovl_arena *scratch = &p->scratch;
    e->code = ovl_plan_code(e->l);
    e->compute = ovl_add_stream(e->b, e->code, "compute");
    e->comm = ovl_add_stream(e->b, e->code, p->ddp->stream ? p->ddp->stream : "comm");
    for (int k = 0; k < 2 && p->ranks[k].group; k++) {
        e->slot[k] = ovl_plan_slot(e->l, e->code, p->ranks[k].group);
    }
    e->launch = ovl_plan_launch(e->l);
    e->parameter = OVL_NEW_ARRAY(scratch, ovl_id, p->n_tensors);
    e->gradient = OVL_NEW_ARRAY(scratch, ovl_id, p->n_tensors);
    e->gradient_name = OVL_NEW_ARRAY(scratch, ovl_id, p->n_tensors);
    e->bucket = OVL_NEW_ARRAY(scratch, ovl_id, p->buckets.count);
    e->activation = OVL_NEW_ARRAY(scratch, ovl_id, p->n_units);
    e->bucket_cost = OVL_NEW_ARRAY(scratch, ovl_plan_cost, p->buckets.count);
    e->pending = OVL_NEW_ARRAY(scratch, uint32_t, p->buckets.count);
    e->reduction = OVL_NEW_ARRAY(scratch, uint32_t, p->buckets.count);
    e->gathered = OVL_NEW_ARRAY(scratch, uint32_t, p->buckets.count);
    e->asked = OVL_NEW_ARRAY(scratch, bool, p->buckets.count);
    for (uint32_t k = 0; k < p->buckets.count; k++) {
        e->gathered[k] = OVL_NONE;
    }
    e->states = e->last = e->waited = OVL_NONE;
}

/* PyTorch scales at copy-in, and in a bucket view by dividing the bucket; a scale of the user's own
 * is taken at its word, so that a wrong one shows in the proof. */
static void set_scales(ovl_ddp_code *e)
{
    const ovl_ddp *ddp = e->p->ddp;
    e->average = !e->p->separate && !ddp->has_gradient_scale;
    for (int k = 0; k < 2; k++) {
        uint32_t n = OVL_MAX(e->p->ranks[k].n, 1);
        double own = ddp->has_gradient_scale ? ddp->gradient_scale : 1.0 / n;
        e->scale[k] = 1.0 / e->p->microbatches;
        e->pack_scale[k] = own;
        e->scale[k] *= e->p->separate || e->average ? 1 : own;
    }
}

static void say_copies(ovl_ddp_code *e)
{
    bool timed = e->p->ddp->copy_in_rate > 0 || e->p->n_tensors == 0;
    for (uint32_t i = 0; i < e->p->n_tensors && !timed; i++) {
        timed = e->p->copy_in[i] > 0;
    }
    if (e->p->separate && !timed) {
        ovl_plan_say(e->l, "Copies of gradients into and out of buckets take no time: no "
                           "copy_in_rate is given.");
    }
}

static ovl_id write_code(void *plan, uint32_t rank)
{
    ovl_ddp_plan *p = plan;
    ovl_ddp_code e = {.p = p, .l = p->l, .b = p->l->b};
    for (int k = 0; k < 2 && p->ranks[k].group; k++) {
        e.spread[k] = ovl_plan_spread(p->l, p->ranks[k].group, rank);
    }
    bool scatter = p->megatron && p->ddp->distributed_optimizer;
    e.coll = scatter ? OVL_REDUCE_SCATTER : OVL_ALL_REDUCE;
    prepare(&e);
    ovl_inner_open(&e.inner, p->l, &p->scratch, e.code, rank, e.compute);
    set_scales(&e);
    say_copies(&e);
    e.gathers = ovl_ddp_gathers(&e);
    for (uint32_t k = 0; k < p->buckets.count; k++) {
        e.bucket_cost[k] = ovl_ddp_comm_cost(&e, k, e.coll);
    }
    add_held_buffers(&e);
    for (e.step = 0; e.step < p->steps; e.step++) {
        for (uint32_t m = 0; m < p->microbatches; m++) {
            add_microbatch(&e, m);
        }
        ovl_ddp_optimizer(&e);
        if (e.gathers && !p->ddp->overlap_param_gather) {
            ovl_ddp_gather(&e);
        }
        if (e.step + 1 < p->steps) {
            ovl_ddp_zero(&e);
        }
    }
    ovl_inner_close(&e.inner);
    return e.code;
}

/* Whether those who two ranks reduce with lie alike on nodes. */
static bool alike(void *plan, uint32_t a, uint32_t b)
{
    const ovl_ddp_plan *p = plan;
    bool same = ovl_inner_alike(p->l, a, b);
    for (int k = 0; k < 2 && p->ranks[k].group && same; k++) {
        const ovl_group *group = p->ranks[k].group;
        same = ovl_plan_spread(p->l, group, a) == ovl_plan_spread(p->l, group, b);
    }
    return same;
}

void ovl_ddp_emit(ovl_ddp_plan *p)
{
    ovl_plan_codes(p->l, write_code, alike, p);
}
