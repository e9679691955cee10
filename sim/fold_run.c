/*
 * fold_run.c - runs a program folded where it can be.
 */
#include "sim/fold.h"

bool ovl_fold_choose(const ovl_program *program, bool no_fold, ovl_arena *arena, ovl_fold *fold,
                     ovl_program *chosen, ovl_errs *errs)
{
    if (!no_fold && ovl_fold_find(program, arena, fold)) {
        return ovl_fold_program(program, fold, arena, chosen, errs);
    }
    *chosen = *program;
    return ovl_number_ops(chosen, arena, errs);
}

bool ovl_fold_run(const ovl_program *program, const ovl_program *chosen,
                  const ovl_run_options *options, ovl_arena *arena, ovl_timeline *timeline,
                  ovl_errs *errs)
{
    if (!chosen->fold || !program->numbered) {
        return ovl_run(chosen, options, arena, timeline, errs);
    }
    ovl_arena texts = {0};
    ovl_errs unsaid = {.arena = &texts};
    bool good = ovl_run(chosen, options, arena, timeline, &unsaid);
    bool stopped = ovl_errs_status(&unsaid) == OVL_E_STOPPED;
    if (stopped) {
        ovl_error(errs, OVL_E_STOPPED, (ovl_mark){0}, "%s", unsaid.items[0].text);
    }
    ovl_arena_free(&texts);
    if (stopped) {
        return false;
    }
    return good || ovl_run(program, options, arena, timeline, errs);
}

bool ovl_run_whole(const ovl_program *program, const ovl_run_options *options, bool no_fold,
                   ovl_arena *arena, ovl_timeline *timeline, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    ovl_fold fold;
    ovl_program chosen;
    ovl_timeline t;
    assert(program->numbered);
    bool good = ovl_fold_choose(program, no_fold, &scratch, &fold, &chosen, errs) &&
                ovl_fold_run(program, &chosen, options, chosen.fold ? &scratch : arena, &t, errs);
    if (good && chosen.fold) {
        ovl_unfold(&chosen, &t, arena, timeline);
    } else if (good) {
        *timeline = t;
    }
    ovl_arena_free(&scratch);
    return good;
}
