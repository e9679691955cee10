/*
 * expert.h - who has which experts of workload.model, and who reduces their gradients together.
 *
 * Experts are spread over the axes `ep` and `across`; beside tensor parallelism each is cut over
 * that, too, unless its axis is one of `ep` (expert tensor parallelism of 1). Ranks that differ in
 * one of these axes have experts, or parts of them, of their own. What is left of the axes that
 * replicate, or shard, dense parameters is where experts are the same: expert data parallelism.
 *
 * Example: {tp: 2, ep: 4, dp: 3}, gradients reduced over ep+dp: dense ones over 12 ranks, those of
 * experts over the 3 of dp. With ep: tp+ep likewise, but every expert is whole.
 */
#ifndef OVL_MODELS_EXPERT_H
#define OVL_MODELS_EXPERT_H

#include "models/plan.h"

/* The axes, joined, in which experts differ; NULL if they are the same everywhere. */
const char *ovl_expert_axes(ovl_lowering *l);

/* Of the ranks of a group, those that have the same experts; the group itself if all have. NULL and
 * an error if it is not one of axes. */
const ovl_group *ovl_expert_group(ovl_lowering *l, const ovl_group *group, ovl_mark mark);

#endif
