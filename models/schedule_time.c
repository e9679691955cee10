#include "models/schedule_time.h"

typedef struct runner {
    const ovl_schedule *s;
    const ovl_schedule_costs *costs;
    ovl_time *forward_end, *backward_end; /* [n_stages * n_microbatches]; OVL_NEVER: not yet */
    uint32_t *at;                         /* [n_ranks] next action */
    ovl_time *now;                        /* [n_ranks] */
    bool *parked;                         /* [n_ranks] waits for an input */
    uint32_t *held_weight, *held_input;   /* [n_ranks] activations */
    OVL_VEC(uint32_t) ready;              /* ranks to look at */
    ovl_schedule_rank_times *ranks;
} runner;

static size_t cell(const runner *x, uint32_t stage, uint32_t microbatch)
{
    return (size_t)stage * x->s->n_microbatches + microbatch;
}

/* From where the input of an action comes; OVL_NONE: from nowhere, or from the stage itself. */
static uint32_t source_of(const runner *x, const ovl_action *a)
{
    if (a->type == OVL_ACT_F) {
        return ovl_schedule_first(x->s, a->stage) ? OVL_NONE : a->stage - 1u;
    }
    bool backward = a->type == OVL_ACT_I || a->type == OVL_ACT_B;
    return !backward || ovl_schedule_last(x->s, a->stage) ? OVL_NONE : a->stage + 1u;
}

/* When the input of an action is there; OVL_NEVER: not known yet. */
static ovl_time input_of(const runner *x, const ovl_action *a)
{
    uint32_t source = source_of(x, a);
    if (source == OVL_NONE) {
        return 0;
    }
    const ovl_time *ends = a->type == OVL_ACT_F ? x->forward_end : x->backward_end;
    ovl_time end = ends[cell(x, source, a->microbatch)];
    bool far = x->s->rank_of[source] != x->s->rank_of[a->stage];
    return end == OVL_NEVER ? end : end + (far ? x->costs->hop : 0);
}

static ovl_time length_of(const runner *x, const ovl_action *a)
{
    switch ((ovl_action_type)a->type) {
    case OVL_ACT_F:
        return x->costs->forward[a->stage];
    case OVL_ACT_I:
        return x->costs->input[a->stage];
    case OVL_ACT_W:
        return x->costs->weight[a->stage];
    case OVL_ACT_B:
        return x->costs->backward[a->stage];
    case OVL_ACT_NONE:
    case OVL_ACT_SEND_F:
    case OVL_ACT_RECV_F:
    case OVL_ACT_SEND_B:
    case OVL_ACT_RECV_B:
    case OVL_ACT_UNSHARD:
    case OVL_ACT_RESHARD:
    case OVL_ACT_REDUCE_GRAD:
    case OVL_ACT_COUNT:
        break;
    }
    return 0;
}

static void hold(runner *x, uint32_t r, ovl_action_type type)
{
    ovl_schedule_rank_times *t = &x->ranks[r];
    x->held_weight[r] += type == OVL_ACT_F;
    x->held_input[r] += type == OVL_ACT_F;
    t->peak_weight = OVL_MAX(t->peak_weight, x->held_weight[r]);
    t->peak_input = OVL_MAX(t->peak_input, x->held_input[r]);
    x->held_weight[r] -= type == OVL_ACT_B || type == OVL_ACT_W;
    x->held_input[r] -= type == OVL_ACT_B || type == OVL_ACT_I;
}

static void wake(runner *x, uint32_t stage)
{
    uint32_t rank = x->s->rank_of[stage];
    if (x->parked[rank]) {
        x->parked[rank] = false;
        ovl_vec_push(&x->ready, rank);
    }
}

static void finish(runner *x, uint32_t r, const ovl_action *a, ovl_time end)
{
    hold(x, r, (ovl_action_type)a->type);
    if (a->type == OVL_ACT_F) {
        x->forward_end[cell(x, a->stage, a->microbatch)] = end;
        if (!ovl_schedule_last(x->s, a->stage)) {
            wake(x, a->stage + 1u);
        }
    } else if (a->type == OVL_ACT_I || a->type == OVL_ACT_B) {
        x->backward_end[cell(x, a->stage, a->microbatch)] = end;
        if (!ovl_schedule_first(x->s, a->stage)) {
            wake(x, a->stage - 1u);
        }
    }
}

/* Runs the next action, or pair, of a rank; false if its input is not known yet. */
static bool step(runner *x, uint32_t r)
{
    const ovl_action *a = &x->s->ranks[r].item[x->at[r]];
    uint32_t n = a->joined ? 2 : 1;
    ovl_time start = x->now[r], length = 0;
    for (uint32_t k = 0; k < n; k++) {
        ovl_time input = input_of(x, &a[k]);
        if (input == OVL_NEVER) {
            return false;
        }
        start = OVL_MAX(start, input);
        length += length_of(x, &a[k]);
    }
    if (n == 2 && x->costs->pair) {
        length = x->costs->pair[a->stage];
    }
    if (length > 0 || a->type < OVL_ACT_SEND_F) {
        ovl_schedule_rank_times *t = &x->ranks[r];
        t->first = OVL_MIN(t->first, start);
        t->busy += length;
        x->now[r] = t->last = start + length;
    }
    for (uint32_t k = 0; k < n; k++) {
        finish(x, r, &a[k], start + length);
    }
    x->at[r] += n;
    return true;
}

static void prepare(runner *x, ovl_arena *scratch, ovl_arena *arena)
{
    size_t n = x->s->n_ranks, cells = (size_t)x->s->n_stages * x->s->n_microbatches;
    x->forward_end = OVL_NEW_ARRAY(scratch, ovl_time, cells);
    x->backward_end = OVL_NEW_ARRAY(scratch, ovl_time, cells);
    for (size_t i = 0; i < cells; i++) {
        x->forward_end[i] = x->backward_end[i] = OVL_NEVER;
    }
    x->at = OVL_NEW_ARRAY(scratch, uint32_t, n);
    x->now = OVL_NEW_ARRAY(scratch, ovl_time, n);
    x->parked = OVL_NEW_ARRAY(scratch, bool, n);
    x->held_weight = OVL_NEW_ARRAY(scratch, uint32_t, n);
    x->held_input = OVL_NEW_ARRAY(scratch, uint32_t, n);
    x->ranks = OVL_NEW_ARRAY(arena, ovl_schedule_rank_times, n);
    for (uint32_t r = 0; r < x->s->n_ranks; r++) {
        x->ranks[r].first = OVL_NEVER;
        ovl_vec_push(&x->ready, r);
    }
}

static bool run_all(runner *x, ovl_errs *errs)
{
    while (x->ready.len > 0) {
        uint32_t r = x->ready.data[--x->ready.len];
        while (x->at[r] < x->s->ranks[r].count && step(x, r)) {
        }
        x->parked[r] = x->at[r] < x->s->ranks[r].count;
    }
    for (uint32_t r = 0; r < x->s->n_ranks; r++) {
        if (x->parked[r]) {
            const ovl_action *a = &x->s->ranks[r].item[x->at[r]];
            ovl_error(errs, OVL_E_STUCK, (ovl_mark){0},
                      "rank %" PRIu32 " waits for ever for the input of %" PRIu32 "%s%" PRIu32, r,
                      (uint32_t)a->stage, ovl_action_name((ovl_action_type)a->type), a->microbatch);
            return false;
        }
    }
    return true;
}

bool ovl_schedule_time(const ovl_schedule *schedule, const ovl_schedule_costs *costs,
                       ovl_schedule_times *times, ovl_arena *arena, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    runner x = {.s = schedule, .costs = costs};
    prepare(&x, &scratch, arena);
    bool ok = run_all(&x, errs);
    *times = (ovl_schedule_times){.ranks = x.ranks};
    for (uint32_t r = 0; r < schedule->n_ranks; r++) {
        x.ranks[r].first = OVL_MIN(x.ranks[r].first, x.ranks[r].last);
        times->makespan = OVL_MAX(times->makespan, x.ranks[r].last);
        times->span = OVL_MAX(times->span, x.ranks[r].last - x.ranks[r].first);
    }
    ovl_vec_free(&x.ready);
    ovl_arena_free(&scratch);
    return ok;
}
