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
 * In V-Half a W then moves to where its rank would wait, as far as the memory allows: with equal
 * times that brings the bubble from (7p-12)/2 unit times down to 3p-5 (3p-4 where p is odd), p/2m
 * of the 6 m that a rank works. Where forwards are known to take longer than input backwards, that
 * would hold up the steady state, and the W stay. V-Min has none to gain: about 2p/3m.
 * (arXiv 2405.15362) */
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

static void write_all(const ovl_schedule_spec *spec, const uint32_t step[4], uint32_t turn,
                      ovl_action_list *lists)
{
    ovl_arena scratch = {0};
    block *blocks = OVL_NEW_ARRAY(&scratch, block, spec->ranks);
    lay_out(blocks, spec->ranks, step, turn);
    for (uint32_t r = 0; r < spec->ranks; r++) {
        write_rank(&blocks[r], spec, r, &lists[r]);
    }
    ovl_arena_free(&scratch);
}

/* --- W where a rank would wait --- */

/* Unit times: every action takes one. */
typedef struct filler {
    const ovl_schedule_spec *spec;
    const ovl_action_list *from; /* [ranks] */
    ovl_action_list *to;         /* [ranks] */
    uint32_t limit;              /* activations that a rank may hold until their W */
    uint32_t *next;              /* [ranks] F or I in `from` */
    uint32_t *weight;            /* [ranks] I in `from` whose W is next */
    uint32_t *held;              /* [ranks] activations */
    uint32_t *forward, *input;   /* [stages * microbatches] when it ended; 0: not yet */
} filler;

static bool is_ready(const filler *x, const ovl_action *a, uint32_t now)
{
    uint32_t m = x->spec->microbatches, last = 2 * x->spec->ranks - 1;
    bool f = a->type == OVL_ACT_F;
    if (a->stage == (f ? 0 : last)) {
        return true;
    }
    uint32_t end = f ? x->forward[(size_t)(a->stage - 1) * m + a->microbatch]
                     : x->input[(size_t)(a->stage + 1) * m + a->microbatch];
    return end && end <= now;
}

static void run(filler *x, uint32_t r, const ovl_action *a, uint32_t now)
{
    size_t cell = (size_t)a->stage * x->spec->microbatches + a->microbatch;
    bool f = a->type == OVL_ACT_F;
    (f ? x->forward : x->input)[cell] = now + 1;
    x->held[r] += f;
    x->next[r]++;
    ovl_put(&x->to[r], (ovl_action_type)a->type, a->stage, a->microbatch);
}

/* The next F or I if it can start and fits, else a W that is due. False if the rank is through. */
static bool fill_step(filler *x, uint32_t r, uint32_t now)
{
    const ovl_action_list *from = &x->from[r];
    while (x->next[r] < from->len && from->data[x->next[r]].type == OVL_ACT_W) {
        x->next[r]++;
    }
    while (x->weight[r] < x->next[r] && from->data[x->weight[r]].type != OVL_ACT_I) {
        x->weight[r]++;
    }
    const ovl_action *a = x->next[r] < from->len ? &from->data[x->next[r]] : NULL;
    bool fits = a && (a->type == OVL_ACT_I || x->held[r] < x->limit);
    if (fits && is_ready(x, a, now)) {
        run(x, r, a, now);
    } else if (x->weight[r] < x->next[r]) {
        const ovl_action *of = &from->data[x->weight[r]++];
        ovl_put(&x->to[r], OVL_ACT_W, of->stage, of->microbatch);
        x->held[r]--;
    }
    return x->to[r].len < from->len;
}

/* Each rank keeps its order of F and I. A rank never waits for a W, and as many activations live as
 * at most did before, so that this ends. */
static void fill_waits(const ovl_schedule_spec *spec, uint32_t limit, ovl_action_list *lists)
{
    ovl_arena scratch = {0};
    uint32_t p = spec->ranks;
    size_t cells = (size_t)2 * p * spec->microbatches;
    filler x = {.spec = spec, .from = lists, .limit = limit};
    x.to = OVL_NEW_ARRAY(&scratch, ovl_action_list, p);
    x.next = OVL_NEW_ARRAY(&scratch, uint32_t, p);
    x.weight = OVL_NEW_ARRAY(&scratch, uint32_t, p);
    x.held = OVL_NEW_ARRAY(&scratch, uint32_t, p);
    x.forward = OVL_NEW_ARRAY(&scratch, uint32_t, cells);
    x.input = OVL_NEW_ARRAY(&scratch, uint32_t, cells);
    bool left = true;
    for (uint32_t now = 0; left; now++) {
        left = false;
        for (uint32_t r = 0; r < p; r++) {
            left |= fill_step(&x, r, now);
        }
    }
    for (uint32_t r = 0; r < p; r++) {
        ovl_vec_free(&lists[r]);
        lists[r] = x.to[r];
    }
    ovl_arena_free(&scratch);
}

/* --- The two --- */

static bool whole_min(const ovl_schedule_spec *spec, ovl_action_list *lists, ovl_errs *errs)
{
    (void)errs;
    write_all(spec, (const uint32_t[4]){1, 1, 1, 1}, 0, lists);
    return true;
}

/* Whether forwards take longer than input backwards; not, if times are not known. */
static bool forwards_are_longer(const ovl_schedule_spec *spec)
{
    ovl_time more = 0;
    for (uint32_t s = 0; spec->forward && s < 2 * spec->ranks; s++) {
        more += spec->forward[s] - spec->input[s];
    }
    return more > 0;
}

static bool whole_half(const ovl_schedule_spec *spec, ovl_action_list *lists, ovl_errs *errs)
{
    (void)errs;
    write_all(spec, (const uint32_t[4]){2, 1, 2, 1}, spec->ranks % 2 ? 0 : 2, lists);
    if (!forwards_are_longer(spec)) {
        fill_waits(spec, 2 * ((spec->ranks + 2) / 2), lists);
    }
    return true;
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
                                               .timed = true,
                                               .whole = whole_half};
