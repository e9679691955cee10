/*
 * hw.h - what the machine costs: GPU, host, links, collective costs, measured interference.
 *
 * Decoded from the `hardware` mapping of a scenario (or the file it names). Zero means "not given"
 * unless said otherwise; what is not given is not modelled and the run says so.
 */
#ifndef OVL_MODELS_HW_H
#define OVL_MODELS_HW_H

#include "models/fields.h"
#include "sim/program.h"

typedef struct ovl_hw_peak {      /* gpu.peak: one per dtype */
    double rate[OVL_DTYPE_COUNT]; /* FLOP/s */
} ovl_hw_peak;

typedef struct ovl_hw_engines { /* gpu.copy_engines: how many of each direction; 0: unlimited */
    int64_t d2h, h2d;
} ovl_hw_engines;

typedef struct ovl_hw_allocator { /* gpu.allocator */
    int rounding;                 /* ovl_rounding */
} ovl_hw_allocator;

typedef struct ovl_hw_gpu {
    ovl_mark mark;
    const char *name;
    uint64_t hbm;    /* bytes/s */
    uint64_t memory; /* bytes */
    int64_t sms;
    ovl_hw_peak peak;
    double efficiency; /* of peak FLOP/s that kernels given by FLOPs reach; default 1, stated in the
                          report */
    double hbm_efficiency; /* of hbm that kernels given by bytes reach; default 1 */
    int64_t hw_queues;
    ovl_hw_engines copy_engines;
    ovl_hw_allocator allocator;
    double speed; /* of kernels whose duration is stated, where the GPU is that of `nodes`; 1 */
} ovl_hw_gpu;

typedef struct ovl_hw_host {
    ovl_mark mark;
    ovl_time launch;
} ovl_hw_host;

typedef enum ovl_scope {
    OVL_SCOPE_GPU,
    OVL_SCOPE_NODE,
    OVL_SCOPE_CLUSTER,
    OVL_SCOPE_RAIL, /* GPUs of one place in their nodes: rails.h */
} ovl_scope;

#define OVL_OUT_OF_NODE (-1)
#define OVL_OUT_OF_RAIL (-2)

typedef enum ovl_topology { OVL_TOPOLOGY_SWITCH, OVL_TOPOLOGY_MESH } ovl_topology;
typedef enum ovl_rings { OVL_RINGS_ALL, OVL_RINGS_ONE } ovl_rings_used;

typedef struct ovl_hw_link { /* links: a mapping of name to this */
    ovl_mark mark;
    const char *name;
    uint64_t bandwidth; /* bytes/s, each direction */
    ovl_time latency;
    int scope;      /* ovl_scope: what one instance serves */
    int64_t gpus;   /* ... or so many neighbouring ranks; 0: by scope */
    int64_t out_of; /* only what leaves a block of so many ranks (or OVL_OUT_OF_NODE, _RAIL) crosses
                       it; 0: all they send */
    const char *out_of_text;
    int64_t pod;       /* of rails: nodes whose rails have leaves of their own; 0: all */
    int64_t rail_gpus; /* of rails: GPUs of a node on one of them; 0: 1 */
    int topology;      /* ovl_topology */
    int rings;         /* ovl_rings, of a mesh */
    int64_t mesh;      /* GPUs that are connected pair by pair; 0: it is none */
    uint32_t wire, of; /* wires.h: to the GPU so many further, of link number `of`; 0: it is none */
    int per; /* ovl_scope: what instances are counted in; default = scope. For `check`: "nic: 8 per
                node" */
} ovl_hw_link;

/* Nodes unlike the others. What is not said of them is as in the rest of the hardware. */
typedef struct ovl_hw_nodes { /* nodes: a mapping of name to this */
    ovl_mark mark;
    const char *name;
    ovl_texts at; /* their numbers */
    int64_t gpus; /* of each; 0: as many as node.gpus says */
    ovl_node *gpu_node, *links_node;
    ovl_hw_gpu gpu;     /* of their ranks */
    ovl_hw_link *links; /* [n_links] of the hardware, as these nodes have them */
} ovl_hw_nodes;

#define OVL_MESH_MAX     16 /* GPUs of a mesh */
#define OVL_MACHINES_MAX 32 /* sorts of nodes, those that are not named included */

typedef enum ovl_algorithm {
    OVL_ALGO_NONE,
    OVL_ALGO_RING,
    OVL_ALGO_TREE,   /* recursive doubling / halving-doubling for all-reduce; binomial for broadcast
                        and reduce */
    OVL_ALGO_DIRECT, /* all-to-all and send/recv: one step */
    OVL_ALGO_HIERARCHICAL, /* reduce-scatter in the node, across nodes, all-gather in the node */
    OVL_ALGO_NCCL,         /* NCCL's tuning model: nccl.h */
    /* What NCCL may have chosen; of these NVLS and COLLNET (SHARP) have formulas, too. */
    OVL_ALGO_DOUBLE_TREE,
    OVL_ALGO_NVLS,
    OVL_ALGO_NVLS_TREE,
    OVL_ALGO_COLLNET,
} ovl_algorithm;

typedef struct ovl_hw_point {
    uint64_t bytes;
    ovl_time time;
} ovl_hw_point;

/* What the lines between two points of a table are straight in. */
typedef enum ovl_between {
    OVL_BETWEEN_LOGS,  /* (log size, log time) */
    OVL_BETWEEN_BYTES, /* (size, time) */
} ovl_between;

/* Where a measured cost comes from: kept and shown. A run says where it leaves the sizes and ranks.
 */
typedef struct ovl_hw_measured {
    ovl_texts from;   /* files */
    ovl_texts sha256; /* of their bytes, in the same order */
    const char *model;
    int64_t points, sizes;         /* measurements; different sizes among them */
    uint64_t from_bytes, to_bytes; /* smallest and largest of them; 0: not given */
    int64_t ranks;                 /* that took part; 0: not given */
    bool has_alpha, has_beta;
    ovl_time alpha_low, alpha_high; /* 95 % interval */
    uint64_t beta_low, beta_high;
    double kernel_low, kernel_high;         /* of factors of interference; 0: not given */
    double collective_low, collective_high; /* likewise */
    double residual;                        /* relative standard deviation around the fit */
    double held_median, held_p90;           /* relative errors on sizes that were held out */
    ovl_texts notes;
} ovl_hw_measured;

/* Which communicators something is about: those on one node, those on several. */
typedef enum ovl_nodes { OVL_NODES_ANY, OVL_NODES_ONE, OVL_NODES_SEVERAL } ovl_nodes;

/* How long a collective takes. Exactly one of: alpha and/or beta; table; algorithm. */
typedef struct ovl_hw_collective {
    ovl_mark mark;
    int op;            /* ovl_coll */
    const char *group; /* the group it applies to; NULL: any */
    int nodes;         /* ovl_nodes: of communicators that lie so */
    const char *on;    /* ... that have members on these nodes; NULL: any */
    uint32_t machine;  /* their number among `others`, plus 1; 0: any */
    const char *klass; /* interference class; default: the name of op */
    ovl_texts via;     /* links it loads */
    bool has_alpha, has_beta;
    ovl_time alpha;
    uint64_t beta; /* bytes/s of payload (algbw) */
    ovl_node *table_node;
    ovl_hw_point *table; /* ascending in bytes */
    uint32_t n_table;
    int between;      /* ovl_between: how two points of the table are joined */
    bool extrapolate; /* outside the table: continue the end's slope and say so, instead of refusing
                       */
    int algorithm;
    bool has_sms; /* then 0 says that copy engines move the bytes */
    int64_t sms;
    double hbm_factor; /* HBM bytes per byte on the wire; 0: HBM use not modelled */
    double weight;     /* at the sharing of links, relative to others; default 1 */
    bool eager;        /* send_recv: eager instead of rendezvous */
    bool pxn;          /* all_to_all: to another rail by a member of the own node that is on it */
    bool has_measured;
    ovl_hw_measured measured;
} ovl_hw_collective;

/* The channels NCCL found for communicators with so many GPUs on each node; bytes/s of a channel.
 * "intra" is its rate inside a node (also used on two nodes), "inter" across nodes. */
typedef struct ovl_hw_graph {
    ovl_mark mark;
    int64_t gpus;
    int nodes; /* ovl_nodes */
    const char *on;
    uint32_t machine; /* as those of ovl_hw_collective */
    bool has_gpu;
    int gpu; /* the oldest generation among the members; else that of `nccl` */
    int64_t channels;
    uint64_t ring, ring_inter, tree, tree_inter;
    int64_t nvls_channels; /* 0: no NVLS */
    uint64_t nvls, nvls_inter;
    int64_t collnet_channels; /* 0: no CollNet (SHARP) */
    uint64_t collnet, collnet_inter;
} ovl_hw_graph;

typedef struct ovl_hw_nccl { /* nccl: what its tuning model needs to know */
    bool given;
    ovl_mark mark;
    const char *version;
    int gpu;                         /* 0 Volta, 1 Ampere, 2 Hopper, 3 Blackwell */
    int cpu;                         /* 0 Intel, 1 AMD, 2 another */
    int link;                        /* 0 NVLink, 1 PCIe: between the GPUs of a node */
    ovl_texts algorithms, protocols; /* allowed, as by NCCL_ALGO and NCCL_PROTO; none: all */
    bool no_ll128;      /* the way between GPUs and NICs is longer than NCCL allows it for */
    bool balanced_tree; /* the tree's pattern, else the plain one */
    ovl_time path;      /* latency of the way from a GPU to its NIC */
    ovl_items graphs;   /* ovl_hw_graph */
} ovl_hw_nccl;

typedef struct ovl_hw_pair {
    ovl_mark mark;
    const char *kernel, *collective;         /* classes; "*" is every class */
    double kernel_factor, collective_factor; /* default 1 */
    bool has_measured;
    ovl_hw_measured measured;
} ovl_hw_pair;

/* A GPU that is slow, or a link (or "hbm") that has less for a time; see faults.h. */
typedef struct ovl_hw_fault {
    ovl_mark mark;
    ovl_texts ranks; /* none: all */
    double slowdown; /* of kernels; 0: this is about a link */
    const char *link;
    uint64_t bandwidth;
    ovl_time from, until;
    bool has_until;
} ovl_hw_fault;

typedef struct ovl_hw {
    ovl_mark mark;
    const char *name;
    int64_t gpus_per_node; /* node.gpus; 0: all ranks are one node */
    int64_t gpus_at_most;  /* of any node: more than node.gpus where some of `others` have more */
    ovl_hw_gpu gpu;
    bool has_host;
    ovl_hw_host host;
    ovl_hw_link *links;
    uint32_t n_links;
    ovl_hw_collective *collectives;
    uint32_t n_collectives;
    ovl_hw_pair *pairs;
    uint32_t n_pairs;
    ovl_hw_nccl nccl;
    ovl_items faults; /* ovl_hw_fault */
    ovl_hw_nodes *others;
    uint32_t n_others;
    const char *on; /* of which nodes alone this is the hardware (ovl_hw_on); NULL: of all */
} ovl_hw;

/* GPUs of a node of sort i (0: those that are no others); false if not all have equally many. */
int64_t ovl_hw_gpus(const ovl_hw *hw, uint32_t machine);
bool ovl_hw_even(const ovl_hw *hw);

/* Decodes and checks a `hardware` mapping. Adds errors; *hw is filled as far as possible. */
void ovl_hw_decode(const ovl_node *node, ovl_hw *hw, ovl_arena *arena, ovl_errs *errs);

/* The hardware as the nodes see it that are number `machine` among `others`, plus 1; 0: those that
 * are not named. */
ovl_hw ovl_hw_on(const ovl_hw *hw, uint32_t machine);

/* The most that a link (OVL_NONE: HBM) has on any node. */
uint64_t ovl_hw_most(const ovl_hw *hw, uint32_t link);

/* Whether a link is about rails: an instance serves one, or it carries what leaves one. */
bool ovl_link_on_rails(const ovl_hw_link *link);

/* The factors of two classes; 0: not measured. A named kernel class beats a named collective class
 * beats two wildcards; of equals the first counts. */
ovl_pair ovl_hw_pair_of(const ovl_hw *hw, const char *kernel, const char *collective);

#endif
