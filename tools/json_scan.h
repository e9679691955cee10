/*
 * json_scan.h - scans JSON that may be damaged, in place: no copies, no tree, no recursion.
 *
 * A cursor walks text that ends in a NUL. Every step can meet the end of what is there
 * (OVL_SCAN_MORE: read more and start the member again) or a fault (OVL_SCAN_BAD).
 *
 *     {"name": "a "quoted" name", "dur": inf}
 *
 * A quote closes a text only if what follows could follow a text, so the unescaped quotes above are
 * part of the name (`repaired` is set); words that are no JSON (inf, N/A) are values of the kind
 * OVL_SCAN_WORD. Nested values are measured, not looked into; scan them again from their slice.
 */
#ifndef OVL_TOOLS_JSON_SCAN_H
#define OVL_TOOLS_JSON_SCAN_H

#include "tools/read.h"

typedef enum ovl_scan_result {
    OVL_SCAN_DONE, /* there is a value */
    OVL_SCAN_END,  /* the closing bracket */
    OVL_SCAN_MORE,
    OVL_SCAN_BAD,
} ovl_scan_result;

typedef enum ovl_scan_kind {
    OVL_SCAN_TEXT, /* the slice is what stands between the quotes, escapes and all */
    OVL_SCAN_WORD, /* a number, true, NaN, N/A ... */
    OVL_SCAN_OBJECT,
    OVL_SCAN_ARRAY, /* the slice has the brackets */
} ovl_scan_kind;

typedef struct ovl_scan_value {
    ovl_scan_kind kind;
    ovl_slice slice;
} ovl_scan_value;

typedef struct ovl_cursor {
    const char *at, *end; /* *end is a NUL or behind a closing bracket */
    bool repaired;        /* some text had unescaped quotes or control characters */
} ovl_cursor;

/* Past blanks and commas. */
void ovl_scan_blanks(ovl_cursor *cursor);

/* The next member of an object; the cursor stands behind `{` or behind a member. At OVL_SCAN_END it
 * is behind the `}`. */
ovl_scan_result ovl_scan_member(ovl_cursor *cursor, ovl_slice *key, ovl_scan_value *value);

/* A value; in arrays, and at the top. */
ovl_scan_result ovl_scan_value_next(ovl_cursor *cursor, ovl_scan_value *value);

/* A text with the escapes undone, as far as `room` bytes with the NUL go. */
const char *ovl_scan_unescape(ovl_slice slice, char *buffer, size_t room);

/* The same for a name that will be shown: what a terminal could take for a command becomes '?'. */
const char *ovl_scan_name(ovl_slice slice, char *buffer, size_t room);

/* The integer a number or quoted number stands for, times 10^shift. False if there is none. */
bool ovl_scan_integer(const ovl_scan_value *value, int shift, int64_t *out);

#endif
