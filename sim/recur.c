/*
 * recur.c - when it is looked whether the state recurs.
 *
 * Of each period of the watched rank's code the state at the last anchor is kept, and compared with
 * that at the next. A rhythm may span several blocks: digests of earlier states are remembered, and
 * where one comes again after so many anchors the state is kept for as many.
 *
 * Example: microbatches take 3.01 and 3.02 ms in turn. The state at the third anchor has the digest
 * of that at the first; it is kept, and found again at the fifth.
 */
#include "sim/recur.h"

/* --- Where the watched code repeats itself --- */

static uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t hash_cost(const ovl_cost *c)
{
    uint64_t hash = mixed((uint64_t)c->latency, (uint64_t)c->work);
    return mixed(mixed(hash, (uint64_t)c->compute), c->sms);
}

/* What operations of different blocks that do the same have in common. */
static uint32_t signature(const ovl_engine *e, const ovl_code *code, uint32_t local)
{
    const ovl_op *op = &code->ops[local];
    uint64_t hash = hash_cost(ovl_engine_cost(e, e->recur->rank, op));
    hash = mixed(hash, (uint64_t)op->kind << 32 | (uint64_t)op->stream << 16 | op->comm);
    hash = mixed(hash, (uint64_t)op->launch << 1 | op->step_end);
    for (uint32_t i = code->after.at[local]; i < code->after.at[local + 1]; i++) {
        hash = mixed(hash, local - code->after.item[i]);
    }
    return (uint32_t)(hash >> 32);
}

static void add_rhythms(ovl_recur *r, const ovl_repeat *runs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || runs[i].period != runs[i - 1].period) {
            ovl_vec_push(&r->rhythms,
                         (ovl_rhythm){.runs = &runs[i], .next = runs[i].first, .stride = 1});
        }
        r->rhythms.data[r->rhythms.len - 1].n_runs++;
    }
}

static uint32_t longest_rank(const ovl_program *p)
{
    uint32_t best = 0;
    for (uint32_t r = 1; r < p->n_ranks; r++) {
        bool more = p->codes[p->ranks[r].code].n_ops > p->codes[p->ranks[best].code].n_ops;
        best = more ? r : best;
    }
    return best;
}

static void find_rhythms(const ovl_engine *e, ovl_recur *r, ovl_arena *scratch)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[r->rank].code];
    ovl_arena arena = {0};
    ovl_repeats runs = {0};
    uint32_t *items = OVL_NEW_ARRAY(&arena, uint32_t, code->n_ops);
    for (uint32_t i = 0; i < code->n_ops; i++) {
        items[i] = signature(e, code, i);
    }
    ovl_repeats_find(items, code->n_ops, &runs);
    ovl_arena_free(&arena);
    uint32_t n = runs.len;
    add_rhythms(r, ovl_vec_freeze(&runs, scratch), n);
}

/* --- Setting up --- */

/* Does each operation of a lane arrive when the one before it there has ended, and not earlier? */
static bool keeps_order(const ovl_code *code, const uint32_t *next)
{
    bool good = true;
    for (uint32_t i = 0; i < code->n_ops && good; i++) {
        bool in_lane = code->ops[i].batch == OVL_NONE && code->ops[i].kind != OVL_HOST;
        good = !in_lane || next[i] == code->n_ops ||
               ovl_recur_before(code, ovl_recur_lane(code, i), next[i]) == i;
    }
    return good;
}

/* False if something goes on in no lane, or out of order. */
static bool set_up_code(const ovl_code *code, ovl_recur_code *known, ovl_arena *arena)
{
    uint32_t lanes = ovl_recur_host(code) + 1;
    uint32_t *next = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops);
    uint32_t *first = OVL_NEW_ARRAY(arena, uint32_t, lanes);
    uint32_t *last = OVL_NEW_ARRAY(arena, uint32_t, lanes);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        first[lane] = last[lane] = code->n_ops;
    }
    bool eager = false;
    for (uint32_t i = code->n_ops; i-- > 0;) {
        const ovl_op *op = &code->ops[i];
        eager = eager || (op->kind == OVL_SEND && op->eager);
        if (op->batch != OVL_NONE || op->kind == OVL_HOST) {
            continue;
        }
        if (op->stream == OVL_NO_STREAM && op->comm == OVL_NO_COMM) {
            return false;
        }
        uint32_t lane = ovl_recur_lane(code, i);
        next[i] = first[lane];
        last[lane] = first[lane] == code->n_ops ? i : last[lane];
        first[lane] = i;
    }
    *known = (ovl_recur_code){.next = next, .first = first, .last = last, .eager = eager};
    return keeps_order(code, next);
}

static void set_up_moment(const ovl_program *p, uint32_t n_fronts, ovl_moment *m, ovl_arena *arena)
{
    m->front = OVL_NEW_ARRAY(arena, uint32_t, n_fronts);
    m->times = OVL_NEW_ARRAY(arena, ovl_rank_times, p->n_ranks);
}

static void set_up_fronts(const ovl_program *p, ovl_recur *r)
{
    for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
        uint32_t code = p->ranks[rank].code;
        memcpy(r->now.front + r->first_front[rank], r->codes[code].first,
               ovl_recur_host(&p->codes[code]) * sizeof(uint32_t));
    }
}

static bool set_up_tables(const ovl_engine *e, ovl_recur *r, uint32_t n_fronts, ovl_arena *arena)
{
    const ovl_program *p = e->p;
    uint32_t slots = 0;
    r->codes = OVL_NEW_ARRAY(arena, ovl_recur_code, p->n_codes);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        if (!set_up_code(&p->codes[c], &r->codes[c], arena)) {
            return false;
        }
        slots = OVL_MAX(slots, p->codes[c].n_slots);
    }
    r->ranks = OVL_NEW_ARRAY(arena, ovl_recur_rank, p->n_ranks);
    r->last_by = OVL_NEW_ARRAY(arena, uint32_t, n_fronts);
    r->shift.by = OVL_NEW_ARRAY(arena, uint32_t, p->n_ranks);
    r->shift.low = OVL_NEW_ARRAY(arena, uint32_t, p->n_ranks);
    r->shift.high = OVL_NEW_ARRAY(arena, uint32_t, p->n_ranks);
    r->shift.collectives = OVL_NEW_ARRAY(arena, uint32_t, p->n_comms);
    r->met = OVL_NEW_ARRAY(arena, uint32_t, p->n_comms);
    r->stamps = OVL_NEW_ARRAY(arena, uint32_t, slots);
    set_up_moment(p, n_fronts, &r->now, arena);
    for (uint32_t i = 0; i < r->rhythms.len; i++) {
        set_up_moment(p, n_fronts, &r->rhythms.data[i].kept, arena);
        r->rhythms.data[i].met = OVL_NEW_ARRAY(arena, ovl_met, OVL_MET);
    }
    set_up_fronts(p, r);
    return true;
}

/* The next anchor is the first of all rhythms. */
static void set_anchor(ovl_engine *e)
{
    const ovl_recur *r = e->recur;
    uint32_t next = OVL_NONE;
    for (uint32_t i = 0; i < r->rhythms.len; i++) {
        next = OVL_MIN(next, r->rhythms.data[i].next);
    }
    e->anchor = next == OVL_NONE ? OVL_NONE : e->p->ranks[r->rank].first_op + next;
}

#define OPS_MIN 32 /* of a rank: below, nothing is worth looking for */

void ovl_recur_init(ovl_engine *e, ovl_arena *scratch)
{
    const ovl_program *p = e->p;
    e->anchor = OVL_NONE;
    if (e->options->no_skip || p->n_ranks == 0) {
        return;
    }
    uint32_t rank = longest_rank(p);
    uint32_t *first_front = OVL_NEW_ARRAY(scratch, uint32_t, p->n_ranks + 1);
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        first_front[i + 1] = first_front[i] + ovl_recur_host(&p->codes[p->ranks[i].code]) + 1;
    }
    uint32_t n_fronts = first_front[p->n_ranks];
    if (p->codes[p->ranks[rank].code].n_ops < OPS_MIN || n_fronts > p->n_ops / 2) {
        return;
    }
    e->recur = OVL_NEW(scratch, ovl_recur);
    e->recur->rank = rank;
    e->recur->first_front = first_front;
    find_rhythms(e, e->recur, scratch);
    if (e->recur->rhythms.len > 0 && set_up_tables(e, e->recur, n_fronts, scratch)) {
        set_anchor(e);
    }
}

void ovl_recur_free(ovl_engine *e)
{
    ovl_recur *r = e->recur;
    if (!r) {
        return;
    }
    for (uint32_t i = 0; i < r->rhythms.len; i++) {
        ovl_vec_free(&r->rhythms.data[i].kept.words);
    }
    ovl_vec_free(&r->rhythms);
    ovl_vec_free(&r->now.words);
    ovl_vec_free(&r->live);
    ovl_vec_free(&r->number);
    ovl_vec_free(&r->clock_number);
    ovl_vec_free(&r->moments);
    ovl_vec_free(&r->host_moments);
    ovl_vec_free(&r->scratch);
    ovl_vec_free(&r->flags);
}

/* --- At an anchor --- */

static void begin_run(ovl_rhythm *x)
{
    x->next = x->run < x->n_runs ? x->runs[x->run].first : OVL_NONE;
    x->anchors = x->looks = x->promise = 0;
    x->stride = 1;
    x->kept.taken = false;
    memset(x->met, 0, OVL_MET * sizeof *x->met);
}

/* Goes to the first anchor that the watched rank has not reached. True if one is to be looked at; a
 * run that was not looked at before begins anew. */
static bool advance(const ovl_engine *e, ovl_rhythm *x)
{
    uint32_t first_op = e->p->ranks[e->recur->rank].first_op;
    bool due = false;
    while (x->next != OVL_NONE && ovl_engine_arrived(e, first_op + x->next)) {
        const ovl_repeat *run = &x->runs[x->run];
        due = x->anchors++ % x->stride == 0;
        x->next += run->period;
        if (x->next >= run->end) {
            x->run++;
            begin_run(x);
            due = false;
        }
    }
    return due && e->n_events >= x->rests;
}

static void keep(const ovl_engine *e, ovl_recur *r, ovl_rhythm *x)
{
    ovl_moment *to = &x->kept;
    const ovl_moment *from = &r->now;
    to->words.len = 0;
    ovl_vec_reserve(&to->words, from->words.len);
    memcpy(to->words.data, from->words.data, from->words.len * sizeof *from->words.data);
    to->words.len = from->words.len;
    memcpy(to->front, from->front, r->first_front[e->p->n_ranks] * sizeof *to->front);
    memcpy(to->times, from->times, e->p->n_ranks * sizeof *to->times);
    to->now = from->now;
    to->n_trail = from->n_trail;
    to->n_limits = from->n_limits;
    to->n_segments = from->n_segments;
    to->n_ended = from->n_ended;
    to->taken = true;
}

/* The look before this one at which the state had this digest; 0: none. It is remembered. */
static uint32_t meet(ovl_rhythm *x, uint64_t digest)
{
    ovl_met *met = &x->met[digest % OVL_MET];
    uint32_t before = met->digest == digest ? met->look : 0;
    *met = (ovl_met){digest, x->looks};
    return before;
}

static void keep_or_wait(const ovl_engine *e, ovl_recur *r, ovl_rhythm *x)
{
    uint32_t before = meet(x, ovl_moment_digest(&r->now));
    if (x->promise > 0) {
        x->promise--;
        return;
    }
    keep(e, r, x);
    x->promise = before ? x->looks - before - 1 : 0;
}

#define LOOKS_FREE 64 /* of a run; then one look may cost a quarter of what it saves */

/* Looks whether the state recurs in a rhythm whose anchor was reached. */
static bool try_rhythm(ovl_engine *e, ovl_recur *r, ovl_rhythm *x)
{
    r->looked = 0;
    x->looks++;
    if (x->kept.taken && ovl_moment_equal(&x->kept, &r->now) && ovl_recur_ahead(e, r, &x->kept)) {
        ovl_recur_skip(e, r);
        x->kept.taken = false;
        x->promise = 0;
        return true;
    }
    keep_or_wait(e, r, x);
    x->rests = e->n_events + r->looked / 16;
    uint64_t cost = r->now.words.len / 4, events = e->n_events / x->anchors;
    while (x->looks >= LOOKS_FREE && x->stride * events < cost && x->stride < UINT32_MAX / 2) {
        x->stride *= 2;
    }
    return false;
}

/* Of several at once that of the longest blocks comes first. */
void ovl_recur_anchor(ovl_engine *e)
{
    ovl_recur *r = e->recur;
    bool due[OVL_REPEATS_MAX] = {false}, any = false, skipped = false;
    for (uint32_t i = 0; i < r->rhythms.len; i++) {
        due[i] = advance(e, &r->rhythms.data[i]);
        any = any || due[i];
    }
    if (any) {
        ovl_moment_take(e, r);
    }
    for (uint32_t i = 0; i < r->rhythms.len && !skipped; i++) {
        skipped = due[i] && try_rhythm(e, r, &r->rhythms.data[i]);
    }
    for (uint32_t i = 0; i < r->rhythms.len && skipped; i++) {
        advance(e, &r->rhythms.data[i]);
    }
    set_anchor(e);
}
