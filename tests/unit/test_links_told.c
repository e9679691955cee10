/*
 * test_links_told.c - what is said of the links that communication goes via is true: which instance
 * is asked for too much, who has no part in it, and what takes no time.
 */
#include "tests/support/lowering.h"

#define RING_OF_TWO_SPEEDS                                                                         \
    "sharing: fair\n"                                                                              \
    "hardware:\n"                                                                                  \
    "  node: {gpus: 4}\n"                                                                          \
    "  links:\n"                                                                                   \
    "    nvlink: {bandwidth: 100 GB/s}\n"                                                          \
    "    nic: {bandwidth: 100 GB/s, gpus: 2, out_of: node}\n"                                      \
    "  nodes: {x1: {at: 1, links: {nic: {bandwidth: 60 GB/s}}}}\n"                                 \
    "  collectives: [{op: all_reduce, via: [nic, nvlink], algorithm: ring}]\n"                     \
    "mesh: {axes: {dp: 12}}\n"                                                                     \
    "workload:\n"                                                                                  \
    "  groups: {g: [[1, 5, 6, 7, 9]]}\n"                                                           \
    "  ops: [{collective: B, op: all_reduce, group: g, bytes: 480 MB, ranks: [1, 5, 6, 7, 9]}]\n"

/* A ring of 5 moves 2 x 4/5 x 480 MB = 768 MB out of each node: of node 1 a third over the NIC of
 * rank 5 and two thirds, 512 MB, over that of ranks 6 and 7, of 60 GB/s: 8.533 ms, the longest.
 * Rank 1's NIC carries 768 MB in these: 90 of its 100 GB/s, the busiest, of which the weight is.
 * None is asked for more than it has, so nothing is said. */
static void each_instance_is_compared_with_its_own_bandwidth(void)
{
    bench t = {0};
    CHECK(lower(&t, RING_OF_TWO_SPEEDS, NULL));
    CHECK_INT(t.errs.count, 0);
    const ovl_cost *cost = cost_named(&t, 1, "B");
    CHECK_NEAR((double)demand_on(&t, 1, cost, false, "nic.out"), 90e9, 1e3);
    CHECK_NEAR((double)demand_on(&t, 6, cost_named(&t, 6, "B"), false, "nic.out"), 60e9, 1e3);
    CHECK_NEAR(kind_named(&t, 1, "B")->weight * 90e9, 1, 1e-6);
    CHECK_NEAR(kind_named(&t, 6, "B")->weight * 90e9, 1, 1e-6);
    finish(&t);
}

/* A group of ranks 0, 2, 4, 6 of 8 by PXN: the others have no part in it, and what takes them no
 * time is not what it takes. */
static void who_is_outside_of_a_group_is_not_asked(void)
{
    bench t = {0};
    CHECK(
        lower(&t,
              "hardware:\n"
              "  node: {gpus: 2}\n"
              "  links:\n"
              "    nic: {bandwidth: 10 GB/s, out_of: node}\n"
              "    leaf: {bandwidth: 10 GB/s, scope: rail, out_of: rail}\n"
              "  collectives: [{op: all_to_all, via: [nic, leaf], algorithm: direct, pxn: true}]\n"
              "mesh: {axes: {dp: 8}}\n"
              "workload:\n"
              "  groups: {g: [[0, 2, 4, 6]]}\n"
              "  ops: [{collective: d, op: all_to_all, group: g, bytes: 40 MB, "
              "ranks: [0, 2, 4, 6]}]\n",
              NULL));
    CHECK_INT(t.errs.count, 0);
    CHECK(!said(&t, "crosses none"));
    CHECK_INT(ovl_cost_work(t.p, cost_named(&t, 0, "d")), 3 * OVL_MS);
    finish(&t);
}

/* Of a hierarchical all-reduce over NICs alone what happens in the nodes takes no time: it is said.
 * With one member on each node there is nothing of it. */
static void phases_without_a_link_are_told(void)
{
    static const char yaml[] =
        "hardware:\n"
        "  node: {gpus: 4}\n"
        "  links: {nvlink: {bandwidth: 400 GB/s}, nic: {bandwidth: 50 GB/s, out_of: node}}\n"
        "  collectives: [{op: all_reduce, via: [nic], algorithm: hierarchical}]\n"
        "mesh: {axes: {dp: 8}}\n"
        "workload: {ops: [{collective: x, op: all_reduce, group: dp, bytes: 800 MB}]}\n";
    bench t = {0};
    CHECK(lower(&t, yaml, NULL));
    CHECK(said(&t, "The phases of all_reduce in dp inside a node are not modelled"));
    CHECK(lower(&t, yaml, "hardware.node.gpus=1"));
    CHECK(!said(&t, "inside a node"));
    CHECK(lower(&t, yaml, "hardware.collectives[0].via=[nvlink, nic]"));
    CHECK(!said(&t, "inside a node"));
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"each instance is compared with its own bandwidth",
     each_instance_is_compared_with_its_own_bandwidth},
    {"who is outside of a group is not asked", who_is_outside_of_a_group_is_not_asked},
    {"phases without a link are told", phases_without_a_link_are_told},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("what is told of links", tests);
}
