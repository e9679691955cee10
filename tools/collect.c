#include "tools/collect.h"

#include "tools/comm_names.h"
#include "tools/decimal.h"
#include "tools/json_scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SEEN         4096  /* names whose answer is remembered */
#define MOST_DEVICES 4096  /* in one file */
#define MOST_NAMES   16384 /* of groups, types and operations */
#define NAME_BYTES   4096  /* of a name that is looked at */

/* ---- the pattern ---- */

bool ovl_comm_pattern_begin(ovl_comm_pattern *pattern, const char *text, ovl_errs *errs)
{
    const ovl_mark nowhere = {0};
    char why[200];
    *pattern = (ovl_comm_pattern){.text = text};
    int code = regcomp(&pattern->regex, text, REG_EXTENDED | REG_ICASE | REG_NOSUB);
    if (code) {
        regerror(code, &pattern->regex, why, sizeof why);
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
    const char *name = ovl_scan_unescape(text, buffer, sizeof buffer);
    ovl_id id = ovl_names_find(file->names, name);
    if (id == OVL_NONE) {
        id = ovl_names_add(file->names, file->names->count < MOST_NAMES ? name : "other");
    }
    return id;
}

/* The index of a device; the last one seen is the most likely. */
static uint32_t device_index(ovl_collected *file, int64_t id)
{
    for (uint32_t i = file->devices.len; i > 0; i--) {
        if (file->devices.data[i - 1] == id) {
            return i - 1;
        }
    }
    if (file->devices.len == MOST_DEVICES) {
        return OVL_NONE;
    }
    ovl_vec_push(&file->devices, id);
    return file->devices.len - 1;
}

/* From the elements, or as the file has them. */
static int64_t bytes_of(const char *op, const ovl_read_collective *args,
                        const ovl_read_device *record)
{
    int64_t bytes = ovl_comm_bytes(op, args);
    return bytes < 0 && record->communication ? record->bytes : bytes;
}

static void add_comm(ovl_collected *file, const ovl_read_device *record, uint32_t device)
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
        .op = name_id(file, (ovl_slice){op, strlen(op)}),
        .group = name_id(file, args->group),
        .dtype = name_id(file, args->dtype),
        .device = (uint16_t)device,
    };
    ovl_vec_push(&file->comms, comm);
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
    uint32_t device = device_index(file, record->device);
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
    ovl_vec_push(&file->ops, op);
    file->like_copies += kind == OVL_BUSY_COMPUTE && like_copy(record->name);
    if (kind == OVL_BUSY_COMM) {
        add_comm(file, record, device);
    }
}

static bool contains(ovl_slice text, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= text.length; i++) {
        if (text.text[i] == *part && memcmp(text.text + i, part, n) == 0) {
            return true;
        }
    }
    return false;
}

/* Calls in which the host waits for a device. */
static bool waits(ovl_slice name)
{
    return contains(name, "Synchronize") || ovl_slice_is(name, "cudaMemcpy") ||
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
        ovl_spans_add(&file->syncs, record->start, record->end);
    }
    if (record->has_key) {
        uint64_t key = link_key(record->key, record->process);
        ovl_vec_push(&file->launches, (ovl_launch){key, record->start});
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
    };
    ovl_vec_push(&file->rows, row);
}

void ovl_collect_begin(ovl_collected *file, const char *path, ovl_comm_pattern *pattern,
                       ovl_names *names)
{
    *file = (ovl_collected){.path = path, .pattern = pattern, .names = names, .rank = -1};
    file->about.arena = &file->arena;
    file->sink = (ovl_sink){
        .context = file, .device = on_device, .host = on_host, .memory = on_memory, .row = on_row};
}

/* ---- what belongs together ---- */

static int by_key(const void *a, const void *b)
{
    const ovl_launch *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return (x->start > y->start) - (x->start < y->start);
}

static int by_device_and_start(const void *a, const void *b)
{
    const ovl_collected_op *x = a, *y = b;
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    if (x->end != y->end) {
        return x->end < y->end ? -1 : 1;
    }
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    return (x->identity > y->identity) - (x->identity < y->identity);
}

static int comms_by_time(const void *a, const void *b)
{
    const ovl_comm_op *x = a, *y = b;
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    if (x->end != y->end) {
        return x->end < y->end ? -1 : 1;
    }
    return (x->stream > y->stream) - (x->stream < y->stream);
}

static int steps_by_start(const void *a, const void *b)
{
    const ovl_step_range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* The first launch with this key, or NULL. */
static const ovl_launch *launch_of(const ovl_collected *file, uint64_t key)
{
    uint32_t low = 0, high = file->launches.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (file->launches.data[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < file->launches.len && file->launches.data[low].key == key
               ? &file->launches.data[low]
               : NULL;
}

/* A kernel that two events tell of is one kernel; a graph launches many under one key, but at
 * different times. */
static void drop_duplicates(ovl_collected *file)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < file->ops.len; i++) {
        const ovl_collected_op *op = &file->ops.data[i];
        if (kept && op->linked && by_device_and_start(op, &file->ops.data[kept - 1]) == 0) {
            file->duplicates++;
        } else {
            file->ops.data[kept++] = *op;
        }
    }
    file->ops.len = kept;
    uint32_t comms = 0;
    for (uint32_t i = 0; i < file->comms.len && file->duplicates; i++) {
        const ovl_comm_op *c = &file->comms.data[i];
        if (comms == 0 || comms_by_time(c, &file->comms.data[comms - 1]) != 0) {
            file->comms.data[comms++] = *c;
        }
    }
    file->comms.len = file->duplicates ? comms : file->comms.len;
}

/* Sorting takes as much memory again; what a profiler wrote in order needs none. */
static void sort(void *items, uint32_t count, size_t size, int (*order)(const void *, const void *))
{
    const char *item = items;
    for (uint32_t i = 1; i < count; i++) {
        if (order(item + (i - 1) * size, item + i * size) > 0) {
            qsort(items, count, size, order);
            return;
        }
    }
}

#define SORT(v, order) sort((v).data, (v).len, sizeof *(v).data, (order))

void ovl_collect_link(ovl_collected *file)
{
    SORT(file->launches, by_key);
    SORT(file->ops, by_device_and_start);
    SORT(file->comms, comms_by_time);
    SORT(file->steps, steps_by_start);
    drop_duplicates(file);
    for (uint32_t i = 0; i < file->ops.len; i++) {
        ovl_collected_op *op = &file->ops.data[i];
        const ovl_launch *launch = op->linked ? launch_of(file, op->by.key) : NULL;
        op->linked = launch != NULL;
        op->by.launched = launch ? launch->start : 0;
    }
    for (uint32_t i = 0; i < file->comms.len; i++) {
        ovl_comm_op *comm = &file->comms.data[i];
        if (comm->group_size < 0 && comm->group != OVL_NONE) {
            const char *name = ovl_names_text(file->names, comm->group);
            comm->group_size = ovl_read_group_size(&file->about, name, strlen(name));
        }
    }
    file->rank = file->about.rank >= 0 ? file->about.rank : ovl_rank_of_path(file->path);
}

void ovl_collect_free(ovl_collected *file)
{
    ovl_vec_free(&file->devices);
    ovl_vec_free(&file->ops);
    ovl_vec_free(&file->launches);
    ovl_vec_free(&file->comms);
    ovl_vec_free(&file->steps);
    ovl_vec_free(&file->memory);
    ovl_vec_free(&file->rows);
    ovl_spans_free(&file->syncs);
    ovl_arena_free(&file->arena);
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
