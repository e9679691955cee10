#include "models/scenario.h"
#include "tests/support/check.h"

#include <string.h>

/* Files in memory: name, text, name, text, ..., NULL. */
typedef struct memory {
    const char *const *files;
} memory;

static const char *read_memory(void *context, const char *path, size_t *length, ovl_arena *arena,
                               const char **why)
{
    (void)arena;
    const memory *m = context;
    for (const char *const *file = m->files; *file; file += 2) {
        if (strcmp(file[0], path) == 0) {
            *length = strlen(file[1]);
            return file[1];
        }
    }
    *why = "no such file";
    return NULL;
}

typedef struct bench {
    ovl_arena arena;
    ovl_errs errs;
    ovl_document doc;
    ovl_scenario s;
} bench;

static bool load(bench *b, const char *const *files)
{
    *b = (bench){0};
    b->errs.arena = &b->arena;
    memory m = {files};
    ovl_files f = {.read = read_memory, .context = &m};
    return ovl_document_load(files[0], &f, &b->doc, &b->arena, &b->errs);
}

static bool decode(bench *b, const char *variant, const char *set)
{
    ovl_set sets[] = {{.text = set}};
    return ovl_scenario_decode(&b->doc, variant, sets, set != NULL, &b->s, &b->arena, &b->errs);
}

static const char *said(bench *b)
{
    ovl_errs_sort(&b->errs);
    const char *all = "";
    for (uint32_t i = 0; i < b->errs.count; i++) {
        all =
            ovl_arena_printf(&b->arena, "%s%s\n", all, ovl_err_text(&b->arena, &b->errs.items[i]));
    }
    return all;
}

static void close_bench(bench *b)
{
    ovl_arena_free(&b->arena);
}

/* Loads and decodes the base of one text. */
static bool take(bench *b, const char *text)
{
    const char *const files[] = {"s.yaml", text, NULL};
    return load(b, files) && decode(b, NULL, NULL);
}

/* Checks that a text is refused with exactly these lines. */
static void refused(const char *text, const char *lines)
{
    bench b;
    CHECK(!take(&b, text));
    CHECK_TEXT(said(&b), lines);
    CHECK_INT(ovl_errs_status(&b.errs), OVL_E_INPUT);
    close_bench(&b);
}

static void accepted(const char *text)
{
    bench b;
    CHECK(take(&b, text));
    CHECK_TEXT(said(&b), "");
    close_bench(&b);
}

static const char *const ddp_files[] = {
    "dir/step.yaml",
    "name: A step\n"
    "hardware: hw/node.yaml\n"
    "params: {L: 4}\n"
    "mesh: {axes: {dp: 4, tp: 2}, order: [tp, cp, dp]}\n"
    "workload:\n"
    "  dtype: bfloat16\n"
    "  microbatches: 2\n"
    "  layers:\n"
    "    - {name: embed, params: 8 MiB, dtype: fp32, backward: 1 ms}\n"
    "    - {name: block, repeat: $L, params: 96 MiB, forward: 2 ms, backward: 4.2 ms}\n"
    "  optimizer: {duration: 3 ms, states: 1 GiB}\n"
    "overlap: {ddp: {bucket_cap: 50 MiB}}\n"
    "interference: measured\n"
    "variants:\n"
    "  small: {overlap.ddp.bucket_cap: 1 MiB, params.L: 2}\n"
    "  slow: {hardware.gpu.hbm: 1 TB/s, \"workload.layers.block[1].backward\": 9 ms}\n"
    "  other: {hardware: hw/other.yaml}\n"
    "  none: {overlap.ddp: null}\n",
    "dir/hw/node.yaml",
    "gpu: {hbm: 3.35 TB/s, sms: 132, peak: {bf16: 989 TFLOP/s}}\n"
    "links: {nvlink: {bandwidth: 450 GB/s, latency: 1 us}}\n"
    "collectives:\n"
    "  - {op: all_reduce, group: dp, via: [nvlink], alpha: 1 ms, beta: 16 MiB/ms, sms: 16}\n"
    "  - {op: all_gather, via: nvlink, table: [[1 MiB, 93 us], [1 GiB, 8.2 ms]]}\n"
    "interference:\n"
    "  - {kernel: gemm, collective: all_reduce, kernel_factor: 29/25}\n",
    "dir/hw/other.yaml",
    "name: other\n",
    NULL,
};

static void a_scenario_and_its_hardware_are_decoded(void)
{
    bench b;
    bool good = load(&b, ddp_files) && decode(&b, NULL, NULL);
    CHECK_TEXT(said(&b), "");
    if (!CHECK(good)) {
        close_bench(&b);
        return;
    }
    const ovl_scenario *s = &b.s;
    CHECK_TEXT(s->name, "A step");
    CHECK_TEXT(s->variant, "base");
    CHECK_INT(s->n_ranks, 8);
    CHECK_INT(s->mesh.n_axes, 2);
    CHECK_TEXT(s->mesh.axes[0].name, "tp");
    CHECK_TEXT(s->mesh.axes[1].name, "dp");
    CHECK_INT(s->mesh.axes[1].size, 4);
    CHECK_INT(s->interference, OVL_INTERFERENCE_MEASURED);
    CHECK_INT(s->sharing, OVL_SHARING_FAIR);
    CHECK_INT(s->workload.layers.count, 2);
    const ovl_layer *embed = OVL_ITEM(s->workload.layers, ovl_layer, 0);
    const ovl_layer *block = OVL_ITEM(s->workload.layers, ovl_layer, 1);
    CHECK_INT(embed->dtype, OVL_F32);
    CHECK_INT(block->dtype, OVL_BF16);
    CHECK_INT(block->repeat, 4);
    CHECK_INT(block->backward.item[0], INT64_C(4200000000));
    CHECK_INT(block->mark.line, 10);
    CHECK(s->workload.optimizer.given && s->ddp.given && s->ddp.overlap && s->ddp.no_sync);
    CHECK_INT(s->ddp.bucket_cap, 50 << 20);
    CHECK_INT(s->ddp.first_bucket_cap, 1 << 20);
    CHECK(s->ddp.has_bucket_cap && !s->ddp.has_first_bucket_cap);
    CHECK_INT(s->hw.gpu.hbm, INT64_C(3350000000000));
    CHECK(s->hw.gpu.peak.rate[OVL_BF16] == 989e12 && s->hw.gpu.efficiency == 1);
    CHECK_INT(s->hw.n_links, 1);
    CHECK_TEXT(s->hw.links[0].name, "nvlink");
    CHECK_INT(s->hw.collectives[1].n_table, 2);
    CHECK_INT(s->hw.collectives[1].table[1].time, INT64_C(8200000000));
    CHECK_TEXT(s->hw.collectives[0].klass, "all_reduce");
    CHECK_TEXT(s->hw.collectives[0].mark.file, "dir/hw/node.yaml");
    CHECK(s->hw.pairs[0].kernel_factor == 29.0 / 25.0 && s->hw.pairs[0].collective_factor == 1);
    close_bench(&b);
}

static void variants_change_the_base(void)
{
    bench b;
    CHECK(load(&b, ddp_files));
    CHECK_INT(b.doc.n_variants, 4);
    CHECK_TEXT(b.doc.variants[1], "slow");
    CHECK(decode(&b, "small", NULL));
    CHECK_TEXT(b.s.variant, "small");
    CHECK_INT(b.s.ddp.bucket_cap, 1 << 20);
    CHECK_INT(OVL_ITEM(b.s.workload.layers, ovl_layer, 1)->repeat, 2);
    CHECK(decode(&b, "slow", NULL));
    CHECK_INT(b.s.hw.gpu.hbm, INT64_C(1000000000000));
    CHECK_INT(b.s.workload.layers.count, 4);
    CHECK(decode(&b, "other", NULL));
    CHECK_TEXT(b.s.hw.name, "other");
    CHECK_INT(b.s.hw.n_links, 0);
    CHECK(decode(&b, "none", NULL));
    CHECK(!b.s.ddp.given);
    CHECK(decode(&b, "base", NULL));
    CHECK_INT(b.s.ddp.bucket_cap, 50 << 20);
    CHECK_INT(b.s.workload.layers.count, 2);
    CHECK_TEXT(said(&b), "");
    close_bench(&b);
}

static void names_of_a_split_layer_stay(void)
{
    bench b;
    CHECK(load(&b, ddp_files) && decode(&b, "slow", NULL));
    const char *want[] = {"embed", "block[0]", "block[1]", "block[2]"};
    for (uint32_t i = 0; i < 4; i++) {
        const ovl_layer *layer = OVL_ITEM(b.s.workload.layers, ovl_layer, i);
        CHECK_TEXT(ovl_layer_name(layer, 0, &b.arena), want[i]);
        CHECK_INT(layer->backward.item[0], i == 0   ? OVL_MS
                                           : i == 2 ? 9 * OVL_MS
                                                    : INT64_C(4200000000));
    }
    const ovl_layer *last = OVL_ITEM(b.s.workload.layers, ovl_layer, 3);
    CHECK_INT(last->repeat, 2);
    CHECK_TEXT(ovl_layer_name(last, 1, &b.arena), "block[3]");
    close_bench(&b);
}

static void set_comes_after_the_variant(void)
{
    bench b;
    CHECK(load(&b, ddp_files));
    CHECK(decode(&b, "small", "overlap.ddp.bucket_cap=7MiB"));
    CHECK_INT(b.s.ddp.bucket_cap, 7 << 20);
    CHECK(decode(&b, "small", "params.L=16"));
    CHECK_INT(OVL_ITEM(b.s.workload.layers, ovl_layer, 1)->repeat, 16);
    CHECK(decode(&b, "slow", "params.L=2"));
    CHECK_INT(b.s.workload.layers.count, 3);
    CHECK(decode(&b, NULL, "overlap.ddp.buckets=[[\"block[0..3]\"], [embed]]"));
    CHECK_INT(b.s.ddp.buckets_node->count, 2);
    CHECK_TEXT(b.s.ddp.buckets_node->items[0]->items[0]->text, "block[0..3]");
    CHECK_TEXT(said(&b), "");
    close_bench(&b);
}

static void a_bad_set_is_a_mistake_of_the_command_line(void)
{
    static const char *const cases[][2] = {
        {"nothing", "error: --set takes path=value, such as overlap.ddp.bucket_cap=50MiB; found "
                    "\"nothing\"\n"},
        {"a=", "error: --set takes path=value, such as overlap.ddp.bucket_cap=50MiB; found "
               "\"a=\"\n"},
        {"overlap.ddp.bucket_cap=50", "--set overlap.ddp.bucket_cap: error: bucket_cap is "
                                      "\"50\": a size needs a unit, such as \"25 MiB\"\n"},
        {"overlap.ddp.bukets=[]", "--set overlap.ddp.bukets: error: unknown key \"bukets\"; did "
                                  "you mean \"buckets\"?\n"},
        {"params.K=3", "--set params.K: error: unknown parameter \"K\"; did you mean \"L\"?\n"},
        {"workload.layers.blok.hbm=1 MB", "--set workload.layers.blok.hbm: error: unknown item of "
                                          "workload.layers: \"blok\"; did you mean \"block\"?\n"},
        {"interference=[none", "--set interference: error: not valid YAML: did not find "
                               "expected ',' or ']', while parsing a flow sequence that began at "
                               "line 1\n"},
        {"variants.b={interference: none}",
         "--set variants.b: error: a variant cannot be changed or added here; set the value "
         "itself, "
         "which holds in every variant, or write the variant into the file\n"},
        {"hardware=x.yaml", "--set hardware: error: a hardware file can be named in the "
                            "scenario and its variants only; paths reach into it "
                            "(hardware.gpu.hbm)\n"},
    };
    for (size_t i = 0; i < OVL_COUNT(cases); i++) {
        bench b;
        CHECK(load(&b, ddp_files));
        CHECK(!decode(&b, NULL, cases[i][0]));
        CHECK_TEXT(said(&b), cases[i][1]);
        CHECK_INT(ovl_errs_status(&b.errs), OVL_E_USAGE);
        close_bench(&b);
    }
}

static void an_unknown_variant_is_told_with_the_nearest(void)
{
    bench b;
    CHECK(load(&b, ddp_files));
    CHECK(!decode(&b, "smal", NULL));
    CHECK_TEXT(said(&b),
               "dir/step.yaml: error: unknown variant \"smal\"; did you mean \"small\"?\n");
    CHECK_INT(ovl_errs_status(&b.errs), OVL_E_USAGE);
    close_bench(&b);
}

/* The same mistake in the base and in a variant is told once, yet both are refused. */
static void a_known_mistake_still_refuses(void)
{
    bench b;
    const char *const files[] = {
        "s.yaml",
        "workload: {ops: [{kernel: k, duration: 5}]}\nvariants: {v: {interference: none}}\n", NULL};
    CHECK(load(&b, files));
    CHECK(!decode(&b, NULL, NULL));
    CHECK(!decode(&b, "v", NULL));
    CHECK_INT(b.errs.count, 1);
    close_bench(&b);
}

static void mistakes_in_variants_are_told_where_they_stand(void)
{
    bench b;
    const char *const files[] = {
        "s.yaml",
        "workload: {ops: [{kernel: k, duration: 5 ms}]}\n"
        "variants:\n"
        "  a: {workload.ops.kk.duration: 1 ms, workload.ops.k.duration: 3}\n"
        "  base: {}\n"
        "  b: [x]\n",
        NULL};
    CHECK(load(&b, files));
    CHECK(!decode(&b, NULL, NULL));
    CHECK(!decode(&b, "a", NULL));
    CHECK_TEXT(said(&b),
               "s.yaml:3:7: error: unknown item of workload.ops: \"kk\"; did you mean \"k\"?\n"
               "s.yaml:3:64: error: duration is \"3\": a duration needs a unit, such as \"7 ms\"\n"
               "s.yaml:4:3: error: \"base\" is the scenario itself; give the variant another "
               "name\n"
               "s.yaml:5:6: error: b: expected a mapping of paths to values, found a list\n");
    close_bench(&b);
}

static void files_that_cannot_be_read_are_told(void)
{
    bench b;
    const char *const others[] = {"other", "", NULL};
    memory m = {others};
    ovl_files f = {.read = read_memory, .context = &m};
    b = (bench){.errs = {.arena = &b.arena}};
    CHECK(!ovl_document_load("missing.yaml", &f, &b.doc, &b.arena, &b.errs));
    CHECK_TEXT(said(&b), "missing.yaml: error: cannot read \"missing.yaml\": no such file\n");
    close_bench(&b);
    refused("hardware: hw.yaml\nworkload: {ops: [{kernel: k, duration: 1}]}\n",
            "s.yaml:1:11: error: cannot read \"hw.yaml\": no such file\n"
            "s.yaml:2:40: error: duration is \"1\": a duration needs a unit, such as \"7 ms\"\n");
}

static void mistakes_in_the_hardware_file_name_that_file(void)
{
    bench b;
    const char *const files[] = {"s.yaml", "hardware: hw.yaml\nworkload: {ops: []}\n", "hw.yaml",
                                 "gpu: {hbm: 3}\nlinks: {a: {}}\nname: x\nname: y\n", NULL};
    CHECK(!load(&b, files));
    CHECK_TEXT(said(&b), "hw.yaml:1:12: error: hbm is \"3\": a rate needs a unit, such as \"450 "
                         "GB/s\"\n"
                         "hw.yaml:2:12: error: a: \"bandwidth\" is missing\n"
                         "hw.yaml:4:1: error: key \"name\" is given twice; the first is at line 3, "
                         "column 1\n");
    close_bench(&b);
}

#define WORK "workload: {ops: [{kernel: k, duration: 1 ms}]}\n"

static void the_mesh_is_checked(void)
{
    accepted("mesh: {axes: {dp: 8}, order: [tp, cp, ep, dp, pp]}\n" WORK);
    refused("mesh: {axes: {dp: 0}}\n" WORK,
            "s.yaml:1:19: error: dp is \"0\": must be between 1 and 1000000\n");
    refused("mesh: {axes: {dp: 1000, tp: 1001}}\n" WORK,
            "s.yaml:1:14: error: the mesh has more than 1000000 ranks\n");
    refused("mesh: {axes: {dp: 8}, order: [pd, dp, dp]}\n" WORK,
            "s.yaml:1:31: error: unknown axis \"pd\"; did you mean \"dp\"?\n"
            "s.yaml:1:39: error: order: \"dp\" is named twice\n");
    refused("mesh: {axes: [dp]}\n" WORK, "s.yaml:1:14: error: axes: expected a mapping of 1 to 16 "
                                         "names to sizes, such as {dp: 8}\n");
    refused("mesh: {order: [dp]}\n" WORK, "s.yaml:1:7: error: mesh: \"axes\" is missing\n");
    refused("mesh: {axes: {dp: 8}}\nworkload: {ranks: 4, ops: []}\n",
            "s.yaml:2:11: error: workload.ranks is 4, but the mesh has 8 ranks\n");
    refused("workload: {ranks: 1000001, ops: []}\n",
            "s.yaml:1:19: error: ranks is \"1000001\": must be between 1 and 1000000\n");
}

static void axes_not_in_the_order_follow_in_file_order(void)
{
    bench b;
    CHECK(take(&b, "mesh: {axes: {a: 2, b: 3, c: 4, d: 5}, order: [c, a]}\n" WORK));
    const char *want[] = {"c", "a", "b", "d"};
    for (int i = 0; i < 4; i++) {
        CHECK_TEXT(b.s.mesh.axes[i].name, want[i]);
    }
    CHECK_INT(b.s.n_ranks, 120);
    close_bench(&b);
}

static void a_workload_is_stated_in_one_way(void)
{
    refused("name: x\n", "s.yaml:1:1: error: scenario: \"workload\" is missing\n");
    refused("workload: {}\n", "s.yaml:1:11: error: a workload is stated in exactly one way: ops, "
                              "layers, model, gradients, stages or trace; found none\n");
    refused("workload: {ops: [], layers: []}\n",
            "s.yaml:1:11: error: a workload is stated in exactly one way: ops, layers, model, "
            "gradients, stages or trace; found more\n");
    refused("workload: {ops: [], backward: 1 ms, optimizer: {}}\n",
            "s.yaml:1:31: error: \"backward\" belongs to a workload of gradients\n"
            "s.yaml:1:48: error: \"optimizer\" belongs to a workload of layers, gradients "
            "or stages\n");
}

static void gradients_are_checked(void)
{
    refused(
        "workload:\n"
        "  backward: 10 ms\n"
        "  gradients:\n"
        "    - {name: a, bytes: 1 MiB, ready: 10 ms}\n"
        "    - {name: b, bytes: 1 MiB, ready: 10.5 ms}\n"
        "    - {name: a, bytes: 0, ready: 1 ms}\n"
        "    - {name: c, bytes: 1 B, ready: 9 ms, copy_in: 2 ms}\n",
        "s.yaml:5:7: error: gradient \"b\", ready at 10.5 ms, is not ready and copied in when the "
        "backward ends, at 10 ms\n"
        "s.yaml:6:7: error: gradient \"a\" is there twice; the first is at line 4, column 7\n"
        "s.yaml:6:24: error: bytes is \"0\": must be greater than 0\n"
        "s.yaml:7:7: error: gradient \"c\", ready at 9 ms, is not ready and copied in when the "
        "backward ends, at 10 ms\n");
    refused("workload: {gradients: [{name: a, bytes: 1 B, ready: 1 ms}]}\n",
            "s.yaml:1:11: error: gradients need \"backward\", the length of the backward pass\n");
}

static void layers_are_checked(void)
{
    refused("workload:\n"
            "  ranks: 3\n"
            "  layers:\n"
            "    - {name: a, backward: 1 ms, backward_flops: 1 TFLOP}\n"
            "    - {name: a, params: 1 MiB, elements: [1, x, 0]}\n"
            "    - {name: b, repeat: 4, backward: [1 ms, 2 ms]}\n"
            "    - {name: b, first: 3, backward: 1 ms}\n"
            "    - {name: b, first: 4, backward: 1 ms}\n"
            "    - {name: b, backward: 1 ms}\n",
            "s.yaml:4:49: error: \"backward\" and \"backward_flops\" exclude each other\n"
            "s.yaml:5:7: error: a layer needs the time of its backward: backward, or "
            "backward_flops and hbm\n"
            "s.yaml:5:7: error: layer \"a\" is there twice; the first is at line 4, column 7\n"
            "s.yaml:5:42: error: \"params\" and \"elements\" exclude each other\n"
            "s.yaml:5:46: error: elements is \"x\": expected a whole number, such as \"16\"\n"
            "s.yaml:5:49: error: elements is \"0\": must be greater than 0\n"
            "s.yaml:6:7: error: backward: a list has one duration for each rank; found 2 for 3 "
            "ranks\n"
            "s.yaml:7:7: error: layer \"b\" is there twice; the first is at line 6, column 7\n");
}

static void operations_are_checked(void)
{
    refused(
        "hardware: {gpu: {sms: 100}, links: {nvlink: {bandwidth: 1 GB/s}}}\n"
        "workload:\n"
        "  ops:\n"
        "    - {duration: 1 ms}\n"
        "    - {kernel: a, send: b, to: 1}\n"
        "    - {kernel: a, duration: 1 ms, flops: 1 TFLOP, group: dp}\n"
        "    - {collective: a, bytes: 1 B}\n"
        "    - {collective: b, op: all_gather, bytes: 1 B, root: 0, average: true, via: nvlnk}\n"
        "    - {collective: c, op: send_recv, duration: 1 ms, beta: 1 GB/s, sms: 100}\n"
        "    - {send: d, bytes: 1 B}\n"
        "    - {recv: e, from: left}\n"
        "    - {batch: f, parts: [{send: g, to: +1, stream: s}, {kernel: h, flops: 1 FLOP}]}\n"
        "    - {repeat: 2}\n"
        "    - {repeat: 2, ops: [{kernel: i, duration: 1}]}\n"
        "    - {kernel: j, duration: 1 ms, sms: 101}\n",
        "s.yaml:4:7: error: an entry says what it is by one of kernel, collective, send, recv, "
        "batch, copy, host, marker, alloc, free, repeat\n"
        "s.yaml:5:7: error: an entry is one thing: \"kernel\" and \"send\" exclude each other\n"
        "s.yaml:6:42: error: \"duration\" and \"flops\" both say how long it takes\n"
        "s.yaml:6:51: error: \"group\" has no meaning beside \"kernel\"\n"
        "s.yaml:7:7: error: collective: \"op\" is missing\n"
        "s.yaml:8:57: error: all_gather has no root\n"
        "s.yaml:8:69: error: all_gather sums nothing\n"
        "s.yaml:8:80: error: unknown link \"nvlnk\"; did you mean \"nvlink\"?\n"
        "s.yaml:9:7: error: holding 100 SMs of a GPU that has 100 leaves none for kernels\n"
        "s.yaml:9:27: error: send_recv is no collective; use entries send: and recv:\n"
        "s.yaml:9:60: error: \"duration\" and \"beta\" both say how long it takes\n"
        "s.yaml:10:7: error: send: \"to\" is missing\n"
        "s.yaml:11:23: error: from is \"left\": expected a place in the group, such as 3, or +1, "
        "-1\n"
        "s.yaml:12:26: error: a part of a batch has no stream or launch of its own\n"
        "s.yaml:12:56: error: a part of a batch is a send or a recv\n"
        "s.yaml:13:7: error: repeat: \"ops\" is missing\n"
        "s.yaml:14:47: error: duration is \"1\": a duration needs a unit, such as \"7 ms\"\n"
        "s.yaml:15:7: error: a kernel cannot want 101 SMs of a GPU that has 100\n");
}

static void types_default_to_the_workloads(void)
{
    bench b;
    CHECK(take(&b, "workload:\n"
                   "  dtype: f16\n"
                   "  buffers: {x: {bytes: 1 B}, y: {bytes: 1 B, dtype: i8, category: reduce}}\n"
                   "  ops:\n"
                   "    - &k {kernel: a, flops: 1 FLOP}\n"
                   "    - {repeat: 2, ops: &o [*k, {kernel: b, flops: 1 FLOP, dtype: f64}]}\n"
                   "    - {repeat: 3, ops: *o}\n"));
    CHECK_TEXT(said(&b), "");
    const ovl_workload *w = &b.s.workload;
    CHECK_INT(w->buffers[0].dtype, OVL_F16);
    CHECK_INT(w->buffers[0].category, OVL_TEMPORARY);
    CHECK_INT(w->buffers[1].dtype, OVL_I8);
    CHECK_INT(w->buffers[1].category, OVL_REDUCE_BUFFER);
    const ovl_xop *again = OVL_ITEM(w->ops, ovl_xop, 2);
    CHECK(again->ops.item == OVL_ITEM(w->ops, ovl_xop, 1)->ops.item);
    CHECK_INT(OVL_ITEM(again->ops, ovl_xop, 0)->dtype, OVL_F16);
    CHECK_INT(OVL_ITEM(again->ops, ovl_xop, 1)->dtype, OVL_F64);
    CHECK_TEXT(again->as, "i");
    close_bench(&b);
}

static void groups_have_three_shapes(void)
{
    bench b;
    CHECK(take(&b, "workload:\n  groups: {a: all, b: [0, 1], c: [[0, 1], [2, 3]]}\n  ops: []\n"));
    CHECK_INT(b.s.workload.n_groups, 3);
    CHECK_TEXT(b.s.workload.groups[2].name, "c");
    close_bench(&b);
    refused("workload: {groups: {a: some, b: [], c: [[0], 1], d: [x]}, ops: []}\n",
            "s.yaml:1:24: error: group \"a\": expected `all`, ranks such as [0, 1], or lists of "
            "them such as [[0, 1], [2, 3]]\n"
            "s.yaml:1:33: error: group \"b\": expected `all`, ranks such as [0, 1], or lists of "
            "them such as [[0, 1], [2, 3]]\n"
            "s.yaml:1:40: error: group \"c\": expected `all`, ranks such as [0, 1], or lists of "
            "them such as [[0, 1], [2, 3]]\n"
            "s.yaml:1:53: error: group \"d\": expected `all`, ranks such as [0, 1], or lists of "
            "them such as [[0, 1], [2, 3]]\n");
}

static void hardware_is_checked(void)
{
    refused(
        "hardware:\n"
        "  gpu: {sms: 16}\n"
        "  links: {nic: {bandwidth: 400 Gb/s, scope: rack}}\n"
        "  collectives:\n"
        "    - {op: all_reduce, alpha: 1 ms, table: [[1 MiB, 1 ms]]}\n"
        "    - {op: all_gather, group: dp, sms: 16, alpha: 0}\n"
        "    - {op: all_gather, group: dp, algorithm: rign}\n"
        "    - {op: broadcast, table: [[2 MiB, 1 ms], [1 MiB, 1 ms], [3], [4 MiB, 1]]}\n"
        "    - {op: reduce, via: [nick], alpha: 1 ms, eager: true, extrapolate: true}\n"
        "    - {op: allreduce, alpha: 1 ms}\n"
        "  interference:\n"
        "    - {kernel: a, collective: b, kernel_factor: 0}\n"
        "    - {kernel: a, collective: b}\n" WORK,
        "s.yaml:3:45: error: scope is \"rack\": expected one of gpu, node, cluster, rail\n"
        "s.yaml:5:7: error: a cost is stated in exactly one way: alpha and beta, or table, or "
        "algorithm; found more\n"
        "s.yaml:6:7: error: all_gather holds 16 SMs, but the GPU has 16: none would be left for "
        "kernels\n"
        "s.yaml:7:7: error: an algorithm needs the links it runs over: via: [NAME]\n"
        "s.yaml:7:7: error: cost of \"all_gather of group dp\" is there twice; the first is at "
        "line 6, column 7\n"
        "s.yaml:7:46: error: algorithm is \"rign\": did you mean \"ring\"?\n"
        "s.yaml:8:46: error: table: sizes must rise; this one does not\n"
        "s.yaml:8:61: error: table: expected a pair of size and time, such as [1 MiB, 93 us]\n"
        "s.yaml:8:74: error: time is \"1\": a duration needs a unit, such as \"7 ms\"\n"
        "s.yaml:9:7: error: extrapolate belongs to a table\n"
        "s.yaml:9:7: error: eager belongs to op: send_recv\n"
        "s.yaml:9:26: error: unknown link \"nick\"; did you mean \"nic\"?\n"
        "s.yaml:10:12: error: op is \"allreduce\": did you mean \"all_reduce\"?\n"
        "s.yaml:12:49: error: kernel_factor is \"0\": must be greater than 0\n"
        "s.yaml:13:7: error: interference of \"a beside b\" is there twice; the first is at "
        "line 12, column 7\n");
}

static void the_policy_of_ddp_decides_what_counts(void)
{
    bench b;
    CHECK(take(&b, "workload: {layers: [{name: a, backward: 1 ms}]}\n"
                   "overlap: {ddp: {policy: megatron, bucket_cap: 1 MiB, bucket_size: 40e6}}\n"));
    CHECK_TEXT(said(&b),
               "s.yaml:2:47: warning: \"bucket_cap\" has no effect: it belongs to policy: "
               "pytorch\n");
    CHECK_INT(b.s.ddp.bucket_size, 40000000);
    close_bench(&b);
    refused("workload: {layers: [{name: a, backward: 1 ms}]}\n"
            "overlap: {ddp: {buckets: [a, [], [[a]]]}}\n",
            "s.yaml:2:27: error: buckets: a bucket is a list of gradients, such as [g1, g2]\n"
            "s.yaml:2:30: error: buckets: a bucket is a list of gradients, such as [g1, g2]\n"
            "s.yaml:2:35: error: buckets: expected the name of a gradient, found a list\n");
    refused("workload: {ops: [{kernel: k, duration: 1 ms}]}\noverlap: {ddp: {}}\n",
            "s.yaml:2:16: error: overlap.ddp arranges the gradients of layers or gradients; an "
            "explicit program (ops) arranges its own\n");
}

/* Settings that another one leaves without a meaning: each is told, none is refused. */
static void settings_without_a_meaning_are_told(void)
{
    static const struct {
        const char *layer, *overlap, *said;
    } all[] = {
        {"",
         "fsdp: {policy: fsdp1, limit_all_gathers: 0, block: needed, accumulate: {all_reduce: "
         "last}}",
         "s.yaml:2:62: warning: \"block\" has no effect: with limit_all_gathers: 0 the host never "
         "waits\n"
         "s.yaml:2:95: warning: \"all_reduce\" has no effect: it belongs to policy: fsdp2\n"},
        {"", "fsdp: {accumulate: {all_reduce: last}}",
         "s.yaml:2:43: warning: \"all_reduce\" has no effect: without `replicate` there are no "
         "replicas\n"},
        {"", "fsdp: {reshard_after_forward: false, keep_after_forward: a}",
         "s.yaml:2:68: warning: \"keep_after_forward\" has no effect: with reshard_after_forward: "
         "false all parameters stay\n"},
        {"", "fsdp: {reshard_after_forward: 1}",
         "s.yaml:2:41: warning: reshard_after_forward: 1 is taken as false, as PyTorch does: with "
         "one rank to reshard over, each keeps all parameters\n"},
        {"", "fsdp: {accumulate: {gradient_sync: last}}",
         "s.yaml:2:30: warning: \"gradient_sync\" has no effect with one microbatch\n"},
        {"", "fsdp: {accumulate: {reshard_after_backward: false}}",
         "s.yaml:2:30: warning: \"reshard_after_backward\" has no effect with one microbatch\n"},
        {"", "fsdp: {policy: fsdp1, regather_for_recompute: true}",
         "s.yaml:2:17: warning: \"regather_for_recompute\" has no effect: no layer has recompute: "
         "true\n"},
        {"", "zero: {stage: 2, max_live_parameters: 5}",
         "s.yaml:2:49: warning: \"max_live_parameters\" has no effect: it belongs to stage 3\n"},
        {"", "zero: {stage: 3, allgather_bucket_size: 5}",
         "s.yaml:2:51: warning: \"allgather_bucket_size\" has no effect: it belongs to stages 1 "
         "and "
         "2\n"},
        {", checkpoint: 1 MiB", "zero: {stage: 3}",
         "s.yaml:1:21: warning: \"checkpoint\" of layer \"a\" has no effect without recompute: "
         "true\n"},
        {", offload: true", "fsdp: {}",
         "s.yaml:1:21: warning: layer \"a\" is offloaded but keeps nothing: it gives no "
         "activations\n"},
    };
    for (size_t i = 0; i < OVL_COUNT(all); i++) {
        bench b;
        char yaml[400];
        snprintf(
            yaml, sizeof yaml,
            "workload: {layers: [{name: a, backward: 1 ms, params: 1 MiB%s}], offload: {d2h: 1 "
            "GB/s, h2d: 1 GB/s}}\noverlap: {%s}\nmesh: {axes: {dp: 2}}\n",
            all[i].layer, all[i].overlap);
        CHECK(take(&b, yaml));
        CHECK_TEXT(said(&b), all[i].said);
        close_bench(&b);
    }
}

static void keys_with_x_are_a_place_for_anchors(void)
{
    bench b;
    CHECK(take(&b, "x-matmul: &matmul {duration: 25 ms, class: gemm}\n"
                   "hardware: {x-any: thing}\n"
                   "workload: {ops: [{kernel: a, <<: *matmul}, {kernel: b, <<: *matmul}]}\n"));
    CHECK_TEXT(said(&b), "");
    CHECK_TEXT(OVL_ITEM(b.s.workload.ops, ovl_xop, 1)->klass, "gemm");
    close_bench(&b);
    refused("workload: {x-a: 1, ops: []}\n", "s.yaml:1:12: error: unknown key \"x-a\"\n");
}

static void the_name_defaults_to_that_of_the_file(void)
{
    bench b;
    const char *const files[] = {"some/dir/my.step.yaml", WORK, NULL};
    CHECK(load(&b, files) && decode(&b, NULL, NULL));
    CHECK_TEXT(b.s.name, "my.step");
    CHECK_INT(b.s.n_ranks, 1);
    CHECK_INT(b.s.interference, OVL_INTERFERENCE_SHARED);
    close_bench(&b);
}

static CU_TestInfo tests[] = {
    {"a scenario and its hardware are decoded", a_scenario_and_its_hardware_are_decoded},
    {"variants change the base", variants_change_the_base},
    {"names of a split layer stay", names_of_a_split_layer_stay},
    {"--set comes after the variant", set_comes_after_the_variant},
    {"a bad --set is a mistake of the command line", a_bad_set_is_a_mistake_of_the_command_line},
    {"an unknown variant is told with the nearest", an_unknown_variant_is_told_with_the_nearest},
    {"a known mistake still refuses", a_known_mistake_still_refuses},
    {"mistakes in variants are told where they stand",
     mistakes_in_variants_are_told_where_they_stand},
    {"files that cannot be read are told", files_that_cannot_be_read_are_told},
    {"mistakes in the hardware file name that file", mistakes_in_the_hardware_file_name_that_file},
    {"the mesh is checked", the_mesh_is_checked},
    {"axes not in the order follow in file order", axes_not_in_the_order_follow_in_file_order},
    {"a workload is stated in one way", a_workload_is_stated_in_one_way},
    {"gradients are checked", gradients_are_checked},
    {"layers are checked", layers_are_checked},
    {"operations are checked", operations_are_checked},
    {"types default to the workload's", types_default_to_the_workloads},
    {"groups have three shapes", groups_have_three_shapes},
    {"hardware is checked", hardware_is_checked},
    {"the policy of ddp decides what counts", the_policy_of_ddp_decides_what_counts},
    {"settings without a meaning are told", settings_without_a_meaning_are_told},
    {"keys with x- are a place for anchors", keys_with_x_are_a_place_for_anchors},
    {"the name defaults to that of the file", the_name_defaults_to_that_of_the_file},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("scenario", tests);
}
