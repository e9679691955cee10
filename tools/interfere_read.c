/* One of three runs from its file: operations with their names, shapes and classes. */
#include "models/record_isolate.h"
#include "sim/spans.h"
#include "tools/comm_names.h"
#include "tools/interfere_parts.h"
#include "tools/json_scan.h"

#include <string.h>

#define MOST_NAMES 65536
#define NAME_BYTES 1024

typedef struct sampling {
    ovl_read_metric metric;
    uint32_t file;
} sampling;

typedef struct reader {
    ovl_interfere *in;
    ovl_trial *run;
    ovl_comm_pattern *pattern;
    ovl_role role;
    uint32_t file; /* that is read */
    OVL_VEC(sampling) metrics;
} reader;

static ovl_id name_of(ovl_interfere *in, ovl_slice text)
{
    char buffer[NAME_BYTES];
    if (text.length == 0) {
        return OVL_NONE;
    }
    const char *name = ovl_scan_name(text, buffer, sizeof buffer);
    return in->names.count < MOST_NAMES ? ovl_names_add(&in->names, name)
                                        : ovl_names_find(&in->names, name);
}

static uint32_t device_of(ovl_trial *run, uint32_t file, int64_t id)
{
    for (uint32_t i = run->devices.len; i > 0; i--) {
        const ovl_trial_device *d = &run->devices.data[i - 1];
        if (d->file == file && d->id == id) {
            return i - 1;
        }
    }
    ovl_vec_push(&run->devices, (ovl_trial_device){id, id, file});
    return run->devices.len - 1;
}

/* What the user says, else the trace, else the name. */
static ovl_id class_of(ovl_interfere *in, const ovl_read_device *record, const ovl_trial_op *op)
{
    const ovl_interfere_wishes *w = in->wishes;
    const char *text = op->name == OVL_NONE ? "" : ovl_names_text(&in->names, op->name);
    for (uint32_t i = 0; i < w->n_rules && !op->comm; i++) {
        if (regexec(&w->rules[i].regex, text, 0, NULL, 0) == 0) {
            return ovl_names_add(&in->names, w->rules[i].name);
        }
    }
    if (record->klass.length) {
        return name_of(in, record->klass);
    }
    ovl_slice plain;
    plain.text = ovl_kernel_class(text, &plain.length);
    return op->comm       ? op->op
           : plain.length ? name_of(in, plain)
                          : ovl_names_add(&in->names, "unnamed");
}

static ovl_id shape_of(ovl_interfere *in, const ovl_read_device *record)
{
    ovl_arena scratch = {0};
    if (record->grid.length == 0 && record->block.length == 0) {
        return OVL_NONE;
    }
    const char *text = record->grid.length ? "" : "block";
    if (record->grid.length) {
        text = ovl_arena_printf(&scratch, "grid %.*s%s", (int)record->grid.length,
                                record->grid.text, record->block.length ? " block" : "");
    }
    if (record->block.length) {
        text = ovl_arena_printf(&scratch, "%s %.*s", text, (int)record->block.length,
                                record->block.text);
    }
    ovl_id id = name_of(in, (ovl_slice){text, strlen(text)});
    ovl_arena_free(&scratch);
    return id;
}

static void communication(ovl_interfere *in, const ovl_read_device *record, ovl_trial_op *op)
{
    const ovl_read_collective *args = record->collective;
    const char *word = ovl_comm_op_name(args && args->name.length ? args->name : record->name);
    op->op = ovl_names_add(&in->names, word);
    op->bytes = args ? ovl_comm_bytes(word, args) : -1;
    op->bytes = op->bytes < 0 ? record->bytes : op->bytes;
    op->group_size = args ? args->group_size : -1;
}

static void on_device(void *context, const ovl_read_device *record)
{
    reader *r = context;
    if (record->kind != OVL_READ_KERNEL) {
        return;
    }
    ovl_trial_op op = {
        .start = record->start,
        .end = record->end,
        .bytes = -1,
        .group_size = -1,
        .hbm = record->hbm > 0 ? (double)record->hbm : 0,
        .sms = record->sms > 0 ? (double)record->sms : 0,
        .name = name_of(r->in, record->name),
        .op = OVL_NONE,
        .device = device_of(r->run, r->file, record->device),
        .comm = record->communication || ovl_comm_pattern_matches(r->pattern, record->name),
    };
    op.shape = op.comm ? OVL_NONE : shape_of(r->in, record);
    if (op.comm) {
        communication(r->in, record, &op);
    }
    op.klass = class_of(r->in, record, &op);
    ovl_vec_push(&r->run->ops, op);
}

static void on_metric(void *context, const ovl_read_metric *record)
{
    reader *r = context;
    ovl_vec_push(&r->metrics, (sampling){*record, r->file});
}

static int by_device_and_start(const void *a, const void *b)
{
    const ovl_trial_op *x = a, *y = b;
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return (x->end > y->end) - (x->end < y->end);
}

/* Samples of a file that were taken while operations of the run's kind ran on its devices. */
static void sample(reader *r, uint32_t file, int64_t shift)
{
    ovl_trial *run = r->run;
    ovl_spans busy = {0};
    bool comm = r->role == OVL_ROLE_COMM;
    for (uint32_t i = 0; i < run->ops.len; i++) {
        const ovl_trial_op *op = &run->ops.data[i];
        if (op->comm == comm && run->devices.data[op->device].file == file) {
            ovl_spans_add(&busy, op->start, op->end);
        }
    }
    for (uint32_t i = 0; i < r->metrics.len; i++) {
        const ovl_read_metric *m = &r->metrics.data[i].metric;
        int64_t at = m->at - shift;
        if (r->metrics.data[i].file != file || ovl_spans_within(&busy, at, at + 1) == 0) {
            continue;
        }
        if (m->metric == OVL_METRIC_SM) {
            run->sampled.sms += m->percent;
            run->sampled.n_sms++;
        } else {
            run->sampled.hbm += m->percent;
            run->sampled.n_hbm += m->metric == OVL_METRIC_HBM_READ;
        }
    }
    ovl_spans_free(&busy);
}

static bool read_one(reader *r, const char *path, ovl_errs *errs)
{
    const ovl_sink sink = {.context = r, .shapes = true, .device = on_device, .metric = on_metric};
    ovl_read_about about = {.arena = &r->in->arena};
    ovl_trial_file file = {.path = path, .rank = -1};
    r->file = r->run->files.len;
    bool good = ovl_read_file(path, &sink, &about, errs);
    if (!ovl_sha256_file(path, file.sha256)) {
        file.sha256[0] = '\0';
    }
    file.rank = about.rank >= 0 ? about.rank : ovl_rank_of_path(path);
    ovl_vec_push(&r->run->files, file);
    r->run->hbm = about.gpu_hbm > 0 ? (double)about.gpu_hbm : r->run->hbm;
    r->run->sms = about.gpu_sms > 0 ? (double)about.gpu_sms : r->run->sms;
    return good;
}

/* Files without ranks are the ranks in the order in which they were given. False and an error where
 * two say the same. */
static bool set_ranks(ovl_trial *run, ovl_errs *errs)
{
    bool told = true;
    for (uint32_t i = 0; i < run->files.len; i++) {
        told &= run->files.data[i].rank >= 0;
    }
    for (uint32_t i = 0; i < run->files.len; i++) {
        ovl_trial_file *file = &run->files.data[i];
        file->rank = run->files.len == 1 ? -1 : told ? file->rank : (int64_t)i;
        for (uint32_t k = 0; k < i; k++) {
            if (run->files.data[k].rank == file->rank) {
                ovl_error(errs, OVL_E_INPUT, (ovl_mark){file->path, 0, 0},
                          "is of rank %" PRId64 ", as is %s: one file a rank", file->rank,
                          run->files.data[k].path);
                return false;
            }
        }
    }
    return true;
}

#define MOST_DEVICES                                                                               \
    65536 /* of a file: key = rank times that, plus the place among its devices                    \
           */

static void set_keys(ovl_trial *run)
{
    for (uint32_t i = 0; i < run->devices.len && run->files.len > 1; i++) {
        ovl_trial_device *d = &run->devices.data[i];
        int64_t place = 0;
        for (uint32_t k = 0; k < run->devices.len; k++) {
            const ovl_trial_device *other = &run->devices.data[k];
            place += other->file == d->file && other->id < d->id;
        }
        d->key = (run->files.data[d->file].rank % INT32_MAX) * MOST_DEVICES + place;
    }
}

static void sort(ovl_trial *run)
{
    if (run->ops.len) {
        qsort(run->ops.data, run->ops.len, sizeof *run->ops.data, by_device_and_start);
    }
}

bool ovl_interfere_read(ovl_interfere *in, ovl_role role, ovl_comm_pattern *pattern, ovl_errs *errs)
{
    reader r = {.in = in, .run = &in->runs[role], .pattern = pattern, .role = role};
    ovl_trial *run = r.run;
    bool good = true;
    run->path = in->wishes->paths[role][0];
    for (uint32_t i = 0; i < in->wishes->n_paths[role]; i++) {
        good &= read_one(&r, in->wishes->paths[role][i], errs);
    }
    good = good && set_ranks(run, errs);
    if (good && run->ops.len) {
        int64_t *shift = OVL_NEW_ARRAY(&in->arena, int64_t, run->files.len);
        set_keys(run);
        sort(run);
        ovl_interfere_align(run, shift);
        ovl_interfere_starts(run);
        sort(run);
        for (uint32_t i = 0; i < run->files.len; i++) {
            sample(&r, i, shift[i]);
        }
        run->metrics = r.metrics.len > 0;
    }
    ovl_vec_free(&r.metrics);
    return good;
}
