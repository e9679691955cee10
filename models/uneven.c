#include "models/uneven.h"

static double factor(const double *of, uint32_t rank)
{
    return of ? of[rank] : 1;
}

typedef struct members {
    const uint32_t *rank;
    uint32_t n;
    double sent, received; /* sums of factors */
} members;

static members members_of(const ovl_lowering *l, ovl_id comm, const ovl_uneven *uneven)
{
    const ovl_comm *c = &l->b->comms.data[comm];
    members m = {.rank = &l->b->members.data[c->first_member], .n = c->n_members};
    for (uint32_t i = 0; i < m.n; i++) {
        m.sent += factor(uneven->sends, m.rank[i]);
        m.received += factor(uneven->receives, m.rank[i]);
    }
    return m;
}

typedef struct sums {
    double *sent, *received; /* by block */
} sums;

/* Pairs of a member and one outside its block; each instance gets what its members have. */
static void cross(const members *m, ovl_shape s, double share, const ovl_uneven *uneven, sums block,
                  sums instance, ovl_uneven_way *way)
{
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t rank = m->rank[i];
        block.sent[rank / s.apart] += factor(uneven->sends, rank);
        block.received[rank / s.apart] += factor(uneven->receives, rank);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t rank = m->rank[i], b = rank / s.apart, at = rank / s.serves;
        instance.sent[at] +=
            share * factor(uneven->sends, rank) * (m->received - block.received[b]);
        instance.received[at] += share * factor(uneven->receives, rank) * (m->sent - block.sent[b]);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t rank = m->rank[i];
        way->out[rank] = instance.sent[rank / s.serves];
        way->in[rank] = instance.received[rank / s.serves];
    }
    for (uint32_t i = 0; i < m->n; i++) { /* zero for the next communicator */
        uint32_t b = m->rank[i] / s.apart, at = m->rank[i] / s.serves;
        block.sent[b] = block.received[b] = instance.sent[at] = instance.received[at] = 0;
    }
}

static sums new_sums(ovl_arena *arena, uint32_t n)
{
    return (sums){OVL_NEW_ARRAY(arena, double, n), OVL_NEW_ARRAY(arena, double, n)};
}

ovl_uneven_way ovl_uneven_crossing(const ovl_lowering *l, const ovl_group *group, uint32_t link,
                                   uint64_t bytes, const ovl_uneven *uneven, ovl_arena *arena)
{
    sums all = new_sums(arena, l->n_ranks), block = new_sums(arena, l->n_ranks);
    sums instance = new_sums(arena, l->n_ranks);
    ovl_uneven_way way = {all.sent, all.received};
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ovl_id comm = group->comm_of[rank];
        members m = comm == OVL_NONE ? (members){0} : members_of(l, comm, uneven);
        if (m.n == 0 || m.rank[0] != rank || !(m.received > 0)) {
            continue; /* once for each communicator, at its first member */
        }
        cross(&m, ovl_link_shape(l, &l->hw->links[link], m.rank, m.n), (double)bytes / m.received,
              uneven, block, instance, &way);
    }
    return way;
}

/* --- From a root, or to it --- */

/* Of a part: how many members it has, and its place behind the root's, plus 1. */
typedef struct part {
    uint32_t members, place;
} part;

/* To how many parts a place of n sends. Of a binomial tree: place p gets from p without its lowest
 * bit, and sends to p + 2^k for all lower bits k. */
static uint32_t children(bool tree, uint32_t place, uint32_t n)
{
    uint32_t count = 0;
    if (!tree) {
        return place + 1 < n;
    }
    for (uint64_t bit = 1; place + bit < n && !(place & bit); bit *= 2) {
        count++;
    }
    return count;
}

/* Parts in the order of the communicator, from the root on. */
static uint32_t place_parts(const members *m, uint32_t apart, uint32_t root, part *parts)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        part *here = &parts[m->rank[(root + i) % m->n] / apart];
        here->members++;
        here->place = here->place ? here->place : ++n;
    }
    return n;
}

static void from_root(const members *m, ovl_shape s, const ovl_rooted *how, uint64_t bytes,
                      part *parts, sums instance, ovl_uneven_way *way)
{
    uint32_t n = place_parts(m, s.apart, how->root % m->n, parts);
    for (uint32_t i = 0; i < m->n; i++) {
        const part *here = &parts[m->rank[i] / s.apart];
        double share = (double)bytes / here->members;
        double down = share * children(how->tree, here->place - 1, n);
        double up = here->place > 1 ? share : 0;
        instance.sent[m->rank[i] / s.serves] += how->to_root ? up : down;
        instance.received[m->rank[i] / s.serves] += how->to_root ? down : up;
    }
    for (uint32_t i = 0; i < m->n; i++) {
        way->out[m->rank[i]] = instance.sent[m->rank[i] / s.serves];
        way->in[m->rank[i]] = instance.received[m->rank[i] / s.serves];
    }
    for (uint32_t i = 0; i < m->n; i++) { /* zero for the next communicator */
        parts[m->rank[i] / s.apart] = (part){0, 0};
        instance.sent[m->rank[i] / s.serves] = instance.received[m->rank[i] / s.serves] = 0;
    }
}

ovl_uneven_way ovl_rooted_crossing(const ovl_lowering *l, const ovl_group *group, uint32_t link,
                                   uint64_t bytes, const ovl_rooted *how, ovl_arena *arena)
{
    sums all = new_sums(arena, l->n_ranks), instance = new_sums(arena, l->n_ranks);
    part *parts = OVL_NEW_ARRAY(arena, part, l->n_ranks);
    ovl_uneven_way way = {all.sent, all.received};
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ovl_id comm = group->comm_of[rank];
        members m = comm == OVL_NONE ? (members){0} : members_of(l, comm, &(ovl_uneven){0});
        if (m.n > 1 && m.rank[0] == rank) {
            from_root(&m, ovl_link_shape(l, &l->hw->links[link], m.rank, m.n), how, bytes, parts,
                      instance, &way);
        }
    }
    return way;
}

/* --- Busy members --- */

double ovl_uneven_busiest(ovl_lowering *l, const ovl_group *group, uint32_t rank,
                          const ovl_uneven *uneven)
{
    ovl_id comm = group->comm_of[rank];
    members m = comm == OVL_NONE ? (members){0} : members_of(l, comm, uneven);
    double most = 0;
    if (m.n < 2 || !(m.received > 0)) {
        return 1;
    }
    for (uint32_t i = 0; i < m.n; i++) {
        double sends = factor(uneven->sends, m.rank[i]);
        double receives = factor(uneven->receives, m.rank[i]);
        double out = sends * (m.received - receives), in = receives * (m.sent - sends);
        most = OVL_MAX(most, OVL_MAX(out, in));
    }
    return most / m.received * m.n / (m.n - 1);
}
