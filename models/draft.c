#include "models/draft.h"

#include <string.h>

/* Laws are of multiples, so durations of any length share one. */
static bool same_law(const ovl_law *a, const ovl_law *b)
{
    const ovl_distribution *x = &a->jitter.law, *y = &b->jitter.law;
    return x->kind == y->kind && memcmp(&x->a, &y->a, sizeof x->a) == 0 &&
           memcmp(&x->b, &y->b, sizeof x->b) == 0;
}

uint8_t ovl_draft_law(ovl_lowering *l, ovl_times times)
{
    const ovl_law *law = times.law;
    for (uint32_t i = 0; law && i < l->laws.len; i++) {
        if (same_law(l->laws.data[i], law)) {
            return (uint8_t)(i + 1);
        }
    }
    if (!law) {
        return 0;
    }
    if (l->laws.len == UINT8_MAX) {
        ovl_error(l->errs, OVL_E_INPUT, law->jitter.mark,
                  "more than %d different laws of durations; `variation.ops` has no limit",
                  UINT8_MAX);
        return 0;
    }
    ovl_vec_push(&l->laws, law);
    return (uint8_t)l->laws.len;
}

void ovl_draft_follow(ovl_draft *d, const ovl_draft *next)
{
    assert(d->n_later < OVL_COUNT(d->later));
    ovl_draft_phase *added = &d->later[d->n_later++];
    added->cost = next->cost;
    added->kind = next->kind;
    memcpy(added->own, next->own, next->kind.n_demands * sizeof *next->own);
}

/* What follows is stored first. */
ovl_id ovl_draft_append(ovl_lowering *l, const ovl_draft *d)
{
    ovl_cost cost = d->cost;
    for (uint32_t i = d->n_later; i > 0; i--) {
        ovl_cost later = d->later[i - 1].cost;
        later.then = cost.then;
        cost.then = ovl_add_phase(l->b, &later, &d->later[i - 1].kind, d->later[i - 1].own,
                                  d->later[i - 1].kind.n_demands);
    }
    return ovl_add_cost(l->b, &cost, &d->kind, d->own, d->kind.n_demands, d->peer, d->kind.n_peer);
}

ovl_plan_cost ovl_draft_on_ranks(ovl_lowering *l, const ovl_id *on)
{
    ovl_id first = l->b->costs.len;
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ovl_cost cost = l->b->costs.data[on[l->machine_of[rank]]];
        ovl_vec_push(&l->b->costs, cost);
    }
    return ovl_draft_store(l, first);
}

ovl_plan_cost ovl_draft_store(ovl_lowering *l, ovl_id first)
{
    ovl_plan_cost cost = {.id = OVL_NONE};
    cost.id = ovl_store_costs_once(l->b, first, &cost.per_rank);
    return cost;
}

ovl_plan_cost ovl_draft_intern(ovl_lowering *l, const ovl_draft *d)
{
    return ovl_draft_store(l, ovl_draft_append(l, d));
}

/* --- Parts of a cost --- */

ovl_id ovl_draft_klass(ovl_lowering *l, bool kernel, const char *name)
{
    ovl_id id = ovl_name(l->b, name);
    uint32_t n = kernel ? l->b->kernel_classes.len : l->b->coll_classes.len;
    const ovl_id *known = kernel ? l->b->kernel_classes.data : l->b->coll_classes.data;
    for (uint32_t i = 0; i < n; i++) {
        if (known[i] == id) {
            return i;
        }
    }
    if (kernel) {
        ovl_vec_push(&l->b->kernel_classes, id);
    } else {
        ovl_vec_push(&l->b->coll_classes, id);
    }
    return n;
}

bool ovl_draft_check_times(ovl_lowering *l, const char *name, ovl_mark mark, ovl_times times)
{
    if ((times.count == 1 && !times.listed) || times.count == l->n_ranks) {
        return true;
    }
    ovl_error(l->errs, OVL_E_INPUT, mark,
              "\"%s\" gives %" PRIu32 " durations for %s; give one, or one for each rank", name,
              times.count, ovl_counted(l->errs->arena, l->n_ranks, "rank"));
    return false;
}

uint64_t ovl_draft_clamp(ovl_lowering *l, const char *name, ovl_mark mark, const char *what,
                         uint64_t rate, uint64_t capacity)
{
    if (rate > capacity && rate - capacity > capacity / 1000) {
        char wants[OVL_UNITS_TEXT], has[OVL_UNITS_TEXT];
        ovl_warning(l->errs, mark,
                    "\"%s\" at its isolated speed moves %s over %s, which has %s; it is counted as "
                    "taking all of it",
                    name, ovl_print_rate(wants, (double)rate), what,
                    ovl_print_rate(has, (double)capacity));
    }
    return OVL_MIN(rate, capacity);
}

double ovl_draft_weight(const ovl_lowering *l, uint64_t principal)
{
    bool fair = l->scenario->sharing == OVL_SHARING_FAIR;
    return fair && principal > 0 ? 1 / (double)principal : 1;
}

void ovl_draft_demand(ovl_demand *list, uint8_t *n, ovl_demand demand)
{
    assert(*n < OVL_DRAFT_DEMANDS);
    if (demand.rate > 0) {
        list[(*n)++] = demand;
    }
}
