#include "tools/facts.h"

/* Checks every variant but leaves the base prepared, whose contents are shown. */
static bool prepare_all(ovl_session *session, const ovl_document *doc, ovl_prepared *base)
{
    bool good = true;
    for (uint32_t i = 0; i < doc->n_variants; i++) {
        good &= ovl_session_prepare(session, doc, doc->variants[i], base);
    }
    return ovl_session_prepare(session, doc, NULL, base) && good;
}

int ovl_cmd_check(const ovl_args *args, const ovl_shell *shell)
{
    ovl_session session;
    ovl_document doc;
    ovl_prepared prepared = {0};
    ovl_facts facts;
    const char *variant = ovl_args_value(args, "variant");
    ovl_session_begin(&session, shell);
    ovl_session_sets(&session, args);
    ovl_check check = {.file = args->operands[0], .errs = &session.errs};
    if (ovl_session_load(&session, args->operands[0], &doc)) {
        check.doc = &doc;
        check.all_variants = variant == NULL;
        if (variant ? ovl_session_prepare(&session, &doc, variant, &prepared)
                    : prepare_all(&session, &doc, &prepared)) {
            facts = ovl_facts_of(&prepared.lowered.program, &session.arena);
            check.prepared = &prepared;
            check.facts = &facts;
        }
    }
    ovl_errs_sort(&session.errs);
    if (ovl_args_has(args, "json")) {
        ovl_check_json(shell->out, &check);
    } else {
        ovl_check_text(shell->out, &check);
    }
    return ovl_session_end(&session, OVL_EXIT_DONE);
}
