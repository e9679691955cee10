/*
 * plan_ops.h - what the parts of the explicit plan share.
 *
 *     plan_ops.c          the steps in order
 *     plan_ops_expand.c   entries as written -> instances: repeats unrolled, `ranks:` read
 *     plan_ops_classes.c  ranks with the same list of instances share one code
 *     plan_ops_text.c     {i} in names
 *     plan_ops_emit.c     one code: streams, operations, waits
 *     plan_ops_buffers.c  one code: buffers, accesses, effects
 *     plan_ops_cost.c     what an operation costs
 *
 * An *entry* is a mapping of `ops` as the user wrote it; an *instance* is an entry with the values
 * of the counters of the repeats around it. Instances are small and hold no texts: names are put
 * together when a code is written. A *selector* is a set of ranks; selector 0 is all of them.
 *
 * Example: repeat: 48 around two operations, one of them with ranks: 0, on 8 ranks: 3 entries, 96
 * instances, selectors {all, {0}}, two classes: rank 0 with 96 operations and the others with 48.
 */
#ifndef OVL_MODELS_PLAN_OPS_H
#define OVL_MODELS_PLAN_OPS_H

#include "models/plan.h"

/* What an entry is. The first eight are ovl_op_kind. */
typedef enum ovl_entry_kind {
    OVL_ENTRY_OP_COUNT = OVL_MARKER + 1,
    OVL_ENTRY_MEMORY = OVL_ENTRY_OP_COUNT, /* alloc, free */
    OVL_ENTRY_REPEAT,
    OVL_ENTRY_NOTHING,
} ovl_entry_kind;

typedef struct ovl_entry {
    const ovl_xop *op;
    uint32_t kind;    /* ovl_op_kind or ovl_entry_kind */
    const char *name; /* of operations, as written */
    uint32_t body;    /* the entries of its `ops` start here */
    bool part;        /* of a batch */
    bool ranks_vary;  /* its ranks hold a counter */
    bool group_known; /* `own_group` is right for every instance */
    const ovl_group *own_group;
    uint32_t outer, both; /* selector around it, and the two together; OVL_NONE: not yet known */
    /* The cost found last, for communicators of `group` with this spread. */
    const ovl_group *group;
    const ovl_spread *spread;
    bool has_cost;
    const double *sends, *receives; /* [n_ranks] of an uneven all-to-all */
    const double *pairs;            /* ... by sender and receiver */
    ovl_plan_cost cost;
} ovl_entry;

typedef struct ovl_binding {
    uint32_t outer; /* binding of the repeat around this one, or OVL_NONE */
    const char *name;
    int64_t value;
} ovl_binding;

typedef struct ovl_instance {
    uint32_t entry, binding, selector;
} ovl_instance;

typedef struct ovl_selector {
    uint32_t first, count; /* into ranks, ascending; all: count only */
} ovl_selector;

typedef struct ovl_class {
    uint32_t first_rank; /* its lowest rank: it stands for all of them */
    uint32_t count;      /* ranks */
    uint32_t first, n;   /* into listed */
    uint32_t n_ops;      /* operations, parts of batches included */
} ovl_class;

/* Where a buffer of workload.buffers stands while a code is written. */
typedef struct ovl_buffer_use {
    uint32_t code; /* the code this is about, plus one; older contents mean "not used yet" */
    ovl_id id;     /* in the code; OVL_NONE: late and not yet allocated, or freed */
    bool freed;
    uint16_t stream;
} ovl_buffer_use;

/* One mention of a buffer by an operation. */
typedef struct ovl_mention {
    const char *text; /* as written */
    ovl_mark mark;
    bool read, write;
} ovl_mention;

/* The last operation of a name in the code being written. */
typedef struct ovl_latest {
    uint32_t code; /* plus one */
    uint32_t local;
} ovl_latest;

typedef struct ovl_ops {
    ovl_lowering *l;
    const ovl_workload *workload;
    ovl_arena scratch; /* until the plan is done */
    uint32_t reports;  /* mistakes told; beyond a limit the plan stops */
    OVL_VEC(ovl_entry) entries;
    OVL_VEC(ovl_binding) bindings;
    OVL_VEC(ovl_instance) instances;
    OVL_VEC(ovl_selector) selectors;
    OVL_VEC(uint32_t) ranks;  /* of selectors */
    ovl_names selector_texts; /* aligned with selectors: equal sets are one */
    OVL_VEC(char) key;        /* of a selector */
    OVL_VEC(char) text;       /* names with counters filled in */
    bool *group_used;         /* [l->n_groups] */
    const uint32_t **places;  /* [l->n_groups] of each rank; NULL: not yet known */
    uint64_t rank_ops;        /* operations over all ranks */
    uint32_t *class_of;       /* [n_ranks] */
    ovl_class *classes;
    uint32_t n_classes;
    uint32_t *listed;       /* instances, class after class */
    ovl_names buffer_names; /* aligned with workload->buffers */
    ovl_buffer_use *uses;   /* [workload->n_buffers] */
    OVL_VEC(uint32_t) met;  /* buffers of the code, in order of first mention */
    OVL_VEC(ovl_mention) mentions;
    OVL_VEC(ovl_latest) latest; /* by name id */
    /* The code being written. */
    ovl_id code;
    const ovl_class *class;
    uint32_t added;         /* operations */
    OVL_VEC(uint32_t) ends; /* of this step: the last operation of the host and of each stream */
} ovl_ops;

/* Adds a mistake unless there were too many; false then. */
bool ovl_ops_may_report(ovl_ops *o);

/* `text` with {i}, {i+1}, {i-2} replaced by the counters of `binding`; good until the next call.
 * The empty text and an error at `mark` if a counter is unknown. */
const char *ovl_ops_text(ovl_ops *o, const char *text, uint32_t binding, ovl_mark mark);

/* The place of the i-th text. */
ovl_mark ovl_ops_mark(const ovl_texts *texts, uint32_t i, ovl_mark otherwise);

/* Entries and instances of workload.ops; false and errors if they are too many. */
bool ovl_ops_expand(ovl_ops *o);

/* The group of a communication; NULL after an error. */
const ovl_group *ovl_ops_group(ovl_ops *o, ovl_entry *entry, uint32_t binding);

/* Whom a send or receive names: a place in the group, or an offset. */
typedef struct ovl_peer {
    const char *text; /* as written, counters filled in: good until the next ovl_ops_text */
    int32_t place;
    bool relative;
} ovl_peer;

/* Fills `peer` of an entry that names one, in a communicator of n members; gives what is wrong with
 * it, or NULL. */
const char *ovl_ops_peer(ovl_ops *o, const ovl_entry *entry, uint32_t binding, uint32_t n,
                         ovl_peer *peer);

/* How a rank and its peer lie on nodes, which is what a message between them costs by; NULL: the
 * rank is not in the group, or there is no such peer. */
const ovl_spread *ovl_ops_pair_spread(ovl_ops *o, const ovl_group *group, uint32_t rank,
                                      const ovl_peer *peer);

/* Classes and their lists of instances; false and errors if the codes are too large. */
bool ovl_ops_classes(ovl_ops *o);

/* The cost of an operation in a communicator of `group` whose members, or of a message the two that
 * talk, lie so (both NULL where it has none). */
ovl_plan_cost ovl_ops_cost(ovl_ops *o, ovl_entry *entry, const ovl_group *group,
                           const ovl_spread *spread);

/* Whether the entry of a communication says how long it takes, instead of the hardware. */
bool ovl_ops_states_time(const ovl_entry *entry);

/* The stream of an operation; NULL if it has none. */
const char *ovl_ops_stream(const ovl_entry *entry);

/* Writes the code of a class. */
void ovl_ops_emit(ovl_ops *o, const ovl_class *class);

/* Declares the buffers that the code uses from the start; `stream` is that of each operation. */
void ovl_ops_find_buffers(ovl_ops *o, const ovl_instance *instance, uint16_t stream);
void ovl_ops_declare_buffers(ovl_ops *o);

/* alloc and free entries. */
void ovl_ops_memory(ovl_ops *o, const ovl_entry *entry, uint32_t binding);

/* Accesses and effects of the operation last added. */
void ovl_ops_access(ovl_ops *o, const ovl_entry *entry, uint32_t binding);

#endif
