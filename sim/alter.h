/*
 * alter.h - the same program at other costs, to see by simulation what a change would bring.
 *
 * Only what operations take changes, or what transfers wait for:
 *
 *     mean_kernels    each kernel takes the mean of its kind (replay.h), so that all stages, or
 *                     ranks, are alike
 *     free_comm       collectives, sends, receives: no latency, bytes, SMs
 *     free_copies     copies: the same. To and from the host they are no communication
 *     free_kernels    kernels: no time, bytes, SMs
 *     host_divisor    launches and host calls take so many times less; 0 or 1: as they are
 *     early_comm      transfers whose input is known (replay.h) wait for it and the host alone: no
 *                     order among them, nothing else they were put behind. Those that load no link,
 *                     which nothing would slow, stay behind who is before them in their
 *                     communicator: it has its bandwidth once
 *
 * Operations keep their order, but for one: an order of kernels that was searched for from what
 * stages take is with mean_kernels the one found for the mean (ovl_program.orders), unless
 * own_order keeps it. A search may miss what another one finds: of the two the shorter counts.
 *
 * Example: two stages of 1 and 3 ms with mean_kernels take 2 ms each.
 */
#ifndef OVL_SIM_ALTER_H
#define OVL_SIM_ALTER_H

#include "sim/replay.h"

typedef struct ovl_alteration {
    bool mean_kernels, free_comm, free_copies, free_kernels, early_comm;
    bool own_order;
    uint32_t host_divisor;
} ovl_alteration;

/* The altered program; it shares what is not changed with `program` and lives in `arena` beside it.
 */
ovl_program ovl_program_altered(const ovl_program *program, const ovl_alteration *how,
                                ovl_arena *arena);

/* Whether own_order would make a difference. */
bool ovl_alteration_orders(const ovl_program *program, const ovl_alteration *how);

#endif
