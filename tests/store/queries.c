/*
 * queries - the SQL of docs/store.md against a store, as it stands there.
 *
 *     queries OVL DOC FOLDER
 *
 * FOLDER gets a store in which run 7 has 41 trials, run 3 is a run as stated and sweep 1 has three
 * points. Every statement of the page must run and give rows; the one that says what ovl prints as
 * p95 must give just that, which stands in the stored report.
 */
#include "tools/csv.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const commands[] = {
    "run scenarios/buckets/last_bucket.yaml",
    "run scenarios/buckets/last_bucket.yaml",
    "run scenarios/buckets/last_bucket.yaml",
    "run scenarios/buckets/last_bucket.yaml:split_48",
    "run scenarios/buckets/last_bucket.yaml:split_48",
    "run scenarios/buckets/last_bucket.yaml:split_48",
    "run scenarios/buckets/small_buckets.yaml --trials 41 --seed 3",
    "sweep scenarios/buckets/last_bucket.yaml --over interference=none,shared,measured",
};

static bool make(const char *ovl, const char *path)
{
    for (size_t i = 0; i < OVL_COUNT(commands); i++) {
        char line[2000];
        snprintf(line, sizeof line, "%s %s --store %s >/dev/null", ovl, commands[i], path);
        if (system(line) != 0) {
            fprintf(stderr, "failed: %s\n", line);
            return false;
        }
    }
    return true;
}

/* The whole of a file; the caller frees it. */
static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!file || !text) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* What ovl prints as p95 of the step of run 7, in milliseconds. */
static double printed(sqlite3 *db)
{
    sqlite3_stmt *q = NULL;
    double value = (double)NAN;
    sqlite3_prepare_v2(db, "SELECT json FROM report WHERE run = 7", -1, &q, NULL);
    if (sqlite3_step(q) == SQLITE_ROW) {
        const char *time = strstr((const char *)sqlite3_column_text(q, 0), "\"time\": {");
        const char *p95 = time ? strstr(time, "\"p95_s\": ") : NULL;
        value = p95 ? strtod(p95 + strlen("\"p95_s\": "), NULL) * 1000 : value;
    }
    sqlite3_finalize(q);
    return value;
}

/* One statement, with what stands before it; gives how many were wrong, and the rest of the text.
 */
static int run_one(sqlite3 *db, const char *sql, const char **rest)
{
    sqlite3_stmt *q = NULL;
    int rows = 0, wrong = 0, code = sqlite3_prepare_v2(db, sql, -1, &q, rest);
    if (code != SQLITE_OK) {
        fprintf(stderr, "wrong: %s\n%.300s\n", sqlite3_errmsg(db), sql);
        *rest = "";
        return 1;
    }
    bool p95 = strstr(sql, "p95") && strstr(sql, "p95") < *rest;
    while (q && sqlite3_step(q) == SQLITE_ROW) {
        double value = sqlite3_column_double(q, 0);
        if (p95 && fabs(value - printed(db)) > 1e-9) {
            fprintf(stderr, "p95 is %.12g ms in SQL, and ovl printed %.12g ms\n", value,
                    printed(db));
            wrong = 1;
        }
        rows++;
    }
    if (q && rows == 0) {
        fprintf(stderr, "no rows: %.*s\n", (int)(*rest - sql), sql);
        wrong = 1;
    }
    sqlite3_finalize(q);
    return wrong;
}

static int run_page(sqlite3 *db, char *page)
{
    int wrong = 0, n = 0;
    for (char *at = strstr(page, "```sql\n"); at; at = strstr(at, "```sql\n")) {
        char *end = strstr(at + 7, "```");
        *end = '\0';
        for (const char *sql = at + 7; strchr(sql, ';');) {
            wrong += run_one(db, sql, &sql);
            n++;
        }
        at = end + 1;
    }
    printf("%d statements, %d wrong\n", n, wrong);
    return wrong || n == 0;
}

int main(int argc, char **argv)
{
    char path[1000];
    sqlite3 *db = NULL;
    if (argc != 4) {
        fprintf(stderr, "queries OVL DOC FOLDER\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/queries.db", argv[3]);
    remove(path);
    if (!make(argv[1], path) || sqlite3_open(path, &db) != SQLITE_OK) {
        return 1;
    }
    char *page = read_all(argv[2]);
    int status = run_page(db, page);
    free(page);
    sqlite3_close(db);
    return status;
}
