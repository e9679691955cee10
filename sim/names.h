/*
 * names.h - each distinct text once, named by a small number.
 *
 * Texts that differ only in the number they end with, such as those of microbatches, are looked up
 * by that number, under the *stem* before it: a table of a million of them is one short list for
 * each stem.
 *
 *     ovl_names names = {.arena = &a};
 *     ovl_id x = ovl_names_add(&names, "late");       0
 *     ovl_id y = ovl_names_add(&names, "late");       0 again
 *     ovl_names_text(&names, x)                       "late"
 *     ovl_names_find(&names, "later")                 OVL_NONE
 */
#ifndef OVL_SIM_NAMES_H
#define OVL_SIM_NAMES_H

#include "sim/arena.h"

/* Texts are found by open addressing; an entry is index + 1, 0 is free. */
typedef struct ovl_names_table {
    uint32_t *slots;
    uint32_t n_slots, count;
} ovl_names_table;

/* "microbatch " of "microbatch 0", "microbatch 1", ... */
typedef struct ovl_stem {
    const char *text; /* begins with it */
    uint32_t length;
    uint32_t *id; /* [cap] by number: id + 1; 0: none */
    uint32_t cap, count;
    bool sparse; /* others have numbers far beyond those: they are in `others` */
} ovl_stem;

typedef struct ovl_names {
    ovl_arena *arena; /* set by the owner before the first use */
    const char **text;
    uint32_t count, cap;
    ovl_stem *stems;
    uint32_t stem_cap;
    ovl_names_table by_stem; /* into stems */
    ovl_names_table others;  /* ids of the other texts */
} ovl_names;

/* The number of `text`, added if it is new. */
ovl_id ovl_names_add(ovl_names *names, const char *text);

/* The number of `text`, or OVL_NONE. */
ovl_id ovl_names_find(const ovl_names *names, const char *text);

/* The text of a number given out before; owned by the table. */
const char *ovl_names_text(const ovl_names *names, ovl_id id);

/* Order of names as a reader counts: runs of digits by their value, all else by its bytes, so that
 * "bucket 2" comes before "bucket 10". Below, at or above 0 as strcmp; 0 for equal texts only. */
int ovl_names_order(const char *a, const char *b);

/* The candidate closest to `text` by optimal-string-alignment distance (insert, delete, replace,
 * swap of neighbours), if it is close enough to be a likely slip (a third of the longer text, at
 * least one, at most three); else NULL. Ties go to the first. For "did you mean". */
const char *ovl_nearest(const char *text, const char *const *candidates, size_t count);

#endif
