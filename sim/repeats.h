/*
 * repeats.h - where a list repeats itself: runs of equal blocks, one behind the other.
 *
 * A run of period p from `first` to `end` has item[i] == item[i + p] for every i of first .. end -
 * p
 * - 1, and cannot be made longer. Example: in a b c b c b c b c d there is one of period 2 from 1
 * to 9, the block `b c` four times.
 *
 * Steps hold layers, so runs may lie within blocks of others. Which periods are tried is guessed
 * from the distances between equal items (those that account for most of the list); that a run is
 * one is looked up item by item.
 */
#ifndef OVL_SIM_REPEATS_H
#define OVL_SIM_REPEATS_H

#include "sim/vec.h"

#define OVL_REPEATS_BLOCKS 4 /* a run has at least so many */
#define OVL_REPEATS_MAX    8 /* different periods */

typedef struct ovl_repeat {
    uint32_t period, first, end;
} ovl_repeat;

typedef OVL_VEC(ovl_repeat) ovl_repeats;

/* Appends the runs of a list, the largest period first, those of one period from left to right. */
void ovl_repeats_find(const uint32_t *items, uint32_t n, ovl_repeats *runs);

/* Of `n` runs in that order, one that goes on furthest of those in which every item from `at` to
 * the `shift`-th but last is like the one `shift` behind it; NULL: there is none. */
const ovl_repeat *ovl_repeats_at(const ovl_repeat *runs, uint32_t n, uint32_t at, uint32_t shift);

#endif
