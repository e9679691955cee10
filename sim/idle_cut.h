/*
 * idle_cut.h - the gaps of one rank, cut into pieces by cause.
 *
 * What a gap was spent on (waits.h) is known for all but compute of others. That is shared by how
 * long the same kernel waits in one replay after another (idle.h): as much as in the first is
 * structural, as much more as in the second imbalance, and so on; what is left is structural, too.
 *
 * A replay of another order of kernels (ovl_program.orders) has other gaps: the kernel that waits
 * here may wait nowhere there, so kernels say nothing of it. All that the rank idles there does. So
 * the parts of gaps that fall to such replays, and to the first that has the order of the run, are
 * shared as the totals of the rank are:
 *
 *     dependency   goes to transfers that moved in the gap first; none of it is left if a list that
 *                  was found for free transfers idles as long
 *     the edges    before the first kernel of a rank and after its last are there in all orders:
 * fill, drain and imbalance go there first, as much as there is of each there the rest     in the
 * same proportions in each gap
 *
 * Pieces sum to each gap, and to the totals of the rank, to the picosecond.
 *
 * Example: a rank idles 3 before its first kernel and 9 in two gaps of 6 and 3. In the list that
 * would be found for even stages it idles 3, all at first, in that for the stages as they are 9;
 * with transfers, 12. So 3 fill; and of 6 and 3 the third that is dependency is 2 and 1, the rest
 * imbalance.
 */
#ifndef OVL_SIM_IDLE_CUT_H
#define OVL_SIM_IDLE_CUT_H

#include "sim/result.h"
#include "sim/waits.h"

typedef struct ovl_idle_gap {
    uint32_t op; /* the kernel that ends it; OVL_NONE: it lasts to the end of the step */
    ovl_time from, to;
    bool forward; /* what is structural is fill, not drain */
    bool edge;    /* before the first kernel of its rank, or after the last */
    ovl_waited waited;
    uint32_t first_part, n_parts;   /* of ovl_waits.parts */
    ovl_time wait[OVL_PEEL_COUNT];  /* of the same kernel, or edge, in each run; 0: no gap */
    ovl_time piece[OVL_IDLE_COUNT]; /* what it is cut into; sums to the gap */
} ovl_idle_gap;

/* Cuts the gaps of a rank. `idle`: all it idles in each run. `own`: the first of the runs that has
 * the order of the run itself, as all behind it have: OVL_PEEL_DEPENDENCY at most. */
void ovl_idle_cut(ovl_idle_gap *gaps, uint32_t n, const ovl_time idle[OVL_PEEL_COUNT],
                  ovl_peel own);

#endif
