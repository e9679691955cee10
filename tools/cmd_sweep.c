/* ovl sweep: many points of one scenario. */
#include "tools/progress.h"
#include "tools/sweep.h"
#include "tools/work.h"

#include <string.h>

typedef struct job {
    ovl_work work;
    const ovl_args *args;
    ovl_sweep sweep;
    ovl_document doc;
    ovl_progress progress;
} job;

static const char **all_values(job *j, const char *name, uint32_t *n)
{
    const char **list = OVL_NEW_ARRAY(&j->work.arena, const char *, j->args->n_options);
    const char *value;
    *n = 0;
    while ((value = ovl_args_nth(j->args, name, *n)) != NULL) {
        list[(*n)++] = value;
    }
    return list;
}

static bool read_axes(job *j)
{
    ovl_axis_words words = {.samples = ovl_args_value(j->args, "samples"),
                            .seed = ovl_args_value(j->args, "seed")};
    words.over = all_values(j, "over", &words.n_over);
    words.zip = all_values(j, "zip", &words.n_zip);
    words.sample = all_values(j, "sample", &words.n_sample);
    return ovl_axes_read(&j->doc, &words, &j->sweep.axes, &j->work.arena, &j->work.errs);
}

static bool read_choice(job *j)
{
    const char *pareto = ovl_args_value(j->args, "pareto");
    const char *objective = ovl_args_value(j->args, "objective");
    ovl_sweep *s = &j->sweep;
    uint32_t n = 0;
    const char **texts = all_values(j, "where", &n);
    ovl_where *where = OVL_NEW_ARRAY(&j->work.arena, ovl_where, n);
    bool good =
        ovl_metric_list_read(pareto ? pareto : "step,peak", "pareto", &s->pareto, &j->work.errs);
    s->objective = OVL_M_STEP;
    if (objective) {
        s->objective = ovl_metric_find(objective, "objective", &j->work.errs);
        good = good && s->objective != OVL_NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        good = ovl_where_read(texts[i], "where", &where[i], &j->work.errs) && good;
    }
    s->where = where;
    s->n_where = n;
    const char *rows = ovl_args_value(j->args, "rows");
    s->all_rows = rows && strcmp(rows, "all") == 0;
    return good;
}

static bool read_jobs(job *j, uint32_t *threads)
{
    const char *text = ovl_args_value(j->args, "jobs");
    int64_t n = 0;
    *threads = 0;
    if (text && (ovl_read_count(text, &n) || n < 1 || n > 1024)) {
        ovl_error(&j->work.errs, OVL_E_USAGE, (ovl_mark){0},
                  "--jobs takes a number of threads from 1 to 1024; found \"%s\"", text);
        return false;
    }
    *threads = (uint32_t)n;
    return true;
}

static void tick(void *context, uint32_t done)
{
    job *j = context;
    ovl_progress_at(&j->progress, done);
}

static void write_sweep(job *j)
{
    ovl_out file, *out = ovl_work_output(j->args, j->work.shell, &file);
    if (ovl_args_has(j->args, "json")) {
        ovl_sweep_json(out, &j->sweep);
    } else if (ovl_args_has(j->args, "csv")) {
        ovl_sweep_csv(out, &j->sweep);
    } else {
        ovl_sweep_text(out, &j->sweep);
    }
    ovl_work_written(&j->work, j->args, out);
}

static int simulate(job *j, uint32_t threads)
{
    ovl_sweep *s = &j->sweep;
    ovl_sweep_begin(s, &j->work.arena);
    ovl_sweep_how how = {.threads = threads, .context = j, .tick = tick};
    ovl_progress_begin(&j->progress, j->work.shell->err, "points", s->axes.n_points);
    ovl_sweep_run(s, &how, &j->work.arena);
    ovl_progress_end(&j->progress);
    ovl_sweep_choose(s, &j->work.arena);
    write_sweep(j);
    if (s->signal) {
        ovl_out_printf(j->work.shell->err,
                       "interrupted: %" PRIu32 " of %" PRIu32 " points were simulated\n",
                       s->n_done + s->n_failed, s->axes.n_points);
        return OVL_EXIT_SIGNAL + s->signal;
    }
    return ovl_sweep_status(s);
}

int ovl_cmd_sweep(const ovl_args *args, const ovl_shell *shell)
{
    job j = {.args = args};
    ovl_side side;
    uint32_t threads;
    int status = OVL_EXIT_DONE;
    ovl_work_begin(&j.work, shell);
    ovl_work_sets(&j.work, args);
    bool good = read_choice(&j);
    good = read_jobs(&j, &threads) && good;
    if (ovl_work_side(&j.work, args, &side) && ovl_work_load(&j.work, side.path, &j.doc)) {
        j.sweep.doc = &j.doc;
        j.sweep.variant = side.variant;
        j.sweep.sets = j.work.sets;
        j.sweep.n_sets = j.work.n_sets;
        j.sweep.no_fold = ovl_args_has(args, "no-fold");
        if (read_axes(&j) && good) {
            status = simulate(&j, threads);
        }
    }
    return ovl_work_end(&j.work, status);
}
