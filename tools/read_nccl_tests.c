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
 *
 * A log may hold several runs, one behind another: what a run prints first (its version, "nThread",
 * "Collective test starting", "Using devices", its ranks, or the command a script echoed) begins
 * another one as soon as the one before has rows. What a launcher puts before each line is passed
 * over, and remarks may have lost their `#`. Rows without any heading are taken in today's order.
 */
#include "tools/decimal.h"
#include "tools/lines.h"

#include <ctype.h>
#include <string.h>

#define COLUMNS    24
#define MOST_RANKS ((int64_t)1 << 32)

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

typedef struct reader {
    table t;
    const ovl_sink *sink;
    ovl_read_about *about;
    uint32_t run;
    uint64_t rows;         /* of this run */
    bool in_table;         /* what comes now should be rows */
    const char *operation; /* of this run; NULL: not told */
    int64_t n_ranks;       /* likewise; -1 */
} reader;

/* What is the same for all runs is what the file says. */
static void end_run(reader *r)
{
    const char *known = r->about->operation;
    if (r->run == 0) {
        r->about->operation = r->operation;
        r->about->n_ranks = r->n_ranks;
    } else if (r->rows) {
        bool same = known && r->operation && strcmp(known, r->operation) == 0;
        r->about->operation = same ? known : NULL;
        r->about->n_ranks = r->about->n_ranks == r->n_ranks ? r->n_ranks : -1;
    }
}

/* Something that stands at the head of a run: of the next one, if this one has rows. */
static void head(reader *r)
{
    if (r->rows) {
        end_run(r);
        r->run++;
        r->rows = 0;
        r->operation = NULL;
        r->n_ranks = -1;
    }
    r->in_table = false;
}

/* "all_reduce" of "./build/all_reduce_perf"; empty: it is no name of a test. */
static ovl_slice test_of(ovl_slice word)
{
    static const char end[] = "_perf";
    const size_t n = sizeof end - 1;
    if (word.length <= n || memcmp(word.text + word.length - n, end, n) != 0) {
        return (ovl_slice){0};
    }
    word.length -= n;
    for (size_t i = word.length; i > 0; i--) {
        if (word.text[i - 1] == '/') {
            return (ovl_slice){word.text + i, word.length - i};
        }
    }
    return word;
}

/* "# Collective test starting: all_reduce_perf"; "# Using devices"; "#  Rank  0 Group ...";
 * "# Collective test concluded: all_reduce_perf", which begins nothing. */
static void remark(reader *r, ovl_slice line)
{
    ovl_slice word;
    bool over = false;
    for (unsigned i = 0; ovl_word_next(&line, &word); i++) {
        ovl_slice test = test_of(word);
        if (ovl_slice_is(word, "#")) {
            i--;
        } else if (i == 0 && ovl_slice_is(word, "Rank") && ovl_word_next(&line, &word)) {
            int64_t rank;
            head(r);
            if (ovl_decimal(word.text, word.length, 0, &rank) && rank >= 0 && rank < MOST_RANKS) {
                r->n_ranks = OVL_MAX(r->n_ranks, rank + 1);
            }
            return;
        } else if (i == 0 && (ovl_slice_is(word, "nThread") || ovl_slice_is(word, "nccl-tests") ||
                              ovl_slice_is(word, "Using"))) {
            head(r);
        } else if (test.length) {
            if (!over) {
                head(r);
            }
            if (!over || !r->operation) {
                r->operation =
                    ovl_arena_strndup(r->about->arena, test.text, OVL_MIN(test.length, 64));
            }
            return;
        }
        over |= ovl_slice_is(word, "concluded:");
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

/* Types as nccl-tests names them. */
static bool is_type(ovl_slice word)
{
    static const char *const names[] = {"int8",   "uint8",  "int32",    "uint32",  "int64",
                                        "uint64", "half",   "float",    "double",  "bfloat16",
                                        "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"};
    for (size_t i = 0; i < OVL_COUNT(names); i++) {
        if (ovl_slice_is(word, names[i])) {
            return true;
        }
    }
    return false;
}

/* A row whose heading is not in the file: size, count, type, redop, root, then time, algbw, busbw
 * and wrong results once or twice. */
static bool bare_row(reader *r, ovl_slice line, ovl_read_row *row)
{
    static const table today = {.columns = {SIZE, COUNT, TYPE, REDOP, NONE, TIME, NONE, NONE, WRONG,
                                            TIME, NONE, NONE, WRONG},
                                .n_columns = 13};
    table t = today;
    size_t n = 0;
    ovl_slice rest = line, word, type = {0};
    while (ovl_word_next(&rest, &word)) {
        type = n++ == 2 ? word : type;
    }
    if ((n != 13 && n != 9) || !is_type(type)) {
        return false;
    }
    t.n_columns = n;
    if (!row_of(line, &t, row)) {
        return false;
    }
    r->t = t;
    r->about->faults.no_heading = true;
    return true;
}

/* `#` begins one, and so do the words a remark begins with where the `#` was lost. */
static bool is_remark(ovl_slice line)
{
    static const char *const begins[] = {"#",     "nThread", "nccl-tests",  "Collective",
                                         "Using", "Rank",    "(B)",         "Out",
                                         "Avg",   "NCCL",    "out-of-place"};
    ovl_slice word, rest = line;
    if (!ovl_word_next(&rest, &word)) {
        return true;
    }
    for (size_t i = 0; i < OVL_COUNT(begins); i++) {
        if (i == 0 ? *word.text == '#' : ovl_slice_is(word, begins[i])) {
            return true;
        }
    }
    do {
        if (test_of(word).length) {
            return true; /* a command that was echoed */
        }
    } while (ovl_word_next(&rest, &word));
    return false;
}

static void give(reader *r, ovl_read_row *row)
{
    row->run = r->run;
    row->n_ranks = OVL_MAX(r->n_ranks, 0);
    if (r->operation) {
        row->operation = (ovl_slice){r->operation, strlen(r->operation)};
    }
    r->rows++;
    r->in_table = true;
    r->about->n_records++;
    if (r->sink->row) {
        r->sink->row(r->sink->context, row);
    }
}

static void use(reader *r, ovl_slice line, uint64_t where)
{
    ovl_read_row row;
    if (heading(line, &r->t)) {
        r->in_table = true;
    } else if (is_remark(line)) {
        r->in_table &= r->rows == 0;
        remark(r, line);
    } else if (r->t.n_columns ? row_of(line, &r->t, &row) : bare_row(r, line, &row)) {
        give(r, &row);
    } else if (r->in_table) {
        ovl_read_fault_at(&r->about->faults.broken, where);
    }
}

bool ovl_read_nccl_tests(ovl_source *source, const ovl_sink *sink, ovl_read_about *about)
{
    ovl_slice line;
    reader r = {.sink = sink, .about = about, .n_ranks = -1};
    about->format = OVL_READ_NCCL_TESTS;
    for (;;) {
        uint64_t where = ovl_source_where(source, source->at);
        if (!ovl_line_next(source, &line)) {
            break;
        }
        size_t prefix = ovl_launcher_prefix(line);
        use(&r, (ovl_slice){line.text + prefix, line.length - prefix}, where);
    }
    end_run(&r);
    if (r.run == 0 && !about->operation) {
        about->operation = ovl_read_operation_of(source->path);
    }
    return r.t.n_columns > 0;
}
