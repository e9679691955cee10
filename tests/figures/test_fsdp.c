/*
 * The answers of the FSDP scenarios. Each figure stands in the comment of its scenario.
 */
#include "tests/figures/figure.h"
#include "tests/support/check.h"

#include <string.h>

#define DEPTH      "scenarios/fsdp/prefetch_depth.yaml"
#define ONE        "scenarios/fsdp/one_communicator.yaml"
#define ACCUMULATE "scenarios/fsdp/accumulation.yaml"
#define NODE       "scenarios/fsdp/second_node.yaml"
#define LIMIT      "scenarios/fsdp/rate_limit.yaml"
#define HOST       "scenarios/fsdp/host_bound.yaml"
#define MIB        ((uint64_t)1 << 20)

static figure run(const char *path, const char *variant)
{
    figure f = figure_run_quick(path, variant, NULL, NULL);
    CHECK(f.good);
    CHECK_INT(f.result.n_hazards, 0);
    CHECK(f.result.gradient_scale != NULL);
    return f;
}

static ovl_time step_of(const char *path, const char *variant)
{
    figure f = run(path, variant);
    ovl_time step = f.result.step;
    figure_free(&f);
    return step;
}

/* Whether a time is within so many per mille of milliseconds measured. */
static bool near(ovl_time time, double ms, int per_mille)
{
    double off = ((double)time / OVL_MS - ms) / ms * 1000;
    return off <= per_mille && off >= -per_mille;
}

/* --- Prefetch depth --- */

static void depth_against_what_was_measured(void)
{
    CHECK(near(step_of(DEPTH, NULL), 658, 50));
    CHECK(near(step_of(DEPTH, "ahead"), 544, 50));
    CHECK(near(step_of(DEPTH, "hybrid"), 1028, 50));
    CHECK(near(step_of(DEPTH, "hybrid_ahead"), 790, 50));
    CHECK(near(step_of(DEPTH, NULL), 666.6, 1));
    CHECK(near(step_of(DEPTH, "ahead"), 518.4, 1));
    CHECK(near(step_of(DEPTH, "hybrid"), 1062.5, 1));
    CHECK(near(step_of(DEPTH, "hybrid_ahead"), 782.7, 1));
}

/* A second layer ahead costs as much memory as the first (384 MiB) and gains at most a gather. */
static void depth_two_does_not_remove_what_exceeds_compute(void)
{
    static const char *const backward[] = {
        "overlap.fsdp.prefetch.backward=none", "overlap.fsdp.prefetch.backward=1",
        "overlap.fsdp.prefetch.backward=2", "overlap.fsdp.prefetch.backward=3"};
    uint64_t peak[4];
    for (int i = 0; i < 4; i++) {
        figure f = figure_run_quick(DEPTH, "ahead", backward[i], NULL);
        peak[i] = f.result.ranks[0].allocated_peak;
        figure_free(&f);
    }
    for (int i = 1; i < 4; i++) {
        CHECK_INT(peak[i] - peak[i - 1], 384 * MIB);
    }
    ovl_time one = step_of(DEPTH, "hybrid_ahead"), two = step_of(DEPTH, "hybrid_two");
    CHECK(near(two, 778.0, 1));
    CHECK(one - two < 5 * OVL_MS);
}

/* --- One communicator --- */

/* (T(24) - T(12)) / 12 */
static ovl_time per_layer(const char *variant, const char *backward)
{
    figure few = figure_run_quick(ONE, variant, "params.L=12", backward);
    figure many = figure_run_quick(ONE, variant, "params.L=24", backward);
    CHECK_INT(many.result.n_hazards, 0);
    ovl_time time = (many.result.step - few.result.step) / 12;
    figure_free(&few);
    figure_free(&many);
    return time;
}

static void one_communicator_or_two(void)
{
    static const char *const variants[] = {NULL, "prefetch", "two", "one_link"};
    static const int long_layers[] = {19, 10, 10, 10}, short_layers[] = {15, 9, 6, 9};
    for (int i = 0; i < 4; i++) {
        CHECK_INT(per_layer(variants[i], NULL), long_layers[i] * OVL_MS);
        CHECK_INT(per_layer(variants[i], "params.B=6ms"), short_layers[i] * OVL_MS);
    }
    CHECK_INT(step_of(ONE, "prefetch"), 129 * OVL_MS); /* 10 L + 9 */
}

/* --- Accumulation --- */

/* 4 x 22.2 and 3 x 10.8 + 22.2 s. */
static void deferring_the_all_reduce_costs_no_memory(void)
{
    figure every = run(ACCUMULATE, NULL), last = run(ACCUMULATE, "last");
    CHECK(near(every.result.step, 88800, 1));
    CHECK(near(last.result.step, 54600, 1));
    const ovl_result_rank *a = &every.result.ranks[0], *b = &last.result.ranks[0];
    CHECK_INT(a->allocated_peak, b->allocated_peak);
    CHECK_INT(a->reserved_peak, b->reserved_peak);
    CHECK_INT(a->live_peak, b->live_peak);
    figure_free(&every);
    figure_free(&last);
}

/* Whole gradients in f32: 2 GiB a block instead of one block's bf16 at a time. */
static void deferring_the_reduce_scatter_costs_whole_gradients(void)
{
    figure every = run(ACCUMULATE, NULL), whole = run(ACCUMULATE, "whole");
    CHECK(near(whole.result.step, 54600, 1));
    CHECK(whole.result.ranks[0].allocated_peak - every.result.ranks[0].allocated_peak >
          26 * 1024 * MIB);
    figure_free(&every);
    figure_free(&whole);
}

/* --- A second node --- */

static bool says(const figure *f, const char *part)
{
    for (uint32_t i = 0; i < f->lowered.n_not_modelled; i++) {
        if (strstr(f->lowered.not_modelled[i], part)) {
            return true;
        }
    }
    return false;
}

static void a_second_node_slows_full_sharding(void)
{
    /* from the least to the most tokens a second */
    static const struct {
        const char *variant;
        int gpus;
        double ms;
    } order[] = {{"two", 2, 464.5},       {"four", 4, 456.0}, {"full_24", 24, 1555.6},
                 {"full_16", 16, 977.5},  {NULL, 8, 450.3},   {"hybrid_16", 16, 550.3},
                 {"hybrid_24", 24, 691.7}};
    double last = 0, rate[7];
    for (int i = 0; i < 7; i++) {
        ovl_time step = step_of(NODE, order[i].variant);
        rate[i] = order[i].gpus * 2048 / ((double)step / OVL_MS / 1000);
        CHECK(near(step, order[i].ms, 1));
        CHECK(rate[i] > last);
        last = rate[i];
    }
    CHECK(near((ovl_time)(rate[5] / rate[3] * OVL_MS), 1.78, 5));
    CHECK(near((ovl_time)(rate[6] / rate[2] * OVL_MS), 2.25, 5));
}

static void the_effective_rate_is_a_few_percent_of_nominal(void)
{
    figure f = run(NODE, "full_16");
    CHECK(says(&f, "The effective rate of all_gather in shard between nodes is 21.5 GB/s into each "
                   "node, 5.4 % of the 400 GB/s of ib: check it"));
    figure_free(&f);
    f = run(NODE, NULL);
    CHECK(!says(&f, "effective rate"));
    figure_free(&f);
}

/* --- A host-bound step --- */

static void a_slower_host_until_the_crossover(void)
{
    CHECK(near(step_of(HOST, NULL), 406.34, 1));
    CHECK(near(step_of(HOST, "slow"), 637.73, 1));
    CHECK(near(step_of(HOST, "slow_150"), 637.73, 10)); /* within 1 % of slow */
    CHECK(near(step_of(HOST, "slow_200"), 817, 10));
    figure f = figure_run(HOST, "slow", NULL, NULL);
    CHECK(f.result.host.bound);
    CHECK_INT(f.result.host.kernels, 1573); /* thousandths */
    figure_free(&f);
    f = figure_run(HOST, NULL, NULL, NULL);
    CHECK(!f.result.host.bound);
    figure_free(&f);
}

/* --- The limiter --- */

/* Units of 256 MiB allocated, or freed and still in use, beside shards of parameters and gradients
 * (a 64th each). */
static uint64_t units_of(const figure *f, int layers)
{
    uint64_t unit = 256 * MIB;
    return (f->result.ranks[0].active_peak - (uint64_t)layers * 2 * unit / 64) / unit;
}

static void unlimited_memory_grows_with_the_layers(void)
{
    static const char *const set[] = {"params.L=12", "params.L=24", "params.L=48"};
    static const struct {
        const char *variant;
        uint64_t units[3];
    } want[] = {{NULL, {36, 72, 144}},
                {"two", {5, 5, 5}},
                {"needed", {5, 5, 5}},
                {"pre_two", {6, 6, 6}},
                {"pre_needed", {7, 7, 7}}};
    for (int k = 0; k < 3; k++) {
        ovl_time base = 0;
        for (int i = 0; i < 5; i++) {
            figure f = figure_run_quick(LIMIT, want[i].variant, set[k], NULL);
            CHECK_INT(units_of(&f, 12 << k), want[i].units[k]);
            CHECK_INT(f.result.n_hazards, 0);
            base = i == 0 ? f.result.step : base;
            CHECK(near(f.result.step, (double)base / OVL_MS, 10));
            figure_free(&f);
        }
    }
}

static CU_TestInfo tests[] = {
    {"prefetch depth against what was measured", depth_against_what_was_measured},
    {"depth two does not remove what exceeds compute",
     depth_two_does_not_remove_what_exceeds_compute},
    {"one communicator or two", one_communicator_or_two},
    {"deferring the all-reduce costs no memory", deferring_the_all_reduce_costs_no_memory},
    {"deferring the reduce-scatter costs whole gradients",
     deferring_the_reduce_scatter_costs_whole_gradients},
    {"a second node slows full sharding", a_second_node_slows_full_sharding},
    {"the effective rate is a few percent of nominal",
     the_effective_rate_is_a_few_percent_of_nominal},
    {"unlimited memory grows with the layers", unlimited_memory_grows_with_the_layers},
    {"a slower host until the crossover", a_slower_host_until_the_crossover},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("fsdp scenarios", tests);
}
