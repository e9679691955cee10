/*
 * account.c - who gets each instant of a rank. When all that happens at an instant has, it is
 * chosen whose the time is from then on. When that began is not kept: it is taken off the sums of
 * the rank at once, and what the clock shows when another is chosen is added. So a sum is whole
 * when nobody's time is being counted, and what need not be known, as where the time goes from one
 * kernel to the next, is not looked at. Whole picoseconds of work telescope likewise, so that the
 * progress of an activity over all its intervals sums to its duration exactly; and they need no
 * look at the rates in between, so that a change of rate concerns a rank only where the fastest of
 * several is chosen.
 *
 * Example: a kernel of 10 ps runs from 5 to 25 ps. When it is chosen it has done nothing: 0 is
 * taken off `compute` and 5 - 0 off its stretch. At its end 10 and 25 - 10 are added: of the 20 ps
 * it ran 10 are progress and 10 are stretch.
 */
#include "sim/state.h"

/* --- Giving away time --- */

static inline ovl_time done_by(const ovl_engine *e, uint32_t activity)
{
    return ovl_clock_progress(e, &e->activities.data[activity], e->now);
}

/* The time of the rank is that of a choice until now (sign is 1), or from now on (-1). */
OVL_ALWAYS_INLINE void count_main(const ovl_engine *e, ovl_rank_times *t, uint32_t main,
                                  uint32_t term, ovl_time sign)
{
    if (main != OVL_NONE) {
        ovl_time done = done_by(e, main);
        t->term[term] += sign * done;
        t->term[term + 1] += sign * (e->now - done);
    } else if (term != OVL_TERM_COUNT) {
        t->term[term] += sign * e->now;
    }
}

/* The same for the communication that a kernel hides. */
OVL_ALWAYS_INLINE void count_beside(const ovl_engine *e, ovl_rank_times *t, uint32_t beside,
                                    ovl_time sign)
{
    if (beside != OVL_NONE) {
        t->hidden_stretch += sign * (e->now - done_by(e, beside));
    }
}

static void count(const ovl_engine *e, uint32_t rank, ovl_time sign)
{
    const ovl_rank_state *s = &e->ranks[rank];
    ovl_rank_times *t = &e->times[rank];
    count_main(e, t, s->main, s->term, sign);
    count_beside(e, t, s->beside, sign);
    t->hidden += s->hides ? sign * e->now : 0;
}

static void account_member(ovl_engine *e, uint32_t rank, uint32_t op, uint32_t activity)
{
    (void)op;
    (void)activity;
    ovl_rank_state *s = &e->ranks[rank];
    s->alike = 0;
    if (s->kernels.len > 1 || (s->kernels.len == 0 && s->n_comms > 1)) {
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
            count(e, rank, 1);
        }
    }
}

void ovl_account_go_on(ovl_engine *e)
{
    for (uint32_t rank = 0; rank < e->p->n_ranks && !e->options->step_only; rank++) {
        count(e, rank, -1);
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
            forget(&e->times[rank]);
            count(e, rank, -1);
        }
        e->counting = true;
    }
    if (e->counting && !e->counted && until >= o->count_to) {
        e->now = OVL_MAX(e->now, o->count_to);
        e->counted = OVL_NEW_ARRAY(e->arena, ovl_rank_times, e->p->n_ranks);
        for (uint32_t rank = 0; rank < e->p->n_ranks; rank++) {
            count(e, rank, 1);
            e->counted[rank] = e->times[rank];
            count(e, rank, -1);
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
        uint32_t main = e->ranks[c->watchers.data[i]].main;
        bool wins = main != OVL_NONE && e->activities.data[main].clock == clock;
        if (wins != faster) {
            ovl_account_touch(e, c->watchers.data[i], OVL_RATES);
        }
    }
}

/* Enters one into the race: of each clock the lowest op. */
OVL_ALWAYS_INLINE void add_rival(ovl_rank_state *s, uint32_t op, uint32_t activity, uint32_t clock)
{
    ovl_running r = {.op = op, .activity = activity};
    for (uint32_t i = 0; i < s->rivals.len; i++) {
        ovl_rival *other = &s->rivals.data[i];
        if (other->clock == clock) {
            other->is = op < other->is.op ? r : other->is;
            return;
        }
    }
    ovl_vec_push(&s->rivals, (ovl_rival){.is = r, .clock = clock});
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

OVL_NOINLINE static uint32_t fastest_kernel(const ovl_engine *e, ovl_rank_state *s, uint32_t rank)
{
    for (uint32_t i = 0; i < s->kernels.len; i++) {
        uint32_t activity = s->kernels.data[i];
        const ovl_activity *a = &e->activities.data[activity];
        add_rival(s, a->op, activity, a->clock);
    }
    s->races = true;
    watch(e, s, rank);
    return winner(e, s);
}

OVL_NOINLINE static uint32_t fastest_transfer(const ovl_engine *e, ovl_rank_state *s, uint32_t rank)
{
    for (uint32_t i = 0; i < s->n_comms; i++) {
        ovl_running r = s->comms[i];
        add_rival(s, r.op, r.activity, e->activities.data[r.activity].clock);
    }
    s->races = true;
    watch(e, s, rank);
    return winner(e, s);
}

OVL_NOINLINE static void end_race(const ovl_engine *e, ovl_rank_state *s, uint32_t rank)
{
    unwatch(e, s, rank);
    s->rivals.len = 0;
    s->races = false;
}

/* Mostly all transfers of a rank are equally fast, whatever happens: they are on one clock. Those
 * at the front of which that is known are not looked at again, until one of them changes its clock.
 */
static inline bool all_alike(const ovl_engine *e, ovl_rank_state *s)
{
    const ovl_running *comms = s->comms;
    uint32_t n = s->n_comms, clock = e->activities.data[comms[0].activity].clock;
    uint32_t i = OVL_MAX(s->alike, 1);
    while (i < n && e->activities.data[comms[i].activity].clock == clock) {
        i++;
    }
    s->alike = i;
    return i == n;
}

/* --- Choosing whose the time will be --- */

OVL_ALWAYS_INLINE void set_main(const ovl_engine *e, ovl_rank_state *s, ovl_rank_times *t,
                                uint32_t main, ovl_term term)
{
    count_main(e, t, s->main, s->term, 1);
    count_main(e, t, main, term, -1);
    s->main = main;
    s->term = (uint8_t)term;
}

OVL_ALWAYS_INLINE void set_beside(const ovl_engine *e, ovl_rank_state *s, ovl_rank_times *t,
                                  uint32_t beside)
{
    count_beside(e, t, s->beside, 1);
    count_beside(e, t, beside, -1);
    s->beside = beside;
}

OVL_ALWAYS_INLINE void set_hides(const ovl_engine *e, ovl_rank_state *s, ovl_rank_times *t,
                                 bool hides)
{
    t->hidden += hides ? -e->now : e->now;
    s->hides = hides;
}

/* While one is in its latency none counts as in transfer. */
static inline bool is_transfer(const ovl_rank_state *s)
{
    return s->n_comms && s->latent == 0;
}

/* A kernel runs. Who is chosen tells the term: only where it is another one the term may be. */
static inline void open_compute(const ovl_engine *e, ovl_rank_state *s, ovl_rank_times *t,
                                uint32_t rank)
{
    uint32_t beside = is_transfer(s) ? s->comms[0].activity : OVL_NONE;
    uint32_t main = s->kernels.len == 1 ? s->kernels.data[0] : fastest_kernel(e, s, rank);
    if (beside != s->beside) {
        set_beside(e, s, t, beside);
    }
    if (main != s->main) {
        set_main(e, s, t, main, OVL_COMPUTE);
    }
    if (s->hides != (s->n_comms > 0)) {
        set_hides(e, s, t, !s->hides);
    }
}

/* Nobody's progress matters. */
static inline ovl_term term_of_none(const ovl_rank_state *s)
{
    return s->n_comms                          ? OVL_COMM_LATENCY
           : s->copying[0] + s->copying[1] > 0 ? OVL_COPYING
           : s->waiting                        ? OVL_WAIT_LATE_RANK
                                               : OVL_IDLE;
}

static inline void open_other(const ovl_engine *e, ovl_rank_state *s, ovl_rank_times *t,
                              uint32_t rank)
{
    if (s->hides) {
        set_hides(e, s, t, false);
        set_beside(e, s, t, OVL_NONE);
    }
    if (is_transfer(s)) {
        uint32_t main = all_alike(e, s) ? s->comms[0].activity : fastest_transfer(e, s, rank);
        if (main != s->main) {
            set_main(e, s, t, main, OVL_COMM_TRANSFER);
        }
    } else {
        ovl_term term = term_of_none(s);
        if (term != s->term) {
            set_main(e, s, t, OVL_NONE, term);
        }
    }
}

static inline void open_rank(const ovl_engine *e, ovl_rank_state *s, uint32_t rank)
{
    ovl_rank_times *t = &e->times[rank];
    if (s->touched == OVL_RATES) {
        uint32_t main = winner(e, s);
        if (main != s->main) {
            set_main(e, s, t, main, s->term);
        }
        return;
    }
    if (s->races) {
        end_race(e, s, rank);
    }
    if (s->kernels.len) {
        open_compute(e, s, t, rank);
    } else {
        open_other(e, s, t, rank);
    }
}

void ovl_account_open(ovl_engine *e)
{
    const uint32_t *rank = e->touched.data, *end = rank + e->touched.len;
    for (; rank < end; rank++) {
        ovl_rank_state *s = &e->ranks[*rank];
        open_rank(e, s, *rank);
        s->touched = OVL_UNTOUCHED;
    }
    e->touched.len = 0;
}
