#include "tools/grid.h"

#include "tools/wrap.h"

#include <string.h>

#define NARROWEST 12 /* a cell is never cut below this */

typedef struct layout {
    size_t width[OVL_GRID_COLUMNS]; /* 0: left out */
    size_t gap;
    size_t indent;
} layout;

void ovl_grid_begin(ovl_grid *grid, const ovl_column *columns, uint32_t n_columns)
{
    assert(n_columns > 0 && n_columns <= OVL_GRID_COLUMNS);
    *grid = (ovl_grid){.columns = columns, .n_columns = n_columns};
}

void ovl_grid_row(ovl_grid *grid, const char *const *cells)
{
    for (uint32_t c = 0; c < grid->n_columns; c++) {
        ovl_vec_push(&grid->cells, cells[c]);
    }
}

static size_t natural_width(const ovl_grid *grid, uint32_t column)
{
    size_t widest = 0;
    bool any = false;
    for (uint32_t at = column; at < grid->cells.len; at += grid->n_columns) {
        const char *cell = grid->cells.data[at];
        any |= cell != NULL;
        widest = cell ? OVL_MAX(widest, ovl_width(cell)) : widest;
    }
    return any ? OVL_MAX(widest, ovl_width(grid->columns[column].heading)) : 0;
}

static size_t total_width(const ovl_grid *grid, const layout *l)
{
    size_t total = l->indent, columns = 0;
    for (uint32_t c = 0; c < grid->n_columns; c++) {
        total += l->width[c];
        columns += l->width[c] > 0;
    }
    return total + (columns ? (columns - 1) * l->gap : 0);
}

/* Takes what is too much from the widest column that may shrink, then the next. */
static void shrink(const ovl_grid *grid, layout *l)
{
    for (;;) {
        size_t total = total_width(grid, l);
        uint32_t widest = OVL_GRID_COLUMNS;
        for (uint32_t c = 0; c < grid->n_columns; c++) {
            bool able = grid->columns[c].shrink && l->width[c] > NARROWEST;
            if (able && (widest == OVL_GRID_COLUMNS || l->width[c] > l->width[widest])) {
                widest = c;
            }
        }
        if (total <= OVL_TERMINAL || widest == OVL_GRID_COLUMNS) {
            return;
        }
        l->width[widest]--;
    }
}

/* Leaves out the column that says so most, if it says so at least `least`. */
static bool drop_one(const ovl_grid *grid, layout *l, unsigned least)
{
    uint32_t first = OVL_GRID_COLUMNS;
    for (uint32_t c = 0; c < grid->n_columns; c++) {
        unsigned drop = l->width[c] ? grid->columns[c].drop : 0;
        if (drop >= least && (first == OVL_GRID_COLUMNS || drop > grid->columns[first].drop)) {
            first = c;
        }
    }
    if (first == OVL_GRID_COLUMNS) {
        return false;
    }
    l->width[first] = 0;
    return true;
}

static void drop_while_wide(const ovl_grid *grid, layout *l, unsigned least)
{
    while (total_width(grid, l) > OVL_TERMINAL && drop_one(grid, l, least)) {
    }
}

static void measure(const ovl_grid *grid, layout *l)
{
    for (uint32_t c = 0; c < grid->n_columns; c++) {
        l->width[c] = natural_width(grid, c);
    }
    l->gap = 2;
}

bool ovl_grid_fits(const ovl_grid *grid, unsigned indent, unsigned gap)
{
    layout l = {.indent = indent};
    measure(grid, &l);
    l.gap = gap;
    return total_width(grid, &l) <= OVL_TERMINAL;
}

void ovl_grid_drop(ovl_grid *grid)
{
    ovl_vec_free(&grid->cells);
}

static void fit(const ovl_grid *grid, layout *l)
{
    measure(grid, l);
    if (total_width(grid, l) > OVL_TERMINAL) {
        l->gap = 1;
        drop_while_wide(grid, l, OVL_GRID_DROP_FIRST);
        shrink(grid, l);
        drop_while_wide(grid, l, 1);
    }
}

uint32_t ovl_grid_left_out(const ovl_grid *grid, unsigned indent, uint32_t *columns)
{
    layout l = {.indent = indent};
    uint32_t n = 0;
    fit(grid, &l);
    for (uint32_t c = 0; c < grid->n_columns; c++) {
        if (l.width[c] == 0 && natural_width(grid, c)) {
            columns[n++] = c;
        }
    }
    return n;
}

static void put_cell(ovl_out *out, const char *text, size_t width, bool left, bool last)
{
    size_t wide = ovl_width(text);
    if (wide > width) {
        ovl_arena arena = {0};
        ovl_out_text(out, ovl_cut(&arena, text, width));
        ovl_arena_free(&arena);
        return;
    }
    int blanks = (int)(width - wide);
    if (left) {
        ovl_out_printf(out, "%s%*s", text, last ? 0 : blanks, "");
    } else {
        ovl_out_printf(out, "%*s%s", blanks, "", text);
    }
}

/* Bytes of the first line of a text that is broken at blanks: as many words as fit, but one. */
static size_t first_line(const char *text, size_t width)
{
    size_t length = 0;
    for (;;) {
        size_t blanks = strspn(text + length, " ");
        size_t end = length + blanks + strcspn(text + length + blanks, " ");
        bool fits = ovl_width(text) - ovl_width(text + end) <= width;
        if (end == length || (length && !fits)) {
            return length;
        }
        length = end;
    }
}

/* Puts the next line of each cell into `line` and leaves the rest in `rest`. False if there was
 * none. */
static bool next_line(const ovl_grid *grid, const layout *l, ovl_arena *arena, const char **rest,
                      const char **line)
{
    bool any = false;
    for (uint32_t c = 0; c < grid->n_columns; c++) {
        line[c] = rest[c];
        any |= l->width[c] && rest[c] && *rest[c];
        if (!rest[c] || grid->columns[c].shrink != OVL_GRID_WRAP ||
            ovl_width(rest[c]) <= l->width[c]) {
            rest[c] = NULL;
            continue;
        }
        size_t length = first_line(rest[c], l->width[c]);
        line[c] = ovl_arena_strndup(arena, rest[c], length);
        rest[c] += length + strspn(rest[c] + length, " ");
    }
    return any;
}

/* Nothing is written behind the last cell that has a text, so that no line ends in blanks. */
static void put_line(ovl_out *out, const ovl_grid *grid, const layout *l, const char *const *cells)
{
    uint32_t last = 0;
    for (uint32_t c = 0; c < grid->n_columns; c++) {
        last = l->width[c] && cells[c] && *cells[c] ? c : last;
    }
    ovl_out_printf(out, "%*s", (int)l->indent, "");
    bool first = true;
    for (uint32_t c = 0; c <= last; c++) {
        if (l->width[c]) {
            ovl_out_printf(out, "%*s", first ? 0 : (int)l->gap, "");
            put_cell(out, cells[c] ? cells[c] : "", l->width[c], grid->columns[c].left, c == last);
            first = false;
        }
    }
    ovl_out_text(out, "\n");
}

static void put_row(ovl_out *out, const ovl_grid *grid, const layout *l, const char *const *cells)
{
    ovl_arena arena = {0};
    const char *rest[OVL_GRID_COLUMNS] = {0}, *line[OVL_GRID_COLUMNS];
    memcpy(rest, cells, grid->n_columns * sizeof *rest);
    while (next_line(grid, l, &arena, rest, line)) {
        put_line(out, grid, l, line);
    }
    ovl_arena_free(&arena);
}

void ovl_grid_end(ovl_grid *grid, ovl_out *out, unsigned indent)
{
    layout l = {.indent = indent};
    const char *headings[OVL_GRID_COLUMNS];
    bool headed = false;
    fit(grid, &l);
    for (uint32_t c = 0; c < grid->n_columns; c++) {
        headings[c] = grid->columns[c].heading;
        headed |= *headings[c] != '\0';
    }
    if (headed) {
        put_row(out, grid, &l, headings);
    }
    for (uint32_t at = 0; at < grid->cells.len; at += grid->n_columns) {
        put_row(out, grid, &l, grid->cells.data + at);
    }
    ovl_grid_drop(grid);
}
