/*
 * gradflow.h - proof that every optimizer input receives what it should: each (rank, microbatch)
 * gradient exactly once, at scale 1/(ranks * microbatches).
 *
 * Effects are followed symbolically in the order in which operations ended; of those that end at
 * one instant what ran on one rank comes before collectives, whatever the numbers of ranks. A
 * buffer of a rank holds, per gradient, a value: a sum of contributions with factors (gradvalue.h).
 * A collective is applied once for all its members: all-reduce and reduce-scatter give the sum of
 * the members' sources (times 1/n for `average`; a shard counts as its whole), reduce gives it to
 * the root, broadcast gives the root's value, all-gather and all-to-all keep each member's own.
 *
 * A buffer holds what its gradients look like from the rank (gradform.h), so that where ranks are
 * folded one is followed for many; each optimizer input of each rank is then worked out and checked
 * in the whole program.
 *
 * What is expected of a gradient are all contributions that the program produces anywhere under its
 * name. A PRODUCE or ADD without a scale (0) has scale 1.
 *
 * Example: 8 ranks produce g, pack it with scale 1/8 and all-reduce it: the optimizer on each rank
 * receives {(0,0): 1/8, ..., (7,0): 1/8}: 8 inputs proved at 1/8. Without the scale it is 1, 1/8
 * expected: wrong_scale. Reduced twice, every contribution arrives 8 times: duplicate_gradient.
 */
#ifndef OVL_SIM_GRADFLOW_H
#define OVL_SIM_GRADFLOW_H

#include "sim/hazard.h"

typedef struct ovl_gradients {
    uint32_t proved;   /* (gradient, rank) inputs of optimizers that are right */
    const char *scale; /* "1/8", or several; NULL unless all inputs are right and there are some */
    uint64_t digest;   /* over (gradient, what is received); 0 without optimizers */
} ovl_gradients;

/* Follows all effects; appends a hazard for each optimizer input that is wrong, once per code with
 * a count of ranks, and for gradients no optimizer receives. Texts live in `arena`. */
void ovl_gradients_follow(const ovl_causes *causes, ovl_arena *arena, ovl_hazards *hazards,
                          ovl_gradients *gradients);

#endif
