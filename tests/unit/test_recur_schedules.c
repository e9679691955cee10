/*
 * What is skipped of pipelines: 8 ranks, 256 microbatches, a forward of 1 ms, a backward of 2 in
 * two pieces, 10 us from stage to stage. What fills and drains a pipeline is simulated, and the
 * blocks it takes to see the rhythm; the rest recurs. Every end is as it is without skipping.
 */
#include "tests/support/lowering.h"

#include <stdio.h>

typedef struct row {
    const char *schedule;
    uint32_t chunks;  /* stages of a rank */
    bool says;        /* the schedule has to be told that */
    uint32_t skipped; /* of 1,000 operations, at least */
} row;

/* Of 256 microbatches 8 fill the pipeline and 8 drain it; at the rest of 240, 938 of 1,000, rhythms
 * of several microbatches end earlier. */
static const row rows[] = {
    {"gpipe", 1, false, 940},
    {"1f1b", 1, false, 870},
    {"1f1b_megatron", 1, false, 870},
    {"interleaved", 2, true, 810},
    {"interleaved_megatron", 2, true, 810},
    {"interleaved_zb", 2, true, 810},
    {"zb_h1", 1, false, 940},
    {"zb_1p", 1, false, 940},
    {"zb_h2", 1, false, 880},
    {"zb_2p", 1, false, 880},
    {"zb_v", 2, false, 910},
    {"v_half", 2, false, 760},
    {"v_min", 2, false, 910},
    {"dualpipe", 1, false, 830},
    {"dualpipev", 2, false, 830},
    {"looped_bfs", 2, true, 940},
    {"looped_bfs", 3, true, 940},
};

static void write_scenario(char *text, size_t size, const row *x)
{
    char stages[64] = "";
    if (x->says) {
        snprintf(stages, sizeof stages, ", virtual_stages: %" PRIu32, x->chunks);
    }
    snprintf(text, size,
             "hardware: {gpu: {name: example}}\n"
             "mesh: {axes: {pp: 8}}\n"
             "workload: {stages: [{name: s, repeat: %" PRIu32
             ", forward: 1 ms, backward_input: 1 ms, backward_weight: 1 ms}]}\n"
             "overlap: {pipeline: {schedule: %s, microbatches: 256, alpha: 10 us%s}}\n",
             8 * x->chunks, x->schedule, stages);
}

/* Runs a scenario both ways; `skipped` of 1,000 operations at least. */
static void check_skipped(const char *text, uint32_t skipped)
{
    bench t = {0};
    ovl_timeline skips, whole;
    if (CHECK(lower(&t, text, NULL)) &&
        CHECK(ovl_run(t.p, &(ovl_run_options){0}, &t.arena, &skips, &t.errs)) &&
        CHECK(ovl_run(t.p, &(ovl_run_options){.no_skip = true}, &t.arena, &whole, &t.errs))) {
        CHECK(1000 * skips.counters.skipped / t.p->n_ops >= skipped);
        CHECK_INT(whole.counters.skipped, 0);
        CHECK(memcmp(skips.end, whole.end, t.p->n_ops * sizeof *whole.end) == 0);
        CHECK(memcmp(skips.ranks, whole.ranks, t.p->n_ranks * sizeof *whole.ranks) == 0);
    }
    finish(&t);
}

static void most_of_every_schedule_is_skipped(void)
{
    char text[512];
    for (uint32_t i = 0; i < OVL_COUNT(rows); i++) {
        write_scenario(text, sizeof text, &rows[i]);
        check_skipped(text, rows[i].skipped);
    }
}

/* Every forward and backward needs the parameters that are gathered before the first: of 256
 * microbatches on 4 ranks 8 fill and drain the pipeline. */
static void parameters_gathered_once_are_no_hindrance(void)
{
    check_skipped("hardware: {gpu: {name: example}, collectives: [{op: all_gather, alpha: 1 ms}, "
                  "{op: reduce_scatter, alpha: 1 ms}]}\n"
                  "mesh: {axes: {pp: 4, dp: 2}}\n"
                  "workload: {stages: [{name: s, repeat: 4, params: 1 GB, forward: 1 ms, "
                  "backward: 2 ms}]}\n"
                  "overlap: {pipeline: {schedule: 1f1b, microbatches: 256, alpha: 10 us, "
                  "data_parallel: {group: dp, sharded: true}}}\n",
                  930);
}

/* A wave goes through 16 ranks: 15 microbatches take 3.02 ms, the next one 3. Of 512 those from the
 * 47th on or so may be skipped, 16 at a time. */
static void a_wave_of_many_microbatches_is_seen(void)
{
    check_skipped("hardware: {gpu: {name: example}}\n"
                  "mesh: {axes: {pp: 16}}\n"
                  "workload: {stages: [{name: s, repeat: 16, forward: 1 ms, backward: 2 ms}]}\n"
                  "overlap: {pipeline: {schedule: 1f1b, microbatches: 512, alpha: 10 us}}\n",
                  870);
}

static CU_TestInfo tests[] = {
    {"most of every schedule is skipped", most_of_every_schedule_is_skipped},
    {"parameters gathered once are no hindrance", parameters_gathered_once_are_no_hindrance},
    {"a wave of many microbatches is seen", a_wave_of_many_microbatches_is_seen},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("what recurs of pipelines", tests);
}
