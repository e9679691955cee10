#include "tools/json.h"

#include "sim/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ovl_json_begin(ovl_json *json, ovl_out *out)
{
    *json = (ovl_json){.out = out};
}

void ovl_json_end(ovl_json *json)
{
    assert(json->depth == 0 && json->done);
    ovl_out_text(json->out, "\n");
}

static void new_line(ovl_json *json)
{
    ovl_out_printf(json->out, "\n%*s", (int)json->depth * 2, "");
}

/* A byte that begins or continues no well-formed UTF-8 is shown as the replacement character, since
 * a JSON text must be Unicode (RFC 8259, 8.1). Gives the length of the sequence, 0 if it is bad. */
static size_t sequence(const unsigned char *s)
{
    if (s[0] < 0x80) {
        return 1;
    }
    size_t length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xED && s[1] > 0x9F;
    bool beyond = s[0] == 0xF4 && s[1] > 0x8F;
    return overlong || surrogate || beyond ? 0 : length;
}

static void put_byte(ovl_out *out, unsigned char c)
{
    switch (c) {
    case '"':
        ovl_out_text(out, "\\\"");
        break;
    case '\\':
        ovl_out_text(out, "\\\\");
        break;
    case '\n':
        ovl_out_text(out, "\\n");
        break;
    case '\t':
        ovl_out_text(out, "\\t");
        break;
    default:
        ovl_out_printf(out, "\\u%04x", c);
    }
}

static void put_string(ovl_json *json, const char *text)
{
    ovl_out *out = json->out;
    const unsigned char *s = (const unsigned char *)text;
    ovl_out_text(out, "\"");
    while (*s) {
        size_t plain = 0; /* bytes that need nothing, written at once */
        size_t step = 0;
        while (s[plain] >= 0x20 && s[plain] != '"' && s[plain] != '\\' && s[plain] != 0x7F &&
               !(s[plain] == '<' && json->in_html) && (step = sequence(s + plain)) != 0) {
            plain += step;
        }
        ovl_out_write(out, (const char *)s, plain);
        s += plain;
        if (*s >= 0x80) {
            ovl_out_text(out, "\xEF\xBF\xBD");
            s++;
        } else if (*s) {
            put_byte(out, *s++);
        }
    }
    ovl_out_text(out, "\"");
}

/* What stands before a value: comma, line, key. */
static void lead(ovl_json *json, const char *key)
{
    if (json->depth == 0) {
        assert(!key && !json->done);
        json->done = true;
        return;
    }
    unsigned top = json->depth - 1;
    assert((key != NULL) == (json->level[top].end == '}'));
    bool flow = json->level[top].layout == OVL_JSON_FLOW;
    if (json->level[top].any) {
        ovl_out_text(json->out, flow ? ", " : ",");
    }
    json->level[top].any = true;
    if (!flow) {
        new_line(json);
    }
    if (key) {
        put_string(json, key);
        ovl_out_text(json->out, ": ");
    }
}

static void open_level(ovl_json *json, const char *key, ovl_json_layout layout, char begin,
                       char end)
{
    assert(json->depth < OVL_JSON_DEPTH);
    lead(json, key);
    bool inside_flow = json->depth > 0 && json->level[json->depth - 1].layout == OVL_JSON_FLOW;
    unsigned top = json->depth++;
    json->level[top].end = end;
    json->level[top].layout = inside_flow ? OVL_JSON_FLOW : layout;
    json->level[top].any = false;
    ovl_out_write(json->out, &begin, 1);
}

void ovl_json_object(ovl_json *json, const char *key, ovl_json_layout layout)
{
    open_level(json, key, layout, '{', '}');
}

void ovl_json_array(ovl_json *json, const char *key, ovl_json_layout layout)
{
    open_level(json, key, layout, '[', ']');
}

void ovl_json_close(ovl_json *json)
{
    assert(json->depth > 0);
    unsigned top = --json->depth;
    if (json->level[top].any && json->level[top].layout == OVL_JSON_BLOCK) {
        new_line(json);
    }
    ovl_out_write(json->out, &json->level[top].end, 1);
}

void ovl_json_text(ovl_json *json, const char *key, const char *text)
{
    lead(json, key);
    put_string(json, text);
}

void ovl_json_bool(ovl_json *json, const char *key, bool value)
{
    lead(json, key);
    ovl_out_text(json->out, value ? "true" : "false");
}

void ovl_json_uint(ovl_json *json, const char *key, uint64_t value)
{
    lead(json, key);
    ovl_out_printf(json->out, "%" PRIu64, value);
}

void ovl_json_int(ovl_json *json, const char *key, int64_t value)
{
    lead(json, key);
    ovl_out_printf(json->out, "%" PRId64, value);
}

void ovl_json_seconds(ovl_json *json, const char *key, ovl_time value)
{
    char buf[OVL_UNITS_TEXT];
    lead(json, key);
    ovl_out_text(json->out, ovl_print_seconds(buf, value));
}

void ovl_json_double(ovl_json *json, const char *key, double value)
{
    char buf[40];
    assert(isfinite(value));
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, value);
        double back = strtod(buf, NULL);
        if (memcmp(&back, &value, sizeof back) == 0) {
            break;
        }
    }
    lead(json, key);
    ovl_out_text(json->out, buf);
}

void ovl_json_micros(ovl_json *json, const char *key, ovl_time value)
{
    assert(value >= 0);
    lead(json, key);
    ovl_out_printf(json->out, "%" PRId64 ".%03" PRId64, value / OVL_US, value % OVL_US / OVL_NS);
}

void ovl_json_text_if(ovl_json *json, const char *key, const char *text)
{
    if (text) {
        ovl_json_text(json, key, text);
    }
}

void ovl_json_seconds_if(ovl_json *json, const char *key, ovl_time value)
{
    if (value != OVL_NEVER) {
        ovl_json_seconds(json, key, value);
    }
}

void ovl_json_double_if(ovl_json *json, const char *key, double value)
{
    if (value >= 0) {
        ovl_json_double(json, key, value);
    }
}
