#include "tools/command.h"
#include "tools/files.h"
#include "tools/help.h"
#include "tools/lookout.h"
#include "tools/work.h"

#include "sim/names.h"

#include <stdlib.h>
#include <string.h>

static const ovl_mark nowhere = {0};

const ovl_command *ovl_command_find(const char *name)
{
    for (uint32_t i = 0; i < ovl_n_commands; i++) {
        if (strcmp(ovl_commands[i].name, name) == 0) {
            return &ovl_commands[i];
        }
    }
    return NULL;
}

void ovl_command_unknown(const char *name, ovl_errs *errs)
{
    const char **names = OVL_NEW_ARRAY(errs->arena, const char *, ovl_n_commands);
    for (uint32_t i = 0; i < ovl_n_commands; i++) {
        names[i] = ovl_commands[i].name;
    }
    const char *near = ovl_nearest(name, names, ovl_n_commands);
    if (near) {
        ovl_error(errs, OVL_E_USAGE, nowhere, "unknown command \"%s\"; did you mean \"%s\"?", name,
                  near);
    } else {
        ovl_error(errs, OVL_E_USAGE, nowhere, "unknown command \"%s\"", name);
    }
}

static void check_operands(const ovl_command *command, const ovl_args *args, ovl_errs *errs)
{
    if (args->n_operands < command->min_operands) {
        ovl_error(errs, OVL_E_USAGE, nowhere, "something is missing: ovl %s %s", command->name,
                  command->operands);
    } else if (args->n_operands > command->max_operands) {
        ovl_error(errs, OVL_E_USAGE, nowhere, "\"%s\" is too much: ovl %s %s",
                  args->operands[command->max_operands], command->name, command->operands);
    }
}

/* What a command will write: the value of its --output. */
static const char *output_of(const ovl_args *args)
{
    for (uint32_t i = 0; i < args->n_options; i++) {
        if (strcmp(args->options[i].option->name, "output") == 0) {
            return args->options[i].value;
        }
    }
    return NULL;
}

/* The file that is written must not be one that the command line names beside it; what such files
 * name is looked at when it is read (tools/work.c). */
static void check_output(const ovl_command *command, const ovl_args *args, ovl_errs *errs)
{
    const char *output = output_of(args);
    for (uint32_t i = 0; output && i < args->n_operands; i++) {
        if (command->operand == OVL_OPERAND_FILE) {
            ovl_work_spare(output, ovl_side_of(args->operands[i], errs->arena).path, errs);
        }
    }
    for (uint32_t i = 0; output && i < args->n_options; i++) {
        const ovl_option *option = args->options[i].option;
        if (option->file && strcmp(option->name, "output") != 0) {
            ovl_work_spare(output, args->options[i].value, errs);
        }
    }
}

static void check_memory(ovl_errs *errs)
{
    const char *why = ovl_lookout_mistake();
    if (why) {
        ovl_error(errs, OVL_E_USAGE, nowhere, "OVL_MEMORY is \"%s\": %s", getenv("OVL_MEMORY"),
                  why);
    }
}

/* Help is given before mistakes are looked for: who asks for help may have made some. */
static bool asks_help(int count, const char *const *words)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

static int usage_error(const ovl_shell *shell, const char *command, ovl_errs *errs)
{
    ovl_complain(shell->err, errs);
    ovl_out_printf(shell->err, "try: ovl %s%s--help\n", command, *command ? " " : "");
    return OVL_E_USAGE;
}

static int run_command(const ovl_command *command, int count, const char *const *words,
                       const ovl_shell *shell)
{
    if (asks_help(count, words)) {
        ovl_help_command(shell->out, command);
        return OVL_EXIT_DONE;
    }
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_args args;
    if (ovl_args_read(command->options, (uint32_t)count, words, &arena, &args, &errs)) {
        check_operands(command, &args, &errs);
        check_output(command, &args, &errs);
        check_memory(&errs);
    }
    const ovl_shell own = {shell->out, shell->err, output_of(&args)};
    int status = errs.errors ? usage_error(shell, command->name, &errs) : command->run(&args, &own);
    ovl_arena_free(&arena);
    return status;
}

/* Without a command: an option of the program, or a mistake. */
static int run_bare(int count, const char *const *words, const ovl_shell *shell, ovl_errs *errs)
{
    ovl_args args;
    if (count && words[0][0] != '-') {
        ovl_command_unknown(words[0], errs);
        return usage_error(shell, "", errs);
    }
    if (!ovl_args_read(&ovl_program_options, (uint32_t)count, words, errs->arena, &args, errs)) {
        return usage_error(shell, "", errs);
    }
    if (ovl_args_has(&args, "version")) {
        ovl_out_printf(shell->out, "ovl %s\n", OVL_VERSION);
        return OVL_EXIT_DONE;
    }
    bool asked = ovl_args_has(&args, "help");
    ovl_help_program(asked ? shell->out : shell->err);
    return asked ? OVL_EXIT_DONE : OVL_E_USAGE;
}

static int dispatch(int count, const char *const *words, const ovl_shell *shell)
{
    const ovl_command *command = count ? ovl_command_find(words[0]) : NULL;
    if (command) {
        return run_command(command, count - 1, words + 1, shell);
    }
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    int status = run_bare(count, words, shell, &errs);
    ovl_arena_free(&arena);
    return status;
}

int ovl_program_run(int argc, const char *const *words, FILE *out_file, FILE *err_file)
{
    ovl_out out, err;
    ovl_out_stream(&out, out_file);
    ovl_out_stream(&err, err_file);
    const ovl_shell shell = {.out = &out, .err = &err};
    int status = argc > 1 ? dispatch(argc - 1, words + 1, &shell) : dispatch(0, words, &shell);
    const char *why = ovl_out_close(&out);
    if (why) {
        ovl_out_printf(&err, "error: cannot write to standard output: %s\n", why);
        status = status ? status : OVL_E_USAGE;
    }
    ovl_out_close(&err);
    return status;
}
