#include "tests/unit/report_sample.h"
#include "tools/equation.h"
#include "tools/grid.h"
#include "tools/wrap.h"

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
        items[i] = (ovl_result_path){
            "k", i % 2 ? "comm" : "compute", 0, i * OVL_MS, (i + 1) * OVL_MS, "after: k", 0, 0};
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

/* [k 1, reduce 2] 400 times behind a first k of 10: 10 + 400 x 3 = 1,210 ms. The k of the block
 * come from 10 to 10 + 399 x 3 + 1 = 1,208, and are 400 in all; reduce from 11 to 1,210, 800. */
static void a_path_that_repeats_itself(void)
{
    const ovl_result_path items[] = {
        {"k", "compute", 0, 0, 10 * OVL_MS, "start", 0, 0},
        {"k", "compute", 0, 10 * OVL_MS, 11 * OVL_MS, "stream: after k", 399, 3 * OVL_MS},
        {"reduce", "comm", 0, 11 * OVL_MS, 13 * OVL_MS, "after: k", 399, 3 * OVL_MS}};
    ovl_result r = {.step = 1210 * OVL_MS, .path = items, .n_path = 3};
    page p;
    begin(&p);
    ovl_report_path(&p.out, &r);
    const char *text = finish(&p);
    CHECK_HAS(text,
              "      0  0.010  0.010     0  compute  k                               start\n");
    CHECK_HAS(
        text,
        "  0.010  1.208  0.400     0  compute  k (400 times, every 3 ms)       stream: after k\n");
    CHECK_HAS(text,
              "  0.011  1.210  0.800     0  comm     reduce (400 times, every 3 ms)  after: k\n");
    CHECK_HAS(text, "1.210                 = step");
    free(p.text);
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
    {"a block of the path that repeats itself is said once", a_path_that_repeats_itself},
    {"a run as JSON has its keys and leaves out what does not apply", run_as_json},
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
