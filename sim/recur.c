/*
 * recur.c - when it is looked whether the state recurs.
 *
 * Equal states are followed by equal ones. So where the state recurs blocks take the same time, as
 * many operations end in them, and what ended last on each rank did so long ago: that is seen from
 * afar, at next to no cost.
 * Only when the last block was like one before is the state written down, and compared with what it
 * is when that should come again. If it is another (rates that settle ever closer, say), it rests
 * for some blocks, each time for twice as many.
 *
 * Example: microbatches take 3.01 and 3.02 ms in turn. The last at the fifth anchor is like that at
 * the third: the state is kept, and found again at the seventh.
 */
#include "sim/recur.h"

static uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* --- Setting up --- */

static void add_rhythms(ovl_recur *r, const ovl_repeat *runs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || runs[i].period != runs[i - 1].period) {
            ovl_vec_push(&r->rhythms, (ovl_rhythm){.runs = &runs[i], .next = runs[i].first});
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

static void set_up_moment(const ovl_program *p, uint32_t n_fronts, ovl_moment *m, ovl_arena *arena)
{
    m->front = OVL_NEW_ARRAY(arena, uint32_t, n_fronts);
    m->times = OVL_NEW_ARRAY(arena, ovl_rank_times, p->n_ranks);
}

static void set_up_fronts(const ovl_engine *e, ovl_recur *r)
{
    const ovl_program *p = e->p;
    for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
        uint32_t code = p->ranks[rank].code;
        memcpy(r->now.front + r->first_front[rank], e->courses[code]->first,
               ovl_lane_host(&p->codes[code]) * sizeof(uint32_t));
    }
}

static void set_up_tables(const ovl_engine *e, ovl_recur *r, uint32_t n_fronts, ovl_arena *arena)
{
    const ovl_program *p = e->p;
    uint32_t slots = 0;
    r->codes = OVL_NEW_ARRAY(arena, ovl_recur_code, p->n_codes);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        slots = OVL_MAX(slots, p->codes[c].n_slots);
    }
    r->ranks = OVL_NEW_ARRAY(arena, ovl_recur_rank, p->n_ranks);
    r->last_by = OVL_NEW_ARRAY(arena, uint32_t, n_fronts);
    r->shift.first_stride = OVL_NEW_ARRAY(arena, uint32_t, p->n_ranks + 1);
    r->shift.stride = OVL_NEW_ARRAY(arena, uint32_t, n_fronts);
    r->shift.collectives = OVL_NEW_ARRAY(arena, uint32_t, p->n_comms);
    r->met = OVL_NEW_ARRAY(arena, uint32_t, p->n_comms);
    r->stamps = OVL_NEW_ARRAY(arena, uint32_t, slots);
    set_up_moment(p, n_fronts, &r->now, arena);
    for (uint32_t i = 0; i < r->rhythms.len; i++) {
        set_up_moment(p, n_fronts, &r->rhythms.data[i].kept, arena);
        r->rhythms.data[i].glimpses = OVL_NEW_ARRAY(arena, ovl_glimpse, OVL_GLIMPSES);
    }
    set_up_fronts(e, r);
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

static bool keep_order(const ovl_engine *e)
{
    bool all = true;
    for (uint32_t c = 0; c < e->p->n_codes && all; c++) {
        all = e->courses[c]->ordered;
    }
    return all;
}

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
        first_front[i + 1] = first_front[i] + ovl_lane_host(&p->codes[p->ranks[i].code]) + 1;
    }
    uint32_t n_fronts = first_front[p->n_ranks];
    const ovl_course *course = e->courses[p->ranks[rank].code];
    if (course->n_runs == 0 || n_fronts > p->n_ops / 2 || !keep_order(e)) {
        return;
    }
    e->recur = OVL_NEW(scratch, ovl_recur);
    e->recur->rank = rank;
    e->recur->first_front = first_front;
    add_rhythms(e->recur, course->runs, course->n_runs);
    set_up_tables(e, e->recur, n_fronts, scratch);
    set_anchor(e);
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
    ovl_vec_free(&r->shift.strides);
    ovl_vec_free(&r->now.words);
    ovl_vec_free(&r->live);
    ovl_vec_free(&r->number);
    ovl_vec_free(&r->clock_number);
    ovl_vec_free(&r->moments);
    ovl_vec_free(&r->host_moments);
    ovl_vec_free(&r->scratch);
    ovl_vec_free(&r->flags);
    ovl_vec_free(&r->more);
}

/* --- At an anchor --- */

/* What was seen so far says nothing of what comes. */
static void begin_anew(ovl_rhythm *x)
{
    x->era++;
    x->known = 0;
    x->kept.taken = false;
}

static uint64_t mixed_progress(const ovl_engine *e, uint64_t hash, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    hash = mixed(hash, (uint64_t)a->passed << 8 | a->phase);
    if (a->phase != OVL_PHASE_FLUID) {
        return hash;
    }
    ovl_work done = ovl_clock_value(&e->clocks.data[a->clock], e->now) - a->begin;
    hash = mixed(hash, (uint64_t)(done >> 64));
    return mixed(mixed(hash, (uint64_t)done), e->clocks.data[a->clock].rate);
}

/* How far what runs on the watched rank is, and how fast: where rates settle ever closer that tells
 * one block from another when times do not any more. */
static uint64_t progress(const ovl_engine *e)
{
    const ovl_rank_state *s = &e->ranks[e->recur->rank];
    uint64_t hash = (uint64_t)s->kernels.len << 32 | s->n_comms;
    for (uint32_t i = 0; i < s->kernels.len; i++) {
        hash = mixed_progress(e, hash, s->kernels.data[i]);
    }
    for (uint32_t i = 0; i < s->n_comms; i++) {
        hash = mixed_progress(e, hash, s->comms[i].activity);
    }
    return hash;
}

/* How long ago something ended on each rank; 0: not since `last`. */
static uint64_t phases(const ovl_engine *e, ovl_time last)
{
    uint64_t hash = 0;
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        ovl_time ended = e->ranks[rank].ended;
        hash = mixed(hash, ended > last ? 1 + (uint64_t)(e->now - ended) : 0);
    }
    return hash;
}

/* Of the block from the last anchor on. Of the first one of a run nothing is known: it began
 * elsewhere. */
static void feel_pulse(const ovl_engine *e, ovl_rhythm *x)
{
    uint64_t pulse = mixed((uint64_t)(e->now - x->last), e->n_ended - x->ended);
    pulse = mixed(pulse, e->activities.len - e->spare.len);
    x->pulse = mixed(mixed(pulse, phases(e, x->last)), progress(e));
    x->last = e->now;
    x->ended = e->n_ended;
    x->known++;
}

/* Goes to the first anchor that the watched rank has not reached. True if one was passed, and
 * others of the same run follow. */
static bool advance(const ovl_engine *e, ovl_rhythm *x)
{
    uint32_t first_op = e->p->ranks[e->recur->rank].first_op;
    bool passed = false;
    while (x->next != OVL_NONE && ovl_engine_arrived(e, first_op + x->next)) {
        const ovl_repeat *run = &x->runs[x->run];
        x->anchors++;
        x->next += run->period;
        passed = x->next < run->end;
        if (!passed) {
            x->run++;
            x->next = x->run < x->n_runs ? x->runs[x->run].first : OVL_NONE;
            begin_anew(x);
        }
    }
    return passed;
}

/* How many anchors ago a block was like the last one; 0: never. It is remembered. */
static uint32_t blocks_since(ovl_rhythm *x)
{
    uint64_t hash = mixed(x->era, x->pulse);
    ovl_glimpse *oldest = &x->glimpses[hash % OVL_GLIMPSES];
    for (uint32_t i = 0; i < OVL_GLIMPSE_PLACES; i++) {
        ovl_glimpse *g = &x->glimpses[(hash + i) % OVL_GLIMPSES];
        if (g->anchor && g->hash == hash) {
            uint32_t since = x->anchors - g->anchor;
            g->anchor = x->anchors;
            return since;
        }
        oldest = g->anchor < oldest->anchor ? g : oldest;
    }
    *oldest = (ovl_glimpse){hash, x->anchors};
    return 0;
}

/* Is the state to be looked at, at an anchor that was passed? Either the one kept should come
 * again, or one is to be kept. */
static bool is_due(const ovl_engine *e, ovl_rhythm *x)
{
    feel_pulse(e, x);
    uint32_t since = x->known > 1 ? blocks_since(x) : 0;
    if (x->kept.taken && since && x->anchors <= x->again) {
        return x->anchors == x->again;
    }
    x->kept.taken = false;
    x->again = x->anchors + since;
    return since && (x->anchors >= x->rests || since > x->longest);
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
    to->n_phase_ends = from->n_phase_ends;
    to->n_ended = from->n_ended;
    to->taken = true;
}

/* Looks whether the state recurs in a rhythm, or keeps it if there is nothing to compare it with.
 */
static bool try_rhythm(ovl_engine *e, ovl_recur *r, ovl_rhythm *x)
{
    if (!x->kept.taken) {
        keep(e, r, x);
        x->kept_at = x->anchors;
        return false;
    }
    if (ovl_moment_equal(&x->kept, &r->now) && ovl_recur_ahead(e, r, &x->kept)) {
        ovl_recur_skip(e, r);
        x->pause = x->rests = x->longest = 0;
        return true;
    }
    x->kept.taken = false;
    x->longest = x->anchors - x->kept_at;
    x->pause = OVL_MAX(2 * x->pause, 2);
    x->rests = x->anchors + x->pause;
    return false;
}

/* Of several at once that of the longest blocks comes first. */
void ovl_recur_anchor(ovl_engine *e)
{
    ovl_recur *r = e->recur;
    bool due[OVL_REPEATS_MAX] = {false}, any = false, skipped = false;
    for (uint32_t i = 0; i < r->rhythms.len; i++) {
        ovl_rhythm *x = &r->rhythms.data[i];
        due[i] = advance(e, x) && is_due(e, x);
        any = any || due[i];
    }
    if (any) {
        ovl_moment_take(e, r);
    }
    for (uint32_t i = 0; i < r->rhythms.len && !skipped; i++) {
        skipped = due[i] && try_rhythm(e, r, &r->rhythms.data[i]);
    }
    if (any) {
        ovl_account_go_on(e);
    }
    for (uint32_t i = 0; i < r->rhythms.len && skipped; i++) {
        ovl_rhythm *x = &r->rhythms.data[i];
        uint32_t before = x->anchors;
        advance(e, x);
        if (x->anchors != before) {
            begin_anew(x);
        }
    }
    set_anchor(e);
}
