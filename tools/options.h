/*
 * options.h - reads a command line by a table, the same table that prints help, man page and
 * completions.
 *
 *     static const ovl_option options[] = {
 *         {.name = "json", .doc = "print JSON"},
 *         {.name = "set", .value = "PATH=VALUE", .repeat = true, .doc = "..."},
 *     };
 *
 * `--set a=1 --set=b=2 file.yaml --json` gives two values of "set", the switch "json" and one
 * operand. Options may stand anywhere; after `--` everything is an operand; `-` is one. Unknown
 * options are errors that name the nearest one. An option may be repeated only where the table says
 * so, and one that would have no effect beside the others is an error that says so:
 *
 *     {.name = "seed", .needs = "trials"}              --seed without --trials
 *     {.name = "solve", .beside = "for between set"}   --solve with --csv
 */
#ifndef OVL_TOOLS_OPTIONS_H
#define OVL_TOOLS_OPTIONS_H

#include "sim/err.h"

typedef enum ovl_operand {
    OVL_OPERAND_WORD,    /* any text */
    OVL_OPERAND_FILE,    /* the name of a file */
    OVL_OPERAND_COMMAND, /* the name of a command */
} ovl_operand;

typedef struct ovl_option {
    const char *name;           /* without the dashes */
    char letter;                /* of the short form, or 0 */
    const char *value;          /* what stands for its value in help; NULL: a switch */
    const char *const *choices; /* NULL-terminated: the only values; NULL: any */
    bool file;                  /* its value names a file */
    bool repeat;
    const char *doc;     /* what it does: a phrase without a full stop */
    const char *needs;   /* has an effect only beside one of these, with | between; NULL: always */
    const char *without; /* has none beside one of these, with | between */
    const char *beside;  /* only these have an effect beside it, with blanks between; NULL: all */
} ovl_option;

typedef struct ovl_option_table {
    const ovl_option *items;
    uint32_t count;
} ovl_option_table;

typedef struct ovl_args {
    const ovl_option_table *table;
    const char **operands;
    uint32_t n_operands;
    struct ovl_arg {
        const ovl_option *option;
        const char *value; /* NULL for switches */
    } * options;
    uint32_t n_options;
} ovl_args;

/* Reads `count` words. False and errors (OVL_E_USAGE), all of them. Texts are borrowed from words;
 * lists live in `arena`. Nothing is checked about operands. */
bool ovl_args_read(const ovl_option_table *table, uint32_t count, const char *const *words,
                   ovl_arena *arena, ovl_args *args, ovl_errs *errs);

/* Whether an option was given, its value (NULL if it was not given), its i-th value (NULL beyond
 * the last). The name must be in the table. */
bool ovl_args_has(const ovl_args *args, const char *name);
const char *ovl_args_value(const ovl_args *args, const char *name);
const char *ovl_args_nth(const ovl_args *args, const char *name, uint32_t i);

#endif
