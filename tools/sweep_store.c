#include "tools/sweep_store.h"

#include <string.h>

#define MOST_FILLED 64 /* points of the front that are kept in full */

/* --- Which sweep it is --- */

static void add_axes(ovl_sha256 *sha, const ovl_axes *axes)
{
    for (uint32_t k = 0; k < axes->n_keys; k++) {
        ovl_digest_text(sha, axes->keys[k].path);
    }
    for (uint32_t a = 0; a < axes->n_axes; a++) {
        const ovl_sweep_axis *axis = &axes->axes[a];
        ovl_sha256_add(sha, &axis->n_rows, sizeof axis->n_rows);
        ovl_sha256_add(sha, &axis->n_keys, sizeof axis->n_keys);
        for (size_t i = 0; i < (size_t)axis->n_rows * axis->n_keys; i++) {
            ovl_digest_text(sha, axis->texts[i]);
        }
    }
}

static void digest_of(const ovl_sweep_store *ss, char hex[OVL_SHA256_TEXT])
{
    ovl_sha256 sha;
    const ovl_sweep *s = ss->sweep;
    ovl_recorder_digest(ss->record.files, hex);
    ovl_sha256_begin(&sha);
    ovl_digest_text(&sha, hex);
    ovl_digest_text(&sha, ss->record.version);
    ovl_digest_text(&sha, s->variant);
    for (uint32_t i = 0; i < s->n_sets; i++) {
        ovl_digest_text(&sha, s->sets[i].text);
    }
    add_axes(&sha, &s->axes);
    ovl_sha256_end(&sha, hex);
}

/* --- Taking what is there --- */

static ovl_interference model_named(const char *name)
{
    for (int m = OVL_INTERFERENCE_NONE; m < OVL_INTERFERENCE_MEASURED; m++) {
        if (strcmp(ovl_interference_name((ovl_interference)m), name) == 0) {
            return (ovl_interference)m;
        }
    }
    return OVL_INTERFERENCE_MEASURED;
}

static void take(void *context, const ovl_stored_point *from)
{
    ovl_sweep_store *ss = context;
    if (from->point >= ss->sweep->axes.n_points) {
        return;
    }
    ovl_point *p = &ss->sweep->points[from->point];
    ovl_sweep_ended(ss->sweep, from->point);
    *p = (ovl_point){.state = OVL_POINT_DONE, .figures = from->figures};
    if (from->status) {
        *p = (ovl_point){.state = OVL_POINT_FAILED,
                         .status = (ovl_status)from->status,
                         .error = from->error ? from->error : ""};
    } else if (from->model) {
        p->interference = model_named(from->model);
    }
    ss->found++;
}

bool ovl_sweep_store_open(ovl_sweep_store *ss, ovl_work *work, const char *path, ovl_sweep *sweep,
                          bool resume)
{
    char digest[OVL_SHA256_TEXT];
    bool known = false;
    *ss = (ovl_sweep_store){.work = work, .sweep = sweep};
    ovl_run_record_of(work, sweep->doc, &ss->record);
    digest_of(ss, digest);
    if (!ovl_store_open(&ss->store, path, OVL_STORE_WRITE, &work->errs)) {
        return false;
    }
    ss->open = true;
    ss->id =
        ovl_store_sweep(&ss->store, digest, &ss->record, sweep->axes.n_points, &known, &work->errs);
    ss->fresh = !known;
    bool good = ss->id && ovl_store_swift(&ss->store, &work->errs);
    good = good && ovl_store_points(&ss->store, ss->id, &work->arena, take, ss, &work->errs);
    if (good && known && !resume) {
        ovl_error(&work->errs, OVL_E_USAGE, (ovl_mark){0},
                  "\"%s\" has this sweep already, %" PRIu32 " of %" PRIu32
                  " points; --resume takes them and goes on",
                  path, ss->found, sweep->axes.n_points);
        good = false;
    }
    if (!good) {
        ovl_sweep_store_close(ss);
    }
    return good;
}

bool ovl_sweep_store_merge(ovl_sweep_store *ss, const char *path)
{
    ovl_store other;
    char digest[OVL_SHA256_TEXT];
    int64_t id = 0;
    ovl_errs *errs = &ss->work->errs;
    digest_of(ss, digest);
    if (!ovl_store_open(&other, path, OVL_STORE_READ, errs)) {
        return false;
    }
    bool good = ovl_store_known_sweep(&other, digest, &id, errs);
    if (good && !id) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0}, "\"%s\" does not have this sweep", path);
        good = false;
    }
    good = good && ovl_store_points(&other, id, &ss->work->arena, take, ss, errs);
    ovl_store_close(&other);
    /* What was here before is passed over. */
    for (uint32_t i = 0; good && i < ss->sweep->ended && ss->open; i++) {
        if (ss->sweep->points[i].state != OVL_POINT_OPEN) {
            ovl_sweep_store_keep(ss, i);
        }
    }
    ovl_sweep_store_commit(ss);
    return good && ss->open;
}

/* --- Keeping --- */

static ovl_run_record record_of(const ovl_sweep_store *ss, uint32_t point, ovl_arena *arena)
{
    const ovl_sweep *s = ss->sweep;
    const ovl_point *p = &s->points[point];
    ovl_run_record record = ss->record;
    ovl_set *sets = OVL_NEW_ARRAY(arena, ovl_set, (size_t)s->n_sets + s->axes.n_keys);
    if (s->n_sets) {
        memcpy(sets, s->sets, s->n_sets * sizeof *sets);
    }
    record.variant = s->variant;
    record.n_sets = s->n_sets + ovl_axes_point(&s->axes, point, sets + s->n_sets, &record.variant);
    record.sets = sets;
    record.model = ovl_interference_name(p->interference);
    record.figures = p->state == OVL_POINT_DONE ? &p->figures : NULL;
    return record;
}

void ovl_sweep_store_keep(ovl_sweep_store *ss, uint32_t point)
{
    ovl_arena arena = {0};
    if (!ss->open || ss->sweep->points[point].state == OVL_POINT_OPEN) {
        return;
    }
    ovl_errs *errs = &ss->work->errs;
    const ovl_point *p = &ss->sweep->points[point];
    const ovl_run_record record = record_of(ss, point, &arena);
    int status = p->state == OVL_POINT_DONE ? 0 : (int)p->status;
    ss->pending = ss->pending || ovl_store_begin(&ss->store, errs);
    if (!ss->pending ||
        !ovl_store_point(&ss->store, ss->id, point, &record, status, p->error, errs)) {
        ovl_sweep_store_close(ss);
    }
    ovl_arena_free(&arena);
}

void ovl_sweep_store_commit(ovl_sweep_store *ss)
{
    bool pending = ss->pending;
    ss->pending = false;
    if (pending && !ovl_store_commit(&ss->store, true, &ss->work->errs)) {
        ovl_sweep_store_close(ss);
    }
}

static bool fill(ovl_sweep_store *ss, uint32_t point)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_result result;
    ovl_run_record record = record_of(ss, point, &arena);
    bool good = true;
    if (ovl_sweep_result(ss->sweep, point, OVL_WORTH_DEFAULT, &result, &arena, &errs)) {
        record.result = &result;
        ovl_run_reports(&result, &arena, &record);
        good = ovl_store_fill(&ss->store, ss->id, point, &record, &ss->work->errs);
    }
    ovl_arena_free(&arena);
    return good;
}

void ovl_sweep_store_fill(ovl_sweep_store *ss)
{
    const ovl_sweep *s = ss->sweep;
    uint32_t n = 0;
    for (uint32_t i = 0; ss->open && i < s->ended; i++) {
        bool on_front = s->points[i].front && n < MOST_FILLED;
        n += on_front;
        if ((on_front || i == s->best) && !fill(ss, i)) {
            ovl_sweep_store_close(ss);
        }
    }
}

void ovl_sweep_store_close(ovl_sweep_store *ss)
{
    if (ss->open && ss->pending) {
        ovl_store_commit(&ss->store, false, &ss->work->errs);
    }
    if (ss->open) {
        ovl_store_close(&ss->store);
    }
    ss->open = ss->pending = false;
}
