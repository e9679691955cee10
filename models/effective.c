#include "models/effective.h"

#define LEAST_SHARE 0.1 /* of a link, below which its use is remarkable */

/* Bytes that must reach a node for one communicator; 0 where that depends on more. */
static double bytes_into_node(const ovl_comm_spec *spec, const ovl_spread *spread)
{
    double outside =
        (double)spec->bytes * (spread->members - spread->fewest) / OVL_MAX(spread->members, 1);
    if (spec->op == OVL_ALL_REDUCE) {
        return 2 * outside;
    }
    return spec->op == OVL_ALL_GATHER || spec->op == OVL_REDUCE_SCATTER ? outside : 0;
}

static const ovl_hw_link *node_link(const ovl_lowering *l, const ovl_texts *via)
{
    for (uint32_t i = 0; i < l->hw->n_links; i++) {
        const ovl_hw_link *link = &l->hw->links[i];
        for (uint32_t k = 0; link->scope == OVL_SCOPE_NODE && k < via->count; k++) {
            if (strcmp(link->name, via->item[k]) == 0) {
                return link;
            }
        }
    }
    return NULL;
}

static bool said(const ovl_lowering *l, const char *start)
{
    for (uint32_t i = 0; i < l->said.len; i++) {
        if (strncmp(l->said.data[i], start, strlen(start)) == 0) {
            return true;
        }
    }
    return false;
}

void ovl_say_effective(ovl_lowering *l, const ovl_comm_spec *spec, const ovl_hw_collective *entry,
                       const ovl_spread *spread, const ovl_comm_time *time)
{
    const ovl_hw_link *link = node_link(l, &entry->via);
    ovl_time length = time->latency + time->transfer;
    if (!link || spread->nodes < 2 || spread->fewest == 0 || length <= 0 || !spec->group) {
        return;
    }
    int64_t sharing = OVL_MAX(l->hw->gpus_at_most / spread->fewest, 1);
    double rate = bytes_into_node(spec, spread) * (double)sharing / (double)length * 1e12;
    if (rate <= 0 || rate >= LEAST_SHARE * (double)link->bandwidth) {
        return;
    }
    char has[OVL_UNITS_TEXT], gets[OVL_UNITS_TEXT];
    const char *start = ovl_arena_printf(l->arena, "The effective rate of %s in %s ",
                                         ovl_coll_name(spec->op), spec->group);
    if (said(l, start)) {
        return;
    }
    ovl_plan_say(l, ovl_arena_printf(l->arena,
                                     "%sbetween nodes is %s into each node, %.1f %% of the %s of "
                                     "%s: check it; what holds it back is not modelled.",
                                     start, ovl_print_rate(gets, rate),
                                     100 * rate / (double)link->bandwidth,
                                     ovl_print_rate(has, (double)link->bandwidth), link->name));
}
