#include "sim/suspects.h"

#include "sim/fold.h"

/* What operations of one suspect share, and their sum. */
typedef struct sum {
    uint64_t key;
    ovl_time weight;
    bool longer; /* some kernel is longer than its mean */
} sum;

typedef OVL_VEC(sum) sums;

typedef struct search {
    ovl_causes *c;
    const ovl_program *p;
    const ovl_means *means;     /* of kernels; NULL: of transfers or batches */
    const ovl_classes *classes; /* of ranks; likewise */
    bool batches;
    sums all;
} search;

#define NO_KEY UINT64_MAX

static uint64_t key_of_kernel(const search *s, const ovl_op *o, uint32_t rank)
{
    uint32_t lowest = s->classes->rank[s->classes->class_of[rank]];
    return o->part != OVL_PART_NONE ? o->stage : (uint64_t)1 << 32 | ovl_rank_number(s->p, lowest);
}

/* Ranks that run one code are told apart by nobody: folded or not, what they send is one suspect.
 */
static uint64_t code_of(const search *s, uint32_t op)
{
    return s->p->ranks[s->c->rank_of[op]].code;
}

/* Of a message from whom to whom, on both sides. */
static uint64_t key_of_transfer(const search *s, uint32_t op, const ovl_op *o)
{
    uint64_t other = 0;
    switch ((ovl_op_kind)o->kind) {
    case OVL_SEND:
        return code_of(s, op) << 32 | code_of(s, s->p->partner[op]);
    case OVL_RECV:
        return code_of(s, s->p->partner[op]) << 32 | code_of(s, op);
    case OVL_COLLECTIVE:
        other = UINT32_MAX - 1 - o->coll;
        return code_of(s, ovl_limits_carrier(s->c, op)) << 32 | other;
    case OVL_COPY:
        return code_of(s, op) << 32 | UINT32_MAX;
    case OVL_KERNEL:
    case OVL_BATCH:
    case OVL_HOST:
    case OVL_MARKER:
        break;
    }
    return NO_KEY;
}

static uint64_t key_of(const search *s, uint32_t op)
{
    const ovl_op *o = ovl_causes_op(s->c, op);
    uint32_t rank = s->c->rank_of[op];
    if (s->means) {
        return o->kind == OVL_KERNEL ? key_of_kernel(s, o, rank) : NO_KEY;
    }
    if (s->batches) {
        return o->kind == OVL_BATCH ? code_of(s, op) : NO_KEY;
    }
    return key_of_transfer(s, op, o);
}

/* A transfer counts once: as its send, or the first member of its collective. What is a pair of two
 * stages counts for neither. */
static bool counts(const search *s, uint32_t op)
{
    const ovl_op *o = ovl_causes_op(s->c, op);
    if (o->kind == OVL_KERNEL && o->part == OVL_PART_PAIR) {
        return o->stage == o->second;
    }
    return o->kind != OVL_RECV && (o->kind != OVL_COLLECTIVE || ovl_limits_carrier(s->c, op) == op);
}

/* For how many it stands: ranks, or of a collective communicators. */
static uint32_t stands_for(const search *s, uint32_t op)
{
    const ovl_op *o = ovl_causes_op(s->c, op);
    uint32_t rank = s->c->rank_of[op];
    if (o->kind == OVL_COLLECTIVE && s->p->fold) {
        return s->p->fold->comms.count[s->p->rank_comms[s->p->ranks[rank].first_comm + o->comm]];
    }
    return ovl_rank_count(s->p, rank);
}

/* From the end of its first part to that of its last. */
static ovl_time spread_of(const search *s, uint32_t op)
{
    const ovl_code *code = &s->p->codes[code_of(s, op)];
    uint32_t local = ovl_causes_local(s->c, op);
    ovl_time first = s->c->timeline->end[op];
    ovl_offsets parts = ovl_code_parts(code, local);
    for (uint32_t k = 0; k < parts.n; k++) {
        first = OVL_MIN(first, s->c->timeline->end[op + parts.by[k]]);
    }
    return s->c->timeline->end[op] - first;
}

static ovl_time weight_of(const search *s, uint32_t op)
{
    const ovl_timeline *t = s->c->timeline;
    const ovl_op *o = ovl_causes_op(s->c, op);
    if (s->means) {
        uint32_t rank = s->c->rank_of[op];
        return ovl_op_cost(s->p, rank, o)->work -
               ovl_mean_of(s->means, s->p, rank, ovl_causes_local(s->c, op));
    }
    if (o->kind == OVL_BATCH) {
        return spread_of(s, op);
    }
    if (o->kind == OVL_SEND && o->eager) {
        return t->landed[op] - ovl_wire_start(s->p, t, op);
    }
    return t->end[op] - t->start[op];
}

static ovl_time add_times(ovl_time a, ovl_time b)
{
    ovl_time total;
    return __builtin_add_overflow(a, b, &total) ? (b > 0 ? OVL_TIME_MAX : -OVL_TIME_MAX) : total;
}

static ovl_time times(ovl_time a, uint32_t n)
{
    ovl_time product;
    return __builtin_mul_overflow(a, (ovl_time)n, &product) ? (a > 0 ? OVL_TIME_MAX : -OVL_TIME_MAX)
                                                            : product;
}

static void add_to(sum *into, const sum *s)
{
    into->weight = add_times(into->weight, s->weight);
    into->longer |= s->longer;
}

/* A rank has few suspects. */
static void add_op(search *s, uint32_t first_of_rank, uint32_t op)
{
    sum own = {.key = key_of(s, op)};
    if (own.key == NO_KEY || !counts(s, op)) {
        return;
    }
    own.weight = times(weight_of(s, op), stands_for(s, op));
    own.longer = own.weight > 0;
    for (uint32_t i = s->all.len; i-- > first_of_rank;) {
        if (s->all.data[i].key == own.key) {
            add_to(&s->all.data[i], &own);
            return;
        }
    }
    ovl_vec_push(&s->all, own);
}

static int by_key(const void *a, const void *b)
{
    const sum *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static int heaviest(const void *a, const void *b)
{
    const sum *x = a, *y = b;
    if (x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return by_key(a, b);
}

/* Those of several ranks become one; the heaviest stay. */
static void choose(sums *all)
{
    uint32_t n = 0, kept = 0;
    if (all->len == 0) {
        return;
    }
    qsort(all->data, all->len, sizeof *all->data, by_key);
    for (uint32_t i = 0; i < all->len; i++) {
        if (n && all->data[n - 1].key == all->data[i].key) {
            add_to(&all->data[n - 1], &all->data[i]);
        } else {
            all->data[n++] = all->data[i];
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (all->data[i].longer && all->data[i].weight >= 0) {
            all->data[kept++] = all->data[i];
        }
    }
    qsort(all->data, kept, sizeof *all->data, heaviest);
    all->len = OVL_MIN(kept, OVL_SUSPECTS_MOST);
}

typedef struct ended {
    ovl_time end;
    uint32_t op;
} ended;

static int by_end(const void *a, const void *b)
{
    const ended *x = a, *y = b;
    if (x->end != y->end) {
        return x->end < y->end ? -1 : 1;
    }
    return (x->op < y->op) - (x->op > y->op); /* of those that end together the first comes last */
}

static void list_ops(const search *s, const uint8_t *of, uint8_t which, ovl_arena *arena,
                     ovl_suspect *suspect)
{
    OVL_VEC(ended) list = {0};
    for (uint32_t op = 0; op < s->p->n_ops; op++) {
        if (of[op] == which && counts(s, op) && weight_of(s, op) > 0) {
            ovl_vec_push(&list, (ended){s->c->timeline->end[op], op});
        }
    }
    if (list.len > 1) {
        qsort(list.data, list.len, sizeof *list.data, by_end);
    }
    uint32_t *ops = OVL_NEW_ARRAY(arena, uint32_t, list.len);
    for (uint32_t i = 0; i < list.len; i++) {
        ops[i] = list.data[i].op;
    }
    suspect->op = ops;
    suspect->n_ops = list.len;
    ovl_vec_free(&list);
}

static uint8_t which(const search *s, uint64_t key)
{
    for (uint32_t i = 0; i < s->all.len; i++) {
        if (s->all.data[i].key == key) {
            return (uint8_t)i;
        }
    }
    return OVL_NO_SUSPECT;
}

/* They are listed with the heaviest first, and OVL_NO_SUSPECT is the greatest of numbers. */
static const uint8_t *mark(const search *s, ovl_arena *arena)
{
    uint8_t *of = OVL_NEW_ARRAY(arena, uint8_t, s->p->n_ops);
    for (uint32_t op = 0; op < s->p->n_ops; op++) {
        const ovl_op *o = ovl_causes_op(s->c, op);
        of[op] = which(s, key_of(s, op));
        if (s->means && o->kind == OVL_KERNEL && o->part == OVL_PART_PAIR) {
            of[op] = OVL_MIN(of[op], which(s, o->second));
        }
    }
    return of;
}

static void find(search *s, ovl_arena *arena, ovl_suspects *suspects)
{
    for (uint32_t r = 0; r < s->p->n_ranks; r++) {
        const ovl_rank *rank = &s->p->ranks[r];
        uint32_t first_of_rank = s->all.len;
        for (uint32_t i = 0; i < s->p->codes[rank->code].n_ops; i++) {
            add_op(s, first_of_rank, rank->first_op + i);
        }
    }
    choose(&s->all);
    *suspects = (ovl_suspects){.n = s->all.len};
    if (s->all.len) {
        suspects->of = mark(s, arena);
    }
    for (uint32_t i = 0; i < s->all.len; i++) {
        suspects->list[i].weight = OVL_MAX(1, s->all.data[i].weight);
        list_ops(s, suspects->of, (uint8_t)i, arena, &suspects->list[i]);
    }
    ovl_vec_free(&s->all);
}

void ovl_suspects_stages(ovl_causes *causes, const ovl_classes *classes, const ovl_means *means,
                         ovl_arena *arena, ovl_suspects *suspects)
{
    search s = {.c = causes, .p = causes->program, .means = means, .classes = classes};
    find(&s, arena, suspects);
}

void ovl_suspects_transfers(ovl_causes *causes, ovl_arena *arena, ovl_suspects *suspects)
{
    search s = {.c = causes, .p = causes->program};
    find(&s, arena, suspects);
}

void ovl_suspects_batches(ovl_causes *causes, ovl_arena *arena, ovl_suspects *suspects)
{
    search s = {.c = causes, .p = causes->program, .batches = true};
    find(&s, arena, suspects);
}

uint32_t ovl_suspect_op(const ovl_suspect *suspect, const ovl_timeline *timeline, ovl_time until)
{
    uint32_t low = 0, high = suspect->n_ops;
    assert(high > 0);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (timeline->end[suspect->op[middle]] <= until) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return suspect->op[low ? low - 1 : 0];
}
