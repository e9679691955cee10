#include "tools/report.h"
#include "tools/session.h"

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
    ovl_session session;
    ovl_document doc;
    ovl_result result;
    int status = OVL_EXIT_DONE;
    ovl_session_begin(&session, shell);
    ovl_session_sets(&session, args);
    ovl_ask ask = ovl_worth_of(ovl_args_value(args, "worth"));
    if (ovl_session_load(&session, args->operands[0], &doc) &&
        ovl_session_result(&session, &doc, ovl_args_value(args, "variant"), &ask, &result)) {
        ovl_out file, *out = ovl_session_output(args, shell, &file);
        write_result(out, &result, ovl_args_has(args, "json"));
        ovl_session_written(&session, args, out);
        status = ovl_result_status(&result);
    }
    return ovl_session_end(&session, status);
}
