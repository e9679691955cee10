/*
 * compare.h - two results side by side: what changed, the sum that proves it, and a verdict in one
 * sentence.
 *
 * Example: last_bucket, one bucket against 80 + 16: 217 = 210 + 7 against 213 = 211 + 2; the terms'
 * differences sum to -4 ms; "better: 4 ms (1.8 %) shorter; ...". A run that does not change is *no
 * gain*, with the slack that explains it.
 */
#ifndef OVL_SIM_COMPARE_H
#define OVL_SIM_COMPARE_H

#include "sim/tails.h"

typedef enum ovl_verdict { OVL_BETTER, OVL_WORSE, OVL_NO_GAIN } ovl_verdict;

typedef struct ovl_comparison {
    const ovl_result *a, *b;
    ovl_time delta;                      /* b - a, of the step */
    ovl_time delta_term[OVL_TERM_COUNT]; /* sums to delta */
    ovl_verdict verdict;
    const char *sentence;    /* the verdict */
    const char *efficiency;  /* if mean busbw moved against the step: a sentence; else NULL */
    const char *path_change; /* how the critical path changed: one sentence */
    const char *gradients;   /* whether the optimizer receives the same gradients: one sentence */
    const char *memory;      /* peaks compared; NULL if neither has buffers */
    const ovl_result_rank *idle[2]; /* of a and b: the deciding rank, which says why it idles; NULL
                                       if both idle for communication alone */
    const ovl_tail *tails;          /* communication that is exposed for another time than before */
    uint32_t n_tails;
} ovl_comparison;

/* Compares two results; the texts live in `arena`, the results must outlive it. */
void ovl_compare(const ovl_result *a, const ovl_result *b, ovl_arena *arena,
                 ovl_comparison *comparison);

/* What two steps are compared by. */
typedef enum ovl_unit {
    OVL_UNIT_STEP,       /* they do the same work, or it is not known */
    OVL_UNIT_MICROBATCH, /* as many replicas run other numbers of microbatches */
    OVL_UNIT_TOKENS,     /* as many ranks train on other numbers of tokens, in other microbatches */
    OVL_UNIT_FLOPS,      /* ... on as many tokens, of which a model takes other FLOPs */
} ovl_unit;

/* Steps of other work do not compare, but what a unit of it takes does. Example: 512 microbatches
 * in 21.8 s are better than 32 in 1.64 s. Where tokens are known, steps of as many do the same
 * work, in whatever microbatches, if the model takes as many FLOPs for them (to 0.1 %), or more for
 * its attention alone, as sequences are longer. */
ovl_unit ovl_unit_of(const ovl_result *a, const ovl_result *b);
bool ovl_other_work(const ovl_result *a, const ovl_result *b);

/* By the step, or by what a unit takes if they do other work; but what does not fit the
 * memory of its GPU is worse than what does. As JSON names it: "better", "worse", "no gain". */
const char *ovl_verdict_name(ovl_verdict verdict);

#endif
