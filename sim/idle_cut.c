#include "sim/idle_cut.h"

__extension__ typedef __int128 wide;

/* What is shared by totals: structural, imbalance and dependency, as far as they are. */
enum { SHARED = OVL_PEEL_DEPENDENCY + 1 };

static ovl_idle_kind kind_of(const ovl_idle_gap *g, int peel)
{
    static const ovl_idle_kind kinds[OVL_PEEL_COUNT] = {[OVL_PEEL_IMBALANCE] = OVL_IDLE_IMBALANCE,
                                                        [OVL_PEEL_DEPENDENCY] = OVL_IDLE_DEPENDENCY,
                                                        [OVL_PEEL_PAUSE] = OVL_IDLE_PAUSE,
                                                        [OVL_PEEL_HOST] = OVL_IDLE_HOST};
    if (peel == OVL_PEEL_STRUCTURAL) {
        return g->forward ? OVL_IDLE_FILL : OVL_IDLE_DRAIN;
    }
    return kinds[peel];
}

static ovl_time take(ovl_time *rest, ovl_time most)
{
    ovl_time taken = OVL_MIN(*rest, OVL_MAX(0, most));
    *rest -= taken;
    return taken;
}

/* --- By kernels --- */

/* Gives what is left to share. The transfers of the gap are part of that if transfers are. */
static ovl_time cut_by_kernel(ovl_idle_gap *g, ovl_peel own)
{
    const ovl_waited *w = &g->waited;
    bool shared = own >= OVL_PEEL_DEPENDENCY;
    ovl_time moved = w->time[OVL_WAIT_DEPENDENCY], rest = w->time[OVL_WAIT_COMPUTE];
    ovl_time open = take(&rest, g->wait[own]) + (shared ? moved : 0);
    memset(g->piece, 0, sizeof g->piece);
    g->piece[OVL_IDLE_SCHEDULE] = w->time[OVL_WAIT_SCHEDULE];
    g->piece[OVL_IDLE_PAUSE] = w->time[OVL_WAIT_PAUSE];
    g->piece[OVL_IDLE_HOST] = w->time[OVL_WAIT_HOST];
    g->piece[OVL_IDLE_DEPENDENCY] = shared ? 0 : moved;
    for (int k = (int)own + 1; k < OVL_PEEL_COUNT; k++) {
        g->piece[kind_of(g, k)] += take(&rest, g->wait[k] - g->wait[k - 1]);
    }
    return open + rest;
}

/* --- By totals --- */

/* Shares `time` as the weights are; what is given sums to it, and where a weight is 0 nothing is.
 * No share exceeds its weight if `time` does not exceed their sum. */
static void split(ovl_time time, const ovl_time weight[SHARED], ovl_time share[SHARED])
{
    wide sum = 0, so_far = 0;
    ovl_time given = 0;
    for (int k = 0; k < SHARED; k++) {
        sum += weight[k];
    }
    for (int k = 0; k < SHARED; k++) {
        so_far += weight[k];
        ovl_time until = sum > 0 ? (ovl_time)((wide)time * so_far / sum) : time;
        share[k] = until - given;
        given = until;
    }
}

static ovl_time beyond(const ovl_time idle[OVL_PEEL_COUNT], int peel)
{
    return OVL_MAX(0, idle[peel] - idle[peel - 1]);
}

/* How much of `time` is due to what, in the order in which kernels are asked: what moved in the
 * gaps, structural, imbalance, dependency. */
static void find_totals(ovl_time time, ovl_time moved, const ovl_time idle[OVL_PEEL_COUNT],
                        ovl_peel own, ovl_time total[SHARED])
{
    bool shared = own >= OVL_PEEL_DEPENDENCY;
    ovl_time due = shared ? beyond(idle, OVL_PEEL_DEPENDENCY) : 0;
    ovl_time known = OVL_MIN(moved, due), rest = time - known;
    memset(total, 0, SHARED * sizeof *total);
    total[OVL_PEEL_STRUCTURAL] = take(&rest, idle[OVL_PEEL_STRUCTURAL]);
    if (own >= OVL_PEEL_IMBALANCE) {
        total[OVL_PEEL_IMBALANCE] = take(&rest, beyond(idle, OVL_PEEL_IMBALANCE));
    }
    total[OVL_PEEL_DEPENDENCY] = known + take(&rest, due - known);
    total[OVL_PEEL_STRUCTURAL] += rest;
}

static void give(ovl_idle_gap *g, int peel, ovl_time time, ovl_time *open, ovl_time *total)
{
    g->piece[kind_of(g, peel)] += time;
    *open -= time;
    total[peel] -= time;
}

/* Transfers that moved in gaps share what is due to transfers. */
static void give_transfers(ovl_idle_gap *gaps, uint32_t n, ovl_time moved, ovl_time *open,
                           ovl_time *total)
{
    wide so_far = 0;
    ovl_time time = OVL_MIN(moved, total[OVL_PEEL_DEPENDENCY]), given = 0;
    for (uint32_t i = 0; i < n && moved > 0; i++) {
        so_far += gaps[i].waited.time[OVL_WAIT_DEPENDENCY];
        ovl_time until = (ovl_time)((wide)time * so_far / moved);
        give(&gaps[i], OVL_PEEL_DEPENDENCY, until - given, &open[i], total);
        given = until;
    }
}

static void give_edge(ovl_idle_gap *g, ovl_time *open, ovl_time *total)
{
    ovl_time structural = OVL_MIN(*open, total[OVL_PEEL_STRUCTURAL]);
    structural = OVL_MIN(structural, g->wait[OVL_PEEL_STRUCTURAL]);
    give(g, OVL_PEEL_STRUCTURAL, structural, open, total);
    ovl_time more = g->wait[OVL_PEEL_IMBALANCE] - g->wait[OVL_PEEL_STRUCTURAL];
    ovl_time imbalance = OVL_MIN(*open, total[OVL_PEEL_IMBALANCE]);
    give(g, OVL_PEEL_IMBALANCE, OVL_MIN(imbalance, OVL_MAX(0, more)), open, total);
}

/* Open parts and totals have the same sum, before and after each gap. */
static void give_rest(ovl_idle_gap *g, ovl_time *open, ovl_time *total)
{
    ovl_time share[SHARED];
    split(*open, total, share);
    for (int k = 0; k < SHARED; k++) {
        give(g, k, share[k], open, total);
    }
}

void ovl_idle_cut(ovl_idle_gap *gaps, uint32_t n, const ovl_time idle[OVL_PEEL_COUNT], ovl_peel own)
{
    OVL_VEC(ovl_time) open = {0};
    ovl_time sum = 0, moved = 0, total[SHARED];
    assert(own <= OVL_PEEL_DEPENDENCY);
    for (uint32_t i = 0; i < n; i++) {
        ovl_vec_push(&open, cut_by_kernel(&gaps[i], own));
        sum += open.data[i];
        moved += gaps[i].waited.time[OVL_WAIT_DEPENDENCY];
    }
    find_totals(sum, moved, idle, own, total);
    give_transfers(gaps, n, moved, open.data, total);
    for (uint32_t i = 0; i < n; i++) {
        if (gaps[i].edge) {
            give_edge(&gaps[i], &open.data[i], total);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        give_rest(&gaps[i], &open.data[i], total);
    }
    ovl_vec_free(&open);
}
