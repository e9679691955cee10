#include "sim/result.h"
#include "sim/steps.h"
#include "tests/support/check.h"
#include "tests/support/tiny.h"

#define MS OVL_MS

/* The operation added last ends a step. */
static void ends_step(tiny *t, uint32_t local)
{
    tiny_change(t, local)->step_end = true;
}

static bool look(tiny *t, ovl_worth worth, ovl_result *result)
{
    ovl_analyse_options options = {.interference = OVL_INTERFERENCE_SHARED, .worth = worth};
    return tiny_freeze(t) && ovl_analyse(&t->program, &options, &t->arena, result, NULL, &t->errs);
}

/* Forward 2, backward 4, optimizer 1, and a gather of 3 that the next forward waits for. */
static void add_steps(tiny *t, uint32_t steps)
{
    uint32_t gather = OVL_NONE;
    for (uint32_t i = 0; i < steps; i++) {
        tiny_kernel(t, "compute", "forward", 2 * MS);
        if (gather != OVL_NONE) {
            tiny_after(t, gather);
        }
        tiny_kernel(t, "compute", "backward", 4 * MS);
        uint32_t optimizer = tiny_kernel(t, "compute", "optimizer", 1 * MS);
        ends_step(t, optimizer);
        gather = tiny_collective(t, "comm", "gather", 1 * MS, 2 * MS);
        tiny_after(t, optimizer);
    }
}

/* Step ends at 7, 17, 27: the step is 10 = 1 + 2 of the gather and 7 of kernels, seen from 17 on;
 * the gather of the last step comes after it and is not counted. */
static void the_step_is_the_last_of_several(void)
{
    tiny t;
    ovl_result r;
    tiny_init(&t, 2);
    add_steps(&t, 3);
    CHECK(look(&t, OVL_WORTH_ALL, &r));
    CHECK_INT(r.step, 10 * MS);
    CHECK_INT(r.n_steps, 3);
    CHECK_INT(r.step_times[0], 7 * MS);
    CHECK_INT(r.step_times[1], 10 * MS);
    CHECK_INT(r.step_times[2], 10 * MS);
    CHECK(ovl_result_converged(&r));
    CHECK_INT(r.term[OVL_COMPUTE], 7 * MS);
    CHECK_INT(r.term[OVL_COMM_LATENCY], 1 * MS);
    CHECK_INT(r.term[OVL_COMM_TRANSFER], 2 * MS);
    CHECK_INT(r.ranks[0].end, 10 * MS);
    CHECK_INT(r.startups, 1);
    CHECK_INT(r.n_collectives, 1);
    CHECK_INT(r.collectives[0].ready, 0);
    CHECK_INT(r.collectives[0].end, 3 * MS);
    CHECK_INT(r.collectives[0].exposed, 3 * MS);
    CHECK_INT(r.collectives[0].worth, 3 * MS);
    CHECK_INT(r.collectives[0].u_variant, 0);
    CHECK_INT(r.collectives[0].interference, 0);
    CHECK(r.equation.present);
    CHECK_INT(r.equation.u_path, 0);
    CHECK_INT(r.equation.exposed, 3 * MS);
    CHECK_INT(r.equation.after, 7 * MS);
    CHECK_INT(r.n_path, 4);
    CHECK_TEXT(r.path[0].op, "gather");
    CHECK_INT(r.path[0].start, 0);
    CHECK_INT(r.path[3].end, 10 * MS);
    tiny_free(&t);
}

/* One step, marked or not, is the whole run with its last gather: 7 + 3. */
static void one_step_is_the_whole_run(void)
{
    tiny t;
    ovl_result r;
    tiny_init(&t, 2);
    add_steps(&t, 1);
    CHECK(look(&t, OVL_WORTH_NONE, &r));
    CHECK_INT(r.step, 10 * MS);
    CHECK_INT(r.n_steps, 1);
    CHECK(r.step_times == NULL);
    CHECK_TEXT(r.path[0].op, "forward");
    tiny_free(&t);
}

/* "long" runs from 0 to 8, the first step ends at 5, the second waits for it and ends at 9: of the
 * 4 ms of the step "long" has 3. */
static void what_runs_across_a_step_end_is_cut(void)
{
    tiny t;
    ovl_result r;
    tiny_init(&t, 1);
    uint32_t across = tiny_kernel(&t, "side", "long", 8 * MS);
    ends_step(&t, tiny_kernel(&t, "compute", "a", 5 * MS));
    uint32_t last = tiny_kernel(&t, "compute", "b", 1 * MS);
    tiny_after(&t, across);
    ends_step(&t, last);
    CHECK(look(&t, OVL_WORTH_NONE, &r));
    CHECK_INT(r.step, 4 * MS);
    CHECK_INT(r.term[OVL_COMPUTE], 4 * MS);
    CHECK_INT(r.n_path, 2);
    CHECK_TEXT(r.path[0].op, "long");
    CHECK_TEXT(r.path[0].why, "start of the step");
    CHECK_INT(r.path[0].end, 3 * MS);
    CHECK_TEXT(r.path[1].op, "b");
    CHECK(!ovl_result_converged(&r));
    tiny_free(&t);
}

/* Rank 1 ends its steps at 3 and 6, rank 0 at 2 and 8: rank 0 decides, from 2 to 8. Rank 1 worked
 * from 2 to 6 of it. */
static void the_rank_that_ends_last_decides(void)
{
    tiny t;
    ovl_result r;
    tiny_init(&t, 2);
    ends_step(&t, tiny_kernel(&t, "compute", "a", 2 * MS));
    ends_step(&t, tiny_kernel(&t, "compute", "b", 6 * MS));
    ovl_id other = tiny_code(&t);
    ends_step(&t, tiny_kernel(&t, "compute", "c", 3 * MS));
    ends_step(&t, tiny_kernel(&t, "compute", "d", 3 * MS));
    tiny_use(&t, 1, other);
    CHECK(look(&t, OVL_WORTH_NONE, &r));
    CHECK_INT(r.deciding_rank, 0);
    CHECK_INT(r.step, 6 * MS);
    CHECK_INT(r.ranks[1].term[OVL_COMPUTE], 4 * MS);
    CHECK_INT(r.ranks[1].term[OVL_IDLE], 2 * MS);
    CHECK_INT(r.ranks[1].end, 4 * MS);
    tiny_free(&t);
}

/* Ends at 7 and 17: 7 is of step 0, 8 of step 1, 30 too. */
static void moments_belong_to_steps(void)
{
    tiny t;
    tiny_init(&t, 1);
    add_steps(&t, 2);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_NONE));
    CHECK_INT(ovl_step_of(&t.program, &t.timeline, 0, 7 * MS), 0);
    CHECK_INT(ovl_step_of(&t.program, &t.timeline, 0, 8 * MS), 1);
    CHECK_INT(ovl_step_of(&t.program, &t.timeline, 0, 30 * MS), 1);
    ovl_op_range last = ovl_last_step(&t.program.codes[0]);
    CHECK_INT(last.first, 3); /* the gather behind the first optimizer */
    CHECK_INT(last.end, 7);
    tiny_free(&t);
}

/* Ends at 3 and 3: the last step is 0 long, and the 3 before it and the 5 beside it are none of it.
 */
static void a_step_without_length_has_no_terms(void)
{
    tiny t;
    ovl_result r;
    tiny_init(&t, 1);
    ends_step(&t, tiny_kernel(&t, "compute", "first", 3 * MS));
    ends_step(&t, tiny_kernel(&t, "compute", "nothing", 0));
    tiny_kernel(&t, "side", "beside", 5 * MS);
    CHECK(look(&t, OVL_WORTH_NONE, &r));
    CHECK_INT(r.step, 0);
    for (int k = 0; k < OVL_TERM_COUNT; k++) {
        CHECK_INT(r.term[k], 0);
        CHECK_INT(r.ranks[0].term[k], 0);
    }
    tiny_free(&t);
}

static CU_TestInfo tests[] = {
    {"the step is the last of several", the_step_is_the_last_of_several},
    {"one step is the whole run", one_step_is_the_whole_run},
    {"what runs across a step end is cut", what_runs_across_a_step_end_is_cut},
    {"the rank that ends last decides", the_rank_that_ends_last_decides},
    {"moments belong to steps", moments_belong_to_steps},
    {"a step without length has no terms", a_step_without_length_has_no_terms},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("steps", tests);
}
