/*
 * command.h - the subcommands of `ovl`, one table that everything about them is made from: the
 * dispatch, --help, the man page, the completions.
 *
 * One subcommand is one file cmd_NAME.c with one handler. A handler gets its words already read by
 * its table, writes to shell->out and shell->err, and gives the exit status:
 *
 *     0 done
 *     1 a threshold, comparison or hazard check failed
 *     2 the command line is wrong, or what it asks to write cannot be written
 *     3 an input is wrong
 *     4 the schedule cannot finish
 *     128 + N interrupted by signal N, 130 by Ctrl-C; what a sweep or an optimisation found is kept
 */
#ifndef OVL_TOOLS_COMMAND_H
#define OVL_TOOLS_COMMAND_H

#include "tools/options.h"
#include "tools/out.h"

enum {
    OVL_EXIT_DONE = 0,
    OVL_EXIT_FAILED = 1,
    OVL_EXIT_SIGNAL = 128, /* plus the signal, as a shell says it of what was ended by one */
};

/* What a handler may touch. */
typedef struct ovl_shell {
    ovl_out *out;       /* results */
    ovl_out *err;       /* complaints */
    const char *output; /* file that will be written; what is read must be another. NULL: none */
} ovl_shell;

typedef struct ovl_command {
    const char *name;
    const char *summary;  /* one line, a phrase without a full stop */
    const char *operands; /* as usage shows them: "FILE [A] [B]" */
    uint32_t min_operands, max_operands;
    ovl_operand operand;  /* what completion offers */
    const char *about;    /* paragraphs, separated by empty lines */
    const char *examples; /* a command a line */
    const ovl_option_table *options;
    int (*run)(const ovl_args *args, const ovl_shell *shell);
} ovl_command;

/* Sorted by name. */
extern const ovl_command ovl_commands[];
extern const uint32_t ovl_n_commands;

/* The command of this name, or NULL. */
const ovl_command *ovl_command_find(const char *name);

/* Adds the error about a command that is not there, with the nearest one that is. */
void ovl_command_unknown(const char *name, ovl_errs *errs);

/* Options of the program itself: --help and --version. */
extern const ovl_option_table ovl_program_options;
extern const ovl_option_table ovl_calibrate_options; /* its own file, for its length */

/* What each exit status means. */
typedef struct ovl_exit_meaning {
    int status;
    const char *meaning;
} ovl_exit_meaning;
extern const ovl_exit_meaning ovl_exit_meanings[];
extern const uint32_t ovl_n_exit_meanings;

/* The whole program behind main(): finds the command, reads its words, runs it, and makes sure that
 * what was written arrived. Gives the exit status. */
int ovl_program_run(int argc, const char *const *words, FILE *out, FILE *err);

int ovl_cmd_calibrate(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_check(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_compare(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_explain(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_export(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_history(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_help(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_import(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_inspect(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_optimize(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_report(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_run(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_show(const ovl_args *args, const ovl_shell *shell);
int ovl_cmd_sweep(const ovl_args *args, const ovl_shell *shell);

#endif
