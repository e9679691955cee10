/*
 * activity.c - what takes time: how it begins, shares speed, and ends.
 */
#include "sim/state.h"

/* --- Sharing speed --- */

static bool is_sharing(const ovl_engine *e)
{
    return e->uses.len > 0 && e->options->interference != OVL_INTERFERENCE_NONE;
}

static void set_own_rate(ovl_engine *e, const ovl_activity *a)
{
    ovl_clock_set_rate(e, a->clock, a->cap, a->cap < 1 ? OVL_BOUND_CAP : OVL_BOUND_FREE);
}

static void join(ovl_engine *e, uint32_t activity, double done)
{
    ovl_activity *a = &e->activities.data[activity];
    a->shares = is_sharing(e);
    if (a->shares) {
        ovl_clock_add(
            e,
            ovl_share_join(&e->share, a->cap, a->cost->weight, e->uses.data, e->uses.len, a->count),
            activity, done);
    } else {
        ovl_clock_add(e, ovl_share_reserve(&e->share), activity, done);
        set_own_rate(e, a);
    }
}

void ovl_engine_join(ovl_engine *e, uint32_t activity)
{
    join(e, activity, 0);
}

static double leave(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    double done = ovl_clock_remove(e, activity);
    if (a->shares) {
        ovl_share_leave(&e->share, a->clock, a->count);
    } else {
        ovl_share_release(&e->share, a->clock);
    }
    return done;
}

void ovl_engine_rejoin(ovl_engine *e, uint32_t activity)
{
    ovl_account_activity(e, activity);
    join(e, activity, leave(e, activity));
}

void ovl_engine_set_cap(ovl_engine *e, uint32_t activity, double cap, uint32_t bound)
{
    ovl_activity *a = &e->activities.data[activity];
    if (a->cap_bound != bound) {
        ovl_clock_keep_limits(e, activity);
        a->cap_bound = bound;
    }
    a->cap = cap;
    if (!a->shares) {
        set_own_rate(e, a);
        return;
    }
    uint32_t clock = ovl_share_set_cap(&e->share, a->clock, cap, a->count);
    if (clock != a->clock) {
        ovl_account_activity(e, activity);
        double done = ovl_clock_remove(e, activity);
        ovl_clock_add(e, clock, activity, done);
    }
}

void ovl_engine_solve(ovl_engine *e)
{
    ovl_caps_update(e);
    if (ovl_share_solve(&e->share)) {
        for (uint32_t i = 0; i < e->share.changed.len && !e->failed; i++) {
            uint32_t slot = e->share.changed.data[i];
            const ovl_share_class *c = &e->share.classes.data[slot];
            ovl_clock_set_rate(e, slot, c->rate,
                               c->bound == OVL_BOUND_NONE ? OVL_BOUND_FREE : c->bound);
        }
    }
    ovl_account_open(e);
}

/* --- Activities --- */

uint32_t ovl_engine_add_activity(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_cost *cost)
{
    if (e->spare.len == 0) {
        ovl_vec_push(&e->spare, e->activities.len);
        ovl_vec_push(&e->activities, (ovl_activity){0});
    }
    uint32_t activity = e->spare.data[--e->spare.len];
    ovl_activity *a = &e->activities.data[activity];
    a->cost = cost;
    a->comm = NULL;
    a->total = cost->work;
    a->op = op;
    a->rank = rank;
    a->count = e->p->fold ? e->p->fold->together[op] : 1;
    a->kind = ovl_engine_op(e, rank, op)->kind;
    a->phase = OVL_PHASE_LATENCY;
    a->shares = a->dirty = a->eager = a->background = false;
    a->cap = 1;
    a->cap_bound = OVL_LIMIT_SMS;
    return activity;
}

ovl_use ovl_engine_use(const ovl_engine *e, uint32_t rank, uint32_t member, uint32_t count,
                       const ovl_demand *demand)
{
    const ovl_program *p = e->p;
    ovl_id resource = p->rank_ports[p->ranks[rank].first_port + demand->port];
    if (!p->fold) {
        return (ovl_use){resource, 1, 1, demand->rate};
    }
    /* How many activities like this one load it: each of those that count together is one of a
     * class; through a port that is counted once each communicator is one activity. */
    const uint32_t *ranks = p->fold->rank_load, *members = p->fold->member_load;
    uint64_t load = ranks[(size_t)rank * p->n_ports + demand->port], activities = load;
    uint32_t spread = 1;
    if (member != OVL_NONE) {
        activities = members[(size_t)member * p->n_ports + demand->port];
        load = demand->once ? activities : load;
        spread = p->fold->member_spread[(size_t)member * p->n_ports + demand->port];
    }
    return (ovl_use){resource, (uint32_t)(activities / count), spread, demand->rate * load / count};
}

static void kernel_uses(ovl_engine *e, const ovl_activity *a)
{
    const ovl_id *ports = &e->p->rank_ports[e->p->ranks[a->rank].first_port];
    e->uses.len = 0;
    for (uint32_t i = 0; i < a->cost->n_demands; i++) {
        const ovl_demand *d = &e->p->demands[a->cost->first_demand + i];
        if (ports[d->port] != OVL_NONE) {
            ovl_vec_push(&e->uses, ovl_engine_use(e, a->rank, OVL_NONE, a->count, d));
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
    const ovl_activity *a = &e->activities.data[activity];
    if (a->kind == OVL_KERNEL) {
        ovl_account_end(e, a->rank, activity);
        remove_kernel(e, a->rank, activity);
        ovl_engine_complete(e, a->rank, a->op);
    } else if (a->kind == OVL_COPY) {
        ovl_account(e, a->rank);
        e->ranks[a->rank].copying[a->cost->engine]--;
        ovl_copies_touch(e, a->rank);
        ovl_engine_complete(e, a->rank, a->op);
    } else if (a->kind == OVL_MARKER) {
        ovl_engine_complete(e, a->rank, a->op);
    } else {
        ovl_comm_end(e, activity);
    }
    if (a->phase == OVL_PHASE_FLUID) {
        leave(e, activity);
    }
    ovl_vec_push(&e->spare, activity);
}

static void enter_fluid(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    if (a->total == 0) {
        finish(e, activity);
        return;
    }
    if (a->kind == OVL_KERNEL || a->kind == OVL_COPY) {
        kernel_uses(e, a);
    } else {
        ovl_comm_transfer(e, activity);
        ovl_comm_uses(e, activity);
    }
    a->phase = OVL_PHASE_FLUID;
    ovl_engine_join(e, activity);
}

void ovl_engine_begin(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    if (a->cost->latency == 0) {
        enter_fluid(e, activity);
    } else {
        ovl_engine_schedule(e, OVL_HANDLE_ACTIVITY(e, activity), a->cost->latency, OVL_EVENT_END,
                            a->op);
    }
}

void ovl_latency_event(ovl_engine *e, uint32_t activity)
{
    ovl_heap_remove(&e->heap, OVL_HANDLE_ACTIVITY(e, activity));
    enter_fluid(e, activity);
}

void ovl_clock_due(ovl_engine *e, uint32_t clock)
{
    uint32_t activity = ovl_clock_event(e, clock);
    if (activity != OVL_NONE) {
        e->n_events++;
        finish(e, activity);
    }
}
