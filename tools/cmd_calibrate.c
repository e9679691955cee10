#include "tools/calibrate.h"
#include "tools/comm_names.h"
#include "tools/work.h"

#include <string.h>

static const ovl_mark nowhere = {0};

/* "0=dp", or "dp" for every name. The texts live in `arena`. */
static ovl_cal_rename rename_of(const char *text, ovl_arena *arena)
{
    const char *equals = strchr(text, '=');
    if (!equals) {
        return (ovl_cal_rename){NULL, text};
    }
    return (ovl_cal_rename){ovl_arena_strndup(arena, text, (size_t)(equals - text)), equals + 1};
}

/* All values of an option. One without `=` fits every name, so it comes last. */
static ovl_cal_rename *renames(const ovl_args *args, const char *option, uint32_t *n,
                               ovl_arena *arena)
{
    uint32_t count = 0;
    while (ovl_args_nth(args, option, count)) {
        count++;
    }
    ovl_cal_rename *list = OVL_NEW_ARRAY(arena, ovl_cal_rename, count);
    *n = 0;
    for (int every = 0; every < 2; every++) {
        for (uint32_t i = 0; i < count; i++) {
            ovl_cal_rename r = rename_of(ovl_args_nth(args, option, i), arena);
            if ((r.from == NULL) == (every == 1)) {
                list[(*n)++] = r;
            }
        }
    }
    return list;
}

static bool read_wishes(ovl_work *work, const ovl_args *args, ovl_cal_wishes *wishes)
{
    const char *op = ovl_args_value(args, "op");
    *wishes = (ovl_cal_wishes){.out_of_place = ovl_args_has(args, "out-of-place")};
    wishes->groups = renames(args, "group", &wishes->n_groups, &work->arena);
    wishes->via = renames(args, "via", &wishes->n_via, &work->arena);
    wishes->op = op ? ovl_comm_op_name((ovl_slice){op, strlen(op)}) : NULL;
    if (op && strcmp(wishes->op, "other") == 0) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere,
                  "--op \"%s\" is no operation; write all_reduce, all_gather, reduce_scatter, "
                  "broadcast, reduce, all_to_all or send_recv",
                  op);
        return false;
    }
    return true;
}

/* The profile is a file of its own beside the report. */
static void write_profile(ovl_work *work, const ovl_args *args, const ovl_calibration *cal)
{
    ovl_out file, *out;
    if (!ovl_args_has(args, "output")) {
        return;
    }
    out = ovl_work_output(args, work->shell, &file);
    ovl_calibrate_profile(out, cal);
    ovl_work_written(work, args, out);
}

static void calibrate(ovl_work *work, const ovl_args *args, ovl_comm_pattern *pattern)
{
    ovl_cal_wishes wishes;
    ovl_calibration cal;
    if (!read_wishes(work, args, &wishes)) {
        return;
    }
    ovl_calibrate_begin(&cal, pattern, &wishes);
    for (uint32_t i = 0; i < args->n_operands; i++) {
        ovl_calibrate_add(&cal, args->operands[i], &work->errs);
    }
    ovl_calibrate_fit(&cal, &work->errs);
    if (work->errs.errors == 0) {
        if (ovl_args_has(args, "json")) {
            ovl_calibrate_json(work->shell->out, &cal, &work->errs);
        } else {
            ovl_calibrate_text(work->shell->out, &cal);
        }
        write_profile(work, args, &cal);
    }
    ovl_calibrate_free(&cal);
}

int ovl_cmd_calibrate(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_comm_pattern pattern;
    const char *text = ovl_args_value(args, "comm-pattern");
    ovl_work_begin(&work, shell);
    if (ovl_comm_pattern_begin(&pattern, text ? text : OVL_COMM_PATTERN, &work.errs)) {
        calibrate(&work, args, &pattern);
        ovl_comm_pattern_free(&pattern);
    }
    return ovl_work_end(&work, OVL_EXIT_DONE);
}
