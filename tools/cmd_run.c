#include "tools/keep.h"
#include "tools/report.h"
#include "tools/work.h"

static void write_result(ovl_out *out, const ovl_result *result, bool json)
{
    if (json) {
        ovl_report_json(out, result);
    } else {
        ovl_report_text(out, result);
    }
}

static void keep(ovl_work *work, const ovl_args *args, const char *store, const ovl_document *doc,
                 const char *variant, const ovl_result *result)
{
    int64_t run = ovl_keep(work, store, doc, variant, result);
    if (run && !ovl_args_has(args, "json")) {
        ovl_out_printf(work->shell->out, "\nStored as run %" PRId64 " in %s\n", run, store);
    }
}

int ovl_cmd_run(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_document doc;
    ovl_result result;
    ovl_side side;
    int status = OVL_EXIT_DONE;
    ovl_work_begin(&work, shell);
    ovl_work_sets(&work, args);
    const char *store = ovl_work_store(&work, args);
    ovl_ask ask = ovl_worth_of(ovl_args_value(args, "worth"));
    ask.gaps = ovl_args_has(args, "gaps");
    if (ovl_work_side(&work, args, &side) && ovl_work_load(&work, side.path, &doc) &&
        ovl_work_result(&work, &doc, side.variant, &ask, &result)) {
        ovl_out file, *out = ovl_work_output(args, shell, &file);
        write_result(out, &result, ovl_args_has(args, "json"));
        ovl_work_written(&work, args, out);
        if (store) {
            keep(&work, args, store, &doc, side.variant, &result);
        }
        status = ovl_result_status(&result);
    }
    return ovl_work_end(&work, status);
}
