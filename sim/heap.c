#include "sim/heap.h"

void ovl_heap_free(ovl_heap *heap)
{
    free(heap->nodes);
    heap->nodes = NULL;
    heap->n_leaves = heap->n_levels = heap->n_used = heap->len = heap->left = 0;
    ovl_vec_free(&heap->spare);
    ovl_vec_free(&heap->place);
}

static inline ovl_heap_item first_of(ovl_heap_item a, ovl_heap_item b)
{
    bool later = ovl_heap_before(&b, &a); /* no branch: which it is is anybody's guess */
    return (ovl_heap_item){later ? b.order : a.order, later ? b.time : a.time};
}

static inline bool same(const ovl_heap_item *a, const ovl_heap_item *b)
{
    return a->order == b->order;
}

/* --- Ways up --- */

/* An item came into a leaf where nobody was, or a later one. */
static void rise(ovl_heap *heap, uint32_t leaf, ovl_heap_item item)
{
    ovl_heap_item *nodes = heap->nodes;
    uint32_t n = heap->n_leaves + leaf, moves = 1;
    nodes[n] = item;
    for (; n > 1 && ovl_heap_before(&item, &nodes[n / 2]); moves++) {
        n /= 2;
        nodes[n] = item;
    }
    heap->moves += moves;
}

static inline ovl_heap_item *at(ovl_heap_item *nodes, size_t byte)
{
    return (ovl_heap_item *)((char *)nodes + byte);
}

/* The first of all left its leaf for a later item, or for nobody. Most of what the queue costs is
 * this loop: places are counted in bytes, so that none has to be multiplied. */
static void replace_first(ovl_heap *heap, uint32_t leaf, ovl_heap_item item)
{
    const size_t size = sizeof item;
    ovl_heap_item *nodes = heap->nodes;
    size_t byte = (heap->n_leaves + (size_t)leaf) * size;
    *at(nodes, byte) = item;
    do {
        item = first_of(item, *at(nodes, byte ^ size));
        byte = byte / 2 & ~(size - 1);
        *at(nodes, byte) = item;
    } while (byte != size);
    heap->moves += heap->n_levels;
}

/* The same for anybody: further up than it stood nothing changes. */
static void replace(ovl_heap *heap, uint32_t leaf, ovl_heap_item item)
{
    ovl_heap_item *nodes = heap->nodes;
    uint32_t n = heap->n_leaves + leaf, moves = 1;
    const ovl_heap_item old = nodes[n];
    if (same(&old, &nodes[1])) {
        replace_first(heap, leaf, item);
        return;
    }
    nodes[n] = item;
    for (; same(&nodes[n / 2], &old); moves++) {
        item = first_of(item, nodes[n ^ 1]);
        n /= 2;
        nodes[n] = item;
    }
    heap->moves += moves;
}

/* --- Leaves --- */

#define FIRST_LEVELS 7

static void fill_nodes(ovl_heap *heap)
{
    for (uint32_t n = heap->n_leaves - 1; n > 0; n--) {
        heap->nodes[n] = first_of(heap->nodes[2 * n], heap->nodes[2 * n + 1]);
    }
}

/* Twice as many leaves; two neighbours are on one line of the cache. */
static void grow(ovl_heap *heap)
{
    const uint32_t old = heap->n_leaves;
    const size_t n = old ? 2 * (size_t)old : (size_t)1 << (FIRST_LEVELS - 1);
    ovl_heap_item *nodes = aligned_alloc(OVL_CACHE_LINE, 2 * n * sizeof *nodes);
    if (!nodes || n > UINT32_MAX / 2) {
        ovl_out_of_memory(2 * n * sizeof *nodes);
    }
    nodes[0] = OVL_HEAP_NOBODY;
    for (uint32_t i = 0; i < n; i++) {
        nodes[n + i] = i < old ? heap->nodes[old + i] : OVL_HEAP_NOBODY;
    }
    free(heap->nodes);
    heap->nodes = nodes;
    heap->n_leaves = (uint32_t)n;
    heap->n_levels = old ? heap->n_levels + 1 : FIRST_LEVELS;
    fill_nodes(heap);
}

static uint32_t new_leaf(ovl_heap *heap)
{
    if (heap->spare.len) {
        return heap->spare.data[--heap->spare.len];
    }
    if (heap->n_used == heap->n_leaves) {
        grow(heap);
    }
    return heap->n_used++;
}

void ovl_heap_clear(ovl_heap *heap)
{
    for (uint32_t i = 0; i < heap->n_used; i++) {
        heap->nodes[heap->n_leaves + i] = OVL_HEAP_NOBODY;
    }
    for (uint32_t i = 0; i < heap->place.len; i++) {
        heap->place.data[i] = 0;
    }
    if (heap->n_leaves) {
        fill_nodes(heap);
    }
    heap->n_used = heap->len = heap->left = heap->spare.len = 0;
}

static void make_place(ovl_heap *heap, uint32_t handle)
{
    while (heap->place.len <= handle) {
        ovl_vec_push(&heap->place, 0);
    }
}

void ovl_heap_close(ovl_heap *heap)
{
    uint32_t leaf = heap->left - 1;
    heap->left = 0;
    ovl_vec_push(&heap->spare, leaf);
    replace_first(heap, leaf, OVL_HEAP_NOBODY);
}

static void add(ovl_heap *heap, uint32_t handle, ovl_heap_item item)
{
    heap->len++;
    if (heap->left) {
        heap->place.data[handle] = heap->left;
        replace_first(heap, heap->left - 1, item);
        heap->left = 0;
    } else {
        uint32_t leaf = new_leaf(heap);
        heap->place.data[handle] = leaf + 1;
        rise(heap, leaf, item);
    }
}

/* Another key for the item in a leaf. */
static void change(ovl_heap *heap, uint32_t leaf, ovl_heap_item item)
{
    if (heap->left) {
        ovl_heap_close(heap);
    }
    if (ovl_heap_before(&item, &heap->nodes[heap->n_leaves + leaf])) {
        rise(heap, leaf, item);
    } else {
        replace(heap, leaf, item);
    }
}

void ovl_heap_set(ovl_heap *heap, uint32_t handle, ovl_time time, uint64_t tie)
{
    heap->puts++;
    if (heap->place.len <= handle) {
        make_place(heap, handle);
    }
    ovl_heap_item item = ovl_heap_item_of(time, tie, handle);
    if (heap->place.data[handle] == 0) {
        add(heap, handle, item);
    } else {
        change(heap, heap->place.data[handle] - 1, item);
    }
}

void ovl_heap_remove(ovl_heap *heap, uint32_t handle)
{
    uint32_t place = handle < heap->place.len ? heap->place.data[handle] : 0;
    if (place == 0) {
        return;
    }
    if (heap->left) {
        ovl_heap_close(heap);
    }
    heap->place.data[handle] = 0;
    heap->len--;
    if (OVL_HEAP_HANDLE(&heap->nodes[1]) == handle) {
        heap->left = place;
    } else {
        ovl_vec_push(&heap->spare, place - 1);
        replace(heap, place - 1, OVL_HEAP_NOBODY);
    }
}
