/*
 * gradcheck.h - what an optimizer should receive of each gradient, and what is wrong if it does
 * not.
 *
 * Example: of 8 ranks and 1 microbatch, {(0,0): 1/8, ...} is right; {(0,0): 1/4, (1,0): 1/8, ...}
 * is a duplicate (rank 0 twice); {(0,0): 1, ...} has a wrong scale (1 instead of 1/8); a value
 * without (3,0) misses a contribution.
 */
#ifndef OVL_SIM_GRADCHECK_H
#define OVL_SIM_GRADCHECK_H

#include "sim/gradvalue.h"
#include "sim/program.h"

typedef struct ovl_expected {
    uint32_t value;       /* OVL_NONE: no operation produces a gradient of this name */
    uint64_t parts;       /* ranks * microbatches; the scale is 1/parts */
    uint32_t code, local; /* an operation that produces it */
    bool consumed;
} ovl_expected;

typedef enum ovl_gradient_fault {
    OVL_GRADIENT_RIGHT,
    OVL_GRADIENT_MISSING,
    OVL_GRADIENT_DUPLICATE,
    OVL_GRADIENT_SCALE,
} ovl_gradient_fault;

typedef struct ovl_gradient_verdict {
    ovl_gradient_fault fault;
    uint32_t rank, microbatch; /* the first contribution that is wrong */
    uint32_t wrong;            /* how many are */
    bool uniform;              /* all are, by the same factor */
    double found;              /* its scale; 0 if it is missing */
} ovl_gradient_verdict;

/* What is expected of each gradient, by name and part (ovl_effect.apart). */
typedef struct ovl_expectations {
    ovl_expected *item;
    const uint32_t *at; /* [names + 1] into item: part 0 of a name, and those behind it */
} ovl_expectations;

/* Those of a program, by name; they live in `arena`. */
ovl_expectations ovl_gradients_expected(const ovl_program *program, ovl_gradvalues *values,
                                        ovl_arena *arena);

/* The part of a gradient that a rank has. */
uint32_t ovl_gradient_part(const ovl_program *program, uint32_t rank, const ovl_effect *effect);

/* Compares what is received (OVL_NONE: nothing) with what is expected. */
ovl_gradient_verdict ovl_gradient_check(const ovl_gradvalues *values, const ovl_expected *expected,
                                        uint32_t received);

#endif
