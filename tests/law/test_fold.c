/*
 * test_fold.c - laws of folding, on random symmetric programs: the folded run unfolds to the run of
 * the whole, to the picosecond.
 */
#include "sim/engine.h"
#include "sim/fold.h"
#include "sim/result.h"
#include "tests/support/check.h"
#include "tests/support/law.h"
#include "tests/support/symmetric_program.h"

#include <stdio.h>
#include <string.h>

#define PROGRAMS 1000

typedef struct lab {
    ovl_arena arena;
    ovl_errs errs;
    ovl_program whole, folded;
    ovl_fold fold;
    ovl_timeline w, f, u; /* of the whole; of the folded; the latter unfolded */
    bool folds;
} lab;

static bool run(lab *l, const ovl_program *p, const ovl_run_options *how, ovl_timeline *t)
{
    return ovl_run(p, how, &l->arena, t, &l->errs);
}

static void draw(lab *l, uint64_t seed, bool buffers)
{
    memset(l, 0, sizeof *l);
    l->errs.arena = &l->arena;
    symmetric_options options = {seed, 20 + (uint32_t)(seed % 7) * 20, buffers, 0};
    l->whole = symmetric_program(&options, &l->arena);
    l->folds = ovl_fold_find(&l->whole, &l->arena, &l->fold);
    if (l->folds) {
        CHECK(ovl_fold_program(&l->whole, &l->fold, &l->arena, &l->folded, &l->errs));
    }
}

static uint64_t differing(const ovl_time *a, const ovl_time *b, uint32_t n)
{
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < n; i++) {
        wrong += a[i] != b[i];
    }
    return wrong;
}

/* Of resources that bound alike any may be told: the names must agree. */
static bool same_bound(const ovl_program *p, uint32_t a, uint32_t b)
{
    return a == b || (a < p->n_resources && b < p->n_resources &&
                      p->resources[a].name == p->resources[b].name);
}

/* Over all that bounded an operation under one name: of several alike it does not matter which. */
static ovl_limit sum_under(const lab *l, const ovl_timeline *t, uint32_t from,
                           const ovl_limit *like)
{
    ovl_limit sum = {.op = like->op};
    for (uint32_t i = from; i < t->n_limits && t->limits[i].op == like->op; i++) {
        if (same_bound(&l->whole, t->limits[i].bound, like->bound)) {
            sum.time += t->limits[i].time;
            sum.lost += t->limits[i].lost;
        }
    }
    return sum;
}

static uint32_t first_of(const ovl_timeline *t, uint32_t op)
{
    uint32_t i = 0;
    while (i < t->n_limits && t->limits[i].op < op) {
        i++;
    }
    return i;
}

/* Over all that bounded an operation. */
static ovl_limit sum_of_all(const ovl_timeline *t, uint32_t from)
{
    ovl_limit sum = {.op = t->limits[from].op};
    for (uint32_t i = from; i < t->n_limits && t->limits[i].op == sum.op; i++) {
        sum.time += t->limits[i].time;
        sum.lost += t->limits[i].lost;
    }
    return sum;
}

static bool same_sum(const ovl_limit *x, const ovl_limit *y)
{
    return x->time == y->time && x->lost == y->lost;
}

/* Those of `a` that `b` does not have. Where a NIC and the spine are both full at one level, either
 * may be told of an operation: then only what all together took must agree, and *ties counts it. */
static uint64_t missing_limits(const lab *l, const ovl_timeline *a, const ovl_timeline *b,
                               uint64_t *ties)
{
    uint64_t wrong = 0;
    for (uint32_t i = 0, from = 0, other = 0; i < a->n_limits; i++) {
        if (i == 0 || a->limits[i].op != a->limits[i - 1].op) {
            from = i;
            other = first_of(b, a->limits[i].op);
        }
        ovl_limit x = sum_under(l, a, from, &a->limits[i]);
        ovl_limit y = sum_under(l, b, other, &a->limits[i]);
        if (!same_sum(&x, &y)) {
            bool known = other < b->n_limits && b->limits[other].op == a->limits[i].op;
            ovl_limit all = sum_of_all(a, from),
                      those = known ? sum_of_all(b, other) : (ovl_limit){0};
            bool tie = known && same_sum(&all, &those);
            *ties += tie;
            wrong += !tie;
        }
    }
    return wrong;
}

static uint64_t differing_limits(const lab *l, uint64_t *ties)
{
    return missing_limits(l, &l->w, &l->u, ties) + missing_limits(l, &l->u, &l->w, ties);
}

static uint64_t differences(const lab *l, uint64_t *ties)
{
    uint32_t n = l->whole.n_ops;
    return differing(l->w.issue, l->u.issue, n) + differing(l->w.arrive, l->u.arrive, n) +
           differing(l->w.start, l->u.start, n) + differing(l->w.end, l->u.end, n) +
           (memcmp(l->w.ranks, l->u.ranks, l->whole.n_ranks * sizeof *l->w.ranks) != 0) +
           law_differing_phase_ends(&l->w, &l->u) + (l->w.step != l->u.step) +
           (l->w.deciding_rank != l->u.deciding_rank) + differing_limits(l, ties);
}

static void a_folded_run_unfolds_to_the_run_of_the_whole(void)
{
    uint32_t folded = 0, ranks = 0, classes = 0;
    uint64_t ops = 0, ties = 0;
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        lab l;
        draw(&l, seed, false);
        ovl_run_options how = {.interference = (ovl_interference)(seed % 3)};
        bool *free_names = OVL_NEW_ARRAY(&l.arena, bool, l.whole.names->count);
        ovl_id third = ovl_names_find(l.whole.names, "collective 3");
        if (seed % 5 == 0 && third != OVL_NONE) {
            free_names[third] = true;
            how.free_names = free_names;
        }
        if (l.folds) {
            bool good = run(&l, &l.whole, &how, &l.w), also = run(&l, &l.folded, &how, &l.f);
            CHECK_INT(good, also);
            if (good && also) {
                ovl_unfold(&l.folded, &l.f, &l.arena, &l.u);
                uint64_t wrong = differences(&l, &ties);
                if (wrong) {
                    fprintf(stderr, "seed %" PRIu64 ": %" PRIu64 " differences\n", seed, wrong);
                }
                CHECK_INT(wrong, 0);
                ops += l.whole.n_ops;
            }
            folded++;
            ranks += l.whole.n_ranks;
            classes += l.folded.n_ranks;
        }
        ovl_arena_free(&l.arena);
    }
    CHECK(folded > PROGRAMS / 3); /* about half: some seeds have fewer */
    CHECK(ranks > 3 * classes);
    CHECK(ops > 0);
    CHECK(ties * 10000 < ops); /* two resources of one level to the bit are rare */
}

/* --- Results --- */

#define RESULTS 300

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static uint64_t differing_rows(const ovl_result *a, const ovl_result *b)
{
    uint64_t wrong = a->n_collectives != b->n_collectives;
    for (uint32_t i = 0; i < a->n_collectives && !wrong; i++) {
        const ovl_result_collective *x = &a->collectives[i], *y = &b->collectives[i];
        wrong += !same_text(x->name, y->name) || x->rank != y->rank || x->count != y->count ||
                 x->n != y->n || x->ready != y->ready || x->start != y->start || x->end != y->end ||
                 x->u_path != y->u_path || x->exposed != y->exposed || x->slack != y->slack ||
                 x->isolated != y->isolated || !same_text(x->consumer, y->consumer);
        bool known = x->worth != OVL_NEVER && y->worth != OVL_NEVER; /* a tie chooses names */
        wrong += known && (x->worth != y->worth || x->u_variant != y->u_variant);
    }
    return wrong;
}

static uint64_t differing_ranks(const ovl_result *a, const ovl_result *b)
{
    uint64_t wrong = a->n_ranks != b->n_ranks;
    for (uint32_t i = 0; i < a->n_ranks && !wrong; i++) {
        const ovl_result_rank *x = &a->ranks[i], *y = &b->ranks[i];
        wrong += x->rank != y->rank || x->count != y->count || x->end != y->end ||
                 memcmp(x->term, y->term, sizeof x->term) != 0 || x->idle_time != y->idle_time ||
                 x->live_peak != y->live_peak || x->allocated_peak != y->allocated_peak ||
                 x->reserved_peak != y->reserved_peak ||
                 memcmp(x->idle, y->idle, sizeof x->idle) != 0;
    }
    return wrong;
}

static uint64_t differing_hazards(const ovl_result *a, const ovl_result *b)
{
    uint64_t wrong = a->n_hazards != b->n_hazards || a->gradients_proved != b->gradients_proved ||
                     a->gradient_digest != b->gradient_digest ||
                     a->accesses_checked != b->accesses_checked ||
                     a->reuses_checked != b->reuses_checked;
    for (uint32_t i = 0; i < a->n_hazards && !wrong; i++) {
        const ovl_result_hazard *x = &a->hazards[i], *y = &b->hazards[i];
        wrong += !same_text(x->kind, y->kind) || !same_text(x->text, y->text) ||
                 x->rank != y->rank || x->count != y->count;
    }
    return wrong;
}

/* Of several that hold something up in the same way another may be named on the way; the times from
 * one to the next are not in question. */
static uint64_t differing_totals(const ovl_result *a, const ovl_result *b)
{
    ovl_time x = 0, y = 0;
    for (uint32_t i = 0; i < a->n_path; i++) {
        x += a->path[i].end - a->path[i].start;
    }
    for (uint32_t i = 0; i < b->n_path; i++) {
        y += b->path[i].end - b->path[i].start;
    }
    return (a->step != b->step) + (a->deciding_rank != b->deciding_rank) + (x != y) +
           (x != a->step) + (a->without_interference != b->without_interference) +
           (a->comm_total != b->comm_total) + (a->startups != b->startups);
}

/* Every rank simulated, and folded: what a report says is the same. */
static void a_result_is_that_of_all_ranks(void)
{
    uint32_t folded = 0;
    for (uint64_t seed = 0; seed < RESULTS; seed++) {
        lab l;
        ovl_result a, b;
        draw(&l, seed, true);
        ovl_analyse_options how = {.interference = (ovl_interference)(seed % 3),
                                   .worth = seed % 4 ? OVL_WORTH_DEFAULT : OVL_WORTH_NONE};
        bool good = ovl_analyse(&l.whole, &how, &l.arena, &a, NULL, &l.errs);
        how.no_fold = true;
        CHECK_INT(ovl_analyse(&l.whole, &how, &l.arena, &b, NULL, &l.errs), good);
        if (good) {
            uint64_t rows = differing_rows(&a, &b), ranks = differing_ranks(&a, &b);
            uint64_t hazards = differing_hazards(&a, &b), totals = differing_totals(&a, &b);
            if (rows + ranks + hazards + totals) {
                fprintf(stderr, "seed %" PRIu64 ": rows, ranks, hazards, totals\n", seed);
            }
            CHECK_INT(rows, 0);
            CHECK_INT(ranks, 0);
            CHECK_INT(hazards, 0);
            CHECK_INT(totals, 0);
            folded += a.n_folded > 0;
        }
        ovl_arena_free(&l.arena);
    }
    CHECK(folded > RESULTS / 3);
}

static CU_TestInfo tests[] = {
    {"a folded run unfolds to the run of the whole", a_folded_run_unfolds_to_the_run_of_the_whole},
    {"a result is that of all ranks", a_result_is_that_of_all_ranks},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("laws of folding", tests);
}
