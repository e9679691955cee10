/*
 * delays.h - events that come a fixed time after they were asked for: latencies, launches.
 *
 * There are few different delays, and of one delay who asks first is first. So they wait in one
 * line for each delay, and need no heap. The order among all is that of the heap: time, tie,
 * handle. Example: delays of 5 us asked for at 10 and 12 us stand in one line, one of 3 us asked
 * for at 11 us in another; they come at 14, 15 and 17 us.
 */
#ifndef OVL_SIM_DELAYS_H
#define OVL_SIM_DELAYS_H

#include "sim/heap.h"

#define OVL_DELAYS_MAX 8

typedef struct ovl_delay_line {
    ovl_time delay;
    uint32_t first, n; /* of a ring of `size` items */
    uint32_t size;     /* a power of two */
    ovl_heap_item *items;
} ovl_delay_line;

typedef struct ovl_delays {
    ovl_delay_line lines[OVL_DELAYS_MAX];
    uint32_t n_lines;
    uint32_t next;              /* whose first item is the first of all; OVL_NONE: there is none, */
    const ovl_heap_item *first; /* and that item; NULL */
} ovl_delays;

void ovl_delays_init(ovl_delays *delays);
void ovl_delays_free(ovl_delays *delays);

/* Adds an event `delay` from now; false if there are too many different delays. */
bool ovl_delays_add(ovl_delays *delays, ovl_time now, ovl_time delay, uint64_t tie,
                    uint32_t handle);

/* The first event, or NULL. */
static inline const ovl_heap_item *ovl_delays_first(const ovl_delays *delays)
{
    return delays->first;
}

/* Takes it out. */
void ovl_delays_take(ovl_delays *delays);

/* Finds it anew, after somebody changed what stands in the lines. */
void ovl_delays_find_first(ovl_delays *delays);

#endif
