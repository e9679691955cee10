#include "sim/causes.h"

const ovl_op *ovl_causes_op(const ovl_causes *c, uint32_t op)
{
    const ovl_rank *rank = &c->program->ranks[c->rank_of[op]];
    return ovl_code_op(&c->program->codes[rank->code], op - rank->first_op);
}

ovl_id ovl_causes_name(const ovl_causes *c, uint32_t op)
{
    const ovl_rank *rank = &c->program->ranks[c->rank_of[op]];
    return c->program->codes[rank->code].name[op - rank->first_op];
}

uint32_t ovl_causes_local(const ovl_causes *c, uint32_t op)
{
    return op - c->program->ranks[c->rank_of[op]].first_op;
}

static const ovl_code *code_of(const ovl_causes *c, uint32_t op)
{
    return &c->program->codes[c->program->ranks[c->rank_of[op]].code];
}

uint32_t ovl_causes_collective(const ovl_causes *c, uint32_t op)
{
    const ovl_op *o = ovl_causes_op(c, op);
    assert(o->kind == OVL_COLLECTIVE);
    return ovl_rank_comm(c->program, c->rank_of[op], o->comm)->first_collective +
           code_of(c, op)->collectives_before[ovl_causes_local(c, op)];
}

ovl_time ovl_node_time(const ovl_causes *c, uint64_t node)
{
    uint32_t op = OVL_TRAIL_OP(node);
    switch (OVL_TRAIL_KIND(node)) {
    case OVL_ISSUED:
        return c->timeline->issue[op];
    case OVL_ARRIVED:
        return c->timeline->arrive[op];
    case OVL_LANDED:
        return c->timeline->landed[op];
    case OVL_ENDED:
        break;
    }
    return c->timeline->end[op];
}

/* --- Tables --- */

static void find_ranks(ovl_causes *c, ovl_arena *arena)
{
    const ovl_program *p = c->program;
    uint32_t *rank_of = OVL_NEW_ARRAY(arena, uint32_t, p->n_ops);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        uint32_t n = p->codes[p->ranks[r].code].n_ops;
        for (uint32_t i = 0; i < n; i++) {
            rank_of[p->ranks[r].first_op + i] = r;
        }
    }
    c->rank_of = rank_of;
}

static void find_members(ovl_causes *c, ovl_arena *arena)
{
    const ovl_program *p = c->program;
    uint32_t *first = OVL_NEW_ARRAY(arena, uint32_t, p->n_collectives + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->n_comms; k++) {
        for (uint32_t i = 0; i < p->comms[k].n_collectives; i++) {
            first[p->comms[k].first_collective + i] = n;
            n += p->comms[k].n_members;
        }
    }
    first[p->n_collectives] = n;
    uint32_t *ops = OVL_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        const ovl_code *code = &p->codes[p->ranks[r].code];
        for (uint32_t i = 0; i < code->n_ops; i++) {
            if (ovl_code_op(code, i)->kind == OVL_COLLECTIVE) {
                uint32_t op = p->ranks[r].first_op + i;
                uint32_t place = ovl_rank_place(p, r, ovl_code_op(code, i)->comm);
                ops[first[ovl_causes_collective(c, op)] + place] = op;
            }
        }
    }
    c->first_member = first;
    c->member_ops = ops;
}

typedef struct copy_key {
    uint32_t rank, engine, op;
    ovl_time end;
} copy_key;

static int compare_copies(const void *a, const void *b)
{
    const copy_key *x = a, *y = b;
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->engine != y->engine) {
        return x->engine < y->engine ? -1 : 1;
    }
    if (x->end != y->end) {
        return x->end < y->end ? -1 : 1;
    }
    return (x->op > y->op) - (x->op < y->op);
}

static copy_key key_of(const ovl_causes *c, uint32_t op)
{
    uint32_t rank = c->rank_of[op];
    return (copy_key){rank, ovl_op_cost_kind(c->program, rank, ovl_causes_op(c, op))->engine, op,
                      c->timeline->end[op]};
}

static void find_copies(ovl_causes *c, ovl_arena *arena)
{
    OVL_VEC(copy_key) keys = {0};
    for (uint32_t op = 0; op < c->program->n_ops; op++) {
        if (ovl_causes_op(c, op)->kind == OVL_COPY) {
            ovl_vec_push(&keys, key_of(c, op));
        }
    }
    if (keys.len) {
        qsort(keys.data, keys.len, sizeof *keys.data, compare_copies);
    }
    uint32_t *copies = OVL_NEW_ARRAY(arena, uint32_t, keys.len);
    for (uint32_t i = 0; i < keys.len; i++) {
        copies[i] = keys.data[i].op;
    }
    c->copies = copies;
    c->n_copies = keys.len;
    ovl_vec_free(&keys);
}

void ovl_causes_init(ovl_causes *c, const ovl_program *program, const ovl_timeline *timeline,
                     ovl_arena *arena)
{
    *c = (ovl_causes){.program = program, .timeline = timeline};
    find_ranks(c, arena);
    find_members(c, arena);
    if (ovl_copies_queue(program)) {
        find_copies(c, arena);
    }
}

void ovl_causes_free(ovl_causes *c)
{
    ovl_vec_free(&c->list);
}

/* The lowest copy of the same rank and engine that ended when `op` started; OVL_NONE if none did.
 */
static uint32_t freed_by(const ovl_causes *c, uint32_t op)
{
    copy_key want = key_of(c, op);
    want.end = c->timeline->start[op];
    want.op = 0;
    uint32_t low = 0, high = c->n_copies;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        copy_key key = key_of(c, c->copies[middle]);
        if (compare_copies(&key, &want) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < c->n_copies; low++) {
        copy_key key = key_of(c, c->copies[low]);
        if (key.rank != want.rank || key.engine != want.engine || key.end != want.end) {
            break;
        }
        if (key.op != op) {
            return key.op;
        }
    }
    return OVL_NONE;
}

/* --- Causes --- */

static void add(ovl_causes *c, uint32_t op, ovl_step_kind kind, ovl_time length, ovl_why why)
{
    ovl_vec_push(&c->list, (ovl_cause){OVL_TRAIL(op, kind), length, why});
}

static void add_local(ovl_causes *c, uint32_t first, uint32_t local, ovl_step_kind kind,
                      ovl_why why)
{
    if (local != OVL_NONE) {
        add(c, first + local, kind, 0, why);
    }
}

ovl_time ovl_causes_launch(const ovl_op *op)
{
    return op->kind == OVL_HOST ? 0 : op->launch;
}

/* The host comes from the operation it issued before; parts are launched with their batch. */
static void causes_of_issue(ovl_causes *c, uint32_t op)
{
    const ovl_code *code = code_of(c, op);
    uint32_t local = ovl_causes_local(c, op), first = op - local;
    if (ovl_code_batch(code, local) != OVL_NONE) {
        add_local(c, first, ovl_code_batch(code, local), OVL_ISSUED, OVL_WHY_OWN);
        return;
    }
    for (uint32_t i = local; i-- > 0;) {
        if (ovl_code_batch(code, i) == OVL_NONE) {
            ovl_step_kind kind = ovl_code_op(code, i)->kind == OVL_HOST ? OVL_ENDED : OVL_ISSUED;
            add(c, first + i, kind, ovl_causes_launch(ovl_code_op(code, local)), OVL_WHY_HOST);
            return;
        }
    }
}

static void causes_of_arrival(ovl_causes *c, uint32_t op)
{
    const ovl_code *code = code_of(c, op);
    uint32_t local = ovl_causes_local(c, op), first = op - local;
    add_local(c, first, ovl_code_stream_prev(code, local), OVL_ENDED, OVL_WHY_STREAM);
    ovl_offsets after = ovl_code_after(code, local);
    for (uint32_t k = 0; k < after.n; k++) {
        add_local(c, first, local + after.by[k], OVL_ENDED, OVL_WHY_AFTER);
    }
    add_local(c, first, ovl_code_comm_prev(code, local), OVL_ENDED, OVL_WHY_COMM);
    if (code->queued) {
        add_local(c, first, ovl_code_queue_prev(code, local), OVL_ARRIVED, OVL_WHY_QUEUE);
    }
    if (ovl_code_batch(code, local) != OVL_NONE) {
        add_local(c, first, ovl_code_batch(code, local), OVL_ARRIVED, OVL_WHY_OWN);
    } else {
        add(c, op, OVL_ISSUED, 0, OVL_WHY_HOST);
    }
}

uint32_t ovl_limits_carrier(const ovl_causes *c, uint32_t op)
{
    const ovl_op *o = ovl_causes_op(c, op);
    if (o->kind == OVL_COLLECTIVE) {
        return c->member_ops[c->first_member[ovl_causes_collective(c, op)]];
    }
    return o->kind == OVL_RECV ? c->program->partner[op] : op;
}

uint32_t ovl_limits_first(const ovl_timeline *t, uint32_t op)
{
    uint32_t low = 0, high = t->n_limits;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->limits[middle].op < op) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const char *ovl_limit_name(const ovl_program *p, uint32_t bound, ovl_name_room *room)
{
    if (bound == OVL_LIMIT_SMS) {
        return "SMs";
    }
    if (bound == OVL_LIMIT_MEASURED) {
        return "measured factor";
    }
    return ovl_names_write(p->names, p->resources[bound].name, room);
}

/* The eager send before one of its rank on its wire, or OVL_NONE. */
static uint32_t sent_before(const ovl_program *p, uint32_t rank, uint32_t send)
{
    const ovl_rank *r = &p->ranks[rank];
    return ovl_tied_to(send, ovl_code_ties(&p->codes[r->code], send - r->first_op)->back.wire);
}

static ovl_time left_at(const ovl_timeline *t, uint32_t send, uint32_t before)
{
    return before == OVL_NONE ? t->arrive[send] : OVL_MAX(t->arrive[send], t->landed[before]);
}

ovl_time ovl_wire_start(const ovl_program *p, const ovl_timeline *t, uint32_t send)
{
    return left_at(t, send, sent_before(p, ovl_op_rank(p, send), send));
}

ovl_time ovl_buffers_end(const ovl_program *p, const ovl_timeline *t, uint32_t op)
{
    const ovl_op *o = ovl_op_of(p, op);
    bool travels = o->kind == OVL_SEND && o->eager;
    return travels ? t->landed[op] : t->end[op];
}

static void causes_of_p2p_end(ovl_causes *c, uint32_t op, const ovl_op *o)
{
    const ovl_timeline *t = c->timeline;
    uint32_t other = c->program->partner[op];
    if (!o->eager) {
        ovl_time length = t->end[op] - t->start[op];
        add(c, op, OVL_ARRIVED, length, OVL_WHY_OWN);
        add(c, other, OVL_ARRIVED, length, OVL_WHY_RENDEZVOUS);
    } else if (o->kind == OVL_SEND) {
        add(c, op, OVL_ARRIVED, t->end[op] - t->arrive[op], OVL_WHY_OWN);
    } else {
        add(c, op, OVL_ARRIVED, 0, OVL_WHY_OWN);
        add(c, other, OVL_LANDED, 0, OVL_WHY_WIRE);
    }
}

static void causes_of_landing(ovl_causes *c, uint32_t send)
{
    const ovl_timeline *t = c->timeline;
    uint32_t before = sent_before(c->program, c->rank_of[send], send);
    ovl_time length = t->landed[send] - left_at(t, send, before);
    add(c, send, OVL_ARRIVED, length, OVL_WHY_OWN);
    if (before != OVL_NONE) {
        add(c, before, OVL_LANDED, length, OVL_WHY_LINE);
    }
}

static void causes_of_collective_end(ovl_causes *c, uint32_t op)
{
    ovl_time length = c->timeline->end[op] - c->timeline->start[op];
    uint32_t k = ovl_causes_collective(c, op);
    for (uint32_t i = c->first_member[k]; i < c->first_member[k + 1]; i++) {
        uint32_t member = c->member_ops[i];
        add(c, member, OVL_ARRIVED, length, member == op ? OVL_WHY_OWN : OVL_WHY_RENDEZVOUS);
    }
}

static void causes_of_batch_end(ovl_causes *c, uint32_t op)
{
    const ovl_code *code = code_of(c, op);
    uint32_t local = ovl_causes_local(c, op);
    ovl_offsets parts = ovl_code_parts(code, local);
    for (uint32_t k = 0; k < parts.n; k++) {
        add(c, op + parts.by[k], OVL_ENDED, 0, OVL_WHY_OWN);
    }
    if (parts.n == 0) {
        add(c, op, OVL_ARRIVED, 0, OVL_WHY_OWN);
    }
}

static void causes_of_copy_end(ovl_causes *c, uint32_t op)
{
    const ovl_timeline *t = c->timeline;
    ovl_time length = t->end[op] - t->start[op];
    add(c, op, OVL_ARRIVED, length, OVL_WHY_OWN);
    if (t->start[op] > t->arrive[op]) {
        uint32_t before = freed_by(c, op);
        assert(before != OVL_NONE);
        add(c, before, OVL_ENDED, length, OVL_WHY_ENGINE);
    }
}

static void causes_of_end(ovl_causes *c, uint32_t op)
{
    const ovl_op *o = ovl_causes_op(c, op);
    switch ((ovl_op_kind)o->kind) {
    case OVL_COLLECTIVE:
        causes_of_collective_end(c, op);
        return;
    case OVL_SEND:
    case OVL_RECV:
        causes_of_p2p_end(c, op, o);
        return;
    case OVL_BATCH:
        causes_of_batch_end(c, op);
        return;
    case OVL_COPY:
        causes_of_copy_end(c, op);
        return;
    case OVL_KERNEL:
    case OVL_HOST:
    case OVL_MARKER:
        break;
    }
    add(c, op, OVL_ARRIVED, c->timeline->end[op] - c->timeline->arrive[op], OVL_WHY_OWN);
}

void ovl_causes_of(ovl_causes *c, uint64_t node)
{
    uint32_t op = OVL_TRAIL_OP(node);
    c->list.len = 0;
    switch (OVL_TRAIL_KIND(node)) {
    case OVL_ISSUED:
        causes_of_issue(c, op);
        return;
    case OVL_ARRIVED:
        causes_of_arrival(c, op);
        return;
    case OVL_LANDED:
        causes_of_landing(c, op);
        return;
    case OVL_ENDED:
        break;
    }
    causes_of_end(c, op);
}

bool ovl_causes_binding(ovl_causes *c, uint64_t node, ovl_cause *binding)
{
    ovl_time when = ovl_node_time(c, node);
    const ovl_cause *best = NULL;
    ovl_causes_of(c, node);
    for (uint32_t i = 0; i < c->list.len; i++) {
        const ovl_cause *cause = &c->list.data[i];
        if (ovl_node_time(c, cause->node) + cause->length != when) {
            continue;
        }
        bool place = cause->why == OVL_WHY_RENDEZVOUS; /* they come in order of their places */
        if (!best || cause->why < best->why ||
            (cause->why == best->why && cause->node < best->node && !place)) {
            best = cause;
        }
    }
    if (best) {
        *binding = *best;
    }
    return best != NULL;
}

const char *ovl_why_text(ovl_why why, const char *name, ovl_arena *arena)
{
    static const char *const words[] = {
        [OVL_WHY_STREAM] = "stream: after",      [OVL_WHY_AFTER] = "after:",
        [OVL_WHY_COMM] = "communicator: after",  [OVL_WHY_QUEUE] = "hardware queue: behind",
        [OVL_WHY_ENGINE] = "copy engine: after", [OVL_WHY_WIRE] = NULL,
        [OVL_WHY_LINE] = "wire: after",          [OVL_WHY_HOST] = NULL,
    };
    return words[why] ? ovl_arena_printf(arena, "%s %s", words[why], name) : "host";
}

const char *ovl_cause_text(const ovl_causes *c, const ovl_cause *cause, ovl_arena *arena)
{
    ovl_id name = ovl_causes_name(c, OVL_TRAIL_OP(cause->node));
    return ovl_why_text(cause->why, OVL_NAME(c->program->names, name), arena);
}
