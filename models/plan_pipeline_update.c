/*
 * plan_pipeline_update.c - gradients of the stages of a pipeline: who makes them, and the optimizer
 * that they are for.
 */
#include "models/layer.h"
#include "models/plan_pipeline_code.h"

static const ovl_pipe_data *data_of(const ovl_pipe_plan *p)
{
    return &p->pipe->data;
}

/* --- Kernels --- */

static bool makes_gradients(const ovl_action *a)
{
    return a->type == OVL_ACT_B || a->type == OVL_ACT_W;
}

/* Which ranks have parts of their own of gradients. */
static uint16_t apart(ovl_pipe_code *e, bool experts)
{
    const ovl_group *parts = e->p->step.expert_parts;
    if (experts && parts) {
        return (uint16_t)(ovl_plan_slot(e->l, e->code, parts) + 1);
    }
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
                   then->stage == a->stage && s->any;
    return reduced ? e->parts : 1;
}

static void produce(ovl_pipe_code *e, const ovl_action *a, uint32_t local, bool experts, uint32_t i)
{
    ovl_pipe_portion *part = &e->stages[a->stage].params[experts].part[i];
    bool first = part->produced_by == OVL_NONE;
    ovl_add_access(e->b, e->code, part->gradients, true);
    ovl_add_effect(e->b, e->code,
                   &(ovl_effect){.kind = (uint8_t)(first ? OVL_PRODUCE : OVL_ADD),
                                 .buffer = part->gradients,
                                 .source = OVL_NONE,
                                 .gradient = ovl_pipe_data_gradient(e, a->stage, experts, i),
                                 .microbatch = a->microbatch,
                                 .apart = apart(e, experts),
                                 .scale = 1.0 / ovl_pipe_averaged(e->p)});
    part->produced_by = local;
}

void ovl_pipe_data_before(ovl_pipe_code *e, const ovl_action *a)
{
    const ovl_pipe_state *s = &e->stages[a->stage];
    if (!data_of(e->p)->given || !s->any) {
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
        ovl_pipe_data_room(e, a);
    }
}

void ovl_pipe_data_kernel(ovl_pipe_code *e, const ovl_action *a, uint32_t local, uint32_t part)
{
    ovl_pipe_state *s = &e->stages[a->stage];
    if (!s->any) {
        return;
    }
    s->used_by = local;
    if (s->copies) {
        ovl_add_after(e->b, e->code, s->unshard[0]);
    }
    bool makes = data_of(e->p)->given && makes_gradients(a);
    s->left -= makes && part == OVL_NONE;
    for (int x = 0; x < 2; x++) {
        const ovl_pipe_params *params = &s->params[x];
        if (params->held == OVL_NONE) {
            continue;
        }
        ovl_add_access(e->b, e->code, s->copies ? params->gathered[0] : params->held, false);
        for (uint32_t i = 0; makes && i < e->parts; i++) {
            if (part == OVL_NONE || part == i) {
                produce(e, a, local, x, i);
            }
        }
    }
}

/* --- The optimizer --- */

void ovl_pipe_data_states(ovl_pipe_code *e)
{
    const ovl_optimizer *optimizer = &e->p->workload->optimizer;
    uint64_t bytes = optimizer->states ? optimizer->states
                                       : ovl_optimizer_bytes(optimizer, ovl_pipe_data_updates(e));
    if (bytes && !e->p->shards.ranks[0].shard) { /* else its layers hold their own */
        ovl_pipe_stage owner = {.mark = optimizer->mark};
        ovl_pipe_buffer(e, "optimizer states", &owner, bytes, OVL_OPTIMIZER, true, e->compute);
    }
}

static void consume(ovl_pipe_code *e, const ovl_pipe_params *params, const ovl_pipe_portion *part,
                    ovl_id gradient, bool experts)
{
    if (part->reduce == OVL_NONE) {
        return;
    }
    ovl_add_after(e->b, e->code, part->reduce);
    ovl_add_access(e->b, e->code, part->shard, false);
    ovl_add_access(e->b, e->code, params->held, true);
    ovl_add_effect(e->b, e->code,
                   &(ovl_effect){.kind = OVL_CONSUME,
                                 .buffer = part->shard,
                                 .source = OVL_NONE,
                                 .gradient = gradient,
                                 .apart = apart(e, experts)});
}

static void consume_all(ovl_pipe_code *e)
{
    for (uint32_t k = 0; k < 2 * e->p->schedule.n_stages; k++) {
        bool experts = k % 2;
        const ovl_pipe_params *params = &e->stages[k / 2].params[experts];
        for (uint32_t i = 0; params->held != OVL_NONE && i < e->parts; i++) {
            consume(e, params, &params->part[i], ovl_pipe_data_gradient(e, k / 2, experts, i),
                    experts);
        }
    }
}

void ovl_pipe_data_marker(ovl_pipe_code *e, const char *name)
{
    ovl_mark mark = data_of(e->p)->mark;
    ovl_plan_cost cost = ovl_plan_length(e->l, name, mark, (ovl_times){0});
    ovl_add_op(e->b, e->code,
               &(ovl_op){.kind = OVL_MARKER,
                         .dtype = (uint8_t)e->p->workload->dtype,
                         .stream = e->compute,
                         .comm = OVL_NO_COMM,
                         .name = ovl_name(e->b, name),
                         .cost = cost.id,
                         .batch = OVL_NONE,
                         .mark = mark});
}

static void add_optimizer(ovl_pipe_code *e, ovl_time length, const ovl_time *on, uint64_t moved)
{
    const ovl_optimizer *optimizer = &e->p->workload->optimizer;
    ovl_kernel_spec spec = {.name = "optimizer",
                            .mark = optimizer->mark,
                            .duration = {.item = &length, .count = 1},
                            .on = on,
                            .hbm = moved,
                            .no_compute = moved > 0,
                            .klass = "optimizer"};
    ovl_plan_cost cost = length ? ovl_plan_kernel(e->l, &spec)
                                : ovl_plan_length(e->l, "optimizer", optimizer->mark,
                                                  (ovl_times){.item = &length, .count = 1});
    e->last = ovl_add_op(e->b, e->code,
                         &(ovl_op){.kind = length ? OVL_KERNEL : OVL_MARKER,
                                   .dtype = (uint8_t)e->p->workload->dtype,
                                   .stream = e->compute,
                                   .comm = OVL_NO_COMM,
                                   .name = ovl_name(e->b, "optimizer"),
                                   .cost = cost.id,
                                   .per_rank = cost.per_rank,
                                   .batch = OVL_NONE,
                                   .launch = length ? e->launch : 0,
                                   .mark = optimizer->mark});
}

/* With data parallelism there is one even if it takes no time: it is what gradients are for. */
void ovl_pipe_data_optimizer(ovl_pipe_code *e)
{
    const ovl_pipe_data *data = data_of(e->p);
    bool states = e->p->workload->optimizer.given;
    if (!states && !data->given) {
        return;
    }
    uint64_t moved, elements = ovl_pipe_data_updates(e);
    uint64_t size = ovl_dtype_size(ovl_pipe_grad_dtype(e));
    ovl_time length = ovl_optimizer_time(e->l, elements, size, &moved);
    if (length == 0 && !data->given) {
        return;
    }
    add_optimizer(e, length, ovl_optimizer_on(e->l, elements, size), moved);
    consume_all(e);
    if (data->given && data->distributed) {
        ovl_pipe_data_gather(e);
    }
}
