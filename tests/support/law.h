/*
 * law.h - what laws have in common: which random programs they are tried on, and comparing runs.
 *
 * Usually programs are those of seeds 0, 1, 2, ...; with the environment variable OVL_LAW_SEED
 * those from there on, so that tools/dev/soak can go on for as long as somebody wants.
 */
#ifndef OVL_TESTS_LAW_H
#define OVL_TESTS_LAW_H

#include "sim/timeline.h"

/* The first seed. */
uint64_t law_seed(void);

/* 0 if two runs kept the same ends of phases, in the same order. */
uint64_t law_differing_phase_ends(const ovl_timeline *a, const ovl_timeline *b);

#endif
