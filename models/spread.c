#include "models/plan.h"

/* --- Partitions --- */

/* Members in each block of `size` ranks, counted in `l->on_block`; the marks of one member at a
 * time are wiped as they are read. */
static ovl_parts partition(ovl_lowering *l, const uint32_t *ranks, uint32_t n, uint32_t size)
{
    ovl_parts parts = {0, n, 0, 0};
    for (uint32_t i = 0; i < n; i++) {
        l->on_block[ranks[i] / size]++;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *here = &l->on_block[ranks[i] / size];
        if (*here == 0) {
            continue; /* counted by another member */
        }
        uint64_t pairs = (uint64_t)*here * (n - *here);
        parts.count++;
        parts.fewest = OVL_MIN(parts.fewest, *here);
        parts.most_pairs = OVL_MAX(parts.most_pairs, pairs);
        parts.pairs += pairs;
        *here = 0;
    }
    return parts;
}

/* Most members in one block of `small` ranks, and how many its block of `large` has; `large` is a
 * multiple of `small`. */
static void find_share(ovl_lowering *l, const uint32_t *ranks, uint32_t n, uint32_t small,
                       uint32_t large, ovl_way *way)
{
    uint32_t *inner = l->on_block, *outer = l->on_block + l->n_ranks;
    for (uint32_t i = 0; i < n; i++) {
        inner[ranks[i] / small]++;
        outer[ranks[i] / large]++;
    }
    way->share = 0;
    way->of = 1;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t share = inner[ranks[i] / small], of = outer[ranks[i] / large];
        if (share * way->of > way->share * of) {
            way->share = share;
            way->of = of;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        inner[ranks[i] / small] = 0;
        outer[ranks[i] / large] = 0;
    }
}

/* Most blocks of `small` ranks with members in one block of `large`. */
static uint32_t find_served(ovl_lowering *l, const uint32_t *ranks, uint32_t n, uint32_t small,
                            uint32_t large)
{
    uint32_t *inner = l->on_block, *outer = l->on_block + l->n_ranks, most = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (inner[ranks[i] / small]++ == 0) {
            uint32_t *served = &outer[ranks[i] / large];
            (*served)++;
            most = OVL_MAX(most, *served);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        inner[ranks[i] / small] = 0;
        outer[ranks[i] / large] = 0;
    }
    return most;
}

/* --- Links in blocks --- */

uint32_t ovl_plan_block(const ovl_lowering *l, const ovl_hw_link *link)
{
    uint32_t node = l->hw->gpus_per_node > 0 ? (uint32_t)l->hw->gpus_per_node : l->n_ranks;
    if (link->gpus > 0) {
        return (uint32_t)link->gpus;
    }
    switch ((ovl_scope)link->scope) {
    case OVL_SCOPE_GPU:
        return 1;
    case OVL_SCOPE_NODE:
        return node;
    case OVL_SCOPE_CLUSTER:
        break;
    }
    return l->n_ranks;
}

/* `out_of` of a node is -1 until the node's size is known. */
static uint32_t out_of(const ovl_lowering *l, const ovl_hw_link *link)
{
    uint32_t node = l->hw->gpus_per_node > 0 ? (uint32_t)l->hw->gpus_per_node : l->n_ranks;
    return link->out_of < 0 ? node : (uint32_t)link->out_of;
}

static ovl_way find_way(ovl_lowering *l, const ovl_hw_link *link, const uint32_t *ranks, uint32_t n)
{
    uint32_t serves = ovl_plan_block(l, link);
    if (link->out_of == 0) {
        return (ovl_way){partition(l, ranks, n, serves), 1, 1, 1};
    }
    uint32_t domain = out_of(l, link);
    ovl_way way = {partition(l, ranks, n, domain), 1, 1, 1};
    if (serves < domain) {
        find_share(l, ranks, n, serves, domain, &way);
    } else if (serves > domain) {
        way.served = find_served(l, ranks, n, domain, serves);
    }
    return way;
}

static const ovl_way *find_ways(ovl_lowering *l, const uint32_t *ranks, uint32_t n)
{
    ovl_way *ways = NULL;
    for (uint32_t i = 0; i < l->hw->n_links; i++) {
        const ovl_hw_link *link = &l->hw->links[i];
        if (ovl_link_in_blocks(link)) {
            ways = ways ? ways : OVL_NEW_ARRAY(l->arena, ovl_way, l->hw->n_links);
            ways[i] = find_way(l, link, ranks, n);
        }
    }
    return ways;
}

/* --- Spreads --- */

static bool nodes_matter(const ovl_hw *hw)
{
    if (hw->nccl.given) {
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
        if (hw->links[i].scope != OVL_SCOPE_GPU || ovl_link_in_blocks(&hw->links[i])) {
            return true;
        }
    }
    return false;
}

static bool same_way(const ovl_way *a, const ovl_way *b)
{
    return a->parts.count == b->parts.count && a->parts.fewest == b->parts.fewest &&
           a->parts.most_pairs == b->parts.most_pairs && a->parts.pairs == b->parts.pairs &&
           a->share * b->of == b->share * a->of && a->served == b->served;
}

static bool same_ways(const ovl_lowering *l, const ovl_way *a, const ovl_way *b)
{
    for (uint32_t i = 0; a && i < l->hw->n_links; i++) {
        if (ovl_link_in_blocks(&l->hw->links[i]) && !same_way(&a[i], &b[i])) {
            return false;
        }
    }
    return true;
}

static const ovl_spread *intern(ovl_lowering *l, ovl_spread s)
{
    for (uint32_t i = 0; i < l->spreads.len; i++) {
        const ovl_spread *old = l->spreads.data[i];
        if (old->members == s.members && old->nodes == s.nodes && old->fewest == s.fewest &&
            old->most_pairs == s.most_pairs && old->pairs == s.pairs &&
            same_ways(l, old->ways, s.ways)) {
            return old;
        }
    }
    ovl_spread *stored = OVL_NEW(l->arena, ovl_spread);
    *stored = s;
    ovl_vec_push(&l->spreads, stored);
    return stored;
}

/* Where nodes share nothing and no cost goes by them all is one node, so that ranks are told apart
 * by that no more than they must be. */
bool ovl_spreads_matter(const ovl_lowering *l)
{
    return nodes_matter(l->hw);
}

const ovl_spread *ovl_find_spread(ovl_lowering *l, const uint32_t *ranks, uint32_t n)
{
    if (!nodes_matter(l->hw)) {
        return intern(l, (ovl_spread){n, 1, n, 0, 0, NULL});
    }
    if (!l->on_block) {
        l->on_block = OVL_NEW_ARRAY(l->arena, uint32_t, 2 * (size_t)l->n_ranks);
    }
    uint32_t node = l->hw->gpus_per_node > 0 ? (uint32_t)l->hw->gpus_per_node : l->n_ranks;
    ovl_parts nodes = partition(l, ranks, n, node);
    return intern(l, (ovl_spread){n, nodes.count, nodes.fewest, nodes.most_pairs, nodes.pairs,
                                  find_ways(l, ranks, n)});
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
        const uint32_t *members = comm ? &l->b->members.data[comm->first_member] : NULL;
        for (uint32_t i = 0; members && members[0] == rank && i < comm->n_members; i++) {
            uint32_t pair[2] = {members[i], members[(i + 1) % comm->n_members]};
            next[pair[0]] = previous[pair[1]] = ovl_find_spread(l, pair, 2);
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
