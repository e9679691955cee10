#include "tools/wrap.h"

#include <string.h>

static size_t width_of(const char *text, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length; i++) {
        columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return columns;
}

size_t ovl_width(const char *text)
{
    return width_of(text, strlen(text));
}

/* Bytes of the first `columns` code points. */
static size_t prefix(const char *text, size_t columns)
{
    size_t at = 0;
    while (text[at] && (columns || ((unsigned char)text[at] & 0xC0) == 0x80)) {
        columns -= ((unsigned char)text[at] & 0xC0) != 0x80;
        at++;
    }
    return at;
}

const char *ovl_cut(ovl_arena *arena, const char *text, size_t width)
{
    size_t total = ovl_width(text);
    if (total <= width) {
        return text;
    }
    size_t head = (width - 2) / 2, tail = width - 2 - head;
    return ovl_arena_printf(arena, "%.*s..%s", (int)prefix(text, head), text,
                            text + prefix(text, total - tail));
}

/* One line of the text, without its newline, from column `at`. */
static void wrap_line(ovl_out *out, const char *text, size_t length, size_t at, unsigned indent,
                      unsigned width)
{
    size_t done = 0;
    bool fresh = true; /* nothing on this line yet but the indent */
    while (done < length) {
        size_t blanks = strspn(text + done, " ");
        size_t word = strcspn(text + done + blanks, " \n");
        if (done + blanks >= length) {
            break;
        }
        size_t wide = width_of(text + done + blanks, word);
        size_t gap = fresh && done > 0 ? 0 : blanks;
        if (!fresh && at + gap + wide > width) {
            ovl_out_printf(out, "\n%*s", (int)indent, "");
            at = indent;
            gap = 0;
        }
        ovl_out_printf(out, "%*s", (int)gap, "");
        ovl_out_write(out, text + done + blanks, word);
        at += gap + wide;
        done += blanks + word;
        fresh = false;
    }
}

void ovl_wrap(ovl_out *out, const char *lead, unsigned indent, const char *text, unsigned width)
{
    ovl_out_text(out, lead);
    size_t at = ovl_width(lead);
    for (;;) {
        size_t length = strcspn(text, "\n");
        wrap_line(out, text, length, at, indent, width);
        ovl_out_text(out, "\n");
        if (text[length] == '\0') {
            return;
        }
        text += length + 1;
        ovl_out_printf(out, "%*s", (int)indent, "");
        at = indent;
    }
}
