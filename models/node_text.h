/*
 * node_text.h - a node as YAML on one line, so that a value can be shown, stored and read back.
 *
 *     [[g1, g2], [g3]]        a list
 *     {forward: 2, x: "1: 2"} a mapping; texts are quoted where YAML would read them differently
 *
 * What it prints, read again by yaml.h, is the same tree.
 */
#ifndef OVL_MODELS_NODE_TEXT_H
#define OVL_MODELS_NODE_TEXT_H

#include "models/yaml.h"

/* The text lives in `arena`. */
const char *ovl_node_text(const ovl_node *node, ovl_arena *arena);

/* One key or scalar, quoted if it must be: "a: b" -> "\"a: b\"". */
const char *ovl_yaml_scalar_text(const char *text, bool quoted, ovl_arena *arena);

/* Whether two trees are the same but for their places. */
bool ovl_node_same(const ovl_node *a, const ovl_node *b);

#endif
