/*
 * bench_scenario - a scenario of RANKS ranks x OPS operations, from YAML text to a result.
 *
 *     bench_scenario [RANKS OPS]        default 1000 1000
 *
 * Half of the operations are kernels, half all-reduces over all ranks that overlap the kernels
 * after them and share HBM with them; every fourth kernel takes a little longer on each rank than
 * on the one before, so that nothing is symmetric. Prints one JSON line: operations over all ranks,
 * seconds of each stage, operations per second of the run, bytes per operation of program and
 * timeline.
 */
#include "models/lower.h"
#include "sim/result.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *durations_by_rank(ovl_arena *arena, uint32_t ranks)
{
    char *text = ovl_arena_alloc(arena, (size_t)ranks * 16 + 4, 1);
    size_t at = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        at += (size_t)sprintf(text + at, "%s%" PRIu32 " ns", r ? ", " : "[", 100000 + r);
    }
    sprintf(text + at, "]");
    return text;
}

static const char *scenario_text(ovl_arena *arena, uint32_t ranks, uint32_t ops)
{
    return ovl_arena_printf(arena,
                            "name: bench\n"
                            "hardware:\n"
                            "  gpu: {name: g, hbm: 2 TB/s, sms: 108}\n"
                            "  links: {nvlink: {bandwidth: 300 GB/s, latency: 1 us, scope: gpu}}\n"
                            "workload:\n"
                            "  ranks: %" PRIu32 "\n"
                            "  groups: {dp: all}\n"
                            "  ops:\n"
                            "    - repeat: %" PRIu32 "\n"
                            "      ops:\n"
                            "        - {kernel: 'a{i}', duration: %s, hbm: 0.15 GB}\n"
                            "        - {collective: 'r{i}', op: all_reduce, group: dp, bytes: 16 "
                            "MiB, duration: 150 us, via: [nvlink],"
                            " sms: 16, hbm_factor: 2.5, after: ['a{i}']}\n"
                            "        - {kernel: 'b{i}', duration: 120 us, hbm: 0.2 GB}\n"
                            "        - {collective: 's{i}', op: all_reduce, group: dp, bytes: 4 "
                            "MiB, duration: 40 us, via: [nvlink],"
                            " sms: 16, hbm_factor: 2.5, after: ['b{i}']}\n",
                            ranks, ops / 4, durations_by_rank(arena, ranks));
}

static const char *served(void *context, const char *path, size_t *length, ovl_arena *arena,
                          const char **why)
{
    (void)path;
    (void)arena;
    (void)why;
    *length = strlen(context);
    return context;
}

static int fail(ovl_errs *errs)
{
    for (uint32_t i = 0; i < errs->count; i++) {
        fprintf(stderr, "%s\n", ovl_err_text(errs->arena, &errs->items[i]));
    }
    return 1;
}

int main(int argc, char **argv)
{
    uint32_t ranks = argc == 3 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000;
    uint32_t ops = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000;
    ovl_arena texts = {0}, loaded = {0}, times = {0}, results = {0};
    ovl_errs errs = {.arena = &texts};
    char *text = ovl_arena_strdup(&texts, scenario_text(&texts, ranks, ops));
    ovl_files files = {.read = served, .context = text};
    double t0 = seconds();
    ovl_document doc;
    ovl_scenario scenario;
    ovl_lowered lowered;
    if (!ovl_document_load("bench.yaml", &files, &doc, &loaded, &errs) ||
        !ovl_scenario_decode(&doc, NULL, NULL, 0, &scenario, &loaded, &errs) ||
        !ovl_lower(&scenario, &loaded, &lowered, &errs)) {
        return fail(&errs);
    }
    double t1 = seconds();
    ovl_timeline timeline;
    ovl_run_options run = {.interference = OVL_INTERFERENCE_SHARED};
    if (!ovl_run(&lowered.program, &run, &times, &timeline, &errs)) {
        return fail(&errs);
    }
    double t2 = seconds();
    ovl_result result;
    ovl_analyse_options analyse = {.interference = OVL_INTERFERENCE_SHARED,
                                   .worth = OVL_WORTH_NONE,
                                   .scenario = "bench",
                                   .variant = "base"};
    if (!ovl_analyse(&lowered.program, &analyse, &results, &result, NULL, &errs)) {
        return fail(&errs);
    }
    double t3 = seconds();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double n = lowered.program.n_ops;
    printf("{\"ranks\":%" PRIu32 ",\"ops_per_rank\":%" PRIu32
           ",\"operations\":%.0f,\"step_s\":%.9f,\"load_s\":%.3f,\"run_s\":%.3f,"
           "\"run_and_analyse_s\":%.3f,\"operations_per_s\":%.0f,\"program_bytes_per_op\":%.1f,"
           "\"timeline_bytes_per_op\":%.1f,\"maxrss_mib\":%.1f}\n",
           ranks, ops, n, (double)timeline.step * 1e-12, t1 - t0, t2 - t1, t3 - t2, n / (t2 - t1),
           (double)loaded.used / n, (double)times.used / n, (double)usage.ru_maxrss / 1024);
    ovl_arena_free(&texts);
    ovl_arena_free(&loaded);
    ovl_arena_free(&times);
    ovl_arena_free(&results);
    return 0;
}
