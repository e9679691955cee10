/* Which gradients share a bucket: every split of a short list, the best of some of a long one, then
 * annealing. */
#include "tools/optimize_buckets.h"

#include "models/lower.h"
#include "tools/progress.h"

#include <math.h>
#include <string.h>

#define KEY        "overlap.ddp.buckets"
#define BATCH      4096
#define MOST_NAMES 4096

/* Whether a table of what reduces gradients has a size that takes less than a smaller one. */
static bool table_falls(const ovl_hw *hw)
{
    for (uint32_t i = 0; i < hw->n_collectives; i++) {
        const ovl_hw_collective *c = &hw->collectives[i];
        for (uint32_t k = 1; k < c->n_table; k++) {
            if ((c->op == OVL_ALL_REDUCE || c->op == OVL_REDUCE_SCATTER) &&
                c->table[k].time < c->table[k - 1].time) {
                return true;
            }
        }
    }
    return false;
}

static bool find_names(ovl_optimize *o, const ovl_candidate *base, ovl_gradients *all,
                       ovl_errs *errs)
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
    *all = (ovl_gradients){.n = list.len};
    all->name = ovl_vec_freeze(&list, o->arena);
    all->mark = (ovl_mark){"--buckets", 0, 0};
    all->falls = good && table_falls(&scenario.hw);
    all->optimizer = good ? scenario.workload.optimizer.duration : 0;
    ovl_arena_free(&scratch);
    if (good && (all->n < 2 || all->n > MOST_NAMES)) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                  "the scenario has %s in buckets of overlap.ddp: there is nothing to split",
                  ovl_counted(errs->arena, all->n, "gradient"));
        good = false;
    }
    return good;
}

/* --- Splits as candidates --- */

/* Gradients order[0], order[1], ...; a bucket ends behind i where cut[i]. */
ovl_node *ovl_buckets_node(const ovl_gradients *all, const uint16_t *order, const bool *cut,
                           ovl_arena *arena)
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

ovl_candidate ovl_buckets_candidate(const ovl_candidate *base, const ovl_node *buckets,
                                    ovl_mark mark, ovl_arena *arena)
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

void ovl_buckets_try_splits(ovl_optimize *o, const ovl_gradients *all, const ovl_candidate *base,
                            const uint16_t *order)
{
    uint32_t n = UINT32_C(1) << (all->n - 1), before = o->simulated;
    ovl_candidate *list = OVL_NEW_ARRAY(o->arena, ovl_candidate, n);
    for (uint32_t mask = 0; mask < n; mask++) {
        bool cut[OVL_EXACT_GRADIENTS];
        for (uint32_t i = 0; i < all->n; i++) {
            cut[i] = mask >> i & 1;
        }
        list[mask] = ovl_buckets_candidate(base, ovl_buckets_node(all, order, cut, o->arena),
                                           all->mark, o->arena);
    }
    ovl_optimize_try(o, list, n);
    const char *what =
        ovl_arena_printf(o->arena, "splits of %" PRIu32 " gradients in %s", all->n,
                         order ? "the order in which they become ready" : "their order");
    ovl_optimize_say_all(o, before, n,
                         ovl_arena_printf(o->arena, "all %s %s: exact%s", ovl_grouped(n, o->arena),
                                          what,
                                          order ? " for any order if nothing is slowed and a time "
                                                  "is alpha + bytes / beta"
                                                : ""),
                         what);
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

static ovl_candidate of_code(const ovl_gradients *all, const uint32_t *bucket, uint32_t n_buckets,
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
    return ovl_buckets_candidate(base, ovl_buckets_node(all, order, cut, arena), all->mark, arena);
}

static void each_order(ovl_optimize *o, const ovl_gradients *all, const ovl_candidate *base)
{
    uint64_t codes = 1;
    uint32_t filled = 0, bucket[32], n_buckets;
    ovl_candidate *list = OVL_NEW_ARRAY(o->arena, ovl_candidate, BATCH);
    for (uint32_t i = 0; i < all->n; i++) {
        codes *= all->n;
    }
    for (uint64_t code = 0; code < codes && !o->signal; code++) {
        if (read_code(code, all->n, bucket, &n_buckets)) {
            list[filled++] = of_code(all, bucket, n_buckets, base, o->arena);
        }
        if (filled == BATCH || code + 1 == codes) {
            ovl_optimize_try(o, list, filled);
            filled = 0;
            memset(list, 0, BATCH * sizeof *list);
        }
    }
}

static void try_orders(ovl_optimize *o, const ovl_gradients *all, const ovl_candidate *base)
{
    uint32_t before = o->simulated, total = (uint32_t)llround(ordered_partitions(all->n));
    const char *what = ovl_arena_printf(
        o->arena, "ways to put %" PRIu32 " gradients into buckets in any order", all->n);
    each_order(o, all, base);
    ovl_optimize_say_all(
        o, before, total,
        ovl_arena_printf(o->arena, "all %s %s: exact", ovl_grouped(total, o->arena), what), what);
}

bool ovl_optimize_buckets_joint(ovl_optimize *o, ovl_candidate *bases, uint32_t n)
{
    ovl_gradients *all = OVL_NEW_ARRAY(o->arena, ovl_gradients, n);
    double total = 0;
    uint32_t before = o->simulated, parted = 0;
    for (uint32_t i = 0; i < n && total <= ovl_optimize_left(o); i++) {
        ovl_errs unsaid = {.arena = o->arena}; /* a base without buckets is tried as it is */
        if (!find_names(o, &bases[i], &all[i], &unsaid)) {
            all[i].n = 0;
        }
        parted += all[i].n > 0;
        total += all[i].n ? ordered_partitions(all[i].n) : 1;
    }
    if (parted == 0 || total > ovl_optimize_left(o)) {
        return false;
    }
    for (uint32_t i = 0; i < n && !o->signal; i++) {
        if (all[i].n) {
            each_order(o, &all[i], &bases[i]);
        } else {
            ovl_optimize_try(o, &bases[i], 1);
        }
    }
    ovl_optimize_say_all(
        o, before, (uint32_t)llround(total),
        ovl_arena_printf(
            o->arena,
            "all combinations of the values and the ways to put gradients into buckets "
            "in any order, %s: exact",
            ovl_grouped((uint32_t)llround(total), o->arena)),
        "combinations of the values and the ways to put gradients into buckets");
    return true;
}

/* --- Bound --- */

/* In any split the bucket of a gradient is ready no earlier than the gradient, holds no fewer bytes
 * and takes no less. */
static void find_bound(ovl_optimize *o, const ovl_gradients *all)
{
    ovl_time last = 0;
    if (o->start->objective != OVL_M_STEP || !all->alone) {
        return;
    }
    for (uint32_t k = 0; k < all->n; k++) {
        last = OVL_MAX(last, all->alone[k].ready + all->alone[k].takes);
    }
    last = last && !all->falls ? last + all->optimizer : 0;
    o->bound = OVL_MAX(last, all->compute);
    o->bound_of = "no split and no order";
    o->bound_text = last > all->compute
                        ? "nothing slowed, and each gradient reduced alone as soon as it is ready"
                    : all->falls
                        ? "the kernels of the deciding rank at isolated speed; what gradients take "
                          "alone bounds nothing, for more bytes take less time here"
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

static bool all_splits_fit(const ovl_optimize *o, const ovl_gradients *all)
{
    return all->n <= OVL_EXACT_GRADIENTS && UINT32_C(1) << (all->n - 1) <= ovl_optimize_left(o);
}

void ovl_optimize_buckets(ovl_optimize *o, ovl_errs *errs)
{
    ovl_gradients all;
    const ovl_candidate base = o->n_best ? o->best[0] : o->first;
    if (!find_names(o, &base, &all, errs)) {
        return;
    }
    ovl_buckets_measure(o, &all, &base);
    find_bound(o, &all);
    if (all.n < 32 && ordered_partitions(all.n) <= ovl_optimize_left(o)) {
        try_orders(o, &all, &base);
        return;
    }
    bool splits = all_splits_fit(o, &all);
    if (splits) {
        ovl_buckets_try_splits(o, &all, &base, NULL);
    } else {
        ovl_buckets_try_equal(o, &all, &base);
    }
    const uint16_t *order = ovl_buckets_by_readiness(o, &all);
    if (order && all_splits_fit(o, &all)) {
        ovl_buckets_try_splits(o, &all, &base, order);
    } else if (order || !splits) {
        ovl_buckets_try_dynamic(o, &all, &base, order);
    }
    const ovl_node *from = o->n_best ? buckets_of(&o->best[0]) : NULL;
    if (from && !o->signal) {
        ovl_buckets_anneal(o, &all, &base, from);
    }
}
