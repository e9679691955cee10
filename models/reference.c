#include "models/reference.h"

#include "models/bounds.h"
#include "sim/vec.h"

#include <string.h>

typedef OVL_VEC(char) page;

static void put_part(page *p, const char *text, size_t length)
{
    ovl_vec_reserve(p, p->len + (uint64_t)length);
    memcpy(p->data + p->len, text, length);
    p->len += (uint32_t)length;
}

static void put(page *p, const char *text)
{
    put_part(p, text, strlen(text));
}

/* Text of a table's cell: a bar would end it. */
static void put_cell(page *p, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '|') {
            put(p, "\\");
        }
        put_part(p, text + i, 1);
    }
}

/* "[hardware.gpu](#hardwaregpu)": anchors keep letters, digits and hyphens of the heading. */
static void put_link(page *p, const char *title)
{
    put(p, "[");
    put(p, title);
    put(p, "](#");
    for (const char *c = title; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        if (letter || (*c >= '0' && *c <= '9') || *c == '_') {
            char lower = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
            put_part(p, &lower, 1);
        }
    }
    put(p, ")");
}

/* --- Types --- */

static const char *type_word(const ovl_field *field)
{
    static const char *const words[] = {
        [OVL_F_TEXT] = "text",
        [OVL_F_PATTERN] = "pattern",
        [OVL_F_BOOL] = "true or false",
        [OVL_F_COUNT] = "count",
        [OVL_F_TIME] = "duration",
        [OVL_F_BYTES] = "size",
        [OVL_F_RATE] = "rate",
        [OVL_F_FLOPS] = "FLOP",
        [OVL_F_FLOP_RATE] = "FLOP/s",
        [OVL_F_RATIO] = "ratio",
        [OVL_F_ENUM] = "",
        [OVL_F_TEXTS] = "text, or list of texts",
        [OVL_F_TIMES] = "duration, or list of one a rank",
        [OVL_F_RATIOS] = "ratio, or list of ratios",
        [OVL_F_SIZES] = "size, or list of one a rank",
        [OVL_F_MAP] = "mapping",
        [OVL_F_LIST] = "list of mappings",
        [OVL_F_NODE] = "value",
    };
    if (field->more.cells) {
        return "ratio, list of ratios, or matrix";
    }
    if (field->type == OVL_F_TIMES && field->more.table && !field->more.shape) {
        return "duration, list of one a rank, or mapping";
    }
    return field->more.shape ? field->more.shape : words[field->type];
}

/* The first name of each value. */
static void put_names(page *p, const ovl_field_more *more)
{
    for (size_t i = 0; more->names[i]; i++) {
        if (more->values && i && more->values[i] == more->values[i - 1]) {
            continue;
        }
        put(p, i ? ", `" : "`");
        put(p, more->names[i]);
        put(p, "`");
    }
}

static void put_type(page *p, const ovl_field *field, ovl_arena *arena)
{
    put(p, type_word(field));
    if (field->type == OVL_F_ENUM) {
        put_names(p, &field->more);
    }
    if (field->type == OVL_F_COUNT && field->more.min && field->more.max) {
        put(p,
            ovl_arena_printf(arena, ", %" PRId64 " to %" PRId64, field->more.min, field->more.max));
    }
    if (field->flags & OVL_FIELD_POSITIVE) {
        put(p, " > 0");
    }
    if (field->more.table) {
        put(p, ": ");
        put_link(p, field->more.table->title);
    }
}

/* --- Keys --- */

/* Where the sentence of the default begins: the last "Default" that begins a sentence, or the end
 * of the text. */
static size_t default_at(const char *doc)
{
    size_t found = strlen(doc);
    for (const char *at = doc; (at = strstr(at, "Default")); at++) {
        if (at == doc || (at - doc > 1 && at[-1] == ' ' && at[-2] == '.')) {
            found = (size_t)(at - doc);
        }
    }
    return found;
}

/* "Default 25 MiB." or "Default: that of the workload.": what it is, without the full stop. */
static void put_default(page *p, const ovl_field *field, const char *sentence)
{
    if (field->flags & OVL_FIELD_REQUIRED) {
        put(p, "required");
        return;
    }
    const char *text = sentence + (*sentence ? strlen("Default") : 0);
    text += strspn(text, ": ");
    size_t length = strlen(text);
    put_cell(p, text, length && text[length - 1] == '.' ? length - 1 : length);
}

static void put_field(page *p, const ovl_field *field, ovl_arena *arena)
{
    size_t end = default_at(field->doc);
    const char *sentence = field->doc + end;
    while (end && field->doc[end - 1] == ' ') {
        end--;
    }
    put(p, "| `");
    put(p, field->key);
    put(p, "` | ");
    put_type(p, field, arena);
    put(p, " | ");
    put_default(p, field, sentence);
    put(p, " | ");
    put_cell(p, field->doc, end);
    put(p, " |\n");
}

static void put_table(page *p, const ovl_table *table, ovl_arena *arena)
{
    put(p, "\n## ");
    put(p, table->title);
    put(p, "\n\n");
    put(p, table->intro ? table->intro : "");
    put(p, "\n\n| key | type | default | meaning |\n|---|---|---|---|\n");
    for (uint32_t i = 0; i < table->n_fields; i++) {
        put_field(p, &table->fields[i], arena);
    }
}

static void put_bounds(page *p, ovl_arena *arena)
{
    put(p, "\n## limits\n\nWhat is larger is an error before anything is simulated.\n\n"
           "| of | at most | what is counted |\n|---|---|---|\n");
    for (uint32_t i = 0; i < ovl_n_bounds; i++) {
        const ovl_bound *bound = &ovl_bounds[i];
        put(p, ovl_arena_printf(arena, "| %s | %s | %s |\n", bound->what,
                                ovl_bound_text(bound->most, arena), bound->about));
    }
    put(p, ovl_arena_printf(arena, "\n%s\n", ovl_bound_of_memory));
}

const char *ovl_reference_page(const ovl_table *const *tables, uint32_t n_tables, ovl_arena *arena)
{
    page p = {0};
    put(&p,
        "# Scenario reference\n\n"
        "Every key of a scenario, written by the tables that read it. Values: a *duration* is "
        "`7 ms` (ps, ns, us, ms, s, min, h); a *size* `25 MiB` or `25 MB`; a *rate* `450 GB/s`, "
        "`16 MiB/ms` or `400 Gb/s`; a *ratio* `1.25`, `29/25` or `85 %`; a *count* `16`, "
        "`40_000_000` or `40e6`; a *pattern* is an extended regular expression (POSIX), whose "
        "length times its repeats is at most 4000 characters.\n");
    for (uint32_t i = 0; i < n_tables; i++) {
        put_table(&p, tables[i], arena);
    }
    put_bounds(&p, arena);
    const char *text = ovl_arena_strndup(arena, p.data, p.len);
    ovl_vec_free(&p);
    return text;
}
