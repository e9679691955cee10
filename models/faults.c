#include "models/faults.h"
#include "models/draft.h"

/* --- Ranks by text --- */

static bool read_bound(const char **at, uint64_t *value)
{
    if (**at < '0' || **at > '9') {
        return false;
    }
    for (*value = 0; **at >= '0' && **at <= '9'; ++*at) {
        *value = OVL_MIN(*value * 10 + (uint64_t)(**at - '0'), UINT32_MAX);
    }
    return true;
}

const char *ovl_plan_ranks(ovl_lowering *l, const char *text, uint32_t *from, uint32_t *to)
{
    const char *at = text;
    uint64_t first = 0, last = l->n_ranks - 1;
    bool ok = strcmp(text, "all") == 0;
    if (!ok && read_bound(&at, &first)) {
        last = first;
        ok = *at == 0 || (*at++ == '-' && read_bound(&at, &last) && *at == 0);
    }
    if (ok && first <= last && last < l->n_ranks) {
        *from = (uint32_t)first;
        *to = (uint32_t)last;
        return NULL;
    }
    return ok && first <= last
               ? ovl_arena_printf(l->errs->arena, "there is no rank %s; the last is %" PRIu32, text,
                                  l->n_ranks - 1)
               : ovl_arena_printf(l->errs->arena,
                                  "\"%s\" is no rank and no range of ranks such as 2-5; the last "
                                  "rank is %" PRIu32,
                                  text, l->n_ranks - 1);
}

/* Marks the ranks of a fault; all if it names none. */
static void mark_ranks(ovl_lowering *l, const ovl_hw_fault *fault, bool *in)
{
    memset(in, fault->ranks.count == 0, l->n_ranks);
    for (uint32_t i = 0; i < fault->ranks.count; i++) {
        uint32_t from, to;
        const char *wrong = ovl_plan_ranks(l, fault->ranks.item[i], &from, &to);
        if (wrong) {
            ovl_error(l->errs, OVL_E_INPUT, fault->ranks.mark[i], "%s", wrong);
            continue;
        }
        for (uint64_t rank = from; rank <= to; rank++) {
            in[rank] = true;
        }
    }
}

/* --- Slow GPUs --- */

void ovl_faults_slow(ovl_lowering *l)
{
    bool *in = OVL_NEW_ARRAY(l->arena, bool, l->n_ranks);
    for (uint32_t i = 0; i < l->hw->faults.count; i++) {
        const ovl_hw_fault *fault = OVL_ITEM(l->hw->faults, ovl_hw_fault, i);
        if (fault->slowdown <= 0) {
            continue;
        }
        if (!l->slowdown) {
            l->slowdown = OVL_NEW_ARRAY(l->arena, double, l->n_ranks);
            for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
                l->slowdown[rank] = 1;
            }
        }
        mark_ranks(l, fault, in);
        for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
            l->slowdown[rank] *= in[rank] ? fault->slowdown : 1;
        }
    }
}

/* --- Degraded links --- */

static uint32_t link_number(const ovl_hw *hw, const char *name)
{
    uint32_t i = 0;
    while (i < hw->n_links && strcmp(hw->links[i].name, name) != 0) {
        i++;
    }
    return i; /* checked when the hardware was read */
}

/* From `from` to `until` the resource has less. Neighbouring ranks of one instance change it once.
 */
static void degrade(ovl_lowering *l, const ovl_hw_fault *fault, ovl_id resource, uint64_t nominal)
{
    ovl_change_capacity(l->b, resource, fault->from, fault->bandwidth);
    if (fault->has_until) {
        ovl_change_capacity(l->b, resource, fault->until, nominal);
    }
}

static void degrade_port(ovl_lowering *l, const ovl_hw_fault *fault, const ovl_id *ports,
                         uint32_t port, uint64_t nominal, const bool *in)
{
    ovl_id last = OVL_NONE;
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ovl_id resource = ports[(size_t)rank * l->b->n_ports + port];
        if (in[rank] && resource != last && resource != OVL_NONE) {
            degrade(l, fault, resource, nominal);
            last = resource;
        }
    }
}

void ovl_faults_links(ovl_lowering *l, const ovl_id *ports)
{
    bool *in = OVL_NEW_ARRAY(l->arena, bool, l->n_ranks);
    for (uint32_t i = 0; i < l->hw->faults.count; i++) {
        const ovl_hw_fault *fault = OVL_ITEM(l->hw->faults, ovl_hw_fault, i);
        if (!fault->link) {
            continue;
        }
        mark_ranks(l, fault, in);
        if (strcmp(fault->link, "hbm") == 0) {
            degrade_port(l, fault, ports, OVL_PORT_HBM, l->hw->gpu.hbm, in);
            continue;
        }
        uint32_t link = link_number(l->hw, fault->link);
        uint64_t nominal = l->hw->links[link].bandwidth;
        degrade_port(l, fault, ports, 1 + 2 * link, nominal, in);
        degrade_port(l, fault, ports, 2 + 2 * link, nominal, in);
    }
}
