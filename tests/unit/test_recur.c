/*
 * What repeats itself is found, and a run that recurs skips what follows.
 */
#include "sim/alter.h"
#include "sim/repeats.h"

#include "tests/support/check.h"
#include "tests/support/tiny.h"

/* --- Lists --- */

static ovl_repeats repeats_of(const char *text)
{
    uint32_t items[200], n = 0;
    ovl_repeats runs = {0};
    for (; text[n]; n++) {
        items[n] = (uint32_t)text[n];
    }
    ovl_repeats_find(items, n, &runs);
    return runs;
}

static void check_run(const ovl_repeat *run, uint32_t period, uint32_t first, uint32_t end)
{
    CHECK_INT(run->period, period);
    CHECK_INT(run->first, first);
    CHECK_INT(run->end, end);
}

/* a, b c four times, d: from 1 to 9. Three times are too few. */
static void a_block_four_times_is_a_run(void)
{
    ovl_repeats runs = repeats_of("abcbcbcbcd"), few = repeats_of("abcbcbcd");
    CHECK_INT(runs.len, 1);
    check_run(&runs.data[0], 2, 1, 9);
    CHECK_INT(few.len, 0);
    ovl_vec_free(&runs);
    ovl_vec_free(&few);
}

/* A step is s, f five times, b five times: 11 items. Four steps are a run of period 11, and within
 * each are two of period 1. */
static void runs_lie_within_blocks_of_others(void)
{
    ovl_repeats runs = repeats_of("sfffffbbbbbsfffffbbbbbsfffffbbbbbsfffffbbbbb");
    CHECK_INT(runs.len, 9);
    check_run(&runs.data[0], 11, 0, 44);
    check_run(&runs.data[1], 1, 1, 6);
    check_run(&runs.data[2], 1, 6, 11);
    check_run(&runs.data[8], 1, 39, 44);
    ovl_vec_free(&runs);
}

static void a_list_without_repeats_has_none(void)
{
    ovl_repeats runs = repeats_of("the quick brown fox"), none = repeats_of("");
    CHECK_INT(runs.len, 0);
    CHECK_INT(none.len, 0);
    ovl_vec_free(&runs);
    ovl_vec_free(&none);
}

/* --- Runs --- */

/* A kernel of 3 us, then an all-reduce of 2 us that overlaps the next kernel; the one after that
 * waits for it. Kernel i runs from 3i to 3i + 3, all-reduce i from 3i + 3 to 3i + 5: 1,000 of both
 * take 3,002 us. */
static void layers_that_overlap_are_skipped(void)
{
    tiny t;
    tiny_init(&t, 2);
    t.skip = true;
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t kernel = tiny_kernel(&t, "compute", "k", 3 * OVL_US);
        if (i > 1) {
            tiny_after(&t, kernel - 3);
        }
        tiny_collective(&t, "comm", "r", 0, 2 * OVL_US);
        tiny_after(&t, kernel);
    }
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    CHECK(t.timeline.counters.skipped > 3900);
    CHECK(t.timeline.counters.events < 200);
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_INT(tiny_end(&t, 1, 2 * i), (3 * i + 3) * OVL_US);
        CHECK_INT(tiny_end(&t, 1, 2 * i + 1), (3 * i + 5) * OVL_US);
    }
    CHECK_INT(t.timeline.step, 3002 * OVL_US);
    CHECK_INT(tiny_term(&t, 0, OVL_COMPUTE), 3000 * OVL_US);
    CHECK_INT(t.timeline.ranks[0].hidden, 2 * 999 * OVL_US);
    tiny_free(&t);
}

/* A link, here the memory of a rank, is half as fast from 500 us on: 500 of 1,000 kernels of 1 us
 * that need all of it have ended by then, the others take 2 us: 1,500 us. The change is not
 * skipped.
 */
static void a_capacity_that_changes_ends_a_skip(void)
{
    tiny t;
    tiny_init(&t, 1);
    t.skip = true;
    t.hbm_rate = 1000;
    for (uint32_t i = 0; i < 1000; i++) {
        t.demands[0] = (ovl_demand){OVL_PORT_HBM, false, 1000};
        t.n_demands = 1;
        tiny_kernel(&t, "compute", "k", OVL_US);
    }
    tiny_freeze(&t);
    ovl_capacity_change change = {500 * OVL_US, 0, 500};
    t.program.changes = &change;
    t.program.n_changes = 1;
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    CHECK(t.timeline.counters.skipped > 900);
    CHECK_INT(tiny_end(&t, 0, 499), 500 * OVL_US);
    CHECK_INT(tiny_end(&t, 0, 500), 502 * OVL_US);
    CHECK_INT(t.timeline.step, 1500 * OVL_US);
    tiny_free(&t);
}

/* Kernel 600 of 1,000 takes 1 us longer: what comes before and behind it is skipped, it is not. */
static void one_that_differs_is_simulated(void)
{
    tiny t;
    ovl_timeline whole;
    tiny_init(&t, 2);
    t.skip = true;
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t kernel = tiny_kernel(&t, "compute", "k", (i == 600 ? 4 : 3) * OVL_US);
        tiny_collective(&t, "comm", "r", 0, 2 * OVL_US);
        tiny_after(&t, kernel);
    }
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    t.skip = false;
    CHECK(ovl_run(&t.program, &(ovl_run_options){.no_skip = true}, &t.arena, &whole, &t.errs));
    CHECK(t.timeline.counters.skipped > 3800);
    CHECK_INT(whole.counters.skipped, 0);
    CHECK_INT(whole.step, 3003 * OVL_US);
    CHECK_INT(t.timeline.step, 3003 * OVL_US);
    CHECK_INT(tiny_end(&t, 0, 2 * 600), 1804 * OVL_US);
    tiny_free(&t);
}

/* Every kernel of its own length: nothing recurs, and nothing is skipped. */
static void what_never_recurs_is_simulated(void)
{
    tiny t;
    ovl_time sum = 0;
    tiny_init(&t, 1);
    t.skip = true;
    for (uint32_t i = 0; i < 1000; i++) {
        sum += OVL_US + i;
        tiny_kernel(&t, "compute", "k", OVL_US + i);
    }
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    CHECK_INT(t.timeline.counters.skipped, 0);
    CHECK_INT(t.timeline.step, sum);
    tiny_free(&t);
}

/* Each layer has a kernel of 6 us and a reduction of 1 us behind it, and before it a gather of 1
 * us, on a stream of its own. For their input alone gathers wait for nothing and reductions for
 * their kernel, so that one of a stream may come before the one issued before it. Such a program is
 * not skipped, and ends as it does without. */
static void what_keeps_no_order_is_simulated(void)
{
    tiny t;
    tiny_init(&t, 2);
    ovl_id shard = tiny_buffer(&t, "shard", 8), whole = tiny_buffer(&t, "whole", 16);
    ovl_id gradient = tiny_buffer(&t, "gradient", 16);
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t gather = tiny_collective(&t, "comm", "gather", 0, OVL_US);
        tiny_reads(&t, shard);
        tiny_writes(&t, whole);
        if (i > 1) {
            tiny_after(&t, gather - 5);
        }
        uint32_t kernel = tiny_kernel(&t, "compute", "k", 6 * OVL_US);
        tiny_after(&t, gather);
        tiny_reads(&t, whole);
        tiny_writes(&t, gradient);
        tiny_collective(&t, "comm", "reduce", 0, OVL_US);
        tiny_after(&t, kernel);
        tiny_reads(&t, gradient);
    }
    CHECK(tiny_freeze(&t));
    ovl_program early =
        ovl_program_altered(&t.program, &(ovl_alteration){.early_comm = true}, &t.arena);
    ovl_timeline skips, whole_run;
    CHECK(ovl_run(&early, &(ovl_run_options){0}, &t.arena, &skips, &t.errs));
    CHECK(ovl_run(&early, &(ovl_run_options){.no_skip = true}, &t.arena, &whole_run, &t.errs));
    CHECK_INT(skips.counters.skipped, 0);
    CHECK(memcmp(skips.end, whole_run.end, early.n_ops * sizeof *skips.end) == 0);
    tiny_free(&t);
}

static CU_TestInfo tests[] = {
    {"a block four times is a run", a_block_four_times_is_a_run},
    {"runs lie within blocks of others", runs_lie_within_blocks_of_others},
    {"a list without repeats has none", a_list_without_repeats_has_none},
    {"layers that overlap are skipped", layers_that_overlap_are_skipped},
    {"a capacity that changes ends a skip", a_capacity_that_changes_ends_a_skip},
    {"one that differs is simulated", one_that_differs_is_simulated},
    {"what never recurs is simulated", what_never_recurs_is_simulated},
    {"what keeps no order is simulated", what_keeps_no_order_is_simulated},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("what recurs", tests);
}
