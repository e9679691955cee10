#include "models/variant.h"

#include "models/fields.h"

#include <string.h>

/* --- Walking a path --- */

typedef struct walk {
    const char *path;
    const char *at; /* what is left of it */
    ovl_node **root, **slot;
    ovl_mark mark;
    ovl_node *value;
    ovl_arena *arena;
    ovl_status code;
    ovl_errs *errs;
} walk;

/* The part of the path that was walked, for sentences. */
static const char *walked(const walk *w)
{
    size_t length = (size_t)(w->at - w->path);
    while (length && w->path[length - 1] == '.') {
        length--;
    }
    return length ? ovl_shown(ovl_arena_strndup(w->arena, w->path, length), w->arena)
                  : "the scenario";
}

static bool fail(const walk *w, const char *sentence)
{
    ovl_error(w->errs, w->code, w->mark, "path \"%s\": %s", ovl_shown(w->path, w->arena), sentence);
    return false;
}

/* Makes the node in the slot a copy of this scenario's own, which may be changed in place. */
static ovl_node *own(walk *w)
{
    ovl_node *node = *w->slot;
    if (!node->owned) {
        node = ovl_node_copy(node, w->arena);
        node->owned = true;
        *w->slot = node;
    }
    return node;
}

static bool ends_part(char c)
{
    return c == '\0' || c == '.' || c == '[';
}

/* Whether the rest of the path begins with `name` as whole parts. Names may hold dots and brackets
 * themselves, so the longest that fits counts. */
static bool fits(const walk *w, const char *name)
{
    size_t length = strlen(name);
    return length && strncmp(w->at, name, length) == 0 && ends_part(w->at[length]);
}

/* Past a part of this length, and past the dot behind it. */
static bool advance(walk *w, size_t length)
{
    w->at += length;
    if (*w->at == '.') {
        w->at++;
        if (ends_part(*w->at)) {
            return fail(w, "a name is missing beside a dot");
        }
    }
    return true;
}

/* "[12]" at the rest of the path: its number, and the length of its text in *length; -1 if it is
 * none. */
static int64_t read_index(const char *at, size_t *length)
{
    size_t digits = *at == '[' ? strspn(at + 1, "0123456789") : 0;
    if (digits == 0 || digits > 9 || at[1 + digits] != ']') {
        return -1;
    }
    int64_t index = 0;
    for (size_t i = 0; i < digits; i++) {
        index = index * 10 + (at[1 + i] - '0');
    }
    *length = digits + 2;
    return index;
}

/* --- Steps into mappings --- */

static bool new_key(walk *w, ovl_node *map)
{
    size_t length = strcspn(w->at, ".[");
    if (length == 0) {
        return fail(w, "a mapping has no [index]");
    }
    if (w->at[length] == '[') {
        ovl_error(w->errs, w->code, w->mark, "path \"%s\": there is no \"%s\" in %s",
                  ovl_shown(w->path, w->arena),
                  ovl_shown(ovl_arena_strndup(w->arena, w->at, length), w->arena), walked(w));
        return false;
    }
    const char *key = ovl_arena_strndup(w->arena, w->at, length);
    ovl_node *empty = OVL_NEW(w->arena, ovl_node);
    *empty = (ovl_node){.kind = OVL_NODE_MAP, .mark = w->mark, .owned = true};
    ovl_node_set(map, key, w->mark, empty, w->arena);
    w->slot = &map->pairs[map->count - 1].value;
    return advance(w, length);
}

static bool step_map(walk *w)
{
    ovl_node *map = own(w);
    ovl_pair_node *best = NULL;
    for (uint32_t i = 0; i < map->count; i++) {
        if (fits(w, map->pairs[i].key) &&
            (!best || strlen(map->pairs[i].key) > strlen(best->key))) {
            best = &map->pairs[i];
        }
    }
    if (!best) {
        return new_key(w, map);
    }
    w->slot = &best->value;
    return advance(w, strlen(best->key));
}

/* --- Steps into lists --- */

/* What an item of a list is called: its name, or what its first key of these says. */
static const char *name_of(const ovl_node *item)
{
    static const char *const keys[] = {"name",  "kernel", "collective", "send",   "recv",
                                       "batch", "copy",   "host",       "marker", "op"};
    for (size_t i = 0; i < OVL_COUNT(keys); i++) {
        const ovl_node *name = ovl_node_get(item, keys[i]);
        if (name && name->kind == OVL_NODE_SCALAR) {
            return name->text;
        }
    }
    return NULL;
}

static bool step_index(walk *w, ovl_node *list)
{
    size_t length = 0;
    int64_t index = read_index(w->at, &length);
    if (index < 0) {
        return fail(w, "expected [index] with a whole number");
    }
    if (index >= list->count) {
        ovl_error(w->errs, w->code, w->mark,
                  "path \"%s\": %s has %" PRIu32 " item%s, numbered from 0; there is no [%" PRId64
                  "]",
                  ovl_shown(w->path, w->arena), walked(w), list->count, list->count == 1 ? "" : "s",
                  index);
        return false;
    }
    w->slot = &list->items[index];
    return advance(w, length);
}

static bool no_item(walk *w, const ovl_node *list)
{
    ovl_arena scratch = {0};
    const char **names = OVL_NEW_ARRAY(&scratch, const char *, list->count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const char *name = name_of(list->items[i]);
        if (name) {
            names[n++] = name;
        }
    }
    const char *what = ovl_arena_printf(&scratch, "item of %s:", walked(w));
    const char *name = ovl_arena_strndup(&scratch, w->at, strcspn(w->at, ".["));
    ovl_unknown_name(w->mark, what, name, names, n, w->code, w->errs);
    ovl_arena_free(&scratch);
    return false;
}

/* --- Repeated layers --- */

/* A count of the tree: a number, or a parameter. */
static bool count_of(const walk *w, const ovl_node *item, const char *key, int64_t fallback,
                     int64_t *count)
{
    const ovl_node *node = ovl_node_get(item, key);
    if (ovl_node_is_null(node)) {
        *count = fallback;
        return true;
    }
    if (node->kind == OVL_NODE_SCALAR && *node->text == '$') {
        node = ovl_node_get(ovl_node_get(*w->root, "params"), node->text + 1);
    }
    return node && node->kind == OVL_NODE_SCALAR && !ovl_read_count(node->text, count);
}

typedef struct repeats {
    int64_t first, count;
    bool numbered; /* by `first`, or because there are several */
} repeats;

static bool repeats_of(const walk *w, const ovl_node *item, repeats *r)
{
    bool good =
        count_of(w, item, "first", 0, &r->first) && count_of(w, item, "repeat", 1, &r->count);
    r->numbered = good && (r->count > 1 || ovl_node_gives(item, "first"));
    return good && r->count <= INT32_MAX && r->first <= INT32_MAX;
}

/* A part of a split layer. The children are shared by the parts from now on. */
static ovl_node *part_of(walk *w, const ovl_node *layer, int64_t first, int64_t count)
{
    ovl_node *part = ovl_node_copy(layer, w->arena);
    part->owned = true;
    for (uint32_t i = 0; i < part->count; i++) {
        if (part->pairs[i].value->owned) { /* nodes of the file are never written */
            part->pairs[i].value->owned = false;
        }
    }
    const char *first_text = ovl_arena_printf(w->arena, "%" PRId64, first);
    const char *count_text = ovl_arena_printf(w->arena, "%" PRId64, count);
    ovl_node_set(part, "first", w->mark, ovl_node_scalar(first_text, w->mark, w->arena), w->arena);
    ovl_node_set(part, "repeat", w->mark, ovl_node_scalar(count_text, w->mark, w->arena), w->arena);
    return part;
}

/* Splits item `at` around its repeat `number`, which becomes an item of its own. */
static void split(walk *w, ovl_node *list, uint32_t at, const repeats *r, int64_t number)
{
    const ovl_node *layer = list->items[at];
    int64_t before = number - r->first, behind = r->first + r->count - 1 - number;
    list->items[at] = part_of(w, layer, number, 1);
    if (behind > 0) {
        ovl_node_insert(list, at + 1, part_of(w, layer, number + 1, behind), w->arena);
    }
    if (before > 0) {
        ovl_node_insert(list, at, part_of(w, layer, r->first, before), w->arena);
        at++;
    }
    w->slot = &list->items[at];
}

/* "block[3]": the item of that name that holds repeat 3. */
static bool step_repeat(walk *w, ovl_node *list, const char *name, uint32_t from)
{
    size_t length = strlen(name), index_length = 0;
    int64_t number = read_index(w->at + length, &index_length);
    if (number < 0) {
        return fail(w, "expected [index] with a whole number");
    }
    for (uint32_t i = from; i < list->count; i++) {
        const char *other = name_of(list->items[i]);
        repeats r;
        if (!other || strcmp(other, name) != 0 || !repeats_of(w, list->items[i], &r)) {
            continue;
        }
        if (r.numbered && number >= r.first && number - r.first < r.count) {
            split(w, list, i, &r, number);
            return advance(w, length + index_length);
        }
    }
    ovl_error(w->errs, w->code, w->mark, "path \"%s\": there is no repeat [%" PRId64 "] of \"%s\"",
              ovl_shown(w->path, w->arena), number, ovl_shown(name, w->arena));
    return false;
}

static bool step_name(walk *w, ovl_node *list)
{
    const char *best = NULL;
    uint32_t at = 0, matches = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const char *name = name_of(list->items[i]);
        if (!name || !fits(w, name)) {
            continue;
        }
        if (!best || strlen(name) > strlen(best)) {
            best = name;
            at = i;
            matches = 0;
        }
        matches += strcmp(name, best) == 0;
    }
    if (!best) {
        return no_item(w, list);
    }
    if (w->at[strlen(best)] == '[') {
        return step_repeat(w, list, best, at);
    }
    if (matches > 1) {
        ovl_error(w->errs, w->code, w->mark,
                  "path \"%s\": %" PRIu32
                  " items are called \"%s\"; name one by its [index] (and a "
                  "whole layer before single repeats of it)",
                  ovl_shown(w->path, w->arena), matches, ovl_shown(best, w->arena));
        return false;
    }
    w->slot = &list->items[at];
    return advance(w, strlen(best));
}

/* --- The whole path --- */

/* Where nothing was said yet, a mapping can begin. */
static void fill_null(walk *w)
{
    if (ovl_node_is_null(*w->slot)) {
        ovl_node *empty = OVL_NEW(w->arena, ovl_node);
        *empty = (ovl_node){.kind = OVL_NODE_MAP, .mark = w->mark, .owned = true};
        *w->slot = empty;
    }
}

static bool step(walk *w)
{
    fill_null(w);
    switch ((*w->slot)->kind) {
    case OVL_NODE_MAP:
        return step_map(w);
    case OVL_NODE_LIST:
        return *w->at == '[' ? step_index(w, own(w)) : step_name(w, own(w));
    case OVL_NODE_SCALAR:
        break;
    }
    ovl_error(w->errs, w->code, w->mark, "path \"%s\": %s is a single value and has no parts",
              ovl_shown(w->path, w->arena), walked(w));
    return false;
}

bool ovl_path_set(ovl_node **root, const char *path, ovl_mark mark, ovl_node *value,
                  ovl_arena *arena, ovl_status code, ovl_errs *errs)
{
    walk w = {.path = path,
              .at = path,
              .root = root,
              .slot = root,
              .mark = mark,
              .value = value,
              .arena = arena,
              .code = code,
              .errs = errs};
    if (ends_part(*path)) {
        return fail(&w, "expected a name, such as overlap.ddp.bucket_cap");
    }
    for (int steps = 0; *w.at; steps++) {
        if (steps == OVL_YAML_DEPTH) {
            return fail(&w, "too many parts");
        }
        if (!step(&w)) {
            return false;
        }
    }
    *w.slot = value;
    return true;
}

const ovl_node *ovl_path_get(ovl_node *root, const char *path, ovl_arena *arena)
{
    ovl_errs errs = {.arena = arena};
    walk w = {.path = path,
              .at = path,
              .root = &root,
              .slot = &root,
              .arena = arena,
              .code = OVL_E_USAGE,
              .errs = &errs};
    if (ends_part(*path)) {
        return NULL;
    }
    for (int steps = 0; *w.at; steps++) {
        if (steps == OVL_YAML_DEPTH || ovl_node_is_null(*w.slot) || !step(&w)) {
            return NULL;
        }
    }
    const ovl_node *found = *w.slot;
    return ovl_node_is_null(found) || (found->kind == OVL_NODE_MAP && !found->count) ? NULL : found;
}
