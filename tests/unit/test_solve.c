#include "tests/support/last_bucket.h"
#include "tools/solve.h"

#include <math.h>

static ovl_solve solved(const ovl_sweep *s, const char *key, const char *target, const char *range)
{
    ovl_errs errs = {.arena = &arena};
    ovl_solve q = {.of = s};
    CHECK(ovl_solve_read(&q, key, target, range, &arena, &errs));
    ovl_solve_run(&q, &arena, &errs);
    return q;
}

/* The backward: late is there at 210 and reduced until 217; 6 ms of transfer cost 1.2, so 300 is
 * 298.8 + 1.2. The bucket, 210 + alpha + 96 MiB / beta: planted 24 MiB/ms gives 215, alpha 3.25 ms
 * gives 219.25. "215 ms" is 214.5 to 215.5, which is 96 / 3.5 down to 96 / 4.5 MiB/ms. */
static void what_was_planted_comes_back(void)
{
    const ovl_sweep *s = start_of(LAST_BUCKET ONE_BUCKET);
    ovl_solve q = solved(s, "hardware.collectives[0].beta", "step=215 ms", NULL);
    CHECK_INT(q.end, OVL_SOLVE_MET);
    CHECK_INT(q.n_crossings, 1);
    CHECK(q.monotone);
    CHECK_INT(q.now, 217 * OVL_MS);
    CHECK_TEXT(ovl_solve_value(&q, q.crossings[0].value, &arena), "24 MiB/ms");
    CHECK_INT(q.crossings[0].figure, 215 * OVL_MS);
    CHECK_NEAR(q.crossings[0].low, 96 / 4.5, 1e-6);
    CHECK_NEAR(q.crossings[0].high, 96 / 3.5, 1e-6);
    q = solved(s, "hardware.collectives[0].alpha", "step = 219.25 ms", NULL);
    CHECK_INT(q.end, OVL_SOLVE_MET);
    CHECK_TEXT(ovl_solve_value(&q, q.crossings[0].value, &arena), "3.25 ms");
    q = solved(s, "workload.backward", "step=300 ms", "211 ms..400 ms");
    CHECK_TEXT(ovl_solve_value(&q, q.crossings[0].value, &arena), "298.8 ms");
}

/* Four layers, fully sharded, gathers ahead: bandwidth, latency and a layer's time planted and
 * found again. The step is that of the planted scenario, asked for to its last picosecond. */
#define SHARDED                                                                                    \
    "params: {link: 40 GB/s, latency: 20 us, forward: 3 ms}\n"                                     \
    "hardware:\n"                                                                                  \
    "  gpu: {name: example}\n"                                                                     \
    "  links: {nic: {bandwidth: $link, latency: $latency, scope: gpu}}\n"                          \
    "  collectives:\n"                                                                             \
    "    - {op: all_gather, via: [nic], algorithm: ring}\n"                                        \
    "    - {op: reduce_scatter, via: [nic], algorithm: ring}\n"                                    \
    "mesh: {axes: {dp: 8}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  layers: [{name: layer, repeat: 4, params: 256 MiB, forward: $forward, backward: 6 ms}]\n"   \
    "overlap: {fsdp: {shard: dp, prefetch: {forward: 1, backward: 1}}}\n"

static void planted_links_and_layers_come_back(void)
{
    static const struct {
        const char *key, *planted, *text;
        double value;
    } cases[] = {{"params.link", "params.link=31.25 GB/s", "GB/s", 31.25},
                 {"params.latency", "params.latency=333 us", "us", 333},
                 {"params.forward", "params.forward=7.125 ms", "ms", 7.125}};
    const ovl_sweep *s = start_of(SHARDED);
    for (uint32_t i = 0; i < OVL_COUNT(cases); i++) {
        const char *target =
            ovl_arena_printf(&arena, "step=%" PRId64 " ps", step_with(s, cases[i].planted));
        ovl_solve q = solved(s, cases[i].key, target, NULL);
        CHECK_INT(q.end, OVL_SOLVE_MET);
        CHECK_NEAR(q.crossings[0].value / cases[i].value, 1, 1e-6);
        CHECK_HAS(ovl_solve_value(&q, q.crossings[0].value, &arena), cases[i].text);
    }
}

/* The copy-in of late takes 1 ms: it must be over when g1 is ready (194) or begin behind g5 (202),
 * and be over when the backward is (210): late can be ready up to 193 and from 202 to 209. The
 * bucket is sent behind it, 7 ms: 206 + 1 + 7 = 214, which neither the least nor the most of the
 * looks over 2.09 ms .. 20.9 s shows. */
static void what_cannot_be_simulated_is_named_and_the_rest_searched(void)
{
    const ovl_sweep *s = start_of(LAST_BUCKET ONE_BUCKET);
    ovl_solve q = solved(s, "workload.gradients[6].ready", "step=214 ms", NULL);
    CHECK_INT(q.end, OVL_SOLVE_MET);
    CHECK_INT(q.n_crossings, 1);
    CHECK_TEXT(ovl_solve_value(&q, q.crossings[0].value, &arena), "206 ms");
    CHECK_INT(q.n_gaps, 2);
    CHECK_NEAR(q.gaps[0].low, 193, 1e-5);
    CHECK_NEAR(q.gaps[0].high, 202, 1e-5);
    CHECK_HAS(q.gaps[0].error, "copy-in kernels before it run until");
    CHECK_NEAR(q.gaps[1].low, 209, 1e-5);
    CHECK(q.gaps[1].high_open && !q.gaps[0].high_open);
    CHECK_HAS(q.gaps[1].error, "is not ready and copied in when the backward ends");
    /* Nothing gives 218: the most is 217, where the part that can be simulated ends. */
    q = solved(s, "workload.gradients[6].ready", "step=218 ms", NULL);
    CHECK_INT(q.end, OVL_SOLVE_NOT_MET);
    CHECK_INT(q.nearest.figure, 217 * OVL_MS);
    CHECK_NEAR(q.last, 209, 1e-5);
}

static void no_value_does(void)
{
    const ovl_sweep *s = start_of(LAST_BUCKET ONE_BUCKET);
    ovl_solve q = solved(s, "hardware.collectives[0].beta", "step=100 ms", NULL);
    CHECK_INT(q.end, OVL_SOLVE_NOT_MET);
    CHECK(q.least > 210 * OVL_MS);
    q = solved(s, "hardware.gpu.hbm", "step=100 ms", "1 TB/s..4 TB/s");
    CHECK_INT(q.end, OVL_SOLVE_FLAT);
    CHECK_INT(q.nearest.figure, 217 * OVL_MS);
}

/* 210 + 1 ms and 96 MiB at up to 1600 MiB/ms: 0.06 ms. What is asked for is out of reach, and the
 * nearest is where the range ends. */
static void out_of_reach_the_nearest_is_told(void)
{
    const ovl_sweep *s = start_of(LAST_BUCKET ONE_BUCKET);
    ovl_solve q = solved(s, "hardware.collectives[0].beta", "step=100 ms", NULL);
    CHECK_INT(q.end, OVL_SOLVE_NOT_MET);
    CHECK_INT(q.nearest.figure, 211060 * OVL_US);
    CHECK_NEAR(q.nearest.value, 1600, 1e-9);
    CHECK(q.nearest.high_open && !q.nearest.low_open);
    q = solved(s, "hardware.collectives[0].beta", "step=211.06 ms", NULL); /* the least is met */
    CHECK_INT(q.end, OVL_SOLVE_MET);
    CHECK(q.crossings[0].high_open);
}

/* In the order of the list 16, 16, 16, ...: caps that hold two of 16 but not three all give the
 * same buckets, so what a cap of 40 MiB gives every cap up to 48 MiB does. A size is a whole number
 * of bytes, half a byte more is rounded. */
static void a_level_is_a_range_with_halved_ends(void)
{
    const ovl_sweep *s = start_of(LAST_BUCKET);
    const char *target = ovl_arena_printf(&arena, "step=%" PRId64 " ps",
                                          step_with(s, "overlap={ddp: {bucket_cap: 40 MiB}}"));
    ovl_solve q = solved(s, "overlap.ddp.bucket_cap", target, "33 MiB..100 MiB");
    CHECK_INT(q.end, OVL_SOLVE_MET);
    CHECK(q.crossings[0].level);
    CHECK(q.crossings[0].low_open && !q.crossings[0].high_open);
    CHECK_NEAR(q.crossings[0].low, 33, 1e-9);
    CHECK_NEAR(q.crossings[0].high, 48, 1e-6);
}

/* What is wrong with the question is an error of the command line, not an answer. */
static void a_wrong_key_is_an_error(void)
{
    static const char *const cases[][3] = {
        {"hardware.gpu.hmb", "1 TB/s..4 TB/s", "did you mean \"hbm\"?"},
        {"hardware.gpu.hbm", "1 ms..4 ms", "hbm"},
    };
    const ovl_sweep *s = start_of(LAST_BUCKET ONE_BUCKET);
    for (size_t i = 0; i < OVL_COUNT(cases); i++) {
        ovl_errs errs = {.arena = &arena};
        ovl_solve q = {.of = s};
        CHECK(ovl_solve_read(&q, cases[i][0], "step=100 ms", cases[i][1], &arena, &errs));
        ovl_solve_run(&q, &arena, &errs);
        CHECK_INT(q.end, OVL_SOLVE_FAILED);
        CHECK_INT(errs.count, 1);
        CHECK_INT(ovl_errs_status(&errs), OVL_E_USAGE);
        CHECK_HAS(errs.items[0].text, cases[i][2]);
    }
}

/* Two microbatches take twice 210 ms, and what is behind them: the key counts. What three give is
 * met by three and no other; 2 ms more is met by none, and three are the nearest. */
static void keys_that_count(void)
{
    const ovl_sweep *s = start_of(LAST_BUCKET ONE_BUCKET);
    int64_t three = step_with(s, "workload.microbatches=3");
    ovl_solve q = solved(s, "workload.microbatches",
                         ovl_arena_printf(&arena, "step=%" PRId64 " ps", three), "1..16");
    CHECK(q.whole);
    CHECK_INT(q.end, OVL_SOLVE_MET);
    CHECK_TEXT(ovl_solve_value(&q, q.crossings[0].value, &arena), "3");
    CHECK_NEAR(q.crossings[0].low, 3, 1e-9);
    CHECK_NEAR(q.crossings[0].high, 3, 1e-9);
    q = solved(s, "workload.microbatches",
               ovl_arena_printf(&arena, "step=%" PRId64 " ms", three / OVL_MS + 2), "1..16");
    CHECK_INT(q.end, OVL_SOLVE_NOT_MET);
    CHECK_TEXT(ovl_solve_value(&q, q.nearest.value, &arena), "3");
    CHECK_INT(q.nearest.figure, three);
}

static void wrong_questions(void)
{
    ovl_errs errs = {.arena = &arena};
    const ovl_sweep *s = start_of(LAST_BUCKET ONE_BUCKET);
    ovl_solve q = {.of = s};
    CHECK(!ovl_solve_read(&q, "hardware.gpu.hbm", "step=1 ms", NULL, &arena, &errs));
    CHECK_HAS(errs.items[0].text, "no number at \"hardware.gpu.hbm\"");
    CHECK(!ovl_solve_read(&q, "workload.backward", "step<1 ms", NULL, &arena, &errs));
    CHECK_HAS(errs.items[1].text, "a value to be met");
    CHECK(!ovl_solve_read(&q, "workload.backward", "step=1 ms", "3", &arena, &errs));
    CHECK_HAS(errs.items[2].text, "a range");
}

static CU_TestInfo tests[] = {
    {"the inverse gives what was planted", what_was_planted_comes_back},
    {"planted links and layers come back", planted_links_and_layers_come_back},
    {"what cannot be simulated is named, and the rest searched",
     what_cannot_be_simulated_is_named_and_the_rest_searched},
    {"no value is no answer", no_value_does},
    {"out of reach, the nearest is told", out_of_reach_the_nearest_is_told},
    {"a level is a range with halved ends", a_level_is_a_range_with_halved_ends},
    {"a wrong key is an error", a_wrong_key_is_an_error},
    {"a key that counts has whole values", keys_that_count},
    {"wrong questions are told", wrong_questions},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    int status = check_main("solve", tests);
    ovl_arena_free(&arena);
    return status;
}
