#include "models/node_map.h"

#include <stdlib.h>

static ovl_node_memo *find_slot(const ovl_node_map *map, const ovl_node *node, const void *as)
{
    size_t mask = map->n_slots - 1;
    /* Fibonacci hashing; the order of the slots is never seen. */
    size_t at = (size_t)((uint64_t)(uintptr_t)node * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (map->slots[at].node && (map->slots[at].node != node || map->slots[at].as != as)) {
        at = (at + 1) & mask;
    }
    return &map->slots[at];
}

void *ovl_node_map_get(const ovl_node_map *map, const ovl_node *node, const void *as)
{
    return map->n_slots ? find_slot(map, node, as)->result : NULL;
}

static void grow(ovl_node_map *map)
{
    ovl_node_map grown = {.count = map->count, .n_slots = map->n_slots ? map->n_slots * 2 : 64};
    grown.slots = calloc(grown.n_slots, sizeof *grown.slots);
    if (!grown.slots) {
        ovl_out_of_memory(grown.n_slots * sizeof *grown.slots);
    }
    for (size_t i = 0; i < map->n_slots; i++) {
        const ovl_node_memo *memo = &map->slots[i];
        if (memo->node) {
            *find_slot(&grown, memo->node, memo->as) = *memo;
        }
    }
    free(map->slots);
    *map = grown;
}

void ovl_node_map_put(ovl_node_map *map, const ovl_node *node, const void *as, void *result)
{
    assert(node && result);
    if (map->count * 2 >= map->n_slots) {
        grow(map);
    }
    *find_slot(map, node, as) = (ovl_node_memo){node, as, result};
    map->count++;
}

void ovl_node_map_free(ovl_node_map *map)
{
    free(map->slots);
    *map = (ovl_node_map){0};
}
