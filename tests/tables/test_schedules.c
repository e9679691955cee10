/*
 * Pipeline schedules against tables: small runs of every schedule, and the bubble rates of the
 * zero-bubble paper.
 */
#include "models/schedule_csv.h"
#include "models/schedule_lower.h"
#include "models/schedule_time.h"
#include "tests/support/check.h"
#include "tests/tables/table.h"

#include <stdlib.h>
#include <string.h>

/* --- The small runs --- */

static ovl_time *fill(ovl_arena *arena, uint32_t n, double value)
{
    ovl_time *list = OVL_NEW_ARRAY(arena, ovl_time, n);
    for (uint32_t i = 0; i < n; i++) {
        list[i] = (ovl_time)value;
    }
    return list;
}

static ovl_schedule_costs costs_of(const table *t, uint32_t row, uint32_t n, ovl_arena *arena)
{
    return (ovl_schedule_costs){
        .forward = fill(arena, n, table_number(t, row, "F")),
        .input = fill(arena, n, table_number(t, row, "I")),
        .weight = fill(arena, n, table_number(t, row, "W")),
        .backward = fill(arena, n, table_number(t, row, "B")),
        .pair = fill(arena, n, table_number(t, row, "F_and_B_overlapped")),
        .hop = (ovl_time)table_number(t, row, "p2p_latency"),
    };
}

/* "4 3 2 1" against a value for each rank. */
static const char *next_number(const char *text, long *value)
{
    char *end;
    *value = strtol(text, &end, 10);
    return end;
}

static void check_ranks(const table *t, uint32_t row, const ovl_schedule *s,
                        const ovl_schedule_times *times)
{
    const char *idle = table_cell(t, row, "idle_per_rank");
    const char *weight = table_cell(t, row, "peak_activations_per_rank_release_at_B_or_W");
    const char *input = table_cell(t, row, "peak_activations_per_rank_release_at_B_or_I");
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        long value;
        idle = next_number(idle, &value);
        CHECK_INT(times->makespan - times->ranks[r].busy, value);
        weight = next_number(weight, &value);
        CHECK_INT(times->ranks[r].peak_weight, value);
        input = next_number(input, &value);
        CHECK_INT(times->ranks[r].peak_input, value);
    }
}

static void check_run(const table *t, uint32_t row)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    const ovl_schedule_kind *kind = ovl_schedule_find(table_cell(t, row, "schedule"));
    CHECK(kind != NULL);
    ovl_schedule_spec spec = {.ranks = (uint32_t)table_number(t, row, "ranks"),
                              .stages_per_rank = (uint32_t)table_number(t, row, "stages_per_rank"),
                              .microbatches = (uint32_t)table_number(t, row, "microbatches")};
    ovl_schedule s;
    ovl_schedule_times times;
    bool ok = kind && ovl_schedule_make(kind, &spec, &s, &arena, &errs);
    CHECK(ok);
    CHECK(ok && ovl_schedule_check(&s, true, (ovl_mark){0}, &errs));
    ovl_schedule_costs costs = costs_of(t, row, ok ? s.n_stages : 0, &arena);
    CHECK(ok && ovl_schedule_time(&s, &costs, &times, &arena, &errs));
    if (ok) {
        CHECK_INT(times.makespan, table_number(t, row, "makespan"));
        CHECK_INT(times.span, table_number(t, row, "max_rank_span"));
        check_ranks(t, row, &s, &times);
    }
    ovl_arena_free(&arena);
}

static void small_runs_take_what_the_table_says(void)
{
    table *t = table_read("handout_schedule_oracles.csv");
    CHECK(t->n_rows >= 40);
    for (uint32_t row = 0; row < t->n_rows; row++) {
        check_run(t, row);
    }
    table_free(t);
}

/* --- The zero-bubble paper --- */

/* Bubble rate of the largest span, one of 1F1B, ZB-H1, ZB-H2, ZB-1p, ZB-2p. */
static double rate_of(const table *in, uint32_t row, const char *schedule)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    uint32_t p = (uint32_t)table_number(in, row, "pp");
    double h = table_number(in, row, "hidden");
    double a = table_number(in, row, "heads"), s = table_number(in, row, "seq");
    uint64_t *activation = OVL_NEW_ARRAY(&arena, uint64_t, p);
    uint64_t *kept = OVL_NEW_ARRAY(&arena, uint64_t, p);
    for (uint32_t r = 0; r < p; r++) {
        activation[r] = (uint64_t)(34 * h + 5 * a * s);
        kept[r] = (uint64_t)(32 * h);
    }
    double f = table_number(in, row, "TF_ms") * 1000, b = table_number(in, row, "TB_ms") * 1000;
    double w = table_number(in, row, "TW_ms") * 1000;
    ovl_schedule_costs costs = {.forward = fill(&arena, p, f + 0.5),
                                .input = fill(&arena, p, b + 0.5),
                                .weight = fill(&arena, p, w + 0.5),
                                .backward = fill(&arena, p, b + w + 0.5),
                                .hop = (ovl_time)(table_number(in, row, "Tcomm_ms") * 1000 + 0.5)};
    ovl_schedule_spec spec = {.ranks = p,
                              .stages_per_rank = 1,
                              .microbatches = (uint32_t)table_number(in, row, "num_microbatches"),
                              .forward = costs.forward,
                              .input = costs.input,
                              .weight = costs.weight,
                              .hop = costs.hop,
                              .activation = activation,
                              .kept = kept};
    ovl_schedule made;
    ovl_schedule_times times;
    bool ok = ovl_schedule_make(ovl_schedule_find(schedule), &spec, &made, &arena, &errs) &&
              ovl_schedule_time(&made, &costs, &times, &arena, &errs);
    CHECK(ok);
    double rate = ok ? (double)(times.span - times.ranks[0].busy) / (double)times.span : -1;
    ovl_arena_free(&arena);
    return rate;
}

static void bubble_rates_are_those_of_the_paper(void)
{
    static const char *const schedules[] = {"1F1B", "ZB-H1", "ZB-H2", "ZB-1p", "ZB-2p"};
    table *in = table_read("handout_zb_table3_9_inputs.csv");
    table *out = table_read("handout_zb_table5_bubble_rates.csv");
    int found = 0;
    for (uint32_t i = 0; i < in->n_rows; i++) {
        for (uint32_t k = 0; k < out->n_rows; k++) {
            if (strcmp(table_cell(in, i, "model"), table_cell(out, k, "model")) != 0 ||
                strcmp(table_cell(in, i, "num_microbatches"),
                       table_cell(out, k, "num_microbatches")) != 0) {
                continue;
            }
            for (size_t s = 0; s < OVL_COUNT(schedules); s++) {
                double want = table_number(out, k, schedules[s]);
                CHECK_NEAR(rate_of(in, i, schedules[s]), want, 0.00005);
                found++;
            }
        }
    }
    CHECK_INT(found, 30);
    table_free(in);
    table_free(out);
}

/* --- PyTorch's text form --- */

static const char *without_returns(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        *to = *from;
        to += *from != '\r';
    }
    *to = 0;
    return text;
}

static void check_lowering(const char *compute, const char *comms, uint32_t steps)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_schedule s;
    ovl_csv_dialect dialect = OVL_CSV_NEW;
    char *text = table_text(compute, &arena), *want = table_text(comms, &arena);
    CHECK(text && want);
    if (!text || !want || !ovl_schedule_read_csv(compute, text, &s, &dialect, &arena, &errs)) {
        CHECK_TEXT(errs.count ? errs.items[0].text : "not there", compute);
        ovl_arena_free(&arena);
        return;
    }
    CHECK_TEXT(ovl_schedule_print_csv(&s, dialect, &arena), without_returns(text));
    CHECK(ovl_schedule_send_recv(&s, &s, (ovl_mark){0}, &arena, &errs));
    CHECK_TEXT(ovl_schedule_print_csv(&s, dialect, &arena), without_returns(want));
    CHECK_INT(ovl_schedule_steps(&s, (ovl_mark){0}, &errs), steps);
    ovl_arena_free(&arena);
}

static void lowerings_are_those_of_pytorch(void)
{
    check_lowering("handout_sched_simple_2rank_compute.csv",
                   "handout_sched_simple_2rank_comms_expected.csv", 11);
    check_lowering("handout_sched_v_2rank_4stage_compute.csv",
                   "handout_sched_v_2rank_4stage_comms_expected.csv", 24);
}

static double interleaved_rate(const table *in, uint32_t row, double *cost)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    const uint32_t v = 3;
    uint32_t p = (uint32_t)table_number(in, row, "pp"), n = p * v;
    double f = table_number(in, row, "TF_ms") * 1000 / v;
    double b = (table_number(in, row, "TB_ms") + table_number(in, row, "TW_ms")) * 1000 / v;
    ovl_schedule_costs costs = {.forward = fill(&arena, n, f + 0.5),
                                .input = fill(&arena, n, 0),
                                .weight = fill(&arena, n, 0),
                                .backward = fill(&arena, n, b + 0.5),
                                .hop = (ovl_time)(table_number(in, row, "Tcomm_ms") * 1000 + 0.5)};
    ovl_schedule_spec spec = {.ranks = p,
                              .stages_per_rank = v,
                              .microbatches = (uint32_t)table_number(in, row, "num_microbatches")};
    ovl_schedule s;
    ovl_schedule_times times = {0};
    bool ok = ovl_schedule_make(&ovl_schedule_interleaved, &spec, &s, &arena, &errs) &&
              ovl_schedule_time(&s, &costs, &times, &arena, &errs);
    CHECK(ok);
    *cost = (double)times.span;
    double rate = ok ? (double)(times.span - times.ranks[0].busy) / *cost : -1;
    ovl_arena_free(&arena);
    return rate;
}

/* Interleaved 1F1B of that table, three chunks a rank: equal up to how hops are counted, at most p
 * of them. */
static void interleaved_rates_are_within_the_hops(void)
{
    table *in = table_read("handout_zb_table3_9_inputs.csv");
    table *out = table_read("handout_zb_table5_bubble_rates.csv");
    int found = 0;
    for (uint32_t i = 0; i < in->n_rows; i++) {
        for (uint32_t k = 0; k < out->n_rows; k++) {
            if (strcmp(table_cell(in, i, "model"), table_cell(out, k, "model")) != 0 ||
                strcmp(table_cell(in, i, "num_microbatches"),
                       table_cell(out, k, "num_microbatches")) != 0) {
                continue;
            }
            double cost, rate = interleaved_rate(in, i, &cost);
            double hops = table_number(in, i, "pp") * table_number(in, i, "Tcomm_ms") * 1000;
            CHECK_NEAR(rate, table_number(out, k, "1F1B-I"), hops / cost);
            found++;
        }
    }
    CHECK_INT(found, 6);
    table_free(in);
    table_free(out);
}

static CU_TestInfo tests[] = {
    {"small runs take what the table says", small_runs_take_what_the_table_says},
    {"bubble rates are those of the zero-bubble paper", bubble_rates_are_those_of_the_paper},
    {"interleaved rates are within the hops", interleaved_rates_are_within_the_hops},
    {"lowerings are those of PyTorch", lowerings_are_those_of_pytorch},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    int missing = table_missing();
    return missing ? missing : check_main("published schedules", tests);
}
