/*
 * trials_parts.h - what the reports of trials share.
 *
 *                p5      p50     p75     p95    mean    from      to  stated
 *     step   16.701   16.701  16.701  18.161  17.009  16.958  17.060  16.701
 */
#ifndef OVL_TOOLS_TRIALS_PARTS_H
#define OVL_TOOLS_TRIALS_PARTS_H

#include "tools/grid.h"
#include "tools/scale.h"
#include "tools/trials.h"

#define OVL_STATISTICS_COLUMNS 9
extern const ovl_column ovl_statistics_columns[OVL_STATISTICS_COLUMNS];

/* Six significant digits of the largest. */
ovl_scale ovl_statistics_scale(const ovl_statistics *items, uint32_t n);

/* A row; without `stated` if that is OVL_NEVER. Cells live in `arena`. */
void ovl_statistics_row(ovl_grid *grid, ovl_arena *arena, const ovl_scale *scale, const char *name,
                        const ovl_statistics *s, ovl_time stated);

/* The line below such a table. */
void ovl_statistics_legend(ovl_out *out);

/* "12.5 %"; NULL of nothing. */
const char *ovl_share_text(ovl_arena *arena, uint64_t part, uint64_t of);

/* The members of a run, and of a difference, in the object that is open. */
void ovl_trials_members(ovl_json *json, const ovl_trials *t);
void ovl_paired_members(ovl_json *json, const ovl_paired *pair);

#endif
