#include "models/step.h"

/* --- Passes --- */

static void call(void (*hook)(ovl_step *s), ovl_step *s)
{
    if (hook) {
        hook(s);
    }
}

static void call_unit(void (*hook)(ovl_step *s, uint32_t u), ovl_step *s, uint32_t u)
{
    if (hook) {
        hook(s, u);
    }
}

static void call_pass(void (*hook)(ovl_step *s, const ovl_pass *pass), ovl_step *s,
                      const ovl_pass *pass)
{
    if (hook) {
        hook(s, pass);
    }
}

static void add_kernel(ovl_step *s, const char *pass, const ovl_step_unit *unit, ovl_plan_cost cost,
                       ovl_time host)
{
    ovl_op op = ovl_step_op(s, OVL_KERNEL, ovl_step_name(s, pass, unit->name), cost, s->compute,
                            unit->mark);
    op.launch += host;
    ovl_step_add(s, &op);
}

static void forward(ovl_step *s, uint32_t u)
{
    const ovl_step_unit *unit = &s->units[u];
    if (unit->forward.id == OVL_NONE) {
        return;
    }
    call_unit(s->strategy->before_forward, s, u);
    ovl_step_keep(s, u);
    add_kernel(s, "forward", unit, unit->forward, unit->layer->forward_host);
    ovl_step_in_kept(s, u);
    call_unit(s->strategy->in_forward, s, u);
    ovl_step_kept_forward(s, u);
    call_unit(s->strategy->after_forward, s, u);
}

/* The second forward, with the parameters that the backward needs anyway, or ones of its own. */
static void recompute(ovl_step *s, uint32_t u)
{
    const ovl_step_unit *unit = &s->units[u];
    if (s->regathers) {
        call_unit(s->strategy->before_forward, s, u);
    }
    ovl_step_keep_again(s, u);
    add_kernel(s, "recompute", unit, unit->recompute, unit->layer->forward_host);
    ovl_step_in_recompute(s, u);
    call_unit(s->strategy->in_forward, s, u);
    if (s->regathers) {
        call_unit(s->strategy->after_forward, s, u);
    }
}

static void backward(ovl_step *s, uint32_t u)
{
    const ovl_step_unit *unit = &s->units[u];
    bool again = ovl_step_recomputes(s, u) && unit->forward.id != OVL_NONE;
    ovl_step_need(s, u);
    if (again && s->regathers) {
        recompute(s, u);
    }
    call_unit(s->strategy->before_backward, s, u);
    if (again && !s->regathers) {
        recompute(s, u);
    }
    add_kernel(s, "backward", unit, unit->backward, unit->layer->backward_host);
    ovl_step_in_backward(s, u);
    call_unit(s->strategy->in_backward, s, u);
    ovl_step_kept_backward(s, u);
    call_unit(s->strategy->after_backward, s, u);
}

void ovl_step_pass(ovl_step *s, const ovl_pass *pass)
{
    s->microbatch = pass->microbatch;
    if (pass->kind == OVL_PASS_FORWARD) {
        call_pass(s->strategy->begin_forward, s, pass);
        for (uint32_t i = 0; i < pass->n_units; i++) {
            forward(s, pass->first_unit + i);
        }
        call_pass(s->strategy->end_forward, s, pass);
        return;
    }
    call_pass(s->strategy->begin_backward, s, pass);
    for (uint32_t i = pass->n_units; i-- > 0;) {
        backward(s, pass->first_unit + i);
    }
    call_pass(s->strategy->end_backward, s, pass);
}

/* --- Optimizer --- */

static void add_optimizer(ovl_step *s)
{
    const ovl_optimizer *optimizer = &s->workload->optimizer;
    ovl_mark mark = optimizer->given ? optimizer->mark : s->workload->mark;
    ovl_time length = optimizer->duration;
    ovl_kernel_spec spec = {.name = "optimizer",
                            .mark = mark,
                            .duration = {.item = &length, .count = 1},
                            .klass = "optimizer"};
    if (length == 0) {
        ovl_plan_say(s->l, "The optimizer takes no time: workload.optimizer gives no duration.");
    }
    ovl_plan_cost cost = length ? ovl_plan_kernel(s->l, &spec)
                                : ovl_plan_length(s->l, "optimizer", mark, (ovl_times){0});
    ovl_op op =
        ovl_step_op(s, length ? OVL_KERNEL : OVL_MARKER, "optimizer", cost, s->compute, mark);
    op.step_end = true;
    ovl_step_add(s, &op);
}

void ovl_step_end(ovl_step *s)
{
    call(s->strategy->end_accumulation, s);
    add_optimizer(s);
    call(s->strategy->in_optimizer, s);
    call(s->strategy->next_step, s);
}

/* --- The whole --- */

void ovl_step_open(ovl_step *s)
{
    s->b = s->l->b;
    s->code = ovl_plan_code(s->l);
    s->compute = ovl_add_stream(s->b, s->code, "compute");
    s->launch = ovl_plan_launch(s->l);
    s->last = s->added = OVL_NONE;
    s->microbatch = 0;
    ovl_step_open_kept(s);
    call(s->strategy->open, s);
}

void ovl_step_close(ovl_step *s)
{
    call(s->strategy->close, s);
}

static uint32_t count_steps(const ovl_step *s)
{
    return (uint32_t)OVL_MAX(s->workload->steps, 1);
}

ovl_id ovl_step_write(ovl_step *s)
{
    ovl_step_open(s);
    for (uint32_t step = 0; step < count_steps(s); step++) {
        call(s->strategy->begin_step, s);
        for (uint32_t m = 0; m < s->microbatches; m++) {
            ovl_step_pass(s, &(ovl_pass){OVL_PASS_FORWARD, 0, s->n_units, m});
            ovl_step_pass(s, &(ovl_pass){OVL_PASS_BACKWARD, 0, s->n_units, m});
        }
        ovl_step_end(s);
    }
    ovl_step_close(s);
    return s->code;
}

bool ovl_step_fits(const ovl_step *s, uint32_t each)
{
    uint64_t unit = (uint64_t)s->n_units * each + 8;
    uint64_t all = unit * s->microbatches * count_steps(s);
    if (s->microbatches > OVL_PLAN_CODE_OPS || unit > OVL_PLAN_CODE_OPS ||
        all > OVL_PLAN_CODE_OPS || all * s->l->n_ranks > OVL_PLAN_RANK_OPS) {
        ovl_error(s->l->errs, OVL_E_INPUT, s->workload->mark,
                  "%" PRIu32 " microbatches (in each step) of up to %" PRIu64
                  " operations on %" PRIu32 " ranks are too many: at most %u a rank and %u in all",
                  s->microbatches, unit, s->l->n_ranks, OVL_PLAN_CODE_OPS, OVL_PLAN_RANK_OPS);
        return false;
    }
    return true;
}

void ovl_step_free(ovl_step *s)
{
    ovl_vec_free(&s->offloads);
    ovl_arena_free(&s->scratch);
}
