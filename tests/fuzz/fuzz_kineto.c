/*
 * fuzz_kineto.c - any bytes as a measured trace in JSON: they are read or refused with a reason,
 * and what they say can be printed.
 */
#include "models/record.h"
#include "tools/inspect.h"
#include "tools/see.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is printed must be sound whatever was read. */
static void print(const ovl_inspection *in, const ovl_errs *errs)
{
    static FILE *nowhere;
    ovl_out out;
    nowhere = nowhere ? nowhere : fopen("/dev/null", "w");
    if (nowhere) {
        ovl_out_stream(&out, nowhere);
        ovl_inspect_text(&out, in);
        ovl_inspect_json(&out, in, errs);
        ovl_out_close(&out);
    }
}

/* span = compute + exposed + copies alone + idle, none of them negative. */
static void check(const ovl_measures *m)
{
    if (m->compute < 0 || m->exposed < 0 || m->mem_alone < 0 || m->idle < 0 ||
        m->overlap > m->compute || m->compute + m->exposed + m->mem_alone + m->idle != m->span) {
        abort();
    }
}

/* The same bytes as two ranks to be replayed: a program, or a reason. */
static void record(const char *bytes, size_t size)
{
    const ovl_record_options options = {NULL, OVL_RECORD_COMM, false};
    const ovl_mark mark = {"s.yaml", 1, 1};
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_seen seen[2];
    ovl_recorded recorded;
    bool good = ovl_see_bytes("rank0.json", bytes, size, &arena, &seen[0], &errs) &&
                ovl_see_bytes("rank1.json", bytes, size, &arena, &seen[1], &errs);
    uint32_t n = good && seen[0].exact ? 1 : 2;
    if (good && !ovl_record(seen, n, &options, mark, &arena, &recorded, &errs) && !errs.errors) {
        abort(); /* refused without a reason */
    }
    ovl_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of just this size, so that reading past the end is seen. */
    char *bytes = malloc(size ? size : 1);
    if (!bytes) {
        return 0;
    }
    if (size) {
        memcpy(bytes, data, size);
    }
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_comm_pattern pattern;
    ovl_inspection in;
    ovl_comm_pattern_begin(&pattern, OVL_COMM_PATTERN, &errs);
    ovl_inspect_begin(&in, &pattern);
    bool good = ovl_inspect_bytes(&in, "rank0.json", bytes, size, &errs);
    if (!good && errs.errors == 0) {
        abort(); /* refused without a reason */
    }
    if (good) { /* once more as another rank, so that ranks are compared */
        ovl_inspect_bytes(&in, "rank1.json", bytes, size, &errs);
        ovl_inspect_ranks(&in, &errs);
    }
    for (uint32_t i = 0; i < in.devices.len; i++) {
        check(&in.devices.data[i].all);
        check(&in.devices.data[i].launched);
    }
    print(&in, &errs);
    record(bytes, size);
    ovl_inspect_free(&in);
    ovl_comm_pattern_free(&pattern);
    ovl_arena_free(&arena);
    free(bytes);
    return 0;
}
