/*
 * Nodes unlike others (hardware.nodes): costs, links and memory of each rank go by its own node.
 * Two nodes of 2 GPUs; node 1, ranks 2 and 3, is old: 400 of 1000 TFLOP/s, 1 of 2 TB/s, a NIC of 10
 * of 40 GB/s.
 */
#include "tests/support/lowering.h"

#define GPU                                                                                        \
    "  gpu: {hbm: 2 TB/s, memory: 80 GB, sms: 100, peak: {bf16: 1000 TFLOP/s},\n"                  \
    "        allocator: {rounding: none}, copy_engines: {d2h: 2}}\n"                               \
    "  node: {gpus: 2}\n"
#define LINKS                                                                                      \
    "  links:\n"                                                                                   \
    "    own: {bandwidth: 100 GB/s, latency: 1 us}\n"                                              \
    "    nic: {bandwidth: 40 GB/s, latency: 5 us, out_of: node}\n"
#define OLD                                                                                        \
    "  nodes:\n"                                                                                   \
    "    old: {at: 1, links: {nic: {bandwidth: 10 GB/s, latency: 7 us}}, gpu: {name: old,\n"       \
    "          hbm: 1 TB/s, memory: 40 GB, sms: 80, peak: {bf16: 400 TFLOP/s},\n"                  \
    "          copy_engines: {d2h: 1}}}\n"
#define COSTS                                                                                      \
    "  collectives:\n"                                                                             \
    "    - {op: all_reduce, via: [own, nic], algorithm: ring}\n"                                   \
    "    - {op: all_gather, via: [own, nic], algorithm: hierarchical}\n"                           \
    "    - {op: all_to_all, via: [nic], algorithm: direct}\n"                                      \
    "    - {op: send_recv, via: [nic], algorithm: direct}\n"
#define MACHINE "hardware:\n" GPU LINKS OLD COSTS
#define MESH    "mesh: {axes: {tp: 2, dp: 2}}\n"

static ovl_time work(bench *t, uint32_t rank, const char *name)
{
    return ovl_cost_work(t->p, cost_named(t, rank, name));
}

static void kernels_go_by_the_gpu_of_their_rank(void)
{
    /* 2 TFLOP: 2 ms of 1000 TFLOP/s, 5 ms of 400. 1 GB: 0.5 ms of 2 TB/s, 1 ms of 1. Both: the
     * longer, 2 TFLOP again. */
    bench t = {0};
    CHECK(lower(&t,
                MACHINE MESH "workload:\n  dtype: bf16\n  ops:\n"
                             "    - {kernel: flops, flops: 2 TFLOP}\n"
                             "    - {kernel: bytes, hbm: 1 GB}\n"
                             "    - {kernel: both, flops: 2 TFLOP, hbm: 1 GB}\n",
                NULL));
    CHECK_INT(work(&t, 0, "flops"), 2 * OVL_MS);
    CHECK_INT(work(&t, 3, "flops"), 5 * OVL_MS);
    CHECK_INT(work(&t, 1, "bytes"), 500 * OVL_US);
    CHECK_INT(work(&t, 2, "bytes"), OVL_MS);
    CHECK_INT(work(&t, 0, "both"), 2 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "both")->compute, 2 * OVL_MS);
    CHECK_INT(work(&t, 2, "both"), 5 * OVL_MS);
    CHECK_INT(demand_on(&t, 0, cost_named(&t, 0, "both"), false, "hbm"), 500000000000);
    CHECK_INT(demand_on(&t, 2, cost_named(&t, 2, "both"), false, "hbm"), 200000000000);
    CHECK_INT(kind_named(&t, 0, "flops")->sms, 100);
    CHECK_INT(kind_named(&t, 2, "flops")->sms, 80);
    CHECK_INT(code_of(&t, 0) == code_of(&t, 3), true);
    finish(&t);
}

static void two_kernels_alike_on_one_gpu_may_differ_on_another(void)
{
    /* 2 TFLOP and 4 GB both take 2 ms of the new GPU; of the old one 5 and 4. */
    bench t = {0};
    CHECK(lower(&t,
                MACHINE MESH "workload:\n  dtype: bf16\n  ops:\n"
                             "    - {kernel: a, flops: 2 TFLOP}\n"
                             "    - {kernel: b, duration: 2 ms}\n"
                             "    - {kernel: c, flops: 2 TFLOP}\n",
                NULL));
    CHECK_INT(work(&t, 0, "a"), work(&t, 0, "b"));
    CHECK_INT(work(&t, 2, "a"), 5 * OVL_MS);
    CHECK_INT(work(&t, 2, "b"), 2 * OVL_MS);
    CHECK_INT(op_named(&t, 2, "a")->cost, op_named(&t, 2, "c")->cost);
    finish(&t);
}

static void stated_durations_hold_unless_a_speed_is_given(void)
{
    /* 4 ms hold; at a quarter of the speed they are 16, and 3 ms of them for compute 12. One that
     * is stated rank by rank is that of the rank. A slow GPU on top: 16 * 1.5. */
    const char *text = MACHINE MESH "workload:\n  ops:\n"
                                    "    - {kernel: one, duration: 4 ms, compute: 3 ms}\n"
                                    "    - {kernel: each, duration: [1 ms, 2 ms, 3 ms, 4 ms]}\n";
    bench t = {0};
    CHECK(lower(&t, text, NULL));
    CHECK_INT(work(&t, 0, "one"), 4 * OVL_MS);
    CHECK_INT(work(&t, 2, "one"), 4 * OVL_MS);
    CHECK(lower(&t, text, "hardware.nodes.old.gpu.speed=1/4"));
    CHECK_INT(work(&t, 0, "one"), 4 * OVL_MS);
    CHECK_INT(work(&t, 2, "one"), 16 * OVL_MS);
    CHECK_INT(cost_named(&t, 2, "one")->compute, 12 * OVL_MS);
    CHECK_INT(work(&t, 3, "each"), 4 * OVL_MS);
    finish(&t);
    CHECK(lower(&t,
                MACHINE "  faults: [{ranks: 3, slowdown: 1.5}]\n" MESH
                        "workload: {ops: [{kernel: one, duration: 4 ms}]}\n",
                "hardware.nodes.old.gpu.speed=1/4"));
    CHECK_INT(work(&t, 1, "one"), 4 * OVL_MS);
    CHECK_INT(work(&t, 2, "one"), 16 * OVL_MS);
    CHECK_INT(work(&t, 3, "one"), 24 * OVL_MS);
    finish(&t);
}

static void a_collective_goes_by_the_slowest_link_of_its_members(void)
{
    /* Ring of 2 across: 2 * 1/2 * 100 MB = 100 MB over each NIC: 10 ms at 10 GB/s, 2 steps of 7 us.
     * Ring of all 4: 150 MB out of each node, 75 MB over each of its NICs: 7.5 ms. The new NIC
     * carries as much in that time. All-gather in levels: in the node 1/2 * 100 MB at 100 GB/s, 0.5
     * ms and a step of 1 us; across 1/2 * 100 MB out of a node, 25 MB a NIC at 10 GB/s, 2.5 ms and
     * 7 us. */
    bench t = {0};
    CHECK(lower(&t,
                MACHINE MESH
                "workload:\n  ops:\n"
                "    - {collective: pair, op: all_reduce, group: dp, bytes: 100 MB}\n"
                "    - {collective: all, op: all_reduce, group: world, bytes: 100 MB}\n"
                "    - {collective: levels, op: all_gather, group: world, bytes: 100 MB}\n"
                "    - {collective: inside, op: all_reduce, group: tp, bytes: 100 MB}\n",
                NULL));
    CHECK_INT(work(&t, 0, "pair"), 10 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "pair")->latency, 14 * OVL_US);
    CHECK_INT(work(&t, 2, "pair"), 10 * OVL_MS);
    for (uint32_t rank = 0; rank < 4; rank++) {
        const ovl_cost *all = cost_named(&t, rank, "all");
        CHECK_INT(all->work, 7500 * OVL_US);
        CHECK_INT(demand_on(&t, rank, all, false, "nic.out"), 10000000000);
        CHECK_INT(demand_on(&t, rank, all, false, "own.in"), 20000000000);
        CHECK_INT(work(&t, rank, "levels"), 3 * OVL_MS);
        CHECK_INT(ovl_cost_latency(t.p, cost_named(&t, rank, "levels")), 8 * OVL_US);
        CHECK_INT(work(&t, rank, "inside"), OVL_MS);
    }
    finish(&t);
}

static void resources_have_what_their_node_has(void)
{
    bench t = {0};
    CHECK(lower(&t, MACHINE MESH "workload: {ops: [{kernel: k, duration: 1 ms}]}\n", NULL));
    for (uint32_t rank = 0; rank < 4; rank++) {
        const ovl_id *port = t.p->rank_ports + t.p->ranks[rank].first_port;
        bool old = rank >= 2;
        CHECK_INT(t.p->resources[port[OVL_PORT_HBM]].capacity, old ? 1000000000000 : 2000000000000);
        CHECK_INT(t.p->resources[port[1]].capacity, 100000000000);
        CHECK_INT(t.p->resources[port[3]].capacity, old ? 10000000000 : 40000000000);
        CHECK_INT(t.p->resources[port[4]].capacity, old ? 10000000000 : 40000000000);
        CHECK_INT(ovl_gpu_of(t.p, rank).sms, old ? 80 : 100);
        CHECK_INT(ovl_gpu_of(t.p, rank).memory, old ? 40000000000 : 80000000000);
        CHECK_INT(ovl_gpu_of(t.p, rank).copy_engines[0], old ? 1 : 2);
    }
    finish(&t);
}

static void an_uneven_all_to_all_waits_for_the_slow_nic(void)
{
    /* Rank 0 sends all of 200 MB, rank 2 nothing: 50 MB to each member a unit, so 100 MB leave node
     * 0 over its NIC and come in at node 1 at 10 GB/s: 10 ms. */
    bench t = {0};
    CHECK(lower(&t,
                MACHINE MESH "workload:\n  ops:\n"
                             "    - {collective: x, op: all_to_all, group: dp, bytes: 100 MB, "
                             "sends: [2, 0]}\n",
                NULL));
    CHECK_INT(work(&t, 0, "x"), 10 * OVL_MS);
    CHECK_INT(demand_on(&t, 0, cost_named(&t, 0, "x"), false, "nic.out"), 10000000000);
    CHECK_INT(demand_on(&t, 2, cost_named(&t, 2, "x"), false, "nic.in"), 10000000000);
    CHECK_INT(demand_on(&t, 2, cost_named(&t, 2, "x"), false, "nic.out"), 0);
    finish(&t);
}

static void a_send_goes_by_the_slower_side(void)
{
    /* 100 MB: from 0 to 2 10 ms, either way round. A stated time of 5 ms would be 20 GB/s: it is
     * counted as all that the slower NIC has. */
    bench t = {0};
    CHECK(lower(&t,
                MACHINE MESH "workload:\n  ops:\n"
                             "    - {send: a, to: 2, group: world, bytes: 100 MB, ranks: 0}\n"
                             "    - {recv: ra, from: 0, group: world, bytes: 100 MB, ranks: 2}\n"
                             "    - {send: b, to: 1, group: world, bytes: 100 MB, ranks: 3}\n"
                             "    - {recv: rb, from: 3, group: world, bytes: 100 MB, ranks: 1}\n"
                             "    - {send: c, to: 3, group: world, bytes: 100 MB, ranks: 1, "
                             "duration: 5 ms, via: nic}\n"
                             "    - {recv: rc, from: 1, group: world, bytes: 100 MB, ranks: 3}\n",
                NULL));
    CHECK_INT(work(&t, 0, "a"), 10 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "a")->latency, 7 * OVL_US);
    CHECK_INT(work(&t, 3, "b"), 10 * OVL_MS);
    CHECK_INT(work(&t, 1, "c"), 5 * OVL_MS);
    CHECK_INT(demand_on(&t, 1, cost_named(&t, 1, "c"), false, "nic.out"), 10000000000);
    CHECK_INT(demand_on(&t, 3, cost_named(&t, 1, "c"), true, "nic.in"), 10000000000);
    CHECK(analyse_both(&t));
    CHECK_INT(t.result.step, t.whole.step);
    finish(&t);
}

static void a_stated_cost_loads_each_nic_as_far_as_it_can(void)
{
    /* 100 MB in a stated 5 ms: 20 GB/s of the new NIC, all 10 of the old. */
    bench t = {0};
    CHECK(lower(&t,
                MACHINE MESH "workload:\n  ops:\n"
                             "    - {collective: c, op: all_reduce, group: dp, bytes: 100 MB, "
                             "duration: 5 ms, via: nic}\n",
                NULL));
    CHECK_INT(demand_on(&t, 0, cost_named(&t, 0, "c"), false, "nic.out"), 20000000000);
    CHECK_INT(demand_on(&t, 2, cost_named(&t, 2, "c"), false, "nic.out"), 10000000000);
    CHECK(kind_named(&t, 0, "c")->by_member);
    CHECK(analyse_both(&t));
    CHECK_INT(t.result.step, 5 * OVL_MS);
    CHECK_INT(t.whole.step, 5 * OVL_MS);
    finish(&t);
}

static void entries_may_be_for_communicators_on_some_nodes(void)
{
    const char *text = "hardware:\n" GPU LINKS OLD "  collectives:\n"
                       "    - {op: all_reduce, beta: 100 GB/s}\n"
                       "    - {op: all_reduce, on: old, beta: 10 GB/s}\n"
                       "    - {op: all_reduce, group: tp, beta: 50 GB/s}\n" MESH
                       "workload:\n  groups: {new: [[0, 1]], old: [[2, 3]]}\n  ops:\n"
                       "    - {collective: a, op: all_reduce, group: dp, bytes: 100 MB}\n"
                       "    - {collective: b, op: all_reduce, group: tp, bytes: 100 MB}\n"
                       "    - {collective: n, op: all_reduce, group: new, bytes: 100 MB, "
                       "ranks: [0, 1]}\n"
                       "    - {collective: o, op: all_reduce, group: old, bytes: 100 MB, "
                       "ranks: [2, 3]}\n";
    bench t = {0};
    CHECK(lower(&t, text, NULL));
    CHECK_INT(work(&t, 0, "a"), 10 * OVL_MS); /* has a member on an old node */
    CHECK_INT(work(&t, 2, "b"), 2 * OVL_MS);  /* the group is named */
    CHECK_INT(work(&t, 0, "n"), OVL_MS);
    CHECK_INT(work(&t, 2, "o"), 10 * OVL_MS);
    finish(&t);
}

static void channels_of_nccl_may_be_those_of_some_nodes(void)
{
    /* Two ranks on two nodes, a ring in Simple: 2 * 1/2 of the bytes over channels x ring. */
    const char *text = "hardware:\n" GPU LINKS OLD
                       "  nccl: {gpu: hopper, algorithms: Ring, protocols: Simple, graphs: [\n"
                       "    {gpus: 1, channels: 4, ring: 10 GB/s},\n"
                       "    {gpus: 1, on: old, channels: 2, ring: 5 GB/s, gpu: ampere}]}\n"
                       "  collectives: [{op: all_reduce, algorithm: nccl}]\n"
                       "mesh: {axes: {tp: 2, dp: 3}}\n"
                       "workload:\n  groups: {new: [[0, 4]]}\n  ops:\n"
                       "    - {collective: a, op: all_reduce, group: dp, bytes: 1 GB}\n"
                       "    - {collective: n, op: all_reduce, group: new, bytes: 1 GB, "
                       "ranks: [0, 4]}\n";
    bench t = {0};
    CHECK(lower(&t, text, NULL));
    CHECK_NEAR((double)work(&t, 0, "n"), 1e9 / 40e9 * 1e12, 1e6); /* 4 channels of 10 GB/s */
    CHECK_NEAR((double)work(&t, 0, "a"), 1e9 * 4 / 3 / 10e9 * 1e12, 1e6); /* 2 of 5 */
    CHECK_INT(kind_named(&t, 0, "a")->sms, 2);
    finish(&t);
}

static void copies_go_by_the_link_and_the_engines_of_their_node(void)
{
    /* 100 MB to the host over a NIC: 2.5 and 10 ms. Two at a time on a new GPU, one on an old. */
    bench t = {0};
    CHECK(lower(&t,
                MACHINE MESH "workload:\n  ops:\n"
                             "    - {copy: a, direction: d2h, bytes: 100 MB, via: nic, stream: x}\n"
                             "    - {copy: b, direction: d2h, duration: 1 ms, stream: y}\n",
                NULL));
    CHECK_INT(work(&t, 1, "a"), 2500 * OVL_US);
    CHECK_INT(work(&t, 2, "a"), 10 * OVL_MS);
    CHECK_INT(work(&t, 2, "b"), OVL_MS);
    CHECK(analyse_both(&t));
    CHECK_INT(t.whole.ranks[0].end, 2505 * OVL_US);
    CHECK_INT(t.result.step, 11007 * OVL_US); /* b after a */
    CHECK_INT(t.whole.step, t.result.step);
    finish(&t);
}

static void held_sms_are_those_of_the_own_gpu(void)
{
    /* A collective of 10 ms holds 20 SMs: of 100 a kernel has 4/5, of 80 it has 3/4. 4 ms and 3 ms
     * (stated on each, as bound by SMs) take 5 and 4. */
    bench t = {0};
    CHECK(lower(&t,
                MACHINE MESH "workload:\n  ops:\n"
                             "    - {kernel: k, duration: [4 ms, 4 ms, 3 ms, 3 ms]}\n"
                             "    - {collective: c, op: all_reduce, group: dp, bytes: 1 B, "
                             "duration: 10 ms, sms: 20}\n",
                NULL));
    CHECK(analyse_both(&t));
    for (uint32_t i = 0; i < t.whole.n_ranks; i++) {
        const ovl_result_rank *r = &t.whole.ranks[i];
        bool old = r->rank >= 2;
        CHECK_INT(r->term[OVL_COMPUTE], (old ? 3 : 4) * OVL_MS);
        CHECK_INT(r->term[OVL_COMPUTE_STRETCH], OVL_MS);
    }
    CHECK_INT(t.result.n_ranks, t.whole.n_ranks);
    finish(&t);
}

static void whether_a_rank_fits_is_asked_of_its_own_gpu(void)
{
    /* Rank 0 has 60 of 80 GB, rank 2 50 of 40: 10 GB too much there, though rank 0 has more. */
    const char *text =
        MACHINE MESH "workload:\n  buffers: {big: {bytes: 60 GB, category: parameter},\n"
                     "            small: {bytes: 50 GB, category: parameter}}\n  ops:\n"
                     "    - {kernel: a, duration: 1 ms, reads: big, ranks: [0, 1]}\n"
                     "    - {kernel: b, duration: 1 ms, reads: small, ranks: [2, 3]}\n";
    bench t = {0};
    CHECK(lower(&t, text, NULL));
    CHECK(analyse_both(&t));
    CHECK_INT(t.result.fullest_rank, 2);
    CHECK_INT(t.result.memory_limit, 40000000000);
    CHECK_INT(t.result.reserved_peak, 50000000000);
    CHECK_INT(ovl_result_over_memory(&t.result), 10000000000);
    CHECK_INT(t.whole.fullest_rank, 2);
    CHECK(lower(&t, text, "hardware.nodes.old.gpu.memory=55GB"));
    CHECK(analyse(&t));
    CHECK_INT(t.result.fullest_rank, 2); /* 5 GB to spare, the others have 20 */
    CHECK_INT(ovl_result_over_memory(&t.result), 0);
    finish(&t);
}

static void stages_of_a_pipeline_take_what_their_gpu_takes(void)
{
    /* A layer of 1 TFLOP forward, 2 backward, and one of 1 and 2 ms stated. The first stage is on
     * node 0: 1 + 1 and 2 + 2 ms; the second on node 1, which has half the speed for what is
     * stated: 2.5 + 2 and 5 + 4 ms. Computed again, the backward has the forward in it, too. */
    const char *text =
        MACHINE "mesh: {axes: {dp: 2, pp: 2}}\n"
                "workload:\n  dtype: bf16\n  layers:\n"
                "    - {name: f, forward_flops: 1 TFLOP, backward_flops: 2 TFLOP, transfer: 1 MB}\n"
                "    - {name: s, forward: 1 ms, backward: 2 ms, transfer: 1 MB}\n"
                "    - {name: g, forward_flops: 1 TFLOP, backward_flops: 2 TFLOP, transfer: 1 MB}\n"
                "    - {name: r, forward: 1 ms, backward: 2 ms, transfer: 1 MB}\n"
                "overlap: {pipeline: {schedule: 1f1b, microbatches: 2}}\n";
    bench t = {0};
    CHECK(lower(&t, text, "hardware.nodes.old.gpu.speed=1/2"));
    CHECK_INT(work(&t, 0, "0F0"), 2 * OVL_MS);
    CHECK_INT(work(&t, 1, "0B0"), 4 * OVL_MS);
    CHECK_INT(work(&t, 2, "1F0"), 4500 * OVL_US);
    CHECK_INT(work(&t, 3, "1B1"), 9 * OVL_MS);
    CHECK(analyse_both(&t));
    CHECK_INT(t.result.step, t.whole.step);
    finish(&t);
}

static void stated_stages_follow_the_speed(void)
{
    const char *text =
        MACHINE "mesh: {axes: {dp: 2, pp: 2}}\n"
                "workload:\n  stages: [{name: s, repeat: 2, forward: 1 ms, backward: 3 ms, "
                "backward_weight: 1 ms, transfer: 1 MB}]\n"
                "overlap: {pipeline: {schedule: zb_h1, microbatches: 2, recompute: true}}\n";
    bench t = {0};
    CHECK(lower(&t, text, "hardware.nodes.old.gpu.speed=1/2"));
    CHECK_INT(work(&t, 0, "0I0"), 3 * OVL_MS); /* 3 - 1 and the forward again */
    CHECK_INT(work(&t, 2, "1I0"), 6 * OVL_MS);
    CHECK_INT(work(&t, 2, "1W0"), 2 * OVL_MS);
    finish(&t);
}

#define LAYERS(schedule)                                                                           \
    MACHINE "mesh: {axes: {dp: 2, pp: 2}}\n"                                                       \
            "workload: {dtype: bf16, layers: [{name: f, repeat: 7, forward_flops: 1 TFLOP, "       \
            "backward_flops: 2 TFLOP, transfer: 1 MB}]}\n"                                         \
            "overlap: {pipeline: {schedule: " schedule ", microbatches: 2, split: time}}\n"

static void layers_are_shared_out_by_the_gpus_of_stages(void)
{
    /* A layer takes 1 + 2 ms on node 0, 2.5 + 5 on node 1. Of seven, five of 3 ms and two of 7.5
     * are 15 both; of fourteen in four stages, two of them on each node, two pairs of such. */
    bench t = {0};
    CHECK(lower(&t, LAYERS("1f1b"), NULL));
    CHECK_INT(work(&t, 0, "0F0"), 5 * OVL_MS);
    CHECK_INT(work(&t, 2, "1F0"), 5 * OVL_MS);
    finish(&t);
    CHECK(lower(&t, LAYERS("interleaved, virtual_stages: 2"), "workload.layers.f.repeat=14"));
    CHECK_INT(work(&t, 0, "2F0"), 5 * OVL_MS);
    CHECK_INT(work(&t, 2, "3F0"), 5 * OVL_MS);
    finish(&t);
}

/* The order of a rank where the second of two stages is on a GPU of half the speed, or takes as
 * long as is said. */
static const char *searched(const char *second, const char *set, uint32_t rank, ovl_arena *arena)
{
    bench t = {0};
    const char *text = ovl_arena_printf(
        arena,
        MACHINE "mesh: {axes: {dp: 2, pp: 2}}\n"
                "workload: {stages: [{name: a, forward: 2 ms, backward_input: 3 ms, "
                "backward_weight: 1 ms, transfer: 1 MB}, {name: b, %s, transfer: 1 MB}]}\n"
                "overlap: {pipeline: {schedule: zb_2p, microbatches: 6}}\n",
        second);
    CHECK(lower(&t, text, set));
    const char *order = ovl_arena_strdup(arena, sequence(&t, rank));
    finish(&t);
    return order;
}

static void a_search_goes_by_the_gpus_of_stages(void)
{
    const char *one = "forward: 2 ms, backward_input: 3 ms, backward_weight: 1 ms";
    const char *two = "forward: 4 ms, backward_input: 6 ms, backward_weight: 2 ms";
    ovl_arena arena = {0};
    for (uint32_t rank = 0; rank < 4; rank += 2) {
        const char *slow = searched(one, "hardware.nodes.old.gpu.speed=1/2", rank, &arena);
        CHECK_TEXT(slow, searched(two, NULL, rank, &arena));
        CHECK(rank == 2 || strcmp(slow, searched(one, NULL, rank, &arena)) != 0);
    }
    ovl_arena_free(&arena);
}

static void the_optimizer_goes_by_its_memory(void)
{
    /* Adam on 1e6 bf16 parameters of one layer: 2 + 16 + 4 bytes each (no master weights:
     * parameters are read and written), 22 MB at 65 % of 2 and of 1 TB/s. Whatever it moves, twice
     * as long. */
    bench t = {0};
    CHECK(lower(&t,
                MACHINE "mesh: {axes: {dp: 4}}\nworkload:\n"
                        "  model: {layers: 1, hidden: 256, heads: 4, ffn_hidden: 512, "
                        "sequence: 128, vocabulary: 1024}\n"
                        "  optimizer: {moments: 2, dtype: f32}\n"
                        "overlap: {ddp: {group: dp}}\n",
                NULL));
    ovl_time new = work(&t, 0, "optimizer"), old = work(&t, 2, "optimizer");
    CHECK(new > 0);
    CHECK(old == 2 * new || old == 2 * new - 1);
    CHECK_INT(t.lowered.useful.peak / 1e12, 700);
    CHECK(t.lowered.useful.mixed);
    finish(&t);
}

static void who_is_slow_is_named(void)
{
    bench t = {0};
    CHECK(lower(&t,
                MACHINE MESH "workload:\n  dtype: bf16\n  ops:\n"
                             "    - {kernel: work, flops: 2 TFLOP}\n"
                             "    - {collective: c, op: all_reduce, group: dp, bytes: 1 MB, "
                             "after: work}\n"
                             "    - {kernel: update, duration: 0 ms, after: c}\n",
                NULL));
    CHECK(analyse_both(&t));
    CHECK_INT(t.result.n_folded, 2);
    CHECK_INT(t.result.term[OVL_WAIT_LATE_RANK], 3 * OVL_MS); /* 5 - 2 ms */
    CHECK_INT(t.result.without_interference, t.result.step);
    CHECK_INT(t.whole.step, t.result.step);
    finish(&t);
}

static void check_mistake(const char *nodes, const char *what)
{
    bench t = {0};
    ovl_arena arena = {0};
    const char *text = ovl_arena_printf(&arena, "hardware:\n%s%s  nodes:\n%s%s", GPU, LINKS, nodes,
                                        MESH "workload: {dtype: bf16, ops: [{kernel: k, flops: 1 "
                                             "TFLOP}]}\n");
    CHECK(!lower(&t, text, NULL));
    CHECK_TEXT(mistake(&t), what);
    finish(&t);
    ovl_arena_free(&arena);
}

static void mistakes_are_told(void)
{
    check_mistake("    old: {at: 2}\n", "9:15: there is no node 2; the last is 1");
    check_mistake("    old: {at: x}\n",
                  "9:15: \"x\" is no node and no range of nodes such as 2-5; the last node is 1");
    check_mistake("    a: {at: [0-1]}\n    b: {at: 1}\n", "10:13: node 1 is already one of \"a\"");
    check_mistake("    old: {at: 2, gpus: 3}\n", "9:15: there is no node 2; the last is 1");
    check_mistake("    old: {at: 1, links: {nik: {bandwidth: 1 GB/s}}}\n",
                  "9:31: unknown link \"nik\"; did you mean \"nic\"?");
    check_mistake("    old: {at: 1, gpu: {peak: {fp8: 1 TFLOP/s}}}\n",
                  "11:31: \"k\" is given by FLOPs, which needs the hardware's gpu.peak for bf16 on "
                  "nodes \"old\"");
    check_mistake("    old: {gpu: {sms: 3}}\n", "9:10: old: \"at\" is missing");
}

/* --- Nodes of different sizes --- */

#define FABRIC                                                                                     \
    "  node: {gpus: 4}\n"                                                                          \
    "  links: {nvlink: {bandwidth: 90 GB/s}, pair: {bandwidth: 20 GB/s, gpus: 2, out_of: node}, "  \
    "nic: {bandwidth: 10 GB/s, gpus: 1, out_of: node}, way: {bandwidth: 30 GB/s, scope: node}, "   \
    "leaf: {bandwidth: 20 GB/s, scope: rail}, up: {bandwidth: 5 GB/s, scope: rail, out_of: "       \
    "rail}, "                                                                                      \
    "rack: {bandwidth: 40 GB/s, gpus: 8, out_of: 8}}\n"                                            \
    "  collectives: [{op: %s, via: [nvlink, pair, nic, way, leaf, up, rack], algorithm: %s}]\n"

/* Nodes of 4 of which only some ranks are used, and nodes that have no more than these: 4, 2, 3 and
 * 1 GPUs, two nodes in a rack. */
static bool run_on(bench *t, bool sparse, const char *op, const char *algorithm)
{
    static const char *const all = "0, 1, 2, 3, 4, 5, 8, 9, 10, 12";
    char text[4096];
    snprintf(text, sizeof text,
             "hardware:\n" FABRIC "%sworkload: {ranks: %d, groups: {g: [%s]}, "
             "ops: [{collective: x, op: %s, group: g, ranks: [%s], bytes: 100 "
             "MB}]}\n",
             op, algorithm,
             sparse ? ""
                    : "  nodes: {two: {at: 1, gpus: 2}, three: {at: 2, gpus: 3}, one: {at: 3, "
                      "gpus: 1}}\n",
             sparse ? 13 : 10, sparse ? all : "0, 1, 2, 3, 4, 5, 6, 7, 8, 9", op,
             sparse ? all : "0-9");
    bool good = lower(t, text, NULL) && analyse_both(t);
    CHECK_TEXT(mistake(t), "none");
    return good;
}

static void check_same_links(const ovl_result *a, const ovl_result *b)
{
    CHECK_INT(a->step, b->step);
    CHECK_INT(a->n_resources, b->n_resources);
    for (uint32_t i = 0; i < a->n_resources; i++) {
        const ovl_result_resource *x = &a->resources[i], *y = b->resources;
        while (y < b->resources + b->n_resources && strcmp(x->name, y->name) != 0) {
            y++;
        }
        bool there = y < b->resources + b->n_resources;
        CHECK(there);
        CHECK_INT(x->bytes, there ? y->bytes : 0);
        CHECK_INT(x->total, there ? y->total : 0);
    }
}

static void small_nodes_are_nodes_with_empty_seats(void)
{
    static const char *const by[][2] = {
        {"all_reduce", "ring"},   {"all_reduce", "tree"},
        {"all_gather", "ring"},   {"reduce_scatter", "ring"},
        {"all_to_all", "direct"}, {"broadcast", "tree"},
        {"reduce", "tree"},       {"all_to_all", "direct, pxn: true"}};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        bench sparse = {0}, small = {0};
        if (run_on(&sparse, true, by[i][0], by[i][1]) &&
            run_on(&small, false, by[i][0], by[i][1])) {
            check_same_links(&sparse.result, &small.result);
            check_same_links(&sparse.result, &small.whole);
        }
        finish(&sparse);
        finish(&small);
    }
}

/* Nodes of 2, 1 and 2 GPUs (node.gpus 2): ranks 0-1, 2, 3-4. A ring of 5 sends 2 x 4/5 x 100 = 160
 * MB out of each: 80 over each NIC of the others, all of it over the only one of node 1: 16 ms at
 * 10 GB/s. Rank 3 to 4 stays in its node, 2 to 3 does not. */
static void ranks_fill_nodes_in_order(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "hardware:\n  node: {gpus: 2}\n"
                "  links: {own: {bandwidth: 100 GB/s}, nic: {bandwidth: 10 GB/s, out_of: node}}\n"
                "  nodes: {one: {at: 1, gpus: 1}}\n"
                "  collectives: [{op: all_reduce, via: [own, nic], algorithm: ring}, {op: "
                "send_recv, via: [own, nic], algorithm: direct}]\n"
                "mesh: {axes: {dp: 5}}\n"
                "workload:\n  ops:\n"
                "    - {collective: all, op: all_reduce, group: dp, bytes: 100 MB}\n"
                "    - {send: s, to: 3, bytes: 100 MB, ranks: 2}\n"
                "    - {recv: r, from: 2, bytes: 100 MB, ranks: 3}\n"
                "    - {send: t, to: 4, bytes: 100 MB, ranks: 3}\n"
                "    - {recv: u, from: 3, bytes: 100 MB, ranks: 4}\n",
                NULL) &&
          analyse_both(&t));
    CHECK_TEXT(mistake(&t), "none");
    CHECK_INT(work(&t, 0, "all"), 16 * OVL_MS);
    CHECK_INT(work(&t, 2, "s"), 10 * OVL_MS);
    CHECK_INT(work(&t, 3, "t"), OVL_MS);
    CHECK_INT(t.whole.step, t.result.step);
    finish(&t);
}

static void check_uneven(const char *links, const char *nodes, const char *what)
{
    bench t = {0};
    ovl_arena arena = {0};
    CHECK(!lower(&t,
                 ovl_arena_printf(&arena,
                                  "hardware:\n  node: {gpus: 8}\n  links: {%s}\n  nodes: {%s}\n"
                                  "mesh: {axes: {dp: 24}}\n"
                                  "workload: {ops: [{kernel: k, duration: 1 ms}]}\n",
                                  links, nodes),
                 NULL));
    CHECK_TEXT(mistake(&t), what);
    finish(&t);
    ovl_arena_free(&arena);
}

static void what_would_cut_across_nodes_is_refused(void)
{
    check_uneven("nic: {bandwidth: 1 GB/s, gpus: 3}", "six: {at: 1, gpus: 6}",
                 "3:16: \"nic\" is about blocks of 3 GPUs, which would cut across nodes that have "
                 "different numbers of GPUs, 8 at most: one must divide the other");
    check_uneven(
        "rack: {bandwidth: 1 GB/s, out_of: 12}", "six: {at: 1, gpus: 6}",
        "3:17: \"rack\" is about blocks of 12 GPUs, which would cut across nodes that have "
        "different numbers of GPUs, 8 at most: one must divide the other");
    check_uneven("up: {bandwidth: 1 GB/s, scope: rail, rail_gpus: 4}", "six: {at: 1, gpus: 6}",
                 "3:15: \"up\" has 4 GPUs of a node on each rail, which does not divide the 6 that "
                 "nodes \"six\" have");
    check_uneven("m: {bandwidth: 1 GB/s, topology: mesh, gpus: 4}", "six: {at: 1, gpus: 6}",
                 "4:16: nodes \"six\" have 6 GPUs, and the mesh \"m\" connects 4 of a node: that "
                 "must divide their number");
    check_uneven("n: {bandwidth: 1 GB/s}", "six: {at: 4, gpus: 6}",
                 "4:21: there is no node 4; the last is 2");
}

static void a_link_of_several_nodes_has_one_bandwidth(void)
{
    bench t = {0};
    CHECK(!lower(&t,
                 "hardware:\n  node: {gpus: 2}\n"
                 "  links: {leaf: {bandwidth: 10 GB/s, gpus: 4}}\n"
                 "  nodes: {old: {at: 1, links: {leaf: {bandwidth: 5 GB/s}}}}\n"
                 "mesh: {axes: {dp: 8}}\nworkload: {ops: [{kernel: k, duration: 1 ms}]}\n",
                 NULL));
    CHECK_TEXT(mistake(&t),
               "4:38: one instance of \"leaf\" serves ranks 0 and 2, which are on nodes "
               "that give it different bandwidths or latencies: give them the same");
    CHECK(lower(&t,
                "hardware:\n  node: {gpus: 2}\n"
                "  links: {leaf: {bandwidth: 10 GB/s, gpus: 4}}\n"
                "  nodes: {old: {at: [2-3], links: {leaf: {bandwidth: 5 GB/s}}}}\n"
                "mesh: {axes: {dp: 8}}\nworkload: {ops: [{kernel: k, duration: 1 ms}]}\n",
                NULL));
    finish(&t);
}

static void what_is_not_modelled_of_all_is_not_of_some(void)
{
    bench t = {0};
    CHECK(!lower(&t,
                 "hardware:\n  nodes: {old: {at: 0, gpu: {sms: 10, hbm: 1 TB/s}}}\n"
                 "mesh: {axes: {dp: 8}}\nworkload: {ops: [{kernel: k, duration: 1 ms}]}\n",
                 NULL));
    CHECK_TEXT(mistake_at(&t, 0),
               "2:16: nodes \"old\" need hardware.node.gpus: without it all ranks are one node");
    CHECK_TEXT(mistake_at(&t, 1),
               "2:44: hbm of some nodes needs hardware.gpu.hbm, that of the others");
    CHECK_TEXT(mistake_at(&t, 2),
               "2:35: sms of some nodes needs hardware.gpu.sms, that of the others");
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"kernels go by the GPU of their rank", kernels_go_by_the_gpu_of_their_rank},
    {"two kernels alike on one GPU may differ on another",
     two_kernels_alike_on_one_gpu_may_differ_on_another},
    {"stated durations hold unless a speed is given",
     stated_durations_hold_unless_a_speed_is_given},
    {"a collective goes by the slowest link of its members",
     a_collective_goes_by_the_slowest_link_of_its_members},
    {"resources have what their node has", resources_have_what_their_node_has},
    {"an uneven all-to-all waits for the slow NIC", an_uneven_all_to_all_waits_for_the_slow_nic},
    {"a send goes by the slower side", a_send_goes_by_the_slower_side},
    {"a stated cost loads each NIC as far as it can",
     a_stated_cost_loads_each_nic_as_far_as_it_can},
    {"entries may be for communicators on some nodes",
     entries_may_be_for_communicators_on_some_nodes},
    {"channels of NCCL may be those of some nodes", channels_of_nccl_may_be_those_of_some_nodes},
    {"copies go by the link and the engines of their node",
     copies_go_by_the_link_and_the_engines_of_their_node},
    {"held SMs are those of the own GPU", held_sms_are_those_of_the_own_gpu},
    {"whether a rank fits is asked of its own GPU", whether_a_rank_fits_is_asked_of_its_own_gpu},
    {"stages of a pipeline take what their GPU takes",
     stages_of_a_pipeline_take_what_their_gpu_takes},
    {"stated stages follow the speed", stated_stages_follow_the_speed},
    {"layers are shared out by the GPUs of stages", layers_are_shared_out_by_the_gpus_of_stages},
    {"a search goes by the GPUs of stages", a_search_goes_by_the_gpus_of_stages},
    {"the optimizer goes by its memory", the_optimizer_goes_by_its_memory},
    {"who is slow is named", who_is_slow_is_named},
    {"mistakes are told", mistakes_are_told},
    {"small nodes are nodes with empty seats", small_nodes_are_nodes_with_empty_seats},
    {"ranks fill nodes in order", ranks_fill_nodes_in_order},
    {"what would cut across nodes is refused", what_would_cut_across_nodes_is_refused},
    {"a link of several nodes has one bandwidth", a_link_of_several_nodes_has_one_bandwidth},
    {"what is not modelled of all is not of some", what_is_not_modelled_of_all_is_not_of_some},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("nodes unlike others", tests);
}
