/*
 * deadly.h - the signals that would end the program: SIGINT, SIGTERM and SIGHUP, as far as nobody
 * ignores or handles them. Whoever has something to finish first blocks these and looks for them.
 *
 * Example: under nohup SIGHUP is ignored, so the set is SIGINT and SIGTERM.
 */
#ifndef OVL_TOOLS_DEADLY_H
#define OVL_TOOLS_DEADLY_H

#include <signal.h>

void ovl_deadly_signals(sigset_t *set);

#endif
