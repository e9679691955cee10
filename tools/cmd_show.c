/* ovl show: a stored run, as it was reported; and the same for ovl export. */
#include "tools/csv.h"
#include "tools/keep.h"
#include "tools/report.h"

#include <string.h>

static void head(ovl_out *out, const ovl_store *store, const ovl_stored_run *run)
{
    ovl_arena arena = {0};
    ovl_out_printf(out, "Run %" PRId64 " of %s, stored %s by ovl %s: %s, %s\n\n", run->run,
                   store->path, run->time, run->version, run->path, ovl_stored_text(run, &arena));
    ovl_arena_free(&arena);
}

/* What was stored; a point of a sweep is simulated again. */
static void write_run(ovl_work *work, ovl_store *store, const ovl_stored_run *run, bool json,
                      ovl_out *out)
{
    const ovl_ask ask = {.worth = OVL_WORTH_DEFAULT};
    ovl_result result;
    const char *report = ovl_store_report(store, run->run, json, &work->arena, &work->errs);
    if (!report && (work->errs.errors || !ovl_again(work, store, run, &ask, &result))) {
        return;
    }
    if (!json) {
        head(out, store, run);
    }
    if (report) {
        ovl_out_text(out, report);
    } else if (json) {
        ovl_report_json(out, &result);
    } else {
        ovl_report_text(out, &result);
    }
}

/* A row of names, a row of values. */
static void write_csv(ovl_out *out, const ovl_stored_run *run)
{
    ovl_out_text(out, "run,scenario,variant");
    ovl_csv_metric_keys(out);
    ovl_out_printf(out, "\n%" PRId64, run->run);
    ovl_csv_cell(out, run->scenario, false);
    ovl_csv_cell(out, run->variant, false);
    ovl_csv_metrics(out, &run->figures);
    ovl_out_text(out, "\n");
}

static void show(ovl_work *work, const ovl_args *args, const char *path, bool json, bool csv)
{
    ovl_store store;
    ovl_stored_run run;
    if (!ovl_store_open(&store, path, OVL_STORE_READ, &work->errs)) {
        return;
    }
    if (ovl_store_find(&store, args->operands[0], &run, &work->arena, &work->errs)) {
        ovl_out file, *out = ovl_work_output(args, work->shell, &file);
        if (csv) {
            write_csv(out, &run);
        } else {
            write_run(work, &store, &run, json, out);
        }
        ovl_work_written(work, args, out);
    }
    ovl_store_close(&store);
}

int ovl_cmd_show(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_work_begin(&work, shell);
    const char *path = ovl_work_need_store(&work, args);
    if (path) {
        show(&work, args, path, ovl_args_has(args, "json"), false);
    }
    return ovl_work_end(&work, OVL_EXIT_DONE);
}

void ovl_export_stored(ovl_work *work, const ovl_args *args)
{
    const char *path = ovl_work_store(work, args);
    bool csv = ovl_args_has(args, "csv");
    if (path) {
        show(work, args, path, !csv, csv);
    }
}
