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

/* So many of the uses of a class have a bit in `coupled` and `owned`: all of those it has, unless
 * it is long. */
#define OVL_SHARE_USE_BITS 16

/* Levels further apart than this are in the same order whatever was rounded. */
#define OVL_SHARE_CLEARLY (1 + 0x1p-42)

/* How many resources a use stands for, as far as it matters. */
static inline uint32_t ovl_share_spread(const ovl_use *use)
{
    return OVL_MIN(use->spread, 127);
}

static inline bool ovl_share_couples(const ovl_share_resource *r)
{
    return r->state == OVL_SHARE_COUPLES;
}

/* Those on a resource that is, or was until now, contended may get a new rate. */
static inline void ovl_share_touch(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    if (!r->touched) {
        r->touched = true;
        ovl_vec_push(&share->touched, resource);
    }
}

/* The place of a class in the line, which is mostly where it stood; the length of the line if it is
 * not in it. */
static inline uint32_t ovl_share_place(const ovl_share_resource *r, uint32_t slot, uint32_t stood)
{
    if (stood < r->line.len && r->line.data[stood].slot == slot) {
        return stood;
    }
    uint32_t at = 0;
    while (at < r->line.len && r->line.data[at].slot != slot) {
        at++;
    }
    return at;
}

/* The place of a class in the line will be looked up anew when the resource is solved next. */
static inline void ovl_share_note_move(ovl_share_resource *r, uint32_t slot, ovl_use *use)
{
    if (!r->stale && (r->moved.len == 0 || r->moved.data[r->moved.len - 1].slot != slot)) {
        use->at = ovl_share_place(r, slot, use->at);
        ovl_vec_push(&r->moved, (ovl_share_moved){slot, use->at});
    }
}

/* What bounds a class besides the resource changed, or how much it demands: the resource may have
 * to be solved. */
static inline void ovl_share_move(ovl_share *share, uint32_t slot, ovl_use *use)
{
    ovl_share_touch(share, use->resource);
    ovl_share_note_move(&share->resources[use->resource], slot, use);
}

/* The same on each contended resource it uses but one (OVL_NONE: on all). */
void ovl_share_move_on_others(ovl_share *share, uint32_t slot, uint32_t but);

/* Its rate is another since the level of `resource` is, which bounds it. */
void ovl_share_pass_on_others(ovl_share *share, uint32_t slot, uint32_t resource);

/* A class gets a rate of its own; it is listed as changed, and the answer is true, if it had
 * another. */
bool ovl_share_publish(ovl_share *share, uint32_t slot, double rate, uint32_t bound);

/* A class is bounded by a resource and runs at its level from now on. True if it did not before. */
bool ovl_share_follow(ovl_share *share, uint32_t slot, uint32_t resource);

static inline void ovl_share_set_level(ovl_share *share, uint32_t resource, double level)
{
    if (share->resources[resource].level != level) {
        share->resources[resource].level = level;
        ovl_vec_push(&share->relevelled, resource);
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
static inline double ovl_share_limited_rate(const ovl_share_class *c, uint32_t bound, double level)
{
    return ovl_exact_rate(bound == OVL_BOUND_CAP ? c->cap : OVL_MIN(c->cap, c->weight * level));
}

static inline uint32_t ovl_share_bound_at(const ovl_share_class *c, uint32_t bound)
{
    return bound == OVL_BOUND_CAP && c->cap >= 1 ? OVL_BOUND_NONE : bound;
}

/* --- share_line.c: who uses a resource, in order of own limits --- */

/* Is the class bounded by another resource that it shares? */
static inline bool ovl_share_elsewhere(const ovl_share *share, const ovl_share_class *c,
                                       uint32_t resource)
{
    return c->shared > 1 && c->rate >= 0 && c->bound < OVL_BOUND_CAP && c->bound != resource &&
           ovl_share_couples(&share->resources[c->bound]);
}

/* The level at which the resource is full, as its sums are. `left_value` holds. */
static inline double ovl_share_full_level(const ovl_share_resource *r)
{
    return r->left_value / ovl_pull_value(r->open_pull);
}

/* Which of those who do not meet their own limits is the next to do so. */
static inline uint32_t ovl_share_next(const ovl_share_resource *r)
{
    return r->order == OVL_SHARE_LOOSE ? r->least : r->limited;
}

/* Do those next to the border stand clearly apart from the level? Rough levels are off by less. */
static inline bool ovl_share_border_stands(const ovl_share_resource *r, double level)
{
    const ovl_share_user *line = r->line.data;
    return r->limited < r->line.len && line[ovl_share_next(r)].level > level * OVL_SHARE_CLEARLY &&
           (r->limited == 0 || line[r->limited - 1].level * OVL_SHARE_CLEARLY < level);
}

/* A class enters the line, or leaves it. */
void ovl_share_enter(ovl_share *share, uint32_t slot, ovl_use *use);
void ovl_share_exit(ovl_share *share, uint32_t slot, const ovl_use *use);

/* Up to where a user goes for reasons of its own: whoever is bounded elsewhere stays as it is.
 * False if the resource alone cannot tell. */
bool ovl_share_find_own_limit(ovl_share *share, uint32_t resource, ovl_share_user *u);

/* Puts those who moved in their places, or the whole line if it is in no order; finds how many meet
 * their own limits before the resource is full, and gives the level at which it is. False if the
 * resource alone cannot tell who goes how far. */
bool ovl_share_fill_line(ovl_share *share, uint32_t resource, double *level);

/* --- share_quick.c, share_resource.c, share_component.c: solving --- */

/* What one who meets its own limit does from now on. */
void ovl_share_publish_limited(ovl_share *share, uint32_t resource, ovl_share_user *u);

/* Finds anew which of those whom a loose resource bounds has the least level. */
void ovl_share_find_least(ovl_share_resource *r);

/* A class is bounded by another resource at another level: if that is simple it is done at once,
 * and concerns nobody but those whom this resource bounds. Else the resource will be solved. */
void ovl_share_pass_on(ovl_share *share, uint32_t slot, ovl_use *use);

/* Solves a resource with few users where nobody passes the border and all who moved stay bounded by
 * it. False if it is not so: it is solved along its line then. */
bool ovl_share_solve_quick(ovl_share *share, uint32_t resource);

/* Solves one resource as if everything else stayed. Whoever it bounds, or no longer bounds, and who
 * shares other resources as well, is their business next: they are touched. In the end nobody has
 * to move any more; a resource only depends on those of lower level, so that this comes to an end.
 * False, with nothing changed, if the resource alone cannot tell. */
bool ovl_share_solve_resource(ovl_share *share, uint32_t resource);

/* Solves everybody reachable from a class through contended resources. */
void ovl_share_solve_component(ovl_share *share, uint32_t slot);

#endif
