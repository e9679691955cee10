/*
 * What nccl-tests prints: a table whose heading names its columns, and remarks behind `#`.
 *
 *     #       size         count      type   redop    root     time   algbw   busbw #wrong     time
 * ... #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)
 * ... 33554432       8388608     float     sum      -1   1021.3   32.85   57.49      0   1018.5 ...
 *
 * Columns came and went over the years ("redop", "root", "#wrong" was "error"), so they are found
 * by their names; the second "time" is in place. Bandwidths are not read: they follow from bytes
 * and time, which are more exact.
 */
#include "tools/decimal.h"
#include "tools/lines.h"

#include <ctype.h>
#include <string.h>

#define COLUMNS 24

typedef enum column { NONE, SIZE, COUNT, TYPE, REDOP, TIME, WRONG } column;

typedef struct table {
    column columns[COLUMNS];
    size_t n_columns;
} table;

static column column_of(ovl_slice word)
{
    static const struct {
        const char *name;
        column is;
    } names[] = {
        {"size", SIZE}, {"count", COUNT},  {"type", TYPE},   {"redop", REDOP},
        {"time", TIME}, {"#wrong", WRONG}, {"error", WRONG}, {"wrong", WRONG},
    };
    for (size_t i = 0; i < OVL_COUNT(names); i++) {
        if (ovl_slice_is(word, names[i].name)) {
            return names[i].is;
        }
    }
    return NONE;
}

/* "#  size  count  type ...": a heading has a size and a time. */
static bool heading(ovl_slice line, table *t)
{
    ovl_slice word;
    table found = {.n_columns = 0};
    bool size = false, time = false;
    while (found.n_columns < COLUMNS && ovl_word_next(&line, &word)) {
        if (ovl_slice_is(word, "#")) {
            continue;
        }
        if (*word.text == '#' && found.n_columns == 0) {
            word = (ovl_slice){word.text + 1, word.length - 1};
        }
        column is = column_of(word);
        found.columns[found.n_columns++] = is;
        size |= is == SIZE;
        time |= is == TIME;
    }
    if (size && time) {
        *t = found;
    }
    return size && time;
}

static void text(ovl_read_about *about, ovl_slice name)
{
    about->operation = ovl_arena_strndup(about->arena, name.text, OVL_MIN(name.length, 64));
}

/* "# Collective test starting: all_reduce_perf"; "# Using devices"; "#  Rank  0 Group ...". */
static void remark(ovl_slice line, ovl_read_about *about)
{
    ovl_slice word;
    while (ovl_word_next(&line, &word)) {
        if (ovl_slice_is(word, "Rank") && ovl_word_next(&line, &word)) {
            int64_t rank;
            if (ovl_decimal(word.text, word.length, 0, &rank) && rank >= 0) {
                about->n_ranks = OVL_MAX(about->n_ranks, rank + 1);
            }
            return;
        }
        if (word.length > 5 && memcmp(word.text + word.length - 5, "_perf", 5) == 0) {
            text(about, (ovl_slice){word.text, word.length - 5});
            return;
        }
    }
}

static bool number(ovl_slice word, int shift, int64_t *out)
{
    return ovl_decimal(word.text, word.length, shift, out);
}

static bool cell(column is, ovl_slice word, ovl_read_row *row, unsigned *times, unsigned *wrongs)
{
    switch (is) {
    case SIZE:
        return number(word, 0, &row->bytes) && row->bytes >= 0;
    case COUNT:
        return number(word, 0, &row->count);
    case TIME:
        return *times < 2 && number(word, 3, &row->time[(*times)++]);
    case WRONG: /* may be N/A */
        if (*wrongs < 2) {
            number(word, 0, &row->wrong[(*wrongs)++]);
        }
        return true;
    case TYPE:
        row->type = word;
        return true;
    case REDOP:
        row->redop = word;
        return true;
    case NONE:
        break;
    }
    return true;
}

/* Operations without a reduction leave "redop" and "root" empty, or write "none" and "-1": a row
 * that is short of words lacks those. */
static bool row_of(ovl_slice line, const table *t, ovl_read_row *row)
{
    ovl_slice words[COLUMNS];
    size_t n = 0;
    while (n < COLUMNS && ovl_word_next(&line, &words[n])) {
        n++;
    }
    if (n == 0 || n > t->n_columns) {
        return false;
    }
    size_t missing = t->n_columns - n, at = 0;
    unsigned times = 0, wrongs = 0;
    *row = (ovl_read_row){.bytes = -1, .count = -1, .time = {-1, -1}, .wrong = {-1, -1}};
    for (size_t i = 0; i < t->n_columns && at < n; i++) {
        bool optional = t->columns[i] == REDOP || (t->columns[i] == NONE && times == 0);
        if (missing && optional) {
            missing--;
        } else if (!cell(t->columns[i], words[at++], row, &times, &wrongs)) {
            return false;
        }
    }
    return row->bytes >= 0 && times > 0;
}

static bool is_remark(ovl_slice line)
{
    while (line.length && isspace((unsigned char)*line.text)) {
        line = (ovl_slice){line.text + 1, line.length - 1};
    }
    return line.length == 0 || *line.text == '#';
}

bool ovl_read_nccl_tests(ovl_source *source, const ovl_sink *sink, ovl_read_about *about)
{
    ovl_slice line;
    table t = {.n_columns = 0};
    about->format = OVL_READ_NCCL_TESTS;
    for (;;) {
        uint64_t where = ovl_source_where(source, source->at);
        if (!ovl_line_next(source, &line)) {
            break;
        }
        ovl_read_row row;
        if (heading(line, &t)) {
            continue;
        }
        if (is_remark(line)) {
            remark(line, about);
        } else if (t.n_columns && row_of(line, &t, &row)) {
            about->n_records++;
            if (sink->row) {
                sink->row(sink->context, &row);
            }
        } else if (t.n_columns) {
            ovl_read_fault_at(&about->faults.broken, where);
        }
    }
    return t.n_columns > 0;
}
