/*
 * A CSV of transfers: one row a message size, with one or several measured times.
 *
 *     size_bytes,time_us,algbw_GBps,time_inplace_us
 *     1048576,63.82,16.43,64.06
 *
 * The size is `size_bytes`, `bytes` or `size`, in bytes or with a unit ("1 MiB"). Times are columns
 * that begin with `time` and have a unit among their words (_ns, _us, _ms, _s). `time_us` is out of
 * place and `time_inplace_us` in place, as nccl-tests have them; another word names a series of its
 * own: `time_torch_us` is the series "torch". Other columns are ignored: bandwidths follow from
 * size and time. The operation is taken from the file's name.
 */
#include "sim/units.h"
#include "tools/comm_names.h"
#include "tools/decimal.h"
#include "tools/lines.h"

#include <string.h>

#define COLUMNS    64
#define NAME_BYTES 64
#define IN_PLACE   "inplace"

typedef enum column { NONE, SIZE, TIME } column;

typedef struct table {
    column columns[COLUMNS];
    int shift[COLUMNS];               /* of times, to ns */
    char series[COLUMNS][NAME_BYTES]; /* of times */
    size_t n_columns;
} table;

static bool unit_word(const char *word, int *shift)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(word, units[i]) == 0) {
            *shift = 3 * i;
            return true;
        }
    }
    return false;
}

static void append(char *series, const char *word)
{
    size_t n = strlen(series), more = strlen(word);
    if (n + more + 2 < NAME_BYTES) {
        memcpy(series + n + (n > 0), word, more + 1);
        series[n] = n ? '_' : series[n];
    }
}

/* The words of "time_torch_us_derived": a unit, words that say nothing, the name of the series. */
static column time_column(const char *name, int *shift, char *series)
{
    char text[NAME_BYTES];
    bool unit = false;
    char *rest = text;
    memcpy(text, name, strlen(name) + 1);
    series[0] = '\0';
    for (char *word = strtok_r(text, "_", &rest); word; word = strtok_r(NULL, "_", &rest)) {
        if (!unit && unit_word(word, shift)) {
            unit = true;
        } else if (strcmp(word, "time") != 0 && strcmp(word, "derived") != 0) {
            append(series, word);
        }
    }
    return unit ? TIME : NONE;
}

static column column_of(ovl_slice field, int *shift, char *series)
{
    char name[NAME_BYTES];
    size_t n = OVL_MIN(field.length, NAME_BYTES - 1);
    memcpy(name, field.text, n);
    name[n] = '\0';
    if (strcmp(name, "size_bytes") == 0 || strcmp(name, "bytes") == 0 ||
        strcmp(name, "size") == 0) {
        return SIZE;
    }
    return strncmp(name, "time", 4) == 0 ? time_column(name, shift, series) : NONE;
}

static bool heading(ovl_slice line, table *t)
{
    ovl_slice field;
    bool has[] = {false, false, false};
    t->n_columns = 0;
    while (t->n_columns < COLUMNS && ovl_field_next(&line, &field)) {
        size_t i = t->n_columns++;
        t->columns[i] = field.text ? column_of(field, &t->shift[i], t->series[i]) : NONE;
        has[t->columns[i]] = true;
    }
    return has[SIZE] && has[TIME];
}

static bool read_size(ovl_slice field, int64_t *bytes)
{
    char text[NAME_BYTES];
    uint64_t value;
    if (ovl_decimal(field.text, field.length, 0, bytes)) {
        return *bytes > 0;
    }
    size_t n = OVL_MIN(field.length, NAME_BYTES - 1);
    memcpy(text, field.text, n);
    text[n] = '\0';
    if (ovl_read_bytes(text, &value) || value == 0 || value > INT64_MAX) {
        return false;
    }
    *bytes = (int64_t)value;
    return true;
}

/* Both columns of nccl-tests make one row; every other series has rows of its own. */
static bool use(const table *t, const ovl_slice *fields, const ovl_sink *sink)
{
    ovl_read_row row = {.bytes = -1, .count = -1, .time = {-1, -1}, .wrong = {-1, -1}};
    bool any = false;
    for (size_t i = 0; i < t->n_columns; i++) {
        if (t->columns[i] == SIZE && !read_size(fields[i], &row.bytes)) {
            return false;
        }
    }
    ovl_read_row plain = row;
    for (size_t i = 0; i < t->n_columns; i++) {
        int64_t time;
        if (t->columns[i] != TIME || !fields[i].text || fields[i].length == 0) {
            continue;
        }
        if (!ovl_decimal(fields[i].text, fields[i].length, t->shift[i], &time) || time <= 0) {
            return false;
        }
        bool in_place = strcmp(t->series[i], IN_PLACE) == 0;
        any = true;
        if (in_place || t->series[i][0] == '\0') {
            plain.time[in_place] = time;
        } else if (sink->row) {
            row.time[0] = time;
            row.series = (ovl_slice){t->series[i], strlen(t->series[i])};
            sink->row(sink->context, &row);
        }
    }
    if (sink->row && (plain.time[0] >= 0 || plain.time[1] >= 0)) {
        sink->row(sink->context, &plain);
    }
    return any;
}

/* "handout_nccl_allreduce_8xa100.csv": an all_reduce. */
const char *ovl_read_operation_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *op = ovl_comm_op_name((ovl_slice){name, strlen(name)});
    return strcmp(op, "other") == 0 ? NULL : op;
}

bool ovl_read_sizes(ovl_source *source, const ovl_sink *sink, ovl_read_about *about)
{
    table t;
    ovl_slice line;
    about->format = OVL_READ_SIZES;
    if (!ovl_line_next(source, &line) || !heading(line, &t)) {
        return false;
    }
    about->operation = ovl_read_operation_of(source->path);
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
        if (n == t.n_columns && use(&t, fields, sink)) {
            about->n_records++;
        } else {
            ovl_read_fault_at(&about->faults.broken, where);
        }
    }
}
