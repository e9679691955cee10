/* Hops of a pipeline: in a node over one link, between nodes over another. */
#include "tests/support/lowering.h"

#define HOPS                                                                                       \
    "hardware:\n"                                                                                  \
    "  node: {gpus: 4}\n"                                                                          \
    "  links:\n"                                                                                   \
    "    nvlink: {bandwidth: 400 GB/s, latency: 2 us}\n"                                           \
    "    nic: {bandwidth: 50 GB/s, latency: 10 us, out_of: node}\n"                                \
    "  collectives:\n"                                                                             \
    "    - {op: send_recv, nodes: one, via: [nvlink], alpha: 2 us, beta: 400 GB/s}\n"              \
    "    - {op: send_recv, nodes: several, via: [nic], alpha: 10 us, beta: 50 GB/s}\n"             \
    "mesh: {axes: {pp: 6, dp: 2}, order: [pp, dp]}\n"                                              \
    "workload:\n"                                                                                  \
    "  stages: [{name: s, repeat: 6, forward: 1 ms, backward_input: 1 ms, backward_weight: 1 ms, " \
    "transfer: 10 MB}]\n"                                                                          \
    "overlap: {pipeline: {schedule: 1f1b, microbatches: 6}}\n"

/* The cost of a send: 2 us + 10 MB / 400 GB/s, or 10 us + 10 MB / 50 GB/s. */
static void check_hop(const bench *t, uint32_t rank, const char *name, bool leaves)
{
    const ovl_cost *cost = cost_named(t, rank, name);
    CHECK_INT(cost->latency, (leaves ? 10 : 2) * OVL_US);
    CHECK_INT(cost->work, (leaves ? 200 : 25) * OVL_US);
}

/* Nodes of 4: of ranks 0-5 the hop from 3 to 4 leaves a node, of ranks 6-11 that from 7 to 8: from
 * stage 1 to 2. So the two pipelines run codes of their own. */
static void hops_go_by_the_nodes_of_their_ranks(void)
{
    bench t = {0};
    CHECK(lower(&t, HOPS, NULL));
    check_hop(&t, 0, "0SEND_F0", false);
    check_hop(&t, 3, "3SEND_F0", true);
    check_hop(&t, 4, "4SEND_B0", true);
    check_hop(&t, 4, "4SEND_F0", false);
    check_hop(&t, 7, "1SEND_F0", true);
    check_hop(&t, 8, "2SEND_B0", true);
    check_hop(&t, 9, "3SEND_F0", false);
    CHECK_INT(t.p->n_codes, 12);
    CHECK_INT(t.lowered.n_hops, 2);
    CHECK_INT(t.lowered.hops[0].count, 8); /* of 2 * 5 */
    CHECK_INT(t.lowered.hops[1].count, 2);
    CHECK(t.lowered.hops[1].several_nodes);
    CHECK_INT(t.lowered.hops[1].stage, 3);
    finish(&t);
}

/* Pipelines of 4 on nodes of 4 lie alike: 4 codes for 8 ranks, no hop leaves. */
static void pipelines_that_lie_alike_run_the_same(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "hardware:\n"
                "  node: {gpus: 4}\n"
                "  collectives:\n"
                "    - {op: send_recv, nodes: one, alpha: 2 us}\n"
                "    - {op: send_recv, nodes: several, alpha: 10 us}\n"
                "mesh: {axes: {pp: 4, dp: 2}, order: [pp, dp]}\n"
                "workload: {stages: [{name: s, repeat: 4, forward: 1 ms, backward: 2 ms, "
                "transfer: 1 MB}]}\n"
                "overlap: {pipeline: {schedule: 1f1b, microbatches: 4}}\n",
                NULL));
    CHECK_INT(t.p->n_codes, 4);
    CHECK_INT(t.lowered.n_hops, 1);
    CHECK_INT(t.lowered.hops[0].count, 6);
    CHECK(!t.lowered.hops[0].several_nodes);
    finish(&t);
}

/* A hop of 1 us at one boundary alone makes 1F1B with p = m = 6 longer by 2, 4, 4, 6, 6 us (from
 * the first boundary to the last), counted by following its orders. The first pipeline has its slow
 * hop at 3 to 4, crossed 6 times on the longest path of 16 hops, the second at 1 to 2, crossed 4
 * times of 18: it ends at 33 ms + 14 * 27 us + 4 * 210 us, earlier. */
static void slow_hops_lengthen_the_step(void)
{
    bench t = {0};
    CHECK(lower(&t, HOPS, NULL) && analyse(&t));
    CHECK_INT(t.result.step, 33 * OVL_MS + (10 * 27 + 6 * 210) * OVL_US);
    finish(&t);
}

/* 0 B that are said take the latency alone; what is not said is a mistake where bytes take time. */
static void no_bytes_may_be_said(void)
{
    bench t = {0};
    CHECK(lower(&t, HOPS, "workload.stages.s.transfer=0 B"));
    CHECK_INT(cost_named(&t, 3, "3SEND_F0")->latency, 10 * OVL_US);
    CHECK_INT(cost_named(&t, 3, "3SEND_F0")->work, 0);
    CHECK(!lower(&t, HOPS, "workload.stages.s.transfer=null"));
    CHECK_HAS(mistake(&t), "does not say how many bytes it transfers to the next stage");
    finish(&t);
}

static void costs_of_its_own_hold_for_every_hop(void)
{
    bench t = {0};
    CHECK(lower(&t, HOPS, "overlap.pipeline.alpha=1 ms"));
    CHECK_INT(cost_named(&t, 0, "0SEND_F0")->latency, OVL_MS);
    CHECK_INT(cost_named(&t, 3, "3SEND_F0")->latency, OVL_MS);
    CHECK_INT(t.p->n_codes, 12); /* the links are loaded by those that leave alone */
    finish(&t);
}

/* The search of zb_1p counts on the longest hop of any pipeline. */
static void automatic_schedules_know_the_longest_hop(void)
{
    bench t = {0};
    CHECK(lower(&t, HOPS, "overlap.pipeline.schedule=zb_1p"));
    CHECK_TEXT(mistake(&t), "none");
    finish(&t);
}

static void an_entry_that_no_hop_fits_is_told(void)
{
    bench t = {0};
    CHECK(!lower(&t, HOPS,
                 "hardware.collectives=[{op: send_recv, nodes: one, alpha: 1 us, beta: 1 GB/s}]"));
    CHECK_HAS(mistake(&t), "\"send_recv\" has no cost");
    CHECK_HAS(mistake(&t), "the hardware has send_recv in any group on one node");
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"hops go by the nodes of their ranks", hops_go_by_the_nodes_of_their_ranks},
    {"pipelines that lie alike run the same", pipelines_that_lie_alike_run_the_same},
    {"slow hops lengthen the step", slow_hops_lengthen_the_step},
    {"no bytes may be said", no_bytes_may_be_said},
    {"costs of its own hold for every hop", costs_of_its_own_hold_for_every_hop},
    {"automatic schedules know the longest hop", automatic_schedules_know_the_longest_hop},
    {"an entry that no hop fits is told", an_entry_that_no_hop_fits_is_told},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("pipeline hops", tests);
}
