/*
 * sweep_team.h - which points of a sweep this process simulates, and where they go: to a store, to
 * the first process of an mpirun, or both.
 *
 *     ovl_sweep_team team = {.sweep = &sweep, .store = &ss, .threads = 2, .part = 0, .parts = 1};
 *     ovl_sweep_team_run(&team, &arena);
 *
 * Point i belongs to part i mod parts. Under mpirun the parts are its processes: each sends what it
 * has done to the first, which keeps it in the store and has all points at the end. The first also
 * says which points are done already, so that the others need not see the store.
 */
#ifndef OVL_TOOLS_SWEEP_TEAM_H
#define OVL_TOOLS_SWEEP_TEAM_H

#include "tools/link.h"
#include "tools/progress.h"
#include "tools/sweep_store.h"

typedef struct ovl_sweep_team {
    ovl_sweep *sweep;
    ovl_sweep_store *store; /* open or not */
    const ovl_link *link;
    ovl_out *progress_to;
    uint32_t threads;
    uint32_t part, parts;
    const char *kept_in; /* the store's file; NULL: none */

    ovl_progress progress;
    ovl_arena *arena;         /* of errors that others send */
    uint32_t known, own;      /* points that were there; that this process has done */
    uint32_t received, ended; /* points; processes that are done */
    int signal;               /* that some process got */
    bool told;                /* that it was interrupted */
} ovl_sweep_team;

/* Says how many points are done, and how to go on; once. Under mpirun that is said as soon as the
 * signal comes: processes that are not gone in a second are killed. */
void ovl_sweep_team_interrupted(ovl_sweep_team *team);

/* Simulates this process's open points. On the first process it comes back when all are done. */
void ovl_sweep_team_run(ovl_sweep_team *team, ovl_arena *arena);

#endif
