#include "tools/deadly.h"

#include "sim/base.h"

void ovl_deadly_signals(sigset_t *set)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(set);
    for (size_t i = 0; i < OVL_COUNT(ending); i++) {
        struct sigaction now;
        if (sigaction(ending[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == SIG_DFL) {
            sigaddset(set, ending[i]);
        }
    }
}
