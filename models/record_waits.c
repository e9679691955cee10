/*
 * Who waited for whom: recorded waits where the file has them, else the order of calls that
 * frameworks make.
 *
 *   cudaStreamWaitEvent, then a collective      it waits for what was launched before it on the
 *                                               stream the same thread computes on
 *   cudaStreamWaitEvent, then something else    it waits for the oldest collective nobody waited
 *                                               for, or else for the other stream launched on last
 *
 * The wait that follows the record right after a collective's launch is the library's own. What
 * times contradict is left out.
 */
#include "models/record_parts.h"

#include <stdlib.h>
#include <string.h>

/* Clocks of old profilers tick in microseconds. */
#define TICK OVL_US

typedef struct thread {
    uint64_t id;
    uint32_t stream; /* of its last launch that is no collective */
    uint32_t latest; /* stream of its last launch */
    uint32_t waits;  /* calls to wait since its last launch */
    bool after_comm; /* nothing but records since a collective was launched */
    bool recorded;
} thread;

typedef struct walk {
    ovl_rank_work *w;
    uint32_t *tail; /* [n_streams] act launched last */
    OVL_VEC(thread) threads;
    OVL_VEC(uint32_t) open; /* collectives nobody waited for yet */
    uint32_t first_open;
    OVL_VEC(ovl_act_wait) pending; /* recorded waits: stream that waits, act waited for */
    bool records;                  /* the file has them */
} walk;

static thread *thread_of(walk *k, uint64_t id)
{
    for (uint32_t i = 0; i < k->threads.len; i++) {
        if (k->threads.data[i].id == id) {
            return &k->threads.data[i];
        }
    }
    ovl_vec_push(&k->threads, (thread){.id = id, .stream = OVL_NONE, .latest = OVL_NONE});
    return &k->threads.data[k->threads.len - 1];
}

static ovl_act *act_at(const walk *k, uint32_t i)
{
    return &k->w->acts.data[i];
}

/* Adds a wait unless times contradict it: then it is counted, and false. */
static bool add_wait(ovl_rank_work *w, uint32_t act, uint32_t on, ovl_evidence evidence)
{
    ovl_act *a = &w->acts.data[act], *b = &w->acts.data[on];
    if (a->op->stream == b->op->stream) {
        return true; /* its stream has it wait */
    }
    if (b->end > a->start + TICK) {
        w->contradicted++;
        return false;
    }
    w->evidence[evidence]++;
    a->waits = OVL_MAX(a->waits, OVL_MIN(b->end, a->start));
    ovl_vec_push(&w->waits, (ovl_act_wait){act, on});
    return true;
}

/* --- Walking over the calls --- */

/* What a stream was told to wait for holds for what comes next on it. */
static void take_pending(walk *k, uint32_t act)
{
    uint32_t stream = act_at(k, act)->op->stream, kept = 0;
    for (uint32_t i = 0; i < k->pending.len; i++) {
        ovl_act_wait p = k->pending.data[i];
        if (p.act == stream) {
            add_wait(k->w, act, p.on, OVL_BY_RECORD);
        } else {
            k->pending.data[kept++] = p;
        }
    }
    k->pending.len = kept;
}

static void infer_collective(walk *k, thread *t, uint32_t act)
{
    uint32_t before = t->stream == OVL_NONE ? OVL_NONE : k->tail[t->stream];
    if (before != OVL_NONE) {
        add_wait(k->w, act, before, OVL_BY_ORDER);
    }
}

/* The other stream whose last launch is the latest. */
static uint32_t other_tail(const walk *k, uint32_t stream)
{
    uint32_t best = OVL_NONE;
    for (uint32_t s = 0; s < k->w->seen->n_streams; s++) {
        uint32_t tail = k->tail[s];
        if (s != stream && tail != OVL_NONE && !act_at(k, tail)->comm &&
            (best == OVL_NONE || act_at(k, tail)->launch > act_at(k, best)->launch)) {
            best = tail;
        }
    }
    return best;
}

static void infer_consumer(walk *k, const thread *t, uint32_t act)
{
    uint32_t taken = 0;
    while (taken < t->waits && k->first_open < k->open.len) {
        uint32_t comm = k->open.data[k->first_open];
        if (act_at(k, comm)->end > act_at(k, act)->start + TICK) {
            break; /* it is not what is waited for: it ends later */
        }
        add_wait(k->w, act, comm, OVL_BY_ORDER);
        k->first_open++;
        taken++;
    }
    uint32_t other = taken ? OVL_NONE : other_tail(k, act_at(k, act)->op->stream);
    if (other != OVL_NONE) {
        add_wait(k->w, act, other, OVL_BY_ORDER);
    }
}

static void infer(walk *k, thread *t, uint32_t act)
{
    if (act_at(k, act)->comm) {
        infer_collective(k, t, act);
    } else if (t->waits) {
        infer_consumer(k, t, act);
    }
}

static void launch(walk *k, const ovl_act_call *c)
{
    thread *t = thread_of(k, c->call->thread);
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t act = k->w->launched.data[c->first + i], stream = act_at(k, act)->op->stream;
        bool comm = act_at(k, act)->comm;
        take_pending(k, act);
        if (!k->records) {
            infer(k, t, act);
        }
        if (comm) {
            ovl_vec_push(&k->open, act);
        } else {
            t->stream = stream;
        }
        t->after_comm = comm;
        t->recorded = false;
        t->waits = 0;
        t->latest = stream;
        k->tail[stream] = act;
    }
}

/* The last act launched on a stream before a moment of the host. */
static uint32_t launched_before(const walk *k, uint32_t stream, ovl_time time)
{
    uint32_t act = k->tail[stream];
    while (act != OVL_NONE && act_at(k, act)->launch != OVL_NEVER &&
           act_at(k, act)->launch >= time) {
        act = act_at(k, act)->prev;
    }
    return act;
}

static void wait(walk *k, const ovl_act_call *c)
{
    const ovl_seen *seen = k->w->seen;
    thread *t = thread_of(k, c->call->thread);
    const ovl_seen_wait *r = c->call->wait == OVL_NONE ? NULL : &seen->waits[c->call->wait];
    if (r && r->stream != OVL_NONE && r->on != OVL_NONE) {
        int64_t recorded = r->record == OVL_NONE ? c->call->start : seen->calls[r->record].start;
        ovl_time at = OVL_MAX(ovl_record_since(k->w, recorded), 0);
        uint32_t on = launched_before(k, r->on, at);
        if (on != OVL_NONE) {
            ovl_vec_push(&k->pending, (ovl_act_wait){r->stream, on});
        }
    }
    if (t->after_comm && t->recorded) {
        t->after_comm = false;
    } else {
        t->waits++;
    }
}

/* --- The host waits --- */

static void sync_on(walk *k, ovl_act_sync *s, uint32_t act)
{
    ovl_vec_push(&k->w->sync_on, act);
    s->n++;
}

/* What was launched before and ended during the call, last of all; OVL_NONE: nothing did. */
static uint32_t ended_during(const walk *k, const ovl_act_sync *s)
{
    uint32_t best = OVL_NONE;
    for (uint32_t stream = 0; stream < k->w->seen->n_streams; stream++) {
        for (uint32_t a = launched_before(k, stream, s->start); a != OVL_NONE;
             a = act_at(k, a)->prev) {
            const ovl_act *act = act_at(k, a);
            if (act->end <= s->start) {
                break;
            }
            if (act->end <= s->end + TICK &&
                (best == OVL_NONE || act->end > act_at(k, best)->end)) {
                best = a;
            }
        }
    }
    return best;
}

/* The host would have gone on later: then it was not this that it waited for. */
static bool fits(const walk *k, const ovl_act_sync *s, uint32_t act)
{
    return act != OVL_NONE && act_at(k, act)->end <= s->end + TICK;
}

static void sync_by_time(walk *k, ovl_act_sync *s)
{
    uint32_t act = ended_during(k, s);
    if (act != OVL_NONE) {
        sync_on(k, s, act);
        k->w->sync_evidence[OVL_BY_TIME]++;
    }
}

static void sync_stream(walk *k, ovl_act_sync *s, uint32_t stream, ovl_time before,
                        ovl_evidence evidence)
{
    uint32_t act = stream == OVL_NONE ? OVL_NONE : launched_before(k, stream, before);
    if (fits(k, s, act)) {
        sync_on(k, s, act);
        k->w->sync_evidence[evidence]++;
    } else if (act != OVL_NONE || stream == OVL_NONE) {
        sync_by_time(k, s);
    }
}

static void sync_device(walk *k, ovl_act_sync *s)
{
    for (uint32_t stream = 0; stream < k->w->seen->n_streams; stream++) {
        uint32_t act = launched_before(k, stream, s->start);
        if (fits(k, s, act)) {
            sync_on(k, s, act);
        }
    }
    k->w->sync_evidence[OVL_BY_RECORD]++;
}

static void sync_call(walk *k, const ovl_act_call *c)
{
    const ovl_seen *seen = k->w->seen;
    const ovl_seen_wait *r = c->call->wait == OVL_NONE ? NULL : &seen->waits[c->call->wait];
    ovl_act_sync s = {c->start, c->end, k->w->sync_on.len, 0};
    const thread *t = thread_of(k, c->call->thread);
    if (c->call->kind == OVL_CALL_SYNC_DEVICE) {
        sync_device(k, &s);
    } else if (c->call->kind == OVL_CALL_MAY_SYNC) {
        sync_by_time(k, &s);
    } else if (r && c->call->kind == OVL_CALL_SYNC_STREAM && r->stream != OVL_NONE) {
        sync_stream(k, &s, r->stream, s.start, OVL_BY_RECORD);
    } else if (r && c->call->kind == OVL_CALL_SYNC_EVENT && r->on != OVL_NONE) {
        int64_t at = r->record == OVL_NONE ? c->call->start : seen->calls[r->record].start;
        sync_stream(k, &s, r->on, OVL_MAX(ovl_record_since(k->w, at), 0), OVL_BY_RECORD);
    } else if (c->call->kind == OVL_CALL_SYNC_STREAM) {
        sync_stream(k, &s, t->latest, s.start, OVL_BY_ORDER);
    } else {
        sync_by_time(k, &s);
    }
    if (s.n || c->call->kind != OVL_CALL_MAY_SYNC) {
        ovl_vec_push(&k->w->syncs, s);
    }
}

/* A copy that ended before its call did, which took its time, was waited for: copies to and from
 * pageable memory, and those without Async in their name. */
static void blocking_copy(walk *k, const ovl_act_call *c)
{
    const ovl_act *act = c->n == 1 ? act_at(k, k->w->launched.data[c->first]) : NULL;
    if (act && act->op->kind == OVL_SEEN_COPY && act->end <= c->end + TICK &&
        c->end - act->end < 50 * OVL_US) {
        ovl_act_sync s = {c->start, c->end, k->w->sync_on.len, 0};
        sync_on(k, &s, k->w->launched.data[c->first]);
        k->w->sync_evidence[OVL_BY_TIME]++;
        ovl_vec_push(&k->w->syncs, s);
    }
}

static void step(walk *k, const ovl_act_call *c)
{
    switch ((ovl_call)c->call->kind) {
    case OVL_CALL_LAUNCH:
        launch(k, c);
        blocking_copy(k, c);
        break;
    case OVL_CALL_RECORD:
        thread_of(k, c->call->thread)->recorded = true;
        break;
    case OVL_CALL_WAIT:
        wait(k, c);
        break;
    case OVL_CALL_SYNC_STREAM:
    case OVL_CALL_SYNC_EVENT:
    case OVL_CALL_SYNC_DEVICE:
    case OVL_CALL_MAY_SYNC:
        sync_call(k, c);
        break;
    }
}

/* Whether any wait of a stream is recorded; syncs alone do not tell. */
static bool has_records(const ovl_rank_work *w)
{
    for (uint32_t i = 0; i < w->seen->n_waits; i++) {
        if (w->seen->waits[i].stream != OVL_NONE && w->seen->waits[i].on != OVL_NONE) {
            return true;
        }
    }
    return false;
}

/* Before the first call of the step: what was launched before it. */
static void begin_tails(walk *k)
{
    memset(k->tail, 0xff, k->w->seen->n_streams * sizeof *k->tail); /* OVL_NONE */
    for (uint32_t i = 0; i < k->w->acts.len; i++) {
        if (act_at(k, i)->launch == OVL_NEVER) {
            k->tail[act_at(k, i)->op->stream] = i;
        }
    }
}

/* --- What a launch and a gap take --- */

static int by_value(const void *a, const void *b)
{
    const ovl_time *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

typedef OVL_VEC(ovl_time) times;

/* Of an even count the lower one: whatever else held a start makes what is seen of it longer, never
 * shorter. */
static ovl_time lower_median(times *list)
{
    if (list->len == 0) {
        return 0;
    }
    qsort(list->data, list->len, sizeof *list->data, by_value);
    return list->data[(list->len - 1) / 2];
}

/* Most operations begin soon after the call that launched them was begun; where the call takes long
 * (it loads a module, or waits for room), soon after its end. */
static void set_issue(ovl_rank_work *w, ovl_act *a, ovl_time after_end)
{
    if (a->launch == OVL_NEVER) {
        return;
    }
    ovl_time end = w->calls.data[a->call].end;
    ovl_time after_begin = a->launch + w->latency, late = a->start + OVL_RECORD_SLACK;
    a->issue = OVL_MAX(after_begin, end + after_end);
    if (a->issue > late) { /* the call goes on a little after it has launched */
        a->issue = OVL_MAX(after_begin, end + after_end - 4 * OVL_RECORD_SLACK);
    }
    if (a->issue > late) {
        a->issue = after_begin;
        w->within += end > late;
    }
}

#define LONG_CALL (100 * OVL_US)

static void find_latency(ovl_rank_work *w)
{
    times begins = {0}, ends = {0};
    for (uint32_t i = 0; i < w->acts.len; i++) {
        const ovl_act *a = &w->acts.data[i];
        bool idle = a->prev == OVL_NONE || w->acts.data[a->prev].end <= a->launch;
        if (a->launch == OVL_NEVER || !idle || a->waits >= a->launch || a->comm ||
            a->start < a->launch) {
            continue;
        }
        ovl_time end = w->calls.data[a->call].end;
        ovl_vec_push(&ends, a->start - end);
        if (end - a->launch <= LONG_CALL) {
            ovl_vec_push(&begins, a->start - a->launch);
        }
    }
    w->latency = lower_median(&begins);
    ovl_time after_end = lower_median(&ends);
    for (uint32_t i = 0; i < w->acts.len; i++) {
        set_issue(w, &w->acts.data[i], after_end);
    }
    ovl_vec_free(&begins);
    ovl_vec_free(&ends);
}

static void find_gap(ovl_rank_work *w)
{
    ovl_time sum = 0, n = 0;
    for (uint32_t i = 0; i < w->acts.len; i++) {
        const ovl_act *a = &w->acts.data[i];
        ovl_time before = a->prev == OVL_NONE ? 0 : w->acts.data[a->prev].end;
        bool early = a->launch != OVL_NEVER && a->issue + OVL_RECORD_SLACK <= before;
        ovl_time gap = a->start - before;
        if (a->prev != OVL_NONE && early && a->waits <= before && gap >= 0 &&
            gap <= OVL_RECORD_SLACK) {
            sum += gap;
            n++;
        }
    }
    w->gap = n ? sum / n : 0;
}

/* What the device itself needs between two operations: the median of the short gaps before those
 * whose launch nobody saw, or the mean where that is less, so that all together it adds nothing. */
static void find_device_gap(ovl_rank_work *w)
{
    times gaps = {0};
    ovl_time sum = 0;
    for (uint32_t i = 0; i < w->acts.len; i++) {
        const ovl_act *a = &w->acts.data[i];
        ovl_time before = a->prev == OVL_NONE ? 0 : w->acts.data[a->prev].end;
        ovl_time gap = a->start - before;
        if (a->prev != OVL_NONE && a->launch == OVL_NEVER && a->waits <= before && gap >= 0 &&
            gap <= OVL_RECORD_SLACK) {
            sum += gap;
            ovl_vec_push(&gaps, gap);
        }
    }
    w->n_device_gaps = gaps.len;
    w->device_gap = lower_median(&gaps);
    if (gaps.len && sum / gaps.len < w->device_gap) {
        w->device_gap = sum / gaps.len;
        w->device_gap_mean = true;
    }
    ovl_vec_free(&gaps);
}

ovl_time ovl_record_gap(const ovl_rank_work *w, const ovl_act *act)
{
    return act->launch == OVL_NEVER ? w->device_gap : w->gap;
}

void ovl_record_waits(ovl_rank_work *w)
{
    walk k = {.w = w, .records = has_records(w)};
    k.tail = OVL_NEW_ARRAY(w->scratch, uint32_t, w->seen->n_streams);
    begin_tails(&k);
    for (uint32_t i = 0; i < w->calls.len; i++) {
        step(&k, &w->calls.data[i]);
    }
    ovl_vec_free(&k.threads);
    ovl_vec_free(&k.open);
    ovl_vec_free(&k.pending);
    find_latency(w);
    find_gap(w);
    find_device_gap(w);
}
