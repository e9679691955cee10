/*
 * sweep_store.h - the points of a sweep in a store, so that it can be interrupted, resumed, done in
 * parts, and put together.
 *
 *     ovl_sweep_store ss;
 *     ovl_sweep_store_open(&ss, &work, "runs.db", &sweep, true);     takes what is there
 *     ovl_sweep_store_keep(&ss, 17);                                 point 17, and others
 *     ovl_sweep_store_commit(&ss);                                   in one transaction
 *
 * A sweep is known by the SHA-256 of its texts, variant, changes, axes and the version of the
 * program: what another version simulated is another sweep.
 */
#ifndef OVL_TOOLS_SWEEP_STORE_H
#define OVL_TOOLS_SWEEP_STORE_H

#include "tools/keep.h"
#include "tools/sweep.h"

typedef struct ovl_sweep_store {
    ovl_work *work;
    ovl_store store;
    ovl_sweep *sweep;
    ovl_run_record record;
    int64_t id;
    uint32_t found; /* points that were there */
    bool open;
    bool pending; /* points are kept, but not yet committed */
    bool fresh;   /* the store did not hold this sweep before */
} ovl_sweep_store;

/* Without `resume` a sweep that is there is an error. False and errors (also where the file cannot
 * be used). */
bool ovl_sweep_store_open(ovl_sweep_store *ss, ovl_work *work, const char *path, ovl_sweep *sweep,
                          bool resume);

/* Takes the points of the same sweep from another file, and keeps them. False and errors. */
bool ovl_sweep_store_merge(ovl_sweep_store *ss, const char *path);

/* Keeps a point that was simulated, once it is committed with those before it. After a failure,
 * which is told once, both do nothing. */
void ovl_sweep_store_keep(ovl_sweep_store *ss, uint32_t point);
void ovl_sweep_store_commit(ovl_sweep_store *ss);

/* Once the front is known: keeps the reports and tables of the points on it (the first 64) and of
 * the best, which are simulated again for that. After a failure, which is told, it stops. */
void ovl_sweep_store_fill(ovl_sweep_store *ss);

void ovl_sweep_store_close(ovl_sweep_store *ss);

#endif
