#include "tools/import_trace.h"

#include "tools/files.h"
#include "tools/report.h"
#include "tools/source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool ovl_import_is_trace(const char *path)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_source source;
    bool trace = false;
    if (ovl_source_open(&source, path, &errs)) {
        const char *p = source.at;
        while (p < source.end && strchr(" \t\r\n\xEF\xBB\xBF", *p)) {
            p++;
        }
        size_t left = (size_t)(source.end - p);
        const char *line = left ? memchr(p, '\n', left) : NULL;
        size_t first = line ? (size_t)(line - p) : left;
        bool intervals = false;
        for (size_t i = 0; i + 6 < first; i++) {
            intervals |= memcmp(p + i, "start_", 6) == 0;
        }
        trace = source.compressed || intervals ||
                (left && (*p == '{' || *p == '[' || *p == '\0' || *p == 'S'));
        ovl_source_close(&source);
    }
    ovl_arena_free(&arena);
    return trace;
}

static const char *base_of(const char *path, ovl_arena *arena)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strchr(name, '.');
    return ovl_arena_strndup(arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* A trace is named as seen from the scenario: as it is where that lies here, else from the root. */
static const char *seen_from(const char *output, const char *path, ovl_arena *arena)
{
    if (*path == '/' || !output || !strchr(output, '/')) {
        return path;
    }
    char here[4096];
    return getcwd(here, sizeof here) ? ovl_arena_printf(arena, "%s/%s", here, path) : path;
}

/* The scenario that names the files; `output`: where it will lie. */
static const char *referring(const ovl_args *args, const char *output, const char *step,
                             ovl_arena *arena)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) {
        ovl_out_of_memory(1);
    }
    ovl_out out;
    ovl_out_stream(&out, memory);
    ovl_out_printf(&out, "# A measured step, to be replayed; workload.what_if asks what would "
                         "change it.\nname: ");
    ovl_out_quoted(&out, base_of(args->operands[0], arena));
    ovl_out_text(&out, "\nworkload:\n  trace: [");
    for (uint32_t i = 0; i < args->n_operands; i++) {
        ovl_out_text(&out, i ? ", " : "");
        ovl_out_quoted(&out, seen_from(output, args->operands[i], arena));
    }
    ovl_out_text(&out, "]\n");
    if (step) {
        ovl_out_text(&out, "  replay: {step: ");
        ovl_out_quoted(&out, step);
        ovl_out_text(&out, "}\n");
    }
    ovl_out_close(&out);
    fclose(memory);
    const char *copy = ovl_arena_strdup(arena, text);
    free(text);
    return copy;
}

/* --- The step as an explicit program --- */

static const char *text_of(const ovl_recorded *rec, ovl_id name)
{
    return ovl_names_text(&rec->names, name);
}

/* Unique on its rank; braces would be counters. */
static const char *op_name(const ovl_recorded *rec, const ovl_rec_op *op, uint32_t i,
                           ovl_arena *arena)
{
    char *name = ovl_arena_printf(arena, "%s #%" PRIu32, text_of(rec, op->name), i);
    for (char *p = name; *p; p++) {
        *p = *p == '{' ? '(' : *p == '}' ? ')' : *p;
    }
    return name;
}

static void write_waits(ovl_out *out, const ovl_recorded *rec, const ovl_rec_rank *rank,
                        const ovl_rec_op *op, ovl_arena *arena)
{
    for (uint32_t a = 0; a < op->n_after; a++) {
        uint32_t on = rank->after[op->first_after + a];
        ovl_out_text(out, a ? ", " : ", after: [");
        ovl_out_quoted(out, op_name(rec, &rank->ops[on], on, arena));
    }
    ovl_out_text(out, op->n_after ? "]" : "");
}

static void write_op(ovl_out *out, const ovl_recorded *rec, const ovl_rec_rank *rank, uint32_t r,
                     uint32_t i, ovl_arena *arena)
{
    const ovl_rec_op *op = &rank->ops[i];
    ovl_out_printf(out, "    - {%s: ", ovl_op_kind_name((ovl_op_kind)op->kind));
    ovl_out_quoted(out, op_name(rec, op, i, arena));
    ovl_out_printf(out, ", ranks: %" PRIu32 ", duration: %" PRId64 " ps", r, op->length);
    if (op->stream != OVL_NONE) {
        ovl_out_text(out, ", stream: ");
        ovl_out_quoted(out, text_of(rec, op->stream));
    }
    if (op->kind != OVL_HOST) {
        ovl_out_printf(out, ", launch: %" PRId64 " ps", op->launch);
    }
    if (op->kind == OVL_COLLECTIVE) {
        ovl_out_printf(out, ", op: %s, group: group%" PRIu32,
                       ovl_coll_name((ovl_coll)(op->coll == OVL_SEND_RECV ? OVL_ALL_TO_ALL
                                                                          : (ovl_coll)op->coll)),
                       op->group);
        if (op->bytes) {
            ovl_out_printf(out, ", bytes: %" PRIu64 " B", op->bytes);
        }
    }
    if (op->kind == OVL_COPY) {
        ovl_out_printf(out, ", direction: %s", op->engine ? "h2d" : "d2h");
    }
    write_waits(out, rec, rank, op, arena);
    ovl_out_text(out, "}\n");
}

static void write_groups(ovl_out *out, const ovl_recorded *rec)
{
    ovl_out_text(out, rec->n_groups ? "  groups:\n" : "");
    for (uint32_t g = 0; g < rec->n_groups; g++) {
        ovl_out_printf(out, "    group%" PRIu32 ": [", g);
        for (uint32_t k = 0; k < rec->groups[g].n_ranks; k++) {
            ovl_out_printf(out, "%s%" PRIu32, k ? ", " : "", rec->groups[g].ranks[k]);
        }
        ovl_out_text(out, "]\n");
    }
}

static void write_program(ovl_out *out, const ovl_scenario *s, const char *name)
{
    const ovl_recorded *rec = s->recorded;
    ovl_out_printf(out, "# The replay of %s as an explicit program.\nname: ", rec->what);
    ovl_out_quoted(out, name);
    ovl_out_printf(out, "\ninterference: none\nworkload:\n  ranks: %" PRIu32 "\n", rec->n_ranks);
    write_groups(out, rec);
    ovl_out_text(out, "  ops:\n");
    for (uint32_t r = 0; r < rec->n_ranks; r++) {
        for (uint32_t i = 0; i < rec->ranks[r].n_ops; i++) {
            ovl_arena arena = {0};
            write_op(out, rec, &rec->ranks[r], r, i, &arena);
            ovl_arena_free(&arena);
        }
    }
}

static bool has_messages(const ovl_recorded *rec)
{
    for (uint32_t r = 0; r < rec->n_ranks; r++) {
        for (uint32_t i = 0; i < rec->ranks[r].n_ops; i++) {
            uint8_t kind = rec->ranks[r].ops[i].kind;
            if (kind == OVL_SEND || kind == OVL_RECV || kind == OVL_BATCH) {
                return true;
            }
        }
    }
    return false;
}

/* --- The whole --- */

static const char *read_made(void *context, const char *path, size_t *length, ovl_arena *arena,
                             const char **why)
{
    const char *text = context;
    (void)path, (void)why;
    *length = strlen(text);
    return ovl_arena_strdup(arena, text);
}

#define MADE "the scenario that names them"

/* Nobody sees the scenario that was made: what is wrong with it is wrong with the traces. */
static void name_files(ovl_errs *errs, const char *trace)
{
    for (uint32_t i = 0; i < errs->count; i++) {
        if (errs->items[i].mark.file && strcmp(errs->items[i].mark.file, MADE) == 0) {
            errs->items[i].mark = (ovl_mark){trace, 0, 0};
        }
    }
}

/* The traces as they will be replayed, and how well that goes. */
static bool try_it(ovl_work *work, const ovl_args *args, ovl_prepared *prepared, ovl_result *result)
{
    ovl_document doc;
    ovl_ask ask = {.worth = OVL_WORTH_NONE, .only_replay = true};
    const char *made = referring(args, NULL, ovl_args_value(args, "step"), &work->arena);
    ovl_files real = work->files;
    char *context = ovl_arena_strdup(&work->arena, made);
    work->files = (ovl_files){read_made, context, ovl_real_files().see};
    bool good = ovl_work_load(work, MADE, &doc) && ovl_work_prepare(work, &doc, NULL, prepared) &&
                ovl_work_analyse(work, prepared, &ask, result, NULL);
    work->files = real;
    name_files(&work->errs, args->operands[0]);
    return good;
}

void ovl_import_trace(ovl_work *work, const ovl_args *args)
{
    ovl_prepared prepared = {0};
    ovl_result result;
    ovl_out file;
    const char *output = ovl_args_value(args, "output");
    bool whole = ovl_args_has(args, "self-contained");
    if (!try_it(work, args, &prepared, &result)) {
        return;
    }
    const ovl_recorded *rec = prepared.scenario.recorded;
    if (whole && has_messages(rec)) {
        ovl_error(&work->errs, OVL_E_USAGE, (ovl_mark){0},
                  "--self-contained has no words for the sends and receives of an exported run: "
                  "leave it out, and the scenario names the trace");
        return;
    }
    ovl_out *out = ovl_work_output(args, work->shell, &file);
    if (whole) {
        write_program(out, &prepared.scenario, base_of(args->operands[0], &work->arena));
    } else {
        const char *step = ovl_args_value(args, "step");
        step = step ? step : strcmp(rec->what, "the whole trace") == 0 ? "all" : rec->what;
        step = args->n_operands && strncmp(rec->what, "a run", 5) == 0 ? NULL : step;
        ovl_out_text(out, referring(args, output, step, &work->arena));
    }
    ovl_work_written(work, args, out);
    ovl_report_replay(out == work->shell->out ? work->shell->err : work->shell->out, result.replay);
}
