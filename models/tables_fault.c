#include "models/tables.h"

static void check_fault(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    const ovl_hw_fault *f = value;
    bool slow = ovl_node_gives(node, "slowdown"), link = ovl_node_gives(node, "link");
    if (slow == link) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "a fault is either a slowdown of GPUs or a link with less bandwidth; found %s",
                  slow ? "both" : "neither");
    }
    if (link != ovl_node_gives(node, "bandwidth")) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  link ? "a link that degrades needs the bandwidth it has left"
                       : "bandwidth belongs to a link");
    }
    if (!link && (ovl_node_gives(node, "from") || f->has_until)) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "from and until belong to a link; a slow GPU is slow all the time");
    }
    if (f->has_until && f->until <= f->from) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "until must be later than from");
    }
}

static const ovl_field fault_fields[] = {
    OVL_FIELD(ovl_hw_fault, ranks, "ranks", OVL_F_TEXTS, 0,
              "Ranks it concerns: `3`, `[0, 8-15]`; of a link the instances that serve them. "
              "Default: all."),
    OVL_FIELD(ovl_hw_fault, slowdown, "slowdown", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "How many times longer each kernel takes there. Those of several faults multiply: "
              "1.25 for a node and 1.2 for one of its ranks make 1.5 there."),
    OVL_FIELD(ovl_hw_fault, link, "link", OVL_F_TEXT, 0,
              "A link that degrades, in both directions; `hbm` is the GPU's memory."),
    OVL_FIELD(ovl_hw_fault, bandwidth, "bandwidth", OVL_F_RATE, OVL_FIELD_POSITIVE,
              "What the link has left in each direction."),
    OVL_FIELD(ovl_hw_fault, from, "from", OVL_F_TIME, 0, "When it begins. Default 0."),
    OVL_FIELD_SET(ovl_hw_fault, until, has_until, "until", OVL_F_TIME, 0,
                  "When it ends. Default: never.", .min = 0),
};

const ovl_table ovl_fault_table = {
    .title = "hardware.faults[]",
    .intro = "A GPU that is slower than the others, or a link that degrades at a moment. Isolated "
             "costs stay those of a healthy machine: what is lost on a link shows as stretch, and "
             "interference `none` does not see it. Of several faults of one link at a time the "
             "one that leaves least counts.\n\n"
             "    faults:\n"
             "      - {ranks: 3, slowdown: 1.25}\n"
             "      - {link: nic, ranks: [8-15], bandwidth: 25 GB/s, from: 10 ms, until: 30 ms}",
    .fields = fault_fields,
    .n_fields = OVL_COUNT(fault_fields),
    .size = sizeof(ovl_hw_fault),
    .mark = offsetof(ovl_hw_fault, mark),
    .check = check_fault,
};
