/* ovl check: every mistake of a file and its variants, whether their schedules finish, and what
 * will run. */
#include "sim/fold.h"
#include "tools/facts.h"

#define MOST_OPS 20000000 /* of a schedule that is run to see whether it finishes: seconds */

/* Runs what was prepared once, with nothing slowing anything. A schedule that cannot finish is an
 * error that says who waits for what. */
static bool finishes(ovl_work *work, const ovl_prepared *prepared, ovl_check *check)
{
    const ovl_program *program = &prepared->lowered.program;
    const ovl_run_options options = {.interference = OVL_INTERFERENCE_NONE,
                                     .free_name = OVL_NONE,
                                     .watch = &work->lookout.watch,
                                     .memory = ovl_lookout_memory()};
    ovl_arena arena = {0};
    ovl_timeline timeline;
    ovl_fold fold;
    ovl_program chosen;
    bool good = ovl_fold_choose(program, false, &arena, &fold, &chosen, &work->errs);
    bool small = good && chosen.n_ops <= MOST_OPS;
    check->all_ran &= small;
    good = good &&
           (!small || ovl_fold_run(program, &chosen, &options, &arena, &timeline, &work->errs));
    ovl_arena_free(&arena);
    return good;
}

static bool look_at(ovl_work *work, const ovl_document *doc, const char *variant,
                    ovl_prepared *prepared, ovl_check *check)
{
    return ovl_work_prepare(work, doc, variant, prepared) && finishes(work, prepared, check);
}

/* Looks at every variant but leaves the base prepared, whose contents are shown. */
static bool look_at_all(ovl_work *work, const ovl_document *doc, ovl_prepared *base,
                        ovl_check *check)
{
    bool good = true;
    for (uint32_t i = 0; i < doc->n_variants; i++) {
        good &= look_at(work, doc, doc->variants[i], base, check);
    }
    return look_at(work, doc, NULL, base, check) && good;
}

int ovl_cmd_check(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_document doc;
    ovl_prepared prepared = {0};
    ovl_facts facts;
    ovl_side side;
    ovl_work_begin(&work, shell);
    ovl_work_sets(&work, args);
    if (!ovl_work_side(&work, args, &side)) {
        return ovl_work_end(&work, OVL_EXIT_DONE);
    }
    ovl_check check = {.file = side.path, .errs = &work.errs, .all_ran = true};
    if (ovl_work_load(&work, side.path, &doc)) {
        check.doc = &doc;
        check.all_variants = side.variant == NULL;
        if (side.variant ? look_at(&work, &doc, side.variant, &prepared, &check)
                         : look_at_all(&work, &doc, &prepared, &check)) {
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
