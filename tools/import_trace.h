/*
 * import_trace.h - a scenario made of measured traces: one that names them, or, self-contained, the
 * step as an explicit program.
 *
 *     ovl import r0.json.gz r1.json.gz -o step.yaml
 *
 *     name: "step"
 *     workload:
 *       trace: ["r0.json.gz", "r1.json.gz"]
 *       replay: {step: "ProfilerStep#7"}
 */
#ifndef OVL_TOOLS_IMPORT_TRACE_H
#define OVL_TOOLS_IMPORT_TRACE_H

#include "tools/work.h"

/* Whether the file is no text of actions, by its first bytes. */
bool ovl_import_is_trace(const char *path);

/* Writes the scenario of all operands; where that goes to a file, the comparison with what was
 * measured goes to standard output. */
void ovl_import_trace(ovl_work *work, const ovl_args *args);

#endif
