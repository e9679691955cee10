#include "sim/idle.h"

#include "sim/blame.h"
#include "sim/exposure.h"
#include "sim/idle_cut.h"
#include "sim/idle_runs.h"
#include "sim/steps.h"
#include "sim/suspects.h"

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

__extension__ typedef __int128 wide;

/* Stages, transfers, or batches, and what would be idle with each of them harmless. */
typedef struct trial {
    bool made;
    ovl_suspects suspects;
    const ovl_idle_run *with; /* what is idle with all of them, in the order of the run */
    ovl_idle_run own;         /* `with`, if no other run is that */
    ovl_idle_run run[OVL_SUSPECTS_MOST];
    bool has_joint;
    ovl_idle_run joint; /* transfers, batches: with all there are of them harmless, if asked for */
} trial;

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
    trial stages, transfers, batches; /* made when first asked for */
    OVL_VEC(ovl_idle_gap) gaps;       /* of the rank that is looked at */
    ovl_kernel_times kernels;         /* scratch */
    OVL_VEC(ovl_blame_share) share;   /* scratch */
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
    case OVL_PEEL_IMBALANCE:
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

static const ovl_replay_options peeled[OVL_PEEL_HOST] = {
    {.kernels = OVL_REPLAY_MEAN, .free_comm = true, .free_host = true, .free_pauses = true},
    {.kernels = OVL_REPLAY_ALONE, .free_comm = true, .free_host = true, .free_pauses = true},
    {.kernels = OVL_REPLAY_AS_RUN, .free_host = true, .free_pauses = true},
    {.kernels = OVL_REPLAY_AS_RUN, .free_host = true}};

static void make_runs(finder *f)
{
    ovl_idle_run_itself(&f->lab, &f->run[OVL_PEEL_HOST]);
    for (int kind = OVL_PEEL_HOST; kind-- > 0;) {
        f->borrowed[kind] = same_run(f, (ovl_peel)kind);
        if (f->borrowed[kind]) {
            f->run[kind] = f->run[kind + 1];
            f->ordered[kind] = f->ordered[kind + 1];
        } else {
            make_run(f, (ovl_peel)kind, &peeled[kind]);
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
    const char *name =
        klass == OVL_NONE ? "" : ovl_names_text(f->p->names, f->p->kernel_classes[klass]);
    return g->from == f->t->begin || strcmp(name, "forward") == 0;
}

/* --- Blame --- */

/* `of_run`: the run that the suspects make longer, replayed with the same options. */
static void make_trial(finder *f, trial *t, ovl_peel of_run)
{
    ovl_replay_options options = peeled[of_run];
    t->made = true;
    t->with = &f->run[of_run];
    if (t->suspects.n && f->ordered[of_run]) {
        ovl_idle_run_replay(&f->lab, &options, &t->own);
        t->with = &t->own;
    }
    options.of = t->suspects.of;
    for (uint32_t i = 0; i < t->suspects.n; i++) {
        options.harmless = (uint8_t)i;
        ovl_idle_run_replay(&f->lab, &options, &t->run[i]);
    }
}

static const trial *try_stages(finder *f)
{
    if (!f->stages.made) {
        ovl_suspects_stages(f->c, f->classes, &f->means, &f->scratch, &f->stages.suspects);
        make_trial(f, &f->stages, OVL_PEEL_IMBALANCE);
    }
    return &f->stages;
}

static const trial *try_transfers(finder *f)
{
    if (!f->transfers.made) {
        ovl_suspects_transfers(f->c, &f->scratch, &f->transfers.suspects);
        make_trial(f, &f->transfers, OVL_PEEL_DEPENDENCY);
    }
    return &f->transfers;
}

static const trial *try_batches(finder *f)
{
    if (!f->batches.made) {
        ovl_suspects_batches(f->c, &f->scratch, &f->batches.suspects);
        make_trial(f, &f->batches, OVL_PEEL_DEPENDENCY);
    }
    return &f->batches;
}

/* One more replay of a trial, with all transfers harmless, or all batches. */
static void make_joint(finder *f, trial *t, bool batches)
{
    ovl_replay_options options = peeled[OVL_PEEL_DEPENDENCY];
    uint8_t *of = OVL_NEW_ARRAY(&f->scratch, uint8_t, f->p->n_ops);
    for (uint32_t op = 0; op < f->p->n_ops; op++) {
        const ovl_op *o = ovl_causes_op(f->c, op);
        bool moves = o->kind != OVL_BATCH && (ovl_is_communication(o) || o->kind == OVL_COPY);
        of[op] = (batches ? o->kind == OVL_BATCH : moves) ? 0 : OVL_NO_SUSPECT;
    }
    options.of = of;
    t->has_joint = true;
    ovl_idle_run_replay(&f->lab, &options, &t->joint);
}

static void free_trial(trial *t)
{
    ovl_idle_run_free(&t->joint);
    ovl_idle_run_free(&t->own);
    for (uint32_t i = 0; i < t->suspects.n; i++) {
        ovl_idle_run_free(&t->run[i]);
    }
}

/* How much shorter a gap is with each of some suspects harmless. */
static void add_gains(finder *f, const trial *t, uint32_t class_id, const ovl_idle_gap *g)
{
    ovl_time wait = ovl_idle_waits_in(t->with, class_id, g->op);
    for (uint32_t i = 0; i < t->suspects.n; i++) {
        ovl_time gain = wait - ovl_idle_waits_in(&t->run[i], class_id, g->op);
        uint32_t op = ovl_suspect_op(&t->suspects.list[i], f->t, g->to);
        ovl_vec_push(&f->share, (ovl_blame_share){op, OVL_MAX(0, gain)});
    }
}

/* To suspects by that. */
static bool charge_by_trial(finder *f, const trial *t, ovl_idle_kind kind, uint32_t class_id,
                            const ovl_idle_gap *g, ovl_time time, ovl_charges *list)
{
    f->share.len = 0;
    add_gains(f, t, class_id, g);
    return ovl_blame_split(&f->blamer, kind, f->share.data, f->share.len, time, list);
}

static void charge_by_weight(finder *f, const trial *t, ovl_idle_kind kind, const ovl_idle_gap *g,
                             ovl_time time, ovl_charges *list)
{
    f->share.len = 0;
    for (uint32_t i = 0; i < t->suspects.n; i++) {
        uint32_t op = ovl_suspect_op(&t->suspects.list[i], f->t, g->to);
        ovl_vec_push(&f->share, (ovl_blame_share){op, t->suspects.list[i].weight});
    }
    ovl_blame_split(&f->blamer, kind, f->share.data, f->share.len, time, list);
}

/* To what the gap was spent on; where that is before it, to the nearest. False: there is none. */
static bool charge_by_way(finder *f, const ovl_idle_gap *g, ovl_wait wait, ovl_idle_kind kind,
                          ovl_time time, ovl_charges *list)
{
    const ovl_waited *w = &g->waited;
    f->share.len = 0;
    for (uint32_t i = 0; i < g->n_parts; i++) {
        const ovl_wait_part *part = &f->waits.parts.data[g->first_part + i];
        if (part->kind == wait) {
            ovl_vec_push(&f->share, (ovl_blame_share){part->op, part->time});
        }
    }
    if (ovl_blame_split(&f->blamer, kind, f->share.data, f->share.len, time, list)) {
        return true;
    }
    if (w->by[wait] != OVL_NONE) {
        ovl_blame(&f->blamer, kind, w->by[wait], time, list);
    }
    return w->by[wait] != OVL_NONE;
}

static void charge_imbalance(finder *f, uint32_t class_id, const ovl_idle_gap *g, ovl_time time,
                             ovl_charges *list)
{
    const trial *t = try_stages(f);
    if (!charge_by_trial(f, t, OVL_IDLE_IMBALANCE, class_id, g, time, list)) {
        charge_by_weight(f, t, OVL_IDLE_IMBALANCE, g, time, list);
    }
}

static void charge_transfers(finder *f, uint32_t class_id, const ovl_idle_gap *g, ovl_time time,
                             ovl_charges *list)
{
    const trial *t = try_transfers(f);
    if (!charge_by_trial(f, t, OVL_IDLE_DEPENDENCY, class_id, g, time, list) &&
        !charge_by_way(f, g, OVL_WAIT_DEPENDENCY, OVL_IDLE_DEPENDENCY, time, list)) {
        charge_by_weight(f, t, OVL_IDLE_DEPENDENCY, g, time, list);
    }
}

static ovl_time joint_gain(const trial *t, uint32_t class_id, const ovl_idle_gap *g)
{
    return OVL_MAX(0, ovl_idle_waits_in(t->with, class_id, g->op) -
                          ovl_idle_waits_in(&t->joint, class_id, g->op));
}

/* How much of `time` batches are to blame for. One batch less changes little where others hold up
 * as much: all of them against all transfers say it. */
static ovl_time due_to_batches(finder *f, uint32_t class_id, const ovl_idle_gap *g, ovl_time time)
{
    try_transfers(f);
    try_batches(f);
    if (f->batches.suspects.n == 0) {
        return 0;
    }
    if (!f->batches.has_joint) {
        make_joint(f, &f->transfers, false);
        make_joint(f, &f->batches, true);
    }
    wide held = joint_gain(&f->batches, class_id, g);
    wide sum = held + joint_gain(&f->transfers, class_id, g);
    return sum > 0 ? (ovl_time)(time * held / sum) : 0;
}

/* What moved during the gap is charged itself; that what was waited for was late already, to the
 * transfers and batches that make it so. */
static void charge_dependency(finder *f, uint32_t class_id, const ovl_idle_gap *g, ovl_time time,
                              ovl_charges *list)
{
    ovl_time own = OVL_MIN(time, g->waited.time[OVL_WAIT_DEPENDENCY]), late = time - own;
    if (own > 0) {
        charge_by_way(f, g, OVL_WAIT_DEPENDENCY, OVL_IDLE_DEPENDENCY, own, list);
    }
    if (late == 0) {
        return;
    }
    const trial *b = &f->batches;
    ovl_time held = due_to_batches(f, class_id, g, late);
    if (held > 0 && !charge_by_trial(f, b, OVL_IDLE_DEPENDENCY, class_id, g, held, list)) {
        charge_by_weight(f, b, OVL_IDLE_DEPENDENCY, g, held, list);
    }
    if (late > held) {
        charge_transfers(f, class_id, g, late - held, list);
    }
}

static void charge_gap(finder *f, uint32_t class_id, const ovl_idle_gap *g, ovl_charges *list)
{
    const ovl_time *piece = g->piece;
    if (piece[OVL_IDLE_IMBALANCE] > 0) {
        charge_imbalance(f, class_id, g, piece[OVL_IDLE_IMBALANCE], list);
    }
    if (piece[OVL_IDLE_DEPENDENCY] > 0) {
        charge_dependency(f, class_id, g, piece[OVL_IDLE_DEPENDENCY], list);
    }
    if (piece[OVL_IDLE_SCHEDULE] > 0) {
        charge_by_way(f, g, OVL_WAIT_SCHEDULE, OVL_IDLE_SCHEDULE, piece[OVL_IDLE_SCHEDULE], list);
    }
    if (piece[OVL_IDLE_HOST] > 0) {
        charge_by_way(f, g, OVL_WAIT_HOST, OVL_IDLE_HOST, piece[OVL_IDLE_HOST], list);
    }
    if (piece[OVL_IDLE_PAUSE] > 0) {
        charge_by_way(f, g, OVL_WAIT_PAUSE, OVL_IDLE_PAUSE, piece[OVL_IDLE_PAUSE], list);
    }
}

/* --- Ranks --- */

/* Of the largest part of a gap, what is charged most; charges of this gap are those from `first`.
 */
static const char *because(const finder *f, const ovl_time piece[OVL_IDLE_COUNT],
                           const ovl_charges *list, uint32_t first)
{
    int largest = OVL_IDLE_IMBALANCE; /* nobody is to blame for the others */
    for (int k = OVL_IDLE_DEPENDENCY; k < OVL_IDLE_COUNT; k++) {
        largest = piece[k] > piece[largest] ? k : largest;
    }
    const ovl_charge *most = NULL;
    for (uint32_t i = first; i < list->len; i++) {
        const ovl_charge *c = &list->data[i];
        most = c->kind == largest && (!most || c->time > most->time) ? c : most;
    }
    return most ? ovl_blame_text(&f->blamer, (ovl_idle_kind)largest, most->op) : NULL;
}

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
        out.before = ovl_arena_strdup(f->arena, ovl_op_name(f->p, g->op));
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
        charge_gap(f, class_id, g, &own);
        for (int k = 0; k < OVL_IDLE_COUNT; k++) {
            row->idle[k] += g->piece[k];
        }
        if (list) {
            out[i] = listed(f, g, because(f, g->piece, &own, charged));
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
static bool of_this_step(const finder *f, const ovl_kernel_time *k)
{
    ovl_time begin = f->t->begin, end = f->t->begin + f->t->step;
    if (k->end == k->start) {
        return f->p->n_steps <= 1 || (k->start > begin && k->end < end);
    }
    return k->start < end && k->end > begin;
}

/* From the first kernel of the rank's stages to the last, those that take no time included, and how
 * much of it kernels ran. */
static void find_span(finder *f, ovl_result_rank *row, ovl_time *busy)
{
    ovl_time covered = 0, begin = f->t->begin, end = f->t->begin + f->t->step;
    row->span_start = row->span_end = OVL_NEVER;
    row->bubble_rate = -1;
    *busy = 0;
    ovl_kernels_list(f->p, row->rank, f->t->start, f->t->end, true, &f->kernels);
    for (uint32_t i = 0; i < f->kernels.len; i++) {
        ovl_kernel_time kept = f->kernels.data[i], *k = &kept;
        if (!of_this_step(f, k)) {
            continue;
        }
        k->start = OVL_MAX(k->start, begin) - begin;
        k->end = OVL_MIN(k->end, end) - begin;
        if (f->pipeline && ovl_causes_op(f->c, k->op)->part == OVL_PART_NONE) {
            continue;
        }
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
    free_trial(&f.stages);
    free_trial(&f.transfers);
    free_trial(&f.batches);
    ovl_vec_free(&f.gaps);
    ovl_vec_free(&f.kernels);
    ovl_vec_free(&f.share);
    ovl_waits_free(&f.waits);
    ovl_arena_free(&f.scratch);
}
