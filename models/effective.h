/*
 * effective.h - a stated cost held against what the links could carry.
 *
 * A cost that was measured (alpha and beta, or a table) may mean that almost nothing of a link is
 * used. That is then the first thing to look at, so it is said: the bytes that must reach a node
 * from others, by the time, for all communicators of the group that share the node's link.
 *
 * Bytes that must reach a node with h of n members: all-gather of B bytes and reduce-scatter of B
 * bytes B (n-h)/n, all-reduce twice that. Example: 0.5 GB gathered over 2 nodes of 8 in 11.63 ms:
 * 0.25 GB reach each node, 21.5 GB/s: 5.4 % of 400 GB/s.
 */
#ifndef OVL_MODELS_EFFECTIVE_H
#define OVL_MODELS_EFFECTIVE_H

#include "models/plan.h"

/* Says it if less than a tenth of a node's link in `via` is used; once for each operation and
 * group. */
void ovl_say_effective(ovl_lowering *l, const ovl_comm_spec *spec, const ovl_hw_collective *entry,
                       const ovl_spread *spread, const ovl_comm_time *time);

#endif
