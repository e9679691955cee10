#include "tools/help.h"
#include "tools/work.h"

int ovl_cmd_help(const ovl_args *args, const ovl_shell *shell)
{
    if (args->n_operands == 0) {
        ovl_help_program(shell->out);
        return OVL_EXIT_DONE;
    }
    const ovl_command *command = ovl_command_find(args->operands[0]);
    if (command) {
        ovl_help_command(shell->out, command);
        return OVL_EXIT_DONE;
    }
    ovl_work work;
    ovl_work_begin(&work, shell);
    ovl_command_unknown(args->operands[0], &work.errs);
    return ovl_work_end(&work, OVL_EXIT_DONE);
}
