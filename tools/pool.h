/*
 * pool.h - many pieces of work on all cores, with the caller told of each as it ends.
 *
 *     ovl_pool pool = {.threads = 2, .n = 1000, .context = &mine, .work = simulate, .done = keep};
 *     ovl_pool_end end = ovl_pool_run(&pool);      end.done == 1000, end.signal == 0
 *
 * `work` runs on the threads of the pool, piece 0 first, each piece on one thread; it must not
 * touch what another piece writes. `done` and `tick` run on the calling thread, one at a time, so
 * they may write files. The order in which pieces end is not fixed: results are kept by number.
 *
 * SIGINT, SIGTERM and SIGHUP (where nobody ignores or handles them) stop the pool gently: no piece
 * is begun any more, those that run are finished. A second signal ends the program at once, as if
 * there were no pool.
 */
#ifndef OVL_TOOLS_POOL_H
#define OVL_TOOLS_POOL_H

#include "sim/base.h"

#include <signal.h>

typedef struct ovl_pool {
    uint32_t threads; /* 0: as many as there are cores */
    uint32_t n;       /* pieces */
    void *context;
    void (*work)(void *context, uint32_t thread, uint32_t piece);
    void (*done)(void *context, uint32_t piece); /* NULL: nobody wants to know */
    void (*tick)(void *context);                 /* about ten times a second; may be NULL */
    bool (*stop)(void *context, int signal);     /* asked at each tick, with the signal that came,
                                                    or 0; true: begin no more. NULL: on signals */
} ovl_pool;

typedef struct ovl_pool_end {
    uint32_t done; /* pieces that were worked on and told */
    int signal;    /* what stopped it, or 0 */
} ovl_pool_end;

/* Lets the signals that stop a pool wait for the next one, for long preparations: it then begins
 * with the one that came. Not around anything that may wait for ever. */
typedef struct ovl_stops {
    bool holds;
    sigset_t before;
} ovl_stops;

void ovl_stops_hold(ovl_stops *held);
/* What came and no pool took ends the program here. Does nothing a second time. */
void ovl_stops_release(ovl_stops *held);

/* How many threads a pool has that does not say. */
uint32_t ovl_pool_cores(void);

ovl_pool_end ovl_pool_run(const ovl_pool *pool);

#endif
