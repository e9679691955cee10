#include "models/known.h"
#include "models/lower.h"
#include "tests/support/check.h"

#include <string.h>

static const char *read_text(void *context, const char *path, size_t *length, ovl_arena *arena,
                             const char **why)
{
    (void)path;
    (void)arena;
    (void)why;
    *length = strlen(context);
    return context;
}

/* What loading, decoding and, if they go well, lowering say of a text. */
static const char *said(const char *text, ovl_arena *arena)
{
    ovl_errs errs = {.arena = arena};
    char *copy = ovl_arena_strdup(arena, text);
    ovl_files files = {.read = read_text, .context = copy};
    ovl_document doc;
    ovl_scenario s;
    ovl_lowered lowered;
    if (ovl_document_load("s.yaml", &files, &doc, arena, &errs) &&
        ovl_scenario_decode(&doc, NULL, NULL, 0, &s, arena, &errs)) {
        ovl_lower(&s, arena, &lowered, &errs);
    }
    ovl_errs_sort(&errs);
    const char *all = "";
    for (uint32_t i = 0; i < errs.count; i++) {
        all = ovl_arena_printf(arena, "%s%s\n", all, ovl_err_text(arena, &errs.items[i]));
    }
    return all;
}

/* The text has these mistakes, told by lowering; with a mistake of another kind in the last line
 * it has them all the same. */
static void has(const char *text, const char *lines)
{
    ovl_arena arena = {0};
    CHECK_TEXT(said(text, &arena), lines);
    uint32_t line = 1;
    for (const char *at = text; (at = strchr(at, '\n')); at++) {
        line++;
    }
    CHECK_TEXT(said(ovl_arena_printf(&arena, "%swrong: 1\n", text), &arena),
               ovl_arena_printf(&arena, "%ss.yaml:%" PRIu32 ":1: error: unknown key \"wrong\"\n",
                                lines, line));
    ovl_arena_free(&arena);
}

/* With mistakes of another kind in it, the text has these and no others. */
static void has_only(const char *text, const char *lines)
{
    ovl_arena arena = {0};
    CHECK_TEXT(said(text, &arena), lines);
    ovl_arena_free(&arena);
}

static void a_wait(void)
{
    has("workload:\n"
        "  ops:\n"
        "    - {kernel: matmul, duration: 1 ms}\n"
        "    - {kernel: update, duration: 1 ms, after: [matmul, 'maybe?', matnul]}\n",
        "s.yaml:4:66: error: there is no operation \"matnul\" to wait for; did you mean "
        "\"matmul\"?\n");
}

static void a_group(void)
{
    has("mesh: {axes: {dp: 2, tp: 2}}\n"
        "workload:\n"
        "  groups: {pairs: [[0, 1], [2, 3]]}\n"
        "  ops:\n"
        "    - {collective: a, op: all_reduce, bytes: 1 MiB, duration: 1 ms, group: pars}\n"
        "    - {collective: b, op: all_reduce, bytes: 1 MiB, duration: 1 ms, group: world}\n"
        "    - {collective: c, op: all_reduce, bytes: 1 MiB, duration: 1 ms, group: pairs}\n"
        "    - {collective: d, op: all_reduce, bytes: 1 MiB, duration: 1 ms, group: tp}\n",
        "s.yaml:5:7: error: there is no group \"pars\"; did you mean \"pairs\"?\n");
}

static void a_buffer(void)
{
    has("workload:\n"
        "  buffers: {grads: {bytes: 1 MiB}}\n"
        "  ops:\n"
        "    - {kernel: a, duration: 1 ms, writes: gards}\n"
        "    - {kernel: b, duration: 1 ms, reads: [grads, weights]}\n"
        "    - {kernel: c, duration: 1 ms, produces: {into: grad, gradients: g}}\n",
        "s.yaml:4:43: error: there is no buffer \"gards\"; did you mean \"grads\"?\n"
        "s.yaml:5:50: error: there is no buffer \"weights\"\n"
        "s.yaml:6:45: error: there is no buffer \"grad\"; did you mean \"grads\"?\n");
}

static void a_member(void)
{
    has("workload:\n"
        "  ranks: 2\n"
        "  groups: {pair: all}\n"
        "  ops:\n"
        "    - {send: a, to: 2, bytes: 1 MiB, duration: 1 ms, ranks: 0}\n"
        "    - {recv: a, from: +2, bytes: 1 MiB, duration: 1 ms, ranks: 1}\n",
        "s.yaml:5:7: error: \"a\" to \"2\": the group has no such member\n"
        "s.yaml:6:7: error: \"a\" from \"+2\": a member cannot exchange with itself\n");
}

static void a_member_of_a_bucket(void)
{
    has("mesh: {axes: {dp: 2}}\n"
        "workload:\n"
        "  layers:\n"
        "    - {name: block, repeat: 3, params: 1 MiB, backward: 1 ms}\n"
        "overlap: {ddp: {buckets: [['block[0..2]'], [blcok]]}}\n",
        "s.yaml:5:45: error: there is no gradient \"blcok\"; did you mean \"block\"?\n");
}

/* Where lowering knows the values of the counters, the form is enough for the checker. */
static void a_name_with_a_counter(void)
{
    has_only("wrong: 1\n"
             "workload:\n"
             "  buffers: {grad0: {bytes: 1 MiB}, grad1: {bytes: 1 MiB}}\n"
             "  ops:\n"
             "    - repeat: 2\n"
             "      ops:\n"
             "        - {kernel: 'bwd{i}', duration: 1 ms, after: ['bwd{i-1}?', 'fwd{i}']}\n"
             "        - {kernel: 'upd{i}', duration: 1 ms, after: ['bwd{i}', bwd1, 'bvd{i}']}\n"
             "        - {kernel: 'red{i}', duration: 1 ms, reads: ['grad{i}', 'gradd{i}']}\n"
             "    - {kernel: end, duration: 1 ms, after: [upd1, udp1]}\n",
             "s.yaml:1:1: error: unknown key \"wrong\"\n"
             "s.yaml:7:67: error: there is no operation \"fwd{i}\" to wait for; did you mean "
             "\"bwd{i}\"?\n"
             "s.yaml:8:70: error: there is no operation \"bvd{i}\" to wait for; did you mean "
             "\"bwd{i}\"?\n"
             "s.yaml:9:65: error: there is no buffer \"gradd{i}\"\n"
             "s.yaml:10:51: error: there is no operation \"udp1\" to wait for; did you mean "
             "\"upd1\"?\n");
}

/* Whatever the names may lead to was not understood. */
static void no_false_alarms(void)
{
    has_only("workload:\n"
             "  bufers: {grads: {bytes: 1 MiB}}\n"
             "  ops:\n"
             "    - {kernal: matmul, duration: 1 ms}\n"
             "    - {kernel: a, duration: 1 ms, after: matmul, reads: grads}\n",
             "s.yaml:2:3: error: unknown key \"bufers\"; did you mean \"buffers\"?\n"
             "s.yaml:4:7: error: an entry says what it is by one of kernel, collective, send, "
             "recv, batch, copy, host, marker, alloc, free, repeat\n"
             "s.yaml:4:8: error: unknown key \"kernal\"; did you mean \"kernel\"?\n");
    has_only("workload:\n"
             "  ranks: two\n"
             "  groups: {dp: all}\n"
             "  ops:\n"
             "    - {send: a, to: 1, bytes: 1 MiB, duration: 1 ms, group: dp, ranks: 0}\n",
             "s.yaml:2:10: error: ranks is \"two\": expected a whole number, such as \"16\"\n");
    has_only("workload:\n"
             "  groups: 5\n"
             "  ops:\n"
             "    - {collective: a, op: all_reduce, bytes: 1 MiB, group: dp, after: $before}\n",
             "s.yaml:2:11: error: groups: expected a mapping of names to ranks, found text\n"
             "s.yaml:4:71: error: unknown parameter \"before\"\n");
    has_only("workload:\n"
             "  layers:\n"
             "    - {name: block, repeat: many, params: 1 MiB, backward: 1 ms}\n"
             "overlap: {ddp: {buckets: [['block[0..2]', 'block[3]', block.1]]}}\n",
             "s.yaml:3:29: error: repeat is \"many\": expected a whole number, such as \"16\"\n");
}

/* What an operation is called elsewhere is no key here, and the entry says no more wrong. */
static void operations_are_no_keys(void)
{
    has_only("hardware:\n"
             "  collectives: [{AllReduce: dp, beta: 1 GB/s}]\n"
             "workload:\n"
             "  ranks: 2\n"
             "  ops:\n"
             "    - {all_reduce: a, bytes: 1 MB}\n"
             "    - {reduce-scatter: a, bytes: 1 MB}\n"
             "    - {sendrecv: a, bytes: 1 MB}\n"
             "    - {irecv: a, bytes: 1 MB}\n"
             "    - {collective: AllToAll, bytes: 1 MB}\n"
             "    - {all_reduces: a, bytes: 1 MB}\n",
             "s.yaml:2:17: error: collectives: \"op\" is missing\n"
             "s.yaml:2:18: error: unknown key \"AllReduce\"; did you mean `op: all_reduce`?\n"
             "s.yaml:6:8: error: unknown key \"all_reduce\"; did you mean `collective: NAME` with "
             "`op: all_reduce`?\n"
             "s.yaml:7:8: error: unknown key \"reduce-scatter\"; did you mean `collective: NAME` "
             "with `op: reduce_scatter`?\n"
             "s.yaml:8:8: error: unknown key \"sendrecv\"; did you mean `send: NAME` on one rank "
             "and `recv: NAME` on the other?\n"
             "s.yaml:9:8: error: unknown key \"irecv\"; did you mean `recv: NAME`?\n"
             "s.yaml:10:7: error: collective: \"op\" is missing; did you mean `op: "
             "all_to_all`?\n"
             "s.yaml:11:7: error: an entry says what it is by one of kernel, collective, send, "
             "recv, batch, copy, host, marker, alloc, free, repeat\n"
             "s.yaml:11:8: error: unknown key \"all_reduces\"\n");
}

/* Counters fit any number, and each other. */
static void forms(void)
{
    ovl_arena arena = {0};
    ovl_known k;
    ovl_known_init(&k, &arena);
    k.all = true;
    ovl_known_add(&k, "grad{i}");
    ovl_known_add(&k, "layer{l}.part{i+1}");
    ovl_known_add(&k, "plain");
    CHECK(ovl_known_has(&k, "grad3"));
    CHECK(ovl_known_has(&k, "grad-1"));
    CHECK(ovl_known_has(&k, "grad{j-1}"));
    CHECK(ovl_known_has(&k, "grad{i}2"));
    CHECK(ovl_known_has(&k, "layer12.part{i}"));
    CHECK(ovl_known_has(&k, "plain"));
    CHECK(ovl_known_has(&k, "$other"));
    CHECK(!ovl_known_has(&k, "grad"));
    CHECK(!ovl_known_has(&k, "grad3x"));
    CHECK(!ovl_known_has(&k, "layer1.{i}"));
    CHECK(!ovl_known_has(&k, "plain{i}"));
    CHECK_TEXT(ovl_known_nearest(&k, "gard3"), "grad3");
    CHECK_TEXT(ovl_known_nearest(&k, "layr2.part{i}"), "layer2.part{i}");
    CHECK(!ovl_known_nearest(&k, "nothing like it"));
    ovl_known_add(&k, "$unknown");
    CHECK(ovl_known_has(&k, "grad"));
    ovl_arena_free(&arena);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"an operation to wait for", a_wait},
        {"a group", a_group},
        {"a buffer", a_buffer},
        {"the member to send to", a_member},
        {"a member of a bucket", a_member_of_a_bucket},
        {"a name with a counter", a_name_with_a_counter},
        {"no false alarms", no_false_alarms},
        {"names are compared by their form", forms},
        {"operations are no keys", operations_are_no_keys},
        CU_TEST_INFO_NULL,
    };
    return check_main("check_names", tests);
}
