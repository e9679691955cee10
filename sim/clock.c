/*
 * clock.c - clocks that measure work: when the next activity on them ends, and what bounded whom.
 */
#include "sim/state.h"

#include <math.h>

/* --- When the next activity ends --- */

static double value_at(const ovl_clock *c, ovl_time t)
{
    return c->value + c->rate * (double)(t - c->since);
}

/* What rounding may have added to work that was done in several pieces; far below what anybody
 * could mean. */
static double noise(const ovl_activity *a)
{
    return OVL_MIN((double)a->total * 0x1p-44, 0.25);
}

/* An end is at the next whole picosecond. At isolated speed the arithmetic is that of integers. */
static ovl_time end_of(const ovl_engine *e, const ovl_clock *c, const ovl_due *due)
{
    const ovl_activity *a = &e->activities.data[due->activity];
    ovl_time base = c->since;
    if (c->rate == 1) {
        double ahead = c->value - a->begin;
        ovl_time whole = (ovl_time)ahead;
        if ((double)whole == ahead) {
            ovl_time work = a->total - whole;
            return work <= OVL_TIME_MAX - base ? base + work : OVL_NEVER;
        }
    }
    double left = (due->due - c->value) / c->rate;
    if (left > 0x1p62) {
        return OVL_NEVER;
    }
    ovl_time whole = (ovl_time)left;
    whole += (double)whole < left;
    return whole <= OVL_TIME_MAX - base ? base + whole : OVL_NEVER;
}

static void queue(ovl_engine *e, uint32_t clock, ovl_clock *c)
{
    uint32_t op = c->dues.data[c->next].op;
    if (!c->queued || c->end < c->key_time || (c->end == c->key_time && op < c->key_op)) {
        c->queued = true;
        c->key_time = c->end;
        c->key_op = op;
        ovl_heap_set(&e->heap, OVL_HANDLE_CLOCK(e, clock), c->end, OVL_TIE(OVL_EVENT_END, op));
    }
}

/* The next end; of several at one picosecond that of the lowest op. */
static void find_next(ovl_engine *e, uint32_t clock)
{
    ovl_clock *c = &e->clocks.data[clock];
    const ovl_due *dues = c->dues.data;
    c->late = false;
    c->next = c->first;
    c->end = OVL_MAX(end_of(e, c, &dues[c->first]), e->now);
    if (c->end == OVL_NEVER) {
        ovl_engine_fail(e, OVL_E_INPUT, dues[c->first].op,
                        "it would end later than time can count (53 days)");
        return;
    }
    if (c->dues.len - c->first > 1) {
        double reached = value_at(c, c->end);
        for (uint32_t i = c->first + 1; i < c->dues.len && dues[i].due <= reached; i++) {
            c->next = dues[i].op < dues[c->next].op ? i : c->next;
        }
    }
    queue(e, clock, c);
}

/* The next end may be another. Mostly it is later than the event that is queued and need not be
 * known before that one comes. */
static inline void next_changed(ovl_engine *e, uint32_t clock)
{
    ovl_clock *c = &e->clocks.data[clock];
    if (c->queued && value_at(c, c->key_time) * (1 + 0x1p-50) < c->dues.data[c->first].due) {
        c->late = true;
    } else {
        find_next(e, clock);
    }
}

uint32_t ovl_clock_event(ovl_engine *e, uint32_t clock)
{
    ovl_clock *c = &e->clocks.data[clock];
    if (c->late) {
        find_next(e, clock);
    }
    const ovl_due *next = &c->dues.data[c->next];
    if (c->end == c->key_time && next->op == c->key_op) {
        return next->activity;
    }
    c->queued = false;
    queue(e, clock, c);
    return OVL_NONE;
}

ovl_time ovl_clock_progress(const ovl_engine *e, const ovl_activity *a, ovl_time t)
{
    double done = value_at(&e->clocks.data[a->clock], t) - a->begin;
    return OVL_MIN((ovl_time)(done + 0.5), a->total);
}

/* --- What bounded whom --- */

/* What the present rate and bound cost until now. */
static ovl_loss loss_of(const ovl_clock *c, ovl_time now)
{
    ovl_time time = now - c->bound_since;
    return (ovl_loss){time, time - (ovl_time)(c->rate * (double)time + 0.5)};
}

static uint32_t sum_of(const ovl_clock *c, uint32_t bound)
{
    uint32_t i = 0;
    while (i < c->n_sums && c->sum_bound[i] != bound) {
        i++;
    }
    return i;
}

static void keep_limits_until(ovl_engine *e, const ovl_clock *c, ovl_activity *a)
{
    for (uint32_t i = 0; i < c->n_sums; i++) {
        ovl_loss loss = {c->sum[i].time - a->before[i].time, c->sum[i].lost - a->before[i].lost};
        uint32_t bound = c->sum_bound[i] == OVL_BOUND_CAP ? a->cap_bound : c->sum_bound[i];
        if (loss.time > 0) {
            ovl_vec_push(&e->limits, (ovl_limit){a->op, bound, loss.time, loss.lost});
        }
        a->before[i] = c->sum[i];
    }
}

/* More bounds than there is room for: everybody's are kept, and summing starts anew. */
static void start_sums(ovl_engine *e, ovl_clock *c)
{
    for (uint32_t i = c->first; i < c->dues.len; i++) {
        ovl_activity *a = &e->activities.data[c->dues.data[i].activity];
        keep_limits_until(e, c, a);
        memset(a->before, 0, sizeof a->before);
    }
    c->n_sums = 0;
}

/* The place of the present bound among the sums, made if it has none. */
static void find_sum(ovl_engine *e, ovl_clock *c)
{
    c->sum_at = sum_of(c, c->bound);
    if (c->sum_at == OVL_LIMITS_KEPT) {
        start_sums(e, c);
        c->sum_at = 0;
    }
    if (c->sum_at == c->n_sums) {
        c->sum_bound[c->n_sums] = c->bound;
        c->sum[c->n_sums++] = (ovl_loss){0, 0};
    }
}

/* Sums up to now. */
static inline void add_loss(ovl_engine *e, ovl_clock *c)
{
    if (c->bound != OVL_BOUND_FREE && e->now > c->bound_since) {
        ovl_loss loss = loss_of(c, e->now);
        if (c->sum_at == OVL_NONE) {
            find_sum(e, c);
        }
        c->sum[c->sum_at].time += loss.time;
        c->sum[c->sum_at].lost += loss.lost;
    }
    c->bound_since = e->now;
}

void ovl_clock_keep_limits(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    ovl_clock *c = &e->clocks.data[a->clock];
    add_loss(e, c);
    keep_limits_until(e, c, a);
}

/* --- Joining and leaving --- */

static void keep_segment(ovl_engine *e, const ovl_clock *c, const ovl_activity *a)
{
    ovl_time from = OVL_MAX(a->since, c->since);
    if (e->now > from) {
        ovl_vec_push(&e->segments, (ovl_segment){a->op, from, e->now, c->rate});
    }
}

static ovl_clock *clock_at(ovl_engine *e, uint32_t clock)
{
    while (e->clocks.len <= clock) {
        ovl_vec_push(&e->clocks, (ovl_clock){.bound = OVL_BOUND_FREE});
    }
    return &e->clocks.data[clock];
}

/* A clock that measures nobody starts from 0. */
static void reset(ovl_engine *e, ovl_clock *c)
{
    c->value = c->rate = 0;
    c->since = c->bound_since = e->now;
    c->bound = OVL_BOUND_FREE;
    c->first = c->dues.len = c->n_sums = 0;
    c->sum_at = OVL_NONE;
}

/* Turned back by whole picoseconds, which is exact, before its last places get lost. */
static void turn_back(ovl_engine *e, ovl_clock *c)
{
    double back = floor(c->value);
    c->value -= back;
    for (uint32_t i = c->first; i < c->dues.len; i++) {
        c->dues.data[i].due -= back;
        e->activities.data[c->dues.data[i].activity].begin -= back;
    }
}

/* In order of the ends, later ones first among equals. */
static uint32_t insert_due(ovl_clock *c, ovl_due due)
{
    if (c->dues.len == c->dues.cap && c->first > 0) {
        c->dues.len -= c->first;
        memmove(c->dues.data, c->dues.data + c->first, c->dues.len * sizeof due);
        c->first = 0;
    }
    ovl_vec_push(&c->dues, due);
    uint32_t at = c->dues.len - 1;
    for (; at > c->first && c->dues.data[at - 1].due > due.due; at--) {
        c->dues.data[at] = c->dues.data[at - 1];
    }
    c->dues.data[at] = due;
    return at;
}

void ovl_clock_add(ovl_engine *e, uint32_t clock, uint32_t activity, double done)
{
    ovl_clock *c = clock_at(e, clock);
    ovl_activity *a = &e->activities.data[activity];
    if (c->first == c->dues.len) {
        reset(e, c);
    } else {
        add_loss(e, c);
    }
    a->clock = clock;
    a->since = e->now;
    a->begin = value_at(c, e->now) - done;
    memcpy(a->before, c->sum, sizeof a->before);
    for (uint32_t i = c->n_sums; i < OVL_LIMITS_KEPT; i++) {
        a->before[i] = (ovl_loss){0, 0};
    }
    insert_due(c, (ovl_due){a->begin + (double)a->total - noise(a), activity, a->op});
    if (c->rate > 0) {
        next_changed(e, clock);
    }
}

double ovl_clock_remove(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    ovl_clock *c = &e->clocks.data[a->clock];
    double done = value_at(c, e->now) - a->begin;
    ovl_clock_keep_limits(e, activity);
    if (e->options->segments) {
        keep_segment(e, c, a);
    }
    uint32_t at = c->first;
    while (c->dues.data[at].activity != activity) {
        at++;
    }
    for (; at > c->first; at--) {
        c->dues.data[at] = c->dues.data[at - 1];
    }
    c->first++;
    if (c->first < c->dues.len) {
        if (c->rate > 0) {
            next_changed(e, a->clock);
        }
    } else {
        reset(e, c);
        c->queued = false;
        ovl_heap_remove(&e->heap, OVL_HANDLE_CLOCK(e, a->clock));
    }
    return done;
}

#define TURN_BACK 0x1p41 /* ps: two seconds, where the last place is 1/4096 ps */

void ovl_clock_set_rate(ovl_engine *e, uint32_t clock, double rate, uint32_t bound)
{
    ovl_clock *c = &e->clocks.data[clock];
    if (c->bound == bound && c->rate == rate) {
        return;
    }
    add_loss(e, c);
    if (c->bound != bound) {
        c->bound = bound;
        c->sum_at = OVL_NONE;
    }
    if (c->rate == rate) {
        return;
    }
    if (c->watchers.len) {
        ovl_account_rate(e, c);
    }
    for (uint32_t i = c->first; i < c->dues.len && e->options->segments; i++) {
        keep_segment(e, c, &e->activities.data[c->dues.data[i].activity]);
    }
    c->value = value_at(c, e->now);
    c->since = e->now;
    c->rate = rate;
    if (c->value > TURN_BACK && c->dues.len - c->first > 1) {
        turn_back(e, c);
    }
    next_changed(e, clock);
}
