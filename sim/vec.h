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
#include "sim/tally.h"

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
        if ((v)->len == (v)->cap) {                                                                \
            (v)->data =                                                                            \
                ovl_vec_move_((v)->data, sizeof *(v)->data, (uint64_t)(v)->len + 1, &(v)->cap);    \
        }                                                                                          \
        (v)->data[(v)->len++] = (__VA_ARGS__);                                                     \
    } while (0)

/* Makes room for `count` items in all. */
#define ovl_vec_reserve(v, count)                                                                  \
    ((v)->data = ovl_vec_grow_((v)->data, sizeof *(v)->data, (count), &(v)->cap))

/* A vector may begin in an array that lies near what owns it, and moves away when that is full: the
 * owner must stay where it is, and such a vector is pushed to and freed with the same array named.
 */
#define ovl_vec_begin_near(v, near) ((v)->data = (near), (v)->cap = OVL_COUNT(near))
#define ovl_vec_push_near(v, near, ...)                                                            \
    do {                                                                                           \
        if ((v)->len == (v)->cap) {                                                                \
            (v)->data = ovl_vec_leave_((v)->data, (near), sizeof *(v)->data, &(v)->cap);           \
        }                                                                                          \
        (v)->data[(v)->len++] = (__VA_ARGS__);                                                     \
    } while (0)
#define ovl_vec_free_near(v, near)                                                                 \
    (ovl_vec_drop_((v)->data == (near) ? NULL : (v)->data, sizeof *(v)->data, (v)->cap),           \
     (v)->data = NULL, (v)->len = (v)->cap = 0)

#define ovl_vec_free(v)                                                                            \
    (ovl_vec_drop_((v)->data, sizeof *(v)->data, (v)->cap), (v)->data = NULL,                      \
     (v)->len = (v)->cap = 0)

/* Moves the contents into the arena, large ones as they lie, and empties the vector. */
#define ovl_vec_freeze(v, arena)                                                                   \
    ovl_vec_freeze_((arena), (void **)&(v)->data, sizeof *(v)->data, &(v)->len, &(v)->cap)

#define OVL_CACHE_LINE 64

/* Moves *data to where `need` items and as many again have room; what is made of whole cache lines
 * lies on them. Rarely needed: the code around it is laid out for when it is not. */
OVL_COLD void *ovl_vec_move_(void *data, size_t size, uint64_t need, uint32_t *cap);

/* The same for one more item, where `data` may still be the array `near`. */
OVL_COLD void *ovl_vec_leave_(void *data, const void *near, size_t size, uint32_t *cap);

static inline void *ovl_vec_grow_(void *data, size_t size, uint64_t need, uint32_t *cap)
{
    return need <= *cap ? data : ovl_vec_move_(data, size, need, cap);
}

static inline void ovl_vec_drop_(void *data, size_t size, uint32_t cap)
{
    if (data) {
        ovl_tally_less(cap * size);
        free(data);
    }
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
        ovl_tally_less(*cap * size);
        ovl_arena_adopt(arena, frozen, bytes);
    } else {
        frozen = ovl_arena_array(arena, *len, size, 16);
        if (bytes) {
            memcpy(frozen, *data, bytes);
        }
        ovl_vec_drop_(*data, size, *cap);
    }
    *data = NULL;
    *len = *cap = 0;
    return frozen;
}

#endif
