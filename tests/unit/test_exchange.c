/*
 * All-to-alls whose pairs have bytes of their own, and PXN, by hand: what each instance carries,
 * how long that takes, that what is sent is received.
 */
#include "tests/support/lowering.h"

#include <stdio.h>

/* Two nodes of two; of each 1 GB/s: a link of each GPU, its NIC, the way out of a node, what is
 * between nodes, the uplinks of rails. */
#define TEXT                                                                                       \
    "hardware: {node: {gpus: 2}, links: {nvlink: {bandwidth: 1 GB/s}, nic: {bandwidth: 1 GB/s, "   \
    "gpus: 1, out_of: node}, way: {bandwidth: 1 GB/s, scope: node}, all: {bandwidth: 1 GB/s, "     \
    "scope: cluster}, up: {bandwidth: 1 GB/s, scope: rail, out_of: rail}}, collectives: [{op: "    \
    "all_to_all, via: [nvlink], algorithm: direct}]}\n"                                            \
    "mesh: {axes: {ep: 4}}\n"                                                                      \
    "workload: {ops: [{collective: a, op: all_to_all, group: ep, sends: [[50 MB, 100 MB, 200 MB, " \
    "0], [0, 0, 0, 400 MB], [10 MB, 20 MB, 0, 40 MB], [0, 0, 0, 0]]}]}\n"

static bool runs(bench *t, const char *text, const char *set)
{
    bool good = lower(t, text, set) && analyse_both(t);
    CHECK_TEXT(mistake(t), "none");
    CHECK_INT(good ? t->result.step : 0, good ? t->whole.step : -1);
    return good;
}

static const ovl_result_resource *find(const ovl_result *r, const char *name)
{
    for (uint32_t i = 0; i < r->n_resources; i++) {
        if (strcmp(r->resources[i].name, name) == 0) {
            return &r->resources[i];
        }
    }
    return NULL;
}

/* MB: busiest out, busiest in, in sum either way. */
static void check(const bench *t, const char *link, double out, double in, double all)
{
    const ovl_result *of[] = {&t->result, &t->whole};
    for (size_t k = 0; k < OVL_COUNT(of); k++) {
        char name[2][32];
        snprintf(name[0], sizeof name[0], "%s.out", link);
        snprintf(name[1], sizeof name[1], "%s.in", link);
        const ovl_result_resource *a = find(of[k], name[0]), *b = find(of[k], name[1]);
        CHECK_NEAR(a ? (double)a->bytes / 1e6 : 0, out, 1e-3);
        CHECK_NEAR(b ? (double)b->bytes / 1e6 : 0, in, 1e-3);
        CHECK_NEAR(a ? (double)a->total / 1e6 : 0, all, 1e-3);
        CHECK_NEAR(b ? (double)b->total / 1e6 : 0, all, 1e-3);
    }
}

/* Rows sum to 300, 400, 70 and 0 without what stays, columns to 10, 120, 200 and 440: 440 ms on own
 * links. Off the node go 200, 400, 30 and 0, and come 10, 20, 200 and 400: NICs 400, the ways out
 * 600 and 30, between nodes 630. On another rail is 2 to 1 alone, 20. */
static void each_link_carries_its_pairs(void)
{
    static const struct {
        const char *link;
        ovl_time step;
        double out, in, all;
    } by[] = {{"nvlink", 440, 400, 440, 770},
              {"nic", 400, 400, 400, 630},
              {"way", 600, 600, 600, 630},
              {"all", 630, 630, 630, 630},
              {"up", 20, 20, 20, 20}};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        bench t = {0};
        char set[64];
        snprintf(set, sizeof set, "hardware.collectives[0].via=[%s]", by[i].link);
        if (runs(&t, TEXT, set)) {
            CHECK_INT(t.result.step, by[i].step * OVL_MS);
            check(&t, by[i].link, by[i].out, by[i].in, by[i].all);
        }
        finish(&t);
    }
}

/* All together as long as the slowest, with latency once a step: 3 x 1 ms. */
static void the_slowest_of_all_ports_decides(void)
{
    bench t = {0};
    if (runs(&t, TEXT,
             "hardware={node: {gpus: 2}, links: {nvlink: {bandwidth: 2 GB/s, latency: 1 ms}, nic: "
             "{bandwidth: 1 GB/s, out_of: node}, spine: {bandwidth: 1 GB/s, scope: cluster, "
             "out_of: node}}, collectives: [{op: all_to_all, via: [nvlink, nic, spine], algorithm: "
             "direct}]}")) {
        CHECK_INT(t.result.step, 633 * OVL_MS);
        check(&t, "nvlink", 400, 440, 770);
        check(&t, "spine", 630, 630, 630);
    }
    finish(&t);
}

/* 770 MB go to others: as in an even exchange of 770/3 MB, of which each gives others 3/4. At 1
 * GB/s it takes 256.67 ms; the busiest has 440 of 192.5: 4 x 440/3 ms. A stated time is what it
 * takes. */
static void other_costs_go_by_the_busiest_member(void)
{
    bench t = {0};
    if (runs(&t, TEXT, "hardware.collectives[0]={op: all_to_all, beta: 1 GB/s, via: [nic]}")) {
        CHECK_INT(t.result.step, 586666666667);
        CHECK_INT(t.result.collectives[0].bytes, 256666667);
        check(&t, "nic", 400, 400, 630);
    }
    if (runs(&t, TEXT, "workload.ops.a.duration=1 s")) {
        CHECK_INT(t.result.step, OVL_S);
        check(&t, "nvlink", 400, 440, 770);
    }
    finish(&t);
}

/* HBM moves what each sends and gets: 2 x (300 + 10) / 2 for rank 0, in sum 2 x 770. */
static void hbm_moves_what_each_has(void)
{
    bench t = {0};
    if (runs(&t, TEXT,
             "hardware={gpu: {hbm: 10 GB/s}, node: {gpus: 2}, links: {nvlink: {bandwidth: 1 "
             "GB/s}}, collectives: [{op: all_to_all, via: [nvlink], algorithm: direct, "
             "hbm_factor: 2}]}")) {
        const ovl_result_resource *hbm = find(&t.result, "hbm");
        CHECK_NEAR(hbm ? (double)hbm->total / 1e6 : 0, 1540, 1e-3);
        CHECK_NEAR(hbm ? (double)hbm->bytes / 1e6 : 0, 520, 1e-3); /* rank 1: 400 + 120 */
    }
    finish(&t);
}

static void refuse(const char *set, const char *why)
{
    bench t = {0};
    CHECK(!lower(&t, TEXT, set));
    CHECK_HAS(mistake(&t), why);
    finish(&t);
}

static void mistakes_are_told(void)
{
    refuse("workload.ops.a.sends=[[0, 1], [1, 0, 2]]",
           "a matrix is square, a list for each member with a value for each member: this row has "
           "3 of 2");
    refuse("workload.ops.a.sends=[[0, 1], 1]", "this row has 1 of 2");
    refuse("workload.ops.a.sends=[[0, 1 MB, 0], [0, 0, 2 MB], [1 MB, 0, 0]]",
           "a matrix of 3 rows, and a communicator of \"ep\" has 4 members");
    refuse("workload.ops.a.sends=[[0, -1 MB], [1, 0]]", "sends is \"-1 MB\"");
    refuse("workload.ops.a.sends=[[0, 1 s], [1, 0]]", "sends is \"1 s\"");
    refuse("workload.ops.a.sends=[[5 MB, 0], [0, 5 MB]]", "no member gives another anything");
    refuse("workload.ops.a.bytes=1 MB", "bytes follows from the matrix of sends");
    refuse("workload.ops.a.receives=[1, 1, 1, 1]", "receives follow from the matrix of sends");
    refuse("workload.ops.a.op=all_gather",
           "only an all_to_all has members with bytes of their own");
}

/* Not in steps: they are not all alike. */
static void it_stays_whole(void)
{
    bench t = {0};
    if (runs(&t, TEXT, "expand=4")) {
        CHECK_INT(t.result.step, 440 * OVL_MS);
        check(&t, "nvlink", 400, 440, 770);
    }
    finish(&t);
}

/* --- PXN --- */

/* 2 to 1 goes by 3, on rail 1: 20 more into and out of it. Its NIC has them, not that of 2, and
 * nothing leaves a rail. */
static void a_member_on_the_rail_passes_it_on(void)
{
    bench t = {0};
    if (runs(&t, TEXT,
             "hardware.collectives[0]={op: all_to_all, via: [nvlink, nic, up], algorithm: direct, "
             "pxn: true}")) {
        CHECK_INT(t.result.step, 460 * OVL_MS);
        check(&t, "nvlink", 400, 460, 790);
        check(&t, "nic", 400, 400, 630);
        check(&t, "up", 0, 0, 0);
    }
    finish(&t);
}

#define EVEN(gpus, more, group)                                                                    \
    "hardware: {node: {gpus: " gpus "}, links: {nvlink: {bandwidth: 900 GB/s, latency: 1 us}, "    \
    "nic: {bandwidth: 10 GB/s, gpus: 1, out_of: node, latency: 2 us}, up: {bandwidth: 9 GB/s, "    \
    "scope: rail, out_of: rail, latency: 5 us" more                                                \
    "}}, collectives: [{op: all_to_all, via: [nvlink, nic, up], algorithm: direct, pxn: true}]}\n" \
    "workload: {ranks: 32, groups: {g: [" group                                                    \
    "]}, ops: [{collective: a, op: all_to_all, group: g, bytes: 800 MB, ranks: [" group "]}]}\n"
#define FIRST_EIGHT "0, 1, 2, 3, 4, 5, 6, 7"

/* 2 nodes of 4, 100 MB from each to each. Each passes on what 3 others of its node have for the one
 * on its rail: 300 beside 700. NICs have 400 as before, 40 ms and 7 steps of 2 us: nothing leaves a
 * rail. On rails of two GPUs 2 of a node pass on what the 2 others have for 2: 400 / 2 each. */
static void nothing_leaves_a_rail(void)
{
    bench t = {0};
    if (runs(&t, EVEN("4", "", FIRST_EIGHT), NULL)) {
        CHECK_INT(t.result.step, 40 * OVL_MS + 14 * OVL_US);
        check(&t, "nvlink", 1000, 1000, 8000);
        check(&t, "nic", 400, 400, 3200);
        check(&t, "up", 0, 0, 0);
    }
    if (runs(&t, EVEN("4", ", rail_gpus: 2", FIRST_EIGHT), NULL)) {
        check(&t, "nvlink", 900, 900, 7200);
        check(&t, "nic", 400, 400, 3200);
        check(&t, "up", 0, 0, 0);
    }
    finish(&t);
}

/* 4 nodes of 8 in pods of two, 25 MB: from one pod to the other all that goes there, 16 x 16 x 25
 * of each of 2, by 8 rails. Without PXN it is 1150 a rail. Each passes on what 7 others have for
 * the 3 on its rail: 31 x 25 + 21 x 25. */
static void pods_are_left_on_the_rail(void)
{
    bench t = {0};
    if (runs(&t,
             EVEN("8", ", pod: 2",
                  FIRST_EIGHT ", 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, "
                              "24, 25, 26, 27, 28, 29, 30, 31"),
             NULL)) {
        check(&t, "nvlink", 1300, 1300, 32 * 1300);
        check(&t, "nic", 600, 600, 32 * 600);
        check(&t, "up", 800, 800, 16 * 800);
    }
    finish(&t);
}

/* Ranks 0, 1 and 4, 200 MB: 1 gives 4 its bytes by 0, on the rail of 4. 4 has nobody on rail 1 in
 * its node: what is for 1 leaves by its own NIC, off its rail. Of 800 MB among 3 a part is 800/3.
 */
static void where_no_member_is_on_the_rail_it_crosses_the_spine(void)
{
    bench t = {0};
    double part = 800. / 3;
    if (runs(&t, EVEN("4", "", "0, 1, 4"), NULL)) {
        check(&t, "nvlink", 3 * part, 3 * part, 7 * part);
        check(&t, "nic", 2 * part, 2 * part, 4 * part);
        check(&t, "up", part, part, part);
    }
    finish(&t);
}

static void pxn_needs_rails(void)
{
    refuse("hardware.collectives[0]={op: all_to_all, via: [nic], algorithm: direct, pxn: true}",
           "pxn needs a link in `via` that says what rails are");
    refuse("hardware.collectives[0]={op: all_gather, via: [up], algorithm: ring, pxn: true}",
           "pxn belongs to op: all_to_all or send_recv");
    bench t = {0};
    char text[1024];
    snprintf(text, sizeof text,
             "hardware: {node: {gpus: 2}, links: {up: {bandwidth: 1 GB/s, scope: rail, out_of: "
             "rail}}, collectives: [{op: all_to_all, via: [up], algorithm: direct, pxn: true}]}\n"
             "workload: {ranks: 1026, ops: [{collective: a, op: all_to_all, bytes: 1 MB}]}\n");
    CHECK(!lower(&t, text, NULL));
    CHECK_HAS(mistake(&t), "goes by pxn among 1026 members; it is modelled for at most 1024");
    finish(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"each link carries its pairs", each_link_carries_its_pairs},
        {"the slowest of all ports decides", the_slowest_of_all_ports_decides},
        {"other costs go by the busiest member", other_costs_go_by_the_busiest_member},
        {"HBM moves what each has", hbm_moves_what_each_has},
        {"mistakes are told", mistakes_are_told},
        {"it stays whole", it_stays_whole},
        {"a member on the rail passes it on", a_member_on_the_rail_passes_it_on},
        {"nothing leaves a rail", nothing_leaves_a_rail},
        {"pods are left on the rail", pods_are_left_on_the_rail},
        {"where no member is on the rail it crosses the spine",
         where_no_member_is_on_the_rail_it_crosses_the_spine},
        {"PXN needs rails", pxn_needs_rails},
        CU_TEST_INFO_NULL,
    };
    return check_main("exchange", tests);
}
