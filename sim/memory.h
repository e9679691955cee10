/*
 * memory.h - three peaks of a rank's memory, each answering another question.
 *
 *     allocated  high-water mark of the sum of buffers in host program order: what the allocator
 *                was asked for
 *     reserved   sum over streams of that stream's own high-water mark, each buffer rounded up to
 *                the allocator's block: what pools that never shrink and never share hold at least
 *     live       most bytes that hold data at one moment of GPU time, from the start of the first
 *                access to the end of the last; held buffers (parameters) live for the whole run,
 *                and what an eager send reads until its bytes have arrived
 *
 * Blocks are those of PyTorch's CUDACachingAllocator (c10/cuda/CUDACachingAllocator.cpp:
 * kMinBlockSize = 512 B; kSmallSize = 1 MiB; above, kRoundLarge = 2 MiB): 512 B below 1 MiB, else 2
 * MiB.
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

#endif
