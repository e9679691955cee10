/* Buffers and activations that are a list of sizes, one for each rank. */
#include "tests/support/lowering.h"

/* Of two buffers on three ranks one has its own bytes on each. */
static void a_list_of_sizes_is_by_rank(void)
{
    bench t = {0};
    const char *text = "mesh: {axes: {dp: 3}}\n"
                       "workload:\n"
                       "  buffers:\n"
                       "    kept: {bytes: [1 MB, 0 B, 3 MB], category: activation}\n"
                       "    same: {bytes: [2 MB], category: activation}\n"
                       "  ops: [{kernel: a, duration: 1 ms, writes: [kept, same]}]\n";
    CHECK(lower(&t, text, NULL));
    CHECK_INT(t.p->n_sizes, 3);
    CHECK_INT(code_of(&t, 0)->buffers[0].bytes, 3000000);
    CHECK_INT(bytes_in(&t, 0, OVL_ACTIVATION), 3000000);
    CHECK_INT(bytes_in(&t, 1, OVL_ACTIVATION), 2000000);
    CHECK_INT(bytes_in(&t, 2, OVL_ACTIVATION), 5000000);
    CHECK(analyse_both(&t));
    CHECK_INT(t.result.n_ranks, 3);
    CHECK_INT(t.result.ranks[1].live_peak, 2000000);
    CHECK_INT(t.whole.ranks[2].live_peak, 5000000);
    CHECK(!lower(&t, text, "workload.buffers.kept.bytes=[1 MB, 2 MB]"));
    CHECK_HAS(mistake(&t), "\"kept\" gives 2 sizes for 3 ranks; give one, or one for each rank");
    CHECK(!lower(&t, text, "workload.buffers.kept.bytes=[0 B, 0 B, 0 B]"));
    CHECK_HAS(mistake(&t), "bytes: all sizes are 0");
    CHECK(!lower(&t, text, "workload.buffers.kept.bytes=[]"));
    CHECK_HAS(mistake(&t), "bytes: the list is empty");
    finish(&t);
}

#define LAYERS                                                                                     \
    "mesh: {axes: {dp: 4}}\n"                                                                      \
    "hardware: {collectives: [{op: all_gather, alpha: 1 ms}, {op: all_reduce, alpha: 1 ms}, {op: " \
    "reduce_scatter, alpha: 1 ms}]}\n"                                                             \
    "workload:\n"                                                                                  \
    "  layers: [{name: block, repeat: 4, params: 4 MiB, forward: 3 ms, backward: 6 ms, "           \
    "activations: %s%s}]\n"                                                                        \
    "  offload: {d2h: 5 MB/ms, h2d: 5 MB/ms}\n"                                                    \
    "overlap: {%s}\n"

static bool lower_layers(bench *t, const char *sizes, const char *more, const char *overlap)
{
    char text[1000];
    snprintf(text, sizeof text, LAYERS, sizes, more, overlap);
    return lower(t, text, NULL);
}

/* 10, 20, 30 and 40 MB of four layers each; without the list 40 on every rank. */
static void each_rank_keeps_its_own(void)
{
    static const char *const overlaps[] = {"fsdp: {}", "ddp: {}", "zero: {stage: 3}"};
    bench t = {0};
    for (uint32_t i = 0; i < OVL_COUNT(overlaps); i++) {
        CHECK(lower_layers(&t, "40 MB", "", overlaps[i]) && analyse(&t));
        CHECK_INT(t.result.n_ranks, 1);
        uint64_t all = t.result.ranks[0].live_peak;
        CHECK(lower_layers(&t, "[10 MB, 20 MB, 30 MB, 40 MB]", "", overlaps[i]));
        CHECK(analyse_both(&t));
        CHECK_INT(t.result.n_ranks, 4);
        for (uint32_t r = 0; r < OVL_MIN(t.result.n_ranks, 4); r++) {
            CHECK_INT(t.result.ranks[r].live_peak, all - (uint64_t)(3 - r) * 4 * 10000000);
            CHECK_INT(t.whole.ranks[r].live_peak, t.result.ranks[r].live_peak);
        }
    }
    finish(&t);
}

static void where_one_size_is_needed_that_is_said(void)
{
    bench t = {0};
    const char *list = "[1 MB, 1 MB, 1 MB, 2 MB]";
    CHECK(!lower_layers(&t, list, ", offload: true", "fsdp: {}"));
    CHECK_HAS(mistake(&t), "is offloaded: what it keeps has one size, not one for each rank");
    CHECK(!lower_layers(&t, list, "", "pipeline: {group: dp, schedule: gpipe, microbatches: 4}"));
    CHECK_HAS(mistake(&t), "of a pipeline has one size of activations, not one for each rank");
    CHECK(!lower_layers(&t, "[1 MB, 2 MB]", "", "fsdp: {}"));
    CHECK_HAS(mistake(&t), "gives 2 sizes for 4 ranks");
    finish(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a list of sizes is by rank", a_list_of_sizes_is_by_rank},
        {"each rank keeps its own", each_rank_keeps_its_own},
        {"where one size is needed that is said", where_one_size_is_needed_that_is_said},
        CU_TEST_INFO_NULL,
    };
    return check_main("sizes by rank", tests);
}
