#include "models/nccl_tables.h"

const double ovl_nccl_base[OVL_NCCL_ALGOS][OVL_NCCL_PROTOS] = {
    [OVL_NCCL_TREE] = {6.8, 14, 8.4},
    [OVL_NCCL_RING] = {6.6, 14, 8.4},
    [OVL_NCCL_COLLNET_DIRECT] = {0, 0, 0},
    [OVL_NCCL_COLLNET_CHAIN] = {0, 0, 0},
    [OVL_NCCL_NVLS] = {0, 0, 0},
    [OVL_NCCL_NVLS_TREE] = {0, 0, 0},
    [OVL_NCCL_PAT] = {8, 8, 8},
};

const double ovl_nccl_wire_latency[OVL_NCCL_WIRES][OVL_NCCL_ALGOS][OVL_NCCL_PROTOS] =
    {
        [OVL_NCCL_NVLINK] =
            {
                [OVL_NCCL_TREE] = {0.6, 1.25, 4},
                [OVL_NCCL_RING] = {0.6, 1.9, 3.4},
                [OVL_NCCL_COLLNET_DIRECT] = {0, 0, 3.7},
                [OVL_NCCL_COLLNET_CHAIN] = {0, 0, 2.8},
                [OVL_NCCL_NVLS] = {0, 0, 25},
                [OVL_NCCL_NVLS_TREE] = {0, 0, 25},
                [OVL_NCCL_PAT] = {0, 0, 4},
            },
        [OVL_NCCL_PCI] =
            {
                [OVL_NCCL_TREE] = {1, 1.9, 4},
                [OVL_NCCL_RING] = {1, 2.5, 5.7},
                [OVL_NCCL_COLLNET_DIRECT] = {0, 0, 3.7},
                [OVL_NCCL_COLLNET_CHAIN] = {0, 0, 2.8},
                [OVL_NCCL_NVLS] = {0, 0, 0},
                [OVL_NCCL_NVLS_TREE] = {0, 0, 0},
                [OVL_NCCL_PAT] = {0, 0, 4},
            },
        [OVL_NCCL_NET] =
            {
                [OVL_NCCL_TREE] = {5, 8.5, 14},
                [OVL_NCCL_RING] = {2.7, 4, 14},
                [OVL_NCCL_COLLNET_DIRECT] = {0, 0, 31},
                [OVL_NCCL_COLLNET_CHAIN] = {0, 0, 30},
                [OVL_NCCL_NVLS] = {0, 0, 18},
                [OVL_NCCL_NVLS_TREE] = {0, 0, 20.9},
                [OVL_NCCL_PAT] = {0, 0, 14},
            },
};

const double ovl_nccl_ll_max[OVL_NCCL_GPUS][OVL_NCCL_SPANS] = {
    {39, 39, 20.4},
    {87.7, 22.5, 19},
    {141, 45, 35},
    {282, 90, 70},
};

const double ovl_nccl_ring_ll128_max[OVL_NCCL_GPUS][OVL_NCCL_SPANS] = {
    {20, 20, 20},
    {20, 20, 20},
    {36.7, 36.7, 36.7},
    {40, 40, 40},
};

const double ovl_nccl_tree_ll128_max[OVL_NCCL_GPUS][OVL_NCCL_SPANS] = {
    {20, 20, 20},
    {20, 20, 20},
    {36.7, 36.7, 29},
    {55.6, 31.67, 20},
};

const double ovl_nccl_tree_max[OVL_NCCL_GPUS][OVL_NCCL_SPANS] = {
    {26.5, 18.5, 10},
    {24, 23.6, 17.8},
    {38.7, 41.4, 36},
    {70, 42.8, 24},
};

const double ovl_nccl_nvls_tree_max[OVL_NCCL_GPUS][OVL_NCCL_SPANS] = {
    {26.5, 18.5, 10},
    {24, 23.6, 17.8},
    {0, 57.7, 45.5},
    {0, 96, 80},
};

const double ovl_nccl_nvls_efficiency[OVL_NCCL_GPUS] = {0, 0, 0.85, 0.74};

const double ovl_nccl_tree_correction[OVL_NCCL_PROTOS][OVL_NCCL_CORRECTIONS] = {
    [OVL_NCCL_LL] = {1,   1,   1,   1,   0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
                     0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1,   1,   1,   1},
    [OVL_NCCL_LL128] = {1,   1,   1,   1,   1,   0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
                        0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1,   1},
    [OVL_NCCL_SIMPLE] = {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
                         0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9},
};
