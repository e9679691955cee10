/*
 * cost.h - isolated costs of kernels and communication, from what the scenario and the hardware
 * say.
 *
 * Kernel: a duration; or a roofline, time = max(flops / (peak * efficiency), bytes / (hbm *
 * hbm_efficiency)) (Williams et al., CACM 2009). Collective: alpha-beta, T = alpha + bytes / beta;
 * a measured table, piecewise linear in (log bytes, log time), refused outside its range unless
 * `extrapolate`; or a textbook formula (Thakur et al. 2005; a = latency, b = bandwidth, s = bytes,
 * n members):
 *
 *     ring   all-reduce 2(n-1) a + 2(n-1)/n s/b;  reduce-scatter, all-gather (n-1) a + (n-1)/n s/b
 *     tree   all-reduce 2 ceil(log2 n) a + 2(n-1)/n s/b;  broadcast, reduce ceil(log2 n) (a + s/b)
 *     direct all-to-all (n-1) a + (n-1)/n s/b;  send/recv a + s/b
 *
 * Times are rounded up to a picosecond. Example: 80 MiB at alpha 1 ms, beta 16 MiB/ms: latency 1
 * ms, work 5 ms.
 */
#ifndef OVL_MODELS_COST_H
#define OVL_MODELS_COST_H

#include "models/scenario.h"

/* What a collective of some size takes: latency and transfer apart. */
typedef struct ovl_comm_time {
    ovl_time latency, transfer;
} ovl_comm_time;

/* The hardware's entry for an operation in a group: the first that names both, else the first that
 * names the operation and no group; NULL if there is none. */
const ovl_hw_collective *ovl_find_collective(const ovl_hw *hw, ovl_coll op, const char *group);

/* Time of `bytes` (nccl-tests convention) among `n` members by one entry. False and an error at
 * `mark` outside its table, or if its formula does not cover the operation. *extrapolated is set if
 * the table was left behind (with `extrapolate`). n = 1 takes no time. */
bool ovl_collective_time(const ovl_hw *hw, const ovl_hw_collective *entry, ovl_coll op,
                         uint64_t bytes, uint32_t n, ovl_mark mark, ovl_comm_time *time,
                         bool *extrapolated, ovl_errs *errs);

/* Time of a kernel of so many FLOPs and HBM bytes, and its SM-bound part. Errors (at `mark`): peak
 * for the dtype or hbm missing; overflow. */
bool ovl_kernel_time(const ovl_hw *hw, double flops, uint64_t hbm_bytes, ovl_dtype dtype,
                     ovl_mark mark, ovl_time *duration, ovl_time *compute, ovl_errs *errs);

/* ceil(bytes / rate) in picoseconds, OVL_NEVER on overflow or a rate of 0. Exact. */
ovl_time ovl_bytes_time(uint64_t bytes, uint64_t rate);

/* bytes / time in bytes/s rounded down, at most UINT64_MAX; 0 for a time of 0. Exact. */
uint64_t ovl_bytes_rate(uint64_t bytes, ovl_time time);

/* Bytes/s on the wire (busbw as nccl-tests define it) of a collective whose transfer phase takes
 * `transfer`: bytes * ovl_busbw_factor / transfer, rounded down; 0 for no time. Exact. */
uint64_t ovl_wire_rate(ovl_coll op, uint64_t bytes, uint32_t n, ovl_time transfer);

#endif
