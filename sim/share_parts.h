/*
 * share_parts.h - what the files of the sharing solver have in common. Private to them.
 */
#ifndef OVL_SIM_SHARE_PARTS_H
#define OVL_SIM_SHARE_PARTS_H

#include "sim/share.h"

/* Levels that differ by no more than rounding count as equal and bind together, caps first: who is
 * first among them must not depend on luck. */
#define OVL_SHARE_TIE (1 + 0x1p-44)

/* A class with more uses than this, a collective over many ranks, is solved with everybody it
 * reaches. */
#define OVL_SHARE_SHORT 8

static inline bool ovl_share_couples(const ovl_share_resource *r)
{
    return r->state == OVL_SHARE_COUPLES;
}

/* Those on a resource that is, or was until now, contended may get a new rate. */
void ovl_share_touch(ovl_share *share, uint32_t resource);

/* The solved rate of a class; it is listed as changed if it differs. */
static inline void ovl_share_publish(ovl_share *share, uint32_t slot, double rate, uint32_t bound)
{
    ovl_share_class *c = &share->classes.data[slot];
    if (c->rate != rate || c->bound != bound) {
        c->rate = rate;
        c->bound = bound;
        ovl_vec_push(&share->changed, slot);
    }
}

/* What bounds a class besides resources it shares: its cap, or a contended resource that nobody
 * else uses; brings c->limit up to date. */
void ovl_share_find_limit(ovl_share *share, uint32_t slot);

static inline const struct ovl_share_limit *ovl_share_limit_of(ovl_share *share, uint32_t slot)
{
    if (!share->classes.data[slot].limited) {
        ovl_share_find_limit(share, slot);
    }
    return &share->classes.data[slot].limit;
}

/* The rate at a limit, at most the cap; and the bound to tell. */
double ovl_share_limited_rate(const ovl_share_class *c, const struct ovl_share_limit *limit,
                              double level);
uint32_t ovl_share_bound_at(const ovl_share_class *c, uint32_t bound);

void ovl_share_sort_limits(struct ovl_share_limit *list, uint32_t n);

/* Solves one resource as if everything else stayed. Whoever it bounds, or no longer bounds, and who
 * shares other resources as well, is their business next: they are touched. In the end nobody has
 * to move any more; a resource only depends on those of lower level, so that this comes to an end.
 * False, with nothing changed, if the resource alone cannot tell. */
bool ovl_share_solve_resource(ovl_share *share, uint32_t resource);

/* Solves everybody reachable from a class through contended resources. */
void ovl_share_solve_component(ovl_share *share, uint32_t slot);

#endif
