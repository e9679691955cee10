#include "sim/share.h"

#include <math.h>

void ovl_share_init(ovl_share *share, const uint64_t *capacities, uint32_t n)
{
    *share = (ovl_share){.n_resources = n};
    share->resources = calloc(n ? n : 1, sizeof *share->resources);
    if (!share->resources) {
        ovl_out_of_memory(n * sizeof *share->resources);
    }
    for (uint32_t r = 0; r < n; r++) {
        share->resources[r].capacity = capacities[r];
    }
}

void ovl_share_free(ovl_share *share)
{
    for (uint32_t r = 0; r < share->n_resources; r++) {
        ovl_vec_free(&share->resources[r].users);
    }
    for (uint32_t i = 0; i < share->members.len; i++) {
        free(share->members.data[i].uses);
    }
    free(share->resources);
    ovl_vec_free(&share->members);
    ovl_vec_free(&share->spare);
    ovl_vec_free(&share->dirty);
    ovl_vec_free(&share->order);
    ovl_vec_free(&share->changed);
    ovl_vec_free(&share->group);
    ovl_vec_free(&share->full);
}

/* --- Joining and leaving
 * ----------------------------------------------------------------------------------- */

/* A resource can only bound anybody if all together ask for more than it has. Integers: no rounding
 * luck. */
static bool contended(const ovl_share_resource *r)
{
    return r->demand > r->capacity;
}

static void make_dirty(ovl_share *share, uint32_t slot)
{
    ovl_share_member *m = &share->members.data[slot];
    if (!m->dirty) {
        m->dirty = true;
        ovl_vec_push(&share->dirty, slot);
    }
}

/* Everybody on a resource that is, or was until now, contended may get a new rate. */
static void touch(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    for (uint32_t i = 0; i < r->users.len; i++) {
        make_dirty(share, r->users.data[i].slot);
    }
}

static uint32_t take_slot(ovl_share *share)
{
    if (share->spare.len) {
        return share->spare.data[--share->spare.len];
    }
    ovl_vec_push(&share->members, (ovl_share_member){0});
    return share->members.len - 1;
}

static void copy_uses(ovl_share_member *m, const ovl_use *uses, uint32_t n)
{
    m->uses = ovl_vec_grow_(m->uses, sizeof *m->uses, n, &m->cap_uses);
    m->n_uses = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (uses[i].rate) {
            m->uses[m->n_uses++] = uses[i];
        }
    }
}

uint32_t ovl_share_join(ovl_share *share, uint64_t key, double cap, double weight,
                        const ovl_use *uses, uint32_t n_uses)
{
    assert(cap > 0 && cap <= 1 && weight > 0);
    uint32_t slot = take_slot(share);
    ovl_share_member *m = &share->members.data[slot];
    copy_uses(m, uses, n_uses);
    m->live = true;
    m->key = key;
    m->cap = cap;
    m->weight = weight;
    m->rate = -1; /* so that the first solve reports it */
    m->bound = OVL_BOUND_NONE;
    make_dirty(share, slot);
    for (uint32_t i = 0; i < m->n_uses; i++) {
        ovl_share_resource *r = &share->resources[m->uses[i].resource];
        r->demand += m->uses[i].rate;
        ovl_vec_push(&r->users, (ovl_share_user){key, slot});
        if (contended(r)) {
            touch(share, m->uses[i].resource);
        }
    }
    return slot;
}

static void drop_user(ovl_share_resource *r, uint32_t slot)
{
    uint32_t i = 0;
    while (r->users.data[i].slot != slot) {
        i++;
    }
    r->users.data[i] = r->users.data[--r->users.len];
}

void ovl_share_leave(ovl_share *share, uint32_t slot)
{
    ovl_share_member *m = &share->members.data[slot];
    assert(m->live);
    m->live = false;
    for (uint32_t i = 0; i < m->n_uses; i++) {
        ovl_share_resource *r = &share->resources[m->uses[i].resource];
        bool was = contended(r);
        r->demand -= m->uses[i].rate;
        drop_user(r, slot);
        if (was) {
            touch(share, m->uses[i].resource);
        }
    }
    ovl_vec_push(&share->spare, slot);
}

void ovl_share_set_cap(ovl_share *share, uint32_t slot, double cap)
{
    assert(cap > 0 && cap <= 1);
    if (share->members.data[slot].cap != cap) {
        share->members.data[slot].cap = cap;
        make_dirty(share, slot);
    }
}

void ovl_share_set_capacity(ovl_share *share, uint32_t resource, uint64_t capacity)
{
    ovl_share_resource *r = &share->resources[resource];
    bool was = contended(r);
    r->capacity = capacity;
    if (was || contended(r)) {
        touch(share, resource);
    }
}

/* --- Solving one component
 * --------------------------------------------------------------------------------- */

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
            if (!contended(r) || r->mark == share->walk) {
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

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

#define SORTER(name, type, compare)                                                                \
    static void name(type *list, uint32_t n)                                                       \
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

SORTER(sort_ids, uint32_t, compare_ids)
SORTER(sort_users, ovl_share_user, compare_users)
SORTER(sort_order, struct ovl_share_filling, compare_filling)

/* Puts everything into an order that depends on keys alone: sums then round alike whatever the
 * order of arrival. */
static void open_component(ovl_share *share)
{
    sort_ids(share->full.data, share->full.len);
    for (uint32_t i = 0; i < share->full.len; i++) {
        ovl_share_resource *r = &share->resources[share->full.data[i]];
        sort_users(r->users.data, r->users.len);
        r->left = (double)r->capacity;
        r->open = r->users.len;
        r->pull = 0;
    }
    share->order.len = 0;
    for (uint32_t i = 0; i < share->group.len; i++) {
        ovl_share_member *m = &share->members.data[share->group.data[i]];
        m->settled = false;
        ovl_vec_push(&share->order,
                     (struct ovl_share_filling){m->cap / m->weight, m->key, share->group.data[i]});
    }
    sort_order(share->order.data, share->order.len);
    for (uint32_t i = 0; i < share->order.len; i++) {
        const ovl_share_member *m = &share->members.data[share->order.data[i].slot];
        for (uint32_t u = 0; u < m->n_uses; u++) {
            ovl_share_resource *r = &share->resources[m->uses[u].resource];
            r->pull += r->mark == share->walk ? m->weight * (double)m->uses[u].rate : 0;
        }
    }
}

static void publish(ovl_share *share, uint32_t slot, double rate, uint32_t bound)
{
    ovl_share_member *m = &share->members.data[slot];
    if (m->rate != rate || m->bound != bound) {
        m->rate = rate;
        m->bound = bound;
        ovl_vec_push(&share->changed, slot);
    }
}

/* A member's rate is found: what it takes is no longer there for the others. */
static void settle(ovl_share *share, uint32_t slot, double rate, uint32_t bound)
{
    ovl_share_member *m = &share->members.data[slot];
    m->settled = true;
    for (uint32_t u = 0; u < m->n_uses; u++) {
        ovl_share_resource *r = &share->resources[m->uses[u].resource];
        if (r->mark == share->walk) {
            r->left -= rate * (double)m->uses[u].rate;
            r->pull -= m->weight * (double)m->uses[u].rate;
            r->open--;
        }
    }
    publish(share, slot, rate, bound);
}

static uint32_t cap_bound(const ovl_share_member *m)
{
    return m->cap < 1 ? OVL_BOUND_CAP : OVL_BOUND_NONE;
}

/* The resource that is full first as levels rise; ties go to the lowest number. */
static uint32_t first_full(const ovl_share *share, double *level)
{
    uint32_t first = OVL_BOUND_NONE;
    *level = (double)INFINITY;
    for (uint32_t i = 0; i < share->full.len; i++) {
        const ovl_share_resource *r = &share->resources[share->full.data[i]];
        double at = r->open ? r->left / r->pull : (double)INFINITY;
        if (at < *level) {
            *level = at;
            first = share->full.data[i];
        }
    }
    return first;
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
        double full_at;
        uint32_t resource = first_full(share, &full_at);
        if (capped->level <= fmax(full_at, level)) {
            const ovl_share_member *m = &share->members.data[capped->slot];
            level = fmax(level, capped->level);
            settle(share, capped->slot, m->cap, cap_bound(m));
            left--;
        } else {
            level = fmax(level, full_at);
            left -= settle_users(share, resource, level);
        }
    }
}

static void solve_from(ovl_share *share, uint32_t slot)
{
    walk_component(share, slot);
    for (uint32_t i = 0; i < share->group.len; i++) {
        share->members.data[share->group.data[i]].dirty = false;
    }
    if (share->full.len == 0) { /* alone, and nothing it uses can be full */
        const ovl_share_member *m = &share->members.data[slot];
        publish(share, slot, m->cap, cap_bound(m));
        return;
    }
    share->solves++;
    share->solved += share->group.len;
    open_component(share);
    fill(share);
}

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

void ovl_share_solve(ovl_share *share)
{
    share->changed.len = 0;
    for (uint32_t i = 0; i < share->dirty.len; i++) {
        uint32_t slot = share->dirty.data[i];
        ovl_share_member *m = &share->members.data[slot];
        if (m->live && m->dirty) {
            solve_from(share, slot);
        }
        share->members.data[slot].dirty = false;
    }
    share->dirty.len = 0;
    sort_changed(share);
}
