/*
 * test_usage.c - laws of collisions, on random symmetric programs: each loss stands once, whoever
 * was beside it, and folded ranks tell the same as all of them.
 */
#include "sim/engine.h"
#include "sim/fold.h"
#include "sim/result.h"
#include "sim/usage.h"
#include "tests/support/check.h"
#include "tests/support/law.h"
#include "tests/support/symmetric_program.h"

#define PROGRAMS 300

/* What a resource lost, alone and in rows. */
static void rows_of(const ovl_result *r, const ovl_result_resource *line,
                    const ovl_result_collision *rows, uint32_t n)
{
    ovl_time rank = line->alone, all = line->alone_all;
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(rows[i].resource, line->name) == 0) {
            rank += rows[i].lost_a + rows[i].lost_b;
            all += rows[i].all_a + rows[i].all_b;
            CHECK(rows[i].full <= rows[i].shared && rows[i].shared <= line->instances);
            CHECK(rows[i].full > 0);
            CHECK(rows[i].together <= r->step);
        }
    }
    CHECK_INT(rank, line->lost);
    CHECK_INT(all, line->lost_all);
}

static ovl_time lost_to(const ovl_result *r, const char *bound)
{
    ovl_time sum = 0;
    for (uint32_t i = 0; i < r->n_limits; i++) {
        sum += strcmp(r->limits[i].bound, bound) == 0 ? r->limits[i].lost : 0;
    }
    return sum;
}

static void each_loss_stands_once(void)
{
    uint32_t rows = 0;
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        ovl_arena arena = {0};
        ovl_errs errs = {.arena = &arena};
        symmetric_options options = {seed, 20 + (uint32_t)(seed % 7) * 20, false, 0, seed % 4 == 1};
        ovl_program p = symmetric_program(&options, &arena);
        ovl_analyse_options how = {.interference = (ovl_interference)(seed % 3),
                                   .worth = OVL_WORTH_NONE};
        ovl_result r;
        if (ovl_analyse(&p, &how, &arena, &r, NULL, &errs) && r.all_collisions == r.n_collisions) {
            for (uint32_t i = 0; i < r.n_resources; i++) {
                rows_of(&r, &r.resources[i], r.collisions, r.n_collisions);
                rows_of(&r, &r.resources[i], r.alike, r.n_alike);
                CHECK_INT(r.resources[i].lost, lost_to(&r, r.resources[i].name));
            }
            rows += r.n_collisions;
        }
        ovl_arena_free(&arena);
    }
    CHECK(rows > PROGRAMS);
}

/* --- Folded --- */

static bool run(const ovl_program *p, ovl_interference model, ovl_arena *arena, ovl_result *r)
{
    ovl_errs errs = {.arena = arena};
    ovl_run_options how = {.interference = model};
    ovl_timeline t;
    ovl_classes classes;
    ovl_causes causes;
    if (!ovl_run(p, &how, arena, &t, &errs)) {
        return false;
    }
    *r = (ovl_result){.step = t.step};
    ovl_classes_find(p, &t, arena, &classes);
    ovl_causes_init(&causes, p, &t, arena);
    ovl_usage_find(&causes, &classes, arena, r);
    ovl_causes_free(&causes);
    return true;
}

/* Where two resources bound somebody alike, either is told: then only sums agree. */
static void compare(const ovl_result *folded, const ovl_result *whole, uint32_t *ties)
{
    ovl_time one = 0, all = 0;
    for (uint32_t i = 0; i < folded->n_resources; i++) {
        one += folded->resources[i].lost_all;
    }
    for (uint32_t i = 0; i < whole->n_resources; i++) {
        all += whole->resources[i].lost_all;
    }
    CHECK_INT(one, all);
    bool same = folded->n_collisions == whole->n_collisions;
    for (uint32_t i = 0; same && i < folded->n_collisions; i++) {
        const ovl_result_collision *x = &folded->collisions[i], *y = &whole->collisions[i];
        same = strcmp(x->resource, y->resource) == 0 && strcmp(x->a, y->a) == 0 &&
               strcmp(x->b, y->b) == 0 && x->together == y->together && x->shared == y->shared &&
               x->full == y->full && x->all_a == y->all_a && x->all_b == y->all_b &&
               x->lost_a == y->lost_a && x->lost_b == y->lost_b;
    }
    *ties += !same;
}

static void folded_ranks_tell_the_same(void)
{
    uint32_t folded = 0, ties = 0;
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        ovl_arena arena = {0};
        ovl_errs errs = {.arena = &arena};
        symmetric_options options = {seed, 20 + (uint32_t)(seed % 7) * 20, false, 0, seed % 4 == 1};
        ovl_program p = symmetric_program(&options, &arena), small;
        ovl_fold fold;
        ovl_result one, all;
        if (ovl_fold_find(&p, &arena, &fold) &&
            ovl_fold_program(&p, &fold, &arena, &small, &errs) &&
            run(&small, OVL_INTERFERENCE_SHARED, &arena, &one) &&
            run(&p, OVL_INTERFERENCE_SHARED, &arena, &all)) {
            compare(&one, &all, &ties);
            folded++;
        }
        ovl_arena_free(&arena);
    }
    CHECK(folded > PROGRAMS / 3);
    CHECK(ties * 20 < folded);
}

static CU_TestInfo tests[] = {
    {"each loss stands once", each_loss_stands_once},
    {"folded ranks tell the same", folded_ranks_tell_the_same},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("laws of collisions", tests);
}
