/* One event of a PyTorch profiler trace: which members count, and what its category makes of it. */
#include "tools/decimal.h"
#include "tools/kineto.h"

#include <ctype.h>
#include <string.h>

bool ovl_slice_is(ovl_slice slice, const char *text)
{
    size_t n = strlen(text);
    return slice.length == n && memcmp(slice.text, text, n) == 0;
}

bool ovl_slice_starts(ovl_slice slice, const char *text)
{
    size_t n = strlen(text);
    return slice.length >= n && memcmp(slice.text, text, n) == 0;
}

bool ovl_slice_has(ovl_slice slice, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= slice.length; i++) {
        if (slice.text[i] == *part && memcmp(slice.text + i, part, n) == 0) {
            return true;
        }
    }
    return false;
}

static ovl_scan_value *member_of(ovl_kineto_event *event, ovl_slice key)
{
    const char *k = key.text;
    switch (key.length) {
    case 2:
        return memcmp(k, "ph", 2) == 0 ? &event->ph : memcmp(k, "ts", 2) == 0 ? &event->ts : NULL;
    case 3:
        return memcmp(k, "cat", 3) == 0   ? &event->cat
               : memcmp(k, "pid", 3) == 0 ? &event->pid
               : memcmp(k, "tid", 3) == 0 ? &event->tid
               : memcmp(k, "dur", 3) == 0 ? &event->dur
                                          : NULL;
    case 4:
        return memcmp(k, "name", 4) == 0   ? &event->name
               : memcmp(k, "args", 4) == 0 ? &event->args
                                           : NULL;
    default:
        return NULL;
    }
}

ovl_scan_result ovl_kineto_scan(ovl_cursor *cursor, ovl_kineto_event *event)
{
    ovl_slice key;
    ovl_scan_value value;
    ovl_scan_result found;
    *event = (ovl_kineto_event){0};
    while ((found = ovl_scan_member(cursor, &key, &value)) == OVL_SCAN_DONE) {
        ovl_scan_value *member = member_of(event, key);
        if (member) {
            *member = value;
            event->known = true;
        }
    }
    return found;
}

typedef enum category {
    OTHER,
    KERNEL,
    COMM,
    COPY,
    SET,
    RUNTIME,
    RANGE,
    NOTE,
    SYNC,
    INSTANT
} category;

/* Categories of today, and of 2020 and 2021 ("Kernel", "Runtime", "Operator"). */
static const struct {
    const char *name;
    category is;
} categories[] = {
    {"kernel", KERNEL},
    {"communication", COMM}, /* of our own traces */
    {"gpu_memcpy", COPY},
    {"gpu_memset", SET},
    {"memcpy", COPY},
    {"memset", SET},
    {"cuda_runtime", RUNTIME},
    {"cuda_driver", RUNTIME},
    {"runtime", RUNTIME},
    {"xpu_runtime", RUNTIME},
    {"xpu_driver", RUNTIME},
    {"mtia_runtime", RUNTIME},
    {"privateuse1_runtime", RUNTIME},
    {"user_annotation", NOTE},
    {"cuda_sync", SYNC},
    {"xpu_sync", SYNC},
    {"privateuse1_driver", RUNTIME},
    {"operator", RANGE},
    {"cpu_op", RANGE},
    {"cpu_instant_event", INSTANT},
};

static bool same_word(ovl_slice slice, const char *lower)
{
    for (size_t i = 0; i < slice.length; i++) {
        if (lower[i] == '\0' || tolower((unsigned char)slice.text[i]) != lower[i]) {
            return false;
        }
    }
    return lower[slice.length] == '\0';
}

static category category_of(ovl_slice cat)
{
    for (size_t i = 0; i < OVL_COUNT(categories); i++) {
        if (same_word(cat, categories[i].name)) {
            return categories[i].is;
        }
    }
    return OTHER;
}

typedef struct args {
    ovl_scan_value device, stream, key, bytes, grid, block;
    ovl_scan_value op, own_group, members, klass, hbm, sms; /* of our own traces */
    ovl_scan_value collective, in_elements, out_elements, group_size, dtype, group, sequence, ranks;
    ovl_scan_value wait_on, wait_record;
    ovl_scan_value change, allocated, reserved, type, memory_device;
} args;

static ovl_scan_value *arg_of(args *a, ovl_slice key)
{
    const struct {
        const char *name;
        ovl_scan_value *value;
    } table[] = {
        {"device", &a->device},
        {"stream", &a->stream},
        {"correlation", &a->key},
        {"bytes", &a->bytes},
        {"grid", &a->grid},
        {"block", &a->block},
        {"op", &a->op},
        {"group", &a->own_group},
        {"members", &a->members},
        {"class", &a->klass},
        {"hbm_Bps", &a->hbm},
        {"sms", &a->sms},
        {"Collective name", &a->collective},
        {"In msg nelems", &a->in_elements},
        {"Out msg nelems", &a->out_elements},
        {"Group size", &a->group_size},
        {"dtype", &a->dtype},
        {"Process Group Name", &a->group},
        {"Process Group Ranks", &a->ranks},
        {"Seq", &a->sequence},
        {"wait_on_stream", &a->wait_on},
        {"wait_on_cuda_event_record_corr_id", &a->wait_record},
        {"Bytes", &a->change},
        {"Total Allocated", &a->allocated},
        {"Total Reserved", &a->reserved},
        {"Device Type", &a->type},
        {"Device Id", &a->memory_device},
    };
    for (size_t i = 0; i < OVL_COUNT(table); i++) {
        if (key.text[0] == table[i].name[0] && ovl_slice_is(key, table[i].name)) {
            return table[i].value;
        }
    }
    return NULL;
}

static bool read_args(const ovl_scan_value *object, args *a)
{
    ovl_slice key;
    ovl_scan_value value;
    ovl_scan_result found = OVL_SCAN_END;
    *a = (args){0};
    if (!object->slice.text || object->kind != OVL_SCAN_OBJECT) {
        return true;
    }
    const char *from = object->slice.text;
    ovl_cursor cursor = {from + 1, from + object->slice.length, false};
    while ((found = ovl_scan_member(&cursor, &key, &value)) == OVL_SCAN_DONE) {
        ovl_scan_value *arg = key.length ? arg_of(a, key) : NULL;
        if (arg) {
            *arg = value;
        }
    }
    return found == OVL_SCAN_END;
}

static int64_t integer_or(const ovl_scan_value *value, int64_t otherwise)
{
    int64_t number = otherwise;
    if (value->slice.text) {
        ovl_scan_integer(value, 0, &number);
    }
    return number;
}

/* "stream 7" in the oldest files; a number or hexadecimal text in the others. */
static uint64_t key_of(const ovl_scan_value *value)
{
    ovl_slice s = value->slice;
    if (ovl_slice_starts(s, "stream ")) {
        s = (ovl_slice){s.text + 7, s.length - 7};
    }
    return s.text ? ovl_decimal_key(s.text, s.length) : 0;
}

/* Start and end in ns; what is wrong with them is counted. False: there is no start. */
static bool times(const ovl_kineto_event *event, uint64_t byte, ovl_read_about *about,
                  int64_t *start, int64_t *end, bool device)
{
    int64_t length = 0;
    if (!event->ts.slice.text || !ovl_scan_integer(&event->ts, 3, start)) {
        ovl_read_fault_at(&about->faults.no_time, byte);
        return false;
    }
    bool has = event->dur.slice.text && ovl_scan_integer(&event->dur, 3, &length);
    if (!has && device) {
        ovl_read_fault_at(&about->faults.no_end, byte);
    }
    if (length < 0) {
        ovl_read_fault_at(&about->faults.negative, byte);
        length = 0;
    }
    if (*start > ((int64_t)1 << 62) - 1 - length) {
        ovl_read_fault_at(&about->faults.no_time, byte);
        return false;
    }
    *end = *start + length;
    return true;
}

/* The device, or else the process of the event, which stands for it unless it is a name; else 0.
 * False if it is no number, or one too large to be told from others. */
static bool device_of(const ovl_scan_value *device, const ovl_scan_value *pid, int64_t *number)
{
    *number = 0;
    if (device->slice.text) {
        return ovl_scan_integer(device, 0, number);
    }
    return !pid->slice.length || !isdigit((unsigned char)*pid->slice.text) ||
           ovl_scan_integer(pid, 0, number);
}

static bool use_device(const ovl_kineto_event *event, category kind, uint64_t byte,
                       const ovl_sink *sink, ovl_read_about *about)
{
    ovl_read_device record = {.name = event->name.slice};
    args a;
    if (!sink->device || !times(event, byte, about, &record.start, &record.end, true)) {
        return true;
    }
    if (!read_args(&event->args, &a)) {
        return false;
    }
    if (kind == COMM && !a.members.slice.text) {
        return true; /* a batch: its parts are told apart */
    }
    record.kind = kind == COPY ? OVL_READ_COPY : kind == SET ? OVL_READ_SET : OVL_READ_KERNEL;
    record.communication = kind == COMM;
    record.grid = a.grid.slice;
    record.block = a.block.slice;
    record.klass = a.klass.slice;
    record.hbm = integer_or(&a.hbm, 0);
    record.sms = integer_or(&a.sms, 0);
    if (!device_of(&a.device, &event->pid, &record.device)) {
        ovl_read_fault_at(&about->faults.no_device, byte);
        return true;
    }
    record.stream = key_of(a.stream.slice.text ? &a.stream : &event->tid);
    record.has_key = a.key.slice.text != NULL;
    record.key = key_of(&a.key);
    record.bytes = integer_or(&a.bytes, -1);
    ovl_read_collective collective = {
        .name = kind == COMM ? a.op.slice : a.collective.slice,
        .dtype = a.dtype.slice,
        .group = kind == COMM ? a.own_group.slice : a.group.slice,
        .ranks = a.ranks.slice,
        .in_elements = integer_or(&a.in_elements, -1),
        .out_elements = integer_or(&a.out_elements, -1),
        .group_size = integer_or(kind == COMM ? &a.members : &a.group_size, -1),
        .sequence = integer_or(&a.sequence, -1),
    };
    bool any = collective.name.text || collective.group.text || collective.in_elements >= 0;
    record.collective = any ? &collective : NULL;
    sink->device(sink->context, &record);
    return true;
}

static bool use_launch(const ovl_kineto_event *event, uint64_t byte, const ovl_sink *sink,
                       ovl_read_about *about)
{
    ovl_read_host record = {.call = OVL_READ_LAUNCH, .name = event->name.slice};
    args a;
    if (!sink->host || !times(event, byte, about, &record.start, &record.end, false)) {
        return true;
    }
    if (!read_args(&event->args, &a)) {
        return false;
    }
    record.has_key = a.key.slice.text != NULL;
    record.key = key_of(&a.key);
    record.thread = key_of(&event->tid);
    sink->host(sink->context, &record);
    return true;
}

static void use_range(const ovl_kineto_event *event, uint64_t byte, const ovl_sink *sink,
                      ovl_read_about *about)
{
    ovl_read_host record = {.call = OVL_READ_STEP, .name = event->name.slice};
    if (sink->host && ovl_slice_starts(event->name.slice, "ProfilerStep") &&
        times(event, byte, about, &record.start, &record.end, false)) {
        sink->host(sink->context, &record);
    }
}

static void use_note(const ovl_kineto_event *event, uint64_t byte, const ovl_sink *sink,
                     ovl_read_about *about)
{
    ovl_read_range record = {.name = event->name.slice};
    if (ovl_slice_starts(event->name.slice, "ProfilerStep")) {
        use_range(event, byte, sink, about);
    } else if (sink->range && times(event, byte, about, &record.start, &record.end, false)) {
        sink->range(sink->context, &record);
    }
}

/* A stream of -1 is also written without its sign, as 32 or 64 bits. */
static int64_t stream_or_none(const ovl_scan_value *value)
{
    int64_t stream = integer_or(value, -1);
    return stream == UINT32_MAX ? -1 : stream;
}

static bool use_sync(const ovl_kineto_event *event, const ovl_sink *sink)
{
    args a;
    if (!sink->wait) {
        return true;
    }
    if (!read_args(&event->args, &a)) {
        return false;
    }
    ovl_read_wait record = {
        .key = key_of(&a.key),
        .stream = stream_or_none(&a.stream),
        .on = stream_or_none(&a.wait_on),
        .record = key_of(&a.wait_record),
        .has_record = a.wait_record.slice.text != NULL,
    };
    if (a.key.slice.text) {
        sink->wait(sink->context, &record);
    }
    return true;
}

static bool use_memory(const ovl_kineto_event *event, const ovl_sink *sink)
{
    args a;
    if (!sink->memory) {
        return true;
    }
    if (!read_args(&event->args, &a)) {
        return false;
    }
    ovl_read_memory record = {
        .type = integer_or(&a.type, -1),
        .device = integer_or(&a.memory_device, -1),
        .change = integer_or(&a.change, 0),
        .allocated = integer_or(&a.allocated, -1),
        .reserved = integer_or(&a.reserved, -1),
    };
    sink->memory(sink->context, &record);
    return true;
}

bool ovl_kineto_use(const ovl_kineto_event *event, uint64_t byte, const ovl_sink *sink,
                    ovl_read_about *about)
{
    char ph = event->ph.slice.length == 1 ? *event->ph.slice.text : '\0';
    if (ph == 'i' && ovl_slice_is(event->name.slice, "[memory]")) {
        return use_memory(event, sink);
    }
    if (ph != 'X') {
        return true;
    }
    if (about->own && sink->exact) {
        return ovl_kineto_exact(event, sink);
    }
    category cat = event->cat.slice.text ? category_of(event->cat.slice) : OTHER;
    switch (cat) {
    case KERNEL:
    case COMM:
    case COPY:
    case SET:
        return use_device(event, cat, byte, sink, about);
    case RUNTIME:
        return use_launch(event, byte, sink, about);
    case RANGE:
        use_range(event, byte, sink, about);
        return true;
    case NOTE:
        use_note(event, byte, sink, about);
        return true;
    case SYNC:
        return use_sync(event, sink);
    case OTHER:
    case INSTANT:
        break;
    }
    return true;
}
