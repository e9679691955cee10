/* realpath() is in the X/Open part of POSIX; O_TMPFILE is Linux alone. */
#define _GNU_SOURCE

#include "tools/out.h"

#include "tools/deadly.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* Where there is no terminal, or it does not know. */
static uint32_t given_width(void)
{
    const char *columns = getenv("COLUMNS");
    unsigned long given = columns ? strtoul(columns, NULL, 10) : 0;
    return given > 0 && given <= UINT16_MAX ? (uint32_t)given : OVL_TERMINAL;
}

static uint32_t terminal_width(int fd)
{
    struct winsize size;
    bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : given_width();
}

void ovl_out_stream(ovl_out *out, FILE *file)
{
    *out = (ovl_out){.file = file, .nameless = -1, .width = terminal_width(fileno(file))};
    out->colour = fileno(file) >= 0 && wants_colour(file);
}

bool ovl_out_is_file(const ovl_out *out)
{
    struct stat about;
    return !out->file || (fstat(fileno(out->file), &about) == 0 && S_ISREG(about.st_mode));
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

/* --- Signals that end the program ---
 *
 * They wait while a file is written, so that none arrives where a name would be left behind. Each
 * stretch of output looks whether one is there. */

#define STRETCH ((size_t)1 << 20)

static void hold_signals(ovl_out *out)
{
    sigset_t deadly;
    ovl_deadly_signals(&deadly);
    out->signals = OVL_NEW(&out->arena, sigset_t);
    sigprocmask(SIG_BLOCK, &deadly, out->signals);
}

/* One that waited arrives here. */
static void release_signals(ovl_out *out)
{
    if (out->signals) {
        sigprocmask(SIG_SETMASK, out->signals, NULL);
        out->signals = NULL;
    }
}

static bool is_ended(const ovl_out *out)
{
    sigset_t deadly, waiting;
    if (!out->signals || sigpending(&waiting) != 0) {
        return false;
    }
    ovl_deadly_signals(&deadly);
    return (sigismember(&deadly, SIGINT) == 1 && sigismember(&waiting, SIGINT) == 1) ||
           (sigismember(&deadly, SIGTERM) == 1 && sigismember(&waiting, SIGTERM) == 1) ||
           (sigismember(&deadly, SIGHUP) == 1 && sigismember(&waiting, SIGHUP) == 1);
}

static void look_for_signals(ovl_out *out, size_t length)
{
    out->stretch += length;
    if (out->stretch >= STRETCH) {
        out->stretch = 0;
        if (is_ended(out)) {
            ovl_out_discard(out);
        }
    }
}

/* --- Opening --- */

/* A file without a name in the directory of `path`, or -1: not all file systems have them, and
 * without /proc it could never be given its name. */
static int open_nameless(const char *path, ovl_arena *arena)
{
    int fd = -1;
#ifdef O_TMPFILE
    const char *slash = strrchr(path, '/');
    const char *directory =
        slash ? ovl_arena_strndup(arena, path, (size_t)(slash - path) + 1) : ".";
    fd = open(directory, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (fd >= 0 && access(ovl_arena_printf(arena, "/proc/self/fd/%d", fd), F_OK) != 0) {
        close(fd);
        fd = -1;
    }
#else
    (void)path;
    (void)arena;
#endif
    return fd;
}

static int open_place(ovl_out *out, bool named)
{
    struct stat about;
    if (stat(out->path, &about) == 0 && !S_ISREG(about.st_mode)) {
        return open(out->path, O_WRONLY);
    }
    hold_signals(out);
    out->temporary = ovl_arena_printf(&out->arena, "%s.part-%ld", out->path, (long)getpid());
    int fd = named ? -1 : open_nameless(out->path, &out->arena);
    out->nameless = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
    return fd >= 0 ? fd : open(out->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
}

static void begin(ovl_out *out, const char *path, bool named)
{
    *out = (ovl_out){.nameless = -1, .width = given_width()};
    out->path = place_of(path, &out->arena);
    int fd = open_place(out, named);
    if (fd < 0) {
        fail(out, errno);
        release_signals(out);
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

void ovl_out_open(ovl_out *out, const char *path)
{
    begin(out, path, false);
}

void ovl_out_open_named(ovl_out *out, const char *path)
{
    begin(out, path, true);
}

/* --- Writing --- */

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
    look_for_signals(out, length);
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
        int length = vfprintf(out->file, format, args);
        if (length < 0) {
            fail(out, errno);
        } else {
            look_for_signals(out, (size_t)length);
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

void ovl_out_quoted(ovl_out *out, const char *text)
{
    ovl_out_text(out, "\"");
    for (; *text; text++) {
        bool escape = *text == '"' || *text == '\\';
        ovl_out_printf(out, "%s%c", escape ? "\\" : "", (unsigned char)*text < ' ' ? ' ' : *text);
    }
    ovl_out_text(out, "\"");
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

/* --- Ending --- */

static void forget(ovl_out *out)
{
    if (out->nameless >= 0) {
        close(out->nameless);
    }
    out->nameless = -1;
    out->temporary = out->path = NULL;
    release_signals(out);
    ovl_arena_free(&out->arena);
}

/* Gives the file without a name its own, or the temporary one where there is a file to replace.
 * False if it could not be. */
static bool give_name(const ovl_out *out, const char **name)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", out->nameless);
    *name = out->path;
    if (linkat(AT_FDCWD, self, AT_FDCWD, out->path, AT_SYMLINK_FOLLOW) == 0) {
        return true;
    }
    *name = out->temporary;
    return errno == EEXIST &&
           linkat(AT_FDCWD, self, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW) == 0;
}

static void put_in_place(ovl_out *out)
{
    const char *name = out->temporary;
    if (out->nameless >= 0 && !give_name(out, &name)) {
        fail(out, errno);
    } else if (name == out->temporary && rename(out->temporary, out->path) != 0) {
        fail(out, errno);
        unlink(out->temporary);
    }
}

const char *ovl_out_close(ovl_out *out)
{
    end_stream(out);
    if (out->temporary && is_ended(out)) {
        ovl_out_discard(out);
    } else if (out->temporary && !out->lost) {
        put_in_place(out);
    } else if (out->temporary && out->nameless < 0) {
        unlink(out->temporary);
    }
    forget(out);
    return out->lost;
}

void ovl_out_discard(ovl_out *out)
{
    end_stream(out);
    if (out->temporary && out->nameless < 0) {
        unlink(out->temporary);
    }
    fail(out, ECANCELED);
    forget(out);
}
