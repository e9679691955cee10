/*
 * freeze.c - from a builder to a program: packs the lists, derives who waits for whom, and
 * checks that the members of each communicator agree.
 */
#include "sim/build.h"
#include "sim/course.h"

/* --- One code --- */

typedef struct frozen {
    ovl_arena *arena;
    const uint32_t *nothing; /* where the parts of an empty list begin; of all codes together */
    ovl_code *code;
    uint32_t n;
    uint32_t *stream_prev, *comm_prev, *queue_prev, *comm_index, *waits;
    uint32_t *next_at, *next_item;
} frozen;

static uint32_t *filled(ovl_arena *arena, uint32_t n, uint32_t value)
{
    uint32_t *array = OVL_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        array[i] = value;
    }
    return array;
}

/* Remembers the last operation of each lane and gives the one before `op`. */
static uint32_t lane_prev(uint32_t *last, uint32_t lane, uint32_t op)
{
    uint32_t before = last[lane];
    last[lane] = op;
    return before;
}

static void find_stream_prev(frozen *f)
{
    uint32_t *last = filled(f->arena, f->code->n_streams, OVL_NONE);
    f->stream_prev = filled(f->arena, f->n, OVL_NONE);
    for (uint32_t i = 0; i < f->n; i++) {
        uint16_t stream = ovl_code_op(f->code, i)->stream;
        if (stream != OVL_NO_STREAM) {
            f->stream_prev[i] = lane_prev(last, stream, i);
        }
    }
}

/* A batch takes the place of its parts in the order of the communicator. */
static void find_comm_prev(frozen *f)
{
    uint32_t *last = filled(f->arena, f->code->n_slots, OVL_NONE);
    uint32_t *count = filled(f->arena, f->code->n_slots, 0);
    f->comm_prev = filled(f->arena, f->n, OVL_NONE);
    f->comm_index = filled(f->arena, f->n, 0);
    for (uint32_t i = 0; i < f->n; i++) {
        const ovl_op *op = ovl_code_op(f->code, i);
        if (op->comm == OVL_NO_COMM || op->behind) {
            continue;
        }
        f->comm_prev[i] = lane_prev(last, op->comm, i);
        if (op->kind == OVL_COLLECTIVE) {
            f->comm_index[i] = count[op->comm]++;
        }
    }
}

static bool is_eager_send(const ovl_op *op)
{
    return op->kind == OVL_SEND && op->eager;
}

static bool same_wire(const ovl_op *a, const ovl_op *b)
{
    return a->comm == b->comm && a->peer == b->peer && a->peer_relative == b->peer_relative;
}

/* Where the last eager send to the peer of `op` in its slot is, + 1; 0: none yet. Open addressing,
 * with twice as many places as there are sends. */
static uint32_t *wire_of(const frozen *f, uint32_t *table, uint32_t size, const ovl_op *op)
{
    uint64_t key = ((uint64_t)op->comm << 33) ^ ((uint64_t)(uint32_t)op->peer << 1) ^
                   (uint64_t)op->peer_relative;
    uint32_t at = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (size - 1);
    while (table[at] && !same_wire(ovl_code_op(f->code, table[at] - 1), op)) {
        at = (at + 1) & (size - 1);
    }
    return &table[at];
}

/* Each eager send knows the one before it on its wire. */
static void find_wires(frozen *f)
{
    ovl_arena scratch = {0};
    uint32_t n = 0, size = 8;
    for (uint32_t i = 0; i < f->n; i++) {
        n += is_eager_send(ovl_code_op(f->code, i));
    }
    while (size < 2 * (uint64_t)n) {
        size *= 2;
    }
    uint32_t *table = OVL_NEW_ARRAY(&scratch, uint32_t, size);
    for (uint32_t i = 0; i < f->n && n; i++) {
        if (is_eager_send(ovl_code_op(f->code, i))) {
            uint32_t *last = wire_of(f, table, size, ovl_code_op(f->code, i));
            f->comm_index[i] = *last;
            *last = i + 1;
        }
    }
    ovl_arena_free(&scratch);
}

/* Streams are spread over the hardware queues in turn; markers are no work and take no place. */
static void find_queue_prev(frozen *f, uint32_t hw_queues)
{
    if (hw_queues == 0 || hw_queues >= f->code->n_streams) {
        return;
    }
    uint32_t *last = filled(f->arena, hw_queues, OVL_NONE);
    f->queue_prev = filled(f->arena, f->n, OVL_NONE);
    for (uint32_t i = 0; i < f->n; i++) {
        const ovl_op *op = ovl_code_op(f->code, i);
        if (op->stream != OVL_NO_STREAM && op->kind != OVL_MARKER && !op->continues) {
            f->queue_prev[i] = lane_prev(last, op->stream % hw_queues, i);
        }
    }
}

/* Calls visit(f, before, i) for each distinct operation whose end operation i waits for. */
static void each_before(frozen *f, uint32_t i, uint32_t *seen,
                        void (*visit)(frozen *, uint32_t before, uint32_t i))
{
    const ovl_code *code = f->code;
    uint32_t fixed[2] = {f->stream_prev[i], f->comm_prev[i]};
    for (uint32_t k = 0; k < 2; k++) {
        if (fixed[k] != OVL_NONE && seen[fixed[k]] != i) {
            seen[fixed[k]] = i;
            visit(f, fixed[k], i);
        }
    }
    for (uint32_t k = code->after.at[i]; k < code->after.at[i + 1]; k++) {
        uint32_t before = code->after.item[k];
        if (seen[before] != i) {
            seen[before] = i;
            visit(f, before, i);
        }
    }
}

static void count_next(frozen *f, uint32_t before, uint32_t i)
{
    f->next_at[before + 1]++;
    f->waits[i]++;
}

static void fill_next(frozen *f, uint32_t before, uint32_t i)
{
    f->next_item[f->next_at[before]++] = i;
}

static void sum_up(uint32_t *at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        at[i + 1] += at[i];
    }
}

/* After filling, at[i] stands where i + 1 begins: shift it back. */
static void shift_back(uint32_t *at, uint32_t n)
{
    for (uint32_t i = n; i > 0; i--) {
        at[i] = at[i - 1];
    }
    at[0] = 0;
}

static void derive_next(frozen *f)
{
    f->next_at = OVL_NEW_ARRAY(f->arena, uint32_t, f->n + 1);
    f->waits = filled(f->arena, f->n, 1); /* the issue, or for a part its batch */
    ovl_arena scratch = {0};
    uint32_t *seen = filled(&scratch, f->n, OVL_NONE);
    for (uint32_t i = 0; i < f->n; i++) {
        each_before(f, i, seen, count_next);
    }
    sum_up(f->next_at, f->n);
    f->next_item = OVL_NEW_ARRAY(f->arena, uint32_t, f->next_at[f->n]);
    if (f->n) {
        memset(seen, 0xff, f->n * sizeof *seen); /* OVL_NONE everywhere */
    }
    for (uint32_t i = 0; i < f->n; i++) {
        each_before(f, i, seen, fill_next);
    }
    ovl_arena_free(&scratch);
    shift_back(f->next_at, f->n);
    f->code->next.at = f->next_at;
    f->code->next.item = f->next_item;
}

/* The lists of a relation `key[i]` -> i, e.g. the parts of each batch; keys OVL_NONE are left out.
 */
static void invert(ovl_arena *arena, const uint32_t *key, uint32_t n, uint32_t n_keys,
                   const uint32_t **at_out, const uint32_t **item_out)
{
    uint32_t *at = OVL_NEW_ARRAY(arena, uint32_t, n_keys + 1);
    for (uint32_t i = 0; i < n; i++) {
        if (key[i] != OVL_NONE) {
            at[key[i] + 1]++;
        }
    }
    sum_up(at, n_keys);
    uint32_t *item = OVL_NEW_ARRAY(arena, uint32_t, at[n_keys]);
    for (uint32_t i = 0; i < n; i++) {
        if (key[i] != OVL_NONE) {
            item[at[key[i]]++] = i;
        }
    }
    shift_back(at, n_keys);
    *at_out = at;
    *item_out = item;
}

static void derive_lists(frozen *f)
{
    ovl_code *code = f->code;
    ovl_arena scratch = {0};
    uint32_t *key = OVL_NEW_ARRAY(&scratch, uint32_t, f->n);
    bool batches = false;
    for (uint32_t i = 0; i < f->n; i++) {
        key[i] = ovl_code_batch(code, i);
        batches = batches || key[i] != OVL_NONE;
    }
    if (batches) {
        invert(f->arena, key, f->n, f->n, &code->parts.at, &code->parts.item);
    } else {
        code->parts.at = code->parts.item = f->nothing;
    }
    for (uint32_t i = 0; i < f->n; i++) {
        key[i] =
            ovl_code_op(code, i)->kind == OVL_COLLECTIVE ? ovl_code_op(code, i)->comm : OVL_NONE;
    }
    invert(f->arena, key, f->n, code->n_slots, &code->collectives.at, &code->collectives.item);
    ovl_arena_free(&scratch);
    if (f->queue_prev) {
        invert(f->arena, f->queue_prev, f->n, f->n, &code->queue_next.at, &code->queue_next.item);
        for (uint32_t i = 0; i < f->n; i++) {
            f->waits[i] += f->queue_prev[i] != OVL_NONE;
        }
    }
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

static void freeze_code(struct ovl_code_build *c, ovl_code *code, uint32_t hw_queues,
                        const uint32_t *nothing, const ovl_op *distinct, ovl_arena *arena)
{
    *code = (ovl_code){.n_ops = c->which.len,
                       .n_streams = c->streams.len,
                       .n_buffers = c->buffers.len,
                       .n_slots = c->n_slots};
    FREEZE_LIST(after);
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
    frozen f = {.arena = arena, .nothing = nothing, .code = code, .n = code->n_ops};
    find_stream_prev(&f);
    find_comm_prev(&f);
    find_wires(&f);
    find_queue_prev(&f, hw_queues);
    derive_next(&f);
    derive_lists(&f);
    code->stream_prev = f.stream_prev;
    code->comm_prev = f.comm_prev;
    code->queue_prev = f.queue_prev;
    code->comm_index = f.comm_index;
    code->waits = f.waits;
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
                          ovl_names_text(p->names, buffer->name));
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
    p.n_distinct = b->distinct.len;
    p.distinct = ovl_vec_freeze(&b->distinct, b->arena);
    for (uint32_t i = 0; i < p.n_codes; i++) {
        freeze_code(b->codes.data[i], &codes[i], b->hw_queues, nothing, p.distinct, b->arena);
        p.n_steps = OVL_MAX(p.n_steps, codes[i].n_steps);
    }
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
