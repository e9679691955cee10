/*
 * table.h - a published table (CSV with a header) that lies beside the project, for tests that hold
 * the program against every row of it.
 *
 *     table t = table_read("handout_schedule_oracles.csv");
 *     table_number(&t, 0, "ranks")      2, of the first row
 *     table_free(&t);
 *
 * Tables are looked for in ../shared/cases/tables, seen from the project. Where they are not there
 * table_missing() says so and gives 77, which meson shows as skipped.
 */
#ifndef OVL_TESTS_TABLE_H
#define OVL_TESTS_TABLE_H

#include "sim/arena.h"

#define TABLE_COLUMNS 32
#define TABLE_ROWS    256

typedef struct table {
    ovl_arena arena;
    const char *text; /* the whole file */
    const char *column[TABLE_COLUMNS];
    const char *cell[TABLE_ROWS][TABLE_COLUMNS];
    uint32_t n_columns, n_rows;
} table;

/* 0, or 77 with a message if the tables are not there. */
int table_missing(void);

/* The whole text of a table; NULL if it cannot be read. */
char *table_text(const char *name, ovl_arena *arena);

/* The table, its first line taken as header; a failed check if it cannot be read. Large: keep one
 * at a time. */
table *table_read(const char *name);
void table_free(table *t);

/* A cell by the name of its column; a failed check and "" if there is none. */
const char *table_cell(const table *t, uint32_t row, const char *column);
double table_number(const table *t, uint32_t row, const char *column);

#endif
