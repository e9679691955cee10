/* ovl optimize: the best change of one scenario. */
#include "tools/optimize.h"
#include "tools/report.h"
#include "tools/sweep_args.h"

typedef struct job {
    ovl_work work;
    const ovl_args *args;
    ovl_document doc;
    ovl_sweep start;
    ovl_optimize optimize;
} job;

/* What is looked through: what the words say, else the sweep section, else what the scenario has.
 */
static bool choose_search(job *j)
{
    ovl_optimize *o = &j->optimize;
    const ovl_args *args = j->args;
    bool words =
        ovl_args_has(args, "over") || ovl_args_has(args, "zip") || ovl_args_has(args, "sample");
    const ovl_node *root = j->doc.root;
    o->buckets = ovl_args_has(args, "buckets");
    o->stages = ovl_args_has(args, "stages");
    if (words || (!o->buckets && !o->stages && ovl_node_gives(root, "sweep"))) {
        return ovl_sweep_read_axes(&j->work, args, &j->doc, &j->start.axes) &&
               ovl_sweep_check(&j->start, &j->work.arena, &j->work.errs);
    }
    if (!o->buckets && !o->stages) {
        o->stages = ovl_node_gives(ovl_node_get(root, "overlap"), "pipeline");
        o->buckets = !o->stages;
    }
    return true;
}

static bool read_words(job *j)
{
    int64_t tries = 6000, seed = 1;
    bool good = ovl_sweep_read_choice(&j->work, j->args, &j->start);
    good = ovl_sweep_read_jobs(&j->work, j->args, &j->optimize.threads) && good;
    j->start.memory = ovl_sweep_memory(j->optimize.threads);
    good = ovl_args_count(&j->work, j->args, "tries", 1, 10000000, &tries) && good;
    good = ovl_args_count(&j->work, j->args, "seed", 0, INT64_MAX, &seed) && good;
    j->optimize.tries = (uint32_t)tries;
    j->optimize.seed = (uint64_t)seed;
    return good;
}

/* The start beside the best; where nothing is gained, beside what comes closest. */
static bool compare(job *j, ovl_result *a, ovl_result *b, ovl_comparison *c)
{
    ovl_optimize *o = &j->optimize;
    const ovl_candidate *beside =
        o->n_best && !ovl_optimize_gains(o) ? ovl_optimize_closest(o) : &o->best[0];
    if (o->n_best == 0 ||
        !ovl_candidate_result(o, &o->first, OVL_WORTH_DEFAULT, a, &j->work.arena, &j->work.errs) ||
        !ovl_candidate_result(o, beside, OVL_WORTH_DEFAULT, b, &j->work.arena, &j->work.errs)) {
        return false;
    }
    b->variant = ovl_optimize_gains(o) ? "optimized" : "closest";
    ovl_optimize_bound(o, ovl_optimize_gains(o) ? b : a);
    ovl_compare(a, b, &j->work.arena, c);
    return true;
}

static int search(job *j)
{
    ovl_optimize *o = &j->optimize;
    ovl_result a, b;
    ovl_comparison c;
    o->start = &j->start;
    o->arena = &j->work.arena;
    o->err = j->work.shell->err;
    if (!ovl_optimize_run(o, &j->work.errs)) {
        ovl_out_printf(j->work.shell->err, "%s\n", o->error);
        return (int)o->status;
    }
    if (j->work.errs.errors) {
        return OVL_EXIT_DONE; /* the errors have the status */
    }
    bool compared = compare(j, &a, &b, &c);
    ovl_out file, *out = ovl_work_output(j->args, j->work.shell, &file);
    if (ovl_args_has(j->args, "json")) {
        ovl_optimize_json(out, o, compared ? &c : NULL);
    } else {
        ovl_optimize_text(out, o, compared ? &c : NULL);
    }
    ovl_work_written(&j->work, j->args, out);
    if (o->signal) {
        ovl_out_printf(j->work.shell->err,
                       "error: interrupted after %s: the best until then is shown\n",
                       ovl_counted(&j->work.arena, o->simulated, "simulation"));
        return OVL_EXIT_SIGNAL + o->signal;
    }
    return o->n_best || ovl_candidate_good(o, &o->first) ? OVL_EXIT_DONE : OVL_EXIT_FAILED;
}

int ovl_cmd_optimize(const ovl_args *args, const ovl_shell *shell)
{
    job j = {.args = args};
    ovl_side side;
    int status = OVL_EXIT_DONE;
    ovl_work_begin(&j.work, shell);
    ovl_work_sets(&j.work, args);
    bool good = read_words(&j);
    if (ovl_work_side(&j.work, args, &side) && ovl_work_load(&j.work, side.path, &j.doc)) {
        j.start.doc = &j.doc;
        j.start.variant = side.variant;
        j.start.sets = j.work.sets;
        j.start.n_sets = j.work.n_sets;
        if (choose_search(&j) && good) {
            status = search(&j);
        }
    }
    return ovl_work_end(&j.work, status);
}
