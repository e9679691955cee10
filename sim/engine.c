#include "sim/state.h"

#include <math.h>

static const char *const interference_names[] = {"none", "shared", "measured"};

const char *ovl_interference_name(ovl_interference model)
{
    return interference_names[model];
}

static const char *const term_names[OVL_TERM_COUNT] = {
    "compute", "compute_stretch", "comm_latency", "comm_transfer", "comm_stretch",
    "copy",    "wait_late_rank",  "idle",
};

const char *ovl_term_name(ovl_term term)
{
    return term_names[term];
}

/* --- Looking things up
 * ------------------------------------------------------------------------------------- */

const ovl_op *ovl_engine_op(const ovl_engine *e, uint32_t rank, uint32_t op)
{
    const ovl_rank *r = &e->p->ranks[rank];
    return &e->p->codes[r->code].ops[op - r->first_op];
}

const ovl_cost *ovl_engine_cost(const ovl_engine *e, uint32_t rank, const ovl_op *op)
{
    bool freed = op->name == e->options->free_name && e->options->free_name != OVL_NONE;
    return freed ? &e->free_cost : ovl_op_cost(e->p, rank, op);
}

void ovl_engine_fail(ovl_engine *e, ovl_status code, uint32_t op, const char *sentence)
{
    e->failed = true;
    ovl_error(e->errs, code, ovl_op_of(e->p, op)->mark, "\"%s\" on rank %" PRIu32 ": %s",
              ovl_op_name(e->p, op), ovl_op_rank(e->p, op), sentence);
}

/* --- Rates
 * -------------------------------------------------------------------------------------------------
 */

/* What rounding may have added to work that was done in several pieces; far below what anybody
 * could mean. */
static double noise(const ovl_activity *a)
{
    return fmin((double)a->total * 0x1p-44, 0.25);
}

/* An end is scheduled at the next whole picosecond. At isolated speed the arithmetic is that of
 * integers. */
static void schedule_end(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    ovl_time left;
    if (a->rate == 1 && a->done == floor(a->done)) {
        left = a->total - (ovl_time)a->done;
    } else {
        double want = ceil(((double)a->total - a->done - noise(a)) / a->rate);
        left = want < 4e18 ? (ovl_time)fmax(want, 0) : OVL_NEVER;
    }
    if (left > OVL_NEVER - e->now - 1) {
        ovl_engine_fail(e, OVL_E_INPUT, a->op, "it would end later than time can count (106 days)");
        return;
    }
    ovl_heap_set(&e->heap, e->p->n_ranks + activity, e->now + left, OVL_TIE(OVL_EVENT_END, a->op));
}

/* Closes the interval in which the activity had its present rate and bound. */
static void keep_limit(ovl_engine *e, ovl_activity *a)
{
    ovl_time time = e->now - a->bound_since;
    if (time > 0 && a->bound != OVL_BOUND_FREE) {
        double done = a->rate * (double)time;
        ovl_limit limit = {a->op, a->bound, time, time - (ovl_time)llround(done)};
        ovl_vec_push(&e->limits, limit);
    }
    a->bound_since = e->now;
}

/* Brings the work done up to now. */
static void rebase(ovl_engine *e, ovl_activity *a)
{
    if (e->options->segments && a->phase == OVL_PHASE_FLUID && e->now > a->since) {
        ovl_vec_push(&e->segments, (ovl_segment){a->op, a->since, e->now, a->rate});
    }
    a->done += a->rate * (double)(e->now - a->since);
    a->since = e->now;
}

static void account_member(ovl_engine *e, uint32_t rank, uint32_t op, uint32_t activity)
{
    (void)op;
    (void)activity;
    ovl_account(e, rank);
}

static void account_activity(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    if (a->kind == OVL_KERNEL || a->kind == OVL_COPY) {
        ovl_account(e, a->rank);
    } else {
        ovl_comm_each(e, activity, account_member);
    }
}

void ovl_engine_set_rate(ovl_engine *e, uint32_t activity, double rate, uint32_t bound)
{
    ovl_activity *a = &e->activities.data[activity];
    if (a->bound != bound || a->rate != rate) {
        keep_limit(e, a);
        a->bound = bound;
    }
    if (a->rate != rate) {
        account_activity(e, activity);
        rebase(e, a);
        a->rate = rate;
        schedule_end(e, activity);
    }
}

void ovl_engine_set_cap(ovl_engine *e, uint32_t activity, double cap, uint32_t bound)
{
    ovl_activity *a = &e->activities.data[activity];
    a->cap = cap;
    a->cap_bound = bound;
    if (a->shares) {
        ovl_share_set_cap(&e->share, a->slot, cap);
    } else {
        ovl_engine_set_rate(e, activity, cap, cap < 1 ? bound : OVL_BOUND_FREE);
    }
}

void ovl_engine_join(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    if (e->uses.len == 0 || e->options->interference == OVL_INTERFERENCE_NONE) {
        ovl_engine_set_rate(e, activity, a->cap, a->cap < 1 ? a->cap_bound : OVL_BOUND_FREE);
        return;
    }
    a->shares = true;
    a->slot = ovl_share_join(&e->share, a->op, a->cap, a->cost->weight, e->uses.data, e->uses.len);
    while (e->slot_activity.len <= a->slot) {
        ovl_vec_push(&e->slot_activity, OVL_NONE);
    }
    e->slot_activity.data[a->slot] = activity;
}

void ovl_engine_leave(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    if (a->shares) {
        ovl_share_leave(&e->share, a->slot);
        a->shares = false;
    }
}

static void solve(ovl_engine *e)
{
    ovl_caps_update(e);
    if (e->share.dirty.len == 0) {
        return;
    }
    ovl_share_solve(&e->share);
    for (uint32_t i = 0; i < e->share.changed.len && !e->failed; i++) {
        uint32_t slot = e->share.changed.data[i];
        uint32_t activity = e->slot_activity.data[slot];
        const ovl_share_member *m = &e->share.members.data[slot];
        uint32_t bound = m->bound;
        if (bound == OVL_BOUND_CAP) {
            bound = e->activities.data[activity].cap_bound;
        } else if (bound == OVL_BOUND_NONE) {
            bound = OVL_BOUND_FREE;
        }
        ovl_engine_set_rate(e, activity, m->rate, bound);
    }
}

/* --- Activities
 * -------------------------------------------------------------------------------------------- */

uint32_t ovl_engine_add_activity(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_cost *cost)
{
    ovl_activity a = {.op = op,
                      .rank = rank,
                      .kind = ovl_engine_op(e, rank, op)->kind,
                      .phase = OVL_PHASE_LATENCY,
                      .cost = cost,
                      .total = cost->work,
                      .cap = 1,
                      .cap_bound = OVL_LIMIT_SMS,
                      .bound = OVL_BOUND_FREE};
    if (e->spare.len) {
        uint32_t activity = e->spare.data[--e->spare.len];
        e->activities.data[activity] = a;
        return activity;
    }
    ovl_vec_push(&e->activities, a);
    return e->activities.len - 1;
}

static void kernel_uses(ovl_engine *e, const ovl_activity *a)
{
    const ovl_id *ports = &e->p->rank_ports[e->p->ranks[a->rank].first_port];
    e->uses.len = 0;
    for (uint32_t i = 0; i < a->cost->n_demands; i++) {
        const ovl_demand *d = &e->p->demands[a->cost->first_demand + i];
        if (ports[d->port] != OVL_NONE) {
            ovl_vec_push(&e->uses, (ovl_use){ports[d->port], d->rate});
        }
    }
}

static void remove_kernel(ovl_engine *e, uint32_t rank, uint32_t activity)
{
    ovl_rank_state *s = &e->ranks[rank];
    uint32_t i = 0;
    while (s->kernels.data[i] != activity) {
        i++;
    }
    s->kernels.data[i] = s->kernels.data[--s->kernels.len];
    ovl_caps_touch(e, rank);
}

static void touch_copies(ovl_engine *e, uint32_t rank)
{
    if (!e->ranks[rank].copies_dirty) {
        e->ranks[rank].copies_dirty = true;
        ovl_vec_push(&e->dirty_copies, rank);
    }
}

/* An activity is over: whoever was in it ends. */
static void finish(ovl_engine *e, uint32_t activity)
{
    ovl_heap_remove(&e->heap, e->p->n_ranks + activity);
    ovl_engine_leave(e, activity);
    ovl_activity *a = &e->activities.data[activity];
    account_activity(e, activity);
    keep_limit(e, a);
    rebase(e, a);
    if (a->kind == OVL_KERNEL) {
        remove_kernel(e, a->rank, activity);
        ovl_engine_complete(e, a->rank, a->op);
    } else if (a->kind == OVL_COPY) {
        e->ranks[a->rank].copying[a->cost->engine]--;
        touch_copies(e, a->rank);
        ovl_engine_complete(e, a->rank, a->op);
    } else {
        ovl_comm_end(e, activity);
    }
    ovl_vec_push(&e->spare, activity);
}

static void touch_member(ovl_engine *e, uint32_t rank, uint32_t op, uint32_t activity)
{
    (void)op;
    (void)activity;
    ovl_caps_touch(e, rank);
}

static void enter_fluid(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    if (a->total == 0) {
        finish(e, activity);
        return;
    }
    account_activity(e, activity);
    ovl_heap_remove(&e->heap, e->p->n_ranks + activity);
    a->phase = OVL_PHASE_FLUID;
    a->since = a->bound_since = e->now;
    if (a->kind == OVL_KERNEL || a->kind == OVL_COPY) {
        kernel_uses(e, a);
    } else {
        ovl_comm_each(e, activity, touch_member);
        ovl_comm_uses(e, activity);
    }
    ovl_engine_join(e, activity);
}

void ovl_engine_begin(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    if (a->cost->latency == 0) {
        enter_fluid(e, activity);
    } else if (a->cost->latency > OVL_NEVER - e->now - 1) {
        ovl_engine_fail(e, OVL_E_INPUT, a->op, "it would end later than time can count (106 days)");
    } else {
        ovl_heap_set(&e->heap, e->p->n_ranks + activity, e->now + a->cost->latency,
                     OVL_TIE(OVL_EVENT_END, a->op));
    }
}

/* --- Operations
 * -------------------------------------------------------------------------------------------- */

void ovl_engine_release(ovl_engine *e, uint32_t op)
{
    assert(e->pending[op] > 0);
    if (--e->pending[op] == 0) {
        ovl_vec_push(&e->todo, op);
    }
}

void ovl_engine_complete(ovl_engine *e, uint32_t rank, uint32_t op)
{
    const ovl_rank *r = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[r->code];
    uint32_t local = op - r->first_op;
    e->end[op] = e->now;
    e->times[rank].end = e->now;
    e->n_ended++;
    ovl_vec_push(&e->trail, OVL_TRAIL(op, OVL_ENDED));
    for (uint32_t i = code->next.at[local]; i < code->next.at[local + 1]; i++) {
        ovl_engine_release(e, r->first_op + code->next.item[i]);
    }
    uint32_t batch = code->ops[local].batch;
    if (batch != OVL_NONE && --e->pending[r->first_op + batch] == 0) {
        ovl_engine_complete(e, rank, r->first_op + batch);
    }
}

static void start_kernel(ovl_engine *e, uint32_t rank, uint32_t op)
{
    const ovl_cost *cost = ovl_engine_cost(e, rank, ovl_engine_op(e, rank, op));
    e->start[op] = e->now;
    if (cost->work == 0) {
        ovl_engine_complete(e, rank, op);
        return;
    }
    ovl_account(e, rank);
    uint32_t activity = ovl_engine_add_activity(e, rank, op, cost);
    ovl_vec_push(&e->ranks[rank].kernels, activity);
    ovl_caps_touch(e, rank);
    enter_fluid(e, activity);
}

static void start_batch(ovl_engine *e, uint32_t rank, uint32_t op)
{
    const ovl_rank *r = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[r->code];
    uint32_t local = op - r->first_op;
    uint32_t first = code->parts.at[local], end = code->parts.at[local + 1];
    e->start[op] = e->now;
    e->pending[op] = end - first;
    for (uint32_t i = first; i < end; i++) {
        ovl_engine_release(e, r->first_op + code->parts.item[i]);
    }
    if (first == end) {
        ovl_engine_complete(e, rank, op);
    }
}

/* The copy that arrived first starts when an engine of its direction is free; ties go to the lowest
 * op. */
static void start_copies(ovl_engine *e, uint32_t rank, uint32_t direction)
{
    ovl_rank_state *s = &e->ranks[rank];
    uint32_t engines = e->p->copy_engines[direction];
    while (s->copies[direction].len && (!engines || s->copying[direction] < engines)) {
        uint32_t *list = s->copies[direction].data, best = 0;
        for (uint32_t i = 1; i < s->copies[direction].len; i++) {
            bool earlier = e->arrive[list[i]] < e->arrive[list[best]];
            bool tie = e->arrive[list[i]] == e->arrive[list[best]] && list[i] < list[best];
            best = earlier || tie ? i : best;
        }
        uint32_t op = list[best];
        list[best] = list[--s->copies[direction].len];
        ovl_account(e, rank);
        s->copying[direction]++;
        e->start[op] = e->now;
        ovl_engine_begin(e, ovl_engine_add_activity(
                                e, rank, op, ovl_engine_cost(e, rank, ovl_engine_op(e, rank, op))));
    }
}

static void arrive(ovl_engine *e, uint32_t op)
{
    uint32_t rank = ovl_op_rank(e->p, op);
    const ovl_rank *r = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[r->code];
    uint32_t local = op - r->first_op;
    e->arrive[op] = e->now;
    ovl_vec_push(&e->trail, OVL_TRAIL(op, OVL_ARRIVED));
    if (code->queue_prev) {
        for (uint32_t i = code->queue_next.at[local]; i < code->queue_next.at[local + 1]; i++) {
            ovl_engine_release(e, r->first_op + code->queue_next.item[i]);
        }
    }
    switch ((ovl_op_kind)code->ops[local].kind) {
    case OVL_KERNEL:
        start_kernel(e, rank, op);
        break;
    case OVL_COLLECTIVE:
    case OVL_SEND:
    case OVL_RECV:
        ovl_comm_arrive(e, rank, op);
        break;
    case OVL_BATCH:
        start_batch(e, rank, op);
        break;
    case OVL_COPY:
        ovl_vec_push(&e->ranks[rank].copies[ovl_op_cost(e->p, rank, &code->ops[local])->engine],
                     op);
        touch_copies(e, rank);
        break;
    case OVL_HOST:
        e->start[op] = e->now;
        ovl_host_arrive(e, rank, op);
        break;
    case OVL_MARKER:
        e->start[op] = e->now;
        ovl_engine_complete(e, rank, op);
        break;
    }
}

/* --- The loop
 * ---------------------------------------------------------------------------------------------- */

/* Everything that happens at this instant without time passing. */
static void drain(ovl_engine *e)
{
    while (e->todo_done < e->todo.len && !e->failed) {
        arrive(e, e->todo.data[e->todo_done++]);
    }
    e->todo.len = e->todo_done = 0;
    for (uint32_t i = 0; i < e->dirty_copies.len && !e->failed; i++) {
        uint32_t rank = e->dirty_copies.data[i];
        e->ranks[rank].copies_dirty = false;
        start_copies(e, rank, 0);
        start_copies(e, rank, 1);
    }
    e->dirty_copies.len = 0;
}

static void handle(ovl_engine *e, uint32_t handle_of)
{
    e->n_events++;
    if (handle_of < e->p->n_ranks) {
        ovl_host_event(e, handle_of);
    } else if (e->activities.data[handle_of - e->p->n_ranks].phase == OVL_PHASE_LATENCY) {
        enter_fluid(e, handle_of - e->p->n_ranks);
    } else {
        finish(e, handle_of - e->p->n_ranks);
    }
}

static void loop(ovl_engine *e)
{
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        ovl_host_advance(e, rank);
    }
    while (!e->failed) {
        drain(e);
        if (e->todo.len) {
            continue;
        }
        const ovl_heap_item *top = ovl_heap_top(&e->heap);
        if (!top || top->time > e->now) {
            solve(e);
            top = ovl_heap_top(&e->heap);
        }
        if (!top) {
            break;
        }
        e->now = top->time;
        handle(e, top->handle);
    }
}

/* --- Setting up and handing over
 * --------------------------------------------------------------------------- */

static ovl_time *unhappened(ovl_arena *arena, uint32_t n)
{
    ovl_time *times = OVL_NEW_ARRAY(arena, ovl_time, n);
    for (uint32_t i = 0; i < n; i++) {
        times[i] = -1;
    }
    return times;
}

static void set_up(ovl_engine *e, ovl_arena *scratch)
{
    const ovl_program *p = e->p;
    e->issue = unhappened(e->arena, p->n_ops);
    e->arrive = unhappened(e->arena, p->n_ops);
    e->start = unhappened(e->arena, p->n_ops);
    e->end = unhappened(e->arena, p->n_ops);
    e->times = OVL_NEW_ARRAY(e->arena, ovl_rank_times, p->n_ranks);
    e->pending = OVL_NEW_ARRAY(scratch, uint32_t, p->n_ops);
    e->running = OVL_NEW_ARRAY(scratch, uint32_t, p->n_ops);
    e->arrived = OVL_NEW_ARRAY(scratch, uint32_t, p->n_collectives);
    e->ranks = OVL_NEW_ARRAY(scratch, ovl_rank_state, p->n_ranks);
    e->unmeasured = OVL_NEW_ARRAY(scratch, bool, (size_t)p->n_kernel_classes * p->n_coll_classes);
    e->free_cost = (ovl_cost){.klass = OVL_NONE, .weight = 1};
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        const ovl_code *code = &p->codes[p->ranks[r].code];
        if (code->n_ops) {
            memcpy(&e->pending[p->ranks[r].first_op], code->waits, code->n_ops * sizeof(uint32_t));
        }
    }
    uint64_t *capacities = OVL_NEW_ARRAY(scratch, uint64_t, p->n_resources);
    for (uint32_t i = 0; i < p->n_resources; i++) {
        capacities[i] = p->resources[i].capacity;
    }
    ovl_share_init(&e->share, capacities, p->n_resources);
}

static void tear_down(ovl_engine *e)
{
    for (uint32_t r = 0; r < e->p->n_ranks; r++) {
        ovl_rank_state *s = &e->ranks[r];
        ovl_vec_free(&s->kernels);
        ovl_vec_free(&s->comms);
        ovl_vec_free(&s->holders);
        ovl_vec_free(&s->copies[0]);
        ovl_vec_free(&s->copies[1]);
    }
    ovl_vec_free(&e->activities);
    ovl_vec_free(&e->spare);
    ovl_vec_free(&e->todo);
    ovl_vec_free(&e->dirty_caps);
    ovl_vec_free(&e->dirty_copies);
    ovl_vec_free(&e->dirty_comms);
    ovl_vec_free(&e->uses);
    ovl_vec_free(&e->trail);
    ovl_vec_free(&e->limits);
    ovl_vec_free(&e->segments);
    ovl_vec_free(&e->slot_activity);
    ovl_heap_free(&e->heap);
    ovl_share_free(&e->share);
}

static int compare_limits(const void *a, const void *b)
{
    const ovl_limit *x = a, *y = b;
    if (x->op != y->op) {
        return x->op < y->op ? -1 : 1;
    }
    return (x->bound > y->bound) - (x->bound < y->bound);
}

/* One entry per (op, bound). */
static void merge_limits(ovl_engine *e)
{
    ovl_limit *list = e->limits.data;
    uint32_t n = 0;
    if (e->limits.len) {
        qsort(list, e->limits.len, sizeof *list, compare_limits);
    }
    for (uint32_t i = 0; i < e->limits.len; i++) {
        if (n && compare_limits(&list[n - 1], &list[i]) == 0) {
            list[n - 1].time += list[i].time;
            list[n - 1].lost += list[i].lost;
        } else {
            list[n++] = list[i];
        }
    }
    e->limits.len = n;
}

static int compare_segments(const void *a, const void *b)
{
    const ovl_segment *x = a, *y = b;
    if (x->op != y->op) {
        return x->op < y->op ? -1 : 1;
    }
    return (x->from > y->from) - (x->from < y->from);
}

static void hand_over_unmeasured(const ovl_engine *e, ovl_timeline *t)
{
    OVL_VEC(ovl_unmeasured) list = {0};
    for (uint32_t k = 0; k < e->p->n_kernel_classes; k++) {
        for (uint32_t c = 0; c < e->p->n_coll_classes; c++) {
            if (e->unmeasured[k * e->p->n_coll_classes + c]) {
                ovl_vec_push(&list, (ovl_unmeasured){k, c});
            }
        }
    }
    t->n_unmeasured = list.len;
    t->unmeasured = ovl_vec_freeze(&list, e->arena);
}

static void hand_over(ovl_engine *e, ovl_timeline *t)
{
    *t = (ovl_timeline){.issue = e->issue,
                        .arrive = e->arrive,
                        .start = e->start,
                        .end = e->end,
                        .ranks = e->times};
    for (uint32_t r = 0; r < e->p->n_ranks; r++) {
        if (e->times[r].end > t->step) {
            t->step = e->times[r].end;
            t->deciding_rank = r;
        }
    }
    e->now = t->step;
    for (uint32_t r = 0; r < e->p->n_ranks; r++) {
        ovl_account(e, r);
    }
    merge_limits(e);
    if (e->segments.len) {
        qsort(e->segments.data, e->segments.len, sizeof *e->segments.data, compare_segments);
    }
    t->counters = (ovl_counters){e->n_events, e->share.solves, e->share.solved, e->heap.moves};
    t->n_trail = e->trail.len;
    t->trail = ovl_vec_freeze(&e->trail, e->arena);
    t->n_limits = e->limits.len;
    t->limits = ovl_vec_freeze(&e->limits, e->arena);
    t->n_segments = e->segments.len;
    t->segments = ovl_vec_freeze(&e->segments, e->arena);
    hand_over_unmeasured(e, t);
}

bool ovl_run(const ovl_program *program, const ovl_run_options *options, ovl_arena *arena,
             ovl_timeline *timeline, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    ovl_engine e = {.p = program, .options = options, .arena = arena, .errs = errs};
    set_up(&e, &scratch);
    loop(&e);
    if (!e.failed && e.n_ended < program->n_ops) {
        e.failed = true;
        ovl_deadlock_report(&e);
    }
    if (!e.failed) {
        hand_over(&e, timeline);
    }
    tear_down(&e);
    ovl_arena_free(&scratch);
    return !e.failed;
}
