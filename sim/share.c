/*
 * share.c - who shares what: joining, leaving, and what a change may concern.
 */
#include "sim/share_parts.h"

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
    ovl_vec_free(&share->touched);
    ovl_heap_free(&share->levels);
    ovl_vec_free(&share->changed);
    ovl_vec_free(&share->group);
    ovl_vec_free(&share->full);
}

/* --- Joining and leaving --- */

bool ovl_share_contended(const ovl_share_resource *r)
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

void ovl_share_touch(ovl_share *share, uint32_t resource)
{
    ovl_share_resource *r = &share->resources[resource];
    if (!r->touched) {
        r->touched = true;
        ovl_vec_push(&share->touched, resource);
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
        ovl_vec_push(&r->users, (ovl_share_user){key, m->uses[i].rate, slot});
        if (ovl_share_contended(r)) {
            ovl_share_touch(share, m->uses[i].resource);
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
        bool was = ovl_share_contended(r);
        r->demand -= m->uses[i].rate;
        drop_user(r, slot);
        if (was) {
            ovl_share_touch(share, m->uses[i].resource);
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
    bool was = ovl_share_contended(r);
    r->capacity = capacity;
    if (was || ovl_share_contended(r)) {
        ovl_share_touch(share, resource);
    }
}
