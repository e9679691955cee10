/*
 * variation.h - what a scenario says of durations that are not always the same.
 *
 *     backward: {mean: 3 ms, cv: 10 %}                       where a duration is stated
 *     variation:
 *       kernels: {cv: 3 %}                                   each kernel, around its own duration
 *       collectives: {cv: 20 %, distribution: gamma}
 *       ops:
 *         - {op: "launch bucket*", p50: 40 us, p95: 200 us}  by name; the last that fits counts
 *       pauses: {period: 265, length: 1.46 s, phase: staggered}
 *
 * Nothing of it is seen by a run without trials: that is the step at the durations as stated.
 */
#ifndef OVL_MODELS_VARIATION_H
#define OVL_MODELS_VARIATION_H

#include "models/distribution.h"
#include "models/fields.h"

/* How the durations of some operations vary. */
typedef struct ovl_jitter {
    ovl_mark mark;
    bool given;
    const char *op;   /* of `ops`: a name; `*` stands for any run of characters */
    int distribution; /* ovl_draw_kind */
    bool has_cv;
    double cv;
    ovl_time mean, p50, p95; /* 0: not given */
    bool absolute;           /* `law` is of picoseconds, else of multiples of the own duration */
    ovl_distribution law;    /* made from the above when the scenario is read */
} ovl_jitter;

typedef enum ovl_pause_phase { OVL_PAUSE_STAGGERED, OVL_PAUSE_ALIGNED } ovl_pause_phase;

/* A duration that varies, where it is stated: {mean: 3 ms, cv: 10 %}. Its law is of multiples of
 * `stated`, so what makes the duration longer makes its draws longer. */
typedef struct ovl_law {
    ovl_time stated; /* first: a run without trials takes it; the mean, or p50 */
    ovl_jitter jitter;
} ovl_law;

/* The host thread of a rank stops for `length` in every `period`-th step, at its begin or at a
 * moment between `from` and `until`: a garbage collection. What was launched before goes on. */
typedef struct ovl_pause_process {
    ovl_mark mark;
    bool given;
    int64_t period; /* steps */
    ovl_time length;
    int phase;            /* ovl_pause_phase */
    ovl_time from, until; /* of the step: between which it begins, drawn evenly */
    bool has_until;
} ovl_pause_process;

typedef struct ovl_variation {
    ovl_mark mark;
    bool given;
    ovl_jitter kernels, collectives, copies, host;
    ovl_items ops; /* of ovl_jitter */
    ovl_pause_process pauses;
} ovl_variation;

/* The name of the host call that a pause lengthens; nothing the user wrote may be called so. */
#define OVL_PAUSE_NAME "pause (variation)"

extern const ovl_table ovl_variation_table, ovl_jitter_table, ovl_op_jitter_table, ovl_pauses_table,
    ovl_duration_table;

#endif
