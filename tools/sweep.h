/*
 * sweep.h - one scenario at many points: simulated on all cores, tabulated, chosen from.
 *
 *     ovl_sweep s = {.doc = &doc, .axes = axes};
 *     ovl_sweep_begin(&s, &arena);
 *     ovl_sweep_run(&s, &how);           every point has its figures, or its error
 *     ovl_sweep_choose(&s, &arena);      the front, the best, what each step costs
 *     ovl_sweep_text(out, &s);
 *
 * A point is what a run of the scenario with these values would be: the same figures to the
 * picosecond, whatever the number of threads. A point that cannot be simulated keeps its first
 * error and the exit status it asks for.
 *
 * The Pareto front: points without hazards that no other such point beats or equals in every metric
 * and beats in one. Of points that equal each other in all of them one is on the front, the one
 * with the smaller other figures of the table, then the first; those that equal it in every figure
 * of the table tie with it. The best: the smallest objective of the points without hazards that fit
 * the memory of their GPU and satisfy every constraint; of equals the one with fewer
 * retries, the smaller metrics, other figures, number.
 *
 * A step that does less is shorter: where points differ in what they do, what a unit of it takes is
 * compared instead of the step, unless an objective is given (sweep_work.c): a microbatch, a
 * million tokens, or where the models differ as many FLOPs.
 *
 * Times are compared in units of the sixth digit of the longest step, or unit of work: what a table
 * does not show does not decide.
 *
 * Where constraints keep every point out, the closest is the one whose largest miss, in parts of
 * the constraint, is the smallest.
 *
 * An axis has no effect if, all else equal, its values give the same figures, all of them.
 */
#ifndef OVL_TOOLS_SWEEP_H
#define OVL_TOOLS_SWEEP_H

#include "models/axes.h"
#include "tools/json.h"
#include "tools/metrics.h"
#include "tools/scale.h"

typedef enum ovl_point_state {
    OVL_POINT_OPEN, /* not simulated */
    OVL_POINT_DONE,
    OVL_POINT_FAILED,
} ovl_point_state;

typedef struct ovl_point {
    ovl_point_state state;
    ovl_status status; /* of a failed one */
    const char *error; /* its first error, with its place */
    ovl_interference interference;
    ovl_figures figures; /* of one that is done */
    bool front;
    uint32_t tie; /* the point of the front that it equals in every figure, or OVL_NONE */
} ovl_point;

/* From one value of an ordered axis to the next, all else equal. */
typedef struct ovl_sweep_step {
    uint32_t axis;
    uint32_t from, to; /* points, both done */
    ovl_time gain; /* step, or the objective if that is of a unit of work, of `from` minus `to` */
    bool has_price;
    int64_t live, allocated, peak; /* bytes that `to` needs more of each */
} ovl_sweep_step;

typedef struct ovl_sweep {
    const ovl_document *doc;
    const char *variant; /* NULL: the base */
    const ovl_set *sets; /* before the values of the point */
    uint32_t n_sets;
    bool no_fold;    /* simulate every rank */
    bool no_skip;    /* simulate every period */
    uint64_t memory; /* bytes a run may take, 0: no limit; a point that needs more fails */
    ovl_axes axes;
    ovl_point *points; /* axes.n_points */
    uint32_t ended;    /* 1 + the last that is not open: as far as `points` was written */
    bool stopped;      /* nobody goes on behind that */
    int signal;        /* that ended it early, or 0 */

    ovl_metric_list pareto; /* n 0: the objective, and peak */
    bool objective_given;
    uint32_t objective; /* if not given, ovl_sweep_choose says it: step, or what a unit of work
                           takes where the points do different work */
    const ovl_where *where;
    uint32_t n_where;
    bool all_rows; /* the text shows every point, however many there are */

    /* ovl_sweep_choose: */
    uint32_t n_done, n_failed, n_front, n_ties, n_hazards, n_too_large, n_excluded;
    ovl_metric_list wanted;   /* `pareto`, or what stands for it */
    ovl_metric_list front_of; /* of these those that some point has */
    ovl_per unit;             /* in which the work of points differs; OVL_PER_COUNT: it does not */
    double least_work, most_work;   /* so many units of it */
    double least_flops, most_flops; /* that a token takes; 0: not known */
    ovl_time quantum;               /* in which times are compared */
    uint32_t best;                  /* OVL_NONE: none */
    uint32_t closest;      /* no point satisfies every constraint: misses them least; OVL_NONE */
    bool models;           /* points differ in their interference model */
    ovl_sweep_step *steps; /* of every ordered axis, one after the other */
    uint32_t n_steps;
    const bool *idle_axis; /* [axes.n_axes] it has no effect */
} ovl_sweep;

void ovl_sweep_begin(ovl_sweep *sweep, ovl_arena *arena);

/* So many points are looked at and shown: all, or of an interrupted sweep those up to the last that
 * is done. What of millions was not begun takes no memory. */
uint32_t ovl_sweep_reach(const ovl_sweep *sweep);

/* Point i is no longer open. */
void ovl_sweep_ended(ovl_sweep *sweep, uint32_t i);

typedef struct ovl_sweep_how {
    uint32_t threads;     /* 0: all cores */
    const uint32_t *todo; /* which points; NULL: all that are open */
    uint32_t n_todo;
    /* As in pool.h, with the number of the point. */
    void *context;
    void (*done)(void *context, uint32_t point);
    void (*tick)(void *context, uint32_t done);
    bool (*stop)(void *context, int signal);
} ovl_sweep_how;

/* Simulates; errors of points live in `arena`. Gives how many were. sweep->signal says what ended
 * it early. */
uint32_t ovl_sweep_run(ovl_sweep *sweep, const ovl_sweep_how *how, ovl_arena *arena);

/* Of what memory runs may take, the share of each of so many threads (0: all cores). */
uint64_t ovl_sweep_memory(uint32_t threads);

/* Reads point i without simulating it; false and errors. The scenario is gone again. */
bool ovl_sweep_decode(const ovl_sweep *sweep, uint32_t i, ovl_arena *arena, ovl_errs *errs);

/* Whether any point can be read. If the same is wrong with all of them (a key there is not), false
 * and these errors, once. */
bool ovl_sweep_check(const ovl_sweep *sweep, ovl_arena *arena, ovl_errs *errs);

/* Adds the errors of one list to another. Words of a command line have no lines. */
void ovl_sweep_say(const ovl_errs *from, ovl_errs *to);

/* One point alone, on this thread. `arena` gets the text of an error. */
void ovl_sweep_point(const ovl_sweep *sweep, uint32_t i, ovl_point *point, ovl_arena *arena);

/* The whole result of one point, in `arena`: what `ovl run` with its values gives. */
bool ovl_sweep_result(const ovl_sweep *sweep, uint32_t i, ovl_worth worth, ovl_result *result,
                      ovl_arena *arena, ovl_errs *errs);

void ovl_sweep_choose(ovl_sweep *sweep, ovl_arena *arena);

/* The metric of `gain`. */
uint32_t ovl_sweep_gain_of(const ovl_sweep *sweep);

/* Fills unit, least_work, most_work, least_flops, most_flops; the objective if none is given. */
void ovl_sweep_find_work(ovl_sweep *sweep);

/* Whether a point may be the best. */
bool ovl_point_fits(const ovl_point *point);
bool ovl_point_allowed(const ovl_sweep *sweep, const ovl_point *point);
bool ovl_point_sound(const ovl_point *point); /* done, and without hazards */

/* A time in these units, rounded. */
int64_t ovl_sweep_units(const ovl_sweep *sweep, ovl_time t);

/* How far a figure is from a constraint it does not satisfy: above 0, or 0 where "less" is equal.
 */
int64_t ovl_where_miss(const ovl_where *where, const ovl_figures *figures);

/* 0; or the lowest status of the failed points; or 1 if points have hazards, or constraints keep
 * every point out. */
int ovl_sweep_status(const ovl_sweep *sweep);

void ovl_sweep_text(ovl_out *out, const ovl_sweep *sweep);
/* What each step of each ordered axis buys, part of the text: all steps of an axis, or, with `few`
 * or where there are many, those that leave the other axes as they are at the best point. */
void ovl_sweep_steps_text(ovl_out *out, const ovl_sweep *sweep, const ovl_scale *scale, bool few);
/* Of pipelines: idle time of all ranks by reason, part of the text. */
void ovl_sweep_idle_text(ovl_out *out, const ovl_sweep *sweep);
void ovl_sweep_json(ovl_out *out, const ovl_sweep *sweep); /* schema overlapsim.sweep/1 */
void ovl_sweep_csv(ovl_out *out, const ovl_sweep *sweep);

/* "bucket_cap 25 MiB, prefetch 2": a point in words, with keys as short as they differ. */
const char *ovl_sweep_point_text(const ovl_sweep *sweep, uint32_t i, ovl_arena *arena);

/* The end of a key that tells it from the others: "bucket_cap". */
const char *ovl_sweep_key_text(const ovl_sweep *sweep, uint32_t key, ovl_arena *arena);

#endif
