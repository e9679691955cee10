#include "tools/help.h"

#include "tools/wrap.h"

#include <string.h>

#define DOC_COLUMN 30 /* where the explanations of options begin */

static void print_option(ovl_out *out, const ovl_option *option)
{
    char left[96];
    char letter[8] = "";
    if (option->letter) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    snprintf(left, sizeof left, "  %s--%s%s%s%s", letter, option->name, option->value ? " " : "",
             option->value ? option->value : "", option->repeat ? " ..." : "");
    char lead[128];
    snprintf(lead, sizeof lead, "%-*s", DOC_COLUMN, left);
    if (strlen(left) >= DOC_COLUMN) {
        ovl_out_printf(out, "%s\n", left);
        snprintf(lead, sizeof lead, "%*s", DOC_COLUMN, "");
    }
    ovl_wrap(out, lead, DOC_COLUMN, option->doc, OVL_TERMINAL);
}

static void print_options(ovl_out *out, const ovl_option_table *table)
{
    ovl_out_title(out, "\nOptions");
    for (uint32_t i = 0; i < table->count; i++) {
        print_option(out, &table->items[i]);
    }
}

static void print_exits(ovl_out *out)
{
    ovl_out_title(out, "\nExit status");
    for (uint32_t i = 0; i < ovl_n_exit_meanings; i++) {
        char lead[16];
        snprintf(lead, sizeof lead, "  %-3d  ", ovl_exit_meanings[i].status);
        ovl_wrap(out, lead, 7, ovl_exit_meanings[i].meaning, OVL_TERMINAL);
    }
}

void ovl_help_program(ovl_out *out)
{
    ovl_wrap(out, "", 0,
             "ovl predicts what a change of schedule does to a distributed training step.\n\n"
             "Usage: ovl COMMAND ...",
             OVL_TERMINAL);
    ovl_out_title(out, "\nCommands");
    for (uint32_t i = 0; i < ovl_n_commands; i++) {
        ovl_out_printf(out, "  %-10s%s\n", ovl_commands[i].name, ovl_commands[i].summary);
    }
    print_options(out, &ovl_program_options);
    print_exits(out);
    ovl_out_text(out, "\novl COMMAND --help says more about one command.\n");
}

static void print_examples(ovl_out *out, const char *examples)
{
    ovl_out_title(out, "\nExamples");
    while (*examples) {
        size_t length = strcspn(examples, "\n");
        ovl_out_text(out, "  ");
        ovl_out_write(out, examples, length);
        ovl_out_text(out, "\n");
        examples += length + (examples[length] == '\n');
    }
}

void ovl_help_command(ovl_out *out, const ovl_command *command)
{
    ovl_out_printf(out, "ovl %s: %s\n\n", command->name, command->summary);
    ovl_out_printf(out, "Usage: ovl %s [options] %s\n\n", command->name, command->operands);
    ovl_wrap(out, "", 0, command->about, OVL_TERMINAL);
    print_options(out, command->options);
    print_exits(out);
    print_examples(out, command->examples);
}
