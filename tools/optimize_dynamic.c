/*
 * Where annealing of buckets begins: equal parts, and the best splits if nothing is slowed, by
 * dynamic programming.
 *
 * If gradient i is ready at r(i) and a bucket of b bytes takes alpha + b / beta, the first i
 * gradients in c buckets are reduced at
 *
 *     f(c, i) = min over j < i of  max(f(c - 1, j), r(i)) + alpha + bytes(j..i) / beta
 *
 * for gradients in order of readiness; no other order ends earlier: a gradient that is ready before
 * one of an earlier bucket can move into that bucket, which begins no later for it, and what its
 * own bucket begins later it takes less.
 */
#include "tools/optimize_buckets.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BUCKETS  64
#define MOST_MEASURED 512 /* a simulation each */

/* --- What gradients need --- */

static bool is_bucket(const char *name, const char *number)
{
    size_t n = strlen(number);
    return strncmp(name, number, n) == 0 && (name[n] == '\0' || name[n] == ' ');
}

/* The largest of the rows of a bucket: "bucket 0", of several microbatches "bucket 0 ...". */
static ovl_alone largest(const ovl_result *r, const char *bucket)
{
    ovl_alone x = {0};
    for (uint32_t i = 0; i < r->n_collectives; i++) {
        const ovl_result_collective *row = &r->collectives[i];
        if (is_bucket(row->name, bucket)) {
            x.ready = OVL_MAX(x.ready, row->ready);
            x.takes = OVL_MAX(x.takes, row->isolated);
            x.bytes = OVL_MAX(x.bytes, row->bytes);
        }
    }
    return x;
}

/* `base` with gradient k alone and first, the others in one bucket behind it, nothing slowed. */
static ovl_candidate alone_first(const ovl_gradients *all, const ovl_candidate *base, uint32_t k,
                                 ovl_arena *arena)
{
    uint16_t *order = OVL_NEW_ARRAY(arena, uint16_t, all->n);
    bool *cut = OVL_NEW_ARRAY(arena, bool, all->n);
    for (uint32_t i = 0, at = 1; i < all->n; i++) {
        order[i == k ? 0 : at++] = (uint16_t)i;
    }
    cut[0] = true;
    ovl_candidate c =
        ovl_buckets_candidate(base, ovl_buckets_node(all, order, cut, arena), all->mark, arena);
    ovl_set *sets = OVL_NEW_ARRAY(arena, ovl_set, (size_t)c.n_sets + 1);
    memcpy(sets, c.sets, c.n_sets * sizeof *sets);
    sets[c.n_sets++] = (ovl_set){.path = "interference",
                                 .mark = all->mark,
                                 .value = ovl_node_scalar("none", all->mark, arena)};
    c.sets = sets;
    return c;
}

static void measure_one(ovl_optimize *o, ovl_gradients *all, const ovl_candidate *base, uint32_t k,
                        ovl_alone *one, ovl_alone *rest)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_result r;
    const ovl_candidate c = alone_first(all, base, k, &arena);
    o->simulated++;
    if (ovl_candidate_result(o, &c, OVL_WORTH_NONE, &r, &arena, &errs)) {
        *one = largest(&r, "bucket 0");
        *rest = largest(&r, "bucket 1");
        all->falls |=
            rest->bytes >= one->bytes ? rest->takes < one->takes : rest->takes > one->takes;
        all->compute = r.term[OVL_COMPUTE];
    }
    ovl_arena_free(&arena);
}

void ovl_buckets_measure(ovl_optimize *o, ovl_gradients *all, const ovl_candidate *base)
{
    ovl_alone rest = {0};
    if (all->n > MOST_MEASURED || all->n > ovl_optimize_left(o) / 2) {
        return;
    }
    ovl_alone *alone = OVL_NEW_ARRAY(o->arena, ovl_alone, all->n);
    for (uint32_t k = 0; k < all->n; k++) {
        measure_one(o, all, base, k, &alone[k], &rest);
    }
    const ovl_alone *last = &alone[all->n - 1];
    all->alone = alone;
    if (rest.bytes > last->bytes && rest.takes > last->takes) {
        all->per_byte = (double)(rest.takes - last->takes) / (double)(rest.bytes - last->bytes);
    }
    all->alpha = OVL_MAX(0, (double)last->takes - all->per_byte * (double)last->bytes);
}

/* --- Readiness --- */

typedef struct ready_at {
    ovl_time at;
    uint16_t which;
} ready_at;

static int earlier(const void *a, const void *b)
{
    const ready_at *x = a, *y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return (x->which > y->which) - (x->which < y->which);
}

const uint16_t *ovl_buckets_by_readiness(ovl_optimize *o, const ovl_gradients *all)
{
    ready_at *list = OVL_NEW_ARRAY(o->arena, ready_at, all->n);
    uint16_t *order = OVL_NEW_ARRAY(o->arena, uint16_t, all->n);
    bool other = false;
    for (uint32_t i = 0; i < all->n; i++) {
        list[i] = (ready_at){all->alone ? all->alone[i].ready : 0, (uint16_t)i};
    }
    qsort(list, all->n, sizeof *list, earlier);
    for (uint32_t i = 0; i < all->n; i++) {
        order[i] = list[i].which;
        other |= order[i] != i;
    }
    return other ? order : NULL;
}

void ovl_buckets_try_equal(ovl_optimize *o, const ovl_gradients *all, const ovl_candidate *base)
{
    uint32_t n = 0, parts = 1, before = o->simulated;
    ovl_candidate *list = OVL_NEW_ARRAY(o->arena, ovl_candidate, 64);
    bool *cut = OVL_NEW_ARRAY(o->arena, bool, all->n);
    while (n < 64 && parts <= all->n) {
        for (uint32_t i = 0; i < all->n; i++) {
            cut[i] = (uint64_t)(i + 1) * parts / all->n != (uint64_t)i * parts / all->n;
        }
        list[n++] = ovl_buckets_candidate(base, ovl_buckets_node(all, NULL, cut, o->arena),
                                          all->mark, o->arena);
        parts += OVL_MAX(1, parts / 4);
    }
    ovl_optimize_try(o, list, n);
    const char *what =
        ovl_arena_printf(o->arena, "splits of %" PRIu32 " gradients into equal parts", all->n);
    ovl_optimize_say_all(o, before, n, ovl_arena_printf(o->arena, "%" PRIu32 " %s", n, what), what);
}

/* --- Splits --- */

typedef struct table {
    uint32_t n;
    const double *ready, *bytes; /* bytes[i]: of the first i; ready[i]: of the last of them */
    double alpha, per_byte;
    double *before, *now; /* [n + 1] f(c - 1, .), f(c, .) */
    uint16_t *from;       /* [MOST_BUCKETS + 1][n + 1] where the last bucket begins */
} table;

/* A row of the table, from the row before. */
static void next_row(table *t, uint32_t c)
{
    for (uint32_t i = c; i <= t->n; i++) {
        double best = -1;
        for (uint32_t j = c - 1; j < i; j++) {
            double end = OVL_MAX(t->before[j], t->ready[i]) + t->alpha +
                         t->per_byte * (t->bytes[i] - t->bytes[j]);
            if (best < 0 || end < best) {
                best = end;
                t->from[(size_t)c * (t->n + 1) + i] = (uint16_t)j;
            }
        }
        t->now[i] = best;
    }
    double *was = t->before;
    t->before = t->now;
    t->now = was;
}

static ovl_candidate candidate_of(const ovl_optimize *o, const ovl_gradients *all,
                                  const ovl_candidate *base, const uint16_t *order, const table *t,
                                  uint32_t c)
{
    bool *cut = OVL_NEW_ARRAY(o->arena, bool, all->n);
    for (uint32_t i = all->n; c > 0; c--) {
        cut[i - 1] = true;
        i = t->from[(size_t)c * (t->n + 1) + i];
    }
    return ovl_buckets_candidate(base, ovl_buckets_node(all, order, cut, o->arena), all->mark,
                                 o->arena);
}

static table begin_table(const ovl_gradients *all, const uint16_t *order, ovl_arena *arena)
{
    uint32_t n = all->n;
    double *ready = OVL_NEW_ARRAY(arena, double, n + 1);
    double *bytes = OVL_NEW_ARRAY(arena, double, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const ovl_alone *one = &all->alone[order ? order[i] : i];
        ready[i + 1] = OVL_MAX(ready[i], (double)one->ready);
        bytes[i + 1] = bytes[i] + (double)one->bytes;
    }
    return (table){n,
                   ready,
                   bytes,
                   all->alpha,
                   all->per_byte,
                   OVL_NEW_ARRAY(arena, double, n + 1),
                   OVL_NEW_ARRAY(arena, double, n + 1),
                   OVL_NEW_ARRAY(arena, uint16_t, (MOST_BUCKETS + 1) * (size_t)(n + 1))};
}

void ovl_buckets_try_dynamic(ovl_optimize *o, const ovl_gradients *all, const ovl_candidate *base,
                             const uint16_t *order)
{
    ovl_arena scratch = {0};
    if (!all->alone) {
        return;
    }
    table t = begin_table(all, order, &scratch);
    uint32_t most = OVL_MIN(OVL_MIN(all->n, MOST_BUCKETS), ovl_optimize_spare(o) / 2);
    if (most == 0) {
        return;
    }
    const uint32_t before = o->simulated;
    ovl_candidate *list = OVL_NEW_ARRAY(o->arena, ovl_candidate, most);
    for (uint32_t c = 1; c <= most; c++) {
        next_row(&t, c);
        list[c - 1] = candidate_of(o, all, base, order, &t, c);
    }
    ovl_optimize_try(o, list, most);
    const char *what = "buckets that end first if nothing is slowed, by dynamic programming";
    ovl_optimize_say_all(
        o, before, most,
        ovl_arena_printf(o->arena, "the splits into 1 to %" PRIu32 " %s", most, what),
        ovl_arena_printf(o->arena, "splits into 1 to %" PRIu32 " %s", most, what));
    ovl_arena_free(&scratch);
}
