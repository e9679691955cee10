/*
 * limits_runs.h - the simulations behind limits.h: which, and all of them on all cores.
 *
 * Each is independent of the others, so the answers are the same whatever the number of threads.
 * Where nothing can be slowed, a change of operations needs no run: only what follows from it is
 * worked out again (sim/rerun.h).
 *
 *     run {lever "all_reduce in dp", 10/11}      step 43.2 ms
 *     run {link 0, 11/10}                        step 45 ms, 1 user, none follows
 */
#ifndef OVL_TOOLS_LIMITS_RUNS_H
#define OVL_TOOLS_LIMITS_RUNS_H

#include "sim/alter.h"
#include "sim/speedup.h"
#include "tools/work.h"

typedef enum ovl_limit_kind {
    OVL_LIMIT_PULLED,  /* operations of `lever` as fast as `how` */
    OVL_LIMIT_WIDENED, /* `link` (OVL_NONE: HBM) with num / den of its bandwidth */
    OVL_LIMIT_ALTERED, /* other costs, a free host, another model of interference */
} ovl_limit_kind;

/* The costs that want something of a resource, and how many of them take another time once it is
 * wider. */
typedef struct ovl_limit_users {
    uint32_t n, n_following;
    bool comparable; /* the schedule came out the same */
} ovl_limit_users;

typedef struct ovl_limit_run {
    ovl_limit_kind kind;
    ovl_lever lever;
    ovl_faster how;
    uint32_t link;
    uint64_t num, den;
    ovl_alteration alteration;
    bool free_host, no_interference;
    /* The answer; OVL_NEVER if it cannot be simulated. */
    ovl_time step;
    bool partly; /* only what follows from the change was worked out */
    ovl_limit_users users;
} ovl_limit_run;

/* Fills in the answers. False and an error if a signal stopped it. */
bool ovl_limits_simulate(ovl_work *work, const ovl_prepared *prepared, ovl_limit_run *runs,
                         uint32_t n, uint32_t threads);

/* Whether an operation uses link number `link` (OVL_NONE: HBM). */
bool ovl_limits_used(const ovl_program *p, const ovl_hw *hw, uint32_t link);

#endif
