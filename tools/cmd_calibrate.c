#include "models/pattern.h"
#include "tools/calibrate.h"
#include "tools/comm_names.h"
#include "tools/two_point_report.h"
#include "tools/work.h"

#include <stdlib.h>
#include <string.h>

static const ovl_mark nowhere = {0};

static uint32_t count_of(const ovl_args *args, const char *option)
{
    uint32_t count = 0;
    while (ovl_args_nth(args, option, count)) {
        count++;
    }
    return count;
}

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
    uint32_t count = count_of(args, option);
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

static bool wants_runs(const ovl_args *args)
{
    return ovl_args_has(args, "compute") || ovl_args_has(args, "comm") ||
           ovl_args_has(args, "overlap");
}

static void read_wishes(ovl_work *work, const ovl_args *args, ovl_cal_wishes *wishes)
{
    const char *op = ovl_args_value(args, "op");
    *wishes =
        (ovl_cal_wishes){.out_of_place = ovl_args_has(args, "out-of-place"),
                         .pattern = wants_runs(args) ? NULL : ovl_args_value(args, "comm-pattern")};
    wishes->groups = renames(args, "group", &wishes->n_groups, &work->arena);
    wishes->via = renames(args, "via", &wishes->n_via, &work->arena);
    wishes->op = op ? ovl_comm_op_name((ovl_slice){op, strlen(op)}) : NULL;
    const char *ranks = ovl_args_value(args, "ranks");
    const char *why = ranks ? ovl_read_count(ranks, &wishes->ranks) : NULL;
    if (why || (ranks && wishes->ranks < 1)) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere, "--ranks \"%s\" is no number of ranks", ranks);
    }
    if (op && strcmp(wishes->op, "other") == 0) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere,
                  "--op \"%s\" is no operation; write all_reduce, all_gather, reduce_scatter, "
                  "broadcast, reduce, all_to_all or send_recv",
                  op);
    }
}

/* --- Three runs --- */

/* A value with its unit; NULL: not given, 0. */
static double quantity(ovl_work *work, const ovl_args *args, const char *option)
{
    const char *text = ovl_args_value(args, option), *why = NULL;
    ovl_time time = 0;
    uint64_t rate = 0;
    int64_t count = 0;
    if (!text) {
        return 0;
    }
    if (strcmp(option, "alpha") == 0) {
        why = ovl_read_time(text, &time);
    } else if (strcmp(option, "sms") == 0) {
        why = ovl_read_count(text, &count);
    } else {
        why = ovl_read_rate(text, &rate);
    }
    if (!why && time == 0 && rate == 0 && count <= 0 && strcmp(option, "alpha") != 0) {
        why = "must be more than 0";
    }
    if (why) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere, "--%s is \"%s\": %s", option, text, why);
    }
    return (double)time / (double)OVL_NS + (double)rate + (double)count;
}

/* "REGEX=CLASS": the last `=` ends the expression. */
static void read_rule(ovl_work *work, const char *text, ovl_interfere_wishes *wishes)
{
    const char *equals = strrchr(text, '=');
    ovl_class_rule rule = {.name = equals ? equals + 1 : NULL};
    if (!equals || equals == text || !equals[1]) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere,
                  "--class is \"%s\": expected REGEX=CLASS, such as 'cutlass|xmma=gemm'", text);
        return;
    }
    const char *regex = ovl_arena_strndup(&work->arena, text, (size_t)(equals - text));
    const char *why = ovl_pattern_compile(&rule.regex, regex, true, &work->arena);
    if (why) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere, "--class \"%s\": %s", regex, why);
        return;
    }
    wishes->rules[wishes->n_rules++] = rule;
}

static void read_runs(ovl_work *work, const ovl_args *args, ovl_interfere_wishes *wishes)
{
    static const char *const roles[] = {"compute", "comm", "overlap"};
    *wishes = (ovl_interfere_wishes){.alpha = quantity(work, args, "alpha"),
                                     .hbm = quantity(work, args, "hbm"),
                                     .sms = quantity(work, args, "sms"),
                                     .wire = quantity(work, args, "wire")};
    for (int role = 0; role < OVL_ROLES; role++) {
        uint32_t n = count_of(args, roles[role]);
        wishes->n_paths[role] = n;
        wishes->paths[role] = OVL_NEW_ARRAY(&work->arena, const char *, n);
        for (uint32_t i = 0; i < n; i++) {
            wishes->paths[role][i] = ovl_args_nth(args, roles[role], i);
        }
        if (n == 0) {
            ovl_error(&work->errs, OVL_E_USAGE, nowhere,
                      "interference needs three runs: --compute, --comm and --overlap; --%s is "
                      "missing",
                      roles[role]);
        }
    }
    uint32_t n = count_of(args, "class");
    wishes->rules = OVL_NEW_ARRAY(&work->arena, ovl_class_rule, n);
    for (uint32_t i = 0; i < n; i++) {
        read_rule(work, ovl_args_nth(args, "class", i), wishes);
    }
}

static void free_rules(ovl_interfere_wishes *wishes)
{
    for (uint32_t i = 0; i < wishes->n_rules; i++) {
        regfree(&wishes->rules[i].regex);
    }
}

/* --- The whole --- */

/* The tree of a profile, checked as a run would. NULL and errors if it is not one. */
static const ovl_node *read_profile(ovl_work *work, const char *file, const char *text,
                                    size_t length)
{
    ovl_hw hw;
    uint32_t before = work->errs.errors;
    const ovl_node *root = ovl_yaml_parse(file, text, length, &work->arena, &work->errs);
    if (root) {
        ovl_hw_decode(root, &hw, &work->arena, &work->errs);
    }
    return work->errs.errors == before ? root : NULL;
}

static const ovl_node *read_base(ovl_work *work, const ovl_args *args)
{
    const char *path = ovl_args_value(args, "base"), *why = NULL;
    size_t length = 0;
    if (!path) {
        return NULL;
    }
    const char *text = work->files.read(work->files.context, path, &length, &work->arena, &why);
    if (!text) {
        ovl_error(&work->errs, OVL_E_INPUT, (ovl_mark){path, 0, 0}, "cannot read \"%s\": %s", path,
                  why);
        return NULL;
    }
    return read_profile(work, path, text, length);
}

static bool has_entries(const ovl_calibration *cal)
{
    bool any = cal->runs != NULL;
    for (uint32_t i = 0; i < cal->series.len; i++) {
        any |= cal->series.data[i].written;
    }
    return any;
}

/* What a run would refuse in a profile stands at no place that the user could look at. */
static void say_refused(ovl_errs *errs, uint32_t from, bool base)
{
    for (uint32_t i = from; i < errs->count; i++) {
        ovl_err *e = &errs->items[i];
        e->mark = nowhere;
        e->text =
            ovl_arena_printf(errs->arena, "no profile is written, for a run would refuse it: %s%s",
                             e->text, base ? "" : " (--base FILE is a profile with links and GPU)");
    }
}

/* The profile is a file of its own beside the report. It is written once, so that a run will accept
 * it is known before. */
static void write_profile(ovl_work *work, const ovl_args *args, const ovl_calibration *cal)
{
    char *text = NULL;
    size_t length = 0;
    ovl_out draft, file, *out;
    if (!ovl_args_has(args, "output")) {
        return;
    }
    if (!has_entries(cal)) {
        ovl_error(&work->errs, OVL_E_INPUT, nowhere,
                  "no profile is written: nothing that was measured can stand in one");
        return;
    }
    FILE *memory = open_memstream(&text, &length);
    if (!memory) {
        ovl_out_of_memory(length);
    }
    ovl_out_stream(&draft, memory);
    ovl_calibrate_profile(&draft, cal);
    ovl_out_close(&draft);
    fclose(memory);
    uint32_t before = work->errs.count;
    if (!read_profile(work, ovl_args_value(args, "output"), text, length)) {
        say_refused(&work->errs, before, ovl_args_has(args, "base"));
    } else {
        out = ovl_work_output(args, work->shell, &file);
        ovl_out_write(out, text, length);
        ovl_work_written(work, args, out);
    }
    free(text);
}

static void report(ovl_work *work, const ovl_args *args, const ovl_calibration *cal)
{
    if (ovl_args_has(args, "json")) {
        ovl_calibrate_json(work->shell->out, cal, &work->errs);
    } else {
        ovl_calibrate_text(work->shell->out, cal);
    }
    write_profile(work, args, cal);
}

static void calibrate(ovl_work *work, const ovl_args *args, ovl_comm_pattern *pattern)
{
    ovl_cal_wishes wishes;
    ovl_interfere_wishes run_wishes = {.n_rules = 0};
    ovl_calibration cal;
    ovl_interfere runs = {.wishes = NULL};
    read_wishes(work, args, &wishes);
    if (wants_runs(args)) {
        read_runs(work, args, &run_wishes);
    }
    ovl_calibrate_begin(&cal, pattern, &wishes);
    cal.base = read_base(work, args);
    if (work->errs.errors == 0) {
        for (uint32_t i = 0; i < args->n_operands; i++) {
            ovl_calibrate_add(&cal, args->operands[i], &work->errs);
        }
        ovl_calibrate_fit(&cal, &work->errs);
        if (wants_runs(args) && ovl_interfere_run(&runs, pattern, &run_wishes, &work->errs)) {
            cal.runs = &runs;
        }
    }
    if (work->errs.errors == 0) {
        report(work, args, &cal);
    }
    ovl_calibrate_free(&cal);
    ovl_interfere_free(&runs);
    free_rules(&run_wishes);
}

static void from_files(ovl_work *work, const ovl_args *args)
{
    ovl_comm_pattern pattern;
    const char *text = ovl_args_value(args, "comm-pattern");
    if (args->n_operands == 0 && !wants_runs(args)) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere,
                  "nothing to calibrate: give files, or --compute, --comm and --overlap, or "
                  "--two-point");
    } else if (ovl_comm_pattern_begin(&pattern, text ? text : OVL_COMM_PATTERN, &work->errs)) {
        calibrate(work, args, &pattern);
        ovl_comm_pattern_free(&pattern);
    }
}

int ovl_cmd_calibrate(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_work_begin(&work, shell);
    if (ovl_args_has(args, "two-point")) {
        ovl_two_point_command(args, shell, &work.arena, &work.errs);
    } else {
        from_files(&work, args);
    }
    return ovl_work_end(&work, OVL_EXIT_DONE);
}
