#include "models/fields.h"

#include "models/node_map.h"
#include "models/pattern.h"

#include <string.h>

typedef struct decoder {
    ovl_arena *arena;
    ovl_errs *errs;
    ovl_node_map lists; /* decoded lists: ovl_items, ovl_texts or ovl_times */
} decoder;

static void decode_map(decoder *d, const ovl_node *node, const char *key, const ovl_table *table,
                       void *value);

/* --- What is said --- */

void ovl_wrong_shape(const ovl_node *node, const char *key, const char *wanted, ovl_errs *errs)
{
    ovl_error(errs, OVL_E_INPUT, node->mark, "%s: expected %s, found %s", key, wanted,
              ovl_node_kind_name(node));
}

#define SEARCH_MAX 1000 /* a search through more candidates would cost more than it helps */

void ovl_unknown_name(ovl_mark mark, const char *what, const char *name,
                      const char *const *candidates, size_t count, ovl_status code, ovl_errs *errs)
{
    count = OVL_MIN(count, (size_t)SEARCH_MAX);
    if (errs->count >= OVL_ERRS_MAX) { /* a search for nothing */
        ovl_error(errs, code, mark, "unknown %s", what);
        return;
    }
    const char *shown = ovl_shown(name, errs->arena);
    const char *near = ovl_nearest(name, candidates, count);
    if (near) {
        ovl_error(errs, code, mark, "unknown %s \"%s\"; did you mean \"%s\"?", what, shown, near);
    } else {
        ovl_error(errs, code, mark, "unknown %s \"%s\"", what, shown);
    }
}

void ovl_unknown_among(ovl_mark mark, const char *what, const char *name, const ovl_names *names,
                       ovl_status code, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    uint32_t n = OVL_MIN(names->count, SEARCH_MAX);
    const char **candidates = OVL_NEW_ARRAY(&scratch, const char *, n);
    for (uint32_t i = 0; i < n; i++) {
        candidates[i] = ovl_names_copy(names, i, &scratch);
    }
    ovl_unknown_name(mark, what, name, candidates, n, code, errs);
    ovl_arena_free(&scratch);
}

static const char *wanted_of(ovl_field_type type)
{
    static const char *const words[] = {
        [OVL_F_TEXT] = "text",
        [OVL_F_PATTERN] = "an extended regular expression",
        [OVL_F_BOOL] = "true or false",
        [OVL_F_COUNT] = "a whole number",
        [OVL_F_TIME] = "a duration",
        [OVL_F_BYTES] = "a size",
        [OVL_F_RATE] = "a rate",
        [OVL_F_FLOPS] = "an amount of work",
        [OVL_F_FLOP_RATE] = "a compute rate",
        [OVL_F_RATIO] = "a ratio",
        [OVL_F_ENUM] = "a name",
        [OVL_F_TEXTS] = "text or a list of texts",
        [OVL_F_TIMES] = "a duration or a list of durations",
        [OVL_F_RATIOS] = "a ratio or a list of ratios",
        [OVL_F_SIZES] = "a size or a list of sizes",
        [OVL_F_MAP] = "a mapping",
        [OVL_F_LIST] = "a list",
        [OVL_F_NODE] = "a value",
    };
    return words[type];
}

static void bad_value(decoder *d, const ovl_node *node, const char *key, const char *why)
{
    ovl_error(d->errs, OVL_E_INPUT, node->mark, "%s is \"%s\": %s", key,
              ovl_shown(node->text, d->arena), why);
}

/* --- One value --- */

static const char *read_bool(const char *text, bool *out)
{
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0) {
        return "expected true or false";
    }
    *out = yes;
    return NULL;
}

static const char *read_enum(const char *text, const ovl_field_more *more, int *out,
                             ovl_arena *arena)
{
    size_t count = 0;
    for (; more->names[count]; count++) {
        if (strcmp(more->names[count], text) == 0) {
            *out = more->values ? more->values[count] : (int)count;
            return NULL;
        }
    }
    const char *near = ovl_nearest(text, more->names, count);
    if (near) {
        return ovl_arena_printf(arena, "did you mean \"%s\"?", near);
    }
    const char *list = "expected one of";
    for (size_t i = 0; i < count; i++) {
        bool alias = more->values && i && more->values[i] == more->values[i - 1];
        list =
            alias ? list : ovl_arena_printf(arena, "%s%s %s", list, i ? "," : "", more->names[i]);
    }
    return list;
}

static const char *check_range(const ovl_field *field, const void *at, ovl_arena *arena)
{
    const ovl_field_more *more = &field->more;
    int64_t count = field->type == OVL_F_COUNT ? *(const int64_t *)at : 0;
    if (field->type == OVL_F_COUNT && more->max && (count < more->min || count > more->max)) {
        return ovl_arena_printf(arena, "must be between %" PRId64 " and %" PRId64, more->min,
                                more->max);
    }
    if (!(field->flags & OVL_FIELD_POSITIVE)) {
        return NULL;
    }
    bool positive = true;
    if (field->type == OVL_F_COUNT || field->type == OVL_F_TIME) {
        positive = *(const int64_t *)at > 0;
    } else if (field->type == OVL_F_BYTES || field->type == OVL_F_RATE) {
        positive = *(const uint64_t *)at > 0;
    } else if (field->type == OVL_F_FLOPS || field->type == OVL_F_FLOP_RATE ||
               field->type == OVL_F_RATIO) {
        positive = *(const double *)at > 0;
    }
    return positive ? NULL : "must be greater than 0";
}

static const char *read_scalar(decoder *d, const char *text, const ovl_field *field, void *at)
{
    switch (field->type) {
    case OVL_F_TEXT:
        *(const char **)at = text;
        return NULL;
    case OVL_F_PATTERN:
        *(const char **)at = text;
        return ovl_pattern_wrong(text, d->arena);
    case OVL_F_BOOL:
        return read_bool(text, at);
    case OVL_F_COUNT:
        return ovl_read_count(text, at);
    case OVL_F_TIME:
        return ovl_read_time(text, at);
    case OVL_F_BYTES:
        return ovl_read_bytes(text, at);
    case OVL_F_RATE:
        return ovl_read_rate(text, at);
    case OVL_F_FLOPS:
        return ovl_read_flops(text, at);
    case OVL_F_FLOP_RATE:
        return ovl_read_flop_rate(text, at);
    case OVL_F_RATIO:
        return ovl_read_ratio(text, at);
    case OVL_F_ENUM:
        return read_enum(text, &field->more, at, d->arena);
    case OVL_F_TEXTS:
    case OVL_F_TIMES:
    case OVL_F_RATIOS:
    case OVL_F_SIZES:
    case OVL_F_MAP:
    case OVL_F_LIST:
    case OVL_F_NODE:
        break;
    }
    assert(!"no scalar");
    return NULL;
}

/* A value that is refused leaves the member as it was. */
static bool decode_scalar(decoder *d, const ovl_node *node, const ovl_field *field, void *at)
{
    if (node->kind != OVL_NODE_SCALAR) {
        ovl_wrong_shape(node, field->key, wanted_of(field->type), d->errs);
        return false;
    }
    union {
        const char *text;
        bool yes;
        int choice;
        int64_t number;
        uint64_t size;
        double real;
    } value;
    const char *why = read_scalar(d, node->text, field, &value);
    if (why && (field->flags & OVL_FIELD_POSITIVE) && node->text[0] == '-') {
        why = "must be greater than 0"; /* more than that it must not be negative */
    }
    why = why ? why : check_range(field, &value, d->arena);
    if (why) {
        bad_value(d, node, field->key, why);
        return false;
    }
    bool text = field->type == OVL_F_TEXT || field->type == OVL_F_PATTERN;
    size_t size = field->type == OVL_F_BOOL   ? sizeof value.yes
                  : field->type == OVL_F_ENUM ? sizeof value.choice
                  : text                      ? sizeof value.text
                                              : sizeof value.number;
    memcpy(at, &value, size);
    return true;
}

/* --- Lists --- */

static void decode_texts(decoder *d, ovl_node *node, const ovl_field *field, ovl_texts *out)
{
    const ovl_field item = {.key = field->key, .type = OVL_F_TEXT};
    bool list = node->kind == OVL_NODE_LIST;
    ovl_node *const *items = list ? node->items : &node;
    ovl_texts texts = {.count = list ? node->count : 1};
    texts.item = OVL_NEW_ARRAY(d->arena, const char *, texts.count);
    texts.mark = OVL_NEW_ARRAY(d->arena, ovl_mark, texts.count);
    texts.quoted = OVL_NEW_ARRAY(d->arena, bool, texts.count);
    for (uint32_t i = 0; i < texts.count; i++) {
        texts.item[i] = "";
        texts.mark[i] = items[i]->mark;
        texts.quoted[i] = items[i]->kind == OVL_NODE_SCALAR && items[i]->quoted;
        if (ovl_node_is_null(items[i])) {
            ovl_wrong_shape(items[i], field->key, "text", d->errs);
        } else {
            decode_scalar(d, items[i], &item, &texts.item[i]);
        }
    }
    *out = texts;
}

/* How a time varies, and the time that stands for it. */
static void decode_law(decoder *d, ovl_node *node, const ovl_field *field, ovl_times *out)
{
    const ovl_table *table = field->more.table;
    void *law = ovl_arena_alloc(d->arena, table->size, _Alignof(max_align_t));
    *out = (ovl_times){.item = OVL_NEW(d->arena, ovl_time), .count = 1, .law = law};
    decode_map(d, node, field->key, table, law);
    memcpy(out->item, law, sizeof *out->item);
}

static void decode_times(decoder *d, ovl_node *node, const ovl_field *field, ovl_times *out)
{
    const ovl_field item = {.key = field->key, .type = OVL_F_TIME, .flags = field->flags};
    bool list = node->kind == OVL_NODE_LIST;
    ovl_node *const *items = list ? node->items : &node;
    ovl_times times = {.count = list ? node->count : 1, .listed = list};
    times.item = OVL_NEW_ARRAY(d->arena, ovl_time, times.count);
    for (uint32_t i = 0; i < times.count; i++) {
        decode_scalar(d, items[i], &item, &times.item[i]);
    }
    if (times.count == 0) {
        ovl_error(d->errs, OVL_E_INPUT, node->mark, "%s: the list is empty", field->key);
    }
    *out = times;
}

/* As many rows as columns; else an error at the first row that is not so. */
static bool is_square(decoder *d, const ovl_node *node, const char *key)
{
    if (node->count > OVL_ROWS_MAX) {
        ovl_error(d->errs, OVL_E_INPUT, node->mark,
                  "%s: a matrix of %" PRIu32 " rows; at most %d are possible", key, node->count,
                  OVL_ROWS_MAX);
        return false;
    }
    for (uint32_t i = 0; i < node->count; i++) {
        const ovl_node *row = node->items[i];
        if (row->kind != OVL_NODE_LIST || row->count != node->count) {
            ovl_error(
                d->errs, OVL_E_INPUT, row->mark,
                "%s: a matrix is square, a list for each member with a value for each member: "
                "this row has %" PRIu32 " of %" PRIu32,
                key, row->kind == OVL_NODE_LIST ? row->count : 1, node->count);
            return false;
        }
    }
    return true;
}

static void decode_matrix(decoder *d, const ovl_node *node, const ovl_field *field, ovl_ratios *out)
{
    const ovl_field cell = {.key = field->key, .type = field->more.cells, .flags = field->flags};
    uint32_t n = node->count;
    if (!is_square(d, node, field->key)) {
        return;
    }
    *out = (ovl_ratios){OVL_NEW_ARRAY(d->arena, double, (size_t)n *n), n * n, n};
    for (uint32_t i = 0; i < n * n; i++) {
        uint64_t bytes = 0;
        bool sizes = field->more.cells == OVL_F_BYTES;
        decode_scalar(d, node->items[i / n]->items[i % n], &cell,
                      sizes ? (void *)&bytes : (void *)&out->item[i]);
        out->item[i] = sizes ? (double)bytes : out->item[i];
    }
}

static void decode_ratios(decoder *d, ovl_node *node, const ovl_field *field, ovl_ratios *out)
{
    const ovl_field item = {.key = field->key, .type = OVL_F_RATIO, .flags = field->flags};
    bool list = node->kind == OVL_NODE_LIST;
    ovl_node *const *items = list ? node->items : &node;
    if (list && field->more.cells && node->count && node->items[0]->kind == OVL_NODE_LIST) {
        decode_matrix(d, node, field, out);
        return;
    }
    ovl_ratios ratios = {.count = list ? node->count : 1};
    ratios.item = OVL_NEW_ARRAY(d->arena, double, ratios.count);
    for (uint32_t i = 0; i < ratios.count; i++) {
        decode_scalar(d, items[i], &item, &ratios.item[i]);
    }
    *out = ratios;
}

/* Of several ranks some may have none of what must be there. */
static void decode_sizes(decoder *d, ovl_node *node, const ovl_field *field, ovl_sizes *out)
{
    bool list = node->kind == OVL_NODE_LIST && node->count != 1;
    const ovl_field item = {
        .key = field->key, .type = OVL_F_BYTES, .flags = list ? 0 : field->flags};
    uint32_t count = list ? node->count : 1;
    uint64_t *bytes = OVL_NEW_ARRAY(d->arena, uint64_t, count);
    ovl_sizes sizes = {0};
    for (uint32_t i = 0; i < count; i++) {
        decode_scalar(d, node->kind == OVL_NODE_LIST ? node->items[i] : node, &item, &bytes[i]);
        sizes.most = OVL_MAX(sizes.most, bytes[i]);
    }
    if (list && sizes.most == 0 && d->errs->errors == 0) {
        ovl_error(d->errs, OVL_E_INPUT, node->mark, "%s: %s", field->key,
                  count ? "all sizes are 0" : "the list is empty");
    }
    if (list) {
        sizes.of = bytes;
        sizes.count = count;
    }
    *out = sizes;
}

/* Structs are large and `{}` is short: a list of many that cannot be good takes no memory. */
static bool is_hopeless(decoder *d, const ovl_node *list, const char *key)
{
    uint32_t empty = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        empty += list->items[i]->kind != OVL_NODE_MAP || list->items[i]->count == 0;
    }
    if (empty > OVL_ERRS_MAX) {
        ovl_error(d->errs, OVL_E_INPUT, list->mark,
                  "%s: %" PRIu32 " items are empty or no mappings", key, empty);
    }
    return empty > OVL_ERRS_MAX;
}

static void decode_structs(decoder *d, const ovl_node *node, const ovl_field *field, ovl_items *out)
{
    const ovl_table *table = field->more.table;
    ovl_items items = {.count = is_hopeless(d, node, field->key) ? 0 : node->count};
    items.item = ovl_arena_array(d->arena, items.count, table->size, _Alignof(max_align_t));
    for (uint32_t i = 0; i < items.count; i++) {
        decode_map(d, node->items[i], field->key, table, (char *)items.item + i * table->size);
    }
    *out = items;
}

static void decode_by_type(decoder *d, ovl_node *node, const ovl_field *field, void *at)
{
    if (field->type == OVL_F_LIST) {
        decode_structs(d, node, field, at);
    } else if (field->type == OVL_F_TEXTS) {
        decode_texts(d, node, field, at);
    } else if (field->type == OVL_F_RATIOS) {
        decode_ratios(d, node, field, at);
    } else if (field->type == OVL_F_SIZES) {
        decode_sizes(d, node, field, at);
    } else {
        decode_times(d, node, field, at);
    }
}

static size_t list_size(ovl_field_type type)
{
    return type == OVL_F_LIST     ? sizeof(ovl_items)
           : type == OVL_F_TEXTS  ? sizeof(ovl_texts)
           : type == OVL_F_RATIOS ? sizeof(ovl_ratios)
           : type == OVL_F_SIZES  ? sizeof(ovl_sizes)
                                  : sizeof(ovl_times);
}

/* A list by its type, or as it was decoded before. */
static bool decode_list(decoder *d, ovl_node *node, const ovl_field *field, void *at)
{
    bool structs = field->type == OVL_F_LIST;
    if (node->kind == OVL_NODE_MAP && field->type == OVL_F_TIMES && field->more.table) {
        decode_law(d, node, field, at);
        return true;
    }
    if (node->kind == OVL_NODE_MAP || (structs && node->kind != OVL_NODE_LIST)) {
        ovl_wrong_shape(node, field->key, wanted_of(field->type), d->errs);
        return false;
    }
    /* Small lists of values cost no more than remembering them. */
    if (node->kind == OVL_NODE_SCALAR || (!structs && node->count <= 8)) {
        decode_by_type(d, node, field, at);
        return true;
    }
    const void *as = structs ? (const void *)field->more.table : wanted_of(field->type);
    as = field->more.cells ? (const void *)field : as;
    size_t size = list_size(field->type);
    void *decoded = ovl_node_map_get(&d->lists, node, as);
    if (!decoded) {
        decoded = ovl_arena_alloc(d->arena, size, _Alignof(max_align_t));
        decode_by_type(d, node, field, decoded);
        ovl_node_map_put(&d->lists, node, as, decoded);
    }
    memcpy(at, decoded, size);
    return true;
}

/* --- Mappings --- */

static void decode_field(decoder *d, ovl_node *node, const ovl_field *field, void *value)
{
    char *at = (char *)value + field->offset;
    bool good = true;
    switch (field->type) {
    case OVL_F_TEXTS:
    case OVL_F_TIMES:
    case OVL_F_RATIOS:
    case OVL_F_SIZES:
    case OVL_F_LIST:
        good = decode_list(d, node, field, at);
        break;
    case OVL_F_MAP:
        decode_map(d, node, field->key, field->more.table, at);
        break;
    case OVL_F_NODE:
        memcpy(at, &node, sizeof node);
        break;
    case OVL_F_TEXT:
    case OVL_F_PATTERN:
    case OVL_F_BOOL:
    case OVL_F_COUNT:
    case OVL_F_TIME:
    case OVL_F_BYTES:
    case OVL_F_RATE:
    case OVL_F_FLOPS:
    case OVL_F_FLOP_RATE:
    case OVL_F_RATIO:
    case OVL_F_ENUM:
        good = decode_scalar(d, node, field, at);
        break;
    }
    if (good && field->set != OVL_NO_SET) {
        *(bool *)((char *)value + field->set) = true;
    }
}

static const ovl_field *find_field(const ovl_table *table, const char *key)
{
    for (uint32_t i = 0; i < table->n_fields; i++) {
        if (strcmp(table->fields[i].key, key) == 0) {
            return &table->fields[i];
        }
    }
    return NULL;
}

static void unknown_key(decoder *d, const ovl_pair_node *pair, const ovl_table *table)
{
    const char *keys[OVL_FIELDS_MAX];
    const char *instead = table->instead ? table->instead(pair->key, d->errs->arena) : NULL;
    if (instead) {
        ovl_error(d->errs, OVL_E_INPUT, pair->key_mark, "unknown key \"%s\"; did you mean %s?",
                  ovl_shown(pair->key, d->errs->arena), instead);
        return;
    }
    for (uint32_t i = 0; i < table->n_fields; i++) {
        keys[i] = table->fields[i].key;
    }
    ovl_unknown_name(pair->key_mark, "key", pair->key, keys, table->n_fields, OVL_E_INPUT, d->errs);
}

/* Another key of the same member that was given too, or NULL. */
static const char *other_key(const ovl_table *table, const ovl_field *field, const bool *given)
{
    for (uint32_t i = 0; i < table->n_fields; i++) {
        const ovl_field *other = &table->fields[i];
        if (given[i] && other != field && other->offset == field->offset) {
            return other->key;
        }
    }
    return NULL;
}

static void decode_pair(decoder *d, const ovl_pair_node *pair, const ovl_table *table, void *value,
                        bool *given)
{
    const ovl_field *field = find_field(table, pair->key);
    if (!field) {
        if (!table->open || strncmp(pair->key, "x-", 2) != 0) {
            unknown_key(d, pair, table);
        }
        return;
    }
    const ovl_node *node = pair->value;
    if (ovl_node_is_null(node)) {
        if (!*node->text) {
            ovl_error(d->errs, OVL_E_INPUT, pair->key_mark,
                      "\"%s\" has no value (null would leave it out)", field->key);
            given[field - table->fields] = true;
        }
        return;
    }
    const char *other = other_key(table, field, given);
    if (other) {
        ovl_error(d->errs, OVL_E_INPUT, pair->key_mark, "\"%s\" and \"%s\" say the same thing",
                  other, field->key);
    }
    given[field - table->fields] = true;
    decode_field(d, pair->value, field, value);
}

static void decode_map(decoder *d, const ovl_node *node, const char *key, const ovl_table *table,
                       void *value)
{
    assert(table->n_fields <= OVL_FIELDS_MAX);
    if (table->defaults) {
        table->defaults(value);
    }
    if (table->mark != OVL_NO_SET) {
        *(ovl_mark *)(void *)((char *)value + table->mark) = node->mark;
    }
    if (node->kind != OVL_NODE_MAP) {
        ovl_wrong_shape(node, key, "a mapping", d->errs);
        return;
    }
    bool given[OVL_FIELDS_MAX] = {false};
    for (uint32_t i = 0; i < node->count; i++) {
        decode_pair(d, &node->pairs[i], table, value, given);
    }
    for (uint32_t i = 0; i < table->n_fields; i++) {
        const ovl_field *field = &table->fields[i];
        if ((field->flags & OVL_FIELD_REQUIRED) && !given[i] && !other_key(table, field, given)) {
            ovl_error(d->errs, OVL_E_INPUT, node->mark, "%s: \"%s\" is missing", key, field->key);
        }
    }
    if (table->check) {
        table->check(node, value, d->arena, d->errs);
    }
}

/* --- Entries --- */

void ovl_decode(const ovl_node *node, const ovl_table *table, void *value, ovl_arena *arena,
                ovl_errs *errs)
{
    decoder d = {.arena = arena, .errs = errs};
    decode_map(&d, node, table->title, table, value);
    ovl_node_map_free(&d.lists);
}

ovl_items ovl_decode_named(const ovl_node *node, const char *key, const ovl_table *table,
                           size_t name, ovl_arena *arena, ovl_errs *errs)
{
    ovl_items items = {0};
    if (ovl_node_is_null(node)) {
        return items;
    }
    if (node->kind != OVL_NODE_MAP) {
        ovl_wrong_shape(node, key, "a mapping of names", errs);
        return items;
    }
    decoder d = {.arena = arena, .errs = errs};
    items.item = ovl_arena_array(arena, node->count, table->size, _Alignof(max_align_t));
    items.count = node->count;
    for (uint32_t i = 0; i < node->count; i++) {
        char *value = (char *)items.item + i * table->size;
        decode_map(&d, node->pairs[i].value, node->pairs[i].key, table, value);
        memcpy(value + name, &node->pairs[i].key, sizeof node->pairs[i].key);
    }
    ovl_node_map_free(&d.lists);
    return items;
}

bool ovl_node_gives(const ovl_node *node, const char *key)
{
    return !ovl_node_is_null(ovl_node_get(node, key));
}
