#include "models/node_text.h"
#include "tests/support/last_bucket.h"
#include "tests/support/random_program.h"
#include "tools/optimize.h"

/* Four gradients, the second of which is large and the last of which is early. */
#define FOUR                                                                                       \
    "hardware:\n"                                                                                  \
    "  gpu: {name: example}\n"                                                                     \
    "  collectives: [{op: all_reduce, group: dp, alpha: 1 ms, beta: 16 MiB/ms}]\n"                 \
    "mesh: {axes: {dp: 8}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  backward: 20 ms\n"                                                                          \
    "  gradients:\n"                                                                               \
    "    - {name: a, bytes: 16 MiB, ready: 2 ms}\n"                                                \
    "    - {name: b, bytes: 160 MiB, ready: 4 ms}\n"                                               \
    "    - {name: c, bytes: 16 MiB, ready: 18 ms}\n"                                               \
    "    - {name: d, bytes: 32 MiB, ready: 3 ms}\n"                                                \
    "interference: none\n"

static ovl_optimize searched(const ovl_sweep *start, uint32_t tries, bool buckets)
{
    ovl_errs errs = {.arena = &arena};
    ovl_optimize o = {.start = start,
                      .buckets = buckets,
                      .tries = tries,
                      .seed = 1,
                      .threads = 2,
                      .arena = &arena};
    CHECK(ovl_optimize_run(&o, &errs));
    CHECK_INT(errs.errors, 0);
    return o;
}

static int64_t best_step(const ovl_optimize *o)
{
    return o->best[0].point.figures.value[OVL_M_STEP];
}

/* Of base 217, 80 + 16 213, 48 + 48 214.6 and late alone 212.4 the best is the last; equation
 * 212.4 = 211.15 + 1.25. */
static void the_best_of_given_alternatives(void)
{
    ovl_errs errs = {.arena = &arena};
    ovl_result r;
    ovl_sweep *s = start_of(
        LAST_BUCKET "overlap: {ddp: {buckets: [[g1, g2, g3, g4, g5, a, late]]}}\n"
                    "sweep: {overlap.ddp.buckets: [[[g1, g2, g3, g4, g5], [a, late]], [[g1, "
                    "g2, g3], [g4, g5, a, late]], [[g1, g2, g3, g4, g5, a], [late]]]}\n");
    const ovl_axis_words none = {0};
    CHECK(ovl_axes_read(s->doc, &none, &s->axes, &arena, &errs));
    ovl_optimize o = searched(s, 100, false);
    CHECK_INT(o.first.point.figures.value[OVL_M_STEP], 217 * OVL_MS);
    CHECK_INT(best_step(&o), 212400 * OVL_US);
    CHECK(ovl_optimize_gains(&o));
    CHECK_TEXT(ovl_candidate_yaml(&o, &o.best[0], &arena),
               "{overlap.ddp.buckets: [[g1, g2, g3, g4, g5, a], [late]]}");
    CHECK(ovl_candidate_result(&o, &o.best[0], OVL_WORTH_NONE, &r, &arena, &errs));
    CHECK_INT(r.equation.u_path, 211150 * OVL_US);
    CHECK_INT(r.equation.exposed, 1250 * OVL_US);
}

/* All 64 splits, by a loop of its own; the answer is as good as the best of them, and as what is
 * found in any order. The bound: late is ready at 210 and takes 1.25. */
static void every_split_agrees(void)
{
    static const char *const names[] = {"g1", "g2", "g3", "g4", "g5", "a", "late"};
    const ovl_sweep *s =
        start_of(LAST_BUCKET "overlap: {ddp: {buckets: [[g1, g2, g3, g4, g5, a, late]]}}\n");
    ovl_time best = OVL_NEVER;
    for (uint32_t mask = 0; mask < 64; mask++) {
        const char *text = "overlap.ddp.buckets=[[";
        for (uint32_t i = 0; i < 7; i++) {
            text = ovl_arena_printf(&arena, "%s%s%s", text, names[i],
                                    i == 6          ? "]]"
                                    : mask >> i & 1 ? "], ["
                                                    : ", ");
        }
        ovl_time step = step_with(s, text);
        best = OVL_MIN(best, step);
    }
    ovl_optimize o = searched(s, 400, true);
    CHECK_HAS(o.searched[0], "all 64 splits of 7 gradients in their order: exact");
    CHECK_INT(best, 212400 * OVL_US);
    CHECK(best_step(&o) <= best);
    CHECK_INT(o.bound, 211250 * OVL_US);
    CHECK(o.bound <= best);
}

/* 75 ways to put four gradients into a row of buckets. Waiting with b (11 ms) until c is there
 * costs; so does c behind b. The best sends d and a before b, and c alone: c is ready at 18, its
 * 2 ms end at 20 if nothing is before it: 4 + 14 (a, b, d: 208 MiB) = 18. */
static void every_order_agrees(void)
{
    const ovl_sweep *s = start_of(FOUR "overlap: {ddp: {buckets: [[a, b, c, d]]}}\n");
    ovl_optimize o = searched(s, 100, true);
    CHECK_HAS(o.searched[0], "all 75 ways to put 4 gradients into buckets in any order: exact");
    CHECK_INT(best_step(&o), 20 * OVL_MS);
    CHECK_INT(o.bound, 20 * OVL_MS);
    /* Where not all orders may be tried, annealing finds one as good. */
    ovl_optimize other = searched(s, 74, true);
    CHECK_HAS(other.searched[1], "in the order in which they become ready");
    CHECK_HAS(other.searched[2], "annealing");
    CHECK_INT(best_step(&other), 20 * OVL_MS);
}

/* --- Exhaustive search, by loops of their own --- */

/* Gradients that are not in order of readiness, each of 1 to 64 MiB. */
typedef struct planted {
    uint32_t n;
    uint32_t mib[12], ready_ms[12];
} planted;

static planted plant(uint32_t n, uint64_t seed)
{
    planted p = {.n = n};
    for (uint32_t i = 0; i < n; i++) {
        p.mib[i] = 1 + random_next(&seed) % 64;
        p.ready_ms[i] = 1 + random_next(&seed) % 40;
    }
    return p;
}

static ovl_sweep *start_of_planted(const planted *p, const char *interference)
{
    const char *list = "", *bucket = "";
    for (uint32_t i = 0; i < p->n; i++) {
        list = ovl_arena_printf(&arena, "%s    - {name: g%u, bytes: %u MiB, ready: %u ms}\n", list,
                                i, p->mib[i], p->ready_ms[i]);
        bucket = ovl_arena_printf(&arena, "%s%sg%u", bucket, i ? ", " : "", i);
    }
    return start_of(ovl_arena_printf(
        &arena,
        "hardware:\n"
        "  gpu: {name: example}\n"
        "  collectives: [{op: all_reduce, group: dp, alpha: 1 ms, beta: 16 MiB/ms}]\n"
        "  interference:\n"
        "    - {kernel: backward, collective: all_reduce, kernel_factor: 1.25, collective_factor: "
        "1}\n"
        "mesh: {axes: {dp: 8}}\n"
        "workload:\n"
        "  backward: 40 ms\n"
        "  gradients:\n%s"
        "interference: %s\n"
        "overlap: {ddp: {buckets: [[%s]]}}\n",
        list, interference, bucket));
}

/* The earliest end over every set of buckets in every order: of each set of gradients that are
 * reduced, the last bucket may be any part of it. In units of 1/16 ms: 1 MiB takes 1, alpha 16. */
static uint32_t earliest_end(const planted *p)
{
    static uint32_t end[1 << 12], size[1 << 12], ready[1 << 12];
    for (uint32_t set = 1; set < UINT32_C(1) << p->n; set++) {
        uint32_t i = 0;
        while (!(set >> i & 1)) {
            i++;
        }
        uint32_t rest = set & (set - 1);
        size[set] = size[rest] + p->mib[i];
        ready[set] = OVL_MAX(ready[rest], 16 * p->ready_ms[i]);
        end[set] = UINT32_MAX;
        for (uint32_t last = set; last; last = (last - 1) & set) {
            uint32_t at = OVL_MAX(end[set & ~last], ready[last]) + 16 + size[last];
            end[set] = OVL_MIN(end[set], at);
        }
    }
    return end[(UINT32_C(1) << p->n) - 1];
}

/* 8 gradients have 545,835 rows of buckets, 12 have 2.8e13; all of them are looked through here, as
 * 3^n pairs of a set and its last bucket, and the search finds a step as short. The step is at
 * least the backward, 40 ms. */
static void every_set_of_buckets_in_every_order_agrees(void)
{
    for (uint32_t n = 8; n <= 12; n++) {
        for (uint64_t seed = 1; seed <= 2; seed++) {
            const planted p = plant(n, 100 * n + seed);
            const ovl_sweep *s = start_of_planted(&p, "none");
            ovl_optimize o = searched(s, 200, true);
            CHECK_INT(best_step(&o), OVL_MAX(40 * OVL_MS, earliest_end(&p) * (OVL_MS / 16)));
            CHECK(o.bound <= best_step(&o));
        }
    }
}

/* With interference that was measured each of the 128 to 2,048 splits in order is simulated by a
 * loop of its own; what the search finds is as good as the best of them, and no split in the order
 * of the file that it says it tried is better. */
static void every_split_of_more_gradients_agrees(void)
{
    for (uint32_t n = 8; n <= 12; n += 2) {
        const planted p = plant(n, n);
        const ovl_sweep *s = start_of_planted(&p, "measured");
        ovl_time best = OVL_NEVER;
        for (uint32_t mask = 0; mask < UINT32_C(1) << (n - 1); mask++) {
            ovl_arena scratch = {0};
            const char *text = "overlap.ddp.buckets=[[";
            for (uint32_t i = 0; i < n; i++) {
                const char *end = i + 1 == n ? "]]" : mask >> i & 1 ? "], [" : ", ";
                text = ovl_arena_printf(&scratch, "%sg%u%s", text, i, end);
            }
            best = OVL_MIN(best, step_with(s, text));
            ovl_arena_free(&scratch);
        }
        ovl_optimize o = searched(s, 40 + (2 << n), true);
        CHECK_HAS(o.searched[0], "gradients in their order: exact");
        CHECK(best_step(&o) <= best);
        /* Among the best that are kept is the best split in the order of the file, unless others
         * are better still. */
        bool found = false, full = o.n_best == OVL_OPT_RIVALS;
        for (uint32_t i = 0; i < o.n_best; i++) {
            found |= o.best[i].point.figures.value[OVL_M_STEP] == best;
        }
        CHECK(found || (full && o.best[o.n_best - 1].point.figures.value[OVL_M_STEP] < best));
    }
}

static void the_seed_decides(void)
{
    const ovl_sweep *s =
        start_of(LAST_BUCKET "overlap: {ddp: {buckets: [[g1, g2, g3, g4, g5, a, late]]}}\n");
    ovl_errs errs = {.arena = &arena};
    const char *text[2];
    for (uint32_t threads = 1; threads <= 2; threads++) {
        ovl_optimize o = {.start = s,
                          .buckets = true,
                          .tries = 300,
                          .seed = 7,
                          .threads = threads * 2 - 1,
                          .arena = &arena};
        CHECK(ovl_optimize_run(&o, &errs));
        text[threads - 1] = "";
        for (uint32_t i = 0; i < o.n_best; i++) {
            text[threads - 1] = ovl_arena_printf(&arena, "%s%s\n", text[threads - 1],
                                                 ovl_candidate_yaml(&o, &o.best[i], &arena));
        }
    }
    CHECK_TEXT(text[0], text[1]);
}

/* A table that falls from 6 ms at 1 MiB to 2 at 40: q alone is ready at 10 and takes 6, and yet
 * with p in its bucket it is over at 12. What holds is the backward, 10 ms. */
#define FALLS(table, p, q)                                                                         \
    "hardware:\n"                                                                                  \
    "  gpu: {name: example}\n"                                                                     \
    "  collectives: [{op: all_reduce, group: dp, table: " table "}]\n"                             \
    "mesh: {axes: {dp: 4}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  backward: 10 ms\n"                                                                          \
    "  gradients:\n"                                                                               \
    "    - {name: p, bytes: " p ", ready: 9 ms}\n"                                                 \
    "    - {name: q, bytes: " q ", ready: 10 ms}\n"                                                \
    "interference: none\n"                                                                         \
    "overlap: {ddp: {buckets: [[p], [q]]}}\n"

static void a_table_that_falls_has_no_bound_of_gradients_alone(void)
{
    const ovl_sweep *s =
        start_of(FALLS("[[1 MiB, 6 ms], [40 MiB, 2 ms], [80 MiB, 4 ms]]", "39 MiB", "1 MiB"));
    ovl_optimize o = searched(s, 100, true);
    CHECK_INT(best_step(&o), 12 * OVL_MS);
    CHECK_INT(o.bound, 10 * OVL_MS);
    CHECK_HAS(o.bound_text, "more bytes take less time here");
    /* One that rises has the bound of p: 9 ms and, by a line in logarithms, 4^(ln 39 / ln 80)
     * = 3.187. */
    s = start_of(FALLS("[[1 MiB, 1 ms], [80 MiB, 4 ms]]", "39 MiB", "1 MiB"));
    o = searched(s, 100, true);
    CHECK_INT(o.bound, 12186749288);
}

/* Random tables, most of which fall somewhere: whatever was found is no shorter than the bound. */
static void nothing_is_shorter_than_the_bound(void)
{
    uint64_t seed = 5;
    for (int round = 0; round < 40; round++) {
        const char *table = "";
        for (uint64_t k = 0, mib = 1; k < 4; k++, mib *= 4 + random_next(&seed) % 3) {
            table = ovl_arena_printf(&arena, "%s[%d MiB, %d ms], ", table, (int)mib,
                                     (int)(1 + random_next(&seed) % 9));
        }
        const char *list = "";
        for (int i = 0; i < 3; i++) {
            list = ovl_arena_printf(&arena, "%s    - {name: g%d, bytes: %d MiB, ready: %d ms}\n",
                                    list, i, (int)(1 + random_next(&seed) % 60),
                                    (int)(1 + random_next(&seed) % 10));
        }
        const ovl_sweep *s = start_of(ovl_arena_printf(
            &arena,
            "hardware:\n"
            "  gpu: {name: example}\n"
            "  collectives: [{op: all_reduce, group: dp, extrapolate: true, table: [%s]}]\n"
            "mesh: {axes: {dp: 4}}\n"
            "workload:\n"
            "  backward: 10 ms\n"
            "  gradients:\n%s"
            "interference: none\n"
            "overlap: {ddp: {buckets: [[g0, g1, g2]]}}\n",
            table, list));
        ovl_optimize o = searched(s, 60, true);
        CHECK(o.bound == OVL_NEVER || o.bound <= best_step(&o));
    }
}

/* Layers of 8, 2 and 2 ms on two stages. */
#define PIPELINE                                                                                   \
    "hardware:\n"                                                                                  \
    "  collectives: [{op: send_recv, alpha: 0 s, beta: 1 TB/s}]\n"                                 \
    "mesh: {axes: {pp: 2}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  layers:\n"                                                                                  \
    "    - {name: x, forward: 4 ms, backward: 4 ms, params: 1 MiB, transfer: 1 MiB}\n"             \
    "    - {name: y, forward: 1 ms, backward: 1 ms, params: 1 MiB, transfer: 1 MiB}\n"             \
    "    - {name: z, forward: 1 ms, backward: 1 ms, params: 1 MiB, transfer: 1 MiB}\n"             \
    "overlap:\n"                                                                                   \
    "  pipeline: {schedule: 1f1b, microbatches: 4, layers_per_stage: [2, 1]}\n"

static ovl_optimize searched_stages(const ovl_sweep *s, uint32_t tries)
{
    ovl_errs errs = {.arena = &arena};
    ovl_optimize o = {
        .start = s, .stages = true, .tries = tries, .seed = 1, .threads = 2, .arena = &arena};
    CHECK(ovl_optimize_run(&o, &errs));
    CHECK_INT(errs.errors, 0);
    return o;
}

static void values_and_stages_are_searched_together(void)
{
    ovl_errs errs = {.arena = &arena};
    /* With [2, 1], as the start has it, z on its own stage hides behind x and y: 4 + 1 of each
     * microbatch. What x = 3.5 gains there is 0.5 a microbatch and direction, what y = 0 gains 1;
     * with [1, 2] stage 0 is x alone, and x = 3.5 is what counts. */
    ovl_sweep *s = start_of(PIPELINE "sweep: {list: [{\"workload.layers[0].forward\": 3.5 ms}, "
                                     "{\"workload.layers[1].forward\": 0.25 ms}]}\n");
    const ovl_axis_words none = {0};
    ovl_time best = OVL_NEVER;
    CHECK(ovl_axes_read(s->doc, &none, &s->axes, &arena, &errs));
    for (uint32_t i = 0; i < 4; i++) {
        ovl_sweep one = *s;
        ovl_set sets[] = {{.text = i & 1 ? "workload.layers[0].forward=3.5 ms"
                                         : "workload.layers[1].forward=0.25 ms"},
                          {.text = i & 2 ? "overlap.pipeline.layers_per_stage=[1, 2]"
                                         : "overlap.pipeline.layers_per_stage=[2, 1]"}};
        ovl_point p;
        one.sets = sets;
        one.n_sets = 2;
        one.axes = (ovl_axes){.n_points = 1};
        ovl_sweep_point(&one, 0, &p, &arena);
        best = OVL_MIN(best, p.figures.value[OVL_M_STEP]);
    }
    ovl_optimize o = searched_stages(s, 100);
    CHECK_INT(o.n_searched, 1);
    CHECK_HAS(o.searched[0],
              "all combinations of the values and the ways to put layers on stages, 4: exact");
    CHECK_INT(best_step(&o), best);
    /* Four do not fit: one part after the other, and it says so; it misses the best. */
    o = searched_stages(s, 4);
    CHECK_HAS(o.searched[o.n_searched - 1], "one part after the other");
    CHECK(best_step(&o) > best);
}

/* The backward ends at 210: of three values two fail. */
static void the_first_error_is_kept(void)
{
    ovl_errs errs = {.arena = &arena};
    ovl_sweep *s = start_of(LAST_BUCKET ONE_BUCKET
                            "sweep: {\"workload.gradients[6].ready\": [300 ms, 209 ms, 400 ms]}\n");
    const ovl_axis_words none = {0};
    CHECK(ovl_axes_read(s->doc, &none, &s->axes, &arena, &errs));
    ovl_optimize o = searched(s, 100, false);
    CHECK_INT(o.failed, 2);
    CHECK_INT(o.useless, 2);
    CHECK_HAS(o.first_error, "ready at 300 ms");
}

/* What a signal leaves untried is not said to be exact. */
static void an_interrupted_search_is_not_exact(void)
{
    ovl_optimize o = {.arena = &arena, .simulated = 30, .signal = 2};
    ovl_optimize_say_all(&o, 10, 64, "all 64 ways: exact", "ways");
    CHECK_TEXT(o.searched[0], "20 of 64 ways: others may be better; interrupted");
    ovl_optimize_say_all(&o, 20, 10, "all 10 ways: exact", "ways");
    CHECK_TEXT(o.searched[1], "all 10 ways: exact");
    ovl_optimize_say_all(&o, 30, 10, "all 10 ways: exact", "ways");
    CHECK_INT(o.n_searched, 2);
}

/* The late gradient alone is the best already. */
static void no_gain(void)
{
    const ovl_sweep *s =
        start_of(LAST_BUCKET "overlap: {ddp: {buckets: [[g1, g2, g3, g4, g5, a], [late]]}}\n");
    ovl_optimize all = searched(s, 300, true);
    ovl_sweep *same =
        start_of(ovl_arena_printf(&arena, "%soverlap: {ddp: {buckets: %s}}\n", LAST_BUCKET,
                                  ovl_node_text(all.best[0].sets[0].value, &arena)));
    ovl_optimize o = searched(same, 300, true);
    CHECK(!ovl_optimize_gains(&o));
    CHECK_INT(o.n_stays, 0);
}

/* Constraints and hazards keep a candidate out: more buckets are better, but only one startup is
 * allowed. */
/* Whatever is searched, no more is simulated than was allowed: all splits and orders of few
 * gradients, annealing, and what the range needs. */
static void never_more_than_allowed(void)
{
    static const uint32_t tries[] = {1, 2, 3, 7, 20, 90, 500, 1500};
    for (size_t i = 0; i < OVL_COUNT(tries); i++) {
        CHECK(searched(start_of(LAST_BUCKET), tries[i], true).simulated <= tries[i]);
        CHECK(searched(start_of(FOUR), tries[i], true).simulated <= tries[i]);
    }
}

static void constraints(void)
{
    ovl_errs errs = {.arena = &arena};
    ovl_where where;
    ovl_sweep *s =
        start_of(LAST_BUCKET "overlap: {ddp: {buckets: [[g1, g2, g3, g4, g5, a, late]]}}\n");
    CHECK(ovl_where_read("startups<2", "where", &where, &errs));
    s->where = &where;
    s->n_where = 1;
    ovl_optimize o = searched(s, 100, true);
    CHECK(!ovl_optimize_gains(&o));
    CHECK_INT(best_step(&o), 217 * OVL_MS);
}

static CU_TestInfo tests[] = {
    {"the best of given alternatives, with its equation", the_best_of_given_alternatives},
    {"every split by a loop of its own agrees", every_split_agrees},
    {"every set of buckets in every order agrees, of 8 to 12 gradients",
     every_set_of_buckets_in_every_order_agrees},
    {"every split of 8 to 12 gradients agrees, slowed by each other",
     every_split_of_more_gradients_agrees},
    {"every order is tried if it may be, and annealing agrees", every_order_agrees},
    {"a table that falls has no bound of gradients alone",
     a_table_that_falls_has_no_bound_of_gradients_alone},
    {"nothing is shorter than the bound, with random tables", nothing_is_shorter_than_the_bound},
    {"values and stages are searched together", values_and_stages_are_searched_together},
    {"the first error of those that fail is kept", the_first_error_is_kept},
    {"an interrupted search is not exact", an_interrupted_search_is_not_exact},
    {"the seed decides, not the threads", the_seed_decides},
    {"what is the best already has no gain", no_gain},
    {"never more is simulated than allowed", never_more_than_allowed},
    {"constraints keep candidates out", constraints},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    int status = check_main("optimize", tests);
    ovl_arena_free(&arena);
    return status;
}
