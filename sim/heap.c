#include "sim/heap.h"

void ovl_heap_free(ovl_heap *heap)
{
    ovl_vec_free(&heap->items);
    ovl_vec_free(&heap->place);
}

/* Of two or four neighbours the first to come, without a branch: which it is is anybody's guess. */
static inline uint32_t first_of_two(const ovl_heap_item *items, uint32_t at)
{
    return at + ovl_heap_before(&items[at + 1], &items[at]);
}

static inline uint32_t first_of_four(const ovl_heap_item *items, uint32_t at)
{
    uint32_t a = first_of_two(items, at), b = first_of_two(items, at + 2);
    return a + (b - a) * ovl_heap_before(&items[b], &items[a]);
}

static void put(ovl_heap *heap, uint32_t at, ovl_heap_item item)
{
    heap->items.data[at] = item;
    heap->place.data[OVL_HEAP_HANDLE(&item)] = at + 1;
    heap->moves++;
}

static void rise(ovl_heap *heap, uint32_t at, ovl_heap_item item)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / 4;
        if (!ovl_heap_before(&item, &heap->items.data[parent])) {
            break;
        }
        put(heap, at, heap->items.data[parent]);
        at = parent;
    }
    put(heap, at, item);
}

static void sink(ovl_heap *heap, uint32_t at, ovl_heap_item item)
{
    const ovl_heap_item *items = heap->items.data;
    for (;;) {
        uint32_t child = at * 4 + 1;
        if (child >= heap->items.len) {
            break;
        }
        uint32_t best = child;
        if (child + 4 <= heap->items.len) {
            best = first_of_four(items, child);
        } else {
            for (uint32_t i = child + 1; i < heap->items.len; i++) {
                best = ovl_heap_before(&items[i], &items[best]) ? i : best;
            }
        }
        if (!ovl_heap_before(&items[best], &item)) {
            break;
        }
        put(heap, at, items[best]);
        at = best;
    }
    put(heap, at, item);
}

/* The first item was taken out and nothing came in its stead: the last one fills the hole. */
static void fill_hole(ovl_heap *heap)
{
    heap->hole = false;
    ovl_heap_item last = heap->items.data[--heap->items.len];
    if (heap->items.len) {
        sink(heap, 0, last);
    }
}

static void add(ovl_heap *heap, ovl_heap_item item)
{
    if (heap->hole) {
        heap->hole = false;
        sink(heap, 0, item);
    } else {
        ovl_vec_push(&heap->items, item);
        rise(heap, heap->items.len - 1, item);
    }
}

void ovl_heap_set(ovl_heap *heap, uint32_t handle, ovl_time time, uint64_t tie)
{
    heap->puts++;
    while (heap->place.len <= handle) {
        ovl_vec_push(&heap->place, 0);
    }
    ovl_heap_item item = ovl_heap_item_of(time, tie, handle);
    if (heap->place.data[handle] == 0) {
        add(heap, item);
        return;
    }
    if (heap->hole) {
        fill_hole(heap);
    }
    uint32_t at = heap->place.data[handle] - 1;
    if (ovl_heap_before(&item, &heap->items.data[at])) {
        rise(heap, at, item);
    } else {
        sink(heap, at, item);
    }
}

void ovl_heap_remove(ovl_heap *heap, uint32_t handle)
{
    if (handle >= heap->place.len || heap->place.data[handle] == 0) {
        return;
    }
    if (heap->hole) {
        fill_hole(heap);
    }
    uint32_t at = heap->place.data[handle] - 1;
    heap->place.data[handle] = 0;
    if (at == 0) {
        heap->hole = true;
        return;
    }
    ovl_heap_item last = heap->items.data[--heap->items.len];
    if (at == heap->items.len) {
        return;
    }
    if (ovl_heap_before(&last, &heap->items.data[(at - 1) / 4])) {
        rise(heap, at, last);
    } else {
        sink(heap, at, last);
    }
}

const ovl_heap_item *ovl_heap_top(ovl_heap *heap)
{
    if (heap->hole) {
        fill_hole(heap);
    }
    return heap->items.len ? heap->items.data : NULL;
}
