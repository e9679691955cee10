/*
 * All-to-alls whose members send or receive more than others: by hand, and that bytes are
 * conserved.
 */
#include "tests/support/lowering.h"

#define NEAR                                                                                       \
    "hardware: {node: {gpus: 2}, links: {nvlink: {bandwidth: 1 GB/s, scope: gpu}, nic: "           \
    "{bandwidth: 1 GB/s, gpus: 1, out_of: node}, way: {bandwidth: 1 GB/s, scope: node}, all: "     \
    "{bandwidth: 1 GB/s, scope: cluster}}, collectives: [{op: all_to_all, via: [nvlink], "         \
    "algorithm: direct}]}\n"                                                                       \
    "mesh: {axes: {ep: 4}}\n"
#define EXCHANGE NEAR "workload: {ops: [{collective: a, op: all_to_all, group: ep, bytes: 400 MB, "
#define ONE      EXCHANGE "receives: [2, 1, 1, 0]}]}\n"
#define EVEN     EXCHANGE "sends: [1, 1, 1, 1]}]}\n"

static ovl_time length(bench *t, const char *text, const char *set)
{
    bool good = lower(t, text, set) && analyse(t);
    CHECK_TEXT(mistake(t), "none");
    return good ? t->result.step : 0;
}

/* 400 MB of four, receives 2, 1, 1, 0: i gives j 100 MB times receives of j. Rank 0 gets 3 * 200 MB
 * over its own link; what it gets from the other node 2 * 200; a node's way out carries what leaves
 * both ranks, 2 * 100 * (1 + 0) out of the first, 2 * 100 * (2 + 1) out of the second; between
 * nodes both. Evenly 300, 200, 400 and 800. */
static void the_busiest_counts(void)
{
    bench t = {0};
    CHECK_INT(length(&t, ONE, NULL), 600 * OVL_MS);
    CHECK_INT(length(&t, EVEN, NULL), 300 * OVL_MS);
    CHECK_INT(length(&t, ONE, "workload.ops.a.receives=null"), 300 * OVL_MS);
    static const struct {
        const char *link;
        ovl_time uneven, even;
    } by[] = {{"nic", 400, 200}, {"way", 600, 400}, {"all", 800, 800}};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        ovl_arena arena = {0};
        char *set = ovl_arena_printf(&arena, "hardware.collectives[0].via=[%s]", by[i].link);
        CHECK_INT(length(&t, ONE, set), by[i].uneven * OVL_MS);
        CHECK_INT(length(&t, EVEN, set), by[i].even * OVL_MS);
        ovl_arena_free(&arena);
    }
    finish(&t);
}

/* 300 MB of each rank at 400 MB / 300 ms take twice as long for a member that is twice as busy. */
static void other_costs_go_by_the_busiest_member(void)
{
    bench t = {0};
    CHECK_INT(length(&t, ONE, "hardware.collectives[0]={op: all_to_all, beta: 4 GB/s}"),
              200 * OVL_MS);
    finish(&t);
}

static double total(const bench *t, const char *name)
{
    for (uint32_t i = 0; i < t->result.n_resources; i++) {
        if (strcmp(t->result.resources[i].name, name) == 0) {
            return (double)t->result.resources[i].total;
        }
    }
    return -1;
}

/* In steps of 100 MB it would have to be even: it stays one activity. */
static void it_stays_whole(void)
{
    bench t = {0};
    CHECK_INT(length(&t, ONE, "expand=4"), 600 * OVL_MS);
    double out = total(&t, "nvlink.out");
    CHECK_NEAR(out, 3 * (200e6 + 100e6 + 100e6), 4); /* three others to each of ranks 0, 1, 2 */
    finish(&t);
}

static void mistakes_are_told(void)
{
    bench t = {0};
    CHECK(!lower(&t, ONE, "workload.ops.a.receives=[1, 2]"));
    CHECK_HAS(mistake(&t), "one number for each of the 4 members of \"ep\"");
    CHECK(!lower(&t, ONE, "workload.ops.a.receives=[0, 0, 0, 0]"));
    CHECK_HAS(mistake(&t), "of the 4 numbers for the members of \"ep\" all 4 are 0");
    CHECK(!lower(&t, ONE, "workload.ops.a.op=all_gather"));
    CHECK_HAS(mistake(&t), "only an all_to_all");
    finish(&t);
}

/* What is sent is received on every link, and is the sum over the pairs it lies between. */
static void bytes_are_conserved(void)
{
    static const double sends[4] = {3, 0, 1, 4}, receives[4] = {1, 5, 2, 2};
    static const char *const links[] = {"nvlink", "nic", "way", "all"};
    for (size_t k = 0; k < OVL_COUNT(links); k++) {
        bench t = {0};
        double sum = 0;
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                bool crosses = k == 0 ? i != j : i / 2 != j / 2;
                sum += crosses ? 400e6 / 4 * (sends[i] / 2) * (receives[j] / 2.5) : 0;
            }
        }
        ovl_arena arena = {0};
        char *set = ovl_arena_printf(&arena, "hardware.collectives[0].via=[%s]", links[k]);
        length(&t, EXCHANGE "sends: [3, 0, 1, 4], receives: [1, 5, 2, 2]}]}\n", set);
        double out = total(&t, ovl_arena_printf(&arena, "%s.out", links[k]));
        double in = total(&t, ovl_arena_printf(&arena, "%s.in", links[k]));
        CHECK_NEAR(out, sum, 4);
        CHECK_NEAR(in, sum, 4);
        ovl_arena_free(&arena);
        finish(&t);
    }
}

/* A broadcast of 150 GB/s on a link of 100 counts as taking all of it. So does one of 100 GB/s, and
 * beside each other both get the same: neither ends before the other. */
static void more_than_there_is_weighs_as_all_of_it(void)
{
    bench t = {0};
    CHECK(
        lower(&t,
              "hardware: {links: {nv: {bandwidth: 100 GB/s}}}\n"
              "workload:\n"
              "  ranks: 2\n"
              "  groups: {p: [0, 1], q: [0, 1]}\n"
              "  ops:\n"
              "    - {collective: a, op: broadcast, group: p, bytes: 150 MB, duration: 1 ms, via: "
              "[nv]}\n"
              "    - {collective: b, op: broadcast, group: q, bytes: 100 MB, duration: 1 ms, via: "
              "[nv], stream: x}\n",
              NULL));
    CHECK(analyse(&t));
    CHECK(t.result.n_collectives >= 2);
    for (uint32_t i = 0; i < t.result.n_collectives; i++) {
        CHECK_INT(t.result.collectives[i].end, 2 * OVL_MS);
    }
    finish(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"the busiest counts", the_busiest_counts},
        {"other costs go by the busiest member", other_costs_go_by_the_busiest_member},
        {"it stays whole", it_stays_whole},
        {"mistakes are told", mistakes_are_told},
        {"bytes are conserved", bytes_are_conserved},
        {"more than there is weighs as all of it", more_than_there_is_weighs_as_all_of_it},
        CU_TEST_INFO_NULL,
    };
    return check_main("uneven all-to-alls", tests);
}
