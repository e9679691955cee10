/* ovl sweep: many points of one scenario. */
#include "tools/pool.h"
#include "tools/solve.h"
#include "tools/sweep_args.h"
#include "tools/sweep_team.h"

#include <stdio.h>
#include <string.h>

typedef struct job {
    ovl_work work;
    const ovl_args *args;
    ovl_sweep sweep;
    ovl_document doc;
    ovl_link link;
    ovl_sweep_store store;
    ovl_sweep_team team;
    ovl_stops stops; /* while it prepares */
    bool sharded;
} job;

/* --pareto and --rows beside what ovl optimize has, too. */
static bool read_choice(job *j)
{
    const char *pareto = ovl_args_value(j->args, "pareto");
    const char *rows = ovl_args_value(j->args, "rows");
    bool good = !pareto || ovl_metric_list_read(pareto, "pareto", &j->sweep.pareto, &j->work.errs);
    j->sweep.all_rows = rows && strcmp(rows, "all") == 0;
    return ovl_sweep_read_choice(&j->work, j->args, &j->sweep) && good;
}

/* "2/8": part 1 of 8. */
static bool read_shard(job *j)
{
    const char *text = ovl_args_value(j->args, "shard"), *slash = text ? strchr(text, '/') : NULL;
    int64_t part = 1, parts = 1;
    j->sharded = text != NULL;
    if (text) {
        const char *first =
            slash ? ovl_arena_strndup(&j->work.arena, text, (size_t)(slash - text)) : "";
        if (!slash || ovl_read_count(first, &part) || ovl_read_count(slash + 1, &parts) ||
            part < 1 || part > parts || parts > INT32_MAX) {
            ovl_error(&j->work.errs, OVL_E_USAGE, (ovl_mark){0},
                      "--shard takes a part and how many there are, such as 2/8; found \"%s\"",
                      text);
            return false;
        }
    }
    j->team.part = (uint32_t)part - 1;
    j->team.parts = (uint32_t)parts;
    return true;
}

static bool check_options(job *j)
{
    static const char *const need_store[] = {"resume", "shard", "merge"};
    bool good = true, store = ovl_args_has(j->args, "store");
    for (size_t i = 0; i < OVL_COUNT(need_store) && !store; i++) {
        if (ovl_args_has(j->args, need_store[i])) {
            ovl_error(&j->work.errs, OVL_E_USAGE, (ovl_mark){0},
                      "--%s needs the store that keeps the points: --store FILE", need_store[i]);
            good = false;
        }
    }
    if (j->link.size > 1 && j->sharded) {
        ovl_error(&j->work.errs, OVL_E_USAGE, (ovl_mark){0},
                  "the processes of mpirun share the points already: leave out --shard");
        good = false;
    }
    return good;
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

/* The first process alone sees the store. */
static bool open_store(job *j)
{
    uint32_t n = 0;
    const char *path = ovl_args_value(j->args, "store");
    const char **merge = ovl_args_all(j->args, "merge", &n, &j->work.arena);
    bool resume = ovl_args_has(j->args, "resume") || j->sharded || n;
    if (!path || j->link.rank) {
        return true;
    }
    bool good = ovl_sweep_store_open(&j->store, &j->work, path, &j->sweep, resume);
    if (good && ovl_args_has(j->args, "resume") && j->store.fresh) {
        ovl_out_printf(j->work.shell->err,
                       "%s does not hold this sweep: nothing is resumed, it begins anew\n", path);
    }
    for (uint32_t i = 0; good && i < n; i++) {
        good = ovl_sweep_store_merge(&j->store, merge[i]);
    }
    return good;
}

static uint32_t count_open(const ovl_sweep *s)
{
    uint32_t n = s->axes.n_points - s->ended;
    for (uint32_t i = 0; i < s->ended; i++) {
        n += s->points[i].state == OVL_POINT_OPEN;
    }
    return n;
}

static void say(job *j, const char *text)
{
    ovl_out_printf(j->work.shell->err, "%s\n", text);
}

/* A part of a sweep has nothing to choose from until the others are there. */
static int end_of_part(job *j)
{
    ovl_arena *a = &j->work.arena;
    uint32_t n = j->sweep.axes.n_points, parts = j->team.parts;
    say(j, ovl_arena_printf(a,
                            "part %" PRIu32 " of %" PRIu32
                            " is done, %s of %s points, and kept in %s; --resume prints the sweep "
                            "when all are",
                            j->team.part + 1, parts,
                            ovl_grouped((n - j->team.part + parts - 1) / parts, a),
                            ovl_grouped(n, a), ovl_args_value(j->args, "store")));
    return OVL_EXIT_DONE;
}

static int simulate(job *j)
{
    ovl_sweep *s = &j->sweep;
    j->team.sweep = s;
    j->team.store = &j->store;
    j->team.link = &j->link;
    j->team.progress_to = j->work.shell->err;
    j->team.kept_in = ovl_args_value(j->args, "store");
    if (j->link.size > 1) {
        j->team.part = j->link.rank;
        j->team.parts = j->link.size;
    }
    ovl_sweep_team_run(&j->team, &j->work.arena);
    ovl_stops_release(&j->stops);
    uint32_t open = count_open(s);
    if (j->link.rank) {
        return OVL_EXIT_DONE; /* the first process has the result */
    }
    if (j->sharded && open && !s->signal) {
        return end_of_part(j);
    }
    s->stopped = s->signal != 0;
    ovl_sweep_choose(s, &j->work.arena);
    if (!s->signal) {
        ovl_sweep_store_fill(&j->store);
    }
    write_sweep(j);
    if (s->signal) {
        ovl_sweep_team_interrupted(&j->team);
        return OVL_EXIT_SIGNAL + s->signal;
    }
    return ovl_sweep_status(s);
}

/* Everything up to the first point; true if all processes can go on. */
static bool prepare(job *j)
{
    ovl_side side;
    bool good = read_choice(j);
    good = ovl_sweep_read_jobs(&j->work, j->args, &j->team.threads) && good;
    j->sweep.memory = ovl_sweep_memory(j->team.threads);
    good = read_shard(j) && good;
    good = check_options(j) && good;
    ovl_work_store(&j->work, j->args);
    if (ovl_work_side(&j->work, j->args, &side) && ovl_work_load(&j->work, side.path, &j->doc)) {
        ovl_stops_hold(&j->stops);
        j->sweep.doc = &j->doc;
        j->sweep.variant = side.variant;
        j->sweep.sets = j->work.sets;
        j->sweep.n_sets = j->work.n_sets;
        j->sweep.no_fold = ovl_args_has(j->args, "no-fold");
        j->sweep.no_skip = ovl_args_has(j->args, "no-skip");
        good = ovl_sweep_read_axes(&j->work, j->args, &j->doc, &j->sweep.axes) && good;
    } else {
        good = false;
    }
    good = good && ovl_sweep_check(&j->sweep, &j->work.arena, &j->work.errs);
    if (good) {
        ovl_sweep_begin(&j->sweep, &j->work.arena);
        good = open_store(j);
    }
    return ovl_link_all(&j->link, good);
}

/* The words of the program, for going on as another one. */
static const char *const *words_of(const ovl_args *args, ovl_arena *arena)
{
    const char **words =
        OVL_NEW_ARRAY(arena, const char *, 4 + (size_t)args->n_options + args->n_operands);
    size_t n = 0;
    words[n++] = "ovl";
    words[n++] = "sweep";
    for (uint32_t i = 0; i < args->n_options; i++) {
        const struct ovl_arg *a = &args->options[i];
        words[n++] = a->value ? ovl_arena_printf(arena, "--%s=%s", a->option->name, a->value)
                              : ovl_arena_printf(arena, "--%s", a->option->name);
    }
    words[n++] = "--";
    for (uint32_t i = 0; i < args->n_operands; i++) {
        words[n++] = args->operands[i];
    }
    return words;
}

int ovl_cmd_sweep(const ovl_args *args, const ovl_shell *shell)
{
    job j = {.args = args};
    int status = OVL_EXIT_DONE;
    ovl_work_begin(&j.work, shell);
    ovl_work_sets(&j.work, args);
    if (ovl_args_has(args, "solve")) {
        return ovl_work_end(&j.work, ovl_solve_answer(&j.work, args, ovl_args_has(args, "no-fold"),
                                                      ovl_args_has(args, "no-skip")));
    }
    if (ovl_link_begin(&j.link, words_of(args, &j.work.arena), &j.work.errs)) {
        status = prepare(&j) ? simulate(&j) : OVL_EXIT_DONE;
        ovl_stops_release(&j.stops);
        ovl_sweep_store_close(&j.store);
        if (j.link.rank) { /* what is wrong is wrong everywhere, and said once */
            j.work.errs.count = j.work.errs.dropped = 0;
        }
        ovl_link_end(&j.link);
    }
    return ovl_work_end(&j.work, status);
}
