/*
 * The schedule of a pipeline drawn with letters, where it fits the terminal: a row for each rank, a
 * column for so much time.
 *
 *     0  F0F1F2F3......B0--F4B1--
 *     1  ..F0F1F2....B0--F3B1--F4
 *
 * A kernel is its letter and its microbatch, as far as its columns hold them, and dashes to its
 * end.
 */
#include "tools/report.h"
#include "tools/wrap.h"

#include "sim/units.h"

#define MOST_ROWS    16
#define MOST_COLUMNS 84 /* beside a rank number of ten digits */
#define WIDEST       4  /* columns of the shortest kernel */

typedef struct chart {
    const ovl_result *r;
    ovl_time column;   /* time of each */
    uint32_t columns;  /* of the step */
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

/* Every start and end falls on a column if that fits; else the shortest kernel has one at least. */
static bool find_columns(chart *c)
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
        return false;
    }
    exact = divisor(exact, c->r->step);
    c->column =
        c->r->step / exact <= MOST_COLUMNS ? exact : (c->r->step + MOST_COLUMNS - 1) / MOST_COLUMNS;
    if (c->column > shortest) {
        return false;
    }
    ovl_time times =
        OVL_MIN(MOST_COLUMNS / (c->r->step / c->column), WIDEST * c->column / shortest);
    c->column /= c->column % OVL_MAX(times, 1) == 0 ? OVL_MAX(times, 1) : 1;
    c->columns = (uint32_t)((c->r->step + c->column - 1) / c->column);
    return c->columns <= MOST_COLUMNS;
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

static void draw(const chart *c, const ovl_result_action *a, bool later, char *row)
{
    char text[16];
    uint32_t from = column_of(c, a->start), to = OVL_MIN(column_of(c, a->end), c->columns);
    if (from >= to) {
        return;
    }
    int digits = snprintf(text, sizeof text, "%" PRIu32, a->microbatch);
    uint32_t room = to - from - 1, n = OVL_MIN(room, (uint32_t)digits);
    row[from] = letter(a, later);
    memset(&row[from + 1], '-', room);
    memcpy(&row[from + 1], text + (uint32_t)digits - n, n); /* the last digits */
}

/* The stage that the rank runs first is not a later one. */
static uint32_t draw_rank(chart *c, uint32_t first, char *row)
{
    const ovl_result_action *a = c->r->actions;
    uint32_t lowest = a[first].stage, i = first;
    for (; i < c->r->n_actions && a[i].rank == a[first].rank; i++) {
        lowest = OVL_MIN(lowest, a[i].stage);
    }
    memset(row, '.', c->columns);
    row[c->columns] = 0;
    for (i = first; i < c->r->n_actions && a[i].rank == a[first].rank; i++) {
        c->later_stages |= a[i].stage != lowest;
        c->used[a[i].part] = true;
        draw(c, &a[i], a[i].stage != lowest, row);
    }
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
    text = ovl_arena_printf(arena, "%s and the microbatch, as far as it fits; . idle%s", text,
                            c->later_stages ? "; lower case: a later stage of the rank" : "");
    ovl_wrap(out, "  ", 2, text, OVL_TERMINAL);
}

static uint32_t count_ranks(const ovl_result *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_actions; i++) {
        n += i == 0 || r->actions[i].rank != r->actions[i - 1].rank;
    }
    return n;
}

void ovl_report_chart(ovl_out *out, const ovl_result *result)
{
    chart c = {.r = result};
    char row[MOST_COLUMNS + 1];
    if (result->n_actions == 0 || count_ranks(result) > MOST_ROWS || !find_columns(&c)) {
        return;
    }
    ovl_arena arena = {0};
    ovl_out_title(out, "\nSchedule");
    int width = snprintf(NULL, 0, "%" PRIu32, result->actions[result->n_actions - 1].rank);
    for (uint32_t i = 0; i < result->n_actions;) {
        uint32_t rank = result->actions[i].rank;
        i = draw_rank(&c, i, row);
        ovl_out_printf(out, "  %*" PRIu32 "  %s\n", width, rank, row);
    }
    legend(out, &c, &arena);
    ovl_arena_free(&arena);
}
