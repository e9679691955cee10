/* ovl import: a scenario made of a pipeline schedule in PyTorch's text form, or of measured traces.
 */
#include "models/schedule_csv.h"
#include "models/schedule_lower.h"
#include "tools/import_trace.h"

#include <ctype.h>
#include <string.h>

static const ovl_mark nowhere = {0};

/* A row of actions begins with a stage, a pair or a blank cell: "0F0", "(0F2;3B1)OVERLAP_F_B", ",";
 * spreadsheets put cells in quotes, and a byte order mark before the first. */
static bool is_schedule(const char *text)
{
    const char *at = text + ovl_csv_mark(text);
    at += strspn(at, " \t\r\n,\"");
    if (*at == '(') {
        return true;
    }
    const char *type = at;
    while (isdigit((unsigned char)*type)) {
        type++;
    }
    return type > at && *type && strchr("FBIWSRU", *type) != NULL;
}

static void list_rows(ovl_out *out, const char *text)
{
    while (*text) {
        size_t width = strcspn(text, "\r\n");
        ovl_out_printf(out, "      - \"%.*s\"\n", (int)width, text);
        text += width;
        text += strspn(text, "\r");
        text += *text == '\n';
    }
}

static const char *name_of(const char *path, ovl_arena *arena)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return ovl_arena_strndup(arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* Whatever dialect the file has, the rows are written in the new one. */
static void write_scenario(ovl_out *out, const char *path, const ovl_schedule *s,
                           ovl_csv_dialect dialect, bool early, ovl_arena *arena)
{
    uint32_t stages = s->n_stages / s->n_chains;
    ovl_out_printf(
        out,
        "# A schedule for %" PRIu32 " rank%s, %" PRIu32 " stage%s and %" PRIu32
        " microbatch%s%s%s.\n"
        "# It says nothing of time and memory: put what was measured in place of 1 ms, and "
        "add activations, params, transfer.\n"
        "name: ",
        s->n_ranks, s->n_ranks == 1 ? "" : "s", stages, stages == 1 ? "" : "s", s->n_microbatches,
        s->n_microbatches == 1 ? "" : "es",
        s->n_chains > 1 ? ", in two copies of the model that enter at both ends" : "",
        dialect == OVL_CSV_OLD ? ", read in the old dialect (B and BW)" : "");
    ovl_out_quoted(out, name_of(path, arena));
    ovl_out_printf(out,
                   "\nhardware: {gpu: {name: example}}\n"
                   "mesh: {axes: {pp: %" PRIu32 "}}\n"
                   "workload:\n"
                   "  stages:\n"
                   "    - {name: stage, repeat: %" PRIu32 ", forward: 1 ms, backward_input: 1 ms, "
                   "backward_weight: 1 ms}\n"
                   "overlap:\n"
                   "  pipeline:\n"
                   "%s"
                   "    actions:\n",
                   s->n_ranks, stages, early ? "    receives: early\n" : "");
    list_rows(out, ovl_schedule_print_csv(s, OVL_CSV_NEW, arena));
}

/* Whether ranks wait for each other for ever. A list with sends and receives may get stuck where
 * PyTorch's simulation runs it, in which a rank waits at a receive, and still run where each
 * transfer has an order of its own: that is said. */
static bool can_finish(ovl_work *work, const ovl_schedule *s, ovl_mark mark)
{
    ovl_schedule lowered;
    ovl_errs errs = {.arena = &work->arena};
    if (!ovl_schedule_has(s, OVL_ACT_SEND_F, OVL_ACT_RECV_B)) {
        return ovl_schedule_send_recv(s, &lowered, mark, &work->arena, &work->errs);
    }
    if (ovl_schedule_steps(s, mark, &errs) == 0 && errs.count) {
        ovl_warning(&work->errs, errs.items[0].mark,
                    "in PyTorch's simulation, where a rank waits at each receive, %s",
                    errs.items[0].text);
    }
    return true;
}

/* Whether receives right before what needs them would not meet their sends: then that is said. */
static bool needs_early(ovl_work *work, const ovl_schedule *s, ovl_mark mark)
{
    if (ovl_schedule_has(s, OVL_ACT_SEND_F, OVL_ACT_RECV_B) || ovl_schedule_in_order(s)) {
        return false;
    }
    ovl_warning(&work->errs, mark,
                "ranks take microbatches in another order than their neighbours: the scenario says "
                "receives: early, which posts each receive when the other side sends, as PyTorch "
                "does");
    return true;
}

/* Options and further files are for traces. */
static bool alone(ovl_work *work, const ovl_args *args)
{
    static const char *const keys[] = {"step", "self-contained"};
    const char *path = args->operands[0];
    if (args->n_operands > 1) {
        ovl_error(
            &work->errs, OVL_E_USAGE, nowhere,
            "\"%s\" is a pipeline schedule: one file at a time; the other ranks are rows of it",
            path);
        return false;
    }
    for (uint32_t i = 0; i < OVL_COUNT(keys); i++) {
        if (ovl_args_has(args, keys[i])) {
            ovl_error(&work->errs, OVL_E_USAGE, nowhere,
                      "--%s is for traces; \"%s\" is a pipeline schedule", keys[i], path);
            return false;
        }
    }
    return true;
}

static void import(ovl_work *work, const ovl_args *args)
{
    const char *path = args->operands[0], *why = NULL;
    size_t length = 0;
    const char *text = work->files.read(work->files.context, path, &length, &work->arena, &why);
    if (!text) {
        ovl_error(&work->errs, OVL_E_INPUT, nowhere, "cannot read \"%s\": %s", path, why);
        return;
    }
    if (!is_schedule(text)) {
        ovl_error(&work->errs, OVL_E_INPUT, (ovl_mark){path, 1, 1},
                  "this is neither a trace nor a pipeline schedule: a row of one begins as in "
                  "0F0,0F1,0B0");
        return;
    }
    ovl_schedule s;
    ovl_csv_dialect dialect;
    const ovl_mark mark = {path, 0, 0};
    if (!alone(work, args)) {
        return;
    }
    bool whole = ovl_schedule_read_csv(path, text, &s, &dialect, &work->arena, &work->errs);
    if (s.n_stages == 0 || !ovl_schedule_check(&s, whole, mark, &work->errs) || !whole ||
        !can_finish(work, &s, mark)) {
        return;
    }
    bool early = needs_early(work, &s, mark);
    ovl_out file, *out = ovl_work_output(args, work->shell, &file);
    write_scenario(out, path, &s, dialect, early, &work->arena);
    ovl_work_written(work, args, out);
}

static bool begins_as_schedule(ovl_work *work, const char *path)
{
    const char *why = NULL;
    size_t length = 0;
    const char *text = work->files.read(work->files.context, path, &length, &work->arena, &why);
    return text && is_schedule(text);
}

int ovl_cmd_import(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_work_begin(&work, shell);
    if (ovl_import_is_trace(args->operands[0]) ||
        (args->n_operands > 1 && !begins_as_schedule(&work, args->operands[0]))) {
        ovl_import_trace(&work, args);
        return ovl_work_end(&work, OVL_EXIT_DONE);
    }
    import(&work, args);
    return ovl_work_end(&work, OVL_EXIT_DONE);
}
