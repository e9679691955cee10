/*
 * trace_parts.h - what the files that write a trace share (trace.h says what a trace is).
 */
#ifndef OVL_TOOLS_TRACE_PARTS_H
#define OVL_TOOLS_TRACE_PARTS_H

#include "tools/trace.h"

/* Lanes of the ranks that run one code. */
typedef struct ovl_lanes {
    uint32_t *parts_at; /* [n_streams] first lane of the parts of that stream's batches */
    uint32_t *parts;    /* [n_streams] how many lanes those are */
    uint32_t host;      /* the last lane */
    uint32_t *part_of;  /* [n_ops] index of a part in its batch, 0 for others */
    bool has_host;      /* the host issues something that takes time, or calls */
} ovl_lanes;

typedef struct ovl_trace {
    const ovl_trace_job *job;
    ovl_json *json;
    ovl_arena *scratch; /* of the rank being written */
    ovl_lanes *lanes;   /* [n_codes] */
    ovl_feeds *feeds;   /* [n_codes] */
    uint64_t stride;    /* thread number = rank * stride + lane */
    uint64_t n_flows;
    /* The rank being written: */
    uint32_t rank;
    const ovl_rank *r;
    const ovl_code *code;
} ovl_trace;

/* The thread an operation is shown on. */
uint64_t ovl_trace_thread(const ovl_trace *t, uint32_t rank, const ovl_code *code, uint32_t local);
uint64_t ovl_trace_host_thread(const ovl_trace *t);

/* Begins an event: {"ph", "pid", "tid", "ts", "cat", "name" ...; the caller closes the object. cat
 * may be NULL. */
void ovl_trace_event(ovl_trace *t, const char *phase, uint32_t rank, uint64_t thread, ovl_time at,
                     const char *category, const char *name);

void ovl_trace_slices(ovl_trace *t);
void ovl_trace_flows(ovl_trace *t);
void ovl_trace_counters(ovl_trace *t);

#endif
