#include "models/uneven.h"

#include "models/exchange.h"

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

/* The members of a communicator, once for each: at its first rank; else none. */
static members begins(const ovl_lowering *l, const ovl_group *group, uint32_t rank,
                      const ovl_uneven *uneven)
{
    ovl_id comm = group->comm_of[rank];
    bool first =
        comm != OVL_NONE && l->b->members.data[l->b->comms.data[comm].first_member] == rank;
    return first ? members_of(l, comm, uneven) : (members){0};
}

typedef struct sums {
    double *sent, *received; /* by block */
} sums;

/* What is sent and received by block, and for links out of rails by rail and where both meet. */
typedef struct meetings {
    sums block, rail, cell;
} meetings;

static void add(sums *to, uint32_t at, const ovl_uneven *uneven, uint32_t rank)
{
    to->sent[at] += factor(uneven->sends, rank);
    to->received[at] += factor(uneven->receives, rank);
}

static void meet(const members *m, const ovl_shape *s, const ovl_uneven *uneven, meetings *at)
{
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t rank = m->rank[i];
        add(&at->block, ovl_shape_block(s, rank), uneven, rank);
        if (s->off_rails) {
            add(&at->rail, ovl_rail_of(&s->rails, rank), uneven, rank);
            add(&at->cell, ovl_rail_cell(&s->rails, rank), uneven, rank);
        }
    }
}

static double near(const ovl_shape *s, const double *block, const double *rail, const double *cell,
                   uint32_t rank)
{
    double sum = block[ovl_shape_block(s, rank)];
    return s->off_rails
               ? sum + rail[ovl_rail_of(&s->rails, rank)] - cell[ovl_rail_cell(&s->rails, rank)]
               : sum;
}

static void zero(const members *m, const ovl_shape *s, meetings *at, sums instance)
{
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t b = ovl_shape_block(s, m->rank[i]), here = ovl_shape_instance(s, m->rank[i]);
        at->block.sent[b] = at->block.received[b] = 0;
        instance.sent[here] = instance.received[here] = 0;
        if (s->off_rails) {
            uint32_t rail = ovl_rail_of(&s->rails, m->rank[i]);
            uint32_t cell = ovl_rail_cell(&s->rails, m->rank[i]);
            at->rail.sent[rail] = at->rail.received[rail] = 0;
            at->cell.sent[cell] = at->cell.received[cell] = 0;
        }
    }
}

/* To each member what its instance has. */
static void hand_out(const members *m, const ovl_shape *s, sums instance, ovl_uneven_way *way)
{
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t rank = m->rank[i];
        way->out[rank] = instance.sent[ovl_shape_instance(s, rank)];
        way->in[rank] = instance.received[ovl_shape_instance(s, rank)];
    }
}

/* Pairs of a member and one that the link lies between; each instance gets what its members have.
 */
static void cross(const members *m, const ovl_shape *s, double share, const ovl_uneven *uneven,
                  meetings *at, sums instance, ovl_uneven_way *way)
{
    meet(m, s, uneven, at);
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t rank = m->rank[i], here = ovl_shape_instance(s, rank);
        double sends = share * factor(uneven->sends, rank);
        double receives = share * factor(uneven->receives, rank);
        instance.sent[here] += sends * (m->received - near(s, at->block.received, at->rail.received,
                                                           at->cell.received, rank));
        instance.received[here] +=
            receives * (m->sent - near(s, at->block.sent, at->rail.sent, at->cell.sent, rank));
    }
    hand_out(m, s, instance, way);
    zero(m, s, at, instance);
}

static void pair_by_pair(const members *m, const ovl_shape *s, double bytes,
                         const ovl_uneven *uneven, uint32_t *first, sums instance,
                         ovl_uneven_way *way)
{
    const ovl_exchange x = {.rank = m->rank,
                            .n = m->n,
                            .bytes = bytes,
                            .pairs = uneven->pairs,
                            .sends = uneven->sends,
                            .receives = uneven->receives,
                            .received = m->received,
                            .pxn = uneven->pxn};
    ovl_exchange_cross(&x, s, (ovl_uneven_way){instance.sent, instance.received}, first);
    hand_out(m, s, instance, way);
    for (uint32_t i = 0; i < m->n; i++) { /* zero for the next communicator */
        uint32_t here = ovl_shape_instance(s, m->rank[i]);
        instance.sent[here] = instance.received[here] = 0;
    }
}

static sums new_sums(ovl_arena *arena, uint32_t n)
{
    return (sums){OVL_NEW_ARRAY(arena, double, n), OVL_NEW_ARRAY(arena, double, n)};
}

ovl_uneven_way ovl_uneven_crossing(const ovl_lowering *l, const ovl_group *group, uint32_t link,
                                   uint64_t bytes, const ovl_uneven *uneven, ovl_arena *arena)
{
    sums all = new_sums(arena, l->n_ranks), instance = new_sums(arena, l->seats.n);
    meetings at = {new_sums(arena, l->seats.n), {NULL, NULL}, {NULL, NULL}};
    uint32_t *first = uneven->pxn ? OVL_NEW_ARRAY(arena, uint32_t, l->seats.n) : NULL;
    if (link != OVL_NONE && l->hw->links[link].out_of == OVL_OUT_OF_RAIL) {
        at.rail = new_sums(arena, l->seats.n);
        at.cell = new_sums(arena, l->seats.n);
    }
    ovl_uneven_way way = {all.sent, all.received};
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        members m = begins(l, group, rank, uneven);
        if (m.n == 0 || !(m.received > 0)) {
            continue;
        }
        ovl_shape s = {.apart = 1, .serves = 1};
        s = link == OVL_NONE ? s : ovl_link_shape(l, &l->hw->links[link], m.rank, m.n);
        if (uneven->pairs || uneven->pxn) {
            pair_by_pair(&m, &s, (double)bytes, uneven, first, instance, &way);
        } else {
            cross(&m, &s, (double)bytes / m.received, uneven, &at, instance, &way);
        }
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
static uint32_t place_parts(const members *m, const ovl_shape *s, uint32_t root, part *parts)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        part *here = &parts[ovl_shape_block(s, m->rank[(root + i) % m->n])];
        here->members++;
        here->place = here->place ? here->place : ++n;
    }
    return n;
}

/* What a part sends on, and gets, its members have equal shares of. */
static void by_members(const members *m, const ovl_shape *s, const ovl_rooted *how, uint64_t bytes,
                       const part *parts, uint32_t n, sums instance)
{
    for (uint32_t i = 0; i < m->n; i++) {
        const part *here = &parts[ovl_shape_block(s, m->rank[i])];
        uint32_t at = ovl_shape_instance(s, m->rank[i]);
        double share = (double)bytes / here->members;
        instance.sent[at] += share * children(how->tree, here->place - 1, n);
        instance.received[at] += here->place > 1 ? share : 0;
    }
}

/* On the way from one part to another. */
static void off_rails(const ovl_rail_members *r, const ovl_shape *s, double bytes, uint32_t from,
                      uint32_t to, sums instance)
{
    for (uint32_t place = 0; place < r->rails.places; place++) {
        uint64_t out = ovl_rail_leaves(r, from, to, place);
        uint64_t in = ovl_rail_leaves(r, to, from, place);
        uint32_t a = ovl_rail_seat(&r->rails, from, place);
        uint32_t b = ovl_rail_seat(&r->rails, to, place);
        if (out) {
            instance.sent[ovl_shape_instance_at(s, a)] += bytes * (double)out / (double)r->unit;
        }
        if (in) {
            instance.received[ovl_shape_instance_at(s, b)] += bytes * (double)in / (double)r->unit;
        }
    }
}

/* Nodes in the order of their places; each but the root's gets it from one before. */
static void by_nodes(ovl_lowering *l, const members *m, const ovl_shape *s, const ovl_rooted *how,
                     uint64_t bytes, const part *parts, uint32_t n, sums instance)
{
    ovl_rail_members r = ovl_rail_count(l, &s->rails, m->rank, m->n);
    ovl_arena scratch = {0};
    uint32_t *at = OVL_NEW_ARRAY(&scratch, uint32_t, n);
    for (uint32_t i = 0; i < r.n_nodes; i++) {
        at[parts[r.node[i]].place - 1] = r.node[i];
    }
    for (uint32_t place = 1; place < n; place++) {
        uint32_t before = how->tree ? place & (place - 1) : place - 1;
        off_rails(&r, s, (double)bytes, at[before], at[place], instance);
    }
    ovl_rail_forget(&r);
    ovl_arena_free(&scratch);
}

static void from_root(ovl_lowering *l, const members *m, const ovl_shape *s, const ovl_rooted *how,
                      uint64_t bytes, part *parts, sums instance, ovl_uneven_way *way)
{
    uint32_t n = place_parts(m, s, how->root % m->n, parts);
    if (s->off_rails) {
        by_nodes(l, m, s, how, bytes, parts, n, instance);
    } else {
        by_members(m, s, how, bytes, parts, n, instance);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t at = ovl_shape_instance(s, m->rank[i]);
        way->out[m->rank[i]] = how->to_root ? instance.received[at] : instance.sent[at];
        way->in[m->rank[i]] = how->to_root ? instance.sent[at] : instance.received[at];
    }
    for (uint32_t i = 0; i < m->n; i++) { /* zero for the next communicator */
        uint32_t at = ovl_shape_instance(s, m->rank[i]);
        parts[ovl_shape_block(s, m->rank[i])] = (part){0, 0};
        instance.sent[at] = instance.received[at] = 0;
    }
}

ovl_uneven_way ovl_rooted_crossing(ovl_lowering *l, const ovl_group *group, uint32_t link,
                                   uint64_t bytes, const ovl_rooted *how, ovl_arena *arena)
{
    sums all = new_sums(arena, l->n_ranks), instance = new_sums(arena, l->seats.n);
    part *parts = OVL_NEW_ARRAY(arena, part, l->seats.n);
    ovl_uneven_way way = {all.sent, all.received};
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        members m = begins(l, group, rank, &(ovl_uneven){0});
        if (m.n > 1) {
            ovl_shape s = ovl_link_shape(l, &l->hw->links[link], m.rank, m.n);
            from_root(l, &m, &s, how, bytes, parts, instance, &way);
        }
    }
    return way;
}

/* --- Busy members --- */

/* Evenly each gives the others (n - 1) / n of its part. */
static double busiest_of_pairs(const double *pairs, uint32_t n)
{
    double most = 0;
    for (uint32_t i = 0; i < n; i++) {
        double out = 0, in = 0;
        for (uint32_t j = 0; j < n; j++) {
            out += i == j ? 0 : pairs[(size_t)i * n + j];
            in += i == j ? 0 : pairs[(size_t)j * n + i];
        }
        most = OVL_MAX(most, OVL_MAX(out, in));
    }
    return most * n / (n - 1);
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
    if (uneven->pairs) {
        return busiest_of_pairs(uneven->pairs, m.n);
    }
    for (uint32_t i = 0; i < m.n; i++) {
        double sends = factor(uneven->sends, m.rank[i]);
        double receives = factor(uneven->receives, m.rank[i]);
        double out = sends * (m.received - receives), in = receives * (m.sent - sends);
        most = OVL_MAX(most, OVL_MAX(out, in));
    }
    return most / m.received * m.n / (m.n - 1);
}
