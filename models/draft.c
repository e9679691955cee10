#include "models/draft.h"

#include <string.h>

struct ovl_cost_index {
    uint32_t *slots; /* open addressing; a cost + 1, 0 is free */
    uint32_t n_slots, count;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

static uint64_t mix_demands(uint64_t hash, const ovl_demand *demands, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        hash = mix(hash, demands[i].port);
        hash = mix(hash, demands[i].rate);
    }
    return hash;
}

static uint64_t hash_cost(const ovl_cost *c, const ovl_demand *own, const ovl_demand *peer)
{
    uint64_t hash = mix(0, (uint64_t)c->latency);
    hash = mix(hash, (uint64_t)c->work);
    hash = mix(hash, (uint64_t)c->compute);
    hash = mix(hash, (uint64_t)c->sms << 32 | c->blocks);
    hash = mix(hash, (uint64_t)c->klass << 8 | c->engine << 4 | c->by_member);
    hash = mix(hash, c->split);
    hash = mix(hash, c->law);
    return mix_demands(mix_demands(hash, own, c->n_demands), peer, c->n_peer);
}

static bool same_cost(const ovl_builder *b, const ovl_cost *old, const ovl_draft *d)
{
    const ovl_cost *c = &d->cost;
    bool equal_weight = memcmp(&old->weight, &c->weight, sizeof c->weight) == 0;
    return old->latency == c->latency && old->work == c->work && old->compute == c->compute &&
           old->sms == c->sms && old->blocks == c->blocks && old->klass == c->klass &&
           old->split == c->split && old->engine == c->engine && old->by_member == c->by_member &&
           old->law == c->law && equal_weight && old->n_demands == c->n_demands &&
           old->n_peer == c->n_peer &&
           ovl_same_demands(&b->demands.data[old->first_demand], d->own, c->n_demands) &&
           ovl_same_demands(&b->demands.data[old->first_peer], d->peer, c->n_peer);
}

/* Laws are of multiples, so durations of any length share one. */
static bool same_law(const ovl_law *a, const ovl_law *b)
{
    const ovl_distribution *x = &a->jitter.law, *y = &b->jitter.law;
    return x->kind == y->kind && memcmp(&x->a, &y->a, sizeof x->a) == 0 &&
           memcmp(&x->b, &y->b, sizeof x->b) == 0;
}

uint8_t ovl_draft_law(ovl_lowering *l, ovl_times times)
{
    const ovl_law *law = times.law;
    for (uint32_t i = 0; law && i < l->laws.len; i++) {
        if (same_law(l->laws.data[i], law)) {
            return (uint8_t)(i + 1);
        }
    }
    if (!law) {
        return 0;
    }
    if (l->laws.len == UINT8_MAX) {
        ovl_error(l->errs, OVL_E_INPUT, law->jitter.mark,
                  "more than %d different laws of durations; `variation.ops` has no limit",
                  UINT8_MAX);
        return 0;
    }
    ovl_vec_push(&l->laws, law);
    return (uint8_t)l->laws.len;
}

ovl_id ovl_draft_append(ovl_lowering *l, const ovl_draft *d)
{
    return ovl_add_cost(l->b, &d->cost, d->own, d->cost.n_demands, d->peer, d->cost.n_peer);
}

ovl_draft ovl_draft_of(const ovl_lowering *l, ovl_id cost)
{
    const ovl_demand *demands = l->b->demands.data;
    ovl_draft d = {.cost = l->b->costs.data[cost]};
    for (uint32_t i = 0; i < d.cost.n_demands; i++) {
        d.own[i] = demands[d.cost.first_demand + i];
    }
    for (uint32_t i = 0; i < d.cost.n_peer; i++) {
        d.peer[i] = demands[d.cost.first_peer + i];
    }
    return d;
}

static void grow(ovl_lowering *l, struct ovl_cost_index *index)
{
    uint32_t *old = index->slots, n_old = index->n_slots;
    index->n_slots = n_old ? n_old * 2 : 64;
    index->slots = calloc(index->n_slots, sizeof *index->slots);
    if (!index->slots) {
        ovl_out_of_memory(index->n_slots * sizeof *index->slots);
    }
    for (uint32_t i = 0; i < n_old; i++) {
        if (!old[i]) {
            continue;
        }
        const ovl_cost *c = &l->b->costs.data[old[i] - 1];
        const ovl_demand *demands = l->b->demands.data;
        uint64_t at = hash_cost(c, demands + c->first_demand, demands + c->first_peer);
        while (index->slots[at & (index->n_slots - 1)]) {
            at++;
        }
        index->slots[at & (index->n_slots - 1)] = old[i];
    }
    free(old);
}

ovl_id ovl_draft_intern(ovl_lowering *l, const ovl_draft *d)
{
    if (!l->cost_index) {
        l->cost_index = OVL_NEW(l->arena, struct ovl_cost_index);
    }
    struct ovl_cost_index *index = l->cost_index;
    if (index->count * 2 >= index->n_slots) {
        grow(l, index);
    }
    uint64_t at = hash_cost(&d->cost, d->own, d->peer);
    uint32_t *slot;
    while (*(slot = &index->slots[at & (index->n_slots - 1)])) {
        if (same_cost(l->b, &l->b->costs.data[*slot - 1], d)) {
            return *slot - 1;
        }
        at++;
    }
    ovl_id id = ovl_draft_append(l, d);
    *slot = id + 1;
    index->count++;
    return id;
}

void ovl_plan_costs_free(ovl_lowering *l)
{
    if (l->cost_index) {
        free(l->cost_index->slots);
        l->cost_index = NULL;
    }
}

/* --- Parts of a cost --- */

ovl_id ovl_draft_klass(ovl_lowering *l, bool kernel, const char *name)
{
    ovl_id id = ovl_name(l->b, name);
    uint32_t n = kernel ? l->b->kernel_classes.len : l->b->coll_classes.len;
    const ovl_id *known = kernel ? l->b->kernel_classes.data : l->b->coll_classes.data;
    for (uint32_t i = 0; i < n; i++) {
        if (known[i] == id) {
            return i;
        }
    }
    if (kernel) {
        ovl_vec_push(&l->b->kernel_classes, id);
    } else {
        ovl_vec_push(&l->b->coll_classes, id);
    }
    return n;
}

bool ovl_draft_check_times(ovl_lowering *l, const char *name, ovl_mark mark, ovl_times times)
{
    if (times.count == 1 || times.count == l->n_ranks) {
        return true;
    }
    ovl_error(l->errs, OVL_E_INPUT, mark,
              "\"%s\" gives %" PRIu32 " durations for %s; give one, or one for each rank", name,
              times.count, ovl_counted(l->errs->arena, l->n_ranks, "rank"));
    return false;
}

uint64_t ovl_draft_clamp(ovl_lowering *l, const char *name, ovl_mark mark, const char *what,
                         uint64_t rate, uint64_t capacity)
{
    if (rate > capacity && rate - capacity > capacity / 1000) {
        char wants[OVL_UNITS_TEXT], has[OVL_UNITS_TEXT];
        ovl_warning(l->errs, mark,
                    "\"%s\" at its isolated speed moves %s over %s, which has %s; it is counted as "
                    "taking all of it",
                    name, ovl_print_rate(wants, (double)rate), what,
                    ovl_print_rate(has, (double)capacity));
    }
    return OVL_MIN(rate, capacity);
}

double ovl_draft_weight(const ovl_lowering *l, uint64_t principal)
{
    bool fair = l->scenario->sharing == OVL_SHARING_FAIR;
    return fair && principal > 0 ? 1 / (double)principal : 1;
}

void ovl_draft_demand(ovl_demand *list, uint8_t *n, ovl_demand demand)
{
    assert(*n < OVL_DRAFT_DEMANDS);
    if (demand.rate > 0) {
        list[(*n)++] = demand;
    }
}
