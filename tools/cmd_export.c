#include "sim/critical.h"
#include "tools/session.h"
#include "tools/trace.h"

#define MOST_RANKS 64 /* written unless --ranks says otherwise */

static const ovl_mark nowhere = {0};

/* [n_ranks] which ranks to write, or NULL and an error. */
static const bool *choose_ranks(ovl_session *session, const ovl_args *args, uint32_t n_ranks)
{
    bool *chosen = OVL_NEW_ARRAY(&session->arena, bool, n_ranks);
    const char *text = ovl_args_value(args, "ranks");
    if (text) {
        const char *why = ovl_ranks_read(text, chosen, n_ranks, &session->arena);
        if (why) {
            ovl_error(&session->errs, OVL_E_USAGE, nowhere, "%s", why);
            return NULL;
        }
        return chosen;
    }
    for (uint32_t rank = 0; rank < OVL_MIN(n_ranks, MOST_RANKS); rank++) {
        chosen[rank] = true;
    }
    if (n_ranks > MOST_RANKS) {
        ovl_out_printf(session->shell->err,
                       "writing ranks 0-%d of %" PRIu32 "; choose others with --ranks\n",
                       MOST_RANKS - 1, n_ranks);
    }
    return chosen;
}

static void write_trace(ovl_session *session, const ovl_args *args, const ovl_prepared *prepared,
                        const ovl_timeline *timeline, const bool *ranks)
{
    const ovl_program *program = &prepared->lowered.program;
    ovl_causes causes;
    ovl_path path;
    ovl_causes_init(&causes, program, timeline, &session->arena);
    ovl_critical_path(&causes, &session->arena, &session->arena, &path);
    ovl_trace_job job = {
        .program = program,
        .timeline = timeline,
        .causes = &causes,
        .ranks = ranks,
        .critical = path.rank_on,
        .scenario = prepared->scenario.name,
        .variant = prepared->scenario.variant,
        .interference = ovl_interference_name((ovl_interference)prepared->scenario.interference),
    };
    ovl_out file, *out = ovl_session_output(args, session->shell, &file);
    ovl_trace_write(out, &job);
    ovl_session_written(session, args, out);
    ovl_causes_free(&causes);
}

static void export_trace(ovl_session *session, const ovl_args *args)
{
    ovl_document doc;
    ovl_prepared prepared = {0};
    ovl_timeline timeline;
    if (!ovl_session_load(session, args->operands[0], &doc) ||
        !ovl_session_prepare(session, &doc, ovl_args_value(args, "variant"), &prepared)) {
        return;
    }
    const ovl_program *program = &prepared.lowered.program;
    const bool *ranks = choose_ranks(session, args, program->n_ranks);
    ovl_run_options options = {(ovl_interference)prepared.scenario.interference, OVL_NONE, true};
    if (ranks && ovl_run(program, &options, &session->arena, &timeline, &session->errs)) {
        write_trace(session, args, &prepared, &timeline, ranks);
    }
}

int ovl_cmd_export(const ovl_args *args, const ovl_shell *shell)
{
    ovl_session session;
    ovl_session_begin(&session, shell);
    ovl_session_sets(&session, args);
    if (ovl_args_has(args, "trace")) {
        export_trace(&session, args);
    } else {
        ovl_error(&session.errs, OVL_E_USAGE, nowhere, "export what? Write: ovl export --trace %s",
                  args->operands[0]);
    }
    return ovl_session_end(&session, OVL_EXIT_DONE);
}
