/*
 * share_line.c - the line of a resource: who uses it, in order of the levels up to which they go
 * for reasons of their own, and how many of them get there.
 *
 * Progressive filling of one resource takes the line from its beginning: as long as the next one
 * meets its own limit before the resource is full, what it then uses is taken off. The rest share
 * what is left. Sums are exact, so a change needs no second look at those it does not concern: who
 * moved is taken out and put in again, and the border between the two groups is moved from where it
 * was.
 *
 * Example: capacity 100; three want 60 each at most 0.2, 0.5 and 1 of it, weights alike. 0.2 * 60 =
 * 12 and 0.5 * 60 = 30 go off, the third has 58 left and wants 60: two are limited. A fourth like
 * the third comes: (100 - 12 - 30) / 2 = 29 < 30, so the second is not limited any more.
 */
#include "sim/share_parts.h"

/* --- Sums --- */

static inline ovl_pull pull_of(const ovl_share_user *u)
{
    return ovl_pull_times(u->pull, u->count);
}

static inline uint64_t demand_of(const ovl_share_user *u)
{
    return u->count * u->unit;
}

/* After a change of the sums. */
static double level_of(ovl_share_resource *r)
{
    r->left_value = ovl_left_value(r->left);
    return ovl_share_full_level(r);
}

/* Whoever stands there is to be told. */
static inline void look_at(ovl_share_resource *r, uint32_t from, uint32_t end)
{
    r->look_from = OVL_MIN(r->look_from, from);
    r->look_end = OVL_MAX(r->look_end, end);
}

/* The first of the rest meets its limit. */
static void limit_next(ovl_share_resource *r)
{
    const ovl_share_user *u = &r->line.data[r->limited++];
    look_at(r, r->limited - 1, r->limited);
    r->open_crossing -= u->crossing;
    ovl_left_take(&r->left, u->rate, demand_of(u));
    ovl_pull_take(&r->open_pull, pull_of(u));
}

/* The last who was limited is not. */
static void open_last(ovl_share_resource *r)
{
    const ovl_share_user *u = &r->line.data[--r->limited];
    look_at(r, r->limited, r->limited + 1);
    r->open_crossing += u->crossing;
    ovl_left_put(&r->left, u->rate, demand_of(u));
    ovl_pull_add(&r->open_pull, pull_of(u));
}

/* --- Order --- */

static inline bool stands_before(const ovl_share_user *a, const ovl_share_user *b)
{
    if (a->level < b->level) {
        return true;
    }
    return a->level <= b->level && a->bound > b->bound; /* who stays, caps, own resources */
}

static int compare_users(const void *a, const void *b)
{
    return stands_before(b, a) - stands_before(a, b);
}

/* By insertion, as they mostly are in order from the last time; if it takes long after all, by
 * qsort. Those of one level may stand in any order. */
static void sort_users(ovl_share_user *line, uint32_t len)
{
    uint64_t moves = 0;
    for (uint32_t i = 1; i < len; i++) {
        ovl_share_user user = line[i];
        uint32_t at = i;
        for (; at > 0 && stands_before(&user, &line[at - 1]); at--) {
            line[at] = line[at - 1];
        }
        line[at] = user;
        moves += i - at;
        if (moves > 32 + 8 * (uint64_t)len) {
            qsort(line, len, sizeof *line, compare_users);
            return;
        }
    }
}

/* --- Entering and leaving --- */

/* Without demand it changes no sum; its place is found when rates are solved. */
void ovl_share_enter(ovl_share *share, uint32_t slot, ovl_use *use)
{
    ovl_share_resource *r = &share->resources[use->resource];
    const ovl_share_class *c = &share->classes.data[slot];
    r->live += use->classes;
    r->least = r->limited == r->line.len ? r->limited : r->least;
    use->at = r->line.len;
    ovl_vec_push(&r->line, (ovl_share_user){.level = (double)INFINITY,
                                            .unit = use->rate,
                                            .pull = ovl_pull_of(c->exact, use->rate),
                                            .slot = slot,
                                            .bound = OVL_BOUND_CAP,
                                            .is_long = c->is_long,
                                            .spread = ovl_share_spread(use) & 127});
    r->n_long += c->is_long;
}

void ovl_share_exit(ovl_share *share, uint32_t slot, const ovl_use *use)
{
    ovl_share_resource *r = &share->resources[use->resource];
    r->live -= use->classes;
    uint32_t at = ovl_share_place(r, slot, use->at);
    r->n_long -= share->classes.data[slot].is_long;
    if (r->stale) {
        r->line.data[at] = r->line.data[--r->line.len];
        return;
    }
    const ovl_share_user *u = &r->line.data[at];
    if (at < r->limited) {
        ovl_left_put(&r->left, u->rate, demand_of(u));
        r->left_value = ovl_left_value(r->left);
        r->limited--;
    } else {
        ovl_pull_take(&r->open_pull, pull_of(u));
        r->open_crossing -= u->crossing;
    }
    r->line.len--;
    memmove(&r->line.data[at], &r->line.data[at + 1], (r->line.len - at) * sizeof *r->line.data);
    if (r->order == OVL_SHARE_LOOSE) {
        ovl_share_find_least(r);
    }
}

/* --- Own limits --- */

bool ovl_share_find_own_limit(ovl_share *share, uint32_t resource, ovl_share_user *u)
{
    const struct ovl_share_limit *limit = ovl_share_limit_of(share, u->slot);
    const ovl_share_class *c = &share->classes.data[u->slot];
    bool stays = ovl_share_elsewhere(share, c, resource);
    if (c->shared > 1 && u->is_long) {
        stays = true;
        if (c->dirty || c->rate < 0 || c->bound == resource) {
            return false;
        }
    }
    u->level = limit->level;
    u->bound = limit->bound;
    u->count = c->count;
    u->bounded = c->bound == resource;
    u->crossing = c->shared > 1;
    u->moved = true;
    if (stays) {
        double rate = ovl_share_rate(share, u->slot), level = rate / c->weight;
        if (level <= u->level) {
            u->level = level;
            u->rate = ovl_rate_units(rate);
            u->bound = OVL_BOUND_NONE;
            return true;
        }
    }
    u->rate = ovl_rate_units(ovl_share_limited_rate(c, u->bound, u->level));
    return true;
}

static bool line_up_all(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    r->stale = true;
    r->moved.len = 0;
    r->open_crossing = 0;
    r->open_pull = (ovl_pull){0};
    for (uint32_t k = 0; k < r->line.len; k++) {
        const ovl_share_class *c = &share->classes.data[r->line.data[k].slot];
        bool tied = c->tied && c->rate >= 0 && c->shared > 0 && !r->line.data[k].is_long;
        if (tied || !ovl_share_find_own_limit(share, resource, &r->line.data[k])) {
            return false;
        }
        r->open_crossing += r->line.data[k].crossing;
        ovl_pull_add(&r->open_pull, pull_of(&r->line.data[k]));
    }
    sort_users(r->line.data, r->line.len);
    look_at(r, 0, r->line.len);
    r->limited = 0;
    r->left = ovl_left_of(r->capacity);
    r->stale = false;
    r->order = OVL_SHARE_ORDERED;
    return true;
}

/* Moves one to where its level puts it; gives the place. Mostly it stays where it is: it is read as
 * a whole, right after it was written in parts, only if it does not. */
static uint32_t slide(ovl_share_resource *r, uint32_t from)
{
    ovl_share_user *line = r->line.data;
    uint32_t at = from, end = r->line.len - 1;
    while (at > 0 && stands_before(&line[from], &line[at - 1])) {
        at--;
    }
    while (at >= from && at < end && stands_before(&line[at + 1], &line[from])) {
        at++;
    }
    if (at != from) {
        ovl_share_user user = line[from];
        for (uint32_t i = from; i > at; i--) {
            line[i] = line[i - 1];
        }
        for (uint32_t i = from; i < at; i++) {
            line[i] = line[i + 1];
        }
        line[at] = user;
    }
    look_at(r, OVL_MIN(from, at), OVL_MAX(from, at) + 1);
    return at;
}

/* From its present place to the one that its limit of now gives it. It stays on its side of the
 * border if its place allows that. */
static void replace(ovl_share *share, uint32_t resource, uint32_t at)
{
    ovl_share_resource *r = &share->resources[resource];
    ovl_share_user *u = &r->line.data[at];
    uint64_t rate = u->rate, demand = demand_of(u);
    uint32_t count = u->count;
    bool was = at < r->limited, crossing = u->crossing;
    ovl_share_find_own_limit(share, resource, u);
    at = slide(r, at);
    u = &r->line.data[at];
    bool is = at < r->limited;
    r->limited += (uint32_t)is - (uint32_t)was;
    r->open_crossing += (uint32_t)(!is && u->crossing) - (uint32_t)(!was && crossing);
    if (was) {
        ovl_left_put(&r->left, rate, demand);
    }
    if (is) {
        ovl_left_take(&r->left, u->rate, demand_of(u));
    }
    uint32_t pulled = was ? 0 : count, pulls = is ? 0 : u->count;
    if (pulled > pulls) {
        ovl_pull_take(&r->open_pull, ovl_pull_times(u->pull, pulled - pulls));
    } else if (pulls > pulled) {
        ovl_pull_add(&r->open_pull, ovl_pull_times(u->pull, pulls - pulled));
    }
}

static void find_rough_limit(ovl_share *share, ovl_share_user *u)
{
    const struct ovl_share_limit *limit = ovl_share_limit_of(share, u->slot);
    const ovl_share_class *c = &share->classes.data[u->slot];
    u->level = limit->level;
    u->bound = limit->bound;
    u->rate = ovl_rate_units(ovl_share_limited_rate(c, u->bound, u->level));
}

/* Puts a line that is loose or mixed in order, who moved last: they get their places then. */
static void tighten(ovl_share *share, ovl_share_resource *r)
{
    ovl_share_user *line = r->line.data;
    for (uint32_t i = 0; i < r->moved.len; i++) {
        uint32_t at = ovl_share_place(r, r->moved.data[i].slot, r->moved.data[i].at);
        if (at < r->line.len && at >= r->limited) {
            line[at].bound = OVL_BOUND_CAP;
            line[at].level = (double)INFINITY;
        }
    }
    for (uint32_t i = r->limited; i < r->line.len; i++) {
        if (line[i].bound == OVL_BOUND_ROUGH) {
            find_rough_limit(share, &line[i]);
        }
    }
    uint32_t next = r->limited;
    if (r->order == OVL_SHARE_MIXED) {
        sort_users(line, next);
    }
    sort_users(line + next, r->line.len - next);
    r->stale = next > 0 && next < r->line.len && stands_before(&line[next], &line[next - 1]);
    r->order = OVL_SHARE_ORDERED;
}

/* False if the resource alone cannot tell who goes how far. */
static bool line_up(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    r->look_from = r->line.len;
    r->look_end = 0;
    bool all = r->stale || r->n_long || 2 * r->moved.len > r->line.len;
    if (r->order != OVL_SHARE_ORDERED && !all) {
        tighten(share, r);
    }
    if (all || r->stale) {
        return line_up_all(share, resource);
    }
    for (uint32_t i = 0; i < r->moved.len; i++) {
        uint32_t at = ovl_share_place(r, r->moved.data[i].slot, r->moved.data[i].at);
        if (at < r->line.len) { /* it may have left since */
            replace(share, resource, at);
        }
    }
    r->moved.len = 0;
    return true;
}

/* --- Filling --- */

/* Who meets very many resources is bounded by one of them; it stays as it is where others are full
 * at the same level, which is what it is like among equals. */
static bool stays_at_tie(const ovl_share_user *u, double level)
{
    return u->is_long && u->bound == OVL_BOUND_NONE && u->level <= level * OVL_SHARE_TIE;
}

/* Does the next one meet its own limit before the resource is full at `level`? A resource of its
 * own that is full at the same level leaves the bound to this one. */
static bool is_limited(const ovl_share_user *u, double level)
{
    if (u->bound == OVL_BOUND_CAP) {
        return u->level <= level * OVL_SHARE_TIE;
    }
    bool before_ties = u->bound == OVL_BOUND_NONE && !u->is_long;
    return u->level <= level && (before_ties || level > u->level * OVL_SHARE_TIE);
}

/* Levels that cannot be told apart bind together, which only a look at everybody can do right; and
 * who meets very many resources is not moved from one of them. */
static bool can_tell(const ovl_share_resource *r, double level)
{
    const ovl_share_user *line = r->line.data;
    uint32_t far = r->n_long ? r->line.len : r->limited;
    for (uint32_t i = r->limited; i < r->line.len; i++) {
        if (i >= far && line[i].level > level * OVL_SHARE_TIE) {
            break;
        }
        if (line[i].bound == OVL_BOUND_NONE && !stays_at_tie(&line[i], level) &&
            (line[i].level <= level * OVL_SHARE_TIE || line[i].is_long)) {
            return false;
        }
    }
    for (uint32_t i = r->limited; i > 0 && line[i - 1].level * OVL_SHARE_TIE >= level; i--) {
        if (line[i - 1].bound == OVL_BOUND_NONE) {
            return false;
        }
    }
    return true;
}

bool ovl_share_fill_line(ovl_share *share, uint32_t resource, double *full)
{
    ovl_share_resource *r = &share->resources[resource];
    bool tie = false;
    if (!line_up(share, resource)) {
        return false;
    }
    if (r->limited == r->line.len) {
        open_last(r);
    }
    double level = level_of(r);
    if (ovl_share_border_stands(r, level) && !r->n_long) {
        *full = level;
        return true;
    }
    while (r->limited > 0 && r->line.data[r->limited - 1].level * OVL_SHARE_CLEARLY >= level) {
        open_last(r);
        level = level_of(r);
    }
    while (r->limited < r->line.len && is_limited(&r->line.data[r->limited], level)) {
        const ovl_share_user *u = &r->line.data[r->limited];
        tie |= u->bound == OVL_BOUND_NONE && level <= u->level * OVL_SHARE_TIE;
        limit_next(r);
        level = r->limited < r->line.len ? level_of(r) : (double)INFINITY;
    }
    r->left_value = ovl_left_value(r->left);
    *full = level;
    return !tie && can_tell(r, level);
}
