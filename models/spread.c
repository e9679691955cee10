#include "models/rails.h"
#include "models/wires.h"

/* --- Links --- */

static uint32_t block_of(const ovl_lowering *l, const ovl_hw_link *link)
{
    if (link->gpus > 0) {
        return (uint32_t)link->gpus;
    }
    switch ((ovl_scope)link->scope) {
    case OVL_SCOPE_GPU:
        return 1;
    case OVL_SCOPE_NODE:
        return l->seats.node;
    case OVL_SCOPE_CLUSTER:
    case OVL_SCOPE_RAIL:
        break;
    }
    return l->seats.n;
}

static uint32_t seat_of(const uint32_t *seats, uint32_t rank)
{
    return seats ? seats[rank] : rank;
}

/* Whether they are in several blocks of so many seats. */
static bool in_several(const ovl_lowering *l, const uint32_t *ranks, uint32_t n, uint32_t size)
{
    for (uint32_t i = 1; i < n; i++) {
        if (seat_of(l->seats.of, ranks[i]) / size != seat_of(l->seats.of, ranks[0]) / size) {
            return true;
        }
    }
    return false;
}

ovl_shape ovl_link_shape(const ovl_lowering *l, const ovl_hw_link *link, const uint32_t *ranks,
                         uint32_t n)
{
    uint32_t node = l->seats.node, serves = block_of(l, link);
    if (ovl_link_on_rails(link)) {
        return (ovl_shape){.apart = node,
                           .serves = serves,
                           .by_rail = link->scope == OVL_SCOPE_RAIL,
                           .off_rails = link->out_of == OVL_OUT_OF_RAIL,
                           .rails = ovl_rails_of(l, link),
                           .seat_of = l->seats.of};
    }
    if (link->wire) {
        return (ovl_shape){.apart = 1, .serves = 1, .seat_of = l->seats.of, .wire = link};
    }
    if (link->out_of) { /* that of a node is -1 until its size is known */
        return (ovl_shape){.apart = link->out_of < 0 ? node : (uint32_t)link->out_of,
                           .serves = serves,
                           .seat_of = l->seats.of};
    }
    uint32_t block = link->gpus > 0 ? serves : OVL_MIN(node, serves);
    return (ovl_shape){.apart = in_several(l, ranks, n, block) ? block : 1,
                       .serves = serves,
                       .seat_of = l->seats.of};
}

uint32_t ovl_shape_block(const ovl_shape *shape, uint32_t rank)
{
    return seat_of(shape->seat_of, rank) / shape->apart;
}

uint32_t ovl_shape_instance_at(const ovl_shape *shape, uint32_t seat)
{
    return shape->by_rail ? ovl_rail_of_seat(&shape->rails, seat) : seat / shape->serves;
}

uint32_t ovl_shape_instance(const ovl_shape *shape, uint32_t rank)
{
    return ovl_shape_instance_at(shape, seat_of(shape->seat_of, rank));
}

/* --- What an instance serves --- */

/* Members of a node, of a part and of an instance, by the number of each; 0 between uses. */
struct ovl_counts {
    uint32_t node, part, served;
    bool seen;              /* as a part */
    uint32_t parts, proper; /* on an instance of several parts; those without all of their node */
    uint64_t pairs;
};

typedef struct members {
    ovl_counts *at; /* scratch */
    const uint32_t *rank, *seat;
    uint32_t n, node;      /* seats of a node */
    uint32_t fewest, most; /* of a part */
} members;

static void count_nodes(const members *m, uint32_t add)
{
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t *here = &m->at[m->seat[i] / m->node].node;
        *here = add ? *here + add : 0;
    }
}

/* Members of each part and of each instance; how many parts there are. */
static uint32_t count_parts(const members *m, ovl_shape s)
{
    uint32_t parts = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        parts += m->at[m->seat[i] / s.apart].part++ == 0;
        m->at[m->seat[i] / s.serves].served++;
    }
    return parts;
}

/* Sums over the parts of an instance, each at the first of its members that comes. */
static void sum_parts(members *m, ovl_shape s)
{
    m->fewest = m->n;
    m->most = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        ovl_counts *part = &m->at[m->seat[i] / s.apart], *here = &m->at[m->seat[i] / s.serves];
        here->pairs += m->n - part->part;
        if (!part->seen) {
            part->seen = true;
            here->parts++;
            m->fewest = OVL_MIN(m->fewest, part->part);
            m->most = OVL_MAX(m->most, part->part);
            here->proper += part->part < m->at[m->seat[i] / m->node].node;
        }
    }
}

static ovl_way way_of(const members *m, ovl_shape s, uint32_t parts, uint32_t seat)
{
    const ovl_counts *part = &m->at[seat / s.apart], *here = &m->at[seat / s.serves];
    ovl_way way = {.parts = parts, .served = here->served, .pairs = here->pairs};
    way.fewest = m->fewest;
    way.most = m->most;
    way.whole = s.apart >= m->node;
    bool several = s.serves > s.apart;
    way.share = several ? here->parts : here->served;
    way.of = several ? 1 : part->part;
    bool proper = !way.whole && part->part < m->at[seat / m->node].node;
    way.inner = way.whole ? 0 : several ? here->proper : proper ? way.share : 0;
    return way;
}

static void wipe(const members *m, ovl_shape s)
{
    for (uint32_t i = 0; i < m->n; i++) {
        ovl_counts *part = &m->at[m->seat[i] / s.apart];
        part->part = 0;
        part->seen = false;
        ovl_counts *here = &m->at[m->seat[i] / s.serves];
        here->served = here->parts = here->proper = 0;
        here->pairs = 0;
    }
}

/* Fills ways[i * n_links + link] of each member i. */
static void find_link(ovl_lowering *l, members *m, uint32_t link, ovl_way *ways)
{
    const ovl_hw_link *at = &l->hw->links[link];
    if (ovl_link_on_rails(at)) {
        ovl_rail_ways(l, link, m->rank, m->n, ways);
        return;
    }
    if (at->wire) {
        ovl_wires_ways(l, link, m->rank, m->n, ways);
        return;
    }
    ovl_shape s = ovl_link_shape(l, at, m->rank, m->n);
    bool own = at->scope == OVL_SCOPE_GPU && !ovl_link_in_blocks(at);
    uint32_t parts = own ? m->n : count_parts(m, s);
    if (!own && parts > 1) {
        sum_parts(m, s);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        ovl_way *way = &ways[(size_t)i * l->hw->n_links + link];
        *way = own ? (ovl_way){.parts = m->n, .served = 1, .share = 1, .of = 1, .pairs = m->n - 1}
               : parts > 1 ? way_of(m, s, parts, m->seat[i])
                           : (ovl_way){.parts = 1, .of = 1};
    }
    if (!own) {
        wipe(m, s);
    }
}

/* What the instance of each member has; of no matter where nothing crosses it. */
static void find_speed(const ovl_lowering *l, const members *m, uint32_t link, ovl_way *ways)
{
    for (uint32_t i = 0; i < m->n; i++) {
        ovl_way *way = &ways[(size_t)i * l->hw->n_links + link];
        const ovl_hw_link *here = &ovl_hw_of_rank(l, m->rank[i])->links[link];
        way->bandwidth = way->parts > 1 ? here->bandwidth : 0;
        way->latency = way->parts > 1 ? here->latency : 0;
    }
}

/* --- Kinds of members --- */

static int compare_ways(const ovl_way *a, const ovl_way *b)
{
    const uint64_t x[] = {a->parts,         a->served, a->whole,     a->share * b->of,
                          a->inner * b->of, a->pairs,  a->bandwidth, (uint64_t)a->latency,
                          a->in_mesh,       a->next,   a->fewest,    a->most};
    const uint64_t y[] = {b->parts,         b->served, b->whole,     b->share * a->of,
                          b->inner * a->of, b->pairs,  b->bandwidth, (uint64_t)b->latency,
                          b->in_mesh,       b->next,   b->fewest,    b->most};
    for (size_t i = 0; i < OVL_COUNT(x); i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

static int compare_kinds(const ovl_way *a, const ovl_way *b, uint32_t n_links)
{
    int order = 0;
    for (uint32_t i = 0; i < n_links && order == 0; i++) {
        order = compare_ways(&a[i], &b[i]);
    }
    return order;
}

/* Where a kind is among the first `n`, in order; `n` and more if it is not there. */
static uint32_t find_kind(const ovl_way *kinds, uint32_t n, const ovl_way *kind, uint32_t n_links,
                          bool *there)
{
    uint32_t i = 0;
    int order = 1;
    while (i < n && (order = compare_kinds(kind, &kinds[(size_t)i * n_links], n_links)) > 0) {
        i++;
    }
    *there = i < n && order == 0;
    return i;
}

/* The kinds of members that are, each once and in order, at the front of `ways`' copy. */
static uint32_t sort_kinds(const ovl_way *ways, ovl_way *kinds, uint32_t n, uint32_t n_links)
{
    uint32_t count = 0;
    size_t size = n_links * sizeof *kinds;
    for (uint32_t i = 0; i < n; i++) {
        bool there;
        uint32_t at = find_kind(kinds, count, &ways[(size_t)i * n_links], n_links, &there);
        if (!there) {
            ovl_way *here = &kinds[(size_t)at * n_links];
            memmove(here + n_links, here, (count - at) * size);
            memcpy(here, &ways[(size_t)i * n_links], size);
            count++;
        }
    }
    return count;
}

/* --- Spreads --- */

static bool nodes_matter(const ovl_hw *hw)
{
    if (hw->nccl.given || hw->n_others) {
        return true;
    }
    for (uint32_t i = 0; i < hw->n_collectives; i++) {
        const ovl_hw_collective *entry = &hw->collectives[i];
        bool switches = entry->algorithm == OVL_ALGO_NVLS || entry->algorithm == OVL_ALGO_COLLNET;
        if (entry->nodes != OVL_NODES_ANY || switches) {
            return true;
        }
    }
    for (uint32_t i = 0; i < hw->n_links; i++) {
        const ovl_hw_link *link = &hw->links[i];
        if (link->scope != OVL_SCOPE_GPU || ovl_link_in_blocks(link) || link->wire) {
            return true;
        }
    }
    return false;
}

/* Where nodes share nothing and no cost goes by them all is one node, so that ranks are told apart
 * by that no more than they must be. */
bool ovl_spreads_matter(const ovl_lowering *l)
{
    return nodes_matter(l->hw);
}

static bool same_spread(const ovl_spread *a, const ovl_spread *b, uint32_t n_links)
{
    return a->members == b->members && a->nodes == b->nodes && a->fewest == b->fewest &&
           a->most == b->most && a->machines == b->machines && a->n_kinds == b->n_kinds &&
           !a->ways == !b->ways &&
           (!a->ways || compare_kinds(a->ways, b->ways, n_links * a->n_kinds) == 0);
}

/* Of equal ones that of the first kind, which the others follow; each has the list of all kinds. */
static const ovl_spread *intern(ovl_lowering *l, ovl_spread s)
{
    uint32_t n_links = l->hw->n_links;
    for (uint32_t i = 0; i < l->spreads.len; i++) {
        if (same_spread(l->spreads.data[i], &s, n_links)) {
            return l->spreads.data[i];
        }
    }
    ovl_spread *stored = OVL_NEW_ARRAY(l->arena, ovl_spread, s.n_kinds);
    if (s.ways) {
        size_t n = (size_t)s.n_kinds * n_links;
        ovl_way *ways = OVL_NEW_ARRAY(l->arena, ovl_way, n);
        memcpy(ways, s.ways, n * sizeof *ways);
        s.ways = ways;
    }
    for (uint32_t kind = 0; kind < s.n_kinds; kind++) {
        stored[kind] = s;
        stored[kind].own = kind;
    }
    ovl_vec_push(&l->spreads, stored);
    return stored;
}

static ovl_spread spread_on_nodes(const ovl_lowering *l, const members *m)
{
    ovl_spread s = {.members = m->n, .fewest = m->n, .n_kinds = 1};
    for (uint32_t i = 0; i < m->n; i++) {
        s.machines |= UINT32_C(1) << (l->machine_of ? l->machine_of[m->rank[i]] : 0);
        uint32_t here = m->at[m->seat[i] / m->node].node;
        s.fewest = OVL_MIN(s.fewest, here);
        s.most = OVL_MAX(s.most, here);
        if (m->at[m->seat[i] / m->node].part++ == 0) {
            s.nodes++;
        }
    }
    for (uint32_t i = 0; i < m->n; i++) {
        m->at[m->seat[i] / m->node].part = 0;
    }
    return s;
}

/* Ways of all members, and behind them their kinds. */
static ovl_way *ways_of(ovl_lowering *l, members *m, ovl_spread *s)
{
    uint32_t n_links = l->hw->n_links;
    size_t n = (size_t)m->n * n_links;
    l->ways.len = 0;
    ovl_vec_reserve(&l->ways, 2 * n);
    ovl_way *ways = l->ways.data;
    for (uint32_t i = 0; i < n_links; i++) {
        find_link(l, m, i, ways);
        find_speed(l, m, i, ways);
    }
    s->n_kinds = sort_kinds(ways, ways + n, m->n, n_links);
    s->ways = ways + n;
    return ways;
}

static const uint32_t *seats_of(ovl_lowering *l, const uint32_t *ranks, uint32_t n)
{
    if (!l->seats.of) {
        return ranks;
    }
    l->sitting.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        ovl_vec_push(&l->sitting, l->seats.of[ranks[i]]);
    }
    return l->sitting.data;
}

void ovl_find_spreads(ovl_lowering *l, const uint32_t *ranks, uint32_t n, const ovl_spread **of)
{
    members m = {.rank = ranks, .seat = seats_of(l, ranks, n), .n = n, .node = l->seats.node};
    if (!l->counts) {
        l->counts = OVL_NEW_ARRAY(l->arena, ovl_counts, l->seats.n);
    }
    m.at = l->counts;
    bool matter = nodes_matter(l->hw);
    ovl_spread s = {.members = n, .nodes = 1, .fewest = n, .most = n, .machines = 1, .n_kinds = 1};
    const ovl_way *ways = NULL;
    if (matter) {
        count_nodes(&m, 1);
        s = spread_on_nodes(l, &m);
        ways = l->hw->n_links ? ways_of(l, &m, &s) : NULL;
        count_nodes(&m, 0);
    }
    const ovl_spread *first = intern(l, s);
    for (uint32_t i = 0; i < n; i++) {
        bool there;
        of[i] = s.n_kinds < 2
                    ? first
                    : first + find_kind(s.ways, s.n_kinds, &ways[(size_t)i * l->hw->n_links],
                                        l->hw->n_links, &there);
    }
}

const ovl_spread *ovl_find_pair(ovl_lowering *l, uint32_t a, uint32_t b)
{
    const uint32_t pair[2] = {a, b};
    const ovl_spread *of[2];
    ovl_find_spreads(l, pair, 2, of);
    return of[0];
}

/* --- Rings --- */

/* Neighbours of all communicators, each pair looked at once. */
static void find_neighbours(ovl_lowering *l, ovl_group *group)
{
    const ovl_spread **next = OVL_NEW_ARRAY(l->arena, const ovl_spread *, l->n_ranks);
    const ovl_spread **previous = OVL_NEW_ARRAY(l->arena, const ovl_spread *, l->n_ranks);
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ovl_id id = group->comm_of[rank];
        const ovl_comm *comm = id == OVL_NONE ? NULL : &l->b->comms.data[id];
        const uint32_t *ranks = comm ? &l->b->members.data[comm->first_member] : NULL;
        for (uint32_t i = 0; ranks && ranks[0] == rank && i < comm->n_members; i++) {
            uint32_t from = ranks[i], to = ranks[(i + 1) % comm->n_members];
            next[from] = previous[to] = ovl_find_pair(l, from, to);
        }
    }
    group->next = next;
    group->previous = previous;
}

const ovl_spread *ovl_plan_ring(ovl_lowering *l, const ovl_group *group, uint32_t rank, bool next)
{
    ovl_group *known = &l->groups[group - l->groups];
    if (!known->next) {
        find_neighbours(l, known);
    }
    const ovl_spread *const *neighbours = next ? known->next : known->previous;
    return neighbours[rank];
}
