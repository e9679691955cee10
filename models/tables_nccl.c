#include "models/nccl.h"
#include "models/tables.h"

/* --- Channels --- */

#define CHANNELS_MAX 64 /* NCCL's MAXCHANNELS */

static const char *const gpu_names[] = {"volta", "ampere", "hopper", "blackwell", NULL};

static const ovl_field graph_fields[] = {
    OVL_FIELD_MORE(ovl_hw_graph, gpus, "gpus", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "GPUs that the communicator has on each of its nodes.", .min = 1, .max = 100000),
    OVL_FIELD_MORE(ovl_hw_graph, nodes, "nodes", OVL_F_ENUM, 0,
                   "Communicators of one node, of several, or any. Default any.",
                   .names = ovl_nodes_keys),
    OVL_FIELD(ovl_hw_graph, on, "on", OVL_F_TEXT, 0,
              "Communicators that have a member on these nodes, a name of `hardware.nodes`. Such "
              "an entry goes before those that name none. Default any."),
    OVL_FIELD_MORE(ovl_hw_graph, channels, "channels", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "Channels of ring and tree.", .min = 1, .max = CHANNELS_MAX),
    OVL_FIELD(ovl_hw_graph, ring, "ring", OVL_F_RATE, OVL_FIELD_REQUIRED | OVL_FIELD_POSITIVE,
              "Bandwidth of a channel of the ring inside a node; it counts on up to two nodes."),
    OVL_FIELD(ovl_hw_graph, ring_inter, "ring_inter", OVL_F_RATE, OVL_FIELD_POSITIVE,
              "The same across nodes; it counts on three and more. Default: `ring`."),
    OVL_FIELD(ovl_hw_graph, tree, "tree", OVL_F_RATE, OVL_FIELD_POSITIVE,
              "Bandwidth of a channel of the tree inside a node. Default: `ring`."),
    OVL_FIELD(ovl_hw_graph, tree_inter, "tree_inter", OVL_F_RATE, OVL_FIELD_POSITIVE,
              "The same across nodes. Default: `ring_inter`, else `tree`."),
    OVL_FIELD_MORE(ovl_hw_graph, nvls_channels, "nvls_channels", OVL_F_COUNT, 0,
                   "Channels of NVLS (reduction in the NVSwitch). Default 0: there is none.",
                   .max = CHANNELS_MAX),
    OVL_FIELD(ovl_hw_graph, nvls, "nvls", OVL_F_RATE, OVL_FIELD_POSITIVE,
              "Bandwidth of a channel of NVLS inside a node."),
    OVL_FIELD(ovl_hw_graph, nvls_inter, "nvls_inter", OVL_F_RATE, OVL_FIELD_POSITIVE,
              "The same across nodes. Default: `nvls`."),
    OVL_FIELD_MORE(
        ovl_hw_graph, collnet_channels, "collnet_channels", OVL_F_COUNT, 0,
        "Channels of CollNet (reduction in the network, SHARP). Default 0: there is none.",
        .max = CHANNELS_MAX),
    OVL_FIELD(ovl_hw_graph, collnet, "collnet", OVL_F_RATE, OVL_FIELD_POSITIVE,
              "Bandwidth of a channel of CollNet."),
    OVL_FIELD_SET(ovl_hw_graph, gpu, has_gpu, "gpu", OVL_F_ENUM, 0,
                  "Oldest generation of GPU among the members, which NCCL goes by. Default: "
                  "`gpu` of `nccl`.",
                  .names = gpu_names),
};

static void check_rates(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    const ovl_hw_graph *g = value;
    if (g->nvls_channels > 0 && g->nvls == 0) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "nvls_channels needs nvls, the bandwidth of one");
    }
    if (g->collnet_channels > 0 && g->collnet == 0) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "collnet_channels needs collnet, the bandwidth of one");
    }
}

const ovl_table ovl_graph_table = {
    .title = "hardware.nccl.graphs[]",
    .intro =
        "The channels that NCCL found on this machine for communicators with so many GPUs on a "
        "node; NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=GRAPH prints them when a communicator is "
        "made. The first entry that fits counts.",
    .fields = graph_fields,
    .n_fields = OVL_COUNT(graph_fields),
    .size = sizeof(ovl_hw_graph),
    .mark = offsetof(ovl_hw_graph, mark),
    .check = check_rates,
};

/* --- The machine, as the model sees it --- */

static const char *const cpu_names[] = {"intel", "amd", "other", NULL};
static const char *const link_names[] = {"nvlink", "pcie", NULL};
static const char *const version_names[] = {"2.27.5", "2.30.7", NULL};

static void nccl_defaults(void *value)
{
    ovl_hw_nccl *nccl = value;
    nccl->version = "2.30.7";
}

static const ovl_field nccl_fields[] = {
    OVL_FIELD(ovl_hw_nccl, version, "version", OVL_F_TEXT, 0,
              "Whose constants: 2.27.5 or 2.30.7. Default 2.30.7."),
    OVL_FIELD_MORE(ovl_hw_nccl, gpu, "gpu", OVL_F_ENUM, OVL_FIELD_REQUIRED,
                   "Generation of the GPU.", .names = gpu_names),
    OVL_FIELD_MORE(
        ovl_hw_nccl, cpu, "cpu", OVL_F_ENUM, 0,
        "Maker of the CPU, which bounds LL and delays rings across nodes. Default intel.",
        .names = cpu_names),
    OVL_FIELD_MORE(ovl_hw_nccl, link, "link", OVL_F_ENUM, 0,
                   "Between the GPUs of a node. Default nvlink.", .names = link_names),
    OVL_FIELD(ovl_hw_nccl, algorithms, "algorithms", OVL_F_TEXTS, 0,
              "Algorithms allowed, as by NCCL_ALGO: Tree, Ring, CollNetDirect, CollNetChain, NVLS, "
              "NVLSTree, PAT. Default: all that the channels allow."),
    OVL_FIELD(ovl_hw_nccl, protocols, "protocols", OVL_F_TEXTS, 0,
              "Protocols allowed, as by NCCL_PROTO: LL, LL128, Simple. Default: all; LL128 over "
              "NVLink alone."),
    OVL_FIELD(ovl_hw_nccl, no_ll128, "no_ll128", OVL_F_BOOL, 0,
              "The way from GPU to NIC is longer than NCCL allows LL128 for. Default false."),
    OVL_FIELD(ovl_hw_nccl, balanced_tree, "balanced_tree", OVL_F_BOOL, 0,
              "The tree's pattern is balanced or split; a plain one gets 85 % of its bandwidth. "
              "Default false: plain."),
    OVL_FIELD(ovl_hw_nccl, path, "path", OVL_F_TIME, 0,
              "Latency of the way from GPU to NIC, which Simple pays twice. Default 0."),
    OVL_FIELD_MORE(ovl_hw_nccl, graphs, "graphs", OVL_F_LIST, OVL_FIELD_REQUIRED,
                   "Channels, by GPUs on a node.", .table = &ovl_graph_table),
};

static void check_list(const ovl_texts *list, const char *what, const char *const *names,
                       ovl_errs *errs)
{
    size_t n = 0;
    while (names[n]) {
        n++;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        size_t k = 0;
        while (k < n && strcmp(names[k], list->item[i]) != 0) {
            k++;
        }
        if (k == n) {
            ovl_unknown_name(list->mark[i], what, list->item[i], names, n, OVL_E_INPUT, errs);
        }
    }
}

static void check_names(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    const ovl_hw_nccl *nccl = value;
    ovl_mark mark = node->mark;
    const char *version = nccl->version;
    ovl_texts versions = {.item = &version, .mark = &mark, .count = 1};
    (void)arena;
    check_list(&versions, "version of NCCL's model", version_names, errs);
    check_list(&nccl->algorithms, "NCCL algorithm", ovl_nccl_algo_names, errs);
    check_list(&nccl->protocols, "NCCL protocol", ovl_nccl_proto_names, errs);
}

const ovl_table ovl_nccl_table = {
    .title = "hardware.nccl",
    .intro =
        "What NCCL's tuning model needs to know, for `algorithm: nccl`: of the enabled pairs of "
        "algorithm and protocol the one with the least latency + bytes / bandwidth.\n\n"
        "    nccl:\n"
        "      gpu: hopper\n"
        "      graphs:\n"
        "        - {gpus: 8, nodes: several, channels: 8, ring: 48 GB/s}",
    .fields = nccl_fields,
    .n_fields = OVL_COUNT(nccl_fields),
    .size = sizeof(ovl_hw_nccl),
    .mark = offsetof(ovl_hw_nccl, mark),
    .defaults = nccl_defaults,
    .check = check_names,
};
