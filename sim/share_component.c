/*
 * share_component.c - progressive filling of everybody who is reachable, and the choice of what to
 * solve after a change.
 */
#include "sim/share_parts.h"

#include <math.h>

/* --- A component --- */

/* Collects into group and full whoever is reachable from `slot` through contended resources. */
static void walk_component(ovl_share *share, uint32_t slot)
{
    share->group.len = share->full.len = 0;
    share->members.data[slot].mark = ++share->walk;
    ovl_vec_push(&share->group, slot);
    for (uint32_t i = 0; i < share->group.len; i++) {
        const ovl_share_member *m = &share->members.data[share->group.data[i]];
        for (uint32_t u = 0; u < m->n_uses; u++) {
            ovl_share_resource *r = &share->resources[m->uses[u].resource];
            if (!ovl_share_contended(r) || r->mark == share->walk) {
                continue;
            }
            r->mark = share->walk;
            ovl_vec_push(&share->full, m->uses[u].resource);
            for (uint32_t k = 0; k < r->users.len; k++) {
                ovl_share_member *other = &share->members.data[r->users.data[k].slot];
                if (other->mark != share->walk) {
                    other->mark = share->walk;
                    ovl_vec_push(&share->group, r->users.data[k].slot);
                }
            }
        }
    }
}

/* Doubles that are not negative compare as their bits do. */
static int64_t level_bits(double level)
{
    int64_t bits;
    level = fmax(level, 0) + 0.0;
    memcpy(&bits, &level, sizeof bits);
    return bits;
}

static void queue_resource(ovl_share *share, uint32_t resource)
{
    const ovl_share_resource *r = &share->resources[resource];
    if (r->open) {
        ovl_heap_set(&share->levels, resource, level_bits(r->left / r->pull), 0);
    } else {
        ovl_heap_remove(&share->levels, resource);
    }
}

static void open_component(ovl_share *share)
{
    share->order.len = 0;
    for (uint32_t i = 0; i < share->group.len; i++) {
        ovl_share_member *m = &share->members.data[share->group.data[i]];
        m->settled = false;
        ovl_vec_push(&share->order,
                     (struct ovl_share_filling){m->cap / m->weight, m->key, share->group.data[i]});
    }
    ovl_share_sort_order(share->order.data, share->order.len);
    for (uint32_t i = 0; i < share->full.len; i++) {
        ovl_share_resource *r = &share->resources[share->full.data[i]];
        ovl_share_sort_users(r->users.data, r->users.len);
        r->left = (double)r->capacity;
        r->open = r->users.len;
        r->pull = 0;
        for (uint32_t k = 0; k < r->users.len; k++) {
            const ovl_share_user *u = &r->users.data[k];
            r->pull += share->members.data[u->slot].weight * (double)u->rate;
        }
        queue_resource(share, share->full.data[i]);
    }
}

/* A member's rate is found: what it takes is no longer there for the others. */
static void settle(ovl_share *share, uint32_t slot, double rate, uint32_t bound)
{
    ovl_share_member *m = &share->members.data[slot];
    m->settled = true;
    m->settled_rate = rate;
    for (uint32_t u = 0; u < m->n_uses; u++) {
        ovl_share_resource *r = &share->resources[m->uses[u].resource];
        if (r->mark == share->walk) {
            r->left -= rate * (double)m->uses[u].rate;
            r->pull -= m->weight * (double)m->uses[u].rate;
            r->open--;
            queue_resource(share, m->uses[u].resource);
        }
    }
    ovl_share_publish(share, slot, rate, bound);
}

static uint32_t settle_users(ovl_share *share, uint32_t resource, double level)
{
    const ovl_share_resource *r = &share->resources[resource];
    uint32_t settled = 0;
    for (uint32_t k = 0; k < r->users.len; k++) {
        uint32_t slot = r->users.data[k].slot;
        const ovl_share_member *m = &share->members.data[slot];
        if (!m->settled) {
            settle(share, slot, fmin(m->cap, m->weight * level), resource);
            settled++;
        }
    }
    return settled;
}

/* Progressive filling. The level only rises in exact arithmetic; keeping it so in doubles also
 * keeps every rate above 0. */
static void fill(ovl_share *share)
{
    double level = 0;
    uint32_t left = share->order.len, next = 0;
    while (left) {
        while (share->members.data[share->order.data[next].slot].settled) {
            next++;
        }
        const struct ovl_share_filling *capped = &share->order.data[next];
        const ovl_heap_item *full = ovl_heap_top(&share->levels);
        if (!full || level_bits(capped->level) <= OVL_MAX(full->time, level_bits(level))) {
            const ovl_share_member *m = &share->members.data[capped->slot];
            level = fmax(level, capped->level);
            settle(share, capped->slot, m->cap, ovl_share_cap_bound(m));
            left--;
        } else {
            uint32_t resource = full->handle;
            level = fmax(level, ovl_share_level_of(share, &share->resources[resource]));
            left -= settle_users(share, resource, level);
        }
    }
}

void ovl_share_solve_component(ovl_share *share, uint32_t slot)
{
    walk_component(share, slot);
    for (uint32_t i = 0; i < share->group.len; i++) {
        share->members.data[share->group.data[i]].dirty = false;
    }
    for (uint32_t i = 0; i < share->full.len; i++) {
        share->resources[share->full.data[i]].touched = false;
    }
    if (share->full.len == 0) { /* nothing it uses can be full */
        const ovl_share_member *m = &share->members.data[slot];
        ovl_share_publish(share, slot, m->cap, ovl_share_cap_bound(m));
        return;
    }
    share->solves++;
    share->solved += share->group.len;
    open_component(share);
    fill(share);
}

/* --- Everything that changed --- */

static int compare_changed(const ovl_share *share, uint32_t a, uint32_t b)
{
    uint64_t x = share->members.data[a].key, y = share->members.data[b].key;
    return (x > y) - (x < y);
}

/* Shell sort: qsort has no place for `share`, and globals are not ours. */
static void sort_changed(ovl_share *share)
{
    uint32_t n = share->changed.len;
    uint32_t *list = share->changed.data;
    for (uint32_t gap = n / 2; gap > 0; gap /= 2) {
        for (uint32_t i = gap; i < n; i++) {
            uint32_t slot = list[i], at = i;
            while (at >= gap && compare_changed(share, list[at - gap], slot) > 0) {
                list[at] = list[at - gap];
                at -= gap;
            }
            list[at] = slot;
        }
    }
}

/* A dirty member that meets one contended resource is that resource's business; one that meets more
 * is solved with all it reaches; one that meets none runs at its cap. */
static void sort_out_member(ovl_share *share, uint32_t slot)
{
    const ovl_share_member *m = &share->members.data[slot];
    uint32_t met = OVL_NONE, n = 0;
    for (uint32_t u = 0; u < m->n_uses && n < 2; u++) {
        if (ovl_share_contended(&share->resources[m->uses[u].resource])) {
            met = m->uses[u].resource;
            n++;
        }
    }
    if (n == 1 && m->n_uses <= 8) {
        ovl_share_touch(share, met);
        share->members.data[slot].dirty = false;
    } else {
        ovl_share_solve_component(share, slot);
    }
}

/* Nobody is bounded by a resource that is no longer contended. */
static void free_users(ovl_share *share, uint32_t resource)
{
    const ovl_share_resource *r = &share->resources[resource];
    for (uint32_t k = 0; k < r->users.len; k++) {
        uint32_t slot = r->users.data[k].slot;
        if (share->members.data[slot].bound == resource) {
            ovl_share_solve_component(share, slot);
        }
    }
}

static void sort_out_resource(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    r->touched = false;
    if (!ovl_share_contended(r)) {
        free_users(share, resource);
    } else if (!ovl_share_solve_resource(share, resource)) {
        ovl_share_solve_component(share, r->users.data[0].slot);
    }
}

bool ovl_share_solve(ovl_share *share)
{
    share->changed.len = 0;
    if (share->dirty.len == 0 && share->touched.len == 0) {
        return false;
    }
    for (uint32_t i = 0; i < share->dirty.len; i++) {
        uint32_t slot = share->dirty.data[i];
        if (share->members.data[slot].live && share->members.data[slot].dirty) {
            sort_out_member(share, slot);
        }
        share->members.data[slot].dirty = false;
    }
    share->dirty.len = 0;
    for (uint32_t i = 0; i < share->touched.len; i++) {
        if (share->resources[share->touched.data[i]].touched) {
            sort_out_resource(share, share->touched.data[i]);
        }
    }
    share->touched.len = 0;
    sort_changed(share);
    return true;
}
