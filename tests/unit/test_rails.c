/*
 * Rail-optimised fabrics by hand: a leaf for the NICs of one place in all nodes, or in those of a
 * pod; its uplinks and the spine above carry what does not stay on the rail.
 */
#include "tests/support/links.h"
#include "tests/support/lowering.h"

#include <stdio.h>

#define FABRIC(gpus, pod)                                                                          \
    "hardware:\n"                                                                                  \
    "  node: {gpus: " gpus "}\n"                                                                   \
    "  links:\n"                                                                                   \
    "    nvlink: {bandwidth: 900 GB/s}\n"                                                          \
    "    nic: {bandwidth: 10 GB/s, gpus: 1, out_of: node}\n"                                       \
    "    leaf: {bandwidth: 900 GB/s, scope: rail" pod "}\n"                                        \
    "    up: {bandwidth: 900 GB/s, scope: rail, out_of: rail" pod "}\n"                            \
    "    spine: {bandwidth: 900 GB/s, scope: cluster, out_of: rail" pod "}\n"
#define TEXT                                                                                       \
    FABRIC("%d", "%s")                                                                             \
    "  collectives: [{op: %s, via: [nic, leaf, up, spine], algorithm: %s}]\n"                      \
    "workload:\n"                                                                                  \
    "  ranks: %d\n"                                                                                \
    "  groups: {g: [%s]}\n"                                                                        \
    "  ops: [{collective: x, op: %s, group: g, ranks: [%s], bytes: %d MB}]\n"

typedef struct fabric {
    int gpus;         /* of a node */
    const char *more; /* of the links of rails */
} fabric;

static const fabric small = {4, ""}, shared = {4, ", rail_gpus: 2"}, large = {8, ""},
                    pods = {8, ", pod: 2"}, apart = {8, ", pod: 1"};

static char scenario[2048]; /* of a check */

static const char *write(const fabric *f, int ranks, const char *op, const char *algorithm,
                         const char *group, int bytes)
{
    snprintf(scenario, sizeof scenario, TEXT, f->gpus, f->more, f->more, f->more, op, algorithm,
             ranks, group, op, group, bytes);
    return scenario;
}

static bool good_with(bench *t, const char *text, const char *set)
{
    bool ok = lower(t, text, set) && analyse_both(t);
    CHECK_TEXT(mistake(t), "none");
    CHECK_INT(ok ? t->result.step : 0, ok ? t->whole.step : -1);
    return ok;
}

static bool good(bench *t, const char *text)
{
    return good_with(t, text, NULL);
}

typedef struct carried {
    const fabric *fabric;
    int ranks;
    const char *group, *op, *algorithm;
    int bytes;        /* MB */
    double nic, leaf; /* busiest */
    double up, all;   /* out of a rail: the busiest, and all of them, which the spine has */
} carried;

static void check_carried(const carried *c)
{
    bench t = {0};
    write(c->fabric, c->ranks, c->op, c->algorithm, c->group, c->bytes);
    for (int k = 0; k < 4 && good(&t, scenario); k++) {
        const ovl_result *r = k & 1 ? &t.whole : &t.result;
        const char *way = k & 2 ? "in" : "out";
        CHECK_NEAR(link_of(r, "nic", way) ? (double)link_of(r, "nic", way)->bytes / 1e6 : 0, c->nic,
                   1e-3);
        CHECK_NEAR(link_of(r, "leaf", way) ? (double)link_of(r, "leaf", way)->bytes / 1e6 : 0,
                   c->leaf, 1e-3);
        check_link(r, "up", way, c->up, c->all);
        check_link(r, "spine", way, c->all, c->all);
    }
    finish(&t);
}

#define EIGHT "0, 1, 2, 3, 4, 5, 6, 7"
#define THIRTY_TWO                                                                                 \
    EIGHT ", 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, "               \
          "26, 27, 28, 29, 30, 31"

/* 2 nodes of 4, 800 MB. A ring has 2 x 7/8 x 800 = 1400 out of each node, 350 over each of 4 NICs;
 * the leaf of a rail has those of both nodes, 700, and nothing goes on. The hierarchy has 2 x 1/2 x
 * 800, the halving tree 800/2 + 800/2. A group on one rail: 2 x 1/2 x 800 over its NICs.
 *
 * All-to-all, 100 MB from each to each: 4 others off the node, 400; 3 of them on another rail, so
 * 2 x 300 leave each. A pass of a ring is half of the all-reduce. */
static void what_is_aligned_stays_on_its_rails(void)
{
    static const carried by[] = {
        {&small, 8, EIGHT, "all_reduce", "ring", 800, 350, 700, 0, 0},
        {&small, 8, EIGHT, "all_reduce", "hierarchical", 800, 200, 400, 0, 0},
        {&small, 8, EIGHT, "all_reduce", "tree", 800, 200, 400, 0, 0},
        {&small, 8, EIGHT, "all_reduce", "sharp", 800, 200, 400, 0, 0},
        {&small, 8, EIGHT, "all_gather", "ring", 800, 175, 350, 0, 0},
        {&small, 8, "0, 4", "all_reduce", "ring", 800, 800, 1600, 0, 0},
        {&small, 8, "2, 1, 6, 5", "all_reduce", "ring", 800, 600, 1200, 0, 0},
        {&small, 8, EIGHT, "all_to_all", "direct", 800, 400, 800, 600, 2400},
        {&small, 8, "0, 4", "all_to_all", "direct", 800, 400, 800, 0, 0},
    };
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        check_carried(&by[i]);
    }
}

/* Ranks 0 and 5 are on two rails: all of the 800 MB goes out of both, over the spine 1600. Ranks 0,
 * 1 and 5, 6: 2 x 3/4 x 800 = 1200 out of a node, half over each NIC; rail 1 keeps its half, and
 * that of rail 0 goes to rail 2, that of rail 2 to rail 0.
 *
 * Three nodes with ranks 0, 1; 4; 9, 10, 11, and 720 MB: 2 x 5/6 x 720 = 1200 out of each. From the
 * first to the second a half of it leaves rail 1 for rail 0; then all leaves rail 0, a third for
 * each of 1, 2, 3; then a third leaves rail 2 and one rail 3, and rail 1 gets a sixth beside the
 * third it has: rail 0 has 1 out, and 1/2 + 1/2 in; rail 1 1/2 out, and 1/3 + 1/6 in; the others
 * 1/3. In sum 1 + 1/2 + 2/3 = 13/6. Of a leaf: 1 + 1/2; 1/2 + 1/3; 1/3; 1/3. */
static void what_is_not_aligned_leaves_them(void)
{
    static const carried by[] = {
        {&small, 8, "0, 5", "all_reduce", "ring", 800, 800, 800, 800, 1600},
        {&small, 8, "0, 5", "all_reduce", "tree", 800, 800, 800, 800, 1600},
        {&small, 8, "0, 5", "all_to_all", "direct", 800, 400, 400, 400, 800},
        {&small, 8, "0, 1, 5, 6", "all_reduce", "ring", 800, 600, 1200, 600, 1200},
        {&small, 8, "6, 0, 1, 5", "all_reduce", "hierarchical", 800, 400, 800, 400, 800},
        {&small, 12, "0, 1, 4, 9, 10, 11", "all_reduce", "ring", 720, 1200, 1800, 1200, 2600},
    };
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        check_carried(&by[i]);
    }
}

/* 4 nodes of 8, 800 MB: 2 x 31/32 x 800 = 1550 out of each node, 193.75 a NIC. On leaves of all
 * nodes nothing leaves a rail; in pods of two nodes a ring enters and leaves each pod once, by all
 * of its 8 rails, whatever order the members are in. The levels have 2 x 3/4 x 800 = 1200, the
 * halving tree 800 (1 + 2 x 8/32); two pods have two halves of it each way in a double tree: 800 in
 * sum for each, 100 for each rail; SHARP 800.
 *
 * All-to-all, 25 MB from each to each: 24 off the node, 600. Of the 24, 3 are on the same rail of
 * all nodes, 1 on that of a pod of two: 4 x 21 x 25 leave a rail of all nodes, 2 x 23 x 25 that of
 * a pod. */
static void pods_have_leaves_of_their_own(void)
{
    static const carried by[] = {
        {&large, 32, THIRTY_TWO, "all_reduce", "ring", 800, 193.75, 775, 0, 0},
        {&large, 32, THIRTY_TWO, "all_reduce", "hierarchical", 800, 150, 600, 0, 0},
        {&large, 32, THIRTY_TWO, "all_to_all", "direct", 800, 600, 2400, 2100, 16800},
        {&pods, 32, THIRTY_TWO, "all_reduce", "ring", 800, 193.75, 387.5, 193.75, 3100},
        {&pods, 32, THIRTY_TWO, "reduce_scatter", "ring", 800, 96.875, 193.75, 96.875, 1550},
        {&pods, 32, THIRTY_TWO, "all_reduce", "hierarchical", 800, 150, 300, 150, 2400},
        {&pods, 32, THIRTY_TWO, "all_reduce", "tree", 800, 150, 300, 100, 1600},
        {&pods, 32, THIRTY_TWO, "all_reduce", "sharp", 800, 100, 200, 100, 1600},
        {&pods, 32, THIRTY_TWO, "all_to_all", "direct", 800, 600, 1200, 1150, 18400},
        {&pods, 32, "0, 8", "all_reduce", "ring", 800, 800, 1600, 0, 0},
        {&pods, 32, "16, 0, 24, 8", "all_reduce", "ring", 800, 1200, 2400, 1200, 2400},
    };
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        check_carried(&by[i]);
    }
}

/* A NIC and a rail for two GPUs: ranks 0 and 5 share one. All-to-all: 2 of 4 off the node are on
 * another rail, and a rail has 4 members. */
static void gpus_that_share_a_nic_share_a_rail(void)
{
    static const carried by[] = {
        {&shared, 8, "0, 5", "all_reduce", "ring", 800, 800, 1600, 0, 0},
        {&shared, 8, "0, 6", "all_reduce", "ring", 800, 800, 800, 800, 1600},
        {&shared, 8, EIGHT, "all_to_all", "direct", 800, 400, 1600, 800, 1600},
    };
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        check_carried(&by[i]);
    }
}

/* 800 MB from rank 0 of 4 nodes. Binomial: node 0 to 1 and 2, 2 to 3. In two pods one of these
 * crosses, 100 by each of 8 rails; in four all three do, 200 out of each rail of node 0 and 100
 * into each of the others. Off the rails, from rank 0 to 13: 800 out of rail 0, into 5. A reduce is
 * the same the other way. */
static void roots_send_along_the_rails(void)
{
    static const struct {
        const fabric *fabric;
        const char *group;
        double out, in, all;
    } by[] = {{&pods, THIRTY_TWO, 100, 100, 800},
              {&apart, THIRTY_TWO, 200, 100, 2400},
              {&pods, "0, 13", 800, 800, 800}};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        for (int reduce = 0; reduce < 2; reduce++) {
            bench t = {0};
            write(by[i].fabric, 32, reduce ? "reduce" : "broadcast", "tree", by[i].group, 800);
            if (good(&t, scenario)) {
                check_link(&t.result, "up", reduce ? "in" : "out", by[i].out, by[i].all);
                check_link(&t.whole, "up", reduce ? "out" : "in", by[i].in, by[i].all);
                check_link(&t.result, "spine", "out", by[i].all, by[i].all);
                check_link(&t.whole, "spine", "in", by[i].all, by[i].all);
            }
            finish(&t);
        }
    }
}

/* A cost that is no formula is a chain: from node 1 to 2 alone it crosses, and in pods of one node
 * three times, 100 out of each rail. */
static void a_chain_crosses_from_pod_to_pod_once(void)
{
    for (int k = 0; k < 2; k++) {
        bench t = {0};
        write(k ? &apart : &pods, 32, "broadcast", "tree", THIRTY_TWO, 800);
        CHECK(lower(&t, scenario,
                    "hardware.collectives[0]={op: broadcast, via: [nic, up], beta: 1 GB/s}") &&
              analyse_both(&t));
        check_link(&t.result, "up", "out", 100, k ? 2400 : 800);
        check_link(&t.whole, "up", "in", 100, k ? 2400 : 800);
        finish(&t);
    }
}

#define SEND(from, to)                                                                             \
    FABRIC("8", ", pod: 2")                                                                        \
    "  collectives: [{op: send_recv, via: [nic, leaf, up, spine], algorithm: direct}]\n"           \
    "workload:\n"                                                                                  \
    "  ranks: 32\n"                                                                                \
    "  ops: [{send: s, group: world, to: " to ", bytes: 100 MB, ranks: [" from "]}, {recv: r, "    \
    "group: world, from: " from ", bytes: 100 MB, ranks: [" to "]}]\n"

/* 100 MB: in the node nothing; on the rail the NIC and the leaf; off it, or to another pod, all. */
static void a_send_leaves_a_rail_if_the_other_is_not_on_it(void)
{
    static const struct {
        const char *text;
        double leaf, up;
    } by[] = {{SEND("0", "1"), 0, 0},
              {SEND("0", "8"), 100, 0},
              {SEND("0", "9"), 100, 100},
              {SEND("0", "16"), 100, 100},
              {SEND("17", "16"), 0, 0}};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        bench t = {0};
        if (good(&t, by[i].text)) {
            check_link(&t.result, "leaf", "out", by[i].leaf, by[i].leaf);
            check_link(&t.result, "up", "out", by[i].up, by[i].up);
            check_link(&t.whole, "up", "in", by[i].up, by[i].up);
            check_link(&t.whole, "spine", "in", by[i].up, by[i].up);
        }
        finish(&t);
    }
}

/* 2400 MB of an all-to-all at 10 GB/s between all rails: 240 ms, where NICs need 40; a ring's 35 ms
 * of NICs do not change. 600 MB over each leaf's uplinks at 10 GB/s: 60 ms. */
static void an_oversubscribed_spine_slows_what_crosses_it(void)
{
    static const struct {
        const char *op, *algorithm, *set;
        ovl_time step;
    } by[] = {{"all_to_all", "direct", NULL, 40},
              {"all_to_all", "direct", "hardware.links.spine.bandwidth=10 GB/s", 240},
              {"all_to_all", "direct", "hardware.links.up.bandwidth=10 GB/s", 60},
              {"all_reduce", "ring", "hardware.links.spine.bandwidth=10 GB/s", 35}};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        bench t = {0};
        write(&small, 8, by[i].op, by[i].algorithm, EIGHT, 800);
        CHECK(lower(&t, scenario, by[i].set) && analyse(&t));
        CHECK_INT(t.result.step, by[i].step * OVL_MS);
        finish(&t);
    }
}

/* 800 MB, receives 4, 0, 0, 0, 1, 1, 1, 1: i gives j 100 MB times that. Out of rail 0: from rank 0
 * to 5, 6, 7: 300; from 4 to ranks of the first node off its rail: nothing. Out of each other rail:
 * from the first node to the two others of it and 4: 300; from the second to rank 0: 400. Into rail
 * 0: into rank 0 from three, 1200, and into 4 from three, 300; into each other from three, 300. */
static void uneven_exchanges_leave_rails_by_their_bytes(void)
{
    bench t = {0};
    write(&small, 8, "all_to_all", "direct", EIGHT, 800);
    CHECK(lower(&t, scenario, "workload.ops.x.receives=[4, 0, 0, 0, 1, 1, 1, 1]") &&
          analyse_both(&t));
    check_link(&t.result, "up", "out", 700, 2400);
    check_link(&t.whole, "up", "in", 1500, 2400);
    check_link(&t.result, "spine", "out", 2400, 2400);
    check_link(&t.whole, "leaf", "in", 2000, 3200); /* 4 x 400 into rank 0, 400 into 4 */
    finish(&t);
}

static void refuse(const char *set, const char *why)
{
    bench t = {0};
    write(&small, 8, "all_reduce", "ring", EIGHT, 800);
    CHECK(!lower(&t, scenario, set));
    CHECK_HAS(mistake(&t), why);
    finish(&t);
}

static void mistakes_are_told(void)
{
    refuse("hardware.links.up={bandwidth: 1 GB/s, out_of: rail}",
           "out_of: rail needs scope: rail (the uplinks of each rail's leaf) or scope: cluster");
    refuse("hardware.links.up={bandwidth: 1 GB/s, scope: rail, out_of: 8}",
           "carries what leaves a node (out_of: node) or a rail (out_of: rail)");
    refuse("hardware.links.nic.pod=2", "pod belongs to scope: rail or out_of: rail");
    refuse("hardware.links.nic.rail_gpus=2", "rail_gpus belongs to scope: rail or out_of: rail");
    refuse("hardware.links.up.rail_gpus=3",
           "\"up\" has 3 GPUs of a node on each rail, which does not divide the 4 that it has");
    refuse("hardware={links: {leaf: {bandwidth: 1 GB/s, scope: rail}}}",
           "\"leaf\" is about rails, places of GPUs in their nodes, but node.gpus is not given");
    refuse("hardware.links.up.gpus=2", "give one of them");
    refuse("hardware.links.up.out_of=rails", "expected `node`, `rail` or a number of GPUs");
    refuse("hardware.collectives[0].algorithm=nvls", "is for the members of one NVLink domain");
}

/* Of the leaf that ranks 0 and 4 use, named by both, a half is lost. The other rails have theirs.
 * 1600 MB of a ring of two at 100 GB/s: 16 ms, at 50 GB/s 32. */
static void a_leaf_degrades_once_for_all_its_ranks(void)
{
    bench t = {0};
    write(&small, 8, "all_reduce", "ring", "0, 4", 800);
    CHECK(lower(&t, scenario,
                "hardware={node: {gpus: 4}, links: {leaf: {bandwidth: 100 GB/s, scope: rail}}, "
                "collectives: [{op: all_reduce, via: [leaf], algorithm: ring}], faults: [{link: "
                "leaf, ranks: [0-7], bandwidth: 50 GB/s, from: 0 s}]}") &&
          analyse_both(&t));
    CHECK_INT(t.result.step, 32 * OVL_MS);
    CHECK_INT(t.whole.step, 32 * OVL_MS);
    finish(&t);
}

/* --- Sends that are passed on --- */

#define SENDS(nodes, ranks, ops)                                                                   \
    "hardware:\n  node: {gpus: 2}\n" nodes                                                         \
    "  links: {nvlink: {bandwidth: 4 GB/s}, nic: {bandwidth: 1 "                                   \
    "GB/s, gpus: 1, out_of: node}, way: {bandwidth: 9 GB/s, scope: node}, leaf: {bandwidth: 9 "    \
    "GB/s, scope: rail}, up: {bandwidth: 500 MB/s, scope: rail, out_of: rail}}\n  collectives: "   \
    "[{op: send_recv, via: [nvlink, nic, way, leaf, up], algorithm: direct, pxn: true}]\n"         \
    "workload: {ranks: " ranks ", groups: {g: all, two: [0, 3]}, ops: [" ops "]}\n"
#define HOP(group)                                                                                 \
    "{send: s, to: -1, group: " group                                                              \
    ", bytes: 100 MB, ranks: 0}, {recv: r, from: 0, group: " group ", bytes: 100 MB, ranks: 3}"

/* From rank 0 to 3, on the other node and rail, 100 MB: rank 1 gets them over NVLink and sends them
 * by its NIC, 0.1 s at 1 GB/s; nothing leaves the rail. Without PXN, or where the two have a
 * communicator to themselves, it is 0.2 s of the uplink at 0.5 GB/s, by the NIC of rank 0. */
static void a_send_is_passed_on_to_its_rail(void)
{
    static const struct {
        const char *text, *set;
        double ms, nvlink, up;
        uint32_t nic; /* of which rank */
    } by[] = {
        {SENDS("", "4", HOP("g")), NULL, 100, 200, 0, 1},
        {SENDS("", "4", HOP("g")), "hardware.collectives.send_recv.pxn=false", 200, 100, 100, 0},
        {SENDS("", "4", HOP("two")), NULL, 200, 100, 100, 0}};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        bench t = {0};
        if (good_with(&t, by[i].text, by[i].set)) {
            CHECK_NEAR((double)t.result.step / 1e9, by[i].ms, 1e-6);
            check_link(&t.result, "nvlink", "out", 100, by[i].nvlink);
            check_link(&t.result, "nvlink", "in", 100, by[i].nvlink);
            check_link(&t.result, "nic", "out", 100, 100);
            check_link(&t.result, "nic", "in", 100, 100);
            check_link(&t.result, "up", "out", by[i].up, by[i].up);
            CHECK_INT(link_of(&t.result, "nic", "out")->busiest, by[i].nic);
        }
        finish(&t);
    }
}

/* Rank 1 sends 100 MB of its own to 3 as well: both go by its NIC, half of it each, 0.2 s. */
static void what_is_passed_on_shares_the_nic(void)
{
    bench t = {0};
    if (good_with(&t,
                  SENDS("", "4",
                        HOP("g") ", {send: o, to: 3, group: g, bytes: 100 MB, ranks: 1}, {recv: p, "
                                 "from: 1, "
                                 "group: g, bytes: 100 MB, ranks: 3, stream: other}"),
                  NULL)) {
        CHECK_INT(t.result.step, 200 * OVL_MS);
        check_link(&t.result, "nic", "out", 200, 200);
    }
    finish(&t);
}

/* A node of one GPU has nobody on rail 1: from it to rank 2, the second of node 1, by its own NIC.
 */
static void who_has_nobody_on_the_rail_sends_himself(void)
{
    bench t = {0};
    if (good_with(
            &t,
            SENDS(
                "  nodes: {one: {at: 0, gpus: 1}}\n", "5",
                "{send: s, to: 2, group: g, bytes: 100 MB, ranks: 0}, {recv: r, from: 0, group: g, "
                "bytes: 100 MB, ranks: 2}"),
            NULL)) {
        CHECK_INT(t.result.step, 200 * OVL_MS);
        check_link(&t.result, "up", "out", 100, 100);
    }
    finish(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a send is passed on to its rail", a_send_is_passed_on_to_its_rail},
        {"what is passed on shares the NIC", what_is_passed_on_shares_the_nic},
        {"who has nobody on the rail sends himself", who_has_nobody_on_the_rail_sends_himself},
        {"what is aligned stays on its rails", what_is_aligned_stays_on_its_rails},
        {"what is not aligned leaves them", what_is_not_aligned_leaves_them},
        {"pods have leaves of their own", pods_have_leaves_of_their_own},
        {"GPUs that share a NIC share a rail", gpus_that_share_a_nic_share_a_rail},
        {"roots send along the rails", roots_send_along_the_rails},
        {"a chain crosses from pod to pod once", a_chain_crosses_from_pod_to_pod_once},
        {"a send leaves a rail if the other is not on it",
         a_send_leaves_a_rail_if_the_other_is_not_on_it},
        {"an oversubscribed spine slows what crosses it",
         an_oversubscribed_spine_slows_what_crosses_it},
        {"uneven exchanges leave rails by their bytes",
         uneven_exchanges_leave_rails_by_their_bytes},
        {"mistakes are told", mistakes_are_told},
        {"a leaf degrades once for all its ranks", a_leaf_degrades_once_for_all_its_ranks},
        CU_TEST_INFO_NULL,
    };
    return check_main("rails", tests);
}
