/*
 * worth.h - what a communication costs the step, found by running again with it free.
 *
 *     worth        = step - step with every operation of that name free
 *     u_variant    = u_path of the same consumer in that run
 *     interference = u_path - u_variant
 *
 * "Free" is no latency, bytes or SMs; order and rendezvous stay. A receive is freed by freeing the
 * send it meets.
 *
 * Example: a 25 ms matmul beside a 20 ms all-reduce, 33 ms together: with the all-reduce free the
 * step is 25, so it is worth 8 = 4 exposed + 4 interference.
 */
#ifndef OVL_SIM_WORTH_H
#define OVL_SIM_WORTH_H

#include "sim/alike.h"
#include "sim/rows.h"

/* What was freed together, in the arena of the result. */
typedef struct ovl_together {
    ovl_result_together *item; /* the most worth first */
    uint32_t n;
} ovl_together;

/* Fills u_variant, interference and worth of the rows whose names the options ask for. By default
 * those are the most exposed names (the sum over a name's occurrences of the largest exposure on
 * any rank), then the longest, up to OVL_WORTH_DEFAULT_NAMES (fewer of a
 * program of millions of operations), and `always` if it is a name.
 *
 * OVL_WORTH_ALL of a program whose names times operations exceed OVL_WORTH_ALL_OPS frees names that
 * differ in their last number (the microbatch) together, or where that is too many as well, in any
 * number; the rows of the default names are filled, too. Each of these is exact for what it frees:
 * names alike are not worth the same, so no row gets what belongs to all of them. */
ovl_together ovl_worth_find(const ovl_causes *causes, const ovl_feeds *feeds,
                            const ovl_analyse_options *options, ovl_id always, ovl_rows *rows,
                            ovl_arena *arena);

#endif
