#include "tools/lines.h"

#include <string.h>

bool ovl_line_next(ovl_source *source, ovl_slice *line)
{
    char *newline;
    while (!(newline = memchr(source->at, '\n', (size_t)(source->end - source->at))) &&
           ovl_source_more(source)) {
    }
    char *end = newline ? newline : source->end;
    *line = (ovl_slice){source->at, (size_t)(end - source->at)};
    if (line->length && line->text[line->length - 1] == '\r') {
        line->length--;
    }
    bool any = newline || source->at < source->end;
    source->at = newline ? newline + 1 : source->end;
    return any;
}

#define PREFIX_BYTES 128 /* the most that a launcher puts before a line */

static bool one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static size_t bracket(ovl_slice line)
{
    size_t n = 1;
    while (n < line.length && n < PREFIX_BYTES && !one_of(line.text[n], "[]{}\"\n")) {
        n++;
    }
    if (n == 1 || n >= line.length || line.text[n] != ']') {
        return 0;
    }
    n++;
    const ovl_slice rest = {line.text + n, line.length - n};
    if (ovl_slice_starts(rest, "<stdout>:") || ovl_slice_starts(rest, "<stderr>:")) {
        return n + 9;
    }
    return rest.length > 1 && *rest.text == ' ' && !one_of(rest.text[1], ",]}") ? n : 0;
}

size_t ovl_launcher_prefix(ovl_slice line)
{
    if (line.length && *line.text == '[') {
        return bracket(line);
    }
    size_t n = 0;
    while (n < line.length && n < PREFIX_BYTES && !one_of(line.text[n], " \t\r\n#\"{")) {
        n++;
    }
    bool label = n > 1 && n < line.length && line.text[n] == ' ' && line.text[n - 1] == ':';
    return label ? n : 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip(ovl_slice *line, size_t count)
{
    line->text += count;
    line->length -= count;
}

bool ovl_word_next(ovl_slice *line, ovl_slice *word)
{
    while (line->length && is_blank(*line->text)) {
        skip(line, 1);
    }
    size_t n = 0;
    while (n < line->length && !is_blank(line->text[n])) {
        n++;
    }
    *word = (ovl_slice){line->text, n};
    skip(line, n);
    return n > 0;
}

static bool around(char c)
{
    return is_blank(c) || c == '"';
}

/* A comma inside quotes belongs to the field. */
bool ovl_field_next(ovl_slice *line, ovl_slice *field)
{
    if (!line->text) {
        return false;
    }
    size_t n = 0;
    bool quoted = false;
    for (; n < line->length && (quoted || line->text[n] != ','); n++) {
        quoted ^= line->text[n] == '"';
    }
    *field = (ovl_slice){line->text, n};
    if (n == line->length) {
        *line = (ovl_slice){0};
    } else {
        skip(line, n + 1);
    }
    while (field->length && around(*field->text)) {
        skip(field, 1);
    }
    while (field->length && around(field->text[field->length - 1])) {
        field->length--;
    }
    return true;
}
