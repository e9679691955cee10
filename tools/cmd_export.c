#include "models/schedule_csv.h"
#include "models/schedule_lower.h"
#include "sim/critical.h"
#include "sim/fold.h"
#include "tools/keep.h"
#include "tools/trace.h"
#include "tools/work.h"

#include <string.h>

#define MOST_RANKS 64 /* written unless --ranks says otherwise */

static const ovl_mark nowhere = {0};

/* [n_ranks] which ranks to write, or NULL and an error. */
static const bool *choose_ranks(ovl_work *work, const ovl_args *args, uint32_t n_ranks)
{
    bool *chosen = OVL_NEW_ARRAY(&work->arena, bool, n_ranks);
    const char *text = ovl_args_value(args, "ranks");
    if (text) {
        const char *why = ovl_ranks_read(text, chosen, n_ranks, &work->arena);
        if (why) {
            ovl_error(&work->errs, OVL_E_USAGE, nowhere, "%s", why);
            return NULL;
        }
        return chosen;
    }
    for (uint32_t rank = 0; rank < OVL_MIN(n_ranks, MOST_RANKS); rank++) {
        chosen[rank] = true;
    }
    if (n_ranks > MOST_RANKS) {
        ovl_out_printf(work->shell->err,
                       "writing ranks 0-%d of %" PRIu32 "; choose others with --ranks\n",
                       MOST_RANKS - 1, n_ranks);
    }
    return chosen;
}

static void write_trace(ovl_work *work, const ovl_args *args, const ovl_prepared *prepared,
                        const ovl_timeline *timeline, const bool *ranks)
{
    const ovl_program *program = &prepared->lowered.program;
    ovl_causes causes;
    ovl_path path;
    ovl_causes_init(&causes, program, timeline, &work->arena);
    ovl_critical_path(&causes, NULL, &work->arena, &work->arena, &path);
    ovl_trace_job job = {
        .program = program,
        .timeline = timeline,
        .causes = &causes,
        .ranks = ranks,
        .critical = path.rank_on,
        .scenario = prepared->scenario.name,
        .variant = prepared->scenario.variant,
        .interference = ovl_interference_name((ovl_interference)prepared->scenario.interference),
        .schedule = prepared->lowered.schedule,
    };
    ovl_out file, *out = ovl_work_output(args, work->shell, &file);
    ovl_trace_write(out, &job);
    ovl_work_written(work, args, out);
    ovl_causes_free(&causes);
}

static void export_trace(ovl_work *work, const ovl_args *args)
{
    ovl_document doc;
    ovl_prepared prepared = {0};
    ovl_timeline timeline;
    ovl_side side;
    if (!ovl_work_side(work, args, &side) || !ovl_work_load(work, side.path, &doc) ||
        !ovl_work_prepare(work, &doc, side.variant, &prepared)) {
        return;
    }
    ovl_program *program = &prepared.lowered.program;
    const bool *ranks = choose_ranks(work, args, program->n_ranks);
    ovl_run_options options = {.interference = (ovl_interference)prepared.scenario.interference,
                               .segments = true,
                               .no_skip = ovl_args_has(args, "no-skip"),
                               .watch = &work->lookout.watch,
                               .memory = ovl_lookout_memory()};
    if (ranks && ovl_number_ops(program, &work->arena, &work->errs) &&
        ovl_run_whole(program, &options, ovl_args_has(args, "no-fold"), &work->arena, &timeline,
                      &work->errs)) {
        write_trace(work, args, &prepared, &timeline, ranks);
    }
}

/* --- Schedules --- */

static uint64_t weights_of(const ovl_schedule *s)
{
    uint64_t n = 0;
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        for (uint32_t i = 0; i < s->ranks[r].count; i++) {
            n += s->ranks[r].item[i].type == OVL_ACT_W;
        }
    }
    return n;
}

/* A W right behind its I becomes a B with it, and its neighbour gets the gradient later. */
static void merge(ovl_work *work, ovl_schedule *s)
{
    uint64_t before = weights_of(s);
    ovl_schedule_merge(s, s, &work->arena);
    uint64_t merged = before - weights_of(s);
    if (merged) {
        ovl_out_printf(work->shell->err,
                       "%" PRIu64 " of %" PRIu64 " W stood right behind their I and are one B with "
                       "it, as PyTorch lowers them: their gradients are sent after W, so the step "
                       "may be longer than that of the schedule; --no-merge keeps I and W apart\n",
                       merged, before);
    }
}

/* PyTorch's passes, in its order. A list that has sends and receives already went through them. */
static bool lower_schedule(ovl_work *work, const ovl_args *args, const ovl_pipeline *pipe,
                           ovl_schedule *s)
{
    bool placed = ovl_schedule_has(s, OVL_ACT_SEND_F, OVL_ACT_RECV_B);
    if (pipe->data.given) {
        ovl_schedule_add_data(s, &pipe->data.shards, &work->arena);
    }
    if (placed) {
        return true;
    }
    if (!ovl_args_has(args, "no-merge")) {
        merge(work, s);
    }
    return ovl_schedule_send_recv(s, s, pipe->mark, &work->arena, &work->errs);
}

static void export_schedule(ovl_work *work, const ovl_args *args)
{
    ovl_document doc;
    ovl_scenario scenario;
    const ovl_schedule *made = NULL;
    ovl_side side;
    if (!ovl_work_side(work, args, &side) || !ovl_work_load(work, side.path, &doc) ||
        !ovl_scenario_decode(&doc, side.variant, work->sets, work->n_sets, &scenario, &work->arena,
                             &work->errs) ||
        !ovl_lower_schedule(&scenario, &work->scratch, &made, &work->errs)) {
        return;
    }
    if (!made) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere, "\"%s\" has no overlap.pipeline to export",
                  side.path);
        return;
    }
    ovl_schedule s = *made;
    if (ovl_args_has(args, "lowered") && !lower_schedule(work, args, &scenario.pipeline, &s)) {
        return;
    }
    const char *dialect = ovl_args_value(args, "dialect");
    bool old = dialect && strcmp(dialect, "old") == 0;
    ovl_out file, *out = ovl_work_output(args, work->shell, &file);
    ovl_out_text(out, ovl_schedule_print_csv(&s, old ? OVL_CSV_OLD : OVL_CSV_NEW, &work->arena));
    ovl_work_written(work, args, out);
}

int ovl_cmd_export(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_work_begin(&work, shell);
    ovl_work_sets(&work, args);
    bool trace = ovl_args_has(args, "trace"), schedule = ovl_args_value(args, "schedule") != NULL;
    bool stored = ovl_args_has(args, "store");
    if (trace + schedule + stored > 1) {
        ovl_error(&work.errs, OVL_E_USAGE, nowhere,
                  "--trace, --schedule and --store exclude each other");
    } else if (trace) {
        export_trace(&work, args);
    } else if (schedule) {
        export_schedule(&work, args);
    } else if (stored) {
        ovl_export_stored(&work, args);
    } else {
        ovl_error(&work.errs, OVL_E_USAGE, nowhere,
                  "export what? Write: ovl export --trace %s, or ovl export --schedule csv %s",
                  args->operands[0], args->operands[0]);
    }
    return ovl_work_end(&work, OVL_EXIT_DONE);
}
