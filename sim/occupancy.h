/*
 * occupancy.h - one resource over time: who used it, and how much of it, from when to when.
 *
 * The time from the first use to the last is cut where somebody comes, goes, or gets another rate,
 * and where the resource gets another capacity.
 * A piece without users is left out. The pieces' bytes/s times their lengths sum to what crossed
 * it.
 *
 * SMs are such a resource (uses.h): who holds some, and kernels with their part of what is left.
 *
 * Examples: a NIC of 50 GB/s: 6..14 ms a + b, 50 GB/s, 100 %. 100 SMs: 0..10 ms k with 80, a with
 * 20.
 */
#ifndef OVL_SIM_OCCUPANCY_H
#define OVL_SIM_OCCUPANCY_H

#include "sim/causes.h"

typedef struct ovl_occupant {
    const char *name;
    uint32_t rank; /* of the member that carries it: first place, sender */
    double rate;   /* of isolated speed; 1 for who holds SMs */
    double takes;  /* bytes/s, or SMs */
    bool holds;    /* SMs, whatever others want: communication */
} ovl_occupant;

typedef struct ovl_occupancy {
    ovl_time from, to;
    double takes;      /* of all of them */
    uint64_t capacity; /* that the resource has then */
    const ovl_occupant *users;
    uint32_t n_users;
} ovl_occupancy;

/* Pieces of a resource in time order, in `arena`; *n of them. The timeline must have rate segments.
 */
const ovl_occupancy *ovl_occupancy_of(const ovl_causes *causes, ovl_id resource, ovl_arena *arena,
                                      uint32_t *n);

#endif
