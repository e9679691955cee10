/* unlink and rmdir of a tree, and setuid(), are in the X/Open part of POSIX. */
#define _GNU_SOURCE

#include "tests/support/check.h"
#include "tools/keep.h"
#include "tools/store.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static ovl_arena arena;
static const char *directory;

static ovl_recorder *made[64]; /* their lists are given back at the end */
static uint32_t n_made;

static const char *place(const char *name)
{
    return ovl_arena_printf(&arena, "%s/%s", directory, name);
}

static const char *served(void *context, const char *path, size_t *length, ovl_arena *a,
                          const char **why)
{
    (void)path, (void)a, (void)why;
    *length = strlen(context);
    return context;
}

/* A record of these texts with this step in ms. */
static ovl_run_record record(const char *text, int step)
{
    ovl_recorder *r = OVL_NEW(&arena, ovl_recorder);
    ovl_figures *f = OVL_NEW(&arena, ovl_figures);
    ovl_set *sets = OVL_NEW_ARRAY(&arena, ovl_set, 1);
    const char *why = NULL;
    size_t length = 0;
    made[n_made++] = r;
    *r = (ovl_recorder){.inner = {.read = served, .context = ovl_arena_strdup(&arena, text)},
                        .arena = &arena};
    ovl_files files = ovl_recorder_files(r);
    files.read(files.context, "s.yaml", &length, &arena, &why);
    files.read(files.context, "hw.yaml", &length, &arena, &why);
    sets[0].text = "a.b=3";
    f->value[OVL_M_STEP] = step * OVL_MS;
    f->has = 1 << OVL_M_STEP;
    return (ovl_run_record){.files = r,
                            .scenario = "a scenario",
                            .variant = "v",
                            .sets = sets,
                            .n_sets = 1,
                            .gpu = "H",
                            .model = "measured",
                            .version = "0.1",
                            .figures = f,
                            .json = "{}\n",
                            .text = "a report\n"};
}

static const char *sentences(const ovl_errs *errs)
{
    const char *text = "";
    for (uint32_t i = 0; i < errs->count; i++) {
        text = ovl_arena_printf(&arena, "%s%s\n", text, ovl_err_text(&arena, &errs->items[i]));
    }
    return text;
}

/* What opening says; "" if all is well. */
static const char *opened(const char *path, ovl_store_mode mode)
{
    ovl_errs errs = {.arena = &arena};
    ovl_store store;
    if (ovl_store_open(&store, path, mode, &errs)) {
        ovl_store_close(&store);
    }
    return sentences(&errs);
}

static int64_t ask(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    int64_t value = -1;
    if (sqlite3_open(path, &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW) {
        value = sqlite3_column_int64(q, 0);
    }
    sqlite3_finalize(q);
    sqlite3_close(db);
    return value;
}

static void tell(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

static void what_goes_in_comes_out(void)
{
    ovl_errs errs = {.arena = &arena};
    ovl_store store;
    ovl_stored_run run;
    ovl_recorder again = {.arena = &arena};
    const char *path = place("in.db");
    const ovl_run_record one = record("name: x\n", 7), two = record("name: y\n", 8);
    CHECK(ovl_store_open(&store, path, OVL_STORE_WRITE, &errs));
    CHECK_INT(ovl_store_add(&store, &one, &errs), 1);
    CHECK_INT(ovl_store_add(&store, &two, &errs), 2);
    CHECK_INT(ovl_store_add(&store, &one, &errs), 3);
    CHECK(ovl_store_find(&store, "3", &run, &arena, &errs));
    CHECK_TEXT(run.variant, "v");
    CHECK_TEXT(run.gpu, "H");
    CHECK_TEXT(run.path, "s.yaml");
    CHECK_INT(run.figures.value[OVL_M_STEP], 7 * OVL_MS);
    CHECK(!ovl_has_figure(&run.figures, OVL_M_PEAK));
    CHECK_TEXT(ovl_stored_text(&run, &arena), "v, a.b=3");
    CHECK_TEXT(ovl_store_report(&store, 3, false, &arena, &errs), "a report\n");
    CHECK_TEXT(ovl_store_report(&store, 3, true, &arena, &errs), "{}\n");
    CHECK(ovl_store_inputs(&store, 2, &again, &errs));
    CHECK_INT(again.files.len, 2);
    CHECK_TEXT(again.files.data[1].path, "hw.yaml");
    CHECK_TEXT(again.files.data[1].text, "name: y\n");
    CHECK(!ovl_store_find(&store, "4", &run, &arena, &errs));
    CHECK(!ovl_store_find(&store, "x", &run, &arena, &errs));
    CHECK_INT(errs.count, 2);
    ovl_store_close(&store);
    CHECK_INT(ask(path, "SELECT count(*) FROM scenario"), 2); /* equal texts are kept once */
    ovl_recorder_free(&again);
}

static void lists_are_filtered(void)
{
    ovl_errs errs = {.arena = &arena};
    ovl_store store;
    ovl_stored_run *runs;
    uint32_t n;
    ovl_run_record r = record("name: x\n", 7);
    CHECK(ovl_store_open(&store, place("list.db"), OVL_STORE_WRITE, &errs));
    for (int i = 0; i < 5; i++) {
        r.scenario = i < 3 ? "first" : "second";
        CHECK(ovl_store_add(&store, &r, &errs) == i + 1);
    }
    CHECK(ovl_store_runs(&store, 2, NULL, false, &runs, &n, &arena, &errs));
    CHECK_INT(n, 2);
    CHECK_INT(runs[0].run, 4); /* the newest, newest last */
    CHECK(ovl_store_runs(&store, 0, "nothing", false, &runs, &n, &arena, &errs));
    CHECK_INT(n, 0);
    CHECK(ovl_store_runs(&store, 0, "s.yaml", false, &runs, &n, &arena, &errs));
    CHECK_INT(n, 5);
    CHECK(ovl_store_runs(&store, 0, ovl_arena_strndup(&arena, runs[0].digest, 8), false, &runs, &n,
                         &arena, &errs));
    CHECK_INT(n, 5);
    CHECK_TEXT(sentences(&errs), "");
    ovl_store_close(&store);
}

typedef struct seen {
    uint32_t n, failed;
    int64_t sum;
} seen;

static void see(void *context, const ovl_stored_point *p)
{
    seen *s = context;
    s->n++;
    s->failed += p->status == 4;
    s->sum += p->figures.value[OVL_M_STEP] / OVL_MS;
}

static void points_of_a_sweep(void)
{
    ovl_errs errs = {.arena = &arena};
    ovl_store store;
    bool known = true;
    seen s = {0};
    ovl_stored_run *runs;
    uint32_t n;
    ovl_run_record r = record("name: x\n", 7);
    CHECK(ovl_store_open(&store, place("sweep.db"), OVL_STORE_WRITE, &errs));
    int64_t sweep = ovl_store_sweep(&store, "d", &r, 3, &known, &errs);
    CHECK(sweep && !known);
    CHECK_INT(ovl_store_sweep(&store, "d", &r, 3, &known, &errs), sweep);
    CHECK(known);
    CHECK(ovl_store_begin(&store, &errs));
    CHECK(ovl_store_point(&store, sweep, 0, &r, 0, NULL, &errs));
    CHECK(ovl_store_point(&store, sweep, 0, &r, 0, NULL, &errs)); /* it is there: nothing changes */
    r.figures = NULL;
    CHECK(ovl_store_point(&store, sweep, 2, &r, 4, "stuck", &errs));
    CHECK(ovl_store_commit(&store, true, &errs));
    CHECK(ovl_store_begin(&store, &errs));
    CHECK(ovl_store_point(&store, sweep, 1, &r, 4, "not to be", &errs));
    CHECK(!ovl_store_commit(&store, false, &errs)); /* all of a transaction is taken back */
    CHECK(ovl_store_points(&store, sweep, &arena, see, &s, &errs));
    CHECK_INT(s.n, 2);
    CHECK_INT(s.failed, 1);
    CHECK_INT(s.sum, 7);
    CHECK(ovl_store_runs(&store, 0, NULL, false, &runs, &n, &arena, &errs));
    CHECK_INT(n, 0);
    CHECK(ovl_store_runs(&store, 0, NULL, true, &runs, &n, &arena, &errs));
    CHECK_INT(n, 1);
    CHECK_TEXT(sentences(&errs), "");
    ovl_store_close(&store);
}

static void what_is_no_store(void)
{
    const char *text = place("text.db"), *other = place("other.db");
    FILE *file = fopen(text, "w");
    fputs("this is no database, but a text that is long enough to be one, one would think\n", file);
    fclose(file);
    tell(other, "CREATE TABLE mine (x)");
    CHECK_HAS(opened(text, OVL_STORE_READ), "it is no SQLite file");
    CHECK_HAS(opened(text, OVL_STORE_WRITE), "it is no SQLite file");
    CHECK_HAS(opened(other, OVL_STORE_WRITE), "SQLite file of something else");
    CHECK_HAS(opened(place("absent.db"), OVL_STORE_READ), "no such file");
    CHECK_HAS(opened(place("absent/x.db"), OVL_STORE_WRITE), "cannot be opened");
    CHECK_HAS(opened(directory, OVL_STORE_WRITE), "cannot be opened");
    CHECK(access(place("absent.db"), F_OK) != 0);
    CHECK_INT(ask(other, "SELECT count(*) FROM sqlite_master"), 1);
}

static void newer_and_older_versions(void)
{
    const char *path = place("version.db"), *copy = place("version.db.v1");
    ovl_errs errs = {.arena = &arena};
    ovl_store store;
    bool known;
    const ovl_run_record r = record("name: x\n", 7);
    CHECK(ovl_store_open(&store, path, OVL_STORE_WRITE, &errs));
    CHECK_INT(ovl_store_add(&store, &r, &errs), 1);
    ovl_store_close(&store);
    tell(path, "PRAGMA user_version = 99");
    CHECK_HAS(opened(path, OVL_STORE_READ), "written by a newer ovl: it has version 99");
    CHECK_HAS(opened(path, OVL_STORE_WRITE), "written by a newer ovl");
    /* Version 1 had no sweeps, and until version 3 "exposed" was what is called uncovered now. */
    tell(path, "DELETE FROM metric; INSERT INTO metric VALUES (1, 'exposed', 5); DROP TABLE trial; "
               "DROP TABLE trials; DROP TABLE point; DROP TABLE sweep; DROP TABLE late_rank; "
               "DROP TABLE late_collective; ALTER TABLE critical_path DROP COLUMN repeats; "
               "ALTER TABLE critical_path DROP COLUMN every_ps; PRAGMA user_version = 1");
    CHECK_HAS(opened(path, OVL_STORE_READ), "has version 1");
    CHECK_TEXT(opened(path, OVL_STORE_WRITE), "");
    CHECK_INT(ask(copy, "PRAGMA user_version"), 1);
    CHECK_INT(ask(copy, "SELECT count(*) FROM run"), 1);
    CHECK_INT(ask(copy, "SELECT count(*) FROM sqlite_master WHERE name = 'sweep'"), 0);
    CHECK_INT(ask(path, "PRAGMA user_version"), OVL_STORE_VERSION);
    CHECK_INT(ask(path, "SELECT value FROM metric WHERE name = 'uncovered'"), 5);
    CHECK(ovl_store_open(&store, path, OVL_STORE_WRITE, &errs));
    CHECK(ovl_store_sweep(&store, "d", &r, 3, &known, &errs) == 1);
    CHECK_INT(ovl_store_add(&store, &r, &errs), 2);
    CHECK_TEXT(sentences(&errs), "");
    ovl_store_close(&store);
    /* The copy is there: the file is not touched. */
    tell(path, "DROP TABLE trial; DROP TABLE trials; DROP TABLE point; DROP TABLE sweep; "
               "DROP TABLE late_rank; DROP TABLE late_collective; PRAGMA user_version = 1");
    CHECK_HAS(opened(path, OVL_STORE_WRITE), "is left as it is");
    CHECK_INT(ask(path, "PRAGMA user_version"), 1);
}

/* Adds runs until one fails; gives how many did not. */
static int64_t fill(ovl_store *store, ovl_errs *errs)
{
    int64_t n = 0;
    const ovl_run_record r = record("name: x\n", 7);
    while (n < 100000 && ovl_store_add(store, &r, errs)) {
        n++;
    }
    return n;
}

static void a_full_database(void)
{
    const char *path = place("full.db");
    ovl_errs errs = {.arena = &arena};
    ovl_store store;
    CHECK(ovl_store_open(&store, path, OVL_STORE_WRITE, &errs));
    CHECK(sqlite3_exec(store.db, "PRAGMA max_page_count = 60", NULL, NULL, NULL) == SQLITE_OK);
    int64_t n = fill(&store, &errs);
    CHECK(n > 10 && n < 100000);
    CHECK_HAS(sentences(&errs), "no space is left");
    ovl_store_close(&store);
    CHECK_INT(ask(path, "SELECT count(*) FROM run"), n);
    CHECK_INT(ask(path, "SELECT count(*) FROM metric"), n);
    CHECK_INT(ask(path, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
}

/* In a process of its own: a limit of 1 MiB for files, as a disk that is full. */
static void a_limit_of_file_size(void)
{
    const char *path = place("limit.db");
    pid_t child = fork();
    if (child == 0) {
        ovl_errs errs = {.arena = &arena};
        ovl_store store;
        const struct rlimit limit = {1 << 20, 1 << 20};
        setrlimit(RLIMIT_FSIZE, &limit);
        bool good = ovl_store_open(&store, path, OVL_STORE_WRITE, &errs);
        int64_t n = good ? fill(&store, &errs) : 0;
        _exit(n > 3 && n < 100000 && strstr(sentences(&errs), path) ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    CHECK(ask(path, "SELECT count(*) FROM run") > 3);
    CHECK_INT(ask(path, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
}

/* Root may write everything, so this is tried as nobody. */
static void a_file_that_cannot_be_written(void)
{
    const char *path = place("read.db");
    ovl_errs errs = {.arena = &arena};
    ovl_store store;
    const ovl_run_record r = record("name: x\n", 7);
    CHECK(ovl_store_open(&store, path, OVL_STORE_WRITE, &errs));
    CHECK_INT(ovl_store_add(&store, &r, &errs), 1);
    ovl_store_close(&store);
    chmod(path, 0444);
    chmod(directory, 0555);
    pid_t child = fork();
    if (child == 0) {
        bool nobody = getuid() != 0 || setuid(65534) == 0;
        const char *write = opened(path, OVL_STORE_WRITE), *read = opened(path, OVL_STORE_READ);
        if (!nobody) {
            _exit(0);
        }
        _exit(strstr(write, "cannot be written to") && !*read ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    chmod(directory, 0755);
    CHECK_INT(ask(path, "SELECT count(*) FROM run"), 1);
}

/* Four processes make the file and add 25 runs each. */
static void several_writers(void)
{
    const char *path = place("many.db");
    pid_t child[4];
    for (int i = 0; i < 4; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            ovl_errs errs = {.arena = &arena};
            ovl_store store;
            const ovl_run_record r = record(i % 2 ? "name: x\n" : "name: y\n", i);
            bool good = ovl_store_open(&store, path, OVL_STORE_WRITE, &errs);
            for (int k = 0; good && k < 25; k++) {
                good = ovl_store_add(&store, &r, &errs) != 0;
            }
            _exit(good ? 0 : 1);
        }
    }
    for (int i = 0; i < 4; i++) {
        int status = -1;
        CHECK(waitpid(child[i], &status, 0) == child[i]);
        CHECK_INT(status, 0);
    }
    CHECK_INT(ask(path, "SELECT count(*) FROM run"), 100);
    CHECK_INT(ask(path, "SELECT count(*) FROM scenario"), 2);
    CHECK_INT(ask(path, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
}

static CU_TestInfo tests[] = {
    {"what goes in comes out", what_goes_in_comes_out},
    {"lists are filtered, the newest last", lists_are_filtered},
    {"points of a sweep are kept once", points_of_a_sweep},
    {"what is no store is refused and left alone", what_is_no_store},
    {"a newer version is refused, an older one migrated with a copy", newer_and_older_versions},
    {"a full database fails with a sentence and keeps what it had", a_full_database},
    {"so does a limit of file size", a_limit_of_file_size},
    {"a file that cannot be written can be read", a_file_that_cannot_be_written},
    {"several processes write", several_writers},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    char name[] = "store-XXXXXX";
    directory = mkdtemp(name);
    if (!directory) {
        return 1;
    }
    chmod(directory, 0755);
    int status = check_main("store", tests);
    for (uint32_t i = 0; i < n_made; i++) {
        ovl_recorder_free(made[i]);
    }
    const char *remove = ovl_arena_printf(&arena, "rm -rf '%s'", directory);
    status |= system(remove);
    ovl_arena_free(&arena);
    return status;
}
