/* Compute and communication from two configurations: the reported user cases. */
#include "models/two_point.h"
#include "tests/support/check.h"

/* 2 nodes of 8 A100 over Ethernet: 22.2 s at accumulation 1, 54.3 s at 4 with the all-reduce once a
 * step. X = 32.1 / 3 = 10.7, C = 11.5; after each micro-batch 4 x 22.2 = 88.8. The reporter's own
 * split is 10.8 and 11.4. */
static void accumulation_one_and_four(void)
{
    const ovl_two_point points[] = {{1, 1, 22.2}, {4, 1, 54.3}};
    ovl_two_point_fit fit = ovl_two_point_solve(points, 2);
    CHECK(fit.solved);
    CHECK_NEAR(fit.compute, 10.7, 1e-9);
    CHECK_NEAR(fit.comm, 11.5, 1e-9);
    CHECK_NEAR(fit.residual, 0, 0);
    CHECK_NEAR(4 * (fit.compute + fit.comm), 88.8, 1e-9);
}

/* 8-way shard: 658 ms at 4.6 % hidden, 544 ms at 80.1 %: C = 114 / 0.755 = 151, X = 514. Hybrid:
 * 1028 ms at 32.3 %, 790 ms at 62.9 %: C = 238 / 0.306 = 777.8, X = 501.5. */
static void prefetch_depth_none_and_one(void)
{
    const ovl_two_point eight[] = {{1, 1 - 0.046, 0.658}, {1, 1 - 0.801, 0.544}};
    const ovl_two_point hybrid[] = {{1, 1 - 0.323, 1.028}, {1, 1 - 0.629, 0.790}};
    ovl_two_point_fit fit = ovl_two_point_solve(eight, 2);
    CHECK_NEAR(fit.comm, 0.151, 0.0005);
    CHECK_NEAR(fit.compute, 0.514, 0.0005);
    fit = ovl_two_point_solve(hybrid, 2);
    CHECK_NEAR(fit.comm, 0.778, 0.0005);
    CHECK_NEAR(fit.compute, 0.5015, 0.0005);
}

/* T = m + 2 at 1, 2, 3 with the middle 0.3 too long: X stays 1, C is 2.1, left are -0.1, 0.2, -0.1.
 */
static void more_than_two_leave_a_residual(void)
{
    const ovl_two_point points[] = {{1, 1, 3}, {2, 1, 4.3}, {3, 1, 5}};
    ovl_two_point_fit fit = ovl_two_point_solve(points, 3);
    CHECK_NEAR(fit.compute, 1, 1e-9);
    CHECK_NEAR(fit.comm, 2.1, 1e-9);
    CHECK_NEAR(fit.residual, 0.141421, 1e-5);
}

static void equations_that_say_the_same_solve_nothing(void)
{
    const ovl_two_point same[] = {{1, 1, 3}, {1, 1, 4}}, one[] = {{1, 1, 3}};
    const ovl_two_point multiple[] = {{1, 1, 3}, {4, 4, 12}};
    CHECK(!ovl_two_point_solve(same, 2).solved);
    CHECK(!ovl_two_point_solve(multiple, 2).solved);
    CHECK(!ovl_two_point_solve(one, 1).solved);
    CHECK(!ovl_two_point_solve(NULL, 0).solved);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"accumulation one and four", accumulation_one_and_four},
        {"prefetch depth none and one", prefetch_depth_none_and_one},
        {"more than two leave a residual", more_than_two_leave_a_residual},
        {"equations that say the same solve nothing", equations_that_say_the_same_solve_nothing},
        CU_TEST_INFO_NULL,
    };
    return check_main("two points", tests);
}
