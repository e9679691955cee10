/*
 * route.c - which resources an activity loads, and so which class of the sharing solver it joins.
 *
 * A cost demands of ports, and each rank maps its ports to resources. Activities with the same
 * demands between the same ranks, or in the same communicator, load the same: such a route is
 * looked up once and remembered together with its class.
 */
#include "sim/state.h"

/* --- Uses --- */

/* What a demand asks of the resource of its port. Where ranks are folded: the demands of all
 * activities that load it, divided among the `count` that the solver knows of. `member`: of which
 * member of a collective, as an index into the program's; else OVL_NONE. */
static ovl_use use_of(const ovl_program *p, uint32_t rank, uint32_t member, uint32_t count,
                      const ovl_demand *demand)
{
    ovl_id resource = p->rank_ports[p->ranks[rank].first_port + demand->port];
    if (!p->fold) {
        return (ovl_use){.resource = resource, .classes = 1, .spread = 1, .rate = demand->rate};
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
    return (ovl_use){.resource = resource,
                     .classes = (uint32_t)(activities / count),
                     .spread = spread,
                     .rate = demand->rate * load / count};
}

/* Members that share a resource load it once together or each on top of the others; either way the
 * activity has one use of it. `other`: folded, this one is a transfer with other members that loads
 * it as well. */
static void add_use(ovl_engine *e, const ovl_use *use, bool once, bool other)
{
    uint32_t at = e->use_at[use->resource];
    if (at < e->uses.len && e->uses.data[at].resource == use->resource) {
        e->uses.data[at].rate += once ? 0 : use->rate;
        e->uses.data[at].classes += other ? use->classes : 0;
        e->uses.data[at].spread += other ? use->spread : 0;
        return;
    }
    e->use_at[use->resource] = e->uses.len;
    ovl_vec_push(&e->uses, *use);
}

/* Communication that kernels beside it can be measured with; of an eager send one side is there. */
static bool has_factors(const ovl_activity *a)
{
    return a->comm || (a->kind == OVL_SEND && !a->eager);
}

/* A port without a resource is hardware that is not modelled. */
static void add_uses(ovl_engine *e, uint32_t rank, uint32_t member, const ovl_activity *a,
                     ovl_demand_list demands)
{
    const ovl_id *ports = &e->p->rank_ports[e->p->ranks[rank].first_port];
    for (uint32_t i = demands.first; i < demands.first + demands.n; i++) {
        const ovl_demand *d = &e->p->demands[i];
        bool measured = d->port == OVL_PORT_HBM && has_factors(a) && ovl_caps_measured(e, rank, a);
        if (ports[d->port] != OVL_NONE && !measured) {
            ovl_use use = use_of(e->p, rank, member, a->count, d);
            add_use(e, &use, d->once, e->p->fold && !a->comm);
        }
    }
}

/* A collective whose members demand each its own: they lie unevenly, or have not the same bytes. */
static bool is_by_member(const ovl_engine *e, const ovl_activity *a)
{
    return a->comm && ovl_activity_kind(e, a)->by_member;
}

/* What a member demands in a phase. */
static const ovl_cost_kind *kind_of_member(const ovl_engine *e, uint32_t rank, uint32_t op,
                                           uint32_t phase)
{
    const ovl_cost *cost = ovl_engine_cost(e, rank, op, ovl_engine_op(e, rank, op));
    return ovl_kind_of(e->p, ovl_phase_of(e->p, cost, phase));
}

void ovl_route_uses(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    const ovl_cost_kind *kind = ovl_activity_kind(e, a);
    ovl_demand_list own = {kind->first_demand, kind->n_demands};
    ovl_demand_list of_peer = {kind->first_peer, kind->n_peer};
    const ovl_comm *comm = a->comm;
    e->uses.len = 0;
    if (!comm) {
        add_uses(e, a->rank, OVL_NONE, a, own);
        if (of_peer.n) {
            add_uses(e, a->peer, OVL_NONE, a, of_peer);
        }
        return;
    }
    bool by_member = is_by_member(e, a);
    for (uint32_t place = 0; place < comm->n_members; place++) {
        uint32_t rank = e->p->members[comm->first_member + place];
        if (by_member) {
            kind = kind_of_member(e, rank, ovl_collective_op(e->p, comm, place, a->k), a->passed);
            own = (ovl_demand_list){kind->first_demand, kind->n_demands};
        }
        add_uses(e, rank, comm->first_member + place, a, own);
    }
}

/* --- Routes --- */

static bool is_sharing(const ovl_engine *e)
{
    return e->uses.len > 0 && e->options->interference != OVL_INTERFERENCE_NONE;
}

uint32_t ovl_route_join_uses(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    return is_sharing(e) ? ovl_share_join(&e->share, a->cap, ovl_activity_kind(e, a)->weight,
                                          e->uses.data, e->uses.len, a->count)
                         : OVL_NONE;
}

static ovl_route route_of(const ovl_engine *e, const ovl_activity *a)
{
    ovl_route route = {.rank = a->rank, .other = a->peer, .count = a->count, .kind = a->cost_kind};
    if (a->comm) {
        route.rank = (uint32_t)(a->comm - e->p->comms);
        route.other = OVL_NONE;
    } else if (ovl_activity_kind(e, a)->n_peer == 0) {
        route.other = a->rank;
    }
    return route;
}

static bool same_route(const ovl_route *a, const ovl_route *b)
{
    return a->rank == b->rank && a->other == b->other && a->count == b->count && a->kind == b->kind;
}

#define ROUTES_KEPT 4 /* for each rank, a power of two */

static ovl_route *place_of(ovl_engine *e, const ovl_route *route)
{
    uint32_t hash =
        (route->other - route->rank) * UINT32_C(0x9E3779B1) + route->kind * UINT32_C(0x85EBCA77);
    return &e->routes[(route->rank * ROUTES_KEPT + hash / (UINT32_MAX / ROUTES_KEPT + 1)) &
                      e->route_mask];
}

static bool is_known(const ovl_engine *e, const ovl_route *known, const ovl_route *route)
{
    if (known->slot >= e->share.classes.len || !same_route(known, route)) {
        return false;
    }
    const ovl_share_class *c = &e->share.classes.data[known->slot];
    return c->known && c->born == known->born;
}

/* Under `measured` what communication loads depends on what runs beside it; the first member's
 * demands do not tell those of the others where each has its own. */
static bool is_fixed(const ovl_engine *e, const ovl_activity *a)
{
    return a->cap == 1 && !is_by_member(e, a) &&
           (!has_factors(a) || e->options->interference == OVL_INTERFERENCE_SHARED);
}

uint32_t ovl_route_join(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    ovl_route route = route_of(e, a), *known = place_of(e, &route);
    bool fixed = is_fixed(e, a);
    if (fixed && is_known(e, known, &route)) {
        ovl_share_join_again(&e->share, known->slot, a->count);
        return known->slot;
    }
    ovl_route_uses(e, activity);
    route.slot = ovl_route_join_uses(e, activity);
    if (fixed && route.slot != OVL_NONE) {
        route.born = e->share.classes.data[route.slot].born;
        *known = route;
    }
    return route.slot;
}

void ovl_routes_init(ovl_engine *e, ovl_arena *scratch)
{
    uint32_t size = 64;
    while (size < ROUTES_KEPT * (uint64_t)e->p->n_ranks && size < (UINT32_C(1) << 20)) {
        size *= 2;
    }
    e->routes = OVL_NEW_ARRAY(scratch, ovl_route, size);
    e->route_mask = size - 1;
    for (uint32_t i = 0; i < size; i++) {
        e->routes[i].slot = OVL_NONE;
    }
}
