/*
 * store.h - results in an SQLite file: what was run, from which text, and what came out.
 *
 *     ovl_store store;
 *     if (ovl_store_open(&store, "runs.db", OVL_STORE_WRITE, &errs)) {
 *         int64_t run = ovl_store_add(&store, &record, &errs);       one transaction
 *         ovl_store_close(&store);
 *     }
 *
 * The file is in WAL mode: a process that dies at any moment loses nothing it committed, and
 * several may write. Every failure is an error with the name of the file; nothing of the
 * transaction is then there. The tables are documented in docs/store.md, where they can be queried
 * with plain SQL.
 *
 * A file of an older version is brought up to date when it is opened for writing, in one
 * transaction, after a copy was made beside it (runs.db.v1). One of a newer version is refused, and
 * so is any other SQLite file.
 */
#ifndef OVL_TOOLS_STORE_H
#define OVL_TOOLS_STORE_H

#include "sim/result.h"
#include "tools/metrics.h"
#include "tools/recorder.h"

#define OVL_STORE_VERSION 6

typedef enum ovl_store_mode { OVL_STORE_READ, OVL_STORE_WRITE } ovl_store_mode;

#define OVL_STATEMENTS 32 /* that are kept ready */

typedef struct ovl_statement {
    const char *sql;
    void *statement; /* sqlite3_stmt * */
    bool used;
} ovl_statement;

typedef struct ovl_store {
    void *db; /* sqlite3 * */
    const char *path;
    ovl_arena arena;
    ovl_statement kept[OVL_STATEMENTS]; /* each text is parsed once */
    uint32_t n_kept;
} ovl_store;

/* False and an error (OVL_E_USAGE). Writing makes the file if there is none; reading does not. */
bool ovl_store_open(ovl_store *store, const char *path, ovl_store_mode mode, ovl_errs *errs);
void ovl_store_close(ovl_store *store);

/* From here on commits do not wait for the disk: a process that dies still loses nothing, and the
 * file stays whole, but a power cut may take the last few. */
bool ovl_store_swift(ovl_store *store, ovl_errs *errs);

/* Trials of it: trial t had this step, and so much uncovered communication. */
typedef struct ovl_trial_record {
    uint32_t n;
    uint64_t seed;
    const ovl_time *step, *uncovered;     /* [n] */
    const struct ovl_late *ranks, *names; /* who was late (trials.h); not read back */
    uint32_t n_ranks, n_names;
} ovl_trial_record;

/* What is kept of a run. */
typedef struct ovl_run_record {
    const ovl_recorder *files; /* the scenario and what it reads */
    const char *scenario;      /* its name */
    const char *variant;       /* NULL: base */
    const ovl_set *sets;
    uint32_t n_sets;
    const char *gpu; /* name of the hardware; NULL: none */
    const char *model, *version;
    const ovl_figures *figures;
    const ovl_result *result;       /* for its tables; NULL: figures only */
    const char *json, *text;        /* the reports; NULL: none */
    const ovl_trial_record *trials; /* NULL: none */
} ovl_run_record;

/* Adds a run; gives its number, or 0 and an error. */
int64_t ovl_store_add(ovl_store *store, const ovl_run_record *record, ovl_errs *errs);

/* A transaction: BEGIN IMMEDIATE; then COMMIT if `good`, else ROLLBACK. False and an error; the
 * second gives whether all is committed. */
bool ovl_store_begin(ovl_store *store, ovl_errs *errs);
bool ovl_store_commit(ovl_store *store, bool good, ovl_errs *errs);

/* --- Sweeps --- */

/* The sweep of this digest, made if it is new (*known says if it was there). 0 and an error. */
int64_t ovl_store_sweep(ovl_store *store, const char *digest, const ovl_run_record *record,
                        uint32_t n_points, bool *known, ovl_errs *errs);

/* The number of the sweep of this digest; 0 if there is none. False and an error. */
bool ovl_store_known_sweep(ovl_store *store, const char *digest, int64_t *sweep, ovl_errs *errs);

/* Within a transaction adds a point: a run with its figures, or (record->figures NULL) an error and
 * its status. A point that is there stays as it is. False and an error. */
bool ovl_store_point(ovl_store *store, int64_t sweep, uint32_t point, const ovl_run_record *record,
                     int status, const char *error, ovl_errs *errs);

/* Adds the tables and reports of record->result to a point that is there with its figures alone. A
 * point that has reports stays as it is. False and an error. */
bool ovl_store_fill(ovl_store *store, int64_t sweep, uint32_t point, const ovl_run_record *record,
                    ovl_errs *errs);

typedef struct ovl_stored_point {
    uint32_t point;
    int status;
    const char *error, *model; /* in the arena that was given */
    ovl_figures figures;
} ovl_stored_point;

/* Calls `take` for each point of a sweep. False and an error. */
bool ovl_store_points(ovl_store *store, int64_t sweep, ovl_arena *arena,
                      void (*take)(void *context, const ovl_stored_point *point), void *context,
                      ovl_errs *errs);

/* --- Reading --- */

typedef struct ovl_stored_run {
    int64_t run;
    const char *scenario, *digest, *path, *variant, *model, *version, *gpu, *time;
    int64_t sweep;  /* 0: none */
    int64_t trials; /* how many; 0: none */
    ovl_figures figures;
    const char **changes; /* "path=value" */
    uint32_t n_changes;
} ovl_stored_run;

/* A sweep, of which so many points are there. */
typedef struct ovl_stored_sweep {
    int64_t sweep;
    const char *scenario, *path;
    int64_t points, done; /* it has; are there, those that failed among them */
} ovl_stored_sweep;

/* The sweeps of a scenario (as in ovl_store_runs), or all. False and errors. */
bool ovl_store_sweeps(ovl_store *store, const char *of, ovl_stored_sweep **sweeps, uint32_t *n,
                      ovl_arena *arena, ovl_errs *errs);

/* Looks at the whole file: false and an error if it is damaged. Asked where nothing was found: a
 * search in damaged pages may find nothing and say nothing. */
bool ovl_store_sound(ovl_store *store, ovl_errs *errs);

/* The newest `limit` runs (0: all), newest last; only those of a scenario of this name, path or
 * beginning of a digest if `of` is not NULL; points of sweeps only if `points`. */
bool ovl_store_runs(ovl_store *store, uint32_t limit, const char *of, bool points,
                    ovl_stored_run **runs, uint32_t *n, ovl_arena *arena, ovl_errs *errs);

/* One run; false and an error if it is not there. */
bool ovl_store_find(ovl_store *store, const char *number, ovl_stored_run *run, ovl_arena *arena,
                    ovl_errs *errs);

/* Its report as it was stored (`json` or not), or NULL if none was. */
const char *ovl_store_report(ovl_store *store, int64_t run, bool json, ovl_arena *arena,
                             ovl_errs *errs);

/* Its trials; n is 0 without. False and an error. */
bool ovl_store_trials(ovl_store *store, int64_t run, ovl_trial_record *trials, ovl_arena *arena,
                      ovl_errs *errs);

/* The files it was read from, the scenario first, into recorder->files. */
bool ovl_store_inputs(ovl_store *store, int64_t run, ovl_recorder *recorder, ovl_errs *errs);

#endif
