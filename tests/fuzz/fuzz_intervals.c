/*
 * fuzz_intervals.c - any bytes as a CSV of intervals: nothing that is read ends before it starts,
 * and times are within the range that differences of two never leave.
 */
#include "tests/fuzz/target.h"
#include "tools/read.h"

static void check(int64_t start, int64_t end)
{
    const int64_t most = (int64_t)1 << 62;
    if (end < start || start < -most || end > most) {
        abort();
    }
}

static void on_device(void *context, const ovl_read_device *record)
{
    (void)context;
    check(record->start, record->end);
}

static void on_host(void *context, const ovl_read_host *record)
{
    (void)context;
    check(record->start, record->end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy(data, size);
    if (!bytes) {
        return 0;
    }
    ovl_arena arena = {0};
    ovl_sink sink = {.device = on_device, .host = on_host};
    ovl_read_about about = {.arena = &arena};
    ovl_source source;
    ovl_source_memory(&source, "intervals", bytes, size);
    ovl_read_intervals(&source, &sink, &about);
    ovl_source_close(&source);
    ovl_arena_free(&arena);
    free(bytes);
    return 0;
}
