/*
 * symmetric_program.h - programs with symmetric ranks, drawn from a seed, for the laws of folding.
 *
 * Ranks lie on a mesh of a x b x stages; ranks of a stage run one code. There are collectives and
 * rings of messages along every axis, over a plane, over everybody, and messages from stage to
 * stage; resources of a rank, a node or all; and, in some, ranks or resources that differ from the
 * others. Ranks are numbered in an order of their own.
 */
#ifndef OVL_TESTS_SYMMETRIC_PROGRAM_H
#define OVL_TESTS_SYMMETRIC_PROGRAM_H

#include "sim/program.h"

typedef struct symmetric_options {
    uint64_t seed;
    uint32_t n_actions;
    bool buffers;       /* operations read and write buffers, and gradients flow; races are likely;
                           without       repeats buffers are freed and others get their memory */
    uint32_t n_repeats; /* above 1: all actions so many times, alike each time */
} symmetric_options;

/* The same options give the same program. It lives in `arena`; asserts that it freezes. */
ovl_program symmetric_program(const symmetric_options *options, ovl_arena *arena);

#endif
