/*
 * freeze.c - from a builder to a program: packs the lists, finds who waits for whom, and
 * checks that the members of each communicator agree.
 */
#include "sim/build.h"
#include "sim/course.h"

/* --- One code --- */

static uint32_t *filled(ovl_arena *arena, uint32_t n, uint32_t value)
{
    uint32_t *array = OVL_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        array[i] = value;
    }
    return array;
}

static bool is_eager_send(const ovl_op *op)
{
    return op->kind == OVL_SEND && op->eager;
}

static bool same_wire(const ovl_op *a, const ovl_op *b)
{
    return a->comm == b->comm && a->peer == b->peer && a->peer_relative == b->peer_relative;
}

/* The last operation of each lane of some sort, as its local index + 1; 0: none yet. */
typedef struct lasts {
    const ovl_code *code;
    ovl_arena scratch;
    uint32_t *stream, *comm, *queue;
    uint32_t *wire; /* [n_wires] open addressing, with twice as many places as eager sends */
    uint32_t n_wires, hw_queues;
} lasts;

static void begin_lasts(lasts *l, const ovl_code *code, uint32_t hw_queues)
{
    uint32_t sends = 0;
    *l = (lasts){.code = code, .n_wires = 8};
    l->hw_queues = code->queued ? hw_queues : 0;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        sends += is_eager_send(ovl_code_op(code, i));
    }
    while (l->n_wires < 2 * (uint64_t)sends) {
        l->n_wires *= 2;
    }
    l->stream = OVL_NEW_ARRAY(&l->scratch, uint32_t, code->n_streams);
    l->comm = OVL_NEW_ARRAY(&l->scratch, uint32_t, code->n_slots);
    l->queue = OVL_NEW_ARRAY(&l->scratch, uint32_t, l->hw_queues);
    l->wire = OVL_NEW_ARRAY(&l->scratch, uint32_t, sends ? l->n_wires : 0);
}

/* The offset of the last operation there; `op` is the last one now. */
static uint32_t offset_back(uint32_t *last, uint32_t op)
{
    uint32_t offset = *last ? *last - 1 - op : 0;
    *last = op + 1;
    return offset;
}

/* That of the last eager send to the peer of `op` in its slot. */
static uint32_t *wire_of(const lasts *l, const ovl_op *op)
{
    uint64_t key = ((uint64_t)op->comm << 33) ^ ((uint64_t)(uint32_t)op->peer << 1) ^
                   (uint64_t)op->peer_relative;
    uint32_t at = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (l->n_wires - 1);
    while (l->wire[at] && !same_wire(ovl_code_op(l->code, l->wire[at] - 1), op)) {
        at = (at + 1) & (l->n_wires - 1);
    }
    return &l->wire[at];
}

/* A batch takes the place of its parts in the order of the communicator. Streams are spread over
 * the hardware queues in turn; markers are no work and take no place there. */
static ovl_back find_back(const lasts *l, uint32_t i, uint32_t after)
{
    const ovl_op *op = ovl_code_op(l->code, i);
    ovl_back back = {.after = after};
    if (op->stream != OVL_NO_STREAM) {
        back.stream_prev = offset_back(&l->stream[op->stream], i);
        if (l->hw_queues && op->kind != OVL_MARKER && !op->continues) {
            back.queue_prev = offset_back(&l->queue[op->stream % l->hw_queues], i);
        }
    }
    if (op->comm != OVL_NO_COMM && !op->behind) {
        back.comm_prev = offset_back(&l->comm[op->comm], i);
    }
    if (is_eager_send(op)) {
        back.wire = offset_back(wire_of(l, op), i);
    }
    return back;
}

/* An operation that repeats mostly waits for what it waited for the last time, recent[which]. */
static void find_ties(struct ovl_code_build *c, ovl_code *code, uint32_t *recent, ovl_builder *b)
{
    lasts l;
    uint32_t *tied = OVL_NEW_ARRAY(b->arena, uint32_t, code->n_ops);
    begin_lasts(&l, code, b->hw_queues);
    for (uint32_t i = 0; i < code->n_ops; i++) {
        ovl_back back = find_back(&l, i, i < c->after_of.len ? c->after_of.data[i] : 0);
        tied[i] = ovl_tie_back(&b->tying, &back, &recent[code->which[i]]);
    }
    ovl_vec_free(&c->after_of);
    ovl_arena_free(&l.scratch);
    ovl_tie_code(&b->tying, code, tied);
    code->tied = tied;
}

/* The collectives of each slot, and where each stands there. */
static void find_collectives(ovl_code *code, ovl_arena *arena)
{
    uint32_t *at = OVL_NEW_ARRAY(arena, uint32_t, code->n_slots + 1), n = 0;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        const ovl_op *op = ovl_code_op(code, i);
        if (op->kind == OVL_COLLECTIVE) {
            at[op->comm + 1]++;
            n++;
        }
    }
    for (uint32_t slot = 0; slot < code->n_slots; slot++) {
        at[slot + 1] += at[slot];
    }
    uint32_t *item = OVL_NEW_ARRAY(arena, uint32_t, n);
    uint32_t *before = n ? OVL_NEW_ARRAY(arena, uint32_t, code->n_ops) : NULL;
    uint32_t *count = filled(arena, code->n_slots, 0);
    for (uint32_t i = 0; i < code->n_ops && n; i++) {
        const ovl_op *op = ovl_code_op(code, i);
        if (op->kind == OVL_COLLECTIVE) {
            before[i] = count[op->comm]++;
            item[at[op->comm] + before[i]] = i;
        }
    }
    code->collectives.at = at;
    code->collectives.item = item;
    code->collectives_before = before;
}

static bool host_takes_time(const ovl_code *code)
{
    for (uint32_t i = 0; i < code->n_ops; i++) {
        if (ovl_code_op(code, i)->launch > 0 || ovl_code_op(code, i)->kind == OVL_HOST) {
            return true;
        }
    }
    return false;
}

static bool has_means(const ovl_code *code)
{
    bool any = false;
    for (uint32_t i = 0; i < code->n_ops && !any; i++) {
        any = ovl_code_op(code, i)->mean > 0;
    }
    return any;
}

static void find_step_ends(ovl_code *code, ovl_arena *arena)
{
    OVL_VEC(uint32_t) ends = {0};
    for (uint32_t i = 0; i < code->n_ops; i++) {
        if (ovl_code_op(code, i)->step_end) {
            ovl_vec_push(&ends, i);
        }
    }
    code->n_steps = ends.len;
    code->step_ends = ovl_vec_freeze(&ends, arena);
}

#define FREEZE_LIST(list)                                                                          \
    do {                                                                                           \
        code->list.at = nothing;                                                                   \
        if (c->list.len) {                                                                         \
            ovl_vec_push(&c->list##_at, c->list.len);                                              \
            code->list.at = ovl_vec_freeze(&c->list##_at, arena);                                  \
        }                                                                                          \
        code->list.item = ovl_vec_freeze(&c->list, arena);                                         \
    } while (0)

static void freeze_code(ovl_builder *b, struct ovl_code_build *c, ovl_code *code,
                        const uint32_t *nothing, uint32_t *recent, const ovl_op *distinct)
{
    ovl_arena *arena = b->arena;
    ovl_store_after(b, c);
    *code = (ovl_code){.n_ops = c->which.len,
                       .n_streams = c->streams.len,
                       .n_buffers = c->buffers.len,
                       .n_slots = c->n_slots,
                       .queued = b->hw_queues > 0 && b->hw_queues < c->streams.len};
    FREEZE_LIST(access);
    FREEZE_LIST(effect);
    code->distinct = distinct;
    code->which = ovl_vec_freeze(&c->which, arena);
    code->name = ovl_vec_freeze(&c->name, arena);
    while (c->microbatch.len > 0 && c->microbatch.len < code->n_ops) {
        ovl_vec_push(&c->microbatch, 0);
    }
    code->microbatch = c->microbatch.len ? ovl_vec_freeze(&c->microbatch, arena) : NULL;
    code->streams = ovl_vec_freeze(&c->streams, arena);
    code->buffers = ovl_vec_freeze(&c->buffers, arena);
    find_ties(c, code, recent, b);
    find_collectives(code, arena);
    code->host_timed = host_takes_time(code);
    code->has_means = has_means(code);
    find_step_ends(code, arena);
}

/* --- The whole --- */

/* Where the operations of each rank begin, as far as 32 bits reach. */
static void number_ranks(ovl_program *p, ovl_rank *ranks)
{
    uint64_t n = 0;
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        ranks[r].first_op = (uint32_t)n;
        n += p->codes[ranks[r].code].n_ops;
    }
    p->n_ops = (uint32_t)OVL_MIN(n, UINT32_MAX);
}

/* Where each rank stands in each of its communicators, and the other way round. */
static void find_places(ovl_program *p, uint32_t n_rank_comms, uint32_t n_members, ovl_arena *arena)
{
    uint32_t *places = filled(arena, n_rank_comms, OVL_NONE);
    uint32_t *slots = filled(arena, n_members, OVL_NONE);
    for (uint32_t c = 0; c < p->n_comms; c++) {
        for (uint32_t place = 0; place < p->comms[c].n_members; place++) {
            uint32_t member = p->comms[c].first_member + place;
            const ovl_rank *rank = &p->ranks[p->members[member]];
            for (uint32_t s = 0; s < p->codes[rank->code].n_slots; s++) {
                if (p->rank_comms[rank->first_comm + s] == c) {
                    places[rank->first_place + s] = place;
                    slots[member] = s;
                }
            }
        }
    }
    p->rank_places = places;
    p->member_slots = slots;
}

static uint32_t longest_code(const ovl_builder *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->codes.len; i++) {
        n = OVL_MAX(n, b->codes.data[i]->which.len);
    }
    return n;
}

/* So that no sum of bytes overflows, with blocks rounded up and all. */
static bool buffers_fit(const ovl_program *p, ovl_errs *errs)
{
    const uint64_t most = (uint64_t)1 << 60;
    for (uint32_t c = 0; c < p->n_codes; c++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < p->codes[c].n_buffers; i++) {
            const ovl_buffer *buffer = &p->codes[c].buffers[i];
            if (buffer->bytes > most - sum) {
                ovl_error(errs, OVL_E_INPUT, buffer->mark,
                          "with buffer \"%s\" those of a rank have more than 1 EiB",
                          OVL_NAME(p->names, buffer->name));
                return false;
            }
            sum += buffer->bytes;
        }
    }
    return true;
}

bool ovl_freeze(ovl_builder *b, ovl_program *program, ovl_errs *errs)
{
    ovl_program p = {.names = b->names,
                     .n_codes = b->codes.len,
                     .n_ranks = b->ranks.len,
                     .n_comms = b->comms.len,
                     .n_resources = b->resources.len,
                     .n_costs = b->costs.len,
                     .n_cost_kinds = b->cost_kinds.len,
                     .n_ports = b->n_ports,
                     .sms = b->sms,
                     .copy_engines = {b->copy_engines[0], b->copy_engines[1]},
                     .hw_queues = b->hw_queues,
                     .memory = b->memory,
                     .rounding = b->rounding,
                     .n_gpus = b->gpus.len,
                     .n_kernel_classes = b->kernel_classes.len,
                     .n_coll_classes = b->coll_classes.len};
    assert(b->pairs.len == 0 || b->pairs.len == p.n_kernel_classes * p.n_coll_classes);
    ovl_code *codes = OVL_NEW_ARRAY(b->arena, ovl_code, p.n_codes);
    const uint32_t *nothing = OVL_NEW_ARRAY(b->arena, uint32_t, longest_code(b) + 1);
    ovl_arena scratch = {0};
    uint32_t *recent = OVL_NEW_ARRAY(&scratch, uint32_t, b->distinct.len);
    p.n_distinct = b->distinct.len;
    p.distinct = ovl_vec_freeze(&b->distinct, b->arena);
    for (uint32_t i = 0; i < p.n_codes; i++) {
        freeze_code(b, b->codes.data[i], &codes[i], nothing, recent, p.distinct);
        p.n_steps = OVL_MAX(p.n_steps, codes[i].n_steps);
    }
    ovl_arena_free(&scratch);
    ovl_tying_end(&b->tying, &p, codes, b->arena);
    uint32_t n_rank_comms = b->rank_comms.len, n_members = b->members.len;
    ovl_rank *ranks = ovl_vec_freeze(&b->ranks, b->arena);
    p.gpus = ovl_vec_freeze(&b->gpus, b->arena);
    ovl_comm *comms = ovl_vec_freeze(&b->comms, b->arena);
    p.codes = codes;
    p.ranks = ranks;
    p.comms = comms;
    p.members = ovl_vec_freeze(&b->members, b->arena);
    p.rank_comms = ovl_vec_freeze(&b->rank_comms, b->arena);
    p.rank_ports = ovl_vec_freeze(&b->rank_ports, b->arena);
    p.resources = ovl_vec_freeze(&b->resources, b->arena);
    p.n_changes = b->changes.len;
    p.changes = ovl_vec_freeze(&b->changes, b->arena);
    p.costs = ovl_vec_freeze(&b->costs, b->arena);
    p.n_phases = b->phases.len;
    p.phases = ovl_vec_freeze(&b->phases, b->arena);
    p.cost_kinds = ovl_vec_freeze(&b->cost_kinds, b->arena);
    p.n_splits = b->splits.len;
    p.splits = ovl_vec_freeze(&b->splits, b->arena);
    p.demands = ovl_vec_freeze(&b->demands, b->arena);
    p.n_sizes = b->sizes.len;
    p.sizes = ovl_vec_freeze(&b->sizes, b->arena);
    p.kernel_classes = ovl_vec_freeze(&b->kernel_classes, b->arena);
    p.coll_classes = ovl_vec_freeze(&b->coll_classes, b->arena);
    bool measured = b->pairs.len > 0;
    p.pairs = ovl_vec_freeze(&b->pairs, b->arena);
    if (!measured) {
        p.pairs = OVL_NEW_ARRAY(b->arena, ovl_pair, (size_t)p.n_kernel_classes * p.n_coll_classes);
    }
    for (uint32_t i = 0; i < p.n_codes; i++) {
        codes[i].course = ovl_course_find(&p, &codes[i], true, b->arena);
    }
    ovl_builder_free(b);
    number_ranks(&p, ranks);
    find_places(&p, n_rank_comms, n_members, b->arena);
    if (!buffers_fit(&p, errs) || !ovl_match_communication(&p, comms, b->arena, errs)) {
        return false;
    }
    if (p.n_ops <= OVL_NUMBERED_OPS && !ovl_number_ops(&p, b->arena, errs)) {
        return false;
    }
    *program = p;
    return true;
}

static void number_pairs(const ovl_program *p, const ovl_comm *comm, uint32_t *partner)
{
    uint32_t first = p->kinds[comm->kind].mates;
    for (uint32_t place = 0; first != OVL_NONE && place < comm->n_members; place++) {
        const ovl_rank *rank = &p->ranks[p->members[comm->first_member + place]];
        for (uint32_t i = p->mate_at[first + place]; i < p->mate_at[first + place + 1]; i++) {
            const ovl_mate *m = &p->mates[i];
            partner[rank->first_op + m->local] =
                p->ranks[p->members[comm->first_member + m->place]].first_op + m->mate;
        }
    }
}

bool ovl_number_ops(ovl_program *p, ovl_arena *arena, ovl_errs *errs)
{
    if (p->n_ops > OVL_OPS_MAX) {
        ovl_error(errs, OVL_E_INPUT, (ovl_mark){0},
                  "the program has more than %" PRIu32 " operations over all ranks", OVL_OPS_MAX);
        return false;
    }
    if (!p->numbered && p->mates) {
        uint32_t *partner = filled(arena, p->n_ops, OVL_NONE);
        for (uint32_t c = 0; c < p->n_comms; c++) {
            number_pairs(p, &p->comms[c], partner);
        }
        p->partner = partner;
    }
    p->numbered = true;
    return true;
}
