/*
 * blame.h - who is to blame for idle time.
 *
 * Each piece of a gap (idle.h) is charged to operations. Operations are alike if they are
 * kernels of one stage, transfers from one rank to another, or others of a kind on a rank; a
 * collective is one, however many members it has. Of each kind of idle time those alike that cost
 * most are named, the heaviest of them and how many more there are:
 *
 *     dependency   1SEND_B0 0.5 ms, 1SEND_B1 0.2 ms (rank 1 to 0), 0SEND_F0 0.4 ms (rank 0 to 1)
 *     is           0.7 ms: "transfer 1SEND_B0 from rank 1 to 0; 1 more like it"
 *
 * They are the largest part of that kind, which need not be most of it.
 */
#ifndef OVL_SIM_BLAME_H
#define OVL_SIM_BLAME_H

#include "sim/causes.h"
#include "sim/classes.h"
#include "sim/result.h"
#include "sim/vec.h"

typedef struct ovl_blamer {
    const ovl_causes *c;
    const ovl_program *p;
    const ovl_classes *classes;
    ovl_arena *arena; /* of the texts */
} ovl_blamer;

typedef struct ovl_charge {
    uint64_t key;     /* of what is alike, with */
    uint32_t partner; /* the rank at the other end of a transfer, else OVL_NONE */
    uint32_t op;
    ovl_time time;
    uint8_t kind; /* ovl_idle_kind */
} ovl_charge;

typedef OVL_VEC(ovl_charge) ovl_charges;

/* Charges an operation with idle time of a kind. */
void ovl_blame(const ovl_blamer *b, ovl_idle_kind kind, uint32_t op, ovl_time time,
               ovl_charges *list);

typedef struct ovl_blame_share {
    uint32_t op;
    ovl_time weight; /* not below 0 */
} ovl_blame_share;

/* Charges `n` operations with idle time of a kind in proportion to their weights; what they are
 * charged with sums to `time`. False if all weights are 0: nobody is charged. 7 ps by weights 1 and
 * 2: 2 and 5. */
bool ovl_blame_split(const ovl_blamer *b, ovl_idle_kind kind, const ovl_blame_share *share,
                     uint32_t n, ovl_time time, ovl_charges *list);

/* "transfer 0SEND_F3 from rank 0 to 1", "stage 1 on rank 1 takes longer than the mean": some are
 * sentences, so that they go behind a colon, not behind "because of". */
const char *ovl_blame_text(const ovl_blamer *b, ovl_idle_kind kind, uint32_t id);

/* Of each kind the heaviest; `n` says how many kinds. `list` is put in order, one charge for each
 * operation. `all`: charges of all ranks, so that operations count with those that they stand for;
 * else of one rank. */
const ovl_result_blame *ovl_blame_choose(const ovl_blamer *b, ovl_charges *list, bool all,
                                         uint32_t *n);

#endif
