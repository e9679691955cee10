/*
 * What is announced before a run is never less than what is held at once while it is simulated and
 * asked about, and not absurdly more.
 */
#include "sim/announce.h"
#include "sim/tally.h"
#include "tests/support/lowering.h"

#define MACHINE                                                                                    \
    "name: s\n"                                                                                    \
    "hardware:\n"                                                                                  \
    "  gpu: {name: g, hbm: 2 TB/s, sms: 108, memory: 80 GB}\n"                                     \
    "  links: {nvlink: {bandwidth: 300 GB/s, latency: 1 us, scope: gpu}}\n"

static bool ask(bench *t, ovl_worth worth, uint64_t memory, ovl_result *result)
{
    const ovl_analyse_options options = {.interference = (ovl_interference)t->scenario.interference,
                                         .worth = worth,
                                         .memory = memory,
                                         .stats = true,
                                         .scenario = "s"};
    return ovl_analyse(t->p, &options, &t->arena, result, NULL, &t->errs);
}

/* In the most that was held, what the program took to be made is left out. */
static void check(const char *text)
{
    static const ovl_worth worths[] = {OVL_WORTH_NONE, OVL_WORTH_DEFAULT};
    for (uint32_t i = 0; i < OVL_COUNT(worths); i++) {
        bench t;
        memset(&t, 0, sizeof t);
        CHECK(lower(&t, text, NULL));
        ovl_tally_from_here();
        CHECK(ask(&t, worths[i], 0, &t.result));
        const ovl_result_stats *stats = &t.result.stats;
        CHECK(stats->held > 0 && stats->held == ovl_tally_peak());
        CHECK(stats->announced >= stats->held);
        CHECK(stats->announced <= 4 * stats->held);
        finish(&t);
    }
}

static void of_kernels(void)
{
    check(MACHINE "workload:\n"
                  "  ranks: 1\n"
                  "  ops:\n"
                  "    - repeat: 40000\n"
                  "      ops: [{kernel: 'a{i}', duration: 100 us}]\n");
}

static void of_collectives(void)
{
    check(MACHINE "workload:\n"
                  "  ranks: 2\n"
                  "  groups: {dp: all}\n"
                  "  ops:\n"
                  "    - repeat: 20000\n"
                  "      ops:\n"
                  "        - {kernel: 'a{i}', duration: 100 us}\n"
                  "        - {collective: 'r{i}', op: all_reduce, group: dp, bytes: 1 MiB,"
                  " duration: 50 us, via: [nvlink], after: ['a{i}']}\n");
}

/* Nothing is alike, and all shares. */
static void of_ranks_that_differ(void)
{
    check(MACHINE "workload:\n"
                  "  ranks: 2\n"
                  "  groups: {dp: all}\n"
                  "  ops:\n"
                  "    - repeat: 5000\n"
                  "      ops:\n"
                  "        - {kernel: 'a{i}', duration: [100 us, 101 us], hbm: 0.15 GB}\n"
                  "        - {collective: 'r{i}', op: all_reduce, group: dp, bytes: 16 MiB,"
                  " duration: 150 us, via: [nvlink], sms: 16, hbm_factor: 2.5, after: ['a{i}']}\n"
                  "        - {kernel: 'b{i}', duration: 120 us, hbm: 0.2 GB, after: ['r{i}']}\n");
}

static void of_messages(void)
{
    check(MACHINE "workload:\n"
                  "  ranks: 2\n"
                  "  groups: {g: all}\n"
                  "  ops:\n"
                  "    - repeat: 10000\n"
                  "      ops:\n"
                  "        - {kernel: 'a{i}', ranks: [0], duration: 100 us}\n"
                  "        - {send: 's{i}', ranks: [0], to: 1, bytes: 1 MiB, duration: 50 us,"
                  " via: [nvlink], after: ['a{i}']}\n"
                  "        - {recv: 's{i}', ranks: [1], from: 0, bytes: 1 MiB}\n"
                  "        - {kernel: 'b{i}', ranks: [1], duration: 90 us, after: ['s{i}']}\n");
}

static void of_a_pipeline(void)
{
    check("name: s\n"
          "hardware:\n"
          "  gpu: {name: g, memory: 80 GB}\n"
          "  collectives: [{op: send_recv, group: pp, alpha: 10 us, beta: 300 MB/ms}]\n"
          "mesh: {axes: {pp: 16}}\n"
          "workload:\n"
          "  stages:\n"
          "    - {name: block, repeat: 16, forward: 2 ms, backward: 4 ms, activations: 512 MiB,"
          " transfer: 16 MiB, params: 100 MiB}\n"
          "  optimizer: {duration: 0.5 ms, states: 200 MiB}\n"
          "overlap: {pipeline: {schedule: 1f1b, microbatches: 256}}\n");
}

/* Without an optimizer what the next step gathers waits for all of the step before. */
static void of_steps(void)
{
    check("name: s\n"
          "hardware:\n"
          "  gpu: {name: g, memory: 80 GB}\n"
          "  host: {launch: 10 us}\n"
          "  collectives: [{op: all_gather, alpha: 2 ms}, {op: reduce_scatter, alpha: 3 ms}]\n"
          "mesh: {axes: {dp: 8}}\n"
          "workload:\n"
          "  dtype: bf16\n"
          "  steps: 6\n"
          "  layers: [{name: layer, repeat: 200, params: 2 MiB, forward: 3 ms, backward: 6 ms}]\n"
          "overlap: {fsdp: {policy: fsdp1, backward_prefetch: post, limit_all_gathers: 2}}\n");
}

static void less_is_refused(void)
{
    bench t;
    ovl_result r;
    memset(&t, 0, sizeof t);
    CHECK(lower(&t, MACHINE "workload: {ops: [{kernel: a, duration: 1 ms}]}\n", NULL));
    ovl_tally_from_here();
    CHECK(ask(&t, OVL_WORTH_NONE, 0, &r));
    uint64_t announced = r.stats.announced;
    CHECK(announced > ovl_announce(t.p, &(ovl_analyse_options){.worth = OVL_WORTH_NONE}));
    CHECK(!ask(&t, OVL_WORTH_NONE, announced / 2, &r));
    CHECK(t.errs.count == 1 && t.errs.items[0].code == OVL_E_INPUT);
    CHECK(ask(&t, OVL_WORTH_NONE, 2 * announced, &r));
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"of kernels", of_kernels},
    {"of collectives", of_collectives},
    {"of ranks that differ", of_ranks_that_differ},
    {"of messages", of_messages},
    {"of a pipeline", of_a_pipeline},
    {"of steps", of_steps},
    {"less is refused", less_is_refused},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("announce", tests);
}
