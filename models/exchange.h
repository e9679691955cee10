/*
 * exchange.h - all-to-alls pair by pair: with bytes for each pair, and with NCCL's PXN.
 *
 * PXN: what goes to a rail (rails.h) that the sender is not on first moves, inside its node, to a
 * member of the communicator on that rail, and leaves by the NIC of that one; several share it
 * equally. Where the communicator has none there, it leaves by the sender's own NIC [NCCL since
 * 2.12, ncclTopoGetNetDev: the NIC near the rank of the own node that has the device number of the
 * peer, if there is such a rank]. Links carry both ways, to the member between and on.
 *
 * Example: nodes of 2, rank 0 gives rank 3 10 MB: 0 to 1 inside the node, 1 to 3 on rail 1. The own
 * links of 0, 1 and 3 carry it, that of 1 in and out; of the NICs that of 1, of the leaves that of
 * rail 1, and nothing crosses the spine.
 */
#ifndef OVL_MODELS_EXCHANGE_H
#define OVL_MODELS_EXCHANGE_H

#include "models/rails.h"
#include "models/uneven.h"

/* Among the members of one communicator. */
typedef struct ovl_exchange {
    const uint32_t *rank;
    uint32_t n;
    double bytes;                   /* times these parts: */
    const double *pairs;            /* [n * n] by place; NULL: */
    const double *sends, *receives; /* [n_ranks] the product of both, over `received`; NULL: 1 */
    double received;                /* sum of `receives` over the members */
    const ovl_rails *pxn;           /* NULL: each member sends by its own NIC */
} ovl_exchange;

/* What place i gives place j. */
double ovl_exchange_bytes(const ovl_exchange *x, uint32_t i, uint32_t j);

/* Adds what crosses each instance of a link of this shape to `instance`, by its number; `first`:
 * [n_ranks] zeros, left as zeros. */
void ovl_exchange_cross(const ovl_exchange *x, const ovl_shape *shape, ovl_uneven_way instance,
                        uint32_t *first);

#endif
