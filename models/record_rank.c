/*
 * The list of operations of a rank, in host program order: what the host did, launches, pauses.
 *
 * An operation is issued when it could have begun, so a launch sets the host's clock ahead by its
 * latency; a sync that waits for the device gives that time back. A launch at 10 with a latency of
 * 10, a kernel from 20 to 120 and a sync from 20 to 125: the host is at 20, then waits until 120,
 * and the sync takes 5 of its own.
 */
#include "models/record_parts.h"

#include "sim/spans.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define LONG_SYNC (50 * OVL_US) /* a call that waits for nothing takes less */

/* An operation or a sync, by its place. */
typedef struct item {
    ovl_time key;
    uint32_t index;
    bool sync;
} item;

/* What is made of a recorded name; OVL_NONE: not yet. */
typedef struct called {
    ovl_id full, shown;
} called;

typedef struct order {
    ovl_rank_work *w;
    called *called;            /* [recorded names]: thousands of operations have one */
    ovl_id *streams;           /* [streams] "stream 7" */
    OVL_VEC(ovl_id) pauses[2]; /* by the name of the operation behind, those explained first */
    ovl_spans unexplained;
    OVL_VEC(item) items;
    uint32_t *first_wait; /* [acts + 1] into `waits`, which are by act */
    const ovl_act_wait *waits;
    ovl_time clock;  /* of the host, set ahead */
    ovl_time *pause; /* [acts] that nothing explains */
    ovl_time *drift; /* [streams] by how much operations without a launch are late so far */
} order;

/* --- What nothing explains --- */

static ovl_time ready(const ovl_rank_work *w, const ovl_act *a)
{
    ovl_time at = 0;
    if (a->prev != OVL_NONE) {
        at = w->acts.data[a->prev].end + ovl_record_gap(w, a);
    }
    at = OVL_MAX(at, a->issue);
    return a->waits >= 0 ? OVL_MAX(at, a->waits + ovl_record_gap(w, a)) : at;
}

/* How late an operation begins. Without launches nothing but its stream holds it, so what each is
 * late (or early) by adds up to the next of its stream. */
static ovl_time lateness(order *o, const ovl_act *a, ovl_time at)
{
    bool overlaps = a->prev != OVL_NONE && a->start < o->w->acts.data[a->prev].end;
    ovl_time late = overlaps ? 0 : a->start - at, *drift = &o->drift[a->op->stream];
    if (a->launch != OVL_NEVER) {
        *drift = 0;
        return late;
    }
    bool held = a->prev == OVL_NONE || a->waits > o->w->acts.data[a->prev].end;
    *drift = held ? late : *drift + late;
    return *drift;
}

typedef struct ending {
    ovl_time end;
    uint32_t act;
} ending;

typedef OVL_VEC(ending) endings;

static int by_end(const void *a, const void *b)
{
    const ending *x = a, *y = b;
    if (x->end != y->end) {
        return x->end < y->end ? -1 : 1;
    }
    return (x->act > y->act) - (x->act < y->act);
}

/* An operation on another stream whose end fits: the latest not after `start`. */
static uint32_t fitting(const ovl_rank_work *w, const endings *list, uint32_t act)
{
    const ovl_act *a = &w->acts.data[act];
    uint32_t low = 0, high = list->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->data[middle].end <= a->start) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    while (low > 0 && list->data[low - 1].end + OVL_RECORD_SLACK >= a->start) {
        uint32_t other = list->data[--low].act;
        if (w->acts.data[other].op->stream != a->op->stream && other < act) {
            return other;
        }
    }
    return OVL_NONE;
}

static void find_pauses(order *o)
{
    ovl_rank_work *w = o->w;
    endings list = {0};
    for (uint32_t i = 0; i < w->acts.len; i++) {
        ovl_vec_push(&list, (ending){w->acts.data[i].end, i});
    }
    if (list.len) {
        qsort(list.data, list.len, sizeof *list.data, by_end);
    }
    for (uint32_t i = 0; i < w->acts.len; i++) {
        ovl_act *a = &w->acts.data[i];
        ovl_time at = ready(w, a), late = lateness(o, a, at);
        if (late <= OVL_RECORD_SLACK) {
            continue;
        }
        o->drift[a->op->stream] = 0;
        bool itself = a->start - at > OVL_RECORD_SLACK;
        uint32_t on = itself ? fitting(w, &list, i) : OVL_NONE;
        if (on != OVL_NONE) {
            ovl_vec_push(&w->waits, (ovl_act_wait){i, on});
            w->evidence[OVL_BY_TIME]++;
            a->waits = w->acts.data[on].end;
        } else {
            o->pause[i] = late;
            ovl_spans_add(&o->unexplained, a->start - late, a->start);
        }
    }
    ovl_vec_free(&list);
}

/* --- Places --- */

static int by_place(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    if (x->sync != y->sync) {
        return x->sync ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

/* Operations are issued when they were launched, but never before the one before them on their
 * stream; a sync is done at its end, so that other threads launch meanwhile. */
static void place(order *o)
{
    ovl_rank_work *w = o->w;
    for (uint32_t i = 0; i < w->acts.len; i++) {
        ovl_act *a = &w->acts.data[i];
        a->key = a->launch == OVL_NEVER ? 0 : a->launch;
        if (a->prev != OVL_NONE) {
            a->key = OVL_MAX(a->key, w->acts.data[a->prev].key);
        }
        ovl_vec_push(&o->items, (item){a->key, i, false});
    }
    for (uint32_t i = 0; i < w->syncs.len; i++) {
        ovl_vec_push(&o->items, (item){w->syncs.data[i].end, i, true});
    }
    if (o->items.len) {
        qsort(o->items.data, o->items.len, sizeof *o->items.data, by_place);
    }
}

static int by_act(const void *a, const void *b)
{
    const ovl_act_wait *x = a, *y = b;
    if (x->act != y->act) {
        return x->act < y->act ? -1 : 1;
    }
    return (x->on > y->on) - (x->on < y->on);
}

static void index_waits(order *o)
{
    ovl_rank_work *w = o->w;
    if (w->waits.len) {
        qsort(w->waits.data, w->waits.len, sizeof *w->waits.data, by_act);
    }
    o->waits = w->waits.data;
    o->first_wait = OVL_NEW_ARRAY(w->scratch, uint32_t, w->acts.len + 1);
    for (uint32_t i = 0; i < w->waits.len; i++) {
        o->first_wait[w->waits.data[i].act + 1]++;
    }
    for (uint32_t i = 0; i < w->acts.len; i++) {
        o->first_wait[i + 1] += o->first_wait[i];
    }
}

/* --- Names --- */

/* "void at::native::fill<4, ...>(int, ...)" is at::native::fill, and "Memcpy DtoH (Device ->
 * Pinned)" is Memcpy DtoH. */
static const char *short_name(const char *full, ovl_arena *arena)
{
    static const char inner[] = "(anonymous namespace)::";
    const char *from = strncmp(full, "void ", 5) == 0 ? full + 5 : full, *to = from;
    while (*to && *to != '<' && (*to != '(' || to == from)) {
        to += strncmp(to, inner, sizeof inner - 1) == 0 ? sizeof inner - 1 : 1;
        if (strncmp(to, inner, sizeof inner - 1) == 0) {
            to += sizeof inner - 1;
        }
    }
    while (to > from && to[-1] == ' ') {
        to--;
    }
    size_t n = (size_t)(to - from);
    return n < 2 || *full == '<' ? full : ovl_arena_strndup(arena, from, OVL_MIN(n, 100));
}

/* What a recorded name becomes. */
static const called *call_it(order *o, ovl_id recorded)
{
    ovl_names *names = o->w->names;
    called *c = &o->called[recorded];
    if (c->full == OVL_NONE) {
        const char *full = ovl_names_text(&o->w->seen->names, recorded);
        const char *shown = short_name(full, o->w->scratch);
        c->full = ovl_names_add(names, full);
        c->shown = ovl_names_add(names, shown);
    }
    return c;
}

/* The name of a pause before an operation: "(gap) gemm". */
static ovl_id pause_name(order *o, ovl_id before, bool unexplained)
{
    while (o->pauses[unexplained].len <= before) {
        ovl_vec_push(&o->pauses[unexplained], OVL_NONE);
    }
    ovl_id *id = &o->pauses[unexplained].data[before];
    if (*id == OVL_NONE) {
        ovl_names *names = o->w->names;
        *id = ovl_names_add(names, ovl_arena_printf(o->w->scratch, "(%s) %s",
                                                    unexplained ? "unexplained" : "gap",
                                                    ovl_names_text(names, before)));
    }
    return *id;
}

static ovl_id stream_name(order *o, uint32_t stream)
{
    if (o->streams[stream] == OVL_NONE) {
        uint64_t id = o->w->seen->streams[stream].id;
        o->streams[stream] =
            ovl_names_add(o->w->names, ovl_arena_printf(o->w->scratch, "stream %" PRIu64, id));
    }
    return o->streams[stream];
}

/* --- The list --- */

static uint32_t add(order *o, const ovl_rec_op *op)
{
    ovl_rank_work *w = o->w;
    ovl_vec_push(&w->ops, *op);
    w->ops.data[w->ops.len - 1].first_after = w->after.len;
    return w->ops.len - 1;
}

static void add_after(order *o, uint32_t on)
{
    ovl_rank_work *w = o->w;
    ovl_vec_push(&w->after, on);
    w->ops.data[w->ops.len - 1].n_after++;
}

static ovl_rec_op made(ovl_op_kind kind, ovl_id name)
{
    return (ovl_rec_op){.kind = (uint8_t)kind,
                        .klass = OVL_NONE,
                        .name = name,
                        .full = name,
                        .stream = OVL_NONE,
                        .group = OVL_NONE,
                        .batch = OVL_NONE,
                        .start = OVL_NEVER,
                        .end = OVL_NEVER};
}

static void add_host(order *o, const char *name, ovl_time length)
{
    ovl_rec_op op = made(OVL_HOST, ovl_names_add(o->w->names, name));
    op.length = length;
    add(o, &op);
}

static void add_act_waits(order *o, uint32_t act)
{
    ovl_rank_work *w = o->w;
    for (uint32_t i = o->first_wait[act]; i < o->first_wait[act + 1]; i++) {
        uint32_t place = w->acts.data[o->waits[i].on].place;
        if (place != OVL_NONE) {
            add_after(o, place);
        } else {
            w->contradicted++; /* issued later than what waits for it */
        }
    }
}

/* The host time that passes until this is issued. */
static ovl_time launch_of(order *o, const ovl_act *a)
{
    if (a->launch == OVL_NEVER) {
        return 0;
    }
    ovl_time launch = OVL_MAX(a->issue - o->clock, 0);
    o->clock = OVL_MAX(o->clock, a->issue);
    return launch;
}

static ovl_coll coll_of(const char *op)
{
    for (int c = 0; c < OVL_COLL_COUNT; c++) {
        if (strcmp(op, ovl_coll_name((ovl_coll)c)) == 0) {
            return (ovl_coll)c;
        }
    }
    return OVL_SEND_RECV;
}

static ovl_dtype dtype_of(const char *dtype)
{
    static const struct {
        const char *name;
        ovl_dtype is;
    } table[] = {{"BFloat16", OVL_BF16}, {"Half", OVL_F16},  {"Double", OVL_F64},
                 {"Long", OVL_I64},      {"Int", OVL_I32},   {"Char", OVL_I8},
                 {"Byte", OVL_I8},       {"Float8", OVL_FP8}};
    for (size_t i = 0; i < OVL_COUNT(table); i++) {
        if (strncmp(dtype, table[i].name, strlen(table[i].name)) == 0) {
            return table[i].is;
        }
    }
    return OVL_F32;
}

/* The group is that of the arguments, or the stream stands for it. */
static void set_collective(order *o, const ovl_act *a, ovl_rec_op *op)
{
    const ovl_seen *seen = o->w->seen;
    const ovl_seen_collective *c =
        a->op->collective == OVL_NONE ? NULL : &seen->collectives[a->op->collective];
    ovl_id name = c ? c->op : seen->op_of[a->op->name];
    const char *text = name == OVL_NONE ? "other" : ovl_names_text(&seen->names, name);
    op->kind = OVL_COLLECTIVE;
    op->coll = (uint8_t)coll_of(text);
    op->name = ovl_names_add(o->w->names, text);
    op->bytes = c && c->bytes > 0 ? (uint64_t)c->bytes : 0;
    if (c && c->dtype != OVL_NONE) {
        op->dtype = (uint8_t)dtype_of(ovl_names_text(&seen->names, c->dtype));
    }
    op->group = c && c->group != OVL_NONE
                    ? ovl_names_add(o->w->names, ovl_names_text(&seen->names, c->group))
                    : op->stream;
}

static ovl_rec_op operation(order *o, const ovl_act *a)
{
    const called *name = call_it(o, a->op->name);
    const char *full = ovl_names_text(o->w->names, name->full);
    ovl_rec_op op = made(a->op->kind == OVL_SEEN_KERNEL ? OVL_KERNEL : OVL_COPY, name->shown);
    ovl_time begun = a->prev == OVL_NONE ? 0 : o->w->acts.data[a->prev].end;
    op.full = name->full;
    op.stream = stream_name(o, a->op->stream);
    op.start = a->start;
    op.end = a->end;
    op.length = OVL_MAX(a->end - OVL_MAX(a->start, begun), 0);
    op.bytes = a->op->bytes > 0 ? (uint64_t)a->op->bytes : 0;
    op.engine = strstr(full, "HtoD") || strstr(full, "HToD") ? 1 : 0;
    if (a->comm) {
        set_collective(o, a, &op);
    }
    return op;
}

/* Before an operation of its stream. */
static void add_pause(order *o, const ovl_rec_op *before, ovl_time length, bool unexplained)
{
    ovl_rec_op op = made(OVL_MARKER, pause_name(o, before->name, unexplained));
    op.stream = before->stream;
    op.length = length;
    op.unexplained = unexplained;
    add(o, &op);
}

/* [gap] [pause] operation. The first of them waits for what the operation waits for; the first but
 * the gap is launched: a gap passes while the host does something else. */
static void add_act(order *o, uint32_t index)
{
    ovl_rank_work *w = o->w;
    ovl_act *a = &w->acts.data[index];
    ovl_rec_op op = operation(o, a);
    ovl_time launch = launch_of(o, a), pause = w->drop ? 0 : o->pause[index];
    bool overlaps = a->prev != OVL_NONE && a->start < w->acts.data[a->prev].end;
    ovl_time length = ovl_record_gap(w, a);
    bool gap = length > 0 && !overlaps && (a->prev != OVL_NONE || a->waits >= 0);
    w->overlaps += overlaps;
    if (gap) {
        add_pause(o, &op, length, false);
        add_act_waits(o, index);
    }
    if (pause) {
        add_pause(o, &op, pause, true);
        w->ops.data[w->ops.len - 1].launch = launch;
        launch = 0;
    }
    if (pause && !gap) {
        add_act_waits(o, index);
    }
    op.launch = launch;
    a->place = add(o, &op);
    if (!pause && !gap) {
        add_act_waits(o, index);
    }
    w->end = OVL_MAX(w->end, a->end);
}

/* The host waited if what it waits for ended during the call; then the rest is the call's own. A
 * call that waited for nothing passes while the clock is ahead, as far as it is. */
static void add_sync(order *o, const ovl_act_sync *s)
{
    ovl_rank_work *w = o->w;
    ovl_time until = s->start, at = OVL_MAX(s->start, o->clock);
    for (uint32_t i = 0; i < s->n; i++) {
        until = OVL_MAX(until, w->acts.data[w->sync_on.data[s->first + i]].end);
    }
    bool waited = until > s->start;
    ovl_time own = OVL_MAX(s->end - (waited ? until : at), 0);
    if (s->end - until > LONG_SYNC) {
        ovl_spans_add(&o->unexplained, until, s->end);
    }
    if (s->start > o->clock) {
        add_host(o, "(host)", s->start - o->clock);
    }
    add_host(o, "(sync)", own);
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t place = w->acts.data[w->sync_on.data[s->first + i]].place;
        if (place != OVL_NONE) {
            add_after(o, place);
        }
    }
    o->clock = OVL_MAX(at, until) + own;
    w->end = OVL_MAX(w->end, s->end);
}

/* The step of a range is over when the host leaves it. */
static void add_rest(order *o)
{
    ovl_rank_work *w = o->w;
    ovl_time until = ovl_record_since(w, w->to);
    if (w->marked && until > o->clock) {
        add_host(o, "(host)", until - o->clock);
    }
    if (w->marked) {
        w->end = OVL_MAX(w->end, until);
    }
}

void ovl_record_order(ovl_rank_work *w)
{
    order o = {.w = w,
               .called = OVL_NEW_ARRAY(w->scratch, called, w->seen->names.count),
               .streams = OVL_NEW_ARRAY(w->scratch, ovl_id, w->seen->n_streams),
               .pause = OVL_NEW_ARRAY(w->scratch, ovl_time, w->acts.len),
               .drift = OVL_NEW_ARRAY(w->scratch, ovl_time, w->seen->n_streams)};
    memset(o.called, 0xff, w->seen->names.count * sizeof *o.called); /* OVL_NONE */
    memset(o.streams, 0xff, w->seen->n_streams * sizeof *o.streams);
    find_pauses(&o);
    index_waits(&o);
    place(&o);
    for (uint32_t i = 0; i < w->acts.len; i++) {
        w->acts.data[i].place = OVL_NONE;
    }
    add_host(&o, "(begin)", 0);
    for (uint32_t i = 0; i < o.items.len; i++) {
        if (o.items.data[i].sync) {
            add_sync(&o, &w->syncs.data[o.items.data[i].index]);
        } else {
            add_act(&o, o.items.data[i].index);
        }
    }
    add_rest(&o);
    w->unexplained = ovl_spans_measure(&o.unexplained);
    ovl_spans_free(&o.unexplained);
    ovl_vec_free(&o.items);
    ovl_vec_free(&o.pauses[0]);
    ovl_vec_free(&o.pauses[1]);
}
