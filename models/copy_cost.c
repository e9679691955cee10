#include "models/comm_parts.h"
#include "models/wires.h"

typedef ovl_comm_draft comm;

static const ovl_plan_cost no_cost = {.id = OVL_NONE};

/* Bytes over the slowest link of `via`, or alpha and beta. */
static bool copy_time(ovl_lowering *l, const ovl_comm_spec *spec, ovl_comm_time *time)
{
    ovl_hw_collective own = {.has_alpha = spec->has_alpha,
                             .has_beta = spec->has_beta,
                             .alpha = spec->alpha,
                             .beta = spec->beta};
    if (!spec->has_alpha && !spec->has_beta) {
        own.algorithm = OVL_ALGO_DIRECT;
        own.via = spec->via;
    }
    if (own.algorithm == OVL_ALGO_DIRECT && (spec->via.count == 0 || !spec->has_bytes)) {
        ovl_error(l->errs, OVL_E_INPUT, spec->mark,
                  "\"%s\" has no cost: give a duration, alpha and beta, or bytes and a link in "
                  "`via`",
                  spec->name);
        return false;
    }
    bool extrapolated;
    ovl_spread ends = ovl_spread_apart(2);
    return ovl_collective_time(l->hw, &own, OVL_SEND_RECV, spec->bytes, &ends, spec->name,
                               spec->mark, time, &extrapolated, l->errs);
}

/* Between a GPU and the host lies no wire to another GPU. */
static bool check_way(ovl_lowering *l, const ovl_comm_spec *spec)
{
    const ovl_texts *via = ovl_wires_via(l, &spec->via);
    if (via != &spec->via) {
        ovl_error(l->errs, OVL_E_INPUT, spec->mark,
                  "\"%s\" is a copy between GPU and host and crosses no mesh of GPUs", spec->name);
    }
    return via == &spec->via;
}

static bool draft_copy(ovl_lowering *l, const comm *c, ovl_comm_time time, int direction,
                       ovl_draft *d)
{
    d->n_later = 0;
    d->cost = (ovl_cost){.latency = time.latency, .work = time.transfer};
    d->kind = (ovl_cost_kind){.klass = OVL_NONE};
    d->kind.engine = direction != 0;
    d->kind.law = ovl_draft_law(l, c->spec->duration);
    uint64_t rate = ovl_bytes_rate(c->spec->has_bytes ? c->spec->bytes : 0, time.transfer);
    uint64_t hbm = ovl_comm_hbm(l, c, rate), principal = 0;
    if (c->spec->hbm > 0) {
        hbm = ovl_comm_clamp_hbm(l, c, ovl_bytes_rate(c->spec->hbm, time.transfer));
    } else if (!c->has_hbm_factor) {
        ovl_plan_note(l, OVL_NOTE_KERNEL_HBM, c->spec->name);
    }
    ovl_demand *out = direction == 0 ? d->own : NULL, *in = direction == 0 ? NULL : d->own;
    uint8_t *n = &d->kind.n_demands;
    bool by_member = false;
    if (!ovl_comm_links(l, c, time.transfer, out, n, in, n, &principal, &by_member)) {
        return false;
    }
    ovl_draft_demand(d->own, n, (ovl_demand){OVL_PORT_HBM, false, hbm});
    d->kind.weight = ovl_draft_weight(l, hbm ? hbm : principal);
    return true;
}

/* On the node of l->hw. */
static ovl_id copy_on(ovl_lowering *l, const comm *c, int direction)
{
    const ovl_times *times = &c->spec->duration;
    ovl_comm_time time = {.transfer = times->count ? times->item[0] : 0};
    ovl_draft d;
    bool ok =
        (times->count || copy_time(l, c->spec, &time)) && draft_copy(l, c, time, direction, &d);
    return ok ? ovl_draft_intern(l, &d).id : OVL_NONE;
}

/* A cost for each rank, that of its sort of nodes. */
static ovl_plan_cost copy_on_each(ovl_lowering *l, const comm *c, int direction)
{
    const ovl_hw *hw = l->hw;
    ovl_id on[OVL_MACHINES_MAX] = {copy_on(l, c, direction)};
    for (uint32_t i = 1; i < l->n_machines && on[0] != OVL_NONE; i++) {
        l->hw = &l->machines[i];
        on[i] = copy_on(l, c, direction);
    }
    l->hw = hw;
    if (l->n_machines < 2 || on[0] == OVL_NONE) {
        return (ovl_plan_cost){.id = on[0]};
    }
    return ovl_draft_on_ranks(l, on);
}

ovl_plan_cost ovl_plan_copy(ovl_lowering *l, const ovl_comm_spec *spec, int direction)
{
    comm c = {.spec = spec, .via = &spec->via, .spread = ovl_spread_apart(2)};
    c.hbm_factor = spec->has_hbm_factor ? spec->hbm_factor : 0;
    c.has_hbm_factor = spec->has_hbm_factor;
    ovl_times times = spec->duration;
    if (!check_way(l, spec)) {
        return no_cost;
    }
    if (times.count < 2) {
        return copy_on_each(l, &c, direction);
    }
    if (!ovl_draft_check_times(l, spec->name, spec->mark, times)) {
        return no_cost;
    }
    ovl_id first = l->b->costs.len;
    const ovl_hw *hw = l->hw;
    bool ok = true;
    for (uint32_t i = 0; i < times.count && ok; i++) {
        ovl_draft d;
        l->hw = ovl_hw_of_rank(l, i);
        ok = draft_copy(l, &c, (ovl_comm_time){.transfer = times.item[i]}, direction, &d);
        if (ok) {
            ovl_draft_append(l, &d);
        }
    }
    l->hw = hw;
    return ok ? ovl_draft_store(l, first) : no_cost;
}
