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

static bool run(ovl_work *work, const ovl_args *args, const ovl_side *side, ovl_document *doc,
                ovl_result *result)
{
    ovl_prepared prepared = {0};
    ovl_ask ask = ovl_work_ask(args);
    ask.stats = ovl_args_has(args, "stats");
    ask.gaps = ovl_args_has(args, "gaps");
    ask.memory_lines = ovl_args_has(args, "memory");
    if (!ovl_work_load(work, side->path, doc) ||
        !ovl_work_prepare(work, doc, side->variant, &prepared) ||
        !ovl_work_analyse(work, &prepared, &ask, result, NULL)) {
        return false;
    }
    if (asks_what_if(args, &prepared, result)) {
        ovl_what_if(work, doc, side->variant, &prepared, result);
    }
    return true;
}

static void run_trials(ovl_work *work, const ovl_args *args, const ovl_side *side, ovl_trials *t)
{
    ovl_document doc;
    ovl_prepared prepared = {0};
    if (!ovl_work_load(work, side->path, &doc) ||
        !ovl_work_prepare(work, &doc, side->variant, &prepared) ||
        !ovl_trials_vary(work, &prepared) || !ovl_trials_run(work, &prepared, t)) {
        return; /* the errors have the status */
    }
    ovl_out file, *out = ovl_work_output(args, work->shell, &file);
    if (ovl_args_has(args, "json")) {
        ovl_trials_json(out, t);
    } else {
        ovl_trials_text(out, t);
    }
    ovl_work_written(work, args, out);
}

int ovl_cmd_run(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_result result;
    ovl_side side;
    ovl_document doc;
    int status = OVL_EXIT_DONE;
    ovl_work_begin(&work, shell);
    ovl_work_sets(&work, args);
    const char *store = ovl_work_store(&work, args);
    ovl_trials trials;
    if (!ovl_trials_read(&work, args, &trials) || !ovl_work_side(&work, args, &side)) {
        return ovl_work_end(&work, status);
    }
    if (trials.n) {
        run_trials(&work, args, &side, &trials);
    } else if (run(&work, args, &side, &doc, &result)) {
        /* Before anything is printed: who reads it may stop reading, which ends the program. */
        int64_t number = store ? ovl_keep(&work, store, &doc, side.variant, &result) : 0;
        ovl_out file, *out = ovl_work_output(args, shell, &file);
        write_result(out, &result, ovl_args_has(args, "json"));
        ovl_work_written(&work, args, out);
        say_kept(&work, args, store, number);
        status = ovl_result_status(&result);
    }
    return ovl_work_end(&work, status);
}
