/*
 * optimize_buckets.h - the searches for buckets, between their files.
 *
 *     optimize_buckets.c   which of them; every split, every order; the bound
 *     optimize_dynamic.c   the best split into so many buckets if nothing is slowed; readiness
 *     optimize_anneal.c    annealing over splits and orders
 *
 * A split is an order of the gradients and a cut behind some of them:
 *
 *     order 0 1 2 3, cut behind 1:     [[g1, g2], [g3, g4]]
 */
#ifndef OVL_TOOLS_OPTIMIZE_BUCKETS_H
#define OVL_TOOLS_OPTIMIZE_BUCKETS_H

#include "tools/optimize.h"

/* A gradient reduced alone and first, with nothing slowed. */
typedef struct ovl_alone {
    ovl_time ready, takes;
    uint64_t bytes;
} ovl_alone;

/* Gradients in the order the start puts them. */
typedef struct ovl_gradients {
    const char **name;
    uint32_t n;
    ovl_mark mark;
    ovl_time optimizer; /* runs behind the last of them */
    /* From ovl_buckets_measure: */
    const ovl_alone *alone; /* [n]; NULL: not known */
    ovl_time compute;       /* kernels of the deciding rank */
    bool falls;             /* more bytes take less time somewhere */
    double alpha, per_byte; /* picoseconds; of a line through one gradient and all others */
} ovl_gradients;

/* The lists of gradients order[0], order[1], ... (NULL: as they are); a bucket ends behind i where
 * cut[i], and behind the last. */
ovl_node *ovl_buckets_node(const ovl_gradients *all, const uint16_t *order, const bool *cut,
                           ovl_arena *arena);

/* `base` with these buckets. */
ovl_candidate ovl_buckets_candidate(const ovl_candidate *base, const ovl_node *buckets,
                                    ovl_mark mark, ovl_arena *arena);

/* All splits of up to OVL_EXACT_GRADIENTS gradients in this order (NULL: as they are). */
void ovl_buckets_try_splits(ovl_optimize *o, const ovl_gradients *all, const ovl_candidate *base,
                            const uint16_t *order);

/* Fills in what each of up to 512 gradients needs alone, a simulation each. */
void ovl_buckets_measure(ovl_optimize *o, ovl_gradients *all, const ovl_candidate *base);

/* Gradients by when they become ready, in o->arena; NULL if they stand so already, or it is not
 * known. */
const uint16_t *ovl_buckets_by_readiness(ovl_optimize *o, const ovl_gradients *all);

/* Splits into equal parts. */
void ovl_buckets_try_equal(ovl_optimize *o, const ovl_gradients *all, const ovl_candidate *base);

/* Tries, for each number of buckets up to 64, the split of `order` (NULL: as they are) that ends
 * first if nothing is slowed. Nothing if that is not known. */
void ovl_buckets_try_dynamic(ovl_optimize *o, const ovl_gradients *all, const ovl_candidate *base,
                             const uint16_t *order);

/* From the buckets of a candidate on. */
void ovl_buckets_anneal(ovl_optimize *o, const ovl_gradients *all, const ovl_candidate *base,
                        const ovl_node *from);

#endif
