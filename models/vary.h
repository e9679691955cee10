/*
 * vary.h - a program at other durations: one trial of a variation.
 *
 * Each draw is a hash of (seed, trial, rank, operation name, occurrence) through an inverse CDF:
 * two programs that share an operation draw the same for it, so their difference is that of the
 * schedules alone (common random numbers). Members of a collective share one draw, that of their
 * lowest rank.
 *
 *     ovl_vary vary;
 *     ovl_vary_prepare(&vary, &program, &scenario.variation, lowered.laws, seed, &arena);
 *     ovl_program trial = ovl_vary_trial(&vary, 7, &scratch);      another program, of step 7
 *
 * Longer work asks for the same bytes per second (as in scaled.h). Only operations that vary get a
 * cost for each rank; ranks that then do the same are still folded (aligned pauses).
 */
#ifndef OVL_MODELS_VARY_H
#define OVL_MODELS_VARY_H

#include "models/variation.h"
#include "sim/program.h"

/* How one operation of a code varies. */
typedef struct ovl_varied_op {
    const ovl_jitter *work, *launch; /* NULL: constant */
    bool pause;
    uint64_t key; /* of its name and occurrence */
} ovl_varied_op;

typedef struct ovl_vary {
    const ovl_program *program;
    const ovl_variation *variation;
    const ovl_law *const *laws;
    uint64_t seed;
    const ovl_varied_op **ops; /* [codes][its ops] */
    const uint32_t *place;     /* [ranks] how many ranks of its code come before */
    const uint32_t *ranks_of;  /* [codes] */
    bool launches;             /* launches vary: each rank needs a code of its own */
} ovl_vary;

/* The program, the variation and the laws (of costs, as ovl_lowered numbers them) must outlive it;
 * tables live in `arena`. The program is a whole one, not folded. */
void ovl_vary_prepare(ovl_vary *vary, const ovl_program *program, const ovl_variation *variation,
                      const ovl_law *const *laws, uint64_t seed, ovl_arena *arena);

/* The program of a trial; what it does not share with the original lives in `arena`. */
ovl_program ovl_vary_trial(const ovl_vary *vary, uint64_t trial, ovl_arena *arena);

/* Whether a rank pauses in a trial. */
bool ovl_vary_pauses(const ovl_vary *vary, uint64_t trial, uint32_t rank);

/* When in the step it does. */
ovl_time ovl_vary_pause_moment(const ovl_vary *vary, uint64_t trial, uint32_t rank);

/* Whether a name fits a pattern in which `*` stands for any run of characters. */
bool ovl_name_fits(const char *pattern, const char *name);

/* Adds a warning for each entry of `ops` that no operation of the program fits. */
void ovl_vary_check(const ovl_program *program, const ovl_variation *variation, ovl_errs *errs);

#endif
