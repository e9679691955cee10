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

/* The other side moves with it, or has long arrived. */
static bool meets_alike(const ovl_engine *e, const ovl_recur *r, uint32_t a, uint32_t b)
{
    uint32_t x = e->p->partner[a], y = e->p->partner[b], rank = ovl_op_rank(e->p, x);
    return y - x == r->shift.by[rank] &&
           (ovl_recur_op_moves(e, r, rank, y - e->p->ranks[rank].first_op) ||
            ovl_engine_arrived(e, y));
}

static bool alike_on_rank(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t local)
{
    const ovl_rank *k = &e->p->ranks[rank];
    uint32_t behind = local + r->shift.by[rank];
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
    return (x->kind != OVL_SEND && x->kind != OVL_RECV) || meets_alike(e, r, a, b);
}

/* For how long the operations that those of a block meet move on with them, block by block: what
 * the code of the other side says. The end of that, at most `end`; 0: it says nothing. */
static uint32_t peers_ahead(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t low,
                            uint32_t end)
{
    const ovl_rank *k = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[k->code];
    uint32_t by = r->shift.by[rank];
    for (uint32_t i = low; i < low + by && end; i++) {
        const ovl_op *op = ovl_code_op(code, i);
        if (op->kind != OVL_SEND && op->kind != OVL_RECV) {
            continue;
        }
        uint32_t other = e->p->partner[k->first_op + i], peer = ovl_op_rank(e->p, other);
        uint32_t local = other - e->p->ranks[peer].first_op, shift = r->shift.by[peer];
        uint32_t alike = course_ahead(e, e->p->ranks[peer].code, local, shift);
        bool moves = alike && ovl_recur_op_moves(e, r, peer, local);
        uint64_t last = moves ? i + (uint64_t)by * ((alike - local + shift - 1) / shift) : 0;
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

static uint32_t meet_ahead(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t low,
                           uint32_t end)
{
    uint32_t by = r->shift.by[rank], i = low;
    while (i < end && i < low + by && alike_on_rank(e, r, rank, i)) {
        i++;
    }
    if (i == low + by && !e->courses[e->p->ranks[rank].code]->varies) {
        i = follow_on(e, rank, by, i, OVL_MAX(i, peers_ahead(e, r, rank, low, end)));
    }
    while (i < end && alike_on_rank(e, r, rank, i)) {
        i++;
    }
    return i;
}

static uint32_t rank_ahead(const ovl_engine *e, ovl_recur *r, uint32_t rank, uint32_t low)
{
    uint32_t shift = r->shift.by[rank];
    uint32_t end = code_ahead(e, r, e->p->ranks[rank].code, low, shift);
    ovl_recur_rank *known = &r->ranks[rank];
    if (low < known->from || low > known->end) {
        *known = (ovl_recur_rank){low, meet_ahead(e, r, rank, low, end)};
    }
    return OVL_MIN(end, known->end);
}

/* --- How far everything moved --- */

static bool find_shift_of_rank(const ovl_engine *e, ovl_recur *r, uint32_t rank)
{
    uint32_t n_ops = e->p->codes[e->p->ranks[rank].code].n_ops, by = 0;
    for (uint32_t i = r->first_front[rank]; i < r->first_front[rank + 1]; i++) {
        uint32_t from = r->shift.before->front[i], to = r->shift.after->front[i];
        if (from != to && (to == n_ops || to < from || (by && to - from != by))) {
            return false;
        }
        by = from != to ? to - from : by;
    }
    r->shift.by[rank] = by;
    return !e->ranks[rank].put_off;
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

static bool find_shifts(const ovl_engine *e, ovl_recur *r)
{
    bool good = true, any = false;
    for (uint32_t rank = 0; rank < e->p->n_ranks && good; rank++) {
        good = find_shift_of_rank(e, r, rank);
        any = any || r->shift.by[rank];
    }
    if (good) {
        forget_if_other(e, r);
    }
    return good && any;
}

/* Eager messages that left and whose receiver has not come are of what is to come, too. False if
 * they go back to where nothing repeats yet. */
static bool include_messages(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t *low)
{
    const ovl_rank *k = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[k->code];
    uint32_t by = r->shift.by[rank];
    for (bool found = true; found;) {
        found = false;
        for (uint32_t i = *low < by ? 0 : *low - by; i < *low && !found; i++) {
            uint32_t op = k->first_op + i;
            const ovl_op *o = ovl_code_op(code, i);
            bool message = o->kind == OVL_SEND && o->eager && ovl_engine_arrived(e, op) &&
                           ovl_recur_op_moves(e, r, rank, i);
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

static bool find_window(const ovl_engine *e, ovl_recur *r, uint32_t rank)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    const uint32_t *front = r->now.front + r->first_front[rank];
    uint32_t low = code->n_ops, high = 0;
    for (uint32_t lane = 0; lane <= ovl_lane_host(code); lane++) {
        if (ovl_recur_moves(r, rank, lane)) {
            uint32_t last =
                lane < ovl_lane_host(code) ? ovl_recur_flying(e, r, rank, lane) : OVL_NONE;
            low = OVL_MIN(low, OVL_MIN(last, front[lane]));
            high = OVL_MAX(high, front[lane] + 1);
        }
    }
    while (high < code->n_ops && ovl_code_batch(code, high) != OVL_NONE) {
        high++;
    }
    bool good = include_messages(e, r, rank, &low) && low >= r->shift.by[rank];
    r->shift.low[rank] = low;
    r->shift.high[rank] = high;
    return good;
}

/* --- Who waits --- */

/* In how many periods what it waits for at `before` may have ended, at the earliest. */
static uint64_t holds_for(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t before,
                          bool arrival)
{
    const ovl_rank *k = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[k->code];
    if (before == OVL_NONE) {
        return 0;
    }
    bool arrived = ovl_engine_arrived(e, k->first_op + before);
    if (arrived && (arrival || !ovl_recur_in_flight(e, r, rank, before))) {
        return 0;
    }
    if (!ovl_recur_moves(r, rank, ovl_lane(code, before))) {
        return UINT64_MAX;
    }
    return before < r->shift.high[rank] ? 0 : (before - r->shift.high[rank]) / r->shift.by[rank];
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
    uint32_t at = other - e->p->ranks[peer].first_op, high = r->shift.high[peer];
    if (ovl_engine_arrived(e, other)) {
        return 0;
    }
    return !ovl_recur_op_moves(e, r, peer, at) ? UINT64_MAX
           : at < high                         ? 0
                                               : (at - high) / r->shift.by[peer];
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
 * waiting; what is in flight lies before, or behind, and goes on waiting, too. */
static uint64_t stands_for(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t lane)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    uint32_t front = r->now.front[r->first_front[rank] + lane], high = r->shift.high[rank];
    uint32_t last = lane < ovl_lane_host(code) ? ovl_recur_flying(e, r, rank, lane) : OVL_NONE;
    uint64_t k = UINT64_MAX;
    if (last != OVL_NONE && last >= r->shift.low[rank]) {
        k = last < high ? 0 : (last - high) / r->shift.by[rank];
    }
    if (last != OVL_NONE) {
        k = OVL_MIN(k, waits_for(e, r, rank, last));
    }
    if (front == code->n_ops || k == 0) {
        return k;
    }
    uint64_t room = front < high ? 0 : (front - high) / r->shift.by[rank];
    return OVL_MIN(k, OVL_MIN(room, blocked_for(e, r, rank, front)));
}

static uint64_t steps_left(const ovl_engine *e, const ovl_recur *r, uint32_t rank)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    uint64_t k = UINT64_MAX;
    for (uint32_t back = 1; back <= OVL_MIN(code->n_steps, 2); back++) {
        uint32_t local = code->step_ends[code->n_steps - back], high = r->shift.high[rank];
        bool over = ovl_engine_arrived(e, e->p->ranks[rank].first_op + local) &&
                    !ovl_recur_in_flight(e, r, rank, local);
        uint64_t room = local < high ? 0 : (local - high) / r->shift.by[rank];
        k = over ? k : OVL_MIN(k, room);
    }
    return k;
}

static uint64_t rank_times(const ovl_engine *e, ovl_recur *r, uint32_t rank)
{
    uint32_t by = r->shift.by[rank], low = r->shift.low[rank], high = r->shift.high[rank];
    uint32_t end = rank_ahead(e, r, rank, low - by);
    uint64_t k = end < high ? 0 : (end - high) / by + 1;
    for (uint32_t lane = 0; lane < r->first_front[rank + 1] - r->first_front[rank]; lane++) {
        if (k && !ovl_recur_moves(r, rank, lane)) {
            k = OVL_MIN(k, stands_for(e, r, rank, lane));
        }
    }
    return k ? OVL_MIN(k, steps_left(e, r, rank)) : 0;
}

/* --- Collectives --- */

static bool count_on_rank(const ovl_engine *e, ovl_recur *r, uint32_t rank)
{
    const ovl_rank *k = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[k->code];
    uint32_t by = r->shift.by[rank], low = r->shift.low[rank] - by;
    for (uint32_t s = 0; s < code->n_slots; s++) {
        r->stamps[s] = 0;
    }
    for (uint32_t i = low; i < low + by; i++) {
        uint16_t slot = ovl_code_op(code, i)->comm;
        if (ovl_code_op(code, i)->kind != OVL_COLLECTIVE || r->stamps[slot]++) {
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
    for (uint32_t rank = 0; rank < e->p->n_ranks && good; rank++) {
        good = r->shift.by[rank] == 0 || count_on_rank(e, r, rank);
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
    for (uint32_t i = 0; i < e->heap.items.len; i++) {
        last = OVL_MAX(last, e->heap.items.data[i].time);
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
    if (!find_shifts(e, r) || !wires_move(e, r)) {
        return false;
    }
    uint64_t k = times_before_moments(e, s->period);
    for (uint32_t rank = 0; rank < e->p->n_ranks && k; rank++) {
        k = s->by[rank] == 0 || find_window(e, r, rank) ? k : 0;
    }
    for (uint32_t rank = 0; rank < e->p->n_ranks && k; rank++) {
        k = s->by[rank] ? OVL_MIN(k, rank_times(e, r, rank)) : k;
    }
    s->times = k;
    return k && count_collectives(e, r);
}
