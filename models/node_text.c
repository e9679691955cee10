#include "models/node_text.h"

#include "sim/vec.h"

#include <stdio.h>

#include <string.h>

typedef OVL_VEC(char) text_vec;

static void put(text_vec *v, const char *text)
{
    size_t length = strlen(text);
    ovl_vec_reserve(v, v->len + length);
    memcpy(v->data + v->len, text, length);
    v->len += (uint32_t)length;
}

/* Blanks inside are plain; what begins a flow, a comment, a key or a tag is not. */
static bool is_plain(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || strchr(" -?:&*!|>%@`'\"#", text[0]) || text[length - 1] == ' ' ||
        text[length - 1] == ':') {
        return false;
    }
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f || strchr(",[]{}", *c) ||
            (c[0] == ':' && c[1] == ' ') || (c[0] == ' ' && c[1] == '#')) {
            return false;
        }
    }
    return strcmp(text, "~") != 0 && strcmp(text, "null") != 0;
}

static void put_quoted(text_vec *v, const char *text)
{
    char code[8];
    put(v, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            snprintf(code, sizeof code, "\\%c", *c);
        } else if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            snprintf(code, sizeof code, "\\x%02x", (unsigned)(unsigned char)*c);
        } else {
            snprintf(code, sizeof code, "%c", *c);
        }
        put(v, code);
    }
    put(v, "\"");
}

static void put_scalar(text_vec *v, const char *text, bool quoted)
{
    if (!quoted && (*text == '\0' || strcmp(text, "~") == 0)) {
        put(v, "null");
    } else if (is_plain(text) || (!quoted && strcmp(text, "null") == 0)) {
        put(v, text);
    } else {
        put_quoted(v, text);
    }
}

static void put_node(text_vec *v, const ovl_node *node)
{
    if (node->kind == OVL_NODE_SCALAR) {
        put_scalar(v, node->text, node->quoted);
        return;
    }
    bool map = node->kind == OVL_NODE_MAP;
    put(v, map ? "{" : "[");
    for (uint32_t i = 0; i < node->count; i++) {
        put(v, i ? ", " : "");
        if (map) {
            put_scalar(v, node->pairs[i].key, true);
            put(v, ": ");
        }
        put_node(v, map ? node->pairs[i].value : node->items[i]);
    }
    put(v, map ? "}" : "]");
}

static const char *kept(text_vec *v, ovl_arena *arena)
{
    const char *text = ovl_arena_strndup(arena, v->len ? v->data : "", v->len);
    ovl_vec_free(v);
    return text;
}

const char *ovl_node_text(const ovl_node *node, ovl_arena *arena)
{
    text_vec v = {0};
    put_node(&v, node);
    return kept(&v, arena);
}

const char *ovl_yaml_scalar_text(const char *text, bool quoted, ovl_arena *arena)
{
    text_vec v = {0};
    put_scalar(&v, text, quoted);
    return kept(&v, arena);
}

static bool same_pairs(const ovl_node *a, const ovl_node *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        if (strcmp(a->pairs[i].key, b->pairs[i].key) != 0 ||
            !ovl_node_same(a->pairs[i].value, b->pairs[i].value)) {
            return false;
        }
    }
    return true;
}

bool ovl_node_same(const ovl_node *a, const ovl_node *b)
{
    if (a == b) {
        return true;
    }
    if (a->kind != b->kind || a->count != b->count) {
        return false;
    }
    if (a->kind == OVL_NODE_SCALAR) {
        return strcmp(a->text, b->text) == 0 && a->quoted == b->quoted;
    }
    if (a->kind == OVL_NODE_MAP) {
        return same_pairs(a, b);
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!ovl_node_same(a->items[i], b->items[i])) {
            return false;
        }
    }
    return true;
}
