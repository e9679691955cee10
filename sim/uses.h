/*
 * uses.h - what used which resource, and when.
 *
 * An activity uses a resource from the end of its latency to its own end, if it demands any of it:
 * kernels and copies their HBM, members of a collective their links and HBM, a message those of
 * both ends. Bytes of an eager message travel behind its sender. Members of a collective that load
 * one resource together are one use of it.
 *
 * Example: two all-reduces of ranks 0 and 8 and of 1 and 9 on the NIC that ranks 0 and 1 share: two
 * uses of it, each with the load of one member.
 */
#ifndef OVL_SIM_USES_H
#define OVL_SIM_USES_H

#include "sim/causes.h"

__extension__ typedef unsigned __int128 ovl_load;

typedef struct ovl_resource_use {
    ovl_id resource;
    uint32_t op; /* that carries its limits: first place of a collective, sender */
    ovl_id name;
    uint32_t like; /* activities that load it so; more than 1 where ranks are folded */
    ovl_time from, to;
    ovl_load rate; /* bytes/s at isolated speed, of all of them */
    ovl_load load; /* rate x isolated length */
    bool once;     /* members load it together */
    bool message;  /* folded: its two ends are of several messages */
} ovl_resource_use;

typedef OVL_VEC(ovl_resource_use) ovl_resource_uses;

typedef enum ovl_shared { OVL_NOT_SHARED, OVL_SHARED, OVL_SHARED_OR_NOT } ovl_shared;

/* Ranks of each resource ([n_resources]), in `arena`. */
const uint32_t *ovl_resource_sharers(const ovl_program *program, ovl_arena *arena);

/* Adds what the operations of a rank (of several steps those of the last) use: of resources that it
 * shares with other ranks, of those it does not, or of all. */
void ovl_uses_of_rank(const ovl_causes *causes, const uint32_t *sharers, uint32_t rank,
                      ovl_shared which, ovl_resource_uses *uses);

/* Fills in `out` what a demand of an operation of a rank is on one instance of its resource: like,
 * rate, load, once, message. */
void ovl_use_load(const ovl_program *program, uint32_t rank, const ovl_op *op,
                  const ovl_demand *demand, ovl_time work, ovl_resource_use *out);

/* Sorts by resource, beginning, operation, and makes members of one activity one. */
void ovl_uses_sort(ovl_resource_uses *uses);

#endif
