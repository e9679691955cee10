#include "sim/timeline.h"

int ovl_phase_end_order(const void *x, const void *y)
{
    const ovl_phase_end *a = x, *b = y;
    if (a->op != b->op) {
        return a->op < b->op ? -1 : 1;
    }
    return (a->time > b->time) - (a->time < b->time);
}

/* The first phase end of an operation, or where it would be. */
static uint32_t first_end(const ovl_timeline *t, uint32_t op)
{
    uint32_t low = 0, high = t->n_phase_ends;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->phase_ends[middle].op < op) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static ovl_time end_of(const ovl_timeline *t, const ovl_phase_walk *w, ovl_time end)
{
    return w->phase->then ? t->phase_ends[w->next].time : end;
}

ovl_phase_walk ovl_phases_begin(const ovl_timeline *t, uint32_t op, const ovl_cost *cost,
                                ovl_time start, ovl_time end)
{
    ovl_phase_walk w = {.phase = cost, .from = start, .next = cost->then ? first_end(t, op) : 0};
    w.to = end_of(t, &w, end);
    return w;
}

void ovl_phases_next(const ovl_program *p, const ovl_timeline *t, ovl_time end, ovl_phase_walk *w)
{
    w->phase = ovl_next_phase(p, w->phase);
    w->from = w->to;
    w->next++;
    w->to = w->phase ? end_of(t, w, end) : end;
}

void ovl_phases_reach(const ovl_program *p, const ovl_timeline *t, ovl_time end, ovl_time at,
                      ovl_phase_walk *w)
{
    while (w->phase->then && w->to <= at) {
        ovl_phases_next(p, t, end, w);
    }
}
