/*
 * looking.h - what a reader makes of a trace that is written in a test.
 *
 *     look l;
 *     look_text(&l, "[" KERNEL("10", "10") "," NCCL("15", "10") "]");
 *     check_usual(&l);
 *     CHECK_TEXT(said(&l), "");
 *     done(&l);
 */
#ifndef OVL_TESTS_LOOKING_H
#define OVL_TESTS_LOOKING_H

#include "tests/support/check.h"
#include "tools/inspect.h"

#include <string.h>

/* One look at bytes in memory. */
typedef struct look {
    ovl_inspection in;
    ovl_comm_pattern pattern;
    ovl_arena arena;
    ovl_errs errs;
    bool good;
} look;

static inline void begin(look *l, const char *pattern)
{
    memset(l, 0, sizeof *l);
    l->errs.arena = &l->arena;
    ovl_comm_pattern_begin(&l->pattern, pattern, &l->errs);
    ovl_inspect_begin(&l->in, &l->pattern);
}

static inline void look_at(look *l, const void *bytes, size_t count)
{
    begin(l, OVL_COMM_PATTERN);
    l->good = ovl_inspect_bytes(&l->in, "t", bytes, count, &l->errs);
}

static inline void look_text(look *l, const char *text)
{
    look_at(l, text, strlen(text));
}

static inline void done(look *l)
{
    ovl_inspect_free(&l->in);
    ovl_comm_pattern_free(&l->pattern);
    ovl_arena_free(&l->arena);
}

/* Everything that was said, a line each. */
static inline const char *said(look *l)
{
    const char *all = "";
    for (uint32_t i = 0; i < l->errs.count; i++) {
        all =
            ovl_arena_printf(&l->arena, "%s%s\n", all, ovl_err_text(&l->arena, &l->errs.items[i]));
    }
    return all;
}

static inline bool was_said(const look *l, const char *part)
{
    for (uint32_t i = 0; i < l->errs.count; i++) {
        if (strstr(l->errs.items[i].text, part)) {
            return true;
        }
    }
    return false;
}

#define KERNEL(ts, dur)                                                                            \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": " ts \
    ", \"dur\": " dur ", \"args\": {\"device\": 0, \"stream\": 7}}"
#define NCCL(ts, dur)                                                                              \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce_Sum_f32_RING_LL\", " \
    "\"pid\": 0, \"tid\": 9, \"ts\": " ts ", \"dur\": " dur ", \"args\": {\"device\": 0, "         \
    "\"stream\": 9}}"
#define TRACE(events) "{\"schemaVersion\": 1, \"traceEvents\": [" events "], \"traceName\": \"x\"}"

/* Compute [10, 20), all-reduce [15, 25) us: overlap 5, exposed 5, span 15. */
static inline void check_usual(look *l)
{
    CHECK(l->good);
    if (CHECK_INT(l->in.devices.len, 1)) {
        const ovl_measures *m = &l->in.devices.data[0].all;
        CHECK_INT(m->kernels, 2);
        CHECK_INT(m->comm_kernels, 1);
        CHECK_INT(m->span, 15000);
        CHECK_INT(m->compute, 10000);
        CHECK_INT(m->overlap, 5000);
        CHECK_INT(m->exposed, 5000);
        CHECK_INT(m->idle, 0);
    }
}

#endif
