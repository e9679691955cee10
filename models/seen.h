/*
 * seen.h - what a measured trace says of one file's devices and host threads, free of its format.
 *
 * A reader (tools/) fills it; replay (recorded.h) makes a program of it. Times are integer
 * nanoseconds of the file's own clock; `base` is where that clock has its zero. Operations, calls
 * and ranges are each ordered by their start.
 *
 *     cudaLaunchKernel [10, 14) on thread 7        calls[0] = {10, 14, OVL_CALL_LAUNCH}
 *     kernel "gemm"    [21, 95) on stream 7        ops[0]   = {21, 95, call 0, stream 0}
 *     ProfilerStep#3   [ 0, 120)                   ranges[0] = {0, 120, number 3}
 */
#ifndef OVL_MODELS_SEEN_H
#define OVL_MODELS_SEEN_H

#include "sim/names.h"

typedef enum ovl_seen_kind { OVL_SEEN_KERNEL, OVL_SEEN_COPY, OVL_SEEN_SET } ovl_seen_kind;

/* Arguments of a collective, where the profiler wrote them. */
typedef struct ovl_seen_collective {
    ovl_id op;    /* name: "all_reduce" */
    ovl_id group; /* name of the process group and, where written, its ranks; OVL_NONE: none */
    ovl_id dtype; /* OVL_NONE: not written */
    int64_t bytes, group_size; /* -1: not written */
} ovl_seen_collective;

typedef struct ovl_seen_op {
    int64_t start, end;
    ovl_id name;
    uint32_t stream;     /* index */
    uint32_t call;       /* index of the call that launched it; OVL_NONE: not in the file */
    uint32_t collective; /* index; OVL_NONE: no arguments */
    int64_t bytes;       /* of a copy; -1: not written */
    uint8_t kind;        /* ovl_seen_kind */
} ovl_seen_op;

typedef enum ovl_call {
    OVL_CALL_LAUNCH, /* what it launched names it */
    OVL_CALL_RECORD, /* of an event */
    OVL_CALL_WAIT,   /* a stream is told to wait for an event */
    OVL_CALL_SYNC_STREAM,
    OVL_CALL_SYNC_EVENT,
    OVL_CALL_SYNC_DEVICE,
    OVL_CALL_MAY_SYNC, /* waits for the device at times: cudaFree */
} ovl_call;

typedef struct ovl_seen_call {
    int64_t start, end;
    uint64_t process, thread;
    uint32_t wait; /* index of what the profiler recorded of a wait or sync; OVL_NONE: nothing */
    uint8_t kind;  /* ovl_call */
} ovl_seen_call;

/* A recorded wait: who waits, and for what. */
typedef struct ovl_seen_wait {
    uint32_t stream; /* that waits, or that is waited for by the host; OVL_NONE: all, or unknown */
    uint32_t on;     /* stream whose event is waited for; OVL_NONE: unknown */
    uint32_t record; /* call that recorded the event; OVL_NONE: unknown */
} ovl_seen_wait;

/* A range of the host: a step ("ProfilerStep#3": number 3), or another annotation (-1). */
typedef struct ovl_seen_range {
    int64_t start, end;
    int64_t number;
    ovl_id name;
    uint64_t process;
} ovl_seen_range;

typedef struct ovl_seen_stream {
    int64_t device;
    uint64_t id;
} ovl_seen_stream;

/* An operation of a trace that `ovl export` wrote: all that its program said. */
typedef struct ovl_exact_op {
    uint32_t rank, id; /* place in the program of its rank */
    uint8_t kind;      /* ovl_op_kind */
    uint8_t coll;      /* ovl_coll */
    uint8_t engine;    /* copies: 1 to the device */
    bool eager;
    ovl_id name, stream, group, klass;   /* names; OVL_NONE: has none */
    int64_t start, end;                  /* ps */
    int64_t wait, launch, latency, wire; /* ps; wait: from its arrival to its start */
    int64_t bytes;                       /* -1: none */
    uint32_t comm, place, peer, batch;   /* OVL_NONE: not written */
    uint32_t members;
    uint32_t first_after, n_after; /* into ovl_exact.after: ids */
} ovl_exact_op;

typedef struct ovl_exact {
    const ovl_exact_op *ops; /* as they stand in the file */
    const uint32_t *after;
    uint32_t n_ops, n_after;
    int64_t ranks, copy_engines[2], hw_queues;
} ovl_exact;

typedef struct ovl_seen {
    const char *file;
    int64_t base;        /* ns since 1970 of time 0; 0: not written */
    int64_t rank, world; /* -1: not written */
    ovl_names names;
    const ovl_id *op_of; /* [names.count] the collective a kernel of this name is; OVL_NONE */
    const ovl_seen_op *ops;
    const ovl_seen_call *calls;
    const ovl_seen_wait *waits;
    const ovl_seen_range *ranges;
    const ovl_seen_stream *streams;
    const ovl_seen_collective *collectives;
    uint32_t n_ops, n_calls, n_waits, n_ranges, n_streams, n_collectives;
    const ovl_exact *exact; /* a trace of our own: nothing has to be inferred; or NULL */
    bool damaged;           /* truncated, or events of it could not be used */
    bool refused;           /* no trace, or it cannot be read: errors say why */
} ovl_seen;

#endif
