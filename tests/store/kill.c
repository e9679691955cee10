/*
 * kill - what a store keeps when its writers are killed.
 *
 *     kill SCENARIO [KILLS [WRITERS [SEED]]]      default 40 kills of 2 writers
 *
 * Writers add runs, each in its transaction, and say through a pipe which are committed. They are
 * killed (SIGKILL) at arbitrary moments, all of a round at once, and started again on the same
 * file. After each round the file must open, pass integrity_check and foreign_key_check, and hold
 * every run that was said to be committed, with all its rows. Prints one line; exit status 0 if
 * nothing was lost.
 */
#include "tools/files.h"
#include "tools/store.h"
#include "tools/sweep.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct setting {
    const char *scenario, *store;
    ovl_arena arena;
    ovl_errs errs;
    ovl_recorder recorder;
    ovl_document doc;
    ovl_result result;
    ovl_figures figures;
    OVL_VEC(int64_t) said; /* runs that were committed */
    uint32_t rows;         /* of each run, over all tables */
} setting;

static int complain(const ovl_errs *errs)
{
    for (uint32_t i = 0; i < errs->count; i++) {
        fprintf(stderr, "%s\n", ovl_err_text(errs->arena, &errs->items[i]));
    }
    return 1;
}

static bool prepare(setting *s)
{
    s->errs.arena = &s->arena;
    s->recorder = (ovl_recorder){.inner = ovl_real_files(), .arena = &s->arena};
    ovl_files files = ovl_recorder_files(&s->recorder);
    ovl_sweep one = {.doc = &s->doc, .axes = {.n_points = 1}};
    bool good = ovl_document_load(s->scenario, &files, &s->doc, &s->arena, &s->errs) &&
                ovl_sweep_result(&one, 0, OVL_WORTH_NONE, &s->result, &s->arena, &s->errs);
    if (good) {
        ovl_figures_of(&s->result, &s->figures);
    }
    return good;
}

static ovl_run_record record_of(const setting *s)
{
    return (ovl_run_record){.files = &s->recorder,
                            .scenario = "killed",
                            .model = "none",
                            .version = "0",
                            .figures = &s->figures,
                            .result = &s->result,
                            .json = "{}",
                            .text = "text"};
}

/* Never comes back. */
static void write_runs(const setting *s, int pipe_end)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_store store;
    const ovl_run_record record = record_of(s);
    if (!ovl_store_open(&store, s->store, OVL_STORE_WRITE, &errs)) {
        _exit(complain(&errs));
    }
    for (;;) {
        int64_t run = ovl_store_add(&store, &record, &errs);
        if (!run) {
            _exit(complain(&errs));
        }
        if (write(pipe_end, &run, sizeof run) != sizeof run) {
            _exit(0);
        }
    }
}

static void hear(setting *s, int pipe_end)
{
    int64_t run;
    struct pollfd fd = {pipe_end, POLLIN, 0};
    while (poll(&fd, 1, 0) == 1 && read(pipe_end, &run, sizeof run) == sizeof run) {
        ovl_vec_push(&s->said, run);
    }
}

static uint64_t next(uint64_t *x)
{
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *x >> 33;
}

/* One round: writers for up to 80 ms, then SIGKILL. False if a writer ended by itself. */
static bool round_of(setting *s, unsigned writers, uint64_t *seed)
{
    int ends[2];
    pid_t pids[16];
    bool good = pipe(ends) == 0;
    for (unsigned w = 0; good && w < writers; w++) {
        pids[w] = fork();
        if (pids[w] == 0) {
            write_runs(s, ends[1]);
        }
    }
    close(ends[1]);
    struct timespec wait = {0, (long)(next(seed) % 80000) * 1000};
    nanosleep(&wait, NULL);
    for (unsigned w = 0; good && w < writers; w++) {
        kill(pids[w], SIGKILL);
    }
    for (unsigned w = 0; w < writers; w++) {
        int status = 0;
        good = waitpid(pids[w], &status, 0) == pids[w] && WIFSIGNALED(status) && good;
    }
    hear(s, ends[0]);
    close(ends[0]);
    return good;
}

static int64_t ask(ovl_store *store, const char *sql, int64_t run, const char **text, ovl_arena *a)
{
    sqlite3_stmt *q = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(store->db, sql, -1, &q, NULL) == SQLITE_OK) {
        if (run) {
            sqlite3_bind_int64(q, 1, run);
        }
        if (sqlite3_step(q) == SQLITE_ROW) {
            value = sqlite3_column_int64(q, 0);
            *text = ovl_arena_strdup(a, (const char *)sqlite3_column_text(q, 0));
        }
    }
    sqlite3_finalize(q);
    return value;
}

#define ROWS                                                                                       \
    "SELECT (SELECT count(*) FROM metric WHERE run = ?1) + (SELECT count(*) FROM rank_time WHERE " \
    "run = ?1) + (SELECT count(*) FROM rank_idle WHERE run = ?1) + (SELECT count(*) FROM "         \
    "collective WHERE run = ?1) + (SELECT count(*) FROM "                                          \
    "critical_path WHERE run = ?1) + (SELECT count(*) FROM report WHERE run = ?1)"

/* Whether the file is whole and every run that was said is there with `rows` rows. */
static bool check(setting *s)
{
    ovl_arena arena = {0};
    ovl_store store;
    const char *text = "";
    bool good = ovl_store_open(&store, s->store, OVL_STORE_WRITE, &s->errs);
    if (!good) {
        return complain(&s->errs) == 0;
    }
    ask(&store, "PRAGMA integrity_check", 0, &text, &arena);
    int64_t strays = ask(&store, "SELECT count(*) FROM pragma_foreign_key_check", 0, &text, &arena);
    ask(&store, "PRAGMA integrity_check", 0, &text, &arena);
    if (strcmp(text, "ok") != 0 || strays != 0) {
        fprintf(stderr, "integrity: %s, %d strays\n", text, (int)strays);
        good = false;
    }
    for (uint32_t i = 0; i < s->said.len; i++) {
        int64_t rows = ask(&store, ROWS, s->said.data[i], &text, &arena);
        if (rows != s->rows) {
            fprintf(stderr, "run %lld: %d rows\n", (long long)s->said.data[i], (int)rows);
            good = false;
        }
    }
    ovl_store_close(&store);
    ovl_arena_free(&arena);
    return good;
}

int main(int argc, char **argv)
{
    setting s = {.scenario = argv[1]};
    unsigned kills = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 40;
    unsigned writers = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 2;
    uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    char directory[] = "kill-XXXXXX";
    unsigned done = 0;
    if (argc < 2 || writers < 1 || writers > 16 || !mkdtemp(directory) || !prepare(&s)) {
        fprintf(stderr, "kill SCENARIO [KILLS [WRITERS [SEED]]]\n");
        return complain(&s.errs);
    }
    s.store = ovl_arena_printf(&s.arena, "%s/runs.db", directory);
    const uint32_t kinds = OVL_TERM_COUNT + OVL_IDLE_COUNT - 1; /* nothing pauses */
    s.rows = s.result.n_ranks * kinds + s.result.n_collectives + s.result.n_path + 1;
    for (uint32_t m = 0; m < ovl_n_metrics; m++) {
        s.rows += ovl_has_figure(&s.figures, m);
    }
    bool good = true;
    while (good && done < kills) {
        good = round_of(&s, writers, &seed) && check(&s);
        done += writers;
    }
    printf("%u kills of %u writers, %u runs said to be committed, %s\n", done, writers,
           (unsigned)s.said.len, good ? "none lost" : "FAILED");
    for (const char *const *end = (const char *const[]){"", "-wal", "-shm", NULL}; *end; end++) {
        unlink(ovl_arena_printf(&s.arena, "%s%s", s.store, *end));
    }
    rmdir(directory);
    int status = good && s.said.len ? 0 : 1;
    ovl_vec_free(&s.said);
    ovl_recorder_free(&s.recorder);
    ovl_arena_free(&s.arena);
    return status;
}
