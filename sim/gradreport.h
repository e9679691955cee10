/*
 * gradreport.h - what is wrong with the gradients that optimizers receive, as sentences.
 *
 * The same mistake of one operation on several ranks is one hazard with a count. Example:
 * `"optimizer" receives gradient "g1" with every contribution at scale 1, expected 1/8, on rank 0`,
 * count 8.
 */
#ifndef OVL_SIM_GRADREPORT_H
#define OVL_SIM_GRADREPORT_H

#include "sim/gradcheck.h"
#include "sim/hazard.h"

/* An optimizer input that is wrong on one rank. */
typedef struct ovl_gradient_problem {
    uint32_t code, local, rank;
    ovl_id gradient; /* OVL_NONE: the buffer holds nothing at all */
    uint32_t part;   /* of it */
    ovl_id buffer;
    ovl_gradient_verdict verdict;
} ovl_gradient_problem;

typedef OVL_VEC(ovl_gradient_problem) ovl_gradient_problems;

/* Sorts the problems and appends a hazard for each that is not the same as one before; texts live
 * in `arena`. `expected` is by gradient name. */
void ovl_gradient_report(const ovl_program *program, const ovl_expectations *expected,
                         ovl_gradient_problems *problems, ovl_arena *arena, ovl_hazards *hazards);

/* Appends a hazard for each gradient that is produced and received by no optimizer. */
void ovl_gradient_report_unconsumed(const ovl_program *program, const ovl_expectations *expected,
                                    ovl_arena *arena, ovl_hazards *hazards);

/* "1/8", "3/2", "1": the simplest fraction within 1e-9 of x, else a decimal number. */
const char *ovl_fraction_text(ovl_arena *arena, double x);

#endif
