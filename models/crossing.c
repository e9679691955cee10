#include "models/cost.h"

ovl_spread ovl_spread_apart(uint32_t n)
{
    uint64_t others = n ? n - 1 : 0;
    return (ovl_spread){n, n, 1, others, n * others, NULL};
}

static uint32_t log2_up(uint32_t n)
{
    uint32_t log = 0;
    while (((uint64_t)1 << log) < n) {
        log++;
    }
    return log;
}

ovl_spread ovl_formula_spread(int algorithm, const ovl_spread *spread)
{
    ovl_spread seen = *spread;
    if (algorithm == OVL_ALGO_NVLS) {
        seen.nodes = 1;
        seen.fewest = seen.members;
    }
    return seen;
}

/* What leaves the busiest part. Parts are nodes, or single members where the link ends at each
 * (then g = 1). Tree of an all-reduce: Rabenseifner halves with the nearest first, so a member
 * comes out of its part of g with 1/g of the bytes and sends 1/g - 1/n of them on; the g members
 * together (n - g)/n, and as much on the way back. Binomial tree: the root's part sends in every
 * round among parts. */
static ovl_crossing from_part(ovl_coll op, bool tree, const ovl_spread *parts)
{
    uint64_t n = parts->members;
    switch (op) {
    case OVL_ALL_REDUCE:
        return (ovl_crossing){2 * (n - (tree ? parts->fewest : 1)), n};
    case OVL_REDUCE_SCATTER:
    case OVL_ALL_GATHER:
        return (ovl_crossing){n - 1, n};
    case OVL_ALL_TO_ALL:
        return (ovl_crossing){parts->most_pairs, n};
    case OVL_BROADCAST:
    case OVL_REDUCE:
        return (ovl_crossing){tree ? log2_up(parts->nodes) : 1, 1};
    case OVL_SEND_RECV:
    case OVL_COLL_COUNT:
        break;
    }
    return (ovl_crossing){1, 1};
}

/* The same from all parts together, for a link that lies between them. */
static ovl_crossing between_parts(ovl_coll op, bool tree, const ovl_spread *parts)
{
    uint64_t n = parts->members, others = parts->nodes - 1;
    switch (op) {
    case OVL_ALL_REDUCE:
        return tree ? (ovl_crossing){2 * others, 1} : (ovl_crossing){2 * (n - 1) * parts->nodes, n};
    case OVL_REDUCE_SCATTER:
    case OVL_ALL_GATHER:
        return (ovl_crossing){(n - 1) * parts->nodes, n};
    case OVL_ALL_TO_ALL:
        return (ovl_crossing){parts->pairs, n};
    case OVL_BROADCAST:
    case OVL_REDUCE:
        return (ovl_crossing){others, 1};
    case OVL_SEND_RECV:
    case OVL_COLL_COUNT:
        break;
    }
    return (ovl_crossing){1, 1};
}

/* --- All-reduces that reduce on the way --- */

/* In a tree, the switch or the network [derived from what each does; g members on a node]. Double
 * binary tree: up s, and down s where a rank has children. NVLS: a GPU gives the switch its s and
 * gets the sum of its 1/g back, then writes that part to all: (g + 1)/g s each way; with a tree
 * across nodes. CollNet: s goes out and the sum comes back. */
static bool reduces_on_the_way(int algorithm, ovl_coll op)
{
    return op == OVL_ALL_REDUCE && algorithm >= OVL_ALGO_DOUBLE_TREE;
}

/* Times s that come out of a part of members. */
static uint64_t times_out(int algorithm)
{
    return algorithm == OVL_ALGO_COLLNET || algorithm == OVL_ALGO_NVLS ? 1 : 2;
}

static ovl_crossing reduced_on_the_way(int scope, int algorithm, const ovl_spread *spread)
{
    uint64_t nodes = spread->nodes, local = spread->members / nodes;
    bool inside = scope == OVL_SCOPE_GPU || nodes == 1;
    uint64_t sharing = scope != OVL_SCOPE_GPU && nodes == 1 ? local : 1;
    if (inside && (algorithm == OVL_ALGO_NVLS || algorithm == OVL_ALGO_NVLS_TREE) && local > 1) {
        return (ovl_crossing){sharing * (local + 1), local};
    }
    uint64_t times = times_out(algorithm);
    uint64_t parts = scope == OVL_SCOPE_CLUSTER && nodes > 1 ? nodes - (times == 2) : sharing;
    return (ovl_crossing){times * parts, 1};
}

/* --- In the node first, then across --- */

static uint64_t passes(ovl_coll op)
{
    return op == OVL_ALL_REDUCE ? 2 : 1;
}

/* g members on each of m nodes. Own links carry what stays in the node; m nodes send (m - 1)/m of
 * the bytes out of each, once for a pass. */
static ovl_crossing by_levels(int scope, ovl_coll op, const ovl_spread *spread)
{
    uint64_t nodes = spread->nodes, local = spread->members / nodes, times = passes(op);
    if (scope == OVL_SCOPE_GPU) {
        return (ovl_crossing){times * (local - 1), local};
    }
    if (nodes == 1) {
        return (ovl_crossing){times * (local - 1), 1};
    }
    return scope == OVL_SCOPE_NODE ? (ovl_crossing){times * (nodes - 1), nodes}
                                   : (ovl_crossing){times * (nodes - 1), 1};
}

/* --- Links of one scope --- */

ovl_crossing ovl_link_crossing(int scope, ovl_coll op, int algorithm, const ovl_spread *spread)
{
    if (spread->members < 2) {
        return (ovl_crossing){0, 1};
    }
    if (algorithm == OVL_ALGO_HIERARCHICAL) {
        return by_levels(scope, op, spread);
    }
    if (reduces_on_the_way(algorithm, op)) {
        return reduced_on_the_way(scope, algorithm, spread);
    }
    bool tree = algorithm == OVL_ALGO_TREE;
    bool by_node = scope != OVL_SCOPE_GPU && spread->nodes > 1;
    bool inside = scope == OVL_SCOPE_CLUSTER || (scope == OVL_SCOPE_NODE && !by_node);
    ovl_spread parts = by_node ? *spread : ovl_spread_apart(spread->members);
    return inside ? between_parts(op, tree, &parts) : from_part(op, tree, &parts);
}

/* --- Links that serve a block of GPUs, or carry only what leaves one --- */

static ovl_spread as_spread(const ovl_way *way, uint32_t members)
{
    return (ovl_spread){members,           way->parts.count,
                        way->parts.fewest, way->parts.most_pairs,
                        way->parts.pairs,  NULL};
}

/* Levels are those of nodes, whatever the parts. Out of whole nodes goes the ring across, once for
 * all rails together; out of a part of a node the ring inside, and the rails of its members. */
static ovl_crossing levels_out_of_part(ovl_coll op, const ovl_spread *spread, uint64_t parts)
{
    uint64_t m = spread->nodes, g = spread->members / m, own = spread->members / parts;
    if (parts <= m) {
        return (ovl_crossing){passes(op) * (m - 1), m};
    }
    return (ovl_crossing){passes(op) * ((g - 1) * m + own * (m - 1)), g * m};
}

static ovl_crossing out_of_parts(const ovl_way *way, ovl_coll op, int algorithm,
                                 const ovl_spread *spread)
{
    ovl_spread parts = as_spread(way, spread->members);
    bool all = way->served >= way->parts.count;
    if (algorithm == OVL_ALGO_HIERARCHICAL) {
        ovl_crossing c = levels_out_of_part(op, spread, parts.nodes);
        c.num *= all ? parts.nodes : 1;
        return c;
    }
    if (reduces_on_the_way(algorithm, op)) {
        return (ovl_crossing){times_out(algorithm) * (all ? way->parts.count : 1), 1};
    }
    bool tree = algorithm == OVL_ALGO_TREE;
    return all ? between_parts(op, tree, &parts) : from_part(op, tree, &parts);
}

/* The instances of a part share what leaves it in proportion to the members they serve; one that
 * serves several parts carries what leaves each. */
static ovl_crossing leaving(const ovl_way *way, ovl_coll op, int algorithm,
                            const ovl_spread *spread)
{
    if (way->parts.count < 2) {
        return (ovl_crossing){0, 1};
    }
    if (op == OVL_SEND_RECV) {
        return (ovl_crossing){1, 1};
    }
    ovl_crossing c = out_of_parts(way, op, algorithm, spread);
    if (way->served < way->parts.count) {
        c.num *= way->share * way->served;
        c.den *= way->of;
    }
    return c;
}

/* All that the members of a block send: out of it if there are others, else among themselves. */
static ovl_crossing all_of_block(const ovl_way *way, ovl_coll op, int algorithm,
                                 const ovl_spread *spread)
{
    ovl_spread blocks = as_spread(way, spread->members);
    if (algorithm == OVL_ALGO_HIERARCHICAL) {
        ovl_crossing c =
            levels_out_of_part(op, spread, blocks.nodes > 1 ? blocks.nodes : blocks.members);
        c.num *= blocks.nodes > 1 ? 1 : blocks.members;
        return c;
    }
    return ovl_link_crossing(OVL_SCOPE_NODE, op, algorithm, &blocks);
}

ovl_crossing ovl_crossing_of(const ovl_hw *hw, uint32_t link, ovl_coll op, int algorithm,
                             const ovl_spread *spread)
{
    const ovl_hw_link *l = &hw->links[link];
    ovl_crossing c;
    if (!ovl_link_in_blocks(l) || spread->members < 2) {
        c = ovl_link_crossing(l->scope, op, algorithm, spread);
    } else {
        ovl_spread apart = ovl_spread_apart(spread->members);
        ovl_way alone = {{apart.nodes, apart.fewest, apart.most_pairs, apart.pairs}, 1, 1, 1};
        const ovl_way *way = spread->ways ? &spread->ways[link] : &alone;
        c = l->out_of ? leaving(way, op, algorithm, spread)
                      : all_of_block(way, op, algorithm, spread);
    }
    for (uint64_t a = c.num, b = c.den; a;) {
        uint64_t rest = b % a;
        b = a;
        a = rest;
        if (a == 0) {
            c = (ovl_crossing){c.num / b, c.den / b};
        }
    }
    return c;
}

bool ovl_link_in_blocks(const ovl_hw_link *link)
{
    return link->gpus > 0 || link->out_of != 0;
}

bool ovl_link_leaves_node(const ovl_hw_link *link, const ovl_spread *spread)
{
    return spread->nodes > 1 && (link->scope != OVL_SCOPE_GPU || link->out_of != 0);
}
