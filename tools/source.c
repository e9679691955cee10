#include "tools/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static void begin(ovl_source *source, const char *path)
{
    *source = (ovl_source){.path = path};
    source->window = malloc(OVL_SOURCE_WINDOW + 1);
    if (!source->window) {
        ovl_out_of_memory(OVL_SOURCE_WINDOW + 1);
    }
    source->at = source->end = source->window;
    *source->end = '\0';
}

static const char *why_not(const char *path, ovl_arena *arena)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        return errno == ENOENT || errno == ENOTDIR
                   ? "no such file"
                   : ovl_arena_printf(arena, "cannot be opened: %s", strerror(errno));
    }
    return S_ISDIR(about.st_mode) ? "is a directory" : NULL;
}

bool ovl_source_open(ovl_source *source, const char *path, ovl_errs *errs)
{
    const ovl_mark mark = {path, 0, 0};
    bool standard = strcmp(path, "-") == 0;
    const char *why = standard ? NULL : why_not(path, errs->arena);
    if (why) {
        ovl_error(errs, OVL_E_INPUT, mark, "cannot read \"%s\": %s", path, why);
        return false;
    }
    gzFile gz = standard ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path, "rb");
    if (!gz) {
        ovl_error(errs, OVL_E_INPUT, mark, "cannot read \"%s\": %s", path,
                  errno ? strerror(errno) : "out of memory");
        return false;
    }
    gzbuffer(gz, 128 * 1024);
    begin(source, path);
    source->gz = gz;
    ovl_source_more(source);
    source->compressed = !gzdirect(gz);
    return true;
}

void ovl_source_memory(ovl_source *source, const char *path, const void *bytes, size_t count)
{
    begin(source, path);
    source->memory = bytes;
    source->memory_bytes = count;
    ovl_source_more(source);
}

static size_t read_memory(ovl_source *source, size_t room)
{
    size_t count = OVL_MIN(room, source->memory_bytes);
    if (count) {
        memcpy(source->end, source->memory, count);
        source->memory += count;
        source->memory_bytes -= count;
    }
    return count;
}

/* A gzip file that ends too early still gives what came before. */
static size_t read_gz(ovl_source *source, size_t room)
{
    int got = gzread(source->gz, source->end, (unsigned)room);
    if (got < (int)room) {
        int code = Z_OK;
        gzerror(source->gz, &code);
        if (code == Z_BUF_ERROR) {
            source->damage = "the compressed data ends too early";
        } else if (code != Z_OK && code != Z_STREAM_END) {
            source->damage = code == Z_ERRNO ? strerror(errno) : "the compressed data is damaged";
        }
    }
    return got > 0 ? (size_t)got : 0;
}

bool ovl_source_full(const ovl_source *source)
{
    return source->at == source->window && source->end == source->window + OVL_SOURCE_WINDOW;
}

bool ovl_source_more(ovl_source *source)
{
    if (source->finished || ovl_source_full(source)) {
        return false;
    }
    size_t left = (size_t)(source->end - source->at);
    source->offset += (uint64_t)(source->at - source->window);
    memmove(source->window, source->at, left);
    source->at = source->window;
    source->end = source->window + left;
    size_t room = OVL_SOURCE_WINDOW - left;
    size_t got = source->gz ? read_gz(source, room) : read_memory(source, room);
    source->end += got;
    *source->end = '\0';
    source->finished = got < room;
    return got > 0;
}

uint64_t ovl_source_where(const ovl_source *source, const char *p)
{
    return source->offset + (uint64_t)(p - source->window);
}

void ovl_source_close(ovl_source *source)
{
    if (source->gz) {
        gzclose(source->gz);
    }
    free(source->window);
    *source = (ovl_source){0};
}
