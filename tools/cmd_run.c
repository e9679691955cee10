#include "sim/alter.h"
#include "tools/controlled.h"
#include "tools/keep.h"
#include "tools/report.h"
#include "tools/trials.h"
#include "tools/what_if.h"

#include <string.h>

static void write_result(ovl_out *out, const ovl_result *result, bool json)
{
    if (json) {
        ovl_report_json(out, result);
    } else {
        ovl_report_text(out, result);
    }
}

static void say_kept(const ovl_work *work, const ovl_args *args, const char *store, int64_t number)
{
    if (number && !ovl_args_has(args, "json")) {
        ovl_out_printf(work->shell->out, "\nStored as run %" PRId64 " in %s\n", number, store);
    }
}

/* By default where it tells something, if that does not take long. */
static bool asks_what_if(const ovl_args *args, const ovl_prepared *prepared,
                         const ovl_result *result)
{
    const char *value = ovl_args_value(args, "what-if");
    if (value) {
        return strcmp(value, "all") == 0;
    }
    return result->idle.telling && prepared->lowered.program.n_ops <= OVL_WHAT_IF_OPS;
}

/* --- Controlled runs --- */

/* Options that belong to a run of everything. */
static bool allows_only(ovl_work *work, const ovl_args *args)
{
    const char *only = ovl_args_value(args, "only");
    bool both = only && strcmp(only, "both") == 0;
    static const char *const never[] = {"store", "what-if", "trials"};
    static const char *const not_with_both[] = {"worth", "gaps",    "memory",
                                                "stats", "no-fold", "no-skip"};
    for (uint32_t i = 0; only && i < OVL_COUNT(never) + OVL_COUNT(not_with_both); i++) {
        bool always = i < OVL_COUNT(never);
        const char *name = always ? never[i] : not_with_both[i - OVL_COUNT(never)];
        if ((always || both) && ovl_args_has(args, name)) {
            ovl_error(&work->errs, OVL_E_USAGE, (ovl_mark){0},
                      "--only %s is a controlled run: leave out --%s", only, name);
        }
    }
    return work->errs.count == 0;
}

/* Makes the other kind free, and says so in the report. */
static void keep_only(ovl_work *work, const char *only, ovl_prepared *prepared)
{
    ovl_lowered *lowered = &prepared->lowered;
    bool compute = strcmp(only, "compute") == 0;
    ovl_alteration how = {.free_comm = compute, .free_copies = compute, .free_kernels = !compute};
    lowered->program = ovl_program_altered(&lowered->program, &how, &work->scratch);
    const char **notes = OVL_NEW_ARRAY(&work->arena, const char *, lowered->n_not_modelled + 1);
    notes[0] = compute ? "--only compute: communication and copies take no time, and move and hold "
                         "nothing; they keep their order."
                       : "--only comm: kernels take no time, and move and hold nothing; they keep "
                         "their order.";
    for (uint32_t i = 0; i < lowered->n_not_modelled; i++) {
        notes[i + 1] = lowered->not_modelled[i];
    }
    lowered->not_modelled = notes;
    lowered->n_not_modelled++;
    lowered->measured = NULL; /* what was measured is a run of both */
    const char *variant = prepared->scenario.variant ? prepared->scenario.variant : "base";
    prepared->scenario.variant = ovl_arena_printf(&work->arena, "%s, %s", variant,
                                                  compute ? "compute only" : "communication only");
}

static bool three_runs(ovl_work *work, const ovl_side *side, ovl_three_runs *three)
{
    ovl_document doc;
    ovl_prepared prepared = {0};
    if (!ovl_work_load(work, side->path, &doc) ||
        !ovl_work_prepare(work, &doc, side->variant, &prepared)) {
        return false;
    }
    const ovl_scenario *s = &prepared.scenario;
    ovl_run_options options = {.interference = (ovl_interference)s->interference,
                               .watch = &work->lookout.watch,
                               .memory = ovl_lookout_memory()};
    *three = (ovl_three_runs){s->name,
                              s->variant ? s->variant : "base",
                              ovl_interference_name(options.interference),
                              {0}};
    return ovl_controlled_find(&prepared.lowered.program, &options, &work->arena, &three->runs,
                               &work->errs);
}

static void run_three(ovl_work *work, const ovl_args *args, const ovl_side *side)
{
    ovl_three_runs three;
    if (three_runs(work, side, &three)) {
        ovl_out file, *out = ovl_work_output(args, work->shell, &file);
        if (ovl_args_has(args, "json")) {
            ovl_three_runs_json(out, &three);
        } else {
            ovl_three_runs_text(out, &three);
        }
        ovl_work_written(work, args, out);
    }
}

/* --- A run --- */

static bool prepare(ovl_work *work, const ovl_args *args, const ovl_side *side, ovl_document *doc,
                    ovl_prepared *prepared)
{
    const char *only = ovl_args_value(args, "only");
    if (!ovl_work_load(work, side->path, doc) ||
        !ovl_work_prepare(work, doc, side->variant, prepared)) {
        return false;
    }
    if (only) {
        keep_only(work, only, prepared);
    }
    return true;
}

static bool run(ovl_work *work, const ovl_args *args, const ovl_side *side, ovl_document *doc,
                ovl_result *result)
{
    ovl_prepared prepared = {0};
    ovl_ask ask = ovl_work_ask(args);
    ask.stats = ovl_args_has(args, "stats");
    ask.gaps = ovl_args_has(args, "gaps");
    ask.memory_lines = ovl_args_has(args, "memory");
    if (!prepare(work, args, side, doc, &prepared) ||
        !ovl_work_analyse(work, &prepared, &ask, result, NULL)) {
        return false;
    }
    if (!ovl_args_has(args, "only") && asks_what_if(args, &prepared, result)) {
        ovl_what_if(work, doc, side->variant, &prepared, result);
    }
    return true;
}

static int run_one(ovl_work *work, const ovl_args *args, const ovl_side *side, const char *store)
{
    ovl_result result;
    ovl_document doc;
    if (!run(work, args, side, &doc, &result)) {
        return OVL_EXIT_DONE; /* the errors have a status of their own */
    }
    /* Before anything is printed: who reads it may stop reading, which ends the program. */
    int64_t number = store ? ovl_keep(work, store, &doc, side->variant, &result) : 0;
    ovl_out file, *out = ovl_work_output(args, work->shell, &file);
    write_result(out, &result, ovl_args_has(args, "json"));
    ovl_work_written(work, args, out);
    say_kept(work, args, store, number);
    return ovl_result_status(&result);
}

/* The run as stated, with the trials of it. */
static int64_t keep_trials(ovl_work *work, const char *store, const ovl_document *doc,
                           const ovl_side *side, const ovl_prepared *prepared, const ovl_trials *t)
{
    ovl_result stated;
    const ovl_ask ask = {.worth = OVL_WORTH_NONE};
    if (!ovl_work_analyse(work, prepared, &ask, &stated, NULL)) {
        return 0;
    }
    ovl_kept kept = {doc, side->variant, &stated, 0, t};
    return ovl_keep_all(work, store, &kept, 1) ? kept.run : 0;
}

static void run_trials(ovl_work *work, const ovl_args *args, const ovl_side *side,
                       const char *store, ovl_trials *t)
{
    ovl_document doc;
    ovl_prepared prepared = {0};
    if (!ovl_work_load(work, side->path, &doc) ||
        !ovl_work_prepare(work, &doc, side->variant, &prepared) ||
        !ovl_trials_vary(work, &prepared) || !ovl_trials_run(work, &prepared, t)) {
        return; /* the errors have the status */
    }
    int64_t number = store ? keep_trials(work, store, &doc, side, &prepared, t) : 0;
    ovl_out file, *out = ovl_work_output(args, work->shell, &file);
    if (ovl_args_has(args, "json")) {
        ovl_trials_json(out, t);
    } else {
        ovl_trials_text(out, t);
    }
    ovl_work_written(work, args, out);
    say_kept(work, args, store, number);
}

int ovl_cmd_run(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_side side;
    int status = OVL_EXIT_DONE;
    const char *only = ovl_args_value(args, "only");
    ovl_work_begin(&work, shell);
    ovl_work_sets(&work, args);
    const char *store = ovl_work_store(&work, args);
    ovl_trials trials;
    if (!ovl_trials_read(&work, args, &trials) || !ovl_work_side(&work, args, &side) ||
        !allows_only(&work, args)) {
        return ovl_work_end(&work, status);
    }
    if (trials.n) {
        run_trials(&work, args, &side, store, &trials);
    } else if (only && strcmp(only, "both") == 0) {
        run_three(&work, args, &side);
    } else {
        status = run_one(&work, args, &side, store);
    }
    return ovl_work_end(&work, status);
}
