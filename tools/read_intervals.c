/*
 * A CSV of intervals, for everything no other reader knows: one row an interval, the first line
 * names the columns, in any order.
 *
 *     kind,name,start_us,dur_us,device,stream,correlation
 *     launch,cudaLaunchKernel,0.5,3,,,7
 *     kernel,gemm,10,25.125,0,7,7
 *
 * start_UNIT and end_UNIT or dur_UNIT are needed, with UNIT one of ns, us, ms, s; of all three, end
 * and duration must agree. `kind` is kernel (also without the column), copy, set, launch or step.
 * Further columns: name, device, stream, correlation, process, bytes (of a copy or a collective),
 * rank. Unknown columns are ignored; two columns for one thing are an error.
 *
 * Devices are told apart by rank and device. A device whose number another rank has already gets
 * the next free one; without the column of devices, its rank is its number.
 */
#include "sim/vec.h"
#include "tools/decimal.h"
#include "tools/lines.h"

#include <string.h>

#define COLUMNS     64
#define MOST_PLACES 4096

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

/* A device of a rank, and the number by which it is known. */
typedef struct place {
    int64_t rank, device, number;
} place;

typedef struct table {
    column columns[COLUMNS];
    int shift[COLUMNS]; /* of times, to ns */
    size_t n_columns;
    uint64_t line; /* that is read, from 1 on */
    OVL_VEC(place) places;
    bool any_rank;
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

static bool heading(ovl_slice line, table *t, ovl_read_about *about)
{
    ovl_slice field, of[N_KINDS];
    bool has[N_KINDS] = {false};
    *t = (table){.line = 1};
    while (t->n_columns < COLUMNS && ovl_field_next(&line, &field)) {
        column is = column_of(field, &t->shift[t->n_columns]);
        t->columns[t->n_columns++] = is;
        if (is != NONE && has[is] && !about->refused) {
            about->refused =
                ovl_arena_printf(about->arena, "two columns say the same: %.*s and %.*s",
                                 (int)of[is].length, of[is].text, (int)field.length, field.text);
        }
        has[is] = true;
        of[is] = field;
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

/* An end and a duration that say different things: texts are rounded, so 2 ns or a thousandth. */
static bool agree(const int64_t value[N_KINDS], const bool has[N_KINDS])
{
    if (!has[END] || !has[DURATION]) {
        return true;
    }
    const int64_t least = value[END] - value[START] - value[DURATION];
    return (least < 0 ? -least : least) <= OVL_MAX(2, value[DURATION] / 1000);
}

/* The number of a device of a rank (-1: not told); MOST_PLACES of them are told apart. */
static int64_t number_of(table *t, int64_t rank, int64_t device)
{
    bool taken = false;
    int64_t most = -1;
    for (uint32_t i = t->places.len; i > 0; i--) {
        const place *p = &t->places.data[i - 1];
        if (p->rank == rank && p->device == device) {
            return p->number;
        }
        taken |= p->number == device;
        most = OVL_MAX(most, p->number);
    }
    if (t->places.len == MOST_PLACES || rank < 0) {
        return device;
    }
    place fresh = {rank, device, taken && most < INT64_MAX ? most + 1 : device};
    ovl_vec_push(&t->places, fresh);
    return fresh.number;
}

/* One rank is that of the file; several are those of their devices. */
static void note_rank(table *t, ovl_read_about *about, int64_t rank)
{
    about->rank = !t->any_rank || about->rank == rank ? rank : -1;
    t->any_rank = true;
}

static bool use(table *t, const ovl_slice *fields, uint64_t where, const ovl_sink *sink,
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
    if (!agree(value, has)) {
        about->refused = ovl_arena_printf(
            about->arena,
            "line %" PRIu64 ": end and duration disagree: from %" PRId64 " ns to %" PRId64
            " ns are %" PRId64 " ns, and the duration says %" PRId64 " ns; leave one column out",
            t->line, value[START], value[END], value[END] - value[START], value[DURATION]);
        return true;
    }
    int64_t end = end_of(value, has, where, about);
    has[RANK] = has[RANK] && value[RANK] >= 0;
    int64_t rank = has[RANK] ? value[RANK] : -1;
    if (has[RANK]) {
        note_rank(t, about, rank);
    }
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
        .device = number_of(t, rank,
                            has[DEVICE] ? value[DEVICE]
                            : has[RANK] ? rank
                                        : 0),
        .has_rank = has[RANK],
        .rank = rank,
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
    if (!ovl_line_next(source, &line) || !heading(line, &t, about)) {
        return false;
    }
    while (!about->refused) {
        uint64_t where = ovl_source_where(source, source->at);
        ovl_slice fields[COLUMNS] = {{0}};
        size_t n = 0;
        if (!ovl_line_next(source, &line)) {
            break;
        }
        t.line++;
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
    ovl_vec_free(&t.places);
    return true;
}
