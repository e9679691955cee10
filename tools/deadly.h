/*
 * deadly.h - the signals that would end the program: SIGINT, SIGTERM and SIGHUP, as far as nobody
 * ignores or handles them. Whoever has something to finish first blocks these and looks for them
 * (pool.h, lookout.h, out.h). Where nobody does, SIGINT ends the program with a line that says what
 * was going on, and exit status 130.
 *
 * Example: under nohup SIGHUP is ignored, so the set is SIGINT and SIGTERM.
 */
#ifndef OVL_TOOLS_DEADLY_H
#define OVL_TOOLS_DEADLY_H

#include <signal.h>

void ovl_deadly_signals(sigset_t *set);

/* From now on SIGINT says in which part of the work it came (part.h), and exits. Not if it is
 * ignored. */
void ovl_deadly_told(void);

#endif
