#include "sim/waits.h"

#include "sim/exposure.h"

/* A way back from one operation to the one its data came from, latest piece first. */
typedef struct piece {
    ovl_time from; /* to where the piece before it begins */
    ovl_wait kind;
    uint32_t by;
} piece;

#define MOST_PIECES                                                                                \
    12                /* a transfer, two for the queue of each of its sides, and pauses before it */
#define MOST_PAUSES 8 /* pieces beyond which a pause counts as what is before it */

typedef struct step {
    ovl_time end; /* where the first piece ends */
    piece piece[MOST_PIECES];
    uint32_t n;
    uint32_t before; /* the operation; OVL_NONE: the way ends here */
} step;

/* The end of an operation in the tree. */
typedef struct ovl_wait_slot {
    ovl_time time;
    ovl_time sum[OVL_WAIT_COUNT]; /* from the root */
    uint32_t by[OVL_WAIT_COUNT];
    uint32_t op;
    uint32_t parent, jump, depth; /* slots; OVL_NONE at the root */
} ovl_wait_slot;

/* --- Pieces --- */

/* Empty pieces are left out; nothing goes forward in time. */
static void add(step *s, ovl_time from, ovl_wait kind, uint32_t by)
{
    ovl_time to = s->n ? s->piece[s->n - 1].from : s->end;
    if (from < to) {
        assert(s->n < MOST_PIECES);
        s->piece[s->n++] = (piece){from, kind, by};
    }
}

static const ovl_code *code_of(const ovl_waits *w, uint32_t op)
{
    return &w->causes->program->codes[w->causes->program->ranks[w->causes->rank_of[op]].code];
}

static bool moves_data(const ovl_op *op)
{
    return ovl_is_communication(op) || op->kind == OVL_COPY;
}

/* A part of a batch is held up by what holds up the batch. */
static uint32_t launched_op(const ovl_waits *w, uint32_t op)
{
    return op - ovl_causes_op(w->causes, op)->behind;
}

/* The host call before an operation, if it ended after `since`; else OVL_NONE. */
static uint32_t call_before(const ovl_waits *w, uint32_t op, ovl_time since)
{
    uint32_t rank = w->causes->rank_of[op], local = ovl_causes_local(w->causes, op);
    uint32_t call = w->calls[w->causes->program->ranks[rank].code][local];
    if (call == OVL_NONE || w->causes->timeline->end[op - local + call] <= since) {
        return OVL_NONE;
    }
    return op - local + call;
}

/* The host worked until now; before that, what it was waiting for in a call kept it from issuing
 * the transfer, which is a matter of where the call stands. */
static void add_host_queue(const ovl_waits *w, uint32_t op, ovl_time since, step *s)
{
    uint32_t at = launched_op(w, op), call = call_before(w, at, since);
    if (call == OVL_NONE) {
        add(s, since, OVL_WAIT_HOST, at);
        return;
    }
    bool waited = w->causes->timeline->arrive[call] > w->causes->timeline->issue[call];
    ovl_time worked = waited ? OVL_MAX(since, w->causes->timeline->arrive[call]) : since;
    add(s, worked, OVL_WAIT_HOST, call);
    add(s, since, OVL_WAIT_SCHEDULE, op);
}

/* Why a transfer stood still from `since`, when its input was there, until it arrived. */
static void add_queue(ovl_waits *w, uint32_t op, ovl_time since, step *s)
{
    uint32_t at = launched_op(w, op), before = OVL_NONE;
    ovl_cause cause = {.why = OVL_WHY_QUEUE};
    const ovl_op *o = NULL;
    do { /* a marker only joins what others did, or pauses */
        at = o ? before : at;
        if (!ovl_causes_binding(w->causes, OVL_TRAIL(at, OVL_ARRIVED), &cause)) {
            cause.why = OVL_WHY_QUEUE;
            break;
        }
        before = OVL_TRAIL_OP(cause.node);
        o = ovl_causes_op(w->causes, before);
        if (cause.why != OVL_WHY_QUEUE && o->kind == OVL_MARKER && s->n < MOST_PAUSES) {
            add(s, OVL_MAX(since, w->causes->timeline->start[before]), OVL_WAIT_PAUSE, before);
        }
    } while (cause.why != OVL_WHY_QUEUE && cause.why != OVL_WHY_HOST && o->kind == OVL_MARKER &&
             w->causes->timeline->end[before] > since);
    if (cause.why == OVL_WHY_HOST || (o && o->kind == OVL_HOST)) {
        add_host_queue(w, op, since, s);
    } else if (cause.why != OVL_WHY_QUEUE && moves_data(o)) {
        add(s, since, OVL_WAIT_DEPENDENCY, before);
    } else {
        add(s, since, OVL_WAIT_SCHEDULE, op);
    }
}

/* --- From an operation to what its data came from --- */

/* The input of a transfer that was there last, but not after it went ahead (that is a race, told as
 * such). */
static uint32_t last_input(const ovl_waits *w, uint32_t op, ovl_time *ready)
{
    const ovl_timeline *t = w->causes->timeline;
    uint32_t local = ovl_causes_local(w->causes, op), last = OVL_NONE;
    const ovl_inputs *in = &w->inputs[w->causes->program->ranks[w->causes->rank_of[op]].code];
    *ready = 0;
    for (uint32_t k = in->at[local]; k < in->at[local + 1]; k++) {
        uint32_t input = op - local + in->item[k];
        if (t->end[input] <= t->arrive[op] && (last == OVL_NONE || t->end[input] > *ready)) {
            last = input;
            *ready = t->end[input];
        }
    }
    return last;
}

static void back_from_transfer(ovl_waits *w, uint32_t op, step *s)
{
    ovl_time ready;
    s->before = last_input(w, op, &ready);
    if (ready < w->causes->timeline->arrive[op]) {
        add_queue(w, op, ready, s);
    }
}

/* Of an operation that a kernel waits for, what the kernel needs of it: the part of a batch that
 * brings what it reads, of several the last; else the whole. */
static uint32_t needed_of(const ovl_waits *w, uint32_t op, uint32_t before)
{
    if (ovl_causes_op(w->causes, before)->kind != OVL_BATCH) {
        return before;
    }
    const ovl_code *code = code_of(w, op);
    uint32_t first = op - ovl_causes_local(w->causes, op), needed = OVL_NONE;
    ovl_offsets parts = ovl_code_parts(code, before - first);
    for (uint32_t k = 0; k < parts.n; k++) {
        uint32_t part = before - first + parts.by[k];
        bool later = needed == OVL_NONE ||
                     w->causes->timeline->end[first + part] > w->causes->timeline->end[needed];
        needed = later && ovl_brings(code, part, op - first) ? first + part : needed;
    }
    return needed == OVL_NONE ? before : needed;
}

/* What a kernel waited for: what ended last, and what of it would have been enough. */
typedef struct awaited {
    uint32_t last, needed; /* OVL_NONE: nothing */
    bool queued;           /* the kernel stood behind another until it went ahead */
} awaited;

/* The host is not that. */
static awaited awaited_by(ovl_waits *w, uint32_t op)
{
    const ovl_time *end = w->causes->timeline->end, *arrive = w->causes->timeline->arrive;
    awaited a = {OVL_NONE, OVL_NONE, false};
    ovl_causes_of(w->causes, OVL_TRAIL(op, OVL_ARRIVED));
    for (uint32_t i = 0; i < w->causes->list.len; i++) {
        const ovl_cause *cause = &w->causes->list.data[i];
        uint32_t before = OVL_TRAIL_OP(cause->node);
        if (cause->why == OVL_WHY_QUEUE) {
            a.queued = arrive[before] == arrive[op];
        } else if (cause->why != OVL_WHY_HOST &&
                   ovl_causes_op(w->causes, before)->kind != OVL_HOST) {
            uint32_t needed = needed_of(w, op, before);
            a.last = a.last == OVL_NONE || end[before] > end[a.last] ? before : a.last;
            a.needed = a.needed == OVL_NONE || end[needed] > end[a.needed] ? needed : a.needed;
        }
    }
    return a;
}

/* A kernel comes from whatever ended last of what it waits for. What a batch took longer than what
 * the kernel needs of it, the batch holds up. */
static void back_from_arrival(ovl_waits *w, uint32_t op, step *s)
{
    const ovl_timeline *t = w->causes->timeline;
    awaited a = awaited_by(w, op);
    ovl_time ready = a.last == OVL_NONE ? 0 : t->end[a.last];
    if (ready < t->arrive[op]) {
        bool host = t->issue[op] == t->arrive[op] || !a.queued;
        uint32_t call = call_before(w, op, ready);
        add(s, ready, host ? OVL_WAIT_HOST : OVL_WAIT_SCHEDULE,
            host && call != OVL_NONE ? call : op);
    }
    if (a.needed != OVL_NONE) {
        add(s, t->end[a.needed], OVL_WAIT_DEPENDENCY, a.last);
    }
    s->before = a.needed;
}

static void back_from_collective(ovl_waits *w, uint32_t op, step *s)
{
    const ovl_causes *c = w->causes;
    uint32_t k = ovl_causes_collective(c, op), last = op;
    for (uint32_t i = c->first_member[k]; i < c->first_member[k + 1]; i++) {
        uint32_t member = c->member_ops[i];
        last = c->timeline->arrive[member] > c->timeline->arrive[last] ? member : last;
    }
    add(s, c->timeline->start[op], OVL_WAIT_DEPENDENCY, op);
    back_from_transfer(w, last, s);
}

static void back_from_message(ovl_waits *w, uint32_t op, step *s)
{
    const ovl_timeline *t = w->causes->timeline;
    const ovl_op *o = ovl_causes_op(w->causes, op);
    bool sends = o->kind == OVL_SEND;
    uint32_t other = w->causes->program->partner[op];
    uint32_t send = sends ? op : other, receive = sends ? other : op;
    if (o->eager && sends) { /* over at once, whatever its bytes do */
        back_from_transfer(w, send, s);
        return;
    }
    /* Where the receive came last: when the bytes could have been there, or begun to move. */
    ovl_time there = o->eager ? t->landed[send] : t->arrive[send];
    if (!o->eager) {
        add(s, t->start[op], OVL_WAIT_DEPENDENCY, send);
    }
    if (t->arrive[receive] > there) {
        add_queue(w, receive, there, s);
    }
    add(s, t->arrive[send], OVL_WAIT_DEPENDENCY, send);
    back_from_transfer(w, send, s);
}

static uint32_t last_part(const ovl_waits *w, uint32_t batch)
{
    const ovl_code *code = code_of(w, batch);
    uint32_t local = ovl_causes_local(w->causes, batch), last = OVL_NONE;
    ovl_offsets parts = ovl_code_parts(code, local);
    for (uint32_t k = 0; k < parts.n; k++) {
        uint32_t part = batch + parts.by[k];
        if (last == OVL_NONE || w->causes->timeline->end[part] > w->causes->timeline->end[last]) {
            last = part;
        }
    }
    return last;
}

static void back_from_end(ovl_waits *w, uint32_t op, step *s)
{
    const ovl_timeline *t = w->causes->timeline;
    uint32_t part;
    *s = (step){.end = t->end[op], .before = OVL_NONE};
    switch ((ovl_op_kind)ovl_causes_op(w->causes, op)->kind) {
    case OVL_KERNEL:
        add(s, t->start[op], OVL_WAIT_COMPUTE, op);
        back_from_arrival(w, op, s);
        return;
    case OVL_MARKER: /* no byte, no launch, no rank is late: the stream itself pauses */
        add(s, t->start[op], OVL_WAIT_PAUSE, op);
        back_from_arrival(w, op, s);
        return;
    case OVL_HOST:
        add(s, 0, OVL_WAIT_HOST, op);
        return;
    case OVL_COPY:
        add(s, t->arrive[op], OVL_WAIT_DEPENDENCY, op);
        back_from_transfer(w, op, s);
        return;
    case OVL_COLLECTIVE:
        back_from_collective(w, op, s);
        return;
    case OVL_SEND:
    case OVL_RECV:
        back_from_message(w, op, s);
        return;
    case OVL_BATCH:
        part = last_part(w, op);
        if (part == OVL_NONE) {
            back_from_transfer(w, op, s);
        } else {
            back_from_message(w, part, s);
        }
        return;
    }
}

/* --- The tree --- */

static void name_pieces(const step *s, uint32_t *by)
{
    for (uint32_t i = s->n; i-- > 0;) {
        if (s->piece[i].kind != OVL_WAIT_COMPUTE) {
            by[s->piece[i].kind] = s->piece[i].by;
        }
    }
}

/* Links of the skew binary kind: two of equal length become one. */
static uint32_t jump_of(const ovl_waits *w, uint32_t parent)
{
    const ovl_wait_slot *p = &w->slots.data[parent];
    if (p->jump == OVL_NONE) {
        return parent;
    }
    const ovl_wait_slot *j = &w->slots.data[p->jump];
    bool equal =
        j->jump != OVL_NONE && p->depth - j->depth == j->depth - w->slots.data[j->jump].depth;
    return equal ? j->jump : parent;
}

static void add_slot(ovl_waits *w, uint32_t op, const step *s)
{
    ovl_wait_slot slot = {.time = s->end, .op = op, .parent = OVL_NONE, .jump = OVL_NONE};
    memset(slot.by, 0xff, sizeof slot.by); /* OVL_NONE */
    if (s->before != OVL_NONE) {
        slot.parent = w->slot_of[s->before];
        slot.jump = jump_of(w, slot.parent);
        const ovl_wait_slot *parent = &w->slots.data[slot.parent];
        slot.depth = parent->depth + 1;
        memcpy(slot.sum, parent->sum, sizeof slot.sum);
        memcpy(slot.by, parent->by, sizeof slot.by);
    }
    ovl_time to = s->end;
    for (uint32_t i = 0; i < s->n; i++) {
        slot.sum[s->piece[i].kind] += to - s->piece[i].from;
        to = s->piece[i].from;
    }
    name_pieces(s, slot.by);
    w->slot_of[op] = w->slots.len;
    ovl_vec_push(&w->slots, slot);
}

/* The slot of an operation, made together with all that it comes from. */
static uint32_t slot_of(ovl_waits *w, uint32_t op)
{
    step s;
    w->way.len = 0;
    for (uint32_t at = op; at != OVL_NONE && w->slot_of[at] == OVL_NONE; at = s.before) {
        ovl_vec_push(&w->way, at);
        back_from_end(w, at, &s);
    }
    while (w->way.len) {
        uint32_t at = w->way.data[--w->way.len];
        back_from_end(w, at, &s);
        add_slot(w, at, &s);
    }
    return w->slot_of[op];
}

/* --- Questions --- */

/* What of a step was spent on no kernel, not before `from`. */
static void list_parts(ovl_waits *w, const step *s, ovl_time from)
{
    ovl_time to = s->end;
    for (uint32_t i = 0; i < s->n && to > from; i++) {
        const piece *p = &s->piece[i];
        if (p->kind != OVL_WAIT_COMPUTE) {
            ovl_vec_push(&w->parts, (ovl_wait_part){p->kind, p->by, to - OVL_MAX(p->from, from)});
        }
        to = p->from;
    }
}

static bool only_compute_between(const ovl_wait_slot *a, const ovl_wait_slot *b)
{
    for (int k = 0; k < OVL_WAIT_COUNT; k++) {
        if (k != OVL_WAIT_COMPUTE && a->sum[k] != b->sum[k]) {
            return false;
        }
    }
    return true;
}

/* Of the slots from `slot` to `low`, which is left out; where only kernels ran it is skipped. */
static void list_way(ovl_waits *w, uint32_t slot, uint32_t low)
{
    while (slot != low) {
        const ovl_wait_slot *s = &w->slots.data[slot], *jump = &w->slots.data[s->jump];
        if (jump->depth >= w->slots.data[low].depth && only_compute_between(s, jump)) {
            slot = s->jump;
            continue;
        }
        if (!only_compute_between(s, &w->slots.data[s->parent])) {
            step passed;
            back_from_end(w, s->op, &passed);
            list_parts(w, &passed, 0);
        }
        slot = s->parent;
    }
}

/* The part of a step that is not before `from`. What was issued late before then is to blame for as
 * much of the transfer. */
static void count_step(ovl_waits *w, const step *s, ovl_time from, ovl_waited *waited)
{
    ovl_time to = s->end, late = 0, time[OVL_WAIT_COUNT] = {0};
    for (uint32_t i = 0; i < s->n; i++) {
        const piece *p = &s->piece[i];
        time[p->kind] += OVL_MAX(to, from) - OVL_MAX(p->from, from);
        late += p->kind == OVL_WAIT_SCHEDULE ? to - p->from : 0;
        if (p->kind == OVL_WAIT_SCHEDULE && waited->by[p->kind] == OVL_NONE) {
            waited->by[p->kind] = p->by;
        }
        to = p->from;
    }
    list_parts(w, s, from);
    ovl_time blamed = OVL_MIN(late - time[OVL_WAIT_SCHEDULE], time[OVL_WAIT_DEPENDENCY]);
    time[OVL_WAIT_SCHEDULE] += blamed;
    time[OVL_WAIT_DEPENDENCY] -= blamed;
    for (int k = 0; k < OVL_WAIT_COUNT; k++) {
        waited->time[k] += time[k];
    }
}

/* The first on the way back that ended after `from`, but whose parent did not. */
static uint32_t earliest_after(const ovl_waits *w, uint32_t slot, ovl_time from)
{
    const ovl_wait_slot *slots = w->slots.data;
    for (;;) {
        const ovl_wait_slot *s = &slots[slot];
        if (s->parent == OVL_NONE || slots[s->parent].time <= from) {
            return slot;
        }
        slot = slots[s->jump].time > from ? s->jump : s->parent;
    }
}

static void fill_names(const ovl_wait_slot *slot, uint32_t *by)
{
    for (int k = 0; k < OVL_WAIT_COUNT; k++) {
        by[k] = by[k] == OVL_NONE ? slot->by[k] : by[k];
    }
}

static void count_way(ovl_waits *w, const step *first, ovl_time from, ovl_waited *waited)
{
    *waited = (ovl_waited){0};
    memset(waited->by, 0xff, sizeof waited->by); /* OVL_NONE */
    name_pieces(first, waited->by);
    count_step(w, first, from, waited);
    if (first->before == OVL_NONE || w->causes->timeline->end[first->before] <= from) {
        if (first->before != OVL_NONE) {
            uint32_t slot = slot_of(w, first->before);
            fill_names(&w->slots.data[slot], waited->by);
        }
        return;
    }
    step last;
    uint32_t top = slot_of(w, first->before), low = earliest_after(w, top, from);
    const ovl_wait_slot *a = &w->slots.data[top], *b = &w->slots.data[low];
    for (int k = 0; k < OVL_WAIT_COUNT; k++) {
        waited->time[k] += a->sum[k] - b->sum[k];
    }
    fill_names(a, waited->by);
    list_way(w, top, low);
    back_from_end(w, w->slots.data[low].op, &last);
    count_step(w, &last, from, waited);
}

void ovl_waits_before(ovl_waits *w, uint32_t op, ovl_time from, ovl_waited *waited)
{
    step s = {.end = w->causes->timeline->start[op], .before = OVL_NONE};
    back_from_arrival(w, op, &s);
    count_way(w, &s, from, waited);
}

void ovl_waits_until(ovl_waits *w, uint32_t op, ovl_time from, ovl_waited *waited)
{
    step s;
    back_from_end(w, op, &s);
    count_way(w, &s, from, waited);
}

/* --- Tables --- */

static const uint32_t *calls_of(const ovl_code *code, ovl_arena *arena)
{
    uint32_t *calls = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops), last = OVL_NONE;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        calls[i] = last;
        last = ovl_code_op(code, i)->kind == OVL_HOST ? i : last;
    }
    return calls;
}

void ovl_waits_init(ovl_waits *w, ovl_causes *causes, const ovl_inputs *inputs, ovl_arena *arena)
{
    const ovl_program *p = causes->program;
    const uint32_t **calls = OVL_NEW_ARRAY(arena, const uint32_t *, p->n_codes);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        calls[c] = calls_of(&p->codes[c], arena);
    }
    *w = (ovl_waits){.causes = causes, .inputs = inputs, .calls = calls};
    w->slot_of = OVL_NEW_ARRAY(arena, uint32_t, p->n_ops);
    memset(w->slot_of, 0xff, p->n_ops * sizeof *w->slot_of); /* OVL_NONE */
}

void ovl_waits_free(ovl_waits *w)
{
    ovl_vec_free(&w->slots);
    ovl_vec_free(&w->parts);
    ovl_vec_free(&w->way);
}
