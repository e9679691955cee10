#include "tools/work.h"

#include "tools/files.h"
#include "tools/fits.h"
#include "tools/part.h"

#include <string.h>

typedef struct ovl_work_texts {
    ovl_recorder recorder;
    const char *file; /* of the document */
} ovl_work_texts;

/* --- What is read must not be what is written --- */

void ovl_work_spare(const char *output, const char *input, ovl_errs *errs)
{
    if (output && ovl_file_same(output, input)) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                  "--output \"%s\" would replace what is read from \"%s\": name another file",
                  output, input);
    }
}

static const char *read_spared(void *context, const char *path, size_t *length, ovl_arena *arena,
                               const char **why)
{
    ovl_work *work = context;
    const ovl_files real = ovl_real_files();
    ovl_work_spare(work->shell->output, path, &work->errs);
    return real.read(real.context, path, length, arena, why);
}

static bool see_spared(void *context, const char *path, ovl_arena *arena, ovl_seen *seen,
                       ovl_errs *errs)
{
    ovl_work *work = context;
    const ovl_files real = ovl_real_files();
    ovl_work_spare(work->shell->output, path, &work->errs);
    return real.see(real.context, path, arena, seen, errs);
}

/* --- The whole --- */

void ovl_work_begin(ovl_work *work, const ovl_shell *shell)
{
    *work = (ovl_work){.shell = shell, .files = {read_spared, work, see_spared}};
    work->errs.arena = &work->arena;
    ovl_lookout_begin(&work->lookout, shell->err);
}

/* In the order they were given: later ones win, whatever they are called. */
void ovl_work_sets(ovl_work *work, const ovl_args *args)
{
    ovl_set *sets = OVL_NEW_ARRAY(&work->arena, ovl_set, args->n_options);
    for (uint32_t i = 0; i < args->n_options; i++) {
        const char *name = args->options[i].option->name, *value = args->options[i].value;
        if (strcmp(name, "set") == 0) {
            sets[work->n_sets++].text = value;
        } else if (strcmp(name, "interference") == 0) {
            sets[work->n_sets++].text = ovl_arena_printf(&work->arena, "interference=%s", value);
        } else if (strcmp(name, "expand") == 0) {
            sets[work->n_sets++].text = ovl_arena_printf(&work->arena, "expand=%s", value);
        }
    }
    work->sets = sets;
}

ovl_side ovl_side_of(const char *word, ovl_arena *arena)
{
    const char *colon = strrchr(word, ':');
    if (!colon || ovl_file_exists(word)) {
        return (ovl_side){word, NULL};
    }
    char *path = ovl_arena_strndup(arena, word, (size_t)(colon - word));
    return ovl_file_exists(path) ? (ovl_side){path, colon + 1} : (ovl_side){word, NULL};
}

bool ovl_work_side(ovl_work *work, const ovl_args *args, ovl_side *side)
{
    const char *variant = ovl_args_value(args, "variant");
    *side = ovl_side_of(args->operands[0], &work->arena);
    if (variant && side->variant) {
        ovl_error(&work->errs, OVL_E_USAGE, (ovl_mark){0},
                  "\"%s\" names a variant, and so does --variant %s", args->operands[0], variant);
        return false;
    }
    side->variant = variant ? variant : side->variant;
    return true;
}

ovl_ask ovl_work_ask(const ovl_args *args)
{
    const char *value = ovl_args_value(args, "worth");
    ovl_ask ask = {.worth = OVL_WORTH_DEFAULT,
                   .no_fold = ovl_args_has(args, "no-fold"),
                   .no_skip = ovl_args_has(args, "no-skip")};
    if (value && strcmp(value, "all") == 0) {
        ask.worth = OVL_WORTH_ALL;
    } else if (value && strcmp(value, "none") == 0) {
        ask.worth = OVL_WORTH_NONE;
    } else if (value) {
        ask.worth = OVL_WORTH_NAME;
        ask.worth_name = value;
    }
    return ask;
}

const char *ovl_work_store(ovl_work *work, const ovl_args *args)
{
    const char *path = ovl_args_value(args, "store");
    work->keeps |= path != NULL;
    return path;
}

const char *ovl_work_need_store(ovl_work *work, const ovl_args *args)
{
    const char *path = ovl_work_store(work, args);
    if (!path) {
        ovl_error(&work->errs, OVL_E_USAGE, (ovl_mark){0},
                  "which store? Name its file: --store FILE");
    }
    return path;
}

static bool load_and_keep(ovl_work *work, const char *path, ovl_document *doc)
{
    ovl_work_texts *texts = OVL_NEW(&work->arena, ovl_work_texts);
    texts->recorder = (ovl_recorder){.inner = work->files, .arena = &work->arena};
    ovl_vec_push(&work->texts, texts);
    ovl_files files = ovl_recorder_files(&texts->recorder);
    bool good = ovl_document_load(path, &files, doc, &work->arena, &work->errs);
    texts->file = doc->file;
    return good;
}

const ovl_recorder *ovl_work_recorder(const ovl_work *work, const ovl_document *doc)
{
    for (uint32_t i = 0; i < work->texts.len; i++) {
        if (work->texts.data[i]->file == doc->file) {
            return &work->texts.data[i]->recorder;
        }
    }
    assert(!"a document whose texts were kept");
    return NULL;
}

bool ovl_work_load(ovl_work *work, const char *path, ovl_document *doc)
{
    uint32_t before = work->errs.errors;
    ovl_part_begin("reading the scenario");
    bool good = work->keeps ? load_and_keep(work, path, doc)
                            : ovl_document_load(path, &work->files, doc, &work->arena, &work->errs);
    return good && work->errs.errors == before;
}

bool ovl_work_prepare(ovl_work *work, const ovl_document *doc, const char *variant,
                      ovl_prepared *prepared)
{
    ovl_arena_free(&work->scratch);
    ovl_part_begin("preparing the program");
    bool good = ovl_scenario_decode(doc, variant, work->sets, work->n_sets, &prepared->scenario,
                                    &work->arena, &work->errs);
    prepared->scenario.memory = ovl_lookout_memory();
    prepared->scenario.watch = &work->lookout.watch;
    return good && ovl_may_prepare(&prepared->scenario, ovl_lookout_memory(), &work->errs) &&
           ovl_lower(&prepared->scenario, &work->scratch, &prepared->lowered, &work->errs);
}

bool ovl_work_analyse(ovl_work *work, const ovl_prepared *prepared, const ovl_ask *ask,
                      ovl_result *result, ovl_timeline *kept)
{
    ovl_analyse_options options = {
        .interference = (ovl_interference)prepared->scenario.interference,
        .worth = ask->worth,
        .worth_name = ask->worth_name,
        .gaps = ask->gaps,
        .no_fold = ask->no_fold,
        .no_skip = ask->no_skip,
        .memory_lines = ask->memory_lines,
        .stats = ask->stats,
        .only_measured = ask->only_replay,
        .watch = &work->lookout.watch,
        .memory = ovl_lookout_memory(),
        .scenario = prepared->scenario.name,
        .variant = prepared->scenario.variant,
        .description = prepared->scenario.description,
        .not_modelled = prepared->lowered.not_modelled,
        .n_not_modelled = prepared->lowered.n_not_modelled,
        .microbatches = prepared->lowered.microbatches,
        .rank_microbatches = prepared->lowered.rank_microbatches,
        .measured = prepared->lowered.measured,
        .useful = prepared->lowered.useful,
    };
    bool good =
        ovl_analyse(&prepared->lowered.program, &options, &work->arena, result, kept, &work->errs);
    if (good && work->lookout.stopped) {
        ovl_error(&work->errs, OVL_E_STOPPED, (ovl_mark){0},
                  "stopped in run %" PRIu32 " of the analysis, which asks what communication and "
                  "interference cost",
                  work->lookout.n_runs);
        return false;
    }
    return good;
}

bool ovl_work_result(ovl_work *work, const ovl_document *doc, const char *variant,
                     const ovl_ask *ask, ovl_result *result)
{
    ovl_prepared prepared = {0};
    return ovl_work_prepare(work, doc, variant, &prepared) &&
           ovl_work_analyse(work, &prepared, ask, result, NULL);
}

ovl_out *ovl_work_output(const ovl_args *args, const ovl_shell *shell, ovl_out *file)
{
    const char *path = ovl_args_value(args, "output");
    if (!path || strcmp(path, "-") == 0) {
        /* A terminal, or a pipe to what shows pages on one, is not written over. */
        (ovl_out_is_file(shell->out) ? ovl_part_begin : ovl_part_silent)("writing the output");
        return shell->out;
    }
    ovl_part_begin("writing the output");
    ovl_out_open(file, path);
    return file;
}

void ovl_work_written(ovl_work *work, const ovl_args *args, ovl_out *out)
{
    const ovl_mark nowhere = {0};
    if (out == work->shell->out) {
        return; /* closed, and checked, by who opened it */
    }
    const char *why = ovl_out_close(out);
    if (why) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere, "cannot write \"%s\": %s",
                  ovl_args_value(args, "output"), why);
    }
}

void ovl_complain(ovl_out *out, ovl_errs *errs)
{
    ovl_errs_sort(errs);
    for (uint32_t i = 0; i < errs->count; i++) {
        ovl_out_printf(out, "%s\n", ovl_err_text(errs->arena, &errs->items[i]));
    }
    if (errs->dropped) {
        ovl_out_printf(out, "and %" PRIu32 " more\n", errs->dropped);
    }
}

int ovl_work_end(ovl_work *work, int status)
{
    int worse = ovl_errs_status(&work->errs);
    ovl_part_silent("ending");
    ovl_complain(work->shell->err, &work->errs);
    for (uint32_t i = 0; i < work->texts.len; i++) {
        ovl_recorder_free(&work->texts.data[i]->recorder);
    }
    ovl_vec_free(&work->texts);
    ovl_arena_free(&work->scratch);
    ovl_arena_free(&work->arena);
    return worse ? worse : status;
}
