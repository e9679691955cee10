#include "models/node_text.h"
#include "tests/support/check.h"
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
    CHECK_HAS(other.searched[1], "annealing");
    CHECK_INT(best_step(&other), 20 * OVL_MS);
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
    ovl_solve_run(&q, &arena);
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

static void no_value_does(void)
{
    const ovl_sweep *s = start_of(LAST_BUCKET ONE_BUCKET);
    ovl_solve q = solved(s, "hardware.collectives[0].beta", "step=100 ms", NULL);
    CHECK_INT(q.end, OVL_SOLVE_NOT_MET);
    CHECK(q.least > 210 * OVL_MS);
    q = solved(s, "hardware.gpu.hbm", "step=100 ms", "1 TB/s..4 TB/s");
    CHECK_INT(q.end, OVL_SOLVE_FLAT);
    q = solved(s, "hardware.gpu.hmb", "step=100 ms", "1 TB/s..4 TB/s");
    CHECK_INT(q.end, OVL_SOLVE_FAILED);
    CHECK_HAS(q.error, "did you mean \"hbm\"?");
}

/* Two microbatches take twice 210 ms, and 7: the key counts. */
static void keys_that_count(void)
{
    const ovl_sweep *s = start_of(LAST_BUCKET ONE_BUCKET);
    ovl_solve q = solved(s, "workload.microbatches", "step=637 ms", "1..16");
    CHECK(q.whole);
    CHECK_INT(q.end, OVL_SOLVE_MET);
    CHECK_TEXT(ovl_solve_value(&q, q.crossings[0].value, &arena), "3");
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
    {"every order is tried if it may be, and annealing agrees", every_order_agrees},
    {"the seed decides, not the threads", the_seed_decides},
    {"what is the best already has no gain", no_gain},
    {"constraints keep candidates out", constraints},
    {"the inverse gives what was planted", what_was_planted_comes_back},
    {"no value is no answer", no_value_does},
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
