#include "models/nccl.h"
#include "tests/support/check.h"

#define GB UINT64_C(1000000000)

typedef struct bench {
    ovl_arena arena;
    ovl_errs errs;
    ovl_hw_graph graphs[3];
    ovl_hw_nccl nccl;
    ovl_nccl_choice choice;
} bench;

static void setup(bench *t)
{
    memset(t, 0, sizeof *t);
    t->errs.arena = &t->arena;
    t->graphs[0] =
        (ovl_hw_graph){.gpus = 8, .nodes = OVL_NODES_SEVERAL, .channels = 8, .ring = 48 * GB};
    t->graphs[1] = (ovl_hw_graph){.gpus = 1, .channels = 2, .ring = 24 * GB};
    t->graphs[2] = (ovl_hw_graph){
        .gpus = 8, .channels = 16, .ring = 24 * GB, .nvls_channels = 16, .nvls = 20 * GB};
    t->nccl = (ovl_hw_nccl){.given = true, .version = "2.30.7", .gpu = 2};
    t->nccl.graphs = (ovl_items){t->graphs, 3};
}

static ovl_spread on(uint32_t nodes, uint32_t gpus)
{
    return (ovl_spread){.members = nodes * gpus, .nodes = nodes, .fewest = gpus};
}

static bool choose(bench *t, ovl_coll op, uint64_t bytes, ovl_spread spread)
{
    return ovl_nccl_choose(&t->nccl, op, bytes, &spread, (ovl_mark){"h.yaml", 3, 5}, &t->choice,
                           &t->errs);
}

static void allow(ovl_texts *list, const char **name)
{
    *list = (ovl_texts){.item = name, .count = 1};
}

/* 4 nodes of 8: n = 32, reduce-scatter of 31 steps, 3 of them across nodes.
 * LL: an Intel CPU bounds LL at 20.4 GB/s over three nodes and more; 384/2 is no bound. algbw 20.4
 * x 32/31. Latency 6.6 + 28 x max(0.6, 1) + 3 x 2.7 = 42.7. AMD: 2 us a step, 6.6 + 56 + 8.1
 * = 70.7, and 19 GB/s. */
static void rings_across_nodes_pay_the_cpu(void)
{
    bench t;
    setup(&t);
    ovl_spread spread = on(4, 8);
    ovl_nccl_pair pair = ovl_nccl_tune(&t.nccl, &t.graphs[0], OVL_REDUCE_SCATTER, OVL_NCCL_RING,
                                       OVL_NCCL_LL, &spread);
    CHECK_NEAR(pair.latency, 42.7, 1e-9);
    CHECK_NEAR(pair.bandwidth, 20.4 * 32 / 31, 1e-9);
    t.nccl.cpu = 1;
    pair = ovl_nccl_tune(&t.nccl, &t.graphs[0], OVL_REDUCE_SCATTER, OVL_NCCL_RING, OVL_NCCL_LL,
                         &spread);
    CHECK_NEAR(pair.latency, 70.7, 1e-9);
    CHECK_NEAR(pair.bandwidth, 19.0 * 32 / 31, 1e-9);
    ovl_arena_free(&t.arena);
}

/* Nodes that are no power of two. 7 of 8, n = 56, ring, Simple: 110 steps, 12 of them across: 8.4 +
 * 98 x max(3.4, 3) + 12 x 14 = 509.6; 384 x 56/110. 5 of 8, tree, LL128: floor(log2 5) = 2 hops: 14
 * + 2 (7 x 1.25 + 2 x 8.5) = 65.5; min(0.92 x 384, 8 x 36) x 120/128 = 270, but no more than 8 x
 * 29, half of it, 85 % as the pattern is plain. 3 of 8, all-gather, ring, LL: 23 steps, 2
 * across: 6.6 + 21 + 2 x 2.7 = 33; 20.4 x 24/23. */
static void any_number_of_nodes(void)
{
    bench t;
    setup(&t);
    ovl_spread spread = on(7, 8);
    ovl_nccl_pair pair = ovl_nccl_tune(&t.nccl, &t.graphs[0], OVL_ALL_REDUCE, OVL_NCCL_RING,
                                       OVL_NCCL_SIMPLE, &spread);
    CHECK_NEAR(pair.latency, 509.6, 1e-9);
    CHECK_NEAR(pair.bandwidth, 384.0 * 56 / 110, 1e-9);
    spread = on(5, 8);
    pair = ovl_nccl_tune(&t.nccl, &t.graphs[0], OVL_ALL_REDUCE, OVL_NCCL_TREE, OVL_NCCL_LL128,
                         &spread);
    CHECK_NEAR(pair.latency, 65.5, 1e-9);
    CHECK_NEAR(pair.bandwidth, 8 * 29.0 * 0.5 * 0.85, 1e-9);
    spread = on(3, 8);
    pair =
        ovl_nccl_tune(&t.nccl, &t.graphs[0], OVL_ALL_GATHER, OVL_NCCL_RING, OVL_NCCL_LL, &spread);
    CHECK_NEAR(pair.latency, 33.0, 1e-9);
    CHECK_NEAR(pair.bandwidth, 20.4 * 24 / 23, 1e-9);
    ovl_arena_free(&t.arena);
}

/* Inside one node of 8: LL is bound by the GPU, min(141, 384/2); no hop costs the network: 14 x 0.6
 * + 6.6 = 15. */
static void inside_a_node_the_gpu_bounds(void)
{
    bench t;
    setup(&t);
    ovl_spread spread = on(1, 8);
    CHECK(ovl_nccl_graph(&t.nccl, &spread) == &t.graphs[2]);
    ovl_nccl_pair pair =
        ovl_nccl_tune(&t.nccl, &t.graphs[2], OVL_ALL_REDUCE, OVL_NCCL_RING, OVL_NCCL_LL, &spread);
    CHECK_NEAR(pair.latency, 15.0, 1e-9);
    CHECK_NEAR(pair.bandwidth, 141.0 * 8 / 14, 1e-9);
    ovl_arena_free(&t.arena);
}

/* NVLS on one Hopper node: a channel does 20 x 0.85 x 15/16 x 2 = 31.875 but no more than 20 (what
 * it does across nodes, which defaults to the same): 16 x 20 x 8/14 GB/s; 25 us. */
static void nvls_has_its_own_channels(void)
{
    bench t;
    setup(&t);
    ovl_spread spread = on(1, 8);
    ovl_nccl_pair pair = ovl_nccl_tune(&t.nccl, &t.graphs[2], OVL_ALL_REDUCE, OVL_NCCL_NVLS,
                                       OVL_NCCL_SIMPLE, &spread);
    CHECK_NEAR(pair.latency, 25.0, 1e-9);
    CHECK_NEAR(pair.bandwidth, 320.0 * 8 / 14, 1e-9);
    CHECK(choose(&t, OVL_ALL_REDUCE, UINT64_C(1) << 30, spread));
    CHECK_INT(t.choice.algo, OVL_NCCL_RING); /* 384 GB/s of bus beat 320 */
    const char *name = "NVLS";
    allow(&t.nccl.algorithms, &name);
    CHECK(choose(&t, OVL_ALL_REDUCE, UINT64_C(1) << 30, spread));
    CHECK_INT(t.choice.channels, 16);
    ovl_arena_free(&t.arena);
}

/* One GPU a node: PAT exists for reduce-scatter and all-gather. 8 nodes: 8 + 3 x 14/3.5 + 8 x 2.8 =
 * 42.4 us, 0.75 x 48 GB/s. */
static void pat_wants_one_gpu_a_node(void)
{
    bench t;
    setup(&t);
    ovl_spread spread = on(8, 1);
    ovl_nccl_pair pair = ovl_nccl_tune(&t.nccl, &t.graphs[1], OVL_ALL_GATHER, OVL_NCCL_PAT,
                                       OVL_NCCL_SIMPLE, &spread);
    CHECK_NEAR(pair.latency, 8 + 3 * 14 / 3.5 + 8 * 2.8, 1e-9);
    CHECK_NEAR(pair.bandwidth, 36.0, 1e-9);
    pair = ovl_nccl_tune(&t.nccl, &t.graphs[1], OVL_ALL_REDUCE, OVL_NCCL_PAT, OVL_NCCL_SIMPLE,
                         &spread);
    CHECK_NEAR(pair.bandwidth, 0.0, 0.0);
    spread = on(2, 8);
    pair = ovl_nccl_tune(&t.nccl, &t.graphs[0], OVL_ALL_GATHER, OVL_NCCL_PAT, OVL_NCCL_SIMPLE,
                         &spread);
    CHECK_NEAR(pair.bandwidth, 0.0, 0.0);
    ovl_arena_free(&t.arena);
}

/* 8 GPUs on one node and 2 on another: what the poorest node has counts. */
static void the_poorest_node_counts(void)
{
    bench t;
    setup(&t);
    ovl_spread spread = {.members = 10, .nodes = 2, .fewest = 2, .most = 8, .n_kinds = 1};
    ovl_nccl_choice choice;
    CHECK(
        !ovl_nccl_choose(&t.nccl, OVL_ALL_REDUCE, 1000, &spread, (ovl_mark){0}, &choice, &t.errs));
    CHECK_HAS(t.errs.items[0].text, "with 2 to 8 GPUs on each of 2 nodes (10 in all)");
    CHECK_HAS(t.errs.items[0].text, "add an entry {gpus: 2,");
    spread = (ovl_spread){.members = 9, .nodes = 2, .fewest = 1, .most = 8, .n_kinds = 1};
    CHECK(ovl_nccl_graph(&t.nccl, &spread) == &t.graphs[1]);
    ovl_arena_free(&t.arena);
}

/* Ring and LL on 16 ranks: a channel less while bytes < channels x 512 x 8 x 16 = 65536 a channel.
 * 200 KB leave 3 of 8, 1 KB one. Simple: 512 x 64 = 32768 a channel: 200 KB leave 6. */
static void small_calls_take_fewer_sms(void)
{
    bench t;
    setup(&t);
    const char *ring = "Ring", *ll = "LL", *simple = "Simple";
    allow(&t.nccl.algorithms, &ring);
    allow(&t.nccl.protocols, &ll);
    CHECK(choose(&t, OVL_ALL_REDUCE, 200000, on(2, 8)));
    CHECK_INT(t.choice.channels, 3);
    CHECK(choose(&t, OVL_ALL_REDUCE, 1000, on(2, 8)));
    CHECK_INT(t.choice.channels, 1);
    allow(&t.nccl.protocols, &simple);
    CHECK(choose(&t, OVL_ALL_REDUCE, 200000, on(2, 8)));
    CHECK_INT(t.choice.channels, 6);
    CHECK(choose(&t, OVL_ALL_REDUCE, 20000000, on(2, 8)));
    CHECK_INT(t.choice.channels, 8);
    ovl_arena_free(&t.arena);
}

/* Ring, Simple, 16 ranks on 2 nodes: 8.4 + 28 x 3.4 + 2 x 14 = 131.6 us; 1.4 times that once 8
 * channels x 16 ranks have 64 bytes each: from 8192 bytes on. */
static void large_rings_reach_a_plateau(void)
{
    bench t;
    setup(&t);
    const char *ring = "Ring", *simple = "Simple";
    allow(&t.nccl.algorithms, &ring);
    allow(&t.nccl.protocols, &simple);
    CHECK(choose(&t, OVL_ALL_REDUCE, 8191, on(2, 8)));
    CHECK_INT(t.choice.time.latency, 131600 * OVL_NS);
    CHECK(choose(&t, OVL_ALL_REDUCE, 8192, on(2, 8)));
    CHECK_INT(t.choice.time.latency, 184240 * OVL_NS);
    /* 8192 B at 384 x 16/30 = 204.8 GB/s: 40 ns. */
    CHECK_INT(t.choice.time.transfer, 40 * OVL_NS);
    ovl_arena_free(&t.arena);
}

static void what_is_not_known_is_said(void)
{
    bench t;
    setup(&t);
    CHECK(!choose(&t, OVL_ALL_REDUCE, 1000, on(2, 4)));
    CHECK(strstr(t.errs.items[0].text, "4 GPUs on each of 2 nodes") != NULL);
    CHECK_INT(t.errs.items[0].mark.line, 3);
    const char *pat = "PAT";
    allow(&t.nccl.algorithms, &pat);
    CHECK(!choose(&t, OVL_ALL_REDUCE, 1000, on(2, 8)));
    CHECK(strstr(t.errs.items[1].text, "none of the allowed") != NULL);
    CHECK(!ovl_nccl_covers(OVL_ALL_TO_ALL));
    CHECK(ovl_nccl_covers(OVL_BROADCAST));
    ovl_arena_free(&t.arena);
}

/* By the H100 log there is no NVLSTree with 1 or 2 GPUs a node; CollNet is off below two nodes. A
 * graph that states the channels does not make them work. */
static void switches_need_enough_gpus_and_nodes(void)
{
    static const struct {
        ovl_nccl_algo algo;
        ovl_coll op;
        uint32_t nodes, gpus;
        bool is;
    } by[] = {
        {OVL_NCCL_NVLS, OVL_ALL_REDUCE, 1, 2, false},
        {OVL_NCCL_NVLS, OVL_ALL_REDUCE, 1, 3, true},
        {OVL_NCCL_NVLS, OVL_ALL_GATHER, 2, 8, false},
        {OVL_NCCL_NVLS, OVL_ALL_REDUCE, 2, 8, true}, /* with CollNet across */
        {OVL_NCCL_NVLS_TREE, OVL_ALL_REDUCE, 1, 8, false},
        {OVL_NCCL_NVLS_TREE, OVL_ALL_REDUCE, 2, 2, false},
        {OVL_NCCL_NVLS_TREE, OVL_ALL_REDUCE, 8, 1, false},
        {OVL_NCCL_NVLS_TREE, OVL_ALL_REDUCE, 2, 4, true},
        {OVL_NCCL_COLLNET_DIRECT, OVL_ALL_REDUCE, 1, 8, false},
        {OVL_NCCL_COLLNET_CHAIN, OVL_ALL_REDUCE, 1, 8, false},
        {OVL_NCCL_COLLNET_CHAIN, OVL_ALL_REDUCE, 2, 1, true},
        {OVL_NCCL_PAT, OVL_ALL_GATHER, 8, 1, true},
        {OVL_NCCL_PAT, OVL_ALL_GATHER, 4, 2, false},
        {OVL_NCCL_PAT, OVL_ALL_GATHER, 1, 8, false},
        {OVL_NCCL_PAT, OVL_ALL_REDUCE, 8, 1, false},
    };
    bench t;
    setup(&t);
    ovl_hw_graph graph = t.graphs[2];
    graph.collnet_channels = 16;
    graph.collnet = 20 * GB;
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        ovl_spread spread = on(by[i].nodes, by[i].gpus);
        ovl_nccl_pair pair =
            ovl_nccl_tune(&t.nccl, &graph, by[i].op, by[i].algo, OVL_NCCL_SIMPLE, &spread);
        CHECK_INT(pair.bandwidth > 0 ? 1 : 0, by[i].is ? 1 : 0);
    }
    ovl_arena_free(&t.arena);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"rings across nodes pay the CPU", rings_across_nodes_pay_the_cpu},
        {"any number of nodes", any_number_of_nodes},
        {"inside a node the GPU bounds LL", inside_a_node_the_gpu_bounds},
        {"NVLS has its own channels", nvls_has_its_own_channels},
        {"switches need enough GPUs and nodes", switches_need_enough_gpus_and_nodes},
        {"PAT wants one GPU a node", pat_wants_one_gpu_a_node},
        {"small calls take fewer SMs", small_calls_take_fewer_sms},
        {"large rings reach a plateau", large_rings_reach_a_plateau},
        {"what is not known is said", what_is_not_known_is_said},
        {"the poorest node counts", the_poorest_node_counts},
        CU_TEST_INFO_NULL,
    };
    return check_main("nccl", tests);
}
