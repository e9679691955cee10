/*
 * share_resource.c - one resource solved by itself, and what both ways of solving share.
 */
#include "sim/share_parts.h"

#include <math.h>

/* --- What one solve settles --- */

void ovl_share_publish(ovl_share *share, uint32_t slot, double rate, uint32_t bound)
{
    ovl_share_member *m = &share->members.data[slot];
    if (m->rate != rate || m->bound != bound) {
        m->rate = rate;
        m->bound = bound;
        ovl_vec_push(&share->changed, slot);
    }
}

uint32_t ovl_share_cap_bound(const ovl_share_member *m)
{
    return m->cap < 1 ? OVL_BOUND_CAP : OVL_BOUND_NONE;
}

/* Lists here are short, or sorted but for the last few changes: insertion beats qsort there. */
#define SHORT 24

static int compare_filling(const void *a, const void *b)
{
    const struct ovl_share_filling *x = a, *y = b;
    if (x->level != y->level) {
        return x->level < y->level ? -1 : 1;
    }
    return (x->key > y->key) - (x->key < y->key);
}

static int compare_users(const void *a, const void *b)
{
    const ovl_share_user *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

#define SORTER(name, type, compare)                                                                \
    void name(type *list, uint32_t n)                                                              \
    {                                                                                              \
        if (n > SHORT) {                                                                           \
            qsort(list, n, sizeof *list, compare);                                                 \
            return;                                                                                \
        }                                                                                          \
        for (uint32_t i = 1; i < n; i++) {                                                         \
            type item = list[i];                                                                   \
            uint32_t at = i;                                                                       \
            while (at > 0 && compare(&list[at - 1], &item) > 0) {                                  \
                list[at] = list[at - 1];                                                           \
                at--;                                                                              \
            }                                                                                      \
            list[at] = item;                                                                       \
        }                                                                                          \
    }

SORTER(ovl_share_sort_users, ovl_share_user, compare_users)
SORTER(ovl_share_sort_order, struct ovl_share_filling, compare_filling)

double ovl_share_level_of(const ovl_share *share, const ovl_share_resource *r)
{
    double left = (double)r->capacity, pull = 0;
    for (uint32_t k = 0; k < r->users.len; k++) {
        const ovl_share_user *u = &r->users.data[k];
        const ovl_share_member *m = &share->members.data[u->slot];
        if (m->settled) {
            left -= m->settled_rate * (double)u->rate;
        } else {
            pull += m->weight * (double)u->rate;
        }
    }
    return left / pull;
}

/* --- One resource --- */

/* Does a member meet another contended resource? Long lists are not searched: yes. */
static bool crosses(const ovl_share *share, const ovl_share_member *m, uint32_t resource)
{
    if (m->n_uses > 8) {
        return true;
    }
    for (uint32_t u = 0; u < m->n_uses; u++) {
        uint32_t other = m->uses[u].resource;
        if (other != resource && ovl_share_contended(&share->resources[other])) {
            return true;
        }
    }
    return false;
}

/* Takes one user into the filling of a resource: up to its cap, or, if something else bounds it, up
 * to what it has. False if the resource alone cannot tell. */
static bool open_user(ovl_share *share, uint32_t resource, uint32_t slot)
{
    ovl_share_member *m = &share->members.data[slot];
    double limit = m->cap;
    m->crossing = crosses(share, m, resource);
    if (m->crossing) {
        if (m->dirty || m->rate < 0 || m->bound == resource) {
            return false;
        }
        limit = m->rate;
    }
    m->settled = false;
    m->settled_rate = limit;
    ovl_vec_push(&share->order, (struct ovl_share_filling){limit / m->weight, m->key, slot});
    return true;
}

/* Settles those that meet their limit before the resource is full. Gives how many of share->order
 * that are. */
static uint32_t settle_limited(ovl_share *share, uint32_t resource)
{
    const ovl_share_resource *r = &share->resources[resource];
    double left = (double)r->capacity, pull = 0;
    for (uint32_t k = 0; k < r->users.len; k++) {
        pull += share->members.data[r->users.data[k].slot].weight * (double)r->users.data[k].rate;
    }
    for (uint32_t i = 0; i < share->order.len; i++) {
        ovl_share_member *m = &share->members.data[share->order.data[i].slot];
        if (share->order.data[i].level > left / pull) {
            return i;
        }
        double rate = (double)m->use_here;
        left -= m->settled_rate * rate;
        pull -= m->weight * rate;
        m->settled = true;
    }
    return share->order.len;
}

/* Would a level take part in bounding somebody who is bounded elsewhere? Levels that differ by no
 * more than rounding count as equal: only the whole component can say who is bounded where, and
 * always says the same. */
static bool moves_others(const ovl_share *share, double level)
{
    for (uint32_t i = 0; i < share->order.len; i++) {
        const struct ovl_share_filling *f = &share->order.data[i];
        if (share->members.data[f->slot].crossing && f->level >= level * (1 - 0x1p-44)) {
            return true;
        }
    }
    return false;
}

bool ovl_share_solve_resource(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    ovl_share_sort_users(r->users.data, r->users.len);
    share->order.len = 0;
    for (uint32_t k = 0; k < r->users.len; k++) {
        share->members.data[r->users.data[k].slot].use_here = r->users.data[k].rate;
        if (!open_user(share, resource, r->users.data[k].slot)) {
            return false;
        }
    }
    ovl_share_sort_order(share->order.data, share->order.len);
    uint32_t limited = settle_limited(share, resource);
    bool full = limited < share->order.len;
    double level = full ? ovl_share_level_of(share, r) : (double)INFINITY;
    if (moves_others(share, level)) {
        return false;
    }
    for (uint32_t i = 0; i < share->order.len; i++) {
        uint32_t slot = share->order.data[i].slot;
        const ovl_share_member *m = &share->members.data[slot];
        if (i >= limited) {
            ovl_share_publish(share, slot, fmin(m->cap, m->weight * level), resource);
        } else if (!m->crossing) {
            ovl_share_publish(share, slot, m->cap, ovl_share_cap_bound(m));
        }
    }
    share->solves++;
    share->solved += share->order.len;
    return true;
}
