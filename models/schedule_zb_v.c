/* ZB-V: two stages on each rank, r on the way down and 2P-1-r on the way up, so that the rank that
 * starts a microbatch also ends it. With TF = TI = TW and from 2P-1 microbatches on no rank idles
 * between its first and last action, at the memory of 1F1B (2P half-size activations).
 * With fewer than 2P-1 microbatches the order is that of 2P-1, the missing ones left out.
 * (arXiv 2401.10241; PyTorch ScheduleZBVZeroBubble) */
#include "models/schedule.h"

typedef struct writer {
    ovl_action_list *list;
    uint32_t m, stage[2];
    uint32_t f[2], i[2], w[2]; /* next of each leg */
} writer;

static void put(writer *x, ovl_action_type type, int leg, uint32_t *next)
{
    if (*next < x->m) {
        ovl_put(x->list, type, x->stage[leg], *next);
    }
    ++*next;
}

static void forward(writer *x, int leg)
{
    put(x, OVL_ACT_F, leg, &x->f[leg]);
}

static void input(writer *x, int leg)
{
    put(x, OVL_ACT_I, leg, &x->i[leg]);
}

static void both(writer *x, int leg)
{
    input(x, leg);
    put(x, OVL_ACT_W, leg, &x->w[leg]);
}

static void weights_left(writer *x, int leg)
{
    while (x->w[leg] < x->i[leg]) {
        put(x, OVL_ACT_W, leg, &x->w[leg]);
    }
}

static void order(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list)
{
    uint32_t p = spec->ranks, n = OVL_MAX(2 * p - 1, spec->microbatches);
    writer x = {.list = list, .m = spec->microbatches, .stage = {rank, 2 * p - 1 - rank}};
    for (uint32_t k = 0; k < 2 * (p - rank) - 1; k++) {
        forward(&x, 0);
    }
    for (uint32_t k = 0; k < rank; k++) {
        forward(&x, 1);
        forward(&x, 0);
    }
    for (uint32_t k = 0; k < p - rank; k++) {
        forward(&x, 1);
        both(&x, 1);
    }
    while (x.f[1] < x.f[0] || x.f[0] < n) {
        if (x.f[0] < n) {
            forward(&x, 0);
        }
        both(&x, 0);
        forward(&x, 1);
        both(&x, 1);
    }
    for (uint32_t k = 0; k < rank; k++) {
        input(&x, 0);
        input(&x, 1);
    }
    for (uint32_t k = 0; k < p - rank; k++) {
        both(&x, 0);
    }
    weights_left(&x, 1);
    weights_left(&x, 0);
}

const ovl_schedule_kind ovl_schedule_zb_v = {.name = "zb_v",
                                             .pytorch = "ScheduleZBVZeroBubble",
                                             .least_stages = 2,
                                             .most_stages = 2,
                                             .placement = OVL_PLACE_V,
                                             .splits = true,
                                             .order = order};
