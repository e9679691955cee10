/* realpath() is in the X/Open part of POSIX. */
#define _XOPEN_SOURCE 700

#include "tools/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static void fail(ovl_out *out, int code)
{
    if (!out->lost) {
        out->lost = strerror(code ? code : EIO);
    }
}

static bool wants_colour(FILE *file)
{
    const char *no = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    bool dumb = term && strcmp(term, "dumb") == 0;
    return !(no && *no) && !dumb && isatty(fileno(file)) == 1;
}

void ovl_out_stream(ovl_out *out, FILE *file)
{
    *out = (ovl_out){.file = file};
    out->colour = fileno(file) >= 0 && wants_colour(file);
}

/* The file a link leads to, so that the link survives the rename; a path that does not exist yet
 * is itself. */
static const char *place_of(const char *path, ovl_arena *arena)
{
    char *real = realpath(path, NULL);
    const char *place = ovl_arena_strdup(arena, real ? real : path);
    free(real);
    return place;
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static int open_place(ovl_out *out)
{
    struct stat about;
    if (stat(out->path, &about) == 0 && !S_ISREG(about.st_mode)) {
        return open(out->path, O_WRONLY);
    }
    out->temporary = ovl_arena_printf(&out->arena, "%s.part-%ld", out->path, (long)getpid());
    return open(out->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
}

void ovl_out_open(ovl_out *out, const char *path)
{
    *out = (ovl_out){0};
    out->path = place_of(path, &out->arena);
    int fd = open_place(out);
    if (fd < 0) {
        fail(out, errno);
        out->temporary = NULL;
        return;
    }
    if (ends_in(path, ".gz")) {
        out->gz = gzdopen(fd, "wb6");
    } else {
        out->file = fdopen(fd, "wb");
    }
    if (!out->gz && !out->file) {
        ovl_out_of_memory(0);
    }
}

void ovl_out_write(ovl_out *out, const char *text, size_t length)
{
    if (out->lost || length == 0) {
        return;
    }
    errno = 0;
    if (out->gz) {
        /* gzwrite counts in unsigned int; what is written here is far shorter. */
        assert(length <= INT32_MAX);
        if (gzwrite(out->gz, text, (unsigned)length) != (int)length) {
            fail(out, errno);
        }
    } else if (fwrite(text, 1, length, out->file) != length) {
        fail(out, errno);
    }
}

void ovl_out_text(ovl_out *out, const char *text)
{
    ovl_out_write(out, text, strlen(text));
}

/* zlib's own printf has a limit, so text for it is made first. */
static void OVL_PRINTF(2, 0) write_format(ovl_out *out, const char *format, va_list args)
{
    if (out->lost) {
        return;
    }
    if (out->file) {
        errno = 0;
        if (vfprintf(out->file, format, args) < 0) {
            fail(out, errno);
        }
        return;
    }
    ovl_arena arena = {0};
    ovl_out_text(out, ovl_arena_vprintf(&arena, format, args));
    ovl_arena_free(&arena);
}

void ovl_out_printf(ovl_out *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_format(out, format, args);
    va_end(args);
}

void ovl_out_title(ovl_out *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ovl_out_text(out, out->colour ? "\033[1m" : "");
    write_format(out, format, args);
    ovl_out_text(out, out->colour ? "\033[0m\n" : "\n");
    va_end(args);
}

static void end_stream(ovl_out *out)
{
    errno = 0;
    if (out->gz) {
        int status = gzclose(out->gz);
        if (status != Z_OK) {
            fail(out, errno);
        }
    } else if (out->file && out->path) {
        if (fclose(out->file) != 0) {
            fail(out, errno);
        }
    } else if (out->file && (fflush(out->file) != 0 || ferror(out->file))) {
        fail(out, errno);
    }
    out->gz = NULL;
    out->file = NULL;
}

static void forget(ovl_out *out)
{
    out->temporary = out->path = NULL;
    ovl_arena_free(&out->arena);
}

const char *ovl_out_close(ovl_out *out)
{
    end_stream(out);
    if (out->temporary && out->lost) {
        unlink(out->temporary);
    } else if (out->temporary && rename(out->temporary, out->path) != 0) {
        fail(out, errno);
        unlink(out->temporary);
    }
    forget(out);
    return out->lost;
}

void ovl_out_discard(ovl_out *out)
{
    end_stream(out);
    if (out->temporary) {
        unlink(out->temporary);
    }
    forget(out);
}
