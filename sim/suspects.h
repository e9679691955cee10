/*
 * suspects.h - the stages, the transfers and the batches that idle time may be due to.
 *
 * A suspect is
 *
 *     a stage       whose kernels take longer than the mean in sum (replay.h); where kernels are of
 *                   no stage, a rank and all that did exactly the same (classes.h): of two ranks
 *                   that are equally late one alone costs nothing
 *     a transfer    from ranks of one code to those of another; or the collectives, or copies, of a
 *                   kind that they lead
 *     batches       of ranks of one code, which hold up what needs one part of them
 *
 * A kernel that is a pair of two stages (ovl_op.second) makes none of them one, for either may be
 * what makes it long: it belongs to the heavier of its two.
 *
 * At most OVL_SUSPECTS_MOST of each are looked at: those with the most time beyond the mean, or in
 * transfers, or from the first part of a batch to the last. A stage that is not longer than the
 * mean is none, even if some kernel of it is. What a suspect costs is found by a replay of the run
 * in which it alone is harmless: its kernels take their mean, its transfers no time, or each part
 * of its batches is there when it has come.
 *
 * All is counted as if every rank were simulated, so that suspects do not depend on which are.
 *
 * Example: stages of 2, 2, 2.1 and 4 ms, the mean is 2.525: the last is the only suspect.
 */
#ifndef OVL_SIM_SUSPECTS_H
#define OVL_SIM_SUSPECTS_H

#include "sim/classes.h"
#include "sim/replay.h"

#define OVL_SUSPECTS_MOST 4u

typedef struct ovl_suspect {
    ovl_time weight;    /* beyond the mean, in transfers, between parts: of all, at least 1 */
    const uint32_t *op; /* by end: kernels longer than their mean; sends, collectives, copies;
                         * batches */
    uint32_t n_ops;
} ovl_suspect;

typedef struct ovl_suspects {
    ovl_suspect list[OVL_SUSPECTS_MOST]; /* heaviest first */
    uint32_t n;
    const uint8_t *of; /* [n_ops] into list; OVL_NO_SUSPECT: of none */
} ovl_suspects;

/* What is found is in `arena`. */
void ovl_suspects_stages(ovl_causes *causes, const ovl_classes *classes, const ovl_means *means,
                         ovl_arena *arena, ovl_suspects *suspects);
void ovl_suspects_transfers(ovl_causes *causes, ovl_arena *arena, ovl_suspects *suspects);
void ovl_suspects_batches(ovl_causes *causes, ovl_arena *arena, ovl_suspects *suspects);

/* The operation of a suspect that ended last until then; its first if none did. */
uint32_t ovl_suspect_op(const ovl_suspect *suspect, const ovl_timeline *timeline, ovl_time until);

#endif
