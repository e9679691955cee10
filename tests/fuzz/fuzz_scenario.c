/*
 * fuzz_scenario.c - any bytes as a scenario file: the loader answers with a scenario or with
 * mistakes, and neither crashes, hangs nor fills the memory.
 *
 * The base and the variants are decoded, so paths and parameters are walked too. One hardware file
 * exists ("hw.yaml"); any other name cannot be read. Linked with replay.c it runs over the corpus
 * as a test; linked with libFuzzer it looks for more.
 */
#include "models/scenario.h"
#include "tests/fuzz/target.h"

typedef struct input {
    const char *text;
    size_t length;
} input;

static const char hardware[] =
    "gpu: {name: G, hbm: 3.35 TB/s, memory: 80 GB, sms: 132, peak: {bf16: 989 TFLOP/s}}\n"
    "links: {nvlink: {bandwidth: 450 GB/s, latency: 1 us}}\n"
    "collectives:\n"
    "  - {op: all_reduce, group: dp, via: [nvlink], alpha: 1 ms, beta: 16 MiB/ms, sms: 16}\n";

static const char *read_input(void *context, const char *path, size_t *length, ovl_arena *arena,
                              const char **why)
{
    (void)arena;
    const input *in = context;
    if (strcmp(path, "dir/scenario.yaml") == 0) {
        *length = in->length;
        return in->text;
    }
    if (strcmp(path, "dir/hw.yaml") == 0) {
        *length = sizeof hardware - 1;
        return hardware;
    }
    *why = "no such file";
    return NULL;
}

#define VARIANTS_MAX 20 /* each takes as long as the base */

static void decode_all(const ovl_document *doc, ovl_errs *errs)
{
    static const ovl_set sets[] = {{.text = "overlap.ddp.bucket_cap=50 MiB"}};
    for (uint32_t i = 0; i <= OVL_MIN(doc->n_variants, VARIANTS_MAX); i++) {
        ovl_arena arena = {0};
        ovl_scenario scenario;
        const char *variant = i ? doc->variants[i - 1] : "base";
        bool good = ovl_scenario_decode(doc, variant, sets, i == 0, &scenario, &arena, errs);
        if (!good && errs->errors == 0) {
            abort(); /* refused without a reason */
        }
        ovl_arena_free(&arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = exact_copy(data, size);
    if (!text) {
        return 0;
    }
    input in = {text, size};
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_files files = {.read = read_input, .context = &in};
    ovl_document doc;
    if (ovl_document_load("dir/scenario.yaml", &files, &doc, &arena, &errs)) {
        decode_all(&doc, &errs);
    } else if (errs.errors == 0) {
        abort();
    }
    ovl_errs_sort(&errs);
    for (uint32_t i = 0; i < errs.count; i++) {
        ovl_err_text(&arena, &errs.items[i]);
    }
    ovl_arena_free(&arena);
    free(text);
    return 0;
}
