#include "tests/support/check.h"
#include "tools/pool.h"
#include "tools/progress.h"
#include "tools/sweep.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static ovl_arena arena;

/* A sweep of n points of one ordered key with these steps (ms) and peaks (MiB). */
static ovl_sweep made(uint32_t n, const int *steps, const int *peaks)
{
    ovl_sweep s = {.pareto = {{OVL_M_STEP, OVL_M_PEAK}, 2}, .objective = OVL_M_STEP};
    ovl_sweep_axis *axis = OVL_NEW(&arena, ovl_sweep_axis);
    *axis = (ovl_sweep_axis){.n_keys = 1, .n_rows = n, .ordered = true};
    static const ovl_key key = {.path = "overlap.ddp.bucket_cap"};
    s.axes = (ovl_axes){.keys = &key, .n_keys = 1, .axes = axis, .n_axes = 1, .n_points = n};
    ovl_sweep_begin(&s, &arena);
    for (uint32_t i = 0; i < n; i++) {
        ovl_figures *f = &s.points[i].figures;
        s.points[i].state = OVL_POINT_DONE;
        f->value[OVL_M_STEP] = steps[i] * OVL_MS;
        f->has = 1 << OVL_M_STEP | 1 << OVL_M_HAZARDS;
        if (peaks) {
            f->value[OVL_M_PEAK] = (int64_t)peaks[i] << 20;
            f->has |= 1 << OVL_M_PEAK;
        }
    }
    return s;
}

/* "1.1=": the front, and what ties with it. */
static const char *front(const ovl_sweep *s)
{
    char *text = ovl_arena_alloc(&arena, s->axes.n_points + 1, 1);
    for (uint32_t i = 0; i < s->axes.n_points; i++) {
        text[i] = s->points[i].front ? '1' : s->points[i].tie != OVL_NONE ? '=' : '.';
    }
    return text;
}

/* (9, 1) and (7, 4) and (5, 8) are the front; (7, 5) and (9, 2) are beaten; an equal of (5, 8) ties
 * with it, and the best is the first of them. */
static void the_front(void)
{
    const int steps[] = {9, 7, 7, 5, 9, 5}, peaks[] = {1, 5, 4, 8, 2, 8};
    ovl_sweep s = made(6, steps, peaks);
    ovl_sweep_choose(&s, &arena);
    CHECK_TEXT(front(&s), "1.11.=");
    CHECK_INT(s.n_front, 3);
    CHECK_INT(s.n_ties, 1);
    CHECK_INT(s.points[5].tie, 3);
    CHECK_INT(s.best, 3);
}

/* What is brute force for every pair, on 300 points drawn from few values so that there are ties.
 */
static void the_front_by_brute_force(void)
{
    int steps[300], peaks[300];
    uint32_t x = 1;
    for (uint32_t i = 0; i < 300; i++) {
        x = x * 1664525 + 1013904223;
        steps[i] = (int)(x >> 16) % 50;
        peaks[i] = (int)(x >> 24) % 40 + (steps[i] < 10 ? 60 : 0);
    }
    ovl_sweep s = made(300, steps, peaks);
    ovl_sweep_choose(&s, &arena);
    for (uint32_t i = 0; i < 300; i++) {
        bool beaten = false;
        for (uint32_t k = 0; k < 300; k++) {
            beaten |= steps[k] <= steps[i] && peaks[k] <= peaks[i] &&
                      (steps[k] < steps[i] || peaks[k] < peaks[i]);
        }
        CHECK_INT(s.points[i].front || s.points[i].tie != OVL_NONE, !beaten);
    }
}

/* Both need 7 ms and 4 MiB; the second was asked for less, so it is the one on the front, and the
 * best. */
static void of_equals_the_one_with_smaller_figures_is_on_the_front(void)
{
    const int steps[] = {7, 7}, peaks[] = {4, 4};
    ovl_sweep s = made(2, steps, peaks);
    s.points[0].figures.value[OVL_M_ALLOCATED] = 3;
    s.points[1].figures.value[OVL_M_ALLOCATED] = 2;
    ovl_sweep_choose(&s, &arena);
    CHECK_TEXT(front(&s), ".1");
    CHECK_INT(s.best, 1);
}

/* As long, a little larger, but without retries: those would take time. */
static void retries_count_before_memory(void)
{
    const int steps[] = {7, 7}, peaks[] = {4, 5};
    ovl_sweep s = made(2, steps, peaks);
    s.points[0].figures.value[OVL_M_RETRIES] = 3;
    ovl_sweep_choose(&s, &arena);
    CHECK_TEXT(front(&s), "1.");
    CHECK_INT(s.best, 1);
}

/* 7 ms and a picosecond are 7 ms: what is not shown does not decide, and the first is the best. */
static void what_is_not_shown_does_not_decide(void)
{
    const int steps[] = {7, 7}, peaks[] = {4, 5};
    ovl_sweep s = made(2, steps, peaks);
    s.points[0].figures.value[OVL_M_STEP]++;
    ovl_sweep_choose(&s, &arena);
    CHECK_TEXT(front(&s), "1.");
    CHECK_INT(s.best, 0);
    s.points[0].figures.value[OVL_M_STEP] += 10000000; /* 10 us more */
    ovl_sweep_choose(&s, &arena);
    CHECK_TEXT(front(&s), "11");
    CHECK_INT(s.best, 1);
}

/* Two axes of two values: the first changes the step, the second nothing; then one figure of one
 * point differs, and it has an effect; so it has if a point failed. */
static void an_axis_may_have_no_effect(void)
{
    const int steps[] = {9, 9, 7, 7}, peaks[] = {1, 1, 1, 1};
    ovl_sweep_axis axes[] = {{.n_keys = 1, .n_rows = 2},
                             {.first_key = 1, .n_keys = 1, .n_rows = 2}};
    ovl_sweep s = made(4, steps, peaks);
    s.axes = (ovl_axes){.n_keys = 2, .axes = axes, .n_axes = 2, .n_points = 4};
    ovl_sweep_choose(&s, &arena);
    CHECK(!s.idle_axis[0]);
    CHECK(s.idle_axis[1]);
    s.points[3].figures.value[OVL_M_HAZARDS] = 1;
    ovl_sweep_choose(&s, &arena);
    CHECK(!s.idle_axis[1]);
    s.points[3].figures.value[OVL_M_HAZARDS] = 0;
    s.points[3].state = OVL_POINT_FAILED;
    ovl_sweep_choose(&s, &arena);
    CHECK(!s.idle_axis[1]);
}

/* Without memory the front is by step alone, and there is no price. */
static void without_memory(void)
{
    const int steps[] = {9, 7, 7};
    ovl_sweep s = made(3, steps, NULL);
    ovl_sweep_choose(&s, &arena);
    CHECK_TEXT(front(&s), ".1=");
    CHECK_INT(s.front_of.n, 1);
    CHECK(!s.steps[0].has_price);
}

/* 9 is allowed and fits; 5 has hazards, 6 does not fit, 7 breaks the constraint, 8 failed. */
static void the_best_is_sound_fits_and_is_allowed(void)
{
    const int steps[] = {5, 6, 7, 8, 9}, peaks[] = {1, 1, 90, 1, 1};
    ovl_sweep s = made(5, steps, peaks);
    ovl_errs errs = {.arena = &arena};
    ovl_where where;
    CHECK(ovl_where_read("peak <= 80MiB", "where", &where, &errs));
    s.where = &where;
    s.n_where = 1;
    s.points[0].figures.value[OVL_M_HAZARDS] = 2;
    s.points[1].figures.value[OVL_M_OVER] = 1;
    s.points[3] = (ovl_point){.state = OVL_POINT_FAILED, .status = OVL_E_STUCK, .error = "x"};
    ovl_sweep_choose(&s, &arena);
    CHECK_INT(s.best, 4);
    CHECK_INT(s.n_hazards, 1);
    CHECK_INT(s.n_too_large, 1);
    CHECK_INT(s.n_excluded, 1);
    CHECK_INT(s.n_failed, 1);
    CHECK_INT(ovl_sweep_status(&s), OVL_E_STUCK);
    CHECK(!s.points[0].front);
    CHECK(s.points[1].front); /* of what there is, also on a larger GPU */
}

/* 10, 8, 8 ms at 1, 3, 5 MiB: 2 ms for 2 MiB, then nothing for 2 MiB. */
static void what_a_step_buys(void)
{
    const int steps[] = {10, 8, 8}, peaks[] = {1, 3, 5};
    ovl_sweep s = made(3, steps, peaks);
    ovl_sweep_choose(&s, &arena);
    CHECK_INT(s.n_steps, 2);
    CHECK_INT(s.steps[0].gain, 2 * OVL_MS);
    CHECK_INT(s.steps[0].peak, 2 << 20);
    CHECK_INT(s.steps[1].gain, 0);
    CHECK_INT(s.steps[1].peak, 2 << 20);
}

static bool holds(const char *text, int64_t step_ms)
{
    ovl_errs errs = {.arena = &arena};
    ovl_figures f = {.has = 1 << OVL_M_STEP};
    ovl_where where;
    f.value[OVL_M_STEP] = step_ms * OVL_MS;
    return ovl_where_read(text, "where", &where, &errs) && ovl_where_holds(&where, &f);
}

static void conditions(void)
{
    CHECK(holds("step<8ms", 7) && !holds("step<8ms", 8));
    CHECK(holds("step<=8 ms", 8) && !holds("step<=8 ms", 9));
    CHECK(holds("step>8ms", 9) && !holds("step>8ms", 8));
    CHECK(holds("step >= 8ms", 8) && !holds("step >= 8ms", 7));
    CHECK(holds("step=8ms", 8) && holds("step==8ms", 8) && !holds("step=8ms", 7));
    CHECK(!holds("peak<=80GiB", 8)); /* not known */
}

static void wrong_conditions(void)
{
    ovl_errs errs = {.arena = &arena};
    ovl_where where;
    ovl_metric_list list;
    CHECK(!ovl_where_read("stp<8ms", "where", &where, &errs));
    CHECK_HAS(errs.items[0].text, "did you mean \"step\"?");
    CHECK(!ovl_where_read("step<8", "where", &where, &errs));
    CHECK_HAS(errs.items[1].text, "needs a unit");
    CHECK(!ovl_where_read("step", "where", &where, &errs));
    CHECK_HAS(errs.items[2].text, "'peak<=80GiB'");
    CHECK(!ovl_metric_list_read("step,peek", "pareto", &list, &errs));
    CHECK_HAS(errs.items[3].text, "did you mean \"peak\"?");
    CHECK(!ovl_metric_list_read("", "pareto", &list, &errs));
}

/* --- The pool --- */

typedef struct counts {
    atomic_uint worked[1000];
    uint32_t told[1000];
} counts;

static void work(void *context, uint32_t thread, uint32_t piece)
{
    counts *c = context;
    (void)thread;
    atomic_fetch_add(&c->worked[piece], 1);
}

static void told(void *context, uint32_t piece)
{
    counts *c = context;
    c->told[piece]++;
}

static void the_pool_does_everything_once(void)
{
    for (uint32_t threads = 1; threads <= 4; threads++) {
        counts *c = OVL_NEW(&arena, counts);
        ovl_pool pool = {.threads = threads, .n = 1000, .context = c, .work = work, .done = told};
        ovl_pool_end end = ovl_pool_run(&pool);
        CHECK_INT(end.done, 1000);
        CHECK_INT(end.signal, 0);
        for (uint32_t i = 0; i < 1000; i++) {
            CHECK_INT(atomic_load(&c->worked[i]), 1);
            CHECK_INT(c->told[i], 1);
        }
    }
}

static void slow_work(void *context, uint32_t thread, uint32_t piece)
{
    const struct timespec millisecond = {0, 1000000};
    work(context, thread, piece);
    nanosleep(&millisecond, NULL);
}

/* A signal that came before the pool stops it, and not the program: of 1,000 pieces of 1 ms most
 * are not begun. */
static void a_signal_waits_for_the_pool(void)
{
    ovl_stops stops = {0};
    counts *c = OVL_NEW(&arena, counts);
    struct sigaction how = {.sa_handler = SIG_DFL}, before;
    sigaction(SIGHUP, &how, &before);
    ovl_stops_hold(&stops);
    pthread_kill(pthread_self(), SIGHUP);
    ovl_pool pool = {.threads = 2, .n = 1000, .context = c, .work = slow_work, .done = told};
    ovl_pool_end end = ovl_pool_run(&pool);
    ovl_stops_release(&stops);
    ovl_stops_release(&stops);
    CHECK_INT(end.signal, SIGHUP);
    CHECK(end.done < 1000);
    sigaction(SIGHUP, &before, NULL);
}

static void progress(void)
{
    CHECK_TEXT(ovl_progress_text("points", 0, 1000, 0, &arena), "0 of 1,000 points");
    CHECK_TEXT(ovl_progress_text("points", 312, 1000, 6.933, &arena),
               "312 of 1,000 points, 45 a second, 15 s left");
    CHECK_TEXT(ovl_progress_text("points", 1, 1000, 10, &arena),
               "1 of 1,000 points, 0.1 a second, 2.8 h left");
    CHECK_TEXT(ovl_grouped(1234567, &arena), "1,234,567");
    CHECK_TEXT(ovl_grouped(1000, &arena), "1,000");
}

/* Nothing is below 3 MiB and at most 8 ms. (9, 4) misses 3 MiB by a third and 8 ms by an eighth,
 * (7, 5) 3 MiB by two thirds: the first is closer, and a sweep without an answer fails. */
static void the_closest_where_nothing_is_allowed(void)
{
    const int steps[] = {7, 9, 10}, peaks[] = {5, 4, 4};
    ovl_sweep s = made(3, steps, peaks);
    const ovl_where where[] = {{OVL_M_PEAK, OVL_AT_MOST, 3 << 20, "peak<=3MiB"},
                               {OVL_M_STEP, OVL_AT_MOST, 8 * OVL_MS, "step<=8 ms"}};
    s.where = where;
    s.n_where = 2;
    ovl_sweep_choose(&s, &arena);
    CHECK_INT(s.best, OVL_NONE);
    CHECK_INT(s.closest, 1);
    CHECK_INT(ovl_where_miss(&where[0], &s.points[1].figures), 1 << 20);
    CHECK_INT(ovl_where_miss(&where[1], &s.points[1].figures), OVL_MS);
    CHECK_INT(ovl_sweep_status(&s), 1);
    s.n_where = 0;
    ovl_sweep_choose(&s, &arena);
    CHECK_INT(s.closest, OVL_NONE);
    CHECK_INT(ovl_sweep_status(&s), 0);
}

/* 4 of 6 points, the third of which is open, when it was interrupted: the rest is not looked at,
 * and what is there has its front, and steps 0 -> 1 alone. */
static void what_was_not_begun_is_not_looked_at(void)
{
    const int steps[] = {9, 7, 1, 8, 1, 1}, peaks[] = {1, 2, 1, 3, 1, 1};
    ovl_sweep s = made(6, steps, peaks);
    s.points[2].state = OVL_POINT_OPEN;
    for (uint32_t i = 0; i < 4; i++) {
        ovl_sweep_ended(&s, i);
    }
    CHECK_INT(ovl_sweep_reach(&s), 6);
    s.stopped = true;
    CHECK_INT(ovl_sweep_reach(&s), 4);
    ovl_sweep_choose(&s, &arena);
    CHECK_INT(s.n_done, 3);
    CHECK_INT(s.best, 1);
    CHECK_INT(s.n_front, 2);
    CHECK_INT(s.n_steps, 1);
    CHECK_INT(s.steps[0].to, 1);
    CHECK_INT(s.points[4].tie, 0); /* as it was */
}

/* Two rows of two: each axis has its steps, 2 with each value of the other. */
static void every_ordered_axis_has_steps(void)
{
    const int steps[] = {10, 9, 7, 5}, peaks[] = {1, 1, 1, 1};
    const ovl_sweep_axis axes[] = {{.n_keys = 1, .n_rows = 2, .ordered = true},
                                   {.first_key = 1, .n_keys = 1, .n_rows = 2, .ordered = true}};
    ovl_sweep s = made(4, steps, peaks);
    s.axes.axes = axes;
    s.axes.n_axes = s.axes.n_keys = 2;
    ovl_sweep_choose(&s, &arena);
    CHECK_INT(s.n_steps, 4);
    CHECK_INT(s.steps[0].axis, 0);
    CHECK_INT(s.steps[0].gain, 3 * OVL_MS); /* 10 -> 7 */
    CHECK_INT(s.steps[1].gain, 4 * OVL_MS); /* 9 -> 5 */
    CHECK_INT(s.steps[2].axis, 1);
    CHECK_INT(s.steps[2].gain, OVL_MS);     /* 10 -> 9 */
    CHECK_INT(s.steps[3].gain, 2 * OVL_MS); /* 7 -> 5 */
}

/* 8, 16 and 32 microbatches in 80, 120 and 200 ms: 10, 7.5 and 6.25 ms each. By the step the first
 * is best and more cost time; by what is done the last is, the steps gain 2.5 and 1.25 ms, and the
 * front is against peak by that: 4 MiB of the first are the least. */
static void different_work_is_compared_by_what_a_microbatch_takes(void)
{
    const int steps[] = {80, 120, 200}, peaks[] = {4, 8, 8};
    for (int given = 0; given < 2; given++) {
        ovl_sweep s = made(3, steps, peaks);
        uint32_t per = ovl_metric_per(OVL_PER_MICROBATCH);
        for (uint32_t i = 0; i < 3; i++) {
            s.points[i].figures.value[per] = s.points[i].figures.value[OVL_M_STEP] / (8 << i);
            s.points[i].figures.has |= 1u << per;
        }
        s.pareto.n = 0;
        s.objective_given = given; /* --objective step */
        ovl_sweep_choose(&s, &arena);
        CHECK_INT(s.objective, given ? OVL_M_STEP : per);
        CHECK_INT(s.best, given ? 0 : 2);
        CHECK_TEXT(front(&s), given ? "1.." : "1.1");
        CHECK_INT(s.steps[0].gain, given ? -40 * OVL_MS : 2500 * OVL_US);
        CHECK_INT(s.steps[1].gain, given ? -80 * OVL_MS : 1250 * OVL_US);
        CHECK_INT(s.unit, OVL_PER_MICROBATCH);
        CHECK_NEAR(s.least_work, 8, 1e-9);
        CHECK_NEAR(s.most_work, 32, 1e-9);
    }
}

static void set_per(ovl_point *p, ovl_per per, double work)
{
    uint32_t metric = ovl_metric_per(per);
    p->figures.value[metric] = (int64_t)((double)p->figures.value[OVL_M_STEP] / work);
    p->figures.has |= UINT32_C(1) << metric;
}

/* Steps of 80, 120 and 200 ms. On 0.1, 0.2 and 0.4 million tokens in 8 microbatches each: 800, 600
 * and 500 ms a million, so the last is best. In 8, 16, 32 microbatches of as many tokens these are
 * the unit. On as many tokens in other microbatches the step is. On as many tokens of models of 1,
 * 1.2 and 4 PFLOP: 80, 100 and 50 ms each; tokens of the first are 10 TFLOP then. */
static void tokens_and_flops_are_work(void)
{
    static const struct {
        double microbatches[3], tokens[3], flops[3];
        ovl_per unit;
        uint32_t best;
    } by[] = {
        {{8, 8, 8}, {.1, .2, .4}, {1, 2, 4}, OVL_PER_TOKENS, 2},
        {{8, 16, 32}, {.1, .2, .4}, {1, 2, 4}, OVL_PER_MICROBATCH, 2},
        {{8, 16, 32}, {.1, .1, .1}, {1, 1, 1}, OVL_PER_COUNT, 0},
        {{8, 8, 8}, {.1, .1, .1}, {1, 1.2, 4}, OVL_PER_FLOPS, 2},
        {{8, 8, 8}, {.1, .1, .1}, {1, 1.0005, .9999}, OVL_PER_COUNT, 0},
    };
    const int steps[] = {80, 120, 200}, peaks[] = {4, 4, 4};
    for (size_t k = 0; k < OVL_COUNT(by); k++) {
        ovl_sweep s = made(3, steps, peaks);
        for (uint32_t i = 0; i < 3; i++) {
            set_per(&s.points[i], OVL_PER_MICROBATCH, by[k].microbatches[i]);
            set_per(&s.points[i], OVL_PER_TOKENS, by[k].tokens[i]);
            set_per(&s.points[i], OVL_PER_FLOPS, by[k].flops[i]);
        }
        s.pareto.n = 0;
        ovl_sweep_choose(&s, &arena);
        CHECK_INT(s.unit, by[k].unit);
        CHECK_INT(s.best, by[k].best);
        CHECK_INT(ovl_per_of(s.objective), by[k].unit);
        CHECK_NEAR(s.least_flops, by[k].flops[0] / by[k].tokens[0] * 1e9, 1e7);
    }
}

/* Steps of 80, 120 and 200 ms on 0.1 million tokens each, in sequences of 2048, 4096 and 8192: 1,
 * 1.2 and 4 PFLOP, of which the last takes 50 ms each, but it is the slowest: the model is the
 * same, so the step decides. With other layers beside them, or another width, these are other
 * models, and the last is best. */
static void a_longer_sequence_is_no_other_model(void)
{
    static const ovl_key keys[][2] = {
        {{"workload.model.sequence", {0}}, {"workload.model.microbatch", {0}}},
        {{"workload.model.sequence", {0}}, {"workload.model.layers", {0}}},
        {{"workload.model.hidden", {0}}, {"workload.model.microbatch", {0}}},
    };
    const int steps[] = {80, 120, 200}, peaks[] = {4, 4, 4};
    const double flops[] = {1, 1.2, 4};
    for (size_t k = 0; k < OVL_COUNT(keys); k++) {
        ovl_sweep s = made(3, steps, peaks);
        ovl_sweep_axis axis = *s.axes.axes;
        axis.n_keys = 2;
        s.axes.axes = &axis;
        s.axes.keys = keys[k];
        s.axes.n_keys = 2;
        for (uint32_t i = 0; i < 3; i++) {
            set_per(&s.points[i], OVL_PER_TOKENS, .1);
            set_per(&s.points[i], OVL_PER_FLOPS, flops[i]);
        }
        s.pareto.n = 0;
        ovl_sweep_choose(&s, &arena);
        CHECK_INT(s.unit, k == 0 ? OVL_PER_COUNT : OVL_PER_FLOPS);
        CHECK_INT(s.best, k == 0 ? 0 : 2);
    }
}

static CU_TestInfo tests[] = {
    {"a longer sequence is no other model", a_longer_sequence_is_no_other_model},
    {"tokens and FLOPs are work", tokens_and_flops_are_work},
    {"different work is compared by what a microbatch takes",
     different_work_is_compared_by_what_a_microbatch_takes},
    {"the front is what nobody beats", the_front},
    {"the front agrees with brute force", the_front_by_brute_force},
    {"of equals the one with smaller figures is on the front",
     of_equals_the_one_with_smaller_figures_is_on_the_front},
    {"retries count before memory", retries_count_before_memory},
    {"what is not shown does not decide", what_is_not_shown_does_not_decide},
    {"an axis may have no effect", an_axis_may_have_no_effect},
    {"a metric nobody has is left out", without_memory},
    {"the best is sound, fits and is allowed", the_best_is_sound_fits_and_is_allowed},
    {"each step of an axis has a gain and a price", what_a_step_buys},
    {"the closest where nothing is allowed", the_closest_where_nothing_is_allowed},
    {"what was not begun of an interrupted sweep is not looked at",
     what_was_not_begun_is_not_looked_at},
    {"every ordered axis has steps", every_ordered_axis_has_steps},
    {"conditions hold", conditions},
    {"wrong conditions are told", wrong_conditions},
    {"a pool does each piece once", the_pool_does_everything_once},
    {"a signal waits for the pool", a_signal_waits_for_the_pool},
    {"progress says rate and time left", progress},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    int status = check_main("sweep", tests);
    ovl_arena_free(&arena);
    return status;
}
