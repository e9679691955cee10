/*
 * result.h - what a run means: metrics and the tables of each analysis. The narrow waist of the
 * program: reports, comparison, store and sweep walk a result and nothing else, so it holds its own
 * texts and no indices into programs or timelines.
 *
 * Every table's rows and their meaning are those of design "What each result means". A field that
 * does not apply is OVL_NEVER (times), OVL_NONE (numbers), NULL (texts) or negative (rates):
 * reports leave it out, never print zero for it.
 *
 * Example: matmul 25 ms beside an all-reduce of 20 ms that stretch each other to 29 and 33: step 33
 * ms, decomposition compute 25 + compute_stretch 4 + comm_transfer 4; the all-reduce has u_path 29,
 * exposed 4, u_variant 25, interference 4.
 */
#ifndef OVL_SIM_RESULT_H
#define OVL_SIM_RESULT_H

#include "sim/engine.h"
#include "sim/measured.h"

/* The most memory of one kind (memory.h) on a rank, who holds it, and which operation would have to
 * change for it to fall. Times count from the start of the run. */
typedef struct ovl_peak {
    uint64_t bytes;
    ovl_time at;                           /* live: GPU time; else when the host was there */
    const char *raised_buffer, *raised_by; /* the buffer that made it, and the operation: the first
                                              to use it (live), or the next to be issued ("end") */
    /* The largest holder that could go earlier: neither held for the whole run nor the one that
     * made the peak, nor last used by what comes behind the first use of that one. The last
     * operation that uses it, and when that ended. NULL: there is none. */
    const char *eased_buffer, *eased_by;
    ovl_time eased_at;
    uint64_t category[OVL_CATEGORY_COUNT]; /* of `bytes`; with rounding and unused they sum to it */
    /* Of a reserved peak: what blocks are larger than their buffers, what is free in pools, and
     * what of the buffers was freed but waited for the GPU (counted in its category). */
    uint64_t rounding, unused, waiting;
    const struct ovl_holder *holders; /* largest first; they sum to `bytes` */
    uint32_t n_holders;
} ovl_peak;

/* What the host of a rank does in the step (hostload.h). */
typedef struct ovl_host_load {
    ovl_time issuing, blocked, free; /* sum to the step */
    ovl_time gpu_waits;              /* no kernel runs though an operation lacks only its launch */
    ovl_time ahead_min, ahead_mean;  /* from launch to start; OVL_NEVER without work on the GPU */
} ovl_host_load;

/* Whether the step waits for hosts, and where that would end (hostload.h). Scales are thousandths.
 */
typedef struct ovl_result_host {
    bool present;          /* issuing takes time or blocks somewhere */
    ovl_time free_step;    /* the step if it took no time; OVL_NEVER if not simulated */
    ovl_time first_launch; /* what a single step waits for at its begin, whatever is done */
    bool bound;            /* the host costs more than 1 % beyond that */
    bool hidden;           /* ... no more than a thousandth */
    bool searched;         /* crossovers were looked for */
    uint32_t kernels;      /* not hidden: the least scale of kernels that hides it; 0: none */
    ovl_time kernels_step; /* the step then */
    bool has_cost;
    uint32_t cost; /* the largest scale of what the host takes at which it is hidden */
} ovl_result_host;

/* What reserved memory is: handed out, freed but still in use on the GPU, or free in a pool
 * (rounding included). */
typedef enum ovl_reserved_part {
    OVL_RESERVED_ALLOCATED,
    OVL_RESERVED_WAITING,
    OVL_RESERVED_FREE,
    OVL_RESERVED_PARTS,
} ovl_reserved_part;

/* From a place in host program order on: bytes allocated of each category, and the parts of what is
 * reserved. Where the host takes no time many places have one moment. */
typedef struct ovl_memory_sample {
    ovl_time at;
    uint32_t position;  /* before this local operation was issued */
    const char *before; /* its name, or "end" */
    uint64_t allocated[OVL_CATEGORY_COUNT];
    uint64_t reserved[OVL_RESERVED_PARTS];
} ovl_memory_sample;

/* From a moment of the GPU on: bytes that hold data, of each category. */
typedef struct ovl_live_sample {
    ovl_time at;
    uint64_t live[OVL_CATEGORY_COUNT];
} ovl_live_sample;

/* The first request that a GPU could not meet. */
typedef struct ovl_memory_failure {
    const char *buffer, *op;  /* what was asked for, before issuing which operation; NULL: none */
    uint64_t bytes, reserved; /* asked for, and taken from the GPU when it failed */
    ovl_time at;              /* host time */
} ovl_memory_failure;
/* Why a rank runs no kernel (idle.h). */
typedef enum ovl_idle_kind {
    OVL_IDLE_FILL,
    OVL_IDLE_DRAIN,
    OVL_IDLE_IMBALANCE,
    OVL_IDLE_DEPENDENCY,
    OVL_IDLE_SCHEDULE,
    OVL_IDLE_HOST,
    OVL_IDLE_PAUSE,
    OVL_IDLE_COUNT,
} ovl_idle_kind;

/* The same account, reasons peeled off one after another. */
typedef enum ovl_peel {
    OVL_PEEL_STRUCTURAL,
    OVL_PEEL_IMBALANCE,
    OVL_PEEL_DEPENDENCY,
    OVL_PEEL_PAUSE,
    OVL_PEEL_HOST,
    OVL_PEEL_COUNT,
} ovl_peel;

/* "fill", ...; "structural", ...: the keys of the JSON. */
const char *ovl_idle_name(ovl_idle_kind kind);
const char *ovl_peel_name(ovl_peel kind);

/* Who is to blame for the largest part of one kind of idle time. */
typedef struct ovl_result_blame {
    ovl_idle_kind kind;
    ovl_time time; /* of that kind because of it */
    const char *text;
} ovl_result_blame;

/* A stretch without a kernel. */
typedef struct ovl_result_gap {
    ovl_time start, end;
    const char *before; /* the kernel that ends it; NULL: it lasts to the end of the step */
    ovl_time piece[OVL_IDLE_COUNT]; /* sums to end - start */
    const char *because; /* who is to blame for the largest piece but fill and drain; NULL */
} ovl_result_gap;

/* One rank, or several that did the same at the same times: `rank` is the lowest, `count` how many.
 */
typedef struct ovl_result_rank {
    uint32_t rank, count;
    ovl_time term[OVL_TERM_COUNT]; /* sums to the step */
    ovl_time hidden_comm, hidden_comm_stretch;
    ovl_time end;
    uint32_t startups; /* collectives, sends, receives and batches launched */
    bool has_host;     /* its issuing takes time or blocks */
    ovl_host_load host;
    bool has_memory;       /* the program declares buffers; else the fields below do not apply */
    uint64_t memory_limit; /* bytes of its GPU; 0: not known */
    uint64_t allocated_peak, reserved_peak, live_peak; /* the bytes of: */
    ovl_peak allocated, reserved, live;
    uint64_t active_peak; /* allocated, or freed and still in use by the GPU (record_stream) */
    uint32_t retries;     /* requests that were met only after free segments went back */
    ovl_memory_failure failure;
    const ovl_live_sample *live_line; /* over time; NULL unless asked for */
    const ovl_memory_sample *host_line;
    uint32_t n_live_line, n_host_line;
    ovl_time idle_time;              /* in which it runs no kernel, to the end of the step */
    ovl_time idle[OVL_IDLE_COUNT];   /* sums to it */
    ovl_time peeled[OVL_PEEL_COUNT]; /* so does this */
    ovl_time span_start, span_end;   /* of its kernels; in a pipeline of those of its stages */
    double bubble_rate;              /* idle time within the span, of the span; negative: no span */
    const ovl_result_blame *blames;  /* at most one for each kind */
    uint32_t n_blames;
    const ovl_result_gap *gaps; /* in time order; NULL unless asked for */
    uint32_t n_gaps;
} ovl_result_rank;

typedef struct ovl_holder {
    const char *name, *category;
    uint64_t bytes;
} ovl_holder;

/* A collective or receive on one rank (or several alike). */
typedef struct ovl_result_collective {
    const char *name, *group, *op; /* op: "all_reduce", ..., "recv" */
    uint64_t bytes;
    uint32_t rank, count;
    uint32_t n; /* members of the communicator */
    bool on_critical_path;
    ovl_time ready, queue, wait, start, end; /* start = ready + queue + wait */
    const char
        *consumer;      /* NULL: nothing consumes it; u is then the end of the rank's other work */
    ovl_time first_use; /* when the consumer started */
    ovl_time window;    /* u_path - ready */
    ovl_time u_path;    /* latest other start condition of the consumer */
    ovl_time u_variant; /* the same when this operation is free; OVL_NEVER if not simulated */
    ovl_time exposed;   /* max(0, end - u_path) */
    ovl_time interference; /* max(end, u_path) - u_variant - exposed = u_path - u_variant; OVL_NEVER
                              if not simulated */
    ovl_time isolated;     /* latency + work */
    double algbw,
        busbw;      /* bytes/s over end - start; negative where it has no bytes or took no time */
    ovl_time slack; /* how much later it could end with the step unchanged, other durations as they
                       were */
    ovl_time worth; /* step - step with it free; OVL_NEVER if not simulated */
} ovl_result_collective;

/* Names that differ in numbers only (alike.h), all of them free at once, on every rank. */
typedef struct ovl_result_together {
    const char *name; /* "forward block[*].dispatch mb *"; of a single name itself */
    uint32_t names;   /* so many */
    ovl_time exposed; /* summed over names and occurrences, each the largest of any rank;
                         OVL_NEVER: too long to be counted */
    ovl_time worth;   /* step - step without them */
} ovl_result_together;

typedef struct ovl_result_path {
    const char *op,
        *stream; /* stream "host" for host calls and launches, "wire" for an eager transfer */
    uint32_t rank;
    ovl_time start,
        end;         /* one item's end is the next one's start, once what is said once is said
                        as often as it comes; the first starts at 0, the last ends at the step */
    const char *why; /* "stream: after x", "after: x", "communicator: after x", "rendezvous: x on
                        rank 3", "host", "start" */
    uint32_t again;  /* so many times more it comes, each `every` later: rows beside each other that
                        together last `every` are a block that repeats itself */
    ovl_time every;
} ovl_result_path;

/* How long the path is in all that a row says: 5 us of 1 us and 4 times more. */
static inline ovl_time ovl_path_time(const ovl_result_path *row)
{
    return (row->end - row->start) * ((ovl_time)row->again + 1);
}

typedef struct ovl_result_hazard {
    const char *kind; /* "race", "early_free", "missing_gradient", "duplicate_gradient",
                         "wrong_scale" */
    const char *text; /* a sentence naming operations, buffer and rank */
    ovl_mark mark;
    uint32_t rank, count;
} ovl_result_hazard;

/* How long operations of one name were held below isolated speed by one thing, on the deciding
 * rank. */
typedef struct ovl_result_limit {
    const char *op, *bound; /* bound: "hbm", "nvlink.out", "SMs", "measured factor" */
    ovl_time time, lost;
} ovl_result_limit;

#define OVL_MANY_BYTES UINT64_MAX /* too many to be counted */

/* Resources of one name (usage.h), SMs among them: the busiest instance, and all together. */
typedef struct ovl_result_resource {
    const char *name;   /* "nic.out" */
    uint32_t instances; /* that were used */
    uint32_t busiest;   /* which one: the rank, node, block or rail, or 0 */
    bool sms;           /* capacity is in SMs, and there are no bytes */
    ovl_time busy;      /* in which the busiest was used at all */
    uint64_t capacity, bytes;
    double mean_use; /* bytes of what it could have carried in the step; SM time of all there is */
    uint64_t total;  /* bytes over all instances */
    /* What operations lost to it (meetings.h): on the deciding rank, over all ranks, and of that
     * beside nobody. OVL_NEVER: too long to be counted, as losses of collisions may be. */
    ovl_time lost, lost_all, alone, alone_all;
} ovl_result_resource;

#define OVL_MOST_COLLISIONS 1000

/* Two names of operations that used one resource at the same time (meetings.h; a = b: several of
 * that name) and were held back by it. Losses of rows of one resource add up. */
typedef struct ovl_result_collision {
    const char *resource, *a, *b;
    uint32_t pairs;        /* of names, in rows of names that are alike; else 1 */
    uint32_t shared, full; /* instances on which they met; of them those that were full meanwhile */
    ovl_time together;     /* on the full one where that was longest */
    ovl_time lost_a, lost_b; /* on the deciding rank, a beside b and b beside a; a = b: in lost_a */
    ovl_time all_a, all_b;   /* over all ranks */
} ovl_result_collision;

/* Why the step is as long as it is: the last consumer that had to wait for communication. step =
 * u_path + exposed + after; u_path = u_variant + interference where simulated. Example: 213 = 211 +
 * 2; 33 = 25 + 4 + 4. */
typedef struct ovl_result_equation {
    bool present;
    const char *collective, *consumer;
    ovl_time u_path, exposed, after;
    ovl_time u_variant, interference; /* OVL_NEVER if not simulated */
} ovl_result_equation;

/* A kernel of a pipeline, for pictures (actions.h). */
typedef struct ovl_result_action {
    uint32_t rank;
    uint16_t stage;
    uint8_t part; /* ovl_part */
    uint32_t microbatch;
    ovl_time start, end;
} ovl_result_action;

/* Idle time over all ranks. */
typedef struct ovl_result_idle {
    ovl_time time; /* OVL_NEVER, and all below: too long to be counted */
    ovl_time piece[OVL_IDLE_COUNT], peeled[OVL_PEEL_COUNT];
    ovl_time span; /* the largest of any rank, and the lowest such rank */
    uint32_t span_rank;
    double bubble_rate; /* idle time of all ranks, of the step times ranks; negative: no step */
    double span_bubble_rate;        /* 1 - mean kernel time of a rank / span; negative: no span */
    const ovl_result_blame *blames; /* at most one for each kind */
    uint32_t n_blames;
    bool pipeline; /* operations say which stage they are of */
    bool telling;  /* there is more to say than that communication is waited for */
} ovl_result_idle;

/* A change, and what a simulation of it gave: what would help against one kind of idle time. */
typedef struct ovl_result_what_if {
    const char *against; /* "imbalance", ...; "fill and drain" */
    const char *change;  /* "16 microbatches instead of 8" */
    ovl_time step;
    uint64_t microbatches; /* of the changed step, if it does other work; else 0 */
    ovl_time per_microbatch, per_microbatch_now; /* ovl_result_per_microbatch; OVL_NEVER without */
    double bubble_rate;
    ovl_time idle[OVL_IDLE_COUNT]; /* over all ranks; OVL_NEVER: too long to be counted */
} ovl_result_what_if;
/* What the run cost that the result is about. */
typedef struct ovl_result_stats {
    ovl_counters counters;
    uint32_t n_ops, n_ranks;
    uint64_t announced; /* bytes: ovl_run_memory */
} ovl_result_stats;

/* What a step is for, where the caller knows: FLOPs that the model itself needs (without what is
 * computed again), the mean over all GPUs, and tokens that all of them train on together. */
typedef struct ovl_useful {
    double flops;      /* of a GPU; 0: not known */
    double attention;  /* of these those that grow with the length of sequences */
    uint64_t sequence; /* that length, in tokens */
    double peak;       /* FLOP/s of a GPU, the mean of all; 0: not known */
    bool mixed;        /* GPUs have different peaks */
    uint64_t tokens;   /* of a step, over ... */
    uint32_t ranks;
} ovl_useful;

typedef struct ovl_result {
    const char *scenario, *variant; /* variant "base" without one */
    const char *description;        /* what the scenario says of itself; NULL without */
    const char *interference;       /* none, shared, measured */
    uint32_t in_steps; /* collectives of up to so many members ran in steps (expand.h); 0: none */
    uint32_t n_ranks_simulated;
    uint32_t n_folded; /* into how many classes they were folded; 0: each was simulated itself */
    ovl_time step;
    /* With several steps (steps.h): how long each took on the deciding rank, in order; the last is
     * `step`. n_steps is 1 and step_times NULL with one. */
    const ovl_time *step_times;
    uint32_t n_steps;
    ovl_time without_interference; /* the step under `none`: the difference is the price of
                                      interference, and of capacity that was lost */
    bool degraded;                 /* a resource changed its capacity before the step ended, and the
                                      model follows that: what is slowed may be so by nobody */
    uint32_t deciding_rank;
    ovl_time term[OVL_TERM_COUNT]; /* of the deciding rank */
    ovl_time hidden_comm, hidden_comm_stretch, comm_total,
        comm_uncovered; /* total = hidden + uncovered (no kernel beside it); of the deciding rank */
    /* Over the deciding rank's collectives and receives: sum of bytes x busbw factor over the sum
     * of their times; negative without any. */
    double mean_busbw;
    uint32_t startups; /* of the deciding rank */
    /* The reserved peak of the rank to which its GPU leaves least, and what that holds (0: not
     * known: the largest peak). */
    bool has_memory;
    uint64_t reserved_peak, memory_limit;
    uint32_t fullest_rank;
    uint32_t allocation_retries; /* of that rank */
    ovl_memory_failure failure;  /* of that rank */
    bool exact_memory;           /* reserved without rounding (OVL_ROUNDING_NONE) */
    ovl_result_equation equation;
    ovl_result_idle idle;
    ovl_result_host host;
    uint32_t microbatches;             /* of each pipeline; 0: not known, or none */
    uint32_t rank_microbatches;        /* of each rank, without a pipeline; 0: not known */
    const ovl_result_what_if *what_if; /* NULL: not asked for */
    uint32_t n_what_if;
    const char *what_if_note; /* what could not be tried, or NULL */
    const ovl_result_rank *ranks;
    uint32_t n_ranks;
    const ovl_result_collective *collectives; /* by rank, then start, then name */
    uint32_t n_collectives;
    const ovl_result_together *together; /* by worth; none if every name was freed by itself */
    uint32_t n_together;
    const ovl_result_path *path; /* in time order */
    uint32_t n_path;
    const ovl_result_action *actions; /* by rank, then start; none if there are too many */
    uint32_t n_actions;
    const ovl_result_limit *limits; /* most lost first */
    uint32_t n_limits;
    const ovl_result_resource *resources;
    uint32_t n_resources;
    const ovl_result_collision *collisions; /* most lost first, at most OVL_MOST_COLLISIONS */
    uint32_t n_collisions, all_collisions;
    const ovl_result_collision *alike; /* the same of names that differ in numbers only (alike.h) */
    uint32_t n_alike, all_alike;
    const ovl_result_hazard *hazards;
    uint32_t n_hazards;
    bool hazards_checked;    /* false: the program has no buffers */
    uint32_t reuses_checked; /* buffers that got the memory of one freed before, each after its last
                                use; over all ranks */
    uint32_t accesses_checked, gradients_proved; /* pairs of accesses ordered; (gradient, rank)
                                                    inputs of optimizers proved */
    const char *gradient_scale; /* "1/8": what every optimizer input was proved to carry; NULL
                                   without a proof */
    uint64_t gradient_digest;   /* of what the optimizers receive; equal digests: equal gradients */
    const char *const *not_modelled; /* sentences */
    uint32_t n_not_modelled;
    ovl_useful useful;
    const ovl_against *replay; /* of a trace: beside what was measured; else NULL */
    bool has_stats;            /* they were asked for */
    ovl_result_stats stats;
} ovl_result;

typedef enum ovl_worth {
    OVL_WORTH_DEFAULT,
    OVL_WORTH_ALL,
    OVL_WORTH_NONE,
    OVL_WORTH_NAME
} ovl_worth;

#define OVL_WORTH_DEFAULT_NAMES                                                                    \
    8 /* the default simulates the most exposed names, at most so many, */
#define OVL_WORTH_DEFAULT_OPS                                                                      \
    16000000u /* and at most so many operations in all, but always one name */
#define OVL_WORTH_ALL_OPS                                                                          \
    64000000u /* beyond so many, names that differ in numbers are freed together (alike.h) */

typedef struct ovl_analyse_options {
    ovl_interference interference;
    ovl_worth worth;
    const char *worth_name; /* with OVL_WORTH_NAME */
    uint64_t worth_ops;     /* with OVL_WORTH_ALL: operations, in all runs, that every name may take
                               to be freed by itself; 0: OVL_WORTH_ALL_OPS */
    const char *scenario, *variant, *description;
    bool gaps;              /* list the gaps of each rank */
    bool memory_lines;      /* list the memory of each rank over time */
    bool stats;             /* say what the run cost */
    bool no_usage;          /* leave out what used links and memories, and who met on them */
    bool only_measured;     /* nothing but how it compares with `measured` */
    const ovl_watch *watch; /* looks on at every run; NULL: nobody */
    uint64_t memory;        /* bytes a run may take; 0: no limit */
    const char *const *not_modelled; /* what the caller knows is left out; copied into the result */
    uint32_t n_not_modelled;
    uint32_t microbatches;      /* of each pipeline; 0: not known, or none */
    uint32_t rank_microbatches; /* of each rank, without a pipeline; 0: not known */
    ovl_useful useful;
    bool no_fold;                 /* simulate every rank, also those that do the same (fold.h) */
    bool no_skip;                 /* simulate every period of a run that repeats itself (recur.h) */
    const ovl_measured *measured; /* of a replayed trace; else NULL */
} ovl_analyse_options;

/* Runs the program and every analysis. The result lives in `arena` and needs nothing else. If
 * `kept` is not NULL it gets the run's timeline (with rate segments) of all ranks, in the same
 * arena, for pictures; the program must be numbered then. False and errors as ovl_run; also
 * OVL_E_USAGE if worth_name names no collective or receive. */
bool ovl_analyse(const ovl_program *program, const ovl_analyse_options *options, ovl_arena *arena,
                 ovl_result *result, ovl_timeline *kept, ovl_errs *errs);

/* The work of a step in microbatches, those of all data-parallel replicas: as many as the
 * optimizer's gradients were proved to be summed from ("1/16": 16, "1": 1); where none are
 * followed, those of a pipeline; 0: not known. */
uint64_t ovl_result_microbatches(const ovl_result *result);

/* The step over these, whole picoseconds; OVL_NEVER if they are not known. */
ovl_time ovl_result_per_microbatch(const ovl_result *result);

/* Bytes by which the reserved peak exceeds what the GPU holds; 0 if it fits or either is not known.
 */
uint64_t ovl_result_over_memory(const ovl_result *result);

/* Whether the memory of a rank, one of `result->ranks`, fits its GPU; true if nothing is known. */
bool ovl_result_rank_fits(const ovl_result *result, const ovl_result_rank *rank);

/* How many ranks, of how many that have any memory, do not fit their GPUs. */
uint32_t ovl_result_ranks_over(const ovl_result *result, uint32_t *of);

/* Whether the last two steps are alike, to a thousandth. False, too, with fewer than three: the
 * first is never like the others for sure. */
bool ovl_result_converged(const ovl_result *result);

/* 0, or 1 if the result has hazards. */
int ovl_result_status(const ovl_result *result);

#endif
