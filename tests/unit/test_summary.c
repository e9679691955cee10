#include "tests/unit/report_sample.h"

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

/* Two variants of 213 ms: the one whose allocator need not retry is the best. */
static void of_equals_the_one_without_retries_is_best(void)
{
    ovl_result a = whole(), retrying = split(), b = split();
    retrying.variant = "retrying";
    retrying.allocation_retries = 2;
    ovl_comparison c[] = {
        {.a = &a,
         .b = &retrying,
         .delta = -4 * OVL_MS,
         .verdict = OVL_BETTER,
         .sentence = "better"},
        {.a = &a, .b = &b, .delta = -4 * OVL_MS, .verdict = OVL_BETTER, .sentence = "better"},
    };
    ovl_summary s = {&a, c, 2, 0, 0};
    page p;
    const char *text = summary_of(&s, &p);
    CHECK_INT(s.best, 1);
    CHECK_HAS(text, "  retries  ");
    CHECK(strstr(text, "not modelled") == NULL);
    free(p.text);
    s.n = 1;
    CHECK_HAS(summary_of(&s, &p), "not modelled");
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

int main(void)
{
    CU_TestInfo tests[] = {
        {"two runs side by side end with the verdict", two_runs},
        {"a variant with hazards is never the best", hazardous_variants_are_never_best},
        {"a run under another model is marked, never the best", another_model_is_never_best},
        {"of equals the one without retries is best", of_equals_the_one_without_retries_is_best},
        {"a variant without gain has its reason in the overview", no_gain_has_its_reason},
        {"the overview is in the unit of the base", units_follow_the_base},
        {"peaks side by side have the same decimals", peaks_have_the_decimals_of_the_base},
        CU_TEST_INFO_NULL,
    };
    return check_main("summary", tests);
}
