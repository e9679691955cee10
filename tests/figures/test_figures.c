/*
 * The answers of the shipped scenarios. Each figure stands in the comment of its scenario, with the
 * reasoning.
 */
#include "tests/figures/figure.h"
#include "tests/support/check.h"

#define MATMUL "scenarios/first_steps/matmul_allreduce.yaml"
#define HIDDEN "scenarios/first_steps/interference.yaml"
#define LAST   "scenarios/buckets/last_bucket.yaml"
#define ONE    "scenarios/buckets/one_communicator.yaml"
#define SMALL  "scenarios/buckets/small_buckets.yaml"
#define HBM    "scenarios/contention/hbm_share.yaml"

#define RANKS "scenarios/replay/two_ranks.yaml"

static ovl_time ms(double value)
{
    return (ovl_time)(value * (double)OVL_MS + 0.5);
}

static ovl_time step(const char *path, const char *variant, const char *set1, const char *set2)
{
    figure f = figure_run(path, variant, set1, set2);
    ovl_time t = f.good ? f.result.step : -1;
    figure_free(&f);
    return t;
}

/* --- Steps that follow each other --- */

/* The table of the scenario: first step, step. */
static void gathers_under_the_next_forward(void)
{
    const struct {
        const char *variant;
        int first, step;
    } rows[] = {{NULL, 81, 97}, {"overlap", 83, 83}, {"slow", 81, 113}, {"slow_overlap", 92, 92}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        figure f = figure_run("scenarios/buckets/gather_overlap.yaml", rows[i].variant, NULL, NULL);
        CHECK_INT(f.result.n_steps, 3);
        CHECK_INT(f.result.step_times[0], ms(rows[i].first));
        CHECK_INT(f.result.step, ms(rows[i].step));
        CHECK(ovl_result_converged(&f.result));
        CHECK_INT(f.result.n_hazards, 0);
        figure_free(&f);
    }
}

/* --- First steps --- */

static void a_serial_matmul_and_all_reduce_take_45(void)
{
    CHECK_INT(step(MATMUL, NULL, NULL, NULL), ms(45));
}

static void overlapped_they_take_33_and_the_sum_proves_it(void)
{
    figure f = figure_run(MATMUL, "overlapped", NULL, NULL);
    const ovl_result *r = &f.result;
    CHECK_INT(r->step, ms(33));
    CHECK_INT(r->term[OVL_COMPUTE], ms(25));
    CHECK_INT(r->term[OVL_COMPUTE_STRETCH], ms(4));
    CHECK_INT(r->term[OVL_COMM_TRANSFER], ms(4));
    CHECK_INT(r->without_interference, ms(25));
    const ovl_result_collective *c = figure_collective(&f, "all_reduce");
    CHECK_INT(c->u_path, ms(29)); /* the matmul ends */
    CHECK_INT(c->exposed, ms(4));
    CHECK_INT(c->u_variant, ms(25));
    CHECK_INT(c->interference, ms(4));
    CHECK_TEXT(c->consumer, "use");
    CHECK(r->equation.present);
    CHECK_INT(r->equation.u_path + r->equation.exposed + r->equation.after, ms(33));
    CHECK_INT(r->equation.u_variant, ms(25));
    figure_free(&f);
}

static void a_tail_is_what_compute_does_not_cover(void)
{
    figure f = figure_run(MATMUL, "tail_25", NULL, NULL);
    CHECK_INT(figure_collective(&f, "all_reduce")->exposed, 0);
    CHECK_INT(figure_collective(&f, "all_reduce")->slack, ms(5));
    figure_free(&f);
    f = figure_run(MATMUL, "tail_16", NULL, NULL);
    CHECK_INT(figure_collective(&f, "all_reduce")->exposed, ms(4));
    CHECK_INT(f.result.step, ms(20));
    figure_free(&f);
}

static void interference_without_a_tail_is_counted_once(void)
{
    figure f = figure_run(HIDDEN, NULL, NULL, NULL);
    const ovl_result_collective *c = figure_collective(&f, "all_reduce");
    CHECK_INT(f.result.step, ms(30));
    CHECK_INT(c->end, ms(26));
    CHECK_INT(c->exposed, 0);
    CHECK_INT(c->interference, ms(5));
    CHECK_INT(c->worth, ms(5));
    CHECK_INT(f.result.term[OVL_COMPUTE], ms(25));
    CHECK_INT(f.result.term[OVL_COMPUTE_STRETCH], ms(5));
    figure_free(&f);
}

/* --- The last bucket --- */

typedef struct split {
    const char *variant, *last;
    double measured, none, u_path, exposed;
} split;

static void the_last_bucket_and_its_splits(void)
{
    static const split splits[] = {
        {NULL, "bucket 0", 217, 217, 210, 7},
        {"split_80_16", "bucket 1", 213, 212, 211, 2},
        {"split_48", "bucket 1", 214.6, 214, 210.6, 4},
        {"late_alone", "bucket 1", 212.4, 211.25, 211.15, 1.25},
    };
    for (size_t i = 0; i < OVL_COUNT(splits); i++) {
        const split *s = &splits[i];
        figure f = figure_run(LAST, s->variant, NULL, NULL);
        CHECK_INT(f.result.step, ms(s->measured));
        const ovl_result_collective *c = figure_collective(&f, s->last);
        CHECK_INT(c->u_path, ms(s->u_path));
        CHECK_INT(c->exposed, ms(s->exposed));
        CHECK_INT(f.result.equation.u_path, ms(s->u_path));
        CHECK_INT(f.result.equation.exposed, ms(s->exposed));
        CHECK_INT(f.result.equation.after, 0);
        CHECK_INT(f.result.n_hazards, 0);
        CHECK(f.result.hazards_checked);
        CHECK_INT(f.result.gradients_proved, 7 * 8);
        CHECK_TEXT(f.result.gradient_scale, "1/8");
        figure_free(&f);
        CHECK_INT(step(LAST, s->variant, "interference=none", NULL), ms(s->none));
    }
}

static void the_80_mib_transfer_starts_at_202(void)
{
    figure f = figure_run(LAST, "split_80_16", NULL, NULL);
    const ovl_result_collective *c = figure_collective(&f, "bucket 0");
    CHECK_INT(c->bytes, 80u << 20);
    CHECK_INT(c->start, ms(202));
    CHECK_INT(c->end, ms(208));
    CHECK_INT(c->interference, ms(1));
    figure_free(&f);
}

/* 96 MiB each of parameters, gradients and buckets against 256 MiB: 32 too many. */
static void a_step_that_does_not_fit_says_so(void)
{
    figure f = figure_run(LAST, NULL, "hardware.gpu.memory=256 MiB", NULL);
    CHECK_INT(f.result.reserved_peak, 288u << 20);
    CHECK_INT(ovl_result_over_memory(&f.result), 32u << 20);
    figure_free(&f);
    f = figure_run(LAST, NULL, "hardware.gpu.memory=288 MiB", NULL);
    CHECK_INT(ovl_result_over_memory(&f.result), 0);
    figure_free(&f);
}

/* 96 MiB x 1.75 in 7 ms; 96 MiB x 1.75 in 6.75 + 1.25 ms. */
static void mean_busbw_is_all_bytes_over_all_time(void)
{
    figure one = figure_run(LAST, NULL, NULL, NULL),
           two = figure_run(LAST, "late_alone", NULL, NULL);
    double wire = 96.0 * 1048576 * 1.75;
    CHECK_NEAR(one.result.mean_busbw, wire / 0.007, 1);
    CHECK_NEAR(two.result.mean_busbw, wire / 0.008, 1);
    figure_free(&one);
    figure_free(&two);
}

/* --- Buckets of real models --- */

static void check_buckets(const char *path, const char *set1, const uint64_t *bytes, uint32_t n)
{
    figure f = figure_run(path, NULL, set1, NULL);
    if (CHECK_INT(f.lowered.n_buckets, n)) {
        for (uint32_t i = 0; i < n; i++) {
            CHECK_INT(f.lowered.buckets[i].bytes, bytes[i]);
        }
    }
    figure_free(&f);
}

static void the_buckets_of_resnet(void)
{
    static const uint64_t resnet18[] = {2052000, 28852224, 15853824};
    check_buckets("scenarios/buckets/resnet18_ddp.yaml", NULL, resnet18, 3);
    static const uint64_t resnet50[] = {8196000, 31502336, 26255360, 26550272, 9724160};
    check_buckets("scenarios/buckets/resnet50_ddp.yaml", NULL, resnet50, 5);
}

static void a_bucket_view_saves_one_set_of_gradients(void)
{
    figure copy = figure_run("scenarios/buckets/resnet18_ddp.yaml", NULL, NULL, NULL);
    figure view = figure_run("scenarios/buckets/resnet18_ddp.yaml", "bucket_view", NULL, NULL);
    CHECK_INT(copy.result.ranks[0].allocated_peak - view.result.ranks[0].allocated_peak, 46758048);
    figure_free(&copy);
    figure_free(&view);
}

/* Loss of 1 MiB against 25 MiB buckets, in percent of the step. */
static double loss(const char *big, const char *small)
{
    ovl_time a = step(SMALL, big, NULL, NULL), b = step(SMALL, small, NULL, NULL);
    return 100.0 * (double)(b - a) / (double)a;
}

/* 30 more buckets of 0.06 ms in about 102 ms; 78 more in 420 ms. */
static void small_buckets_lose_less_where_there_is_more_compute_per_byte(void)
{
    double r50 = loss(NULL, "resnet50_1MB"), r50_16 = loss("resnet50_16", "resnet50_16_1MB");
    double rx = loss("resnext101", "resnext101_1MB"),
           rx_16 = loss("resnext101_16", "resnext101_16_1MB");
    CHECK(r50 > 1 && r50 < 5);
    CHECK(r50_16 > 1 && r50_16 < 5);
    CHECK(rx > 0 && rx < 1.5);
    CHECK(rx_16 > 0 && rx_16 < 1.5);
    CHECK(rx < r50 && rx_16 < r50_16);
}

/* --- One communicator --- */

static ovl_time per_layer(const char *variant, const char *b)
{
    return (step(ONE, variant, "params.L=16", b) - step(ONE, variant, "params.L=8", b)) / 8;
}

static void one_communicator_costs_19_10_10_10_and_15_9_6_9(void)
{
    static const char *const variants[] = {NULL, "prefetch", "two_groups", "one_link"};
    static const int want[2][4] = {{19, 10, 10, 10}, {15, 9, 6, 9}};
    for (int i = 0; i < 4; i++) {
        CHECK_INT(per_layer(variants[i], NULL), want[0][i] * OVL_MS);
        CHECK_INT(per_layer(variants[i], "params.B=6 ms"), want[1][i] * OVL_MS);
    }
}

/* --- Contention --- */

static double slowdown(const char *variant)
{
    figure f = figure_run(HBM, variant, NULL, NULL);
    double compute = (double)f.result.term[OVL_COMPUTE];
    double stretched = (double)f.result.term[OVL_COMPUTE_STRETCH];
    figure_free(&f);
    return (compute + stretched) / compute;
}

/* 2000/(2000 - 600), 2000/(2000 - 900); 400 of 2000 GB/s on SMs that are left; 108/92. */
static void a_collective_slows_a_memory_bound_kernel(void)
{
    CHECK_NEAR(slowdown(NULL), 2000.0 / 1400, 1e-6);
    CHECK_NEAR(slowdown("factor_3"), 2000.0 / 1100, 1e-6);
    CHECK_NEAR(slowdown("fits"), 1, 0);
    CHECK_NEAR(slowdown("all_sms"), 108.0 / 92, 1e-6);
}

/* --- Replay of a measured step --- */

static void a_replayed_step_takes_what_was_measured(void)
{
    figure f = figure_run(RANKS, NULL, NULL, NULL);
    CHECK_INT(f.result.step, ms(14));
    CHECK(f.result.replay != NULL);
    CHECK_INT(f.result.replay->measured, ms(14));
    CHECK_INT(f.result.replay->unexplained, 0);
    for (uint32_t r = 0; r < f.result.replay->n_ranks; r++) {
        CHECK_INT(f.result.replay->ranks[r].worst_error, 0);
    }
    CHECK_INT(figure_collective(&f, "all_reduce 1")->wait, ms(1.5));
    figure_free(&f);
}

static void what_ifs_on_a_replayed_step(void)
{
    CHECK_INT(step(RANKS, "link", NULL, NULL), ms(13.2));
    CHECK_INT(step(RANKS, "one_bucket", NULL, NULL), ms(14.8));
    CHECK_INT(step(RANKS, "no_waiting", NULL, NULL), ms(14));
    CHECK_INT(step(RANKS, "backward", NULL, NULL), ms(12.5));
}

static CU_TestInfo tests[] = {
    {"gathers under the next forward", gathers_under_the_next_forward},
    {"a serial matmul and all-reduce take 45 ms", a_serial_matmul_and_all_reduce_take_45},
    {"overlapped they take 33 = 25 + 4 + 4", overlapped_they_take_33_and_the_sum_proves_it},
    {"a tail is what compute does not cover", a_tail_is_what_compute_does_not_cover},
    {"interference without a tail is counted once", interference_without_a_tail_is_counted_once},
    {"the last bucket and its splits", the_last_bucket_and_its_splits},
    {"the 80 MiB transfer starts at 202 ms", the_80_mib_transfer_starts_at_202},
    {"a step that does not fit says so", a_step_that_does_not_fit_says_so},
    {"mean busbw is all bytes over all time", mean_busbw_is_all_bytes_over_all_time},
    {"the buckets of ResNet-18 and ResNet-50", the_buckets_of_resnet},
    {"a bucket view saves one set of gradients", a_bucket_view_saves_one_set_of_gradients},
    {"small buckets lose less with more compute per byte",
     small_buckets_lose_less_where_there_is_more_compute_per_byte},
    {"one communicator: 19, 10, 10, 10 and 15, 9, 6, 9",
     one_communicator_costs_19_10_10_10_and_15_9_6_9},
    {"a collective slows a memory-bound kernel 1.43 to 1.82",
     a_collective_slows_a_memory_bound_kernel},
    {"a replayed step takes what was measured", a_replayed_step_takes_what_was_measured},
    {"what-ifs on a replayed step", what_ifs_on_a_replayed_step},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("figures", tests);
}
