/*
 * sorter.h - records of one size put in order in bounded memory, however many there are.
 *
 * Records gather in a buffer. A full buffer is ordered and written to a temporary file as a run; in
 * the end the runs are merged while they are read. What fits the buffer never touches the disk, and
 * records that come in order make one run.
 *
 *     ovl_sorter s;
 *     ovl_sorter_begin(&s, sizeof(int64_t), by_value, 1 << 20);
 *     for (...) ovl_sorter_add(&s, &value);
 *     ovl_sorter_rewind(&s);                        as often as they are to be read
 *     for (const int64_t *v; (v = ovl_sorter_next(&s)) != NULL;) ...
 *     ovl_sorter_free(&s);
 *
 * Memory is twice the buffer. Records that compare as equal come in any order. If the temporary
 * file cannot be written the buffer grows instead, so nothing is lost; what cannot be read back
 * ends the reading and sets `failed`. The file has no name, lies in $TMPDIR, /var/tmp or /tmp, and
 * goes with the process.
 */
#ifndef OVL_TOOLS_SORTER_H
#define OVL_TOOLS_SORTER_H

#include "sim/base.h"
#include "sim/vec.h"

typedef int ovl_sort_order(const void *a, const void *b);

/* Records that were written in order. */
typedef struct ovl_sorter_run {
    uint64_t first, count; /* of the file, in records */
    uint64_t next;         /* to be read next, counted within the run */
    char *window;          /* records read ahead */
    size_t at, held;       /* of the window, in records */
} ovl_sorter_run;

typedef struct ovl_sorter {
    size_t size; /* bytes of a record */
    ovl_sort_order *order;
    char *buffer, *last; /* last: the record written last */
    size_t room, space;  /* records the buffer may hold, and those it has memory for */
    size_t held, at;     /* records in it, and read of it */
    uint64_t count;      /* records in all */
    int file;            /* -1: none */
    bool no_file;        /* it was tried in vain, or is not wanted */
    uint64_t written;    /* records */
    OVL_VEC(ovl_sorter_run) runs;
    char *windows;
    size_t window;  /* records of one */
    uint32_t *heap; /* runs, by their next record */
    uint32_t n_heap;
    bool ended;  /* nothing can be added any more */
    bool taken;  /* the first record of the heap was handed out */
    bool failed; /* the file could not be read */
} ovl_sorter;

/* `buffer`: bytes. */
void ovl_sorter_begin(ovl_sorter *s, size_t size, ovl_sort_order *order, size_t buffer);

/* Not after the first ovl_sorter_rewind. */
void ovl_sorter_add(ovl_sorter *s, const void *record);

/* Stands before the first record. */
void ovl_sorter_rewind(ovl_sorter *s);

/* The next record, good until the next call; NULL: no more. */
const void *ovl_sorter_next(ovl_sorter *s);

void ovl_sorter_free(ovl_sorter *s);

#endif
