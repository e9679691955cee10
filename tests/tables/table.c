#include "tests/tables/table.h"

#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTORY "../shared/cases/tables"

static FILE *open_table(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, DIRECTORY "/%s", name);
    return fopen(path, "rb");
}

int table_missing(void)
{
    FILE *file = open_table("handout_schedule_oracles.csv");
    if (!file) {
        printf("skipped: no tables in " DIRECTORY "\n");
        return 77;
    }
    fclose(file);
    return 0;
}

char *table_text(const char *name, ovl_arena *arena)
{
    FILE *file = open_table(name);
    if (!file) {
        return NULL;
    }
    const size_t most = 1u << 20;
    char *text = ovl_arena_alloc(arena, most, 1);
    size_t length = fread(text, 1, most - 1, file);
    text[length] = 0;
    fclose(file);
    return text;
}

/* Cuts `text` at the next `end` or line end; NULL at the end of the line. */
static const char *next_cell(char **at)
{
    if (!*at) {
        return NULL;
    }
    char *cell = *at, *end = strchr(cell, ',');
    if (end) {
        *end = 0;
    }
    *at = end ? end + 1 : NULL;
    return cell;
}

static uint32_t cut(char *line, const char **cells)
{
    uint32_t n = 0;
    for (const char *cell; n < TABLE_COLUMNS && (cell = next_cell(&line));) {
        cells[n++] = cell;
    }
    return n;
}

table *table_read(const char *name)
{
    table *t = calloc(1, sizeof *t);
    char *text = t ? table_text(name, &t->arena) : NULL;
    CHECK(text != NULL);
    for (char *line = text; line && *line;) {
        size_t length = strcspn(line, "\r\n");
        char *next = line + length + strspn(line + length, "\r\n");
        line[length] = 0;
        if (t->n_columns == 0) {
            t->n_columns = cut(line, t->column);
        } else if (t->n_rows < TABLE_ROWS) {
            cut(line, t->cell[t->n_rows++]);
        }
        line = next;
    }
    return t;
}

void table_free(table *t)
{
    ovl_arena_free(&t->arena);
    free(t);
}

const char *table_cell(const table *t, uint32_t row, const char *column)
{
    for (uint32_t i = 0; i < t->n_columns; i++) {
        if (strcmp(t->column[i], column) == 0 && t->cell[row][i]) {
            return t->cell[row][i];
        }
    }
    CHECK_TEXT("no such column", column);
    return "";
}

double table_number(const table *t, uint32_t row, const char *column)
{
    return strtod(table_cell(t, row, column), NULL);
}
