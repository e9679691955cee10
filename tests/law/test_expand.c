/*
 * test_expand.c - laws of collectives in steps, on random small jobs: where they take as long as
 * the one activity, and by how much they differ where they do not; it prints the table of
 * docs/model.md. And on random programs: they still finish, fold, and prove the same gradients.
 */
#include "sim/expand.h"
#include "sim/fold.h"
#include "sim/result.h"
#include "tests/support/check.h"
#include "tests/support/law.h"
#include "tests/support/random_program.h"
#include "tests/support/ring_job.h"
#include "tests/support/symmetric_program.h"

#include <stdio.h>
#include <string.h>

#define CASES 1000

/* What is uneven about a job. */
typedef enum uneven {
    LATE = 1,
    LINKS = 2,    /* links out of different speed */
    KERNEL = 4,   /* a kernel shares the HBM of one member */
    KERNELS = 8,  /* ... and of each */
    CHANGES = 16, /* links change their speed */
    BETWEEN = 32, /* kernels of different length between collectives */
    CHAIN = 64,   /* broadcast or reduce, else the other four */
    SHARED = 128, /* two members to a link */
    PAIRWISE = 256,
} uneven;

/* How many cases agree at least, and the widest differences in percent over the usual seeds: those
 * measured, rounded away from 0. */
typedef struct situation {
    const char *name;
    uint32_t uneven, exact, nearly;
    double shorter, longer;
} situation;

static uint32_t draw(uint64_t *state, uint32_t below)
{
    return random_next(state) % below;
}

static ovl_coll coll_of(uint64_t *state, uint32_t how)
{
    static const ovl_coll rings[] = {OVL_ALL_REDUCE, OVL_REDUCE_SCATTER, OVL_ALL_GATHER,
                                     OVL_ALL_TO_ALL};
    if (how & CHAIN) {
        return draw(state, 2) ? OVL_BROADCAST : OVL_REDUCE;
    }
    return how & PAIRWISE ? OVL_ALL_TO_ALL : rings[draw(state, how & SHARED ? 3 : 4)];
}

/* 2 to 8 members, 1 to 3 collectives of 1 to 10 ms; times up to 10 ms. */
static ring_job job_of(uint32_t how, uint64_t seed)
{
    uint64_t s = seed * 2654435761u + how;
    ring_job job = {.n = 2 + draw(&s, 7), .times = 1 + draw(&s, 3), .coll = coll_of(&s, how)};
    job.n += how & SHARED ? job.n % 2 : 0;
    job.gpus = how & SHARED ? 2 : 0;
    job.root = draw(&s, job.n);
    job.latency = draw(&s, 2) ? draw(&s, 20) * OVL_US : 0;
    job.work = OVL_MS + 1000 * (ovl_time)draw(&s, 9000000);
    job.wire = 100;
    job.hbm = 200 + draw(&s, 300);
    job.kernel_hbm = 600 + draw(&s, 400);
    uint32_t busy = draw(&s, job.n);
    for (uint32_t r = 0; r < job.n; r++) {
        ovl_time some[4];
        for (uint32_t i = 0; i < 4; i++) {
            some[i] = 1000 * (ovl_time)draw(&s, 10000000);
        }
        job.late[r] = how & LATE ? some[0] : 0;
        job.between[r] = how & BETWEEN ? some[1] : 0;
        job.beside[r] = how & KERNELS || (how & KERNEL && r == busy) ? some[2] : 0;
        job.out[r] = how & LINKS ? 40 + (uint64_t)(some[3] % 60) : how & CHANGES ? 100 : 0;
    }
    job.n_changes = how & CHANGES ? 4 : 0;
    for (uint32_t i = 0; i < job.n_changes; i++) {
        job.changes[i] =
            (ring_change){draw(&s, job.n), 1000 * (ovl_time)draw(&s, 20000000), 30 + draw(&s, 70)};
    }
    return job;
}

typedef struct measured {
    uint32_t exact;  /* to the picosecond */
    uint32_t nearly; /* up to one ps a step, those included */
    double shorter, longer, median;
} measured;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint32_t steps_of(const ring_job *job)
{
    uint32_t rounds = job->coll == OVL_ALL_REDUCE ? 2 : job->coll > OVL_ALL_GATHER ? 5 : 1;
    return job->times * rounds * job->n;
}

static measured measure(const situation *s)
{
    measured m = {0};
    double apart[CASES];
    for (uint64_t i = 0; i < CASES; i++) {
        ovl_arena arena = {0};
        ring_job job = job_of(s->uneven, law_seed() + i);
        ovl_time one = ring_job_run(&job, 0, &arena).step;
        ovl_time steps = ring_job_run(&job, 16, &arena).step, more = steps - one;
        double part = 100 * (double)more / (double)one;
        m.exact += more == 0;
        m.nearly += (more < 0 ? -more : more) <= steps_of(&job);
        m.shorter = part < m.shorter ? part : m.shorter;
        m.longer = part > m.longer ? part : m.longer;
        apart[i] = part < 0 ? -part : part;
        ovl_arena_free(&arena);
    }
    qsort(apart, CASES, sizeof *apart, by_size);
    m.median = apart[CASES / 2];
    return m;
}

static const situation situations[] = {
    {"all at once, nothing beside", 0, CASES, CASES, 0, 0},
    {"late members", LATE, CASES, CASES, 0, 0},
    {"other kernels between collectives", LATE | BETWEEN, CASES, CASES, 0, 0},
    {"links of different speed", LINKS, CASES / 2, CASES, -0.01, 0.01},
    {"rings, two members to a link", SHARED | LINKS, CASES / 3, CASES, -0.01, 0.01},
    {"a kernel on one member's HBM", KERNEL, CASES / 3, CASES / 2, -0.01, 0.2},
    {"kernels on every member's HBM", KERNELS, CASES / 3, CASES / 2, -0.01, 0.2},
    {"late, and links of different speed", LATE | LINKS, CASES / 4, CASES / 2, -12, 0.01},
    {"links that change their speed", CHANGES, CASES / 5, CASES / 4, -26, 0.1},
    {"all of that", LATE | LINKS | KERNELS | CHANGES | BETWEEN, 0, 0, -19, 1},
    {"all-to-all, two members to a link", SHARED | LINKS | PAIRWISE, 0, 0, -1, 7},
    {"chains, all at once", CHAIN, 0, 0, 0, 21.43},
    {"chains, all of that", CHAIN | LATE | LINKS | KERNELS | CHANGES | BETWEEN, 0, 0, -54, 15},
};

static void it_is_known_where_the_two_agree(void)
{
    printf("\n%-36s %6s %7s %9s %10s %10s\n", "of 1,000 jobs", "exact", "nearly", "median %",
           "shorter %", "longer %");
    for (uint32_t i = 0; i < OVL_COUNT(situations); i++) {
        const situation *s = &situations[i];
        measured m = measure(s);
        printf("%-36s %6u %7u %9.3f %10.2f %10.2f\n", s->name, m.exact, m.nearly, m.median,
               m.shorter, m.longer);
        CHECK(m.exact >= s->exact);
        CHECK(m.nearly >= s->nearly);
        CHECK(law_seed() > 0 || (m.shorter >= s->shorter && m.longer <= s->longer));
    }
}

/* --- Random programs --- */

#define PROGRAMS 300

/* Everybody waits for the same as before, so a program that could finish still can. */
static void a_program_in_steps_finishes(void)
{
    uint32_t larger = 0;
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        ovl_arena arena = {0};
        ovl_errs errs = {.arena = &arena};
        ovl_timeline t;
        ovl_program steps;
        random_options options = {
            .seed = seed, .n_ranks = 2 + 2 * (uint32_t)(seed % 6), .n_actions = 60, .prefix = ""};
        ovl_program p = random_program(&options, &arena);
        ovl_run_options how = {.interference = (ovl_interference)(seed % 2)};
        CHECK(ovl_expand(&p, 2 + (uint32_t)(seed % 12), &arena, &steps, &errs));
        CHECK(ovl_run(&steps, &how, &arena, &t, &errs));
        larger += steps.n_ops > 2 * p.n_ops;
        ovl_arena_free(&arena);
    }
    CHECK(larger > PROGRAMS / 2);
}

/* Times of one of each class are those of all, and gradients are what they were. */
static void a_program_in_steps_folds(void)
{
    uint32_t folded = 0;
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        ovl_arena arena = {0};
        ovl_errs errs = {.arena = &arena};
        symmetric_options options = {seed, 30, seed % 2 == 0, 0, seed % 4 == 1};
        ovl_program p = symmetric_program(&options, &arena), steps;
        ovl_analyse_options how = {.interference = (ovl_interference)(seed % 2),
                                   .worth = OVL_WORTH_NONE};
        ovl_result one, all, before;
        CHECK(ovl_expand(&p, 16, &arena, &steps, &errs));
        bool good = ovl_analyse(&p, &how, &arena, &before, NULL, &errs);
        CHECK_INT(ovl_analyse(&steps, &how, &arena, &one, NULL, &errs), good);
        how.no_fold = true;
        CHECK_INT(ovl_analyse(&steps, &how, &arena, &all, NULL, &errs), good);
        if (good) {
            CHECK_INT(one.step, all.step);
            CHECK_INT(one.comm_total, all.comm_total);
            CHECK_INT(one.n_hazards, all.n_hazards);
            CHECK_INT(one.gradient_digest, all.gradient_digest);
            CHECK_INT(one.reserved_peak, all.reserved_peak);
            CHECK_INT(one.reserved_peak, before.reserved_peak);
            CHECK_INT(one.gradients_proved, before.gradients_proved);
            CHECK_INT(one.gradient_digest, before.gradient_digest);
            folded += one.n_folded > 0;
        }
        ovl_arena_free(&arena);
    }
    CHECK(folded > PROGRAMS / 4); /* members of a chain are not alike */
}

static CU_TestInfo tests[] = {
    {"it is known where the two agree", it_is_known_where_the_two_agree},
    {"a program in steps finishes", a_program_in_steps_finishes},
    {"a program in steps folds", a_program_in_steps_folds},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("laws of collectives in steps", tests);
}
