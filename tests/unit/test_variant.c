#include "models/variant.h"
#include "tests/support/check.h"

#include <string.h>

typedef struct bench {
    ovl_arena arena;
    ovl_errs errs;
    ovl_node *root;
} bench;

static const char *const text = "params: {L: 8, B: 10 ms, N: 48}\n"
                                "shared: &s {x: 1, deep: {y: [1, 2]}}\n"
                                "again: *s\n"
                                "overlap:\n"
                                "workload:\n"
                                "  layers:\n"
                                "    - {name: embed, backward: 1 ms}\n"
                                "    - {name: block, repeat: 48, backward: 2 ms}\n"
                                "    - {name: conv1.weight, backward: 3 ms}\n"
                                "    - {name: some, repeat: $N}\n"
                                "  ops:\n"
                                "    - {kernel: k, duration: $B}\n"
                                "    - {collective: ar, op: all_reduce, bytes: 1 MiB}\n"
                                "    - {kernel: twice}\n"
                                "    - {kernel: twice}\n"
                                "    - {repeat: $L, ops: [{kernel: 'k{i}'}, {kernel: $$L}]}\n"
                                "collectives:\n"
                                "  - {op: all_reduce, beta: 1 GB/s}\n"
                                "variants: {v: {workload.ops.k.duration: $none}}\n";

static void open_bench(bench *b)
{
    *b = (bench){0};
    b->errs.arena = &b->arena;
    b->root = ovl_yaml_parse("f", text, strlen(text), &b->arena, &b->errs);
    CHECK(b->root && b->errs.count == 0);
}

static bool set(bench *b, const char *path, const char *value)
{
    ovl_node *node = ovl_yaml_parse("v", value, strlen(value), &b->arena, &b->errs);
    return ovl_path_set(&b->root, path, (ovl_mark){"p", 1, 1}, node, &b->arena, OVL_E_USAGE,
                        &b->errs);
}

/* The tree as flow YAML without blanks, so that checks can compare it. */
static const char *shown(bench *b, const ovl_node *node)
{
    if (node->kind == OVL_NODE_SCALAR) {
        return node->text;
    }
    bool list = node->kind == OVL_NODE_LIST;
    const char *all = list ? "[" : "{";
    for (uint32_t i = 0; i < node->count; i++) {
        const ovl_node *child = list ? node->items[i] : node->pairs[i].value;
        all = ovl_arena_printf(&b->arena, "%s%s%s%s%s", all, i ? "," : "",
                               list ? "" : node->pairs[i].key, list ? "" : ":", shown(b, child));
    }
    return ovl_arena_printf(&b->arena, "%s%s", all, list ? "]" : "}");
}

static const char *part(bench *b, const char *key)
{
    return shown(b, ovl_node_get(b->root, key));
}

static const char *layers(bench *b)
{
    return shown(b, ovl_node_get(ovl_node_get(b->root, "workload"), "layers"));
}

/* Checks that a path is refused with this sentence and changes nothing. */
static void refused(const char *path, const char *sentence)
{
    bench b;
    open_bench(&b);
    const char *before = shown(&b, b.root);
    CHECK(!set(&b, path, "1"));
    CHECK_INT(b.errs.count, 1);
    CHECK_TEXT(b.errs.count ? b.errs.items[0].text : NULL, sentence);
    CHECK_INT(ovl_errs_status(&b.errs), OVL_E_USAGE);
    CHECK_TEXT(shown(&b, b.root), before);
    ovl_arena_free(&b.arena);
}

static void keys_and_items_are_reached(void)
{
    bench b;
    open_bench(&b);
    CHECK(set(&b, "params.L", "16"));
    CHECK_TEXT(part(&b, "params"), "{L:16,B:10 ms,N:48}");
    CHECK(set(&b, "workload.layers.embed.backward", "5 ms"));
    CHECK(set(&b, "workload.layers[1].backward", "6 ms"));
    CHECK(set(&b, "workload.layers.conv1.weight.backward", "7 ms"));
    CHECK_HAS(layers(&b), "{name:embed,backward:5 ms}");
    CHECK_HAS(layers(&b), "{name:block,repeat:48,backward:6 ms}");
    CHECK_HAS(layers(&b), "{name:conv1.weight,backward:7 ms}");
    CHECK(set(&b, "workload.ops.ar.bytes", "2 MiB"));
    CHECK(set(&b, "workload.ops[4].ops[0].kernel", "z"));
    CHECK(set(&b, "collectives.all_reduce.beta", "2 GB/s"));
    CHECK_HAS(part(&b, "workload"), "{collective:ar,op:all_reduce,bytes:2 MiB}");
    CHECK_HAS(part(&b, "workload"), "ops:[{kernel:z},");
    CHECK_TEXT(part(&b, "collectives"), "[{op:all_reduce,beta:2 GB/s}]");
    CHECK_INT(b.errs.count, 0);
    ovl_arena_free(&b.arena);
}

static void absent_keys_are_made(void)
{
    bench b;
    open_bench(&b);
    CHECK(set(&b, "overlap.ddp.buckets", "[[g1, g2], [g3]]"));
    CHECK(set(&b, "hardware.gpu.hbm", "2 TB/s"));
    CHECK_TEXT(part(&b, "overlap"), "{ddp:{buckets:[[g1,g2],[g3]]}}");
    CHECK_TEXT(part(&b, "hardware"), "{gpu:{hbm:2 TB/s}}");
    CHECK(set(&b, "overlap.ddp.buckets[1][0]", "late"));
    CHECK_TEXT(part(&b, "overlap"), "{ddp:{buckets:[[g1,g2],[late]]}}");
    CHECK_INT(b.errs.count, 0);
    ovl_arena_free(&b.arena);
}

static void a_change_touches_only_the_place_it_names(void)
{
    bench b;
    open_bench(&b);
    ovl_node *before = b.root;
    const char *old = shown(&b, before);
    CHECK(set(&b, "again.deep.y[0]", "9"));
    CHECK(set(&b, "again.deep.y[1]", "8"));
    CHECK_TEXT(part(&b, "again"), "{x:1,deep:{y:[9,8]}}");
    CHECK_TEXT(part(&b, "shared"), "{x:1,deep:{y:[1,2]}}");
    CHECK_TEXT(shown(&b, before), old);
    ovl_arena_free(&b.arena);
}

/* block has repeats 0..47; around 3 it becomes 0..2, 3, 4..47; the first and last leave two parts.
 */
static void a_repeated_layer_is_split_around_one_repeat(void)
{
    bench b;
    open_bench(&b);
    CHECK(set(&b, "workload.layers.block[3].backward", "9 ms"));
    CHECK_HAS(layers(&b), "{name:block,repeat:3,backward:2 ms,first:0},"
                          "{name:block,repeat:1,backward:9 ms,first:3},"
                          "{name:block,repeat:44,backward:2 ms,first:4},{name:conv1");
    CHECK(set(&b, "workload.layers.block[3].backward", "8 ms"));
    CHECK(set(&b, "workload.layers.block[0].backward", "7 ms"));
    CHECK(set(&b, "workload.layers.block[47].backward", "6 ms"));
    CHECK_HAS(layers(&b), "{name:block,repeat:1,backward:7 ms,first:0},"
                          "{name:block,repeat:2,backward:2 ms,first:1},"
                          "{name:block,repeat:1,backward:8 ms,first:3},"
                          "{name:block,repeat:43,backward:2 ms,first:4},"
                          "{name:block,repeat:1,backward:6 ms,first:47},{name:conv1");
    CHECK(set(&b, "params.N", "2"));
    CHECK(set(&b, "workload.layers.some[1].params", "1 MiB"));
    CHECK_HAS(layers(&b), "{name:some,repeat:1,first:0},{name:some,repeat:1,first:1,params:1 MiB}");
    CHECK_INT(b.errs.count, 0);
    ovl_arena_free(&b.arena);
}

/* The parts share what was below the layer; a change of one must not show in the others. */
static void split_parts_do_not_share_changes(void)
{
    bench b;
    open_bench(&b);
    CHECK(set(&b, "workload.layers.block.forward", "[1 ms, 2 ms]"));
    CHECK(set(&b, "workload.layers.block.forward[0]", "3 ms"));
    CHECK(set(&b, "workload.layers.block[0].forward[1]", "4 ms"));
    CHECK_HAS(layers(&b), "{name:block,repeat:1,backward:2 ms,forward:[3 ms,4 ms],first:0},"
                          "{name:block,repeat:47,backward:2 ms,forward:[3 ms,2 ms],first:1}");
    ovl_arena_free(&b.arena);
}

static void paths_that_lead_nowhere_are_refused(void)
{
    refused("workload.layers.blok.backward",
            "unknown item of workload.layers: \"blok\"; did you mean \"block\"?");
    refused("workload.layers.zzz", "unknown item of workload.layers: \"zzz\"");
    refused("workload.layers[4].name", "path \"workload.layers[4].name\": workload.layers has 4 "
                                       "items, numbered from 0; there is no [4]");
    refused("collectives[1].op",
            "path \"collectives[1].op\": collectives has 1 item, numbered from 0; "
            "there is no [1]");
    refused("workload.layers.block[48].backward", "path \"workload.layers.block[48].backward\": "
                                                  "there is no repeat [48] of \"block\"");
    refused("workload.layers.embed[0].backward",
            "path \"workload.layers.embed[0].backward\": there "
            "is no repeat [0] of \"embed\"");
    refused("workload.ops.twice.flops",
            "path \"workload.ops.twice.flops\": 2 items are called \"twice\"; name one by its "
            "[index] (and a whole layer before single repeats of it)");
    refused("params.L.x", "path \"params.L.x\": params.L is a single value and has no parts");
    refused("workload[0]", "path \"workload[0]\": a mapping has no [index]");
    refused("nothing[0].x", "path \"nothing[0].x\": there is no \"nothing\" in the scenario");
    refused("workload.layers[x]",
            "path \"workload.layers[x]\": expected [index] with a whole number");
    refused("workload.layers[99999999999]",
            "path \"workload.layers[99999999999]\": expected [index] with a whole number");
    refused("workload.layers[1",
            "path \"workload.layers[1\": expected [index] with a whole number");
    refused("params..L", "path \"params..L\": a name is missing beside a dot");
    refused("params.", "path \"params.\": a name is missing beside a dot");
    refused("", "path \"\": expected a name, such as overlap.ddp.bucket_cap");
    refused(".a", "path \".a\": expected a name, such as overlap.ddp.bucket_cap");
    refused("[0]", "path \"[0]\": expected a name, such as overlap.ddp.bucket_cap");
}

static void paths_have_at_most_64_parts(void)
{
    bench b;
    open_bench(&b);
    char path[130]; /* b.a.a...: 65 parts; without the first 64 */
    for (size_t i = 0; i < sizeof path; i += 2) {
        path[i] = i ? 'a' : 'b';
        path[i + 1] = '.';
    }
    path[sizeof path - 1] = '\0';
    CHECK(set(&b, path + 2, "1"));
    CHECK(!set(&b, path, "1"));
    CHECK_HAS(b.errs.items[b.errs.count - 1].text, "too many parts");
    ovl_arena_free(&b.arena);
}

static void parameters_are_filled_in_everywhere(void)
{
    bench b;
    open_bench(&b);
    ovl_node *before = b.root, *shared = ovl_node_get(b.root, "shared");
    const char *old = shown(&b, before);
    ovl_params_apply(&b.root, &b.arena, &b.errs);
    CHECK_INT(b.errs.count, 0);
    CHECK_HAS(part(&b, "workload"), "{kernel:k,duration:10 ms}");
    CHECK_HAS(part(&b, "workload"), "{repeat:8,ops:[{kernel:k{i}},{kernel:$L}]}");
    CHECK_HAS(part(&b, "variants"), "$none");
    CHECK_TEXT(shown(&b, before), old);
    CHECK(ovl_node_get(b.root, "shared") == shared);
    ovl_arena_free(&b.arena);
}

static void unknown_parameters_are_told(void)
{
    bench b;
    open_bench(&b);
    CHECK(set(&b, "a", "[$Lx, $, '$qqqqqq', $$]"));
    CHECK(set(&b, "params.X", "$L"));
    CHECK(set(&b, "params.Y", "[1]"));
    ovl_params_apply(&b.root, &b.arena, &b.errs);
    CHECK_INT(b.errs.count, 4);
    CHECK_TEXT(b.errs.items[0].text, "a parameter cannot stand for another");
    CHECK_TEXT(b.errs.items[1].text, "Y: expected a single value, found a list");
    CHECK_TEXT(b.errs.items[2].text, "unknown parameter \"Lx\"; did you mean \"L\"?");
    CHECK_TEXT(b.errs.items[3].text, "unknown parameter \"qqqqqq\"");
    CHECK_TEXT(part(&b, "a"), "[$Lx,$,$qqqqqq,$]");
    ovl_arena_free(&b.arena);
}

/* 40 levels that hold the one below twice expand to 2^40 values; the walk sees 40. */
static void filling_follows_the_file_not_what_expands(void)
{
    bench b = {0};
    b.errs.arena = &b.arena;
    ovl_node *node = ovl_node_scalar("$L", (ovl_mark){"f", 1, 1}, &b.arena);
    for (int i = 0; i < 40; i++) {
        ovl_node *list = OVL_NEW(&b.arena, ovl_node);
        *list = (ovl_node){.kind = OVL_NODE_LIST};
        ovl_node_insert(list, 0, node, &b.arena);
        ovl_node_insert(list, 1, node, &b.arena);
        node = list;
    }
    const char *params = "params: {L: 5}\n";
    b.root = ovl_yaml_parse("f", params, strlen(params), &b.arena, &b.errs);
    ovl_node_set(b.root, "deep", node->mark, node, &b.arena);
    ovl_params_apply(&b.root, &b.arena, &b.errs);
    node = ovl_node_get(b.root, "deep");
    for (int i = 0; i < 40; i++) {
        CHECK(node->items[0] == node->items[1]);
        node = node->items[0];
    }
    CHECK_TEXT(node->text, "5");
    ovl_arena_free(&b.arena);
}

static CU_TestInfo tests[] = {
    {"keys and items are reached", keys_and_items_are_reached},
    {"absent keys are made", absent_keys_are_made},
    {"a change touches only the place it names", a_change_touches_only_the_place_it_names},
    {"a repeated layer is split around one repeat", a_repeated_layer_is_split_around_one_repeat},
    {"split parts do not share changes", split_parts_do_not_share_changes},
    {"paths that lead nowhere are refused", paths_that_lead_nowhere_are_refused},
    {"paths have at most 64 parts", paths_have_at_most_64_parts},
    {"parameters are filled in everywhere", parameters_are_filled_in_everywhere},
    {"unknown parameters are told", unknown_parameters_are_told},
    {"filling follows the file, not what expands", filling_follows_the_file_not_what_expands},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("variant", tests);
}
