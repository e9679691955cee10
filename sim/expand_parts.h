/*
 * expand_parts.h - shared by the files of expand.h and private to them.
 *
 * A pattern says who sends to whom in which step of a collective; expand_steps.c answers that and
 * what a transfer costs, expand.c makes the program.
 */
#ifndef OVL_SIM_EXPAND_PARTS_H
#define OVL_SIM_EXPAND_PARTS_H

#include "sim/expand.h"

typedef enum ovl_pattern_kind {
    OVL_PATTERN_RING,
    OVL_PATTERN_PAIRWISE,
    OVL_PATTERN_CHAIN
} ovl_pattern_kind;

typedef struct ovl_pattern {
    ovl_pattern_kind kind;
    uint32_t n;      /* members */
    uint32_t steps;  /* of a phase, or the whole; latency is divided among them */
    uint32_t moves;  /* transfers over one way; work is divided among them */
    uint32_t cuts;   /* into so many parts the bytes are cut */
    uint32_t first;  /* chains: the place where data begins */
    uint32_t phases; /* 1: it is all one */
} ovl_pattern;

/* Of a collective of n >= 2 members. Each phase of one that has several goes once round the ring of
 * all members: who meets whom in a phase is not known, what it loads and how long it takes is. */
ovl_pattern ovl_pattern_of(const ovl_op *op, uint32_t n, uint32_t phases);

/* Steps of all phases. */
static inline uint32_t ovl_pattern_steps(const ovl_pattern *pattern)
{
    return pattern->steps * pattern->phases;
}

/* How far the member is that `place` sends to in a step, 0: it sends nothing; and how far the one
 * before it that it receives from. */
uint32_t ovl_pattern_to(const ovl_pattern *pattern, uint32_t place, uint32_t step);
uint32_t ovl_pattern_from(const ovl_pattern *pattern, uint32_t place, uint32_t step);

/* Part `i` of `whole` cut into `parts`: they differ by one at most and add up. */
uint64_t ovl_pattern_part(uint64_t whole, uint32_t parts, uint32_t i);

#define OVL_STEP_DEMANDS 64

/* The cost of the send of `place` in a step, of collective number k of `comm`, which costs `cost`.
 */
typedef struct ovl_step_cost {
    ovl_cost cost;
    ovl_cost_kind kind; /* with n_demands and n_peer */
    ovl_demand own[OVL_STEP_DEMANDS], peer[OVL_STEP_DEMANDS];
} ovl_step_cost;

void ovl_step_cost_of(const ovl_program *p, const ovl_comm *comm, const ovl_cost *cost,
                      const ovl_pattern *pattern, uint32_t place, uint32_t step, uint32_t k,
                      ovl_step_cost *out);

#endif
