/*
 * recur_skip.c - the state goes k periods on.
 *
 * What runs now becomes what runs then: the same activities on the same clocks, kL operations
 * further and kT later (recur_fill.c: what happened in between).
 */
#include "sim/recur.h"

/* --- Operations that moved --- */

static uint32_t moved(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t op)
{
    const ovl_rank *k = &e->p->ranks[rank];
    return (uint32_t)r->shift.times * ovl_recur_op_by(e, r, rank, op - k->first_op);
}

static void move(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t *op)
{
    *op += moved(e, r, rank, *op);
}

static void move_any(const ovl_engine *e, const ovl_recur *r, uint32_t *op)
{
    move(e, r, ovl_op_rank(e->p, *op), op);
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
    const ovl_stride *host = ovl_recur_stride(r, rank, ovl_lane_host(code));
    s->cursor += host ? (uint32_t)r->shift.times * host->by : 0;
}

static void move_activity(const ovl_engine *e, const ovl_recur *r, uint32_t activity,
                          ovl_time later)
{
    ovl_activity *a = &e->activities.data[activity];
    move(e, r, a->rank, &a->op);
    if (a->kind == OVL_SEND) {
        a->mate = e->p->partner[a->op];
    }
    if (a->clock == OVL_CLOCK_TIME) {
        a->begin += (ovl_work)later << OVL_WORK_SHIFT;
    }
    e->bounds.data[activity].since += later;
    a->bound_since += later;
    if (a->comm) {
        a->k += (uint32_t)r->shift.times * r->shift.collectives[a->comm - e->p->comms];
    }
    for (uint32_t i = 0; i < a->n_kept; i++) {
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
    for (uint32_t i = 0; i < h->n_used; i++) {
        const ovl_heap_item *event = ovl_heap_leaf(h, i);
        if (event) {
            ovl_vec_push(&items, moved_event(e, r, event, later));
        }
    }
    ovl_heap_clear(h);
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
    for (uint32_t i = 0; i < e->delays.n_lines; i++) {
        move_line(e, r, &e->delays.lines[i], later);
    }
    ovl_delays_find_first(&e->delays);
}

static void move_fronts(ovl_recur *r, uint32_t rank)
{
    for (uint32_t lane = 0; lane < r->first_front[rank + 1] - r->first_front[rank]; lane++) {
        const ovl_stride *stride = ovl_recur_stride(r, rank, lane);
        uint32_t by = stride ? stride->by : 0;
        r->now.front[r->first_front[rank] + lane] += (uint32_t)r->shift.times * by;
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
    ovl_recur_fill(e, r);
    move_running(e, r, later);
    uint32_t ended = (e->n_ended - s->before->n_ended) * (uint32_t)s->times;
    e->n_ended += ended;
    e->n_skipped += ended;
    e->now += later;
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        move_fronts(r, rank);
    }
}
