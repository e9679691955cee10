#include "models/plan_pipeline_code.h"
#include "models/schedule_lower.h"

static const ovl_pipe_data *data_of(const ovl_pipe_plan *p)
{
    return &p->pipe->data;
}

/* --- Who, and when --- */

/* The place of each rank in its pipeline. */
static uint32_t *find_places(const ovl_pipe_plan *p, ovl_arena *arena)
{
    uint32_t *place = OVL_NEW_ARRAY(arena, uint32_t, p->l->n_ranks);
    for (uint32_t rank = 0; rank < p->l->n_ranks; rank++) {
        const uint32_t *members = ovl_pipe_members(p, rank);
        for (uint32_t k = 0; k < p->p; k++) {
            place[members[k]] = k;
        }
    }
    return place;
}

/* All ranks of a group have the same stages. */
bool ovl_pipe_data_places(ovl_pipe_plan *p, ovl_mark mark)
{
    ovl_lowering *l = p->l;
    const uint32_t *place = find_places(p, &p->scratch);
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ovl_id id = p->data_group->comm_of[rank];
        if (id == OVL_NONE) {
            ovl_error(l->errs, OVL_E_INPUT, mark,
                      "rank %" PRIu32 " is in no communicator of group \"%s\"", rank,
                      p->data_group->name);
            return false;
        }
        const ovl_comm *comm = &l->b->comms.data[id];
        for (uint32_t k = 0; k < comm->n_members; k++) {
            uint32_t other = l->b->members.data[comm->first_member + k];
            if (place[other] != place[rank]) {
                ovl_error(l->errs, OVL_E_INPUT, mark,
                          "ranks %" PRIu32 " and %" PRIu32 " of group \"%s\" have different stages "
                          "of the pipeline: they have no gradients in common",
                          rank, other, p->data_group->name);
                return false;
            }
        }
    }
    return true;
}

bool ovl_pipe_data_plan(ovl_pipe_plan *p)
{
    ovl_schedule *s = &p->schedule;
    if (!data_of(p)->given) {
        return true;
    }
    if (s->n_chains > 1) {
        ovl_error(p->l->errs, OVL_E_INPUT, data_of(p)->mark,
                  "data parallelism of schedules with two copies of the model is not modelled");
        return false;
    }
    p->data_group = ovl_plan_group(p->l, data_of(p)->group, data_of(p)->mark);
    if (!p->data_group || !ovl_pipe_data_places(p, data_of(p)->mark)) {
        return false;
    }
    ovl_schedule_add_data(s, data_of(p)->sharded ? (uint32_t)data_of(p)->active_stages : 0,
                          &p->scratch);
    return true;
}

/* --- Buffers --- */

static uint32_t ranks_of(const ovl_pipe_code *e)
{
    return ovl_plan_members(e->l, e->p->data_group, e->member);
}

/* A shard is padded to whole bytes. */
static uint64_t shard_bytes(const ovl_pipe_code *e, const ovl_pipe_stage *stage)
{
    uint64_t n = ranks_of(e);
    return data_of(e->p)->sharded ? (stage->params + n - 1) / n : stage->params;
}

static const char *stage_text(ovl_pipe_code *e, const char *what, uint32_t stage)
{
    return ovl_arena_printf(&e->p->scratch, "%s %" PRIu32, what, stage);
}

static void open_stage(ovl_pipe_code *e, uint32_t k)
{
    const ovl_pipe_stage *stage = ovl_pipe_stage_of(e->p, k);
    ovl_pipe_state *s = &e->stages[k];
    bool data = data_of(e->p)->given, sharded = data && data_of(e->p)->sharded;
    if (!stage->params || ovl_pipe_apart(e->p)) { /* its layers hold shards of their own */
        return;
    }
    s->params = ovl_pipe_buffer(e, stage_text(e, sharded ? "parameter shard" : "parameters", k),
                                stage, data ? shard_bytes(e, stage) : stage->params, OVL_PARAMETER,
                                true, e->compute);
    if (data) {
        s->shard = ovl_pipe_buffer(e, stage_text(e, sharded ? "gradient shard" : "gradients", k),
                                   stage, shard_bytes(e, stage), OVL_GRADIENT, true, e->compute);
        s->gradients = sharded ? OVL_NONE : s->shard;
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
    memset(e->stages, 0xff, s->n_stages * sizeof *e->stages); /* OVL_NONE everywhere */
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

static uint32_t add_collective(ovl_pipe_code *e, const char *what, const ovl_action *a, ovl_coll op,
                               bool average)
{
    const ovl_pipe_stage *stage = ovl_pipe_stage_of(e->p, a->stage);
    uint32_t rank = e->member;
    ovl_comm_spec spec = {.name = what,
                          .mark = data_of(e->p)->mark,
                          .op = op,
                          .group = e->p->data_group->name,
                          .n = ranks_of(e),
                          .spread = ovl_plan_spread(e->l, e->p->data_group, rank),
                          .has_bytes = true,
                          .bytes = stage->params};
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
                                .name = ovl_name(e->b, stage_text(e, what, a->stage)),
                                .cost = cost.id,
                                .batch = OVL_NONE,
                                .bytes = stage->params,
                                .launch = e->launch,
                                .mark = data_of(e->p)->mark});
}

static void unshard(ovl_pipe_code *e, const ovl_action *a)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    const ovl_pipe_stage *stage = ovl_pipe_stage_of(e->p, a->stage);
    s->gathered = ovl_pipe_buffer(e, stage_text(e, "gathered parameters", a->stage), stage,
                                  stage->params, OVL_GATHERED, false, e->data_stream);
    s->unshard = add_collective(e, "unshard", a, OVL_ALL_GATHER, false);
    if (e->let_go_by != OVL_NONE) { /* it takes the memory of those */
        ovl_add_after(e->b, e->code, e->let_go_by);
    }
    ovl_add_access(e->b, e->code, s->params, false);
    ovl_add_access(e->b, e->code, s->gathered, true);
}

static void reshard(ovl_pipe_code *e, const ovl_action *a)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    if (s->gathered != OVL_NONE) {
        ovl_free_buffer(e->b, e->code, s->gathered);
        bool later =
            s->used_by != OVL_NONE && (e->let_go_by == OVL_NONE || s->used_by > e->let_go_by);
        e->let_go_by = later ? s->used_by : e->let_go_by;
        s->gathered = OVL_NONE;
        s->unshard = OVL_NONE;
    }
}

static void reduce(ovl_pipe_code *e, const ovl_action *a)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    bool sharded = data_of(e->p)->sharded;
    if (s->produced_by == OVL_NONE) {
        return;
    }
    s->reduce = add_collective(e, "reduce", a, sharded ? OVL_REDUCE_SCATTER : OVL_ALL_REDUCE, true);
    ovl_add_after(e->b, e->code, s->produced_by);
    ovl_add_access(e->b, e->code, s->gradients, false);
    ovl_add_access(e->b, e->code, s->shard, true);
    ovl_add_effect(
        e->b, e->code,
        &(ovl_effect){
            .kind = OVL_SUM, .buffer = s->shard, .source = s->gradients, .gradient = OVL_NONE});
    if (sharded) {
        ovl_free_buffer(e->b, e->code, s->gradients);
        s->gradients = OVL_NONE;
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
        reduce(e, a);
    } else if (data_of(e->p)->sharded && a->type == OVL_ACT_UNSHARD) {
        unshard(e, a);
    } else if (data_of(e->p)->sharded) {
        reshard(e, a);
    }
}

/* --- Kernels --- */

static ovl_id gradient_name(ovl_pipe_code *e, uint32_t stage)
{
    return ovl_name(e->b, stage_text(e, "stage", stage));
}

static uint16_t apart(ovl_pipe_code *e)
{
    return e->step ? ovl_inner_apart(&e->step->inner) : 0;
}

static void produce(ovl_pipe_code *e, const ovl_action *a, uint32_t local)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    bool first = s->produced_by == OVL_NONE;
    ovl_add_access(e->b, e->code, s->gradients, true);
    ovl_add_effect(e->b, e->code,
                   &(ovl_effect){.kind = (uint8_t)(first ? OVL_PRODUCE : OVL_ADD),
                                 .buffer = s->gradients,
                                 .source = OVL_NONE,
                                 .gradient = gradient_name(e, a->stage),
                                 .microbatch = a->microbatch,
                                 .apart = apart(e),
                                 .scale = 1.0 / e->p->microbatches});
    s->produced_by = local;
}

/* Gradients of a sharded stage appear with its first backward. */
void ovl_pipe_data_before(ovl_pipe_code *e, const ovl_action *a)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    bool makes = a->type == OVL_ACT_B || a->type == OVL_ACT_W;
    if (data_of(e->p)->given && makes && s->params != OVL_NONE && s->gradients == OVL_NONE) {
        const ovl_pipe_stage *stage = ovl_pipe_stage_of(e->p, a->stage);
        s->gradients = ovl_pipe_buffer(e, stage_text(e, "gradients", a->stage), stage,
                                       stage->params, OVL_GRADIENT, false, e->compute);
    }
}

void ovl_pipe_data_kernel(ovl_pipe_code *e, const ovl_action *a, uint32_t local)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    if (s->params == OVL_NONE) {
        return;
    }
    s->used_by = local;
    if (s->unshard != OVL_NONE) {
        ovl_add_after(e->b, e->code, s->unshard);
    }
    ovl_add_access(e->b, e->code, s->gathered != OVL_NONE ? s->gathered : s->params, false);
    if (data_of(e->p)->given && (a->type == OVL_ACT_B || a->type == OVL_ACT_W)) {
        produce(e, a, local);
    }
}

/* --- The end --- */

static void consume(ovl_pipe_code *e)
{
    for (uint32_t k = 0; k < e->p->schedule.n_stages; k++) {
        const ovl_pipe_state *s = &e->stages[k];
        if (s->reduce == OVL_NONE) {
            continue;
        }
        ovl_add_after(e->b, e->code, s->reduce);
        ovl_add_access(e->b, e->code, s->shard, false);
        ovl_add_access(e->b, e->code, s->params, true);
        ovl_add_effect(e->b, e->code,
                       &(ovl_effect){.kind = OVL_CONSUME,
                                     .buffer = s->shard,
                                     .source = OVL_NONE,
                                     .gradient = gradient_name(e, k),
                                     .apart = apart(e)});
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
    consume(e);
}
