#include "sim/ties.h"

#include "sim/course.h"

/* --- What is stored once --- */

static bool same_offsets(const void *owner, uint32_t x, uint32_t y, uint32_t n)
{
    const ovl_tying *t = owner;
    return memcmp(&t->offsets.data[x], &t->offsets.data[y], n * sizeof *t->offsets.data) == 0;
}

uint32_t ovl_tie_list(ovl_tying *t, const uint32_t *by, uint32_t n)
{
    if (t->offsets.len == 0) {
        ovl_vec_push(&t->offsets, 0); /* the empty list */
    }
    if (n == 0) {
        return 0;
    }
    uint32_t first = t->offsets.len;
    uint64_t hash = n;
    ovl_vec_push(&t->offsets, n);
    for (uint32_t i = 0; i < n; i++) {
        ovl_vec_push(&t->offsets, by[i]);
        hash = ovl_stored_mix(hash, by[i]);
    }
    uint32_t at = ovl_stored_once(t, &t->stored_offsets, hash, first, n + 1, same_offsets);
    t->offsets.len = at < first ? first : t->offsets.len;
    return at;
}

static bool is_back(const ovl_back *a, const ovl_back *b)
{
    return a->stream_prev == b->stream_prev && a->comm_prev == b->comm_prev &&
           a->queue_prev == b->queue_prev && a->wire == b->wire && a->after == b->after;
}

static bool same_backs(const void *owner, uint32_t x, uint32_t y, uint32_t n)
{
    const ovl_tying *t = owner;
    (void)n;
    return is_back(&t->backs.data[x].back, &t->backs.data[y].back);
}

/* Appends an offset that is none of the first n. */
static uint32_t add_once(uint32_t *by, uint32_t n, uint32_t offset)
{
    bool there = offset == 0;
    for (uint32_t i = 0; i < n && !there; i++) {
        there = by[i] == offset;
    }
    by[n] = offset;
    return n + !there;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* All that must have ended, each once. */
static uint32_t waited_list(ovl_tying *t, const ovl_back *back)
{
    uint32_t n_after = t->offsets.data[back->after], n = 0;
    uint32_t *by = malloc((n_after + 2) * sizeof *by);
    if (!by) {
        ovl_out_of_memory((n_after + 2) * sizeof *by);
    }
    memcpy(by, &t->offsets.data[back->after + 1], n_after * sizeof *by);
    if (n_after > 1) {
        qsort(by, n_after, sizeof *by, by_value);
    }
    for (uint32_t i = 0; i < n_after; i++) {
        by[n] = by[i];
        n += i == 0 || by[n] != by[n - 1];
    }
    n = add_once(by, n, back->stream_prev);
    n = add_once(by, n, back->comm_prev);
    uint32_t list = ovl_tie_list(t, by, n);
    free(by);
    return list;
}

static uint32_t store_back(ovl_tying *t, const ovl_back *back)
{
    uint32_t last = t->backs.len;
    ovl_tie_list(t, NULL, 0);
    uint64_t hash =
        ovl_stored_mix(back->after, (uint64_t)back->stream_prev << 32 | back->comm_prev);
    hash = ovl_stored_mix(hash, (uint64_t)back->queue_prev << 32 | back->wire);
    ovl_vec_push(&t->backs, (ovl_tying_back){.back = *back});
    uint32_t at = ovl_stored_once(t, &t->stored_backs, hash, last, 1, same_backs);
    if (at < last) {
        t->backs.len = last;
    } else {
        uint32_t list = waited_list(t, back);
        t->backs.data[at].list = list;
    }
    return at;
}

uint32_t ovl_tie_back(ovl_tying *t, const ovl_back *back, uint32_t *recent)
{
    if (*recent == 0 || !is_back(&t->backs.data[*recent - 1].back, back)) {
        *recent = 1 + store_back(t, back);
    }
    return *recent - 1;
}

static bool same_ties(const void *owner, uint32_t x, uint32_t y, uint32_t n)
{
    const ovl_tying *t = owner;
    (void)n;
    return memcmp(&t->ties.data[x], &t->ties.data[y], sizeof(ovl_ties)) == 0;
}

static uint32_t store(ovl_tying *t, const ovl_ties *ties)
{
    uint32_t last = t->ties.len;
    uint64_t hash = ovl_stored_mix(ties->alike, (uint64_t)ties->next << 32 | ties->parts);
    hash = ovl_stored_mix(hash, (uint64_t)ties->queue_next << 32 | ties->lane_next);
    ovl_vec_push(&t->ties, *ties);
    uint32_t at = ovl_stored_once(t, &t->stored_ties, hash, last, 1, same_ties);
    t->ties.len = at < last ? last : t->ties.len;
    return at;
}

/* --- One code, from its last operation to its first --- */

/* An operation that is tied to one before it; `link` is the next of those, or OVL_NONE. */
typedef struct knot {
    uint32_t op, link;
} knot;

typedef struct backwards {
    const ovl_code *code;
    ovl_arena scratch;
    OVL_VEC(knot) knots;
    uint32_t unused;    /* knots that nobody needs any more */
    uint32_t *next;     /* [n_ops] knots of what waits for it, nearest first; OVL_NONE: nothing */
    uint32_t *parts;    /* [n_ops] of its parts; NULL: there are no batches */
    uint32_t *lane;     /* by lane: the first of its operations that were seen */
    uint32_t *in_queue; /* [n_ops] what waits for its arrival; NULL: queues do not matter */
    OVL_VEC(uint32_t) found;
} backwards;

static uint32_t *no_ops(ovl_arena *arena, uint32_t n)
{
    uint32_t *array = OVL_NEW_ARRAY(arena, uint32_t, n);
    if (n) {
        memset(array, 0xff, n * sizeof *array); /* OVL_NONE everywhere */
    }
    return array;
}

static void tie_to(backwards *w, uint32_t *first, uint32_t op)
{
    uint32_t k = w->unused;
    if (k == OVL_NONE) {
        k = w->knots.len;
        ovl_vec_push(&w->knots, (knot){0});
    } else {
        w->unused = w->knots.data[k].link;
    }
    w->knots.data[k] = (knot){op, *first};
    *first = k;
}

/* The list of what is tied to an operation; whether it is *list, as was to be expected. */
static bool untie(backwards *w, ovl_tying *t, uint32_t first, uint32_t op, uint32_t *list)
{
    const uint32_t *likely = &t->offsets.data[*list];
    uint32_t n = 0;
    bool same = true;
    w->found.len = 0;
    for (uint32_t k = first, link = 0; k != OVL_NONE; k = link) {
        knot *one = &w->knots.data[k];
        uint32_t offset = one->op - op;
        ovl_vec_push(&w->found, offset);
        same = same && n++ < likely[0] && likely[n] == offset;
        link = one->link;
        one->link = w->unused;
        w->unused = k;
    }
    same = same && n == likely[0];
    *list = same ? *list : ovl_tie_list(t, w->found.data, w->found.len);
    return same;
}

/* The offset of the next operation in its lane. */
static uint32_t next_in_lane(backwards *w, const ovl_op *op, uint32_t i)
{
    bool none = op->stream == OVL_NO_STREAM && op->comm == OVL_NO_COMM;
    if (none || op->behind || op->kind == OVL_HOST) {
        return 0;
    }
    uint32_t *first = &w->lane[ovl_lane(w->code, i)], next = *first;
    *first = i;
    return next == OVL_NONE ? 0 : next - i;
}

/* Tells those before an operation that it waits for them. */
static void tell_back(backwards *w, const ovl_tying *t, const ovl_tying_back *of, uint32_t i)
{
    const uint32_t *list = &t->offsets.data[of->list];
    uint32_t behind = ovl_code_op(w->code, i)->behind;
    for (uint32_t k = 1; k <= list[0]; k++) {
        tie_to(w, &w->next[i + list[k]], i);
    }
    if (behind) {
        tie_to(w, &w->parts[i - behind], i);
    }
    if (of->back.queue_prev) {
        w->in_queue[i + of->back.queue_prev] = i;
    }
}

/* Those behind it are known. Mostly its ties are what they were the last time. */
static uint32_t tie_op(backwards *w, ovl_tying *t, uint32_t i, uint32_t number)
{
    ovl_tying_back *of = &t->backs.data[number];
    tell_back(w, t, of, i);
    ovl_ties ties = of->recent ? t->ties.data[of->recent - 1] : (ovl_ties){.back = of->back};
    bool same = of->recent > 0;
    ties.alike = number;
    ties.waits = 1 + t->offsets.data[of->list] + (of->back.queue_prev != 0);
    same &= untie(w, t, w->next[i], i, &ties.next);
    same &= untie(w, t, w->parts ? w->parts[i] : OVL_NONE, i, &ties.parts);
    uint32_t in_queue = w->in_queue && w->in_queue[i] != OVL_NONE ? w->in_queue[i] - i : 0;
    uint32_t in_lane = next_in_lane(w, ovl_code_op(w->code, i), i);
    same &= ties.queue_next == in_queue && ties.lane_next == in_lane;
    if (!same) {
        ties.queue_next = in_queue;
        ties.lane_next = in_lane;
        of->recent = 1 + store(t, &ties);
    }
    return of->recent - 1;
}

void ovl_tie_code(ovl_tying *t, const ovl_code *code, uint32_t *tied)
{
    backwards w = {.code = code, .unused = OVL_NONE};
    bool batches = false, queued = false;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        batches |= ovl_code_op(code, i)->behind > 0;
        queued |= t->backs.data[tied[i]].back.queue_prev != 0;
    }
    w.next = no_ops(&w.scratch, code->n_ops);
    w.parts = batches ? no_ops(&w.scratch, code->n_ops) : NULL;
    w.in_queue = queued ? no_ops(&w.scratch, code->n_ops) : NULL;
    w.lane = no_ops(&w.scratch, ovl_lane_host(code) + 1);
    for (uint32_t i = code->n_ops; i-- > 0;) {
        tied[i] = tie_op(&w, t, i, tied[i]);
    }
    ovl_vec_free(&w.knots);
    ovl_vec_free(&w.found);
    ovl_arena_free(&w.scratch);
}

void ovl_tying_end(ovl_tying *t, ovl_program *p, ovl_code *codes, ovl_arena *arena)
{
    ovl_tie_list(t, NULL, 0); /* there if there is no other */
    p->n_ties = t->ties.len;
    p->n_offsets = t->offsets.len;
    p->ties = ovl_vec_freeze(&t->ties, arena);
    p->offsets = ovl_vec_freeze(&t->offsets, arena);
    for (uint32_t i = 0; i < p->n_codes; i++) {
        codes[i].ties = p->ties;
        codes[i].offsets = p->offsets;
    }
    ovl_tying_free(t);
}

void ovl_tying_free(ovl_tying *t)
{
    ovl_vec_free(&t->offsets);
    ovl_vec_free(&t->backs);
    ovl_vec_free(&t->ties);
    ovl_stored_forget(&t->stored_offsets);
    ovl_stored_forget(&t->stored_backs);
    ovl_stored_forget(&t->stored_ties);
}
