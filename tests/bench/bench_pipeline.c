/*
 * bench_pipeline - from a scenario of a pipeline to its result, in actions per second: making the
 * program (schedule, transfers, operations), running it, and finding why ranks idle.
 *
 *     bench_pipeline [SCHEDULE RANKS STAGES_PER_RANK MICROBATCHES]
 *
 * interleaved_zb, 128, 4 and 2048 unless given, after an eighth, a quarter and a half of the
 * microbatches: a rate that stays says that time is linear in actions. An action is an operation of
 * a rank: kernels, sends and receives. Time is that of the processor.
 */
#include "models/lower.h"
#include "sim/idle.h"

#include <stdio.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const char *read_text(void *context, const char *path, size_t *length, ovl_arena *arena,
                             const char **why)
{
    (void)path, (void)why;
    *length = strlen(context);
    return ovl_arena_strdup(arena, context);
}

typedef struct size {
    const char *schedule;
    uint32_t ranks, stages, microbatches;
} size;

static bool lower(const size *s, ovl_arena *arena, ovl_lowered *lowered, ovl_errs *errs)
{
    char text[500];
    snprintf(text, sizeof text,
             "hardware: {gpu: {name: example}}\n"
             "mesh: {axes: {pp: %" PRIu32 "}}\n"
             "workload: {stages: [{name: s, repeat: %" PRIu32
             ", forward: 1 ms, backward_input: 1 ms, "
             "backward_weight: 1 ms}]}\n"
             "overlap: {pipeline: {schedule: %s, microbatches: %" PRIu32 ", alpha: 10 us}}\n",
             s->ranks, s->ranks * s->stages, s->schedule, s->microbatches);
    ovl_files files = {.read = read_text, .context = text};
    ovl_document doc;
    ovl_scenario scenario;
    return ovl_document_load("s.yaml", &files, &doc, arena, errs) &&
           ovl_scenario_decode(&doc, NULL, NULL, 0, &scenario, arena, errs) &&
           ovl_lower(&scenario, arena, lowered, errs);
}

static void find_idle(const ovl_program *p, const ovl_timeline *t, ovl_arena *arena)
{
    ovl_causes causes;
    ovl_classes classes;
    ovl_result_idle idle;
    ovl_causes_init(&causes, p, t, arena);
    ovl_classes_find(p, t, arena, &classes);
    ovl_result_rank *rows = OVL_NEW_ARRAY(arena, ovl_result_rank, classes.n);
    for (uint32_t i = 0; i < classes.n; i++) {
        rows[i].rank = classes.rank[i];
        rows[i].count = classes.count[i];
    }
    ovl_idle_find(&causes, &classes, &(ovl_idle_ask){0}, arena, rows, &idle);
    ovl_causes_free(&causes);
}

static void measure(const size *s)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_lowered lowered;
    ovl_timeline t = {0};
    ovl_run_options how = {.interference = OVL_INTERFERENCE_SHARED};
    double t0 = seconds();
    if (!lower(s, &arena, &lowered, &errs) || !ovl_number_ops(&lowered.program, &arena, &errs)) {
        printf("%s\n", errs.count ? errs.items[0].text : "?");
        ovl_arena_free(&arena);
        return;
    }
    double t1 = seconds();
    bool good = ovl_run(&lowered.program, &how, &arena, &t, &errs);
    double t2 = seconds();
    if (good) {
        find_idle(&lowered.program, &t, &arena);
    }
    double t3 = seconds(), n = lowered.program.n_ops * 1e-6;
    printf("%s, %" PRIu32 " ranks, %" PRIu32 " stages on each, %5" PRIu32
           " microbatches: %5.2f million actions; million/s: program %5.2f, run %5.2f, idle %5.2f; "
           "%.0f bytes each\n",
           s->schedule, s->ranks, s->stages, s->microbatches, n, n / (t1 - t0), n / (t2 - t1),
           n / (t3 - t2), (double)arena.held / lowered.program.n_ops);
    fflush(stdout);
    ovl_arena_free(&arena);
}

int main(int argc, char **argv)
{
    uint32_t given[3] = {128, 4, 2048};
    for (int i = 2; i < argc && i < 5; i++) {
        given[i - 2] = (uint32_t)strtoul(argv[i], NULL, 10);
    }
    for (uint32_t part = 8; part >= 1; part /= 2) {
        size s = {argc > 1 ? argv[1] : "interleaved_zb", given[0], given[1],
                  given[2] / part ? given[2] / part : 1};
        measure(&s);
    }
    return 0;
}
