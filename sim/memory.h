/*
 * memory.h - three peaks of a rank's memory, each answering another question.
 *
 *     allocated  high-water mark of the sum of buffers in host program order: what the allocator
 *                was asked for
 *     reserved   what the allocator (allocator.h) takes from the GPU for it, replayed in host
 *                program order: pools for each stream, blocks cut from segments
 *     live       most bytes that hold data at one moment of GPU time, from the start of the first
 *                access to the end of the last; held buffers (parameters) live for the whole run,
 *                and what an eager send reads until its bytes have arrived
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

/* When a buffer of a rank holds data; from >= to: never. */
typedef struct ovl_memory_span {
    ovl_time from, to;
} ovl_memory_span;

/* [n_buffers] of the rank's code, in `arena`. */
const ovl_memory_span *ovl_memory_spans(const ovl_program *program, const ovl_timeline *timeline,
                                        uint32_t rank, ovl_arena *arena);

/* What reserved memory is: handed out, freed but still in use on the GPU, or free in a pool
 * (rounding included). */
typedef enum ovl_reserved_part {
    OVL_RESERVED_ALLOCATED,
    OVL_RESERVED_WAITING,
    OVL_RESERVED_FREE,
    OVL_RESERVED_PARTS,
} ovl_reserved_part;

/* From a moment of the host on: bytes allocated of each category, and the parts of what is
 * reserved. */
typedef struct ovl_memory_sample {
    ovl_time at;
    uint64_t allocated[OVL_CATEGORY_COUNT];
    uint64_t reserved[OVL_RESERVED_PARTS];
} ovl_memory_sample;

/* Calls `put` for each moment at which a rank's host changes its memory, in order. */
void ovl_memory_replay(const ovl_program *program, const ovl_timeline *timeline, uint32_t rank,
                       void (*put)(void *context, const ovl_memory_sample *sample), void *context);

#endif
