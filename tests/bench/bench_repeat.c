/*
 * bench_repeat - runs that repeat themselves, with and without skipping what recurs.
 *
 *     bench_repeat [REPEATS]            default 5
 *
 * A ring (a kernel of 100 us a layer, whose result goes to the next rank beside the next kernel)
 * for 200 steps of 100 layers; a pipeline of 16 ranks, 1F1B, 2,048 microbatches; 126 layers sharded
 * over 512 ranks, one step and 100; two chunks on each of 8 ranks, one after the other for 512
 * microbatches; Llama 3 405B on 16,384 ranks, and with rounds of 16 microbatches that share
 * communicators; 126 layers, 10 steps, whose transfers wait for their input alone. Ranks that do
 * the same are folded. Medians of REPEATS runs in ms: simulated in full, and with what recurs
 * skipped; the same keeping only the step.
 */
#include "models/lower.h"
#include "sim/alter.h"
#include "sim/fold.h"

#include <stdio.h>
#include <time.h>

#define GPU  "hardware: {gpu: {name: example}, links: {nic: {bandwidth: 50 GB/s, scope: gpu}}, "
#define RING "collectives: [{op: send_recv, via: [nic], alpha: 5 us, beta: 50 GB/s}]}\n"
#define SHARD                                                                                      \
    "collectives: [{op: all_gather, via: [nic], algorithm: ring}, "                                \
    "{op: reduce_scatter, via: [nic], algorithm: ring}]}\nmesh: {axes: {dp: 512}}\n"
#define LAYERS "layers: [{name: l, repeat: 126, params: 6 GB, forward: 90 ms, backward: 180 ms}]}\n"

#define LLAMA(RANKS, MICROBATCHES, MORE)                                                           \
    "hardware: {gpu: {name: h100, hbm: 3.35 TB/s, sms: 132, peak: {bf16: 989 TFLOP/s}}, "          \
    "node: {gpus: 8}, links: {nvlink: {bandwidth: 450 GB/s, latency: 1 us, scope: gpu}, "          \
    "nic: {bandwidth: 50 GB/s, latency: 10 us, scope: gpu, out_of: node}}, collectives: ["         \
    "{op: all_gather, group: tp, via: [nvlink], algorithm: ring, sms: 16, hbm_factor: 2}, "        \
    "{op: reduce_scatter, group: tp, via: [nvlink], algorithm: ring, sms: 16, hbm_factor: 2}, "    \
    "{op: all_gather, via: [nic], algorithm: ring, sms: 8, hbm_factor: 2}, "                       \
    "{op: reduce_scatter, via: [nic], algorithm: ring, sms: 8, hbm_factor: 2}, "                   \
    "{op: send_recv, via: [nic], algorithm: direct, sms: 2, hbm_factor: 1}]}\n"                    \
    "mesh: {axes: {tp: 8, pp: 16, dp: " RANKS "}}\n"                                               \
    "workload: {model: {layers: 126, hidden: 16384, ffn_hidden: 53248, heads: 128, kv_heads: 8, "  \
    "sequence: 8192, vocabulary: 128256, matmul_efficiency: 65 %}}\n"                              \
    "overlap: {pipeline: {schedule: interleaved, virtual_stages: 8, microbatches: " MICROBATCHES   \
    ", " MORE "data_parallel: {group: dp, sharded: true, active_stages: 8}}}\n"

typedef struct workload {
    const char *name, *text;
} workload;

static const workload workloads[] = {
    {"ring, 200 steps", GPU RING "mesh: {axes: {ring: 8}}\n"
                                 "workload:\n"
                                 "  ops:\n"
                                 "    - repeat: 20000\n"
                                 "      ops:\n"
                                 "        - {kernel: exec, duration: 100 us}\n"
                                 "        - batch: pass\n"
                                 "          stream: comm\n"
                                 "          after: [exec]\n"
                                 "          ops:\n"
                                 "            - {send: out, group: ring, to: +1, bytes: 4 MB}\n"
                                 "            - {recv: in, group: ring, from: -1, bytes: 4 MB}\n"},
    {"1F1B, m = 2048",
     "hardware: {gpu: {name: example}}\n"
     "mesh: {axes: {pp: 16}}\n"
     "workload: {stages: [{name: s, repeat: 16, forward: 1 ms, backward: 2 ms}]}\n"
     "overlap: {pipeline: {schedule: 1f1b, microbatches: 2048, alpha: 10 us}}\n"},
    {"126 layers, 1 step", GPU SHARD "workload: {" LAYERS "overlap: {fsdp: {shard: dp}}\n"},
    {"126 layers, 100 steps",
     GPU SHARD "workload: {steps: 100, " LAYERS "overlap: {fsdp: {shard: dp}}\n"},
    {"looped_bfs, m = 512",
     "hardware: {gpu: {name: example}}\n"
     "mesh: {axes: {pp: 8}}\n"
     "workload: {stages: [{name: s, repeat: 16, forward: 1 ms, backward: 2 ms}]}\n"
     "overlap: {pipeline: {schedule: looped_bfs, virtual_stages: 2, microbatches: 512, "
     "alpha: 10 us}}\n"},
    {"Llama 3 405B", LLAMA("128", "16", "")},
    {"the same, rounds", LLAMA("8", "256", "communicators: ranks, ")},
    {"126 layers, early",
     GPU SHARD "workload: {steps: 10, " LAYERS "overlap: {fsdp: {shard: dp}}\n"},
};

#define EARLY (OVL_COUNT(workloads) - 1) /* its transfers wait for their input alone */

static const char *read_text(void *context, const char *path, size_t *length, ovl_arena *arena,
                             const char **why)
{
    (void)path, (void)why;
    *length = strlen(context);
    return ovl_arena_strdup(arena, context);
}

static bool lower(const char *text, ovl_arena *arena, ovl_lowered *lowered, ovl_errs *errs)
{
    ovl_files files = {.read = read_text, .context = ovl_arena_strdup(arena, text)};
    ovl_document doc;
    ovl_scenario scenario;
    return ovl_document_load("s.yaml", &files, &doc, arena, errs) &&
           ovl_scenario_decode(&doc, NULL, NULL, 0, &scenario, arena, errs) &&
           ovl_lower(&scenario, arena, lowered, errs);
}

/* Of the processor. */
static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#define MOST 64

/* Median in ms; negative: it failed. */
static double measure(const ovl_program *p, bool no_skip, bool step_only, uint32_t repeats,
                      ovl_timeline *t)
{
    double times[MOST];
    for (uint32_t i = 0; i < repeats; i++) {
        ovl_arena arena = {0};
        ovl_errs errs = {.arena = &arena};
        ovl_run_options how = {
            .interference = OVL_INTERFERENCE_SHARED, .no_skip = no_skip, .step_only = step_only};
        double start = seconds();
        bool good = ovl_run(p, &how, &arena, t, &errs);
        times[i] = good ? 1e3 * (seconds() - start) : -1;
        ovl_arena_free(&arena);
    }
    qsort(times, repeats, sizeof *times, compare);
    return times[0] < 0 ? -1 : times[repeats / 2];
}

static int print_row(const workload *x, bool early, uint32_t repeats)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_lowered lowered;
    ovl_fold fold;
    ovl_program p;
    ovl_timeline full, skips;
    if (!lower(x->text, &arena, &lowered, &errs) ||
        !ovl_fold_choose(&lowered.program, false, &arena, &fold, &p, &errs)) {
        fprintf(stderr, "%s: %s\n", x->name, errs.count ? errs.items[0].text : "?");
        ovl_arena_free(&arena);
        return 1;
    }
    if (early) {
        p = ovl_program_altered(&p, &(ovl_alteration){.early_comm = true}, &arena);
    }
    double a = measure(&p, true, false, repeats, &full);
    double b = measure(&p, false, false, repeats, &skips);
    double c = measure(&p, true, true, repeats, &full),
           d = measure(&p, false, true, repeats, &skips);
    bool good = a >= 0 && b >= 0 && full.step == skips.step;
    printf("%-22s %6" PRIu32 " %9" PRIu32 " %8.1f %9.2f %9.2f %6.1f %11.2f %9.2f %6.1f%s\n",
           x->name, p.n_ranks, p.n_ops, 100.0 * (double)skips.counters.skipped / p.n_ops, a, b,
           a / b, c, d, c / d, good ? "" : "  DIFFERENT");
    fflush(stdout);
    ovl_arena_free(&arena);
    return !good;
}

int main(int argc, char **argv)
{
    uint32_t repeats = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 5;
    int worst = 0;
    printf("%-22s %6s %9s %8s %9s %9s %6s %11s %9s %6s\n", "workload", "ranks", "ops", "% skipped",
           "full ms", "skips ms", "times", "step only", "skips", "times");
    for (uint32_t i = 0; i < OVL_COUNT(workloads); i++) {
        worst |= print_row(&workloads[i], i == EARLY, OVL_MIN(OVL_MAX(repeats, 1), MOST));
    }
    return worst;
}
