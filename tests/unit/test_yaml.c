#include "models/yaml.h"
#include "sim/vec.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

typedef struct bench {
    ovl_arena arena;
    ovl_errs errs;
} bench;

static ovl_node *parse(bench *b, const char *text)
{
    b->errs = (ovl_errs){.arena = &b->arena};
    return ovl_yaml_parse("f.yaml", text, strlen(text), &b->arena, &b->errs);
}

/* All messages, a line each. */
static const char *said(bench *b)
{
    const char *all = "";
    for (uint32_t i = 0; i < b->errs.count; i++) {
        all =
            ovl_arena_printf(&b->arena, "%s%s\n", all, ovl_err_text(&b->arena, &b->errs.items[i]));
    }
    return all;
}

static const char *text_of(const ovl_node *node, const char *key)
{
    const ovl_node *value = ovl_node_get(node, key);
    return value && value->kind == OVL_NODE_SCALAR ? value->text : NULL;
}

/* Checks that `text` is refused with exactly these lines, and that there is no tree. */
static void refused(const char *text, const char *lines)
{
    bench b = {0};
    CHECK(parse(&b, text) == NULL);
    CHECK_TEXT(said(&b), lines);
    ovl_arena_free(&b.arena);
}

/* The same for mistakes that leave a tree. */
static void faulted(const char *text, const char *lines)
{
    bench b = {0};
    CHECK(parse(&b, text) != NULL);
    CHECK_TEXT(said(&b), lines);
    ovl_arena_free(&b.arena);
}

static void nodes_know_their_place(void)
{
    bench b = {0};
    ovl_node *root = parse(&b, "a: {x: 1}\nlist:\n  - first\n  - 'second'\n");
    CHECK(root != NULL);
    const ovl_node *x = ovl_node_get(ovl_node_get(root, "a"), "x");
    CHECK_TEXT(x->text, "1");
    CHECK_INT(x->mark.line, 1);
    CHECK_INT(x->mark.column, 8);
    CHECK_TEXT(x->mark.file, "f.yaml");
    const ovl_node *list = ovl_node_get(root, "list");
    CHECK_INT(list->kind, OVL_NODE_LIST);
    CHECK_INT(list->count, 2);
    CHECK_INT(list->items[1]->mark.line, 4);
    CHECK_INT(list->items[1]->mark.column, 5);
    CHECK(list->items[1]->quoted && !list->items[0]->quoted);
    CHECK_INT(root->pairs[1].key_mark.line, 2);
    CHECK(ovl_node_get(root, "none") == NULL && ovl_node_get(list, "x") == NULL);
    ovl_arena_free(&b.arena);
}

static void aliases_share_their_node(void)
{
    bench b = {0};
    ovl_node *root = parse(&b, "a: &x {k: v}\nb: *x\nc: &x 7\nd: *x\n");
    CHECK(ovl_node_get(root, "a") == ovl_node_get(root, "b"));
    CHECK_TEXT(text_of(root, "d"), "7");
    ovl_arena_free(&b.arena);
}

static void own_keys_win_over_merged_ones(void)
{
    bench b = {0};
    ovl_node *root = parse(&b, "one: &one {a: 1, b: 1, c: 1}\n"
                               "two: &two {b: 2, c: 2, d: 2}\n"
                               "map: {<<: [*one, *two], c: 3}\n"
                               "single: {<<: *two, '<<': text}\n");
    CHECK_TEXT(said(&b), "");
    const ovl_node *map = ovl_node_get(root, "map");
    CHECK_INT(map->count, 4);
    CHECK_TEXT(map->pairs[0].key, "c");
    CHECK_TEXT(text_of(map, "a"), "1");
    CHECK_TEXT(text_of(map, "b"), "1");
    CHECK_TEXT(text_of(map, "c"), "3");
    CHECK_TEXT(text_of(map, "d"), "2");
    CHECK_TEXT(text_of(ovl_node_get(root, "single"), "<<"), "text");
    faulted("<<: 5\n", "f.yaml:1:5: error: \"<<\" takes a mapping or a list of mappings, found "
                       "text\n");
    ovl_arena_free(&b.arena);
}

static void repeated_keys_name_both_places(void)
{
    faulted("a: 1\nb: 2\n'a': 3\nc: {d: 1, d: 2}\na: 4\n",
            "f.yaml:4:11: error: key \"d\" is given twice; the first is at line 4, column 5\n"
            "f.yaml:3:1: error: key \"a\" is given twice; the first is at line 1, column 1\n"
            "f.yaml:5:1: error: key \"a\" is given twice; the first is at line 1, column 1\n");
}

static void a_cycle_is_refused(void)
{
    faulted("a: &x [1, *x]\n",
            "f.yaml:1:11: error: alias *x is inside what it stands for: a cycle\n");
    faulted("&x {<<: *x}\n", "f.yaml:1:9: error: alias *x is inside what it stands for: a cycle\n");
}

static void an_unknown_alias_is_told_with_the_nearest(void)
{
    faulted("a: &base 1\nb: *bsae\n",
            "f.yaml:2:4: error: no anchor &bsae before this alias; did you mean *base?\n");
    faulted("b: *later\nc: &later 1\n", "f.yaml:1:4: error: no anchor &later before this alias\n");
}

/* Each level holds the one below ten times: seven levels are 10^7 values in 200 bytes. */
static void an_alias_bomb_costs_nothing(void)
{
    bench b = {0};
    char text[1024];
    int at = snprintf(text, sizeof text, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 9; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++) {
            at += snprintf(text + at, sizeof text - (size_t)at, "%s*a%d", k ? "," : "", i - 1);
        }
        at += snprintf(text + at, sizeof text - (size_t)at, "]\n");
    }
    CHECK(parse(&b, text) == NULL);
    CHECK_HAS(said(&b), "error: too large: more than 4000000 values once aliases are followed");
    CHECK_INT(b.errs.errors, 1);
    CHECK(b.arena.held < (1 << 20));
    ovl_arena_free(&b.arena);
}

static void a_merge_bomb_costs_nothing(void)
{
    bench b = {0};
    OVL_VEC(char) text = {0};
    for (int i = 0; i < 20000; i++) {
        char line[80];
        int n = i ? snprintf(line, sizeof line, "- &m%d {<<: *m%d, k%d: 1}\n", i, i - 1, i)
                  : snprintf(line, sizeof line, "- &m0 {k0: 1}\n");
        for (int k = 0; k < n; k++) {
            ovl_vec_push(&text, line[k]);
        }
    }
    ovl_vec_push(&text, '\0');
    CHECK(parse(&b, text.data) == NULL);
    CHECK_HAS(said(&b), "too large");
    CHECK(b.arena.held < ((size_t)400 << 20));
    ovl_vec_free(&text);
    ovl_arena_free(&b.arena);
}

static char *brackets(bench *b, int levels)
{
    char *text = ovl_arena_alloc(&b->arena, (size_t)levels * 2 + 1, 1);
    memset(text, '[', (size_t)levels);
    memset(text + levels, ']', (size_t)levels);
    return text;
}

static void nesting_ends_at_64_levels(void)
{
    bench b = {0};
    CHECK(parse(&b, brackets(&b, 64)) != NULL);
    CHECK_TEXT(said(&b), "");
    CHECK(parse(&b, brackets(&b, 65)) == NULL);
    CHECK_TEXT(said(&b), "f.yaml:1:65: error: nested too deeply: more than 64 levels\n");
    CHECK(parse(&b, brackets(&b, 100000)) == NULL);
    ovl_arena_free(&b.arena);
}

/* 33 levels behind an alias inside 32 levels (31 brackets and the root mapping): 65. */
static void nesting_counts_through_aliases(void)
{
    bench b = {0};
    const char *deep = brackets(&b, 33);
    const char *outer = brackets(&b, 31);
    const char *text =
        ovl_arena_printf(&b.arena, "a: &a %s\nb: %.31s*a%s\n", deep, outer, outer + 31);
    CHECK(parse(&b, text) == NULL);
    CHECK_HAS(said(&b), "f.yaml:2:35: error: nested too deeply");
    text = ovl_arena_printf(&b.arena, "a: &a %s\nb: %.30s*a%s\n", deep, outer, outer + 32);
    CHECK(parse(&b, text) != NULL);
    ovl_arena_free(&b.arena);
}

static void a_file_holds_one_document(void)
{
    refused("a: 1\n---\nb: 2\n",
            "f.yaml:2:1: error: a second document begins here; a file holds one\n");
    refused("", "f.yaml:1:1: error: empty: a YAML document is expected\n");
    refused("# nothing\n", "f.yaml:1:1: error: empty: a YAML document is expected\n");
    refused("---\n...\n", "f.yaml:1:1: error: empty: a YAML document is expected\n");
    faulted("null\n", "");
}

static void keys_are_texts(void)
{
    refused("? [a, b]\n: 1\n", "f.yaml:1:3: error: a key must be text, found a list\n");
    refused("{{a: 1}: 2}\n", "f.yaml:1:2: error: a key must be text, found a mapping\n");
    bench b = {0};
    CHECK_TEXT(text_of(parse(&b, "a: &k name\n*k : 1\n"), "name"), "1");
    ovl_arena_free(&b.arena);
}

static void only_standard_tags_have_a_meaning(void)
{
    bench b = {0};
    ovl_node *root = parse(&b, "a: !!str null\nb: ! 7\nc: !!int 7\nd: !!seq [1]\ne: !!map {}\n");
    CHECK_TEXT(said(&b), "");
    CHECK(ovl_node_get(root, "a")->quoted && ovl_node_get(root, "b")->quoted);
    CHECK(!ovl_node_get(root, "c")->quoted);
    ovl_arena_free(&b.arena);
    faulted("a: !python/object x\n",
            "f.yaml:1:4: error: tag \"!python/object\" has no meaning here\n");
    faulted("a: !!binary x\n", "f.yaml:1:4: error: tag \"tag:yaml.org,2002:binary\" has no meaning "
                               "here\n");
    faulted("a: !!in 7\n", "f.yaml:1:4: error: tag \"tag:yaml.org,2002:in\" has no meaning here\n");
    refused("%TAG ! tag:x,2000:\n---\na: 1\n",
            "f.yaml:1:1: error: %TAG directives have no meaning here\n");
}

static void what_is_no_yaml_is_refused_with_its_place(void)
{
    refused("a: 1\n\tb: 2\n",
            "f.yaml:2:1: error: not valid YAML: a tab cannot indent; use blanks\n");
    refused("a: [1, 2\nb: 3\n", "f.yaml:2:2: error: not valid YAML: did not find expected ',' or "
                                "']', while parsing a flow sequence that began at line 1\n");
    refused("a: \"open\n", "f.yaml:2:1: error: not valid YAML: found unexpected end of stream, "
                           "while scanning a quoted scalar that began at line 1\n");
    refused("{a.b[3].c: 1}\n",
            "f.yaml:1:5: error: not valid YAML: did not find expected ',' or '}', while parsing a "
            "flow mapping that began at line 1 (quote names that hold brackets)\n");
    bench b = {0};
    CHECK(parse(&b, "a: 1\nb: \xff\xfe\n") == NULL);
    CHECK_HAS(said(&b), "f.yaml:2:4: error: not readable as UTF-8");
    CHECK(parse(&b, "a: \x01\n") == NULL);
    CHECK_HAS(said(&b), "f.yaml:1:4: error: not readable as UTF-8");
    const char *control = "f.yaml:1:4: error: text cannot hold control characters\n";
    faulted("a: \"x\\0y\"\n", control);
    faulted("a: \"x\\e[2J\"\n", control);
    faulted("a: \"x\\x9b\"\n", control);
    faulted("a: \"x\\x7f\"\n", control);
    faulted("a: \"x\\n\\t\\xe9\"\n", "");
    ovl_arena_free(&b.arena);
}

static void a_byte_order_mark_is_skipped(void)
{
    bench b = {0};
    CHECK_TEXT(text_of(parse(&b, "\xef\xbb\xbf"
                                 "a: 1\n"),
                       "a"),
               "1");
    ovl_arena_free(&b.arena);
}

static void a_copy_can_be_changed_alone(void)
{
    bench b = {0};
    ovl_node *root = parse(&b, "m: {a: 1}\nl: [x]\n");
    ovl_node *m = ovl_node_get(root, "m"), *l = ovl_node_get(root, "l");
    ovl_node *m2 = ovl_node_copy(m, &b.arena), *l2 = ovl_node_copy(l, &b.arena);
    ovl_node *v = ovl_node_scalar("2", m->mark, &b.arena);
    ovl_node_set(m2, "a", m->mark, v, &b.arena);
    for (int i = 0; i < 20; i++) {
        ovl_node_set(m2, ovl_arena_printf(&b.arena, "k%d", i), m->mark, v, &b.arena);
        ovl_node_insert(l2, 0, v, &b.arena);
    }
    CHECK_TEXT(text_of(m, "a"), "1");
    CHECK_TEXT(text_of(m2, "a"), "2");
    CHECK_INT(m->count, 1);
    CHECK_INT(m2->count, 21);
    CHECK_INT(l->count, 1);
    CHECK_INT(l2->count, 21);
    CHECK_TEXT(l2->items[20]->text, "x");
    ovl_arena_free(&b.arena);
}

static void texts_are_shown_short_and_printable(void)
{
    ovl_arena a = {0};
    CHECK_TEXT(ovl_shown("plain", &a), "plain");
    CHECK_TEXT(ovl_shown("two\nlines\x1b[2J", &a), "two?lines?[2J");
    const char *sixty = "0123456789012345678901234567890123456789012345678901234567890";
    CHECK_TEXT(ovl_shown(sixty + 1, &a), sixty + 1);
    CHECK_INT(strlen(ovl_shown(sixty, &a)), 63);
    CHECK_TEXT(ovl_shown_path(sixty, &a), sixty);
    /* 59 bytes and a character of two: it is left out whole. */
    const char *cut =
        ovl_shown("01234567890123456789012345678901234567890123456789012345678\xc3\xa9", &a);
    CHECK_HAS(cut, "8...");
    ovl_arena_free(&a);
}

static CU_TestInfo tests[] = {
    {"nodes know their place", nodes_know_their_place},
    {"aliases share their node", aliases_share_their_node},
    {"own keys win over merged ones", own_keys_win_over_merged_ones},
    {"repeated keys name both places", repeated_keys_name_both_places},
    {"a cycle is refused", a_cycle_is_refused},
    {"an unknown alias is told with the nearest", an_unknown_alias_is_told_with_the_nearest},
    {"an alias bomb costs nothing", an_alias_bomb_costs_nothing},
    {"a merge bomb costs nothing", a_merge_bomb_costs_nothing},
    {"nesting ends at 64 levels", nesting_ends_at_64_levels},
    {"nesting counts through aliases", nesting_counts_through_aliases},
    {"a file holds one document", a_file_holds_one_document},
    {"keys are texts", keys_are_texts},
    {"only standard tags have a meaning", only_standard_tags_have_a_meaning},
    {"what is no YAML is refused with its place", what_is_no_yaml_is_refused_with_its_place},
    {"a byte order mark is skipped", a_byte_order_mark_is_skipped},
    {"a copy can be changed alone", a_copy_can_be_changed_alone},
    {"texts are shown short and printable", texts_are_shown_short_and_printable},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("yaml", tests);
}
