/* Two runs trial by trial, and what the command line says of trials. */
#include "tools/trials.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TRIALS 1000000
#define MOST_JOBS   1024

static const char *time_text(ovl_arena *arena, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_time(buf, t));
}

static ovl_time distance(ovl_time t)
{
    return t < 0 ? -t : t;
}

/* "shorter in 12 of 40 trials". */
static const char *shorter_in(const ovl_paired *pair, ovl_arena *arena)
{
    return pair->apart
               ? ovl_arena_printf(arena, "%.3g %% of all pairs of their trials", 100 * pair->share)
               : ovl_arena_printf(arena, "%" PRIu32 " of %" PRIu32 " trials", pair->better,
                                  pair->a->n);
}

static const char *verdict(const ovl_paired *pair, ovl_arena *arena)
{
    const ovl_statistics *s = &pair->change;
    if (!pair->apart && pair->equal == pair->a->n) {
        return "no gain: the step is the same in every trial";
    }
    if (s->low <= 0 && s->high >= 0) {
        return ovl_arena_printf(arena,
                                "no gain that shows: the mean difference, %s%s, is within its "
                                "uncertainty; b is shorter in %s",
                                s->mean < 0 ? "-" : "", time_text(arena, distance(s->mean)),
                                shorter_in(pair, arena));
    }
    return ovl_arena_printf(arena, "%s: b is %s %s on average, and shorter in %s",
                            s->mean < 0 ? "better" : "worse", time_text(arena, distance(s->mean)),
                            s->mean < 0 ? "shorter" : "longer", shorter_in(pair, arena));
}

void ovl_trials_pair(const ovl_trials *a, const ovl_trials *b, ovl_arena *arena, ovl_paired *pair)
{
    assert(a->n == b->n && a->seed == b->seed);
    *pair = (ovl_paired){.a = a, .b = b};
    pair->difference = OVL_NEW_ARRAY(arena, ovl_time, a->n);
    for (uint32_t i = 0; i < a->n; i++) {
        ovl_time d = b->step[i] - a->step[i];
        pair->difference[i] = d;
        *(d < 0 ? &pair->better : d > 0 ? &pair->worse : &pair->equal) += 1;
    }
    pair->change = ovl_statistics_of(pair->difference, a->n);
    pair->share = (double)pair->better / a->n;
    pair->sentence = verdict(pair, arena);
}

static int by_time(const void *a, const void *b)
{
    ovl_time x = *(const ovl_time *)a, y = *(const ovl_time *)b;
    return (x > y) - (x < y);
}

static ovl_time *sorted(const ovl_trials *t, ovl_arena *arena)
{
    ovl_time *list = OVL_NEW_ARRAY(arena, ovl_time, t->n);
    memcpy(list, t->step, t->n * sizeof *list);
    qsort(list, t->n, sizeof *list, by_time);
    return list;
}

/* Of all pairs, those in which the trial of b is shorter. */
static double share_of_pairs(const ovl_trials *a, const ovl_trials *b, ovl_arena *arena)
{
    const ovl_time *x = sorted(a, arena), *y = sorted(b, arena);
    uint64_t pairs = 0;
    uint32_t below = 0; /* trials of b shorter than x[i] */
    for (uint32_t i = 0; i < a->n; i++) {
        while (below < b->n && y[below] < x[i]) {
            below++;
        }
        pairs += below;
    }
    return (double)pairs / ((double)a->n * b->n);
}

static void two_samples(const ovl_trials *a, const ovl_trials *b, ovl_arena *arena,
                        ovl_paired *pair)
{
    const ovl_statistics x = ovl_statistics_of(a->step, a->n), y = ovl_statistics_of(b->step, b->n);
    double half = hypot((double)(x.high - x.mean), (double)(y.high - y.mean));
    *pair = (ovl_paired){.a = a, .b = b, .apart = true};
    pair->share = share_of_pairs(a, b, arena);
    pair->change = (ovl_statistics){.mean = y.mean - x.mean};
    pair->change.low = pair->change.mean - (ovl_time)floor(half + 0.5);
    pair->change.high = pair->change.mean + (ovl_time)floor(half + 0.5);
    pair->sentence = verdict(pair, arena);
}

void ovl_trials_pair_stored(ovl_trials *a, ovl_trials *b, ovl_arena *arena, ovl_paired *pair)
{
    if (a->seed == b->seed) {
        a->n = b->n = OVL_MIN(a->n, b->n);
        ovl_trials_pair(a, b, arena, pair);
    } else {
        two_samples(a, b, arena, pair);
    }
}

/* --- The command line --- */

static bool read_number(ovl_work *work, const ovl_args *args, const char *name, uint64_t min,
                        uint64_t max, uint64_t *value)
{
    const char *text = ovl_args_value(args, name);
    if (!text) {
        return true;
    }
    size_t length = strlen(text);
    if (length && length < 20 && strspn(text, "0123456789") == length) {
        *value = strtoull(text, NULL, 10);
        if (*value >= min && *value <= max) {
            return true;
        }
    }
    ovl_error(&work->errs, OVL_E_USAGE, (ovl_mark){0},
              "--%s %s: expected a whole number from %" PRIu64 " to %" PRIu64, name, text, min,
              max);
    return false;
}

bool ovl_trials_read(ovl_work *work, const ovl_args *args, ovl_trials *t)
{
    uint64_t n = 0, seed = 1, jobs = 0;
    bool good = read_number(work, args, "trials", 2, MOST_TRIALS, &n);
    good = read_number(work, args, "seed", 0, INT64_MAX, &seed) && good;
    good = read_number(work, args, "jobs", 1, MOST_JOBS, &jobs) && good;
    *t = (ovl_trials){.n = (uint32_t)n,
                      .seed = seed,
                      .threads = (uint32_t)jobs,
                      .no_fold = ovl_args_has(args, "no-fold"),
                      .no_skip = ovl_args_has(args, "no-skip")};
    return good;
}

bool ovl_trials_vary(ovl_work *work, const ovl_prepared *prepared)
{
    const ovl_variation *v = &prepared->scenario.variation;
    if (v->kernels.given || v->collectives.given || v->copies.given || v->host.given ||
        v->ops.count || v->pauses.given || prepared->lowered.n_laws) {
        return true;
    }
    ovl_error(&work->errs, OVL_E_INPUT, prepared->scenario.mark,
              "nothing varies, so every trial would be the same; say what does: "
              "`variation: {kernels: {cv: 3 %%}}`, or --set 'variation.kernels={cv: 3 %%}'");
    return false;
}
