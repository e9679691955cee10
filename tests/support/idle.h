/*
 * idle.h - for tests of idle time: sums in microseconds, and who is to blame.
 *
 *     check_peeled(&t.result, 36000, 0, 0, 0);  all ranks: 36 ms structural and nothing else
 *     check_only(&t.result, false, false, false);
 */
#ifndef OVL_TESTS_IDLE_H
#define OVL_TESTS_IDLE_H

#include "tests/support/lowering.h"

#define US OVL_US

static inline int64_t micros(ovl_time t)
{
    CHECK_INT(t % US, 0);
    return t / US;
}

/* Sums over all ranks, in microseconds. */
static inline void check_peeled(const ovl_result *r, int structural, int imbalance, int dependency,
                                int host)
{
    CHECK_INT(micros(r->idle.peeled[OVL_PEEL_STRUCTURAL]), structural);
    CHECK_INT(micros(r->idle.peeled[OVL_PEEL_IMBALANCE]), imbalance);
    CHECK_INT(micros(r->idle.peeled[OVL_PEEL_DEPENDENCY]), dependency);
    CHECK_INT(micros(r->idle.peeled[OVL_PEEL_HOST]), host);
}

/* Beside fill and drain only these. */
static inline void check_only(const ovl_result *r, bool imbalance, bool dependency, bool host)
{
    CHECK_INT(r->idle.piece[OVL_IDLE_IMBALANCE] > 0, imbalance);
    CHECK_INT(r->idle.piece[OVL_IDLE_DEPENDENCY] > 0, dependency);
    CHECK_INT(r->idle.piece[OVL_IDLE_SCHEDULE], 0);
    CHECK_INT(r->idle.piece[OVL_IDLE_HOST] > 0, host);
}

/* Of kind `kind`, over all ranks. */
static inline const ovl_result_blame *blame_of(const ovl_result *r, ovl_idle_kind kind)
{
    const ovl_result_blame *found = NULL;
    for (uint32_t i = 0; i < r->idle.n_blames; i++) {
        found = r->idle.blames[i].kind == kind ? &r->idle.blames[i] : found;
    }
    CHECK(found);
    return found;
}

#endif
