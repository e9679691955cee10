#include "models/plan_pipeline_code.h"
#include "models/schedule_lower.h"

static const ovl_pipe_data *data_of(const ovl_pipe_plan *p)
{
    return &p->pipe->data;
}

/* --- Who, and when --- */

bool ovl_pipe_data_plan(ovl_pipe_plan *p)
{
    ovl_schedule *s = &p->schedule;
    if (!data_of(p)->given) {
        return true;
    }
    if (p->first_unit && data_of(p)->buckets > 1) {
        ovl_error(
            p->l->errs, OVL_E_INPUT, data_of(p)->mark,
            "buckets cut the one kernel of a backward; the layers of these stages are kernels "
            "of their own: take overlap.ddp or overlap.fsdp, which reduce while they run");
        return false;
    }
    const ovl_group *group = ovl_plan_group(p->l, data_of(p)->group, data_of(p)->mark);
    p->data_group = group ? ovl_pipe_data_group(p, group, data_of(p)->mark) : NULL;
    if (!p->data_group) {
        return false;
    }
    ovl_schedule_add_data(s, &data_of(p)->shards, &p->scratch);
    return true;
}

/* --- Buffers --- */

static uint32_t ranks_of(const ovl_pipe_code *e)
{
    return ovl_plan_members(e->l, e->p->data_group, e->member);
}

/* A shard is padded to whole bytes. */
static uint64_t shard_of(const ovl_pipe_code *e, uint64_t bytes)
{
    uint64_t n = ranks_of(e);
    return data_of(e->p)->shards.sharded ? (bytes + n - 1) / n : bytes;
}

static uint64_t part_bytes(const ovl_pipe_code *e, uint32_t stage, uint32_t part)
{
    return ovl_pipe_share(ovl_pipe_stage_of(e->p, stage)->params, part, e->parts);
}

static const char *stage_text(ovl_pipe_code *e, const char *what, uint32_t stage)
{
    return ovl_arena_printf(&e->p->scratch, "%s %" PRIu32, what, stage);
}

/* Parts are numbered where there are several. */
static const char *part_text(ovl_pipe_code *e, const char *what, uint32_t stage, uint32_t part)
{
    return e->parts == 1
               ? stage_text(e, what, stage)
               : ovl_arena_printf(&e->p->scratch, "%s %" PRIu32 ".%" PRIu32, what, stage, part);
}

static void open_part(ovl_pipe_code *e, uint32_t k, uint32_t i)
{
    const ovl_pipe_stage *stage = ovl_pipe_stage_of(e->p, k);
    bool sharded = data_of(e->p)->shards.sharded;
    ovl_pipe_portion *part = &e->stages[k].part[i];
    part->shard =
        ovl_pipe_buffer(e, part_text(e, sharded ? "gradient shard" : "gradients", k, i), stage,
                        shard_of(e, part_bytes(e, k, i)), OVL_GRADIENT, true, e->compute);
    part->gradients = sharded ? OVL_NONE : part->shard;
}

static void open_stage(ovl_pipe_code *e, uint32_t k)
{
    const ovl_pipe_stage *stage = ovl_pipe_stage_of(e->p, k);
    ovl_pipe_state *s = &e->stages[k];
    bool data = data_of(e->p)->given, sharded = data && data_of(e->p)->shards.sharded;
    if (!stage->params || ovl_pipe_apart(e->p)) { /* its layers hold shards of their own */
        return;
    }
    s->params = ovl_pipe_buffer(e, stage_text(e, sharded ? "parameter shard" : "parameters", k),
                                stage, data ? shard_of(e, stage->params) : stage->params,
                                OVL_PARAMETER, true, e->compute);
    for (uint32_t i = 0; data && i < e->parts; i++) {
        open_part(e, k, i);
    }
}

static void clear_stages(ovl_pipe_code *e)
{
    const ovl_schedule *s = &e->p->schedule;
    for (uint32_t k = 0; k < s->n_stages; k++) {
        ovl_pipe_portion *part = e->stages[k].part;
        memset(part, 0xff, e->parts * sizeof *part); /* OVL_NONE everywhere */
        e->stages[k] = (ovl_pipe_state){.params = OVL_NONE,
                                        .used_by = OVL_NONE,
                                        .left = s->n_microbatches / s->n_chains,
                                        .passes = s->n_microbatches / s->n_chains,
                                        .part = part};
    }
}

void ovl_pipe_data_prepare(ovl_pipe_code *e)
{
    uint32_t n = e->p->schedule.n_stages;
    e->parts = data_of(e->p)->given ? (uint32_t)data_of(e->p)->buckets : 1;
    e->stages = OVL_NEW_ARRAY(&e->p->scratch, ovl_pipe_state, n);
    ovl_pipe_portion *parts = OVL_NEW_ARRAY(&e->p->scratch, ovl_pipe_portion, (size_t)n * e->parts);
    for (uint32_t k = 0; k < n; k++) {
        e->stages[k].part = parts + (size_t)k * e->parts;
    }
}

void ovl_pipe_data_open(ovl_pipe_code *e)
{
    const ovl_schedule *s = &e->p->schedule;
    if (data_of(e->p)->given) {
        e->data_stream = ovl_add_stream(e->b, e->code, "data parallel");
        e->data_slot = ovl_plan_slot(e->l, e->code, e->p->data_group);
    }
    e->let_go_by = OVL_NONE;
    clear_stages(e);
    for (uint32_t k = 0; k < s->n_stages; k++) {
        if (s->rank_of[k] == e->rank) {
            open_stage(e, k);
        }
    }
    const ovl_optimizer *optimizer = &e->p->workload->optimizer;
    if (optimizer->states && !e->p->shards.shard) {
        ovl_pipe_stage owner = {.mark = optimizer->mark};
        ovl_pipe_buffer(e, "optimizer states", &owner, optimizer->states, OVL_OPTIMIZER, true,
                        e->compute);
    }
}

/* --- Collectives --- */

static uint32_t add_collective(ovl_pipe_code *e, const char *name, uint64_t bytes, ovl_coll op,
                               bool average)
{
    uint32_t rank = e->member;
    ovl_comm_spec spec = {.name = name,
                          .mark = data_of(e->p)->mark,
                          .op = op,
                          .group = e->p->data_group->name,
                          .n = ranks_of(e),
                          .spread = ovl_plan_spread(e->l, e->p->data_group, rank),
                          .has_bytes = true,
                          .bytes = bytes};
    ovl_plan_cost cost = ovl_plan_comm(e->l, &spec);
    e->broken = e->broken || cost.id == OVL_NONE;
    return ovl_add_op(e->b, e->code,
                      &(ovl_op){.kind = OVL_COLLECTIVE,
                                .coll = (uint8_t)op,
                                .dtype = (uint8_t)e->p->workload->dtype,
                                .per_rank = cost.per_rank,
                                .average = average,
                                .stream = e->data_stream,
                                .comm = e->data_slot,
                                .name = ovl_name(e->b, name),
                                .cost = cost.id,
                                .batch = OVL_NONE,
                                .bytes = bytes,
                                .launch = e->launch,
                                .mark = data_of(e->p)->mark});
}

static void unshard(ovl_pipe_code *e, const ovl_action *a)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    const ovl_pipe_stage *stage = ovl_pipe_stage_of(e->p, a->stage);
    if (s->copies == OVL_PIPE_COPIES) {
        return; /* a list that gathers what is there */
    }
    ovl_id gathered = ovl_pipe_buffer(e, stage_text(e, "gathered parameters", a->stage), stage,
                                      stage->params, OVL_GATHERED, false, e->data_stream);
    s->gathered[s->copies] = gathered;
    s->unshard[s->copies++] =
        add_collective(e, stage_text(e, "unshard", a->stage), stage->params, OVL_ALL_GATHER, false);
    if (e->let_go_by != OVL_NONE) { /* it takes the memory of those */
        ovl_add_after(e->b, e->code, e->let_go_by);
    }
    ovl_add_access(e->b, e->code, s->params, false);
    ovl_add_access(e->b, e->code, gathered, true);
}

/* The copy in use goes, the next one moves up. */
static void reshard(ovl_pipe_code *e, const ovl_action *a)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    if (s->copies == 0) {
        return;
    }
    ovl_free_buffer(e->b, e->code, s->gathered[0]);
    bool later = s->used_by != OVL_NONE && (e->let_go_by == OVL_NONE || s->used_by > e->let_go_by);
    e->let_go_by = later ? s->used_by : e->let_go_by;
    s->copies--;
    for (uint32_t k = 0; k < s->copies; k++) {
        s->gathered[k] = s->gathered[k + 1];
        s->unshard[k] = s->unshard[k + 1];
    }
}

void ovl_pipe_data_reduce(ovl_pipe_code *e, const ovl_action *a, uint32_t i)
{
    ovl_pipe_portion *part = &e->stages[a->stage].part[i];
    bool sharded = data_of(e->p)->shards.sharded;
    if (part->produced_by == OVL_NONE || part->reduce != OVL_NONE) {
        return;
    }
    part->reduce =
        add_collective(e, part_text(e, "reduce", a->stage, i), part_bytes(e, a->stage, i),
                       sharded ? OVL_REDUCE_SCATTER : OVL_ALL_REDUCE, true);
    ovl_add_after(e->b, e->code, part->produced_by);
    ovl_add_access(e->b, e->code, part->gradients, false);
    ovl_add_access(e->b, e->code, part->shard, true);
    ovl_add_effect(e->b, e->code,
                   &(ovl_effect){.kind = OVL_SUM,
                                 .buffer = part->shard,
                                 .source = part->gradients,
                                 .gradient = OVL_NONE});
    if (sharded) {
        ovl_free_buffer(e->b, e->code, part->gradients);
        part->gradients = OVL_NONE;
    }
}

void ovl_pipe_data_action(ovl_pipe_code *e, const ovl_action *a)
{
    if (!data_of(e->p)->given) {
        ovl_plan_say(e->l, "UNSHARD, RESHARD and REDUCE_GRAD of the schedule take no time: the "
                           "pipeline gives no data_parallel.");
    } else if (e->stages[a->stage].params == OVL_NONE) {
        return; /* nothing to move */
    } else if (a->type == OVL_ACT_REDUCE_GRAD) {
        for (uint32_t i = 0; i < e->parts; i++) {
            ovl_pipe_data_reduce(e, a, i);
        }
    } else if (data_of(e->p)->shards.sharded && a->type == OVL_ACT_UNSHARD) {
        unshard(e, a);
    } else if (data_of(e->p)->shards.sharded) {
        reshard(e, a);
    }
}

/* --- Kernels --- */

static bool makes_gradients(const ovl_action *a)
{
    return a->type == OVL_ACT_B || a->type == OVL_ACT_W;
}

static uint16_t apart(ovl_pipe_code *e)
{
    return e->step ? ovl_inner_apart(&e->step->inner) : 0;
}

/* The last backward of a stage, if its reduction follows: a list may put that elsewhere. */
uint32_t ovl_pipe_data_parts(const ovl_pipe_code *e, const ovl_action *a)
{
    const ovl_pipe_state *s = &e->stages[a->stage];
    uint32_t next = e->at + 1;
    if (e->parts == 1 || a->joined || !makes_gradients(a) || s->left != 1) {
        return 1;
    }
    while (next < e->row->count && e->row->item[next].type >= OVL_ACT_SEND_F &&
           e->row->item[next].type <= OVL_ACT_RECV_B) {
        next++;
    }
    const ovl_action *then = &e->row->item[next];
    bool reduced = next < e->row->count && then->type == OVL_ACT_REDUCE_GRAD &&
                   then->stage == a->stage && s->params != OVL_NONE;
    return reduced ? e->parts : 1;
}

/* Copies of a stage have one gradient. */
static ovl_id gradient_name(ovl_pipe_code *e, uint32_t stage, uint32_t part)
{
    return ovl_name(e->b, part_text(e, "stage", stage % e->p->n_stages, part));
}

static void produce(ovl_pipe_code *e, const ovl_action *a, uint32_t local, uint32_t i)
{
    ovl_pipe_portion *part = &e->stages[a->stage].part[i];
    bool first = part->produced_by == OVL_NONE;
    ovl_add_access(e->b, e->code, part->gradients, true);
    ovl_add_effect(e->b, e->code,
                   &(ovl_effect){.kind = (uint8_t)(first ? OVL_PRODUCE : OVL_ADD),
                                 .buffer = part->gradients,
                                 .source = OVL_NONE,
                                 .gradient = gradient_name(e, a->stage, i),
                                 .microbatch = a->microbatch,
                                 .apart = apart(e),
                                 .scale = 1.0 / ovl_pipe_averaged(e->p)});
    part->produced_by = local;
}

/* Gradients of a sharded stage appear with its first backward. */
static void add_gradients(ovl_pipe_code *e, const ovl_action *a)
{
    for (uint32_t i = 0; i < e->parts; i++) {
        ovl_pipe_portion *part = &e->stages[a->stage].part[i];
        if (part->gradients == OVL_NONE) {
            part->gradients = ovl_pipe_buffer(
                e, part_text(e, "gradients", a->stage, i), ovl_pipe_stage_of(e->p, a->stage),
                part_bytes(e, a->stage, i), OVL_GRADIENT, false, e->compute);
        }
    }
}

void ovl_pipe_data_before(ovl_pipe_code *e, const ovl_action *a)
{
    const ovl_pipe_state *s = &e->stages[a->stage];
    if (!data_of(e->p)->given || s->params == OVL_NONE) {
        return;
    }
    if (data_of(e->p)->shards.sharded && s->copies == 0) {
        ovl_error(e->l->errs, OVL_E_INPUT, e->mark,
                  "%" PRIu32 "%s%" PRIu32 " needs the parameters of its stage, which are sharded: "
                  "no %" PRIu32 "UNSHARD stands before it",
                  (uint32_t)a->stage, ovl_action_name((ovl_action_type)a->type), a->microbatch,
                  (uint32_t)a->stage);
        e->broken = true;
    }
    if (makes_gradients(a)) {
        add_gradients(e, a);
    }
}

void ovl_pipe_data_kernel(ovl_pipe_code *e, const ovl_action *a, uint32_t local, uint32_t part)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    if (s->params == OVL_NONE) {
        return;
    }
    s->used_by = local;
    if (s->copies) {
        ovl_add_after(e->b, e->code, s->unshard[0]);
    }
    ovl_add_access(e->b, e->code, s->copies ? s->gathered[0] : s->params, false);
    if (!data_of(e->p)->given || !makes_gradients(a)) {
        return;
    }
    s->left -= part == OVL_NONE;
    for (uint32_t i = 0; i < e->parts; i++) {
        if (part == OVL_NONE || part == i) {
            produce(e, a, local, i);
        }
    }
}

/* --- The end --- */

static void consume(ovl_pipe_code *e, const ovl_pipe_state *s, const ovl_pipe_portion *part,
                    ovl_id gradient)
{
    if (part->reduce == OVL_NONE) {
        return;
    }
    ovl_add_after(e->b, e->code, part->reduce);
    ovl_add_access(e->b, e->code, part->shard, false);
    ovl_add_access(e->b, e->code, s->params, true);
    ovl_add_effect(e->b, e->code,
                   &(ovl_effect){.kind = OVL_CONSUME,
                                 .buffer = part->shard,
                                 .source = OVL_NONE,
                                 .gradient = gradient,
                                 .apart = apart(e)});
}

static void consume_all(ovl_pipe_code *e)
{
    for (uint32_t k = 0; k < e->p->schedule.n_stages; k++) {
        for (uint32_t i = 0; e->stages[k].params != OVL_NONE && i < e->parts; i++) {
            consume(e, &e->stages[k], &e->stages[k].part[i], gradient_name(e, k, i));
        }
    }
}

/* With data parallelism there is one even if it takes no time: it is what gradients are for. */
void ovl_pipe_data_optimizer(ovl_pipe_code *e)
{
    const ovl_optimizer *optimizer = &e->p->workload->optimizer;
    ovl_time length = optimizer->duration;
    bool kernel = optimizer->given && length > 0;
    if (!kernel && !data_of(e->p)->given) {
        return;
    }
    ovl_kernel_spec spec = {.name = "optimizer",
                            .mark = optimizer->mark,
                            .duration = {.item = &length, .count = 1},
                            .klass = "optimizer"};
    ovl_plan_cost cost = kernel ? ovl_plan_kernel(e->l, &spec)
                                : ovl_plan_length(e->l, "optimizer", optimizer->mark,
                                                  (ovl_times){.item = &length, .count = 1});
    ovl_add_op(e->b, e->code,
               &(ovl_op){.kind = kernel ? OVL_KERNEL : OVL_MARKER,
                         .dtype = (uint8_t)e->p->workload->dtype,
                         .stream = e->compute,
                         .comm = OVL_NO_COMM,
                         .name = ovl_name(e->b, "optimizer"),
                         .cost = cost.id,
                         .batch = OVL_NONE,
                         .launch = kernel ? e->launch : 0,
                         .mark = optimizer->mark});
    consume_all(e);
}
