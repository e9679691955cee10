#include "tools/inspect.h"
#include "tools/work.h"

static void write(ovl_out *out, const ovl_inspection *in, const ovl_errs *errs, bool json)
{
    if (json) {
        ovl_inspect_json(out, in, errs);
    } else {
        ovl_inspect_text(out, in);
    }
}

/* Every file is read, also after one that is no trace: all mistakes in one run. */
static void inspect(ovl_work *work, const ovl_args *args, ovl_comm_pattern *pattern)
{
    ovl_inspection in;
    uint32_t good = 0;
    ovl_inspect_begin(&in, pattern);
    for (uint32_t i = 0; i < args->n_operands; i++) {
        good += ovl_inspect_add(&in, args->operands[i], &work->errs);
    }
    ovl_inspect_ranks(&in, &work->errs);
    if (good) {
        ovl_out file, *out = ovl_work_output(args, work->shell, &file);
        write(out, &in, &work->errs, ovl_args_has(args, "json"));
        ovl_work_written(work, args, out);
    }
    ovl_inspect_free(&in);
}

int ovl_cmd_inspect(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_comm_pattern pattern;
    const char *text = ovl_args_value(args, "comm-pattern");
    ovl_work_begin(&work, shell);
    if (ovl_comm_pattern_begin(&pattern, text ? text : OVL_COMM_PATTERN, &work.errs)) {
        inspect(&work, args, &pattern);
        ovl_comm_pattern_free(&pattern);
    }
    return ovl_work_end(&work, OVL_EXIT_DONE);
}
