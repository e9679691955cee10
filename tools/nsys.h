/*
 * nsys.h - what the files of the reader of Nsight Systems exports share: statements on tables and
 * columns that may not be there.
 *
 *     const char *t = ovl_nsys_table(r, "NVTX_EVENTS");            its name, also "NVTX_EVENTS_V2"
 *     ovl_nsys_column(r, t, "jsonText")                            "t.\"jsonText\"", or "NULL"
 */
#ifndef OVL_TOOLS_NSYS_H
#define OVL_TOOLS_NSYS_H

#include "tools/read.h"

#include <sqlite3.h>

#define OVL_NSYS_FIELDS 3 /* of a payload that are looked for */

/* Where a field stands in the payloads of a schema; the schema looked at last. */
typedef struct ovl_nsys_field {
    uint64_t schema;
    int64_t offset; /* -1: it has none */
    bool known;
} ovl_nsys_field;

/* A text of StringIds that was looked up. */
typedef struct ovl_nsys_text {
    int64_t id;
    char *text; /* NULL: none yet */
    size_t length;
} ovl_nsys_text;

#define OVL_NSYS_CACHED 1024 /* texts, by the lower bits of their ids */

typedef struct ovl_nsys {
    sqlite3 *db;
    const ovl_sink *sink;
    ovl_read_about *about;
    ovl_arena arena;      /* of statements */
    bool names;           /* the temporary table of names is there */
    sqlite3_stmt *lookup; /* one of them by its id */
    ovl_nsys_text cached[OVL_NSYS_CACHED];
    bool nccl;   /* likewise temp.ovl_nccl */
    bool events; /* likewise temp.ovl_events */
    ovl_nsys_field field[OVL_NSYS_FIELDS];
    bool processes;  /* rows of devices and calls say their process; else all are of one */
    bool mixed;      /* calls are of several, kernels do not say of which: nothing matches them */
    const char *why; /* the first thing that went wrong, or NULL */
} ovl_nsys;

/* NULL, and `why`, if it is no statement. */
sqlite3_stmt *ovl_nsys_prepare(ovl_nsys *r, const char *sql);

/* Whether there is another row; ends the statement otherwise. */
bool ovl_nsys_step(ovl_nsys *r, sqlite3_stmt *statement);

/* The table of this name, also with a version behind it ("_V2"); the last one by name. NULL: none.
 */
const char *ovl_nsys_table(ovl_nsys *r, const char *name);

bool ovl_nsys_has(ovl_nsys *r, const char *table, const char *column);

/* The column as it is written in a statement, or NULL for one that is not there. */
const char *ovl_nsys_column(ovl_nsys *r, const char *table, const char *name);

/* What stands for a text: a number of StringIds (looked up), or the text itself; of the columns
 * (ended by NULL) the first that is not NULL. */
const char *ovl_nsys_name(ovl_nsys *r, const char *table, const char *const *columns);

/* The text in a column of the current row; empty if there is none. */
ovl_slice ovl_nsys_slice(sqlite3_stmt *s, int column);

/* What NCCL wrote about its calls goes into temp.ovl_nccl(process, correlation, name, bytes, comm,
 * ranks), by the launch that was made during the call: `nccl` says whether there is anything. */
void ovl_nsys_nccl(ovl_nsys *r, bool processes);

/* Warns if the file is cut, or part of the database stands in a log beside it. */
void ovl_nsys_check_file(const char *path, ovl_errs *errs);

/* Hands over the samples of GPU metrics (--gpu-metrics-device), in per cent. */
void ovl_nsys_metrics(ovl_nsys *r);

#endif
