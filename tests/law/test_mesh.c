/*
 * test_mesh.c - laws of models on meshes: for every pair of axes what is folded gives what every
 * rank by itself gives, to the picosecond; what is sent is received; every gradient arrives.
 */
#include "tests/support/lowering.h"

#include <stdio.h>
#include <string.h>

#define HEAD                                                                                       \
    "hardware:\n"                                                                                  \
    "  gpu: {hbm: 2 TB/s, sms: 100, peak: {bf16: 100 TFLOP/s}, efficiency: 0.5}\n"                 \
    "  node: {gpus: 2}\n"                                                                          \
    "  links: {nvlink: {bandwidth: 100 GB/s, latency: 1 us, scope: gpu}, nic: {bandwidth: 10 "     \
    "GB/s, "                                                                                       \
    "latency: 5 us, scope: gpu, out_of: node}, up: {bandwidth: 9 GB/s, scope: rail, out_of: "      \
    "rail, pod: 2}}\n"                                                                             \
    "  collectives:\n"                                                                             \
    "    - &near {op: all_gather, via: [nvlink, nic, up], algorithm: ring, sms: 8, hbm_factor: "   \
    "2}\n"                                                                                         \
    "    - {<<: *near, op: reduce_scatter}\n"                                                      \
    "    - {<<: *near, op: all_reduce}\n"                                                          \
    "    - {op: send_recv, via: [nvlink, nic, up], algorithm: direct}\n"                           \
    "    - {op: all_to_all, via: [nvlink, nic, up], algorithm: direct, sms: 8, hbm_factor: 2}\n"   \
    "workload:\n"                                                                                  \
    "  model: {layers: 4, hidden: 512, ffn_hidden: 1024, heads: 8, kv_heads: 4, sequence: 1024, "  \
    "vocabulary: 1000, microbatch: 2%s}\n"

/* Axes by pairs, and what arranges them: data parallelism in one of its forms, or a pipeline. */
static const struct {
    const char *mesh, *overlap;
} meshes[] = {
    {"{tp: 2, cp: 2}", "{ddp: {group: cp}}"},
    {"{tp: 2, dp: 2}", "{ddp: {}}"},
    {"{tp: 2, fsdp: 2}", "{fsdp: {shard: fsdp}}"},
    {"{tp: 2, pp: 2}", "{pipeline: {schedule: 1f1b, microbatches: 4}}"},
    {"{cp: 2, dp: 2}", "{ddp: {group: cp+dp}}"},
    {"{cp: 4, dp: 2}", "{ddp: {group: cp+dp}}"},
    {"{cp: 2, fsdp: 2}", "{fsdp: {shard: cp+fsdp}}"},
    {"{cp: 2, pp: 2}", "{pipeline: {schedule: 1f1b, microbatches: 4, data_parallel: {group: cp}}}"},
    {"{fsdp: 2, dp: 2}", "{fsdp: {shard: fsdp, replicate: dp}}"},
    {"{dp: 2, pp: 2}", "{pipeline: {schedule: interleaved, virtual_stages: 2, microbatches: 4, "
                       "data_parallel: {group: dp}}}"},
    {"{fsdp: 2, pp: 2}", "{pipeline: {schedule: 1f1b, microbatches: 4, data_parallel: {group: "
                         "fsdp, sharded: true}}}"},
    {"{fsdp: 2, pp: 2}", "{pipeline: {schedule: interleaved, virtual_stages: 3, microbatches: 4, "
                         "data_parallel: {group: "
                         "fsdp, sharded: true, active_stages: 3}}}"},
    {"{tp: 2, pp: 2, dp: 2}", "{pipeline: {schedule: interleaved, virtual_stages: 2, microbatches: "
                              "4}, ddp: {bucket_cap: 1 MiB}}"},
    {"{fsdp: 2, pp: 2}", "{pipeline: {schedule: 1f1b, microbatches: 4}, fsdp: {shard: fsdp}}"},
    {"{tp: 2, cp: 2, pp: 2, fsdp: 2, dp: 2}", "{pipeline: {schedule: interleaved, virtual_stages: "
                                              "2, microbatches: 4}, fsdp: {shard: cp+fsdp, "
                                              "replicate: dp, reshard_after_forward: false, "
                                              "accumulate: {gradient_sync: last, last_backward: "
                                              "last, reshard_after_backward: false}}}"},
    {"{tp: 2, cp: 2, fsdp: 2, dp: 2}", "{fsdp: {shard: cp+fsdp, replicate: dp}}"},
    {"{tp: 2, cp: 2, pp: 2, dp: 2}", "{pipeline: {schedule: zb_h1, microbatches: 4, data_parallel: "
                                     "{group: cp+dp, sharded: true}}}"},
    {"{tp: 2, pp: 2, fsdp: 2}", "{pipeline: {schedule: zb_h1, microbatches: 4}, fsdp: {shard: "
                                "fsdp}}"},
    {"{pp: 2, cp: 2, dp: 2}", "{pipeline: {schedule: zb_v, microbatches: 4}, ddp: {group: cp+dp, "
                              "bucket_cap: 1 MiB}}"},
    {"{tp: 2, pp: 2, dp: 2}", "{pipeline: {schedule: interleaved_zb, virtual_stages: 2, "
                              "microbatches: 4}, zero: {group: dp, stage: 1, reduce_bucket_size: "
                              "200000}}"},
    {"{pp: 2, fsdp: 2, dp: 2}", "{pipeline: {schedule: dualpipev, microbatches: 4}, fsdp: {shard: "
                                "fsdp, replicate: dp}}"},
    {"{tp: 2, pp: 2, dp: 2}", "{pipeline: {schedule: dualpipe, microbatches: 4}, fsdp: {shard: "
                              "dp, reshard_after_forward: false, accumulate: {gradient_sync: last, "
                              "last_backward: last, reshard_after_backward: false}}}"},
    {"{pp: 2, dp: 2}", "{pipeline: {schedule: dualpipe, microbatches: 4}, ddp: {}}"},
    {"{pp: 2, tp: 2, dp: 2}", "{pipeline: {schedule: dualpipe, microbatches: 4, data_parallel: "
                              "{group: dp, sharded: true}}}"},
    {"{dp: 2, pp: 2}", "{pipeline: {schedule: looped_bfs, virtual_stages: 2, microbatches: 4}, "
                       "fsdp: {shard: dp}}"},
    {"{dp: 4, tp: 2, pp: 2}", "{pipeline: {schedule: 1f1b, microbatches: 4, data_parallel: {group: "
                              "dp}}}"},
};

/* The same with experts. */
static const struct {
    const char *mesh, *overlap, *moe;
} expert_meshes[] = {
    {"{ep: 2, pp: 2}", "{pipeline: {schedule: 1f1b, microbatches: 4}}", ""},
    {"{ep: 2, pp: 2}", "{pipeline: {schedule: zb_h1, microbatches: 4}}", ", hottest: 1.5"},
    {"{ep: 2, cp: 2, pp: 1}", "{pipeline: {schedule: gpipe, microbatches: 2}}", ", hottest: 1.5"},
    {"{ep: 2, dp: 2, pp: 1}", "{pipeline: {schedule: gpipe, microbatches: 2}}",
     ", spread: 0.4, seed: 3"},
    {"{ep: 2, nodes: 2, pp: 2}", "{pipeline: {schedule: dualpipe, microbatches: 4}}",
     ", across: nodes, copies: 1, dispatch_dtype: fp8, hottest: 2"},
    {"{ep: 2, nodes: 2, pp: 2}", "{pipeline: {schedule: dualpipev, microbatches: 4}}",
     ", across: nodes"},
    {"{pp: 2, ep: 4}", "{pipeline: {schedule: interleaved, virtual_stages: 2, microbatches: 4}}",
     ", shares: [4, 3, 2, 0]"},
    {"{pp: 2, ep: 4}", "{pipeline: {schedule: zb_h1, microbatches: 4}}",
     ", shares: [[4, 3, 2, 0], [1, 1, 1, 1], [0, 0, 1, 2], [1, 0, 0, 0]]"},
    {"{ep: 2, dp: 2}", "{ddp: {group: ep+dp, bucket_cap: 1 MiB}}", ""},
    {"{ep: 2, dp: 2}",
     "{ddp: {policy: megatron, group: ep+dp, distributed_optimizer: true, bucket_size: 1000000}}",
     ", hottest: 1.5"},
    {"{ep: 2, dp: 2}", "{fsdp: {shard: ep+dp}}", ""},
    {"{ep: 2, fsdp: 2, dp: 2}", "{fsdp: {shard: ep+fsdp, replicate: dp, reshard_after_forward: 2}}",
     ", hottest: 1.5"},
    {"{ep: 4}", "{fsdp: {policy: fsdp1, shard: ep}}", ""},
    {"{ep: 2, dp: 2}", "{fsdp: {policy: fsdp1, shard: ep+dp}}", ""},
    {"{ep: 2, dp: 2}", "{zero: {stage: 1, group: ep+dp}}", ""},
    {"{ep: 2, dp: 2}", "{zero: {stage: 2, group: ep+dp}}", ""},
    {"{ep: 2, dp: 2}", "{zero: {stage: 3, group: ep+dp}}", ", hottest: 1.5"},
    {"{tp: 2, ep: 2, dp: 2}", "{ddp: {group: ep+dp}}", ", hottest: 1.5"},
    {"{tp: 2, ep: 2, dp: 2}", "{fsdp: {shard: ep+dp}}", ", ep: tp+ep"},
    {"{ep: 2, cp: 2, nodes: 2}", "{fsdp: {shard: cp+ep+nodes}}", ", across: nodes"},
    {"{ep: 2, pp: 2, dp: 2}",
     "{pipeline: {schedule: 1f1b, microbatches: 4, data_parallel: {group: "
     "ep+dp}}}",
     ""},
    {"{ep: 2, pp: 2, dp: 2}",
     "{pipeline: {schedule: zb_h1, microbatches: 4, data_parallel: {group: "
     "ep+dp, sharded: true}}}",
     ""},
    {"{tp: 2, ep: 2, pp: 2}",
     "{pipeline: {schedule: interleaved, virtual_stages: 2, microbatches: 4, data_parallel: "
     "{group: "
     "ep, distributed_optimizer: true, gradient_dtype: f32}}}",
     ""},
    {"{ep: 2, pp: 4, dp: 2}",
     "{pipeline: {schedule: dualpipe, microbatches: 8, data_parallel: "
     "{group: ep+dp, distributed_optimizer: true}}}",
     ""},
    {"{ep: 2, pp: 2, dp: 2}", "{pipeline: {schedule: 1f1b, microbatches: 4}, fsdp: {shard: ep+dp}}",
     ""},
    {"{ep: 2, pp: 2, dp: 2}",
     "{pipeline: {schedule: 1f1b, microbatches: 4}, ddp: {group: ep+dp, "
     "bucket_cap: 1 MiB}}",
     ""},
};

static const char *const sets[] = {
    NULL,
    "workload.model.sequence_parallel=false",
    "workload.model.recompute=full",
    "workload.model.context=all_gather",
    "workload.model.async_tp=2",
    "workload.model.kv_heads=1",
    "hardware.collectives[4].pxn=true",
};

static bool run(bench *t, const char *mesh, const char *overlap, const char *moe, const char *set)
{
    char text[4096];
    snprintf(text, sizeof text, "mesh: {axes: %s}\n" HEAD "overlap: %s\n", mesh, moe, overlap);
    bool good = lower(t, text, set) && analyse_both(t);
    for (uint32_t i = 0; i < t->errs.count && !good; i++) {
        CHECK_TEXT(ovl_err_text(&t->arena, &t->errs.items[i]), mesh);
    }
    return good;
}

static void check_same(const ovl_result *a, const ovl_result *b)
{
    CHECK_INT(a->step, b->step);
    CHECK_INT(a->deciding_rank, b->deciding_rank);
    for (int i = 0; i < OVL_TERM_COUNT; i++) {
        CHECK_INT(a->term[i], b->term[i]);
    }
    CHECK_INT(a->without_interference, b->without_interference);
    CHECK_INT(a->reserved_peak, b->reserved_peak);
    CHECK_INT(a->gradients_proved, b->gradients_proved);
    CHECK(a->gradient_digest == b->gradient_digest);
    CHECK_INT(a->n_resources, b->n_resources);
    for (uint32_t i = 0; i < OVL_MIN(a->n_resources, b->n_resources); i++) {
        CHECK_INT(a->resources[i].total, b->resources[i].total);
        CHECK_INT(a->resources[i].busy, b->resources[i].busy);
    }
}

/* Classes are the same, and so is what each holds. */
static void check_memory(const ovl_result *a, const ovl_result *b)
{
    CHECK_INT(a->n_ranks, b->n_ranks);
    for (uint32_t i = 0; i < OVL_MIN(a->n_ranks, b->n_ranks); i++) {
        CHECK_INT(a->ranks[i].rank, b->ranks[i].rank);
        CHECK_INT(a->ranks[i].count, b->ranks[i].count);
        CHECK_INT(a->ranks[i].live_peak, b->ranks[i].live_peak);
        CHECK_INT(a->ranks[i].allocated_peak, b->ranks[i].allocated_peak);
        CHECK_INT(a->ranks[i].reserved_peak, b->ranks[i].reserved_peak);
    }
}

/* Who is to blame for idle time does not depend on who was looked at. */
static void check_blames(const ovl_result *a, const ovl_result *b)
{
    CHECK_INT(a->idle.n_blames, b->idle.n_blames);
    for (uint32_t i = 0; i < OVL_MIN(a->idle.n_blames, b->idle.n_blames); i++) {
        CHECK_INT(a->idle.blames[i].time, b->idle.blames[i].time);
        CHECK_TEXT(a->idle.blames[i].text, b->idle.blames[i].text);
    }
}

/* What leaves on links of a name arrives on them, but for `parts` bytes that rates are rounded
 * by. */
static void check_conserved(const ovl_result *r, double parts)
{
    for (uint32_t i = 0; i < r->n_resources; i++) {
        const char *out = strstr(r->resources[i].name, ".out");
        for (uint32_t k = 0; out && k < r->n_resources; k++) {
            size_t n = (size_t)(out - r->resources[i].name);
            if (strncmp(r->resources[k].name, r->resources[i].name, n) == 0 &&
                strcmp(r->resources[k].name + n, ".in") == 0) {
                CHECK_NEAR((double)r->resources[i].total, (double)r->resources[k].total, parts);
            }
        }
    }
}

static void folded_is_unfolded(void)
{
    bench t = {0};
    for (uint32_t i = 0; i < OVL_COUNT(meshes); i++) {
        for (uint32_t k = 0; k < OVL_COUNT(sets); k++) {
            if (run(&t, meshes[i].mesh, meshes[i].overlap, "", sets[k])) {
                check_same(&t.result, &t.whole);
                check_blames(&t.result, &t.whole);
                check_memory(&t.result, &t.whole);
                check_conserved(&t.whole, 0);
                CHECK_INT(t.whole.n_hazards, 0);
                CHECK(t.result.n_folded > 0);
            }
            finish(&t);
        }
    }
}

static void folded_is_unfolded_with_experts(void)
{
    bench t = {0};
    for (uint32_t i = 0; i < OVL_COUNT(expert_meshes); i++) {
        for (uint32_t k = 0; k < 2; k++) {
            char moe[200];
            snprintf(moe, sizeof moe, ", moe: {experts: 8, top_k: 2, ffn_hidden: 256, shared: 1%s}",
                     expert_meshes[i].moe);
            if (run(&t, expert_meshes[i].mesh, expert_meshes[i].overlap, moe,
                    k ? "workload.model.recompute=full" : NULL)) {
                check_same(&t.result, &t.whole);
                check_blames(&t.result, &t.whole);
                check_memory(&t.result, &t.whole);
                check_conserved(&t.whole, 1000);
                CHECK_INT(t.whole.n_hazards, 0);
            }
            finish(&t);
        }
    }
}

static CU_TestInfo tests[] = {
    {"folded is unfolded with experts", folded_is_unfolded_with_experts},
    {"folded is unfolded for every pair of axes", folded_is_unfolded},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("laws of meshes", tests);
}
