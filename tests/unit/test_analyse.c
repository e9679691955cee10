#include "sim/alike.h"
#include "sim/result.h"
#include "tests/support/check.h"
#include "tests/support/random_program.h"
#include "tests/support/tiny.h"

#include <string.h>

#define MS OVL_MS

/* One measured pair: class 0 of kernels, class 0 of collectives. */
static void measured(tiny *t, double kernel, double collective)
{
    ovl_vec_push(&t->b.kernel_classes, ovl_name(&t->b, "gemm"));
    ovl_vec_push(&t->b.coll_classes, ovl_name(&t->b, "all_reduce"));
    ovl_vec_push(&t->b.pairs, (ovl_pair){kernel, collective});
}

static ovl_result analyse(tiny *t, ovl_interference model)
{
    ovl_result r = {0};
    ovl_analyse_options options = {.interference = model, .scenario = "tiny"};
    CHECK(tiny_freeze(t));
    CHECK(ovl_analyse(&t->program, &options, &t->arena, &r, NULL, &t->errs));
    return r;
}

static const ovl_result_collective *row_of(const ovl_result *r, const char *name)
{
    for (uint32_t i = 0; i < r->n_collectives; i++) {
        if (strcmp(r->collectives[i].name, name) == 0) {
            return &r->collectives[i];
        }
    }
    CHECK(!"a row of that name");
    return NULL;
}

static void check_equation(const ovl_result *r, ovl_time step, ovl_time u_path, ovl_time exposed,
                           ovl_time after, ovl_time u_variant, ovl_time interference)
{
    CHECK(r->equation.present);
    CHECK_INT(r->step, step);
    CHECK_INT(r->equation.u_path, u_path);
    CHECK_INT(r->equation.exposed, exposed);
    CHECK_INT(r->equation.after, after);
    CHECK_INT(r->equation.u_variant, u_variant);
    CHECK_INT(r->equation.interference, interference);
}

/* --- Fixed numbers --- */

/* 25 and 20 stretch each other by 29/25 and 29/16: the matmul ends at 29, the all-reduce at 33.
 * Free, the matmul alone takes 25: worth 8 = 4 exposed + 4 interference. */
static void matmul_beside_all_reduce(void)
{
    tiny t;
    tiny_init(&t, 2);
    measured(&t, 29.0 / 25, 29.0 / 16);
    t.kind.klass = 0;
    tiny_kernel(&t, "compute", "matmul", 25 * MS);
    t.kind.klass = 0;
    tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    ovl_result r = analyse(&t, OVL_INTERFERENCE_MEASURED);
    check_equation(&r, 33 * MS, 29 * MS, 4 * MS, 0, 25 * MS, 4 * MS);
    CHECK_TEXT(r.equation.collective, "reduce");
    CHECK(r.equation.consumer == NULL);
    CHECK_INT(r.term[OVL_COMPUTE], 25 * MS);
    CHECK_INT(r.term[OVL_COMPUTE_STRETCH], 4 * MS);
    CHECK_INT(r.term[OVL_COMM_TRANSFER], 4 * MS);
    CHECK_INT(r.comm_total, 33 * MS);
    CHECK_INT(r.comm_uncovered, 4 * MS);
    CHECK_INT(r.without_interference, 25 * MS);
    CHECK_INT(r.n_collectives, 1);
    CHECK_INT(r.collectives[0].count, 2);
    CHECK_INT(r.collectives[0].worth, 8 * MS);
    CHECK_INT(r.collectives[0].isolated, 20 * MS);
    CHECK(r.collectives[0].on_critical_path);
    CHECK_INT(r.collectives[0].first_use, OVL_NEVER);
    CHECK_INT(r.startups, 1);
    CHECK(!r.hazards_checked);
    CHECK_INT(ovl_result_status(&r), 0);
    CHECK_TEXT(r.variant, "base");
    CHECK_INT(r.n_limits, 2); /* the all-reduce loses 13, the matmul 4 */
    CHECK_TEXT(r.limits[0].op, "reduce");
    CHECK_TEXT(r.limits[0].bound, "measured factor");
    CHECK_INT(r.limits[0].lost, 13 * MS);
    CHECK_INT(r.limits[1].lost, 4 * MS);
    tiny_free(&t);
}

/* 20 -> 26 and 25 -> 30: the all-reduce is over before the matmul, so nothing is exposed; its 5 ms
 * are all interference, counted once. */
static void interference_is_counted_once(void)
{
    tiny t;
    tiny_init(&t, 2);
    measured(&t, 26.0 / 21, 26.0 / 20);
    t.kind.klass = 0;
    tiny_kernel(&t, "compute", "matmul", 25 * MS);
    t.kind.klass = 0;
    tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    ovl_result r = analyse(&t, OVL_INTERFERENCE_MEASURED);
    check_equation(&r, 30 * MS, 30 * MS, 0, 0, 25 * MS, 5 * MS);
    CHECK_INT(r.collectives[0].worth, 5 * MS);
    CHECK_INT(r.collectives[0].end, 26 * MS);
    CHECK_INT(r.collectives[0].slack, 4 * MS);
    CHECK(!r.collectives[0].on_critical_path);
    tiny_free(&t);
}

/* A 20 ms all-reduce that starts when `left` of compute remains: the tail is 20 - left. */
static void check_tail(ovl_time left, ovl_time exposed)
{
    tiny t;
    tiny_init(&t, 2);
    uint32_t before = tiny_kernel(&t, "compute", "before", 10 * MS);
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_after(&t, before);
    tiny_kernel(&t, "compute", "left", left);
    tiny_kernel(&t, "compute", "optimizer", 3 * MS);
    tiny_after(&t, reduce);
    ovl_result r = analyse(&t, OVL_INTERFERENCE_NONE);
    check_equation(&r, 10 * MS + left + exposed + 3 * MS, 10 * MS + left, exposed, 3 * MS,
                   10 * MS + left, 0);
    CHECK_TEXT(r.equation.consumer, "optimizer");
    CHECK_INT(r.collectives[0].ready, 10 * MS);
    CHECK_INT(r.collectives[0].window, left);
    CHECK_INT(r.collectives[0].worth, exposed);
    tiny_free(&t);
}

static void tails(void)
{
    check_tail(25 * MS, 0);
    check_tail(16 * MS, 4 * MS);
}

/* 210 ms of backward; gradients ready at 194, 196, 198, 200, 202 (16 MiB each and 12 more at 202),
 * the last (4 MiB) at 209, copied in until 210. alpha 1 ms, 16 MiB/ms. */
static uint32_t add_kernel(tiny *t, const char *name, ovl_time work)
{
    t->kind.klass = 0;
    return tiny_kernel(t, "compute", name, work);
}

static uint32_t add_bucket(tiny *t, const char *name, uint64_t mib, uint32_t after)
{
    t->kind.klass = 0;
    uint32_t op = tiny_collective(t, "comm", name, MS, (ovl_time)mib * MS / 16);
    tiny_after(t, after);
    return op;
}

/* The first bucket goes when gradient `first_at` (1..5) is ready, the other when all are. */
static ovl_result last_bucket(tiny *t, uint64_t first, uint32_t first_at, ovl_interference model)
{
    static const char *const names[] = {"b1", "b2", "b3", "b4", "b5"};
    uint32_t buckets[2], n = 0;
    tiny_init(t, 2);
    measured(t, 1.25, 1);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t k = add_kernel(t, names[i], i ? 2 * MS : 194 * MS);
        if (first && i + 1 == first_at) {
            buckets[n++] = add_bucket(t, "bucket_0", first, k);
        }
    }
    add_kernel(t, "b6", 7 * MS);
    uint32_t copy_in = add_kernel(t, "copy_in", 1 * MS);
    buckets[n++] = add_bucket(t, "bucket_last", 96 - first, copy_in);
    tiny_marker(t, "compute", "optimizer");
    for (uint32_t i = 0; i < n; i++) {
        tiny_after(t, buckets[i]);
    }
    return analyse(t, model);
}

/* 1 + 96/16 = 7 after 210. */
static void last_bucket_whole(void)
{
    for (int model = 0; model < 2; model++) {
        tiny t;
        ovl_result r = last_bucket(&t, 0, 0, model ? OVL_INTERFERENCE_MEASURED : 0);
        check_equation(&r, 217 * MS, 210 * MS, 7 * MS, 0, 210 * MS, 0);
        tiny_free(&t);
    }
}

/* 80 MiB from 202: 6 ms, of which 5 in transfer cost the backward 1: 211; then 1 + 16/16. */
static void last_bucket_80_16(void)
{
    tiny t;
    ovl_result r = last_bucket(&t, 80, 5, OVL_INTERFERENCE_MEASURED);
    CHECK_INT(row_of(&r, "bucket_0")->start, 202 * MS);
    CHECK_INT(row_of(&r, "bucket_0")->exposed, 0);
    CHECK_INT(row_of(&r, "bucket_0")->interference, 1 * MS);
    CHECK_INT(row_of(&r, "bucket_0")->worth, 1 * MS);
    CHECK_INT(row_of(&r, "bucket_last")->exposed, 2 * MS);
    CHECK_INT(row_of(&r, "bucket_last")->worth, 2 * MS);
    check_equation(&r, 213 * MS, 211 * MS, 2 * MS, 0, 211 * MS, 0);
    CHECK_TEXT(r.equation.collective, "bucket_last");
    CHECK_INT(r.without_interference, 212 * MS);
    CHECK_INT(r.startups, 2);
    tiny_free(&t);
    r = last_bucket(&t, 80, 5, OVL_INTERFERENCE_NONE);
    check_equation(&r, 212 * MS, 210 * MS, 2 * MS, 0, 210 * MS, 0);
    tiny_free(&t);
}

/* 48 MiB from 198: 3 ms of transfer cost 0.6; then 1 + 3. 92 MiB from 202: 5.75 cost 1.15; then
 * 1 + 0.25. */
static void last_bucket_other_splits(void)
{
    static const struct {
        uint64_t first;
        uint32_t at;
        ovl_time none, measured; /* us */
    } rows[] = {{48, 3, 214000, 214600}, {92, 5, 211250, 212400}};
    for (size_t i = 0; i < OVL_COUNT(rows); i++) {
        tiny t;
        ovl_result r = last_bucket(&t, rows[i].first, rows[i].at, OVL_INTERFERENCE_NONE);
        CHECK_INT(r.step, rows[i].none * OVL_US);
        tiny_free(&t);
        r = last_bucket(&t, rows[i].first, rows[i].at, OVL_INTERFERENCE_MEASURED);
        CHECK_INT(r.step, rows[i].measured * OVL_US);
        CHECK_INT(r.without_interference, rows[i].none * OVL_US);
        tiny_free(&t);
    }
}

/* --- Choices
 * ------------------------------------------------------------------------------------------------
 */

static void nothing_to_communicate(void)
{
    tiny t;
    tiny_init(&t, 1);
    tiny_kernel(&t, "compute", "k", 5 * MS);
    ovl_result r = analyse(&t, OVL_INTERFERENCE_NONE);
    CHECK(!r.equation.present);
    CHECK(r.mean_busbw < 0);
    CHECK_INT(r.n_collectives, 0);
    CHECK_INT(r.n_path, 1);
    tiny_free(&t);
}

static void add_many(tiny *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        tiny_collective(t, "comm", ovl_arena_printf(&t->arena, "c%02" PRIu32, i), 0,
                        (ovl_time)(i + 1) * MS);
    }
}

static uint32_t count_simulated(const ovl_result *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_collectives; i++) {
        n += r->collectives[i].worth != OVL_NEVER;
    }
    return n;
}

/* 12 collectives of 1..12 ms in a row, nothing beside them: each is worth its own time. */
static void worth_of_all_none_or_one(void)
{
    tiny t;
    tiny_init(&t, 2);
    add_many(&t, 12);
    CHECK(tiny_freeze(&t));
    static const struct {
        ovl_worth worth;
        uint32_t n;
    } rows[] = {{OVL_WORTH_DEFAULT, OVL_WORTH_DEFAULT_NAMES},
                {OVL_WORTH_ALL, 12},
                {OVL_WORTH_NONE, 0},
                {OVL_WORTH_NAME, 1}};
    for (size_t i = 0; i < OVL_COUNT(rows); i++) {
        ovl_result r;
        ovl_analyse_options options = {.worth = rows[i].worth, .worth_name = "c03"};
        CHECK(ovl_analyse(&t.program, &options, &t.arena, &r, NULL, &t.errs));
        CHECK_INT(count_simulated(&r), rows[i].n);
        if (rows[i].worth == OVL_WORTH_NAME) {
            CHECK_INT(row_of(&r, "c03")->worth, 4 * MS);
        }
    }
    ovl_result r = {0};
    ovl_analyse_options options = {.worth = OVL_WORTH_NAME, .worth_name = "nobody"};
    CHECK(!ovl_analyse(&t.program, &options, &t.arena, &r, NULL, &t.errs));
    CHECK_INT(ovl_errs_status(&t.errs), OVL_E_USAGE);
    CHECK_HAS(t.errs.items[0].text, "nobody");
    tiny_free(&t);
}

static void names_that_differ_in_numbers_are_alike(void)
{
    static const char *const names[] = {"x[1].go mb 2", "x[1].go mb 13", "x[2].go mb 2", "y", "3"};
    ovl_arena a = {0};
    uint32_t number[5];
    CHECK_TEXT(ovl_alike_text(names[1], OVL_ALIKE_SAME, &a), "x[1].go mb 13");
    CHECK_TEXT(ovl_alike_text(names[1], OVL_ALIKE_LAST, &a), "x[1].go mb *");
    CHECK_TEXT(ovl_alike_text(names[1], OVL_ALIKE_ALL, &a), "x[*].go mb *");
    CHECK_TEXT(ovl_alike_text("12RECV_F3", OVL_ALIKE_LAST, &a), "12RECV_F*");
    CHECK_TEXT(ovl_alike_text("y", OVL_ALIKE_LAST, &a), "y");
    CHECK_TEXT(ovl_alike_text("", OVL_ALIKE_ALL, &a), "");
    CHECK_INT(ovl_alike_number(names, 5, OVL_ALIKE_LAST, number), 4);
    CHECK_INT(number[1], number[0]);
    CHECK_INT(ovl_alike_number(names, 5, OVL_ALIKE_ALL, number), 3);
    CHECK_INT(number[2], number[0]);
    ovl_arena_free(&a);
}

/* Behind each other on one stream: 4 of 10 ms of layers 0 and 1, microbatches 0 and 1, and one of
 * 5, 45 in all. Too many to free one by one (5 runs of 5 operations: both ranks are one class) are
 * those of a layer together, 20 each, or all of both, 40. */
static void what_is_alike_is_freed_together(void)
{
    tiny t;
    tiny_init(&t, 2);
    for (int i = 0; i < 4; i++) {
        tiny_collective(&t, "comm", ovl_arena_printf(&t.arena, "go %d mb %d", i / 2, i % 2), 0,
                        10 * MS);
    }
    tiny_collective(&t, "comm", "other", 0, 5 * MS);
    CHECK(tiny_freeze(&t));
    ovl_result r;
    ovl_analyse_options options = {.worth = OVL_WORTH_ALL, .worth_ops = 25};
    CHECK(ovl_analyse(&t.program, &options, &t.arena, &r, NULL, &t.errs));
    CHECK_INT(r.step, 45 * MS);
    CHECK_INT(r.n_together, 0);
    CHECK_INT(row_of(&r, "go 0 mb 1")->worth, 10 * MS);
    options.worth_ops = 24;
    CHECK(ovl_analyse(&t.program, &options, &t.arena, &r, NULL, &t.errs));
    CHECK_INT(r.n_together, 3);
    CHECK_TEXT(r.together[0].name, "go 0 mb *");
    CHECK_TEXT(r.together[1].name, "go 1 mb *");
    CHECK_TEXT(r.together[2].name, "other");
    CHECK_INT(r.together[1].worth, 20 * MS);
    CHECK_INT(r.together[1].names, 2);
    CHECK_INT(row_of(&r, "go 0 mb 1")->worth, 10 * MS); /* one of the default */
    options.worth_ops = 14;
    CHECK(ovl_analyse(&t.program, &options, &t.arena, &r, NULL, &t.errs));
    CHECK_INT(r.n_together, 2);
    CHECK_TEXT(r.together[0].name, "go * mb *");
    CHECK_INT(r.together[0].worth, 40 * MS);
    CHECK_INT(r.together[1].worth, 5 * MS);
    tiny_free(&t);
}

/* Rank 1 computes 3 ms longer: two classes; rank 0 waits 3 ms for it. */
static void ranks_that_differ_have_rows_of_their_own(void)
{
    tiny t;
    tiny_init(&t, 4);
    uint32_t k = tiny_kernel(&t, "compute", "k", 5 * MS);
    tiny_collective(&t, "comm", "reduce", 0, 10 * MS);
    tiny_after(&t, k);
    ovl_id slow = tiny_code(&t);
    k = tiny_kernel(&t, "compute", "k", 8 * MS);
    tiny_collective(&t, "comm", "reduce", 0, 10 * MS);
    tiny_after(&t, k);
    tiny_use(&t, 1, slow);
    ovl_result r = analyse(&t, OVL_INTERFERENCE_NONE);
    CHECK_INT(r.n_ranks, 2);
    CHECK_INT(r.ranks[0].count, 3);
    CHECK_INT(r.ranks[1].rank, 1);
    CHECK_INT(r.ranks[0].term[OVL_WAIT_LATE_RANK], 3 * MS);
    CHECK_INT(r.collectives[0].wait, 3 * MS);
    CHECK_INT(r.collectives[1].wait, 0);
    CHECK_INT(r.collectives[0].start, 8 * MS);
    /* 1024 bytes in 10 ms over 4 ranks: algbw 102400 B/s, busbw 2 * 3/4 of it */
    CHECK_NEAR(r.collectives[0].algbw, 102400, 1e-6);
    CHECK_NEAR(r.collectives[0].busbw, 153600, 1e-6);
    CHECK_NEAR(r.mean_busbw, 153600, 1e-6);
    tiny_free(&t);
}

static void results_keep_their_own_timeline(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_kernel(&t, "compute", "k", 5 * MS);
    tiny_collective(&t, "comm", "reduce", 0, 10 * MS);
    CHECK(tiny_freeze(&t));
    const char *not_modelled[] = {"weather"};
    ovl_analyse_options options = {.not_modelled = not_modelled, .n_not_modelled = 1};
    ovl_result r;
    ovl_timeline kept;
    CHECK(ovl_analyse(&t.program, &options, &t.arena, &r, &kept, &t.errs));
    CHECK_INT(kept.step, 10 * MS);
    CHECK(kept.n_segments > 0);
    CHECK_TEXT(r.not_modelled[0], "weather");
    tiny_free(&t);
}

/* --- Any program --- */

static void check_row(const ovl_result_collective *c)
{
    CHECK_INT(c->ready + c->queue + c->wait, c->start);
    CHECK(c->queue >= 0 && c->wait >= 0 && c->slack >= 0);
    CHECK_INT(c->exposed, OVL_MAX(0, c->end - c->u_path));
    CHECK_INT(c->window, c->u_path - c->ready);
    CHECK(!c->on_critical_path || c->slack == 0);
    if (c->worth != OVL_NEVER) {
        CHECK_INT(OVL_MAX(c->end, c->u_path) - c->u_variant, c->exposed + c->interference);
    }
}

static void check_rank(const ovl_result_rank *rank, ovl_time step)
{
    ovl_time sum = 0;
    uint64_t held = 0;
    for (int i = 0; i < OVL_TERM_COUNT; i++) {
        sum += rank->term[i];
    }
    CHECK_INT(sum, step);
    for (uint32_t i = 0; i < rank->live.n_holders; i++) {
        held += rank->live.holders[i].bytes;
    }
    CHECK_INT(held, rank->live_peak);
    CHECK(rank->live_peak <= rank->allocated_peak);
    CHECK(rank->allocated_peak <= rank->reserved_peak);
}

static void check_result(const ovl_result *r)
{
    uint32_t ranks = 0;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        check_rank(&r->ranks[i], r->step);
        ranks += r->ranks[i].count;
    }
    CHECK_INT(ranks, r->n_ranks_simulated);
    for (uint32_t i = 0; i < r->n_collectives; i++) {
        check_row(&r->collectives[i]);
    }
    const ovl_result_equation *e = &r->equation;
    if (e->present) {
        CHECK_INT(e->u_path + e->exposed + e->after, r->step);
        CHECK_INT(e->u_variant + e->interference, e->u_path);
    }
    CHECK_INT(r->comm_total, r->hidden_comm + r->comm_uncovered);
}

static void sums_hold_on_random_programs(void)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        ovl_arena arena = {0};
        random_options random = {
            .seed = seed, .n_ranks = 2 + 2 * (seed % 4), .n_actions = 100, .prefix = ""};
        ovl_program p = random_program(&random, &arena);
        ovl_errs errs = {.arena = &arena};
        ovl_result r;
        ovl_analyse_options options = {.interference = (ovl_interference)(seed % 3)};
        if (CHECK(ovl_analyse(&p, &options, &arena, &r, NULL, &errs))) {
            check_result(&r);
        }
        ovl_arena_free(&arena);
    }
}

/* One operation may touch what the whole model has: an optimizer waits for BUCKETS reductions and
 * consumes TENSORS gradients, which became ready from the last to the first. Work that grew with
 * the square of either would not be over before the test's time is. */
static void one_operation_may_touch_the_whole_model(void)
{
    enum { TENSORS = 600000, BUCKETS = 8000 };
    tiny t;
    tiny_init(&t, 2);
    ovl_id bucket = tiny_buffer(&t, "bucket", 1024);
    ovl_id *names = calloc(TENSORS, sizeof *names), *parameters = calloc(TENSORS, sizeof *names);
    for (uint32_t i = 0; i < TENSORS; i++) {
        names[i] = ovl_name(&t.b, ovl_arena_printf(&t.arena, "g%" PRIu32, i));
        parameters[i] = tiny_buffer(&t, OVL_NAME(t.b.names, names[i]), 8);
    }
    uint32_t backward = tiny_kernel(&t, "compute", "backward", 5 * MS);
    tiny_writes(&t, bucket);
    for (uint32_t i = TENSORS; i-- > 0;) {
        ovl_add_effect(&t.b, t.code,
                       &(ovl_effect){.kind = OVL_PRODUCE,
                                     .buffer = bucket,
                                     .source = OVL_NONE,
                                     .gradient = names[i],
                                     .scale = 0.5});
    }
    uint32_t first = tiny_collective(&t, "comm", "reduce", 0, MS);
    tiny_after(&t, backward);
    tiny_reads(&t, bucket);
    tiny_writes(&t, bucket);
    ovl_add_effect(
        &t.b, t.code,
        &(ovl_effect){.kind = OVL_SUM, .buffer = bucket, .source = bucket, .gradient = OVL_NONE});
    for (uint32_t i = 1; i < BUCKETS; i++) {
        tiny_collective(&t, "comm", "reduce", 0, MS);
    }
    tiny_kernel(&t, "compute", "optimizer", MS);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        tiny_after(&t, first + i);
    }
    for (uint32_t i = 0; i < TENSORS; i++) {
        tiny_reads(&t, parameters[i]);
        tiny_writes(&t, parameters[i]);
    }
    ovl_add_effect(
        &t.b, t.code,
        &(ovl_effect){
            .kind = OVL_CONSUME, .buffer = bucket, .source = OVL_NONE, .gradient = OVL_NONE});
    ovl_result r = {0};
    ovl_analyse_options options = {.worth = OVL_WORTH_NONE, .scenario = "tiny"};
    CHECK(tiny_freeze(&t));
    CHECK(ovl_analyse(&t.program, &options, &t.arena, &r, NULL, &t.errs));
    CHECK_INT(r.step, (5 + BUCKETS + 1) * MS);
    CHECK_INT(r.n_hazards, 0);
    CHECK_INT(r.gradients_proved, 2 * TENSORS);
    CHECK_INT(r.n_collectives, BUCKETS);
    CHECK_INT(r.collectives[BUCKETS - 1].u_path, 5 * MS);
    free(names);
    free(parameters);
    tiny_free(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"33 = 25 + 4 + 4", matmul_beside_all_reduce},
        {"interference moves the consumer and is counted once", interference_is_counted_once},
        {"a tail is what compute does not cover", tails},
        {"one bucket: 217 = 210 + 7", last_bucket_whole},
        {"80 + 16: 213 = 211 + 2", last_bucket_80_16},
        {"48 + 48 and 92 + 4", last_bucket_other_splits},
        {"without communication there is no equation", nothing_to_communicate},
        {"worth of the most exposed, all, none or one", worth_of_all_none_or_one},
        {"names that differ in numbers are alike", names_that_differ_in_numbers_are_alike},
        {"what is alike is freed together", what_is_alike_is_freed_together},
        {"ranks that differ have rows of their own", ranks_that_differ_have_rows_of_their_own},
        {"a timeline can be kept for pictures", results_keep_their_own_timeline},
        {"sums and identities hold on random programs", sums_hold_on_random_programs},
        {"one operation may touch the whole model", one_operation_may_touch_the_whole_model},
        CU_TEST_INFO_NULL,
    };
    return check_main("analyse", tests);
}
