/*
 * program.h - a frozen graph of operations: what a training step asks of the hardware, and in what
 * order.
 *
 * A program knows ranks, streams, communicators, resources, operations, dependencies and buffers,
 * and nothing of YAML, models or GPUs. The rules of what an operation means are in engine.h.
 *
 * Ranks that do the same share one `code`: a list of operations in host program order (= launch
 * order). Inside a code everything is relative: a communicator is a *slot* that each rank maps to
 * its own communicator, a resource is a *port* that each rank maps to its own resource. An
 * operation of a rank is named by
 *
 *     op = rank.first_op + index in its code            ("op" is global, "local" is the index)
 *
 * so 1,000 ranks of 1,000 operations store 1,000 operations, and only times are kept per rank. What
 * an operation is is stored once however often it repeats, and so is, by distance, what it waits
 * for and what waits for it (ties.h): 2,048 microbatches of one kernel store one ovl_op of 80
 * bytes, a few ovl_ties, and, each, the numbers of both, its name and its microbatch, 16 bytes.
 *
 * Example, the 25 ms matmul beside a 20 ms all-reduce on 2 ranks: one code of two operations on the
 * streams `compute` and `comm`, one communicator of members {0, 1}, two ranks whose slot 0 is that
 * communicator.
 *
 *     ovl_builder b;  ovl_builder_init(&b, &arena);
 *     ovl_id code = ovl_add_code(&b);
 *     ovl_add_op(&b, code, &(ovl_op){.kind = OVL_KERNEL, .name = ..., .stream = 0, .cost = ...});
 *     ...
 *     ovl_program p;
 *     if (ovl_freeze(&b, &p, &errs)) { ... }
 *
 * Edges (`after`), accesses, effects, allocations and frees attach to the operation last added to
 * their code, and an edge may only name an operation added before: a GPU cannot wait for an event
 * that is not yet recorded.
 */
#ifndef OVL_SIM_PROGRAM_H
#define OVL_SIM_PROGRAM_H

#include "sim/err.h"
#include "sim/names.h"
#include "sim/ties.h"

typedef enum ovl_op_kind {
    OVL_KERNEL,
    OVL_COLLECTIVE,
    OVL_SEND,
    OVL_RECV,
    OVL_BATCH, /* one launch of several sends and receives (its parts) */
    OVL_COPY,
    OVL_HOST,   /* a call on the host thread; its `after` edges are a blocking sync */
    OVL_MARKER, /* joins dependencies; takes no time, or its latency as a pause of its stream */
} ovl_op_kind;

typedef enum ovl_coll {
    OVL_ALL_REDUCE,
    OVL_REDUCE_SCATTER,
    OVL_ALL_GATHER,
    OVL_BROADCAST,
    OVL_REDUCE,
    OVL_ALL_TO_ALL,
    OVL_SEND_RECV, /* the cost table's name for sends and receives */
    OVL_COLL_COUNT,
} ovl_coll;

typedef enum ovl_dtype {
    OVL_F32,
    OVL_F64,
    OVL_BF16,
    OVL_F16,
    OVL_FP8,
    OVL_I8,
    OVL_I32,
    OVL_I64,
    OVL_DTYPE_COUNT,
} ovl_dtype;

/* How the allocator of a GPU hands out memory: allocator.h. */
typedef enum ovl_rounding {
    OVL_ROUNDING_PYTORCH,
    OVL_ROUNDING_NONE,
} ovl_rounding;

typedef enum ovl_category {
    OVL_PARAMETER,
    OVL_GRADIENT,
    OVL_OPTIMIZER,
    OVL_ACTIVATION,
    OVL_GATHERED,
    OVL_REDUCE_BUFFER,
    OVL_TEMPORARY,
    OVL_CATEGORY_COUNT,
} ovl_category;

/* "kernel", "all_reduce", "bf16", "gradient": the names used in scenarios, reports and JSON; static
 * text. */
const char *ovl_op_kind_name(ovl_op_kind kind);
const char *ovl_coll_name(ovl_coll coll);
const char *ovl_dtype_name(ovl_dtype dtype);
const char *ovl_category_name(ovl_category category);

/* What an operation of a pipeline is about. What its kernels would take if all stages were alike is
 * said beside them (ovl_op.mean): a stage may have in one piece what another has in two. */
typedef enum ovl_part {
    OVL_PART_NONE, /* no pipeline: kernels of one name do the same work on different ranks */
    OVL_PART_FORWARD,
    OVL_PART_BACKWARD, /* in one piece, */
    OVL_PART_INPUT,    /* or the piece that the stage before waits for */
    OVL_PART_WEIGHT,   /* and the one that nobody waits for */
    OVL_PART_PAIR,     /* a forward and a backward that run together */
    OVL_PART_COUNT,
} ovl_part;

/* Bytes of one element. */
uint32_t ovl_dtype_size(ovl_dtype dtype);

#define OVL_OPS_MAX ((UINT32_C(1) << 30) - 1) /* operations over all ranks */

/* --- What an operation costs --- */

#define OVL_COST_DEMANDS_MAX UINT8_MAX /* of one operation, on one side */

#define OVL_PORT_HBM 0 /* port 0 of every rank is its memory; links follow, out and in apart */

/* Bytes per second wanted of one port at isolated speed. */
typedef struct ovl_demand {
    uint16_t port;
    bool once; /* members that map the port to one resource load it once together (a node's NIC) */
    uint64_t rate;
} ovl_demand;

static inline bool ovl_same_demands(const ovl_demand *a, const ovl_demand *b, uint32_t n)
{
    bool same = true;
    for (uint32_t i = 0; i < n && same && a != b; i++) {
        same = a[i].port == b[i].port && a[i].once == b[i].once && a[i].rate == b[i].rate;
    }
    return same;
}

/* Some of the program's demands. */
typedef struct ovl_demand_list {
    uint32_t first, n;
} ovl_demand_list;

/* Kernels that do the work of two, for speed-ups: 3 of 10 of the work is of another class. */
typedef struct ovl_split {
    ovl_time part, whole;
    ovl_id klass;
} ovl_split;

/* What costs have in common that differ only in their times. */
typedef struct ovl_cost_kind {
    double weight; /* of the sharing solver: share.h */
    uint32_t sms;  /* kernels: SMs wanted (0: not said); others: SMs held from arrival to end */
    uint32_t
        blocks;   /* kernels: thread blocks, 0 if not said; the SM cap then goes by whole waves */
    ovl_id klass; /* interference class (ovl_program.pairs), or OVL_NONE */
    ovl_id split; /* 0: all of it is of `klass`; else splits[split - 1] says what is not */
    uint32_t first_demand, first_peer; /* into demands */
    uint8_t n_demands; /* from first_demand on: of a kernel, copy, member of a collective, sender */
    uint8_t n_peer;    /* from first_peer on: of the receiver of a send */
    uint8_t engine : 4;    /* copies: which copy engine direction, 0 d2h or 1 h2d */
    uint8_t by_member : 4; /* collectives: members demand each its own; one flag for all of them */
    uint8_t law;           /* how it varies, as its maker numbers that; a run does not look at it */
} ovl_cost_kind;

/* The isolated cost of an operation. There may be one for each operation of each rank, so it holds
 * the times alone: a thousand ranks whose kernels of one kind take each its own time store 32,000
 * bytes, and the kind once.
 *
 * A collective may go through several *phases*, one after another, each with a latency, work and
 * demands of its own: its cost is that of the first, and says which one follows. Example, an
 * all-reduce of 14 ms on two levels: 6 ms on NVLink, then 2 on the NIC, then 6 on NVLink again are
 * a cost of 6 ms and the two phases {2 ms, nic, then the next} and {6 ms, nvlink, the last}. */
typedef struct ovl_cost {
    ovl_time latency; /* alpha: a phase of fixed length without elastic demand */
    ovl_time work;    /* the fluid phase at isolated speed; for host calls the whole */
    ovl_time compute; /* kernels: how much of `work` the SMs bound; 0: SMs do not matter */
    ovl_id kind;      /* into cost_kinds */
    ovl_id then;      /* 0: that is all of it; else phases[then - 1] follows */
} ovl_cost;

#define OVL_KIND_FREE 0 /* of every program: of no class and weight 1, it demands nothing */

/* --- What an operation is --- */

#define OVL_NO_STREAM UINT16_MAX
#define OVL_NO_COMM   UINT16_MAX

/* All that is the same each time an operation repeats: the forward kernel of a layer is stored
 * once, however many microbatches it runs for. What tells repeats apart is in the lists of the
 * code: names, microbatches. Without gaps: two are equal if their bytes are. */
typedef struct ovl_op {
    uint8_t kind; /* ovl_op_kind */
    uint8_t coll; /* collectives: ovl_coll */
    uint8_t dtype;
    uint8_t part;   /* ovl_part; stage and microbatch are for those that have one */
    bool eager;     /* sends and receives: see engine.h; both sides must agree */
    bool per_rank;  /* the cost of rank r is cost + rank.variant: durations given per rank */
    bool uneven;    /* all-to-alls: members demand each its own */
    bool average;   /* collectives: the sum is divided by the number of members */
    bool timed;     /* receives: the time of the own cost was stated; it must be that of the send */
    bool step_end;  /* a training step ends with it on its rank (steps.h); all on one stream */
    bool continues; /* it belongs to a launch before it: no place of its own in a hardware queue */
    bool peer_relative; /* peer is an offset from the own place in the communicator, modulo its size
                         */
    uint16_t
        stream;    /* index into the code's streams; OVL_NO_STREAM for host calls and batch parts */
    uint16_t comm; /* communicator slot; OVL_NO_COMM if none */
    uint16_t stage;  /* sends and receives: of the output that is sent */
    uint16_t second; /* the other stage of a pair; else the same */
    ovl_id name;     /* into names, as it is added; stored: OVL_NONE, for ovl_code.name says it */
    uint32_t batch;  /* parts of a batch, as they are added: its local index; else, and stored,
                        OVL_NONE: */
    uint32_t behind; /* by how many operations a part is behind its batch; else 0; filled in */
    ovl_id cost;     /* into costs */
    int32_t peer;    /* sends and receives: the other side; collectives: root (0 if it has none) */
    uint64_t bytes;  /* payload, nccl-tests convention: all-gather output, reduce-scatter input */
    ovl_time launch; /* host time to issue it */
    ovl_time mean; /* kernels with a part: what they take if all stages are like their mean; 0: not
                      said */
    ovl_mark mark; /* where the user asked for it */
} ovl_op;

static inline bool ovl_same_op(const ovl_op *a, const ovl_op *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

typedef struct ovl_buffer {
    ovl_id name;    /* into names */
    uint32_t sizes; /* 0: `bytes` on every rank; else 1 + where those of rank 0, 1, ... begin in
                       ovl_program.sizes, and `bytes` is the most of them */
    uint64_t bytes;
    uint8_t category; /* ovl_category */
    uint8_t dtype;
    uint16_t stream;    /* the stream whose pool it is allocated from */
    bool held;          /* lives for the whole run whatever reads or writes it (parameters) */
    bool record_stream; /* other streams that use it were recorded with the allocator: once freed,
                           its block is usable again only when they are through with it */
    uint32_t
        alloc; /* host position: allocated before this local operation is issued; 0 at the start */
    uint32_t
        freed; /* host position: freed before this local operation is issued; OVL_NONE: never */
    ovl_mark mark;
} ovl_buffer;

typedef struct ovl_access {
    ovl_id buffer; /* of the code */
    bool write;
} ovl_access;

/* What an operation does to gradients, followed symbolically (gradflow.h). */
typedef enum ovl_effect_kind {
    OVL_PRODUCE,    /* buffer's `gradient` becomes this rank's of `microbatch` */
    OVL_ADD,        /* ... is added to what the buffer holds */
    OVL_PACK,       /* everything in `source`, times scale, replaces what `buffer` holds of the same
                       gradients */
    OVL_ACCUMULATE, /* ... is added to what `buffer` holds */
    OVL_RESET,      /* buffer holds nothing any more (zeroed, or about to be filled anew) */
    OVL_SUM,        /* collective: buffer = sum of members' `source` (times 1/n for `average`) */
    OVL_CONSUME, /* optimizer: every gradient in buffer must be complete, once, at scale 1/(ranks x
                    microbatches) */
} ovl_effect_kind;

typedef struct ovl_effect {
    uint8_t kind;
    ovl_id buffer, source; /* of the code; source OVL_NONE where there is none */
    ovl_id gradient; /* into names, PRODUCE and ADD; CONSUME: one that must be there, or OVL_NONE
                        for "what is there" */
    uint32_t microbatch;
    uint16_t apart; /* PRODUCE, ADD, CONSUME: 1 + a slot over whose communicator ranks have
                       different parts of the parameters (tensor parallelism), each a gradient of
                       its own; 0: all have the same */
    double scale;
} ovl_effect;

/* One list per operation, packed: the items of operation i are item[at[i]] .. item[at[i + 1] - 1].
 */
#define OVL_LISTS(type)                                                                            \
    struct {                                                                                       \
        const uint32_t *at;                                                                        \
        const type *item;                                                                          \
    }

/* What a group of identical ranks does. Arrays have an entry for each of the operations, in host
 * program order, unless said otherwise. */
typedef struct ovl_code {
    uint32_t n_ops, n_streams, n_buffers, n_slots;
    const ovl_op *distinct;     /* the program's: each operation once, however often it repeats */
    const uint32_t *which;      /* into distinct */
    const ovl_id *name;         /* into names */
    const uint32_t *microbatch; /* NULL: 0 everywhere */
    const ovl_id *streams;      /* [n_streams] names */
    const ovl_buffer *buffers;  /* [n_buffers] */
    OVL_LISTS(ovl_access) access;
    OVL_LISTS(ovl_effect) effect;
    /* Computed by ovl_freeze: */
    const uint32_t *tied;               /* into ties: what it waits for, and what waits for it */
    const ovl_ties *ties;               /* the program's: those of all codes, each once */
    const uint32_t *offsets;            /* the lists of the ties */
    const uint32_t *collectives_before; /* collectives: how many of the same slot come before; NULL:
                                           the code has none */
    OVL_LISTS(uint32_t) collectives;    /* by slot, not by operation: its collectives in order */
    bool queued;                        /* hardware queues matter: there are fewer than streams */
    bool host_timed; /* issuing takes time or can block: some launch > 0 or some host call */
    bool has_means;  /* some kernel says what it takes if all stages are alike */
    const uint32_t *step_ends; /* [n_steps] local operations with step_end */
    uint32_t n_steps;
    const struct ovl_course *course; /* course.h */
} ovl_code;

static inline const ovl_op *ovl_code_op(const ovl_code *code, uint32_t local)
{
    return &code->distinct[code->which[local]];
}

static inline uint32_t ovl_code_microbatch(const ovl_code *code, uint32_t local)
{
    return code->microbatch ? code->microbatch[local] : 0;
}

static inline const ovl_ties *ovl_code_ties(const ovl_code *code, uint32_t local)
{
    return &code->ties[code->tied[local]];
}

/* The operation before it on its stream, in its communicator, in its hardware queue; OVL_NONE:
 * there is none. */
static inline uint32_t ovl_code_stream_prev(const ovl_code *code, uint32_t local)
{
    return ovl_tied_to(local, ovl_code_ties(code, local)->back.stream_prev);
}

static inline uint32_t ovl_code_comm_prev(const ovl_code *code, uint32_t local)
{
    return ovl_tied_to(local, ovl_code_ties(code, local)->back.comm_prev);
}

static inline uint32_t ovl_code_queue_prev(const ovl_code *code, uint32_t local)
{
    return ovl_tied_to(local, ovl_code_ties(code, local)->back.queue_prev);
}

/* Operations that must have ended besides; that wait for its end; parts of a batch. */
static inline ovl_offsets ovl_code_after(const ovl_code *code, uint32_t local)
{
    return ovl_offsets_at(code->offsets, ovl_code_ties(code, local)->back.after);
}

static inline ovl_offsets ovl_code_next(const ovl_code *code, uint32_t local)
{
    return ovl_offsets_at(code->offsets, ovl_code_ties(code, local)->next);
}

static inline ovl_offsets ovl_code_parts(const ovl_code *code, uint32_t local)
{
    return ovl_offsets_at(code->offsets, ovl_code_ties(code, local)->parts);
}

/* The batch that an operation is a part of; OVL_NONE: of none. */
static inline uint32_t ovl_code_batch(const ovl_code *code, uint32_t local)
{
    uint32_t behind = ovl_code_op(code, local)->behind;
    return behind ? local - behind : OVL_NONE;
}

typedef struct ovl_rank {
    ovl_id code;
    uint32_t first_op;   /* global number of its code's operation 0 */
    uint32_t first_comm; /* into rank_comms: n_slots entries, the communicator of each slot */
    uint32_t
        first_place; /* into rank_places: own place in each of those communicators (same layout) */
    uint32_t first_port; /* into rank_ports: n_ports entries, the resource of each port */
    uint32_t variant;    /* added to the cost of operations marked per_rank */
    uint32_t gpu;        /* into gpus, if there are any */
} ovl_rank;

typedef struct ovl_comm {
    ovl_id name;                              /* into names: the group it belongs to */
    uint32_t first_member, n_members;         /* into members: ranks in order of their place */
    uint32_t first_collective, n_collectives; /* instances, numbered over the whole program */
    uint32_t size; /* ranks it has; more than n_members where several are simulated as one */
    uint32_t kind; /* into kinds */
} ovl_comm;

/* Communicators whose members run the same codes with the same slots, place by place, are of one
 * kind: what meets what in them is the same. */
typedef struct ovl_comm_kind {
    uint32_t comm;  /* the first of the kind */
    uint32_t mates; /* into mate_at, an entry for each place; OVL_NONE: no sends and receives */
} ovl_comm_kind;

/* A send or receive and what it meets: local index here, place and local index of the other side.
 */
typedef struct ovl_mate {
    uint32_t local, place, mate;
} ovl_mate;

typedef enum ovl_resource_kind { OVL_RES_HBM, OVL_RES_LINK } ovl_resource_kind;

typedef struct ovl_resource {
    ovl_id name; /* into names, e.g. "hbm", "nvlink.out" */
    uint8_t kind;
    uint32_t instance; /* which one: the rank, node or 0 */
    uint64_t capacity; /* bytes per second */
} ovl_resource;

/* What the GPU of a rank has, where not all have the same. */
typedef struct ovl_gpu {
    uint32_t sms;             /* 0: SMs are not modelled, which is so of all or of none */
    uint32_t copy_engines[2]; /* d2h, h2d; 0: unlimited */
    uint64_t memory;          /* bytes; 0: not known */
} ovl_gpu;

/* A resource has another capacity from a moment on: a link that degrades, and recovers. */
typedef struct ovl_capacity_change {
    ovl_time time;
    ovl_id resource;
    uint64_t capacity; /* bytes per second, not 0 */
} ovl_capacity_change;

/* Measured interference of one kernel class and one collective class; 0: not measured. */
typedef struct ovl_pair {
    double kernel_factor, collective_factor; /* isolated rate / rate while both run, >= 1 usually */
} ovl_pair;

typedef struct ovl_program {
    const ovl_names *names;
    uint32_t n_codes, n_ranks, n_comms, n_resources, n_costs, n_ports;
    uint32_t n_distinct;    /* operations, however often they repeat */
    uint32_t n_ops;         /* over all ranks; UINT32_MAX if there are more */
    uint32_t n_collectives; /* instances over all communicators */
    uint32_t n_steps;       /* training steps: the most that any code ends; 0 or 1: one */
    uint32_t n_ties, n_offsets;
    const ovl_op *distinct;
    const ovl_ties *ties; /* of operations to others of their code, each once */
    const uint32_t *offsets;
    const ovl_code *codes;
    const ovl_rank *ranks;
    const ovl_comm *comms;
    const uint32_t *members;      /* ranks */
    const uint32_t *member_slots; /* the slot that a member has for it; OVL_NONE: uses it never */
    const ovl_id *rank_comms;
    const uint32_t *rank_places;
    const ovl_id *rank_ports;
    const ovl_resource *resources;
    const ovl_cost *costs;
    uint32_t n_phases;
    const ovl_cost *phases; /* of costs that have several: all but the first, each behind those that
                               follow it */
    uint32_t n_cost_kinds;
    const ovl_cost_kind *cost_kinds;
    uint32_t n_splits;
    const ovl_split *splits;
    const ovl_demand *demands;
    uint32_t n_sizes;
    const uint64_t *sizes; /* bytes by rank, of the buffers that have their own on each */
    uint32_t n_kinds;
    const ovl_comm_kind *kinds;
    const uint32_t *mate_at; /* kinds[k].mates + place: into mates, by local index */
    const ovl_mate *mates;
    bool numbered; /* operations have global numbers and partners: it can be run as it is */
    const uint32_t *partner; /* [n_ops] sends and receives: the op at the other side, else OVL_NONE;
                                NULL without any */
    const struct ovl_fold *fold; /* fold.h: ranks stand for several; NULL: each for itself */
    uint32_t n_gpus;
    const ovl_gpu *gpus;      /* [n_gpus]; none: every rank has the GPU that follows */
    uint32_t sms;             /* of each rank's GPU; 0: SMs are not modelled */
    uint32_t copy_engines[2]; /* d2h, h2d; 0: unlimited */
    uint32_t hw_queues;       /* 0: as many as streams */
    uint64_t memory;          /* bytes of each rank's GPU; 0: not known */
    uint8_t rounding;         /* ovl_rounding of its allocator */
    uint32_t in_steps; /* collectives of up to so many members are in steps (expand.h); 0: none */
    uint32_t n_kernel_classes, n_coll_classes;
    const ovl_id *kernel_classes, *coll_classes; /* names */
    const ovl_pair *pairs;                       /* [n_kernel_classes * n_coll_classes] */
    uint32_t n_changes;
    const ovl_capacity_change *changes;      /* by time, then as they were added */
    const struct ovl_program *const *orders; /* [OVL_ORDERS] the same work in another order, below;
                                                NULL: its order does not depend on that */
} ovl_program;

/* An order of kernels that was searched for from what they and transfers take is another one where
 * these differ. Bits of an index into ovl_program.orders: */
#define OVL_ORDER_EVEN 1u /* all stages are like their mean */
#define OVL_ORDER_FREE 2u /* transfers take no time */
#define OVL_ORDERS     4u

/* What a cost has in common with others. */
static inline const ovl_cost_kind *ovl_kind_of(const ovl_program *p, const ovl_cost *cost)
{
    return &p->cost_kinds[cost->kind];
}

/* The phase that follows one, the first being the cost itself; NULL: it was the last. */
static inline const ovl_cost *ovl_next_phase(const ovl_program *p, const ovl_cost *phase)
{
    return phase->then ? &p->phases[phase->then - 1] : NULL;
}

/* Phase number `i`, from 0, which is there; how many there are, 1 at least. */
const ovl_cost *ovl_phase_of(const ovl_program *p, const ovl_cost *cost, uint32_t i);
uint32_t ovl_count_phases(const ovl_program *p, const ovl_cost *cost);

/* The latency and the work of all phases of a cost, and both together: how long it takes alone. */
ovl_time ovl_cost_latency(const ovl_program *p, const ovl_cost *cost);
ovl_time ovl_cost_work(const ovl_program *p, const ovl_cost *cost);
ovl_time ovl_cost_time(const ovl_program *p, const ovl_cost *cost);

/* Are two of its costs alike in all that a run looks at? In their times, phase by phase? */
bool ovl_same_cost(const ovl_program *program, const ovl_cost *a, const ovl_cost *b);
bool ovl_same_times(const ovl_program *program, const ovl_cost *a, const ovl_cost *b);

/* --- Building --- */

struct ovl_code_build;

typedef struct ovl_builder {
    ovl_arena *arena; /* the frozen program lives here */
    ovl_names *names;
    OVL_VEC(struct ovl_code_build *) codes;
    OVL_VEC(ovl_rank) ranks;
    OVL_VEC(ovl_comm) comms;
    OVL_VEC(uint32_t) members;
    OVL_VEC(ovl_id) rank_comms;
    OVL_VEC(ovl_id) rank_ports;
    OVL_VEC(ovl_resource) resources;
    OVL_VEC(ovl_capacity_change) changes;
    OVL_VEC(ovl_cost) costs;
    OVL_VEC(ovl_cost) phases;
    OVL_VEC(ovl_cost_kind) cost_kinds;
    OVL_VEC(ovl_split) splits;
    OVL_VEC(ovl_demand) demands;
    OVL_VEC(uint64_t) sizes;
    OVL_VEC(ovl_op) distinct;
    ovl_stored stored_costs, stored_phases, stored_kinds, stored_splits, stored_demands, stored_ops;
    ovl_tying tying;
    OVL_VEC(ovl_id) kernel_classes;
    OVL_VEC(ovl_id) coll_classes;
    OVL_VEC(ovl_pair) pairs; /* set last, by the caller: one per (kernel class, collective class) */
    uint32_t n_ports;
    uint32_t sms, copy_engines[2], hw_queues; /* set by the caller, as in ovl_program */
    uint64_t memory;                          /* likewise */
    uint8_t rounding;                         /* likewise */
    OVL_VEC(ovl_gpu) gpus; /* set by the caller; none: all have the GPU above, which is the first */
} ovl_builder;

/* An empty builder with one port (HBM); names and the frozen program will live in `arena`. */
void ovl_builder_init(ovl_builder *b, ovl_arena *arena);

/* Gives back what the builder holds outside the arena. Needed only when it is not frozen. */
void ovl_builder_free(ovl_builder *b);

/* The number of a text. */
ovl_id ovl_name(ovl_builder *b, const char *text);

ovl_id ovl_add_resource(ovl_builder *b, const ovl_resource *resource);

/* The resource has this capacity from `time` on; calls in any order. */
void ovl_change_capacity(ovl_builder *b, ovl_id resource, ovl_time time, uint64_t capacity);

/* What ovl_cost_kind.split says for a kernel of which `part` of `whole` is of the class; equal ones
 * are stored once. */
ovl_id ovl_add_split(ovl_builder *b, const ovl_split *split);

/* The split of a cost; NULL if all of it is of its own class. */
static inline const ovl_split *ovl_cost_split(const ovl_program *p, const ovl_cost *cost)
{
    ovl_id split = ovl_kind_of(p, cost)->split;
    return split ? &p->splits[split - 1] : NULL;
}

/* Stores a phase that others may have before it, the last one first; cost->then says what follows
 * it. Gives what `then` of the one before it is to say; equal ones are stored once. */
ovl_id ovl_add_phase(ovl_builder *b, const ovl_cost *cost, const ovl_cost_kind *kind,
                     const ovl_demand *demands, uint32_t n_demands);

/* Stores the times of `cost`, behind the costs there are, as one of the kind (NULL: the free one)
 * with the demands; cost->kind and the first_ and n_ fields of the kind are filled in. cost->then
 * is 0, or what ovl_add_phase gave for the second phase.
 * `peer` are the receiver's demands of a send. Kinds that are equal are stored once. */
ovl_id ovl_add_cost(ovl_builder *b, const ovl_cost *cost, const ovl_cost_kind *kind,
                    const ovl_demand *demands, uint32_t n_demands, const ovl_demand *peer,
                    uint32_t n_peer);

/* The costs from `first` on, the last that were added, are those of one operation: one, or one for
 * each rank. Gives where they are: if there were equal ones before, those, and the new ones are
 * dropped. *per_rank tells whether there is more than one: if all ranks have equal ones, one stays.
 * Each list may be told to it once. */
ovl_id ovl_store_costs_once(ovl_builder *b, ovl_id first, bool *per_rank);

ovl_id ovl_add_code(ovl_builder *b);

/* The code's stream of this name, added if new. Host calls have none. */
uint16_t ovl_add_stream(ovl_builder *b, ovl_id code, const char *name);

/* A communicator slot of the code: 0, 1, ... in order of the calls. */
uint16_t ovl_add_slot(ovl_builder *b, ovl_id code);

/* Bytes of a buffer on rank 0, 1, ... of all that the program will have: what ovl_buffer.sizes says
 * for it, and for any other that has as much. */
uint32_t ovl_add_sizes(ovl_builder *b, const uint64_t *bytes, uint32_t n);

/* A buffer allocated at the present host position of the code and not yet freed; alloc and freed
 * are filled in. */
ovl_id ovl_add_buffer(ovl_builder *b, ovl_id code, const ovl_buffer *buffer);

/* Frees a buffer at the present host position (before the next operation added). */
void ovl_free_buffer(ovl_builder *b, ovl_id code, ovl_id buffer);

/* Appends an operation in host program order; gives its local index. */
uint32_t ovl_add_op(ovl_builder *b, ovl_id code, const ovl_op *op);

/* Says the microbatch of the operation last added; else it is 0. */
void ovl_set_microbatch(ovl_builder *b, ovl_id code, uint32_t microbatch);

/* The operation last added waits for the end of `before`, an earlier local operation. Repeats are
 * harmless. */
void ovl_add_after(ovl_builder *b, ovl_id code, uint32_t before);
void ovl_add_access(ovl_builder *b, ovl_id code, ovl_id buffer, bool write);
void ovl_add_effect(ovl_builder *b, ovl_id code, const ovl_effect *effect);

/* A communicator over `n` distinct ranks, in order of their place. */
ovl_id ovl_add_comm(ovl_builder *b, ovl_id name, const uint32_t *ranks, uint32_t n);

/* A rank that runs `code`: comms has one communicator for each slot of the code, all distinct;
 * ports one resource for each of b->n_ports ports (OVL_NONE where it has none). Gives the rank
 * number 0, 1, ... */
ovl_id ovl_add_rank(ovl_builder *b, ovl_id code, uint32_t variant, const ovl_id *comms,
                    const ovl_id *ports);

/* The rank added last has this GPU of b->gpus. */
void ovl_set_gpu(ovl_builder *b, uint32_t gpu);

/* Freezes everything into the arena and empties the builder. False and errors (OVL_E_STUCK, with
 * the places of both sides) if members of a communicator disagree about their k-th collective
 * (type, bytes, dtype, root, number) or a send has no receive of the same bytes; OVL_E_INPUT if
 * they agree but state different times for it. A program of at most OVL_NUMBERED_OPS operations
 * over all ranks is numbered, too; a larger one by whoever runs it unfolded. */
bool ovl_freeze(ovl_builder *b, ovl_program *program, ovl_errs *errs);
#define OVL_NUMBERED_OPS (1u << 20)

/* Gives every operation of every rank its partner, so that the program can be run unfolded; tables
 * live in `arena`. False and an error (OVL_E_INPUT) if there are more than 32 bits can number.
 * Nothing happens if it is numbered. */
bool ovl_number_ops(ovl_program *program, ovl_arena *arena, ovl_errs *errs);

/* --- Reading --- */

/* The number of a rank that is simulated, as the user knows it, and how many it stands for. */
uint32_t ovl_rank_number(const ovl_program *p, uint32_t rank);
uint32_t ovl_rank_count(const ovl_program *p, uint32_t rank);

/* The program in the order that a search finds under other circumstances, 0 or bits OVL_ORDER_...;
 * itself if its order does not depend on them. */
const ovl_program *ovl_program_ordered(const ovl_program *p, unsigned order);

/* The rank of a global operation (binary search), and its description. */
uint32_t ovl_op_rank(const ovl_program *p, uint32_t op);
const ovl_op *ovl_op_of(const ovl_program *p, uint32_t op);

/* Bytes of a buffer of its code on a rank that is simulated. */
uint64_t ovl_buffer_bytes(const ovl_program *p, uint32_t rank, const ovl_buffer *buffer);

/* What it costs on its rank, and what that has in common with other costs. */
const ovl_cost *ovl_op_cost(const ovl_program *p, uint32_t rank, const ovl_op *op);
const ovl_cost_kind *ovl_op_cost_kind(const ovl_program *p, uint32_t rank, const ovl_op *op);

/* The GPU of a rank. */
ovl_gpu ovl_gpu_of(const ovl_program *p, uint32_t rank);

/* Whether some GPU runs no more than so many copies of a direction at a time. */
bool ovl_copies_queue(const ovl_program *p);

/* SMs that a kernel wants of a GPU of so many: what it says, or one for each block; 0: not said. */
uint32_t ovl_sms_wanted(uint32_t sms, const ovl_cost_kind *kernel);
ovl_id ovl_op_name_id(const ovl_program *p, uint32_t op);

/* The communicator of a rank's slot and the rank's place in it. */
const ovl_comm *ovl_rank_comm(const ovl_program *p, uint32_t rank, uint16_t slot);
uint32_t ovl_rank_place(const ovl_program *p, uint32_t rank, uint16_t slot);

/* The place of the other side of a send or a receive of the member at `place` of `n_members`. */
uint32_t ovl_peer_place(const ovl_op *op, uint32_t place, uint32_t n_members);

/* The number, as the user knows it, of the rank that a send goes to, or a receive comes from. Where
 * ranks are folded: to whom the one that is simulated sends, not who stands for that rank. */
uint32_t ovl_peer_number(const ovl_program *p, uint32_t rank, const ovl_op *op);

/* The global number of the k-th collective of a communicator on its member at `place`. */
uint32_t ovl_collective_op(const ovl_program *p, const ovl_comm *comm, uint32_t place, uint32_t k);

/* busbw = factor * algbw, factors of nccl-tests doc/PERFORMANCE.md: all-reduce 2(n-1)/n;
 * reduce-scatter, all-gather and all-to-all (n-1)/n; others 1. n = 1 gives 0 for the first two
 * groups: nothing crosses the wire. */
double ovl_busbw_factor(ovl_coll coll, uint32_t n);

#endif
