/*
 * inspect.h - what measured traces say: busy time by kind, steps, collectives, ranks against each
 * other, memory. docs/inspect.md says what each number means.
 *
 * Everything lives in the arena of the inspection; traces themselves are gone once they were added.
 *
 *     ovl_inspection in;
 *     ovl_inspect_begin(&in, &pattern, &errs);
 *     ovl_inspect_add(&in, "rank0.json.gz", &errs);   as often as there are files
 *     ovl_inspect_ranks(&in, &errs);
 *     ovl_inspect_text(out, &in);                     or ovl_inspect_json
 *     ovl_inspect_free(&in);
 *
 * Times are integer nanoseconds. -1 means "not known" wherever a count or time cannot be negative.
 */
#ifndef OVL_TOOLS_INSPECT_H
#define OVL_TOOLS_INSPECT_H

#include "tools/collect.h"
#include "tools/out.h"

/* Why a device was idle; the parts sum to its idle time. */
typedef struct ovl_idle {
    int64_t host;    /* what came next was not launched yet */
    int64_t sync;    /* the same, while the host waited for a device itself */
    int64_t queued;  /* what came next was launched, and waited for others or to be started */
    int64_t unknown; /* the launch of what came next is not in the file */
} ovl_idle;

typedef struct ovl_inspect_device {
    uint32_t file; /* index */
    int64_t device, rank;
    ovl_measures all;
    ovl_measures launched; /* only what has its launch in the file, if n_unlinked > 0 */
    bool two_views;        /* `launched` differs from `all`, and the file has launches */
    uint64_t n_unlinked;   /* kernels without one */
    bool causes;           /* `idle` is known: the file has launches */
    ovl_idle idle;
} ovl_inspect_device;

typedef struct ovl_inspect_step {
    uint32_t file;
    int64_t device, rank, number;
    int64_t wall; /* of the host's annotation */
    ovl_measures m;
} ovl_inspect_step;

/* Calls of one kind, group and size on one device. */
typedef struct ovl_inspect_collective {
    uint32_t file;
    int64_t device, rank;
    const char *op, *group, *dtype; /* the last two may be NULL */
    int64_t group_size, bytes;
    uint64_t count;
    int64_t shortest, median, longest, total;
    double algbw, busbw; /* bytes/s of the shortest; 0 unknown */
} ovl_inspect_collective;

typedef struct ovl_inspect_memory {
    uint32_t file;
    int64_t type, device;
    int64_t allocated, reserved; /* peaks; -1 not known */
    bool lower_bound;            /* a running sum: what came before the file is missing */
    uint64_t events;
} ovl_inspect_memory;

typedef struct ovl_inspect_row {
    uint32_t file;
    uint32_t run;                      /* of the file, from 0 on */
    const char *operation;             /* that it measured, or NULL */
    int64_t n_ranks;                   /* that took part, -1: not told */
    const char *type, *redop, *series; /* or NULL */
    int64_t bytes, count, time[2], wrong[2];
    double algbw[2], busbw[2]; /* bytes/s; 0 unknown */
} ovl_inspect_row;

typedef struct ovl_inspect_file {
    const char *path;
    ovl_read_format format;
    int64_t rank, world;
    uint64_t n_records;
    const char *version, *operation; /* or NULL */
    int64_t n_ranks;                 /* nccl-tests */
    uint32_t n_devices;
    const ovl_read_group *groups; /* process groups the file lists */
    uint32_t n_groups;
} ovl_inspect_file;

/* What takes part in the comparison of ranks: a device with communication. */
typedef struct ovl_inspect_party {
    uint32_t file;
    int64_t device, rank;
    int64_t base;
    ovl_sorter comms;       /* ovl_comm_op, in order of time; empty after ovl_inspect_ranks */
    bool numbered;          /* all of them have a group and a sequence number */
    int64_t clock;          /* offset of its clock: its ends are later by so much */
    uint64_t matched;       /* collectives */
    uint64_t last;          /* how often it arrived last */
    int64_t wait, duration; /* sums over the matched collectives */
} ovl_inspect_party;

/* One collective, matched over all parties. */
typedef struct ovl_inspect_match {
    const char *op, *group; /* group: its name, or "stream 1" by order of use */
    int64_t number;         /* sequence, or k of its group from 0 on */
    int64_t bytes;
    int64_t ranks;     /* of its group; -1: no file tells */
    bool partial;      /* some of them have no file: the transfer is an upper bound */
    int64_t transfer;  /* the shortest duration: that of who came last */
    int64_t end_skew;  /* of the ends, after the clocks were set */
    uint32_t last;     /* party */
    int64_t *duration; /* [n_parties]; -1 for those not in the group */
    int64_t *end;      /* likewise, by the clock of each */
} ovl_inspect_match;

typedef struct ovl_inspection {
    ovl_arena arena;
    ovl_names names;
    ovl_comm_pattern *pattern;
    OVL_VEC(ovl_inspect_file) files;
    OVL_VEC(ovl_inspect_device) devices;
    OVL_VEC(ovl_inspect_step) steps;
    OVL_VEC(ovl_inspect_collective) collectives;
    OVL_VEC(ovl_inspect_memory) memory;
    OVL_VEC(ovl_inspect_row) rows;
    OVL_VEC(ovl_inspect_party) parties;
    OVL_VEC(ovl_inspect_match) matches;
} ovl_inspection;

void ovl_inspect_begin(ovl_inspection *in, ovl_comm_pattern *pattern);

/* Reads one file and derives what it says by itself. False and an error if it is no trace. */
bool ovl_inspect_add(ovl_inspection *in, const char *path, ovl_errs *errs);

/* The same for bytes in memory: tests, fuzzing. */
bool ovl_inspect_bytes(ovl_inspection *in, const char *path, const void *bytes, size_t count,
                       ovl_errs *errs);

/* Sets the ranks beside each other, if there are several. */
void ovl_inspect_ranks(ovl_inspection *in, ovl_errs *errs);

/* How many matched collectives lack ranks of their group. */
uint32_t ovl_inspect_partial(const ovl_inspection *in);

void ovl_inspect_free(ovl_inspection *in);

/* Parts of ovl_inspect_add: rows of collectives, and what is kept for ovl_inspect_ranks. */
void ovl_inspect_collectives(ovl_inspection *in, ovl_collected *file, uint32_t file_index);
void ovl_inspect_party_begin(ovl_inspect_party *party, uint32_t nth);
void ovl_inspect_party_add(ovl_inspect_party *party, const ovl_comm_op *op);

void ovl_inspect_text(ovl_out *out, const ovl_inspection *in);
void ovl_inspect_json(ovl_out *out, const ovl_inspection *in, const ovl_errs *errs);

#endif
