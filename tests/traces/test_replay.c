/*
 * test_replay.c - the replay of each public trace takes as long as was measured, to 1 %, and
 * docs/validation.md says so of each.
 *
 * Prints a row for each: step, measured, predicted, error, part unexplained. Without the directory
 * the test is skipped (exit status 77). Traces without any work of a device must be refused.
 */
#include "models/lower.h"
#include "sim/result.h"
#include "tools/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 };

typedef struct tally {
    const char *directory;
    const char *page; /* docs/validation.md; NULL: another directory was given */
    ovl_arena arena;  /* of names */
    uint32_t replayed, wrong, refused;
} tally;

static const char *read_text(void *context, const char *path, size_t *length, ovl_arena *arena,
                             const char **why)
{
    const char *text = context;
    (void)path, (void)why;
    *length = strlen(text);
    return ovl_arena_strdup(arena, text);
}

static bool near(ovl_time predicted, ovl_time measured)
{
    ovl_time error = predicted > measured ? predicted - measured : measured - predicted;
    return error <= measured / 100;
}

static void print(tally *t, const char *name, const ovl_against *r)
{
    double measured = (double)r->measured / (double)OVL_US;
    double predicted = (double)r->predicted / (double)OVL_US;
    double part = r->out_of ? 100 * (double)r->unexplained / (double)r->out_of : 0;
    bool good = near(r->predicted, r->measured);
    const char *row = ovl_arena_printf(
        &t->arena, "| `%s` | %s | %.3f us | %.3f us | %+.3f %% | %.2f %%%s |", name, r->what,
        measured, predicted, measured > 0 ? 100 * (predicted / measured - 1) : 0, part,
        r->predictive ? "" : ", not predictive");
    bool listed = !t->page || strstr(t->page, row);
    t->replayed++;
    t->wrong += !good || !listed;
    printf("%s%s%s\n", row, good ? "" : " WRONG", listed ? "" : " is not in docs/validation.md");
}

/* Replays `traces`, a YAML list; `may_fail`: nothing to replay is an answer too. */
static void replay(tally *t, const char *name, const char *traces, const char *step, bool may_fail)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_files files = ovl_real_files();
    ovl_document doc;
    ovl_scenario scenario;
    ovl_lowered lowered;
    ovl_result result;
    files.read = read_text;
    files.context =
        step ? ovl_arena_printf(&arena, "workload: {trace: %s, replay: {step: %s}}\n", traces, step)
             : ovl_arena_printf(&arena, "workload: {trace: %s}\n", traces);
    bool good = ovl_document_load("s.yaml", &files, &doc, &arena, &errs) &&
                ovl_scenario_decode(&doc, NULL, NULL, 0, &scenario, &arena, &errs) &&
                ovl_lower(&scenario, &arena, &lowered, &errs);
    ovl_analyse_options options = {.interference = OVL_INTERFERENCE_NONE,
                                   .worth = OVL_WORTH_NONE,
                                   .measured = good ? lowered.measured : NULL};
    good = good && ovl_analyse(&lowered.program, &options, &arena, &result, NULL, &errs);
    if (good) {
        print(t, name, result.replay);
    } else {
        t->refused++;
        t->wrong += !may_fail || errs.errors == 0;
        printf("%-42s %s\n", name, errs.count ? errs.items[errs.count - 1].text : "failed");
    }
    ovl_arena_free(&arena);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void each_file(tally *t, DIR *directory)
{
    OVL_VEC(const char *) names = {0};
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (strstr(entry->d_name, ".json") || strstr(entry->d_name, ".sqlite")) {
            ovl_vec_push(&names, ovl_arena_strdup(&t->arena, entry->d_name));
        }
    }
    if (names.len) {
        qsort(names.data, names.len, sizeof *names.data, by_name);
    }
    for (uint32_t i = 0; i < names.len; i++) {
        const char *list = ovl_arena_printf(&t->arena, "%s/%s", t->directory, names.data[i]);
        replay(t, names.data[i], list, NULL, true);
    }
    ovl_vec_free(&names);
}

/* Several ranks of one job, if they are there. */
static void job(tally *t, const char *name, const char *format, int n)
{
    const char *list = "[";
    for (int i = 0; i < n; i++) {
        char file[128];
        snprintf(file, sizeof file, "%s%d%s", name, i, format);
        list = ovl_arena_printf(&t->arena, "%s%s%s/%s", list, i ? ", " : "", t->directory, file);
        if (!ovl_file_exists(ovl_arena_printf(&t->arena, "%s/%s", t->directory, file))) {
            return;
        }
    }
    replay(t, ovl_arena_printf(&t->arena, "%s*%s", name, format),
           ovl_arena_printf(&t->arena, "%s]", list), NULL, false);
}

static void steps(tally *t)
{
    static const char *const numbers[] = {"4", "5", "6"};
    const char *path =
        ovl_arena_printf(&t->arena, "%s/hta_resnet_ncclargs_r0of2.json.gz", t->directory);
    for (size_t i = 0; i < OVL_COUNT(numbers) && ovl_file_exists(path); i++) {
        replay(t, "hta_resnet_ncclargs_r0of2.json.gz", path, numbers[i], false);
    }
}

int main(void)
{
    const char *given = getenv("OVL_TRACES");
    tally t = {.directory = given ? given : "../shared/cases/traces"};
    DIR *directory = opendir(t.directory);
    if (!directory) {
        printf("skipped: no traces in %s\n", t.directory);
        return SKIPPED;
    }
    size_t length;
    const char *why = NULL;
    ovl_files files = ovl_real_files();
    t.page =
        given ? NULL : files.read(files.context, "docs/validation.md", &length, &t.arena, &why);
    each_file(&t, directory);
    closedir(directory);
    job(&t, "param_dlrm_v100_r", "of8.json.gz", 8);
    job(&t, "hta_sampled_r", "of128.json.gz", 2);
    steps(&t);
    ovl_arena_free(&t.arena);
    printf("%" PRIu32 " replayed, %" PRIu32 " without work of a device, %" PRIu32 " wrong\n",
           t.replayed, t.refused, t.wrong);
    return t.wrong != 0 || t.replayed == 0;
}
