#include "models/statistics.h"
#include "models/vary.h"
#include "tests/support/lowering.h"

#include <math.h>

/* --- Laws --- */

#define GRID 20000

/* Mean and coefficient of variation of a law, by its inverse CDF at the middles of equal shares. */
static void moments(const ovl_distribution *d, double *mean, double *cv)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < GRID; i++) {
        double x = ovl_draw(d, (i + 0.5) / GRID);
        sum += x;
        squares += x * x;
    }
    *mean = sum / GRID;
    *cv = sqrt(squares / GRID - *mean * *mean) / *mean;
}

static void laws_have_the_mean_and_cv_they_were_given(void)
{
    for (int kind = OVL_DRAW_LOGNORMAL; kind <= OVL_DRAW_UNIFORM; kind++) {
        ovl_distribution d = ovl_distribution_of_mean((ovl_draw_kind)kind, 4, 0.25);
        double mean, cv;
        moments(&d, &mean, &cv);
        CHECK_NEAR(mean, 4, 0.004);
        CHECK_NEAR(cv, 0.25, 0.001);
    }
    ovl_distribution constant = ovl_distribution_of_mean(OVL_DRAW_GAMMA, 4, 0);
    CHECK(ovl_draw(&constant, 0.9) == 4);
}

static void laws_have_the_percentiles_they_were_given(void)
{
    for (int kind = OVL_DRAW_LOGNORMAL; kind <= OVL_DRAW_UNIFORM; kind++) {
        ovl_distribution d = ovl_distribution_of_percentiles((ovl_draw_kind)kind, 10, 15);
        CHECK_NEAR(ovl_draw(&d, 0.5), 10, 1e-6);
        CHECK_NEAR(ovl_draw(&d, 0.95), 15, 1e-6);
    }
}

/* The median of a lognormal law of mean 1 and cv 0.5 is 1 / sqrt(1.25) = 0.894427. A normal law of
 * cv 1 would be negative at 1 %: it is cut off. */
static void laws_by_hand(void)
{
    ovl_distribution d = ovl_distribution_of_mean(OVL_DRAW_LOGNORMAL, 1, 0.5);
    CHECK_NEAR(ovl_draw(&d, 0.5), 0.894427, 1e-6);
    d = ovl_distribution_of_mean(OVL_DRAW_NORMAL, 1, 1);
    CHECK(ovl_draw(&d, 0.01) == 0);
}

/* --- Statistics --- */

/* In header statistics.h: mean 4, s = sqrt((9 + 4 + 1 + 0 + 36) / 4) = 3.5355, t(0.975, 4) =
 * 2.7764; half width 2.7764 * 3.5355 / sqrt(5) = 4.3899. Nearest rank: p75 is the 4th of 5. */
static void statistics_by_hand(void)
{
    const ovl_time times[] = {10 * OVL_MS, 1 * OVL_MS, 3 * OVL_MS, 2 * OVL_MS, 4 * OVL_MS};
    ovl_statistics s = ovl_statistics_of(times, 5);
    CHECK_INT(s.mean, 4 * OVL_MS);
    CHECK_INT(s.p5, 1 * OVL_MS);
    CHECK_INT(s.p50, 3 * OVL_MS);
    CHECK_INT(s.p75, 4 * OVL_MS);
    CHECK_INT(s.p95, 10 * OVL_MS);
    CHECK_NEAR((double)s.low / OVL_MS, -0.3899, 0.0001);
    CHECK_NEAR((double)s.high / OVL_MS, 8.3899, 0.0001);
}

/* As numpy.quantile, rounded down: of {1, 2, 4, 9} the median is (2 + 4) / 2, the ninth tenth lies
 * 0.7 of the way from 4 to 9 (7.5). The two ends of 64 bits are 2^64 - 1 apart; their mean is -0.5.
 */
static void quantiles_by_hand(void)
{
    int64_t values[] = {9, 1, 4, 2}, ends[] = {INT64_MAX, INT64_MIN}, one[] = {7};
    CHECK_INT(ovl_median(values, 4), 3);
    CHECK_INT(ovl_quantile(values, 4, 9, 10), 7);
    CHECK_INT(ovl_quantile(values, 4, 0, 10), 1);
    CHECK_INT(ovl_quantile(values, 4, 10, 10), 9);
    CHECK_INT(ovl_median(values, 3), 2);
    CHECK_INT(ovl_median(ends, 2), -1);
    CHECK_INT(ovl_median(one, 1), 7);
    CHECK_INT(ovl_quantile(one, 1, 9, 10), 7);
}

/* --- Trials --- */

#define STEP                                                                                       \
    "mesh: {axes: {dp: 4}}\n"                                                                      \
    "hardware: {host: {launch: 10 us}}\n"                                                          \
    "workload:\n  ops:\n"
#define KERNELS                                                                                    \
    "    - {kernel: a, duration: 5 ms}\n"                                                          \
    "    - {kernel: b, duration: [1 ms, 2 ms, 3 ms, 4 ms]}\n"                                      \
    "    - {collective: r, op: all_reduce, bytes: 8 MiB, duration: 2 ms, after: b}\n"

static ovl_time work_of(const bench *t, const ovl_program *p, uint32_t rank, const char *name)
{
    uint32_t local = find_op(t, rank, name);
    return ovl_op_cost(p, rank, ovl_code_op(&p->codes[p->ranks[rank].code], local))->work;
}

static ovl_program trial_of(bench *t, uint64_t seed, uint64_t trial)
{
    ovl_vary vary;
    ovl_vary_prepare(&vary, t->p, &t->scenario.variation, t->lowered.laws, seed, &t->arena);
    return ovl_vary_trial(&vary, trial, &t->arena);
}

static void ranks_draw_apart_and_members_of_a_collective_together(void)
{
    bench t = {0};
    CHECK(lower(&t, STEP KERNELS "variation: {kernels: {cv: 10 %}, collectives: {cv: 10 %}}\n",
                NULL));
    ovl_program p = trial_of(&t, 1, 0), next = trial_of(&t, 1, 1), other = trial_of(&t, 2, 0);
    CHECK(work_of(&t, &p, 0, "a") != work_of(&t, &p, 1, "a"));
    CHECK(work_of(&t, &p, 0, "a") != work_of(&t, &next, 0, "a"));
    CHECK(work_of(&t, &p, 0, "a") != work_of(&t, &other, 0, "a"));
    CHECK_INT(work_of(&t, &p, 0, "r"), work_of(&t, &p, 3, "r"));
    CHECK(work_of(&t, &p, 0, "r") != 2 * OVL_MS);
    CHECK_INT(work_of(&t, t.p, 0, "a"), 5 * OVL_MS); /* the program itself is as it was */
    finish(&t);
}

/* b takes 1, 2, 3 and 4 ms: only a varies, so they stay. */
static void durations_of_ranks_stay_where_nothing_varies(void)
{
    bench t = {0};
    CHECK(lower(&t, STEP KERNELS "variation: {ops: [{op: a, cv: 10 %}]}\n", NULL));
    ovl_program p = trial_of(&t, 1, 0);
    for (uint32_t rank = 0; rank < 4; rank++) {
        CHECK_INT(work_of(&t, &p, rank, "b"), (rank + 1) * OVL_MS);
        CHECK_INT(work_of(&t, &p, rank, "r"), 2 * OVL_MS);
    }
    CHECK(work_of(&t, &p, 2, "a") != 5 * OVL_MS);
    finish(&t);
}

/* Another kernel before them, another collective: a, and the second a, draw what they drew. */
static void a_changed_schedule_keeps_the_draws_of_what_it_kept(void)
{
    bench t = {0}, u = {0};
    CHECK(lower(&t, STEP KERNELS "variation: {kernels: {cv: 10 %}}\n", NULL));
    CHECK(lower(&u,
                STEP "    - {kernel: new, duration: 7 ms}\n" KERNELS
                     "    - {kernel: a, duration: 5 ms}\n"
                     "variation: {kernels: {cv: 10 %}}\n",
                NULL));
    ovl_program p = trial_of(&t, 1, 6), q = trial_of(&u, 1, 6);
    CHECK_INT(ovl_op_cost(&p, 2, ovl_code_op(&p.codes[p.ranks[2].code], 0))->work,
              ovl_op_cost(&q, 2, ovl_code_op(&q.codes[q.ranks[2].code], 1))->work);
    CHECK_INT(work_of(&t, &p, 3, "b"), work_of(&u, &q, 3, "b"));
    CHECK(work_of(&u, &q, 2, "a") != work_of(&t, &p, 2, "a")); /* the second of its name */
    finish(&t);
    finish(&u);
}

/* In the mean of many trials a kernel of 5 ms takes 5 ms, with cv 10 %: sd of the mean of 4 x 500
 * draws is 5 * 0.1 / sqrt(2000) = 0.011 ms. A stated mean of 8 ms replaces the duration. */
static void means_are_kept_or_replaced(void)
{
    bench t = {0};
    CHECK(lower(&t,
                STEP KERNELS "variation: {kernels: {cv: 10 %}, ops: [{op: 'b*', mean: 8 ms}]}\n",
                NULL));
    double sum = 0;
    for (uint64_t trial = 0; trial < 500; trial++) {
        ovl_program p = trial_of(&t, 1, trial);
        for (uint32_t rank = 0; rank < 4; rank++) {
            sum += (double)work_of(&t, &p, rank, "a") / OVL_MS;
            CHECK_INT(work_of(&t, &p, rank, "b"), 8 * OVL_MS);
        }
    }
    CHECK_NEAR(sum / 2000, 5, 0.05);
    finish(&t);
}

static void launches_vary_with_the_host(void)
{
    bench t = {0};
    CHECK(lower(&t, STEP KERNELS "variation: {host: {cv: 10 %}}\n", NULL));
    ovl_program p = trial_of(&t, 1, 0);
    ovl_time first = ovl_code_op(&p.codes[p.ranks[0].code], 0)->launch;
    CHECK(first != 10 * OVL_US);
    CHECK(first > 5 * OVL_US && first < 20 * OVL_US);
    CHECK(first != ovl_code_op(&p.codes[p.ranks[1].code], 0)->launch);
    CHECK_INT(work_of(&t, &p, 1, "b"), 2 * OVL_MS);
    finish(&t);
}

/* Of a period of 5 steps each rank pauses once, whatever its phase; aligned ones together. */
static void ranks_pause_once_a_period(void)
{
    for (int aligned = 0; aligned < 2; aligned++) {
        bench t = {0};
        CHECK(lower(&t, STEP KERNELS "variation: {pauses: {period: 5, length: 3 ms}}\n",
                    aligned ? "variation.pauses.phase=aligned" : NULL));
        CHECK_INT(work_of(&t, t.p, 0, OVL_PAUSE_NAME), 0);
        CHECK_INT(find_op(&t, 0, OVL_PAUSE_NAME), 0);
        for (uint64_t period = 0; period < 3; period++) {
            int together = 0, all = 0;
            for (uint64_t trial = 5 * period; trial < 5 * period + 5; trial++) {
                ovl_program p = trial_of(&t, 1, trial);
                int n = 0;
                for (uint32_t rank = 0; rank < 4; rank++) {
                    n += work_of(&t, &p, rank, OVL_PAUSE_NAME) == 3 * OVL_MS;
                }
                all += n;
                together += n == 4;
            }
            CHECK_INT(all, 4);
            CHECK_INT(together, aligned);
        }
        finish(&t);
    }
}

/* Where a duration says how it varies, it draws what `variation` by name draws; by name counts
 * before it, and it before the kind. p50 of 4 ms is the stated duration. */
static void a_duration_that_varies_draws_as_one_of_that_name(void)
{
    bench t = {0}, u = {0};
    CHECK(lower(&t,
                STEP "    - {kernel: a, duration: {mean: 5 ms, cv: 10 %}}\n"
                     "    - {kernel: b, duration: {p50: 4 ms, p95: 6 ms}}\n"
                     "    - {kernel: c, duration: {mean: 5 ms, cv: 10 %}}\n"
                     "    - {collective: r, op: all_reduce, bytes: 8 MiB, duration: {mean: 2 "
                     "ms, cv: 20 %, distribution: gamma}}\n"
                     "variation: {kernels: {cv: 50 %}, ops: [{op: c, mean: 7 ms}]}\n",
                NULL));
    CHECK(lower(&u,
                STEP "    - {kernel: a, duration: 5 ms}\n"
                     "    - {kernel: b, duration: 4 ms}\n"
                     "    - {kernel: c, duration: 5 ms}\n"
                     "    - {collective: r, op: all_reduce, bytes: 8 MiB, duration: 2 ms}\n"
                     "variation: {ops: [{op: a, cv: 10 %}, {op: c, mean: 7 ms}, {op: r, cv: "
                     "20 %, distribution: gamma}]}\n",
                NULL));
    ovl_program p = trial_of(&t, 1, 3), q = trial_of(&u, 1, 3);
    for (uint32_t rank = 0; rank < 4; rank++) {
        CHECK(work_of(&t, &p, rank, "a") != 5 * OVL_MS);
        CHECK_INT(work_of(&t, &p, rank, "a"), work_of(&u, &q, rank, "a"));
        CHECK_INT(work_of(&t, &p, rank, "r"), work_of(&u, &q, rank, "r"));
        CHECK_INT(work_of(&t, &p, rank, "c"), 7 * OVL_MS);
    }
    CHECK_INT(work_of(&t, t.p, 0, "b"), 4 * OVL_MS);
    uint32_t above = 0;
    for (uint64_t trial = 0; trial < 500; trial++) {
        ovl_program other = trial_of(&t, 1, trial);
        for (uint32_t rank = 0; rank < 4; rank++) {
            above += work_of(&t, &other, rank, "b") > 6 * OVL_MS;
        }
    }
    CHECK(above > 60 && above < 145); /* 5 % of 2,000, give or take four standard deviations */
    finish(&t);
    finish(&u);
}

static ovl_time step_of_trial(bench *t, uint64_t trial)
{
    ovl_program p = trial_of(t, 1, trial);
    ovl_run_options options = {.interference = OVL_INTERFERENCE_NONE};
    ovl_timeline line = {0};
    CHECK(ovl_run(&p, &options, &t->arena, &line, &t->errs));
    return line.step;
}

/* One rank; launches take 1 ms: of a at 0..1, of b at 1..2, of c at 2..3; kernels of 2 ms end at 3,
 * 5 and 7. A pause of 10 ms from 1.5 ms on comes before the launch of c, at 2: c is launched at
 * 12..13 and ends at 15. One from 5 ms on finds nothing left to launch: the host is busy until 15.
 * One from 20 ms on comes after the step: it ends at 30. At the begin: 10 + 7. */
static void a_pause_comes_at_its_moment(void)
{
    static const char *const from[] = {"variation.pauses.from=1.5 ms", "variation.pauses.from=5 ms",
                                       "variation.pauses.from=20 ms", NULL};
    static const ovl_time step[] = {15, 15, 30, 17};
    for (uint32_t i = 0; i < OVL_COUNT(from); i++) {
        bench t = {0};
        CHECK(lower(&t,
                    "hardware: {host: {launch: 1 ms}}\n"
                    "workload:\n  ops:\n"
                    "    - {kernel: a, duration: 2 ms}\n"
                    "    - {kernel: b, duration: 2 ms}\n"
                    "    - {kernel: c, duration: 2 ms}\n"
                    "variation: {pauses: {period: 2, length: 10 ms, phase: aligned}}\n",
                    from[i]));
        CHECK_INT(step_of_trial(&t, 0), step[i] * OVL_MS);
        CHECK_INT(step_of_trial(&t, 1), 7 * OVL_MS); /* not its turn */
        finish(&t);
    }
}

/* Moments are drawn evenly: of 200 pauses between 10 and 30 ms the mean is 20, give or take 4
 * standard errors of 20 / sqrt(12 * 200) = 0.41. */
static void moments_are_drawn_evenly(void)
{
    bench t = {0};
    ovl_vary vary;
    double sum = 0;
    CHECK(lower(&t,
                STEP KERNELS
                "variation: {pauses: {period: 1, length: 3 ms, from: 10 ms, until: 30 ms}}\n",
                NULL));
    ovl_vary_prepare(&vary, t.p, &t.scenario.variation, NULL, 1, &t.arena);
    for (uint64_t trial = 0; trial < 50; trial++) {
        for (uint32_t rank = 0; rank < 4; rank++) {
            ovl_time at = ovl_vary_pause_moment(&vary, trial, rank);
            CHECK(at >= 10 * OVL_MS && at <= 30 * OVL_MS);
            sum += (double)at / OVL_MS;
        }
    }
    CHECK_NEAR(sum / 200, 20, 1.65);
    CHECK(!lower(&t,
                 STEP KERNELS
                 "variation: {pauses: {period: 1, length: 3 ms, from: 10 ms, until: 3 ms}}\n",
                 NULL));
    CHECK_HAS(mistake(&t), "until must not be before from");
    finish(&t);
}

static void mistakes_are_told(void)
{
    bench t = {0};
    CHECK(!lower(&t, STEP KERNELS "variation: {kernels: {}}\n", NULL));
    CHECK_HAS(mistake(&t), "how much does it vary?");
    CHECK(!lower(&t, STEP KERNELS "variation: {ops: [{op: a, p50: 3 ms}]}\n", NULL));
    CHECK_HAS(mistake(&t), "p50 and p95 belong together");
    CHECK(
        !lower(&t, STEP KERNELS "variation: {kernels: {cv: 80 %, distribution: uniform}}\n", NULL));
    CHECK_HAS(mistake(&t), "negative");
    CHECK(lower(&t, STEP KERNELS "variation: {ops: [{op: 'c*', cv: 3 %}]}\n", NULL));
    CHECK_INT(t.errs.count, 1); /* a warning */
    CHECK_HAS(t.errs.items[0].text, "no operation that takes time is named \"c*\"");
    finish(&t);
}

static void names_with_stars(void)
{
    CHECK(ovl_name_fits("a", "a"));
    CHECK(!ovl_name_fits("a", "ab"));
    CHECK(!ovl_name_fits("ab", "a"));
    CHECK(ovl_name_fits("*", ""));
    CHECK(ovl_name_fits("block*.backward", "block[3].backward"));
    CHECK(ovl_name_fits("*a*b", "xaabab"));
    CHECK(!ovl_name_fits("*a*b", "xaaba"));
}

static CU_TestInfo tests[] = {
    {"laws have the mean and cv they were given", laws_have_the_mean_and_cv_they_were_given},
    {"laws have the percentiles they were given", laws_have_the_percentiles_they_were_given},
    {"laws by hand", laws_by_hand},
    {"statistics by hand", statistics_by_hand},
    {"quantiles by hand", quantiles_by_hand},
    {"ranks draw apart, members of a collective together",
     ranks_draw_apart_and_members_of_a_collective_together},
    {"durations of ranks stay where nothing varies", durations_of_ranks_stay_where_nothing_varies},
    {"a changed schedule keeps the draws of what it kept",
     a_changed_schedule_keeps_the_draws_of_what_it_kept},
    {"means are kept or replaced", means_are_kept_or_replaced},
    {"launches vary with the host", launches_vary_with_the_host},
    {"ranks pause once a period", ranks_pause_once_a_period},
    {"a duration that varies draws as one of that name",
     a_duration_that_varies_draws_as_one_of_that_name},
    {"a pause comes at its moment", a_pause_comes_at_its_moment},
    {"moments are drawn evenly", moments_are_drawn_evenly},
    {"mistakes are told", mistakes_are_told},
    {"names with stars", names_with_stars},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("vary", tests);
}
