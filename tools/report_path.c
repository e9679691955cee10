/* The critical path as text: merged where one stream simply went on, cut in the middle where it is
 * still long, with what was cut summed so that the path still adds up to the step. What repeats
 * itself has a line from where it first begins to where it last ends, and takes what it takes in
 * all. */
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/scale.h"
#include "tools/wrap.h"

#include "sim/units.h"

#include <string.h>

#define MOST_LINES  24
#define TAIL_LINES  14 /* of those at the end, which is where a step is decided */
#define SPARE_LINES 4  /* so few more are shown all the same */

typedef struct line {
    const ovl_result_path *first, *last;
    uint64_t n;
    ovl_time before, time; /* of the path until it, and of it */
} line;

/* Of one block that repeats itself, or of none. */
static bool comes_with(const ovl_result_path *a, const ovl_result_path *b)
{
    return a->again == b->again && a->every == b->every;
}

static bool follows_on_stream(const ovl_result_path *a, const ovl_result_path *b)
{
    return a->rank == b->rank && strcmp(a->stream, b->stream) == 0 && comes_with(a, b) &&
           strncmp(b->why, "stream", strlen("stream")) == 0;
}

static uint32_t merge(const ovl_result *result, line *lines, bool all)
{
    uint32_t n = 0;
    ovl_time before = 0;
    for (uint32_t i = 0; i < result->n_path; i++) {
        const ovl_result_path *item = &result->path[i];
        if (all && n && follows_on_stream(lines[n - 1].last, item)) {
            lines[n - 1].last = item;
        } else {
            lines[n++] = (line){.first = item, .last = item, .before = before};
        }
        lines[n - 1].n += (uint64_t)item->again + 1;
        lines[n - 1].time += ovl_path_time(item);
        before += ovl_path_time(item);
    }
    return n;
}

static ovl_time last_end(const ovl_result_path *item)
{
    return item->end + (ovl_time)item->again * item->every;
}

static const char *what(ovl_arena *arena, const line *l)
{
    char every[OVL_UNITS_TEXT];
    if (l->n == 1) {
        return l->first->op;
    }
    if (l->first == l->last) {
        return ovl_arena_printf(arena, "%s (%" PRIu64 " times, every %s)", l->first->op, l->n,
                                ovl_print_time(every, l->first->every));
    }
    return ovl_arena_printf(arena, "%s .. %s (%" PRIu64 ")", l->first->op, l->last->op, l->n);
}

static const char *shown(ovl_arena *arena, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_scale_show(buf, scale, t));
}

/* The difference of what the path is shown to have taken before and after, so that the column adds
 * up. */
static const char *took(ovl_arena *arena, const ovl_scale *scale, const line *from, const line *to)
{
    return shown(arena, scale,
                 ovl_scale_round(scale, to->before + to->time) -
                     ovl_scale_round(scale, from->before));
}

static void add_line(ovl_grid *grid, const line *l, const ovl_scale *scale, ovl_arena *arena)
{
    const char *cells[] = {
        shown(arena, scale, l->first->start),
        shown(arena, scale, last_end(l->last)),
        took(arena, scale, l, l),
        ovl_arena_printf(arena, "%" PRIu32, l->first->rank),
        l->first->stream,
        what(arena, l),
        l->first->why,
    };
    ovl_grid_row(grid, cells);
}

static void add_gap(ovl_grid *grid, const line *from, const line *to, const ovl_scale *scale,
                    ovl_arena *arena)
{
    const char *cells[] = {
        shown(arena, scale, from->first->start),
        shown(arena, scale, last_end(to->last)),
        took(arena, scale, from, to),
        "",
        "",
        ovl_arena_printf(arena, "... %d lines more: --json", (int)(to - from) + 1),
        "",
    };
    ovl_grid_row(grid, cells);
}

static void add_lines(ovl_grid *grid, const line *lines, uint32_t n, const ovl_scale *scale,
                      ovl_arena *arena)
{
    bool cut = n > MOST_LINES + SPARE_LINES;
    uint32_t head = cut ? MOST_LINES - TAIL_LINES : n;
    uint32_t tail = cut ? n - TAIL_LINES : n;
    for (uint32_t i = 0; i < head; i++) {
        add_line(grid, &lines[i], scale, arena);
    }
    if (tail > head) {
        add_gap(grid, &lines[head], &lines[tail - 1], scale, arena);
    }
    for (uint32_t i = tail; i < n; i++) {
        add_line(grid, &lines[i], scale, arena);
    }
}

void ovl_report_path(ovl_out *out, const ovl_result *result)
{
    static const ovl_column columns[] = {
        {"start", false, false, 0},          {"end", false, false, 0},
        {"took", false, false, 0},           {"rank", false, false, 0},
        {"stream", true, true, 0},           {"operation", true, OVL_GRID_WRAP, 0},
        {"started", true, OVL_GRID_WRAP, 0},
    };
    if (result->n_path == 0) {
        return;
    }
    ovl_arena arena = {0};
    line *lines = OVL_NEW_ARRAY(&arena, line, result->n_path);
    uint32_t n = merge(result, lines, result->n_path > MOST_LINES);
    ovl_scale scale = ovl_scale_for(result->step);
    for (uint32_t i = 0; i < result->n_path; i++) {
        ovl_scale_fit(&scale, result->step, last_end(&result->path[i]));
    }
    ovl_out_title(out, "\nCritical path (times in %s)", ovl_scale_unit(&scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    add_lines(&grid, lines, n, &scale, &arena);
    const char *sum[] = {"", "", shown(&arena, &scale, result->step), "", "", "= step", ""};
    ovl_grid_row(&grid, sum);
    ovl_grid_end(&grid, out, 2);
    ovl_arena_free(&arena);
}
