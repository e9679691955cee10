#include "models/plan_pipeline_code.h"

/* --- What data parallelism sees of a pass --- */

/* The last kernel of the last layer of the pass stands for the action. */
static void touch(ovl_step *s, uint32_t u, bool forward)
{
    ovl_pipe_code *e = s->own;
    const ovl_action *a = e->action;
    const uint32_t *first = &e->first_unit[a->stage % e->p->n_stages];
    if (u == (forward ? first[1] - 1 : first[0])) {
        ovl_pipe_data_kernel(e, a, s->last, OVL_NONE);
    }
}

static void in_forward(ovl_step *s, uint32_t u)
{
    const ovl_pipe_code *e = s->own;
    if (e->action->type == OVL_ACT_F) { /* else it is recomputed */
        touch(s, u, true);
    }
}

static void in_backward(ovl_step *s, uint32_t u)
{
    touch(s, u, false);
}

static const ovl_strategy stage_strategy = {
    .in_forward = in_forward, .in_backward = in_backward, .in_input = in_backward};

/* --- The step --- */

void ovl_pipe_pass_open(ovl_pipe_code *e)
{
    ovl_pipe_plan *p = e->p;
    if (!p->first_unit) {
        return;
    }
    if (p->shards.ranks[0].shard) {
        ovl_pipe_fsdp_open(e);
    } else if (p->l->scenario->ddp.given) {
        ovl_pipe_ddp_open(e);
    } else {
        e->step = &p->step;
        e->first_unit = p->first_unit;
        e->step->strategy = &stage_strategy;
        e->step->own = e;
        ovl_step_open_in(e->step, e->member, e->code, e->compute);
    }
}

void ovl_pipe_pass_close(ovl_pipe_code *e)
{
    if (e->step && ovl_pipe_apart(e->p)) {
        ovl_pipe_own_close(e);
        return;
    }
    if (e->step) {
        ovl_step_close(e->step);
    }
    ovl_pipe_data_optimizer(e);
}

/* --- An action --- */

/* What is received, or was made here for the neighbour stage or by the forward. Gradients of
 * weights start from what those of inputs did. */
static uint32_t source_of(ovl_pipe_code *e, const ovl_action *a)
{
    const ovl_schedule *s = &e->p->schedule;
    bool forward = a->type == OVL_ACT_F;
    ovl_pipe_cell *c = ovl_pipe_cell_of(e, a);
    ovl_action as_input = *a;
    as_input.type = a->type == OVL_ACT_W ? OVL_ACT_I : a->type;
    if (ovl_pipe_edge_in(e->p, &as_input)) {
        return forward ? c->recv_f : c->recv_b;
    }
    if (forward ? ovl_schedule_first(s, a->stage) : ovl_schedule_last(s, a->stage)) {
        return forward ? OVL_NONE : c->f;
    }
    ovl_action other = *a;
    other.stage = (uint16_t)(forward ? a->stage - 1 : a->stage + 1);
    return forward ? ovl_pipe_cell_of(e, &other)->f : ovl_pipe_cell_of(e, &other)->b;
}

static ovl_pass_kind kind_of(const ovl_action *a)
{
    return a->type == OVL_ACT_F   ? OVL_PASS_FORWARD
           : a->type == OVL_ACT_I ? OVL_PASS_INPUT
           : a->type == OVL_ACT_W ? OVL_PASS_WEIGHT
                                  : OVL_PASS_BACKWARD;
}

/* Where the pass is written, and what its first operation brings with it. */
static void begin(ovl_pipe_code *e, const ovl_action *a)
{
    ovl_inner_place *at = &e->step->inner;
    ovl_pipe_cell *c = ovl_pipe_cell_of(e, a);
    ovl_action alone = *a;
    alone.joined = false;
    at->part = (uint8_t)ovl_pipe_part(&alone);
    at->stage = a->stage;
    at->microbatch = a->microbatch;
    at->own = ovl_pipe_length(e->p, &alone);
    at->mean = ovl_pipe_mean(e->p, &alone);
    const ovl_pipe_state *held = &e->stages[a->stage];
    at->waits = held->copies ? held->unshard[0] : OVL_NONE;
    ovl_inner_start(at, source_of(e, a), false);
    at->made = c->b;
    at->input = a->type == OVL_ACT_F ? c->in_f : c->in_b;
    at->output = a->type == OVL_ACT_F ? c->out_f : a->type == OVL_ACT_W ? OVL_NONE : c->out_b;
}

static void add_room(ovl_pipe_code *e, const ovl_action *a)
{
    const ovl_pipe_edge *out = ovl_pipe_edge_out(e->p, a);
    ovl_pipe_cell *c = ovl_pipe_cell_of(e, a);
    uint64_t bytes = out ? out->bytes : 0;
    if (a->type == OVL_ACT_F) {
        c->out_f = ovl_pipe_cell_buffer(e, "output", a, bytes, OVL_TEMPORARY, e->compute);
    } else if (a->type != OVL_ACT_W) {
        c->out_b = ovl_pipe_cell_buffer(e, "gradient", a, bytes, OVL_TEMPORARY, e->compute);
    }
}

static void end(ovl_pipe_code *e, const ovl_action *a)
{
    ovl_step *s = e->step;
    ovl_pipe_cell *c = ovl_pipe_cell_of(e, a);
    e->broken = e->broken || s->inner.broken;
    if (a->type == OVL_ACT_F) {
        c->f = s->inner.chain;
        ovl_pipe_let_go(e, &c->in_f);
        return;
    }
    if (a->type == OVL_ACT_W) {
        c->w = s->last;
    } else {
        c->b = s->inner.chain;
    }
    if (a->type != OVL_ACT_I ||
        s->inner.input == OVL_NONE) { /* an embedding needs it for W alone */
        ovl_pipe_let_go(e, &c->in_b);
    }
}

static void open_action(ovl_pipe_code *e, const ovl_action *a, ovl_pass_writing *w)
{
    const uint32_t *first = &e->first_unit[a->stage % e->p->n_stages];
    add_room(e, a);
    ovl_pipe_data_before(e, a);
    e->action = a;
    begin(e, a);
    ovl_pass pass = {kind_of(a), first[0], first[1] - first[0], a->microbatch, false};
    if (pass.kind == OVL_PASS_BACKWARD || pass.kind == OVL_PASS_WEIGHT) {
        pass.last = --e->stages[a->stage].passes == 0;
    }
    ovl_step_begin_pass(e->step, &pass, w);
}

void ovl_pipe_pass(ovl_pipe_code *e, const ovl_action *a)
{
    ovl_pass_writing w;
    ovl_pipe_check_input(e, a);
    if (e->broken) {
        return;
    }
    open_action(e, a, &w);
    while (ovl_step_some(e->step, &w)) {
    }
    end(e, a);
}

/* The backward first: where it begins with communication, kernels of the forward run beside it. */
void ovl_pipe_turns(ovl_pipe_code *e, const ovl_action *a)
{
    ovl_inner_place *at = &e->step->inner;
    const ovl_action *of[2] = {&a[a[0].type == OVL_ACT_F], &a[a[0].type != OVL_ACT_F]};
    ovl_pass_writing w[2];
    ovl_inner_turn turn[2];
    bool more[2] = {true, true};
    for (int k = 0; k < 2 && !e->broken; k++) {
        ovl_pipe_check_input(e, of[k]);
        if (!e->broken) {
            open_action(e, of[k], &w[k]);
            turn[k] = ovl_inner_leave(at);
        }
    }
    for (int k = 0; !e->broken && (more[0] || more[1]); k = !k) {
        if (!more[k]) {
            continue;
        }
        e->action = of[k];
        ovl_inner_enter(at, &turn[k]);
        more[k] = ovl_step_some(e->step, &w[k]);
        turn[k] = ovl_inner_leave(at);
        if (!more[k]) {
            end(e, of[k]);
        }
    }
}
