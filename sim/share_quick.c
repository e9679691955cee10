/*
 * share_quick.c - a resource with few users is solved without a look at its line, where nobody
 * passes the border between those who meet their own limits and those whom it bounds.
 *
 * Mostly one class has an activity more or less, and is bounded by the resource before and after.
 * Then one sum changes, and the level with it. Whether somebody passes the border is seen at the
 * two who stand next to it: the last who meets its limit, and of the others the one with the least
 * level. So these stand in any order, the resource is *loose*, and their levels are only worked out
 * to some last places: that decides as long as all are clearly above the resource's level. As soon
 * as one is not, they are worked out exactly and put in order (share_line.c).
 *
 * Example: capacity 100; three classes want 60 each, at most all of it. Level 33.3, own limits 60:
 * far away. One of them gets a second activity: 4 x 60 x t = 100; its own limit does not matter.
 */
#include "sim/share_parts.h"

#define FEW 16 /* users: as many are looked at one by one */

void ovl_share_find_least(ovl_share_resource *r)
{
    const ovl_share_user *line = r->line.data;
    r->least = r->limited;
    for (uint32_t i = r->limited + 1; i < r->line.len; i++) {
        r->least = line[i].level < line[r->least].level ? i : r->least;
    }
}

/* ovl_share_find_limit but for some last places. */
static inline double rough_limit(const ovl_share *share, const ovl_share_class *c)
{
    double level = c->cap_level;
    for (uint32_t bits = c->owned; bits; bits &= bits - 1) {
        const ovl_share_resource *r = &share->resources[c->uses[__builtin_ctz(bits)].resource];
        double own = (double)(int64_t)r->capacity / (c->weight * (double)(int64_t)r->demand);
        level = OVL_MIN(level, own);
    }
    return level;
}

static inline void find_level(ovl_share *share, const ovl_share_class *c, ovl_share_user *u)
{
    u->rough = !u->crossing;
    if (u->rough) {
        u->level = rough_limit(share, c);
        return;
    }
    const struct ovl_share_limit *limit = ovl_share_limit_of(share, u->slot);
    u->level = limit->level;
    u->bound = limit->bound;
    u->rate = ovl_rate_units(ovl_share_limited_rate(c, u->bound, u->level));
}

static inline void change_pull(ovl_share_resource *r, ovl_share_user *u, uint64_t demand)
{
    if (demand > u->demand) {
        ovl_pull_add(&r->open_pull, ovl_share_pull(u, demand - u->demand));
    } else if (demand < u->demand) {
        ovl_pull_take(&r->open_pull, ovl_share_pull(u, u->demand - demand));
    }
    u->demand = demand;
}

static inline void keep_least(ovl_share_resource *r, uint32_t at, double before)
{
    double level = r->line.data[at].level;
    if (at != r->least) {
        r->least = level < r->line.data[r->least].level ? at : r->least;
    } else if (level > before) {
        ovl_share_find_least(r);
    }
}

/* One of those whom it bounds demands another amount. False, with nothing changed, if it is not one
 * of them or stays as it is for the sake of another resource. */
static inline bool move(ovl_share *share, uint32_t resource, uint32_t at)
{
    ovl_share_resource *r = &share->resources[resource];
    ovl_share_user *u = &r->line.data[at];
    const ovl_share_class *c = &share->classes.data[u->slot];
    if (at < r->limited || ovl_share_elsewhere(share, c, resource)) {
        return false;
    }
    r->least = ovl_share_next(r);
    r->loose = true;
    double before = u->level;
    r->open_crossing += (uint32_t)(c->shared > 1) - (uint32_t)u->crossing;
    u->crossing = c->shared > 1;
    change_pull(r, u, c->count * u->unit);
    find_level(share, c, u);
    keep_least(r, at, before);
    u->moved = true;
    return true;
}

static inline bool move_all(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    for (uint32_t i = 0; i < r->moved.len; i++) {
        ovl_share_moved *moved = &r->moved.data[i];
        uint32_t at = moved->at = ovl_share_place(r, moved->slot, moved->at);
        if (at < r->line.len && !move(share, resource, at)) {
            return false;
        }
    }
    return true;
}

/* One who moved is bounded by the resource, and others that it shares hear of it. */
static inline void publish(ovl_share *share, uint32_t resource, ovl_share_user *u)
{
    ovl_share_follow(share, u->slot, resource);
    if (u->crossing) {
        ovl_share_move_on_others(share, u->slot, resource);
    }
    u->bounded = true;
    u->moved = false;
}

/* Those who share other resources, too, and did not move themselves hear of the level. */
static void tell_level(ovl_share *share, uint32_t resource)
{
    const ovl_share_resource *r = &share->resources[resource];
    for (uint32_t i = r->limited; i < r->line.len; i++) {
        if (r->line.data[i].crossing && !r->line.data[i].moved) {
            ovl_share_pass_on_others(share, r->line.data[i].slot, resource);
        }
    }
}

/* Where most of a line moved, all who share other resources as well are told of it, which may show
 * that they meet another one at the same level. */
static inline bool all_are_told(const ovl_share_resource *r)
{
    return r->open_crossing && 2 * r->moved.len > r->line.len;
}

bool ovl_share_solve_quick(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    if (r->stale || r->n_long || r->line.len > FEW || r->limited == r->line.len) {
        return false;
    }
    if (!move_all(share, resource) || all_are_told(r)) {
        return false;
    }
    double level = ovl_share_full_level(r);
    if (!ovl_share_border_stands(r, level)) {
        return false;
    }
    bool tells = r->open_crossing && r->level != level;
    ovl_share_set_level(share, resource, level);
    if (tells) {
        tell_level(share, resource);
    }
    for (uint32_t i = 0; i < r->moved.len; i++) {
        uint32_t at = r->moved.data[i].at;
        if (at < r->line.len) {
            publish(share, resource, &r->line.data[at]);
        }
    }
    r->moved.len = 0;
    share->solves++;
    share->solved += r->line.len;
    return true;
}
