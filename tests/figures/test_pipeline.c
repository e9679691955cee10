/*
 * The answers of the pipeline scenarios. Each figure stands in the comment of its scenario.
 */
#include "tests/figures/figure.h"
#include "tests/support/check.h"

#include <stdio.h>

#define EARLY "scenarios/pipeline/early_receive.yaml"
#define WHICH "scenarios/pipeline/which_schedule.yaml"
#define WHY   "scenarios/pipeline/why_idle.yaml"
#define MIB   ((uint64_t)1 << 20)

/* --- An early receive --- */

/* Microbatch k leaves rank 0 at 1 + step k: then its receive on rank 1 ends. */
static void check_departures(const char *variant, int step, int whole)
{
    figure f = figure_run(EARLY, variant, NULL, NULL);
    for (int k = 0; k < 8; k++) {
        char name[16];
        snprintf(name, sizeof name, "in %d", k);
        CHECK_INT(figure_collective(&f, name)->rank, 1);
        CHECK_INT(figure_collective(&f, name)->end, (1 + step * k) * OVL_MS);
    }
    CHECK_INT(f.result.step, whole * OVL_MS);
    figure_free(&f);
}

static void an_early_receive_holds_up_sends(void)
{
    check_departures(NULL, 7, 58);
    check_departures("moved", 1, 16);
    check_departures("two_groups", 1, 16);
    check_departures("one_stream", 7, 58);
}

/* --- Which schedule --- */

static ovl_time idle_of(const figure *f)
{
    return f->result.step - f->result.term[OVL_COMPUTE];
}

static uint64_t peak_of(const figure *f)
{
    uint64_t peak = 0;
    for (uint32_t i = 0; i < f->result.n_ranks; i++) {
        peak = OVL_MAX(peak, f->result.ranks[i].allocated_peak);
    }
    return peak;
}

static void which_schedule_and_what_it_costs_in_memory(void)
{
    static const struct {
        const char *variant;
        int step;
        uint64_t peak; /* MiB */
        bool splits;   /* then nothing is idle between the first and last kernel of a rank */
    } want[] = {{NULL, 1638, 16256, false},
                {"interleaved", 1386, 18048, false},
                {"zb_v", 1393, 17280, true},
                {"zb_h2", 1442, 28800, true},
                {"zb_2p", 1442, 30592, true}};
    for (size_t i = 0; i < OVL_COUNT(want); i++) {
        figure f = figure_run_quick(WHICH, want[i].variant, NULL, NULL);
        CHECK_INT(f.result.step, want[i].step * OVL_MS);
        CHECK_INT(idle_of(&f), (want[i].step - 1344) * OVL_MS);
        CHECK_INT(peak_of(&f), want[i].peak * MIB);
        CHECK_INT(f.result.n_hazards, 0);
        CHECK_NEAR(f.result.idle.bubble_rate, (want[i].step - 1344) / (double)want[i].step, 1e-12);
        CHECK_NEAR(f.result.idle.span_bubble_rate,
                   want[i].splits ? 0 : (want[i].step - 1344) / (double)want[i].step, 1e-12);
        figure_free(&f);
    }
}

static void with_many_microbatches_the_difference_vanishes(void)
{
    figure f = figure_run_quick(WHICH, "many", NULL, NULL);
    CHECK_INT(f.result.step, 519 * 42 * OVL_MS);
    CHECK_INT(idle_of(&f), 7 * 42 * OVL_MS);
    figure_free(&f);
}

/* --- Why a pipeline idles --- */

static void why_a_pipeline_idles(void)
{
    static const struct {
        const char *variant;
        int step, peeled[OVL_PEEL_COUNT]; /* microseconds, over the four ranks */
    } want[] = {{NULL, 33000, {36000, 0, 0, 0, 0}},
                {"slow", 53000, {45000, 47000, 0, 0, 0}},
                {"hop", 37000, {36000, 0, 16000, 0, 0}},
                {"host", 38900, {36000, 0, 0, 0, 23600}},
                {"all", 55200, {45000, 47000, 6000, 0, 2800}},
                {"more", 57000, {36000, 0, 0, 0, 0}}};
    for (size_t i = 0; i < OVL_COUNT(want); i++) {
        figure f = figure_run_quick(WHY, want[i].variant, NULL, NULL);
        ovl_time sum = 0;
        CHECK_INT(f.result.step, want[i].step * OVL_US);
        for (int k = 0; k < OVL_PEEL_COUNT; k++) {
            CHECK_INT(f.result.idle.peeled[k], want[i].peeled[k] * OVL_US);
            sum += want[i].peeled[k] * OVL_US;
        }
        CHECK_INT(f.result.idle.time, sum);
        figure_free(&f);
    }
}

/* --- A host that is too slow --- */

/* Four operations a microbatch: (4 * 8 - 1) launches of 1 ms, and two backwards of 2; then 27 ms of
 * GPU behind the first launch. */
static void a_pipeline_bound_by_its_host(void)
{
    static const struct {
        const char *variant;
        int step, structural, host; /* microseconds, idle over both ranks */
    } want[] = {
        {NULL, 35000, 6000, 16000}, {"faster", 27500, 6000, 1000}, {"graphs", 27000, 6000, 0}};
    for (size_t i = 0; i < OVL_COUNT(want); i++) {
        figure f =
            figure_run_quick("scenarios/pipeline/host_bound.yaml", want[i].variant, NULL, NULL);
        CHECK_INT(f.result.step, want[i].step * OVL_US);
        CHECK_INT(f.result.idle.time, (want[i].structural + want[i].host) * OVL_US);
        CHECK_INT(f.result.idle.peeled[0], want[i].structural * OVL_US);
        CHECK_INT(f.result.idle.peeled[OVL_PEEL_COUNT - 1], want[i].host * OVL_US);
        figure_free(&f);
    }
}

/* --- Hops in nodes and between them --- */

static void what_hops_cost(void)
{
    static const struct {
        const char *variant;
        int inside, between; /* hops on the longest path */
    } want[] = {{NULL, 6, 4}, {"inside", 10, 0}, {"apart", 0, 10}, {"formula", 6, 4}};
    for (size_t i = 0; i < OVL_COUNT(want); i++) {
        figure f = figure_run_quick("scenarios/pipeline/hops.yaml", want[i].variant, NULL, NULL);
        ovl_time hops = (want[i].inside * 27 + want[i].between * 210) * OVL_US;
        CHECK_INT(f.result.step, 21 * OVL_MS + hops);
        figure_free(&f);
    }
}

/* --- Data parallelism in a pipeline --- */

static void data_parallelism_in_a_pipeline(void)
{
    figure f = figure_run("scenarios/pipeline/data_parallel.yaml", NULL, NULL, NULL);
    CHECK_INT(f.result.step, 16600 * OVL_US);
    CHECK_INT(figure_collective(&f, "reduce 0")->exposed, 1100 * OVL_US);
    CHECK_INT(figure_collective(&f, "reduce 1")->worth, 0);
    CHECK_INT(f.result.gradients_proved, 4);
    CHECK_TEXT(f.result.gradient_scale, "1/8");
    CHECK_INT(f.result.n_hazards, 0);
    figure_free(&f);
    f = figure_run("scenarios/pipeline/data_parallel.yaml", "sharded", NULL, NULL);
    CHECK_INT(f.result.step, 17700 * OVL_US);
    CHECK_INT(figure_collective(&f, "unshard 0")->exposed, 1100 * OVL_US);
    CHECK_INT(f.result.gradients_proved, 4);
    CHECK_TEXT(f.result.gradient_scale, "1/8");
    CHECK_INT(f.result.n_hazards, 0);
    figure_free(&f);
}

static void when_stages_are_gathered_and_reduced(void)
{
    static const struct {
        const char *variant;
        int step;      /* microseconds */
        uint64_t peak; /* MiB */
    } want[] = {{"sharded", 17700, 520},
                {"parts", 15850, 420},
                {"forward", 17700, 620},
                {"always", 18000, 620},
                {"waiting", 25400, 520}};
    for (size_t i = 0; i < OVL_COUNT(want); i++) {
        figure f =
            figure_run_quick("scenarios/pipeline/data_parallel.yaml", want[i].variant, NULL, NULL);
        CHECK_INT(f.result.step, want[i].step * OVL_US);
        CHECK_INT(peak_of(&f), want[i].peak * MIB);
        CHECK_INT(f.result.n_hazards, 0);
        CHECK_TEXT(f.result.gradient_scale, "1/8");
        figure_free(&f);
    }
}

/* The labels of the early receive: what it adds is dependency, and the receive is named. */
static void the_early_receive_is_named(void)
{
    figure f = figure_run_quick(EARLY, NULL, NULL, NULL);
    for (uint32_t i = 0; i < f.result.n_ranks; i++) {
        const ovl_result_rank *r = &f.result.ranks[i];
        CHECK_INT(r->idle[OVL_IDLE_DEPENDENCY], 42 * OVL_MS);
        CHECK_INT(r->idle[OVL_IDLE_FILL] + r->idle[OVL_IDLE_DRAIN], i == 0 ? 0 : 8 * OVL_MS);
        CHECK_INT(r->n_blames, 1);
        CHECK_HAS(r->blames[0].text, "receive stage 8 in ");
        CHECK_HAS(r->blames[0].text, "on rank 0 holds up what is behind it");
    }
    figure_free(&f);
    f = figure_run_quick(EARLY, "two_groups", NULL, NULL);
    CHECK_INT(f.result.idle.piece[OVL_IDLE_DEPENDENCY], 0);
    figure_free(&f);
}

static CU_TestInfo tests[] = {
    {"an early receive holds up sends: 1 + 7k instead of 1 + k", an_early_receive_holds_up_sends},
    {"which schedule, and what it costs in memory", which_schedule_and_what_it_costs_in_memory},
    {"with many microbatches the difference vanishes",
     with_many_microbatches_the_difference_vanishes},
    {"why a pipeline idles", why_a_pipeline_idles},
    {"the early receive is named", the_early_receive_is_named},
    {"a pipeline bound by its host", a_pipeline_bound_by_its_host},
    {"what hops cost, in nodes and between them", what_hops_cost},
    {"data parallelism in a pipeline", data_parallelism_in_a_pipeline},
    {"when stages are gathered and reduced", when_stages_are_gathered_and_reduced},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("pipeline scenarios", tests);
}
