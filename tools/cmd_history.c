/* ovl history: the runs of a store, as a table, JSON or CSV. */
#include "tools/csv.h"
#include "tools/grid.h"
#include "tools/json.h"
#include "tools/keep.h"
#include "tools/scale.h"

#include <string.h>

#define MOST_RUNS 40 /* of the text, without --limit */

typedef struct list {
    ovl_stored_run *runs;
    ovl_stored_sweep *sweeps;
    uint32_t n, n_sweeps;
} list;

/* --- JSON and CSV --- */

static void metrics_json(ovl_json *json, const ovl_figures *figures)
{
    ovl_arena arena = {0};
    ovl_json_object(json, "metrics", OVL_JSON_FLOW);
    for (uint32_t m = 0; m < ovl_n_metrics; m++) {
        const char *key = ovl_metric_key(m, &arena);
        if (!ovl_has_figure(figures, m)) {
            continue;
        }
        if (ovl_metrics[m].kind == OVL_METRIC_TIME) {
            ovl_json_seconds(json, key, figures->value[m]);
        } else {
            ovl_json_int(json, key, figures->value[m]);
        }
    }
    ovl_json_close(json);
    ovl_arena_free(&arena);
}

static void run_json(ovl_json *json, const ovl_stored_run *run)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_int(json, "run", run->run);
    ovl_json_text(json, "time", run->time);
    ovl_json_text(json, "scenario", run->scenario);
    ovl_json_text(json, "file", run->path);
    ovl_json_text(json, "digest", run->digest);
    ovl_json_text(json, "variant", run->variant);
    ovl_json_array(json, "changes", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < run->n_changes; i++) {
        ovl_json_text(json, NULL, run->changes[i]);
    }
    ovl_json_close(json);
    ovl_json_text(json, "interference", run->model);
    ovl_json_text_if(json, "gpu", run->gpu);
    ovl_json_text(json, "version", run->version);
    if (run->sweep) {
        ovl_json_int(json, "sweep", run->sweep);
    }
    metrics_json(json, &run->figures);
    ovl_json_close(json);
}

static void sweep_json(ovl_json *json, const ovl_stored_sweep *sweep)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_int(json, "sweep", sweep->sweep);
    ovl_json_text(json, "scenario", sweep->scenario);
    ovl_json_text(json, "file", sweep->path);
    ovl_json_int(json, "points", sweep->points);
    ovl_json_int(json, "done", sweep->done);
    ovl_json_close(json);
}

static void write_json(ovl_out *out, const list *l)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "schema", "overlapsim.history/1");
    ovl_json_array(&json, "runs", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < l->n; i++) {
        run_json(&json, &l->runs[i]);
    }
    ovl_json_close(&json);
    ovl_json_array(&json, "sweeps", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < l->n_sweeps; i++) {
        sweep_json(&json, &l->sweeps[i]);
    }
    ovl_json_close(&json);
    ovl_json_close(&json);
    ovl_json_end(&json);
}

static void write_csv(ovl_out *out, const list *l)
{
    ovl_arena arena = {0};
    ovl_out_text(out,
                 "run,time,scenario,file,digest,variant,changes,interference,gpu,version,sweep");
    ovl_csv_metric_keys(out);
    ovl_out_text(out, "\n");
    for (uint32_t i = 0; i < l->n; i++) {
        const ovl_stored_run *r = &l->runs[i];
        const char *changes = "";
        for (uint32_t k = 0; k < r->n_changes; k++) {
            changes = ovl_arena_printf(&arena, "%s%s%s", changes, k ? "\n" : "", r->changes[k]);
        }
        const char *cells[] = {r->time,   r->scenario,          r->path,
                               r->digest, r->variant,           changes,
                               r->model,  r->gpu ? r->gpu : "", r->version};
        ovl_out_printf(out, "%" PRId64, r->run);
        for (size_t k = 0; k < OVL_COUNT(cells); k++) {
            ovl_csv_cell(out, cells[k], false);
        }
        ovl_out_printf(out, r->sweep ? ",%" PRId64 : ",", r->sweep);
        ovl_csv_metrics(out, &r->figures);
        ovl_out_text(out, "\n");
    }
    ovl_arena_free(&arena);
}

/* --- Text --- */

/* Sweeps that can go on; where there is nothing else, all. */
static void write_sweeps(ovl_out *out, const list *l, bool all)
{
    for (uint32_t i = 0; i < l->n_sweeps; i++) {
        const ovl_stored_sweep *s = &l->sweeps[i];
        if (all || s->done < s->points) {
            ovl_out_printf(out, "sweep %" PRId64 " of %s: %" PRId64 " of %" PRId64 " points%s\n",
                           s->sweep, s->path, s->done, s->points,
                           s->done < s->points ? "; the same ovl sweep with --resume goes on" : "");
        }
    }
}

static void write_text(ovl_out *out, const list *l, const char *store)
{
    static const ovl_column columns[] = {
        {"run", false, false, 0},    {"time", true, false, OVL_GRID_DROP_FIRST},
        {"scenario", true, true, 0}, {"what", true, true, 0},
        {"model", true, false, 2},   {"step", false, false, 0},
        {"peak", false, false, 1},   {"hazards", false, false, 3},
    };
    ovl_arena arena = {0};
    ovl_grid grid;
    if (l->n == 0) {
        ovl_out_printf(out,
                       l->n_sweeps ? "%s holds no runs but points of sweeps: --points lists them\n"
                                   : "%s holds no such runs\n",
                       store);
        write_sweeps(out, l, true);
        return;
    }
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < l->n; i++) {
        const ovl_stored_run *r = &l->runs[i];
        const ovl_figures *f = &r->figures;
        const char *figure[3] = {0};
        const uint32_t which[3] = {OVL_M_STEP, OVL_M_PEAK, OVL_M_HAZARDS};
        for (int k = 0; k < 3; k++) {
            figure[k] = ovl_has_figure(f, which[k])
                            ? ovl_metric_text(which[k], f->value[which[k]], &arena)
                            : NULL;
        }
        const char *cells[] = {
            ovl_arena_printf(&arena, "%" PRId64, r->run),
            r->time,
            r->scenario,
            ovl_stored_text(r, &arena),
            r->model,
            figure[0],
            figure[1],
            figure[2],
        };
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 0);
    write_sweeps(out, l, false);
    ovl_arena_free(&arena);
}

/* Runs and sweeps; an empty list of a damaged file is an error. */
static bool read_list(ovl_work *work, const ovl_args *args, ovl_store *store, uint32_t limit,
                      list *l)
{
    const char *of = args->n_operands ? args->operands[0] : NULL;
    return ovl_store_runs(store, limit, of, ovl_args_has(args, "points"), &l->runs, &l->n,
                          &work->arena, &work->errs) &&
           ovl_store_sweeps(store, of, &l->sweeps, &l->n_sweeps, &work->arena, &work->errs) &&
           (l->n || ovl_store_sound(store, &work->errs));
}

static bool read_limit(ovl_work *work, const ovl_args *args, uint32_t *limit)
{
    const char *text = ovl_args_value(args, "limit");
    int64_t n = 0;
    bool table = !ovl_args_has(args, "json") && !ovl_args_has(args, "csv");
    *limit = table ? MOST_RUNS : 0;
    if (!text) {
        return true;
    }
    if (ovl_read_count(text, &n) || n < 1 || n > INT32_MAX) {
        ovl_error(&work->errs, OVL_E_USAGE, (ovl_mark){0},
                  "--limit takes a number of runs; found \"%s\"", text);
        return false;
    }
    *limit = (uint32_t)n;
    return true;
}

int ovl_cmd_history(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_store store;
    list l;
    uint32_t limit;
    ovl_work_begin(&work, shell);
    const char *path = ovl_work_need_store(&work, args);
    if (read_limit(&work, args, &limit) && path &&
        ovl_store_open(&store, path, OVL_STORE_READ, &work.errs)) {
        if (read_list(&work, args, &store, limit, &l)) {
            ovl_out file, *out = ovl_work_output(args, shell, &file);
            if (ovl_args_has(args, "json")) {
                write_json(out, &l);
            } else if (ovl_args_has(args, "csv")) {
                write_csv(out, &l);
            } else {
                write_text(out, &l, path);
            }
            ovl_work_written(&work, args, out);
        }
        ovl_store_close(&store);
    }
    return ovl_work_end(&work, OVL_EXIT_DONE);
}
