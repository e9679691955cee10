/*
 * clock.c - clocks that measure work: when the next activity on them ends, what bounded whom.
 */
#include "sim/state.h"

/* --- When the next activity ends --- */

static inline double value_at(const ovl_clock *c, ovl_time t)
{
    return c->value + c->rate * (double)(t - c->since);
}

static inline double done_at(const ovl_clock *c, const ovl_activity *a, ovl_time t)
{
    return (value_at(c, t) - a->begin) * a->scale;
}

/* What rounding may have added to work that was done in several pieces, on a clock that has gone on
 * for long; far below what anybody could mean. */
static inline double noise(const ovl_activity *a)
{
    double shown = a->begin * a->scale; /* the last places of this are lost */
    return OVL_MIN((double)a->total * 0x1p-44 + shown * 0x1p-47, 0.25);
}

static inline bool is_empty(const ovl_clock *c)
{
    return c->first == c->dues.len;
}

/* An end is at the next whole picosecond. At isolated speed the arithmetic is that of integers. */
static ovl_time end_of(const ovl_engine *e, const ovl_clock *c, const ovl_due *due)
{
    ovl_time base = c->since;
    if (c->rate == 1) {
        const ovl_activity *a = &e->activities.data[due->activity];
        double ahead = c->value - a->begin;
        ovl_time whole = (ovl_time)ahead;
        if (a->scale == 1 && (double)whole == ahead) {
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

/* It will be found out when all that happens at this instant has. */
static inline void touch(ovl_engine *e, uint32_t clock, ovl_clock *c)
{
    if (!c->touched) {
        c->touched = true;
        ovl_vec_push(&e->touched_clocks, clock);
    }
}

void ovl_clocks_update(ovl_engine *e)
{
    for (uint32_t i = 0; i < e->touched_clocks.len && !e->failed; i++) {
        uint32_t clock = e->touched_clocks.data[i];
        ovl_clock *c = &e->clocks.data[clock];
        c->touched = false;
        if (!is_empty(c) && c->rate > 0) {
            next_changed(e, clock);
        }
    }
    e->touched_clocks.len = 0;
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

/* The key that is queued is that of an activity which has left. If another one ends at this
 * instant, too, its turn is now; else there is time until rates are solved. */
static void after_end(ovl_engine *e, uint32_t clock)
{
    ovl_clock *c = &e->clocks.data[clock];
    ovl_heap_remove(&e->heap, OVL_HANDLE_CLOCK(e, clock));
    c->queued = false;
    if (!is_empty(c) && c->rate > 0) {
        if (c->dues.data[c->first].due <= value_at(c, e->now)) {
            find_next(e, clock);
        } else {
            touch(e, clock, c);
        }
    }
}

static inline ovl_time whole(const ovl_activity *a, double done)
{
    return OVL_MIN((ovl_time)(done + 0.5), a->total);
}

ovl_time ovl_clock_progress(const ovl_engine *e, const ovl_activity *a, ovl_time t)
{
    return whole(a, done_at(&e->clocks.data[a->clock], a, t));
}

double ovl_clock_rate_of(const ovl_engine *e, const ovl_activity *a)
{
    return a->clock < e->p->n_resources ? ovl_share_rate(&e->share, a->slot)
                                        : e->clocks.data[a->clock].rate;
}

/* --- What bounded whom --- */

static void keep_limit(ovl_engine *e, ovl_activity *a, ovl_limit limit)
{
    for (uint32_t i = 0; i < OVL_LIMITS_KEPT; i++) {
        ovl_limit *kept = &a->limits[i];
        if (kept->time == 0 || kept->bound == limit.bound) {
            limit.time += kept->time;
            limit.lost += kept->lost;
            *kept = limit;
            return;
        }
    }
    ovl_vec_push(&e->limits, limit);
}

/* Time under the present bound up to now, and what of it was not work. */
static void settle(ovl_engine *e, const ovl_clock *c, ovl_activity *a)
{
    if (c->bound != OVL_BOUND_FREE && e->now > a->bound_since) {
        uint32_t bound = c->bound == OVL_BOUND_CAP ? a->cap_bound : c->bound;
        ovl_time time = e->now - a->bound_since, done = whole(a, done_at(c, a, e->now));
        keep_limit(e, a, (ovl_limit){a->op, bound, time, time - (done - a->bound_done)});
        a->bound_done = done;
    } else if (e->now > a->bound_since) {
        a->bound_done = whole(a, done_at(c, a, e->now));
    }
    a->bound_since = e->now;
}

void ovl_clock_settle(ovl_engine *e, ovl_activity *a)
{
    if (a->clock != OVL_NONE) {
        settle(e, &e->clocks.data[a->clock], a);
    }
}

void ovl_clock_keep_limits(ovl_engine *e, ovl_activity *a)
{
    for (uint32_t i = 0; i < OVL_LIMITS_KEPT && a->limits[i].time; i++) {
        ovl_vec_push(&e->limits, a->limits[i]);
        a->limits[i].time = a->limits[i].lost = 0;
    }
}

void ovl_clock_set_bound(ovl_engine *e, uint32_t clock, uint32_t bound)
{
    ovl_clock *c = &e->clocks.data[clock];
    if (c->bound == bound) {
        return;
    }
    for (uint32_t i = c->first; i < c->dues.len; i++) {
        settle(e, c, &e->activities.data[c->dues.data[i].activity]);
    }
    c->bound = bound;
}

/* --- Joining and leaving --- */

static void keep_segment(ovl_engine *e, const ovl_clock *c, const ovl_activity *a)
{
    ovl_time from = OVL_MAX(a->since, c->since);
    if (e->now > from) {
        double rate = ovl_exact_rate(OVL_MIN(c->rate * a->scale, a->cap));
        ovl_vec_push(&e->segments, (ovl_segment){a->op, from, e->now, rate});
    }
}

static ovl_clock *clock_at(ovl_engine *e, uint32_t clock)
{
    while (e->clocks.len <= clock) {
        uint32_t bound = e->clocks.len < e->p->n_resources ? e->clocks.len : OVL_BOUND_FREE;
        ovl_vec_push(&e->clocks, (ovl_clock){.bound = bound, .members = OVL_NONE});
    }
    return &e->clocks.data[clock];
}

/* The members of a class, in a list. */
void ovl_clock_enlist(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    ovl_clock *c = clock_at(e, OVL_CLOCK_OF_SLOT(e, a->slot));
    a->next = c->members;
    a->prev = OVL_NONE;
    if (c->members != OVL_NONE) {
        e->activities.data[c->members].prev = activity;
    }
    c->members = activity;
}

void ovl_clock_delist(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    if (a->next != OVL_NONE) {
        e->activities.data[a->next].prev = a->prev;
    }
    if (a->prev != OVL_NONE) {
        e->activities.data[a->prev].next = a->next;
    } else {
        e->clocks.data[OVL_CLOCK_OF_SLOT(e, a->slot)].members = a->next;
    }
}

/* A clock that measures nobody starts from 0. */
static void reset(ovl_engine *e, ovl_clock *c)
{
    c->value = 0;
    c->since = e->now;
    c->first = c->dues.len = 0;
}

/* In order of the ends, later ones first among equals. */
static void insert_due(ovl_clock *c, ovl_due due)
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
}

void ovl_clock_add(ovl_engine *e, uint32_t clock, uint32_t activity, double scale)
{
    ovl_clock *c = clock_at(e, clock);
    ovl_activity *a = &e->activities.data[activity];
    if (is_empty(c)) {
        reset(e, c);
    }
    a->clock = clock;
    a->scale = scale;
    a->since = a->bound_since = e->now;
    a->bound_done = whole(a, a->done);
    a->begin = value_at(c, e->now) - a->done / scale;
    insert_due(c, (ovl_due){a->begin + ((double)a->total - noise(a)) / scale, activity, a->op});
    touch(e, clock, c);
}

static void take_due(ovl_clock *c, uint32_t activity)
{
    uint32_t at = c->first;
    while (c->dues.data[at].activity != activity) {
        at++;
    }
    for (; at > c->first; at--) {
        c->dues.data[at] = c->dues.data[at - 1];
    }
    c->first++;
}

void ovl_clock_remove(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    uint32_t clock = a->clock;
    ovl_clock *c = &e->clocks.data[clock];
    a->done = done_at(c, a, e->now);
    settle(e, c, a);
    if (e->options->segments) {
        keep_segment(e, c, a);
    }
    take_due(c, activity);
    a->clock = OVL_NONE;
    if (is_empty(c) || (c->queued && c->key_time == e->now && c->key_op == a->op)) {
        after_end(e, clock);
    } else if (c->rate > 0) {
        touch(e, clock, c);
    }
}

/* Turned back before its last places get lost: by a multiple of the last place of every end, so
 * that nothing is rounded. */
static void turn_back(ovl_engine *e, ovl_clock *c)
{
    double coarse = c->value * 0x1p32, back = (c->value + coarse) - coarse;
    c->value -= back;
    for (uint32_t i = c->first; i < c->dues.len; i++) {
        c->dues.data[i].due -= back;
        e->activities.data[c->dues.data[i].activity].begin -= back;
    }
}

void ovl_clock_set_rate(ovl_engine *e, uint32_t clock, double rate)
{
    ovl_clock *c = clock_at(e, clock);
    if (c->rate == rate) {
        return;
    }
    if (is_empty(c)) {
        reset(e, c);
        c->rate = rate;
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
    if (c->dues.len - c->first > 1 &&
        c->value > 4 * (c->dues.data[c->dues.len - 1].due - c->value)) {
        turn_back(e, c);
    }
    touch(e, clock, c);
}
