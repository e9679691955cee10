#include "tools/deadly.h"

#include "sim/base.h"

#include <string.h>
#include <unistd.h>

/* A handler gets nothing but the number of its signal. */
static const char *volatile doing = "it begins";

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void end(int number)
{
    say("ovl: interrupted while ");
    say(doing);
    say("\n");
    _exit(128 + number);
}

void ovl_deadly_told(void)
{
    struct sigaction now, told = {.sa_handler = end};
    sigemptyset(&told.sa_mask);
    if (sigaction(SIGINT, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
        now.sa_handler == SIG_DFL) {
        sigaction(SIGINT, &told, NULL);
    }
}

void ovl_deadly_doing(const char *what)
{
    doing = what;
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
