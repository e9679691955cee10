/*
 * vec.h - a growable array, for building what is later frozen into an arena.
 *
 *     OVL_VEC(int) v = {0};
 *     ovl_vec_push(&v, 7);             v.data[0] == 7, v.len == 1
 *     int *frozen = ovl_vec_freeze(&v, &arena);   copy owned by the arena; v is empty again
 *     ovl_vec_free(&v);                for a vector that is not frozen
 */
#ifndef OVL_SIM_VEC_H
#define OVL_SIM_VEC_H

#include "sim/arena.h"

#include <stdlib.h>
#include <string.h>

#define OVL_VEC(type)                                                                              \
    struct {                                                                                       \
        type *data;                                                                                \
        uint32_t len, cap;                                                                         \
    }

/* Appends `...` (an expression or a compound literal) to *v. */
#define ovl_vec_push(v, ...)                                                                       \
    do {                                                                                           \
        ovl_vec_reserve((v), (v)->len + 1);                                                        \
        (v)->data[(v)->len++] = (__VA_ARGS__);                                                     \
    } while (0)

/* Makes room for `count` items in all. */
#define ovl_vec_reserve(v, count)                                                                  \
    ((v)->data = ovl_vec_grow_((v)->data, sizeof *(v)->data, (count), &(v)->cap))

#define ovl_vec_free(v) (free((v)->data), (v)->data = NULL, (v)->len = (v)->cap = 0)

/* Moves the contents into the arena, large ones as they lie, and empties the vector. */
#define ovl_vec_freeze(v, arena)                                                                   \
    ovl_vec_freeze_((arena), (void **)&(v)->data, sizeof *(v)->data, &(v)->len, &(v)->cap)

#define OVL_CACHE_LINE 64

/* As realloc, but what is made of whole cache lines lies on them. */
static inline void *ovl_vec_resize_(void *data, size_t size, uint32_t old, uint64_t want)
{
    if (size % OVL_CACHE_LINE != 0) {
        return realloc(data, (size_t)want * size);
    }
    void *grown = aligned_alloc(OVL_CACHE_LINE, (size_t)want * size);
    if (grown && old) {
        memcpy(grown, data, old * size);
        free(data);
    }
    return grown;
}

static inline void *ovl_vec_grow_(void *data, size_t size, uint64_t need, uint32_t *cap)
{
    if (need <= *cap) {
        return data;
    }
    uint64_t want = OVL_MAX(need, OVL_MAX((uint64_t)*cap * 2, 8));
    if (want > UINT32_MAX) {
        ovl_out_of_memory(SIZE_MAX);
    }
    void *grown = ovl_vec_resize_(data, size, *cap, want);
    if (!grown) {
        ovl_out_of_memory((size_t)want * size);
    }
    *cap = (uint32_t)want;
    return grown;
}

#define OVL_VEC_LARGE ((size_t)64 * 1024)

static inline void *ovl_vec_freeze_(ovl_arena *arena, void **data, size_t size, uint32_t *len,
                                    uint32_t *cap)
{
    size_t bytes = (size_t)*len * size;
    void *frozen = NULL;
    if (bytes >= OVL_VEC_LARGE) {
        frozen = realloc(*data, bytes);
        frozen = frozen ? frozen : *data;
        ovl_arena_adopt(arena, frozen, bytes);
    } else {
        frozen = ovl_arena_array(arena, *len, size, 16);
        if (bytes) {
            memcpy(frozen, *data, bytes);
        }
        free(*data);
    }
    *data = NULL;
    *len = *cap = 0;
    return frozen;
}

#endif
