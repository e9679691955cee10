/*
 * lines.h - lines of a source, and words of a line.
 *
 *     ovl_slice line, word;
 *     while (ovl_line_next(&source, &line)) {
 *         while (ovl_word_next(&line, &word)) { ... }
 *     }
 */
#ifndef OVL_TOOLS_LINES_H
#define OVL_TOOLS_LINES_H

#include "tools/read.h"

/* The next line without its end; a line longer than the window comes in pieces. False at the end of
 * the file. Good until the next call. */
bool ovl_line_next(ovl_source *source, ovl_slice *line);

/* How many bytes at the begin of a line a launcher put before what the program printed: "[node1] ",
 * "[1,0]<stdout>:", "0: ", "node1: ". 0: none. */
size_t ovl_launcher_prefix(ovl_slice line);

/* Takes the first word, which blanks end, off the line. False if there is none. */
bool ovl_word_next(ovl_slice *line, ovl_slice *word);

/* Takes the first field, which a comma ends, off the line, without blanks and quotes around it.
 * False if nothing is left. */
bool ovl_field_next(ovl_slice *line, ovl_slice *field);

#endif
