#include "sim/idle.h"

#include "sim/exposure.h"
#include "sim/idle_charge.h"
#include "sim/steps.h"

static const char *const idle_names[OVL_IDLE_COUNT] = {
    "fill", "drain", "imbalance", "dependency", "schedule", "host", "pause"};
static const char *const peel_names[OVL_PEEL_COUNT] = {"structural", "imbalance", "dependency",
                                                       "pause", "host"};

const char *ovl_idle_name(ovl_idle_kind kind)
{
    return idle_names[kind];
}

const char *ovl_peel_name(ovl_peel kind)
{
    return peel_names[kind];
}

typedef struct finder {
    ovl_causes *c;
    const ovl_program *p;
    const ovl_timeline *t;
    const ovl_classes *classes;
    ovl_idle_lab lab;
    ovl_means means;
    ovl_waits waits;
    ovl_blamer blamer;
    ovl_arena *arena, scratch;
    bool pipeline, has_comm, has_host, has_pause;
    uint32_t last; /* the operation that ends the step; OVL_NONE: there is none */
    ovl_idle_run run[OVL_PEEL_COUNT]; /* the last one is the run itself */
    bool borrowed[OVL_PEEL_COUNT];    /* it is the next one */
    bool ordered[OVL_PEEL_COUNT];     /* it has another order of kernels than the run */
    ovl_idle_charger charger;
    OVL_VEC(ovl_idle_gap) gaps; /* of the rank that is looked at */
    ovl_stretches kernels;      /* scratch */
} finder;

/* --- The runs --- */

static bool has_pause(const finder *f)
{
    for (uint32_t r = 0; r < f->p->n_ranks; r++) {
        const ovl_rank *rank = &f->p->ranks[r];
        const ovl_code *code = &f->p->codes[rank->code];
        for (uint32_t i = 0; i < code->n_ops; i++) {
            uint32_t op = rank->first_op + i;
            if (ovl_code_op(code, i)->kind == OVL_MARKER && f->t->end[op] > f->t->start[op]) {
                return true;
            }
        }
    }
    return false;
}

static void look_at_program(finder *f)
{
    f->has_pause = has_pause(f);
    for (uint32_t c = 0; c < f->p->n_codes; c++) {
        const ovl_code *code = &f->p->codes[c];
        f->has_host |= code->host_timed;
        for (uint32_t i = 0; i < code->n_ops; i++) {
            const ovl_op *op = ovl_code_op(code, i);
            f->has_comm |= ovl_is_communication(op) || op->kind == OVL_COPY;
            f->pipeline |= op->kind == OVL_KERNEL && op->part != OVL_PART_NONE;
        }
    }
}

/* A replay that changes nothing beyond another is not made. */
static bool same_run(const finder *f, ovl_peel kind)
{
    switch (kind) {
    case OVL_PEEL_STRUCTURAL:
        return !f->means.uneven;
    case OVL_PEEL_DEPENDENCY:
        return !f->has_pause;
    case OVL_PEEL_PAUSE:
        return !f->has_host;
    case OVL_PEEL_IMBALANCE: /* kernels were as fast as alone, and there is nothing else */
        return !f->has_comm && f->t->n_limits == 0 && !f->p->orders;
    case OVL_PEEL_HOST:
    case OVL_PEEL_COUNT:
        break;
    }
    return false;
}

/* A search that is told less to idle for may find another order; it knows those that it finds for
 * what is left out later, too. */
#define OTHER_ORDERS 2
static const unsigned other_orders[OVL_PEEL_HOST][OTHER_ORDERS] = {
    [OVL_PEEL_STRUCTURAL] = {OVL_ORDER_EVEN | OVL_ORDER_FREE, OVL_ORDER_FREE},
    [OVL_PEEL_IMBALANCE] = {OVL_ORDER_FREE}};

static ovl_time length_of(const ovl_idle_run *run)
{
    return run->end - run->begin;
}

/* The shortest of the orders; of equals one that was found for this, which none of what is left
 * out made longer. */
static void make_run(finder *f, ovl_peel kind, const ovl_replay_options *options)
{
    ovl_idle_run *best = &f->run[kind];
    ovl_idle_run_replay(&f->lab, options, best);
    for (int i = 0; i < OTHER_ORDERS && other_orders[kind][i]; i++) {
        ovl_idle_run other;
        if (!ovl_idle_run_ordered(&f->lab, other_orders[kind][i], options, &other)) {
            continue;
        }
        bool better = length_of(&other) < length_of(best) + !f->ordered[kind];
        ovl_idle_run *worse = better ? best : &other;
        ovl_idle_run_free(worse);
        if (better) {
            *best = other;
            f->ordered[kind] = true;
        }
    }
}

static void make_runs(finder *f)
{
    ovl_idle_run_itself(&f->lab, &f->run[OVL_PEEL_HOST]);
    for (int kind = OVL_PEEL_HOST; kind-- > 0;) {
        f->borrowed[kind] = same_run(f, (ovl_peel)kind);
        if (f->borrowed[kind]) {
            f->run[kind] = f->run[kind + 1];
            f->ordered[kind] = f->ordered[kind + 1];
        } else {
            make_run(f, (ovl_peel)kind, ovl_idle_taken(kind));
        }
    }
}

/* --- Gaps --- */

static bool awaits_forward(const finder *f, const ovl_idle_gap *g)
{
    if (g->op == OVL_NONE) {
        return false;
    }
    const ovl_op *op = ovl_causes_op(f->c, g->op);
    if (op->part != OVL_PART_NONE) {
        return op->part == OVL_PART_FORWARD;
    }
    ovl_id klass = ovl_op_cost_kind(f->p, f->c->rank_of[g->op], op)->klass;
    const char *name = klass == OVL_NONE ? "" : OVL_NAME(f->p->names, f->p->kernel_classes[klass]);
    return g->from == f->t->begin || strcmp(name, "forward") == 0;
}

/* --- Ranks --- */

static uint32_t last_op(const finder *f, uint32_t rank)
{
    uint32_t first = f->p->ranks[rank].first_op, last = OVL_NONE;
    const ovl_code *code = &f->p->codes[f->p->ranks[rank].code];
    if (f->p->n_steps > 1 && code->n_steps == f->p->n_steps) {
        return first + code->step_ends[code->n_steps - 1];
    }
    for (uint32_t i = 0; i < code->n_ops; i++) {
        last = last == OVL_NONE || f->t->end[first + i] > f->t->end[last] ? first + i : last;
    }
    return last;
}

/* The last operation of a rank that is no kernel may end after the last kernel: what it waits for
 * comes first, then the end of the step. */
static void wait_for_end(finder *f, uint32_t rank, ovl_time from, ovl_waited *w)
{
    uint32_t own = last_op(f, rank);
    ovl_time until = own == OVL_NONE ? from : OVL_MAX(from, f->t->end[own]);
    ovl_waits_until(&f->waits, f->last, until, w);
    if (until > from) {
        ovl_waited before;
        ovl_waits_until(&f->waits, own, from, &before);
        for (int k = 0; k < OVL_WAIT_COUNT; k++) {
            w->time[k] += before.time[k];
            w->by[k] = before.time[k] > 0 || w->by[k] == OVL_NONE ? before.by[k] : w->by[k];
        }
    }
}

/* How long the kernel that ends a gap waits in a run; in that of another order, how long its rank
 * idles at first, or in the end. */
static ovl_time wait_in(const finder *f, int kind, uint32_t class_id, const ovl_idle_gap *g)
{
    const ovl_idle_run *run = &f->run[kind];
    if (g->op == OVL_NONE || !f->ordered[kind]) {
        return ovl_idle_waits_in(run, class_id, g->op);
    }
    return g->edge ? run->head[class_id] : 0;
}

/* What is known of a gap before it is cut. */
static void look_at_gap(finder *f, uint32_t class_id, uint32_t rank, const ovl_gap *gap,
                        ovl_idle_gap *g)
{
    *g = (ovl_idle_gap){.op = gap->op, .from = gap->from, .to = gap->to};
    g->forward = awaits_forward(f, g);
    g->edge = g->op == OVL_NONE || g->from == f->run[OVL_PEEL_HOST].begin;
    g->first_part = f->waits.parts.len;
    if (g->op == OVL_NONE) {
        wait_for_end(f, rank, g->from, &g->waited);
    } else {
        ovl_waits_before(&f->waits, g->op, g->from, &g->waited);
    }
    g->n_parts = f->waits.parts.len - g->first_part;
    for (int k = 0; k < OVL_PEEL_COUNT; k++) {
        g->wait[k] = wait_in(f, k, class_id, g);
    }
}

/* The first of the runs that has the order of the run itself. */
static ovl_peel own_order(const finder *f)
{
    int own = OVL_PEEL_HOST;
    while (own > 0 && !f->ordered[own - 1]) {
        own--;
    }
    return (ovl_peel)own;
}

static void cut_gaps(finder *f, uint32_t class_id, uint32_t rank)
{
    const ovl_idle_run *run = &f->run[OVL_PEEL_HOST];
    ovl_time idle[OVL_PEEL_COUNT];
    f->gaps.len = f->waits.parts.len = 0;
    for (uint32_t i = run->first[class_id]; i < run->first[class_id + 1]; i++) {
        ovl_idle_gap gap;
        look_at_gap(f, class_id, rank, &run->list.data[i], &gap);
        ovl_vec_push(&f->gaps, gap);
    }
    for (int k = 0; k < OVL_PEEL_COUNT; k++) {
        idle[k] = f->run[k].idle[class_id];
    }
    ovl_idle_cut(f->gaps.data, f->gaps.len, idle, own_order(f));
}

static int by_time(const void *a, const void *b)
{
    const ovl_result_gap *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static ovl_result_gap listed(const finder *f, const ovl_idle_gap *g, const char *why)
{
    ovl_time begin = f->t->begin;
    ovl_result_gap out = {.start = g->from - begin, .end = g->to - begin, .because = why};
    memcpy(out.piece, g->piece, sizeof out.piece);
    if (g->op != OVL_NONE) {
        out.before = ovl_names_copy(f->p->names, ovl_op_name_id(f->p, g->op), f->arena);
    }
    return out;
}

static void add_charges(const ovl_charges *own, uint32_t count, ovl_charges *all)
{
    for (uint32_t i = 0; i < own->len; i++) {
        ovl_charge c = own->data[i];
        if (__builtin_mul_overflow(c.time, (ovl_time)count, &c.time)) {
            c.time = OVL_TIME_MAX;
        }
        ovl_vec_push(all, c);
    }
}

static void explain_rank(finder *f, uint32_t class_id, bool list, ovl_result_rank *row,
                         ovl_charges *all)
{
    cut_gaps(f, class_id, row->rank);
    uint32_t n = f->gaps.len;
    ovl_result_gap *out = list ? OVL_NEW_ARRAY(f->arena, ovl_result_gap, n) : NULL;
    ovl_charges own = {0};
    for (uint32_t i = 0; i < n; i++) {
        const ovl_idle_gap *g = &f->gaps.data[i];
        uint32_t charged = own.len;
        ovl_idle_charge(&f->charger, class_id, g, &own);
        for (int k = 0; k < OVL_IDLE_COUNT; k++) {
            row->idle[k] += g->piece[k];
        }
        if (list) {
            out[i] = listed(f, g, ovl_idle_because(&f->charger, g, &own, charged));
        }
    }
    row->blames = ovl_blame_choose(&f->blamer, &own, false, &row->n_blames);
    add_charges(&own, row->count, all);
    ovl_vec_free(&own);
    if (list) {
        qsort(out, n, sizeof *out, by_time);
        row->gaps = out;
        row->n_gaps = n;
    }
}

static void peel_rank(const finder *f, uint32_t class_id, ovl_result_rank *row)
{
    row->idle_time = f->run[OVL_PEEL_HOST].idle[class_id];
    row->peeled[0] = f->run[0].idle[class_id];
    for (int k = 1; k < OVL_PEEL_COUNT; k++) {
        row->peeled[k] = f->run[k].idle[class_id] - f->run[k - 1].idle[class_id];
    }
}

/* --- Spans --- */

/* A kernel that takes no time, where two steps meet, is of neither. */
static bool of_this_step(const finder *f, uint32_t op)
{
    ovl_time begin = f->t->begin, end = f->t->begin + f->t->step;
    ovl_time from = f->t->start[op], to = f->t->end[op];
    if (to == from) {
        return f->p->n_steps <= 1 || (from > begin && to < end);
    }
    return from < end && to > begin;
}

/* The kernels of a rank in the step, in a pipeline those of its stages, from its begin on. */
static void list_span(finder *f, uint32_t rank)
{
    ovl_time begin = f->t->begin, end = f->t->begin + f->t->step;
    const ovl_rank *r = &f->p->ranks[rank];
    const ovl_code *code = &f->p->codes[r->code];
    f->kernels.len = 0;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        const ovl_op *o = ovl_code_op(code, i);
        uint32_t op = r->first_op + i;
        bool counts = o->kind == OVL_KERNEL && !(f->pipeline && o->part == OVL_PART_NONE);
        if (counts && of_this_step(f, op)) {
            ovl_stretch_add(&f->kernels, OVL_MAX(f->t->start[op], begin) - begin,
                            OVL_MIN(f->t->end[op], end) - begin, op);
        }
    }
    ovl_stretches_sort(&f->kernels);
}

/* From the first kernel of the rank's stages to the last, those that take no time included, and how
 * much of it kernels ran. */
static void find_span(finder *f, ovl_result_rank *row, ovl_time *busy)
{
    ovl_time covered = 0;
    row->span_start = row->span_end = OVL_NEVER;
    row->bubble_rate = -1;
    *busy = 0;
    list_span(f, row->rank);
    for (uint32_t i = 0; i < f->kernels.len; i++) {
        const ovl_stretch *k = &f->kernels.data[i];
        bool first = row->span_start == OVL_NEVER;
        row->span_start = first ? k->start : row->span_start;
        row->span_end = first ? k->end : OVL_MAX(row->span_end, k->end);
        *busy += OVL_MAX(0, k->end - OVL_MAX(k->start, covered));
        covered = OVL_MAX(covered, k->end);
    }
    if (row->span_start != OVL_NEVER && row->span_end > row->span_start) {
        ovl_time span = row->span_end - row->span_start;
        row->bubble_rate = (double)(span - *busy) / (double)span;
    }
}

static void add_to(ovl_time *sum, ovl_time value, uint32_t count, bool *counted)
{
    ovl_time product;
    *counted = *counted && !__builtin_mul_overflow(value, (ovl_time)count, &product) &&
               !__builtin_add_overflow(*sum, product, sum);
}

static void sum_up(const finder *f, const ovl_result_rank *rows, ovl_result_idle *total)
{
    bool counted = true;
    for (uint32_t i = 0; i < f->classes->n; i++) {
        add_to(&total->time, rows[i].idle_time, rows[i].count, &counted);
        for (int k = 0; k < OVL_IDLE_COUNT; k++) {
            add_to(&total->piece[k], rows[i].idle[k], rows[i].count, &counted);
        }
        for (int k = 0; k < OVL_PEEL_COUNT; k++) {
            add_to(&total->peeled[k], rows[i].peeled[k], rows[i].count, &counted);
        }
    }
    if (!counted) {
        total->time = OVL_NEVER;
    }
}

static void find_rates(finder *f, ovl_result_rank *rows, ovl_result_idle *total)
{
    double busy_of_all = 0, idle_of_all = 0, ranks = 0;
    for (uint32_t i = 0; i < f->classes->n; i++) {
        ovl_time busy;
        find_span(f, &rows[i], &busy);
        ovl_time span = rows[i].span_end - rows[i].span_start;
        if (rows[i].span_start != OVL_NEVER && span > total->span) {
            total->span = span;
            total->span_rank = ovl_rank_number(f->p, rows[i].rank);
        }
        busy_of_all += (double)busy * rows[i].count;
        idle_of_all += (double)rows[i].idle_time * rows[i].count;
        ranks += rows[i].count;
    }
    total->bubble_rate = f->t->step ? idle_of_all / ((double)f->t->step * ranks) : -1;
    total->span_bubble_rate = total->span ? OVL_MAX(0, ((double)total->span * ranks - busy_of_all) /
                                                           ((double)total->span * ranks))
                                          : -1;
}

void ovl_idle_find(ovl_causes *causes, const ovl_classes *classes, const ovl_idle_ask *ask,
                   ovl_arena *arena, ovl_result_rank *rows, ovl_result_idle *total)
{
    finder f = {.c = causes,
                .p = causes->program,
                .t = causes->timeline,
                .classes = classes,
                .blamer = {causes, causes->program, classes, arena},
                .arena = arena};
    ovl_charges all = {0};
    *total = (ovl_result_idle){.bubble_rate = -1, .span_bubble_rate = -1};
    look_at_program(&f);
    ovl_means_find(f.p, &f.scratch, &f.means);
    f.lab = (ovl_idle_lab){causes,   classes,    ovl_inputs_find(f.p, &f.scratch),
                           &f.means, ask->watch, &f.scratch};
    f.last = f.p->n_ranks ? last_op(&f, f.t->deciding_rank) : OVL_NONE;
    make_runs(&f);
    f.charger = (ovl_idle_charger){
        .lab = &f.lab, .blamer = &f.blamer, .waits = &f.waits, .run = f.run, .ordered = f.ordered};
    ovl_waits_init(&f.waits, causes, f.lab.inputs, &f.scratch);
    for (uint32_t i = 0; i < classes->n; i++) {
        peel_rank(&f, i, &rows[i]);
        explain_rank(&f, i, ask->gaps, &rows[i], &all);
    }
    find_rates(&f, rows, total);
    sum_up(&f, rows, total);
    total->pipeline = total->telling = f.pipeline;
    for (uint32_t i = 0; i < classes->n; i++) {
        total->telling |= rows[i].idle[OVL_IDLE_DEPENDENCY] != rows[i].idle_time;
    }
    total->blames = ovl_blame_choose(&f.blamer, &all, true, &total->n_blames);
    ovl_vec_free(&all);
    for (int k = 0; k < OVL_PEEL_COUNT; k++) {
        if (!f.borrowed[k]) {
            ovl_idle_run_free(&f.run[k]);
        }
    }
    ovl_idle_charger_free(&f.charger);
    ovl_vec_free(&f.gaps);
    ovl_vec_free(&f.kernels);
    ovl_waits_free(&f.waits);
    ovl_arena_free(&f.scratch);
}
