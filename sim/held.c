#include "sim/held.h"

#define NEARLY (1 - 1e-9)

static double rate_at(const ovl_timeline *t, uint32_t op, ovl_time at)
{
    for (uint32_t i = ovl_first_segment(t, op); i < t->n_segments && t->segments[i].op == op; i++) {
        if (t->segments[i].from <= at && at < t->segments[i].to) {
            return t->segments[i].rate;
        }
    }
    return 1;
}

typedef struct moment {
    bool used, full;
    double level, most; /* rate by weight: its own, and of all */
} moment;

static moment look(const ovl_causes *c, const ovl_resource_uses *uses, ovl_id resource, uint32_t op,
                   ovl_time at)
{
    moment m = {0};
    double moved = 0;
    for (uint32_t i = ovl_uses_first(uses, resource);
         i < uses->len && uses->data[i].resource == resource && uses->data[i].from <= at; i++) {
        const ovl_resource_use *u = &uses->data[i];
        if (at < u->to) {
            double rate = rate_at(c->timeline, u->op, at), level = rate / u->weight;
            moved += (double)u->rate * rate;
            m.most = OVL_MAX(m.most, level);
            m.level = u->op == op ? level : m.level;
            m.used |= u->op == op;
        }
    }
    m.full = moved >= (double)ovl_used_capacity_at(c->program, resource, at) * NEARLY;
    return m;
}

bool ovl_held_full(const ovl_causes *c, const ovl_resource_uses *uses, ovl_id resource, uint32_t op,
                   ovl_time at)
{
    moment m = look(c, uses, resource, op, at);
    return m.used && m.full;
}

/* When who is on the resource, or what it has, changes next after `from`: `to` at most. */
static ovl_time next_change(const ovl_causes *c, const ovl_resource_uses *uses, ovl_id resource,
                            ovl_time from, ovl_time to)
{
    const ovl_program *p = c->program;
    for (uint32_t i = ovl_uses_first(uses, resource);
         i < uses->len && uses->data[i].resource == resource && uses->data[i].from < to; i++) {
        const ovl_resource_use *u = &uses->data[i];
        to = u->from > from ? u->from : to;
        to = u->to > from ? OVL_MIN(u->to, to) : to;
    }
    for (uint32_t i = 0; i < p->n_changes && p->changes[i].time < to; i++) {
        if (p->changes[i].resource == resource && p->changes[i].time > from) {
            return p->changes[i].time;
        }
    }
    return to;
}

static void add_pieces(const ovl_causes *c, const ovl_resource_uses *uses, ovl_id resource,
                       const ovl_segment *s, ovl_held_list *list)
{
    for (ovl_time from = s->from, to; from < s->to; from = to) {
        to = next_change(c, uses, resource, from, s->to);
        moment m = look(c, uses, resource, s->op, from);
        if (m.used && m.full && m.level >= m.most * NEARLY) {
            ovl_vec_push(list, (ovl_held){from, to, s->rate});
        }
    }
}

void ovl_held_find(const ovl_causes *c, const ovl_resource_uses *uses, ovl_id resource, uint32_t op,
                   ovl_held_list *list)
{
    const ovl_timeline *t = c->timeline;
    uint32_t before = list->len, first = ovl_first_segment(t, op), end = first;
    while (end < t->n_segments && t->segments[end].op == op) {
        end++;
    }
    for (uint32_t i = first; i < end && !ovl_is_sms(c->program, resource); i++) {
        if (t->segments[i].rate < 1) {
            add_pieces(c, uses, resource, &t->segments[i], list);
        }
    }
    bool seen = list->len > before;
    for (uint32_t i = first; i < end && !seen; i++) {
        const ovl_segment *s = &t->segments[i];
        if (s->rate < 1) {
            ovl_vec_push(list, (ovl_held){s->from, s->to, s->rate});
        }
    }
}
