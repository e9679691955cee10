/*
 * trials.h - a scenario simulated many times at durations that vary: how long the step is, how much
 * communication is uncovered, and which ranks are late.
 *
 * Trial t is step t: its draws depend on the seed and t alone (models/vary.h), so trials may run on
 * any thread in any order, and the same trial of two schedules can be compared.
 *
 *     ovl_trials t = {.n = 1000, .seed = 1};
 *     if (ovl_trials_run(&work, &prepared, &t)) { t.step[0] ... t.step[999] }
 *
 * A rank is *late* for a collective if it arrives last (of several the lowest) and somebody waited;
 * the wait is that of the first to arrive. Example: arrivals at 5, 7 and 7 ms: rank 1 is late by 2.
 *
 * A rank's *own* time is the step without its waiting for late ranks: mean over ranks <= expected
 * maximum over ranks <= step. What lies between the first two is the price of one rank being slower
 * than the mean; between the last two, of different ranks being slow at different collectives.
 */
#ifndef OVL_TOOLS_TRIALS_H
#define OVL_TOOLS_TRIALS_H

#include "models/statistics.h"
#include "models/vary.h"
#include "tools/json.h"
#include "tools/work.h"

/* How often a rank was late, for collectives of one name or for all of them. */
typedef struct ovl_late {
    const char *name; /* of the collectives; NULL: all */
    uint32_t rank;
    uint32_t members; /* of the largest communicator of the name */
    uint32_t ranks;   /* of a name: how many different ranks were late */
    uint64_t times;   /* it was late */
    uint64_t of;      /* collectives there were in all trials */
    uint64_t all;     /* times anybody was late for this name */
    ovl_time wait;    /* mean wait when it was; of a name when anybody was */
} ovl_late;

typedef struct ovl_trials {
    uint32_t n;
    uint64_t seed;
    uint32_t threads; /* 0: as many as there are cores */
    bool no_fold, no_skip;
    /* Filled in; arrays live as long as the work. */
    const char *scenario, *variant, *interference;
    ovl_time nominal;              /* the step without variation */
    ovl_time nominal_uncovered;    /* and its uncovered communication */
    ovl_time *step, *uncovered;    /* [n] of the deciding rank */
    ovl_time *own_mean, *own_most; /* [n] own time of ranks: mean, and most */
    const ovl_late *ranks;         /* those that were late, most often first */
    const ovl_late *names; /* collectives, largest mean wait first; the rank late most often */
    uint32_t n_ranks, n_names;
    uint32_t world; /* ranks */
} ovl_trials;

/* Two runs, trial by trial; or, where they were drawn from different seeds, as two samples: then
 * there are no differences of trials, the interval is that of the difference of two means (the root
 * of the sum of the squares of theirs), and `share` is of all pairs of a trial of each. */
typedef struct ovl_paired {
    const ovl_trials *a, *b;
    bool apart;                    /* as two samples */
    double share;                  /* in which b is shorter */
    ovl_time *difference;          /* [n] step of b - step of a */
    uint32_t better, equal, worse; /* trials in which b is shorter, as long, longer */
    ovl_statistics change;
    const char *sentence; /* the verdict */
    const char *nominal;  /* the verdict without variation */
} ovl_paired;

/* Runs t->n trials. False and errors if a trial cannot finish or it was stopped. */
bool ovl_trials_run(ovl_work *work, const ovl_prepared *prepared, ovl_trials *t);

/* Pairs two runs of as many trials; texts live in `arena`. */
void ovl_trials_pair(const ovl_trials *a, const ovl_trials *b, ovl_arena *arena, ovl_paired *pair);

/* The same of any two runs that were made before: trial by trial if they have the same seed (of the
 * one with more trials the first), else as two samples. `a` and `b` may be cut. */
void ovl_trials_pair_stored(ovl_trials *a, ovl_trials *b, ovl_arena *arena, ovl_paired *pair);

/* --trials, --seed and --jobs of a command: t->n is 0 without --trials. False and errors. */
bool ovl_trials_read(ovl_work *work, const ovl_args *args, ovl_trials *t);

/* The scenario says how something varies; else an error. */
bool ovl_trials_vary(ovl_work *work, const ovl_prepared *prepared);

/* A base against several, all with the same draws. */
typedef struct ovl_paired_all {
    const ovl_trials *base;
    const ovl_paired *items; /* a: the base */
    uint32_t n;
    uint32_t best; /* of the items that compare: the least mean, if it beats the base; OVL_NONE */
} ovl_paired_all;

/* Fills in `best`: among the items with the interference model of the base, of those whose mean is
 * surely shorter than the base's. */
void ovl_paired_choose(ovl_paired_all *all);

/* Reports: schemas overlapsim.trials/1, overlapsim.compare_trials/1 and
 * overlapsim.compare_all_trials/1. */
void ovl_trials_text(ovl_out *out, const ovl_trials *t);
void ovl_trials_json(ovl_out *out, const ovl_trials *t);
void ovl_paired_text(ovl_out *out, const ovl_paired *pair);
void ovl_paired_json(ovl_out *out, const ovl_paired *pair);
void ovl_paired_all_text(ovl_out *out, const ovl_paired_all *all);
void ovl_paired_all_json(ovl_out *out, const ovl_paired_all *all);

#endif
