/*
 * usage.h - who used which resource, and how much.
 *
 * An activity, or a phase of it, uses a resource from the end of its latency to its own end, if it
 * demands any of it: kernels and copies their HBM, members of a collective their links and HBM, a
 * message those of both ends. Who met whom there, and what that cost, is for meetings.h.
 *
 * SMs are such a resource of each rank (uses.h): busy is when any are used, mean use is of all of
 * them; a kernel that gets fewer than it wants is held back.
 *
 * Resources of one name (the NICs) are one line, with the numbers of its busiest instance (most
 * bytes or SM time of what it has, as instances may differ; then the lowest).
 *
 * Bytes are what was demanded: rate x isolated length, exactly. What a link sends and what it
 * receives over all instances are equal for messages and for collectives, save where a switch
 * copies what is sent once, or adds up what is received once (NVLS).
 *
 * Example: `a` and `b`, 200 MB each, 6 to 14 ms on one NIC of 50 GB/s: busy 8 ms, 400 MB out;
 * together 8 ms on it, 4 ms lost each.
 */
#ifndef OVL_SIM_USAGE_H
#define OVL_SIM_USAGE_H

#include "sim/causes.h"
#include "sim/classes.h"
#include "sim/result.h"

/* Fills the result's tables of resources and collisions, in `arena`. */
void ovl_usage_find(const ovl_causes *causes, const ovl_classes *classes, ovl_arena *arena,
                    ovl_result *result);

#endif
