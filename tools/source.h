/*
 * source.h - the bytes of a file through a window that slides over it, so that a file of any size
 * takes the memory of the window; what gzip compressed is decompressed on the way. Of damaged gzip
 * all is given that comes before the damage, also where only the checksum is wrong.
 *
 *     ovl_source s;
 *     if (ovl_source_open(&s, "trace.json.gz", &errs)) {
 *         while (s.at < s.end || ovl_source_more(&s)) {
 *             s.at += use(s.at, s.end);          bytes at + 0 .. end - 1; *end is a NUL
 *         }
 *         ovl_source_close(&s);
 *     }
 *
 * Pointers into the window are good until the next ovl_source_more.
 */
#ifndef OVL_TOOLS_SOURCE_H
#define OVL_TOOLS_SOURCE_H

#include "sim/err.h"

#define OVL_SOURCE_WINDOW ((size_t)1 << 20)  /* at first */
#define OVL_SOURCE_MOST   ((size_t)16 << 20) /* and at most, where nothing of it can be used */

typedef struct ovl_source {
    const char *path; /* borrowed; for messages */
    char *window;     /* `room` bytes and one for the NUL */
    size_t room;
    char *at, *end;  /* what is there and not used yet */
    uint64_t offset; /* of window[0] in the (decompressed) file */
    bool finished;   /* there is no more after `end` */
    bool compressed;
    uint64_t
        behind; /* bytes behind the compressed data that are no part of it (zeros are padding) */
    uint64_t behind_at;           /* the first of them in the file */
    const char *damage;           /* why the rest cannot be read (static text), or NULL */
    struct ovl_source_file *file; /* NULL for bytes in memory */
    const char *memory;           /* what is left of them */
    size_t memory_bytes;
} ovl_source;

/* "-" is standard input. False and an error (OVL_E_INPUT) if it cannot be opened. */
bool ovl_source_open(ovl_source *source, const char *path, ovl_errs *errs);

/* Bytes in memory, borrowed, for tests. Never fails. */
void ovl_source_memory(ovl_source *source, const char *path, const void *bytes, size_t count);

/* Moves what is not used to the start of the window, which grows if that fills it, and reads behind
 * it. False if nothing came: the end of the file, or the window is full and as large as it gets. */
bool ovl_source_more(ovl_source *source);

/* Whether the window is as large as it gets and full of bytes not used: more comes only after some
 * were. */
bool ovl_source_full(const ovl_source *source);

/* Where `p`, a pointer into the window, is in the file. */
uint64_t ovl_source_where(const ovl_source *source, const char *p);

void ovl_source_close(ovl_source *source);

#endif
