/*
 * heap.h - a priority queue of (time, tie, handle) in which the time of a handle can be changed.
 *
 * A 4-ary heap with positions: each handle is in the queue at most once. The order is total: time,
 * then tie, then handle; never luck. Example: set(h, 3, 50, 0), set(h, 1, 50, 0), set(h, 3, 40, 0)
 * leaves 3 at 40 before 1 at 50.
 *
 * Figures that chose it over pairing heaps and ladders: a re-key costs about as much as a pop, and
 * the number of re-keys decides. Taking out the first and putting another in, which is what events
 * mostly do, costs one walk down.
 */
#ifndef OVL_SIM_HEAP_H
#define OVL_SIM_HEAP_H

#include "sim/vec.h"

typedef struct ovl_heap_item {
    uint64_t order; /* tie, then handle */
    ovl_time time;
} ovl_heap_item;

#define OVL_HEAP_HANDLE_BITS 31
#define OVL_HEAP_HANDLE(item)                                                                      \
    ((uint32_t)((item)->order & ((UINT64_C(1) << OVL_HEAP_HANDLE_BITS) - 1)))

__extension__ typedef unsigned __int128 ovl_heap_key;

static inline ovl_heap_item ovl_heap_item_of(ovl_time time, uint64_t tie, uint32_t handle)
{
    assert(time >= 0 && tie >> 33 == 0 && handle >> OVL_HEAP_HANDLE_BITS == 0);
    return (ovl_heap_item){tie << OVL_HEAP_HANDLE_BITS | handle, time};
}

static inline bool ovl_heap_before(const ovl_heap_item *a, const ovl_heap_item *b)
{
    ovl_heap_key x = (ovl_heap_key)(uint64_t)a->time << 64 | a->order;
    ovl_heap_key y = (ovl_heap_key)(uint64_t)b->time << 64 | b->order;
    return x < y;
}

typedef struct ovl_heap {
    OVL_VEC(ovl_heap_item) items;
    OVL_VEC(uint32_t) place; /* by handle: index into items + 1, 0 when absent */
    bool hole;               /* the first item is gone; whatever is put in next goes there */
    uint64_t puts, moves;    /* calls of set, and items moved: for counters */
} ovl_heap;

void ovl_heap_free(ovl_heap *heap);

/* Puts a handle in, or changes its key. 0 <= time, tie < 2^33, handle < 2^31. */
void ovl_heap_set(ovl_heap *heap, uint32_t handle, ovl_time time, uint64_t tie);

void ovl_heap_take_out(ovl_heap *heap, uint32_t handle);
void ovl_heap_fill_hole(ovl_heap *heap);

/* Takes a handle out if it is in. Mostly it is the first. */
static inline void ovl_heap_remove(ovl_heap *heap, uint32_t handle)
{
    uint32_t place = handle < heap->place.len ? heap->place.data[handle] : 0;
    if (place == 1 && !heap->hole) {
        heap->place.data[handle] = 0;
        heap->hole = true;
    } else if (place) {
        ovl_heap_take_out(heap, handle);
    }
}

const ovl_heap_item *ovl_heap_peek_past_hole(const ovl_heap *heap);

/* The first item; NULL when empty. Valid until the next change. */
static inline const ovl_heap_item *ovl_heap_top(ovl_heap *heap)
{
    if (heap->hole) {
        ovl_heap_fill_hole(heap);
    }
    return heap->items.len ? heap->items.data : NULL;
}

/* The same item, but where the first was just taken out the queue is not put in order for it: what
 * is put in next may go there. */
static inline const ovl_heap_item *ovl_heap_peek(const ovl_heap *heap)
{
    if (heap->hole) {
        return ovl_heap_peek_past_hole(heap);
    }
    return heap->items.len ? heap->items.data : NULL;
}

#endif
