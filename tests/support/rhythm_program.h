/*
 * rhythm_program.h - programs that do the same again and again, as training does, drawn from a
 * seed.
 *
 *     sharded   layers that are gathered ahead, computed and reduced; the host waits for an older
 *               layer before it gathers on
 *     pipeline  microbatches, one forward and one backward in turn once the pipeline is full
 *     looped    forwards of all microbatches, chunk by chunk, round and round the ranks
 *
 * Ranks may be slower than others, from some block on, or in every second one; links and memory are
 * shared, and may be slower from a moment on. What all wait for may come before the first block,
 * and some operations wait once more for what their stream waited for before.
 */
#ifndef OVL_TESTS_RHYTHM_PROGRAM_H
#define OVL_TESTS_RHYTHM_PROGRAM_H

#include "sim/program.h"

typedef enum rhythm_kind { RHYTHM_SHARDED, RHYTHM_PIPELINE, RHYTHM_LOOPED } rhythm_kind;

typedef struct rhythm_options {
    uint64_t seed;
    rhythm_kind kind;
    uint32_t n_blocks; /* layers, or microbatches */
} rhythm_options;

/* The same options give the same program. It lives in `arena`; asserts that it freezes. */
ovl_program rhythm_program(const rhythm_options *options, ovl_arena *arena);

#endif
