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
    uint32_t host;      /* the lane behind these */
    uint32_t *part_of;  /* [n_ops] index of a part in its batch, 0 for others */
    bool has_host;      /* the host issues something that takes time, or calls */
    uint32_t wires;     /* behind the host: as many lanes as the code has eager sends, at most */
} ovl_lanes;

typedef struct ovl_trace {
    const ovl_trace_job *job;
    ovl_json *json;
    ovl_arena *scratch; /* of the rank being written */
    ovl_lanes *lanes;   /* [n_codes] */
    ovl_feeds *feeds;   /* [n_codes] */
    uint64_t stride;    /* thread number = rank * stride + lane */
    uint64_t n_flows;
    uint32_t *sharers; /* [n_resources] how many ranks have each */
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

/* Names of processes and threads, and their places in the list. */
void ovl_trace_metadata(ovl_trace *t, const char *what, uint64_t thread, const char *name);
void ovl_trace_sort_index(ovl_trace *t, const char *what, uint64_t thread, uint64_t index);
void ovl_trace_name_thread(ovl_trace *t, uint32_t lane, const char *name);

/* A change of a counter. */
typedef struct ovl_change {
    ovl_time at;
    uint32_t series;
    int64_t by;
} ovl_change;

typedef OVL_VEC(ovl_change) ovl_changes;

/* Adds `by` from one moment to another. */
void ovl_trace_span(ovl_changes *list, uint32_t series, ovl_time from, ovl_time to, int64_t by);

/* Writes counters of process t->rank that have one series each: `names[series]`, with the key
 * `unit`; frees the list. */
void ovl_trace_series(ovl_trace *t, ovl_changes *list, const char *const *names, uint32_t n,
                      const char *unit);

/* Sorts changes by time, then series. */
void ovl_trace_sort(ovl_changes *list);

/* A counter event of process t->rank: the values go between the two, a key each. */
void ovl_trace_counter(ovl_trace *t, const char *name, ovl_time at);
void ovl_trace_end_counter(ovl_trace *t);

/* Adds what an activity does to a resource in one rate segment; `rate`: bytes/s at isolated speed.
 * ovl_trace_traffic writes what was added as counters `names[series]`, and frees the list. */
void ovl_trace_use(ovl_changes *list, uint32_t series, const ovl_segment *g, uint64_t rate);
void ovl_trace_traffic(ovl_trace *t, ovl_changes *list, const char *const *names, uint32_t n);

/* How many ranks have each resource; lives in `arena`. */
uint32_t *ovl_trace_sharers(const ovl_program *p, ovl_arena *arena);

/* Arguments of the slice of an operation that only a replay needs. */
void ovl_trace_exact(ovl_trace *t, uint32_t local);

void ovl_trace_slices(ovl_trace *t);
void ovl_trace_wires(ovl_trace *t);
void ovl_trace_flows(ovl_trace *t);
void ovl_trace_counters(ovl_trace *t);
void ovl_trace_shared(ovl_trace *t); /* after all ranks */
void ovl_trace_stages(ovl_trace *t); /* after all ranks: stages as rows of one process */

/* The colour of a slice, and what it is about, if it is of a pipeline. */
void ovl_trace_colour(ovl_trace *t, const ovl_op *op);
void ovl_trace_stage(ovl_trace *t, uint32_t local);

#endif
