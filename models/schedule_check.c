#include "models/schedule_lower.h"

/* What happened so far, for each stage and microbatch. */
enum {
    DID_F = 1,
    DID_I = 2,
    DID_W = 4,
    DID_B = 8,
    DID_SEND_F = 16,
    DID_RECV_F = 32,
    DID_SEND_B = 64,
    DID_RECV_B = 128,
};

typedef struct checker {
    const ovl_schedule *s;
    bool whole;      /* nothing of the list was unreadable */
    bool exchanges;  /* it has sends and receives */
    uint8_t *did;    /* [n_stages * n_microbatches] */
    uint32_t *owner; /* [n_stages] rank + 1; 0: nobody so far */
    ovl_mark mark;
    ovl_errs *errs;
} checker;

/* An action and where it stands. */
typedef struct at {
    const ovl_action *a;
    uint32_t rank, index;
} at;

static ovl_mark place_of(const checker *c, const at *x)
{
    return ovl_schedule_place(c->s, x->rank, x->index, c->mark);
}

static const char *name_of(const checker *c, ovl_action_type type, uint32_t stage,
                           uint32_t microbatch)
{
    return ovl_arena_printf(c->errs->arena, "%" PRIu32 "%s%" PRIu32, stage,
                            ovl_schedule_word(c->s, type), microbatch);
}

static void wrong(checker *c, const at *x, const char *why)
{
    ovl_error(c->errs, OVL_E_INPUT, place_of(c, x), "%s %s",
              name_of(c, (ovl_action_type)x->a->type, x->a->stage, x->a->microbatch), why);
}

static void see_owner(checker *c, const at *x)
{
    uint32_t *owner = &c->owner[x->a->stage];
    if (*owner && *owner != x->rank + 1) {
        ovl_error(c->errs, OVL_E_INPUT, place_of(c, x),
                  "stage %u is on rank %" PRIu32 " and on rank %" PRIu32, x->a->stage, *owner - 1,
                  x->rank);
    }
    *owner = x->rank + 1;
}

static unsigned bit_of(ovl_action_type type)
{
    static const uint8_t bits[OVL_ACT_COUNT] = {
        [OVL_ACT_F] = DID_F,           [OVL_ACT_I] = DID_I,           [OVL_ACT_W] = DID_W,
        [OVL_ACT_B] = DID_B,           [OVL_ACT_SEND_F] = DID_SEND_F, [OVL_ACT_RECV_F] = DID_RECV_F,
        [OVL_ACT_SEND_B] = DID_SEND_B, [OVL_ACT_RECV_B] = DID_RECV_B};
    return bits[type];
}

static uint8_t *did(const checker *c, uint32_t stage, uint32_t microbatch)
{
    return &c->did[(size_t)stage * c->s->n_microbatches + microbatch];
}

/* --- Sends and receives --- */

/* The stage at the other end of a transfer of `stage` towards higher stages or lower ones;
 * OVL_NONE: it has none, or that one is on the same rank. */
static uint32_t other_end(const checker *c, uint32_t stage, bool higher)
{
    const ovl_schedule *s = c->s;
    if (higher ? ovl_schedule_last(s, stage) : ovl_schedule_first(s, stage)) {
        return OVL_NONE;
    }
    uint32_t other = higher ? stage + 1 : stage - 1;
    return s->rank_of[other] == s->rank_of[stage] ? OVL_NONE : other;
}

static void see_transfer(checker *c, const at *x, unsigned done)
{
    unsigned type = x->a->type;
    bool higher = type == OVL_ACT_SEND_F || type == OVL_ACT_RECV_B;
    if (other_end(c, x->a->stage, higher) == OVL_NONE) {
        wrong(c, x, "has no other rank to exchange with");
    } else if (type == OVL_ACT_SEND_F && c->whole && !(done & DID_F)) {
        wrong(c, x, "comes before the forward whose result it sends");
    } else if (type == OVL_ACT_SEND_B && c->whole && !(done & (DID_I | DID_B))) {
        wrong(c, x, "comes before the backward whose result it sends");
    }
}

/* A forward or backward whose input comes from another rank. */
static void see_input(checker *c, const at *x, unsigned done)
{
    bool forward = x->a->type == OVL_ACT_F;
    uint32_t other = other_end(c, x->a->stage, !forward);
    if (other != OVL_NONE && !(done & (forward ? DID_RECV_F : DID_RECV_B))) {
        ovl_error(
            c->errs, OVL_E_INPUT, place_of(c, x),
            "%s needs %s before it: its input comes from stage %" PRIu32 " on rank %" PRIu32,
            name_of(c, (ovl_action_type)x->a->type, x->a->stage, x->a->microbatch),
            name_of(c, forward ? OVL_ACT_RECV_F : OVL_ACT_RECV_B, x->a->stage, x->a->microbatch),
            other, c->s->rank_of[other]);
    }
}

/* A receive that nobody sends for, and a send of what is computed, but never received. */
static void see_match(checker *c, const at *x)
{
    unsigned type = x->a->type;
    bool higher = type == OVL_ACT_SEND_F || type == OVL_ACT_RECV_B;
    bool receive = type == OVL_ACT_RECV_F || type == OVL_ACT_RECV_B;
    bool forward = type == OVL_ACT_SEND_F || type == OVL_ACT_RECV_F;
    uint32_t other = other_end(c, x->a->stage, higher);
    if (other == OVL_NONE) {
        return;
    }
    unsigned there = *did(c, other, x->a->microbatch);
    ovl_action_type mate = receive   ? forward ? OVL_ACT_SEND_F : OVL_ACT_SEND_B
                           : forward ? OVL_ACT_RECV_F
                                     : OVL_ACT_RECV_B;
    if (!(there & bit_of(mate))) {
        ovl_error(c->errs, OVL_E_INPUT, place_of(c, x), "%s has no %s on rank %" PRIu32 ": %s",
                  name_of(c, (ovl_action_type)type, x->a->stage, x->a->microbatch),
                  name_of(c, mate, other, x->a->microbatch), c->s->rank_of[other],
                  receive ? "nobody sends what it waits for" : "nobody receives what it sends");
    }
}

/* --- One action after the other --- */

static void see(checker *c, const at *x)
{
    if (x->a->type == OVL_ACT_NONE) {
        return;
    }
    see_owner(c, x);
    unsigned bit = bit_of((ovl_action_type)x->a->type);
    if (!bit) {
        return;
    }
    uint8_t *done = did(c, x->a->stage, x->a->microbatch);
    bool backward = bit == DID_I || bit == DID_B;
    if (*done & bit) {
        wrong(c, x, "is there twice");
    } else if (bit >= DID_SEND_F) {
        see_transfer(c, x, *done);
    } else if (backward && !(*done & DID_F) && c->whole) {
        wrong(c, x, "comes before the forward of that microbatch");
    } else if (bit == DID_W && !(*done & DID_I) && c->whole) {
        wrong(c, x,
              ovl_arena_printf(c->errs->arena,
                               "comes before the input backward (%s) of that microbatch",
                               ovl_schedule_word(c->s, OVL_ACT_I)));
    } else if ((bit == DID_B && (*done & DID_I)) || (bit == DID_I && (*done & DID_B))) {
        wrong(c, x, "repeats a backward that already ran");
    } else if ((bit == DID_F || backward) && c->exchanges && c->whole) {
        see_input(c, x, *done);
    }
    *done |= (uint8_t)bit;
}

static void each(checker *c, void (*look)(checker *c, const at *x), bool exchanges)
{
    for (uint32_t r = 0; r < c->s->n_ranks; r++) {
        for (uint32_t i = 0; i < c->s->ranks[r].count; i++) {
            at x = {&c->s->ranks[r].item[i], r, i};
            if (!exchanges || (x.a->type >= OVL_ACT_SEND_F && x.a->type <= OVL_ACT_RECV_B)) {
                look(c, &x);
            }
        }
    }
}

/* --- What is not there --- */

/* The microbatches of a stage are those of its chain; the first of them that lacks one of `bits`
 * (of those that have one of `among`, if that is not 0), and how many have one. */
static uint32_t first_without(const checker *c, uint32_t stage, unsigned bits, unsigned among,
                              uint32_t *n)
{
    uint32_t m = c->s->n_microbatches / c->s->n_chains, first = OVL_NONE;
    uint32_t from = stage / ovl_schedule_chain(c->s) * m;
    *n = 0;
    for (uint32_t k = from; k < from + m; k++) {
        unsigned done = *did(c, stage, k);
        bool has = (done & bits) != 0, counts = !among || (done & among);
        first = counts && !has && first == OVL_NONE ? k : first;
        *n += has;
    }
    return first;
}

static void lacks(const checker *c, uint32_t stage, ovl_action_type type, uint32_t microbatch,
                  const char *why)
{
    uint32_t rank = c->s->rank_of[stage];
    ovl_error(c->errs, OVL_E_INPUT,
              ovl_schedule_place(c->s, rank, c->s->ranks[rank].count, c->mark),
              "rank %" PRIu32 " has no %s: %s", rank, name_of(c, type, stage, microbatch), why);
}

static void count_stage(checker *c, uint32_t stage)
{
    uint32_t m = c->s->n_microbatches / c->s->n_chains, n, inputs;
    const char *of =
        ovl_arena_printf(c->errs->arena, "for %" PRIu32 " microbatch%s", m, m == 1 ? "" : "es");
    const char *input = ovl_schedule_word(c->s, OVL_ACT_I);
    uint32_t k = first_without(c, stage, DID_F, 0, &n);
    if (k != OVL_NONE) {
        lacks(c, stage, OVL_ACT_F, k,
              ovl_arena_printf(c->errs->arena, "stage %" PRIu32 " has %" PRIu32 " forward%s %s",
                               stage, n, n == 1 ? "" : "s", of));
    }
    k = first_without(c, stage, DID_I | DID_B, 0, &n);
    if (k != OVL_NONE) {
        lacks(c, stage, OVL_ACT_B, k,
              ovl_arena_printf(c->errs->arena, "stage %" PRIu32 " has %" PRIu32 " backward%s %s",
                               stage, n, n == 1 ? "" : "s", of));
    }
    first_without(c, stage, DID_I, 0, &inputs);
    k = first_without(c, stage, DID_W, DID_I, &n);
    if (k != OVL_NONE) {
        lacks(c, stage, OVL_ACT_W, k,
              ovl_arena_printf(
                  c->errs->arena,
                  "stage %" PRIu32 " has %" PRIu32 " input backward%s (%s) and %" PRIu32
                  " weight backward%s (W); each %s needs its W",
                  stage, inputs, inputs == 1 ? "" : "s", input, n, n == 1 ? "" : "s", input));
    }
}

/* PyTorch's reader takes a blank line, the last one, too, for a rank without actions. */
static void see_rows(checker *c)
{
    for (uint32_t r = 0; r < c->s->n_ranks; r++) {
        const ovl_actions *row = &c->s->ranks[r];
        uint32_t i = 0;
        while (i < row->count && row->item[i].type == OVL_ACT_NONE) {
            i++;
        }
        if (i == row->count && c->whole) {
            ovl_error(c->errs, OVL_E_INPUT, ovl_schedule_place(c->s, r, row->count, c->mark),
                      "rank %" PRIu32 " does nothing: each row is a rank, a blank line, too, as "
                      "PyTorch reads it, and each rank has a stage; take the row out, or say what "
                      "the rank does",
                      r);
        }
    }
}

/* A right list has an action for each stage and microbatch; a slip of the pen in a number must not
 * fill memory. */
static bool is_plausible(const ovl_schedule *s, ovl_mark mark, ovl_errs *errs)
{
    uint64_t cells = (uint64_t)s->n_stages * s->n_microbatches, actions = 0;
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        actions += s->ranks[r].count;
    }
    if (cells > 64 * actions + 4096) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "%" PRIu64 " actions are too few for stages up to %" PRIu32
                  " and microbatches up to %" PRIu32,
                  actions, s->n_stages - 1, s->n_microbatches - 1);
        return false;
    }
    return true;
}

bool ovl_schedule_check(const ovl_schedule *s, bool whole, ovl_mark mark, ovl_errs *errs)
{
    uint32_t errors = errs->errors;
    ovl_arena scratch = {0};
    if (!is_plausible(s, mark, errs)) {
        return false;
    }
    checker c = {.s = s, .whole = whole, .mark = mark, .errs = errs};
    c.exchanges = ovl_schedule_has(s, OVL_ACT_SEND_F, OVL_ACT_RECV_B);
    c.did = OVL_NEW_ARRAY(&scratch, uint8_t, (size_t)s->n_stages * s->n_microbatches);
    c.owner = OVL_NEW_ARRAY(&scratch, uint32_t, s->n_stages);
    see_rows(&c);
    each(&c, see, false);
    if (whole && c.exchanges) {
        each(&c, see_match, true);
    }
    for (uint32_t stage = 0; whole && stage < s->n_stages; stage++) {
        count_stage(&c, stage);
    }
    ovl_arena_free(&scratch);
    return errs->errors == errors;
}
