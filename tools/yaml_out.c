#include "tools/yaml_out.h"

#include <string.h>

void ovl_yaml_text(ovl_out *out, const char *text)
{
    ovl_out_text(out, "\"");
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\') {
            ovl_out_printf(out, "\\%c", c);
        } else if (c < ' ' || c == 0x7f) {
            ovl_out_printf(out, "\\x%02x", c);
        } else {
            ovl_out_write(out, p, 1);
        }
    }
    ovl_out_text(out, "\"");
}

/* Words, numbers and quantities need no quotes: "3.35 TB/s", "H100-SXM", "29/25". */
static bool is_plain(const ovl_node *scalar)
{
    const char *text = scalar->text;
    bool word = !scalar->quoted && *text && !strchr(" -?:", *text);
    for (const char *p = text; *p && word; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        word = letter || (*p >= '0' && *p <= '9') || strchr("._/%+- ", *p);
    }
    return word && text[strlen(text) - 1] != ' ';
}

static void scalar(ovl_out *out, const ovl_node *node)
{
    if (ovl_node_is_null(node)) {
        ovl_out_text(out, "null");
    } else if (is_plain(node)) {
        ovl_out_text(out, node->text);
    } else {
        ovl_yaml_text(out, node->text);
    }
}

static void blanks(ovl_out *out, unsigned n)
{
    ovl_out_printf(out, "%*s", (int)n, "");
}

static void pair_at(ovl_out *out, const ovl_pair_node *pair, unsigned indent, unsigned inner)
{
    const ovl_node key = {.kind = OVL_NODE_SCALAR, .text = pair->key};
    blanks(out, indent);
    scalar(out, &key);
    ovl_out_text(out, ":");
    ovl_yaml_node(out, pair->value, inner);
}

void ovl_yaml_pair(ovl_out *out, const ovl_pair_node *pair, unsigned indent)
{
    pair_at(out, pair, indent, indent + 2);
}

/* [nvlink, nic] */
static bool is_flow(const ovl_node *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i]->kind != OVL_NODE_SCALAR) {
            return false;
        }
    }
    return true;
}

static void flow(ovl_out *out, const ovl_node *list)
{
    ovl_out_text(out, " [");
    for (uint32_t i = 0; i < list->count; i++) {
        ovl_out_text(out, i ? ", " : "");
        scalar(out, list->items[i]);
    }
    ovl_out_text(out, "]\n");
}

/* "- key: value", further pairs below. */
void ovl_yaml_item(ovl_out *out, const ovl_node *node, unsigned indent)
{
    blanks(out, indent);
    ovl_out_text(out, "-");
    if (node->kind != OVL_NODE_MAP || node->count == 0) {
        ovl_yaml_node(out, node, indent + 2);
        return;
    }
    for (uint32_t i = 0; i < node->count; i++) {
        ovl_out_text(out, i ? "" : " ");
        pair_at(out, &node->pairs[i], i ? indent + 2 : 0, indent + 4);
    }
}

void ovl_yaml_node(ovl_out *out, const ovl_node *node, unsigned indent)
{
    if (node->kind == OVL_NODE_SCALAR) {
        ovl_out_text(out, " ");
        scalar(out, node);
        ovl_out_text(out, "\n");
    } else if (node->kind == OVL_NODE_LIST && is_flow(node)) {
        flow(out, node);
    } else if (node->count == 0) {
        ovl_out_text(out, " {}\n");
    } else {
        ovl_out_text(out, "\n");
        for (uint32_t i = 0; i < node->count; i++) {
            if (node->kind == OVL_NODE_MAP) {
                ovl_yaml_pair(out, &node->pairs[i], indent);
            } else {
                ovl_yaml_item(out, node->items[i], indent);
            }
        }
    }
}

const char *ovl_yaml_time(char buf[OVL_YAML_TIME], ovl_time t)
{
    snprintf(buf, OVL_YAML_TIME, "%" PRId64 ".%06" PRId64, t / OVL_US, t % OVL_US);
    size_t n = strlen(buf);
    while (buf[n - 1] == '0') {
        n--;
    }
    n -= buf[n - 1] == '.';
    memcpy(buf + n, " us", sizeof " us");
    return buf;
}
