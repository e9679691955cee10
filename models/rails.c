#include "models/rails.h"

#define MOST_UNITS (UINT64_C(1) << 20) /* products with a million members and nodes fit 64 bits */

ovl_rails ovl_rails_of(const ovl_lowering *l, const ovl_hw_link *link)
{
    uint32_t node = l->seats.node;
    uint32_t gpus = link->rail_gpus > 0 ? (uint32_t)link->rail_gpus : 1;
    uint32_t pod = link->pod > 0 ? (uint32_t)link->pod : l->n_ranks;
    return (ovl_rails){node, gpus, node / gpus, pod, l->seats.of};
}

static uint32_t seat_of(const ovl_rails *r, uint32_t rank)
{
    return r->seat_of ? r->seat_of[rank] : rank;
}

static uint32_t place_of(const ovl_rails *r, uint32_t seat)
{
    return seat % r->node / r->gpus;
}

uint32_t ovl_rail_node(const ovl_rails *rails, uint32_t rank)
{
    return seat_of(rails, rank) / rails->node;
}

uint32_t ovl_rail_of_seat(const ovl_rails *rails, uint32_t seat)
{
    return seat / rails->node / rails->pod * rails->places + place_of(rails, seat);
}

uint32_t ovl_rail_of(const ovl_rails *rails, uint32_t rank)
{
    return ovl_rail_of_seat(rails, seat_of(rails, rank));
}

uint32_t ovl_rail_cell(const ovl_rails *rails, uint32_t rank)
{
    uint32_t seat = seat_of(rails, rank);
    return seat / rails->node * rails->places + place_of(rails, seat);
}

uint32_t ovl_rail_seat(const ovl_rails *rails, uint32_t node, uint32_t place)
{
    return node * rails->node + place * rails->gpus;
}

/* --- Members --- */

/* By node, rail or cell; 0 between uses. */
struct ovl_rail_scratch {
    uint32_t *on_node, *on_rail, *in_cell, *node, *served;
    uint64_t *share, *pairs;
};

static struct ovl_rail_scratch *scratch_of(ovl_lowering *l)
{
    if (!l->rail_scratch) {
        struct ovl_rail_scratch *s = OVL_NEW(l->arena, struct ovl_rail_scratch);
        s->on_node = OVL_NEW_ARRAY(l->arena, uint32_t, l->seats.n);
        s->on_rail = OVL_NEW_ARRAY(l->arena, uint32_t, l->seats.n);
        s->in_cell = OVL_NEW_ARRAY(l->arena, uint32_t, l->seats.n);
        s->node = OVL_NEW_ARRAY(l->arena, uint32_t, l->seats.n);
        s->served = OVL_NEW_ARRAY(l->arena, uint32_t, l->seats.n);
        s->share = OVL_NEW_ARRAY(l->arena, uint64_t, l->seats.n);
        s->pairs = OVL_NEW_ARRAY(l->arena, uint64_t, l->seats.n);
        l->rail_scratch = s;
    }
    return l->rail_scratch;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The least number of units of which each node's members have whole ones; if that is too large
 * theirs are rounded. */
static uint64_t units_of(const ovl_rail_members *m)
{
    uint64_t unit = 1;
    for (uint32_t i = 0; i < m->n_nodes && unit <= MOST_UNITS; i++) {
        uint64_t a = unit, b = m->on_node[m->node[i]];
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        unit = unit / a * m->on_node[m->node[i]];
    }
    return OVL_MIN(unit, MOST_UNITS);
}

ovl_rail_members ovl_rail_count(ovl_lowering *l, const ovl_rails *rails, const uint32_t *ranks,
                                uint32_t n)
{
    const struct ovl_rail_scratch *s = scratch_of(l);
    ovl_rail_members m = {*rails, ranks, n, 0, s->node, 0, s->on_node, s->on_rail, s->in_cell};
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = ovl_rail_node(rails, ranks[i]);
        if (m.on_node[node]++ == 0) {
            sorted = sorted && (m.n_nodes == 0 || node > m.node[m.n_nodes - 1]);
            m.node[m.n_nodes++] = node;
        }
        m.on_rail[ovl_rail_of(rails, ranks[i])]++;
        m.in_cell[ovl_rail_cell(rails, ranks[i])]++;
    }
    if (!sorted) {
        qsort(m.node, m.n_nodes, sizeof *m.node, ascending);
    }
    m.unit = units_of(&m);
    return m;
}

void ovl_rail_forget(const ovl_rail_members *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        m->on_node[ovl_rail_node(&m->rails, m->rank[i])] = 0;
        m->on_rail[ovl_rail_of(&m->rails, m->rank[i])] = 0;
        m->in_cell[ovl_rail_cell(&m->rails, m->rank[i])] = 0;
    }
}

/* --- What leaves --- */

uint64_t ovl_rail_part(const ovl_rail_members *m, uint32_t node, uint32_t place)
{
    uint64_t here = m->in_cell[node * m->rails.places + place], all = m->on_node[node];
    return (here * m->unit + all / 2) / all;
}

uint64_t ovl_rail_leaves(const ovl_rail_members *m, uint32_t from, uint32_t to, uint32_t place)
{
    uint64_t has = ovl_rail_part(m, from, place);
    bool one_pod = from / m->rails.pod == to / m->rails.pod;
    uint64_t stays = one_pod && has ? ovl_rail_part(m, to, place) : 0;
    return has > stays ? has - stays : 0;
}

uint32_t ovl_rail_others(const ovl_rail_members *m, bool off_rails, uint32_t rank)
{
    uint32_t others = m->n - m->on_node[ovl_rail_node(&m->rails, rank)];
    return off_rails ? others - m->on_rail[ovl_rail_of(&m->rails, rank)] +
                           m->in_cell[ovl_rail_cell(&m->rails, rank)]
                     : others;
}

/* --- Ways --- */

/* Adds up what leaves each node, or on the way to the next each rail; of how many nodes any does.
 */
static uint32_t add_shares(const ovl_rail_members *m, const ovl_shape *s, uint64_t *share)
{
    uint32_t parts = 0;
    for (uint32_t i = 0; i < m->n_nodes; i++) {
        uint32_t node = m->node[i], next = m->node[(i + 1) % m->n_nodes];
        bool any = false;
        for (uint32_t place = 0; place < m->rails.places; place++) {
            uint64_t leaves = s->off_rails ? ovl_rail_leaves(m, node, next, place)
                                           : ovl_rail_part(m, node, place);
            if (leaves) {
                share[ovl_shape_instance_at(s, ovl_rail_seat(&m->rails, node, place))] += leaves;
                any = true;
            }
        }
        parts += any;
    }
    return parts;
}

void ovl_rail_ways(ovl_lowering *l, uint32_t link, const uint32_t *ranks, uint32_t n, ovl_way *ways)
{
    ovl_shape s = ovl_link_shape(l, &l->hw->links[link], ranks, n);
    struct ovl_rail_scratch *at = scratch_of(l);
    ovl_rail_members m = ovl_rail_count(l, &s.rails, ranks, n);
    uint32_t parts = m.n_nodes > 1 ? add_shares(&m, &s, at->share) : 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t here = ovl_shape_instance(&s, ranks[i]);
        at->served[here]++;
        at->pairs[here] += ovl_rail_others(&m, s.off_rails, ranks[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t here = ovl_shape_instance(&s, ranks[i]);
        const ovl_hw_link *has = &ovl_hw_of_rank(l, ranks[i])->links[link];
        bool crosses = parts > 1 || at->pairs[here] > 0;
        ways[(size_t)i * l->hw->n_links + link] =
            (ovl_way){.parts = parts,
                      .served = at->served[here],
                      .whole = true,
                      .share = at->share[here],
                      .of = m.unit,
                      .pairs = at->pairs[here],
                      .bandwidth = crosses ? has->bandwidth : 0,
                      .latency = crosses ? has->latency : 0};
    }
    for (uint32_t i = 0; i < n; i++) { /* zero for the next communicator */
        uint32_t here = ovl_shape_instance(&s, ranks[i]);
        at->served[here] = 0;
        at->share[here] = at->pairs[here] = 0;
    }
    ovl_rail_forget(&m);
}
