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

int ovl_cmd_run(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_document doc;
    ovl_result result;
    ovl_side side;
    int status = OVL_EXIT_DONE;
    ovl_work_begin(&work, shell);
    ovl_work_sets(&work, args);
    ovl_ask ask = ovl_worth_of(ovl_args_value(args, "worth"));
    ask.gaps = ovl_args_has(args, "gaps");
    ask.stats = ovl_args_has(args, "stats");
    if (ovl_work_side(&work, args, &side) && ovl_work_load(&work, side.path, &doc) &&
        ovl_work_result(&work, &doc, side.variant, &ask, &result)) {
        ovl_out file, *out = ovl_work_output(args, shell, &file);
        write_result(out, &result, ovl_args_has(args, "json"));
        ovl_work_written(&work, args, out);
        status = ovl_result_status(&result);
    }
    return ovl_work_end(&work, status);
}
