#include "sim/course.h"

#include "sim/vec.h"

/* --- Lanes --- */

uint32_t ovl_lane_before(const ovl_code *code, uint32_t lane, uint32_t local)
{
    if (lane < code->n_streams) {
        uint32_t prev = ovl_code_stream_prev(code, local), comm = ovl_code_comm_prev(code, local);
        bool by_comm = prev == OVL_NONE && comm != OVL_NONE && ovl_lane(code, comm) == lane;
        return by_comm ? comm : prev;
    }
    uint32_t prev = ovl_code_comm_prev(code, local);
    while (prev != OVL_NONE && ovl_lane(code, prev) != lane) {
        prev = ovl_code_comm_prev(code, prev);
    }
    return prev;
}

static bool is_in_lane(const ovl_op *op)
{
    return !op->behind && op->kind != OVL_HOST;
}

static void find_lanes(const ovl_code *code, ovl_course *x, ovl_arena *arena)
{
    uint32_t n = ovl_lane_host(code) + 1;
    uint32_t *first = OVL_NEW_ARRAY(arena, uint32_t, n), *last = OVL_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t lane = 0; lane < n; lane++) {
        first[lane] = last[lane] = code->n_ops;
    }
    x->ordered = true;
    for (uint32_t i = 0; i < code->n_ops && x->ordered; i++) {
        const ovl_op *op = ovl_code_op(code, i);
        if (!is_in_lane(op)) {
            continue;
        }
        bool none = op->stream == OVL_NO_STREAM && op->comm == OVL_NO_COMM;
        uint32_t lane = none ? 0 : ovl_lane(code, i);
        bool begins = last[lane] == code->n_ops;
        x->ordered = !none && (begins || ovl_lane_before(code, lane, i) == last[lane]);
        first[lane] = begins ? i : first[lane];
        last[lane] = i;
    }
    x->first = first;
    x->last = last;
}

/* --- What need not be waited for --- */

/* While the edges of a code are gone through. */
typedef struct needing {
    const ovl_code *code;
    uint32_t n_lanes;
    uint32_t *waited; /* [n_lanes * n_lanes] of each lane, for each: 1 + the last operation there
                          that some operation so far waited for; 0: none */
    uint32_t *seen;   /* by operation: 1 + the last that was found to wait for it for nothing */
    ovl_tying lists;
    uint32_t *needs_of, *spare_of; /* [n_ops] of these */
    OVL_VEC(uint32_t) needs;       /* of one operation */
    OVL_VEC(uint32_t) spare;
} needing;

/* An edge to `before`, of an operation of a lane: false if one before it there waited for that, or
 * for what comes behind that in its lane. */
static bool is_needed(const needing *x, uint32_t lane, uint32_t before)
{
    return !is_in_lane(ovl_code_op(x->code, before)) ||
           x->waited[lane * x->n_lanes + ovl_lane(x->code, before)] <= before;
}

/* Once each, and only where it does not wait for that in any case. */
static void add_spare(needing *x, uint32_t i, uint32_t before)
{
    bool there =
        before == ovl_code_stream_prev(x->code, i) || before == ovl_code_comm_prev(x->code, i);
    if (!there && x->seen[before] != i + 1) {
        x->seen[before] = i + 1;
        ovl_vec_push(&x->spare, before);
    }
}

/* What is needed is stored by distance, and what is spare by its place: mostly it is the same for
 * all microbatches. */
static bool sort_edges(needing *x, uint32_t i)
{
    ovl_offsets after = ovl_code_after(x->code, i);
    bool in_lane = is_in_lane(ovl_code_op(x->code, i));
    uint32_t lane = in_lane ? ovl_lane(x->code, i) : 0;
    x->needs.len = x->spare.len = 0;
    for (uint32_t k = 0; k < after.n; k++) {
        if (!in_lane || is_needed(x, lane, i + after.by[k])) {
            ovl_vec_push(&x->needs, after.by[k]);
        } else {
            add_spare(x, i, i + after.by[k]);
        }
    }
    for (uint32_t k = 0; in_lane && k < after.n; k++) {
        uint32_t before = i + after.by[k];
        if (is_in_lane(ovl_code_op(x->code, before))) {
            uint32_t *last = &x->waited[lane * x->n_lanes + ovl_lane(x->code, before)];
            *last = OVL_MAX(*last, before + 1);
        }
    }
    x->needs_of[i] = ovl_tie_list(&x->lists, x->needs.data, x->needs.len);
    x->spare_of[i] = ovl_tie_list(&x->lists, x->spare.data, x->spare.len);
    return x->needs.len < after.n;
}

#define LANES_MAX 16 /* squared, by operation */

static uint64_t lane_pairs(const ovl_code *code)
{
    return (uint64_t)ovl_lane_host(code) * ovl_lane_host(code);
}

/* Where lanes are so many that the table of them would be much larger than the code nothing is
 * looked for. */
static void find_needs(const ovl_code *code, ovl_course *x, ovl_arena *arena)
{
    ovl_arena scratch = {0};
    needing n = {.code = code, .n_lanes = ovl_lane_host(code)};
    if (lane_pairs(code) > LANES_MAX * (uint64_t)code->n_ops) {
        return;
    }
    n.waited = OVL_NEW_ARRAY(&scratch, uint32_t, n.n_lanes * n.n_lanes);
    n.seen = OVL_NEW_ARRAY(&scratch, uint32_t, code->n_ops);
    n.needs_of = OVL_NEW_ARRAY(&scratch, uint32_t, code->n_ops);
    n.spare_of = OVL_NEW_ARRAY(&scratch, uint32_t, code->n_ops);
    bool any = false;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        any |= sort_edges(&n, i);
    }
    if (any) {
        uint32_t *needs = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops);
        uint32_t *spare = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops);
        memcpy(needs, n.needs_of, code->n_ops * sizeof *needs);
        memcpy(spare, n.spare_of, code->n_ops * sizeof *spare);
        x->needs = needs;
        x->spare = spare;
        x->lists = ovl_vec_freeze(&n.lists.offsets, arena);
    }
    ovl_vec_free(&n.needs);
    ovl_vec_free(&n.spare);
    ovl_tying_free(&n.lists);
    ovl_arena_free(&scratch);
}

/* --- What operations say by themselves --- */

static bool reaches_far(const ovl_code *code, const ovl_ties *ties)
{
    ovl_offsets next = ovl_offsets_at(code->offsets, ties->next);
    return (next.n > 0 && next.by[next.n - 1] > OVL_COURSE_FAR) ||
           ties->queue_next > OVL_COURSE_FAR;
}

static void find_facts(const ovl_code *code, ovl_course *x, ovl_arena *arena)
{
    OVL_VEC(uint32_t) starts = {0};
    OVL_VEC(uint32_t) far = {0};
    for (uint32_t i = 0; i < code->n_ops; i++) {
        const ovl_op *op = ovl_code_op(code, i);
        x->eager_sends += op->kind == OVL_SEND && op->eager;
        x->varies = x->varies || op->per_rank;
        const ovl_ties *ties = ovl_code_ties(code, i);
        if (ties->waits == 1 && !op->behind) {
            ovl_vec_push(&starts, i);
        }
        if (reaches_far(code, ties)) {
            ovl_vec_push(&far, i);
        }
    }
    x->n_starts = starts.len;
    x->n_far = far.len;
    x->starts = ovl_vec_freeze(&starts, arena);
    x->far = ovl_vec_freeze(&far, arena);
}

/* --- Like operations --- */

/* A call that comes at a moment is like no other; parts stand behind their batch. */
static bool may_repeat(const ovl_program *p, const ovl_code *code, uint32_t local)
{
    const ovl_op *op = ovl_code_op(code, local);
    bool behind = op->behind < 2 || ovl_code_op(code, local - 1)->behind == op->behind - 1;
    return behind && (op->kind != OVL_HOST || op->per_rank || p->costs[op->cost].latency == 0);
}

/* Messages go to one peer. */
static bool same_op(const ovl_program *p, const ovl_op *x, const ovl_op *y)
{
    bool message = x->kind == OVL_SEND || x->kind == OVL_RECV;
    return x == y || (x->kind == y->kind && x->eager == y->eager && x->per_rank == y->per_rank &&
                      x->uneven == y->uneven && x->stream == y->stream && x->comm == y->comm &&
                      x->launch == y->launch && x->behind == y->behind &&
                      (!message || (x->peer == y->peer && x->peer_relative == y->peer_relative)) &&
                      (x->per_rank || ovl_same_cost(p, &p->costs[x->cost], &p->costs[y->cost])));
}

/* As far behind what they need. */
static bool same_back(const ovl_code *code, const ovl_course *course, uint32_t a, uint32_t b)
{
    const ovl_ties *x = ovl_code_ties(code, a), *y = ovl_code_ties(code, b);
    if (!course->needs) {
        return x->alike == y->alike;
    }
    return course->needs[a] == course->needs[b] && x->back.stream_prev == y->back.stream_prev &&
           x->back.comm_prev == y->back.comm_prev && x->back.queue_prev == y->back.queue_prev &&
           x->back.wire == y->back.wire;
}

static bool is_like(const ovl_program *p, const ovl_code *code, const ovl_course *course,
                    uint32_t a, uint32_t b)
{
    return same_back(code, course, a, b) &&
           ovl_code_ties(code, a)->parts == ovl_code_ties(code, b)->parts &&
           same_op(p, ovl_code_op(code, a), ovl_code_op(code, b));
}

bool ovl_ops_alike(const ovl_program *p, const ovl_code *code, const ovl_course *course, uint32_t a,
                   uint32_t b)
{
    return may_repeat(p, code, a) && may_repeat(p, code, b) && is_like(p, code, course, a, b);
}

/* --- Classes of like operations --- */

/* The class of operations that are the same and are tied alike. */
#define KNOWN 256
typedef struct known {
    uint32_t which, tied, needs, number;
} known;

typedef struct classes {
    const ovl_program *p;
    const ovl_code *code;
    const ovl_course *course;
    ovl_arena arena;
    uint32_t *table; /* [size] the number of a class + 1; 0: free. Open addressing */
    uint32_t size;
    known known[KNOWN];
    OVL_VEC(uint64_t) hash; /* by class */
    OVL_VEC(uint32_t) op;   /* by class: its first operation */
} classes;

static uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* Equal for like operations. */
static uint64_t hash_of(const classes *c, uint32_t local)
{
    const ovl_code *code = c->code;
    const ovl_op *op = ovl_code_op(code, local);
    const ovl_cost *cost = &c->p->costs[op->cost];
    uint64_t hash = mixed((uint64_t)op->launch,
                          (uint64_t)op->kind << 32 | (uint64_t)op->stream << 16 | op->comm);
    const ovl_ties *ties = ovl_code_ties(code, local);
    hash = c->course->needs ? mixed(mixed(hash, c->course->needs[local]),
                                    (uint64_t)ties->back.stream_prev << 32 | ties->back.comm_prev)
                            : mixed(hash, ties->alike);
    if (!op->per_rank) {
        hash = mixed(hash, (uint64_t)cost->work ^ (uint64_t)cost->latency << 32);
    }
    return hash;
}

static void put(classes *c, uint32_t number)
{
    uint32_t at = (uint32_t)(c->hash.data[number] >> 32) & (c->size - 1);
    while (c->table[at]) {
        at = (at + 1) & (c->size - 1);
    }
    c->table[at] = number + 1;
}

/* Never more than half full. */
static void grow(classes *c)
{
    c->size = OVL_MAX(2 * c->size, 128);
    c->table = OVL_NEW_ARRAY(&c->arena, uint32_t, c->size);
    for (uint32_t i = 0; i < c->op.len; i++) {
        put(c, i);
    }
}

static uint32_t find_class(classes *c, uint32_t local)
{
    uint64_t hash = hash_of(c, local);
    bool repeats = may_repeat(c->p, c->code, local);
    if (2 * (c->op.len + 1) > c->size) {
        grow(c);
    }
    for (uint32_t at = (uint32_t)(hash >> 32) & (c->size - 1); repeats && c->table[at];
         at = (at + 1) & (c->size - 1)) {
        uint32_t number = c->table[at] - 1, first = c->op.data[number];
        if (c->hash.data[number] == hash && may_repeat(c->p, c->code, first) &&
            is_like(c->p, c->code, c->course, first, local)) {
            return number;
        }
    }
    ovl_vec_push(&c->hash, hash);
    ovl_vec_push(&c->op, local);
    put(c, c->op.len - 1);
    return c->op.len - 1;
}

/* What an operation was the last time it mostly is again: the place in `known` tells. */
static uint32_t class_of(classes *c, uint32_t local)
{
    const ovl_code *code = c->code;
    uint32_t which = code->which[local], tied = code->tied[local];
    uint32_t needs = c->course->needs ? c->course->needs[local] : 0;
    known *k = &c->known[(which * 31 + tied) % KNOWN];
    if (!may_repeat(c->p, code, local)) {
        return find_class(c, local);
    }
    if (k->which != which || k->tied != tied || k->needs != needs) {
        *k = (known){which, tied, needs, find_class(c, local)};
    }
    return k->number;
}

static void find_runs(const ovl_program *p, const ovl_code *code, ovl_course *x, ovl_arena *arena)
{
    classes c = {.p = p, .code = code, .course = x};
    memset(c.known, 0xff, sizeof c.known); /* OVL_NONE everywhere */
    ovl_repeats runs = {0};
    uint32_t *items = OVL_NEW_ARRAY(&c.arena, uint32_t, code->n_ops);
    for (uint32_t i = 0; i < code->n_ops; i++) {
        items[i] = class_of(&c, i);
    }
    ovl_repeats_find(items, code->n_ops, &runs);
    x->n_runs = runs.len;
    x->runs = ovl_vec_freeze(&runs, arena);
    ovl_vec_free(&c.hash);
    ovl_vec_free(&c.op);
    ovl_arena_free(&c.arena);
}

/* --- The same order at other costs --- */

/* Of two that were alike. */
static bool still_alike(const ovl_program *p, const ovl_code *code, uint32_t a, uint32_t b)
{
    const ovl_op *x = ovl_code_op(code, a), *y = ovl_code_op(code, b);
    return x->per_rank == y->per_rank && x->launch == y->launch &&
           (x->per_rank || x->cost == y->cost ||
            ovl_same_cost(p, &p->costs[x->cost], &p->costs[y->cost])) &&
           (x->kind != OVL_HOST || (may_repeat(p, code, a) && may_repeat(p, code, b)));
}

/* What is left of a run. */
static void keep_run(const ovl_program *p, const ovl_code *code, const ovl_repeat *run,
                     ovl_repeats *kept)
{
    uint32_t first = run->first;
    for (uint32_t i = first; i < run->end; i++) {
        bool last = i + run->period == run->end;
        if (!last && still_alike(p, code, i, i + run->period)) {
            continue;
        }
        if ((i + run->period - first) / run->period >= OVL_REPEATS_BLOCKS) {
            ovl_vec_push(kept, (ovl_repeat){run->period, first, i + run->period});
        }
        if (last) {
            return;
        }
        first = i + 1;
    }
}

/* Where nothing repeated itself something may at other costs: that is to be looked for. */
static bool has_order_of(const ovl_code *code, const ovl_course *old, bool repeats)
{
    return old && old->tied == code->tied && old->ties == code->ties &&
           (!repeats || old->n_runs > 0);
}

static void adapt(const ovl_program *p, const ovl_code *code, const ovl_course *old, bool repeats,
                  ovl_course *x, ovl_arena *arena)
{
    ovl_repeats kept = {0};
    *x = *old;
    x->ops = code->distinct;
    x->which = code->which;
    x->costs = p->costs;
    x->varies = false;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        x->varies = x->varies || ovl_code_op(code, i)->per_rank;
    }
    for (uint32_t i = 0; i < old->n_runs && repeats; i++) {
        keep_run(p, code, &old->runs[i], &kept);
    }
    x->n_runs = kept.len;
    x->runs = ovl_vec_freeze(&kept, arena);
}

ovl_course *ovl_course_find(const ovl_program *p, const ovl_code *code, bool repeats,
                            ovl_arena *arena)
{
    ovl_course *x = OVL_NEW(arena, ovl_course);
    if (has_order_of(code, code->course, repeats)) {
        adapt(p, code, code->course, repeats, x, arena);
        return x;
    }
    *x = (ovl_course){.ops = code->distinct,
                      .which = code->which,
                      .costs = p->costs,
                      .tied = code->tied,
                      .ties = code->ties};
    find_lanes(code, x, arena);
    find_facts(code, x, arena);
    if (repeats && x->ordered && code->n_ops >= OVL_COURSE_MIN) {
        find_needs(code, x, arena);
        find_runs(p, code, x, arena);
    }
    return x;
}

const ovl_course *ovl_course_known(const ovl_program *p, const ovl_code *code)
{
    const ovl_course *x = code->course;
    return x && x->ops == code->distinct && x->which == code->which && x->costs == p->costs ? x
                                                                                            : NULL;
}

static uint64_t edges_of(const ovl_code *code)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        n += ovl_code_after(code, i).n;
    }
    return n;
}

/* By operation: runs, which have four blocks at least and OVL_REPEATS_MAX different periods; lists
 * (2 words); what it needs, what is spare, and three on the way to them; and on the way the number
 * of its class, that class, and its place twice, for the table that a larger one replaced is given
 * back with it. Edges may be told for each that has them, with what finds them again. */
uint64_t ovl_course_memory(const ovl_program *p, const ovl_code *code)
{
    const uint64_t runs = OVL_REPEATS_MAX * sizeof(ovl_repeat) / OVL_REPEATS_BLOCKS;
    const uint64_t rest = 17 * sizeof(uint32_t), by_edge = 8 * sizeof(uint32_t);
    if (ovl_course_known(p, code)) {
        return 0;
    }
    if (has_order_of(code, code->course, true)) {
        return runs * code->n_ops;
    }
    uint64_t lanes = OVL_MIN(lane_pairs(code), LANES_MAX * (uint64_t)code->n_ops);
    return (runs + rest) * code->n_ops + by_edge * edges_of(code) + sizeof(uint32_t) * lanes;
}
