#include "tests/support/lowering.h"

#define MIB ((uint64_t)1 << 20)

#define MACHINE                                                                                    \
    "hardware:\n"                                                                                  \
    "  gpu: {hbm: 2 TB/s, sms: 100, hw_queues: 4, copy_engines: {d2h: 1, h2d: 2}}\n"               \
    "  node: {gpus: 2}\n"                                                                          \
    "  links:\n"                                                                                   \
    "    nvlink: {bandwidth: 450 GB/s, scope: gpu}\n"                                              \
    "    nic: {bandwidth: 50 GB/s, scope: node}\n"                                                 \
    "    spine: {bandwidth: 1 TB/s, scope: cluster}\n"

static const ovl_resource *resource(const bench *t, uint32_t rank, uint32_t port)
{
    return &t->p->resources[t->p->rank_ports[t->p->ranks[rank].first_port + port]];
}

static const char *resource_name(const bench *t, uint32_t rank, uint32_t port)
{
    return ovl_names_copy(t->p->names, resource(t, rank, port)->name, t->errs.arena);
}

/* 4 ranks on 2 nodes: HBM and nvlink per rank, nic per node, one spine: 4 + 8 + 4 + 2 resources. */
static void every_rank_has_its_ports(void)
{
    bench t = {0};
    CHECK(lower(&t, MACHINE "workload: {ranks: 4, ops: [{kernel: a, duration: 1 ms}]}\n", NULL));
    CHECK_INT(t.p->n_ports, 7);
    CHECK_INT(t.p->n_resources, 18);
    CHECK_TEXT(resource_name(&t, 0, 0), "hbm");
    CHECK_TEXT(resource_name(&t, 0, 1), "nvlink.out");
    CHECK_TEXT(resource_name(&t, 0, 4), "nic.in");
    CHECK(resource(&t, 0, 0) != resource(&t, 1, 0));
    CHECK(resource(&t, 0, 3) == resource(&t, 1, 3));
    CHECK(resource(&t, 1, 3) != resource(&t, 2, 3));
    CHECK(resource(&t, 0, 5) == resource(&t, 3, 5));
    CHECK_INT(resource(&t, 3, 0)->instance, 3);
    CHECK_INT(resource(&t, 3, 3)->instance, 1);
    CHECK_INT(resource(&t, 3, 6)->instance, 0);
    CHECK_INT(resource(&t, 3, 3)->capacity, 50000000000);
    CHECK_INT(t.p->sms, 100);
    CHECK_INT(t.p->hw_queues, 4);
    CHECK_INT(t.p->copy_engines[1], 2);
    CHECK(lower(&t, "workload: {ranks: 2, ops: [{kernel: a, duration: 1 ms}]}\n", NULL));
    CHECK_INT(t.p->rank_ports[t.p->ranks[1].first_port], OVL_NONE); /* no hbm, no port */
    finish(&t);
}

/* Axes innermost first: tp 2, dp 3. dp groups are {0, 2, 4} and {1, 3, 5}. */
static void mesh_axes_are_groups(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "mesh: {axes: {dp: 3, tp: 2}, order: [tp, dp]}\n"
                "workload:\n"
                "  ops:\n"
                "    - {collective: d, op: all_reduce, group: dp, bytes: 1 MiB, duration: 1 ms}\n"
                "    - {collective: t, op: all_reduce, group: tp, bytes: 1 MiB, duration: 1 ms}\n"
                "    - {collective: w, op: all_reduce, group: world, bytes: 1 MiB, duration: 1 "
                "ms}\n",
                NULL));
    CHECK_INT(t.p->n_comms, 2 + 3 + 1);
    const ovl_comm *dp = ovl_rank_comm(t.p, 3, op_named(&t, 3, "d")->comm);
    CHECK_INT(dp->n_members, 3);
    CHECK_INT(t.p->members[dp->first_member], 1);
    CHECK_INT(t.p->members[dp->first_member + 2], 5);
    CHECK_INT(ovl_rank_place(t.p, 3, op_named(&t, 3, "d")->comm), 1);
    const ovl_comm *tp = ovl_rank_comm(t.p, 3, op_named(&t, 3, "t")->comm);
    CHECK_INT(t.p->members[tp->first_member], 2);
    CHECK_INT(ovl_rank_comm(t.p, 3, op_named(&t, 3, "w")->comm)->n_members, 6);
    finish(&t);
}

static void groups_are_checked(void)
{
    bench t = {0};
    const char *text =
        "mesh: {axes: {dp: 4}}\n"
        "workload:\n"
        "  groups: {g: [0, 1]}\n"
        "  ops: [{collective: c, op: all_reduce, group: g, bytes: 1 MiB, duration: 1 ms, ranks: "
        "[0-1]}]\n";
    CHECK(lower(&t, text, NULL));
    CHECK(!lower(&t, text, "workload.groups.g=[0, 4]"));
    CHECK_HAS(mistake(&t), "4");
    CHECK(!lower(&t, text, "workload.groups.g=[[0, 1], [1, 2]]"));
    CHECK_HAS(mistake(&t), "1");
    CHECK(!lower(&t, text, "workload.groups.dp=[0, 1]"));
    CHECK_HAS(mistake(&t), "dp");
    CHECK(!lower(&t, text, "workload.groups.unused=[[0, 1], [2, 4]]"));
    CHECK_HAS(mistake(&t), "there is no rank 4");
    CHECK(lower(&t, text, "workload.groups.unused=[[0, 1], [2, 3]]"));
    CHECK_INT(t.p->n_comms, 1); /* checked, and not made */
    finish(&t);
}

/* 800 MB in 10 ms among 4: busbw 1.5 * 80 = 120 GB/s; HBM 2.5 times that; the spine carries what
 * leaves each of 2 nodes. */
static void collectives_load_links_and_memory(void)
{
    bench t = {0};
    const char *text =
        MACHINE "workload:\n"
                "  ranks: 4\n"
                "  ops:\n"
                "    - {collective: c, op: all_reduce, bytes: 800 MB, duration: 10 ms, via: "
                "[nvlink, spine], hbm_factor: 2.5, sms: 16}\n";
    CHECK(lower(&t, text, NULL));
    const ovl_cost *cost = cost_named(&t, 0, "c");
    CHECK_INT(demand_on(&t, 0, cost, false, "nvlink.out"), 120000000000);
    CHECK_INT(demand_on(&t, 0, cost, false, "nvlink.in"), 120000000000);
    CHECK_INT(demand_on(&t, 0, cost, false, "spine.in"), 240000000000);
    CHECK_INT(demand_on(&t, 0, cost, false, "hbm"), 300000000000);
    const ovl_cost_kind *kind = kind_named(&t, 0, "c");
    CHECK_INT(kind->sms, 16);
    CHECK_NEAR(kind->weight * 120e9, 1, 1e-12);
    for (uint32_t i = 0; i < kind->n_demands; i++) {
        const ovl_demand *d = &t.p->demands[kind->first_demand + i];
        CHECK(d->once == (d->port >= 3)); /* the spine, shared by all */
    }
    CHECK(lower(&t, text, "workload.ops.c.duration=2.5 ms")); /* 480 of 450 GB/s */
    CHECK_INT(demand_on(&t, 0, cost_named(&t, 0, "c"), false, "nvlink.out"), 450000000000);
    CHECK_INT(demand_on(&t, 0, cost_named(&t, 0, "c"), false, "hbm"), 1200000000000);
    CHECK_INT(t.errs.count, 1);
    CHECK(t.errs.items[0].warning);
    CHECK_HAS(t.errs.items[0].text, "moves 480 GB/s over nvlink, which has 450 GB/s");
    CHECK(!lower(&t, text, "workload.ops.c.via=[nvlnk]"));
    CHECK_HAS(mistake(&t), "did you mean \"nvlink\"?");
    CHECK(!lower(&t, text, "workload.ops.c.sms=100"));
    CHECK_HAS(mistake(&t), "100 SMs");
    finish(&t);
}

/* Ranks 0-3 on nodes {0, 1} and {2, 3}. {0, 1} is inside a node: of 100 MB 50 each are sent, 100 in
 * all; so {2, 3}. {0, 2} and {1, 3} leave their nodes once: 50. Ranks of other spreads have codes
 * of their own. 10 ms alone; the two rings out of each node share a NIC: 20. */
static void spreads_over_nodes_make_costs(void)
{
    bench t = {0};
    const char *text = "hardware:\n"
                       "  node: {gpus: 2}\n"
                       "  links: {nic: {bandwidth: 5 GB/s, scope: node}}\n"
                       "  collectives: [{op: all_gather, via: nic, algorithm: ring}]\n"
                       "workload:\n"
                       "  ranks: 4\n"
                       "  groups: {g: [[0, 2], [1, 3]]}\n"
                       "  ops: [{collective: c, op: all_gather, group: g, bytes: 100 MB}]\n";
    CHECK(lower(&t, text, NULL));
    CHECK_INT(cost_named(&t, 0, "c")->work, 10 * OVL_MS);
    CHECK_INT(demand_on(&t, 0, cost_named(&t, 0, "c"), false, "nic.out"), 5000000000);
    CHECK_INT(t.p->n_codes, 1);
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, 20 * OVL_MS);
    CHECK(lower(&t, text, "workload.groups.g=[[0, 1], [2, 3]]"));
    CHECK_INT(cost_named(&t, 0, "c")->work, 20 * OVL_MS);
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, 20 * OVL_MS);
    CHECK(lower(&t, text, "hardware.node.gpus=3"));
    CHECK_INT(t.p->n_codes, 2); /* {0, 2} inside, {1, 3} across */
    CHECK_INT(cost_named(&t, 0, "c")->work, 20 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "c")->work, 10 * OVL_MS);
    CHECK(
        !lower(&t, text, "hardware.collectives[0].algorithm=direct")); /* told by the file alone */
    CHECK_HAS(mistake(&t), "no formula for all_gather; it covers all_to_all and send_recv");
    finish(&t);
}

/* A data-parallel step has a code for each spread: tp 3 on nodes of 4 has dp groups of one kind,
 * {0, 3}, {1, 4}, {2, 5}: inside, across, across. */
static void data_parallel_codes_differ_by_spread(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "hardware:\n"
                "  node: {gpus: 4}\n"
                "  links: {nic: {bandwidth: 5 GB/s, scope: node}}\n"
                "  collectives: [{op: all_reduce, via: nic, algorithm: ring}]\n"
                "mesh: {axes: {tp: 3, dp: 2}, order: [tp, dp]}\n"
                "workload: {layers: [{name: l, params: 100 MB, backward: 1 ms}]}\n",
                NULL));
    CHECK_INT(t.p->n_codes, 2);
    CHECK_INT(cost_named(&t, 0, "bucket 0")->work, 40 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "bucket 0")->work, 20 * OVL_MS);
    CHECK(code_of(&t, 0) == code_of(&t, 3) && code_of(&t, 1) == code_of(&t, 5));
    finish(&t);
}

/* A sender loads its way out, a receiver its way in, each its memory. */
static void transfers_load_both_ends(void)
{
    bench t = {0};
    CHECK(lower(&t,
                MACHINE "workload:\n"
                        "  ranks: 2\n"
                        "  ops:\n"
                        "    - {send: s, to: 1, bytes: 100 MB, duration: 1 ms, via: nvlink, "
                        "hbm_factor: 1, ranks: 0}\n"
                        "    - {recv: r, from: 0, bytes: 100 MB, ranks: 1}\n",
                NULL));
    const ovl_cost *cost = cost_named(&t, 0, "s");
    CHECK_INT(demand_on(&t, 0, cost, false, "nvlink.out"), 100000000000);
    CHECK_INT(demand_on(&t, 0, cost, false, "nvlink.in"), 0);
    CHECK_INT(demand_on(&t, 1, cost, true, "nvlink.in"), 100000000000);
    CHECK_INT(demand_on(&t, 1, cost, true, "hbm"), 100000000000);
    CHECK_INT(kind_named(&t, 0, "s")->n_demands + kind_named(&t, 0, "s")->n_peer, 4);
    finish(&t);
}

/* 1 GB in 1 ms is 1 TB/s of 2; in 0.4 ms it would be 2.5. */
static void kernels_load_memory(void)
{
    bench t = {0};
    const char *text = MACHINE "workload:\n"
                               "  ops:\n"
                               "    - {kernel: k, duration: 1 ms, hbm: 1 GB, compute: 0.5 ms}\n"
                               "    - {kernel: w, duration: 1 ms, blocks: 50}\n"
                               "    - {kernel: n, duration: 1 ms, sms: 7}\n"
                               "    - {copy: c, duration: 1 ms, bytes: 10 MB, hbm: 20 MB}\n";
    CHECK(lower(&t, text, NULL));
    const ovl_cost *k = cost_named(&t, 0, "k");
    CHECK_INT(demand_on(&t, 0, k, false, "hbm"), 1000000000000);
    CHECK_INT(k->compute, 500 * OVL_US);
    CHECK_INT(kind_named(&t, 0, "k")->sms, 100);
    CHECK_NEAR(kind_named(&t, 0, "k")->weight * 1e12, 1, 1e-12);
    CHECK_INT(kind_named(&t, 0, "w")->blocks, 50);
    CHECK_INT(kind_named(&t, 0, "w")->sms, 50);
    CHECK_INT(kind_named(&t, 0, "n")->sms, 7);
    CHECK_INT(demand_on(&t, 0, cost_named(&t, 0, "c"), false, "hbm"), 20000000000);
    CHECK(lower(&t, text, "sharing=proportional"));
    CHECK_NEAR(kind_named(&t, 0, "k")->weight, 1, 0);
    CHECK(!lower(&t, text, "workload.ops.k={kernel: k, duration: 0.4 ms, hbm: 1 GB}"));
    CHECK_HAS(mistake(&t),
              "cannot move its HBM bytes in its duration: that takes 2.5 TB/s of 2 TB/s");
    CHECK(!lower(&t, text, "workload.ops.k.compute=1.5 ms"));
    CHECK_HAS(mistake(&t), "longer than the whole");
    CHECK(!lower(&t, text, "workload.ops.n.sms=101"));
    CHECK_HAS(mistake(&t), "101 SMs");
    finish(&t);
}

/* Kernel classes gemm, kernel; collective classes all_reduce, ag. A named class beats "*", the
 * kernel's name first. */
static void measured_pairs_and_wildcards(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "hardware:\n"
                "  interference:\n"
                "    - {kernel: '*', collective: '*', kernel_factor: 1.1}\n"
                "    - {kernel: gemm, collective: '*', kernel_factor: 1.2}\n"
                "    - {kernel: '*', collective: ag, kernel_factor: 1.3, collective_factor: 2}\n"
                "    - {kernel: gemm, collective: all_reduce, kernel_factor: 1.4}\n"
                "workload:\n"
                "  ranks: 2\n"
                "  ops:\n"
                "    - {kernel: a, duration: 1 ms, class: gemm}\n"
                "    - {kernel: b, duration: 1 ms}\n"
                "    - {collective: c, op: all_reduce, bytes: 1 MiB, duration: 1 ms}\n"
                "    - {collective: d, op: all_gather, class: ag, bytes: 1 MiB, duration: 1 ms}\n",
                NULL));
    CHECK_INT(t.p->n_kernel_classes, 2);
    CHECK_INT(t.p->n_coll_classes, 2);
    CHECK_INT(kind_named(&t, 0, "b")->klass, 1);
    CHECK_INT(kind_named(&t, 0, "d")->klass, 1);
    CHECK_NEAR(t.p->pairs[0].kernel_factor, 1.4, 0);
    CHECK_NEAR(t.p->pairs[1].kernel_factor, 1.2, 0);
    CHECK_NEAR(t.p->pairs[2].kernel_factor, 1.1, 0);
    CHECK_NEAR(t.p->pairs[3].kernel_factor, 1.3, 0);
    CHECK_NEAR(t.p->pairs[3].collective_factor, 2, 0);
    CHECK(lower(&t, "workload: {ops: [{kernel: a, duration: 1 ms}]}\n", NULL));
    CHECK_INT(t.p->n_coll_classes, 0);
    finish(&t);
}

/* Shards of f32 that are gathered as bf16: 10 TFLOP at 100 TFLOP/s of bf16 take 100 ms; f32, which
 * the layer's parameters are kept in, has no peak and needs none. */
static void sharded_layers_compute_in_the_gathered_type(void)
{
    bench t = {0};
    CHECK(
        lower(&t,
              "hardware:\n"
              "  gpu: {peak: {bf16: 100 TFLOP/s}}\n"
              "  collectives: [{op: all_gather, alpha: 1 ms}, {op: reduce_scatter, alpha: 1 ms}]\n"
              "mesh: {axes: {dp: 2}}\n"
              "workload:\n"
              "  dtype: f32\n"
              "  layers: [{name: a, elements: 10, forward_flops: 10 TFLOP, backward: 1 ms}]\n"
              "overlap: {fsdp: {param_dtype: bf16}}\n",
              NULL));
    CHECK_INT(cost_named(&t, 0, "forward a")->work, 100 * OVL_MS);
    finish(&t);
}

static void what_is_left_out_is_said(void)
{
    bench t = {0};
    const char *ops =
        "workload:\n"
        "  ranks: 2\n"
        "  ops:\n"
        "    - {kernel: a, duration: 1 ms}\n"
        "    - {collective: c, op: all_reduce, bytes: 1 MiB, duration: 1 ms, sms: 4}\n";
    CHECK(lower(&t, ops, NULL));
    CHECK(said(&t, "Host launch times are not modelled"));
    CHECK(said(&t, "HBM sharing is not modelled"));
    CHECK(said(&t, "SMs that communication holds slow no kernel"));
    CHECK(said(&t, "The links that all_reduce loads are not modelled"));
    CHECK(lower(&t, ops, "interference=none"));
    CHECK_INT(t.lowered.n_not_modelled, 1);
    const char *full = ovl_arena_printf(&t.arena, "%s%s", MACHINE "  host: {launch: 5 us}\n", ops);
    char *kept = strdup(full);
    CHECK(lower(&t, kept, NULL));
    free(kept);
    CHECK(said(&t, "The HBM traffic of a is not modelled"));
    CHECK(said(&t, "The HBM traffic of all_reduce is not modelled"));
    CHECK(!said(&t, "Host"));
    CHECK_INT(t.lowered.n_not_modelled, 3);
    CHECK_INT(op_named(&t, 0, "a")->launch, 5 * OVL_US);
    finish(&t);
}

/* A stated 0 is an answer: copy engines move the bytes. It counts before the entry's 16, and there
 * is nothing left to say. */
static void zero_sms_are_those_of_copy_engines(void)
{
    bench t = {0};
    const char *text =
        "hardware:\n"
        "  gpu: {sms: 132}\n"
        "  links: {nvlink: {bandwidth: 450 GB/s}}\n"
        "  collectives: [{op: all_gather, via: [nvlink], alpha: 1 us, beta: 400 GB/s, sms: 16}]\n"
        "workload:\n"
        "  ranks: 2\n"
        "  ops:\n"
        "    - {kernel: a, duration: 1 ms}\n"
        "    - {collective: c, op: all_gather, bytes: 1 MiB}\n";
    CHECK(lower(&t, text, NULL));
    CHECK_INT(kind_named(&t, 0, "c")->sms, 16);
    CHECK(lower(&t, text, "workload.ops.c.sms=0"));
    CHECK_INT(kind_named(&t, 0, "c")->sms, 0);
    CHECK(!said(&t, "holds no SMs"));
    CHECK(lower(&t, text, "hardware.collectives[0].sms=0"));
    CHECK_INT(kind_named(&t, 0, "c")->sms, 0);
    CHECK(!said(&t, "holds no SMs"));
    CHECK(lower(&t, text, "hardware.collectives[0].sms=null"));
    CHECK(said(&t, "all_gather holds no SMs"));
    finish(&t);
}

static void tables_and_rooflines_are_said(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "hardware:\n"
                "  gpu: {hbm: 2 TB/s, peak: {f32: 1 TFLOP/s}, efficiency: 50 %}\n"
                "  collectives: [{op: all_reduce, extrapolate: true, table: [[1 MiB, 1 ms], [2 "
                "MiB, 2 ms]]}]\n"
                "workload:\n"
                "  ranks: 2\n"
                "  ops:\n"
                "    - {kernel: a, flops: 1 GFLOP, hbm: 1 MB}\n"
                "    - {collective: c, op: all_reduce, bytes: 4 MiB}\n",
                NULL));
    CHECK_INT(cost_named(&t, 0, "a")->work, 2 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "c")->work, 4 * OVL_MS);
    CHECK(said(&t, "assumed to reach 0.5 of the peak and 1 of the HBM"));
    CHECK(said(&t, "Measured times of all_reduce were extrapolated"));
    finish(&t);
}

/* Measured with 8 ranks from 1 to 32 MiB: used with 2 at 4 MiB, 16 KiB and 64 MiB. Sends have two
 * ends, whatever was measured. */
static void measured_costs_used_elsewhere_are_said(void)
{
    static const char text[] =
        "hardware:\n"
        "  collectives:\n"
        "    - {op: all_reduce, alpha: 10 us, beta: 10 GB/s,\n"
        "       measured: {sizes: 6, from_bytes: 1 MiB, to_bytes: 32 MiB, ranks: 8}}\n"
        "workload:\n"
        "  ranks: 2\n"
        "  ops:\n"
        "    - {collective: c, op: all_reduce, bytes: 4 MiB}\n";
    bench t = {0};
    CHECK(lower(&t, text, NULL));
    CHECK(said(&t, "With another number of ranks than its cost was measured with: all_reduce (2, "
                   "measured with 8)."));
    CHECK(!said(&t, "Outside the sizes"));
    finish(&t);
    CHECK(lower(&t, text, "workload.ops[0].bytes=16KiB"));
    CHECK(said(&t, "Outside the sizes its cost was measured at: all_reduce (below; measured from 1 "
                   "MiB to 32 MiB)."));
    finish(&t);
    CHECK(lower(&t, text, "workload.ops[0].bytes=64MiB"));
    CHECK(said(&t, "all_reduce (above; measured from"));
    finish(&t);
    CHECK(lower(&t, text, "workload.ranks=8"));
    CHECK(!said(&t, "With another number of ranks"));
    finish(&t);
    CHECK(lower(&t, text, "workload.ops[0].alpha=5us")); /* its own: not the measured one */
    CHECK(!said(&t, "Outside the sizes") && !said(&t, "With another number"));
    finish(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"measured costs used elsewhere are said", measured_costs_used_elsewhere_are_said},
        {"every rank has its ports", every_rank_has_its_ports},
        {"mesh axes are groups", mesh_axes_are_groups},
        {"groups are checked", groups_are_checked},
        {"collectives load links and memory", collectives_load_links_and_memory},
        {"how members lie on nodes makes their cost", spreads_over_nodes_make_costs},
        {"data-parallel codes differ by spread", data_parallel_codes_differ_by_spread},
        {"transfers load both ends", transfers_load_both_ends},
        {"kernels load memory and want SMs", kernels_load_memory},
        {"measured pairs and wildcards", measured_pairs_and_wildcards},
        {"zero SMs are those of copy engines", zero_sms_are_those_of_copy_engines},
        {"sharded layers compute in the gathered type",
         sharded_layers_compute_in_the_gathered_type},
        {"what is left out is said", what_is_left_out_is_said},
        {"tables and rooflines are said", tables_and_rooflines_are_said},
        CU_TEST_INFO_NULL,
    };
    return check_main("lower", tests);
}
