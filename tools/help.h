/*
 * help.h - everything that is written from the table of commands: --help, the man page, the
 * completions. docs/ holds what the last three print; tests compare them with it.
 */
#ifndef OVL_TOOLS_HELP_H
#define OVL_TOOLS_HELP_H

#include "tools/command.h"

/* `ovl --help`: the commands and what each does, options, exit statuses. */
void ovl_help_program(ovl_out *out);

/* `ovl COMMAND --help`. */
void ovl_help_command(ovl_out *out, const ovl_command *command);

/* The man page ovl(1), in man(7) macros. */
void ovl_docs_man(ovl_out *out);

/* Completions for bash and for zsh. */
void ovl_docs_bash(ovl_out *out);
void ovl_docs_zsh(ovl_out *out);

#endif
