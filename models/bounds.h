/*
 * bounds.h - how large a scenario may be: limits that keep a slip of the pen from filling the
 * machine, in one table for the checks' readers (docs/scenario.md, the man page).
 *
 * Example: {"operations", 20000000, "of a program, as stored"}.
 */
#ifndef OVL_MODELS_BOUNDS_H
#define OVL_MODELS_BOUNDS_H

#include "sim/arena.h"

typedef struct ovl_bound {
    const char *what; /* "ranks" */
    uint64_t most;
    const char *about; /* a phrase: what is counted */
} ovl_bound;

extern const ovl_bound ovl_bounds[];
extern const uint32_t ovl_n_bounds;

/* What bounds memory, in a few sentences. */
extern const char ovl_bound_of_memory[];

/* "20,000,000"; in `arena`. */
const char *ovl_bound_text(uint64_t most, ovl_arena *arena);

#endif
