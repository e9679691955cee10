#include "sim/degraded.h"

typedef OVL_VEC(ovl_degraded) degraded_list;

static void add(degraded_list *list, const ovl_degraded *piece)
{
    if (list->len > 0) {
        ovl_degraded *last = &list->data[list->len - 1];
        if (last->to == piece->from && last->capacity == piece->capacity) {
            last->to = piece->to;
            return;
        }
    }
    ovl_vec_push(list, *piece);
}

/* Of one of the activities, where ranks are folded and several load it so. */
static double alone_rate(const ovl_resource_use *use, uint64_t capacity)
{
    double wanted = (double)use->rate / use->like;
    return (double)capacity < wanted ? (double)capacity / wanted : 1;
}

/* The next change of the resource after a moment, `to` at most. */
static ovl_time next_change(const ovl_program *p, ovl_id resource, ovl_time after, ovl_time to)
{
    for (uint32_t i = 0; i < p->n_changes && p->changes[i].time < to; i++) {
        if (p->changes[i].resource == resource && p->changes[i].time > after) {
            return p->changes[i].time;
        }
    }
    return to;
}

const ovl_degraded *ovl_degraded_find(const ovl_causes *c, const ovl_resource_use *use,
                                      ovl_arena *arena, uint32_t *n)
{
    const ovl_program *p = c->program;
    uint64_t nominal = ovl_used_capacity(p, use->resource);
    degraded_list list = {0};
    for (ovl_time from = use->from, to; from < use->to; from = to) {
        to = next_change(p, use->resource, from, use->to);
        ovl_degraded piece = {
            .from = from, .to = to, .capacity = ovl_used_capacity_at(p, use->resource, from)};
        piece.alone = alone_rate(use, piece.capacity);
        if (piece.capacity < nominal && piece.alone < 1) {
            add(&list, &piece);
        }
    }
    *n = list.len;
    return ovl_vec_freeze(&list, arena);
}

/* Due to the resource having less, while it held the activity at this rate. */
static double lost_in(const ovl_bound_on *bound, const ovl_held *held)
{
    double lost = 0;
    for (uint32_t i = 0; i < bound->n_degraded; i++) {
        const ovl_degraded *d = &bound->degraded[i];
        ovl_time from = OVL_MAX(d->from, held->from), to = OVL_MIN(d->to, held->to);
        lost += from < to ? (1 - OVL_MAX(d->alone, held->rate)) * (double)(to - from) : 0;
    }
    return lost;
}

ovl_time ovl_degraded_part(const ovl_bound_on *bound, const ovl_held_list *held)
{
    double lost = 0, degraded = 0;
    for (uint32_t i = 0; i < held->len && bound->n_degraded; i++) {
        const ovl_held *h = &held->data[i];
        lost += (1 - h->rate) * (double)(h->to - h->from);
        degraded += lost_in(bound, h);
    }
    return lost > 0 ? (ovl_time)((double)bound->lost * (degraded / lost) + 0.5) : 0;
}
