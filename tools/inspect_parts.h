/*
 * inspect_parts.h - the tables of an inspection as text. Each prints nothing if it has no rows, and
 * at most OVL_INSPECT_ROWS of them; times of a table share a unit.
 */
#ifndef OVL_TOOLS_INSPECT_PARTS_H
#define OVL_TOOLS_INSPECT_PARTS_H

#include "tools/inspect.h"
#include "tools/scale.h"

#define OVL_INSPECT_ROWS 40

/* Nanoseconds as the time that is printed; what is beyond its range (53 days) is its most. */
ovl_time ovl_inspect_ps(int64_t ns);

void ovl_inspect_rows_table(ovl_out *out, const ovl_inspection *in, uint32_t file);
void ovl_inspect_steps_table(ovl_out *out, const ovl_inspection *in);
void ovl_inspect_collectives_table(ovl_out *out, const ovl_inspection *in);
void ovl_inspect_ranks_table(ovl_out *out, const ovl_inspection *in);
void ovl_inspect_matches_table(ovl_out *out, const ovl_inspection *in);

#endif
