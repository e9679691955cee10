#include "sim/heap.h"

void ovl_heap_free(ovl_heap *heap)
{
    ovl_vec_free(&heap->items);
    ovl_vec_free(&heap->place);
}

/* Of two or four neighbours the first to come, without a branch: which it is is anybody's guess. */
static inline const ovl_heap_item *first_of_two(const ovl_heap_item *items)
{
    return items + ovl_heap_before(&items[1], &items[0]);
}

static inline const ovl_heap_item *first_of_four(const ovl_heap_item *items)
{
    const ovl_heap_item *a = first_of_two(items), *b = first_of_two(items + 2);
    return ovl_heap_before(b, a) ? b : a;
}

static inline uint32_t first_child(const ovl_heap_item *items, uint32_t child, uint32_t len)
{
    if (child + 4 <= len) {
        return (uint32_t)(first_of_four(items + child) - items);
    }
    uint32_t best = child;
    for (uint32_t i = child + 1; i < len; i++) {
        best = ovl_heap_before(&items[i], &items[best]) ? i : best;
    }
    return best;
}

static inline void put(ovl_heap_item *items, uint32_t *place, uint32_t at, ovl_heap_item item)
{
    items[at] = item;
    place[OVL_HEAP_HANDLE(&item)] = at + 1;
}

static void rise(ovl_heap *heap, uint32_t at, ovl_heap_item item)
{
    ovl_heap_item *items = heap->items.data;
    uint32_t *place = heap->place.data, moves = 1;
    while (at > 0) {
        uint32_t parent = (at - 1) / 4;
        if (!ovl_heap_before(&item, &items[parent])) {
            break;
        }
        put(items, place, at, items[parent]);
        at = parent;
        moves++;
    }
    put(items, place, at, item);
    heap->moves += moves;
}

static void sink(ovl_heap *heap, uint32_t at, ovl_heap_item item)
{
    ovl_heap_item *items = heap->items.data;
    uint32_t *place = heap->place.data, len = heap->items.len, moves = 1;
    for (uint32_t child; (child = at * 4 + 1) < len; moves++) {
        uint32_t best = first_child(items, child, len);
        if (!ovl_heap_before(&items[best], &item)) {
            break;
        }
        put(items, place, at, items[best]);
        at = best;
    }
    put(items, place, at, item);
    heap->moves += moves;
}

/* Nothing came in the stead of the first item that was taken out: the last one fills the hole. */
void ovl_heap_fill_hole(ovl_heap *heap)
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
        ovl_heap_fill_hole(heap);
    }
    uint32_t at = heap->place.data[handle] - 1;
    if (ovl_heap_before(&item, &heap->items.data[at])) {
        rise(heap, at, item);
    } else {
        sink(heap, at, item);
    }
}

void ovl_heap_take_out(ovl_heap *heap, uint32_t handle)
{
    if (heap->hole) {
        ovl_heap_fill_hole(heap);
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

const ovl_heap_item *ovl_heap_peek_past_hole(const ovl_heap *heap)
{
    const ovl_heap_item *items = heap->items.data;
    return heap->items.len > 1 ? &items[first_child(items, 1, heap->items.len)] : NULL;
}
