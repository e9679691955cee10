/*
 * What the scenarios of meshes and topology answer. Each figure stands in the comment of its
 * scenario, with the reasoning.
 */
#include "tests/figures/figure.h"
#include "tests/support/check.h"

#include <string.h>

#define NICS "scenarios/mesh/nic_sharing.yaml"
#define RAIL "scenarios/mesh/rails.yaml"
#define NCCL "scenarios/mesh/nccl_choice.yaml"

static void check_span(const figure *f, const char *name, ovl_time start, ovl_time end)
{
    const ovl_result_collective *c = figure_collective(f, name);
    CHECK_INT(c->start, start * OVL_MS);
    CHECK_INT(c->end, end * OVL_MS);
}

static void a_nic_is_shared_and_the_next_is_not(void)
{
    figure f = figure_run(NICS, NULL, NULL, NULL);
    check_span(&f, "a", 10, 14);
    check_span(&f, "b", 6, 10);
    check_span(&f, "c", 6, 10);
    CHECK_INT(f.result.step, 14 * OVL_MS);
    figure_free(&f);
}

static void moving_one_earlier_makes_a_tail_on_the_other(void)
{
    figure f = figure_run(NICS, "earlier", NULL, NULL);
    check_span(&f, "a", 6, 14);
    check_span(&f, "b", 6, 14);
    check_span(&f, "c", 6, 10);
    CHECK_INT(figure_collective(&f, "b")->exposed, 2 * OVL_MS);
    CHECK_INT(f.result.step, 14 * OVL_MS);
    figure_free(&f);
    f = figure_run(NICS, "rails", NULL, NULL);
    check_span(&f, "b", 6, 10);
    CHECK_INT(f.result.step, 13 * OVL_MS);
    figure_free(&f);
}

/* Rings never leave a rail; 9 of 16 others of an all-to-all do, unless NVLink brings them to it. */
static void rails_keep_rings_off_the_spine(void)
{
    static const struct {
        const char *variant;
        ovl_time gradients, dispatch, step;
    } by[] = {{NULL, 80, 116, 146},
              {"pxn", 80, 92, 122},
              {"plain", 172, 136, 182},
              {"full", 80, 92, 122}};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        figure f = figure_run(RAIL, by[i].variant, NULL, NULL);
        check_span(&f, "gradients", 20, by[i].gradients);
        check_span(&f, "dispatch", 80, by[i].dispatch);
        CHECK_INT(f.result.step, by[i].step * OVL_MS);
        figure_free(&f);
    }
}

static const ovl_result_resource *resource(const figure *f, const char *name)
{
    static const ovl_result_resource none = {.busiest = OVL_NONE};
    for (uint32_t i = 0; i < f->result.n_resources; i++) {
        if (strcmp(f->result.resources[i].name, name) == 0) {
            return &f->result.resources[i];
        }
    }
    return &none;
}

/* a and b: 200 MB each over one NIC from 6 to 14 ms, both 4 ms late; c: 200 MB over the next. Two
 * nodes send and receive as much. */
static void collisions_name_who_met_whom(void)
{
    figure f = figure_run(NICS, "earlier", NULL, NULL);
    CHECK_INT(f.result.n_collisions, 1);
    const ovl_result_collision *c = f.result.collisions;
    CHECK_TEXT(c->resource, "nic.out");
    CHECK_TEXT(c->a, "a");
    CHECK_TEXT(c->b, "b");
    CHECK_INT(c->together, 8 * OVL_MS);
    CHECK_INT(c->lost_a, 4 * OVL_MS);
    CHECK_INT(c->lost_b, 0); /* rank 0 has no part in it */
    CHECK_INT(c->all_a, 4 * OVL_MS);
    CHECK_INT(c->all_b, 4 * OVL_MS);
    CHECK_INT(c->shared, 2); /* the NIC of each node */
    CHECK_INT(c->full, 2);
    CHECK_INT(resource(&f, "nic.out")->lost, 4 * OVL_MS);
    CHECK_INT(resource(&f, "nic.out")->lost_all, 8 * OVL_MS);
    const ovl_result_resource *out = resource(&f, "nic.out");
    CHECK_INT(out->instances, 4);
    CHECK_INT(out->busiest, 0);
    CHECK_INT(out->bytes, 400000000);
    CHECK_INT(out->busy, 8 * OVL_MS);
    CHECK_INT(out->total, 6 * 200000000);
    CHECK_NEAR(out->mean_use, 400e6 / (50e9 * 14e-3), 1e-12);
    figure_free(&f);
    f = figure_run(NICS, NULL, NULL, NULL);
    CHECK_INT(f.result.n_collisions, 0);
    figure_free(&f);
}

/* 16 ranks on two nodes send 2 x 15/16 of 800 MB out of each node in a ring, 1.5 GB; all-to-all 8 x
 * 8/16 x 800 MB. What is sent is received. */
static void bytes_on_links_are_those_of_the_formula(void)
{
    const char *scenario = "scenarios/contention/shared_nic.yaml";
    const uint64_t ring = 1500000000, exchange = 3200000000;
    figure f = figure_run(scenario, "one_ring", NULL, NULL);
    CHECK_INT(resource(&f, "nic.out")->bytes, ring);
    CHECK_INT(resource(&f, "nic.out")->total, 2 * ring);
    CHECK_INT(resource(&f, "nic.in")->total, 2 * ring);
    CHECK_INT(resource(&f, "nvlink.out")->total, 16 * ring);
    CHECK_INT(resource(&f, "nvlink.in")->total, 16 * ring);
    figure_free(&f);
    f = figure_run(scenario, NULL, NULL, NULL);
    CHECK_INT(resource(&f, "nic.out")->bytes, exchange);
    CHECK_INT(resource(&f, "nic.in")->total, 2 * exchange);
    figure_free(&f);
    f = figure_run(scenario, "eight_pairs", NULL, NULL);
    CHECK_INT(f.result.n_collisions, 1);
    CHECK_TEXT(f.result.collisions[0].b, "pair"); /* with others of its name */
    CHECK_INT(f.result.collisions[0].together, 16 * OVL_MS);
    CHECK_INT(f.result.collisions[0].lost_a, 14 * OVL_MS);
    CHECK_INT(f.result.collisions[0].all_a, 8 * 14 * OVL_MS); /* eight of them */
    CHECK_INT(f.result.collisions[0].full, 2);
    figure_free(&f);
}

static void faults_cost_what_they_should(void)
{
    figure f = figure_run(NICS, "degraded", NULL, NULL);
    check_span(&f, "a", 10, 17);
    check_span(&f, "b", 6, 10);
    CHECK_INT(f.result.step, 17 * OVL_MS);
    figure_free(&f);
    f = figure_run(NICS, "degraded", "hardware.faults[0].until=13 ms", NULL);
    check_span(&f, "a", 10, 15); /* 1/4, then 1/4 in 2 ms, then the rest at full speed */
    figure_free(&f);
    f = figure_run(NICS, "slow", NULL, NULL);
    check_span(&f, "a", 12, 16);
    figure_free(&f);
}

static void nodes_unlike_others_cost_what_they_should(void)
{
    const char *mixed = "scenarios/mesh/mixed_nodes.yaml";
    const struct {
        const char *variant;
        ovl_time start, end, step; /* of grads; ms */
    } rows[] = {{NULL, 20, 40, 45},    {"all_new", 10, 20, 25}, {"new_nic", 20, 30, 35},
                {"speed", 20, 40, 50}, {"beside", 20, 40, 45},  {"larger", 20, 40, 45}};
    for (size_t i = 0; i < OVL_COUNT(rows); i++) {
        figure f = figure_run(mixed, rows[i].variant, NULL, NULL);
        check_span(&f, "grads", rows[i].start, rows[i].end);
        CHECK_INT(f.result.step, rows[i].step * OVL_MS);
        figure_free(&f);
    }
    figure f = figure_run(mixed, "beside", NULL, NULL);
    check_span(&f, "pair", 20, 40);
    CHECK_INT(resource(&f, "nic.out")->busiest, 0); /* 25 + 25 of 50 GB/s for 20 ms */
    CHECK_INT(resource(&f, "nic.out")->bytes, 1000000000);
    figure_free(&f);
    f = figure_run(mixed, NULL, NULL, NULL);
    CHECK_INT(f.result.term[OVL_WAIT_LATE_RANK], 10 * OVL_MS);
    CHECK_INT(f.result.without_interference, 45 * OVL_MS);
    CHECK_INT(resource(&f, "nic.out")->busiest, 4); /* as many bytes as others, of half as many */
    figure_free(&f);
    f = figure_run(mixed, "larger", NULL, NULL);
    CHECK_INT(f.result.fullest_rank, 4);
    CHECK_INT(ovl_result_over_memory(&f.result), 10000000000);
    figure_free(&f);
}

static void wires_of_a_mesh_carry_what_they_should(void)
{
    const char *mesh = "scenarios/mesh/gpu_mesh.yaml";
    figure f = figure_run(mesh, NULL, NULL, NULL);
    check_span(&f, "ring", 0, 2);
    check_span(&f, "pair", 2, 6);
    check_span(&f, "exchange", 6, 7);
    CHECK_INT(f.result.step, 8 * OVL_MS);
    CHECK_INT(resource(&f, "nvlink+2")->total, 4 * 700000000ll); /* 200, 400 and 100 MB */
    CHECK_INT(resource(&f, "nvlink+3")->total, 4 * 300000000ll + 100000000);
    figure_free(&f);
    f = figure_run(mesh, "switch", NULL, NULL);
    CHECK_NEAR((double)f.result.step / 1e9, 2 + 4.0 / 3 + 1 + 1.0 / 3, 1e-6);
    figure_free(&f);
    f = figure_run(mesh, "one_ring", NULL, NULL);
    check_span(&f, "ring", 0, 6);
    CHECK_INT(f.result.step, 12 * OVL_MS);
    figure_free(&f);
    f = figure_run(mesh, "beside", NULL, NULL);
    check_span(&f, "ring", 0, 4);
    check_span(&f, "pair", 0, 6);
    CHECK_INT(f.result.step, 8 * OVL_MS);
    figure_free(&f);
}

static void check_nccl(const char *variant, ovl_time latency, double gigabytes, double bytes)
{
    figure f = figure_run(NCCL, variant, NULL, NULL);
    CHECK_NEAR((double)f.result.step, (double)latency + bytes / gigabytes * 1e3, 2e5);
    figure_free(&f);
}

/* Of the bandwidths the scenario gives four digits, and the log that they come from. */
static void nccl_chooses_as_its_model_says(void)
{
    check_nccl(NULL, 25200 * OVL_NS, 0.7 * 16.638, 16384);
    check_nccl("middle", 53 * OVL_US, 266.667, 1048576);
    check_nccl("middle_no_nvls", 48500 * OVL_NS, 0.6 * 124.78, 1048576);
    check_nccl("large_no_nvls", 75200 * OVL_NS, 156.587, 67108864);
    check_nccl("huge_no_nvls", 184240 * OVL_NS, 204.8, 1073741824);
}

/* 1.5 times the mean on rank 0: in each of two blocks its experts take half as much again, 4.864 ms
 * in a forward and 9.728 in a backward; so do kernels that move its 8192 rows at 65 % of 3.35 TB/s:
 * by expert and back, 134 MB each, and the activation function, 3 and 5 times 235 MB; and eight
 * all-to-alls of 64 MiB half of 7/8 of it again over 450 GB/s, 65.2 us each. */
static void a_hot_rank_of_experts_is_waited_for(void)
{
    const char *scenario = "scenarios/mesh/moe_imbalance.yaml";
    figure f = figure_run_quick(scenario, NULL, NULL, NULL);
    ovl_time even = f.result.step;
    CHECK_NEAR((double)even, 45.0575e9, 1e5);
    figure_free(&f);
    f = figure_run_quick(scenario, "hot", NULL, NULL);
    double rate = 0.65 * 3.35e9, moved = 2 * 8192 * (4 * 2.0 * 4096 + (3 + 5) * 14336); /* a ms */
    double more = 0.5 * 2 * (4.86394 + 9.72787 + moved / rate) + 8 * 0.0652449;
    CHECK_NEAR((double)(f.result.step - even), more * 1e9, 1e6);
    figure_free(&f);
}

/* What the scenario says of each variant, in ms. */
static void experts_are_reduced_apart(void)
{
    static const struct {
        const char *variant;
        double step;
    } said[] = {
        {NULL, 75.1}, {"spread", 71.6}, {"zero_1", 81.6}, {"zero_3", 75.1}, {"megatron", 71.7}};
    for (size_t i = 0; i < OVL_COUNT(said); i++) {
        figure f = figure_run_quick("scenarios/mesh/moe_data.yaml", said[i].variant, NULL, NULL);
        CHECK_NEAR((double)f.result.step / 1e9, said[i].step, 0.051);
        CHECK_INT(f.result.n_hazards, 0);
        CHECK_INT(f.result.gradients_proved, 16 * 10); /* four blocks, their experts, both ends */
        figure_free(&f);
    }
}

/* What the scenario says: pairs that take turns against pairs that do not. 15,360 sequences of 4096
 * tokens a step, 10^12 tokens in 15,895 steps. */
static void deepseek_v3_runs_folded(void)
{
    const char *scenario = "scenarios/mesh/deepseek_v3.yaml";
    figure f = figure_run_quick(scenario, NULL, NULL, NULL);
    CHECK_INT(f.result.n_folded, 16);
    CHECK_NEAR((double)f.result.step / 1e12, 15.67, 0.01);
    CHECK_INT(f.result.n_hazards, 0);
    CHECK_INT(f.lowered.useful.tokens, 15360 * 4096);
    figure_free(&f);
    f = figure_run_quick(scenario, "serial", NULL, NULL);
    CHECK_NEAR((double)f.result.step / 1e12, 21.92, 0.01);
    figure_free(&f);
    f = figure_run_quick(scenario, "as_traced", NULL, NULL);
    CHECK_NEAR((double)f.result.step / 1e12, 17.99, 0.01);
    figure_free(&f);
}

static void nodes_of_different_sizes_wait_for_the_small_one(void)
{
    const struct {
        const char *variant;
        double step, busiest; /* ms; MB out of the busiest NIC */
    } rows[] = {{NULL, 8.4, 220},   {"one_each", 6.2, 110}, {"even", 4 + 440. / 150, 440. / 3},
                {"tree", 6.4, 120}, {"experts", 10.4, 320}, {"racks", 8.4, 220}};
    for (size_t i = 0; i < OVL_COUNT(rows); i++) {
        figure f = figure_run("scenarios/mesh/uneven_nodes.yaml", rows[i].variant, NULL, NULL);
        CHECK_NEAR((double)f.result.step / 1e9, rows[i].step, 1e-6);
        CHECK_NEAR((double)resource(&f, "nic.out")->bytes / 1e6, rows[i].busiest, 1e-3);
        figure_free(&f);
    }
}

static CU_TestInfo tests[] = {
    {"nodes of different sizes wait for the small one",
     nodes_of_different_sizes_wait_for_the_small_one},
    {"a hot rank of experts is waited for", a_hot_rank_of_experts_is_waited_for},
    {"experts are reduced apart", experts_are_reduced_apart},
    {"DeepSeek-V3 runs folded", deepseek_v3_runs_folded},
    {"a NIC is shared and the next is not", a_nic_is_shared_and_the_next_is_not},
    {"moving one earlier makes a tail on the other", moving_one_earlier_makes_a_tail_on_the_other},
    {"rails keep rings off the spine", rails_keep_rings_off_the_spine},
    {"collisions name who met whom", collisions_name_who_met_whom},
    {"bytes on links are those of the formula", bytes_on_links_are_those_of_the_formula},
    {"faults cost what they should", faults_cost_what_they_should},
    {"nodes unlike others cost what they should", nodes_unlike_others_cost_what_they_should},
    {"wires of a mesh carry what they should", wires_of_a_mesh_carry_what_they_should},
    {"NCCL chooses as its model says", nccl_chooses_as_its_model_says},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("mesh figures", tests);
}
