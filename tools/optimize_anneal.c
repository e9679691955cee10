/* Which gradients share a bucket, and in which order the buckets go: annealing. */
#include "tools/optimize_buckets.h"

#include "tools/pool.h"
#include "tools/progress.h"

#include <gsl/gsl_rng.h>
#include <gsl/gsl_siman.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define CHAINS 4  /* whatever the number of threads */
#define EACH   20 /* simulations at one temperature */

typedef struct anneal anneal;

/* A position: GSL copies it as bytes. */
typedef struct spot {
    anneal *chain;
    uint16_t order[]; /* [n], then n bools: the cuts */
} spot;

struct anneal {
    ovl_optimize *o;
    const ovl_gradients *all;
    const ovl_candidate *base;
    atomic_bool *over;
    atomic_uint *tried; /* by all chains */
    ovl_progress *progress;
    ovl_arena arena; /* of the best */
    ovl_candidate best;
    uint32_t number, simulated, useless, failed;
    const char *error; /* of the first that failed */
    uint64_t seed;
    uint32_t tries;
    spot *from;
    size_t size;
};

static bool *cuts_of(spot *at)
{
    return (bool *)(at->order + at->chain->all->n);
}

/* In percent of the start. */
static double energy(void *position)
{
    spot *at = position;
    anneal *a = at->chain;
    ovl_arena scratch = {0};
    double value = 1000;
    uint32_t m = a->o->start->objective;
    if (atomic_load(a->over) || a->simulated == a->tries) {
        return value;
    }
    ovl_candidate c =
        ovl_buckets_candidate(a->base, ovl_buckets_node(a->all, at->order, cuts_of(at), &scratch),
                              a->all->mark, &scratch);
    ovl_candidate_point(a->o, &c, &scratch);
    atomic_fetch_add(a->tried, 1);
    if (c.point.state == OVL_POINT_FAILED && a->failed++ == 0) {
        a->error = ovl_arena_strdup(&a->arena, c.point.error);
    }
    c.point.error = NULL;
    c.number = a->number + a->simulated++;
    if (ovl_candidate_good(a->o, &c)) {
        value = 100.0 * ((double)c.point.figures.value[m] /
                             (double)OVL_MAX(1, a->o->first.point.figures.value[m]) -
                         1);
        if (!a->best.sets || ovl_candidate_better(a->o, &c, &a->best)) {
            ovl_node *kept = ovl_buckets_node(a->all, at->order, cuts_of(at), &a->arena);
            ovl_candidate mine = ovl_buckets_candidate(a->base, kept, a->all->mark, &a->arena);
            mine.point = c.point;
            mine.number = c.number;
            a->best = mine;
        }
    } else {
        a->useless++;
    }
    ovl_arena_free(&scratch);
    return value;
}

static void swap(uint16_t *a, uint16_t *b)
{
    uint16_t x = *a;
    *a = *b;
    *b = x;
}

/* Merges or splits, moves a boundary by one, or exchanges two gradients. */
static void step(const gsl_rng *rng, void *position, double size)
{
    spot *at = position;
    uint32_t n = at->chain->all->n;
    bool *cut = cuts_of(at);
    uint32_t i = (uint32_t)gsl_rng_uniform_int(rng, n - 1);
    (void)size;
    switch (gsl_rng_uniform_int(rng, 4)) {
    case 0:
        cut[i] = !cut[i];
        break;
    case 1:
    case 2:
        if (i + 2 < n) {
            bool other = cut[i];
            cut[i] = cut[i + 1];
            cut[i + 1] = other;
        }
        break;
    default:
        swap(&at->order[i], &at->order[gsl_rng_uniform_int(rng, n)]);
        break;
    }
}

static double distance(void *a, void *b)
{
    return a == b ? 0 : 1;
}

static void anneal_work(void *context, uint32_t thread, uint32_t piece)
{
    anneal *a = &((anneal *)context)[piece];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    /* Chains begin at differences of 1 %, 0.3 %, 0.1 % and 0.03 % of the start, for what can still
     * be gained may be much or little; all end at 0.001 %, after 20 simulations at each step. */
    static const double begin[CHAINS] = {1, 0.3, 0.1, 0.03};
    const uint32_t rounds = a->tries / EACH;
    const double steps = OVL_MAX(2, rounds) - 1;
    const gsl_siman_params_t params = {.n_tries = 1,
                                       .iters_fixed_T = EACH,
                                       .step_size = 1,
                                       .k = 1,
                                       .t_initial = begin[piece],
                                       .mu_t = pow(1000 * begin[piece], 1 / steps),
                                       .t_min = 0.001};
    (void)thread;
    gsl_rng_set(rng, (unsigned long)a->seed);
    gsl_siman_solve(rng, a->from, energy, step, distance, NULL, NULL, NULL, NULL, a->size, params);
    gsl_rng_free(rng);
}

static bool stop(void *context, int signal)
{
    anneal *chains = context;
    if (signal) {
        atomic_store(chains[0].over, true);
    }
    return signal != 0;
}

static void tick(void *context)
{
    const anneal *chains = context;
    ovl_progress_at(chains[0].progress, atomic_load(chains[0].tried));
}

/* A position from a candidate's list of lists. */
static spot *spot_of(anneal *a, const ovl_node *buckets)
{
    a->size = sizeof(spot) + a->all->n * (sizeof(uint16_t) + sizeof(bool));
    spot *at = ovl_arena_alloc(&a->arena, a->size, 16);
    uint32_t i = 0;
    at->chain = a;
    for (uint32_t b = 0; b < buckets->count; b++) {
        for (uint32_t m = 0; m < buckets->items[b]->count; m++, i++) {
            const char *name = buckets->items[b]->items[m]->text;
            uint32_t k = 0;
            while (strcmp(a->all->name[k], name) != 0) {
                k++;
            }
            at->order[i] = (uint16_t)k;
            cuts_of(at)[i] = m + 1 == buckets->items[b]->count;
        }
    }
    return at;
}

void ovl_buckets_anneal(ovl_optimize *o, const ovl_gradients *all, const ovl_candidate *base,
                        const ovl_node *from)
{
    anneal *chains = OVL_NEW_ARRAY(o->arena, anneal, CHAINS);
    atomic_bool over = false;
    atomic_uint tried = 0;
    ovl_progress progress;
    const uint32_t each = ovl_optimize_spare(o) / CHAINS;
    if (each == 0) {
        return;
    }
    for (uint32_t i = 0; i < CHAINS; i++) {
        anneal *a = &chains[i];
        *a = (anneal){.o = o,
                      .all = all,
                      .base = base,
                      .over = &over,
                      .tried = &tried,
                      .progress = &progress,
                      .number = o->made + i * each,
                      .seed = o->seed * CHAINS + i,
                      .tries = each};
        a->from = spot_of(a, from);
    }
    ovl_pool pool = {.threads = o->threads,
                     .n = CHAINS,
                     .context = chains,
                     .work = anneal_work,
                     .tick = tick,
                     .stop = stop};
    ovl_progress_begin(&progress, o->err, "simulations", CHAINS * each);
    o->signal = ovl_pool_run(&pool).signal;
    ovl_progress_end(&progress);
    uint32_t simulated = 0;
    for (uint32_t i = 0; i < CHAINS; i++) {
        anneal *a = &chains[i];
        simulated += a->simulated;
        if (a->best.sets) { /* its texts live in the chain's arena: made once more */
            const ovl_candidate *b = &a->best;
            const ovl_node *list = b->sets[b->n_sets - 1].value;
            spot *at = spot_of(a, list);
            ovl_candidate c = ovl_buckets_candidate(
                base, ovl_buckets_node(all, at->order, cuts_of(at), o->arena), all->mark, o->arena);
            c.point = b->point;
            c.number = b->number;
            ovl_optimize_take(o, &c);
            o->simulated--;
        }
        o->useless += a->useless;
        ovl_optimize_failed(o, a->failed, a->error);
        ovl_arena_free(&a->arena);
    }
    o->made += CHAINS * each;
    o->simulated += simulated;
    ovl_optimize_say(o, ovl_arena_printf(o->arena,
                                         "orders and splits by annealing from the best of these, "
                                         "%s simulations in %d chains, seed %" PRIu64
                                         ": others may be better",
                                         ovl_grouped(simulated, o->arena), CHAINS, o->seed));
}
