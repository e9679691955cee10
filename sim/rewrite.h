/*
 * rewrite.h - the operations of a program that is another one's copy with some of them changed.
 *
 * An operation is stored once however often it repeats, and so are changed ones: what an operation
 * becomes is compared with itself and with what it became the last time. A kernel that repeats
 * 2,048 times and becomes faster each time is one operation more.
 *
 *     ovl_rewrite w;
 *     ovl_rewrite_begin(&w, program, &scratch);
 *     which[i] = ovl_rewrite_op(&w, code->which[i], &changed);      for operations of each code
 *     ovl_rewrite_end(&w, &copy, codes, arena);                     copy.codes is codes
 */
#ifndef OVL_SIM_REWRITE_H
#define OVL_SIM_REWRITE_H

#include "sim/program.h"

typedef struct ovl_rewrite {
    OVL_VEC(ovl_op) ops; /* those of the program first */
    uint32_t *last;      /* by operation of the program: what it became last */
} ovl_rewrite;

void ovl_rewrite_begin(ovl_rewrite *w, const ovl_program *program, ovl_arena *scratch);

/* The number of what operation number `which` of the program becomes. */
uint32_t ovl_rewrite_op(ovl_rewrite *w, uint32_t which, const ovl_op *op);

/* Gives the copy and its codes the operations there are now. */
void ovl_rewrite_end(ovl_rewrite *w, ovl_program *copy, ovl_code *codes, ovl_arena *arena);

#endif
