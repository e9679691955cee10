#include "models/nccl.h"

#include "models/nccl_tables.h"

#include <math.h>

const char *const ovl_nccl_algo_names[] = {
    "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT", NULL,
};
const char *const ovl_nccl_proto_names[] = {"LL", "LL128", "Simple", NULL};

/* What one evaluation of the model is about. */
typedef struct tuned {
    const ovl_hw_nccl *nccl;
    const ovl_hw_graph *graph;
    int gpu; /* generation */
    ovl_coll op;
    ovl_nccl_algo algo;
    ovl_nccl_proto proto;
    uint32_t ranks, nodes;
    double per_node;
    uint32_t span; /* 0 one node, 1 two, 2 more: the column of a cap */
} tuned;

bool ovl_nccl_covers(ovl_coll op)
{
    return op != OVL_ALL_TO_ALL && op != OVL_SEND_RECV;
}

static bool old_version(const ovl_hw_nccl *nccl)
{
    return strcmp(nccl->version, "2.27.5") == 0;
}

static bool is_nvls(ovl_nccl_algo algo)
{
    return algo == OVL_NCCL_NVLS || algo == OVL_NCCL_NVLS_TREE;
}

static bool is_collnet(ovl_nccl_algo algo)
{
    return algo == OVL_NCCL_COLLNET_DIRECT || algo == OVL_NCCL_COLLNET_CHAIN;
}

static bool gathers(ovl_coll op)
{
    return op == OVL_ALL_GATHER || op == OVL_REDUCE_SCATTER;
}

/* --- Which pairs there are --- */

/* Off below NCCL_COLLNET_NODE_THRESHOLD, 2 nodes (src/init.cc). */
static bool collnet(const tuned *t)
{
    return t->graph->collnet_channels > 0 && t->nodes > 1;
}

/* Off where a node has no more than 2 of the GPUs (src/transport/nvls.cc). */
static bool nvls(const tuned *t)
{
    return t->graph->nvls_channels >= 2 && t->per_node > 2;
}

static bool algo_for(const tuned *t)
{
    if (t->op == OVL_BROADCAST || t->op == OVL_REDUCE) {
        return t->algo == OVL_NCCL_RING;
    }
    switch (t->algo) {
    case OVL_NCCL_RING:
        return true;
    case OVL_NCCL_TREE:
        return t->op == OVL_ALL_REDUCE;
    case OVL_NCCL_COLLNET_DIRECT: /* of AG and RS across nodes nothing is known here */
    case OVL_NCCL_COLLNET_CHAIN:
        return t->op == OVL_ALL_REDUCE && collnet(t);
    case OVL_NCCL_NVLS:
        return nvls(t) && (t->nodes == 1 || (collnet(t) && t->op == OVL_ALL_REDUCE));
    case OVL_NCCL_NVLS_TREE:
        return nvls(t) && t->nodes > 1 && t->op == OVL_ALL_REDUCE;
    case OVL_NCCL_PAT:
        return gathers(t->op) && t->nodes == t->ranks && t->nodes > 1;
    case OVL_NCCL_ALGOS:
        break;
    }
    return false;
}

static bool there_is(const tuned *t)
{
    bool only_simple = t->algo != OVL_NCCL_RING && t->algo != OVL_NCCL_TREE;
    return algo_for(t) && (!only_simple || t->proto == OVL_NCCL_SIMPLE);
}

/* --- Bandwidth, GB/s --- */

static double giga(uint64_t rate)
{
    return (double)rate / 1e9;
}

static double either(uint64_t given, uint64_t otherwise)
{
    return giga(given ? given : otherwise);
}

static uint32_t channels_of(const ovl_hw_graph *graph, ovl_nccl_algo algo)
{
    int64_t n = is_nvls(algo)      ? graph->nvls_channels
                : is_collnet(algo) ? graph->collnet_channels
                                   : graph->channels;
    return (uint32_t)n;
}

/* The least of what a channel does inside a node, across nodes, and its cap. An all-reduce works
 * both ways at once; on two nodes the tree has one hop. */
static double nvls_channel(const tuned *t)
{
    const ovl_hw_graph *g = t->graph;
    double channels = (double)g->nvls_channels;
    double intra = giga(g->nvls), inter = either(g->nvls_inter, g->nvls);
    inter *= t->nodes <= 2 && t->algo == OVL_NCCL_NVLS_TREE ? 2 : 1;
    if (old_version(t->nccl)) {
        return OVL_MIN(intra, inter);
    }
    intra *= ovl_nccl_nvls_efficiency[t->gpu] * (channels - 1) / channels;
    intra *= t->op == OVL_ALL_REDUCE ? 2 : (t->per_node - 1) / t->per_node;
    double bandwidth = OVL_MIN(intra, inter);
    double cap = ovl_nccl_nvls_tree_max[t->gpu][t->span];
    return t->algo == OVL_NCCL_NVLS_TREE ? OVL_MIN(bandwidth, cap) : bandwidth;
}

static double channel_rate(const tuned *t)
{
    const ovl_hw_graph *g = t->graph;
    bool intra = t->nodes <= 2;
    if (is_nvls(t->algo)) {
        return nvls_channel(t);
    }
    if (is_collnet(t->algo)) {
        return giga(g->collnet);
    }
    if (t->algo == OVL_NCCL_TREE) {
        uint64_t tree = g->tree ? g->tree : g->ring;
        return intra ? giga(tree) : either(g->tree_inter, g->ring_inter ? g->ring_inter : tree);
    }
    return intra ? giga(g->ring) : either(g->ring_inter, g->ring);
}

/* LL is bound in all: on one node by the GPU, on several by the CPU. */
static double ll_max(const tuned *t)
{
    int row = t->nodes == 1 ? t->gpu : t->nccl->cpu == 1;
    return ovl_nccl_ll_max[row][t->span];
}

static double ring_bus(const tuned *t, double bus)
{
    double cap = t->graph->channels * ovl_nccl_ring_ll128_max[t->gpu][t->span];
    switch (t->proto) {
    case OVL_NCCL_LL:
        return OVL_MIN(ll_max(t), bus * 0.5);
    case OVL_NCCL_LL128:
        return OVL_MIN(bus * 0.92, cap);
    case OVL_NCCL_SIMPLE:
    case OVL_NCCL_PROTOS:
        break;
    }
    return bus;
}

static double tree_bus(const tuned *t, double bus)
{
    double channels = (double)t->graph->channels;
    bus = OVL_MIN(bus * 0.92, channels * ovl_nccl_tree_max[t->gpu][t->span]);
    if (t->proto == OVL_NCCL_LL) {
        bus = OVL_MIN(bus / 3.8, ll_max(t));
    } else if (t->proto == OVL_NCCL_LL128) {
        double share = t->nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0;
        bus = OVL_MIN(bus * share, channels * ovl_nccl_tree_ll128_max[t->gpu][t->span]);
    }
    return t->nccl->balanced_tree ? bus : bus * 0.85;
}

/* Full speed wants a NIC beside each GPU. */
static double collnet_direct_bus(const tuned *t, double bus)
{
    double factor = t->per_node / (double)t->graph->collnet_channels;
    factor -= (factor - 1) / 2;
    return bus / factor * (t->gpu >= 2 ? 0.85 : 1);
}

static uint64_t steps_of(ovl_coll op, uint64_t n)
{
    return op == OVL_ALL_REDUCE ? 2 * (n - 1) : gathers(op) ? n - 1 : n;
}

/* From bytes on the wire to bytes of the caller. The 5/6 of version 2.27.5 is inferred from the
 * four NVLSTree rows of a log of that version. */
static double to_algbw(const tuned *t, double bus)
{
    double ring = (double)t->ranks / (double)steps_of(t->op, t->ranks);
    if (t->algo == OVL_NCCL_RING) {
        return bus * ring;
    }
    if (gathers(t->op)) {
        return bus;
    }
    if (is_nvls(t->algo)) {
        return bus * (old_version(t->nccl) ? 5.0 / 6.0 : ring);
    }
    return bus * 0.5;
}

static double bandwidth_of(const tuned *t)
{
    double bus = channels_of(t->graph, t->algo) * channel_rate(t);
    switch (t->algo) {
    case OVL_NCCL_RING:
        bus = ring_bus(t, bus);
        break;
    case OVL_NCCL_TREE:
        bus = tree_bus(t, bus);
        break;
    case OVL_NCCL_PAT:
        bus *= 0.75;
        break;
    case OVL_NCCL_COLLNET_DIRECT:
        bus = collnet_direct_bus(t, bus);
        break;
    case OVL_NCCL_COLLNET_CHAIN:
    case OVL_NCCL_NVLS:
    case OVL_NCCL_NVLS_TREE:
    case OVL_NCCL_ALGOS:
        break;
    }
    return to_algbw(t, bus);
}

/* --- Latency, us --- */

static double log2_down(uint64_t n)
{
    int log = 0;
    while (n >>= 1) {
        log++;
    }
    return log;
}

static double wire(ovl_nccl_wire kind, ovl_nccl_algo algo, ovl_nccl_proto proto)
{
    return ovl_nccl_wire_latency[kind][algo][proto];
}

/* A hop across nodes. Alone on its node a GPU sees the whole of it; Simple flushes, too. */
static double inter_latency(const tuned *t)
{
    double latency = wire(OVL_NCCL_NET, t->per_node <= 1 ? OVL_NCCL_TREE : t->algo, t->proto);
    if (t->algo == OVL_NCCL_NVLS_TREE && old_version(t->nccl)) {
        latency = OVL_NCCL_NVLS_TREE_2_27;
    }
    double path = (double)t->nccl->path / OVL_US;
    return latency + path * (t->proto == OVL_NCCL_SIMPLE ? 2 : 1);
}

/* A ring over several nodes pays the host's cost of the network in each step: 1 us with an Intel
 * CPU, 2 with AMD; three messages in Simple. */
static double ring_hop(const tuned *t, double intra)
{
    static const double overhead[] = {1, 2, 1};
    if (t->nodes == 1) {
        return intra;
    }
    double least = overhead[t->nccl->cpu] * (t->proto == OVL_NCCL_SIMPLE ? 3 : 1);
    return OVL_MAX(intra, least);
}

/* Reduce and broadcast are pipelined along the chain: one hop counts. */
static double ring_latency(const tuned *t, double intra, double inter)
{
    if (t->op == OVL_BROADCAST || t->op == OVL_REDUCE) {
        return t->nodes == 1 ? intra : wire(OVL_NCCL_NET, t->algo, t->proto);
    }
    double steps = (double)steps_of(t->op, t->ranks);
    double across = t->nodes == 1 ? 0 : (double)steps_of(t->op, t->nodes);
    return (steps - across) * ring_hop(t, intra) + across * inter;
}

static double latency_of(const tuned *t)
{
    ovl_nccl_wire kind = t->nccl->link == 0 ? OVL_NCCL_NVLINK : OVL_NCCL_PCI;
    double base = ovl_nccl_base[t->algo][t->proto], intra = wire(kind, t->algo, t->proto);
    double inter = inter_latency(t), local = floor(t->per_node) - 1, log = log2_down(t->nodes);
    switch (t->algo) {
    case OVL_NCCL_RING:
        return base + ring_latency(t, intra, inter);
    case OVL_NCCL_TREE:
        return base + 2 * (local * intra + log * inter);
    case OVL_NCCL_COLLNET_DIRECT: /* 0.4 us for each neighbour that waits its turn */
        return base + 2 * (OVL_MIN(1, local) * intra + local * 0.4) + inter;
    case OVL_NCCL_COLLNET_CHAIN:
        return base + 2 * local * intra + inter;
    case OVL_NCCL_NVLS:
        return t->nodes > 1 ? intra + inter : intra;
    case OVL_NCCL_NVLS_TREE:
        return base + intra + 2 * log * inter;
    case OVL_NCCL_PAT:
        return base + log * (inter / 3.5) + t->ranks * 2.8;
    case OVL_NCCL_ALGOS:
        break;
    }
    return 0;
}

static tuned tuned_for(const ovl_hw_nccl *nccl, const ovl_hw_graph *graph, ovl_coll op,
                       const ovl_spread *spread)
{
    return (tuned){.nccl = nccl,
                   .graph = graph,
                   .gpu = graph->has_gpu ? graph->gpu : nccl->gpu,
                   .op = op,
                   .ranks = spread->members,
                   .nodes = spread->nodes,
                   .per_node = (double)spread->members / spread->nodes,
                   .span = OVL_MIN(spread->nodes, 3) - 1};
}

static ovl_nccl_pair tune(const tuned *t)
{
    if (!there_is(t)) {
        return (ovl_nccl_pair){0, 0};
    }
    return (ovl_nccl_pair){latency_of(t), bandwidth_of(t)};
}

ovl_nccl_pair ovl_nccl_tune(const ovl_hw_nccl *nccl, const ovl_hw_graph *graph, ovl_coll op,
                            ovl_nccl_algo algo, ovl_nccl_proto proto, const ovl_spread *spread)
{
    tuned t = tuned_for(nccl, graph, op, spread);
    t.algo = algo;
    t.proto = proto;
    return tune(&t);
}

/* --- The choice --- */

const ovl_hw_graph *ovl_nccl_graph(const ovl_hw_nccl *nccl, const ovl_spread *spread)
{
    const ovl_hw_graph *found = NULL;
    for (uint32_t i = 0; i < nccl->graphs.count; i++) {
        const ovl_hw_graph *graph = OVL_ITEM(nccl->graphs, ovl_hw_graph, i);
        bool fits = ovl_nodes_fit(graph->nodes, spread) && graph->gpus == spread->fewest;
        if (!fits || !ovl_machine_fits(graph->machine, spread)) {
            continue;
        }
        if (graph->machine) {
            return graph;
        }
        found = found ? found : graph;
    }
    return found;
}

static bool allowed(const ovl_texts *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (strcmp(list->item[i], name) == 0) {
            return true;
        }
    }
    return list->count == 0;
}

static bool enabled(const tuned *t)
{
    bool ll128 = t->proto != OVL_NCCL_LL128 || (t->nccl->link == 0 && !t->nccl->no_ll128);
    return ll128 && allowed(&t->nccl->algorithms, ovl_nccl_algo_names[t->algo]) &&
           allowed(&t->nccl->protocols, ovl_nccl_proto_names[t->proto]);
}

static double corrected(const tuned *t, uint64_t bytes, double bandwidth)
{
    double log = log2_down(bytes >> 6);
    bool trees = t->algo == OVL_NCCL_TREE;
    return trees && log < OVL_NCCL_CORRECTIONS
               ? bandwidth * ovl_nccl_tree_correction[t->proto][(int)log]
               : bandwidth;
}

/* A ring across nodes with Simple: its latency grows once each channel of each rank has 64 bytes.
 */
static double plateau(const tuned *t, uint64_t bytes)
{
    bool ring = t->algo == OVL_NCCL_RING && t->proto == OVL_NCCL_SIMPLE && t->nodes > 1 &&
                t->op == OVL_ALL_REDUCE;
    if (!ring || bytes / ((uint64_t)t->graph->channels * t->ranks) < 64) {
        return 1;
    }
    return t->gpu == 0 ? 1.9 : 1.4;
}

/* Picoseconds; what the division errs by is taken off before rounding up. */
static ovl_time transfer_time(uint64_t bytes, double gigabytes)
{
    double time = (double)bytes / gigabytes * 1e3;
    time = ceil(time * (1 - 1e-13));
    return time < 9e18 ? (ovl_time)time : OVL_NEVER;
}

static ovl_comm_time time_of(const tuned *t, const ovl_nccl_pair *pair, uint64_t bytes)
{
    double latency = pair->latency * plateau(t, bytes);
    return (ovl_comm_time){.latency = (ovl_time)llround(latency * 1e6),
                           .transfer = transfer_time(bytes, corrected(t, bytes, pair->bandwidth))};
}

/* Blocks for so many bytes: one channel less while each thread would have less than its threshold.
 */
static uint32_t channels_taken(const tuned *t, uint64_t bytes)
{
    uint64_t threads = t->proto == OVL_NCCL_LL128 ? 640 : 512;
    uint64_t threshold = t->proto == OVL_NCCL_SIMPLE ? 64 : 8;
    threshold *= t->proto == OVL_NCCL_LL && t->algo == OVL_NCCL_RING ? t->ranks : 1;
    uint32_t channels = channels_of(t->graph, t->algo);
    if (is_nvls(t->algo) || is_collnet(t->algo)) {
        return channels;
    }
    uint64_t enough = bytes / (threads * threshold);
    return (uint32_t)OVL_MAX(OVL_MIN(enough, channels), 1);
}

static void consider(const tuned *t, uint64_t bytes, ovl_nccl_choice *best)
{
    ovl_nccl_pair pair = tune(t);
    if (pair.bandwidth <= 0 || !enabled(t)) {
        return;
    }
    ovl_comm_time time = time_of(t, &pair, bytes);
    ovl_time before = OVL_TIME_MAX - best->time.latency;
    bool better = best->channels == 0 ||
                  (before >= best->time.transfer && time.transfer <= OVL_TIME_MAX &&
                   time.latency + time.transfer < best->time.latency + best->time.transfer);
    if (better) {
        *best = (ovl_nccl_choice){t->algo, t->proto, pair, channels_taken(t, bytes), time};
    }
}

static bool no_graph(const ovl_hw_nccl *nccl, const ovl_spread *spread, ovl_mark mark,
                     ovl_errs *errs)
{
    uint32_t per_node = spread->fewest;
    if (spread->most > per_node) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "nccl.graphs says nothing of communicators with %" PRIu32 " to %" PRIu32
                  " GPUs on each of %" PRIu32 " nodes (%" PRIu32 " in all); NCCL takes what its "
                  "poorest node has: add an entry {gpus: %" PRIu32 ", channels: ..., ring: ...} "
                  "(%s:%" PRIu32 ")",
                  per_node, spread->most, spread->nodes, spread->members, per_node,
                  nccl->mark.file ? nccl->mark.file : "hardware", nccl->mark.line);
        return false;
    }
    ovl_error(errs, OVL_E_INPUT, mark,
              "nccl.graphs says nothing of communicators with %" PRIu32 " GPU%s on each of %" PRIu32
              " node%s; add an entry {gpus: %" PRIu32 ", channels: ..., ring: ...} (%s:%" PRIu32
              ")",
              per_node, per_node == 1 ? "" : "s", spread->nodes, spread->nodes == 1 ? "" : "s",
              per_node, nccl->mark.file ? nccl->mark.file : "hardware", nccl->mark.line);
    return false;
}

bool ovl_nccl_choose(const ovl_hw_nccl *nccl, ovl_coll op, uint64_t bytes, const ovl_spread *spread,
                     ovl_mark mark, ovl_nccl_choice *choice, ovl_errs *errs)
{
    if (!nccl->given) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "algorithm: nccl needs the hardware's `nccl`: version, gpu, graphs");
        return false;
    }
    const ovl_hw_graph *graph = ovl_nccl_graph(nccl, spread);
    if (!graph) {
        return no_graph(nccl, spread, mark, errs);
    }
    tuned t = tuned_for(nccl, graph, op, spread);
    ovl_nccl_choice best = {0};
    for (int algo = 0; algo < OVL_NCCL_ALGOS; algo++) {
        for (int proto = 0; proto < OVL_NCCL_PROTOS; proto++) {
            t.algo = (ovl_nccl_algo)algo;
            t.proto = (ovl_nccl_proto)proto;
            consider(&t, bytes, &best);
        }
    }
    if (best.channels == 0) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "none of the allowed NCCL algorithms and protocols can do %s of %" PRIu32
                  " ranks on %" PRIu32 " node%s",
                  ovl_coll_name(op), spread->members, spread->nodes, spread->nodes == 1 ? "" : "s");
        return false;
    }
    *choice = best;
    return true;
}
