/*
 * fuzz_kineto.c - any bytes as a measured trace in JSON: they are read or refused with a reason,
 * and what they say can be printed.
 */
#include "models/record.h"
#include "tests/fuzz/inspected.h"
#include "tools/see.h"

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
    char *bytes = exact_copy(data, size);
    if (!bytes) {
        return 0;
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
    check_inspection(&in, &errs);
    record(bytes, size);
    ovl_comm_pattern_free(&pattern);
    ovl_arena_free(&arena);
    free(bytes);
    return 0;
}
