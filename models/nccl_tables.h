/*
 * nccl_tables.h - the constants of NCCL's tuning model (NVIDIA/nccl v2.30.7, src/graph/tuning.cc),
 * as numbers. Latencies in microseconds, bandwidths in GB/s.
 */
#ifndef OVL_MODELS_NCCL_TABLES_H
#define OVL_MODELS_NCCL_TABLES_H

#include "models/nccl.h"

typedef enum ovl_nccl_wire {
    OVL_NCCL_NVLINK,
    OVL_NCCL_PCI,
    OVL_NCCL_NET,
    OVL_NCCL_WIRES
} ovl_nccl_wire;

#define OVL_NCCL_GPUS 4 /* Volta, Ampere, Hopper, Blackwell */

/* Columns of a cap: communicators of one node, of two, of more. */
#define OVL_NCCL_SPANS 3

extern const double ovl_nccl_base[OVL_NCCL_ALGOS][OVL_NCCL_PROTOS];
extern const double ovl_nccl_wire_latency[OVL_NCCL_WIRES][OVL_NCCL_ALGOS][OVL_NCCL_PROTOS];
#define OVL_NCCL_NVLS_TREE_2_27 14.0 /* network, before it became 20.9 */

/* LL in all: on one node by GPU, on several by CPU (row 0 Intel, 1 AMD). */
extern const double ovl_nccl_ll_max[OVL_NCCL_GPUS][OVL_NCCL_SPANS];
/* Of a channel. */
extern const double ovl_nccl_ring_ll128_max[OVL_NCCL_GPUS][OVL_NCCL_SPANS];
extern const double ovl_nccl_tree_ll128_max[OVL_NCCL_GPUS][OVL_NCCL_SPANS];
extern const double ovl_nccl_tree_max[OVL_NCCL_GPUS][OVL_NCCL_SPANS];
extern const double ovl_nccl_nvls_tree_max[OVL_NCCL_GPUS][OVL_NCCL_SPANS];

extern const double ovl_nccl_nvls_efficiency[OVL_NCCL_GPUS];

/* Trees do not keep to the model at middle sizes: factor of their bandwidth by log2(bytes / 64). */
#define OVL_NCCL_CORRECTIONS 23
extern const double ovl_nccl_tree_correction[OVL_NCCL_PROTOS][OVL_NCCL_CORRECTIONS];

#endif
