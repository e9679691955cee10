#include "sim/build.h"
#include "sim/expand_parts.h"

/* Ranks of one code whose collectives have the same sizes (and, in chains, places) keep one code.
 */
typedef struct kind {
    uint32_t code; /* of the old program */
    uint32_t rank; /* the first of the kind */
    OVL_VEC(uint32_t) ranks;
} kind;

typedef struct expansion {
    const ovl_program *p;
    uint32_t members;
    ovl_arena scratch;
    ovl_builder b;
    OVL_VEC(kind) kinds;
    uint32_t *kind_of; /* [ranks] */
    uint32_t *ring_of; /* [comms] the communicator of its steps, OVL_NONE: it has none */
    uint32_t *relaid;  /* [old costs] of a cost per rank: its table in order of ranks */
    ovl_names kind_keys;
    ovl_id no_cost;
    /* Of the code at work: */
    const kind *at;
    const ovl_code *old;
    ovl_id code;
    uint16_t *ring_slot;    /* [slots] */
    uint32_t *first, *last; /* [old ops + 1] new operations */
} expansion;

static const ovl_comm *comm_of(const expansion *x, uint32_t rank, uint16_t slot)
{
    return ovl_rank_comm(x->p, rank, slot);
}

static bool is_small(const expansion *x, const ovl_comm *comm)
{
    return comm->n_members >= 2 && comm->n_members <= x->members;
}

static bool in_steps(const expansion *x, uint32_t rank, const ovl_op *op)
{
    return op->kind == OVL_COLLECTIVE && !op->uneven && is_small(x, comm_of(x, rank, op->comm));
}

static ovl_pattern pattern_of(const expansion *x, uint32_t rank, const ovl_op *op)
{
    return ovl_pattern_of(op, comm_of(x, rank, op->comm)->n_members,
                          ovl_count_phases(x->p, ovl_op_cost(x->p, rank, op)));
}

/* --- How large it gets --- */

/* A batch, its parts, and the collective. */
static uint64_t size_of(const expansion *x, uint32_t rank, const ovl_op *op)
{
    if (!in_steps(x, rank, op)) {
        return 1;
    }
    ovl_pattern pattern = pattern_of(x, rank, op);
    return pattern.kind == OVL_PATTERN_CHAIN ? 1 + 4 * (uint64_t)pattern.moves
                                             : 1 + 3 * (uint64_t)ovl_pattern_steps(&pattern);
}

static bool check_size(const expansion *x, ovl_errs *errs)
{
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < x->p->n_ranks; rank++) {
        const ovl_code *code = &x->p->codes[x->p->ranks[rank].code];
        for (uint32_t i = 0; i < code->n_ops; i++) {
            sum += size_of(x, rank, ovl_code_op(code, i));
            if (sum > OVL_EXPAND_OPS) {
                ovl_error(errs, OVL_E_INPUT, ovl_code_op(code, i)->mark,
                          "with collectives of up to %" PRIu32
                          " members in steps there are more than %u operations over all ranks; "
                          "expand smaller ones only, or simulate fewer ranks or layers",
                          x->members, OVL_EXPAND_OPS);
                return false;
            }
        }
    }
    return true;
}

/* --- Kinds of ranks --- */

static bool is_chain(const ovl_op *op)
{
    return op->coll == OVL_BROADCAST || op->coll == OVL_REDUCE;
}

/* Size and place in the communicator of each slot, and the phases of costs that are per rank, as
 * far as they decide on steps. */
static const char *key_of(expansion *x, uint32_t rank)
{
    const ovl_code *code = &x->p->codes[x->p->ranks[rank].code];
    char *key = ovl_arena_printf(&x->scratch, "%" PRIu32, x->p->ranks[rank].code);
    for (uint16_t slot = 0; slot < code->n_slots; slot++) {
        bool any = false, chains = false;
        uint64_t phases = 0;
        for (uint32_t i = code->collectives.at[slot]; i < code->collectives.at[slot + 1]; i++) {
            const ovl_op *op = ovl_code_op(code, code->collectives.item[i]);
            bool own = in_steps(x, rank, op);
            any |= own;
            chains |= is_chain(op);
            phases = own && op->per_rank ? ovl_stored_mix(phases, pattern_of(x, rank, op).phases)
                                         : phases;
        }
        if (any) {
            key = ovl_arena_printf(&x->scratch, "%s %" PRIu32 ":%" PRIu32 ":%" PRIx64, key,
                                   comm_of(x, rank, slot)->n_members,
                                   chains ? ovl_rank_place(x->p, rank, slot) : 0, phases);
        } else {
            key = ovl_arena_printf(&x->scratch, "%s -", key);
        }
    }
    return key;
}

static void find_kinds(expansion *x)
{
    x->kind_of = OVL_NEW_ARRAY(&x->scratch, uint32_t, x->p->n_ranks);
    for (uint32_t rank = 0; rank < x->p->n_ranks; rank++) {
        ovl_id id = ovl_names_add(&x->kind_keys, key_of(x, rank));
        if (id == x->kinds.len) {
            ovl_vec_push(&x->kinds, (kind){.code = x->p->ranks[rank].code, .rank = rank});
        }
        ovl_vec_push(&x->kinds.data[id].ranks, rank);
        x->kind_of[rank] = id;
    }
}

/* --- What stays as it is --- */

static void copy_hardware(expansion *x)
{
    const ovl_program *p = x->p;
    ovl_builder *b = &x->b;
    b->n_ports = p->n_ports;
    b->sms = p->sms;
    b->copy_engines[0] = p->copy_engines[0];
    b->copy_engines[1] = p->copy_engines[1];
    b->hw_queues = p->hw_queues;
    b->memory = p->memory;
    b->rounding = p->rounding;
    for (uint32_t i = 0; i < p->n_gpus; i++) {
        ovl_vec_push(&b->gpus, p->gpus[i]);
    }
    for (uint32_t i = 0; i < p->n_resources; i++) {
        ovl_add_resource(b, &p->resources[i]);
    }
    for (uint32_t i = 0; i < p->n_changes; i++) {
        ovl_change_capacity(b, p->changes[i].resource, p->changes[i].time, p->changes[i].capacity);
    }
    for (uint32_t i = 0; i < p->n_kernel_classes; i++) {
        ovl_vec_push(&b->kernel_classes, p->kernel_classes[i]);
    }
    for (uint32_t i = 0; i < p->n_coll_classes; i++) {
        ovl_vec_push(&b->coll_classes, p->coll_classes[i]);
    }
    for (uint32_t i = 0; i < p->n_kernel_classes * p->n_coll_classes; i++) {
        ovl_vec_push(&b->pairs, p->pairs[i]);
    }
}

/* Those behind a phase come before it, and each is there once: they keep their numbers. */
static void copy_phases(expansion *x)
{
    const ovl_program *p = x->p;
    for (uint32_t i = 0; i < p->n_phases; i++) {
        const ovl_cost_kind *its = ovl_kind_of(p, &p->phases[i]);
        ovl_id then = ovl_add_phase(&x->b, &p->phases[i], its, p->demands + its->first_demand,
                                    its->n_demands);
        assert(then == i + 1);
        (void)then;
    }
}

static ovl_id copy_cost(expansion *x, const ovl_cost *cost)
{
    const ovl_cost_kind *its = ovl_kind_of(x->p, cost);
    const ovl_demand *demands = x->p->demands;
    return ovl_add_cost(&x->b, cost, its, demands + its->first_demand, its->n_demands,
                        demands + its->first_peer, its->n_peer);
}

/* Names, costs and splits keep their numbers. */
static void copy_tables(expansion *x)
{
    const ovl_program *p = x->p;
    for (uint32_t i = 0; i < p->names->count; i++) {
        ovl_name(&x->b, OVL_NAME(p->names, i));
    }
    copy_hardware(x);
    copy_phases(x);
    for (uint32_t i = 0; i < p->n_costs; i++) {
        copy_cost(x, &p->costs[i]);
    }
    for (uint32_t i = 0; i < p->n_splits; i++) {
        ovl_vec_push(&x->b.splits, p->splits[i]);
    }
    ovl_add_sizes(&x->b, p->sizes, p->n_sizes);
    x->no_cost = ovl_add_cost(&x->b, &(ovl_cost){0}, NULL, NULL, 0, NULL, 0);
    x->relaid = OVL_NEW_ARRAY(&x->scratch, uint32_t, p->n_costs);
    for (uint32_t i = 0; i < p->n_costs; i++) {
        x->relaid[i] = OVL_NONE;
    }
}

/* Costs per rank go by the rank now, for the steps need that. Ranks that do not use one get any. */
static ovl_id relaid_cost(expansion *x, ovl_id cost)
{
    if (x->relaid[cost] == OVL_NONE) {
        ovl_id table = x->b.costs.len;
        for (uint32_t rank = 0; rank < x->p->n_ranks; rank++) {
            uint32_t old = OVL_MIN(cost + x->p->ranks[rank].variant, x->p->n_costs - 1);
            copy_cost(x, &x->p->costs[old]);
        }
        x->relaid[cost] = table;
    }
    return x->relaid[cost];
}

static void copy_comms(expansion *x)
{
    const ovl_program *p = x->p;
    x->ring_of = OVL_NEW_ARRAY(&x->scratch, uint32_t, p->n_comms);
    for (uint32_t c = 0; c < p->n_comms; c++) {
        const ovl_comm *comm = &p->comms[c];
        ovl_add_comm(&x->b, comm->name, p->members + comm->first_member, comm->n_members);
    }
    for (uint32_t c = 0; c < p->n_comms; c++) {
        const ovl_comm *comm = &p->comms[c];
        bool any = is_small(x, comm) && comm->n_collectives > 0;
        x->ring_of[c] =
            any ? ovl_add_comm(&x->b, comm->name, p->members + comm->first_member, comm->n_members)
                : OVL_NONE;
    }
}

/* --- Costs of steps --- */

static ovl_id intern_cost(expansion *x, const ovl_step_cost *s)
{
    bool per_rank;
    ovl_id id =
        ovl_add_cost(&x->b, &s->cost, &s->kind, s->own, s->kind.n_demands, s->peer, s->kind.n_peer);
    return ovl_store_costs_once(&x->b, id, &per_rank);
}

/* What the engine takes a collective to cost: what its first member says. */
static const ovl_cost *cost_of(const expansion *x, uint32_t rank, uint32_t local)
{
    const ovl_comm *comm = comm_of(x, rank, ovl_code_op(x->old, local)->comm);
    uint32_t first = x->p->members[comm->first_member];
    uint32_t slot = x->p->member_slots[comm->first_member];
    const ovl_code *code = &x->p->codes[x->p->ranks[first].code];
    uint32_t k = code->collectives.at[slot] + x->old->collectives_before[local];
    return ovl_op_cost(x->p, first, ovl_code_op(code, code->collectives.item[k]));
}

static ovl_id send_cost_on(expansion *x, uint32_t rank, uint32_t local, uint32_t step)
{
    const ovl_op *op = ovl_code_op(x->old, local);
    const ovl_comm *comm = comm_of(x, rank, op->comm);
    ovl_pattern pattern = pattern_of(x, rank, op);
    ovl_step_cost *cost = OVL_NEW(&x->scratch, ovl_step_cost);
    ovl_step_cost_of(x->p, comm, cost_of(x, rank, local), &pattern,
                     ovl_rank_place(x->p, rank, op->comm), step, x->old->collectives_before[local],
                     cost);
    cost->kind.sms = ovl_op_cost_kind(x->p, rank, op)->sms; /* each holds its own */
    return intern_cost(x, cost);
}

static ovl_id recv_cost_on(expansion *x, uint32_t rank, uint32_t local)
{
    const ovl_cost_kind *old = ovl_op_cost_kind(x->p, rank, ovl_code_op(x->old, local));
    ovl_step_cost holds = {.kind = {.sms = old->sms, .klass = old->klass, .weight = 1}};
    return intern_cost(x, &holds);
}

/* Costs of the ranks of the kind by rank; those of others are not asked for. */
static ovl_id table_of(expansion *x, const ovl_id *costs)
{
    ovl_id first = x->b.costs.len;
    bool per_rank;
    for (uint32_t rank = 0; rank < x->p->n_ranks; rank++) {
        ovl_cost none = x->b.costs.data[x->no_cost];
        ovl_vec_push(&x->b.costs, none);
    }
    for (uint32_t i = 0; i < x->at->ranks.len; i++) {
        x->b.costs.data[first + x->at->ranks.data[i]] = x->b.costs.data[costs[i]];
    }
    return ovl_store_costs_once(&x->b, first, &per_rank);
}

/* One cost for all ranks of the kind, or a table by rank. */
static void set_cost(expansion *x, ovl_op *op, uint32_t local, uint32_t step, bool alone)
{
    const kind *k = x->at;
    ovl_id *costs = OVL_NEW_ARRAY(&x->scratch, ovl_id, k->ranks.len);
    for (uint32_t i = 0; i < k->ranks.len; i++) {
        uint32_t rank = k->ranks.data[i];
        costs[i] = op->kind == OVL_SEND ? send_cost_on(x, rank, local, step)
                   : alone              ? recv_cost_on(x, rank, local)
                                        : x->no_cost;
        op->per_rank |= costs[i] != costs[0];
    }
    op->cost = op->per_rank ? table_of(x, costs) : costs[0];
}

/* --- Operations --- */

static void copy_lists(expansion *x, uint32_t local)
{
    const ovl_code *old = x->old;
    for (uint32_t i = old->access.at[local]; i < old->access.at[local + 1]; i++) {
        ovl_add_access(&x->b, x->code, old->access.item[i].buffer, old->access.item[i].write);
    }
}

static void copy_after(expansion *x, uint32_t local)
{
    const ovl_code *old = x->old;
    ovl_offsets after = ovl_code_after(old, local);
    for (uint32_t i = 0; i < after.n; i++) {
        ovl_add_after(&x->b, x->code, x->last[local + after.by[i]]);
    }
}

/* Of the microbatch of the old one. */
static uint32_t add_again(expansion *x, uint32_t local, const ovl_op *op)
{
    uint32_t added = ovl_add_op(&x->b, x->code, op);
    ovl_set_microbatch(&x->b, x->code, ovl_code_microbatch(x->old, local));
    return added;
}

/* The operation as it was, at the end of the new code. */
static void add_as_it_was(expansion *x, uint32_t local, ovl_op op)
{
    op.name = x->old->name[local];
    op.batch = op.behind ? x->last[local - op.behind] : OVL_NONE;
    x->last[local] = add_again(x, local, &op);
    copy_after(x, local);
    copy_lists(x, local);
    for (uint32_t i = x->old->effect.at[local]; i < x->old->effect.at[local + 1]; i++) {
        ovl_add_effect(&x->b, x->code, &x->old->effect.item[i]);
    }
}

static void add_part(expansion *x, uint32_t local, uint32_t batch, ovl_op_kind what, int32_t peer,
                     uint32_t step, bool alone)
{
    const ovl_op *old = ovl_code_op(x->old, local);
    ovl_pattern pattern = pattern_of(x, x->at->rank, old);
    ovl_op op = {.kind = (uint8_t)what,
                 .dtype = old->dtype,
                 .stream = OVL_NO_STREAM,
                 .comm = x->ring_slot[old->comm],
                 .name = x->old->name[local],
                 .batch = batch,
                 .peer = peer,
                 .peer_relative = true,
                 .bytes = ovl_pattern_part(old->bytes, pattern.cuts, step % pattern.cuts),
                 .mark = old->mark,
                 .part = old->part,
                 .stage = old->stage};
    set_cost(x, &op, local, step, alone);
    add_again(x, local, &op);
}

static bool reads(const ovl_code *code, uint32_t local, ovl_id buffer)
{
    for (uint32_t i = code->access.at[local]; i < code->access.at[local + 1]; i++) {
        if (code->access.item[i].buffer == buffer && !code->access.item[i].write) {
            return true;
        }
    }
    return false;
}

/* What a collective fills is in use from its first step on. All other accesses are told of its end,
 * so that one race is one hazard. */
static void fill_outputs(expansion *x, uint32_t local)
{
    const ovl_code *old = x->old;
    for (uint32_t i = old->access.at[local]; i < old->access.at[local + 1]; i++) {
        ovl_access a = old->access.item[i];
        if (a.write && !reads(old, local, a.buffer)) {
            ovl_add_access(&x->b, x->code, a.buffer, true);
        }
    }
}

/* The launch of the collective; what comes before it in its communicator must have ended, for the
 * steps have one of their own. */
static void begin_steps(expansion *x, uint32_t local)
{
    copy_after(x, local);
    if (ovl_code_comm_prev(x->old, local) != OVL_NONE) {
        ovl_add_after(&x->b, x->code, x->last[ovl_code_comm_prev(x->old, local)]);
    }
    fill_outputs(x, local);
}

static void add_step(expansion *x, uint32_t local, uint32_t step, bool first)
{
    const ovl_op *old = ovl_code_op(x->old, local);
    ovl_pattern pattern = pattern_of(x, x->at->rank, old);
    uint32_t place = ovl_rank_place(x->p, x->at->rank, old->comm);
    int32_t to = (int32_t)ovl_pattern_to(&pattern, place, step);
    int32_t from = (int32_t)ovl_pattern_from(&pattern, place, step);
    if (!to && !from) {
        return;
    }
    const char *name = ovl_arena_printf(&x->scratch, "%s step %" PRIu32,
                                        OVL_NAME(x->p->names, x->old->name[local]), step + 1);
    ovl_op op = {.kind = OVL_BATCH,
                 .dtype = old->dtype,
                 .stream = old->stream,
                 .comm = x->ring_slot[old->comm],
                 .name = ovl_name(&x->b, name),
                 .cost = x->no_cost,
                 .batch = OVL_NONE,
                 .continues = !first,
                 .launch = first ? old->launch : 0,
                 .mark = old->mark,
                 .part = old->part,
                 .stage = old->stage};
    uint32_t batch = add_again(x, local, &op);
    if (first) {
        begin_steps(x, local);
    }
    if (to) {
        add_part(x, local, batch, OVL_SEND, to, step, false);
    }
    if (from) {
        add_part(x, local, batch, OVL_RECV, -from, step, !to);
    }
}

static void add_steps(expansion *x, uint32_t local)
{
    struct ovl_code_build *c = x->b.codes.data[x->code];
    const ovl_op *old = ovl_code_op(x->old, local);
    ovl_pattern pattern = pattern_of(x, x->at->rank, old);
    for (uint32_t step = 0; step < ovl_pattern_steps(&pattern); step++) {
        add_step(x, local, step, c->which.len == x->first[local]);
    }
    ovl_op op = *old;
    op.cost = x->no_cost;
    op.per_rank = false;
    op.launch = 0;
    op.continues = true;
    add_as_it_was(x, local, op);
}

/* --- Codes --- */

static void add_slots(expansion *x)
{
    const ovl_code *old = x->old;
    x->ring_slot = OVL_NEW_ARRAY(&x->scratch, uint16_t, old->n_slots);
    for (uint32_t i = 0; i < old->n_slots; i++) {
        ovl_add_slot(&x->b, x->code);
    }
    for (uint16_t i = 0; i < old->n_slots; i++) {
        uint32_t comm = x->p->rank_comms[x->p->ranks[x->at->rank].first_comm + i];
        x->ring_slot[i] = x->ring_of[comm] == OVL_NONE ? OVL_NO_COMM : ovl_add_slot(&x->b, x->code);
    }
}

static void add_buffers(expansion *x)
{
    for (uint32_t i = 0; i < x->old->n_buffers; i++) {
        ovl_add_buffer(&x->b, x->code, &x->old->buffers[i]);
    }
}

/* When operations are where they will be, the host positions of buffers are known. */
static void place_buffers(expansion *x)
{
    struct ovl_code_build *c = x->b.codes.data[x->code];
    for (uint32_t i = 0; i < x->old->n_buffers; i++) {
        const ovl_buffer *old = &x->old->buffers[i];
        c->buffers.data[i].alloc = x->first[old->alloc];
        c->buffers.data[i].freed = old->freed == OVL_NONE ? OVL_NONE : x->first[old->freed];
    }
}

static void add_code(expansion *x, const kind *k)
{
    x->at = k;
    x->old = &x->p->codes[k->code];
    x->code = ovl_add_code(&x->b);
    x->first = OVL_NEW_ARRAY(&x->scratch, uint32_t, x->old->n_ops + 1);
    x->last = OVL_NEW_ARRAY(&x->scratch, uint32_t, x->old->n_ops + 1);
    struct ovl_code_build *c = x->b.codes.data[x->code];
    for (uint32_t i = 0; i < x->old->n_streams; i++) {
        ovl_add_stream(&x->b, x->code, OVL_NAME(x->p->names, x->old->streams[i]));
    }
    add_slots(x);
    add_buffers(x);
    for (uint32_t i = 0; i < x->old->n_ops; i++) {
        ovl_op op = *ovl_code_op(x->old, i);
        x->first[i] = c->which.len;
        if (in_steps(x, k->rank, &op)) {
            add_steps(x, i);
        } else {
            op.cost = op.per_rank ? relaid_cost(x, op.cost) : op.cost;
            add_as_it_was(x, i, op);
        }
    }
    x->first[x->old->n_ops] = c->which.len;
    place_buffers(x);
}

static void add_ranks(expansion *x)
{
    const ovl_program *p = x->p;
    OVL_VEC(ovl_id) comms = {0};
    for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
        const ovl_rank *r = &p->ranks[rank];
        uint32_t n_slots = p->codes[r->code].n_slots;
        comms.len = 0;
        for (uint32_t i = 0; i < n_slots; i++) {
            ovl_vec_push(&comms, p->rank_comms[r->first_comm + i]);
        }
        for (uint32_t i = 0; i < n_slots; i++) {
            ovl_id steps = x->ring_of[p->rank_comms[r->first_comm + i]];
            if (steps != OVL_NONE) {
                ovl_vec_push(&comms, steps);
            }
        }
        ovl_add_rank(&x->b, x->kind_of[rank], rank, comms.data, p->rank_ports + r->first_port);
        if (p->n_gpus) {
            ovl_set_gpu(&x->b, r->gpu);
        }
    }
    ovl_vec_free(&comms);
}

/* --- The whole --- */

static void release(expansion *x)
{
    for (uint32_t i = 0; i < x->kinds.len; i++) {
        ovl_vec_free(&x->kinds.data[i].ranks);
    }
    ovl_vec_free(&x->kinds);
    ovl_builder_free(&x->b);
    ovl_arena_free(&x->scratch);
}

bool ovl_expand(const ovl_program *program, uint32_t members, ovl_arena *arena,
                ovl_program *expanded, ovl_errs *errs)
{
    expansion x = {.p = program, .members = members};
    assert(!program->fold);
    x.kind_keys.arena = &x.scratch;
    ovl_builder_init(&x.b, arena);
    bool good = check_size(&x, errs);
    if (good) {
        copy_tables(&x);
        copy_comms(&x);
        find_kinds(&x);
        for (uint32_t i = 0; i < x.kinds.len; i++) {
            add_code(&x, &x.kinds.data[i]);
        }
        add_ranks(&x);
        good = ovl_freeze(&x.b, expanded, errs);
        expanded->in_steps = good ? members : 0;
    }
    release(&x);
    return good;
}
