/* wait4() is not in POSIX. */
#define _GNU_SOURCE

#include "tests/bench/table.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_REPEATS 64

double bench_hash(uint64_t a, uint64_t b)
{
    uint64_t z = a * 0x9E3779B97F4A7C15u + b * 0xD1B54A32D192ED03u + 0x2545F4914F6CDD1Du;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

double bench_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bench_result bench_measure(const ovl_program *program, uint32_t repeats)
{
    double times[MOST_REPEATS];
    bench_result result = {.seconds = -1};
    repeats = OVL_MIN(OVL_MAX(repeats, 1), MOST_REPEATS);
    for (uint32_t i = 0; i < repeats; i++) {
        ovl_arena arena = {0};
        ovl_errs errs = {.arena = &arena};
        ovl_timeline t;
        const char *only = getenv("BENCH_STEP_ONLY"), *skip = getenv("BENCH_SKIP");
        ovl_run_options options = {.interference = OVL_INTERFERENCE_SHARED,

                                   .no_skip = !skip || *skip != '1',
                                   .step_only = only && *only == '1'};
        double start = bench_seconds();
        if (!ovl_run(program, &options, &arena, &t, &errs)) {
            fprintf(stderr, "%s\n", errs.items[0].text);
            return result;
        }
        times[i] = bench_seconds() - start;
        result.step = t.step;
        result.counters = t.counters;
        ovl_arena_free(&arena);
    }
    qsort(times, repeats, sizeof *times, compare);
    result.seconds = times[repeats / 2];
    return result;
}

/* In the child: the first part of the row; the parent knows how much memory it took. */
static int print_case(const bench_case *c, uint32_t repeats)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_program p;
    if (!c->build(c->size, &arena, &p, &errs)) {
        fprintf(stderr, "%s\n", errs.count ? errs.items[0].text : "cannot be built");
        return 1;
    }
    bench_result r = bench_measure(&p, repeats);
    double n = (double)r.counters.activities;
    printf("%-14s %8" PRIu32 " %11" PRIu64 " %10.2f %13.0f %12.0f %12.1f %14.1f", c->name, c->size,
           r.counters.activities, 1e3 * r.seconds, n / r.seconds, 1e9 * r.seconds / n,
           (double)r.counters.bytes / p.n_ops, (double)ovl_run_memory(&p, false) / 0x1p20);
    fflush(stdout);
    ovl_arena_free(&arena);
    return r.seconds < 0;
}

int bench_table(const bench_case *cases, uint32_t n, uint32_t repeats)
{
    int worst = 0;
    printf("%-14s %8s %11s %10s %13s %12s %12s %14s %9s\n", "workload", "size", "activities",
           "median ms", "activities/s", "ns/activity", "B/operation", "announced MiB", "peak MiB");
    for (uint32_t i = 0; i < n; i++) {
        struct rusage usage;
        int status = 1;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            _exit(print_case(&cases[i], repeats));
        }
        if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
            worst = 1;
            continue;
        }
        printf(" %9.1f\n", (double)usage.ru_maxrss / 1024);
    }
    return worst;
}
