#include "sim/err.h"

#include <stdlib.h>
#include <string.h>

static bool same_mark(ovl_mark a, ovl_mark b)
{
    bool same_file = a.file == b.file || (a.file && b.file && strcmp(a.file, b.file) == 0);
    return same_file && a.line == b.line && a.column == b.column;
}

static bool known(const ovl_errs *errs, ovl_mark mark, const char *text)
{
    for (uint32_t i = 0; i < errs->count; i++) {
        if (same_mark(errs->items[i].mark, mark) && strcmp(errs->items[i].text, text) == 0) {
            return true;
        }
    }
    return false;
}

static void add(ovl_errs *errs, ovl_err err)
{
    errs->errors += !err.warning;
    if (known(errs, err.mark, err.text)) {
        return;
    }
    if (errs->count == errs->cap) {
        uint32_t cap = errs->cap ? errs->cap * 2 : 8;
        ovl_err *items = OVL_NEW_ARRAY(errs->arena, ovl_err, cap);
        if (errs->count) {
            memcpy(items, errs->items, errs->count * sizeof *items);
        }
        errs->items = items;
        errs->cap = cap;
    }
    errs->items[errs->count++] = err;
}

/* A file of nothing but mistakes must not cost a sentence for each. */
static bool full(ovl_errs *errs, bool warning)
{
    if (errs->count < OVL_ERRS_MAX) {
        return false;
    }
    errs->errors += !warning;
    errs->dropped++;
    return true;
}

void ovl_error(ovl_errs *errs, ovl_status code, ovl_mark mark, const char *format, ...)
{
    if (full(errs, false)) {
        return;
    }
    va_list args;
    va_start(args, format);
    add(errs, (ovl_err){.code = code,
                        .mark = mark,
                        .text = ovl_arena_vprintf(errs->arena, format, args)});
    va_end(args);
}

void ovl_error_advice(ovl_errs *errs, ovl_status code, ovl_mark mark, const char *advice,
                      const char *format, ...)
{
    if (full(errs, false)) {
        return;
    }
    va_list args;
    va_start(args, format);
    const char *fact = ovl_arena_vprintf(errs->arena, format, args);
    va_end(args);
    add(errs, (ovl_err){.code = code,
                        .mark = mark,
                        .text = ovl_arena_printf(errs->arena, "%s; %s", fact, advice),
                        .fact = fact});
}

void ovl_warning(ovl_errs *errs, ovl_mark mark, const char *format, ...)
{
    if (full(errs, true)) {
        return;
    }
    va_list args;
    va_start(args, format);
    add(errs, (ovl_err){.code = OVL_E_INPUT,
                        .warning = true,
                        .mark = mark,
                        .text = ovl_arena_vprintf(errs->arena, format, args)});
    va_end(args);
}

int ovl_errs_status(const ovl_errs *errs)
{
    int status = 0;
    for (uint32_t i = 0; i < errs->count; i++) {
        if (!errs->items[i].warning && (status == 0 || (int)errs->items[i].code < status)) {
            status = (int)errs->items[i].code;
        }
    }
    return status;
}

static int compare_marks(ovl_mark a, ovl_mark b)
{
    if (!a.file || !b.file) {
        return (a.file == NULL) - (b.file == NULL);
    }
    int order = strcmp(a.file, b.file);
    if (order == 0) {
        order = (a.line > b.line) - (a.line < b.line);
    }
    return order ? order : (a.column > b.column) - (a.column < b.column);
}

/* Insertion sort: it is stable, and the list is short by OVL_ERRS_MAX. */
void ovl_errs_sort(ovl_errs *errs)
{
    for (uint32_t i = 1; i < errs->count; i++) {
        ovl_err item = errs->items[i];
        uint32_t at = i;
        while (at > 0 && compare_marks(errs->items[at - 1].mark, item.mark) > 0) {
            errs->items[at] = errs->items[at - 1];
            at--;
        }
        errs->items[at] = item;
    }
}

const char *ovl_err_text(ovl_arena *arena, const ovl_err *err)
{
    const char *kind = err->warning ? "warning" : "error";
    if (!err->mark.file) {
        return ovl_arena_printf(arena, "%s: %s", kind, err->text);
    }
    if (err->mark.line == 0) {
        return ovl_arena_printf(arena, "%s: %s: %s", err->mark.file, kind, err->text);
    }
    return ovl_arena_printf(arena, "%s:%" PRIu32 ":%" PRIu32 ": %s: %s", err->mark.file,
                            err->mark.line, err->mark.column, kind, err->text);
}
