/*
 * progress.h - one line that says how far a long work is, on a terminal and nowhere else.
 *
 *     312 of 1,000 points, 45 a second, 15 s left
 *
 * The line is written over itself and taken away at the end.
 */
#ifndef OVL_TOOLS_PROGRESS_H
#define OVL_TOOLS_PROGRESS_H

#include "tools/out.h"

typedef struct ovl_progress {
    ovl_out *out;
    const char *what; /* "points" */
    uint32_t total;
    bool on;      /* the stream is a terminal */
    double began; /* seconds */
    double told;  /* when the line was last written */
    size_t width; /* of that line */
} ovl_progress;

/* `out` may be NULL: nobody looks. */
void ovl_progress_begin(ovl_progress *progress, ovl_out *out, const char *what, uint32_t total);
void ovl_progress_at(ovl_progress *progress, uint32_t done);
void ovl_progress_end(ovl_progress *progress);

/* The line alone, after `seconds` of work; the text lives in `arena`. */
const char *ovl_progress_text(const char *what, uint32_t done, uint32_t total, double seconds,
                              ovl_arena *arena);

/* "1,000": a count as people read it. */
const char *ovl_grouped(uint32_t n, ovl_arena *arena);

#endif
