#include "models/step.h"

#include "models/layer.h"

/* --- Passes --- */

static void call(void (*hook)(ovl_step *s), ovl_step *s)
{
    if (hook) {
        hook(s);
    }
}

static bool has_experts(const ovl_step *s, uint32_t u)
{
    return u + 1 < s->n_units && s->units[u + 1].experts;
}

/* Of a unit and its experts; in a backward the experts first. */
static void call_unit(void (*hook)(ovl_step *s, uint32_t u), ovl_step *s, uint32_t u, bool backward)
{
    bool both = hook && has_experts(s, u);
    if (both && backward) {
        hook(s, u + 1);
    }
    if (hook) {
        hook(s, u);
    }
    if (both && !backward) {
        hook(s, u + 1);
    }
}

static void call_pass(void (*hook)(ovl_step *s, const ovl_pass *pass), ovl_step *s,
                      const ovl_pass *pass)
{
    if (hook) {
        hook(s, pass);
    }
}

typedef ovl_unit_pass unit_pass;

static const char *name_of_inner(void *context, const char *op)
{
    const unit_pass *p = context;
    const char *unit = p->s->units[p->u].name;
    return ovl_step_name(p->s, p->word, ovl_arena_printf(&p->s->scratch, "%s.%s", unit, op));
}

static void touch(const unit_pass *p, uint32_t local)
{
    p->s->last = p->s->added = local;
    p->kept(p->s, p->u);
    call_unit(p->hook, p->s, p->u, p->inner != OVL_INNER_FORWARD && p->inner != OVL_INNER_AGAIN);
}

static void last_kernel(void *context, uint32_t local)
{
    touch(context, local);
}

/* The later of two operations of the compute stream. */
static uint32_t later(uint32_t a, uint32_t b)
{
    return a == OVL_NONE ? b : b == OVL_NONE ? a : OVL_MAX(a, b);
}

static void begin_inner(unit_pass *p, ovl_inner_caller *caller, ovl_inner_writing *w)
{
    ovl_step *s = p->s;
    const ovl_step_unit *unit = &s->units[p->u];
    *caller = (ovl_inner_caller){.context = p,
                                 .name = name_of_inner,
                                 .last_kernel = last_kernel,
                                 .host = p->host,
                                 .mark = unit->mark,
                                 .klass = unit->layer->klass};
    s->inner.last = later(s->inner.last, s->last);
    ovl_inner_begin(w, &s->inner, unit->layer->inner, p->inner, caller);
}

static void add_inner(const unit_pass *p)
{
    unit_pass context = *p;
    ovl_inner_caller caller;
    ovl_inner_writing w;
    begin_inner(&context, &caller, &w);
    while (ovl_inner_some(&w)) {
    }
}

static void add_unit(const unit_pass *p)
{
    ovl_step *s = p->s;
    const ovl_step_unit *unit = &s->units[p->u];
    if (unit->layer->inner) {
        add_inner(p);
        return;
    }
    ovl_op op = ovl_step_op(s, OVL_KERNEL, ovl_step_name(s, p->word, unit->name), p->cost,
                            s->compute, unit->mark);
    op.launch += p->host;
    op.part = s->inner.part;
    op.stage = s->inner.stage;
    op.mean = ovl_inner_mean(&s->inner, s->b->costs.data[p->cost.id].work);
    uint32_t local = ovl_step_add(s, &op);
    ovl_set_microbatch(s->b, s->code, s->inner.microbatch);
    ovl_inner_take(&s->inner, local);
    touch(p, local);
}

/* The second forward, with the parameters that the backward needs anyway, or ones of its own. It
 * starts when the gradient is there and leaves that to the backward. */
static void recompute(ovl_step *s, uint32_t u)
{
    const ovl_step_unit *unit = &s->units[u];
    uint32_t chain = s->inner.chain;
    bool is_kernel = s->inner.chain_is_kernel;
    if (s->regathers) {
        call_unit(s->strategy->before_forward, s, u, false);
    }
    ovl_step_keep_again(s, u);
    add_unit(&(unit_pass){s, u, "recompute", OVL_INNER_AGAIN, unit->recompute,
                          unit->layer->forward_host, ovl_step_in_recompute,
                          s->strategy->in_forward});
    ovl_inner_start(&s->inner, chain, is_kernel);
    if (s->regathers) {
        call_unit(s->strategy->after_forward, s, u, false);
    }
}

/* What comes before the kernels of a unit; false: it has none. */
static bool open_forward(ovl_step *s, uint32_t u, unit_pass *p)
{
    const ovl_step_unit *unit = &s->units[u];
    if (unit->forward.id == OVL_NONE) {
        return false;
    }
    call_unit(s->strategy->before_forward, s, u, false);
    ovl_step_keep(s, u);
    *p = (unit_pass){s,
                     u,
                     "forward",
                     OVL_INNER_FORWARD,
                     unit->forward,
                     unit->layer->forward_host,
                     ovl_step_in_kept,
                     s->strategy->in_forward};
    return true;
}

static void open_backward(ovl_step *s, uint32_t u, bool input, unit_pass *p)
{
    const ovl_step_unit *unit = &s->units[u];
    bool again = ovl_step_recomputes(s, u) && unit->forward.id != OVL_NONE;
    ovl_step_need(s, u);
    if (again && s->regathers) {
        recompute(s, u);
    }
    call_unit(s->strategy->before_backward, s, u, true);
    if (again && !s->regathers) {
        recompute(s, u);
    }
    *p = (unit_pass){s,
                     u,
                     input ? "backward_input" : "backward",
                     input ? OVL_INNER_BACKWARD_INPUT : OVL_INNER_BACKWARD,
                     input ? unit->input : unit->backward,
                     unit->layer->backward_host,
                     ovl_step_in_backward,
                     input ? s->strategy->in_input : s->strategy->in_backward};
}

/* The rest of a backward whose first part ran; what was kept is there until now. */
static void open_weight(ovl_step *s, uint32_t u, unit_pass *p)
{
    const ovl_step_unit *unit = &s->units[u];
    if (unit->layer->inner && !ovl_inner_has(unit->layer->inner, OVL_INNER_BACKWARD_INPUT)) {
        ovl_inner_start(&s->inner, s->inner.made, false);
    }
    call_unit(s->strategy->before_backward, s, u, true);
    *p = (unit_pass){s,
                     u,
                     "backward_weight",
                     OVL_INNER_BACKWARD_WEIGHT,
                     unit->weight,
                     unit->layer->backward_host,
                     ovl_step_in_backward,
                     s->strategy->in_backward};
}

/* The unit of the step whose turn it is. */
static uint32_t unit_at(const ovl_pass_writing *w)
{
    const ovl_pass *pass = &w->pass;
    bool is_forward = pass->kind == OVL_PASS_FORWARD;
    return pass->first_unit + (is_forward ? w->unit : pass->n_units - 1 - w->unit);
}

/* Experts come with the unit that they belong to. */
static void pass_over_experts(const ovl_step *s, ovl_pass_writing *w)
{
    while (!w->open && w->unit < w->pass.n_units && s->units[unit_at(w)].experts) {
        w->unit++;
    }
}

static bool open_unit(ovl_step *s, ovl_pass_writing *w)
{
    const ovl_pass *pass = &w->pass;
    uint32_t u = unit_at(w);
    if (pass->kind == OVL_PASS_FORWARD) {
        return open_forward(s, u, &w->own);
    }
    if (pass->kind == OVL_PASS_WEIGHT) {
        open_weight(s, u, &w->own);
    } else {
        open_backward(s, u, pass->kind == OVL_PASS_INPUT, &w->own);
    }
    return true;
}

static void close_unit(ovl_step *s, const ovl_pass_writing *w)
{
    uint32_t u = w->own.u;
    if (w->pass.kind == OVL_PASS_FORWARD) {
        ovl_step_kept_forward(s, u);
        call_unit(s->strategy->after_forward, s, u, false);
        return;
    }
    if (w->pass.kind != OVL_PASS_INPUT) {
        ovl_step_kept_backward(s, u);
    }
    call_unit(s->strategy->after_backward, s, u, true);
}

/* What is left of a unit that is made of several; true: not all of it was written. */
static bool some_of_unit(ovl_step *s, ovl_pass_writing *w)
{
    if (!w->open) {
        begin_inner(&w->own, &w->caller, &w->inner);
    }
    s->inner.last = later(s->inner.last, s->last);
    w->open = ovl_inner_some(&w->inner);
    return w->open;
}

void ovl_step_begin_pass(ovl_step *s, const ovl_pass *pass, ovl_pass_writing *w)
{
    bool is_forward = pass->kind == OVL_PASS_FORWARD;
    *w = (ovl_pass_writing){.pass = *pass};
    s->microbatch = pass->microbatch;
    s->pass = *pass;
    call_pass(is_forward ? s->strategy->begin_forward : s->strategy->begin_backward, s, pass);
}

bool ovl_step_some(ovl_step *s, ovl_pass_writing *w)
{
    const ovl_pass *pass = &w->pass;
    bool is_forward = pass->kind == OVL_PASS_FORWARD, turn = false;
    s->microbatch = pass->microbatch;
    s->pass = *pass;
    pass_over_experts(s, w);
    while (w->unit < pass->n_units && !turn) {
        if (!w->open && !open_unit(s, w)) {
            w->unit++;
            pass_over_experts(s, w);
            continue;
        }
        bool inner = s->units[w->own.u].layer->inner != NULL;
        if (inner && some_of_unit(s, w)) {
            return true;
        }
        if (!inner) {
            add_unit(&w->own);
        }
        close_unit(s, w);
        turn = inner && w->inner.communicates;
        w->unit++;
        pass_over_experts(s, w);
    }
    if (w->unit < pass->n_units) {
        return true;
    }
    call_pass(is_forward ? s->strategy->end_forward : s->strategy->end_backward, s, pass);
    return false;
}

void ovl_step_pass(ovl_step *s, const ovl_pass *pass)
{
    ovl_pass_writing w;
    ovl_step_begin_pass(s, pass, &w);
    while (ovl_step_some(s, &w)) {
    }
}

/* --- Optimizer --- */

static void add_optimizer(ovl_step *s)
{
    const ovl_optimizer *optimizer = &s->workload->optimizer;
    ovl_mark mark = optimizer->given ? optimizer->mark : s->workload->mark;
    ovl_op_kind kind;
    ovl_plan_cost cost = ovl_optimizer_cost(s->l, s->updates, mark, &kind);
    ovl_op op = ovl_step_op(s, kind, "optimizer", cost, s->compute, mark);
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

void ovl_step_open(ovl_step *s, uint32_t rank)
{
    ovl_id code = ovl_plan_code(s->l);
    ovl_step_open_in(s, rank, code, ovl_add_stream(s->l->b, code, "compute"));
}

void ovl_step_open_in(ovl_step *s, uint32_t rank, ovl_id code, uint16_t compute)
{
    s->b = s->l->b;
    s->code = code;
    s->compute = compute;
    ovl_inner_open(&s->inner, s->l, &s->scratch, code, rank, compute);
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

ovl_id ovl_step_write(ovl_step *s, uint32_t rank)
{
    ovl_step_open(s, rank);
    for (uint32_t step = 0; step < count_steps(s); step++) {
        call(s->strategy->begin_step, s);
        for (uint32_t m = 0; m < s->microbatches; m++) {
            ovl_inner_start(&s->inner, OVL_NONE, true);
            bool last = m + 1 == s->microbatches;
            ovl_step_pass(s, &(ovl_pass){OVL_PASS_FORWARD, 0, s->n_units, m, false});
            ovl_step_pass(s, &(ovl_pass){OVL_PASS_BACKWARD, 0, s->n_units, m, last});
        }
        ovl_step_end(s);
    }
    ovl_step_close(s);
    return s->code;
}

bool ovl_step_fits(const ovl_step *s, uint32_t each)
{
    uint64_t unit = (uint64_t)s->n_units * each + 8;
    for (uint32_t u = 0; u < s->n_units; u++) {
        bool inner = s->units[u].layer->inner && !s->units[u].experts;
        unit += inner ? ovl_inner_count(s->units[u].layer->inner) : 0;
    }
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
    ovl_inner_close(&s->inner);
    ovl_arena_free(&s->scratch);
}
