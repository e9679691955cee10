/* What goes into the store: one transaction for each run, or for the points that ended together. */
#include "tools/store_parts.h"
#include "tools/trials.h"

#include "models/node_text.h"

#include <sqlite3.h>

static int64_t last_row(ovl_store *store)
{
    return sqlite3_last_insert_rowid(store->db);
}

/* --- Scenarios --- */

static int64_t find_scenario(ovl_store *store, const char *digest, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, "SELECT id FROM scenario WHERE digest = ?");
    ovl_sql_text(&q, digest);
    int64_t id = ovl_sql_row(&q) ? ovl_sql_get_int(&q, 0) : 0;
    ovl_sql_end(&q);
    return id;
}

static bool add_input(ovl_store *store, int64_t scenario, uint32_t number,
                      const ovl_kept_file *file, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, "INSERT INTO input VALUES (?, ?, ?, ?)");
    ovl_sql_int(&q, scenario);
    ovl_sql_int(&q, number);
    ovl_sql_text(&q, file->path);
    ovl_sql_bytes(&q, file->text, file->length);
    ovl_sql_row(&q);
    return ovl_sql_end(&q);
}

/* The row of these texts: each text is kept once, whatever is run of it. */
static int64_t scenario_row(ovl_store *store, const ovl_run_record *record, ovl_errs *errs)
{
    char digest[OVL_SHA256_TEXT];
    const ovl_recorder *files = record->files;
    assert(files->files.len);
    ovl_recorder_digest(files, digest);
    uint32_t before = errs->errors;
    int64_t id = find_scenario(store, digest, errs);
    if (id || errs->errors != before) {
        return id;
    }
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, "INSERT INTO scenario (digest, name, path) VALUES (?, ?, ?)");
    ovl_sql_text(&q, digest);
    ovl_sql_text(&q, record->scenario);
    ovl_sql_text(&q, files->files.data[0].path);
    ovl_sql_row(&q);
    if (!ovl_sql_end(&q)) {
        return 0;
    }
    id = last_row(store);
    for (uint32_t i = 0; i < files->files.len; i++) {
        if (!add_input(store, id, i, &files->files.data[i], errs)) {
            return 0;
        }
    }
    return id;
}

/* --- Tables of a run --- */

static bool add_metrics(ovl_store *store, int64_t run, const ovl_figures *figures, ovl_errs *errs)
{
    bool good = true;
    for (uint32_t m = 0; good && m < ovl_n_metrics; m++) {
        if (ovl_has_figure(figures, m)) {
            ovl_sql q;
            ovl_sql_begin(&q, store, errs, "INSERT INTO metric VALUES (?, ?, ?)");
            ovl_sql_int(&q, run);
            ovl_sql_text(&q, ovl_metrics[m].name);
            ovl_sql_int(&q, figures->value[m]);
            ovl_sql_row(&q);
            good = ovl_sql_end(&q);
        }
    }
    return good;
}

/* As the options of a command line: what was read before as its value on one line. */
static bool add_changes(ovl_store *store, int64_t run, const ovl_run_record *record, ovl_errs *errs)
{
    bool good = true;
    for (uint32_t i = 0; good && i < record->n_sets; i++) {
        ovl_arena arena = {0};
        const ovl_set *set = &record->sets[i];
        const char *text = set->text;
        if (set->path) {
            text = ovl_arena_printf(&arena, "%s=%s", set->path, ovl_node_text(set->value, &arena));
        }
        ovl_sql q;
        ovl_sql_begin(&q, store, errs, "INSERT INTO change VALUES (?, ?, ?)");
        ovl_sql_int(&q, run);
        ovl_sql_int(&q, i);
        ovl_sql_text(&q, text);
        ovl_sql_row(&q);
        good = ovl_sql_end(&q);
        ovl_arena_free(&arena);
    }
    return good;
}

static bool add_rank(ovl_store *store, const char *sql, int64_t run, const ovl_result_rank *rank,
                     const char *name, ovl_time time, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, sql);
    ovl_sql_int(&q, run);
    ovl_sql_int(&q, rank->rank);
    ovl_sql_int(&q, rank->count);
    ovl_sql_text(&q, name);
    ovl_sql_int(&q, time);
    ovl_sql_row(&q);
    return ovl_sql_end(&q);
}

static bool add_times(ovl_store *store, int64_t run, const ovl_result *r, ovl_errs *errs)
{
    bool good = true;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        const ovl_result_rank *rank = &r->ranks[i];
        for (int t = 0; good && t < OVL_TERM_COUNT; t++) {
            good = add_rank(store, "INSERT INTO rank_time VALUES (?, ?, ?, ?, ?)", run, rank,
                            ovl_term_name((ovl_term)t), rank->term[t], errs);
        }
        for (int k = 0; good && r->idle.time != OVL_NEVER && k < OVL_IDLE_COUNT; k++) {
            if (k == OVL_IDLE_PAUSE && rank->idle[k] == 0) {
                continue; /* few programs pause */
            }
            good = add_rank(store, "INSERT INTO rank_idle VALUES (?, ?, ?, ?, ?)", run, rank,
                            ovl_idle_name((ovl_idle_kind)k), rank->idle[k], errs);
        }
    }
    return good;
}

static bool add_collectives(ovl_store *store, int64_t run, const ovl_result *r, ovl_errs *errs)
{
    bool good = true;
    for (uint32_t i = 0; good && i < r->n_collectives; i++) {
        const ovl_result_collective *c = &r->collectives[i];
        ovl_sql q;
        ovl_sql_begin(&q, store, errs,
                      "INSERT INTO collective VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                      "?, ?)");
        ovl_sql_int(&q, run);
        ovl_sql_int(&q, i);
        ovl_sql_text(&q, c->name);
        ovl_sql_text(&q, c->op);
        ovl_sql_text(&q, c->group);
        ovl_sql_int(&q, (int64_t)c->bytes);
        ovl_sql_int(&q, c->rank);
        ovl_sql_int(&q, c->count);
        ovl_sql_time(&q, c->ready);
        ovl_sql_time(&q, c->start);
        ovl_sql_time(&q, c->end);
        ovl_sql_time(&q, c->u_path);
        ovl_sql_time(&q, c->u_variant);
        ovl_sql_time(&q, c->exposed);
        ovl_sql_time(&q, c->slack);
        ovl_sql_time(&q, c->worth);
        ovl_sql_int(&q, c->on_critical_path);
        ovl_sql_row(&q);
        good = ovl_sql_end(&q);
    }
    return good;
}

static bool add_path(ovl_store *store, int64_t run, const ovl_result *r, ovl_errs *errs)
{
    bool good = true;
    for (uint32_t i = 0; good && i < r->n_path; i++) {
        const ovl_result_path *p = &r->path[i];
        ovl_sql q;
        ovl_sql_begin(&q, store, errs,
                      "INSERT INTO critical_path VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
                      "?)");
        ovl_sql_int(&q, run);
        ovl_sql_int(&q, i);
        ovl_sql_text(&q, p->op);
        ovl_sql_int(&q, p->rank);
        ovl_sql_text(&q, p->stream);
        ovl_sql_time(&q, p->start);
        ovl_sql_time(&q, p->end);
        ovl_sql_text(&q, p->why);
        ovl_sql_int(&q, (int64_t)p->again + 1);
        ovl_sql_time(&q, p->again ? p->every : OVL_NEVER);
        ovl_sql_row(&q);
        good = ovl_sql_end(&q);
    }
    return good;
}

static bool add_report(ovl_store *store, int64_t run, const ovl_run_record *record, ovl_errs *errs)
{
    if (!record->json) {
        return true;
    }
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, "INSERT INTO report VALUES (?, ?, ?)");
    ovl_sql_int(&q, run);
    ovl_sql_text(&q, record->json);
    ovl_sql_text(&q, record->text);
    ovl_sql_row(&q);
    return ovl_sql_end(&q);
}

static bool add_numbers(ovl_sql *q, const uint64_t *numbers, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ovl_sql_int(q, (int64_t)numbers[i]);
    }
    ovl_sql_row(q);
    return ovl_sql_end(q);
}

static bool add_late(ovl_store *store, int64_t run, const ovl_trial_record *t, ovl_errs *errs)
{
    ovl_sql q;
    bool good = true;
    for (uint32_t i = 0; good && i < t->n_ranks; i++) {
        const ovl_late *x = &t->ranks[i];
        const uint64_t numbers[] = {(uint64_t)run, x->rank, x->times, x->of, (uint64_t)x->wait};
        ovl_sql_begin(&q, store, errs, "INSERT INTO late_rank VALUES (?, ?, ?, ?, ?)");
        good = add_numbers(&q, numbers, OVL_COUNT(numbers));
    }
    for (uint32_t i = 0; good && i < t->n_names; i++) {
        const ovl_late *x = &t->names[i];
        const uint64_t numbers[] = {x->rank,    x->times, x->all,           x->ranks,
                                    x->members, x->of,    (uint64_t)x->wait};
        ovl_sql_begin(&q, store, errs,
                      "INSERT INTO late_collective VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
        ovl_sql_int(&q, run);
        ovl_sql_text(&q, x->name);
        good = add_numbers(&q, numbers, OVL_COUNT(numbers));
    }
    return good;
}

static bool add_trials(ovl_store *store, int64_t run, const ovl_trial_record *t, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, "INSERT INTO trials VALUES (?, ?, ?)");
    ovl_sql_int(&q, run);
    ovl_sql_int(&q, t->n);
    ovl_sql_int(&q, (int64_t)t->seed);
    ovl_sql_row(&q);
    bool good = ovl_sql_end(&q);
    for (uint32_t i = 0; good && i < t->n; i++) {
        ovl_sql_begin(&q, store, errs, "INSERT INTO trial VALUES (?, ?, ?, ?)");
        ovl_sql_int(&q, run);
        ovl_sql_int(&q, i);
        ovl_sql_int(&q, t->step[i]);
        ovl_sql_int(&q, t->uncovered[i]);
        ovl_sql_row(&q);
        good = ovl_sql_end(&q);
    }
    return good && add_late(store, run, t, errs);
}

static bool add_tables(ovl_store *store, int64_t run, const ovl_result *r, ovl_errs *errs)
{
    return add_times(store, run, r, errs) && add_collectives(store, run, r, errs) &&
           add_path(store, run, r, errs);
}

/* Inside a transaction. */
static int64_t add_run(ovl_store *store, int64_t scenario, const ovl_run_record *record,
                       ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs,
                  "INSERT INTO run (scenario, variant, gpu, model, version) VALUES (?, ?, ?, ?, "
                  "?)");
    ovl_sql_int(&q, scenario);
    ovl_sql_text(&q, record->variant ? record->variant : "base");
    ovl_sql_text(&q, record->gpu);
    ovl_sql_text(&q, record->model);
    ovl_sql_text(&q, record->version);
    ovl_sql_row(&q);
    if (!ovl_sql_end(&q)) {
        return 0;
    }
    int64_t run = last_row(store);
    const ovl_result *r = record->result;
    bool good = add_metrics(store, run, record->figures, errs) &&
                add_changes(store, run, record, errs) && add_report(store, run, record, errs) &&
                (!r || add_tables(store, run, r, errs)) &&
                (!record->trials || add_trials(store, run, record->trials, errs));
    return good ? run : 0;
}

int64_t ovl_store_add(ovl_store *store, const ovl_run_record *record, ovl_errs *errs)
{
    if (!ovl_store_begin(store, errs)) {
        return 0;
    }
    int64_t scenario = scenario_row(store, record, errs);
    int64_t run = scenario ? add_run(store, scenario, record, errs) : 0;
    return ovl_store_commit(store, run != 0, errs) ? run : 0;
}

/* --- Sweeps --- */

bool ovl_store_known_sweep(ovl_store *store, const char *digest, int64_t *sweep, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, "SELECT id FROM sweep WHERE digest = ?");
    ovl_sql_text(&q, digest);
    *sweep = ovl_sql_row(&q) ? ovl_sql_get_int(&q, 0) : 0;
    return ovl_sql_end(&q);
}

static int64_t add_sweep(ovl_store *store, const char *digest, int64_t scenario, uint32_t n_points,
                         const char *version, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs,
                  "INSERT INTO sweep (digest, scenario, points, version) VALUES (?, ?, ?, ?)");
    ovl_sql_text(&q, digest);
    ovl_sql_int(&q, scenario);
    ovl_sql_int(&q, n_points);
    ovl_sql_text(&q, version);
    ovl_sql_row(&q);
    return ovl_sql_end(&q) ? last_row(store) : 0;
}

int64_t ovl_store_sweep(ovl_store *store, const char *digest, const ovl_run_record *record,
                        uint32_t n_points, bool *known, ovl_errs *errs)
{
    int64_t sweep = 0;
    if (!ovl_store_begin(store, errs)) {
        return 0;
    }
    bool good = ovl_store_known_sweep(store, digest, &sweep, errs);
    *known = sweep != 0;
    if (good && !sweep) {
        int64_t scenario = scenario_row(store, record, errs);
        sweep = scenario ? add_sweep(store, digest, scenario, n_points, record->version, errs) : 0;
    }
    return ovl_store_commit(store, good && sweep, errs) ? sweep : 0;
}

static bool is_there(ovl_store *store, int64_t sweep, uint32_t point, bool *there, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, "SELECT 1 FROM point WHERE sweep = ? AND number = ?");
    ovl_sql_int(&q, sweep);
    ovl_sql_int(&q, point);
    *there = ovl_sql_row(&q);
    return ovl_sql_end(&q);
}

static bool add_point(ovl_store *store, int64_t sweep, uint32_t point, int64_t run, int status,
                      const char *error, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, "INSERT INTO point VALUES (?, ?, ?, ?, ?)");
    ovl_sql_int(&q, sweep);
    ovl_sql_int(&q, point);
    ovl_sql_time(&q, run ? run : OVL_NEVER);
    ovl_sql_int(&q, status);
    ovl_sql_text(&q, error);
    ovl_sql_row(&q);
    return ovl_sql_end(&q);
}

static int64_t scenario_of(ovl_store *store, int64_t sweep, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(&q, store, errs, "SELECT scenario FROM sweep WHERE id = ?");
    ovl_sql_int(&q, sweep);
    int64_t scenario = ovl_sql_row(&q) ? ovl_sql_get_int(&q, 0) : 0;
    return ovl_sql_end(&q) ? scenario : 0;
}

bool ovl_store_point(ovl_store *store, int64_t sweep, uint32_t point, const ovl_run_record *record,
                     int status, const char *error, ovl_errs *errs)
{
    bool there = false;
    int64_t run = 0;
    bool good = is_there(store, sweep, point, &there, errs);
    if (good && !there && record->figures) {
        int64_t scenario = scenario_of(store, sweep, errs);
        run = scenario ? add_run(store, scenario, record, errs) : 0;
        good = run != 0;
    }
    return good && (there || add_point(store, sweep, point, run, status, error, errs));
}

/* The run of a point that has no report yet; 0: none. */
static int64_t bare_run(ovl_store *store, int64_t sweep, uint32_t point, ovl_errs *errs)
{
    ovl_sql q;
    ovl_sql_begin(
        &q, store, errs,
        "SELECT run FROM point WHERE sweep = ? AND number = ? AND run IS NOT NULL AND run "
        "NOT IN (SELECT run FROM report)");
    ovl_sql_int(&q, sweep);
    ovl_sql_int(&q, point);
    int64_t run = ovl_sql_row(&q) ? ovl_sql_get_int(&q, 0) : 0;
    return ovl_sql_end(&q) ? run : 0;
}

bool ovl_store_fill(ovl_store *store, int64_t sweep, uint32_t point, const ovl_run_record *record,
                    ovl_errs *errs)
{
    uint32_t before = errs->errors;
    if (!ovl_store_begin(store, errs)) {
        return false;
    }
    int64_t run = bare_run(store, sweep, point, errs);
    bool good = errs->errors == before;
    if (good && run) {
        good = add_report(store, run, record, errs) && add_tables(store, run, record->result, errs);
    }
    return ovl_store_commit(store, good, errs);
}
