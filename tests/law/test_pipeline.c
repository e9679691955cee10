/*
 * Why the ranks of a pipeline idle, for random schedules, sizes and times: both accounts sum to the
 * idle time of each rank, and reasons planted one at a time and together are recovered exactly by
 * what is peeled off: each total is the difference of two runs with and without that reason.
 */
#include "sim/alter.h"
#include "tests/support/lowering.h"
#include "tests/support/random_program.h"

#include <stdio.h>

#define TRIES 150

/* A pipeline; times in microseconds. */
typedef struct drawn {
    const char *schedule;
    uint32_t p, v, m; /* v: stages on each rank, of DualPipe 1 of each copy */
    uint32_t stages;  /* of the model */
    uint32_t forward, input, weight;
    uint32_t slow, factor; /* this stage takes so many times as long */
    uint32_t hop, launch;
} drawn;

typedef struct kind {
    const char *name;
    bool loops;      /* several stages on each rank, any number */
    bool folds;      /* two of them */
    uint32_t rounds; /* microbatches are a multiple of so many times p */
} kind;

static const kind kinds[] = {
    {"gpipe", false, false, 0},         {"1f1b", false, false, 0},
    {"1f1b_megatron", false, false, 0}, {"looped_bfs", true, false, 0},
    {"interleaved", true, false, 1},    {"interleaved_megatron", true, false, 1},
    {"interleaved_zb", true, false, 1}, {"zb_h1", false, false, 0},
    {"zb_h2", false, false, 2},         {"zb_v", false, true, 0},
    {"v_half", false, true, 0},         {"v_min", false, true, 0},
    {"dualpipe", false, false, 2},      {"dualpipev", false, true, 2},
};

static uint32_t between(uint64_t *state, uint32_t low, uint32_t high)
{
    return low + random_next(state) % (high - low + 1);
}

/* The mean stage takes whole microseconds: times are multiples of the number of stages. */
static drawn draw(uint64_t *state)
{
    const kind *k = &kinds[random_next(state) % OVL_COUNT(kinds)];
    bool dual = strcmp(k->name, "dualpipe") == 0;
    drawn d = {.schedule = k->name, .p = between(state, 2, 5)};
    d.p += dual && d.p % 2;
    d.v = k->folds ? 2 : k->loops ? between(state, 2, 3) : 1;
    d.m = k->rounds ? k->rounds * d.p * between(state, 1, 2) : between(state, 1, 9);
    d.stages = d.p * d.v;
    d.forward = d.stages * between(state, 1, 40);
    d.input = d.stages * between(state, 1, 40);
    d.weight = d.stages * between(state, 1, 40);
    d.slow = between(state, 0, d.stages - 1);
    d.factor = between(state, 2, 4);
    d.hop = between(state, 1, 60);
    d.launch = between(state, 1, 60);
    return d;
}

static void put_stages(const drawn *d, bool slow, char *text, size_t size)
{
    size_t at = 0;
    for (uint32_t s = 0; s < d->stages; s++) {
        uint32_t times = !slow ? 1 : s == d->slow ? d->factor : 1;
        at += (size_t)snprintf(text + at, size - at,
                               "    - {name: s%" PRIu32 ", forward: %" PRIu32
                               " us, backward_input: %" PRIu32 " us, backward_weight: %" PRIu32
                               " us}\n",
                               s, d->forward * times, d->input * times, d->weight * times);
    }
}

/* All stages like the mean of those with the slow one. */
static drawn even(drawn d)
{
    uint32_t times = d.stages - 1 + d.factor;
    d.forward = d.forward / d.stages * times;
    d.input = d.input / d.stages * times;
    d.weight = d.weight / d.stages * times;
    return d;
}

static const ovl_result *run(bench *t, const drawn *d, bool slow, bool hop, bool launch)
{
    static char stages[16 * 120], text[sizeof stages + 400];
    put_stages(d, slow, stages, sizeof stages);
    snprintf(text, sizeof text,
             "hardware: {gpu: {name: example}, host: {launch: %" PRIu32 " us}}\n"
             "mesh: {axes: {pp: %" PRIu32 "}}\n"
             "workload:\n  stages:\n%s"
             "overlap: {pipeline: {schedule: %s, microbatches: %" PRIu32 ", alpha: %" PRIu32
             " us}}\n",
             launch ? d->launch : 0, d->p, stages, d->schedule, d->m, hop ? d->hop : 0);
    bool ok = lower(t, text, NULL);
    ovl_analyse_options options = {.worth = OVL_WORTH_NONE, .gaps = true};
    ok = ok && ovl_analyse(t->p, &options, &t->arena, &t->result, NULL, &t->errs);
    CHECK_TEXT(mistake(t), "none");
    if (!ok) {
        CHECK_TEXT(text, "runs");
    }
    return &t->result;
}

static ovl_time sum_of(const ovl_time *list, uint32_t n)
{
    ovl_time sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += list[i];
    }
    return sum;
}

static void check_sums(const ovl_result *r)
{
    ovl_time all = 0;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        const ovl_result_rank *rank = &r->ranks[i];
        ovl_time gaps = 0;
        for (uint32_t g = 0; g < rank->n_gaps; g++) {
            const ovl_result_gap *gap = &rank->gaps[g];
            CHECK_INT(sum_of(gap->piece, OVL_IDLE_COUNT), gap->end - gap->start);
            gaps += gap->end - gap->start;
        }
        CHECK_INT(gaps, rank->idle_time);
        CHECK_INT(sum_of(rank->idle, OVL_IDLE_COUNT), rank->idle_time);
        CHECK_INT(sum_of(rank->peeled, OVL_PEEL_COUNT), rank->idle_time);
        all += rank->idle_time * rank->count;
    }
    CHECK_INT(r->idle.time, all);
    CHECK_INT(sum_of(r->idle.piece, OVL_IDLE_COUNT), all);
    CHECK_INT(sum_of(r->idle.peeled, OVL_PEEL_COUNT), all);
}

static ovl_time idle_of(const drawn *d, bool slow, bool hop, bool launch)
{
    bench t = {0};
    ovl_time idle = run(&t, d, slow, hop, launch)->idle.time;
    finish(&t);
    return idle;
}

/* What is planted is found, and nothing else. */
static void check_planted(const drawn *d, bool slow, bool hop, bool launch)
{
    bench t = {0};
    const ovl_result *r = run(&t, d, slow, hop, launch);
    check_sums(r);
    drawn mean = slow ? even(*d) : *d;
    ovl_time structural = idle_of(&mean, false, false, false);
    ovl_time uneven = idle_of(d, slow, false, false), late = idle_of(d, slow, hop, false);
    CHECK_INT(r->idle.peeled[OVL_PEEL_STRUCTURAL], structural);
    CHECK_INT(r->idle.peeled[OVL_PEEL_IMBALANCE], uneven - structural);
    CHECK_INT(r->idle.peeled[OVL_PEEL_DEPENDENCY], late - uneven);
    CHECK_INT(r->idle.peeled[OVL_PEEL_HOST], r->idle.time - late);
    CHECK(slow || r->idle.piece[OVL_IDLE_IMBALANCE] == 0);
    CHECK(hop || r->idle.piece[OVL_IDLE_DEPENDENCY] == 0);
    CHECK(launch || r->idle.piece[OVL_IDLE_HOST] == 0);
    CHECK_INT(r->idle.piece[OVL_IDLE_SCHEDULE], 0);
    finish(&t);
}

static void reasons_are_recovered(bool slow, bool hop, bool launch)
{
    uint64_t state = 7;
    for (int i = 0; i < TRIES; i++) {
        drawn d = draw(&state);
        check_planted(&d, slow, hop, launch);
    }
}

static void nothing_planted(void)
{
    reasons_are_recovered(false, false, false);
}

static void a_slow_stage(void)
{
    reasons_are_recovered(true, false, false);
}

static void late_transfers(void)
{
    reasons_are_recovered(false, true, false);
}

static void a_slow_host(void)
{
    reasons_are_recovered(false, false, true);
}

static void all_together(void)
{
    reasons_are_recovered(true, true, true);
}

/* --- Orders that are searched for --- */

/* A pipeline of stages that are equal, or not, and hops of a few times or less. */
static void put_searched(uint64_t *state, const char *schedule, bool even, char *text, size_t size)
{
    uint32_t p = between(state, 2, 6), stages = strcmp(schedule, "v_half") == 0 ? 2 * p : p;
    size_t at = (size_t)snprintf(text, size,
                                 "mesh: {axes: {pp: %" PRIu32 "}}\n"
                                 "overlap: {pipeline: {schedule: %s, microbatches: %" PRIu32
                                 ", alpha: %" PRIu32 " us}}\n"
                                 "workload:\n  stages:\n",
                                 p, schedule, between(state, 1, 14), between(state, 0, 60));
    uint32_t forward = between(state, 1, 200), input = between(state, 1, 200),
             weight = between(state, 1, 200);
    for (uint32_t s = 0; s < stages; s++) {
        uint32_t tenths = even ? 10 : between(state, 8, 14);
        at += (size_t)snprintf(text + at, size - at,
                               "    - {name: s%" PRIu32 ", forward: %" PRIu32
                               " us, backward_input: %" PRIu32 " us, backward_weight: %" PRIu32
                               " us}\n",
                               s, forward * tenths, input * tenths, weight * tenths);
    }
}

/* All that idles in one order with free transfers. */
static ovl_time idle_in(bench *t, const ovl_program *order, bool mean)
{
    ovl_alteration how = {.mean_kernels = mean, .free_comm = true, .own_order = true};
    ovl_analyse_options options = {.worth = OVL_WORTH_NONE};
    ovl_program p = ovl_program_altered(order, &how, &t->arena);
    ovl_result result;
    p.orders = NULL;
    CHECK(ovl_analyse(&p, &options, &t->arena, &result, NULL, &t->errs));
    return result.idle.time;
}

/* A search may find less with hops of no time, or even stages, than with what there is. Each
 * account is that of the best order that is known: what the run does, what is found for the stages
 * without hops, and for even stages without hops. So hops never help. */
static void searches_do_not_miss_what_is_known(void)
{
    static const char *const schedules[] = {"zb_1p", "zb_2p", "v_half"};
    uint64_t state = 11;
    for (uint32_t i = 0; i < TRIES; i++) {
        char text[2000];
        bench t = {0};
        put_searched(&state, schedules[i % 3], i % 2, text, sizeof text);
        ovl_analyse_options options = {.worth = OVL_WORTH_NONE, .gaps = true};
        CHECK(lower(&t, text, NULL));
        CHECK(ovl_analyse(t.p, &options, &t.arena, &t.result, NULL, &t.errs));
        check_sums(&t.result);
        const ovl_program *found = ovl_program_ordered(t.p, OVL_ORDER_FREE),
                          *mean = ovl_program_ordered(t.p, OVL_ORDER_FREE | OVL_ORDER_EVEN);
        ovl_time uneven = OVL_MIN(idle_in(&t, t.p, false), idle_in(&t, found, false));
        ovl_time even = OVL_MIN(idle_in(&t, t.p, true), idle_in(&t, found, true));
        even = i % 2 ? uneven : OVL_MIN(even, idle_in(&t, mean, true));
        const ovl_time *peeled = t.result.idle.peeled;
        CHECK_INT(peeled[OVL_PEEL_STRUCTURAL], even);
        CHECK_INT(peeled[OVL_PEEL_IMBALANCE], uneven - even);
        CHECK(peeled[OVL_PEEL_DEPENDENCY] >= 0);
        CHECK(peeled[OVL_PEEL_DEPENDENCY] == 0 || t.result.idle.piece[OVL_IDLE_DEPENDENCY] > 0);
        finish(&t);
    }
}

static CU_TestInfo tests[] = {
    {"nothing planted: fill and drain alone", nothing_planted},
    {"a slow stage", a_slow_stage},
    {"late transfers", late_transfers},
    {"a slow host", a_slow_host},
    {"all of them together", all_together},
    {"searches do not miss what is known", searches_do_not_miss_what_is_known},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("laws of pipelines", tests);
}
