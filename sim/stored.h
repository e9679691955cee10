/*
 * stored.h - lists that are stored once, found by what they hold.
 *
 * The caller puts a new list behind those it has and asks where an equal one begins. If that is not
 * the new one, it takes the new one away again.
 *
 *     ovl_stored s = {0};
 *     with 7 8 at 0 and 1, and a new 7 8 at 2 and 3:
 *     ovl_stored_once(items, &s, hash, 2, 2, same)        0, where the first one begins
 *     ovl_stored_forget(&s);
 */
#ifndef OVL_SIM_STORED_H
#define OVL_SIM_STORED_H

#include "sim/vec.h"

typedef struct ovl_stored_list {
    uint32_t hash, first, n;
} ovl_stored_list;

/* Open addressing: each place has one's number + 1, or 0. */
typedef struct ovl_stored {
    OVL_VEC(ovl_stored_list) lists;
    uint32_t *places;
    uint32_t n_places;
} ovl_stored;

/* Where a list equal to that of `n` things from `first` on begins: there, if it is new. `same`
 * compares two of the owner's lists of `n` things. */
uint32_t ovl_stored_once(const void *owner, ovl_stored *s, uint64_t hash, uint32_t first,
                         uint32_t n,
                         bool (*same)(const void *owner, uint32_t x, uint32_t y, uint32_t n));

/* Gives back what finds the lists. */
void ovl_stored_forget(ovl_stored *s);

static inline uint64_t ovl_stored_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

#endif
