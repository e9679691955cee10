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
    uint32_t least = r->limited, len = r->line.len;
    double level = (double)INFINITY;
    for (uint32_t i = r->limited; i < len; i++) {
        if (line[i].level < level) {
            level = line[i].level;
            least = i;
        }
    }
    r->least = least;
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

static double exact_limit(ovl_share *share, ovl_share_user *u)
{
    const struct ovl_share_limit *limit = ovl_share_limit_of(share, u->slot);
    const ovl_share_class *c = &share->classes.data[u->slot];
    u->bound = limit->bound;
    u->rate = ovl_rate_units(ovl_share_limited_rate(c, limit->bound, limit->level));
    return limit->level;
}

static inline void change_pull(ovl_share_resource *r, ovl_share_user *u, uint32_t count)
{
    if (count > u->count) {
        ovl_pull_add(&r->open_pull, ovl_pull_times(u->pull, count - u->count));
    } else if (count < u->count) {
        ovl_pull_take(&r->open_pull, ovl_pull_times(u->pull, u->count - count));
    }
    u->count = count;
}

static inline void set_level(ovl_share_resource *r, uint32_t at, double level)
{
    ovl_share_user *line = r->line.data;
    double before = line[at].level;
    line[at].level = level;
    if (!r->loose) {
        r->loose = true;
        r->least = r->limited;
    }
    if (at != r->least) {
        r->least = level < line[r->least].level ? at : r->least;
    } else if (level > before) {
        ovl_share_find_least(r);
    }
}

static OVL_COLD void change_crossing(ovl_share_resource *r, ovl_share_user *u, bool crossing)
{
    r->open_crossing += (uint32_t)crossing - (uint32_t)u->crossing;
    u->crossing = crossing;
}

/* One of those whom it bounds has more activities or fewer. False, with nothing changed, if it is
 * not one of them or stays as it is for the sake of another resource. */
static inline bool move(ovl_share *share, uint32_t resource, uint32_t at, bool *news)
{
    ovl_share_resource *r = &share->resources[resource];
    ovl_share_user *u = &r->line.data[at];
    const ovl_share_class *c = &share->classes.data[u->slot];
    bool crossing = c->shared > 1;
    double level;
    if (at < r->limited || (crossing && ovl_share_elsewhere(share, c, resource))) {
        return false;
    }
    if (u->crossing != crossing) {
        change_crossing(r, u, crossing);
    }
    change_pull(r, u, c->count);
    if (crossing) {
        level = exact_limit(share, u);
    } else {
        level = rough_limit(share, c);
        u->bound = OVL_BOUND_ROUGH;
    }
    set_level(r, at, level);
    u->moved = crossing || c->follows != resource;
    *news |= u->moved;
    return true;
}

/* `news`: what somebody who moved does from now on is to be told. */
static inline bool move_all(ovl_share *share, uint32_t resource, bool *news)
{
    ovl_share_resource *r = &share->resources[resource];
    for (uint32_t i = 0; i < r->moved.len; i++) {
        ovl_share_moved *moved = &r->moved.data[i];
        uint32_t at = moved->at = ovl_share_place(r, moved->slot, moved->at);
        if (at < r->line.len && !move(share, resource, at, news)) {
            return false;
        }
    }
    return true;
}

/* Who moved is bounded by the resource, and others that it shares hear of it. */
static void publish(ovl_share *share, uint32_t resource)
{
    const ovl_share_resource *r = &share->resources[resource];
    for (uint32_t i = 0; i < r->moved.len; i++) {
        uint32_t at = r->moved.data[i].at;
        if (at < r->line.len && r->line.data[at].moved) {
            ovl_share_follow(share, r->line.data[at].slot, resource);
            if (r->line.data[at].crossing) {
                ovl_share_move_on_others(share, r->line.data[at].slot, resource);
            }
            r->line.data[at].bounded = true;
            r->line.data[at].moved = false;
        }
    }
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
    bool news = false;
    if (r->stale || r->n_long || r->line.len > FEW || !move_all(share, resource, &news)) {
        return false;
    }
    double level = ovl_share_full_level(r);
    if (!ovl_share_border_stands(r, level) || all_are_told(r)) {
        return false;
    }
    bool tells = r->open_crossing && r->level != level;
    ovl_share_set_level(share, resource, level);
    if (tells) {
        tell_level(share, resource);
    }
    if (news) {
        publish(share, resource);
    }
    r->moved.len = 0;
    share->solves++;
    share->solved += r->line.len;
    return true;
}
