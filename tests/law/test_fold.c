/*
 * test_fold.c - laws of folding, on random symmetric programs: the folded run unfolds to the run of
 * the whole, to the picosecond.
 */
#include "sim/engine.h"
#include "sim/fold.h"
#include "tests/support/check.h"
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

static void draw(lab *l, uint64_t seed)
{
    memset(l, 0, sizeof *l);
    l->errs.arena = &l->arena;
    symmetric_options options = {seed, 20 + (uint32_t)(seed % 7) * 20};
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

static uint64_t differing_limits(const lab *l)
{
    uint64_t wrong = l->w.n_limits != l->u.n_limits;
    for (uint32_t i = 0; i < l->w.n_limits && !wrong; i++) {
        const ovl_limit *a = &l->w.limits[i], *b = &l->u.limits[i];
        wrong += a->op != b->op || !same_bound(&l->whole, a->bound, b->bound) ||
                 a->time != b->time || a->lost != b->lost;
    }
    return wrong;
}

static uint64_t differences(const lab *l)
{
    uint32_t n = l->whole.n_ops;
    return differing(l->w.issue, l->u.issue, n) + differing(l->w.arrive, l->u.arrive, n) +
           differing(l->w.start, l->u.start, n) + differing(l->w.end, l->u.end, n) +
           (memcmp(l->w.ranks, l->u.ranks, l->whole.n_ranks * sizeof *l->w.ranks) != 0) +
           (l->w.step != l->u.step) + (l->w.deciding_rank != l->u.deciding_rank) +
           differing_limits(l);
}

static void a_folded_run_unfolds_to_the_run_of_the_whole(void)
{
    uint32_t folded = 0, ranks = 0, classes = 0;
    uint64_t ops = 0;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
        lab l;
        draw(&l, seed);
        ovl_run_options how = {.interference = (ovl_interference)(seed % 3), .free_name = OVL_NONE};
        if (seed % 5 == 0) {
            how.free_name = ovl_names_find(l.whole.names, "collective 3");
        }
        if (l.folds) {
            bool good = run(&l, &l.whole, &how, &l.w), also = run(&l, &l.folded, &how, &l.f);
            CHECK_INT(good, also);
            if (good && also) {
                ovl_unfold(&l.folded, &l.f, &l.arena, &l.u);
                uint64_t wrong = differences(&l);
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
    CHECK(folded > PROGRAMS / 2);
    CHECK(ranks > 3 * classes);
    CHECK(ops > 0);
}

static CU_TestInfo tests[] = {
    {"a folded run unfolds to the run of the whole", a_folded_run_unfolds_to_the_run_of_the_whole},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("laws of folding", tests);
}
