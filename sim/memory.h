/*
 * memory.h - three peaks of a rank's memory, each answering another question.
 *
 *     allocated  high-water mark of the sum of buffers in host program order: what the allocator
 *                was asked for
 *     reserved   what the allocator (allocator.h) takes from the GPU for it, replayed in host
 *                program order: pools for each stream, blocks cut from segments
 *     live       most bytes that hold data at one moment of GPU time, from the start of the first
 *                access to the end of the last (of each step); held buffers (parameters) live for
 *                the whole run, and what an eager send reads until its bytes have arrived
 *
 * A freed block is usable again at once on its own stream. If the buffer says record_stream, only
 * when the GPU has done what the other streams that use it were given before the free; the host
 * looks at its next allocation. Until then it is *active*, not allocated. Where the host takes no
 * time all of that lies ahead of it.
 *
 * When the GPU is full, the host waits for those events, wholly free segments go back, and the
 * request is tried again (a retry; the time that takes is not modelled). If it still does not fit,
 * it is the first failing allocation; the replay goes on as if it had succeeded, so that the
 * reserved peak says how much is missing.
 *
 * At one host position frees come before allocations; a buffer that is allocated and freed at the
 * same position still counts there once. At one instant of GPU time ends come before starts.
 *
 * Example: parameters 100 MiB held; A (10 MiB, stream 0) used in [0, 2], B (20 MiB, stream 1) in
 * [1, 3], freed after use: live 130 MiB at 1, allocated 130 MiB, reserved 130 MiB.
 */
#ifndef OVL_SIM_MEMORY_H
#define OVL_SIM_MEMORY_H

#include "sim/result.h"

#define OVL_HOLDERS_MAX 8 /* named; the rest are summed as "N others" */

/* Sets the memory fields of `row`, for the rank it names; texts and holders live in `arena`.
 * Without buffers in its code has_memory is false. */
void ovl_memory_find(const ovl_program *program, const ovl_timeline *timeline, ovl_arena *arena,
                     ovl_result_rank *row);

/* A stretch of GPU time in which a buffer of a rank holds data. */
typedef struct ovl_memory_span {
    uint32_t buffer;
    ovl_time from, to;
} ovl_memory_span;

typedef struct ovl_memory_spans {
    const ovl_memory_span *item; /* by the step they begin in, then buffer; none is empty */
    uint32_t n;
} ovl_memory_spans;

/* One for each buffer that is used; with several steps one for each step at most: what a step
 * begins by writing it did not keep from the step before. They live in `arena`. */
ovl_memory_spans ovl_memory_find_spans(const ovl_program *program, const ovl_timeline *timeline,
                                       uint32_t rank, ovl_arena *arena);

/* What a rank holds over time: row->live_line and row->host_line, in `arena`. */
void ovl_memory_lines(const ovl_program *program, const ovl_timeline *timeline, ovl_arena *arena,
                      ovl_result_rank *row);

/* Calls `put` for each place at which a rank's host changes its memory, in order; without `before`.
 */
void ovl_memory_replay(const ovl_program *program, const ovl_timeline *timeline, uint32_t rank,
                       void (*put)(void *context, const ovl_memory_sample *sample), void *context);

#endif
