/*
 * node_map.h - remembers what was made of a node, so that a node shared by aliases is worked on
 * once.
 *
 *     ovl_node_map seen = {0};
 *     if (!ovl_node_map_get(&seen, node, table)) {
 *         ovl_node_map_put(&seen, node, table, decoded);
 *     }
 *     ovl_node_map_free(&seen);
 *
 * A walk that asks it first takes time by the size of the file, not by what expands from it.
 */
#ifndef OVL_MODELS_NODE_MAP_H
#define OVL_MODELS_NODE_MAP_H

#include "models/yaml.h"

typedef struct ovl_node_memo {
    const ovl_node *node; /* NULL: a free slot */
    const void *as;
    void *result;
} ovl_node_memo;

typedef struct ovl_node_map {
    ovl_node_memo *slots; /* open addressing; n_slots is 0 or a power of two */
    size_t count, n_slots;
} ovl_node_map;

/* What was put for the node seen as `as` (any address that says in which way), or NULL. */
void *ovl_node_map_get(const ovl_node_map *map, const ovl_node *node, const void *as);

/* Remembers `result` (not NULL) for a node that is not there yet. */
void ovl_node_map_put(ovl_node_map *map, const ovl_node *node, const void *as, void *result);

void ovl_node_map_free(ovl_node_map *map);

#endif
