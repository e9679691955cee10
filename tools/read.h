/*
 * read.h - measured traces as a stream of records, whatever file they come from.
 *
 * A reader walks its file once in the memory of a window and hands each record to a sink; nothing
 * of a record lives longer than the call. Times are integer nanoseconds, exactly as written,
 * relative to the `base` the file may have (known only at its end).
 *
 *     {"ph":"X","cat":"kernel","name":"k","ts":1.5,"dur":2,"args":{"device":0,"stream":7}}
 *     -> device({.kind = OVL_READ_KERNEL, .start = 1500, .end = 3500, .stream = 7, ...})
 *
 * What a file is, is told by its contents, never by its name. Files break: what is whole is used,
 * the rest is counted with its first byte in `ovl_read_faults`.
 */
#ifndef OVL_TOOLS_READ_H
#define OVL_TOOLS_READ_H

#include "sim/err.h"
#include "tools/source.h"

/* Text inside a record: borrowed, without a NUL. */
typedef struct ovl_slice {
    const char *text;
    size_t length;
} ovl_slice;

typedef enum ovl_read_kind {
    OVL_READ_KERNEL,
    OVL_READ_COPY,
    OVL_READ_SET,
} ovl_read_kind;

/* Arguments of a collective, where the profiler wrote them. */
typedef struct ovl_read_collective {
    ovl_slice name, dtype, group, ranks;                     /* empty: not written */
    int64_t in_elements, out_elements, group_size, sequence; /* -1: not written */
} ovl_read_collective;

/* What a device did. `key` links it to its launch (with the process); several kernels of a graph
 * may share one. */
typedef struct ovl_read_device {
    ovl_read_kind kind;
    int64_t start, end;
    int64_t device;
    uint64_t stream, process, key;
    bool has_key;
    bool has_rank;
    int64_t rank;  /* whose device it is, where rows say so; else that of the file */
    int64_t bytes; /* -1: not written */
    ovl_slice name;
    ovl_slice grid, block; /* as text: "[8, 1, 1]"; empty: not written */
    ovl_slice klass;       /* interference class, in traces of our own; or empty */
    int64_t hbm, sms;      /* bytes/s and SMs it wants alone, in traces of our own; else 0 */
    bool communication;    /* the file itself says so */
    const ovl_read_collective *collective; /* NULL: no arguments */
} ovl_read_device;

typedef enum ovl_metric { OVL_METRIC_SM, OVL_METRIC_HBM_READ, OVL_METRIC_HBM_WRITE } ovl_metric;

/* A sample of what a GPU used, in per cent of its most. */
typedef struct ovl_read_metric {
    int64_t at;
    ovl_metric metric;
    double percent;
} ovl_read_metric;

typedef enum ovl_read_call {
    OVL_READ_LAUNCH, /* a call of the runtime or driver, linked to device work by its key */
    OVL_READ_STEP,   /* a step the user marked: "ProfilerStep#3" */
} ovl_read_call;

typedef struct ovl_read_host {
    ovl_read_call call;
    int64_t start, end;
    uint64_t process, key, thread;
    bool has_key;
    ovl_slice name;
} ovl_read_host;

/* A wait or a sync as the profiler recorded it beside the call with the same key: a stream that
 * waits for an event of another, or the host that waits for a stream. */
typedef struct ovl_read_wait {
    uint64_t process, key;
    int64_t stream;  /* that waits, or that the host waits for; -1: all, or not written */
    int64_t on;      /* whose event is waited for; -1: not written */
    uint64_t record; /* key of the call that recorded the event */
    bool has_record;
} ovl_read_wait;

/* An annotation of the host other than a step. */
typedef struct ovl_read_range {
    int64_t start, end;
    uint64_t process;
    ovl_slice name;
} ovl_read_range;

/* A change of allocated memory. */
typedef struct ovl_read_memory {
    int64_t type;                /* of the device as PyTorch counts: 0 CPU, 1 CUDA, 6 HIP */
    int64_t device;              /* -1 for the CPU */
    int64_t change;              /* bytes; negative: freed */
    int64_t allocated, reserved; /* in all, afterwards; -1: not written */
} ovl_read_memory;

/* A line of nccl-tests, or of a CSV of sizes. Times of -1 and counts of -1 are not written. */
typedef struct ovl_read_row {
    int64_t bytes, count;
    ovl_slice type, redop;
    ovl_slice series;    /* of a CSV with several: "torch"; else empty */
    uint32_t run;        /* of the program, from 0 on: a log may have several */
    ovl_slice operation; /* that the run measured; empty: not told, or that of the file */
    int64_t n_ranks;     /* that took part in it; 0: not told, or that of the file */
    int64_t time[2];     /* out of place, in place */
    int64_t wrong[2];
} ovl_read_row;

/* A slice of a trace that `ovl export` wrote (tools/trace_exact.c). Times in ps; -1: not written.
 */
typedef struct ovl_read_exact {
    ovl_slice category, name, kind, stream, group, op, klass, direction;
    ovl_slice after; /* a JSON array */
    int64_t rank, id, start, end, wait, launch, latency, wire, bytes, comm, place, peer, batch;
    int64_t members;
    bool eager;
} ovl_read_exact;

/* What records are given to; a function may be NULL. */
typedef struct ovl_sink {
    void *context;
    bool shapes; /* grids and blocks are wanted; else they may be left out */
    void (*device)(void *context, const ovl_read_device *record);
    void (*host)(void *context, const ovl_read_host *record);
    void (*memory)(void *context, const ovl_read_memory *record);
    void (*row)(void *context, const ovl_read_row *record);
    void (*wait)(void *context, const ovl_read_wait *record);
    void (*range)(void *context, const ovl_read_range *record);
    void (*metric)(void *context, const ovl_read_metric *record);
    void (*exact)(void *context, const ovl_read_exact *record);
} ovl_sink;

typedef enum ovl_read_format {
    OVL_READ_NOTHING, /* no trace */
    OVL_READ_KINETO,
    OVL_READ_TIMELINE, /* PyTorch's export_memory_timeline, raw */
    OVL_READ_NSYS,
    OVL_READ_NCCL_TESTS,
    OVL_READ_INTERVALS,
    OVL_READ_SIZES, /* a CSV of message sizes and times */
} ovl_read_format;

/* A kind of fault: how often, and the byte of the first. */
typedef struct ovl_read_fault {
    uint64_t count, first;
} ovl_read_fault;

typedef struct ovl_read_faults {
    ovl_read_fault broken;      /* events that are no JSON, skipped */
    ovl_read_fault too_long;    /* events that do not end within OVL_SOURCE_MOST, skipped */
    ovl_read_fault no_device;   /* device operations whose device is no number, skipped */
    ovl_read_fault repaired;    /* texts with unescaped quotes or control characters, used */
    ovl_read_fault no_time;     /* events without a time that can be read, skipped */
    ovl_read_fault negative;    /* durations below zero, taken as zero */
    ovl_read_fault no_end;      /* device operations without a duration, taken as zero */
    ovl_read_fault more;        /* further JSON documents behind the first, read as well */
    ovl_read_fault behind;      /* bytes behind the last document, left out */
    bool no_heading;            /* rows of nccl-tests without the line that names their columns */
    bool damaged;               /* what it is compressed in is */
    bool cut;                   /* the file ends inside something */
    uint64_t cut_at, cut_after; /* at this byte, after so many events */
} ovl_read_faults;

/* A process group of the job, as the file lists it. */
typedef struct ovl_read_group {
    const char *name, *description; /* "" not written */
    int64_t size;                   /* -1: not written */
    const int64_t *ranks;
    uint32_t n_ranks;
} ovl_read_group;

/* What is known of a file once it was read. */
typedef struct ovl_read_about {
    ovl_read_format format;
    int64_t base;        /* ns since 1970 of time 0; 0 if the file says nothing */
    int64_t rank, world; /* -1: not written */
    uint64_t n_records;  /* events, rows */
    const ovl_read_group *groups;
    uint32_t n_groups;
    ovl_read_faults faults;
    bool own; /* `ovl export` wrote it, with: */
    int64_t ranks, copy_engines[2], hw_queues;
    const char *operation; /* nccl-tests, CSV of sizes: "all_reduce"; or NULL */
    int64_t n_ranks;       /* nccl-tests: ranks that took part, -1: not written */
    int64_t gpu_hbm;       /* bandwidth in bytes/s; 0: not written */
    int64_t gpu_sms;       /* likewise */
    const char *version;   /* of the exporter's schema, or NULL */
    ovl_arena *arena;      /* of the texts; set by the caller */
    const char *refused;   /* why the file cannot be used although it is a trace, or NULL */
} ovl_read_about;

/* Reads the file into the sink. False, and an error that says what it looks like, if it is no trace
 * or cannot be read; else faults are warnings. */
bool ovl_read_file(const char *path, const ovl_sink *sink, ovl_read_about *about, ovl_errs *errs);

/* The same for bytes in memory (no SQLite). */
bool ovl_read_in_memory(const char *path, const void *bytes, size_t count, const ovl_sink *sink,
                        ovl_read_about *about, ovl_errs *errs);

/* Adds a warning for each kind of fault. Done by the two above. */
void ovl_read_complain(const char *path, const ovl_read_about *about, ovl_errs *errs);

void ovl_read_fault_at(ovl_read_fault *fault, uint64_t byte);

/* Members of the group of this name; -1: the file does not list it. */
int64_t ovl_read_group_size(const ovl_read_about *about, const char *name, size_t length);

const char *ovl_read_format_name(ovl_read_format format);

/* What the first bytes of something that is no trace look like: "a PNG image". */
const char *ovl_read_looks_like(const char *bytes, size_t count);

/* One reader each. The source stands at its first byte. False if it turns out to be something else
 * (nothing was given to the sink then, and no error was added). */
bool ovl_read_kineto(ovl_source *source, const ovl_sink *sink, ovl_read_about *about);
bool ovl_read_nccl_tests(ovl_source *source, const ovl_sink *sink, ovl_read_about *about);
bool ovl_read_intervals(ovl_source *source, const ovl_sink *sink, ovl_read_about *about);
bool ovl_read_sizes(ovl_source *source, const ovl_sink *sink, ovl_read_about *about);

/* The collective that the name of a file tells: "all_reduce" of "x/nccl_allreduce_8xa100.csv".
 * NULL: none. Static text. */
const char *ovl_read_operation_of(const char *path);

/* False and an error if the database cannot be used. */
bool ovl_read_nsys(const char *path, const ovl_sink *sink, ovl_read_about *about, ovl_errs *errs);

bool ovl_slice_is(ovl_slice slice, const char *text);
bool ovl_slice_starts(ovl_slice slice, const char *text);
bool ovl_slice_has(ovl_slice slice, const char *part);

#endif
