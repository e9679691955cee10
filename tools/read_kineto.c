/*
 * PyTorch profiler traces: the envelope, the list of events, and finding the next event after a
 * fault. What an event means is in kineto_event.c.
 *
 * An event is scanned whole inside the window, so that after a fault the scan can go back to its
 * first byte; an event longer than the largest window counts as a fault. Values of the envelope are
 * skipped in any length.
 */
#include "tools/decimal.h"
#include "tools/kineto.h"

#include <string.h>

#define LOOK 256 /* bytes that tell whether an event begins */

typedef struct reader {
    ovl_source *in;
    const ovl_sink *sink;
    ovl_read_about *about;
    bool events; /* a list of events was found */
} reader;

static ovl_cursor cursor_of(const reader *r)
{
    return (ovl_cursor){r->in->at, r->in->end, false};
}

/* Moves to the next byte that is no blank and no comma. False at the end of the file. */
static bool skip_blanks(reader *r)
{
    do {
        ovl_cursor c = cursor_of(r);
        ovl_scan_blanks(&c);
        r->in->at += c.at - r->in->at;
    } while (r->in->at == r->in->end && ovl_source_more(r->in));
    return r->in->at < r->in->end;
}

static void cut(reader *r)
{
    ovl_read_faults *faults = &r->about->faults;
    if (!faults->cut) {
        faults->cut = true;
        faults->cut_at = ovl_source_where(r->in, r->in->end);
        faults->cut_after = r->about->n_records;
    }
    r->in->at = r->in->end;
}

/* ---- the next event after a fault ---- */

static const char *blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) {
        p++;
    }
    return p;
}

/* One of the keys, in quotes and with its colon. */
static bool key_at(const char *p, const char *end, const char *const *keys, size_t n_keys)
{
    p = blanks(p, end);
    for (size_t i = 0; i < n_keys; i++) {
        size_t n = strlen(keys[i]);
        if ((size_t)(end - p) > n + 2 && *p == '"' && memcmp(p + 1, keys[i], n) == 0 &&
            p[n + 1] == '"' && *blanks(p + n + 2, end) == ':') {
            return true;
        }
    }
    return false;
}

/* `{` and the key of an event, where a list goes on: not the value of "args". */
static bool event_begins(const ovl_source *in, const char *p)
{
    static const char *const keys[] = {"ph", "name", "cat",  "pid", "tid",
                                       "ts", "id",   "args", "dur"};
    if (*p != '{' || !key_at(p + 1, in->end, keys, OVL_COUNT(keys))) {
        return false;
    }
    const char *before = p;
    while (before > in->window && strchr(" \t\r\n", before[-1])) {
        before--;
    }
    return before == in->window || strchr(",[}", before[-1]);
}

/* `]` and then a key of the envelope. */
static bool list_ends(const ovl_source *in, const char *p)
{
    static const char *const keys[] = {
        "traceName",         "displayTimeUnit", "baseTimeNanoseconds",
        "distributedInfo",   "schemaVersion",   "deviceProperties",
        "computeProperties", "otherData",       "with_stack",
        "record_shapes",     "trace_id"};
    if (*p != ']') {
        return false;
    }
    p = blanks(p + 1, in->end);
    return *p == ',' && key_at(p + 1, in->end, keys, OVL_COUNT(keys));
}

/* Moves on, from `p`, to where an event or the end of the list is. */
static void resynchronise(reader *r, char *p)
{
    ovl_source *in = r->in;
    for (;; p++) {
        if (in->end - p < LOOK && !in->finished) {
            size_t kept = (size_t)OVL_MIN(p - in->at, LOOK); /* what stands before is looked at */
            in->at = p - kept;
            ovl_source_more(in);
            p = in->at + kept;
        }
        if (p >= in->end) {
            in->at = in->end;
            return;
        }
        if (event_begins(in, p) || list_ends(in, p)) {
            in->at = p;
            return;
        }
    }
}

/* What stands at the source is broken; `seen` is where that was found: what came before was scanned
 * and need not be again, so that no file takes more than one pass. */
static void fault(reader *r, const char *seen)
{
    char *at = r->in->at;
    ovl_read_fault_at(&r->about->faults.broken, ovl_source_where(r->in, at));
    resynchronise(r, at + OVL_MAX(seen - at, 1));
}

/* ---- the list ---- */

static void use(reader *r, const ovl_kineto_event *event, const ovl_cursor *c)
{
    uint64_t where = ovl_source_where(r->in, r->in->at);
    if (!event->known || !ovl_kineto_use(event, where, r->sink, r->about)) {
        fault(r, c->at);
        return;
    }
    if (c->repaired) {
        ovl_read_fault_at(&r->about->faults.repaired, where);
    }
    r->about->n_records++;
    r->in->at += c->at - r->in->at;
}

/* An event that does not end: it is longer than the largest window, or a quote that never closes
 * hides what follows, or else the file is cut here, which is no fault of the event. */
static void too_long(reader *r, const char *seen)
{
    ovl_read_faults *faults = &r->about->faults;
    ovl_read_fault before = faults->broken;
    uint64_t where = ovl_source_where(r->in, r->in->at);
    bool last = !ovl_source_full(r->in);
    fault(r, seen);
    if (!last) {
        ovl_read_fault_at(&faults->too_long, where);
    }
    if (!last || r->in->at == r->in->end) {
        faults->broken = before;
    }
}

static void one_event(reader *r)
{
    ovl_cursor c = cursor_of(r);
    ovl_kineto_event event;
    c.at++;
    switch (ovl_kineto_scan(&c, &event)) {
    case OVL_SCAN_END:
        use(r, &event, &c);
        break;
    case OVL_SCAN_MORE:
        if (!ovl_source_more(r->in)) {
            too_long(r, c.at);
        } /* else again, with more of it */
        break;
    case OVL_SCAN_DONE:
    case OVL_SCAN_BAD:
        fault(r, c.at);
        break;
    }
}

/* Behind the `[`. Ends behind the `]`. */
static void list(reader *r)
{
    r->events = true;
    while (skip_blanks(r)) {
        if (*r->in->at == '{') {
            one_event(r);
        } else if (*r->in->at == ']') {
            r->in->at++;
            return;
        } else {
            fault(r, r->in->at);
        }
    }
    cut(r);
}

/* ---- the envelope ---- */

/* Skips a value of any size. A list of events inside it is a sign that a quote is missing. */
static bool skip_value(reader *r)
{
    uint64_t depth = 0;
    bool quoted = false, begun = false;
    ovl_source *in = r->in;
    for (;; in->at++) {
        if (in->end - in->at < LOOK && !in->finished) {
            ovl_source_more(in);
        }
        if (in->at >= in->end) {
            return false;
        }
        char c = *in->at;
        static const char *const events[] = {"traceEvents"};
        if (c == '"' && begun && key_at(in->at, in->end, events, 1)) {
            return true;
        }
        if (quoted) {
            in->at += c == '\\' && in->at + 1 < in->end;
            quoted = c != '"';
        } else if (depth == 0 && begun && (c == ',' || c == '}')) {
            return true;
        } else {
            quoted = c == '"';
            depth += c == '{' || c == '[';
            depth -= depth && (c == '}' || c == ']');
        }
        begun = true;
    }
}

static void distributed_info(reader *r, ovl_slice object)
{
    ovl_cursor c = {object.text + 1, object.text + object.length, false};
    ovl_slice key;
    ovl_scan_value value;
    while (ovl_scan_member(&c, &key, &value) == OVL_SCAN_DONE) {
        if (ovl_slice_is(key, "rank")) {
            ovl_scan_integer(&value, 0, &r->about->rank);
        } else if (ovl_slice_is(key, "world_size")) {
            ovl_scan_integer(&value, 0, &r->about->world);
        } else if (ovl_slice_is(key, "pg_config")) {
            ovl_kineto_groups(&value, r->about);
        }
    }
}

static void other_data(reader *r, ovl_slice object)
{
    ovl_cursor c = {object.text + 1, object.text + object.length, false};
    ovl_slice key;
    ovl_scan_value value;
    ovl_read_about *about = r->about;
    while (ovl_scan_member(&c, &key, &value) == OVL_SCAN_DONE) {
        if (ovl_slice_is(key, "program")) {
            about->own = ovl_slice_is(value.slice, "overlapsim");
        } else if (ovl_slice_is(key, "ranks")) {
            ovl_scan_integer(&value, 0, &about->ranks);
        } else if (ovl_slice_is(key, "copy_engines_d2h")) {
            ovl_scan_integer(&value, 0, &about->copy_engines[0]);
        } else if (ovl_slice_is(key, "copy_engines_h2d")) {
            ovl_scan_integer(&value, 0, &about->copy_engines[1]);
        } else if (ovl_slice_is(key, "hw_queues")) {
            ovl_scan_integer(&value, 0, &about->hw_queues);
        }
    }
}

static void use_pair(reader *r, ovl_slice key, const ovl_scan_value *value)
{
    if (ovl_slice_is(key, "baseTimeNanoseconds")) {
        ovl_scan_integer(value, 0, &r->about->base);
    } else if (ovl_slice_is(key, "distributedInfo") && value->kind == OVL_SCAN_OBJECT) {
        distributed_info(r, value->slice);
    } else if (ovl_slice_is(key, "otherData") && value->kind == OVL_SCAN_OBJECT) {
        other_data(r, value->slice);
    }
}

/* Past the key of a pair whose value does not fit into the window. */
static bool skip_pair(reader *r)
{
    char *colon = memchr(r->in->at, ':', (size_t)(r->in->end - r->in->at));
    if (!colon) {
        return false;
    }
    r->in->at = colon + 1;
    return skip_blanks(r) && skip_value(r);
}

/* "traceEvents": [ where the source stands; moves behind the bracket. */
static bool list_begins(reader *r)
{
    static const char key[] = "\"traceEvents\"";
    while (r->in->end - r->in->at < LOOK && ovl_source_more(r->in)) {
    }
    const char *p = r->in->at, *end = r->in->end;
    if ((size_t)(end - p) < sizeof key || memcmp(p, key, sizeof key - 1) != 0) {
        return false;
    }
    p = blanks(p + sizeof key - 1, end);
    p = *p == ':' ? blanks(p + 1, end) : p;
    if (*p != '[') {
        return false;
    }
    r->in->at += p + 1 - r->in->at;
    return true;
}

/* One pair of the envelope. False at its end, or where nothing follows. */
static bool pair(reader *r)
{
    if (!skip_blanks(r)) {
        cut(r);
        return false;
    }
    if (*r->in->at == '}') {
        return false;
    }
    if (list_begins(r)) {
        list(r);
        return true;
    }
    for (;;) {
        ovl_cursor c = cursor_of(r);
        ovl_slice key;
        ovl_scan_value value;
        ovl_scan_result found = ovl_scan_member(&c, &key, &value);
        if (found == OVL_SCAN_DONE) {
            use_pair(r, key, &value);
            r->in->at += c.at - r->in->at;
            return true;
        }
        if (found != OVL_SCAN_MORE || !ovl_source_more(r->in)) {
            break;
        }
    }
    if (*r->in->at == '"' && skip_pair(r)) {
        return true;
    }
    if (r->events) {
        cut(r);
    }
    return false;
}

/* A list whose first item is an array of numbers: the raw memory timeline, rows of time, action,
 * change in bytes, category. */
static bool timeline_row(reader *r)
{
    ovl_cursor c = cursor_of(r);
    ovl_scan_value row, number;
    ovl_scan_result found = ovl_scan_value_next(&c, &row);
    if (found == OVL_SCAN_MORE && ovl_source_more(r->in)) {
        return true;
    }
    if (found != OVL_SCAN_DONE || row.kind != OVL_SCAN_ARRAY) {
        return false;
    }
    ovl_cursor in = {row.slice.text + 1, row.slice.text + row.slice.length, false};
    ovl_read_memory record = {.type = -1, .device = -1, .allocated = -1, .reserved = -1};
    int64_t numbers[4];
    for (size_t i = 0; i < 4; i++) {
        if (ovl_scan_value_next(&in, &number) != OVL_SCAN_DONE ||
            !ovl_scan_integer(&number, 0, &numbers[i])) {
            return false;
        }
    }
    record.change = numbers[2];
    if (r->sink->memory) {
        r->sink->memory(r->sink->context, &record);
    }
    r->about->n_records++;
    r->in->at += c.at - r->in->at;
    return true;
}

static bool timeline(reader *r)
{
    r->about->format = OVL_READ_TIMELINE;
    while (skip_blanks(r) && *r->in->at == '[') {
        if (!timeline_row(r)) {
            break;
        }
    }
    if (r->about->n_records && (r->in->at == r->in->end || *r->in->at != ']')) {
        cut(r);
    }
    return r->about->n_records > 0;
}

/* A file without an envelope: the list is the whole file. */
static bool bare_list(reader *r)
{
    r->in->at++;
    if (skip_blanks(r) && *r->in->at == '[') {
        return timeline(r);
    }
    list(r);
    return r->about->n_records > 0;
}

/* One document, where one begins. Ends behind it. False: it is no trace. */
static bool document(reader *r)
{
    r->events = false;
    if (*r->in->at == '[') {
        bool good = bare_list(r);
        r->in->at +=
            r->about->format == OVL_READ_TIMELINE && r->in->at < r->in->end && *r->in->at == ']';
        return good;
    }
    r->in->at++;
    while (pair(r)) {
    }
    r->in->at += r->in->at < r->in->end && *r->in->at == '}';
    return r->events;
}

static void leave_out(reader *r, uint64_t from)
{
    ovl_read_fault *behind = &r->about->faults.behind;
    uint64_t count = ovl_source_where(r->in, r->in->at) - from;
    behind->first = behind->count ? behind->first : from;
    behind->count += count;
}

static void leave_rest_out(reader *r)
{
    do {
        uint64_t from = ovl_source_where(r->in, r->in->at);
        r->in->at = r->in->end;
        leave_out(r, from);
    } while (ovl_source_more(r->in));
}

/* Documents that were put one behind another are more of the same trace, if they are of the same
 * rank and clock. */
static void further(reader *r)
{
    ovl_read_about *about = r->about;
    while (skip_blanks(r) && !about->refused) {
        const int64_t rank = about->rank, base = about->base;
        uint64_t from = ovl_source_where(r->in, r->in->at), records = about->n_records;
        if (*r->in->at != '{' && *r->in->at != '[') {
            leave_rest_out(r);
        } else if (!document(r) && about->n_records == records) {
            leave_out(r, from);
        } else {
            ovl_read_fault_at(&about->faults.more, from);
            if (about->rank != rank || about->base != base) {
                about->refused = ovl_arena_printf(
                    about->arena,
                    "the file holds several traces: that which begins at byte %" PRIu64
                    " is of another rank or clock than the one before; give each a file of its own",
                    from);
            }
        }
    }
}

bool ovl_read_kineto(ovl_source *source, const ovl_sink *sink, ovl_read_about *about)
{
    reader r = {.in = source, .sink = sink, .about = about};
    about->format = OVL_READ_KINETO;
    if (source->end - source->at >= 3 && memcmp(source->at, "\xEF\xBB\xBF", 3) == 0) {
        source->at += 3;
    }
    if (!skip_blanks(&r) || (*source->at != '{' && *source->at != '[') || !document(&r)) {
        return false;
    }
    further(&r);
    return true;
}
