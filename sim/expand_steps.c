/*
 * expand_steps.c - who sends what to whom in the steps of a collective, and what that costs.
 */
#include "sim/expand_parts.h"

#include "sim/exact.h"

/* --- Who to whom --- */

static ovl_pattern ring(uint32_t n, uint32_t rounds)
{
    uint32_t steps = rounds * (n - 1);
    return (ovl_pattern){OVL_PATTERN_RING, n, steps, steps, n, 0, 1};
}

/* With four pieces for each way the chain takes at most a quarter longer than its transfer. */
static ovl_pattern chain(uint32_t n, uint32_t first)
{
    uint32_t pieces = 4 * (n - 1);
    return (ovl_pattern){OVL_PATTERN_CHAIN, n, pieces + n - 2, pieces, pieces, first, 1};
}

ovl_pattern ovl_pattern_of(const ovl_op *op, uint32_t n, uint32_t phases)
{
    uint32_t root = (uint32_t)op->peer;
    if (phases > 1) {
        ovl_pattern once = ring(n, 1);
        once.phases = phases;
        return once;
    }
    switch ((ovl_coll)op->coll) {
    case OVL_ALL_REDUCE:
        return ring(n, 2);
    case OVL_BROADCAST:
        return chain(n, root);
    case OVL_REDUCE:
        return chain(n, (root + 1) % n); /* the root comes last */
    case OVL_ALL_TO_ALL:
        return (ovl_pattern){OVL_PATTERN_PAIRWISE, n, n - 1, n - 1, n, 0, 1};
    case OVL_REDUCE_SCATTER:
    case OVL_ALL_GATHER:
    case OVL_SEND_RECV:
    case OVL_COLL_COUNT:
        break;
    }
    return ring(n, 1);
}

/* The piece that crosses the way from the `way`-th member of a chain to the next in a step. */
static bool crosses(const ovl_pattern *p, uint32_t way, uint32_t step)
{
    return way < p->n - 1 && step >= way && step - way < p->moves;
}

static uint32_t place_in_chain(const ovl_pattern *p, uint32_t place)
{
    return (place + p->n - p->first) % p->n;
}

uint32_t ovl_pattern_to(const ovl_pattern *p, uint32_t place, uint32_t step)
{
    switch (p->kind) {
    case OVL_PATTERN_RING:
        return 1;
    case OVL_PATTERN_PAIRWISE:
        return step + 1;
    case OVL_PATTERN_CHAIN:
        break;
    }
    return crosses(p, place_in_chain(p, place), step);
}

uint32_t ovl_pattern_from(const ovl_pattern *p, uint32_t place, uint32_t step)
{
    uint32_t at = place_in_chain(p, place);
    if (p->kind == OVL_PATTERN_CHAIN) {
        return at > 0 && crosses(p, at - 1, step);
    }
    return ovl_pattern_to(p, place, step);
}

uint64_t ovl_pattern_part(uint64_t whole, uint32_t parts, uint32_t i)
{
    ovl_uwide w = whole;
    return (uint64_t)(w * (i + 1) / parts - w * i / parts);
}

/* --- What is loaded --- */

/* One demand of a collective in one direction. */
typedef struct way {
    const ovl_program *p;
    const ovl_comm *comm;
    const ovl_pattern *pattern;
    const ovl_demand *demand;
    bool in;
} way;

static ovl_id resource_at(const way *w, uint32_t place)
{
    const ovl_rank *rank = &w->p->ranks[w->p->members[w->comm->first_member + place]];
    return w->p->rank_ports[rank->first_port + w->demand->port];
}

/* Transfers of the whole collective through a resource: those that leave it, and all of its
 * members. */
static void count_transfers(const way *w, ovl_id resource, uint64_t *leaving, uint64_t *all)
{
    uint32_t n = w->pattern->n;
    *leaving = *all = 0;
    for (uint32_t place = 0; place < n; place++) {
        for (uint32_t step = 0; resource_at(w, place) == resource && step < w->pattern->steps;
             step++) {
            uint32_t far = w->in ? n - ovl_pattern_from(w->pattern, place, step)
                                 : ovl_pattern_to(w->pattern, place, step);
            if (far % n) {
                *leaving += resource_at(w, (place + far) % n) != resource;
                ++*all;
            }
        }
    }
}

/* What the transfer from `from` to `to` loads. What members load together is spread over the
 * transfers that leave the resource, such that it carries the same bytes. */
static uint64_t rate_of(const way *w, uint32_t from, uint32_t to)
{
    uint32_t mine = w->in ? to : from, other = w->in ? from : to;
    ovl_id resource = resource_at(w, mine);
    uint64_t leaving, all;
    if (!w->demand->once || resource == OVL_NONE) {
        return w->demand->rate;
    }
    count_transfers(w, resource, &leaving, &all);
    if (leaving > 0 && resource_at(w, other) == resource) {
        return 0;
    }
    ovl_uwide whole = (ovl_uwide)w->demand->rate * w->pattern->moves;
    whole /= leaving ? leaving : all;
    return whole > UINT64_MAX ? UINT64_MAX : (uint64_t)whole;
}

static void add(ovl_demand *list, uint8_t *n, uint16_t port, uint64_t rate)
{
    if (rate > 0) {
        assert(*n < OVL_STEP_DEMANDS);
        list[(*n)++] = (ovl_demand){.port = port, .rate = rate};
    }
}

static uint32_t piece_of(const ovl_pattern *p, uint32_t place, uint32_t step)
{
    return p->kind == OVL_PATTERN_CHAIN ? step - place_in_chain(p, place) : step;
}

/* What member number `place` demands in a phase of collective number k, of which the first member
 * has this. */
static const ovl_cost *member_phase(const ovl_program *p, const ovl_comm *comm, uint32_t place,
                                    uint32_t k, uint32_t number, const ovl_cost *first)
{
    if (!ovl_kind_of(p, first)->by_member) {
        return first;
    }
    uint32_t rank = p->members[comm->first_member + place];
    const ovl_rank *r = &p->ranks[rank];
    uint32_t local = ovl_collective_op(p, comm, place, k) - r->first_op;
    return ovl_phase_of(p, ovl_op_cost(p, rank, ovl_code_op(&p->codes[r->code], local)), number);
}

void ovl_step_cost_of(const ovl_program *p, const ovl_comm *comm, const ovl_cost *cost,
                      const ovl_pattern *pattern, uint32_t place, uint32_t step, uint32_t k,
                      ovl_step_cost *out)
{
    uint32_t to = (place + ovl_pattern_to(pattern, place, step)) % pattern->n;
    uint32_t number = step / pattern->steps, in_phase = step % pattern->steps;
    uint32_t piece = piece_of(pattern, place, in_phase);
    const ovl_cost *phase = ovl_phase_of(p, cost, number);
    out->cost = (ovl_cost){.compute = phase->compute};
    out->cost.latency =
        (ovl_time)ovl_pattern_part((uint64_t)phase->latency, pattern->steps, in_phase);
    out->cost.work = (ovl_time)ovl_pattern_part((uint64_t)phase->work, pattern->moves, piece);
    out->kind = *ovl_kind_of(p, phase);
    out->kind.n_demands = out->kind.n_peer = 0;
    for (uint32_t side = 0; side < 2; side++) { /* the sender, then the receiver */
        const ovl_cost_kind *of =
            ovl_kind_of(p, member_phase(p, comm, side ? to : place, k, number, phase));
        for (uint32_t i = 0; i < of->n_demands; i++) {
            const ovl_demand *d = &p->demands[of->first_demand + i];
            bool hbm = d->port == OVL_PORT_HBM;
            way w = {p, comm, pattern, d, side == 1};
            if (hbm || (d->port % 2 == 0) == (side == 1)) {
                uint64_t half = side ? d->rate / 2 : d->rate - d->rate / 2;
                add(side ? out->peer : out->own, side ? &out->kind.n_peer : &out->kind.n_demands,
                    d->port, hbm ? half : rate_of(&w, place, to));
            }
        }
    }
}
