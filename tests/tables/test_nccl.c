/*
 * NCCL's tuning model against what a log of NCCL 2.27.5 printed for H100 with NVSwitch, 2 and 8
 * nodes of 1, 2, 4 and 8 GPUs: latency in us and algbw in GB/s, each to the decimal printed.
 *
 * The channels are those of that machine: one NIC of 48 GB/s for each GPU, the ring's channels of
 * 24 GB/s where there are fewer than 8 NICs; the tree has the whole NIC for a channel inside a
 * node.
 */
#include "models/nccl.h"
#include "tests/support/check.h"
#include "tests/tables/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GB UINT64_C(1000000000)

static ovl_hw_graph graphs[] = {
    {.gpus = 1, .channels = 2, .ring = 24 * GB, .tree = 48 * GB, .tree_inter = 24 * GB},
    {.gpus = 2, .channels = 4, .ring = 24 * GB, .tree = 48 * GB, .tree_inter = 24 * GB},
    {.gpus = 4,
     .channels = 8,
     .ring = 24 * GB,
     .tree = 48 * GB,
     .tree_inter = 24 * GB,
     .nvls_channels = 4,
     .nvls = 96 * GB,
     .nvls_inter = 24 * GB},
    {.gpus = 8,
     .channels = 8,
     .ring = 48 * GB,
     .tree = 48 * GB,
     .nvls_channels = 16,
     .nvls = 20 * GB,
     .nvls_inter = 12 * GB},
};

static const ovl_hw_nccl h100 = {
    .given = true,
    .version = "2.27.5",
    .gpu = 2,
    .graphs = {.item = graphs, .count = OVL_COUNT(graphs)},
};

static int find(const char *const *names, const char *name)
{
    int i = 0;
    while (names[i] && strcmp(names[i], name) != 0) {
        i++;
    }
    CHECK(names[i] != NULL);
    return i;
}

/* Members on `nodes` nodes of `gpus` each. */
static ovl_spread spread_of(uint32_t nodes, uint32_t gpus)
{
    return (ovl_spread){.members = nodes * gpus, .nodes = nodes, .fewest = gpus};
}

/* A tenth, in tenths: the log rounds to one decimal. */
static void check_tenth(double value, double printed)
{
    CHECK(fabs(value - printed) < 0.0501);
}

static uint32_t check_rows(const table *t, bool nvls)
{
    uint32_t checked = 0;
    for (uint32_t row = 0; row < t->n_rows; row++) {
        const char *algo = table_cell(t, row, "algo");
        if ((strncmp(algo, "NVLS", 4) == 0) != nvls) {
            continue;
        }
        ovl_spread spread = spread_of((uint32_t)table_number(t, row, "nodes"),
                                      (uint32_t)table_number(t, row, "ranks_per_node"));
        ovl_coll op = strcmp(table_cell(t, row, "collective"), "AllReduce") == 0 ? OVL_ALL_REDUCE
                                                                                 : OVL_ALL_GATHER;
        const ovl_hw_graph *graph = ovl_nccl_graph(&h100, &spread);
        CHECK(graph != NULL);
        if (!graph) {
            continue;
        }
        ovl_nccl_proto proto =
            (ovl_nccl_proto)find(ovl_nccl_proto_names, table_cell(t, row, "proto"));
        ovl_nccl_pair pair = ovl_nccl_tune(
            &h100, graph, op, (ovl_nccl_algo)find(ovl_nccl_algo_names, algo), proto, &spread);
        check_tenth(pair.latency, table_number(t, row, "latency_us"));
        check_tenth(pair.bandwidth, table_number(t, row, "algbw_GBps"));
        checked++;
    }
    return checked;
}

/* Latency and bandwidth of 24 rows of all-gather and 48 of all-reduce. */
static void ring_and_tree_are_as_the_log_says(void)
{
    table *t = table_read("handout_nccl2.27.5_tuner_h100.csv");
    CHECK_INT(check_rows(t, false), 72);
    table_free(t);
}

static void nvls_tree_is_as_the_log_says(void)
{
    table *t = table_read("handout_nccl2.27.5_tuner_h100.csv");
    CHECK_INT(check_rows(t, true), 4);
    table_free(t);
}

static CU_TestInfo tests[] = {
    {"ring and tree are as the log says", ring_and_tree_are_as_the_log_says},
    {"NVLSTree is as the log says", nvls_tree_is_as_the_log_says},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    int missing = table_missing();
    return missing ? missing : check_main("published NCCL tuning", tests);
}
