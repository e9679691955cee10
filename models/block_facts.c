#include "models/block.h"
#include "models/mesh.h"

static void add_line(ovl_lowering *l, ovl_lowered *lowered, const ovl_layer *layer)
{
    static const ovl_inner_pass passes[] = {OVL_INNER_FORWARD, OVL_INNER_AGAIN, OVL_INNER_BACKWARD};
    const ovl_model *m = &l->scenario->workload.model;
    const ovl_inner *inner = layer->inner;
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
        .kept = layer->recompute ? layer->checkpoint : layer->activations,
        .activations = layer->activations + (layer->recompute ? layer->checkpoint : 0),
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
        .peak = l->hw->gpu.peak.rate[shape->dtype],
        .tokens = (uint64_t)(microbatches * tokens + 0.5),
        .ranks = l->n_ranks,
    };
    lowered->model_tokens = (uint64_t)tokens;
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
}
