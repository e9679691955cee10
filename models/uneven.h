/*
 * uneven.h - collectives whose ranks do not send, or receive, as much as each other: all-to-alls
 * with bytes of their own, broadcasts and reduces.
 *
 * Ranks of an all-to-all have a factor for what they send and one for what they receive; i gives j
 * the part
 *
 *     bytes / n * sends_i * receives_j / mean of receives
 *
 * and what crosses an instance of a link is the sum over the pairs it lies between, so what is sent
 * is received, on every link. All members are done at once: the transfer takes as long as the
 * instance that takes longest.
 *
 * Example: 4 ranks on links of 1 GB/s, 400 MB, receives 2, 1, 1, 0: rank 0 gets 2 x 100 MB from
 * each of three others, 600 MB, 0.6 s; evenly 300 MB, 0.3 s. It sends 100 + 100 + 0 to others.
 *
 * Where each pair has bytes of its own, or PXN moves them inside the node first (exchange.h), pairs
 * are gone through one by one.
 *
 * A broadcast goes from the root on through the parts (crossing: cost.h) in the order of the
 * communicator, as a chain, or as a binomial tree (Thakur et al. 2005); a reduce the same way back.
 * Of 4 nodes in a tree the root's sends twice, the one of place 2 once, and all but the root's get
 * once: 3 times out, 3 times in.
 */
#ifndef OVL_MODELS_UNEVEN_H
#define OVL_MODELS_UNEVEN_H

#include "models/plan.h"

/* What a rank's instance of a link carries, in bytes; also of ranks outside the group: 0. */
typedef struct ovl_uneven_way {
    double *out, *in; /* [n_ranks] */
} ovl_uneven_way;

/* Factors by rank; NULL: 1 for all. */
typedef struct ovl_uneven {
    const double *sends, *receives; /* [n_ranks] */
    const double *pairs;            /* before these: by sender and receiver, see exchange.h */
    const ovl_rails *pxn;           /* likewise */
} ovl_uneven;

/* For link number `link` of the hardware (OVL_NONE: what members send and get, one by one) and
 * every communicator of the group. Arrays live in `arena`. Pairs, and PXN, take time as the square
 * of the members: at most OVL_ROWS_MAX of them. */
ovl_uneven_way ovl_uneven_crossing(const ovl_lowering *l, const ovl_group *group, uint32_t link,
                                   uint64_t bytes, const ovl_uneven *uneven, ovl_arena *arena);

/* A broadcast, or a reduce: to the root. */
typedef struct ovl_rooted {
    uint32_t root; /* place in the communicator */
    bool tree, to_root;
} ovl_rooted;

/* The same of one. */
ovl_uneven_way ovl_rooted_crossing(ovl_lowering *l, const ovl_group *group, uint32_t link,
                                   uint64_t bytes, const ovl_rooted *how, ovl_arena *arena);

/* How many times as long the busiest member of a rank's communicator is busy as with even bytes;
 * for costs that are no formula on links. */
double ovl_uneven_busiest(ovl_lowering *l, const ovl_group *group, uint32_t rank,
                          const ovl_uneven *uneven);

#endif
