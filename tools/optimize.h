/*
 * optimize.h - looks for the change of a scenario that gives the shortest step (or least of another
 * metric), simulating every candidate in full.
 *
 *     Start: step 217 ms
 *     Best: overlap.ddp.buckets [[g1, g2, g3, g4, g5, a], [late]]: step 212.4 ms
 *     Bound: no split can be shorter than 211.25 ms
 *
 * What is looked through:
 *  - all combinations of the values of axes (axes.h), or, where there are more than may be tried,
 *    one axis after the other from the start until none helps;
 *  - how the gradients of a data-parallel step are put into buckets: every split in the given order
 *    for up to 12 of them (2^11) and in that in which they become ready, every order too for as
 * many as may be tried (7 have 47,293); of more the best splits if nothing is slowed, by dynamic
 *    programming; then annealing (GSL's) from the best split found;
 *  - how the layers of a pipeline are put on its stages: every way if they may be tried, else moves
 *    of one layer from the best of the even ones.
 *
 * Values together with stages, or with buckets, are looked through together where all combinations
 * may be tried; else one part after the other, each from the best so far, and it says so.
 *
 * No more than `tries` simulations are made: a search that would be exact with more is not begun,
 * and what it finds instead is said to be not exact.
 *
 * A candidate that cannot be simulated, has hazards, does not fit the memory of its GPU or breaks a
 * constraint is no answer. Of equal ones (times are if they differ by less than a billionth of the
 * start's: rounding to picoseconds tells them apart) the one with the smaller peak counts, then
 * that with fewer startups, then the first. Everything is the same for the same seed, whatever the
 * number of threads.
 */
#ifndef OVL_TOOLS_OPTIMIZE_H
#define OVL_TOOLS_OPTIMIZE_H

#include "sim/compare.h"
#include "tools/sweep.h"

#define OVL_EXACT_GRADIENTS 12 /* whose splits in one order are all tried */
#define OVL_OPT_RIVALS      8  /* best candidates that are kept */

/* Each range is looked at 10 times to each side, then halved 12 times; each time the rivals and the
 * start are simulated. */
#define OVL_RANGE_LOOKS  10
#define OVL_RANGE_HALVES 12
#define OVL_RANGE_COST   ((OVL_OPT_RIVALS + 1) * (1 + 2 * (OVL_RANGE_LOOKS + OVL_RANGE_HALVES)))

/* A change of the start: at most OVL_KEYS_MAX settings. */
typedef struct ovl_candidate {
    const ovl_set *sets;
    uint32_t n_sets;
    const char *variant; /* NULL: that of the start */
    ovl_point point;
    uint32_t number; /* in the order they were made: of equal ones the first counts */
} ovl_candidate;

/* Where the best one stays the best. */
typedef struct ovl_stays {
    const char *what;                   /* "compute times" */
    bool factor;                        /* a factor, or a time added */
    double low, high;                   /* factor; or picoseconds */
    bool low_open, high_open;           /* it does so as far as was looked */
    const ovl_candidate *below, *above; /* what is better beyond; NULL: nothing is known to be */
} ovl_stays;

typedef struct ovl_optimize {
    const ovl_sweep *start; /* document, variant, sets, objective, constraints, axes to try */
    bool buckets, stages;   /* also these */
    uint32_t tries;         /* simulations at most, the start's and those of `stays` included */
    uint64_t seed;
    uint32_t threads;
    ovl_out *err; /* where progress is shown; NULL: nowhere */

    ovl_arena *arena;
    ovl_candidate first;                /* the start, unchanged */
    ovl_candidate best[OVL_OPT_RIVALS]; /* of all that were tried, best first */
    uint32_t n_best;
    int64_t *reached; /* [start->n_where] what came closest to each constraint; of those without */
    bool *seen;       /* ... any: false */
    uint32_t made, simulated, useless; /* useless: failed, hazards, too large, excluded */
    uint32_t failed;                   /* of the useless: with an error */
    const char *first_error;           /* of these; NULL: none */
    const char *searched[8];           /* what was looked through, in sentences */
    uint32_t n_searched;
    /* Nothing of what was looked through can be shorter; OVL_NEVER: not known. What that is ("no
     * split and no order") and why; of one that is not known, why not. */
    ovl_time bound;
    const char *bound_of, *bound_text;
    ovl_stays stays[2];
    uint32_t n_stays;
    const char *not_looked[3]; /* ranges, and why, in sentences */
    uint32_t n_not_looked;
    const char *error; /* the start cannot be simulated */
    ovl_status status;
    int signal;
} ovl_optimize;

/* Fills in the answer. False if the start cannot be simulated: see error. */
bool ovl_optimize_run(ovl_optimize *o, ovl_errs *errs);

/* Fills in a bound from the result of the best, if the search had none of its own: its kernels at
 * isolated speed, and the bytes of its busiest link at full rate. A pipeline may put kernels on
 * other ranks: there the mean over ranks. */
void ovl_optimize_bound(ovl_optimize *o, const ovl_result *best);

/* Where nothing is gained: the best of the candidates that change any figure of the start, or the
 * best of all if none does. */
const ovl_candidate *ovl_optimize_closest(const ovl_optimize *o);

/* Whether the best candidate beats the start. */
bool ovl_optimize_gains(const ovl_optimize *o);

/* What a candidate sets beside the file, variant and --set included: a path, and its value as YAML
 * on one line. `node`: the value, if it was not a word of the command line. */
typedef struct ovl_setting {
    const char *path, *value;
    const ovl_node *node;
} ovl_setting;

const ovl_setting *ovl_candidate_settings(const ovl_optimize *o, const ovl_candidate *c,
                                          uint32_t *n, ovl_arena *arena);

/* "{overlap.ddp.buckets: [[g1], [g2]]}": the candidate as a variant of the file; empty: {}. */
const char *ovl_candidate_yaml(const ovl_optimize *o, const ovl_candidate *c, ovl_arena *arena);

void ovl_optimize_text(ovl_out *out, const ovl_optimize *o, const ovl_comparison *comparison);
void ovl_optimize_json(ovl_out *out, const ovl_optimize *o, const ovl_comparison *comparison);

/* The result of a candidate in full. */
bool ovl_candidate_result(const ovl_optimize *o, const ovl_candidate *c, ovl_worth worth,
                          ovl_result *result, ovl_arena *arena, ovl_errs *errs);

/* --- For the files of the search --- */

/* Simulations that may still be made; and of these what a search that is not exact may use, so that
 * some are left to see how far its answer holds. */
uint32_t ovl_optimize_left(const ovl_optimize *o);
uint32_t ovl_optimize_spare(const ovl_optimize *o);

/* Simulates candidates on all cores, as many as may be, and takes the good ones into o->best. */
void ovl_optimize_try(ovl_optimize *o, ovl_candidate *list, uint32_t n);

/* One, on this thread, without taking it. */
void ovl_candidate_point(const ovl_optimize *o, ovl_candidate *c, ovl_arena *errors);

/* Takes one that was simulated, in a thread of its own if `into` is not o->best. */
void ovl_optimize_take(ovl_optimize *o, const ovl_candidate *c);

/* What differs by less than this of the objective is equal. */
int64_t ovl_optimize_finest(const ovl_optimize *o);

bool ovl_candidate_good(const ovl_optimize *o, const ovl_candidate *c);
bool ovl_candidate_better(const ovl_optimize *o, const ovl_candidate *a, const ovl_candidate *b);

void ovl_optimize_say(ovl_optimize *o, const char *sentence);

/* Says `whole` if all n since `before` (o->simulated then) were simulated; if a part was, how many
 * of n `what`; of none nothing. */
void ovl_optimize_say_all(ovl_optimize *o, uint32_t before, uint32_t n, const char *whole,
                          const char *what);

/* Keeps the error of a candidate that failed, if it is the first. */
void ovl_optimize_failed(ovl_optimize *o, uint32_t n, const char *error);

/* The searches; each begins from o->best[0], or the start. */
void ovl_optimize_buckets(ovl_optimize *o, ovl_errs *errs);
void ovl_optimize_stages(ovl_optimize *o, ovl_errs *errs);
void ovl_optimize_range(ovl_optimize *o);

/* Every way of each of n candidates, if that may be tried; else false, and nothing was. */
bool ovl_optimize_buckets_joint(ovl_optimize *o, ovl_candidate *bases, uint32_t n);
bool ovl_optimize_stages_joint(ovl_optimize *o, ovl_candidate *bases, uint32_t n);

#endif
