/*
 * expand.h - the same program with its small collectives as the transfers they are made of.
 *
 * The engine runs a collective as one activity at one rate. Here it becomes the steps of its
 * algorithm, each a batch of a send and a receive between members that meet; the next begins on a
 * rank when both have ended there, for what was received is what is sent next:
 *
 *     all_reduce                    ring: 2(n-1) steps, to the next member, from the one before
 *     reduce_scatter, all_gather    ring: n-1 steps
 *     all_to_all                    pairwise: n-1 steps, in step k to the k-th next member
 *                                   (one whose members send or receive more than others stays)
 *     broadcast, reduce             chain of 4(n-1) pieces: 5n-6 steps, each member passes a piece
 *                                   on when it has it
 *
 * Time. Latency and transfer of the collective are divided among the steps without a rest (those of
 * a chain: transfer among the pieces). Members in lock step and alone take just as long as the one
 * activity, to the picosecond; a chain (n-2)/(4(n-1)) of its transfer longer, which is how long it
 * takes to fill.
 *
 * Ports (models/lower.c: 0 is HBM, odd ones out, even ones in). A sender loads its ports out, a
 * receiver its ports in, each half of the HBM traffic. What members load once together is divided
 * among the transfers that leave (enter) the resource, or among all of its members if none does:
 * its bytes stay what they were. SMs are held by the send, by the receive in a step without one.
 *
 * What stays. The steps take the place of the collective on its stream, are issued with it and take
 * one place in its hardware queue; they have a communicator of their own, but wait for what comes
 * before the collective in its. Last comes the collective itself, without time: members leave
 * together, buffers are read and gradients change there, and who waited for it waits for that.
 *
 * Example: an all-reduce "reduce" of 4 members, 6 us latency and 12 ms, becomes "reduce step 1" to
 * "reduce step 6" of 1 us and 2 ms each, and "reduce".
 */
#ifndef OVL_SIM_EXPAND_H
#define OVL_SIM_EXPAND_H

#include "sim/program.h"

#define OVL_EXPAND_OPS (4u << 20) /* over all ranks, at most */

/* The program with every collective of 2 to `members` members in steps; nothing of `program` is
 * kept, the new one lives in `arena`. False and an error (OVL_E_INPUT) if it has more than
 * OVL_EXPAND_OPS operations. The program must not be a folded one. */
bool ovl_expand(const ovl_program *program, uint32_t members, ovl_arena *arena,
                ovl_program *expanded, ovl_errs *errs);

#endif
