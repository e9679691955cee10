/*
 * interfere.h - interference of kernels and collectives from three controlled runs: compute alone,
 * communication alone, and both overlapped. docs/calibrate.md says what each figure means.
 *
 * The runs must do the same: kernels are matched by name, grid and order on their device,
 * collectives by operation, message size and order. Runs that differ are refused with a list of the
 * differences. A run may have several files, one a rank: rank by rank the runs are set beside each
 * other, and the clocks of the files are set by the ends of their collectives.
 *
 *     --compute  matmul 25 ms      --comm  all_reduce 20 ms
 *     --overlap  matmul 29 ms beside all_reduce 33 ms
 *     ->  factors 29/25 and 29/16;  25 + 4 stretch + 4 tail = 33, alone + alone = 45, gain 12
 *
 * Times are integer nanoseconds.
 */
#ifndef OVL_TOOLS_INTERFERE_H
#define OVL_TOOLS_INTERFERE_H

#include "models/fit_rates.h"
#include "models/fit_shared.h"
#include "tools/collect.h"
#include "tools/json.h"
#include "tools/sha256.h"

#include <regex.h>

typedef enum ovl_role { OVL_ROLE_COMPUTE, OVL_ROLE_COMM, OVL_ROLE_OVERLAP, OVL_ROLES } ovl_role;

/* "--class 'sm90_xmma|cutlass=gemm'": kernels by name. */
typedef struct ovl_class_rule {
    regex_t regex;
    const char *name;
} ovl_class_rule;

typedef struct ovl_interfere_wishes {
    const char **paths[OVL_ROLES]; /* files of each run, one a rank */
    uint32_t n_paths[OVL_ROLES];
    ovl_class_rule *rules;
    uint32_t n_rules;
    double alpha; /* ns: latency at the begin of each collective, when it slows nobody */
    double hbm;   /* of the GPU, bytes/s; 0: not given */
    double sms;   /* 0: not given */
    double wire;  /* bytes/s on the wire of the collective; 0: from the trace where it says */
} ovl_interfere_wishes;

/* A device operation of one run. */
typedef struct ovl_trial_op {
    int64_t start, end;
    int64_t bytes;          /* communication: message size; -1 unknown */
    int64_t group_size;     /* communication: -1 unknown */
    double hbm, sms;        /* what it wants alone, where the file says so; else 0 */
    ovl_id name, shape, op; /* shape: grid and block; op: of a collective; or OVL_NONE */
    ovl_id klass;
    uint32_t device;
    bool comm;
} ovl_trial_op;

/* Sums of a metric the profiler sampled, in per cent of its most. */
typedef struct ovl_sampled {
    double hbm, sms;
    uint64_t n_hbm, n_sms;
} ovl_sampled;

typedef struct ovl_trial_file {
    const char *path;
    char sha256[OVL_SHA256_TEXT];
    int64_t rank; /* where a run has several files; else -1 */
} ovl_trial_file;

/* A device of a run. `key` is what it is called by in all runs: its id, or, where a run has several
 * files, that of its rank and which of its devices it is. */
typedef struct ovl_trial_device {
    int64_t id, key;
    uint32_t file;
} ovl_trial_device;

typedef struct ovl_trial {
    const char *path; /* of the first file */
    OVL_VEC(ovl_trial_file) files;
    OVL_VEC(ovl_trial_device) devices;
    OVL_VEC(ovl_trial_op) ops; /* by device, then start */
    ovl_sampled sampled;       /* while operations of its role ran */
    bool metrics;              /* the file has samples of GPU metrics */
    double hbm, sms;           /* of the GPU, where the file says so; else 0 */
} ovl_trial;

/* Durations of a class: tenth percentile, median, ninetieth. */
typedef struct ovl_spread3 {
    int64_t p10, median, p90;
} ovl_spread3;

typedef struct ovl_interfere_class {
    const char *name;
    bool comm;
    uint32_t n, n_beside; /* operations; beside the other kind */
    ovl_spread3 alone;
    ovl_spread3 took; /* of those beside */
    int64_t took_sum, beside_sum;
    double hbm, sms;  /* mean of what its operations want alone; 0 unknown */
    double wire;      /* comm: bytes/s on the wire alone; 0 unknown */
    ovl_rate_fit fit; /* factors by class of the other kind */
} ovl_interfere_class;

/* The three runs of one device, as sums. */
typedef struct ovl_reconciled {
    int64_t device, rank;              /* rank: -1 where a run is one file */
    int64_t compute_alone, comm_alone; /* busy time of each alone */
    int64_t compute, comm;             /* busy time overlapped */
    int64_t hidden, tail;              /* communication under kernels; without */
    int64_t idle;
    int64_t segment; /* compute + tail + idle */
} ovl_reconciled;

typedef struct ovl_interfere {
    ovl_arena arena;
    ovl_names names;
    const ovl_interfere_wishes *wishes;
    ovl_trial runs[OVL_ROLES];
    ovl_interfere_class *kernels, *comms;
    uint32_t n_kernels, n_comms;
    OVL_VEC(ovl_reconciled) devices;
    uint32_t n_outside; /* kernels outside the overlap */
    double drift;       /* median of took / alone of these; 0: none */
    int64_t both_ways;  /* ns in which an operation was beside several at once */
    ovl_shared_fit shared;
    OVL_VEC(const char *) notes;
} ovl_interfere;

/* Reads the three runs, matches and fits them. False and errors if they do not belong together. */
bool ovl_interfere_run(ovl_interfere *in, ovl_comm_pattern *pattern,
                       const ovl_interfere_wishes *wishes, ovl_errs *errs);

void ovl_interfere_free(ovl_interfere *in);

/* Parts of it: one run from its file, its operations by device and start; and when its collectives
 * truly began. */
bool ovl_interfere_read(ovl_interfere *in, ovl_role role, ovl_comm_pattern *pattern,
                        ovl_errs *errs);

void ovl_interfere_starts(ovl_trial *run);

/* A factor as a profile may have it: at least 1, and 1 where it is not known. */
double ovl_interfere_factor(ovl_fit_value value);

/* The factors of a pair of classes, both ways; the common one where partners cannot be told apart.
 */
ovl_fit_value ovl_interfere_of(const ovl_interfere_class *klass, uint32_t partner);

/* Whether the two were ever beside each other, with a factor for either. */
bool ovl_interfere_met(const ovl_interfere *in, uint32_t kernel, uint32_t comm);

void ovl_interfere_text(ovl_out *out, const ovl_interfere *in);
void ovl_interfere_json(ovl_json *json, const ovl_interfere *in);

/* The `interference:` entries of a profile; `begun`: the list has some. */
void ovl_interfere_profile(ovl_out *out, const ovl_interfere *in, bool begun);

#endif
