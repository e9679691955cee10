#include "sim/hostload.h"

#include "sim/causes.h"
#include "sim/scaled.h"
#include "sim/spans.h"
#include "sim/steps.h"

/* --- One rank --- */

typedef struct look {
    const ovl_code *code;
    const ovl_time *issue, *arrive, *start, *end; /* by local operation */
    ovl_time from, to;                            /* the step */
} look;

static look look_at(const ovl_program *p, const ovl_timeline *t, uint32_t rank)
{
    uint32_t first = p->ranks[rank].first_op;
    return (look){&p->codes[p->ranks[rank].code],
                  t->issue + first,
                  t->arrive + first,
                  t->start + first,
                  t->end + first,
                  t->begin,
                  t->begin + t->step};
}

/* How much of [from, to) lies in the step. */
static ovl_time within(const look *l, ovl_time from, ovl_time to)
{
    ovl_time length = OVL_MIN(to, l->to) - OVL_MAX(from, l->from);
    return OVL_MAX(length, 0);
}

static void add_within(const look *l, ovl_spans *spans, ovl_time from, ovl_time to)
{
    ovl_spans_add(spans, OVL_MAX(from, l->from), OVL_MIN(to, l->to));
}

static void find_parts(const look *l, ovl_host_load *load)
{
    load->issuing = load->blocked = 0;
    for (uint32_t i = 0; i < l->code->n_ops; i++) {
        const ovl_op *op = ovl_code_op(l->code, i);
        if (op->kind == OVL_HOST) {
            load->blocked += within(l, l->issue[i], l->arrive[i]);
            load->issuing += within(l, l->arrive[i], l->end[i]);
        } else if (!op->behind) {
            load->issuing += within(l, l->issue[i] - op->launch, l->issue[i]);
        }
    }
    load->free = l->to - l->from - load->issuing - load->blocked;
}

static bool is_gpu_work(const ovl_op *op)
{
    return op->stream != OVL_NO_STREAM && op->kind != OVL_MARKER;
}

/* When all but its launch was there. */
static ovl_time lacks_only_launch(const look *l, uint32_t op)
{
    const ovl_code *code = l->code;
    uint32_t before[2] = {ovl_code_stream_prev(code, op), ovl_code_comm_prev(code, op)};
    ovl_time at = 0;
    for (uint32_t k = 0; k < 2; k++) {
        at = before[k] != OVL_NONE ? OVL_MAX(at, l->end[before[k]]) : at;
    }
    ovl_offsets after = ovl_code_after(code, op);
    for (uint32_t k = 0; k < after.n; k++) {
        at = OVL_MAX(at, l->end[op + after.by[k]]);
    }
    if (code->queued && ovl_code_queue_prev(code, op) != OVL_NONE) {
        at = OVL_MAX(at, l->arrive[ovl_code_queue_prev(code, op)]);
    }
    return at;
}

static ovl_time gpu_waits(const look *l)
{
    ovl_spans lacking = {0}, busy = {0};
    for (uint32_t i = 0; i < l->code->n_ops; i++) {
        const ovl_op *op = ovl_code_op(l->code, i);
        if (is_gpu_work(op)) {
            add_within(l, &lacking, lacks_only_launch(l, i), l->issue[i]);
        }
        if (op->kind == OVL_KERNEL) {
            add_within(l, &busy, l->start[i], l->end[i]);
        }
    }
    ovl_time waits = ovl_spans_measure(&lacking) - ovl_spans_common(&lacking, &busy);
    ovl_spans_free(&lacking);
    ovl_spans_free(&busy);
    return waits;
}

/* Means of whole times whose sum may be too long for them. */
static void find_ahead(const look *l, ovl_host_load *load)
{
    ovl_op_range step = ovl_last_step(l->code);
    ovl_time n = 0, mean = 0, rest = 0;
    load->ahead_min = load->ahead_mean = OVL_NEVER;
    for (uint32_t i = step.first; i < step.end; i++) {
        n += is_gpu_work(ovl_code_op(l->code, i));
    }
    for (uint32_t i = step.first; i < step.end && n > 0; i++) {
        if (is_gpu_work(ovl_code_op(l->code, i))) {
            ovl_time ahead = l->start[i] - l->issue[i];
            load->ahead_min = OVL_MIN(load->ahead_min, ahead);
            mean += ahead / n;
            rest += ahead % n;
        }
    }
    if (n > 0) {
        load->ahead_mean = mean + rest / n;
    }
}

void ovl_host_load_find(const ovl_program *program, const ovl_timeline *timeline,
                        ovl_result_rank *row)
{
    look l = look_at(program, timeline, row->rank);
    row->has_host = l.code->host_timed;
    if (row->has_host) {
        find_parts(&l, &row->host);
        find_ahead(&l, &row->host);
        row->host.gpu_waits = gpu_waits(&l);
    }
}

/* --- Crossovers --- */

typedef struct search {
    const ovl_program *p;
    ovl_interference interference;
    bool no_skip;
    ovl_time first; /* what the first launch costs any single step */
} search;

/* OVL_NEVER if it cannot be simulated, e.g. because time overflows. */
static ovl_time step_at(const search *s, uint32_t kernels, uint32_t host)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_timeline t;
    ovl_program scaled = ovl_program_scaled(s->p, kernels, host, &arena);
    ovl_run_options run = {
        .interference = s->interference, .step_only = true, .no_skip = s->no_skip};
    ovl_time step = ovl_run(&scaled, &run, &arena, &t, &errs) ? t.step : OVL_NEVER;
    ovl_arena_free(&arena);
    return step;
}

/* What the host costs beyond its first launch, against a step without it. */
static ovl_time excess(const search *s, ovl_time step, ovl_time free_step, uint32_t host)
{
    return step - free_step - ovl_scaled_time(s->first, host);
}

/* To a thousandth. Kernels that are longer hide it, and so does a faster host. */
static bool hidden(const search *s, uint32_t kernels, uint32_t host, ovl_time free_step)
{
    ovl_time step = step_at(s, kernels, host);
    return step != OVL_NEVER && free_step != OVL_NEVER &&
           excess(s, step, free_step, host) <= free_step / 1000;
}

static bool hidden_by_kernels(const search *s, uint32_t kernels)
{
    return hidden(s, kernels, OVL_SCALE_ONE, step_at(s, kernels, 0));
}

/* The least scale of kernels that hides the host; 0 if none up to OVL_SCALE_MOST does. */
static uint32_t find_kernels(const search *s)
{
    uint32_t low = OVL_SCALE_ONE, high = low;
    do {
        low = high;
        high = OVL_MIN(2 * high, OVL_SCALE_MOST);
        if (low == high) {
            return 0;
        }
    } while (!hidden_by_kernels(s, high));
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (hidden_by_kernels(s, middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

/* The largest scale of the host that is hidden, between one that is and one that is not. */
static uint32_t last_hidden(const search *s, uint32_t low, uint32_t high, ovl_time free_step)
{
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (hidden(s, OVL_SCALE_ONE, middle, free_step)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The same above OVL_SCALE_ONE, which is hidden; 0 if all up to OVL_SCALE_MOST are. */
static uint32_t find_slower_host(const search *s, ovl_time free_step)
{
    for (uint32_t low = OVL_SCALE_ONE; low < OVL_SCALE_MOST;) {
        uint32_t high = OVL_MIN(2 * low, OVL_SCALE_MOST);
        if (!hidden(s, OVL_SCALE_ONE, high, free_step)) {
            return last_hidden(s, low, high, free_step);
        }
        low = high;
    }
    return 0;
}

static void find_crossovers(const search *s, ovl_result_host *host)
{
    if (host->hidden) {
        host->cost = find_slower_host(s, host->free_step);
        host->has_cost = host->cost > 0;
        return;
    }
    host->kernels = find_kernels(s);
    host->kernels_step = host->kernels ? step_at(s, host->kernels, OVL_SCALE_ONE) : OVL_NEVER;
    host->cost = last_hidden(s, 0, OVL_SCALE_ONE, host->free_step);
    host->has_cost = true;
}

/* A single step begins with nothing issued, several do not. */
static ovl_time first_launch(const ovl_program *p, const ovl_timeline *t)
{
    const ovl_rank *rank = &p->ranks[t->deciding_rank];
    const ovl_code *code = &p->codes[rank->code];
    for (uint32_t i = 0; i < code->n_ops && p->n_steps < 2; i++) {
        if (is_gpu_work(ovl_code_op(code, i))) {
            return t->issue[rank->first_op + i];
        }
    }
    return 0;
}

void ovl_host_bound_find(const ovl_program *program, const ovl_timeline *timeline,
                         const ovl_analyse_options *options, ovl_result_host *host)
{
    *host = (ovl_result_host){.free_step = OVL_NEVER, .kernels_step = OVL_NEVER};
    for (uint32_t c = 0; c < program->n_codes; c++) {
        host->present |= program->codes[c].host_timed;
    }
    if (!host->present || options->worth == OVL_WORTH_NONE) {
        return;
    }
    search s = {program, options->interference, options->no_skip, first_launch(program, timeline)};
    host->free_step = step_at(&s, OVL_SCALE_ONE, 0);
    if (host->free_step == OVL_NEVER) {
        return;
    }
    ovl_time more = excess(&s, timeline->step, host->free_step, OVL_SCALE_ONE);
    host->first_launch = s.first;
    host->hidden = more <= host->free_step / 1000;
    host->bound = more > host->free_step / 100;
    host->searched = program->n_ops <= OVL_HOST_SEARCH_OPS;
    if (host->searched) {
        find_crossovers(&s, host);
    }
}
