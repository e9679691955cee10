/*
 * uses.h - what used which resource, and when.
 *
 * An activity uses a resource from the end of its latency to its own end, if it demands any of it:
 * kernels and copies their HBM, members of a collective their links and HBM, a message those of
 * both ends. One that goes through several phases uses in each what that demands, from the end of
 * the phase's latency to the end of the phase. Bytes of an eager message travel behind its sender.
 * Members of a collective that load one resource together are one use of it.
 *
 * The SMs of a rank are a resource, too, numbered behind those of the program: communication holds
 * its own from arrival to end, and kernels share what is left by what they want, from start to end.
 *
 * Example: two all-reduces of ranks 0 and 8 and of 1 and 9 on the NIC that ranks 0 and 1 share: two
 * uses of it, each with the load of one member. On 100 SMs an all-reduce that holds 20 leaves 80 to
 * a kernel that wants all.
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
    ovl_load rate; /* bytes/s at isolated speed, of all of them; SMs held, or wanted by a kernel */
    ovl_load load; /* rate x isolated length; of SMs 0 */
    double weight; /* of the sharing solver; of SMs 0 */
    bool holds;    /* SMs, whatever others want */
    bool once;     /* members load it together */
    bool message;  /* folded: its two ends are of several messages */
} ovl_resource_use;

typedef OVL_VEC(ovl_resource_use) ovl_resource_uses;

/* A use begins or ends, or with OVL_NONE for `item` a resource has another capacity. */
typedef struct ovl_use_moment {
    ovl_time time;
    uint32_t item; /* into uses */
    bool begins;
} ovl_use_moment;

/* By time, ends before begins, for qsort. */
int ovl_use_moment_order(const void *x, const void *y);

typedef enum ovl_shared {
    OVL_NOT_SHARED,
    OVL_SHARED,
    OVL_SHARED_OR_NOT,
    OVL_SMS_ALONE /* of those that are not shared */
} ovl_shared;

#define OVL_SMS_NAME "SMs"

/* The number of the SMs of a rank as a resource, and back. */
ovl_id ovl_sms_of_rank(const ovl_program *program, uint32_t rank);
bool ovl_is_sms(const ovl_program *program, ovl_id resource);

/* Of a resource of the program, or of SMs: its name, which one, bytes/s or SMs at the start. */
const char *ovl_used_name(const ovl_program *program, ovl_id resource);
uint32_t ovl_used_instance(const ovl_program *program, ovl_id resource);
uint64_t ovl_used_capacity(const ovl_program *program, ovl_id resource);

/* What it has at a moment: links degrade and recover. */
uint64_t ovl_used_capacity_at(const ovl_program *program, ovl_id resource, ovl_time at);

/* The resource, or SMs, that a limit is about; OVL_NONE: a measured factor. */
ovl_id ovl_limit_resource(const ovl_causes *causes, const ovl_limit *limit);

/* SMs that kernels have in all of `wanted` while `held` of `sms` are not theirs. */
uint64_t ovl_sms_for_kernels(uint64_t sms, uint64_t held, uint64_t wanted);

/* What an operation of a rank has of its SMs; false: nothing. */
bool ovl_use_of_sms(const ovl_causes *causes, uint32_t rank, uint32_t op, ovl_resource_use *use);

/* Ranks of each resource ([n_resources]), in `arena`. */
const uint32_t *ovl_resource_sharers(const ovl_program *program, ovl_arena *arena);

/* Adds what the operations of a rank (of several steps those of the last) use: of resources that it
 * shares with other ranks, of those it does not, SMs among them, or of all. `sharers` may be NULL
 * for SMs alone. */
void ovl_uses_of_rank(const ovl_causes *causes, const uint32_t *sharers, uint32_t rank,
                      ovl_shared which, ovl_resource_uses *uses);

/* The same, but kernels and copies that want as much of a resource one right behind another are one
 * use: enough to tell how long and how much it was used, though not by whom. */
void ovl_uses_joined(const ovl_causes *causes, const uint32_t *sharers, uint32_t rank,
                     ovl_shared which, ovl_resource_uses *uses);

/* Fills in `out` what a demand of an operation of a rank is on one instance of its resource: like,
 * rate, load, once, message. */
void ovl_use_load(const ovl_program *program, uint32_t rank, const ovl_op *op,
                  const ovl_demand *demand, ovl_time work, ovl_resource_use *out);

/* Sorts by resource, beginning, operation, and makes members of one activity one. */
void ovl_uses_sort(ovl_resource_uses *uses);

/* Of uses so sorted, the first of a resource, or where it would be. */
uint32_t ovl_uses_first(const ovl_resource_uses *uses, ovl_id resource);

#endif
