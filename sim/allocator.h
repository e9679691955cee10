/*
 * allocator.h - the memory of one GPU as PyTorch's caching allocator hands it out.
 *
 * Memory comes from the driver in *segments* (cudaMalloc) and is handed out in *blocks* cut from
 * them. Each stream has two pools of free blocks, small and large; a block never leaves its
 * stream, and a segment goes back to the driver only when the driver has nothing left. Rules and
 * constants (pytorch c10/cuda/CUDACachingAllocator.cpp at 001074d2, default settings):
 *
 *     block      the request, rounded up to 512 B (kMinBlockSize)
 *     pool       small up to 1 MiB (kSmallSize), else large
 *     segment    small: 2 MiB (kSmallBuffer); large below 10 MiB (kMinLargeAlloc): 20 MiB
 *                (kLargeBuffer); else the request rounded up to 2 MiB (kRoundLarge)
 *     choice     the smallest free block that is large enough, of those the lowest address
 *     splitting  what remains is cut off if it is at least 512 B (small), above 1 MiB (large)
 *     free       merges with free neighbours in its segment
 *     full       cudaMalloc fails at the GPU's limit: segments that are wholly free go back, and it
 *                is tried again (a retry)
 *
 * With OVL_ROUNDING_NONE there are no segments: a request takes its bytes, and each stream's pool
 * holds exactly its own high-water mark.
 *
 * Example: 3 MiB take a segment of 20 MiB, 17 of them free; 5 MiB more are cut from it; 18 MiB do
 * not fit and take a segment of their own: 38 MiB reserved for 26.
 */
#ifndef OVL_SIM_ALLOCATOR_H
#define OVL_SIM_ALLOCATOR_H

#include "sim/program.h"

typedef struct ovl_block {
    uint64_t size, address;
    uint32_t prev, next;  /* neighbours in the segment, or OVL_NONE */
    uint32_t left, right; /* in the tree of free blocks of its pool */
    uint32_t pool;        /* 2 * stream + large */
    bool used;
} ovl_block;

typedef struct ovl_pool {
    uint32_t root;       /* tree of free blocks by size, then address; OVL_NONE: empty */
    uint64_t used, kept; /* OVL_ROUNDING_NONE: bytes handed out, and held in all */
} ovl_pool;

typedef struct ovl_allocator {
    ovl_rounding rounding;
    uint64_t limit; /* bytes of the GPU; 0: no limit */
    OVL_VEC(ovl_block) blocks;
    OVL_VEC(uint32_t) spare; /* block numbers to use again */
    ovl_pool *pools;         /* [2 * n_streams] */
    uint32_t n_pools;
    uint64_t next_address;
    uint64_t reserved; /* in segments */
    uint64_t used;     /* in blocks handed out, rounding included */
} ovl_allocator;

/* Pools live in `arena`; ovl_allocator_free_all gives back the rest. */
void ovl_allocator_init(ovl_allocator *a, uint32_t n_streams, ovl_rounding rounding, uint64_t limit,
                        ovl_arena *arena);
void ovl_allocator_free_all(ovl_allocator *a);

/* Whether a request can be met without a segment that passes the limit. */
bool ovl_allocator_fits(const ovl_allocator *a, uint32_t stream, uint64_t bytes);

/* A block for a request of at least one byte, from a new segment if need be, limit or not. */
uint32_t ovl_allocator_alloc(ovl_allocator *a, uint32_t stream, uint64_t bytes);

/* Gives a block (by its number) back to its pool. */
void ovl_allocator_free(ovl_allocator *a, uint32_t number);

/* Gives segments that are wholly free back to the driver. */
void ovl_allocator_release(ovl_allocator *a);

#endif
