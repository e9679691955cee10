/* What each link carries, and how long that takes: rails, shared NICs, leaves, hierarchies, all to
 * all, links that degrade. Four nodes of four GPUs; two nodes under a leaf. */
#include "sim/occupancy.h"
#include "tests/support/lowering.h"

/* 1600 MB over links of 100 GB/s (NVLink), 10 (a NIC for each GPU) and 40 (out of a leaf). */
#define TOPOLOGY_WITH(more, op, algorithm, group)                                                  \
    "mesh: {axes: {local: 4, nodes: 4}}\n"                                                         \
    "hardware:\n" more "  node: {gpus: 4}\n"                                                       \
    "  links:\n"                                                                                   \
    "    nvlink: {bandwidth: 100 GB/s}\n"                                                          \
    "    nic: {bandwidth: 10 GB/s, out_of: node}\n"                                                \
    "    leaf: {bandwidth: 40 GB/s, gpus: 8, out_of: 8}\n"                                         \
    "  collectives: [{op: " op ", via: [nvlink, nic, leaf], algorithm: " algorithm "}]\n"          \
    "workload:\n"                                                                                  \
    "  ops: [{collective: go, op: " op ", bytes: 1600 MB, group: " group "}]\n"
#define TOPOLOGY(op, algorithm, group) TOPOLOGY_WITH("", op, algorithm, group)
#define WITH_HBM(op, algorithm, group) TOPOLOGY_WITH("  gpu: {hbm: 2 TB/s}\n", op, algorithm, group)

/* Bytes that the busiest instance carries in one direction; rates are rounded to a byte a second.
 */
static void check_link(const bench *t, const char *name, uint64_t megabytes)
{
    for (uint32_t i = 0; i < t->result.n_resources; i++) {
        const ovl_result_resource *r = &t->result.resources[i];
        if (strcmp(r->name, name) == 0) {
            CHECK_NEAR((double)r->bytes, 1e6 * (double)megabytes, 2);
            return;
        }
    }
    CHECK_INT(0, megabytes);
}

static void check(const char *text, const char *set, ovl_time step, uint64_t nvlink, uint64_t nic,
                  uint64_t leaf)
{
    bench t = {0};
    bool ok = lower(&t, text, set) && analyse_both(&t);
    CHECK_TEXT(mistake(&t), "none");
    CHECK_INT(ok ? t.result.step : -1, step);
    CHECK_INT(ok ? t.whole.step : -1, step);
    check_link(&t, "nvlink.out", nvlink);
    check_link(&t, "nvlink.in", nvlink);
    check_link(&t, "nic.out", nic);
    check_link(&t, "nic.in", nic);
    check_link(&t, "leaf.out", leaf);
    finish(&t);
}

/* Of 16: 2 x 15/16 x 1600 = 3000 MB enter and leave a node, and a leaf, once; the four NICs of a
 * node carry 750 each: 75 ms, as the leaf takes. */
static void a_ring_leaves_nodes_and_leaves_once(void)
{
    check(TOPOLOGY("all_reduce", "ring", "world"), NULL, 75 * OVL_MS, 3000, 750, 3000);
}

/* A NIC for two GPUs carries twice that. */
static void gpus_share_a_nic(void)
{
    check(TOPOLOGY("all_reduce", "ring", "world"), "hardware.links.nic.gpus=2", 150 * OVL_MS, 3000,
          1500, 3000);
}

/* In the node 2 x 3/4 x 1600 = 2400 MB on own links, 24 ms. Across, each rail has 400 MB: 2 x 3/4 x
 * 400 = 600 on a NIC, 60 ms. All four leave a leaf: 2400, 60 ms at 40 GB/s and 120 at 20. */
static void a_hierarchy_runs_its_rails_across_leaves(void)
{
    const char *text = TOPOLOGY("all_reduce", "hierarchical", "world");
    check(text, NULL, 84 * OVL_MS, 2400, 600, 2400);
    check(text, "hardware.links.leaf.bandwidth=20 GB/s", 144 * OVL_MS, 2400, 600, 2400);
    /* a reduce-scatter makes each way once */
    check(TOPOLOGY("reduce_scatter", "hierarchical", "world"), NULL, 42 * OVL_MS, 1200, 300, 1200);
}

/* Nodes of 4 of which racks of NVLink hold two. All 8 of one rack: a ring of 8 on their NVLinks, 2
 * x 7/8 x 800 = 1400 MB, 14 ms at 100 GB/s, and nothing out of the rack. Two on each of two nodes
 * that share a rack: 2 x 3/4 x 800 = 1200. Of 16 on two racks, 1400, and 2 x 1/2 x 800 out of each
 * rack, 100 over each of its NICs of 10 GB/s: 24 ms; in all 16 x 1500 = 2 x 15 x 800. */
#define RACKS(ranks, group)                                                                        \
    "mesh: {axes: {dp: " ranks "}}\n"                                                              \
    "hardware:\n"                                                                                  \
    "  node: {gpus: 4}\n"                                                                          \
    "  links: {nvlink: {bandwidth: 100 GB/s}, nic: {bandwidth: 10 GB/s, out_of: 8}}\n"             \
    "  collectives: [{op: all_reduce, via: [nvlink, nic], algorithm: hierarchical}]\n"             \
    "workload:\n"                                                                                  \
    "  groups: {few: [[" group "]]}\n"                                                             \
    "  ops: [{collective: go, op: all_reduce, bytes: 800 MB, group: few, ranks: [" group "]}]\n"

static void a_hierarchy_stays_on_the_nvlink_of_a_rack(void)
{
    check(RACKS("8", "0, 1, 2, 3, 4, 5, 6, 7"), NULL, 14 * OVL_MS, 1400, 0, 0);
    check(RACKS("8", "0, 1, 4, 5"), NULL, 12 * OVL_MS, 1200, 0, 0);
    check(RACKS("8", "0, 4"), NULL, 8 * OVL_MS, 800, 0, 0);
    check(RACKS("8", "0, 1, 2, 4"), NULL, 12 * OVL_MS, 1200, 0, 0);
    check(RACKS("16", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15"), NULL, 24 * OVL_MS,
          1400, 100, 0);
}

static void racks_that_hold_different_numbers_are_refused(void)
{
    bench t = {0};
    CHECK(!lower(&t, RACKS("16", "0, 4, 8"), NULL));
    CHECK_HAS(mistake(&t), "3 lie unevenly on 2 of them, 1 to 2 on each");
    CHECK(!lower(&t, RACKS("16", "0, 1, 8, 9"), "hardware.links.nvlink.topology=mesh"));
    CHECK_HAS(mistake(&t), "nothing else in `via` carries what goes between two of them");
    finish(&t);
}

/* A switch for two GPUs, and what leaves it: the ring in the node once, 2 x 3/4 x 1600 = 2400, and
 * the rails of both, 2 x 600. As a link between all members of a cluster: 16 x (2400 + 600). */
static void a_hierarchy_leaves_parts_of_a_node(void)
{
    const char *text = TOPOLOGY("all_reduce", "hierarchical", "world");
    bench t = {0};
    CHECK(lower(&t, text, "hardware.links.leaf={bandwidth: 1000 GB/s, gpus: 2, out_of: 2}"));
    CHECK(analyse(&t));
    check_link(&t, "leaf.out", 3600);
    CHECK(lower(&t, text, "hardware.links.leaf={bandwidth: 10000 GB/s, gpus: 16}"));
    CHECK(analyse(&t));
    check_link(&t, "leaf.out", 48000);
    CHECK(!lower(&t, text, "hardware.links.leaf={bandwidth: 10000 GB/s, gpus: 8}"));
    CHECK_HAS(mistake(&t),
              "the hierarchical formula of all_reduce goes over leaf, which serves blocks of 8 "
              "GPUs, more than a node has; the members lie in several of them: give it out_of: 8 "
              "(what leaves a block), or out_of: node (what leaves a node)");
    CHECK(lower(&t, text, "hardware.links.leaf={bandwidth: 10000 GB/s, gpus: 8, out_of: node}"));
    finish(&t);
}

/* Each rail by itself: 2 x 3/4 x 1600 = 2400 MB a NIC, 240 ms; all four out of a leaf: 9600. */
static void rails_have_a_nic_each_and_share_the_leaf(void)
{
    check(TOPOLOGY("all_reduce", "ring", "nodes"), NULL, 240 * OVL_MS, 2400, 2400, 9600);
}

/* 100 MB from each to each: 15 on own links, 12 out of a node for each member, 8 x 8 out of a leaf:
 * 160 ms at 40 GB/s. At 100 GB/s the NIC decides: 120 ms. */
static void all_to_all_counts_pairs(void)
{
    const char *text = TOPOLOGY("all_to_all", "direct", "world");
    check(text, NULL, 160 * OVL_MS, 1500, 1200, 6400);
    check(text, "hardware.links.leaf.bandwidth=100 GB/s", 120 * OVL_MS, 1500, 1200, 6400);
}

/* Rack-scale NVLink: nothing leaves 16 GPUs. 1500 MB at 100 GB/s. */
static void a_rack_is_one_domain(void)
{
    check(TOPOLOGY("all_to_all", "direct", "world"), "hardware.node.gpus=16", 160 * OVL_MS, 1500, 0,
          6400);
    check(TOPOLOGY("all_to_all", "direct", "world"),
          "hardware={node: {gpus: 16}, links: {nvlink: {bandwidth: 100 GB/s}, nic: {bandwidth: 10 "
          "GB/s, out_of: node}}, collectives: [{op: all_to_all, via: [nvlink, nic], algorithm: "
          "direct}]}",
          15 * OVL_MS, 1500, 0, 0);
}

static void refuse_of(const char *text, const char *set, const char *why)
{
    bench t = {0};
    CHECK(!lower(&t, text, set));
    CHECK_HAS(mistake(&t), why);
    finish(&t);
}

static void refuse(const char *set, const char *why)
{
    refuse_of(TOPOLOGY("all_reduce", "ring", "world"), set, why);
}

#define RACKS_OF(gpus)                                                                             \
    "hardware={node: {gpus: 4}, links: {nvlink: {bandwidth: 100 GB/s}, nic: {bandwidth: 10 "       \
    "GB/s, out_of: " gpus                                                                          \
    "}}, collectives: [{op: all_reduce, via: [nvlink, nic], algorithm: nvls}]}"

/* Switches of NVLink reduce in a domain, be it of one node or of several: 1600 MB on each of 4
 * GPUs, 5/4 of it over an own link of 100 GB/s, 20 ms. On 4 nodes it is no domain, whatever the
 * links are said to serve, unless a block is: all 16 in a rack have 17/16, 17 ms; a rack of 8 is
 * too small. */
static void nvls_stays_in_its_domain(void)
{
    const char *text = TOPOLOGY("all_reduce", "nvls", "local");
    const char *own = "hardware={node: {gpus: 4}, links: {nvlink: {bandwidth: 100 GB/s}}, "
                      "collectives: [{op: all_reduce, via: [nvlink], algorithm: nvls}]}";
    check(text, NULL, 20 * OVL_MS, 2000, 0, 0);
    check(text, own, 20 * OVL_MS, 2000, 0, 0);
    text = TOPOLOGY("all_reduce", "nvls", "world");
    refuse_of(text, own, "the nvls formula of all_reduce is for the members of one NVLink domain");
    check(text, RACKS_OF("16"), 17 * OVL_MS, 1700, 0, 0);
    refuse_of(text, RACKS_OF("8"), "say a block; here they are in 2:");
}

/* Bytes in one direction over all instances. */
static void check_all(const ovl_result *r, const char *name, uint64_t megabytes)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < r->n_resources; i++) {
        total += strcmp(r->resources[i].name, name) == 0 ? r->resources[i].total : 0;
    }
    CHECK_NEAR((double)total, 1e6 * (double)megabytes, 16);
}

/* Of 1600 MB each of 4 GPUs has 400. An all-gather sends them to the switch once and gets those of
 * the three others, 1200 MB, 12 ms at 100 GB/s; a reduce-scatter the other way. Over 16 GPUs 6400
 * one way and three copies of it, 19200, the other. */
static void an_nvls_gather_sends_each_part_once(void)
{
    for (int scatter = 0; scatter < 2; scatter++) {
        bench t = {0};
        CHECK(lower(&t,
                    scatter ? TOPOLOGY("reduce_scatter", "nvls", "local")
                            : TOPOLOGY("all_gather", "nvls", "local"),
                    NULL) &&
              analyse_both(&t));
        CHECK_INT(t.result.step, 12 * OVL_MS);
        CHECK_INT(t.whole.step, 12 * OVL_MS);
        check_link(&t, "nvlink.out", scatter ? 1200 : 400);
        check_link(&t, "nvlink.in", scatter ? 400 : 1200);
        for (int k = 0; k < 2; k++) {
            const ovl_result *r = k ? &t.whole : &t.result;
            check_all(r, scatter ? "nvlink.in" : "nvlink.out", 6400);
            check_all(r, scatter ? "nvlink.out" : "nvlink.in", 19200);
        }
        finish(&t);
    }
}

/* Side by side over 8 GPUs, 800 MB each: 100 out and 700 in beside 700 out and 100 in are 800 each
 * way, 8 ms where each alone takes 7. As rings: 1400, 14 ms. */
static void an_nvls_gather_beside_a_scatter_has_its_own_direction(void)
{
    const char *text =
        "hardware:\n"
        "  node: {gpus: 8}\n"
        "  links: {nvlink: {bandwidth: 100 GB/s}}\n"
        "  collectives:\n"
        "    - {op: all_gather, via: [nvlink], algorithm: nvls}\n"
        "    - {op: reduce_scatter, via: [nvlink], algorithm: nvls}\n"
        "mesh: {axes: {dp: 8}}\n"
        "workload:\n"
        "  groups: {other: [0, 1, 2, 3, 4, 5, 6, 7]}\n"
        "  ops:\n"
        "    - {collective: ag, op: all_gather, group: dp, bytes: 800 MB}\n"
        "    - {collective: rs, op: reduce_scatter, group: other, bytes: 800 MB, stream: c2}\n";
    bench t = {0};
    CHECK(lower(&t, text, NULL) && analyse_both(&t));
    CHECK_INT(t.result.step, 8 * OVL_MS);
    CHECK_INT(t.whole.step, 8 * OVL_MS);
    check_link(&t, "nvlink.out", 800);
    check_link(&t, "nvlink.in", 800);
    CHECK(lower(&t, text,
                "hardware.collectives=[{op: all_gather, via: [nvlink], algorithm: ring}, {op: "
                "reduce_scatter, via: [nvlink], algorithm: ring}]") &&
          analyse(&t));
    CHECK_INT(t.result.step, 14 * OVL_MS);
    finish(&t);
}

/* Twice what a GPU has on the wire: of 1600 MB a ring of 4 2 x 3/4 = 2400 MB, nvls 5/4 = 2000,
 * sharp 1600; an all-gather 1200 either way, though nvls sends 400 only. */
static void hbm_follows_the_bytes_on_the_wire(void)
{
    static const struct {
        const char *text;
        uint64_t megabytes;
    } by[] = {
        {WITH_HBM("all_reduce", "ring", "local"), 4800},
        {WITH_HBM("all_reduce", "tree", "local"), 4800},
        {WITH_HBM("all_reduce", "nvls", "local"), 4000},
        {WITH_HBM("all_reduce", "sharp", "nodes"), 3200},
        {WITH_HBM("all_gather", "ring", "local"), 2400},
        {WITH_HBM("all_gather", "nvls", "local"), 2400},
        {WITH_HBM("reduce_scatter", "nvls", "local"), 2400},
        {WITH_HBM("all_to_all", "direct", "local"), 2400},
    };
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        bench t = {0};
        CHECK(lower(&t, by[i].text, "hardware.collectives[0].hbm_factor=2") && analyse(&t));
        CHECK_TEXT(mistake(&t), "none");
        check_link(&t, "hbm", by[i].megabytes);
        finish(&t);
    }
}

/* The network's switches reduce for several nodes: each GPU gives them 1600 MB, at 10 GB/s. */
static void sharp_leaves_its_node(void)
{
    const char *own = "hardware={node: {gpus: 4}, links: {nvlink: {bandwidth: 100 GB/s}, nic: "
                      "{bandwidth: 10 GB/s}}, collectives: [{op: all_reduce, via: [nic], "
                      "algorithm: sharp}]}";
    check(TOPOLOGY("all_reduce", "sharp", "nodes"), own, 160 * OVL_MS, 0, 1600, 0);
    refuse_of(TOPOLOGY("all_reduce", "sharp", "local"), own,
              "the sharp formula of all_reduce is for members on several nodes");
}

/* 750 MB over a NIC of 10 GB/s that has 5 for ever: 50 MB until 10 ms, 20 more at 2 GB/s until
 * 20 ms, and the last 680 at 5 again: 20 + 136 ms. In which order they are listed does not matter,
 * nor a third that leaves more. */
static void of_several_faults_the_worst_counts(void)
{
    const char *text = TOPOLOGY("all_reduce", "ring", "world");
    check(text,
          "hardware.faults=[{link: nic, bandwidth: 5 GB/s}, {link: nic, ranks: [\"0-1\"], "
          "bandwidth: 2 GB/s, from: 10 ms, until: 20 ms}]",
          156 * OVL_MS, 3000, 750, 3000);
    check(
        text,
        "hardware.faults=[{link: nic, ranks: [\"0-1\"], bandwidth: 2 GB/s, from: 10 ms, until: 20 "
        "ms}, {link: nic, bandwidth: 5 GB/s}, {link: nic, bandwidth: 8 GB/s, until: 15 ms}]",
        156 * OVL_MS, 3000, 750, 3000);
}

static void faults_that_are_none_are_refused(void)
{
    refuse("hardware.faults=[{link: nic, bandwidth: 20 GB/s}]",
           "a fault leaves nic 20 GB/s, and in good health it has 10 GB/s");
    refuse("hardware.faults=[{link: hbm, bandwidth: 1 GB/s}]",
           "a fault of hbm needs hardware.gpu.hbm, what it has in good health");
    refuse("hardware.faults=[{link: nic, ranks: [16], bandwidth: 5 GB/s}]",
           "there is no rank 16; the last is 15");
    refuse("hardware.collectives[0].via=[nic, nic]", "via: \"nic\" is named twice");
}

/* A NIC has half of its 10 GB/s from 50 ms on: 500 MB by then, and the other 250 by 100 ms. */
static void a_link_that_degrades_shows_what_it_has(void)
{
    bench t = {0};
    const char *text = TOPOLOGY("all_reduce", "ring", "world");
    CHECK(lower(&t, text,
                "hardware.faults=[{link: nic, ranks: [\"0-1\"], bandwidth: 5 GB/s, from: 50 ms, "
                "until: 100 ms}]"));
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, 100 * OVL_MS);
    check_link(&t, "nic.out", 750);
    ovl_timeline timeline;
    ovl_run_options how = {.interference = OVL_INTERFERENCE_SHARED, .segments = true};
    CHECK(ovl_run(t.p, &how, &t.arena, &timeline, &t.errs));
    ovl_causes causes;
    ovl_causes_init(&causes, t.p, &timeline, &t.arena);
    for (uint32_t r = 0; r < t.p->n_resources; r++) {
        const ovl_resource *resource = &t.p->resources[r];
        if (resource->instance == 0 &&
            strcmp(OVL_NAME(t.p->names, resource->name), "nic.out") == 0) {
            uint32_t n;
            const ovl_occupancy *p = ovl_occupancy_of(&causes, r, &t.arena, &n);
            CHECK_INT(n, 2);
            CHECK_INT(n ? p[0].capacity : 0, 10000000000);
            CHECK_INT(n == 2 ? p[1].capacity : 0, 5000000000);
            CHECK_NEAR(n == 2 ? p[1].takes : 0, 5e9, 1);
        }
    }
    ovl_causes_free(&causes);
    finish(&t);
}

/* A node 1.25 times slower, and one of its GPUs 1.2 times of its own: 12 ms become 15 and 18. */
static void slowdowns_of_a_gpu_multiply(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "hardware: {node: {gpus: 2}, faults: [{ranks: [0, 1], slowdown: 1.25}, {ranks: 1, "
                "slowdown: 1.2}]}\n"
                "workload: {ranks: 3, ops: [{kernel: k, duration: 12 ms}]}\n",
                NULL));
    static const ovl_time want[] = {15 * OVL_MS, 18 * OVL_MS, 12 * OVL_MS};
    for (uint32_t rank = 0; rank < 3; rank++) {
        CHECK_INT(ovl_op_cost(t.p, rank, ovl_code_op(code_of(&t, rank), 0))->work, want[rank]);
    }
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"slowdowns of a GPU multiply", slowdowns_of_a_gpu_multiply},
    {"a ring leaves nodes, and leaves, once", a_ring_leaves_nodes_and_leaves_once},
    {"GPUs share a NIC", gpus_share_a_nic},
    {"a hierarchy runs its rails across leaves", a_hierarchy_runs_its_rails_across_leaves},
    {"a hierarchy stays on the NVLink of a rack", a_hierarchy_stays_on_the_nvlink_of_a_rack},
    {"racks that hold different numbers are refused",
     racks_that_hold_different_numbers_are_refused},
    {"a hierarchy leaves parts of a node", a_hierarchy_leaves_parts_of_a_node},
    {"rails have a NIC each and share the leaf", rails_have_a_nic_each_and_share_the_leaf},
    {"all-to-all counts pairs", all_to_all_counts_pairs},
    {"a rack is one domain", a_rack_is_one_domain},
    {"nvls stays in its domain", nvls_stays_in_its_domain},
    {"an NVLS gather sends each part once", an_nvls_gather_sends_each_part_once},
    {"an NVLS gather beside a scatter has its own direction",
     an_nvls_gather_beside_a_scatter_has_its_own_direction},
    {"HBM follows the bytes on the wire", hbm_follows_the_bytes_on_the_wire},
    {"sharp leaves its node", sharp_leaves_its_node},
    {"of several faults the worst counts", of_several_faults_the_worst_counts},
    {"faults that are none are refused", faults_that_are_none_are_refused},
    {"a link that degrades shows what it has", a_link_that_degrades_shows_what_it_has},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topology", tests);
}
