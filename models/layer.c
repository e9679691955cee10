#include "models/layer.h"
#include "models/inner.h"

/* Sharded parameters are computed with in the type that they are gathered in. */
static ovl_dtype compute_dtype(const ovl_lowering *l, const ovl_layer *layer)
{
    const ovl_fsdp *fsdp = &l->scenario->fsdp;
    bool own = !fsdp->given || fsdp->param_dtype == OVL_DTYPE_OF_LAYER;
    return (ovl_dtype)(own ? layer->dtype : fsdp->param_dtype);
}

static ovl_kernel_spec kernel_of(const ovl_lowering *l, const ovl_layer *layer, const char *pass)
{
    return (ovl_kernel_spec){.mark = layer->mark,
                             .dtype = compute_dtype(l, layer),
                             .sms = layer->sms,
                             .blocks = layer->blocks,
                             .klass = layer->klass ? layer->klass : pass};
}

/* All kernels of a pass as one length: whoever writes the layer takes them one by one. */
static ovl_plan_cost inner_length(ovl_lowering *l, const ovl_layer *layer, ovl_inner_pass pass)
{
    ovl_time length = ovl_inner_time(l, layer->inner, pass, layer->mark);
    return ovl_plan_length(l, layer->name, layer->mark, (ovl_times){.item = &length, .count = 1});
}

ovl_plan_cost ovl_layer_forward(ovl_lowering *l, const ovl_layer *layer)
{
    if (layer->inner) {
        return inner_length(l, layer, OVL_INNER_FORWARD);
    }
    ovl_kernel_spec spec = kernel_of(l, layer, "forward");
    spec.name = ovl_arena_printf(l->arena, "forward %s", layer->name);
    spec.duration = layer->forward;
    spec.flops = layer->forward_flops;
    spec.hbm = layer->hbm;
    bool given = spec.duration.count || spec.flops > 0 || spec.hbm > 0;
    if (!given) {
        ovl_plan_say(l, "The forward pass is not modelled for layers that give no forward.");
        return (ovl_plan_cost){.id = OVL_NONE};
    }
    return ovl_plan_kernel(l, &spec);
}

ovl_plan_cost ovl_layer_recompute(ovl_lowering *l, const ovl_layer *layer, ovl_plan_cost forward)
{
    if (layer->inner) {
        return inner_length(l, layer, OVL_INNER_AGAIN);
    }
    ovl_kernel_spec spec = kernel_of(l, layer, "forward");
    spec.name = ovl_arena_printf(l->arena, "recompute %s", layer->name);
    spec.duration = layer->recompute_time;
    return layer->recompute && spec.duration.count ? ovl_plan_kernel(l, &spec) : forward;
}

static ovl_kernel_spec backward_of(const ovl_lowering *l, const ovl_layer *layer)
{
    ovl_kernel_spec spec = kernel_of(l, layer, "backward");
    spec.name = ovl_arena_printf(l->arena, "backward %s", layer->name);
    spec.duration = layer->backward;
    spec.flops = layer->backward_flops;
    spec.hbm = layer->backward_hbm ? layer->backward_hbm : 2 * layer->hbm;
    return spec;
}

ovl_plan_cost ovl_layer_backward(ovl_lowering *l, const ovl_layer *layer)
{
    if (layer->inner) {
        return inner_length(l, layer, OVL_INNER_BACKWARD);
    }
    ovl_kernel_spec spec = backward_of(l, layer);
    return ovl_plan_kernel(l, &spec);
}

/* A part of the backward of a layer: what of it is for weights, or the rest. */
typedef struct part {
    const ovl_layer *layer;
    const ovl_kernel_spec *whole;
    bool weight;
} part;

static ovl_time part_length(ovl_lowering *l, void *context)
{
    const part *p = context;
    ovl_time weight = ovl_stated(l, p->layer->backward_weight);
    if (p->weight) {
        return weight;
    }
    ovl_time whole = ovl_plan_alone(l, p->whole);
    return whole - OVL_MIN(whole, weight);
}

ovl_plan_cost ovl_layer_part(ovl_lowering *l, const ovl_layer *layer, bool weight)
{
    if (layer->inner || !layer->has_backward_weight) {
        return (ovl_plan_cost){.id = OVL_NONE};
    }
    ovl_kernel_spec spec = backward_of(l, layer);
    const ovl_kernel_spec all = spec;
    part own_part = {layer, &all, weight};
    ovl_time whole = spec.duration.count ? spec.duration.item[0] : ovl_plan_alone(l, &spec);
    ovl_time *own = OVL_NEW(l->arena, ovl_time);
    *own = weight ? layer->backward_weight : whole - OVL_MIN(whole, layer->backward_weight);
    spec.on = ovl_on_machines(l, part_length, &own_part);
    spec.hbm = whole ? (uint64_t)((double)spec.hbm * ((double)*own / (double)whole)) : 0;
    spec.name = ovl_arena_printf(l->arena, "%s %s", weight ? "backward_weight" : "backward_input",
                                 layer->name);
    spec.duration = (ovl_times){.item = own, .count = 1};
    spec.flops = 0;
    return ovl_plan_kernel(l, &spec);
}

/* What the text of an element count says; 1 and an error if it says nothing. */
static uint64_t read_elements(ovl_lowering *l, const ovl_layer *layer, uint32_t i)
{
    const ovl_texts *elements = &layer->elements;
    int64_t count = 0;
    const char *wrong = ovl_read_count(elements->item[i], &count);
    if (!wrong && (count <= 0 || count > INT64_MAX / 8)) {
        wrong = "a tensor has at least one element";
    }
    if (wrong) {
        ovl_error(l->errs, OVL_E_INPUT, elements->mark ? elements->mark[i] : layer->mark, "%s",
                  wrong);
        return 1;
    }
    return (uint64_t)count;
}

const uint64_t *ovl_layer_elements(ovl_lowering *l, const ovl_layer *layer, ovl_arena *arena,
                                   uint32_t *n)
{
    uint64_t size = ovl_dtype_size((ovl_dtype)layer->dtype);
    uint64_t *counts = OVL_NEW_ARRAY(arena, uint64_t, OVL_MAX(layer->elements.count, 1));
    *n = layer->elements.count;
    for (uint32_t i = 0; i < *n; i++) {
        counts[i] = read_elements(l, layer, i);
    }
    uint64_t params = layer->params - layer->expert_params;
    if (*n == 0 && params > 0) {
        *n = 1;
        counts[0] = params / size + (params % size > 0);
    }
    return counts;
}

uint64_t ovl_optimizer_bytes(const ovl_optimizer *optimizer, uint64_t elements)
{
    uint64_t tensors = (uint64_t)optimizer->moments + optimizer->master;
    return tensors * elements * ovl_dtype_size((ovl_dtype)optimizer->dtype);
}

double ovl_memory_efficiency(const ovl_lowering *l)
{
    double given = l->scenario->workload.model.memory_efficiency;
    double hardware = l->hw->gpu.hbm_efficiency;
    return given > 0 ? given : hardware > 0 ? hardware : 0.65;
}

/* Bytes that an element moves. */
static uint64_t update_bytes(const ovl_workload *workload, uint64_t grad_size)
{
    const ovl_optimizer *o = &workload->optimizer;
    uint64_t param = ovl_dtype_size((ovl_dtype)workload->dtype);
    return grad_size + 2 * ovl_optimizer_bytes(o, 1) + (o->master ? param : 2 * param);
}

ovl_time ovl_optimizer_time(ovl_lowering *l, uint64_t elements, uint64_t grad_size, uint64_t *moved)
{
    const ovl_workload *workload = &l->scenario->workload;
    const ovl_optimizer *o = &workload->optimizer;
    bool keeps = o->moments > 0 || o->master;
    *moved = 0;
    if (o->duration) {
        return o->duration;
    }
    if (!workload->model.given || !keeps || l->hw->gpu.hbm == 0) {
        ovl_plan_say(l, "The optimizer takes no time: workload.optimizer gives no duration.");
        return 0;
    }
    double rate = (double)l->hw->gpu.hbm * ovl_memory_efficiency(l);
    *moved = elements * update_bytes(workload, grad_size);
    return ovl_bytes_time(*moved, (uint64_t)rate);
}

typedef struct update {
    uint64_t elements, grad_size;
} update;

static ovl_time update_length(ovl_lowering *l, void *context)
{
    const update *u = context;
    uint64_t moved;
    ovl_time length = ovl_optimizer_time(l, u->elements, u->grad_size, &moved);
    return l->scenario->workload.optimizer.duration ? ovl_stated(l, length) : length;
}

const ovl_time *ovl_optimizer_on(ovl_lowering *l, uint64_t elements, uint64_t grad_size)
{
    update u = {elements, grad_size};
    return ovl_on_machines(l, update_length, &u);
}

ovl_plan_cost ovl_optimizer_cost(ovl_lowering *l, uint64_t elements, ovl_mark mark,
                                 ovl_op_kind *kind)
{
    uint64_t size = ovl_dtype_size((ovl_dtype)l->scenario->workload.dtype), moved;
    ovl_time length = ovl_optimizer_time(l, elements, size, &moved);
    *kind = length ? OVL_KERNEL : OVL_MARKER;
    if (length == 0) {
        return ovl_plan_length(l, "optimizer", mark, (ovl_times){0});
    }
    ovl_kernel_spec spec = {.name = "optimizer",
                            .mark = mark,
                            .duration = {.item = &length, .count = 1},
                            .on = ovl_optimizer_on(l, elements, size),
                            .hbm = moved,
                            .no_compute = moved > 0,
                            .klass = "optimizer"};
    return ovl_plan_kernel(l, &spec);
}
