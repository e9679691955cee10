/*
 * json.h - writes JSON as it goes, so that a trace of any size needs no memory.
 *
 * Objects and arrays are open or closed by calls that must nest (asserted). A block puts each of
 * its members on a line of its own; a flow stays on one line, so that a table has one row a line.
 *
 *     ovl_json j;
 *     ovl_json_begin(&j, &out);
 *     ovl_json_object(&j, NULL, OVL_JSON_BLOCK);
 *     ovl_json_text(&j, "name", "a\"b");
 *     ovl_json_array(&j, "rows", OVL_JSON_FLOW);
 *     ovl_json_uint(&j, NULL, 7);
 *     ovl_json_close(&j);
 *     ovl_json_close(&j);
 *     ovl_json_end(&j);                           {\n  "name": "a\"b",\n  "rows": [7]\n}\n
 *
 * Times are seconds with exactly 12 decimals, the picosecond: 0.213000000000.
 */
#ifndef OVL_TOOLS_JSON_H
#define OVL_TOOLS_JSON_H

#include "tools/out.h"

#define OVL_JSON_DEPTH 32

typedef enum ovl_json_layout { OVL_JSON_BLOCK, OVL_JSON_FLOW } ovl_json_layout;

typedef struct ovl_json {
    ovl_out *out;
    unsigned depth;
    struct {
        char end; /* ']' or '}' */
        ovl_json_layout layout;
        bool any; /* it has a member */
    } level[OVL_JSON_DEPTH];
    bool done;
    bool in_html; /* "<" is escaped, too: the text stands in a script element; set after begin */
} ovl_json;

void ovl_json_begin(ovl_json *json, ovl_out *out);
void ovl_json_end(ovl_json *json); /* with a newline; everything must be closed */

/* `key` is NULL inside an array and at the top, else it must be given. */
void ovl_json_object(ovl_json *json, const char *key, ovl_json_layout layout);
void ovl_json_array(ovl_json *json, const char *key, ovl_json_layout layout);
void ovl_json_close(ovl_json *json);

void ovl_json_text(ovl_json *json, const char *key, const char *text);
void ovl_json_bool(ovl_json *json, const char *key, bool value);
void ovl_json_uint(ovl_json *json, const char *key, uint64_t value);
void ovl_json_int(ovl_json *json, const char *key, int64_t value);
void ovl_json_seconds(ovl_json *json, const char *key, ovl_time value);
/* The shortest decimal that reads back as the same double; it must be finite. */
void ovl_json_double(ovl_json *json, const char *key, double value);
/* Microseconds rounded down to the nanosecond, as traces carry them: "12.345". */
void ovl_json_micros(ovl_json *json, const char *key, ovl_time value);

/* The same, but nothing at all where the value does not apply: NULL, OVL_NEVER, negative. */
void ovl_json_text_if(ovl_json *json, const char *key, const char *text);
void ovl_json_seconds_if(ovl_json *json, const char *key, ovl_time value);
void ovl_json_double_if(ovl_json *json, const char *key, double value);

#endif
