/*
 * recur_skip.c - the state goes k periods on, and what happens in them is written where it belongs.
 *
 * Operation i of a rank that moved by L in a period of T stands for i + L, ..., i + kL: those get
 * its times and T, ..., kT more, the trail and what was kept of rates is told again, and what a
 * rank did in the period it did k times more. What runs now becomes what runs then: the same
 * activities on the same clocks, kL operations further and kT later.
 */
#include "sim/recur.h"

/* What is known of an operation between `low` and `high`, before anything is changed. */
enum {
    HAS_ENDED = 1,
    HAS_ARRIVED = 2,
    NOTED_ARRIVE = 4,
    NOTED_START = 8,
    NOTED_END = 16,
    LANDED = 32
};

/* --- Operations that moved --- */

static uint32_t moved(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t op)
{
    const ovl_rank *k = &e->p->ranks[rank];
    bool moves = ovl_recur_op_moves(e, r, rank, op - k->first_op);
    return moves ? (uint32_t)r->shift.times * r->shift.by[rank] : 0;
}

static void move(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t *op)
{
    *op += moved(e, r, rank, *op);
}

static void move_any(const ovl_engine *e, const ovl_recur *r, uint32_t *op)
{
    move(e, r, ovl_op_rank(e->p, *op), op);
}

static uint8_t flags_of(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t local)
{
    uint32_t op = e->p->ranks[rank].first_op + local;
    if (!ovl_engine_arrived(e, op)) {
        return 0;
    }
    uint8_t flags = HAS_ARRIVED;
    flags |= ovl_recur_in_flight(e, r, rank, local) ? 0 : HAS_ENDED;
    flags |= OVL_SAID(e->pending[op]) == OVL_OVER ? LANDED : 0;
    if (e->end) {
        flags |= e->arrive[op] >= 0 ? NOTED_ARRIVE : 0;
        flags |= e->start[op] >= 0 ? NOTED_START : 0;
        flags |= e->end[op] >= 0 ? NOTED_END : 0;
    }
    return flags;
}

/* A rank that moved: its window, and where that will be. */
typedef struct window {
    uint32_t rank, first_op, low, high, by, go; /* by * k */
    uint32_t cursor, to_cursor;                 /* of the host, now and then */
    bool all_move;                              /* no lane that did not move has operations there */
    const uint8_t *flags;                       /* from low on */
} window;

/* Of all ranks, one after another: what is in flight on one may be told by another. */
static void find_flags(const ovl_engine *e, ovl_recur *r)
{
    r->flags.len = 0;
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        for (uint32_t i = r->shift.low[rank]; r->shift.by[rank] && i < r->shift.high[rank]; i++) {
            ovl_vec_push(&r->flags, flags_of(e, r, rank, i));
        }
    }
}

static bool all_move(const ovl_engine *e, const ovl_recur *r, uint32_t rank)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    bool all = !code->host_timed || ovl_recur_moves(r, rank, ovl_recur_host(code));
    for (uint32_t lane = 0; lane < ovl_recur_host(code) && all; lane++) {
        uint32_t last = ovl_recur_last(e, r, rank, lane);
        all = ovl_recur_moves(r, rank, lane) || last == OVL_NONE || last < r->shift.low[rank];
    }
    return all;
}

static window open_window(const ovl_engine *e, const ovl_recur *r, uint32_t rank,
                          const uint8_t *flags)
{
    uint32_t low = r->shift.low[rank], high = r->shift.high[rank];
    const ovl_rank *k = &e->p->ranks[rank];
    uint32_t host = ovl_recur_host(&e->p->codes[k->code]);
    window w = {.rank = rank,
                .first_op = k->first_op,
                .low = low,
                .high = high,
                .by = r->shift.by[rank],
                .go = (uint32_t)r->shift.times * r->shift.by[rank],
                .cursor = e->ranks[rank].cursor,
                .all_move = all_move(e, r, rank),
                .flags = flags};
    w.to_cursor = w.cursor + (ovl_recur_moves(r, rank, host) ? w.go : 0);
    return w;
}

/* What will be known of an operation when k periods have passed. */
static uint8_t flags_then(const window *w, uint32_t local)
{
    return local < w->low + w->go ? UINT8_MAX : w->flags[local - w->go - w->low];
}

static uint8_t flags_now(const window *w, uint32_t local)
{
    return local < w->high ? w->flags[local - w->low] : 0;
}

/* --- Times --- */

static void fill(const window *w, ovl_time *times, uint8_t flag, ovl_time period)
{
    for (uint32_t i = w->low; i < w->high + w->go; i++) {
        uint32_t op = w->first_op + i;
        if (times[op] < 0 && (flags_then(w, i) & flag)) {
            assert(times[op - w->by] >= 0);
            times[op] = times[op - w->by] + period;
        }
    }
}

/* The call that a host is in was issued. */
static void fill_issues(const ovl_engine *e, const window *w, ovl_time period)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[w->rank].code];
    bool calls = e->ranks[w->rank].issuing && ovl_code_op(code, w->cursor)->kind == OVL_HOST;
    for (uint32_t i = w->cursor + calls; w->to_cursor > w->cursor && i < w->to_cursor + calls;
         i++) {
        e->issue[w->first_op + i] = e->issue[w->first_op + i - w->by] + period;
    }
}

static bool is_eager_send(const ovl_engine *e, uint32_t rank, uint32_t local)
{
    const ovl_op *op = ovl_code_op(&e->p->codes[e->p->ranks[rank].code], local);
    return op->kind == OVL_SEND && op->eager;
}

/* When the bytes of eager sends were there. */
static void fill_landed(const ovl_engine *e, const ovl_recur *r, const window *w)
{
    for (uint32_t i = w->low; i < w->high + w->go; i++) {
        bool lands = !(flags_now(w, i) & LANDED) && (flags_then(w, i) & LANDED);
        if (lands && is_eager_send(e, w->rank, i) &&
            (w->all_move || ovl_recur_op_moves(e, r, w->rank, i))) {
            e->landed[w->first_op + i] = e->landed[w->first_op + i - w->by] + r->shift.period;
        }
    }
}

static void fill_times(const ovl_engine *e, const ovl_recur *r, const window *w)
{
    if (e->end) {
        fill(w, e->arrive, NOTED_ARRIVE, r->shift.period);
        fill(w, e->start, NOTED_START, r->shift.period);
        fill(w, e->end, NOTED_END, r->shift.period);
        fill_issues(e, w, r->shift.period);
    }
    if (e->landed) {
        fill_landed(e, r, w);
    }
}

/* --- What operations wait for --- */

static void release_behind(ovl_engine *e, const window *w, const uint32_t *at, const uint32_t *item,
                           uint32_t local)
{
    for (uint32_t i = at[local]; i < at[local + 1]; i++) {
        if (item[i] >= w->high + w->go) {
            assert(e->pending[w->first_op + item[i]] > 0);
            e->pending[w->first_op + item[i]]--;
        }
    }
}

/* What lies behind the window waits for less. */
static void release_ahead(ovl_engine *e, const ovl_recur *r, const window *w)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[w->rank].code];
    for (uint32_t i = w->low; i < w->high + w->go; i++) {
        uint8_t now = flags_now(w, i), then = flags_then(w, i);
        if (!w->all_move && !ovl_recur_op_moves(e, r, w->rank, i)) {
            continue;
        }
        if ((then & HAS_ENDED) && !(now & HAS_ENDED)) {
            release_behind(e, w, code->next.at, code->next.item, i);
        }
        if (code->queue_prev && (then & HAS_ARRIVED) && !(now & HAS_ARRIVED)) {
            release_behind(e, w, code->queue_next.at, code->queue_next.item, i);
        }
    }
}

/* What was in flight, or ahead, is so further on; all between has ended, and its bytes are there.
 */
static void move_pending(ovl_engine *e, const ovl_recur *r, const window *w)
{
    uint32_t *pending = e->pending + w->first_op;
    bool eager = r->codes[e->p->ranks[w->rank].code].eager;
    for (uint32_t i = w->high + w->go; i-- > w->low;) {
        if (!w->all_move && !ovl_recur_op_moves(e, r, w->rank, i)) {
            continue;
        }
        bool landed = eager && i < w->low + w->go && is_eager_send(e, w->rank, i);
        uint32_t ended = OVL_ARRIVED_BIT | (landed ? OVL_OVER : 0);
        pending[i] = i < w->low + w->go ? ended : pending[i - w->go];
    }
}

/* --- Collectives --- */

/* How many members of a collective have arrived, and how far it goes. */
typedef struct gathering {
    uint32_t instance, go, arrived;
} gathering;
typedef OVL_VEC(gathering) gatherings;

static uint32_t instance_of(const ovl_engine *e, uint32_t rank, uint32_t local)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    return ovl_rank_comm(e->p, rank, ovl_code_op(code, local)->comm)->first_collective +
           code->comm_index[local];
}

static void find_gatherings(const ovl_engine *e, const ovl_recur *r, uint32_t rank,
                            gatherings *list)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    for (uint32_t i = r->shift.low[rank]; i < r->shift.high[rank]; i++) {
        if (ovl_code_op(code, i)->kind == OVL_COLLECTIVE && ovl_recur_op_moves(e, r, rank, i)) {
            const ovl_comm *comm = ovl_rank_comm(e->p, rank, ovl_code_op(code, i)->comm);
            uint32_t go = (uint32_t)r->shift.times * r->shift.collectives[comm - e->p->comms];
            uint32_t instance = instance_of(e, rank, i);
            ovl_vec_push(list, (gathering){instance, go, e->arrived[instance]});
        }
    }
}

/* Of some operations in order, how many lie before `local`. */
static uint32_t count_before(const uint32_t *list, uint32_t n, uint32_t local)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list[middle] < local) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* All that a rank has behind it has ended everywhere. */
static void end_collectives(ovl_engine *e, const ovl_recur *r, uint32_t rank)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    uint32_t low = r->shift.low[rank], go = (uint32_t)r->shift.times * r->shift.by[rank];
    for (uint16_t slot = 0; slot < code->n_slots; slot++) {
        const uint32_t *list = code->collectives.item + code->collectives.at[slot];
        uint32_t n = code->collectives.at[slot + 1] - code->collectives.at[slot];
        const ovl_comm *comm = ovl_rank_comm(e->p, rank, slot);
        uint32_t end = count_before(list, n, low + go);
        for (uint32_t k = count_before(list, n, low); k < end; k++) {
            e->arrived[comm->first_collective + k] = comm->n_members;
        }
    }
}

static void move_gatherings(ovl_engine *e, const ovl_recur *r)
{
    gatherings list = {0};
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        if (r->shift.by[rank]) {
            find_gatherings(e, r, rank, &list);
        }
    }
    for (uint32_t i = 0; i < list.len; i++) {
        e->arrived[list.data[i].instance] = 0;
    }
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        if (r->shift.by[rank]) {
            end_collectives(e, r, rank);
        }
    }
    for (uint32_t i = 0; i < list.len; i++) {
        const gathering *g = &list.data[i];
        if (g->arrived) {
            e->arrived[g->instance + g->go] = g->arrived;
        }
    }
    ovl_vec_free(&list);
}

/* --- What is told in order --- */

static void repeat_trail(ovl_engine *e, ovl_recur *r)
{
    uint32_t from = r->shift.before->n_trail, n = e->n_trail - from;
    ovl_vec_reserve(&r->scratch, n);
    for (uint32_t i = 0; i < n && e->trail; i++) {
        uint32_t rank = ovl_op_rank(e->p, OVL_TRAIL_OP(e->trail[from + i]));
        r->scratch.data[i] = r->shift.by[rank] << 2;
    }
    for (uint64_t k = 0; k < r->shift.times && e->trail; k++) {
        for (uint32_t i = 0; i < n; i++, e->n_trail++) {
            e->trail[e->n_trail] = e->trail[e->n_trail - n] + r->scratch.data[i];
        }
    }
}

static void repeat_limits(ovl_engine *e, const ovl_recur *r)
{
    uint32_t n = e->limits.len - r->shift.before->n_limits;
    for (uint64_t k = 0; k < r->shift.times; k++) {
        for (uint32_t i = 0; i < n; i++) {
            ovl_limit again = e->limits.data[e->limits.len - n];
            again.op += r->shift.by[ovl_op_rank(e->p, again.op)];
            ovl_vec_push(&e->limits, again);
        }
    }
}

static void repeat_segments(ovl_engine *e, const ovl_recur *r)
{
    uint32_t n = e->segments.len - r->shift.before->n_segments;
    for (uint64_t k = 0; k < r->shift.times; k++) {
        for (uint32_t i = 0; i < n; i++) {
            ovl_segment again = e->segments.data[e->segments.len - n];
            again.op += r->shift.by[ovl_op_rank(e->p, again.op)];
            again.from += r->shift.period;
            again.to += r->shift.period;
            ovl_vec_push(&e->segments, again);
        }
    }
}

/* --- What runs --- */

static void move_rank(ovl_engine *e, const ovl_recur *r, uint32_t rank, ovl_time later)
{
    ovl_rank_state *s = &e->ranks[rank];
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    for (uint32_t i = 0; i < s->comms.len; i++) {
        move(e, r, rank, &s->comms.data[i].op);
    }
    for (uint32_t i = 0; i < s->rivals.len; i++) {
        move(e, r, rank, &s->rivals.data[i].is.op);
    }
    for (uint32_t i = 0; i < s->holders.len; i++) {
        move(e, r, rank, &s->holders.data[i]);
    }
    for (uint32_t d = 0; d < 2; d++) {
        for (uint32_t i = 0; i < s->copies[d].len; i++) {
            move(e, r, rank, &s->copies[d].data[i].op);
            s->copies[d].data[i].arrive += later;
        }
    }
    s->accounted += later;
    s->hidden_accounted += later;
    if (ovl_recur_moves(r, rank, ovl_recur_host(code))) {
        s->cursor += (uint32_t)r->shift.times * r->shift.by[rank];
    }
}

static void move_activity(const ovl_engine *e, const ovl_recur *r, uint32_t activity,
                          ovl_time later)
{
    ovl_activity *a = &e->activities.data[activity];
    move(e, r, a->rank, &a->op);
    if (a->clock == OVL_CLOCK_TIME) {
        a->begin += (ovl_work)later << OVL_WORK_SHIFT;
    }
    a->since += later;
    a->bound_since += later;
    if (a->comm) {
        a->k += (uint32_t)r->shift.times * r->shift.collectives[a->comm - e->p->comms];
    }
    for (uint32_t i = 0; i < OVL_LIMITS_KEPT && a->limited; i++) {
        e->bounds.data[activity].kept[i].op = a->op;
    }
}

static void move_clock(const ovl_engine *e, const ovl_recur *r, ovl_clock *c, ovl_time later)
{
    c->since += later;
    c->end += c->first < c->dues.len && c->end != OVL_NEVER ? later : 0;
    if (c->queued) {
        c->key_time += later;
        move_any(e, r, &c->key_op);
    }
    for (uint32_t i = c->first; i < c->dues.len; i++) {
        move_any(e, r, &c->dues.data[i].op);
    }
}

/* --- What comes next --- */

static ovl_heap_item moved_event(const ovl_engine *e, const ovl_recur *r, const ovl_heap_item *item,
                                 ovl_time later)
{
    uint64_t tie = item->order >> OVL_HEAP_HANDLE_BITS;
    uint32_t op = (uint32_t)tie;
    move_any(e, r, &op);
    return ovl_heap_item_of(item->time + later, (tie >> 32 << 32) | op, OVL_HEAP_HANDLE(item));
}

/* Put in anew, for among events of one instant the order may be another where some moved and some
 * did not. */
static void move_queue(ovl_engine *e, const ovl_recur *r, ovl_time later)
{
    ovl_heap *h = &e->heap;
    OVL_VEC(ovl_heap_item) items = {0};
    uint64_t puts = h->puts, moves = h->moves;
    ovl_heap_top(h); /* no hole */
    for (uint32_t i = 0; i < h->items.len; i++) {
        ovl_vec_push(&items, moved_event(e, r, &h->items.data[i], later));
        h->place.data[OVL_HEAP_HANDLE(&items.data[i])] = 0;
    }
    h->items.len = 0;
    for (uint32_t i = 0; i < items.len; i++) {
        const ovl_heap_item *x = &items.data[i];
        ovl_heap_set(h, OVL_HEAP_HANDLE(x), x->time, x->order >> OVL_HEAP_HANDLE_BITS);
    }
    h->puts = puts;
    h->moves = moves;
    ovl_vec_free(&items);
}

static void move_line(const ovl_engine *e, const ovl_recur *r, ovl_delay_line *line, ovl_time later)
{
    uint32_t mask = line->size - 1;
    for (uint32_t i = 0; i < line->n; i++) {
        ovl_heap_item item = moved_event(e, r, &line->items[(line->first + i) & mask], later);
        uint32_t at = i;
        for (; at > 0 && ovl_heap_before(&item, &line->items[(line->first + at - 1) & mask]);
             at--) {
            line->items[(line->first + at) & mask] = line->items[(line->first + at - 1) & mask];
        }
        line->items[(line->first + at) & mask] = item;
    }
}

static void move_delays(ovl_engine *e, const ovl_recur *r, ovl_time later)
{
    const ovl_heap_item *best = NULL;
    for (uint32_t i = 0; i < e->delays.n_lines; i++) {
        ovl_delay_line *line = &e->delays.lines[i];
        move_line(e, r, line, later);
        const ovl_heap_item *first = line->n ? &line->items[line->first] : NULL;
        if (first && (!best || ovl_heap_before(first, best))) {
            best = first;
            e->delays.next = i;
        }
    }
}

/* --- Sums --- */

static void repeat_times(const ovl_rank_times *before, ovl_rank_times *now, ovl_time k,
                         ovl_time period)
{
    for (uint32_t i = 0; i < OVL_TERM_COUNT; i++) {
        now->term[i] += k * (now->term[i] - before->term[i]);
    }
    now->hidden += k * (now->hidden - before->hidden);
    now->hidden_stretch += k * (now->hidden_stretch - before->hidden_stretch);
    now->end += now->end != before->end ? k * period : 0;
}

static void move_fronts(ovl_recur *r, uint32_t rank)
{
    for (uint32_t lane = 0; lane < r->first_front[rank + 1] - r->first_front[rank]; lane++) {
        uint32_t at = r->first_front[rank] + lane;
        if (ovl_recur_moves(r, rank, lane)) {
            r->now.front[at] += (uint32_t)r->shift.times * r->shift.by[rank];
        }
    }
}

static void move_running(ovl_engine *e, const ovl_recur *r, ovl_time later)
{
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        move_rank(e, r, rank, later);
    }
    for (uint32_t i = 0; i < e->clocks.len; i++) {
        if (i != OVL_CLOCK_TIME) { /* that one shows the time itself */
            move_clock(e, r, &e->clocks.data[i], later);
        }
    }
    for (uint32_t i = 0; i < r->live.len; i++) {
        move_activity(e, r, r->live.data[i].activity, later);
    }
    move_queue(e, r, later);
    move_delays(e, r, later);
}

void ovl_recur_skip(ovl_engine *e, ovl_recur *r)
{
    const ovl_shift *s = &r->shift;
    ovl_time later = (ovl_time)s->times * s->period;
    find_flags(e, r);
    move_gatherings(e, r);
    const uint8_t *flags = r->flags.data;
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        if (s->by[rank]) {
            window w = open_window(e, r, rank, flags);
            flags += w.high - w.low;
            fill_times(e, r, &w);
            release_ahead(e, r, &w);
            move_pending(e, r, &w);
        }
        repeat_times(&s->before->times[rank], &e->times[rank], (ovl_time)s->times, s->period);
    }
    repeat_trail(e, r);
    repeat_limits(e, r);
    repeat_segments(e, r);
    move_running(e, r, later);
    uint32_t ended = (e->n_ended - s->before->n_ended) * (uint32_t)s->times;
    e->n_ended += ended;
    e->n_skipped += ended;
    e->now += later;
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        move_fronts(r, rank);
    }
}
