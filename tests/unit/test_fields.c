#include "models/fields.h"
#include "models/pattern.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

typedef struct inner {
    ovl_mark mark;
    const char *name;
    int64_t n;
} inner;

typedef struct sample {
    ovl_mark mark;
    const char *text;
    bool yes, has_time;
    int64_t count;
    ovl_time time;
    uint64_t bytes, rate;
    const char *pattern;
    double flops, flop_rate, ratio;
    int kind;
    ovl_texts texts;
    ovl_times times;
    inner map;
    ovl_items list;
    ovl_node *node;
    bool checked;
} sample;

static void inner_defaults(void *value)
{
    ((inner *)value)->n = 7;
}

static const ovl_field inner_fields[] = {
    OVL_FIELD(inner, name, "name", OVL_F_TEXT, OVL_FIELD_REQUIRED, "Its name."),
    OVL_FIELD(inner, n, "n", OVL_F_COUNT, 0, "A number. Default 7."),
};
static const ovl_table inner_table = {
    .title = "inner",
    .fields = inner_fields,
    .n_fields = OVL_COUNT(inner_fields),
    .size = sizeof(inner),
    .mark = offsetof(inner, mark),
    .defaults = inner_defaults,
};

static void note_check(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena, (void)errs;
    ((sample *)value)->checked = node->kind == OVL_NODE_MAP;
}

static const char *const kind_names[] = {"red", "rouge", "green", NULL};
static const int kind_values[] = {10, 10, 20};

static const ovl_field sample_fields[] = {
    OVL_FIELD(sample, text, "text", OVL_F_TEXT, 0, ""),
    OVL_FIELD(sample, pattern, "pattern", OVL_F_PATTERN, 0, ""),
    OVL_FIELD(sample, yes, "yes", OVL_F_BOOL, 0, ""),
    OVL_FIELD_MORE(sample, count, "count", OVL_F_COUNT, 0, "", .min = 1, .max = 100),
    OVL_FIELD_MORE(sample, count, "number", OVL_F_COUNT, 0, "Alias of count.", .min = 1,
                   .max = 100),
    OVL_FIELD_SET(sample, time, has_time, "time", OVL_F_TIME, 0, "", .min = 0),
    OVL_FIELD(sample, bytes, "bytes", OVL_F_BYTES, OVL_FIELD_POSITIVE, ""),
    OVL_FIELD(sample, rate, "rate", OVL_F_RATE, OVL_FIELD_POSITIVE, ""),
    OVL_FIELD(sample, flops, "flops", OVL_F_FLOPS, 0, ""),
    OVL_FIELD(sample, flop_rate, "flop_rate", OVL_F_FLOP_RATE, 0, ""),
    OVL_FIELD(sample, ratio, "ratio", OVL_F_RATIO, OVL_FIELD_POSITIVE, ""),
    OVL_FIELD_MORE(sample, kind, "kind", OVL_F_ENUM, 0, "", .names = kind_names,
                   .values = kind_values),
    OVL_FIELD(sample, texts, "texts", OVL_F_TEXTS, 0, ""),
    OVL_FIELD(sample, times, "times", OVL_F_TIMES, 0, ""),
    OVL_FIELD_MORE(sample, map, "map", OVL_F_MAP, 0, "", .table = &inner_table),
    OVL_FIELD_MORE(sample, list, "list", OVL_F_LIST, 0, "", .table = &inner_table),
    OVL_FIELD(sample, node, "node", OVL_F_NODE, 0, ""),
};
static const ovl_table sample_table = {
    .title = "sample",
    .fields = sample_fields,
    .n_fields = OVL_COUNT(sample_fields),
    .size = sizeof(sample),
    .mark = offsetof(sample, mark),
    .check = note_check,
};

typedef struct bench {
    ovl_arena arena;
    ovl_errs errs;
    sample s;
} bench;

static void decode(bench *b, const char *text)
{
    b->errs = (ovl_errs){.arena = &b->arena};
    b->s = (sample){.kind = -1};
    ovl_node *node = ovl_yaml_parse("f", text, strlen(text), &b->arena, &b->errs);
    CHECK(node != NULL);
    if (node) {
        ovl_decode(node, &sample_table, &b->s, &b->arena, &b->errs);
    }
}

/* Checks that decoding `text` says exactly these lines. */
static void says(const char *text, const char *lines)
{
    bench b = {0};
    decode(&b, text);
    const char *all = "";
    for (uint32_t i = 0; i < b.errs.count; i++) {
        all = ovl_arena_printf(&b.arena, "%s%s\n", all, ovl_err_text(&b.arena, &b.errs.items[i]));
    }
    CHECK_TEXT(all, lines);
    ovl_arena_free(&b.arena);
}

static void every_type_is_decoded(void)
{
    bench b = {0};
    decode(&b, "text: hello\nyes: true\ncount: 40\ntime: 2.1 ms\nbytes: 25 MiB\nrate: 16 MiB/ms\n"
               "flops: 2 GFLOP\nflop_rate: 989 TFLOP/s\nratio: 29/25\nkind: rouge\n"
               "texts: [a, 'b']\ntimes: [1 ms, 2 ms, 3 ms]\nmap: {name: m}\n"
               "list: [{name: x, n: 1}, {name: y}]\nnode: {any: thing}\npattern: nccl|rccl\n");
    CHECK_INT(b.errs.count, 0);
    CHECK_TEXT(b.s.text, "hello");
    CHECK(b.s.yes && b.s.has_time && b.s.checked);
    CHECK_INT(b.s.count, 40);
    CHECK_INT(b.s.time, INT64_C(2100000000));
    CHECK_INT(b.s.bytes, 26214400);
    CHECK_INT(b.s.rate, INT64_C(16777216000));
    CHECK(b.s.flops == 2e9 && b.s.flop_rate == 989e12 && b.s.ratio == 29.0 / 25.0);
    CHECK_INT(b.s.kind, 10);
    CHECK_INT(b.s.texts.count, 2);
    CHECK_TEXT(b.s.texts.item[1], "b");
    CHECK_INT(b.s.texts.mark[1].column, 12);
    CHECK_INT(b.s.times.count, 3);
    CHECK_INT(b.s.times.item[2], 3 * OVL_MS);
    CHECK_TEXT(b.s.map.name, "m");
    CHECK_INT(b.s.map.n, 7);
    CHECK_INT(b.s.map.mark.line, 13);
    CHECK_INT(b.s.list.count, 2);
    CHECK_INT(OVL_ITEM(b.s.list, inner, 0)->n, 1);
    CHECK_INT(OVL_ITEM(b.s.list, inner, 1)->n, 7);
    CHECK_TEXT(OVL_ITEM(b.s.list, inner, 1)->name, "y");
    CHECK(ovl_node_get(b.s.node, "any") != NULL);
    CHECK_TEXT(b.s.pattern, "nccl|rccl");
    ovl_arena_free(&b.arena);
}

static void a_single_value_is_a_list_of_one(void)
{
    bench b = {0};
    decode(&b, "{texts: alone, times: 5 us}");
    CHECK_INT(b.errs.count, 0);
    CHECK_INT(b.s.texts.count, 1);
    CHECK_TEXT(b.s.texts.item[0], "alone");
    CHECK_INT(b.s.times.count, 1);
    CHECK_INT(b.s.times.item[0], 5 * OVL_US);
    decode(&b, "{texts: [], list: []}");
    CHECK_INT(b.errs.count, 0);
    CHECK_INT(b.s.texts.count, 0);
    ovl_arena_free(&b.arena);
}

static void null_leaves_a_value_out(void)
{
    bench b = {0};
    decode(&b, "{time: null, kind: ~, list: null, map: null}");
    CHECK_INT(b.errs.count, 0);
    CHECK(!b.s.has_time);
    CHECK_INT(b.s.kind, -1);
    says("time:\n", "f:1:1: error: \"time\" has no value (null would leave it out)\n");
    says("map: {name: null}\n", "f:1:6: error: map: \"name\" is missing\n");
    says("text: ''\n", "");
    ovl_arena_free(&b.arena);
}

static void all_mistakes_are_told_with_their_places(void)
{
    says("txet: a\n"
         "time: 7\n"
         "  # a comment\n"
         "map: {n: -1}\n"
         "list:\n"
         "  - {name: x}\n"
         "  - {nmae: y, n: many}\n"
         "rate: -2 GB/s\n",
         "f:1:1: error: unknown key \"txet\"; did you mean \"text\"?\n"
         "f:2:7: error: time is \"7\": a duration needs a unit, such as \"7 ms\"\n"
         "f:4:10: error: n is \"-1\": must not be negative\n"
         "f:4:6: error: map: \"name\" is missing\n"
         "f:7:6: error: unknown key \"nmae\"; did you mean \"name\"?\n"
         "f:7:18: error: n is \"many\": expected a whole number, such as \"16\"\n"
         "f:7:5: error: list: \"name\" is missing\n"
         "f:8:7: error: rate is \"-2 GB/s\": must be greater than 0\n");
}

static void wrong_shapes_are_told(void)
{
    says("[a]", "f:1:1: error: sample: expected a mapping, found a list\n");
    says("map: [x]", "f:1:6: error: map: expected a mapping, found a list\n");
    says("map: x", "f:1:6: error: map: expected a mapping, found text\n");
    says("list: {a: 1}", "f:1:7: error: list: expected a list, found a mapping\n");
    says("list: x", "f:1:7: error: list: expected a list, found text\n");
    says("list: [x]", "f:1:8: error: list: expected a mapping, found text\n");
    says("time: [1 ms]", "f:1:7: error: time: expected a duration, found a list\n");
    says("texts: {a: 1}",
         "f:1:8: error: texts: expected text or a list of texts, found a mapping\n");
    says("texts: [[a]]", "f:1:9: error: texts: expected text, found a list\n");
    says("texts: [~]", "f:1:9: error: texts: expected text, found nothing\n");
    says("times: []", "f:1:8: error: times: the list is empty\n");
    says("times: [1 ms, 2]",
         "f:1:15: error: times is \"2\": a duration needs a unit, such as \"7 ms\"\n");
    says("yes: maybe", "f:1:6: error: yes is \"maybe\": expected true or false\n");
}

static void names_are_told_or_guessed(void)
{
    says("kind: gren", "f:1:7: error: kind is \"gren\": did you mean \"green\"?\n");
    says("kind: violet", "f:1:7: error: kind is \"violet\": expected one of red, green\n");
    says("zzzzzzz: 1", "f:1:1: error: unknown key \"zzzzzzz\"\n");
}

/* Characters times repeats, at most 4000 = 5 x 800 = 20 x 200 = 10 x 20 x 20. A plus behind a
 * bracket doubles what is in it: 8 characters x 2^9 are 4096 at most, x 2^8 2048. */
static void patterns_are_checked_where_they_stand(void)
{
    const char *none = "f:1:10: error: pattern is \"(\": no pattern: Unmatched ( or \\(\n";
    const struct {
        const char *pattern;
        bool good;
    } sizes[] = {{"a{700}", false},
                 {"a{666}", true},
                 {"(a{20}){9}", true},
                 {"(a{20}){20}", false},
                 {"((a{2,9}){3,}){9}", false},
                 {"a\\{9\\}{200}", true},
                 {"a+b+c+d+e+f+g+h+", true},
                 {"((((((a+)+)+)+)+)+)+", true},
                 {"((((((((a+)+)+)+)+)+)+)+)+", false},
                 {"a{99999999999999999999}", false},
                 {"a{0}{,5}", true},
                 {"[+]{40}", true}};
    says("pattern: (\n", none);
    for (size_t i = 0; i < OVL_COUNT(sizes); i++) {
        ovl_arena arena = {0};
        const char *why = ovl_pattern_wrong(sizes[i].pattern, &arena);
        if (!CHECK(!why == sizes[i].good)) {
            fprintf(stderr, "%s: %s\n", sizes[i].pattern, why ? why : "good");
        }
        ovl_arena_free(&arena);
    }
}

static void counts_have_a_range(void)
{
    says("count: 0", "f:1:8: error: count is \"0\": must be between 1 and 100\n");
    says("count: 101", "f:1:8: error: count is \"101\": must be between 1 and 100\n");
    says("count: 100", "");
}

static void two_keys_for_one_thing_exclude_each_other(void)
{
    says("number: 5", "");
    says("{count: 5, number: 6}", "f:1:12: error: \"count\" and \"number\" say the same thing\n");
}

static void a_refused_value_leaves_the_member_alone(void)
{
    bench b = {0};
    decode(&b, "{kind: violet, count: 0, time: x}");
    CHECK_INT(b.errs.count, 3);
    CHECK_INT(b.s.kind, -1);
    CHECK_INT(b.s.count, 0);
    CHECK(!b.s.has_time);
    ovl_arena_free(&b.arena);
}

/* A list that aliases share gives one array, whose mistakes are told once. */
static void shared_lists_are_decoded_once(void)
{
    bench b = {0};
    decode(&b, "map: {name: &l [a]}\nlist: &x [{name: x, n: z}]\n");
    CHECK_INT(b.errs.count, 2);
    ovl_arena_free(&b.arena);

    typedef struct pair {
        ovl_items a, b;
        ovl_times c, d;
    } pair;
    static const ovl_field fields[] = {
        OVL_FIELD_MORE(pair, a, "a", OVL_F_LIST, 0, "", .table = &inner_table),
        OVL_FIELD_MORE(pair, b, "b", OVL_F_LIST, 0, "", .table = &inner_table),
        OVL_FIELD(pair, c, "c", OVL_F_TIMES, 0, ""),
        OVL_FIELD(pair, d, "d", OVL_F_TIMES, 0, ""),
    };
    static const ovl_table table = {
        .title = "pair",
        .fields = fields,
        .n_fields = OVL_COUNT(fields),
        .size = sizeof(pair),
        .mark = OVL_NO_SET,
    };
    const char *text = "a: &a [{name: x}]\nb: *a\nc: &c [1 ms,1 ms,1 ms,1 ms,1 ms,1 ms,1 ms,1 ms,1 "
                       "ms]\nd: *c\n";
    b.errs = (ovl_errs){.arena = &b.arena};
    pair p;
    memset(&p, 0, sizeof p);
    ovl_node *node = ovl_yaml_parse("f", text, strlen(text), &b.arena, &b.errs);
    ovl_decode(node, &table, &p, &b.arena, &b.errs);
    CHECK_INT(b.errs.count, 0);
    CHECK(p.a.item && p.a.item == p.b.item);
    CHECK(p.c.item && p.c.item == p.d.item);
    CHECK_INT(p.d.count, 9);
    ovl_arena_free(&b.arena);
}

static void a_mapping_of_names_becomes_a_list(void)
{
    bench b = {0};
    const char *text = "x: {name: inside, n: 1}\ny: {n: 2}\nz: 5\n";
    b.errs = (ovl_errs){.arena = &b.arena};
    ovl_node *node = ovl_yaml_parse("f", text, strlen(text), &b.arena, &b.errs);
    ovl_items items =
        ovl_decode_named(node, "things", &inner_table, offsetof(inner, name), &b.arena, &b.errs);
    CHECK_INT(items.count, 3);
    CHECK_TEXT(OVL_ITEM(items, inner, 0)->name, "x");
    CHECK_INT(OVL_ITEM(items, inner, 1)->n, 2);
    CHECK_INT(b.errs.count, 2); /* y lacks the name its table requires, z is no mapping */
    CHECK_HAS(b.errs.items[1].text, "z: expected a mapping, found text");
    CHECK_INT(ovl_decode_named(NULL, "k", &inner_table, 0, &b.arena, &b.errs).count, 0);
    ovl_arena_free(&b.arena);
}

static void a_list_of_nothing_takes_no_memory(void)
{
    bench b = {0};
    char text[4000];
    int at = snprintf(text, sizeof text, "list: [{name: x}");
    for (int i = 0; i < 201; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at, ",{}");
    }
    snprintf(text + at, sizeof text - (size_t)at, "]");
    decode(&b, text);
    CHECK_INT(b.s.list.count, 0);
    CHECK_INT(b.errs.count, 1);
    CHECK_TEXT(b.errs.items[0].text, "list: 201 items are empty or no mappings");
    ovl_arena_free(&b.arena);
}

static void a_flood_of_mistakes_is_kept_short(void)
{
    bench b = {0};
    static char text[100000];
    int at = 0;
    for (int i = 0; i < 5000; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at, "k%d: 1\n", i);
    }
    size_t before = b.arena.used;
    decode(&b, text);
    CHECK_INT(b.errs.count, OVL_ERRS_MAX);
    CHECK_INT(b.errs.errors, 5000);
    CHECK_INT(b.errs.dropped, 5000 - OVL_ERRS_MAX);
    CHECK(b.arena.used - before < 5000 * 200);
    ovl_arena_free(&b.arena);
}

static CU_TestInfo tests[] = {
    {"every type is decoded", every_type_is_decoded},
    {"a single value is a list of one", a_single_value_is_a_list_of_one},
    {"null leaves a value out", null_leaves_a_value_out},
    {"all mistakes are told with their places", all_mistakes_are_told_with_their_places},
    {"wrong shapes are told", wrong_shapes_are_told},
    {"names are told or guessed", names_are_told_or_guessed},
    {"patterns are checked where they stand", patterns_are_checked_where_they_stand},
    {"counts have a range", counts_have_a_range},
    {"two keys for one thing exclude each other", two_keys_for_one_thing_exclude_each_other},
    {"a refused value leaves the member alone", a_refused_value_leaves_the_member_alone},
    {"shared lists are decoded once", shared_lists_are_decoded_once},
    {"a mapping of names becomes a list", a_mapping_of_names_becomes_a_list},
    {"a list of nothing takes no memory", a_list_of_nothing_takes_no_memory},
    {"a flood of mistakes is kept short", a_flood_of_mistakes_is_kept_short},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("fields", tests);
}
