/*
 * test_recur.c - laws of skipping what recurs, on random programs that repeat themselves: with and
 * without it everything that a run tells is the same, to the picosecond and in order.
 */
#include "sim/alter.h"
#include "sim/fold.h"
#include "sim/scaled.h"
#include "tests/support/check.h"
#include "tests/support/law.h"
#include "tests/support/random_program.h"
#include "tests/support/rhythm_program.h"
#include "tests/support/symmetric_program.h"

#include <stdio.h>
#include <string.h>

#define PROGRAMS 1000 /* of each kind */

static uint64_t differing(const void *a, const void *b, size_t n, size_t size)
{
    uint64_t wrong = 0;
    for (size_t i = 0; i < n && a; i++) {
        wrong += memcmp((const char *)a + i * size, (const char *)b + i * size, size) != 0;
    }
    return wrong;
}

static uint64_t differing_limits(const ovl_timeline *a, const ovl_timeline *b)
{
    uint64_t wrong = a->n_limits != b->n_limits;
    for (uint32_t i = 0; i < a->n_limits && !wrong; i++) {
        const ovl_limit *x = &a->limits[i], *y = &b->limits[i];
        wrong += x->op != y->op || x->bound != y->bound || x->time != y->time || x->lost != y->lost;
    }
    return wrong;
}

static uint64_t differing_segments(const ovl_timeline *a, const ovl_timeline *b)
{
    uint64_t wrong = a->n_segments != b->n_segments;
    for (uint32_t i = 0; i < a->n_segments && !wrong; i++) {
        const ovl_segment *x = &a->segments[i], *y = &b->segments[i];
        wrong += x->op != y->op || x->from != y->from || x->to != y->to || x->rate != y->rate;
    }
    return wrong;
}

static uint64_t differences(const ovl_program *p, const ovl_timeline *a, const ovl_timeline *b)
{
    return differing(a->issue, b->issue, p->n_ops, sizeof *a->issue) +
           differing(a->arrive, b->arrive, p->n_ops, sizeof *a->arrive) +
           differing(a->start, b->start, p->n_ops, sizeof *a->start) +
           differing(a->end, b->end, p->n_ops, sizeof *a->end) +
           differing(a->landed, b->landed, p->n_ops, sizeof *a->landed) +
           differing(a->ranks, b->ranks, p->n_ranks, sizeof *a->ranks) +
           (a->n_trail != b->n_trail || differing(a->trail, b->trail, a->n_trail, 4)) +
           differing_limits(a, b) + differing_segments(a, b) + law_differing_phase_ends(a, b) +
           (a->begin != b->begin || a->step != b->step || a->finish != b->finish ||
            a->deciding_rank != b->deciding_rank) +
           (a->n_unmeasured != b->n_unmeasured);
}

typedef struct tally {
    uint64_t programs, ops, skipped, recurred;
} tally;

/* Runs a program both ways. */
static void compare(const ovl_program *p, ovl_run_options how, uint64_t seed, tally *sum)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_timeline skips, whole;
    bool good = ovl_run(p, &how, &arena, &skips, &errs);
    how.no_skip = true;
    CHECK_INT(ovl_run(p, &how, &arena, &whole, &errs), good);
    if (good) {
        uint64_t wrong = differences(p, &whole, &skips);
        if (wrong) {
            fprintf(stderr, "seed %" PRIu64 ": %" PRIu64 " differences of %" PRIu32 "\n", seed,
                    wrong, p->n_ops);
        }
        CHECK_INT(wrong, 0);
        CHECK_INT(whole.counters.skipped, 0);
        sum->programs++;
        sum->ops += p->n_ops;
        sum->skipped += skips.counters.skipped;
        sum->recurred += skips.counters.skipped > 0;
    }
    ovl_arena_free(&arena);
}

static ovl_run_options drawn_options(uint64_t seed, const ovl_program *p, ovl_arena *arena)
{
    ovl_run_options how = {.interference = (ovl_interference)(seed % 3),
                           .segments = seed % 5 == 1,
                           .step_only = seed % 5 == 2};
    ovl_id third = ovl_names_find(p->names, "collective 3");
    if (seed % 7 == 0 && third != OVL_NONE) {
        bool *free_names = OVL_NEW_ARRAY(arena, bool, p->names->count);
        free_names[third] = true;
        how.free_names = free_names;
    }
    return how;
}

static void show(const char *what, const tally *sum)
{
    printf("%s: %" PRIu64 " of %" PRIu64 " programs recur, %" PRIu64 " of %" PRIu64
           " operations skipped\n",
           what, sum->recurred, sum->programs, sum->skipped, sum->ops);
}

static void what_recurs_is_skipped_and_nothing_else_changes(void)
{
    tally sum = {0};
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        ovl_arena arena = {0};
        random_options options = {.seed = seed,
                                  .n_ranks = 2 + 2 * (seed % 3),
                                  .n_actions = 3 + seed % 17,
                                  .n_repeats = 20 + seed % 30,
                                  .n_steps = seed % 4 == 0 ? 2 : 0,
                                  .islands = seed % 11 == 0,
                                  .prefix = ""};
        ovl_program p = random_program(&options, &arena);
        compare(&p, drawn_options(seed, &p, &arena), seed, &sum);
        ovl_arena_free(&arena);
    }
    show("random", &sum);
    CHECK(sum.recurred > sum.programs / 4);
    CHECK(sum.skipped > sum.ops / 8);
}

static void folded_programs_skip_as_well(void)
{
    tally sum = {0};
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        ovl_arena arena = {0};
        symmetric_options options = {
            .seed = seed, .n_actions = 3 + seed % 10, .n_repeats = 12 + seed % 20};
        ovl_program p = symmetric_program(&options, &arena), folded;
        ovl_errs errs = {.arena = &arena};
        ovl_fold fold;
        if (ovl_fold_find(&p, &arena, &fold) &&
            CHECK(ovl_fold_program(&p, &fold, &arena, &folded, &errs))) {
            compare(&folded, drawn_options(seed, &p, &arena), seed, &sum);
        }
        ovl_arena_free(&arena);
    }
    show("folded", &sum);
    CHECK(sum.recurred > sum.programs / 4);
    CHECK(sum.skipped > sum.ops / 8);
}

/* At other costs, or with transfers that wait for their input alone, as what-ifs run them. */
static void what_if_programs_skip_as_well(void)
{
    static const ovl_alteration how[] = {{.early_comm = true},
                                         {.free_comm = true},
                                         {.mean_kernels = true},
                                         {.free_kernels = true, .host_divisor = 2}};
    tally sum = {0};
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        ovl_arena arena = {0};
        random_options options = {.seed = seed,
                                  .n_ranks = 2,
                                  .n_actions = 3 + seed % 13,
                                  .n_repeats = 20 + seed % 20,
                                  .prefix = ""};
        ovl_program p = random_program(&options, &arena);
        p = seed % 5 ? ovl_program_altered(&p, &how[seed / 5 % 4], &arena)
                     : ovl_program_scaled(&p, 500 + 250 * (uint32_t)(seed % 7),
                                          500 * (uint32_t)(seed % 3), &arena);
        compare(&p, drawn_options(seed, &p, &arena), seed, &sum);
        ovl_arena_free(&arena);
    }
    show("what if", &sum);
    CHECK(sum.recurred > sum.programs / 4);
    CHECK(sum.skipped > sum.ops / 8);
}

/* At least one of `most` programs recurs, and half as many of all operations are skipped. */
static void check_rhythms(const char *what, rhythm_kind kind, uint32_t most)
{
    tally sum = {0};
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        ovl_arena arena = {0};
        rhythm_options options = {.seed = seed, .kind = kind, .n_blocks = 60 + seed % 100};
        ovl_program p = rhythm_program(&options, &arena);
        if (seed % 8 == 7) {
            p = ovl_program_altered(&p, &(ovl_alteration){.early_comm = true}, &arena);
        }
        compare(&p, drawn_options(seed, &p, &arena), seed, &sum);
        ovl_arena_free(&arena);
    }
    show(what, &sum);
    CHECK(sum.recurred > sum.programs / most);
    CHECK(sum.skipped > sum.ops / (2 * most));
}

static void sharded_layers_skip(void)
{
    check_rhythms("sharded", RHYTHM_SHARDED, 2);
}

static void pipelines_skip(void)
{
    check_rhythms("pipelines", RHYTHM_PIPELINE, 2);
}

static void looped_pipelines_skip(void)
{
    check_rhythms("looped", RHYTHM_LOOPED, 4);
}

static CU_TestInfo tests[] = {
    {"what recurs is skipped and nothing else changes",
     what_recurs_is_skipped_and_nothing_else_changes},
    {"folded programs skip as well", folded_programs_skip_as_well},
    {"what-if programs skip as well", what_if_programs_skip_as_well},
    {"sharded layers skip", sharded_layers_skip},
    {"pipelines skip", pipelines_skip},
    {"looped pipelines skip", looped_pipelines_skip},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("laws of skipping what recurs", tests);
}
