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
    if (!ovl_pipe_data_groups(p, data_of(p)->group, data_of(p)->mark)) {
        return false;
    }
    ovl_schedule_add_data(s, &data_of(p)->shards, &p->scratch);
    return true;
}

/* --- Sizes --- */

static uint32_t ranks_of(const ovl_pipe_code *e, bool experts)
{
    return ovl_plan_members(e->l, e->p->data[experts], e->member);
}

static uint64_t params_of(const ovl_pipe_code *e, uint32_t stage, bool experts)
{
    const ovl_pipe_stage *s = ovl_pipe_stage_of(e->p, stage);
    return experts ? s->expert_params : s->params - s->expert_params;
}

ovl_dtype ovl_pipe_grad_dtype(const ovl_pipe_code *e)
{
    int given = data_of(e->p)->grad_dtype;
    return (ovl_dtype)(given < 0 ? e->p->workload->dtype : given);
}

/* A shard is padded to whole bytes. */
static uint64_t shard_of(const ovl_pipe_code *e, uint64_t bytes, bool experts)
{
    uint64_t n = ranks_of(e, experts);
    return data_of(e->p)->shards.sharded ? (bytes + n - 1) / n : bytes;
}

/* Of gradients, in their own type. */
static uint64_t part_bytes(const ovl_pipe_code *e, uint32_t stage, bool experts, uint32_t part)
{
    uint64_t bytes = ovl_pipe_share(params_of(e, stage, experts), part, e->parts);
    return bytes / ovl_dtype_size((ovl_dtype)e->p->workload->dtype) *
               ovl_dtype_size(ovl_pipe_grad_dtype(e)) +
           bytes % ovl_dtype_size((ovl_dtype)e->p->workload->dtype);
}

/* --- Buffers --- */

static const char *stage_text(ovl_pipe_code *e, const char *what, uint32_t stage, bool experts)
{
    return ovl_arena_printf(&e->p->scratch, "%s%s %" PRIu32, experts ? "expert " : "", what, stage);
}

/* Parts are numbered where there are several. */
static const char *part_text(ovl_pipe_code *e, const char *what, uint32_t stage, bool experts,
                             uint32_t part)
{
    const char *text = stage_text(e, what, stage, experts);
    return e->parts == 1 ? text : ovl_arena_printf(&e->p->scratch, "%s.%" PRIu32, text, part);
}

static void open_part(ovl_pipe_code *e, uint32_t k, bool experts, uint32_t i)
{
    const ovl_pipe_stage *stage = ovl_pipe_stage_of(e->p, k);
    bool sharded = data_of(e->p)->shards.sharded;
    ovl_pipe_portion *part = &e->stages[k].params[experts].part[i];
    const char *name = part_text(e, sharded ? "gradient shard" : "gradients", k, experts, i);
    uint64_t bytes = shard_of(e, part_bytes(e, k, experts, i), experts);
    part->shard = ovl_pipe_buffer(e, name, stage, bytes, OVL_GRADIENT, true, e->compute);
    part->gradients = sharded ? OVL_NONE : part->shard;
}

static void open_params(ovl_pipe_code *e, uint32_t k, bool experts)
{
    const ovl_pipe_stage *stage = ovl_pipe_stage_of(e->p, k);
    ovl_pipe_state *s = &e->stages[k];
    bool data = data_of(e->p)->given, sharded = data && data_of(e->p)->shards.sharded;
    uint64_t bytes = params_of(e, k, experts);
    if (!bytes || ovl_pipe_apart(e->p)) { /* its layers hold shards of their own */
        return;
    }
    s->any = true;
    s->params[experts].held = ovl_pipe_buffer(
        e, stage_text(e, sharded ? "parameter shard" : "parameters", k, experts), stage,
        data ? shard_of(e, bytes, experts) : bytes, OVL_PARAMETER, true, e->compute);
    for (uint32_t i = 0; data && i < e->parts; i++) {
        open_part(e, k, experts, i);
    }
}

static void clear_stages(ovl_pipe_code *e)
{
    const ovl_schedule *s = &e->p->schedule;
    for (uint32_t k = 0; k < s->n_stages; k++) {
        ovl_pipe_portion *part[2] = {e->stages[k].params[0].part, e->stages[k].params[1].part};
        uint32_t own = s->n_microbatches / s->n_chains;
        e->stages[k] = (ovl_pipe_state){.used_by = OVL_NONE, .left = own, .passes = own};
        for (int x = 0; x < 2; x++) {
            memset(part[x], 0xff, e->parts * sizeof *part[x]); /* OVL_NONE everywhere */
            e->stages[k].params[x] = (ovl_pipe_params){.held = OVL_NONE, .part = part[x]};
        }
    }
}

void ovl_pipe_data_prepare(ovl_pipe_code *e)
{
    uint32_t n = e->p->schedule.n_stages;
    e->parts = data_of(e->p)->given ? (uint32_t)data_of(e->p)->buckets : 1;
    e->stages = OVL_NEW_ARRAY(&e->p->scratch, ovl_pipe_state, n);
    ovl_pipe_portion *parts =
        OVL_NEW_ARRAY(&e->p->scratch, ovl_pipe_portion, 2 * (size_t)n * e->parts);
    for (uint32_t k = 0; k < 2 * n; k++) {
        e->stages[k / 2].params[k % 2].part = parts + (size_t)k * e->parts;
    }
}

void ovl_pipe_data_open(ovl_pipe_code *e)
{
    const ovl_schedule *s = &e->p->schedule;
    if (data_of(e->p)->given) {
        e->data_stream = ovl_add_stream(e->b, e->code, "data parallel");
        for (int x = 0; x < 2 && e->p->data[x]; x++) {
            e->data_slot[x] = ovl_plan_slot(e->l, e->code, e->p->data[x]);
        }
    }
    e->let_go_by = OVL_NONE;
    clear_stages(e);
    for (uint32_t k = 0; k < s->n_stages; k++) {
        if (s->rank_of[k] == e->rank) {
            open_params(e, k, false);
            open_params(e, k, true);
        }
    }
    ovl_pipe_data_states(e);
}

/* Elements that this rank updates: of what it holds, its part where the optimizer is distributed.
 */
uint64_t ovl_pipe_data_updates(const ovl_pipe_code *e)
{
    const ovl_schedule *s = &e->p->schedule;
    const ovl_pipe_data *data = data_of(e->p);
    bool parts = data->given && (data->shards.sharded || data->distributed);
    uint64_t size = ovl_dtype_size((ovl_dtype)e->p->workload->dtype), sum = 0;
    for (uint32_t k = 0; k < s->n_stages; k++) {
        for (int x = 0; x < 2 && s->rank_of[k] == e->rank; x++) {
            uint64_t n = parts && e->p->data[x] ? ranks_of(e, x) : 1;
            sum += (params_of(e, k, x) / size + n - 1) / n;
        }
    }
    return sum;
}

/* --- Collectives --- */

uint32_t ovl_pipe_data_collective(ovl_pipe_code *e, const ovl_pipe_moved *moved)
{
    const ovl_group *group = e->p->data[moved->experts];
    uint32_t rank = e->member;
    ovl_comm_spec spec = {.name = moved->name,
                          .mark = data_of(e->p)->mark,
                          .op = moved->op,
                          .group = group->name,
                          .n = ranks_of(e, moved->experts),
                          .spread = ovl_plan_spread(e->l, group, rank),
                          .has_bytes = true,
                          .bytes = moved->bytes};
    ovl_plan_cost cost = ovl_plan_comm(e->l, &spec);
    e->broken = e->broken || cost.id == OVL_NONE;
    return ovl_add_op(e->b, e->code,
                      &(ovl_op){.kind = OVL_COLLECTIVE,
                                .coll = (uint8_t)moved->op,
                                .dtype = (uint8_t)moved->dtype,
                                .per_rank = cost.per_rank,
                                .average = moved->op != OVL_ALL_GATHER,
                                .stream = e->data_stream,
                                .comm = e->data_slot[moved->experts],
                                .name = ovl_name(e->b, moved->name),
                                .cost = cost.id,
                                .batch = OVL_NONE,
                                .bytes = moved->bytes,
                                .launch = e->launch,
                                .mark = data_of(e->p)->mark});
}

/* Those of a kind; the state counts the copy when both are gathered. */
static void unshard_params(ovl_pipe_code *e, const ovl_action *a, bool experts)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    const ovl_pipe_stage *stage = ovl_pipe_stage_of(e->p, a->stage);
    ovl_pipe_params *params = &s->params[experts];
    uint64_t bytes = params_of(e, a->stage, experts);
    if (params->held == OVL_NONE) {
        return;
    }
    ovl_id gathered = ovl_pipe_buffer(e, stage_text(e, "gathered parameters", a->stage, experts),
                                      stage, bytes, OVL_GATHERED, false, e->data_stream);
    params->gathered[s->copies] = gathered;
    s->unshard[s->copies] = ovl_pipe_data_collective(
        e, &(ovl_pipe_moved){stage_text(e, "unshard", a->stage, experts), bytes, OVL_ALL_GATHER,
                             (ovl_dtype)e->p->workload->dtype, experts});
    if (e->let_go_by != OVL_NONE) { /* it takes the memory of those */
        ovl_add_after(e->b, e->code, e->let_go_by);
    }
    ovl_add_access(e->b, e->code, params->held, false);
    ovl_add_access(e->b, e->code, gathered, true);
}

static void unshard(ovl_pipe_code *e, const ovl_action *a)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    if (s->copies == OVL_PIPE_COPIES) {
        return; /* a list that gathers what is there */
    }
    unshard_params(e, a, false);
    unshard_params(e, a, true);
    s->copies++;
}

/* The copy in use goes, the next one moves up. */
static void reshard(ovl_pipe_code *e, const ovl_action *a)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    if (s->copies == 0) {
        return;
    }
    bool later = s->used_by != OVL_NONE && (e->let_go_by == OVL_NONE || s->used_by > e->let_go_by);
    e->let_go_by = later ? s->used_by : e->let_go_by;
    s->copies--;
    for (int x = 0; x < 2; x++) {
        ovl_pipe_params *params = &s->params[x];
        if (params->held != OVL_NONE) {
            ovl_free_buffer(e->b, e->code, params->gathered[0]);
        }
        for (uint32_t k = 0; k < s->copies; k++) {
            params->gathered[k] = params->gathered[k + 1];
        }
    }
    for (uint32_t k = 0; k < s->copies; k++) {
        s->unshard[k] = s->unshard[k + 1];
    }
}

static void reduce_part(ovl_pipe_code *e, const ovl_action *a, bool experts, uint32_t i)
{
    ovl_pipe_portion *part = &e->stages[a->stage].params[experts].part[i];
    const ovl_pipe_data *data = data_of(e->p);
    bool scatter = data->shards.sharded || data->distributed;
    if (part->produced_by == OVL_NONE || part->reduce != OVL_NONE) {
        return;
    }
    uint32_t chain = e->p->n_stages;
    part->reduce = ovl_pipe_data_collective(
        e, &(ovl_pipe_moved){part_text(e, "reduce", a->stage % chain, experts, i),
                             part_bytes(e, a->stage, experts, i),
                             scatter ? OVL_REDUCE_SCATTER : OVL_ALL_REDUCE, ovl_pipe_grad_dtype(e),
                             experts});
    ovl_add_after(e->b, e->code, part->produced_by);
    ovl_add_access(e->b, e->code, part->gradients, false);
    ovl_add_access(e->b, e->code, part->shard, true);
    ovl_add_effect(e->b, e->code,
                   &(ovl_effect){.kind = OVL_SUM,
                                 .buffer = part->shard,
                                 .source = part->gradients,
                                 .gradient = OVL_NONE});
    if (data->shards.sharded) {
        ovl_free_buffer(e->b, e->code, part->gradients);
        part->gradients = OVL_NONE;
    }
}

void ovl_pipe_data_reduce(ovl_pipe_code *e, const ovl_action *a, uint32_t i)
{
    reduce_part(e, a, false, i);
    reduce_part(e, a, true, i);
}

void ovl_pipe_data_action(ovl_pipe_code *e, const ovl_action *a)
{
    if (!data_of(e->p)->given) {
        ovl_plan_say(e->l, "UNSHARD, RESHARD and REDUCE_GRAD of the schedule take no time: the "
                           "pipeline gives no data_parallel.");
    } else if (!e->stages[a->stage].any) {
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

static void add_room(ovl_pipe_code *e, const ovl_action *a, bool experts)
{
    const ovl_pipe_params *params = &e->stages[a->stage].params[experts];
    for (uint32_t i = 0; params->held != OVL_NONE && i < e->parts; i++) {
        ovl_pipe_portion *part = &params->part[i];
        if (part->gradients == OVL_NONE) {
            const char *name = part_text(e, "gradients", a->stage, experts, i);
            part->gradients = ovl_pipe_buffer(e, name, ovl_pipe_stage_of(e->p, a->stage),
                                              part_bytes(e, a->stage, experts, i), OVL_GRADIENT,
                                              false, e->compute);
        }
    }
}

/* Gradients of a sharded stage appear with its first backward. */
void ovl_pipe_data_room(ovl_pipe_code *e, const ovl_action *a)
{
    add_room(e, a, false);
    add_room(e, a, true);
}

/* "stage 3", whichever copy of the model it is of. */
ovl_id ovl_pipe_data_gradient(ovl_pipe_code *e, uint32_t stage, bool experts, uint32_t part)
{
    uint32_t chain = e->p->n_stages;
    return ovl_name(e->b, part_text(e, "stage", stage % chain, experts, part));
}

/* Behind the optimizer the others' parts of parameters come back; the step ends with them. */
void ovl_pipe_data_gather(ovl_pipe_code *e)
{
    const ovl_schedule *s = &e->p->schedule;
    uint32_t chain = e->p->n_stages, last = OVL_NONE, updated = e->last;
    for (uint32_t k = 0; k < 2 * s->n_stages; k++) {
        uint32_t at = k / 2, stage = at / s->n_chains + at % s->n_chains * chain;
        bool experts = k % 2;
        const ovl_pipe_params *params = &e->stages[stage].params[experts];
        if (params->held == OVL_NONE) {
            continue;
        }
        last = ovl_pipe_data_collective(
            e, &(ovl_pipe_moved){stage_text(e, "gather", stage % chain, experts),
                                 params_of(e, stage, experts), OVL_ALL_GATHER,
                                 (ovl_dtype)e->p->workload->dtype, experts});
        ovl_add_after(e->b, e->code, updated);
        ovl_add_access(e->b, e->code, params->held, true);
    }
    if (last != OVL_NONE) {
        ovl_pipe_data_marker(e, "parameters updated");
        ovl_add_after(e->b, e->code, last);
    }
}
