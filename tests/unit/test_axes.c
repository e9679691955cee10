#include "models/axes.h"
#include "models/node_text.h"
#include "models/range.h"
#include "tests/support/check.h"

#include <string.h>

static ovl_arena arena;

static const char *served(void *context, const char *path, size_t *length, ovl_arena *a,
                          const char **why)
{
    (void)path, (void)a, (void)why;
    *length = strlen(context);
    return context;
}

/* The errors as one text, or "" if the axes are good. */
static const char *read_axes(const char *yaml, const ovl_axis_words *words, ovl_axes *axes)
{
    ovl_errs errs = {.arena = &arena};
    ovl_document *doc = OVL_NEW(&arena, ovl_document);
    ovl_files files = {.read = served, .context = ovl_arena_strdup(&arena, yaml)};
    const char *text = "";
    if (ovl_document_load("s.yaml", &files, doc, &arena, &errs)) {
        ovl_axes_read(doc, words, axes, &arena, &errs);
    }
    for (uint32_t i = 0; i < errs.count; i++) {
        text = ovl_arena_printf(&arena, "%s%s\n", text, ovl_err_text(&arena, &errs.items[i]));
    }
    return text;
}

/* "a 1, b 2" */
static const char *point(const ovl_axes *axes, uint32_t i)
{
    const char *texts[OVL_KEYS_MAX], *text = "";
    ovl_axes_texts(axes, i, texts);
    for (uint32_t k = 0; k < axes->n_keys; k++) {
        text = ovl_arena_printf(&arena, "%s%s%s %s", text, k ? ", " : "", axes->keys[k].path,
                                texts[k] ? texts[k] : "-");
    }
    return text;
}

static const char *values(const char *text)
{
    ovl_range r;
    const char *all = ovl_range_read(text, &r, &arena);
    if (all) {
        return all;
    }
    all = "";
    for (uint32_t i = 0; i < r.count; i++) {
        all =
            ovl_arena_printf(&arena, "%s%s%s", all, i ? ", " : "", ovl_range_value(&r, i, &arena));
    }
    return all;
}

static void ranges(void)
{
    CHECK_TEXT(values("0..3"), "0, 1, 2, 3");
    CHECK_TEXT(values("0..10+4"), "0, 4, 8");
    CHECK_TEXT(values("1 MiB..64 MiB*4"), "1 MiB, 4 MiB, 16 MiB, 64 MiB");
    CHECK_TEXT(values("1MiB..64MiB*4"), "1 MiB, 4 MiB, 16 MiB, 64 MiB");
    CHECK_TEXT(values("1..2 ms+0.25"), "1 ms, 1.25 ms, 1.5 ms, 1.75 ms, 2 ms");
    /* 0.1 + 2 * 0.1 is no 0.30000000000000004, and the end is met. */
    CHECK_TEXT(values("0.1..0.3+0.1"), "0.1, 0.2, 0.3");
    CHECK_TEXT(values("7..7"), "7");
    CHECK_TEXT(values("1 us..1 ms*10"), "1 us, 10 us, 100 us, 1000 us");
    CHECK_TEXT(values("1 ms..2 ms+500 us"), "1 ms, 1.5 ms, 2 ms");
    CHECK_TEXT(values("512 KiB..2 MiB*2"), "512 KiB, 1024 KiB, 2048 KiB");
}

static void wrong_ranges(void)
{
    CHECK_HAS(values("3..0"), "from the smaller");
    CHECK_HAS(values("1 MiB..4 ms"), "of one kind");
    CHECK_HAS(values("1..4 ms+1 MiB"), "same kind");
    CHECK_HAS(values("1 us..1 ms+1"), "needs its own");
    CHECK_HAS(values("1..4*1"), "greater than 1");
    CHECK_HAS(values("1..4+0"), "greater than 0");
    CHECK_HAS(values("0..4*2"), "begins above 0");
    CHECK_HAS(values("0..3+"), "expected a number");
    CHECK_HAS(values("0..1e9"), "at most 1,000,000");
    CHECK_HAS(values("1 ms..9 ms*2 us"), "factor has no unit");
}

#define SCENARIO "name: s\nworkload: {ops: []}\n"

/* 2 x 2 points; the last axis changes fastest. */
static void grid(void)
{
    ovl_axes axes;
    const ovl_axis_words none = {0};
    CHECK_TEXT(read_axes(SCENARIO "sweep: {a: [1 ms, [x, y]], b.c: 0..1}\n", &none, &axes), "");
    CHECK_INT(axes.n_points, 4);
    CHECK_TEXT(point(&axes, 0), "a 1 ms, b.c 0");
    CHECK_TEXT(point(&axes, 1), "a 1 ms, b.c 1");
    CHECK_TEXT(point(&axes, 2), "a [x, y], b.c 0");
    CHECK(!axes.axes[0].ordered);
    CHECK(axes.axes[1].ordered);
}

static void ordered_axes(void)
{
    ovl_axes axes;
    const ovl_axis_words none = {0};
    CHECK_TEXT(read_axes(SCENARIO "sweep: {a: [0, 900 KiB, 1 MiB], b: [2, 1], c: [x, y], d: [1 ms, "
                                  "1 MiB], e: [50 GB/s, 400 Gb/s]}\n",
                         &none, &axes),
               "");
    CHECK(axes.axes[0].ordered);
    CHECK(!axes.axes[1].ordered); /* it falls */
    CHECK(!axes.axes[2].ordered);
    CHECK(!axes.axes[3].ordered); /* two kinds of quantity */
    CHECK(!axes.axes[4].ordered); /* 400 Gb/s are 50 GB/s */
    CHECK_TEXT(
        read_axes(SCENARIO "sweep: {list: [{a: 1, b: 1 ms}, {a: 2, b: 2 ms}]}\n", &none, &axes),
        "");
    CHECK(axes.axes[0].ordered);
    CHECK_TEXT(read_axes(SCENARIO "sweep: {list: [{a: 1, b: 1 ms}, {a: 2}]}\n", &none, &axes), "");
    CHECK(!axes.axes[0].ordered);
}

static void rows_that_change_together(void)
{
    ovl_axes axes;
    const char *const zip[] = {"d=1,2", "e=x,y"};
    const ovl_axis_words words = {.zip = zip, .n_zip = 2};
    CHECK_TEXT(read_axes(SCENARIO "sweep: {list: [{a: 1, b: 2}, {b: 3, c: 4}]}\n", &words, &axes),
               "");
    CHECK_INT(axes.n_points, 4);
    CHECK_TEXT(point(&axes, 0), "a 1, b 2, c -, d 1, e x");
    CHECK_TEXT(point(&axes, 3), "a -, b 3, c 4, d 2, e y");
}

/* A word replaces the axis of the file and takes lists of lists. */
static void words_of_the_command_line(void)
{
    ovl_axes axes;
    const char *const over[] = {"a=1 MiB..4 MiB*2,9 MiB", "b=[[g1, g2], [g3]]"};
    const ovl_axis_words words = {.over = over, .n_over = 2};
    CHECK_TEXT(read_axes(SCENARIO "sweep: {a: [7 MiB]}\n", &words, &axes), "");
    CHECK_INT(axes.n_points, 4);
    CHECK_TEXT(point(&axes, 3), "a 9 MiB, b [[g1, g2], [g3]]");
}

/* One word that names a key of a list, or of what is sampled, replaces all of it, whatever the
 * option; a key of the file that no word names stays. */
static void words_replace_whole_axes(void)
{
    ovl_axes axes;
    const char *const words[] = {"b=5,6", "c=7,8"};
    const char *yaml =
        SCENARIO "sweep: {x: [1], list: [{a: 1, b: 2}, {a: 3, b: 4}], sample: {points: "
                 "3, keys: {c: 1..9}}}\n";
    const ovl_axis_words zip = {.zip = words, .n_zip = 2}, over = {.over = words, .n_over = 2};
    CHECK_TEXT(read_axes(yaml, &zip, &axes), "");
    CHECK_INT(axes.n_points, 2);
    CHECK_TEXT(point(&axes, 1), "x 1, b 6, c 8");
    CHECK_TEXT(read_axes(yaml, &over, &axes), "");
    CHECK_INT(axes.n_points, 4);
    CHECK_TEXT(point(&axes, 1), "x 1, b 5, c 8");
    const ovl_axis_words sample = {.sample = words + 1, .n_sample = 1, .samples = "2"};
    CHECK_TEXT(read_axes(yaml, &sample, &axes), "");
    CHECK_INT(axes.n_points, 4); /* 1 of x, 2 of the list, 2 drawn */
}

static void variants_are_an_axis(void)
{
    ovl_axes axes;
    const char *const over[] = {"variant=all", "x=1"}, *variant = NULL;
    const ovl_axis_words words = {.over = over, .n_over = 2};
    ovl_set sets[2];
    CHECK_TEXT(read_axes(SCENARIO "variants: {one: {x: 2}, two: {x: 3}}\n", &words, &axes), "");
    CHECK_INT(axes.n_points, 3);
    CHECK_INT(ovl_axes_point(&axes, 2, sets, &variant), 1);
    CHECK_TEXT(variant, "two");
    CHECK_TEXT(sets[0].path, "x");
    CHECK_TEXT(sets[0].value->text, "1");
}

/* Draws depend on seed, key and row alone: more rows and keys leave them as they were. */
static void drawn_rows(void)
{
    ovl_axes few, many;
    const ovl_axis_words none = {0};
    CHECK_TEXT(read_axes(SCENARIO "sweep: {sample: {points: 5, seed: 3, keys: {a: 1 ms..9 ms}}}\n",
                         &none, &few),
               "");
    CHECK_TEXT(read_axes(SCENARIO "sweep: {sample: {points: 500, seed: 3, keys: {b: [x, y], "
                                  "a: 1 ms..9 ms, c: 1..3}}}\n",
                         &none, &many),
               "");
    CHECK_INT(many.n_points, 500);
    uint32_t x = 0, ones = 0, threes = 0;
    double sum = 0;
    for (uint32_t i = 0; i < 500; i++) {
        const char *texts[OVL_KEYS_MAX];
        ovl_time t = 0;
        ovl_axes_texts(&many, i, texts);
        if (i < 5) {
            CHECK_TEXT(few.axes[0].texts[i], texts[1]);
        }
        CHECK(!ovl_read_time(texts[1], &t) && t >= OVL_MS && t < 9 * OVL_MS);
        sum += (double)t / (double)OVL_MS;
        x += strcmp(texts[0], "x") == 0;
        ones += strcmp(texts[2], "1") == 0;
        threes += strcmp(texts[2], "3") == 0;
    }
    /* Means of 500 draws: 5 +- 0.1 (sigma 2.31 / sqrt(500)), 250 +- 11, 167 +- 11; four sigma. */
    CHECK_NEAR(sum / 500, 5, 0.42);
    CHECK_NEAR(x, 250, 45);
    CHECK_NEAR(ones, 167, 43);
    CHECK_NEAR(threes, 167, 43);
}

static void mistakes(void)
{
    ovl_axes axes;
    const char *const over[] = {"a", "=3", "b=[1", "sample=3"};
    const ovl_axis_words none = {0}, words = {.over = over, .n_over = 3};
    const char *const zip[] = {"a=1,2", "b=3"};
    const ovl_axis_words uneven = {.zip = zip, .n_zip = 2, .samples = "0"};
    CHECK_HAS(read_axes(SCENARIO, &none, &axes), "nothing to sweep");
    CHECK_HAS(read_axes(SCENARIO
                        "sweep: {a: [], b: {c: 1}, list: 3, sample: {keys: 1, seeds: 2}}\n",
                        &none, &axes),
              "s.yaml:3:12: error: a: no values to try");
    CHECK_HAS(read_axes(SCENARIO "sweep: {sample: {keys: {a: 1}, seeds: 2}}\n", &none, &axes),
              "did you mean \"seed\"?");
    CHECK_HAS(read_axes(SCENARIO "sweep: {a: 3..1}\n", &none, &axes), "from the smaller");
    CHECK_HAS(read_axes(SCENARIO "sweep: {a: 1, list: [{a: 2}]}\n", &none, &axes), "swept twice");
    CHECK_HAS(read_axes(SCENARIO "sweep: {a: 0..99999, b: 0..99999}\n", &none, &axes),
              "more than 10000000 points");
    const char *text = read_axes(SCENARIO, &words, &axes);
    CHECK_HAS(text, "found \"a\"");
    CHECK_HAS(text, "found \"=3\"");
    CHECK_HAS(text, "--over b");
    text = read_axes(SCENARIO, &uneven, &axes);
    CHECK_HAS(text, "a has 2, b has 1");
    CHECK_HAS(text, "--samples");
}

/* What is printed reads back as the same tree. */
static void nodes_as_text(void)
{
    static const char *const texts[] = {
        "[[g1, g2], [g3]]",
        "{a: 1 ms, \"b: c\": [x, {}]}",
        "\"- x\"",
        "null",
        "\"null\"",
        "25 MiB",
        "\"a, b\"",
        "\"\"",
        "[]",
        "50 %",
        "\"tab\\x09\"",
    };
    for (size_t i = 0; i < OVL_COUNT(texts); i++) {
        ovl_errs errs = {.arena = &arena};
        ovl_node *node = ovl_yaml_parse("x", texts[i], strlen(texts[i]), &arena, &errs);
        const char *text = ovl_node_text(node, &arena);
        CHECK_TEXT(text, texts[i]);
        ovl_node *again = ovl_yaml_parse("x", text, strlen(text), &arena, &errs);
        CHECK_INT(errs.count, 0);
        CHECK(again && ovl_node_same(node, again));
    }
}

static CU_TestInfo tests[] = {
    {"ranges add, multiply and carry their unit", ranges},
    {"wrong ranges are told", wrong_ranges},
    {"a grid is all combinations, the last axis fastest", grid},
    {"an axis is ordered if its values are one growing quantity", ordered_axes},
    {"rows of a list and of --zip change together", rows_that_change_together},
    {"--over replaces an axis of the file", words_of_the_command_line},
    {"words replace whole axes", words_replace_whole_axes},
    {"variants are an axis", variants_are_an_axis},
    {"draws depend on seed, key and row alone", drawn_rows},
    {"mistakes are told, all of them", mistakes},
    {"a node is printed as it reads back", nodes_as_text},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    int status = check_main("axes", tests);
    ovl_arena_free(&arena);
    return status;
}
