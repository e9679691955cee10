/*
 * bench_schedule - actions per second of pipeline schedules: making them, placing sends and
 * receives, and running them when transfers are a delay.
 *
 *     bench_schedule [RANKS STAGES_PER_RANK MICROBATCHES]
 *
 * 128, 4 and 2048 unless given. Schedules with another number of stages a rank take theirs. One
 * line each: actions, and of the best of three runs a million actions per second.
 */
#include "models/schedule_lower.h"
#include "models/schedule_time.h"

#include <stdio.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t count(const ovl_schedule *s)
{
    uint64_t n = 0;
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        n += s->ranks[r].count;
    }
    return n;
}

static ovl_time *fill(ovl_arena *arena, uint32_t n, ovl_time value)
{
    ovl_time *list = OVL_NEW_ARRAY(arena, ovl_time, n);
    for (uint32_t i = 0; i < n; i++) {
        list[i] = value;
    }
    return list;
}

typedef struct best {
    double make, lower, time;
    uint64_t actions, lowered;
} best;

static void once(const ovl_schedule_kind *kind, ovl_schedule_spec spec, best *b)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    uint64_t *bytes = OVL_NEW_ARRAY(&arena, uint64_t, spec.ranks);
    for (uint32_t r = 0; r < spec.ranks; r++) {
        bytes[r] = 1;
    }
    spec.forward = spec.input = spec.weight = fill(&arena, spec.ranks, 10);
    spec.activation = spec.kept = bytes;
    ovl_schedule s, lowered;
    ovl_schedule_times times;
    double t0 = seconds();
    if (!ovl_schedule_make(kind, &spec, &s, &arena, &errs)) {
        printf("%s: %s\n", kind->name, errs.items[0].text);
        ovl_arena_free(&arena);
        return;
    }
    double t1 = seconds();
    ovl_schedule_send_recv(&s, &lowered, (ovl_mark){0}, &arena, &errs);
    double t2 = seconds();
    const ovl_time *ten = fill(&arena, s.n_stages, 10), *twenty = fill(&arena, s.n_stages, 20);
    ovl_schedule_costs costs = {ten, ten, ten, twenty, NULL, 1};
    ovl_schedule_time(&s, &costs, &times, &arena, &errs);
    double t3 = seconds();
    b->actions = count(&s);
    b->lowered = count(&lowered);
    b->make = OVL_MIN(b->make, t1 - t0);
    b->lower = OVL_MIN(b->lower, t2 - t1);
    b->time = OVL_MIN(b->time, t3 - t2);
    ovl_arena_free(&arena);
}

int main(int argc, char **argv)
{
    uint32_t given[3] = {128, 4, 2048};
    for (int i = 1; i < argc && i < 4; i++) {
        given[i - 1] = (uint32_t)strtoul(argv[i], NULL, 10);
    }
    for (uint32_t k = 0; ovl_schedule_at(k); k++) {
        const ovl_schedule_kind *kind = ovl_schedule_at(k);
        uint32_t v = OVL_MIN(OVL_MAX(given[1], kind->least_stages), kind->most_stages);
        best b = {1e9, 1e9, 1e9, 0, 0};
        for (int i = 0; i < 3; i++) {
            once(kind,
                 (ovl_schedule_spec){
                     .ranks = given[0], .stages_per_rank = v, .microbatches = given[2]},
                 &b);
        }
        if (b.actions) {
            printf("%-21s %8" PRIu64 " actions, with transfers %8" PRIu64
                   "; million/s: make %6.1f, send_recv %6.1f, run %6.1f\n",
                   kind->name, b.actions, b.lowered, (double)b.actions / b.make * 1e-6,
                   (double)b.lowered / b.lower * 1e-6, (double)b.actions / b.time * 1e-6);
        }
    }
    return 0;
}
