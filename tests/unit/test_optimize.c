#include "models/node_text.h"
#include "tests/support/check.h"
#include "tests/support/random_program.h"
#include "tools/optimize.h"
#include "tools/solve.h"

#include <math.h>
#include <string.h>

static ovl_arena arena;

static const char *served(void *context, const char *path, size_t *length, ovl_arena *a,
                          const char **why)
{
    (void)path, (void)a, (void)why;
    *length = strlen(context);
    return context;
}

/* The gradients of last_bucket; `more` goes on at the top level. */
#define LAST_BUCKET                                                                                \
    "hardware:\n"                                                                                  \
    "  gpu: {name: example}\n"                                                                     \
    "  collectives: [{op: all_reduce, group: dp, alpha: 1 ms, beta: 16 MiB/ms}]\n"                 \
    "  interference:\n"                                                                            \
    "    - {kernel: backward, collective: all_reduce, kernel_factor: 1.25, collective_factor: "    \
    "1}\n"                                                                                         \
    "mesh: {axes: {dp: 8}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  backward: 210 ms\n"                                                                         \
    "  gradients:\n"                                                                               \
    "    - {name: g1, bytes: 16 MiB, ready: 194 ms}\n"                                             \
    "    - {name: g2, bytes: 16 MiB, ready: 196 ms}\n"                                             \
    "    - {name: g3, bytes: 16 MiB, ready: 198 ms}\n"                                             \
    "    - {name: g4, bytes: 16 MiB, ready: 200 ms}\n"                                             \
    "    - {name: g5, bytes: 16 MiB, ready: 202 ms}\n"                                             \
    "    - {name: a, bytes: 12 MiB, ready: 202 ms}\n"                                              \
    "    - {name: late, bytes: 4 MiB, ready: 209 ms, copy_in: 1 ms}\n"                             \
    "interference: measured\n"

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

static ovl_sweep *start_of(const char *yaml)
{
    ovl_errs errs = {.arena = &arena};
    ovl_document *doc = OVL_NEW(&arena, ovl_document);
    ovl_files files = {.read = served, .context = ovl_arena_strdup(&arena, yaml)};
    ovl_sweep *s = OVL_NEW(&arena, ovl_sweep);
    CHECK(ovl_document_load("s.yaml", &files, doc, &arena, &errs));
    *s = (ovl_sweep){.doc = doc, .objective = OVL_M_STEP};
    return s;
}

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

static ovl_time step_with(const ovl_sweep *start, const char *set)
{
    ovl_sweep one = *start;
    ovl_set sets[] = {{.text = set}};
    ovl_point p;
    one.sets = sets;
    one.n_sets = 1;
    one.axes = (ovl_axes){.n_points = 1};
    ovl_sweep_point(&one, 0, &p, &arena);
    CHECK_INT(p.state, OVL_POINT_DONE);
    return p.figures.value[OVL_M_STEP];
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

/* --- The inverse question --- */

static ovl_solve solved(const ovl_sweep *s, const char *key, const char *target, const char *range)
{
    ovl_errs errs = {.arena = &arena};
    ovl_solve q = {.of = s};
    CHECK(ovl_solve_read(&q, key, target, range, &arena, &errs));
    ovl_solve_run(&q, &arena, &errs);
    return q;
}

#define ONE_BUCKET "overlap: {ddp: {buckets: [[g1, g2, g3, g4, g5, a, late]]}}\n"

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
    {"the best of given alternatives, with its equation", the_best_of_given_alternatives},
    {"every split by a loop of its own agrees", every_split_agrees},
    {"every set of buckets in every order agrees, of 8 to 12 gradients",
     every_set_of_buckets_in_every_order_agrees},
    {"every split of 8 to 12 gradients agrees, slowed by each other",
     every_split_of_more_gradients_agrees},
    {"every order is tried if it may be, and annealing agrees", every_order_agrees},
    {"the seed decides, not the threads", the_seed_decides},
    {"what is the best already has no gain", no_gain},
    {"never more is simulated than allowed", never_more_than_allowed},
    {"constraints keep candidates out", constraints},
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
    int status = check_main("optimize", tests);
    ovl_arena_free(&arena);
    return status;
}
