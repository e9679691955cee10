/*
 * plan_pipeline_ddp.c - overlap.ddp in a pipeline: each stage is a model of its own, whose
 * gradients are reduced in buckets during its last backward (no_sync before), or, where backwards
 * are split, its last gradients of weights.
 *
 * Buckets are those of the stage's layers in backward order, by PyTorch's or Megatron's rule.
 * Gradients are views of them.
 *
 * Example: a stage of two layers of 10 MiB, a cap of 10 MiB: the bucket of the second layer is
 * reduced beside the backward of the first.
 */
#include "models/bucket.h"
#include "models/plan_pipeline_code.h"

typedef struct bucket {
    uint64_t bytes;
    ovl_plan_cost cost;
    ovl_id buffer;
    bool experts;
    uint32_t n_units, ready; /* of its units, those whose last backward was added */
    uint32_t reduction;      /* the operation; OVL_NONE: not yet */
} bucket;

/* The state of one place. */
typedef struct place {
    ovl_pipe_code *e;
    const ovl_ddp *ddp;
    uint16_t stream, slot[2]; /* of dense gradients, of those of experts */
    OVL_VEC(bucket) buckets;
    uint32_t *bucket_of; /* [n_units]; OVL_NONE: nothing to reduce */
    ovl_id *parameter;   /* [n_units] */
    bool *has_gradient;  /* [n_units] of an earlier microbatch */
} place;

static const ovl_ddp *ddp_of(const ovl_pipe_plan *p)
{
    return &p->l->scenario->ddp;
}

/* --- What goes together --- */

static const char *why_not(const ovl_pipe_plan *p)
{
    const ovl_ddp *ddp = ddp_of(p);
    if (ddp->distributed_optimizer) {
        return "has no distributed_optimizer: that is overlap.pipeline.data_parallel with sharded: "
               "true";
    }
    if (ddp->buckets_node || ddp->order.count) {
        return "makes its buckets by size, not from lists";
    }
    return ddp->no_sync ? NULL : "reduces once a step, with the last backward of a stage: no_sync";
}

bool ovl_pipe_ddp_plan(ovl_pipe_plan *p)
{
    const ovl_ddp *ddp = ddp_of(p);
    const char *why = ddp->given ? why_not(p) : NULL;
    if (why) {
        ovl_error(p->l->errs, OVL_E_INPUT, ddp->mark, "overlap.ddp in a pipeline %s", why);
        return false;
    }
    if (!ddp->given) {
        return true;
    }
    ovl_plan_say(p->l, "In a pipeline gradients are views of their buckets: copies into and out of "
                       "them take neither time nor memory.");
    return ovl_pipe_data_groups(p, ddp->group, ddp->mark);
}

/* --- Buckets --- */

static uint64_t bytes_of(const ovl_step_unit *unit)
{
    return unit->n_elements * ovl_dtype_size(unit->dtype);
}

static ovl_buckets make_buckets(place *d, const ovl_tensor *tensors, const uint32_t *order,
                                uint32_t n, uint32_t members)
{
    const ovl_ddp *ddp = d->ddp;
    ovl_arena *scratch = &d->e->step->scratch;
    uint64_t limits[] = {ddp->first_bucket_cap, ddp->bucket_cap};
    uint64_t size = ddp->bucket_size ? (uint64_t)ddp->bucket_size
                                     : OVL_MAX(UINT64_C(40000000), UINT64_C(1000000) * members);
    bool one = !ddp->overlap;
    if (ddp->policy == OVL_DDP_MEGATRON || one) {
        ovl_megatron how = {.bucket_size = one ? 0 : size, .dp = 1, .expert_dp = 1};
        return ovl_buckets_megatron(tensors, order, n, &how, scratch);
    }
    return ovl_buckets_pytorch(tensors, order, n, limits, OVL_COUNT(limits), scratch);
}

static ovl_plan_cost cost_of(place *d, uint64_t bytes, bool experts)
{
    ovl_pipe_code *e = d->e;
    const ovl_group *group = e->p->data[experts];
    ovl_comm_spec spec = {.name = "bucket",
                          .mark = d->ddp->mark,
                          .op = OVL_ALL_REDUCE,
                          .group = group->name,
                          .n = ovl_plan_members(e->l, group, e->member),
                          .spread = ovl_plan_spread(e->l, group, e->member),
                          .has_bytes = true,
                          .bytes = bytes};
    ovl_plan_cost cost = ovl_plan_comm(e->l, &spec);
    e->broken = e->broken || cost.id == OVL_NONE;
    return cost;
}

static void add_bucket(place *d, const ovl_bucket *made, const uint32_t *units)
{
    ovl_step *s = d->e->step;
    const ovl_step_unit *first = &s->units[units[0]];
    bucket b = {.bytes = made->bytes,
                .cost = cost_of(d, made->bytes, made->experts),
                .experts = made->experts,
                .n_units = made->n_members,
                .reduction = OVL_NONE};
    b.buffer = ovl_step_held(s, ovl_arena_printf(&s->scratch, "bucket from %s", first->name),
                             made->bytes, OVL_GRADIENT, made->dtype, d->ddp->mark);
    for (uint32_t k = 0; k < made->n_members; k++) {
        d->bucket_of[units[k]] = d->buckets.len;
    }
    ovl_vec_push(&d->buckets, b);
}

/* Those of one stage: units first .. end - 1 of the step. */
static void add_stage(place *d, uint32_t first, uint32_t end)
{
    ovl_step *s = d->e->step;
    ovl_tensor *tensors = OVL_NEW_ARRAY(&s->scratch, ovl_tensor, s->n_units);
    uint32_t *order = OVL_NEW_ARRAY(&s->scratch, uint32_t, s->n_units), n = 0;
    for (uint32_t u = end; u-- > first;) {
        const ovl_step_unit *unit = &s->units[u];
        tensors[u] =
            (ovl_tensor){unit->name, bytes_of(unit), unit->dtype, unit->mark, unit->experts};
        if (tensors[u].bytes) {
            order[n++] = u;
        }
    }
    uint32_t members = ovl_plan_members(d->e->l, d->e->p->data[0], d->e->member);
    ovl_buckets made = make_buckets(d, tensors, order, n, members);
    for (uint32_t k = 0; k < made.count; k++) {
        add_bucket(d, &made.item[k], made.members + made.item[k].first_member);
    }
}

static void open(ovl_step *s)
{
    place *d = s->own;
    ovl_pipe_code *e = d->e;
    d->stream = ovl_add_stream(s->b, s->code, d->ddp->stream);
    for (int k = 0; k < 2 && e->p->data[k]; k++) {
        d->slot[k] = ovl_plan_slot(e->l, s->code, e->p->data[k]);
    }
    d->bucket_of = OVL_NEW_ARRAY(&s->scratch, uint32_t, s->n_units);
    d->parameter = OVL_NEW_ARRAY(&s->scratch, ovl_id, s->n_units);
    d->has_gradient = OVL_NEW_ARRAY(&s->scratch, bool, s->n_units);
    for (uint32_t u = 0; u < s->n_units; u++) {
        const ovl_step_unit *unit = &s->units[u];
        d->bucket_of[u] = OVL_NONE;
        s->updates += unit->n_elements;
        d->parameter[u] = bytes_of(unit) ? ovl_step_held(s, unit->name, bytes_of(unit),
                                                         OVL_PARAMETER, unit->dtype, unit->mark)
                                         : OVL_NONE;
    }
    for (uint32_t k = 0; k < e->p->n_stages; k++) {
        add_stage(d, e->first_unit[k], e->first_unit[k + 1]);
    }
}

/* --- Passes --- */

static void in_forward(ovl_step *s, uint32_t u)
{
    const place *d = s->own;
    ovl_step_reads(s, d->parameter[u]);
}

static void in_backward(ovl_step *s, uint32_t u)
{
    place *d = s->own;
    if (s->pass.kind != OVL_PASS_WEIGHT) {
        ovl_step_reads(s, d->parameter[u]);
    }
    if (d->bucket_of[u] == OVL_NONE) {
        return;
    }
    ovl_id buffer = d->buckets.data[d->bucket_of[u]].buffer;
    if (d->has_gradient[u]) {
        ovl_step_reads(s, buffer);
    }
    ovl_step_writes(s, buffer);
    ovl_step_produces(s, buffer, u, !d->has_gradient[u]);
    d->has_gradient[u] = true;
}

static void reduce(ovl_step *s, bucket *b, const char *name)
{
    const place *d = s->own;
    ovl_op op =
        ovl_step_op(s, OVL_COLLECTIVE, ovl_arena_printf(&s->scratch, "bucket with %s", name),
                    b->cost, d->stream, d->ddp->mark);
    op.coll = OVL_ALL_REDUCE;
    op.average = true;
    op.comm = d->slot[b->experts];
    op.bytes = b->bytes;
    b->reduction = ovl_step_add(s, &op);
    ovl_step_after(s, s->last);
    ovl_step_reads(s, b->buffer);
    ovl_step_writes(s, b->buffer);
    ovl_step_effect(s, OVL_SUM, b->buffer, b->buffer, 0);
}

static void after_backward(ovl_step *s, uint32_t u)
{
    place *d = s->own;
    if (d->bucket_of[u] == OVL_NONE || !s->pass.last) {
        return;
    }
    bucket *b = &d->buckets.data[d->bucket_of[u]];
    if (++b->ready == b->n_units) {
        reduce(s, b, s->units[u].name);
    }
}

static void in_optimizer(ovl_step *s)
{
    place *d = s->own;
    for (uint32_t k = 0; k < d->buckets.len; k++) {
        ovl_step_after(s, d->buckets.data[k].reduction);
        ovl_step_reads(s, d->buckets.data[k].buffer);
    }
    for (uint32_t u = 0; u < s->n_units; u++) {
        ovl_step_writes(s, d->parameter[u]);
        if (d->bucket_of[u] != OVL_NONE) {
            ovl_step_consumes(s, d->buckets.data[d->bucket_of[u]].buffer, u);
        }
    }
}

static void close(ovl_step *s)
{
    place *d = s->own;
    ovl_vec_free(&d->buckets);
}

static const ovl_strategy strategy = {.open = open,
                                      .in_forward = in_forward,
                                      .in_backward = in_backward,
                                      .in_input = in_forward,
                                      .after_backward = after_backward,
                                      .in_optimizer = in_optimizer,
                                      .close = close};

void ovl_pipe_ddp_open(ovl_pipe_code *e)
{
    place *d = OVL_NEW(&e->p->scratch, place);
    *d = (place){.e = e, .ddp = ddp_of(e->p)};
    e->step = OVL_NEW(&e->p->scratch, ovl_step);
    *e->step = (ovl_step){.strategy = &strategy, .own = d};
    ovl_pipe_own_step(e);
    ovl_step_open_in(e->step, e->member, e->code, e->compute);
}
