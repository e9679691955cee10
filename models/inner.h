/*
 * inner.h - what a layer is made of, where it is more than one kernel: kernels and the
 * communication between them, by tensor, context and expert parallelism.
 *
 * A layer has three lists in host program order: its forward, its backward, and what runs again
 * before the backward where activations are recomputed. Each operation says which earlier ones of
 * its list it needs; -1 is the input of the layer. Kernels stand on the compute stream,
 * communication on a stream named like its group, which waits for all that the compute stream was
 * given before it, as PyTorch's process groups do. Whoever writes a step (data parallel, sharded, a
 * pipeline) calls ovl_inner_run where it would otherwise add the one kernel of a layer; nothing
 * else differs, so every strategy composes with every block.
 *
 * The *chain* is the operation that makes what the next one starts from: the output of the layer
 * before, or a receive. It may be communication, which is why stream order is not enough.
 *
 * A backward may be cut in two (zero-bubble pipelines): INPUT, what the stage before waits for, and
 * WEIGHT, the gradients of parameters. A kernel that does both has `weight_flops`; in one piece it
 * does their sum.
 *
 * Example, the forward of an MLP on 2 ranks with sequence parallelism:
 *
 *     0 all_gather tp          needs -1
 *     1 mlp_in                 needs 0
 *     2 mlp_out                needs 1
 *     3 reduce_scatter tp      needs 2        out = 3
 */
#ifndef OVL_MODELS_INNER_H
#define OVL_MODELS_INNER_H

#include "models/plan.h"

typedef enum ovl_inner_kind {
    OVL_INNER_KERNEL,
    OVL_INNER_COLLECTIVE,
    OVL_INNER_SHIFT, /* a step of a ring: to the next member, and from the one before */
} ovl_inner_kind;

#define OVL_INNER_INPUT   (-1) /* the chain */
#define OVL_INNER_NOTHING (-2)

typedef struct ovl_inner_op {
    const char *name;
    uint8_t kind; /* ovl_inner_kind */
    uint8_t coll; /* ovl_coll */
    bool weight;  /* of the gradients of parameters alone: nobody waits for it but the next of its
                     kind */
    int16_t needs[2];
    double flops, weight_flops; /* kernels */
    uint64_t hbm, weight_hbm;   /* bytes they move */
    bool moves;                 /* that is all they do (ovl_memory_efficiency) */
    double efficiency;          /* of peak FLOP/s; 0: that of the hardware */
    uint8_t dtype;              /* ovl_dtype: what kernels compute in, what is communicated */
    const double *load;         /* [n_ranks] kernels: factors of their length; NULL: 1 */
    const char *group;          /* communication */
    uint64_t bytes;
    ovl_sizes holds; /* bytes that it writes, there until the last operation that needs it, or waits
                        for communication that does: then its memory is used again */
    const double *sends, *receives; /* [n_ranks] all-to-alls: see uneven.h; NULL: 1 */
    const double *pairs;            /* likewise, by sender and receiver: see plan.h */
} ovl_inner_op;

typedef struct ovl_inner_list {
    const ovl_inner_op *op;
    uint32_t n;
    int16_t out; /* what makes its output */
} ovl_inner_list;

/* Which list, or part of one, runs. */
typedef enum ovl_inner_pass {
    OVL_INNER_FORWARD,
    OVL_INNER_AGAIN, /* what recomputation runs */
    OVL_INNER_BACKWARD,
    OVL_INNER_BACKWARD_INPUT,
    OVL_INNER_BACKWARD_WEIGHT,
    OVL_INNER_PASSES,
} ovl_inner_pass;

typedef struct ovl_inner {
    ovl_inner_list forward, again, backward;
    ovl_time measured_forward, measured_backward; /* of all kernels of a pass; 0: by their FLOPs */
} ovl_inner;

/* What the kernels of a pass take on a healthy GPU, one after the other; 0 and an error if the
 * hardware does not say enough. */
ovl_time ovl_inner_time(ovl_lowering *l, const ovl_inner *inner, ovl_inner_pass pass,
                        ovl_mark mark);

/* FLOPs of the kernels of a pass. */
double ovl_inner_flops(const ovl_inner *inner, ovl_inner_pass pass);

/* Bytes that communication of a pass gives to a group's collectives, nccl-tests convention. */
uint64_t ovl_inner_bytes(const ovl_inner *inner, ovl_inner_pass pass, const char *group);

/* Whether a pass has any operation: the backward of an embedding makes no gradient of its input. */
bool ovl_inner_has(const ovl_inner *inner, ovl_inner_pass pass);

/* Operations of a forward, a recomputation and a backward together, at most. */
uint32_t ovl_inner_count(const ovl_inner *inner);

/* --- Writing --- */

/* A group that inner operations use in a code: its stream and its slot. */
typedef struct ovl_inner_lane {
    const char *name;
    const ovl_group *group;
    uint16_t stream, slot;
} ovl_inner_lane;

struct ovl_inner_costs;

/* Where inner operations are written: the state of one code. */
typedef struct ovl_inner_place {
    ovl_lowering *l;
    ovl_arena *scratch;
    ovl_id code;
    uint32_t rank; /* one that runs the code: how groups lie on nodes is that of its own */
    uint16_t compute;
    ovl_time launch;
    OVL_VEC(ovl_inner_lane) lanes;
    OVL_VEC(struct ovl_inner_costs *) costs; /* of layers that were met */
    uint32_t chain;       /* what makes the input of what comes next, or OVL_NONE */
    bool chain_is_kernel; /* then the compute stream keeps the order */
    uint32_t last;        /* the last operation on the compute stream, or OVL_NONE: the caller's */
    uint32_t waits;       /* what the next operation waits for besides, or OVL_NONE */
    uint32_t made;        /* gradients of weights: what made the gradient of the input, which layers
                             that have no part in it start from */
    ovl_id input, output; /* buffers that the next operation reads, that what makes the output of
                             the pass writes; OVL_NONE: none */
    /* In a pipeline: */
    uint8_t part; /* ovl_part; OVL_PART_NONE: it is none */
    uint16_t stage;
    uint32_t microbatch;
    ovl_time own,
        mean;    /* what the kernels of the action take, and would if all stages were alike */
    bool broken; /* an error was told */
} ovl_inner_place;

/* Opens a place in a code. */
void ovl_inner_open(ovl_inner_place *at, ovl_lowering *l, ovl_arena *scratch, ovl_id code,
                    uint32_t rank, uint16_t compute);

/* Gives back what a place holds outside its arena. */
void ovl_inner_close(ovl_inner_place *at);

/* The group in which the blocks of workload.model send to the next member of a ring; NULL: none. */
const ovl_group *ovl_inner_ring(ovl_lowering *l);

/* Whether two ranks may share a code: the groups that the blocks of workload.model communicate in
 * lie alike on nodes, and so do their neighbours in a ring. */
bool ovl_inner_alike(ovl_lowering *l, uint32_t a, uint32_t b);

/* What says of gradients that ranks of tensor parallelism have parts of their own
 * (ovl_effect.apart); 0 without. */
uint16_t ovl_inner_apart(ovl_inner_place *at);

/* Who writes a pass. */
typedef struct ovl_inner_caller {
    void *context;
    /* The text of an operation ("forward block[3].qkv mb 1") from its own name. */
    const char *(*name)(void *context, const char *op);
    /* Right after the first operation was added: what it waits for. NULL: nothing. */
    void (*first)(void *context);
    /* Right after the last kernel of the pass was added: accesses and effects of the layer. */
    void (*last_kernel)(void *context, uint32_t local);
    ovl_time host; /* of the pass, besides launches: at its first operation */
    ovl_mark mark;
    const char *klass; /* of its kernels; NULL: forward or backward */
} ovl_inner_caller;

/* A pass that is written piece by piece. */
typedef struct ovl_inner_writing {
    ovl_inner_place *at;
    const ovl_inner *inner;
    const ovl_inner_caller *caller;
    ovl_inner_pass pass;
    uint32_t *local; /* of the operations written; OVL_NONE: not yet, or not in this pass */
    ovl_id *buffer;  /* that they wrote and others still need; OVL_NONE: none */
    uint32_t *until; /* behind which each is let go: the last of the pass that needs it, or waits
                        for communication that does; OVL_NONE: none needs it */
    uint32_t *ends, *more; /* of those let go behind each the last, and the one before; OVL_NONE */
    uint32_t from;         /* the chain at the beginning */
    uint32_t next;         /* operation of the list */
    uint32_t last;         /* the last kernel of the pass, or OVL_NONE */
    bool from_kernel;
    bool begun;
    bool communicates; /* the one written last does */
} ovl_inner_writing;

/* Two passes take turns: what communicates in one is issued, then kernels of the other, which run
 * beside it. ovl_inner_some writes up to the first kernel behind communication, and says whether
 * there is more; between turns the place is left and entered. */
void ovl_inner_begin(ovl_inner_writing *w, ovl_inner_place *at, const ovl_inner *inner,
                     ovl_inner_pass pass, const ovl_inner_caller *caller);
bool ovl_inner_some(ovl_inner_writing *w);

/* What a place holds of one pass. */
typedef struct ovl_inner_turn {
    uint32_t chain, waits;
    ovl_id input, output;
    uint16_t stage;
    uint32_t microbatch;
    ovl_time own, mean;
    uint8_t part;
    bool chain_is_kernel;
} ovl_inner_turn;

ovl_inner_turn ovl_inner_leave(const ovl_inner_place *at);
void ovl_inner_enter(ovl_inner_place *at, const ovl_inner_turn *turn);

/* Writes a pass of a layer at the present place in host order. */
void ovl_inner_run(ovl_inner_place *at, const ovl_inner *inner, ovl_inner_pass pass,
                   const ovl_inner_caller *caller);

/* In a pipeline: what a kernel of this length takes if all stages are alike; else 0. */
ovl_time ovl_inner_mean(const ovl_inner_place *at, ovl_time length);

/* The operation last added, a single kernel of somebody else's, stands for a whole pass: it waits
 * for the chain and goes on with it. */
void ovl_inner_take(ovl_inner_place *at, uint32_t local);

/* What comes next starts from the output of this operation; OVL_NONE: of none. */
void ovl_inner_start(ovl_inner_place *at, uint32_t chain, bool is_kernel);

#endif
