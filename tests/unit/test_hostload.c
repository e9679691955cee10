#include "sim/hostload.h"
#include "sim/scaled.h"
#include "tests/support/check.h"
#include "tests/support/tiny.h"

#define MS OVL_MS
#define US OVL_US

/* The operation added last takes so long to launch. */
static void launch(tiny *t, ovl_time time)
{
    tiny_change(t, tiny_last(t))->launch = time;
}

static bool look(tiny *t, ovl_worth worth, ovl_result *result)
{
    ovl_analyse_options options = {.interference = OVL_INTERFERENCE_SHARED, .worth = worth};
    return tiny_freeze(t) && ovl_analyse(&t->program, &options, &t->arena, result, NULL, &t->errs);
}

static void kernels(tiny *t, uint32_t n, ovl_time work, ovl_time cost)
{
    for (uint32_t i = 0; i < n; i++) {
        tiny_kernel(t, "compute", "k", work);
        launch(t, cost);
    }
}

/* 10 kernels of 1 ms, launches of 1.5: 15 + 1 = 16. The GPU waits 1.5 once and 0.5 nine times: 6.
 * Kernels of k take max(15 + k, 1.5 + 10 k), a free host 10 k: hidden to a thousandth if 13.5 + k -
 * 10 k <= 0.01 k, k >= 1.4984. A host of h takes max(15 h + 1, 1.5 h + 10): 13.5 h - 9 <= 0.01, h
 * <= 0.6674. */
static void a_host_bound_step_has_a_crossover(void)
{
    tiny t;
    ovl_result r;
    tiny_init(&t, 1);
    kernels(&t, 10, 1 * MS, 1500 * US);
    CHECK(look(&t, OVL_WORTH_DEFAULT, &r));
    CHECK_INT(r.step, 16 * MS);
    CHECK(r.ranks[0].has_host);
    CHECK_INT(r.ranks[0].host.issuing, 15 * MS);
    CHECK_INT(r.ranks[0].host.blocked, 0);
    CHECK_INT(r.ranks[0].host.free, 1 * MS);
    CHECK_INT(r.ranks[0].host.gpu_waits, 6 * MS);
    CHECK_INT(r.ranks[0].host.ahead_min, 0);
    CHECK_INT(r.ranks[0].host.ahead_mean, 0);
    CHECK(r.host.present && r.host.bound && !r.host.hidden && r.host.searched);
    CHECK_INT(r.host.free_step, 10 * MS);
    CHECK_INT(r.host.first_launch, 1500 * US);
    CHECK_INT(r.host.kernels, 1499);
    CHECK_INT(r.host.kernels_step, 15 * MS + 1499 * US);
    CHECK_INT(r.host.cost, 667);
    tiny_free(&t);
}

/* 10 kernels of 1 ms, launches of 10 us: the host is through at 0.1 and free for 9.91 of 10.01 ms.
 * Kernel i starts at 0.01 + i and was launched at 0.01 (i + 1): 0, 0.99, ..., 8.91 ahead, 4.455 on
 * average. It is hidden until 10 h = 1 + a thousandth or so: (10 * 10 h + 1000) - 10 h - 10000 <=
 * 10 us at h = 1.001 / 0.01 > 64. */
static void a_fast_host_is_hidden(void)
{
    tiny t;
    ovl_result r;
    tiny_init(&t, 1);
    kernels(&t, 10, 1 * MS, 10 * US);
    CHECK(look(&t, OVL_WORTH_DEFAULT, &r));
    CHECK_INT(r.step, 10 * MS + 10 * US);
    CHECK_INT(r.ranks[0].host.issuing, 100 * US);
    CHECK_INT(r.ranks[0].host.free, 9910 * US);
    CHECK_INT(r.ranks[0].host.gpu_waits, 10 * US);
    CHECK_INT(r.ranks[0].host.ahead_min, 0);
    CHECK_INT(r.ranks[0].host.ahead_mean, 4455 * US);
    CHECK(!r.host.bound && r.host.hidden && !r.host.has_cost);
    CHECK_INT(r.host.kernels, 0);
    tiny_free(&t);
}

/* Launches of 100 us: max(10 * 0.1 h + 1, 0.1 h + 10) - 10 - 0.1 h <= 0.01: 0.9 h <= 9.01, h
 * <= 10.011. */
static void how_slow_the_host_may_become(void)
{
    tiny t;
    ovl_result r;
    tiny_init(&t, 1);
    kernels(&t, 10, 1 * MS, 100 * US);
    CHECK(look(&t, OVL_WORTH_DEFAULT, &r));
    CHECK(r.host.hidden && r.host.has_cost);
    CHECK_INT(r.host.cost, 10011);
    tiny_free(&t);
}

/* A limiter: before each kernel of 2 ms the host waits for the one before the last. Kernels at 0,
 * 2, 4, 6; the host waits until 2 (for the first), until 4, and is free for the last 4 ms of 8.
 * Nothing is lost by it: with a free host it waits as well. */
static void a_limiter_blocks_the_host_and_costs_nothing(void)
{
    tiny t;
    ovl_result r;
    tiny_init(&t, 1);
    uint32_t before[4];
    for (uint32_t i = 0; i < 4; i++) {
        if (i >= 2) {
            tiny_host(&t, "limit", 0);
            tiny_after(&t, before[i - 2]);
        }
        before[i] = tiny_kernel(&t, "compute", "k", 2 * MS);
    }
    CHECK(look(&t, OVL_WORTH_DEFAULT, &r));
    CHECK_INT(r.step, 8 * MS);
    CHECK_INT(r.ranks[0].host.blocked, 4 * MS);
    CHECK_INT(r.ranks[0].host.issuing, 0);
    CHECK_INT(r.ranks[0].host.free, 4 * MS);
    CHECK_INT(r.ranks[0].host.gpu_waits, 0);
    CHECK(!r.host.bound && r.host.hidden);
    tiny_free(&t);
}

/* A launch that another kernel covers is nobody's loss: "side" is launched at 1 while k runs. */
static void a_wait_under_a_kernel_is_none(void)
{
    tiny t;
    ovl_result r;
    tiny_init(&t, 1);
    tiny_kernel(&t, "compute", "k", 5 * MS);
    tiny_kernel(&t, "side", "s", 1 * MS);
    launch(&t, 1 * MS);
    CHECK(look(&t, OVL_WORTH_DEFAULT, &r));
    CHECK_INT(r.ranks[0].host.gpu_waits, 0);
    CHECK_INT(r.ranks[0].host.issuing, 1 * MS);
    tiny_free(&t);
}

/* The step from the second step end on: two launches of 1.5 ms before kernels of 1, steps of 3 ms,
 * none of it a first launch. */
static void several_steps_have_no_first_launch(void)
{
    tiny t;
    ovl_result r;
    tiny_init(&t, 1);
    for (uint32_t i = 0; i < 3; i++) {
        kernels(&t, 2, 1 * MS, 1500 * US);
        tiny_change(&t, tiny_last(&t))->step_end = true;
    }
    CHECK(look(&t, OVL_WORTH_DEFAULT, &r));
    CHECK_INT(r.step, 3 * MS);
    CHECK_INT(r.host.first_launch, 0);
    CHECK_INT(r.host.free_step, 2 * MS);
    CHECK_INT(r.ranks[0].host.gpu_waits, 1 * MS);
    CHECK_INT(r.ranks[0].host.issuing + r.ranks[0].host.free, 3 * MS);
    CHECK(r.host.bound);
    tiny_free(&t);
}

static void without_further_runs_nothing_is_searched(void)
{
    tiny t;
    ovl_result r;
    tiny_init(&t, 1);
    kernels(&t, 10, 1 * MS, 1500 * US);
    CHECK(look(&t, OVL_WORTH_NONE, &r));
    CHECK(r.ranks[0].has_host);
    CHECK_INT(r.host.free_step, OVL_NEVER);
    tiny_free(&t);
}

/* 1 ps at 1.5 is 2 (rounded), 3 ps at 0.5 is 2, 7 ms at 2.001 is 14.007; what is too long stays at
 * the end of time. */
static void times_are_scaled(void)
{
    CHECK_INT(ovl_scaled_time(1, 1500), 2);
    CHECK_INT(ovl_scaled_time(3, 500), 2);
    CHECK_INT(ovl_scaled_time(7 * MS, 2001), 14007 * US);
    CHECK_INT(ovl_scaled_time(OVL_TIME_MAX / 2, 64000), OVL_TIME_MAX);
}

/* Kernels, launches and host calls change; collectives and what is waited for do not. */
static void what_is_scaled(void)
{
    tiny t;
    tiny_init(&t, 1);
    tiny_kernel(&t, "compute", "k", 2 * MS);
    launch(&t, 10 * US);
    tiny_collective(&t, "comm", "c", 1 * MS, 2 * MS);
    tiny_host(&t, "h", 4 * MS);
    CHECK(tiny_freeze(&t));
    ovl_program p = ovl_program_scaled(&t.program, 1500, 500, &t.arena);
    const ovl_code *code = &p.codes[0];
    CHECK_INT(p.costs[ovl_code_op(code, 0)->cost].work, 3 * MS);
    CHECK_INT(ovl_code_op(code, 0)->launch, 5 * US);
    CHECK_INT(p.costs[ovl_code_op(code, 1)->cost].work, 2 * MS);
    CHECK_INT(p.costs[ovl_code_op(code, 2)->cost].work, 2 * MS);
    CHECK_INT(ovl_code_op(&t.program.codes[0], 0)->launch, 10 * US);
    tiny_free(&t);
}

static CU_TestInfo tests[] = {
    {"a host-bound step has a crossover", a_host_bound_step_has_a_crossover},
    {"a fast host is hidden", a_fast_host_is_hidden},
    {"how slow the host may become", how_slow_the_host_may_become},
    {"a limiter blocks the host and costs nothing", a_limiter_blocks_the_host_and_costs_nothing},
    {"a wait under a kernel is none", a_wait_under_a_kernel_is_none},
    {"several steps have no first launch", several_steps_have_no_first_launch},
    {"without further runs nothing is searched", without_further_runs_nothing_is_searched},
    {"times are scaled", times_are_scaled},
    {"what is scaled", what_is_scaled},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("hostload", tests);
}
