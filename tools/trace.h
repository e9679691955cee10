/*
 * trace.h - a run as Chrome trace JSON, for ui.perfetto.dev and chrome://tracing.
 *
 * A process is a rank, a thread a stream; thread numbers are unique over all processes, because
 * Perfetto keeps thread names by number alone. Threads of one rank, by lane:
 *
 *     0 ..      its streams
 *     then      one for each part that a batch of a stream may have, since parts overlap
 *     then      the host: what it issues, and its calls
 *     last      wires: the bytes of eager sends, from when they leave until they are there
 *
 * Slices (X) of one thread follow one another and never overlap: time rounds down to the nanosecond
 * the format keeps, which preserves order. Exact picoseconds stand in the arguments. The part of an
 * operation that waits for another rank or for a copy engine is a slice of its own before it.
 * Arrows (s, f) lead from the end of an operation to one on another stream that waited for it, and
 * from a send to its receive. Counters (C) are written when they change: live and allocated bytes
 * by category, what is reserved, bytes per second on memory and links, SMs that communication
 * holds and those that kernels have. What several ranks share (the NIC of a node) has its counter
 * in a process of its own behind the ranks, "shared links", with the traffic of all of them:
 * "nic.out 3" is that of node 3.
 *
 * It is written rank by rank as it goes: memory is that of one rank, and of what is shared.
 */
#ifndef OVL_TOOLS_TRACE_H
#define OVL_TOOLS_TRACE_H

#include "models/schedule.h"
#include "sim/causes.h"
#include "sim/exposure.h"
#include "tools/json.h"

typedef struct ovl_trace_job {
    const ovl_program *program;
    const ovl_timeline *timeline; /* with segments */
    ovl_causes *causes;           /* of this run */
    const bool *ranks;            /* [n_ranks] which are written */
    const bool *critical;         /* [n_ops] on the critical path */
    const char *scenario, *variant, *interference;
    /* Of a pipeline: who runs together with whom, and which stages are a second copy of the model.
     * Without it the rows of the stages know of a pair its first half alone. */
    const ovl_schedule *schedule;
} ovl_trace_job;

void ovl_trace_write(ovl_out *out, const ovl_trace_job *job);

/* Reads a list of ranks, "0-7" or "0,8,16-23", into chosen[n]. NULL, or a sentence saying what is
 * wrong, owned by `arena`. */
const char *ovl_ranks_read(const char *text, bool *chosen, uint32_t n, ovl_arena *arena);

#endif
