#include "tools/keep.h"

#include "tools/report.h"

#include <stdlib.h>
#include <string.h>

/* --- Texts in memory --- */

typedef void (*writer)(ovl_out *out, const void *of);

static void result_json(ovl_out *out, const void *of)
{
    ovl_report_json(out, of);
}

static void result_text(ovl_out *out, const void *of)
{
    ovl_report_text(out, of);
}

static void trials_json(ovl_out *out, const void *of)
{
    ovl_trials_json(out, of);
}

static void trials_text(ovl_out *out, const void *of)
{
    ovl_trials_text(out, of);
}

static const char *written(writer write, const void *of, ovl_arena *arena)
{
    char *text = NULL;
    size_t length = 0;
    ovl_out out;
    FILE *file = open_memstream(&text, &length);
    if (!file) {
        ovl_out_of_memory(0);
    }
    ovl_out_stream(&out, file);
    write(&out, of);
    ovl_out_close(&out);
    if (fclose(file) != 0) {
        ovl_out_of_memory(length);
    }
    const char *kept = ovl_arena_strndup(arena, text, length);
    free(text);
    return kept;
}

static const char *text_at(const ovl_node *node, const char *key)
{
    const ovl_node *value = ovl_node_get(node, key);
    return value && value->kind == OVL_NODE_SCALAR ? value->text : NULL;
}

void ovl_run_record_of(ovl_work *work, const ovl_document *doc, ovl_run_record *record)
{
    const ovl_node *gpu = ovl_node_get(ovl_node_get(doc->root, "hardware"), "gpu");
    const char *name = text_at(doc->root, "name");
    *record = (ovl_run_record){
        .files = ovl_work_recorder(work, doc),
        .scenario = name ? name : doc->file,
        .sets = work->sets,
        .n_sets = work->n_sets,
        .gpu = text_at(gpu, "name"),
        .version = OVL_VERSION,
    };
}

void ovl_run_reports(const ovl_result *result, ovl_arena *arena, ovl_run_record *record)
{
    record->json = written(result_json, result, arena);
    record->text = written(result_text, result, arena);
}

static bool keep(ovl_work *work, ovl_store *store, ovl_kept *kept)
{
    ovl_arena arena = {0};
    ovl_run_record record;
    ovl_figures figures;
    ovl_run_record_of(work, kept->doc, &record);
    ovl_figures_of(kept->result, &figures);
    record.variant = kept->variant;
    record.model = kept->result->interference;
    record.figures = &figures;
    record.result = kept->result;
    record.scenario = kept->result->scenario ? kept->result->scenario : record.scenario;
    ovl_trial_record trials;
    if (kept->trials) {
        const ovl_trials *t = kept->trials;
        trials = (ovl_trial_record){t->n,     t->seed,  t->step,    t->uncovered,
                                    t->ranks, t->names, t->n_ranks, t->n_names};
        record.trials = &trials;
        record.json = written(trials_json, t, &arena);
        record.text = written(trials_text, t, &arena);
    } else {
        ovl_run_reports(kept->result, &arena, &record);
    }
    kept->run = ovl_store_add(store, &record, &work->errs);
    ovl_arena_free(&arena);
    return kept->run != 0;
}

bool ovl_keep_all(ovl_work *work, const char *path, ovl_kept *runs, uint32_t n)
{
    ovl_store store;
    if (!ovl_store_open(&store, path, OVL_STORE_WRITE, &work->errs)) {
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; good && i < n; i++) {
        good = keep(work, &store, &runs[i]);
    }
    ovl_store_close(&store);
    return good;
}

int64_t ovl_keep(ovl_work *work, const char *store, const ovl_document *doc, const char *variant,
                 const ovl_result *result)
{
    ovl_kept kept = {doc, variant, result, 0, NULL};
    return ovl_keep_all(work, store, &kept, 1) ? kept.run : 0;
}

/* --- Once more --- */

static void check_same(ovl_work *work, const ovl_store *store, const ovl_stored_run *run,
                       const ovl_result *result)
{
    char was[OVL_UNITS_TEXT], is[OVL_UNITS_TEXT];
    if (result->step == run->figures.value[OVL_M_STEP]) {
        return;
    }
    ovl_warning(&work->errs, (ovl_mark){0},
                "run %" PRId64 " of \"%s\" was %s long when ovl %s stored it; ovl %s gives %s",
                run->run, store->path, ovl_print_time(was, run->figures.value[OVL_M_STEP]),
                run->version, OVL_VERSION, ovl_print_time(is, result->step));
}

bool ovl_again(ovl_work *work, ovl_store *store, const ovl_stored_run *run, const ovl_ask *ask,
               ovl_result *result)
{
    ovl_recorder recorder = {.inner = work->files, .arena = &work->arena};
    ovl_document doc;
    const ovl_set *sets_before = work->sets;
    uint32_t n_before = work->n_sets;
    ovl_files files_before = work->files;
    ovl_set *sets = OVL_NEW_ARRAY(&work->arena, ovl_set, run->n_changes);
    for (uint32_t i = 0; i < run->n_changes; i++) {
        sets[i].text = run->changes[i];
    }
    bool good = ovl_store_inputs(store, run->run, &recorder, &work->errs);
    work->sets = sets;
    work->n_sets = run->n_changes;
    work->files = ovl_recorder_again(&recorder);
    good = good && ovl_document_load(run->path, &work->files, &doc, &work->arena, &work->errs) &&
           ovl_work_result(work, &doc, run->variant, ask, result);
    work->sets = sets_before;
    work->n_sets = n_before;
    work->files = files_before;
    ovl_recorder_free(&recorder);
    if (good) {
        check_same(work, store, run, result);
    }
    return good;
}

const char *ovl_stored_text(const ovl_stored_run *run, ovl_arena *arena)
{
    const char *text = run->variant;
    for (uint32_t i = 0; i < run->n_changes; i++) {
        text = ovl_arena_printf(arena, "%s, %s", text, run->changes[i]);
    }
    return run->trials ? ovl_arena_printf(arena, "%s, %" PRId64 " trials", text, run->trials)
                       : text;
}
