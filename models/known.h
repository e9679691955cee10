/*
 * known.h - names that are there, when some of them hold counters of repeats.
 *
 * Without running the repeats a name like grad{i-1} has no value, so names are compared by their
 * form: any counter may be any number.
 *
 *     ovl_known_add(&k, "grad{i}");
 *     ovl_known_has(&k, "grad3")        true, and so are grad{i-1} and grad{j}
 *     ovl_known_has(&k, "gard3")        false; the nearest is "grad3"
 *
 * In doubt the answer is "known": after a name that was not understood (`all` off, or a parameter
 * `$x` that was not replaced), and when there would be too much to compare.
 */
#ifndef OVL_MODELS_KNOWN_H
#define OVL_MODELS_KNOWN_H

#include "sim/names.h"

typedef struct ovl_known {
    ovl_arena *arena;
    ovl_names exact, forms; /* without counters; with them */
    bool all;               /* no name is missing here; set by the owner */
    uint64_t comparisons;
} ovl_known;

/* No names, and `all` off; what it holds lives in `arena`. */
void ovl_known_init(ovl_known *k, ovl_arena *arena);

/* A name; NULL: there is one, but it was not understood. */
void ovl_known_add(ovl_known *k, const char *name);

/* Whether `text` can be one of the names. */
bool ovl_known_has(ovl_known *k, const char *text);

/* The likeliest name instead of `text`, with the numbers of `text` in place of its counters; NULL
 * if none is near. Lives in the arena. */
const char *ovl_known_nearest(const ovl_known *k, const char *text);

#endif
