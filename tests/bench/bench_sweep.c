/*
 * bench_sweep - points per second of a sweep beside single runs of the same scenario.
 *
 *     bench_sweep [FILE [POINTS]]      default scenarios/buckets/resnet50_ddp.yaml 200
 *
 * Prints one JSON line: points, seconds and points per second of one thread and of all cores, and
 * of single runs: load, decode, lower, run, analyse, in one process, one after the other.
 */
#include "tools/files.h"
#include "tools/pool.h"
#include "tools/sweep.h"

#include <stdio.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double sweep_seconds(const ovl_sweep *of, uint32_t threads, ovl_arena *arena)
{
    ovl_sweep s = *of;
    ovl_sweep_begin(&s, arena);
    double from = seconds();
    ovl_sweep_run(&s, &(ovl_sweep_how){.threads = threads}, arena);
    double took = seconds() - from;
    for (uint32_t i = 0; i < s.axes.n_points; i++) {
        if (s.points[i].state != OVL_POINT_DONE) {
            fprintf(stderr, "point %u: %s\n", (unsigned)i, s.points[i].error);
        }
    }
    return took;
}

static double single_seconds(const char *path, uint32_t n)
{
    double from = seconds();
    for (uint32_t i = 0; i < n; i++) {
        ovl_arena arena = {0};
        ovl_errs errs = {.arena = &arena};
        ovl_document doc;
        ovl_files files = ovl_real_files();
        ovl_sweep s = {.doc = &doc};
        ovl_result result;
        if (ovl_document_load(path, &files, &doc, &arena, &errs)) {
            s.axes.n_points = 1;
            ovl_sweep_result(&s, 0, OVL_WORTH_NONE, &result, &arena, &errs);
        }
        ovl_arena_free(&arena);
    }
    return seconds() - from;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "scenarios/buckets/resnet50_ddp.yaml";
    unsigned points = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 200;
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_document doc;
    ovl_files files = ovl_real_files();
    const char *over[] = {ovl_arena_printf(&arena, "hardware.host.launch=1..%u ns", points)};
    const ovl_axis_words words = {.over = over, .n_over = 1};
    ovl_sweep sweep = {.doc = &doc};
    if (!ovl_document_load(path, &files, &doc, &arena, &errs) ||
        !ovl_axes_read(&doc, &words, &sweep.axes, &arena, &errs)) {
        fprintf(stderr, "%s\n", ovl_err_text(&arena, &errs.items[0]));
        return 1;
    }
    uint32_t n = sweep.axes.n_points;
    double one = sweep_seconds(&sweep, 1, &arena), all = sweep_seconds(&sweep, 0, &arena);
    double single = single_seconds(path, n);
    printf(
        "{\"benchmark\": \"sweep\", \"points\": %u, \"one_thread_per_s\": %.1f, \"threads\": %u, "
        "\"all_threads_per_s\": %.1f, \"single_runs_per_s\": %.1f}\n",
        (unsigned)n, n / one, (unsigned)ovl_pool_cores(), n / all, n / single);
    ovl_arena_free(&arena);
    return 0;
}
