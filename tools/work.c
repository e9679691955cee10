#include "tools/work.h"

#include "tools/files.h"

#include <string.h>

void ovl_work_begin(ovl_work *work, const ovl_shell *shell)
{
    *work = (ovl_work){.shell = shell, .files = ovl_real_files()};
    work->errs.arena = &work->arena;
}

void ovl_work_sets(ovl_work *work, const ovl_args *args)
{
    ovl_set *sets = OVL_NEW_ARRAY(&work->arena, ovl_set, args->n_options);
    const char *text;
    for (uint32_t i = 0; (text = ovl_args_nth(args, "set", i)) != NULL; i++) {
        sets[work->n_sets++].text = text;
    }
    const char *model = ovl_args_value(args, "interference");
    if (model) {
        sets[work->n_sets++].text = ovl_arena_printf(&work->arena, "interference=%s", model);
    }
    work->sets = sets;
}

ovl_ask ovl_worth_of(const char *value)
{
    if (!value) {
        return (ovl_ask){OVL_WORTH_DEFAULT, NULL};
    }
    if (strcmp(value, "all") == 0) {
        return (ovl_ask){OVL_WORTH_ALL, NULL};
    }
    if (strcmp(value, "none") == 0) {
        return (ovl_ask){OVL_WORTH_NONE, NULL};
    }
    return (ovl_ask){OVL_WORTH_NAME, value};
}

bool ovl_work_load(ovl_work *work, const char *path, ovl_document *doc)
{
    return ovl_document_load(path, &work->files, doc, &work->arena, &work->errs);
}

bool ovl_work_prepare(ovl_work *work, const ovl_document *doc, const char *variant,
                      ovl_prepared *prepared)
{
    ovl_arena_free(&work->scratch);
    return ovl_scenario_decode(doc, variant, work->sets, work->n_sets, &prepared->scenario,
                               &work->arena, &work->errs) &&
           ovl_lower(&prepared->scenario, &work->scratch, &prepared->lowered, &work->errs);
}

bool ovl_work_analyse(ovl_work *work, const ovl_prepared *prepared, const ovl_ask *ask,
                      ovl_result *result, ovl_timeline *kept)
{
    ovl_analyse_options options = {
        .interference = (ovl_interference)prepared->scenario.interference,
        .worth = ask->worth,
        .worth_name = ask->worth_name,
        .scenario = prepared->scenario.name,
        .variant = prepared->scenario.variant,
        .not_modelled = prepared->lowered.not_modelled,
        .n_not_modelled = prepared->lowered.n_not_modelled,
    };
    return ovl_analyse(&prepared->lowered.program, &options, &work->arena, result, kept,
                       &work->errs);
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
        return shell->out;
    }
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
    ovl_complain(work->shell->err, &work->errs);
    ovl_arena_free(&work->scratch);
    ovl_arena_free(&work->arena);
    return worse ? worse : status;
}
