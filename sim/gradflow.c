#include "sim/gradflow.h"
#include "sim/gradreport.h"

/* What a buffer of a rank holds, by gradient, ascending. */
typedef struct held {
    ovl_id gradient;
    uint32_t value;
} held;

/* Gradients become ready from the last of the model to the first, and others in turn, so there is
 * room on both sides. */
typedef struct holding {
    held *data;
    uint32_t len, before, behind; /* items; free places on either side of them */
} holding;

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
    const ovl_program *p;
    ovl_gradvalues values;
    ovl_expected *expected; /* by name */
    holding *buffers;       /* first_buffer[rank] + buffer */
    uint32_t *first_buffer;
    bool *applied;          /* [n_collectives] */
    uint64_t *last_receipt; /* by name: hash of the last receipt, so that repeats are cheap */
    checked *checks;        /* [CHECKED_SLOTS] */
    ovl_gradient_problems problems;
    OVL_VEC(receipt) receipts;
    OVL_VEC(uint32_t) list; /* scratch of a sum */
    OVL_VEC(held) sum;
    OVL_VEC(uint32_t) cursor;
    uint32_t proved, consumed;
} flow;

/* --- Holdings --- */

static uint32_t place_of(const holding *h, ovl_id gradient)
{
    if (h->len == 0 || h->data[h->len - 1].gradient < gradient) {
        return h->len;
    }
    uint32_t low = 0, high = h->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (h->data[middle].gradient < gradient) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t value_in(const holding *h, ovl_id gradient)
{
    uint32_t i = place_of(h, gradient);
    return i < h->len && h->data[i].gradient == gradient ? h->data[i].value : OVL_NONE;
}

static void free_holding(holding *h)
{
    if (h->data) {
        free(h->data - h->before);
    }
    *h = (holding){0};
}

/* Room for `n` more on both sides; doubling, so that it is cheap in the long run. */
static void make_room(holding *h, uint32_t n)
{
    size_t room = (size_t)h->len + n;
    held *all =
        room + h->len + room <= UINT32_MAX ? calloc(room + h->len + room, sizeof *all) : NULL;
    if (!all) {
        ovl_out_of_memory((room + h->len + room) * sizeof *all);
    }
    if (h->len) {
        memcpy(all + room, h->data, h->len * sizeof *all);
    }
    uint32_t len = h->len;
    free_holding(h);
    *h = (holding){all + room, len, (uint32_t)room, (uint32_t)room};
}

/* Moves whichever side of place `i` is shorter. */
static void insert(holding *h, uint32_t i, held item)
{
    bool down = i < h->len - i;
    if ((down ? h->before : h->behind) == 0) {
        make_room(h, 1);
    }
    if (down) {
        memmove(h->data - 1, h->data, i * sizeof *h->data);
        h->data--;
        h->before--;
    } else {
        memmove(h->data + i + 1, h->data + i, (h->len - i) * sizeof *h->data);
        h->behind--;
    }
    h->len++;
    h->data[i] = item;
}

static void put(holding *h, ovl_id gradient, uint32_t value)
{
    uint32_t i = place_of(h, gradient);
    if (i == h->len || h->data[i].gradient != gradient) {
        insert(h, i, (held){gradient, value});
    } else {
        h->data[i].value = value;
    }
}

static void clear(holding *h)
{
    h->behind += h->len;
    h->len = 0;
}

static void replace(holding *h, const held *items, uint32_t n)
{
    clear(h);
    if (h->behind < n) {
        make_room(h, n);
    }
    if (n) {
        memcpy(h->data, items, n * sizeof *items);
    }
    h->len = n;
    h->behind -= n;
}

static holding *holding_of(flow *f, uint32_t rank, ovl_id buffer)
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
    holding *h = holding_of(f, rank, e->buffer);
    uint32_t own = ovl_gradvalue_single(&f->values, rank, e->microbatch, own_scale(e));
    uint32_t before = e->kind == OVL_ADD ? value_in(h, e->gradient) : OVL_NONE;
    if (before != OVL_NONE) {
        own = ovl_gradvalue_combine(&f->values, (uint32_t[]){before, own}, 2, 1.0);
    }
    put(h, e->gradient, own);
}

static void apply_pack(flow *f, uint32_t rank, const ovl_effect *e)
{
    const holding *source = holding_of(f, rank, e->source != OVL_NONE ? e->source : e->buffer);
    holding *h = holding_of(f, rank, e->buffer);
    for (uint32_t i = 0; i < source->len; i++) {
        held item = source->data[i];
        uint32_t value = ovl_gradvalue_combine(&f->values, &item.value, 1, e->scale);
        uint32_t before = e->kind == OVL_ACCUMULATE ? value_in(h, item.gradient) : OVL_NONE;
        if (before != OVL_NONE) {
            value = ovl_gradvalue_combine(&f->values, (uint32_t[]){before, value}, 2, 1.0);
        }
        put(h, item.gradient, value);
    }
}

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

static void receive(flow *f, uint32_t op, const ovl_effect *e, ovl_id gradient, uint32_t value)
{
    uint32_t rank = f->c->rank_of[op];
    ovl_expected *expected = &f->expected[gradient];
    ovl_gradient_verdict verdict = check(f, expected, value);
    uint32_t canonical = verdict.fault == OVL_GRADIENT_RIGHT ? expected->value : value;
    uint64_t hash = canonical == OVL_NONE ? 1 : f->values.values.data[canonical].hash;
    expected->consumed = true;
    f->consumed++;
    f->proved += verdict.fault == OVL_GRADIENT_RIGHT;
    if (verdict.fault != OVL_GRADIENT_RIGHT) {
        ovl_vec_push(&f->problems,
                     (ovl_gradient_problem){f->p->ranks[rank].code, ovl_causes_local(f->c, op),
                                            rank, gradient, e->buffer, verdict});
    }
    if (f->last_receipt[gradient] != hash) {
        f->last_receipt[gradient] = hash;
        ovl_vec_push(&f->receipts, (receipt){gradient, hash});
    }
}

static void apply_consume(flow *f, uint32_t op, const ovl_effect *e)
{
    uint32_t rank = f->c->rank_of[op];
    const holding *h = holding_of(f, rank, e->buffer);
    if (e->gradient != OVL_NONE) {
        receive(f, op, e, e->gradient, value_in(h, e->gradient));
        return;
    }
    for (uint32_t i = 0; i < h->len; i++) {
        receive(f, op, e, h->data[i].gradient, h->data[i].value);
    }
    if (h->len == 0) {
        ovl_gradient_verdict verdict = {.fault = OVL_GRADIENT_MISSING};
        f->consumed++;
        ovl_vec_push(&f->problems,
                     (ovl_gradient_problem){f->p->ranks[rank].code, ovl_causes_local(f->c, op),
                                            rank, OVL_NONE, e->buffer, verdict});
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
        clear(holding_of(f, rank, e->buffer));
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

static const holding *source_of(flow *f, uint32_t op, const ovl_effect *e)
{
    return holding_of(f, f->c->rank_of[op], e->source != OVL_NONE ? e->source : e->buffer);
}

/* The lowest gradient that some member has not yet given; OVL_NONE when all are through. */
static ovl_id next_gradient(flow *f, const uint32_t *members, uint32_t n, uint32_t j)
{
    ovl_id next = OVL_NONE;
    for (uint32_t m = 0; m < n; m++) {
        const ovl_effect *e = sum_effect(f, members[m], j);
        const holding *h = e ? source_of(f, members[m], e) : NULL;
        if (h && f->cursor.data[m] < h->len) {
            next = OVL_MIN(next, h->data[f->cursor.data[m]].gradient);
        }
    }
    return next;
}

static void gather(flow *f, const uint32_t *members, uint32_t n, uint32_t j, ovl_id gradient)
{
    f->list.len = 0;
    for (uint32_t m = 0; m < n; m++) {
        const ovl_effect *e = sum_effect(f, members[m], j);
        const holding *h = e ? source_of(f, members[m], e) : NULL;
        uint32_t at = f->cursor.data[m];
        if (h && at < h->len && h->data[at].gradient == gradient) {
            ovl_vec_push(&f->list, h->data[at].value);
            f->cursor.data[m]++;
        }
    }
}

static void add_members(flow *f, const uint32_t *members, uint32_t n, uint32_t j, double factor)
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
        uint32_t value = ovl_gradvalue_combine(&f->values, f->list.data, f->list.len, factor);
        ovl_vec_push(&f->sum, (held){gradient, value});
    }
}

static void give(flow *f, uint32_t op, uint32_t j)
{
    const ovl_effect *e = sum_effect(f, op, j);
    if (e) {
        replace(holding_of(f, f->c->rank_of[op], e->buffer), f->sum.data, f->sum.len);
    }
}

static void copy_to_sum(flow *f, uint32_t op, uint32_t j)
{
    const ovl_effect *e = sum_effect(f, op, j);
    f->sum.len = 0;
    if (e) {
        const holding *h = source_of(f, op, e);
        for (uint32_t i = 0; i < h->len; i++) {
            ovl_vec_push(&f->sum, h->data[i]);
        }
    }
}

/* One SUM of a collective, for all members; they are read before any is written. */
static void sum_members(flow *f, const ovl_op *op, const uint32_t *members, uint32_t n, uint32_t j)
{
    bool keeps = op->coll == OVL_ALL_GATHER || op->coll == OVL_ALL_TO_ALL;
    uint32_t root = (uint32_t)op->peer < n ? (uint32_t)op->peer : 0;
    if (op->coll == OVL_BROADCAST) {
        copy_to_sum(f, members[root], j);
    } else if (!keeps) {
        add_members(f, members, n, j, op->average ? 1.0 / n : 1.0);
    }
    for (uint32_t m = 0; m < n; m++) {
        if (keeps) {
            copy_to_sum(f, members[m], j);
        }
        if (op->coll != OVL_REDUCE || m == root) {
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
        sum_members(f, ovl_causes_op(f->c, op), members, n, j);
    }
}

static void apply_op(flow *f, uint32_t op)
{
    const ovl_code *code = &f->p->codes[f->p->ranks[f->c->rank_of[op]].code];
    uint32_t local = ovl_causes_local(f->c, op);
    if (code->ops[local].kind == OVL_COLLECTIVE) {
        apply_collective(f, op);
    }
    for (uint32_t k = code->effect.at[local]; k < code->effect.at[local + 1]; k++) {
        apply(f, op, &code->effect.item[k]);
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
        const char *name = ovl_names_text(f->p->names, r->gradient);
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
        for (uint32_t g = 0; g < f->p->names->count; g++) {
            const ovl_expected *e = &f->expected[g];
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

static void prepare(flow *f, const ovl_causes *causes, ovl_arena *scratch)
{
    const ovl_program *p = causes->program;
    *f = (flow){.c = causes, .p = p};
    f->expected = ovl_gradients_expected(p, &f->values, scratch);
    f->first_buffer = OVL_NEW_ARRAY(scratch, uint32_t, p->n_ranks + 1);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        f->first_buffer[r + 1] = f->first_buffer[r] + p->codes[p->ranks[r].code].n_buffers;
    }
    f->buffers = OVL_NEW_ARRAY(scratch, holding, f->first_buffer[p->n_ranks]);
    f->applied = OVL_NEW_ARRAY(scratch, bool, p->n_collectives);
    f->checks = OVL_NEW_ARRAY(scratch, checked, CHECKED_SLOTS);
    f->last_receipt = OVL_NEW_ARRAY(scratch, uint64_t, p->names->count);
}

static void release(flow *f)
{
    for (uint32_t i = 0; i < f->first_buffer[f->p->n_ranks]; i++) {
        free_holding(&f->buffers[i]);
    }
    ovl_gradvalues_free(&f->values);
    ovl_vec_free(&f->problems);
    ovl_vec_free(&f->receipts);
    ovl_vec_free(&f->list);
    ovl_vec_free(&f->sum);
    ovl_vec_free(&f->cursor);
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
    for (uint32_t i = 0; i < causes->timeline->n_trail; i++) {
        uint64_t item = causes->timeline->trail[i];
        if (OVL_TRAIL_KIND(item) == OVL_ENDED) {
            apply_op(&f, OVL_TRAIL_OP(item));
        }
    }
    uint32_t before = hazards->len;
    ovl_gradient_report(f.p, f.expected, &f.problems, arena, hazards);
    if (f.consumed) {
        ovl_gradient_report_unconsumed(f.p, f.expected, arena, hazards);
    }
    gradients->proved = f.proved;
    gradients->digest = digest_of(&f);
    gradients->scale = hazards->len == before ? scale_text(&f, arena) : NULL;
    release(&f);
    ovl_arena_free(&scratch);
}
