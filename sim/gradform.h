/*
 * gradform.h - values of gradients as they look from a rank, whichever it is. Private to
 * gradflow.c.
 *
 * Where ranks are folded one stands for many, whose values differ by who they are: each has its own
 * contribution. A *form* is what they have in common: a sum of
 *
 *     the rank's own contribution of a microbatch, and
 *     what its communicator in some slot summed up: of every member the form it had then
 *
 * with factors. What a form is on a rank is worked out only where an optimizer receives it, from
 * the whole program, member by member; so the proof is that of the unfolded run. What a
 * communicator summed up is worked out once for all its members.
 *
 * Example: 1,024 ranks in 8 communicators of 128 pack {own 0: 1/128} and all-reduce it: one form,
 * "what slot 0 gave", and 8 values of 128 contributions.
 */
#ifndef OVL_SIM_GRADFORM_H
#define OVL_SIM_GRADFORM_H

#include "sim/fold.h"
#include "sim/gradvalue.h"

/* What a communicator gave its members: the sum over them, or what the root had. */
typedef struct ovl_gradsum {
    uint32_t comm;     /* of the program that runs */
    uint32_t first, n; /* into lists: a form for each member, OVL_NONE: nothing */
    uint32_t root;     /* OVL_NONE: the sum; else a member, whose form it is */
    double factor;
    uint64_t hash;
} ovl_gradsum;

typedef struct ovl_gradforms {
    const ovl_program *p, *whole;
    ovl_gradvalues forms, *values; /* values: of the whole program, the caller's */
    OVL_VEC(ovl_gradsum) sums;
    OVL_VEC(uint32_t) lists;
    uint32_t *sum_slots, n_sum_slots; /* open addressing: number + 1, 0 is free */
    /* What was worked out: (what, where) -> value + 1. */
    struct ovl_gradknown *known;
    uint32_t n_known, known_slots;
} ovl_gradforms;

void ovl_gradforms_init(ovl_gradforms *g, const ovl_program *p, ovl_gradvalues *values);
void ovl_gradforms_free(ovl_gradforms *g);

/* The rank's own contribution. */
uint32_t ovl_gradform_own(ovl_gradforms *g, uint32_t microbatch, double scale);

/* (sum of the n forms) * factor. */
uint32_t ovl_gradform_combine(ovl_gradforms *g, const uint32_t *forms, uint32_t n, double factor);

/* What a collective gives: `forms` has one for each member of the communicator (OVL_NONE: nothing),
 * root OVL_NONE or the member whose form all get. */
uint32_t ovl_gradsum_of(ovl_gradforms *g, uint32_t comm, const uint32_t *forms, uint32_t n,
                        uint32_t root, double factor);

/* The form of a member that has that communicator in `slot`. */
uint32_t ovl_gradform_given(ovl_gradforms *g, uint32_t slot, uint32_t sum);

/* The value of a form on a rank of the whole program. */
uint32_t ovl_gradform_value(ovl_gradforms *g, uint32_t form, uint32_t rank);

#endif
