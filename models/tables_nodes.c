#include "models/tables.h"
#include "sim/names.h"

/* --- What may differ --- */

static const ovl_field other_gpu_fields[] = {
    OVL_FIELD(ovl_hw_gpu, name, "name", OVL_F_TEXT, 0, "What the GPU is called."),
    OVL_FIELD(ovl_hw_gpu, hbm, "hbm", OVL_F_RATE, OVL_FIELD_POSITIVE, "Bandwidth of its memory."),
    OVL_FIELD(ovl_hw_gpu, memory, "memory", OVL_F_BYTES, OVL_FIELD_POSITIVE,
              "Size of its memory; whether a rank fits is asked of its own GPU."),
    OVL_FIELD_MORE(ovl_hw_gpu, sms, "sms", OVL_F_COUNT, 0, "Streaming multiprocessors.", .min = 1,
                   .max = 100000),
    OVL_FIELD_MORE(ovl_hw_gpu, peak, "peak", OVL_F_MAP, 0,
                   "Peak compute rates, all of them: element types that are not named here have "
                   "none on this GPU.",
                   .table = &ovl_peak_table),
    OVL_FIELD(ovl_hw_gpu, efficiency, "efficiency", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "Share of the peak that kernels given by `flops` reach."),
    OVL_FIELD(ovl_hw_gpu, hbm_efficiency, "hbm_efficiency", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "Share of `hbm` that kernels given by `hbm` bytes reach."),
    OVL_FIELD_MORE(ovl_hw_gpu, copy_engines, "copy_engines", OVL_F_MAP, 0,
                   "How many copies of each direction run at a time.", .table = &ovl_engines_table),
    OVL_FIELD(ovl_hw_gpu, speed, "speed", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "Speed of kernels whose duration is stated: with 1/2 one of 4 ms takes 8 ms. Default "
              "1: a stated duration holds on every GPU. Kernels given by `flops` and bytes go by "
              "`peak` and `hbm`, and durations stated rank by rank hold as they are."),
};

const ovl_table ovl_other_gpu_table = {
    .title = "hardware.nodes.NAME.gpu",
    .intro = "What is different about the GPU of these nodes. `hw_queues` and `allocator` are "
             "settings of software, alike on all.",
    .fields = other_gpu_fields,
    .n_fields = OVL_COUNT(other_gpu_fields),
    .size = sizeof(ovl_hw_gpu),
    .mark = OVL_NO_SET,
};

/* A link as far as it is another one. */
typedef struct raw_link {
    ovl_mark mark;
    const char *name;
    uint64_t bandwidth;
    ovl_time latency;
    bool has_latency;
} raw_link;

static const ovl_field other_link_fields[] = {
    OVL_FIELD(raw_link, bandwidth, "bandwidth", OVL_F_RATE, OVL_FIELD_POSITIVE,
              "Bytes per second in each direction."),
    OVL_FIELD_SET(raw_link, latency, has_latency, "latency", OVL_F_TIME, 0,
                  "Time of one step over it.", .min = 0),
};

const ovl_table ovl_other_link_table = {
    .title = "hardware.nodes.NAME.links.NAME",
    .intro = "What is different about a link of `hardware.links` on these nodes. What an instance "
             "serves is the same everywhere.",
    .fields = other_link_fields,
    .n_fields = OVL_COUNT(other_link_fields),
    .size = sizeof(raw_link),
    .mark = offsetof(raw_link, mark),
};

static const ovl_field nodes_fields[] = {
    OVL_FIELD(ovl_hw_nodes, at, "at", OVL_F_TEXTS, OVL_FIELD_REQUIRED,
              "Which nodes: `3`, `[0, 8-15]`."),
    OVL_FIELD_MORE(ovl_hw_nodes, gpu_node, "gpu", OVL_F_NODE, 0,
                   "Their GPU, as far as it is another than `hardware.gpu`.",
                   .table = &ovl_other_gpu_table, .shape = "mapping"),
    OVL_FIELD_MORE(ovl_hw_nodes, links_node, "links", OVL_F_NODE, 0,
                   "Links that have another bandwidth or latency there.",
                   .table = &ovl_other_link_table, .shape = "mapping of names"),
    OVL_FIELD_MORE(
        ovl_hw_nodes, gpus, "gpus", OVL_F_COUNT, 0,
        "GPUs of each. Default: as many as `hardware.node` says. Ranks fill the nodes in "
        "order: with nodes of 4, 8 and 4 ranks 4 to 11 are on the second.",
        .min = 1, .max = 1000000),
};

const ovl_table ovl_nodes_table = {
    .title = "hardware.nodes.NAME",
    .intro =
        "Nodes unlike the others, by a name for them. What is not said of them is as in the rest "
        "of the hardware. Kernels given by FLOPs and bytes cost what they take on the GPU of their "
        "rank; collectives by `algorithm` go by the slowest of the links that their members use, "
        "and load each with its own bandwidth. Costs that are stated (`alpha` and `beta`, `table`, "
        "NCCL's channels) hold wherever the members are, unless an entry with `on: NAME` is for "
        "communicators that have members on these nodes.\n\n"
        "Where nodes have different numbers of GPUs, places are counted from the first GPU of each "
        "node: GPU i is on rail i, and blocks of `gpus` begin there, so a node of 4 has two NICs "
        "with `gpus: 2` and one of 8 four. A link that serves more GPUs than the largest node has "
        "serves as many nodes as it would of such ones. Rings and trees go by what each node's "
        "members send, the busiest deciding; the hierarchical formula and NCCL's tuning model need "
        "as many members on each node and refuse others.\n\n"
        "    nodes:\n"
        "      old: {at: [2-3], gpu: {name: A100, peak: {bf16: 312 TFLOP/s}, hbm: 2 TB/s},\n"
        "            links: {nic: {bandwidth: 100 Gb/s}}}",
    .fields = nodes_fields,
    .n_fields = OVL_COUNT(nodes_fields),
    .size = sizeof(ovl_hw_nodes),
    .mark = offsetof(ovl_hw_nodes, mark),
};

/* --- Links --- */

static uint32_t link_named(const ovl_hw *hw, const char *name)
{
    uint32_t i = 0;
    while (i < hw->n_links && strcmp(hw->links[i].name, name) != 0) {
        i++;
    }
    return i;
}

static void unknown_link(const ovl_hw *hw, const raw_link *raw, ovl_errs *errs)
{
    const char **names = OVL_NEW_ARRAY(errs->arena, const char *, hw->n_links + 1);
    for (uint32_t i = 0; i < hw->n_links; i++) {
        names[i] = hw->links[i].name;
    }
    ovl_unknown_name(raw->mark, "link", raw->name, names, hw->n_links, OVL_E_INPUT, errs);
}

static void decode_links(const ovl_hw *hw, ovl_hw_nodes *nodes, ovl_arena *arena, ovl_errs *errs)
{
    ovl_items list = ovl_decode_named(nodes->links_node, "links", &ovl_other_link_table,
                                      offsetof(raw_link, name), arena, errs);
    nodes->links = OVL_NEW_ARRAY(arena, ovl_hw_link, hw->n_links);
    for (uint32_t i = 0; i < hw->n_links; i++) {
        nodes->links[i] = hw->links[i];
    }
    for (uint32_t i = 0; i < list.count; i++) {
        const raw_link *raw = OVL_ITEM(list, raw_link, i);
        uint32_t at = link_named(hw, raw->name);
        if (at == hw->n_links) {
            unknown_link(hw, raw, errs);
            continue;
        }
        ovl_hw_link *link = &nodes->links[at];
        link->bandwidth = raw->bandwidth ? raw->bandwidth : link->bandwidth;
        link->latency = raw->has_latency ? raw->latency : link->latency;
        link->mark = raw->mark;
    }
}

/* --- The GPU --- */

/* What is not modelled of the others could not be compared with theirs. */
static void check_given(const ovl_hw *hw, const ovl_node *node, ovl_errs *errs)
{
    const struct {
        const char *key;
        bool given;
    } needs[] = {
        {"hbm", hw->gpu.hbm > 0}, {"memory", hw->gpu.memory > 0}, {"sms", hw->gpu.sms > 0}};
    for (size_t i = 0; i < OVL_COUNT(needs); i++) {
        if (!needs[i].given && ovl_node_gives(node, needs[i].key)) {
            ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, needs[i].key)->mark,
                      "%s of some nodes needs hardware.gpu.%s, that of the others", needs[i].key,
                      needs[i].key);
        }
    }
}

static void decode_gpu(const ovl_hw *hw, ovl_hw_nodes *nodes, ovl_arena *arena, ovl_errs *errs)
{
    const ovl_node *node = nodes->gpu_node;
    nodes->gpu = hw->gpu;
    if (ovl_node_is_null(node)) {
        return;
    }
    if (node->kind != OVL_NODE_MAP) {
        ovl_wrong_shape(node, "gpu", "a mapping", errs);
        return;
    }
    if (ovl_node_gives(node, "peak")) {
        nodes->gpu.peak = (ovl_hw_peak){{0}};
    }
    ovl_decode(node, &ovl_other_gpu_table, &nodes->gpu, arena, errs);
    check_given(hw, node, errs);
}

/* --- All --- */

static void check_nodes(const ovl_hw *hw, const ovl_hw_nodes *nodes, ovl_errs *errs)
{
    if (hw->gpus_per_node == 0) {
        ovl_error(errs, OVL_E_INPUT, nodes->mark,
                  "nodes \"%s\" need hardware.node.gpus: without it all ranks are one node",
                  nodes->name);
    }
}

/* The number of `on` among the nodes, plus 1; 0 and an error if there are none of this name. */
static uint32_t machine_named(const ovl_hw *hw, const char *on, ovl_mark mark, ovl_errs *errs)
{
    const char **names = OVL_NEW_ARRAY(errs->arena, const char *, hw->n_others + 1);
    for (uint32_t i = 0; on && i < hw->n_others; i++) {
        if (strcmp(hw->others[i].name, on) == 0) {
            return i + 1;
        }
        names[i] = hw->others[i].name;
    }
    if (on) {
        ovl_unknown_name(mark, "entry of hardware.nodes", on, names, hw->n_others, OVL_E_INPUT,
                         errs);
    }
    return 0;
}

static void find_machines(ovl_hw *hw, ovl_errs *errs)
{
    for (uint32_t i = 0; i < hw->n_collectives; i++) {
        ovl_hw_collective *c = &hw->collectives[i];
        c->machine = machine_named(hw, c->on, c->mark, errs);
    }
    for (uint32_t i = 0; i < hw->nccl.graphs.count; i++) {
        ovl_hw_graph *g = OVL_ITEM(hw->nccl.graphs, ovl_hw_graph, i);
        g->machine = machine_named(hw, g->on, g->mark, errs);
    }
}

void ovl_hw_decode_nodes(const ovl_node *node, ovl_hw *hw, ovl_arena *arena, ovl_errs *errs)
{
    ovl_items list = ovl_decode_named(node, "nodes", &ovl_nodes_table, offsetof(ovl_hw_nodes, name),
                                      arena, errs);
    hw->others = list.item;
    hw->n_others = list.count;
    if (list.count >= OVL_MACHINES_MAX) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "more than %d sorts of nodes",
                  OVL_MACHINES_MAX - 1);
        hw->n_others = 0;
    }
    for (uint32_t i = 0; i < hw->n_others; i++) {
        check_nodes(hw, &hw->others[i], errs);
        decode_gpu(hw, &hw->others[i], arena, errs);
        decode_links(hw, &hw->others[i], arena, errs);
    }
    hw->gpus_at_most = ovl_hw_gpus(hw, 0);
    for (uint32_t i = 1; i <= hw->n_others; i++) {
        hw->gpus_at_most = OVL_MAX(hw->gpus_at_most, ovl_hw_gpus(hw, i));
    }
    find_machines(hw, errs);
}

int64_t ovl_hw_gpus(const ovl_hw *hw, uint32_t machine)
{
    int64_t own = machine && hw->gpus_per_node ? hw->others[machine - 1].gpus : 0;
    return own ? own : hw->gpus_per_node;
}

bool ovl_hw_even(const ovl_hw *hw)
{
    bool even = true;
    for (uint32_t i = 1; i <= hw->n_others; i++) {
        even = even && ovl_hw_gpus(hw, i) == hw->gpus_per_node;
    }
    return even;
}

ovl_hw ovl_hw_on(const ovl_hw *hw, uint32_t machine)
{
    ovl_hw on = *hw;
    if (machine > 0) {
        on.on = hw->others[machine - 1].name;
        on.gpu = hw->others[machine - 1].gpu;
        on.links = hw->others[machine - 1].links;
    }
    return on;
}

uint64_t ovl_hw_most(const ovl_hw *hw, uint32_t link)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i <= hw->n_others; i++) {
        ovl_hw on = ovl_hw_on(hw, i);
        most = OVL_MAX(most, link == OVL_NONE ? on.gpu.hbm : on.links[link].bandwidth);
    }
    return most;
}
