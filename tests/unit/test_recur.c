/*
 * What repeats itself is found, and a run that recurs skips what follows.
 */
#include "sim/alter.h"
#include "sim/course.h"

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

/* Of the runs of `runs_lie_within_blocks_of_others` the one of period 11 goes on from item 1 to 44
 * with all that is 11 or 22 further; with what is 1 further only the five f do, up to the last. */
static void what_lies_ahead_is_told_by_runs(void)
{
    ovl_repeats runs = repeats_of("sfffffbbbbbsfffffbbbbbsfffffbbbbbsfffffbbbbb");
    CHECK(ovl_repeats_at(runs.data, runs.len, 1, 11) == &runs.data[0]);
    CHECK(ovl_repeats_at(runs.data, runs.len, 1, 22) == &runs.data[0]);
    CHECK(ovl_repeats_at(runs.data, runs.len, 1, 1) == &runs.data[1]);
    CHECK(ovl_repeats_at(runs.data, runs.len, 4, 1) == &runs.data[1]);
    CHECK(ovl_repeats_at(runs.data, runs.len, 5, 1) == NULL);
    CHECK(ovl_repeats_at(runs.data, runs.len, 0, 7) == NULL);
    CHECK(ovl_repeats_at(runs.data, runs.len, 22, 33) == NULL);
    ovl_vec_free(&runs);
}

/* A kernel and an all-reduce behind it, 100 times. The first of each has nobody before it; from the
 * second on all are alike, but for kernel 60 of another length: two runs of period 2, from 2 to 120
 * and from 121 to 200. The last operation of all waits for the first kernel, 200 places on: not
 * far. */
static void like_operations_of_a_code_are_found(void)
{
    tiny t;
    tiny_init(&t, 2);
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t kernel = tiny_kernel(&t, "compute", "k", (i == 60 ? 4 : 3) * OVL_US);
        tiny_collective(&t, "comm", "r", 0, 2 * OVL_US);
        tiny_after(&t, kernel);
    }
    tiny_marker(&t, "end", "m");
    tiny_after(&t, 0);
    CHECK(tiny_freeze(&t));
    const ovl_code *code = &t.program.codes[0];
    const ovl_course *course = ovl_course_known(&t.program, code);
    CHECK_INT(course->n_runs, 2);
    check_run(&course->runs[0], 2, 2, 120);
    check_run(&course->runs[1], 2, 121, 200);
    CHECK(ovl_ops_alike(&t.program, code, course, 2, 118));
    CHECK(!ovl_ops_alike(&t.program, code, course, 0, 2));
    CHECK(!ovl_ops_alike(&t.program, code, course, 2, 3));
    CHECK_INT(course->n_starts, 1);
    CHECK_INT(course->starts[0], 0);
    CHECK_INT(ovl_code_ties(code, 5)->lane_next, 2);
    CHECK_INT(ovl_code_ties(code, 199)->lane_next, 0);
    CHECK_INT(course->n_far, 0);
    CHECK(course->ordered);
    tiny_free(&t);
}

/* At other costs what was found says nothing. */
static void what_was_found_belongs_to_its_costs(void)
{
    tiny t;
    tiny_init(&t, 1);
    for (uint32_t i = 0; i < 100; i++) {
        tiny_kernel(&t, "compute", "k", OVL_US);
    }
    CHECK(tiny_freeze(&t));
    ovl_program free =
        ovl_program_altered(&t.program, &(ovl_alteration){.free_kernels = true}, &t.arena);
    CHECK(ovl_course_known(&t.program, &t.program.codes[0]) != NULL);
    CHECK(ovl_course_known(&free, &free.codes[0]) == NULL);
    tiny_free(&t);
}

/* 100 kernels that are alike but for the first, which has none before it. With another cost for
 * number 50 what is left of the run from 1 to 100 ends before it, and begins anew behind it; lanes
 * and starts are those there were. */
static void at_other_costs_runs_are_cut(void)
{
    tiny t;
    tiny_init(&t, 1);
    for (uint32_t i = 0; i < 100; i++) {
        tiny_kernel(&t, "compute", "k", (i ? 1 : 2) * OVL_US);
    }
    CHECK(tiny_freeze(&t));
    ovl_code code = t.program.codes[0];
    uint32_t *which = OVL_NEW_ARRAY(&t.arena, uint32_t, code.n_ops);
    memcpy(which, code.which, code.n_ops * sizeof *which);
    which[50] = which[0];
    code.which = which;
    ovl_course *cut = ovl_course_find(&t.program, &code, true, &t.arena);
    CHECK_INT(code.course->n_runs, 1);
    check_run(&code.course->runs[0], 1, 1, 100);
    CHECK_INT(cut->n_runs, 2);
    check_run(&cut->runs[0], 1, 1, 50);
    check_run(&cut->runs[1], 1, 51, 100);
    CHECK(cut->starts == code.course->starts);
    CHECK(cut->which == which);
    tiny_free(&t);
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

/* Rank 1 runs 1,000 kernels of 1 us and then one of 5 us on what rank 0 sends it after as many of
 * its own; its receive waits from 0 on, 1,000 places ahead of all that goes on: the transfer of 2
 * us is there at 1,002, and the last kernel ends at 1,007. Every kernel releases the marker that
 * waits for all of them, which is no nearer. */
static void what_waits_far_ahead_stays(void)
{
    tiny t;
    tiny_init(&t, 2);
    t.skip = true;
    for (uint32_t i = 0; i < 1000; i++) {
        tiny_kernel(&t, "compute", "k", OVL_US);
    }
    tiny_send(&t, "wire", "s", 1, 2 * OVL_US, false);
    tiny_after(&t, 999);
    tiny_use(&t, 1, tiny_code(&t));
    for (uint32_t i = 0; i < 1000; i++) {
        tiny_kernel(&t, "compute", "k", OVL_US);
    }
    uint32_t got = tiny_recv(&t, "wire", "s", 0, 2 * OVL_US, false);
    uint32_t last = tiny_kernel(&t, "compute", "l", 5 * OVL_US);
    tiny_after(&t, got);
    uint32_t all = tiny_marker(&t, "end", "m");
    for (uint32_t i = 0; i < 1000; i++) {
        tiny_after(&t, i);
    }
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    CHECK(t.timeline.counters.skipped > 1900);
    CHECK_INT(tiny_end(&t, 1, got), 1002 * OVL_US);
    CHECK_INT(tiny_end(&t, 1, last), 1007 * OVL_US);
    CHECK_INT(tiny_end(&t, 1, all), 1000 * OVL_US);
    tiny_free(&t);
}

/* 1,000 kernels of 3 us need what a gather of 7 us brings first, and one of each but the first says
 * so, too; that it says for nothing. They run from 7 us on, one behind the other. */
static void what_all_wait_for_is_waited_for_once(void)
{
    tiny t;
    tiny_init(&t, 2);
    t.skip = true;
    uint32_t gather = tiny_collective(&t, "comm", "gather", 0, 7 * OVL_US);
    for (uint32_t i = 0; i < 1000; i++) {
        tiny_kernel(&t, "compute", "k", 3 * OVL_US);
        tiny_after(&t, gather);
    }
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    const ovl_course *course = ovl_course_known(&t.program, &t.program.codes[0]);
    CHECK_INT(course->n_runs, 1);
    check_run(&course->runs[0], 1, 2, 1001);
    uint32_t needed = 0, spare = 0;
    for (uint32_t i = 0; i < 1001; i++) {
        needed += course->lists[course->needs[i]];
        spare += course->lists[course->spare[i]];
    }
    CHECK_INT(needed, 1);
    CHECK_INT(spare, 999);
    CHECK_INT(course->lists[course->spare[1000] + 1], 0);
    CHECK_INT(course->spare[1000], course->spare[999]);
    CHECK(t.timeline.counters.skipped > 1900);
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_INT(tiny_end(&t, 1, 1 + i), (10 + 3 * i) * OVL_US);
    }
    tiny_free(&t);
}

/* Layers of two kernels of 3 us, the first of which waits for the reduction of 2 us of the layer
 * before, and then a reduction: 8 us each, from 2 us on when the first reduction has ended. In
 * every second layer the second kernel waits for that reduction as well, which is spare; all layers
 * are alike. It is looked at when a reduction begins, so that what is spare is still to come for
 * the kernel ahead in some blocks, and in others not. */
static void what_is_spare_may_differ_from_block_to_block(void)
{
    tiny t;
    tiny_init(&t, 2);
    t.skip = true;
    uint32_t other = tiny_marker(&t, "other", "m");
    uint32_t reduced = tiny_collective(&t, "comm", "r", 0, 2 * OVL_US);
    for (uint32_t i = 0; i < 1000; i++) {
        tiny_kernel(&t, "compute", "k", 3 * OVL_US);
        tiny_after(&t, reduced);
        uint32_t second = tiny_kernel(&t, "compute", "l", 3 * OVL_US);
        if (i == 0) {
            tiny_after(&t, other);
        }
        if (i % 2) {
            tiny_after(&t, reduced);
        }
        reduced = tiny_collective(&t, "comm", "r", 0, 2 * OVL_US);
        tiny_after(&t, second);
    }
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    const ovl_course *course = ovl_course_known(&t.program, &t.program.codes[0]);
    CHECK_INT(course->n_runs, 1);
    check_run(&course->runs[0], 3, 4, 3002);
    CHECK(t.timeline.counters.skipped > 5900);
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_INT(tiny_end(&t, 1, 4 + 3 * i), (10 + 8 * i) * OVL_US);
    }
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

/* Runs it with transfers that wait for their input alone, both ways; how much was skipped. */
static uint32_t skipped_early(tiny *t)
{
    CHECK(tiny_freeze(t));
    ovl_program early =
        ovl_program_altered(&t->program, &(ovl_alteration){.early_comm = true}, &t->arena);
    ovl_timeline skips, whole_run;
    CHECK(ovl_run(&early, &(ovl_run_options){0}, &t->arena, &skips, &t->errs));
    CHECK(ovl_run(&early, &(ovl_run_options){.no_skip = true}, &t->arena, &whole_run, &t->errs));
    CHECK(memcmp(skips.end, whole_run.end, early.n_ops * sizeof *skips.end) == 0);
    return skips.counters.skipped;
}

/* Each layer has a kernel of 6 us and a reduction of 1 us behind it, and before it a gather of 1
 * us, on a stream of its own. For their input alone gathers wait for nothing and reductions for
 * their kernel, and no order of their stream holds. What loads no link stays in the order of its
 * communicator, which is one, too. */
static void the_order_of_a_communicator_is_one(void)
{
    tiny t;
    tiny_init(&t, 2);
    ovl_id shard = tiny_buffer(&t, "shard", 8), whole = tiny_buffer(&t, "whole", 16);
    ovl_id gradient = tiny_buffer(&t, "gradient", 16);
    for (uint32_t i = 0; i < 400; i++) {
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
    CHECK(skipped_early(&t) > 2300);
    tiny_free(&t);
}

/* Rank 0 has kernels of 2 us and sends what each computes, to ranks 1 and 2 in turn, for 3 us. Who
 * waits for the input alone is behind the one before to the same rank, not behind the one before it
 * on its stream: such a program is not skipped, and ends as it does without. */
static void what_keeps_no_order_is_simulated(void)
{
    tiny t;
    tiny_init(&t, 3);
    ovl_id result = tiny_buffer(&t, "result", 16);
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t kernel = tiny_kernel(&t, "compute", "k", 2 * OVL_US);
        tiny_writes(&t, result);
        tiny_send(&t, "send", "s", 1 + i % 2, 3 * OVL_US, true);
        tiny_after(&t, kernel);
        tiny_reads(&t, result);
    }
    for (uint32_t rank = 1; rank < 3; rank++) {
        tiny_use(&t, rank, tiny_code(&t));
        for (uint32_t i = 0; i < 200; i++) {
            tiny_recv(&t, "recv", "s", 0, 3 * OVL_US, true);
        }
    }
    CHECK_INT(skipped_early(&t), 0);
    tiny_free(&t);
}

static CU_TestInfo tests[] = {
    {"a block four times is a run", a_block_four_times_is_a_run},
    {"runs lie within blocks of others", runs_lie_within_blocks_of_others},
    {"a list without repeats has none", a_list_without_repeats_has_none},
    {"what lies ahead is told by runs", what_lies_ahead_is_told_by_runs},
    {"like operations of a code are found", like_operations_of_a_code_are_found},
    {"what was found belongs to its costs", what_was_found_belongs_to_its_costs},
    {"at other costs runs are cut", at_other_costs_runs_are_cut},
    {"what waits far ahead stays", what_waits_far_ahead_stays},
    {"what all wait for is waited for once", what_all_wait_for_is_waited_for_once},
    {"what is spare may differ from block to block", what_is_spare_may_differ_from_block_to_block},
    {"layers that overlap are skipped", layers_that_overlap_are_skipped},
    {"a capacity that changes ends a skip", a_capacity_that_changes_ends_a_skip},
    {"one that differs is simulated", one_that_differs_is_simulated},
    {"what never recurs is simulated", what_never_recurs_is_simulated},
    {"the order of a communicator is one", the_order_of_a_communicator_is_one},
    {"what keeps no order is simulated", what_keeps_no_order_is_simulated},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("what recurs", tests);
}
