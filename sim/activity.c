/*
 * activity.c - what takes time: how it begins, shares speed, and ends.
 */
#include "sim/state.h"

/* --- Sharing speed --- */

static void set_own_rate(ovl_engine *e, uint32_t clock, double cap)
{
    ovl_clock_set_rate(e, clock, ovl_exact_rate(cap));
    ovl_clock_set_bound(e, clock, cap < 1 ? OVL_BOUND_CAP : OVL_BOUND_FREE);
}

/* Who shares nothing runs by time itself as long as it has no cap, and then has a clock of its own.
 */
static void run_alone(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    if (a->cap == 1) {
        a->slot = OVL_NONE;
        ovl_clock_add_to_time(e, activity);
        return;
    }
    a->slot = ovl_share_reserve(&e->share);
    ovl_clock_reserve(e, a->slot);
    set_own_rate(e, a->slot, a->cap);
    ovl_clock_add(e, a->slot, activity);
}

static void set_cap_alone(ovl_engine *e, uint32_t activity, double cap)
{
    ovl_activity *a = &e->activities.data[activity];
    if (a->cap == cap) {
        return;
    }
    a->cap = cap;
    if (a->slot == OVL_NONE) {
        ovl_account_activity(e, activity);
        ovl_clock_remove(e, activity);
        run_alone(e, activity);
    } else {
        set_own_rate(e, a->slot, cap);
    }
}

/* Who shares is put on its clock when rates are solved: which one that is depends on what bounds
 * it then. */
static void await_clock(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    if (!a->joining) {
        a->joining = true;
        ovl_vec_push(&e->joining, activity);
    }
}

static void join(ovl_engine *e, uint32_t activity, uint32_t slot)
{
    ovl_activity *a = &e->activities.data[activity];
    a->shares = slot != OVL_NONE;
    if (a->shares) {
        a->slot = slot;
        ovl_crew_enlist(e, activity);
        await_clock(e, activity);
    } else {
        a->joining = false; /* at this instant it may have shared yet */
        run_alone(e, activity);
    }
}

void ovl_engine_join(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    const ovl_cost_kind *kind = ovl_activity_kind(e, a);
    bool demands =
        kind->n_demands + kind->n_peer > 0 && e->options->interference != OVL_INTERFERENCE_NONE;
    a->begin = -ovl_work_allowance(a->total);
    join(e, activity, demands ? ovl_route_join(e, activity) : OVL_NONE);
}

static void leave(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    if (a->shares) {
        ovl_crew_delist(e, activity);
        ovl_share_leave(&e->share, a->slot, a->count);
    } else if (a->slot != OVL_NONE) {
        ovl_share_release(&e->share, a->slot);
    }
}

void ovl_engine_rejoin(ovl_engine *e, uint32_t activity)
{
    ovl_account_activity(e, activity);
    if (e->activities.data[activity].clock != OVL_NONE) {
        ovl_clock_remove(e, activity);
    }
    leave(e, activity);
    join(e, activity, ovl_route_join_uses(e, activity));
}

void ovl_engine_set_cap(ovl_engine *e, uint32_t activity, double cap, uint32_t bound)
{
    ovl_activity *a = &e->activities.data[activity];
    if (a->cap_bound != bound) {
        ovl_clock_settle(e, a);
        a->cap_bound = bound;
    }
    if (!a->shares) {
        set_cap_alone(e, activity, cap);
        return;
    }
    uint32_t slot = ovl_share_set_cap(&e->share, a->slot, cap, a->count);
    if (slot != a->slot) {
        ovl_account_activity(e, activity);
        if (a->clock != OVL_NONE) {
            ovl_clock_remove(e, activity);
        }
        ovl_crew_delist(e, activity);
        a->slot = slot;
        ovl_crew_enlist(e, activity);
        await_clock(e, activity);
    }
    a->cap = cap;
}

void ovl_engine_solve(ovl_engine *e)
{
    if (e->caps_matter) {
        ovl_caps_update(e);
    }
    if (ovl_share_waits(&e->share)) {
        ovl_share_solve(&e->share);
        ovl_crews_follow(e);
    }
    if (e->touched_clocks.len) {
        ovl_clocks_update(e);
    }
    if (e->touched.len) {
        ovl_account_open(e);
    }
}

/* --- Activities --- */

/* In its latency: on no clock, of no class, held back by nothing. */
static inline void await_fluid(ovl_activity *a)
{
    a->phase = OVL_PHASE_LATENCY;
    a->clock = OVL_NONE;
    a->shares = a->joining = false;
    a->cap = 1;
    a->cap_bound = OVL_LIMIT_SMS;
}

static inline void enter_phase(ovl_activity *a, const ovl_cost *cost)
{
    a->cost = cost;
    a->cost_kind = cost->kind;
    a->goes_on = cost->then != 0;
    a->total = cost->work;
}

uint32_t ovl_engine_add_activity(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_op *o,
                                 const ovl_cost *cost)
{
    if (e->spare.len == 0) {
        ovl_vec_push(&e->spare, e->activities.len);
        ovl_vec_push(&e->activities, (ovl_activity){0});
        ovl_vec_push(&e->bounds, (ovl_bounds){.since = 0});
    }
    uint32_t activity = e->spare.data[--e->spare.len];
    ovl_activity *a = &e->activities.data[activity];
    e->n_activities++;
    enter_phase(a, cost);
    a->comm = NULL;
    a->op = op;
    a->rank = rank;
    a->count = e->p->fold ? e->p->fold->together[op] : 1;
    a->kind = o->kind;
    a->passed = 0;
    a->dirty = a->eager = a->queued = a->background = false;
    await_fluid(a);
    return activity;
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

static inline void start_fluid(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    if (a->kind != OVL_KERNEL && a->kind != OVL_COPY) {
        ovl_comm_transfer(e, activity);
    }
    a->phase = OVL_PHASE_FLUID;
    ovl_engine_join(e, activity);
}

static inline void schedule_latency(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    ovl_engine_schedule(e, OVL_HANDLE_ACTIVITY(e, activity), a->cost->latency, OVL_EVENT_END,
                        a->op);
}

/* A phase of a collective is over: enters the next one that takes time, as if an operation ended
 * and another arrived on all members at once. False if none does. */
static bool go_on(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    const ovl_cost *next = a->cost;
    do {
        next = ovl_next_phase(e->p, next);
        a->passed++;
        if (!e->options->step_only) {
            ovl_vec_push(&e->phase_ends, (ovl_phase_end){a->op, e->now});
        }
    } while (next->latency + next->work == 0 && next->then);
    if (next->latency + next->work == 0) {
        return false;
    }
    if (a->phase == OVL_PHASE_FLUID) {
        ovl_comm_pause(e, activity);
        ovl_clock_end(e, activity);
        leave(e, activity);
        await_fluid(a);
    }
    enter_phase(a, next);
    if (next->latency) {
        schedule_latency(e, activity);
    } else {
        start_fluid(e, activity);
    }
    return true;
}

/* An activity is over: whoever was in it ends. */
static void finish(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    if (a->kind == OVL_KERNEL) {
        ovl_account_end(e, a->rank, activity);
        remove_kernel(e, a->rank, activity);
        ovl_engine_complete(e, a->rank, a->op);
    } else if (a->kind == OVL_COPY) {
        ovl_account(e, a->rank);
        e->ranks[a->rank].copying[ovl_activity_kind(e, a)->engine]--;
        ovl_copies_touch(e, a->rank);
        ovl_engine_complete(e, a->rank, a->op);
    } else if (a->kind == OVL_MARKER) {
        ovl_engine_complete(e, a->rank, a->op);
    } else if (a->goes_on && go_on(e, activity)) {
        return;
    } else {
        ovl_comm_end(e, activity);
    }
    if (a->phase == OVL_PHASE_FLUID) {
        ovl_clock_end(e, activity);
        leave(e, activity);
    }
    ovl_vec_push(&e->spare, activity);
}

static void enter_fluid(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    if (a->total == 0) {
        finish(e, activity);
    } else {
        start_fluid(e, activity);
    }
}

void ovl_engine_begin(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    if (a->cost->latency == 0) {
        enter_fluid(e, activity);
    } else {
        schedule_latency(e, activity);
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

void ovl_clock_due(ovl_engine *e, uint32_t clock)
{
    uint32_t activity = ovl_clock_event(e, clock);
    if (activity != OVL_NONE) {
        e->n_events++;
        finish(e, activity);
    }
}
