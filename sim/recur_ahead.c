/*
 * recur_ahead.c - two states are equal: how often may what lies between them be repeated?
 *
 * Between them rank r went on by `by[r]` operations on each of its streams that moved. The state k
 * periods later is the same again as long as
 *
 *     operation i of the rank is like i + by[r], for every i from what was in flight at first up to
 *     the last front of the last period: same cost, stream, launch; what it waits for as far back;
 *     what a message meets has moved as its own rank did; members of a communicator went through
 *     equally many collectives;
 *     whoever did not move waits for something that does not end meanwhile;
 *     nothing happens at a moment of its own: a capacity that changes, an interval that is counted.
 *
 * The last two step ends of a rank are simulated, for their times are looked at.
 */
#include "sim/recur.h"

/* --- Like operations --- */

static bool is_freed(const ovl_engine *e, const ovl_code *code, uint32_t local)
{
    return e->options->free_names && e->options->free_names[code->name[local]];
}

static bool like(const ovl_engine *e, uint32_t c, uint32_t a, uint32_t b)
{
    const ovl_code *code = &e->p->codes[c];
    return ovl_ops_alike(e->p, code, e->courses[c], a, b) &&
           is_freed(e, code, a) == is_freed(e, code, b);
}

/* Until where the operations of a code are like those `shift` behind them, by its course; 0 if that
 * says nothing of `low`. */
static uint32_t course_ahead(const ovl_engine *e, uint32_t c, uint32_t low, uint32_t shift)
{
    const ovl_course *course = e->courses[c];
    const ovl_repeat *run = ovl_repeats_at(course->runs, course->n_runs, low, shift);
    return run ? run->end - shift : 0;
}

/* From `low` on, the first that is not like the one `shift` behind it. */
static uint32_t code_ahead(const ovl_engine *e, ovl_recur *r, uint32_t c, uint32_t low,
                           uint32_t shift)
{
    const ovl_code *code = &e->p->codes[c];
    ovl_recur_code *known = &r->codes[c];
    if (known->shift == shift && low >= known->from && low <= known->end) {
        return known->end;
    }
    uint32_t end = course_ahead(e, c, low, shift), i = end && !e->options->free_names ? end : low;
    while (i < end && is_freed(e, code, i) == is_freed(e, code, i + shift)) {
        i++;
    }
    while (!end && i + shift < code->n_ops && like(e, c, i, i + shift)) {
        i++;
    }
    *known = (ovl_recur_code){.from = low, .end = i, .shift = shift};
    return i;
}

/* --- Whom they meet --- */

/* The stride of all lanes of a rank that moved, if they have one. */
static const ovl_stride *only_stride(const ovl_recur *r, uint32_t rank)
{
    uint32_t first = r->shift.first_stride[rank];
    return r->shift.first_stride[rank + 1] == first + 1 ? &r->shift.strides.data[first] : NULL;
}

/* The other side moves with it, or has long arrived. */
static bool meets_alike(const ovl_engine *e, const ovl_recur *r, uint32_t a, uint32_t b)
{
    uint32_t x = e->p->partner[a], y = e->p->partner[b], rank = ovl_op_rank(e->p, x);
    const ovl_stride *s = ovl_recur_op_stride(e, r, rank, y - e->p->ranks[rank].first_op);
    const ovl_stride *any = only_stride(r, rank);
    return s ? y - x == s->by : any && y - x == any->by && ovl_engine_arrived(e, y);
}

static bool alike_on_rank(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s,
                          uint32_t local)
{
    const ovl_rank *k = &e->p->ranks[s->rank];
    uint32_t behind = local + s->by;
    const ovl_code *code = &e->p->codes[k->code];
    const ovl_op *x = ovl_code_op(code, local), *y = ovl_code_op(code, behind);
    uint32_t a = k->first_op + local, b = k->first_op + behind;
    if (x->per_rank && !ovl_same_cost(e->p, &e->p->costs[x->cost + k->variant],
                                      &e->p->costs[y->cost + k->variant])) {
        return false;
    }
    if (x->per_rank && x->kind == OVL_HOST && e->p->costs[x->cost + k->variant].latency) {
        return false;
    }
    if (e->p->fold && e->p->fold->together[a] != e->p->fold->together[b]) {
        return false;
    }
    bool message = x->kind == OVL_SEND || x->kind == OVL_RECV;
    return !message || !ovl_recur_op_moves(e, r, s->rank, local) || meets_alike(e, r, a, b);
}

/* For how long the operations that those of a block meet move on with them, block by block: what
 * the code of the other side says. The end of that, at most `end`; 0: it says nothing. */
static uint32_t peers_ahead(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s,
                            uint32_t low, uint32_t end)
{
    const ovl_rank *k = &e->p->ranks[s->rank];
    const ovl_code *code = &e->p->codes[k->code];
    uint32_t by = s->by;
    for (uint32_t i = low; i < low + by && end; i++) {
        const ovl_op *op = ovl_code_op(code, i);
        if ((op->kind != OVL_SEND && op->kind != OVL_RECV) ||
            !ovl_recur_op_moves(e, r, s->rank, i)) {
            continue;
        }
        uint32_t other = e->p->partner[k->first_op + i], peer = ovl_op_rank(e->p, other);
        uint32_t local = other - e->p->ranks[peer].first_op;
        uint32_t shift = ovl_recur_op_by(e, r, peer, local);
        uint32_t alike = shift ? course_ahead(e, e->p->ranks[peer].code, local, shift) : 0;
        uint64_t last = alike ? i + (uint64_t)by * ((alike - local + shift - 1) / shift) : 0;
        end = (uint32_t)OVL_MIN(end, last);
    }
    return end;
}

/* From a block on whose operations meet such that move on: the first that does not follow the one a
 * block before it. */
static uint32_t follow_on(const ovl_engine *e, uint32_t rank, uint32_t by, uint32_t from,
                          uint32_t end)
{
    uint32_t first = e->p->ranks[rank].first_op, i = from;
    const uint32_t *partner = e->p->partner ? e->p->partner + first : NULL;
    const uint32_t *together = e->p->fold ? e->p->fold->together + first : NULL;
    while (partner && i < end && partner[i + by] - partner[i] == partner[i] - partner[i - by]) {
        i++;
    }
    end = partner ? i : end;
    for (i = from; together && i < end && together[i + by] == together[i];) {
        i++;
    }
    return together ? i : end;
}

static uint32_t meet_ahead(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s,
                           uint32_t low, uint32_t end)
{
    uint32_t by = s->by, i = low;
    while (i < end && i < low + by && alike_on_rank(e, r, s, i)) {
        i++;
    }
    if (i == low + by && !e->courses[e->p->ranks[s->rank].code]->varies) {
        i = follow_on(e, s->rank, by, i, OVL_MAX(i, peers_ahead(e, r, s, low, end)));
    }
    while (i < end && alike_on_rank(e, r, s, i)) {
        i++;
    }
    return i;
}

/* The same where others of its rank go on by more, or less: those are looked at by themselves. */
static uint32_t meet_apart(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s,
                           uint32_t low, uint32_t end)
{
    uint32_t i = low;
    while (i < end && (ovl_recur_op_stride(e, r, s->rank, i) != s || alike_on_rank(e, r, s, i))) {
        i++;
    }
    return i;
}

static uint32_t stride_ahead(const ovl_engine *e, ovl_recur *r, const ovl_stride *s, uint32_t low)
{
    uint32_t end = code_ahead(e, r, e->p->ranks[s->rank].code, low, s->by);
    ovl_recur_rank *known = &r->ranks[s->rank];
    if (!s->alone) {
        return meet_apart(e, r, s, low, end);
    }
    if (low < known->from || low > known->end) {
        *known = (ovl_recur_rank){low, meet_ahead(e, r, s, low, end)};
    }
    return OVL_MIN(end, known->end);
}

/* --- How far everything moved --- */

#define STRIDES_MAX 4 /* of a rank */

/* The stride of a rank by so many operations from there on; it may be new. Where the code repeats
 * itself in another run nothing is like it is here. */
static uint32_t stride_by(const ovl_engine *e, ovl_recur *r, uint32_t rank, uint32_t from,
                          uint32_t by)
{
    const ovl_course *course = e->courses[e->p->ranks[rank].code];
    const ovl_repeat *run = ovl_repeats_at(course->runs, course->n_runs, from, by);
    uint32_t i = r->shift.first_stride[rank];
    while (i < r->shift.strides.len &&
           (r->shift.strides.data[i].by != by || r->shift.strides.data[i].run != run)) {
        i++;
    }
    if (i == r->shift.strides.len) {
        ovl_vec_push(&r->shift.strides, (ovl_stride){.rank = rank, .run = run, .by = by});
    }
    return i;
}

static bool find_strides_of_rank(const ovl_engine *e, ovl_recur *r, uint32_t rank)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    uint32_t first = r->shift.first_stride[rank] = r->shift.strides.len;
    for (uint32_t i = r->first_front[rank]; i < r->first_front[rank + 1]; i++) {
        uint32_t from = r->shift.before->front[i], to = r->shift.after->front[i];
        if (from != to && (to == code->n_ops || to < from)) {
            return false;
        }
        r->shift.stride[i] = from != to ? stride_by(e, r, rank, from, to - from) : OVL_NONE;
    }
    uint32_t n = r->shift.strides.len - first;
    for (uint32_t i = first; i < r->shift.strides.len; i++) {
        r->shift.strides.data[i].alone = n == 1;
    }
    return !e->ranks[rank].put_off && n <= STRIDES_MAX &&
           (n < 2 || !(code->host_timed || code->queued));
}

/* What is known of whom operations meet holds as long as all move as they did. */
static void forget_if_other(const ovl_engine *e, ovl_recur *r)
{
    bool same = true;
    for (uint32_t i = 0; i < r->first_front[e->p->n_ranks]; i++) {
        uint32_t by = r->shift.after->front[i] - r->shift.before->front[i];
        same = same && r->last_by[i] == by;
        r->last_by[i] = by;
    }
    if (!same) {
        memset(r->ranks, 0, e->p->n_ranks * sizeof *r->ranks);
    }
}

static bool find_strides(const ovl_engine *e, ovl_recur *r)
{
    bool good = true;
    r->shift.strides.len = 0;
    for (uint32_t rank = 0; rank < e->p->n_ranks && good; rank++) {
        good = find_strides_of_rank(e, r, rank);
    }
    if (good) {
        r->shift.first_stride[e->p->n_ranks] = r->shift.strides.len;
        forget_if_other(e, r);
    }
    return good && r->shift.strides.len;
}

/* Eager messages that left and whose receiver has not come are of what is to come, too. False if
 * they go back to where nothing repeats yet. */
static bool include_messages(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s,
                             uint32_t *low)
{
    const ovl_rank *k = &e->p->ranks[s->rank];
    const ovl_code *code = &e->p->codes[k->code];
    uint32_t by = s->by;
    for (bool found = true; found;) {
        found = false;
        for (uint32_t i = *low < by ? 0 : *low - by; i < *low && !found; i++) {
            uint32_t op = k->first_op + i;
            const ovl_op *o = ovl_code_op(code, i);
            bool message = o->kind == OVL_SEND && o->eager && ovl_engine_arrived(e, op) &&
                           ovl_recur_op_stride(e, r, s->rank, i) == s;
            found = message && (!ovl_engine_arrived(e, e->p->partner[op]) ||
                                ovl_recur_activity(r, op) != OVL_NONE);
        }
        if (found && *low < by) {
            return false;
        }
        *low -= found ? by : 0;
    }
    return true;
}

static bool find_window(const ovl_engine *e, const ovl_recur *r, ovl_stride *s)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[s->rank].code];
    const uint32_t *front = r->now.front + r->first_front[s->rank];
    uint32_t low = code->n_ops, high = 0;
    for (uint32_t lane = 0; lane <= ovl_lane_host(code); lane++) {
        if (ovl_recur_stride(r, s->rank, lane) == s) {
            uint32_t last =
                lane < ovl_lane_host(code) ? ovl_recur_flying(e, r, s->rank, lane) : OVL_NONE;
            low = OVL_MIN(low, OVL_MIN(last, front[lane]));
            high = OVL_MAX(high, front[lane] + 1);
        }
    }
    while (high < code->n_ops && ovl_code_batch(code, high) != OVL_NONE) {
        high++;
    }
    bool good = include_messages(e, r, s, &low) && low >= s->by;
    s->low = low;
    s->high = high;
    return good;
}

/* --- Who waits --- */

/* In how many periods those of a stride (NULL: who stand) may come to an operation ahead. */
static uint64_t periods_until(const ovl_stride *s, uint32_t local)
{
    return !s ? UINT64_MAX : local < s->high ? 0 : (local - s->high) / s->by;
}

/* In how many periods what it waits for at `before` may have ended, at the earliest. */
static uint64_t holds_for(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t before,
                          bool arrival)
{
    const ovl_rank *k = &e->p->ranks[rank];
    if (before == OVL_NONE) {
        return 0;
    }
    bool arrived = ovl_engine_arrived(e, k->first_op + before);
    if (arrived && (arrival || !ovl_recur_in_flight(e, r, rank, before))) {
        return 0;
    }
    return periods_until(ovl_recur_op_stride(e, r, rank, before), before);
}

/* For how many periods an operation that has not arrived will not. */
static uint64_t blocked_for(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t local)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    uint64_t k = 0;
    if (ovl_code_op(code, local)->kind != OVL_HOST && local >= e->ranks[rank].cursor) {
        return UINT64_MAX; /* not issued, and the host is behind */
    }
    ovl_offsets after = ovl_code_after(code, local);
    for (uint32_t i = 0; i < after.n; i++) {
        k = OVL_MAX(k, holds_for(e, r, rank, local + after.by[i], false));
    }
    k = OVL_MAX(k, holds_for(e, r, rank, ovl_code_stream_prev(code, local), false));
    k = OVL_MAX(k, holds_for(e, r, rank, ovl_code_comm_prev(code, local), false));
    return code->queued ? OVL_MAX(k, holds_for(e, r, rank, ovl_code_queue_prev(code, local), true))
                        : k;
}

/* For how many periods nobody comes to meet a send or receive that waits. */
static uint64_t alone_for(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t local)
{
    const ovl_rank *k = &e->p->ranks[rank];
    uint32_t other = e->p->partner[k->first_op + local], peer = ovl_op_rank(e->p, other);
    uint32_t at = other - e->p->ranks[peer].first_op;
    return ovl_engine_arrived(e, other) ? 0
                                        : periods_until(ovl_recur_op_stride(e, r, peer, at), at);
}

/* The same of what is in flight on a lane that did not move. Of collectives count_collectives sees
 * to it: no member went through one that others wait in. */
static uint64_t waits_for(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t local)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    uint64_t k = UINT64_MAX;
    if (ovl_code_op(code, local)->kind == OVL_SEND || ovl_code_op(code, local)->kind == OVL_RECV) {
        return alone_for(e, r, rank, local);
    }
    ovl_offsets parts = ovl_code_parts(code, local);
    for (uint32_t i = 0; i < parts.n; i++) {
        uint32_t part = local + parts.by[i];
        k = ovl_recur_in_flight(e, r, rank, part) ? OVL_MIN(k, alone_for(e, r, rank, part)) : k;
    }
    return k;
}

/* A lane that did not move: what comes next on it lies behind all that is skipped and goes on
 * waiting; what is in flight lies before, or behind, and goes on waiting, too. Where lanes go on
 * unequally it may lie between, if nobody of the stride waits for it (keep_along). */
static uint64_t stands_for(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s,
                           uint32_t lane)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[s->rank].code];
    uint32_t front = r->now.front[r->first_front[s->rank] + lane];
    uint32_t last = lane < ovl_lane_host(code) ? ovl_recur_flying(e, r, s->rank, lane) : OVL_NONE;
    uint64_t k = UINT64_MAX;
    if (last != OVL_NONE && last >= s->low) {
        k = periods_until(s, last);
    }
    if (last != OVL_NONE) {
        k = OVL_MIN(k, waits_for(e, r, s->rank, last));
    }
    if (front == code->n_ops || k == 0) {
        return k;
    }
    uint64_t room = s->alone ? periods_until(s, front) : UINT64_MAX;
    return OVL_MIN(k, OVL_MIN(room, blocked_for(e, r, s->rank, front)));
}

static uint64_t steps_left(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[s->rank].code];
    uint64_t k = UINT64_MAX;
    for (uint32_t back = 1; back <= OVL_MIN(code->n_steps, 2); back++) {
        uint32_t local = code->step_ends[code->n_steps - back];
        bool over = ovl_engine_arrived(e, e->p->ranks[s->rank].first_op + local) &&
                    !ovl_recur_in_flight(e, r, s->rank, local);
        k = over ? k : OVL_MIN(k, periods_until(s, local));
    }
    return k;
}

/* --- Lanes that go on unequally --- */

/* For how many periods all that one stride passes lies before all that the other does: which of two
 * operations comes first in the code decides where they do something at one instant. */
static uint64_t apart_for(const ovl_stride *low, const ovl_stride *high)
{
    if (low->high > high->low - high->by) {
        return 0;
    }
    uint32_t room = high->low - high->by - low->high;
    return low->by <= high->by ? UINT64_MAX : room / (low->by - high->by);
}

/* Is `before`, for which one of the stride waits, on a lane that goes on by as much, or on one that
 * did all it has to do? */
static bool goes_along(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s,
                       uint32_t before)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[s->rank].code];
    uint32_t lane = before == OVL_NONE ? 0 : ovl_lane(code, before);
    const ovl_stride *other = before == OVL_NONE ? s : ovl_recur_stride(r, s->rank, lane);
    return other ? other->by == s->by
                 : lane < ovl_lane_host(code) &&
                       r->now.front[r->first_front[s->rank] + lane] == code->n_ops &&
                       ovl_recur_flying(e, r, s->rank, lane) == OVL_NONE;
}

/* Does what is on lanes of the stride wait for nobody else? Told by one of its blocks: all that
 * follow are like it. */
static bool keep_along(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[s->rank].code];
    const ovl_course *course = e->courses[e->p->ranks[s->rank].code];
    bool all = true;
    for (uint32_t i = s->low - s->by; i < s->low && all; i++) {
        if (ovl_recur_op_stride(e, r, s->rank, i) == s) {
            all = goes_along(e, r, s, ovl_code_comm_prev(code, i));
            ovl_offsets needs = ovl_course_needs(course, code, i);
            for (uint32_t k = 0; k < needs.n && all; k++) {
                all = goes_along(e, r, s, i + needs.by[k]);
            }
        }
    }
    return all;
}

static uint64_t unequal_for(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s)
{
    uint64_t k = keep_along(e, r, s) ? UINT64_MAX : 0;
    for (uint32_t i = r->shift.first_stride[s->rank]; i < r->shift.first_stride[s->rank + 1]; i++) {
        const ovl_stride *other = &r->shift.strides.data[i];
        if (other != s) {
            k = OVL_MIN(k, s->low < other->low ? apart_for(s, other) : apart_for(other, s));
        }
    }
    return k;
}

static uint64_t stride_times(const ovl_engine *e, ovl_recur *r, const ovl_stride *s)
{
    uint32_t end = stride_ahead(e, r, s, s->low - s->by);
    uint64_t k = end < s->high ? 0 : (end - s->high) / s->by + 1;
    for (uint32_t lane = 0; lane < r->first_front[s->rank + 1] - r->first_front[s->rank]; lane++) {
        if (k && !ovl_recur_moves(r, s->rank, lane)) {
            k = OVL_MIN(k, stands_for(e, r, s, lane));
        }
    }
    if (k && !s->alone) {
        k = OVL_MIN(k, unequal_for(e, r, s));
    }
    return k ? OVL_MIN(k, steps_left(e, r, s)) : 0;
}

/* --- Collectives --- */

static bool count_on_lanes(const ovl_engine *e, ovl_recur *r, const ovl_stride *s)
{
    const ovl_rank *k = &e->p->ranks[s->rank];
    const ovl_code *code = &e->p->codes[k->code];
    uint32_t by = s->by, low = s->low - by;
    for (uint32_t slot = 0; slot < code->n_slots; slot++) {
        r->stamps[slot] = 0;
    }
    for (uint32_t i = low; i < low + by; i++) {
        uint16_t slot = ovl_code_op(code, i)->comm;
        if (ovl_code_op(code, i)->kind != OVL_COLLECTIVE ||
            (!s->alone && ovl_recur_op_stride(e, r, s->rank, i) != s) || r->stamps[slot]++) {
            continue;
        }
        uint32_t comm = e->p->rank_comms[k->first_comm + slot];
        uint32_t n = code->collectives_before[i + by] - code->collectives_before[i];
        if (r->met[comm]++ && r->shift.collectives[comm] != n) {
            return false;
        }
        r->shift.collectives[comm] = n;
    }
    return true;
}

/* Every member of a communicator went through as many of its collectives. */
static bool count_collectives(const ovl_engine *e, ovl_recur *r)
{
    bool good = true;
    for (uint32_t c = 0; c < e->p->n_comms; c++) {
        r->met[c] = r->shift.collectives[c] = 0;
    }
    for (uint32_t i = 0; i < r->shift.strides.len && good; i++) {
        good = count_on_lanes(e, r, &r->shift.strides.data[i]);
    }
    for (uint32_t c = 0; c < e->p->n_comms && good; c++) {
        good = r->met[c] == 0 || r->met[c] == e->p->comms[c].n_members;
    }
    return good;
}

/* --- Moments --- */

/* What comes after now and not by itself. */
static ovl_time next_moment(const ovl_engine *e)
{
    const ovl_run_options *o = e->options;
    ovl_time next = OVL_NEVER;
    if (e->next_change < e->p->n_changes) {
        next = e->p->changes[e->next_change].time;
    }
    if (o->count_from < o->count_to && !e->counting) {
        next = OVL_MIN(next, o->count_from);
    } else if (o->count_from < o->count_to && !e->counted) {
        next = OVL_MIN(next, o->count_to);
    }
    return next;
}

static ovl_time last_event(const ovl_engine *e)
{
    ovl_time last = e->now;
    for (uint32_t i = 0; i < e->heap.n_used; i++) {
        const ovl_heap_item *event = ovl_heap_leaf(&e->heap, i);
        last = event ? OVL_MAX(last, event->time) : last;
    }
    for (uint32_t i = 0; i < e->delays.n_lines; i++) {
        const ovl_delay_line *line = &e->delays.lines[i];
        for (uint32_t k = 0; k < line->n; k++) {
            last = OVL_MAX(last, line->items[(line->first + k) & (line->size - 1)].time);
        }
    }
    return last;
}

/* How often before the next moment, and before time cannot be counted any more. */
static uint64_t times_before_moments(const ovl_engine *e, ovl_time period)
{
    ovl_time next = next_moment(e), left = (OVL_TIME_MAX - last_event(e)) / period;
    uint64_t k = left > 1 ? (uint64_t)left - 1 : 0;
    return next <= e->now ? 0 : OVL_MIN(k, (uint64_t)((next - 1 - e->now) / period));
}

/* Bytes of a lane that did not move that are on their way would be there at some time. */
static bool wires_move(const ovl_engine *e, const ovl_recur *r)
{
    bool all = true;
    for (uint32_t i = 0; i < r->live.len && all; i++) {
        const ovl_activity *a = &e->activities.data[r->live.data[i].activity];
        all = !a->eager || ovl_recur_op_moves(e, r, a->rank, a->op - e->p->ranks[a->rank].first_op);
    }
    return all;
}

bool ovl_recur_ahead(ovl_engine *e, ovl_recur *r, const ovl_moment *before)
{
    ovl_shift *s = &r->shift;
    s->before = before;
    s->after = &r->now;
    s->period = r->now.now - before->now;
    if (!find_strides(e, r) || !wires_move(e, r)) {
        return false;
    }
    uint64_t k = times_before_moments(e, s->period);
    for (uint32_t i = 0; i < s->strides.len && k; i++) {
        k = find_window(e, r, &s->strides.data[i]) ? k : 0;
    }
    for (uint32_t i = 0; i < s->strides.len && k; i++) {
        k = OVL_MIN(k, stride_times(e, r, &s->strides.data[i]));
    }
    s->times = k;
    return k && count_collectives(e, r);
}
