/*
 * wrap.h - running text broken into lines, and the width of text on a terminal.
 *
 *     ovl_wrap(out, "  - ", 4, "communication of size 0 takes no time", 30);
 *
 *       - communication of size 0
 *         takes no time
 */
#ifndef OVL_TOOLS_WRAP_H
#define OVL_TOOLS_WRAP_H

#include "tools/out.h"

/* Columns of a UTF-8 text, one for each code point: close enough for names. */
size_t ovl_width(const char *text);

/* The text, or what is left of it with its middle cut: "block..weight". Names differ at their ends
 * as often as at their beginnings. `width` is at least 3. */
const char *ovl_cut(ovl_arena *arena, const char *text, size_t width);

/* Writes `lead` and `text`, broken at blanks so that no line is wider than `width` unless a single
 * word is; further lines are indented by `indent`. Newlines in the text are kept, as are the blanks
 * after them. Ends with a newline. */
void ovl_wrap(ovl_out *out, const char *lead, unsigned indent, const char *text, unsigned width);

#endif
