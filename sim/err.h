/*
 * err.h - errors are values: what kind, where, and a sentence that can be printed as it is.
 *
 * A function that can meet bad input takes `ovl_errs *errs` as its last parameter, leaves it
 * untouched on success, and adds one entry for each mistake it finds, so that a user sees all
 * mistakes of a file in one run:
 *
 *     layers.yaml:12:20: error: a duration needs a unit (write "7 ms", not "7")
 *     layers.yaml:15:5: error: unknown key "bukets"; did you mean "buckets"?
 *
 * The code of an error is the exit status of the program that met it (design, command line).
 */
#ifndef OVL_SIM_ERR_H
#define OVL_SIM_ERR_H

#include "sim/arena.h"

typedef enum ovl_status {
    OVL_E_USAGE = 2, /* the command line is wrong */
    OVL_E_INPUT = 3, /* an input is wrong */
    OVL_E_STUCK = 4, /* the schedule cannot finish: deadlock or mismatched communication */
    OVL_E_STOPPED =
        130, /* asked to stop before the end: 128 + the number of SIGINT, as shells do */
} ovl_status;

/* A place in a text the user wrote. line and column count from 1; line 0 means "the file as a
 * whole", file NULL means "no place". The file name is borrowed from whoever read the file. */
typedef struct ovl_mark {
    const char *file;
    uint32_t line, column;
} ovl_mark;

typedef struct ovl_err {
    ovl_status code;
    bool warning; /* said, but not a reason to stop */
    ovl_mark mark;
    const char *text; /* one sentence without a full stop; further lines are indented detail */
    const char
        *fact; /* text without what its writer might do about it; NULL: it says no such thing */
} ovl_err;

typedef struct ovl_errs {
    ovl_arena *arena; /* owns the sentences and the list */
    ovl_err *items;
    uint32_t count, cap;
    uint32_t errors;  /* how often ovl_error was called: who fails for a reason told before fails,
                         too */
    uint32_t dropped; /* mistakes beyond OVL_ERRS_MAX, counted but not kept */
} ovl_errs;

#define OVL_ERRS_MAX 200

/* Adds a mistake. Mistakes at one place with one sentence are kept once. */
void ovl_error(ovl_errs *errs, ovl_status code, ovl_mark mark, const char *format, ...)
    OVL_PRINTF(4, 5);

/* The same: "fact; advice". What was tried for its own sake, and failed, is told without advice. */
void ovl_error_advice(ovl_errs *errs, ovl_status code, ovl_mark mark, const char *advice,
                      const char *format, ...) OVL_PRINTF(5, 6);

/* Adds a remark that does not stop the work. */
void ovl_warning(ovl_errs *errs, ovl_mark mark, const char *format, ...) OVL_PRINTF(3, 4);

/* The exit status the collected mistakes ask for: the lowest code present, 0 without errors. */
int ovl_errs_status(const ovl_errs *errs);

/* Orders the items by file, line and column; items without a place keep their order, last. */
void ovl_errs_sort(ovl_errs *errs);

/* One item as "file:line:col: error: sentence", without a newline; owned by the arena. */
const char *ovl_err_text(ovl_arena *arena, const ovl_err *err);

#endif
