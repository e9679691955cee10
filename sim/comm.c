/*
 * comm.c - communication: who must be there before it starts, what it loads, and who ends with it.
 */
#include "sim/state.h"

/* --- Who is in it --- */

typedef void visitor(ovl_engine *e, uint32_t rank, uint32_t op, uint32_t activity);

OVL_NOINLINE static void each_member(ovl_engine *e, uint32_t activity, visitor *visit)
{
    const ovl_comm *comm = e->activities.data[activity].comm;
    uint32_t k = e->activities.data[activity].k;
    for (uint32_t place = 0; place < comm->n_members; place++) {
        uint32_t rank = e->p->members[comm->first_member + place];
        visit(e, rank, ovl_collective_op(e->p, comm, place, k), activity);
    }
}

/* The sender and the receiver of a transfer are visited in one loop, so that what is done on each
 * is put into the code around it once. */
OVL_ALWAYS_INLINE void each(ovl_engine *e, uint32_t activity, visitor *visit)
{
    const ovl_activity *a = &e->activities.data[activity];
    if (a->comm) {
        each_member(e, activity, visit);
        return;
    }
    for (uint32_t i = a->eager, n = a->background ? 1 : 2; i < n; i++) {
        ovl_member m = e->activities.data[activity].both[i];
        visit(e, m.rank, m.op, activity);
    }
}

void ovl_comm_each(ovl_engine *e, uint32_t activity, visitor *visit)
{
    each(e, activity, visit);
}

/* --- What a rank is in --- */

/* Who has the lowest op mostly came first and leaves first: then the others stay where they are,
 * and the list begins one place later. */

void ovl_comms_begin(ovl_rank_state *s)
{
    ovl_vec_begin_near(&s->comms, s->few_comms);
}

static void close_gap(ovl_rank_state *s)
{
    memmove(s->comms.data - s->gap, s->comms.data, s->comms.len * sizeof *s->comms.data);
    s->comms.data -= s->gap;
    s->comms.cap += s->gap;
    s->gap = 0;
}

void ovl_comms_free(ovl_rank_state *s)
{
    close_gap(s);
    ovl_vec_free_near(&s->comms, s->few_comms);
}

/* Each is moved once for those that left, on average. */
OVL_COLD static void make_room(ovl_rank_state *s)
{
    bool grow = s->gap <= s->comms.len / 2;
    close_gap(s);
    if (grow) {
        s->comms.data =
            ovl_vec_leave_(s->comms.data, s->few_comms, sizeof *s->comms.data, &s->comms.cap);
    }
}

/* In order of op; mostly it is the last. */
static inline void put_in(ovl_rank_state *s, uint32_t op, uint32_t activity)
{
    if (s->comms.len == s->comms.cap) {
        make_room(s);
    }
    ovl_running *comms = s->comms.data;
    uint32_t at = s->comms.len++;
    for (; at > 0 && comms[at - 1].op > op; at--) {
        comms[at] = comms[at - 1];
    }
    comms[at] = (ovl_running){.op = op, .activity = activity};
    s->alike = OVL_MIN(s->alike, at);
}

static inline void take_out(ovl_rank_state *s, uint32_t activity)
{
    ovl_running *comms = s->comms.data;
    uint32_t at = 0;
    while (comms[at].activity != activity) {
        at++;
    }
    s->alike -= at < s->alike;
    for (; at > 0; at--) {
        comms[at] = comms[at - 1];
    }
    s->comms.data++;
    s->comms.len--;
    s->comms.cap--;
    s->gap++;
}

/* --- Starting --- */

/* A member is in the transfer from now on. */
OVL_ALWAYS_INLINE void enter(ovl_engine *e, uint32_t rank, uint32_t op, uint32_t activity)
{
    ovl_account(e, rank);
    ovl_rank_state *s = &e->ranks[rank];
    const ovl_activity *a = &e->activities.data[activity];
    s->latent += a->phase == OVL_PHASE_LATENCY;
    ovl_engine_note(e->start, op, e->now);
    e->pending[op] = OVL_ARRIVED_BIT | (activity + 1);
    put_in(s, op, activity);
}

/* The members of a collective stop waiting for each other. */
static void gather(ovl_engine *e, uint32_t rank, uint32_t op, uint32_t activity)
{
    e->ranks[rank].waiting--;
    enter(e, rank, op, activity);
}

OVL_ALWAYS_INLINE void transfer(ovl_engine *e, uint32_t rank, uint32_t op, uint32_t activity)
{
    (void)op;
    (void)activity;
    ovl_account(e, rank);
    e->ranks[rank].latent--;
    ovl_caps_touch(e, rank);
}

void ovl_comm_transfer(ovl_engine *e, uint32_t activity)
{
    each(e, activity, transfer);
}

OVL_ALWAYS_INLINE void pause(ovl_engine *e, uint32_t rank, uint32_t op, uint32_t activity)
{
    (void)op;
    ovl_account_end(e, rank, activity);
    e->ranks[rank].alike = 0;
    e->ranks[rank].latent++;
    ovl_caps_touch(e, rank);
}

void ovl_comm_pause(ovl_engine *e, uint32_t activity)
{
    each(e, activity, pause);
}

static void start_collective(ovl_engine *e, const ovl_comm *comm, uint32_t k)
{
    uint32_t rank = e->p->members[comm->first_member];
    uint32_t op = ovl_collective_op(e->p, comm, 0, k);
    const ovl_op *o = ovl_engine_op(e, rank, op);
    uint32_t activity = ovl_engine_add_activity(e, rank, op, o, ovl_engine_cost(e, rank, op, o));
    e->activities.data[activity].comm = comm;
    e->activities.data[activity].k = k;
    each_member(e, activity, gather);
    ovl_engine_begin(e, activity);
}

OVL_NOINLINE static void arrive_collective(ovl_engine *e, uint32_t rank, uint32_t op,
                                           const ovl_op *o)
{
    const ovl_rank *r = &e->p->ranks[rank];
    const ovl_comm *comm = ovl_rank_comm(e->p, rank, o->comm);
    uint32_t k = e->p->codes[r->code].collectives_before[op - r->first_op];
    ovl_account(e, rank);
    e->ranks[rank].waiting++;
    if (++e->arrived[comm->first_collective + k] == comm->n_members) {
        start_collective(e, comm, k);
    }
}

static inline uint32_t add_transfer(ovl_engine *e, uint32_t rank, uint32_t send, uint32_t peer,
                                    uint32_t mate, bool background)
{
    const ovl_op *o = ovl_engine_op(e, rank, send);
    uint32_t activity =
        ovl_engine_add_activity(e, rank, send, o, ovl_engine_cost(e, rank, send, o));
    ovl_activity *a = &e->activities.data[activity];
    a->peer = peer;
    a->mate = mate;
    a->eager = o->eager;
    a->k = OVL_NONE;
    a->background = background;
    return activity;
}

/* Both are there. */
OVL_NOINLINE static void meet(ovl_engine *e, uint32_t sender, uint32_t send, uint32_t receiver,
                              uint32_t recv)
{
    uint32_t activity = add_transfer(e, sender, send, receiver, recv, false);
    each(e, activity, enter);
    ovl_engine_begin(e, activity);
}

/* Who comes first says on which rank. */
static inline void arrive_rendezvous(ovl_engine *e, uint32_t rank, uint32_t op, bool is_send)
{
    uint32_t partner = e->p->partner[op], said = e->pending[partner];
    if (!(said & OVL_ARRIVED_BIT)) {
        e->pending[op] = OVL_ARRIVED_BIT | OVL_MEETING | rank;
    } else if (is_send) {
        meet(e, rank, op, OVL_SAID(said), partner);
    } else {
        meet(e, OVL_SAID(said), partner, rank, op);
    }
}

/* The transfer that an eager send has to wait for: of the one before it on its wire, if its bytes
 * are not there yet; else OVL_NONE. */
static uint32_t transfer_before(const ovl_engine *e, uint32_t rank, uint32_t op)
{
    const ovl_rank *r = &e->p->ranks[rank];
    uint32_t offset = ovl_code_ties(&e->p->codes[r->code], op - r->first_op)->back.wire;
    if (offset == 0) {
        return OVL_NONE;
    }
    uint32_t pending = e->pending[op + offset];
    assert(pending & OVL_ARRIVED_BIT);
    return OVL_SAID(pending) == OVL_OVER ? OVL_NONE : OVL_SAID(pending) - 1;
}

/* Its receiver is in it if it has arrived. */
static void leave_queue(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    uint32_t recv = a->mate;
    a->queued = false;
    a->background = !ovl_engine_arrived(e, recv);
    if (!a->background) {
        enter(e, a->peer, recv, activity);
    }
}

/* The sender's stream goes on at once; the bytes leave when those before them are there. */
OVL_NOINLINE static void arrive_eager_send(ovl_engine *e, uint32_t rank, uint32_t op)
{
    uint32_t mate = e->p->partner[op], before = transfer_before(e, rank, op);
    uint32_t activity = add_transfer(e, rank, op, ovl_op_rank(e->p, mate), mate, true);
    ovl_engine_note(e->start, op, e->now);
    e->pending[op] = OVL_ARRIVED_BIT | (activity + 1);
    if (before != OVL_NONE) {
        e->activities.data[activity].queued = true;
        e->activities.data[before].k = activity;
    } else {
        leave_queue(e, activity);
        ovl_engine_begin(e, activity);
    }
    ovl_engine_complete(e, rank, op);
}

static void release_sms(ovl_engine *e, uint32_t rank, uint32_t op)
{
    if (e->caps_matter) {
        ovl_caps_let_go(e, rank, op, ovl_engine_kind(e, rank, op));
    }
}

OVL_NOINLINE static void arrive_eager_recv(ovl_engine *e, uint32_t rank, uint32_t op)
{
    uint32_t send = e->p->partner[op];
    uint32_t running = ovl_engine_arrived(e, send) ? OVL_SAID(e->pending[send]) : 0;
    if (running == OVL_OVER) {
        ovl_engine_note(e->start, op, e->now);
        release_sms(e, rank, op);
        ovl_engine_complete(e, rank, op);
    } else if (running && !e->activities.data[running - 1].queued) {
        e->activities.data[running - 1].background = false;
        enter(e, rank, op, running - 1);
    }
}

OVL_ALWAYS_INLINE void arrive(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_op *o)
{
    if (o->kind == OVL_COLLECTIVE) {
        arrive_collective(e, rank, op, o);
    } else if (!o->eager) {
        arrive_rendezvous(e, rank, op, o->kind == OVL_SEND);
    } else if (o->kind == OVL_RECV) {
        arrive_eager_recv(e, rank, op);
    } else {
        arrive_eager_send(e, rank, op);
    }
}

/* The sender of an eager transfer holds no SMs. */
OVL_NOINLINE static void hold_and_arrive(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_op *o)
{
    if (o->kind != OVL_SEND || !o->eager) {
        ovl_caps_hold(e, rank, op, ovl_engine_kind(e, rank, op));
    }
    arrive(e, rank, op, o);
}

void ovl_comm_arrive(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_op *o)
{
    if (e->caps_matter) {
        hold_and_arrive(e, rank, op, o);
    } else {
        arrive(e, rank, op, o);
    }
}

/* --- Ending
 * ------------------------------------------------------------------------------------------------
 */

OVL_ALWAYS_INLINE void leave(ovl_engine *e, uint32_t rank, uint32_t op, uint32_t activity)
{
    ovl_account_end(e, rank, activity);
    ovl_rank_state *s = &e->ranks[rank];
    take_out(s, activity);
    s->latent -= e->activities.data[activity].phase == OVL_PHASE_LATENCY;
    release_sms(e, rank, op);
    e->pending[op] = OVL_ARRIVED_BIT;
    ovl_engine_complete(e, rank, op);
}

/* The next on the wire begins, by an event even where it has no latency: so a queue of any length
 * of transfers that take nothing is not a chain of calls. */
static void land(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    uint32_t next = a->k;
    e->pending[a->op] = OVL_ARRIVED_BIT | OVL_OVER;
    ovl_engine_note(e->landed, a->op, e->now);
    ovl_engine_step(e, a->op, OVL_LANDED);
    if (next != OVL_NONE) {
        leave_queue(e, next);
        ovl_engine_schedule(e, OVL_HANDLE_ACTIVITY(e, next), e->activities.data[next].cost->latency,
                            OVL_EVENT_END, e->activities.data[next].op);
    }
}

void ovl_comm_end(ovl_engine *e, uint32_t activity)
{
    if (e->activities.data[activity].eager) {
        land(e, activity);
    }
    each(e, activity, leave);
}
