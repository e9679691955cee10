#include "models/plan.h"
#include "tests/support/check.h"

/* 4 nodes of 8 GPUs; a NIC for every 2 of them; 2 nodes on a leaf; a spine above the leaves. */
enum { NVLINK, NIC, LEAF, SPINE, SWITCH, LINKS };

#define GB UINT64_C(1000000000)

typedef struct bench {
    ovl_arena arena;
    ovl_errs errs;
    ovl_hw hw;
    ovl_hw_link links[LINKS];
    ovl_lowering l;
} bench;

static void setup(bench *t)
{
    memset(t, 0, sizeof *t);
    t->errs.arena = &t->arena;
    t->links[NVLINK] = (ovl_hw_link){.name = "nvlink", .bandwidth = 450 * GB, .latency = OVL_US};
    t->links[NIC] = (ovl_hw_link){.name = "nic",
                                  .bandwidth = 50 * GB,
                                  .latency = 5 * OVL_US,
                                  .gpus = 2,
                                  .out_of = OVL_OUT_OF_NODE};
    t->links[LEAF] = (ovl_hw_link){.name = "leaf", .bandwidth = 100 * GB, .gpus = 16, .out_of = 16};
    t->links[SPINE] = (ovl_hw_link){
        .name = "spine", .bandwidth = 100 * GB, .scope = OVL_SCOPE_CLUSTER, .out_of = 16};
    t->links[SWITCH] = (ovl_hw_link){.name = "pcie", .bandwidth = 25 * GB, .gpus = 4};
    t->hw = (ovl_hw){.gpus_per_node = 8, .gpus_at_most = 8, .links = t->links, .n_links = LINKS};
    t->l = (ovl_lowering){
        .hw = &t->hw, .arena = &t->arena, .errs = &t->errs, .n_ranks = 32, .seats = {NULL, 32, 8}};
}

static void teardown(bench *t)
{
    ovl_vec_free(&t->l.spreads);
    ovl_vec_free(&t->l.ways);
    ovl_vec_free(&t->l.sitting);
    ovl_arena_free(&t->arena);
}

/* Ranks first, first + stride, ... */
static const ovl_spread *spread_of(bench *t, uint32_t first, uint32_t stride, uint32_t n)
{
    uint32_t ranks[32];
    const ovl_spread *of[32];
    for (uint32_t i = 0; i < n; i++) {
        ranks[i] = first + i * stride;
    }
    ovl_find_spreads(&t->l, ranks, n, of);
    return of[0];
}

static void check_way(bench *t, const ovl_spread *s, int link, ovl_coll op, int algorithm,
                      uint64_t num, uint64_t den)
{
    ovl_crossing c = ovl_crossing_of(&t->hw, (uint32_t)link, op, algorithm, s);
    CHECK_INT(c.num, num);
    CHECK_INT(c.den, den);
}

/* 16 ranks on two nodes. A ring leaves a node with 2 x 15/16 of the bytes, of which a NIC that
 * serves 2 of the 8 carries a quarter: 15/32. All-to-all: 8 x 8/16 leave, 1 over each NIC. A
 * reduce-scatter 15/16 / 4. */
static void nics_share_what_leaves_their_node(void)
{
    bench t;
    setup(&t);
    const ovl_spread *s = spread_of(&t, 0, 1, 16);
    check_way(&t, s, NIC, OVL_ALL_REDUCE, OVL_ALGO_RING, 15, 32);
    check_way(&t, s, NIC, OVL_ALL_TO_ALL, OVL_ALGO_DIRECT, 1, 1);
    check_way(&t, s, NIC, OVL_REDUCE_SCATTER, OVL_ALGO_RING, 15, 64);
    check_way(&t, s, NVLINK, OVL_ALL_REDUCE, OVL_ALGO_RING, 15, 8);
    teardown(&t);
}

/* One rank of each node: all that leaves goes over the NIC of that rank. Both ranks of a NIC and
 * their likes: the same, for the ring leaves once. Inside a node nothing crosses. */
static void a_rail_has_its_nic_for_itself(void)
{
    bench t;
    setup(&t);
    check_way(&t, spread_of(&t, 3, 8, 4), NIC, OVL_ALL_REDUCE, OVL_ALGO_RING, 3, 2);
    check_way(&t, spread_of(&t, 0, 1, 8), NIC, OVL_ALL_REDUCE, OVL_ALGO_RING, 0, 1);
    check_way(&t, spread_of(&t, 0, 8, 2), NIC, OVL_SEND_RECV, OVL_ALGO_NONE, 1, 1);
    CHECK(spread_of(&t, 3, 8, 4) == spread_of(&t, 4, 8, 4));
    CHECK(spread_of(&t, 0, 8, 2) != spread_of(&t, 0, 16, 2)); /* within a leaf, and not */
    teardown(&t);
}

/* 32 ranks on two leaves of 16: a ring leaves each once, 2 x 31/32; the spine has both. 16 ranks of
 * one leaf use neither. All-to-all: 16 x 16/32 = 8 out of each leaf. */
static void leaves_carry_what_leaves_them(void)
{
    bench t;
    setup(&t);
    const ovl_spread *all = spread_of(&t, 0, 1, 32);
    check_way(&t, all, LEAF, OVL_ALL_REDUCE, OVL_ALGO_RING, 31, 16);
    check_way(&t, all, SPINE, OVL_ALL_REDUCE, OVL_ALGO_RING, 31, 8);
    check_way(&t, all, LEAF, OVL_ALL_TO_ALL, OVL_ALGO_DIRECT, 8, 1);
    check_way(&t, spread_of(&t, 16, 1, 16), LEAF, OVL_ALL_REDUCE, OVL_ALGO_RING, 0, 1);
    check_way(&t, spread_of(&t, 16, 1, 16), SPINE, OVL_ALL_REDUCE, OVL_ALGO_RING, 0, 1);
    teardown(&t);
}

/* A switch of 4 GPUs carries all that they send out of it: 4 x 4/8 of an all-to-all of 8; among 4
 * alone all of 4 x 3/4. */
static void blocks_without_out_of_carry_all(void)
{
    bench t;
    setup(&t);
    check_way(&t, spread_of(&t, 0, 1, 8), SWITCH, OVL_ALL_TO_ALL, OVL_ALGO_DIRECT, 2, 1);
    check_way(&t, spread_of(&t, 0, 1, 4), SWITCH, OVL_ALL_TO_ALL, OVL_ALGO_DIRECT, 3, 1);
    teardown(&t);
}

/* 16 ranks on 2 nodes, 1 GB. In the node 2 x 7/8 GB at 450 GB/s: 3.888 888 889 ms, 2 x 7 steps of 1
 * us; across 2 x 1/2 GB out of a node, a quarter over each NIC of 50 GB/s: 5 ms, 2 steps of 5 us.
 * The flat ring waits for its NICs: 15/32 GB at 50 GB/s. */
static void levels_come_one_after_the_other(void)
{
    bench t;
    setup(&t);
    static const char *via[] = {"nvlink", "nic"};
    ovl_hw_collective entry = {.algorithm = OVL_ALGO_HIERARCHICAL,
                               .via = {.item = via, .count = 2}};
    ovl_comm_time time;
    bool extrapolated;
    const ovl_spread *s = spread_of(&t, 0, 1, 16);
    CHECK(ovl_collective_time(&t.hw, &entry, OVL_ALL_REDUCE, GB, s, "c", (ovl_mark){0}, &time,
                              &extrapolated, &t.errs));
    CHECK_INT(time.transfer, 3888888889 + 5 * OVL_MS);
    CHECK_INT(time.latency, 24 * OVL_US);
    check_way(&t, s, NIC, OVL_ALL_REDUCE, OVL_ALGO_HIERARCHICAL, 1, 4);
    entry.algorithm = OVL_ALGO_RING;
    CHECK(ovl_collective_time(&t.hw, &entry, OVL_ALL_REDUCE, GB, s, "c", (ovl_mark){0}, &time,
                              &extrapolated, &t.errs));
    CHECK_INT(time.transfer, 9375 * OVL_US);
    /* One rank of each node: all is across. */
    entry.algorithm = OVL_ALGO_HIERARCHICAL;
    CHECK(ovl_collective_time(&t.hw, &entry, OVL_ALL_GATHER, GB, spread_of(&t, 0, 8, 2), "c",
                              (ovl_mark){0}, &time, &extrapolated, &t.errs));
    CHECK_INT(time.transfer, 10 * OVL_MS);
    CHECK_INT(time.latency, 5 * OVL_US);
    teardown(&t);
}

static void levels_want_a_way_out_and_even_nodes(void)
{
    bench t;
    setup(&t);
    static const char *inside[] = {"nvlink"}, *both[] = {"nvlink", "nic"};
    ovl_hw_collective entry = {.algorithm = OVL_ALGO_HIERARCHICAL,
                               .via = {.item = inside, .count = 1}};
    ovl_comm_time time;
    bool extrapolated;
    CHECK(!ovl_collective_time(&t.hw, &entry, OVL_ALL_REDUCE, GB, spread_of(&t, 0, 1, 16), "c",
                               (ovl_mark){0}, &time, &extrapolated, &t.errs));
    CHECK_HAS(t.errs.items[0].text, "a link in `via` that leaves the node");
    entry.via = (ovl_texts){.item = both, .count = 2};
    CHECK(!ovl_collective_time(&t.hw, &entry, OVL_ALL_REDUCE, GB, spread_of(&t, 0, 1, 12), "c",
                               (ovl_mark){0}, &time, &extrapolated, &t.errs));
    CHECK_HAS(t.errs.items[1].text, "as many members on every node");
    teardown(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"NICs share what leaves their node", nics_share_what_leaves_their_node},
        {"a rail has its NIC for itself", a_rail_has_its_nic_for_itself},
        {"leaves carry what leaves them", leaves_carry_what_leaves_them},
        {"blocks without out_of carry all", blocks_without_out_of_carry_all},
        {"levels come one after the other", levels_come_one_after_the_other},
        {"levels want a way out and even nodes", levels_want_a_way_out_and_even_nodes},
        CU_TEST_INFO_NULL,
    };
    return check_main("spread", tests);
}
