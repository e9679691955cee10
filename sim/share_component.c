/*
 * share_component.c - progressive filling of everybody who is reachable, and the choice of what to
 * solve after a change.
 */
#include "sim/share_parts.h"

#include <math.h>

/* --- A component --- */

static void meet_users(ovl_share *share, const ovl_share_resource *r)
{
    for (uint32_t k = 0; k < r->line.len; k++) {
        ovl_share_class *other = &share->classes.data[r->line.data[k].slot];
        if (other->mark != share->walk) {
            other->mark = share->walk;
            ovl_vec_push(&share->group, r->line.data[k].slot);
        }
    }
}

/* Collects into group and full whoever is reachable from `slot` through resources that couple. */
static void walk_component(ovl_share *share, uint32_t slot)
{
    share->group.len = share->full.len = 0;
    share->classes.data[slot].mark = ++share->walk;
    ovl_vec_push(&share->group, slot);
    for (uint32_t i = 0; i < share->group.len; i++) {
        const ovl_share_class *c = &share->classes.data[share->group.data[i]];
        for (uint32_t u = 0; u < c->n_uses; u++) {
            ovl_share_resource *r = &share->resources[c->uses[u].resource];
            if (ovl_share_couples(r) && r->mark != share->walk) {
                r->mark = share->walk;
                ovl_vec_push(&share->full, c->uses[u].resource);
                meet_users(share, r);
            }
        }
    }
}

/* Doubles that are not negative compare as their bits do. */
static int64_t level_bits(double level)
{
    int64_t bits;
    memcpy(&bits, &level, sizeof bits);
    return bits;
}

static double level_of_bits(int64_t bits)
{
    double level;
    memcpy(&level, &bits, sizeof level);
    return level;
}

static void queue_resource(ovl_share *share, uint32_t resource)
{
    const ovl_share_resource *r = &share->resources[resource];
    if (r->open) {
        ovl_heap_set(&share->levels, resource, level_bits(ovl_exact_level(r->rest, r->rest_pull)),
                     0);
    } else {
        ovl_heap_remove(&share->levels, resource);
    }
}

static int compare_limits(const void *a, const void *b)
{
    const struct ovl_share_limit *x = a, *y = b;
    if (x->level != y->level) {
        return x->level < y->level ? -1 : 1;
    }
    return (x->bound < y->bound) - (x->bound > y->bound); /* caps, own resources */
}

/* Sum of weight * count * rate of all in the line. */
static ovl_pull whole_pull(const ovl_share *share, const ovl_share_resource *r)
{
    ovl_pull sum = {0};
    for (uint32_t k = 0; k < r->line.len; k++) {
        const ovl_share_class *c = &share->classes.data[r->line.data[k].slot];
        ovl_pull_add(&sum, ovl_pull_of(c->exact, c->count * r->line.data[k].unit));
    }
    return sum;
}

static void open_component(ovl_share *share)
{
    share->order.len = 0;
    for (uint32_t i = 0; i < share->group.len; i++) {
        share->classes.data[share->group.data[i]].settled = false;
        ovl_vec_push(&share->order, *ovl_share_limit_of(share, share->group.data[i]));
    }
    if (share->order.len) {
        qsort(share->order.data, share->order.len, sizeof *share->order.data, compare_limits);
    }
    for (uint32_t i = 0; i < share->full.len; i++) {
        ovl_share_resource *r = &share->resources[share->full.data[i]];
        r->rest = ovl_left_of(r->capacity);
        r->rest_pull = whole_pull(share, r);
        r->open = r->live;
        r->full_level = (double)INFINITY;
        queue_resource(share, share->full.data[i]);
    }
}

/* The rate of a class is found: what it takes is no longer there for the others. */
static void settle(ovl_share *share, uint32_t slot, double rate)
{
    ovl_share_class *c = &share->classes.data[slot];
    c->settled = true;
    c->tied = false;
    for (uint32_t u = 0; u < c->n_uses; u++) {
        ovl_share_resource *r = &share->resources[c->uses[u].resource];
        if (r->mark == share->walk) {
            uint64_t demand = c->count * c->uses[u].rate;
            ovl_left_take(&r->rest, ovl_rate_units(rate), demand);
            ovl_pull_take(&r->rest_pull, ovl_pull_of(c->exact, demand));
            r->open -= c->uses[u].classes;
            queue_resource(share, c->uses[u].resource);
        }
    }
}

/* The rate of a class of which a resource is full: of several that are, the lowest level holds. */
static double rate_at_tie(const ovl_share *share, const ovl_share_class *c,
                          const struct ovl_share_limit *limit)
{
    double level = limit && limit->bound < OVL_BOUND_CAP ? limit->level : (double)INFINITY;
    for (uint32_t u = 0; u < c->n_uses; u++) {
        const ovl_share_resource *r = &share->resources[c->uses[u].resource];
        if (r->mark == share->walk) {
            level = OVL_MIN(level, r->full_level);
        }
    }
    return ovl_exact_rate(OVL_MIN(c->cap, c->weight * level));
}

/* What to tell of a class that has a resource for itself: a shared one that is full, too, if there
 * is one; the lowest. */
static uint32_t tied_bound(const ovl_share *share, const ovl_share_class *c, uint32_t bound)
{
    uint32_t least = OVL_NONE;
    for (uint32_t u = 0; u < c->n_uses; u++) {
        const ovl_share_resource *r = &share->resources[c->uses[u].resource];
        if (r->mark == share->walk && r->full_level < (double)INFINITY) {
            least = OVL_MIN(least, c->uses[u].resource);
        }
    }
    return least != OVL_NONE ? least : bound;
}

static bool is_tied(const ovl_share *share, const ovl_share_class *c)
{
    uint32_t n = 0;
    for (uint32_t u = 0; u < c->n_uses; u++) {
        const ovl_share_resource *r = &share->resources[c->uses[u].resource];
        bool full = r->mark == share->walk && r->full_level < (double)INFINITY;
        n += full ? c->uses[u].spread : 0;
    }
    return n > 1;
}

static void settle_users(ovl_share *share, uint32_t resource)
{
    const ovl_share_resource *r = &share->resources[resource];
    for (uint32_t k = 0; k < r->line.len && r->open; k++) {
        uint32_t slot = r->line.data[k].slot;
        ovl_share_class *c = &share->classes.data[slot];
        if (c->settled) {
            continue;
        }
        bool tied = is_tied(share, c);
        double rate = rate_at_tie(share, c, NULL);
        settle(share, slot, rate);
        c->tied = tied;
        if (tied) {
            ovl_share_publish(share, slot, rate, resource);
        } else {
            ovl_share_follow(share, slot, resource);
        }
    }
}

/* Takes the resources that are full at the least level out of the queue, in order of their number;
 * ties each have their own level. */
static void take_tied(ovl_share *share, double least, double level)
{
    const ovl_heap_item *top;
    share->tied.len = 0;
    while ((top = ovl_heap_top(&share->levels)) &&
           level_of_bits(top->time) <= least * OVL_SHARE_TIE) {
        uint32_t resource = OVL_HEAP_HANDLE(top), at = share->tied.len;
        share->resources[resource].full_level = OVL_MAX(level_of_bits(top->time), level);
        ovl_heap_remove(&share->levels, resource);
        ovl_vec_push(&share->tied, resource);
        for (; at > 0 && share->tied.data[at - 1] > resource; at--) {
            share->tied.data[at] = share->tied.data[at - 1];
        }
        share->tied.data[at] = resource;
    }
}

/* Everything that is full at the least level: classes that have a resource for themselves first
 * (their level may be the lower one where they also use another), then resources. */
static void settle_level(ovl_share *share, uint32_t next, double least, double level)
{
    take_tied(share, least, level);
    for (; next < share->order.len && share->order.data[next].level <= least * OVL_SHARE_TIE;
         next++) {
        const struct ovl_share_limit *limit = &share->order.data[next];
        const ovl_share_class *c = &share->classes.data[limit->slot];
        if (!c->settled && limit->bound < OVL_BOUND_CAP) {
            bool tied = is_tied(share, c);
            double rate = rate_at_tie(share, c, limit);
            settle(share, limit->slot, rate);
            ovl_share_publish(share, limit->slot, rate, tied_bound(share, c, limit->bound));
            share->classes.data[limit->slot].tied = tied;
        }
    }
    for (uint32_t i = 0; i < share->tied.len; i++) {
        settle_users(share, share->tied.data[i]);
    }
}

/* Progressive filling. The level only rises in exact arithmetic; that it hardly falls in doubles
 * keeps every rate above 0. Hardly, so that a tie does not lift the other's level. */
#define FLOOR (1 - 0x1p-42)

static void fill(ovl_share *share)
{
    double level = 0;
    for (uint32_t next = 0; next < share->order.len;) {
        const struct ovl_share_limit *limit = &share->order.data[next];
        const ovl_share_class *c = &share->classes.data[limit->slot];
        const ovl_heap_item *top = ovl_heap_top(&share->levels);
        double full = top ? OVL_MAX(level_of_bits(top->time), level) : (double)INFINITY;
        if (c->settled) {
            next++;
        } else if (limit->bound == OVL_BOUND_CAP && limit->level <= full * OVL_SHARE_TIE) {
            level = OVL_MAX(level, limit->level * FLOOR);
            double rate = ovl_exact_rate(c->cap);
            settle(share, limit->slot, rate);
            ovl_share_publish(share, limit->slot, rate, ovl_share_bound_at(c, OVL_BOUND_CAP));
        } else {
            double least = OVL_MIN(full, limit->level);
            settle_level(share, next, least, level);
            level = OVL_MAX(level, least * FLOOR);
        }
    }
}

static void publish_limit(ovl_share *share, const struct ovl_share_limit *limit)
{
    const ovl_share_class *c = &share->classes.data[limit->slot];
    ovl_share_publish(share, limit->slot, ovl_share_limited_rate(c, limit->bound, limit->level),
                      ovl_share_bound_at(c, limit->bound));
}

void ovl_share_solve_component(ovl_share *share, uint32_t slot)
{
    walk_component(share, slot);
    for (uint32_t i = 0; i < share->group.len; i++) {
        share->classes.data[share->group.data[i]].dirty = false;
    }
    for (uint32_t i = 0; i < share->full.len; i++) {
        ovl_share_resource *r = &share->resources[share->full.data[i]];
        r->touched = false;
        r->stale = true;
        r->moved.len = 0;
    }
    share->solves++;
    share->solved += share->group.len;
    open_component(share);
    fill(share);
    for (uint32_t i = 0; i < share->full.len; i++) {
        double level = share->resources[share->full.data[i]].full_level;
        if (level < (double)INFINITY) {
            ovl_share_set_level(share, share->full.data[i], level);
        }
    }
}

/* --- Everything that changed --- */

/* A class that shares contended resources is their business; one that shares very many is solved
 * with all it reaches; one that shares none runs at its own limit. */
static void sort_out_class(ovl_share *share, uint32_t slot)
{
    ovl_share_class *c = &share->classes.data[slot];
    const struct ovl_share_limit *limit = ovl_share_limit_of(share, slot);
    if (c->shared == 0) {
        c->dirty = false;
        share->solves += limit->bound < OVL_BOUND_CAP;
        share->solved += limit->bound < OVL_BOUND_CAP;
        publish_limit(share, limit);
        return;
    }
    if (c->shared > 1 && c->is_long) {
        ovl_share_solve_component(share, slot);
        return;
    }
    ovl_share_move_on_others(share, slot, OVL_NONE);
    c->dirty = false;
}

/* Nobody is bounded by a resource that is no longer contended, and one who has it alone knows. */
static void sort_out_users(ovl_share *share, uint32_t resource, bool all)
{
    const ovl_share_resource *r = &share->resources[resource];
    for (uint32_t k = 0; k < r->line.len; k++) {
        uint32_t slot = r->line.data[k].slot;
        if (all || share->classes.data[slot].bound == resource) {
            sort_out_class(share, slot);
        }
    }
}

#define PATIENCE 16 /* times that a resource is solved by itself at one instant */

static void sort_out_resource(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    r->tries = r->tried_at == share->instant ? r->tries + 1 : 1;
    r->tried_at = share->instant;
    r->touched = false;
    if (!ovl_share_couples(r)) {
        sort_out_users(share, resource, r->state == OVL_SHARE_OWN);
    } else if (r->tries > PATIENCE || !(ovl_share_solve_quick(share, resource) ||
                                        ovl_share_solve_resource(share, resource))) {
        ovl_share_solve_component(share, r->line.data[0].slot);
    }
}

void ovl_share_solve(ovl_share *share)
{
    share->changed.len = share->relevelled.len = 0;
    share->instant++;
    for (uint32_t i = 0; i < share->dirty.len; i++) {
        uint32_t slot = share->dirty.data[i];
        ovl_share_class *c = &share->classes.data[slot];
        bool others_know = c->shared > 0 && !c->is_long; /* since it was counted */
        if (c->count && c->dirty && !others_know) {
            sort_out_class(share, slot);
        }
        share->classes.data[slot].dirty = false;
    }
    share->dirty.len = 0;
    for (uint32_t i = 0; i < share->touched.len; i++) {
        if (share->resources[share->touched.data[i]].touched) {
            sort_out_resource(share, share->touched.data[i]);
        }
    }
    share->touched.len = 0;
}
