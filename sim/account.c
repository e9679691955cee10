/*
 * account.c - who gets each instant of a rank. Work done is a double; its whole picoseconds
 * telescope, so that the progress of an activity over all its intervals sums to its duration
 * exactly.
 */
#include "sim/state.h"

#include <math.h>

/* Whole picoseconds of isolated work done at `t`, at most all of it. */
static ovl_time progress_at(const ovl_activity *a, ovl_time t)
{
    double done = a->done + a->rate * (double)(t - a->since);
    return OVL_MIN((ovl_time)llround(done), a->total);
}

/* The activity in its fluid phase with the highest rate; ties go to the lowest op. NULL without
 * any. */
static const ovl_activity *fastest(const ovl_engine *e, const uint32_t *list, uint32_t n)
{
    const ovl_activity *best = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const ovl_activity *a = &e->activities.data[list[i]];
        if (a->phase == OVL_PHASE_FLUID &&
            (!best || a->rate > best->rate || (a->rate == best->rate && a->op < best->op))) {
            best = a;
        }
    }
    return best;
}

static bool any_in_latency(const ovl_engine *e, const ovl_rank_state *s)
{
    for (uint32_t i = 0; i < s->comms.len; i++) {
        if (e->activities.data[s->comms.data[i]].phase == OVL_PHASE_LATENCY) {
            return true;
        }
    }
    return false;
}

/* Progress of the communication under a kernel: all of the time while one is in its latency. */
static ovl_time comm_progress(const ovl_engine *e, const ovl_rank_state *s, ovl_time from,
                              ovl_time to)
{
    if (any_in_latency(e, s)) {
        return to - from;
    }
    const ovl_activity *a = fastest(e, s->comms.data, s->comms.len);
    return a ? progress_at(a, to) - progress_at(a, from) : 0;
}

static void account_kernel(const ovl_engine *e, const ovl_rank_state *s, ovl_rank_times *t,
                           ovl_time from, ovl_time to)
{
    const ovl_activity *a = fastest(e, s->kernels.data, s->kernels.len);
    ovl_time progress = progress_at(a, to) - progress_at(a, from);
    t->term[OVL_COMPUTE] += progress;
    t->term[OVL_COMPUTE_STRETCH] += to - from - progress;
    if (s->comms.len) {
        t->hidden += to - from;
        t->hidden_stretch += to - from - comm_progress(e, s, from, to);
    }
}

static void account_comm(const ovl_engine *e, const ovl_rank_state *s, ovl_rank_times *t,
                         ovl_time from, ovl_time to)
{
    if (any_in_latency(e, s)) {
        t->term[OVL_COMM_LATENCY] += to - from;
        return;
    }
    ovl_time progress = comm_progress(e, s, from, to);
    t->term[OVL_COMM_TRANSFER] += progress;
    t->term[OVL_COMM_STRETCH] += to - from - progress;
}

void ovl_account(ovl_engine *e, uint32_t rank)
{
    ovl_rank_state *s = &e->ranks[rank];
    ovl_rank_times *t = &e->times[rank];
    ovl_time from = s->accounted, to = e->now;
    if (from == to) {
        return;
    }
    s->accounted = to;
    if (s->kernels.len) {
        account_kernel(e, s, t, from, to);
    } else if (s->comms.len) {
        account_comm(e, s, t, from, to);
    } else if (s->copying[0] || s->copying[1]) {
        t->term[OVL_COPYING] += to - from;
    } else if (s->waiting) {
        t->term[OVL_WAIT_LATE_RANK] += to - from;
    } else {
        t->term[OVL_IDLE] += to - from;
    }
}
