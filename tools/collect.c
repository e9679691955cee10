#include "tools/collect.h"

#include "models/pattern.h"
#include "tools/comm_names.h"
#include "tools/decimal.h"
#include "tools/json_scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SEEN         4096      /* names whose answer is remembered */
#define MOST_DEVICES 4096      /* in one file */
#define MOST_NAMES   16384     /* of groups, types and operations */
#define NAME_BYTES   4096      /* of a name that is looked at */
#define BUFFER       (4 << 20) /* bytes of records that are ordered in memory */

/* ---- the pattern ---- */

bool ovl_comm_pattern_begin(ovl_comm_pattern *pattern, const char *text, ovl_errs *errs)
{
    const ovl_mark nowhere = {0};
    *pattern = (ovl_comm_pattern){.text = text};
    const char *why = ovl_pattern_compile(&pattern->regex, text, true, errs->arena);
    if (why) {
        ovl_error(errs, OVL_E_USAGE, nowhere, "--comm-pattern \"%s\": %s", text, why);
        return false;
    }
    pattern->seen = calloc(SEEN, sizeof *pattern->seen);
    if (!pattern->seen) {
        ovl_out_of_memory(SEEN * sizeof *pattern->seen);
    }
    return true;
}

bool ovl_comm_pattern_matches(ovl_comm_pattern *pattern, ovl_slice name)
{
    char buffer[NAME_BYTES];
    uint64_t hash = ovl_hash(0, name.text, name.length) | 2; /* never 0 */
    uint64_t *slot = &pattern->seen[(hash >> 20) % SEEN];
    if ((*slot | 1) != (hash | 1)) {
        bool yes = regexec(&pattern->regex, ovl_scan_unescape(name, buffer, sizeof buffer), 0, NULL,
                           0) == 0;
        *slot = (hash & ~(uint64_t)1) | yes;
    }
    return *slot & 1;
}

void ovl_comm_pattern_free(ovl_comm_pattern *pattern)
{
    if (pattern->seen) {
        regfree(&pattern->regex);
        free(pattern->seen);
    }
    *pattern = (ovl_comm_pattern){0};
}

/* ---- records ---- */

static ovl_id name_id(ovl_collected *file, ovl_slice text)
{
    char buffer[256];
    if (text.length == 0) {
        return OVL_NONE;
    }
    const char *name = ovl_scan_name(text, buffer, sizeof buffer);
    ovl_id id = ovl_names_find(file->names, name);
    if (id == OVL_NONE) {
        id = ovl_names_add(file->names, file->names->count < MOST_NAMES ? name : "other");
    }
    return id;
}

/* The index of a device; the last one seen is the most likely. */
static uint32_t device_index(ovl_collected *file, const ovl_read_device *record)
{
    const int64_t id = record->device;
    for (uint32_t i = file->devices.len; i > 0; i--) {
        if (file->devices.data[i - 1] == id) {
            return i - 1;
        }
    }
    if (file->devices.len == MOST_DEVICES) {
        return OVL_NONE;
    }
    ovl_vec_push(&file->devices, id);
    ovl_vec_push(&file->device_ranks, record->has_rank ? record->rank : -1);
    return file->devices.len - 1;
}

/* From the elements, or as the file has them. */
static int64_t bytes_of(const char *op, const ovl_read_collective *args,
                        const ovl_read_device *record)
{
    int64_t bytes = ovl_comm_bytes(op, args);
    return bytes < 0 ? record->bytes : bytes;
}

static void add_comm(ovl_collected *file, const ovl_read_device *record, uint32_t device,
                     uint64_t key)
{
    static const ovl_read_collective none = {
        .in_elements = -1, .out_elements = -1, .group_size = -1, .sequence = -1};
    const ovl_read_collective *args = record->collective ? record->collective : &none;
    const char *op = ovl_comm_op_name(args->name.length ? args->name : record->name);
    ovl_comm_op comm = {
        .start = record->start,
        .end = record->end,
        .bytes = bytes_of(op, args, record),
        .group_size = args->group_size,
        .sequence = args->sequence,
        .stream = record->stream,
        .key = key,
        .op = name_id(file, (ovl_slice){op, strlen(op)}),
        .group = name_id(file, args->group),
        .dtype = name_id(file, args->dtype),
        .device = (uint16_t)device,
        .has_key = record->has_key,
    };
    ovl_sorter_add(&file->comms, &comm);
}

/* In one file the same number may name calls of several processes. */
static uint64_t link_key(uint64_t key, uint64_t process)
{
    return key ^ process * UINT64_C(0x9E3779B97F4A7C15);
}

static bool like_copy(ovl_slice name)
{
    return ovl_slice_starts(name, "MEMORY_COPY_") || ovl_slice_starts(name, "__amd_rocclr_copy") ||
           ovl_slice_starts(name, "__amd_rocclr_fill");
}

static ovl_busy_kind kind_of(ovl_collected *file, const ovl_read_device *record)
{
    switch (record->kind) {
    case OVL_READ_COPY:
        return OVL_BUSY_COPY;
    case OVL_READ_SET:
        return OVL_BUSY_SET;
    case OVL_READ_KERNEL:
        break;
    }
    bool comm = record->communication || ovl_comm_pattern_matches(file->pattern, record->name);
    return comm ? OVL_BUSY_COMM : OVL_BUSY_COMPUTE;
}

static void on_device(void *context, const ovl_read_device *record)
{
    ovl_collected *file = context;
    uint32_t device = device_index(file, record);
    if (device == OVL_NONE) {
        file->beyond++;
        return;
    }
    ovl_busy_kind kind = kind_of(file, record);
    uint64_t key = link_key(record->key, record->process);
    uint64_t identity = ovl_hash(0, record->name.text, record->name.length);
    identity = ovl_hash(identity, (const char *)&record->stream, sizeof record->stream);
    identity = ovl_hash(identity, (const char *)&key, sizeof key);
    ovl_collected_op op = {
        .start = record->start,
        .end = record->end,
        .by.key = key,
        .identity = (uint32_t)(identity >> 32),
        .device = (uint16_t)device,
        .kind = (uint8_t)kind,
        .linked = record->has_key,
    };
    ovl_sorter_add(&file->ops, &op);
    file->like_copies += kind == OVL_BUSY_COMPUTE && like_copy(record->name);
    if (kind == OVL_BUSY_COMM) {
        add_comm(file, record, device, key);
    }
}

/* Calls in which the host waits for a device. */
static bool waits(ovl_slice name)
{
    return ovl_slice_has(name, "Synchronize") || ovl_slice_is(name, "cudaMemcpy") ||
           ovl_slice_starts(name, "cudaMemcpy_v") || ovl_slice_is(name, "hipMemcpy") ||
           ovl_slice_is(name, "hipMemcpyWithStream");
}

/* Steps of several processes, and the second writing of one, are one step. */
static void add_step(ovl_collected *file, const ovl_read_host *record)
{
    int64_t number;
    ovl_slice name = record->name;
    while (name.length && !isdigit((unsigned char)*name.text)) {
        name = (ovl_slice){name.text + 1, name.length - 1};
    }
    if (!ovl_decimal(name.text, name.length, 0, &number)) {
        return;
    }
    for (uint32_t i = 0; i < file->steps.len; i++) {
        ovl_step_range *step = &file->steps.data[i];
        if (step->number == number) {
            step->start = OVL_MIN(step->start, record->start);
            step->end = OVL_MAX(step->end, record->end);
            return;
        }
    }
    if (file->steps.len < MOST_NAMES) {
        ovl_vec_push(&file->steps, (ovl_step_range){number, record->start, record->end});
    }
}

static void on_host(void *context, const ovl_read_host *record)
{
    ovl_collected *file = context;
    if (record->call == OVL_READ_STEP) {
        add_step(file, record);
        return;
    }
    if (waits(record->name)) {
        const ovl_host_sync sync = {record->start, record->end};
        ovl_sorter_add(&file->syncs, &sync);
    }
    if (record->has_key) {
        const ovl_launch launch = {link_key(record->key, record->process), record->start};
        ovl_sorter_add(&file->launches, &launch);
    }
}

static void on_memory(void *context, const ovl_read_memory *record)
{
    ovl_collected *file = context;
    ovl_memory_peak *peak = NULL;
    for (uint32_t i = 0; i < file->memory.len && !peak; i++) {
        ovl_memory_peak *p = &file->memory.data[i];
        peak = p->type == record->type && p->device == record->device ? p : NULL;
    }
    if (!peak) {
        if (file->memory.len == MOST_DEVICES) {
            return;
        }
        ovl_memory_peak fresh = {
            .type = record->type, .device = record->device, .allocated = -1, .reserved = -1};
        ovl_vec_push(&file->memory, fresh);
        peak = &file->memory.data[file->memory.len - 1];
    }
    int64_t sum;
    if (!__builtin_add_overflow(peak->sum, record->change, &sum)) {
        peak->sum = sum;
    }
    peak->peak_sum = OVL_MAX(peak->peak_sum, peak->sum);
    peak->allocated = OVL_MAX(peak->allocated, record->allocated);
    peak->reserved = OVL_MAX(peak->reserved, record->reserved);
    peak->events++;
}

static void on_row(void *context, const ovl_read_row *record)
{
    ovl_collected *file = context;
    ovl_table_row row = {
        .bytes = record->bytes,
        .count = record->count,
        .time = {record->time[0], record->time[1]},
        .wrong = {record->wrong[0], record->wrong[1]},
        .type = name_id(file, record->type),
        .redop = name_id(file, record->redop),
        .series = name_id(file, record->series),
        .operation = name_id(file, record->operation),
        .run = record->run,
        .n_ranks = record->n_ranks,
    };
    ovl_vec_push(&file->rows, row);
}

/* ---- what belongs together ---- */

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int launches_by_key(const void *a, const void *b)
{
    const ovl_launch *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return order(x->start, y->start);
}

static int by_device_and_start(const void *a, const void *b)
{
    const ovl_collected_op *x = a, *y = b;
    const int by[] = {order(x->device, y->device), order(x->start, y->start), order(x->end, y->end),
                      order(x->kind, y->kind)};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        if (by[i]) {
            return by[i];
        }
    }
    return order(x->identity, y->identity);
}

/* Exact duplicates have one key, and so come one after the other. */
static int ops_by_key(const void *a, const void *b)
{
    const ovl_collected_op *x = a, *y = b;
    if (x->linked != y->linked) {
        return y->linked ? -1 : 1;
    }
    if (x->linked && x->by.key != y->by.key) {
        return x->by.key < y->by.key ? -1 : 1;
    }
    return by_device_and_start(a, b);
}

static int comms_by_time(const void *a, const void *b)
{
    const ovl_comm_op *x = a, *y = b;
    const int by[] = {order(x->device, y->device), order(x->start, y->start),
                      order(x->end, y->end)};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        if (by[i]) {
            return by[i];
        }
    }
    if (x->stream != y->stream) {
        return x->stream < y->stream ? -1 : 1;
    }
    return (x->key > y->key) - (x->key < y->key);
}

static int syncs_by_start(const void *a, const void *b)
{
    const ovl_host_sync *x = a, *y = b;
    return order(x->start, y->start);
}

static int steps_by_start(const void *a, const void *b)
{
    const ovl_step_range *x = a, *y = b;
    return order(x->start, y->start);
}

void ovl_collect_begin(ovl_collected *file, const char *path, ovl_comm_pattern *pattern,
                       ovl_names *names)
{
    *file = (ovl_collected){.path = path, .pattern = pattern, .names = names, .rank = -1};
    file->about.arena = &file->arena;
    ovl_sorter_begin(&file->ops, sizeof(ovl_collected_op), ops_by_key, BUFFER);
    ovl_sorter_begin(&file->launches, sizeof(ovl_launch), launches_by_key, BUFFER);
    ovl_sorter_begin(&file->comms, sizeof(ovl_comm_op), comms_by_time, BUFFER);
    ovl_sorter_begin(&file->syncs, sizeof(ovl_host_sync), syncs_by_start, BUFFER);
    file->sink = (ovl_sink){
        .context = file, .device = on_device, .host = on_host, .memory = on_memory, .row = on_row};
}

/* Operations and launches, both by key, meet; what the profiler wrote twice is dropped: a kernel
 * that two events tell of is one kernel (a graph launches many under one key, but at different
 * times). */
static void link_ops(ovl_collected *file, ovl_sorter *linked)
{
    ovl_collected_op op, last = {0};
    ovl_sorter_rewind(&file->ops);
    ovl_sorter_rewind(&file->launches);
    const ovl_launch *launch = ovl_sorter_next(&file->launches);
    for (const ovl_collected_op *next; (next = ovl_sorter_next(&file->ops)) != NULL; last = op) {
        op = *next;
        if (op.linked && last.linked && ops_by_key(&op, &last) == 0) {
            file->duplicates++;
            continue;
        }
        while (op.linked && launch && launch->key < op.by.key) {
            launch = ovl_sorter_next(&file->launches);
        }
        ovl_collected_op with = op;
        with.linked = op.linked && launch && launch->key == op.by.key;
        with.by.launched = with.linked ? launch->start : 0;
        ovl_sorter_add(linked, &with);
    }
}

bool ovl_collect_link(ovl_collected *file, ovl_errs *errs)
{
    ovl_sorter linked;
    ovl_sorter_begin(&linked, sizeof(ovl_collected_op), by_device_and_start, BUFFER);
    link_ops(file, &linked);
    bool lost = file->ops.failed || file->launches.failed;
    ovl_sorter_free(&file->ops);
    file->ops = linked;
    ovl_sorter_rewind(&file->ops);
    if (file->steps.len) {
        qsort(file->steps.data, file->steps.len, sizeof *file->steps.data, steps_by_start);
    }
    file->rank = file->about.rank >= 0 ? file->about.rank : ovl_rank_of_path(file->path);
    if (lost) {
        ovl_error(errs, OVL_E_INPUT, (ovl_mark){file->path, 0, 0},
                  "a temporary file could not be read back");
    }
    return !lost;
}

/* Where the arguments do not tell the size of a group the list of groups may. */
static void fill_size(const ovl_collected *file, ovl_comm_op *op)
{
    if (op->group_size < 0 && op->group != OVL_NONE) {
        const char *name = ovl_names_text(file->names, op->group);
        op->group_size = ovl_read_group_size(&file->about, name, strlen(name));
    }
}

bool ovl_collect_first_comm(ovl_collected *file, ovl_comm_op *op)
{
    *op = (ovl_comm_op){0};
    ovl_sorter_rewind(&file->comms);
    return ovl_collect_next_comm(file, op);
}

bool ovl_collect_next_comm(ovl_collected *file, ovl_comm_op *op)
{
    const ovl_comm_op *next = ovl_sorter_next(&file->comms);
    while (next && next->has_key && op->has_key && comms_by_time(next, op) == 0) {
        next = ovl_sorter_next(&file->comms);
    }
    if (next) {
        *op = *next;
        fill_size(file, op);
    }
    return next != NULL;
}

void ovl_collect_free(ovl_collected *file)
{
    ovl_vec_free(&file->devices);
    ovl_vec_free(&file->device_ranks);
    ovl_sorter_free(&file->ops);
    ovl_sorter_free(&file->launches);
    ovl_sorter_free(&file->comms);
    ovl_sorter_free(&file->syncs);
    ovl_vec_free(&file->steps);
    ovl_vec_free(&file->memory);
    ovl_vec_free(&file->rows);
    ovl_arena_free(&file->arena);
}

int64_t ovl_collect_rank(const ovl_collected *file, uint32_t device)
{
    int64_t own = file->device_ranks.data[device];
    return own >= 0 ? own : file->rank;
}

int64_t ovl_rank_of_path(const char *path)
{
    static const char *const before[] = {"rank", "worker", "_r"};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < OVL_COUNT(before); i++) {
        for (const char *at = name; (at = strstr(at, before[i])) != NULL;) {
            at += strlen(before[i]);
            const char *number = *at == '-' || *at == '_' ? at + 1 : at;
            size_t n = strspn(number, "0123456789");
            bool whole = i < 2 || strncmp(number + n, "of", 2) == 0;
            int64_t rank;
            if (n > 0 && whole && ovl_decimal(number, n, 0, &rank)) {
                return rank;
            }
        }
    }
    return -1;
}
