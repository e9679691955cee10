/* Which gradients share a bucket: every split of a short list, annealing of a long one. */
#include "tools/optimize.h"

#include "models/lower.h"
#include "tools/pool.h"
#include "tools/progress.h"

#include <gsl/gsl_rng.h>
#include <gsl/gsl_siman.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define KEY        "overlap.ddp.buckets"
#define CHAINS     4 /* of annealing, whatever the number of threads */
#define BATCH      4096
#define MOST_NAMES 4096

/* Gradients in the order the start puts them. */
typedef struct names {
    const char **name;
    uint32_t n;
    ovl_mark mark;
    ovl_time optimizer; /* runs behind the last of them */
} names;

static bool find_names(ovl_optimize *o, const ovl_candidate *base, names *all, ovl_errs *errs)
{
    const ovl_sweep *s = o->start;
    ovl_arena scratch = {0};
    ovl_scenario scenario;
    ovl_lowered lowered;
    OVL_VEC(const char *) list = {0};
    ovl_set *sets = OVL_NEW_ARRAY(o->arena, ovl_set, (size_t)s->n_sets + base->n_sets);
    for (uint32_t i = 0; i < s->n_sets + base->n_sets; i++) {
        sets[i] = i < s->n_sets ? s->sets[i] : base->sets[i - s->n_sets];
    }
    bool good = ovl_scenario_decode(s->doc, base->variant ? base->variant : s->variant, sets,
                                    s->n_sets + base->n_sets, &scenario, o->arena, errs) &&
                ovl_lower(&scenario, &scratch, &lowered, errs);
    for (uint32_t b = 0; good && b < lowered.n_buckets; b++) {
        for (uint32_t m = 0; m < lowered.buckets[b].n_members; m++) {
            ovl_vec_push(&list, ovl_arena_strdup(o->arena, lowered.buckets[b].members[m]));
        }
    }
    all->n = list.len;
    all->name = ovl_vec_freeze(&list, o->arena);
    all->mark = (ovl_mark){"--buckets", 0, 0};
    all->optimizer = good ? scenario.workload.optimizer.duration : 0;
    ovl_arena_free(&scratch);
    if (good && (all->n < 2 || all->n > MOST_NAMES)) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                  "the scenario has %" PRIu32
                  " gradients in buckets of overlap.ddp: there is nothing to split",
                  all->n);
        good = false;
    }
    return good;
}

/* --- Splits as candidates --- */

/* Gradients order[0], order[1], ...; a bucket ends behind i where cut[i]. */
static ovl_node *node_of(const names *all, const uint16_t *order, const bool *cut, ovl_arena *arena)
{
    ovl_node *list = OVL_NEW(arena, ovl_node), *bucket = NULL;
    *list = (ovl_node){.kind = OVL_NODE_LIST, .mark = all->mark};
    for (uint32_t i = 0; i < all->n; i++) {
        if (!bucket) {
            bucket = OVL_NEW(arena, ovl_node);
            *bucket = (ovl_node){.kind = OVL_NODE_LIST, .mark = all->mark};
        }
        ovl_node_insert(bucket, bucket->count,
                        ovl_node_scalar(all->name[order ? order[i] : i], all->mark, arena), arena);
        if (cut[i] || i + 1 == all->n) {
            ovl_node_insert(list, list->count, bucket, arena);
            bucket = NULL;
        }
    }
    return list;
}

static ovl_candidate with_buckets(const ovl_candidate *base, const ovl_node *buckets, ovl_mark mark,
                                  ovl_arena *arena)
{
    ovl_candidate c = {.variant = base->variant};
    ovl_set *sets = OVL_NEW_ARRAY(arena, ovl_set, (size_t)base->n_sets + 1);
    for (uint32_t i = 0; i < base->n_sets; i++) {
        if (strcmp(base->sets[i].path, KEY) != 0) {
            sets[c.n_sets++] = base->sets[i];
        }
    }
    sets[c.n_sets++] = (ovl_set){.path = KEY, .mark = mark, .value = buckets};
    c.sets = sets;
    return c;
}

/* --- Every split, every order --- */

static void try_splits(ovl_optimize *o, const names *all, const ovl_candidate *base)
{
    uint32_t n = UINT32_C(1) << (all->n - 1);
    ovl_candidate *list = OVL_NEW_ARRAY(o->arena, ovl_candidate, n);
    for (uint32_t mask = 0; mask < n; mask++) {
        bool cut[OVL_EXACT_GRADIENTS];
        for (uint32_t i = 0; i < all->n; i++) {
            cut[i] = mask >> i & 1;
        }
        list[mask] = with_buckets(base, node_of(all, NULL, cut, o->arena), all->mark, o->arena);
    }
    ovl_optimize_try(o, list, n);
    ovl_optimize_say(o, ovl_arena_printf(o->arena,
                                         "all %s splits of %" PRIu32
                                         " gradients in their order: exact",
                                         ovl_grouped(n, o->arena), all->n));
}

/* Ways to put n things into a row of non-empty buckets: 1, 3, 13, 75, 541, 4683, 47293, ... */
static double ordered_partitions(uint32_t n)
{
    double count[32] = {1}, choose;
    for (uint32_t k = 1; k <= OVL_MIN(n, 31); k++) {
        choose = 1;
        for (uint32_t i = 1; i <= k; i++) {
            choose = choose * (k - i + 1) / i;
            count[k] += choose * count[k - i];
        }
    }
    return n < 32 ? count[n] : HUGE_VAL;
}

/* Which bucket each gradient is in, as digits; false if a bucket before the last is empty. */
static bool read_code(uint64_t code, uint32_t n, uint32_t *bucket, uint32_t *n_buckets)
{
    uint32_t used = 0;
    *n_buckets = 0;
    for (uint32_t i = 0; i < n; i++) {
        bucket[i] = (uint32_t)(code % n);
        code /= n;
        used |= UINT32_C(1) << bucket[i];
        *n_buckets = OVL_MAX(*n_buckets, bucket[i] + 1);
    }
    return used == (UINT32_C(1) << *n_buckets) - 1;
}

static ovl_candidate of_code(const names *all, const uint32_t *bucket, uint32_t n_buckets,
                             const ovl_candidate *base, ovl_arena *arena)
{
    uint16_t order[32];
    bool cut[32] = {false};
    uint32_t at = 0;
    for (uint32_t b = 0; b < n_buckets; b++) {
        for (uint32_t i = 0; i < all->n; i++) {
            if (bucket[i] == b) {
                order[at++] = (uint16_t)i;
            }
        }
        cut[at - 1] = true;
    }
    return with_buckets(base, node_of(all, order, cut, arena), all->mark, arena);
}

static void try_orders(ovl_optimize *o, const names *all, const ovl_candidate *base)
{
    uint64_t codes = 1, total = 0;
    uint32_t filled = 0, bucket[32], n_buckets;
    ovl_candidate *list = OVL_NEW_ARRAY(o->arena, ovl_candidate, BATCH);
    for (uint32_t i = 0; i < all->n; i++) {
        codes *= all->n;
    }
    for (uint64_t code = 0; code < codes && !o->signal; code++) {
        if (read_code(code, all->n, bucket, &n_buckets)) {
            list[filled++] = of_code(all, bucket, n_buckets, base, o->arena);
            total++;
        }
        if (filled == BATCH || code + 1 == codes) {
            ovl_optimize_try(o, list, filled);
            filled = 0;
            memset(list, 0, BATCH * sizeof *list);
        }
    }
    ovl_optimize_say(o, ovl_arena_printf(o->arena,
                                         "all %s ways to put %" PRIu32
                                         " gradients into buckets in any order: exact",
                                         ovl_grouped((uint32_t)total, o->arena), all->n));
}

/* --- Annealing --- */

typedef struct anneal anneal;

/* A position: GSL copies it as bytes. */
typedef struct spot {
    anneal *chain;
    uint16_t order[]; /* [n], then n bools: the cuts */
} spot;

struct anneal {
    ovl_optimize *o;
    const names *all;
    const ovl_candidate *base;
    atomic_bool *over;
    ovl_arena arena; /* of the best */
    ovl_candidate best;
    uint32_t number, simulated, useless;
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
    if (atomic_load(a->over)) {
        return value;
    }
    ovl_candidate c = with_buckets(a->base, node_of(a->all, at->order, cuts_of(at), &scratch),
                                   a->all->mark, &scratch);
    ovl_candidate_point(a->o, &c, &scratch);
    c.point.error = NULL;
    c.number = a->number + a->simulated++;
    if (ovl_candidate_good(a->o, &c)) {
        value = 100.0 * ((double)c.point.figures.value[m] /
                             (double)OVL_MAX(1, a->o->first.point.figures.value[m]) -
                         1);
        if (!a->best.sets || ovl_candidate_better(a->o, &c, &a->best)) {
            ovl_node *kept = node_of(a->all, at->order, cuts_of(at), &a->arena);
            ovl_candidate mine = with_buckets(a->base, kept, a->all->mark, &a->arena);
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
    const int each = 20; /* simulations at one temperature; from 1 % down to 0.001 % of the step */
    const double steps = OVL_MAX(2, a->tries / (unsigned)each);
    const gsl_siman_params_t params = {.n_tries = 1,
                                       .iters_fixed_T = each,
                                       .step_size = 1,
                                       .k = 1,
                                       .t_initial = 1,
                                       .mu_t = pow(1000, 1 / steps),
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

static void try_annealing(ovl_optimize *o, const names *all, const ovl_candidate *base,
                          const ovl_node *from)
{
    anneal *chains = OVL_NEW_ARRAY(o->arena, anneal, CHAINS);
    atomic_bool over = false;
    for (uint32_t i = 0; i < CHAINS; i++) {
        anneal *a = &chains[i];
        *a = (anneal){.o = o,
                      .all = all,
                      .base = base,
                      .over = &over,
                      .number = o->made + i * o->tries,
                      .seed = o->seed * CHAINS + i,
                      .tries = OVL_MAX(o->tries / CHAINS, 40)};
        a->from = spot_of(a, from);
    }
    ovl_pool pool = {
        .threads = o->threads, .n = CHAINS, .context = chains, .work = anneal_work, .stop = stop};
    o->signal = ovl_pool_run(&pool).signal;
    uint32_t simulated = 0;
    for (uint32_t i = 0; i < CHAINS; i++) {
        anneal *a = &chains[i];
        simulated += a->simulated;
        if (a->best.sets) { /* its texts live in the chain's arena: made once more */
            const ovl_candidate *b = &a->best;
            const ovl_node *list = b->sets[b->n_sets - 1].value;
            spot *at = spot_of(a, list);
            ovl_candidate c = with_buckets(base, node_of(all, at->order, cuts_of(at), o->arena),
                                           all->mark, o->arena);
            c.point = b->point;
            c.number = b->number;
            ovl_optimize_take(o, &c);
            o->simulated--;
        }
        o->useless += a->useless;
        ovl_arena_free(&a->arena);
    }
    o->made += CHAINS * o->tries;
    o->simulated += simulated;
    ovl_optimize_say(o, ovl_arena_printf(o->arena,
                                         "orders and splits by annealing from the best of these, "
                                         "%s simulations in %d chains, seed %" PRIu64
                                         ": others may be better",
                                         ovl_grouped(simulated, o->arena), CHAINS, o->seed));
}

/* --- Where annealing of long lists begins: equal parts --- */

static void try_equal_parts(ovl_optimize *o, const names *all, const ovl_candidate *base)
{
    uint32_t n = 0, parts = 1;
    ovl_candidate *list = OVL_NEW_ARRAY(o->arena, ovl_candidate, 64);
    bool *cut = OVL_NEW_ARRAY(o->arena, bool, all->n);
    while (n < 64 && parts <= all->n) {
        for (uint32_t i = 0; i < all->n; i++) {
            cut[i] = (uint64_t)(i + 1) * parts / all->n != (uint64_t)i * parts / all->n;
        }
        list[n++] = with_buckets(base, node_of(all, NULL, cut, o->arena), all->mark, o->arena);
        parts += OVL_MAX(1, parts / 4);
    }
    ovl_optimize_try(o, list, n);
    ovl_optimize_say(o, ovl_arena_printf(o->arena,
                                         "%" PRIu32 " splits of %" PRIu32
                                         " gradients into equal parts",
                                         n, all->n));
}

/* --- Bound --- */

#define MOST_BOUNDED 512 /* a simulation each */

static bool is_first_bucket(const char *name)
{
    return strncmp(name, "bucket 0", 8) == 0 && (name[8] == '\0' || name[8] == ' ');
}

/* When the reduction of gradient k alone could have ended if it went first and nothing was slowed:
 * in any split its bucket is ready no earlier, holds no fewer bytes and takes no less. */
static ovl_time alone(const ovl_optimize *o, const names *all, const ovl_candidate *base,
                      uint32_t k, ovl_time *compute)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_result r;
    ovl_time end = 0;
    uint16_t *order = OVL_NEW_ARRAY(&arena, uint16_t, all->n);
    bool *cut = OVL_NEW_ARRAY(&arena, bool, all->n);
    for (uint32_t i = 0, at = 1; i < all->n; i++) {
        order[i == k ? 0 : at++] = (uint16_t)i;
    }
    cut[0] = true;
    ovl_candidate c = with_buckets(base, node_of(all, order, cut, &arena), all->mark, &arena);
    ovl_set *sets = OVL_NEW_ARRAY(&arena, ovl_set, (size_t)c.n_sets + 1);
    memcpy(sets, c.sets, c.n_sets * sizeof *sets);
    sets[c.n_sets++] = (ovl_set){.path = "interference",
                                 .mark = all->mark,
                                 .value = ovl_node_scalar("none", all->mark, &arena)};
    c.sets = sets;
    if (ovl_candidate_result(o, &c, OVL_WORTH_NONE, &r, &arena, &errs)) {
        for (uint32_t i = 0; i < r.n_collectives; i++) {
            if (is_first_bucket(r.collectives[i].name)) {
                end = OVL_MAX(end, r.collectives[i].ready + r.collectives[i].isolated);
            }
        }
        *compute = r.term[OVL_COMPUTE];
    }
    ovl_arena_free(&arena);
    return end;
}

static void find_bound(ovl_optimize *o, const names *all, const ovl_candidate *base)
{
    ovl_time last = 0, compute = 0;
    if (o->start->objective != OVL_M_STEP || all->n > MOST_BOUNDED) {
        return;
    }
    for (uint32_t k = 0; k < all->n; k++) {
        last = OVL_MAX(last, alone(o, all, base, k, &compute));
        o->simulated++;
    }
    last = last ? last + all->optimizer : 0;
    o->bound = OVL_MAX(last, compute);
    o->bound_text = last > compute
                        ? "nothing slowed, and each gradient reduced alone as soon as it is ready"
                        : "the kernels of the deciding rank at isolated speed";
}

static const ovl_node *buckets_of(const ovl_candidate *c)
{
    for (uint32_t i = 0; i < c->n_sets; i++) {
        if (strcmp(c->sets[i].path, KEY) == 0) {
            return c->sets[i].value;
        }
    }
    return NULL;
}

void ovl_optimize_buckets(ovl_optimize *o, ovl_errs *errs)
{
    names all;
    const ovl_candidate base = o->n_best ? o->best[0] : o->first;
    if (!find_names(o, &base, &all, errs)) {
        return;
    }
    find_bound(o, &all, &base);
    if (all.n < 32 && ordered_partitions(all.n) <= o->tries) {
        try_orders(o, &all, &base);
        return;
    }
    if (all.n <= OVL_EXACT_GRADIENTS) {
        try_splits(o, &all, &base);
    } else {
        try_equal_parts(o, &all, &base);
    }
    const ovl_node *from = o->n_best ? buckets_of(&o->best[0]) : NULL;
    if (from && !o->signal) {
        try_annealing(o, &all, &base, from);
    }
}
