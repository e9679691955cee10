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

/* Ranks between which a link does not lie are in one block of `apart`; an instance serves `serves`
 * neighbours. */
typedef struct shape {
    uint32_t apart, serves;
} shape;

static bool on_one_node(const ovl_lowering *l, const members *m)
{
    for (uint32_t i = 1; i < m->n; i++) {
        if (ovl_plan_node(l, m->rank[i]) != ovl_plan_node(l, m->rank[0])) {
            return false;
        }
    }
    return true;
}

static shape shape_of(const ovl_lowering *l, const ovl_hw_link *link, const members *m)
{
    int64_t node = l->hw->gpus_per_node > 0 ? l->hw->gpus_per_node : l->n_ranks;
    shape s = {.apart = 1, .serves = ovl_plan_block(l, link)};
    if (link->out_of) {
        s.apart = (uint32_t)(link->out_of == OVL_OUT_OF_NODE ? node : link->out_of);
    } else if (s.serves > 1 && !on_one_node(l, m)) {
        s.apart = (uint32_t)OVL_MIN(node, s.serves);
    }
    return s;
}

typedef struct sums {
    double *sent, *received; /* by block */
} sums;

/* Pairs of a member and one outside its block; each instance gets what its members have. */
static void cross(const members *m, shape s, double share, const ovl_uneven *uneven, sums block,
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

static sums new_sums(ovl_lowering *l)
{
    return (sums){OVL_NEW_ARRAY(l->arena, double, l->n_ranks),
                  OVL_NEW_ARRAY(l->arena, double, l->n_ranks)};
}

ovl_uneven_way ovl_uneven_crossing(ovl_lowering *l, const ovl_group *group, uint32_t link,
                                   uint64_t bytes, const ovl_uneven *uneven)
{
    sums all = new_sums(l), block = new_sums(l), instance = new_sums(l);
    ovl_uneven_way way = {all.sent, all.received};
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ovl_id comm = group->comm_of[rank];
        members m = comm == OVL_NONE ? (members){0} : members_of(l, comm, uneven);
        if (m.n == 0 || m.rank[0] != rank || !(m.received > 0)) {
            continue; /* once for each communicator, at its first member */
        }
        cross(&m, shape_of(l, &l->hw->links[link], &m), (double)bytes / m.received, uneven, block,
              instance, &way);
    }
    return way;
}

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
