#include "tests/support/check.h"
#include "tools/equation.h"
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/wrap.h"

#include <stdlib.h>
#include <string.h>

/* A stream into memory. */
typedef struct page {
    char *text;
    size_t size;
    FILE *file;
    ovl_out out;
} page;

static void begin(page *p)
{
    *p = (page){0};
    p->file = open_memstream(&p->text, &p->size);
    ovl_out_stream(&p->out, p->file);
}

static const char *finish(page *p)
{
    CHECK(ovl_out_close(&p->out) == NULL);
    fclose(p->file);
    return p->text;
}

static void check_width(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (ovl_width(line) > OVL_TERMINAL) {
            CHECK_TEXT(line, "a line of at most 100 columns");
        }
        CHECK(length == 0 || text[length - 1] != ' ');
        text += length + (text[length] == '\n');
    }
}

/* 96 MiB in buckets of 80 and 16, measured: 213 = 211 + 2; compute 209, stretched by 2 while the
 * first bucket moves its bytes (5 ms at 1.25 takes 1 ms more twice: here simply 2), and 2 ms of the
 * second bucket uncovered, with no kernel beside it: 209 + 2 + 1 + 1 = 213. */
static const ovl_result_collective collectives[] = {
    {.name = "bucket_0",
     .group = "dp",
     .op = "all_reduce",
     .bytes = 80 << 20,
     .count = 8,
     .n = 8,
     .ready = 202 * OVL_MS,
     .start = 202 * OVL_MS,
     .end = 208 * OVL_MS,
     .consumer = "optimizer",
     .first_use = 213 * OVL_MS,
     .window = 9 * OVL_MS,
     .u_path = 211 * OVL_MS,
     .u_variant = OVL_NEVER,
     .interference = OVL_NEVER,
     .isolated = 6 * OVL_MS,
     .algbw = 13.98e9,
     .busbw = 24.47e9,
     .slack = 3 * OVL_MS,
     .worth = OVL_NEVER},
    {.name = "bucket_1",
     .group = "dp",
     .op = "all_reduce",
     .bytes = 16 << 20,
     .count = 8,
     .n = 8,
     .ready = 211 * OVL_MS,
     .start = 211 * OVL_MS,
     .end = 213 * OVL_MS,
     .consumer = "optimizer",
     .first_use = 213 * OVL_MS,
     .u_path = 211 * OVL_MS,
     .u_variant = 210 * OVL_MS,
     .exposed = 2 * OVL_MS,
     .interference = 1 * OVL_MS,
     .isolated = 2 * OVL_MS,
     .algbw = 8.4e9,
     .busbw = 14.7e9,
     .slack = 0,
     .worth = 2 * OVL_MS,
     .on_critical_path = true},
};
static const ovl_holder holders[] = {{"bucket_0", "reduce", 80 << 20},
                                     {"g1", "gradient", 16 << 20}};
static const ovl_result_rank ranks[] = {
    {.rank = 0,
     .count = 8,
     .term = {209 * OVL_MS, 2 * OVL_MS, OVL_MS, OVL_MS},
     .end = 213 * OVL_MS,
     .startups = 2,
     .has_memory = true,
     .allocated_peak = 200 << 20,
     .reserved_peak = 202 << 20,
     .live_peak = 96 << 20,
     .live = {.bytes = 96 << 20,
              .at = 202 * OVL_MS,
              .raised_by = "backward",
              .raised_buffer = "late.grad",
              .holders = holders,
              .n_holders = 2},
     .allocated = {.bytes = 200 << 20, .raised_by = "optimizer", .raised_buffer = "late.grad"},
     .reserved = {.bytes = 220 << 20,
                  .raised_by = "optimizer",
                  .raised_buffer = "late.grad",
                  .rounding = 4 << 20,
                  .unused = 16 << 20}},
};
static const ovl_result_path path[] = {
    {"backward", "compute", 0, 0, 211 * OVL_MS, "start"},
    {"bucket_1", "comm", 0, 211 * OVL_MS, 213 * OVL_MS, "after: backward"},
};
static const char *const not_modelled[] = {"SM contention: the GPU's SMs are not given"};

static ovl_result split(void)
{
    return (ovl_result){
        .scenario = "Last bucket",
        .variant = "split",
        .interference = "measured",
        .n_ranks_simulated = 1,
        .step = 213 * OVL_MS,
        .without_interference = 212 * OVL_MS,
        .term = {209 * OVL_MS, 2 * OVL_MS, OVL_MS, OVL_MS},
        .hidden_comm = 6 * OVL_MS,
        .comm_total = 8 * OVL_MS,
        .comm_uncovered = 2 * OVL_MS,
        .mean_busbw = 22.8e9,
        .startups = 2,
        .equation = {true, "bucket_1", "optimizer", 211 * OVL_MS, 2 * OVL_MS, 0, 210 * OVL_MS,
                     OVL_MS},
        .ranks = ranks,
        .n_ranks = 1,
        .collectives = collectives,
        .n_collectives = 2,
        .path = path,
        .n_path = 2,
        .hazards_checked = true,
        .accesses_checked = 14,
        .gradients_proved = 7,
        .gradient_scale = "1/8",
        .gradient_digest = 0xabcdef,
        .not_modelled = not_modelled,
        .n_not_modelled = 1,
    };
}

/* The same in one bucket: 217 = 210 + 7. */
static ovl_result whole(void)
{
    ovl_result r = split();
    r.variant = "base";
    r.step = 217 * OVL_MS;
    r.without_interference = 217 * OVL_MS;
    r.term[OVL_COMPUTE] = 210 * OVL_MS;
    r.term[OVL_COMPUTE_STRETCH] = 0;
    r.term[OVL_COMM_TRANSFER] = 6 * OVL_MS;
    r.equation = (ovl_result_equation){true,       "bucket_0", "optimizer",  210 * OVL_MS,
                                       7 * OVL_MS, 0,          210 * OVL_MS, 0};
    r.startups = 1;
    return r;
}

static const char *equation_of(const ovl_result *r, ovl_sum_style style, ovl_arena *arena)
{
    ovl_form form = ovl_form_of(&r, 1);
    ovl_sum sum = ovl_step_sum(r, &form, arena);
    ovl_scale scale = ovl_scale_for(r->step);
    ovl_sum_fit(&scale, r->step, &sum);
    return ovl_sum_text(arena, &scale, &sum, style);
}

static const char *start_of(const ovl_result *r, ovl_arena *arena)
{
    ovl_form form = ovl_form_of(&r, 1);
    ovl_sum sum = ovl_start_sum(r, &form);
    ovl_scale scale = ovl_scale_for(r->step);
    return ovl_sum_text(arena, &scale, &sum, OVL_SUM_WORDS);
}

static void equations(void)
{
    ovl_arena arena = {0};
    ovl_result r = split();
    CHECK_TEXT(equation_of(&r, OVL_SUM_PLAIN, &arena), "213 = 211 + 2");
    CHECK_TEXT(equation_of(&r, OVL_SUM_WORDS, &arena), "213 ms = 211 ms + 2 ms exposed");
    CHECK_TEXT(start_of(&r, &arena),
               "211 ms = 209 ms of kernels + 2 ms of stretch by what ran beside them");
    r.equation.after = 7 * OVL_MS;
    r.step = 220 * OVL_MS;
    CHECK_TEXT(equation_of(&r, OVL_SUM_WORDS, &arena),
               "220 ms = 211 ms + 2 ms exposed + 7 ms from optimizer on");
    /* Kernels run after the wait, too, so what the start consists of is told by the free run. */
    CHECK_TEXT(start_of(&r, &arena), "211 ms = 210 ms + 1 ms of delay");
    r.equation = (ovl_result_equation){0};
    CHECK_TEXT(equation_of(&r, OVL_SUM_PLAIN, &arena), "220");
    ovl_arena_free(&arena);
}

/* 20 -> 26 and 25 -> 30: nothing is exposed. The sum of the step has the terms it always has, the 5
 * are in the start: 30 = 30 + 0, 30 = 25 + 5. */
static void interference_alone(void)
{
    ovl_arena arena = {0};
    ovl_result r = {.step = 30 * OVL_MS, .term = {25 * OVL_MS, 5 * OVL_MS}};
    r.equation =
        (ovl_result_equation){true, "reduce", NULL, 30 * OVL_MS, 0, 0, 25 * OVL_MS, 5 * OVL_MS};
    CHECK_TEXT(equation_of(&r, OVL_SUM_WORDS, &arena), "30 ms = 30 ms + 0 ms exposed");
    CHECK_TEXT(start_of(&r, &arena),
               "30 ms = 25 ms of kernels + 5 ms of stretch by what ran beside them");
    /* Without a model nothing is stretched; what is late then queued behind the reduction. */
    r.term[OVL_COMPUTE_STRETCH] = 0;
    CHECK_TEXT(start_of(&r, &arena), "30 ms = 25 ms + 5 ms of delay");
    ovl_arena_free(&arena);
}

/* 213 = 211 + 2 alone; beside 27 = 25 + 0 + 2 both have three terms; beside a run that waits for
 * nothing the legend says what a number alone means. */
static void terms_are_the_same_for_all(void)
{
    ovl_arena arena = {0};
    ovl_scale scale = {OVL_UNIT_MS, 0};
    ovl_result r = split(), later = {.step = 27 * OVL_MS}, none = {.step = 9 * OVL_MS};
    later.equation = (ovl_result_equation){true, "reduce",   "update",  25 * OVL_MS,
                                           0,    2 * OVL_MS, OVL_NEVER, OVL_NEVER};
    const ovl_result *all[] = {&r, &later, &none};
    ovl_form form = ovl_form_of(all, 1);
    CHECK_TEXT(ovl_form_text(&form, &arena),
               "step = when the last waiting work could start + exposed communication");
    form = ovl_form_of(all, 2);
    CHECK_TEXT(ovl_form_text(&form, &arena),
               "step = when the last waiting work could start + exposed communication + the rest");
    ovl_sum sum = ovl_step_sum(&r, &form, &arena);
    CHECK_TEXT(ovl_sum_text(&arena, &scale, &sum, OVL_SUM_PLAIN), "213 = 211 + 2 + 0");
    sum = ovl_step_sum(&later, &form, &arena);
    CHECK_TEXT(ovl_sum_text(&arena, &scale, &sum, OVL_SUM_PLAIN), "27 = 25 + 0 + 2");
    CHECK_INT(ovl_start_sum(&r, &form).n, 0); /* the other was not run with it free */
    form = ovl_form_of(all, 3);
    CHECK_HAS(ovl_form_text(&form, &arena), "(a number alone: no work waits for communication)");
    sum = ovl_step_sum(&none, &form, &arena);
    CHECK_TEXT(ovl_sum_text(&arena, &scale, &sum, OVL_SUM_PLAIN), "9");
    form = ovl_form_of(all + 2, 1);
    CHECK_TEXT(ovl_form_text(&form, &arena), "step; no work waits for communication");
    ovl_arena_free(&arena);
}

/* Two decimals too few: 581.6816 + 32.1772 = 613.8588 at three decimals. The start reads 581.682 in
 * the sum and in the sentence, where the largest remainder alone would give 581.681 + 32.178. */
static void one_moment_reads_the_same(void)
{
    ovl_arena arena = {0};
    ovl_scale scale = {OVL_UNIT_MS, 3};
    ovl_result r = {.step = 613858800000};
    r.equation = (ovl_result_equation){true,        "reduce", "update",  581681600000,
                                       32177200000, 0,        OVL_NEVER, OVL_NEVER};
    const ovl_result *one = &r;
    ovl_form form = ovl_form_of(&one, 1);
    ovl_sum sum = ovl_step_sum(&r, &form, &arena);
    CHECK_TEXT(ovl_sum_text(&arena, &scale, &sum, OVL_SUM_PLAIN), "613.859 = 581.682 + 32.177");
    CHECK_TEXT(ovl_step_reason(&r, &scale, &arena),
               "reduce ends at 613.859 ms; update could start at 581.682 ms");
    r.step = 613858300000; /* 581.6816 + 32.1767: both remainders are above a half */
    r.equation.exposed = 32176700000;
    sum = ovl_step_sum(&r, &form, &arena);
    CHECK_TEXT(ovl_sum_text(&arena, &scale, &sum, OVL_SUM_PLAIN), "613.858 = 581.682 + 32.176");
    CHECK_TEXT(ovl_step_reason(&r, &scale, &arena),
               "reduce ends at 613.858 ms; update could start at 581.682 ms");
    ovl_arena_free(&arena);
}

/* A reduction that was over at 20 while its consumer waited for something else until 25. */
static void an_end_is_when_it_ended(void)
{
    ovl_arena arena = {0};
    ovl_scale scale = {OVL_UNIT_MS, 0};
    const ovl_result_collective row[] = {{.name = "reduce",
                                          .group = "dp",
                                          .op = "all_reduce",
                                          .u_path = 25 * OVL_MS,
                                          .end = 20 * OVL_MS}};
    ovl_result r = {.step = 27 * OVL_MS, .collectives = row, .n_collectives = 1};
    r.equation = (ovl_result_equation){true, "reduce",   "update",  25 * OVL_MS,
                                       0,    2 * OVL_MS, OVL_NEVER, OVL_NEVER};
    CHECK_TEXT(ovl_step_reason(&r, &scale, &arena),
               "reduce ends at 20 ms; update could start at 25 ms");
    r.n_collectives = 0;
    CHECK_TEXT(ovl_step_reason(&r, &scale, &arena),
               "reduce exposes nothing; update could start at 25 ms");
    ovl_arena_free(&arena);
}

/* 10.0004 + 10.0004 + 10.0004 = 30.0012 at 4 decimals fits exactly; at 3: 30.001 = 10 + 10 + 10.001
 * by the largest remainder, the first of equals. */
static void rounded_sums_add_up(void)
{
    ovl_time third = 10000400000;
    ovl_time terms[] = {third, third, third};
    ovl_scale scale = {OVL_UNIT_MS, 3};
    CHECK_INT(ovl_scale_terms(&scale, 3 * third, terms, 3), 30001 * OVL_US);
    CHECK_INT(terms[0], 10001 * OVL_US);
    CHECK_INT(terms[1], 10000 * OVL_US);
    CHECK_INT(terms[0] + terms[1] + terms[2], 30001 * OVL_US);
    ovl_time mixed[] = {-400, 1300, 0};
    scale = (ovl_scale){OVL_UNIT_NS, 0};
    CHECK_INT(ovl_scale_terms(&scale, 900, mixed, 3), 1000);
    CHECK_INT(mixed[0] + mixed[1], 1000);
    CHECK_INT(mixed[2], 0);
}

static void scales(void)
{
    char buf[OVL_UNITS_TEXT];
    const ovl_time times[] = {211250 * OVL_US, 4 * OVL_MS, OVL_NEVER};
    ovl_scale scale = ovl_scale_of(times, 3);
    CHECK_TEXT(ovl_scale_unit(&scale), "ms");
    CHECK_TEXT(ovl_scale_show(buf, &scale, times[0]), "211.25");
    CHECK_TEXT(ovl_scale_show(buf, &scale, times[1]), "4.00");
    CHECK_TEXT(ovl_scale_short(buf, &scale, times[1]), "4");
    CHECK_TEXT(ovl_scale_show(buf, &scale, OVL_NEVER), "-");
    CHECK_TEXT(ovl_scale_show(buf, &scale, 0), "0");
    CHECK_TEXT(ovl_scale_show(buf, &scale, -5 * OVL_MS - 5 * OVL_US),
               "-5.01");                    /* half away from 0 */
    const ovl_time fine[] = {123456789012}; /* 123.456789012 ms: six digits */
    scale = ovl_scale_of(fine, 1);
    CHECK_TEXT(ovl_scale_show(buf, &scale, fine[0]), "123.457");
}

static void run_as_text(void)
{
    page p;
    begin(&p);
    ovl_result r = split();
    ovl_report_text(&p.out, &r);
    const char *text = finish(&p);
    CHECK_HAS(text, "step 213 ms = 211 ms + 2 ms exposed (bucket_1 ends at 213 ms; optimizer could "
                    "start");
    CHECK_HAS(text, "211 ms = 209 ms of kernels + 2 ms of stretch by what ran beside them");
    CHECK_HAS(text, "  213 = 209 + 2 + 1 + 1\n");
    CHECK_HAS(text, "8 ms = 6 ms hidden under kernels + 2 ms uncovered, with no kernel beside it");
    CHECK_HAS(text, "step 213 ms = 212 ms without interference + 1 ms of interference");
    CHECK_HAS(text, "7 gradients proved");
    CHECK_HAS(text, "\nHazards: none\n");
    CHECK_HAS(text, "SM contention");
    check_width(text);
    free(p.text);
}

/* A table of 30 rows with long names stays within the terminal and says what it leaves out. */
static void long_tables(void)
{
    ovl_arena arena = {0};
    ovl_result_collective rows[30];
    for (uint32_t i = 0; i < 30; i++) {
        rows[i] = collectives[1];
        rows[i].name = ovl_arena_printf(
            &arena, "reduce_scatter.module.layers.%" PRIu32 ".feed_forward.weight", i);
        rows[i].ready = 200123456789;
        rows[i].queue = (ovl_time)i * 1234567;
        rows[i].wait = (ovl_time)i * 12345678;
        rows[i].start = rows[i].ready + rows[i].queue + rows[i].wait;
        rows[i].end = rows[i].start + 100123456;
        rows[i].exposed = (ovl_time)i * 100001;
        rows[i].slack = 123123123123;
    }
    ovl_result r = split();
    r.collectives = rows;
    r.n_collectives = 30;
    page p;
    begin(&p);
    ovl_report_collectives(&p.out, &r);
    const char *text = finish(&p);
    CHECK_HAS(text, "20 of 30 rows, the most exposed");
    CHECK(strstr(text, ".29.feed") || strstr(text, "weight"));
    check_width(text);
    free(p.text);
    ovl_arena_free(&arena);
}

/* 1000 operations of one stream are one line; what is cut from a long path is summed. */
static void long_paths(void)
{
    enum { N = 1000 };
    ovl_result_path *items = calloc(N, sizeof *items);
    for (uint32_t i = 0; i < N; i++) {
        items[i] = (ovl_result_path){"k",        i % 2 ? "comm" : "compute", 0,
                                     i * OVL_MS, (i + 1) * OVL_MS,           "after: k"};
    }
    ovl_result r = {.step = N * OVL_MS, .path = items, .n_path = N};
    page p;
    begin(&p);
    ovl_report_path(&p.out, &r);
    const char *text = finish(&p);
    /* 10 lines at the start, 14 at the end: 976 ms of 1 s between 0.010 and 0.986 are one line. */
    CHECK_HAS(text, "0.010  0.986  0.976                 ... 976 lines more: --json\n");
    free(p.text);
    for (uint32_t i = 0; i < N; i++) {
        items[i].stream = "compute";
        items[i].why = i ? "stream: after k" : "start";
    }
    begin(&p);
    ovl_report_path(&p.out, &r);
    CHECK_HAS(finish(&p), "k .. k (1000)");
    free(p.text);
    free(items);
}

static void run_as_json(void)
{
    page p;
    begin(&p);
    ovl_result r = split();
    ovl_report_json(&p.out, &r);
    const char *text = finish(&p);
    CHECK_HAS(text, "{\n  \"schema\": \"overlapsim.run/1\",\n  \"scenario\": \"Last bucket\",\n");
    CHECK_HAS(text, "\"time_s\": 0.213000000000,\n    \"deciding_rank\": 0,\n    "
                    "\"decomposition_s\": {\"compute\": 0.209000000000, \"compute_stretch\": ");
    CHECK_HAS(text, "\"u_variant_s\": 0.210000000000, \"exposed_s\": 0.002000000000");
    CHECK_HAS(text, "\"peak_holders\": [{\"name\": \"bucket_0\"");
    CHECK_HAS(text, "\"digest\": \"0000000000abcdef\"");
    CHECK_HAS(text, "\"hazards\": [],\n");
    /* bucket_0 was not simulated free: its two fields are absent, not zero. */
    const char *first = strstr(text, "\"name\": \"bucket_0\"");
    const char *line = first ? strchr(first, '\n') : NULL;
    const char *worth = first ? strstr(first, "worth_s") : NULL;
    CHECK(line && worth && worth > line);
    free(p.text);
}

static void two_runs(void)
{
    ovl_result a = whole(), b = split();
    ovl_comparison c = {.a = &a,
                        .b = &b,
                        .delta = -4 * OVL_MS,
                        .delta_term = {-OVL_MS, 2 * OVL_MS, 0, -5 * OVL_MS},
                        .verdict = OVL_BETTER,
                        .sentence = "better: 4 ms shorter",
                        .gradients = "the optimizer receives the same gradients"};
    page p;
    begin(&p);
    ovl_compare_text(&p.out, &c);
    const char *text = finish(&p);
    CHECK_HAS(text, "  step                  217 = 210 + 7  213 = 211 + 2\n"
                    "  start, of it stretch  210 = 210 + 0  211 = 209 + 2\n");
    CHECK_HAS(text, "= step           217  213     -4");
    CHECK_HAS(text, "\nVerdict: better: 4 ms shorter\n");
    check_width(text);
    free(p.text);
    begin(&p);
    ovl_compare_json(&p.out, &c);
    CHECK_HAS(finish(&p), "\"comm_transfer\": -0.005000000000");
    CHECK_HAS(p.text, "\"step\": -0.004000000000},\n  \"verdict\": \"better\"");
    free(p.text);
    ovl_summary s = {&a, &c, 1, OVL_NONE, OVL_NONE};
    ovl_summary_choose(&s);
    CHECK_INT(s.best, 0);
    begin(&p);
    ovl_summary_text(&p.out, &s);
    CHECK_HAS(finish(&p), "Best: split, 213 ms: 4 ms shorter than the base; startups 2 (base 1)");
    check_width(p.text);
    free(p.text);
}

static void hazardous_variants_are_never_best(void)
{
    static const ovl_result_hazard hazard[] = {{.kind = "race", .text = "x", .count = 1}};
    ovl_result a = whole(), b = split();
    b.hazards = hazard;
    b.n_hazards = 1;
    ovl_comparison c = {.a = &a, .b = &b, .verdict = OVL_BETTER, .sentence = "better"};
    ovl_summary s = {&a, &c, 1, 0, 0};
    ovl_summary_choose(&s);
    CHECK_INT(s.best, OVL_NONE);
    CHECK_INT(s.closest, OVL_NONE);
}

static const char *summary_of(ovl_summary *s, page *p)
{
    ovl_summary_choose(s);
    begin(p);
    ovl_summary_text(&p->out, s);
    const char *text = finish(p);
    check_width(text);
    return text;
}

/* 213 under `none` against 217 under `measured` is no gain of the schedule: the row is marked and
 * not ranked, and the best is one of the others. */
static void another_model_is_never_best(void)
{
    ovl_result a = whole(), b = split(), other = split();
    a.ranks = NULL;
    a.n_ranks = 0;
    other.variant = "free";
    other.interference = "none";
    other.step = 212 * OVL_MS;
    other.equation.exposed = OVL_MS;
    ovl_comparison c[] = {
        {.a = &a, .b = &other, .delta = -5 * OVL_MS, .verdict = OVL_BETTER, .sentence = "better"},
        {.a = &a, .b = &b, .delta = -4 * OVL_MS, .verdict = OVL_BETTER, .sentence = "better"},
    };
    ovl_summary s = {&a, c, 2, 0, 0};
    page p;
    const char *text = summary_of(&s, &p);
    CHECK_INT(s.best, 1);
    CHECK_HAS(text, "none                0  other model\n");
    CHECK_HAS(text, "measured            0  better\n");
    CHECK_HAS(text, "Best: split, 213 ms: 4 ms shorter than the base;");
    CHECK_HAS(text, "chosen among the runs");
    free(p.text);
    s.n = 1;
    CHECK_HAS(summary_of(&s, &p), "Best: the base; no variant is better; chosen among the runs");
    CHECK_INT(s.closest, OVL_NONE);
    free(p.text);
}

/* The sentence with the slack is in the overview, and the closest variant is shown in full. */
static void no_gain_has_its_reason(void)
{
    ovl_result a = whole(), b = whole();
    b.variant = "same";
    ovl_comparison c = {.a = &a,
                        .b = &b,
                        .verdict = OVL_NO_GAIN,
                        .sentence = "no gain: the step is the same; bucket_0 has 9 ms of slack"};
    ovl_summary s = {&a, &c, 1, 0, 0};
    page p;
    const char *text = summary_of(&s, &p);
    CHECK_HAS(text, "\n  same: no gain: the step is the same; bucket_0 has 9 ms of slack\n");
    CHECK_HAS(text, "          0  0         1 "); /* a change of nothing is 0 %, without a sign */
    CHECK_HAS(text, "Best: the base; no variant is better, and same comes closest\n");
    CHECK_HAS(text, "\nVerdict: no gain");
    free(p.text);
}

/* The base takes 701.8 ms, a variant 1.2 s: all are in ms, and a change of 0.01 us is not 0 %. */
static void units_follow_the_base(void)
{
    ovl_result a = whole(), b = whole(), slow = whole();
    a.equation.present = b.equation.present = slow.equation.present = false;
    a.step = 701800 * OVL_US;
    b.step = 696400 * OVL_US;
    slow.step = 1200 * OVL_MS;
    b.variant = "quick";
    slow.variant = "slow";
    ovl_comparison c[] = {
        {.a = &a, .b = &b, .delta = -5400 * OVL_US, .verdict = OVL_BETTER, .sentence = "better"},
        {.a = &a, .b = &slow, .delta = 498200 * OVL_US, .verdict = OVL_WORSE, .sentence = "worse"},
    };
    ovl_summary s = {&a, c, 2, 0, 0};
    page p;
    const char *text = summary_of(&s, &p);
    CHECK_HAS(text, "step (ms)");
    CHECK_HAS(text, "  701.8  ");
    CHECK_HAS(text, "  1200 ");
    CHECK_HAS(text, "Best: quick, 696.4 ms: 5.4 ms shorter than the base;");
    free(p.text);
    b.step = a.step - 10000;
    c[0].delta = -10000;
    CHECK_HAS(summary_of(&s, &p), "-1e-06");
    free(p.text);
}

/* 24.6 GiB beside 24.62 GiB: as many decimals. Peaks that are the same have no column. */
static void peaks_have_the_decimals_of_the_base(void)
{
    ovl_result a = whole(), b = split();
    ovl_result_rank base_rank = ranks[0], rank = ranks[0];
    base_rank.live_peak = 26435523707; /* 24.62 * 2^30 */
    rank.live_peak = 26414048870;      /* 24.60 * 2^30 */
    a.ranks = &base_rank;
    b.ranks = &rank;
    a.has_memory = b.has_memory = true;
    ovl_comparison c = {
        .a = &a, .b = &b, .delta = -4 * OVL_MS, .verdict = OVL_BETTER, .sentence = "better"};
    ovl_summary s = {&a, &c, 1, 0, 0};
    page p;
    CHECK_HAS(summary_of(&s, &p), " 24.62 ");
    CHECK(strstr(p.text, "live 24.60 GiB (base") && !strstr(p.text, "reserved"));
    free(p.text);
}

/* The sender of the last message decides by its number; the receiver is who waits. */
static void others_may_wait(void)
{
    static const ovl_result_collective row[] = {{.name = "recv",
                                                 .group = "world",
                                                 .op = "recv",
                                                 .rank = 2,
                                                 .count = 1,
                                                 .end = 40 * OVL_MS,
                                                 .u_path = 20 * OVL_MS,
                                                 .exposed = 20 * OVL_MS,
                                                 .consumer = "use",
                                                 .u_variant = OVL_NEVER,
                                                 .interference = OVL_NEVER,
                                                 .worth = OVL_NEVER,
                                                 .busbw = -1}};
    ovl_result r = {.variant = "base",
                    .interference = "none",
                    .step = 40 * OVL_MS,
                    .collectives = row,
                    .n_collectives = 1};
    page p;
    begin(&p);
    ovl_report_text(&p.out, &r);
    CHECK_HAS(finish(&p), "step 40 ms; no work of rank 0 waits for communication; on rank 2 use "
                          "does, 20 ms for recv\n");
    free(p.text);
}

/* A wide cell of a column that wraps goes on below; one of a column that is cut loses its middle.
 */
static void grids_wrap(void)
{
    static const ovl_column columns[] = {
        {"n", false, false, 0}, {"of them", true, OVL_GRID_WRAP, 0}, {"name", true, true, 0}};
    const char *cells[] = {
        "1", "5 kernel, 3 collective, 3 recv, 3 send, 2 copy, 1 marker, 4 batch, 12 host, 7 others",
        "module.layers.17.feed_forward.experts.weight"};
    ovl_grid grid;
    page p;
    begin(&p);
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    ovl_grid_row(&grid, cells);
    ovl_grid_end(&grid, &p.out, 2);
    CHECK_TEXT(finish(&p), "  n of them                                             name\n"
                           "  1 5 kernel, 3 collective, 3 recv, 3 send, 2 copy, 1   "
                           "module.layers.17.feed_forward.experts.weight\n"
                           "    marker, 4 batch, 12 host, 7 others\n");
    check_width(p.text);
    free(p.text);
}

/* Long names of holders are cut in the middle: eight of them are a few lines. */
static void holders_are_short(void)
{
    static const ovl_holder long_one[] = {
        {"module.decoder.layers.17.feed_forward.experts.local_experts.3.weight", "gradient", 8}};
    ovl_result r = split();
    ovl_result_rank rank = ranks[0];
    rank.live.holders = long_one;
    rank.live.n_holders = 1;
    r.ranks = &rank;
    page p;
    begin(&p);
    ovl_report_memory(&p.out, &r);
    CHECK_HAS(finish(&p), "starts: module.decoder...xperts.3.weight 8 B\n    (gradient) = 8 B");
    free(p.text);
}

static void wrapping(void)
{
    page p;
    begin(&p);
    ovl_wrap(&p.out, "  - ", 4, "communication of size 0 takes no time", 30);
    ovl_wrap(&p.out, "", 2, "averyverylongword that does not\n  fit", 10);
    CHECK_TEXT(finish(&p), "  - communication of size 0\n    takes no time\n"
                           "averyverylongword\n  that\n  does not\n    fit\n");
    free(p.text);
}

static CU_TestInfo tests[] = {
    {"the step is shown as the sum it is", equations},
    {"interference alone is in the start, not in the step", interference_alone},
    {"what is shown together has the same terms", terms_are_the_same_for_all},
    {"a rounded moment reads the same wherever it is shown", one_moment_reads_the_same},
    {"communication ends when it ended, not when its consumer could start",
     an_end_is_when_it_ended},
    {"rounded terms add up to the rounded whole", rounded_sums_add_up},
    {"times shown together share unit and decimals", scales},
    {"a run as text has every section within 100 columns", run_as_text},
    {"long tables are cut, and say so", long_tables},
    {"long paths are merged or cut, and still add up", long_paths},
    {"a run as JSON has its keys and leaves out what does not apply", run_as_json},
    {"two runs side by side end with the verdict", two_runs},
    {"a variant with hazards is never the best", hazardous_variants_are_never_best},
    {"a run under another model is marked, never the best", another_model_is_never_best},
    {"a variant without gain has its reason in the overview", no_gain_has_its_reason},
    {"the overview is in the unit of the base", units_follow_the_base},
    {"peaks side by side have the same decimals", peaks_have_the_decimals_of_the_base},
    {"a rank that waits is named even if another decides", others_may_wait},
    {"a cell that wraps goes on below", grids_wrap},
    {"long names of holders are cut", holders_are_short},
    {"running text is broken at blanks", wrapping},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("report", tests);
}
