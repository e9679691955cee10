#include "tools/help.h"

static void command_names(ovl_out *out)
{
    for (uint32_t i = 0; i < ovl_n_commands; i++) {
        ovl_out_printf(out, "%s%s", i ? " " : "", ovl_commands[i].name);
    }
}

static void option_names(ovl_out *out, const ovl_option_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        ovl_out_printf(out, "%s--%s", i ? " " : "", table->items[i].name);
    }
}

/* The values of options, for all commands at once: an option means the same in each. */
static void bash_values(ovl_out *out)
{
    for (uint32_t c = 0; c < ovl_n_commands; c++) {
        const ovl_option_table *table = ovl_commands[c].options;
        for (uint32_t i = 0; i < table->count; i++) {
            const ovl_option *option = &table->items[i];
            if (!option->value) {
                continue;
            }
            ovl_out_printf(out, "    %s:--%s)\n", ovl_commands[c].name, option->name);
            if (option->choices) {
                ovl_out_text(out, "        COMPREPLY=($(compgen -W \"");
                for (uint32_t k = 0; option->choices[k]; k++) {
                    ovl_out_printf(out, "%s%s", k ? " " : "", option->choices[k]);
                }
                ovl_out_text(out, "\" -- \"$word\"))\n");
            } else if (option->file) {
                ovl_out_text(out, "        COMPREPLY=($(compgen -f -- \"$word\"))\n");
            }
            ovl_out_text(out, "        return\n        ;;\n");
        }
    }
}

static void bash_words(ovl_out *out)
{
    for (uint32_t c = 0; c < ovl_n_commands; c++) {
        const ovl_command *command = &ovl_commands[c];
        ovl_out_printf(out, "    %s:-*)\n        COMPREPLY=($(compgen -W \"", command->name);
        option_names(out, command->options);
        ovl_out_text(out, "\" -- \"$word\"))\n        ;;\n");
        if (command->operand == OVL_OPERAND_COMMAND) {
            ovl_out_printf(out, "    %s:*)\n        COMPREPLY=($(compgen -W \"", command->name);
            command_names(out);
            ovl_out_text(out, "\" -- \"$word\"))\n        ;;\n");
        }
    }
    ovl_out_text(out, "    *)\n        COMPREPLY=($(compgen -f -- \"$word\"))\n        ;;\n");
}

void ovl_docs_bash(ovl_out *out)
{
    ovl_out_text(out,
                 "# Completion of ovl for bash. Printed by tools/dev/ovl_docs from the table of "
                 "commands.\n_ovl()\n{\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local command=${COMP_WORDS[1]}\n    COMPREPLY=()\n"
                 "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                 "        COMPREPLY=($(compgen -W \"");
    command_names(out);
    ovl_out_text(out, " ");
    option_names(out, &ovl_program_options);
    ovl_out_text(out, "\" -- \"$word\"))\n        return\n    fi\n    case $command:$before in\n");
    bash_values(out);
    ovl_out_text(out, "    esac\n    case $command:$word in\n");
    bash_words(out);
    ovl_out_text(out, "    esac\n}\ncomplete -o filenames -F _ovl ovl\n");
}

/* Text inside '...[...]' of an _arguments entry. */
static void zsh_text(ovl_out *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') {
            ovl_out_text(out, "'\\''");
        } else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\') {
            ovl_out_printf(out, "\\%c", *text);
        } else {
            ovl_out_write(out, text, 1);
        }
    }
}

static void zsh_option(ovl_out *out, const ovl_option *option)
{
    ovl_out_printf(out, "            '%s--%s%s[", option->repeat ? "*" : "", option->name,
                   option->value ? "=" : "");
    zsh_text(out, option->doc);
    ovl_out_text(out, "]");
    if (option->value) {
        ovl_out_text(out, ":");
        zsh_text(out, option->value);
        ovl_out_text(out, ":");
    }
    if (option->choices) {
        ovl_out_text(out, "(");
        for (uint32_t k = 0; option->choices[k]; k++) {
            ovl_out_printf(out, "%s%s", k ? " " : "", option->choices[k]);
        }
        ovl_out_text(out, ")");
    } else if (option->file) {
        ovl_out_text(out, "_files");
    }
    ovl_out_text(out, "' \\\n");
}

static void zsh_command(ovl_out *out, const ovl_command *command)
{
    ovl_out_printf(out, "    %s)\n        _arguments \\\n", command->name);
    for (uint32_t i = 0; i < command->options->count; i++) {
        zsh_option(out, &command->options->items[i]);
    }
    if (command->operand == OVL_OPERAND_COMMAND) {
        ovl_out_text(out, "            '*:command:(");
        command_names(out);
        ovl_out_text(out, ")'\n        ;;\n");
    } else {
        ovl_out_text(out, "            '*:file:_files'\n        ;;\n");
    }
}

void ovl_docs_zsh(ovl_out *out)
{
    ovl_out_text(out,
                 "#compdef ovl\n# Completion of ovl for zsh. Printed by tools/dev/ovl_docs from "
                 "the table of commands.\n_ovl()\n{\n    if (( CURRENT == 2 )); then\n"
                 "        local -a commands\n        commands=(\n");
    for (uint32_t i = 0; i < ovl_n_commands; i++) {
        ovl_out_printf(out, "            '%s:", ovl_commands[i].name);
        zsh_text(out, ovl_commands[i].summary);
        ovl_out_text(out, "'\n");
    }
    ovl_out_text(out, "        )\n        _describe command commands\n        return\n    fi\n"
                      "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
                      "    case $command in\n");
    for (uint32_t i = 0; i < ovl_n_commands; i++) {
        zsh_command(out, &ovl_commands[i]);
    }
    ovl_out_text(out, "    esac\n}\n_ovl \"$@\"\n");
}
