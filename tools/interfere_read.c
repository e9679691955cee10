/* One of three runs from its file: operations with their names, shapes and classes. */
#include "models/record_isolate.h"
#include "sim/spans.h"
#include "tools/comm_names.h"
#include "tools/interfere.h"
#include "tools/json_scan.h"

#include <string.h>

#define MOST_NAMES 65536
#define NAME_BYTES 1024

typedef struct reader {
    ovl_interfere *in;
    ovl_trial *run;
    ovl_comm_pattern *pattern;
    ovl_role role;
    OVL_VEC(ovl_read_metric) metrics;
} reader;

static ovl_id name_of(ovl_interfere *in, ovl_slice text)
{
    char buffer[NAME_BYTES];
    if (text.length == 0) {
        return OVL_NONE;
    }
    const char *name = ovl_scan_unescape(text, buffer, sizeof buffer);
    return in->names.count < MOST_NAMES ? ovl_names_add(&in->names, name)
                                        : ovl_names_find(&in->names, name);
}

static uint32_t device_of(ovl_trial *run, int64_t id)
{
    for (uint32_t i = 0; i < run->devices.len; i++) {
        if (run->devices.data[i] == id) {
            return i;
        }
    }
    ovl_vec_push(&run->devices, id);
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
    const char *text =
        ovl_arena_printf(&scratch, "grid %.*s block %.*s", (int)record->grid.length,
                         record->grid.text, (int)record->block.length, record->block.text);
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
        .device = device_of(r->run, record->device),
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
    ovl_vec_push(&r->metrics, *record);
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

/* Samples that were taken while operations of the run's kind ran. */
static void sample(reader *r)
{
    ovl_trial *run = r->run;
    ovl_spans busy = {0};
    bool comm = r->role == OVL_ROLE_COMM;
    for (uint32_t i = 0; i < run->ops.len; i++) {
        if (run->ops.data[i].comm == comm) {
            ovl_spans_add(&busy, run->ops.data[i].start, run->ops.data[i].end);
        }
    }
    for (uint32_t i = 0; i < r->metrics.len; i++) {
        const ovl_read_metric *m = &r->metrics.data[i];
        if (ovl_spans_within(&busy, m->at, m->at + 1) == 0) {
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
    run->metrics = r->metrics.len > 0;
    ovl_spans_free(&busy);
}

bool ovl_interfere_read(ovl_interfere *in, ovl_role role, ovl_comm_pattern *pattern, ovl_errs *errs)
{
    reader r = {.in = in, .run = &in->runs[role], .pattern = pattern, .role = role};
    const ovl_sink sink = {.context = &r, .device = on_device, .metric = on_metric};
    ovl_read_about about = {.arena = &in->arena};
    r.run->path = in->wishes->path[role];
    bool good = ovl_read_file(r.run->path, &sink, &about, errs);
    if (!ovl_sha256_file(r.run->path, r.run->sha256)) {
        r.run->sha256[0] = '\0';
    }
    if (good && r.run->ops.len) {
        qsort(r.run->ops.data, r.run->ops.len, sizeof *r.run->ops.data, by_device_and_start);
        ovl_interfere_starts(r.run);
        qsort(r.run->ops.data, r.run->ops.len, sizeof *r.run->ops.data, by_device_and_start);
        r.run->hbm = about.gpu_hbm > 0 ? (double)about.gpu_hbm : 0;
        r.run->sms = about.gpu_sms > 0 ? (double)about.gpu_sms : 0;
        sample(&r);
    }
    ovl_vec_free(&r.metrics);
    return good;
}
