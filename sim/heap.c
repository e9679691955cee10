#include "sim/heap.h"

void ovl_heap_free(ovl_heap *heap)
{
    ovl_vec_free(&heap->items);
    ovl_vec_free(&heap->place);
}

static bool before(const ovl_heap_item *a, const ovl_heap_item *b)
{
    if (a->time != b->time) {
        return a->time < b->time;
    }
    return a->tie != b->tie ? a->tie < b->tie : a->handle < b->handle;
}

static void put(ovl_heap *heap, uint32_t at, ovl_heap_item item)
{
    heap->items.data[at] = item;
    heap->place.data[item.handle] = at + 1;
    heap->moves++;
}

static void rise(ovl_heap *heap, uint32_t at, ovl_heap_item item)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / 4;
        if (!before(&item, &heap->items.data[parent])) {
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
        uint32_t end = OVL_MIN(child + 4, heap->items.len), best = child;
        for (uint32_t i = child + 1; i < end; i++) {
            best = before(&items[i], &items[best]) ? i : best;
        }
        if (!before(&items[best], &item)) {
            break;
        }
        put(heap, at, items[best]);
        at = best;
    }
    put(heap, at, item);
}

/* The item at `at` got a new key: it goes up or down. */
static void settle(ovl_heap *heap, uint32_t at, ovl_heap_item item)
{
    if (at > 0 && before(&item, &heap->items.data[(at - 1) / 4])) {
        rise(heap, at, item);
    } else {
        sink(heap, at, item);
    }
}

void ovl_heap_set(ovl_heap *heap, uint32_t handle, ovl_time time, uint64_t tie)
{
    while (heap->place.len <= handle) {
        ovl_vec_push(&heap->place, 0);
    }
    ovl_heap_item item = {time, tie, handle};
    uint32_t place = heap->place.data[handle];
    if (place == 0) {
        ovl_vec_push(&heap->items, item);
        rise(heap, heap->items.len - 1, item);
    } else {
        settle(heap, place - 1, item);
    }
}

void ovl_heap_remove(ovl_heap *heap, uint32_t handle)
{
    uint32_t place = handle < heap->place.len ? heap->place.data[handle] : 0;
    if (place == 0) {
        return;
    }
    heap->place.data[handle] = 0;
    ovl_heap_item last = heap->items.data[--heap->items.len];
    if (place - 1 < heap->items.len) {
        settle(heap, place - 1, last);
    }
}

const ovl_heap_item *ovl_heap_top(const ovl_heap *heap)
{
    return heap->items.len ? heap->items.data : NULL;
}
