/* Counters of resources that several ranks share, such as the NIC of a node: each is shown once, in
 * a process of its own, with the traffic of all its ranks. A counter of each rank would show the
 * load of a collective that all of them put on it together as often as there are ranks. */
#include "tools/trace_parts.h"

/* Bytes per second that an activity at isolated speed moves over a resource. */
typedef struct use {
    uint32_t series;
    uint64_t rate;
} use;

typedef struct sharing {
    ovl_trace *t;
    const ovl_program *p;
    uint32_t *series; /* [n_resources] or OVL_NONE where it is not shown here */
    uint32_t *use_at; /* [n series] */
    OVL_VEC(use) uses;
    ovl_changes list;
} sharing;

/* --- Which resources --- */

uint32_t *ovl_trace_sharers(const ovl_program *p, ovl_arena *arena)
{
    uint32_t *sharers = OVL_NEW_ARRAY(arena, uint32_t, p->n_resources);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        for (uint32_t port = 0; port < p->n_ports; port++) {
            ovl_id resource = p->rank_ports[p->ranks[r].first_port + port];
            if (resource != OVL_NONE) {
                sharers[resource]++;
            }
        }
    }
    return sharers;
}

/* Numbers the shared resources that a written rank has; gives how many. */
static uint32_t find_series(sharing *s)
{
    uint32_t n = 0;
    s->series = OVL_NEW_ARRAY(s->t->scratch, uint32_t, s->p->n_resources);
    memset(s->series, 0xff, s->p->n_resources * sizeof *s->series); /* OVL_NONE */
    for (uint32_t r = 0; r < s->p->n_ranks; r++) {
        for (uint32_t port = 0; s->t->job->ranks[r] && port < s->p->n_ports; port++) {
            ovl_id resource = s->p->rank_ports[s->p->ranks[r].first_port + port];
            if (resource != OVL_NONE && s->t->sharers[resource] > 1 &&
                s->series[resource] == OVL_NONE) {
                s->series[resource] = n++;
            }
        }
    }
    return n;
}

/* "nic.out 3": the name and which one. */
static const char **name_series(const sharing *s, uint32_t n)
{
    const char **names = OVL_NEW_ARRAY(s->t->scratch, const char *, n);
    for (uint32_t i = 0; i < s->p->n_resources; i++) {
        if (s->series[i] != OVL_NONE) {
            const ovl_resource *r = &s->p->resources[i];
            names[s->series[i]] = ovl_arena_printf(s->t->scratch, "%s %" PRIu32,
                                                   OVL_NAME(s->p->names, r->name), r->instance);
        }
    }
    return names;
}

/* --- What an activity loads: the members that share a resource once together, or each on top of
 * the others (sim/comm.c) */

static void add_use(sharing *s, uint32_t series, const ovl_demand *d)
{
    uint32_t at = s->use_at[series];
    if (at < s->uses.len && s->uses.data[at].series == series) {
        s->uses.data[at].rate += d->once ? 0 : d->rate;
        return;
    }
    s->use_at[series] = s->uses.len;
    ovl_vec_push(&s->uses, (use){series, d->rate});
}

static void add_uses(sharing *s, uint32_t rank, uint32_t first, uint32_t n)
{
    const ovl_id *ports = &s->p->rank_ports[s->p->ranks[rank].first_port];
    for (uint32_t i = first; i < first + n; i++) {
        const ovl_demand *d = &s->p->demands[i];
        if (ports[d->port] != OVL_NONE && s->series[ports[d->port]] != OVL_NONE) {
            add_use(s, s->series[ports[d->port]], d);
        }
    }
}

/* Which phase of a cost this is, from 0. */
static uint32_t number_of(const ovl_program *p, const ovl_cost *cost, const ovl_cost *phase)
{
    uint32_t number = 0;
    for (; cost && cost != phase; cost = ovl_next_phase(p, cost)) {
        number++;
    }
    return number;
}

/* Of a collective whose members demand each its own: the uses of all in a phase. */
static void add_members(sharing *s, const ovl_comm *comm, uint32_t k, uint32_t phase)
{
    for (uint32_t i = 0; i < comm->n_members; i++) {
        uint32_t member = s->p->members[comm->first_member + i];
        const ovl_op *o = ovl_op_of(s->p, ovl_collective_op(s->p, comm, i, k));
        const ovl_cost *cost = ovl_phase_of(s->p, ovl_op_cost(s->p, member, o), phase);
        const ovl_cost_kind *kind = ovl_kind_of(s->p, cost);
        add_uses(s, member, kind->first_demand, kind->n_demands);
    }
}

/* The uses of the activity whose segments are kept under `op`, in a phase. */
static void find_uses(sharing *s, uint32_t rank, uint32_t op, const ovl_cost *phase)
{
    const ovl_op *o = ovl_op_of(s->p, op);
    const ovl_cost_kind *kind = ovl_kind_of(s->p, phase);
    s->uses.len = 0;
    if (o->kind != OVL_COLLECTIVE) {
        add_uses(s, rank, kind->first_demand, kind->n_demands);
        if (o->kind == OVL_SEND) {
            uint32_t peer = ovl_op_rank(s->p, s->p->partner[op]);
            add_uses(s, peer, kind->first_peer, kind->n_peer);
        }
        return;
    }
    const ovl_comm *comm = ovl_rank_comm(s->p, rank, o->comm);
    if (kind->by_member) {
        const ovl_rank *r = &s->p->ranks[rank];
        uint32_t k = s->p->codes[r->code].collectives_before[op - r->first_op];
        add_members(s, comm, k, number_of(s->p, ovl_op_cost(s->p, rank, o), phase));
        return;
    }
    for (uint32_t i = 0; i < comm->n_members; i++) {
        add_uses(s, s->p->members[comm->first_member + i], kind->first_demand, kind->n_demands);
    }
}

static void add_activity(sharing *s, uint32_t rank, uint32_t op, uint32_t segment)
{
    const ovl_timeline *line = s->t->job->timeline;
    const ovl_cost *cost = ovl_op_cost(s->p, rank, ovl_op_of(s->p, op)), *known = NULL;
    ovl_time end = line->end[op];
    ovl_phase_walk walk = ovl_phases_begin(line, op, cost, line->start[op], end);
    for (; segment < line->n_segments && line->segments[segment].op == op; segment++) {
        const ovl_segment *g = &line->segments[segment];
        ovl_phases_reach(s->p, line, end, g->from, &walk);
        if (walk.phase != known) {
            known = walk.phase;
            find_uses(s, rank, op, known);
        }
        for (uint32_t i = 0; i < s->uses.len; i++) {
            ovl_trace_use(&s->list, s->uses.data[i].series, g, s->uses.data[i].rate);
        }
    }
}

static void name_process(ovl_trace *t)
{
    uint64_t thread = t->rank * t->stride;
    ovl_trace_metadata(t, "process_name", thread, "shared links");
    ovl_trace_sort_index(t, "process_sort_index", thread, t->rank);
}

void ovl_trace_shared(ovl_trace *t)
{
    const ovl_timeline *line = t->job->timeline;
    sharing s = {.t = t, .p = t->job->program};
    uint32_t n = find_series(&s);
    if (n == 0) {
        return;
    }
    s.use_at = OVL_NEW_ARRAY(t->scratch, uint32_t, n);
    for (uint32_t i = 0; i < line->n_segments; i++) {
        uint32_t op = line->segments[i].op;
        if (i == 0 || line->segments[i - 1].op != op) {
            add_activity(&s, ovl_op_rank(s.p, op), op, i);
        }
    }
    t->rank = s.p->n_ranks;
    name_process(t);
    ovl_trace_traffic(t, &s.list, name_series(&s, n), n);
    ovl_vec_free(&s.uses);
}
