/*
 * activity.c - what takes time: how it joins and leaves the sharing of speed, and when it will end.
 */
#include "sim/state.h"

#include <math.h>

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
    ovl_engine_schedule(e, e->p->n_ranks + activity, left, OVL_EVENT_END, a->op);
}

/* Adds to what the activity lost to a bound; a few bounds are kept in place, so that an activity
 * whose rate changes often still leaves few entries. */
static void add_limit(ovl_engine *e, ovl_activity *a, ovl_limit limit)
{
    for (uint32_t i = 0; i < a->n_limits; i++) {
        if (a->limits[i].bound == limit.bound) {
            a->limits[i].time += limit.time;
            a->limits[i].lost += limit.lost;
            return;
        }
    }
    if (a->n_limits < OVL_LIMITS_KEPT) {
        a->limits[a->n_limits++] = limit;
    } else {
        ovl_vec_push(&e->limits, limit);
    }
}

/* Closes the interval in which the activity had its present rate and bound. */
static void keep_limit(ovl_engine *e, ovl_activity *a)
{
    ovl_time time = e->now - a->bound_since;
    if (time > 0 && a->bound != OVL_BOUND_FREE) {
        ovl_time done = (ovl_time)llround(a->rate * (double)time);
        add_limit(e, a, (ovl_limit){a->op, a->bound, time, time - done});
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

void ovl_engine_solve(ovl_engine *e)
{
    ovl_caps_update(e);
    if (!ovl_share_solve(&e->share)) {
        return;
    }
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

/* --- Activities --- */

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

/* An activity is over: whoever was in it ends. */
static void finish(ovl_engine *e, uint32_t activity)
{
    ovl_heap_remove(&e->heap, e->p->n_ranks + activity);
    ovl_engine_leave(e, activity);
    ovl_activity *a = &e->activities.data[activity];
    account_activity(e, activity);
    keep_limit(e, a);
    for (uint32_t i = 0; i < a->n_limits; i++) {
        ovl_vec_push(&e->limits, a->limits[i]);
    }
    rebase(e, a);
    if (a->kind == OVL_KERNEL) {
        remove_kernel(e, a->rank, activity);
        ovl_engine_complete(e, a->rank, a->op);
    } else if (a->kind == OVL_COPY) {
        e->ranks[a->rank].copying[a->cost->engine]--;
        ovl_copies_touch(e, a->rank);
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
    } else {
        ovl_engine_schedule(e, e->p->n_ranks + activity, a->cost->latency, OVL_EVENT_END, a->op);
    }
}

void ovl_activity_event(ovl_engine *e, uint32_t activity)
{
    if (e->activities.data[activity].phase == OVL_PHASE_LATENCY) {
        enter_fluid(e, activity);
    } else {
        finish(e, activity);
    }
}
