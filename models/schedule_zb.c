/* Zero bubble by hand: the backward is split into I, which the stage before waits for, and W, which
 * nobody waits for and fills gaps.
 *
 *     zb_h1  P-r-1 forwards; then F, I in turn, W of a microbatch r steps after its I: as much
 *            memory as 1F1B, bubble (P-1)(TF + TI - TW)
 *     zb_h2  2(P-r)-1 forwards; then I, W of 2r steps before, F in turn: up to 2P-1 activations,
 *            bubble (P-1)(TF + TI - 2 TW)
 *
 * (arXiv 2401.10241) */
#include "models/schedule.h"

static void put_weights_left(ovl_action_list *list, uint32_t rank, uint32_t from, uint32_t m)
{
    for (uint32_t k = from; k < m; k++) {
        ovl_put(list, OVL_ACT_W, rank, k);
    }
}

static void order_h1(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list)
{
    uint32_t m = spec->microbatches, f = 0, w = 0;
    while (f < OVL_MIN(m, spec->ranks - rank - 1)) {
        ovl_put(list, OVL_ACT_F, rank, f++);
    }
    for (uint32_t k = 0; k < m; k++) {
        if (f < m) {
            ovl_put(list, OVL_ACT_F, rank, f++);
        }
        ovl_put(list, OVL_ACT_I, rank, k);
        if (k >= rank) {
            ovl_put(list, OVL_ACT_W, rank, w++);
        }
    }
    put_weights_left(list, rank, w, m);
}

static void order_h2(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list)
{
    uint32_t m = spec->microbatches, f = 0, w = 0;
    while (f < OVL_MIN(m, 2 * (spec->ranks - rank) - 1)) {
        ovl_put(list, OVL_ACT_F, rank, f++);
    }
    for (uint32_t k = 0; k < m; k++) {
        ovl_put(list, OVL_ACT_I, rank, k);
        if (k >= 2 * rank) {
            ovl_put(list, OVL_ACT_W, rank, w++);
        }
        if (f < m) {
            ovl_put(list, OVL_ACT_F, rank, f++);
        }
    }
    put_weights_left(list, rank, w, m);
}

const ovl_schedule_kind ovl_schedule_zb_h1 = {
    .name = "zb_h1", .least_stages = 1, .most_stages = 1, .splits = true, .order = order_h1};

const ovl_schedule_kind ovl_schedule_zb_h2 = {
    .name = "zb_h2", .least_stages = 1, .most_stages = 1, .splits = true, .order = order_h2};
