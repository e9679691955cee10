#include "sim/explain.h"

#include "sim/degraded.h"
#include "sim/steps.h"

#include <stdlib.h>

#define MOST_BESIDE 3 /* names said of those beside */

typedef struct explaining {
    bool by_name; /* few operations, of which more is told */
    ovl_causes *c;
    const ovl_program *p;
    const ovl_timeline *t;
    ovl_arena *arena;
    ovl_resource_uses uses; /* of resources that held somebody back */
    ovl_held_list held;     /* when the bound that is looked at did, where that matters */
    OVL_VEC(ovl_explained) list;
    OVL_VEC(ovl_bound_on) bounds;
} explaining;

/* --- Who was beside --- */

static void collect_uses(explaining *e)
{
    ovl_arena scratch = {0};
    bool *holds = OVL_NEW_ARRAY(&scratch, bool, e->p->n_resources + e->p->n_ranks);
    memset(holds, e->by_name, e->p->n_resources * sizeof *holds);
    for (uint32_t i = 0; i < e->t->n_limits; i++) {
        ovl_id resource = ovl_limit_resource(e->c, &e->t->limits[i]);
        if (resource != OVL_NONE && e->t->limits[i].lost > 0) {
            holds[resource] = true;
        }
    }
    const uint32_t *sharers = ovl_resource_sharers(e->p, &scratch);
    ovl_resource_uses all = {0};
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        all.len = 0;
        ovl_uses_of_rank(e->c, sharers, rank, OVL_SHARED_OR_NOT, &all);
        for (uint32_t i = 0; i < all.len; i++) {
            if (holds[all.data[i].resource]) {
                ovl_vec_push(&e->uses, all.data[i]);
            }
        }
    }
    ovl_uses_sort(&e->uses);
    ovl_vec_free(&all);
    ovl_arena_free(&scratch);
}

static bool among(const ovl_id *names, uint32_t n, ovl_id name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (names[i] == name) {
            return true;
        }
    }
    return false;
}

typedef struct names_beside {
    ovl_id names[64];
    uint32_t n;
} names_beside;

/* Who used a resource between two moments, but for `op` itself; in order of their coming. */
static void add_beside(const explaining *e, ovl_id resource, uint32_t op, ovl_time from,
                       ovl_time to, names_beside *list)
{
    for (uint32_t i = ovl_uses_first(&e->uses, resource);
         i < e->uses.len && e->uses.data[i].resource == resource && e->uses.data[i].from < to;
         i++) {
        const ovl_resource_use *u = &e->uses.data[i];
        bool other = u->op != op || u->like > 1;
        if (other && u->to > from && list->n < OVL_COUNT(list->names) &&
            !among(list->names, list->n, u->name)) {
            list->names[list->n++] = u->name;
        }
    }
}

/* "b, c and 2 more": who used it while `op` did. */
static const char *beside(explaining *e, ovl_id resource, uint32_t op)
{
    names_beside list = {.n = 0};
    const char *text = "";
    for (uint32_t i = ovl_uses_first(&e->uses, resource);
         i < e->uses.len && e->uses.data[i].resource == resource; i++) {
        const ovl_resource_use *u = &e->uses.data[i];
        if (u->op == op) {
            add_beside(e, resource, op, u->from, u->to, &list);
        }
    }
    for (uint32_t i = 0; i < OVL_MIN(list.n, MOST_BESIDE); i++) {
        text = ovl_arena_printf(e->arena, "%s%s%s", text, i ? ", " : "",
                                ovl_names_text(e->p->names, list.names[i]));
    }
    return list.n <= MOST_BESIDE
               ? (list.n ? text : NULL)
               : ovl_arena_printf(e->arena, "%s and %" PRIu32 " more", text, list.n - MOST_BESIDE);
}

/* --- One operation --- */

static int by_lost(const void *x, const void *y)
{
    const ovl_bound_on *a = x, *b = y;
    if (a->lost != b->lost) {
        return a->lost < b->lost ? 1 : -1;
    }
    return strcmp(a->name, b->name);
}

static void find_held(explaining *e, ovl_id resource, uint32_t carrier)
{
    e->held.len = 0;
    if (e->by_name || e->p->n_changes) {
        ovl_held_find(e->c, &e->uses, resource, carrier, &e->held);
    }
}

/* What of the loss is due to faults of the resource, in every phase that uses it. Somebody who was
 * alone lost nothing else. */
static void find_degraded(explaining *e, ovl_id resource, uint32_t carrier, ovl_bound_on *bound)
{
    OVL_VEC(ovl_degraded) list = {0};
    for (uint32_t i = ovl_uses_first(&e->uses, resource);
         i < e->uses.len && e->uses.data[i].resource == resource && e->p->n_changes; i++) {
        if (e->uses.data[i].op == carrier) {
            uint32_t n;
            const ovl_degraded *of_use = ovl_degraded_find(e->c, &e->uses.data[i], e->arena, &n);
            for (uint32_t k = 0; k < n; k++) {
                ovl_vec_push(&list, of_use[k]);
            }
        }
    }
    bound->n_degraded = list.len;
    bound->degraded = ovl_vec_freeze(&list, e->arena);
    bound->lost_degraded = bound->beside ? ovl_degraded_part(bound, &e->held) : bound->lost;
}

/* --- What else was full --- */

/* A moment at which it was slowest while one bound held it; OVL_NEVER: there is none. */
static ovl_time slowest(const explaining *e)
{
    ovl_time at = OVL_NEVER;
    double least = 1;
    for (uint32_t i = 0; i < e->held.len; i++) {
        if (e->held.data[i].rate < least) {
            least = e->held.data[i].rate;
            at = e->held.data[i].from;
        }
    }
    return at;
}

static const char *full_too(explaining *e, uint32_t op, uint32_t carrier, ovl_id bound)
{
    const ovl_id *ports = &e->p->rank_ports[e->p->ranks[e->c->rank_of[op]].first_port];
    ovl_time at = slowest(e);
    const char *text = NULL;
    for (uint32_t i = 0; i < e->p->n_ports && at != OVL_NEVER; i++) {
        if (ports[i] != OVL_NONE && ports[i] != bound &&
            ovl_held_full(e->c, &e->uses, ports[i], carrier, at)) {
            text =
                ovl_arena_printf(e->arena, "%s%s%s %" PRIu32, text ? text : "", text ? ", " : "",
                                 ovl_used_name(e->p, ports[i]), ovl_used_instance(e->p, ports[i]));
        }
    }
    return text;
}

static void find_bounds(explaining *e, uint32_t op, ovl_explained *out)
{
    uint32_t carrier = ovl_limits_carrier(e->c, op);
    e->bounds.len = 0;
    for (uint32_t i = ovl_limits_first(e->t, carrier);
         i < e->t->n_limits && e->t->limits[i].op == carrier; i++) {
        const ovl_limit *l = &e->t->limits[i];
        ovl_id resource = ovl_limit_resource(e->c, l);
        ovl_bound_on bound = {.name = ovl_limit_name(e->p, l->bound),
                              .instance = OVL_NONE,
                              .time = l->time,
                              .lost = l->lost};
        if (resource != OVL_NONE) {
            bound.instance = ovl_used_instance(e->p, resource);
            bound.beside = beside(e, resource, carrier);
            find_held(e, resource, carrier);
            find_degraded(e, resource, carrier, &bound);
            bound.full_too = e->by_name && l->lost > 0 ? full_too(e, op, carrier, resource) : NULL;
        }
        ovl_vec_push(&e->bounds, bound);
        out->lost += l->lost;
    }
    out->n_bounds = e->bounds.len;
    if (e->bounds.len) {
        qsort(e->bounds.data, e->bounds.len, sizeof *e->bounds.data, by_lost);
        ovl_bound_on *own = OVL_NEW_ARRAY(e->arena, ovl_bound_on, e->bounds.len);
        memcpy(own, e->bounds.data, e->bounds.len * sizeof *own);
        out->bounds = own;
    }
}

static const char *why_arrived(explaining *e, uint32_t op)
{
    ovl_cause cause;
    bool held = ovl_causes_binding(e->c, OVL_TRAIL(op, OVL_ARRIVED), &cause);
    return held && e->t->arrive[op] > 0 ? ovl_cause_text(e->c, &cause, e->arena) : NULL;
}

/* Whoever arrived when it could start at last. */
static const char *why_started(const explaining *e, uint32_t op)
{
    const ovl_op *o = ovl_causes_op(e->c, op);
    if (o->kind != OVL_COLLECTIVE || e->t->start[op] == e->t->arrive[op]) {
        return NULL;
    }
    uint32_t k = ovl_causes_collective(e->c, op);
    for (uint32_t i = e->c->first_member[k]; i < e->c->first_member[k + 1]; i++) {
        uint32_t member = e->c->member_ops[i];
        if (e->t->arrive[member] == e->t->start[op]) {
            return ovl_arena_printf(e->arena, "rank %" PRIu32 " arrived last",
                                    ovl_rank_number(e->p, e->c->rank_of[member]));
        }
    }
    return NULL;
}

static const char *kind_of(const ovl_op *o)
{
    return o->kind == OVL_COLLECTIVE ? ovl_coll_name((ovl_coll)o->coll)
                                     : ovl_op_kind_name((ovl_op_kind)o->kind);
}

static const char *stream_of(const explaining *e, uint32_t rank, uint32_t op)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    const ovl_op *placed = ovl_causes_op(e->c, op - ovl_causes_op(e->c, op)->behind);
    return placed->stream == OVL_NO_STREAM
               ? "host"
               : ovl_names_text(e->p->names, code->streams[placed->stream]);
}

/* --- Phases --- */

/* "nic.out, nic.in": what the rank loads in a phase. */
static const char *loaded_by(const explaining *e, uint32_t rank, const ovl_cost *phase)
{
    const ovl_cost_kind *kind = ovl_kind_of(e->p, phase);
    const ovl_id *ports = &e->p->rank_ports[e->p->ranks[rank].first_port];
    const char *text = "";
    for (uint32_t i = kind->first_demand; i < kind->first_demand + kind->n_demands; i++) {
        ovl_id resource = ports[e->p->demands[i].port];
        if (resource != OVL_NONE) {
            text = ovl_arena_printf(e->arena, "%s%s%s", text, *text ? ", " : "",
                                    ovl_used_name(e->p, resource));
        }
    }
    return *text ? text : "nothing";
}

static void describe_phases(explaining *e, uint32_t rank, uint32_t carrier, const ovl_cost *cost,
                            ovl_explained *out)
{
    uint32_t n = ovl_count_phases(e->p, cost);
    if (n < 2) {
        return;
    }
    ovl_explained_phase *phases = OVL_NEW_ARRAY(e->arena, ovl_explained_phase, n);
    ovl_phase_walk w = ovl_phases_begin(e->t, carrier, cost, out->start, out->end);
    for (; w.phase; ovl_phases_next(e->p, e->t, out->end, &w)) {
        phases[out->n_phases++] = (ovl_explained_phase){w.from, w.to, w.phase->latency,
                                                        w.phase->work, loaded_by(e, rank, w.phase)};
    }
    out->phases = phases;
}

static ovl_explained describe(explaining *e, uint32_t rank, uint32_t count, uint32_t op)
{
    const ovl_op *o = ovl_causes_op(e->c, op);
    uint32_t carrier = ovl_limits_carrier(e->c, op);
    const ovl_cost *cost = ovl_op_cost(e->p, e->c->rank_of[carrier], ovl_causes_op(e->c, carrier));
    ovl_explained out = {.name = ovl_names_text(e->p->names, ovl_causes_name(e->c, op)),
                         .kind = kind_of(o),
                         .stream = stream_of(e, rank, op),
                         .rank = ovl_rank_number(e->p, rank),
                         .count = count,
                         .issue = e->t->issue[op],
                         .arrive = e->t->arrive[op],
                         .start = e->t->start[op],
                         .end = e->t->end[op],
                         .latency = ovl_cost_latency(e->p, cost),
                         .work = ovl_cost_work(e->p, cost)};
    find_bounds(e, op, &out);
    describe_phases(e, rank, carrier, cost, &out);
    return out;
}

/* --- All that were asked for --- */

static void of_rank(explaining *e, uint32_t rank, uint32_t count, ovl_id name)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    ovl_op_range step = ovl_last_step(code);
    for (uint32_t i = step.first; i < step.end; i++) {
        uint32_t op = e->p->ranks[rank].first_op + i;
        if (name != OVL_NONE && code->name[i] != name) {
            continue;
        }
        ovl_explained out = describe(e, rank, count, op);
        if (name == OVL_NONE && out.lost == 0) {
            continue;
        }
        out.arrived = why_arrived(e, op);
        out.started = why_started(e, op);
        ovl_vec_push(&e->list, out);
    }
}

static int by_most_lost(const void *x, const void *y)
{
    const ovl_explained *a = x, *b = y;
    if (a->lost != b->lost) {
        return a->lost < b->lost ? 1 : -1;
    }
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return a->start != b->start ? (a->start < b->start ? -1 : 1) : strcmp(a->name, b->name);
}

const ovl_explained *ovl_explain(ovl_causes *causes, const ovl_classes *classes, const char *name,
                                 uint32_t rank, ovl_arena *arena, uint32_t *n)
{
    explaining e = {.by_name = name != NULL,
                    .c = causes,
                    .p = causes->program,
                    .t = causes->timeline,
                    .arena = arena};
    ovl_id id = name ? ovl_names_find(e.p->names, name) : OVL_NONE;
    collect_uses(&e);
    if (rank != OVL_NONE) {
        of_rank(&e, rank, 1, id);
    } else {
        for (uint32_t i = 0; i < classes->n; i++) {
            of_rank(&e, classes->rank[i], classes->count[i], id);
        }
    }
    if (!name && e.list.len) {
        qsort(e.list.data, e.list.len, sizeof *e.list.data, by_most_lost);
    }
    ovl_vec_free(&e.uses);
    ovl_vec_free(&e.held);
    ovl_vec_free(&e.bounds);
    *n = e.list.len;
    return ovl_vec_freeze(&e.list, arena);
}
