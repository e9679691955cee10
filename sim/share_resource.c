/*
 * share_resource.c - one resource solved by itself, and what both ways of solving share.
 */
#include "sim/share_parts.h"

#include <math.h>

/* --- What bounds a class besides what it shares --- */

void ovl_share_find_limit(ovl_share *share, uint32_t slot)
{
    ovl_share_class *c = &share->classes.data[slot];
    struct ovl_share_limit limit = {c->cap / c->weight, slot, OVL_BOUND_CAP, 0};
    c->limited = true;
    for (uint32_t i = 0; i < c->n_uses; i++) {
        const ovl_share_resource *r = &share->resources[c->uses[i].resource];
        if (r->state != OVL_SHARE_OWN) {
            continue;
        }
        double level = ovl_exact_level(ovl_left_of(r->capacity), r->pull);
        if (level < limit.level || (level == limit.level && limit.bound != OVL_BOUND_CAP &&
                                    c->uses[i].resource < limit.bound)) {
            limit.level = level;
            limit.bound = c->uses[i].resource;
        }
    }
    c->limit = limit;
}

double ovl_share_limited_rate(const ovl_share_class *c, const struct ovl_share_limit *limit,
                              double level)
{
    switch (limit->bound) {
    case OVL_BOUND_NONE:
        return c->rate;
    case OVL_BOUND_CAP:
        return ovl_exact_rate(c->cap);
    default:
        return ovl_exact_rate(OVL_MIN(c->cap, c->weight * level));
    }
}

uint32_t ovl_share_bound_at(const ovl_share_class *c, uint32_t bound)
{
    return bound == OVL_BOUND_CAP && c->cap >= 1 ? OVL_BOUND_NONE : bound;
}

static int compare_limits(const void *a, const void *b)
{
    const struct ovl_share_limit *x = a, *y = b;
    if (x->level != y->level) {
        return x->level < y->level ? -1 : 1;
    }
    return (x->bound < y->bound) - (x->bound > y->bound); /* who stays, caps, own resources */
}

/* By insertion, as they mostly are in order from the last time; if it takes long after all, by
 * qsort. Those of one level may stand in any order. */
void ovl_share_sort_limits(struct ovl_share_limit *list, uint32_t n)
{
    uint64_t moves = 0;
    for (uint32_t i = 1; i < n; i++) {
        struct ovl_share_limit item = list[i];
        uint32_t at = i;
        for (; at > 0 && compare_limits(&list[at - 1], &item) > 0; at--) {
            list[at] = list[at - 1];
        }
        list[at] = item;
        moves += i - at;
        if (moves > 32 + 8 * (uint64_t)n) {
            qsort(list, n, sizeof *list, compare_limits);
            return;
        }
    }
}

/* --- One resource --- */

/* Is the class bounded by another resource that it shares? */
static bool bounded_elsewhere(const ovl_share *share, const ovl_share_class *c, uint32_t resource)
{
    return c->shared > 1 && c->rate >= 0 && c->bound < OVL_BOUND_CAP && c->bound != resource &&
           share->resources[c->bound].state == OVL_SHARE_COUPLES;
}

/* Who uses the resource, and up to where each goes for reasons of its own: whoever is bounded
 * elsewhere stays as it is. Sorted; the users are kept in that order for the next time. False if
 * the resource alone cannot tell. */
static bool open_users(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    uint32_t idle = 0;
    share->order.len = 0;
    for (uint32_t k = 0; k < r->users.len; k++) {
        ovl_share_user user = r->users.data[k];
        const ovl_share_class *c = &share->classes.data[user.slot];
        if (c->count == 0) {
            r->users.data[k] = r->users.data[idle];
            r->users.data[idle++] = user;
            continue;
        }
        struct ovl_share_limit limit = *ovl_share_limit_of(share, user.slot);
        bool stays = bounded_elsewhere(share, c, resource);
        if (c->tied && c->rate >= 0 && c->shared > 0) {
            return false;
        }
        if (c->shared > 1 && c->n_uses > OVL_SHARE_SHORT) {
            stays = true;
            if (c->dirty || c->rate < 0 || c->bound == resource) {
                return false;
            }
        }
        if (stays && c->rate / c->weight <= limit.level) {
            limit.level = c->rate / c->weight;
            limit.bound = OVL_BOUND_NONE;
        }
        limit.demand = user.rate;
        ovl_vec_push(&share->order, limit);
    }
    ovl_share_sort_limits(share->order.data, share->order.len);
    for (uint32_t k = 0; k < share->order.len; k++) {
        struct ovl_share_limit *limit = &share->order.data[k];
        r->users.data[idle + k] = (ovl_share_user){limit->demand, limit->slot};
        limit->demand *= share->classes.data[limit->slot].count;
    }
    return true;
}

/* How far the filling of the resource gets: the first `limited` of share->order meet their own
 * limits before it is full at `level`. */
typedef struct filling {
    uint32_t limited;
    double level;
    bool tie; /* who stays does so at a level that would make the resource full as well */
} filling;

static filling fill(ovl_share *share, uint32_t resource)
{
    const ovl_share_resource *r = &share->resources[resource];
    ovl_wide left = ovl_left_of(r->capacity);
    ovl_pull pull = r->pull;
    bool tie = false;
    for (uint32_t i = 0; i < share->order.len; i++) {
        const struct ovl_share_limit *limit = &share->order.data[i];
        const ovl_share_class *c = &share->classes.data[limit->slot];
        double level = ovl_exact_level(left, pull);
        bool cap = limit->bound == OVL_BOUND_CAP;
        if (limit->level > (cap ? level * OVL_SHARE_TIE : level)) {
            return (filling){i, level, tie};
        }
        if (limit->bound < OVL_BOUND_CAP && level <= limit->level * OVL_SHARE_TIE) {
            return (filling){i, level, tie};
        }
        tie |= limit->bound == OVL_BOUND_NONE && level <= limit->level * OVL_SHARE_TIE;
        ovl_left_take(&left, ovl_share_limited_rate(c, limit, limit->level), limit->demand);
        ovl_pull_take(&pull, ovl_pull_of(c->exact, limit->demand));
    }
    return (filling){share->order.len, (double)INFINITY, tie};
}

/* Levels that cannot be told apart bind together, which only a look at everybody can do right; and
 * who meets very many resources is not moved from one of them. */
static bool cannot_tell(const ovl_share *share, double level)
{
    for (uint32_t i = 0; i < share->order.len; i++) {
        const struct ovl_share_limit *limit = &share->order.data[i];
        if (limit->bound == OVL_BOUND_NONE && limit->level * OVL_SHARE_TIE >= level &&
            (level * OVL_SHARE_TIE >= limit->level ||
             share->classes.data[limit->slot].n_uses > OVL_SHARE_SHORT)) {
            return true;
        }
    }
    return false;
}

/* The other resources of a class hear that it takes more or less than before. */
static void publish(ovl_share *share, uint32_t slot, double rate, uint32_t bound, uint32_t resource)
{
    const ovl_share_class *c = &share->classes.data[slot];
    bool moved = c->shared > 1 && (c->rate != rate || c->bound != bound);
    ovl_share_publish(share, slot, rate, bound);
    for (uint32_t u = 0; u < c->n_uses && moved; u++) {
        if (c->uses[u].resource != resource &&
            ovl_share_couples(&share->resources[c->uses[u].resource])) {
            ovl_share_touch(share, c->uses[u].resource);
        }
    }
}

bool ovl_share_solve_resource(ovl_share *share, uint32_t resource)
{
    if (!open_users(share, resource)) {
        return false;
    }
    filling full = fill(share, resource);
    if (full.tie || cannot_tell(share, full.level)) {
        return false;
    }
    for (uint32_t i = 0; i < share->order.len; i++) {
        const struct ovl_share_limit *limit = &share->order.data[i];
        const ovl_share_class *c = &share->classes.data[limit->slot];
        if (i >= full.limited) {
            bool own = limit->bound < OVL_BOUND_CAP;
            double level = own ? OVL_MIN(limit->level, full.level) : full.level;
            publish(share, limit->slot, ovl_exact_rate(OVL_MIN(c->cap, c->weight * level)),
                    resource, resource);
        } else if (limit->bound != OVL_BOUND_NONE) {
            publish(share, limit->slot, ovl_share_limited_rate(c, limit, limit->level),
                    ovl_share_bound_at(c, limit->bound), resource);
        }
    }
    share->solves++;
    share->solved += share->order.len;
    return true;
}
