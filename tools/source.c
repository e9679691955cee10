#include "tools/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define INPUT_BYTES (128 * 1024)

/* A file that is open, and what was read of it and not handed over yet. */
typedef struct ovl_source_file {
    int fd;
    z_stream z;
    bool failed;   /* nothing more can be read */
    uint64_t read; /* bytes of the file */
    Bytef input[INPUT_BYTES];
} input_file;

static void begin(ovl_source *source, const char *path)
{
    *source = (ovl_source){.path = path, .room = OVL_SOURCE_WINDOW};
    source->window = malloc(source->room + 1);
    if (!source->window) {
        ovl_out_of_memory(source->room + 1);
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

/* --- Reading a file --- */

/* More of the file behind what is there of it. False at its end. */
static bool fill(ovl_source *source)
{
    input_file *f = source->file;
    if (f->z.avail_in && f->z.next_in != f->input) {
        memmove(f->input, f->z.next_in, f->z.avail_in);
    }
    f->z.next_in = f->input;
    ssize_t got;
    do {
        got = read(f->fd, f->input + f->z.avail_in, INPUT_BYTES - f->z.avail_in);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        source->damage = strerror(errno);
        f->failed = true;
    }
    f->z.avail_in += got > 0 ? (uInt)got : 0;
    f->read += got > 0 ? (uint64_t)got : 0;
    return got > 0;
}

/* gzip begins with these. */
static bool is_gzip(ovl_source *source)
{
    input_file *f = source->file;
    while (f->z.avail_in < 2 && fill(source)) {
    }
    return f->z.avail_in >= 2 && f->z.next_in[0] == 0x1f && f->z.next_in[1] == 0x8b;
}

static void open_file(ovl_source *source, int fd)
{
    input_file *f = calloc(1, sizeof *f);
    if (!f) {
        ovl_out_of_memory(sizeof *f);
    }
    f->fd = fd;
    f->z.next_in = f->input;
    source->file = f;
    source->compressed = is_gzip(source);
    if (source->compressed && inflateInit2(&f->z, 16 + MAX_WBITS) != Z_OK) {
        ovl_out_of_memory(sizeof f->z);
    }
}

static size_t read_plain(ovl_source *source, size_t room)
{
    input_file *f = source->file;
    size_t got = 0;
    while (got < room && (f->z.avail_in || fill(source))) {
        size_t n = OVL_MIN(room - got, f->z.avail_in);
        memcpy(source->end + got, f->z.next_in, n);
        f->z.next_in += n;
        f->z.avail_in -= (uInt)n;
        got += n;
    }
    return got;
}

/* What stands behind the last member: its bytes, unless all are zero. */
static void count_behind(ovl_source *source)
{
    input_file *f = source->file;
    uint64_t at = f->read - f->z.avail_in, count = 0;
    bool any = false;
    while (f->z.avail_in || fill(source)) {
        for (uInt i = 0; i < f->z.avail_in; i++) {
            any |= f->z.next_in[i] != 0;
        }
        count += f->z.avail_in;
        f->z.avail_in = 0;
    }
    source->behind = any ? count : 0;
    source->behind_at = at;
}

/* Behind a member another one may stand, which goes on where it ended; anything else there is no
 * part of the file. */
static void next_member(ovl_source *source)
{
    input_file *f = source->file;
    f->failed = !is_gzip(source) || inflateReset(&f->z) != Z_OK;
    if (f->failed) {
        count_behind(source);
    }
}

/* What comes before damage is given, also where only the sum at the end is wrong. */
static size_t read_gzip(ovl_source *source, size_t room)
{
    input_file *f = source->file;
    f->z.next_out = (Bytef *)source->end;
    f->z.avail_out = (uInt)room;
    while (f->z.avail_out && !f->failed) {
        if (!f->z.avail_in && !fill(source)) {
            source->damage = source->damage ? source->damage : "the compressed data ends too early";
            f->failed = true;
            break;
        }
        int code = inflate(&f->z, Z_NO_FLUSH);
        if (code == Z_STREAM_END) {
            next_member(source);
        } else if (code != Z_OK) {
            bool sum = f->z.msg && strcmp(f->z.msg, "incorrect data check") == 0;
            source->damage = sum ? "the checksum of the compressed data is wrong"
                                 : "the compressed data is damaged";
            f->failed = true;
        }
    }
    return room - f->z.avail_out;
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
    int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        ovl_error(errs, OVL_E_INPUT, mark, "cannot read \"%s\": %s", path, strerror(errno));
        return false;
    }
    begin(source, path);
    open_file(source, fd);
    ovl_source_more(source);
    return true;
}

/* --- Memory --- */

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

/* --- The window --- */

bool ovl_source_full(const ovl_source *source)
{
    return source->room == OVL_SOURCE_MOST && source->at == source->window &&
           source->end == source->window + source->room;
}

/* What is not used fills the window: a larger one. */
static void grow(ovl_source *source)
{
    size_t used = (size_t)(source->end - source->window);
    char *window = realloc(source->window, 2 * source->room + 1);
    if (!window) {
        ovl_out_of_memory(2 * source->room + 1);
    }
    source->room *= 2;
    source->window = source->at = window;
    source->end = window + used;
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
    if (left == source->room) {
        grow(source);
    }
    size_t room = source->room - left;
    size_t got = !source->file        ? read_memory(source, room)
                 : source->compressed ? read_gzip(source, room)
                                      : read_plain(source, room);
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
    if (source->file) {
        if (source->compressed) {
            inflateEnd(&source->file->z);
        }
        close(source->file->fd);
        free(source->file);
    }
    free(source->window);
    *source = (ovl_source){0};
}
