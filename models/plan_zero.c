#include "models/plan_zero.h"

#include "models/layer.h"
#include "models/tables.h"

ovl_zero_code *ovl_zero_state(ovl_step *s)
{
    const ovl_fsdp_plan *p = s->own;
    return p->code;
}

ovl_zero_group *ovl_zero_group_of(const ovl_zero_code *e, uint32_t u)
{
    uint32_t g = e->p->group_of[u];
    return g == OVL_NONE ? NULL : &e->groups[g];
}

/* --- Opening a code --- */

static ovl_id held(ovl_step *s, const char *what, const ovl_param_group *g, const char *end,
                   uint64_t bytes, ovl_category category, ovl_dtype dtype)
{
    const char *name = ovl_arena_printf(&s->scratch, "%s%s%s", what, g->name, end);
    return bytes ? ovl_step_held(s, name, bytes, category, dtype, g->mark) : OVL_NONE;
}

static void hold(ovl_zero_code *e, ovl_zero_group *g)
{
    ovl_step *s = e->s;
    const ovl_param_group *own = g->g;
    const ovl_optimizer *optimizer = &s->workload->optimizer;
    bool shards = e->zero->stage == 3, splits = e->zero->stage >= 2;
    g->shard = g->whole = OVL_NONE;
    if (shards) {
        g->shard =
            held(s, "shard ", own, "", ovl_fsdp_shard(own, own->dtype), OVL_PARAMETER, own->dtype);
    } else {
        g->whole = held(s, "", own, "", ovl_fsdp_whole(own, own->dtype), OVL_PARAMETER, own->dtype);
    }
    uint64_t grad =
        splits ? ovl_fsdp_shard(own, own->grad_dtype) : ovl_fsdp_whole(own, own->grad_dtype);
    g->grad = held(s, splits ? "shard " : "", own, ".grad", grad, OVL_GRADIENT, own->grad_dtype);
    g->states = held(s, "optimizer states ", own, "", ovl_optimizer_bytes(optimizer, own->shard),
                     OVL_OPTIMIZER, (ovl_dtype)optimizer->dtype);
}

/* As large as it is filled: the size that is set, or the largest group, at most everything. */
static void hold_bucket(ovl_zero_code *e, bool experts)
{
    uint64_t elements = 0, largest = 0;
    ovl_dtype dtype = OVL_F32;
    for (uint32_t i = 0; i < e->p->n_groups; i++) {
        if (e->p->groups[i].experts != experts) {
            continue;
        }
        elements += e->p->groups[i].elements;
        largest = OVL_MAX(largest, e->p->groups[i].elements);
        dtype = e->p->groups[i].grad_dtype;
    }
    elements = OVL_MIN(elements, OVL_MAX(largest, (uint64_t)e->zero->reduce_bucket_size));
    e->bucket[experts].buffer =
        ovl_step_held(e->s, experts ? "reduce bucket of experts" : "reduce bucket",
                      elements * ovl_dtype_size(dtype), OVL_REDUCE_BUFFER, dtype, e->zero->mark);
}

void ovl_zero_open(ovl_step *s)
{
    ovl_fsdp_plan *p = s->own;
    ovl_zero_code *e = OVL_NEW(&s->scratch, ovl_zero_code);
    *e = (ovl_zero_code){.p = p, .zero = p->options, .s = s, .reduced = OVL_NONE};
    p->code = e;
    e->gate = e->waited = OVL_NONE;
    bool aside = e->zero->overlap_comm;
    e->gather_stream =
        aside || e->zero->stage < 3 ? ovl_add_stream(s->b, s->code, "all_gather") : s->compute;
    e->reduce_stream = aside ? ovl_add_stream(s->b, s->code, "reduce") : s->compute;
    ovl_shard_slots_of(p, e->slots);
    s->updates = ovl_shard_updates(p);
    e->groups = OVL_NEW_ARRAY(&s->scratch, ovl_zero_group, p->n_groups);
    for (uint32_t i = 0; i < p->n_groups; i++) {
        e->groups[i] = (ovl_zero_group){.g = &p->groups[i], .gradient = OVL_NONE, .op = OVL_NONE};
        hold(e, &e->groups[i]);
    }
    e->states = ovl_shard_hold_states(p);
    hold_bucket(e, false);
    if (ovl_shard_has_experts(p)) {
        hold_bucket(e, true);
    }
}

/* --- Stages 1 and 2 --- */

static void in_forward(ovl_step *s, uint32_t u)
{
    const ovl_zero_group *g = ovl_zero_group_of(ovl_zero_state(s), u);
    if (g) {
        ovl_step_reads(s, g->whole);
    }
}

static void before_backward(ovl_step *s, uint32_t u)
{
    ovl_zero_group *g = ovl_zero_group_of(ovl_zero_state(s), u);
    if (g && s->pass.kind != OVL_PASS_INPUT) {
        ovl_zero_allocate_gradient(ovl_zero_state(s), g);
    }
}

static void in_backward(ovl_step *s, uint32_t u)
{
    ovl_zero_group *g = ovl_zero_group_of(ovl_zero_state(s), u);
    if (g && s->pass.kind != OVL_PASS_WEIGHT) {
        ovl_step_reads(s, g->whole);
    }
    if (g) {
        ovl_zero_produce(ovl_zero_state(s), g, u);
    }
}

/* Stage 1 reduces when the last microbatch is through, stage 2 in each; pipelines at the end. */
static bool reduces(const ovl_zero_code *e)
{
    return e->zero->stage > 1 || (e->s->pass.last && !e->s->staged);
}

static void after_backward(ovl_step *s, uint32_t u)
{
    ovl_zero_code *e = ovl_zero_state(s);
    ovl_zero_group *g = ovl_zero_group_of(e, u);
    if (g && reduces(e)) {
        ovl_zero_add_to_bucket(e, g);
    }
}

void ovl_zero_end_backward(ovl_step *s, const ovl_pass *pass)
{
    (void)pass;
    ovl_zero_code *e = ovl_zero_state(s);
    ovl_zero_flush(e);
    ovl_zero_wait(e);
    e->n_buckets = 0;
}

/* DeepSpeed's pipelines reduce all gradients of their stages behind the last action, in order of
 * registration, whatever overlap_comm says (PipelineEngine._exec_reduce_grads). */
static void end_accumulation(ovl_step *s)
{
    ovl_zero_code *e = ovl_zero_state(s);
    if (!s->staged) {
        return;
    }
    s->microbatch = OVL_NONE; /* they are sums over all */
    for (uint32_t i = 0; i < e->p->n_groups; i++) {
        ovl_zero_add_to_bucket(e, &e->groups[i]);
    }
    ovl_zero_flush(e);
    ovl_zero_wait(e);
}

static void in_optimizer(ovl_step *s)
{
    ovl_zero_update(ovl_zero_state(s));
}

/* A run of groups, of experts or of others, in one gather behind the optimizer. */
typedef struct gathering {
    uint32_t first, end, number;
    bool experts;
} gathering;

static uint32_t gather(ovl_zero_code *e, gathering run)
{
    ovl_step *s = e->s;
    ovl_param_group all = {0};
    for (uint32_t i = run.first; i < run.end; i++) {
        const ovl_param_group *g = e->groups[i].g;
        uint64_t shard = all.shard;
        if (g->experts == run.experts) {
            all = *g;
            all.shard += shard;
        }
    }
    all.name = ovl_arena_printf(s->l->arena, "parameters%s %" PRIu32,
                                run.experts ? " of experts" : "", run.number);
    uint64_t bytes = ovl_fsdp_padded(e->p, &all, all.dtype);
    ovl_op op = ovl_step_op(s, OVL_COLLECTIVE, ovl_arena_printf(&s->scratch, "gather %s", all.name),
                            ovl_shard_cost_of(e->p, &all, OVL_ALL_GATHER, bytes), e->gather_stream,
                            e->zero->mark);
    op.coll = OVL_ALL_GATHER;
    op.dtype = (uint8_t)all.dtype;
    op.comm = e->slots[run.experts].shard;
    op.bytes = bytes;
    uint32_t local = ovl_step_add(s, &op);
    ovl_step_after(s, s->last);
    for (uint32_t i = run.first; i < run.end; i++) {
        if (e->groups[i].g->experts == run.experts) {
            ovl_step_writes(s, e->groups[i].whole);
        }
    }
    return local;
}

static uint32_t gather_all(ovl_zero_code *e, bool experts)
{
    gathering run = {.experts = experts};
    uint32_t last = OVL_NONE;
    uint64_t elements = 0;
    for (uint32_t i = 0; i < e->p->n_groups; i++) {
        bool own = e->groups[i].g->experts == experts;
        elements += own ? e->groups[i].g->elements : 0;
        bool full = elements >= (uint64_t)e->zero->allgather_bucket_size;
        if (elements && (full || i + 1 == e->p->n_groups)) {
            run.end = i + 1;
            last = gather(e, run);
            run.number++;
            run.first = i + 1;
            elements = 0;
        }
    }
    return last;
}

/* Updated parameters come back from all ranks; the step ends with them. */
static void next_step(ovl_step *s)
{
    ovl_zero_code *e = ovl_zero_state(s);
    for (uint32_t i = 0; i < e->p->n_groups; i++) {
        e->groups[i].has_gradient = false;
    }
    uint32_t last = gather_all(e, false), experts = gather_all(e, true);
    last = experts == OVL_NONE ? last : experts; /* on one stream */
    ovl_step_marker(s, "parameters updated", s->compute, e->zero->mark);
    ovl_step_after(s, last);
}

static void close(ovl_step *s)
{
    for (int k = 0; k < 2; k++) {
        ovl_vec_free(&ovl_zero_state(s)->bucket[k].groups);
    }
}

const ovl_strategy ovl_zero_strategy = {
    .open = ovl_zero_open,
    .in_forward = in_forward,
    .before_backward = before_backward,
    .in_backward = in_backward,
    .in_input = in_forward,
    .after_backward = after_backward,
    .end_backward = ovl_zero_end_backward,
    .end_accumulation = end_accumulation,
    .in_optimizer = in_optimizer,
    .next_step = next_step,
    .close = close,
};

/* --- The plan --- */

ovl_fsdp ovl_zero_as_fsdp(const ovl_zero *zero)
{
    ovl_fsdp as_fsdp = {0};
    ovl_fsdp_table.defaults(&as_fsdp);
    as_fsdp.given = true;
    as_fsdp.mark = as_fsdp.shard_mark = as_fsdp.replicate_mark = zero->mark;
    as_fsdp.shard = zero->group;
    return as_fsdp;
}

void ovl_plan_zero(ovl_lowering *l)
{
    const ovl_zero *zero = &l->scenario->zero;
    ovl_fsdp as_fsdp = ovl_zero_as_fsdp(zero);
    ovl_shard_plan(l, &as_fsdp, zero->stage == 3 ? &ovl_zero3_strategy : &ovl_zero_strategy, zero);
}
