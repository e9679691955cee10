/*
 * scaled.h - the same program with longer or shorter kernels, or a slower or faster host.
 *
 * Kernels do `kernels` thousandths of their work: as long, at isolated speed, as that makes them,
 * asking for the same bytes per second. What the host does (launches, and the own time of host
 * calls, not what they wait for) takes `host` thousandths; 0 is a host that takes no time but waits
 * where it has to. Times round to the nearest picosecond.
 *
 * Example: kernels of 2 ms and launches of 5 us at 1500 and 0: kernels of 3 ms, launches of 0.
 */
#ifndef OVL_SIM_SCALED_H
#define OVL_SIM_SCALED_H

#include "sim/program.h"

#define OVL_SCALE_ONE  1000u
#define OVL_SCALE_MOST 64000u

/* `t` times `by` thousandths; OVL_TIME_MAX if that is too long to be counted. */
ovl_time ovl_scaled_time(ovl_time t, uint32_t by);

/* A program that shares with `program` what did not change; the rest lives in `arena`. */
ovl_program ovl_program_scaled(const ovl_program *program, uint32_t kernels, uint32_t host,
                               ovl_arena *arena);

#endif
