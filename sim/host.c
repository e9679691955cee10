/*
 * host.c - the host thread of each rank: it issues operations in program order and may be held up.
 *
 * A host call whose cost has a latency comes at that moment and not before: until then the host
 * goes on with what follows, and does it before the first operation that would be issued later.
 */
#include "sim/state.h"

/* What is issued is remembered in the trail where issuing takes time or can block; elsewhere it
 * happens at 0. */
static void issue(ovl_engine *e, uint32_t rank, uint32_t local)
{
    const ovl_rank *r = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[r->code];
    uint32_t op = r->first_op + local;
    ovl_engine_note(e->issue, op, e->now);
    ovl_engine_step(e, op, OVL_ISSUED);
    ovl_offsets parts = ovl_code_parts(code, local);
    for (uint32_t i = 0; i < parts.n; i++) {
        ovl_engine_note(e->issue, r->first_op + local + parts.by[i], e->now);
    }
    e->ranks[rank].cursor++;
    ovl_engine_release(e, rank, op);
}

/* What each operation of a rank waits for once it is issued: parts wait for their batch. A rank
 * before that has the same code has done nothing yet. */
static void begin_pending(ovl_engine *e, const ovl_rank *r, uint32_t rank)
{
    const ovl_code *code = &e->p->codes[r->code];
    uint32_t *pending = e->pending + r->first_op;
    if (rank > 0 && e->p->ranks[rank - 1].code == r->code) {
        memcpy(pending, pending - code->n_ops, code->n_ops * sizeof *pending);
        return;
    }
    for (uint32_t i = 0; i < code->n_ops; i++) {
        pending[i] = ovl_code_ties(code, i)->waits - !ovl_code_op(code, i)->behind;
    }
}

/* Where issuing takes no time all is issued at 0, which it says already (run.c), and only what
 * waits for nothing else arrives. */
static void issue_all(ovl_engine *e, const ovl_rank *r, uint32_t rank)
{
    const ovl_course *course = e->courses[r->code];
    begin_pending(e, r, rank);
    for (uint32_t i = 0; i < course->n_starts; i++) {
        ovl_vec_push(&e->todo, (ovl_todo){.rank = rank, .op = r->first_op + course->starts[i]});
    }
    e->ranks[rank].cursor = e->p->codes[r->code].n_ops;
}

void ovl_host_begin(ovl_engine *e, uint32_t rank)
{
    const ovl_rank *r = &e->p->ranks[rank];
    if (e->p->codes[r->code].host_timed) {
        ovl_host_advance(e, rank);
    } else {
        issue_all(e, r, rank);
    }
}

/* Until it ends: host_arrive or host_event goes on. */
static void begin_call(ovl_engine *e, uint32_t rank, uint32_t local)
{
    uint32_t op = e->p->ranks[rank].first_op + local;
    e->ranks[rank].issuing = true;
    ovl_engine_note(e->issue, op, e->now);
    ovl_engine_step(e, op, OVL_ISSUED);
    ovl_engine_release(e, rank, op);
}

/* --- Calls that come at a moment --- */

static ovl_time moment_of(const ovl_engine *e, uint32_t rank, uint32_t local)
{
    uint32_t op = e->p->ranks[rank].first_op + local;
    return ovl_engine_cost(e, rank, op, ovl_engine_op(e, rank, op))->latency;
}

/* Begins the call that was put off if its moment has come, or waits for that if there is nothing
 * else to do. False: the host goes on with something else. */
static bool make_up(ovl_engine *e, uint32_t rank, bool idle)
{
    ovl_rank_state *s = &e->ranks[rank];
    uint32_t local = s->put_off - 1;
    if (s->put_off == 0 || s->makes_up) {
        return false;
    }
    ovl_time moment = moment_of(e, rank, local);
    if (e->now >= moment) {
        s->makes_up = true;
        begin_call(e, rank, local);
    } else if (idle) {
        s->awaits = true;
        ovl_engine_schedule(e, rank, moment - e->now, OVL_EVENT_HOST,
                            e->p->ranks[rank].first_op + local);
    }
    return e->now >= moment || idle;
}

/* --- In order --- */

void ovl_host_advance(ovl_engine *e, uint32_t rank)
{
    const ovl_rank *r = &e->p->ranks[rank];
    const ovl_code *code = &e->p->codes[r->code];
    ovl_rank_state *s = &e->ranks[rank];
    while (!make_up(e, rank, s->cursor == code->n_ops) && s->cursor < code->n_ops) {
        const ovl_op *op = ovl_code_op(code, s->cursor);
        if (op->behind) {
            s->cursor++;
        } else if (op->kind == OVL_HOST && moment_of(e, rank, s->cursor) > e->now) {
            assert(!s->put_off);
            s->put_off = ++s->cursor;
        } else if (op->kind == OVL_HOST) {
            begin_call(e, rank, s->cursor);
            return;
        } else if (op->launch > 0) {
            s->issuing = true;
            ovl_engine_schedule(e, rank, op->launch, OVL_EVENT_HOST, r->first_op + s->cursor);
            return;
        } else {
            issue(e, rank, s->cursor);
        }
    }
}

void ovl_host_arrive(ovl_engine *e, uint32_t rank, uint32_t op)
{
    ovl_time length = ovl_engine_cost(e, rank, op, ovl_engine_op(e, rank, op))->work;
    ovl_engine_schedule(e, rank, length, OVL_EVENT_HOST, op);
}

void ovl_host_event(ovl_engine *e, uint32_t rank)
{
    const ovl_rank *r = &e->p->ranks[rank];
    ovl_rank_state *s = &e->ranks[rank];
    s->issuing = false;
    if (s->awaits) {
        s->awaits = false;
    } else if (s->makes_up) {
        uint32_t local = s->put_off - 1;
        s->put_off = 0;
        s->makes_up = false;
        ovl_engine_complete(e, rank, r->first_op + local);
    } else if (ovl_code_op(&e->p->codes[r->code], s->cursor)->kind == OVL_HOST) {
        ovl_engine_complete(e, rank, r->first_op + s->cursor++);
    } else {
        issue(e, rank, s->cursor);
    }
    ovl_host_advance(e, rank);
}
