/*
 * caps.c - how fast kernels and collectives may run at most: SMs held by communication, and
 * measured interference.
 */
#include "sim/state.h"
#include "sim/units.h"

#include <math.h>

/* Without a count of SMs nothing can hold any. */
static bool holds(const ovl_engine *e, const ovl_cost_kind *cost)
{
    switch (e->options->interference) {
    case OVL_INTERFERENCE_NONE:
        return false;
    case OVL_INTERFERENCE_SHARED:
        return e->p->sms > 0 && cost->sms > 0;
    case OVL_INTERFERENCE_MEASURED:
        break;
    }
    return true;
}

void ovl_caps_hold(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_cost_kind *cost)
{
    if (holds(e, cost)) {
        ovl_vec_push(&e->ranks[rank].holders, op);
        e->ranks[rank].held += cost->sms;
        ovl_caps_touch(e, rank);
    }
}

void ovl_caps_let_go(ovl_engine *e, uint32_t rank, uint32_t op, const ovl_cost_kind *cost)
{
    ovl_rank_state *s = &e->ranks[rank];
    uint32_t i = 0;
    if (!holds(e, cost)) {
        return;
    }
    while (s->holders.data[i] != op) {
        i++;
    }
    s->holders.data[i] = s->holders.data[--s->holders.len];
    s->held -= cost->sms;
    ovl_caps_touch(e, rank);
}

static const ovl_pair *pair_of(const ovl_engine *e, const ovl_cost_kind *kernel,
                               const ovl_cost_kind *comm)
{
    if (kernel->klass == OVL_NONE || comm->klass == OVL_NONE) {
        return NULL;
    }
    return &e->p->pairs[kernel->klass * e->p->n_coll_classes + comm->klass];
}

static bool in_transfer(const ovl_engine *e, uint32_t op)
{
    uint32_t word = e->pending[op], a = word & OVL_MEETING ? 0 : OVL_SAID(word);
    return a && e->activities.data[a - 1].phase == OVL_PHASE_FLUID;
}

/* --- Kernels
 * -----------------------------------------------------------------------------------------------
 */

/* What the communication that has arrived on the rank means for one kernel. */
typedef struct pressure {
    uint64_t held; /* SMs */
    double factor; /* measured */
} pressure;

static pressure pressure_on(ovl_engine *e, uint32_t rank, const ovl_cost_kind *kernel)
{
    const ovl_rank_state *s = &e->ranks[rank];
    bool measured = e->options->interference == OVL_INTERFERENCE_MEASURED;
    pressure p = {0, 1};
    if (!measured) {
        p.held = s->held;
        return p;
    }
    for (uint32_t i = 0; i < s->holders.len; i++) {
        const ovl_cost_kind *comm = ovl_engine_kind(e, rank, s->holders.data[i]);
        const ovl_pair *pair = pair_of(e, kernel, comm);
        bool transfer = in_transfer(e, s->holders.data[i]);
        if (pair && pair->kernel_factor > 0) {
            p.factor *= transfer ? pair->kernel_factor : 1;
            continue;
        }
        p.held += comm->sms;
        if (pair && transfer) {
            e->unmeasured[pair - e->p->pairs] = true;
        }
    }
    return p;
}

static const ovl_cost_kind *kind_of(const ovl_engine *e, uint32_t activity)
{
    return ovl_activity_kind(e, &e->activities.data[activity]);
}

static uint64_t sms_wanted_by_all(const ovl_engine *e, uint32_t rank)
{
    const ovl_rank_state *s = &e->ranks[rank];
    uint32_t sms = ovl_gpu_of(e->p, rank).sms;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->kernels.len; i++) {
        sum += ovl_sms_wanted(sms, kind_of(e, s->kernels.data[i]));
    }
    return sum;
}

static uint64_t waves(uint64_t blocks, uint64_t sms)
{
    return (blocks + sms - 1) / sms;
}

/* By whole waves if the kernel gives its blocks, else in proportion to the SMs it gets. */
static double sm_cap(const ovl_engine *e, uint32_t sms, const ovl_cost *c, uint64_t held,
                     uint64_t wanted_by_all)
{
    const ovl_cost_kind *kind = ovl_kind_of(e->p, c);
    uint32_t want = ovl_sms_wanted(sms, kind);
    if (!want || !c->compute || !sms) {
        return 1;
    }
    double left = (double)(sms - held), got = want;
    if ((double)wanted_by_all > left) {
        got = left * want / (double)wanted_by_all;
    }
    double speed = got / want;
    if (kind->blocks) {
        uint64_t whole = (uint64_t)fmax(1, floor(got));
        speed = (double)waves(kind->blocks, want) / (double)waves(kind->blocks, whole);
    }
    return fmin(1, speed * (double)c->work / (double)c->compute);
}

/* Of one operation that is known before the run; of several it shows when they meet. */
static void nothing_left(ovl_engine *e, uint32_t op, uint32_t sms, uint64_t held)
{
    char at[OVL_UNITS_TEXT];
    ovl_engine_fail(e, OVL_E_INPUT, op,
                    ovl_arena_printf(e->errs->arena,
                                     "at %s communication that has arrived holds %" PRIu64
                                     " of its %" PRIu32
                                     " SMs, and nothing is left for it: give that fewer `sms`",
                                     ovl_print_time(at, e->now), held, sms));
}

static void update_kernel(ovl_engine *e, uint32_t rank, uint32_t activity, uint64_t wanted_by_all)
{
    const ovl_activity *a = &e->activities.data[activity];
    pressure p = pressure_on(e, rank, kind_of(e, activity));
    uint32_t sms = ovl_gpu_of(e->p, rank).sms;
    if (sms && p.held >= sms && ovl_sms_wanted(sms, kind_of(e, activity))) {
        nothing_left(e, a->op, sms, p.held);
        return;
    }
    double cap = sm_cap(e, sms, a->cost, p.held, wanted_by_all);
    uint32_t bound = p.factor > 1 ? OVL_LIMIT_MEASURED : OVL_LIMIT_SMS;
    ovl_engine_set_cap(e, activity, fmin(1, cap / p.factor), bound);
}

/* --- Collectives --- */

bool ovl_caps_measured(ovl_engine *e, uint32_t rank, const ovl_activity *collective)
{
    if (e->options->interference != OVL_INTERFERENCE_MEASURED) {
        return false;
    }
    const ovl_rank_state *s = &e->ranks[rank];
    for (uint32_t i = 0; i < s->kernels.len; i++) {
        const ovl_pair *pair =
            pair_of(e, kind_of(e, s->kernels.data[i]), ovl_activity_kind(e, collective));
        if (!pair || !(pair->kernel_factor > 0)) {
            return false;
        }
    }
    return true;
}

/* Lowers the cap of a communication to what the kernels of one member leave it. */
static void lower_cap(ovl_engine *e, uint32_t rank, uint32_t op, uint32_t activity)
{
    (void)op;
    ovl_activity *a = &e->activities.data[activity];
    const ovl_rank_state *s = &e->ranks[rank];
    double factor = 1;
    for (uint32_t i = 0; i < s->kernels.len; i++) {
        const ovl_pair *pair = pair_of(e, kind_of(e, s->kernels.data[i]), kind_of(e, activity));
        if (pair && pair->collective_factor > 0) {
            factor *= pair->collective_factor;
        }
    }
    a->cap = fmin(a->cap, 1 / factor);
}

static bool same_uses(const ovl_engine *e, const ovl_activity *a)
{
    const ovl_share_class *m = &e->share.classes.data[a->slot];
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->uses.len; i++) {
        if (e->uses.data[i].rate == 0) {
            continue;
        }
        if (n == m->n_uses || m->uses[n].resource != e->uses.data[i].resource ||
            m->uses[n].rate != e->uses.data[i].rate) {
            return false;
        }
        n++;
    }
    return n == m->n_uses;
}

/* A collective takes its worst member's factor, and joins anew if what it demands of HBM changed.
 */
static void update_comm(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    double old = a->cap;
    a->cap = 1;
    ovl_comm_each(e, activity, lower_cap);
    a = &e->activities.data[activity];
    double cap = a->cap;
    a->cap = old;
    ovl_engine_set_cap(e, activity, cap, OVL_LIMIT_MEASURED);
    ovl_route_uses(e, activity);
    a = &e->activities.data[activity];
    if (a->shares ? !same_uses(e, a) : e->uses.len > 0) {
        ovl_engine_rejoin(e, activity);
    }
}

static void touch_comms(ovl_engine *e, uint32_t rank)
{
    const ovl_rank_state *s = &e->ranks[rank];
    for (uint32_t i = 0; i < s->comms.len; i++) {
        ovl_activity *a = &e->activities.data[s->comms.data[i].activity];
        if (a->phase == OVL_PHASE_FLUID && !a->dirty) {
            a->dirty = true;
            ovl_vec_push(&e->dirty_comms, s->comms.data[i].activity);
        }
    }
}

void ovl_caps_update(ovl_engine *e)
{
    for (uint32_t i = 0; i < e->dirty_caps.len && !e->failed; i++) {
        uint32_t rank = e->dirty_caps.data[i];
        ovl_rank_state *s = &e->ranks[rank];
        s->caps_dirty = false;
        uint64_t wanted = sms_wanted_by_all(e, rank);
        for (uint32_t k = 0; k < s->kernels.len && !e->failed; k++) {
            update_kernel(e, rank, s->kernels.data[k], wanted);
        }
        if (e->options->interference == OVL_INTERFERENCE_MEASURED) {
            touch_comms(e, rank);
        }
    }
    e->dirty_caps.len = 0;
    for (uint32_t i = 0; i < e->dirty_comms.len && !e->failed; i++) {
        e->activities.data[e->dirty_comms.data[i]].dirty = false;
        update_comm(e, e->dirty_comms.data[i]);
    }
    e->dirty_comms.len = 0;
}
