/*
 * out.h - where a command's text goes: standard output, a stream a test reads back, or a file that
 * is whole or absent.
 *
 * A file is written without a name and put in its place when everything was written, so that an
 * interrupted run leaves the old file and nothing else. Where the file system has no nameless files
 * it has a temporary name, which SIGINT, SIGTERM and SIGHUP take away; they end the program at the
 * next stretch of output. A name that ends in ".gz" is compressed.
 * The first failure is kept: later writes do nothing, and ovl_out_close says what went wrong.
 *
 *     ovl_out out;
 *     ovl_out_open(&out, "step.json.gz");
 *     ovl_out_printf(&out, "%d\n", 7);
 *     const char *why = ovl_out_close(&out);      NULL, or "No space left on device"
 */
#ifndef OVL_TOOLS_OUT_H
#define OVL_TOOLS_OUT_H

#include "sim/arena.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct ovl_out {
    FILE *file;            /* plain text */
    void *gz;              /* or compressed (a gzFile) */
    ovl_arena arena;       /* of the two names */
    const char *path;      /* of the file at its end; NULL for a stream of somebody else */
    const char *temporary; /* what is renamed to it; NULL if it is written in place (a device) */
    int nameless;          /* the file while it has no name, or -1 */
    void *signals;         /* what was blocked before (a sigset_t); NULL: nothing waits */
    size_t stretch;        /* bytes since signals were looked for */
    const char *lost;      /* what the first failure was, or NULL */
    bool colour;           /* ovl_out_title shows its text in bold */
    uint32_t width;        /* columns of the terminal; OVL_TERMINAL where there is none */
} ovl_out;

#define OVL_TERMINAL 100 /* columns every text report fits into; a chart may use more */

/* Writes to a stream that stays the caller's. Colour if `file` is a terminal and NO_COLOR is unset
 * or empty (https://no-color.org). Its width is that of the terminal as the system knows it, else,
 * as where it is a pipe or a file, what COLUMNS in the environment says, else OVL_TERMINAL. */
void ovl_out_stream(ovl_out *out, FILE *file);

/* Whether what is written goes to a file, not to a terminal or a pipe. */
bool ovl_out_is_file(const ovl_out *out);

/* Begins a file. A device or pipe is written in place, a symbolic link leads to the file that is
 * replaced. A failure is told by ovl_out_close. */
void ovl_out_open(ovl_out *out, const char *path);

/* The same under a temporary name, as where there are no nameless files. */
void ovl_out_open_named(ovl_out *out, const char *path);

void ovl_out_write(ovl_out *out, const char *text, size_t length);
void ovl_out_text(ovl_out *out, const char *text);
void ovl_out_printf(ovl_out *out, const char *format, ...) OVL_PRINTF(2, 3);

/* A text in YAML's quotes; what YAML would take for something else is escaped. */
void ovl_out_quoted(ovl_out *out, const char *text);

/* A heading. */
void ovl_out_title(ovl_out *out, const char *format, ...) OVL_PRINTF(2, 3);

/* Ends the output. NULL, or why it is not whole; the temporary file is then gone. */
const char *ovl_out_close(ovl_out *out);

/* The same when what was written is not wanted: the file keeps its old contents. */
void ovl_out_discard(ovl_out *out);

#endif
