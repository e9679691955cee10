#include "sim/hazard.h"

#include "sim/behind.h"

/* An access of one operation, reads and writes of it joined. */
typedef struct use {
    uint32_t op;   /* local */
    uint32_t seat; /* the operation that has the stream: itself, or its batch */
    bool reads, writes;
} use;

/* The last uses of a buffer on one lane: whoever is ordered behind the last is behind all. */
typedef struct lane_uses {
    use read, write; /* op OVL_NONE without */
} lane_uses;

typedef struct joined {
    ovl_id buffer;
    use use;
} joined;

#define SEEN_COLLECTIVE 16 /* beside a bit per kind of node; kept on the first member */

typedef struct check {
    ovl_causes *c;
    ovl_arena *arena;
    ovl_hazards *hazards;
    const ovl_code *code;
    uint32_t code_id, n_lanes;
    uint32_t first_rank, n_ranks; /* that run the code */
    uint32_t *clock; /* [n_ops][n_lanes] one more than the last operation of the lane that ended
                        before this one arrived */
    uint32_t *host;  /* [n_lanes] the same for whatever is issued now */
    lane_uses *uses; /* [n_buffers][n_lanes] */
    OVL_VEC(joined) joined; /* what one operation does to each buffer */
    uint32_t *place;        /* [n_buffers] where in `joined`, if it is there */
    uint64_t pairs, reuses;
    uint32_t *first_use; /* [n_buffers] the first operation that uses it, or OVL_NONE */
    uint8_t *seen;       /* [n_ops] of the search; NULL until needed */
    OVL_VEC(uint64_t) stack, visited;
} check;

/* --- Clocks --- */

static uint32_t lane_of(const check *k, uint32_t seat)
{
    uint16_t stream = ovl_code_op(k->code, seat)->stream;
    return stream == OVL_NO_STREAM ? k->n_lanes - 1 : stream;
}

static uint32_t seat_of(const check *k, uint32_t op)
{
    uint32_t batch = ovl_code_batch(k->code, op);
    return batch == OVL_NONE ? op : batch;
}

static void join(const check *k, uint32_t *clock, const uint32_t *other)
{
    for (uint32_t lane = 0; lane < k->n_lanes; lane++) {
        clock[lane] = OVL_MAX(clock[lane], other[lane]);
    }
}

/* That `before` ended. The end of a part says only that its batch had arrived. */
static void join_end(const check *k, uint32_t *clock, uint32_t before)
{
    if (before == OVL_NONE) {
        return;
    }
    uint32_t seat = seat_of(k, before);
    join(k, clock, k->clock + (size_t)seat * k->n_lanes);
    if (seat == before) {
        uint32_t *own = &clock[lane_of(k, seat)];
        *own = OVL_MAX(*own, before + 1);
    }
}

static void set_clock(check *k, uint32_t op)
{
    const ovl_code *code = k->code;
    uint32_t *clock = k->clock + (size_t)op * k->n_lanes;
    if (ovl_code_batch(code, op) != OVL_NONE) {
        join(k, clock, k->clock + (size_t)ovl_code_batch(code, op) * k->n_lanes);
    } else {
        join(k, clock, k->host);
    }
    join_end(k, clock, ovl_code_stream_prev(code, op));
    join_end(k, clock, ovl_code_comm_prev(code, op));
    ovl_offsets after = ovl_code_after(code, op);
    for (uint32_t i = 0; i < after.n; i++) {
        join_end(k, clock, op + after.by[i]);
    }
    if (ovl_code_op(code, op)->kind == OVL_HOST) {
        join_end(k, k->host, op);
    }
}

/* --- Search over the whole program --- */

static void look_at(check *k, uint64_t node, ovl_time not_before)
{
    uint8_t *seen = &k->seen[OVL_TRAIL_OP(node)], bit = (uint8_t)(1u << OVL_TRAIL_KIND(node));
    if ((*seen & bit) == 0 && ovl_node_time(k->c, node) >= not_before) {
        *seen |= bit;
        ovl_vec_push(&k->visited, node);
        ovl_vec_push(&k->stack, node);
    }
}

/* All members of a collective have the same causes of their end: one look is enough. True if it was
 * looked at before. */
static bool members_known(check *k, uint64_t node)
{
    uint32_t op = OVL_TRAIL_OP(node);
    if (OVL_TRAIL_KIND(node) != OVL_ENDED || ovl_causes_op(k->c, op)->kind != OVL_COLLECTIVE) {
        return false;
    }
    uint32_t which = ovl_causes_collective(k->c, op);
    const uint32_t *first = k->c->member_ops + k->c->first_member[which];
    if (k->seen[*first] & SEEN_COLLECTIVE) {
        return true;
    }
    k->seen[*first] |= SEEN_COLLECTIVE;
    ovl_vec_push(&k->visited, OVL_TRAIL(*first, OVL_ENDED));
    return false;
}

static void forget(check *k)
{
    for (uint32_t i = 0; i < k->visited.len; i++) {
        k->seen[OVL_TRAIL_OP(k->visited.data[i])] = 0;
    }
    k->visited.len = k->stack.len = 0;
}

/* What must have happened before a node. The hardware queue and copy engines order things in fact,
 * but no program should rely on it. Who has received a message knows that it was sent. */
static void look_behind(check *k, uint64_t node, ovl_time not_before)
{
    uint32_t op = OVL_TRAIL_OP(node);
    ovl_causes_of(k->c, node);
    for (uint32_t i = 0; i < k->c->list.len; i++) {
        ovl_why why = k->c->list.data[i].why;
        if (why != OVL_WHY_QUEUE && why != OVL_WHY_ENGINE) {
            look_at(k, k->c->list.data[i].node, not_before);
        }
    }
    if (OVL_TRAIL_KIND(node) == OVL_ENDED && ovl_causes_op(k->c, op)->kind == OVL_RECV) {
        look_at(k, OVL_TRAIL(k->c->program->partner[op], OVL_ENDED), not_before);
    }
}

/* Does `later` begin only after the end of `before`, whatever the durations? A receive writes
 * nothing before its sender arrived; a collective may from its own arrival on. */
static bool behind(check *k, uint32_t before, uint32_t later)
{
    ovl_time not_before = k->c->timeline->end[before];
    look_at(k, OVL_TRAIL(later, OVL_ARRIVED), not_before);
    if (ovl_causes_op(k->c, later)->kind == OVL_RECV) {
        look_at(k, OVL_TRAIL(k->c->program->partner[later], OVL_ARRIVED), not_before);
    }
    while (k->stack.len && (k->seen[before] & (1u << OVL_ENDED)) == 0) {
        uint64_t node = k->stack.data[--k->stack.len];
        if (!members_known(k, node)) {
            look_behind(k, node, not_before);
        }
    }
    bool found = (k->seen[before] & (1u << OVL_ENDED)) != 0;
    forget(k);
    return found;
}

static void prepare_search(check *k)
{
    uint32_t n_ops = k->c->program->n_ops;
    k->seen = k->seen ? k->seen : ovl_tally_take(n_ops, 1);
}

/* Is `later` behind `before` on every rank that runs the code; or, if either will do, `before`
 * behind `later`? */
static bool ordered_everywhere(check *k, uint32_t before, uint32_t later, bool either)
{
    const ovl_program *p = k->c->program;
    prepare_search(k);
    for (uint32_t r = k->first_rank; r < p->n_ranks; r++) {
        uint32_t first = p->ranks[r].first_op;
        if (p->ranks[r].code == k->code_id && !behind(k, first + before, first + later) &&
            (!either || !behind(k, first + later, first + before))) {
            return false;
        }
    }
    return !p->fold || ovl_behind_everywhere(k->c, k->code_id, before, later, either);
}

/* --- Words --- */

static const char *kind_of(const ovl_op *op)
{
    return op->kind == OVL_COLLECTIVE ? ovl_coll_name(op->coll) : ovl_op_kind_name(op->kind);
}

static void report(check *k, const use *earlier, const use *later, ovl_id buffer)
{
    const ovl_names *names = k->c->program->names;
    const ovl_op *a = ovl_code_op(k->code, earlier->op), *b = ovl_code_op(k->code, later->op);
    const char *text = ovl_names_text(names, k->code->name[earlier->op]);
    const char *advice = ovl_arena_printf(
        k->arena, earlier->seat == later->seat ? "they are parts of one batch" : "add after: [%s]",
        text);
    bool reads = earlier->writes && later->reads;
    uint32_t rank = ovl_rank_number(k->c->program, k->first_rank);
    ovl_result_hazard hazard = {.kind = "race", .mark = b->mark, .rank = rank, .count = k->n_ranks};
    hazard.text = ovl_arena_printf(
        k->arena,
        "\"%s\" %s buffer \"%s\" without waiting for \"%s\" (%s) that %s it, on rank %" PRIu32
        "; %s",
        ovl_names_text(names, k->code->name[later->op]), reads ? "reads" : "writes",
        ovl_names_text(names, k->code->buffers[buffer].name), text, kind_of(a),
        earlier->writes ? "writes" : "reads", rank, advice);
    ovl_vec_push(k->hazards, hazard);
}

/* --- Pairs --- */

static bool check_pair(check *k, const use *earlier, const use *later, ovl_id buffer)
{
    if (earlier->op == OVL_NONE || earlier->op == later->op) {
        return true;
    }
    k->pairs++;
    const uint32_t *clock = k->clock + (size_t)later->op * k->n_lanes;
    if (clock[lane_of(k, earlier->seat)] > earlier->seat ||
        ordered_everywhere(k, earlier->op, later->op, true)) {
        return true;
    }
    report(k, earlier, later, buffer);
    return false;
}

/* One sentence per pair of operations and buffer, also if one both reads and writes. */
static void check_lane(check *k, const lane_uses *lane, const use *later, ovl_id buffer)
{
    bool good = check_pair(k, &lane->write, later, buffer);
    if (later->writes && (good || lane->read.op != lane->write.op)) {
        check_pair(k, &lane->read, later, buffer);
    }
}

static void check_use(check *k, const use *later, ovl_id buffer)
{
    lane_uses *lanes = k->uses + (size_t)buffer * k->n_lanes;
    if (k->first_use[buffer] == OVL_NONE) {
        k->first_use[buffer] = later->op;
    }
    for (uint32_t lane = 0; lane < k->n_lanes; lane++) {
        check_lane(k, &lanes[lane], later, buffer);
    }
    lane_uses *own = &lanes[lane_of(k, later->seat)];
    if (later->reads) {
        own->read = *later;
    }
    if (later->writes) {
        own->write = *later;
    }
}

/* Puts all accesses of `op` together by buffer, in the order in which it first names them. An
 * optimizer touches every tensor of the model, so what a buffer has is found by its number. */
static void join_accesses(check *k, uint32_t op)
{
    const ovl_access *item = k->code->access.item;
    k->joined.len = 0;
    for (uint32_t i = k->code->access.at[op]; i < k->code->access.at[op + 1]; i++) {
        uint32_t *place = &k->place[item[i].buffer];
        if (*place >= k->joined.len || k->joined.data[*place].buffer != item[i].buffer) {
            *place = k->joined.len;
            joined first = {item[i].buffer, {.op = op, .seat = seat_of(k, op)}};
            ovl_vec_push(&k->joined, first);
        }
        k->joined.data[*place].use.reads |= !item[i].write;
        k->joined.data[*place].use.writes |= item[i].write;
    }
}

static void check_op(check *k, uint32_t op)
{
    set_clock(k, op);
    join_accesses(k, op);
    for (uint32_t i = 0; i < k->joined.len; i++) {
        check_use(k, &k->joined.data[i].use, k->joined.data[i].buffer);
    }
}

/* --- Memory that is used again --- */

/* A buffer is freed, or allocated, at a host position; frees come first. */
typedef struct turn {
    uint32_t at;
    bool allocates;
    uint32_t buffer;
} turn;

static int compare_turns(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    if (x->allocates != y->allocates) {
        return x->allocates ? 1 : -1;
    }
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

typedef struct hole {
    uint32_t buffer; /* that was there */
    uint64_t bytes;
} hole;

typedef OVL_VEC(hole) holes;

#define HOLES_LOOKED_AT 1000 /* of those freed last */

/* The hole of a pool that was freed last among those that are large enough; NONE if there is none.
 */
static uint32_t find_hole(const holes *pool, uint64_t bytes)
{
    uint32_t least = pool->len > HOLES_LOOKED_AT ? pool->len - HOLES_LOOKED_AT : 0;
    for (uint32_t i = pool->len; i-- > least;) {
        if (pool->data[i].bytes >= bytes) {
            return i;
        }
    }
    return OVL_NONE;
}

/* Gives the buffer whose memory it gets, or OVL_NONE. What is left of it stays a hole. */
static uint32_t take_hole(holes *pool, uint64_t bytes)
{
    uint32_t i = find_hole(pool, bytes);
    if (i == OVL_NONE) {
        return OVL_NONE;
    }
    uint32_t buffer = pool->data[i].buffer;
    pool->data[i].bytes -= bytes;
    if (pool->data[i].bytes == 0) {
        pool->len--;
        memmove(pool->data + i, pool->data + i + 1, (pool->len - i) * sizeof *pool->data);
    }
    return buffer;
}

/* Has it ended, on every rank, before `next` arrives? */
static bool through(check *k, const use *last, uint32_t next)
{
    const uint32_t *clock = k->clock + (size_t)next * k->n_lanes;
    return last->op == OVL_NONE || clock[lane_of(k, last->seat)] > last->seat ||
           ordered_everywhere(k, last->op, next, false);
}

static void report_reuse(check *k, const use *last, uint32_t next, ovl_id freed, ovl_id taken)
{
    const ovl_names *names = k->c->program->names;
    const ovl_op *a = ovl_code_op(k->code, last->op), *b = ovl_code_op(k->code, next);
    const char *text = ovl_names_text(names, k->code->name[last->op]);
    uint32_t rank = ovl_rank_number(k->c->program, k->first_rank);
    ovl_result_hazard hazard = {
        .kind = "early_free", .mark = b->mark, .rank = rank, .count = k->n_ranks};
    hazard.text = ovl_arena_printf(
        k->arena,
        "\"%s\" uses buffer \"%s\", which gets the memory of \"%s\", without waiting for \"%s\" "
        "(%s) that %s that, on rank %" PRIu32 "; wait for it before freeing \"%s\"",
        ovl_names_text(names, k->code->name[next]),
        ovl_names_text(names, k->code->buffers[taken].name),
        ovl_names_text(names, k->code->buffers[freed].name), text, kind_of(a),
        last->writes ? "writes" : "reads", rank,
        ovl_names_text(names, k->code->buffers[freed].name));
    ovl_vec_push(k->hazards, hazard);
}

static void check_reuse(check *k, ovl_id freed, ovl_id taken)
{
    uint32_t next = k->first_use[taken];
    const lane_uses *lanes = k->uses + (size_t)freed * k->n_lanes;
    if (next == OVL_NONE) {
        return;
    }
    k->reuses++;
    for (uint32_t lane = 0; lane < k->n_lanes; lane++) {
        const use *last[] = {&lanes[lane].write, &lanes[lane].read};
        for (int i = 0; i < 2; i++) {
            if (!through(k, last[i], next)) {
                report_reuse(k, last[i], next, freed, taken);
                return;
            }
        }
    }
}

static uint32_t list_turns(const ovl_code *code, turn *turns)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < code->n_buffers; b++) {
        const ovl_buffer *buffer = &code->buffers[b];
        turns[n++] = (turn){buffer->alloc, true, b};
        if (buffer->freed != OVL_NONE && buffer->freed > buffer->alloc) {
            turns[n++] = (turn){buffer->freed, false, b};
        }
    }
    qsort(turns, n, sizeof *turns, compare_turns);
    return n;
}

/* Frees and allocations in host order, a list of holes for each pool. A buffer that has its own
 * bytes on each rank counts as on the rank that has most of it. */
static void check_reuses(check *k, ovl_arena *scratch)
{
    const ovl_code *code = k->code;
    turn *turns = OVL_NEW_ARRAY(scratch, turn, 2 * (size_t)code->n_buffers);
    holes *pools = OVL_NEW_ARRAY(scratch, holes, code->n_streams + 1);
    uint32_t n = list_turns(code, turns);
    for (uint32_t i = 0; i < n; i++) {
        const ovl_buffer *buffer = &code->buffers[turns[i].buffer];
        holes *pool = &pools[OVL_MIN(buffer->stream, code->n_streams)];
        if (turns[i].allocates) {
            uint32_t freed = take_hole(pool, buffer->bytes);
            if (freed != OVL_NONE) {
                check_reuse(k, freed, turns[i].buffer);
            }
        } else if (!buffer->record_stream) {
            hole left = {turns[i].buffer, buffer->bytes};
            ovl_vec_push(pool, left);
        }
    }
    for (uint32_t s = 0; s <= code->n_streams; s++) {
        ovl_vec_free(&pools[s]);
    }
}

static void check_code(check *k, uint32_t code_id)
{
    const ovl_program *p = k->c->program;
    k->code = &p->codes[k->code_id = code_id];
    k->n_ranks = 0;
    for (uint32_t r = p->n_ranks; r-- > 0;) {
        if (p->ranks[r].code == code_id) {
            k->first_rank = r;
            k->n_ranks += ovl_rank_count(p, r);
        }
    }
    if (k->code->n_buffers == 0 || k->n_ranks == 0) {
        return;
    }
    ovl_arena scratch = {0};
    size_t n_lanes = k->n_lanes = k->code->n_streams + 1;
    k->clock = OVL_NEW_ARRAY(&scratch, uint32_t, k->code->n_ops * n_lanes);
    k->host = OVL_NEW_ARRAY(&scratch, uint32_t, n_lanes);
    k->uses = OVL_NEW_ARRAY(&scratch, lane_uses, k->code->n_buffers * n_lanes);
    k->place = OVL_NEW_ARRAY(&scratch, uint32_t, k->code->n_buffers);
    k->first_use = OVL_NEW_ARRAY(&scratch, uint32_t, k->code->n_buffers);
    for (uint32_t b = 0; b < k->code->n_buffers; b++) {
        k->first_use[b] = OVL_NONE;
    }
    for (size_t i = 0; i < k->code->n_buffers * n_lanes; i++) {
        k->uses[i].read.op = k->uses[i].write.op = OVL_NONE;
    }
    uint64_t before = k->pairs, reuses = k->reuses;
    for (uint32_t op = 0; op < k->code->n_ops; op++) {
        check_op(k, op);
    }
    check_reuses(k, &scratch);
    k->pairs = before + (k->pairs - before) * k->n_ranks;
    k->reuses = reuses + (k->reuses - reuses) * k->n_ranks;
    ovl_arena_free(&scratch);
}

void ovl_races_find(ovl_causes *causes, ovl_arena *arena, ovl_hazards *hazards,
                    ovl_races_checked *checked)
{
    check k = {.c = causes, .arena = arena, .hazards = hazards};
    for (uint32_t code = 0; code < causes->program->n_codes; code++) {
        check_code(&k, code);
    }
    checked->accesses = (uint32_t)OVL_MIN(k.pairs, UINT32_MAX);
    checked->reuses = (uint32_t)OVL_MIN(k.reuses, UINT32_MAX);
    ovl_tally_give(k.seen, k.c->program->n_ops, 1);
    ovl_vec_free(&k.joined);
    ovl_vec_free(&k.stack);
    ovl_vec_free(&k.visited);
}
