/*
 * deadlock.c - who waits for whom, when nothing can happen any more: the chain from a blocked
 * operation to the one that closes the cycle.
 */
#include "sim/state.h"

/* Why an operation cannot go on, as a phrase, and the operation that would have to come first. */
typedef struct blocker {
    const char *phrase;
    uint32_t op;
} blocker;

static uint32_t rank_of(const ovl_engine *e, uint32_t op)
{
    return ovl_op_rank(e->p, op);
}

static blocker missing_member(const ovl_engine *e, uint32_t rank, uint32_t local)
{
    const ovl_code *code = &e->p->codes[e->p->ranks[rank].code];
    const ovl_comm *comm = ovl_rank_comm(e->p, rank, ovl_code_op(code, local)->comm);
    for (uint32_t place = 0; place < comm->n_members; place++) {
        uint32_t op = ovl_collective_op(e->p, comm, place, code->collectives_before[local]);
        if (e->arrive[op] < 0) {
            return (blocker){"has arrived and waits for its member", op};
        }
    }
    return (blocker){NULL, OVL_NONE};
}

static blocker missing_part(const ovl_engine *e, uint32_t first_op, const ovl_code *code,
                            uint32_t local)
{
    ovl_offsets parts = ovl_code_parts(code, local);
    for (uint32_t i = 0; i < parts.n; i++) {
        if (e->end[first_op + local + parts.by[i]] < 0) {
            return (blocker){"waits for its part", first_op + local + parts.by[i]};
        }
    }
    return (blocker){NULL, OVL_NONE};
}

static blocker blocked_inside(const ovl_engine *e, uint32_t op)
{
    uint32_t rank = rank_of(e, op);
    const ovl_rank *r = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[r->code];
    uint32_t local = op - r->first_op;
    switch ((ovl_op_kind)ovl_code_op(code, local)->kind) {
    case OVL_COLLECTIVE:
        return missing_member(e, rank, local);
    case OVL_SEND:
    case OVL_RECV:
        return (blocker){"has arrived and waits for", e->p->partner[op]};
    case OVL_BATCH:
        return missing_part(e, r->first_op, code, local);
    case OVL_KERNEL:
    case OVL_COPY:
    case OVL_HOST:
    case OVL_MARKER:
        break;
    }
    return (blocker){NULL, OVL_NONE};
}

static bool not_ended(const ovl_engine *e, uint32_t first_op, uint32_t local)
{
    return local != OVL_NONE && e->end[first_op + local] < 0;
}

static blocker blocked_before(const ovl_engine *e, uint32_t op)
{
    const ovl_rank *r = &e->p->ranks[rank_of(e, op)];
    const ovl_code *code = &e->p->codes[r->code];
    uint32_t local = op - r->first_op;
    if (ovl_code_batch(code, local) != OVL_NONE) {
        return (blocker){"is part of", r->first_op + ovl_code_batch(code, local)};
    }
    if (not_ended(e, r->first_op, ovl_code_stream_prev(code, local))) {
        return (blocker){"waits on its stream behind",
                         r->first_op + ovl_code_stream_prev(code, local)};
    }
    ovl_offsets after = ovl_code_after(code, local);
    for (uint32_t i = 0; i < after.n; i++) {
        if (not_ended(e, r->first_op, local + after.by[i])) {
            return (blocker){"is after", r->first_op + local + after.by[i]};
        }
    }
    if (not_ended(e, r->first_op, ovl_code_comm_prev(code, local))) {
        return (blocker){"waits in its communicator behind",
                         r->first_op + ovl_code_comm_prev(code, local)};
    }
    if (code->queued && ovl_code_queue_prev(code, local) != OVL_NONE &&
        e->arrive[r->first_op + ovl_code_queue_prev(code, local)] < 0) {
        return (blocker){"waits in its hardware queue behind",
                         r->first_op + ovl_code_queue_prev(code, local)};
    }
    uint32_t cursor = e->ranks[rank_of(e, op)].cursor;
    return (blocker){"is not issued, the host is in", r->first_op + cursor};
}

static blocker blocker_of(const ovl_engine *e, uint32_t op)
{
    return e->arrive[op] < 0 ? blocked_before(e, op) : blocked_inside(e, op);
}

static uint32_t first_blocked(const ovl_engine *e)
{
    uint32_t op = 0;
    while (e->end[op] >= 0) {
        op++;
    }
    return op;
}

static const char *op_text(const ovl_engine *e, uint32_t op)
{
    return ovl_arena_printf(e->errs->arena, "%s \"%s\" on rank %" PRIu32,
                            ovl_op_kind_name((ovl_op_kind)ovl_op_of(e->p, op)->kind),
                            OVL_NAME(e->p->names, ovl_op_name_id(e->p, op)),
                            ovl_rank_number(e->p, rank_of(e, op)));
}

/* From any blocked operation the chain runs into a cycle; walking as often as there are operations
 * surely is in it. */
static uint32_t into_cycle(const ovl_engine *e)
{
    uint32_t op = first_blocked(e);
    for (uint32_t i = 0; i < e->p->n_ops; i++) {
        op = blocker_of(e, op).op;
    }
    return op;
}

#define LINES_MAX 16

void ovl_deadlock_report(ovl_engine *e)
{
    uint32_t first = into_cycle(e), op = first, lines = 0;
    const char *text = "";
    do {
        blocker b = blocker_of(e, op);
        if (lines++ < LINES_MAX) {
            text = ovl_arena_printf(e->errs->arena, "%s\n  %s %s %s", text, op_text(e, op),
                                    b.phrase, op_text(e, b.op));
        }
        op = b.op;
    } while (op != first);
    if (lines > LINES_MAX) {
        text = ovl_arena_printf(e->errs->arena, "%s\n  ... and %" PRIu32 " more", text,
                                lines - LINES_MAX);
    }
    ovl_error(e->errs, OVL_E_STUCK, ovl_op_of(e->p, first)->mark,
              "deadlock: %" PRIu32 " of %" PRIu32 " operations never end; they wait in a circle:%s",
              e->p->n_ops - e->n_ended, e->p->n_ops, text);
}
