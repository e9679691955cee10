/*
 * course.h - what every run looks up in a code, worked out once: what may arrive at once, the lanes
 * on which its operations follow one another, and where it repeats itself, exactly.
 *
 * Two operations of a code are *alike* if a run cannot tell them apart but by their place: one
 * kind, stream, slot, launch and cost; what they wait for, and what waits in the same communicator
 * or queue, lies as far before them. So where operation i is like i + p for a while, what happened
 * in one block of p may happen in the next as well (recur.h). Which operations are alike is
 * compared in full, each with the first of its class; hashes only find the class.
 *
 * What an operation waits for is *spare* if one before it in its lane waited for that, or for what
 * comes behind that in its lane: when it is the operation's turn that has long ended, and makes no
 * difference. All microbatches need the parameters that were gathered before the first; only the
 * first waits for them.
 *
 * Example: a kernel, and an all-reduce that waits for it, 1,000 times on two streams. The first
 * kernel and the first all-reduce have nobody before them; from the second on all kernels are
 * alike, and so are all all-reduces: one run of period 2 from 2 to 2,000.
 *
 * A course belongs to the operations and costs that it was found for. Where a program was made
 * with others (alter.h, scaled.h, vary.h) ovl_course_known says that there is none. If it has the
 * lists of the old one the order is the same, and what was found of it is used again: only costs
 * and launches are compared anew, where operations were alike.
 */
#ifndef OVL_SIM_COURSE_H
#define OVL_SIM_COURSE_H

#include "sim/program.h"
#include "sim/repeats.h"

/* Who waits for an operation mostly lies no further behind it. */
#define OVL_COURSE_FAR 256

/* In fewer operations nothing is looked for. */
#define OVL_COURSE_MIN 32

typedef struct ovl_course {
    const ovl_op *ops; /* for which it was found */
    const uint32_t *which;
    const ovl_cost *costs;
    const uint32_t *tied; /* of the code, which tell one order from another */
    const ovl_ties *ties;
    const uint32_t *starts; /* [n_starts] operations that wait for nothing but to be issued */
    const uint32_t *first;  /* by lane, below: its first operation; n_ops: it has none */
    const uint32_t *last;
    const uint32_t *needs; /* by operation: list of what it is `after` without what is spare, below,
                              by offset; NULL: nothing is spare */
    const uint32_t *spare; /* the rest, each once, but for who is before it in its stream or
                              communicator, by place */
    const uint32_t *lists; /* ties.h */
    const uint32_t *far;   /* [n_far] operations that somebody waits for who lies further behind
                              than OVL_COURSE_FAR */
    const ovl_repeat *runs; /* [n_runs] where operations are like those a period before, the largest
                               period first, then from left to right */
    uint32_t n_starts, n_far, n_runs;
    uint32_t eager_sends;
    bool ordered; /* each operation of a lane arrives when the one before it there has ended */
    bool varies;  /* some take a time of their own on each rank */
} ovl_course;

/* Finds the course of a code; with `repeats` also where it repeats itself. In `arena`; it may hold
 * parts of that of the program from which this one was made. */
ovl_course *ovl_course_find(const ovl_program *program, const ovl_code *code, bool repeats,
                            ovl_arena *arena);

/* Bytes that ovl_course_find takes at most for a code whose course is not known; 0 if it is. */
uint64_t ovl_course_memory(const ovl_program *program, const ovl_code *code);

/* That of a code as the program has it, or NULL. */
const ovl_course *ovl_course_known(const ovl_program *program, const ovl_code *code);

/* Are two operations of a code alike, b behind a? Of those whose times differ by rank only what the
 * code says is compared. */
bool ovl_ops_alike(const ovl_program *program, const ovl_code *code, const ovl_course *course,
                   uint32_t a, uint32_t b);

/* What an operation of the course's code is after, but for what is spare. */
static inline ovl_offsets ovl_course_needs(const ovl_course *course, const ovl_code *code,
                                           uint32_t local)
{
    return course->needs ? ovl_offsets_at(course->lists, course->needs[local])
                         : ovl_code_after(code, local);
}

/* Operations of a rank go on in *lanes*, one after another: its streams (parts of a batch: that of
 * the batch); for communication without a stream its communicators; and at last the host. A code
 * whose lanes keep no order, such as one of transfers that wait for their input alone (alter.h), is
 * not skipped: what lies before the front of a lane would say nothing of what has ended. */
static inline uint32_t ovl_lane_host(const ovl_code *code)
{
    return code->n_streams + code->n_slots;
}

static inline uint32_t ovl_lane(const ovl_code *code, uint32_t local)
{
    uint32_t batch = ovl_code_batch(code, local);
    const ovl_op *op = ovl_code_op(code, batch == OVL_NONE ? local : batch);
    if (op->stream != OVL_NO_STREAM) {
        return op->stream;
    }
    return op->kind == OVL_HOST ? ovl_lane_host(code) : code->n_streams + op->comm;
}

/* The operation before one of a lane (not the host); OVL_NONE: none. Where no order of the stream
 * holds that of the communicator does. */
uint32_t ovl_lane_before(const ovl_code *code, uint32_t lane, uint32_t local);

#endif
