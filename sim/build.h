/*
 * build.h - what the builder keeps of a code until it is frozen. Private to build.c, freeze.c
 * and expand.c.
 *
 * Lists that belong to operations are kept as one long array and, per operation, where its part
 * begins: operations are added in order and additions always concern the last one, so no list ever
 * moves. Where a code has nothing in a list, it is not said that its parts are empty. What an
 * operation is after is stored once for all that say the same (ties.h), as soon as it is complete.
 */
#ifndef OVL_SIM_BUILD_H
#define OVL_SIM_BUILD_H

#include "sim/program.h"

struct ovl_code_build {
    OVL_VEC(uint32_t) which; /* of the builder's distinct operations */
    OVL_VEC(ovl_id) name;
    OVL_VEC(uint32_t) microbatch; /* of the first so many operations */
    OVL_VEC(ovl_id) streams;
    OVL_VEC(ovl_buffer) buffers;
    OVL_VEC(uint32_t) after;    /* offsets, of the operation last added */
    OVL_VEC(uint32_t) after_of; /* lists of the operations before it, until no more have any */
    OVL_VEC(ovl_access) access;
    OVL_VEC(uint32_t) access_at;
    OVL_VEC(ovl_effect) effect;
    OVL_VEC(uint32_t) effect_at;
    uint32_t n_slots;
};

/* What the operation last added is after is complete. */
void ovl_store_after(ovl_builder *b, struct ovl_code_build *c);

/* A builder has the free kind of costs from the start. Gives back the costs and what finds them. */
void ovl_costs_init(ovl_builder *b);
void ovl_costs_free(ovl_builder *b);

/* Numbers the collectives of each communicator and pairs sends with receives (p->mates). False
 * and errors (OVL_E_STUCK) where members disagree. */
bool ovl_match_communication(ovl_program *p, ovl_comm *comms, ovl_arena *arena, ovl_errs *errs);

/* --- pairs.c: sends and receives --- */

typedef OVL_VEC(uint32_t) ovl_mate_starts;
typedef OVL_VEC(ovl_mate) ovl_mates;

/* Sends and receives of a code by slot, so that its operations are gone through once and not for
 * each communicator: those of slot s are local[first[s]] .. local[first[s + 1] - 1], in order. */
typedef struct ovl_messages {
    const uint32_t *first; /* [n_slots + 1] */
    const uint32_t *local;
} ovl_messages;

/* Pairs the sends and receives of a communicator, the first of its kind; appends to both lists (the
 * closing entry of the starts is left out). *mates is where its places begin in `starts`, OVL_NONE
 * if it has neither sends nor receives. False and errors if one has no other side. */
bool ovl_pair_up(const ovl_program *p, uint32_t comm, const ovl_messages *codes, uint32_t *mates,
                 ovl_mate_starts *starts, ovl_mates *list, ovl_errs *errs);

/* Do any of its members send or receive in it? */
bool ovl_pairs_any(const ovl_program *p, uint32_t comm, const ovl_messages *codes);

/* The messages of each code: [n_codes]. */
const ovl_messages *ovl_pairs_of(const ovl_program *p, ovl_arena *scratch);

/* Can communicators of the kind state different times for what meets? Do both sides state one time
 * in this communicator? */
bool ovl_pairs_vary(const ovl_program *p, uint32_t kind);
bool ovl_pairs_check_times(const ovl_program *p, uint32_t comm, ovl_errs *errs);

/* The time of `cost` as it is told; the place of a mark. */
const char *ovl_match_time(const ovl_program *p, const ovl_cost *cost, ovl_arena *arena);
const char *ovl_match_place(ovl_mark mark, ovl_mark seen_from, ovl_arena *arena);

#endif
