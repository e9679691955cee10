/*
 * exposure.h - for each collective and receive: when its input was ready, what consumes it, and
 * when that consumer could have started without it.
 *
 *     ready    latest end of its `after` operations and of earlier writers of the buffers it reads;
 *              without either, the end of the last operation before it on its stream that is no
 *              communication: behind other communication there it queues
 *     consumer the earliest operation (by start) of the rank with an `after` edge on it or a read
 *              of what it wrote; a later operation on its stream is none. A marker that takes no
 *              time only joins what others wait for, and a kernel right behind the communication
 *              on a stream that is not the one with most kernel time only finishes it: if somebody
 *              waits for these, that one counts instead
 *     u_path   the latest other start condition of the consumer: its issue, the operation before
 *              it on its stream, in its communicator, in its hardware queue, its other `after`
 *              operations, and `ready` of this operation, without whose input it has nothing to
 *              work on; other communication that feeds the same consumer is left out
 *     exposed  max(0, end - u_path): never more than it queued, waited and took
 *
 * The consumer starts at max(end, u_path). An operation without a consumer is consumed by the end
 * of the step, for which u_path is the latest end of the rank's operations that are no
 * communication, or `ready`.
 *
 * Example: kernel [0, 29] beside an all-reduce [0, 33], nothing after: u_path 29, exposed 4.
 *
 * What feeds what depends on the code alone and is worked out once per code; the times of a run
 * are put in afterwards, so a variant run is compared with the same consumer.
 */
#ifndef OVL_SIM_EXPOSURE_H
#define OVL_SIM_EXPOSURE_H

#include "sim/timeline.h"
#include "sim/vec.h"

/* Communication that feeds each operation of a code, through an `after` edge or a read. What only
 * joins or finishes communication, and is waited for or read from, *passes* what feeds it on. */
typedef struct ovl_feeds {
    const bool *passes;   /* [n_ops] */
    const uint32_t *at;   /* [n_ops + 1] into item */
    const uint32_t *item; /* local operations, ascending; a batch and its parts are both listed */
} ovl_feeds;

typedef struct ovl_dependency {
    uint32_t local;      /* the collective or receive */
    uint32_t consumer;   /* local, or OVL_NONE: the end of the step */
    uint32_t occurrence; /* how many rows of the same name come before it in the code */
    ovl_time ready, u_path;
} ovl_dependency;

typedef OVL_VEC(ovl_dependency) ovl_dependencies;

/* Is it a collective, send, receive or batch? Has it a row in the table (collective, receive)? */
bool ovl_is_communication(const ovl_op *op);
bool ovl_is_dependency(const ovl_op *op);

/* What feeds each operation of a code; lives in `arena`. */
void ovl_feeds_find(const ovl_program *program, const ovl_code *code, ovl_arena *arena,
                    ovl_feeds *feeds);

/* Bytes that those need at most. */
uint64_t ovl_feeds_memory(const ovl_program *program, const ovl_code *code);

/* Appends the rows of one rank, in program order. */
void ovl_dependencies_find(const ovl_program *program, const ovl_timeline *timeline,
                           const ovl_feeds *feeds, uint32_t rank, ovl_dependencies *rows);

/* Start conditions in one run of a program; what is known of a rank is kept for its next row. */
typedef struct ovl_conditions {
    const ovl_program *program;
    const ovl_timeline *timeline;
    const ovl_feeds *feeds; /* by code */
    ovl_arena *arena;
    const ovl_time **passed; /* by rank, once asked for: see pass_conditions in exposure.c */
    const ovl_time **inputs; /* the same: `ready` of each row, else 0 */
} ovl_conditions;

ovl_conditions ovl_conditions_begin(const ovl_program *program, const ovl_timeline *timeline,
                                    const ovl_feeds *feeds, ovl_arena *arena);

/* u_path of a consumer (local, or OVL_NONE) of a collective or receive (local) on a rank. */
ovl_time ovl_u_path(ovl_conditions *conditions, uint32_t rank, uint32_t local, uint32_t consumer);

#endif
