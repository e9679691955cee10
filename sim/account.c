/*
 * account.c - who gets each instant of a rank. When all that happens at an instant has, it is
 * chosen whose the time is from then on; only when another choice is made the time that passed is
 * given away. Whole picoseconds of work telescope, so that the progress of an activity over all its
 * intervals sums to its duration exactly; and they need no look at the rates in between, so that a
 * change of rate concerns a rank only where the fastest of several is chosen.
 */
#include "sim/state.h"

/* --- Giving away the time that passed --- */

static inline ovl_time done_by(const ovl_engine *e, uint32_t activity)
{
    return ovl_clock_progress(e, &e->activities.data[activity], e->now);
}

/* The term, and the stretch that stands behind it. */
static void give_term(ovl_engine *e, uint32_t rank)
{
    ovl_rank_state *s = &e->ranks[rank];
    ovl_time time = e->now - s->accounted;
    if (time == 0) {
        return;
    }
    ovl_time *term = &e->times[rank].term[s->is.term];
    s->accounted = e->now;
    if (s->is.main == OVL_NONE) {
        term[0] += time;
        return;
    }
    ovl_time done = done_by(e, s->is.main), work = done - s->main_done;
    s->main_done = done;
    term[0] += work;
    term[1] += time - work;
}

/* Communication beside a kernel. */
static void give_hidden(ovl_engine *e, uint32_t rank)
{
    ovl_rank_state *s = &e->ranks[rank];
    ovl_time time = e->now - s->hidden_accounted;
    s->hidden_accounted = e->now;
    if (time == 0 || !s->is.hides) {
        return;
    }
    e->times[rank].hidden += time;
    if (s->is.beside != OVL_NONE) {
        ovl_time done = done_by(e, s->is.beside);
        e->times[rank].hidden_stretch += time - (done - s->beside_done);
        s->beside_done = done;
    }
}

void ovl_account_end(ovl_engine *e, uint32_t rank, uint32_t activity)
{
    ovl_rank_state *s = &e->ranks[rank];
    ovl_account(e, rank);
    if (s->is.main == activity) {
        give_term(e, rank);
        s->is.main = OVL_NONE;
    } else if (s->is.beside == activity) {
        give_hidden(e, rank);
        s->is.beside = OVL_NONE;
    }
}

static void account_member(ovl_engine *e, uint32_t rank, uint32_t op, uint32_t activity)
{
    (void)op;
    (void)activity;
    const ovl_rank_state *s = &e->ranks[rank];
    if (s->kernels.len > 1 || (s->kernels.len == 0 && s->comms.len > 1)) {
        ovl_account(e, rank);
    }
}

/* Where it runs beside others of its kind it may be another that is the fastest. */
void ovl_account_activity(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    if (a->kind == OVL_KERNEL || a->kind == OVL_COPY) {
        account_member(e, a->rank, a->op, activity);
    } else {
        ovl_comm_each(e, activity, account_member);
    }
}

void ovl_account_settle(ovl_engine *e)
{
    for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
        e->times[rank].end = e->ranks[rank].ended;
        if (!e->options->step_only) {
            give_term(e, rank);
            give_hidden(e, rank);
        }
    }
}

void ovl_account_all(ovl_engine *e)
{
    ovl_account_settle(e);
    for (uint32_t rank = 0; rank < e->p->n_ranks && e->counted; rank++) {
        e->times[rank] = e->counted[rank];
        e->times[rank].end = e->ranks[rank].ended;
    }
}

/* --- Counting an interval only --- */

static void forget(ovl_rank_times *t)
{
    *t = (ovl_rank_times){0};
}

/* Until the interval begins everything is forgotten; what was counted when it ends is put aside,
 * and comes back at the end of the run. */
void ovl_account_interval(ovl_engine *e, ovl_time until)
{
    const ovl_run_options *o = e->options;
    if (!e->counting && until >= o->count_from) {
        e->now = OVL_MAX(e->now, o->count_from);
        for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
            give_term(e, rank);
            give_hidden(e, rank);
            forget(&e->times[rank]);
        }
        e->counting = true;
    }
    if (e->counting && !e->counted && until >= o->count_to) {
        e->now = OVL_MAX(e->now, o->count_to);
        e->counted = OVL_NEW_ARRAY(e->arena, ovl_rank_times, e->p->n_ranks);
        for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
            give_term(e, rank);
            give_hidden(e, rank);
            e->counted[rank] = e->times[rank];
        }
    }
}

/* --- Who is the fastest --- */

/* A rank on which the fastest is chosen watches the clocks of all it chooses from, but for time:
 * that one never changes. */
static void watch(const ovl_engine *e, const ovl_rank_state *s, uint32_t rank)
{
    for (uint32_t i = 0; i < s->rivals.len && s->rivals.len > 1; i++) {
        ovl_clock *c = &e->clocks.data[s->rivals.data[i].clock];
        if (s->rivals.data[i].clock != OVL_CLOCK_TIME) {
            ovl_vec_push(&c->watchers, rank);
            c->watched = true;
        }
    }
}

static void unwatch(const ovl_engine *e, const ovl_rank_state *s, uint32_t rank)
{
    for (uint32_t i = 0; i < s->rivals.len && s->rivals.len > 1; i++) {
        ovl_clock *c = &e->clocks.data[s->rivals.data[i].clock];
        uint32_t k = 0;
        if (s->rivals.data[i].clock == OVL_CLOCK_TIME) {
            continue;
        }
        while (c->watchers.data[k] != rank) {
            k++;
        }
        c->watchers.data[k] = c->watchers.data[--c->watchers.len];
        c->watched = c->watchers.len > 0;
    }
}

void ovl_account_rate(ovl_engine *e, uint32_t clock, bool faster)
{
    const ovl_clock *c = &e->clocks.data[clock];
    for (uint32_t i = 0; i < c->watchers.len; i++) {
        uint32_t main = e->ranks[c->watchers.data[i]].is.main;
        bool wins = main != OVL_NONE && e->activities.data[main].clock == clock;
        if (wins != faster) {
            ovl_account_touch(e, c->watchers.data[i]);
        }
    }
}

/* Enters one into the race: of each clock the lowest op. */
static void add_rival(const ovl_engine *e, ovl_rank_state *s, ovl_running r)
{
    const ovl_activity *a = &e->activities.data[r.activity];
    for (uint32_t i = 0; i < s->rivals.len; i++) {
        ovl_rival *other = &s->rivals.data[i];
        if (other->clock == a->clock) {
            other->is = r.op < other->is.op ? r : other->is;
            return;
        }
    }
    ovl_vec_push(&s->rivals, (ovl_rival){.is = r, .clock = a->clock});
}

/* The fastest; ties go to the lowest op. */
static uint32_t winner(const ovl_engine *e, const ovl_rank_state *s)
{
    ovl_running best = s->rivals.data[0].is;
    uint64_t rate = e->clocks.data[s->rivals.data[0].clock].rate;
    for (uint32_t i = 1; i < s->rivals.len; i++) {
        const ovl_rival *other = &s->rivals.data[i];
        uint64_t faster = e->clocks.data[other->clock].rate;
        if (faster > rate || (faster == rate && other->is.op < best.op)) {
            best = other->is;
            rate = faster;
        }
    }
    return best.activity;
}

static uint32_t fastest_kernel(const ovl_engine *e, ovl_rank_state *s)
{
    for (uint32_t i = 0; i < s->kernels.len; i++) {
        uint32_t activity = s->kernels.data[i];
        add_rival(e, s, (ovl_running){.op = e->activities.data[activity].op, .activity = activity});
    }
    return winner(e, s);
}

static inline uint32_t lowest_transfer(const ovl_rank_state *s)
{
    return s->comms.data[0].activity;
}

/* Mostly all are equally fast, whatever happens. */
static uint32_t fastest_transfer(const ovl_engine *e, ovl_rank_state *s)
{
    uint32_t clock = e->activities.data[s->comms.data[0].activity].clock;
    uint32_t n = s->comms.len, same = 1;
    while (same < n && e->activities.data[s->comms.data[same].activity].clock == clock) {
        same++;
    }
    if (same == n) {
        return lowest_transfer(s);
    }
    for (uint32_t i = 0; i < n; i++) {
        add_rival(e, s, s->comms.data[i]);
    }
    return winner(e, s);
}

/* --- Choosing whose the time will be --- */

static ovl_choice choose(const ovl_engine *e, ovl_rank_state *s)
{
    bool transfer = s->comms.len && s->latent == 0; /* all of them, then */
    ovl_choice c = {.main = OVL_NONE, .beside = OVL_NONE, .term = OVL_IDLE};
    if (s->kernels.len) {
        c.term = OVL_COMPUTE;
        c.main = s->kernels.len == 1 ? s->kernels.data[0] : fastest_kernel(e, s);
        c.hides = s->comms.len > 0;
        c.beside = transfer ? lowest_transfer(s) : OVL_NONE;
    } else if (transfer) {
        c.term = OVL_COMM_TRANSFER;
        c.main = s->comms.len == 1 ? s->comms.data[0].activity : fastest_transfer(e, s);
    } else if (s->comms.len) {
        c.term = OVL_COMM_LATENCY;
    } else if (s->copying[0] || s->copying[1]) {
        c.term = OVL_COPYING;
    } else if (s->waiting) {
        c.term = OVL_WAIT_LATE_RANK;
    }
    return c;
}

/* Where only rates changed another winner is all that matters. */
static bool keeps_winner(const ovl_engine *e, const ovl_rank_state *s)
{
    return !s->changed && s->rivals.len && winner(e, s) == s->is.main;
}

static void open_rank(ovl_engine *e, uint32_t rank)
{
    ovl_rank_state *s = &e->ranks[rank];
    if (s->rivals.len) {
        unwatch(e, s, rank);
        s->rivals.len = 0;
    }
    ovl_choice now = choose(e, s);
    if (s->rivals.len) {
        watch(e, s, rank);
    }
    if (now.main != s->is.main || now.term != s->is.term) {
        give_term(e, rank);
        s->main_done = now.main != OVL_NONE ? done_by(e, now.main) : 0;
    }
    if (now.beside != s->is.beside || now.hides != s->is.hides) {
        give_hidden(e, rank);
        s->beside_done = now.beside != OVL_NONE ? done_by(e, now.beside) : 0;
    }
    s->is = now;
}

void ovl_account_open(ovl_engine *e)
{
    for (uint32_t i = 0; i < e->touched.len; i++) {
        ovl_rank_state *s = &e->ranks[e->touched.data[i]];
        if (!keeps_winner(e, s)) {
            open_rank(e, e->touched.data[i]);
        }
        s->touched = s->changed = false;
    }
    e->touched.len = 0;
}
