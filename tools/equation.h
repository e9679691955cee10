/*
 * equation.h - sums in running text: the equation that says why a step is as long as it is.
 *
 * What is shown together has the same terms: the form is chosen for all results of a table, then
 * each gets its sum in that form. A step is start + exposed, where nothing follows the waiting work
 * in any of them, else start + exposed + rest; a result whose work waits for no communication is a
 * number alone. The start of one that waits is explained by a sum of its own.
 *
 *     ovl_form form = ovl_form_of(both, 2);
 *     ovl_sum sum = ovl_step_sum(&result, &form, &arena);
 *     ovl_sum_fit(&scale, largest, &sum);
 *     ovl_sum_text(&arena, &scale, &sum, OVL_SUM_PLAIN)     "213 = 211 + 2"
 *     ovl_sum_text(&arena, &scale, &sum, OVL_SUM_WORDS)     "213 ms = 211 ms + 2 ms exposed"
 *     ovl_start_sum(&result, &form)                         "211 = 210 + 1"
 *
 * What is shown adds up. Terms that follow one another in time end at moments; these are rounded,
 * and the terms are what lies between them, so that a moment reads the same in every sum.
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
    bool moments;    /* the terms follow one another from 0 on */
} ovl_sum;

typedef enum ovl_sum_style {
    OVL_SUM_PLAIN, /* numbers alone */
    OVL_SUM_WORDS, /* each number with its unit and its word */
} ovl_sum_style;

/* What the start of the waiting work is made of. */
typedef enum ovl_start_form {
    OVL_START_ALONE,   /* nothing: it is what it is */
    OVL_START_KERNELS, /* kernels at isolated speed + their stretch */
    OVL_START_DELAY,   /* what it is with the communication free + the delay by that: what it slowed
                          and what queued behind it */
} ovl_start_form;

typedef struct ovl_form {
    uint32_t terms; /* of the step: 1, 2 or 3 */
    bool alone;     /* some result waits for no communication */
    ovl_start_form start;
} ovl_form;

/* The form that fits all of these results. */
ovl_form ovl_form_of(const ovl_result *const *results, uint32_t n);

/* "step = when the last waiting work could start + exposed communication": the terms that a form
 * shows, in words. */
const char *ovl_form_text(const ovl_form *form, ovl_arena *arena);

/* Step = u_path + exposed + after. The step alone if it waits for no communication. */
ovl_sum ovl_step_sum(const ovl_result *result, const ovl_form *form, ovl_arena *arena);

/* u_path by its form; n is 0 if there is nothing to add up. */
ovl_sum ovl_start_sum(const ovl_result *result, const ovl_form *form);

/* The step of a rank by the terms of its wall time. */
ovl_sum ovl_terms_sum(const ovl_time term[OVL_TERM_COUNT]);

/* Makes a scale wide enough for all of a sum; `largest` is the largest time shown with it. */
void ovl_sum_fit(ovl_scale *scale, ovl_time largest, const ovl_sum *sum);

const char *ovl_sum_text(ovl_arena *arena, const ovl_scale *scale, const ovl_sum *sum,
                         ovl_sum_style style);

/* What stands behind the equation: "bucket_1 ends at 213 ms; optimizer could start at 211 ms".
 * NULL if the step waits for no communication. */
const char *ovl_step_reason(const ovl_result *result, const ovl_scale *scale, ovl_arena *arena);

#endif
