#include "tools/lookout.h"

#include "sim/units.h"
#include "tools/deadly.h"
#include "tools/part.h"

#include <time.h>
#include <unistd.h>

#define PATIENCE 1.0 /* seconds before a line of progress appears */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whoever ignores or handles it keeps doing so. */
static bool interrupt_is_deadly(void)
{
    sigset_t deadly;
    ovl_deadly_signals(&deadly);
    return sigismember(&deadly, SIGINT) == 1;
}

static sigset_t interrupt(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    return set;
}

static void hold(ovl_lookout *l)
{
    sigset_t set = interrupt();
    l->holds = interrupt_is_deadly() && sigprocmask(SIG_BLOCK, &set, &l->before) == 0;
}

/* One that waited is taken: the run says what became of it. */
static bool is_interrupted(const ovl_lookout *l)
{
    sigset_t waiting, set = interrupt();
    int number;
    return l->holds && sigpending(&waiting) == 0 && sigismember(&waiting, SIGINT) == 1 &&
           sigwait(&set, &number) == 0;
}

static void release(ovl_lookout *l)
{
    if (l->holds) {
        l->holds = false;
        sigprocmask(SIG_SETMASK, &l->before, NULL);
    }
}

/* Between runs alike their line stays. */
static void after_run(const ovl_lookout *l)
{
    (l->line.width ? ovl_part_silent : ovl_part_begin)("analysing the run");
}

static bool look(void *context, const ovl_run_progress *progress)
{
    ovl_lookout *l = context;
    double now = seconds();
    switch (progress->stage) {
    case OVL_PART:
        ovl_part_begin(progress->what);
        return true;
    case OVL_BEGINS:
        l->n_runs++;
        l->began = l->began > 0 ? l->began : now;
        if (progress->n_runs < 2) {
            ovl_progress_begin(&l->line, l->err, "operations", progress->n_ops);
        } else if (progress->run == 0) {
            ovl_progress_begin(&l->line, l->err, "what-ifs", progress->n_runs);
        }
        hold(l);
        break;
    case OVL_GOES_ON:
        if (now - l->began > PATIENCE) {
            ovl_progress_at(&l->line, progress->n_runs < 2 ? progress->ended : progress->run);
        }
        break;
    case OVL_IS_OVER:
        if (progress->n_runs < 2 || progress->run + 1 == progress->n_runs || l->stopped) {
            ovl_progress_end(&l->line);
        }
        break;
    }
    if (progress->stage == OVL_IS_OVER) {
        after_run(l);
        release(l); /* one that waited arrives: there is no run left to stop */
    } else {
        l->stopped = l->stopped || is_interrupted(l);
    }
    return !l->stopped;
}

void ovl_lookout_begin(ovl_lookout *lookout, ovl_out *err)
{
    *lookout = (ovl_lookout){.err = err};
    lookout->watch = (ovl_watch){look, lookout};
}

static const char *read_limit(uint64_t *bytes)
{
    const char *said = getenv("OVL_MEMORY");
    return said && *said ? ovl_read_bytes(said, bytes) : NULL;
}

const char *ovl_lookout_mistake(void)
{
    uint64_t bytes = 0;
    return read_limit(&bytes);
}

uint64_t ovl_lookout_memory(void)
{
    uint64_t bytes = 0;
    if (!read_limit(&bytes) && bytes) {
        return bytes;
    }
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}
