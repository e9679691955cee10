/* `--solve KEY --for FIGURE` of ovl explain and ovl sweep: one question instead of a report. */
#include "tools/solve.h"

int ovl_solve_answer(ovl_work *work, const ovl_args *args, bool no_fold, bool no_skip)
{
    const char *target = ovl_args_value(args, "for");
    ovl_sweep sweep = {0};
    ovl_document doc;
    ovl_side side;
    ovl_solve q = {.of = &sweep};
    if (args->n_operands > 1) {
        ovl_error(&work->errs, OVL_E_USAGE, (ovl_mark){0},
                  "--solve is about the whole step: leave out \"%s\"", args->operands[1]);
        return OVL_EXIT_DONE;
    }
    if (!target) {
        ovl_error(&work->errs, OVL_E_USAGE, (ovl_mark){0},
                  "--solve needs the figure that was measured: --for 'step=544 ms'");
        return OVL_EXIT_DONE;
    }
    if (!ovl_work_side(work, args, &side) || !ovl_work_load(work, side.path, &doc)) {
        return OVL_EXIT_DONE;
    }
    sweep.doc = &doc;
    sweep.variant = side.variant;
    sweep.sets = work->sets;
    sweep.n_sets = work->n_sets;
    sweep.no_fold = no_fold;
    sweep.no_skip = no_skip;
    if (!ovl_solve_read(&q, ovl_args_value(args, "solve"), target, ovl_args_value(args, "between"),
                        &work->arena, &work->errs)) {
        return OVL_EXIT_DONE;
    }
    ovl_solve_run(&q, &work->arena, &work->errs);
    if (q.end == OVL_SOLVE_FAILED) {
        return OVL_EXIT_DONE; /* the errors have the status */
    }
    ovl_out file, *out = ovl_work_output(args, work->shell, &file);
    if (ovl_args_has(args, "json")) {
        ovl_solve_json(out, &q);
    } else {
        ovl_solve_text(out, &q);
    }
    ovl_work_written(work, args, out);
    return q.end == OVL_SOLVE_MET ? OVL_EXIT_DONE : OVL_EXIT_FAILED;
}
