/*
 * share.c - who shares what: classes, joining, leaving, and what a change may concern.
 */
#include "sim/share_parts.h"

void ovl_share_init(ovl_share *share, const uint64_t *capacities, uint32_t n)
{
    *share = (ovl_share){.n_resources = n};
    size_t size = OVL_MAX(n, 1) * sizeof *share->resources;
    share->resources = aligned_alloc(OVL_CACHE_LINE, size);
    if (!share->resources) {
        ovl_out_of_memory(size);
    }
    memset(share->resources, 0, size);
    for (uint32_t r = 0; r < n; r++) {
        share->resources[r].capacity = capacities[r];
        share->resources[r].stale = true;
    }
}

void ovl_share_free(ovl_share *share)
{
    for (uint32_t r = 0; r < share->n_resources; r++) {
        ovl_vec_free(&share->resources[r].line);
        ovl_vec_free(&share->resources[r].moved);
    }
    for (uint32_t i = 0; i < share->classes.len; i++) {
        free(share->classes.data[i].uses);
    }
    free(share->resources);
    ovl_vec_free(&share->classes);
    ovl_vec_free(&share->spare);
    ovl_vec_free(&share->table);
    ovl_vec_free(&share->touched);
    ovl_vec_free(&share->dirty);
    ovl_vec_free(&share->changed);
    ovl_vec_free(&share->relevelled);
    ovl_vec_free(&share->group);
    ovl_vec_free(&share->order);
    ovl_vec_free(&share->full);
    ovl_vec_free(&share->tied);
    ovl_heap_free(&share->levels);
}

/* --- Slots --- */

uint32_t ovl_share_reserve(ovl_share *share)
{
    if (share->spare.len) {
        return share->spare.data[--share->spare.len];
    }
    ovl_vec_push(&share->classes, (ovl_share_class){0});
    return share->classes.len - 1;
}

void ovl_share_release(ovl_share *share, uint32_t slot)
{
    ovl_vec_push(&share->spare, slot);
}

/* --- The table of classes --- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 32);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t hash_of(double cap, double weight, const ovl_use *uses, uint32_t n)
{
    uint64_t hash = mix(bits_of(cap), bits_of(weight));
    for (uint32_t i = 0; i < n; i++) {
        if (uses[i].rate) {
            hash = mix(mix(hash, uses[i].rate), uses[i].resource);
        }
    }
    return hash;
}

static bool equals(const ovl_share_class *c, double cap, double weight, const ovl_use *uses,
                   uint32_t n)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (uses[i].rate == 0) {
            continue;
        }
        if (k == c->n_uses || c->uses[k].resource != uses[i].resource ||
            c->uses[k].rate != uses[i].rate || c->uses[k].spread != uses[i].spread ||
            c->uses[k].classes != uses[i].classes) {
            return false;
        }
        k++;
    }
    return k == c->n_uses && c->cap == cap && c->weight == weight;
}

static uint32_t find(const ovl_share *share, uint64_t hash, double cap, double weight,
                     const ovl_use *uses, uint32_t n)
{
    if (share->table.len == 0) {
        return OVL_NONE;
    }
    uint32_t mask = share->table.len - 1;
    for (uint32_t at = (uint32_t)hash & mask; share->table.data[at]; at = (at + 1) & mask) {
        uint32_t slot = share->table.data[at] - 1;
        const ovl_share_class *c = &share->classes.data[slot];
        if (c->hash == hash && equals(c, cap, weight, uses, n)) {
            return slot;
        }
    }
    return OVL_NONE;
}

static void insert(ovl_share *share, uint32_t slot)
{
    uint32_t mask = share->table.len - 1;
    uint32_t at = (uint32_t)share->classes.data[slot].hash & mask;
    while (share->table.data[at]) {
        at = (at + 1) & mask;
    }
    share->table.data[at] = slot + 1;
}

static void grow_table(ovl_share *share)
{
    uint32_t size = OVL_MAX(share->table.len * 2, 64);
    ovl_vec_free(&share->table);
    ovl_vec_reserve(&share->table, size);
    memset(share->table.data, 0, size * sizeof *share->table.data);
    share->table.len = size;
    for (uint32_t slot = 0; slot < share->classes.len; slot++) {
        if (share->classes.data[slot].known) {
            insert(share, slot);
        }
    }
}

static void enter_table(ovl_share *share, uint32_t slot)
{
    if (2 * (share->n_known + 1) > share->table.len) {
        grow_table(share);
    }
    share->n_known++;
    share->classes.data[slot].known = true;
    insert(share, slot);
}

/* Those behind it move up, so that searching never has to pass over holes. */
static void leave_table(ovl_share *share, uint32_t slot)
{
    uint32_t *table = share->table.data, mask = share->table.len - 1;
    uint32_t hole = (uint32_t)share->classes.data[slot].hash & mask;
    while (table[hole] != slot + 1) {
        hole = (hole + 1) & mask;
    }
    for (uint32_t at = (hole + 1) & mask; table[at]; at = (at + 1) & mask) {
        uint32_t home = (uint32_t)share->classes.data[table[at] - 1].hash & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            table[hole] = table[at];
            hole = at;
        }
    }
    table[hole] = 0;
    share->n_known--;
    share->classes.data[slot].known = false;
}

/* --- Classes --- */

/* Classes without activities wait for others like them, but no more of them than there are others:
 * caps and demands may never come back. */
static void forget_idle(ovl_share *share)
{
    if (share->n_known <= 3 * share->n_live + 64) {
        return;
    }
    for (uint32_t slot = 0; slot < share->classes.len; slot++) {
        if (share->classes.data[slot].known && share->classes.data[slot].count == 0) {
            leave_table(share, slot);
            ovl_share_release(share, slot);
        }
    }
}

static void copy_uses(ovl_share_class *c, const ovl_use *uses, uint32_t n)
{
    c->uses = ovl_vec_grow_(c->uses, sizeof *c->uses, n, &c->cap_uses);
    c->n_uses = 0;
    uint64_t breadth = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (uses[i].rate) {
            c->uses[c->n_uses++] = uses[i];
            breadth += uses[i].spread;
        }
    }
    c->is_long = breadth > OVL_SHARE_SHORT;
}

static uint32_t make_class(ovl_share *share, uint64_t hash, double cap, double weight,
                           const ovl_use *uses, uint32_t n)
{
    forget_idle(share);
    uint32_t slot = ovl_share_reserve(share);
    ovl_share_class *c = &share->classes.data[slot];
    copy_uses(c, uses, n);
    c->cap = cap;
    c->weight = weight;
    c->cap_level = cap / weight;
    c->exact = ovl_exact_of_weight(weight);
    c->hash = hash;
    c->born++;
    c->count = 0;
    c->limited = c->tied = false;
    c->rate = -1;
    c->follows = OVL_NONE;
    enter_table(share, slot);
    return slot;
}

/* --- Joining and leaving --- */

static void make_dirty(ovl_share *share, uint32_t slot)
{
    ovl_share_class *c = &share->classes.data[slot];
    if (!c->dirty) {
        c->dirty = true;
        ovl_vec_push(&share->dirty, slot);
    }
}

static inline uint16_t use_bit(uint32_t use)
{
    return use < OVL_SHARE_USE_BITS ? (uint16_t)(1u << use) : 0;
}

typedef void teller(ovl_share *share, uint32_t slot, ovl_use *use);

/* Each contended resource it uses but one is told of it. */
static inline void tell_others(ovl_share *share, uint32_t slot, uint32_t but, teller *tell)
{
    const ovl_share_class *c = &share->classes.data[slot];
    for (uint32_t bits = c->coupled; bits; bits &= bits - 1) {
        ovl_use *use = &c->uses[__builtin_ctz(bits)];
        if (use->resource != but) {
            tell(share, slot, use);
        }
    }
    for (uint32_t u = OVL_SHARE_USE_BITS; u < c->n_uses; u++) {
        ovl_use *use = &c->uses[u];
        if (use->resource != but && ovl_share_couples(&share->resources[use->resource])) {
            tell(share, slot, use);
        }
    }
}

void ovl_share_move_on_others(ovl_share *share, uint32_t slot, uint32_t but)
{
    tell_others(share, slot, but, ovl_share_move);
}

void ovl_share_pass_on_others(ovl_share *share, uint32_t slot, uint32_t resource)
{
    tell_others(share, slot, resource, ovl_share_pass_on);
}

/* What a resource means now. A resource can only bound anybody if all together ask for more than it
 * has: integers, no rounding luck. */
static inline uint8_t state_of(const ovl_share_resource *r)
{
    if (r->demand <= r->capacity) {
        return OVL_SHARE_FREE;
    }
    return r->live > 1 ? OVL_SHARE_COUPLES : OVL_SHARE_OWN;
}

/* Its limits are others: on each resource it shares it may have another place. Where somebody uses
 * very many resources the whole line is looked at in any case. */
static void note_moves(ovl_share *share, uint32_t slot)
{
    const ovl_share_class *c = &share->classes.data[slot];
    for (uint32_t u = 0; u < c->n_uses && c->shared && !c->is_long; u++) {
        ovl_share_note_move(&share->resources[c->uses[u].resource], slot, &c->uses[u]);
    }
}

static uint16_t with_bit(uint16_t bits, uint16_t bit, bool is)
{
    return (uint16_t)(is ? bits | bit : bits & ~bit);
}

/* What a use means to a class, now that its resource is in another state. */
static void note_state(const ovl_share *share, ovl_share_class *c, const ovl_share_resource *r)
{
    for (uint32_t u = 0; u < c->n_uses && u < OVL_SHARE_USE_BITS; u++) {
        if (&share->resources[c->uses[u].resource] == r) {
            c->coupled = with_bit(c->coupled, use_bit(u), r->state == OVL_SHARE_COUPLES);
            c->owned = with_bit(c->owned, use_bit(u), r->state == OVL_SHARE_OWN);
        }
    }
}

static void change_state(ovl_share *share, ovl_share_resource *r, uint8_t state)
{
    int32_t more = (state == OVL_SHARE_COUPLES) - (r->state == OVL_SHARE_COUPLES);
    bool own = state == OVL_SHARE_OWN || r->state == OVL_SHARE_OWN;
    r->state = state;
    r->stale = true;
    r->moved.len = 0;
    for (uint32_t k = 0; k < r->line.len; k++) {
        ovl_share_class *c = &share->classes.data[r->line.data[k].slot];
        c->shared += (uint32_t)more * r->line.data[k].spread;
        note_state(share, c, r);
        c->limited = c->limited && !own;
        if (c->shared == 0) {
            make_dirty(share, r->line.data[k].slot);
        }
        note_moves(share, r->line.data[k].slot);
    }
}

static inline void update_state(ovl_share *share, ovl_share_resource *r)
{
    uint8_t state = state_of(r);
    if (state != r->state) {
        change_state(share, r, state);
    }
}

/* The first activity of a class: it enters the lines of all it uses. */
static void count_first_in(ovl_share *share, uint32_t slot)
{
    ovl_share_class *c = &share->classes.data[slot];
    share->n_live++;
    c->shared = c->coupled = c->owned = 0;
    for (uint32_t i = 0; i < c->n_uses; i++) {
        ovl_share_enter(share, slot, &c->uses[i]);
        if (ovl_share_couples(&share->resources[c->uses[i].resource])) {
            c->shared += ovl_share_spread(&c->uses[i]);
            c->coupled |= use_bit(i);
        }
    }
}

/* Is it their business if the class demands another amount? So it is where it shares resources and
 * is not solved with everybody it reaches; else it is dirty itself. */
static inline bool others_know(const ovl_share_class *c)
{
    return c->shared > 0 && !c->is_long;
}

/* So many more. */
static void count_in(ovl_share *share, uint32_t slot, uint32_t count)
{
    ovl_share_class *c = &share->classes.data[slot];
    bool first = c->count == 0;
    c->count += count;
    if (first) {
        count_first_in(share, slot);
    }
    c->limited = false;
    for (uint32_t i = 0; i < c->n_uses; i++) {
        ovl_share_resource *r = &share->resources[c->uses[i].resource];
        r->demand += count * c->uses[i].rate;
        update_state(share, r);
        if (ovl_share_couples(r)) {
            ovl_share_move(share, slot, &c->uses[i]);
        }
    }
    if (!others_know(c)) {
        make_dirty(share, slot);
    }
}

/* The last one left. */
static void count_last_out(ovl_share *share, uint32_t slot)
{
    ovl_share_class *c = &share->classes.data[slot];
    share->n_live--;
    c->rate = -1; /* so that the next solve reports it */
    c->follows = OVL_NONE;
    c->tied = false;
    for (uint32_t i = 0; i < c->n_uses; i++) {
        ovl_share_exit(share, slot, &c->uses[i]);
    }
}

static void count_out(ovl_share *share, uint32_t slot, uint32_t count)
{
    ovl_share_class *c = &share->classes.data[slot];
    assert(c->count >= count);
    c->count -= count;
    bool last = c->count == 0;
    c->limited = false;
    if (last) {
        count_last_out(share, slot);
    }
    for (uint32_t i = 0; i < c->n_uses; i++) {
        ovl_share_resource *r = &share->resources[c->uses[i].resource];
        if (ovl_share_couples(r)) {
            ovl_share_touch(share, c->uses[i].resource);
            if (!last) {
                ovl_share_move(share, slot, &c->uses[i]);
            }
        }
        r->demand -= count * c->uses[i].rate;
        update_state(share, r);
    }
    if (!last && !others_know(c)) {
        make_dirty(share, slot);
    }
}

uint32_t ovl_share_join(ovl_share *share, double cap, double weight, const ovl_use *uses,
                        uint32_t n_uses, uint32_t count)
{
    assert(cap > 0 && cap <= 1 && weight > 0 && weight <= 1);
    uint64_t hash = hash_of(cap, weight, uses, n_uses);
    uint32_t slot = find(share, hash, cap, weight, uses, n_uses);
    if (slot == OVL_NONE) {
        slot = make_class(share, hash, cap, weight, uses, n_uses);
    }
    count_in(share, slot, count);
    return slot;
}

void ovl_share_join_again(ovl_share *share, uint32_t slot, uint32_t count)
{
    count_in(share, slot, count);
}

void ovl_share_leave(ovl_share *share, uint32_t slot, uint32_t count)
{
    count_out(share, slot, count);
}

uint32_t ovl_share_set_cap(ovl_share *share, uint32_t slot, double cap, uint32_t count)
{
    assert(cap > 0 && cap <= 1);
    ovl_share_class *c = &share->classes.data[slot];
    if (c->cap == cap) {
        return slot;
    }
    uint64_t hash = hash_of(cap, c->weight, c->uses, c->n_uses);
    uint32_t other = find(share, hash, cap, c->weight, c->uses, c->n_uses);
    if (other == OVL_NONE) {
        double weight = c->weight;
        ovl_use *uses = c->uses; /* stays where it is while the array of classes may move */
        other = make_class(share, hash, cap, weight, uses, c->n_uses);
    }
    count_out(share, slot, count);
    count_in(share, other, count);
    return other;
}

void ovl_share_set_capacity(ovl_share *share, uint32_t resource, uint64_t capacity)
{
    ovl_share_resource *r = &share->resources[resource];
    uint8_t before = r->state;
    r->capacity = capacity;
    r->stale = true;
    r->moved.len = 0;
    update_state(share, r);
    if (before != OVL_SHARE_FREE || r->state != OVL_SHARE_FREE) {
        ovl_share_touch(share, resource);
    }
    for (uint32_t k = 0; k < r->line.len; k++) {
        share->classes.data[r->line.data[k].slot].limited = false;
    }
}
