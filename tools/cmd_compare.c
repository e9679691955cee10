/* ovl compare: which runs the words mean, then the comparison. */
#include "tools/files.h"
#include "tools/keep.h"
#include "tools/report.h"
#include "tools/trials.h"
#include "tools/work.h"

#include <string.h>

static const ovl_mark nowhere = {0};

typedef struct job {
    ovl_work work;
    const ovl_args *args;
    ovl_ask ask;
    const char *store; /* NULL: nothing is kept */
    ovl_trials trials; /* n is 0: none */
} job;

/* Before anything is printed: who reads it may stop reading, which ends the program. */
static bool keep(job *j, ovl_kept *runs, uint32_t n)
{
    return j->store && ovl_keep_all(&j->work, j->store, runs, n);
}

static void say_kept(const job *j, const ovl_kept *runs, uint32_t n)
{
    if (ovl_args_has(j->args, "json")) {
        return;
    }
    ovl_out_text(j->work.shell->out, n == 1 ? "\nStored as run" : "\nStored as runs");
    for (uint32_t i = 0; i < n; i++) {
        ovl_out_printf(j->work.shell->out, "%s %" PRId64, i ? "," : "", runs[i].run);
    }
    ovl_out_printf(j->work.shell->out, " in %s\n", j->store);
}

static bool has_variant(const ovl_document *doc, const char *name)
{
    for (uint32_t i = 0; i < doc->n_variants; i++) {
        if (strcmp(doc->variants[i], name) == 0) {
            return true;
        }
    }
    return strcmp(name, "base") == 0;
}

static int finish(job *j, const ovl_comparison *all, uint32_t n)
{
    int status = OVL_EXIT_DONE;
    for (uint32_t i = 0; i < n; i++) {
        bool worse = all[i].verdict == OVL_WORSE && ovl_args_has(j->args, "fail-if-worse");
        bool hazard = ovl_result_status(all[i].a) || ovl_result_status(all[i].b);
        status = worse || hazard ? OVL_EXIT_FAILED : status;
    }
    return status;
}

static void write_pair(job *j, const ovl_comparison *c)
{
    ovl_out file, *out = ovl_work_output(j->args, j->work.shell, &file);
    if (ovl_args_has(j->args, "json")) {
        ovl_compare_json(out, c);
    } else {
        ovl_compare_text(out, c);
    }
    ovl_work_written(&j->work, j->args, out);
}

static void write_paired(job *j, const ovl_paired *pair)
{
    ovl_out file, *out = ovl_work_output(j->args, j->work.shell, &file);
    if (ovl_args_has(j->args, "json")) {
        ovl_paired_json(out, pair);
    } else {
        ovl_paired_text(out, pair);
    }
    ovl_work_written(&j->work, j->args, out);
}

/* One run of each as stated, for the verdict without variation, then the trials of each. */
static bool try_side(job *j, const ovl_document *doc, const char *variant, ovl_trials *t,
                     ovl_result *result, bool *vary)
{
    ovl_prepared prepared = {0};
    const ovl_variation *v = &prepared.scenario.variation;
    *t = j->trials;
    if (!ovl_work_prepare(&j->work, doc, variant, &prepared) ||
        !ovl_work_analyse(&j->work, &prepared, &j->ask, result, NULL)) {
        return false;
    }
    *vary |= v->given || prepared.lowered.n_laws;
    return ovl_trials_run(&j->work, &prepared, t);
}

static void say_nothing_varies(job *j)
{
    ovl_error(&j->work.errs, OVL_E_INPUT, nowhere,
              "nothing varies in any of them, so every trial would be the same; say what does: "
              "`variation: {kernels: {cv: 3 %%}}`");
}

static void write_paired_all(job *j, const ovl_paired_all *all)
{
    ovl_out file, *out = ovl_work_output(j->args, j->work.shell, &file);
    if (ovl_args_has(j->args, "json")) {
        ovl_paired_all_json(out, all);
    } else {
        ovl_paired_all_text(out, all);
    }
    ovl_work_written(&j->work, j->args, out);
}

/* The base, then each variant, all with the same draws. */
static int compare_all_trials(job *j, const ovl_document *doc)
{
    uint32_t n = doc->n_variants;
    ovl_arena *arena = &j->work.arena;
    ovl_trials *trials = OVL_NEW_ARRAY(arena, ovl_trials, (size_t)n + 1);
    ovl_result *stated = OVL_NEW_ARRAY(arena, ovl_result, (size_t)n + 1);
    ovl_paired *items = OVL_NEW_ARRAY(arena, ovl_paired, n);
    bool vary = false, worse = false, hazard = false;
    for (uint32_t i = 0; i <= n; i++) {
        const char *variant = i ? doc->variants[i - 1] : NULL;
        if (!try_side(j, doc, variant, &trials[i], &stated[i], &vary)) {
            return OVL_EXIT_DONE; /* the errors have the status */
        }
        hazard |= ovl_result_status(&stated[i]) != 0;
    }
    if (!vary) {
        say_nothing_varies(j);
        return OVL_EXIT_DONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        ovl_comparison c;
        ovl_compare(&stated[0], &stated[i + 1], arena, &c);
        ovl_trials_pair(&trials[0], &trials[i + 1], arena, &items[i]);
        items[i].nominal = c.sentence;
        worse |= items[i].change.low > 0;
    }
    ovl_paired_all all = {&trials[0], items, n, OVL_NONE};
    ovl_paired_choose(&all);
    ovl_kept *runs = OVL_NEW_ARRAY(arena, ovl_kept, (size_t)n + 1);
    for (uint32_t i = 0; i <= n; i++) {
        runs[i] = (ovl_kept){doc, i ? doc->variants[i - 1] : NULL, &stated[i], 0, &trials[i]};
    }
    bool kept = keep(j, runs, n + 1);
    write_paired_all(j, &all);
    if (kept) {
        say_kept(j, runs, n + 1);
    }
    worse = worse && ovl_args_has(j->args, "fail-if-worse");
    return worse || hazard ? OVL_EXIT_FAILED : OVL_EXIT_DONE;
}

static int compare_trials(job *j, const ovl_document *a_doc, const char *a_variant,
                          const ovl_document *b_doc, const char *b_variant)
{
    ovl_trials a, b;
    ovl_result stated[2];
    ovl_comparison c;
    ovl_paired pair;
    bool vary = false;
    if (!try_side(j, a_doc, a_variant, &a, &stated[0], &vary) ||
        !try_side(j, b_doc, b_variant, &b, &stated[1], &vary)) {
        return OVL_EXIT_DONE; /* the errors have the status */
    }
    if (!vary) {
        say_nothing_varies(j);
        return OVL_EXIT_DONE;
    }
    ovl_compare(&stated[0], &stated[1], &j->work.arena, &c);
    ovl_trials_pair(&a, &b, &j->work.arena, &pair);
    pair.nominal = c.sentence;
    ovl_kept runs[] = {{a_doc, a_variant, &stated[0], 0, &a},
                       {b_doc, b_variant, &stated[1], 0, &b}};
    bool kept = keep(j, runs, 2);
    write_paired(j, &pair);
    if (kept) {
        say_kept(j, runs, 2);
    }
    bool worse = pair.change.low > 0 && ovl_args_has(j->args, "fail-if-worse");
    bool hazard = ovl_result_status(&stated[0]) || ovl_result_status(&stated[1]);
    return worse || hazard ? OVL_EXIT_FAILED : OVL_EXIT_DONE;
}

static int compare_pair(job *j, const ovl_document *a_doc, const char *a_variant,
                        const ovl_document *b_doc, const char *b_variant)
{
    ovl_result a, b;
    ovl_comparison c;
    if (j->trials.n) {
        return compare_trials(j, a_doc, a_variant, b_doc, b_variant);
    }
    bool good = ovl_work_result(&j->work, a_doc, a_variant, &j->ask, &a);
    good = ovl_work_result(&j->work, b_doc, b_variant, &j->ask, &b) && good;
    if (!good) {
        return OVL_EXIT_DONE; /* the errors have the status */
    }
    ovl_compare(&a, &b, &j->work.arena, &c);
    ovl_kept runs[] = {{a_doc, a_variant, &a, 0, NULL}, {b_doc, b_variant, &b, 0, NULL}};
    bool kept = keep(j, runs, 2);
    write_pair(j, &c);
    if (kept) {
        say_kept(j, runs, 2);
    }
    return finish(j, &c, 1);
}

/* What the store has of two runs. */
typedef struct stored {
    ovl_stored_run run[2];
    ovl_result result[2]; /* simulated again */
    ovl_trials trials[2]; /* as they were; n is 0: none */
} stored;

static bool read_stored(job *j, ovl_store *store, stored *s, int i)
{
    ovl_trial_record kept;
    ovl_stored_run *run = &s->run[i];
    if (!ovl_store_find(store, j->args->operands[i], run, &j->work.arena, &j->work.errs) ||
        !ovl_again(&j->work, store, run, &j->ask, &s->result[i]) ||
        !ovl_store_trials(store, run->run, &kept, &j->work.arena, &j->work.errs)) {
        return false;
    }
    s->trials[i] = (ovl_trials){.n = kept.n,
                                .seed = kept.seed,
                                .scenario = run->scenario,
                                .variant = run->variant,
                                .interference = run->model,
                                .nominal = run->figures.value[OVL_M_STEP],
                                .nominal_uncovered = run->figures.value[OVL_M_UNCOVERED]};
    s->trials[i].step = OVL_NEW_ARRAY(&j->work.arena, ovl_time, kept.n);
    s->trials[i].uncovered = OVL_NEW_ARRAY(&j->work.arena, ovl_time, kept.n);
    if (kept.n) {
        memcpy(s->trials[i].step, kept.step, kept.n * sizeof *kept.step);
        memcpy(s->trials[i].uncovered, kept.uncovered, kept.n * sizeof *kept.uncovered);
    }
    return true;
}

static int compare_stored_trials(job *j, stored *s, const ovl_comparison *c)
{
    ovl_paired pair;
    const uint32_t a = s->trials[0].n, b = s->trials[1].n;
    if (a != b && s->trials[0].seed == s->trials[1].seed) {
        ovl_warning(&j->work.errs, nowhere,
                    "run %s has %s and run %s %" PRIu32 ": of both the first %" PRIu32 " count",
                    j->args->operands[0], ovl_counted(&j->work.arena, a, "trial"),
                    j->args->operands[1], b, OVL_MIN(a, b));
    }
    ovl_trials_pair_stored(&s->trials[0], &s->trials[1], &j->work.arena, &pair);
    pair.nominal = c->sentence;
    write_paired(j, &pair);
    bool worse = pair.change.low > 0 && ovl_args_has(j->args, "fail-if-worse");
    return worse || ovl_result_status(c->a) || ovl_result_status(c->b) ? OVL_EXIT_FAILED
                                                                       : OVL_EXIT_DONE;
}

/* Options that say how to simulate: what is stored was simulated already. */
static bool check_stored_options(job *j)
{
    static const char *const names[] = {"set", "interference", "expand"};
    for (size_t i = 0; i < OVL_COUNT(names); i++) {
        if (ovl_args_has(j->args, names[i])) {
            ovl_error(&j->work.errs, OVL_E_USAGE, nowhere,
                      "--%s has no effect on runs that are stored: leave it out", names[i]);
        }
    }
    return j->work.errs.errors == 0;
}

/* Two numbers of runs: their trials if both have some, else the runs, simulated again. */
static int compare_stored(job *j)
{
    ovl_store store;
    stored s;
    ovl_comparison c;
    if (!check_stored_options(j) ||
        !ovl_store_open(&store, j->store, OVL_STORE_READ, &j->work.errs)) {
        return OVL_EXIT_DONE;
    }
    bool good = read_stored(j, &store, &s, 0);
    good = read_stored(j, &store, &s, 1) && good;
    ovl_store_close(&store);
    if (!good) {
        return OVL_EXIT_DONE; /* the errors have the status */
    }
    ovl_compare(&s.result[0], &s.result[1], &j->work.arena, &c);
    if (s.trials[0].n > 1 && s.trials[1].n > 1) {
        return compare_stored_trials(j, &s, &c);
    }
    if (s.trials[0].n || s.trials[1].n) {
        ovl_warning(&j->work.errs, nowhere,
                    "only one of the runs has trials: both are compared as stated");
    }
    write_pair(j, &c);
    return finish(j, &c, 1);
}

static bool is_number(const char *word)
{
    return *word && strspn(word, "0123456789") == strlen(word) && !ovl_file_exists(word);
}

static int compare_all(job *j, const ovl_document *doc)
{
    uint32_t n = doc->n_variants;
    if (n == 0) {
        ovl_error(&j->work.errs, OVL_E_USAGE, nowhere,
                  "%s has no variants to compare; name two files, or add `variants:`", doc->file);
        return OVL_EXIT_DONE;
    }
    if (j->trials.n) {
        return compare_all_trials(j, doc);
    }
    ovl_result *results = OVL_NEW_ARRAY(&j->work.arena, ovl_result, (size_t)n + 1);
    ovl_comparison *items = OVL_NEW_ARRAY(&j->work.arena, ovl_comparison, n);
    bool good = ovl_work_result(&j->work, doc, NULL, &j->ask, &results[n]);
    for (uint32_t i = 0; i < n; i++) {
        good = ovl_work_result(&j->work, doc, doc->variants[i], &j->ask, &results[i]) && good;
        if (good) {
            ovl_compare(&results[n], &results[i], &j->work.arena, &items[i]);
        }
    }
    if (!good) {
        return OVL_EXIT_DONE;
    }
    ovl_summary summary = {&results[n], items, n, OVL_NONE, OVL_NONE};
    ovl_summary_choose(&summary);
    ovl_kept *runs = OVL_NEW_ARRAY(&j->work.arena, ovl_kept, (size_t)n + 1);
    runs[0] = (ovl_kept){doc, NULL, &results[n], 0, NULL};
    for (uint32_t i = 0; i < n; i++) {
        runs[i + 1] = (ovl_kept){doc, doc->variants[i], &results[i], 0, NULL};
    }
    bool kept = keep(j, runs, n + 1);
    ovl_out file, *out = ovl_work_output(j->args, j->work.shell, &file);
    if (ovl_args_has(j->args, "json")) {
        ovl_summary_json(out, &summary);
    } else {
        ovl_summary_text(out, &summary);
    }
    ovl_work_written(&j->work, j->args, out);
    if (kept) {
        say_kept(j, runs, n + 1);
    }
    return finish(j, items, n);
}

/* A word with a dot or slash was meant as a file; any other is looked up as a variant, which gives
 * the error that names the nearest one. */
static bool names_file(const char *word)
{
    return strpbrk(word, "./") != NULL;
}

static int compare_two_words(job *j, ovl_side first, const ovl_document *doc, const char *word)
{
    ovl_document other;
    ovl_side second = ovl_side_of(word, &j->work.arena);
    bool file = ovl_file_exists(second.path);
    if (has_variant(doc, word) || (!file && !names_file(word))) {
        return compare_pair(j, doc, first.variant, doc, word);
    }
    if (!file) {
        ovl_error(&j->work.errs, OVL_E_USAGE, nowhere,
                  "\"%s\" is neither a variant of %s nor a file", word, doc->file);
    } else if (ovl_work_load(&j->work, second.path, &other)) {
        return compare_pair(j, doc, first.variant, &other, second.variant);
    }
    return OVL_EXIT_DONE; /* the errors have the status */
}

/* Numbers and nothing else, and the first is no file: runs of the store were meant. */
static bool meant_runs(const job *j)
{
    bool numbers = j->store && !ovl_file_exists(j->args->operands[0]);
    for (uint32_t i = 0; i < j->args->n_operands; i++) {
        numbers = numbers && is_number(j->args->operands[i]);
    }
    return numbers;
}

static int dispatch(job *j)
{
    const ovl_args *args = j->args;
    ovl_document doc;
    if (j->store && args->n_operands == 2 && is_number(args->operands[0]) &&
        is_number(args->operands[1]) && !j->trials.n) {
        return compare_stored(j);
    }
    if (meant_runs(j) && args->n_operands != 2) {
        ovl_error(
            &j->work.errs, OVL_E_USAGE, nowhere,
            "two runs of %s are compared: give two of the numbers that ovl history lists; found "
            "%" PRIu32,
            j->store, args->n_operands);
        return OVL_EXIT_DONE;
    }
    ovl_side first = ovl_side_of(args->operands[0], &j->work.arena);
    if (!ovl_work_load(&j->work, first.path, &doc)) {
        return OVL_EXIT_DONE;
    }
    if (args->n_operands == 1 && !first.variant) {
        return compare_all(j, &doc);
    }
    if (args->n_operands == 2) {
        return compare_two_words(j, first, &doc, args->operands[1]);
    }
    if (args->n_operands == 3 && !first.variant) {
        return compare_pair(j, &doc, args->operands[1], &doc, args->operands[2]);
    }
    ovl_error(&j->work.errs, OVL_E_USAGE, nowhere,
              args->n_operands == 1
                  ? "compare \"%s\" with what? Name another variant or file"
                  : "\"%s\" names a variant, and two more follow; compare takes two runs",
              args->operands[0]);
    return OVL_EXIT_DONE;
}

int ovl_cmd_compare(const ovl_args *args, const ovl_shell *shell)
{
    job j = {.args = args, .ask = ovl_work_ask(args)};
    ovl_work_begin(&j.work, shell);
    ovl_work_sets(&j.work, args);
    j.store = ovl_work_store(&j.work, args);
    int status = ovl_trials_read(&j.work, args, &j.trials) ? dispatch(&j) : OVL_EXIT_DONE;
    return ovl_work_end(&j.work, status);
}
