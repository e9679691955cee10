/*
 * Nsight Systems exports (SQLite). Tables and columns are looked up by name, because both change
 * between schema versions; what is not there is NULL. Times are ns since the start of the
 * recording.
 *
 * The file is opened read-only and never written: names go into a temporary table with a key, since
 * exports have no index. What links a launch with its kernel is (process, correlationId); the
 * process is in the upper bits of globalPid and globalTid.
 */
#include "tools/comm_names.h"
#include "tools/nsys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESS_SHIFT 24 /* globalTid: the lower bits are the thread */

static void failed(ovl_nsys *r)
{
    if (!r->why) {
        r->why = ovl_arena_strdup(r->about->arena, sqlite3_errmsg(r->db));
    }
}

/* A path as SQLite wants it in a URI. `immutable`: no locks, no journal beside the file. */
static const char *uri_of(const char *path, ovl_arena *arena)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t n = 0;
    char *text = ovl_arena_alloc(arena, strlen(path) * 3 + 1, 1);
    for (const char *p = path; *p; p++) {
        if (strchr("%?#", *p)) {
            text[n++] = '%';
            text[n++] = hex[(unsigned char)*p >> 4];
            text[n++] = hex[*p & 15];
        } else {
            text[n++] = *p;
        }
    }
    return ovl_arena_printf(arena, "file:%s?immutable=1", text);
}

sqlite3_stmt *ovl_nsys_prepare(ovl_nsys *r, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) != SQLITE_OK) {
        failed(r);
        return NULL;
    }
    return statement;
}

bool ovl_nsys_step(ovl_nsys *r, sqlite3_stmt *statement)
{
    int code = statement ? sqlite3_step(statement) : SQLITE_DONE;
    if (code == SQLITE_ROW) {
        return true;
    }
    if (code != SQLITE_DONE) {
        failed(r);
    }
    sqlite3_finalize(statement);
    return false;
}

static const char *column_text(ovl_nsys *r, sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return ovl_arena_strdup(&r->arena, text ? (const char *)text : "");
}

const char *ovl_nsys_table(ovl_nsys *r, const char *name)
{
    const char *sql = ovl_arena_printf(&r->arena,
                                       "SELECT name FROM sqlite_master WHERE type IN ('table', "
                                       "'view') AND (name = '%s' OR name GLOB '%s_V[0-9]*') "
                                       "ORDER BY name",
                                       name, name);
    const char *found = NULL;
    for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); ovl_nsys_step(r, s);) {
        found = column_text(r, s, 0);
    }
    return found;
}

bool ovl_nsys_has(ovl_nsys *r, const char *table, const char *name)
{
    bool found = false;
    const char *sql = ovl_arena_printf(&r->arena, "PRAGMA table_info(\"%s\")", table);
    for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); ovl_nsys_step(r, s);) {
        const unsigned char *column = sqlite3_column_text(s, 1);
        found |= column && sqlite3_stricmp((const char *)column, name) == 0;
    }
    return found;
}

const char *ovl_nsys_column(ovl_nsys *r, const char *table, const char *name)
{
    return ovl_nsys_has(r, table, name) ? ovl_arena_printf(&r->arena, "t.\"%s\"", name) : "NULL";
}

const char *ovl_nsys_name(ovl_nsys *r, const char *table, const char *const *columns)
{
    const char *value = "NULL";
    for (size_t i = 0; columns[i]; i++) {
        if (ovl_nsys_has(r, table, columns[i])) {
            value = ovl_arena_printf(
                &r->arena,
                r->names ? "coalesce(%s, (SELECT value FROM temp.ovl_names WHERE id = "
                           "t.\"%s\"), t.\"%s\")"
                         : "coalesce(%s, t.\"%s\", t.\"%s\")",
                value, columns[i], columns[i]);
        }
    }
    return value;
}

static void copy_names(ovl_nsys *r)
{
    const char *table = ovl_nsys_table(r, "StringIds");
    if (!table || !ovl_nsys_has(r, table, "id") || !ovl_nsys_has(r, table, "value")) {
        return;
    }
    const char *sql = ovl_arena_printf(&r->arena,
                                       "CREATE TEMP TABLE ovl_names(id INTEGER PRIMARY KEY, value "
                                       "TEXT); INSERT OR IGNORE INTO temp.ovl_names SELECT id, "
                                       "value FROM main.\"%s\"",
                                       table);
    if (sqlite3_exec(r->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        failed(r);
    }
    r->names = true;
}

/* ---- names by number: kernels and calls repeat few ---- */

/* The first of the columns that is there, as it is: a number, or the text itself. */
static const char *raw_name(ovl_nsys *r, const char *table, const char *const *columns)
{
    const char *list = "NULL";
    for (size_t i = 0; columns[i]; i++) {
        if (ovl_nsys_has(r, table, columns[i])) {
            list = ovl_arena_printf(&r->arena, "%s, t.\"%s\"", list, columns[i]);
        }
    }
    return ovl_arena_printf(&r->arena, "coalesce(%s, NULL)", list);
}

static void remember(ovl_nsys_text *to, int64_t id, ovl_slice text)
{
    char *copy = malloc(text.length + 1);
    if (!copy) {
        ovl_out_of_memory(text.length + 1);
    }
    memcpy(copy, text.text, text.length);
    free(to->text);
    to->id = id;
    to->text = copy;
    to->length = text.length;
}

/* False: StringIds has no such number. */
static bool look_up(ovl_nsys *r, int64_t id, ovl_nsys_text *to)
{
    if (!r->lookup) {
        r->lookup = ovl_nsys_prepare(r, "SELECT value FROM temp.ovl_names WHERE id = ?1");
    }
    sqlite3_bind_int64(r->lookup, 1, id);
    bool found = r->lookup && sqlite3_step(r->lookup) == SQLITE_ROW &&
                 sqlite3_column_type(r->lookup, 0) != SQLITE_NULL;
    if (found) {
        remember(to, id, ovl_nsys_slice(r->lookup, 0));
    }
    sqlite3_reset(r->lookup);
    return found;
}

/* What a column made by raw_name stands for; good until the next one. */
static ovl_slice name_in(ovl_nsys *r, sqlite3_stmt *s, int column)
{
    if (!r->names || sqlite3_column_type(s, column) != SQLITE_INTEGER) {
        return ovl_nsys_slice(s, column);
    }
    int64_t id = sqlite3_column_int64(s, column);
    ovl_nsys_text *known = &r->cached[(uint64_t)id % OVL_NSYS_CACHED];
    bool found = (known->text && known->id == id) || look_up(r, id, known);
    return found ? (ovl_slice){known->text, known->length} : ovl_nsys_slice(s, column);
}

ovl_slice ovl_nsys_slice(sqlite3_stmt *s, int column)
{
    const unsigned char *text = sqlite3_column_text(s, column);
    return (ovl_slice){text ? (const char *)text : "",
                       text ? (size_t)sqlite3_column_bytes(s, column) : 0};
}

static uint64_t process_of(sqlite3_stmt *s, int column)
{
    return (uint64_t)sqlite3_column_int64(s, column) >> PROCESS_SHIFT;
}

/* Columns 0 and 1. What is beyond the range is no time. */
static bool times(sqlite3_stmt *s, ovl_read_about *about, int64_t *start, int64_t *end)
{
    const int64_t most = ((int64_t)1 << 62) - 1;
    *start = sqlite3_column_int64(s, 0);
    *end = sqlite3_column_type(s, 1) == SQLITE_NULL ? *start : sqlite3_column_int64(s, 1);
    if (sqlite3_column_type(s, 0) == SQLITE_NULL || *start < -most || *start > most ||
        *end > most) {
        ovl_read_fault_at(&about->faults.no_time, about->n_records);
        return false;
    }
    if (*end < *start) {
        ovl_read_fault_at(&about->faults.negative, about->n_records);
        *end = *start;
    }
    return true;
}

/* "[8, 1, 1]", as other profilers write it; NULL where the columns are not there. */
static const char *shape_of(ovl_nsys *r, const char *table, const char *x, const char *y,
                            const char *z)
{
    if (!ovl_nsys_has(r, table, x) || !ovl_nsys_has(r, table, y) || !ovl_nsys_has(r, table, z)) {
        return "NULL";
    }
    return ovl_arena_printf(
        &r->arena, "'[' || t.\"%s\" || ', ' || t.\"%s\" || ', ' || t.\"%s\" || ']'", x, y, z);
}

/* A kernel with what NCCL said of the call that launched it. */
static const char *with_nccl(ovl_nsys *r, const char *t)
{
    if (!r->nccl || !ovl_nsys_has(r, t, "correlationId")) {
        return "";
    }
    return ovl_arena_printf(&r->arena,
                            " LEFT JOIN temp.ovl_nccl n ON n.process = %s AND n.correlation = "
                            "t.correlationId",
                            ovl_nsys_has(r, t, "globalPid") ? "t.globalPid >> 24" : "0");
}

/* What NCCL said, from column `first` on: name, bytes, communicator, ranks. False: nothing. */
static bool nccl_call(sqlite3_stmt *s, int first, ovl_read_collective *call, int64_t *bytes)
{
    bool sized = sqlite3_column_type(s, first + 1) != SQLITE_NULL;
    bool ranks = sqlite3_column_type(s, first + 3) != SQLITE_NULL;
    *call = (ovl_read_collective){
        .name = ovl_nsys_slice(s, first),
        .group = ovl_nsys_slice(s, first + 2),
        .in_elements = -1,
        .out_elements = -1,
        .group_size = ranks ? sqlite3_column_int64(s, first + 3) : -1,
        .sequence = -1,
    };
    *bytes = sized ? sqlite3_column_int64(s, first + 1) : -1;
    bool said = call->name.length > 0;
    if (strcmp(ovl_comm_op_name(call->name), "other") == 0) { /* the end of a group of calls */
        call->name = (ovl_slice){"", 0};
    }
    return said;
}

/* Copies and sets as the PyTorch profiler calls them, numbered by CUpti_ActivityMemcpyKind. */
static const char *kind_name(ovl_nsys *r, const char *t, ovl_read_kind kind)
{
    static const char *const kinds[] = {"HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                        "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
    const char *list = "";
    if (kind == OVL_READ_SET || !ovl_nsys_has(r, t, "copyKind")) {
        return kind == OVL_READ_SET ? "'Memset'" : "'Memcpy'";
    }
    for (size_t i = 0; i < OVL_COUNT(kinds); i++) {
        list = ovl_arena_printf(&r->arena, "%s WHEN %zu THEN 'Memcpy %s'", list, i + 1, kinds[i]);
    }
    return ovl_arena_printf(&r->arena, "CASE t.\"copyKind\"%s ELSE 'Memcpy' END", list);
}

static const char *device_sql(ovl_nsys *r, const char *t, ovl_read_kind kind)
{
    static const char *const names[] = {"demangledName", "shortName", "mangledName", NULL};
    const char *nccl = kind == OVL_READ_KERNEL ? with_nccl(r, t) : "";
    return ovl_arena_printf(
        &r->arena, "SELECT %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s FROM main.\"%s\" t%s",
        ovl_nsys_column(r, t, "start"), ovl_nsys_column(r, t, "end"),
        ovl_nsys_column(r, t, "deviceId"), ovl_nsys_column(r, t, "streamId"),
        ovl_nsys_column(r, t, "correlationId"), ovl_nsys_column(r, t, "globalPid"),
        ovl_nsys_column(r, t, "bytes"),
        kind == OVL_READ_KERNEL ? raw_name(r, t, names) : kind_name(r, t, kind),
        r->sink->shapes ? shape_of(r, t, "gridX", "gridY", "gridZ") : "NULL",
        r->sink->shapes ? shape_of(r, t, "blockX", "blockY", "blockZ") : "NULL",
        *nccl ? "n.name, n.bytes, 'comm ' || printf('%x', n.comm), n.ranks"
              : "NULL, NULL, NULL, NULL",
        t, nccl);
}

static void read_device(ovl_nsys *r, const char *name, ovl_read_kind kind)
{
    const char *t = ovl_nsys_table(r, name);
    if (!t || !r->sink->device) {
        return;
    }
    for (sqlite3_stmt *s = ovl_nsys_prepare(r, device_sql(r, t, kind)); ovl_nsys_step(r, s);) {
        ovl_read_collective call;
        int64_t bytes;
        ovl_read_device record = {
            .kind = kind,
            .device = sqlite3_column_int64(s, 2),
            .stream = (uint64_t)sqlite3_column_int64(s, 3),
            .key = (uint64_t)sqlite3_column_int64(s, 4),
            .has_key = sqlite3_column_type(s, 4) != SQLITE_NULL && !r->mixed,
            .process = r->processes ? process_of(s, 5) : 0,
            .bytes = sqlite3_column_type(s, 6) == SQLITE_NULL ? -1 : sqlite3_column_int64(s, 6),
            .name = name_in(r, s, 7),
            .grid = ovl_nsys_slice(s, 8),
            .block = ovl_nsys_slice(s, 9),
        };
        if (nccl_call(s, 10, &call, &bytes)) {
            record.communication = true;
            record.bytes = bytes;
            record.collective = &call;
        }
        if (times(s, r->about, &record.start, &record.end)) {
            if (sqlite3_column_type(s, 1) == SQLITE_NULL) {
                ovl_read_fault_at(&r->about->faults.no_end, r->about->n_records);
            }
            r->sink->device(r->sink->context, &record);
        }
        r->about->n_records++;
    }
}

/* `processes`: device tables say which process a row is of; else all rows are of one. */
static void read_calls(ovl_nsys *r, bool processes)
{
    static const char *const names[] = {"nameId", NULL};
    const char *t = ovl_nsys_table(r, "CUPTI_ACTIVITY_KIND_RUNTIME");
    if (!t || !r->sink->host) {
        return;
    }
    const char *sql =
        ovl_arena_printf(&r->arena, "SELECT %s, %s, %s, %s, %s, %s FROM main.\"%s\" t",
                         ovl_nsys_column(r, t, "start"), ovl_nsys_column(r, t, "end"),
                         ovl_nsys_column(r, t, "correlationId"),
                         processes ? ovl_nsys_column(r, t, "globalTid") : "NULL",
                         raw_name(r, t, names), ovl_nsys_column(r, t, "globalTid"), t);
    for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); ovl_nsys_step(r, s);) {
        ovl_read_host record = {
            .call = OVL_READ_LAUNCH,
            .key = (uint64_t)sqlite3_column_int64(s, 2),
            .has_key = sqlite3_column_type(s, 2) != SQLITE_NULL,
            .process = process_of(s, 3),
            .name = name_in(r, s, 4),
            .thread = (uint64_t)sqlite3_column_int64(s, 5),
        };
        if (times(s, r->about, &record.start, &record.end)) {
            r->sink->host(r->sink->context, &record);
        }
        r->about->n_records++;
    }
}

#define SYNC_EVENT  1
#define SYNC_WAIT   2
#define SYNC_STREAM 3

static bool by_process(ovl_nsys *r, const char *waits, const char *events, bool processes)
{
    return processes && ovl_nsys_has(r, waits, "globalPid") && ovl_nsys_has(r, events, "globalPid");
}

/* Where events were recorded: on which stream, by which call. Exports have no index, so they go
 * into a table with a key. */
static void keep_events(ovl_nsys *r, const char *t, bool processes)
{
    const char *e = ovl_nsys_table(r, "CUPTI_ACTIVITY_KIND_CUDA_EVENT");
    if (!e || !ovl_nsys_has(r, e, "eventSyncId") || !ovl_nsys_has(r, t, "eventSyncId") ||
        !ovl_nsys_has(r, e, "eventId") || !ovl_nsys_has(r, t, "eventId")) {
        return;
    }
    const char *sql = ovl_arena_printf(
        &r->arena,
        "CREATE TEMP TABLE ovl_events(process INTEGER, sync INTEGER, event INTEGER, stream, "
        "correlation, PRIMARY KEY(process, sync, event)) WITHOUT ROWID; INSERT OR IGNORE INTO "
        "temp.ovl_events SELECT %s, t.eventSyncId, t.eventId, %s, %s FROM main.\"%s\" t WHERE "
        "t.eventSyncId NOT NULL AND t.eventId NOT NULL",
        by_process(r, t, e, processes) ? "coalesce(t.globalPid, 0)" : "0",
        ovl_nsys_column(r, e, "streamId"), ovl_nsys_column(r, e, "correlationId"), e);
    r->events = sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* NULL if the event is not in the file. */
static const char *event_of(ovl_nsys *r, const char *t, const char *what, bool processes)
{
    const char *e = ovl_nsys_table(r, "CUPTI_ACTIVITY_KIND_CUDA_EVENT");
    if (!r->events) {
        return "NULL";
    }
    return ovl_arena_printf(&r->arena,
                            "(SELECT e.%s FROM temp.ovl_events e WHERE e.process = %s AND e.sync = "
                            "t.eventSyncId AND e.event = t.eventId)",
                            what,
                            by_process(r, t, e, processes) ? "coalesce(t.globalPid, 0)" : "0");
}

/* Waits of streams for events, and of the host for events and streams. */
static void read_waits(ovl_nsys *r, bool processes)
{
    const char *t = ovl_nsys_table(r, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
    if (!t || !r->sink->wait) {
        return;
    }
    keep_events(r, t, processes);
    const char *sql = ovl_arena_printf(
        &r->arena, "SELECT %s, %s, %s, %s, %s, %s FROM main.\"%s\" t",
        ovl_nsys_column(r, t, "syncType"), ovl_nsys_column(r, t, "streamId"),
        ovl_nsys_column(r, t, "correlationId"),
        processes ? ovl_nsys_column(r, t, "globalPid") : "NULL",
        event_of(r, t, "stream", processes), event_of(r, t, "correlation", processes), t);
    for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); ovl_nsys_step(r, s);) {
        int64_t type = sqlite3_column_int64(s, 0), stream = sqlite3_column_int64(s, 1);
        bool own = type == SYNC_WAIT || type == SYNC_STREAM;
        const ovl_read_wait record = {
            .process = process_of(s, 3),
            .key = (uint64_t)sqlite3_column_int64(s, 2),
            .stream = own && stream != UINT32_MAX ? stream : -1,
            .on = sqlite3_column_type(s, 4) == SQLITE_NULL ? -1 : sqlite3_column_int64(s, 4),
            .record = (uint64_t)sqlite3_column_int64(s, 5),
            .has_record = sqlite3_column_type(s, 5) != SQLITE_NULL,
        };
        bool known = sqlite3_column_type(s, 2) != SQLITE_NULL && type >= SYNC_EVENT;
        if (known) {
            r->sink->wait(r->sink->context, &record);
        }
        r->about->n_records++;
    }
}

/* Ranges of the host other than steps. */
static void read_ranges(ovl_nsys *r, bool processes)
{
    static const char *const names[] = {"text", "textId", NULL};
    const char *t = ovl_nsys_table(r, "NVTX_EVENTS");
    if (!t || !r->sink->range || !ovl_nsys_has(r, t, "start") || !ovl_nsys_has(r, t, "end")) {
        return;
    }
    const char *sql = ovl_arena_printf(
        &r->arena, "SELECT %s, %s, %s, %s FROM main.\"%s\" t WHERE t.\"end\" NOT NULL",
        ovl_nsys_column(r, t, "start"), ovl_nsys_column(r, t, "end"),
        processes ? ovl_nsys_column(r, t, "globalTid") : "NULL", ovl_nsys_name(r, t, names), t);
    for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); ovl_nsys_step(r, s);) {
        ovl_read_range record = {.process = process_of(s, 2), .name = ovl_nsys_slice(s, 3)};
        if (!ovl_slice_starts(record.name, "ProfilerStep") &&
            times(s, r->about, &record.start, &record.end)) {
            r->sink->range(r->sink->context, &record);
        }
    }
}

/* Ranges that mark steps. */
static void read_steps(ovl_nsys *r, bool processes)
{
    static const char *const names[] = {"text", "textId", NULL};
    const char *t = ovl_nsys_table(r, "NVTX_EVENTS");
    if (!t || !r->sink->host || !ovl_nsys_has(r, t, "start") || !ovl_nsys_has(r, t, "end")) {
        return;
    }
    const char *sql = ovl_arena_printf(
        &r->arena,
        "SELECT start, \"end\", process, name FROM (SELECT %s AS start, %s AS \"end\", %s AS "
        "process, %s AS name FROM main.\"%s\" t) WHERE name LIKE 'ProfilerStep%%' AND \"end\" NOT "
        "NULL",
        ovl_nsys_column(r, t, "start"), ovl_nsys_column(r, t, "end"),
        processes ? ovl_nsys_column(r, t, "globalTid") : "NULL", ovl_nsys_name(r, t, names), t);
    for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); ovl_nsys_step(r, s);) {
        ovl_read_host record = {
            .call = OVL_READ_STEP, .process = process_of(s, 2), .name = ovl_nsys_slice(s, 3)};
        if (times(s, r->about, &record.start, &record.end)) {
            r->sink->host(r->sink->context, &record);
        }
    }
}

static void read_memory(ovl_nsys *r)
{
    const char *t = ovl_nsys_table(r, "CUDA_GPU_MEMORY_USAGE_EVENTS");
    if (!t || !r->sink->memory) {
        return;
    }
    const char *sql = ovl_arena_printf(
        &r->arena, "SELECT %s, %s, %s FROM main.\"%s\" t ORDER BY %s",
        ovl_nsys_column(r, t, "deviceId"), ovl_nsys_column(r, t, "bytes"),
        ovl_nsys_column(r, t, "memoryOperationType"), t, ovl_nsys_column(r, t, "start"));
    for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); ovl_nsys_step(r, s);) {
        int64_t bytes = sqlite3_column_int64(s, 1);
        const ovl_read_memory record = {.type = 1,
                                        .device = sqlite3_column_int64(s, 0),
                                        .change = sqlite3_column_int64(s, 2) == 1 ? -bytes : bytes,
                                        .allocated = -1,
                                        .reserved = -1};
        r->sink->memory(r->sink->context, &record);
        r->about->n_records++;
    }
}

static int64_t number_in(ovl_nsys *r, const char *table, const char *column)
{
    int64_t value = 0;
    const char *t = ovl_nsys_table(r, table);
    if (t && ovl_nsys_has(r, t, column)) {
        const char *sql =
            ovl_arena_printf(&r->arena, "SELECT t.\"%s\" FROM main.\"%s\" t LIMIT 1", column, t);
        for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); ovl_nsys_step(r, s);) {
            value = sqlite3_column_int64(s, 0);
        }
    }
    return value;
}

static void read_version(ovl_nsys *r)
{
    const char *t = ovl_nsys_table(r, "META_DATA_EXPORT");
    if (t && ovl_nsys_has(r, t, "name") && ovl_nsys_has(r, t, "value")) {
        const char *sql = ovl_arena_printf(
            &r->arena, "SELECT value FROM main.\"%s\" WHERE name = 'EXPORT_SCHEMA_VERSION'", t);
        for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); ovl_nsys_step(r, s);) {
            r->about->version = ovl_arena_strdup(r->about->arena, column_text(r, s, 0));
        }
    }
}

/* Whether any table of an export is there. */
static bool is_export(ovl_nsys *r)
{
    return ovl_nsys_table(r, "StringIds") || ovl_nsys_table(r, "META_DATA_EXPORT") ||
           ovl_nsys_table(r, "CUPTI_ACTIVITY_KIND_KERNEL") || ovl_nsys_table(r, "NVTX_EVENTS");
}

/* Whether calls are of more than one process: their launches have numbers of their own. */
static bool several_processes(ovl_nsys *r)
{
    const char *t = ovl_nsys_table(r, "CUPTI_ACTIVITY_KIND_RUNTIME");
    uint32_t n = 0;
    if (!t || !ovl_nsys_has(r, t, "globalTid")) {
        return false;
    }
    const char *sql =
        ovl_arena_printf(&r->arena, "SELECT DISTINCT globalTid >> 24 FROM main.\"%s\" LIMIT 2", t);
    for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); ovl_nsys_step(r, s);) {
        n++;
    }
    return n > 1;
}

static void read_all(ovl_nsys *r)
{
    const char *kernels = ovl_nsys_table(r, "CUPTI_ACTIVITY_KIND_KERNEL");
    bool processes = kernels && ovl_nsys_has(r, kernels, "globalPid");
    r->processes = processes;
    r->mixed = kernels && !processes && several_processes(r);
    copy_names(r);
    read_version(r);
    if (!r->mixed) {
        ovl_nsys_nccl(r, processes);
    }
    r->about->base = number_in(r, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs");
    if (!kernels && ovl_nsys_table(r, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE")) {
        read_device(r, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", OVL_READ_KERNEL);
    }
    read_device(r, "CUPTI_ACTIVITY_KIND_KERNEL", OVL_READ_KERNEL);
    read_device(r, "CUPTI_ACTIVITY_KIND_MEMCPY", OVL_READ_COPY);
    read_device(r, "CUPTI_ACTIVITY_KIND_MEMSET", OVL_READ_SET);
    read_calls(r, processes);
    read_steps(r, processes);
    read_waits(r, processes);
    read_ranges(r, processes);
    read_memory(r);
    ovl_nsys_metrics(r);
    r->about->gpu_hbm = number_in(r, "TARGET_INFO_GPU", "memoryBandwidth");
    r->about->gpu_sms = number_in(r, "TARGET_INFO_GPU", "smCount");
}

/* What an export without these tables cannot tell. */
static void warn_missing(ovl_nsys *r, ovl_mark mark, ovl_errs *errs)
{
    if (!ovl_nsys_table(r, "CUPTI_ACTIVITY_KIND_KERNEL") &&
        !ovl_nsys_table(r, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE")) {
        ovl_warning(errs, mark,
                    "the export has no table of kernels (CUPTI_ACTIVITY_KIND_KERNEL): whatever the "
                    "GPU computed is missing; was CUDA traced (nsys profile --trace=cuda)?");
    }
    if (!r->names) {
        ovl_warning(errs, mark,
                    "the export has no table of names (StringIds): kernels and calls are known by "
                    "numbers only, so communication cannot be told by its name");
    }
}

bool ovl_read_nsys(const char *path, const ovl_sink *sink, ovl_read_about *about, ovl_errs *errs)
{
    const ovl_mark mark = {path, 0, 0};
    ovl_nsys r = {.sink = sink, .about = about};
    about->format = OVL_READ_NSYS;
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    bool good = sqlite3_open_v2(uri_of(path, &r.arena), &r.db, flags, NULL) == SQLITE_OK;
    bool export = good && is_export(&r);
    if (!good) {
        failed(&r);
    }
    if (export) {
        read_all(&r);
    }
    ovl_nsys_check_file(path, errs);
    if (export) {
        warn_missing(&r, mark, errs);
    }
    if (r.why && !about->n_records) {
        ovl_error(errs, OVL_E_INPUT, mark, "cannot read the SQLite database: %s", r.why);
    } else if (!export) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "is no trace: it is an SQLite database without the tables of an Nsight Systems "
                  "export");
    } else if (r.why) {
        ovl_warning(errs, mark, "the database is damaged (%s); rows read: %" PRIu64, r.why,
                    about->n_records);
    }
    if (r.mixed) {
        ovl_warning(
            errs, mark,
            "kernels do not say which process they are of (no globalPid), and the calls are "
            "of several: no kernel or copy is matched with its launch");
    }
    good = export && !(r.why && !about->n_records);
    for (size_t i = 0; i < OVL_NSYS_CACHED; i++) {
        free(r.cached[i].text);
    }
    sqlite3_finalize(r.lookup);
    sqlite3_close(r.db);
    ovl_arena_free(&r.arena);
    return good;
}
