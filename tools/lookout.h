/*
 * lookout.h - looks on while a run lasts: a line of progress on a terminal, and Ctrl-C.
 *
 * From the second second on a terminal shows
 *
 *     4,100,000 of 12,000,000 operations, 2050000 a second, 4 s left
 *
 * (of many runs alike "12 of 72 what-ifs, 15 a second, 4 s left"), which is taken away in the end.
 * SIGINT waits while a run lasts and is looked for every few thousand events: the run stops, and
 * the error says how far it got. Outside of runs it ends the program at once (deadly.h), and so
 * does one that came when the last event was over.
 */
#ifndef OVL_TOOLS_LOOKOUT_H
#define OVL_TOOLS_LOOKOUT_H

#include "sim/engine.h"
#include "tools/progress.h"

#include <signal.h>

typedef struct ovl_lookout {
    ovl_watch watch; /* for ovl_run_options; the lookout must stay where it is */
    ovl_out *err;
    double began; /* seconds: when the first run did */
    ovl_progress line;
    bool holds;   /* SIGINT */
    bool stopped; /* by SIGINT; no run goes on after that */
    uint32_t n_runs;
    sigset_t before;
} ovl_lookout;

void ovl_lookout_begin(ovl_lookout *lookout, ovl_out *err);

/* Bytes that a run may take: what memory the machine has, or OVL_MEMORY (in the environment,
 * "8GiB") says; 0: not known. */
uint64_t ovl_lookout_memory(void);

/* What is wrong with OVL_MEMORY, static text to be said of its value; NULL: nothing. A limit that
 * cannot be read would be none. */
const char *ovl_lookout_mistake(void);

#endif
