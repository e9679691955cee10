/*
 * layer.h - what one layer of a workload costs and holds, for every plan that walks layers.
 *
 * Example: {name: block, elements: [1000, 10], dtype: bf16, forward: 2 ms, backward: 4 ms} has the
 * kernels "forward block" (2 ms) and "backward block" (4 ms) and two tensors of 1000 and 10
 * elements. {params: 96 MiB, dtype: f32} is one tensor of 24 Mi elements.
 */
#ifndef OVL_MODELS_LAYER_H
#define OVL_MODELS_LAYER_H

#include "models/plan.h"

/* The kernel of its forward; id OVL_NONE (said once) if the layer says nothing of it: the step then
 * begins with the backward. */
ovl_plan_cost ovl_layer_forward(ovl_lowering *l, const ovl_layer *layer);

/* The kernel of a second forward: its own, or that of the first. */
ovl_plan_cost ovl_layer_recompute(ovl_lowering *l, const ovl_layer *layer, ovl_plan_cost forward);

/* The kernel of its backward. */
ovl_plan_cost ovl_layer_backward(ovl_lowering *l, const ovl_layer *layer);

/* The kernel of its gradients of weights, or that of the rest of its backward, where the layer says
 * how long the first is (id OVL_NONE: it does not). HBM bytes are shared out like the time. */
ovl_plan_cost ovl_layer_part(ovl_lowering *l, const ovl_layer *layer, bool weight);

/* Element counts of its tensors in registration order, *n of them, in `arena`. One tensor for
 * `params` beyond those of experts, a part of an element counted whole; none for 0 bytes. Mistakes
 * are added to l->errs. */
const uint64_t *ovl_layer_elements(ovl_lowering *l, const ovl_layer *layer, ovl_arena *arena,
                                   uint32_t *n);

/* Bytes of optimizer state for so many elements that a rank updates: moments and master weights. */
uint64_t ovl_optimizer_bytes(const ovl_optimizer *optimizer, uint64_t elements);

#endif
