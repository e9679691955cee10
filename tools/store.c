#include "tools/store_parts.h"

#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define PATIENCE 60000 /* ms that a writer waits for others */

/* --- Failures --- */

void ovl_store_fail(ovl_store *store, const char *what, ovl_errs *errs)
{
    int code = sqlite3_errcode(store->db);
    const char *why = sqlite3_errmsg(store->db);
    switch (code & 0xff) {
    case SQLITE_FULL:
        why = "no space is left";
        break;
    case SQLITE_READONLY:
        why = "it cannot be written to";
        break;
    case SQLITE_CANTOPEN:
        why = "it cannot be opened";
        break;
    case SQLITE_BUSY:
        why = "another process holds it";
        break;
    case SQLITE_NOTADB:
        why = "it is no SQLite file";
        break;
    case SQLITE_CORRUPT:
        why = "it is damaged";
        break;
    case SQLITE_IOERR:
        why = "reading or writing failed, as on a full disk or beyond a limit of size";
        break;
    default:
        break;
    }
    ovl_error(errs, OVL_E_USAGE, (ovl_mark){0}, "%s \"%s\": %s", what, store->path, why);
}

/* --- Statements --- */

static void fail(ovl_sql *q)
{
    if (!q->failed) {
        ovl_store_fail(q->store, "store", q->errs);
    }
    q->failed = true;
}

/* One that was parsed before and is not in use; NULL: there is none. */
static ovl_statement *kept_statement(ovl_store *store, const char *sql)
{
    for (uint32_t i = 0; i < store->n_kept; i++) {
        ovl_statement *kept = &store->kept[i];
        if (!kept->used && strcmp(kept->sql, sql) == 0) {
            return kept;
        }
    }
    return NULL;
}

void ovl_sql_begin(ovl_sql *q, ovl_store *store, ovl_errs *errs, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    *q = (ovl_sql){.store = store, .errs = errs, .kept = kept_statement(store, sql)};
    if (!q->kept) {
        if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK) {
            fail(q);
        }
        q->statement = statement;
        if (q->failed || store->n_kept == OVL_STATEMENTS) {
            return;
        }
        q->kept = &store->kept[store->n_kept++];
        *q->kept =
            (ovl_statement){.sql = ovl_arena_strdup(&store->arena, sql), .statement = statement};
    }
    q->statement = q->kept->statement;
    q->kept->used = true;
}

void ovl_sql_int(ovl_sql *q, int64_t value)
{
    if (!q->failed && sqlite3_bind_int64(q->statement, ++q->bound, value) != SQLITE_OK) {
        fail(q);
    }
}

void ovl_sql_text(ovl_sql *q, const char *text)
{
    if (!q->failed &&
        sqlite3_bind_text(q->statement, ++q->bound, text, -1, SQLITE_STATIC) != SQLITE_OK) {
        fail(q);
    }
}

void ovl_sql_bytes(ovl_sql *q, const void *data, size_t length)
{
    if (!q->failed && sqlite3_bind_text64(q->statement, ++q->bound, data, length, SQLITE_STATIC,
                                          SQLITE_UTF8) != SQLITE_OK) {
        fail(q);
    }
}

void ovl_sql_time(ovl_sql *q, ovl_time value)
{
    if (value == OVL_NEVER) {
        ovl_sql_text(q, NULL);
    } else {
        ovl_sql_int(q, value);
    }
}

bool ovl_sql_row(ovl_sql *q)
{
    int code = q->failed ? SQLITE_DONE : sqlite3_step(q->statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        fail(q);
    }
    return code == SQLITE_ROW;
}

int64_t ovl_sql_get_int(const ovl_sql *q, int column)
{
    return sqlite3_column_int64(q->statement, column);
}

const char *ovl_sql_get_text(const ovl_sql *q, int column, ovl_arena *arena)
{
    const unsigned char *text = sqlite3_column_text(q->statement, column);
    return text ? ovl_arena_strdup(arena, (const char *)text) : NULL;
}

const void *ovl_sql_get_bytes(const ovl_sql *q, int column, size_t *length)
{
    const void *data = sqlite3_column_blob(q->statement, column);
    *length = (size_t)sqlite3_column_bytes(q->statement, column);
    return data;
}

bool ovl_sql_end(ovl_sql *q)
{
    if (q->kept) {
        sqlite3_reset(q->statement);
        sqlite3_clear_bindings(q->statement);
        q->kept->used = false;
    } else {
        sqlite3_finalize(q->statement);
    }
    q->kept = NULL;
    q->statement = NULL;
    return !q->failed;
}

bool ovl_sql_run(ovl_store *store, ovl_errs *errs, const char *sql)
{
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        ovl_store_fail(store, "store", errs);
        return false;
    }
    return true;
}

bool ovl_store_begin(ovl_store *store, ovl_errs *errs)
{
    return ovl_sql_run(store, errs, "BEGIN IMMEDIATE");
}

bool ovl_store_commit(ovl_store *store, bool good, ovl_errs *errs)
{
    if (good && ovl_sql_run(store, errs, "COMMIT")) {
        return true;
    }
    if (!sqlite3_get_autocommit(store->db)) { /* some failures have rolled back already */
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return false;
}

/* --- Opening --- */

/* A file beyond a limit of size is an error like a full disk, not the end of the program. */
static void survive_size_limits(void)
{
    struct sigaction now;
    if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
        now.sa_handler = SIG_IGN;
        sigaction(SIGXFSZ, &now, NULL);
    }
}

/* Which journal a file has is part of it; the switch is refused while others look at it. */
static bool use_wal(ovl_store *store, ovl_errs *errs)
{
    const struct timespec pause = {0, 10000000};
    for (int tries = 0; tries < 1000; tries++) {
        if (sqlite3_exec(store->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) == SQLITE_OK) {
            return true;
        }
        if (sqlite3_errcode(store->db) != SQLITE_BUSY) {
            break;
        }
        nanosleep(&pause, NULL);
    }
    ovl_store_fail(store, "store", errs);
    return false;
}

static bool open_file(ovl_store *store, int flags, const char *name)
{
    sqlite3 *db = NULL;
    if (store->db) {
        sqlite3_close(store->db);
    }
    int code = sqlite3_open_v2(name, &db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
    store->db = db;
    if (code == SQLITE_OK) {
        sqlite3_busy_timeout(db, PATIENCE);
        /* Opening touches nothing; the first look does. */
        code = sqlite3_exec(db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    }
    return code == SQLITE_OK;
}

/* A name as a URI: what URIs give a meaning is written as a code. */
static const char *as_uri(const char *path, const char *query, ovl_arena *arena)
{
    const char *uri = "file:";
    for (const char *c = path; *c; c++) {
        uri = ovl_arena_printf(arena, strchr("%?#", *c) ? "%s%%%02x" : "%s%c", uri,
                               (unsigned)(unsigned char)*c);
    }
    return ovl_arena_printf(arena, "%s?%s", uri, query);
}

/* A file in a directory nobody may write to has no room for the shared memory of WAL: then it is
 * read as what does not change. */
static bool open_for_reading(ovl_store *store)
{
    return open_file(store, SQLITE_OPEN_READWRITE, store->path) ||
           open_file(store, SQLITE_OPEN_READONLY, store->path) ||
           open_file(store, SQLITE_OPEN_READONLY,
                     as_uri(store->path, "immutable=1", &store->arena));
}

static bool exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0;
}

bool ovl_store_open(ovl_store *store, const char *path, ovl_store_mode mode, ovl_errs *errs)
{
    *store = (ovl_store){.db = NULL};
    store->path = ovl_arena_strdup(&store->arena, path);
    survive_size_limits();
    bool writing = mode == OVL_STORE_WRITE;
    if (!writing && !exists(path)) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0}, "store \"%s\": no such file", path);
        ovl_arena_free(&store->arena);
        return false;
    }
    bool good = writing ? open_file(store, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, store->path)
                        : open_for_reading(store);
    if (!good) {
        ovl_store_fail(store, "store", errs);
    }
    good = good && ovl_store_migrate(store, mode, errs);
    good = good && (!writing || use_wal(store, errs));
    good = good && ovl_sql_run(store, errs, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL");
    if (!good) {
        ovl_store_close(store);
    }
    return good;
}

void ovl_store_close(ovl_store *store)
{
    for (uint32_t i = 0; i < store->n_kept; i++) {
        sqlite3_finalize(store->kept[i].statement);
    }
    store->n_kept = 0;
    sqlite3_close(store->db);
    store->db = NULL;
    ovl_arena_free(&store->arena);
}

bool ovl_store_swift(ovl_store *store, ovl_errs *errs)
{
    return ovl_sql_run(store, errs, "PRAGMA synchronous = NORMAL");
}
