#include "models/plan_zero.h"

/* The trace of a microbatch: groups in order of use, forward and backward. */
typedef struct zero3 {
    uint32_t n;                      /* groups; the trace has 2n entries */
    uint64_t *before;                /* [2n + 1] elements of the entries before each */
    ovl_param_group *gathered;       /* [n] what is gathered: without parameters that persist */
    ovl_id *persistent;              /* [n] these, whole, or OVL_NONE */
    uint64_t persistent_elements[2]; /* of dense parameters, of experts */
} zero3;

static zero3 *trace_of(const ovl_zero_code *e)
{
    return e->more;
}

static uint32_t entry(const zero3 *z, uint32_t place)
{
    return place < z->n ? place : 2 * z->n - 1 - place;
}

/* --- Opening a code --- */

/* Tensors below the threshold stay whole. */
static void persist(ovl_zero_code *e, zero3 *z, uint32_t u)
{
    const ovl_step_unit *unit = &e->s->units[u];
    uint32_t i = e->p->group_of[u];
    uint64_t kept = 0, n = e->p->ranks[unit->experts].n;
    for (uint32_t k = 0; i != OVL_NONE && k < unit->n_tensors; k++) {
        uint64_t elements = unit->elements[k];
        if (elements < (uint64_t)e->zero->param_persistence_threshold) {
            kept += elements;
            z->gathered[i].elements -= elements;
            z->gathered[i].shard -= (elements + n - 1) / n;
        }
    }
    if (kept) {
        const ovl_param_group *own = e->groups[i].g;
        z->persistent_elements[unit->experts] += kept;
        z->persistent[i] = ovl_step_held(
            e->s, ovl_arena_printf(&e->s->scratch, "persistent %s", own->name),
            kept * ovl_dtype_size(own->param_dtype), OVL_PARAMETER, own->param_dtype, own->mark);
    }
}

static void open(ovl_step *s)
{
    ovl_zero_open(s);
    ovl_zero_code *e = ovl_zero_state(s);
    zero3 *z = OVL_NEW(&s->scratch, zero3);
    z->n = e->p->n_groups;
    z->before = OVL_NEW_ARRAY(&s->scratch, uint64_t, 2 * z->n + 1);
    z->gathered = OVL_NEW_ARRAY(&s->scratch, ovl_param_group, z->n);
    z->persistent = OVL_NEW_ARRAY(&s->scratch, ovl_id, z->n);
    e->more = z;
    for (uint32_t i = 0; i < z->n; i++) {
        z->gathered[i] = *e->groups[i].g;
        z->persistent[i] = OVL_NONE;
    }
    for (uint32_t u = 0; u < s->n_units; u++) {
        persist(e, z, u);
    }
    for (uint32_t t = 0; t < 2 * z->n; t++) {
        z->before[t + 1] = z->before[t] + e->groups[entry(z, t)].g->elements;
    }
}

/* --- Gathering --- */

/* `place` in the trace is where it is for. */
static void gather(ovl_zero_code *e, ovl_zero_group *g, uint32_t place)
{
    ovl_step *s = e->s;
    const ovl_param_group *part = &trace_of(e)->gathered[g - e->groups];
    if (g->whole != OVL_NONE || part->elements == 0) {
        return;
    }
    uint64_t bytes = ovl_fsdp_padded(e->p, part, part->param_dtype);
    g->again = place >= trace_of(e)->n;
    g->whole =
        ovl_step_recorded(s, ovl_step_name(s, g->again ? "regathered" : "gathered", part->name),
                          bytes, OVL_GATHERED, part->param_dtype, e->gather_stream, part->mark);
    ovl_op op = ovl_step_op(
        s, OVL_COLLECTIVE, ovl_step_name(s, g->again ? "regather" : "gather", part->name),
        ovl_shard_cost_of(e->p, part, OVL_ALL_GATHER, bytes), e->gather_stream, part->mark);
    op.coll = OVL_ALL_GATHER;
    op.dtype = (uint8_t)part->param_dtype;
    op.comm = e->slots[part->experts].shard;
    op.bytes = bytes;
    g->op = ovl_step_add(s, &op);
    g->needed = place;
    ovl_step_after(s, e->gate);
    ovl_step_reads(s, g->shard);
    ovl_step_writes(s, g->whole);
    e->live += part->elements;
}

/* From the recorded trace, whole groups until the bucket is full or too much is alive. What is
 * there is passed over, and so it has to stay until then. */
static void prefetch(ovl_zero_code *e)
{
    const zero3 *z = trace_of(e);
    uint64_t most = (uint64_t)e->zero->max_live_parameters, asked = 0;
    uint64_t room = OVL_MIN(most - OVL_MIN(most, e->live), (uint64_t)e->zero->prefetch_bucket_size);
    e->queued = OVL_MAX(e->queued, e->place + 1);
    while (e->zero->iteration == OVL_ZERO_TRACED && e->queued < 2 * z->n && asked < room) {
        ovl_zero_group *g = &e->groups[entry(z, e->queued)];
        if (g->whole == OVL_NONE) {
            gather(e, g, e->queued);
            asked += z->gathered[g - e->groups].elements;
        }
        g->needed = e->queued++;
    }
}

/* The host waits for a gather that is not known to be over. */
static void block(ovl_zero_code *e, const ovl_zero_group *g)
{
    ovl_step *s = e->s;
    if (g->op == OVL_NONE || (e->waited != OVL_NONE && g->op <= e->waited)) {
        return;
    }
    const char *name =
        ovl_step_name(s, g->again ? "wait for regather" : "wait for gather", g->g->name);
    ovl_op op =
        ovl_step_op(s, OVL_HOST, name, ovl_plan_length(s->l, name, g->g->mark, (ovl_times){0}),
                    OVL_NO_STREAM, g->g->mark);
    op.launch = 0;
    ovl_step_add(s, &op);
    ovl_step_after(s, g->op);
    e->waited = g->op;
}

/* The module's own parameters are waited for; those behind it in the trace are asked for. */
static void fetch(ovl_zero_code *e, ovl_zero_group *g)
{
    gather(e, g, e->place);
    block(e, g);
    prefetch(e);
}

static void use(ovl_zero_code *e, const ovl_zero_group *g)
{
    ovl_step_after(e->s, g->op);
    ovl_step_reads(e->s, g->whole);
    ovl_step_reads(e->s, trace_of(e)->persistent[g - e->groups]);
}

/* Elements that are used before a forward's group is used again stand between its two places. */
static bool used_again_soon(const ovl_zero_code *e)
{
    const zero3 *z = trace_of(e);
    if (e->zero->iteration != OVL_ZERO_TRACED || e->place >= z->n) {
        return false;
    }
    uint64_t between = z->before[2 * z->n - 1 - e->place] - z->before[e->place + 1];
    return between < (uint64_t)e->zero->max_reuse_distance;
}

static void release(ovl_zero_code *e, ovl_zero_group *g)
{
    if (g->whole != OVL_NONE && g->needed <= e->place && !used_again_soon(e)) {
        e->live -= trace_of(e)->gathered[g - e->groups].elements;
        ovl_step_release(e->s, &g->whole);
        g->op = OVL_NONE;
    }
    e->place++;
}

/* --- Passes --- */

static void begin_forward(ovl_step *s, const ovl_pass *pass)
{
    (void)pass;
    ovl_zero_code *e = ovl_zero_state(s);
    e->gate = s->last;
    e->place = e->queued = 0;
}

/* Layers without a forward leave their half of the trace out. */
static void begin_backward(ovl_step *s, const ovl_pass *pass)
{
    (void)pass;
    ovl_zero_code *e = ovl_zero_state(s);
    e->place = OVL_MAX(e->place, trace_of(e)->n);
}

static void before_forward(ovl_step *s, uint32_t u)
{
    ovl_zero_group *g = ovl_zero_group_of(ovl_zero_state(s), u);
    if (g) {
        fetch(ovl_zero_state(s), g);
    }
}

static void in_forward(ovl_step *s, uint32_t u)
{
    const ovl_zero_group *g = ovl_zero_group_of(ovl_zero_state(s), u);
    if (g) {
        use(ovl_zero_state(s), g);
    }
}

static void after_forward(ovl_step *s, uint32_t u)
{
    ovl_zero_group *g = ovl_zero_group_of(ovl_zero_state(s), u);
    if (g) {
        release(ovl_zero_state(s), g);
    }
}

static void before_backward(ovl_step *s, uint32_t u)
{
    ovl_zero_code *e = ovl_zero_state(s);
    ovl_zero_group *g = ovl_zero_group_of(e, u);
    if (g) {
        fetch(e, g);
        ovl_zero_allocate_gradient(e, g);
    }
}

static void in_backward(ovl_step *s, uint32_t u)
{
    ovl_zero_code *e = ovl_zero_state(s);
    ovl_zero_group *g = ovl_zero_group_of(e, u);
    if (g) {
        use(e, g);
        ovl_zero_produce(e, g, u);
    }
}

static void after_backward(ovl_step *s, uint32_t u)
{
    ovl_zero_code *e = ovl_zero_state(s);
    ovl_zero_group *g = ovl_zero_group_of(e, u);
    if (g) {
        ovl_zero_add_to_bucket(e, g);
        release(e, g);
    }
}

/* --- Optimizer --- */

static void in_optimizer(ovl_step *s)
{
    ovl_zero_update(ovl_zero_state(s));
}

static void gather_persistent(ovl_zero_code *e, bool experts)
{
    ovl_step *s = e->s;
    const zero3 *z = trace_of(e);
    uint64_t elements = z->persistent_elements[experts], n = e->p->ranks[experts].n;
    if (elements == 0) {
        return;
    }
    ovl_param_group all = *e->groups[0].g;
    all.name = experts ? "persistent parameters of experts" : "persistent parameters";
    all.experts = experts;
    all.shard = (elements + n - 1) / n;
    uint64_t bytes = ovl_fsdp_padded(e->p, &all, all.param_dtype);
    ovl_op op = ovl_step_op(s, OVL_COLLECTIVE, ovl_arena_printf(&s->scratch, "gather %s", all.name),
                            ovl_shard_cost_of(e->p, &all, OVL_ALL_GATHER, bytes), s->compute,
                            e->zero->mark);
    op.coll = OVL_ALL_GATHER;
    op.dtype = (uint8_t)all.param_dtype;
    op.comm = e->slots[experts].shard;
    op.bytes = bytes;
    ovl_step_add(s, &op);
    for (uint32_t i = 0; i < z->n; i++) {
        if (e->groups[i].g->experts == experts) {
            ovl_step_reads(s, e->groups[i].shard);
            ovl_step_writes(s, z->persistent[i]);
        }
    }
}

/* What persists is updated on its owners and gathered by everybody else. */
static void next_step(ovl_step *s)
{
    gather_persistent(ovl_zero_state(s), false);
    gather_persistent(ovl_zero_state(s), true);
}

static void close(ovl_step *s)
{
    for (int k = 0; k < 2; k++) {
        ovl_vec_free(&ovl_zero_state(s)->bucket[k].groups);
    }
}

const ovl_strategy ovl_zero3_strategy = {
    .open = open,
    .begin_forward = begin_forward,
    .before_forward = before_forward,
    .in_forward = in_forward,
    .after_forward = after_forward,
    .begin_backward = begin_backward,
    .before_backward = before_backward,
    .in_backward = in_backward,
    .after_backward = after_backward,
    .end_backward = ovl_zero_end_backward,
    .in_optimizer = in_optimizer,
    .next_step = next_step,
    .close = close,
};
