/*
 * costs.c - what operations cost, each list of it stored once.
 *
 * Costs, their kinds, demands and splits are all added in the same way: what is new is written
 * behind what there is, and dropped again if an equal list was there before. 100 layers whose
 * matmul takes 1,024 times, one on each rank, and the same in every layer, store 1,024 costs of one
 * kind.
 */
#include "sim/build.h"

void ovl_costs_free(ovl_builder *b)
{
    ovl_vec_free(&b->costs);
    ovl_vec_free(&b->phases);
    ovl_vec_free(&b->cost_kinds);
    ovl_vec_free(&b->splits);
    ovl_vec_free(&b->demands);
    ovl_stored_forget(&b->stored_costs);
    ovl_stored_forget(&b->stored_phases);
    ovl_stored_forget(&b->stored_kinds);
    ovl_stored_forget(&b->stored_splits);
    ovl_stored_forget(&b->stored_demands);
}

/* --- Demands and splits --- */

static bool same_demands(const void *owner, uint32_t x, uint32_t y, uint32_t n)
{
    const ovl_builder *b = owner;
    return ovl_same_demands(&b->demands.data[x], &b->demands.data[y], n);
}

static uint32_t add_demands(ovl_builder *b, const ovl_demand *demands, uint32_t n)
{
    uint32_t first = b->demands.len;
    uint64_t hash = 0;
    assert(n <= OVL_COST_DEMANDS_MAX);
    for (uint32_t i = 0; i < n; i++) {
        assert(demands[i].port < b->n_ports);
        ovl_vec_push(&b->demands, demands[i]);
        hash = ovl_stored_mix(ovl_stored_mix(hash, demands[i].rate), demands[i].port);
    }
    uint32_t at = n ? ovl_stored_once(b, &b->stored_demands, hash, first, n, same_demands) : 0;
    b->demands.len = at < first ? first : b->demands.len;
    return at;
}

static bool same_splits(const void *owner, uint32_t x, uint32_t y, uint32_t n)
{
    const ovl_builder *b = owner;
    const ovl_split *s = &b->splits.data[x], *t = &b->splits.data[y];
    (void)n;
    return s->klass == t->klass && s->part == t->part && s->whole == t->whole;
}

ovl_id ovl_add_split(ovl_builder *b, const ovl_split *split)
{
    uint32_t last = b->splits.len;
    uint64_t hash =
        ovl_stored_mix(ovl_stored_mix((uint64_t)split->part, (uint64_t)split->whole), split->klass);
    ovl_vec_push(&b->splits, *split);
    uint32_t at = ovl_stored_once(b, &b->stored_splits, hash, last, 1, same_splits);
    b->splits.len = at < last ? last : b->splits.len;
    return at + 1;
}

/* --- Kinds and costs --- */

static bool same_kinds(const void *owner, uint32_t x, uint32_t y, uint32_t n)
{
    const ovl_builder *b = owner;
    const ovl_cost_kind *s = &b->cost_kinds.data[x], *t = &b->cost_kinds.data[y];
    (void)n;
    return memcmp(&s->weight, &t->weight, sizeof s->weight) == 0 && s->sms == t->sms &&
           s->blocks == t->blocks && s->klass == t->klass && s->split == t->split &&
           s->first_demand == t->first_demand && s->n_demands == t->n_demands &&
           s->first_peer == t->first_peer && s->n_peer == t->n_peer && s->engine == t->engine &&
           s->by_member == t->by_member && s->law == t->law;
}

static uint64_t hash_kind(const ovl_cost_kind *k)
{
    uint64_t weight;
    memcpy(&weight, &k->weight, sizeof weight);
    uint64_t hash = ovl_stored_mix(weight, (uint64_t)k->sms << 32 | k->blocks);
    hash = ovl_stored_mix(hash, (uint64_t)k->klass << 32 | k->split);
    hash = ovl_stored_mix(hash, (uint64_t)k->first_demand << 32 | k->first_peer);
    return ovl_stored_mix(hash, (uint64_t)k->n_demands << 24 | (uint64_t)k->n_peer << 16 |
                                    k->law << 8 | k->engine << 4 | k->by_member);
}

static ovl_id add_kind(ovl_builder *b, const ovl_cost_kind *kind)
{
    uint32_t last = b->cost_kinds.len;
    ovl_vec_push(&b->cost_kinds, *kind);
    uint32_t at = ovl_stored_once(b, &b->stored_kinds, hash_kind(kind), last, 1, same_kinds);
    b->cost_kinds.len = at < last ? last : b->cost_kinds.len;
    return at;
}

static const ovl_cost_kind free_kind = {.klass = OVL_NONE, .weight = 1};

void ovl_costs_init(ovl_builder *b)
{
    ovl_id free = add_kind(b, &free_kind);
    assert(free == OVL_KIND_FREE);
    (void)free;
}

static ovl_id add_kind_with(ovl_builder *b, const ovl_cost_kind *kind, const ovl_demand *demands,
                            uint32_t n_demands, const ovl_demand *peer, uint32_t n_peer)
{
    ovl_cost_kind its = kind ? *kind : free_kind;
    its.first_demand = add_demands(b, demands, n_demands);
    its.n_demands = (uint8_t)n_demands;
    its.first_peer = add_demands(b, peer, n_peer);
    its.n_peer = (uint8_t)n_peer;
    return add_kind(b, &its);
}

ovl_id ovl_add_cost(ovl_builder *b, const ovl_cost *cost, const ovl_cost_kind *kind,
                    const ovl_demand *demands, uint32_t n_demands, const ovl_demand *peer,
                    uint32_t n_peer)
{
    ovl_cost added = *cost;
    added.kind = add_kind_with(b, kind, demands, n_demands, peer, n_peer);
    ovl_vec_push(&b->costs, added);
    return b->costs.len - 1;
}

static bool equal(const ovl_cost *x, const ovl_cost *y)
{
    return x->latency == y->latency && x->work == y->work && x->compute == y->compute &&
           x->kind == y->kind && x->then == y->then;
}

static uint64_t hash_cost(uint64_t hash, const ovl_cost *c)
{
    hash = ovl_stored_mix(ovl_stored_mix(hash, (uint64_t)c->latency), (uint64_t)c->work);
    return ovl_stored_mix(hash, (uint64_t)c->compute ^ ((uint64_t)c->then << 32 | c->kind));
}

static bool same_phases(const void *owner, uint32_t x, uint32_t y, uint32_t n)
{
    const ovl_builder *b = owner;
    (void)n;
    return equal(&b->phases.data[x], &b->phases.data[y]);
}

ovl_id ovl_add_phase(ovl_builder *b, const ovl_cost *cost, const ovl_cost_kind *kind,
                     const ovl_demand *demands, uint32_t n_demands)
{
    ovl_cost added = *cost;
    uint32_t last = b->phases.len;
    assert(cost->then <= last);
    added.kind = add_kind_with(b, kind, demands, n_demands, NULL, 0);
    ovl_vec_push(&b->phases, added);
    uint32_t at = ovl_stored_once(b, &b->stored_phases, hash_cost(0, &added), last, 1, same_phases);
    b->phases.len = at < last ? last : b->phases.len;
    return at + 1;
}

static bool same_costs(const void *owner, uint32_t x, uint32_t y, uint32_t n)
{
    const ovl_builder *b = owner;
    bool same = true;
    for (uint32_t i = 0; i < n && same; i++) {
        same = equal(&b->costs.data[x + i], &b->costs.data[y + i]);
    }
    return same;
}

ovl_id ovl_store_costs_once(ovl_builder *b, ovl_id first, bool *per_rank)
{
    assert(first < b->costs.len);
    const ovl_cost *costs = b->costs.data;
    uint64_t hash = 0;
    bool alike = true;
    for (uint32_t i = first; i < b->costs.len; i++) {
        alike = alike && equal(&costs[i], &costs[first]);
    }
    b->costs.len = alike ? first + 1 : b->costs.len;
    for (uint32_t i = first; i < b->costs.len; i++) {
        hash = hash_cost(hash, &costs[i]);
    }
    uint32_t n = b->costs.len - first;
    *per_rank = n > 1;
    uint32_t at = ovl_stored_once(b, &b->stored_costs, hash, first, n, same_costs);
    b->costs.len = at < first ? first : b->costs.len;
    return at;
}
