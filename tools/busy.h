/*
 * busy.h - how long a device was busy, by kind of work and not by stream.
 *
 *     stream 7   compute  [0, 10)            span               20
 *     stream 9   all-reduce  [6, 14)         compute            10
 *     stream 7   copy             [18, 20)   communication       8, of it 4 under compute: exposed
 * 4 copies              2 idle                4: [14, 18)
 *
 * Busy is the length of the union of half-open intervals over all streams; overlap that of what is
 * in both unions. Span is from the first start to the last end, and
 *
 *     span = compute + exposed communication + copies alone + idle
 *
 * exactly. Integer nanoseconds.
 */
#ifndef OVL_TOOLS_BUSY_H
#define OVL_TOOLS_BUSY_H

#include "sim/base.h"

typedef enum ovl_busy_kind {
    OVL_BUSY_COMPUTE,
    OVL_BUSY_COMM,
    OVL_BUSY_COPY,
    OVL_BUSY_SET
} ovl_busy_kind;

/* The union of intervals that come in order of their starts: no more than its end has to be kept.
 */
typedef struct ovl_union {
    int64_t length, until;
    bool any;
} ovl_union;

/* What was seen so far; all zero: nothing. */
typedef struct ovl_busy {
    uint64_t count[4];                          /* by ovl_busy_kind */
    ovl_union compute, comm, kernels, mem, all; /* kernels: compute and communication */
    int64_t first, latest;                      /* starts */
} ovl_busy;

typedef struct ovl_measures {
    uint64_t kernels, comm_kernels, copies, sets; /* kernels: with those of communication */
    int64_t span, compute, comm, overlap, exposed, mem, mem_alone, gpu, idle;
} ovl_measures;

/* `start` is no earlier than that of the call before. */
void ovl_busy_add(ovl_busy *busy, ovl_busy_kind kind, int64_t start, int64_t end);
ovl_measures ovl_busy_measure(const ovl_busy *busy);

#endif
