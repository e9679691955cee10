/*
 * unfold.c - the timeline of the whole program from that of the folded one.
 */
#include "sim/fold_parts.h"
#include "sim/vec.h"

#include <stdlib.h>

typedef struct carrier {
    uint32_t rank, op;
} carrier;

typedef struct unfolding {
    const ovl_program *p, *whole;
    const ovl_fold *fold;
    const ovl_timeline *t;
    ovl_arena *arena;
    uint32_t *member_at, *member; /* by class: its ranks, ascending */
    carrier *carriers;            /* room for one of each rank */
} unfolding;

static void list_members(unfolding *u, ovl_arena *scratch)
{
    uint32_t n = u->whole->n_ranks;
    u->member_at = OVL_NEW_ARRAY(scratch, uint32_t, u->p->n_ranks + 2);
    u->member = OVL_NEW_ARRAY(scratch, uint32_t, n);
    u->carriers = OVL_NEW_ARRAY(scratch, carrier, n);
    for (uint32_t i = 0; i < u->p->n_ranks; i++) {
        u->member_at[i + 2] = u->member_at[i + 1] + u->fold->count[i];
    }
    for (uint32_t r = 0; r < n; r++) {
        u->member[u->member_at[u->fold->ranks.of[r] + 1]++] = r;
    }
}

static const ovl_time *expand(const unfolding *u, const ovl_time *times)
{
    ovl_time *all = OVL_NEW_ARRAY(u->arena, ovl_time, u->whole->n_ops);
    for (uint32_t r = 0; r < u->whole->n_ranks; r++) {
        const ovl_rank *from = &u->p->ranks[u->fold->ranks.of[r]];
        uint32_t n = u->p->codes[from->code].n_ops;
        if (n) {
            memcpy(all + u->whole->ranks[r].first_op, times + from->first_op, n * sizeof *times);
        }
    }
    return all;
}

/* Lists as u->carriers the operations of the whole that `op` stands for and that carry what it says
 * of an activity: of a collective only the one at the first place. Gives how many. */
static uint32_t list_carriers(const unfolding *u, uint32_t op)
{
    uint32_t of = ovl_op_rank(u->p, op), local = op - u->p->ranks[of].first_op, n = 0;
    const ovl_op *o = ovl_code_op(&u->p->codes[u->p->ranks[of].code], local);
    for (uint32_t i = u->member_at[of]; i < u->member_at[of + 1]; i++) {
        uint32_t rank = u->member[i];
        if (o->kind != OVL_COLLECTIVE || ovl_rank_place(u->whole, rank, o->comm) == 0) {
            u->carriers[n++] = (carrier){rank, u->whole->ranks[rank].first_op + local};
        }
    }
    return n;
}

/* --- What held operations back --- */

/* The lower of `lowest` and the resource of a class that a rank loads by these demands. */
static uint32_t loaded(const unfolding *u, uint32_t rank, uint32_t first, uint32_t n,
                       uint32_t class, uint32_t lowest)
{
    const ovl_program *p = u->whole;
    for (uint32_t i = first; i < first + n; i++) {
        ovl_id resource = p->rank_ports[p->ranks[rank].first_port + p->demands[i].port];
        if (p->demands[i].rate && resource != OVL_NONE &&
            u->fold->resources.of[resource] == class) {
            lowest = OVL_MIN(lowest, resource);
        }
    }
    return lowest;
}

/* The same of what the members of a collective load in any of its phases. */
static uint32_t loaded_together(const unfolding *u, const ovl_comm *comm, const ovl_cost *cost,
                                uint32_t class)
{
    uint32_t lowest = OVL_NONE;
    for (; cost; cost = ovl_next_phase(u->whole, cost)) {
        const ovl_cost_kind *kind = ovl_kind_of(u->whole, cost);
        for (uint32_t i = 0; i < comm->n_members; i++) {
            lowest = loaded(u, u->whole->members[comm->first_member + i], kind->first_demand,
                            kind->n_demands, class, lowest);
        }
    }
    return lowest;
}

/* Of several resources of one class that an activity loads all bound it alike: the lowest is told.
 */
static uint32_t bound_of(const unfolding *u, const carrier *c, uint32_t class)
{
    const ovl_op *o = ovl_op_of(u->whole, c->op);
    const ovl_cost *cost = ovl_op_cost(u->whole, c->rank, o);
    const ovl_cost_kind *kind = ovl_kind_of(u->whole, cost);
    if (o->kind == OVL_COLLECTIVE) {
        return loaded_together(u, ovl_rank_comm(u->whole, c->rank, o->comm), cost, class);
    }
    uint32_t lowest = loaded(u, c->rank, kind->first_demand, kind->n_demands, class, OVL_NONE);
    return o->kind != OVL_SEND ? lowest
                               : loaded(u, ovl_op_rank(u->whole, u->whole->partner[c->op]),
                                        kind->first_peer, kind->n_peer, class, lowest);
}

static int compare_limits(const void *a, const void *b)
{
    const ovl_limit *x = a, *y = b;
    if (x->op != y->op) {
        return x->op < y->op ? -1 : 1;
    }
    return (x->bound > y->bound) - (x->bound < y->bound);
}

static void expand_limits(const unfolding *u, ovl_timeline *whole)
{
    OVL_VEC(ovl_limit) list = {0};
    for (uint32_t i = 0; i < u->t->n_limits; i++) {
        ovl_limit limit = u->t->limits[i];
        uint32_t n = list_carriers(u, limit.op), class = limit.bound;
        for (uint32_t k = 0; k < n; k++) {
            limit.op = u->carriers[k].op;
            limit.bound = class < u->p->n_resources ? bound_of(u, &u->carriers[k], class) : class;
            ovl_vec_push(&list, limit);
        }
    }
    if (list.len) {
        qsort(list.data, list.len, sizeof *list.data, compare_limits);
    }
    whole->n_limits = list.len;
    whole->limits = ovl_vec_freeze(&list, u->arena);
}

/* --- Rates --- */

static int compare_segments(const void *a, const void *b)
{
    const ovl_segment *x = a, *y = b;
    if (x->op != y->op) {
        return x->op < y->op ? -1 : 1;
    }
    return (x->from > y->from) - (x->from < y->from);
}

static void expand_segments(const unfolding *u, ovl_timeline *whole)
{
    OVL_VEC(ovl_segment) list = {0};
    for (uint32_t i = 0; i < u->t->n_segments; i++) {
        ovl_segment segment = u->t->segments[i];
        uint32_t n = list_carriers(u, segment.op);
        for (uint32_t k = 0; k < n; k++) {
            segment.op = u->carriers[k].op;
            ovl_vec_push(&list, segment);
        }
    }
    if (list.len) {
        qsort(list.data, list.len, sizeof *list.data, compare_segments);
    }
    whole->n_segments = list.len;
    whole->segments = ovl_vec_freeze(&list, u->arena);
}

/* --- Phases --- */

static void expand_phase_ends(const unfolding *u, ovl_timeline *whole)
{
    OVL_VEC(ovl_phase_end) list = {0};
    for (uint32_t i = 0; i < u->t->n_phase_ends; i++) {
        ovl_phase_end end = u->t->phase_ends[i];
        uint32_t n = list_carriers(u, end.op);
        for (uint32_t k = 0; k < n; k++) {
            end.op = u->carriers[k].op;
            ovl_vec_push(&list, end);
        }
    }
    if (list.len) {
        qsort(list.data, list.len, sizeof *list.data, ovl_phase_end_order);
    }
    whole->n_phase_ends = list.len;
    whole->phase_ends = ovl_vec_freeze(&list, u->arena);
}

/* --- The rest --- */

/* What happens to all of a class happens in the order of their numbers. */
static void expand_trail(const unfolding *u, ovl_timeline *whole)
{
    OVL_VEC(uint64_t) trail = {0};
    for (uint32_t i = 0; i < u->t->n_trail; i++) {
        uint32_t op = OVL_TRAIL_OP(u->t->trail[i]), of = ovl_op_rank(u->p, op);
        uint32_t local = op - u->p->ranks[of].first_op;
        for (uint32_t k = u->member_at[of]; k < u->member_at[of + 1]; k++) {
            uint32_t first = u->whole->ranks[u->member[k]].first_op;
            ovl_vec_push(&trail, OVL_TRAIL(first + local, OVL_TRAIL_KIND(u->t->trail[i])));
        }
    }
    whole->n_trail = trail.len;
    whole->trail = ovl_vec_freeze(&trail, u->arena);
}

static void expand_ranks(const unfolding *u, ovl_timeline *whole)
{
    ovl_rank_times *ranks = OVL_NEW_ARRAY(u->arena, ovl_rank_times, u->whole->n_ranks);
    for (uint32_t r = 0; r < u->whole->n_ranks; r++) {
        ranks[r] = u->t->ranks[u->fold->ranks.of[r]];
    }
    whole->ranks = ranks;
    whole->deciding_rank = u->fold->rank[u->t->deciding_rank];
}

void ovl_unfold(const ovl_program *folded, const ovl_timeline *timeline, ovl_arena *arena,
                ovl_timeline *whole)
{
    ovl_arena scratch = {0};
    unfolding u = {.p = folded,
                   .whole = folded->fold->whole,
                   .fold = folded->fold,
                   .t = timeline,
                   .arena = arena};
    list_members(&u, &scratch);
    *whole = *timeline;
    ovl_unmeasured *unmeasured = OVL_NEW_ARRAY(arena, ovl_unmeasured, timeline->n_unmeasured);
    for (uint32_t i = 0; i < timeline->n_unmeasured; i++) {
        unmeasured[i] = timeline->unmeasured[i];
    }
    whole->unmeasured = unmeasured;
    whole->issue = expand(&u, timeline->issue);
    whole->arrive = expand(&u, timeline->arrive);
    whole->start = expand(&u, timeline->start);
    whole->end = expand(&u, timeline->end);
    whole->landed = timeline->landed ? expand(&u, timeline->landed) : NULL;
    expand_ranks(&u, whole);
    expand_limits(&u, whole);
    expand_segments(&u, whole);
    expand_phase_ends(&u, whole);
    expand_trail(&u, whole);
    ovl_arena_free(&scratch);
}
