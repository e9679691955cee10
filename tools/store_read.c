/* What the store gives back. */
#include "tools/store_parts.h"

#include <stdlib.h>
#include <string.h>

static uint32_t metric_of(const char *name)
{
    for (uint32_t m = 0; name && m < ovl_n_metrics; m++) {
        if (strcmp(ovl_metrics[m].name, name) == 0) {
            return m;
        }
    }
    return OVL_NONE; /* of another version */
}

static void set_figure(ovl_figures *figures, const char *name, int64_t value)
{
    uint32_t m = metric_of(name);
    if (m != OVL_NONE) {
        figures->value[m] = value;
        figures->has |= UINT32_C(1) << m;
    }
}

bool ovl_store_points(ovl_store *store, int64_t sweep, ovl_arena *arena,
                      void (*take)(void *context, const ovl_stored_point *point), void *context,
                      ovl_errs *errs)
{
    ovl_sql q;
    ovl_stored_point point = {.point = OVL_NONE};
    ovl_sql_begin(&q, store, errs,
                  "SELECT number, status, error, model, name, value FROM point LEFT JOIN run ON "
                  "run.id = point.run LEFT JOIN metric ON metric.run = run.id WHERE sweep = ? "
                  "ORDER BY number");
    ovl_sql_int(&q, sweep);
    while (ovl_sql_row(&q)) {
        ovl_arena scratch = {0};
        uint32_t number = (uint32_t)ovl_sql_get_int(&q, 0);
        if (number != point.point) {
            if (point.point != OVL_NONE) {
                take(context, &point);
            }
            point = (ovl_stored_point){.point = number,
                                       .status = (int)ovl_sql_get_int(&q, 1),
                                       .error = ovl_sql_get_text(&q, 2, arena),
                                       .model = ovl_sql_get_text(&q, 3, arena)};
        }
        set_figure(&point.figures, ovl_sql_get_text(&q, 4, &scratch), ovl_sql_get_int(&q, 5));
        ovl_arena_free(&scratch);
    }
    if (point.point != OVL_NONE) {
        take(context, &point);
    }
    return ovl_sql_end(&q);
}

/* --- Runs --- */

#define RUN_COLUMNS                                                                                \
    "SELECT run.id, scenario.name, scenario.digest, scenario.path, run.variant, run.model, "       \
    "run.version, run.gpu, run.time, ifnull(point.sweep, 0), ifnull((SELECT trials FROM trials "   \
    "WHERE trials.run = run.id), 0) FROM run JOIN scenario ON "                                    \
    "scenario.id = run.scenario LEFT JOIN point ON point.run = run.id "

/* One that ?1 names, or any. */
#define OF_SCENARIO                                                                                \
    "(?1 IS NULL OR scenario.name = ?1 OR scenario.path = ?1 OR (length(?1) >= 6 AND "             \
    "substr(scenario.digest, 1, length(?1)) = ?1))"

static void read_run(const ovl_sql *q, ovl_stored_run *run, ovl_arena *arena)
{
    *run = (ovl_stored_run){
        .run = ovl_sql_get_int(q, 0),
        .scenario = ovl_sql_get_text(q, 1, arena),
        .digest = ovl_sql_get_text(q, 2, arena),
        .path = ovl_sql_get_text(q, 3, arena),
        .variant = ovl_sql_get_text(q, 4, arena),
        .model = ovl_sql_get_text(q, 5, arena),
        .version = ovl_sql_get_text(q, 6, arena),
        .gpu = ovl_sql_get_text(q, 7, arena),
        .time = ovl_sql_get_text(q, 8, arena),
        .sweep = ovl_sql_get_int(q, 9),
        .trials = ovl_sql_get_int(q, 10),
    };
}

static bool read_metrics(ovl_store *store, ovl_stored_run *run, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, "SELECT name, value FROM metric WHERE run = ?");
    ovl_sql_int(&q, run->run);
    while (ovl_sql_row(&q)) {
        ovl_arena scratch = {0};
        set_figure(&run->figures, ovl_sql_get_text(&q, 0, &scratch), ovl_sql_get_int(&q, 1));
        ovl_arena_free(&scratch);
    }
    return ovl_sql_end(&q);
}

static bool read_changes(ovl_store *store, ovl_stored_run *run, ovl_arena *arena, ovl_errs *errs)
{
    ovl_sql q;
    OVL_VEC(const char *) texts = {0};
    ovl_sql_begin(&q, store, errs, "SELECT text FROM change WHERE run = ? ORDER BY number");
    ovl_sql_int(&q, run->run);
    while (ovl_sql_row(&q)) {
        ovl_vec_push(&texts, ovl_sql_get_text(&q, 0, arena));
    }
    run->n_changes = texts.len;
    run->changes = ovl_vec_freeze(&texts, arena);
    return ovl_sql_end(&q);
}

static bool complete(ovl_store *store, ovl_stored_run *runs, uint32_t n, ovl_arena *arena,
                     ovl_errs *errs)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!read_metrics(store, &runs[i], errs) || !read_changes(store, &runs[i], arena, errs)) {
            return false;
        }
    }
    return true;
}

bool ovl_store_runs(ovl_store *store, uint32_t limit, const char *of, bool points,
                    ovl_stored_run **runs, uint32_t *n, ovl_arena *arena, ovl_errs *errs)
{
    OVL_VEC(ovl_stored_run) list = {0};
    ovl_sql q;
    ovl_sql_begin(&q, store, errs,
                  "SELECT * FROM (" RUN_COLUMNS "WHERE " OF_SCENARIO
                  " AND (?2 OR point.sweep IS NULL) ORDER BY run.id DESC LIMIT ?3) ORDER BY 1");
    ovl_sql_text(&q, of);
    ovl_sql_int(&q, points);
    ovl_sql_int(&q, limit ? (int64_t)limit : -1);
    while (ovl_sql_row(&q)) {
        ovl_stored_run run;
        read_run(&q, &run, arena);
        ovl_vec_push(&list, run);
    }
    *n = list.len;
    *runs = ovl_vec_freeze(&list, arena);
    return ovl_sql_end(&q) && complete(store, *runs, *n, arena, errs);
}

bool ovl_store_sweeps(ovl_store *store, const char *of, ovl_stored_sweep **sweeps, uint32_t *n,
                      ovl_arena *arena, ovl_errs *errs)
{
    OVL_VEC(ovl_stored_sweep) list = {0};
    ovl_sql q;
    ovl_sql_begin(&q, store, errs,
                  "SELECT sweep.id, scenario.name, scenario.path, sweep.points, (SELECT count(*) "
                  "FROM point WHERE point.sweep = sweep.id) FROM sweep JOIN scenario ON "
                  "scenario.id = sweep.scenario WHERE " OF_SCENARIO " ORDER BY sweep.id");
    ovl_sql_text(&q, of);
    while (ovl_sql_row(&q)) {
        ovl_vec_push(&list, (ovl_stored_sweep){.sweep = ovl_sql_get_int(&q, 0),
                                               .scenario = ovl_sql_get_text(&q, 1, arena),
                                               .path = ovl_sql_get_text(&q, 2, arena),
                                               .points = ovl_sql_get_int(&q, 3),
                                               .done = ovl_sql_get_int(&q, 4)});
    }
    *n = list.len;
    *sweeps = ovl_vec_freeze(&list, arena);
    return ovl_sql_end(&q);
}

bool ovl_store_sound(ovl_store *store, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    ovl_sql q;
    bool sound = false;
    ovl_sql_begin(&q, store, errs, "PRAGMA quick_check(1)");
    if (ovl_sql_row(&q)) {
        const char *text = ovl_sql_get_text(&q, 0, &scratch);
        sound = text && strcmp(text, "ok") == 0;
    }
    if (ovl_sql_end(&q) && !sound) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0}, "store \"%s\": it is damaged", store->path);
    }
    ovl_arena_free(&scratch);
    return sound;
}

bool ovl_store_find(ovl_store *store, const char *number, ovl_stored_run *run, ovl_arena *arena,
                    ovl_errs *errs)
{
    int64_t id = 0;
    ovl_sql q;
    if (ovl_read_count(number, &id)) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                  "\"%s\" is no number of a run; ovl history lists them", number);
        return false;
    }
    ovl_sql_begin(&q, store, errs, RUN_COLUMNS "WHERE run.id = ?");
    ovl_sql_int(&q, id);
    bool found = ovl_sql_row(&q);
    if (found) {
        read_run(&q, run, arena);
    }
    if (!ovl_sql_end(&q)) {
        return false;
    }
    if (!found && !ovl_store_sound(store, errs)) {
        return false;
    }
    if (!found) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                  "there is no run %s in \"%s\"; ovl history lists them", number, store->path);
        return false;
    }
    return complete(store, run, 1, arena, errs);
}

const char *ovl_store_report(ovl_store *store, int64_t run, bool json, ovl_arena *arena,
                             ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs,
                  json ? "SELECT json FROM report WHERE run = ?"
                       : "SELECT text FROM report WHERE run = ?");
    ovl_sql_int(&q, run);
    const char *text = ovl_sql_row(&q) ? ovl_sql_get_text(&q, 0, arena) : NULL;
    return ovl_sql_end(&q) ? text : NULL;
}

bool ovl_store_trials(ovl_store *store, int64_t run, ovl_trial_record *trials, ovl_arena *arena,
                      ovl_errs *errs)
{
    ovl_sql q;
    *trials = (ovl_trial_record){.n = 0};
    ovl_sql_begin(&q, store, errs, "SELECT trials, seed FROM trials WHERE run = ?");
    ovl_sql_int(&q, run);
    if (ovl_sql_row(&q)) {
        trials->n = (uint32_t)ovl_sql_get_int(&q, 0);
        trials->seed = (uint64_t)ovl_sql_get_int(&q, 1);
    }
    ovl_time *step = OVL_NEW_ARRAY(arena, ovl_time, trials->n);
    ovl_time *uncovered = OVL_NEW_ARRAY(arena, ovl_time, trials->n);
    uint32_t n = 0;
    if (!ovl_sql_end(&q)) {
        return false;
    }
    ovl_sql_begin(&q, store, errs,
                  "SELECT step_ps, uncovered_ps FROM trial WHERE run = ? ORDER BY number");
    ovl_sql_int(&q, run);
    while (n < trials->n && ovl_sql_row(&q)) {
        step[n] = ovl_sql_get_int(&q, 0);
        uncovered[n++] = ovl_sql_get_int(&q, 1);
    }
    trials->n = n;
    trials->step = step;
    trials->uncovered = uncovered;
    return ovl_sql_end(&q);
}

bool ovl_store_inputs(ovl_store *store, int64_t run, ovl_recorder *recorder, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs,
                  "SELECT input.path, input.text FROM run JOIN input USING (scenario) WHERE run.id "
                  "= ? ORDER BY number");
    ovl_sql_int(&q, run);
    while (ovl_sql_row(&q)) {
        ovl_kept_file file = {.path = ovl_sql_get_text(&q, 0, recorder->arena)};
        const void *bytes = ovl_sql_get_bytes(&q, 1, &file.length);
        file.text = ovl_arena_strndup(recorder->arena, bytes ? bytes : "", file.length);
        ovl_vec_push(&recorder->files, file);
    }
    return ovl_sql_end(&q);
}
