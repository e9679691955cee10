/*
 * store_parts.h - what the files of the store share: statements that fail with a sentence.
 *
 *     ovl_sql q;
 *     ovl_sql_begin(&q, store, errs, "SELECT name FROM metric WHERE run = ?");
 *     ovl_sql_int(&q, run);
 *     while (ovl_sql_row(&q)) { ... ovl_sql_get_text(&q, 0, arena) ... }
 *     return ovl_sql_end(&q);                       false if anything went wrong on the way
 */
#ifndef OVL_TOOLS_STORE_PARTS_H
#define OVL_TOOLS_STORE_PARTS_H

#include "tools/store.h"

typedef struct ovl_sql {
    ovl_store *store;
    ovl_errs *errs;
    void *statement;     /* sqlite3_stmt *; NULL: it could not be parsed */
    ovl_statement *kept; /* where it stays for the next time; NULL: nowhere */
    int bound;           /* parameters so far */
    bool failed;
} ovl_sql;

void ovl_sql_begin(ovl_sql *q, ovl_store *store, ovl_errs *errs, const char *sql);
void ovl_sql_int(ovl_sql *q, int64_t value);
void ovl_sql_text(ovl_sql *q, const char *text); /* NULL: no value */
void ovl_sql_bytes(ovl_sql *q, const void *data, size_t length);
/* A time; OVL_NEVER: no value. */
void ovl_sql_time(ovl_sql *q, ovl_time value);
bool ovl_sql_row(ovl_sql *q); /* false at the end and after a failure */
int64_t ovl_sql_get_int(const ovl_sql *q, int column);
const char *ovl_sql_get_text(const ovl_sql *q, int column, ovl_arena *arena); /* NULL: no value */
const void *ovl_sql_get_bytes(const ovl_sql *q, int column,
                              size_t *length); /* until the next row */
bool ovl_sql_end(ovl_sql *q);

/* A statement without parameters and rows. */
bool ovl_sql_run(ovl_store *store, ovl_errs *errs, const char *sql);

/* Adds the error of the last call on this database. */
void ovl_store_fail(ovl_store *store, const char *what, ovl_errs *errs);

/* Makes the tables, or brings them up to date. */
bool ovl_store_migrate(ovl_store *store, ovl_store_mode mode, ovl_errs *errs);

#endif
