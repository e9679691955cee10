/*
 * law.h - which random programs the laws are tried on.
 *
 * Usually those of seeds 0, 1, 2, ...; with the environment variable OVL_LAW_SEED those from there
 * on, so that tools/dev/soak can go on for as long as somebody wants.
 */
#ifndef OVL_TESTS_LAW_H
#define OVL_TESTS_LAW_H

#include <stdint.h>

/* The first seed. */
uint64_t law_seed(void);

#endif
