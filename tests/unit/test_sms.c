/* SMs as a resource of each rank: who has how many, and when; who met whom. */
#include "sim/engine.h"
#include "sim/occupancy.h"
#include "sim/uses.h"
#include "tests/support/lowering.h"
#include "tests/support/tiny.h"

/* Two ranks with 100 SMs each. `late` (4 ms) and `k` (20 ms) share those of rank 1 evenly, so both
 * run at half speed and late ends at 8 ms. The all-gather `a` has 100 MB of 200 to move at 10 GB/s:
 * 10 ms from there, 8..18 on both ranks; on rank 0 it has held its 20 SMs since 0. Kernels have 80
 * meanwhile, and run at 0.8.
 *
 *     rank 0   k 0..18 at 0.8: 14.4 ms of it, the other 5.6 at 1: ends at 23.6, lost 18/5 = 3.6
 *     rank 1   k 0..8 at 0.5, 8..18 at 0.8: 4 + 8, the other 8 at 1: ends at 26, lost 4 + 2 = 6
 */
static const char text[] =
    "hardware: {gpu: {sms: 100}, links: {own: {bandwidth: 10 GB/s}}, collectives: [{op: "
    "all_gather, via: [own], algorithm: ring, sms: 20}]}\n"
    "mesh: {axes: {dp: 2}}\n"
    "workload:\n"
    "  ops:\n"
    "    - {kernel: late, duration: 4 ms, ranks: [1], stream: s}\n"
    "    - {collective: a, op: all_gather, bytes: 200 MB, group: dp, stream: s}\n"
    "    - {kernel: k, duration: 20 ms, stream: c}\n";

static const ovl_result_resource *sms_of(const ovl_result *r)
{
    for (uint32_t i = 0; i < r->n_resources; i++) {
        if (r->resources[i].sms) {
            return &r->resources[i];
        }
    }
    return NULL;
}

static const ovl_result_collision *met(const ovl_result *r, const char *a, const char *b)
{
    static const ovl_result_collision none;
    for (uint32_t i = 0; i < r->n_collisions; i++) {
        const ovl_result_collision *c = &r->collisions[i];
        if (strcmp(c->resource, "SMs") == 0 && strcmp(c->a, a) == 0 && strcmp(c->b, b) == 0) {
            return c;
        }
    }
    return &none;
}

/* Together, what a and b lost on the deciding rank, and on all ranks. */
static void check_met(const ovl_result *r, const char *a, const char *b, int us[5], uint32_t on)
{
    const ovl_result_collision *c = met(r, a, b);
    CHECK_INT(c->shared, on);
    CHECK_INT(c->full, on);
    CHECK_INT(c->together, us[0] * OVL_US);
    CHECK_INT(c->lost_a, us[1] * OVL_US);
    CHECK_INT(c->lost_b, us[2] * OVL_US);
    CHECK_INT(c->all_a, us[3] * OVL_US);
    CHECK_INT(c->all_b, us[4] * OVL_US);
}

/* All 100 are in use until 23.6 ms on rank 0, 26 on rank 1, the busiest, whose end decides. On rank
 * 1 late and k lose 4 of 8 ms beside each other, then k 2 of 10 beside a; on rank 0 it loses 3.6 of
 * 18. That a and late never met is no row. In all 6 + 4 on rank 1, 13.6 on both. */
static void who_met_whom_is_told_of_sms(void)
{
    bench t = {0};
    CHECK(lower(&t, text, NULL) && analyse_both(&t));
    const ovl_result *r = &t.result;
    CHECK_INT(r->step, 26 * OVL_MS);
    const ovl_result_resource *sms = sms_of(r);
    CHECK(sms != NULL);
    if (sms) {
        CHECK_TEXT(sms->name, "SMs");
        CHECK_INT(sms->capacity, 100);
        CHECK_INT(sms->instances, 2);
        CHECK_INT(sms->busiest, 1);
        CHECK_INT(sms->busy, 26 * OVL_MS);
        CHECK_NEAR(sms->mean_use, 1, 1e-12);
        CHECK_INT(sms->bytes, 0);
        CHECK_INT(sms->lost, 10 * OVL_MS);
        CHECK_INT(sms->lost_all, 13600 * OVL_US);
        CHECK_INT(sms->alone_all, 0);
    }
    check_met(r, "a", "k", (int[]){18000, 0, 2000, 0, 5600}, 2);
    check_met(r, "k", "late", (int[]){8000, 4000, 4000, 4000, 4000}, 1);
    check_met(r, "a", "late", (int[]){0, 0, 0, 0, 0}, 0);
    finish(&t);
}

/* `a` alone holds 20 of 100 for 10 of 10 ms: a fifth, by both ranks folded into one as well. */
static void use_is_of_all_sms(void)
{
    bench t = {0};
    CHECK(lower(&t, text,
                "workload.ops=[{collective: a, op: all_gather, bytes: 200 MB, group: dp, ranks: "
                "[0, 1]}]"));
    CHECK(analyse_both(&t));
    const ovl_result_resource *folded = sms_of(&t.result), *whole = sms_of(&t.whole);
    CHECK(folded && whole);
    if (folded && whole) {
        CHECK_NEAR(folded->mean_use, 0.2, 1e-12);
        CHECK_NEAR(whole->mean_use, 0.2, 1e-12);
        CHECK_INT(folded->busy, 10 * OVL_MS);
        CHECK_INT(folded->instances, 2);
        CHECK_INT(whole->instances, 2);
        CHECK_INT(folded->busiest, whole->busiest);
    }
    CHECK_INT(t.result.n_collisions, 0);
    finish(&t);
}

/* The two of them: a fifth of the SMs in every piece, and kernels the rest. */
static void check_piece(const ovl_occupancy *p, int from_us, int to_us, const char *name,
                        double sms)
{
    bool found = false;
    CHECK_INT(p->from, from_us * OVL_US);
    CHECK_INT(p->to, to_us * OVL_US);
    CHECK_NEAR(p->takes, 100, 1e-9);
    for (uint32_t i = 0; i < p->n_users; i++) {
        if (strcmp(p->users[i].name, name) == 0) {
            CHECK_NEAR(p->users[i].takes, sms, 1e-9);
            found = true;
        }
    }
    CHECK(found);
}

static void who_has_how_many_is_told_over_time(void)
{
    bench t = {0};
    ovl_timeline timeline;
    ovl_causes causes;
    ovl_run_options options = {.interference = OVL_INTERFERENCE_SHARED, .segments = true};
    CHECK(lower(&t, text, NULL));
    CHECK(ovl_run(t.p, &options, &t.arena, &timeline, &t.errs));
    ovl_causes_init(&causes, t.p, &timeline, &t.arena);
    uint32_t n;
    const ovl_occupancy *p = ovl_occupancy_of(&causes, ovl_sms_of_rank(t.p, 0), &t.arena, &n);
    CHECK_INT(n, 2);
    if (n == 2) {
        check_piece(&p[0], 0, 18000, "a", 20);
        check_piece(&p[0], 0, 18000, "k", 80);
        check_piece(&p[1], 18000, 23600, "k", 100);
        CHECK_INT(p[0].capacity, 100);
    }
    p = ovl_occupancy_of(&causes, ovl_sms_of_rank(t.p, 1), &t.arena, &n);
    CHECK_INT(n, 3);
    if (n == 3) {
        check_piece(&p[0], 0, 8000, "late", 50);
        check_piece(&p[0], 0, 8000, "k", 50);
        check_piece(&p[1], 8000, 18000, "a", 20);
        check_piece(&p[2], 18000, 26000, "k", 100);
    }
    ovl_causes_free(&causes);
    finish(&t);
}

/* Two collectives of different communicators hold 50 of 100 SMs each from 1 ms on. A kernel that is
 * running then has none left. */
static void all_sms_held_is_an_error_for_who_wants_some(void)
{
    static const char *const yaml =
        "hardware: {gpu: {sms: 100}}\n"
        "mesh: {axes: {a: 2, b: 2}, order: [a, b]}\n"
        "workload:\n"
        "  ops:\n"
        "    - {marker: pause, duration: 1 ms, stream: s}\n"
        "    - {collective: x, op: all_reduce, bytes: 1 MB, duration: 2 ms, group: a, sms: 50, "
        "stream: x, after: pause}\n"
        "    - {collective: y, op: all_reduce, bytes: 1 MB, duration: 2 ms, group: b, sms: 50, "
        "stream: y, after: pause}\n"
        "    - {kernel: k, duration: 20 ms}\n";
    bench t = {0};
    CHECK(lower(&t, yaml, NULL));
    CHECK(!analyse(&t));
    CHECK_HAS(mistake(&t),
              "\"k\" on rank 0: at 1 ms communication that has arrived holds 100 of its "
              "100 SMs, and nothing is left for it");
    CHECK(lower(&t, yaml, "workload.ops.y.sms=49"));
    CHECK(analyse(&t));
    /* 2 ms at 1/100 of its speed. */
    CHECK_INT(t.result.step, 20 * OVL_MS + 2 * OVL_MS - 2 * OVL_MS / 100);
    finish(&t);
}

/* `sms: 0` of a kernel is none, not all: SMs that are held do not slow it. */
static void a_kernel_may_state_that_it_wants_none(void)
{
    static const char *const yaml =
        "hardware: {gpu: {sms: 100}}\n"
        "mesh: {axes: {a: 2}}\n"
        "workload:\n"
        "  ops:\n"
        "    - {kernel: k, duration: 1 ms, sms: 0}\n"
        "    - {collective: x, op: all_gather, bytes: 1 MB, duration: 1 ms, group: a, sms: 50}\n";
    bench t = {0};
    CHECK(lower(&t, yaml, NULL));
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, OVL_MS);
    CHECK(lower(&t, yaml, "workload.ops.k.sms=100"));
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, OVL_MS + OVL_MS / 2);
    finish(&t);
}

/* A kernel that only moves bytes wants no SMs, as copies into buckets: it never lacks them. */
static void who_wants_no_sms_never_lacks_them(void)
{
    tiny t;
    tiny_init(&t, 2);
    t.b.sms = 100;
    t.kind.sms = 100;
    tiny_collective(&t, "comm", "x", 0, 2 * OVL_MS);
    uint32_t moved = tiny_kernel(&t, "compute", "copy_in", 5 * OVL_MS);
    if (CHECK(tiny_run(&t, OVL_INTERFERENCE_SHARED))) {
        CHECK_INT(tiny_end(&t, 0, moved), 5 * OVL_MS);
    }
    tiny_free(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"who met whom is told of SMs", who_met_whom_is_told_of_sms},
        {"use is of all SMs", use_is_of_all_sms},
        {"all SMs held is an error for who wants some",
         all_sms_held_is_an_error_for_who_wants_some},
        {"a kernel may state that it wants none", a_kernel_may_state_that_it_wants_none},
        {"who wants no SMs never lacks them", who_wants_no_sms_never_lacks_them},
        {"who has how many is told over time", who_has_how_many_is_told_over_time},
        CU_TEST_INFO_NULL,
    };
    return check_main("SMs as a resource", tests);
}
