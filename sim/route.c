/*
 * route.c - which resources an activity loads, and so which class of the sharing solver it joins.
 *
 * A cost demands of ports, and each rank maps its ports to resources. Activities with the same
 * demands between the same ranks, or in the same communicator, load the same: such a route is
 * looked up once and remembered together with its class.
 */
#include "sim/state.h"

/* --- Uses --- */

/* Members that share a resource load it once together or each on top of the others; either way the
 * activity has one use of it. */
static void add_use(ovl_engine *e, ovl_id resource, const ovl_demand *d)
{
    uint32_t at = e->use_at[resource];
    if (at < e->uses.len && e->uses.data[at].resource == resource) {
        e->uses.data[at].rate += d->once ? 0 : d->rate;
        return;
    }
    e->use_at[resource] = e->uses.len;
    ovl_vec_push(&e->uses, (ovl_use){resource, d->rate});
}

/* A port without a resource is hardware that is not modelled. */
static void add_uses(ovl_engine *e, uint32_t rank, const ovl_activity *a, uint32_t first,
                     uint32_t n)
{
    const ovl_id *ports = &e->p->rank_ports[e->p->ranks[rank].first_port];
    for (uint32_t i = first; i < first + n; i++) {
        const ovl_demand *d = &e->p->demands[i];
        bool measured = d->port == OVL_PORT_HBM && a->comm && ovl_caps_measured(e, rank, a);
        if (ports[d->port] != OVL_NONE && !measured) {
            add_use(e, ports[d->port], d);
        }
    }
}

static void add_member_uses(ovl_engine *e, uint32_t rank, uint32_t op, uint32_t activity)
{
    (void)op;
    const ovl_activity *a = &e->activities.data[activity];
    add_uses(e, rank, a, a->cost->first_demand, a->cost->n_demands);
}

void ovl_route_uses(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    e->uses.len = 0;
    if (a->comm) {
        ovl_comm_each(e, activity, add_member_uses);
        return;
    }
    add_uses(e, a->rank, a, a->cost->first_demand, a->cost->n_demands);
    if (a->cost->n_peer) {
        add_uses(e, a->peer, a, a->cost->first_peer, a->cost->n_peer);
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
    return is_sharing(e)
               ? ovl_share_join(&e->share, a->cap, a->cost->weight, e->uses.data, e->uses.len)
               : OVL_NONE;
}

static ovl_route route_of(const ovl_engine *e, const ovl_activity *a)
{
    const ovl_cost *c = a->cost;
    ovl_route route = {.rank = a->rank,
                       .other = a->peer,
                       .demands = {c->first_demand, c->n_demands},
                       .of_peer = {c->first_peer, c->n_peer},
                       .weight = c->weight};
    if (a->comm) {
        route.rank = (uint32_t)(a->comm - e->p->comms);
        route.other = OVL_NONE;
    } else if (c->n_peer == 0) {
        route.other = a->rank;
    }
    return route;
}

static bool same_route(const ovl_route *a, const ovl_route *b)
{
    return a->rank == b->rank && a->other == b->other && a->demands.first == b->demands.first &&
           a->demands.n == b->demands.n && a->of_peer.first == b->of_peer.first &&
           a->of_peer.n == b->of_peer.n && a->weight == b->weight;
}

#define ROUTES_KEPT 4 /* for each rank, a power of two */

static ovl_route *place_of(ovl_engine *e, const ovl_route *route)
{
    uint32_t hash = (route->other - route->rank) * UINT32_C(0x9E3779B1) +
                    route->demands.first * UINT32_C(0x85EBCA77);
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

/* Under `measured` what a collective loads depends on what runs beside it. */
static bool is_fixed(const ovl_engine *e, const ovl_activity *a)
{
    return a->cap == 1 && (!a->comm || e->options->interference == OVL_INTERFERENCE_SHARED);
}

uint32_t ovl_route_join(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    if (a->cost->n_demands + a->cost->n_peer == 0 ||
        e->options->interference == OVL_INTERFERENCE_NONE) {
        return OVL_NONE;
    }
    ovl_route route = route_of(e, a), *known = place_of(e, &route);
    bool fixed = is_fixed(e, a);
    if (fixed && is_known(e, known, &route)) {
        ovl_share_join_again(&e->share, known->slot);
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
