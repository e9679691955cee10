/*
 * schedule.h - pipeline schedules: in which order each rank computes which stage on which
 * microbatch.
 *
 * A schedule is one list of actions for each rank, and the rank of each stage. It is pure: a
 * generator knows ranks, stages and microbatches (the automatic ones also times and memory), not
 * programs or hardware. The rule of each stands in its file.
 *
 * Stages form chains. A chain is a model: its stage s gets activations from s - 1 and gradients
 * from s + 1. There is one chain, except for DualPipe, which feeds a second copy of the model from
 * the other end: stages P .. 2P-1 are that copy, and the later half of the microbatches is its.
 *
 * Example, 1f1b on 2 ranks with 3 microbatches:
 *
 *     rank 0:  0F0 0F1 0B0 0F2 0B1 0B2
 *     rank 1:  1F0 1B0 1F1 1B1 1F2 1B2
 *
 * Generation takes time linear in the actions it gives.
 */
#ifndef OVL_MODELS_SCHEDULE_H
#define OVL_MODELS_SCHEDULE_H

#include "sim/err.h"
#include "sim/vec.h"

typedef enum ovl_action_type {
    OVL_ACT_NONE,        /* a blank cell: nothing, kept where a file had it */
    OVL_ACT_F,           /* forward */
    OVL_ACT_I,           /* backward of the inputs */
    OVL_ACT_W,           /* backward of the weights */
    OVL_ACT_B,           /* both at once */
    OVL_ACT_SEND_F,      /* sends what F gave to the next stage */
    OVL_ACT_RECV_F,      /* receives what F needs */
    OVL_ACT_SEND_B,      /* sends what I or B gave to the stage before */
    OVL_ACT_RECV_B,      /* receives what I or B needs */
    OVL_ACT_UNSHARD,     /* gathers the parameters of a stage */
    OVL_ACT_RESHARD,     /* lets them go */
    OVL_ACT_REDUCE_GRAD, /* reduces the gradients of a stage */
    OVL_ACT_COUNT,
} ovl_action_type;

typedef struct ovl_action {
    uint32_t microbatch; /* OVL_NONE for UNSHARD, RESHARD, REDUCE_GRAD and NONE */
    uint16_t stage;
    uint8_t type;
    bool joined; /* runs together with the next action of the list: an overlapped pair */
} ovl_action;

typedef struct ovl_actions {
    ovl_action *item;
    uint32_t count;
} ovl_actions;

/* Where the list of a rank was read: its row, and the column of each action in it. */
typedef struct ovl_actions_place {
    ovl_mark row;
    const uint32_t *column; /* [count] */
} ovl_actions_place;

typedef struct ovl_schedule {
    uint32_t n_ranks, n_stages, n_microbatches, n_chains;
    const uint32_t *rank_of;         /* [n_stages] */
    ovl_actions *ranks;              /* [n_ranks] */
    const ovl_actions_place *places; /* [n_ranks]; NULL: it was made, or changed since */
    bool old; /* it was read in PyTorch's old dialect: what is said of it is, too */
} ovl_schedule;

/* What a schedule is made for. Times and memory are for kinds that are `timed` alone. */
typedef struct ovl_schedule_spec {
    uint32_t ranks, microbatches;
    uint32_t stages_per_rank;
    uint32_t group; /* interleaved_megatron: microbatches of one stage in a row; 0: ranks */
    bool
        extra_warmup; /* interleaved_megatron: one more forward first, to overlap expert exchange */
    const ovl_time *forward, *input, *weight; /* [ranks * stages_per_rank]; NULL: not known */
    ovl_time hop;                             /* from one rank to the next */
    const uint64_t *activation;               /* [the same] bytes that F makes, */
    const uint64_t *kept;                     /* and those of them that I leaves for W */
    ovl_mark mark; /* of the schedule's name, for errors, and of what else may be wrong: */
    ovl_mark microbatches_mark, stages_mark, group_mark;
} ovl_schedule_spec;

/* Where stages are. */
typedef enum ovl_placement {
    OVL_PLACE_LOOP, /* stage s on rank s mod P */
    OVL_PLACE_V,    /* stages r and 2P-1-r on rank r */
    OVL_PLACE_BOTH, /* two chains, the second from the other end: stages r and 2P-1-r, again */
} ovl_placement;

typedef OVL_VEC(ovl_action) ovl_action_list;

typedef struct ovl_schedule_kind {
    const char *name;
    const char *pytorch;                /* its class there, "Schedule..."; NULL: there is none */
    uint32_t least_stages, most_stages; /* on each rank */
    uint8_t placement;
    bool splits; /* has I and W instead of B */
    bool timed;  /* looks at times and memory */
    /* What is wrong with the numbers, beyond the number of stages; NULL: nothing can be. */
    void (*check)(const ovl_schedule_spec *spec, ovl_errs *errs);
    /* The list of one rank; or all lists at once. */
    void (*order)(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list);
    bool (*whole)(const ovl_schedule_spec *spec, ovl_action_list *lists, ovl_errs *errs);
} ovl_schedule_kind;

/* The kinds in order of the reference page; NULL beyond the last. */
const ovl_schedule_kind *ovl_schedule_at(uint32_t index);

/* The kind of a name: ours, that of PyTorch's class, or what PyTorch's get_schedule_class takes for
 * it, which leaves out "Schedule"; capitals, "-" and "_" do not matter. NULL: there is none. */
const ovl_schedule_kind *ovl_schedule_find(const char *name);

/* Whether a schedule can be made for these numbers; false and errors, each at the mark of the
 * number that does not fit: the sentence says which rule is broken. */
bool ovl_schedule_fits(const ovl_schedule_kind *kind, const ovl_schedule_spec *spec,
                       ovl_errs *errs);

/* Makes a schedule in `arena`; false and the same errors if it cannot. */
bool ovl_schedule_make(const ovl_schedule_kind *kind, const ovl_schedule_spec *spec,
                       ovl_schedule *schedule, ovl_arena *arena, ovl_errs *errs);

/* Where an action was read, or its row if `index` is the number of its actions; `otherwise` if the
 * schedule was made. */
ovl_mark ovl_schedule_place(const ovl_schedule *schedule, uint32_t rank, uint32_t index,
                            ovl_mark otherwise);

/* The rules PyTorch checks a list of actions by: each rank has a stage, each stage one rank; each
 * stage runs F once a microbatch; B and I follow their F, W its I; as many W as I; and B + I once a
 * microbatch. If the list has sends or receives, each result that another rank needs is sent once
 * behind what makes it, and received once before what needs it. All mistakes are added, each at its
 * action, or the row that lacks one; without places, at `mark`. `whole`: nothing of the list was
 * unreadable; else only what an unread action cannot explain is wrong. */
bool ovl_schedule_check(const ovl_schedule *schedule, bool whole, ovl_mark mark, ovl_errs *errs);

/* Stages of one chain; whether a stage is the first or last of its chain. */
uint32_t ovl_schedule_chain(const ovl_schedule *schedule);
bool ovl_schedule_first(const ovl_schedule *schedule, uint32_t stage);
bool ovl_schedule_last(const ovl_schedule *schedule, uint32_t stage);

/* Whether two have the same actions in the same order on each rank. */
bool ovl_schedule_same(const ovl_schedule *a, const ovl_schedule *b);

/* "F", "SEND_F", ... */
const char *ovl_action_name(ovl_action_type type);

/* The same in the dialect that the schedule was read in: there I may be "B", and B "BW". */
const char *ovl_schedule_word(const ovl_schedule *schedule, ovl_action_type type);

/* --- For generators --- */

/* Appends an action. */
void ovl_put(ovl_action_list *list, ovl_action_type type, uint32_t stage, uint32_t microbatch);
/* ... and says that the next one runs together with it. */
void ovl_put_joined(ovl_action_list *list, ovl_action_type type, uint32_t stage,
                    uint32_t microbatch);

/* The schedules. */
extern const ovl_schedule_kind ovl_schedule_gpipe, ovl_schedule_1f1b, ovl_schedule_1f1b_megatron,
    ovl_schedule_looped_bfs, ovl_schedule_interleaved, ovl_schedule_interleaved_megatron,
    ovl_schedule_interleaved_zb, ovl_schedule_zb_h1, ovl_schedule_zb_h2, ovl_schedule_zb_1p,
    ovl_schedule_zb_2p, ovl_schedule_zb_v, ovl_schedule_v_half, ovl_schedule_v_min,
    ovl_schedule_dualpipe, ovl_schedule_dualpipev;

#endif
