/* The tables of the store, version by version. docs/store.md describes them for readers. */
#include "tools/store_parts.h"

#include <sqlite3.h>
#include <string.h>

#define APPLICATION 0x6f766c31 /* "ovl1": tells our files from other SQLite files */

/* versions[i] makes version i + 1 of version i. What was published is never changed. */
static const char *const versions[OVL_STORE_VERSION] = {
    "CREATE TABLE scenario (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, name TEXT NOT "
    "NULL, path TEXT NOT NULL);"
    "CREATE TABLE input (scenario INTEGER NOT NULL REFERENCES scenario (id) ON DELETE CASCADE, "
    "number INTEGER NOT NULL, path TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (scenario, "
    "number)) WITHOUT ROWID;"
    "CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL DEFAULT "
    "(strftime('%Y-%m-%dT%H:%M:%SZ', 'now')), scenario INTEGER NOT NULL REFERENCES scenario (id) "
    "ON DELETE CASCADE, variant TEXT NOT NULL, gpu TEXT, model TEXT NOT NULL, version TEXT NOT "
    "NULL);"
    "CREATE INDEX run_scenario ON run (scenario, variant);"
    "CREATE TABLE change (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, number "
    "INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (run, number)) WITHOUT ROWID;"
    "CREATE TABLE metric (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, name TEXT "
    "NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (run, name)) WITHOUT ROWID;"
    "CREATE INDEX metric_value ON metric (name, value);"
    "CREATE TABLE rank_time (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, rank "
    "INTEGER NOT NULL, count INTEGER NOT NULL, term TEXT NOT NULL, time_ps INTEGER NOT NULL, "
    "PRIMARY KEY (run, rank, term)) WITHOUT ROWID;"
    "CREATE TABLE rank_idle (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, rank "
    "INTEGER NOT NULL, count INTEGER NOT NULL, kind TEXT NOT NULL, time_ps INTEGER NOT NULL, "
    "PRIMARY KEY (run, rank, kind)) WITHOUT ROWID;"
    "CREATE TABLE collective (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, number "
    "INTEGER NOT NULL, name TEXT NOT NULL, op TEXT NOT NULL, \"group\" TEXT NOT NULL, bytes "
    "INTEGER NOT NULL, rank INTEGER NOT NULL, count INTEGER NOT NULL, ready_ps INTEGER NOT NULL, "
    "start_ps INTEGER NOT NULL, end_ps INTEGER NOT NULL, u_path_ps INTEGER, u_variant_ps INTEGER, "
    "exposed_ps INTEGER NOT NULL, slack_ps INTEGER, worth_ps INTEGER, critical INTEGER NOT NULL, "
    "PRIMARY KEY (run, number)) WITHOUT ROWID;"
    "CREATE INDEX collective_name ON collective (name);"
    "CREATE TABLE critical_path (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, "
    "number INTEGER NOT NULL, op TEXT NOT NULL, rank INTEGER NOT NULL, stream TEXT NOT NULL, "
    "start_ps INTEGER NOT NULL, end_ps INTEGER NOT NULL, why TEXT NOT NULL, PRIMARY KEY (run, "
    "number)) WITHOUT ROWID;"
    "CREATE TABLE report (run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE, json TEXT "
    "NOT NULL, text TEXT NOT NULL);",

    "CREATE TABLE sweep (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, scenario INTEGER NOT "
    "NULL REFERENCES scenario (id) ON DELETE CASCADE, points INTEGER NOT NULL, version TEXT NOT "
    "NULL);"
    "CREATE TABLE point (sweep INTEGER NOT NULL REFERENCES sweep (id) ON DELETE CASCADE, number "
    "INTEGER NOT NULL, run INTEGER REFERENCES run (id) ON DELETE CASCADE, status INTEGER NOT NULL, "
    "error TEXT, PRIMARY KEY (sweep, number)) WITHOUT ROWID;"
    "CREATE INDEX point_run ON point (run);",

    "CREATE TABLE trials (run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE, trials "
    "INTEGER NOT NULL, seed INTEGER NOT NULL);"
    "CREATE TABLE trial (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, number "
    "INTEGER NOT NULL, step_ps INTEGER NOT NULL, exposed_ps INTEGER NOT NULL, PRIMARY KEY (run, "
    "number)) WITHOUT ROWID;",

    ("UPDATE metric SET name = 'uncovered' WHERE name = 'exposed';"
     "ALTER TABLE trial RENAME COLUMN exposed_ps TO uncovered_ps;"),

    "CREATE TABLE late_rank (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, rank "
    "INTEGER NOT NULL, times INTEGER NOT NULL, collectives INTEGER NOT NULL, wait_ps INTEGER NOT "
    "NULL, PRIMARY KEY (run, rank)) WITHOUT ROWID;"
    "CREATE TABLE late_collective (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, "
    "name TEXT NOT NULL, rank INTEGER NOT NULL, rank_times INTEGER NOT NULL, times INTEGER NOT "
    "NULL, ranks INTEGER NOT NULL, members INTEGER NOT NULL, collectives INTEGER NOT NULL, wait_ps "
    "INTEGER NOT NULL, PRIMARY KEY (run, name)) WITHOUT ROWID;",

    "ALTER TABLE critical_path ADD COLUMN repeats INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE critical_path ADD COLUMN every_ps INTEGER;",
};

static const ovl_mark nowhere = {0};

static bool pragma(ovl_store *store, const char *name, int64_t *value, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, ovl_arena_printf(&store->arena, "PRAGMA %s", name));
    *value = ovl_sql_row(&q) ? ovl_sql_get_int(&q, 0) : 0;
    return ovl_sql_end(&q);
}

static bool count_tables(ovl_store *store, int64_t *n, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, "SELECT count(*) FROM sqlite_master");
    *n = ovl_sql_row(&q) ? ovl_sql_get_int(&q, 0) : 0;
    return ovl_sql_end(&q);
}

/* Which version the file is of; 0 if it is empty. */
static bool find_version(ovl_store *store, int64_t *version, ovl_errs *errs)
{
    int64_t application = 0, tables = 0;
    if (!pragma(store, "application_id", &application, errs) ||
        !pragma(store, "user_version", version, errs) || !count_tables(store, &tables, errs)) {
        return false;
    }
    if (tables && application != APPLICATION) {
        ovl_error(errs, OVL_E_USAGE, nowhere, "\"%s\" is an SQLite file of something else",
                  store->path);
        return false;
    }
    if (*version > OVL_STORE_VERSION) {
        ovl_error(errs, OVL_E_USAGE, nowhere,
                  "\"%s\" was written by a newer ovl: it has version %" PRId64
                  ", and this one knows %d",
                  store->path, *version, OVL_STORE_VERSION);
        return false;
    }
    return true;
}

/* The copy beside the file: whole, or not there. Another process may be making it, too. */
static bool keep_copy(ovl_store *store, int64_t version, ovl_errs *errs)
{
    const char *name = ovl_arena_printf(&store->arena, "%s.v%" PRId64, store->path, version);
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, "VACUUM INTO ?");
    ovl_sql_text(&q, name);
    ovl_sql_row(&q);
    if (!ovl_sql_end(&q)) {
        ovl_error(errs, OVL_E_USAGE, nowhere,
                  "\"%s\" has version %" PRId64
                  " and is left as it is: no copy could be made in %s",
                  store->path, version, name);
        return false;
    }
    return true;
}

static bool raise_version(ovl_store *store, ovl_errs *errs)
{
    int64_t version = 0;
    bool good = ovl_store_begin(store, errs);
    if (!good) {
        return false;
    }
    /* Another process may have been faster. */
    good = find_version(store, &version, errs);
    for (int64_t v = version; good && v < OVL_STORE_VERSION; v++) {
        good = ovl_sql_run(store, errs, versions[v]);
    }
    const char *marks =
        ovl_arena_printf(&store->arena, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                         APPLICATION, OVL_STORE_VERSION);
    good = good && ovl_sql_run(store, errs, marks);
    return ovl_store_commit(store, good, errs);
}

bool ovl_store_migrate(ovl_store *store, ovl_store_mode mode, ovl_errs *errs)
{
    int64_t version = 0;
    if (!find_version(store, &version, errs)) {
        return false;
    }
    if (version == OVL_STORE_VERSION) {
        return true;
    }
    if (mode == OVL_STORE_READ) {
        ovl_error(errs, OVL_E_USAGE, nowhere,
                  version ? "\"%s\" has version %" PRId64
                            " of the tables; the next run that is stored there brings it up to date"
                          : "\"%s\" holds no results",
                  store->path, version);
        return false;
    }
    return (version == 0 || keep_copy(store, version, errs)) && raise_version(store, errs);
}
