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
 * Activities with the same uses, weight and cap get the same rate. They form one *class* with a
 * count n, which is solved as one: it demands n * d_r. Ten transfers on one route cost no more than
 * one. Sums are exact (exact.h): neither grouping into classes nor order changes a bit.
 *
 * Classes that one resource bounds *follow* it: their rates are weight * its level. So a change of
 * the level is told once, whoever many follow; and while it only moves somewhat it costs no look at
 * those who stay on the same side of it (share_resource.c).
 *
 * The solver knows nothing of GPUs and nothing of time. What cannot be full never bounds anybody,
 * so an unsaturated system is never solved. A resource that only one class uses bounds it as a cap
 * does. A change is solved on the resource it concerns as long as nobody who is bounded elsewhere
 * has to change with it; else on everybody reachable through resources that could be full.
 */
#ifndef OVL_SIM_SHARE_H
#define OVL_SIM_SHARE_H

#include "sim/exact.h"
#include "sim/heap.h"

#define OVL_BOUND_NONE UINT32_MAX       /* at isolated speed */
#define OVL_BOUND_CAP  (UINT32_MAX - 1) /* at its cap below 1; the caller knows why */

typedef struct ovl_use {
    uint32_t resource;
    uint32_t classes; /* how many like its own it stands for on this resource: 1, or where ranks are
                         folded as many as there would be; `rate` is that of all of them */
    uint32_t spread;  /* how many resources like it each of them has, all used alike: 1, or more
                         where ranks are folded */
    uint32_t at;   /* the solver's: where its class stands in the line of the resource, perhaps */
    uint64_t rate; /* bytes/s at isolated speed; 0 is allowed and means nothing */
} ovl_use;

/* What bounds a class besides the resources it shares with others: the level at which it does, and
 * what it is. */
struct ovl_share_limit {
    double level;
    uint32_t slot;
    uint32_t bound; /* a resource of its own; OVL_BOUND_CAP: its cap */
};

/* What every join, leave and solve looks at comes first, in one cache line. */
typedef struct ovl_share_class {
    _Alignas(OVL_CACHE_LINE) double rate; /* solved, unless it follows a resource: ovl_share_rate;
                                             -1 before */
    double weight, cap_level;             /* cap / weight */
    ovl_use *uses;                        /* owned by the solver, re-used with the slot */
    uint32_t n_uses;
    uint32_t bound;   /* solved: a resource, OVL_BOUND_CAP or OVL_BOUND_NONE */
    uint32_t follows; /* the resource whose level gives its rate, or OVL_NONE */
    uint32_t count;   /* activities; a class without any is kept for those to come */
    uint32_t shared;  /* contended resources it shares with other classes: of those that are folded
                         into one as many as fit tell 0, 1 and many apart */
    uint32_t born;    /* which class of this slot it is */
    uint16_t coupled; /* of its first uses those that it shares, one bit each */
    uint16_t owned;   /* of its first uses those that bound it alone, one bit each */
    bool dirty;       /* in the list of those whose rate may be out of date */
    bool limited;     /* `limit` is up to date */
    bool known;       /* in the table, by its uses, weight and cap */
    bool tied;        /* several resources that it shares are full at one level */
    ovl_exact_weight exact; /* of `weight` */
    double cap;
    struct ovl_share_limit limit; /* what bounds it besides resources it shares */
    uint64_t hash;
    uint32_t cap_uses;
    uint32_t mark; /* of the last component walk that met it */
    bool is_long;  /* it uses so many resources, those that are folded counted, that it is solved
                      with everybody it reaches */
    bool settled;  /* scratch of a solve */
} ovl_share_class;

/* A user's limit is only known but for some last places; it is bounded by the resource. */
#define OVL_BOUND_ROUGH (UINT32_MAX - 2)

/* A class in the line of a resource: a cache line. */
typedef struct ovl_share_user {
    double level;   /* up to where it goes for reasons of its own */
    uint64_t rate;  /* the rate there, in units of 2^-63 */
    uint64_t unit;  /* bytes/s of one activity */
    ovl_pull pull;  /* of one activity */
    uint32_t count; /* activities, as they are counted in the sums of the line */
    uint32_t slot;
    uint32_t bound; /* why: a resource of its own, OVL_BOUND_CAP, OVL_BOUND_NONE: it is bounded by
                       another resource that it shares and stays as it is; or OVL_BOUND_ROUGH,
                       where its rate is not known either */
    bool bounded;   /* by this resource */
    bool crossing;  /* it shares other resources, too */
    bool moved;     /* put here since the last solve */
    unsigned is_long : 1; /* it uses very many resources */
    unsigned spread : 7;  /* ovl_use, as far as it matters */
} ovl_share_user;

/* A class whose place in a line may be another, and where it stood, perhaps. */
typedef struct ovl_share_moved {
    uint32_t slot, at;
} ovl_share_moved;

/* What a resource means for those who use it. */
enum ovl_share_state {
    OVL_SHARE_FREE,    /* nothing: it has as much as all together ask for */
    OVL_SHARE_OWN,     /* a cap, for the only class that uses it */
    OVL_SHARE_COUPLES, /* that they share it */
};

/* How a line that is not stale stands. */
enum ovl_share_order {
    OVL_SHARE_ORDERED,
    OVL_SHARE_LOOSE, /* of those it bounds only `least` is known to stand right: it has the least
                        level (share_quick.c) */
    OVL_SHARE_MIXED, /* all but newcomers meet their own limits, in no order */
};

/* In order of use, a cache line each: what every change of a level looks at, what a change of users
 * does, and what only a solve with others does. */
typedef struct ovl_share_resource {
    /* The classes with activities stand in the line by level. The first `limited` meet their own
     * limits before the resource is full; `left` is what they leave, `open_pull` the pull of the
     * others, `open_crossing` how many of these share other resources, too. */
    _Alignas(OVL_CACHE_LINE) ovl_wide left;
    ovl_pull open_pull;
    double left_value; /* of `left` */
    double level;      /* solved: those who follow it run at weight * level */
    uint32_t limited;
    uint32_t open_crossing;
    OVL_VEC(ovl_share_user) line;
    OVL_VEC(ovl_share_moved) moved;
    uint64_t capacity;
    uint64_t demand; /* sum of count * rate: exact, so that "could be full" is no matter of rounding
                      */
    uint32_t live;   /* classes in the line, folded ones as many as they stand for */
    uint8_t state;   /* ovl_share_state */
    bool touched;    /* in the list of those whose users may have to change */
    bool stale;      /* the line is in no order and has no sums */
    uint8_t order;   /* ovl_share_order */
    uint32_t least;  /* where it stands */
    uint32_t tried_at;            /* the last instant when it was solved by itself */
    uint32_t tries;               /* how often it was then */
    uint32_t n_long;              /* classes in the line that use very many resources */
    uint32_t look_from, look_end; /* while it is solved: the part of the line where somebody moved
                                     or passed the border between the two groups */
    /* Scratch of a component's solve: the last that met it; not yet given away, of those not
     * settled, their number; the level at which it is full once that is known. */
    uint32_t mark;
    uint32_t open;
    double full_level;
    ovl_wide rest;
    ovl_pull rest_pull;
} ovl_share_resource;

typedef struct ovl_share {
    OVL_VEC(ovl_share_class) classes; /* by slot */
    ovl_share_resource *resources;
    uint32_t n_resources;
    OVL_VEC(uint32_t) spare;   /* free slots */
    OVL_VEC(uint32_t) table;   /* slot + 1 by hash, open addressing; its size a power of two */
    uint32_t n_known;          /* classes in it */
    uint32_t n_live;           /* of those, with activities */
    OVL_VEC(uint32_t) touched; /* resources whose users may have to change */
    OVL_VEC(uint32_t) dirty;   /* slots whose rate may be out of date */
    OVL_VEC(uint32_t)
    changed;                      /* output of a solve: slots that follow another resource than
                                     before or none any more, or whose own rate or bound changed */
    OVL_VEC(uint32_t) relevelled; /* output of a solve: resources whose level changed */
    OVL_VEC(uint32_t) group;      /* scratch: slots of a component */
    OVL_VEC(struct ovl_share_limit)
    order;                  /* scratch: those who are solved, by the level that bounds them */
    OVL_VEC(uint32_t) full; /* scratch: resources of a component */
    OVL_VEC(uint32_t) tied; /* scratch: those of them that are full at one level */
    ovl_heap levels;        /* scratch: resources by the level at which they are full */
    uint32_t walk;
    uint64_t instant;        /* number of this solve */
    uint64_t solves, solved; /* how many systems were solved, and classes in them */
} ovl_share;

/* A system of resources with these capacities (bytes/s, below 2^62), no activity. */
void ovl_share_init(ovl_share *share, const uint64_t *capacities, uint32_t n);
void ovl_share_free(ovl_share *share);

/* `count` activities join with the uses given (at most one per resource; copied). Their rate is
 * known after the next solve. 0 < cap <= 1, 2^-75 <= weight <= 1. Gives the slot of their class. */
uint32_t ovl_share_join(ovl_share *share, double cap, double weight, const ovl_use *uses,
                        uint32_t n_uses, uint32_t count);

/* So many more of a class that is known. */
void ovl_share_join_again(ovl_share *share, uint32_t slot, uint32_t count);

/* `count` activities of the class leave. */
void ovl_share_leave(ovl_share *share, uint32_t slot, uint32_t count);

/* `count` activities of the class get another cap; gives the slot of their class from now on. Equal
 * caps cost nothing. */
uint32_t ovl_share_set_cap(ovl_share *share, uint32_t slot, double cap, uint32_t count);

/* A capacity changed (a link that degrades). */
void ovl_share_set_capacity(ovl_share *share, uint32_t resource, uint64_t capacity);

/* A slot that is no class, for the caller's own use, until it is given back. */
uint32_t ovl_share_reserve(ovl_share *share);
void ovl_share_release(ovl_share *share, uint32_t slot);

/* Has something changed since the last solve? */
static inline bool ovl_share_waits(const ovl_share *share)
{
    return share->dirty.len > 0 || share->touched.len > 0;
}

/* Brings all rates up to date; share->changed and share->relevelled list whose (some perhaps
 * twice). */
void ovl_share_solve(ovl_share *share);

/* The solved rate of a class. */
static inline double ovl_share_rate(const ovl_share *share, uint32_t slot)
{
    const ovl_share_class *c = &share->classes.data[slot];
    return c->follows == OVL_NONE
               ? c->rate
               : ovl_exact_rate(OVL_MIN(c->cap, c->weight * share->resources[c->follows].level));
}

#endif
