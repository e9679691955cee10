#include "models/plan.h"
#include "tests/support/check.h"

#include <string.h>

#define MIB ((uint64_t)1 << 20)

typedef struct bench {
    ovl_arena arena;
    ovl_errs errs;
    ovl_hw hw;
    ovl_hw_link link;
    ovl_comm_time time;
    bool extrapolated;
} bench;

static void setup(bench *t)
{
    memset(t, 0, sizeof *t);
    t->errs.arena = &t->arena;
    t->link = (ovl_hw_link){.name = "wire", .bandwidth = 100000000000, .latency = 2 * OVL_US};
    t->hw.links = &t->link;
    t->hw.n_links = 1;
}

static bool cost(bench *t, ovl_hw_collective entry, ovl_coll op, uint64_t bytes, uint32_t n)
{
    ovl_spread apart = ovl_spread_apart(n);
    return ovl_collective_time(&t->hw, &entry, op, bytes, &apart, "c", (ovl_mark){"h.yaml", 3, 5},
                               &t->time, &t->extrapolated, &t->errs);
}

static ovl_hw_collective formula(int algorithm)
{
    static const char *via[] = {"wire"};
    return (ovl_hw_collective){.algorithm = algorithm, .via = {.item = via, .count = 1}};
}

static void check_formula(bench *t, int algorithm, ovl_coll op, uint64_t bytes, uint32_t n,
                          ovl_time latency, ovl_time transfer)
{
    CHECK(cost(t, formula(algorithm), op, bytes, n));
    CHECK_INT(t->time.latency, latency);
    CHECK_INT(t->time.transfer, transfer);
}

/* 80 MiB at 16 MiB/ms: 5 ms; 1 byte at 3 bytes/s: 333 333 333 333.3 ps, rounded up. */
static void bytes_and_rates_are_exact(void)
{
    CHECK_INT(ovl_bytes_time(80 * MIB, 16 * MIB * 1000), 5 * OVL_MS);
    CHECK_INT(ovl_bytes_time(1, 3), 333333333334);
    CHECK_INT(ovl_bytes_time(0, 3), 0);
    CHECK_INT(ovl_bytes_time(5, 0), OVL_NEVER);
    CHECK_INT(ovl_bytes_time(UINT64_MAX, 1), OVL_NEVER);
    CHECK_INT(ovl_bytes_rate(80 * MIB, 5 * OVL_MS), 16 * MIB * 1000);
    CHECK_INT(ovl_bytes_rate(1, 3), 333333333333);
    CHECK_INT(ovl_bytes_rate(7, 0), 0);
    CHECK(ovl_bytes_rate(UINT64_MAX, 1) == UINT64_MAX);
    /* 2^63 bytes at 2^63 bytes/s: a second, though the product has 103 bits. */
    CHECK_INT(ovl_bytes_time((uint64_t)1 << 63, (uint64_t)1 << 63), OVL_S);
}

static void alpha_and_beta(void)
{
    bench t;
    setup(&t);
    ovl_hw_collective entry = {
        .has_alpha = true, .has_beta = true, .alpha = OVL_MS, .beta = 16 * MIB * 1000};
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, 80 * MIB, 8));
    CHECK_INT(t.time.latency, OVL_MS);
    CHECK_INT(t.time.transfer, 5 * OVL_MS);
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, 80 * MIB, 1));
    CHECK_INT(t.time.latency + t.time.transfer, 0);
    entry.beta = 1;
    CHECK(!cost(&t, entry, OVL_ALL_REDUCE, UINT64_MAX, 8));
    CHECK_INT(t.errs.errors, 1);
    CHECK_HAS(t.errs.items[0].text, "longer than time can count (53 days)");
    ovl_arena_free(&t.arena);
}

/* a = 2 us, b = 100 GB/s, s = 1 GB, s/b = 10 ms.
 * All-reduce, n = 2: 2 a + 2/2 * 10 = 4 us, 10 ms; 4: 6 a + 6/4 * 10 = 12 us, 15 ms;
 * 8: 14 a = 28 us, 14/8 * 10 = 17.5 ms; 16: 30 a = 60 us, 30/16 * 10 = 18.75 ms;
 * 3: 4 a = 8 us, 4/3 * 10 = 13.333 333 333 334 ms (rounded up). */
static void ring_formulas(void)
{
    bench t;
    setup(&t);
    const uint64_t s = 1000000000;
    check_formula(&t, OVL_ALGO_RING, OVL_ALL_REDUCE, s, 2, 4 * OVL_US, 10 * OVL_MS);
    check_formula(&t, OVL_ALGO_RING, OVL_ALL_REDUCE, s, 3, 8 * OVL_US, 13333333334);
    check_formula(&t, OVL_ALGO_RING, OVL_ALL_REDUCE, s, 4, 12 * OVL_US, 15 * OVL_MS);
    check_formula(&t, OVL_ALGO_RING, OVL_ALL_REDUCE, s, 8, 28 * OVL_US, 17500 * OVL_US);
    check_formula(&t, OVL_ALGO_RING, OVL_ALL_REDUCE, s, 16, 60 * OVL_US, 18750 * OVL_US);
    /* 7 a = 14 us, 7/8 * 10 = 8.75 ms */
    check_formula(&t, OVL_ALGO_RING, OVL_REDUCE_SCATTER, s, 8, 14 * OVL_US, 8750 * OVL_US);
    check_formula(&t, OVL_ALGO_RING, OVL_ALL_GATHER, s, 8, 14 * OVL_US, 8750 * OVL_US);
    CHECK(!cost(&t, formula(OVL_ALGO_RING), OVL_BROADCAST, s, 8));
    CHECK_TEXT(t.errs.items[0].text, "the ring algorithm has no formula for broadcast; it covers "
                                     "all_reduce, reduce_scatter and all_gather");
    ovl_arena_free(&t.arena);
}

/* ceil(log2 5) = 3: all-reduce 6 a = 12 us, 8/5 * 10 = 16 ms; broadcast 3 (a + 10 ms). All-to-all
 * of 4: 3 a = 6 us, 3/4 * 10 = 7.5 ms. */
static void tree_and_direct_formulas(void)
{
    bench t;
    setup(&t);
    const uint64_t s = 1000000000;
    check_formula(&t, OVL_ALGO_TREE, OVL_ALL_REDUCE, s, 5, 12 * OVL_US, 16 * OVL_MS);
    check_formula(&t, OVL_ALGO_TREE, OVL_ALL_REDUCE, s, 8, 12 * OVL_US, 17500 * OVL_US);
    check_formula(&t, OVL_ALGO_TREE, OVL_BROADCAST, s, 5, 6 * OVL_US, 30 * OVL_MS);
    check_formula(&t, OVL_ALGO_TREE, OVL_REDUCE, s, 2, 2 * OVL_US, 10 * OVL_MS);
    check_formula(&t, OVL_ALGO_DIRECT, OVL_ALL_TO_ALL, s, 4, 6 * OVL_US, 7500 * OVL_US);
    check_formula(&t, OVL_ALGO_DIRECT, OVL_SEND_RECV, s, 4, 2 * OVL_US, 10 * OVL_MS);
    ovl_hw_collective no_link = {.algorithm = OVL_ALGO_RING};
    CHECK(!cost(&t, no_link, OVL_ALL_REDUCE, s, 8));
    CHECK_HAS(t.errs.items[0].text, "needs a link");
    ovl_arena_free(&t.arena);
}

/* Steps of 2 us, and s/b = 12 ms times what each formula says, for 2, 3, 4, 8, 16 ranks: (n-1)/n of
 * it 6, 8, 9, 10.5, 11.25 ms; log2 rounded up 1, 2, 2, 3, 4; (n+1)/n of it 18, 16, 15, 13.5, 12.75
 * ms. */
static void textbook_formulas_by_hand(void)
{
    static const struct {
        uint32_t n, log;
        ovl_time part, more; /* us */
    } by[] = {{2, 1, 6000, 18000},
              {3, 2, 8000, 16000},
              {4, 2, 9000, 15000},
              {8, 3, 10500, 13500},
              {16, 4, 11250, 12750}};
    bench t;
    setup(&t);
    const uint64_t s = 1200000000;
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        uint32_t n = by[i].n;
        ovl_time a = 2 * OVL_US, part = by[i].part * OVL_US, log = by[i].log, whole = 12 * OVL_MS;
        check_formula(&t, OVL_ALGO_RING, OVL_ALL_REDUCE, s, n, 2 * (n - 1) * a, 2 * part);
        check_formula(&t, OVL_ALGO_RING, OVL_REDUCE_SCATTER, s, n, (n - 1) * a, part);
        check_formula(&t, OVL_ALGO_RING, OVL_ALL_GATHER, s, n, (n - 1) * a, part);
        check_formula(&t, OVL_ALGO_TREE, OVL_ALL_REDUCE, s, n, 2 * log * a, 2 * part);
        check_formula(&t, OVL_ALGO_TREE, OVL_BROADCAST, s, n, log * a, log * whole);
        check_formula(&t, OVL_ALGO_TREE, OVL_REDUCE, s, n, log * a, log * whole);
        check_formula(&t, OVL_ALGO_DIRECT, OVL_ALL_TO_ALL, s, n, (n - 1) * a, part);
        check_formula(&t, OVL_ALGO_DIRECT, OVL_SEND_RECV, s, n, a, whole);
        check_formula(&t, OVL_ALGO_COLLNET, OVL_ALL_REDUCE, s, n, 2 * a, whole);
        ovl_spread node = {.members = n, .nodes = 1, .fewest = n, .most = n, .n_kinds = 1};
        ovl_hw_collective nvls = formula(OVL_ALGO_NVLS);
        CHECK(ovl_collective_time(&t.hw, &nvls, OVL_ALL_REDUCE, s, &node, "c", (ovl_mark){0},
                                  &t.time, &t.extrapolated, &t.errs));
        CHECK_INT(t.time.latency, 2 * a);
        CHECK_INT(t.time.transfer, by[i].more * OVL_US);
        for (int op = OVL_REDUCE_SCATTER; op <= OVL_ALL_GATHER; op++) {
            CHECK(ovl_collective_time(&t.hw, &nvls, (ovl_coll)op, s, &node, "c", (ovl_mark){0},
                                      &t.time, &t.extrapolated, &t.errs));
            CHECK_INT(t.time.latency, a);
            CHECK_INT(t.time.transfer, part);
        }
    }
    CHECK(!cost(&t, formula(OVL_ALGO_COLLNET), OVL_ALL_GATHER, s, 8));
    CHECK_HAS(t.errs.items[0].text, "the sharp algorithm has no formula for all_gather");
    ovl_spread two = {.members = 16, .nodes = 2, .fewest = 8, .most = 8, .n_kinds = 1};
    ovl_hw_collective nvls = formula(OVL_ALGO_NVLS);
    CHECK(!ovl_collective_time(&t.hw, &nvls, OVL_ALL_REDUCE, s, &two, "c", (ovl_mark){0}, &t.time,
                               &t.extrapolated, &t.errs));
    CHECK_HAS(t.errs.items[1].text, "for the members of one NVLink domain");
    ovl_arena_free(&t.arena);
}

/* --- Links that several members share --- */

/* Members of each node, nodes of 8 GPUs. */
typedef struct lie {
    uint32_t nodes, on[3];
} lie;

static const lie two_by_two = {2, {2, 2}}; /* 2 * 2 pairs leave each node */
static const lie two_by_eight = {2, {8, 8}};
static const lie three_and_one = {2, {3, 1}};
static const lie one_node_of_8 = {1, {8}};
static const lie alone = {1, {1}};

/* As the members of the first node see it. */
static ovl_spread spread_of(bench *t, const lie *on)
{
    uint32_t ranks[24], n = 0;
    const ovl_spread *of[24];
    ovl_lowering l = {
        .hw = &t->hw, .arena = &t->arena, .errs = &t->errs, .n_ranks = 24, .seats = {NULL, 24, 8}};
    t->hw.gpus_per_node = t->hw.gpus_at_most = 8;
    for (uint32_t node = 0; node < on->nodes; node++) {
        for (uint32_t i = 0; i < on->on[node]; i++) {
            ranks[n++] = 8 * node + i;
        }
    }
    ovl_find_spreads(&l, ranks, n, of);
    ovl_vec_free(&l.spreads);
    ovl_vec_free(&l.ways);
    return *of[0];
}

/* Products of two crossings stay within 64 bits for a million members. */
static bool is_more(ovl_crossing a, ovl_crossing b)
{
    return (double)a.num * (double)b.den > (double)b.num * (double)a.den;
}

/* Of link 0, for the member whose instance has most. */
static ovl_crossing most_of(const bench *t, ovl_coll op, int algorithm, const ovl_spread *spread)
{
    ovl_crossing most = ovl_crossing_of_kind(&t->hw, 0, op, algorithm, spread, 0);
    for (uint32_t kind = 1; kind < spread->n_kinds; kind++) {
        ovl_crossing c = ovl_crossing_of_kind(&t->hw, 0, op, algorithm, spread, kind);
        most = is_more(c, most) ? c : most;
    }
    return most;
}

static void check_crossing(ovl_scope scope, ovl_coll op, int algorithm, const lie *on, uint64_t num,
                           uint64_t den)
{
    bench t;
    setup(&t);
    t.link.scope = (int)scope;
    ovl_spread spread = spread_of(&t, on);
    ovl_crossing c = most_of(&t, op, algorithm, &spread);
    CHECK_INT(c.num * den, num * c.den);
    ovl_arena_free(&t.arena);
}

/* All-to-all: each member sends 1/n of the bytes to each other one. 2x2: from a node 2 members to 2
 * outside, 4/4; 2x8: 8 * 8 / 16 = 4 times the bytes; 3 + 1: 3 * 1 / 4. A link of each GPU carries
 * (n - 1)/n. The spine carries what leaves both nodes: 8/4 and 128/16. */
static void all_to_all_over_shared_links(void)
{
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_TO_ALL, OVL_ALGO_DIRECT, &two_by_two, 1, 1);
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_TO_ALL, OVL_ALGO_DIRECT, &two_by_eight, 4, 1);
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_TO_ALL, OVL_ALGO_NONE, &two_by_eight, 4, 1);
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_TO_ALL, OVL_ALGO_DIRECT, &three_and_one, 3, 4);
    check_crossing(OVL_SCOPE_GPU, OVL_ALL_TO_ALL, OVL_ALGO_DIRECT, &two_by_eight, 15, 16);
    check_crossing(OVL_SCOPE_CLUSTER, OVL_ALL_TO_ALL, OVL_ALGO_DIRECT, &two_by_two, 2, 1);
    check_crossing(OVL_SCOPE_CLUSTER, OVL_ALL_TO_ALL, OVL_ALGO_DIRECT, &two_by_eight, 8, 1);
}

/* A ring leaves each node once, whatever the node has inside: 2 * 15/16, and the spine carries both
 * nodes' worth. A tree halves among neighbours first, so out of 8 of 16 go 8/16 as their sum, and
 * 8/16 back; of 3 + 1 out of the three 1/4 and back 3/4, out of the one 3/4 and 1/4: 1 in all
 * cases, twice that over the spine. A binomial broadcast leaves the root's node in log2(nodes) = 1
 * round of 4; a chain once. */
static void reductions_and_broadcasts_over_shared_links(void)
{
    const lie *s = &two_by_eight;
    check_crossing(OVL_SCOPE_GPU, OVL_ALL_REDUCE, OVL_ALGO_RING, s, 30, 16);
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_REDUCE, OVL_ALGO_RING, s, 30, 16);
    check_crossing(OVL_SCOPE_CLUSTER, OVL_ALL_REDUCE, OVL_ALGO_RING, s, 60, 16);
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_GATHER, OVL_ALGO_RING, s, 15, 16);
    check_crossing(OVL_SCOPE_CLUSTER, OVL_REDUCE_SCATTER, OVL_ALGO_NONE, s, 30, 16);
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_REDUCE, OVL_ALGO_TREE, s, 1, 1);
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_REDUCE, OVL_ALGO_TREE, &two_by_two, 1, 1);
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_REDUCE, OVL_ALGO_TREE, &three_and_one, 1, 1);
    check_crossing(OVL_SCOPE_CLUSTER, OVL_ALL_REDUCE, OVL_ALGO_TREE, s, 2, 1);
    check_crossing(OVL_SCOPE_GPU, OVL_BROADCAST, OVL_ALGO_TREE, s, 4, 1);
    check_crossing(OVL_SCOPE_NODE, OVL_BROADCAST, OVL_ALGO_TREE, s, 1, 1);
    check_crossing(OVL_SCOPE_GPU, OVL_REDUCE, OVL_ALGO_NONE, s, 1, 1);
    check_crossing(OVL_SCOPE_NODE, OVL_SEND_RECV, OVL_ALGO_DIRECT, s, 1, 1);
    check_crossing(OVL_SCOPE_CLUSTER, OVL_SEND_RECV, OVL_ALGO_NONE, s, 1, 1);
}

/* All members in one node: its link lies between them and carries all that any sends. Ring of 8:
 * 8 * 7/8 = 7, twice for an all-reduce; all-to-all 8 * 7 / 8 = 7; a broadcast reaches 7. */
static void links_inside_one_node(void)
{
    const lie *s = &one_node_of_8;
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_GATHER, OVL_ALGO_RING, s, 7, 1);
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_REDUCE, OVL_ALGO_RING, s, 14, 1);
    check_crossing(OVL_SCOPE_CLUSTER, OVL_ALL_REDUCE, OVL_ALGO_TREE, s, 14, 1);
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_TO_ALL, OVL_ALGO_DIRECT, s, 7, 1);
    check_crossing(OVL_SCOPE_NODE, OVL_BROADCAST, OVL_ALGO_TREE, s, 7, 1);
    check_crossing(OVL_SCOPE_GPU, OVL_ALL_GATHER, OVL_ALGO_RING, s, 7, 8);
    check_crossing(OVL_SCOPE_NODE, OVL_ALL_REDUCE, OVL_ALGO_RING, &alone, 0, 1);
}

/* What a GPU has on the wire among 2 nodes of 8: a ring and a double tree 2 x 15/16 s as the bus
 * bandwidth counts; NVLS 9/8 s to the switch and, of the 1/8 that it owns, all to the network or
 * its part of a tree of two, 2 x 1/2: 10/8 s; in one node 9/8. CollNet s. */
static void bytes_on_the_wire_of_a_member(void)
{
    static const struct {
        ovl_coll op;
        int algorithm;
        uint32_t nodes;
        double times;
    } by[] = {{OVL_ALL_REDUCE, OVL_ALGO_NONE, 2, 30. / 16},
              {OVL_ALL_REDUCE, OVL_ALGO_RING, 2, 30. / 16},
              {OVL_ALL_REDUCE, OVL_ALGO_DOUBLE_TREE, 2, 30. / 16},
              {OVL_ALL_REDUCE, OVL_ALGO_HIERARCHICAL, 2, 30. / 16},
              {OVL_ALL_REDUCE, OVL_ALGO_NVLS, 1, 9. / 8},
              {OVL_ALL_REDUCE, OVL_ALGO_NVLS, 2, 10. / 8},
              {OVL_ALL_REDUCE, OVL_ALGO_NVLS_TREE, 2, 10. / 8},
              {OVL_ALL_REDUCE, OVL_ALGO_NVLS_TREE, 4, 9. / 8 + 3. / 16},
              {OVL_ALL_REDUCE, OVL_ALGO_COLLNET, 2, 1},
              {OVL_ALL_GATHER, OVL_ALGO_NVLS, 1, 7. / 8},
              {OVL_REDUCE_SCATTER, OVL_ALGO_RING, 2, 15. / 16},
              {OVL_ALL_TO_ALL, OVL_ALGO_DIRECT, 2, 15. / 16},
              {OVL_BROADCAST, OVL_ALGO_TREE, 2, 1},
              {OVL_SEND_RECV, OVL_ALGO_DIRECT, 2, 1}};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        uint32_t m = by[i].nodes;
        ovl_spread spread = {.members = 8 * m, .nodes = m, .fewest = 8, .most = 8, .n_kinds = 1};
        ovl_crossing c = ovl_crossing_of_member(by[i].op, by[i].algorithm, &spread);
        CHECK_NEAR((double)c.num / (double)c.den, by[i].times, 1e-12);
    }
    for (int op = 0; op < OVL_SEND_RECV; op++) { /* alone it sends nothing */
        ovl_spread one = {.members = 1, .nodes = 1, .fewest = 1, .most = 1, .n_kinds = 1};
        CHECK_INT(ovl_crossing_of_member((ovl_coll)op, OVL_ALGO_NONE, &one).num, 0);
    }
}

static void check_shared(bench *t, ovl_coll op, uint64_t bytes, const lie *on, ovl_time transfer)
{
    ovl_spread own = spread_of(t, on), *spread = &own;
    ovl_hw_collective entry = formula(OVL_ALGO_DIRECT);
    CHECK(ovl_collective_time(&t->hw, &entry, op, bytes, spread, "c", (ovl_mark){0}, &t->time,
                              &t->extrapolated, &t->errs));
    CHECK_INT(t->time.transfer, transfer);
    /* Alone it takes all of the link and no more, so two of them take twice as long. */
    ovl_crossing c = most_of(t, op, OVL_ALGO_DIRECT, spread);
    CHECK_INT(ovl_crossing_rate(c, bytes, t->time.transfer), t->link.bandwidth);
}

/* 400 MB on 2x2 at 10 GB/s: 2 * 2 * 100 MB = 400 MB a node, 40 ms. 800 MB on 2x8 at 50 GB/s:
 * 8 * 8 * 50 MB = 3.2 GB, 64 ms. */
static void formulas_and_demands_agree_on_shared_links(void)
{
    bench t;
    setup(&t);
    t.link.scope = OVL_SCOPE_NODE;
    t.link.bandwidth = 10000000000;
    check_shared(&t, OVL_ALL_TO_ALL, 400000000, &two_by_two, 40 * OVL_MS);
    t.link.bandwidth = 50000000000;
    check_shared(&t, OVL_ALL_TO_ALL, 800000000, &two_by_eight, 64 * OVL_MS);
    check_shared(&t, OVL_SEND_RECV, 50000000, &two_by_eight, OVL_MS);
    ovl_arena_free(&t.arena);
}

/* Both links: GPUs send 15/16 of 800 MB at 450 GB/s, 1.67 ms; NICs of 50 GB/s need 64. 15 steps pay
 * the greater latency, 5 us. */
static void the_slowest_of_several_links_decides(void)
{
    bench t;
    setup(&t);
    ovl_hw_link links[] = {
        {.name = "nvlink", .bandwidth = 450000000000, .latency = OVL_US},
        {.name = "nic", .bandwidth = 50000000000, .latency = 5 * OVL_US, .scope = OVL_SCOPE_NODE}};
    const char *via[] = {"nvlink", "nic"};
    ovl_hw_collective entry = {.algorithm = OVL_ALGO_DIRECT, .via = {.item = via, .count = 2}};
    t.hw.links = links;
    t.hw.n_links = 2;
    ovl_spread spread = spread_of(&t, &two_by_eight);
    CHECK(ovl_collective_time(&t.hw, &entry, OVL_ALL_TO_ALL, 800000000, &spread, "c", (ovl_mark){0},
                              &t.time, &t.extrapolated, &t.errs));
    CHECK_INT(t.time.transfer, 64 * OVL_MS);
    CHECK_INT(t.time.latency, 75 * OVL_US);
    ovl_arena_free(&t.arena);
}

/* --- Tables, entries, kernels --- */

/* In bytes, between (1000 B, 10 us) and (4000 B, 40 us) a byte takes 10 ns; between 4000 and 5000 B
 * it gives 5 ns back, rounded up to a picosecond; beyond the ends the lines go on. */
static void measured_tables_straight_in_bytes(void)
{
    bench t;
    setup(&t);
    ovl_hw_point points[] = {{1000, 10 * OVL_US}, {4000, 40 * OVL_US}, {5003, 35 * OVL_US}};
    ovl_hw_collective entry = {.table = points, .n_table = 3, .between = OVL_BETWEEN_BYTES};
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, 2000, 8));
    CHECK_INT(t.time.transfer, 20 * OVL_US);
    /* 40 us - 1 * 5 us / 1003 = 39 995 014.955 ps */
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, 4001, 8));
    CHECK_INT(t.time.transfer, 39995015);
    CHECK(!cost(&t, entry, OVL_ALL_REDUCE, 999, 8));
    entry.extrapolate = true;
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, 500, 8));
    CHECK_INT(t.time.transfer, 5 * OVL_US);
    /* 40 us - 11003 * 5 us / 1003 would be negative: 0. */
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, 15003, 8));
    CHECK_INT(t.time.transfer, 0);
    /* Sizes beyond any machine do not overflow: 10 ns a byte up to the longest time. */
    entry.n_table = 2;
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, 100000000000, 8));
    CHECK_INT(t.time.transfer, 1000 * OVL_S);
    CHECK(!cost(&t, entry, OVL_ALL_REDUCE, UINT64_MAX, 8));
    ovl_arena_free(&t.arena);
}

/* In log-log, between (1 MiB, 100 us) and (100 MiB, 10 ms) time is proportional to bytes; between
 * (100 MiB, 10 ms) and (10000 MiB, 100 ms) it goes with the root: 400 MiB take 20 ms. */
static void measured_tables(void)
{
    bench t;
    setup(&t);
    ovl_hw_point points[] = {
        {MIB, 100 * OVL_US}, {100 * MIB, 10 * OVL_MS}, {10000 * MIB, 100 * OVL_MS}};
    ovl_hw_collective entry = {.table = points, .n_table = 3};
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, MIB, 8));
    CHECK_INT(t.time.transfer, 100 * OVL_US);
    CHECK_INT(t.time.latency, 0);
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, 10 * MIB, 8));
    CHECK_INT(t.time.transfer, OVL_MS);
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, 400 * MIB, 8));
    CHECK_INT(t.time.transfer, 20 * OVL_MS);
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, 10000 * MIB, 8));
    CHECK_INT(t.time.transfer, 100 * OVL_MS);
    CHECK(!t.extrapolated);
    CHECK(!cost(&t, entry, OVL_ALL_REDUCE, MIB - 1, 8));
    CHECK(!cost(&t, entry, OVL_ALL_REDUCE, 10001 * MIB, 8));
    CHECK_INT(t.errs.errors, 2);
    CHECK_HAS(t.errs.items[0].text, "outside the measured table");
    CHECK_INT(t.errs.items[0].mark.line, 3);
    entry.extrapolate = true;
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, MIB / 2, 8));
    CHECK_INT(t.time.transfer, 50 * OVL_US);
    CHECK(cost(&t, entry, OVL_ALL_REDUCE, 40000 * MIB, 8));
    CHECK_INT(t.time.transfer, 200 * OVL_MS);
    CHECK(t.extrapolated);
    ovl_arena_free(&t.arena);
}

static void entries_of_the_group_come_first(void)
{
    bench t;
    setup(&t);
    ovl_hw_collective entries[] = {{.op = OVL_ALL_GATHER, .group = "dp"},
                                   {.op = OVL_ALL_REDUCE},
                                   {.op = OVL_ALL_REDUCE, .group = "dp"},
                                   {.op = OVL_ALL_REDUCE, .group = "dp"}};
    t.hw.collectives = entries;
    t.hw.n_collectives = 4;
    CHECK(ovl_find_collective(&t.hw, OVL_ALL_REDUCE, "dp", NULL) == &entries[2]);
    CHECK(ovl_find_collective(&t.hw, OVL_ALL_REDUCE, "tp", NULL) == &entries[1]);
    CHECK(ovl_find_collective(&t.hw, OVL_ALL_REDUCE, NULL, NULL) == &entries[1]);
    CHECK(ovl_find_collective(&t.hw, OVL_ALL_GATHER, "tp", NULL) == NULL);
    /* of two as close, the one that says where its members lie */
    ovl_spread one = {.members = 2, .nodes = 1, .n_kinds = 1}, several = ovl_spread_apart(2);
    entries[3] = (ovl_hw_collective){.op = OVL_ALL_REDUCE, .nodes = OVL_NODES_ONE};
    CHECK(ovl_find_collective(&t.hw, OVL_ALL_REDUCE, "tp", &one) == &entries[3]);
    CHECK(ovl_find_collective(&t.hw, OVL_ALL_REDUCE, "tp", &several) == &entries[1]);
    CHECK(ovl_find_collective(&t.hw, OVL_ALL_REDUCE, "dp", &one) == &entries[2]);
    ovl_arena_free(&t.arena);
}

/* 1e12 FLOP at 1e15 FLOP/s: 1 ms; half of it reached: 2 ms. 3 GB at 2 TB/s: 1.5 ms. */
static void rooflines(void)
{
    bench t;
    setup(&t);
    ovl_time duration, compute;
    t.hw.gpu.peak.rate[OVL_BF16] = 1e15;
    t.hw.gpu.hbm = 2000000000000;
    ovl_mark mark = {"s.yaml", 7, 1};
    CHECK(ovl_kernel_time(&t.hw, 1e12, 3000000000, OVL_BF16, "k", mark, &duration, &compute,
                          &t.errs));
    CHECK_INT(duration, 1500 * OVL_US);
    CHECK_INT(compute, OVL_MS);
    t.hw.gpu.efficiency = 0.5;
    CHECK(ovl_kernel_time(&t.hw, 1e12, 3000000000, OVL_BF16, "k", mark, &duration, &compute,
                          &t.errs));
    CHECK_INT(duration, 2 * OVL_MS);
    t.hw.gpu.hbm_efficiency = 0.75;
    CHECK(ovl_kernel_time(&t.hw, 0, 3000000000, OVL_BF16, "k", mark, &duration, &compute, &t.errs));
    CHECK_INT(duration, 2 * OVL_MS);
    CHECK_INT(compute, 0);
    t.hw.gpu.hbm = 0;
    CHECK(!ovl_kernel_time(&t.hw, 1, 1, OVL_F16, "k", mark, &duration, &compute, &t.errs));
    CHECK_INT(t.errs.errors, 2);
    CHECK_HAS(t.errs.items[0].text, "gpu.peak for f16");
    CHECK_HAS(t.errs.items[1].text, "gpu.hbm");
    CHECK(!ovl_kernel_time(&t.hw, 1e300, 0, OVL_BF16, "k", mark, &duration, &compute, &t.errs));
    ovl_arena_free(&t.arena);
}

/* 1 GB in 10 ms is algbw 100 GB/s; busbw of an all-reduce of 8 is 14/8 of it, of an all-gather 7/8,
 * of a broadcast all. */
static void wire_rates_are_busbw(void)
{
    const uint64_t s = 1000000000;
    CHECK_INT(ovl_wire_rate(OVL_ALL_REDUCE, s, 8, 10 * OVL_MS), 175000000000);
    CHECK_INT(ovl_wire_rate(OVL_ALL_GATHER, s, 8, 10 * OVL_MS), 87500000000);
    CHECK_INT(ovl_wire_rate(OVL_BROADCAST, s, 8, 10 * OVL_MS), 100000000000);
    CHECK_INT(ovl_wire_rate(OVL_ALL_REDUCE, s, 1, 10 * OVL_MS), 0);
    CHECK_INT(ovl_wire_rate(OVL_ALL_REDUCE, s, 8, 0), 0);
    const ovl_coll ops[] = {OVL_ALL_REDUCE, OVL_REDUCE_SCATTER, OVL_ALL_TO_ALL, OVL_REDUCE,
                            OVL_SEND_RECV};
    for (uint32_t i = 0; i < OVL_COUNT(ops); i++) {
        double want = 1e11 * ovl_busbw_factor(ops[i], 7);
        CHECK_NEAR((double)ovl_wire_rate(ops[i], s, 7, 10 * OVL_MS), want, 1.0);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"bytes over rates and times are exact", bytes_and_rates_are_exact},
        {"alpha and beta give latency and transfer", alpha_and_beta},
        {"ring formulas by hand", ring_formulas},
        {"textbook formulas by hand", textbook_formulas_by_hand},
        {"tree and direct formulas by hand", tree_and_direct_formulas},
        {"all-to-all over shared links carries every pair", all_to_all_over_shared_links},
        {"rings and trees leave a node as often as they do",
         reductions_and_broadcasts_over_shared_links},
        {"inside one node a shared link carries all", links_inside_one_node},
        {"bytes on the wire of a member", bytes_on_the_wire_of_a_member},
        {"alone an operation takes all of its slowest link",
         formulas_and_demands_agree_on_shared_links},
        {"the slowest of several links decides", the_slowest_of_several_links_decides},
        {"measured tables may be straight in bytes", measured_tables_straight_in_bytes},
        {"measured tables are straight in log-log and end where they end", measured_tables},
        {"an entry of the group beats an entry for any", entries_of_the_group_come_first},
        {"rooflines take the longer of compute and memory", rooflines},
        {"wire rates are bus bandwidths", wire_rates_are_busbw},
        CU_TEST_INFO_NULL,
    };
    return check_main("cost", tests);
}
