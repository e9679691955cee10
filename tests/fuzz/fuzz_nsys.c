/*
 * fuzz_nsys.c - any bytes as an Nsight Systems export: they are read or refused with a reason, and
 * what they say can be printed and replayed. The bytes become a file, since SQLite reads no others.
 */
#include "models/record.h"
#include "tests/fuzz/inspected.h"
#include "tools/see.h"

#include <unistd.h>

static void inspect(const char *path)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_comm_pattern pattern;
    ovl_inspection in;
    ovl_comm_pattern_begin(&pattern, OVL_COMM_PATTERN, &errs);
    ovl_inspect_begin(&in, &pattern);
    if (!ovl_inspect_add(&in, path, &errs) && errs.errors == 0) {
        abort(); /* refused without a reason */
    }
    ovl_inspect_ranks(&in, &errs);
    check_inspection(&in, &errs);
    ovl_comm_pattern_free(&pattern);
    ovl_arena_free(&arena);
}

static void record(const char *path)
{
    const ovl_record_options options = {NULL, OVL_RECORD_COMM, false};
    const ovl_mark mark = {"s.yaml", 1, 1};
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_seen seen;
    ovl_recorded recorded;
    bool good = ovl_see_file(path, &arena, &seen, &errs) &&
                ovl_record(&seen, 1, &options, mark, &arena, &recorded, &errs);
    if (!good && errs.errors == 0) {
        abort(); /* refused without a reason */
    }
    ovl_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/ovl_fuzz_XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) {
        return 0;
    }
    bool written = size == 0 || write(fd, data, size) == (ssize_t)size;
    close(fd);
    if (written) {
        inspect(path);
        record(path);
    }
    unlink(path);
    return 0;
}
