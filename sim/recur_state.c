/*
 * recur_state.c - the live state of a run, written down so that equal words mean equal futures, up
 * to time and place.
 *
 * Times are relative to now. Operations are named by their stream and how far before its front they
 * lie, activities by their place in the order of operations, clocks by who runs on them first. What
 * an operation ahead still waits for follows from what has ended, and that from the fronts and from
 * what is in flight; so it is not written down. Neither is what only spares work: keys in the event
 * queue that may be early, classes without activities, the lines of the solver, whose rates are a
 * function of what runs (share.h).
 */
#include "sim/recur.h"

/* --- What there is --- */

static int compare_running(const void *a, const void *b)
{
    const ovl_running *x = a, *y = b;
    return (x->op > y->op) - (x->op < y->op);
}

static void list_live(const ovl_engine *e, ovl_recur *r)
{
    uint32_t n = e->activities.len;
    ovl_vec_reserve(&r->number, n);
    r->number.len = n;
    r->live.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        r->number.data[i] = 0;
    }
    for (uint32_t i = 0; i < e->spare.len; i++) {
        r->number.data[e->spare.data[i]] = OVL_NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (r->number.data[i] == 0) {
            ovl_vec_push(&r->live, (ovl_running){e->activities.data[i].op, i});
        }
    }
    if (r->live.len) {
        qsort(r->live.data, r->live.len, sizeof *r->live.data, compare_running);
    }
    for (uint32_t i = 0; i < r->live.len; i++) {
        r->number.data[r->live.data[i].activity] = i;
    }
}

uint32_t ovl_recur_activity(const ovl_recur *r, uint32_t op)
{
    uint32_t low = 0, high = r->live.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->live.data[middle].op < op) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < r->live.len && r->live.data[low].op == op ? r->live.data[low].activity : OVL_NONE;
}

static void note_event(const ovl_engine *e, ovl_recur *r, const ovl_heap_item *event)
{
    uint32_t n_ranks = e->p->n_ranks, handle = OVL_HEAP_HANDLE(event);
    if (handle < n_ranks) {
        r->host_moments.data[handle] = event->time - e->now;
    } else if ((handle - n_ranks) % 2 == 0) {
        r->moments.data[(handle - n_ranks) / 2] = event->time - e->now;
    }
}

static void list_events(ovl_engine *e, ovl_recur *r)
{
    uint32_t n = e->activities.len;
    ovl_vec_reserve(&r->moments, n);
    ovl_vec_reserve(&r->host_moments, e->p->n_ranks);
    for (uint32_t i = 0; i < n; i++) {
        r->moments.data[i] = -1;
    }
    for (uint32_t i = 0; i < e->p->n_ranks; i++) {
        r->host_moments.data[i] = -1;
    }
    for (uint32_t i = 0; i < e->heap.n_used; i++) {
        const ovl_heap_item *event = ovl_heap_leaf(&e->heap, i);
        if (event) {
            note_event(e, r, event);
        }
    }
    for (uint32_t i = 0; i < e->delays.n_lines; i++) {
        const ovl_delay_line *line = &e->delays.lines[i];
        for (uint32_t k = 0; k < line->n; k++) {
            note_event(e, r, &line->items[(line->first + k) & (line->size - 1)]);
        }
    }
}

static void advance_fronts(const ovl_engine *e, ovl_recur *r)
{
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        const ovl_rank *k = &e->p->ranks[rank];
        const ovl_code *code = &e->p->codes[k->code];
        uint32_t *front = r->now.front + r->first_front[rank];
        for (uint32_t i = 0; i < ovl_lane_host(code); i++) {
            while (front[i] < code->n_ops && ovl_engine_arrived(e, k->first_op + front[i])) {
                uint32_t next = ovl_code_ties(code, front[i])->lane_next;
                front[i] = next ? front[i] + next : code->n_ops;
            }
        }
        front[ovl_lane_host(code)] = e->ranks[rank].cursor;
    }
}

/* --- What is in flight --- */

static bool message_in_flight(const ovl_engine *e, uint32_t op, const ovl_op *o)
{
    uint32_t word = e->pending[op];
    if (!o->eager) {
        return (word & OVL_MEETING) || OVL_SAID(word);
    }
    uint32_t other = e->p->partner[op];
    return o->kind == OVL_RECV && (OVL_SAID(word) || !ovl_engine_arrived(e, other) ||
                                   OVL_SAID(e->pending[other]) != OVL_OVER);
}

static bool collective_in_flight(const ovl_engine *e, uint32_t rank, uint32_t op)
{
    const ovl_rank *k = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[k->code];
    uint32_t local = op - k->first_op;
    const ovl_comm *comm = ovl_rank_comm(e->p, rank, ovl_code_op(code, local)->comm);
    uint32_t instance = comm->first_collective + code->collectives_before[local];
    return OVL_SAID(e->pending[op]) || e->arrived[instance] < comm->n_members;
}

static bool waits_for_engine(const ovl_rank_state *s, uint32_t op)
{
    for (uint32_t d = 0; d < 2; d++) {
        for (uint32_t i = 0; i < s->copies[d].len; i++) {
            if (s->copies[d].data[i].op == op) {
                return true;
            }
        }
    }
    return false;
}

bool ovl_recur_in_flight(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t local)
{
    uint32_t op = e->p->ranks[rank].first_op + local;
    const ovl_op *o = ovl_engine_op(e, rank, op);
    const ovl_rank_state *s = &e->ranks[rank];
    switch ((ovl_op_kind)o->kind) {
    case OVL_COLLECTIVE:
        return collective_in_flight(e, rank, op);
    case OVL_SEND:
    case OVL_RECV:
        return message_in_flight(e, op, o);
    case OVL_BATCH:
        return OVL_SAID(e->pending[op]) > 0;
    case OVL_HOST:
        return s->issuing && s->cursor == local;
    case OVL_COPY:
        return ovl_recur_activity(r, op) != OVL_NONE || waits_for_engine(s, op);
    case OVL_KERNEL:
    case OVL_MARKER:
        break;
    }
    return ovl_recur_activity(r, op) != OVL_NONE;
}

/* --- Writing it down --- */

static void put(ovl_moment *m, uint64_t word)
{
    ovl_vec_push(&m->words, word);
}

static void put_double(ovl_moment *m, double x)
{
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    put(m, word);
}

/* An operation of a rank, by its stream. */
static void put_op(const ovl_engine *e, ovl_recur *r, uint32_t rank, uint32_t op)
{
    const ovl_rank *k = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[k->code];
    uint32_t local = op - k->first_op, lane = ovl_lane(code, local);
    uint32_t front = r->now.front[r->first_front[rank] + lane];
    put(&r->now, (uint64_t)lane << 32 | (front - local));
}

static void put_activity_name(ovl_recur *r, uint32_t activity)
{
    put(&r->now, activity == OVL_NONE ? OVL_NONE : r->number.data[activity]);
}

static uint64_t number_of_clock(ovl_recur *r, uint32_t clock)
{
    if (r->clock_number.data[clock] == OVL_NONE) {
        r->clock_number.data[clock] = r->n_clocks++;
    }
    return r->clock_number.data[clock];
}

static void put_bounds(const ovl_engine *e, ovl_moment *m, uint32_t activity)
{
    const ovl_limit *kept = e->bounds.data[activity].kept;
    for (uint32_t i = 0; i < e->activities.data[activity].n_kept; i++) {
        put(m, kept[i].bound);
        put(m, (uint64_t)kept[i].time);
        put(m, (uint64_t)kept[i].lost);
    }
}

/* What it does and how far it is. */
static void put_fluid(const ovl_engine *e, ovl_recur *r, const ovl_activity *a)
{
    ovl_moment *m = &r->now;
    const ovl_clock *c = &e->clocks.data[a->clock];
    ovl_work done = ovl_clock_value(c, e->now) - a->begin;
    put(m, (uint64_t)(done >> 64));
    put(m, (uint64_t)done);
    put(m, number_of_clock(r, a->clock));
    put(m, c->rate);
    put(m, c->bound);
    put(m, (uint64_t)(e->now - a->bound_since));
    put(m, (uint64_t)a->bound_done);
    ovl_time since = e->bounds.data[a - e->activities.data].since;
    put(m, e->options->segments ? (uint64_t)(e->now - OVL_MAX(since, c->since)) : 0);
}

static void put_activity(const ovl_engine *e, ovl_recur *r, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    ovl_moment *m = &r->now;
    put(m, (uint64_t)a->rank << 32 | a->count);
    put_op(e, r, a->rank, a->op);
    put(m, (uint64_t)a->total);
    put(m, (uint64_t)a->cap_bound << 32 | (uint64_t)a->passed << 24 | (uint64_t)a->kind << 16 |
               (uint64_t)a->phase << 8 | (uint64_t)a->queued << 4 | (uint64_t)a->shares << 3 |
               (uint64_t)a->eager << 2 | (uint64_t)a->background << 1 | (uint64_t)a->n_kept << 5);
    put_double(m, a->cap);
    if (a->phase == OVL_PHASE_FLUID) {
        put_fluid(e, r, a);
    } else {
        put(m, (uint64_t)r->moments.data[activity]);
    }
    put_activity_name(r, a->eager ? a->k : OVL_NONE);
    put_bounds(e, m, activity);
}

static void put_activities(const ovl_engine *e, ovl_recur *r)
{
    r->n_clocks = 0;
    ovl_vec_reserve(&r->clock_number, e->clocks.len);
    r->clock_number.len = e->clocks.len;
    for (uint32_t i = 0; i < e->clocks.len; i++) {
        r->clock_number.data[i] = OVL_NONE;
    }
    put(&r->now, r->live.len);
    for (uint32_t i = 0; i < r->live.len; i++) {
        put_activity(e, r, r->live.data[i].activity);
    }
}

/* Who gets the time. What it has done is told with the activity. */
static void put_choice(ovl_recur *r, const ovl_rank_state *s)
{
    put(&r->now, (uint64_t)s->is.term << 1 | s->is.hides);
    put_activity_name(r, s->is.main);
    put_activity_name(r, s->is.beside);
}

static void put_running(const ovl_engine *e, ovl_recur *r, uint32_t rank)
{
    const ovl_rank_state *s = &e->ranks[rank];
    put(&r->now, (uint64_t)s->kernels.len << 32 | s->comms.len);
    for (uint32_t i = 0; i < s->kernels.len; i++) {
        put_activity_name(r, s->kernels.data[i]);
    }
    for (uint32_t i = 0; i < s->comms.len; i++) {
        put_op(e, r, rank, s->comms.data[i].op);
        put_activity_name(r, s->comms.data[i].activity);
    }
    put(&r->now, s->holders.len);
    for (uint32_t i = 0; i < s->holders.len; i++) {
        put_op(e, r, rank, s->holders.data[i]);
    }
    put(&r->now, s->held);
    put(&r->now, (uint64_t)s->latent << 32 | s->waiting);
    for (uint32_t d = 0; d < 2; d++) {
        put(&r->now, (uint64_t)s->copying[d] << 32 | s->copies[d].len);
        for (uint32_t i = 0; i < s->copies[d].len; i++) {
            put(&r->now, (uint64_t)(e->now - s->copies[d].data[i].arrive));
            put_op(e, r, rank, s->copies[d].data[i].op);
        }
    }
}

static void put_parts(const ovl_engine *e, ovl_recur *r, uint32_t rank, uint32_t batch)
{
    const ovl_rank *k = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[k->code];
    ovl_offsets parts = ovl_code_parts(code, batch);
    for (uint32_t i = 0; i < parts.n; i++) {
        uint32_t local = batch + parts.by[i];
        bool arrived = ovl_engine_arrived(e, k->first_op + local);
        put(&r->now, arrived ? 1 + ovl_recur_in_flight(e, r, rank, local) : 0);
    }
}

uint32_t ovl_recur_last(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t lane)
{
    uint32_t c = e->p->ranks[rank].code, front = r->now.front[r->first_front[rank] + lane];
    const ovl_code *code = &e->p->codes[c];
    uint32_t last =
        front < code->n_ops ? ovl_lane_before(code, lane, front) : e->courses[c]->last[lane];
    return last < code->n_ops ? last : OVL_NONE;
}

uint32_t ovl_recur_flying(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t lane)
{
    uint32_t last = ovl_recur_last(e, r, rank, lane);
    return last != OVL_NONE && ovl_recur_in_flight(e, r, rank, last) ? last : OVL_NONE;
}

/* Of each lane, whether the last that arrived is in flight. */
static void put_lanes(const ovl_engine *e, ovl_recur *r, uint32_t rank)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    for (uint32_t lane = 0; lane < ovl_lane_host(code); lane++) {
        uint32_t last = ovl_recur_flying(e, r, rank, lane);
        put(&r->now, last != OVL_NONE);
        if (last != OVL_NONE && ovl_code_op(code, last)->kind == OVL_BATCH) {
            put_parts(e, r, rank, last);
        }
    }
}

static void put_host(const ovl_engine *e, ovl_recur *r, uint32_t rank)
{
    const ovl_rank *k = &e->p->ranks[rank];
    const ovl_rank_state *s = &e->ranks[rank];
    bool arrived =
        s->cursor < e->p->codes[k->code].n_ops && ovl_engine_arrived(e, k->first_op + s->cursor);
    put(&r->now, (uint64_t)s->put_off << 32 | (uint64_t)arrived << 2 | (uint64_t)s->issuing << 1 |
                     s->awaits);
    put(&r->now, (uint64_t)r->host_moments.data[rank]);
}

void ovl_moment_take(ovl_engine *e, ovl_recur *r)
{
    ovl_moment *m = &r->now;
    ovl_account_settle(e);
    list_live(e, r);
    list_events(e, r);
    advance_fronts(e, r);
    m->now = e->now;
    m->n_trail = e->n_trail;
    m->n_limits = e->limits.len;
    m->n_segments = e->segments.len;
    m->n_phase_ends = e->phase_ends.len;
    m->n_ended = e->n_ended;
    m->words.len = 0;
    put(m, (uint64_t)e->next_change << 2 | (uint64_t)e->counting << 1 | (e->counted != NULL));
    put_activities(e, r);
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        put_choice(r, &e->ranks[rank]);
        put_running(e, r, rank);
        put_lanes(e, r, rank);
        put_host(e, r, rank);
    }
    memcpy(m->times, e->times, e->p->n_ranks * sizeof *m->times);
    m->taken = true;
}

bool ovl_moment_equal(const ovl_moment *a, const ovl_moment *b)
{
    return a->words.len == b->words.len && a->now < b->now &&
           memcmp(a->words.data, b->words.data, a->words.len * sizeof *a->words.data) == 0;
}
