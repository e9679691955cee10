/*
 * grid.h - a table of texts in aligned columns that fits a terminal of OVL_TERMINAL columns.
 *
 * Columns are as wide as their widest cell. A column without any cell is left out. What is too wide
 * loses, in this order: the second blank between columns, columns that are dropped first, the
 * middle of long cells in columns that may shrink, other columns that may be dropped (the highest
 * `drop` first). A cell of a column that wraps goes on below instead of losing its middle.
 *
 *       collective   MiB  exposed
 *       b0            80        0
 *       b1            16        2
 */
#ifndef OVL_TOOLS_GRID_H
#define OVL_TOOLS_GRID_H

#include "sim/vec.h"
#include "tools/out.h"

#define OVL_GRID_COLUMNS    20
#define OVL_GRID_DROP_FIRST 9 /* a `drop` from here on goes before anything is cut */
#define OVL_GRID_WRAP       2 /* a `shrink`: cells are broken at blanks; a long word is still cut */

typedef struct ovl_column {
    const char *heading;
    bool left;      /* aligned left; numbers are right */
    uint8_t shrink; /* whether its cells may be cut (true), or go on below (OVL_GRID_WRAP) */
    unsigned drop;  /* 0: it stays whatever happens */
} ovl_column;

typedef struct ovl_grid {
    const ovl_column *columns; /* borrowed */
    uint32_t n_columns;
    OVL_VEC(const char *) cells; /* row after row; texts are borrowed */
} ovl_grid;

void ovl_grid_begin(ovl_grid *grid, const ovl_column *columns, uint32_t n_columns);

/* Adds a row of n_columns cells; NULL leaves a cell empty. */
void ovl_grid_row(ovl_grid *grid, const char *const *cells);

/* Whether it fits, indented and with `gap` blanks between columns, without losing anything. */
bool ovl_grid_fits(const ovl_grid *grid, unsigned indent, unsigned gap);

/* Which columns with cells are left out when it is printed with this indent: their indices into
 * `columns` [n_columns]; gives how many. */
uint32_t ovl_grid_left_out(const ovl_grid *grid, unsigned indent, uint32_t *columns);

/* Gives the memory back without printing. */
void ovl_grid_drop(ovl_grid *grid);

/* Prints the headings and rows, indented, and gives the memory back. */
void ovl_grid_end(ovl_grid *grid, ovl_out *out, unsigned indent);

#endif
