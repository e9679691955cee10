/*
 * fuzz_nccl_tests.c - any bytes as output of nccl-tests, and as a CSV of intervals: the reader
 * gives rows that make sense, or says no.
 */
#include "tests/fuzz/target.h"
#include "tools/read.h"

static void on_row(void *context, const ovl_read_row *row)
{
    uint64_t *n = context;
    if (row->bytes < 0 || (row->time[0] == -1 && row->time[1] == -1)) {
        abort(); /* a row has a size and a time */
    }
    ++*n;
}

static void on_device(void *context, const ovl_read_device *record)
{
    uint64_t *n = context;
    if (record->end < record->start) {
        abort();
    }
    ++*n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy(data, size);
    if (!bytes) {
        return 0;
    }
    uint64_t n = 0;
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_sink sink = {.context = &n, .row = on_row, .device = on_device};
    ovl_read_about about = {.arena = &arena};
    ovl_source source;
    ovl_source_memory(&source, "f", bytes, size);
    ovl_read_nccl_tests(&source, &sink, &about);
    ovl_source_close(&source);
    ovl_source_memory(&source, "f", bytes, size);
    ovl_read_intervals(&source, &sink, &about);
    ovl_source_close(&source);
    if (!ovl_read_in_memory("f", bytes, size, &sink, &about, &errs) && errs.errors == 0) {
        abort();
    }
    ovl_arena_free(&arena);
    free(bytes);
    return 0;
}
