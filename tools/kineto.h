/*
 * kineto.h - the parts of the reader of PyTorch profiler traces (read_kineto.c, kineto_event.c).
 */
#ifndef OVL_TOOLS_KINETO_H
#define OVL_TOOLS_KINETO_H

#include "tools/json_scan.h"

/* The members of an event that matter, as they stand in the text; absent ones have no text. */
typedef struct ovl_kineto_event {
    ovl_scan_value ph, cat, name, pid, tid, ts, dur, args;
    bool known; /* some key of an event was there */
} ovl_kineto_event;

/* Scans one object; the cursor stands behind its `{`, afterwards behind its `}` (OVL_SCAN_END). */
ovl_scan_result ovl_kineto_scan(ovl_cursor *cursor, ovl_kineto_event *event);

/* Hands a scanned event to the sink if it is one that matters. `byte` is where it stands. False if
 * its arguments are broken. */
bool ovl_kineto_use(const ovl_kineto_event *event, uint64_t byte, const ovl_sink *sink,
                    ovl_read_about *about);

/* The same for a slice of a trace that `ovl export` wrote. */
bool ovl_kineto_exact(const ovl_kineto_event *event, const ovl_sink *sink);

/* Keeps what `pg_config` of distributedInfo says. */
void ovl_kineto_groups(const ovl_scan_value *list, ovl_read_about *about);

#endif
