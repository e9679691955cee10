#include "models/nccl.h"

#include <math.h>

/* Products of bytes, members and powers of ten pass 64 bits. */
__extension__ typedef unsigned __int128 wide;

#define MILLION 1000000u

/* a * 10^12 / b, at most `most`. Long division in two steps of 10^6, so that operands up to 2^108
 * never overflow 128 bits. */
static uint64_t times_tera(wide a, wide b, bool up, uint64_t most)
{
    if (b == 0 || a / b > most) {
        return most;
    }
    wide high = a % b * MILLION;
    wide low = high % b * MILLION;
    wide total = a / b * MILLION * MILLION + high / b * MILLION + low / b;
    total += up && low % b != 0;
    return total > most ? most : (uint64_t)total;
}

ovl_time ovl_bytes_time(uint64_t bytes, uint64_t rate)
{
    return (ovl_time)times_tera(bytes, rate, true, OVL_NEVER);
}

uint64_t ovl_bytes_rate(uint64_t bytes, ovl_time time)
{
    return time <= 0 ? 0 : times_tera(bytes, (wide)time, false, UINT64_MAX);
}

uint64_t ovl_wire_rate(ovl_coll op, uint64_t bytes, uint32_t n, ovl_time transfer)
{
    if (transfer <= 0 || n == 0) {
        return 0;
    }
    bool pair = op == OVL_BROADCAST || op == OVL_REDUCE || op == OVL_SEND_RECV;
    wide times = pair ? n : (wide)(n - 1) * (op == OVL_ALL_REDUCE ? 2 : 1);
    return times_tera(times * bytes, (wide)n * (wide)transfer, false, UINT64_MAX);
}

bool ovl_nodes_fit(int nodes, const ovl_spread *spread)
{
    return nodes == OVL_NODES_ANY || (nodes == OVL_NODES_ONE) == (spread->nodes == 1);
}

bool ovl_machine_fits(uint32_t machine, const ovl_spread *spread)
{
    return machine == 0 || (spread->machines >> machine & 1);
}

bool ovl_names_group(const char *name, const char *group)
{
    size_t length = strcspn(group, "/");
    bool runs =
        group[length] && strspn(group + length + 1, "0123456789") == strlen(group) - length - 1;
    return strcmp(name, group) == 0 ||
           (runs && strlen(name) == length && strncmp(name, group, length) == 0);
}

/* How closely an entry is about a group on such nodes; 0: it is about another. */
static int closeness(const ovl_hw_collective *entry, const char *group, const ovl_spread *spread)
{
    bool named = entry->group && group && ovl_names_group(entry->group, group);
    if ((entry->group && !named) || (spread && (!ovl_nodes_fit(entry->nodes, spread) ||
                                                !ovl_machine_fits(entry->machine, spread)))) {
        return 0;
    }
    return 1 + 4 * named + 2 * (entry->machine != 0) + (entry->nodes != OVL_NODES_ANY);
}

const ovl_hw_collective *ovl_find_collective(const ovl_hw *hw, ovl_coll op, const char *group,
                                             const ovl_spread *spread)
{
    const ovl_hw_collective *best = NULL;
    int most = 0;
    for (uint32_t i = 0; i < hw->n_collectives; i++) {
        const ovl_hw_collective *entry = &hw->collectives[i];
        int close = entry->op == (int)op ? closeness(entry, group, spread) : 0;
        if (close > most) {
            most = close;
            best = entry;
        }
    }
    return best;
}

uint64_t ovl_crossing_rate(ovl_crossing c, uint64_t bytes, ovl_time transfer)
{
    return transfer <= 0
               ? 0
               : times_tera((wide)c.num * bytes, (wide)c.den * (wide)transfer, false, UINT64_MAX);
}

/* --- Textbook formulas --- */

static uint32_t log2_up(uint32_t n)
{
    uint32_t log = 0;
    while (((uint64_t)1 << log) < n) {
        log++;
    }
    return log;
}

/* Steps one after the other, each of which pays the latency; 0: there is no formula. */
static uint64_t steps_of(int algorithm, ovl_coll op, uint32_t n)
{
    bool all_reduce = op == OVL_ALL_REDUCE;
    switch (algorithm) {
    case OVL_ALGO_RING:
    case OVL_ALGO_HIERARCHICAL: /* of n members on one level */
        if (all_reduce || op == OVL_REDUCE_SCATTER || op == OVL_ALL_GATHER) {
            return (all_reduce ? 2 : 1) * (uint64_t)(n - 1);
        }
        break;
    case OVL_ALGO_TREE:
        if (all_reduce || op == OVL_BROADCAST || op == OVL_REDUCE) {
            return (all_reduce ? 2 : 1) * (uint64_t)log2_up(n);
        }
        break;
    case OVL_ALGO_DIRECT:
        return op == OVL_ALL_TO_ALL ? n - 1 : op == OVL_SEND_RECV;
    case OVL_ALGO_NVLS: /* to the switch and back, or one of the two */
        return all_reduce ? 2 : op == OVL_REDUCE_SCATTER || op == OVL_ALL_GATHER;
    case OVL_ALGO_COLLNET:
        return all_reduce ? 2 : 0;
    default:
        break;
    }
    return 0;
}

static const char *algorithm_name(int algorithm)
{
    static const char *const names[] = {"none", "ring",        "tree", "direct",    "hierarchical",
                                        "nccl", "double tree", "nvls", "nvls tree", "sharp"};
    return names[algorithm];
}

static bool covers(int algorithm, ovl_coll op)
{
    return algorithm == OVL_ALGO_NCCL ? ovl_nccl_covers(op) : steps_of(algorithm, op, 2) > 0;
}

bool ovl_check_algorithm(int algorithm, ovl_coll op, ovl_mark mark, ovl_errs *errs)
{
    const char *covered[OVL_COLL_COUNT], *list = "";
    uint32_t n = 0;
    if (covers(algorithm, op)) {
        return true;
    }
    for (int i = 0; i < OVL_COLL_COUNT; i++) {
        if (covers(algorithm, (ovl_coll)i)) {
            covered[n++] = ovl_coll_name((ovl_coll)i);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        const char *glue = i == 0 ? "" : i + 1 == n ? " and " : ", ";
        list = ovl_arena_printf(errs->arena, "%s%s%s", list, glue, covered[i]);
    }
    ovl_error(errs, OVL_E_INPUT, mark, "the %s algorithm has no formula for %s; it covers %s",
              algorithm_name(algorithm), ovl_coll_name(op), list);
    return false;
}

/* Links that work at the same time. A flat algorithm has one level; in levels, the ring inside
 * nodes is the first and what goes across them the second. */
typedef struct level {
    ovl_time latency, transfer;
} level;

/* With PXN what is on the same places of all nodes never leaves its rails. */
static bool keeps_to_rails(const ovl_hw *hw, const ovl_hw_collective *entry,
                           const ovl_hw_link *link, const ovl_spread *spread)
{
    bool off = entry->pxn && link->out_of == OVL_OUT_OF_RAIL && spread->ways;
    return off && spread->ways[link - hw->links].parts < 2;
}

/* What an operation of members that lie so takes over one link. */
static void add_crossings(const ovl_hw *hw, const ovl_hw_collective *entry, uint32_t link,
                          ovl_coll op, uint64_t bytes, const ovl_spread *spread, level *p)
{
    for (uint32_t kind = 0; kind < spread->n_kinds; kind++) {
        ovl_crossing c = ovl_crossing_of_kind(hw, link, op, entry->algorithm, spread, kind);
        ovl_link_speed has = ovl_speed_of(hw, link, spread, kind);
        if (c.num > 0) {
            uint64_t transfer =
                times_tera((wide)c.num * bytes, (wide)c.den * has.bandwidth, true, OVL_NEVER);
            p->transfer = OVL_MAX(p->transfer, (ovl_time)transfer);
            p->latency = OVL_MAX(p->latency, has.latency);
        }
    }
}

/* A step crosses all links of a level, so the greatest latency counts; the link that takes longest
 * decides. False if there is no such link or it has no bandwidth. */
static bool add_link(const ovl_hw *hw, const ovl_hw_collective *entry, const char *name,
                     ovl_coll op, uint64_t bytes, const ovl_spread *spread, level *levels)
{
    const ovl_hw_link *link = ovl_find_link(hw, name);
    if (!link || link->bandwidth == 0) {
        return false;
    }
    uint32_t number = (uint32_t)(link - hw->links);
    bool in_levels = entry->algorithm == OVL_ALGO_HIERARCHICAL;
    ovl_spread on = *spread;
    for (int k = 0; k < 1 + in_levels && !keeps_to_rails(hw, entry, link, spread); k++) {
        on.level = !in_levels ? OVL_LEVELS_BOTH : k == 0 ? OVL_LEVEL_INSIDE : OVL_LEVEL_ACROSS;
        add_crossings(hw, entry, number, op, bytes, &on, &levels[k]);
    }
    return true;
}

static uint64_t steps_on_level(const ovl_hw_collective *entry, ovl_coll op,
                               const ovl_spread *spread, int level_no)
{
    if (entry->algorithm != OVL_ALGO_HIERARCHICAL) {
        return steps_of(entry->algorithm, op, spread->members);
    }
    uint32_t n = level_no == 0 ? spread->members / spread->nodes : spread->nodes;
    return n < 2 ? 0 : steps_of(OVL_ALGO_RING, op, n);
}

static ovl_time in_range(wide time)
{
    return time > OVL_NEVER ? OVL_NEVER : (ovl_time)time;
}

/* What is done on a level at once, or half of it: first the one, then the other. */
typedef enum portion { ALL, FIRST_HALF, SECOND_HALF } portion;

static ovl_comm_phase phase_of(const ovl_comm_phase *all, portion part)
{
    ovl_comm_phase half = {all->latency / 2, all->transfer / 2, all->level};
    ovl_comm_phase rest = {all->latency - half.latency, all->transfer - half.transfer, all->level};
    return part == ALL ? *all : part == FIRST_HALF ? half : rest;
}

/* An all-reduce reduces inside and gathers there again when what is reduced has gone across. One
 * level alone has no phases. */
static void set_phases(ovl_coll op, const ovl_comm_phase *inside, const ovl_comm_phase *across,
                       ovl_comm_time *time)
{
    bool both = inside->latency + inside->transfer > 0 && across->latency + across->transfer > 0;
    ovl_comm_phase *p = time->phases;
    if (!both) {
        return;
    }
    if (op == OVL_ALL_REDUCE) {
        p[time->n_phases++] = phase_of(inside, FIRST_HALF);
    } else if (op == OVL_REDUCE_SCATTER) {
        p[time->n_phases++] = phase_of(inside, ALL);
    }
    p[time->n_phases++] = *across;
    if (op == OVL_ALL_REDUCE) {
        p[time->n_phases++] = phase_of(inside, SECOND_HALF);
    } else if (op == OVL_ALL_GATHER) {
        p[time->n_phases++] = phase_of(inside, ALL);
    }
}

/* Levels one after the other. */
static bool over_links(const ovl_hw *hw, const ovl_hw_collective *entry, ovl_coll op,
                       uint64_t bytes, const ovl_spread *spread, ovl_comm_time *time)
{
    level levels[2] = {{0, 0}, {0, 0}};
    ovl_comm_phase on[2] = {{0, 0, OVL_LEVEL_INSIDE}, {0, 0, OVL_LEVEL_ACROSS}};
    for (uint32_t i = 0; i < entry->via.count; i++) {
        if (!add_link(hw, entry, entry->via.item[i], op, bytes, spread, levels)) {
            return false;
        }
    }
    for (int k = 0; k < 2; k++) {
        on[k].latency =
            in_range((wide)steps_on_level(entry, op, spread, k) * (wide)levels[k].latency);
        on[k].transfer = levels[k].transfer;
    }
    time->latency = in_range((wide)on[0].latency + (wide)on[1].latency);
    time->transfer = in_range((wide)on[0].transfer + (wide)on[1].transfer);
    if (entry->algorithm == OVL_ALGO_HIERARCHICAL) {
        set_phases(op, &on[0], &on[1], time);
    }
    return entry->via.count > 0;
}

/* A link for more GPUs than a node has lies between single members if all are in one block of it.
 * Of several blocks it is the way out, as with out_of; but then blocks would be the levels, not
 * nodes: which of the two is meant has to be said. */
static bool check_blocks_said(const ovl_hw *hw, const ovl_hw_collective *entry, ovl_coll op,
                              const ovl_spread *spread, ovl_mark mark, ovl_errs *errs)
{
    for (uint32_t i = 0; i < entry->via.count && spread->nodes > 1; i++) {
        const ovl_hw_link *link = ovl_find_link(hw, entry->via.item[i]);
        bool larger = link && !link->out_of && hw->gpus_at_most && link->gpus > hw->gpus_at_most;
        if (larger && spread->ways && spread->ways[link - hw->links].served < spread->members) {
            ovl_error(errs, OVL_E_INPUT, mark,
                      "the hierarchical formula of %s goes over %s, which serves blocks of %" PRId64
                      " GPUs, more than a node has; the members lie in several of them: give "
                      "it out_of: %" PRId64
                      " (what leaves a block), or out_of: node (what leaves a "
                      "node)",
                      ovl_coll_name(op), link->name, link->gpus, link->gpus);
            return false;
        }
    }
    return true;
}

/* As many members on every node, or domain in place of it, and a way out of it; a mesh that is no
 * domain does not reach from one node of it to the next. */
static bool check_levels(const ovl_hw *hw, const ovl_hw_collective *entry, ovl_coll op,
                         const ovl_spread *spread, ovl_mark mark, ovl_errs *errs)
{
    if (!check_blocks_said(hw, entry, op, spread, mark, errs)) {
        return false;
    }
    const ovl_hw_link *domain = ovl_domain_link(hw, &entry->via);
    bool out = spread->nodes < 2;
    for (uint32_t i = 0; i < entry->via.count; i++) {
        const ovl_hw_link *link = ovl_find_link(hw, entry->via.item[i]);
        out |= link && ovl_link_leaves_node(link, spread);
        if (domain && link && link->wire && link->mesh != domain->out_of) {
            ovl_error(errs, OVL_E_INPUT, mark,
                      "the hierarchical formula of %s goes over a mesh of %" PRId64
                      " GPUs (%.*s), and nothing else in `via` carries what goes between two of "
                      "them inside the %" PRId64
                      " ranks that %s leaves: add that link to `via`, such as one with out_of: "
                      "node",
                      ovl_coll_name(op), link->mesh, (int)strcspn(link->name, "+"), link->name,
                      domain->out_of, domain->name);
            return false;
        }
    }
    if (!out) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "the hierarchical formula of %s needs a link in `via` that leaves the node: one "
                  "with out_of: node, or of scope node or cluster",
                  ovl_coll_name(op));
    } else if (spread->fewest * spread->nodes != spread->members) {
        const char *place = "node";
        if (domain) {
            place = ovl_arena_printf(errs->arena, "block of %" PRId64 " that %s leaves",
                                     domain->out_of, domain->name);
        }
        ovl_error(errs, OVL_E_INPUT, mark,
                  "the hierarchical formula of %s needs as many members on every %s; %" PRIu32
                  " lie unevenly on %" PRIu32 " %s, %" PRIu32 " to %" PRIu32
                  " on each: give it a `table`, or algorithm: ring, in which the busiest counts",
                  ovl_coll_name(op), place, spread->members, spread->nodes,
                  domain ? "of them" : "nodes", spread->fewest, spread->most);
        out = false;
    }
    return out;
}

/* NVLink domains that members lie in: blocks of a link in `via` that is said in them, else nodes.
 */
static uint32_t domains_of(const ovl_hw *hw, const ovl_hw_collective *entry,
                           const ovl_spread *spread)
{
    uint32_t most = 1;
    bool said = false;
    for (uint32_t i = 0; i < entry->via.count; i++) {
        const ovl_hw_link *link = ovl_find_link(hw, entry->via.item[i]);
        bool blocks = link && !ovl_link_on_rails(link) && (link->gpus > 1 || link->out_of != 0);
        if (blocks) {
            const ovl_way *way = spread->ways ? &spread->ways[link - hw->links] : NULL;
            bool one = way && !link->out_of && way->served == spread->members;
            most = OVL_MAX(most, one ? 1 : way ? way->parts : spread->members);
            said = true;
        }
    }
    return said ? most : spread->nodes;
}

/* A switch of NVLink reduces for the GPUs it connects, the network's for those of several nodes. */
static bool check_switches(const ovl_hw *hw, const ovl_hw_collective *entry, ovl_coll op,
                           const ovl_spread *spread, ovl_mark mark, ovl_errs *errs)
{
    uint32_t domains = entry->algorithm == OVL_ALGO_NVLS ? domains_of(hw, entry, spread) : 1;
    if (domains > 1) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "the nvls formula of %s is for the members of one NVLink domain, which is a node "
                  "unless gpus or out_of of a link in `via` say a block; here they are in %" PRIu32
                  ": algorithm: nccl has trees of switches",
                  ovl_coll_name(op), domains);
        return false;
    }
    if (entry->algorithm == OVL_ALGO_COLLNET && spread->nodes == 1 && hw->gpus_per_node > 0) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "the sharp formula of %s is for members on several nodes, as the switches of the "
                  "network reduce; here they are on one: algorithm: nvls reduces inside it",
                  ovl_coll_name(op));
        return false;
    }
    return true;
}

/* A formula whose steps lie one after another on different wires, or that needs a switch. */
static bool check_wires(const ovl_hw *hw, const ovl_hw_collective *entry, ovl_coll op,
                        ovl_mark mark, ovl_errs *errs)
{
    bool fits = entry->algorithm == OVL_ALGO_RING || entry->algorithm == OVL_ALGO_DIRECT ||
                entry->algorithm == OVL_ALGO_HIERARCHICAL;
    for (uint32_t i = 0; i < entry->via.count && !fits; i++) {
        const ovl_hw_link *link = ovl_find_link(hw, entry->via.item[i]);
        if (link && link->wire) {
            ovl_error(errs, OVL_E_INPUT, mark,
                      "the %s formula of %s is not known for a mesh of wires (%.*s): ring, "
                      "hierarchical and direct are",
                      algorithm_name(entry->algorithm), ovl_coll_name(op),
                      (int)strcspn(link->name, "+"), link->name);
            return false;
        }
    }
    return true;
}

static bool by_formula(const ovl_hw *hw, const ovl_hw_collective *entry, ovl_coll op,
                       uint64_t bytes, const ovl_spread *spread, ovl_mark mark, ovl_comm_time *time,
                       ovl_errs *errs)
{
    ovl_spread seen = ovl_formula_spread(hw, entry->algorithm, &entry->via, spread);
    if (!ovl_check_algorithm(entry->algorithm, op, mark, errs) ||
        !check_wires(hw, entry, op, mark, errs) ||
        !check_switches(hw, entry, op, spread, mark, errs) ||
        (entry->algorithm == OVL_ALGO_HIERARCHICAL &&
         !check_levels(hw, entry, op, &seen, mark, errs))) {
        return false;
    }
    if (!over_links(hw, entry, op, bytes, &seen, time)) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "the %s formula of %s needs a link with a bandwidth in `via`",
                  algorithm_name(entry->algorithm), ovl_coll_name(op));
        return false;
    }
    return true;
}

/* --- Measured tables --- */

static double log_time(const ovl_hw_point *point)
{
    return log((double)OVL_MAX(point->time, 1));
}

/* On the line through two points in (log bytes, log time). exp and log err by some 10^-15 of the
 * value; that much is taken off before rounding up, so that a whole result stays whole. */
static ovl_time on_line(const ovl_hw_point *a, const ovl_hw_point *b, uint64_t bytes)
{
    double from = log((double)OVL_MAX(a->bytes, 1)), to = log((double)b->bytes);
    double slope = (log_time(b) - log_time(a)) / (to - from);
    double time = exp(log_time(a) + (log((double)bytes) - from) * slope);
    time = ceil(time * (1 - 1e-13));
    return time >= 9e18 ? OVL_NEVER : (ovl_time)time;
}

/* The same in (bytes, time), exact and rounded up; below 0 it is 0. */
static ovl_time on_straight(const ovl_hw_point *a, const ovl_hw_point *b, uint64_t bytes)
{
    bool rises = b->time >= a->time, after = bytes >= a->bytes, up = rises == after;
    wide dt = (wide)(rises ? b->time - a->time : a->time - b->time);
    wide product = dt * (after ? bytes - a->bytes : a->bytes - bytes);
    wide span = b->bytes - a->bytes, change = product / span;
    if (!up) {
        return change >= (wide)a->time ? 0 : a->time - (ovl_time)change;
    }
    wide time = (wide)a->time + change + (product % span != 0);
    return time > OVL_NEVER ? OVL_NEVER : (ovl_time)time;
}

static bool by_table(const ovl_hw_collective *entry, ovl_coll op, uint64_t bytes, ovl_mark mark,
                     ovl_comm_time *time, bool *extrapolated, ovl_errs *errs)
{
    const ovl_hw_point *table = entry->table;
    uint32_t n = entry->n_table, upper = 0;
    while (upper < n && table[upper].bytes < bytes) {
        upper++;
    }
    if (upper < n && table[upper].bytes == bytes) {
        time->transfer = table[upper].time;
        return true;
    }
    bool outside = upper == 0 || upper == n;
    if (outside && (!entry->extrapolate || n < 2)) {
        char size[OVL_UNITS_TEXT], low[OVL_UNITS_TEXT], high[OVL_UNITS_TEXT];
        ovl_error(errs, OVL_E_INPUT, mark,
                  "%s of %s is outside the measured table of the hardware (%s to %s); measure "
                  "more%s",
                  ovl_coll_name(op), ovl_print_bytes(size, bytes),
                  ovl_print_bytes(low, table[0].bytes), ovl_print_bytes(high, table[n - 1].bytes),
                  n < 2 ? "" : ", or say extrapolate: true");
        return false;
    }
    *extrapolated |= outside;
    upper = upper == 0 ? 1 : OVL_MIN(upper, n - 1);
    bool straight = entry->between == OVL_BETWEEN_BYTES;
    const ovl_hw_point *a = &table[upper - 1], *b = &table[upper];
    time->transfer = bytes == 0 ? 0 : straight ? on_straight(a, b, bytes) : on_line(a, b, bytes);
    return true;
}

/* --- NCCL's model --- */

static bool by_nccl(const ovl_hw *hw, ovl_coll op, uint64_t bytes, const ovl_spread *spread,
                    ovl_mark mark, ovl_comm_time *time, ovl_errs *errs)
{
    ovl_nccl_choice choice;
    if (!ovl_check_algorithm(OVL_ALGO_NCCL, op, mark, errs) ||
        !ovl_nccl_choose(&hw->nccl, op, bytes, spread, mark, &choice, errs)) {
        return false;
    }
    *time = choice.time;
    time->nccl = true;
    time->algo = (uint8_t)choice.algo;
    time->proto = (uint8_t)choice.proto;
    time->channels = choice.channels;
    return true;
}

/* --- The two ways in --- */

static bool isolated(const ovl_hw *hw, const ovl_hw_collective *entry, ovl_coll op, uint64_t bytes,
                     const ovl_spread *spread, ovl_mark mark, ovl_comm_time *time,
                     bool *extrapolated, ovl_errs *errs)
{
    if (entry->n_table) {
        return by_table(entry, op, bytes, mark, time, extrapolated, errs);
    }
    if (entry->algorithm == OVL_ALGO_NCCL) {
        return by_nccl(hw, op, bytes, spread, mark, time, errs);
    }
    if (entry->algorithm != OVL_ALGO_NONE) {
        return by_formula(hw, entry, op, bytes, spread, mark, time, errs);
    }
    time->latency = entry->has_alpha ? entry->alpha : 0;
    time->transfer = entry->has_beta ? ovl_bytes_time(bytes, entry->beta) : 0;
    return true;
}

bool ovl_collective_time(const ovl_hw *hw, const ovl_hw_collective *entry, ovl_coll op,
                         uint64_t bytes, const ovl_spread *spread, const char *name, ovl_mark mark,
                         ovl_comm_time *time, bool *extrapolated, ovl_errs *errs)
{
    ovl_comm_time found = {0};
    if (spread->members > 1 &&
        !isolated(hw, entry, op, bytes, spread, mark, &found, extrapolated, errs)) {
        return false;
    }
    if (found.transfer > OVL_TIME_MAX || found.latency > OVL_TIME_MAX - found.transfer) {
        ovl_error(errs, OVL_E_INPUT, mark, "\"%s\" takes longer than time can count (53 days)",
                  name);
        return false;
    }
    *time = found;
    return true;
}

/* Seconds to picoseconds, rounded up; OVL_NEVER beyond the range. */
static ovl_time seconds(double s)
{
    double time = ceil(s * 1e12);
    return time < 9e18 ? (ovl_time)time : OVL_NEVER;
}

/* An efficiency that was not given is 1. */
static double efficiency(double given)
{
    return given > 0 ? given : 1;
}

bool ovl_kernel_time(const ovl_hw *hw, double flops, uint64_t hbm_bytes, ovl_dtype dtype,
                     const char *name, ovl_mark mark, ovl_time *duration, ovl_time *compute,
                     ovl_errs *errs)
{
    double peak = hw->gpu.peak.rate[dtype], hbm = (double)hw->gpu.hbm;
    bool ok = true;
    if (flops > 0 && peak <= 0) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "\"%s\" is given by FLOPs, which needs the hardware's gpu.peak for %s%s%s%s",
                  name, ovl_dtype_name(dtype), hw->on ? " on nodes \"" : "", hw->on ? hw->on : "",
                  hw->on ? "\"" : "");
        ok = false;
    }
    if (hbm_bytes > 0 && hw->gpu.hbm == 0) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "\"%s\" is given by HBM bytes, which needs the hardware's gpu.hbm", name);
        ok = false;
    }
    if (!ok) {
        return false;
    }
    ovl_time work = flops > 0 ? seconds(flops / (peak * efficiency(hw->gpu.efficiency))) : 0;
    double memory = hbm_bytes ? (double)hbm_bytes / (hbm * efficiency(hw->gpu.hbm_efficiency)) : 0;
    ovl_time longest = OVL_MAX(work, seconds(memory));
    if (longest > OVL_TIME_MAX) {
        ovl_error(errs, OVL_E_INPUT, mark, "\"%s\" takes longer than time can count (53 days)",
                  name);
        return false;
    }
    *duration = longest;
    *compute = work;
    return true;
}
