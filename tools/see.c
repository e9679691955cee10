#include "tools/see.h"

#include "sim/program.h"
#include "sim/units.h"
#include "tools/collect.h"
#include "tools/comm_names.h"
#include "tools/decimal.h"
#include "tools/json_scan.h"
#include "tools/lookout.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAMES   100000 /* distinct ones that are kept */
#define NAME_BYTES   1024   /* of a name that are kept */
#define MOST_STREAMS 60000
#define HELD_BYTES   200 /* of an operation or call while a file is read and put in order */

/* What is linked by key once everything was read. */
typedef struct keyed {
    uint64_t key, process;
    uint32_t index;
} keyed;

typedef struct wait {
    uint64_t process, key, record;
    int64_t stream, on;
    bool has_record;
} wait;

/* A process that has work on a device. */
typedef struct user {
    uint64_t process;
    int64_t device;
} user;

typedef struct seer {
    ovl_seen *seen;
    ovl_arena *arena;
    ovl_read_about about;
    OVL_VEC(ovl_seen_op) ops;
    OVL_VEC(keyed) op_keys; /* of ops, in their order; key of no launch: index OVL_NONE */
    OVL_VEC(ovl_seen_call) calls;
    OVL_VEC(keyed) call_keys;
    OVL_VEC(wait) waits;
    OVL_VEC(ovl_seen_range) ranges;
    OVL_VEC(ovl_seen_stream) streams;
    OVL_VEC(ovl_seen_collective) collectives;
    OVL_VEC(ovl_id) op_of;
    OVL_VEC(ovl_exact_op) exact;
    OVL_VEC(uint32_t) exact_after;
    OVL_VEC(user) users;
    uint64_t limit; /* bytes that may be taken; 0: not known */
    bool full;      /* they were: nothing more is kept */
} seer;

/* ---- names ---- */

static ovl_id name_id(seer *s, ovl_slice text)
{
    char buffer[NAME_BYTES];
    ovl_names *names = &s->seen->names;
    const char *name = ovl_scan_name(text, buffer, sizeof buffer);
    ovl_id id = ovl_names_find(names, name);
    if (id == OVL_NONE) {
        id = ovl_names_add(names, names->count < MOST_NAMES ? name : "(other)");
    }
    return id;
}

static ovl_id text_id(seer *s, const char *text)
{
    return name_id(s, (ovl_slice){text, strlen(text)});
}

/* The name of a kernel, and which collective it would be. */
static ovl_id kernel_id(seer *s, ovl_slice text)
{
    ovl_id id = name_id(s, text);
    while (s->op_of.len <= id) {
        ovl_vec_push(&s->op_of, OVL_NONE);
    }
    if (s->op_of.data[id] == OVL_NONE) {
        ovl_id op = text_id(s, ovl_comm_op_name(text));
        s->op_of.data[id] = op;
    }
    return id;
}

/* ---- how much is held ---- */

static uint64_t held(const seer *s)
{
    return (uint64_t)HELD_BYTES * ((uint64_t)s->ops.len + s->calls.len + s->exact.len);
}

/* Whether one more can be kept. */
static bool has_room(seer *s)
{
    s->full |= s->limit && held(s) + HELD_BYTES > s->limit;
    return !s->full;
}

/* ---- records ---- */

static uint32_t stream_index(seer *s, int64_t device, uint64_t id)
{
    for (uint32_t i = s->streams.len; i > 0; i--) {
        const ovl_seen_stream *stream = &s->streams.data[i - 1];
        if (stream->device == device && stream->id == id) {
            return i - 1;
        }
    }
    if (s->streams.len == MOST_STREAMS) {
        return s->streams.len - 1;
    }
    ovl_vec_push(&s->streams, (ovl_seen_stream){device, id});
    return s->streams.len - 1;
}

static ovl_id optional_id(seer *s, ovl_slice text)
{
    return text.length ? name_id(s, text) : OVL_NONE;
}

/* Groups of one name with other ranks are other groups. */
static ovl_id group_id(seer *s, const ovl_read_collective *args)
{
    char text[512];
    int name = (int)OVL_MIN(args->group.length, 200), ranks = (int)OVL_MIN(args->ranks.length, 200);
    if (!name && !ranks) {
        return OVL_NONE;
    }
    snprintf(text, sizeof text, "%.*s%s%.*s", name, name ? args->group.text : "",
             name && ranks ? " " : "", ranks, ranks ? args->ranks.text : "");
    return text_id(s, text);
}

static uint32_t add_collective(seer *s, const ovl_read_device *record)
{
    const ovl_read_collective *args = record->collective;
    if (!args) {
        return OVL_NONE;
    }
    const char *op = ovl_comm_op_name(args->name.length ? args->name : record->name);
    ovl_seen_collective c = {
        .op = text_id(s, op),
        .group = group_id(s, args),
        .dtype = optional_id(s, args->dtype),
        .bytes = ovl_comm_bytes(op, args),
        .group_size = args->group_size,
    };
    c.bytes = c.bytes < 0 ? record->bytes : c.bytes;
    ovl_vec_push(&s->collectives, c);
    return s->collectives.len - 1;
}

#define MOST_USERS 4096

static void add_user(seer *s, uint64_t process, int64_t device)
{
    for (uint32_t i = s->users.len; i > 0; i--) {
        if (s->users.data[i - 1].process == process && s->users.data[i - 1].device == device) {
            return;
        }
    }
    if (s->users.len < MOST_USERS) {
        ovl_vec_push(&s->users, (user){process, device});
    }
}

static void on_device(void *context, const ovl_read_device *record)
{
    seer *s = context;
    if (!has_room(s)) {
        return;
    }
    add_user(s, record->process, record->device);
    ovl_seen_op op = {
        .start = record->start,
        .end = record->end,
        .name = kernel_id(s, record->name),
        .stream = stream_index(s, record->device, record->stream),
        .call = OVL_NONE,
        .collective = add_collective(s, record),
        .bytes = record->bytes,
        .kind = (uint8_t)(record->kind == OVL_READ_KERNEL ? OVL_SEEN_KERNEL
                          : record->kind == OVL_READ_COPY ? OVL_SEEN_COPY
                                                          : OVL_SEEN_SET),
    };
    keyed key = {record->key, record->process, record->has_key ? s->ops.len : OVL_NONE};
    ovl_vec_push(&s->ops, op);
    ovl_vec_push(&s->op_keys, key);
}

static void add_range(seer *s, const ovl_read_range *record, int64_t number)
{
    ovl_seen_range range = {.start = record->start,
                            .end = record->end,
                            .number = number,
                            .name = name_id(s, record->name),
                            .process = record->process};
    ovl_vec_push(&s->ranges, range);
}

static void add_step(seer *s, const ovl_read_host *record)
{
    ovl_slice digits = record->name;
    int64_t number;
    while (digits.length && !isdigit((unsigned char)*digits.text)) {
        digits = (ovl_slice){digits.text + 1, digits.length - 1};
    }
    bool has = ovl_decimal(digits.text, digits.length, 0, &number) && number >= 0;
    ovl_read_range range = {record->start, record->end, record->process, record->name};
    add_range(s, &range, has ? number : -1);
}

static void on_host(void *context, const ovl_read_host *record)
{
    seer *s = context;
    if (record->call == OVL_READ_STEP) {
        add_step(s, record);
        return;
    }
    ovl_seen_call call = {record->start,  record->end, record->process,
                          record->thread, OVL_NONE,    (uint8_t)ovl_see_call(record->name)};
    if ((call.kind == OVL_CALL_LAUNCH && !record->has_key) || !has_room(s)) {
        return;
    }
    keyed key = {record->key, record->process, record->has_key ? s->calls.len : OVL_NONE};
    ovl_vec_push(&s->calls, call);
    ovl_vec_push(&s->call_keys, key);
}

static void on_wait(void *context, const ovl_read_wait *record)
{
    seer *s = context;
    wait w = {record->process, record->key, record->record,
              record->stream,  record->on,  record->has_record};
    ovl_vec_push(&s->waits, w);
}

static void on_range(void *context, const ovl_read_range *record)
{
    add_range(context, record, -1);
}

/* ---- traces of our own ---- */

static uint32_t small(int64_t number)
{
    return number >= 0 && number < OVL_NONE ? (uint32_t)number : OVL_NONE;
}

static uint8_t kind_number(const ovl_read_exact *r)
{
    ovl_slice name = r->kind.length ? r->kind : r->category;
    for (int kind = OVL_KERNEL; kind <= OVL_MARKER; kind++) {
        if (ovl_slice_is(name, ovl_op_kind_name((ovl_op_kind)kind))) {
            return (uint8_t)kind;
        }
    }
    return OVL_MARKER;
}

static uint8_t coll_number(ovl_slice op)
{
    for (int coll = 0; coll < OVL_COLL_COUNT; coll++) {
        if (ovl_slice_is(op, ovl_coll_name((ovl_coll)coll))) {
            return (uint8_t)coll;
        }
    }
    return OVL_SEND_RECV;
}

static void add_exact_after(seer *s, ovl_slice list)
{
    ovl_cursor c = {list.text + 1, list.text + list.length, false};
    ovl_scan_value value;
    int64_t id;
    while (list.length > 1 && ovl_scan_value_next(&c, &value) == OVL_SCAN_DONE) {
        if (ovl_scan_integer(&value, 0, &id)) {
            ovl_vec_push(&s->exact_after, small(id));
        }
    }
}

/* Times that make no sense are clamped: nothing ends before it starts. */
static void on_exact(void *context, const ovl_read_exact *r)
{
    seer *s = context;
    const int64_t most = OVL_TIME_MAX / 4;
    if (!has_room(s)) {
        return;
    }
    ovl_exact_op op = {
        .rank = small(r->rank),
        .id = small(r->id),
        .kind = kind_number(r),
        .coll = coll_number(r->op),
        .engine = ovl_slice_is(r->direction, "h2d"),
        .eager = r->eager,
        .name = name_id(s, r->name),
        .stream = optional_id(s, r->stream),
        .group = optional_id(s, r->group),
        .klass = optional_id(s, r->klass),
        .start = OVL_MIN(OVL_MAX(r->start, 0), most),
        .wait = OVL_MIN(OVL_MAX(r->wait, 0), most),
        .launch = OVL_MIN(OVL_MAX(r->launch, 0), most),
        .latency = OVL_MIN(OVL_MAX(r->latency, 0), most),
        .wire = OVL_MIN(OVL_MAX(r->wire, 0), most),
        .bytes = r->bytes,
        .comm = small(r->comm),
        .place = small(r->place),
        .peer = small(r->peer),
        .batch = small(r->batch),
        .members = small(r->members),
        .first_after = s->exact_after.len,
    };
    op.end = OVL_MIN(OVL_MAX(r->end, op.start), most);
    add_exact_after(s, r->after);
    op.n_after = s->exact_after.len - op.first_after;
    ovl_vec_push(&s->exact, op);
}

static void hand_over_exact(seer *s)
{
    if (!s->about.own) {
        ovl_vec_free(&s->exact);
        ovl_vec_free(&s->exact_after);
        return;
    }
    ovl_exact *exact = OVL_NEW(s->arena, ovl_exact);
    exact->ranks = s->about.ranks;
    exact->copy_engines[0] = s->about.copy_engines[0];
    exact->copy_engines[1] = s->about.copy_engines[1];
    exact->hw_queues = s->about.hw_queues;
    exact->n_ops = s->exact.len;
    exact->ops = ovl_vec_freeze(&s->exact, s->arena);
    exact->n_after = s->exact_after.len;
    exact->after = ovl_vec_freeze(&s->exact_after, s->arena);
    s->seen->exact = exact;
}

/* ---- what belongs together ---- */

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    if (x->process != y->process) {
        return x->process < y->process ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

/* The index of the first call with this key, or OVL_NONE. `keys` are ordered. */
static uint32_t find_key(const keyed *keys, uint32_t n, uint64_t key, uint64_t process)
{
    uint32_t low = 0, high = n;
    keyed wanted = {key, process, 0};
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_key(&keys[middle], &wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && keys[low].key == key && keys[low].process == process ? keys[low].index
                                                                           : OVL_NONE;
}

/* Calls in order of their start; *place[i] is where call i went. */
typedef struct placed {
    ovl_seen_call call;
    uint32_t from;
} placed;

static int calls_by_start(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->call.start != y->call.start) {
        return x->call.start < y->call.start ? -1 : 1;
    }
    return (x->from > y->from) - (x->from < y->from);
}

static void sort_calls(seer *s)
{
    uint32_t n = s->calls.len, kept = 0;
    placed *list = malloc(((size_t)n + 1) * sizeof *list);
    uint32_t *place = malloc(((size_t)n + 1) * sizeof *place);
    if (!list || !place) {
        ovl_out_of_memory((size_t)n * sizeof *list);
    }
    for (uint32_t i = 0; i < n; i++) {
        list[i] = (placed){s->calls.data[i], i};
    }
    qsort(list, n, sizeof *list, calls_by_start);
    for (uint32_t i = 0; i < n; i++) {
        place[list[i].from] = i;
        s->calls.data[i] = list[i].call;
    }
    for (uint32_t i = 0; i < n; i++) {
        keyed key = s->call_keys.data[i];
        if (key.index != OVL_NONE) {
            key.index = place[key.index];
            s->call_keys.data[kept++] = key;
        }
    }
    s->call_keys.len = kept;
    if (kept) {
        qsort(s->call_keys.data, kept, sizeof *s->call_keys.data, by_key);
    }
    free(list);
    free(place);
}

static uint32_t call_of_key(const seer *s, uint64_t key, uint64_t process)
{
    return find_key(s->call_keys.data, s->call_keys.len, key, process);
}

static void link_ops(seer *s)
{
    for (uint32_t i = 0; i < s->op_keys.len; i++) {
        const keyed *key = &s->op_keys.data[i];
        if (key->index != OVL_NONE) {
            s->ops.data[i].call = call_of_key(s, key->key, key->process);
        }
    }
}

/* Two processes of one file may have streams of one number, each on its device. */
static bool works_on(const seer *s, uint64_t process, int64_t device)
{
    for (uint32_t i = 0; i < s->users.len; i++) {
        if (s->users.data[i].process == process && s->users.data[i].device == device) {
            return true;
        }
    }
    return false;
}

static uint32_t stream_of(const seer *s, int64_t id, uint64_t process)
{
    for (uint32_t i = 0; i < s->streams.len && id >= 0; i++) {
        if (s->streams.data[i].id == (uint64_t)id &&
            works_on(s, process, s->streams.data[i].device)) {
            return i;
        }
    }
    return OVL_NONE;
}

static ovl_seen_wait *link_waits(seer *s)
{
    ovl_seen_wait *waits = OVL_NEW_ARRAY(s->arena, ovl_seen_wait, s->waits.len);
    for (uint32_t i = 0; i < s->waits.len; i++) {
        const wait *w = &s->waits.data[i];
        uint32_t call = call_of_key(s, w->key, w->process);
        waits[i].stream = stream_of(s, w->stream, w->process);
        waits[i].on = stream_of(s, w->on, w->process);
        waits[i].record = w->has_record ? call_of_key(s, w->record, w->process) : OVL_NONE;
        if (call != OVL_NONE) {
            s->calls.data[call].wait = i;
        }
    }
    s->seen->waits = waits;
    s->seen->n_waits = s->waits.len;
    return waits;
}

/* Launches of nothing that is in the file are host work like any other. */
static void drop_calls(seer *s, ovl_seen_wait *waits)
{
    bool *used = OVL_NEW_ARRAY(s->arena, bool, s->calls.len);
    uint32_t *place = OVL_NEW_ARRAY(s->arena, uint32_t, s->calls.len), kept = 0;
    for (uint32_t i = 0; i < s->ops.len; i++) {
        if (s->ops.data[i].call != OVL_NONE) {
            used[s->ops.data[i].call] = true;
        }
    }
    for (uint32_t i = 0; i < s->calls.len; i++) {
        place[i] = kept;
        if (used[i] || s->calls.data[i].kind != OVL_CALL_LAUNCH) {
            s->calls.data[kept++] = s->calls.data[i];
        }
    }
    s->calls.len = kept;
    for (uint32_t i = 0; i < s->ops.len; i++) {
        uint32_t *call = &s->ops.data[i].call;
        *call = *call == OVL_NONE ? OVL_NONE : place[*call];
    }
    for (uint32_t i = 0; i < s->waits.len; i++) {
        uint32_t *record = &waits[i].record;
        *record = *record == OVL_NONE ? OVL_NONE : place[*record];
    }
}

/* Exact copies of one operation (the same launch, time and name) are one. */
static int ops_by_start(const void *a, const void *b)
{
    const ovl_seen_op *x = a, *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    if (x->end != y->end) {
        return x->end < y->end ? -1 : 1;
    }
    if (x->stream != y->stream) {
        return x->stream < y->stream ? -1 : 1;
    }
    if (x->call != y->call) {
        return x->call < y->call ? -1 : 1;
    }
    return (x->name > y->name) - (x->name < y->name);
}

static void sort_ops(seer *s)
{
    uint32_t kept = 0;
    if (s->ops.len == 0) {
        return;
    }
    qsort(s->ops.data, s->ops.len, sizeof *s->ops.data, ops_by_start);
    for (uint32_t i = 0; i < s->ops.len; i++) {
        const ovl_seen_op *op = &s->ops.data[i];
        bool copy = kept && op->call != OVL_NONE && ops_by_start(op, &s->ops.data[kept - 1]) == 0;
        if (!copy) {
            s->ops.data[kept++] = *op;
        }
    }
    s->ops.len = kept;
}

static int ranges_by_start(const void *a, const void *b)
{
    const ovl_seen_range *x = a, *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return (x->end < y->end) - (x->end > y->end); /* the outer one first */
}

/* Where the arguments do not tell the size of a group the list of groups may. Names stand before
 * the ranks (group_id). */
static void fill_sizes(seer *s)
{
    for (uint32_t i = 0; i < s->collectives.len; i++) {
        ovl_seen_collective *c = &s->collectives.data[i];
        if (c->group_size < 0 && c->group != OVL_NONE) {
            const char *name = ovl_names_text(&s->seen->names, c->group);
            const char *ranks = strstr(name, " [");
            size_t length = ranks ? (size_t)(ranks - name) : strlen(name);
            c->group_size = ovl_read_group_size(&s->about, name, length);
        }
    }
}

static bool is_damaged(const ovl_read_faults *f)
{
    return f->cut || f->damaged || f->broken.count || f->too_long.count || f->no_device.count;
}

static void hand_over(seer *s)
{
    ovl_seen *seen = s->seen;
    while (s->op_of.len < seen->names.count) {
        ovl_vec_push(&s->op_of, OVL_NONE);
    }
    if (s->ranges.len) {
        qsort(s->ranges.data, s->ranges.len, sizeof *s->ranges.data, ranges_by_start);
    }
    seen->base = s->about.base;
    seen->rank = s->about.rank >= 0 ? s->about.rank : ovl_rank_of_path(seen->file);
    seen->world = s->about.world;
    seen->damaged = is_damaged(&s->about.faults);
    seen->n_ops = s->ops.len;
    seen->ops = ovl_vec_freeze(&s->ops, s->arena);
    seen->n_calls = s->calls.len;
    seen->calls = ovl_vec_freeze(&s->calls, s->arena);
    seen->n_ranges = s->ranges.len;
    seen->ranges = ovl_vec_freeze(&s->ranges, s->arena);
    seen->n_streams = s->streams.len;
    seen->streams = ovl_vec_freeze(&s->streams, s->arena);
    seen->n_collectives = s->collectives.len;
    seen->collectives = ovl_vec_freeze(&s->collectives, s->arena);
    seen->op_of = ovl_vec_freeze(&s->op_of, s->arena);
    ovl_vec_free(&s->op_keys);
    ovl_vec_free(&s->call_keys);
    ovl_vec_free(&s->waits);
    ovl_vec_free(&s->users);
}

static void finish(seer *s)
{
    sort_calls(s);
    link_ops(s);
    drop_calls(s, link_waits(s));
    sort_ops(s);
    fill_sizes(s);
    hand_over(s);
    hand_over_exact(s);
}

/* Tables and memory timelines have nothing to replay. */
static bool is_trace(const seer *s, ovl_errs *errs)
{
    ovl_read_format format = s->about.format;
    if (format == OVL_READ_KINETO || format == OVL_READ_NSYS || format == OVL_READ_INTERVALS) {
        return true;
    }
    ovl_error(errs, OVL_E_INPUT, (ovl_mark){s->seen->file, 0, 0},
              "is a %s, which has no operations to replay", ovl_read_format_name(format));
    return false;
}

/* What was kept is not the whole, so it is not replayed. From a quarter of the memory on it is said
 * how much is taken. */
static bool fits(const seer *s, ovl_errs *errs)
{
    char bytes[OVL_UNITS_TEXT], limit[OVL_UNITS_TEXT];
    const ovl_mark mark = {s->seen->file, 0, 0};
    uint64_t n = held(s) / HELD_BYTES;
    ovl_print_bytes(bytes, held(s));
    ovl_print_bytes(limit, s->limit);
    if (s->full) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "cannot be replayed: %" PRIu64 " of its operations and calls take %s while a "
                  "step is chosen, and there are more; %s may be taken (OVL_MEMORY). Cut the trace "
                  "to the step",
                  n, bytes, limit);
    } else if (s->limit && held(s) > s->limit / 4) {
        ovl_warning(errs, mark,
                    "%" PRIu64 " operations and calls are held while a step is chosen: %s of the "
                    "%s that may be taken",
                    n, bytes, limit);
    }
    return !s->full;
}

static seer begin(const char *path, ovl_arena *arena, ovl_seen *seen)
{
    *seen = (ovl_seen){.file = ovl_arena_strdup(arena, path), .names = {.arena = arena}};
    return (seer){
        .seen = seen, .arena = arena, .about = {.arena = arena}, .limit = ovl_lookout_memory()};
}

#define SINK(s)                                                                                    \
    {                                                                                              \
        .context = (s), .device = on_device, .host = on_host, .wait = on_wait, .range = on_range,  \
        .exact = on_exact                                                                          \
    }

bool ovl_see_file(const char *path, ovl_arena *arena, ovl_seen *seen, ovl_errs *errs)
{
    seer s = begin(path, arena, seen);
    const ovl_sink sink = SINK(&s);
    bool good =
        ovl_read_file(seen->file, &sink, &s.about, errs) && is_trace(&s, errs) && fits(&s, errs);
    finish(&s);
    return good;
}

bool ovl_see_bytes(const char *path, const void *bytes, size_t count, ovl_arena *arena,
                   ovl_seen *seen, ovl_errs *errs)
{
    seer s = begin(path, arena, seen);
    const ovl_sink sink = SINK(&s);
    bool good = ovl_read_in_memory(seen->file, bytes, count, &sink, &s.about, errs) &&
                is_trace(&s, errs) && fits(&s, errs);
    finish(&s);
    return good;
}
