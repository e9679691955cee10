/*
 * yaml.h - a YAML file as a tree of nodes that each know where they came from.
 *
 * The tree is what the rest of the loader works on: `--set` and variants change it, fields.h
 * decodes it, and any later stage can still say file:line:column. Anchors, aliases and merge keys
 * (<<) are resolved here. An alias shares the node it names (no copy), so memory is bounded by the
 * file; what *expands* from it is bounded too, before anything is expanded:
 *
 *     OVL_YAML_DEPTH   levels of lists and mappings
 *     OVL_YAML_NODES   nodes and keys once every alias is followed
 *     OVL_YAML_BYTES   bytes of file
 *
 * beyond which the file is refused with a sentence that says which limit and where (so an alias
 * bomb costs nothing). Scalars are texts: units.h gives them meaning. Duplicate keys are errors;
 * among merged mappings the own key wins, then the first that has it.
 *
 *     a: {x: 1}        ->  map of one pair; value map; scalar "1" at 1:8
 */
#ifndef OVL_MODELS_YAML_H
#define OVL_MODELS_YAML_H

#include "sim/err.h"

#define OVL_YAML_DEPTH 64
#define OVL_YAML_NODES 4000000
#define OVL_YAML_BYTES ((size_t)64 << 20)

typedef enum ovl_node_kind { OVL_NODE_SCALAR, OVL_NODE_LIST, OVL_NODE_MAP } ovl_node_kind;

typedef struct ovl_node ovl_node;

typedef struct ovl_pair_node {
    const char *key;
    ovl_mark key_mark;
    ovl_node *value;
} ovl_pair_node;

struct ovl_node {
    ovl_node_kind kind;
    bool quoted; /* scalar in quotes: a text even if it is empty or reads "null" */
    bool owned;  /* a copy made by variant.h, reachable once: it may be changed in place */
    ovl_mark mark;
    const char *text;    /* scalars */
    uint32_t count, cap; /* items or pairs; room for as many */
    union {
        ovl_node **items;     /* lists */
        ovl_pair_node *pairs; /* maps, in file order, merged keys last */
    };
};

/* The single document of `text` (`length` bytes of UTF-8). `file` is the name shown in errors; it
 * is copied. The tree lives in `arena`. NULL and errors (OVL_E_INPUT) if it is not YAML, has no or
 * several documents, or passes a limit. Smaller mistakes (a duplicate key, an unknown alias or tag)
 * add errors and still give the tree, so that later stages can report theirs too: look at
 * errs->errors before using it for more. */
ovl_node *ovl_yaml_parse(const char *file, const char *text, size_t length, ovl_arena *arena,
                         ovl_errs *errs);

/* The value of a key of a map, or NULL (also if node is NULL or no map). */
ovl_node *ovl_node_get(const ovl_node *node, const char *key);

/* The same node as a fresh copy whose pairs or items can be changed without touching who shares it
 * (one level). */
ovl_node *ovl_node_copy(const ovl_node *node, ovl_arena *arena);

/* Sets map[key] = value in place (the map was copied by the caller if it is shared). */
void ovl_node_set(ovl_node *map, const char *key, ovl_mark key_mark, ovl_node *value,
                  ovl_arena *arena);

/* Puts `value` before item `at` (or at the end) of a list, in place. */
void ovl_node_insert(ovl_node *list, uint32_t at, ovl_node *value, ovl_arena *arena);

/* A plain scalar. */
ovl_node *ovl_node_scalar(const char *text, ovl_mark mark, ovl_arena *arena);

/* True for an absent node, an empty plain scalar, `~` or `null`. */
bool ovl_node_is_null(const ovl_node *node);

/* "a mapping", "a list", "a text", "nothing": what a node is, for sentences. */
const char *ovl_node_kind_name(const ovl_node *node);

/* A text of the user as it may stand in a sentence: short, without control characters. */
const char *ovl_shown(const char *text, ovl_arena *arena);

/* The same of the name of a file, which is of no use cut short: up to 1,024 bytes. */
const char *ovl_shown_path(const char *path, ovl_arena *arena);

#endif
