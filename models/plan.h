/*
 * plan.h - what a plan sees while it turns its part of a scenario into codes of the program.
 *
 * lower.c sets the stage: the builder with its ports, the groups, and a list of what is not
 * modelled. A plan opens codes, adds their operations with costs made here, and says which rank
 * runs which code; lower.c then adds the ranks and freezes.
 *
 *     uint32_t code = ovl_plan_code(l);
 *     ovl_plan_cost cost = ovl_plan_kernel(l, &(ovl_kernel_spec){.name = "matmul", ...});
 *     ovl_add_op(l->b, code, &(ovl_op){.kind = OVL_KERNEL, .cost = cost.id, ...});
 *     l->rank_code[rank] = code;                            for every rank
 *
 * Ports: 0 is HBM; hardware link i has port 1 + 2i outward and 2 + 2i inward. A plan never sees
 * another plan; mistakes are added to l->errs, and lowering stops after the plan if there are any.
 */
#ifndef OVL_MODELS_PLAN_H
#define OVL_MODELS_PLAN_H

#include "models/cost.h"
#include "models/lower.h"

/* --- Groups --- */

/* A family of communicators of one name: each mesh axis (ranks that differ in that coordinate
 * alone), "world", those of workload.groups, and several axes together ("cp+dp": ranks that differ
 * in these coordinates alone, in order of their number). Its communicators are made at the first
 * use. */
typedef struct ovl_group {
    const char *name;
    ovl_mark mark;
    const ovl_node *node;  /* of workload.groups; NULL for an axis or world */
    uint32_t stride, size; /* of an axis or world */
    const uint32_t *axes;  /* of several axes: their indices in the mesh, innermost first ... */
    uint32_t n_axes;       /* ... else 0 */
    const struct ovl_group
        *whole;            /* of "tp/2": the group of which these are runs of `size`; NULL */
    bool broken;           /* told once */
    const ovl_id *comm_of; /* [n_ranks] communicator, OVL_NONE for no member; NULL before the first
                              use */
    const ovl_spread *const *spread_of; /* [n_ranks] how it lies; NULL for no member */
    const ovl_spread *const *next; /* [n_ranks] of rings: how each rank lies with the next ... */
    const ovl_spread *const *previous; /* ... and with the one before; NULL before the first use */
} ovl_group;

/* --- What is not modelled --- */

typedef enum ovl_note_kind {
    OVL_NOTE_KERNEL_HBM,   /* kernels that give no HBM bytes */
    OVL_NOTE_COMM_HBM,     /* communication without hbm_factor */
    OVL_NOTE_COMM_VIA,     /* ... without via */
    OVL_NOTE_COMM_SMS,     /* ... that holds no SMs */
    OVL_NOTE_COMM_BYTES,   /* ... of unknown bytes */
    OVL_NOTE_EXTRAPOLATED, /* tables left behind */
    OVL_NOTE_SIZES,        /* measured costs at sizes that were not measured */
    OVL_NOTE_RANKS,        /* ... for other numbers of ranks */
    OVL_NOTE_KIND_COUNT,
} ovl_note_kind;

#define OVL_NOTE_NAMES 3

/* Names that a sentence is about: the first few, and how many more there are. */
typedef struct ovl_note {
    const char *name[OVL_NOTE_NAMES];
    uint32_t count; /* of `name` in use */
    bool more;
} ovl_note;

/* Where a rank sits: nodes have as many seats as the largest of them has GPUs, and those with fewer
 * GPUs leave their last ones empty. All that lies on nodes, blocks or rails goes by seats, so it is
 * told by divisions wherever nodes have different numbers of GPUs, too.
 *
 * Example, nodes of 4, 8 and 4 GPUs: ranks 0-3 sit on 0-3, ranks 4-11 on 8-15, ranks 12-15 on
 * 16-19: seat / 8 is the node, and seat % 8 the place in it. */
typedef struct ovl_seats {
    const uint32_t *of; /* [n_ranks]; NULL: rank r sits on r */
    uint32_t n;         /* how many: of several nodes all, of one as many as it has ranks */
    uint32_t node;      /* of a node */
} ovl_seats;

/* --- The lowering --- */

typedef struct ovl_counts ovl_counts;

typedef struct ovl_plan_cost {
    ovl_id id;     /* into the builder's costs; OVL_NONE after an error */
    bool per_rank; /* rank r has cost id + r */
    bool uneven;   /* ... each with demands of its own: an all-to-all */
    bool eager;    /* of the hardware's entry for sends */
} ovl_plan_cost;

/* A kernel that costs something else on some ranks. Kernels that cost the same on the GPU of every
 * sort of nodes, and have the same loads, share what they cost on each rank. */
typedef struct ovl_by_rank {
    const ovl_id *on;   /* [n_machines] its cost on a healthy GPU of each sort of nodes */
    const double *load; /* [n_ranks] or NULL */
    ovl_plan_cost cost;
    uint32_t before; /* the one before it with the same cost on the first, plus 1 */
} ovl_by_rank;

/* A list of bytes by rank, and what the program calls it. */
typedef struct ovl_sized {
    const uint64_t *of;
    uint32_t sizes;
} ovl_sized;

/* Of one code: the group of each communicator slot. */
typedef struct ovl_slots {
    OVL_VEC(const ovl_group *) group;
} ovl_slots;

typedef struct ovl_lowering {
    const ovl_scenario *scenario;
    const ovl_hw *hw;
    ovl_builder *b;
    ovl_arena *arena;
    ovl_errs *errs;
    uint32_t n_ranks;
    uint32_t *rank_code; /* [n_ranks], filled by the plan */
    ovl_group *groups;
    ovl_names group_names; /* aligned with groups */
    uint32_t n_groups, most_groups;
    OVL_VEC(const ovl_spread *) spreads;   /* distinct ones, that of the first kind of each */
    ovl_counts *counts;                    /* scratch of spread.c: [seats.n], all 0 between uses */
    OVL_VEC(ovl_way) ways;                 /* scratch of spread.c */
    OVL_VEC(uint32_t) sitting;             /* ... seats of members */
    struct ovl_rail_scratch *rail_scratch; /* of rails.c */
    OVL_VEC(ovl_slots) codes;              /* aligned with the builder's codes */
    const ovl_hw *machines;                /* [n_machines] `hw` as each sort of nodes sees it */
    uint32_t n_machines;                   /* 1: all nodes are alike */
    const uint8_t *machine_of;             /* [n_ranks]; NULL: all nodes are alike */
    ovl_seats seats;
    bool passed_on; /* some send is, by PXN */
    bool relays;    /* some cost of sends says pxn: ranks have ports for all places of their node */
    double *slowdown; /* [n_ranks] of kernels; NULL: no GPU is slow */
    bool one_gpu;     /* costs are asked for on one healthy GPU, that of `hw` */
    OVL_VEC(ovl_by_rank) by_rank;
    OVL_VEC(ovl_id) by_rank_of; /* by a kernel's cost: the last of by_rank that has it, plus 1 */
    OVL_VEC(ovl_sized) sized;
    ovl_note notes[OVL_NOTE_KIND_COUNT]; /* turned into sentences at the end */
    OVL_VEC(const char *) said;          /* further sentences */
    bool even;                           /* costs are asked for that leave out loads of ranks */
    bool roofline, holds_sms, has_kernels, has_comm;
    OVL_VEC(ovl_bucket_line) buckets;
    uint32_t microbatches; /* of a pipeline */
    bool schedule_alone;   /* of a pipeline no more than that is asked for */
    bool searched;         /* its schedule looks at times */
    unsigned order;        /* ... as they would be: bits OVL_ORDER_... */
    const struct ovl_schedule *schedule;
    OVL_VEC(ovl_hop_line) hops;
    OVL_VEC(ovl_nccl_line) nccl;
    OVL_VEC(const ovl_law *) laws; /* of durations that vary; ovl_cost_kind.law is the number + 1 */
    const ovl_measured *measured;  /* of a replayed trace */
    const ovl_program *unchanged;  /* the same without what-ifs; NULL: it has none */
} ovl_lowering;

/* The group of a name, or of names of axes joined by "+", its communicators made; NULL and an error
 * with the nearest name. Of a model's "tp/2" they are those of tp two by two (ovl_plan_subgroup).
 */
const ovl_group *ovl_plan_group(ovl_lowering *l, const char *name, ovl_mark mark);

/* The group of operations that name none: the only one there is besides "world", else world if
 * there is no other; NULL and an error at `mark` if there are several. */
const ovl_group *ovl_plan_default_group(ovl_lowering *l, ovl_mark mark);

/* Makes the list of groups: workload.groups, the mesh axes, "world"; and `alias`, another name of
 * world, if it is not NULL and no other group. Called once, by lower.c. */
void ovl_plan_groups(ovl_lowering *l, const char *alias);

/* Errors of groups of workload.groups that no operation names: ranks that are not there, or in two
 * communicators. Called once, by lower.c, when all that are named were made. */
void ovl_plan_check_groups(ovl_lowering *l);

/* A group of its own whose communicators are runs of `size` consecutive members of those of
 * `group`, a divisor of theirs; the whole size gives further communicators over the same ranks. Its
 * name is for reports and costs. Each call makes another. */
const ovl_group *ovl_plan_subgroup(ovl_lowering *l, const ovl_group *group, uint32_t size,
                                   const char *name);

/* A group of its own, for the same costs, whose communicators are those of `group` two by two: that
 * of each rank with that of its partner, whose members are the partners of its members. */
const ovl_group *ovl_plan_paired(ovl_lowering *l, const ovl_group *group, const uint32_t *partner);

/* Checks that every rank is in a communicator of the group, all of one size; gives that size, 0 and
 * an error if not. `why` says what the group does: "shards the parameters". */
uint32_t ovl_plan_even(ovl_lowering *l, const ovl_group *group, const char *why);

/* Members of the communicator of a rank, 0 if it is in none. */
uint32_t ovl_plan_members(const ovl_lowering *l, const ovl_group *group, uint32_t rank);

/* How the members of the communicator of a rank lie on nodes, as that rank sees it, NULL if it is
 * in none. Equal ones are one: ranks whose spreads differ load links otherwise, or pay different
 * costs, and need codes of their own. */
const ovl_spread *ovl_plan_spread(const ovl_lowering *l, const ovl_group *group, uint32_t rank);

/* The same for a rank and the next member of its communicator in a ring, or the one before: what
 * goes from one to the other loads only what lies between these two. NULL if it is in none.
 * Example: 8 ranks on two nodes of 4: only 3 to 4, and 7 to 0, leave a node. */
const ovl_spread *ovl_plan_ring(ovl_lowering *l, const ovl_group *group, uint32_t rank, bool next);

/* How members lie on nodes and blocks, as each sees it; equal answers are one. For communicators
 * made anew. */
void ovl_find_spreads(ovl_lowering *l, const uint32_t *ranks, uint32_t n, const ovl_spread **of);

/* The same of two ranks, who see it alike. */
const ovl_spread *ovl_find_pair(ovl_lowering *l, uint32_t a, uint32_t b);

/* The same of a send from one member of a communicator of the group to another: where its cost says
 * pxn, and some member of the sender's node is on the receiver's rail, that one passes it on, and
 * what leaves the node lies between it and the receiver. Example: nodes of 2 on rails 0 and 1, from
 * rank 0 to 3: by rank 1, `relay` 2. Two ranks that have a communicator to themselves have nobody.
 */
const ovl_spread *ovl_find_hop(ovl_lowering *l, const ovl_group *group, ovl_id comm, uint32_t from,
                               uint32_t to);

/* A port of a rank for what a link has at a place of its node, where sends are passed on: the way
 * out, behind it the way in. */
uint16_t ovl_relay_port(const ovl_lowering *l, uint32_t link, uint32_t place);

/* How a link counts rails; see rails.h. */
typedef struct ovl_rails {
    uint32_t node;   /* seats of a node */
    uint32_t gpus;   /* neighbours of a node on one rail */
    uint32_t places; /* rails that a node is on */
    uint32_t pod;    /* nodes of a pod */
    const uint32_t *seat_of;
} ovl_rails;

/* A link does not lie between ranks of one block of `apart` seats, nor of one rail if it is
 * `off_rails`; an instance serves `serves` seats in a row, or a rail. */
typedef struct ovl_shape {
    uint32_t apart, serves;
    bool by_rail, off_rails;
    ovl_rails rails;
    const uint32_t *seat_of;
    const ovl_hw_link *wire; /* it lies between a rank and the one at its end alone; else NULL */
} ovl_shape;

/* The shape of a link for members of a communicator. What carries all (no `out_of`) is the way out
 * of a node, or of the block that an instance serves, if they are in several; else it lies between
 * single members. Example: the PCIe switch of 4 of 8 GPUs: {4, 4} for all 8, {1, 4} for its own. */
ovl_shape ovl_link_shape(const ovl_lowering *l, const ovl_hw_link *link, const uint32_t *ranks,
                         uint32_t n);

/* Does it matter to any cost how ranks lie? If not all of so many lie alike. */
bool ovl_spreads_matter(const ovl_lowering *l);

/* The numbers of the block of `apart` and of the instance of a rank, below that of seats; and of
 * the instance at a seat, which may be empty. */
uint32_t ovl_shape_block(const ovl_shape *shape, uint32_t rank);
uint32_t ovl_shape_instance(const ovl_shape *shape, uint32_t rank);
uint32_t ovl_shape_instance_at(const ovl_shape *shape, uint32_t seat);

/* The node of a rank. */
uint32_t ovl_plan_node(const ovl_lowering *l, uint32_t rank);

/* --- Nodes unlike others: machines.c --- */

/* Fills machines, n_machines, machine_of and seats. Errors: nodes there are not, or are there
 * twice; links whose instances would serve nodes that have another bandwidth. */
void ovl_machines_find(ovl_lowering *l);

/* The hardware as a rank sees it. */
const ovl_hw *ovl_hw_of_rank(const ovl_lowering *l, uint32_t rank);

/* The least that any member has: SMs, HBM bandwidth; 0: not modelled. NULL: the node of `hw`. */
int64_t ovl_least_sms(const ovl_lowering *l, const ovl_spread *spread);
uint64_t ovl_least_hbm(const ovl_lowering *l, const ovl_spread *spread);

/* What `length` gives on the GPU of each sort of nodes, or where one GPU is asked for on that one
 * throughout; NULL if all nodes are alike. It asks for costs on one GPU, that of l->hw. */
const ovl_time *ovl_on_machines(ovl_lowering *l, ovl_time (*length)(ovl_lowering *l, void *context),
                                void *context);

/* What a stated duration is on the GPU of l->hw. */
ovl_time ovl_stated(const ovl_lowering *l, ovl_time time);

/* What a kernel takes on one healthy GPU, that of l->hw; 0 after an error. */
struct ovl_kernel_spec;
ovl_time ovl_plan_alone(ovl_lowering *l, const struct ovl_kernel_spec *spec);

/* A new code, and the slot of a group in it (made at the first use in that code). */
ovl_id ovl_plan_code(ovl_lowering *l);
uint16_t ovl_plan_slot(ovl_lowering *l, ovl_id code, const ovl_group *group);

/* Sets what a buffer, called `name` in errors, takes on each rank. Lists that are one are stored
 * once; an error if a list has not one size for each rank. */
void ovl_plan_size(ovl_lowering *l, const char *name, ovl_sizes sizes, ovl_buffer *buffer);

/* Gives each rank its code: `write` makes that of the first of those who are `alike`. */
void ovl_plan_codes(ovl_lowering *l, ovl_id (*write)(void *plan, uint32_t first),
                    bool (*alike)(void *plan, uint32_t a, uint32_t b), void *plan);

/* Adds a sentence once; adds a name to the sentence of a kind once. The texts must live in the
 * lowering's arena or the scenario. */
void ovl_plan_say(ovl_lowering *l, const char *sentence);
void ovl_plan_note(ovl_lowering *l, ovl_note_kind kind, const char *name);

/* Adds what the program leaves out to the sentences, at the end. */
void ovl_plan_sentences(ovl_lowering *l);

/* --- Costs --- */

typedef struct ovl_kernel_spec {
    const char *name;   /* for notes and errors */
    ovl_mark mark;      /* for errors */
    ovl_times duration; /* none: roofline */
    const ovl_time *on; /* [n_machines] the duration on the GPU of each sort of nodes, where it
                           follows from that; NULL: it is stated */
    bool estimated;     /* the bytes are: no more are counted than fit in the duration */
    double flops;
    double efficiency; /* of peak FLOP/s; 0: that of the hardware */
    uint64_t hbm;      /* bytes moved */
    ovl_dtype dtype;
    ovl_time compute; /* SM-bound part; 0: all of a given duration, or the roofline's */
    bool no_compute;  /* SMs do not matter: copies */
    bool has_sms;     /* stated, 0 included: it wants none */
    int64_t sms, blocks;
    const char *klass;
    const double *load;     /* [n_ranks] factors of its length and bytes; NULL: 1 */
    const char *part_klass; /* `part` of `whole` of it is of this class; whole 0: nothing is */
    ovl_time part, whole;
} ovl_kernel_spec;

/* What takes `time` on a healthy GPU takes so long on that of a rank; rounded up. */
ovl_time ovl_plan_slowed(const ovl_lowering *l, uint32_t rank, ovl_time time);

/* The cost of a kernel. HBM is wanted at hbm / duration; a duration in which the bytes do not fit
 * is an error. SMs wanted: those given, else no more than its blocks, else all. */
ovl_plan_cost ovl_plan_kernel(ovl_lowering *l, const ovl_kernel_spec *spec);

typedef struct ovl_comm_spec {
    const char *name;
    ovl_mark mark;
    ovl_coll op; /* sends and receives: OVL_SEND_RECV */
    const char *group;
    uint32_t n;               /* members */
    const ovl_spread *spread; /* how they lie on nodes; NULL: each on one of its own */
    bool has_bytes;
    uint64_t bytes;
    ovl_times duration; /* all transfer; else alpha and beta; else the hardware's entry */
    bool has_alpha, has_beta;
    ovl_time alpha;
    uint64_t beta;
    ovl_texts via; /* none: the entry's */
    bool has_sms;
    int64_t sms; /* without has_sms the entry's */
    bool has_hbm_factor;
    double hbm_factor;
    uint64_t hbm;                   /* copies: HBM bytes moved, instead of a factor */
    int64_t root;                   /* of a broadcast or a reduce: its place in the communicator */
    const double *sends, *receives; /* [n_ranks] all-to-all: factors of its bytes (uneven.h); NULL:
                                       1 for all */
    const double *pairs; /* [n * n] all-to-all: what place i gives place j, times its bytes (evenly
                            1/n); NULL: by the factors */
    const char *klass;
} ovl_comm_spec;

/* The cost of a collective or a transfer. It loads each `via` link in both directions (a sender
 * outward, a receiver inward) by what crosses the link (ovl_link_crossing), clamped to the link
 * (with a warning beyond 0.1 %: an isolated time is what it gets alone), and the HBM of each member
 * at hbm_factor times the wire rate. */
ovl_plan_cost ovl_plan_comm(ovl_lowering *l, const ovl_comm_spec *spec);

/* A copy between device and host: `spec` as above (bytes, duration or alpha/beta or via). It wants
 * HBM at `hbm` over its transfer time, or at hbm_factor times its rate. direction 0 is device to
 * host. */
ovl_plan_cost ovl_plan_copy(ovl_lowering *l, const ovl_comm_spec *spec, int direction);

/* A host call or marker of a given length: no demands. */
ovl_plan_cost ovl_plan_length(ovl_lowering *l, const char *name, ovl_mark mark, ovl_times times);

/* A marker that is a pause of its stream of a given length. */
ovl_plan_cost ovl_plan_pause(ovl_lowering *l, ovl_time time);

/* Reads "3", "2-5" or "all"; a sentence if it is none of them. */
const char *ovl_plan_ranks(ovl_lowering *l, const char *text, uint32_t *from, uint32_t *to);

/* The same of `n` things called `what`. */
const char *ovl_plan_range(ovl_arena *arena, const char *what, uint32_t n, const char *text,
                           uint32_t *from, uint32_t *to);

/* The hardware's launch time. */
ovl_time ovl_plan_launch(const ovl_lowering *l);

/* --- The plans --- */

/* Limits that keep a slip of the pen from filling the machine (bounds.h tells users). */
#define OVL_PLAN_RANKS    1000000u
#define OVL_PLAN_LINKS    (1u << 10)
#define OVL_PLAN_CODE_OPS 20000000u  /* over all codes: what is stored */
#define OVL_PLAN_RANK_OPS 200000000u /* over all ranks: what is simulated */

void ovl_plan_ops(ovl_lowering *l);      /* workload.ops: the explicit program */
void ovl_plan_ddp(ovl_lowering *l);      /* workload.layers or .gradients: the data-parallel step */
void ovl_plan_trace(ovl_lowering *l);    /* workload.trace: the replay of a measured step */
void ovl_plan_fsdp(ovl_lowering *l);     /* overlap.fsdp of workload.layers */
void ovl_plan_zero(ovl_lowering *l);     /* overlap.zero of workload.layers */
void ovl_plan_pipeline(ovl_lowering *l); /* overlap.pipeline of workload.stages or .layers */

#endif
