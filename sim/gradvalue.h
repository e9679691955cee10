/*
 * gradvalue.h - symbolic values of gradients: which contributions, how often, at what scale.
 *
 * A contribution is what one rank computed for one microbatch; a value is a sum of contributions
 * with factors. Equal values are stored once, so a value is a number and combining the same values
 * again costs a look-up: an all-reduce over 1,000 ranks adds 1,000 terms once, whatever the number
 * of gradients that go through it.
 *
 * Example: rank 0 and rank 1 produce {(0,0): 1} and {(1,0): 1}; scaled by 1/2 and summed they are
 * {(0,0): 1/2, (1,0): 1/2}.
 */
#ifndef OVL_SIM_GRADVALUE_H
#define OVL_SIM_GRADVALUE_H

#include "sim/vec.h"

/* For hashes of lists: one value more. */
static inline uint64_t ovl_grad_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

static inline uint64_t ovl_grad_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

typedef struct ovl_gradterm {
    uint32_t rank, microbatch;
    double scale;
} ovl_gradterm;

typedef struct ovl_gradvalue {
    uint32_t first, n; /* into terms, which are sorted by rank, microbatch */
    bool doubled;      /* a sum met one contribution more than once */
    uint64_t hash;     /* of the terms */
} ovl_gradvalue;

typedef struct ovl_gradmemo {
    uint64_t hash;
    uint32_t first, n; /* into lists: the values that were combined */
    double factor;
    uint32_t value;
} ovl_gradmemo;

typedef struct ovl_gradvalues {
    OVL_VEC(ovl_gradterm) terms;
    OVL_VEC(ovl_gradvalue) values;
    OVL_VEC(ovl_gradmemo) memos;
    OVL_VEC(uint32_t) lists;
    OVL_VEC(ovl_gradterm) scratch;
    uint32_t *value_slots, *memo_slots; /* open addressing: number + 1, 0 is free */
    uint32_t n_value_slots, n_memo_slots;
} ovl_gradvalues;

void ovl_gradvalues_free(ovl_gradvalues *v);

/* The value of these terms, in any order. */
uint32_t ovl_gradvalue_of(ovl_gradvalues *v, const ovl_gradterm *terms, uint32_t n);

/* The same, of terms some of which met the same contribution more than once before. */
uint32_t ovl_gradvalue_met(ovl_gradvalues *v, const ovl_gradterm *terms, uint32_t n, bool doubled);

/* The value of one contribution. */
uint32_t ovl_gradvalue_single(ovl_gradvalues *v, uint32_t rank, uint32_t microbatch, double scale);

/* (sum of the n values) * factor. */
uint32_t ovl_gradvalue_combine(ovl_gradvalues *v, const uint32_t *values, uint32_t n,
                               double factor);

#endif
