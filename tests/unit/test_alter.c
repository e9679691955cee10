/* The same program at other costs, or with transfers that wait for their input alone. */
#include "sim/alter.h"
#include "tests/support/check.h"
#include "tests/support/random_program.h"
#include "tests/support/tiny.h"

#define MS OVL_MS

static ovl_time step_of(tiny *t, const ovl_alteration *how)
{
    if (!t->frozen) {
        CHECK(tiny_freeze(t));
    }
    ovl_program p = ovl_program_altered(&t->program, how, &t->arena);
    ovl_run_options options = {.interference = OVL_INTERFERENCE_NONE};
    ovl_timeline line = {0};
    CHECK(ovl_run(&p, &options, &t->arena, &line, &t->errs));
    return line.step;
}

/* Kernels of 5 and 8 ms, then an all-reduce of 20, then 1: 29 = 8 + 20 + 1; with the mean kernel
 * 27.5; with free communication 9;
 * with free kernels 20. */
static void kernels_like_their_mean_and_free_communication(void)
{
    tiny t;
    tiny_init(&t, 2);
    for (int rank = 0; rank < 2; rank++) {
        ovl_id code = rank ? tiny_code(&t) : t.code;
        uint32_t k = tiny_kernel(&t, "compute", "k", rank ? 8 * MS : 5 * MS);
        uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
        tiny_after(&t, k);
        tiny_kernel(&t, "compute", "step", MS);
        tiny_after(&t, reduce);
        tiny_use(&t, (uint32_t)rank, code);
    }
    CHECK_INT(step_of(&t, &(ovl_alteration){0}), 29 * MS);
    CHECK_INT(step_of(&t, &(ovl_alteration){.mean_kernels = true}), 55 * MS / 2);
    CHECK_INT(step_of(&t, &(ovl_alteration){.free_comm = true}), 9 * MS);
    CHECK_INT(step_of(&t, &(ovl_alteration){.free_kernels = true}), 20 * MS);
    tiny_free(&t);
}

/* A copy of 4 ms and an all-reduce of 20 beside each other, then a kernel of 1: 21; free
 * communication leaves the copy, which is none: 5; without both 1. */
static void a_copy_is_no_communication(void)
{
    tiny t;
    tiny_init(&t, 2);
    uint32_t copy = tiny_copy(&t, "copies", "offload", 4 * MS);
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_kernel(&t, "compute", "step", MS);
    tiny_after(&t, copy);
    tiny_after(&t, reduce);
    CHECK_INT(step_of(&t, &(ovl_alteration){0}), 21 * MS);
    CHECK_INT(step_of(&t, &(ovl_alteration){.free_comm = true}), 5 * MS);
    CHECK_INT(step_of(&t, &(ovl_alteration){.free_comm = true, .free_copies = true}), MS);
    tiny_free(&t);
}

/* Calls of 4 ms before each of two kernels of 1: 4 + 4 + 1; a host twice as fast: 2 + 2 + 1. */
static void a_faster_host(void)
{
    tiny t;
    tiny_init(&t, 1);
    for (int i = 0; i < 2; i++) {
        tiny_host(&t, "load", 4 * MS);
        tiny_kernel(&t, "compute", "k", MS);
    }
    CHECK_INT(step_of(&t, &(ovl_alteration){0}), 9 * MS);
    CHECK_INT(step_of(&t, &(ovl_alteration){.host_divisor = 2}), 5 * MS);
    tiny_free(&t);
}

/* The send of rank 0, ready at 2, stands behind a receive of what rank 2 makes in 8; rank 1 uses
 * for 3 what it brings: 8 + 3, else 8. */
static void transfers_that_wait_for_their_input_alone(void)
{
    tiny t;
    tiny_init(&t, 3);
    uint32_t first = tiny_kernel(&t, "compute", "first", 2 * MS);
    tiny_recv(&t, "comm", "blocks", 2, 0, true);
    tiny_send(&t, "comm", "sent", 1, 0, true);
    tiny_after(&t, first);
    ovl_id one = tiny_code(&t);
    uint32_t got = tiny_recv(&t, "comm", "got", 0, 0, true);
    tiny_kernel(&t, "compute", "used", 3 * MS);
    tiny_after(&t, got);
    ovl_id two = tiny_code(&t);
    uint32_t slow = tiny_kernel(&t, "compute", "slow", 8 * MS);
    tiny_send(&t, "comm", "late", 0, 0, true);
    tiny_after(&t, slow);
    tiny_use(&t, 1, one);
    tiny_use(&t, 2, two);
    CHECK_INT(step_of(&t, &(ovl_alteration){0}), 11 * MS);
    CHECK_INT(step_of(&t, &(ovl_alteration){.early_comm = true}), 8 * MS);
    tiny_free(&t);
}

/* A gather of a buffer that is there from the start stands behind a kernel of 10: 10 + 4 + 3;
 * issued at once 10 + 3. The kernel that reads what it brings still waits for it. */
static void a_gather_does_not_wait_for_what_it_does_not_need(void)
{
    tiny t;
    tiny_init(&t, 2);
    ovl_id shard = tiny_buffer(&t, "shard", 8), whole = tiny_buffer(&t, "whole", 16);
    uint32_t before = tiny_kernel(&t, "compute", "before", 10 * MS);
    uint32_t gather = tiny_collective(&t, "comm", "gather", 0, 4 * MS);
    tiny_after(&t, before);
    tiny_reads(&t, shard);
    tiny_writes(&t, whole);
    tiny_kernel(&t, "compute", "used", 3 * MS);
    tiny_after(&t, gather);
    tiny_reads(&t, whole);
    CHECK_INT(step_of(&t, &(ovl_alteration){0}), 17 * MS);
    CHECK_INT(step_of(&t, &(ovl_alteration){.early_comm = true}), 13 * MS);
    tiny_free(&t);
}

/* Two reductions of 4 ms on two streams and one communicator, with inputs at 1 and 2 ms. On no link
 * the second stays behind the first, [1, 5] and [5, 9]: a communicator has its bandwidth once.
 * Links say what they have: on one with room for both the second is [2, 6]. */
static void a_communicator_has_its_bandwidth_once(void)
{
    for (int linked = 0; linked < 2; linked++) {
        tiny t;
        tiny_init(&t, 2);
        for (int i = 0; i < 2; i++) {
            const char *names[] = {"a", "b"}, *streams[] = {"comm a", "comm b"};
            ovl_id gradient = tiny_buffer(&t, names[i], 1024);
            uint32_t k = tiny_kernel(&t, "compute", "k", MS);
            tiny_writes(&t, gradient);
            if (linked) { /* port 0 is HBM */
                t.b.n_ports = 2;
                t.demands[t.n_demands++] = (ovl_demand){.port = 1, .rate = 1};
            }
            tiny_collective(&t, streams[i], names[i], 0, 4 * MS);
            tiny_after(&t, k);
            tiny_reads(&t, gradient);
        }
        CHECK_INT(step_of(&t, &(ovl_alteration){0}), 9 * MS);
        CHECK_INT(step_of(&t, &(ovl_alteration){.early_comm = true}), (linked ? 6 : 9) * MS);
        tiny_free(&t);
    }
}

/* Whatever the program, it still finishes, and with nothing altered it is the same. */
static void on_random_programs(void)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        ovl_arena arena = {0};
        ovl_errs errs = {.arena = &arena};
        random_options options = {.seed = seed, .n_ranks = 4, .n_actions = 120, .prefix = ""};
        ovl_program p = random_program(&options, &arena);
        ovl_run_options how = {.interference = OVL_INTERFERENCE_NONE};
        const ovl_alteration none = {0}, early = {.early_comm = true};
        ovl_program same = ovl_program_altered(&p, &none, &arena);
        ovl_program freed = ovl_program_altered(&p, &early, &arena);
        ovl_timeline a = {0}, b = {0}, c = {0};
        CHECK(ovl_run(&p, &how, &arena, &a, &errs) && ovl_run(&same, &how, &arena, &b, &errs) &&
              ovl_run(&freed, &how, &arena, &c, &errs));
        CHECK_INT(a.step, b.step);
        CHECK_INT(c.counters.events > 0, 1);
        ovl_arena_free(&arena);
    }
}

static CU_TestInfo tests[] = {
    {"kernels like their mean, and free communication",
     kernels_like_their_mean_and_free_communication},
    {"a copy is no communication", a_copy_is_no_communication},
    {"a faster host", a_faster_host},
    {"transfers that wait for their input alone", transfers_that_wait_for_their_input_alone},
    {"a gather does not wait for what it does not need",
     a_gather_does_not_wait_for_what_it_does_not_need},
    {"a communicator has its bandwidth once", a_communicator_has_its_bandwidth_once},
    {"on random programs", on_random_programs},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("altered programs", tests);
}
