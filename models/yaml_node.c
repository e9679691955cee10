#include "models/yaml.h"

#include <string.h>

ovl_node *ovl_node_get(const ovl_node *node, const char *key)
{
    if (!node || node->kind != OVL_NODE_MAP) {
        return NULL;
    }
    for (uint32_t i = 0; i < node->count; i++) {
        if (strcmp(node->pairs[i].key, key) == 0) {
            return node->pairs[i].value;
        }
    }
    return NULL;
}

ovl_node *ovl_node_copy(const ovl_node *node, ovl_arena *arena)
{
    ovl_node *copy = OVL_NEW(arena, ovl_node);
    *copy = *node;
    copy->cap = node->count;
    if (node->kind == OVL_NODE_LIST && node->count) {
        copy->items = OVL_NEW_ARRAY(arena, ovl_node *, node->count);
        memcpy(copy->items, node->items, node->count * sizeof *node->items);
    } else if (node->kind == OVL_NODE_MAP && node->count) {
        copy->pairs = OVL_NEW_ARRAY(arena, ovl_pair_node, node->count);
        memcpy(copy->pairs, node->pairs, node->count * sizeof *node->pairs);
    }
    return copy;
}

/* Room for one more; doubling keeps many small changes linear. */
static void *grown(ovl_node *node, const void *old, size_t size, ovl_arena *arena)
{
    node->cap = node->count < 4 ? 8 : node->count * 2;
    void *room = ovl_arena_array(arena, node->cap, size, _Alignof(max_align_t));
    if (node->count) {
        memcpy(room, old, node->count * size);
    }
    return room;
}

void ovl_node_set(ovl_node *map, const char *key, ovl_mark key_mark, ovl_node *value,
                  ovl_arena *arena)
{
    assert(map->kind == OVL_NODE_MAP);
    for (uint32_t i = 0; i < map->count; i++) {
        if (strcmp(map->pairs[i].key, key) == 0) {
            map->pairs[i].key_mark = key_mark;
            map->pairs[i].value = value;
            return;
        }
    }
    if (map->count >= map->cap) {
        map->pairs = grown(map, map->pairs, sizeof *map->pairs, arena);
    }
    map->pairs[map->count++] = (ovl_pair_node){key, key_mark, value};
}

void ovl_node_insert(ovl_node *list, uint32_t at, ovl_node *value, ovl_arena *arena)
{
    assert(list->kind == OVL_NODE_LIST && at <= list->count);
    if (list->count >= list->cap) {
        list->items = grown(list, list->items, sizeof *list->items, arena);
    }
    memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof *list->items);
    list->items[at] = value;
    list->count++;
}

ovl_node *ovl_node_scalar(const char *text, ovl_mark mark, ovl_arena *arena)
{
    ovl_node *node = OVL_NEW(arena, ovl_node);
    *node = (ovl_node){.kind = OVL_NODE_SCALAR, .mark = mark, .text = text};
    return node;
}

bool ovl_node_is_null(const ovl_node *node)
{
    if (!node) {
        return true;
    }
    return node->kind == OVL_NODE_SCALAR && !node->quoted &&
           (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

const char *ovl_node_kind_name(const ovl_node *node)
{
    if (ovl_node_is_null(node)) {
        return "nothing";
    }
    switch (node->kind) {
    case OVL_NODE_SCALAR:
        return "text";
    case OVL_NODE_LIST:
        return "a list";
    case OVL_NODE_MAP:
        return "a mapping";
    }
    return "nothing";
}

static const char *shown(const char *text, size_t most, ovl_arena *arena)
{
    size_t length = strlen(text);
    size_t kept = OVL_MIN(length, most);
    /* Not in the middle of a UTF-8 character. */
    while (kept < length && kept && ((unsigned char)text[kept] & 0xc0) == 0x80) {
        kept--;
    }
    char *copy = ovl_arena_alloc(arena, kept + sizeof "...", 1);
    for (size_t i = 0; i < kept; i++) {
        unsigned char c = (unsigned char)text[i];
        copy[i] = c < 0x20 || c == 0x7f ? '?' : text[i];
    }
    if (kept < length) {
        memcpy(copy + kept, "...", sizeof "...");
    }
    return copy;
}

const char *ovl_shown(const char *text, ovl_arena *arena)
{
    return shown(text, 60, arena);
}

const char *ovl_shown_path(const char *path, ovl_arena *arena)
{
    return shown(path, 1024, arena);
}
