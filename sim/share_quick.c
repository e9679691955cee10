/*
 * share_quick.c - a resource with few users is solved without a look at its line, where nobody
 * passes the border between those who meet their own limits and those whom it bounds.
 *
 * Mostly one class has an activity more or less, and is bounded by the resource before and after,
 * or by another. Then one sum changes, and the level with it. Whether somebody passes the border is
 * seen at the two who stand next to it: the last who meets its limit, and of the others the one
 * with the least level. So these stand in any order, the line is *loose*, and their levels are only
 * worked out to some last places: that decides as long as all are clearly above the resource's
 * level. As soon as one is not, they are worked out exactly and put in order (share_line.c).
 *
 * Where all meet their own limits and there is room for that the line is *mixed*: no order decides.
 *
 * Example: capacity 100; three classes want 60 each, at most all of it. Level 33.3, own limits 60:
 * far away. One of them gets a second activity: 4 x 60 x t = 100; its own limit does not matter.
 */
#include "sim/share_parts.h"

#define FEW 256 /* users: as many are looked at one by one */

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
    if (r->order != OVL_SHARE_LOOSE) {
        r->order = OVL_SHARE_LOOSE;
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

/* May one who stands at `at` stand there at this level, too? */
static inline bool keeps_place(const ovl_share_resource *r, uint32_t at, double level)
{
    const ovl_share_user *u = &r->line.data[at];
    return r->order == OVL_SHARE_MIXED ||
           ((at == 0 || u[-1].level < level) && (at + 1 >= r->limited || u[1].level > level));
}

static inline void set_limited(ovl_share_resource *r, ovl_share_user *u, double rate, double level,
                               uint32_t count)
{
    uint64_t units = ovl_rate_units(rate);
    ovl_left_put(&r->left, u->rate, u->count * u->unit);
    ovl_left_take(&r->left, units, count * u->unit);
    r->left_value = ovl_left_value(r->left);
    u->level = level;
    u->rate = units;
    u->count = count;
}

/* Who meets its limit because another resource bounds it still does, at another level or with
 * another number of activities, and stays in its place in the line. False, with nothing changed, if
 * it is not so simple. */
static bool move_limited(ovl_share *share, uint32_t resource, uint32_t at)
{
    ovl_share_resource *r = &share->resources[resource];
    ovl_share_user *u = &r->line.data[at];
    const ovl_share_class *c = &share->classes.data[u->slot];
    if (u->bound != OVL_BOUND_NONE || c->follows == OVL_NONE ||
        !ovl_share_elsewhere(share, c, resource)) {
        return false;
    }
    double rate = ovl_share_rate(share, u->slot), level = rate / c->weight;
    if (!keeps_place(r, at, level) || level * OVL_SHARE_CLEARLY >= rough_limit(share, c)) {
        return false;
    }
    set_limited(r, u, rate, level, c->count);
    return true;
}

/* The same where nothing but the level of the other resource changed. Lower, it is no nearer to
 * what else limits the user. */
static inline bool shift(const ovl_share *share, ovl_share_resource *r, uint32_t at)
{
    ovl_share_user *u = &r->line.data[at];
    const ovl_share_class *c = &share->classes.data[u->slot];
    if (u->bound != OVL_BOUND_NONE || u->count != c->count || c->follows == OVL_NONE) {
        return false;
    }
    double other = share->resources[c->follows].level;
    double rate = ovl_exact_rate(OVL_MIN(c->cap, c->weight * other)), level = rate / c->weight;
    if (!keeps_place(r, at, level) ||
        (level > u->level && level * OVL_SHARE_CLEARLY >= rough_limit(share, c))) {
        return false;
    }
    set_limited(r, u, rate, level, u->count);
    return true;
}

/* One of those whom it bounds has more activities or fewer. False, with nothing changed, if it is
 * not one of them or stays as it is for the sake of another resource. */
static inline bool move(ovl_share *share, uint32_t resource, uint32_t at, bool *news)
{
    ovl_share_resource *r = &share->resources[resource];
    ovl_share_user *u = &r->line.data[at];
    const ovl_share_class *c = &share->classes.data[u->slot];
    bool crossing = c->shared > 1;
    if (at < r->limited) {
        return move_limited(share, resource, at);
    }
    if (crossing && ovl_share_elsewhere(share, c, resource)) {
        return false;
    }
    if (u->crossing != crossing) {
        change_crossing(r, u, crossing);
    }
    change_pull(r, u, c->count);
    u->bound = OVL_BOUND_ROUGH;
    set_level(r, at, rough_limit(share, c));
    u->moved = crossing || c->follows != resource;
    *news |= u->moved;
    return true;
}

/* `news`: what somebody who moved does from now on is to be told. */
static inline bool move_all(ovl_share *share, uint32_t resource, bool *news)
{
    const ovl_share_resource *r = &share->resources[resource];
    for (uint32_t i = 0; i < r->moved.len; i++) {
        if (!move(share, resource, r->moved.data[i].at, news)) {
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
        ovl_share_user *u = &r->line.data[r->moved.data[i].at];
        if (u->moved) {
            ovl_share_follow(share, u->slot, resource);
            if (u->crossing) {
                ovl_share_move_on_others(share, u->slot, resource);
            }
            u->bounded = true;
            u->moved = false;
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

/* Solves a resource that bounds somebody. */
static bool solve_full(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    bool news = false;
    if (r->order == OVL_SHARE_MIXED || !move_all(share, resource, &news)) {
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
    return true;
}

/* --- A resource that bounds nobody --- */

/* Is there room for all at their own limits, with something left that no rounding can make up? */
static inline bool all_fit(const ovl_share_resource *r)
{
    return r->limited == r->line.len && r->left_value > (double)(int64_t)r->capacity * 0x1p-40;
}

/* Are all newcomers but those who meet their own limits? */
static bool bounds_nobody(const ovl_share_resource *r)
{
    uint32_t left = r->line.len - r->limited;
    for (uint32_t i = 0; i < r->moved.len && left <= r->moved.len; i++) {
        uint32_t at = r->moved.data[i].at;
        left -= at >= r->limited && r->line.data[at].count == 0;
    }
    return left == 0;
}

/* Who moved meets its own limit, as the others do, if there is room for all of them. */
static bool solve_open(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    for (uint32_t i = 0; i < r->moved.len; i++) {
        ovl_share_user *u = &r->line.data[r->moved.data[i].at];
        if (u->count) {
            ovl_left_put(&r->left, u->rate, u->count * u->unit);
        }
        ovl_share_find_own_limit(share, resource, u);
        ovl_left_take(&r->left, u->rate, u->count * u->unit);
    }
    r->left_value = ovl_left_value(r->left);
    r->limited = r->line.len;
    r->order = OVL_SHARE_MIXED;
    if (!all_fit(r)) {
        return false;
    }
    for (uint32_t i = 0; i < r->moved.len; i++) {
        ovl_share_publish_limited(share, resource, &r->line.data[r->moved.data[i].at]);
    }
    return true;
}

/* Where those stand who moved, each once. */
static inline void find_moved(ovl_share_resource *r)
{
    ovl_share_moved *moved = r->moved.data;
    uint32_t n = 0;
    if (r->moved.len == 1) {
        moved->at = ovl_share_place(r, moved->slot, moved->at);
        r->moved.len = moved->at < r->line.len;
        return;
    }
    for (uint32_t i = 0; i < r->moved.len; i++) {
        uint32_t at = ovl_share_place(r, moved[i].slot, moved[i].at), k = 0;
        while (k < n && moved[k].at != at) {
            k++;
        }
        if (k == n && at < r->line.len) { /* it may have left since */
            moved[n++] = (ovl_share_moved){moved[i].slot, at};
        }
    }
    r->moved.len = n;
}

bool ovl_share_solve_quick(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    if (r->stale || r->n_long || r->line.len > FEW) {
        return false;
    }
    find_moved(r);
    if (!(bounds_nobody(r) ? solve_open(share, resource) : solve_full(share, resource))) {
        return false;
    }
    r->moved.len = 0;
    share->solves++;
    share->solved += r->line.len;
    return true;
}

void ovl_share_pass_on(ovl_share *share, uint32_t slot, ovl_use *use)
{
    uint32_t resource = use->resource;
    ovl_share_resource *r = &share->resources[resource];
    if (r->touched || r->stale || r->n_long || r->moved.len || r->open_crossing) {
        ovl_share_move(share, slot, use);
        return;
    }
    use->at = ovl_share_place(r, slot, use->at);
    if (use->at >= r->limited || !shift(share, r, use->at)) {
        ovl_share_move(share, slot, use);
        return;
    }
    if (!all_fit(r)) {
        double level = ovl_share_full_level(r);
        if (!ovl_share_border_stands(r, level)) {
            ovl_share_touch(share, resource);
            return;
        }
        ovl_share_set_level(share, resource, level);
    }
    share->solves++;
    share->solved += r->line.len;
}
