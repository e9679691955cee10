/*
 * share.h - how concurrent activities share elastic resources: weighted max-min fairness with caps.
 *
 * An activity i runs at a rate 0 <= x_i <= cap_i <= 1 of its isolated speed and then takes x_i *
 * d_ir bytes/s of each resource r it demands. Rates are raised together, x_i = w_i * t, until an
 * activity meets its cap or a resource is full; whoever is bounded stays, the rest go on
 * (progressive filling; Bertsekas & Gallager, Data Networks, 6.5). The result is feasible,
 * efficient (everyone is at its cap or has a full resource on which no other has a larger x/w),
 * unique, and depends on the set of activities, never on the order of their arrival.
 *
 * With w_i = 1/(bytes/s on the principal resource) bytes/s are equalised ("fair"); with w_i = 1 all
 * slow alike.
 *
 * Worked example: HBM of 2000 GB/s; a kernel wants 2000; a collective wants 600 of HBM and 300 of a
 * link, its principal resource. Fair: w = 1/2000 and 1/300. At t = 300 the collective is at its cap
 * 1 (HBM used: 300 + 600); the kernel goes on to 2000 - 600 = 1400, x = 0.7, a slowdown of 1.43.
 *
 * The solver knows nothing of GPUs and nothing of time. What cannot be full never bounds anybody,
 * so an unsaturated system is never solved. A change is solved on the resource it concerns as long
 * as nobody who is bounded elsewhere has to change with it; else on everybody reachable through
 * resources that could be full.
 */
#ifndef OVL_SIM_SHARE_H
#define OVL_SIM_SHARE_H

#include "sim/heap.h"

#define OVL_BOUND_NONE UINT32_MAX       /* at isolated speed */
#define OVL_BOUND_CAP  (UINT32_MAX - 1) /* at its cap below 1; the caller knows why */

typedef struct ovl_use {
    uint32_t resource;
    uint64_t rate; /* bytes/s at isolated speed; 0 is allowed and means nothing */
} ovl_use;

typedef struct ovl_share_member {
    bool live, dirty;
    /* Scratch of a solve: rate found (or limit), meets another contended resource, demand here. */
    bool settled, crossing;
    double settled_rate;
    uint64_t use_here;
    uint64_t key; /* canonical place among the activities, unique among the live */
    double cap, weight;
    double rate;    /* solved */
    uint32_t bound; /* solved: a resource, OVL_BOUND_CAP or OVL_BOUND_NONE */
    uint32_t mark;  /* of the last component walk that met it */
    uint32_t n_uses, cap_uses;
    ovl_use *uses; /* owned by the solver, re-used with the slot */
} ovl_share_member;

typedef struct ovl_share_user {
    uint64_t key, rate;
    uint32_t slot;
} ovl_share_user;

typedef struct ovl_share_resource {
    uint64_t capacity;
    uint64_t demand; /* sum of rates of the live activities: exact, so that "could be full" is no
                        matter of rounding */
    bool touched;    /* in the list of those whose users may have to change */
    uint32_t mark;   /* of the last component walk that met it */
    OVL_VEC(ovl_share_user) users; /* a set; solving sorts it by key */
    /* Scratch of a solve: capacity not yet given away, growth of use per level, unsettled users. */
    double left, pull;
    uint32_t open;
} ovl_share_resource;

struct ovl_share_filling {
    double level;
    uint64_t key;
    uint32_t slot;
};

typedef struct ovl_share {
    OVL_VEC(ovl_share_member) members; /* by slot */
    ovl_share_resource *resources;
    uint32_t n_resources;
    OVL_VEC(uint32_t) spare;   /* free slots */
    OVL_VEC(uint32_t) touched; /* resources whose users may have to change */
    OVL_VEC(uint32_t) dirty;   /* slots whose rate may be out of date */
    OVL_VEC(uint32_t)
    changed;                 /* output of a solve: slots whose rate changed bitwise, in key order */
    OVL_VEC(uint32_t) group; /* scratch: slots of a component */
    OVL_VEC(struct ovl_share_filling)
    order;                  /* scratch: the same by the level at which the cap binds */
    OVL_VEC(uint32_t) full; /* scratch: resources of a component */
    ovl_heap levels;        /* scratch: contended resources by the level at which they are full */
    uint32_t walk;
    uint64_t solves, solved; /* how many components were solved, and activities in them */
} ovl_share;

/* A system of resources with these capacities (bytes/s), no activity. */
void ovl_share_init(ovl_share *share, const uint64_t *capacities, uint32_t n);
void ovl_share_free(ovl_share *share);

/* An activity joins with the uses given (at most one per resource; copied). Its rate is known after
 * the next solve. 0 < cap <= 1, weight > 0. Gives its slot, which stays valid until it leaves. */
uint32_t ovl_share_join(ovl_share *share, uint64_t key, double cap, double weight,
                        const ovl_use *uses, uint32_t n_uses);

void ovl_share_leave(ovl_share *share, uint32_t slot);

/* A cap changed; equal caps cost nothing. */
void ovl_share_set_cap(ovl_share *share, uint32_t slot, double cap);

/* A capacity changed (a link that degrades). */
void ovl_share_set_capacity(ovl_share *share, uint32_t resource, uint64_t capacity);

/* Brings all rates up to date; share->changed lists the slots whose rate or bound changed (some
 * perhaps twice). False if there was nothing to do. */
bool ovl_share_solve(ovl_share *share);

#endif
