/* What can be seen of a database beside its tables: is the file whole, and is all of it in there.
 */
#include "tools/nsys.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t big_endian(const unsigned char *p, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value = value << 8 | p[i];
    }
    return value;
}

/* A database says in its header how many pages it has (https://sqlite.org/fileformat.html, 1.3).
 * The count is valid if the two change counters agree. */
static void warn_cut(const char *path, ovl_errs *errs)
{
    unsigned char header[100];
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (!file) {
        return;
    }
    bool whole = fread(header, sizeof header, 1, file) == 1 && fstat(fileno(file), &about) == 0;
    fclose(file);
    if (!whole || memcmp(header + 24, header + 92, 4) != 0) {
        return;
    }
    uint64_t page = big_endian(header + 16, 2), pages = big_endian(header + 28, 4);
    uint64_t told = (page == 1 ? 65536 : page) * pages;
    if (told > (uint64_t)about.st_size) {
        ovl_warning(errs, (ovl_mark){path, 0, 0},
                    "the database is truncated: by its header it has %" PRIu64
                    " bytes, the file has %" PRIu64 "; rows are missing",
                    told, (uint64_t)about.st_size);
    }
}

/* What was written last may still stand in the log (https://sqlite.org/wal.html). It is not read:
 * that would write files beside the user's. */
static void warn_log(const char *path, ovl_errs *errs)
{
    struct stat about;
    const char *log = ovl_arena_printf(errs->arena, "%s-wal", path);
    if (stat(log, &about) == 0 && about.st_size > 0) {
        ovl_warning(errs, (ovl_mark){path, 0, 0},
                    "a write-ahead log lies beside the database (%s, %" PRIu64
                    " bytes) and was not read, so rows may be missing; sqlite3 %s \"PRAGMA "
                    "wal_checkpoint(TRUNCATE)\" puts it in",
                    log, (uint64_t)about.st_size, path);
    }
}

void ovl_nsys_check_file(const char *path, ovl_errs *errs)
{
    warn_cut(path, errs);
    warn_log(path, errs);
}
