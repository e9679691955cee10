#include "tools/json_scan.h"

#include "tools/decimal.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static const char *blanks(const char *p, const char *end)
{
    while (p < end && is_blank(*p)) {
        p++;
    }
    return p;
}

void ovl_scan_blanks(ovl_cursor *cursor)
{
    while (cursor->at < cursor->end && (is_blank(*cursor->at) || *cursor->at == ',')) {
        cursor->at++;
    }
}

/* Where a text stands says what may follow it. */
typedef enum place { KEY, MEMBER, ITEM } place;

/* Whether the quote before `p` closes a text. */
static ovl_scan_result closes(const char *p, const char *end, place where)
{
    p = blanks(p, end);
    if (p == end) {
        return OVL_SCAN_MORE;
    }
    switch (where) {
    case KEY:
        return *p == ':' ? OVL_SCAN_DONE : OVL_SCAN_BAD;
    case MEMBER:
        if (*p == ',') {
            p = blanks(p + 1, end);
            return p == end ? OVL_SCAN_MORE : *p == '"' || *p == '}' ? OVL_SCAN_DONE : OVL_SCAN_BAD;
        }
        return *p == '}' ? OVL_SCAN_DONE : OVL_SCAN_BAD;
    case ITEM:
        break;
    }
    return *p == ',' || *p == ']' || *p == '}' || *p == ':' ? OVL_SCAN_DONE : OVL_SCAN_BAD;
}

/* What may stand behind a line break inside a text, if the break is part of the text: not what
 * begins the next member or event. */
static bool breaks_off(const char *p, const char *end)
{
    p = blanks(p, end);
    return p < end && (*p == '"' || *p == '{' || *p == '}');
}

/* The closing quote of a text is where `*p` is left. A quote that does not close in a key, or is
 * followed by a colon in a value, is a sign that the real end was missed. */
static ovl_scan_result text_end(ovl_cursor *cursor, const char **p, place where)
{
    for (const char *at = *p;; at++) {
        while ((unsigned char)*at >= ' ' && *at != '"' && *at != '\\') {
            at++;
        }
        if (at >= cursor->end || (*at == '\\' && at + 1 >= cursor->end)) {
            return OVL_SCAN_MORE;
        }
        if (*at == '"') {
            ovl_scan_result end = closes(at + 1, cursor->end, where);
            if (end != OVL_SCAN_BAD) {
                *p = at;
                return end;
            }
            if (where == KEY || *blanks(at + 1, cursor->end) == ':') {
                return OVL_SCAN_BAD;
            }
            cursor->repaired = true;
        } else if (*at == '\\') {
            at++;
            cursor->repaired |= !strchr("\"\\/bfnrtu", *at);
        } else if (*at == '\n' && breaks_off(at, cursor->end)) {
            return OVL_SCAN_BAD;
        } else {
            cursor->repaired = true;
        }
    }
}

static ovl_scan_result text(ovl_cursor *cursor, ovl_slice *slice, place where)
{
    const char *from = cursor->at + 1, *to = from;
    ovl_scan_result end = text_end(cursor, &to, where);
    if (end == OVL_SCAN_DONE) {
        *slice = (ovl_slice){from, (size_t)(to - from)};
        cursor->at = to + 1;
    }
    return end;
}

/* An event of a profiler begins with "ph" and lies in nothing but the list of events. */
static bool lost_bracket(const char *p)
{
    return strncmp(p, "{\"ph\":", 6) == 0 || strncmp(p, "{\n    \"ph\":", 11) == 0;
}

/* A whole array or object: brackets are counted, not matched, so that depth costs no memory. */
static ovl_scan_result nested(ovl_cursor *cursor, ovl_slice *slice)
{
    const char *from = cursor->at;
    uint64_t depth = 0;
    ovl_slice skipped;
    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        if (c == '"') {
            ovl_scan_result end = text(cursor, &skipped, ITEM);
            if (end != OVL_SCAN_DONE) {
                return end;
            }
            continue;
        }
        if (c == '{' && depth && lost_bracket(cursor->at)) {
            return OVL_SCAN_BAD;
        }
        cursor->at++;
        depth += c == '{' || c == '[';
        if ((c == '}' || c == ']') && --depth == 0) {
            *slice = (ovl_slice){from, (size_t)(cursor->at - from)};
            return OVL_SCAN_DONE;
        }
    }
    return OVL_SCAN_MORE;
}

/* Digits, point and minus first: most words are numbers. */
static bool in_word(char c)
{
    return (c > ',' && c < ':') || ((unsigned char)c > ' ' && c != ',' && c != '}' && c != ']' &&
                                    c != '"' && c != '{' && c != '[' && c != ':');
}

static ovl_scan_result word(ovl_cursor *cursor, ovl_slice *slice)
{
    const char *p = cursor->at;
    while (in_word(*p)) {
        p++;
    }
    if (p >= cursor->end) {
        return OVL_SCAN_MORE;
    }
    *slice = (ovl_slice){cursor->at, (size_t)(p - cursor->at)};
    if (slice->length == 0) {
        return OVL_SCAN_BAD;
    }
    cursor->at = p;
    return OVL_SCAN_DONE;
}

static ovl_scan_result value_at(ovl_cursor *cursor, ovl_scan_value *value, place where)
{
    if (cursor->at >= cursor->end) {
        return OVL_SCAN_MORE;
    }
    switch (*cursor->at) {
    case '"':
        value->kind = OVL_SCAN_TEXT;
        return text(cursor, &value->slice, where);
    case '{':
    case '[':
        value->kind = *cursor->at == '{' ? OVL_SCAN_OBJECT : OVL_SCAN_ARRAY;
        return nested(cursor, &value->slice);
    default:
        value->kind = OVL_SCAN_WORD;
        return word(cursor, &value->slice);
    }
}

ovl_scan_result ovl_scan_member(ovl_cursor *cursor, ovl_slice *key, ovl_scan_value *value)
{
    ovl_scan_blanks(cursor);
    if (cursor->at >= cursor->end) {
        return OVL_SCAN_MORE;
    }
    if (*cursor->at == '}') {
        cursor->at++;
        return OVL_SCAN_END;
    }
    if (*cursor->at != '"') {
        return OVL_SCAN_BAD;
    }
    ovl_scan_result found = text(cursor, key, KEY);
    if (found != OVL_SCAN_DONE) {
        return found;
    }
    cursor->at = blanks(cursor->at, cursor->end);
    cursor->at = blanks(cursor->at + 1, cursor->end); /* the colon */
    found = value_at(cursor, value, MEMBER);
    if (found != OVL_SCAN_DONE) {
        return found;
    }
    const char *after = blanks(cursor->at, cursor->end);
    if (after == cursor->end) {
        return OVL_SCAN_MORE;
    }
    return *after == ',' || *after == '}' ? OVL_SCAN_DONE : OVL_SCAN_BAD;
}

ovl_scan_result ovl_scan_value_next(ovl_cursor *cursor, ovl_scan_value *value)
{
    ovl_scan_blanks(cursor);
    if (cursor->at < cursor->end && *cursor->at == ']') {
        cursor->at++;
        return OVL_SCAN_END;
    }
    return value_at(cursor, value, ITEM);
}

static char escaped(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return c;
    }
}

/* Escapes of code points stay as they are: names of kernels and groups have none. */
const char *ovl_scan_unescape(ovl_slice slice, char *buffer, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < slice.length && n + 1 < room; i++) {
        char c = slice.text[i];
        if (c == '\\' && i + 1 < slice.length && slice.text[i + 1] != 'u') {
            c = escaped(slice.text[++i]);
        }
        buffer[n++] = c;
    }
    buffer[n] = '\0';
    return buffer;
}

const char *ovl_scan_name(ovl_slice slice, char *buffer, size_t room)
{
    ovl_scan_unescape(slice, buffer, room);
    for (char *p = buffer; *p; p++) {
        *p = (unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p;
    }
    return buffer;
}

bool ovl_scan_integer(const ovl_scan_value *value, int shift, int64_t *out)
{
    return (value->kind == OVL_SCAN_WORD || value->kind == OVL_SCAN_TEXT) &&
           ovl_decimal(value->slice.text, value->slice.length, shift, out);
}
