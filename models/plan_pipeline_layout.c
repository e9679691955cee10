/* How pipelines lie on nodes. A hop inside a node and one between nodes cost differently, so
 * pipelines are sorted by where their hops go, and those that lie alike run the same codes.
 *
 * Example: nodes of 4 GPUs and pipelines of 6, ranks 0-5 and 6-11. The first leaves a node from
 * place 3 to 4, the second from place 1 to 2: two layouts. Pipelines of 4, or of 8, have one. */
#include "models/plan_pipeline.h"

#include <stdlib.h>

typedef struct pairs {
    uint64_t *item; /* places, the lower one in the upper half */
    uint32_t count;
} pairs;

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Places that exchange something, each pair once. */
static pairs find_pairs(ovl_pipe_plan *p)
{
    pairs list = {.item = OVL_NEW_ARRAY(&p->scratch, uint64_t, p->channels.len)};
    for (uint32_t k = 0; k < p->channels.len; k++) {
        const ovl_pipe_channel *c = &p->channels.data[k];
        list.item[k] = (uint64_t)OVL_MIN(c->from, c->to) << 32 | OVL_MAX(c->from, c->to);
    }
    if (p->channels.len) {
        qsort(list.item, p->channels.len, sizeof *list.item, ascending);
    }
    for (uint32_t k = 0; k < p->channels.len; k++) {
        if (list.count == 0 || list.item[k] != list.item[list.count - 1]) {
            list.item[list.count++] = list.item[k];
        }
    }
    return list;
}

typedef OVL_VEC(const ovl_group *) group_list;

static void add_group(group_list *list, const ovl_group *group)
{
    if (group) {
        ovl_vec_push(list, group);
    }
}

/* Groups that the ranks of a pipeline communicate in, besides its own. */
static group_list find_groups(ovl_pipe_plan *p)
{
    const ovl_texts *inner = &p->workload->inner_groups;
    group_list list = {0};
    for (int k = 0; k < 2; k++) {
        add_group(&list, p->data[k]);
        add_group(&list, p->shards.ranks[k].shard);
        add_group(&list, p->shards.ranks[k].replica);
        add_group(&list, p->shards.ranks[k].near);
    }
    for (uint32_t i = 0; i < inner->count; i++) {
        add_group(&list, ovl_plan_group(p->l, inner->item[i], inner->mark[i]));
    }
    return list;
}

/* What the costs of a pipeline go by: the spreads of its hops, and of the other groups of each
 * place, and of its neighbours in the ring of the blocks (NULL: they have none). */
static void fill_key(ovl_pipe_plan *p, const pairs *hops, const group_list *groups,
                     const ovl_group *ring, const uint32_t *members, const ovl_spread **key)
{
    for (uint32_t k = 0; k < hops->count; k++) {
        *key++ =
            ovl_pipe_spread(p, members, (uint32_t)(hops->item[k] >> 32), (uint32_t)hops->item[k]);
    }
    for (uint32_t g = 0; g < groups->len; g++) {
        for (uint32_t r = 0; r < p->p; r++) {
            *key++ = ovl_plan_spread(p->l, groups->data[g], members[r]);
        }
    }
    for (uint32_t r = 0; ring && r < p->p; r++) {
        *key++ = ovl_plan_ring(p->l, ring, members[r], true);
        *key++ = ovl_plan_ring(p->l, ring, members[r], false);
    }
}

const ovl_spread *ovl_pipe_spread(ovl_pipe_plan *p, const uint32_t *members, uint32_t from,
                                  uint32_t to)
{
    return ovl_find_pair(p->l, members[from], members[to]);
}

const uint32_t *ovl_pipe_members(const ovl_pipe_plan *p, uint32_t rank)
{
    const ovl_builder *b = p->l->b;
    return &b->members.data[b->comms.data[p->group->comm_of[rank]].first_member];
}

/* Places of a pipeline where a stage is; of two copies the second counts from the other end. */
static uint32_t places_of(const ovl_pipe_plan *p, uint32_t stage, uint32_t places[2])
{
    bool back = p->placement != OVL_PLACE_LOOP && stage >= p->p;
    places[0] = p->schedule.rank_of ? p->schedule.rank_of[stage]
                : back              ? 2 * p->p - 1 - stage
                                    : stage % p->p;
    places[1] = p->p - 1 - places[0];
    return p->placement == OVL_PLACE_BOTH || p->schedule.n_chains > 1 ? 2 : 1;
}

uint32_t ovl_pipe_machines(const ovl_pipe_plan *p, uint32_t stage)
{
    uint32_t places[2], n = places_of(p, stage, places), machines = 0;
    if (p->l->n_machines < 2) {
        return 1;
    }
    for (uint32_t rank = 0; rank < p->l->n_ranks; rank++) {
        const uint32_t *members = ovl_pipe_members(p, rank);
        for (uint32_t k = 0; members[0] == rank && k < n; k++) {
            machines |= UINT32_C(1) << p->l->machine_of[members[OVL_MIN(places[k], p->p - 1)]];
        }
    }
    return machines;
}

void ovl_pipe_layouts(ovl_pipe_plan *p)
{
    pairs hops = find_pairs(p);
    group_list groups = find_groups(p);
    const ovl_group *ring = ovl_inner_ring(p->l);
    uint32_t n = hops.count + ((uint32_t)groups.len + (ring ? 2 : 0)) * p->p;
    OVL_VEC(const ovl_spread **) keys = {0};
    const ovl_spread **key = OVL_NEW_ARRAY(&p->scratch, const ovl_spread *, n);
    p->layout_of = OVL_NEW_ARRAY(&p->scratch, uint32_t, p->l->n_ranks);
    for (uint32_t rank = 0; rank < p->l->n_ranks; rank++) {
        const uint32_t *members = ovl_pipe_members(p, rank);
        uint32_t k = 0;
        if (members[0] != rank) {
            continue;
        }
        fill_key(p, &hops, &groups, ring, members, key);
        while (k < keys.len && n && memcmp(keys.data[k], key, n * sizeof(*key)) != 0) {
            k++;
        }
        if (k == keys.len) {
            ovl_vec_push(&keys, key);
            uint32_t *kept = OVL_NEW_ARRAY(&p->scratch, uint32_t, p->p);
            memcpy(kept, members, p->p * sizeof *kept);
            ovl_vec_push(&p->layouts, (ovl_pipe_layout){kept, 0});
            key = OVL_NEW_ARRAY(&p->scratch, const ovl_spread *, n);
        }
        p->layout_of[rank] = k;
        p->layouts.data[k].count++;
    }
    ovl_vec_free(&keys);
    ovl_vec_free(&groups);
}
