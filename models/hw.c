#include "models/hw.h"

#include "models/tables.h"
#include "sim/names.h"

#include <string.h>

static void hw_defaults(void *value)
{
    ovl_raw_hw *raw = value;
    ovl_gpu_table.defaults(&raw->hw.gpu);
}

static const ovl_field hw_fields[] = {
    OVL_FIELD(ovl_raw_hw, hw.name, "name", OVL_F_TEXT, 0, "What the machine is called."),
    OVL_FIELD_MORE(ovl_raw_hw, hw.gpu, "gpu", OVL_F_MAP, 0, "The GPU of every rank.",
                   .table = &ovl_gpu_table),
    OVL_FIELD_SET(ovl_raw_hw, hw.host, hw.has_host, "host", OVL_F_MAP, 0,
                  "The host thread. Default: issuing takes no time.", .table = &ovl_host_table),
    OVL_FIELD_MORE(ovl_raw_hw, hw.gpus_per_node, "node", OVL_F_MAP, 0,
                   "How many GPUs a node has. Default: all ranks are one node.",
                   .table = &ovl_node_table),
    OVL_FIELD_MORE(ovl_raw_hw, links, "links", OVL_F_NODE, 0, "Links by name.",
                   .table = &ovl_link_table, .shape = "mapping of names"),
    OVL_FIELD_MORE(ovl_raw_hw, nodes, "nodes", OVL_F_NODE, 0,
                   "Nodes that have another GPU, or other links, by a name for them.",
                   .table = &ovl_nodes_table, .shape = "mapping of names"),
    OVL_FIELD_MORE(ovl_raw_hw, collectives, "collectives", OVL_F_LIST, 0,
                   "Costs of collectives, sends and receives.", .table = &ovl_collective_table),
    OVL_FIELD_SET(ovl_raw_hw, hw.nccl, hw.nccl.given, "nccl", OVL_F_MAP, 0,
                  "What NCCL's tuning model needs to know, for `algorithm: nccl`.",
                  .table = &ovl_nccl_table),
    OVL_FIELD_MORE(ovl_raw_hw, hw.faults, "faults", OVL_F_LIST, 0,
                   "GPUs that are slow, links that degrade.", .table = &ovl_fault_table),
    OVL_FIELD_MORE(ovl_raw_hw, pairs, "interference", OVL_F_LIST, 0,
                   "Measured interference of kernels and collectives.", .table = &ovl_pair_table),
};

const ovl_table ovl_hw_table = {
    .title = "hardware",
    .intro = "What the machine costs. The mapping stands in the scenario, or in a file of its own "
             "that the scenario names (`hardware: ../hardware/example_8gpu.yaml`, relative to the "
             "scenario). What is not given is not modelled, and the run says so.",
    .fields = hw_fields,
    .n_fields = OVL_COUNT(hw_fields),
    .size = sizeof(ovl_raw_hw),
    .mark = offsetof(ovl_raw_hw, hw.mark),
    .open = true,
    .defaults = hw_defaults,
};

/* --- Checks across entries --- */

void ovl_check_via_again(const ovl_texts *via, uint32_t at, ovl_errs *errs)
{
    for (uint32_t i = 0; i < at; i++) {
        if (strcmp(via->item[i], via->item[at]) == 0) {
            ovl_error(errs, OVL_E_INPUT, via->mark[at], "via: \"%s\" is named twice",
                      ovl_shown(via->item[at], errs->arena));
            return;
        }
    }
}

static bool goes_by_rails(const ovl_hw *hw, const ovl_texts *via)
{
    for (uint32_t i = 0; i < hw->n_links; i++) {
        for (uint32_t k = 0; ovl_link_on_rails(&hw->links[i]) && k < via->count; k++) {
            if (strcmp(hw->links[i].name, via->item[k]) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void check_pxn(const ovl_hw *hw, ovl_errs *errs)
{
    for (uint32_t i = 0; i < hw->n_collectives; i++) {
        const ovl_hw_collective *c = &hw->collectives[i];
        if (c->pxn && !goes_by_rails(hw, &c->via)) {
            ovl_error(errs, OVL_E_INPUT, c->mark,
                      "pxn needs a link in `via` that says what rails are: one with scope: rail or "
                      "out_of: rail");
        }
    }
}

static void check_via(const ovl_hw *hw, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    ovl_names links = {.arena = &scratch};
    for (uint32_t i = 0; i < hw->n_links; i++) {
        ovl_names_add(&links, hw->links[i].name);
    }
    for (uint32_t i = 0; i < hw->n_collectives; i++) {
        const ovl_texts *via = &hw->collectives[i].via;
        for (uint32_t k = 0; k < via->count; k++) {
            if (ovl_names_find(&links, via->item[k]) == OVL_NONE) {
                ovl_unknown_name(via->mark[k], "link", via->item[k], links.text, links.count,
                                 OVL_E_INPUT, errs);
            } else {
                ovl_check_via_again(via, k, errs);
            }
        }
    }
    ovl_arena_free(&scratch);
}

bool ovl_link_on_rails(const ovl_hw_link *link)
{
    return link->scope == OVL_SCOPE_RAIL || link->out_of == OVL_OUT_OF_RAIL;
}

static const char *who_has(const ovl_hw *hw, uint32_t machine, ovl_errs *errs)
{
    return machine
               ? ovl_arena_printf(errs->arena, "nodes \"%s\" have", hw->others[machine - 1].name)
               : "it has";
}

static void check_rails(const ovl_hw *hw, const ovl_hw_link *link, ovl_errs *errs)
{
    if (hw->gpus_per_node == 0) {
        ovl_error(
            errs, OVL_E_INPUT, link->mark,
            "\"%s\" is about rails, places of GPUs in their nodes, but node.gpus is not given",
            link->name);
    }
    for (uint32_t i = 0; i <= hw->n_others && link->rail_gpus; i++) {
        if (ovl_hw_gpus(hw, i) % link->rail_gpus) {
            ovl_error(errs, OVL_E_INPUT, link->mark,
                      "\"%s\" has %" PRId64 " GPUs of a node on each rail, which does not divide "
                      "the %" PRId64 " that %s",
                      link->name, link->rail_gpus, ovl_hw_gpus(hw, i), who_has(hw, i, errs));
            return;
        }
    }
}

/* Blocks begin with a node, or lie inside one, only if either divides the other. */
static void check_uneven(const ovl_hw *hw, const ovl_hw_link *link, int64_t block, ovl_errs *errs)
{
    int64_t most = hw->gpus_at_most;
    if (block > 0 && most && !ovl_hw_even(hw) && most % block && block % most) {
        ovl_error(errs, OVL_E_INPUT, link->mark,
                  "\"%s\" is about blocks of %" PRId64 " GPUs, which would cut across nodes that "
                  "have different numbers of GPUs, %" PRId64 " at most: one must divide the other",
                  link->name, block, most);
    }
}

/* Blocks that cut across each other would share what leaves them unevenly. */
static void check_blocks(const ovl_hw *hw, ovl_errs *errs)
{
    for (uint32_t i = 0; i < hw->n_links; i++) {
        const ovl_hw_link *link = &hw->links[i];
        int64_t out = link->out_of == OVL_OUT_OF_NODE ? hw->gpus_at_most : link->out_of;
        check_uneven(hw, link, link->gpus, errs);
        check_uneven(hw, link, link->out_of, errs);
        if (ovl_link_on_rails(link)) {
            check_rails(hw, link, errs);
            continue;
        }
        if (link->out_of == OVL_OUT_OF_NODE && out == 0) {
            ovl_error(errs, OVL_E_INPUT, link->mark,
                      "\"%s\" carries what leaves a node, but node.gpus is not given", link->name);
        } else if (link->gpus && out && out % link->gpus && link->gpus % out) {
            ovl_error(errs, OVL_E_INPUT, link->mark,
                      "\"%s\" serves blocks of %" PRId64 " GPUs and carries what leaves blocks of "
                      "%" PRId64 ": one must divide the other",
                      link->name, link->gpus, out);
        }
    }
}

/* How many GPUs each mesh has. */
static void find_meshes(ovl_hw *hw, ovl_errs *errs)
{
    for (uint32_t i = 0; i < hw->n_links; i++) {
        ovl_hw_link *link = &hw->links[i];
        int64_t node = hw->gpus_per_node, g = link->gpus ? link->gpus : node;
        if (link->topology != OVL_TOPOLOGY_MESH) {
            continue;
        }
        const char *why = NULL;
        if (g == 0) {
            why = "how many GPUs it has is not said: give gpus, or node.gpus";
        } else if (g == 1) {
            why = "one GPU is connected with nobody";
        } else if (node && (g > node || node % g)) {
            why = "it lies inside a node: its gpus must divide node.gpus";
        } else if (g > OVL_MESH_MAX) {
            why = "more than 16 GPUs";
        }
        link->mesh = why ? 0 : g;
        link->topology = why ? OVL_TOPOLOGY_SWITCH : OVL_TOPOLOGY_MESH;
        if (why) {
            ovl_error(errs, OVL_E_INPUT, link->mark, "mesh \"%s\": %s", link->name, why);
        }
    }
}

/* Wires connect the GPUs of one node. */
static void check_meshes(const ovl_hw *hw, ovl_errs *errs)
{
    for (uint32_t i = 0; i < hw->n_links; i++) {
        const ovl_hw_link *link = &hw->links[i];
        for (uint32_t m = 1; m <= hw->n_others && link->topology == OVL_TOPOLOGY_MESH; m++) {
            if (ovl_hw_gpus(hw, m) % link->mesh) {
                ovl_error(errs, OVL_E_INPUT, hw->others[m - 1].mark,
                          "nodes \"%s\" have %" PRId64 " GPUs, and the mesh \"%s\" connects "
                          "%" PRId64 " of a node: that must divide their number",
                          hw->others[m - 1].name, ovl_hw_gpus(hw, m), link->name, link->mesh);
            }
        }
    }
}

static void check_sms(const ovl_hw *hw, ovl_errs *errs)
{
    for (uint32_t i = 0; i < hw->n_collectives; i++) {
        const ovl_hw_collective *c = &hw->collectives[i];
        if (c->op >= 0 && hw->gpu.sms && c->sms >= hw->gpu.sms) {
            ovl_error(errs, OVL_E_INPUT, c->mark,
                      "%s holds %" PRId64 " SMs, but the GPU has %" PRId64
                      ": none would be left for kernels",
                      ovl_coll_keys[c->op], c->sms, hw->gpu.sms);
        }
    }
}

/* What a link, or HBM, has in good health, on the best of the nodes; 0: hbm without gpu.hbm. */
static uint64_t healthy(const ovl_hw *hw, const char *name)
{
    for (uint32_t i = 0; i < hw->n_links; i++) {
        if (strcmp(hw->links[i].name, name) == 0) {
            return ovl_hw_most(hw, i);
        }
    }
    return ovl_hw_most(hw, OVL_NONE);
}

static void check_left(const ovl_hw *hw, const ovl_hw_fault *fault, ovl_errs *errs)
{
    char left[OVL_UNITS_TEXT], has[OVL_UNITS_TEXT];
    uint64_t all = healthy(hw, fault->link);
    if (all == 0 && strcmp(fault->link, "hbm") == 0) {
        ovl_error(errs, OVL_E_INPUT, fault->mark,
                  "a fault of hbm needs hardware.gpu.hbm, what it has in good health");
    } else if (all && fault->bandwidth > all) {
        ovl_error(errs, OVL_E_INPUT, fault->mark,
                  "a fault leaves %s %s, and in good health it has %s", fault->link,
                  ovl_print_rate(left, (double)fault->bandwidth), ovl_print_rate(has, (double)all));
    }
}

static void check_faults(const ovl_hw *hw, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    ovl_names links = {.arena = &scratch};
    ovl_names_add(&links, "hbm");
    for (uint32_t i = 0; i < hw->n_links; i++) {
        ovl_names_add(&links, hw->links[i].name);
    }
    for (uint32_t i = 0; i < hw->faults.count; i++) {
        const ovl_hw_fault *fault = OVL_ITEM(hw->faults, ovl_hw_fault, i);
        if (fault->link && ovl_names_find(&links, fault->link) == OVL_NONE) {
            ovl_unknown_name(fault->mark, "link", fault->link, links.text, links.count, OVL_E_INPUT,
                             errs);
        } else if (fault->link) {
            check_left(hw, fault, errs);
        }
    }
    ovl_arena_free(&scratch);
}

static void check_nccl(const ovl_hw *hw, ovl_errs *errs)
{
    for (uint32_t i = 0; i < hw->n_collectives && !hw->nccl.given; i++) {
        if (hw->collectives[i].algorithm == OVL_ALGO_NCCL) {
            ovl_error(errs, OVL_E_INPUT, hw->collectives[i].mark,
                      "algorithm: nccl needs hardware.nccl: version, gpu and graphs");
        }
    }
}

/* An entry for the same thing again would never be used. */
static void check_collectives(const ovl_hw *hw, ovl_arena *scratch, ovl_errs *errs)
{
    const char **names = OVL_NEW_ARRAY(scratch, const char *, hw->n_collectives);
    ovl_mark *marks = OVL_NEW_ARRAY(scratch, ovl_mark, hw->n_collectives);
    static const char *const on_nodes[] = {"", " on one node", " on several nodes"};
    uint32_t n = 0;
    for (uint32_t i = 0; i < hw->n_collectives; i++) {
        const ovl_hw_collective *c = &hw->collectives[i];
        if (c->op >= 0) {
            const char *op = ovl_coll_keys[c->op];
            const char *group = c->group ? ovl_arena_printf(scratch, " of group %s", c->group) : "";
            const char *on = c->on ? ovl_arena_printf(scratch, " on nodes %s", c->on) : "";
            names[n] = ovl_arena_printf(scratch, "%s%s%s%s", op, group, on_nodes[c->nodes], on);
            marks[n++] = c->mark;
        }
    }
    ovl_check_repeats("cost of", names, marks, n, errs);
}

static void check_pairs(const ovl_hw *hw, ovl_arena *scratch, ovl_errs *errs)
{
    const char **names = OVL_NEW_ARRAY(scratch, const char *, hw->n_pairs);
    ovl_mark *marks = OVL_NEW_ARRAY(scratch, ovl_mark, hw->n_pairs);
    uint32_t n = 0;
    for (uint32_t i = 0; i < hw->n_pairs; i++) {
        const ovl_hw_pair *pair = &hw->pairs[i];
        if (pair->kernel && pair->collective) {
            names[n] = ovl_arena_printf(scratch, "%s beside %s", pair->kernel, pair->collective);
            marks[n++] = pair->mark;
        }
    }
    ovl_check_repeats("interference of", names, marks, n, errs);
}

void ovl_hw_decode(const ovl_node *node, ovl_hw *hw, ovl_arena *arena, ovl_errs *errs)
{
    ovl_raw_hw raw = {0};
    ovl_decode(node, &ovl_hw_table, &raw, arena, errs);
    ovl_items links = ovl_decode_named(raw.links, "links", &ovl_link_table,
                                       offsetof(ovl_hw_link, name), arena, errs);
    *hw = raw.hw;
    hw->links = links.item;
    hw->n_links = links.count;
    hw->collectives = raw.collectives.item;
    hw->n_collectives = raw.collectives.count;
    hw->pairs = raw.pairs.item;
    hw->n_pairs = raw.pairs.count;
    find_meshes(hw, errs);
    ovl_hw_decode_nodes(raw.nodes, hw, arena, errs);
    check_meshes(hw, errs);
    check_via(hw, errs);
    check_pxn(hw, errs);
    check_blocks(hw, errs);
    check_faults(hw, errs);
    check_sms(hw, errs);
    check_nccl(hw, errs);
    ovl_arena scratch = {0};
    check_collectives(hw, &scratch, errs);
    check_pairs(hw, &scratch, errs);
    ovl_arena_free(&scratch);
}

/* --- Measured pairs --- */

static bool names_class(const char *pattern, const char *klass)
{
    return strcmp(pattern, "*") == 0 || strcmp(pattern, klass) == 0;
}

static int specificity(const ovl_hw_pair *pair)
{
    return 2 * (strcmp(pair->kernel, "*") != 0) + (strcmp(pair->collective, "*") != 0);
}

ovl_pair ovl_hw_pair_of(const ovl_hw *hw, const char *kernel, const char *collective)
{
    const ovl_hw_pair *best = NULL;
    for (uint32_t i = 0; i < hw->n_pairs; i++) {
        const ovl_hw_pair *pair = &hw->pairs[i];
        if (names_class(pair->kernel, kernel) && names_class(pair->collective, collective) &&
            (!best || specificity(pair) > specificity(best))) {
            best = pair;
        }
    }
    return best ? (ovl_pair){best->kernel_factor, best->collective_factor} : (ovl_pair){0, 0};
}
