/*
 * hostload.h - what the host thread of a rank does in a step, and whether the GPU waits for it.
 *
 * The step of a rank's host is cut into three parts that sum to it: `issuing` (launches, and the
 * own time of host calls), `blocked` (calls that wait for the GPU, such as a rate limiter) and
 * `free` (it has issued everything). `gpu_waits` is the time in which the rank runs no kernel
 * though an operation lacks nothing but its launch. The run-ahead is how long operations wait from
 * their launch to their start: at least, and on average.
 *
 * The step is simulated again with a host that issues in no time (and still waits where it has to).
 * What it is shorter then, without the first launch, which every single step begins with, is what
 * the host costs. The step is *host-bound* if that is more than 1 % of the step without it, and the
 * host is *hidden* if it is no more than a thousandth. Crossovers are searched by simulating, too:
 * the least scale of kernels (a larger batch, a longer sequence) that hides the host, so that more
 * work is free until there; and the largest scale of the host's own times at which it is hidden.
 *
 * Example: 10 kernels of 1 ms, launches of 1.5 ms: the step is 15 + 1 = 16 ms, with a free host 10;
 * the host costs 16 - 10 - 1.5 = 4.5. Kernels of k ms take max(15 + k, 1.5 + 10 k): from 1.5 times
 * as long on (to a thousandth 1.499) the host is hidden. A launch of 1 ms is hidden beside kernels
 * of 1 ms.
 */
#ifndef OVL_SIM_HOSTLOAD_H
#define OVL_SIM_HOSTLOAD_H

#include "sim/classes.h"
#include "sim/result.h"

/* Beyond this many operations over all ranks crossovers are not searched by default. */
#define OVL_HOST_SEARCH_OPS 200000u

/* Fills row->host for the rank it names; has_host is false if its issuing takes no time and blocks
 * nowhere. */
void ovl_host_load_find(const ovl_program *program, const ovl_timeline *timeline,
                        ovl_result_rank *row);

/* The step with a free host, and the crossovers. Without a host that takes time, or with
 * OVL_WORTH_NONE, result->host.present is false. */
void ovl_host_bound_find(const ovl_program *program, const ovl_timeline *timeline,
                         const ovl_analyse_options *options, ovl_result_host *host);

#endif
