#include "models/draft.h"

#include <math.h>

static const ovl_plan_cost no_cost = {.id = OVL_NONE};

static bool kernel_sms(ovl_lowering *l, const ovl_kernel_spec *spec, ovl_cost_kind *kind)
{
    int64_t all = l->hw->gpu.sms;
    if (all > 0 && spec->sms > all) {
        ovl_error(l->errs, OVL_E_INPUT, spec->mark,
                  "\"%s\" wants %" PRId64 " SMs of a GPU of %" PRId64, spec->name, spec->sms, all);
        return false;
    }
    int64_t wanted = spec->sms;
    if (wanted == 0) {
        wanted = spec->blocks > 0 ? OVL_MIN(spec->blocks, all) : all;
    }
    kind->sms = spec->no_compute ? 0 : (uint32_t)wanted;
    kind->blocks = spec->no_compute ? 0 : (uint32_t)OVL_MIN(spec->blocks, UINT32_MAX);
    return true;
}

static bool kernel_hbm(ovl_lowering *l, const ovl_kernel_spec *spec, ovl_draft *d)
{
    uint64_t capacity = l->hw->gpu.hbm;
    if (capacity == 0 || d->cost.work == 0) {
        return true;
    }
    if (spec->hbm == 0) {
        if (!spec->no_compute) {
            ovl_plan_note(l, OVL_NOTE_KERNEL_HBM, spec->name);
        }
        return true;
    }
    uint64_t rate = ovl_bytes_rate(spec->hbm, d->cost.work);
    if (rate > capacity && spec->no_compute) {
        rate = capacity; /* a copy of known length whose traffic is our estimate */
    }
    if (rate > capacity) {
        char wants[OVL_UNITS_TEXT], has[OVL_UNITS_TEXT];
        ovl_error(l->errs, OVL_E_INPUT, spec->mark,
                  "\"%s\" cannot move its HBM bytes in its duration: that takes %s of %s",
                  spec->name, ovl_print_rate(wants, (double)rate),
                  ovl_print_rate(has, (double)capacity));
        return false;
    }
    ovl_draft_demand(d->own, &d->kind.n_demands, (ovl_demand){OVL_PORT_HBM, false, rate});
    d->kind.weight = ovl_draft_weight(l, rate);
    return true;
}

/* An explicit duration is bound by SMs as a whole unless the user says which part. */
static bool kernel_compute(ovl_lowering *l, const ovl_kernel_spec *spec, ovl_cost *cost,
                           ovl_time roofline)
{
    cost->compute = roofline;
    if (spec->no_compute) {
        cost->compute = 0;
    } else if (spec->compute > 0) {
        cost->compute = spec->compute;
    } else if (spec->duration.count) {
        cost->compute = cost->work;
    }
    if (cost->compute > cost->work) {
        ovl_error(l->errs, OVL_E_INPUT, spec->mark,
                  "the compute part of \"%s\" is longer than the whole", spec->name);
        return false;
    }
    return true;
}

static bool draft_kernel(ovl_lowering *l, const ovl_kernel_spec *spec, ovl_time duration,
                         ovl_time compute, ovl_draft *d)
{
    d->cost = (ovl_cost){.work = duration};
    d->kind = (ovl_cost_kind){.weight = 1};
    d->kind.law = ovl_draft_law(l, spec->duration);
    d->kind.klass = ovl_draft_klass(l, true, spec->klass ? spec->klass : "kernel");
    if (spec->whole > 0) {
        d->kind.split =
            ovl_add_split(l->b, &(ovl_split){spec->part, spec->whole,
                                             ovl_draft_klass(l, true, spec->part_klass)});
    }
    bool ok = kernel_sms(l, spec, &d->kind);
    ok = kernel_compute(l, spec, &d->cost, compute) && ok;
    return kernel_hbm(l, spec, d) && ok;
}

ovl_time ovl_plan_slowed(const ovl_lowering *l, uint32_t rank, ovl_time time)
{
    double factor = l->slowdown ? l->slowdown[rank] : 1;
    return factor > 1 || factor < 1 ? (ovl_time)ceil((double)time * factor) : time;
}

/* The same kernel on every rank, some of which are slow: a cost for each. Kernels of one cost share
 * the list. */
static ovl_plan_cost on_slow_ranks(ovl_lowering *l, const ovl_kernel_spec *spec, ovl_id healthy,
                                   ovl_time duration, ovl_time compute)
{
    while (l->slow_costs.len <= healthy) {
        ovl_vec_push(&l->slow_costs, no_cost);
    }
    if (l->slow_costs.data[healthy].id == OVL_NONE) {
        ovl_id first = l->b->costs.len;
        ovl_kernel_spec own = *spec;
        for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
            ovl_draft d;
            own.compute = ovl_plan_slowed(l, rank, spec->compute);
            if (!draft_kernel(l, &own, ovl_plan_slowed(l, rank, duration),
                              ovl_plan_slowed(l, rank, compute), &d)) {
                return no_cost;
            }
            ovl_draft_append(l, &d);
        }
        l->slow_costs.data[healthy] = ovl_draft_store(l, first);
    }
    return l->slow_costs.data[healthy];
}

static ovl_time loaded(ovl_time time, double load)
{
    return (ovl_time)ceil((double)time * load);
}

static bool draft_loaded(ovl_lowering *l, const ovl_kernel_spec *spec, uint32_t rank,
                         ovl_time duration, ovl_time compute, ovl_draft *d)
{
    ovl_kernel_spec own = *spec;
    double load = spec->load[rank];
    own.hbm = (uint64_t)((double)spec->hbm * load);
    own.compute = ovl_plan_slowed(l, rank, loaded(spec->compute, load));
    return draft_kernel(l, &own, ovl_plan_slowed(l, rank, loaded(duration, load)),
                        ovl_plan_slowed(l, rank, loaded(compute, load)), d);
}

/* As many costs as ranks; kernels of one cost and one list of loads share them. */
static ovl_plan_cost on_loaded_ranks(ovl_lowering *l, const ovl_kernel_spec *spec, ovl_id even,
                                     ovl_time duration, ovl_time compute)
{
    for (uint32_t i = 0; i < l->loaded.len; i++) {
        if (l->loaded.data[i].even == even && l->loaded.data[i].load == spec->load) {
            return l->loaded.data[i].cost;
        }
    }
    ovl_id first = l->b->costs.len;
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ovl_draft d;
        if (!draft_loaded(l, spec, rank, duration, compute, &d)) {
            return no_cost;
        }
        ovl_draft_append(l, &d);
    }
    ovl_plan_cost cost = ovl_draft_store(l, first);
    ovl_vec_push(&l->loaded, (ovl_loaded){spec->load, even, cost});
    return cost;
}

static ovl_plan_cost one_kernel(ovl_lowering *l, const ovl_kernel_spec *spec, ovl_time duration,
                                ovl_time compute)
{
    ovl_draft d;
    if (!draft_kernel(l, spec, duration, compute, &d)) {
        return no_cost;
    }
    ovl_plan_cost cost = ovl_draft_intern(l, &d);
    if (spec->load) {
        return on_loaded_ranks(l, spec, cost.id, duration, compute);
    }
    return l->slowdown ? on_slow_ranks(l, spec, cost.id, duration, compute) : cost;
}

static ovl_plan_cost roofline_kernel(ovl_lowering *l, const ovl_kernel_spec *spec)
{
    ovl_time duration, compute;
    if (!(spec->flops > 0) && spec->hbm == 0) {
        ovl_error(l->errs, OVL_E_INPUT, spec->mark,
                  "\"%s\" has no cost: give a duration, or flops and hbm bytes", spec->name);
        return no_cost;
    }
    double usual = l->hw->gpu.efficiency > 0 ? l->hw->gpu.efficiency : 1;
    double flops = spec->efficiency > 0 ? spec->flops * (usual / spec->efficiency) : spec->flops;
    if (!ovl_kernel_time(l->hw, flops, spec->hbm, spec->dtype, spec->mark, &duration, &compute,
                         l->errs)) {
        return no_cost;
    }
    l->roofline = true;
    return one_kernel(l, spec, duration, compute);
}

ovl_plan_cost ovl_plan_kernel(ovl_lowering *l, const ovl_kernel_spec *spec)
{
    l->has_kernels = true;
    ovl_times times = spec->duration;
    if (times.count == 0) {
        return roofline_kernel(l, spec);
    }
    if (!ovl_draft_check_times(l, spec->name, spec->mark, times)) {
        return no_cost;
    }
    if (times.count == 1) {
        return one_kernel(l, spec, times.item[0], 0);
    }
    ovl_id first = l->b->costs.len;
    for (uint32_t i = 0; i < times.count; i++) {
        ovl_draft d;
        if (!draft_kernel(l, spec, ovl_plan_slowed(l, i, times.item[i]), 0, &d)) {
            return no_cost;
        }
        ovl_draft_append(l, &d);
    }
    return ovl_draft_store(l, first);
}

/* --- Host calls and markers --- */

ovl_plan_cost ovl_plan_length(ovl_lowering *l, const char *name, ovl_mark mark, ovl_times times)
{
    ovl_draft d = {.kind = {.klass = OVL_NONE, .weight = 1}};
    d.kind.law = ovl_draft_law(l, times);
    if (times.count < 2) {
        d.cost.work = times.count ? times.item[0] : 0;
        return ovl_draft_intern(l, &d);
    }
    if (!ovl_draft_check_times(l, name, mark, times)) {
        return no_cost;
    }
    ovl_id first = l->b->costs.len;
    for (uint32_t i = 0; i < times.count; i++) {
        d.cost.work = times.item[i];
        ovl_draft_append(l, &d);
    }
    return ovl_draft_store(l, first);
}

ovl_plan_cost ovl_plan_pause(ovl_lowering *l, ovl_time length)
{
    ovl_draft d = {.cost = {.latency = length}, .kind = {.klass = OVL_NONE, .weight = 1}};
    return ovl_draft_intern(l, &d);
}

ovl_time ovl_plan_launch(const ovl_lowering *l)
{
    return l->hw->has_host ? l->hw->host.launch : 0;
}
