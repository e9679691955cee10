/*
 * Nsight Systems exports (SQLite). Tables and columns are looked up by name, because both change
 * between schema versions; what is not there is NULL. Times are ns since the start of the
 * recording.
 *
 * The file is opened read-only and never written: names go into a temporary table with a key, since
 * exports have no index. What links a launch with its kernel is (process, correlationId); the
 * process is in the upper bits of globalPid and globalTid.
 */
#include "tools/decimal.h"
#include "tools/read.h"

#include <sqlite3.h>
#include <string.h>

#define PROCESS_SHIFT 24 /* globalTid: the lower bits are the thread */

typedef struct reader {
    sqlite3 *db;
    const ovl_sink *sink;
    ovl_read_about *about;
    ovl_arena arena; /* of statements */
    bool names;      /* the temporary table is there */
    bool sizes;      /* likewise that of message sizes */
    uint64_t schema; /* of the payload looked at last, and where it has the size */
    int64_t offset;
    bool has_offset;
    const char *why; /* the first thing that went wrong, or NULL */
} reader;

static void failed(reader *r)
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

static sqlite3_stmt *prepare(reader *r, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) != SQLITE_OK) {
        failed(r);
        return NULL;
    }
    return statement;
}

/* Whether there is another row; ends the statement otherwise. */
static bool step(reader *r, sqlite3_stmt *statement)
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

static const char *column_text(reader *r, sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return ovl_arena_strdup(&r->arena, text ? (const char *)text : "");
}

/* The table of this name, also with a version behind it ("_V2"); the last one by name. NULL: none.
 */
static const char *table_of(reader *r, const char *name)
{
    const char *sql = ovl_arena_printf(&r->arena,
                                       "SELECT name FROM sqlite_master WHERE type IN ('table', "
                                       "'view') AND (name = '%s' OR name GLOB '%s_V[0-9]*') "
                                       "ORDER BY name",
                                       name, name);
    const char *found = NULL;
    for (sqlite3_stmt *s = prepare(r, sql); step(r, s);) {
        found = column_text(r, s, 0);
    }
    return found;
}

static bool has_column(reader *r, const char *table, const char *name)
{
    bool found = false;
    const char *sql = ovl_arena_printf(&r->arena, "PRAGMA table_info(\"%s\")", table);
    for (sqlite3_stmt *s = prepare(r, sql); step(r, s);) {
        const unsigned char *column = sqlite3_column_text(s, 1);
        found |= column && sqlite3_stricmp((const char *)column, name) == 0;
    }
    return found;
}

/* The column as it is written in a statement, or NULL for one that is not there. */
static const char *column_of(reader *r, const char *table, const char *name)
{
    return has_column(r, table, name) ? ovl_arena_printf(&r->arena, "t.\"%s\"", name) : "NULL";
}

/* What stands for a name: a number of StringIds (looked up), or the text itself. */
static const char *name_of(reader *r, const char *table, const char *const *columns)
{
    const char *value = "NULL";
    for (size_t i = 0; columns[i]; i++) {
        if (has_column(r, table, columns[i])) {
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

static void copy_names(reader *r)
{
    const char *table = table_of(r, "StringIds");
    if (!table || !has_column(r, table, "id") || !has_column(r, table, "value")) {
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

static ovl_slice text_slice(sqlite3_stmt *s, int column)
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
static const char *shape_of(reader *r, const char *table, const char *x, const char *y,
                            const char *z)
{
    if (!has_column(r, table, x) || !has_column(r, table, y) || !has_column(r, table, z)) {
        return "NULL";
    }
    return ovl_arena_printf(
        &r->arena, "'[' || t.\"%s\" || ', ' || t.\"%s\" || ', ' || t.\"%s\" || ']'", x, y, z);
}

/* ---- message sizes: NCCL annotates its calls ---- */

#define HEADER 32 /* bytes before the payload of an annotation; its schema is a word at byte 8 */

static uint64_t little_endian(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = count; i > 0; i--) {
        value = value << 8 | bytes[i - 1];
    }
    return value;
}

/* Where the message size is in a payload of this schema, as the file describes it; -1: not told. */
static int64_t size_offset(reader *r, uint64_t schema)
{
    const char *t = table_of(r, "NVTX_PAYLOAD_SCHEMA_ENTRIES");
    int64_t offset = -1;
    if (t && has_column(r, t, "schemaId") && has_column(r, t, "name") &&
        has_column(r, t, "offset")) {
        const char *sql =
            ovl_arena_printf(&r->arena,
                             "SELECT \"offset\" FROM main.\"%s\" WHERE schemaId = %" PRIu64
                             " AND name LIKE 'Message size%%' LIMIT 1",
                             t, schema);
        for (sqlite3_stmt *s = prepare(r, sql); step(r, s);) {
            offset = sqlite3_column_int64(s, 0);
        }
    }
    return offset;
}

static int64_t known_offset(reader *r, uint64_t schema)
{
    if (!r->has_offset || r->schema != schema) {
        r->offset = size_offset(r, schema);
        r->schema = schema;
        r->has_offset = true;
    }
    return r->offset;
}

/* From the payload as text, `{"Message size [bytes]": 4096}`, or else as bytes; -1: not there. */
static int64_t message_size(reader *r, sqlite3_stmt *s, int text, int binary)
{
    const char *json = (const char *)sqlite3_column_text(s, text);
    const char *at = json ? strstr(json, "Message size") : NULL;
    at = at ? strchr(at, ':') : NULL;
    if (at) {
        int64_t bytes = -1;
        at += 1 + strspn(at + 1, " \"");
        bool number = ovl_decimal(at, strspn(at, "0123456789"), 0, &bytes);
        return number ? bytes : -1;
    }
    const unsigned char *blob = sqlite3_column_blob(s, binary);
    int64_t length = sqlite3_column_bytes(s, binary);
    int64_t offset = blob && length > HEADER ? known_offset(r, little_endian(blob + 8, 4)) : -1;
    if (offset < 0 || offset > length - HEADER - 8) {
        return -1;
    }
    uint64_t bytes = little_endian(blob + HEADER + offset, 8);
    return bytes < (uint64_t)1 << 62 ? (int64_t)bytes : -1;
}

/* NCCL states what one rank puts in, or gets: a part of the message where these differ. */
static bool whole_message(ovl_slice call)
{
    return !ovl_slice_starts(call, "ncclAllGather") && !ovl_slice_starts(call, "ncclReduceScatter");
}

static bool keep_sizes(reader *r, const char *t)
{
    static const char *const names[] = {"text", "textId", NULL};
    bool any = false;
    const char *sql = ovl_arena_printf(
        &r->arena,
        "SELECT * FROM (SELECT %s, %s AS until, %s, %s AS name, %s, %s FROM main.\"%s\" t) WHERE "
        "name LIKE 'nccl%%' AND until NOT NULL",
        column_of(r, t, "start"), column_of(r, t, "end"), column_of(r, t, "globalTid"),
        name_of(r, t, names), column_of(r, t, "jsonText"), column_of(r, t, "binaryData"), t);
    sqlite3_stmt *to = prepare(r, "INSERT INTO temp.ovl_sizes VALUES (?1, ?2, ?3, ?4, ?5)");
    for (sqlite3_stmt *s = prepare(r, sql); to && step(r, s);) {
        int64_t bytes = whole_message(text_slice(s, 3)) ? message_size(r, s, 4, 5) : -1;
        for (int i = 0; i < 4 && bytes >= 0; i++) {
            sqlite3_bind_value(to, i + 1, sqlite3_column_value(s, i));
        }
        if (bytes >= 0) {
            sqlite3_bind_int64(to, 5, bytes);
            any |= sqlite3_step(to) == SQLITE_DONE;
            sqlite3_reset(to);
        }
    }
    sqlite3_finalize(to);
    return any;
}

/* Which launch has which size: it was made, by the same thread, during the annotated call. */
static void link_sizes(reader *r, bool processes)
{
    const char *calls = table_of(r, "CUPTI_ACTIVITY_KIND_RUNTIME"), *t = table_of(r, "NVTX_EVENTS");
    static const char tables[] =
        "CREATE TEMP TABLE ovl_sizes(start, until, tid, name, bytes);"
        "CREATE INDEX temp.ovl_sizes_by ON ovl_sizes(tid, start);"
        "CREATE TEMP TABLE ovl_nccl(process INTEGER, correlation INTEGER, name, bytes, PRIMARY "
        "KEY(process, correlation)) WITHOUT ROWID";
    if (!calls || !t || !has_column(r, t, "globalTid") || !has_column(r, calls, "globalTid") ||
        !has_column(r, calls, "correlationId") || !has_column(r, calls, "start") ||
        sqlite3_exec(r->db, tables, NULL, NULL, NULL) != SQLITE_OK || !keep_sizes(r, t)) {
        return;
    }
    const char *sql = ovl_arena_printf(
        &r->arena,
        "INSERT OR IGNORE INTO temp.ovl_nccl SELECT %s, r.correlationId, s.name, s.bytes FROM "
        "main.\"%s\" r JOIN temp.ovl_sizes s ON s.rowid = (SELECT x.rowid FROM temp.ovl_sizes x "
        "WHERE x.tid = r.globalTid AND x.start <= r.start ORDER BY x.start DESC LIMIT 1) WHERE "
        "r.start < s.until AND r.correlationId NOT NULL",
        processes ? "r.globalTid >> 24" : "0", calls);
    r->sizes = sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static const char *nccl_of(reader *r, const char *t, const char *what)
{
    if (!r->sizes || !has_column(r, t, "correlationId")) {
        return "NULL";
    }
    return ovl_arena_printf(&r->arena,
                            "(SELECT n.%s FROM temp.ovl_nccl n WHERE n.process = %s AND "
                            "n.correlation = t.correlationId)",
                            what, has_column(r, t, "globalPid") ? "t.globalPid >> 24" : "0");
}

static void read_device(reader *r, const char *name, ovl_read_kind kind)
{
    static const char *const names[] = {"demangledName", "shortName", "mangledName", NULL};
    const char *t = table_of(r, name);
    if (!t || !r->sink->device) {
        return;
    }
    const char *sql = ovl_arena_printf(
        &r->arena, "SELECT %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s FROM main.\"%s\" t",
        column_of(r, t, "start"), column_of(r, t, "end"), column_of(r, t, "deviceId"),
        column_of(r, t, "streamId"), column_of(r, t, "correlationId"), column_of(r, t, "globalPid"),
        column_of(r, t, "bytes"), name_of(r, t, names), shape_of(r, t, "gridX", "gridY", "gridZ"),
        shape_of(r, t, "blockX", "blockY", "blockZ"),
        kind == OVL_READ_KERNEL ? nccl_of(r, t, "bytes") : "NULL", nccl_of(r, t, "name"), t);
    for (sqlite3_stmt *s = prepare(r, sql); step(r, s);) {
        ovl_read_device record = {
            .kind = kind,
            .device = sqlite3_column_int64(s, 2),
            .stream = (uint64_t)sqlite3_column_int64(s, 3),
            .key = (uint64_t)sqlite3_column_int64(s, 4),
            .has_key = sqlite3_column_type(s, 4) != SQLITE_NULL,
            .process = process_of(s, 5),
            .bytes = sqlite3_column_type(s, 6) == SQLITE_NULL ? -1 : sqlite3_column_int64(s, 6),
            .name = text_slice(s, 7),
            .grid = text_slice(s, 8),
            .block = text_slice(s, 9),
        };
        const ovl_read_collective call = {.name = text_slice(s, 11),
                                          .in_elements = -1,
                                          .out_elements = -1,
                                          .group_size = -1,
                                          .sequence = -1};
        if (sqlite3_column_type(s, 10) != SQLITE_NULL) {
            record.communication = true;
            record.bytes = sqlite3_column_int64(s, 10);
            record.collective = &call;
        }
        if (times(s, r->about, &record.start, &record.end)) {
            r->sink->device(r->sink->context, &record);
        }
        r->about->n_records++;
    }
}

/* `processes`: device tables say which process a row is of; else all rows are of one. */
static void read_calls(reader *r, bool processes)
{
    static const char *const names[] = {"nameId", NULL};
    const char *t = table_of(r, "CUPTI_ACTIVITY_KIND_RUNTIME");
    if (!t || !r->sink->host) {
        return;
    }
    const char *sql = ovl_arena_printf(
        &r->arena, "SELECT %s, %s, %s, %s, %s, %s FROM main.\"%s\" t", column_of(r, t, "start"),
        column_of(r, t, "end"), column_of(r, t, "correlationId"),
        processes ? column_of(r, t, "globalTid") : "NULL", name_of(r, t, names),
        column_of(r, t, "globalTid"), t);
    for (sqlite3_stmt *s = prepare(r, sql); step(r, s);) {
        ovl_read_host record = {
            .call = OVL_READ_LAUNCH,
            .key = (uint64_t)sqlite3_column_int64(s, 2),
            .has_key = sqlite3_column_type(s, 2) != SQLITE_NULL,
            .process = process_of(s, 3),
            .name = text_slice(s, 4),
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

/* Where an event was recorded: on which stream, by which call; NULL if that is not in the file. */
static const char *event_of(reader *r, const char *t, const char *what, bool processes)
{
    const char *e = table_of(r, "CUPTI_ACTIVITY_KIND_CUDA_EVENT");
    if (!e || !has_column(r, e, what) || !has_column(r, e, "eventSyncId") ||
        !has_column(r, t, "eventSyncId") || !has_column(r, e, "eventId")) {
        return "NULL";
    }
    bool by_process = processes && has_column(r, e, "globalPid") && has_column(r, t, "globalPid");
    return ovl_arena_printf(&r->arena,
                            "(SELECT e.\"%s\" FROM main.\"%s\" e WHERE e.\"eventSyncId\" = "
                            "t.\"eventSyncId\" AND e.\"eventId\" = t.\"eventId\"%s LIMIT 1)",
                            what, e, by_process ? " AND e.\"globalPid\" = t.\"globalPid\"" : "");
}

/* Waits of streams for events, and of the host for events and streams. */
static void read_waits(reader *r, bool processes)
{
    const char *t = table_of(r, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
    if (!t || !r->sink->wait) {
        return;
    }
    const char *sql = ovl_arena_printf(
        &r->arena, "SELECT %s, %s, %s, %s, %s, %s FROM main.\"%s\" t", column_of(r, t, "syncType"),
        column_of(r, t, "streamId"), column_of(r, t, "correlationId"),
        processes ? column_of(r, t, "globalPid") : "NULL", event_of(r, t, "streamId", processes),
        event_of(r, t, "correlationId", processes), t);
    for (sqlite3_stmt *s = prepare(r, sql); step(r, s);) {
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
static void read_ranges(reader *r, bool processes)
{
    static const char *const names[] = {"text", "textId", NULL};
    const char *t = table_of(r, "NVTX_EVENTS");
    if (!t || !r->sink->range || !has_column(r, t, "start") || !has_column(r, t, "end")) {
        return;
    }
    const char *sql = ovl_arena_printf(
        &r->arena, "SELECT %s, %s, %s, %s FROM main.\"%s\" t WHERE t.\"end\" NOT NULL",
        column_of(r, t, "start"), column_of(r, t, "end"),
        processes ? column_of(r, t, "globalTid") : "NULL", name_of(r, t, names), t);
    for (sqlite3_stmt *s = prepare(r, sql); step(r, s);) {
        ovl_read_range record = {.process = process_of(s, 2), .name = text_slice(s, 3)};
        if (!ovl_slice_starts(record.name, "ProfilerStep") &&
            times(s, r->about, &record.start, &record.end)) {
            r->sink->range(r->sink->context, &record);
        }
    }
}

/* Ranges that mark steps. */
static void read_steps(reader *r, bool processes)
{
    static const char *const names[] = {"text", "textId", NULL};
    const char *t = table_of(r, "NVTX_EVENTS");
    if (!t || !r->sink->host || !has_column(r, t, "start") || !has_column(r, t, "end")) {
        return;
    }
    const char *sql = ovl_arena_printf(
        &r->arena,
        "SELECT start, \"end\", process, name FROM (SELECT %s AS start, %s AS \"end\", %s AS "
        "process, %s AS name FROM main.\"%s\" t) WHERE name LIKE 'ProfilerStep%%' AND \"end\" NOT "
        "NULL",
        column_of(r, t, "start"), column_of(r, t, "end"),
        processes ? column_of(r, t, "globalTid") : "NULL", name_of(r, t, names), t);
    for (sqlite3_stmt *s = prepare(r, sql); step(r, s);) {
        ovl_read_host record = {
            .call = OVL_READ_STEP, .process = process_of(s, 2), .name = text_slice(s, 3)};
        if (times(s, r->about, &record.start, &record.end)) {
            r->sink->host(r->sink->context, &record);
        }
    }
}

static void read_memory(reader *r)
{
    const char *t = table_of(r, "CUDA_GPU_MEMORY_USAGE_EVENTS");
    if (!t || !r->sink->memory) {
        return;
    }
    const char *sql =
        ovl_arena_printf(&r->arena, "SELECT %s, %s, %s FROM main.\"%s\" t ORDER BY %s",
                         column_of(r, t, "deviceId"), column_of(r, t, "bytes"),
                         column_of(r, t, "memoryOperationType"), t, column_of(r, t, "start"));
    for (sqlite3_stmt *s = prepare(r, sql); step(r, s);) {
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

/* Which of the metrics that count a name means: "SMs Active [Throughput %]", "DRAM Read Bandwidth
 * [Throughput %]". */
static bool metric_of(ovl_slice name, ovl_metric *metric)
{
    char text[128];
    size_t n = OVL_MIN(name.length, sizeof text - 1);
    memcpy(text, name.text, n);
    text[n] = '\0';
    if (strstr(text, "SMs Active") || strstr(text, "SM Active")) {
        *metric = OVL_METRIC_SM;
        return true;
    }
    bool dram = strstr(text, "DRAM") != NULL, write = strstr(text, "Write") != NULL;
    *metric = write ? OVL_METRIC_HBM_WRITE : OVL_METRIC_HBM_READ;
    return dram && (write || strstr(text, "Read"));
}

/* Samples of GPU metrics (--gpu-metrics-device), in per cent. */
static void read_metrics(reader *r)
{
    const char *t = table_of(r, "GPU_METRICS"), *names = table_of(r, "TARGET_INFO_GPU_METRICS");
    if (!t || !names || !r->sink->metric || !has_column(r, t, "timestamp") ||
        !has_column(r, t, "metricId") || !has_column(r, t, "value") ||
        !has_column(r, names, "metricId") || !has_column(r, names, "metricName")) {
        return;
    }
    bool types = has_column(r, t, "typeId") && has_column(r, names, "typeId");
    const char *sql = ovl_arena_printf(
        &r->arena,
        "SELECT t.timestamp, n.metricName, t.value FROM main.\"%s\" t JOIN main.\"%s\" n ON "
        "t.metricId = n.metricId%s",
        t, names, types ? " AND t.typeId = n.typeId" : "");
    for (sqlite3_stmt *s = prepare(r, sql); step(r, s);) {
        ovl_read_metric record = {.at = sqlite3_column_int64(s, 0),
                                  .percent = sqlite3_column_double(s, 2)};
        const int64_t most = ((int64_t)1 << 62) - 2;
        bool good =
            record.at >= 0 && record.at < most && record.percent >= 0 && record.percent <= 1000;
        if (good && metric_of(text_slice(s, 1), &record.metric)) {
            r->sink->metric(r->sink->context, &record);
        }
    }
}

static int64_t number_in(reader *r, const char *table, const char *column)
{
    int64_t value = 0;
    const char *t = table_of(r, table);
    if (t && has_column(r, t, column)) {
        const char *sql =
            ovl_arena_printf(&r->arena, "SELECT t.\"%s\" FROM main.\"%s\" t LIMIT 1", column, t);
        for (sqlite3_stmt *s = prepare(r, sql); step(r, s);) {
            value = sqlite3_column_int64(s, 0);
        }
    }
    return value;
}

static void read_version(reader *r)
{
    const char *t = table_of(r, "META_DATA_EXPORT");
    if (t && has_column(r, t, "name") && has_column(r, t, "value")) {
        const char *sql = ovl_arena_printf(
            &r->arena, "SELECT value FROM main.\"%s\" WHERE name = 'EXPORT_SCHEMA_VERSION'", t);
        for (sqlite3_stmt *s = prepare(r, sql); step(r, s);) {
            r->about->version = ovl_arena_strdup(r->about->arena, column_text(r, s, 0));
        }
    }
}

/* Whether any table of an export is there. */
static bool is_export(reader *r)
{
    return table_of(r, "StringIds") || table_of(r, "META_DATA_EXPORT") ||
           table_of(r, "CUPTI_ACTIVITY_KIND_KERNEL") || table_of(r, "NVTX_EVENTS");
}

static void read_all(reader *r)
{
    const char *kernels = table_of(r, "CUPTI_ACTIVITY_KIND_KERNEL");
    bool processes = kernels && has_column(r, kernels, "globalPid");
    copy_names(r);
    read_version(r);
    link_sizes(r, processes);
    r->about->base = number_in(r, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs");
    if (!kernels && table_of(r, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE")) {
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
    read_metrics(r);
    r->about->gpu_hbm = number_in(r, "TARGET_INFO_GPU", "memoryBandwidth");
    r->about->gpu_sms = number_in(r, "TARGET_INFO_GPU", "smCount");
}

bool ovl_read_nsys(const char *path, const ovl_sink *sink, ovl_read_about *about, ovl_errs *errs)
{
    const ovl_mark mark = {path, 0, 0};
    reader r = {.sink = sink, .about = about};
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
    if (r.why && !about->n_records) {
        ovl_error(errs, OVL_E_INPUT, mark, "cannot read the SQLite database: %s", r.why);
    } else if (!export) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "is no trace: it is an SQLite database without the tables of an Nsight Systems "
                  "export");
    } else if (r.why) {
        ovl_warning(errs, mark, "the database is damaged (%s); %" PRIu64 " rows were read", r.why,
                    about->n_records);
    }
    good = export && !(r.why && !about->n_records);
    sqlite3_close(r.db);
    ovl_arena_free(&r.arena);
    return good;
}
