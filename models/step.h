/*
 * step.h - a training step as passes over units, with a data-parallel strategy in between.
 *
 * A *unit* is a layer: a forward and a backward kernel, parameters, activations. The experts of a
 * layer are a unit of their own right behind it, of parameters alone: what a strategy does before,
 * in and after the kernels of the layer it does for them, too, in the order of a forward the layer
 * first. A *pass* runs the
 * units of a stage for one microbatch: forwards in order, backwards in reverse. A *step* is the
 * list of passes of a rank in host order; without a pipeline F0 B0 F1 B1 ... over the microbatches,
 * and one stage. Whoever arranges passes otherwise (a pipeline) calls ovl_step_pass for each, with
 * operations of its own between them.
 *
 * A *strategy* is what data parallelism adds: a table of functions that are called at fixed places
 * and add operations, buffers and accesses of their own. It never sees another strategy.
 *
 *     ovl_step_open       open
 *       per step          begin_step                  (workload.steps, one behind the other)
 *         pass F          begin_forward, per unit {before_forward KERNEL in_forward after_forward},
 *                         end_forward
 *         pass B          begin_backward, per unit {before_backward KERNEL in_backward
 *                         after_backward}, end_backward
 *         pass I, W       the same of each; I has in_input instead of in_backward
 *       ovl_step_end      end_accumulation OPTIMIZER in_optimizer, next_step
 *
 * Example: 2 units, 1 microbatch, FSDP2 without explicit prefetch:
 *
 *     gather a, copy_out a, forward a, gather b, copy_out b, forward b,
 *     regather b, copy_out b, regather a, backward b, copy_in b, reduce b, ..., optimizer
 *
 * Operations are added in host program order. `last` is the last one on the compute stream, what a
 * stream that "waits for the compute stream" waits for.
 */
#ifndef OVL_MODELS_STEP_H
#define OVL_MODELS_STEP_H

#include "models/inner.h"

typedef struct ovl_step_unit {
    const char *name;
    ovl_mark mark;
    const ovl_layer *layer;
    ovl_plan_cost forward, backward, recompute; /* id OVL_NONE: it has no such kernel */
    ovl_plan_cost input, weight; /* parts of backward; OVL_NONE: nobody says how long they are */
    const uint64_t *elements;    /* [n_tensors] of its parameters, in registration order */
    uint32_t n_tensors;
    uint64_t n_elements;  /* of all of them */
    ovl_dtype dtype;      /* of its parameters as they are stored */
    ovl_sizes activation; /* bytes from its forward to its backward */
    bool experts;         /* parameters of the unit before it, in its kernels */
} ovl_step_unit;

/* What one unit keeps from a forward to its backward (step_kept.c). */
typedef struct ovl_step_kept {
    ovl_id buffer;            /* activations, or what they are recomputed from */
    ovl_id activations;       /* of a unit that recomputes, while they are there */
    uint32_t offload, reload; /* copies, OVL_NONE without */
} ovl_step_kept;

/* What a backward pass does: all, or the part that earlier stages wait for, or the rest. */
typedef enum ovl_pass_kind {
    OVL_PASS_FORWARD,
    OVL_PASS_BACKWARD,
    OVL_PASS_INPUT,  /* reads parameters and makes no gradients of them */
    OVL_PASS_WEIGHT, /* makes these, and reads no parameters */
} ovl_pass_kind;

typedef struct ovl_pass {
    ovl_pass_kind kind;
    uint32_t first_unit, n_units; /* of its stage */
    uint32_t microbatch;
    bool last; /* of the backwards, or weights, of its units: their gradients are complete */
} ovl_pass;

struct ovl_step;

/* A pass of one unit: its kernel, or all that it is made of. */
typedef struct ovl_unit_pass {
    struct ovl_step *s;
    uint32_t u;
    const char *word; /* in names */
    ovl_inner_pass inner;
    ovl_plan_cost cost; /* of a unit that is one kernel */
    ovl_time host;
    void (*kept)(struct ovl_step *s, uint32_t u); /* accesses of the last kernel */
    void (*hook)(struct ovl_step *s, uint32_t u); /* of the strategy, likewise */
} ovl_unit_pass;

/* A pass that is written piece by piece. */
typedef struct ovl_pass_writing {
    ovl_pass pass;
    uint32_t unit; /* of n_units, in the order of the pass */
    bool open;     /* it was begun, and there is more of it */
    ovl_unit_pass own;
    ovl_inner_caller caller;
    ovl_inner_writing inner;
} ovl_pass_writing;

/* Any function may be NULL. `u` is a unit. */
typedef struct ovl_strategy {
    void (*open)(struct ovl_step *s); /* a code begins: streams, communicators, held buffers */
    void (*begin_step)(struct ovl_step *s);
    void (*begin_forward)(struct ovl_step *s, const ovl_pass *pass);
    void (*before_forward)(struct ovl_step *s, uint32_t u);
    void (*in_forward)(struct ovl_step *s, uint32_t u); /* accesses of the kernel just added */
    void (*after_forward)(struct ovl_step *s, uint32_t u);
    void (*end_forward)(struct ovl_step *s, const ovl_pass *pass);
    void (*begin_backward)(struct ovl_step *s, const ovl_pass *pass);
    void (*before_backward)(struct ovl_step *s, uint32_t u);
    void (*in_backward)(struct ovl_step *s, uint32_t u);
    void (*in_input)(struct ovl_step *s, uint32_t u); /* of a backward whose weights come later */
    void (*after_backward)(struct ovl_step *s, uint32_t u);
    void (*end_backward)(struct ovl_step *s, const ovl_pass *pass);
    void (*end_accumulation)(struct ovl_step *s);
    void (*in_optimizer)(struct ovl_step *s); /* accesses of the optimizer just added */
    void (*next_step)(struct ovl_step *s);
    void (*close)(struct ovl_step *s); /* the code is written */
} ovl_strategy;

typedef struct ovl_step {
    ovl_lowering *l;
    ovl_builder *b;
    const ovl_workload *workload;
    const ovl_strategy *strategy;
    void *own;         /* of the strategy */
    bool staged;       /* passes are those of a pipeline's stages, each a module of its own */
    bool regathers;    /* a recomputed forward gathers, and frees, as the first does */
    uint32_t averaged; /* microbatches that a gradient of a rank is the mean of */
    ovl_arena scratch; /* until the plan is done */
    ovl_step_unit *units;
    uint32_t n_units;
    uint32_t microbatches;
    const ovl_group *expert_parts; /* ranks whose experts differ; NULL: none */
    uint64_t updates; /* elements that a rank's optimizer updates: the strategy's, once open */
    /* The code being written. */
    ovl_id code;
    uint16_t compute;
    ovl_time launch;
    ovl_inner_place inner;      /* the kernels of units, and what they communicate */
    uint32_t last;              /* on the compute stream, or OVL_NONE */
    uint32_t added;             /* on any stream: the last, or OVL_NONE */
    uint32_t microbatch;        /* now; OVL_NONE: all are through */
    ovl_pass pass;              /* now */
    ovl_step_kept *kept;        /* [microbatches * n_units] */
    uint16_t d2h, h2d;          /* streams of copies to the host and back */
    OVL_VEC(uint32_t) offloads; /* into kept: copies to the host whose source is there yet */
} ovl_step;

/* Units from workload.layers, in registration order. False after errors. */
bool ovl_step_units(ovl_step *s);

/* Gives back what the step holds outside the arena of the lowering. */
void ovl_step_free(ovl_step *s);

/* The unit of a name: the first and, where a layer repeats, how many; false if there is none. */
bool ovl_step_find(const ovl_step *s, const char *name, uint32_t *first, uint32_t *count);

/* --- Writing a code --- */

/* Opens a code, run by this rank among others, and lets the strategy make its streams and held
 * buffers. */
void ovl_step_open(ovl_step *s, uint32_t rank);

/* The same in a code that somebody else opened, with its compute stream. */
void ovl_step_open_in(ovl_step *s, uint32_t rank, ovl_id code, uint16_t compute);

/* One pass, at the present place in host order. */
void ovl_step_pass(ovl_step *s, const ovl_pass *pass);

/* The same piece by piece, so that two passes can take turns (inner.h): up to the first kernel
 * behind communication; true: there is more. `pass` of the step is the one at hand. */
void ovl_step_begin_pass(ovl_step *s, const ovl_pass *pass, ovl_pass_writing *w);
bool ovl_step_some(ovl_step *s, ovl_pass_writing *w);

/* The end of the accumulation and the optimizer. */
void ovl_step_end(ovl_step *s);

/* The code is written. */
void ovl_step_close(ovl_step *s);

/* All steps without a pipeline, in a code of its own that this rank runs among others. Gives the
 * code. */
ovl_id ovl_step_write(ovl_step *s, uint32_t rank);

/* False and an error if microbatches * `each` operations a unit, on all ranks, are too many. */
bool ovl_step_fits(const ovl_step *s, uint32_t each);

/* --- Kept from forward to backward --- */

/* Allocates what a forward writes; the forward just added writes it; what happens to it after the
 * forward. */
void ovl_step_open_kept(ovl_step *s);
void ovl_step_keep(ovl_step *s, uint32_t u);
void ovl_step_in_kept(ovl_step *s, uint32_t u);
void ovl_step_kept_forward(ovl_step *s, uint32_t u);

/* Copies back what the next backwards need; the activations of a recomputed forward, its accesses
 * and those of the backward; and frees it all. */
void ovl_step_need(ovl_step *s, uint32_t u);
bool ovl_step_recomputes(const ovl_step *s, uint32_t u);
void ovl_step_keep_again(ovl_step *s, uint32_t u);
void ovl_step_in_recompute(ovl_step *s, uint32_t u);
void ovl_step_in_backward(ovl_step *s, uint32_t u);
void ovl_step_kept_backward(ovl_step *s, uint32_t u);

/* --- For strategies --- */

/* "gather block[3]", or "gather block[3] mb 1" where there are several microbatches; in the arena
 * of the lowering. */
const char *ovl_step_name(ovl_step *s, const char *what, const char *of);

/* An operation on a stream, to be completed by the caller and added with ovl_step_add. */
ovl_op ovl_step_op(const ovl_step *s, ovl_op_kind kind, const char *name, ovl_plan_cost cost,
                   uint16_t stream, ovl_mark mark);

/* Adds it; gives its local index, and keeps it as `last` if it is on the compute stream. */
uint32_t ovl_step_add(ovl_step *s, const ovl_op *op);

/* A kernel that moves `read` + `written` bytes at `rate` (of the bytes written); without a rate a
 * marker that takes no time. */
uint32_t ovl_step_mover(ovl_step *s, const char *name, uint16_t stream, uint64_t read,
                        uint64_t written, uint64_t rate, ovl_mark mark);

/* A marker that joins dependencies. */
uint32_t ovl_step_marker(ovl_step *s, const char *name, uint16_t stream, ovl_mark mark);

/* The operation last added waits for another, reads or writes a buffer, has an effect. OVL_NONE is
 * nobody, and no buffer. */
void ovl_step_after(ovl_step *s, uint32_t before);
void ovl_step_reads(ovl_step *s, ovl_id buffer);
void ovl_step_writes(ovl_step *s, ovl_id buffer);
void ovl_step_effect(ovl_step *s, ovl_effect_kind kind, ovl_id buffer, ovl_id source, double scale);

/* It produces this rank's gradient of a unit and the present microbatch in a buffer, at scale one
 * over the microbatches; `first`: the buffer held nothing before. */
void ovl_step_produces(ovl_step *s, ovl_id buffer, uint32_t u, bool first);

/* It is an optimizer that needs the gradient of a unit in a buffer, complete. */
void ovl_step_consumes(ovl_step *s, ovl_id buffer, uint32_t u);

/* A buffer allocated at the present place in host order from the pool of a stream. */
ovl_id ovl_step_buffer(ovl_step *s, const char *name, uint64_t bytes, ovl_category category,
                       ovl_dtype dtype, uint16_t stream, ovl_mark mark);

/* The same, recorded with the allocator for other streams: freed, it is usable again only when
 * these are through with it. */
ovl_id ovl_step_recorded(ovl_step *s, const char *name, uint64_t bytes, ovl_category category,
                         ovl_dtype dtype, uint16_t stream, ovl_mark mark);

/* The same, held for the whole run. */
ovl_id ovl_step_held(ovl_step *s, const char *name, uint64_t bytes, ovl_category category,
                     ovl_dtype dtype, ovl_mark mark);

/* Frees a buffer at the present place and forgets it; OVL_NONE: nothing to free. */
void ovl_step_release(ovl_step *s, ovl_id *buffer);

#endif
