#include "models/plan_ddp.h"

/* The code under construction. Buffers are aligned with tensors, units and buckets. */
typedef struct emit {
    ovl_ddp_plan *p;
    ovl_lowering *l;
    ovl_builder *b;
    ovl_id code;
    uint16_t compute, comm, slot;
    ovl_time launch;
    ovl_id *parameter,
        *gradient;              /* [n_tensors] buffers; gradient: the bucket's where not separate */
    ovl_id *gradient_name;      /* [n_tensors] names */
    ovl_id *bucket;             /* [n_buckets] buffers */
    ovl_id states;              /* buffer, OVL_NONE without states */
    ovl_id *activation;         /* [n_units] buffers of the microbatch */
    ovl_plan_cost *bucket_cost; /* [n_buckets] */
    ovl_coll coll;
    bool average;        /* the reduction divides, not the copy-in */
    double scale;        /* applied to each gradient where it is produced */
    double pack_scale;   /* ... where it is copied into its bucket */
    uint32_t microbatch; /* now */
    bool reduces;        /* now */
    uint32_t *pending;   /* [n_buckets] gradients not yet ready */
    uint32_t next;       /* PyTorch: the next bucket that may be launched */
    uint32_t *reduction; /* [n_buckets] the collective of this microbatch */
    uint32_t last;       /* the last operation on the compute stream, or OVL_NONE */
} emit;

/* --- Names and plain operations -----------------------------------------------------------------
 */

/* "backward block[3]", or "backward block[3] mb 1" where there are several microbatches. */
static ovl_id name_in(emit *e, const char *what, const char *of, bool several)
{
    char *text =
        several ? ovl_arena_printf(&e->p->scratch, "%s %s mb %" PRIu32, what, of, e->microbatch)
                : ovl_arena_printf(&e->p->scratch, "%s %s", what, of);
    return ovl_name(e->b, text);
}

static const char *number(emit *e, uint32_t k)
{
    return ovl_arena_printf(&e->p->scratch, "%" PRIu32, k);
}

static ovl_op operation(const emit *e, ovl_op_kind kind, ovl_id name, ovl_plan_cost cost,
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

static uint32_t add_compute(emit *e, ovl_op_kind kind, ovl_id name, ovl_plan_cost cost,
                            ovl_mark mark)
{
    ovl_op op = operation(e, kind, name, cost, mark);
    e->last = ovl_add_op(e->b, e->code, &op);
    return e->last;
}

static void reads(emit *e, ovl_id buffer)
{
    ovl_add_access(e->b, e->code, buffer, false);
}

static void writes(emit *e, ovl_id buffer)
{
    ovl_add_access(e->b, e->code, buffer, true);
}

/* A kernel of a fixed length that only moves bytes (read and written once), or none at all. */
static ovl_plan_cost mover(emit *e, const char *name, ovl_mark mark, ovl_time length,
                           uint64_t bytes)
{
    ovl_kernel_spec spec = {.name = name,
                            .mark = mark,
                            .duration = {&length, 1},
                            .hbm = 2 * bytes,
                            .no_compute = true,
                            .klass = "copy_in"};
    return ovl_plan_kernel(e->l, &spec);
}

/* --- Buffers ------------------------------------------------------------------------------------
 */

static ovl_id add_buffer(emit *e, const char *name, uint64_t bytes, ovl_category category,
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

/* What lives through the whole training: parameters, buckets, optimizer states. */
static void add_held_buffers(emit *e)
{
    ovl_ddp_plan *p = e->p;
    for (uint32_t i = 0; i < p->n_tensors; i++) {
        const ovl_tensor *t = &p->tensors[i];
        e->parameter[i] = add_buffer(e, t->name, t->bytes, OVL_PARAMETER, t->dtype, true, t->mark);
        e->gradient_name[i] = ovl_name(e->b, t->name);
    }
    for (uint32_t k = 0; k < p->buckets.count; k++) {
        const ovl_bucket *bucket = &p->buckets.item[k];
        const char *name = ovl_arena_printf(&p->scratch, "bucket %" PRIu32, k);
        e->bucket[k] = add_buffer(e, name, bucket->bytes, OVL_REDUCE_BUFFER, bucket->dtype, true,
                                  p->bucket_marks[k]);
    }
    for (uint32_t i = 0; !p->separate && i < p->n_tensors; i++) {
        e->gradient[i] = e->bucket[p->bucket_of[i]];
    }
    const ovl_optimizer *optimizer = &p->workload->optimizer;
    if (optimizer->states) {
        e->states = add_buffer(e, "optimizer states", optimizer->states, OVL_OPTIMIZER,
                               (ovl_dtype)p->workload->dtype, true, optimizer->mark);
    }
}

/* A gradient is allocated where the first backward produces it, and lives until the optimizer. */
static void add_gradient_buffers(emit *e, const ovl_unit *unit)
{
    for (uint32_t i = 0; e->p->separate && e->microbatch == 0 && i < unit->n_ready; i++) {
        uint32_t tensor = e->p->ready[unit->first_ready + i];
        const ovl_tensor *t = &e->p->tensors[tensor];
        const char *name = ovl_arena_printf(&e->p->scratch, "%s.grad", t->name);
        e->gradient[tensor] = add_buffer(e, name, t->bytes, OVL_GRADIENT, t->dtype, false, t->mark);
    }
}

/* --- Forward ------------------------------------------------------------------------------------
 */

static void read_parameters(emit *e, const ovl_unit *unit)
{
    for (uint32_t i = 0; i < unit->n_ready; i++) {
        reads(e, e->parameter[e->p->ready[unit->first_ready + i]]);
    }
}

static void add_forward(emit *e, uint32_t u)
{
    const ovl_unit *unit = &e->p->units[u];
    bool several = e->p->microbatches > 1;
    e->activation[u] = OVL_NONE;
    if (unit->forward.id == OVL_NONE) {
        return;
    }
    if (unit->activation) {
        ovl_id name = name_in(e, "activations", unit->name, several);
        e->activation[u] =
            add_buffer(e, ovl_names_text(e->b->names, name), unit->activation, OVL_ACTIVATION,
                       (ovl_dtype)e->p->workload->dtype, false, unit->mark);
    }
    add_compute(e, OVL_KERNEL, name_in(e, "forward", unit->name, several), unit->forward,
                unit->mark);
    read_parameters(e, unit);
    if (e->activation[u] != OVL_NONE) {
        writes(e, e->activation[u]);
    }
}

/* --- Reductions ---------------------------------------------------------------------------------
 */

static bool reduces_often(const emit *e)
{
    return e->p->microbatches > 1 && !e->p->ddp->no_sync;
}

/* The communication stream waits for all that the compute stream was given so far. */
static void launch_bucket(emit *e, uint32_t k)
{
    const ovl_ddp *ddp = e->p->ddp;
    const ovl_bucket *bucket = &e->p->buckets.item[k];
    ovl_mark mark = e->p->bucket_marks[k];
    if (ddp->bucket_overhead > 0) {
        add_compute(e, OVL_KERNEL, name_in(e, "launch bucket", number(e, k), reduces_often(e)),
                    mover(e, "launch bucket", mark, ddp->bucket_overhead, 0), mark);
    }
    ovl_op op = operation(e, OVL_COLLECTIVE, name_in(e, "bucket", number(e, k), reduces_often(e)),
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
    reads(e, e->bucket[k]);
    writes(e, e->bucket[k]);
    ovl_add_effect(
        e->b, e->code,
        &(ovl_effect){
            .kind = OVL_SUM, .buffer = e->bucket[k], .source = e->bucket[k], .gradient = OVL_NONE});
}

/* PyTorch launches a bucket only after those before it; Megatron any that is complete. */
static void gradient_ready(emit *e, uint32_t tensor)
{
    uint32_t k = e->p->bucket_of[tensor];
    if (--e->pending[k] > 0 || !e->p->ddp->overlap) {
        return;
    }
    if (e->p->megatron) {
        launch_bucket(e, k);
        return;
    }
    while (e->next < e->p->buckets.count && e->pending[e->next] == 0) {
        launch_bucket(e, e->next++);
    }
}

/* --- Backward -----------------------------------------------------------------------------------
 */

static void produce_one(emit *e, uint32_t tensor, uint32_t microbatch, bool first)
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
static void produce(emit *e, uint32_t tensor)
{
    if (e->microbatch > 0) {
        reads(e, e->gradient[tensor]);
    }
    writes(e, e->gradient[tensor]);
    bool restate = !e->p->separate && reduces_often(e);
    if (!restate) {
        produce_one(e, tensor, e->microbatch, e->microbatch == 0);
        return;
    }
    for (uint32_t m = 0; m <= e->microbatch; m++) {
        produce_one(e, tensor, m, m == 0);
    }
}

/* The operation last added copies a gradient into its bucket. */
static void pack(emit *e, uint32_t tensor)
{
    ovl_id bucket = e->bucket[e->p->bucket_of[tensor]];
    reads(e, e->gradient[tensor]);
    writes(e, bucket);
    ovl_add_effect(e->b, e->code,
                   &(ovl_effect){.kind = OVL_PACK,
                                 .buffer = bucket,
                                 .source = e->gradient[tensor],
                                 .gradient = OVL_NONE,
                                 .scale = e->pack_scale});
}

/* Whether a copy-in kernel of its own moves the gradient now. Megatron's adds it to the bucket in
 * every microbatch, PyTorch's runs only before a reduction. */
static bool copied_now(const emit *e, uint32_t tensor)
{
    return e->p->copy_in[tensor] > 0 && (e->reduces || !e->p->separate);
}

static void add_copy_in(emit *e, uint32_t tensor)
{
    const ovl_tensor *t = &e->p->tensors[tensor];
    ovl_plan_cost cost =
        mover(e, "copy_in", t->mark, e->p->copy_in[tensor], OVL_MIN(t->bytes, UINT64_MAX / 2));
    add_compute(e, OVL_KERNEL, name_in(e, "copy_in", t->name, e->p->microbatches > 1), cost,
                t->mark);
    if (e->p->separate) {
        pack(e, tensor);
    } else {
        produce(e, tensor);
    }
}

/* What the backward kernel itself does with the gradients it makes ready. */
static void touch_gradients(emit *e, const ovl_unit *unit)
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

static void add_backward(emit *e, uint32_t u)
{
    const ovl_unit *unit = &e->p->units[u];
    ovl_id activation = e->activation[u];
    add_gradient_buffers(e, unit);
    add_compute(e, OVL_KERNEL, name_in(e, "backward", unit->name, e->p->microbatches > 1),
                unit->backward, unit->mark);
    read_parameters(e, unit);
    if (activation != OVL_NONE) {
        reads(e, activation);
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

/* --- After the backward -------------------------------------------------------------------------
 */

static bool copies_out(const emit *e)
{
    return e->p->separate && e->p->copies && e->p->ddp->copy_in_rate > 0;
}

/* The end of a PyTorch backward: each bucket is waited for in order and copied back. */
static void add_copies_out(emit *e)
{
    for (uint32_t k = 0; k < e->p->buckets.count; k++) {
        const ovl_bucket *bucket = &e->p->buckets.item[k];
        ovl_mark mark = e->p->bucket_marks[k];
        ovl_time length = ovl_bytes_time(bucket->bytes, e->p->ddp->copy_in_rate);
        add_compute(e, OVL_KERNEL, name_in(e, "copy_out bucket", number(e, k), reduces_often(e)),
                    mover(e, "copy_out", mark, length, bucket->bytes), mark);
        ovl_add_after(e->b, e->code, e->reduction[k]);
        reads(e, e->bucket[k]);
        for (uint32_t i = 0; i < bucket->n_members; i++) {
            writes(e, e->gradient[e->p->buckets.members[bucket->first_member + i]]);
        }
    }
}

/* The operation last added waits for all reductions of this microbatch. */
static void wait_for_buckets(emit *e)
{
    for (uint32_t k = 0; k < e->p->buckets.count; k++) {
        ovl_add_after(e->b, e->code, e->reduction[k]);
    }
}

static void end_backward(emit *e)
{
    for (uint32_t k = 0; !e->p->ddp->overlap && k < e->p->buckets.count; k++) {
        launch_bucket(e, k);
    }
    if (copies_out(e)) {
        add_copies_out(e);
    } else if (e->microbatch + 1 < e->p->microbatches) {
        add_compute(e, OVL_MARKER, name_in(e, "wait for", "buckets", true),
                    ovl_plan_length(e->l, "wait", e->p->ddp->mark, (ovl_times){0}),
                    e->p->ddp->mark);
        wait_for_buckets(e);
    }
}

static void add_microbatch(emit *e, uint32_t m)
{
    e->microbatch = m;
    e->reduces = m + 1 == e->p->microbatches || !e->p->ddp->no_sync;
    e->next = 0;
    for (uint32_t k = 0; k < e->p->buckets.count; k++) {
        e->pending[k] = e->p->buckets.item[k].n_members;
    }
    for (uint32_t u = 0; u < e->p->n_units; u++) {
        add_forward(e, u);
    }
    for (uint32_t u = e->p->n_units; u-- > 0;) {
        add_backward(e, u);
    }
    if (e->reduces) {
        end_backward(e);
    }
}

/* --- Optimizer ----------------------------------------------------------------------------------
 */

/* It needs every gradient, reduced. What was summed is followed in the buckets; a copy back into
 * separate gradients moves the same sums. */
static void consume(emit *e)
{
    bool from_gradients = e->p->separate;
    for (uint32_t k = 0; !copies_out(e) && k < e->p->buckets.count; k++) {
        reads(e, e->bucket[k]);
    }
    for (uint32_t i = 0; i < e->p->n_tensors; i++) {
        if (from_gradients) {
            reads(e, e->gradient[i]);
        }
        writes(e, e->parameter[i]);
        ovl_add_effect(e->b, e->code,
                       &(ovl_effect){.kind = OVL_CONSUME,
                                     .buffer = e->bucket[e->p->bucket_of[i]],
                                     .source = OVL_NONE,
                                     .gradient = e->gradient_name[i]});
    }
    if (e->states != OVL_NONE) {
        reads(e, e->states);
        writes(e, e->states);
    }
}

static void add_optimizer(emit *e)
{
    const ovl_optimizer *optimizer = &e->p->workload->optimizer;
    ovl_mark mark = optimizer->given ? optimizer->mark : e->p->workload->mark;
    ovl_time length = optimizer->duration;
    ovl_id name = ovl_name(e->b, "optimizer");
    if (length > 0) {
        ovl_kernel_spec spec = {
            .name = "optimizer", .mark = mark, .duration = {&length, 1}, .klass = "optimizer"};
        add_compute(e, OVL_KERNEL, name, ovl_plan_kernel(e->l, &spec), mark);
    } else {
        ovl_plan_say(e->l, "The optimizer takes no time: workload.optimizer gives no duration.");
        add_compute(e, OVL_MARKER, name, ovl_plan_length(e->l, "optimizer", mark, (ovl_times){0}),
                    mark);
    }
    if (!copies_out(e)) {
        wait_for_buckets(e);
    }
    consume(e);
}

/* --- Costs of the buckets, and all-gathers ------------------------------------------------------
 */

static ovl_plan_cost comm_cost(emit *e, uint32_t k, ovl_coll coll)
{
    ovl_comm_spec spec = {.name = ovl_arena_printf(e->l->arena, "bucket %" PRIu32, k),
                          .mark = e->p->bucket_marks[k],
                          .op = coll,
                          .group = e->p->group->name,
                          .n = e->p->n,
                          .has_bytes = true,
                          .bytes = e->p->buckets.item[k].bytes};
    return ovl_plan_comm(e->l, &spec);
}

static void gather_bucket(emit *e, uint32_t k)
{
    const ovl_bucket *bucket = &e->p->buckets.item[k];
    ovl_op op = operation(e, OVL_COLLECTIVE, name_in(e, "gather bucket", number(e, k), false),
                          comm_cost(e, k, OVL_ALL_GATHER), e->p->bucket_marks[k]);
    op.coll = OVL_ALL_GATHER;
    op.dtype = (uint8_t)bucket->dtype;
    op.stream = e->comm;
    op.comm = e->slot;
    op.bytes = bucket->bytes;
    ovl_add_op(e->b, e->code, &op);
    ovl_add_after(e->b, e->code, e->last);
    for (uint32_t i = 0; i < bucket->n_members; i++) {
        writes(e, e->parameter[e->p->buckets.members[bucket->first_member + i]]);
    }
}

/* The distributed optimizer updates a shard of each parameter; the rest comes from the others. */
static void gather_parameters(emit *e)
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

/* --- The whole ----------------------------------------------------------------------------------
 */

static void prepare(emit *e)
{
    ovl_ddp_plan *p = e->p;
    ovl_arena *scratch = &p->scratch;
    e->code = ovl_plan_code(e->l);
    e->compute = ovl_add_stream(e->b, e->code, "compute");
    e->comm = ovl_add_stream(e->b, e->code, p->ddp->stream ? p->ddp->stream : "comm");
    e->slot = ovl_plan_slot(e->l, e->code, p->group);
    e->launch = ovl_plan_launch(e->l);
    e->parameter = OVL_NEW_ARRAY(scratch, ovl_id, p->n_tensors);
    e->gradient = OVL_NEW_ARRAY(scratch, ovl_id, p->n_tensors);
    e->gradient_name = OVL_NEW_ARRAY(scratch, ovl_id, p->n_tensors);
    e->bucket = OVL_NEW_ARRAY(scratch, ovl_id, p->buckets.count);
    e->activation = OVL_NEW_ARRAY(scratch, ovl_id, p->n_units);
    e->bucket_cost = OVL_NEW_ARRAY(scratch, ovl_plan_cost, p->buckets.count);
    e->pending = OVL_NEW_ARRAY(scratch, uint32_t, p->buckets.count);
    e->reduction = OVL_NEW_ARRAY(scratch, uint32_t, p->buckets.count);
    e->states = e->last = OVL_NONE;
}

/* PyTorch scales at copy-in, and in a bucket view by dividing the bucket; a scale of the user's own
 * is taken at its word, so that a wrong one shows in the proof. */
static void set_scales(emit *e)
{
    const ovl_ddp *ddp = e->p->ddp;
    double own = ddp->has_gradient_scale ? ddp->gradient_scale : 1.0 / e->p->n;
    e->scale = 1.0 / e->p->microbatches;
    e->pack_scale = own;
    if (!e->p->separate) {
        e->average = !ddp->has_gradient_scale;
        e->scale *= e->average ? 1 : own;
    }
}

static void say_copies(emit *e)
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

void ovl_ddp_emit(ovl_ddp_plan *p)
{
    emit e = {.p = p, .l = p->l, .b = p->l->b};
    bool scatter = p->megatron && p->ddp->distributed_optimizer;
    e.coll = scatter ? OVL_REDUCE_SCATTER : OVL_ALL_REDUCE;
    prepare(&e);
    set_scales(&e);
    say_copies(&e);
    for (uint32_t k = 0; k < p->buckets.count; k++) {
        e.bucket_cost[k] = comm_cost(&e, k, e.coll);
    }
    add_held_buffers(&e);
    for (uint32_t m = 0; m < p->microbatches; m++) {
        add_microbatch(&e, m);
    }
    add_optimizer(&e);
    gather_parameters(&e);
    for (uint32_t rank = 0; rank < p->l->n_ranks; rank++) {
        p->l->rank_code[rank] = e.code;
    }
}
