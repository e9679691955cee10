/*
 * tally.h - how much memory is held, counted by those who hold it.
 *
 * Arenas and vectors say what they take and what they give back, and so does who takes much from
 * malloc by itself; what a sort or the C library take is not counted. Each thread counts what it
 * took, so that what one run needs is known while others go on beside it.
 *
 *     uint64_t before = ovl_tally_now();
 *     ovl_tally_from_here();
 *     ... ovl_tally_peak() - before       bytes that were needed at once, beside what was there
 */
#ifndef OVL_SIM_TALLY_H
#define OVL_SIM_TALLY_H

#include <stddef.h>
#include <stdint.h>

/* So many bytes more, or less, are held by this thread. What another thread took may be given back
 * here. */
void ovl_tally_more(size_t bytes);
void ovl_tally_less(size_t bytes);

/* Bytes that are held now, and the most that were since ovl_tally_from_here, or ever. */
uint64_t ovl_tally_now(void);
uint64_t ovl_tally_peak(void);
void ovl_tally_from_here(void);

/* Zeroed memory from calloc for `count` items, counted; never NULL: exhaustion ends the program.
 * Goes back with the same numbers; NULL may, too. */
void *ovl_tally_take(size_t count, size_t size);
void ovl_tally_give(void *data, size_t count, size_t size);

#endif
