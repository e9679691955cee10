/*
 * build.h - what the builder keeps of a code until it is frozen. Private to build.c and freeze.c.
 *
 * Lists that belong to operations are kept as one long array and, per operation, where its part
 * begins: operations are added in order and additions always concern the last one, so no list ever
 * moves.
 */
#ifndef OVL_SIM_BUILD_H
#define OVL_SIM_BUILD_H

#include "sim/program.h"

struct ovl_code_build {
    OVL_VEC(ovl_op) ops;
    OVL_VEC(ovl_id) streams;
    OVL_VEC(ovl_buffer) buffers;
    OVL_VEC(uint32_t) after;
    OVL_VEC(uint32_t) after_at;
    OVL_VEC(ovl_access) access;
    OVL_VEC(uint32_t) access_at;
    OVL_VEC(ovl_effect) effect;
    OVL_VEC(uint32_t) effect_at;
    uint32_t n_slots;
};

/* Numbers the collectives of each communicator and pairs sends with receives (p->partner). False
 * and errors (OVL_E_STUCK) where members disagree. */
bool ovl_match_communication(ovl_program *p, ovl_comm *comms, ovl_arena *arena, ovl_errs *errs);

#endif
