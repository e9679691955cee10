/* V-Min and V-Half: folded like ZB-V, with a third or half of its memory.
 *
 * One microbatch is laid out on a grid of unit times: down the ranks (F of the first stages), up (F
 * of the second), down (I of the second), up (I of the first); W right behind their I. From one
 * rank to the next a leg takes `step`, from one leg to the next 1 + `turn`; a place whose time
 * modulo 6 the rank already uses moves on. Microbatch k is the same 6 k later, so places never
 * collide, and a rank's order is that of time.
 *
 *     v_min   steps 1, 1, 1, 1: every activation lives as short as can be; 2 floor((p+4)/3) halves
 *     v_half  steps 2, 1, 2, 1, and a turn of 2 where p is even; 2 floor((p+2)/2) halves
 *
 * Bubbles with equal times: about 2p/3m and p/2m. (arXiv 2405.15362, whose implementation reorders
 * warm-up and cool-down further) */
#include "models/schedule.h"

#define PERIOD 6

typedef struct place {
    uint64_t time;
    uint8_t type;
    bool second; /* of the rank's two stages */
} place;

typedef struct block {
    place at[PERIOD];
    uint32_t n;
    bool used[PERIOD];
} block;

/* Puts an action on a rank at `time` or as soon after as is free; gives that time. */
static uint64_t put_place(block *b, uint64_t time, ovl_action_type type, bool second)
{
    while (b->used[time % PERIOD]) {
        time++;
    }
    b->used[time % PERIOD] = true;
    b->at[b->n++] = (place){time, (uint8_t)type, second};
    return time;
}

/* Legs 0 and 2 go down the ranks, 1 and 3 up. */
static void lay_out(block *blocks, uint32_t p, const uint32_t step[4], uint32_t turn)
{
    uint64_t time = 0;
    for (int leg = 0; leg < 4; leg++) {
        ovl_action_type type = leg < 2 ? OVL_ACT_F : OVL_ACT_I;
        for (uint32_t k = 0; k < p; k++) {
            uint32_t rank = leg % 2 ? p - 1 - k : k;
            time += k ? step[leg] : leg == 1 ? 1 + turn : leg ? 1 : 0;
            time = put_place(&blocks[rank], time, type, leg == 1 || leg == 2);
        }
    }
    for (uint32_t r = 0; r < p; r++) {
        put_place(&blocks[r], blocks[r].at[2].time + 1, OVL_ACT_W, blocks[r].at[2].second);
        put_place(&blocks[r], blocks[r].at[3].time + 1, OVL_ACT_W, blocks[r].at[3].second);
    }
}

/* All microbatches of a rank in order of time. */
static void write_rank(const block *b, const ovl_schedule_spec *spec, uint32_t rank,
                       ovl_action_list *list)
{
    uint32_t next[PERIOD] = {0};
    for (uint32_t n = 0; n < PERIOD * spec->microbatches; n++) {
        uint32_t best = PERIOD;
        uint64_t when = 0;
        for (uint32_t k = 0; k < PERIOD; k++) {
            uint64_t time = b->at[k].time + (uint64_t)PERIOD * next[k];
            if (next[k] < spec->microbatches && (best == PERIOD || time < when)) {
                best = k;
                when = time;
            }
        }
        uint32_t stage = b->at[best].second ? 2 * spec->ranks - 1 - rank : rank;
        ovl_put(list, (ovl_action_type)b->at[best].type, stage, next[best]++);
    }
}

static bool write_all(const ovl_schedule_spec *spec, const uint32_t step[4], uint32_t turn,
                      ovl_action_list *lists)
{
    ovl_arena scratch = {0};
    block *blocks = OVL_NEW_ARRAY(&scratch, block, spec->ranks);
    lay_out(blocks, spec->ranks, step, turn);
    for (uint32_t r = 0; r < spec->ranks; r++) {
        write_rank(&blocks[r], spec, r, &lists[r]);
    }
    ovl_arena_free(&scratch);
    return true;
}

static bool whole_min(const ovl_schedule_spec *spec, ovl_action_list *lists, ovl_errs *errs)
{
    (void)errs;
    return write_all(spec, (const uint32_t[4]){1, 1, 1, 1}, 0, lists);
}

static bool whole_half(const ovl_schedule_spec *spec, ovl_action_list *lists, ovl_errs *errs)
{
    (void)errs;
    return write_all(spec, (const uint32_t[4]){2, 1, 2, 1}, spec->ranks % 2 ? 0 : 2, lists);
}

const ovl_schedule_kind ovl_schedule_v_min = {.name = "v_min",
                                              .least_stages = 2,
                                              .most_stages = 2,
                                              .placement = OVL_PLACE_V,
                                              .splits = true,
                                              .whole = whole_min};

const ovl_schedule_kind ovl_schedule_v_half = {.name = "v_half",
                                               .least_stages = 2,
                                               .most_stages = 2,
                                               .placement = OVL_PLACE_V,
                                               .splits = true,
                                               .whole = whole_half};
