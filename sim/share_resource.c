/*
 * share_resource.c - one resource solved by itself.
 */
#include "sim/share_parts.h"

/* Its own resources bound it at their levels, the lowest of them. */
static inline void limit_by(const ovl_share *share, const ovl_share_class *c, uint32_t resource,
                            struct ovl_share_limit *limit)
{
    const ovl_share_resource *r = &share->resources[resource];
    if (r->state != OVL_SHARE_OWN) {
        return;
    }
    double level = ovl_whole_level(r->capacity, ovl_pull_of(c->exact, r->demand));
    if (level < limit->level ||
        (level == limit->level && limit->bound != OVL_BOUND_CAP && resource < limit->bound)) {
        limit->level = level;
        limit->bound = resource;
    }
}

void ovl_share_find_limit(ovl_share *share, uint32_t slot)
{
    ovl_share_class *c = &share->classes.data[slot];
    struct ovl_share_limit limit = {.level = c->cap_level, .slot = slot, .bound = OVL_BOUND_CAP};
    c->limited = true;
    for (uint32_t bits = c->owned; bits; bits &= bits - 1) {
        limit_by(share, c, c->uses[__builtin_ctz(bits)].resource, &limit);
    }
    for (uint32_t u = OVL_SHARE_USE_BITS; u < c->n_uses; u++) {
        limit_by(share, c, c->uses[u].resource, &limit);
    }
    c->limit = limit;
}

/* --- What a class does from now on; its other resources hear of it --- */

bool ovl_share_publish(ovl_share *share, uint32_t slot, double rate, uint32_t bound)
{
    ovl_share_class *c = &share->classes.data[slot];
    if (c->follows == OVL_NONE && c->rate == rate && c->bound == bound) {
        return false;
    }
    c->follows = OVL_NONE;
    c->rate = rate;
    c->bound = bound;
    ovl_vec_push(&share->changed, slot);
    return true;
}

bool ovl_share_follow(ovl_share *share, uint32_t slot, uint32_t resource)
{
    ovl_share_class *c = &share->classes.data[slot];
    if (c->follows == resource) {
        return false;
    }
    c->follows = c->bound = resource;
    c->rate = 0;
    ovl_vec_push(&share->changed, slot);
    return true;
}

static void tell_others(ovl_share *share, uint32_t slot, uint32_t resource)
{
    if (share->classes.data[slot].shared > 1) {
        ovl_share_move_on_others(share, slot, resource);
    }
}

void ovl_share_publish_limited(ovl_share *share, uint32_t resource, ovl_share_user *u)
{
    if ((u->bounded || u->moved) && u->bound != OVL_BOUND_NONE) {
        const ovl_share_class *c = &share->classes.data[u->slot];
        u->bounded = false;
        double rate = ovl_share_limited_rate(c, u->bound, u->level);
        if (ovl_share_publish(share, u->slot, rate, ovl_share_bound_at(c, u->bound))) {
            tell_others(share, u->slot, resource);
        }
    }
    u->moved = false;
}

/* One whom the resource bounds. Who has another resource for itself that is full at the same level
 * may be a last place below it. */
static void publish_one(ovl_share *share, uint32_t resource, ovl_share_user *u, bool own)
{
    const ovl_share_class *c = &share->classes.data[u->slot];
    if (own) {
        double rate = ovl_exact_rate(OVL_MIN(c->cap, c->weight * u->level));
        ovl_share_publish(share, u->slot, rate, resource);
    } else {
        ovl_share_follow(share, u->slot, resource);
    }
    if (u->crossing) {
        ovl_share_move_on_others(share, u->slot, resource);
    }
    if (own || u->bound == OVL_BOUND_NONE) { /* its place is not for long */
        ovl_share_resource *r = &share->resources[resource];
        ovl_vec_push(&r->moved, (ovl_share_moved){u->slot, (uint32_t)(u - r->line.data)});
    }
    u->bounded = true;
    u->moved = false;
}

/* One whom the resource bounds. True if that is nothing new. */
static inline bool publish_bounded(ovl_share *share, uint32_t resource, ovl_share_user *u,
                                   double level)
{
    bool own = u->bound < OVL_BOUND_CAP && u->level < level;
    if (u->is_long && u->bound == OVL_BOUND_NONE) {
        return false; /* it stays */
    }
    if (u->bounded && !u->moved && !own) {
        return true;
    }
    publish_one(share, resource, u, own);
    return false;
}

/* Those whom the resource bounds and who share others, too, hear of each change of the level. */
static void tell_level(ovl_share *share, uint32_t resource, uint32_t from, uint32_t end)
{
    const ovl_share_user *line = share->resources[resource].line.data;
    for (uint32_t i = from; i < end; i++) {
        if (line[i].crossing) {
            ovl_share_pass_on_others(share, line[i].slot, resource);
        }
    }
}

/* Those whom the resource bounds: who meets a resource of its own a last place below the level, and
 * who is looked at. */
static void publish_level(ovl_share *share, uint32_t resource, double level)
{
    ovl_share_resource *r = &share->resources[resource];
    bool tells = r->level != level && r->open_crossing;
    uint32_t i = r->limited, len = r->line.len;
    ovl_share_set_level(share, resource, level);
    for (; i < len && r->line.data[i].level < level; i++) {
        publish_bounded(share, resource, &r->line.data[i], level);
    }
    uint32_t from = OVL_MAX(i, OVL_MIN(r->look_from, len)), end = OVL_MAX(from, r->look_end);
    if (tells) {
        tell_level(share, resource, r->limited, from);
        tell_level(share, resource, end, len);
    }
    for (i = from; i < end; i++) {
        if (publish_bounded(share, resource, &r->line.data[i], level) && tells) {
            tell_level(share, resource, i, i + 1);
        }
    }
}

bool ovl_share_solve_resource(ovl_share *share, uint32_t resource)
{
    const ovl_share_resource *r = &share->resources[resource];
    double level;
    if (!ovl_share_fill_line(share, resource, &level)) {
        return false;
    }
    uint32_t end = OVL_MIN(r->limited, r->look_end);
    for (uint32_t i = r->look_from; i < end; i++) {
        ovl_share_publish_limited(share, resource, &r->line.data[i]);
    }
    if (r->limited < r->line.len) {
        publish_level(share, resource, level);
    }
    share->solves++;
    share->solved += r->line.len;
    return true;
}
