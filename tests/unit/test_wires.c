#include "tests/support/check.h"
#include "tests/support/tiny.h"

#define MS OVL_MS

static void sums_to_step(const tiny *t)
{
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        ovl_time sum = 0;
        for (int k = 0; k < OVL_TERM_COUNT; k++) {
            sum += t->timeline.ranks[r].term[k];
        }
        CHECK_INT(sum, t->timeline.step);
    }
}

/* 3 ms each, sent at 1, 2 and 4 ms: on the wire [1, 4], [4, 7], [7, 10], as rendezvous has it. What
 * goes to another peer, or from another rank, has a wire of its own. The receiver of the last comes
 * at 11, when its bytes are there. */
static void eager_transfers_of_one_wire_follow_one_another(void)
{
    tiny t;
    tiny_init(&t, 3);
    static const int64_t before[] = {1, 1, 2};
    for (int i = 0; i < 3; i++) {
        uint32_t k = tiny_kernel(&t, "s", "k", before[i] * MS);
        tiny_send(&t, "comm", "x", 1, 3 * MS, true);
        tiny_after(&t, k);
    }
    tiny_send(&t, "comm", "y", 2, 3 * MS, true);
    ovl_id one = tiny_code(&t);
    tiny_send(&t, "other", "z", 2, 3 * MS, true);
    uint32_t first = tiny_recv(&t, "s", "x", 0, 3 * MS, true);
    tiny_recv(&t, "s", "x", 0, 3 * MS, true);
    uint32_t late = tiny_kernel(&t, "s", "k", 4 * MS);
    uint32_t last = tiny_recv(&t, "s", "x", 0, 3 * MS, true);
    tiny_after(&t, late);
    tiny_use(&t, 1, one);
    ovl_id two = tiny_code(&t);
    uint32_t z = tiny_recv(&t, "s", "z", 1, 3 * MS, true);
    uint32_t y = tiny_recv(&t, "s", "y", 0, 3 * MS, true);
    tiny_use(&t, 2, two);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED));
    const uint32_t send = t.program.ranks[0].first_op + 1;
    CHECK_INT(tiny_end(&t, 0, 5), 4 * MS);
    CHECK_INT(t.timeline.landed[send], 4 * MS);
    CHECK_INT(t.timeline.landed[send + 2], 7 * MS);
    CHECK_INT(t.timeline.landed[send + 4], 10 * MS);
    CHECK_INT(tiny_end(&t, 1, first), 4 * MS);
    CHECK_INT(tiny_end(&t, 1, first + 1), 7 * MS);
    CHECK_INT(tiny_end(&t, 1, last), 11 * MS);
    CHECK_INT(tiny_end(&t, 2, z), 3 * MS);
    CHECK_INT(tiny_end(&t, 2, y), 7 * MS);
    CHECK_INT(tiny_term(&t, 1, OVL_COMM_TRANSFER), 6 * MS);
    sums_to_step(&t);
    tiny_free(&t);
}

/* 20,000 transfers that take nothing wait behind one of 1 ms: all are there at 1 ms. */
static void a_long_queue_on_a_wire_is_no_chain_of_calls(void)
{
    tiny t;
    tiny_init(&t, 2);
    const uint32_t n = 20000;
    tiny_send(&t, "s", "x", 1, MS, true);
    for (uint32_t i = 0; i < n; i++) {
        tiny_send(&t, "s", "x", 1, 0, true);
    }
    ovl_id receiver = tiny_code(&t);
    tiny_recv(&t, "s", "x", 0, MS, true);
    for (uint32_t i = 0; i < n; i++) {
        tiny_recv(&t, "s", "x", 0, 0, true);
    }
    tiny_use(&t, 1, receiver);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_NONE));
    CHECK_INT(tiny_end(&t, 1, n), 1 * MS);
    tiny_free(&t);
}

static CU_TestInfo tests[] = {
    {"eager transfers of one wire follow one another",
     eager_transfers_of_one_wire_follow_one_another},
    {"a long queue on a wire is no chain of calls", a_long_queue_on_a_wire_is_no_chain_of_calls},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("wires of eager transfers", tests);
}
