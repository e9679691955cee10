/*
 * collect.h - what is kept of a trace for looking at it: the records of a file, small and in order.
 *
 * 32 bytes a device operation and 16 a launch are put in order by sorters (sorter.h), which go to a
 * temporary file beyond some megabytes: memory does not grow with the length of a trace, but for
 * the steps, devices and names of communication in it.
 *
 *     ovl_collected file = {0};
 *     ovl_collect_begin(&file, path, &pattern, &names);
 *     ovl_read_file(path, &file.sink, &file.about, &errs);
 *     ovl_collect_link(&file, &errs);       operations meet their launches
 *     for (const ovl_collected_op *op; (op = ovl_sorter_next(&file.ops)) != NULL;) ...
 *     ovl_collect_free(&file);
 */
#ifndef OVL_TOOLS_COLLECT_H
#define OVL_TOOLS_COLLECT_H

#include "sim/names.h"
#include "tools/busy.h"
#include "tools/read.h"
#include "tools/sorter.h"

#include <regex.h>

#define OVL_COMM_PATTERN "nccl|rccl"

/* Which kernels are communication: a POSIX extended regular expression, any case, anywhere in the
 * name. Answers are remembered by name, since a trace repeats few names often. */
typedef struct ovl_comm_pattern {
    regex_t regex;
    const char *text;
    uint64_t *seen; /* hash of a name, its last bit the answer */
} ovl_comm_pattern;

/* False and an error (OVL_E_USAGE) if it is no expression. */
bool ovl_comm_pattern_begin(ovl_comm_pattern *pattern, const char *text, ovl_errs *errs);
bool ovl_comm_pattern_matches(ovl_comm_pattern *pattern, ovl_slice name);
void ovl_comm_pattern_free(ovl_comm_pattern *pattern);

typedef struct ovl_collected_op {
    int64_t start, end;
    union {
        uint64_t key;     /* while reading, if `linked` */
        int64_t launched; /* after ovl_collect_link: start of its launch, if `linked` */
    } by;
    uint32_t identity; /* of name, stream and key: tells exact duplicates */
    uint16_t device;   /* index */
    uint8_t kind;      /* ovl_busy_kind */
    bool linked;
} ovl_collected_op;

typedef struct ovl_launch {
    uint64_t key;
    int64_t start;
} ovl_launch;

/* The host waited for a device. */
typedef struct ovl_host_sync {
    int64_t start, end;
} ovl_host_sync;

typedef struct ovl_comm_op {
    int64_t start, end;
    int64_t bytes;      /* of the message as nccl-tests counts it; -1 unknown */
    int64_t group_size; /* -1 unknown */
    int64_t sequence;   /* -1 unknown */
    uint64_t stream, key;
    ovl_id op;    /* name: "all_reduce" */
    ovl_id group; /* name, or OVL_NONE */
    ovl_id dtype; /* name, or OVL_NONE */
    uint16_t device;
    bool has_key;
} ovl_comm_op;

typedef struct ovl_step_range {
    int64_t number;
    int64_t start, end; /* of the host's annotation */
} ovl_step_range;

typedef struct ovl_memory_peak {
    int64_t type, device;
    int64_t sum;                 /* of the changes so far */
    int64_t peak_sum;            /* a lower bound: what was allocated before is not seen */
    int64_t allocated, reserved; /* largest totals; -1 not written */
    uint64_t events;
} ovl_memory_peak;

typedef struct ovl_table_row {
    int64_t bytes, count, time[2], wrong[2];
    ovl_id type, redop, series, operation; /* names, or OVL_NONE */
    uint32_t run;
    int64_t n_ranks; /* 0: not told */
} ovl_table_row;

typedef struct ovl_collected {
    const char *path;
    ovl_comm_pattern *pattern;
    ovl_sink sink;
    ovl_read_about about;
    ovl_arena arena;               /* of `about` */
    ovl_names *names;              /* the caller's: numbers mean the same in all files */
    OVL_VEC(int64_t) devices;      /* ids, in the order they came */
    OVL_VEC(int64_t) device_ranks; /* likewise; -1: that of the file */
    ovl_sorter ops;      /* ovl_collected_op: by key; after ovl_collect_link by device, start */
    ovl_sorter launches; /* ovl_launch, by key */
    ovl_sorter comms;    /* ovl_comm_op, by device and start */
    ovl_sorter syncs;    /* ovl_host_sync, by start */
    OVL_VEC(ovl_step_range) steps;
    OVL_VEC(ovl_memory_peak) memory;
    OVL_VEC(ovl_table_row) rows;
    uint64_t duplicates;  /* exact copies of device operations, not counted */
    uint64_t beyond;      /* operations of devices beyond the most that are kept */
    uint64_t like_copies; /* kernels named like copies (ROCm 7.1) */
    int64_t rank;         /* -1 unknown */
} ovl_collected;

void ovl_collect_begin(ovl_collected *file, const char *path, ovl_comm_pattern *pattern,
                       ovl_names *names);

/* Orders operations by device and start, drops exact duplicates, finds launches and the rank. False
 * and an error if a temporary file is lost. */
bool ovl_collect_link(ovl_collected *file, ovl_errs *errs);

/* The next collective by device and start into *op, exact duplicates once. False: no more. */
bool ovl_collect_first_comm(ovl_collected *file, ovl_comm_op *op);
bool ovl_collect_next_comm(ovl_collected *file, ovl_comm_op *op);

/* The rank of a device (index); -1 unknown. */
int64_t ovl_collect_rank(const ovl_collected *file, uint32_t device);

void ovl_collect_free(ovl_collected *file);

/* The rank a file name tells: "trace_rank-3.json", "worker3_step", "x_r3of8"; -1: none. */
int64_t ovl_rank_of_path(const char *path);

#endif
