/*
 * What NCCL says of its calls in an Nsight Systems export: it annotates them, with a payload that
 * has the communicator and the message size, as text (`jsonText`) or as bytes (`binaryData`) that
 * NVTX_PAYLOAD_SCHEMA_ENTRIES describes. A launch belongs to the annotated call of its thread in
 * which it was made.
 *
 *     ncclAllGather [84, 87)  {communicator 0x4d, message 512 B}     launch at 85: 512 B of each
 *     ncclCommInitRank        {communicator 0x4d, 8 ranks, ...}      so 4096 B in all
 */
#include "tools/nsys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 32 /* bytes before the payload of an annotation; its schema is a word at byte 8 */

typedef enum field { COMMUNICATOR, MESSAGE, RANKS } field;

static const struct {
    const char *name;
    size_t bytes;
} fields[OVL_NSYS_FIELDS] = {
    [COMMUNICATOR] = {"NCCL communicator ID", 8},
    [MESSAGE] = {"Message size", 8},
    [RANKS] = {"No. of ranks", 4},
};

static uint64_t little_endian(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = count; i > 0; i--) {
        value = value << 8 | bytes[i - 1];
    }
    return value;
}

/* Where a field is in a payload of this schema, as the file describes it; -1: not told. The first
 * field of a schema has no offset. */
static int64_t offset_of(ovl_nsys *r, uint64_t schema, field f)
{
    const char *t = ovl_nsys_table(r, "NVTX_PAYLOAD_SCHEMA_ENTRIES");
    int64_t offset = -1;
    if (t && ovl_nsys_has(r, t, "schemaId") && ovl_nsys_has(r, t, "name") &&
        ovl_nsys_has(r, t, "offset")) {
        const char *sql =
            ovl_arena_printf(&r->arena,
                             "SELECT \"offset\" FROM main.\"%s\" WHERE schemaId = %" PRIu64
                             " AND name LIKE '%s%%' LIMIT 1",
                             t, schema, fields[f].name);
        for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); ovl_nsys_step(r, s);) {
            offset = sqlite3_column_int64(s, 0);
        }
    }
    return offset;
}

static int64_t known_offset(ovl_nsys *r, uint64_t schema, field f)
{
    ovl_nsys_field *known = &r->field[f];
    if (!known->known || known->schema != schema) {
        *known = (ovl_nsys_field){schema, offset_of(r, schema, f), true};
    }
    return known->offset;
}

/* `"Message size [bytes]": 4096` of a text. */
static bool in_text(const char *json, field f, uint64_t *value)
{
    const char *at = json ? strstr(json, fields[f].name) : NULL;
    at = at ? strchr(at, ':') : NULL;
    if (!at) {
        return false;
    }
    at += 1 + strspn(at + 1, " \"");
    if (*at < '0' || *at > '9') {
        return false;
    }
    errno = 0;
    *value = strtoull(at, NULL, 0);
    return errno == 0;
}

/* A field of the payload, from the text or the bytes of the current row. */
static bool payload(ovl_nsys *r, sqlite3_stmt *s, int text, int binary, field f, uint64_t *value)
{
    if (in_text((const char *)sqlite3_column_text(s, text), f, value)) {
        return true;
    }
    const unsigned char *blob = sqlite3_column_blob(s, binary);
    int64_t length = sqlite3_column_bytes(s, binary);
    int64_t size = (int64_t)fields[f].bytes;
    int64_t offset = blob && length > HEADER ? known_offset(r, little_endian(blob + 8, 4), f) : -1;
    if (offset < 0 || offset > length - HEADER - size) {
        return false;
    }
    *value = little_endian(blob + HEADER + offset, fields[f].bytes);
    return true;
}

#define MOST_BYTES ((uint64_t)1 << 62)

/* start, until, globalTid, name, text, bytes of a row; then what was found in it. */
static bool keep_call(ovl_nsys *r, sqlite3_stmt *s, sqlite3_stmt *to)
{
    uint64_t bytes, comm;
    bool has = payload(r, s, 4, 5, MESSAGE, &bytes) && bytes < MOST_BYTES;
    for (int i = 0; i < 4; i++) {
        sqlite3_bind_value(to, i + 1, sqlite3_column_value(s, i));
    }
    if (has) {
        sqlite3_bind_int64(to, 5, (int64_t)bytes);
    }
    if (payload(r, s, 4, 5, COMMUNICATOR, &comm)) {
        sqlite3_bind_int64(to, 6, (int64_t)comm);
        has = true;
    }
    bool kept = has && sqlite3_step(to) == SQLITE_DONE;
    sqlite3_reset(to);
    sqlite3_clear_bindings(to);
    return kept;
}

static void keep_ranks(ovl_nsys *r, sqlite3_stmt *s, sqlite3_stmt *to)
{
    uint64_t comm, ranks;
    if (payload(r, s, 4, 5, COMMUNICATOR, &comm) && payload(r, s, 4, 5, RANKS, &ranks) &&
        ranks > 0 && ranks < INT32_MAX) {
        sqlite3_bind_int64(to, 1, (int64_t)comm);
        sqlite3_bind_int64(to, 2, (int64_t)ranks);
        sqlite3_step(to);
        sqlite3_reset(to);
    }
}

static bool keep_all(ovl_nsys *r, const char *t)
{
    static const char *const names[] = {"text", "textId", NULL};
    static const char *const texts[] = {"jsonText", "jsonTextId", NULL};
    bool any = false;
    const char *sql = ovl_arena_printf(
        &r->arena,
        "SELECT * FROM (SELECT %s, %s AS until, %s, %s AS name, %s, %s FROM main.\"%s\" t) WHERE "
        "name LIKE 'nccl%%' AND until NOT NULL",
        ovl_nsys_column(r, t, "start"), ovl_nsys_column(r, t, "end"),
        ovl_nsys_column(r, t, "globalTid"), ovl_nsys_name(r, t, names), ovl_nsys_name(r, t, texts),
        ovl_nsys_column(r, t, "binaryData"), t);
    sqlite3_stmt *call =
        ovl_nsys_prepare(r, "INSERT INTO temp.ovl_calls VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    sqlite3_stmt *size =
        ovl_nsys_prepare(r, "INSERT OR IGNORE INTO temp.ovl_ranks VALUES (?1, ?2)");
    for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); call && size && ovl_nsys_step(r, s);) {
        any |= keep_call(r, s, call);
        keep_ranks(r, s, size);
    }
    sqlite3_finalize(call);
    sqlite3_finalize(size);
    return any;
}

/* Each states what one rank puts in, or gets: a part of the message where these differ. */
#define BYTES                                                                                      \
    "CASE WHEN c.name GLOB 'ncclAllGather*' OR c.name GLOB 'ncclReduceScatter*' THEN c.bytes * "   \
    "k.ranks ELSE c.bytes END"

void ovl_nsys_nccl(ovl_nsys *r, bool processes)
{
    static const char tables[] =
        "CREATE TEMP TABLE ovl_calls(start, until, tid, name, bytes, comm);"
        "CREATE INDEX temp.ovl_calls_by ON ovl_calls(tid, start);"
        "CREATE TEMP TABLE ovl_ranks(comm INTEGER PRIMARY KEY, ranks);"
        "CREATE TEMP TABLE ovl_nccl(process INTEGER, correlation INTEGER, name, bytes, comm, "
        "ranks, PRIMARY KEY(process, correlation)) WITHOUT ROWID";
    const char *calls = ovl_nsys_table(r, "CUPTI_ACTIVITY_KIND_RUNTIME");
    const char *t = ovl_nsys_table(r, "NVTX_EVENTS");
    if (!calls || !t || !ovl_nsys_has(r, t, "globalTid") || !ovl_nsys_has(r, calls, "globalTid") ||
        !ovl_nsys_has(r, calls, "correlationId") || !ovl_nsys_has(r, calls, "start") ||
        sqlite3_exec(r->db, tables, NULL, NULL, NULL) != SQLITE_OK || !keep_all(r, t)) {
        return;
    }
    const char *sql = ovl_arena_printf(
        &r->arena,
        "INSERT OR IGNORE INTO temp.ovl_nccl SELECT %s, r.correlationId, c.name, " BYTES ", "
        "c.comm, k.ranks FROM main.\"%s\" r JOIN temp.ovl_calls c ON c.rowid = (SELECT x.rowid "
        "FROM temp.ovl_calls x WHERE x.tid = r.globalTid AND x.start <= r.start ORDER BY x.start "
        "DESC LIMIT 1) LEFT JOIN temp.ovl_ranks k ON k.comm = c.comm WHERE r.start < c.until AND "
        "r.correlationId NOT NULL",
        processes ? "r.globalTid >> 24" : "0", calls);
    r->nccl = sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}
