#include "tools/session.h"

#include "tools/files.h"

#include <string.h>

void ovl_session_begin(ovl_session *session, const ovl_shell *shell)
{
    *session = (ovl_session){.shell = shell, .files = ovl_real_files()};
    session->errs.arena = &session->arena;
}

void ovl_session_sets(ovl_session *session, const ovl_args *args)
{
    ovl_set *sets = OVL_NEW_ARRAY(&session->arena, ovl_set, args->n_options);
    const char *text;
    for (uint32_t i = 0; (text = ovl_args_nth(args, "set", i)) != NULL; i++) {
        sets[session->n_sets++].text = text;
    }
    const char *model = ovl_args_value(args, "interference");
    if (model) {
        sets[session->n_sets++].text = ovl_arena_printf(&session->arena, "interference=%s", model);
    }
    session->sets = sets;
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

bool ovl_session_load(ovl_session *session, const char *path, ovl_document *doc)
{
    return ovl_document_load(path, &session->files, doc, &session->arena, &session->errs);
}

bool ovl_session_prepare(ovl_session *session, const ovl_document *doc, const char *variant,
                         ovl_prepared *prepared)
{
    ovl_arena_free(&session->scratch);
    return ovl_scenario_decode(doc, variant, session->sets, session->n_sets, &prepared->scenario,
                               &session->arena, &session->errs) &&
           ovl_lower(&prepared->scenario, &session->scratch, &prepared->lowered, &session->errs);
}

bool ovl_session_analyse(ovl_session *session, const ovl_prepared *prepared, const ovl_ask *ask,
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
    return ovl_analyse(&prepared->lowered.program, &options, &session->arena, result, kept,
                       &session->errs);
}

bool ovl_session_result(ovl_session *session, const ovl_document *doc, const char *variant,
                        const ovl_ask *ask, ovl_result *result)
{
    ovl_prepared prepared = {0};
    return ovl_session_prepare(session, doc, variant, &prepared) &&
           ovl_session_analyse(session, &prepared, ask, result, NULL);
}

ovl_out *ovl_session_output(const ovl_args *args, const ovl_shell *shell, ovl_out *file)
{
    const char *path = ovl_args_value(args, "output");
    if (!path || strcmp(path, "-") == 0) {
        return shell->out;
    }
    ovl_out_open(file, path);
    return file;
}

void ovl_session_written(ovl_session *session, const ovl_args *args, ovl_out *out)
{
    const ovl_mark nowhere = {0};
    if (out == session->shell->out) {
        return; /* closed, and checked, by who opened it */
    }
    const char *why = ovl_out_close(out);
    if (why) {
        ovl_error(&session->errs, OVL_E_USAGE, nowhere, "cannot write \"%s\": %s",
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

int ovl_session_end(ovl_session *session, int status)
{
    int worse = ovl_errs_status(&session->errs);
    ovl_complain(session->shell->err, &session->errs);
    ovl_arena_free(&session->scratch);
    ovl_arena_free(&session->arena);
    return worse ? worse : status;
}
