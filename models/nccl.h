/*
 * nccl.h - what a collective takes by NCCL's own tuning model: the algorithm and protocol that NCCL
 * would choose, their latency and bandwidth, and the SMs that the call takes.
 *
 *     time = latency x (1, or the plateau factor) + bytes / (bandwidth x tree correction)
 *
 * for each enabled pair of algorithm (ring, tree, NVLS, NVLSTree, PAT, CollNet) and protocol (LL,
 * LL128, Simple); the least is taken. Constants and formulas: NVIDIA/nccl, src/graph/tuning.cc
 * (v2.30.7; with version 2.27.5 the network latency of NVLSTree is 14 us). A channel is a thread
 * block, so it takes an SM: the call starts with the communicator's channels and drops one while
 * bytes < channels x threads x threshold (src/enqueue.cc).
 *
 * What NCCL finds by searching the machine (channels and GB/s of each) is not searched here: it is
 * stated in `hardware.nccl.graphs`, as NCCL_DEBUG=INFO prints it.
 *
 * Example, H100, 2 nodes of 8, 8 channels of 48 GB/s, all-reduce by ring and LL128: 2 x 15 steps,
 * of which 2 cross nodes; 14 + 28 x 1.9 + 2 x 4 = 75.2 us; bus min(0.92 x 384, 8 x 36.7) = 293.6
 * GB/s, as algbw 293.6 x 16/30 = 156.6 GB/s.
 *
 * The model is the one NCCL chooses by; measured times differ. Sends, receives and all-to-all have
 * no such model.
 */
#ifndef OVL_MODELS_NCCL_H
#define OVL_MODELS_NCCL_H

#include "models/cost.h"

typedef enum ovl_nccl_algo {
    OVL_NCCL_TREE,
    OVL_NCCL_RING,
    OVL_NCCL_COLLNET_DIRECT,
    OVL_NCCL_COLLNET_CHAIN,
    OVL_NCCL_NVLS,
    OVL_NCCL_NVLS_TREE,
    OVL_NCCL_PAT,
    OVL_NCCL_ALGOS,
} ovl_nccl_algo;

typedef enum ovl_nccl_proto {
    OVL_NCCL_LL,
    OVL_NCCL_LL128,
    OVL_NCCL_SIMPLE,
    OVL_NCCL_PROTOS,
} ovl_nccl_proto;

/* NCCL's names, which are those of the scenario: "Ring", "LL128". */
extern const char *const ovl_nccl_algo_names[OVL_NCCL_ALGOS + 1];
extern const char *const ovl_nccl_proto_names[OVL_NCCL_PROTOS + 1];

/* One pair of algorithm and protocol, before the size counts. */
typedef struct ovl_nccl_pair {
    double latency;   /* us */
    double bandwidth; /* algbw, GB/s; 0: this pair is not used */
} ovl_nccl_pair;

typedef struct ovl_nccl_choice {
    ovl_nccl_algo algo;
    ovl_nccl_proto proto;
    ovl_nccl_pair pair;
    uint32_t channels; /* SMs taken */
    ovl_comm_time time;
} ovl_nccl_choice;

/* Whether NCCL's model covers the operation: all of them but all_to_all and send_recv. */
bool ovl_nccl_covers(ovl_coll op);

/* The stated channels for a communicator that lies so: the first entry whose `gpus` is the number
 * of its members on a node, and whose `nodes` fits; NULL if there is none. */
const ovl_hw_graph *ovl_nccl_graph(const ovl_hw_nccl *nccl, const ovl_spread *spread);

/* Latency and bandwidth of one pair, whether or not it is enabled; bandwidth 0 if the operation or
 * the place has no such pair. */
ovl_nccl_pair ovl_nccl_tune(const ovl_hw_nccl *nccl, const ovl_hw_graph *graph, ovl_coll op,
                            ovl_nccl_algo algo, ovl_nccl_proto proto, const ovl_spread *spread);

/* What NCCL would do with so many bytes (nccl-tests convention), at least 2 members. False and an
 * error at `mark`: no such model, no graph for these members, or nothing enabled has bandwidth. */
bool ovl_nccl_choose(const ovl_hw_nccl *nccl, ovl_coll op, uint64_t bytes, const ovl_spread *spread,
                     ovl_mark mark, ovl_nccl_choice *choice, ovl_errs *errs);

#endif
