/*
 * test_phases.c - hierarchical collectives go through their phases one after another: what meets
 * one of them slows that one, and what degrades counts while they are on it.
 *
 * Two nodes of 4 GPUs, each with an NVLink and a NIC of 100 GB/s. An all-reduce of 800 MB: 3/4 x
 * 800 = 600 MB on each NVLink, 6 ms; 2 x 1/2 x 200 = 200 MB on each NIC, 2 ms; 600 MB again: 14 ms.
 */
#include "models/vary.h"
#include "sim/expand.h"
#include "sim/explain.h"
#include "sim/speedup.h"
#include "tests/support/links.h"
#include "tests/support/lowering.h"

#define MACHINE                                                                                    \
    "hardware:\n"                                                                                  \
    "  gpu: {hbm: 2 TB/s}\n"                                                                       \
    "  node: {gpus: 4}\n"                                                                          \
    "  links: {nvl: {bandwidth: 100 GB/s}, nic: {bandwidth: 100 GB/s, out_of: node}}\n"            \
    "  collectives:\n"                                                                             \
    "    - &levels {op: all_reduce, via: [nvl, nic], algorithm: hierarchical, hbm_factor: 2}\n"    \
    "    - {<<: *levels, op: reduce_scatter}\n"                                                    \
    "    - {<<: *levels, op: all_gather}\n"                                                        \
    "    - {op: send_recv, via: [nic], algorithm: direct}\n"                                       \
    "mesh: {axes: {dp: 8}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  groups: {other: [[0, 1, 2, 3, 4, 5, 6, 7]], pair: [[0, 4]]}\n"                              \
    "  ops:\n"
#define X "    - {collective: x, op: all_reduce, group: dp, bytes: 800 MB}\n"
/* A message of 400 MB, 4 ms on the NICs of ranks 0 and 4, when a pause is over. */
#define MESSAGE(after)                                                                             \
    "    - {marker: pause, duration: " after ", ranks: [0, 4], stream: p2p}\n"                     \
    "    - {send: s, group: pair, to: 1, bytes: 400 MB, ranks: [0], stream: p2p}\n"                \
    "    - {recv: r, group: pair, from: 0, bytes: 400 MB, ranks: [4], stream: p2p}\n"

static const ovl_result_collective *row(const bench *t, const char *name)
{
    static const ovl_result_collective none = {.start = -1, .end = -1};
    for (uint32_t i = 0; i < t->result.n_collectives; i++) {
        if (strcmp(t->result.collectives[i].name, name) == 0) {
            return &t->result.collectives[i];
        }
    }
    return &none;
}

/* Folded and not. */
static bool run(bench *t, const char *text, const char *set)
{
    bool good = lower(t, text, set) && analyse_both(t);
    CHECK_TEXT(mistake(t), "none");
    CHECK_INT(t->result.step, t->whole.step);
    return good;
}

static void check_end(const char *text, const char *set, const char *name, ovl_time end)
{
    bench t = {0};
    if (run(&t, text, set)) {
        CHECK_INT(row(&t, name)->end, end);
    }
    finish(&t);
}

/* With 20 GB/s the 200 MB on a NIC take 10 ms, whoever says so. */
static void a_fault_counts_as_the_link_itself_does(void)
{
    check_end(MACHINE X, NULL, "x", 14 * OVL_MS);
    check_end(MACHINE X, "hardware.faults=[{link: nic, bandwidth: 20 GB/s}]", "x", 22 * OVL_MS);
    check_end(MACHINE X, "hardware.links.nic.bandwidth=20 GB/s", "x", 22 * OVL_MS);
    check_end(MACHINE X, "hardware.nodes={old: {at: 1, links: {nic: {bandwidth: 20 GB/s}}}}", "x",
              22 * OVL_MS);
}

/* From 7 ms on: 100 of the 200 MB are over, the others take 5 ms, until 12. From 8 ms on there is
 * nothing left to slow, and up to 6 nothing yet. NVLinks at half their speed from 9 ms on: of the
 * 6 ms of the last phase, from 8 on, 5 take twice as long. */
static void a_fault_counts_while_its_phase_is_on(void)
{
    check_end(MACHINE X, "hardware.faults=[{link: nic, bandwidth: 20 GB/s, from: 7 ms}]", "x",
              18 * OVL_MS);
    check_end(MACHINE X, "hardware.faults=[{link: nic, bandwidth: 20 GB/s, from: 8 ms}]", "x",
              14 * OVL_MS);
    check_end(MACHINE X, "hardware.faults=[{link: nic, bandwidth: 20 GB/s, until: 6 ms}]", "x",
              14 * OVL_MS);
    check_end(MACHINE X, "hardware.faults=[{link: nvl, bandwidth: 50 GB/s, from: 9 ms}]", "x",
              19 * OVL_MS);
}

/* At once the message is over before x comes to the NICs. At 6 ms both want all of the NIC of rank
 * 0: x has its 200 MB through at 10, gathers until 16; the message has 200 MB left then, until 12.
 * At 7 ms x has 100 MB left: until 9, and ends at 15; the message has moved 100 MB: until 12. */
static void a_user_of_the_nic_meets_that_phase_alone(void)
{
    check_end(MACHINE X MESSAGE("0 ms"), NULL, "x", 14 * OVL_MS);
    check_end(MACHINE X MESSAGE("6 ms"), NULL, "x", 16 * OVL_MS);
    check_end(MACHINE X MESSAGE("6 ms"), NULL, "r", 12 * OVL_MS);
    check_end(MACHINE X MESSAGE("7 ms"), NULL, "x", 15 * OVL_MS);
    check_end(MACHINE X MESSAGE("7 ms"), NULL, "r", 12 * OVL_MS);
    check_end(MACHINE X MESSAGE("8 ms"), NULL, "x", 14 * OVL_MS);
}

/* Two of them. At once they meet in all phases: 28 ms. The second 6 ms later: it is alone on the
 * NVLinks from 6 to 8, has 4 of 6 ms left when x comes back to gather, and both have half of them:
 * at 16 it goes on to the NICs, 16..18, when x has 2 of 6 ms left: alone, until 18. Then it
 * gathers, 18..24. 14 ms later they do not meet. */
static void only_phases_that_overlap_in_time_meet(void)
{
#define TWO(after)                                                                                 \
    MACHINE X "    - {marker: pause, duration: " after ", stream: later}\n"                        \
              "    - {collective: y, op: all_reduce, group: other, bytes: 800 MB, stream: "        \
              "later}\n"
    check_end(TWO("0 ms"), NULL, "x", 28 * OVL_MS);
    check_end(TWO("0 ms"), NULL, "y", 28 * OVL_MS);
    check_end(TWO("6 ms"), NULL, "x", 18 * OVL_MS);
    check_end(TWO("6 ms"), NULL, "y", 24 * OVL_MS);
    check_end(TWO("14 ms"), NULL, "x", 14 * OVL_MS);
    check_end(TWO("14 ms"), NULL, "y", 28 * OVL_MS);
#undef TWO
}

/* A reduce-scatter is inside first, 0..6, then across: half of 200 MB, 6..7. An all-gather is
 * across first, 0..1. The message shares the NIC with the one from 6 ms on (1 ms more), with the
 * other from 0 on. */
static void scatters_go_across_last_and_gathers_first(void)
{
#define ONE(op) "    - {collective: x, op: " op ", group: dp, bytes: 800 MB}\n"
    check_end(MACHINE ONE("reduce_scatter"), NULL, "x", 7 * OVL_MS);
    check_end(MACHINE ONE("reduce_scatter") MESSAGE("0 ms"), NULL, "x", 7 * OVL_MS);
    check_end(MACHINE ONE("reduce_scatter") MESSAGE("6 ms"), NULL, "x", 8 * OVL_MS);
    check_end(MACHINE ONE("all_gather"), NULL, "x", 7 * OVL_MS);
    check_end(MACHINE ONE("all_gather") MESSAGE("0 ms"), NULL, "x", 8 * OVL_MS);
    check_end(MACHINE ONE("all_gather") MESSAGE("1 ms"), NULL, "x", 7 * OVL_MS);
#undef ONE
}

/* Latency of 1 us a step inside, 3 steps each time, and 5 us across, 2 steps: 16 us in all, three
 * times for themselves. */
static void each_phase_has_its_own_latency(void)
{
    bench t = {0};
    if (run(&t, MACHINE X,
            "hardware.links={nvl: {bandwidth: 100 GB/s, latency: 1 us}, nic: {bandwidth: 100 GB/s, "
            "latency: 5 us, out_of: node}}")) {
        CHECK_INT(t.result.step, 14 * OVL_MS + 16 * OVL_US);
        CHECK_INT(t.result.ranks[0].term[OVL_COMM_LATENCY], 16 * OVL_US);
        CHECK_INT(t.result.ranks[0].term[OVL_COMM_TRANSFER], 14 * OVL_MS);
        CHECK_INT(row(&t, "x")->isolated, t.result.step);
        const ovl_cost *cost = cost_named(&t, 3, "x");
        CHECK_INT(ovl_count_phases(t.p, cost), 3);
        CHECK_INT(ovl_phase_of(t.p, cost, 1)->latency, 10 * OVL_US);
        CHECK_INT(ovl_phase_of(t.p, cost, 2)->latency, 3 * OVL_US);
    }
    finish(&t);
}

/* Over all phases: 1200 MB on an NVLink, 200 on a NIC, 2 x 2 x 7/8 x 800 = 2800 of HBM. In the
 * second phase HBM has 2 x 200 of them in 2 ms, 200 GB/s. Busy: 12, 2 and 14 ms. */
static void bytes_of_the_phases_add_up(void)
{
    bench t = {0};
    if (run(&t, MACHINE X, NULL)) {
        check_link(&t.result, "nvl", "out", 1200, 8 * 1200);
        check_link(&t.whole, "nvl", "in", 1200, 8 * 1200);
        check_link(&t.result, "nic", "in", 200, 8 * 200);
        for (uint32_t i = 0; i < t.whole.n_resources; i++) {
            const ovl_result_resource *r = &t.whole.resources[i];
            bool hbm = strcmp(r->name, "hbm") == 0, nic = strncmp(r->name, "nic", 3) == 0;
            CHECK_INT(r->busy, (hbm ? 14 : nic ? 2 : 12) * OVL_MS);
            CHECK(!hbm || r->bytes == 2800000000);
        }
        const ovl_cost *across = ovl_phase_of(t.p, cost_named(&t, 0, "x"), 1);
        CHECK_INT(demand_on(&t, 0, across, false, "hbm"), 200000000000);
        CHECK_INT(demand_on(&t, 0, across, false, "nvl.out"), 0);
    }
    finish(&t);
}

/* What held it back is the NIC, for the 4 ms of that phase, 2 of them lost, beside the message
 * alone; and so stands the row of collisions. */
static void it_is_told_what_met_which_phase(void)
{
    bench t = {0};
    if (run(&t, MACHINE X MESSAGE("6 ms"), NULL)) {
        CHECK_INT(t.result.n_collisions, 1);
        if (t.result.n_collisions == 1) {
            CHECK_TEXT(t.result.collisions[0].resource, "nic.out");
            CHECK_INT(t.result.collisions[0].together, 4 * OVL_MS);
        }
        ovl_timeline line;
        ovl_run_options how = {.interference = OVL_INTERFERENCE_SHARED};
        ovl_causes causes;
        uint32_t n = 0;
        CHECK(ovl_run(t.p, &how, &t.arena, &line, &t.errs));
        ovl_causes_init(&causes, t.p, &line, &t.arena);
        const ovl_explained *e = ovl_explain(&causes, NULL, "x", 2, &t.arena, &n);
        CHECK_INT(n, 1);
        CHECK_INT(n ? e->n_phases : 0, 3);
        CHECK_INT(n ? e->phases[1].from : 0, 6 * OVL_MS);
        CHECK_INT(n ? e->phases[1].to : 0, 10 * OVL_MS);
        CHECK_TEXT(n ? e->phases[1].over : "", "nic.out, nic.in, hbm");
        CHECK_TEXT(n && e->n_bounds ? e->bounds[0].name : "", "nic.out");
        CHECK_INT(n && e->n_bounds ? e->bounds[0].time : 0, 4 * OVL_MS);
        CHECK_TEXT(n && e->n_bounds ? e->bounds[0].beside : "", "s");
        ovl_causes_free(&causes);
    }
    finish(&t);
}

static ovl_time step_of(const ovl_program *p, bench *t)
{
    ovl_run_options how = {.interference = OVL_INTERFERENCE_SHARED};
    ovl_time step = -1;
    CHECK(ovl_simulate_step(p, &how, &step, &t->errs));
    return step;
}

/* In steps each phase goes round the ring of all members: with as much on each link it takes as
 * long. At half the time all phases are half as long, and none if free. */
static void what_changes_a_collective_changes_its_phases(void)
{
    bench t = {0};
    if (run(&t, MACHINE X, NULL)) {
        ovl_program steps;
        ovl_lever lever;
        CHECK(ovl_expand(t.p, 8, &t.arena, &steps, &t.errs));
        CHECK_INT(step_of(&steps, &t), 14 * OVL_MS);
        CHECK(ovl_lever_of_name(t.p, "x", &lever));
        ovl_program half = ovl_program_faster(t.p, &lever, &(ovl_faster){1, 2, false}, &t.arena);
        CHECK_INT(step_of(&half, &t), 7 * OVL_MS);
        ovl_program none = ovl_program_faster(t.p, &lever, &(ovl_faster){0, 1, false}, &t.arena);
        CHECK_INT(step_of(&none, &t), 0);
    }
    if (lower(&t, MACHINE X "variation: {ops: [{op: x, mean: 28 ms}]}\n", NULL)) {
        ovl_vary vary;
        ovl_vary_prepare(&vary, t.p, &t.scenario.variation, t.lowered.laws, 1, &t.arena);
        ovl_program trial = ovl_vary_trial(&vary, 0, &t.arena);
        const ovl_cost *cost = ovl_op_cost(&trial, 0, ovl_code_op(&trial.codes[0], 0));
        CHECK_INT(ovl_phase_of(&trial, cost, 1)->work, 4 * OVL_MS);
        CHECK_INT(step_of(&trial, &t), 28 * OVL_MS);
    }
    CHECK_TEXT(mistake(&t), "none");
    finish(&t);
}

/* A NIC for two GPUs, and three members on each node: 600 MB are 2/3 x 600 = 400 on each NVLink, 4
 * ms each time, and of the 600 that leave a node the NIC of two members has 400, 4 ms at 100 GB/s,
 * the other 200. So that one may lose half and nobody notices; with a quarter left it takes 8 ms.
 */
#define UNEVEN(fault)                                                                              \
    "hardware:\n"                                                                                  \
    "  node: {gpus: 4}\n"                                                                          \
    "  links: {nvl: {bandwidth: 100 GB/s}, nic: {bandwidth: 100 GB/s, gpus: 2, out_of: node}}\n"   \
    "  collectives: [{op: all_reduce, via: [nvl, nic], algorithm: hierarchical}]\n"                \
    "  faults: [" fault "]\n"                                                                      \
    "workload:\n"                                                                                  \
    "  ranks: 8\n"                                                                                 \
    "  groups: {six: [[0, 1, 2, 4, 5, 6]]}\n"                                                      \
    "  ops: [{collective: x, op: all_reduce, group: six, bytes: 600 MB, ranks: [0, 1, 2, 4, 5, "   \
    "6]}]\n"

static void members_load_each_its_own_in_every_phase(void)
{
    check_end(UNEVEN(""), NULL, "x", 12 * OVL_MS);
    check_end(UNEVEN("{link: nic, ranks: 2, bandwidth: 50 GB/s}"), NULL, "x", 12 * OVL_MS);
    check_end(UNEVEN("{link: nic, ranks: 2, bandwidth: 25 GB/s}"), NULL, "x", 16 * OVL_MS);
    check_end(UNEVEN("{link: nic, ranks: 0, bandwidth: 50 GB/s}"), NULL, "x", 16 * OVL_MS);
}

/* One member a node, or all on one: there is one level, and nothing follows. */
static void one_level_has_no_phases(void)
{
    bench t = {0};
    CHECK(lower(&t,
                MACHINE "    - {collective: c, op: all_reduce, group: pair, bytes: 800 MB, "
                        "ranks: [0, 4]}\n",
                NULL));
    CHECK_INT(ovl_count_phases(t.p, cost_named(&t, 0, "c")), 1);
    CHECK_INT(cost_named(&t, 0, "c")->work, 8 * OVL_MS);
    CHECK(lower(&t, MACHINE X, "hardware.node.gpus=8"));
    CHECK_INT(t.p->n_phases, 0);
    CHECK_INT(cost_named(&t, 0, "x")->work, 14 * OVL_MS);
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"a fault counts as the link itself does", a_fault_counts_as_the_link_itself_does},
    {"a fault counts while its phase is on", a_fault_counts_while_its_phase_is_on},
    {"a user of the NIC meets that phase alone", a_user_of_the_nic_meets_that_phase_alone},
    {"only phases that overlap in time meet", only_phases_that_overlap_in_time_meet},
    {"scatters go across last and gathers first", scatters_go_across_last_and_gathers_first},
    {"each phase has its own latency", each_phase_has_its_own_latency},
    {"bytes of the phases add up", bytes_of_the_phases_add_up},
    {"it is told what met which phase", it_is_told_what_met_which_phase},
    {"what changes a collective changes its phases", what_changes_a_collective_changes_its_phases},
    {"members load each its own in every phase", members_load_each_its_own_in_every_phase},
    {"one level has no phases", one_level_has_no_phases},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("phases", tests);
}
