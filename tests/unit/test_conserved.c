/*
 * What each link carries for groups that lie unevenly on nodes of 8 GPUs: 8 + 2, 6 + 4 and 3 + 1 +
 * 1 members, every collective and algorithm, by hand. 100 MB; a NIC for each GPU, or for two; the
 * way out of a node; a spine between the nodes.
 */
#include "tests/support/links.h"
#include "tests/support/lowering.h"

#include <stdio.h>

#define TEXT                                                                                       \
    "hardware:\n"                                                                                  \
    "  node: {gpus: 8}\n"                                                                          \
    "  links:\n"                                                                                   \
    "    nic: {bandwidth: 10 GB/s, gpus: 1, out_of: node}\n"                                       \
    "    two: {bandwidth: 900 GB/s, gpus: 2, out_of: node}\n"                                      \
    "    way: {bandwidth: 900 GB/s, scope: node}\n"                                                \
    "    leaf: {bandwidth: 900 GB/s, gpus: 16, out_of: 16}\n"                                      \
    "    spine: {bandwidth: 900 GB/s, scope: cluster}\n"                                           \
    "  collectives: [{op: %s, via: [nic, two, way, leaf, spine], algorithm: %s}]\n"                \
    "workload:\n"                                                                                  \
    "  ranks: 24\n"                                                                                \
    "  groups: {g: [%s]}\n"                                                                        \
    "  ops: [{collective: x, op: %s, group: g, ranks: [%s], bytes: 100 MB}]\n"

#define EIGHT_TWO     "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
#define SIX_FOUR      "0, 1, 2, 3, 4, 5, 8, 9, 10, 11"
#define THREE_ONE_ONE "0, 1, 2, 8, 16"

static bool run(bench *t, const char *op, const char *algorithm, const char *group)
{
    char text[2048];
    snprintf(text, sizeof text, TEXT, op, algorithm, group, op, group);
    bool good = lower(t, text, NULL) && analyse_both(t);
    CHECK_TEXT(mistake(t), "none");
    return good;
}

typedef struct carried {
    const char *op, *algorithm, *group;
    double step;                     /* ms */
    double nic, two, way, all, leaf; /* busiest; all: the nodes together; leaf: one, none is 0 */
} carried;

/* Ring: 2 x 9/10 s = 180 MB leave each node, over its 8, 2 (6, 4) NICs; of 5 members 160. Half of
 * it for a pass. Tree: s/2 + s/2 between two nodes, 100; of three nodes 100 + 100 x g/5. All to
 * all: of 8 each sends 2 x 10 MB, of 2 8 x 10; of 6 4 x 10, of 4 6 x 10; of 3 2 x 20, alone 4 x 20.
 * SHARP: s. Nodes 0 and 1 are under a leaf, so 3 + 1 + 1 has 4 + 1: a ring leaves each once, all
 * pairs are 4 x 1 x 20, of a tree of two leaves 100. */
static const carried even[] = {
    {"all_reduce", "ring", EIGHT_TWO, 9, 90, 180, 180, 360, 0},
    {"all_reduce", "tree", EIGHT_TWO, 5, 50, 100, 100, 200, 0},
    {"all_reduce", "sharp", EIGHT_TWO, 5, 50, 100, 100, 200, 0},
    {"all_gather", "ring", EIGHT_TWO, 4.5, 45, 90, 90, 180, 0},
    {"reduce_scatter", "ring", EIGHT_TWO, 4.5, 45, 90, 90, 180, 0},
    {"all_to_all", "direct", EIGHT_TWO, 8, 80, 160, 160, 320, 0},
    {"all_reduce", "ring", SIX_FOUR, 4.5, 45, 90, 180, 360, 0},
    {"all_reduce", "tree", SIX_FOUR, 2.5, 25, 50, 100, 200, 0},
    {"all_gather", "ring", SIX_FOUR, 2.25, 22.5, 45, 90, 180, 0},
    {"reduce_scatter", "ring", SIX_FOUR, 2.25, 22.5, 45, 90, 180, 0},
    {"all_to_all", "direct", SIX_FOUR, 6, 60, 120, 240, 480, 0},
    {"all_reduce", "ring", THREE_ONE_ONE, 16, 160, 160, 160, 480, 160},
    {"all_reduce", "tree", THREE_ONE_ONE, 12, 120, 120, 160, 400, 100},
    {"all_reduce", "sharp", THREE_ONE_ONE, 10, 100, 100, 100, 300, 100},
    {"all_gather", "ring", THREE_ONE_ONE, 8, 80, 80, 80, 240, 80},
    {"reduce_scatter", "ring", THREE_ONE_ONE, 8, 80, 80, 80, 240, 80},
    {"all_to_all", "direct", THREE_ONE_ONE, 8, 80, 80, 120, 280, 80},
};

static void each_instance_carries_what_its_members_send(void)
{
    for (size_t i = 0; i < OVL_COUNT(even); i++) {
        bench t = {0};
        const carried *c = &even[i];
        for (int in = 0; in < 2 && run(&t, c->op, c->algorithm, c->group); in++) {
            const ovl_result *r = in ? &t.whole : &t.result;
            const char *way = in ? "in" : "out";
            CHECK_NEAR((double)r->step / 1e9, c->step, 1e-6);
            check_link(r, "nic", way, c->nic, c->all);
            check_link(r, "two", way, c->two, c->all);
            check_link(r, "way", way, c->way, c->all);
            check_link(r, "spine", way, c->all, c->all);
            check_link(r, "leaf", way, c->leaf, 2 * c->leaf);
        }
        finish(&t);
    }
}

/* Binomial, from the first member: to node 1 alone, 100 MB out over 8 NICs and in over 2. Of three
 * nodes the first sends twice, 200 over its 3, and the others get 100 each. A reduce is the same
 * the other way. */
static void roots_send_and_the_others_receive(void)
{
    static const struct {
        const char *group;
        double step, root_nic, other_nic, root_way, all;
    } by[] = {{EIGHT_TWO, 5, 12.5, 50, 100, 100},
              {SIX_FOUR, 2.5, 100. / 6, 25, 100, 100},
              {THREE_ONE_ONE, 10, 200. / 3, 100, 200, 200}};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        for (int reduce = 0; reduce < 2; reduce++) {
            bench t = {0};
            const char *down = reduce ? "in" : "out", *up = reduce ? "out" : "in";
            if (run(&t, reduce ? "reduce" : "broadcast", "tree", by[i].group)) {
                CHECK_NEAR((double)t.result.step / 1e9, by[i].step, 1e-6);
                CHECK_INT(t.whole.step, t.result.step);
                check_link(&t.result, "nic", down, by[i].root_nic, by[i].all);
                check_link(&t.result, "nic", up, by[i].other_nic, by[i].all);
                check_link(&t.whole, "way", down, by[i].root_way, by[i].all);
                check_link(&t.whole, "way", up, 100, by[i].all);
            }
            finish(&t);
        }
    }
}

/* Three members on each of two nodes: 2 x 1/2 s leave a node, 100 MB, 33.3 over each NIC and two
 * thirds over one of two GPUs. Of three nodes 2 x 2/3 s, out of each leaf, too, whether it has two
 * of them or one. */
static void hierarchies_may_lie_unevenly_within_nodes(void)
{
    bench t = {0};
    if (run(&t, "all_reduce", "hierarchical", "0, 1, 2, 8, 9, 10")) {
        check_link(&t.result, "nic", "out", 100. / 3, 200);
        check_link(&t.whole, "two", "in", 200. / 3, 200);
        check_link(&t.result, "leaf", "out", 0, 0);
    }
    if (run(&t, "all_reduce", "hierarchical", "0, 1, 2, 8, 9, 10, 16, 17, 18")) {
        check_link(&t.result, "nic", "in", 400. / 9, 400);
        check_link(&t.whole, "two", "out", 800. / 9, 400);
        check_link(&t.result, "leaf", "out", 400. / 3, 800. / 3);
    }
    finish(&t);
}

static void other_layouts_of_hierarchies_are_refused(void)
{
    bench t = {0};
    char text[2048];
    snprintf(text, sizeof text, TEXT, "all_reduce", "hierarchical", THREE_ONE_ONE, "all_reduce",
             THREE_ONE_ONE);
    CHECK(!lower(&t, text, NULL));
    CHECK_HAS(mistake(&t), "5 lie unevenly on 3 nodes, 1 to 3 on each");
    finish(&t);
}

/* 160 MB in the levels of 16: the transfer takes 15.6 ms of two operations at rates that are no
 * whole bytes a second. Bytes are whole all the same: 240 + 120 on own links, 60 + 30 on a NIC. */
static void rates_that_are_rounded_lose_no_byte(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "hardware:\n"
                "  node: {gpus: 4}\n"
                "  links: {nvlink: {bandwidth: 100 GB/s}, nic: {bandwidth: 10 GB/s, out_of: node}, "
                "leaf: {bandwidth: 30 GB/s, gpus: 8, out_of: 8}}\n"
                "  collectives:\n"
                "    - &all {op: all_reduce, via: [nvlink, nic, leaf], algorithm: hierarchical}\n"
                "    - {<<: *all, op: all_gather}\n"
                "mesh: {axes: {dp: 16}}\n"
                "workload:\n"
                "  ops: [{collective: ar, op: all_reduce, bytes: 160 MB, group: dp}, {collective: "
                "ag, op: all_gather, bytes: 160 MB, group: dp}]\n",
                NULL) &&
          analyse_both(&t));
    for (int k = 0; k < 2; k++) {
        const ovl_result_resource *nvlink = link_of(k ? &t.whole : &t.result, "nvlink", "out");
        const ovl_result_resource *nic = link_of(k ? &t.whole : &t.result, "nic", "in");
        CHECK_INT(nvlink ? nvlink->bytes : 0, 360000000);
        CHECK_INT(nvlink ? nvlink->total : 0, 16 * UINT64_C(360000000));
        CHECK_INT(nic ? nic->bytes : 0, 90000000);
        CHECK_INT(nic ? nic->total : 0, 16 * UINT64_C(90000000));
    }
    finish(&t);
}

/* A NIC for two GPUs of nodes of two, and of the last node only one is there: the NIC of rank 0 may
 * be shared with rank 1, that of rank 2 cannot. 100 MB out of each. */
static void a_last_block_of_one_rank_counts(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "hardware: {node: {gpus: 2}, links: {nic: {bandwidth: 10 GB/s, gpus: 2, out_of: "
                "node}}, collectives: [{op: all_reduce, via: [nic], algorithm: ring}]}\n"
                "workload: {ranks: 3, groups: {g: [0, 2]}, ops: [{collective: x, op: all_reduce, "
                "group: g, ranks: [0, 2], bytes: 100 MB}]}\n",
                NULL) &&
          analyse_both(&t));
    check_link(&t.result, "nic", "out", 100, 200);
    check_link(&t.whole, "nic", "in", 100, 200);
    finish(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"each instance carries what its members send",
         each_instance_carries_what_its_members_send},
        {"roots send and the others receive", roots_send_and_the_others_receive},
        {"hierarchies may lie unevenly within nodes", hierarchies_may_lie_unevenly_within_nodes},
        {"other layouts of hierarchies are refused", other_layouts_of_hierarchies_are_refused},
        {"rates that are rounded lose no byte", rates_that_are_rounded_lose_no_byte},
        {"a last block of one rank counts", a_last_block_of_one_rank_counts},
        CU_TEST_INFO_NULL,
    };
    return check_main("conserved", tests);
}
