/*
 * replay.h - when everything would have happened if some of it took no time, with the order of the
 * run kept.
 *
 * Each node of a run (issued, arrived, ended: causes.h) happens at the latest of its causes plus a
 * length. Here the same rule is applied again, in the order of the run's trail, with other lengths
 * and with causes left out:
 *
 *     kernels        as long as they were, as long as at isolated speed, or as long as the mean
 *                    stage (below)
 *     communication  as long as it was; or free: it takes no time, and keeps no order but that of
 *                    its inputs, nor does a part of a batch wait for another
 *     host           as it was; or free: what is issued is there at 0, and calls hold up nothing
 *     pauses         of streams: as they were; or free
 *
 * Some may be made harmless by themselves: kernels of one stage take their mean, transfers of one
 * kind no time, but keep their order; each part of a batch is there when it has come (suspects.h).
 *
 * With nothing changed the times are those of the run. Nothing is shared anew: what was slowed
 * stays as slow.
 *
 * The mean stage: kernels of a pipeline take what the program says they would (ovl_code.mean): the
 * mean over all stages of their part; other kernels the mean of those of the same name over all
 * ranks, occurrence by occurrence.
 *
 * Example: 25 ms kernel, then a 20 ms all-reduce, then a 5 ms kernel: 50; communication free: 30.
 */
#ifndef OVL_SIM_REPLAY_H
#define OVL_SIM_REPLAY_H

#include "sim/causes.h"

typedef enum ovl_replay_kernels {
    OVL_REPLAY_AS_RUN,
    OVL_REPLAY_ALONE,
    OVL_REPLAY_MEAN
} ovl_replay_kernels;

typedef struct ovl_replay_options {
    ovl_replay_kernels kernels;
    bool free_comm; /* copies, too */
    bool free_host, free_pauses;
    const uint8_t *of; /* [n_ops] what each belongs to; NULL: does not matter */
    uint8_t harmless;  /* what belongs to this: kernels as long as the mean, transfers free, batches
                          loose */
} ovl_replay_options;

#define OVL_NO_SUSPECT UINT8_MAX

/* What the kernels of one kind of work take on average. */
typedef struct ovl_means {
    const uint32_t *const *group; /* [n_codes][n_ops of it]: into mean; OVL_NONE: no kernel. NULL:
                                     each kernel is its own mean */
    const ovl_time *mean;         /* [n] */
    uint32_t n;
    bool uneven; /* some kernel differs from its mean */
} ovl_means;

/* The means of a program; they live in `arena`. */
void ovl_means_find(const ovl_program *program, ovl_arena *arena, ovl_means *means);

/* The mean of the group an operation belongs to; it must be a kernel. */
ovl_time ovl_mean_of(const ovl_means *means, const ovl_program *program, uint32_t rank,
                     uint32_t local);

/* Operations whose results a communication (or copy) moves: the last writers of the buffers it
 * reads; without reads, the operations it waits for. */
typedef struct ovl_inputs {
    const uint32_t *at; /* [n_ops + 1] into item */
    const uint32_t *item;
    const bool
        *known; /* [n_ops] something says what the input is, even if it is there from the start */
} ovl_inputs;

/* The inputs of each code ([n_codes]); they live in `arena`. */
const ovl_inputs *ovl_inputs_find(const ovl_program *program, ovl_arena *arena);

/* Does one operation of a code write what another reads? */
bool ovl_brings(const ovl_code *code, uint32_t part, uint32_t reader);

typedef struct ovl_replay {
    ovl_time *start; /* [n_ops] when it arrived; kernels: started */
    ovl_time *end;   /* [n_ops] */
} ovl_replay;

/* Replays a run; `replay`'s arrays are the caller's and need not be cleared. */
void ovl_replay_run(ovl_causes *causes, const ovl_inputs *inputs, const ovl_means *means,
                    const ovl_replay_options *options, ovl_replay *replay);

#endif
