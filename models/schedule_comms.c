#include "models/schedule_lower.h"

/* What a stage's rank has in its list for a microbatch. */
enum { HAS_F = 1, HAS_B = 2, HAS_RECV_F = 4, HAS_RECV_B = 8, HAS_SEND_F = 16, HAS_SEND_B = 32 };

typedef struct lists {
    const ovl_schedule *in;
    uint8_t *has; /* [n_stages * n_microbatches] */
    uint32_t *at; /* [n_ranks] next cell */
    bool *busy;   /* [n_ranks] in this step */
    ovl_action_list *out;
} lists;

static lists open_lists(const ovl_schedule *in, ovl_arena *scratch)
{
    lists x = {.in = in};
    x.has = OVL_NEW_ARRAY(scratch, uint8_t, (size_t)in->n_stages * in->n_microbatches);
    x.at = OVL_NEW_ARRAY(scratch, uint32_t, in->n_ranks);
    x.busy = OVL_NEW_ARRAY(scratch, bool, in->n_ranks);
    x.out = OVL_NEW_ARRAY(scratch, ovl_action_list, in->n_ranks);
    return x;
}

static uint8_t *has(lists *x, uint32_t stage, uint32_t microbatch)
{
    return &x->has[(size_t)stage * x->in->n_microbatches + microbatch];
}

static bool is_backward(const ovl_action *a)
{
    return a->type == OVL_ACT_I || a->type == OVL_ACT_B;
}

/* The stage whose output F, I or B needs, or that gets theirs; OVL_NONE at the ends. */
static uint32_t before(const lists *x, const ovl_action *a)
{
    if (a->type == OVL_ACT_F) {
        return ovl_schedule_first(x->in, a->stage) ? OVL_NONE : a->stage - 1u;
    }
    return !is_backward(a) || ovl_schedule_last(x->in, a->stage) ? OVL_NONE : a->stage + 1u;
}

static uint32_t behind(const lists *x, const ovl_action *a)
{
    if (a->type == OVL_ACT_F) {
        return ovl_schedule_last(x->in, a->stage) ? OVL_NONE : a->stage + 1u;
    }
    return !is_backward(a) || ovl_schedule_first(x->in, a->stage) ? OVL_NONE : a->stage - 1u;
}

/* Whether the input of a compute action was received, or made on the same rank. */
static bool compute_ready(lists *x, const ovl_action *a)
{
    uint32_t source = before(x, a);
    if (source == OVL_NONE) {
        return true;
    }
    bool forward = a->type == OVL_ACT_F;
    if (*has(x, a->stage, a->microbatch) & (forward ? HAS_RECV_F : HAS_RECV_B)) {
        return true;
    }
    return x->in->rank_of[source] == x->in->rank_of[a->stage] &&
           (*has(x, source, a->microbatch) & (forward ? HAS_F : HAS_B));
}

static void note_compute(lists *x, const ovl_action *a)
{
    if (a->type == OVL_ACT_F) {
        *has(x, a->stage, a->microbatch) |= HAS_F;
    } else if (is_backward(a)) {
        *has(x, a->stage, a->microbatch) |= HAS_B;
    }
}

/* --- Sends and receives --- */

static void add_comms(lists *x, const ovl_action *a)
{
    uint32_t to = behind(x, a), own = x->in->rank_of[a->stage];
    if (to == OVL_NONE || x->in->rank_of[to] == own) {
        return;
    }
    bool forward = a->type == OVL_ACT_F;
    ovl_put(&x->out[own], forward ? OVL_ACT_SEND_F : OVL_ACT_SEND_B, a->stage, a->microbatch);
    ovl_put(&x->out[x->in->rank_of[to]], forward ? OVL_ACT_RECV_F : OVL_ACT_RECV_B, to,
            a->microbatch);
    *has(x, to, a->microbatch) |= forward ? HAS_RECV_F : HAS_RECV_B;
}

/* Takes the next cell of a rank (an action, a pair or a blank) if it is ready. */
static bool take_cell(lists *x, uint32_t r)
{
    const ovl_action *a = &x->in->ranks[r].item[x->at[r]];
    uint32_t n = a->joined ? 2 : 1;
    for (uint32_t k = 0; k < n; k++) {
        if (!compute_ready(x, &a[k])) {
            return false;
        }
    }
    for (uint32_t k = 0; k < n && a->type != OVL_ACT_NONE; k++) {
        ovl_vec_push(&x->out[r], a[k]);
        note_compute(x, &a[k]);
    }
    for (uint32_t k = 0; k < n; k++) {
        add_comms(x, &a[k]);
    }
    x->at[r] += n;
    return true;
}

static void tell_stuck(const lists *x, ovl_mark mark, ovl_errs *errs)
{
    for (uint32_t r = 0; r < x->in->n_ranks; r++) {
        if (x->at[r] < x->in->ranks[r].count) {
            const ovl_action *a = &x->in->ranks[r].item[x->at[r]];
            ovl_error(errs, OVL_E_STUCK, ovl_schedule_place(x->in, r, x->at[r], mark),
                      "the schedule cannot finish: rank %" PRIu32 " waits for what %" PRIu32
                      "%s%" PRIu32 " needs",
                      r, (uint32_t)a->stage, ovl_schedule_word(x->in, (ovl_action_type)a->type),
                      a->microbatch);
            return;
        }
    }
}

bool ovl_schedule_send_recv(const ovl_schedule *in, ovl_schedule *out, ovl_mark mark,
                            ovl_arena *arena, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    lists x = open_lists(in, &scratch);
    bool moved = true, left = true;
    while (moved) {
        moved = left = false;
        for (uint32_t r = 0; r < in->n_ranks; r++) {
            if (x.at[r] < in->ranks[r].count) {
                moved |= take_cell(&x, r);
                left |= x.at[r] < in->ranks[r].count;
            }
        }
    }
    if (left) {
        tell_stuck(&x, mark, errs);
    }
    ovl_actions *ranks = OVL_NEW_ARRAY(arena, ovl_actions, in->n_ranks);
    for (uint32_t r = 0; r < in->n_ranks; r++) {
        ranks[r].count = x.out[r].len;
        ranks[r].item = ovl_vec_freeze(&x.out[r], arena);
    }
    *out = *in;
    out->ranks = ranks;
    out->places = NULL;
    ovl_arena_free(&scratch);
    return !left;
}

/* --- Order --- */

/* The microbatches of each stage in the order of their forwards, or of their backwards. */
static uint32_t *orders_of(const ovl_schedule *s, bool forward, ovl_arena *scratch)
{
    uint32_t *order = OVL_NEW_ARRAY(scratch, uint32_t, (size_t)s->n_stages * s->n_microbatches);
    uint32_t *n = OVL_NEW_ARRAY(scratch, uint32_t, s->n_stages);
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        for (uint32_t i = 0; i < s->ranks[r].count; i++) {
            const ovl_action *a = &s->ranks[r].item[i];
            bool counts = forward ? a->type == OVL_ACT_F : is_backward(a);
            if (counts && n[a->stage] < s->n_microbatches) {
                order[(size_t)a->stage * s->n_microbatches + n[a->stage]++] = a->microbatch;
            }
        }
    }
    return order;
}

bool ovl_schedule_in_order(const ovl_schedule *s)
{
    ovl_arena scratch = {0};
    bool same = true;
    for (int forward = 0; forward < 2; forward++) {
        const uint32_t *order = orders_of(s, forward, &scratch);
        for (uint32_t k = 0; k < s->n_stages; k++) {
            const uint32_t *row = order + (size_t)k * s->n_microbatches;
            if (!ovl_schedule_last(s, k) && s->rank_of[k] != s->rank_of[k + 1]) {
                same = same &&
                       memcmp(row, row + s->n_microbatches, s->n_microbatches * sizeof *row) == 0;
            }
        }
    }
    ovl_arena_free(&scratch);
    return same;
}

/* --- Unit steps --- */

static bool step_ready(lists *x, const ovl_action *a)
{
    switch ((ovl_action_type)a->type) {
    case OVL_ACT_SEND_F:
        return *has(x, a->stage, a->microbatch) & HAS_F;
    case OVL_ACT_SEND_B:
        return *has(x, a->stage, a->microbatch) & HAS_B;
    case OVL_ACT_RECV_F:
        return !ovl_schedule_first(x->in, a->stage) &&
               (*has(x, a->stage - 1u, a->microbatch) & HAS_SEND_F);
    case OVL_ACT_RECV_B:
        return !ovl_schedule_last(x->in, a->stage) &&
               (*has(x, a->stage + 1u, a->microbatch) & HAS_SEND_B);
    case OVL_ACT_F:
    case OVL_ACT_I:
    case OVL_ACT_B:
        return compute_ready(x, a);
    case OVL_ACT_NONE:
    case OVL_ACT_W:
    case OVL_ACT_UNSHARD:
    case OVL_ACT_RESHARD:
    case OVL_ACT_REDUCE_GRAD:
    case OVL_ACT_COUNT:
        break;
    }
    return true;
}

static void note_step(lists *x, const ovl_action *a)
{
    static const uint8_t bits[OVL_ACT_COUNT] = {
        [OVL_ACT_F] = HAS_F,           [OVL_ACT_I] = HAS_B,           [OVL_ACT_B] = HAS_B,
        [OVL_ACT_SEND_F] = HAS_SEND_F, [OVL_ACT_SEND_B] = HAS_SEND_B, [OVL_ACT_RECV_F] = HAS_RECV_F,
        [OVL_ACT_RECV_B] = HAS_RECV_B};
    if (bits[a->type]) {
        *has(x, a->stage, a->microbatch) |= bits[a->type];
    }
}

/* The next action or pair of each rank that is idle in this step and ready. */
static bool sweep(lists *x)
{
    bool moved = false;
    for (uint32_t r = 0; r < x->in->n_ranks; r++) {
        const ovl_actions *row = &x->in->ranks[r];
        while (x->at[r] < row->count && row->item[x->at[r]].type == OVL_ACT_NONE) {
            x->at[r]++;
        }
        if (x->busy[r] || x->at[r] == row->count) {
            continue;
        }
        const ovl_action *a = &row->item[x->at[r]];
        uint32_t n = a->joined ? 2 : 1;
        if (step_ready(x, a) && (n == 1 || step_ready(x, a + 1))) {
            for (uint32_t k = 0; k < n; k++) {
                note_step(x, &a[k]);
            }
            x->at[r] += n;
            x->busy[r] = moved = true;
        }
    }
    return moved;
}

/* As PyTorch does, a second sweep of a step lets ranks in that later ranks unblocked. */
uint32_t ovl_schedule_steps(const ovl_schedule *schedule, ovl_mark mark, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    lists x = open_lists(schedule, &scratch);
    uint32_t steps = 0;
    while (sweep(&x)) {
        sweep(&x);
        memset(x.busy, 0, schedule->n_ranks * sizeof *x.busy);
        steps++;
    }
    for (uint32_t r = 0; r < schedule->n_ranks; r++) {
        if (x.at[r] < schedule->ranks[r].count) {
            tell_stuck(&x, mark, errs);
            steps = 0;
            break;
        }
    }
    ovl_arena_free(&scratch);
    return steps;
}
