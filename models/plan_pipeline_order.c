#include "models/plan_pipeline.h"

/* What carries transfers keeps their order: the k-th that is sent is the k-th that is received. */
typedef OVL_VEC(ovl_action) sent_list;

typedef struct line {
    sent_list sent; /* as the receives they are for */
    uint32_t met;   /* receives so far */
    bool crossed;   /* told already */
} line;

typedef struct orders {
    ovl_pipe_plan *p;
    const ovl_schedule *s;
    const ovl_schedule
        *before; /* where sends and receives are not placed yet; NULL: the list says */
    bool apart;  /* each step from a stage to its neighbour has a line of its own */
    bool tell;
    line *lines;
    uint32_t n;
    bool ok;
} orders;

static bool is_send(const ovl_action *a)
{
    return a->type == OVL_ACT_SEND_F || a->type == OVL_ACT_SEND_B;
}

static bool is_receive(const ovl_action *a)
{
    return a->type == OVL_ACT_RECV_F || a->type == OVL_ACT_RECV_B;
}

/* The receive that a send is for. */
static ovl_action receive_of(const ovl_action *send)
{
    ovl_action a = *send;
    bool forward = a.type == OVL_ACT_SEND_F;
    a.type = forward ? OVL_ACT_RECV_F : OVL_ACT_RECV_B;
    a.stage = (uint16_t)(forward ? a.stage + 1 : a.stage - 1);
    return a;
}

static bool same(const ovl_action *a, const ovl_action *b)
{
    return a->type == b->type && a->stage == b->stage && a->microbatch == b->microbatch;
}

static const char *text_of(const orders *x, const ovl_action *a)
{
    return ovl_arena_printf(x->p->l->errs->arena, "%d%s%" PRIu32, a->stage,
                            ovl_schedule_word(x->s, (ovl_action_type)a->type), a->microbatch);
}

/* The line of a transfer; NULL: there is no other rank. */
static line *line_of(const orders *x, const ovl_action *a)
{
    const ovl_pipe_edge *edge = is_send(a) ? ovl_pipe_edge_out(x->p, a) : ovl_pipe_edge_in(x->p, a);
    if (!edge) {
        return NULL;
    }
    bool forward = a->type == OVL_ACT_SEND_F || a->type == OVL_ACT_RECV_F;
    uint32_t receiver = is_send(a) ? receive_of(a).stage : a->stage;
    return &x->lines[x->apart ? 2 * receiver + forward : edge->channel];
}

/* --- What is said --- */

/* Where an action stands in the list that was read: itself, or the compute it was placed for. */
static ovl_mark place_of(const orders *x, uint32_t rank, const ovl_action *a)
{
    const ovl_schedule *listed = &x->p->listed;
    ovl_action computes = *a;
    computes.type = a->type == OVL_ACT_RECV_F ? OVL_ACT_F : OVL_ACT_I;
    uint32_t best = OVL_NONE;
    for (uint32_t i = 0; listed->places && i < listed->ranks[rank].count; i++) {
        const ovl_action *b = &listed->ranks[rank].item[i];
        ovl_action backward = *b;
        backward.type = b->type == OVL_ACT_B ? OVL_ACT_I : b->type;
        if (same(a, b)) {
            return ovl_schedule_place(listed, rank, i, x->p->pipe->schedule_mark);
        }
        best = same(&computes, &backward) ? i : best;
    }
    return listed->places ? ovl_schedule_place(listed, rank, best, x->p->pipe->schedule_mark)
                          : x->p->pipe->schedule_mark;
}

static bool in_order(ovl_pipe_plan *p, const ovl_schedule *s, bool apart);

/* What would put them in order, each tried. */
static const char *advice_of(const orders *x)
{
    ovl_pipe_plan *p = x->p;
    bool early = p->pipe->receives == OVL_PIPE_EARLY;
    ovl_schedule other;
    ovl_errs ignored = {.arena = &p->scratch};
    const char *first = "", *second = "";
    if (x->before && ovl_pipe_place(p, x->before, !early, &other, &ignored) &&
        in_order(p, &other, false)) {
        first = early ? "receives: late" : "receives: early";
    }
    if (p->pipe->communicators != OVL_PIPE_STAGES && in_order(p, x->s, true)) {
        second = p->pipe->batch ? "communicators: stages, without batch" : "communicators: stages";
    }
    if (!*first && !*second) {
        return "both ranks must take them in one order: change the list";
    }
    return ovl_arena_printf(p->l->errs->arena, "take %s%s%s", first,
                            *first && *second ? " or " : "", second);
}

static void tell_crossed(orders *x, uint32_t rank, const ovl_action *receive,
                         const ovl_action *want)
{
    ovl_errs *errs = x->p->l->errs;
    ovl_mark mark = place_of(x, rank, receive);
    if (!want) {
        ovl_error(errs, OVL_E_INPUT, mark, "nobody sends what %s waits for", text_of(x, receive));
        return;
    }
    ovl_error_advice(errs, OVL_E_STUCK, mark, advice_of(x),
                     "the next thing sent to where %s stands is for %s: sends meet receives in "
                     "order",
                     text_of(x, receive), text_of(x, want));
}

/* --- Walking the lists --- */

static void see_send(orders *x, const ovl_action *a)
{
    line *l = line_of(x, a);
    if (l) {
        ovl_vec_push(&l->sent, receive_of(a));
    }
}

static void see_receive(orders *x, uint32_t rank, const ovl_action *a)
{
    line *l = line_of(x, a);
    if (!l || l->crossed) {
        return;
    }
    const ovl_action *want = l->met < l->sent.len ? &l->sent.data[l->met] : NULL;
    l->met++;
    if (!want || !same(a, want)) {
        l->crossed = true;
        x->ok = false;
        if (x->tell) {
            tell_crossed(x, rank, a, want);
        }
    }
}

static void see_rest(orders *x, line *l)
{
    if (l->crossed || l->met >= l->sent.len) {
        return;
    }
    x->ok = false;
    if (x->tell) {
        ovl_error(x->p->l->errs, OVL_E_INPUT, x->p->pipe->schedule_mark,
                  "something is sent that needs %s, which is in no list",
                  text_of(x, &l->sent.data[l->met]));
    }
}

static bool walk(orders *x)
{
    x->n = x->apart ? 2 * x->s->n_stages : x->p->channels.len;
    x->lines = OVL_NEW_ARRAY(&x->p->scratch, line, x->n);
    x->ok = true;
    for (int receives = 0; receives < 2; receives++) {
        for (uint32_t r = 0; r < x->s->n_ranks; r++) {
            for (uint32_t i = 0; i < x->s->ranks[r].count; i++) {
                const ovl_action *a = &x->s->ranks[r].item[i];
                if (!receives && is_send(a)) {
                    see_send(x, a);
                } else if (receives && is_receive(a)) {
                    see_receive(x, r, a);
                }
            }
        }
    }
    for (uint32_t k = 0; k < x->n; k++) {
        see_rest(x, &x->lines[k]);
        ovl_vec_free(&x->lines[k].sent);
    }
    return x->ok;
}

static bool in_order(ovl_pipe_plan *p, const ovl_schedule *s, bool apart)
{
    orders x = {.p = p, .s = s, .apart = apart};
    return walk(&x);
}

bool ovl_pipe_check_order(ovl_pipe_plan *p, const ovl_schedule *before)
{
    orders x = {.p = p, .s = &p->schedule, .before = before, .tell = true};
    return walk(&x);
}
