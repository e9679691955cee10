/*
 * heap.h - a priority queue of (time, tie, handle) in which the time of a handle can be changed.
 *
 * A tournament: the items are the leaves of a binary tree, and each node above holds the earlier of
 * the two below it, so the first of all stands at the root. Each handle is in the queue at most
 * once and stays in its leaf while it is. The order is total: time, then tie, then handle; never
 * luck. Example: set(h, 3, 50, 0), set(h, 1, 50, 0), set(h, 3, 40, 0) leaves 3 at 40 before 1 at
 * 50.
 *
 * Who leaves, or becomes later, is replaced on the way up as far as it stood there: with the other
 * of each two, whose places are known beforehand, so that no step waits for the one before it to
 * say where to look, and nothing has to be guessed. Who comes goes up until somebody is earlier,
 * which for an event that was just asked for is soon.
 *
 * Figures that chose it over a heap of four children, which waits for each comparison on its way
 * down before it knows what to look at next: as many instructions, and 20 to 45 % less time. Over
 * pairing heaps and ladders: a re-key costs about as much as a pop there, and the number of re-keys
 * decides.
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
    ovl_heap_item *nodes;    /* 1: the root; below n are 2n and 2n + 1; the leaves are the last */
    uint32_t n_leaves;       /* a power of two, or 0 */
    uint32_t n_levels;       /* from a leaf to the root, both counted */
    uint32_t n_used;         /* leaves that anybody was in yet */
    uint32_t len;            /* items */
    uint32_t left;           /* 1 + the leaf that the first item just left, and which whoever comes
                                next is put into; it still stands in the nodes. Or 0 */
    OVL_VEC(uint32_t) spare; /* leaves among these that are free */
    OVL_VEC(uint32_t) place; /* by handle: its leaf + 1, 0 when absent */
    uint64_t puts, moves;    /* calls of set, and nodes written: for counters */
} ovl_heap;

void ovl_heap_free(ovl_heap *heap);

/* Takes everybody out. */
void ovl_heap_clear(ovl_heap *heap);

/* Puts a handle in, or changes its key. 0 <= time, tie < 2^33, handle < 2^31. */
void ovl_heap_set(ovl_heap *heap, uint32_t handle, ovl_time time, uint64_t tie);

/* Takes a handle out if it is in. */
void ovl_heap_remove(ovl_heap *heap, uint32_t handle);

/* The first is gone for good: nobody came in its stead. */
void ovl_heap_close(ovl_heap *heap);

/* The first item; NULL when empty. Valid until the next change. */
static inline const ovl_heap_item *ovl_heap_top(ovl_heap *heap)
{
    if (heap->left) {
        ovl_heap_close(heap);
    }
    return heap->len ? &heap->nodes[1] : NULL;
}

/* Nobody: later than everybody. */
#define OVL_HEAP_NOBODY ((ovl_heap_item){UINT64_MAX, OVL_NEVER})

/* The item in a leaf below n_used, in no order; NULL if it is free. */
static inline const ovl_heap_item *ovl_heap_leaf(const ovl_heap *heap, uint32_t leaf)
{
    const ovl_heap_item *item = &heap->nodes[heap->n_leaves + leaf];
    return item->order == UINT64_MAX || leaf + 1 == heap->left ? NULL : item;
}

#endif
