#include "models/block.h"
#include "models/layer.h"
#include "models/mesh.h"

static uint64_t least(const ovl_sizes *sizes)
{
    uint64_t least = sizes->most;
    for (uint32_t r = 0; r < sizes->count; r++) {
        least = OVL_MIN(least, sizes->of[r]);
    }
    return least;
}

static void add_line(ovl_lowering *l, ovl_lowered *lowered, const ovl_layer *layer)
{
    static const ovl_inner_pass passes[] = {OVL_INNER_FORWARD, OVL_INNER_AGAIN, OVL_INNER_BACKWARD};
    const ovl_model *m = &l->scenario->workload.model;
    const ovl_inner *inner = layer->inner;
    const ovl_sizes *kept = layer->recompute ? &layer->checkpoint : &layer->activations;
    ovl_model_line *line = &lowered->model[lowered->n_model++];
    *line = (ovl_model_line){
        .name = layer->name,
        .repeat = layer->repeat,
        .params = layer->params / ovl_dtype_size((ovl_dtype)layer->dtype),
        .forward_flops = ovl_inner_flops(inner, OVL_INNER_FORWARD),
        .backward_flops = ovl_inner_flops(inner, OVL_INNER_BACKWARD),
        .again_flops = ovl_inner_flops(inner, OVL_INNER_AGAIN),
        .forward = ovl_inner_time(l, inner, OVL_INNER_FORWARD, layer->mark),
        .backward = ovl_inner_time(l, inner, OVL_INNER_BACKWARD, layer->mark),
        .again = ovl_inner_time(l, inner, OVL_INNER_AGAIN, layer->mark),
        .kept = kept->most,
        .least_kept = least(kept),
        .activations = layer->activations.most + (layer->recompute ? kept->most : 0),
    };
    for (uint32_t i = 0; i < OVL_COUNT(passes); i++) {
        line->tp_bytes += ovl_inner_bytes(inner, passes[i], m->tp);
        line->cp_bytes += ovl_inner_bytes(inner, passes[i], m->cp);
        if (m->moe.given) {
            line->ep_bytes += ovl_inner_bytes(inner, passes[i], m->moe.ep);
        }
        if (m->moe.across) {
            line->across_bytes += ovl_inner_bytes(inner, passes[i], m->moe.across);
        }
    }
}

/* The mean over all ranks; 0 if one is not known. */
static double mean_peak(const ovl_lowering *l, ovl_dtype dtype, bool *mixed)
{
    double sum = 0, first = ovl_hw_of_rank(l, 0)->gpu.peak.rate[dtype];
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        double peak = ovl_hw_of_rank(l, rank)->gpu.peak.rate[dtype];
        if (!(peak > 0)) {
            return 0;
        }
        *mixed |= peak > first || peak < first;
        sum += peak;
    }
    return *mixed ? sum / l->n_ranks : first;
}

/* Ranks that are neither of tensor, context nor pipeline parallelism have microbatches of their
 * own. */
static void find_useful(ovl_lowering *l, const ovl_block_shape *shape, ovl_lowered *lowered)
{
    const ovl_scenario *s = l->scenario;
    uint64_t stages = s->pipeline.given ? ovl_mesh_size(&s->mesh, s->pipeline.group) : 1;
    uint64_t m = l->microbatches ? l->microbatches : (uint64_t)OVL_MAX(s->workload.microbatches, 1);
    double microbatches =
        (double)m * (double)l->n_ranks / ((double)shape->tp * (double)shape->cp * (double)stages);
    double tokens = (double)shape->tokens * (double)shape->cp;
    lowered->useful = (ovl_useful){
        .flops = ovl_model_flops(shape) * (double)m / (double)stages,
        .attention = ovl_model_attention(shape) * (double)m / (double)stages,
        .sequence = (uint64_t)s->workload.model.sequence,
        .tokens = (uint64_t)(microbatches * tokens + 0.5),
        .ranks = l->n_ranks,
    };
    lowered->useful.peak = mean_peak(l, (ovl_dtype)shape->dtype, &lowered->useful.mixed);
    lowered->model_tokens = (uint64_t)tokens;
}

static double reached(double given, const ovl_lowering *l)
{
    double hardware = l->hw->gpu.efficiency;
    return 100 * (given > 0 ? given : hardware > 0 ? hardware : 1);
}

static void say_efficiencies(ovl_lowering *l)
{
    const ovl_model *m = &l->scenario->workload.model;
    if (m->block.forward && m->block.backward) {
        return; /* measured */
    }
    ovl_plan_say(l, ovl_arena_printf(l->arena,
                                     "Matrix products are assumed to reach %g %% of the peak, the "
                                     "attention %g %%, kernels that only move bytes %g %% of the "
                                     "HBM bandwidth.",
                                     reached(m->matmul_efficiency, l),
                                     reached(m->attention_efficiency, l),
                                     100 * ovl_memory_efficiency(l)));
}

static void say_what_is_left_out(ovl_lowering *l, const ovl_block_shape *shape)
{
    const ovl_model *m = shape->model;
    if (shape->tp > 1 && m->sequence_parallel) {
        ovl_plan_say(l, "Gradients of norms and routers, which ranks of tensor parallelism have in "
                        "common, are not reduced over them.");
    }
    ovl_moe_load load = ovl_moe_load_of(l->scenario, l->arena, l->errs);
    if (shape->etp > 1 && load.most > 1) {
        ovl_plan_say(l, "What experts that are cut over tensor parallelism gather and reduce in it "
                        "is counted for ranks of mean load.");
    }
}

void ovl_model_facts(ovl_lowering *l, ovl_lowered *lowered)
{
    const ovl_workload *workload = &l->scenario->workload;
    ovl_block_shape shape;
    lowered->n_model = 0;
    lowered->useful = (ovl_useful){0};
    if (!workload->model.given || !ovl_block_shape_of(l->scenario, &shape, l->errs)) {
        return;
    }
    lowered->model_params = 0;
    for (uint32_t i = 0; i < workload->layers.count && i < OVL_MODEL_LINES; i++) {
        const ovl_layer *layer = OVL_ITEM(workload->layers, ovl_layer, i);
        add_line(l, lowered, layer);
        lowered->model_params += (double)lowered->model[i].params * (double)layer->repeat;
    }
    find_useful(l, &shape, lowered);
    say_efficiencies(l);
    say_what_is_left_out(l, &shape);
}
