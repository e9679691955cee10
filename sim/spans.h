/*
 * spans.h - a set of half-open intervals of integer time, measured exactly whatever the order in
 * which they came and however they overlap.
 *
 * The unit is the caller's (measured traces use nanoseconds). An interval of no length is no part
 * of the set. Bounds must lie within +-OVL_SPANS_MOST, so that no difference of two overflows.
 *
 *     ovl_spans s = {0};
 *     ovl_spans_add(&s, 10, 20);
 *     ovl_spans_add(&s, 0, 5);
 *     ovl_spans_add(&s, 15, 30);
 *     ovl_spans_measure(&s)                  25: [0, 5) and [10, 30)
 *     ovl_spans_within(&s, 4, 12)            3: [4, 5) and [10, 12)
 *     ovl_spans_free(&s);
 *
 * Memory is 16 bytes for each piece of the union, at most twice that (and 16 KiB) for what has not
 * been merged yet.
 */
#ifndef OVL_SIM_SPANS_H
#define OVL_SIM_SPANS_H

#include "sim/vec.h"

#define OVL_SPANS_MOST (((int64_t)1 << 62) - 1)

typedef struct ovl_span {
    int64_t start, end;
} ovl_span;

typedef struct ovl_spans {
    OVL_VEC(ovl_span) items; /* the union, ascending, once settled */
    uint32_t settled;        /* so many of the first items are ascending and apart */
} ovl_spans;

/* Adds [start, end); nothing if end <= start. */
void ovl_spans_add(ovl_spans *spans, int64_t start, int64_t end);

/* Adds everything that is in `more`. */
void ovl_spans_join(ovl_spans *spans, const ovl_spans *more);

/* Sorts and merges: afterwards the items are ascending and neither overlap nor touch. The functions
 * below do it first. */
void ovl_spans_settle(ovl_spans *spans);

/* The length of the union. */
int64_t ovl_spans_measure(ovl_spans *spans);

/* The length of what is in both. */
int64_t ovl_spans_common(ovl_spans *a, ovl_spans *b);

/* The length of what is within [start, end). Logarithmic, plus what it measures. */
int64_t ovl_spans_within(ovl_spans *spans, int64_t start, int64_t end);

void ovl_spans_free(ovl_spans *spans);

#endif
