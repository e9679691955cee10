/*
 * record_isolate.h - what recorded operations would take alone: measured interference divided out.
 *
 * Recorded durations hold what work beside each other cost. Where a profile has the factors of a
 * pair of classes, each operation is taken back to its isolated duration, so that a run with
 * `interference: measured` puts the factors on again, as much as things overlap then:
 *
 *   kernel       the integral over its time of 1 / (product of the kernel factors of the
 *                collectives in transfer on its rank)
 *   collective   the integral over its transfer of 1 / (the largest, over its members, of the
 *                product of the collective factors of the kernels that run there)
 *
 * Latency (alpha) slows nobody and is not slowed. Products below 1 count as 1: nothing runs faster
 * than alone. What has no factor keeps the duration it had.
 *
 * Example: a matmul [0, 29) and an all-reduce [0, 33) ms, factors 29/25 and 29/16:
 * 29 / (29/25) = 25 ms; 29 / (29/16) + 4 = 20 ms.
 */
#ifndef OVL_MODELS_RECORD_ISOLATE_H
#define OVL_MODELS_RECORD_ISOLATE_H

#include "models/hw.h"
#include "models/record.h"

/* Kernels whose recorded name matches are of the class. */
typedef struct ovl_record_class {
    ovl_mark mark;
    const char *name; /* a good pattern (models/pattern.h) */
    const char *klass;
} ovl_record_class;

/* Gives kernels their classes (the first of `classes`, an ovl_record_class each, that fits; else
 * what the trace says; else the name without its arguments) and changes lengths in place. A kernel
 * without any factor gets no class. What was done is added to the sentences of what was inferred.
 * False and an error (OVL_E_INPUT, at `mark`) if the profile has no factor at all. */
bool ovl_record_isolate(ovl_recorded *recorded, const ovl_hw *hw, const ovl_items *classes,
                        ovl_mark mark, ovl_arena *arena, ovl_errs *errs);

/* The class of a kernel that nobody names: where it begins in its name, and how long it is.
 * "void at::native::vectorized_elementwise_kernel<4, ...>(int, ...)" is of the class
 * "vectorized_elementwise_kernel". */
const char *ovl_kernel_class(const char *name, size_t *length);

#endif
