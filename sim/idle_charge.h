/*
 * idle_charge.h - who is charged for the pieces of gaps.
 *
 * What a gap was spent on (waits.h) is charged itself: transfers, late issues, launches, calls,
 * pauses. That compute was waited for has its reason elsewhere, and suspects (suspects.h) share it:
 *
 *     imbalance     slow stages, by how much shorter the gap is with each of them like the mean
 *     dependency    beyond the transfers of the gap itself: transfers of a kind, by how much
 * shorter it is with each of them free; and batches, with their parts let go one by one
 *
 * Where none of them makes it shorter by itself they share as they are heavy. Of one batch among
 * several as much may depend on the others: what batches and transfers owe against each other is
 * asked with all of the one harmless, and all of the other.
 *
 * Example: a gap of 4, which is 3 with stage 1 like the mean, 2 with stage 3: of 3 of imbalance
 * stage 1 owes 1, stage 3 the rest.
 */
#ifndef OVL_SIM_IDLE_CHARGE_H
#define OVL_SIM_IDLE_CHARGE_H

#include "sim/blame.h"
#include "sim/idle_cut.h"
#include "sim/idle_runs.h"
#include "sim/suspects.h"

/* Stages, transfers, or batches, and what would be idle with each of them harmless. */
typedef struct ovl_idle_trial {
    bool made;
    ovl_suspects suspects;
    const ovl_idle_run *with; /* what is idle with all of them, in the order of the run */
    ovl_idle_run own;         /* `with`, if no other run is that */
    ovl_idle_run run[OVL_SUSPECTS_MOST];
    bool has_joint;
    ovl_idle_run joint; /* transfers, batches: with all there are of them harmless, if asked for */
} ovl_idle_trial;

/* The first five are the caller's, and outlive it; the rest begins as zeros. */
typedef struct ovl_idle_charger {
    const ovl_idle_lab *lab;
    const ovl_blamer *blamer;
    const ovl_waits *waits;                    /* with the parts of the gaps */
    const ovl_idle_run *run;                   /* [OVL_PEEL_COUNT] */
    const bool *ordered;                       /* [OVL_PEEL_COUNT] it has another order */
    ovl_idle_trial stages, transfers, batches; /* made when first asked for */
    OVL_VEC(ovl_blame_share) share;            /* scratch */
} ovl_idle_charger;

/* Charges the pieces of a gap that somebody is to blame for; what is charged for a kind sums to its
 * piece. */
void ovl_idle_charge(ovl_idle_charger *x, uint32_t class_id, const ovl_idle_gap *g,
                     ovl_charges *list);

/* Of the largest piece of a gap but fill and drain, what is charged most; charges of this gap are
 * those from `first`. NULL: nothing is. */
const char *ovl_idle_because(const ovl_idle_charger *x, const ovl_idle_gap *gap,
                             const ovl_charges *list, uint32_t first);

/* Gives back the runs of trials. */
void ovl_idle_charger_free(ovl_idle_charger *x);

#endif
