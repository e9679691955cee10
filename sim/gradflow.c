#include "sim/gradflow.h"

#include "sim/gradform.h"
#include "sim/gradhold.h"
#include "sim/gradreport.h"

typedef struct receipt {
    ovl_id gradient;
    uint64_t hash; /* of the value received */
} receipt;

/* What a comparison gave: the same values meet on every rank. */
typedef struct checked {
    bool known;
    uint32_t expected, received;
    ovl_gradient_verdict verdict;
} checked;

#define CHECKED_SLOTS 1024

typedef struct flow {
    const ovl_causes *c;
    const ovl_program *p, *whole; /* what ran; what that stands for */
    ovl_gradforms forms;          /* buffers hold forms ... */
    ovl_gradvalues values;        /* ... and optimizers receive values */
    ovl_expectations expected;    /* by name and part */
    ovl_holding *buffers;         /* first_buffer[rank] + buffer */
    uint32_t *first_buffer;
    uint32_t *stands_at, *stands; /* by rank that ran: the ranks it stands for */
    bool *applied;                /* [n_collectives] */
    uint64_t *last_receipt; /* likewise: hash of the last receipt, so that repeats are cheap */
    checked *checks;        /* [CHECKED_SLOTS] */
    ovl_gradient_problems problems;
    OVL_VEC(receipt) receipts;
    OVL_VEC(uint32_t) list; /* scratch of a sum */
    OVL_VEC(ovl_held) sum;
    OVL_VEC(uint32_t) cursor;
    OVL_VEC(uint32_t) meeting; /* operations of collectives that end at this instant */
    uint32_t proved, consumed;
} flow;

static ovl_holding *holding_of(flow *f, uint32_t rank, ovl_id buffer)
{
    return &f->buffers[f->first_buffer[rank] + buffer];
}

/* --- Effects of one operation --- */

static double own_scale(const ovl_effect *e)
{
    return e->scale != 0 ? e->scale : 1.0; /* exactly zero means that none was given */
}

static void apply_add(flow *f, uint32_t rank, const ovl_effect *e)
{
    ovl_holding *h = holding_of(f, rank, e->buffer);
    uint32_t own = ovl_gradform_own(&f->forms, e->microbatch, own_scale(e));
    uint32_t before = e->kind == OVL_ADD ? ovl_holding_value(h, e->gradient) : OVL_NONE;
    if (before != OVL_NONE) {
        own = ovl_gradform_combine(&f->forms, (uint32_t[]){before, own}, 2, 1.0);
    }
    ovl_holding_put(h, e->gradient, own);
}

static void apply_pack(flow *f, uint32_t rank, const ovl_effect *e)
{
    const ovl_holding *source = holding_of(f, rank, e->source != OVL_NONE ? e->source : e->buffer);
    ovl_holding *h = holding_of(f, rank, e->buffer);
    for (uint32_t i = 0; i < source->len; i++) {
        ovl_held item = source->data[i];
        uint32_t form = ovl_gradform_combine(&f->forms, &item.value, 1, e->scale);
        bool adds = e->kind == OVL_ACCUMULATE;
        uint32_t before = adds ? ovl_holding_value(h, item.gradient) : OVL_NONE;
        if (before != OVL_NONE) {
            form = ovl_gradform_combine(&f->forms, (uint32_t[]){before, form}, 2, 1.0);
        }
        ovl_holding_put(h, item.gradient, form);
    }
}

/* --- Optimizers --- */

static ovl_gradient_verdict check(flow *f, const ovl_expected *expected, uint32_t received)
{
    if (received == expected->value && received != OVL_NONE) {
        return (ovl_gradient_verdict){0};
    }
    checked *slot = &f->checks[(received * 31 + expected->value) % CHECKED_SLOTS];
    if (!slot->known || slot->expected != expected->value || slot->received != received) {
        *slot = (checked){true, expected->value, received,
                          ovl_gradient_check(&f->values, expected, received)};
    }
    return slot->verdict;
}

static void receive(flow *f, uint32_t local, const ovl_effect *e, ovl_held item, uint32_t rank)
{
    uint32_t value =
        item.value == OVL_NONE ? OVL_NONE : ovl_gradform_value(&f->forms, item.value, rank);
    uint32_t part = ovl_gradient_part(f->whole, rank, e);
    uint32_t at = f->expected.at[item.gradient];
    uint32_t which = OVL_MIN(at + part, f->expected.at[item.gradient + 1] - 1);
    ovl_expected *expected = &f->expected.item[which];
    ovl_gradient_verdict verdict = check(f, expected, value);
    uint32_t canonical = verdict.fault == OVL_GRADIENT_RIGHT ? expected->value : value;
    uint64_t hash = canonical == OVL_NONE ? 1 : f->values.values.data[canonical].hash;
    expected->consumed = true;
    f->consumed++;
    f->proved += verdict.fault == OVL_GRADIENT_RIGHT;
    if (verdict.fault != OVL_GRADIENT_RIGHT) {
        ovl_vec_push(&f->problems,
                     (ovl_gradient_problem){f->whole->ranks[rank].code, local, rank, item.gradient,
                                            which - at, e->buffer, verdict});
    }
    if (f->last_receipt[which] != hash) {
        f->last_receipt[which] = hash;
        ovl_vec_push(&f->receipts, (receipt){item.gradient, hash});
    }
}

static void receive_nothing(flow *f, uint32_t local, const ovl_effect *e, uint32_t rank)
{
    ovl_gradient_verdict verdict = {.fault = OVL_GRADIENT_MISSING};
    f->consumed++;
    ovl_vec_push(&f->problems, (ovl_gradient_problem){f->whole->ranks[rank].code, local, rank,
                                                      OVL_NONE, 0, e->buffer, verdict});
}

/* Of every rank that this one stands for. */
static void apply_consume(flow *f, uint32_t op, const ovl_effect *e)
{
    uint32_t of = f->c->rank_of[op], local = ovl_causes_local(f->c, op);
    const ovl_holding *h = holding_of(f, of, e->buffer);
    for (uint32_t k = f->stands_at[of]; k < f->stands_at[of + 1]; k++) {
        uint32_t rank = f->stands[k];
        if (e->gradient != OVL_NONE) {
            ovl_held item = {e->gradient, ovl_holding_value(h, e->gradient)};
            receive(f, local, e, item, rank);
            continue;
        }
        for (uint32_t i = 0; i < h->len; i++) {
            receive(f, local, e, h->data[i], rank);
        }
        if (h->len == 0) {
            receive_nothing(f, local, e, rank);
        }
    }
}

static void apply(flow *f, uint32_t op, const ovl_effect *e)
{
    uint32_t rank = f->c->rank_of[op];
    switch ((ovl_effect_kind)e->kind) {
    case OVL_PRODUCE:
    case OVL_ADD:
        apply_add(f, rank, e);
        return;
    case OVL_PACK:
    case OVL_ACCUMULATE:
        apply_pack(f, rank, e);
        return;
    case OVL_RESET:
        ovl_holding_clear(holding_of(f, rank, e->buffer));
        return;
    case OVL_CONSUME:
        apply_consume(f, op, e);
        return;
    case OVL_SUM: /* of all members at once: sum_members */
        return;
    }
}

/* --- Collectives --- */

/* The j-th SUM of an operation; NULL if it has fewer. */
static const ovl_effect *sum_effect(const flow *f, uint32_t op, uint32_t j)
{
    const ovl_code *code = &f->p->codes[f->p->ranks[f->c->rank_of[op]].code];
    uint32_t local = ovl_causes_local(f->c, op);
    for (uint32_t k = code->effect.at[local]; k < code->effect.at[local + 1]; k++) {
        if (code->effect.item[k].kind == OVL_SUM && j-- == 0) {
            return &code->effect.item[k];
        }
    }
    return NULL;
}

static const ovl_holding *source_of(flow *f, uint32_t op, const ovl_effect *e)
{
    return holding_of(f, f->c->rank_of[op], e->source != OVL_NONE ? e->source : e->buffer);
}

/* What a member holds at its cursor, of its j-th SUM; NULL when it is through. */
static const ovl_held *at_cursor(flow *f, const uint32_t *members, uint32_t m, uint32_t j)
{
    const ovl_effect *e = sum_effect(f, members[m], j);
    const ovl_holding *h = e ? source_of(f, members[m], e) : NULL;
    return h && f->cursor.data[m] < h->len ? &h->data[f->cursor.data[m]] : NULL;
}

/* The lowest gradient that some member has not yet given; OVL_NONE when all are through. */
static ovl_id next_gradient(flow *f, const uint32_t *members, uint32_t n, uint32_t j)
{
    ovl_id next = OVL_NONE;
    for (uint32_t m = 0; m < n; m++) {
        const ovl_held *item = at_cursor(f, members, m, j);
        next = item ? OVL_MIN(next, item->gradient) : next;
    }
    return next;
}

/* The form that each member has of a gradient. */
static void gather(flow *f, const uint32_t *members, uint32_t n, uint32_t j, ovl_id gradient)
{
    f->list.len = 0;
    for (uint32_t m = 0; m < n; m++) {
        const ovl_held *item = at_cursor(f, members, m, j);
        bool has = item && item->gradient == gradient;
        ovl_vec_push(&f->list, has ? item->value : OVL_NONE);
        f->cursor.data[m] += has;
    }
}

/* What the members get, by gradient: the sum of all, or what the root has. */
static void add_members(flow *f, uint32_t comm, const uint32_t *members, uint32_t n, uint32_t j,
                        uint32_t root, double factor)
{
    f->sum.len = f->cursor.len = 0;
    for (uint32_t m = 0; m < n; m++) {
        ovl_vec_push(&f->cursor, 0);
    }
    for (;;) {
        ovl_id gradient = next_gradient(f, members, n, j);
        if (gradient == OVL_NONE) {
            return;
        }
        gather(f, members, n, j, gradient);
        if (root == OVL_NONE || f->list.data[root] != OVL_NONE) {
            uint32_t sum = ovl_gradsum_of(&f->forms, comm, f->list.data, n, root, factor);
            ovl_vec_push(&f->sum, (ovl_held){gradient, sum});
        }
    }
}

/* Turns the sums into what they are for a member. */
static void give(flow *f, uint32_t op, uint32_t j)
{
    const ovl_effect *e = sum_effect(f, op, j);
    if (!e) {
        return;
    }
    uint16_t slot = ovl_causes_op(f->c, op)->comm;
    ovl_holding *h = holding_of(f, f->c->rank_of[op], e->buffer);
    ovl_holding_replace(h, f->sum.data, f->sum.len);
    for (uint32_t i = 0; i < h->len; i++) {
        h->data[i].value = ovl_gradform_given(&f->forms, slot, h->data[i].value);
    }
}

/* All-gather, all-to-all: each member keeps its own. */
static void keep_own(flow *f, uint32_t op, uint32_t j)
{
    const ovl_effect *e = sum_effect(f, op, j);
    f->sum.len = 0;
    if (e) {
        const ovl_holding *h = source_of(f, op, e);
        for (uint32_t i = 0; i < h->len; i++) {
            ovl_vec_push(&f->sum, h->data[i]);
        }
        ovl_holding_replace(holding_of(f, f->c->rank_of[op], e->buffer), f->sum.data, f->sum.len);
    }
}

/* Which of the members that ran is, or stands for, the one at the root's place. */
static uint32_t root_member(const flow *f, uint32_t op, uint32_t n)
{
    const ovl_op *o = ovl_causes_op(f->c, op);
    uint32_t rank = f->c->rank_of[op];
    uint32_t comm = f->p->rank_comms[f->p->ranks[rank].first_comm + o->comm];
    uint32_t place = (uint32_t)o->peer < f->p->comms[comm].size ? (uint32_t)o->peer : 0;
    if (!f->p->fold) {
        return place < n ? place : 0;
    }
    uint32_t at = f->whole->comms[f->p->fold->comms.first[comm]].first_member + place;
    uint32_t of = f->p->fold->ranks.of[f->whole->members[at]];
    return f->p->rank_places[f->p->ranks[of].first_place + f->whole->member_slots[at]];
}

/* One SUM of a collective, for all members; they are read before any is written. */
static void sum_members(flow *f, uint32_t op, const uint32_t *members, uint32_t n, uint32_t j)
{
    const ovl_op *o = ovl_causes_op(f->c, op);
    uint32_t comm = f->p->rank_comms[f->p->ranks[f->c->rank_of[op]].first_comm + o->comm];
    bool keeps = o->coll == OVL_ALL_GATHER || o->coll == OVL_ALL_TO_ALL;
    bool rooted = o->coll == OVL_BROADCAST || o->coll == OVL_REDUCE;
    uint32_t root = rooted ? root_member(f, op, n) : 0;
    if (!keeps) {
        double factor = o->average ? 1.0 / f->p->comms[comm].size : 1.0;
        bool copies = o->coll == OVL_BROADCAST;
        add_members(f, comm, members, n, j, copies ? root : OVL_NONE, copies ? 1.0 : factor);
    }
    for (uint32_t m = 0; m < n; m++) {
        if (keeps) {
            keep_own(f, members[m], j);
        } else if (o->coll != OVL_REDUCE || m == root) {
            give(f, members[m], j);
        }
    }
}

static uint32_t count_sums(const flow *f, const uint32_t *members, uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t m = 0; m < n; m++) {
        while (sum_effect(f, members[m], most)) {
            most++;
        }
    }
    return most;
}

static void apply_collective(flow *f, uint32_t op)
{
    uint32_t k = ovl_causes_collective(f->c, op);
    if (f->applied[k]) {
        return;
    }
    f->applied[k] = true;
    const uint32_t *members = f->c->member_ops + f->c->first_member[k];
    uint32_t n = f->c->first_member[k + 1] - f->c->first_member[k];
    uint32_t sums = count_sums(f, members, n);
    for (uint32_t j = 0; j < sums; j++) {
        sum_members(f, op, members, n, j);
    }
}

static void apply_op(flow *f, uint32_t op)
{
    const ovl_code *code = &f->p->codes[f->p->ranks[f->c->rank_of[op]].code];
    uint32_t local = ovl_causes_local(f->c, op);
    if (ovl_code_op(code, local)->kind == OVL_COLLECTIVE) {
        apply_collective(f, op);
    }
    for (uint32_t k = code->effect.at[local]; k < code->effect.at[local + 1]; k++) {
        apply(f, op, &code->effect.item[k]);
    }
}

/* --- In what order --- */

/* What ends at one instant without a cause at that instant: it has run until then. */
static bool ran(const flow *f, uint32_t op, ovl_op_kind kind)
{
    return ovl_causes_op(f->c, op)->kind == kind &&
           f->c->timeline->start[op] < f->c->timeline->end[op];
}

static bool ran_alone(const flow *f, uint32_t op)
{
    return ran(f, op, OVL_KERNEL) || ran(f, op, OVL_COPY);
}

static uint32_t first_place(const flow *f, uint32_t op)
{
    return f->c->member_ops[f->c->first_member[ovl_causes_collective(f->c, op)]];
}

/* By where they stand in the code of their first member, whatever its number is. */
static void add_meeting(flow *f, uint32_t op)
{
    uint32_t local = ovl_causes_local(f->c, op), at = f->meeting.len;
    ovl_vec_push(&f->meeting, op);
    for (; at > 0 && ovl_causes_local(f->c, f->meeting.data[at - 1]) > local; at--) {
        f->meeting.data[at] = f->meeting.data[at - 1];
    }
    f->meeting.data[at] = op;
}

/* The steps [from, to) of the trail are all of one instant. Which of them came first is chance
 * where nothing orders them, and must not depend on how ranks are numbered: a kernel and a
 * collective that end together would be in one order on rank 0, in the other on rank 1. So what ran
 * on one rank comes first, then collectives, then what took no time, which may be due to either. */
static void apply_instant(flow *f, const uint32_t *trail, uint32_t n)
{
    f->meeting.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = OVL_TRAIL_OP(trail[i]);
        if (OVL_TRAIL_KIND(trail[i]) != OVL_ENDED) {
            continue;
        }
        if (ran_alone(f, op)) {
            apply_op(f, op);
        } else if (ran(f, op, OVL_COLLECTIVE) && first_place(f, op) == op) {
            add_meeting(f, op);
        }
    }
    for (uint32_t i = 0; i < f->meeting.len; i++) {
        apply_collective(f, f->meeting.data[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (OVL_TRAIL_KIND(trail[i]) == OVL_ENDED && !ran_alone(f, OVL_TRAIL_OP(trail[i]))) {
            apply_op(f, OVL_TRAIL_OP(trail[i]));
        }
    }
}

static void apply_all(flow *f)
{
    const ovl_timeline *t = f->c->timeline;
    for (uint32_t from = 0, to; from < t->n_trail; from = to) {
        ovl_time now = ovl_node_time(f->c, t->trail[from]);
        to = from + 1;
        while (to < t->n_trail && ovl_node_time(f->c, t->trail[to]) == now) {
            to++;
        }
        apply_instant(f, t->trail + from, to - from);
    }
}

/* --- The sum of it --- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0;
    for (; *text; text++) {
        hash = mix(hash, (unsigned char)*text);
    }
    return hash;
}

typedef struct line {
    uint64_t name, value;
} line;

static int compare_lines(const void *a, const void *b)
{
    const line *x = a, *y = b;
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    return (x->value > y->value) - (x->value < y->value);
}

/* By the texts of the names, so that two programs can be compared; each distinct receipt once. */
static uint64_t digest_of(const flow *f)
{
    OVL_VEC(line) lines = {0};
    for (uint32_t i = 0; i < f->receipts.len; i++) {
        const receipt *r = &f->receipts.data[i];
        const char *name = OVL_NAME(f->p->names, r->gradient);
        ovl_vec_push(&lines, (line){hash_text(name), r->hash});
    }
    if (lines.len == 0) {
        return 0;
    }
    qsort(lines.data, lines.len, sizeof *lines.data, compare_lines);
    uint64_t digest = 0;
    for (uint32_t i = 0; i < lines.len; i++) {
        if (i == 0 || compare_lines(&lines.data[i - 1], &lines.data[i]) != 0) {
            digest = mix(mix(digest, lines.data[i].name), lines.data[i].value);
        }
    }
    ovl_vec_free(&lines);
    return digest;
}

/* "1/8", or "1/8 and 1/64": the distinct scales of what was received, largest first. */
static const char *scale_text(const flow *f, ovl_arena *arena)
{
    const char *text = NULL;
    for (uint64_t above = 0;;) {
        uint64_t next = UINT64_MAX;
        for (uint32_t g = 0; g < f->expected.at[f->p->names->count]; g++) {
            const ovl_expected *e = &f->expected.item[g];
            if (e->consumed && e->value != OVL_NONE && e->parts > above) {
                next = OVL_MIN(next, e->parts);
            }
        }
        if (next == UINT64_MAX) {
            return text;
        }
        const char *one = ovl_fraction_text(arena, 1.0 / (double)next);
        text = text ? ovl_arena_printf(arena, "%s and %s", text, one) : one;
        above = next;
    }
}

static void find_stands(flow *f, ovl_arena *scratch)
{
    uint32_t n = f->whole->n_ranks;
    f->stands_at = OVL_NEW_ARRAY(scratch, uint32_t, f->p->n_ranks + 2);
    f->stands = OVL_NEW_ARRAY(scratch, uint32_t, n);
    for (uint32_t r = 0; r < f->p->n_ranks; r++) {
        f->stands_at[r + 2] = f->stands_at[r + 1] + ovl_rank_count(f->p, r);
    }
    for (uint32_t r = 0; r < n; r++) {
        uint32_t of = f->p->fold ? f->p->fold->ranks.of[r] : r;
        f->stands[f->stands_at[of + 1]++] = r;
    }
}

static void prepare(flow *f, const ovl_causes *causes, ovl_arena *scratch)
{
    const ovl_program *p = causes->program;
    *f = (flow){.c = causes, .p = p, .whole = p->fold ? p->fold->whole : p};
    ovl_gradforms_init(&f->forms, p, &f->values);
    f->expected = ovl_gradients_expected(f->whole, &f->values, scratch);
    find_stands(f, scratch);
    f->first_buffer = OVL_NEW_ARRAY(scratch, uint32_t, p->n_ranks + 1);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        f->first_buffer[r + 1] = f->first_buffer[r] + p->codes[p->ranks[r].code].n_buffers;
    }
    f->buffers = OVL_NEW_ARRAY(scratch, ovl_holding, f->first_buffer[p->n_ranks]);
    f->applied = OVL_NEW_ARRAY(scratch, bool, p->n_collectives);
    f->checks = OVL_NEW_ARRAY(scratch, checked, CHECKED_SLOTS);
    f->last_receipt = OVL_NEW_ARRAY(scratch, uint64_t, f->expected.at[p->names->count]);
}

static void release(flow *f)
{
    for (uint32_t i = 0; i < f->first_buffer[f->p->n_ranks]; i++) {
        ovl_holding_free(&f->buffers[i]);
    }
    ovl_gradforms_free(&f->forms);
    ovl_gradvalues_free(&f->values);
    ovl_vec_free(&f->problems);
    ovl_vec_free(&f->receipts);
    ovl_vec_free(&f->list);
    ovl_vec_free(&f->sum);
    ovl_vec_free(&f->cursor);
    ovl_vec_free(&f->meeting);
}

static bool has_effects(const ovl_program *p)
{
    for (uint32_t c = 0; c < p->n_codes; c++) {
        if (p->codes[c].effect.at[p->codes[c].n_ops] > 0) {
            return true;
        }
    }
    return false;
}

void ovl_gradients_follow(const ovl_causes *causes, ovl_arena *arena, ovl_hazards *hazards,
                          ovl_gradients *gradients)
{
    *gradients = (ovl_gradients){0};
    if (!has_effects(causes->program)) {
        return;
    }
    ovl_arena scratch = {0};
    flow f;
    prepare(&f, causes, &scratch);
    apply_all(&f);
    uint32_t before = hazards->len;
    ovl_gradient_report(f.whole, &f.expected, &f.problems, arena, hazards);
    if (f.consumed) {
        ovl_gradient_report_unconsumed(f.whole, &f.expected, arena, hazards);
    }
    gradients->proved = f.proved;
    gradients->digest = digest_of(&f);
    gradients->scale = hazards->len == before ? scale_text(&f, arena) : NULL;
    release(&f);
    ovl_arena_free(&scratch);
}
