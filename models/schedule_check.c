#include "models/schedule.h"

/* What happened so far, for each stage and microbatch. */
enum { DID_F = 1, DID_I = 2, DID_W = 4, DID_B = 8 };

typedef struct checker {
    const ovl_schedule *s;
    uint8_t *did;    /* [n_stages * n_microbatches] */
    uint32_t *owner; /* [n_stages] rank + 1; 0: nobody so far */
    ovl_mark mark;
    ovl_errs *errs;
} checker;

static void wrong(checker *c, const ovl_action *a, const char *why)
{
    ovl_error(c->errs, OVL_E_INPUT, c->mark, "%" PRIu32 "%s%" PRIu32 " %s", (uint32_t)a->stage,
              ovl_action_name((ovl_action_type)a->type), a->microbatch, why);
}

static void see_owner(checker *c, uint32_t stage, uint32_t rank)
{
    if (c->owner[stage] && c->owner[stage] != rank + 1) {
        ovl_error(c->errs, OVL_E_INPUT, c->mark,
                  "stage %" PRIu32 " is on rank %" PRIu32 " and on rank %" PRIu32, stage,
                  c->owner[stage] - 1, rank);
    }
    c->owner[stage] = rank + 1;
}

static unsigned bit_of(ovl_action_type type)
{
    static const uint8_t bits[OVL_ACT_COUNT] = {
        [OVL_ACT_F] = DID_F, [OVL_ACT_I] = DID_I, [OVL_ACT_W] = DID_W, [OVL_ACT_B] = DID_B};
    return bits[type];
}

static void see(checker *c, const ovl_action *a, uint32_t rank)
{
    if (a->type == OVL_ACT_NONE) {
        return;
    }
    see_owner(c, a->stage, rank);
    unsigned bit = bit_of((ovl_action_type)a->type);
    if (!bit) {
        return;
    }
    uint8_t *did = &c->did[(size_t)a->stage * c->s->n_microbatches + a->microbatch];
    if (*did & bit) {
        wrong(c, a, "is there twice");
    } else if ((bit == DID_I || bit == DID_B) && !(*did & DID_F)) {
        wrong(c, a, "comes before the forward of that microbatch");
    } else if (bit == DID_W && !(*did & DID_I)) {
        wrong(c, a, "comes before the input backward (I) of that microbatch");
    } else if ((bit == DID_B && (*did & DID_I)) || (bit == DID_I && (*did & DID_B))) {
        wrong(c, a, "repeats a backward that already ran");
    }
    *did |= (uint8_t)bit;
}

/* Microbatches of a stage: those of its chain. */
static void count_stage(checker *c, uint32_t stage)
{
    uint32_t m = c->s->n_microbatches / c->s->n_chains, n[4] = {0};
    for (uint32_t k = 0; k < c->s->n_microbatches; k++) {
        unsigned did = c->did[(size_t)stage * c->s->n_microbatches + k];
        for (unsigned b = 0; b < 4; b++) {
            n[b] += did >> b & 1;
        }
    }
    if (n[0] != m) {
        ovl_error(c->errs, OVL_E_INPUT, c->mark,
                  "stage %" PRIu32 " has %" PRIu32 " forwards for %" PRIu32 " microbatches", stage,
                  n[0], m);
    }
    if (n[1] != n[2]) {
        ovl_error(c->errs, OVL_E_INPUT, c->mark,
                  "stage %" PRIu32 " has %" PRIu32 " input backwards (I) and %" PRIu32
                  " weight backwards (W); each I needs its W",
                  stage, n[1], n[2]);
    } else if (n[3] + n[1] != m) {
        ovl_error(c->errs, OVL_E_INPUT, c->mark,
                  "stage %" PRIu32 " has %" PRIu32 " backwards for %" PRIu32 " microbatches", stage,
                  n[3] + n[1], m);
    }
}

bool ovl_schedule_check(const ovl_schedule *s, ovl_mark mark, ovl_errs *errs)
{
    uint32_t errors = errs->errors;
    ovl_arena scratch = {0};
    checker c = {.s = s, .mark = mark, .errs = errs};
    c.did = OVL_NEW_ARRAY(&scratch, uint8_t, (size_t)s->n_stages * s->n_microbatches);
    c.owner = OVL_NEW_ARRAY(&scratch, uint32_t, s->n_stages);
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        for (uint32_t i = 0; i < s->ranks[r].count; i++) {
            see(&c, &s->ranks[r].item[i], r);
        }
    }
    for (uint32_t stage = 0; stage < s->n_stages; stage++) {
        count_stage(&c, stage);
    }
    ovl_arena_free(&scratch);
    return errs->errors == errors;
}
