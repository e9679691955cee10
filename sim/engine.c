/*
 * engine.c - the loop: what waits is released, what is ready arrives, and when nothing more happens
 * at this instant, time moves on.
 */
#include "sim/state.h"

#include "sim/units.h"

void ovl_engine_fail(ovl_engine *e, ovl_status code, uint32_t op, const char *sentence)
{
    e->failed = true;
    ovl_error(e->errs, code, ovl_op_of(e->p, op)->mark, "\"%s\" on rank %" PRIu32 ": %s",
              ovl_op_name(e->p, op), ovl_rank_number(e->p, ovl_op_rank(e->p, op)), sentence);
}

/* --- Events --- */

void ovl_engine_schedule(ovl_engine *e, uint32_t handle, ovl_time in, int kind, uint32_t op)
{
    if (in > OVL_TIME_MAX - e->now) {
        ovl_engine_fail(e, OVL_E_INPUT, op, "it would end later than time can count (53 days)");
        return;
    }
    e->n_delays++;
    if (!ovl_delays_add(&e->delays, e->now, in, OVL_TIE(kind, op), handle)) {
        e->n_delays--;
        ovl_heap_set(&e->heap, handle, e->now + in, OVL_TIE(kind, op));
    }
}

void ovl_engine_at(ovl_engine *e, uint32_t handle, ovl_time time, uint32_t op)
{
    if (time > OVL_TIME_MAX) {
        ovl_engine_fail(e, OVL_E_INPUT, op, "it would end later than time can count (53 days)");
        return;
    }
    ovl_heap_set(&e->heap, handle, time, OVL_TIE(OVL_EVENT_END, op));
}

/* --- Operations --- */

static void end_step(ovl_engine *e, uint32_t rank, const ovl_code *code, uint32_t local)
{
    for (uint32_t back = 0; back < OVL_MIN(code->n_steps, 2); back++) {
        if (code->step_ends[code->n_steps - 1 - back] == local) {
            e->ranks[rank].step_ends[back] = e->now;
        }
    }
}

void ovl_engine_complete(ovl_engine *e, uint32_t rank, uint32_t op)
{
    uint32_t first_op = e->ranks[rank].first_op, local = op - first_op;
    const ovl_code *code = &e->p->codes[e->ranks[rank].code];
    ovl_engine_note(e->end, op, e->now);
    e->ranks[rank].ended = e->now;
    e->n_ended++;
    ovl_engine_step(e, op, OVL_ENDED);
    ovl_offsets next = ovl_code_next(code, local);
    for (uint32_t i = 0; i < next.n; i++) {
        ovl_engine_release(e, rank, op + next.by[i]);
    }
    if (ovl_code_op(code, local)->step_end) {
        end_step(e, rank, code, local);
    }
    uint32_t batch = ovl_code_batch(code, local);
    if (batch != OVL_NONE && --e->pending[first_op + batch] == OVL_ARRIVED_BIT) {
        ovl_engine_complete(e, rank, first_op + batch);
    }
}

void ovl_copies_touch(ovl_engine *e, uint32_t rank)
{
    if (!e->ranks[rank].copies_dirty) {
        e->ranks[rank].copies_dirty = true;
        ovl_vec_push(&e->dirty_copies, rank);
    }
}

static void start_kernel(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_op *o)
{
    const ovl_cost *cost = ovl_engine_cost(e, rank, op, o);
    ovl_engine_note(e->start, op, e->now);
    if (cost->work == 0) {
        ovl_engine_complete(e, rank, op);
        return;
    }
    ovl_account(e, rank);
    uint32_t activity = ovl_engine_add_activity(e, rank, op, o, cost);
    ovl_rank_state *s = &e->ranks[rank];
    ovl_vec_push_near(&s->kernels, s->few_kernels, activity);
    ovl_caps_touch(e, rank);
    ovl_engine_begin(e, activity);
}

/* A marker with a latency is a pause of its stream: nobody works meanwhile. */
static void start_marker(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_op *o)
{
    const ovl_cost *cost = ovl_engine_cost(e, rank, op, o);
    ovl_engine_note(e->start, op, e->now);
    if (cost->latency == 0) {
        ovl_engine_complete(e, rank, op);
    } else {
        ovl_engine_begin(e, ovl_engine_add_activity(e, rank, op, o, cost));
    }
}

static void start_batch(ovl_engine *e, uint32_t rank, uint32_t op)
{
    const ovl_code *code = &e->p->codes[e->ranks[rank].code];
    ovl_offsets parts = ovl_code_parts(code, op - e->ranks[rank].first_op);
    ovl_engine_note(e->start, op, e->now);
    e->pending[op] = OVL_ARRIVED_BIT | parts.n;
    for (uint32_t i = 0; i < parts.n; i++) {
        ovl_engine_release(e, rank, op + parts.by[i]);
    }
    if (parts.n == 0) {
        ovl_engine_complete(e, rank, op);
    }
}

/* The copy that arrived first starts when an engine of its direction is free; ties go to the lowest
 * op. */
static void start_copies(ovl_engine *e, uint32_t rank, uint32_t direction)
{
    ovl_rank_state *s = &e->ranks[rank];
    uint32_t engines = ovl_gpu_of(e->p, rank).copy_engines[direction];
    while (s->copies[direction].len && (!engines || s->copying[direction] < engines)) {
        ovl_waiting_copy *list = s->copies[direction].data;
        uint32_t best = 0;
        for (uint32_t i = 1; i < s->copies[direction].len; i++) {
            bool earlier = list[i].arrive < list[best].arrive;
            bool tie = list[i].arrive == list[best].arrive && list[i].op < list[best].op;
            best = earlier || tie ? i : best;
        }
        uint32_t op = list[best].op;
        list[best] = list[--s->copies[direction].len];
        ovl_account(e, rank);
        s->copying[direction]++;
        ovl_engine_note(e->start, op, e->now);
        const ovl_op *o = ovl_engine_op(e, rank, op);
        ovl_engine_begin(e,
                         ovl_engine_add_activity(e, rank, op, o, ovl_engine_cost(e, rank, op, o)));
    }
}

/* What the operations of a rank a little further on look at is fetched from memory while others go
 * on: it lies where no other rank's does, and is far away when it is needed. */
#define AHEAD 8 /* times of so many operations are a cache line */

OVL_ALWAYS_INLINE void fetch_ahead(const ovl_engine *e, uint32_t rank, const ovl_code *code,
                                   uint32_t local)
{
    if (code->n_ops - local <= AHEAD) {
        return;
    }
    uint32_t op = e->ranks[rank].first_op + local + AHEAD;
    const ovl_op *o = ovl_code_op(code, local + AHEAD);
    OVL_FETCH(&e->p->costs[o->cost + (o->per_rank ? e->ranks[rank].variant : 0)]);
    if (op % AHEAD == 0 && e->arrive) {
        OVL_FETCH(&e->arrive[op]);
        OVL_FETCH(&e->start[op]);
        OVL_FETCH(&e->end[op]);
    }
}

static void arrive(ovl_engine *e, uint32_t rank, uint32_t op)
{
    uint32_t first_op = e->ranks[rank].first_op, local = op - first_op;
    const ovl_code *code = &e->p->codes[e->ranks[rank].code];
    fetch_ahead(e, rank, code, local);
    ovl_engine_note(e->arrive, op, e->now);
    e->pending[op] = OVL_ARRIVED_BIT;
    ovl_engine_step(e, op, OVL_ARRIVED);
    uint32_t in_queue = code->queued ? ovl_code_ties(code, local)->queue_next : 0;
    if (in_queue) {
        ovl_engine_release(e, rank, op + in_queue);
    }
    const ovl_op *o = ovl_code_op(code, local);
    switch ((ovl_op_kind)o->kind) {
    case OVL_KERNEL:
        start_kernel(e, rank, op, o);
        break;
    case OVL_COLLECTIVE:
    case OVL_SEND:
    case OVL_RECV:
        ovl_comm_arrive(e, rank, op, o);
        break;
    case OVL_BATCH:
        start_batch(e, rank, op);
        break;
    case OVL_COPY:
        ovl_vec_push(&e->ranks[rank].copies[ovl_op_cost_kind(e->p, rank, o)->engine],
                     (ovl_waiting_copy){.arrive = e->now, .op = op});
        ovl_copies_touch(e, rank);
        break;
    case OVL_HOST:
        ovl_engine_note(e->start, op, e->now);
        ovl_host_arrive(e, rank, op);
        break;
    case OVL_MARKER:
        start_marker(e, rank, op, o);
        break;
    }
}

/* --- The loop --- */

/* Everything that happens at this instant without time passing. */
static void drain(ovl_engine *e)
{
    while (e->todo_done < e->todo.len && !e->failed) {
        ovl_todo next = e->todo.data[e->todo_done++];
        arrive(e, next.rank, next.op);
    }
    e->todo.len = e->todo_done = 0;
}

/* Engines are given to copies when all that arrive at this instant have: not who was first to be
 * handled decides among them. */
static void start_waiting_copies(ovl_engine *e)
{
    for (uint32_t i = 0; i < e->dirty_copies.len && !e->failed; i++) {
        uint32_t rank = e->dirty_copies.data[i];
        e->ranks[rank].copies_dirty = false;
        start_copies(e, rank, 0);
        start_copies(e, rank, 1);
    }
    e->dirty_copies.len = 0;
}

/* The event that comes first; NULL if there is none. */
static const ovl_heap_item *next_event(ovl_engine *e)
{
    const ovl_heap_item *top = ovl_heap_top(&e->heap), *first = ovl_delays_first(&e->delays);
    return !first || (top && ovl_heap_before(top, first)) ? top : first;
}

/* Is it at this instant? */
static bool more_now(ovl_engine *e)
{
    const ovl_heap_item *top = ovl_heap_top(&e->heap), *first = ovl_delays_first(&e->delays);
    return (top && top->time <= e->now) || (first && first->time <= e->now);
}

/* Events of clocks stay in the queue, perhaps with another time; the others are over. */
static void take(ovl_engine *e, const ovl_heap_item *event)
{
    if (event == ovl_delays_first(&e->delays)) {
        ovl_delays_take(&e->delays);
    } else {
        ovl_heap_remove(&e->heap, OVL_HEAP_HANDLE(event));
    }
}

static void handle(ovl_engine *e, const ovl_heap_item *event)
{
    uint32_t n_ranks = e->p->n_ranks, handle_of = OVL_HEAP_HANDLE(event);
    if (handle_of < n_ranks) {
        e->n_events++;
        take(e, event);
        ovl_host_event(e, handle_of);
    } else if ((handle_of - n_ranks) % 2 == 0) {
        e->n_events++;
        take(e, event);
        ovl_activity_event(e, (handle_of - n_ranks) / 2);
    } else {
        ovl_clock_due(e, (handle_of - n_ranks) / 2);
    }
}

/* The next change of a capacity, if it is not after `time`: it comes before what else happens then.
 */
static bool change_capacity(ovl_engine *e, ovl_time time)
{
    if (e->next_change == e->p->n_changes || e->p->changes[e->next_change].time > time) {
        return false;
    }
    const ovl_capacity_change *change = &e->p->changes[e->next_change++];
    e->now = change->time;
    e->n_events++;
    ovl_share_set_capacity(&e->share, change->resource, change->capacity);
    return true;
}

/* --- Who looks on --- */

#define EVENTS_BETWEEN_LOOKS 4096

void ovl_watch_part(const ovl_watch *watch, const char *what)
{
    const ovl_run_progress progress = {.stage = OVL_PART, .what = what};
    if (watch) {
        watch->look(watch->context, &progress);
    }
}

static void look(ovl_engine *e, ovl_run_stage stage)
{
    const ovl_watch *watch = e->options->watch;
    ovl_run_progress progress = {
        stage, e->now, e->n_ended, e->p->n_ops, e->options->run, e->options->n_runs, NULL};
    if (watch && !watch->look(watch->context, &progress) && stage != OVL_IS_OVER && !e->failed) {
        char now[OVL_UNITS_TEXT];
        e->failed = true;
        ovl_error(e->errs, OVL_E_STOPPED, (ovl_mark){0},
                  "stopped at %s of simulated time, when %" PRIu32 " of %" PRIu32
                  " operations had ended",
                  ovl_print_time(now, e->now), e->n_ended, e->p->n_ops);
    }
}

static void loop(ovl_engine *e)
{
    uint32_t until_look = EVENTS_BETWEEN_LOOKS;
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        ovl_host_begin(e, rank);
    }
    while (!e->failed) {
        drain(e);
        if (!more_now(e)) {
            if (e->dirty_copies.len) {
                start_waiting_copies(e);
                continue;
            }
            ovl_engine_solve(e);
            if (e->anchor != OVL_NONE && ovl_engine_arrived(e, e->anchor) && !e->failed) {
                ovl_recur_anchor(e);
            }
        }
        const ovl_heap_item *top = next_event(e);
        if (!top) {
            break;
        }
        if (--until_look == 0) {
            until_look = EVENTS_BETWEEN_LOOKS;
            look(e, OVL_GOES_ON);
        }
        ovl_account_until(e, top->time);
        if (!change_capacity(e, top->time)) {
            e->now = top->time;
            handle(e, top);
        }
    }
}

void ovl_engine_loop(ovl_engine *e)
{
    look(e, OVL_BEGINS);
    loop(e);
    look(e, OVL_IS_OVER);
}
