/*
 * The schedule of a pipeline drawn with letters, where it fits the terminal: a row for each rank, a
 * column for so much time.
 *
 *     0  F0F1F2F3......B0--F4B1--
 *     1  ..F0F1F2....B0--F3B1--F4
 *
 * Where it does not fit, one line says why and how to see it.
 *
 * A kernel is its letter and its microbatch, as far as its columns hold them, and dashes to its
 * end. Where most kernels have room for their letter alone, microbatches stand in a row below:
 *
 *     0  FFFFFFFf.FIIWWfIIWW
 *        0123456067001100223
 */
#include "tools/report.h"
#include "tools/wrap.h"

#include "sim/units.h"

#include <string.h>

#define MOST_ROWS 16
#define WIDEST    4 /* columns of the shortest kernel */

typedef struct chart {
    const ovl_result *r;
    ovl_time column;   /* time of each */
    uint32_t columns;  /* of the step */
    uint32_t most;     /* columns that fit beside the numbers of the ranks */
    bool below;        /* microbatches have rows of their own */
    bool later_stages; /* some rank has several: the later ones are in lower case */
    bool used[OVL_PART_COUNT];
} chart;

static ovl_time divisor(ovl_time a, ovl_time b)
{
    while (b) {
        ovl_time rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#define NARROW "its shortest kernel would be less than a column"

/* Every start and end falls on a column if that fits; else the shortest kernel has one at least.
 * NULL, or why there are no such columns. */
static const char *find_columns(chart *c)
{
    ovl_time exact = 0, shortest = OVL_TIME_MAX;
    for (uint32_t i = 0; i < c->r->n_actions; i++) {
        const ovl_result_action *a = &c->r->actions[i];
        exact = divisor(divisor(exact, a->start), a->end);
        if (a->end > a->start) {
            shortest = OVL_MIN(shortest, a->end - a->start);
        }
    }
    if (shortest == OVL_TIME_MAX) {
        return "its kernels take no time";
    }
    exact = divisor(exact, c->r->step);
    c->column = c->r->step / exact <= c->most ? exact : (c->r->step + c->most - 1) / c->most;
    if (c->column > shortest) {
        return NARROW;
    }
    ovl_time times = OVL_MIN(c->most / (c->r->step / c->column), WIDEST * c->column / shortest);
    while (times > 1 && c->column % times) {
        times--;
    }
    c->column /= OVL_MAX(times, 1);
    c->columns = (uint32_t)((c->r->step + c->column - 1) / c->column);
    return c->columns <= c->most ? NULL : NARROW;
}

static char letter(const ovl_result_action *a, bool later)
{
    static const char letters[OVL_PART_COUNT] = {'?', 'F', 'B', 'I', 'W', 'X'};
    char l = letters[a->part];
    return later ? (char)(l - 'A' + 'a') : l;
}

/* A kernel has the columns whose middle lies in it. */
static uint32_t column_of(const chart *c, ovl_time t)
{
    return (uint32_t)((t + c->column / 2) / c->column);
}

/* The columns of a kernel: from, and how many. */
static uint32_t columns_of(const chart *c, const ovl_result_action *a, uint32_t *from)
{
    uint32_t to = OVL_MIN(column_of(c, a->end), c->columns);
    *from = column_of(c, a->start);
    return *from < to ? to - *from : 0;
}

static bool want_below(const chart *c)
{
    uint32_t from, bare = 0;
    for (uint32_t i = 0; i < c->r->n_actions; i++) {
        bare += columns_of(c, &c->r->actions[i], &from) <= 1;
    }
    return bare > c->r->n_actions / 2;
}

/* A rank's line, and the one of its microbatches if they have one. */
typedef struct lines {
    char *row, *below;
} lines;

static void draw(const chart *c, const ovl_result_action *a, bool later, const lines *to)
{
    char text[16];
    uint32_t from, room = columns_of(c, a, &from);
    if (room == 0) {
        return;
    }
    to->row[from] = letter(a, later);
    memset(&to->row[from + 1], '-', room - 1);
    char *place = c->below ? &to->below[from] : &to->row[from + 1];
    room -= !c->below;
    uint32_t digits = (uint32_t)snprintf(text, sizeof text, "%" PRIu32, a->microbatch);
    uint32_t n = OVL_MIN(room, digits);
    memcpy(place, text + digits - n, n); /* the last digits */
}

/* The stage that the rank runs first is not a later one. */
static uint32_t draw_rank(chart *c, uint32_t first, const lines *to)
{
    const ovl_result_action *a = c->r->actions;
    uint32_t lowest = a[first].stage, i = first;
    for (; i < c->r->n_actions && a[i].rank == a[first].rank; i++) {
        lowest = OVL_MIN(lowest, a[i].stage);
    }
    memset(to->row, '.', c->columns);
    memset(to->below, ' ', c->columns);
    for (i = first; i < c->r->n_actions && a[i].rank == a[first].rank; i++) {
        c->later_stages |= a[i].stage != lowest;
        c->used[a[i].part] = true;
        draw(c, &a[i], a[i].stage != lowest, to);
    }
    uint32_t end = c->columns;
    while (end > 0 && to->below[end - 1] == ' ') {
        end--;
    }
    to->row[c->columns] = to->below[end] = 0;
    return i;
}

static void legend(ovl_out *out, const chart *c, ovl_arena *arena)
{
    static const char *const words[OVL_PART_COUNT] = {
        NULL,
        "F forward",
        "B backward",
        "I backward of the input",
        "W backward of the weights",
        "X a forward and a backward together",
    };
    char buf[OVL_UNITS_TEXT];
    const char *text = ovl_arena_printf(arena, "a column is %s;", ovl_print_time(buf, c->column));
    for (int k = 1; k < OVL_PART_COUNT; k++) {
        if (c->used[k]) {
            text = ovl_arena_printf(arena, "%s %s,", text, words[k]);
        }
    }
    text = ovl_arena_printf(arena, "%s and %sthe microbatch, as far as it fits; . idle%s", text,
                            c->below ? "below it " : "",
                            c->later_stages ? "; lower case: a later stage of the rank" : "");
    ovl_wrap(out, "  ", 2, text, OVL_MIN(out->width, OVL_TERMINAL));
}

static uint32_t count_ranks(const ovl_result *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_actions; i++) {
        n += i == 0 || r->actions[i].rank != r->actions[i - 1].rank;
    }
    return n;
}

/* Why there is no chart, and what shows the schedule anyway. */
static void tell_missing(ovl_out *out, const char *why, const char *wider)
{
    ovl_arena arena = {0};
    ovl_out_title(out, "\nSchedule");
    ovl_wrap(out, "  ", 2,
             ovl_arena_printf(&arena, "not drawn: %s; %sovl report and ovl export --trace show it",
                              why, wider),
             OVL_MIN(out->width, OVL_TERMINAL));
    ovl_arena_free(&arena);
}

void ovl_report_chart(ovl_out *out, const ovl_result *result)
{
    chart c = {.r = result};
    if (result->n_actions == 0) {
        return;
    }
    if (count_ranks(result) > MOST_ROWS) {
        tell_missing(out, "it has more rows than 16", "");
        return;
    }
    int width = snprintf(NULL, 0, "%" PRIu32, result->actions[result->n_actions - 1].rank);
    uint32_t beside = (uint32_t)width + 4;
    c.most = out->width > beside ? out->width - beside : 0;
    const char *why = c.most ? find_columns(&c) : NARROW;
    if (why) {
        tell_missing(out, why, strcmp(why, NARROW) == 0 ? "a wider terminal, " : "");
        return;
    }
    c.below = want_below(&c);
    ovl_arena arena = {0};
    lines to = {OVL_NEW_ARRAY(&arena, char, c.columns + 1),
                OVL_NEW_ARRAY(&arena, char, c.columns + 1)};
    ovl_out_title(out, "\nSchedule");
    for (uint32_t i = 0; i < result->n_actions;) {
        uint32_t rank = result->actions[i].rank;
        i = draw_rank(&c, i, &to);
        ovl_out_printf(out, "  %*" PRIu32 "  %s\n", width, rank, to.row);
        if (c.below) {
            ovl_out_printf(out, "  %*s  %s\n", width, "", to.below);
        }
    }
    legend(out, &c, &arena);
    ovl_arena_free(&arena);
}
