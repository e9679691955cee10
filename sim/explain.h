/*
 * explain.h - why operations took as long as they did: what held each below its isolated speed, and
 * for how long.
 *
 *     end - start = latency + work + the time lost to each bound
 *
 * exactly (work is the transfer of communication, the whole of a kernel). A bound is a resource,
 * the SMs that others left, or a measured factor; `beside` are the names that used the resource or
 * SMs while this operation did. Of a collective that goes through several phases latency and work
 * are those of all of them, and each phase is told with what it loads.
 *
 * Example: an all-reduce of 4 ms on a NIC that another shares: 8 ms = 4 + 4 lost to nic.out, beside
 * the other. Where several bounds hold it back alike, the loss is told of the first alone.
 */
#ifndef OVL_SIM_EXPLAIN_H
#define OVL_SIM_EXPLAIN_H

#include "sim/causes.h"
#include "sim/classes.h"

/* A stretch of time in which a resource had less than in good health while the activity was there.
 */
typedef struct ovl_degraded {
    ovl_time from, to;
    uint64_t capacity; /* bytes/s that were left */
    double alone;      /* part of isolated speed that it would have had alone */
} ovl_degraded;

typedef struct ovl_bound_on {
    const char *name;  /* "nic.out", "hbm", "SMs", "measured factor" */
    uint32_t instance; /* of a resource, or rank of SMs; OVL_NONE for a factor */
    ovl_time time, lost;
    const char *beside;           /* "b, c and 2 more"; NULL for a factor */
    const char *full_too;         /* "nic.in 0": other resources of the rank that it uses and that
                                     were full when this bound made it slowest: where several
                                     bind alike, the loss is told of one. NULL: none, or not
                                     asked for by name */
    const ovl_degraded *degraded; /* by time; of `lost` so much is due to that, the rest to those
                                     beside (degraded.h) */
    uint32_t n_degraded;
    ovl_time lost_degraded;
} ovl_bound_on;

typedef struct ovl_explained_phase {
    ovl_time from, to;
    ovl_time latency, work; /* alone */
    const char *over;       /* what it loads: "nic.out, nic.in, hbm"; "nothing" */
} ovl_explained_phase;

typedef struct ovl_explained {
    const char *name, *kind; /* kind: "kernel", "all_reduce", ... */
    const char *stream;
    uint32_t rank, count; /* ranks alike */
    ovl_time issue, arrive, start, end;
    const char *arrived; /* why not earlier: "after: x"; NULL: it came at once */
    const char *started; /* communication that waited: "x on rank 3 arrived last"; NULL: at once */
    ovl_time latency, work;
    const ovl_bound_on *bounds; /* most lost first */
    uint32_t n_bounds;
    ovl_time lost;
    const ovl_explained_phase *phases;
    uint32_t n_phases; /* 0: it is all one */
} ovl_explained;

/* Operations named `name`, all of them if it is NULL, that a rank of each class has (`rank`: only
 * that one's, OVL_NONE: all); of all names only those that lost something, most lost first, else in
 * order of rank and start. *n of them; texts live in `arena`. */
const ovl_explained *ovl_explain(ovl_causes *causes, const ovl_classes *classes, const char *name,
                                 uint32_t rank, ovl_arena *arena, uint32_t *n);

#endif
