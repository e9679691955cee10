#include "tools/help.h"

#include "models/bounds.h"

#include <string.h>

/* Text for roff: a backslash, a dash and a dot or quote at the start of a line mean something. */
static void roff(ovl_out *out, const char *text)
{
    bool start = true;
    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\'')) {
            ovl_out_text(out, "\\&");
        }
        if (*text == '\\') {
            ovl_out_text(out, "\\e");
        } else if (*text == '-') {
            ovl_out_text(out, "\\-");
        } else {
            ovl_out_write(out, text, 1);
        }
        start = *text == '\n';
    }
}

/* Paragraphs: an empty line between them becomes .PP; a line that begins with blanks stands as it
 * is. */
static void paragraphs(ovl_out *out, const char *text)
{
    bool example = false;
    while (*text) {
        size_t length = strcspn(text, "\n");
        bool shown = length && text[0] == ' ';
        if (shown != example) {
            ovl_out_text(out, shown ? ".nf\n" : ".fi\n");
            example = shown;
        }
        if (length == 0) {
            ovl_out_text(out, ".PP\n");
        } else {
            char line[1024];
            assert(length < sizeof line);
            memcpy(line, text, length);
            line[length] = '\0';
            roff(out, line);
            ovl_out_text(out, "\n");
        }
        text += length + (text[length] == '\n');
    }
    ovl_out_text(out, example ? ".fi\n" : "");
}

static void option_entry(ovl_out *out, const ovl_option *option)
{
    ovl_out_text(out, ".TP\n");
    if (option->letter) {
        ovl_out_printf(out, "\\fB\\-%c\\fR, ", option->letter);
    }
    ovl_out_text(out, "\\fB\\-\\-");
    roff(out, option->name);
    ovl_out_text(out, "\\fR");
    if (option->value) {
        ovl_out_text(out, " \\fI");
        roff(out, option->value);
        ovl_out_text(out, "\\fR");
    }
    ovl_out_text(out, option->repeat ? " ...\n" : "\n");
    roff(out, option->doc);
    ovl_out_text(out, "\n");
}

static void options(ovl_out *out, const ovl_option_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        option_entry(out, &table->items[i]);
    }
}

static void command_section(ovl_out *out, const ovl_command *command)
{
    ovl_out_printf(out, ".SS \"ovl %s [options] %s\"\n", command->name, command->operands);
    paragraphs(out, command->about);
    options(out, command->options);
    ovl_out_text(out, ".PP\nExamples:\n.nf\n");
    roff(out, command->examples);
    ovl_out_text(out, "\n.fi\n");
}

static void bounds_section(ovl_out *out)
{
    ovl_arena arena = {0};
    ovl_out_text(out, ".SH LIMITS\nWhat is larger is an error before anything is simulated.\n");
    for (uint32_t i = 0; i < ovl_n_bounds; i++) {
        const ovl_bound *bound = &ovl_bounds[i];
        ovl_out_printf(out, ".TP\n%s: %s\n", bound->what, ovl_bound_text(bound->most, &arena));
        roff(out, bound->about);
        ovl_out_text(out, "\n");
    }
    ovl_out_text(out, ".PP\n");
    roff(out, ovl_bound_of_memory);
    ovl_out_text(out, "\n");
    ovl_arena_free(&arena);
}

void ovl_docs_man(ovl_out *out)
{
    ovl_out_printf(out, ".\\\" Printed by tools/dev/ovl_docs from the table of commands.\n"
                        ".TH OVL 1 \"\" \"overlapsim " OVL_VERSION "\" \"User Commands\"\n"
                        ".SH NAME\novl \\- predict what a change of schedule does to a "
                        "distributed training step\n.SH SYNOPSIS\n");
    for (uint32_t i = 0; i < ovl_n_commands; i++) {
        ovl_out_printf(out, "%s.B ovl %s\n[options] %s\n", i ? ".br\n" : "", ovl_commands[i].name,
                       ovl_commands[i].operands);
    }
    ovl_out_text(out, ".SH OPTIONS\n");
    options(out, &ovl_program_options);
    ovl_out_text(out, ".SH COMMANDS\n");
    for (uint32_t i = 0; i < ovl_n_commands; i++) {
        command_section(out, &ovl_commands[i]);
    }
    ovl_out_text(out, ".SH \"EXIT STATUS\"\n");
    for (uint32_t i = 0; i < ovl_n_exit_meanings; i++) {
        ovl_out_printf(out, ".TP\n%d\n", ovl_exit_meanings[i].status);
        roff(out, ovl_exit_meanings[i].meaning);
        ovl_out_text(out, "\n");
    }
    bounds_section(out);
    ovl_out_text(out,
                 ".SH ENVIRONMENT\n.TP\nNO_COLOR\nif set and not empty, headings are not "
                 "shown in bold on a terminal\n.TP\nCOLUMNS\ncolumns that the chart of a pipeline "
                 "may take where the output is no terminal (default 100; a terminal says it "
                 "itself)\n.TP\nOVL_MEMORY\nmost memory that a run may need (8GiB); default: "
                 "what the machine has\n");
}
