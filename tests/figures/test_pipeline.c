/*
 * The answers of the pipeline scenarios. Each figure stands in the comment of its scenario.
 */
#include "tests/figures/figure.h"
#include "tests/support/check.h"

#include <stdio.h>

#define EARLY "scenarios/pipeline/early_receive.yaml"
#define WHICH "scenarios/pipeline/which_schedule.yaml"
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
    } want[] = {{NULL, 1638, 16256},
                {"interleaved", 1386, 18048},
                {"zb_v", 1393, 17280},
                {"zb_h2", 1442, 28800},
                {"zb_2p", 1442, 30592}};
    for (size_t i = 0; i < OVL_COUNT(want); i++) {
        figure f = figure_run_quick(WHICH, want[i].variant, NULL, NULL);
        CHECK_INT(f.result.step, want[i].step * OVL_MS);
        CHECK_INT(idle_of(&f), (want[i].step - 1344) * OVL_MS);
        CHECK_INT(peak_of(&f), want[i].peak * MIB);
        CHECK_INT(f.result.n_hazards, 0);
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

static CU_TestInfo tests[] = {
    {"an early receive holds up sends: 1 + 7k instead of 1 + k", an_early_receive_holds_up_sends},
    {"which schedule, and what it costs in memory", which_schedule_and_what_it_costs_in_memory},
    {"with many microbatches the difference vanishes",
     with_many_microbatches_the_difference_vanishes},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("pipeline scenarios", tests);
}
