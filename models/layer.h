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

/* Part of the HBM bandwidth that kernels of a model reach which only move bytes: memory_efficiency
 * of the model, else hbm_efficiency of the GPU if that is below 1, else 0.65. */
double ovl_memory_efficiency(const ovl_lowering *l);

/* What the optimizer takes: the duration given; else, of a model by its shape whose optimizer says
 * what it keeps, the bytes moved: gradients of `grad_size` bytes read, states read and written,
 * parameters written (and read, without master weights), by what memory_efficiency leaves of HBM.
 * 0: nothing says it, which is said.
 *
 * `*moved` is how many bytes these are, 0 of a given duration.
 *
 * 1e9 elements with two moments and master weights in f32, gradients in f32, parameters in bf16:
 * 4 + 24 + 2 = 30 GB, 13.8 ms at 65 % of 3.35 TB/s. */
ovl_time ovl_optimizer_time(ovl_lowering *l, uint64_t elements, uint64_t grad_size,
                            uint64_t *moved);

/* What that is on the GPU of each sort of nodes (ovl_on_machines). */
const ovl_time *ovl_optimizer_on(ovl_lowering *l, uint64_t elements, uint64_t grad_size);

/* The same as the cost of an operation at `mark`: a kernel, or a marker where it takes no time. */
ovl_plan_cost ovl_optimizer_cost(ovl_lowering *l, uint64_t elements, ovl_mark mark,
                                 ovl_op_kind *kind);

#endif
