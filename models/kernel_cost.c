#include "models/draft.h"

#include <math.h>

static const ovl_plan_cost no_cost = {.id = OVL_NONE};

/* For messages: the nodes it is about, if they are unlike the others. */
static const char *whose(const ovl_lowering *l)
{
    return l->hw->on ? ovl_arena_printf(l->errs->arena, " (nodes \"%s\")", l->hw->on) : "";
}

static bool kernel_sms(ovl_lowering *l, const ovl_kernel_spec *spec, ovl_cost_kind *kind)
{
    int64_t all = l->hw->gpu.sms;
    if (all > 0 && spec->sms > all) {
        ovl_error(l->errs, OVL_E_INPUT, spec->mark,
                  "\"%s\" wants %" PRId64 " SMs of a GPU of %" PRId64 "%s", spec->name, spec->sms,
                  all, whose(l));
        return false;
    }
    int64_t wanted = spec->sms;
    bool none = spec->no_compute || (spec->has_sms && wanted == 0);
    if (wanted == 0) {
        wanted = spec->blocks > 0 ? OVL_MIN(spec->blocks, all) : all;
    }
    kind->sms = none ? 0 : (uint32_t)wanted;
    kind->blocks = none ? 0 : (uint32_t)OVL_MIN(spec->blocks, UINT32_MAX);
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
                  "\"%s\" cannot move its HBM bytes in its duration: that takes %s of %s%s",
                  spec->name, ovl_print_rate(wants, (double)rate),
                  ovl_print_rate(has, (double)capacity), whose(l));
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
    d->n_later = 0;
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

ovl_time ovl_stated(const ovl_lowering *l, ovl_time time)
{
    double speed = l->hw->gpu.speed;
    return speed > 0 && (speed > 1 || speed < 1) ? (ovl_time)ceil((double)time / speed) : time;
}

/* --- On one GPU --- */

/* How long it takes, and its SM-bound part if a roofline made it, on a healthy GPU of one sort. */
typedef struct length {
    ovl_time duration, compute, part; /* `part`: spec->compute */
    uint64_t hbm;
} length;

/* As many bytes as fit in a time. */
static uint64_t bytes_in(const ovl_lowering *l, uint64_t bytes, ovl_time time)
{
    double most = (double)l->hw->gpu.hbm * ((double)time / 1e12) * 0.999;
    return l->hw->gpu.hbm && (double)bytes > most ? (uint64_t)most : bytes;
}

static bool by_roofline(ovl_lowering *l, const ovl_kernel_spec *spec, length *out)
{
    if (!(spec->flops > 0) && spec->hbm == 0) {
        ovl_error(l->errs, OVL_E_INPUT, spec->mark,
                  "\"%s\" has no cost: give a duration, or flops and hbm bytes", spec->name);
        return false;
    }
    double usual = l->hw->gpu.efficiency > 0 ? l->hw->gpu.efficiency : 1;
    double flops = spec->efficiency > 0 ? spec->flops * (usual / spec->efficiency) : spec->flops;
    l->roofline = true;
    return ovl_kernel_time(l->hw, flops, spec->hbm, spec->dtype, spec->name, spec->mark,
                           &out->duration, &out->compute, l->errs);
}

/* On the GPU of l->hw, which is number `machine`. */
static bool length_of(ovl_lowering *l, const ovl_kernel_spec *spec, uint32_t machine, length *out)
{
    *out = (length){.part = ovl_stated(l, spec->compute), .hbm = spec->hbm};
    if (spec->duration.count == 0) {
        return by_roofline(l, spec, out);
    }
    out->duration = spec->on ? spec->on[machine] : ovl_stated(l, spec->duration.item[0]);
    out->hbm = spec->estimated ? bytes_in(l, spec->hbm, out->duration) : spec->hbm;
    return true;
}

static ovl_time times(ovl_time time, double load)
{
    return (ovl_time)ceil((double)time * load);
}

/* The cost on a rank, slow or with a load of its own; OVL_NONE: on a healthy one. */
static bool draft_on(ovl_lowering *l, const ovl_kernel_spec *spec, const length *len, uint32_t rank,
                     ovl_draft *d)
{
    ovl_kernel_spec own = *spec;
    length is = *len;
    if (rank != OVL_NONE && spec->load) {
        double load = spec->load[rank];
        is = (length){times(is.duration, load), times(is.compute, load), times(is.part, load),
                      (uint64_t)((double)is.hbm * load)};
    }
    if (rank != OVL_NONE) {
        is = (length){ovl_plan_slowed(l, rank, is.duration), ovl_plan_slowed(l, rank, is.compute),
                      ovl_plan_slowed(l, rank, is.part), is.hbm};
    }
    own.compute = is.part;
    own.hbm = is.hbm;
    return draft_kernel(l, &own, is.duration, is.compute, d);
}

/* --- On all --- */

/* A kernel on the GPU of each sort of nodes. */
typedef struct on_all {
    length len[OVL_MACHINES_MAX];
    ovl_id id[OVL_MACHINES_MAX];
} on_all;

static bool find_on(ovl_lowering *l, const ovl_kernel_spec *spec, uint32_t machine, on_all *all)
{
    ovl_draft d;
    if (!length_of(l, spec, machine, &all->len[machine]) ||
        !draft_on(l, spec, &all->len[machine], OVL_NONE, &d)) {
        return false;
    }
    all->id[machine] = ovl_draft_intern(l, &d).id;
    return true;
}

static bool find_on_all(ovl_lowering *l, const ovl_kernel_spec *spec, uint32_t n, on_all *all)
{
    const ovl_hw *hw = l->hw;
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++) {
        l->hw = n > 1 ? &l->machines[i] : hw;
        ok = find_on(l, spec, i, all);
    }
    l->hw = hw;
    return ok;
}

/* What an equal kernel costs; NULL: there was none. */
static const ovl_by_rank *find_known(const ovl_lowering *l, const ovl_kernel_spec *spec, uint32_t n,
                                     const on_all *all)
{
    uint32_t at = all->id[0] < l->by_rank_of.len ? l->by_rank_of.data[all->id[0]] : 0;
    while (at) {
        const ovl_by_rank *known = &l->by_rank.data[at - 1];
        if (known->load == spec->load && memcmp(known->on, all->id, n * sizeof *all->id) == 0) {
            return known;
        }
        at = known->before;
    }
    return NULL;
}

static void remember(ovl_lowering *l, const ovl_kernel_spec *spec, uint32_t n, const on_all *all,
                     ovl_plan_cost cost)
{
    ovl_id *on = OVL_NEW_ARRAY(l->arena, ovl_id, n);
    memcpy(on, all->id, n * sizeof *on);
    while (l->by_rank_of.len <= all->id[0]) {
        ovl_vec_push(&l->by_rank_of, 0);
    }
    ovl_by_rank known = {on, spec->load, cost, l->by_rank_of.data[all->id[0]]};
    ovl_vec_push(&l->by_rank, known);
    l->by_rank_of.data[all->id[0]] = l->by_rank.len;
}

/* Ranks that are slow, or have loads of their own. */
static ovl_plan_cost draft_each(ovl_lowering *l, const ovl_kernel_spec *spec, uint32_t n,
                                const on_all *all)
{
    ovl_id first = l->b->costs.len;
    const ovl_hw *hw = l->hw;
    bool ok = true;
    for (uint32_t rank = 0; rank < l->n_ranks && ok; rank++) {
        ovl_draft d;
        l->hw = n > 1 ? ovl_hw_of_rank(l, rank) : hw;
        ok = draft_on(l, spec, &all->len[n > 1 ? l->machine_of[rank] : 0], rank, &d);
        if (ok) {
            ovl_draft_append(l, &d);
        }
    }
    l->hw = hw;
    return ok ? ovl_draft_store(l, first) : no_cost;
}

static ovl_plan_cost one_kernel(ovl_lowering *l, const ovl_kernel_spec *spec)
{
    uint32_t n = l->one_gpu ? 1 : OVL_MAX(l->n_machines, 1);
    bool each = spec->load || (l->slowdown && !l->one_gpu);
    on_all all;
    if (!find_on_all(l, spec, n, &all)) {
        return no_cost;
    }
    if (n == 1 && !each) {
        return (ovl_plan_cost){.id = all.id[0]};
    }
    const ovl_by_rank *known = find_known(l, spec, n, &all);
    if (known) {
        return known->cost;
    }
    ovl_plan_cost cost = each ? draft_each(l, spec, n, &all) : ovl_draft_on_ranks(l, all.id);
    if (cost.id != OVL_NONE) {
        remember(l, spec, n, &all, cost);
    }
    return cost;
}

/* Durations stated rank by rank are those of the GPUs there are. */
static ovl_plan_cost by_rank(ovl_lowering *l, const ovl_kernel_spec *spec)
{
    const ovl_hw *hw = l->hw;
    ovl_id first = l->b->costs.len;
    bool ok = true;
    for (uint32_t i = 0; i < spec->duration.count && ok; i++) {
        ovl_draft d;
        l->hw = ovl_hw_of_rank(l, i);
        ok = draft_kernel(l, spec, ovl_plan_slowed(l, i, spec->duration.item[i]), 0, &d);
        if (ok) {
            ovl_draft_append(l, &d);
        }
    }
    l->hw = hw;
    return ok ? ovl_draft_store(l, first) : no_cost;
}

ovl_plan_cost ovl_plan_kernel(ovl_lowering *l, const ovl_kernel_spec *spec)
{
    l->has_kernels = true;
    if (spec->duration.count && !ovl_draft_check_times(l, spec->name, spec->mark, spec->duration)) {
        return no_cost;
    }
    return spec->duration.count > 1 ? by_rank(l, spec) : one_kernel(l, spec);
}

ovl_time ovl_plan_alone(ovl_lowering *l, const ovl_kernel_spec *spec)
{
    bool one_gpu = l->one_gpu;
    l->one_gpu = true;
    ovl_plan_cost cost = ovl_plan_kernel(l, spec);
    l->one_gpu = one_gpu;
    return cost.id == OVL_NONE ? 0 : l->b->costs.data[cost.id].work;
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

ovl_plan_cost ovl_plan_pause(ovl_lowering *l, ovl_time time)
{
    ovl_draft d = {.cost = {.latency = time}, .kind = {.klass = OVL_NONE, .weight = 1}};
    return ovl_draft_intern(l, &d);
}

ovl_time ovl_plan_launch(const ovl_lowering *l)
{
    return l->hw->has_host ? l->hw->host.launch : 0;
}
