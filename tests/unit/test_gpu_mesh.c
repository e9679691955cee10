/*
 * GPUs that are connected pair by pair (topology: mesh). Two nodes of 4 GPUs of 300 GB/s each, so
 * 100 GB/s between any two; NICs of 50 GB/s.
 */
#include "tests/support/lowering.h"

#define MACHINE                                                                                    \
    "hardware:\n  node: {gpus: 4}\n  links:\n"                                                     \
    "    nvlink: {bandwidth: 300 GB/s, latency: 1 us, topology: mesh}\n"                           \
    "    nic: {bandwidth: 50 GB/s, out_of: node}\n"                                                \
    "  collectives:\n"                                                                             \
    "    - {op: all_reduce, via: [nvlink, nic], algorithm: ring}\n"                                \
    "    - {op: reduce_scatter, via: [nvlink, nic], algorithm: hierarchical}\n"                    \
    "    - {op: all_to_all, via: [nvlink, nic], algorithm: direct}\n"                              \
    "    - {op: send_recv, via: [nvlink, nic], algorithm: direct}\n"                               \
    "mesh: {axes: {tp: 4, dp: 2}}\n"
#define OPS(text)                                                                                  \
    MACHINE "workload:\n  groups: {pairs: [[0, 2], [1, 3], [4, 6], [5, 7]],\n"                     \
            "           three: [[0, 1, 3], [4, 5, 7]], across: [[0, 1, 4, 5], [2, 3, 6, 7]],\n"    \
            "           most: [[0, 1, 2, 4]]}\n  ops:\n" text
#define C(name, op, group, more)                                                                   \
    "    - {collective: " name ", op: " op ", group: " group ", bytes: 400 MB" more "}\n"

static ovl_time work(bench *t, uint32_t rank, const char *name)
{
    return ovl_cost_work(t->p, cost_named(t, rank, name));
}

/* GB/s out of a rank over the wire to the GPU so many further. */
static uint64_t on_wire(bench *t, uint32_t rank, const char *name, uint32_t further)
{
    const ovl_cost *cost = cost_named(t, rank, name);
    const char *wire = ovl_arena_printf(&t->arena, "nvlink+%" PRIu32, further);
    return demand_on(t, rank, cost, false, wire) / 1000000000;
}

static void rings_along_all_orders_use_all_wires(void)
{
    /* 2 * 3/4 * 400 MB = 600 MB out of each of 4, 200 MB over each of 3 wires: 2 ms. Three of them:
     * 2 * 2/3 * 400 MB = 533 MB over 2 wires: 2.67 ms. Two: 400 MB over one: 4 ms. */
    bench t = {0};
    CHECK(lower(&t,
                OPS(C("four", "all_reduce", "tp", "") C("two", "all_reduce", "pairs", "")
                        C("three", "all_reduce", "three", ", ranks: [0, 1, 3, 4, 5, 7]")),
                NULL));
    CHECK_INT(work(&t, 0, "four"), 2 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "four")->latency, 6 * OVL_US); /* 2 * 3 steps */
    CHECK_INT(work(&t, 1, "two"), 4 * OVL_MS);
    CHECK_INT(work(&t, 0, "three"), 2666666667);
    for (uint32_t k = 1; k < 4; k++) {
        CHECK_INT(on_wire(&t, 5, "four", k), 100);
        CHECK_INT(on_wire(&t, 3, "two", k), k == 2 ? 100 : 0);
        CHECK_INT(on_wire(&t, 0, "three", k), k == 2 ? 0 : 99); /* to 1 and to 3 */
        CHECK_INT(on_wire(&t, 1, "three", k), k == 1 ? 0 : 99); /* to 3 and to 0 */
        CHECK_INT(on_wire(&t, 3, "three", k), k == 3 ? 0 : 99); /* to 0 and to 1 */
    }
    finish(&t);
}

static void one_ring_uses_one_wire_out_of_each(void)
{
    /* 600 MB over the wire to the next: 6 ms. Over both nodes 2 * 7/8 * 400 = 700 MB, 7 ms, and the
     * last of a node sends it over its NIC with the others: it has no next wire. */
    bench t = {0};
    CHECK(lower(&t,
                OPS(C("four", "all_reduce", "tp", "") C("all", "all_reduce", "world", "")
                        C("three", "all_reduce", "three", ", ranks: [0, 1, 3, 4, 5, 7]")),
                "hardware.links.nvlink.rings=one"));
    CHECK_INT(work(&t, 0, "four"), 6 * OVL_MS);
    CHECK_INT(work(&t, 0, "all"), 7 * OVL_MS);
    for (uint32_t rank = 0; rank < 8; rank++) {
        for (uint32_t k = 1; k < 4; k++) {
            CHECK_INT(on_wire(&t, rank, "four", k), k == 1 ? 100 : 0);
            CHECK_INT(on_wire(&t, rank, "all", k), k == 1 && rank % 4 != 3 ? 100 : 0);
        }
    }
    CHECK_INT(on_wire(&t, 1, "three", 2), 99); /* 1 to 3 */
    CHECK_INT(on_wire(&t, 3, "three", 1), 99); /* 3 to 0 */
    finish(&t);
}

static void rings_that_go_on_elsewhere_leave_at_one(void)
{
    /* 700 MB through a node; each order of 4 has 3 wires inside, of 12: 700/4 = 175 MB over each,
     * 1.75 ms. Over 4 NICs 175 MB each at 50 GB/s: 3.5 ms. 2 on each node: 2 * 3/4 * 400 = 600 MB;
     * half of it over the one wire, 300 MB, 3 ms, and 300 MB over each NIC, 6 ms. */
    bench t = {0};
    CHECK(lower(&t, OPS(C("all", "all_reduce", "world", "") C("some", "all_reduce", "across", "")),
                NULL));
    CHECK_INT(work(&t, 0, "all"), 3500 * OVL_US);
    CHECK_INT(on_wire(&t, 6, "all", 2), 50);
    CHECK_INT(work(&t, 0, "some"), 6 * OVL_MS);
    CHECK_INT(on_wire(&t, 0, "some", 1), 50);
    CHECK_INT(on_wire(&t, 1, "some", 3), 50);
    CHECK_INT(on_wire(&t, 0, "some", 2), 0);
    finish(&t);
}

static void levels_have_a_ring_inside(void)
{
    /* Inside 3/4 * 400 = 300 MB over 3 wires, 1 ms; across 1/2 * 400 over 4 NICs, 1 ms. So wires
     * are full in the first phase, and then nothing is on them. */
    bench t = {0};
    CHECK(lower(&t, OPS(C("levels", "reduce_scatter", "world", "")), NULL));
    CHECK_INT(work(&t, 0, "levels"), 2 * OVL_MS);
    CHECK_INT(on_wire(&t, 0, "levels", 3), 100);
    const ovl_cost *across = ovl_next_phase(t.p, cost_named(&t, 0, "levels"));
    CHECK_INT(across ? across->work : 0, OVL_MS);
    CHECK_INT(across ? demand_on(&t, 0, across, false, "nvlink+3") : 1, 0);
    finish(&t);
}

static void an_all_to_all_uses_every_wire_at_once(void)
{
    /* 100 MB from each of 4 to each: 1 ms, as over a switch of 300 GB/s. Over both nodes 50 MB:
     * 0.5 ms inside, and 4 * 50 MB out over each NIC: 4 ms. */
    bench t = {0};
    CHECK(lower(&t, OPS(C("four", "all_to_all", "tp", "") C("all", "all_to_all", "world", "")),
                NULL));
    CHECK_INT(work(&t, 0, "four"), OVL_MS);
    CHECK_INT(work(&t, 0, "all"), 4 * OVL_MS);
    CHECK_INT(on_wire(&t, 3, "all", 1), 12);
    finish(&t);
}

static void uneven_bytes_go_to_whom_they_are_for(void)
{
    /* Rank 0 gets 2, 1 and 2 get 1, 3 nothing; all send alike: 100 MB a unit. 200 MB over each wire
     * to rank 0, 2 ms; over those to 3 nothing. */
    bench t = {0};
    CHECK(lower(&t, OPS(C("x", "all_to_all", "tp", ", receives: [2, 1, 1, 0]")), NULL));
    CHECK_INT(work(&t, 0, "x"), 2 * OVL_MS);
    CHECK_INT(on_wire(&t, 1, "x", 3), 100); /* to 0 */
    CHECK_INT(on_wire(&t, 1, "x", 1), 50);  /* to 2 */
    CHECK_INT(on_wire(&t, 1, "x", 2), 0);   /* to 3 */
    CHECK_INT(on_wire(&t, 7, "x", 1), 100); /* to 4 */
    finish(&t);
}

static void pairs_with_bytes_of_their_own_have_their_wires(void)
{
    /* Rank 0 has 200 MB for 1 and 100 MB for 3, 2 has 300 MB for 0: 3 ms, over that wire alone. */
    bench t = {0};
    CHECK(lower(&t,
                OPS("    - {collective: x, op: all_to_all, group: tp, sends: [[0, 200 MB, 0, "
                    "100 MB], [0, 0, 0, 0], [300 MB, 0, 0, 0], [0, 0, 0, 0]]}\n"),
                NULL));
    CHECK_INT(work(&t, 0, "x"), 3 * OVL_MS);
    CHECK_INT(on_wire(&t, 0, "x", 1), 66);
    CHECK_INT(on_wire(&t, 0, "x", 2), 0);
    CHECK_INT(on_wire(&t, 0, "x", 3), 33);
    CHECK_INT(on_wire(&t, 2, "x", 2), 100);
    finish(&t);
}

static void a_pair_never_gets_more_than_its_wire(void)
{
    /* 0 sends 100 MB to 1 and to 3 at once: 1 ms each, as the wires differ. Two to 1: 2 ms. */
    const char *two = OPS("    - {send: a, to: 1, group: tp, bytes: 100 MB, ranks: [0, 4]}\n"
                          "    - {recv: ra, from: 0, group: tp, bytes: 100 MB, ranks: [1, 5]}\n"
                          "    - {send: b, to: $to, group: world, bytes: 100 MB, ranks: 0, "
                          "stream: x}\n"
                          "    - {recv: rb, from: 0, group: world, bytes: 100 MB, ranks: $to, "
                          "stream: x}\n") "params: {to: 3}\n";
    bench t = {0};
    CHECK(lower(&t, two, NULL));
    CHECK_INT(work(&t, 0, "a"), OVL_MS);
    CHECK_INT(on_wire(&t, 0, "a", 1), 100);
    CHECK_INT(on_wire(&t, 0, "b", 3), 100);
    CHECK_INT(kind_named(&t, 0, "a")->n_peer,
              0); /* what goes out at one end comes in at the other */
    CHECK(analyse_both(&t));
    CHECK_INT(t.result.step, 1001 * OVL_US);
    CHECK_INT(t.whole.step, 1001 * OVL_US);
    CHECK(lower(&t, two, "params.to=1"));
    CHECK(analyse_both(&t));
    CHECK_INT(t.result.step, 2001 * OVL_US);
    CHECK_INT(t.whole.step, 2001 * OVL_US);
    finish(&t);
}

static double carried(const ovl_result *r, const char *start)
{
    double sum = 0;
    for (uint32_t i = 0; i < r->n_resources; i++) {
        bool is = strncmp(r->resources[i].name, start, strlen(start)) == 0;
        sum += is ? (double)r->resources[i].total : 0;
    }
    return sum;
}

static void check_carried(const char *text, const char *set, double wires)
{
    bench t = {0};
    CHECK(lower(&t, text, set));
    CHECK(analyse_both(&t));
    CHECK_NEAR(carried(&t.result, "nvlink+"), wires, 100);
    CHECK_NEAR(carried(&t.whole, "nvlink+"), wires, 100);
    CHECK_NEAR(carried(&t.whole, "nic.out"), carried(&t.whole, "nic.in"), 100);
    CHECK_INT(t.result.step, t.whole.step);
    finish(&t);
}

static void the_wires_carry_what_the_formula_sends(void)
{
    const char *one = "hardware.links.nvlink.rings=one";
    /* n members send 2 (n-1) s in all; of rings over 2 nodes 2 of 8 hops, 2 of 4, leave a node, of
     * 3 + 1 members, on their own, 2 of 4, too. All-to-all: a pair 1/n s. */
    check_carried(OPS(C("c", "all_reduce", "tp", "")), NULL, 2 * 6 * 400e6);
    check_carried(OPS(C("c", "all_reduce", "tp", "")), one, 2 * 6 * 400e6);
    check_carried(OPS(C("c", "all_reduce", "pairs", "")), NULL, 4 * 2 * 400e6);
    check_carried(OPS(C("c", "all_reduce", "world", "")), NULL, 14 * 400e6 * 6 / 8);
    check_carried(OPS(C("c", "all_reduce", "world", "")), one, 14 * 400e6 * 6 / 8);
    check_carried(OPS(C("c", "all_reduce", "across", "")), NULL, 2 * 6 * 400e6 * 2 / 4);
    check_carried(OPS(C("c", "all_reduce", "most", ", ranks: [0, 1, 2, 4]")), NULL,
                  6 * 400e6 * 2 / 4);
    check_carried(OPS(C("c", "all_reduce", "most", ", ranks: [0, 1, 2, 4]")), one,
                  6 * 400e6 * 2 / 4);
    check_carried(OPS(C("c", "all_to_all", "world", "")), NULL, 2 * 12 * 50e6);
    check_carried(OPS(C("c", "all_to_all", "tp", ", sends: [2, 1, 1, 0]")), NULL, 2 * 12 * 100e6);
    check_carried(OPS(C("c", "reduce_scatter", "world", "")), NULL, 8 * 300e6);
}

static void steps_carry_as_much(void)
{
    check_carried(OPS(C("c", "all_reduce", "tp", "")), "expand=8", 2 * 6 * 400e6);
    check_carried(OPS(C("c", "all_reduce", "world", "")), "expand=8", 14 * 400e6 * 6 / 8);
}

static void a_fault_is_of_all_wires_out_of_a_gpu(void)
{
    /* 150 of 300 GB/s left to rank 1: its wires have 50, and the ring takes 4 ms for 2. */
    bench t = {0};
    CHECK(lower(&t, OPS(C("c", "all_reduce", "tp", "")),
                "hardware.faults=[{link: nvlink, ranks: 1, bandwidth: 150 GB/s}]"));
    CHECK(analyse_both(&t));
    CHECK_INT(t.result.step, 4006 * OVL_US);
    CHECK_INT(t.whole.step, 4006 * OVL_US);
    finish(&t);
}

static void a_mesh_may_be_of_a_part_of_a_node(void)
{
    /* Boards of 2 with 300 GB/s between their GPUs; 0 and 2 are on different ones. */
    bench t = {0};
    CHECK(lower(&t, OPS(C("c", "all_reduce", "across", "") C("p", "all_reduce", "pairs", "")),
                "hardware.links.nvlink.gpus=2"));
    CHECK_INT(on_wire(&t, 0, "c", 1), 50);
    CHECK_INT(work(&t, 0, "p"), 0); /* it crosses none of its links, which is said */
    CHECK(said(&t, "crosses none of the links"));
    CHECK(t.errs.count == 1 && t.errs.items[0].warning);
    CHECK_HAS(t.errs.items[0].text, "\"p\" takes no time");
    finish(&t);
}

static void nodes_may_have_other_wires(void)
{
    bench t = {0};
    CHECK(lower(
        &t, OPS(C("c", "all_reduce", "tp", "") C("x", "all_to_all", "tp", ", sends: [1, 1, 1, 1]")),
        "hardware.nodes={old: {at: 1, links: {nvlink: {bandwidth: 150 GB/s}}}}"));
    CHECK_INT(work(&t, 0, "c"), 2 * OVL_MS);
    CHECK_INT(work(&t, 4, "c"), 4 * OVL_MS);
    CHECK_INT(work(&t, 3, "x"), OVL_MS);
    CHECK_INT(work(&t, 7, "x"), 2 * OVL_MS);
    finish(&t);
}

static void check_mistake(const char *text, const char *set, const char *what)
{
    bench t = {0};
    CHECK(!lower(&t, text, set));
    CHECK_TEXT(mistake(&t), what);
    finish(&t);
}

static void impossible_meshes_are_told(void)
{
    const char *text = OPS("    - {kernel: k, duration: 1 ms}\n");
    check_mistake(text, "hardware.links.nvlink.gpus=8",
                  "4:13: mesh \"nvlink\": it lies inside a node: its gpus must divide node.gpus");
    check_mistake(text, "hardware.links.nvlink.gpus=1",
                  "4:13: mesh \"nvlink\": one GPU is connected with nobody");
    check_mistake(
        text, "hardware.node=null",
        "4:13: mesh \"nvlink\": how many GPUs it has is not said: give gpus, or node.gpus");
    check_mistake(text, "hardware.links.nvlink.scope=node",
                  "4:13: a mesh has wires from GPU to GPU: no scope but gpu, and no out_of");
    check_mistake(text, "hardware.links.nic.rings=one", "5:10: rings belongs to topology: mesh");
}

static void what_is_not_known_of_wires_is_told(void)
{
    check_mistake(OPS(C("c", "all_reduce", "tp", "")), "hardware.collectives[0].algorithm=tree",
                  "17:7: the tree formula of all_reduce is not known for a mesh of wires (nvlink): "
                  "ring, hierarchical and direct are");
    check_mistake(OPS(C("c", "all_reduce", "tp", "")), "hardware.collectives[0].algorithm=nvls",
                  "17:7: the nvls formula of all_reduce is not known for a mesh of wires (nvlink): "
                  "ring, hierarchical and direct are");
    check_mistake(OPS(C("c", "broadcast", "tp", ", duration: 1 ms, via: nvlink")), NULL,
                  "17:7: \"c\": how a broadcast crosses a mesh of wires is not modelled; leave the "
                  "mesh out of its `via`");
    check_mistake(OPS("    - {copy: c, direction: d2h, bytes: 1 MB, via: nvlink}\n"), NULL,
                  "17:7: \"c\" is a copy between GPU and host and crosses no mesh of GPUs");
}

static CU_TestInfo tests[] = {
    {"rings along all orders use all wires", rings_along_all_orders_use_all_wires},
    {"one ring uses one wire out of each", one_ring_uses_one_wire_out_of_each},
    {"rings that go on elsewhere leave at one", rings_that_go_on_elsewhere_leave_at_one},
    {"levels have a ring inside", levels_have_a_ring_inside},
    {"an all-to-all uses every wire at once", an_all_to_all_uses_every_wire_at_once},
    {"uneven bytes go to whom they are for", uneven_bytes_go_to_whom_they_are_for},
    {"pairs with bytes of their own have their wires",
     pairs_with_bytes_of_their_own_have_their_wires},
    {"a pair never gets more than its wire", a_pair_never_gets_more_than_its_wire},
    {"the wires carry what the formula sends", the_wires_carry_what_the_formula_sends},
    {"steps carry as much", steps_carry_as_much},
    {"a fault is of all wires out of a GPU", a_fault_is_of_all_wires_out_of_a_gpu},
    {"a mesh may be of a part of a node", a_mesh_may_be_of_a_part_of_a_node},
    {"nodes may have other wires", nodes_may_have_other_wires},
    {"impossible meshes are told", impossible_meshes_are_told},
    {"what is not known of wires is told", what_is_not_known_of_wires_is_told},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("meshes of wires", tests);
}
