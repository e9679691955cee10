/*
 * plan_fsdp2.h - PyTorch's fully_shard (FSDP2): the code of a step while it is written.
 *
 *     plan_fsdp2.c           streams, held buffers, the table of functions
 *     plan_fsdp2_gather.c    unshard, wait, copy-out, reshard
 *     plan_fsdp2_reduce.c    post-backward: copy-in, reduce-scatter, all-reduce, accumulation
 *
 * From torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py@62a45b6f, _fsdp_state.py@1fd469d0,
 * _fsdp_collectives.py@010ae4a8. Of unit i:
 *
 *     buffer                  allocated (pool)                    freed
 *     gather output           unshard (copy-in stream)            forward: when the next unit is
 *                                                                 waited for; backward: right after
 *                                                                 its own copy-out
 *     gathered parameters     copy-out (compute)                  post-forward, post-backward
 *     gradients               backward of their layer (compute)   after their copy-in
 *     reduce-scatter input    post-backward (compute)             at the next post-backward, once
 *                                                                 compute waits for it
 *     reduce-scatter output   (reduce-scatter stream)             once accumulated; with replicas
 *                                                                 when the all-reduce is waited for
 *
 * A backward in two parts (zero-bubble pipelines): the first gathers and reshards as a backward
 * does, the second makes the gradients, which need no parameters, and reduces them.
 *
 * Freed on the host means: usable again at once by later work of the pool's stream. So the gather's
 * streams wait for the copy-out that read an output before it is freed: that is the only thing that
 * holds gathers back from running ahead, and why at most two run during one forward.
 */
#ifndef OVL_MODELS_PLAN_FSDP2_H
#define OVL_MODELS_PLAN_FSDP2_H

#include "models/shard.h"

typedef struct ovl_fsdp2_group {
    const ovl_param_group *g;
    ovl_shard_cost cost;
    ovl_shard_held held;
    ovl_id cast, output;      /* of the gather under way */
    ovl_id whole;             /* gathered parameters */
    ovl_id near;              /* resharded over neighbours after the forward */
    uint32_t resharded;       /* ... by this operation, which its next gather waits for; OVL_NONE */
    ovl_id gathered_gradient; /* whole gradients accumulated in another type */
    ovl_id partial;           /* sharded sums before the all-reduce, in another type */
    ovl_id reduced;           /* output kept for the all-reduce */
    uint32_t reduced_end;     /* ... and the last operation that uses it */
    uint32_t op;              /* of the gather under way, OVL_NONE: none */
    bool has_gradient;        /* its gradients hold earlier microbatches */
    bool has_sum;             /* grad holds earlier microbatches */
    bool has_partial;         /* partial sums wait for the all-reduce */
} ovl_fsdp2_group;

/* A reduce-scatter whose input is still allocated. */
typedef struct ovl_fsdp2_reduce {
    ovl_id input;
    uint32_t op;
} ovl_fsdp2_reduce;

typedef struct ovl_fsdp2 {
    ovl_fsdp_plan *p;
    ovl_step *s;
    ovl_fsdp2_group *groups; /* aligned with the plan's */
    ovl_id *gradients;       /* [n_units] whole gradients of this microbatch, or OVL_NONE */
    uint16_t copy_stream, gather_stream, scatter_stream, reduce_stream;
    ovl_shard_slots slots[2]; /* of dense parameters, of experts */
    ovl_id states;            /* held buffer of all groups, where they are given so, or OVL_NONE */
    uint32_t gate;            /* what the gathers' streams wait for next, OVL_NONE: nothing new */
    uint32_t deferred;        /* group whose gather output is freed at the next wait, or OVL_NONE */
    uint32_t copied_out;      /* ... and its copy-out */
    uint32_t scatter_gate;    /* what the next reduce-scatter waits for, or OVL_NONE */
    OVL_VEC(ovl_fsdp2_reduce) reduces; /* oldest first */
    OVL_VEC(uint32_t) ends;            /* last operations of reductions not yet waited for */
} ovl_fsdp2;

/* Whether the pass at hand is a backward, or a part of one. */
bool ovl_fsdp2_backward(const ovl_fsdp2 *e);

/* The group of a unit, NULL if it has no parameters. */
ovl_fsdp2_group *ovl_fsdp2_group_of(const ovl_fsdp2 *e, uint32_t u);
ovl_fsdp2_group *ovl_fsdp2_root(const ovl_fsdp2 *e);

/* The first unit of a group from `u` on, or OVL_NONE: all but the root have one. */
uint32_t ovl_fsdp2_unit(const ovl_fsdp2 *e, const ovl_fsdp2_group *g, uint32_t u);

/* Issues the gather of a group unless it is gathered, or under way. */
void ovl_fsdp2_unshard(ovl_fsdp2 *e, ovl_fsdp2_group *g);

/* Lets compute wait for the gather under way, and copies its output out. */
void ovl_fsdp2_wait(ovl_fsdp2 *e, ovl_fsdp2_group *g);

/* Frees the gather output that is still deferred. */
void ovl_fsdp2_free_deferred(ovl_fsdp2 *e);

/* Frees the gathered parameters after a forward: or reshards them over neighbours. */
void ovl_fsdp2_reshard_forward(ovl_fsdp2 *e, ovl_fsdp2_group *g);

/* Gathers `depth` groups on either side of g: behind it in a forward, before it in a backward. */
void ovl_fsdp2_prefetch(ovl_fsdp2 *e, const ovl_fsdp2_group *g, int64_t depth);

/* Frees the gathered parameters after a backward, where that is asked for. */
void ovl_fsdp2_reshard_backward(ovl_fsdp2 *e, ovl_fsdp2_group *g);

/* What follows the gradients of a group. */
void ovl_fsdp2_post_backward(ovl_fsdp2 *e, ovl_fsdp2_group *g);

/* With `gradient_sync: behind`: reduces the groups of a pass, in order of the forward, if it is the
 * last of their backwards. */
void ovl_fsdp2_reduce_behind(ovl_fsdp2 *e, const ovl_pass *pass);

/* Compute waits for all reductions; what was kept for them is freed. */
void ovl_fsdp2_finalize(ovl_fsdp2 *e);

/* Whether this microbatch is one of those that a control names. */
bool ovl_fsdp2_now(const ovl_fsdp2 *e, int when);

#endif
