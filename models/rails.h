/*
 * rails.h - rail-optimised fabrics: which rail a rank is on, and what cannot stay on it.
 *
 * The GPUs of one place in their nodes are a rail: the NIC of that place is connected to the leaf
 * switch of the rail, of all nodes or of the nodes of a pod. What goes from one node to another on
 * one rail passes that leaf alone; all else goes on, out of the rail, over the spine. What stays in
 * a node is NVLink's.
 *
 * Rings and trees are laid along the rails as far as they go. A node's members have equal parts of
 * what leaves it; w(r) is the part of its members on rail r. Between a node and the next
 *
 *     max(0, w(r) - w'(r)) of it leave rail r, and max(0, w'(r) - w(r)) come into it
 *
 * which is nothing where both have members on the same rails. Between pods it is all. Around a ring
 * of nodes, in the order of their numbers, as much leaves each rail as comes in.
 *
 * Example: nodes of 4, a group of ranks 0, 1 and 5, 6: node 0 has 1/2 on rails 0 and 1, node 1 on 1
 * and 2. From 0 to 1 a half leaves rail 0 and comes into rail 2; back the other way round.
 */
#ifndef OVL_MODELS_RAILS_H
#define OVL_MODELS_RAILS_H

#include "models/plan.h"

ovl_rails ovl_rails_of(const ovl_lowering *l, const ovl_hw_link *link);

/* The node of a rank; the number of its rail, those of the first pod before those of the next; and
 * of the place where its node and its rail meet. All are at most its seat. */
uint32_t ovl_rail_node(const ovl_rails *rails, uint32_t rank);
uint32_t ovl_rail_of(const ovl_rails *rails, uint32_t rank);
uint32_t ovl_rail_of_seat(const ovl_rails *rails, uint32_t seat);
uint32_t ovl_rail_cell(const ovl_rails *rails, uint32_t rank);

/* Members of a communicator, counted. */
typedef struct ovl_rail_members {
    ovl_rails rails;
    const uint32_t *rank;
    uint32_t n, n_nodes;
    uint32_t *node; /* [n_nodes] that have any, ascending */
    uint64_t unit;  /* what parts are counted in: `unit` of it are all that leaves a node */
    uint32_t *on_node, *on_rail, *in_cell; /* members; by number of each */
} ovl_rail_members;

/* Counts them, in scratch of the lowering that ovl_rail_forget makes ready for the next. */
ovl_rail_members ovl_rail_count(ovl_lowering *l, const ovl_rails *rails, const uint32_t *ranks,
                                uint32_t n);
void ovl_rail_forget(const ovl_rail_members *m);

/* The part of what leaves a node, in units, that its members on the rail of a place have. */
uint64_t ovl_rail_part(const ovl_rail_members *m, uint32_t node, uint32_t place);

/* Of what goes from one node to another, in units: how much leaves the rail of that place of the
 * first. With the nodes the other way round: how much comes into that of the second. */
uint64_t ovl_rail_leaves(const ovl_rail_members *m, uint32_t from, uint32_t to, uint32_t place);

/* The first seat of a place in a node. */
uint32_t ovl_rail_seat(const ovl_rails *rails, uint32_t node, uint32_t place);

/* Of members i the rest of the communicator between which a link of this shape lies: those outside
 * its node, and where it carries what leaves a rail, off its rail. */
uint32_t ovl_rail_others(const ovl_rail_members *m, bool off_rails, uint32_t rank);

/* What instances of link number `link` serve of these members: fills ways[i * n_links + link]. */
void ovl_rail_ways(ovl_lowering *l, uint32_t link, const uint32_t *ranks, uint32_t n,
                   ovl_way *ways);

#endif
