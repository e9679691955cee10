#include "sim/critical.h"
#include "tools/page.h"
#include "tools/what_if.h"
#include "tools/work.h"

#include <string.h>

#define MOST_RANKS 64 /* shown unless --ranks says otherwise */

static const ovl_mark nowhere = {0};

/* A run with all that a page shows of it. */
typedef struct side {
    ovl_document doc;
    ovl_prepared prepared;
    ovl_arena arena; /* of its program */
    ovl_timeline timeline;
    ovl_causes causes;
    ovl_result result;
    ovl_trace_job job;
    ovl_three_runs three;
    bool controlled; /* three are there */
    const char *left_out;
} side;

/* Which ranks to show: those of --ranks, or the first, and the one that decides. */
static const bool *choose_ranks(ovl_work *work, const ovl_args *args, side *s)
{
    uint32_t n = s->prepared.lowered.program.n_ranks;
    bool *chosen = OVL_NEW_ARRAY(&work->arena, bool, n);
    const char *text = ovl_args_value(args, "ranks");
    if (text) {
        const char *why = ovl_ranks_read(text, chosen, n, &work->arena);
        if (why) {
            ovl_error(&work->errs, OVL_E_USAGE, nowhere, "%s", why);
            return NULL;
        }
        return chosen;
    }
    for (uint32_t rank = 0; rank < OVL_MIN(n, MOST_RANKS); rank++) {
        chosen[rank] = true;
    }
    chosen[s->result.deciding_rank] = true;
    return chosen;
}

static bool analyse(ovl_work *work, const ovl_args *args, side *s)
{
    ovl_ask ask = ovl_work_ask(args);
    bool small = s->prepared.lowered.program.n_ops <= OVL_WHAT_IF_OPS;
    ask.memory_lines = small;
    if (!small) {
        s->left_out = "Memory over time and the controlled runs are left out: there are more than "
                      "200,000 operations.";
    }
    return ovl_number_ops(&s->prepared.lowered.program, &work->arena, &work->errs) &&
           ovl_work_analyse(work, &s->prepared, &ask, &s->result, &s->timeline);
}

static bool make_job(ovl_work *work, const ovl_args *args, side *s)
{
    const ovl_scenario *scenario = &s->prepared.scenario;
    ovl_path path;
    const bool *ranks = choose_ranks(work, args, s);
    if (!ranks) {
        return false;
    }
    ovl_causes_init(&s->causes, &s->prepared.lowered.program, &s->timeline, &work->arena);
    ovl_critical_path(&s->causes, NULL, &work->arena, &work->arena, &path);
    s->job = (ovl_trace_job){
        .program = &s->prepared.lowered.program,
        .timeline = &s->timeline,
        .causes = &s->causes,
        .ranks = ranks,
        .critical = path.rank_on,
        .scenario = scenario->name,
        .variant = scenario->variant,
        .interference = ovl_interference_name((ovl_interference)scenario->interference),
    };
    return true;
}

static bool control(ovl_work *work, side *s)
{
    const ovl_scenario *scenario = &s->prepared.scenario;
    ovl_run_options options = {.interference = (ovl_interference)scenario->interference,
                               .watch = &work->lookout.watch,
                               .memory = ovl_lookout_memory()};
    s->three = (ovl_three_runs){.scenario = scenario->name,
                                .variant = scenario->variant ? scenario->variant : "base",
                                .interference = ovl_interference_name(options.interference)};
    s->controlled = s->prepared.lowered.program.n_ops <= OVL_WHAT_IF_OPS;
    return !s->controlled || ovl_controlled_find(&s->prepared.lowered.program, &options,
                                                 &work->arena, &s->three.runs, &work->errs);
}

static bool simulate(ovl_work *work, const ovl_args *args, const char *word, side *s)
{
    ovl_side named = ovl_side_of(word, &work->arena);
    if (!ovl_work_load(work, named.path, &s->doc) ||
        !ovl_work_prepare(work, &s->doc, named.variant, &s->prepared)) {
        return false;
    }
    /* The program has to last until the page is written, beyond those that are prepared later. */
    s->arena = work->scratch;
    work->scratch = (ovl_arena){0};
    if (!analyse(work, args, s) || !make_job(work, args, s) || !control(work, s)) {
        return false;
    }
    if (s->result.idle.telling && s->prepared.lowered.program.n_ops <= OVL_WHAT_IF_OPS) {
        ovl_what_if(work, &s->doc, named.variant, &s->prepared, &s->result);
    }
    return true;
}

static void write_page(ovl_work *work, const ovl_args *args, side *sides, uint32_t n)
{
    ovl_page_run *runs = OVL_NEW_ARRAY(&work->arena, ovl_page_run, n);
    ovl_comparison *comparisons = OVL_NEW_ARRAY(&work->arena, ovl_comparison, n);
    for (uint32_t i = 0; i < n; i++) {
        runs[i] = (ovl_page_run){args->operands[i],
                                 &sides[i].result,
                                 &sides[i].job,
                                 ovl_work_recorder(work, &sides[i].doc),
                                 sides[i].controlled ? &sides[i].three : NULL,
                                 sides[i].left_out};
        if (i > 0) {
            ovl_compare(&sides[0].result, &sides[i].result, &work->arena, &comparisons[i - 1]);
        }
    }
    ovl_page page = {runs, n, comparisons, work->sets, work->n_sets};
    ovl_out file, *out = ovl_work_output(args, work->shell, &file);
    ovl_page_write(out, &page);
    ovl_work_written(work, args, out);
    if (!ovl_page_draws()) {
        ovl_out_text(work->shell->err,
                     "the page has no timeline: this ovl was built without D3 (Debian package "
                     "node-d3; install it, configure and build again)\n");
    }
}

int ovl_cmd_report(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    int status = OVL_EXIT_DONE;
    bool good = true;
    ovl_work_begin(&work, shell);
    ovl_work_sets(&work, args);
    work.keeps = true;
    uint32_t n = args->n_operands;
    side *sides = OVL_NEW_ARRAY(&work.arena, side, n);
    for (uint32_t i = 0; i < n; i++) {
        good = simulate(&work, args, args->operands[i], &sides[i]) && good;
        status = good && ovl_result_status(&sides[i].result) ? OVL_EXIT_FAILED : status;
    }
    if (good) {
        write_page(&work, args, sides, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        ovl_causes_free(&sides[i].causes);
        ovl_arena_free(&sides[i].arena);
    }
    return ovl_work_end(&work, status);
}
