/*
 * bench_folded - a large job from YAML text to a report: tensor-parallel 8, pipeline 16,
 * data-parallel DP (128: 16,384 ranks), 126 layers, 128 microbatches.
 *
 *     bench_folded [DP REPEATS]         default 128 5
 *
 * A stage is 8 layers (7 at both ends): per microbatch and layer two kernels, each followed by an
 * all-reduce of its tensor-parallel group, forward and then backward (GPipe); messages to the next
 * stage and back; at the end an all-reduce of the data-parallel group for each layer. Nodes of 8
 * share a NIC. Ranks of a stage do the same, so 16 are simulated. Without worth of names. Prints
 * one JSON line: medians of REPEATS in seconds of each stage, of wall clock and of the processor.
 */
#include "models/lower.h"
#include "sim/fold.h"
#include "sim/result.h"
#include "tools/report.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#define TP           8
#define PP           16
#define MICROBATCHES 128

static double clock_of(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- The scenario --- */

typedef struct text {
    char *data;
    size_t len, cap;
} text;

OVL_PRINTF(2, 3) static void add(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->len += (size_t)vsnprintf(t->data + t->len, t->cap - t->len, format, args);
    va_end(args);
    assert(t->len < t->cap);
}

static void add_head(text *t, uint32_t dp)
{
    add(t, "name: folded\n"
           "hardware:\n"
           "  gpu: {name: H100, hbm: 3.35 TB/s, memory: 80 GB, sms: 132}\n"
           "  host: {launch: 5 us}\n"
           "  node: {gpus: 8}\n"
           "  links:\n"
           "    nvlink: {bandwidth: 450 GB/s, latency: 1 us, scope: gpu}\n"
           "    nic: {bandwidth: 400 GB/s, latency: 5 us, scope: node}\n"
           "  collectives:\n"
           "    - {op: all_reduce, group: tp, via: [nvlink], alpha: 10 us, beta: 250 GB/s, "
           "sms: 16, hbm_factor: 2.5}\n"
           "    - {op: all_reduce, group: dp, via: [nic], alpha: 100 us, beta: 40 GB/s, "
           "sms: 16, hbm_factor: 2.5}\n"
           "    - {op: send_recv, group: pp, via: [nic], alpha: 10 us, beta: 40 GB/s}\n");
    add(t, "mesh: {axes: {tp: %d, dp: %" PRIu32 ", pp: %d}, order: [tp, dp, pp]}\n", TP, dp, PP);
    add(t, "workload:\n  ops:\n");
}

/* One direction of a stage: from `from` (0: nowhere) to `to`, kernels of these lengths. */
static void add_pass(text *t, const char *ranks, const char *way, uint32_t layers, int from, int to,
                     double ms)
{
    add(t, "    - repeat: %d\n      ranks: '%s'\n      as: m\n      ops:\n", MICROBATCHES, ranks);
    if (from) {
        add(t, "        - {recv: '%s in{m}', from: %+d, group: pp, bytes: 32 MiB, stream: in}\n",
            way, from);
    }
    add(t, "        - repeat: %" PRIu32 "\n          as: l\n          ops:\n", layers);
    add(t, "            - {kernel: '%s attention', duration: %g ms, hbm: %g GB", way, ms, 0.8 * ms);
    if (from) {
        add(t, ", after: ['%s in{m}']", way);
    }
    add(t,
        "}\n            - {collective: '%s tp a', op: all_reduce, group: tp, bytes: 32 MiB, "
        "after: ['%s attention']}\n",
        way, way);
    add(t, "            - {kernel: '%s mlp', duration: %g ms, hbm: %g GB, after: ['%s tp a']}\n",
        way, 1.6 * ms, 1.2 * ms, way);
    add(t,
        "            - {collective: '%s tp b', op: all_reduce, group: tp, bytes: 32 MiB, "
        "after: ['%s mlp']}\n",
        way, way);
    if (to) {
        add(t,
            "        - {send: '%s out{m}', to: %+d, group: pp, bytes: 32 MiB, stream: out, "
            "after: ['%s tp b']}\n",
            way, to, way);
    }
}

static void add_stage(text *t, uint32_t stage, uint32_t dp)
{
    char ranks[32];
    bool first = stage == 0, last = stage == PP - 1;
    uint32_t layers = first || last ? 7 : 8;
    snprintf(ranks, sizeof ranks, "%" PRIu32 "-%" PRIu32, stage * TP * dp,
             (stage + 1) * TP * dp - 1);
    add_pass(t, ranks, "f", layers, first ? 0 : -1, last ? 0 : 1, 1);
    add_pass(t, ranks, "b", layers, last ? 0 : 1, first ? 0 : -1, 2);
    add(t, "    - repeat: %" PRIu32 "\n      ranks: '%s'\n      as: l\n      ops:\n", layers,
        ranks);
    add(t, "        - {collective: 'dp{l}', op: all_reduce, group: dp, bytes: 400 MiB, stream: dp, "
           "after: ['b mlp']}\n");
    add(t, "    - {kernel: optimizer, duration: 10 ms, ranks: '%s', after: ['dp0']}\n", ranks);
}

static const char *scenario_text(ovl_arena *arena, uint32_t dp)
{
    text t = {.cap = 1 << 16};
    t.data = ovl_arena_alloc(arena, t.cap, 1);
    add_head(&t, dp);
    for (uint32_t stage = 0; stage < PP; stage++) {
        add_stage(&t, stage, dp);
    }
    return t.data;
}

/* --- One run --- */

enum { LOAD, LOWER, ANALYSE, REPORT, WHOLE, PROCESSOR, TIMES };

typedef struct sample {
    double time[TIMES];
    double n_ops, step;
    uint32_t ranks, classes;
    long report;
} sample;

static const char *served(void *context, const char *path, size_t *length, ovl_arena *arena,
                          const char **why)
{
    (void)path;
    (void)arena;
    (void)why;
    *length = strlen(context);
    return context;
}

static bool load(char *yaml, ovl_arena *arena, ovl_scenario *scenario, ovl_errs *errs)
{
    ovl_files files = {.read = served, .context = yaml};
    ovl_document doc;
    return ovl_document_load("bench.yaml", &files, &doc, arena, errs) &&
           ovl_scenario_decode(&doc, NULL, NULL, 0, scenario, arena, errs);
}

static bool write_report(const ovl_result *result, long *bytes)
{
    ovl_out out;
    FILE *file = tmpfile();
    if (!file) {
        return false;
    }
    ovl_out_stream(&out, file);
    ovl_report_text(&out, result);
    bool good = ovl_out_close(&out) == NULL;
    *bytes = ftell(file);
    fclose(file);
    return good;
}

static bool run(char *yaml, sample *s, ovl_errs *errs)
{
    ovl_arena loaded = {0}, results = {0};
    ovl_scenario scenario;
    ovl_lowered lowered;
    ovl_result result;
    ovl_analyse_options options = {.interference = OVL_INTERFERENCE_SHARED,
                                   .worth = OVL_WORTH_NONE,
                                   .scenario = "bench",
                                   .variant = "base"};
    double cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID), t[TIMES];
    t[LOAD] = clock_of(CLOCK_MONOTONIC);
    bool good = load(yaml, &loaded, &scenario, errs);
    t[LOWER] = clock_of(CLOCK_MONOTONIC);
    good = good && ovl_lower(&scenario, &loaded, &lowered, errs);
    t[ANALYSE] = clock_of(CLOCK_MONOTONIC);
    good = good && ovl_analyse(&lowered.program, &options, &results, &result, NULL, errs);
    t[REPORT] = clock_of(CLOCK_MONOTONIC);
    good = good && write_report(&result, &s->report);
    t[WHOLE] = clock_of(CLOCK_MONOTONIC);
    s->time[PROCESSOR] = clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    s->time[WHOLE] = t[WHOLE] - t[LOAD];
    for (uint32_t i = LOAD; i <= REPORT; i++) {
        s->time[i] = t[i + 1] - t[i];
    }
    for (uint32_t r = 0; good && r < lowered.program.n_ranks; r++) {
        s->n_ops += lowered.program.codes[lowered.program.ranks[r].code].n_ops;
    }
    if (good) {
        s->step = (double)result.step * 1e-12;
        s->ranks = result.n_ranks_simulated;
        s->classes = result.n_folded;
    }
    ovl_arena_free(&loaded);
    ovl_arena_free(&results);
    return good;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const sample *samples, uint32_t n, uint32_t which)
{
    double times[64];
    for (uint32_t i = 0; i < n; i++) {
        times[i] = samples[i].time[which];
    }
    qsort(times, n, sizeof *times, compare);
    return times[n / 2];
}

int main(int argc, char **argv)
{
    uint32_t dp = argc == 3 ? (uint32_t)strtoul(argv[1], NULL, 10) : 128;
    uint32_t n = argc == 3 ? (uint32_t)OVL_MIN(OVL_MAX(strtoul(argv[2], NULL, 10), 1), 64) : 5;
    ovl_arena texts = {0};
    ovl_errs errs = {.arena = &texts};
    char *yaml = ovl_arena_strdup(&texts, scenario_text(&texts, dp));
    sample samples[64];
    memset(samples, 0, sizeof samples);
    for (uint32_t i = 0; i < n; i++) {
        if (!run(yaml, &samples[i], &errs)) {
            fprintf(stderr, "%s\n", ovl_err_text(errs.arena, &errs.items[0]));
            return 1;
        }
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"ranks\":%" PRIu32 ",\"classes\":%" PRIu32
           ",\"operations\":%.0f,\"step_s\":%.9f,\"load_s\":%.4f,\"lower_s\":%.4f,"
           "\"analyse_s\":%.4f,\"report_s\":%.4f,\"whole_s\":%.4f,\"processor_s\":%.4f,"
           "\"report_bytes\":%ld,"
           "\"maxrss_mib\":%.1f}\n",
           samples[0].ranks, samples[0].classes, samples[0].n_ops, samples[0].step,
           median(samples, n, LOAD), median(samples, n, LOWER), median(samples, n, ANALYSE),
           median(samples, n, REPORT), median(samples, n, WHOLE), median(samples, n, PROCESSOR),
           samples[0].report, (double)usage.ru_maxrss / 1024);
    ovl_arena_free(&texts);
    return 0;
}
