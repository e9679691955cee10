#include "models/cost.h"
#include "models/tables.h"

static const char *const algorithm_names[] = {"ring", "tree",  "direct", "hierarchical",
                                              "nvls", "sharp", "nccl",   NULL};
static const int algorithm_values[] = {OVL_ALGO_RING,         OVL_ALGO_TREE, OVL_ALGO_DIRECT,
                                       OVL_ALGO_HIERARCHICAL, OVL_ALGO_NVLS, OVL_ALGO_COLLNET,
                                       OVL_ALGO_NCCL};

/* --- Tables of measured times: [[1 MiB, 93 us], [1 GiB, 8.2 ms]] --- */

static bool read_point(const ovl_node *node, ovl_hw_point *point, ovl_errs *errs)
{
    const char *why = "expected a pair of size and time, such as [1 MiB, 93 us]";
    if (node->kind != OVL_NODE_LIST || node->count != 2 ||
        node->items[0]->kind != OVL_NODE_SCALAR || node->items[1]->kind != OVL_NODE_SCALAR) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "table: %s", why);
        return false;
    }
    const ovl_node *size = node->items[0], *time = node->items[1];
    why = ovl_read_bytes(size->text, &point->bytes);
    why = why || point->bytes ? why : "must be greater than 0";
    if (why) {
        ovl_error(errs, OVL_E_INPUT, size->mark, "size is \"%s\": %s",
                  ovl_shown(size->text, errs->arena), why);
        return false;
    }
    why = ovl_read_time(time->text, &point->time);
    why = why || point->time ? why : "must be greater than 0";
    if (why) {
        ovl_error(errs, OVL_E_INPUT, time->mark, "time is \"%s\": %s",
                  ovl_shown(time->text, errs->arena), why);
        return false;
    }
    return true;
}

static void read_points(ovl_hw_collective *c, ovl_arena *arena, ovl_errs *errs)
{
    const ovl_node *node = c->table_node;
    if (node->kind != OVL_NODE_LIST || node->count == 0) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "table: expected a list of size and time, such as [[1 MiB, 93 us], [1 GiB, 8.2 "
                  "ms]]");
        return;
    }
    c->table = OVL_NEW_ARRAY(arena, ovl_hw_point, node->count);
    for (uint32_t i = 0; i < node->count; i++) {
        ovl_hw_point *point = &c->table[c->n_table];
        if (!read_point(node->items[i], point, errs)) {
            continue;
        }
        if (c->n_table && point->bytes <= point[-1].bytes) {
            ovl_error(errs, OVL_E_INPUT, node->items[i]->mark,
                      "table: sizes must rise; this one does not");
            continue;
        }
        c->n_table++;
    }
}

/* --- Where a cost comes from --- */

static const ovl_field measured_fields[] = {
    OVL_FIELD(ovl_hw_measured, from, "from", OVL_F_TEXTS, 0, "The files it was fitted to."),
    OVL_FIELD(ovl_hw_measured, sha256, "sha256", OVL_F_TEXTS, 0,
              "SHA-256 of each file, in the same order."),
    OVL_FIELD(ovl_hw_measured, model, "model", OVL_F_TEXT, 0,
              "What cross-validation chose: `pair`, `3 pieces`, `table, ...`."),
    OVL_FIELD(ovl_hw_measured, points, "points", OVL_F_COUNT, 0, "Measurements used."),
    OVL_FIELD(ovl_hw_measured, sizes, "sizes", OVL_F_COUNT, 0, "Different sizes among them."),
    OVL_FIELD(ovl_hw_measured, from_bytes, "from_bytes", OVL_F_BYTES, 0,
              "The smallest size. A run says if it uses an alpha and beta below it."),
    OVL_FIELD(ovl_hw_measured, to_bytes, "to_bytes", OVL_F_BYTES, 0,
              "The largest size. A run says if it uses an alpha and beta above it."),
    OVL_FIELD(ovl_hw_measured, ranks, "ranks", OVL_F_COUNT, 0,
              "Ranks that took part. A run says if it uses the cost for another number."),
    OVL_FIELD_SET(ovl_hw_measured, alpha_low, has_alpha, "alpha_low", OVL_F_TIME, 0,
                  "Lower end of the 95 % interval of one alpha for all sizes.", .min = 0),
    OVL_FIELD(ovl_hw_measured, alpha_high, "alpha_high", OVL_F_TIME, 0, "Its upper end."),
    OVL_FIELD_SET(ovl_hw_measured, beta_low, has_beta, "beta_low", OVL_F_RATE, 0,
                  "Lower end of the 95 % interval of one beta for all sizes.", .min = 0),
    OVL_FIELD(ovl_hw_measured, beta_high, "beta_high", OVL_F_RATE, 0, "Its upper end."),
    OVL_FIELD(ovl_hw_measured, kernel_low, "kernel_low", OVL_F_RATIO, 0,
              "Lower end of the 95 % interval of `kernel_factor`."),
    OVL_FIELD(ovl_hw_measured, kernel_high, "kernel_high", OVL_F_RATIO, 0, "Its upper end."),
    OVL_FIELD(ovl_hw_measured, collective_low, "collective_low", OVL_F_RATIO, 0,
              "Lower end of the 95 % interval of `collective_factor`."),
    OVL_FIELD(ovl_hw_measured, collective_high, "collective_high", OVL_F_RATIO, 0,
              "Its upper end."),
    OVL_FIELD(ovl_hw_measured, residual, "residual", OVL_F_RATIO, 0,
              "Relative standard deviation of the measurements around the fit."),
    OVL_FIELD(ovl_hw_measured, held_median, "held_out_median", OVL_F_RATIO, 0,
              "Median relative error on sizes that the fit had not seen."),
    OVL_FIELD(ovl_hw_measured, held_p90, "held_out_p90", OVL_F_RATIO, 0,
              "Its 90th percentile over these sizes."),
    OVL_FIELD(ovl_hw_measured, notes, "notes", OVL_F_TEXTS, 0,
              "What the measurements could not tell."),
};

const ovl_table ovl_measured_table = {
    .title = "hardware.collectives[].measured",
    .intro = "Where a cost comes from, as `ovl calibrate` writes it; the same for a pair of "
             "`interference`. `ovl check` shows it; no time depends on it.",
    .fields = measured_fields,
    .n_fields = OVL_COUNT(measured_fields),
    .size = sizeof(ovl_hw_measured),
    .mark = OVL_NO_SET,
};

/* --- Costs of collectives --- */

static const char *const between_names[] = {"logs", "bytes", NULL};

#define OP_NOT_KNOWN (-1) /* missing or misspelt: told, and no reason for further complaints */

static void collective_defaults(void *value)
{
    ovl_hw_collective *c = value;
    c->op = OP_NOT_KNOWN;
    c->weight = 1;
}

static void check_ways(const ovl_node *node, const ovl_hw_collective *c, ovl_errs *errs)
{
    bool alpha_beta = ovl_node_gives(node, "alpha") || ovl_node_gives(node, "beta");
    bool table = ovl_node_gives(node, "table"), algorithm = ovl_node_gives(node, "algorithm");
    int ways = alpha_beta + table + algorithm;
    if (ways != 1) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "a cost is stated in exactly one way: alpha and beta, or table, or algorithm; "
                  "found %s",
                  ways ? "more" : "none");
    }
    if (algorithm && c->algorithm != OVL_ALGO_NCCL && c->via.count == 0) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "an algorithm needs the links it runs over: via: [NAME]");
    }
    if (c->algorithm != OVL_ALGO_NONE && c->op >= 0) {
        ovl_check_algorithm(c->algorithm, (ovl_coll)c->op, c->mark, errs);
    }
    if (c->weight > 1 || c->weight < 0.001) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "weight")->mark,
                  "weight: must be between 1/1000 and 1");
    }
    if (ovl_node_gives(node, "extrapolate") && !table) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "extrapolate belongs to a table");
    }
    if (ovl_node_gives(node, "between") && !table) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "between belongs to a table");
    }
    if (ovl_node_gives(node, "eager") && c->op >= 0 && c->op != OVL_SEND_RECV) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "eager belongs to op: send_recv");
    }
    bool passes_on = c->op == OVL_ALL_TO_ALL || c->op == OVL_SEND_RECV;
    if (ovl_node_gives(node, "pxn") && c->op >= 0 && !passes_on) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "pxn")->mark,
                  "pxn belongs to op: all_to_all or send_recv: rings are laid along rails");
    }
}

static void check_collective(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    ovl_hw_collective *c = value;
    check_ways(node, c, errs);
    if (c->table_node) {
        read_points(c, arena, errs);
    }
    if (!c->klass && c->op >= 0) {
        c->klass = ovl_coll_keys[c->op];
    }
}

static const ovl_field collective_fields[] = {
    OVL_FIELD_MORE(ovl_hw_collective, op, "op", OVL_F_ENUM, OVL_FIELD_REQUIRED,
                   "The operation; `send_recv` is for sends and receives.", .names = ovl_coll_keys),
    OVL_FIELD(ovl_hw_collective, group, "group", OVL_F_TEXT, 0,
              "The group it applies to. Default: any group that has no entry of its own."),
    OVL_FIELD_MORE(
        ovl_hw_collective, nodes, "nodes", OVL_F_ENUM, 0,
        "`one`: for members that all lie on one node; `several`: for others. A send, as a "
        "hop of a pipeline, goes by the two ranks that talk. Default any.",
        .names = ovl_nodes_keys),
    OVL_FIELD(ovl_hw_collective, on, "on", OVL_F_TEXT, 0,
              "For communicators that have a member on these nodes, a name of `hardware.nodes`; "
              "the first that fits counts. Default: any."),
    OVL_FIELD(ovl_hw_collective, klass, "class", OVL_F_TEXT, 0,
              "Interference class. Default: the name of `op`."),
    OVL_FIELD(ovl_hw_collective, via, "via", OVL_F_TEXTS, 0,
              "Links it loads. Default: none, so it shares no link."),
    OVL_FIELD_SET(ovl_hw_collective, alpha, has_alpha, "alpha", OVL_F_TIME, 0,
                  "Fixed part: T = alpha + bytes / beta. Default 0 beside `beta`.", .min = 0),
    OVL_FIELD_SET(ovl_hw_collective, beta, has_beta, "beta", OVL_F_RATE, OVL_FIELD_POSITIVE,
                  "Payload bytes per second (algbw). Without it bytes take no time beside `alpha`.",
                  .min = 0),
    OVL_FIELD_MORE(ovl_hw_collective, table_node, "table", OVL_F_NODE, 0,
                   "Measured times, rising in size; between two points on a line, see `between`.",
                   .shape = "list of [size, duration]"),
    OVL_FIELD_MORE(ovl_hw_collective, between, "between", OVL_F_ENUM, 0,
                   "What the lines between two points of the table are straight in: `logs` (log "
                   "size, log time), or `bytes` (size, time). Default `logs`.",
                   .names = between_names),
    OVL_FIELD(ovl_hw_collective, extrapolate, "extrapolate", OVL_F_BOOL, 0,
              "Outside the table go on with the slope at its end, and say so, instead of refusing. "
              "Default false."),
    OVL_FIELD_MORE(
        ovl_hw_collective, algorithm, "algorithm", OVL_F_ENUM, 0,
        "Textbook formula on the latency and bandwidth of the links in `via`: `ring` for "
        "all_reduce, reduce_scatter and all_gather, `tree` for all_reduce, broadcast "
        "and reduce, `direct` for all_to_all and send_recv, `hierarchical` for a ring in the node "
        "and then one across, `nvls` for all_reduce, reduce_scatter and all_gather through a "
        "switch of an NVLink domain that adds up and copies, `sharp` for all_reduce in the network "
        "between nodes; or `nccl`, what NCCL's tuning model says of the channels in "
        "`hardware.nccl`, for all but the last two (docs/model.md).",
        .names = algorithm_names, .values = algorithm_values),
    OVL_FIELD_SET(
        ovl_hw_collective, sms, has_sms, "sms", OVL_F_COUNT, 0,
        "SMs it holds from arrival to end; fewer than the GPU has. 0: none, copy engines "
        "move the bytes. Default: none, which the report tells; with `algorithm: nccl` the "
        "channels that the call takes.",
        .min = 0, .max = 100000),
    OVL_FIELD(ovl_hw_collective, hbm_factor, "hbm_factor", OVL_F_RATIO, 0,
              "HBM bytes per byte on the wire (2 to 3). Default 0: its use of HBM is not "
              "modelled."),
    OVL_FIELD(
        ovl_hw_collective, weight, "weight", OVL_F_RATIO, OVL_FIELD_POSITIVE,
        "Its weight where it shares a link or HBM with others, 1/1000 to 1: 1/8 beside 1 gets an "
        "eighth of what the other gets, and more where that leaves something. Default 1."),
    OVL_FIELD(ovl_hw_collective, pxn, "pxn", OVL_F_BOOL, 0,
              "all_to_all and send_recv, with links of rails in `via`: what goes to another rail "
              "first moves, inside the node, to a member of the communicator on that rail and "
              "leaves by its NIC, as NCCL does by default (PXN). Default false: each member sends "
              "by its own NIC."),
    OVL_FIELD(ovl_hw_collective, eager, "eager", OVL_F_BOOL, 0,
              "send_recv: the sender does not wait for the receiver. Default false: rendezvous."),
    OVL_FIELD_SET(ovl_hw_collective, measured, has_measured, "measured", OVL_F_MAP, 0,
                  "Where it comes from.", .table = &ovl_measured_table),
};

const ovl_table ovl_collective_table = {
    .title = "hardware.collectives[]",
    .intro =
        "What an operation costs alone, in exactly one way. Of the entries for an "
        "operation the one that names its group counts, else the one that names none; of two such "
        "the one that says `nodes`.\n\n"
        "    collectives:\n"
        "      - {op: all_reduce, group: dp, via: [nvlink], alpha: 1 ms, beta: 16 MiB/ms}\n"
        "      - {op: all_gather, via: [nic], table: [[1 MiB, 93 us], [1 GiB, 8.2 ms]]}\n"
        "      - {op: reduce_scatter, group: tp, via: [nvlink], algorithm: ring}\n"
        "      - {op: send_recv, nodes: one, via: [nvlink], alpha: 3 us, beta: 300 GB/s}\n"
        "      - {op: send_recv, nodes: several, via: [nic], alpha: 9 us, beta: 45 GB/s}",
    .fields = collective_fields,
    .n_fields = OVL_COUNT(collective_fields),
    .size = sizeof(ovl_hw_collective),
    .mark = offsetof(ovl_hw_collective, mark),
    .defaults = collective_defaults,
    .instead = ovl_collective_instead,
    .check = check_collective,
};

/* --- Measured interference --- */

static void pair_defaults(void *value)
{
    ovl_hw_pair *pair = value;
    pair->kernel_factor = pair->collective_factor = 1;
}

static const ovl_field pair_fields[] = {
    OVL_FIELD(ovl_hw_pair, kernel, "kernel", OVL_F_TEXT, OVL_FIELD_REQUIRED,
              "Class of kernels; `*` is every class."),
    OVL_FIELD(ovl_hw_pair, collective, "collective", OVL_F_TEXT, OVL_FIELD_REQUIRED,
              "Class of collectives; `*` is every class."),
    OVL_FIELD(ovl_hw_pair, kernel_factor, "kernel_factor", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "How many times longer the kernel takes while both run. Default 1."),
    OVL_FIELD(ovl_hw_pair, collective_factor, "collective_factor", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "How many times longer the collective's transfer takes while both run. Default 1."),
    OVL_FIELD_SET(ovl_hw_pair, measured, has_measured, "measured", OVL_F_MAP, 0,
                  "Where it comes from.", .table = &ovl_measured_table),
};

const ovl_table ovl_pair_table = {
    .title = "hardware.interference[]",
    .intro = "Measured interference of a kernel class and a collective class, used by "
             "`interference: measured`. Factors are inverse rates while both run: a 25 ms kernel "
             "that takes 29 ms beside a collective has 29/25.\n\n"
             "    interference:\n"
             "      - {kernel: gemm, collective: all_reduce, kernel_factor: 29/25, "
             "collective_factor: 29/16}",
    .fields = pair_fields,
    .n_fields = OVL_COUNT(pair_fields),
    .size = sizeof(ovl_hw_pair),
    .mark = offsetof(ovl_hw_pair, mark),
    .defaults = pair_defaults,
};
