/*
 * csv.h - cells of a table as CSV (RFC 4180, lines end in a single newline).
 *
 *     ovl_csv_cell(out, "a,b", true);    "a,b" in quotes
 *     ovl_csv_cell(out, "c", false);     ,c
 */
#ifndef OVL_TOOLS_CSV_H
#define OVL_TOOLS_CSV_H

#include "tools/metrics.h"
#include "tools/out.h"

void ovl_csv_cell(ovl_out *out, const char *text, bool first);

/* All metrics, each behind a comma: their keys, or the figures (NULL: none; what does not apply is
 * empty). Times are seconds with 12 decimals. */
void ovl_csv_metric_keys(ovl_out *out);
void ovl_csv_metrics(ovl_out *out, const ovl_figures *figures);

#endif
