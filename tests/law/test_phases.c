/*
 * test_phases.c - a collective that goes through several phases is, to the picosecond, what the
 * phases would be as collectives of their own, one behind another on one stream: what runs beside
 * it ends when it did, phases end when those collectives do, and ranks spend their time alike.
 */
#include "sim/engine.h"
#include "tests/support/check.h"
#include "tests/support/law.h"
#include "tests/support/random_program.h"

#include <stdio.h>
#include <string.h>

#define PROGRAMS 2000
#define RANKS    4
#define GROUPS   3 /* communicators: of all, and of pairs twice */
#define PARTS    3
#define OPS      40

/* An operation as it is drawn: a kernel, or a collective of some parts. */
typedef struct drawn {
    uint32_t group, n_parts; /* GROUPS: a kernel */
    uint32_t after;          /* it waits for the one so far behind it; 0: for none */
    uint32_t first;          /* the first rank of its communicator; its own, of a kernel */
    ovl_cost part[PARTS];
    ovl_cost_kind kind[PARTS];
    ovl_demand demands[PARTS][2];
} drawn;

typedef struct lab {
    ovl_arena arena;
    ovl_errs errs;
    ovl_program p;
    ovl_timeline t;
    uint32_t last[RANKS][OPS]; /* by rank and operation as it was drawn: the local one that ends it
                                */
    bool there[RANKS][OPS];
} lab;

static ovl_time duration(uint64_t *random)
{
    ovl_time us = 1 + random_next(random) % 20;
    return random_next(random) % 3 ? us * OVL_US : us * OVL_US + random_next(random) % 1000000;
}

static void draw_op(uint64_t *random, drawn *d)
{
    memset(d, 0, sizeof *d);
    d->group = random_next(random) % (GROUPS + 1);
    d->n_parts = d->group == GROUPS ? 1 : 1 + random_next(random) % PARTS;
    d->first = random_next(random) % RANKS;
    d->first = d->group == GROUPS ? d->first : d->group ? d->first & ~1u : 0;
    d->after = random_next(random) % 6;
    ovl_id klass = random_next(random) % 2 ? 0 : OVL_NONE;
    uint32_t sms = d->group == GROUPS ? 80 : random_next(random) % 20;
    for (uint32_t i = 0; i < d->n_parts; i++) {
        bool latent = d->group < GROUPS && random_next(random) % 2;
        d->part[i].latency = latent ? duration(random) : 0;
        d->part[i].work = latent && random_next(random) % 4 == 0 ? 0 : duration(random);
        d->part[i].compute = d->group == GROUPS ? d->part[i].work : 0;
        d->kind[i] = (ovl_cost_kind){.sms = sms, .klass = klass};
        d->kind[i].weight = 1 / (double)(1 + random_next(random) % 50);
        d->demands[i][0] = (ovl_demand){OVL_PORT_HBM, false, random_next(random) % 900};
        d->demands[i][1] = (ovl_demand){1, random_next(random) % 2, random_next(random) % 140};
    }
}

/* All parts in one cost, or part `i` alone. */
static ovl_id add_cost(ovl_builder *b, const drawn *d, uint32_t i, bool all)
{
    uint32_t n = d->group == GROUPS ? 1 : 2;
    ovl_cost cost = d->part[i];
    for (uint32_t k = d->n_parts; all && k > 1; k--) {
        ovl_cost phase = d->part[k - 1];
        phase.then = cost.then;
        cost.then = ovl_add_phase(b, &phase, &d->kind[k - 1], d->demands[k - 1], n);
    }
    return ovl_add_cost(b, &cost, &d->kind[i], d->demands[i], n, NULL, 0);
}

static void add_ops(lab *l, ovl_builder *b, const drawn *ops, uint32_t at, uint32_t rank,
                    bool apart)
{
    const drawn *d = &ops[at];
    static const char *const streams[] = {"all", "pair", "other", "compute"};
    uint32_t n = apart ? d->n_parts : 1;
    for (uint32_t i = 0; i < n; i++) {
        ovl_op op = {.kind = d->group == GROUPS ? OVL_KERNEL : OVL_COLLECTIVE,
                     .comm = d->group == GROUPS ? OVL_NO_COMM : (uint16_t)d->group,
                     .stream = ovl_add_stream(b, rank, streams[d->group]),
                     .bytes = d->group == GROUPS ? 0 : 1000,
                     .name = ovl_name(b, streams[d->group]),
                     .cost = add_cost(b, d, i, !apart),
                     .batch = OVL_NONE};
        l->last[rank][at] = ovl_add_op(b, rank, &op);
        bool waits = i == 0 && d->after && d->after <= at && l->there[rank][at - d->after];
        if (waits) {
            ovl_add_after(b, rank, l->last[rank][at - d->after]);
        }
    }
    l->there[rank][at] = true;
}

static void add_hardware(ovl_builder *b, ovl_id ports[][2])
{
    static const uint32_t all[] = {0, 1, 2, 3};
    ovl_id hbm = ovl_name(b, "hbm"), link = ovl_name(b, "link"), shared = OVL_NONE;
    b->n_ports = 2;
    b->sms = 100;
    ovl_vec_push(&b->kernel_classes, ovl_name(b, "k"));
    ovl_vec_push(&b->coll_classes, ovl_name(b, "c"));
    ovl_vec_push(&b->pairs, ((ovl_pair){1.5, 1.25}));
    for (uint32_t r = 0; r < RANKS; r++) {
        ports[r][0] = ovl_add_resource(b, &(ovl_resource){hbm, OVL_RES_HBM, r, 1000});
        shared =
            r % 2 ? shared : ovl_add_resource(b, &(ovl_resource){link, OVL_RES_LINK, r / 2, 150});
        ports[r][1] = shared;
    }
    ovl_change_capacity(b, shared, 70 * OVL_US, 60);
    ovl_add_comm(b, ovl_name(b, "all"), all, RANKS);
    for (uint32_t g = 1; g < GROUPS; g++) {
        ovl_add_comm(b, ovl_name(b, "pair"), all, 2);
        ovl_add_comm(b, ovl_name(b, "pair"), all + 2, 2);
    }
}

static void build(lab *l, const drawn *ops, bool apart)
{
    ovl_builder b;
    ovl_id ports[RANKS][2];
    memset(l, 0, sizeof *l);
    l->errs.arena = &l->arena;
    ovl_builder_init(&b, &l->arena);
    add_hardware(&b, ports);
    for (uint32_t r = 0; r < RANKS; r++) {
        ovl_add_code(&b);
        for (uint32_t g = 0; g < GROUPS; g++) {
            ovl_add_slot(&b, r);
        }
        for (uint32_t i = 0; i < OPS; i++) {
            uint32_t n = ops[i].group == GROUPS ? 1 : ops[i].group ? 2 : RANKS;
            if (r >= ops[i].first && r < ops[i].first + n) {
                add_ops(l, &b, ops, i, r, apart);
            }
        }
        ovl_id comms[] = {0, 1 + r / 2, 3 + r / 2};
        ovl_add_rank(&b, r, 0, comms, ports[r]);
    }
    CHECK(ovl_freeze(&b, &l->p, &l->errs));
}

/* The ends of the parts but the last, of a collective in one and in several. */
static uint64_t differing_parts(const lab *one, const lab *apart, const drawn *d, uint32_t rank,
                                uint32_t i)
{
    uint32_t a = one->p.ranks[rank].first_op + one->last[rank][i];
    uint32_t b = apart->p.ranks[rank].first_op + apart->last[rank][i];
    const ovl_cost *cost = ovl_op_cost(&one->p, rank, ovl_op_of(&one->p, a));
    uint64_t wrong = one->t.end[a] != apart->t.end[b];
    uint32_t k = d->n_parts;
    if (rank != d->first) {
        return wrong; /* the carrier alone has ends of phases */
    }
    ovl_phase_walk w = ovl_phases_begin(&one->t, a, cost, one->t.start[a], one->t.end[a]);
    for (; w.phase; ovl_phases_next(&one->p, &one->t, one->t.end[a], &w)) {
        k--;
        wrong += w.from != apart->t.start[b - k] || w.to != apart->t.end[b - k];
    }
    return wrong + (d->group < GROUPS && k != 0);
}

static ovl_time lost_in(const ovl_timeline *t)
{
    ovl_time sum = 0;
    for (uint32_t i = 0; i < t->n_limits; i++) {
        sum += t->limits[i].lost;
    }
    return sum;
}

static uint64_t differing_ranks(const lab *one, const lab *apart)
{
    uint64_t wrong = 0;
    for (uint32_t r = 0; r < RANKS; r++) {
        const ovl_rank_times *x = &one->t.ranks[r], *y = &apart->t.ranks[r];
        wrong += memcmp(x->term, y->term, sizeof x->term) != 0 || x->hidden != y->hidden;
    }
    return wrong;
}

/* Which transfer is the first among equally fast ones goes by the number of the operation, which is
 * another one where phases are apart: so what is hidden of it is not compared. */
static void phases_are_collectives_in_sequence(void)
{
    uint64_t wrong = 0, phases = 0, lost = 0;
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        uint64_t random = seed;
        drawn ops[OPS];
        for (uint32_t i = 0; i < OPS; i++) {
            draw_op(&random, &ops[i]);
        }
        lab one, apart;
        ovl_run_options how = {.interference = (ovl_interference)(seed % 3)};
        build(&one, ops, false);
        build(&apart, ops, true);
        if (!CHECK(ovl_run(&one.p, &how, &one.arena, &one.t, &one.errs) &&
                   ovl_run(&apart.p, &how, &apart.arena, &apart.t, &apart.errs))) {
            return;
        }
        uint64_t here = differing_ranks(&one, &apart) + (lost_in(&one.t) != lost_in(&apart.t));
        for (uint32_t r = 0; r < RANKS; r++) {
            for (uint32_t i = 0; i < OPS; i++) {
                here += one.there[r][i] ? differing_parts(&one, &apart, &ops[i], r, i) : 0;
            }
        }
        if (here && !wrong) {
            printf("seed %llu: %llu\n", (unsigned long long)seed, (unsigned long long)here);
        }
        wrong += here;
        phases += one.t.n_phase_ends;
        lost += lost_in(&one.t) > 0;
        ovl_arena_free(&one.arena);
        ovl_arena_free(&apart.arena);
    }
    CHECK_INT(wrong, 0);
    CHECK(phases > 10 * PROGRAMS && lost > PROGRAMS / 2); /* there was something to see */
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"phases are collectives in sequence", phases_are_collectives_in_sequence},
        CU_TEST_INFO_NULL,
    };
    return check_main("law_phases", tests);
}
