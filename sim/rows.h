/*
 * rows.h - the table of collectives and receives, one row per operation of one rank of each class
 * of identical ranks (classes.h), from the single analyses.
 *
 * Of several steps the rows are those of the last, and times count from its begin; an input may
 * have been ready before it.
 *
 * `slack` is the least and `on_critical_path` the union over the ranks of the class, because those
 * two depend on what other ranks do.
 */
#ifndef OVL_SIM_ROWS_H
#define OVL_SIM_ROWS_H

#include "sim/classes.h"
#include "sim/critical.h"
#include "sim/exposure.h"

typedef struct ovl_row {
    ovl_result_collective out;
    ovl_dependency dep;
    ovl_id name;
} ovl_row;

typedef OVL_VEC(ovl_row) ovl_rows; /* by rank, then start, then name */

/* What rows are made of. */
typedef struct ovl_row_sources {
    const ovl_causes *causes;
    const ovl_classes *classes;
    const ovl_feeds *feeds; /* by code */
    const ovl_path *path;
    const ovl_time *slack;
} ovl_row_sources;

/* All rows, without what needs further runs (u_variant, interference, worth: OVL_NEVER). Texts live
 * in `arena`. */
ovl_rows ovl_rows_make(const ovl_row_sources *sources, ovl_arena *arena);

/* What is told of the rows, which are gone, moved together where they lie; owned by `arena`. */
ovl_result_collective *ovl_rows_told(ovl_rows *rows, ovl_arena *arena);

#endif
