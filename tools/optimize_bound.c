/* What the best cannot get below, whatever is done about when its work runs. */
#include "tools/optimize.h"

#include "tools/report.h"

/* Kernels of the busiest rank; or where kernels may move to other ranks, of all of them in equal
 * parts. */
static ovl_time kernels(const ovl_result *r, bool may_move, uint32_t *rank)
{
    ovl_time most = 0;
    double sum = 0, n = 0;
    *rank = 0;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        ovl_time own = r->ranks[i].term[OVL_COMPUTE];
        *rank = own > most ? r->ranks[i].rank : *rank;
        most = OVL_MAX(most, own);
        sum += (double)own * r->ranks[i].count;
        n += r->ranks[i].count;
    }
    return may_move && n > 0 ? (ovl_time)(sum / n) : most;
}

/* The bytes of the link that needs longest for them at full rate; NULL: none. */
static const ovl_result_resource *busiest(const ovl_result *r, ovl_time *takes)
{
    const ovl_result_resource *most = NULL;
    *takes = 0;
    for (uint32_t i = 0; i < r->n_resources; i++) {
        const ovl_result_resource *x = &r->resources[i];
        double t = x->capacity ? (double)x->bytes / (double)x->capacity * (double)OVL_S : 0;
        if ((ovl_time)t > *takes) {
            *takes = (ovl_time)t;
            most = x;
        }
    }
    return most;
}

void ovl_optimize_bound(ovl_optimize *o, const ovl_result *best)
{
    char buf[OVL_UNITS_TEXT], other[OVL_UNITS_TEXT];
    if (o->bound != OVL_NEVER || o->bound_text) {
        return;
    }
    if (o->start->objective != OVL_M_STEP) {
        o->bound_text = ovl_arena_printf(o->arena, "none is known of %s",
                                         ovl_metrics[o->start->objective].name);
        return;
    }
    bool may_move = o->stages || best->microbatches > 0;
    uint32_t rank;
    ovl_time takes, compute = kernels(best, may_move, &rank);
    const ovl_result_resource *link = busiest(best, &takes);
    const char *whose = may_move ? "its kernels in equal parts on all ranks"
                                 : ovl_arena_printf(o->arena, "the kernels of rank %" PRIu32, rank);
    o->bound = OVL_MAX(compute, takes);
    o->bound_of = ovl_optimize_gains(o) ? "with the kernels and the bytes of the best no step"
                                        : "with the kernels and the bytes of the start no step";
    o->bound_text = ovl_arena_printf(o->arena, "%s at isolated speed take %s", whose,
                                     ovl_print_time(buf, compute));
    if (link) {
        o->bound_text =
            ovl_arena_printf(o->arena, "%s; %s, the busiest resource, needs %s for its bytes",
                             o->bound_text, link->name, ovl_print_time(other, takes));
    }
}
