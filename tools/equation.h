/*
 * equation.h - sums in running text: the equation that says why a step is as long as it is.
 *
 *     ovl_sum sum = ovl_step_sum(&result);
 *     ovl_sum_fit(&scale, &sum);
 *     ovl_sum_text(&arena, &scale, &sum, OVL_SUM_PLAIN)     "213 = 211 + 2"
 *     ovl_sum_text(&arena, &scale, &sum, OVL_SUM_WORDS)     "213 ms = 211 ms + 2 ms exposed"
 *
 * Terms of zero are left out, a sum of one bare term is shown as the total alone; what is shown
 * adds up (scale.h).
 */
#ifndef OVL_TOOLS_EQUATION_H
#define OVL_TOOLS_EQUATION_H

#include "sim/result.h"
#include "tools/scale.h"

typedef struct ovl_sum {
    ovl_time total;
    ovl_time term[OVL_TERM_COUNT]; /* sums to total */
    const char *word[OVL_TERM_COUNT];
    uint32_t n;
    uint32_t always; /* so many of the first terms are shown even if they are 0 */
} ovl_sum;

typedef enum ovl_sum_style {
    OVL_SUM_PLAIN, /* numbers alone */
    OVL_SUM_WORDS, /* each number with its unit and its word */
} ovl_sum_style;

/* Step = u_path + exposed + after, or, where nothing is exposed, u_variant + interference + after.
 * The step alone if it waits for no communication. */
ovl_sum ovl_step_sum(const ovl_result *result, ovl_arena *arena);

/* u_path = u_variant + interference; where the interference is not this operation's doing (it was
 * stretched by one before) but all of u_path is kernels, u_path = compute + compute_stretch. n is 0
 * if neither says anything, or the sum above has it already. */
ovl_sum ovl_start_sum(const ovl_result *result);

/* The step of a rank by the terms of its wall time. */
ovl_sum ovl_terms_sum(const ovl_time term[OVL_TERM_COUNT]);

/* The largest time of a sum, and a scale made wide enough for all of it. */
void ovl_sum_fit(ovl_scale *scale, ovl_time largest, const ovl_sum *sum);

const char *ovl_sum_text(ovl_arena *arena, const ovl_scale *scale, const ovl_sum *sum,
                         ovl_sum_style style);

/* What stands behind the equation: "bucket_1 ends at 213 ms; optimizer could start at 211 ms".
 * NULL if the step waits for no communication. */
const char *ovl_step_reason(const ovl_result *result, const ovl_scale *scale, ovl_arena *arena);

#endif
