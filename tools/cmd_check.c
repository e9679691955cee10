#include "tools/facts.h"

/* Checks every variant but leaves the base prepared, whose contents are shown. */
static bool prepare_all(ovl_work *work, const ovl_document *doc, ovl_prepared *base)
{
    bool good = true;
    for (uint32_t i = 0; i < doc->n_variants; i++) {
        good &= ovl_work_prepare(work, doc, doc->variants[i], base);
    }
    return ovl_work_prepare(work, doc, NULL, base) && good;
}

int ovl_cmd_check(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_document doc;
    ovl_prepared prepared = {0};
    ovl_facts facts;
    const char *variant = ovl_args_value(args, "variant");
    ovl_work_begin(&work, shell);
    ovl_work_sets(&work, args);
    ovl_check check = {.file = args->operands[0], .errs = &work.errs};
    if (ovl_work_load(&work, args->operands[0], &doc)) {
        check.doc = &doc;
        check.all_variants = variant == NULL;
        if (variant ? ovl_work_prepare(&work, &doc, variant, &prepared)
                    : prepare_all(&work, &doc, &prepared)) {
            facts = ovl_facts_of(&prepared.lowered.program, &work.arena);
            check.prepared = &prepared;
            check.facts = &facts;
        }
    }
    ovl_errs_sort(&work.errs);
    if (ovl_args_has(args, "json")) {
        ovl_check_json(shell->out, &check);
    } else {
        ovl_check_text(shell->out, &check);
    }
    return ovl_work_end(&work, OVL_EXIT_DONE);
}
