/*
 * An interrupted program says what was going on.
 */
#include "tools/deadly.h"
#include "tools/lookout.h"
#include "tools/part.h"

#include "tests/support/check.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct last_words {
    int status;
    char text[200];
} last_words;

static void interrupt_itself(void)
{
    ovl_part_silent("waiting for a test");
    raise(SIGINT);
}

/* Behind the last event of a run, before it is over. */
static void interrupt_a_run(void)
{
    ovl_out err;
    ovl_lookout lookout;
    ovl_run_progress progress = {.stage = OVL_BEGINS};
    ovl_out_stream(&err, stderr);
    ovl_lookout_begin(&lookout, &err);
    CHECK(lookout.watch.look(lookout.watch.context, &progress));
    raise(SIGINT);
    progress.stage = OVL_IS_OVER;
    lookout.watch.look(lookout.watch.context, &progress);
}

static void be_interrupted(int to, void (*before)(int number), void (*how)(void))
{
    dup2(to, STDERR_FILENO);
    signal(SIGINT, before);
    ovl_deadly_told();
    how();
    _exit(7);
}

/* A child with this handler of SIGINT asks to be told, and interrupts itself. */
static last_words interrupted(void (*before)(int number), void (*how)(void))
{
    last_words last = {0};
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        be_interrupted(ends[1], before, how);
    }
    close(ends[1]);
    CHECK(child > 0 && waitpid(child, &last.status, 0) == child);
    CHECK(read(ends[0], last.text, sizeof last.text - 1) >= 0);
    close(ends[0]);
    return last;
}

static void an_interrupt_says_what_was_going_on(void)
{
    last_words last = interrupted(SIG_DFL, interrupt_itself);
    CHECK_TEXT(last.text, "error: interrupted while waiting for a test, after 0.0 s\n");
    CHECK(WIFEXITED(last.status));
    CHECK_INT(WEXITSTATUS(last.status), 130);
}

/* Whoever asked for the run may not look whether somebody took the signal. */
static void one_behind_the_last_event_is_not_lost(void)
{
    last_words last = interrupted(SIG_DFL, interrupt_a_run);
    CHECK_TEXT(last.text, "error: interrupted while analysing the run, after 0.0 s\n");
    CHECK(WIFEXITED(last.status));
    CHECK_INT(WEXITSTATUS(last.status), 130);
}

/* As under nohup, or in the background of a script. */
static void one_that_is_ignored_stays_so(void)
{
    last_words last = interrupted(SIG_IGN, interrupt_itself);
    CHECK_TEXT(last.text, "");
    CHECK(WIFEXITED(last.status));
    CHECK_INT(WEXITSTATUS(last.status), 7);
}

/* Whoever blocks deadly signals blocks one that is told, too. */
static void one_that_is_told_is_deadly(void)
{
    sigset_t set;
    struct sigaction before;
    sigaction(SIGINT, NULL, &before);
    signal(SIGINT, SIG_IGN);
    ovl_deadly_signals(&set);
    CHECK_INT(sigismember(&set, SIGINT), 0);
    signal(SIGINT, SIG_DFL);
    ovl_deadly_told();
    ovl_deadly_signals(&set);
    CHECK_INT(sigismember(&set, SIGINT), 1);
    sigaction(SIGINT, &before, NULL);
}

static CU_TestInfo tests[] = {
    {"an interrupt says what was going on", an_interrupt_says_what_was_going_on},
    {"one behind the last event is not lost", one_behind_the_last_event_is_not_lost},
    {"one that is ignored stays so", one_that_is_ignored_stays_so},
    {"one that is told is deadly", one_that_is_told_is_deadly},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("deadly signals", tests);
}
