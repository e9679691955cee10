#include "sim/blame.h"

#include "sim/fold.h"

__extension__ typedef __int128 wide;

static const char *message_text(const ovl_blamer *b, const ovl_op *op, const char *name,
                                uint32_t rank, uint32_t other)
{
    if (op->kind == OVL_RECV) {
        return ovl_arena_printf(
            b->arena, "receive %s on rank %" PRIu32 " holds up what is behind it", name, rank);
    }
    return ovl_arena_printf(b->arena, "transfer %s from rank %" PRIu32 " to %" PRIu32, name, rank,
                            other);
}

/* The operation of the lowest rank that did the same: what is told of it does not depend on which
 * of these ranks was looked at, nor on whether they are folded. */
static uint32_t lowest_like(const ovl_blamer *b, uint32_t id)
{
    uint32_t rank = b->c->rank_of[id];
    uint32_t lowest = b->classes->rank[b->classes->class_of[rank]];
    return b->p->ranks[lowest].first_op + (id - b->p->ranks[rank].first_op);
}

static const char *dependency_text(const ovl_blamer *b, uint32_t id, const char *name,
                                   uint32_t rank)
{
    const ovl_op *op = ovl_causes_op(b->c, id);
    switch ((ovl_op_kind)op->kind) {
    case OVL_SEND:
    case OVL_RECV:
        return message_text(b, op, name, rank, ovl_peer_number(b->p, b->c->rank_of[id], op));
    case OVL_COLLECTIVE:
        return ovl_arena_printf(b->arena, "%s %s", ovl_coll_name((ovl_coll)op->coll), name);
    case OVL_BATCH:
        return ovl_arena_printf(
            b->arena, "batch %s on rank %" PRIu32 " holds up what needs a part of it", name, rank);
    case OVL_KERNEL:
    case OVL_COPY:
    case OVL_HOST:
    case OVL_MARKER:
        break;
    }
    return ovl_arena_printf(b->arena, "%s %s on rank %" PRIu32,
                            ovl_op_kind_name((ovl_op_kind)op->kind), name, rank);
}

const char *ovl_blame_text(const ovl_blamer *b, ovl_idle_kind kind, uint32_t id)
{
    id = lowest_like(b, id);
    const ovl_op *op = ovl_causes_op(b->c, id);
    uint32_t rank = ovl_rank_number(b->p, b->c->rank_of[id]);
    const char *name = OVL_NAME(b->p->names, ovl_causes_name(b->c, id));
    if (kind == OVL_IDLE_DEPENDENCY) {
        return dependency_text(b, id, name, rank);
    }
    if (kind == OVL_IDLE_SCHEDULE) {
        return ovl_arena_printf(b->arena, "%s on rank %" PRIu32 " is issued late", name, rank);
    }
    if (kind == OVL_IDLE_HOST) {
        return ovl_arena_printf(b->arena, "%s %s on rank %" PRIu32,
                                op->kind == OVL_HOST ? "call" : "launch of", name, rank);
    }
    if (kind == OVL_IDLE_PAUSE) {
        return ovl_arena_printf(b->arena, "%s on rank %" PRIu32, name, rank);
    }
    if (op->part != OVL_PART_NONE) {
        return ovl_arena_printf(b->arena, "stage %u on rank %" PRIu32 " takes longer than the mean",
                                op->stage, rank);
    }
    return ovl_arena_printf(
        b->arena, "%s on rank %" PRIu32 " takes longer than the mean of the ranks", name, rank);
}

void ovl_blame(const ovl_blamer *b, ovl_idle_kind kind, uint32_t op, ovl_time time,
               ovl_charges *list)
{
    /* a collective is one for all its members: that of the first stands for it */
    bool whole = kind == OVL_IDLE_DEPENDENCY && ovl_causes_op(b->c, op)->kind == OVL_COLLECTIVE;
    uint32_t id = lowest_like(b, whole ? ovl_limits_carrier(b->c, op) : op);
    const ovl_op *o = ovl_causes_op(b->c, id);
    bool transfer = o->kind == OVL_SEND || o->kind == OVL_RECV;
    bool staged = o->part != OVL_PART_NONE && !transfer;
    uint64_t what = staged ? o->stage : (uint64_t)UINT16_MAX + 1 + o->coll;
    ovl_vec_push(
        list,
        (ovl_charge){.key = what << 36 | (uint64_t)o->kind << 32 | b->c->rank_of[id],
                     .partner = transfer ? ovl_peer_number(b->p, b->c->rank_of[id], o) : OVL_NONE,
                     .op = id,
                     .time = time,
                     .kind = (uint8_t)kind});
}

bool ovl_blame_split(const ovl_blamer *b, ovl_idle_kind kind, const ovl_blame_share *share,
                     uint32_t n, ovl_time time, ovl_charges *list)
{
    wide sum = 0, so_far = 0;
    ovl_time charged = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += share[i].weight;
    }
    for (uint32_t i = 0; i < n && sum > 0; i++) {
        so_far += share[i].weight;
        ovl_time until = (ovl_time)((wide)time * so_far / sum);
        if (until > charged) {
            ovl_blame(b, kind, share[i].op, until - charged, list);
        }
        charged = until;
    }
    return sum > 0;
}

static int by_key(const void *a, const void *b)
{
    const ovl_charge *x = a, *y = b;
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    if (x->partner != y->partner) {
        return x->partner < y->partner ? -1 : 1;
    }
    return (x->op > y->op) - (x->op < y->op);
}

static ovl_time add_times(ovl_time a, ovl_time b)
{
    ovl_time sum;
    return __builtin_add_overflow(a, b, &sum) ? OVL_TIME_MAX : sum;
}

/* Charges of one operation become one. */
static void merge_charges(ovl_charges *list)
{
    uint32_t n = 0;
    if (list->len) {
        qsort(list->data, list->len, sizeof *list->data, by_key);
    }
    for (uint32_t i = 0; i < list->len; i++) {
        if (n && by_key(&list->data[n - 1], &list->data[i]) == 0) {
            list->data[n - 1].time = add_times(list->data[n - 1].time, list->data[i].time);
        } else {
            list->data[n++] = list->data[i];
        }
    }
    list->len = n;
}

/* What is alike, one charge for each operation: how long, how many, and of them the heaviest. */
typedef struct alike {
    ovl_time time;
    uint64_t count; /* of all ranks: with those that some stand for */
    uint32_t op;
    uint32_t end; /* behind the last of them */
} alike;

/* How many there are of an operation: one on each rank that did the same; of a collective one for
 * all its members among these ranks. */
static uint64_t count_of(const ovl_blamer *b, uint32_t id)
{
    uint32_t rank = b->c->rank_of[id], class_id = b->classes->class_of[rank], same = 0;
    uint64_t ranks = b->classes->count[class_id];
    const ovl_op *op = ovl_causes_op(b->c, id);
    if (op->kind != OVL_COLLECTIVE) {
        return ranks;
    }
    const ovl_fold *fold = b->p->fold;
    const ovl_program *whole = fold ? fold->whole : b->p;
    const ovl_comm *comm = ovl_rank_comm(whole, ovl_rank_number(b->p, rank), op->comm);
    for (uint32_t k = 0; k < comm->n_members; k++) {
        uint32_t member = whole->members[comm->first_member + k];
        same += b->classes->class_of[fold ? fold->ranks.of[member] : member] == class_id;
    }
    return OVL_MAX(1, ranks / OVL_MAX(1, same));
}

static alike sum_alike(const ovl_blamer *b, const ovl_charges *list, uint32_t first, bool all)
{
    const ovl_charge *of = &list->data[first], *heaviest = of;
    alike sum = {.end = first};
    for (; sum.end < list->len; sum.end++) {
        const ovl_charge *c = &list->data[sum.end];
        if (c->kind != of->kind || c->key != of->key || c->partner != of->partner) {
            break;
        }
        sum.time = add_times(sum.time, c->time);
        sum.count += all ? count_of(b, c->op) : 1;
        heaviest = c->time > heaviest->time ? c : heaviest;
    }
    sum.op = heaviest->op;
    return sum;
}

static const char *alike_text(const ovl_blamer *b, ovl_idle_kind kind, const alike *a)
{
    const char *text = ovl_blame_text(b, kind, a->op);
    if (a->count <= 1 ||
        (kind == OVL_IDLE_IMBALANCE && ovl_causes_op(b->c, a->op)->part != OVL_PART_NONE)) {
        return text;
    }
    return ovl_arena_printf(b->arena, "%s; %" PRIu64 " more like it", text, a->count - 1);
}

/* Of each kind the heaviest, of one rank or of all. */
const ovl_result_blame *ovl_blame_choose(const ovl_blamer *b, ovl_charges *list, bool all,
                                         uint32_t *n)
{
    ovl_result_blame *blames = OVL_NEW_ARRAY(b->arena, ovl_result_blame, OVL_IDLE_COUNT);
    *n = 0;
    merge_charges(list);
    for (uint32_t i = 0; i < list->len;) {
        ovl_idle_kind kind = (ovl_idle_kind)list->data[i].kind;
        alike most = {0};
        while (i < list->len && list->data[i].kind == kind) {
            alike a = sum_alike(b, list, i, all);
            most = a.time > most.time ? a : most;
            i = a.end;
        }
        blames[(*n)++] = (ovl_result_blame){kind, most.time, alike_text(b, kind, &most)};
    }
    return blames;
}
