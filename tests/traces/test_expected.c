/*
 * test_expected.c - public traces give exactly the published busy times.
 *
 * expected.csv has a line for a device of a file: counts, and integer nanoseconds. Without the
 * directory the test is skipped (exit status 77). Every other trace of the directory must be read,
 * too.
 */
#include "tools/inspect.h"
#include "tools/lines.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 14, SKIPPED = 77 };

typedef struct tally {
    const char *directory;
    uint32_t values, wrong, files;
} tally;

static void check(tally *t, const char *file, const char *what, int64_t got, ovl_slice want)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, got);
    t->values++;
    if (!ovl_slice_is(want, text)) {
        t->wrong++;
        printf("%s: %s is %s, expected %.*s\n", file, what, text, (int)want.length, want.text);
    }
}

static void check_device(tally *t, const char *file, const ovl_measures *m,
                         const ovl_slice want[FIELDS])
{
    const struct {
        const char *name;
        int64_t value;
    } fields[FIELDS - 2] = {
        {"n_kernels", (int64_t)m->kernels},
        {"n_comm_kernels", (int64_t)m->comm_kernels},
        {"n_memcpy", (int64_t)m->copies},
        {"n_memset", (int64_t)m->sets},
        {"span_ns", m->span},
        {"compute_busy_ns", m->compute},
        {"comm_busy_ns", m->comm},
        {"overlap_comm_compute_ns", m->overlap},
        {"exposed_comm_ns", m->exposed},
        {"mem_busy_ns", m->mem},
        {"gpu_busy_ns", m->gpu},
        {"idle_ns", m->idle},
    };
    for (size_t i = 0; i < FIELDS - 2; i++) {
        check(t, file, fields[i].name, fields[i].value, want[i + 2]);
    }
}

/* The device of this number, or the only one where none is written. */
static const ovl_inspect_device *device_of(const ovl_inspection *in, ovl_slice number)
{
    for (uint32_t i = 0; i < in->devices.len; i++) {
        char text[32];
        snprintf(text, sizeof text, "%" PRId64, in->devices.data[i].device);
        if (ovl_slice_is(number, text) || (number.length == 0 && in->devices.len == 1)) {
            return &in->devices.data[i];
        }
    }
    return NULL;
}

/* Looks at a file; compares it with `want` if that is given. */
static void look(tally *t, const char *name, const ovl_slice *want)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_comm_pattern pattern;
    ovl_inspection in;
    const char *path = ovl_arena_printf(&arena, "%s/%s", t->directory, name);
    ovl_comm_pattern_begin(&pattern, OVL_COMM_PATTERN, &errs);
    ovl_inspect_begin(&in, &pattern);
    bool good = ovl_inspect_add(&in, path, &errs);
    const ovl_inspect_device *device = good && want ? device_of(&in, want[1]) : NULL;
    t->files++;
    if (!good || (want && !device)) {
        t->wrong++;
        printf("%s: %s\n", name, good ? "device not found" : "cannot be read");
    } else if (want) {
        check_device(t, name, &device->all, want);
    }
    ovl_inspect_free(&in);
    ovl_comm_pattern_free(&pattern);
    ovl_arena_free(&arena);
}

static void expected(tally *t, ovl_source *source)
{
    ovl_slice line, fields[FIELDS];
    ovl_line_next(source, &line); /* the heading */
    while (ovl_line_next(source, &line)) {
        char name[256];
        size_t n = 0;
        while (n < FIELDS && ovl_field_next(&line, &fields[n])) {
            n++;
        }
        if (n == FIELDS) {
            snprintf(name, sizeof name, "%.*s", (int)fields[0].length, fields[0].text);
            look(t, name, fields);
        }
    }
}

static void all_others(tally *t)
{
    DIR *directory = opendir(t->directory);
    for (const struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
        if (strstr(entry->d_name, ".json") || strstr(entry->d_name, ".sqlite")) {
            look(t, entry->d_name, NULL);
        }
    }
    if (directory) {
        closedir(directory);
    }
}

int main(void)
{
    const char *given = getenv("OVL_TRACES");
    tally t = {.directory = given ? given : "../shared/cases/traces"};
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_source source;
    if (!ovl_source_open(&source, ovl_arena_printf(&arena, "%s/expected.csv", t.directory),
                         &errs)) {
        printf("skipped: no traces in %s\n", t.directory);
        ovl_arena_free(&arena);
        return SKIPPED;
    }
    expected(&t, &source);
    all_others(&t);
    ovl_source_close(&source);
    ovl_arena_free(&arena);
    printf("%" PRIu32 " files, %" PRIu32 " values, %" PRIu32 " wrong\n", t.files, t.values,
           t.wrong);
    return t.wrong != 0 || t.values == 0;
}
