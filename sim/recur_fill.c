/*
 * recur_fill.c - what happens in the periods that are skipped is written where it belongs.
 *
 * Operation i of a rank that moved by L in a period of T stands for i + L, ..., i + kL: those get
 * its times and T, ..., kT more; the trail and what was kept of rates is told again. From where
 * nothing has arrived yet up to where what will be in flight begins that is a plain loop over whole
 * periods; before and behind each operation is looked at by itself.
 */
#include "sim/recur.h"

/* What is known of an operation between `low` and `high`, before anything is changed. */
enum {
    HAS_ENDED = 1,
    HAS_ARRIVED = 2,
    NOTED_ARRIVE = 4,
    NOTED_START = 8,
    NOTED_END = 16,
    LANDED = 32
};

/* --- Operations --- */

static uint8_t flags_of(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t local)
{
    uint32_t op = e->p->ranks[rank].first_op + local;
    if (!ovl_engine_arrived(e, op)) {
        return 0;
    }
    uint8_t flags = HAS_ARRIVED;
    flags |= ovl_recur_in_flight(e, r, rank, local) ? 0 : HAS_ENDED;
    flags |= OVL_SAID(e->pending[op]) == OVL_OVER ? LANDED : 0;
    if (e->end) {
        flags |= e->arrive[op] >= 0 ? NOTED_ARRIVE : 0;
        flags |= e->start[op] >= 0 ? NOTED_START : 0;
        flags |= e->end[op] >= 0 ? NOTED_END : 0;
    }
    return flags;
}

/* Lanes of a rank that moved: their window, and where that will be. */
typedef struct window {
    const ovl_stride *stride;
    uint32_t rank, first_op, low, high, by, go; /* by * k */
    uint32_t cursor, to_cursor;                 /* of the host, now and then */
    bool all_move;                              /* no lane that did not move has operations there */
    const uint8_t *flags;                       /* from low on */
    const uint32_t *more;                       /* likewise: how much more it will wait for */
} window;

/* Has an operation that others wait for ended, when `times` periods have passed? */
static bool has_ended(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t op,
                      uint32_t times)
{
    const ovl_stride *s = ovl_recur_op_stride(e, r, rank, op);
    uint32_t go = s ? times * s->by : 0;
    return (s && op < s->low + go) ||
           (ovl_engine_arrived(e, e->p->ranks[rank].first_op + op - go) &&
            !ovl_recur_in_flight(e, r, rank, op - go));
}

/* How much of what an operation waits for and is spare (course.h) has not ended then. */
static uint32_t spare_left(const ovl_engine *e, const ovl_recur *r, uint32_t rank, uint32_t local,
                           uint32_t times)
{
    const ovl_course *course = e->courses[e->p->ranks[rank].code];
    uint32_t left = 0;
    ovl_offsets spare = ovl_offsets_at(course->lists, course->spare[local]);
    for (uint32_t i = 0; i < spare.n; i++) {
        left += !has_ended(e, r, rank, spare.by[i], times);
    }
    return left;
}

/* By how much more an operation will wait for where it lies k periods later. */
static uint32_t spare_more(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s,
                           uint32_t local)
{
    uint32_t k = (uint32_t)r->shift.times;
    bool any = e->courses[e->p->ranks[s->rank].code]->spare != NULL;
    return any ? spare_left(e, r, s->rank, local + k * s->by, k) -
                     spare_left(e, r, s->rank, local, 0)
               : 0;
}

/* Of all ranks, one after another: what is in flight on one may be told by another. */
static void find_flags(const ovl_engine *e, ovl_recur *r)
{
    r->flags.len = r->more.len = 0;
    for (uint32_t k = 0; k < r->shift.strides.len; k++) {
        const ovl_stride *s = &r->shift.strides.data[k];
        for (uint32_t i = s->low; i < s->high; i++) {
            ovl_vec_push(&r->flags, flags_of(e, r, s->rank, i));
            ovl_vec_push(&r->more, spare_more(e, r, s, i));
        }
    }
}

/* Have operations of a lane that did not move arrived that lie among those that are filled in? */
static bool lies_between(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s,
                         uint32_t lane)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[s->rank].code];
    uint32_t last = ovl_recur_last(e, r, s->rank, lane), low = s->low;
    uint32_t end = s->high + (uint32_t)r->shift.times * s->by;
    if (last != OVL_NONE && last >= end) {
        last = ovl_lane_before(code, lane, last);
    }
    return last != OVL_NONE && last >= low;
}

static bool all_move(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[s->rank].code];
    bool all = !code->host_timed || ovl_recur_moves(r, s->rank, ovl_lane_host(code));
    for (uint32_t lane = 0; lane < ovl_lane_host(code) && all; lane++) {
        all = ovl_recur_moves(r, s->rank, lane) || !lies_between(e, r, s, lane);
    }
    return all && s->alone;
}

static window open_window(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s,
                          uint32_t first_flag)
{
    const ovl_rank *k = &e->p->ranks[s->rank];
    uint32_t host = ovl_lane_host(&e->p->codes[k->code]);
    window w = {.stride = s,
                .rank = s->rank,
                .first_op = k->first_op,
                .low = s->low,
                .high = s->high,
                .by = s->by,
                .go = (uint32_t)r->shift.times * s->by,
                .cursor = e->ranks[s->rank].cursor,
                .all_move = all_move(e, r, s),
                .flags = r->flags.data + first_flag,
                .more = r->more.data + first_flag};
    w.to_cursor = w.cursor + (ovl_recur_stride(r, s->rank, host) == s ? w.go : 0);
    return w;
}

/* Is an operation on one of those lanes? */
static bool is_here(const ovl_engine *e, const ovl_recur *r, const window *w, uint32_t local)
{
    return w->all_move || ovl_recur_op_stride(e, r, w->rank, local) == w->stride;
}

/* What will be known of an operation when k periods have passed. */
static uint8_t flags_then(const window *w, uint32_t local)
{
    return local < w->low + w->go ? UINT8_MAX : w->flags[local - w->go - w->low];
}

static uint8_t flags_now(const window *w, uint32_t local)
{
    return local < w->high ? w->flags[local - w->low] : 0;
}

/* --- Times --- */

/* Those noted of operations from `from` to `to`. */
static void fill_each(const ovl_engine *e, const ovl_recur *r, const window *w, ovl_time *times,
                      uint8_t flag, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        uint32_t op = w->first_op + i;
        if (times[op] < 0 && (flags_then(w, i) & flag) && is_here(e, r, w, i)) {
            assert(times[op - w->by] >= 0);
            times[op] = times[op - w->by] + r->shift.period;
        }
    }
}

#define TOLD_AT_ONCE 256 /* items of short periods */

/* The next `n` times are those `by` before them and `period` more. The more periods are told, the
 * more are told again at once. */
static void tell_times(ovl_time *times, uint32_t n, uint32_t by, ovl_time period)
{
    for (uint32_t done = 0; done < n;) {
        uint32_t m = OVL_MIN(by, n - done);
        const ovl_time *from = times + done - by;
        for (uint32_t i = 0; i < m; i++) {
            times[done + i] = from[i] + period;
        }
        done += m;
        if (done < n && by < TOLD_AT_ONCE) {
            by *= 2;
            period *= 2;
        }
    }
}

/* What lies behind all that arrived, and before all that will not have ended, passes whole. */
static void fill(const ovl_engine *e, const ovl_recur *r, const window *w, ovl_time *times,
                 uint8_t flag)
{
    uint32_t end = w->high + w->go, from = w->all_move ? w->high : end;
    uint32_t to = OVL_MAX(from, OVL_MIN(w->low + w->go, end));
    fill_each(e, r, w, times, flag, w->low, from);
    tell_times(times + w->first_op + from, to - from, w->by, r->shift.period);
    fill_each(e, r, w, times, flag, to, end);
}

/* The call that a host is in was issued. */
static void fill_issues(const ovl_engine *e, const window *w, ovl_time period)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[w->rank].code];
    bool calls = e->ranks[w->rank].issuing && ovl_code_op(code, w->cursor)->kind == OVL_HOST;
    tell_times(e->issue + w->first_op + w->cursor + calls, w->to_cursor - w->cursor, w->by, period);
}

static bool is_eager_send(const ovl_engine *e, uint32_t rank, uint32_t local)
{
    const ovl_op *op = ovl_code_op(&e->p->codes[e->p->ranks[rank].code], local);
    return op->kind == OVL_SEND && op->eager;
}

/* When the bytes of eager sends from `from` to `to` were there. */
static void fill_landed_each(const ovl_engine *e, const ovl_recur *r, const window *w,
                             uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        bool lands = !(flags_now(w, i) & LANDED) && (flags_then(w, i) & LANDED);
        if (lands && is_eager_send(e, w->rank, i) && is_here(e, r, w, i)) {
            e->landed[w->first_op + i] = e->landed[w->first_op + i - w->by] + r->shift.period;
        }
    }
}

/* Where a period was told those that follow are like it: 0 where nothing is sent, and not 0 where
 * something is, for a period lies before it. */
static void fill_landed(const ovl_engine *e, const ovl_recur *r, const window *w)
{
    uint32_t end = w->high + w->go, whole = OVL_MIN(w->low + w->go, end);
    uint32_t from = w->all_move ? OVL_MIN(w->high + w->by, end) : end;
    fill_landed_each(e, r, w, w->low, from);
    ovl_time *landed = e->landed + w->first_op;
    for (uint32_t i = from; i < whole; i++) {
        landed[i] = landed[i - w->by] ? landed[i - w->by] + r->shift.period : 0;
    }
    fill_landed_each(e, r, w, OVL_MAX(from, whole), end);
}

static void fill_times(const ovl_engine *e, const ovl_recur *r, const window *w)
{
    if (e->end) {
        fill(e, r, w, e->arrive, NOTED_ARRIVE);
        fill(e, r, w, e->start, NOTED_START);
        fill(e, r, w, e->end, NOTED_END);
        if (w->to_cursor > w->cursor) {
            fill_issues(e, w, r->shift.period);
        }
    }
    if (e->landed) {
        fill_landed(e, r, w);
    }
}

/* --- What operations wait for --- */

/* Those that lie where something was, or goes, are told what it waits for (move_pending). */
static bool stays(const ovl_engine *e, const ovl_recur *r, const window *w, uint32_t local)
{
    const ovl_stride *s = w->stride->alone ? w->stride : ovl_recur_op_stride(e, r, w->rank, local);
    return !s || local >= s->high + (uint32_t)r->shift.times * s->by;
}

static void release_behind(ovl_engine *e, const ovl_recur *r, const window *w, uint32_t local)
{
    if (stays(e, r, w, local)) {
        assert(e->pending[w->first_op + local] > 0);
        e->pending[w->first_op + local]--;
    }
}

static void release(ovl_engine *e, const ovl_recur *r, const window *w, uint32_t i)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[w->rank].code];
    const ovl_ties *ties = ovl_code_ties(code, i);
    uint8_t now = flags_now(w, i), then = flags_then(w, i);
    if (!is_here(e, r, w, i)) {
        return;
    }
    if ((then & HAS_ENDED) && !(now & HAS_ENDED)) {
        ovl_offsets next = ovl_offsets_at(code->offsets, ties->next);
        for (uint32_t k = 0; k < next.n; k++) {
            release_behind(e, r, w, i + next.by[k]);
        }
    }
    if (ties->queue_next && (then & HAS_ARRIVED) && !(now & HAS_ARRIVED)) {
        release_behind(e, r, w, i + ties->queue_next);
    }
}

/* Of some operations in order, how many lie before `local`. */
static uint32_t count_before(const uint32_t *list, uint32_t n, uint32_t local)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list[middle] < local) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* What lies behind the window waits for less: of what lies far before its end only some are waited
 * for there. */
static void release_ahead(ovl_engine *e, const ovl_recur *r, const window *w)
{
    const ovl_course *course = e->courses[e->p->ranks[w->rank].code];
    uint32_t end = w->high + w->go, near = end - OVL_MIN(end - w->low, OVL_COURSE_FAR);
    near = w->stride->alone ? near : w->low; /* others of its rank may lie between */
    for (uint32_t i = count_before(course->far, course->n_far, w->low);
         i < course->n_far && course->far[i] < near; i++) {
        release(e, r, w, course->far[i]);
    }
    for (uint32_t i = near; i < end; i++) {
        release(e, r, w, i);
    }
}

/* The next `n` are those `by` before them. */
static void tell_pending(uint32_t *pending, uint32_t n, uint32_t by)
{
    for (uint32_t done = 0; done < n;) {
        uint32_t m = OVL_MIN(by, n - done);
        memcpy(pending + done, pending + done - by, m * sizeof *pending);
        done += m;
        by = done < n && by < TOLD_AT_ONCE ? 2 * by : by;
    }
}

/* What was in flight, or ahead, is so further on; all between has ended, and its bytes are there.
 */
static void move_pending(ovl_engine *e, const ovl_recur *r, const window *w)
{
    uint32_t *pending = e->pending + w->first_op, n = w->high - w->low, ended = w->low + w->go;
    bool eager = e->courses[e->p->ranks[w->rank].code]->eager_sends > 0;
    uint32_t first = w->all_move ? OVL_MIN(ended, w->low + (eager ? w->by : 1)) : ended;
    if (w->all_move) {
        memmove(pending + ended, pending + w->low, n * sizeof *pending);
    }
    for (uint32_t i = w->all_move ? ended : ended + n; i-- > ended;) {
        pending[i] = is_here(e, r, w, i) ? pending[i - w->go] : pending[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        bool waits = is_here(e, r, w, ended + i) && !(w->flags[i] & HAS_ARRIVED);
        pending[ended + i] += waits ? w->more[i] : 0;
    }
    for (uint32_t i = w->low; i < first; i++) {
        bool landed = eager && is_eager_send(e, w->rank, i);
        if (is_here(e, r, w, i)) {
            pending[i] = OVL_ARRIVED_BIT | (landed ? OVL_OVER : 0);
        }
    }
    tell_pending(pending + first, ended - first, eager ? w->by : 1);
}

/* --- Collectives --- */

/* How many members of a collective have arrived, and how far it goes. */
typedef struct gathering {
    uint32_t instance, go, arrived;
} gathering;
typedef OVL_VEC(gathering) gatherings;

static uint32_t instance_of(const ovl_engine *e, uint32_t rank, uint32_t local)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    return ovl_rank_comm(e->p, rank, ovl_code_op(code, local)->comm)->first_collective +
           code->collectives_before[local];
}

static void find_gatherings(const ovl_engine *e, const ovl_recur *r, const ovl_stride *s,
                            gatherings *list)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[s->rank].code];
    for (uint32_t i = s->low; i < s->high; i++) {
        if (ovl_code_op(code, i)->kind == OVL_COLLECTIVE &&
            ovl_recur_op_stride(e, r, s->rank, i) == s) {
            const ovl_comm *comm = ovl_rank_comm(e->p, s->rank, ovl_code_op(code, i)->comm);
            uint32_t go = (uint32_t)r->shift.times * r->shift.collectives[comm - e->p->comms];
            uint32_t instance = instance_of(e, s->rank, i);
            ovl_vec_push(list, (gathering){instance, go, e->arrived[instance]});
        }
    }
}

/* All that a rank has behind it has ended everywhere. */
static void end_collectives(ovl_engine *e, const ovl_recur *r, const ovl_stride *s)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[s->rank].code];
    uint32_t go = (uint32_t)r->shift.times * s->by;
    for (uint16_t slot = 0; slot < code->n_slots; slot++) {
        const uint32_t *list = code->collectives.item + code->collectives.at[slot];
        uint32_t n = code->collectives.at[slot + 1] - code->collectives.at[slot];
        const ovl_comm *comm = ovl_rank_comm(e->p, s->rank, slot);
        uint32_t end = count_before(list, n, s->low + go);
        for (uint32_t k = count_before(list, n, s->low); k < end; k++) {
            if (s->alone || ovl_recur_op_stride(e, r, s->rank, list[k]) == s) {
                e->arrived[comm->first_collective + k] = comm->n_members;
            }
        }
    }
}

static void move_gatherings(ovl_engine *e, const ovl_recur *r)
{
    gatherings list = {0};
    for (uint32_t i = 0; i < r->shift.strides.len; i++) {
        find_gatherings(e, r, &r->shift.strides.data[i], &list);
    }
    for (uint32_t i = 0; i < list.len; i++) {
        e->arrived[list.data[i].instance] = 0;
    }
    for (uint32_t i = 0; i < r->shift.strides.len; i++) {
        end_collectives(e, r, &r->shift.strides.data[i]);
    }
    for (uint32_t i = 0; i < list.len; i++) {
        const gathering *g = &list.data[i];
        if (g->arrived) {
            e->arrived[g->instance + g->go] = g->arrived;
        }
    }
    ovl_vec_free(&list);
}

/* --- What is told in order --- */

/* By how many operations the lane of one goes on in a period. */
static uint32_t shift_of(const ovl_engine *e, const ovl_recur *r, uint32_t op)
{
    uint32_t rank = ovl_op_rank(e->p, op), first = r->shift.first_stride[rank];
    return r->shift.first_stride[rank + 1] == first + 1
               ? r->shift.strides.data[first].by
               : ovl_recur_op_by(e, r, rank, op - e->p->ranks[rank].first_op);
}

/* The next steps of the trail are those `n` before them, each `further[i]` more. */
static void tell_trail(uint32_t *trail, uint64_t count, uint32_t n, uint32_t *further)
{
    for (uint64_t done = 0; done < count;) {
        uint32_t m = (uint32_t)OVL_MIN(n, count - done);
        uint32_t *to = trail + done;
        const uint32_t *from = to - n;
        for (uint32_t i = 0; i < m; i++) {
            to[i] = from[i] + further[i];
        }
        done += m;
        if (done < count && n < TOLD_AT_ONCE) {
            for (uint32_t i = 0; i < n; i++) {
                further[i] *= 2;
                further[n + i] = further[i];
            }
            n *= 2;
        }
    }
}

static void repeat_trail(ovl_engine *e, ovl_recur *r)
{
    uint32_t from = r->shift.before->n_trail, n = e->n_trail - from;
    ovl_vec_reserve(&r->scratch, n + 2 * TOLD_AT_ONCE);
    for (uint32_t i = 0; i < n && e->trail; i++) {
        r->scratch.data[i] = shift_of(e, r, OVL_TRAIL_OP(e->trail[from + i])) << 2;
    }
    if (e->trail && n) {
        tell_trail(e->trail + e->n_trail, r->shift.times * n, n, r->scratch.data);
        e->n_trail += (uint32_t)r->shift.times * n;
    }
}

static void repeat_limits(ovl_engine *e, ovl_recur *r)
{
    uint32_t n = e->limits.len - r->shift.before->n_limits;
    uint64_t end = e->limits.len + r->shift.times * n;
    ovl_vec_reserve(&r->scratch, n);
    for (uint32_t i = 0; i < n; i++) {
        r->scratch.data[i] = shift_of(e, r, e->limits.data[e->limits.len - n + i].op);
    }
    ovl_vec_reserve(&e->limits, end);
    while (e->limits.len < end) {
        ovl_limit *to = e->limits.data + e->limits.len;
        for (uint32_t i = 0; i < n; i++) {
            to[i] = to[(ptrdiff_t)i - n];
            to[i].op += r->scratch.data[i];
        }
        e->limits.len += n;
    }
}

static void repeat_segments(ovl_engine *e, const ovl_recur *r)
{
    uint32_t n = e->segments.len - r->shift.before->n_segments;
    for (uint64_t k = 0; k < r->shift.times; k++) {
        for (uint32_t i = 0; i < n; i++) {
            ovl_segment again = e->segments.data[e->segments.len - n];
            again.op += shift_of(e, r, again.op);
            again.from += r->shift.period;
            again.to += r->shift.period;
            ovl_vec_push(&e->segments, again);
        }
    }
}

static void repeat_phase_ends(ovl_engine *e, const ovl_recur *r)
{
    uint32_t n = e->phase_ends.len - r->shift.before->n_phase_ends;
    ovl_vec_reserve(&e->phase_ends, e->phase_ends.len + r->shift.times * n);
    for (uint64_t k = 0; k < r->shift.times * n; k++) {
        ovl_phase_end again = e->phase_ends.data[e->phase_ends.len - n];
        again.op += shift_of(e, r, again.op);
        again.time += r->shift.period;
        ovl_vec_push(&e->phase_ends, again);
    }
}

/* --- Sums --- */

static void repeat_times(const ovl_rank_times *before, ovl_rank_times *now, ovl_time k,
                         ovl_time period)
{
    for (uint32_t i = 0; i < OVL_TERM_COUNT; i++) {
        now->term[i] += k * (now->term[i] - before->term[i]);
    }
    now->hidden += k * (now->hidden - before->hidden);
    now->hidden_stretch += k * (now->hidden_stretch - before->hidden_stretch);
    now->end += now->end != before->end ? k * period : 0;
}

void ovl_recur_fill(ovl_engine *e, ovl_recur *r)
{
    const ovl_shift *s = &r->shift;
    find_flags(e, r);
    move_gatherings(e, r);
    uint32_t first_flag = 0;
    for (uint32_t i = 0; i < s->strides.len; i++) {
        window w = open_window(e, r, &s->strides.data[i], first_flag);
        first_flag += w.high - w.low;
        fill_times(e, r, &w);
        release_ahead(e, r, &w);
        move_pending(e, r, &w);
    }
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        repeat_times(&s->before->times[rank], &e->times[rank], (ovl_time)s->times, s->period);
        e->ranks[rank].ended = e->times[rank].end;
    }
    repeat_trail(e, r);
    repeat_limits(e, r);
    repeat_segments(e, r);
    repeat_phase_ends(e, r);
}
