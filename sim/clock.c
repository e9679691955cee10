/*
 * clock.c - clocks that measure work: when the next activity on them ends, what bounded whom.
 */
#include "sim/state.h"

/* --- When the next activity ends --- */

static inline bool is_empty(const ovl_clock *c)
{
    return c->first_due == OVL_NO_DUE;
}

/* An end is at the next whole picosecond. */
static ovl_time end_of(const ovl_clock *c, const ovl_due *due)
{
    if (due->due <= c->value) {
        return c->since;
    }
    ovl_work left = due->due - c->value;
    if (left >> 62 >= c->rate) {
        return OVL_NEVER;
    }
    ovl_time whole = c->rate == UINT64_C(1) << OVL_WORK_SHIFT
                         ? (ovl_time)((left + c->rate - 1) >> OVL_WORK_SHIFT)
                         : (ovl_time)((left + c->rate - 1) / c->rate);
    return whole <= OVL_TIME_MAX - c->since ? c->since + whole : OVL_NEVER;
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
    c->end = OVL_MAX(end_of(c, &dues[c->first]), e->now);
    if (c->end == OVL_NEVER) {
        ovl_engine_fail(e, OVL_E_INPUT, dues[c->first].op,
                        "it would end later than time can count (53 days)");
        return;
    }
    if (c->dues.len - c->first > 1) {
        ovl_work reached = ovl_clock_value(c, c->end);
        for (uint32_t i = c->first + 1; i < c->dues.len && dues[i].due <= reached; i++) {
            c->next = dues[i].op < dues[c->next].op ? i : c->next;
        }
    }
    queue(e, clock, c);
}

/* The next end may be another. Mostly it is later than the event that is queued and need not be
 * known before that one comes. */
static inline bool stays_late(ovl_clock *c)
{
    if (c->queued && ovl_clock_value(c, c->key_time) < c->first_due) {
        c->late = true;
        return true;
    }
    return false;
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
        if (!is_empty(c) && c->rate > 0 && !stays_late(c)) {
            find_next(e, clock);
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
        if (c->first_due <= ovl_clock_value(c, e->now)) {
            find_next(e, clock);
        } else {
            touch(e, clock, c);
        }
    }
}

/* --- What bounded whom --- */

/* With those of the same bound, if there are any. The last one of an activity goes to the timeline
 * at once, as mostly it is the only one. */
static inline void keep_limit(ovl_engine *e, ovl_activity *a, ovl_limit limit, bool last)
{
    ovl_limit *kept = e->bounds.data[a - e->activities.data].kept;
    for (uint32_t i = 0; i < a->n_kept; i++) {
        if (kept[i].bound == limit.bound) {
            kept[i].time += limit.time;
            kept[i].lost += limit.lost;
            return;
        }
    }
    if (a->n_kept < OVL_LIMITS_KEPT && !last) {
        kept[a->n_kept++] = limit;
    } else {
        ovl_vec_push(&e->limits, limit);
    }
}

/* Time under the present bound up to now, and what of it was not work. `last`: it ends, so all of
 * its work is done. */
static inline void settle(ovl_engine *e, const ovl_clock *c, ovl_activity *a, bool last)
{
    if (e->options->step_only) {
        return;
    }
    if (c->bound != OVL_BOUND_FREE && e->now > a->bound_since) {
        uint32_t bound = c->bound == OVL_BOUND_CAP ? a->cap_bound : c->bound;
        ovl_time time = e->now - a->bound_since,
                 done = last ? a->total : ovl_work_done(a, ovl_clock_value(c, e->now));
        keep_limit(e, a, (ovl_limit){a->op, bound, time, time - (done - a->bound_done)}, last);
        a->bound_done = done;
    } else if (e->now > a->bound_since) {
        a->bound_done = ovl_work_done(a, ovl_clock_value(c, e->now));
    }
    a->bound_since = e->now;
}

void ovl_clock_settle(ovl_engine *e, ovl_activity *a)
{
    if (a->clock != OVL_NONE) {
        settle(e, &e->clocks.data[a->clock], a, false);
    }
}

/* It is over: what bounded it goes to the timeline. */
static void hand_over_limits(ovl_engine *e, ovl_activity *a)
{
    const ovl_limit *kept = e->bounds.data[a - e->activities.data].kept;
    for (uint32_t i = 0; i < a->n_kept; i++) {
        ovl_vec_push(&e->limits, kept[i]);
    }
    a->n_kept = 0;
}

void ovl_clock_set_bound(ovl_engine *e, uint32_t clock, uint32_t bound)
{
    ovl_clock *c = &e->clocks.data[clock];
    if (c->bound == bound) {
        return;
    }
    for (uint32_t i = c->first; i < c->dues.len; i++) {
        settle(e, c, &e->activities.data[c->dues.data[i].activity], false);
    }
    c->bound = bound;
}

/* --- Joining and leaving --- */

static void keep_segment(ovl_engine *e, const ovl_clock *c, const ovl_activity *a)
{
    ovl_time from = OVL_MAX(e->bounds.data[a - e->activities.data].since, c->since);
    if (e->now > from) {
        ovl_vec_push(&e->segments, (ovl_segment){a->op, from, e->now, (double)c->rate * 0x1p-63});
    }
}

void ovl_clocks_init(ovl_engine *e)
{
    uint32_t time = ovl_share_reserve(&e->share);
    assert(time == OVL_CLOCK_TIME);
    ovl_clock_reserve(e, time);
    e->clocks.data[time].rate = UINT64_C(1) << OVL_WORK_SHIFT;
}

void ovl_clock_make(ovl_engine *e, uint32_t slot)
{
    while (e->clocks.len <= slot) {
        ovl_crew crew = {.first = OVL_NONE, .clock = e->clocks.len, .follows = OVL_NONE};
        ovl_vec_push(&e->crews, crew);
        ovl_vec_push(&e->clocks, (ovl_clock){.first_due = OVL_NO_DUE, .bound = OVL_BOUND_FREE});
    }
}

/* In order of the ends, later ones first among equals. What left at the front is taken back when it
 * is more than what stays, so that each is moved once for that on average. */
static void insert_due(ovl_clock *c, ovl_due due)
{
    if (c->dues.len == c->dues.cap && c->first > c->dues.len / 2) {
        c->dues.len -= c->first;
        memmove(c->dues.data, c->dues.data + c->first, c->dues.len * sizeof due);
        c->first = 0;
    }
    ovl_vec_push(&c->dues, due);
    ovl_due *dues = c->dues.data;
    uint32_t at = c->dues.len - 1, first = c->first;
    for (; at > first && dues[at - 1].due > due.due; at--) {
        dues[at] = dues[at - 1];
    }
    dues[at] = due;
    if (at == first) {
        c->first_due = due.due;
    }
}

/* It is measured by a clock that shows `value`; gives what that shows when it ends. */
static inline ovl_work begin_at(ovl_engine *e, ovl_activity *a, uint32_t clock, ovl_work value)
{
    a->clock = clock;
    a->bound_since = e->now;
    if (e->options->segments) {
        e->bounds.data[a - e->activities.data].since = e->now;
    }
    a->bound_done = ovl_work_done(a, 0);
    a->begin += value;
    return a->begin + ((ovl_work)a->total << OVL_WORK_SHIFT);
}

void ovl_clock_add_to_time(ovl_engine *e, uint32_t activity)
{
    const ovl_work whole = (ovl_work)1 << OVL_WORK_SHIFT;
    ovl_activity *a = &e->activities.data[activity];
    ovl_work due = begin_at(e, a, OVL_CLOCK_TIME, (ovl_work)e->now << OVL_WORK_SHIFT);
    ovl_time end = (ovl_time)((due + whole - 1) >> OVL_WORK_SHIFT);
    ovl_engine_at(e, OVL_HANDLE_ACTIVITY(e, activity), end, a->op);
}

void ovl_clock_add(ovl_engine *e, uint32_t clock, uint32_t activity)
{
    ovl_clock *c = &e->clocks.data[clock];
    ovl_activity *a = &e->activities.data[activity];
    ovl_work due = begin_at(e, a, clock, ovl_clock_value(c, e->now));
    insert_due(c, (ovl_due){.due = due, .activity = activity, .op = a->op});
    touch(e, clock, c);
}

static void take_due(ovl_clock *c, uint32_t activity)
{
    ovl_due *dues = c->dues.data;
    uint32_t at = c->first;
    while (dues[at].activity != activity) {
        at++;
    }
    for (; at > c->first; at--) {
        dues[at] = dues[at - 1];
    }
    if (++c->first < c->dues.len) {
        c->first_due = dues[c->first].due;
    } else {
        c->first = c->dues.len = 0;
        c->first_due = OVL_NO_DUE;
    }
}

/* What it did there is kept; the next to end may be another. `last`: it ends itself. */
static inline void take_off(ovl_engine *e, uint32_t activity, bool last)
{
    ovl_activity *a = &e->activities.data[activity];
    uint32_t clock = a->clock;
    ovl_clock *c = &e->clocks.data[clock];
    if (e->options->segments) {
        keep_segment(e, c, a);
    }
    if (c->bound != OVL_BOUND_FREE) {
        settle(e, c, a, last);
    }
    take_due(c, activity);
    if (is_empty(c) || (c->queued && c->key_time == e->now && c->key_op == a->op)) {
        after_end(e, clock);
    } else if (c->rate > 0) {
        touch(e, clock, c);
    }
}

/* Nothing bounds those on the clock that is time, and it has no queue. */
static void take_off_time(ovl_engine *e, const ovl_activity *a)
{
    if (e->options->segments) {
        keep_segment(e, &e->clocks.data[OVL_CLOCK_TIME], a);
    }
}

void ovl_clock_remove(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    if (a->clock == OVL_CLOCK_TIME) {
        take_off_time(e, a);
        ovl_heap_remove(&e->heap, OVL_HANDLE_ACTIVITY(e, activity));
    } else {
        take_off(e, activity, false);
    }
    a->begin -= ovl_clock_value(&e->clocks.data[a->clock], e->now);
    a->clock = OVL_NONE;
}

void ovl_clock_end(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    if (a->clock == OVL_CLOCK_TIME) {
        take_off_time(e, a);
    } else {
        take_off(e, activity, true);
    }
    if (a->n_kept) {
        hand_over_limits(e, a);
    }
}

static void keep_segments(ovl_engine *e, const ovl_clock *c)
{
    for (uint32_t i = c->first; i < c->dues.len; i++) {
        keep_segment(e, c, &e->activities.data[c->dues.data[i].activity]);
    }
}

void ovl_clock_set_rate(ovl_engine *e, uint32_t clock, double rate)
{
    ovl_clock *c = &e->clocks.data[clock];
    uint64_t units = ovl_rate_units(rate);
    if (c->rate == units) {
        return;
    }
    if (c->watched) {
        ovl_account_rate(e, clock, units > c->rate);
    }
    if (e->options->segments) {
        keep_segments(e, c);
    }
    c->value = ovl_clock_value(c, e->now);
    c->since = e->now;
    c->rate = units;
    if (!is_empty(c) && !stays_late(c)) {
        touch(e, clock, c);
    }
}
