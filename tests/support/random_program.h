/*
 * random_program.h - valid programs of every kind of operation, drawn from a seed, for laws that
 * must hold for all.
 *
 * Operations are drawn in one global order and appended to all ranks that take part, so the order
 * itself proves that the program can finish. `order` permutes the ranks: rank i of the drawing
 * becomes rank order[i] of the program (NULL: itself).
 */
#ifndef OVL_TESTS_RANDOM_PROGRAM_H
#define OVL_TESTS_RANDOM_PROGRAM_H

#include "sim/program.h"

typedef struct random_options {
    uint64_t seed;
    uint32_t n_ranks;   /* at most 32 */
    uint32_t n_actions; /* draws; a collective is one */
    bool independent;   /* kernels on streams of their own, nothing waits for anything */
    bool islands;       /* communicators and links only within pairs of ranks (0,1) (2,3) ... */
    bool bare;          /* no operation reads or writes a buffer, so there are no races */
    uint32_t n_steps;   /* above 1: so many steps, each ended on every rank by a marker */
    uint32_t n_repeats; /* above 1: all actions so many times, alike each time; then each time is a
                           step if n_steps is above 1 */
    const uint32_t *order;
    const char *prefix; /* before every name; "" usually */
} random_options;

/* The same options give the same program. The program lives in `arena`; asserts that it freezes. */
ovl_program random_program(const random_options *options, ovl_arena *arena);

/* A small generator, for tests that draw on their own: 31 random bits. */
uint32_t random_next(uint64_t *state);

#endif
