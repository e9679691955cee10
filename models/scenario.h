/*
 * scenario.h - what the user wrote, as typed structs, each with its place in the file.
 *
 * Loading goes: file -> tree (yaml.h) -> `hardware: path` replaced by that file's tree -> variant
 * and --set applied (variant.h) ->
 * `$name` scalars replaced from `params` -> decoded by field tables (fields.h) -> checked. A
 * document is loaded once; each variant is decoded from it anew.
 *
 *     ovl_document doc;
 *     if (ovl_document_load("last_bucket.yaml", &files, &doc, &arena, &errs)) {
 *         ovl_scenario s;
 *         ovl_scenario_decode(&doc, "split_80_16", sets, n_sets, &s, &arena, &errs);
 *     }
 *
 * A workload is one of three: `ops`, an explicit program; a data-parallel step stated as `layers`,
 * as a `model` by its shape or as `gradients`; or a pipeline, stated as `stages`, or as layers to
 * be cut.
 */
#ifndef OVL_MODELS_SCENARIO_H
#define OVL_MODELS_SCENARIO_H

#include "models/hw.h"
#include "models/record_change.h"
#include "models/record_isolate.h"
#include "models/schedule_lower.h"
#include "models/variation.h"
#include "sim/engine.h"

/* --- Data-parallel step --- */

/* A layer, in registration (forward) order unless workload.order is `backward`. */
typedef struct ovl_layer {
    ovl_mark mark;
    const char *name;
    int64_t repeat; /* default 1; repeats are named name[0], name[1], ... (ovl_layer_name) */
    int64_t first;  /* number of its first repeat, when a repeated layer was split around another */
    bool has_first; /* then it is numbered even if it has no repeats */
    uint64_t params;    /* bytes of its one parameter tensor, in dtype */
    ovl_texts elements; /* instead: element counts of its tensors in registration order; named
                           name.0, name.1, ... */
    int dtype;          /* ovl_dtype; default that of the workload */
    ovl_times forward, backward; /* isolated durations; one, or one a rank */
    ovl_time backward_weight;    /* pipelines: part of backward that nobody waits for */
    bool has_backward_weight;
    uint64_t transfer; /* pipelines: bytes to the next stage, if it is a last one */
    bool has_transfer;
    double forward_flops, backward_flops; /* instead of durations: roofline */
    uint64_t hbm, backward_hbm; /* HBM bytes of the forward / backward kernel; backward default:
                                   twice hbm if hbm is given */
    ovl_sizes activations;      /* bytes kept from its forward to its backward */
    bool recompute;             /* its activations are computed again in the backward ... */
    ovl_times recompute_time;   /* ... by a kernel of this length; default its forward ... */
    ovl_sizes checkpoint;       /* ... from these bytes, kept from forward to backward */
    uint64_t expert_params;     /* of `params`, those of experts: of layers made from a model */
    bool offload;               /* what is kept goes to the host in between */
    ovl_time forward_host, backward_host; /* the host's own time in a pass, besides launches */
    int64_t sms, blocks;                  /* of its kernels */
    const char *klass; /* interference class of its kernels; default "forward" / "backward" */
    const struct ovl_inner *inner; /* of a model: what it is made of; else NULL */
} ovl_layer;

/* The name of one repeat (0 .. repeat - 1): "embed", or "block[3]" if the layer is numbered. A
 * layer split by a path into block[0..2], block[3] and block[4..47] keeps these names. Owned by
 * `arena` or by the layer. */
const char *ovl_layer_name(const ovl_layer *layer, int64_t repeat, ovl_arena *arena);

/* A gradient that becomes ready at a moment of an uninterrupted, unstretched backward pass; in
 * backward order. */
typedef struct ovl_gradient {
    ovl_mark mark;
    const char *name;
    uint64_t bytes;
    int dtype;
    ovl_time ready;
    ovl_time copy_in; /* length of a kernel that copies it into its bucket on the compute stream; 0:
                         no kernel */
} ovl_gradient;

typedef enum ovl_order { OVL_ORDER_FORWARD, OVL_ORDER_BACKWARD } ovl_order;

/* How what layers keep goes to the host and back (layers that say `offload`). */
typedef struct ovl_offload {
    ovl_mark mark;
    bool given;
    uint64_t d2h, h2d; /* bytes/s */
    ovl_texts via;     /* links */
    int64_t in_flight; /* units whose copy may be under way before compute waits for the oldest */
    int64_t reload_distance; /* units ahead that are copied back */
} ovl_offload;

typedef struct ovl_optimizer {
    ovl_mark mark;
    bool given;
    ovl_time duration;
    uint64_t states; /* bytes of optimizer state per rank; else: */
    int64_t moments; /* tensors of the size of the parameters (Adam: 2) ... */
    bool master;     /* ... and a copy of the parameters ... */
    int dtype;       /* ... in this type */
} ovl_optimizer;

/* --- Pipeline --- */

/* A stage; all times are one, or one for each microbatch. */
typedef struct ovl_stage {
    ovl_mark mark;
    const char *name;
    int64_t repeat, first; /* as of layers */
    bool has_first;
    ovl_times forward, backward, backward_input, backward_weight, overlapped;
    uint64_t params;             /* bytes held all the time */
    uint64_t activations;        /* bytes from its forward to its backward */
    uint64_t weight_activations; /* those needed until backward_weight; default all */
    bool has_weight_activations;
    uint64_t transfer;   /* bytes to the next stage */
    bool has_transfer;   /* 0 bytes are said, too */
    uint64_t checkpoint; /* bytes kept where the forward runs again */
    bool has_checkpoint;
    const char *klass;
} ovl_stage;

/* --- Explicit program --- */

typedef struct ovl_xbuffer {
    ovl_mark mark;
    const char *name;
    ovl_sizes bytes;
    int dtype, category;
    const char *stream; /* default: the stream of the first operation that uses it */
    bool held;          /* default false: live from first write to last read */
    bool late;          /* allocated by an `alloc` entry of ops instead of at the start */
    bool record_stream; /* usable again, once freed, when other streams are through with it */
} ovl_xbuffer;

typedef struct ovl_xgroup {
    ovl_mark mark;
    const char *name;
    ovl_node *ranks; /* [0, 1] one communicator; [[0, 1], [2, 3]] several; all */
} ovl_xgroup;

typedef struct ovl_xproduce {
    ovl_mark mark;
    const char *into;
    ovl_texts gradients;
    int64_t microbatch;
    bool add;
    double scale;
} ovl_xproduce;
typedef struct ovl_xpack {
    ovl_mark mark;
    ovl_texts from;
    const char *into;
    double scale;
} ovl_xpack;

/* One entry of `ops`. Which of kernel/collective/send/recv/batch/copy/host/marker/alloc/free/repeat
 * is set says what it is. */
typedef struct ovl_xop {
    ovl_mark mark;
    const char *kernel, *collective, *send, *recv, *batch, *copy, *host,
        *marker;           /* the name of the operation */
    ovl_texts alloc, free; /* buffers */
    int64_t repeat;        /* times; with `as` and `ops` */
    const char
        *as; /* the counter's name: {i}, {i+1}, {i-1} in names inside are replaced; default i */
    ovl_items ops;      /* of ovl_xop: the body of a repeat, the parts of a batch; a list that
                           aliases share is one array here too */
    ovl_texts ranks;    /* which ranks have it: "0", "2-5"; default all */
    const char *stream; /* default: kernel, marker `compute`; collective, send, recv, batch `comm`;
                           copy `copy` */
    const char *group;  /* default: the only group there is */
    int op;             /* collective: ovl_coll */
    bool has_bytes;
    uint64_t bytes;
    int dtype;
    int64_t root;
    const char *to, *from; /* place in the group: "3"; or relative: "+1", "-1" (modulo the size) */
    ovl_ratios sends, receives; /* all_to_all: shares of the members; none: even; or a matrix of
                                   bytes, and `bytes` what an even exchange of as much has */
    bool average, eager, has_eager;
    ovl_times duration; /* isolated; replaces the hardware's cost */
    bool has_alpha, has_beta;
    ovl_time alpha;
    uint64_t beta;
    ovl_texts via; /* links of a communication given by duration or alpha/beta */
    double flops;
    uint64_t hbm; /* kernel: HBM bytes moved */
    bool has_hbm_factor;
    double hbm_factor;
    ovl_time compute; /* kernel: SM-bound part of its duration; default all of it */
    bool has_sms;
    int64_t sms, blocks;
    const char *klass;
    int direction; /* copy: 0 d2h, 1 h2d */
    ovl_time launch;
    bool has_launch;
    ovl_texts after;         /* names; a trailing ? makes an entry optional */
    ovl_texts reads, writes; /* buffers */
    const char *buffer;      /* communication in place: reads and writes it */
    bool has_produces, has_packs;
    ovl_xproduce produces;
    ovl_xpack packs;
    ovl_texts consumes; /* optimizer: buffers whose gradients must be complete */
    ovl_texts resets;   /* buffers that hold nothing from here on (zeroed) */
    bool checked;       /* the loader's: this entry was looked at (see `ops`) */
} ovl_xop;

/* --- Replay of a measured step --- */

typedef enum ovl_pauses { OVL_PAUSES_KEEP, OVL_PAUSES_DROP } ovl_pauses;

typedef struct ovl_replay_keys {
    ovl_mark mark;
    const char *step;  /* NULL: the last step there is, else the whole trace */
    const char *comm;  /* which kernels communicate */
    int unexplained;   /* ovl_pauses */
    ovl_items classes; /* ovl_record_class */
} ovl_replay_keys;

/* --- A model by its shape --- */

typedef enum ovl_recompute {
    OVL_RECOMPUTE_NONE,
    OVL_RECOMPUTE_SELECTIVE,
    OVL_RECOMPUTE_FULL,
    OVL_RECOMPUTE_NORMS,
} ovl_recompute;
typedef enum ovl_attention { OVL_ATTENTION_FLASH, OVL_ATTENTION_UNFUSED } ovl_attention;
typedef enum ovl_context { OVL_CONTEXT_RING, OVL_CONTEXT_ALL_GATHER } ovl_context;

/* Durations of all kernels of a block, measured on one rank; 0: not given. */
typedef struct ovl_block_times {
    ovl_mark mark;
    ovl_time forward, backward;
} ovl_block_times;

/* Queries, keys and values by way of narrow matrices (multi-head latent attention); 0: not given.
 */
typedef struct ovl_latent {
    ovl_mark mark;
    int64_t query, key_value; /* columns in between */
    int64_t rope; /* columns of each head's query that carry positions, of one key for all */
} ovl_latent;

/* Experts in place of the MLP (moe.h). */
typedef struct ovl_moe {
    ovl_mark mark;
    bool given;
    int64_t experts, top_k, ffn_hidden; /* those that tokens are routed to */
    int64_t shared;                     /* experts that see every token */
    int64_t dense_layers;               /* first blocks, that have a plain MLP */
    const char *ep;                     /* axis that the experts are split over ... */
    const char *across; /* ... together with this one, whose hop comes first; NULL */
    int64_t copies;     /* of a token that go across, at most; 0: top_k */
    /* Of tokens to experts and back, of gradients to them and back; OVL_DTYPE_OF_WORKLOAD: as the
     * model's, as the tokens'. */
    int dispatch_dtype, combine_dtype, grad_dispatch_dtype, grad_combine_dtype;
    double hottest;    /* load of the busiest rank, the mean being 1; 0: not given */
    ovl_ratios shares; /* load of each rank */
    bool has_spread;
    double spread; /* coefficient of variation of drawn loads */
    int64_t seed;
} ovl_moe;

/* A transformer; counts are of the whole model, not of a rank (block.h). */
typedef struct ovl_model {
    ovl_mark mark;
    bool given;
    int64_t layers, hidden, ffn_hidden, heads, kv_heads, head_dim, sequence, vocabulary;
    int64_t microbatch; /* sequences */
    int dtype;          /* ovl_dtype: parameters, activations, gradients */
    int matmul_dtype;   /* that matrix products compute in; OVL_DTYPE_OF_LAYER: the same */
    bool gated, causal, dropout, sequence_parallel;
    int attention; /* ovl_attention */
    int recompute; /* ovl_recompute */
    int context;   /* ovl_context */
    const char *tp, *cp;
    int64_t async_tp; /* pieces of a collective and the kernel beside it; 1: whole */
    double matmul_efficiency, attention_efficiency; /* of peak FLOP/s; 0: that of the hardware */
    double memory_efficiency; /* of HBM bandwidth: kernels that only move bytes; 0: not given */
    ovl_block_times block;
    ovl_latent latent;
    ovl_moe moe;
} ovl_model;

typedef struct ovl_workload {
    ovl_mark mark;
    ovl_mark microbatches_mark; /* line 0: not given */
    int64_t ranks;              /* explicit programs without a mesh */
    int dtype;                  /* default of layers and gradients: f32 */
    int order;                  /* ovl_order of `layers` */
    ovl_model model;
    ovl_texts inner_groups; /* that its layers communicate in */
    ovl_items layers;       /* of ovl_layer; those of a model are made from it */
    ovl_items gradients;    /* of ovl_gradient */
    ovl_items stages;       /* of ovl_stage */
    ovl_time backward;      /* with gradients: length of the backward, copy-in kernels included */
    int64_t microbatches;   /* gradient accumulation; default 1 */
    int64_t steps;          /* training steps to run; the last is the one looked at; default 1 */
    ovl_optimizer optimizer;
    ovl_offload offload;
    ovl_items ops;        /* of ovl_xop */
    ovl_xbuffer *buffers; /* `buffers`: a mapping of name to properties */
    uint32_t n_buffers;
    ovl_xgroup *groups; /* `groups`: a mapping of name to ranks */
    uint32_t n_groups;
    ovl_node *buffers_node, *groups_node;
    ovl_texts trace; /* files, as they are named */
    ovl_replay_keys replay;
    ovl_change_keys what_if;
} ovl_workload;

/* --- Overlap
 * -----------------------------------------------------------------------------------------------
 */

typedef enum ovl_ddp_policy { OVL_DDP_PYTORCH, OVL_DDP_MEGATRON } ovl_ddp_policy;
typedef enum ovl_ddp_iteration { OVL_DDP_REBUILT, OVL_DDP_FIRST } ovl_ddp_iteration;

typedef struct ovl_ddp {
    ovl_mark mark;
    bool given;
    int policy, iteration;
    const char *group;         /* default dp */
    const char *stream;        /* default comm */
    uint64_t bucket_cap;       /* 25 MiB */
    uint64_t first_bucket_cap; /* 1 MiB */
    bool has_first_bucket_cap, has_bucket_cap;
    bool last_bucket_cap;        /* DDP_SET_LAST_BUCKET_CAP: the small one comes last */
    bool find_unused_parameters; /* iteration first: limits apply instead of one bucket per dtype */
    int64_t bucket_size;         /* megatron: elements; default max(40e6, 1e6 * dp) */
    bool distributed_optimizer;  /* megatron: reduce-scatter, padding */
    bool overlap_param_gather;   /* megatron: parameters are gathered in the next forward */
    bool pad_for_busbw;          /* megatron: pad_buckets_for_high_nccl_busbw */
    bool overlap;           /* false: all reductions after the backward (megatron: in one bucket) */
    ovl_node *buckets_node; /* explicit: [[g1, g2], [g3]]; "block[0..3]" is allowed */
    ovl_texts order; /* order of gradients for assignment; default: order of readiness (rebuilt) or
                        reverse registration (first) */
    bool no_sync;    /* microbatches but the last do not reduce; default true */
    bool gradient_as_bucket_view;
    uint64_t copy_in_rate;    /* bytes/s of copy-in (and copy-out) kernels; 0: they take no time */
    ovl_time bucket_overhead; /* compute-stream time per bucket launched */
    bool has_gradient_scale;
    double gradient_scale; /* applied at copy-in; default 1/(group size) */
} ovl_ddp;

typedef enum ovl_fsdp_policy { OVL_FSDP_2, OVL_FSDP_1 } ovl_fsdp_policy;
typedef enum ovl_fsdp1_sharding { OVL_FSDP1_FULL, OVL_FSDP1_GRAD_OP } ovl_fsdp1_sharding;
typedef enum ovl_fsdp1_prefetch {
    OVL_FSDP1_PRE,
    OVL_FSDP1_POST,
    OVL_FSDP1_NO_PREFETCH,
} ovl_fsdp1_prefetch;
typedef enum ovl_fsdp1_block { OVL_FSDP1_ALWAYS, OVL_FSDP1_NEEDED } ovl_fsdp1_block;
typedef enum ovl_fsdp_when { OVL_FSDP_EVERY, OVL_FSDP_LAST, OVL_FSDP_BEHIND } ovl_fsdp_when;

/* A type that was not given: that of the layer, of the parameters, of the gradients. */
#define OVL_DTYPE_OF_LAYER (-1)

/* A depth beside numbers. */
#define OVL_FSDP_AHEAD                                                                             \
    (-1) /* no explicit prefetch: the host runs ahead as far as events let it                      \
          */

typedef struct ovl_fsdp_prefetch {
    const char *forward_text, *backward_text; /* as written */
    int64_t forward, backward;                /* OVL_FSDP_AHEAD, 0 or units ahead; 1 backward */
} ovl_fsdp_prefetch;

/* What PyTorch's set_requires_gradient_sync, set_requires_all_reduce, set_is_last_backward,
 * set_reshard_after_backward and set_unshard_in_backward say while gradients are accumulated. */
typedef struct ovl_fsdp_accumulate {
    ovl_mark mark;
    int gradient_sync, all_reduce, last_backward; /* ovl_fsdp_when; BEHIND: gradient_sync only */
    bool reshard_after_backward;
    ovl_texts skip_unshard_in_backward; /* layers */
} ovl_fsdp_accumulate;

typedef struct ovl_fsdp {
    ovl_mark mark;
    bool given;
    int policy;            /* ovl_fsdp_policy */
    const char *shard;     /* group; default dp */
    const char *replicate; /* group, or NULL */
    ovl_texts root;        /* layers whose parameters the root module holds */
    const char *reshard_text;
    bool reshard;       /* after forward ... */
    int64_t reshard_to; /* ... to a mesh of so many ranks; 0: all */
    ovl_mark reshard_mark, shard_mark, replicate_mark;
    ovl_texts keep; /* layers that are not resharded after forward */
    ovl_fsdp_prefetch prefetch;
    int64_t communicators;       /* 1 or 2 */
    int64_t outstanding_reduces; /* reduce-scatter inputs alive beside the one being filled */
    int param_dtype, grad_dtype, reduce_dtype; /* or OVL_DTYPE_OF_LAYER */
    uint64_t copy_rate;                        /* bytes/s of copy kernels; 0: they take no time */
    ovl_fsdp_accumulate accumulate;
    /* fsdp1 */
    int sharding;              /* ovl_fsdp1_sharding */
    int backward_prefetch;     /* ovl_fsdp1_prefetch */
    bool forward_prefetch;     /* the next unit is gathered before this one's forward */
    int64_t limit_all_gathers; /* 0: no limit */
    int block;                 /* ovl_fsdp1_block: when the host waits */
    bool regather;             /* a recomputed forward gathers for itself */
} ovl_fsdp;

typedef enum ovl_zero_iteration { OVL_ZERO_TRACED, OVL_ZERO_FIRST } ovl_zero_iteration;

/* DeepSpeed; sizes in elements. */
typedef struct ovl_zero {
    ovl_mark mark;
    bool given;
    int64_t stage;
    const char *group; /* default dp */
    int64_t reduce_bucket_size, allgather_bucket_size;
    bool overlap_comm;
    /* stage 3 */
    int64_t prefetch_bucket_size, max_live_parameters, max_reuse_distance;
    int64_t param_persistence_threshold;
    int iteration;      /* ovl_zero_iteration: the first one has no trace to prefetch by */
    uint64_t copy_rate; /* bytes/s of copies into and out of buckets; 0: they take no time */
} ovl_zero;

typedef enum ovl_pipe_protocol { OVL_PIPE_EAGER, OVL_PIPE_RENDEZVOUS } ovl_pipe_protocol;
typedef enum ovl_pipe_pairs { OVL_PIPE_TURNS, OVL_PIPE_SERIAL } ovl_pipe_pairs;
typedef enum ovl_pipe_receives { OVL_PIPE_LATE, OVL_PIPE_EARLY } ovl_pipe_receives;
/* How layers are shared among stages where nothing says how many each gets. */
typedef enum ovl_pipe_split { OVL_SPLIT_NUMBER, OVL_SPLIT_TIME } ovl_pipe_split;
typedef enum ovl_pipe_comms_of { OVL_PIPE_STAGES, OVL_PIPE_RANKS, OVL_PIPE_ONE } ovl_pipe_comms_of;

/* What data parallelism adds to the stages of a pipeline. */
typedef struct ovl_pipe_data {
    ovl_mark mark;
    bool given;
    const char *group;          /* default dp */
    ovl_schedule_shards shards; /* of parameters and gradients */
    int64_t buckets;            /* parts that the gradients of a stage are reduced in */
    bool distributed;           /* each rank updates its part of parameters that all hold */
    int grad_dtype;             /* of gradients; OVL_DTYPE_OF_LAYER: that of parameters */
} ovl_pipe_data;

typedef struct ovl_pipeline {
    ovl_mark mark;
    /* where the schedule stands, by name or as a list, and keys that it may not fit; not given: the
     * mark of the mapping */
    ovl_mark schedule_mark, microbatches_mark, virtual_stages_mark, microbatch_group_mark;
    ovl_mark group_mark;
    bool given;
    const ovl_node *node;       /* which keys are given */
    const char *schedule;       /* by name (schedule.h), or: */
    ovl_texts actions;          /* a row of actions for each rank, or: */
    ovl_texts schedule_file;    /* the same, rows of a file; the loader reads it */
    int64_t microbatches;       /* 0: workload.microbatches, or those of the actions */
    int64_t virtual_stages;     /* stages on each rank; 0: what the stages make */
    ovl_texts layers_per_stage; /* counts; none: by `split` */
    int64_t microbatch_group;   /* interleaved_megatron; 0: ranks */
    bool extra_warmup;
    const char *group; /* default pp */
    int protocol, communicators, receives, split, pairs;
    bool has_alpha, has_beta;
    ovl_time alpha;
    uint64_t beta;
    ovl_texts via;
    ovl_pipe_data data;
    bool recompute; /* forwards run again before their backwards */
    bool batch;     /* neighbouring sends and receives are one launch */
} ovl_pipeline;

/* --- The whole --- */

typedef struct ovl_axis {
    const char *name;
    int64_t size;
    ovl_mark mark;
} ovl_axis;

typedef struct ovl_mesh {
    ovl_mark mark;
    bool given;
    ovl_axis *axes; /* in placement order, innermost first */
    uint32_t n_axes;
} ovl_mesh;

typedef enum ovl_sharing { OVL_SHARING_FAIR, OVL_SHARING_PROPORTIONAL } ovl_sharing;

typedef struct ovl_scenario {
    const char *file;
    const char *name;
    const char *description;
    const char *variant; /* "base" without one */
    ovl_mark mark;
    ovl_hw hw;
    ovl_mesh mesh;
    int64_t n_ranks; /* product of the mesh, or workload.ranks, or 1 */
    ovl_workload workload;
    ovl_ddp ddp;
    ovl_fsdp fsdp;
    ovl_zero zero;
    ovl_pipeline pipeline;
    ovl_variation variation;
    int interference;              /* ovl_interference; default shared */
    int sharing;                   /* ovl_sharing; default fair */
    int64_t expand;                /* collectives of up to so many members in steps; 0: none */
    const ovl_recorded *recorded;  /* of workload.trace; else NULL */
    const ovl_recorded *unchanged; /* the same without its what-ifs; NULL if it has none */
    uint64_t
        memory; /* bytes that its program and a run may take; set by who lowers it, 0: no limit */
    const ovl_watch *watch; /* told which part of lowering begins; the same, NULL: nobody */
} ovl_scenario;

/* How files named by scenarios are read; the loader itself touches no file. read() gives the text
 * of `path` in the arena, or NULL and a sentence in *why. */
typedef struct ovl_files {
    const char *(*read)(void *context, const char *path, size_t *length, ovl_arena *arena,
                        const char **why);
    void *context;
    /* Reads a measured trace into *seen, all of it in the arena; false and errors that name the
     * file. NULL: traces cannot be read. */
    bool (*see)(void *context, const char *path, ovl_arena *arena, ovl_seen *seen, ovl_errs *errs);
} ovl_files;

typedef struct ovl_document {
    const char *file;
    ovl_node *root;        /* with hardware grafted */
    const char **variants; /* names, in file order, without "base" */
    uint32_t n_variants;
    const char **trace_names; /* as the scenario and its variants name them */
    const ovl_seen *traces;   /* aligned; a file that cannot be read has no streams */
    uint32_t n_traces;
} ovl_document;

/* A `--set path=value` of the command line; or, with a path, a change that was read before (an axis
 * of a sweep), whose value may be shared by many scenarios. */
typedef struct ovl_set {
    const char *text;
    const char *path;
    ovl_mark mark;         /* where the path was written */
    const ovl_node *value; /* lives as long as the scenario */
} ovl_set;

/* Reads and parses a scenario file, and the hardware files and traces that it or its variants name
 * (relative to the scenario). False and errors if it is not usable; then what else is wrong with
 * the base and the variants is told in the same run. The document lives in `arena`, and so do the
 * file names in the places of mistakes: print these first. */
bool ovl_document_load(const char *path, const ovl_files *files, ovl_document *doc,
                       ovl_arena *arena, ovl_errs *errs);

/* The scenario of one variant (NULL or "base": none) with `sets` applied after it. All mistakes are
 * added to errs; false if any. An unknown variant is OVL_E_USAGE with the nearest name; a bad --set
 * is OVL_E_USAGE. */
bool ovl_scenario_decode(const ovl_document *doc, const char *variant, const ovl_set *sets,
                         uint32_t n_sets, ovl_scenario *scenario, ovl_arena *arena, ovl_errs *errs);

/* Tables in the order of the reference page. */
extern const ovl_table *const ovl_scenario_tables[];
extern const uint32_t ovl_scenario_n_tables;

#endif
