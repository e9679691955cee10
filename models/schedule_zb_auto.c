/* ZB-1p and ZB-2p: found by a greedy heuristic under a memory limit, from the times of F, I, W on
 * each rank, of a hop, and the bytes that F makes and I leaves for W. The limit is p activations
 * (the memory of 1F1B) or 2p.
 *
 * Microbatch 0: every rank runs its forward, then further forwards while they end before the first
 * gradient can be there and memory lasts, always fewer than the rank before it. From then on one
 * round a microbatch: each rank that should takes one forward, rank 0 first, then each takes one I,
 * the last rank first. Before either, W run while memory is short, and while they fit into the
 * wait. Three switches make eight attempts, of which the one with the shortest longest rank is
 * taken:
 *
 *     eager     the warm-up must not push the first I later; else it may leave no wait before it
 *     gradient  skip a forward that would come too late for the next rank, which has work
 *     fill      start a W that does not fit the wait even where no other rank waits longer
 *
 * With fewer than 2p microbatches eight more attempts let a rank run as many further forwards as
 * the one before it, if that one has run all: else with fewer than p most ranks would run one
 * forward before each gradient. On 4 ranks with 2 microbatches of 1 ms each: 11 ms, not 15.
 *
 * (arXiv 2401.10241, and the scheduler published with it) */
#include "models/schedule.h"

typedef struct attempt {
    const ovl_schedule_spec *spec;
    bool eager, gradient, fill;
    bool few;                          /* microbatches: the last rule above */
    uint64_t *limit;                   /* [p] bytes */
    uint32_t *f, *b, *w;               /* [p] how many ran */
    uint64_t *held;                    /* [p] bytes */
    ovl_time *end;                     /* [p] */
    ovl_time *wait;                    /* [p] waits since the first forward */
    ovl_time longest;                  /* the largest of these */
    ovl_time *forward_end, *input_end; /* [p * m] */
    ovl_time *first;                   /* [p] start of the first forward */
    uint32_t *more;                    /* [p] forwards to run now */
    ovl_action_list *lists;            /* [p] */
} attempt;

static uint64_t released(const attempt *t, uint32_t j, ovl_action_type type)
{
    return type == OVL_ACT_W ? t->spec->kept[j] : t->spec->activation[j] - t->spec->kept[j];
}

/* When the input of the next forward or backward of rank j is there; 0 if it needs none. */
static ovl_time forward_input(const attempt *t, uint32_t j)
{
    size_t m = t->spec->microbatches;
    return j == 0 ? 0 : t->forward_end[(j - 1) * m + t->f[j]] + t->spec->hop;
}

static ovl_time backward_input(const attempt *t, uint32_t j)
{
    size_t m = t->spec->microbatches;
    return j + 1 == t->spec->ranks ? 0 : t->input_end[(j + 1) * m + t->b[j]] + t->spec->hop;
}

/* Runs an action as soon as rank and input allow. */
static void run(attempt *t, uint32_t j, ovl_time input, ovl_time length)
{
    ovl_time start = OVL_MAX(t->end[j], input);
    if (t->f[j] > 0) {
        t->wait[j] += start - t->end[j];
        t->longest = OVL_MAX(t->longest, t->wait[j]);
    } else {
        t->first[j] = start;
    }
    t->end[j] = start + length;
}

static void put_forward(attempt *t, uint32_t j)
{
    run(t, j, forward_input(t, j), t->spec->forward[j]);
    t->forward_end[(size_t)j * t->spec->microbatches + t->f[j]] = t->end[j];
    t->held[j] += t->spec->activation[j];
    ovl_put(&t->lists[j], OVL_ACT_F, j, t->f[j]++);
}

static void put_input(attempt *t, uint32_t j)
{
    run(t, j, backward_input(t, j), t->spec->input[j]);
    t->input_end[(size_t)j * t->spec->microbatches + t->b[j]] = t->end[j];
    t->held[j] -= released(t, j, OVL_ACT_I);
    ovl_put(&t->lists[j], OVL_ACT_I, j, t->b[j]++);
}

static void put_weight(attempt *t, uint32_t j)
{
    run(t, j, 0, t->spec->weight[j]);
    t->held[j] -= released(t, j, OVL_ACT_W);
    ovl_put(&t->lists[j], OVL_ACT_W, j, t->w[j]++);
}

/* --- The first microbatch --- */

/* How many forwards rank j can run before its first gradient, which is there at `due`. */
static uint32_t spare_forwards(const attempt *t, uint32_t j, ovl_time due, ovl_time *until)
{
    uint64_t held = t->held[j];
    ovl_time length = t->spec->forward[j];
    uint32_t n = 0;
    *until = t->end[j];
    while (t->f[j] + n < t->spec->microbatches && held + t->spec->activation[j] <= t->limit[j]) {
        if (t->eager ? *until + length > due : *until >= due) {
            break;
        }
        held += t->spec->activation[j];
        *until += length;
        n++;
    }
    return n;
}

static void warm_up(attempt *t)
{
    const ovl_schedule_spec *spec = t->spec;
    uint32_t p = spec->ranks;
    for (uint32_t j = 0; j < p; j++) {
        put_forward(t, j);
    }
    ovl_time gradient = t->end[p - 1] + spec->input[p - 1], until = 0;
    for (uint32_t j = p - 1; j-- > 0;) {
        t->more[j] = spare_forwards(t, j, gradient + spec->hop, &until);
        gradient = OVL_MAX(until, gradient + spec->hop) + spec->input[j];
    }
    for (uint32_t j = 1; j < p; j++) {
        uint32_t before = t->more[j - 1];
        bool as_many = t->few && before + 1 == spec->microbatches;
        uint32_t most = as_many ? before : before ? before - 1 : 0;
        t->more[j] = OVL_MIN(t->more[j], most);
    }
    for (uint32_t j = 0; j < p; j++) {
        for (uint32_t k = 0; k < t->more[j]; k++) {
            put_forward(t, j);
        }
    }
    for (uint32_t j = p; j-- > 0;) {
        put_input(t, j);
    }
}

/* --- A round --- */

/* How long W take that must run before a forward fits into memory. */
static ovl_time weights_first(const attempt *t, uint32_t j)
{
    uint64_t need = t->held[j] + t->spec->activation[j];
    ovl_time length = 0;
    for (uint32_t w = t->w[j]; need > t->limit[j] && w < t->b[j]; w++) {
        need -= released(t, j, OVL_ACT_W);
        length += t->spec->weight[j];
    }
    return length;
}

/* Whether rank j should run a forward in this round. */
static bool wants_forward(const attempt *t, uint32_t j)
{
    const ovl_schedule_spec *spec = t->spec;
    if (t->f[j] >= spec->microbatches) {
        return false;
    }
    if (!t->gradient || j + 1 == spec->ranks || t->f[j] < t->f[j + 1] + 2) {
        return true;
    }
    ovl_time next = t->end[j + 1] + spec->forward[j + 1] + spec->input[j + 1] + spec->hop;
    if (t->end[j] >= next) {
        return false;
    }
    return t->end[j] + spec->forward[j] + weights_first(t, j) <= next ||
           next - t->end[j] > t->longest - t->wait[j];
}

/* W that memory demands before an action that adds `bytes`; false: even all of them are too few. */
static bool make_room(attempt *t, uint32_t j, uint64_t bytes)
{
    while (t->held[j] + bytes > t->limit[j]) {
        if (t->w[j] >= t->b[j]) {
            return false;
        }
        put_weight(t, j);
    }
    return true;
}

/* W in the wait for an input that is there at `due`. */
static void fill_wait(attempt *t, uint32_t j, ovl_time due)
{
    while (t->w[j] < t->b[j] && t->end[j] + t->spec->weight[j] <= due) {
        put_weight(t, j);
    }
    if (t->w[j] < t->b[j] && t->end[j] < due &&
        (t->fill || due - t->end[j] > t->longest - t->wait[j])) {
        put_weight(t, j);
    }
}

static bool run_round(attempt *t)
{
    uint32_t p = t->spec->ranks;
    for (uint32_t j = 0; j < p; j++) {
        t->more[j] = wants_forward(t, j);
    }
    for (uint32_t j = p - 1; j-- > 0;) {
        t->more[j] = OVL_MIN(t->more[j], t->more[j + 1]);
    }
    for (uint32_t j = 0; j < p; j++) {
        if (!t->more[j]) {
            continue;
        }
        if (!make_room(t, j, t->spec->activation[j])) {
            return false;
        }
        if (j > 0) {
            fill_wait(t, j, forward_input(t, j));
        }
        put_forward(t, j);
    }
    for (uint32_t j = p; j-- > 0;) {
        if (j + 1 < p) {
            fill_wait(t, j, backward_input(t, j));
        }
        while (j == 0 && t->f[0] == t->spec->microbatches && t->w[0] < t->b[0]) {
            put_weight(t, 0);
        }
        put_input(t, j);
    }
    return true;
}

/* --- Attempts --- */

static void prepare(attempt *t, uint32_t factor, ovl_arena *scratch)
{
    size_t p = t->spec->ranks, m = t->spec->microbatches;
    t->limit = OVL_NEW_ARRAY(scratch, uint64_t, p);
    t->held = OVL_NEW_ARRAY(scratch, uint64_t, p);
    t->f = OVL_NEW_ARRAY(scratch, uint32_t, p);
    t->b = OVL_NEW_ARRAY(scratch, uint32_t, p);
    t->w = OVL_NEW_ARRAY(scratch, uint32_t, p);
    t->more = OVL_NEW_ARRAY(scratch, uint32_t, p);
    t->end = OVL_NEW_ARRAY(scratch, ovl_time, p);
    t->wait = OVL_NEW_ARRAY(scratch, ovl_time, p);
    t->first = OVL_NEW_ARRAY(scratch, ovl_time, p);
    t->forward_end = OVL_NEW_ARRAY(scratch, ovl_time, p * m);
    t->input_end = OVL_NEW_ARRAY(scratch, ovl_time, p * m);
    t->lists = OVL_NEW_ARRAY(scratch, ovl_action_list, p);
    for (size_t j = 0; j < p; j++) {
        t->limit[j] = (uint64_t)factor * p * t->spec->activation[j];
    }
}

/* The longest time of a rank from its first action to its last; OVL_NEVER if memory is too small.
 */
static ovl_time attempt_all(attempt *t)
{
    uint32_t p = t->spec->ranks, m = t->spec->microbatches;
    ovl_time longest = 0;
    warm_up(t);
    for (uint32_t i = 1; i < m; i++) {
        if (!run_round(t)) {
            return OVL_NEVER;
        }
    }
    for (uint32_t j = 0; j < p; j++) {
        while (t->w[j] < m) {
            put_weight(t, j);
        }
        longest = OVL_MAX(longest, t->end[j] - t->first[j]);
    }
    return longest;
}

static void release(attempt *t)
{
    for (uint32_t j = 0; t->lists && j < t->spec->ranks; j++) {
        ovl_vec_free(&t->lists[j]);
    }
}

/* Strict attempts first: of equals the first is taken. */
static bool search(const ovl_schedule_spec *spec, uint32_t factor, ovl_action_list *lists,
                   ovl_errs *errs)
{
    ovl_time best = OVL_NEVER;
    unsigned attempts = spec->microbatches < 2 * (uint64_t)spec->ranks ? 16 : 8;
    for (unsigned i = 0; i < attempts; i++) {
        ovl_arena scratch = {0};
        unsigned k = ~i;
        attempt t = {.spec = spec, .eager = k & 4, .gradient = k & 2, .fill = k & 1, .few = i >= 8};
        prepare(&t, factor, &scratch);
        ovl_time longest = attempt_all(&t);
        for (uint32_t j = 0; longest < best && j < spec->ranks; j++) {
            ovl_action_list worse = lists[j];
            lists[j] = t.lists[j];
            t.lists[j] = worse;
        }
        best = OVL_MIN(best, longest);
        release(&t);
        ovl_arena_free(&scratch);
    }
    if (best == OVL_NEVER) {
        ovl_error(errs, OVL_E_INPUT, spec->mark,
                  "no automatic schedule fits into the memory of %" PRIu32 " activations",
                  factor * spec->ranks);
    }
    return best != OVL_NEVER;
}

static bool whole_1p(const ovl_schedule_spec *spec, ovl_action_list *lists, ovl_errs *errs)
{
    return search(spec, 1, lists, errs);
}

static bool whole_2p(const ovl_schedule_spec *spec, ovl_action_list *lists, ovl_errs *errs)
{
    return search(spec, 2, lists, errs);
}

const ovl_schedule_kind ovl_schedule_zb_1p = {.name = "zb_1p",
                                              .least_stages = 1,
                                              .most_stages = 1,
                                              .splits = true,
                                              .timed = true,
                                              .whole = whole_1p};

const ovl_schedule_kind ovl_schedule_zb_2p = {.name = "zb_2p",
                                              .least_stages = 1,
                                              .most_stages = 1,
                                              .splits = true,
                                              .timed = true,
                                              .whole = whole_2p};
