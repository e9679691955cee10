#include "tools/files.h"

#include "tools/see.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *too_large(ovl_arena *arena)
{
    return ovl_arena_printf(arena, "is larger than %zu MiB, the most that is read",
                            OVL_YAML_BYTES >> 20);
}

/* Everything up to the end of `file`, or NULL and why. It grows by doubling, since a pipe does not
 * say how long it is, and only what was read is copied into the arena. */
static const char *read_all(FILE *file, size_t *length, ovl_arena *arena, const char **why)
{
    OVL_VEC(char) text = {0};
    size_t got = 0;
    do {
        ovl_vec_reserve(&text, text.len + 65536);
        errno = 0;
        got = fread(text.data + text.len, 1, text.cap - text.len, file);
        text.len += (uint32_t)got;
    } while (got > 0 && text.len <= OVL_YAML_BYTES);
    const char *copy = NULL;
    if (ferror(file)) {
        *why = ovl_arena_printf(arena, "cannot be read: %s", strerror(errno));
    } else if (text.len > OVL_YAML_BYTES) {
        *why = too_large(arena);
    } else {
        *length = text.len;
        copy = ovl_arena_strndup(arena, text.data, text.len);
    }
    ovl_vec_free(&text);
    return copy;
}

static const char *no_file(int code, ovl_arena *arena)
{
    switch (code) {
    case ENOENT:
    case ENOTDIR:
        return "no such file";
    case EACCES:
        return "permission denied";
    default:
        return ovl_arena_printf(arena, "cannot be opened: %s", strerror(code));
    }
}

static const char *read_file(void *context, const char *path, size_t *length, ovl_arena *arena,
                             const char **why)
{
    (void)context;
    if (strcmp(path, "-") == 0) {
        return read_all(stdin, length, arena, why);
    }
    struct stat about;
    if (stat(path, &about) != 0) {
        *why = no_file(errno, arena);
        return NULL;
    }
    if (S_ISDIR(about.st_mode)) {
        *why = "is a directory";
        return NULL;
    }
    if (S_ISREG(about.st_mode) && (uintmax_t)about.st_size > OVL_YAML_BYTES) {
        *why = too_large(arena);
        return NULL;
    }
    FILE *file = fopen(path, "rb");
    if (!file) {
        *why = no_file(errno, arena);
        return NULL;
    }
    const char *text = read_all(file, length, arena, why);
    fclose(file);
    return text;
}

static bool see_file(void *context, const char *path, ovl_arena *arena, ovl_seen *seen,
                     ovl_errs *errs)
{
    (void)context;
    return ovl_see_file(path, arena, seen, errs);
}

ovl_files ovl_real_files(void)
{
    return (ovl_files){.read = read_file, .see = see_file};
}

bool ovl_file_exists(const char *path)
{
    struct stat about;
    return strcmp(path, "-") == 0 || stat(path, &about) == 0;
}

bool ovl_file_same(const char *a, const char *b)
{
    struct stat one, other;
    return strcmp(a, "-") != 0 && strcmp(b, "-") != 0 && stat(a, &one) == 0 &&
           stat(b, &other) == 0 && S_ISREG(one.st_mode) && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}
