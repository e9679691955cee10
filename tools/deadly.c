#include "tools/deadly.h"

#include "sim/base.h"
#include "tools/part.h"

#include <unistd.h>

static void end(int number)
{
    ovl_part_last_words();
    _exit(128 + number);
}

void ovl_deadly_told(void)
{
    struct sigaction now, told = {.sa_handler = end};
    sigemptyset(&told.sa_mask);
    sigaddset(&told.sa_mask, SIGALRM); /* what is said is said whole (part.h) */
    if (sigaction(SIGINT, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
        now.sa_handler == SIG_DFL) {
        sigaction(SIGINT, &told, NULL);
    }
}

void ovl_deadly_signals(sigset_t *set)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(set);
    for (size_t i = 0; i < OVL_COUNT(ending); i++) {
        struct sigaction now;
        if (sigaction(ending[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
            (now.sa_handler == SIG_DFL || now.sa_handler == end)) {
            sigaddset(set, ending[i]);
        }
    }
}
