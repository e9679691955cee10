/*
 * part.h - which part of a long work goes on: a line on a terminal while it lasts, and what an
 * interrupt says.
 *
 *     preparing the program, 3 s                             from the second second on, over itself
 *     error: interrupted while preparing the program, after 3.2 s
 *
 * A part that counts shows a line of its own (progress.h), and this one is silent meanwhile. The
 * line is written by a timer's signal, so that whoever works need not think of it; it is there only
 * if ovl_part_shown was asked for and standard error is a terminal.
 */
#ifndef OVL_TOOLS_PART_H
#define OVL_TOOLS_PART_H

/* From now on parts show their line. */
void ovl_part_shown(void);

/* A part begins: "reading the scenario". The text must stay. */
void ovl_part_begin(const char *what);

/* The same without a line: somebody else writes on the terminal. */
void ovl_part_silent(const char *what);

/* The part goes on, but its line is taken away until the next begins. */
void ovl_part_quiet(void);

/* What a handler of a signal may say before it ends the program. */
void ovl_part_last_words(void);

#endif
