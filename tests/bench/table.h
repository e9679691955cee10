/*
 * table.h - what the engine's benchmarks have in common: a program of each size is built and run in
 * a process of its own, so that its peak of memory is its own, and a row says what it cost:
 *
 *     workload  size  activities  median ms  activities/s  ns/activity  B/operation  announced MiB
 *     peak MiB
 *
 * The median is that of several runs of one program; building it is left out. B/operation is what a
 * run holds at its end, times, causes and its own state, without the program. Announced is what
 * ovl_run_memory says before; the peak is that of the process, the program included. With
 * BENCH_STEP_ONLY=1 in the environment runs keep only the step. They simulate every period
 * (bench_repeat compares), but for BENCH_SKIP=1.
 */
#ifndef OVL_TESTS_BENCH_TABLE_H
#define OVL_TESTS_BENCH_TABLE_H

#include "sim/engine.h"

typedef struct bench_case {
    const char *name;
    uint32_t size;
    /* Builds the program into the arena; false if that fails. */
    bool (*build)(uint32_t size, ovl_arena *arena, ovl_program *program, ovl_errs *errs);
} bench_case;

typedef struct bench_result {
    double seconds; /* of the median run; negative: it failed */
    ovl_time step;
    ovl_counters counters;
} bench_result;

bench_result bench_measure(const ovl_program *program, uint32_t repeats);

/* Prints the table of the cases. Gives the exit status. */
int bench_table(const bench_case *cases, uint32_t n, uint32_t repeats);

/* Seconds on a clock that only goes on. */
double bench_seconds(void);

/* A number in [0, 1) that looks random but is that of (a, b). */
double bench_hash(uint64_t a, uint64_t b);

#endif
