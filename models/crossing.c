#include "models/cost.h"

#include <string.h>

ovl_spread ovl_spread_apart(uint32_t n)
{
    return (ovl_spread){
        .members = n, .nodes = n, .fewest = 1, .most = 1, .machines = 1, .n_kinds = 1};
}

static uint32_t log2_up(uint32_t n)
{
    uint32_t log = 0;
    while (((uint64_t)1 << log) < n) {
        log++;
    }
    return log;
}

const ovl_hw_link *ovl_find_link(const ovl_hw *hw, const char *name)
{
    for (uint32_t i = 0; i < hw->n_links; i++) {
        if (strcmp(hw->links[i].name, name) == 0) {
            return &hw->links[i];
        }
    }
    return NULL;
}

const ovl_hw_link *ovl_domain_link(const ovl_hw *hw, const ovl_texts *via)
{
    const ovl_hw_link *least = NULL;
    for (uint32_t i = 0; i < via->count; i++) {
        const ovl_hw_link *link = ovl_find_link(hw, via->item[i]);
        bool own = link && link->scope == OVL_SCOPE_GPU && !ovl_link_in_blocks(link);
        if (!link || own) {
            continue;
        }
        if (hw->gpus_per_node == 0 || link->out_of <= hw->gpus_at_most) {
            return NULL; /* it carries what leaves a node, or less */
        }
        least = least && least->out_of <= link->out_of ? least : link;
    }
    return least;
}

ovl_spread ovl_formula_spread(const ovl_hw *hw, int algorithm, const ovl_texts *via,
                              const ovl_spread *spread)
{
    ovl_spread seen = *spread;
    bool levels = algorithm == OVL_ALGO_HIERARCHICAL && spread->nodes > 1 && spread->ways;
    const ovl_hw_link *domain = levels ? ovl_domain_link(hw, via) : NULL;
    const ovl_way *way = domain ? &spread->ways[domain - hw->links] : NULL;
    if (algorithm == OVL_ALGO_NVLS || (way && way->parts < 2)) {
        seen.nodes = 1;
        seen.fewest = seen.most = seen.members;
    } else if (way) {
        seen.nodes = way->parts;
        seen.fewest = way->fewest;
        seen.most = way->most;
    }
    return seen;
}

/* --- One by one --- */

/* A ring enters and leaves each part once. Tree: halving with the nearest first, so what a part of
 * g sends in the reduce-scatter is its sum of what others own, (n - g)/n, and in the all-gather the
 * g/n that it owns to each of the m - 1 others: 1 + (m - 2) g/n, out and in alike. Of a binomial
 * tree the root's part, which sends in every round among parts. */
static ovl_crossing flat(ovl_coll op, bool tree, const ovl_spread *spread, const ovl_way *way)
{
    uint64_t n = spread->members;
    switch (op) {
    case OVL_ALL_REDUCE:
        return tree ? (ovl_crossing){way->share * n +
                                         (uint64_t)(way->parts - 2) * way->served * way->of,
                                     n * way->of}
                    : (ovl_crossing){2 * (n - 1) * way->share, n * way->of};
    case OVL_REDUCE_SCATTER:
    case OVL_ALL_GATHER:
        return (ovl_crossing){(n - 1) * way->share, n * way->of};
    case OVL_ALL_TO_ALL:
        return (ovl_crossing){way->pairs, n};
    case OVL_BROADCAST:
    case OVL_REDUCE:
        if (way->served == n) {
            return (ovl_crossing){way->parts - 1, 1};
        }
        return (ovl_crossing){way->share * (tree ? log2_up(way->parts) : 1), way->of};
    case OVL_SEND_RECV:
    case OVL_COLL_COUNT:
        break;
    }
    return (ovl_crossing){1, 1};
}

/* --- All-reduces that reduce on the way --- */

/* In a tree, the switch or the network [derived from what each does; g members on a node]. Double
 * binary tree: s goes up and down each of the m - 1 edges between m parts, and who is inside one
 * tree is a leaf of the other, so each part has the same: 2 (m - 1)/m s. NVLS: a GPU gives the
 * switch its s and gets the sum of its 1/g back, then writes that part to all: (g + 1)/g s each
 * way; with a tree across nodes. CollNet: s goes out and the sum comes back. */
static bool reduces_on_the_way(int algorithm, ovl_coll op)
{
    return op == OVL_ALL_REDUCE && algorithm >= OVL_ALGO_DOUBLE_TREE;
}

static ovl_crossing reduced_on_the_way(bool own, int algorithm, const ovl_spread *spread,
                                       const ovl_way *way)
{
    uint64_t local = spread->fewest, parts = way->parts;
    bool inside = own || spread->nodes == 1;
    if (inside && (algorithm == OVL_ALGO_NVLS || algorithm == OVL_ALGO_NVLS_TREE) && local > 1) {
        return (ovl_crossing){way->share * (local + 1), way->of * local};
    }
    if (algorithm == OVL_ALGO_COLLNET || algorithm == OVL_ALGO_NVLS) {
        return (ovl_crossing){way->share, way->of};
    }
    return (ovl_crossing){2 * (parts - 1) * way->share, parts * way->of};
}

/* An NVLS all-gather writes each part to the switch once, which copies it to the n - 1 others: 1/n
 * s out of each member, (n - 1)/n s in. A reduce-scatter is the same the other way. */
static bool copied_by_switch(int algorithm, ovl_coll op)
{
    return algorithm == OVL_ALGO_NVLS && (op == OVL_ALL_GATHER || op == OVL_REDUCE_SCATTER);
}

/* --- In the node first, then across --- */

/* g members on each of m nodes (or domains of several: ovl_domain_link). Own links carry what stays
 * in the node. Out of whole nodes goes the ring across, once for all rails together; out of a part
 * of a node the ring inside, and the rails of its members. */
static ovl_crossing by_levels(bool own, ovl_coll op, const ovl_spread *spread, const ovl_way *way)
{
    uint64_t m = spread->nodes, g = spread->members / m, passes = op == OVL_ALL_REDUCE ? 2 : 1;
    bool ring = spread->level != OVL_LEVEL_ACROSS, rails = spread->level != OVL_LEVEL_INSIDE;
    if (own) {
        return (ovl_crossing){ring ? passes * (g - 1) : 0, g};
    }
    if (way->whole) {
        return (ovl_crossing){rails ? passes * (m - 1) * way->share : 0, m * way->of};
    }
    uint64_t inside = ring ? (g - 1) * m * way->inner : 0;
    uint64_t across = rails ? (m - 1) * way->served * way->of : 0;
    return (ovl_crossing){passes * (inside + across), g * m * way->of};
}

/* What a member sends on one level: of n = g m the ring inside (g - 1)/g, of 1/g of that the one
 * across (m - 1)/m; together (n - 1)/n. */
static ovl_crossing of_member_on_level(ovl_coll op, const ovl_spread *spread)
{
    uint64_t m = spread->nodes, g = spread->members / m, passes = op == OVL_ALL_REDUCE ? 2 : 1;
    return spread->level == OVL_LEVEL_INSIDE ? (ovl_crossing){passes * (g - 1), g}
                                             : (ovl_crossing){passes * (m - 1), m * g};
}

ovl_crossing ovl_crossing_of_member(ovl_coll op, int algorithm, const ovl_spread *spread)
{
    uint64_t n = spread->members, m = spread->nodes, g = spread->fewest;
    if (n < 2 && op != OVL_SEND_RECV) { /* nobody to send to */
        return (ovl_crossing){0, 1};
    }
    if (spread->level != OVL_LEVELS_BOTH) {
        return of_member_on_level(op, spread);
    }
    if (!reduces_on_the_way(algorithm, op) || algorithm == OVL_ALGO_DOUBLE_TREE) {
        bool pair = op == OVL_BROADCAST || op == OVL_REDUCE || op == OVL_SEND_RECV;
        return pair ? (ovl_crossing){1, 1}
                    : (ovl_crossing){(n - 1) * (op == OVL_ALL_REDUCE ? 2 : 1), n};
    }
    if (algorithm == OVL_ALGO_COLLNET) {
        return (ovl_crossing){1, 1};
    }
    uint64_t inside = g > 1 ? g + 1 : 0;
    uint64_t across = m < 2 ? 0 : algorithm == OVL_ALGO_NVLS ? m : 2 * (m - 1);
    return (ovl_crossing){m * inside + across, m * g};
}

/* --- Wires --- */

/* What a ring would send over one wire, over all wires between the members of the block, as there
 * are rings along all orders of them. Around the block k rings use k - 1 wires out of each; through
 * it, one of k members is the last, and sends nothing inside. */
static ovl_crossing over_wires(const ovl_hw_link *wire, ovl_crossing ring, bool closed,
                               const ovl_way *way)
{
    if (wire->rings == OVL_RINGS_ONE) {
        return way->next ? ring : (ovl_crossing){0, 1};
    }
    return (ovl_crossing){ring.num, ring.den * (way->in_mesh - closed)};
}

/* --- Links --- */

static ovl_crossing lowest_terms(ovl_crossing c)
{
    uint64_t a = c.num, b = c.den;
    while (a) {
        uint64_t rest = b % a;
        b = a;
        a = rest;
    }
    return (ovl_crossing){c.num / b, c.den / b};
}

/* Of members that are each alone on their instance, and all on that of the cluster. */
static ovl_way way_apart(const ovl_hw_link *link, const ovl_spread *spread)
{
    if (link->wire) {
        return (ovl_way){.parts = 1, .of = 1}; /* who is at its end is not known */
    }
    uint32_t n = spread->members, here = link->scope == OVL_SCOPE_CLUSTER ? n : 1;
    return (ovl_way){.parts = n,
                     .fewest = 1,
                     .most = 1,
                     .served = here,
                     .whole = spread->nodes == n,
                     .share = here,
                     .of = 1,
                     .pairs = (uint64_t)here * (n - 1)};
}

ovl_crossing ovl_crossing_of_kind(const ovl_hw *hw, uint32_t link, ovl_coll op, int algorithm,
                                  const ovl_spread *spread, uint32_t kind)
{
    const ovl_hw_link *l = &hw->links[link];
    ovl_way way =
        spread->ways ? spread->ways[(size_t)kind * hw->n_links + link] : way_apart(l, spread);
    bool own = l->scope == OVL_SCOPE_GPU && !ovl_link_in_blocks(l);
    ovl_crossing c = {1, 1};
    bool all_to_all = op == OVL_ALL_TO_ALL;
    if (spread->members < 2 || (all_to_all ? way.pairs == 0 : way.parts < 2)) {
        return (ovl_crossing){0, 1};
    }
    if (op == OVL_SEND_RECV) {
        return c;
    }
    if (l->out_of == OVL_OUT_OF_RAIL && algorithm == OVL_ALGO_TREE) {
        algorithm = OVL_ALGO_DOUBLE_TREE; /* what a tree of nodes does not keep on the rails */
    }
    if (algorithm == OVL_ALGO_HIERARCHICAL) {
        c = by_levels(own, op, spread, &way);
    } else if (reduces_on_the_way(algorithm, op)) {
        c = reduced_on_the_way(own, algorithm, spread, &way);
    } else {
        c = flat(op, algorithm == OVL_ALGO_TREE, spread, &way);
    }
    if (way.in_mesh && !all_to_all) {
        bool closed = algorithm == OVL_ALGO_HIERARCHICAL || way.in_mesh == spread->members;
        c = over_wires(l, c, closed, &way);
    }
    return lowest_terms(c);
}

ovl_crossing ovl_crossing_one_way(const ovl_hw *hw, uint32_t link, ovl_coll op, int algorithm,
                                  const ovl_spread *spread, bool in)
{
    const ovl_way *way =
        spread->ways ? &spread->ways[(size_t)spread->own * hw->n_links + link] : NULL;
    ovl_crossing more = ovl_crossing_of(hw, link, op, algorithm, spread);
    bool less = copied_by_switch(algorithm, op) && in == (op == OVL_REDUCE_SCATTER);
    if (!less || more.num == 0 || hw->links[link].wire) {
        return more;
    }
    uint64_t served = way ? way->served : way_apart(&hw->links[link], spread).served;
    return lowest_terms((ovl_crossing){served, spread->members});
}

ovl_link_speed ovl_speed_of(const ovl_hw *hw, uint32_t link, const ovl_spread *spread,
                            uint32_t kind)
{
    const ovl_way *way = spread->ways ? &spread->ways[(size_t)kind * hw->n_links + link] : NULL;
    const ovl_hw_link *at = &hw->links[link];
    return way && way->bandwidth ? (ovl_link_speed){way->bandwidth, way->latency}
                                 : (ovl_link_speed){at->bandwidth, at->latency};
}

ovl_crossing ovl_crossing_of(const ovl_hw *hw, uint32_t link, ovl_coll op, int algorithm,
                             const ovl_spread *spread)
{
    return ovl_crossing_of_kind(hw, link, op, algorithm, spread, spread->own);
}

bool ovl_crossing_differs(const ovl_hw *hw, uint32_t link, ovl_coll op, int algorithm,
                          const ovl_spread *spread)
{
    ovl_crossing first = ovl_crossing_of_kind(hw, link, op, algorithm, spread, 0);
    for (uint32_t kind = 1; kind < spread->n_kinds; kind++) {
        ovl_crossing c = ovl_crossing_of_kind(hw, link, op, algorithm, spread, kind);
        if (c.num != first.num || c.den != first.den) {
            return true;
        }
    }
    return false;
}

bool ovl_link_in_blocks(const ovl_hw_link *link)
{
    return link->gpus > 0 || link->out_of != 0;
}

bool ovl_link_leaves_node(const ovl_hw_link *link, const ovl_spread *spread)
{
    return spread->nodes > 1 && (link->scope != OVL_SCOPE_GPU || link->out_of != 0);
}
