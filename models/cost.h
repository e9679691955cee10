/*
 * cost.h - isolated costs of kernels and communication, from what the scenario and the hardware
 * say.
 *
 * Kernel: a duration; or a roofline, time = max(flops / (peak * efficiency), bytes / (hbm *
 * hbm_efficiency)) (Williams et al., CACM 2009). Collective: alpha-beta, T = alpha + bytes / beta;
 * a measured table, piecewise linear in (log bytes, log time) or in (bytes, time), refused outside
 * its range unless `extrapolate`; or a textbook formula (Thakur et al. 2005; a = latency, b =
 * bandwidth, s = bytes, n members, each with a link of its own):
 *
 *     ring   all-reduce 2(n-1) a + 2(n-1)/n s/b;  reduce-scatter, all-gather (n-1) a + (n-1)/n s/b
 *     tree   all-reduce 2 ceil(log2 n) a + 2(n-1)/n s/b;  broadcast, reduce ceil(log2 n) (a + s/b)
 *     direct all-to-all (n-1) a + (n-1)/n s/b;  send/recv a + s/b
 *     nvls   all-reduce 2 a + (n+1)/n s/b;  reduce-scatter, all-gather a + (n-1)/n s/b
 *     sharp  all-reduce 2 a + s/b
 *
 * A link that several members share carries the bytes of all of them. Its instance is the way out
 * of a node, if the group is on several; else, and for the cluster, what lies between the members.
 * ovl_crossing_of gives the bytes, for formulas and demands alike, so that alone an operation runs
 * at its isolated speed and two that share its slowest link take twice as long. Where members lie
 * unevenly the busiest instance decides the time, and the others carry less; where nodes have other
 * links (hardware.nodes) the one that takes longest does.
 *
 * NCCL's own tuning model is one more formula: nccl.h.
 *
 * Times are rounded up to a picosecond. Examples: 80 MiB at alpha 1 ms, beta 16 MiB/ms: latency 1
 * ms, work 5 ms. All-to-all of 400 MB on 2 nodes of 2, one NIC of 10 GB/s each: from each node 2
 * members send 100 MB to 2 others, 400 MB, 40 ms.
 */
#ifndef OVL_MODELS_COST_H
#define OVL_MODELS_COST_H

#include "models/scenario.h"

/* The levels of `hierarchical`: a ring among the members of each node (or domain), and rings across
 * nodes. */
typedef enum ovl_level { OVL_LEVELS_BOTH, OVL_LEVEL_INSIDE, OVL_LEVEL_ACROSS } ovl_level;

/* What a collective does first, then, at last: a reduce-scatter inside, an all-reduce across, an
 * all-gather inside. */
typedef struct ovl_comm_phase {
    ovl_time latency, transfer;
    uint8_t level; /* ovl_level */
} ovl_comm_phase;

#define OVL_COMM_PHASES 3

/* What a collective of some size takes: latency and transfer apart. */
typedef struct ovl_comm_time {
    ovl_time latency, transfer;
    /* One after another, which add up to that; 0: it is all one. */
    uint8_t n_phases;
    ovl_comm_phase phases[OVL_COMM_PHASES];
    /* By NCCL's model: */
    bool nccl;
    uint8_t algo, proto; /* ovl_nccl_algo, ovl_nccl_proto */
    uint32_t channels;   /* SMs it takes */
} ovl_comm_time;

/* Of a communicator what one instance of a link serves. Members between which the link does not lie
 * are a part of it: those of a node for a NIC, single ones for a link of each GPU.
 *
 * Example: 8 ranks on one node and 2 on another, a NIC for every 2 GPUs: 2 parts; of the 8 a NIC
 * serves 2, a quarter of their part, with 2 * 2 pairs of one of them and one of another part; the
 * NIC of the 2 serves all of theirs, with 2 * 8. */
typedef struct ovl_way {
    uint32_t parts; /* below 2 nothing crosses the link, save for pairs; of one out of rails the
                       nodes of a ring that cannot go on along them */
    uint32_t fewest, most; /* members of the part that has the fewest, the most; 0: of each GPU */
    uint32_t served;       /* members that this instance serves */
    bool whole;            /* parts are whole nodes, or several */
    uint64_t share, of;    /* what the instance has of parts: served / members, summed over them */
    uint64_t inner;        /* likewise, over `of`, of those parts that have not all of their node */
    uint64_t pairs;        /* of a member served and one of another part */
    uint32_t in_mesh;   /* of a wire (wires.h): members in the block, one of them at its end ... */
    bool next;          /* ... and that a ring in order goes to */
    uint64_t bandwidth; /* of this instance: nodes may differ */
    ovl_time latency;
} ovl_way;

/* How the members of a communicator lie on nodes, as one of them sees it: members whose instances
 * of links serve the same are of one kind. */
typedef struct ovl_spread {
    uint32_t members;
    uint32_t nodes; /* that have any; 1 also where no link is shared and NCCL's model is not asked,
                       so  that it is no matter */
    uint32_t fewest, most; /* members of the node that has the fewest, the most */
    uint32_t machines;     /* bit m: some member is on a node of sort m (ovl_hw_on) */
    uint32_t n_kinds, own; /* kinds of members, and which this is */
    uint32_t relay;        /* a send by PXN: the place in its node of who passes it on, plus 1 */
    uint8_t level;         /* ovl_level: what of `hierarchical` is asked for */
    const ovl_way *ways;   /* [n_kinds * links]; NULL: every member is alone on each */
} ovl_spread;

/* n members, each on a node of its own. */
ovl_spread ovl_spread_apart(uint32_t n);

/* num/den times the bytes of an operation. */
typedef struct ovl_crossing {
    uint64_t num, den;
} ovl_crossing;

/* A link by its name; NULL: there is none. */
const ovl_hw_link *ovl_find_link(const ovl_hw *hw, const char *name);

/* The link whose blocks are the inner level of `hierarchical` in place of nodes: of those in `via`
 * the one that leaves the smallest blocks, if all that leave anything leave blocks larger than a
 * node, so that what goes between two nodes of a block stays on the own links, as NVLink of a rack.
 * NULL: nodes are. Example: nodes of 4, via [nvlink, nic], nic out_of 8: blocks of 8. */
const ovl_hw_link *ovl_domain_link(const ovl_hw *hw, const ovl_texts *via);

/* The members as an entry's formula over `via` sees them: nvls works inside one NVLink domain, be
 * it of several nodes; for `hierarchical` such domains are its nodes. */
ovl_spread ovl_formula_spread(const ovl_hw *hw, int algorithm, const ovl_texts *via,
                              const ovl_spread *spread);

/* Whether a link has instances by blocks of GPUs, or carries only what leaves a block. */
bool ovl_link_in_blocks(const ovl_hw_link *link);

/* Whether what it carries for members that lie so leaves a node. */
bool ovl_link_leaves_node(const ovl_hw_link *link, const ovl_spread *spread);

/* What an operation sends through the instance of link number `link` that a member of this spread
 * uses, in the direction that has more; in lowest terms. `algorithm` (ovl_algorithm) NONE: a ring;
 * everybody to everybody for all-to-all. Over all instances it sums to what the operation sends
 * between the parts. Of broadcast and reduce, which have a root: the most that an instance may have
 * (uneven.h has what each has); NONE is a chain. {0, 1}: nothing crosses it. */
ovl_crossing ovl_crossing_of(const ovl_hw *hw, uint32_t link, ovl_coll op, int algorithm,
                             const ovl_spread *spread);

/* The same out, or in. They differ where a switch copies or adds up: NVLS all-gathers of 8 have 1/8
 * out and 7/8 in. */
ovl_crossing ovl_crossing_one_way(const ovl_hw *hw, uint32_t link, ovl_coll op, int algorithm,
                                  const ovl_spread *spread, bool in);

/* What a member itself sends or receives over all its links together, whichever is more: bytes on
 * the wire, of which there are as many HBM bytes as hbm_factor says. As the bus bandwidth counts
 * (n - 1)/n s, twice of an all-reduce, s of broadcast, reduce and sends; but of all-reduces that
 * switches add up what they move: NVLS (g + 1)/g s, and 1/g s across m nodes, with a tree 2 (m -
 * 1)/m 1/g s; CollNet s. Example: NVLS of 800 MB among 8 of a node: 900 MB, not 1400. */
ovl_crossing ovl_crossing_of_member(ovl_coll op, int algorithm, const ovl_spread *spread);

/* The same for a kind of members. */
ovl_crossing ovl_crossing_of_kind(const ovl_hw *hw, uint32_t link, ovl_coll op, int algorithm,
                                  const ovl_spread *spread, uint32_t kind);

/* Whether some instance of the link has more of it than another. */
bool ovl_crossing_differs(const ovl_hw *hw, uint32_t link, ovl_coll op, int algorithm,
                          const ovl_spread *spread);

/* Bandwidth and latency of the instance that members of a kind use. */
typedef struct ovl_link_speed {
    uint64_t bandwidth;
    ovl_time latency;
} ovl_link_speed;

ovl_link_speed ovl_speed_of(const ovl_hw *hw, uint32_t link, const ovl_spread *spread,
                            uint32_t kind);

/* The bytes/s of that while the transfer phase takes `transfer`, rounded down; 0 for no time. */
uint64_t ovl_crossing_rate(ovl_crossing crossing, uint64_t bytes, ovl_time transfer);

/* Whether an algorithm has a formula for an operation; else an error at `mark` that names those it
 * has. */
bool ovl_check_algorithm(int algorithm, ovl_coll op, ovl_mark mark, ovl_errs *errs);

/* Whether something said of communicators on `nodes` (ovl_nodes) is said of members that lie so. */
bool ovl_nodes_fit(int nodes, const ovl_spread *spread);

/* The same of one that has members on nodes of a sort; 0: of any. */
bool ovl_machine_fits(uint32_t machine, const ovl_spread *spread);

/* Whether what is said of a group is said of this one: itself, or runs of its members ("tp/2"). */
bool ovl_names_group(const char *name, const char *group);

/* The hardware's entry for an operation in a group whose members lie so (NULL: however): the one
 * that names both, else one that names the operation and no group; of two such the one that says
 * on which nodes it has members, or on how many; NULL if there is none. */
const ovl_hw_collective *ovl_find_collective(const ovl_hw *hw, ovl_coll op, const char *group,
                                             const ovl_spread *spread);

/* Time of `bytes` (nccl-tests convention) among members that lie so, by one entry. False and an
 * error at `mark` outside its table, or if its formula does not cover the operation. *extrapolated
 * is set if the table was left behind (with `extrapolate`). A single member takes no time. What
 * lasts longer than time can count is an error, too, which tells the `name` of the operation. */
bool ovl_collective_time(const ovl_hw *hw, const ovl_hw_collective *entry, ovl_coll op,
                         uint64_t bytes, const ovl_spread *spread, const char *name, ovl_mark mark,
                         ovl_comm_time *time, bool *extrapolated, ovl_errs *errs);

/* Time of a kernel of so many FLOPs and HBM bytes, and its SM-bound part. Errors (at `mark`, of the
 * operation `name`): peak for the dtype or hbm missing; overflow. */
bool ovl_kernel_time(const ovl_hw *hw, double flops, uint64_t hbm_bytes, ovl_dtype dtype,
                     const char *name, ovl_mark mark, ovl_time *duration, ovl_time *compute,
                     ovl_errs *errs);

/* ceil(bytes / rate) in picoseconds, OVL_NEVER on overflow or a rate of 0. Exact. */
ovl_time ovl_bytes_time(uint64_t bytes, uint64_t rate);

/* bytes / time in bytes/s rounded down, at most UINT64_MAX; 0 for a time of 0. Exact. */
uint64_t ovl_bytes_rate(uint64_t bytes, ovl_time time);

/* Bytes/s on the wire (busbw as nccl-tests define it) of a collective whose transfer phase takes
 * `transfer`: bytes * ovl_busbw_factor / transfer, rounded down; 0 for no time. Exact. */
uint64_t ovl_wire_rate(ovl_coll op, uint64_t bytes, uint32_t n, ovl_time transfer);

#endif
