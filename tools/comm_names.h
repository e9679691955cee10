/*
 * comm_names.h - what a collective is called, how large its message is, and what its bandwidth
 * means: conventions of nccl-tests (doc/PERFORMANCE.md of NVIDIA/nccl-tests).
 *
 *     all-reduce of 64 MiB over 8 ranks in 1 ms:   algbw 67.1 GB/s, busbw 67.1 x 2 x 7/8 = 117 GB/s
 */
#ifndef OVL_TOOLS_COMM_NAMES_H
#define OVL_TOOLS_COMM_NAMES_H

#include "tools/read.h"

/* "all_reduce" for "allreduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" and the like. A text
 * that says nothing gives "other". Static text. */
const char *ovl_comm_op_name(ovl_slice text);

/* Bytes of an element of a dtype as PyTorch writes it ("BFloat16"); 0 if it is unknown. */
int64_t ovl_dtype_bytes(ovl_slice dtype);

/* The message size: all of the output for an all-gather, else the input. -1 if it is unknown. */
int64_t ovl_comm_bytes(const char *op, const ovl_read_collective *args);

/* busbw / algbw over n ranks; 0 where no such convention exists or n is unknown. */
double ovl_bus_factor(const char *op, int64_t n);

#endif
