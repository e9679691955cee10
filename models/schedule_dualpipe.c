/* DualPipe: microbatches enter from both ends, and the forward of one direction runs together with
 * the backward of the other (an overlapped pair). Rank r has stage r of both directions: two copies
 * of the model. DualPipeV is one half of it folded up: stages r and 2P-1-r of one model on P ranks.
 *
 * With leg 0 the direction that enters at the near end, h the distance from that end, H the ranks
 * to the turn and m microbatches a leg (DualPipe: H = P/2; DualPipeV: H = P, m all):
 *
 *     2(H-h-1) F0 | h+1 (F0, F1) | H-h-1 (I1, W1, F1) | m-2H+h+1 (F0 & B1, F1 & B0)
 *     | H-h-1 (B1, F1 & B0) | h+1 (B1, B0) | H-h-1 (W, I0) | h+1 W
 *
 * Next to the turn the first pair is not overlapped. The (B1, B0) switch to I at their (h+1)/2-th:
 * before B1 if h is odd, after it if even; W run in the order of their I.
 * (deepseek-ai/DualPipe; PyTorch ScheduleDualPipeV) */
#include "models/schedule.h"

typedef struct writer {
    ovl_action_list *list;
    uint32_t stage[2], base[2]; /* of each leg: its stage here, its first microbatch */
    uint32_t f[2], b[2];        /* next of each leg */
    ovl_action_list queue;      /* I whose W is to come */
    uint32_t head;
} writer;

static void forward(writer *x, int leg)
{
    ovl_put(x->list, OVL_ACT_F, x->stage[leg], x->base[leg] + x->f[leg]++);
}

static void backward(writer *x, int leg, bool split)
{
    uint32_t k = x->base[leg] + x->b[leg]++;
    ovl_put(x->list, split ? OVL_ACT_I : OVL_ACT_B, x->stage[leg], k);
    if (split) {
        ovl_put(&x->queue, OVL_ACT_W, x->stage[leg], k);
    }
}

static void pair(writer *x, int leg)
{
    ovl_put_joined(x->list, OVL_ACT_F, x->stage[leg], x->base[leg] + x->f[leg]);
    x->f[leg]++;
    backward(x, !leg, false);
}

static void weight(writer *x)
{
    if (x->head < x->queue.len) {
        ovl_vec_push(x->list, x->queue.data[x->head++]);
    }
}

static void first_half(writer *x, uint32_t h, uint32_t turn, uint32_t m)
{
    uint32_t away = turn - h - 1;
    for (uint32_t k = 0; k < 2 * away; k++) {
        forward(x, 0);
    }
    for (uint32_t k = 0; k < h + 1; k++) {
        forward(x, 0);
        forward(x, 1);
    }
    for (uint32_t k = 0; k < away; k++) {
        backward(x, 1, true);
        weight(x);
        forward(x, 1);
    }
    for (uint32_t k = 0; k < m - 2 * turn + h + 1; k++) {
        if (k == 0 && away == 0) {
            forward(x, 0);
            backward(x, 1, false);
        } else {
            pair(x, 0);
        }
        pair(x, 1);
    }
}

static void second_half(writer *x, uint32_t h, uint32_t turn)
{
    uint32_t away = turn - h - 1, half = (h + 1) / 2;
    for (uint32_t k = 0; k < away; k++) {
        backward(x, 1, false);
        pair(x, 1);
    }
    for (uint32_t k = 0; k < h + 1; k++) {
        backward(x, 1, k > half || (k == half && h % 2 == 1));
        backward(x, 0, k >= half);
    }
    for (uint32_t k = 0; k < away; k++) {
        weight(x);
        backward(x, 0, true);
    }
    while (x->head < x->queue.len) {
        weight(x);
    }
}

static void write(writer *x, uint32_t h, uint32_t turn, uint32_t m)
{
    first_half(x, h, turn, m);
    second_half(x, h, turn);
    ovl_vec_free(&x->queue);
}

static void order_dual(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list)
{
    uint32_t p = spec->ranks, m = spec->microbatches / 2;
    bool far = rank >= p / 2; /* the second half of the ranks swaps the directions */
    uint32_t down = rank, up = 2 * p - 1 - rank;
    writer x = {.list = list,
                .stage = {far ? up : down, far ? down : up},
                .base = {far ? m : 0, far ? 0 : m}};
    write(&x, far ? p - 1 - rank : rank, p / 2, m);
}

static void order_v(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list)
{
    writer x = {.list = list, .stage = {rank, 2 * spec->ranks - 1 - rank}};
    write(&x, rank, spec->ranks, spec->microbatches);
}

static void check_v(const ovl_schedule_spec *spec, ovl_errs *errs)
{
    if (spec->microbatches < 2 * spec->ranks) {
        ovl_error(errs, OVL_E_INPUT, spec->microbatches_mark,
                  "DualPipe needs at least two microbatches for each rank: %" PRIu32
                  " < 2 x %" PRIu32,
                  spec->microbatches, spec->ranks);
    }
}

static void check_dual(const ovl_schedule_spec *spec, ovl_errs *errs)
{
    check_v(spec, errs);
    if (spec->ranks % 2) {
        ovl_error(errs, OVL_E_INPUT, spec->mark,
                  "DualPipe feeds both ends: its ranks are even in number, not %" PRIu32,
                  spec->ranks);
    }
    if (spec->microbatches % 2) {
        ovl_error(errs, OVL_E_INPUT, spec->microbatches_mark,
                  "DualPipe feeds both ends: its microbatches are even in number, not %" PRIu32
                  "; %" PRIu32 " would do",
                  spec->microbatches, OVL_MAX(spec->microbatches + 1, 2 * spec->ranks));
    }
}

const ovl_schedule_kind ovl_schedule_dualpipe = {.name = "dualpipe",
                                                 .least_stages = 1,
                                                 .most_stages = 1,
                                                 .placement = OVL_PLACE_BOTH,
                                                 .check = check_dual,
                                                 .order = order_dual};

const ovl_schedule_kind ovl_schedule_dualpipev = {.name = "dualpipev",
                                                  .pytorch = "ScheduleDualPipeV",
                                                  .least_stages = 2,
                                                  .most_stages = 2,
                                                  .placement = OVL_PLACE_V,
                                                  .check = check_v,
                                                  .order = order_v};
