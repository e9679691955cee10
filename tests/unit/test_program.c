#include "tests/support/check.h"
#include "tests/support/tiny.h"

#include <stdio.h>

/* c waits for a (stream, and again by name) and for b: two ends and the issue. */
static void waits_are_counted_once(void)
{
    tiny t;
    tiny_init(&t, 1);
    uint32_t a = tiny_kernel(&t, "s", "a", 1);
    uint32_t b = tiny_kernel(&t, "other", "b", 1);
    uint32_t c = tiny_kernel(&t, "s", "c", 1);
    tiny_after(&t, a);
    tiny_after(&t, b);
    tiny_after(&t, b);
    CHECK(tiny_freeze(&t));
    const ovl_code *code = &t.program.codes[0];
    CHECK_INT(ovl_code_ties(code, a)->waits, 1);
    CHECK_INT(ovl_code_ties(code, c)->waits, 3);
    CHECK_INT(ovl_code_stream_prev(code, c), a);
    CHECK_INT(ovl_code_next(code, a).n, 1);
    CHECK_INT(b + ovl_code_next(code, b).by[0], c);
    tiny_free(&t);
}

static void operations_are_numbered_by_rank(void)
{
    tiny t;
    tiny_init(&t, 3);
    tiny_kernel(&t, "s", "a", 1);
    tiny_kernel(&t, "s", "b", 1);
    ovl_id other = tiny_code(&t);
    tiny_kernel(&t, "s", "c", 1);
    tiny_use(&t, 1, other);
    CHECK(tiny_freeze(&t));
    CHECK_INT(t.program.n_ops, 5);
    CHECK_INT(ovl_op_rank(&t.program, 1), 0);
    CHECK_INT(ovl_op_rank(&t.program, 2), 1);
    CHECK_INT(ovl_op_rank(&t.program, 4), 2);
    CHECK_TEXT(OVL_NAME(t.program.names, ovl_op_name_id(&t.program, 2)), "c");
    CHECK_TEXT(OVL_NAME(t.program.names, ovl_op_name_id(&t.program, 4)), "b");
    tiny_free(&t);
}

static void collectives_are_numbered_in_their_communicator(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_collective(&t, "s", "a", 0, 1);
    tiny_kernel(&t, "s", "k", 1);
    uint32_t b = tiny_collective(&t, "other", "b", 0, 1);
    CHECK(tiny_freeze(&t));
    CHECK_INT(t.program.n_collectives, 2);
    CHECK_INT(t.program.codes[0].collectives_before[b], 1);
    CHECK_INT(ovl_code_comm_prev(&t.program.codes[0], b), 0);
    CHECK_INT(ovl_collective_op(&t.program, &t.program.comms[0], 1, 1), 5);
    CHECK_INT(ovl_rank_place(&t.program, 1, 0), 1);
    tiny_free(&t);
}

static void sends_meet_receives_in_order(void)
{
    tiny t;
    tiny_init(&t, 2);
    uint32_t s1 = tiny_send(&t, "s", "x", 1, 1, false), s2 = tiny_send(&t, "s", "y", 1, 1, false);
    ovl_id other = tiny_code(&t);
    uint32_t r1 = tiny_recv(&t, "s", "x", 0, 1, false), r2 = tiny_recv(&t, "s", "y", 0, 1, false);
    tiny_use(&t, 1, other);
    CHECK(tiny_freeze(&t));
    CHECK_INT(t.program.partner[s1], 2 + r1);
    CHECK_INT(t.program.partner[2 + r2], s2);
    tiny_free(&t);
}

static void a_peer_must_be_another_member(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_send(&t, "s", "x", 7, 1, false);
    CHECK(!tiny_freeze(&t));
    CHECK_HAS(t.errs.items[0].text, "names member 7 of group \"dp\", which has no such member");
    CHECK_INT(ovl_errs_status(&t.errs), OVL_E_INPUT);
    tiny_free(&t);
}

/* nccl-tests: all-reduce 2(n-1)/n, the gathers (n-1)/n, the rest 1; alone nothing crosses the wire.
 */
static void busbw_factors_are_those_of_nccl_tests(void)
{
    CHECK_NEAR(ovl_busbw_factor(OVL_ALL_REDUCE, 8), 1.75, 0);
    CHECK_NEAR(ovl_busbw_factor(OVL_ALL_GATHER, 4), 0.75, 0);
    CHECK_NEAR(ovl_busbw_factor(OVL_REDUCE_SCATTER, 2), 0.5, 0);
    CHECK_NEAR(ovl_busbw_factor(OVL_ALL_TO_ALL, 16), 15.0 / 16, 0);
    CHECK_NEAR(ovl_busbw_factor(OVL_BROADCAST, 3), 1, 0);
    CHECK_NEAR(ovl_busbw_factor(OVL_ALL_REDUCE, 1), 0, 0);
    /* all-reduce 2(n-1)/n; reduce-scatter, all-gather, all-to-all (n-1)/n; the rest 1 */
    static const uint32_t ranks[] = {2, 3, 4, 8, 16};
    static const double halves[] = {0.5, 2.0 / 3, 0.75, 0.875, 0.9375};
    for (size_t i = 0; i < OVL_COUNT(ranks); i++) {
        CHECK_NEAR(ovl_busbw_factor(OVL_ALL_REDUCE, ranks[i]), 2 * halves[i], 1e-15);
        CHECK_NEAR(ovl_busbw_factor(OVL_REDUCE_SCATTER, ranks[i]), halves[i], 1e-15);
        CHECK_NEAR(ovl_busbw_factor(OVL_ALL_GATHER, ranks[i]), halves[i], 1e-15);
        CHECK_NEAR(ovl_busbw_factor(OVL_ALL_TO_ALL, ranks[i]), halves[i], 1e-15);
        CHECK_NEAR(ovl_busbw_factor(OVL_BROADCAST, ranks[i]), 1, 0);
        CHECK_NEAR(ovl_busbw_factor(OVL_REDUCE, ranks[i]), 1, 0);
        CHECK_NEAR(ovl_busbw_factor(OVL_SEND_RECV, ranks[i]), 1, 0);
    }
}

/* a, b and c, of which b alone reads, and d of another code: what begins in the middle is empty
 * before and behind. Lists that are empty all along are one for both codes. */
static void lists_without_anything_are_one(void)
{
    tiny t;
    tiny_init(&t, 2);
    ovl_id buffer = tiny_buffer(&t, "x", 8);
    tiny_kernel(&t, "s", "a", 1);
    uint32_t b = tiny_kernel(&t, "s", "b", 1);
    tiny_reads(&t, buffer);
    tiny_reads(&t, buffer);
    tiny_kernel(&t, "s", "c", 1);
    tiny_use(&t, 1, tiny_code(&t));
    tiny_kernel(&t, "s", "d", 1);
    CHECK(tiny_freeze(&t));
    const ovl_code *first = &t.program.codes[0], *second = &t.program.codes[1];
    static const uint32_t at[] = {0, 0, 2, 2};
    for (uint32_t i = 0; i < OVL_COUNT(at); i++) {
        CHECK_INT(first->access.at[i], at[i]);
        CHECK_INT(first->effect.at[i], 0);
    }
    CHECK_INT(first->access.item[first->access.at[b]].buffer, buffer);
    CHECK(second->access.at == first->effect.at);
    tiny_free(&t);
}

/* Costs of two ranks, in order; gives what the builder makes of them. */
static ovl_id two_costs(ovl_builder *b, ovl_time on_0, ovl_time on_1, uint64_t rate, bool *per_rank)
{
    ovl_demand demand = {OVL_PORT_HBM, false, rate};
    ovl_id first = ovl_add_cost(b, &(ovl_cost){.work = on_0}, NULL, &demand, 1, NULL, 0);
    ovl_add_cost(b, &(ovl_cost){.work = on_1}, NULL, &demand, 1, NULL, 0);
    return ovl_store_costs_once(b, first, per_rank);
}

/* Two ranks, three lists of costs: 3 and 4 ps, again 3 and 4 ps, and 5 ps on both. Two costs and
 * one are kept, of one kind beside the free one. One of 5 ps is there already; with another rate it
 * is of a third kind, whose demands are a second list. A cost is 32 bytes, in which no bytes of a
 * kind are. */
static void equal_costs_are_stored_once(void)
{
    ovl_arena arena = {0};
    ovl_builder b;
    bool per_rank;
    ovl_builder_init(&b, &arena);
    CHECK_INT(two_costs(&b, 3, 4, 100, &per_rank), 0);
    CHECK(per_rank);
    CHECK_INT(two_costs(&b, 3, 4, 100, &per_rank), 0);
    CHECK(per_rank);
    CHECK_INT(two_costs(&b, 4, 3, 100, &per_rank), 2);
    CHECK_INT(two_costs(&b, 5, 5, 100, &per_rank), 4);
    CHECK(!per_rank);
    CHECK_INT(b.costs.len, 5);
    CHECK_INT(b.cost_kinds.len, 2);
    ovl_demand demand = {OVL_PORT_HBM, false, 100};
    ovl_id one = ovl_add_cost(&b, &(ovl_cost){.work = 5}, NULL, &demand, 1, NULL, 0);
    CHECK_INT(ovl_store_costs_once(&b, one, &per_rank), 4);
    CHECK_INT(two_costs(&b, 5, 5, 101, &per_rank), 5);
    CHECK_INT(b.cost_kinds.len, 3);
    CHECK_INT(b.demands.len, 2);
    CHECK_INT(ovl_add_split(&b, &(ovl_split){1, 2, 0}), 1);
    CHECK_INT(ovl_add_split(&b, &(ovl_split){1, 3, 0}), 2);
    CHECK_INT(ovl_add_split(&b, &(ovl_split){1, 2, 0}), 1);
    CHECK(sizeof(ovl_cost) <= 32);
    ovl_builder_free(&b);
    ovl_arena_free(&arena);
}

/* 1,000 lists that differ, each added twice: they are found whatever place they have. */
static void many_costs_are_found_again(void)
{
    ovl_arena arena = {0};
    ovl_builder b;
    bool per_rank;
    uint32_t wrong = 0;
    ovl_builder_init(&b, &arena);
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t n = i % 1000;
        wrong += two_costs(&b, n + 1, n + 2, 1 + n % 7, &per_rank) != 2 * n;
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(b.costs.len, 2000);
    CHECK_INT(b.demands.len, 7);
    ovl_builder_free(&b);
    ovl_arena_free(&arena);
}

/* What repeats: a kernel, and a batch of which two parts are 1 and 2 behind it. */
static void add_repeat(tiny *t, ovl_id cost, uint32_t microbatch)
{
    char name[32];
    snprintf(name, sizeof name, "k%" PRIu32, microbatch);
    ovl_op op = {.kind = OVL_KERNEL, .comm = OVL_NO_COMM, .batch = OVL_NONE, .cost = cost};
    op.name = ovl_name(&t->b, name);
    op.stream = ovl_add_stream(&t->b, t->code, "s");
    ovl_add_op(&t->b, t->code, &op);
    ovl_set_microbatch(&t->b, t->code, microbatch);
    op = (ovl_op){.kind = OVL_BATCH, .batch = OVL_NONE, .cost = cost};
    op.name = ovl_name(&t->b, "b");
    op.stream = ovl_add_stream(&t->b, t->code, "c");
    op.batch = ovl_add_op(&t->b, t->code, &op);
    op.stream = OVL_NO_STREAM;
    op.peer = 1;
    op.peer_relative = true;
    op.kind = OVL_SEND;
    ovl_add_op(&t->b, t->code, &op);
    op.kind = OVL_RECV;
    op.peer = -1;
    ovl_add_op(&t->b, t->code, &op);
}

/* Four operations, 10 and 20 times: four are stored, whose bytes are those of their members, and by
 * repeat 16 bytes each: which it is, its ties, its name, its microbatch. Of 20 x 4 operations that
 * is a fifth of what whole records would be. What differs is not lost. */
static void operations_are_stored_once_however_often_they_repeat(void)
{
    for (uint32_t n = 10; n <= 20; n += 10) {
        tiny t;
        tiny_init(&t, 2);
        ovl_id cost = ovl_add_cost(&t.b, &(ovl_cost){.work = 7}, NULL, NULL, 0, NULL, 0);
        for (uint32_t i = 0; i < n; i++) {
            add_repeat(&t, cost, i);
        }
        CHECK(tiny_freeze(&t));
        const ovl_code *code = &t.program.codes[0];
        CHECK_INT(t.program.n_distinct, 4);
        CHECK_INT(code->n_ops, 4 * n);
        for (uint32_t i = 0; i < n; i++) {
            CHECK_INT(code->which[4 * i], 0);
            CHECK_INT(ovl_code_microbatch(code, 4 * i), i);
            CHECK_INT(ovl_code_batch(code, 4 * i), OVL_NONE);
            CHECK_INT(ovl_code_batch(code, 4 * i + 2), 4 * i + 1);
            CHECK_INT(ovl_code_batch(code, 4 * i + 3), 4 * i + 1);
        }
        ovl_id last = ovl_op_name_id(&t.program, 4 * (n - 1));
        CHECK_TEXT(OVL_NAME(t.program.names, last), n == 10 ? "k9" : "k19");
        tiny_free(&t);
    }
    CHECK_INT(sizeof(ovl_op), 12 + 4 * 2 + 5 * 4 + 3 * 8 + sizeof(ovl_mark));
}

static CU_TestInfo tests[] = {
    {"waits are counted once", waits_are_counted_once},
    {"operations are numbered by rank", operations_are_numbered_by_rank},
    {"collectives are numbered in their communicator",
     collectives_are_numbered_in_their_communicator},
    {"sends meet receives in order", sends_meet_receives_in_order},
    {"lists without anything are one", lists_without_anything_are_one},
    {"operations are stored once however often they repeat",
     operations_are_stored_once_however_often_they_repeat},
    {"equal costs are stored once", equal_costs_are_stored_once},
    {"many costs are found again", many_costs_are_found_again},
    {"a peer must be another member", a_peer_must_be_another_member},
    {"busbw factors are those of nccl-tests", busbw_factors_are_those_of_nccl_tests},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("program", tests);
}
