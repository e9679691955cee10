/*
 * A CSV of intervals, for everything no other reader knows: one row an interval, the first line
 * names the columns, in any order.
 *
 *     kind,name,start_us,dur_us,device,stream,correlation
 *     launch,cudaLaunchKernel,0.5,3,,,7
 *     kernel,gemm,10,25.125,0,7,7
 *
 * start_UNIT and end_UNIT or dur_UNIT are needed, with UNIT one of ns, us, ms, s. `kind` is kernel
 * (also without the column), copy, set, launch or step. Further columns: name, device, stream,
 * correlation, process, bytes, rank. Unknown columns are ignored.
 */
#include "tools/decimal.h"
#include "tools/lines.h"

#include <string.h>

#define COLUMNS 64

typedef enum column {
    NONE,
    START,
    END,
    DURATION,
    KIND,
    NAME,
    DEVICE,
    STREAM,
    CORRELATION,
    PROCESS,
    BYTES,
    RANK,
    N_KINDS
} column;

typedef struct table {
    column columns[COLUMNS];
    int shift[COLUMNS]; /* of times, to ns */
    size_t n_columns;
} table;

static column column_of(ovl_slice name, int *shift)
{
    static const char *const words[N_KINDS] = {
        NULL,     "start",  "end",         "dur",     "kind",  "name",
        "device", "stream", "correlation", "process", "bytes", "rank",
    };
    static const struct {
        const char *end;
        int shift;
    } units[] = {{"_ns", 0}, {"_us", 3}, {"_ms", 6}, {"_s", 9}};
    for (int c = START; c < N_KINDS; c++) {
        if (c > DURATION && ovl_slice_is(name, words[c])) {
            return (column)c;
        }
        size_t n = strlen(words[c]);
        for (size_t u = 0; c <= DURATION && ovl_slice_starts(name, words[c]) && u < 4; u++) {
            if (ovl_slice_is((ovl_slice){name.text + n, name.length - n}, units[u].end)) {
                *shift = units[u].shift;
                return (column)c;
            }
        }
    }
    return NONE;
}

static bool heading(ovl_slice line, table *t)
{
    ovl_slice field;
    bool has[N_KINDS] = {false};
    *t = (table){.n_columns = 0};
    while (t->n_columns < COLUMNS && ovl_field_next(&line, &field)) {
        column is = column_of(field, &t->shift[t->n_columns]);
        t->columns[t->n_columns++] = is;
        has[is] = true;
    }
    return has[START] && (has[END] || has[DURATION]);
}

static bool numbers(const table *t, const ovl_slice *fields, int64_t value[N_KINDS],
                    bool has[N_KINDS])
{
    for (size_t i = 0; i < t->n_columns; i++) {
        column is = t->columns[i];
        bool time = is == START || is == END || is == DURATION;
        if (time || is == DEVICE || is == BYTES || is == RANK) {
            has[is] = ovl_decimal(fields[i].text, fields[i].length, t->shift[i], &value[is]);
        }
    }
    return has[START] && (has[END] || has[DURATION]);
}

static ovl_slice field_of(const table *t, const ovl_slice *fields, column which)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        if (t->columns[i] == which) {
            return fields[i];
        }
    }
    return (ovl_slice){0};
}

static uint64_t key(ovl_slice s)
{
    return s.length ? ovl_decimal_key(s.text, s.length) : 0;
}

static int64_t end_of(const int64_t value[N_KINDS], const bool has[N_KINDS], uint64_t where,
                      ovl_read_about *about)
{
    int64_t most = ((int64_t)1 << 62) - 1;
    int64_t length = has[END] ? value[END] - value[START] : value[DURATION];
    if (length < 0) {
        ovl_read_fault_at(&about->faults.negative, where);
        length = 0;
    }
    return length > most - value[START] ? most : value[START] + length;
}

static bool use(const table *t, const ovl_slice *fields, uint64_t where, const ovl_sink *sink,
                ovl_read_about *about)
{
    int64_t value[N_KINDS] = {0};
    bool has[N_KINDS] = {false};
    ovl_slice kind = field_of(t, fields, KIND), link = field_of(t, fields, CORRELATION);
    if (!numbers(t, fields, value, has)) {
        ovl_read_fault_at(&about->faults.no_time, where);
        return true;
    }
    if (!has[DEVICE] && field_of(t, fields, DEVICE).length) {
        ovl_read_fault_at(&about->faults.no_device, where);
        return true;
    }
    int64_t end = end_of(value, has, where, about);
    about->rank = has[RANK] ? value[RANK] : about->rank;
    bool launch = ovl_slice_is(kind, "launch");
    if (launch || ovl_slice_is(kind, "step")) {
        const ovl_read_host record = {
            .call = launch ? OVL_READ_LAUNCH : OVL_READ_STEP,
            .start = value[START],
            .end = end,
            .process = key(field_of(t, fields, PROCESS)),
            .key = key(link),
            .has_key = link.length > 0,
            .name = field_of(t, fields, NAME),
        };
        if (sink->host) {
            sink->host(sink->context, &record);
        }
        return true;
    }
    const ovl_read_device record = {
        .kind = ovl_slice_is(kind, "copy")  ? OVL_READ_COPY
                : ovl_slice_is(kind, "set") ? OVL_READ_SET
                                            : OVL_READ_KERNEL,
        .start = value[START],
        .end = end,
        .device = has[DEVICE] ? value[DEVICE] : 0,
        .stream = key(field_of(t, fields, STREAM)),
        .process = key(field_of(t, fields, PROCESS)),
        .key = key(link),
        .has_key = link.length > 0,
        .bytes = has[BYTES] ? value[BYTES] : -1,
        .name = field_of(t, fields, NAME),
    };
    bool known = kind.length == 0 || record.kind != OVL_READ_KERNEL || ovl_slice_is(kind, "kernel");
    if (known && sink->device) {
        sink->device(sink->context, &record);
    }
    return known;
}

bool ovl_read_intervals(ovl_source *source, const ovl_sink *sink, ovl_read_about *about)
{
    table t;
    ovl_slice line;
    about->format = OVL_READ_INTERVALS;
    if (!ovl_line_next(source, &line) || !heading(line, &t)) {
        return false;
    }
    for (;;) {
        uint64_t where = ovl_source_where(source, source->at);
        ovl_slice fields[COLUMNS] = {{0}};
        size_t n = 0;
        if (!ovl_line_next(source, &line)) {
            return true;
        }
        if (line.length == 0 || *line.text == '#') {
            continue;
        }
        while (n < COLUMNS && ovl_field_next(&line, &fields[n])) {
            n++;
        }
        if (n == t.n_columns && use(&t, fields, where, sink, about)) {
            about->n_records++;
        } else {
            ovl_read_fault_at(&about->faults.broken, where);
        }
    }
}
