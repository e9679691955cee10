/*
 * fold_parts.h - what the files of folding have in common. Private to them.
 *
 * fold.c refines colours, fold_check.c verifies the partition, fold_program.c makes the folded
 * program, fold_peers.c prepares what does not change while colours do.
 */
#ifndef OVL_SIM_FOLD_PARTS_H
#define OVL_SIM_FOLD_PARTS_H

#include "sim/fold.h"

#include <string.h>

enum { OVL_FOLD_RANKS, OVL_FOLD_COMMS, OVL_FOLD_RESOURCES, OVL_FOLD_SORTS };

/* What is known of a program before colours are. */
typedef struct ovl_fold_basis {
    const ovl_program *p;
    /* Sends and receives of (kind, place), addressed like p->mate_at: */
    const uint32_t *pairing; /* equal numbers: the same operations meet the same ones, and peers
                                come in the same order */
    const uint32_t *peer_at; /* into peers: the places met, in order of the first operation */
    const uint32_t *peers;
    const uint32_t *peer_index; /* of each mate, the how-manieth of its place's peers */
    const uint32_t *variant;    /* [n_ranks] equal numbers: equal costs, and bytes of buffers, of
                                   ranks of one code */
    const bool *shared;         /* [n_ports] several ranks have one resource there */
    const uint32_t *port_of;    /* [n_resources] the only port through which it is reached */
    const uint32_t *users_at, *users; /* [n_resources + 1]: ranks that have it, ascending */
} ovl_fold_basis;

/* False if the program has something that is never folded: a resource that is reached through two
 * ports, or a cost that meets one twice and is counted once. */
bool ovl_fold_prepare(const ovl_program *p, ovl_arena *arena, ovl_fold_basis *basis);

/* Of every resource, the classes of the communicators that touch it through a shared port, each
 * communicator once: item[at[resource]] .. item[at[resource + 1] - 1]. */
typedef struct ovl_fold_touches {
    uint32_t *at, *item;
} ovl_fold_touches;
ovl_fold_touches ovl_fold_touch(const ovl_fold_basis *basis, const ovl_fold *fold,
                                ovl_arena *arena);

/* [n_codes] does it have collectives with a root? */
const bool *ovl_fold_rooted_codes(const ovl_program *p, ovl_arena *scratch);

/* Verifies every condition of fold.h member by member. */
bool ovl_fold_verify(const ovl_fold_basis *basis, const ovl_fold *fold);

/* Are two communicator slots of a class of ranks of one class of communicators that has
 * collectives? Then it cannot be folded: marks its communicators in `own`. */
bool ovl_fold_mark_crossed(const ovl_fold_basis *basis, const ovl_fold *fold, bool *own);

/* [n_ops] of the folded program: ovl_fold.together. */
const uint32_t *ovl_fold_together(const ovl_fold_basis *basis, const ovl_fold *fold,
                                  const ovl_program *folded, ovl_arena *arena);

static inline uint64_t ovl_fold_mix(uint64_t hash, uint64_t value)
{
    uint64_t z = hash * UINT64_C(0xD1342543DE82EF95) + value + UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Where the mates of a rank's slot begin in mate_at; OVL_NONE without any. */
static inline uint32_t ovl_fold_mates(const ovl_program *p, const ovl_rank *rank, uint32_t slot)
{
    uint32_t place = p->rank_places[rank->first_place + slot];
    uint32_t first = p->kinds[p->comms[p->rank_comms[rank->first_comm + slot]].kind].mates;
    return first == OVL_NONE || place == OVL_NONE ? OVL_NONE : first + place;
}

/* The rank at a place of the communicator of a rank's slot. */
static inline uint32_t ovl_fold_peer(const ovl_program *p, const ovl_rank *rank, uint32_t slot,
                                     uint32_t place)
{
    return p->members[p->comms[p->rank_comms[rank->first_comm + slot]].first_member + place];
}

static inline bool ovl_fold_rooted(const ovl_op *op)
{
    return op->kind == OVL_COLLECTIVE && (op->coll == OVL_BROADCAST || op->coll == OVL_REDUCE);
}

/* Is the rank the root of a collective? */
static inline bool ovl_fold_roots(const ovl_program *p, const ovl_rank *rank, const ovl_op *op)
{
    return ovl_fold_rooted(op) &&
           p->rank_places[rank->first_place + op->comm] == (uint32_t)op->peer;
}

#endif
